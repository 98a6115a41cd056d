//! Passes in the bench host: both plugins in the same workload, in turns.

use anyhow::Result;

use xtask::progress::Progress;

use super::machine::Memory;
use super::served::{Answer, Served};
use super::table::{Measurement, Table, Unit};
use super::workload::{Kind, Layout, Workload};
use super::{Bench, median};

/// Passes before the measured ones.
const WARM_UP: usize = 2;
/// Limit of the time that a pass holds a lock, in `PriorityParameters`.
const SLICED: &str = "max_lock_ms=2";

/// Lines of 64 bytes per waiting job that any pass must read: the list's node, five of the record,
/// two of its details. And lines that it must write: one of the record, three of the factors that
/// sprio shows.
const READ_LINES: f64 = 8.0;
const WRITTEN_LINES: f64 = 4.0;
/// Lines per row of sprio's list that a pass must read (node, two of the record, three of the
/// factors) and write (the row and its node).
const LISTED_READ_LINES: f64 = 6.0;
const LISTED_WRITTEN_LINES: f64 = 4.0;
const LINE: f64 = 64.0;

/// The workloads of a run.
pub fn workloads(quick: bool) -> Vec<Workload> {
    use Kind::{Classic, FairTree, Tres};
    use Layout::{Fresh, Scattered};
    let mut workloads = vec![
        Workload::large(Fresh, FairTree),
        Workload::large(Scattered, FairTree),
        Workload::large(Scattered, Tres),
    ];
    if !quick {
        workloads.extend([
            Workload::huge(Fresh, FairTree),
            Workload::huge(Scattered, FairTree),
            Workload::huge(Scattered, Tres),
            Workload::huge(Scattered, Classic),
        ]);
    }
    workloads
}

/// Measurements of one plugin over all rounds.
#[derive(Default)]
struct Record {
    passes: Vec<Answer>,
    waits: Vec<Answer>,
    sets: Vec<Answer>,
    lists: Vec<Answer>,
}

impl Record {
    fn add(&mut self, served: &mut Served, round: u32) -> Result<()> {
        self.passes.push(served.ask("time_pass 300")?);
        self.waits.push(served.ask("time_wait 300")?);
        self.sets
            .push(served.ask(&format!("time_set {}", 10_000 + round))?);
        self.lists.push(served.ask("time_sprio")?);
        Ok(())
    }

    fn median(&self, of: fn(&Record) -> &Vec<Answer>, name: &str) -> Result<f64> {
        let values: Result<Vec<f64>> = of(self).iter().map(|answer| answer.get(name)).collect();
        Ok(median(&values?))
    }

    fn pass(&self, name: &str) -> Result<f64> {
        self.median(|record| &record.passes, name)
    }

    fn wait(&self, name: &str) -> Result<f64> {
        self.median(|record| &record.waits, name)
    }
}

/// Number of sets of processes that play a workload, one after the other: the time of a pass
/// depends on where the pages of its process happen to lie, and on other programs on the machine.
const SETS: u32 = 3;

/// Passes of each kind in a set: fewer for a huge queue, because they take long.
fn rounds(bench: &Bench, workload: &Workload) -> u32 {
    match is_huge(workload) {
        true => bench.rounds.div_ceil(SETS),
        false => bench.rounds,
    }
}

fn is_huge(workload: &Workload) -> bool {
    workload.waiting >= 1_000_000
}

/// Plays a workload in new processes, in turns, and adds the measurements to `records`: stock's
/// plugin, ours, and ours with a limit. Returns our pass before there were jobs.
fn measure_set(bench: &Bench, workload: &Workload, records: &mut [Record; 3]) -> Result<Answer> {
    let mut hosts = [
        Served::begin(&bench.host, &bench.stock, workload, "")?,
        Served::begin(&bench.host, &bench.ours, workload, "")?,
        Served::begin(&bench.host, &bench.ours, workload, SLICED)?,
    ];
    for host in &mut hosts {
        host.wait_until_built(workload)?;
    }
    for host in &mut hosts {
        for _ in 0..WARM_UP {
            host.ask("time_pass 300")?;
        }
    }
    for round in 0..rounds(bench, workload) {
        for (host, record) in hosts.iter_mut().zip(&mut *records) {
            record.add(host, round)?;
        }
    }
    Ok(std::mem::take(&mut hosts[1].empty))
}

/// One table for a workload.
///
/// # Errors
/// Fails if a host does not start or ends early.
pub fn measure(bench: &Bench, workload: &Workload, progress: &Progress) -> Result<Table> {
    let mut records = [(); 3].map(|()| Record::default());
    let mut empty = Answer::default();
    for set in 1..=SETS {
        progress.step(format!("passes: {workload}, processes {set}"));
        empty = measure_set(bench, workload, &mut records)?;
    }
    let [stock, ours, sliced] = records;
    let rows = Figures {
        workload,
        memory: &bench.memory,
        stock: &stock,
        ours: &ours,
        sliced: &sliced,
        empty: &empty,
    };
    Ok(Table {
        title: workload.to_string(),
        heads: ("ours", "stock"),
        rows: rows.rows()?,
    })
}

