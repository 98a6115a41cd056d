//! The machine: its name, and the best speed of its memory.

use std::fmt;
use std::fs;

use anyhow::Result;

use crate::twin::host::TwinHost;

use super::served;

/// Limits of the machine that no program can beat.
#[derive(Clone, Copy, Debug)]
pub struct Memory {
    /// Bytes per second that one thread reads, in order.
    pub reads: f64,
    /// Bytes per second that one thread copies, each byte counted once.
    pub copies: f64,
    /// Latency of a read that depends on the previous read, seconds.
    pub latency: f64,
}

impl Memory {
    /// Measures in the bench host, because it is built with optimisation and this program is not.
    ///
    /// # Errors
    /// Fails if the host does not start.
    pub fn measure(host: &TwinHost) -> Result<Memory> {
        let answer = served::ask_alone(host, "time_memory")?;
        Ok(Memory {
            reads: answer.get("read_gb_s")? * 1e9,
            copies: answer.get("copy_gb_s")? * 1e9,
            latency: answer.get("latency_ns")? / 1e9,
        })
    }

    /// Least milliseconds for reading and writing this many bytes.
    pub fn millis(&self, read: f64, written: f64) -> f64 {
        // Written bytes must be read first, as in a copy onto itself.
        1e3 * (read / self.reads + written / self.copies)
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Memory {
            reads,
            copies,
            latency,
        } = self;
        write!(
            f,
            "Memory in this run: one thread reads {:.1} GB/s and copies {:.1} GB/s; a read that \
             waits for another one takes {:.0} ns.",
            reads / 1e9,
            copies / 1e9,
            latency * 1e9,
        )
    }
}

/// One line: processor, cores, memory.
pub fn name() -> String {
    let cpus = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    describe(&cpus, &memory)
}

fn describe(cpus: &str, memory: &str) -> String {
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    };
    let model = field(cpus, "model name").unwrap_or_else(|| "unknown processor".to_owned());
    let cache = field(cpus, "cache size").unwrap_or_else(|| "unknown".to_owned());
    let cores = cpus
        .lines()
        .filter(|line| line.starts_with("processor"))
        .count();
    let kib = field(memory, "MemTotal").and_then(|text| text.split(' ').next()?.parse().ok());
    let gib = kib.unwrap_or(0.0) / f64::from(1 << 20);
    format!("{model}, {cores} cores, {cache} of cache, {gib:.0} GiB of memory")
}

/// Bytes of memory that programs can still get.
pub fn free_bytes() -> f64 {
    let memory = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().split(' ').next()?.parse::<f64>().ok());
    kib.unwrap_or(0.0) * 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_machine_has_a_name() {
        let cpus = "processor\t: 0\nmodel name\t: Fast 9000\ncache size\t: 33792 KB\n\
                    processor\t: 1\nmodel name\t: Fast 9000\n";
        let memory = "MemTotal:       25165824 kB\nMemFree: 1 kB\n";
        assert_eq!(
            describe(cpus, memory),
            "Fast 9000, 2 cores, 33792 KB of cache, 24 GiB of memory"
        );
    }
}
