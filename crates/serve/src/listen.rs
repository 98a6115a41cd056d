//! Sockets and connections.

use std::fs;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use axum::{Extension, Router};
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, UnixListener};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::app::{FromProxy, Shared, app, metrics_app};
use crate::options::StartError;

/// At most this many connections at a time; more wait.
const CONNECTIONS: usize = 256;

/// The same for metrics.
const METRICS_CONNECTIONS: usize = 8;

/// The longest time that the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// A pause after a connection could not be accepted: there may be no more file descriptors.
const PAUSE: Duration = Duration::from_millis(50);

/// Places to listen on.
#[derive(Clone, Debug)]
pub struct Listen {
    /// A TCP address.
    pub tcp: Option<SocketAddr>,
    /// The socket of a proxy, and numbers of the users whose processes may connect.
    pub proxy: Option<(PathBuf, Vec<u32>)>,
    /// A TCP address for metrics, and the number of users with series of their own.
    pub metrics: Option<(SocketAddr, usize)>,
}

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// An address or a socket that cannot be listened on.
pub async fn listen(places: Listen, shared: Arc<Shared>) -> Result<(), StartError> {
    let metrics = places
        .metrics
        .map(|(address, users)| (address, metrics_app(shared.clone(), users)));
    let app = app(shared);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let mut out = io::stdout();
    if let Some(address) = places.tcp {
        let refused = |error| StartError::System(address.to_string(), error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        // A service whose output nobody reads serves all the same.
        let _ = writeln!(out, "listening on http://{address}");
        tokio::spawn(tcp(listener, app.clone(), connections.clone()));
    }
    if let Some((path, uids)) = places.proxy {
        let refused = |error| StartError::System(path.display().to_string(), error);
        let listener = bind(&path).map_err(refused)?;
        let _ = writeln!(out, "listening on {}", path.display());
        let app = app.layer(Extension(FromProxy));
        tokio::spawn(proxy(listener, uids, app, connections));
    }
    if let Some((address, app)) = metrics {
        let refused = |error| StartError::System(format!("metrics: {address}"), error);
        let listener = TcpListener::bind(address).await.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        let _ = writeln!(out, "metrics on http://{address}/metrics");
        // Readers of pages cannot keep a scrape waiting.
        let connections = Arc::new(Semaphore::new(METRICS_CONNECTIONS));
        tokio::spawn(tcp(listener, app, connections));
    }
    let _ = out.flush();
    // Does nothing without systemd.
    if let Err(error) = sd_notify::notify(false, &[sd_notify::NotifyState::Ready]) {
        log_line!("fairtree-serve: warning: NOTIFY_SOCKET: {error}");
    }
    let refused = |error| StartError::System("signals".to_owned(), error);
    let mut terminate = signal(SignalKind::terminate()).map_err(refused)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(refused)?;
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
    Ok(())
}

/// A Unix socket that everybody may connect to: who does is checked. One that was left is replaced.
fn bind(path: &Path) -> io::Result<UnixListener> {
    match fs::symlink_metadata(path) {
        Ok(about) if about.file_type().is_socket() => fs::remove_file(path)?,
        _ => {}
    }
    let listener = UnixListener::bind(path)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o666))?;
    Ok(listener)
}

async fn tcp(listener: TcpListener, app: Router, connections: Arc<Semaphore>) {
    while let Ok(permit) = connections.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => serve(stream, app.clone(), permit),
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

async fn proxy(listener: UnixListener, uids: Vec<u32>, app: Router, connections: Arc<Semaphore>) {
    while let Ok(permit) = connections.clone().acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                let uid = stream.peer_cred().map(|peer| peer.uid());
                match uid {
                    Ok(uid) if uids.contains(&uid) => serve(stream, app.clone(), permit),
                    _ => log_line!(
                        "fairtree-serve: warning: refused a connection of uid {uid:?} to the proxy's socket"
                    ),
                }
            }
            Err(_) => tokio::time::sleep(PAUSE).await,
        }
    }
}

fn serve<S>(stream: S, app: Router, permit: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    tokio::spawn(async move {
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .serve_connection(TokioIo::new(stream), TowerToHyperService::new(app));
        // A reader that leaves is no error.
        let _ = connection.await;
        drop(permit);
    });
}
