//! Which ends of runs count (`counts=`).
//!
//! A run counts while it runs. When its end does not count, its charges are taken back.
//!
//! ```
//! use fairtree::usage::{EndState, Outcomes};
//! let counts: Outcomes = "COMPLETED, TIMEOUT, FAILED:12:20".parse()?;
//! assert!(counts.counts(EndState::Completed, 0));
//! assert!(counts.counts(EndState::Failed, 12));
//! assert!(!counts.counts(EndState::Failed, 1));
//! assert!(!counts.counts(EndState::Cancelled, 0));
//! assert!("COMPLETE".parse::<Outcomes>().is_err());
//! # Ok::<(), fairtree::config::ValueError>(())
//! ```

use std::collections::BTreeSet;
use std::fmt;
use std::str::FromStr;

use crate::config::{self, Counts, ValueError};

/// How a run ended, in the words of `sacct`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EndState {
    /// Exit code 0.
    Completed,
    /// By a user or an administrator.
    Cancelled,
    /// Another exit code.
    Failed,
    /// At its time limit.
    Timeout,
    /// A node of it failed.
    NodeFail,
    /// For another job.
    Preempted,
    /// A node of it did not boot.
    BootFail,
    /// At its deadline.
    Deadline,
    /// Out of memory.
    OutOfMemory,
    /// By `scontrol requeue`: the next run is another one.
    Requeued,
}

/// Name in `sacct` and `counts=`, number in slurmctld.
const STATES: [(EndState, &str, u32); 10] = [
    (EndState::Completed, "COMPLETED", 3),
    (EndState::Cancelled, "CANCELLED", 4),
    (EndState::Failed, "FAILED", 5),
    (EndState::Timeout, "TIMEOUT", 6),
    (EndState::NodeFail, "NODE_FAIL", 7),
    (EndState::Preempted, "PREEMPTED", 8),
    (EndState::BootFail, "BOOT_FAIL", 9),
    (EndState::Deadline, "DEADLINE", 10),
    (EndState::OutOfMemory, "OUT_OF_MEMORY", 11),
    (EndState::Requeued, "REQUEUED", 1024),
];

impl EndState {
    /// Every state.
    pub fn all() -> impl Iterator<Item = EndState> {
        STATES.iter().map(|(state, ..)| *state)
    }

    /// The name that `sacct` prints.
    pub fn name(self) -> &'static str {
        STATES[self as usize].1
    }

    /// The state with a name as `sacct` prints it, in any case of letters; `CANCELLED by 1000`
    /// is `Cancelled`. `None` for states that are no ends, as `RUNNING` and `RESIZING`.
    pub fn from_name(name: &str) -> Option<EndState> {
        let word = name.split_whitespace().next()?;
        let mut states = STATES.iter();
        let found = states.find(|(_, name, _)| name.eq_ignore_ascii_case(word));
        found.map(|(state, ..)| *state)
    }

    /// Whether the run ended by itself, its user or its limits, so that the time that it took says
    /// something about the next runs; not where the cluster ended it.
    pub fn ran_its_course(self) -> bool {
        match self {
            EndState::Completed
            | EndState::Cancelled
            | EndState::Failed
            | EndState::Timeout
            | EndState::Deadline
            | EndState::OutOfMemory => true,
            EndState::NodeFail | EndState::Preempted | EndState::BootFail | EndState::Requeued => {
                false
            }
        }
    }

    fn of_config(state: config::EndState) -> EndState {
        match state {
            config::EndState::Completed => EndState::Completed,
            config::EndState::Cancelled => EndState::Cancelled,
            config::EndState::Failed => EndState::Failed,
            config::EndState::Timeout => EndState::Timeout,
            config::EndState::NodeFail => EndState::NodeFail,
            config::EndState::Preempted => EndState::Preempted,
            config::EndState::BootFail => EndState::BootFail,
            config::EndState::Deadline => EndState::Deadline,
            config::EndState::OutOfMemory => EndState::OutOfMemory,
        }
    }

    /// What the end of a run looks like in slurmctld and in its accounting database: the base
    /// state, or the flag `REQUEUE` (1024), with which the base state is that of the next run.
    ///
    /// * `state`: base state and flags (`job_state`, or `state` of a job record).
    /// * `preempted`: `preempt_time` is not 0, which alone tells a pre-emption with requeue.
    ///
    /// `None`: the run has not ended (running, suspended, resizing).
    pub fn from_slurm(state: u32, preempted: bool) -> Option<EndState> {
        const BASE: u32 = 0xff;
        const REQUEUE: u32 = 1024;
        if state & REQUEUE != 0 {
            return Some(match preempted {
                true => EndState::Preempted,
                false => EndState::Requeued,
            });
        }
        let mut states = STATES.iter();
        let found = states.find(|(.., number)| *number == state & BASE);
        found.map(|(state, ..)| *state)
    }
}

