//! Memory, threads and passes of a slurmctld, second by second.

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::PathBuf;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use crate::cluster::Cluster;
use crate::wait;
use xtask::interrupt;

/// Memory that one daemon may gain more than the other by chance: freed memory that the C library
/// has not returned to the system.
const ALLOWANCE_KB: u64 = 8 * 1024;

/// The threads of a pool, which slurmctld keeps from 26.05 on for later work: their number shows
/// how many were needed at once, not how many are left over.
const POOL: &str = "worker[";

/// Threads by name.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Threads(BTreeMap<String, u64>);

/// Time that slurmctld may be without memory. When a thread other than the first replaces the
/// program, as at a reconfigure from 23.11 on, the process looks as if it had ended.
const RECONFIGURE: Duration = Duration::from_secs(10);

/// Monitors one slurmctld.
pub struct Watch {
    process: PathBuf,
    passes: PathBuf,
    threads_before: Threads,
}

/// One sample.
#[derive(Clone, Copy, Debug, Default)]
struct Sample {
    rss_kb: u64,
    anon_kb: u64,
    threads: u64,
}

/// All samples.
#[derive(Clone, Debug, Default)]
pub struct Record {
    samples: Vec<Sample>,
    passes: u64,
    threads_before: Threads,
    threads_after: Threads,
}

impl Watch {
    /// Monitors a cluster's slurmctld.
    pub fn new(cluster: &Cluster) -> Result<Watch> {
        let pid = cluster.slurmctld_pid()?;
        let mut watch = Watch {
            process: format!("/proc/{pid}").into(),
            passes: cluster.path().join("state/priority_last_decay_ran"),
            threads_before: Threads::default(),
        };
        watch.threads_before = watch.threads()?;
        Ok(watch)
    }

    fn threads(&self) -> Result<Threads> {
        let tasks = fs::read_dir(self.process.join("task")).context("slurmctld has ended")?;
        let mut threads = Threads::default();
        for task in tasks.flatten() {
            // A thread that has ended since has no name any more.
            if let Ok(name) = fs::read_to_string(task.path().join("comm")) {
                threads.add(name.trim_end());
            }
        }
        Ok(threads)
    }

    fn look(&self) -> Result<Sample> {
        wait::until("slurmctld has memory", RECONFIGURE, || {
            let status = self.process.join("status");
            let text = fs::read_to_string(status).context("slurmctld has ended")?;
            Sample::of_status(&text)
        })
        .with_context(|| self.ending())
    }

    /// The exit status of slurmctld, while nobody has waited for it.
    fn ending(&self) -> String {
        let stat = fs::read_to_string(self.process.join("stat")).unwrap_or_default();
        let last = stat.split_whitespace().next_back();
        match last.and_then(|status| status.parse().ok()) {
            Some(status) => format!("slurmctld has ended: {}", ExitStatus::from_raw(status)),
            None => "slurmctld has ended".to_owned(),
        }
    }

    /// The time of the last pass from the file; 0 while there is none.
    fn last_pass(&self) -> u64 {
        let bytes = fs::read(&self.passes).unwrap_or_default();
        bytes
            .first_chunk()
            .map_or(0, |first| u64::from_be_bytes(*first))
    }

    /// Samples every second. Fails if slurmctld ends.
    pub fn until(&self, end: Instant) -> Result<Record> {
        let mut record = Record {
            threads_before: self.threads_before.clone(),
            ..Record::default()
        };
        let (mut pass, mut next) = (0, Instant::now());
        while Instant::now() < end {
            interrupt::check()?;
            let last = self.last_pass();
            record.passes += u64::from(last != pass);
            pass = last;
            if Instant::now() >= next {
                record.samples.push(self.look()?);
                next += Duration::from_secs(1);
            }
            std::thread::sleep(Duration::from_millis(200));
        }
        Ok(record)
    }
}

impl Sample {
    /// Parses the text of `/proc/PID/status`; `None` for a process without memory, such as one that
    /// has ended and is not waited for.
    fn of_status(status: &str) -> Result<Option<Sample>> {
        let number = |key: &str| -> Result<Option<u64>> {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|rest| rest.split_whitespace().next());
            Ok(number.map(str::parse).transpose()?)
        };
        let (Some(rss_kb), Some(anon_kb), Some(threads)) =
            (number("VmRSS:")?, number("RssAnon:")?, number("Threads:")?)
        else {
            return Ok(None);
        };
        Ok(Some(Sample {
            rss_kb,
            anon_kb,
            threads,
        }))
    }
}

impl Threads {
    fn add(&mut self, name: &str) {
        if !name.starts_with(POOL) {
            *self.0.entry(name.to_owned()).or_default() += 1;
        }
    }

    fn count(&self) -> u64 {
        self.0.values().sum()
    }

    /// The threads of each name that are more than before.
    fn more_than(&self, before: &Threads) -> Threads {
        let more = self.0.iter().filter_map(|(name, count)| {
            let had = before.0.get(name).copied().unwrap_or(0);
            (*count > had).then(|| (name.clone(), count - had))
        });
        Threads(more.collect())
    }
}

impl fmt::Display for Threads {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.0.iter().map(|(name, count)| format!("{count} {name}"));
        f.write_str(&names.collect::<Vec<_>>().join(", "))
    }
}

