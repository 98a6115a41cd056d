//! What an administrator resets under a window.

use std::path::Path;

use anyhow::{Result, ensure};

use super::faults::answer;
use super::host::Host;
use super::life::Life;

/// `RawUsage=0` of a user who runs two jobs, of 4 CPUs each, and of whom one ends before the next pass:
/// slurmctld charges the record for that, and has less in it than before. What was used up to the pass is
/// forgotten; after it counts what the other job uses. The user beside keeps what he used.
///
/// # Errors
/// Other numbers; the host fails.
pub fn a_reset_counts_where_a_job_ends(host: &Host, plugin: &Path) -> Result<()> {
    let mut life = Life::parse(
        "clock 1700000000\n\
         conf AccountingStorageEnforce=limits,qos PriorityParameters=usage=window:0:3600,resolution=0:60\n\
         part main cpu=100 node=10\n\
         qos 1\n\
         assoc 1 acct=root shares=1\n\
         assoc 2 acct=a parent=1 shares=1\n\
         assoc 3 acct=a user=u1 parent=2 shares=1\n\
         assoc 4 acct=a user=u2 parent=2 shares=1\n\
         boot\n",
    );
    for (job, assoc) in [(1, 3), (2, 3), (3, 4)] {
        life.push(format!(
            "submit {job} assoc={assoc} qos=1 part=main limit=600 cpu=4 node=1"
        ));
        life.push(format!("start {job}"));
    }
    for line in ["pass 300", "assoc_zero 3", "step 100", "end 1", "pass 200"] {
        life.push(line);
    }
    let reset = life.lines.len();
    life.push("pass 300");
    let last = life.lines.len();
    let dump = host.play(plugin, &life, Some((reset, last)))?;
    ensure!(dump.ending == "exit 0", "{}", dump.ending);
    for (line, expected) in [(reset, [0.0, 2400.0]), (last, [1200.0, 3600.0])] {
        for (assoc, expected) in [3, 4].into_iter().zip(expected) {
            let found = answer(&dump, line, &format!("assoc {assoc} usage_raw"))?;
            let found: f64 = found.parse()?;
            ensure!(
                found == expected,
                "line {line}: association {assoc} has {found}, not {expected}"
            );
        }
    }
    Ok(())
}
