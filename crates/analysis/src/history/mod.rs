//! The usage of associations over time, and the engine's results for it.
//!
//! | noun | what it is |
//! |---|---|
//! | [`OwnerHistory`] | the use of jobs, gathered in equal steps of time |
//! | [`Timeline`] | share, use and fair-share factor of each association at each moment |
//!
//! A history takes jobs in any order and keeps no job: its size is that of its associations times
//! at most [`MAX_STEPS`]. Steps begin at a minute and double whenever the jobs reach further than
//! [`MAX_STEPS`] of them; what was gathered decays over the longer step by the engine's own
//! [`Decay`], so that the result is the same as if the jobs had been gathered in these steps from
//! the start, except for rounding.

mod captures;
mod owners;
mod series;
mod steps;
mod timeline;

pub use captures::from_captures;
pub use owners::{NO_SITE, Placed, on_site, own_site, plans_on};
pub use series::Series;
pub use timeline::{Course, Timeline, each_moment, from_history};

use std::collections::HashMap;

use jiff::tz::TimeZone;

use steps::Steps;

use fairtree::compat::Compat;
use fairtree::config::{Config, ResetPeriod, UsageModel};
use fairtree::usage::{Decay, next_reset};
use fairtree_model::input::workload::JobUse;

/// The most steps of a history.
pub const MAX_STEPS: i64 = 256;

/// The first length of a step.
const FIRST_STEP_SECS: i64 = 60;

/// A user of resources: account and user, each `None` where the log does not show it.
pub type Owner = (Option<String>, Option<String>);

/// Which use counts.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    /// Seconds; `None`: all use counts, as far as it has not decayed.
    window_secs: Option<u32>,
    /// Use before this moment does not count.
    since: Option<i64>,
}

impl From<UsageModel> for Counted {
    fn from(model: UsageModel) -> Counted {
        match model {
            UsageModel::HalfLife => Counted::default(),
            UsageModel::Window { length_secs } => Counted {
                window_secs: Some(length_secs),
                since: None,
            },
            UsageModel::Total { since } => Counted {
                window_secs: None,
                since: since
                    .to_zoned(TimeZone::UTC)
                    .ok()
                    .map(|at| at.timestamp().as_second()),
            },
        }
    }
}

/// The use of jobs in equal steps of time.
#[derive(Clone, Debug)]
pub struct OwnerHistory {
    half_life_secs: u32,
    reset: ResetPeriod,
    /// Of accounts that have no plan.
    usual: Counted,
    /// By account, in lower case.
    plans: HashMap<String, Counted>,
    /// Length of a step, seconds; step `k` reaches from `k` times this to `k + 1` times.
    step_secs: i64,
    /// First and last step.
    range: Option<(i64, i64)>,
    positions: HashMap<Owner, usize>,
    /// One for each owner.
    counted: Vec<Counted>,
    /// For each owner, by step, what was used in it as it counts at its end, TRES-seconds.
    used: Vec<Steps>,
    /// The last end of a job.
    last_end: i64,
    /// A job had billing: those that are counted by processors do not count.
    billed: bool,
}

impl OwnerHistory {
    /// Nothing yet. `half_life_secs` as [`Decay::new`] takes it; usage is cleared at the ends of
    /// `reset`, midnight in UTC.
    pub fn new(half_life_secs: u32, reset: ResetPeriod) -> OwnerHistory {
        OwnerHistory {
            half_life_secs,
            reset,
            usual: Counted::default(),
            plans: HashMap::new(),
            step_secs: FIRST_STEP_SECS,
            range: None,
            positions: HashMap::new(),
            counted: Vec::new(),
            used: Vec::new(),
            last_end: i64::MIN,
            billed: false,
        }
    }

