//! What changed between two moments, and why: shares and usage, or the queue.

mod queue;
mod ranks;
mod shares;

pub use queue::queue;
pub use shares::shares;

/// One difference: what it is about, and what happened, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// A level, an association, a job.
    pub about: String,
    /// What happened to it.
    pub what: String,
}

impl Change {
    fn new(about: impl Into<String>, what: impl Into<String>) -> Change {
        Change {
            about: about.into(),
            what: what.into(),
        }
    }
}

impl std::fmt::Display for Change {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.about, self.what)
    }
}
