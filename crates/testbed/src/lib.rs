//! The test bed: private clusters, a host that replaces slurmctld, the oracle, and the tests and
//! measurements that use them.
//!
//! | room | content |
//! |---|---|
//! | [`cluster`] | a private cluster: its daemons, users, settings and clients |
//! | [`checks`] | checks in private clusters |
//! | [`twin`] | lives, played by the twin host (`tests/twin`) with two plugins; the oracle |
//! | [`mishap`], [`detect`] | damaged files, disks and clocks; detectors of memory errors and races |
//! | [`storm`], [`schedmd`] | random clients all at once; Slurm's own tests of its plugin |
//! | [`demo`], [`mod@bench`] | the tour of a private cluster; measurements compared with stock |
//! | [`record`] | a run of a private cluster, kept as a folder for simulations |
//! | [`browser`] | a browser, told what to do |
//! | [`harness`] | test programs whose tests `cargo test` lists, filters and times |
//!
//! The command is `cargo testbed`; the tests are `cargo test --package fairtree-testbed --test NAME`.

pub mod bench;
pub mod browser;
pub mod checks;
pub mod cluster;
pub mod demo;
pub mod detect;
mod facts;
pub mod harness;
pub mod mishap;
mod process;
pub mod record;
pub mod schedmd;
pub mod storm;
pub mod twin;
mod under;
mod wait;
