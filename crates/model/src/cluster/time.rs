//! Letting time pass: usage decays or leaves the window, running jobs are charged, resets come due.

use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::{Cluster, JobPhase};
use fairtree::config::{Config, ResetPeriod, UsageModel};
use fairtree::engine::Accruing;
use fairtree::tree::AssocIndex;
use fairtree::usage::{Model, ModelSettings, Phase, RawUsage, UsageError, Use, model, next_reset};

/// Under `compat=slurm` each pass counts. Of longer times than this many passes some are taken
/// together.
const MOST_PASSES: i64 = 20_000;

impl Cluster {
    /// The window that settings ask for, with the usage so far. It keeps to the second when usage was used.
    /// Usage of an unknown time counts as used in the last second: it leaves the window when as much time
    /// as its length has passed.
    fn window(&self) -> Result<Box<dyn Model>, UsageError> {
        let now = self.moment();
        // Without times all dates are past.
        let has_times = now > 1;
        let dated = |model| match model {
            UsageModel::Total { .. } if !has_times => UsageModel::Total {
                since: DateTime::constant(1970, 1, 1, 0, 0, 0, 0),
            },
            other => other,
        };
        let mut config = self.config.clone();
        config.parameters.resolution = Some(1);
        config.parameters.usage = Some(dated(config.usage()));
        let plans = config.accounts.iter();
        let plans = plans.filter_map(|row| Some((self.account(&row.account)?, dated(row.plan?))));
        let id = |index: AssocIndex| self.tree().rows()[index.get()].id;
        let plans: Vec<_> = plans.map(|(index, plan)| (id(index), plan)).collect();
        let settings = ModelSettings {
            config: &config,
            zone: &TimeZone::UTC,
            plans: &plans,
            tres: &[],
        };
        let mut model = model::for_config(self.tree(), &settings, now)?;
        let mut charge = |(index, billing, from, to)| {
            let charged = model.charge(self.tree(), index, &used(billing, from, to));
            charged.map(|_| ())
        };
        let uses = self.uses.as_ref().filter(|uses| uses.has_times());
        match uses {
            Some(uses) => uses.intervals().try_for_each(&mut charge)?,
            None => {
                let own = self.site.model().raw_usage().map_or(&[][..], RawUsage::own);
                let own = self.tree().indices().zip(own);
                let own = own.filter(|(_, own)| !own.is_zero());
                own.map(|(index, own)| (index, own.to_f64(), now - 1, now))
                    .try_for_each(&mut charge)?;
            }
        }
        Ok(model)
    }

    /// Lets `secs` pass from [`Cluster::now`]: running jobs continue up to their time limits, no
    /// other job starts, usage decays or leaves its window, resets happen at the boundaries of UTC. Ranks
    /// do not change until [`Cluster::rank`].
    ///
    /// # Errors
    /// Usage that a window cannot have: of more than 1e19 TRES-seconds, or outside the years 1970 to
    /// 9999. Nothing is changed.
    pub fn pass(&mut self, secs: u32) -> Result<(), UsageError> {
        let start = self.moment();
        let end = start + i64::from(secs);
        let is_window = self.config.usage() != UsageModel::HalfLife;
        if is_window && self.site.model().raw_usage().is_some() {
            let window = self.window()?;
            self.site.edit_usage(|_, model| *model = window);
        }
        // They are made here, after the charges of the time before them.
        let config = Config {
            priority_usage_reset_period: ResetPeriod::None,
            ..self.config.clone()
        };
        let step = if config.compat.is_slurm() {
            let period = i64::from(config.priority_calc_period_secs.max(1));
            period * (i64::from(secs) / period / MOST_PASSES + 1)
        } else {
            // Integrals are exact, however long.
            i64::from(secs).max(1)
        };
        let mut running = self.accruing();
        let mut at = start;
        let mut reset = boundary(self, start);
        while at < end {
            let next = end.min(at + step).min(reset.unwrap_or(end));
            let mut runs: Vec<_> = running.iter().map(|job| until(job, next)).collect();
            self.site.spend(&config, &mut runs, next);
            running.retain(|job| job.run.end_time_exp.is_none_or(|end| end > next));
            if reset == Some(next) {
                self.site.edit_usage(|_, usage| usage.clear());
                reset = boundary(self, next);
            }
            at = next;
        }
        self.pass_uses(start, secs);
        self.has_moment = true;
        end_jobs(self, end);
        Ok(())
    }

    /// Lets time pass for the uses that usage is counted from, if it is known when all of them were.
    fn pass_uses(&mut self, start: i64, secs: u32) {
        let secs = i64::from(secs);
        let running = self.accruing().into_iter().filter_map(|job| {
            let end = job.run.end_time_exp.map_or(secs, |end| end - start);
            let billing = job.run.billable_tres.max(0.0) * job.run.usage_factor;
            let runs = job.run.state.phase == Phase::Running && end > 0;
            runs.then_some((job.assoc, billing, end.min(secs)))
        });
        let running: Vec<_> = running.collect();
        self.uses.take_if(|uses| !uses.has_times());
        if let Some(uses) = &mut self.uses {
            Arc::make_mut(uses).pass(secs, running);
        }
    }
}

/// Use of so many billing TRES between two moments.
pub(super) fn used(billing: f64, from: i64, to: i64) -> Use<'static> {
    Use {
        run: None,
        from,
        to,
        billing,
        factor: 1.0,
        tres: &[],
    }
}

/// A job in a pass at `now`: at its end if that came before.
fn until(job: &Accruing, now: i64) -> Accruing {
    let mut job = *job;
    if let Some(end) = job.run.end_time_exp.filter(|end| *end <= now) {
        job.run.end_time = end;
        job.at_end = true;
    }
    job
}

/// The next boundary of the reset period after `at`.
fn boundary(cluster: &Cluster, at: i64) -> Option<i64> {
    let config = &cluster.config;
    let period = config.priority_usage_reset_period;
    next_reset(period, config.compat, at, at, &TimeZone::UTC).filter(|next| *next > at)
}

/// Marks the jobs whose time limit is over.
fn end_jobs(cluster: &mut Cluster, now: i64) {
    for job in cluster.jobs_mut().into_iter().flatten() {
        let end = job.run.as_ref().and_then(|run| run.end_time_exp);
        if job.phase == JobPhase::Running && end.is_some_and(|end| end <= now) {
            job.phase = JobPhase::Ended;
            job.state = "TIMEOUT".into();
            job.run = None;
        }
    }
}
