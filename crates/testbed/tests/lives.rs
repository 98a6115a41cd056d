//! Lives, played with Slurm's plugin and with ours: lives of stock's faults and lives from seeds.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::twin;

fn main() -> ExitCode {
    let code = harness::main(Threads::Cpus, twin::tests);
    twin::print_fault_counts();
    code
}
