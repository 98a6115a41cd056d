//! The settings under which events are played.

use std::path::Path;

use anyhow::Result;

use super::Stage;
use super::event::{EVENTS, Event};
use crate::twin::host::Host;

/// Under what events are played.
pub struct Kind {
    /// As the name of a test.
    pub name: &'static str,
    /// `PriorityParameters`.
    parameters: &'static str,
    /// What happens between the last pass and the one under test, in any case.
    last: &'static [&'static str],
}

pub(super) const STOCK: &str = "compat=slurm";
const OURS: &str = "compat=documented";
pub(super) const WINDOW: &str = "compat=documented,usage=window:0:2700,resolution=0:60";
pub(super) const ORDER: &str = "compat=documented,order=interleaved";

/// The last change makes a pass find that associations are not what it began with: it ranks them twice.
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
    // Use goes on evenly there: without this change the pass under test gives the same priorities again.
    kind("window", WINDOW, &["qos_set 1 prio=11"]),
    kind("window_ranked_twice", WINDOW, RANKED_TWICE),
    kind("interleaved", ORDER, RANKED_TWICE),
];

impl Kind {
    /// What its events are played in.
    ///
    /// # Errors
    /// The host does not play the life up to there.
    pub fn stage(&self, host: &Host, plugin: &Path) -> Result<Stage> {
        Stage::new(host, plugin, self.parameters, self.last)
    }

    /// What happens: where usage comes from makes no difference to the other events; and to an order, a
    /// job that comes with the id of one that waited at the last pass is that one, requeued.
    pub fn events(&self) -> impl Iterator<Item = &'static Event> + use<> {
        let parameters = self.parameters;
        EVENTS.iter().filter(move |event| match parameters {
            WINDOW => event.concerns_usage(),
            ORDER => !event.gives_id_again(),
            _ => true,
        })
    }
}
