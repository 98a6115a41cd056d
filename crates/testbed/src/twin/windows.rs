//! Changes by administrators with a window.

use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use super::faults::answer;
use super::host::{Dump, TwinHost};
use super::life::Life;

/// The site, and running jobs of 4 CPUs: each with its association and QOS.
fn life(jobs: &[(u32, u32, u32)]) -> Life {
    let mut life = Life::parse(
        "clock 1700000000\n\
         conf AccountingStorageEnforce=limits,qos\n\
         conf PriorityParameters=usage=window:0:3600,resolution=0:60,counts=COMPLETED\n\
         part main cpu=100 node=10\n\
         qos 1\n\
         qos 2\n\
         qos 3 nodecay=1\n\
         assoc 1 acct=root shares=1\n\
         assoc 2 acct=a parent=1 shares=1\n\
         assoc 3 acct=a user=u1 parent=2 shares=1\n\
         assoc 4 acct=a user=u2 parent=2 shares=1\n\
         assoc 5 acct=b parent=2 shares=1\n\
         assoc 6 acct=b user=u3 parent=5 shares=1\n\
         boot\n",
    );
    for (job, assoc, qos) in jobs {
        life.push(format!(
            "submit {job} assoc={assoc} qos={qos} part=main limit=600 cpu=4 node=1"
        ));
        life.push(format!("start {job}"));
    }
    life
}

/// Adds a pass, and returns its line.
fn pass(life: &mut Life, secs: u32) -> usize {
    life.push(format!("pass {secs}"));
    life.lines.len()
}

/// Raw usage after a line: `who` is `assoc` or `qos`.
fn raw(dump: &Dump, line: usize, who: &str, id: u32) -> Result<f64> {
    Ok(answer(dump, line, &format!("{who} {id} usage_raw"))?.parse()?)
}

/// Fails unless raw usage is as expected after a line: `who` is `assoc` or `qos`.
fn check(dump: &Dump, line: usize, who: &str, expected: &[(u32, f64)]) -> Result<()> {
    for (id, expected) in expected {
        let found = raw(dump, line, who, *id)?;
        ensure!(
            found == *expected,
            "line {line}: {who} {id} has {found}, not {expected}"
        );
    }
    Ok(())
}

