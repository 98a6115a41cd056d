//! slurmctld, killed at random moments.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::mishap;

fn main() -> ExitCode {
    harness::main(Threads::Clusters, |bed| Ok(mishap::kill_tests(bed)))
}
