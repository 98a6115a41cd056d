//! The figures of the service on one site.

use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use anyhow::Result;

use xtask::progress::Progress;
use xtask::project;

use super::readers::{Read, Readers};
use super::site::{self, Service};
use super::{READERS, past};
use crate::bench::capture::{Moment, Size, generate};
use crate::bench::workload::count;

/// How long people read before a picture is taken.
const BEFORE: Duration = Duration::from_secs(10);

/// How far a measurement came before its deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reached {
    /// The first picture was not shown.
    Nothing,
    /// People read, but the second picture was not shown.
    FirstPicture,
    /// The second picture was shown.
    End,
}

/// The figures of one site; those that were not reached are 0.
#[derive(Debug)]
pub struct Figures {
    /// How far it came.
    pub reached: Reached,
    /// Pages that came while no picture was taken.
    pub quiet: Vec<Read>,
    /// Pages that came, at least in part, while one was taken.
    pub during: Vec<Read>,
    /// The first picture, with no readers, ms.
    pub alone_ms: f64,
    /// The processor time of the service until it was shown, ms.
    pub alone_processor_ms: f64,
    /// The second one, while people read, ms.
    pub picture_ms: f64,
    /// The processor time of a page on average, while no picture was taken, ms.
    pub page_ms: f64,
    /// Most memory of the process, MB.
    pub megabytes: f64,
    /// Calls to Slurm from the moment at which people began to read.
    pub calls: usize,
}

impl Figures {
    /// Measures a site, until the deadline at most.
    ///
    /// # Errors
    /// Fails if the service does.
    pub fn of(
        program: &Path,
        size: &Size,
        deadline: Duration,
        progress: &Progress,
    ) -> Result<Figures> {
        let jobs = count(size.jobs - size.running);
        progress.step(format!(
            "the service: {jobs} waiting jobs, for {} s at most: answers of Slurm",
            deadline.as_secs()
        ));
        let deadline = Instant::now() + deadline;
        let folder = tempfile::tempdir_in(project::root().join("target"))?;
        let answers = folder.path().join("answers");
        generate(&answers, size, Moment::First)?;
        past::generate(&answers.join("history.txt"), size)?;
        progress.step("the service: the first picture");
        let service = Service::start(program, folder.path(), &answers)?;
        let mut found = Figures {
            reached: Reached::Nothing,
            quiet: Vec::new(),
            during: Vec::new(),
            alone_ms: 0.0,
            alone_processor_ms: 0.0,
            picture_ms: 0.0,
            page_ms: 0.0,
            megabytes: 0.0,
            calls: 0,
        };
        if let Some(ms) = service.await_picture(1, deadline)? {
            found.reached = Reached::FirstPicture;
            found.alone_ms = ms;
            found.alone_processor_ms = millis(service.processor_time()?);
            // The next one begins after the pause, and people a little before it.
            sleep(site::PAUSE.saturating_sub(BEFORE));
            progress.step(format!("the service: {READERS} people read"));
            found.read(&service, size, deadline, progress)?;
        }
        found.megabytes = service.most_megabytes()?;
        Ok(found)
    }

    /// Lets people read until the next picture is shown, or until the deadline.
    fn read(
        &mut self,
        service: &Service,
        size: &Size,
        deadline: Instant,
        progress: &Progress,
    ) -> Result<()> {
        let (calls, before) = (service.calls()?, service.processor_time()?);
        let readers = Readers::start(service.socket(), READERS, size);
        service.await_call(calls + 1, deadline)?;
        let (began, spent) = (Instant::now(), service.processor_time()? - before);
        progress.step("the service: the second picture");
        if let Some(ms) = service.await_picture(2, deadline)? {
            self.reached = Reached::End;
            self.picture_ms = ms;
        }
        let reads = readers.stop()?;
        (self.quiet, self.during) = reads.into_iter().partition(|read| read.ended < began);
        self.page_ms = millis(spent) / self.quiet.len().max(1) as f64;
        self.calls = service.calls()? - calls;
        Ok(())
    }
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// A quantile of the times of pages, ms: the smallest that this part, 0..=1, does not exceed; NaN without pages.
pub fn quantile(reads: &[Read], part: f64) -> f64 {
    let mut times: Vec<f64> = reads.iter().map(|read| read.ms).collect();
    times.sort_by(f64::total_cmp);
    let at = (times.len() as f64 * part).ceil() as usize;
    times.get(at.saturating_sub(1)).copied().unwrap_or(f64::NAN)
}
