//! The settings under which events are played.

use std::path::Path;

use anyhow::Result;

use super::Stage;
use super::event::{EVENTS, Event};
use crate::twin::host::TwinHost;

/// A kind of settings for playing events.
pub struct Kind {
    /// The name for tests.
    pub name: &'static str,
    /// `PriorityParameters`.
    parameters: &'static str,
    /// Events that always happen between the last pass and the one under test.
    last: &'static [&'static str],
}

pub(super) const STOCK: &str = "compat=slurm";
const OURS: &str = "compat=documented";
pub(super) const WINDOW: &str = "compat=documented,usage=window:0:2700,resolution=0:60";
pub(super) const ORDER: &str = "compat=documented,order=interleaved";

/// Because of this last change, a pass finds that the associations differ from its first look, and
/// ranks them twice.
const RANKED_TWICE: &[&str] = &["assoc_set 12 shares=9"];

const fn kind(name: &'static str, parameters: &'static str, last: &'static [&'static str]) -> Kind {
    Kind {
        name,
        parameters,
        last,
    }
}

/// Both `compat` modes, a window, an order, and passes that rank associations twice.
pub const KINDS: [Kind; 6] = [
    kind("documented", OURS, &[]),
    kind("compat_slurm", STOCK, &[]),
    kind("documented_ranked_twice", OURS, RANKED_TWICE),
    // Usage grows evenly there: without this change the pass under test would give the same
    // priorities again.
    kind("window", WINDOW, &["qos_set 1 prio=11"]),
    kind("window_ranked_twice", WINDOW, RANKED_TWICE),
    kind("interleaved", ORDER, RANKED_TWICE),
];

impl Kind {
    /// The stage for its events.
    ///
    /// # Errors
    /// Fails if the host cannot play the life up to the stage.
    pub fn stage(&self, host: &TwinHost, plugin: &Path) -> Result<Stage> {
        Stage::new(host, plugin, self.parameters, self.last)
    }

    /// Events of this kind. The source of usage makes no difference to events that do not concern
    /// usage. An order treats a job that comes with the id of a job that waited at the last pass as
    /// the same job, requeued.
    pub fn events(&self) -> impl Iterator<Item = &'static Event> + use<> {
        let parameters = self.parameters;
        EVENTS.iter().filter(move |event| match parameters {
            WINDOW => event.concerns_usage(),
            ORDER => !event.gives_id_again(),
            _ => true,
        })
    }
}
