//! Asking the accounting database, a slice of time after the other.

use std::time::Duration;

use jiff::Timestamp;

use super::accounted::{COLUMNS, Found, read_accounted};
use crate::input::capture::{Ask, CommandError};

/// Clusters whose runs are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters<'a> {
    /// Those of one cluster.
    One(&'a str),
    /// Those of all that share the database.
    All,
}

/// Asks `sacct` for the runs that overlap with `[from, to)`, seconds since 1970; what waits or runs
/// now comes with every answer.
///
/// # Errors
/// [`CommandError`]; an answer without a single record that can be read.
pub fn ask(
    clusters: Clusters<'_>,
    from: i64,
    to: i64,
    limit: Duration,
) -> Result<Found, Box<CommandError>> {
    let (from, to) = (time(from), time(to));
    let format = format!("--format={}", COLUMNS.join(","));
    let mut command = vec!["sacct", "-a", "-X", "-D", "-P", "-n"];
    match clusters {
        Clusters::One(name) => command.extend(["-M", name]),
        Clusters::All => command.push("-L"),
    }
    command.extend(["-S", &from, "-E", &to, &format]);
    let answered = Ask::new(&command, limit).run()?;
    let read = read_accounted("sacct", answered.text.as_bytes());
    read.map_err(|error| Box::new(CommandError::unexpected(&command, error)))
}

/// As `sacct` takes it where the time zone is UTC.
fn time(secs: i64) -> String {
    let time = Timestamp::from_second(secs).unwrap_or(Timestamp::MIN);
    time.strftime("%Y-%m-%dT%H:%M:%S").to_string()
}

/// A cluster of the accounting database.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClusterRow {
    /// Its name.
    pub name: String,
    /// True if its controller is connected.
    pub answers: bool,
}

/// Asks `sacctmgr` which clusters share the database.
///
/// # Errors
/// [`CommandError`].
pub fn ask_clusters(limit: Duration) -> Result<Vec<ClusterRow>, Box<CommandError>> {
    let command = [
        "sacctmgr",
        "-n",
        "-P",
        "show",
        "cluster",
        "format=Cluster,ControlHost",
    ];
    let answered = Ask::new(&command, limit).run()?;
    let lines = answered.text.lines().filter(|line| !line.trim().is_empty());
    let row = |line: &str| {
        let (name, host) = line.split_once('|').unwrap_or((line, ""));
        ClusterRow {
            name: name.trim().to_owned(),
            answers: !host.trim().is_empty(),
        }
    };
    Ok(lines.map(row).collect())
}

/// The slices of a time, the oldest first: as long as answers are short, the next one is longer.
#[derive(Clone, Debug)]
pub struct Slices {
    at: i64,
    to: i64,
    secs: i64,
}

/// Length of the first slice, and its bounds, seconds.
const FIRST_SECS: i64 = 6 * 3600;
const LEAST_SECS: i64 = 600;
const MOST_SECS: i64 = 7 * 86_400;
/// Runs of a slice below which the next one is longer, and above which it is shorter.
const FEW: usize = 20_000;
const MANY: usize = 100_000;

impl Slices {
    /// Those of `[from, to)`, seconds since 1970.
    pub fn new(from: i64, to: i64) -> Slices {
        Slices {
            at: from,
            to,
            secs: FIRST_SECS,
        }
    }

    /// Tells how many runs the last slice had.
    pub fn had(&mut self, runs: usize) {
        if runs < FEW {
            self.secs = (self.secs * 2).min(MOST_SECS);
        } else if runs > MANY {
            self.secs = (self.secs / 2).max(LEAST_SECS);
        }
    }
}

impl Iterator for Slices {
    type Item = (i64, i64);

    fn next(&mut self) -> Option<(i64, i64)> {
        let from = self.at;
        self.at = self.to.min(from.saturating_add(self.secs));
        (from < self.at).then_some((from, self.at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_are_the_whole_time() {
        let mut slices = Slices::new(1000, 1000 + 40 * 86_400);
        let mut at = 1000;
        let mut lengths = Vec::new();
        while let Some((from, to)) = slices.next() {
            assert_eq!(from, at);
            lengths.push(to - from);
            at = to;
            slices.had(if lengths.len() < 3 { MANY + 1 } else { 10 });
        }
        assert_eq!(at, 1000 + 40 * 86_400);
        let hours: Vec<i64> = lengths[..5].iter().map(|secs| secs / 3600).collect();
        assert_eq!(hours, [6, 3, 1, 3, 6]);
        assert_eq!(Slices::new(5, 5).next(), None);
    }

    #[test]
    fn times_are_in_utc() {
        assert_eq!(time(1_795_255_454), "2026-11-21T10:04:14");
    }
}
