//! Lives whose events several threads play at once.

use crate::facts::facts;
use crate::twin::{self, Life, Size};
use xtask::release::Release;

/// Large enough that threads collide, small enough for valgrind.
const SIZE: Size = Size {
    assocs: 60,
    jobs: 80,
    events: 400,
    large: false,
};

/// Threads that play at the same time, without the plugin's own.
const THREADS: u32 = 4;

/// The life of a seed: a crowd, a restart of slurmctld, a second crowd, a crash, a third crowd.
pub fn life(seed: u64, release: &Release) -> Life {
    let life = twin::generate(seed, SIZE).without(&for_nobody_else(release));
    let boot = life.lines.iter().position(|line| line == "boot");
    let (start, events) = life.lines.split_at(boot.map_or(0, |at| at + 1));
    let mut crowds = Life::default();
    for line in start {
        crowds.push(line.as_str());
    }
    let third = events.len().div_ceil(3).max(1);
    for (part, between) in events
        .chunks(third)
        .zip(["restart 10", "crash 10", "pass 300"])
    {
        crowds.push(format!("crowd {THREADS}"));
        for line in part {
            match line.strip_prefix("elapse ") {
                // Passes run all the time, because the clock moves.
                Some(seconds) => crowds.push(format!("step {seconds}")),
                None => crowds.push(line.as_str()),
            }
        }
        crowds.push("together");
        crowds.push(between);
    }
    crowds
}

/// Events for which slurmctld has no other threads: starts. Newer releases also restart to read
/// slurm.conf again.
fn for_nobody_else(release: &Release) -> Vec<String> {
    let mut verbs = vec!["restart", "crash", "crash_in_pass", "quiet", "loud"];
    if facts(release).reconfigure_restarts {
        verbs.push("reconfig");
    }
    verbs.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_needs_slurmctld_alone() {
        let release: Release = "22.05.8".parse().unwrap();
        for seed in 1..60 {
            let crowds = life(seed, &release);
            let alone = ["elapse", "crash_in_pass"];
            let verb = |line: &String| line.split(' ').next().unwrap_or("").to_owned();
            assert!(
                !crowds
                    .lines
                    .iter()
                    .any(|line| alone.contains(&&*verb(line)))
            );
        }
    }

    #[test]
    fn three_crowds_with_every_event() {
        let release: Release = "22.05.8".parse().unwrap();
        let crowds = life(1, &release);
        let count = |verb: &str| crowds.lines.iter().filter(|line| **line == verb).count();
        assert_eq!((count("crowd 4"), count("together")), (3, 3));
        assert!(crowds.lines.len() > 300);
        assert!(crowds.lines.iter().any(|line| line.starts_with("reconfig")));
        let newer: Release = "24.11.5".parse().unwrap();
        let crowds = life(1, &newer);
        assert!(!crowds.lines.iter().any(|line| line.starts_with("reconfig")));
    }
}
