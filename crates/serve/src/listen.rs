//! Sockets and connections.

use std::io::Write;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::Semaphore;

use crate::app::{Shared, app};
use crate::options::{Options, StartError};
use crate::picture::Picture;

/// At most this many connections at a time; more wait.
const CONNECTIONS: usize = 256;

/// The longest time that the head of a request may take.
const HEAD: Duration = Duration::from_secs(10);

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// [`StartError`].
pub fn serve(options: &Options) -> Result<(), StartError> {
    let picture = Picture::read(&options.from)?;
    let shared = Arc::new(Shared::new(picture, &options.user));
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .map_err(|error| StartError::System("threads".to_owned(), error))?;
    runtime.block_on(listen(options, app(shared)))
}

async fn listen(options: &Options, app: Router) -> Result<(), StartError> {
    let refused = |error| StartError::System(options.listen.to_string(), error);
    let listener = TcpListener::bind(options.listen).await.map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    println!("listening on http://{address}");
    // Whoever waits for this line reads it now.
    let _ = std::io::stdout().flush();
    let mut terminate = signal(SignalKind::terminate()).map_err(refused)?;
    let mut interrupt = signal(SignalKind::interrupt()).map_err(refused)?;
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    loop {
        let Ok(permit) = connections.clone().acquire_owned().await else {
            return Ok(());
        };
        let stream = tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => stream,
                // A connection that broke, or no more file descriptors: others follow.
                Err(_) => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
            _ = terminate.recv() => return Ok(()),
            _ = interrupt.recv() => return Ok(()),
        };
        let service = TowerToHyperService::new(app.clone());
        tokio::spawn(async move {
            let connection = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(HEAD)
                .serve_connection(TokioIo::new(stream), service);
            // A reader that leaves is no error.
            let _ = connection.await;
            drop(permit);
        });
    }
}
