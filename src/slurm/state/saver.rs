//! The thread that writes to disk, so that no other thread waits for a disk that is slow or hangs.
//!
//! A thread that has something to save hands over a job and waits for [`BOUND`] at most. A job that
//! is handed over while the saver is still at work is queued; a later one replaces it in the queue.
//! If the plugin ends while the disk hangs, the saver's thread is not joined: it owns all data that
//! it uses, its code stays in memory (the plugin is never unmapped), and it replaces no more files.

use parking_lot::{Condvar, Mutex, MutexGuard};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Longest time for which a thread waits for the disk.
pub(in crate::slurm) const BOUND: Duration = Duration::from_secs(5);

/// Work for the saver. Its argument returns false if the work is not wanted any more; it is called
/// right before files are replaced.
pub(in crate::slurm) type Job = Box<dyn FnOnce(&dyn Fn() -> bool) -> Result<(), String> + Send>;

/// Result of handing over a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slurm) enum Saved {
    /// The job is done.
    OnDisk,
    /// The job is not done yet and continues: [`Saver::finish`] waits for it and returns its
    /// result.
    LeftToTheEnd,
}

fn late() -> Result<(), String> {
    Err(format!("save not complete after {} s", BOUND.as_secs()))
}

/// Held while files are written: slurmctld may end the plugin and restart it in one process, and a
/// thread that was not joined must be done before the next one writes the same files.
static WRITING: Mutex<()> = Mutex::new(());

/// Hands jobs to a separate thread.
#[derive(Default)]
pub(in crate::slurm) struct Saver {
    queue: Arc<SaveQueue>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

#[derive(Default)]
struct SaveQueue {
    work: Mutex<Work>,
    changed: Condvar,
}

#[derive(Default)]
struct Work {
    /// The queued job, not started yet, with its number.
    waiting: Option<(u64, Job)>,
    /// The thread is at work.
    busy: bool,
    /// Number of jobs handed over, which is the number of the last one.
    handed: u64,
    /// The number of the last job that is done.
    done: u64,
    /// Its result.
    ended: Option<Result<(), String>>,
    /// Passes do not wait any more: the plugin is about to end.
    ending: bool,
    /// A job was [left to the end](Saved::LeftToTheEnd).
    left: bool,
    /// The thread must end.
    over: bool,
}

impl Saver {
    /// Hands a job over and waits until it is done. Does not wait while an earlier job is still
    /// being written, because a thread has already waited for that one, and stops waiting when the
    /// plugin is about to end.
    ///
    /// # Errors
    /// The job's error, or that it is not done within the bound; it continues in this case.
    pub(in crate::slurm) fn save(&self, job: Job) -> Result<Saved, String> {
        let (number, was_busy) = self.hand_over(job)?;
        let mut work = self.queue.work.lock();
        if was_busy && !work.ending {
            return Err("the previous save is still being written".to_string());
        }
        let done = self.wait(&mut work, number, BOUND, |work| work.ending);
        if done.is_none() && work.ending {
            work.left = true;
            return Ok(Saved::LeftToTheEnd);
        }
        done.unwrap_or_else(late).map(|()| Saved::OnDisk)
    }

    /// Ends all waiting in [`Saver::save`], now and later.
    pub(in crate::slurm) fn wait_no_more(&self) {
        self.queue.work.lock().ending = true;
        self.queue.changed.notify_all();
    }

    /// Hands over the last job, if there is one, waits until all jobs are done, for `bound` at
    /// most, and ends the thread. If the thread is still at work, it is not joined, and replaces no
    /// more files.
    ///
    /// # Errors
    /// As [`Saver::save`].
    pub(in crate::slurm) fn finish(&self, job: Option<Job>, bound: Duration) -> Result<(), String> {
        let has_job = job.is_some();
        let handed = job.map_or(Ok(()), |job| self.hand_over(job).map(drop));
        let mut work = self.queue.work.lock();
        let last = work.handed;
        let done = self.wait(&mut work, last, bound, |_| false);
        // Earlier errors have been reported.
        let tells = has_job || work.left;
        let saved = match done.unwrap_or_else(late) {
            Err(error) if tells => Err(error),
            _ => Ok(()),
        };
        work.over = true;
        work.waiting = None;
        let idle = !work.busy;
        drop(work);
        self.queue.changed.notify_all();
        let thread = self.thread.lock().take();
        if let Some(thread) = thread.filter(|_| idle) {
            // Its jobs run inside a guard.
            let _ = thread.join();
        }
        handed.and(saved)
    }

