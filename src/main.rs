//! The `fairtree` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    fairtree::cli::run()
}
