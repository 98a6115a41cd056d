//! A schedule in the Standard Workload Format.

use std::io::{self, Write};

use fairtree_analysis::simulate::Replayed;
use fairtree_sim::workload::{Names, Workload};

/// Writes a header and a line per job that started, in the order of their submission: column 3 is
/// the wait of the replay. Times are seconds after `epoch`, the log's `UnixStartTime`.
///
/// Jobs, users and the like keep their numbers where all of the log have one; otherwise they are
/// numbered in the order of their first submission, and the header lists users and accounts.
///
/// # Errors
/// Those of `out`.
pub fn write_schedule(
    out: &mut impl Write,
    source: &str,
    epoch: i64,
    workload: &Workload,
    replayed: &Replayed,
) -> io::Result<()> {
    let kind = replayed.scheduler;
    writeln!(out, "; Version: 2.2")?;
    writeln!(out, "; Computer: simulated by fairtree, scheduler {kind}")?;
    writeln!(out, "; UnixStartTime: {epoch}")?;
    writeln!(out, "; MaxProcs: {}", workload.processors)?;
    writeln!(out, "; Note: input: {}", source.escape_default())?;
    if let Some(stopped_at) = replayed.schedule.stopped_at {
        writeln!(out, "; Note: PARTIAL: stopped at {}", stopped_at - epoch)?;
    }
    let users = Numbers::of(out, "user", 'u', &workload.users)?;
    let groups = Numbers::of(out, "account", 'g', &workload.accounts)?;
    let queues = Numbers::of(out, "QOS", 'q', &workload.qos)?;
    let partitions = Numbers::of(out, "partition", 'p', &workload.partitions)?;
    let ids = workload
        .owners
        .iter()
        .map(|owner| owner.id.parse::<i64>().ok());
    let ids: Option<Vec<i64>> = ids.collect();
    let starts = &replayed.schedule.starts;
    for (at, (job, owner)) in workload.jobs.iter().zip(&workload.owners).enumerate() {
        let Some(start) = starts[at] else { continue };
        let id = ids.as_ref().map_or(at as i64 + 1, |ids| ids[at]);
        writeln!(
            out,
            "{id} {} {} {} {} -1 -1 {} {} -1 -1 {} {} -1 {} {} -1 -1",
            job.submit - epoch,
            start - job.submit,
            job.run_secs,
            job.processors,
            job.processors,
            job.limit_secs,
            users.number(owner.user),
            groups.number(owner.account),
            queues.number(owner.qos),
            partitions.number(owner.partition),
        )?;
    }
    Ok(())
}

/// Numbers of names: their own, or else those of their order.
struct Numbers(Vec<i64>);

impl Numbers {
    /// Numbers of names that a log in this format has as `letter` and a number; of others, the
    /// header gets a line each.
    fn of(out: &mut impl Write, kind: &str, letter: char, names: &Names) -> io::Result<Numbers> {
        let own = |name: &String| match name.as_str() {
            "" => Some(-1),
            name => name.strip_prefix(letter)?.parse::<i64>().ok(),
        };
        if let Some(own) = names.names.iter().map(own).collect() {
            return Ok(Numbers(own));
        }
        let mut numbers = Vec::with_capacity(names.names.len());
        for (name, number) in names.names.iter().zip(1..) {
            if !name.is_empty() {
                writeln!(out, "; Note: {kind} {number} is {}", name.escape_default())?;
            }
            numbers.push(if name.is_empty() { -1 } else { number });
        }
        Ok(Numbers(numbers))
    }

    fn number(&self, name: u32) -> i64 {
        self.0[name as usize]
    }
}
