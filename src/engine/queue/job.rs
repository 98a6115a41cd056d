//! Jobs that wait or run.

use super::settings::Micros;
use crate::tree::AssocId;

/// A job that begins to wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NewJob<'a> {
    /// Unique among those that wait or run.
    pub id: u64,
    /// The association it is charged to: a user or an account.
    pub assoc: AssocId,
    /// The machine that it waits for.
    pub machine: &'a str,
    /// When it was submitted.
    pub submit: Micros,
    /// Added by the user to come later among the jobs of the same leaf.
    pub nice: i64,
    /// How long it is expected to run, if that is known.
    pub expected: Option<u64>,
    /// How long it may run at most, if there is a limit.
    pub limit: Option<u64>,
    /// Units that it uses at a time; 1 for a machine that runs one job.
    pub rate: u32,
}

/// Where the expected run time of a job comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Proxy {
    /// It was reported by the caller.
    Expected,
    /// The maximum stands for it.
    Maximum,
}

#[derive(Clone, Debug)]
pub(super) struct Job {
    pub id: u64,
    pub assoc: AssocId,
    /// Position of the node that it is charged to.
    pub node: u32,
    /// Position of its machine.
    pub machine: u32,
    pub submit: Micros,
    pub nice: i64,
    pub expected: Option<u64>,
    pub limit: Option<u64>,
    pub rate: u32,
    /// When it started; `None`: it waits.
    pub started: Option<Micros>,
}

impl Job {
    /// How long it is expected to run.
    pub fn length(&self) -> u64 {
        self.expected.or(self.limit).unwrap_or(0)
    }

    pub fn proxy(&self) -> Proxy {
        match self.expected {
            Some(_) => Proxy::Expected,
            None => Proxy::Maximum,
        }
    }

    /// What it is expected to use.
    pub fn expected_use(&self) -> u128 {
        u128::from(self.length()) * u128::from(self.rate)
    }
}
