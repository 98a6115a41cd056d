//! The program `fairtree-serve`.

use std::io::Write as _;
use std::process::ExitCode;

use clap::Parser;
use fairtree_serve::{Options, run};

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // It may be closed, or full.
            let _ = writeln!(std::io::stderr(), "fairtree-serve: error: {error}");
            ExitCode::from(2)
        }
    }
}
