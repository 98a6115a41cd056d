//! The part of the plugin that does not need Slurm: its files, at the path of their visibility.

pub mod state;
