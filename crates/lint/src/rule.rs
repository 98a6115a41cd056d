//! A rule: its name, how bad its findings are, what it rests on, and the check itself.

use std::fmt;

use super::effective_settings::EffectiveSettings;
use super::rules;

/// How bad a finding is.
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

/// Which plugin a rule is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Scope {
    /// Any.
    Always,
    /// Those that compute priorities from weights: not `priority/basic`.
    Weighted,
    /// Those that behave as `priority/multifactor` does, faults included.
    Stock,
}

/// A rule of the linter.
pub struct Rule {
    /// Its stable name: lower-case words and dashes.
    pub id: &'static str,
    /// How bad its findings are.
    pub severity: Severity,
    /// What it looks for, as a noun phrase.
    pub summary: &'static str,
    /// What it rests on: manual page and entry, documentation and section, or Slurm's own check.
    pub source: &'static str,
    pub(super) scope: Scope,
    pub(super) check: fn(&EffectiveSettings<'_>) -> Vec<rules::Hit>,
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Rule").field("id", &self.id).finish()
    }
}

impl Rule {
    /// Every rule, in a fixed order.
    ///
    /// ```
    /// use fairtree_lint::Rule;
    /// assert!(Rule::all().any(|rule| rule.id == "max-age-minutes"));
    /// ```
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        rules::GROUPS.iter().flat_map(|group| group.iter())
    }

    /// The rule of that name.
    pub fn find(id: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        let mut ids: Vec<&str> = Rule::all().map(|rule| rule.id).collect();
        for id in &ids {
            let word =
                |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
            assert!(id.split('-').all(word), "{id}");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn every_rule_says_what_it_rests_on() {
        for rule in Rule::all() {
            assert!(
                !rule.summary.is_empty() && !rule.source.is_empty(),
                "{}",
                rule.id
            );
        }
    }
}
