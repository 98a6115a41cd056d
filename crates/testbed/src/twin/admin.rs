//! Random events of an administrator's day.

use super::draw::Draw;
use super::events::Scene;
use super::settings;
use super::world::{self, World};

/// Draws the line of one event.
type Event = fn(&mut Scene<'_>) -> String;

/// The events, and how often each is drawn.
const EVENTS: [(u32, Event); 14] = [
    (4, assoc_add),
    (6, assoc_shares),
    (3, assoc_move),
    (2, assoc_priority),
    (3, |scene| {
        format!("assoc_del {}", any_assoc(scene.draw, scene.world))
    }),
    (2, |scene| {
        format!("assoc_zero {}", any_assoc(scene.draw, scene.world))
    }),
    (3, |scene| {
        format!("reconfig {}", settings::change(scene.draw))
    }),
    (2, |_| "debugflags".to_owned()),
    (2, |scene| {
        format!("dampening {}", scene.draw.between(1, 10))
    }),
    (2, |scene| {
        format!("restart {}", scene.draw.one_of(&[0, 1, 60, 3600, 100_000]))
    }),
    (2, |_| "save".to_owned()),
    (2, |scene| {
        format!("crash {}", scene.draw.one_of(&[0, 1, 60, 3600]))
    }),
    (1, |scene| {
        format!(
            "crash_in_pass {}",
            scene.draw.one_of(&[0, 1, 60, 300, 3600])
        )
    }),
    (2, qos_set),
];

/// Writes one event.
pub fn happen(scene: &mut Scene<'_>) {
    let weights = EVENTS.map(|(weight, _)| weight);
    let (_, event) = EVENTS[scene.draw.weighted(&weights)];
    let line = event(scene);
    scene.life.push(line);
}

fn assoc_add(scene: &mut Scene<'_>) -> String {
    let (draw, world) = (&mut *scene.draw, &mut *scene.world);
    let id = world.next_assoc;
    let parent = draw.one_of(&world.accounts);
    let shares = world::shares(draw);
    world.next_assoc += 1;
    if draw.chance(30) {
        world.accounts.push(id);
        return format!("assoc_add {id} acct=a{id} parent={parent} shares={shares}");
    }
    world.users.push(id);
    let acct = world::account_name(parent);
    let user = draw.between(1, 100);
    format!("assoc_add {id} acct={acct} user=u{user} part=x{id} parent={parent} shares={shares}")
}

fn any_assoc(draw: &mut Draw, world: &World) -> u32 {
    if world.users.is_empty() || draw.chance(40) {
        draw.one_of(&world.accounts)
    } else {
        draw.one_of(&world.users)
    }
}

/// New shares; the root's mean nothing, and sacctmgr does not change them.
fn assoc_shares(scene: &mut Scene<'_>) -> String {
    let id = any_assoc(scene.draw, scene.world);
    let shares = world::shares(scene.draw);
    if id == 1 {
        return "save".to_owned();
    }
    format!("assoc_set {id} shares={shares}")
}

fn assoc_move(scene: &mut Scene<'_>) -> String {
    let (draw, world) = (&mut *scene.draw, &*scene.world);
    let (id, parent) = (draw.one_of(&world.accounts), draw.one_of(&world.accounts));
    format!("assoc_set {id} parent={parent}")
}

fn assoc_priority(scene: &mut Scene<'_>) -> String {
    let id = any_assoc(scene.draw, scene.world);
    format!("assoc_set {id} prio={}", scene.draw.magnitude(1000))
}

fn qos_set(scene: &mut Scene<'_>) -> String {
    let id = scene.draw.one_of(&scene.world.qos);
    let factor = scene.draw.pick(&["0", "0.25", "1", "3"]);
    format!(
        "qos_set {id} prio={} factor={factor}",
        scene.draw.magnitude(1000)
    )
}
