//! Random events of jobs.

use super::draw::Draw;
use super::events::Scene;
use super::world::World;

use State::{Cleaning, Gone, Held, Running, Suspended, Waiting};

/// Where a job stands, as far as choosing events goes; the host decides for itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Waiting,
    Held,
    Running,
    Suspended,
    /// Its nodes are being cleaned; true when it waits again afterwards.
    Cleaning(bool),
    Gone,
}

/// The states of the jobs so far; ids count from 1.
#[derive(Default)]
pub struct Jobs {
    state: Vec<State>,
}

impl Jobs {
    /// How many jobs there have been.
    pub fn count(&self) -> usize {
        self.state.len()
    }

    /// A job in one of the states.
    fn any(&self, draw: &mut Draw, wanted: &[State]) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.state.len())
            .filter(|index| wanted.contains(&self.state[*index]))
            .collect();
        (!fitting.is_empty()).then(|| fitting[draw.below(fitting.len())] + 1)
    }

    fn set(&mut self, id: usize, state: State) {
        self.state[id - 1] = state;
    }
}

/// One partition, or several.
pub fn part_names(draw: &mut Draw, world: &World) -> String {
    let mut names = vec![];
    for name in &world.parts {
        if names.is_empty() || draw.chance(25) {
            names.push(name.as_str());
        }
    }
    if names.len() == 1 {
        return world.parts[draw.below(world.parts.len())].clone();
    }
    names.join(",")
}

fn allocation(draw: &mut Draw) -> String {
    let mut words = format!(
        "cpu={} node={} mem={}",
        draw.magnitude(5000),
        draw.between(1, 100),
        draw.magnitude(1_000_000)
    );
    if draw.chance(30) {
        words.push_str(&format!(" gres/gpu={}", draw.between(0, 8)));
    }
    words
}

fn limit(draw: &mut Draw) -> String {
    match draw.weighted(&[70, 10, 10, 10]) {
        0 => draw.between(1, 3000).to_string(),
        1 => "unset".to_owned(),
        2 => "inf".to_owned(),
        _ => "1".to_owned(),
    }
}

fn nice(draw: &mut Draw) -> i64 {
    match draw.weighted(&[60, 30, 10]) {
        0 => draw.between(-100, 100),
        1 => draw.between(-100_000, 100_000),
        _ => draw.one_of(&[2_147_483_645, -2_147_483_645]),
    }
}

fn assoc(draw: &mut Draw, world: &World) -> u32 {
    if world.users.is_empty() || draw.chance(3) {
        return 0;
    }
    draw.one_of(&world.users)
}

/// Several QOS; releases that know only one ignore the word.
fn qos_list(draw: &mut Draw, world: &World) -> String {
    let ids: Vec<String> = world
        .qos
        .iter()
        .filter(|id| **id > 0 && draw.chance(50))
        .map(u32::to_string)
        .collect();
    if ids.is_empty() {
        return String::new();
    }
    format!(" qoslist={}", ids.join(","))
}

/// Writes one event; `None` when no job fits it.
type Event = fn(&mut Scene<'_>) -> Option<()>;

/// The events of jobs, and how often each is drawn.
const JOB_EVENTS: [(u32, Event); 20] = [
    (14, submit),
    (12, start),
    (3, |scene| scene.leave("cancel", &[Waiting, Running])),
    (5, end),
    (8, clean),
    (3, |scene| scene.change("purge", &[Gone], Gone)),
    (3, |scene| {
        scene.change("requeue", &[Running], Cleaning(true))
    }),
    (4, |scene| scene.change("suspend", &[Running], Suspended)),
    (3, |scene| scene.change("resume", &[Suspended], Running)),
    (3, resize),
    (2, setprio),
    (6, update),
    (4, |scene| scene.change("hold", &[Waiting], Held)),
    (3, |scene| scene.change("release", &[Held], Waiting)),
    (2, preempt),
    (2, plan),
    (2, update_qos_list),
    (2, limit_change),
    (2, split),
    (1, |scene| scene.change("pretend", &[Waiting], Waiting)),
];

/// One event of a job, if there is one that the drawn event fits.
pub fn happen(scene: &mut Scene<'_>) {
    let weights = JOB_EVENTS.map(|(weight, _)| weight);
    let (_, event) = JOB_EVENTS[scene.draw.weighted(&weights)];
    // Without a fitting job nothing happens.
    let _ = event(scene);
}

/// The jobs that are there when the events begin, some of them running.
pub fn first(scene: &mut Scene<'_>, count: u32) {
    for _ in 0..count {
        let _ = submit(scene);
        let id = scene.jobs.count();
        if scene.draw.chance(20) && scene.jobs.state[id - 1] == Waiting {
            scene.life.push(format!("start {id}"));
            scene.jobs.set(id, Running);
        }
    }
}

impl Scene<'_> {
    /// `verb ID` for a job in one of some states, which it leaves for another.
    fn change(&mut self, verb: &str, from: &[State], to: State) -> Option<()> {
        let id = self.jobs.any(self.draw, from)?;
        self.life.push(format!("{verb} {id}"));
        self.jobs.set(id, to);
        Some(())
    }

    fn leave(&mut self, verb: &str, from: &[State]) -> Option<()> {
        self.change(verb, from, Cleaning(false))
    }
}