impl fmt::Display for EndState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Which ends of runs count. All by default.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcomes {
    /// `None`: all.
    states: Option<BTreeSet<EndState>>,
    /// Exit codes with which [`EndState::Failed`] counts; empty: all.
    failed_codes: BTreeSet<u32>,
}

const ALLOWED: &str = "states separated by commas or plus signs: COMPLETED, CANCELLED, FAILED, \
     TIMEOUT, NODE_FAIL, PREEMPTED, BOOT_FAIL, DEADLINE, OUT_OF_MEMORY, REQUEUED; FAILED may be \
     followed by exit codes 1 to 4294967295 (FAILED:12:20); or ALL";

/// The largest exit code of a job in Slurm.
const MOST_IN_SLURM: u32 = 255;

impl Outcomes {
    /// All ends count.
    pub fn all() -> Outcomes {
        Outcomes::default()
    }

    /// Ends in these words, each a state or `FAILED` with exit codes. Without words none counts.
    ///
    /// # Errors
    /// The word that is none; see [`Outcomes::from_str`].
    pub fn from_words<'a>(
        words: impl IntoIterator<Item = &'a str>,
    ) -> Result<Outcomes, ValueError> {
        let mut states = BTreeSet::new();
        let mut failed_codes = BTreeSet::new();
        let mut any_code = false;
        for word in words {
            let wrong = || ValueError::new(word, ALLOWED);
            let mut parts = word.trim().split(':');
            let name = parts.next().unwrap_or_default();
            let state = match name.contains(char::is_whitespace) {
                true => None,
                false => EndState::from_name(name),
            };
            let state = state.ok_or_else(wrong)?;
            states.insert(state);
            let mut codes = parts.peekable();
            if codes.peek().is_some() && state != EndState::Failed {
                return Err(wrong());
            }
            any_code |= state == EndState::Failed && codes.peek().is_none();
            for code in codes {
                let digits = code.trim().bytes().all(|byte| byte.is_ascii_digit());
                let code = code.trim().parse().ok().filter(|code| *code > 0 && digits);
                failed_codes.insert(code.ok_or_else(wrong)?);
            }
        }
        if any_code {
            failed_codes.clear();
        }
        Ok(Outcomes {
            states: Some(states),
            failed_codes,
        })
    }

    /// Ends in the words of [`Outcomes::from_str`], of jobs in Slurm: their exit codes are at most
    /// 255.
    ///
    /// # Errors
    /// A word of no state, or an exit code that no job in Slurm has.
    pub fn parse_of_slurm(text: &str) -> Result<Outcomes, ValueError> {
        let parsed: Outcomes = text.parse()?;
        match parsed
            .failed_codes
            .last()
            .filter(|code| **code > MOST_IN_SLURM)
        {
            None => Ok(parsed),
            Some(code) => {
                let allowed = "an exit code 1 to 255, as jobs in Slurm have them";
                Err(ValueError::new(code.to_string(), allowed))
            }
        }
    }

    /// Returns true if a run counts that ended so.
    ///
    /// `exit_code`: what the script returned (12 of `12:0`), looked at for
    /// [`EndState::Failed`] only; in Slurm the high byte of slurmctld's wait status.
    pub fn counts(&self, state: EndState, exit_code: u32) -> bool {
        let Some(states) = &self.states else {
            return true;
        };
        let any_code = state != EndState::Failed || self.failed_codes.is_empty();
        states.contains(&state) && (any_code || self.failed_codes.contains(&exit_code))
    }
}

/// What `counts=` says. A run that `scontrol requeue` ended is in no list of states.
impl From<&Counts> for Outcomes {
    fn from(counts: &Counts) -> Outcomes {
        let Counts::Only(ends) = counts else {
            return Outcomes::all();
        };
        let mut outcomes = Outcomes {
            states: Some(BTreeSet::new()),
            failed_codes: BTreeSet::new(),
        };
        for end in ends {
            let state = EndState::of_config(end.state);
            outcomes.states.get_or_insert_default().insert(state);
            if state == EndState::Failed {
                let codes = end.exit_codes.iter().map(|code| u32::from(*code));
                outcomes.failed_codes.extend(codes);
            }
        }
        outcomes
    }
}

/// States separated by `,` or `+` (slurm.conf's own separator is the comma); `ALL`, in any case
/// of letters, is every one.
impl FromStr for Outcomes {
    type Err = ValueError;