    /// Nothing yet, of a site with this usage model: of a window what was used within it counts, of a
    /// total what was used since its date, at midnight in UTC as resets. Plans of accounts are
    /// [told](OwnerHistory::with_plans) apart.
    ///
    /// The far edge of a window that lies within a step takes its part of what was used in it.
    pub fn of(config: &Config) -> OwnerHistory {
        let reset = config.priority_usage_reset_period;
        let half_life_secs = match config.usage() {
            UsageModel::HalfLife => config.priority_decay_half_life_secs,
            UsageModel::Window { .. } | UsageModel::Total { .. } => 0,
        };
        OwnerHistory {
            usual: Counted::from(config.usage()),
            ..OwnerHistory::new(half_life_secs, reset)
        }
    }

    /// The same with accounts whose use, and that of their users, counts by a model of their own,
    /// none of them `half_life`. Case does not count in names. For jobs that come after this.
    pub fn with_plans(mut self, plans: impl Iterator<Item = (String, UsageModel)>) -> OwnerHistory {
        let plans = plans.map(|(account, model)| (account.to_lowercase(), Counted::from(model)));
        self.plans.extend(plans);
        self
    }

    /// Length of the window in seconds, of accounts without a plan; `None`: no window.
    pub const fn window_secs(&self) -> Option<u32> {
        self.usual.window_secs
    }

    /// Half-life in seconds, 0 for none.
    pub const fn half_life_secs(&self) -> u32 {
        self.half_life_secs
    }

    /// Length of a step in seconds.
    pub const fn step_secs(&self) -> i64 {
        self.step_secs
    }

    /// The ends of all steps, seconds since 1970, ascending.
    pub fn times(&self) -> Vec<i64> {
        let Some((first, last)) = self.range else {
            return Vec::new();
        };
        (first..=last)
            .map(|step| (step + 1) * self.step_secs)
            .collect()
    }

    fn decay(&self) -> Decay {
        Decay::new(self.half_life_secs, Compat::Documented)
    }

    /// The last moment in `from..=to`, `from` itself not, at which all usage is cleared.
    fn cleared(&self, from: i64, to: i64) -> Option<i64> {
        let next = |at| next_reset(self.reset, Compat::Documented, at, at, &TimeZone::UTC);
        let mut last = None;
        let mut at = from;
        while let Some(reset) = next(at).filter(|&reset| reset > at && reset <= to) {
            (last, at) = (Some(reset), reset);
        }
        last
    }

    /// Takes note that a record has billing: jobs that are counted by processors, for want of it,
    /// count nothing, whenever they come.
    pub fn bill(&mut self) {
        if !std::mem::replace(&mut self.billed, true) {
            self.step_secs = FIRST_STEP_SECS;
            self.range = None;
            self.positions.clear();
            self.counted.clear();
            self.used.clear();
            self.last_end = i64::MIN;
        }
    }

    /// Gathers what a job used. A job that ends as it starts, or counts nothing, changes nothing;
    /// nor does one that counts by processors where another has billing.
    pub fn charge(&mut self, job: &JobUse<'_>) {
        if !job.by_processors {
            self.bill();
        } else if self.billed {
            return;
        }
        if job.end <= job.start || job.billing.is_nan() || job.billing <= 0.0 {
            return;
        }
        self.last_end = self.last_end.max(job.end);
        self.reach(job.start, job.end);
        let owner = self.position(job);
        let decay = self.decay();
        for step in self.step_of(job.start)..=self.step_of(job.end - 1) {
            let (from, to) = (step * self.step_secs, (step + 1) * self.step_secs);
            let start = self
                .cleared(from, to)
                .map_or(from, |reset| reset)
                .max(job.start)
                .max(self.counted[owner].since.unwrap_or(job.start));
            if start >= job.end.min(to) {
                continue;
            }
            let weight = decay.weight(start, job.end.min(to), to);
            *self.used[owner].at(step) += weight * job.billing;
        }
    }

    fn position(&mut self, job: &JobUse<'_>) -> usize {
        let owner = (job.account.map(str::to_owned), job.user.map(str::to_owned));
        let next = self.used.len();
        let position = *self.positions.entry(owner).or_insert(next);
        if position == next {
            self.used.push(Steps::default());
            let account = job.account.map(str::to_lowercase);
            let plan = account.and_then(|account| self.plans.get(&account));
            self.counted.push(*plan.unwrap_or(&self.usual));
        }
        position
    }

