//! Checks in private clusters of real daemons and jobs.

use std::process::ExitCode;

use fairtree_testbed::checks;
use fairtree_testbed::harness::{self, Threads};
use xtask::interrupt;

fn main() -> ExitCode {
    // One of the checks starts and ends a second run of this program.
    if let Some(result) = checks::hold_of_arguments() {
        return interrupt::exit_code(result);
    }
    harness::main(Threads::Clusters, |bed| Ok(checks::tests(bed)))
}
