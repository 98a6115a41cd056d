//! The columns of sacct: which are read, which can be checked, which hold anything.

use crate::input::slurm::count;
use crate::input::slurm::time::{moment, span};

/// Form of the cells of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A moment, `Unknown`, `None`, or nothing.
    Moment,
    /// A time as `1-02:03:04`, a word as `UNLIMITED`, or nothing.
    Span,
    /// A whole number.
    Count,
    /// A whole number, or nothing.
    Whole,
    /// Resources, `cpu=4,mem=2G`, or nothing.
    Tres,
    /// `0:0`, or nothing.
    ExitCode,
    /// The number of a job or a step: a digit first.
    Job,
    /// A name: no blank.
    Name,
    /// Anything, also `|` and breaks of lines.
    Free,
    /// Not looked at.
    Other,
}

/// Columns whose cells can hold anything.
const FREE: [&str; 14] = [
    "JobName",
    "Comment",
    "AdminComment",
    "SystemComment",
    "SubmitLine",
    "WorkDir",
    "Constraints",
    "Container",
    "Extra",
    "StdErr",
    "StdIn",
    "StdOut",
    "Reservation",
    "WCKey",
];

/// Columns that no other command of Slurm has, by which a header is known.
const TELLING: [&str; 13] = [
    "JobID",
    "JobIDRaw",
    "JobName",
    "Start",
    "End",
    "Elapsed",
    "ElapsedRaw",
    "State",
    "Submit",
    "AllocTRES",
    "AllocCPUS",
    "NCPUS",
    "ExitCode",
];

impl Kind {
    /// The kind of a column, by its name in any case.
    pub fn of(name: &str) -> Kind {
        let is = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
        if is(&["Start", "End", "Submit", "Eligible"]) {
            Kind::Moment
        } else if is(&["Elapsed", "Timelimit", "Suspended", "Reserved", "Planned"]) {
            Kind::Span
        } else if is(&[
            "ReqCPUS",
            "UID",
            "GID",
            "QOSRAW",
            "CPUTimeRAW",
            "AssocID",
            "DBIndex",
            "TimelimitRaw",
            "Restarts",
        ]) {
            Kind::Whole
        } else if is(&["AllocCPUS", "NCPUS", "AllocNodes", "ElapsedRaw"]) {
            Kind::Count
        } else if is(&["AllocTRES", "ReqTRES"]) {
            Kind::Tres
        } else if is(&["ExitCode", "DerivedExitCode"]) {
            Kind::ExitCode
        } else if is(&["JobID", "JobIDRaw"]) {
            Kind::Job
        } else if is(&["User", "Account", "Cluster", "Partition"]) {
            Kind::Name
        } else if is(&FREE) {
            Kind::Free
        } else {
            Kind::Other
        }
    }

    /// Returns true if a cell can be of this kind.
    pub fn fits(self, cell: &str) -> bool {
        let cell = cell.trim();
        if cell.is_empty() {
            return !matches!(self, Kind::Job | Kind::Count);
        }
        let digits = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        match self {
            Kind::Moment => moment(cell).is_some(),
            Kind::Span => {
                span(cell).is_some() || cell.bytes().all(|b| b.is_ascii_alphabetic() || b == b'_')
            }
            Kind::Count => digits(cell),
            Kind::Whole => {
                digits(cell) || matches!(cell, "Partition_Limit" | "UNLIMITED" | "Unknown")
            }
            Kind::Tres => count::tres(cell).is_some(),
            Kind::ExitCode => cell
                .split_once(':')
                .is_some_and(|(a, b)| digits(a) && digits(b)),
            Kind::Job => cell.starts_with(|c: char| c.is_ascii_digit()) && Kind::Name.fits(cell),
            Kind::Name => !cell.contains(char::is_whitespace),
            Kind::Free | Kind::Other => true,
        }
    }

    /// Allowed values of a cell of this kind.
    pub const fn allowed(self) -> &'static str {
        match self {
            Kind::Moment => {
                "a time as 2026-11-21T10:04:14, seconds since 1970, Unknown, None, or nothing"
            }
            Kind::Span => "a time as 1-02:03:04 or 02:03:04",
            Kind::Count => "a whole number",
            Kind::Whole => "a whole number, or nothing",
            Kind::Tres => "resources as billing=4,cpu=4,mem=2G, or nothing",
            Kind::ExitCode => "an exit code as 0:0",
            Kind::Job => "the number of a job",
            Kind::Name => "a name without blanks",
            Kind::Free | Kind::Other => "anything",
        }
    }
}

/// Returns true if `line` is the header of a listing of sacct.
pub fn begins(line: &str) -> bool {
    let names = line.trim().split('|');
    line.contains('|')
        && line
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"|% \t\r-".contains(&b))
        && names
            .filter(|name| {
                TELLING
                    .iter()
                    .any(|known| known.eq_ignore_ascii_case(name.trim()))
            })
            .count()
            >= 2
}

/// Returns true if `line` looks like a row of sacct: first a job's number, and times.
pub fn is_record(line: &str) -> bool {
    let mut cells = line.split('|');
    let id = cells.next().unwrap_or("");
    id.starts_with(|c: char| c.is_ascii_digit())
        && cells
            .filter(|cell| cell.contains('T') && Kind::Moment.fits(cell))
            .count()
            >= 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_and_rows_are_known() {
        assert!(begins("JobID|JobIDRaw|Cluster|Partition|Account"));
        assert!(begins("User|Account|Start|End|NCPUS|"));
        assert!(!begins("Account|User|RawShares"));
        assert!(!begins("JOBID PARTITION"));
        assert!(is_record(
            "982221|982221|pozidriv|2016-12-22T19:38:55|CANCELLED by 423120"
        ));
        assert!(!is_record("1|2|3"));
        assert!(!begins("1|2|3"));
    }

    #[test]
    fn cells_fit_their_kind() {
        for (name, good, bad) in [
            ("start", "2021-10-05T11:26:12", "Tuesday"),
            ("End", "Unknown", "0:0"),
            ("Elapsed", "7-20:39:39", "7 days"),
            ("Timelimit", "Partition_Limit", "1:2:3:4"),
            ("NCPUS", "12", "12.5"),
            (
                "AllocTRES",
                "billing=12,cpu=12,mem=48000M,gres/gpu:a100=2",
                "b1",
            ),
            ("ExitCode", "0:15", "COMPLETED"),
            ("JobID", "4103947_[1-3,7%2]", "a job"),
        ] {
            let kind = Kind::of(name);
            assert!(kind.fits(good) && !kind.fits(bad), "{name}");
            let must = matches!(kind, Kind::Job | Kind::Count);
            assert_eq!(kind.fits(""), !must, "{name}");
        }
        assert_eq!(Kind::of("SubmitLine"), Kind::Free);
        assert_eq!(Kind::of("MaxRSS"), Kind::Other);
    }
}
