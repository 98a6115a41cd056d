//! Slurm's own tests of its priority plugin, with Slurm's plugin and with ours.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::schedmd;
use xtask::deps::Need;

fn main() -> ExitCode {
    harness::main_with(Threads::Clusters, Need::TestAll, |bed| {
        Ok(schedmd::tests(bed))
    })
}
