//! Values that passes leave in ordered jobs, and that sprio shows.

use std::path::Path;

use anyhow::{Result, ensure};

use super::faults::answer;
use super::host::{Dump, TwinHost};
use super::life::Life;

/// Two users with half of the shares each: the first one uses something, and one job of each user
/// waits meanwhile. With Fair Tree: when the jobs were submitted, both users had no usage, so the
/// factor is 1 and gives 1000 points; the first user's factor is 1/2 from the first pass on.
fn life(parameters: &str, qos: &str) -> Life {
    Life::parse(&format!(
        "clock 1700000000\n\
         conf AccountingStorageEnforce=limits,qos PriorityWeightFairshare=1000 {parameters}\n\
         part main cpu=100 node=10\n\
         qos 1 {qos}\n\
         assoc 1 acct=root shares=1\n\
         assoc 2 acct=a parent=1 shares=1\n\
         assoc 3 acct=b parent=1 shares=1\n\
         assoc 4 acct=a user=u1 parent=2 shares=1\n\
         assoc 5 acct=b user=u2 parent=3 shares=1\n\
         boot\n\
         submit 1 assoc=4 qos=1 part=main limit=60 cpu=4 node=1\n\
         start 1\n\
         submit 2 assoc=4 qos=1 part=main limit=60 cpu=4 node=1\n\
         submit 3 assoc=5 qos=1 part=main limit=60 cpu=4 node=1\n\
         pass 300\n\
         pass 300\n\
         sprio\n"
    ))
}

/// The same site before its first job and pass.
fn site(parameters: &str) -> Life {
    let mut life = life(parameters, "");
    let boot = life.lines.iter().position(|line| line == "boot");
    life.lines.truncate(boot.map_or(0, |boot| boot + 1));
    life
}

fn submit(job: u32, assoc: u32) -> String {
    format!("submit {job} assoc={assoc} qos=1 part=main limit=60 cpu=4 node=1")
}

