//! Use as a file gives it, and how much of it a usage model counts.

use jiff::tz::TimeZone;

use fairtree::config::{Config, ConfigError, UsageModel, ValueError};
use fairtree::extended::Extended;
use fairtree::tree::{AssocIndex, Tree};
use fairtree::usage::{Decay, RawUsage, UsageError, next_reset};

/// Use as a file gives it, so that it can be counted again by another policy.
#[derive(Clone, Debug, Default)]
pub struct Uses {
    /// Moment of the amounts, seconds since 1970; `None` without times.
    pub(super) usage_time: Option<i64>,
    /// The moment of the report, seconds since 1970; `None` without times: then all amounts count whole.
    pub(super) now: Option<i64>,
    /// Rows with what they used up to `usage_time`, TRES-seconds.
    pub(super) amounts: Vec<(usize, f64)>,
    pub(super) intervals: Vec<Interval>,
}

/// Use from one moment to another, seconds since 1970, the latter not before the former.
#[derive(Clone, Copy, Debug)]
pub(super) struct Interval {
    /// Position of the association.
    pub(super) row: usize,
    /// Billing TRES in use, from 0 up.
    pub(super) billing: f64,
    pub(super) start: i64,
    pub(super) end: i64,
}

impl Uses {
    /// No use, at this moment, seconds since 1970.
    pub(in crate::input) fn at(now: Option<i64>) -> Uses {
        Uses {
            now,
            ..Uses::default()
        }
    }

    /// Usage that counts now, with the settings' half-life and resets; `models`: by row.
    ///
    /// # Errors
    /// Amounts whose sum is not finite.
    ///
    /// # Panics
    /// Fewer models than rows with use.
    pub fn raw_usage(
        &self,
        config: &Config,
        models: &[UsageModel],
        tree: &Tree,
    ) -> Result<RawUsage, UsageError> {
        let clock = Clock::new(self, config);
        if let Some(raw_usage) = self.by_decimals(&clock, models, tree) {
            return Ok(raw_usage);
        }
        let mut own = vec![0.0; tree.len()];
        for &(row, amount) in &self.amounts {
            own[row] += clock.aged(amount, models[row]);
        }
        for interval in &self.intervals {
            own[interval.row] += clock.used(interval, models[interval.row]);
        }
        let mut raw_usage = RawUsage::new(tree);
        for (at, own) in own.iter().enumerate().filter(|(_, own)| **own > 0.0) {
            raw_usage.charge(tree, AssocIndex::new(at), *own)?;
        }
        Ok(raw_usage)
    }

    /// The sums of decimal amounts, exact before they become binary: 0.9 + 0.6 is 0.1 + 1.4, as the
    /// file says. `None` where amounts decay by different factors, and for sums of more than 64 bits.
    fn by_decimals(&self, clock: &Clock, models: &[UsageModel], tree: &Tree) -> Option<RawUsage> {
        let mut amounts = self.amounts.iter();
        let first = amounts.next().filter(|_| self.intervals.is_empty())?.0;
        let factor = clock.aged(1.0, models[first]);
        if !amounts.all(|&(row, _)| clock.aged(1.0, models[row]) == factor) {
            return None;
        }
        let texts: Vec<(usize, String)> = self
            .amounts
            .iter()
            .map(|&(row, amount)| (row, amount.to_string()))
            .collect();
        let decimals = |text: &String| text.split_once('.').map_or(0, |(_, digits)| digits.len());
        let most = texts.iter().map(|(_, text)| decimals(text)).max()?;
        let unit = 10_u64.checked_pow(u32::try_from(most).ok()?)?;
        let mut units = vec![0_u64; tree.len()];
        for (row, text) in &texts {
            let zeros = "0".repeat(most - decimals(text));
            let digits = text.replacen('.', "", 1) + &zeros;
            units[*row] = units[*row].checked_add(digits.parse().ok()?)?;
        }
        let own = units.clone();
        for &index in tree.parents_first().iter().rev() {
            if let Some(parent) = tree.parent(index) {
                units[parent.get()] = units[parent.get()].checked_add(units[index.get()])?;
            }
        }
        let factor = Extended::from_f64(factor)?;
        let number = |units: u64| Extended::from_u64(units) / Extended::from_u64(unit) * factor;
        let [own, raw] = [own, units].map(|units| units.into_iter().map(number).collect());
        RawUsage::from_own_and_raw(tree, own, raw).ok()
    }

    /// Returns true if it is known when all of this was used: by intervals alone.
    pub fn has_times(&self) -> bool {
        self.now.is_some() && self.amounts.iter().all(|(_, amount)| *amount == 0.0)
    }

    /// The moment of the report, seconds since 1970; `None` without times.
    pub fn now(&self) -> Option<i64> {
        self.now
    }

    /// Associations with billing TRES that they used, and from when to when, seconds since 1970.
    pub fn intervals(&self) -> impl Iterator<Item = (AssocIndex, f64, i64, i64)> {
        let intervals = self.intervals.iter();
        intervals.map(|each| {
            (
                AssocIndex::new(each.row),
                each.billing,
                each.start,
                each.end,
            )
        })
    }

