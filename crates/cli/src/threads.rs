//! Independent runs in threads, stopped by Ctrl-C.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use super::simulate::Interrupt;

/// Threads where no number is named: one for each processor.
pub(super) fn default_threads() -> usize {
    thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}

/// Runs tasks 0 to `count` in threads and hands each result, as it comes, to `done`, until all are done,
/// `done` says no, or a signal has come; a task that sees the flag may stop early. Returns true if none
/// was left out.
pub(super) fn run<T: Send>(
    count: usize,
    threads: usize,
    interrupt: &mut Interrupt,
    task: impl Fn(usize, &AtomicBool) -> T + Sync,
    done: impl FnMut(usize, T) -> bool + Send,
) -> bool {
    let stop = AtomicBool::new(false);
    let next = AtomicUsize::new(0);
    let ended = AtomicUsize::new(0);
    let done = Mutex::new(done);
    let threads = threads.clamp(1, count.max(1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !stop.load(Ordering::Relaxed) {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count {
                        break;
                    }
                    let found = task(at, &stop);
                    let mut done = done
                        .lock()
                        .unwrap_or_else(std::sync::PoisonError::into_inner);
                    if !done(at, found) {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
                ended.fetch_add(1, Ordering::Relaxed);
            });
        }
        while ended.load(Ordering::Relaxed) < threads {
            if interrupt.has_come() {
                stop.store(true, Ordering::Relaxed);
            }
            thread::sleep(Duration::from_millis(10));
        }
    });
    !stop.into_inner()
}
