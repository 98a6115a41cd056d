//! The arguments of `fairtree serve`.

use std::ffi::OsString;

use clap::Args;

/// `fairtree serve`.
#[derive(Debug, Args)]
#[command(disable_help_flag = true, after_help = SERVE_EXAMPLES)]
pub struct ServeArgs {
    /// Options of fairtree-serve; --help lists them
    #[arg(
        trailing_var_arg = true,
        allow_hyphen_values = true,
        value_name = "OPTIONS"
    )]
    pub options: Vec<OsString>,
}

pub(super) const SERVE_ABOUT: &str = "\
Run the service of pages for everybody on a site, where it is installed.

The program fairtree-serve (package fairtree-serve) gets the options as they are.";

const SERVE_EXAMPLES: &str = "\
Examples:
  fairtree serve --from week --as alice    show a capture in a browser, without Slurm
  fairtree serve --help                    list the options";
