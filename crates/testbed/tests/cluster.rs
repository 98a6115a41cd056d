//! Checks in private clusters of real daemons and jobs.

use std::process::ExitCode;

use fairtree_testbed::checks;
use fairtree_testbed::harness::{self, Threads};

fn main() -> ExitCode {
    harness::main(Threads::One, |bed| Ok(checks::tests(bed)))
}
