//! The test bed: private clusters, a host in slurmctld's place, the oracle, and what is tested and
//! measured with them.
//!
//! | room | what it is |
//! |---|---|
//! | [`cluster`] | a private cluster: its daemons, users, settings and clients |
//! | [`checks`] | what is checked in private clusters |
//! | [`twin`] | lives, played by the twin host (`tests/twin`) with two plugins; the oracle |
//! | [`mishap`], [`detect`] | damaged files, disks and clocks; detectors of memory errors and races |
//! | [`storm`], [`schedmd`] | random clients all at once; Slurm's own tests of its plugin |
//! | [`demo`], [`mod@bench`] | the tour of a private cluster; measurements beside stock |
//! | [`harness`] | how all of it becomes tests that `cargo test` lists, filters and times |
//!
//! The command is `cargo testbed`; the tests are `cargo test --package fairtree-testbed --test NAME`.

pub mod bench;
pub mod checks;
pub mod cluster;
pub mod demo;
pub mod detect;
mod facts;
pub mod harness;
pub mod mishap;
mod process;
pub mod schedmd;
pub mod storm;
pub mod twin;
mod under;
mod wait;
