//! The cost of windows and orders: passes of our plugin with them, and of Slurm's own plugin, in the
//! same workload, in turns.

use anyhow::Result;

use fairtree::usage::window::{Column, Columns, LeafKey, UsageHistory, Window};
use xtask::progress::Progress;

use super::served::{Answer, Served};
use super::table::{Measurement, Table, Unit};
use super::workload::{Kind, Layout, START, Workload};
use super::{Bench, median};
use crate::twin::draw::Draw;

/// Policies: name and `PriorityParameters`.
const POLICIES: [(&str, &str); 4] = [
    ("window", "usage=window:7-0"),
    ("strict", "order=strict"),
    ("interleaved", "order=interleaved"),
    ("window, interleaved", "usage=window:7-0,order=interleaved"),
];

/// Passes before those that count.
const WARM_UP: usize = 3;
/// Number of sets of processes, one after the other: where their pages happen to lie matters. Sets
/// with a huge queue take long, so there are fewer.
const SETS: u32 = 9;
const HUGE_SETS: u32 = 3;
const PASS: &str = "time_pass 300";
const COUNTED_PASS: &str = "count_pass 300";
/// Largest allowed ratio of a pass's CPU time to the peer's.
const CPU_BOUND: f64 = 0.75;

/// The window and a day: some of the usage has already left the window.
const HISTORY_SECS: i64 = 8 * 86_400;
/// A job's longest time, and the cores of a node.
const MOST_HOURS: i64 = 12;
const CORES: i64 = 128;

/// The workloads of a run.
pub fn workloads(quick: bool) -> Vec<Workload> {
    let mut workloads = vec![Workload::large(Layout::Scattered, Kind::FairTree)];
    if !quick {
        workloads.push(Workload::huge(Layout::Scattered, Kind::FairTree));
    }
    workloads
}

/// Times of one policy over all rounds.
#[derive(Default)]
struct Record {
    passes: Vec<Answer>,
    counts: Vec<Answer>,
}

fn middle(answers: &[Answer], of: impl Fn(&Answer) -> Result<f64>) -> Result<f64> {
    let values: Result<Vec<f64>> = answers.iter().map(of).collect();
    Ok(median(&values?))
}

/// Sets of processes, and passes of each policy in one.
fn sets_and_rounds(bench: &Bench, workload: &Workload) -> (u32, u32) {
    match workload.waiting >= 1_000_000 {
        true => (HUGE_SETS, bench.rounds.div_ceil(HUGE_SETS)),
        false => (SETS, bench.rounds),
    }
}

/// One table for a workload.
///
/// # Errors
/// Fails if a host does not start or ends early.
pub fn measure(bench: &Bench, workload: &Workload, progress: &Progress) -> Result<Table> {
    let ledger = ledger(workload)?;
    let mut rows = Vec::new();
    for (name, parameters) in POLICIES {
        let mut pair = [(); 2].map(|()| Record::default());
        let (sets, rounds) = sets_and_rounds(bench, workload);
        for set in 1..=sets {
            progress.step(format!("policies: {workload}, {name}, processes {set}"));
            let played = (workload, &*ledger, rounds);
            measure_set(bench, played, parameters, &mut pair)?;
        }
        let [peer, record] = &pair;
        rows.extend(rows_of(name, record, peer)?);
    }
    Ok(Table {
        title: workload.to_string(),
        heads: ("policy", "stock"),
        rows,
    })
}

