//! The command line.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::Parser;

use crate::listen;

/// Pages of shares, priorities and reasons for everybody on a site.
#[derive(Debug, Parser)]
#[command(name = "fairtree-serve", version, max_term_width = 100)]
pub struct Options {
    /// Show the latest capture in this folder, or this capture, without Slurm and without sign-in; on
    /// the loopback interface only
    #[arg(long, value_name = "FOLDER", requires = "user")]
    pub from: PathBuf,
    /// Show what this user may see
    #[arg(long = "as", value_name = "USER")]
    pub user: String,
    /// Listen on this address; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8765")]
    pub listen: SocketAddr,
}

/// Reason why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options do not fit.
    #[error("{0}")]
    Usage(String),
    /// The capture cannot be shown.
    #[error(transparent)]
    Picture(#[from] crate::picture::PictureError),
    /// The operating system refuses.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
}

/// Serves until it is stopped.
///
/// # Errors
/// [`StartError`].
pub fn run(options: Options) -> Result<(), StartError> {
    if !options.listen.ip().is_loopback() {
        return Err(StartError::Usage(format!(
            "--listen: found {}, allowed with --from is an address of the loopback interface, as 127.0.0.1:0: \
             whoever reaches it sees what {} may see",
            options.listen, options.user
        )));
    }
    listen::serve(&options)
}
