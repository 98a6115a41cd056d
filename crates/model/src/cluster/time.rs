//! Letting time pass: usage decays, running jobs are charged, resets come due.

use std::sync::Arc;

use jiff::tz::TimeZone;

use super::{Cluster, JobPhase};
use fairtree::config::UsageModel;
use fairtree::engine::{self, Accruing, Engine, Input};
use fairtree::fairshare::HostMath;
use fairtree::usage::{HalfLife, Ledger, Model, Phase, next_reset};

/// Under `compat=slurm` each pass counts. Of longer times than this many passes some are taken
/// together.
const MOST_PASSES: i64 = 20_000;

impl Cluster {
    /// Start of the one window in which all use counts at `end`; `None`: no such window, or
    /// accounts have plans of their own.
    fn window_begin(&self, end: i64) -> Option<i64> {
        let plans = self.config.accounts.iter().any(|row| row.plan.is_some());
        match self.config.usage() {
            UsageModel::Window { length_secs } if !plans => Some(end - i64::from(length_secs)),
            _ => None,
        }
    }

    /// Lets `secs` pass from [`Cluster::now`]: running jobs continue up to their time limits, no
    /// other job starts, usage decays, resets happen at the boundaries of UTC. Ranks do not change
    /// until [`Cluster::rank`].
    ///
    /// With `usage=window` or `total` nothing decays, and use leaves the window as time passes. Where it is
    /// not known when past use was, it stays in the window, unless as much time as its length passes, after
    /// which all of it has left.
    pub fn pass(&mut self, secs: u32) {
        let counted = self.pass_uses(secs);
        if self.config.usage() != UsageModel::HalfLife {
            if let Some(ledger) = counted {
                let end = self.now.unwrap_or(0) + i64::from(secs);
                self.ledger = ledger;
                self.now = Some(end);
                return end_jobs(self, end);
            }
        }
        let mut start = self.now.unwrap_or(0);
        let end = start + i64::from(secs);
        let decay = engine::decay(&self.config);
        if let Some(begin) = self.window_begin(end).filter(|begin| *begin >= start) {
            self.ledger = Ledger::new(&self.tree);
            start = begin;
        }
        let step = if decay.compat().is_slurm() {
            let period = i64::from(self.config.priority_calc_period_secs.max(1));
            period * (i64::from(secs) / period / MOST_PASSES + 1)
        } else {
            // Integrals are exact, however long.
            i64::from(secs).max(1)
        };
        let mut running = self.accruing();
        // Those that end before a window begins are not in it.
        running.retain(|job| job.run.end_time_exp.is_none_or(|end| end > start));
        let mut at = start;
        let mut reset = boundary(self, start);
        let ledger = std::mem::take(&mut self.ledger);
        let mut engine = Engine::new(HalfLife::new(decay, ledger, Some(start)));
        let mut now = Vec::with_capacity(running.len());
        while at < end {
            let next = end.min(at + step).min(reset.unwrap_or(end));
            now.clear();
            now.extend(running.iter().map(|job| until(job, next)));
            let input = Input {
                config: &self.config,
                tree: &self.tree,
                accruing: &now,
                record_states: &mut [],
                host_math: HostMath::default(),
                last_ran: Some(at),
                now: next,
            };
            engine.spend(&input, &mut ());
            running.retain(|job| job.run.end_time_exp.is_none_or(|end| end > next));
            if reset == Some(next) {
                engine.model_mut().clear();
                reset = boundary(self, next);
            }
            at = next;
        }
        self.ledger = engine.into_model().into_ledger();
        self.now = Some(end);
        end_jobs(self, end);
    }
}

impl Cluster {
    /// Lets time pass for what usage is counted from, and counts it; `None`: it is not known when all of
    /// it was used, or its sum is not finite.
    fn pass_uses(&mut self, secs: u32) -> Option<Ledger> {
        let (secs, start) = (i64::from(secs), self.now.unwrap_or(0));
        let running = self.accruing().into_iter().filter_map(|job| {
            let end = job.run.end_time_exp.map_or(secs, |end| end - start);
            let billing = job.run.billable_tres.max(0.0) * job.run.usage_factor;
            let runs = job.run.state.phase == Phase::Running && end > 0;
            runs.then_some((job.assoc, billing, end.min(secs)))
        });
        let running: Vec<_> = running.collect();
        self.uses.take_if(|uses| !uses.has_times());
        Arc::make_mut(self.uses.as_mut()?).pass(secs, running);
        let uses = self.uses.as_ref()?;
        let counted = uses.ledger(&self.config, &self.usage_models(), &self.tree);
        counted.ok()
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
