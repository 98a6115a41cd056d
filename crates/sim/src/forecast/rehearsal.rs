//! Forecasts for jobs of the past, at moments at which they waited.

use fairtree_model::machine::Machine;

use super::calibration::{Band, Raw};
use super::known::Known;
use super::median;
use super::run_times::RunTimes;
use super::situation::Situation;
use crate::slurm::site::{Site, Unpriced};

/// Simulations for each forecast of the past.
const DRAWS: usize = 12;

/// What was known at a moment of the past, which moves on.
#[derive(Debug)]
pub(super) struct Rehearsal<'a> {
    machine: &'a Machine,
    site: &'a Site,
    jobs: &'a [Known],
    /// Jobs in order of their ends.
    ends: Vec<usize>,
    /// See [`crate::slurm::free::Begin::spread`].
    spread: i64,
    /// Of those, how many have ended.
    ended: usize,
    history: RunTimes,
    /// Usage of each association, without that of those below it, and the moment that it is valued at.
    own: Vec<(f64, i64)>,
}

impl<'a> Rehearsal<'a> {
    /// Before all jobs.
    pub fn new(
        machine: &'a Machine,
        site: &'a Site,
        jobs: &'a [Known],
        spread: i64,
    ) -> Rehearsal<'a> {
        let ended = jobs.iter().enumerate().filter(|(_, job)| job.tells());
        let mut ends: Vec<usize> = ended.map(|(at, _)| at).collect();
        ends.sort_by_key(|at| (jobs[*at].end, jobs[*at].ask.id));
        Rehearsal {
            machine,
            site,
            jobs,
            ends,
            spread,
            ended: 0,
            history: RunTimes::default(),
            own: vec![(0.0, 0); site.tree().len()],
        }
    }

    /// What is left of usage after some time.
    fn left(&self, secs: i64) -> f64 {
        match self.site.half_life_secs() {
            Some(half) => (-(secs.max(0) as f64) / f64::from(half)).exp2(),
            None => 1.0,
        }
    }

    /// What a run counts for at its end.
    fn used(&self, job: &Known, until: i64) -> f64 {
        let secs = job.start.map_or(0, |start| (until - start).max(0));
        let weighed = match self.site.half_life_secs() {
            Some(half) => {
                let half = f64::from(half);
                half / std::f64::consts::LN_2 * (1.0 - (-(secs as f64) / half).exp2())
            }
            None => secs as f64,
        };
        job.billing * weighed
    }

    /// Learns what ended up to a moment.
    fn advance(&mut self, moment: i64) {
        while let Some(at) = self.ends.get(self.ended).copied() {
            let job = &self.jobs[at];
            let end = job.end.unwrap_or(i64::MAX);
            if end > moment {
                break;
            }
            if let Some(assoc) = job.ask.assoc {
                let (used, at) = self.own[assoc.get()];
                let used = used * self.left(end - at) + self.used(job, end);
                self.own[assoc.get()] = (used, end);
            }
            job.tell(&mut self.history);
            self.ended += 1;
        }
    }

    /// The forecast of a job at a moment at which it waited, not before that of the last one, before its
    /// band is widened; `None`: the simulations ended before it started. Adds their steps to `steps`.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn raw(
        &mut self,
        moment: i64,
        job: usize,
        (seed, most_steps): (u64, u64),
        steps: &mut u64,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Raw>, Unpriced> {
        self.advance(moment);
        let own = self.own.iter();
        let mut own: Vec<f64> = own
            .map(|(used, at)| used * self.left(moment - at))
            .collect();
        for other in self.jobs.iter().filter(|other| other.runs_at(moment)) {
            if let Some(assoc) = other.ask.assoc {
                own[assoc.get()] += self.used(other, moment);
            }
        }
        let site = self.site.at(moment, &own);
        let situation = Situation::new(
            self.machine,
            site,
            &self.history,
            self.jobs,
            moment,
            &|_, _| {},
        )
        .with_spread(self.spread);
        let wanted = situation.places(&[job]);
        let mut starts = Vec::with_capacity(DRAWS);
        for draw in 0..DRAWS as u64 {
            let drawn = situation.draw(&wanted, (seed, draw), most_steps, go_on)?;
            for one in drawn {
                *steps += one.steps;
                starts.extend(one.start);
            }
        }
        if starts.len() < DRAWS {
            return Ok(None);
        }
        starts.sort_unstable();
        Ok(Some(Raw {
            made_at: moment,
            start: median(&starts).unwrap_or(moment),
            band: Band {
                from: starts[0],
                to: starts[DRAWS - 1],
            },
        }))
    }
}