    fn from_str(text: &str) -> Result<Outcomes, ValueError> {
        if text.trim().eq_ignore_ascii_case("ALL") {
            return Ok(Outcomes::all());
        }
        let mut offset = 0;
        for word in text.split([',', '+']) {
            if let Err(error) = Outcomes::from_words([word]) {
                return Err(error.shifted(offset));
            }
            offset += word.chars().count() + 1;
        }
        Outcomes::from_words(text.split([',', '+']))
    }
}

impl fmt::Display for Outcomes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Some(states) = &self.states else {
            return f.write_str("ALL");
        };
        for (at, state) in states.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{state}")?;
            if *state == EndState::Failed {
                for code in &self.failed_codes {
                    write!(f, ":{code}")?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_stand_in_the_order_of_the_enum() {
        for (at, (state, name, number)) in STATES.into_iter().enumerate() {
            assert_eq!(state as usize, at);
            assert_eq!(EndState::from_name(name), Some(state));
            assert_eq!(EndState::from_slurm(number, false), Some(state));
        }
        assert_eq!(EndState::all().count(), STATES.len());
    }

    // Numbers and flags as slurmctld 22.05.8 has them at the end of a job (slurm.h): COMPLETING
    // 0x8000, REQUEUE 0x400, RESIZING 0x2000.
    #[test]
    fn ends_as_slurmctld_shows_them() {
        let found = |state, preempted| EndState::from_slurm(state, preempted);
        assert_eq!(found(3 | 0x8000, false), Some(EndState::Completed));
        assert_eq!(found(0x8000 | 0x400, true), Some(EndState::Preempted));
        assert_eq!(found(0x8000 | 0x400, false), Some(EndState::Requeued));
        assert_eq!(found(8 | 0x8000, true), Some(EndState::Preempted));
        assert_eq!(found(1 | 0x2000, false), None);
        assert_eq!(found(0, false), None);
        assert_eq!(
            EndState::from_name("CANCELLED by 1000"),
            Some(EndState::Cancelled)
        );
        assert_eq!(EndState::from_name("RUNNING"), None);
    }

    #[test]
    fn all_by_default() {
        for state in EndState::all() {
            assert!(Outcomes::default().counts(state, 3));
        }
        assert_eq!("all".parse(), Ok(Outcomes::all()));
        assert_eq!(Outcomes::all().to_string(), "ALL");
    }

    #[test]
    fn exit_codes_are_those_of_failed_runs() {
        let counts: Outcomes = "FAILED:12:20+TIMEOUT".parse().unwrap();
        assert!(counts.counts(EndState::Failed, 20));
        assert!(!counts.counts(EndState::Failed, 0));
        assert!(counts.counts(EndState::Timeout, 15));
        assert!(!counts.counts(EndState::Completed, 0));
        assert_eq!(counts.to_string(), "FAILED:12:20,TIMEOUT");
        assert_eq!(counts.to_string().parse(), Ok(counts));
        // Without codes all count, whatever else is said.
        let counts: Outcomes = "FAILED:12,FAILED".parse().unwrap();
        assert!(counts.counts(EndState::Failed, 1));
        assert!(
            !Outcomes::from_words([])
                .unwrap()
                .counts(EndState::Failed, 1)
        );
    }

    /// Services outside Slurm use four digits, or negative numbers as 32 bits.
    #[test]
    fn exit_codes_have_32_bits_outside_slurm() {
        let counts: Outcomes = "FAILED:256:4294967295".parse().unwrap();
        assert!(counts.counts(EndState::Failed, 256));
        assert!(counts.counts(EndState::Failed, u32::MAX));
        assert!(!counts.counts(EndState::Failed, 255));
        assert_eq!(counts.to_string().parse(), Ok(counts));
        let refused = Outcomes::parse_of_slurm("FAILED:255:256").unwrap_err();
        assert_eq!(refused.value, "256");
        assert!(Outcomes::parse_of_slurm("FAILED:255").is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, value, offset) in [
            ("", "", 0),
            ("COMPLETED,", "", 10),
            ("COMPLETED,DONE", "DONE", 10),
            ("TIMEOUT:3", "TIMEOUT:3", 0),
            ("FAILED:0", "FAILED:0", 0),
            ("FAILED:4294967296", "FAILED:4294967296", 0),
            ("FAILED:+1", "FAILED:", 0),
            ("FAILED:", "FAILED:", 0),
            ("RUNNING", "RUNNING", 0),
            ("FAILED x", "FAILED x", 0),
        ] {
            let error = text.parse::<Outcomes>().unwrap_err();
            assert_eq!(
                (error.value.as_str(), error.offset),
                (value, offset),
                "{text:?}"
            );
        }
    }
}
