//! A site and its jobs, and where they are read from.
//!
//! | module | noun |
//! |---|---|
//! | [`input`] | readers of real-world files and of what Slurm's commands print |
//!
//! No picture and no report: those stand in `fairtree-analysis`, over this.

pub mod input;
