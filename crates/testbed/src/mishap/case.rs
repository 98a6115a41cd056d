//! One case: two jobs, passes every five minutes, a mishap, and the expected usage afterwards.

use std::fs;
use std::ops::RangeInclusive;
use std::path::Path;

use anyhow::{Context, Result};

use crate::twin::TwinHost;

/// Usage does not decay, so it is CPUs times seconds. At the end of these lines job 1 (2 CPUs) has
/// run for 1630 seconds, and job 2 (3 CPUs) has run for 1600 seconds and ended. slurmctld has saved
/// usage after 900 seconds, and the last pass was after 1500.
const BEFORE: &str = "\
clock 1700000000
zone UTC
cluster cpus=100 nodes=10
conf PriorityDecayHalfLife=0 PriorityUsageResetPeriod=NONE
conf AccountingStorageEnforce=limits
qos 1 prio=1 factor=1
part p1 cpu=100 node=10
assoc 1 acct=root shares=1
assoc 2 acct=a2 parent=1 shares=1
assoc 3 acct=a2 user=u1 parent=2 shares=1
assoc 4 acct=a2 user=u2 parent=2 shares=3
boot
submit 1 assoc=3 qos=1 part=p1 limit=100000 cpu=2 node=1
submit 2 assoc=4 qos=1 part=p1 limit=100000 cpu=3 node=1
start 1
start 2
pass 300
pass 300
pass 300
save
pass 300
pass 300
step 100
end 2
step 30
";

/// Seconds that job 1 has run before the mishap.
pub const RUN: i64 = 1630;

/// A case.
pub struct Case {
    /// `PriorityParameters`.
    pub parameters: &'static str,
    /// Lines before `boot`.
    pub first: &'static str,
    /// The events of the mishap.
    pub lines: String,
    /// Expected charged seconds of job 1 at the end; job 2 is always charged for all 1600.
    pub charged: i64,
    /// Allowed number of our plugin's error lines in the log.
    pub told: RangeInclusive<usize>,
    /// Text in each of these lines.
    pub says: &'static str,
}

/// Usage that decays by `PriorityDecayHalfLife`, which is off here.
pub const DECAYS: &str = "compat=documented";

/// Usage in a window longer than any life.
pub const WINDOW: &str = "compat=documented,usage=window:365-0";

impl Case {
    /// The whole life.
    pub fn life(&self) -> String {
        let before = BEFORE.replacen("boot\n", &format!("{}boot\n", self.first), 1);
        format!("{before}{}", self.lines)
    }

    /// Describes what is wrong afterwards; `None` if nothing.
    ///
    /// # Errors
    /// Fails if the host does not run.
    pub fn play(&self, host: &TwinHost, plugin: &Path) -> Result<Option<String>> {
        let folder = tempfile::tempdir()?;
        let mut command = host.prepare(plugin, &self.life(), folder.path())?;
        let parameters = format!("PriorityParameters={}", self.parameters);
        command.args(["--conf", &parameters, "--full", "1-999"]);
        let answer = command.output().context("the twin host")?;
        if !answer.status.success() {
            let said = String::from_utf8_lossy(&answer.stderr);
            return Ok(Some(format!(
                "the host ended with {}: {said}",
                answer.status
            )));
        }
        let read = |name: &str| fs::read_to_string(folder.path().join(name)).unwrap_or_default();
        Ok(self.fault(&read("dump"), &read("log")))
    }

    fn fault(&self, dump: &str, log: &str) -> Option<String> {
        if let Some(line) = dump
            .lines()
            .find(|line| line.to_lowercase().contains(" nan"))
        {
            return Some(format!("a number is none: {line}"));
        }
        for (assoc, charged) in [(3, 2 * self.charged), (4, 3 * 1600)] {
            let found = last_usage(dump, assoc);
            if found != Some(charged as f64) {
                return Some(format!(
                    "association {assoc} has used {found:?}, not {charged}"
                ));
            }
        }
        let lines: Vec<&str> = log
            .lines()
            .filter(|l| l.contains("priority/fairtree"))
            .collect();
        let clear = lines.iter().all(|line| line.contains(self.says));
        (!self.told.contains(&lines.len()) || !clear).then(|| {
            format!(
                "{:?} lines that say `{}`, not:\n{}",
                self.told,
                self.says,
                lines.join("\n")
            )
        })
    }
}

/// Raw usage of an association in the last of the dumps: `assoc 3 usage_raw f80:... 3260`.
fn last_usage(dump: &str, assoc: u32) -> Option<f64> {
    let key = format!("assoc {assoc} usage_raw ");
    let line = dump
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix(&key))?;
    line.split(' ').next_back()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "assoc 3 usage_raw f80:400a 9\n= 5 pass 00\n\
                        assoc 3 usage_raw f80:400a 3260\nassoc 4 usage_raw f80:400b 4800\n= 6 pass 00\n";

    fn case() -> Case {
        Case {
            parameters: DECAYS,
            first: "",
            lines: String::new(),
            charged: RUN,
            told: 1..=1,
            says: "damaged",
        }
    }

    #[test]
    fn the_last_usage_and_the_lines_count() {
        let log = "error: priority/fairtree: x is damaged\nerror: something else\n";
        assert_eq!(case().fault(DUMP, log), None);
        assert!(case().fault(DUMP, "").unwrap().contains("1..=1 lines"));
        let more = Case {
            charged: 1,
            ..case()
        };
        assert!(more.fault(DUMP, log).unwrap().contains("association 3"));
        let none = DUMP.replace("3260", "nan");
        assert!(case().fault(&none, log).unwrap().contains("none"));
    }
}
