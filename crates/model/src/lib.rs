//! A site and its jobs, and where they are read from.
//!
//! | module | noun |
//! |---|---|
//! | [`cluster`] | a site with its queue, as the engine's rows, and how everything in it is called |
//! | [`listed`] | what a listing of sshare tells of its site, and what it does not |
//! | [`input`] | readers of real-world files and of what Slurm's commands print |
//! | [`ledgers`] | the ledger files of a folder |
//! | [`c_format`] | numbers in the forms of C's `printf`, as Slurm's commands print them |
//! | [`output`] | files that are written whole or not at all |
//! | [`span`] | spans of time in Slurm's form |
//!
//! No picture and no report: those stand in `fairtree-analysis`, over this.

pub mod c_format;
pub mod cluster;
pub mod folder;
pub mod input;
pub mod ledgers;
pub mod listed;
pub mod output;
pub mod span;
