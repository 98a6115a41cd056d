//! Random clients all at once, at a cluster with our plugin and at one with stock.

use std::process::ExitCode;

use fairtree_testbed::harness::{self, Threads};
use fairtree_testbed::storm;

fn main() -> ExitCode {
    harness::main(Threads::One, |bed| Ok(storm::tests(bed)))
}
