//! A rule's message about a file.

use super::rule::{Rule, Severity};
use fairtree::config::Place;
use fairtree_model::input::slurm::document::{Document, Spot};

/// A setting that does not do what its author wanted.
#[derive(Clone, Debug)]
pub struct Finding {
    /// The rule that found it.
    pub rule: &'static Rule,
    /// File, line and column of the first character in question.
    pub place: Place,
    /// Number of characters in question, from 1; may reach beyond the line where it is continued.
    pub length: usize,
    /// The line, unchanged.
    pub line: String,
    /// The problem and its reason: one or two sentences, without a full stop at the end.
    pub reason: String,
    /// The advice: a sentence without a full stop at the end.
    pub remedy: String,
}

impl Finding {
    /// Its severity.
    pub fn severity(&self) -> Severity {
        self.rule.severity
    }
}

/// Collects the findings of rules.
#[derive(Debug, Default)]
pub(super) struct Findings {
    found: Vec<(Spot, Finding)>,
}

impl Findings {
    pub(super) fn add(
        &mut self,
        document: &Document,
        rule: &'static Rule,
        spot: Spot,
        (reason, remedy): (String, String),
    ) {
        let finding = Finding {
            rule,
            place: document.place(&spot),
            length: spot.length,
            line: document.line(&spot).to_string(),
            reason,
            remedy,
        };
        self.found.push((spot, finding));
    }

    /// In the order of files and places; at one place in the order of the rules.
    pub(super) fn sorted(mut self) -> Vec<Finding> {
        self.found.sort_by_key(|(spot, _)| *spot);
        self.found.into_iter().map(|(_, finding)| finding).collect()
    }
}
