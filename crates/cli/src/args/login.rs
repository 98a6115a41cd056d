//! The arguments of `fairtree login`, and where commands find the service of the site.

use std::path::PathBuf;

use clap::Args;

/// The service of the site.
#[derive(Debug, Args)]
pub struct ServiceArgs {
    /// The address of the service; otherwise FAIRTREE_SERVE, or url in the file of settings
    #[arg(long, value_name = "URL")]
    pub url: Option<String>,
    /// The file of settings that names the address
    #[arg(long, value_name = "FILE", default_value = "/etc/fairtree/serve.toml")]
    pub config: PathBuf,
    /// Socket of munged, where it is not the usual one
    #[arg(long, value_name = "SOCKET")]
    pub munge_socket: Option<PathBuf>,
}

/// `fairtree login`.
#[derive(Debug, Args)]
#[command(after_help = LOGIN_EXAMPLES)]
pub struct LoginArgs {
    #[command(flatten)]
    pub service: ServiceArgs,
}

pub(super) const LOGIN_ABOUT: &str = "\
Print a link that signs you in to the pages of this site, once and within 60 seconds.

munge proves who you are: the link carries a credential that the service decodes. Open the link yourself: whoever opens \
it first is signed in as you.";

const LOGIN_EXAMPLES: &str = "\
Examples:
  fairtree login
  fairtree login --url https://fairtree.example.org

Exit codes:
  0  the link is printed
  2  the options are at fault, or munge gave no credential; a message says which";
