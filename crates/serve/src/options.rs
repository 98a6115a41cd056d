//! The command line.

use std::io::Write as _;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::{CommandFactory, Parser};

use crate::app::{Access, Shared};
use crate::listen::{Listen, listen};
use crate::picture::{Picture, PictureError};
use crate::session::Sessions;
use crate::settings::{FILE, OrOff, Settings};
use crate::store::{Store, StoreError};
use crate::{starts, timer};

/// Pages of shares, priorities and reasons for everybody on a site.
#[derive(Debug, Parser)]
#[command(name = "fairtree-serve", version, max_term_width = 100)]
pub struct Options {
    /// Show the latest capture in this folder, or this capture, without Slurm and without sign-in; on
    /// the loopback interface only
    #[arg(long, value_name = "FOLDER", requires = "user")]
    pub from: Option<PathBuf>,
    /// With --from: show what this user may see
    #[arg(long = "as", value_name = "USER", requires = "from")]
    pub user: Option<String>,
    /// Listen on this address instead of that of the settings; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    pub listen: Option<SocketAddr>,
    /// Listen on this address for metrics instead of that of the settings; off: no metrics
    #[arg(long, value_name = "ADDRESS", conflicts_with = "from")]
    pub metrics_listen: Option<OrOff>,
    /// The file of settings
    #[arg(long, value_name = "FILE", default_value = FILE)]
    pub config: PathBuf,
    /// Check the file of settings and end
    #[arg(long, conflicts_with = "from")]
    pub check: bool,
    /// Print the manual page
    #[arg(long, hide = true)]
    pub man: bool,
}

fn address(text: &str) -> Result<SocketAddr, String> {
    let address = text.parse();
    address.map_err(|_| format!("found {text:?}, allowed is an address, as 127.0.0.1:8765"))
}

/// Reason why the service does not start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The options or settings do not fit.
    #[error("{0}")]
    Usage(String),
    /// The capture cannot be shown.
    #[error(transparent)]
    Picture(#[from] PictureError),
    /// The database.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The operating system refuses.
    #[error("{0}: {1}")]
    System(String, std::io::Error),
}

/// Serves until it is stopped.
///
/// # Errors
/// [`StartError`].
pub fn run(options: Options) -> Result<(), StartError> {
    if options.man {
        let page = clap_mangen::Man::new(Options::command());
        let printed = page.render(&mut std::io::stdout());
        return printed.map_err(|error| StartError::System("standard output".to_owned(), error));
    }
    let (shared, places, capture) = match (&options.from, options.user) {
        (Some(from), Some(user)) => {
            let address = options.listen;
            let address = address.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 8765)));
            if !address.ip().is_loopback() {
                return Err(StartError::Usage(format!(
                    "--listen: found {address}, allowed with --from is an address of the loopback interface, as \
                     127.0.0.1:0: whoever reaches it sees what {user} may see"
                )));
            }
            let picture = Picture::read(from)?;
            let shared = Shared::new(Some(picture), Access::As(user), Store::in_memory()?);
            let places = Listen {
                tcp: Some(address),
                proxy: None,
                metrics: None,
            };
            (shared, places, None)
        }
        _ => {
            let mut settings = Settings::read(&options.config)?;
            if let Some(listen) = options.listen {
                settings.listen = Some(listen);
                if options.metrics_listen.is_some() {
                    // The other address is looked at together with this one, below.
                    settings.metrics.listen = OrOff(None);
                }
                settings
                    .check()
                    .map_err(|why| StartError::Usage(format!("--listen: {why}")))?;
            }
            if let Some(listen) = options.metrics_listen {
                settings.metrics.listen = listen;
                settings
                    .check()
                    .map_err(|why| StartError::Usage(format!("--metrics-listen: {why}")))?;
            }
            let uids = settings.proxy_uids()?;
            for note in settings.notes() {
                log_line!("fairtree-serve: note: {}: {note}", options.config.display());
            }
            if options.check {
                let said = writeln!(std::io::stdout(), "{}: ok", options.config.display());
                return said
                    .map_err(|error| StartError::Usage(format!("standard output: {error}")));
            }
            // A damaged capture of before is no reason not to start: the next one replaces it.
            let picture = match Picture::read(&settings.capture.folder) {
                Ok(picture) => Some(picture),
                Err(error) => {
                    log_line!("fairtree-serve: note: no earlier picture: {error}");
                    None
                }
            };
            let access = Access::SignIn {
                sessions: Sessions::default(),
                munge_socket: settings.munge_socket,
            };
            let places = Listen {
                tcp: settings.listen,
                proxy: settings.socket.map(|socket| (socket, uids)),
                metrics: settings
                    .metrics
                    .listen
                    .0
                    .map(|address| (address, settings.metrics.users)),
            };
            let store = Store::open(&settings.database)?;
            let shared = Shared::new(picture, access, store);
            (shared, places, Some((settings.capture, settings.retention)))
        }
    };
    let shared = Arc::new(shared);
    let forecasts = capture
        .as_ref()
        .is_none_or(|(capture, _)| capture.forecasts);
    if forecasts {
        starts::follow(shared.clone());
    }
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::System("threads".to_owned(), error))?;
    runtime.block_on(async move {
        if let Some((capture, retention)) = capture {
            if let Some(every) = capture.every() {
                let days = retention.user_days;
                tokio::spawn(timer::run(capture, every, days, shared.clone()));
            }
        }
        listen(places, shared).await
    })
}