/// Least milliseconds for a pass over a workload.
pub fn least_millis(memory: &Memory, workload: &Workload) -> f64 {
    let lines = f64::from(workload.waiting) * LINE;
    memory.millis(lines * READ_LINES, lines * WRITTEN_LINES)
}

struct Figures<'a> {
    workload: &'a Workload,
    memory: &'a Memory,
    stock: &'a Record,
    ours: &'a Record,
    sliced: &'a Record,
    /// Our pass before there were jobs.
    empty: &'a Answer,
}

impl Figures<'_> {
    fn rows(&self) -> Result<Vec<Measurement>> {
        let mut rows = self.times()?;
        rows.extend(self.counts()?);
        Ok(rows)
    }

    /// Bound of the CPU time of a pass.
    fn cpu_bound(&self) -> f64 {
        match self.workload.layout {
            Layout::Fresh => 0.40,
            Layout::Scattered => 0.60,
        }
    }

    fn times(&self) -> Result<Vec<Measurement>> {
        let Figures {
            stock,
            ours,
            sliced,
            memory,
            ..
        } = self;
        let jobs = f64::from(self.workload.waiting);
        let ms = |what, ours: f64, stock: f64| {
            Measurement::new(what, Unit::Milliseconds, ours / 1e3).beside(stock / 1e3)
        };
        let write = memory.millis(0.0, jobs * WRITTEN_LINES * LINE);
        let pass = least_millis(memory, self.workload);
        let rows = self.ours.median(|record| &record.lists, "rows")?;
        let list = memory.millis(
            rows * LISTED_READ_LINES * LINE,
            rows * LISTED_WRITTEN_LINES * LINE,
        );
        let lists = |record: &Record| record.median(|record| &record.lists, "held_us");
        let sets = |record: &Record| record.median(|record| &record.sets, "set_us");
        Ok(vec![
            ms(
                "longest hold of the job write lock",
                ours.pass("hold_us")?,
                stock.pass("hold_us")?,
            )
            .ratio(0.05)
            .limit(write),
            ms(
                "the same in processor time",
                ours.pass("hold_cpu_us")?,
                stock.pass("hold_cpu_us")?,
            ),
            ms(
                "the same with max_lock_ms=2",
                sliced.pass("hold_us")?,
                stock.pass("hold_us")?,
            )
            .at_most(3.0),
            // Stock holds the write lock for all of a pass.
            ms(
                "longest hold of the job read lock, beside stock's write lock",
                ours.pass("read_hold_us")?,
                stock.pass("hold_us")?,
            )
            .ratio(0.5)
            .limit(pass - write),
            ms(
                "a reader's wait, p99",
                ours.wait("p99_us")?,
                stock.wait("p99_us")?,
            )
            .ratio(0.10)
            .limit(write),
            ms(
                "the same with max_lock_ms=2",
                sliced.wait("p99_us")?,
                stock.wait("p99_us")?,
            ),
            ms("CPU of a pass", ours.pass("cpu_us")?, stock.pass("cpu_us")?)
                .ratio(self.cpu_bound())
                .limit(pass),
            ms(
                "the same with max_lock_ms=2",
                sliced.pass("cpu_us")?,
                stock.pass("cpu_us")?,
            ),
            ms(
                "the list behind sprio, under locks",
                lists(ours)?,
                lists(stock)?,
            )
            .ratio(0.5)
            .limit(list),
            Measurement::new("setting one priority", Unit::Microseconds, sets(ours)?)
                .beside(sets(stock)?)
                .limit(1e3 * pass / jobs),
        ])
    }

    fn counts(&self) -> Result<Vec<Measurement>> {
        let (jobs, assocs) = (
            f64::from(self.workload.waiting),
            f64::from(self.workload.assocs()),
        );
        let slices = self.sliced.pass("holds")?;
        let bare = self.empty.get("owned_most")?;
        let full = self.ours.pass("owned_most")?;
        let kept = |name| -> Result<f64> { Ok(self.ours.pass(name)? - self.empty.get(name)?) };
        let count = |what, ours, stock| Measurement::new(what, Unit::Count, ours).beside(stock);
        Ok(vec![
            count(
                "lock operations of a pass",
                self.ours.pass("lock_operations")?,
                self.stock.pass("lock_operations")?,
            )
            .at_most(99.0),
            count(
                "the same with max_lock_ms=2",
                self.sliced.pass("lock_operations")?,
                self.stock.pass("lock_operations")?,
            )
            // A slice is locked and unlocked.
            .at_most(99.0 + 2.0 * slices),
            count(
                "allocations of a pass, per waiting job",
                self.ours.pass("allocations")? / jobs,
                self.stock.pass("allocations")? / jobs,
            )
            .at_most(0.001),
            Measurement::new(
                "own memory per waiting job, at most in a pass",
                Unit::Bytes,
                (full - bare) / jobs,
            )
            .at_most(200.0),
            Measurement::new("between passes", Unit::Bytes, kept("owned")? / jobs),
            Measurement::new(
                "own memory per association, at most in a pass",
                Unit::Bytes,
                bare / assocs,
            )
            .at_most(300.0),
            Measurement::new(
                "between passes",
                Unit::Bytes,
                self.empty.get("owned")? / assocs,
            ),
        ])
    }
}
