//! Explanations in plain sentences: how the models display.

pub(super) mod job;
pub(super) mod jobs;
mod line;
mod remedies;
mod users;
pub(super) mod wait;
mod words;

use std::fmt;

use super::Explanation;
use fairtree_analysis::explain::{Remedy, UsersCompared};

/// Shows an explanation, a comparison or a remedy in sentences.
struct Text<'a, T>(&'a T);

impl fmt::Display for Explanation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Explanation::Job(explained) => Text(*explained).fmt(f),
            Explanation::Jobs(compared) => Text(*compared).fmt(f),
            Explanation::Users(compared) => Text(*compared).fmt(f),
            Explanation::Place(explained) => Text(*explained).fmt(f),
            Explanation::Places(compared) => Text(*compared).fmt(f),
        }
    }
}

/// A remedy in a sentence, without the name of who it helps.
pub(super) fn remedy(remedy: &Remedy) -> String {
    Text(remedy).to_string()
}

/// The order of two users in sentences, without the way to each.
pub(super) fn order(compared: &UsersCompared) -> String {
    struct Order<'a>(&'a UsersCompared);
    impl fmt::Display for Order<'_> {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            users::write_order(f, self.0)
        }
    }
    Order(compared).to_string()
}