    /// Queues a job. Returns its number, and true if an earlier job is not done yet.
    fn hand_over(&self, job: Job) -> Result<(u64, bool), String> {
        self.start()
            .map_err(|error| format!("cannot start the thread that saves: {error}"))?;
        let mut work = self.queue.work.lock();
        let was_busy = work.busy || work.waiting.is_some();
        work.handed += 1;
        work.waiting = Some((work.handed, job));
        self.queue.changed.notify_all();
        Ok((work.handed, was_busy))
    }

    fn start(&self) -> std::io::Result<()> {
        let mut thread = self.thread.lock();
        if thread.is_none() {
            let queue = Arc::clone(&self.queue);
            let name = "fairtree-save".to_string();
            *thread = Some(
                thread::Builder::new()
                    .name(name)
                    .spawn(move || queue.run())?,
            );
        }
        Ok(())
    }

    /// Waits for a job, for `bound` at most or until `enough` returns true. Returns the job's
    /// result; `None` if it is not done.
    fn wait(
        &self,
        work: &mut MutexGuard<'_, Work>,
        number: u64,
        bound: Duration,
        enough: impl Fn(&Work) -> bool,
    ) -> Option<Result<(), String>> {
        let until = Instant::now() + bound;
        while work.done < number && !enough(work) && Instant::now() < until {
            self.queue.changed.wait_until(work, until);
        }
        (work.done >= number).then(|| work.ended.clone().unwrap_or(Ok(())))
    }
}

impl SaveQueue {
    fn run(&self) {
        let mut work = self.work.lock();
        loop {
            if work.over {
                return;
            }
            let Some((number, job)) = work.waiting.take() else {
                self.changed.wait(&mut work);
                continue;
            };
            work.busy = true;
            drop(work);
            let ended = self.write(job);
            work = self.work.lock();
            work.busy = false;
            work.done = number;
            work.ended = Some(ended);
            self.changed.notify_all();
        }
    }

