//! Random clients all at once, in a cluster with our plugin and in one with stock; random faults of
//! everything that slurmctld depends on.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::{mishap, storm};

fn main() -> ExitCode {
    harness::main(Threads::Clusters, |bed| {
        let all = storm::tests(bed).into_iter();
        Ok(all.chain(mishap::fault_tests(bed)).collect())
    })
}
