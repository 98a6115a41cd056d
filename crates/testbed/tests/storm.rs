//! Random clients all at once, in a cluster with our plugin and in one with stock; random faults of
//! everything that slurmctld depends on.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::{mishap, storm};
use xtask::every::Every;

fn main() -> ExitCode {
    harness::main(Threads::Clusters, |bed| {
        let all = storm::tests(bed).into_iter();
        let faults = match bed.takes(Every::Night) {
            true => mishap::fault_tests(bed),
            false => Vec::new(),
        };
        Ok(all.chain(faults).collect())
    })
}
