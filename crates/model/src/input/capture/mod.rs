//! Captures: the answers of Slurm's commands at one moment, in a folder.
//!
//! A capture is a folder named for its moment (`20261121T100726Z`) inside of the folder that
//! `fairtree capture` is given; captures are added, never changed. It holds a `manifest.json`
//! (`docs/capture.md`) and a file per answer. [`Recording`] makes one, and never has a long answer
//! in memory; [`open`] reads it again. [`take`] makes the same answers in memory.

mod command;
mod gather;
mod manifest;
mod pipe;
mod policy;
mod recent;
mod recording;
mod store;
mod taken;

pub use command::{Answered, Ask, CommandError, DEFAULT_LIMIT, Token};
pub use manifest::{Entry, Manifest, SCHEMA};
pub use pipe::MAX_ANSWER_BYTES;
pub use policy::follow;
pub use recent::{KEPT_FOR, Recent};
pub use recording::{RecordError, Recording};
pub use store::{
    Stored, has_history_of_today, latest_history, list, load_pseudonyms, open, open_only,
    save_pseudonyms, with_history,
};
pub use taken::{Taken, take};