    /// Lets `secs` pass, in which associations use so many billing TRES for so many seconds from the
    /// beginning. Nothing happens without times.
    pub fn pass(&mut self, secs: i64, running: impl IntoIterator<Item = (AssocIndex, f64, i64)>) {
        let Some(now) = self.now else { return };
        let used = running.into_iter().map(|(index, billing, secs)| Interval {
            row: index.get(),
            billing,
            start: now,
            end: now.saturating_add(secs),
        });
        self.intervals.extend(used);
        self.now = Some(now.saturating_add(secs));
    }

    /// Adds usage of an association: of this moment, where there are times.
    pub fn charge(&mut self, index: AssocIndex, usage: f64) {
        let row = index.get();
        match self.now {
            None => self.amounts.push((row, usage)),
            Some(now) => self.intervals.push(Interval {
                row,
                billing: usage,
                start: now - 1,
                end: now,
            }),
        }
    }

    /// Forgets the use of associations, `true` by position.
    pub fn forget(&mut self, of: &[bool]) {
        self.amounts.retain(|(row, _)| !of[*row]);
        self.intervals.retain(|each| !of[each.row]);
    }

    /// Follows the removal of an association below another, which takes over its use. Positions
    /// above it move down.
    pub fn remove(&mut self, index: AssocIndex, parent: AssocIndex) {
        let (at, parent) = (index.get(), parent.get());
        let rows = self.amounts.iter_mut().map(|(row, _)| row);
        for row in rows.chain(self.intervals.iter_mut().map(|each| &mut each.row)) {
            if *row == at {
                *row = parent;
            }
            *row -= usize::from(*row > at);
        }
    }

    /// As [`Uses::raw_usage`], under settings that the file does not have.
    ///
    /// # Errors
    /// Amounts whose sum is not finite.
    ///
    /// # Panics
    /// Fewer models than rows with use.
    pub fn counted(
        &self,
        config: &Config,
        models: &[UsageModel],
        tree: &Tree,
    ) -> Result<RawUsage, ConfigError> {
        let raw_usage = self.raw_usage(config, models, tree);
        raw_usage.map_err(|_| {
            let error =
                ValueError::new(config.usage().to_string(), "usage models with finite sums");
            error.of("PriorityParameters usage")
        })
    }
}

/// Effect of time on usage.
struct Clock {
    half_life: Decay,
    usage_time: Option<i64>,
    now: Option<i64>,
    /// Time at which usage was last cleared.
    cleared: Option<i64>,
}

impl Clock {
    fn new(uses: &Uses, config: &Config) -> Clock {
        let starts = uses.intervals.iter().map(|interval| interval.start);
        let first = starts.chain(uses.usage_time).min();
        let cleared = first
            .zip(uses.now)
            .and_then(|(first, now)| last_reset(config, first, now));
        Clock {
            half_life: Decay::new(config.priority_decay_half_life_secs, config.compat),
            usage_time: uses.usage_time,
            now: uses.now,
            cleared,
        }
    }

    /// From when on use counts; `None`: whenever it was.
    fn since(&self, model: UsageModel) -> Option<i64> {
        self.cleared
            .max(self.now.and_then(|now| counts_from(model, now)))
    }

    fn decay(&self, model: UsageModel) -> Decay {
        match model {
            UsageModel::HalfLife => self.half_life,
            UsageModel::Window { .. } | UsageModel::Total { .. } => {
                Decay::new(0, self.half_life.compat())
            }
        }
    }

    /// Remaining part, at this moment, of usage that is given without times.
    fn aged(&self, usage: f64, model: UsageModel) -> f64 {
        let (Some(before), Some(now)) = (self.usage_time, self.now) else {
            return usage;
        };
        match self.since(model) {
            Some(since) if since > before => 0.0,
            _ => usage * self.decay(model).factor(now - before),
        }
    }

    /// Usage of an interval that counts now, TRES-seconds; 0 if none of it is in the window or
    /// after the date.
    fn used(&self, interval: &Interval, model: UsageModel) -> f64 {
        let Interval { start, end, .. } = *interval;
        let start = self.since(model).map_or(start, |since| start.max(since));
        let Some(now) = self.now.filter(|_| start < end) else {
            return 0.0;
        };
        let decay = self.decay(model);
        interval.billing * decay.weight(start, end, end) * decay.factor(now - end)
    }
}

/// From when on use counts, by a usage model, seconds since 1970; `None`: whenever it was. Dates are UTC.
fn counts_from(model: UsageModel, now: i64) -> Option<i64> {
    match model {
        UsageModel::HalfLife => None,
        UsageModel::Window { length_secs } => Some(now.saturating_sub_unsigned(length_secs.into())),
        UsageModel::Total { since } => {
            let at = since.to_zoned(TimeZone::UTC).ok()?;
            Some(at.timestamp().as_second())
        }
    }
}

/// The last boundary of `PriorityUsageResetPeriod` after `first`, up to `now`.
fn last_reset(config: &Config, first: i64, now: i64) -> Option<i64> {
    let mut last = None;
    let mut at = first;
    while let Some(next) = next_reset(
        config.priority_usage_reset_period,
        config.compat,
        at,
        at,
        &TimeZone::UTC,
    ) {
        if next <= at || next > now {
            break;
        }
        (last, at) = (Some(next), next);
    }
    last
}