    fn step_of(&self, time: i64) -> i64 {
        time.div_euclid(self.step_secs)
    }

    /// Makes steps long enough for jobs from `start` to `end`, too.
    fn reach(&mut self, start: i64, end: i64) {
        let range = loop {
            let (first, last) = (self.step_of(start), self.step_of(end - 1));
            let range = self
                .range
                .map_or((first, last), |(from, to)| (from.min(first), to.max(last)));
            if range.1 - range.0 < MAX_STEPS {
                break range;
            }
            self.double();
        };
        self.range = Some(range);
    }

    /// Joins every two steps to one.
    fn double(&mut self) {
        let short = self.step_secs;
        let left = self.decay().factor(short);
        let mut used = std::mem::take(&mut self.used);
        for steps in &mut used {
            let mut longer = Steps::default();
            for (step, amount) in steps.iter() {
                let end = (step + 1) * short;
                let kept = match step.rem_euclid(2) {
                    1 => amount,
                    _ if self.cleared(end, end + short).is_some() => 0.0,
                    _ => amount * left,
                };
                *longer.at(step.div_euclid(2)) += kept;
            }
            *steps = longer;
        }
        self.used = used;
        self.step_secs *= 2;
        self.range = (self.range).map(|(first, last)| (first.div_euclid(2), last.div_euclid(2)));
    }

    /// Walks through the steps: `each` gets the end of the step and what every owner's use counts
    /// then, by position; the owners' positions are those of [`OwnerHistory::owners`].
    fn walk(&self, mut each: impl FnMut(i64, &[f64])) {
        let Some((first, last)) = self.range else {
            return;
        };
        let left = self.decay().factor(self.step_secs);
        let mut now = vec![0.0; self.used.len()];
        // The first step that counts.
        let mut counts_from = first;
        for step in first..=last {
            let end = (step + 1) * self.step_secs;
            let kept = match self.cleared(end - self.step_secs, end) {
                Some(_) => {
                    counts_from = step;
                    0.0
                }
                None => left,
            };
            let owners = self.used.iter().zip(&self.counted);
            for (now, (used, counted)) in now.iter_mut().zip(owners) {
                let leaving = counted.window_secs.map_or(0.0, |window_secs| {
                    self.leaving(used, window_secs, step, counts_from)
                });
                *now = *now * kept + used.get(step) - leaving;
                // Parts of steps are rounded.
                *now = now.max(0.0);
            }
            each(end, &now);
        }
    }

    /// The part of the usage since step `counts_from` that leaves a window in a step.
    fn leaving(&self, used: &Steps, window_secs: u32, step: i64, counts_from: i64) -> f64 {
        // The window's far edge moves through the later part of one step and the earlier of the next.
        let edge = step * self.step_secs - i64::from(window_secs);
        let (oldest, within) = (
            edge.div_euclid(self.step_secs),
            edge.rem_euclid(self.step_secs),
        );
        let part = within as f64 / self.step_secs as f64;
        let of = |step: i64, part: f64| match step >= counts_from {
            true => used.get(step) * part,
            false => 0.0,
        };
        of(oldest, 1.0 - part) + of(oldest + 1, part)
    }

    /// Who used something, in the order of first use.
    fn owners(&self) -> Vec<&Owner> {
        let mut owners: Vec<(&Owner, usize)> = self
            .positions
            .iter()
            .map(|(owner, &at)| (owner, at))
            .collect();
        owners.sort_unstable_by_key(|&(_, at)| at);
        owners.into_iter().map(|(owner, _)| owner).collect()
    }

    /// Everything that counts at the end of the last step, by position.
    fn at_end(&self) -> Vec<f64> {
        let mut last = Vec::new();
        self.walk(|_, now| {
            last.clear();
            last.extend_from_slice(now);
        });
        last
    }
}

#[cfg(test)]
mod tests;