/// The priority of each job after the last line of a life.
fn priorities(host: &TwinHost, plugin: &Path, life: &Life, jobs: &[u32]) -> Result<Vec<f64>> {
    let last = life.lines.len();
    let dump = host.play(plugin, life, Some((last, last)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    let priority = |job: &u32| -> Result<f64> {
        Ok(answer(&dump, last, &format!("job {job} priority"))?.parse()?)
    };
    jobs.iter().map(priority).collect()
}

/// Values of a job after the last pass: FAIRSHARE in points and the priority in its record;
/// FAIRSHARE and `direct_prio` in its row of sprio. `direct_prio` is 0 unless an administrator set
/// the priority.
struct Shown {
    record: [f64; 2],
    sprio: [f64; 2],
}

fn play(host: &TwinHost, plugin: &Path, life: &Life) -> Result<[Shown; 2]> {
    let last = life.lines.len();
    let dump = host.play(plugin, life, Some((last - 1, last)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    Ok([shown(&dump, last, 2)?, shown(&dump, last, 3)?])
}

fn shown(dump: &Dump, last: usize, job: u32) -> Result<Shown> {
    let of = |line: usize, field: &str| -> Result<f64> {
        let answer = answer(dump, line, field)?;
        Ok(answer.parse()?)
    };
    let record = |field: &str| of(last - 1, &format!("job {job} {field}"));
    let row = |field: &str| of(last, &format!("sprio {} {field}", job - 2));
    Ok(Shown {
        record: [record("fs")?, record("priority")?],
        sprio: [row("fs")?, row("direct_prio")?],
    })
}

/// Passes keep the factors from the submission, unless a QOS enforces its UsageThreshold. sprio
/// gets the number (which was not set by an administrator) as the only factor.
///
/// # Errors
/// Fails if the numbers differ, or if the host fails.
pub fn numbers_are_no_sums(host: &TwinHost, plugin: &Path) -> Result<()> {
    let order = "PriorityParameters=order=strict";
    let weighted = play(host, plugin, &life("", ""))?;
    let sums = weighted.map(|job| job.record);
    ensure!(sums == [[500.0; 2], [1000.0; 2]], "weighted: {sums:?}");
    for (qos, factors) in [("", [1000.0; 2]), ("threshold=0.1", [500.0, 1000.0])] {
        let [first, second] = play(host, plugin, &life(order, qos))?;
        let found = [first.record[0], second.record[0]];
        ensure!(found == factors, "{qos}: {found:?} instead of {factors:?}");
        ensure!(
            second.record[1] > first.record[1],
            "{qos}: the user of less comes later"
        );
        for job in [first, second] {
            let number = job.record[1];
            ensure!(
                number > 1_000_000.0 && job.sprio == [number, 0.0],
                "{qos}: {number} is shown as {:?}",
                job.sprio
            );
        }
    }
    Ok(())
}

/// A pass gives each waiting job its number, also after jobs that it does not price: with
/// CALCULATE_RUNNING its rows include running jobs and one that has ended. All jobs were submitted
/// with the same weighted sum.
///
/// # Errors
/// Fails if two jobs have the same number or the wrong order, or if the host fails.
pub fn every_job_gets_its_number(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut life = life("PriorityFlags=CALCULATE_RUNNING", "");
    let submitted = life.lines.iter().position(|line| line.starts_with("pass"));
    life.lines.truncate(submitted.unwrap_or_default());
    life.push(submit(4, 4));
    life.push("start 4");
    life.push("end 4");
    for job in 5..=8 {
        life.push(submit(job, 4));
    }
    life.push("setprio 8 prio=77");
    life.push("reconfig PriorityParameters=order=strict");
    life.push("pass 300");
    // The second user has no usage; the first user's jobs come in the order of submission.
    let found = priorities(host, plugin, &life, &[3, 2, 5, 6, 7, 8])?;
    let (numbers, set) = found.split_at(5);
    ensure!(numbers.is_sorted_by(|a, b| a > b), "{numbers:?}");
    ensure!(set == [77.0], "an administrator's stays");
    Ok(())
}

/// A job that comes and goes between two passes loses its place in the line, and counts for no
/// user: one job is cancelled, one starts and ends. The next job of its user, who has no usage,
/// comes before the second job of the other user. Expected: picking and charging by hand.
///
/// # Errors
/// Fails if the place is wrong, or if the host fails.
pub fn who_came_and_went_counts_for_nobody(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut life = site("PriorityParameters=order=interleaved");
    life.push("pass 300");
    life.push(submit(1, 4));
    life.push("cancel 1");
    life.push(submit(2, 4));
    life.push("start 2");
    life.push("end 2");
    life.push(submit(3, 5));
    life.push(submit(4, 5));
    life.push("pass 300");
    life.push(submit(5, 4));
    let numbers = priorities(host, plugin, &life, &[3, 5, 4])?;
    ensure!(numbers.is_sorted_by(|a, b| a > b), "{numbers:?}");
    Ok(())
}

/// Without enforced limits slurmctld does not report ends, and a pass finds them. With
/// `expect=history` the pass also learns how long the runs took: the second job of a user who ran
/// for 100 seconds comes before the second job of the other user, for whom only limits of an hour
/// are known. Expected: picking and charging by hand.
///
/// # Errors
/// Fails if the order is wrong, or if the host fails.
pub fn ends_that_nobody_reports_are_learned(host: &TwinHost, plugin: &Path) -> Result<()> {
    for (expect, expected) in [("history", [4, 2, 3, 5]), ("time_limit", [4, 2, 5, 3])] {
        let mut life = site(&format!(
            "PriorityParameters=order=interleaved,expect={expect}"
        ));
        for line in &mut life.lines {
            *line = line.replace("=limits,qos", "=associations");
        }
        life.push("pass 0");
        life.push(submit(1, 4));
        for line in ["start 1", "step 100", "end 1", "pass 0"] {
            life.push(line);
        }
        for (job, assoc) in [(2, 4), (3, 4), (4, 5), (5, 5)] {
            life.push(submit(job, assoc));
        }
        life.push("pass 300");
        let numbers = priorities(host, plugin, &life, &expected)?;
        ensure!(
            numbers.is_sorted_by(|a, b| a > b),
            "{expect}: {numbers:?} of {expected:?}"
        );
    }
    Ok(())
}

/// Backfill gives jobs the priorities that they had before it let others have the locks: those of the
/// order before. They last until the next pass, which writes the order again; where they come while a
/// pass is under way, until the one after it. Until 26.05.3 backfill also gives a job the priority from
/// before an administrator set one. Expected: picking by hand.
///
/// # Errors
/// Another order; the host fails.
pub fn what_backfill_writes_back_lasts_a_pass(host: &TwinHost, plugin: &Path) -> Result<()> {
    let begun = || {
        let mut life = site("PriorityParameters=order=strict");
        for job in [submit(1, 4), submit(2, 4), submit(3, 5), submit(4, 5)] {
            life.push(job);
        }
        life.push("setprio 4 prio=77");
        life.push("pass 300");
        for line in [
            "queue 2",
            "queue 3",
            "queue 4",
            "start 1",
            "setprio 4 prio=88",
        ] {
            life.push(line);
        }
        life
    };
    // All have used nothing: by submission. Then the first user has used something.
    let (before, after) = ([1, 2, 3], [3, 2]);
    let in_order = |life: &Life, jobs: &[u32]| -> Result<bool> {
        let numbers = priorities(host, plugin, life, jobs)?;
        Ok(numbers.is_sorted_by(|a, b| a > b))
    };
    let mut life = begun();
    life.push("pass 300");
    ensure!(in_order(&life, &after)?, "without backfill");
    life.push("write_back");
    ensure!(in_order(&life, &before[1..])?, "right after backfill");
    // A job that comes then has its place in the order of the pass.
    life.push(submit(5, 5));
    ensure!(in_order(&life, &[5, 2])?, "a job that comes then");
    life.push("pass 300");
    ensure!(in_order(&life, &[3, 5, 2])?, "the pass after backfill");
    let set = priorities(host, plugin, &life, &[4])?;
    let kept = match host.release().numbers() >= [26, 5, 3] {
        true => 88.0,
        false => 77.0,
    };
    ensure!(set == [kept], "an administrator's: {set:?}");
    // Backfill goes on in the middle of the pass, wherever the pass lets go of its locks.
    for nth in 1.. {
        let mut life = begun();
        life.push(format!("during {nth} write_back"));
        life.push("pass 300");
        let last = life.lines.len();
        let dump = host.play(plugin, &life, Some((last, last)))?;
        if dump.lines.iter().any(|line| line.starts_with("~ never")) {
            ensure!(nth > 3, "a pass of {nth} points");
            return Ok(());
        }
        life.push("pass 300");
        ensure!(in_order(&life, &after)?, "the pass after backfill at {nth}");
    }
    Ok(())
}