/// Plays a workload in two new processes, in turns, and adds the measurements: Slurm's own plugin,
/// and ours with these `parameters`. Memory has no room for more than two with a huge workload.
fn measure_set(
    bench: &Bench,
    (workload, ledger, rounds): (&Workload, &[u8], u32),
    parameters: &str,
    pair: &mut [Record; 2],
) -> Result<()> {
    let host = &bench.host;
    // If there is a ledger, passes maintain it, also when usage does not come from it.
    let ledger = parameters.contains("usage=").then_some(ledger);
    let mut hosts = [
        Served::begin(host, &bench.stock, workload, "")?,
        Served::begin_and_change(host, &bench.ours, (workload, ledger), parameters)?,
    ];
    for host in &mut hosts {
        host.wait_until_built(workload)?;
    }
    for host in &mut hosts {
        for _ in 0..WARM_UP {
            host.ask(PASS)?;
        }
    }
    for _ in 0..rounds {
        for (host, record) in hosts.iter_mut().zip(&mut *pair) {
            record.passes.push(host.ask(PASS)?);
        }
        pair[1].counts.push(hosts[1].ask(COUNTED_PASS)?);
    }
    Ok(())
}

fn rows_of(name: &str, record: &Record, peer: &Record) -> Result<Vec<Measurement>> {
    let ms = |what: String, of: &str| -> Result<Measurement> {
        let get = |answer: &Answer| answer.get(of);
        let (own, peer) = (middle(&record.passes, get)?, middle(&peer.passes, get)?);
        Ok(Measurement::new(what, Unit::Milliseconds, own / 1e3).beside(peer / 1e3))
    };
    let count = |what, of: fn(&Answer) -> Result<f64>| -> Result<Measurement> {
        let own = middle(&record.counts, of)?;
        Ok(Measurement::new(what, Unit::Count, own))
    };
    let changed = |answer: &Answer| answer.get("changed");
    let in_vain = |answer: &Answer| -> Result<f64> {
        let due = answer.get("changed")? + answer.get("stayed")?;
        Ok((answer.get("looked_up")? - due).max(0.0))
    };
    Ok(vec![
        ms(format!("{name}: CPU of a pass"), "cpu_us")?.ratio(CPU_BOUND),
        ms("CPU of the thread that saves".to_owned(), "other_cpu_us")?,
        ms("longest hold of the job write lock".to_owned(), "hold_us")?,
        count("jobs that get another priority", changed)?,
        count("jobs looked up in the hold for nothing", in_vain)?.at_most(0.0),
    ])
}

/// Past usage of the workload's users, in the format of the plugin.
fn ledger(workload: &Workload) -> Result<Vec<u8>> {
    let mut draw = Draw::new(u64::from(workload.users));
    let columns = Columns::new(["cpu", "mem", "node", "gres/gpu"])?;
    let at = |name: &str| match columns.find(name) {
        Some(Column::Tres(at)) => at,
        _ => unreachable!("one of the columns"),
    };
    let [cpu, mem, node] = ["cpu", "mem", "node"].map(at);
    let resolution_secs = Window::DEFAULT_RESOLUTION_SECS;
    let mut history = UsageHistory::new("twin", resolution_secs, columns.clone(), &[], START)?;
    for (account, user) in workload.user_names() {
        if !draw.chance(90) {
            continue;
        }
        let leaf = LeafKey::new(&account, &user, "")?;
        for _ in 0..draw.between(1, 8) {
            let nodes = draw.between(1, 64);
            let secs = draw.between(60, MOST_HOURS * 3_600);
            let to = START - draw.between(0, HISTORY_SECS);
            let of_nodes = |each: i64| u64::try_from(nodes * each);
            let counts = [
                (cpu, of_nodes(CORES)?),
                (mem, of_nodes(200_000)?),
                (node, of_nodes(1)?),
            ];
            let rate = columns.rate((nodes * CORES) as f64, 1.0, &counts)?;
            history.charge(&leaf, None, to - secs, to, &rate)?;
        }
    }
    Ok(history.save())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ledger_is_of_most_users() {
        let workload = Workload {
            users: 1_000,
            ..Workload::large(Layout::Fresh, Kind::FairTree)
        };
        let history = UsageHistory::load(&ledger(&workload).unwrap()).unwrap();
        let leaves = history.leaves().count();
        assert!((850..950).contains(&leaves), "{leaves}");
        assert_eq!(history.sources()[0].name, "twin");
        assert_eq!(history.open_runs(), 0);
    }
}
