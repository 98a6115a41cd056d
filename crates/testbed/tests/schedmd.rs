//! Slurm's own tests of its priority plugin, with Slurm's plugin and with ours.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::schedmd;

fn main() -> ExitCode {
    harness::main(Threads::One, |bed| Ok(schedmd::tests(bed)))
}