    fn write(&self, job: Job) -> Result<(), String> {
        let _alone = WRITING.lock();
        let wanted = || !self.work.lock().over;
        let job = std::panic::AssertUnwindSafe(|| job(&wanted));
        std::panic::catch_unwind(job).unwrap_or_else(|_| Err("internal error".to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::sync::mpsc::{Receiver, channel};

    const SHORT: Duration = Duration::from_millis(20);

    /// Held by each test: these tests have jobs that hang, and jobs of all savers run one at a
    /// time.
    static ALONE: Mutex<()> = Mutex::new(());

    /// A job that hangs until it may continue; then it records its number if it is still wanted.
    fn hanging(go_on: Receiver<()>, saved: &Arc<AtomicU32>, number: u32) -> Job {
        let saved = Arc::clone(saved);
        Box::new(move |wanted| {
            let _ = go_on.recv();
            if !wanted() {
                return Err("unwanted".to_string());
            }
            saved.store(number, Ordering::SeqCst);
            Ok(())
        })
    }

    fn note(saved: &Arc<AtomicU32>, number: u32) -> Job {
        let saved = Arc::clone(saved);
        Box::new(move |_| {
            saved.store(number, Ordering::SeqCst);
            Ok(())
        })
    }

    fn wait_until_busy(saver: &Saver) {
        while !saver.queue.work.lock().busy {
            thread::yield_now();
        }
    }

    fn is_idle(saver: &Saver) -> bool {
        let work = saver.queue.work.lock();
        !work.busy && work.waiting.is_none()
    }

    #[test]
    fn what_a_job_ends_with_is_returned() {
        let _alone = ALONE.lock();
        let saver = Saver::default();
        assert_eq!(saver.save(Box::new(|_| Ok(()))), Ok(Saved::OnDisk));
        let full = || Err("disk full".to_string());
        assert_eq!(saver.save(Box::new(move |_| full())).map(drop), full());
        let panics: Job = Box::new(|_| panic!("a test"));
        assert!(saver.save(panics).is_err());
        assert_eq!(saver.finish(Some(Box::new(|_| Ok(()))), BOUND), Ok(()));
        assert!(saver.thread.lock().is_none());
    }

    #[test]
    fn the_last_of_what_waits_for_a_slow_disk_is_saved() {
        let _alone = ALONE.lock();
        let saver = Saver::default();
        let saved = Arc::new(AtomicU32::new(0));
        let (disk, go_on) = channel();
        saver.hand_over(hanging(go_on, &saved, 1)).unwrap();
        wait_until_busy(&saver);
        for number in 2..=4 {
            let told = saver.save(note(&saved, number)).unwrap_err();
            assert!(told.contains("still being written"), "{told}");
        }
        assert_eq!(saved.load(Ordering::SeqCst), 0);
        disk.send(()).unwrap();
        while !is_idle(&saver) {
            thread::yield_now();
        }
        assert_eq!(saved.load(Ordering::SeqCst), 4);
        assert_eq!(saver.queue.work.lock().done, 4);
        assert_eq!(saver.finish(None, SHORT), Ok(()));
    }

    #[test]
    fn nothing_is_replaced_after_the_end() {
        let _alone = ALONE.lock();
        let saver = Saver::default();
        let saved = Arc::new(AtomicU32::new(0));
        let (disk, go_on) = channel();
        saver.hand_over(hanging(go_on, &saved, 1)).unwrap();
        let queue = Arc::clone(&saver.queue);
        wait_until_busy(&saver);
        let told = saver.finish(Some(note(&saved, 2)), SHORT).unwrap_err();
        assert!(told.contains("save not complete"), "{told}");
        // A later saver in the same process waits for the thread that was not joined.
        let next = Saver::default();
        next.hand_over(note(&saved, 3)).unwrap();
        disk.send(()).unwrap();
        while !is_idle(&next) {
            thread::yield_now();
        }
        assert!(matches!(&queue.work.lock().ended, Some(Err(_))));
        assert_eq!(saved.load(Ordering::SeqCst), 3);
        next.finish(None, SHORT).unwrap();
    }

    #[test]
    fn passes_do_not_wait_while_the_plugin_ends() {
        let _alone = ALONE.lock();
        let saver = Saver::default();
        let saved = Arc::new(AtomicU32::new(0));
        let (disk, go_on) = channel();
        saver.wait_no_more();
        assert_eq!(
            saver.save(hanging(go_on, &saved, 1)),
            Ok(Saved::LeftToTheEnd)
        );
        wait_until_busy(&saver);
        assert_eq!(saver.save(note(&saved, 3)), Ok(Saved::LeftToTheEnd));
        disk.send(()).unwrap();
        assert_eq!(saver.finish(Some(note(&saved, 2)), BOUND), Ok(()));
        assert_eq!(saved.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn the_end_tells_of_what_was_left_to_it() {
        let _alone = ALONE.lock();
        let full = || Box::new(|_: &dyn Fn() -> bool| Err("disk full".to_string()));
        let saver = Saver::default();
        assert!(saver.save(full()).is_err());
        assert_eq!(saver.finish(None, BOUND), Ok(()), "told before");
        let saver = Saver::default();
        let (disk, go_on) = channel();
        saver.wait_no_more();
        let saved = Arc::default();
        assert!(saver.save(hanging(go_on, &saved, 1)).is_ok());
        wait_until_busy(&saver);
        assert_eq!(saver.save(full()), Ok(Saved::LeftToTheEnd));
        disk.send(()).unwrap();
        assert_eq!(saver.finish(None, BOUND), Err("disk full".to_string()));
    }
}
