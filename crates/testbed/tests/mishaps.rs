//! Damaged state files, disks and clocks that go wrong, and usage afterwards.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::mishap;

fn main() -> ExitCode {
    harness::main(Threads::Cpus, |bed| Ok(mishap::tests(bed)))
}
