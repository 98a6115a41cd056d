//! Random events of an administrator's day.

use super::draw::Draw;
use super::inventory::{self, Inventory};
use super::life_writer::LifeWriter;
use super::settings;

/// Draws the line of one event.
type Event = fn(&mut LifeWriter<'_>) -> String;

/// The events, with their weights.
const EVENTS: [(u32, Event); 14] = [
    (4, assoc_add),
    (6, assoc_shares),
    (3, assoc_move),
    (2, assoc_priority),
    (3, |writer| {
        format!("assoc_del {}", any_assoc(writer.draw, writer.inventory))
    }),
    (2, |writer| {
        format!("assoc_zero {}", any_assoc(writer.draw, writer.inventory))
    }),
    (3, |writer| {
        format!("reconfig {}", settings::change(writer.draw))
    }),
    (2, |_| "debugflags".to_owned()),
    (2, |writer| {
        format!("dampening {}", writer.draw.between(1, 10))
    }),
    (2, |writer| {
        format!("restart {}", writer.draw.one_of(&[0, 1, 60, 3600, 100_000]))
    }),
    (2, |_| "save".to_owned()),
    (2, |writer| {
        format!("crash {}", writer.draw.one_of(&[0, 1, 60, 3600]))
    }),
    (1, |writer| {
        format!(
            "crash_in_pass {}",
            writer.draw.one_of(&[0, 1, 60, 300, 3600])
        )
    }),
    (2, qos_set),
];

/// Writes one event.
pub fn happen(writer: &mut LifeWriter<'_>) {
    let weights = EVENTS.map(|(weight, _)| weight);
    let (_, event) = EVENTS[writer.draw.weighted(&weights)];
    let line = event(writer);
    writer.life.push(line);
}

fn assoc_add(writer: &mut LifeWriter<'_>) -> String {
    let (draw, inventory) = (&mut *writer.draw, &mut *writer.inventory);
    let id = inventory.next_assoc;
    let parent = draw.one_of(&inventory.accounts);
    let shares = inventory::shares(draw);
    inventory.next_assoc += 1;
    if draw.chance(30) {
        inventory.accounts.push(id);
        return format!("assoc_add {id} acct=a{id} parent={parent} shares={shares}");
    }
    inventory.users.push(id);
    let acct = inventory::account_name(parent);
    let user = draw.between(1, 100);
    format!("assoc_add {id} acct={acct} user=u{user} part=x{id} parent={parent} shares={shares}")
}

fn any_assoc(draw: &mut Draw, inventory: &Inventory) -> u32 {
    if inventory.users.is_empty() || draw.chance(40) {
        draw.one_of(&inventory.accounts)
    } else {
        draw.one_of(&inventory.users)
    }
}

/// New shares, except for the root: its shares have no meaning, and sacctmgr does not change them.
fn assoc_shares(writer: &mut LifeWriter<'_>) -> String {
    let id = any_assoc(writer.draw, writer.inventory);
    let shares = inventory::shares(writer.draw);
    if id == 1 {
        return "save".to_owned();
    }
    format!("assoc_set {id} shares={shares}")
}

fn assoc_move(writer: &mut LifeWriter<'_>) -> String {
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let (id, parent) = (
        draw.one_of(&inventory.accounts),
        draw.one_of(&inventory.accounts),
    );
    format!("assoc_set {id} parent={parent}")
}

fn assoc_priority(writer: &mut LifeWriter<'_>) -> String {
    let id = any_assoc(writer.draw, writer.inventory);
    format!("assoc_set {id} prio={}", writer.draw.magnitude(1000))
}

fn qos_set(writer: &mut LifeWriter<'_>) -> String {
    let id = writer.draw.one_of(&writer.inventory.qos);
    let factor = writer.draw.pick(&["0", "0.25", "1", "3"]);
    format!(
        "qos_set {id} prio={} factor={factor}",
        writer.draw.magnitude(1000)
    )
}
