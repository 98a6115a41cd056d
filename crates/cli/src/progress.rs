//! Bars for work that takes longer than a second: on standard error, in a terminal.

use std::io::{self, IsTerminal, Read, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done before shows nothing.
const PATIENCE: Duration = Duration::from_secs(1);

/// True if bars are left out: for the whole process, as standard error is.
static HIDDEN: AtomicBool = AtomicBool::new(false);

/// Leaves bars out from now on (`--quiet`).
pub(super) fn hide() {
    HIDDEN.store(true, Ordering::Relaxed);
}

fn wanted() -> bool {
    !HIDDEN.load(Ordering::Relaxed)
        && stderr().is_terminal()
        && std::env::var_os("TERM").is_none_or(|value| value != "dumb")
}

/// A stream whose reading is shown.
pub(super) struct Watched<R> {
    input: R,
    started: Instant,
    bar: ProgressBar,
    wanted: bool,
    shown: bool,
}

impl<R: Read> Watched<R> {
    /// Shows how much of `input`, called `name`, was read; `len` bytes are all, where known.
    pub fn new(input: R, name: &str, len: Option<u64>) -> Watched<R> {
        let bar = ProgressBar::with_draw_target(len, ProgressDrawTarget::hidden());
        let form = match len {
            Some(_) => "{msg} {bar:30} {percent}% of {total_bytes}, {eta} left",
            None => "{msg} {spinner} {bytes}",
        };
        bar.set_style(ProgressStyle::with_template(form).unwrap_or(ProgressStyle::default_bar()));
        bar.set_message(name.to_owned());
        Watched {
            input,
            started: Instant::now(),
            bar,
            wanted: wanted(),
            shown: false,
        }
    }
}

impl<R: Read> Read for Watched<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(buffer)?;
        if self.wanted {
            self.bar.inc(read as u64);
            if !self.shown && self.started.elapsed() > PATIENCE {
                self.shown = true;
                self.bar.set_draw_target(ProgressDrawTarget::stderr());
            }
        }
        Ok(read)
    }
}

impl<R> Drop for Watched<R> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// Says what is being waited for, until it is dropped.
pub(super) struct Waiting {
    done: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Waiting {
    /// Begins to wait for `what`.
    pub fn new(what: &str) -> Waiting {
        if !wanted() {
            return Waiting {
                done: None,
                thread: None,
            };
        }
        let (done, waits) = mpsc::channel::<()>();
        let what = what.to_owned();
        let thread = std::thread::spawn(move || {
            // The sender is never used, only dropped.
            if waits.recv_timeout(PATIENCE) != Err(RecvTimeoutError::Timeout) {
                return;
            }
            let bar = ProgressBar::new_spinner().with_message(what);
            bar.enable_steady_tick(Duration::from_millis(100));
            let _ = waits.recv();
            bar.finish_and_clear();
        });
        Waiting {
            done: Some(done),
            thread: Some(thread),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        drop(self.done.take());
        if let Some(thread) = self.thread.take() {
            // A bar that failed to draw is no reason to fail.
            let _ = thread.join();
        }
    }
}
