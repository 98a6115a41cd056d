//! Data shared by hooks and the plugin's thread, from init to fini.
//!
//! | module | noun |
//! |---|---|
//! | `plugin` | the one global |
//! | `charged_until` | times up to which use was charged: by passes, and since the last one |
//! | `charges_since_pass` | charges since the last pass, by run |
//! | `journal` | the same charges, by association |
//! | `published_factors` | fair-share factors of the last pass |
//! | `scratch` | scratch memory for one job |
//! | `thread_models` | models of concurrent threads, run in every order |

pub(super) mod charged_until;
pub(super) mod charges_since_pass;
pub(super) mod journal;
#[cfg(feature = "slurm")]
pub(super) mod plugin;
pub(super) mod published_factors;
#[cfg(feature = "slurm")]
pub(super) mod scratch;
#[cfg(all(test, feature = "models"))]
mod thread_models;
