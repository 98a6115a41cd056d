//! The result of a check.

use serde::Serialize;

/// How good or bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Level {
    /// As it should be.
    Ok,
    /// Nothing is wrong, but it is good to know.
    Note,
    /// A fact that the check needs is not known on this host.
    Unknown,
    /// Something does less than it should, or will fail under conditions that are not there yet.
    Warning,
    /// slurmctld does not run, does not start, or loses usage: now, or after the next start or upgrade.
    Error,
}

impl Level {
    /// From the best to the worst.
    pub const ALL: [Level; 5] = [
        Level::Ok,
        Level::Note,
        Level::Unknown,
        Level::Warning,
        Level::Error,
    ];

    /// `ok`, `note`, `unknown`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Level::Ok => "ok",
            Level::Note => "note",
            Level::Unknown => "unknown",
            Level::Warning => "warning",
            Level::Error => "error",
        }
    }
}

/// A finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// Name of the check: lower-case words and dashes.
    pub check: &'static str,
    /// How good or bad it is.
    pub level: Level,
    /// One or two sentences, without a full stop at the end.
    pub text: String,
    /// The action to take; `None` if nothing needs to be done.
    pub remedy: Option<String>,
}

/// All findings, in the order of the checks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Diagnosis {
    /// At least one per check.
    pub findings: Vec<Finding>,
}

impl Diagnosis {
    /// How many findings have that level.
    pub fn count(&self, level: Level) -> usize {
        let of_level = self.findings.iter().filter(|found| found.level == level);
        of_level.count()
    }

    /// Returns true if nothing needs to be done: no warning, no error, and no more findings whose facts
    /// are unknown than others.
    pub fn is_healthy(&self) -> bool {
        let mut findings = self.findings.iter();
        findings.all(|finding| finding.level < Level::Warning) && self.knows_enough()
    }

    /// Returns true if at least half of the findings rest on facts.
    pub fn knows_enough(&self) -> bool {
        self.count(Level::Unknown) * 2 <= self.findings.len()
    }

    /// Adds what has no remedy.
    pub(super) fn say(&mut self, check: &'static str, level: Level, text: impl Into<String>) {
        self.findings.push(Finding {
            check,
            level,
            text: text.into(),
            remedy: None,
        });
    }

    /// Adds what has one.
    pub(super) fn advise(
        &mut self,
        check: &'static str,
        level: Level,
        text: impl Into<String>,
        remedy: impl Into<String>,
    ) {
        self.say(check, level, text);
        if let Some(last) = self.findings.last_mut() {
            last.remedy = Some(remedy.into());
        }
    }
}
