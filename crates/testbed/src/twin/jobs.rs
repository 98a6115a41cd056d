//! Random events of jobs.

use super::draw::Draw;
use super::inventory::Inventory;
use super::job_list::State;
use super::life_writer::LifeWriter;

use State::{Cleaning, Gone, Held, Running, Suspended, Waiting};

/// Names of one or several partitions.
pub fn part_names(draw: &mut Draw, inventory: &Inventory) -> String {
    let mut names = vec![];
    for name in &inventory.parts {
        if names.is_empty() || draw.chance(25) {
            names.push(name.as_str());
        }
    }
    if names.len() == 1 {
        return inventory.parts[draw.below(inventory.parts.len())].clone();
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

fn assoc(draw: &mut Draw, inventory: &Inventory) -> u32 {
    if inventory.users.is_empty() || draw.chance(3) {
        return 0;
    }
    draw.one_of(&inventory.users)
}

/// Several QOS; releases that know only one ignore the word.
fn qos_list(draw: &mut Draw, inventory: &Inventory) -> String {
    let ids: Vec<String> = inventory
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

/// Writes one event; returns `None` if no job fits it.
type Event = fn(&mut LifeWriter<'_>) -> Option<()>;

/// The events of jobs, with their weights.
const JOB_EVENTS: [(u32, Event); 20] = [
    (14, submit),
    (12, start),
    (3, |writer| writer.leave("cancel", &[Waiting, Running])),
    (5, end),
    (8, clean),
    (3, |writer| writer.change("purge", &[Gone], Gone)),
    (3, |writer| {
        writer.change("requeue", &[Running], Cleaning(true))
    }),
    (4, |writer| writer.change("suspend", &[Running], Suspended)),
    (3, |writer| writer.change("resume", &[Suspended], Running)),
    (3, resize),
    (2, setprio),
    (6, update),
    (4, |writer| writer.change("hold", &[Waiting], Held)),
    (3, |writer| writer.change("release", &[Held], Waiting)),
    (2, preempt),
    (2, plan),
    (2, update_qos_list),
    (2, limit_change),
    (2, split),
    (1, |writer| writer.change("pretend", &[Waiting], Waiting)),
];

/// Writes one event of a job, if the drawn event fits a job.
pub fn happen(writer: &mut LifeWriter<'_>) {
    let weights = JOB_EVENTS.map(|(weight, _)| weight);
    let (_, event) = JOB_EVENTS[writer.draw.weighted(&weights)];
    // Without a fitting job nothing happens.
    let _ = event(writer);
}

/// Writes the jobs that exist when the events begin; some of them run.
pub fn first(writer: &mut LifeWriter<'_>, count: u32) {
    for _ in 0..count {
        let _ = submit(writer);
        let id = writer.jobs.count();
        if writer.draw.chance(20) && writer.jobs.state(id) == Waiting {
            writer.life.push(format!("start {id}"));
            writer.jobs.set(id, Running);
        }
    }
}

impl LifeWriter<'_> {
    /// Writes `verb ID` for a job in one of the states `from`, and moves it to `to`.
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

fn submit(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.count() + 1;
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let mut line = format!(
        "submit {id} assoc={} qos={} part={} limit={} {}",
        assoc(draw, inventory),
        draw.one_of(&inventory.qos),
        part_names(draw, inventory),
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
    if draw.chance(15) && inventory.qos.len() > 2 {
        line.push_str(&qos_list(draw, inventory));
    }
    let mut state = Waiting;
    if draw.chance(8) {
        let direct = draw.magnitude(u32::MAX);
        line.push_str(&format!(" direct={direct}"));
        if direct == 0 {
            state = Held;
        }
    }
    writer.life.push(line);
    writer.jobs.add(state);
    Some(())
}

fn start(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting])?;
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let mut line = format!("start {id}");
    // The scheduler has chosen one of the job's partitions, not always the first.
    if draw.chance(20) {
        let part = &inventory.parts[draw.below(inventory.parts.len())];
        line.push_str(&format!(" part={part}"));
    }
    if draw.chance(50) {
        line.push_str(&format!(" {}", allocation(draw)));
    }
    writer.life.push(line);
    writer.jobs.set(id, Running);
    Some(())
}

fn end(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Running, Suspended])?;
    let state = writer.draw.pick(&["", " state=timeout", " state=failed"]);
    writer.life.push(format!("end {id}{state}"));
    writer.jobs.set(id, Cleaning(false));
    Some(())
}

fn clean(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer
        .jobs
        .any(writer.draw, &[Cleaning(false), Cleaning(true)])?;
    let waits = writer.jobs.state(id) == Cleaning(true);
    writer.life.push(format!("clean {id}"));
    writer.jobs.set(id, if waits { Waiting } else { Gone });
    Some(())
}

fn resize(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Running])?;
    let words = allocation(writer.draw);
    writer.life.push(format!("resize {id} {words}"));
    Some(())
}

fn setprio(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting])?;
    let priority = if writer.draw.chance(30) {
        "inf".to_owned()
    } else {
        writer.draw.between(1, 4_294_967_293).to_string()
    };
    writer.life.push(format!("setprio {id} prio={priority}"));
    Some(())
}

fn update(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting])?;
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let word = match draw.below(5) {
        0 => format!("assoc={}", assoc(draw, inventory)),
        1 => format!("qos={}", draw.one_of(&inventory.qos)),
        2 => format!("part={}", part_names(draw, inventory)),
        3 => format!("nice={}", nice(draw)),
        _ => format!("site={}", nice(draw)),
    };
    writer.life.push(format!("update {id} {word}"));
    Some(())
}

/// A shorter list, or any list together with a change of partitions: then slurmctld makes a new
/// array of priorities. For a longer list stock writes past the end of the old array.
fn update_qos_list(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting])?;
    let (draw, inventory) = (&mut *writer.draw, &*writer.inventory);
    let words = if draw.chance(50) {
        let list = qos_list(draw, inventory);
        format!("part={}{list}", part_names(draw, inventory))
    } else {
        let id = inventory.qos[1..].get(draw.below(inventory.qos.len()))?;
        format!("qoslist={id}")
    };
    writer.life.push(format!("update {id} {words}"));
    Some(())
}

/// A different job needs its nodes; it may stay for a grace time.
fn preempt(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Running, Suspended])?;
    let grace = writer.draw.one_of(&[0, 1, 60, 600, 100_000]);
    writer.life.push(format!("preempt {id} grace={grace}"));
    Some(())
}

/// Backfill records its planned start of a job; that moment may pass.
fn plan(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting])?;
    let start = writer.draw.between(-100, 5000);
    writer.life.push(format!("plan {id} start={start}"));
    Some(())
}

fn limit_change(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting, Running])?;
    let minutes = writer.draw.between(1, 5000);
    writer.life.push(format!("limit {id} limit={minutes}"));
    Some(())
}

fn split(writer: &mut LifeWriter<'_>) -> Option<()> {
    let id = writer.jobs.any(writer.draw, &[Waiting, Held])?;
    let state = writer.jobs.state(id);
    let new = writer.jobs.count() + 1;
    writer.life.push(format!("split {id} new={new}"));
    writer.jobs.add(state);
    Some(())
}
