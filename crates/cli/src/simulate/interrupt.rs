//! Ctrl-C and the like, while a simulation runs.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use fairtree_model::output::HeldSignals;
use fairtree_sim::slurm::free;

/// Signals that would end the command, held as long as this lives.
pub(in super::super) struct Interrupt {
    held: HeldSignals,
    looked: Instant,
    has_come: bool,
}

impl Interrupt {
    /// Holds them.
    pub fn new() -> Interrupt {
        Interrupt {
            held: HeldSignals::new(),
            looked: Instant::now(),
            has_come: false,
        }
    }

    /// Returns true if one has come; looks for it a few times a second.
    pub fn has_come(&mut self) -> bool {
        if !self.has_come && self.looked.elapsed() > Duration::from_millis(50) {
            self.looked = Instant::now();
            let arriving = self.held.arriving();
            let came = arriving.and_then(|signals| Ok(signals.read_signal()?));
            self.has_come = matches!(came, Ok(Some(_)));
        }
        self.has_come
    }
}

/// Asks whether a signal has come.
pub(super) struct Asked(pub Interrupt);

impl free::Observer for Asked {
    fn go_on(&mut self) -> bool {
        !self.0.has_come()
    }
}

/// Asks a flag that another thread sets.
pub(in super::super) struct Flag<'a>(pub &'a AtomicBool);

impl free::Observer for Flag<'_> {
    fn go_on(&mut self) -> bool {
        !self.0.load(Ordering::Relaxed)
    }
}
