//! Forecasts of starts: those of `fairtree forecast`, made in the background after a picture was taken.

use std::collections::HashMap;
use std::fs::File;
use std::io::BufReader;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, mpsc};
use std::thread;

use fairtree_analysis::forecast::{
    Asked, ForecastError, Making, Pattern, QueueForecast, forecast_jobs, waiting_of,
};
use fairtree_model::input::capture::{open_only, with_history};
use fairtree_model::input::recorded::past;
use fairtree_model::input::slurm::config::{hides_jobs, hides_usage};
use fairtree_model::input::slurm::snapshot::Source;
use fairtree_model::input::slurm::{job_request, present};
use fairtree_model::input::{InputError, LeftOut};
use serde::Serialize;

use crate::app::Shared;
use crate::picture::Picture;

/// Answers from which the machine is read.
const OF_MACHINE: [Source; 5] = [
    Source::Config,
    Source::Nodes,
    Source::Partitions,
    Source::Assocs,
    Source::Qos,
];

/// Reason why there are no forecasts of a picture that could have them.
#[derive(Debug, thiserror::Error)]
pub enum StartsError {
    /// The capture cannot be read.
    #[error("{}", .0.explained())]
    Input(#[from] InputError),
    /// The queue cannot be simulated.
    #[error(transparent)]
    Forecast(#[from] ForecastError),
}

/// The forecasts of one picture.
#[derive(Debug)]
pub struct Starts {
    made: QueueForecast,
    /// Positions among them by job number.
    jobs: HashMap<u32, usize>,
}

/// The forecast of the start of a job. Moments are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Start {
    /// The likely start: the median of simulations.
    pub start: i64,
    /// The band that should hold 90 % of the starts: its beginning.
    pub band_from: Option<i64>,
    /// Its end; `None`: in some simulations it did not start.
    pub band_to: Option<i64>,
    /// The moment of the picture that it was made from.
    pub made_from: i64,
    /// Forecasts that were made for past jobs while they waited.
    pub forecasts: usize,
    /// The last of them, whose bands were compared with the starts.
    pub counted: usize,
    /// The part of these whose band held, 0 to 1; `None`: too few to say.
    pub band_90_held: Option<f64>,
}

impl Starts {
    /// Forecasts for the jobs of a picture that wait; `None`: the picture has no past from which they could be made,
    /// or does not have the jobs or shares of all.
    ///
    /// # Errors
    /// [`StartsError`].
    pub fn of(picture: &Picture) -> Result<Option<Starts>, StartsError> {
        let stored = open_only(&picture.folder, &OF_MACHINE)?;
        let private = &picture.cluster.private_data;
        let Some(before) = with_history(&stored)? else {
            return Ok(None);
        };
        if hides_jobs(private) || hides_usage(private) {
            return Ok(None);
        }
        let name = stored.folder.display().to_string();
        let machine = present::read(&name, &stored.answers)?;
        let path = stored.path(Source::Jobs)?;
        let file = path.display().to_string();
        let jobs = File::open(&path).map_err(|error| InputError::new(&file, error))?;
        let jobs = BufReader::with_capacity(1 << 16, jobs);
        let mut left = LeftOut::default();
        let jobs = job_request::read(&file, jobs, picture.names(), picture.time(), &mut left)?;
        let past = past::read_file(&before.path(Source::History)?)?;
        let wanted = waiting_of(&picture.cluster, None);
        let asked = Asked {
            cluster: &picture.cluster,
            machine: &machine,
            present: &jobs,
            past: &past.jobs,
            now: picture.time(),
            making: Making {
                // As the command for several jobs.
                steps: 10 * Making::default().steps,
                ..Making::default()
            },
            helps: false,
        };
        let made = forecast_jobs(&asked, &wanted, &mut || true)?;
        let jobs = made.jobs.iter().map(|job| job.job).zip(0..).collect();
        Ok((made.run_times == Pattern::History).then_some(Starts { made, jobs }))
    }

    /// The forecast of a job; `None`: it starts in no simulation, or did not wait then.
    pub fn of_job(&self, id: u32) -> Option<Start> {
        let job = &self.made.jobs[*self.jobs.get(&id)?];
        Some(Start {
            start: job.start?,
            band_from: job.band_from,
            band_to: job.band_to,
            made_from: self.made.now,
            forecasts: self.made.trust.forecasts,
            counted: self.made.trust.counted,
            band_90_held: self.made.trust.band_90_held,
        })
    }
}

/// Makes the forecasts of the picture at present and of each one that follows, on a thread that ends with the process.
/// While it works, pictures that are replaced are passed over.
pub fn follow(shared: Arc<Shared>) {
    let (sender, fresh) = mpsc::sync_channel(1);
    // There may be a picture already.
    let _ = sender.try_send(());
    shared.notify_of_pictures(sender);
    thread::spawn(move || {
        while fresh.recv().is_ok() {
            let Some(picture) = shared.picture() else {
                continue;
            };
            shared.begin_forecast();
            let made = catch_unwind(AssertUnwindSafe(|| Starts::of(&picture)));
            let failed = match made {
                Ok(Ok(starts)) => {
                    shared.forecast(starts);
                    continue;
                }
                Ok(Err(error)) => error.to_string(),
                Err(_) => "they could not be computed".to_owned(),
            };
            let said = failed.lines().next().unwrap_or_default();
            log_line!("fairtree-serve: warning: no forecasts: {said}");
            shared.forecast(None);
        }
    });
}
