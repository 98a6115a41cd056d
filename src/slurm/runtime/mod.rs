//! Runtime support for the plugin in slurmctld.
//!
//! | module | noun |
//! |---|---|
//! | `plugin_instance` | holds the plugin's one global, from init to fini |
//! | `thread`, `interruptible_wait` | the thread and its period, and a wait that can be ended early |
//! | `sync` | locks by one name, also for models of threads |
//! | `guard`, `fault_injection` | stops panics; panics on request, for tests |
//! | `host`, `log` | safe wrappers of the shim |

pub(super) mod fault_injection;
#[cfg(feature = "slurm")]
pub(super) mod guard;
#[cfg(feature = "slurm")]
pub(super) mod host;
#[cfg(not(feature = "models"))]
mod interruptible_wait;
#[cfg(feature = "slurm")]
pub(super) mod log;
pub(super) mod plugin_instance;
pub(super) mod sync;
pub(super) mod thread;