impl Record {
    /// Waits until the threads of the storm's requests have ended; additional threads stay in the
    /// record.
    pub fn end(&mut self, cluster: &Cluster, watch: &Watch, deadline: Duration) -> Result<()> {
        ensure!(cluster.slurmctld_pid().is_ok(), "slurmctld has ended");
        let gone = wait::until_true("the threads of the storm have gone", deadline, || {
            self.threads_after = watch.threads()?;
            Ok(self.left_over().count() == 0)
        });
        // The remaining threads are compared with stock's.
        drop(gone);
        interrupt::check()?;
        watch.look().map(drop)
    }

    /// Threads that did not exist before.
    fn left_over(&self) -> Threads {
        self.threads_after.more_than(&self.threads_before)
    }

    /// Number of observed passes.
    pub fn passes(&self) -> u64 {
        self.passes
    }

    fn mean_of_quarter(&self, quarter: usize) -> u64 {
        let len = self.samples.len();
        let part = &self.samples[len * quarter / 4..len * (quarter + 1) / 4];
        let sum: u64 = part.iter().map(|sample| sample.anon_kb).sum();
        sum / (part.len().max(1) as u64)
    }

    /// Growth from the second quarter to the last: in the first, permanent memory is allocated.
    fn growth_kb(&self) -> u64 {
        self.mean_of_quarter(3)
            .saturating_sub(self.mean_of_quarter(1))
    }

    /// Fails if memory grows more than stock's, or if more threads are left.
    pub fn compare(&self, stock: &Record) -> Result<()> {
        let (grown, allowed) = (self.growth_kb(), stock.growth_kb() + ALLOWANCE_KB);
        ensure!(
            grown <= allowed,
            "memory has grown by {grown} KiB, that of stock by {} KiB",
            stock.growth_kb()
        );
        let (ours, stocks) = (self.left_over(), stock.left_over());
        ensure!(
            ours.count() <= stocks.count(),
            "threads are left over: {ours}; of stock: {stocks}"
        );
        Ok(())
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [a, b, c, d] = [0, 1, 2, 3].map(|quarter| self.mean_of_quarter(quarter));
        let most = |value: fn(&Sample) -> u64| self.samples.iter().map(value).max().unwrap_or(0);
        write!(
            f,
            "{} passes seen in {} s; anonymous memory by quarters {a} {b} {c} {d} KiB, resident at \
             most {} KiB; threads {} before, at most {} with those of the pool, {} after",
            self.passes,
            self.samples.len(),
            most(|sample| sample.rss_kb),
            self.threads_before.count(),
            most(|sample| sample.threads),
            self.threads_after.count()
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(anon_kb: &[u64]) -> Record {
        let samples = anon_kb.iter().map(|&anon_kb| Sample {
            anon_kb,
            ..Sample::default()
        });
        Record {
            samples: samples.collect(),
            ..Record::default()
        }
    }

    #[test]
    fn growth_is_that_after_the_first_quarter() {
        let flat = record(&[1_000, 90_000, 91_000, 90_500]);
        assert_eq!(flat.growth_kb(), 500);
        assert!(flat.compare(&record(&[1, 1, 1, 1])).is_ok());
        let leaking = record(&[1_000, 20_000, 40_000, 60_000]);
        assert!(leaking.compare(&record(&[1, 1, 1, 1])).is_err());
        assert!(leaking.compare(&leaking).is_ok());
    }

    #[test]
    fn a_process_that_has_ended_has_no_memory() {
        let running = "Name:\tslurmctld\nVmRSS:\t  9000 kB\nRssAnon:\t 700 kB\nThreads:\t12\n";
        let sample = Sample::of_status(running).unwrap().unwrap();
        assert_eq!(
            (sample.rss_kb, sample.anon_kb, sample.threads),
            (9_000, 700, 12)
        );
        let ended = "Name:\tslurmctld\nState:\tZ (zombie)\nThreads:\t1\n";
        assert!(Sample::of_status(ended).unwrap().is_none());
    }

    fn with_threads(before: &[&str], after: &[&str]) -> Record {
        let threads = |names: &[&str]| {
            let mut threads = Threads::default();
            names.iter().for_each(|name| threads.add(name));
            threads
        };
        Record {
            threads_before: threads(before),
            threads_after: threads(after),
            ..record(&[1, 1, 1, 1])
        }
    }

    #[test]
    fn threads_are_told_by_name() {
        let stock = with_threads(&["slurmctld", "decay"], &["slurmctld", "decay"]);
        // One more thread of the pool, as a slurmctld of 26.05 had after a storm under our plugin.
        let pooled = ["slurmctld", "fairtree", "worker[1]", "worker[12]"];
        let ours = with_threads(&pooled[..3], &pooled);
        assert!(ours.compare(&stock).is_ok());
        let two = ["slurmctld", "fairtree", "fairtree"];
        let error = with_threads(&two[..2], &two).compare(&stock).unwrap_err();
        assert!(error.to_string().contains("1 fairtree"), "{error}");
        // The same number as before, but different threads.
        let other = with_threads(&["slurmctld", "rpc"], &["slurmctld", "save"]);
        assert!(other.compare(&stock).is_err());
    }
}
