//! The jobs of a life, and their states.

use super::draw::Draw;

/// The state of a job for choosing events; the host has its own states.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Waits, and is not held.
    Waiting,
    /// Waits with priority 0.
    Held,
    /// Runs.
    Running,
    /// Is suspended.
    Suspended,
    /// Its nodes are being cleaned; true if it waits again afterwards.
    Cleaning(bool),
    /// Has ended.
    Gone,
}

/// The states of the jobs so far; ids count from 1.
#[derive(Default)]
pub struct Jobs {
    state: Vec<State>,
}

impl Jobs {
    /// Number of jobs so far.
    pub fn count(&self) -> usize {
        self.state.len()
    }

    /// A job in one of the states.
    pub fn any(&self, draw: &mut Draw, wanted: &[State]) -> Option<usize> {
        let fitting: Vec<usize> = (0..self.state.len())
            .filter(|index| wanted.contains(&self.state[*index]))
            .collect();
        (!fitting.is_empty()).then(|| fitting[draw.below(fitting.len())] + 1)
    }

    /// The state of a job.
    pub fn state(&self, id: usize) -> State {
        self.state[id - 1]
    }

    /// Adds a job.
    pub fn add(&mut self, state: State) {
        self.state.push(state);
    }

    /// Puts a job into another state.
    pub fn set(&mut self, id: usize, state: State) {
        self.state[id - 1] = state;
    }
}
