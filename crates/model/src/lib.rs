//! A site and its jobs, and the sources from which they are read.
//!
//! | module | noun |
//! |---|---|
//! | [`cluster`] | a site with its queue, as the engine's rows, and the names of everything in it |
//! | [`listed`] | what a listing of sshare shows of its site, and what it does not |
//! | [`machine`] | nodes, partitions, limits, and what jobs ask for |
//! | [`input`] | readers of real-world files and of the output of Slurm's commands |
//! | [`ledgers`] | the ledger files of a folder |
//! | [`c_format`] | numbers in the forms of C's `printf`, as Slurm's commands print them |
//! | [`output`] | files that are written whole or not at all |
//! | [`span`] | spans of time in Slurm's form |
//!
//! No pictures and no reports: those are in `fairtree-analysis`, which uses this crate.

pub mod c_format;
pub mod cluster;
pub mod folder;
pub mod input;
pub mod ledgers;
pub mod listed;
pub mod machine;
pub mod output;
pub mod span;
