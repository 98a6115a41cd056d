//! Manual pages and completions, from the definitions of the arguments.

use std::fs;
use std::io::Write;
use std::path::Path;

use clap_complete::Shell;

use super::args::{GenerateArgs, Generated, command};
use super::{Failure, Outcome};

/// Writes what was asked for into its folder.
pub(super) fn run(args: &GenerateArgs) -> Result<Outcome, Failure> {
    let failed = |error| Failure::File(args.folder.display().to_string(), error);
    fs::create_dir_all(&args.folder).map_err(failed)?;
    match args.what {
        Generated::Man => man(&args.folder).map_err(failed)?,
        Generated::Completions => completions(&args.folder).map_err(failed)?,
    }
    Ok(Outcome::Done)
}

/// Prints the completions of a shell.
pub(super) fn completions_of(shell: Shell) -> Result<Outcome, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(shell, &mut command(), "fairtree", &mut text);
    let mut out = std::io::stdout().lock();
    out.write_all(&text)?;
    out.flush()?;
    Ok(Outcome::Done)
}

fn man(folder: &Path) -> std::io::Result<()> {
    // `fairtree help` needs no page for each thing that it helps with.
    let mut command = command().disable_help_subcommand(true);
    command.build();
    clap_mangen::generate_to(command, folder)
}

fn completions(folder: &Path) -> std::io::Result<()> {
    let mut command = command();
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        clap_complete::generate_to(shell, &mut command, "fairtree", folder)?;
    }
    Ok(())
}
