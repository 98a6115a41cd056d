//! Damaged state files, faulty disks and clocks, and usage afterwards.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::mishap;

fn main() -> ExitCode {
    harness::main(Threads::Cpus, |bed| Ok(mishap::tests(bed)))
}