fn submit(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.count() + 1;
    let (draw, world) = (&mut *scene.draw, &*scene.world);
    let mut line = format!(
        "submit {id} assoc={} qos={} part={} limit={} {}",
        assoc(draw, world),
        draw.one_of(&world.qos),
        part_names(draw, world),
        limit(draw),
        allocation(draw)
    );
    if draw.chance(25) {
        line.push_str(&format!(" nice={}", nice(draw)));
    }
    if draw.chance(10) {
        line.push_str(&format!(" site={}", nice(draw)));
    }
    if draw.chance(10) {
        line.push_str(&format!(" begin={}", draw.between(-5000, 5000)));
    }
    if draw.chance(10) {
        line.push_str(" accrue=0");
    }
    if draw.chance(10) {
        line.push_str(&format!(" maxcpus={}", draw.magnitude(10_000)));
    }
    if draw.chance(15) && world.qos.len() > 2 {
        line.push_str(&qos_list(draw, world));
    }
    let mut state = Waiting;
    if draw.chance(8) {
        let direct = draw.magnitude(u32::MAX);
        line.push_str(&format!(" direct={direct}"));
        if direct == 0 {
            state = Held;
        }
    }
    scene.life.push(line);
    scene.jobs.state.push(state);
    Some(())
}

fn start(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting])?;
    let (draw, world) = (&mut *scene.draw, &*scene.world);
    let mut line = format!("start {id}");
    // The scheduler has chosen one of the job's partitions, not always the first.
    if draw.chance(20) {
        let part = &world.parts[draw.below(world.parts.len())];
        line.push_str(&format!(" part={part}"));
    }
    if draw.chance(50) {
        line.push_str(&format!(" {}", allocation(draw)));
    }
    scene.life.push(line);
    scene.jobs.set(id, Running);
    Some(())
}

fn end(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Running, Suspended])?;
    let state = scene.draw.pick(&["", " state=timeout", " state=failed"]);
    scene.life.push(format!("end {id}{state}"));
    scene.jobs.set(id, Cleaning(false));
    Some(())
}

fn clean(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene
        .jobs
        .any(scene.draw, &[Cleaning(false), Cleaning(true)])?;
    let waits = scene.jobs.state[id - 1] == Cleaning(true);
    scene.life.push(format!("clean {id}"));
    scene.jobs.set(id, if waits { Waiting } else { Gone });
    Some(())
}

fn resize(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Running])?;
    let words = allocation(scene.draw);
    scene.life.push(format!("resize {id} {words}"));
    Some(())
}

fn setprio(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting])?;
    let priority = if scene.draw.chance(30) {
        "inf".to_owned()
    } else {
        scene.draw.between(1, 4_294_967_293).to_string()
    };
    scene.life.push(format!("setprio {id} prio={priority}"));
    Some(())
}

fn update(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting])?;
    let (draw, world) = (&mut *scene.draw, &*scene.world);
    let word = match draw.below(5) {
        0 => format!("assoc={}", assoc(draw, world)),
        1 => format!("qos={}", draw.one_of(&world.qos)),
        2 => format!("part={}", part_names(draw, world)),
        3 => format!("nice={}", nice(draw)),
        _ => format!("site={}", nice(draw)),
    };
    scene.life.push(format!("update {id} {word}"));
    Some(())
}

/// A shorter list, or any together with other partitions: then slurmctld makes a new array of
/// priorities. Stock writes a longer list's behind the end of the old one.
fn update_qos_list(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting])?;
    let (draw, world) = (&mut *scene.draw, &*scene.world);
    let words = if draw.chance(50) {
        let list = qos_list(draw, world);
        format!("part={}{list}", part_names(draw, world))
    } else {
        let id = world.qos[1..].get(draw.below(world.qos.len()))?;
        format!("qoslist={id}")
    };
    scene.life.push(format!("update {id} {words}"));
    Some(())
}

/// Another job wants its nodes; it may stay for a grace time.
fn preempt(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Running, Suspended])?;
    let grace = scene.draw.one_of(&[0, 1, 60, 600, 100_000]);
    scene.life.push(format!("preempt {id} grace={grace}"));
    Some(())
}

/// Backfill notes when it means to start a job; that moment may pass.
fn plan(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting])?;
    let start = scene.draw.between(-100, 5000);
    scene.life.push(format!("plan {id} start={start}"));
    Some(())
}

fn limit_change(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting, Running])?;
    let minutes = scene.draw.between(1, 5000);
    scene.life.push(format!("limit {id} limit={minutes}"));
    Some(())
}

fn split(scene: &mut Scene<'_>) -> Option<()> {
    let id = scene.jobs.any(scene.draw, &[Waiting, Held])?;
    let state = scene.jobs.state[id - 1];
    let new = scene.jobs.count() + 1;
    scene.life.push(format!("split {id} new={new}"));
    scene.jobs.state.push(state);
    Some(())
}
