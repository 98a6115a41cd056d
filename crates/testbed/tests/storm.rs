//! Random clients all at once, at a cluster with our plugin and at one with stock; random faults of all
//! that slurmctld stands on.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::{mishap, storm};

fn main() -> ExitCode {
    harness::main(Threads::One, |bed| {
        let all = storm::tests(bed).into_iter();
        Ok(all.chain(mishap::fault_tests(bed)).collect())
    })
}
