//! The shares and minutes of one level: who is due what, who used what, and a change of them with the
//! commands that make it.
//!
//! [`level()`] is the table of the children of an account; each number is that of
//! [`fairtree::engine::Standing`].

//! [`propose`] is the same before and after shares and minutes are given, with those who move and the
//! commands to run; it changes nothing and refuses what the site would refuse.

mod commands;
mod level;
mod proposal;
mod score;

pub use commands::{Commands, Kept, Written, command_prefix, sacctmgr_words, shell_line};
pub use level::{Level, LevelRow, Minutes, Sum, level};
pub use proposal::{Grant, LevelChange, Proposal, Refusal, propose};
pub use score::{Basis, Grade, Score};
