//! Explanations in plain sentences: how the models display.

mod job;
mod jobs;
mod line;
mod remedies;
mod users;
mod words;

use std::fmt;

use super::Explanation;

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
