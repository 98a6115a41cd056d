//! The program `fairtree-serve`.

use std::process::ExitCode;

use clap::Parser;
use fairtree_serve::{Options, run};

fn main() -> ExitCode {
    match run(Options::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("fairtree-serve: error: {error}");
            ExitCode::from(2)
        }
    }
}
