//! `fairtree serve`.

use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use super::args::ServeArgs;
use super::{Failure, Outcome};

const PROGRAM: &str = "fairtree-serve";

/// Becomes the service: the program beside this one, or else the one in PATH.
pub(super) fn run(args: &ServeArgs) -> Result<Outcome, Failure> {
    let own = std::env::current_exe().ok();
    let beside = own.map(|own| own.with_file_name(PROGRAM));
    let program = beside.filter(|path| path.is_file());
    let program = program.unwrap_or_else(|| PathBuf::from(PROGRAM));
    let error = Command::new(&program).args(&args.options).exec();
    Err(match error.kind() {
        io::ErrorKind::NotFound => Failure::Usage(format!(
            "{PROGRAM} is not installed, or not in PATH\nhint: install the package {PROGRAM}"
        )),
        _ => Failure::File(program.display().to_string(), error),
    })
}
