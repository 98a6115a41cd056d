//! Lives that several threads play at once, under detectors of memory errors and of races.

use std::process::ExitCode;

use fairtree_testbed::detect;
use fairtree_testbed::harness::{self, Threads};

fn main() -> ExitCode {
    harness::main(Threads::Cpus, |bed| Ok(detect::tests(bed)))
}
