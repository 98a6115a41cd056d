//! `counts=`.

use super::key::Key;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// `counts=`: which ends of jobs count.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Counts {
    /// `all`.
    #[default]
    All,
    /// Those that one of these names.
    Only(Vec<CountedEnd>),
}

/// A state in which a job ends, and for `FAILED` exit codes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CountedEnd {
    /// The state.
    pub state: EndState,
    /// The exit codes that count; empty: all. A job killed by a signal has exit code 0.
    pub exit_codes: Vec<u8>,
}

impl Counts {
    /// Does a job count that ended so?
    pub fn has(&self, state: EndState, exit_code: u8) -> bool {
        match self {
            Counts::All => true,
            Counts::Only(ends) => ends.iter().any(|end| {
                let codes = &end.exit_codes;
                end.state == state && (codes.is_empty() || codes.contains(&exit_code))
            }),
        }
    }
}

macro_rules! end_states {
    ($($(#[$doc:meta])* $state:ident = $word:literal,)+) => {
        /// A state in which a job ends, in Slurm's words.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum EndState {
            $($(#[$doc])* $state,)+
        }

        const WORDS: &[(&str, EndState)] = &[$(($word, EndState::$state),)+];
    };
}

// Source: slurm.h of 22.05 and 24.11, `enum job_states`, from JOB_COMPLETE on.
end_states! {
    /// All went well.
    Completed = "COMPLETED",
    /// Its user or an administrator ended it.
    Cancelled = "CANCELLED",
    /// It ended with an exit code, or by a signal.
    Failed = "FAILED",
    /// It reached its time limit.
    Timeout = "TIMEOUT",
    /// A node was lost.
    NodeFail = "NODE_FAIL",
    /// Another job took its place.
    Preempted = "PREEMPTED",
    /// Its nodes did not start.
    BootFail = "BOOT_FAIL",
    /// It could not end by its deadline.
    Deadline = "DEADLINE",
    /// It used more memory than it had.
    OutOfMemory = "OUT_OF_MEMORY",
}

/// Ends of jobs that count as use: states joined by `+`; exit codes follow `FAILED`, each after a
/// colon: `COMPLETED+TIMEOUT+FAILED:12:20`.
pub struct CountsKey;

impl Key for CountsKey {
    type Value = Counts;
    const NAME: &'static str = "counts";
    const FORM: &'static str =
        "all, or states joined by +, FAILED with :EXIT_CODE, such as COMPLETED+FAILED:12:20";
    const DEFAULT: &'static str = "all";
    const MEANING: &'static str = "which ends of jobs count as use";

    fn parse(text: &str, _: Option<Release>) -> Result<Counts, ValueError> {
        if text.eq_ignore_ascii_case("all") {
            return Ok(Counts::All);
        }
        let (mut ends, mut offset) = (Vec::<CountedEnd>::new(), 0);
        for entry in text.split('+') {
            let blanks = entry.chars().take_while(|c| c.is_whitespace()).count();
            let at = |error: ValueError| error.shifted(offset + blanks);
            let end = parse_end(entry.trim()).map_err(at)?;
            if ends.iter().any(|other| other.state == end.state) {
                return Err(at(ValueError::new(entry.trim(), "each state once")));
            }
            ends.push(end);
            offset += entry.chars().count() + 1;
        }
        Ok(Counts::Only(ends))
    }

    fn is_in_stock(value: &Counts) -> bool {
        *value == Counts::All
    }
}

fn parse_end(text: &str) -> Result<CountedEnd, ValueError> {
    let mut parts = text.split(':');
    let word = parts.next().unwrap_or_default();
    let known = WORDS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(word));
    let Some(&(_, state)) = known else {
        let words: Vec<&str> = WORDS.iter().map(|(word, _)| *word).collect();
        let allowed = format!("all, or some of {} joined by +", words.join(", "));
        return Err(ValueError::new(word, allowed));
    };
    let (mut exit_codes, mut offset) = (Vec::new(), word.chars().count() + 1);
    for code in parts {
        let digits = code.bytes().all(|byte| byte.is_ascii_digit());
        let number = code.parse::<u8>().ok().filter(|_| digits);
        match number {
            _ if state != EndState::Failed => {
                let error = ValueError::new(text, "exit codes behind FAILED only");
                return Err(error);
            }
            Some(number) => exit_codes.push(number),
            None => {
                let error = ValueError::new(code, "an exit code from 0 to 255");
                return Err(error.shifted(offset));
            }
        }
        offset += code.chars().count() + 1;
    }
    Ok(CountedEnd { state, exit_codes })
}

impl Config {
    /// `counts=`, or its default.
    pub fn counts(&self) -> &Counts {
        self.parameters.counts.as_ref().unwrap_or(&Counts::All)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Counts, ValueError> {
        CountsKey::parse(text, None)
    }

    #[test]
    fn states_and_exit_codes() {
        let counts = parse("completed + TIMEOUT+FAILED:12:20").unwrap();
        assert!(counts.has(EndState::Completed, 0) && counts.has(EndState::Timeout, 0));
        assert!(counts.has(EndState::Failed, 12) && counts.has(EndState::Failed, 20));
        assert!(!counts.has(EndState::Failed, 1) && !counts.has(EndState::Failed, 0));
        assert!(!counts.has(EndState::Preempted, 0));
        let counts = parse("FAILED").unwrap();
        assert!(counts.has(EndState::Failed, 1) && counts.has(EndState::Failed, 0));
        assert!(!counts.has(EndState::Completed, 0));
        assert_eq!(parse("ALL"), Ok(Counts::All));
        assert!(Counts::default().has(EndState::NodeFail, 0));
    }

    #[test]
    fn errors_say_which_part() {
        for (text, value, offset, allowed) in [
            ("", "", 0, "OUT_OF_MEMORY"),
            ("COMPLETED+", "", 10, "joined by +"),
            ("COMPLETED+RUNNING", "RUNNING", 10, "COMPLETED"),
            ("TIMEOUT:1", "TIMEOUT:1", 0, "FAILED only"),
            ("FAILED:12:x", "x", 10, "0 to 255"),
            ("FAILED:256", "256", 7, "0 to 255"),
            ("FAILED:1+FAILED:2", "FAILED:2", 9, "each state once"),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(
                (error.value.as_str(), error.offset),
                (value, offset),
                "{text}"
            );
            assert!(error.allowed.contains(allowed), "{text}: {}", error.allowed);
        }
    }
}