/// `RawUsage=0` for a user with two running jobs of 4 CPUs each, one of which ends before the next
/// pass: slurmctld adds that end to the record, which then holds less than before. Usage up to the
/// pass is forgotten; after it, usage of the other job counts. The second user keeps his usage.
///
/// # Errors
/// Fails if numbers differ, or if the host fails.
pub fn a_reset_counts_where_a_job_ends(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut life = life(&[(1, 3, 1), (2, 3, 1), (3, 4, 1)]);
    pass(&mut life, 300);
    for line in ["assoc_zero 3", "step 100", "end 1"] {
        life.push(line);
    }
    let reset = pass(&mut life, 200);
    let last = pass(&mut life, 300);
    let dump = host.play(plugin, &life, Some((reset, last)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    check(&dump, reset, "assoc", &[(3, 0.0), (4, 2400.0)])?;
    check(&dump, last, "assoc", &[(3, 1200.0), (4, 3600.0)])
}

/// A partition gets a QOS while a job of 4 CPUs runs there, loses it, and gets it again: the QOS is
/// charged for the job's usage during these times, as with stock.
///
/// # Errors
/// Fails as [`a_reset_counts_where_a_job_ends`].
pub fn a_qos_of_a_partition_counts_from_then_on(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut life = life(&[(1, 3, 1)]);
    let without = pass(&mut life, 300);
    life.push("part_qos main qos=2");
    let with = pass(&mut life, 200);
    life.push("part_qos main");
    pass(&mut life, 300);
    life.push("part_qos main qos=2");
    let again = pass(&mut life, 100);
    let dump = host.play(plugin, &life, Some((without, again)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    check(&dump, without, "qos", &[(1, 1200.0), (2, 0.0)])?;
    check(&dump, with, "qos", &[(1, 2000.0), (2, 800.0)])?;
    check(&dump, again, "qos", &[(1, 3600.0), (2, 1200.0)])
}

/// An account is moved away from a parent whose other user has no usage up to the last pass: the
/// parent's record is then empty, and no user is reset.
///
/// # Errors
/// Fails as [`a_reset_counts_where_a_job_ends`].
pub fn a_move_resets_nobody(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut life = life(&[(1, 6, 1)]);
    pass(&mut life, 300);
    for line in [
        "submit 2 assoc=3 qos=1 part=main limit=600 cpu=4 node=1",
        "start 2",
        "step 100",
        "assoc_set 5 parent=1",
    ] {
        life.push(line);
    }
    let moved = life.lines.len();
    pass(&mut life, 200);
    let last = pass(&mut life, 0);
    let dump = host.play(plugin, &life, Some((moved, last)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    check(&dump, moved, "assoc", &[(2, 0.0), (6, 1200.0)])?;
    let expected = [(1, 3600.0), (2, 1200.0), (3, 1200.0), (5, 2400.0)];
    check(&dump, last, "assoc", &expected)
}

/// A job waits, and a different cluster of the federation reports that it ran there and was
/// cancelled: no user is charged here, no matter if slurmctld reports ends or passes find them.
///
/// # Errors
/// Fails as [`a_reset_counts_where_a_job_ends`].
pub fn what_ran_elsewhere_counts_for_nobody(host: &TwinHost, plugin: &Path) -> Result<()> {
    for enforced in ["limits,qos", "qos"] {
        let mut life = life(&[]);
        let boot = life.lines.iter().position(|line| line == "boot");
        // Without counts=, which would not count cancelled jobs anyway.
        let conf = format!(
            "conf AccountingStorageEnforce={enforced} \
             PriorityParameters=usage=window:0:3600,resolution=0:60"
        );
        life.lines.insert(boot.context("boot")?, conf);
        for line in [
            "submit 1 assoc=3 qos=1 part=main limit=600 cpu=4 node=1",
            "pass 300",
            "step 300",
            "cancel 1 elsewhere=200",
        ] {
            life.push(line);
        }
        // Without enforced limits, a pass that finds an end charges it in the records, until the
        // next pass.
        pass(&mut life, 100);
        let last = pass(&mut life, 0);
        let dump = host.play(plugin, &life, Some((last, last)))?;
        ensure!(dump.ending == "exit 0", "{}", dump.ending);
        for who in ["assoc 3", "qos 1"] {
            let wall = answer(&dump, last, &format!("{who} wall"))?;
            ensure!(wall.parse() == Ok(0.0), "{enforced}: {who} has {wall} s");
        }
    }
    Ok(())
}

/// `RawUsage=0` for a QOS with the flag NoDecay and two running jobs of 4 CPUs, at each point of a
/// pass. One job is cancelled later, which does not count: its usage since the pass that found the
/// reset is subtracted from the record, but no usage that the record has lost already.
/// # Errors
/// Fails as [`a_reset_counts_where_a_job_ends`].
pub fn a_qos_without_decay_is_reset(host: &TwinHost, plugin: &Path) -> Result<()> {
    let mut found = Vec::new();
    for point in 0..12 {
        let mut life = life(&[(1, 3, 3), (2, 4, 3)]);
        pass(&mut life, 300);
        match point {
            0 => life.push("qos_zero 3"),
            _ => life.push(format!("during {point} qos_zero 3")),
        }
        let then = pass(&mut life, 100);
        for line in ["step 50", "cancel 1"] {
            life.push(line);
        }
        let last = pass(&mut life, 50);
        let dump = host.play(plugin, &life, Some((then, last)))?;
        ensure!(dump.ending == "exit 0", "{}", dump.ending);
        found.push([raw(&dump, then, "qos", 3)?, raw(&dump, last, "qos", 3)?]);
    }
    found.dedup();
    // Usage after the pass, and after one job has used 200 and the other 400 more.
    let expected = [
        // Before the snapshot: this pass finds the reset.
        [800.0, 1200.0],
        // Before records are written: the next pass finds the reset.
        [800.0, 1400.0],
        // After that: usage up to this pass is forgotten, too.
        [0.0, 600.0],
        // A pass has fewer points: nothing is reset, and the cancelled job's usage is subtracted.
        [3200.0, 2000.0],
    ];
    ensure!(found == expected, "{found:?}");
    Ok(())
}
