//! A rule: its name, how bad its findings are, what it rests on, and the check itself.

use std::fmt;

use super::effective_settings::{EffectiveSettings, Scope};
use fairtree_model::input::slurm::document::Spot;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Severity {
    /// The settings are allowed and do what they say, but Slurm does less with them than is
    /// commonly believed.
    Note,
    /// A setting does nothing, or something else than its author wanted.
    Warning,
    /// slurmctld does not start with it.
    Error,
}

impl Severity {
    /// `note`, `warning` or `error`.
    pub const fn name(self) -> &'static str {
        match self {
            Severity::Note => "note",
            Severity::Warning => "warning",
            Severity::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A rule of the linter.
pub struct Rule {
    /// Its stable name: lower-case words and dashes.
    pub id: &'static str,
    /// Severity of its findings.
    pub severity: Severity,
    /// The defect that it looks for, as a noun phrase.
    pub summary: &'static str,
    /// Its source: manual page and entry, documentation and section, or Slurm's own check.
    pub source: &'static str,
    pub(super) scope: Scope,
    pub(super) check: fn(&EffectiveSettings<'_>) -> Vec<Hit>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).finish()
    }
}

/// Result of a check: where, why, and what to do.
pub(super) struct Hit {
    pub(super) spot: Spot,
    pub(super) reason: String,
    pub(super) remedy: String,
}

impl Hit {
    pub(super) fn new(spot: Spot, reason: impl Into<String>, remedy: impl Into<String>) -> Hit {
        Hit {
            spot,
            reason: reason.into(),
            remedy: remedy.into(),
        }
    }
}
