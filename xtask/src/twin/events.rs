//! Random events: jobs coming, running and going, an administrator at work.

use super::draw::Draw;
use super::life::Life;
use super::settings;
use super::world::{self, World};

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

struct Jobs {
    state: Vec<State>,
}

impl Jobs {
    /// A job in one of the states, by id; ids count from 1.
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

fn part_names(draw: &mut Draw, world: &World) -> String {
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

fn submit(draw: &mut Draw, world: &World, jobs: &mut Jobs, life: &mut Life) {
    let id = jobs.state.len() + 1;
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
    let mut state = State::Waiting;
    if draw.chance(8) {
        let direct = draw.magnitude(u32::MAX);
        line.push_str(&format!(" direct={direct}"));
        if direct == 0 {
            state = State::Held;
        }
    }
    life.push(line);
    jobs.state.push(state);
}

/// One event of a job, when there is a job that it fits.
fn job_event(draw: &mut Draw, world: &World, jobs: &mut Jobs, life: &mut Life) -> Option<()> {
    use State::{Cleaning, Gone, Held, Running, Suspended, Waiting};
    match draw.weighted(&[14, 12, 3, 5, 8, 3, 3, 4, 3, 3, 2, 6, 4, 3, 2, 2]) {
        0 => submit(draw, world, jobs, life),
        1 => {
            let id = jobs.any(draw, &[Waiting])?;
            let words = if draw.chance(50) {
                allocation(draw)
            } else {
                String::new()
            };
            life.push(format!("start {id} {words}").trim_end());
            jobs.set(id, Running);
        }
        2 => {
            let id = jobs.any(draw, &[Waiting, Running])?;
            life.push(format!("cancel {id}"));
            jobs.set(id, Cleaning(false));
        }
        3 => {
            let id = jobs.any(draw, &[Running, Suspended])?;
            let state = draw.pick(&["", " state=timeout", " state=failed"]);
            life.push(format!("end {id}{state}"));
            jobs.set(id, Cleaning(false));
        }
        4 => {
            let id = jobs.any(draw, &[Cleaning(false), Cleaning(true)])?;
            life.push(format!("clean {id}"));
            let waits = jobs.state[id - 1] == Cleaning(true);
            jobs.set(id, if waits { Waiting } else { Gone });
        }
        5 => {
            let id = jobs.any(draw, &[Gone])?;
            life.push(format!("purge {id}"));
        }
        6 => {
            let id = jobs.any(draw, &[Running])?;
            life.push(format!("requeue {id}"));
            jobs.set(id, Cleaning(true));
        }
        7 => {
            let id = jobs.any(draw, &[Running])?;
            life.push(format!("suspend {id}"));
            jobs.set(id, Suspended);
        }
        8 => {
            let id = jobs.any(draw, &[Suspended])?;
            life.push(format!("resume {id}"));
            jobs.set(id, Running);
        }
        9 => {
            let id = jobs.any(draw, &[Running])?;
            life.push(format!("resize {id} {}", allocation(draw)));
        }
        10 => {
            let id = jobs.any(draw, &[Waiting])?;
            life.push(format!("setprio {id} prio={}", direct_priority(draw)));
        }
        11 => {
            let id = jobs.any(draw, &[Waiting])?;
            life.push(format!("update {id} {}", update(draw, world)));
        }
        12 => {
            let id = jobs.any(draw, &[Waiting])?;
            life.push(format!("hold {id}"));
            jobs.set(id, Held);
        }
        13 => {
            let id = jobs.any(draw, &[Held])?;
            life.push(format!("release {id}"));
            jobs.set(id, Waiting);
        }
        14 => {
            let id = jobs.any(draw, &[Waiting, Running])?;
            life.push(format!("limit {id} limit={}", draw.between(1, 5000)));
        }
        _ => {
            let id = jobs.any(draw, &[Waiting, Held])?;
            let state = jobs.state[id - 1];
            life.push(format!("split {id} new={}", jobs.state.len() + 1));
            jobs.state.push(state);
        }
    }
    Some(())
}

fn direct_priority(draw: &mut Draw) -> String {
    if draw.chance(30) {
        "inf".to_owned()
    } else {
        draw.between(1, 4_294_967_293).to_string()
    }
}

fn update(draw: &mut Draw, world: &World) -> String {
    match draw.below(5) {
        0 => format!("assoc={}", assoc(draw, world)),
        1 => format!("qos={}", draw.one_of(&world.qos)),
        2 => format!("part={}", part_names(draw, world)),
        3 => format!("nice={}", nice(draw)),
        _ => format!("site={}", nice(draw)),
    }
}

fn add_association(draw: &mut Draw, world: &mut World, life: &mut Life) {
    let id = world.next_assoc;
    let parent = draw.one_of(&world.accounts);
    let shares = world::shares(draw);
    world.next_assoc += 1;
    if draw.chance(30) {
        life.push(format!(
            "assoc_add {id} acct=a{id} parent={parent} shares={shares}"
        ));
        world.accounts.push(id);
    } else {
        let acct = world::account_name(parent);
        let user = draw.between(1, 100);
        life.push(format!(
            "assoc_add {id} acct={acct} user=u{user} part=x{id} parent={parent} shares={shares}"
        ));
        world.users.push(id);
    }
}

fn any_assoc(draw: &mut Draw, world: &World) -> u32 {
    if world.users.is_empty() || draw.chance(40) {
        draw.one_of(&world.accounts)
    } else {
        draw.one_of(&world.users)
    }
}

/// What an administrator does.
fn admin_event(draw: &mut Draw, world: &mut World, life: &mut Life) {
    match draw.weighted(&[4, 6, 3, 2, 3, 2, 3, 2, 2, 2, 2, 2]) {
        0 => add_association(draw, world, life),
        1 => {
            let id = any_assoc(draw, world);
            // The root's shares mean nothing, and sacctmgr does not change them.
            if id != 1 {
                life.push(format!("assoc_set {id} shares={}", world::shares(draw)));
            }
        }
        2 => life.push(format!(
            "assoc_set {} parent={}",
            draw.one_of(&world.accounts),
            draw.one_of(&world.accounts)
        )),
        3 => life.push(format!(
            "assoc_set {} prio={}",
            any_assoc(draw, world),
            draw.magnitude(1000)
        )),
        4 => life.push(format!("assoc_del {}", any_assoc(draw, world))),
        5 => life.push(format!("assoc_zero {}", any_assoc(draw, world))),
        6 => life.push(format!("reconfig {}", settings::change(draw))),
        7 => life.push("debugflags"),
        8 => life.push(format!("dampening {}", draw.between(1, 10))),
        9 => life.push(format!(
            "restart {}",
            draw.one_of(&[0, 1, 60, 3600, 100_000])
        )),
        10 => life.push("save"),
        _ => life.push(format!("crash {}", draw.one_of(&[0, 1, 60, 3600]))),
    }
}

/// What sprio asks, with the filters that older releases send.
fn sprio(draw: &mut Draw, world: &World, jobs: &Jobs) -> String {
    let mut line = "sprio".to_owned();
    if draw.chance(20) {
        line.push_str(&format!(" {}", draw.between(10_000, 10_100)));
    }
    if draw.chance(20) {
        let id = draw.between(1, 1 + i64::try_from(jobs.state.len()).unwrap_or(1));
        line.push_str(&format!(" jobs={id},{}", id + 1));
    }
    if draw.chance(20) {
        line.push_str(&format!(" parts={}", part_names(draw, world)));
    }
    if draw.chance(20) {
        line.push_str(&format!(" uids={}", draw.between(10_000, 10_020)));
    }
    line
}

/// Time passes, mostly forwards.
fn time_event(draw: &mut Draw, life: &mut Life) {
    let verb = if draw.chance(70) { "pass" } else { "step" };
    let seconds = match draw.weighted(&[48, 18, 10, 10, 9, 5]) {
        0 => draw.between(1, 600),
        1 => 300,
        2 => draw.between(600, 100_000),
        3 => 0,
        4 => draw.between(100_000, 10_000_000),
        _ => -draw.between(1, 10_000),
    };
    life.push(format!("{verb} {seconds}"));
}

/// Writes jobs and events after `boot`.
pub fn live(draw: &mut Draw, world: &mut World, life: &mut Life, jobs: u32, events: u32) {
    let mut known = Jobs { state: vec![] };
    let quiet = jobs > 1000;
    if quiet {
        life.push("quiet");
    }
    for _ in 0..jobs {
        submit(draw, world, &mut known, life);
        if draw.chance(20) {
            let id = known.state.len();
            if known.state[id - 1] == State::Waiting {
                life.push(format!("start {id}"));
                known.set(id, State::Running);
            }
        }
    }
    if quiet {
        life.push("loud");
    }
    for _ in 0..events {
        match draw.weighted(&[45, 30, 15, 5, 5]) {
            0 => {
                job_event(draw, world, &mut known, life);
            }
            1 => time_event(draw, life),
            2 => admin_event(draw, world, life),
            3 => life.push(sprio(draw, world, &known)),
            _ => life.push("sshare"),
        }
    }
    life.push("pass 300");
    life.push("sprio");
    life.push("sshare");
}
