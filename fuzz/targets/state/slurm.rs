//! What of the plugin needs no Slurm: its files, at the path that their visibility names.

pub mod state;
