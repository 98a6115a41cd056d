//! When `PriorityUsageResetPeriod` clears all usage.
//!
//! | | documented | `compat=slurm` (`_next_reset`, 22.05 to 26.05) |
//! |---|---|---|
//! | a day | from midnight to midnight, however many hours | 86,400 s from a midnight: at 01:00 of the day after clocks went forward; at 23:00 of the day that clocks go back, and then in every pass for a day, as that day's midnight plus 86,400 s stays past |
//! | a week | from Sunday's midnight | Sunday's midnight of the last reset's week, in seconds |
//! | several months, quarters or years missed | one reset | one reset per pass until none is missed |
//! | `NOW` | once at start | once at start, and after each reconfigure hook (see [`ResetSchedule::arm`]) |
//!
//! Times are seconds since 1970; midnight is that of the time zone given. A midnight that the
//! change of clocks skips is the first moment of its day; of one that comes twice the first
//! counts. Source: slurm.conf(5), `PriorityUsageResetPeriod`.

use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan};

use super::quirks::Quirks;
use crate::compat::Compat;
use crate::config::ResetPeriod;

const DAY_SECS: i64 = 86_400;
const WEEK_SECS: i64 = 7 * DAY_SECS;

/// When usage was cleared last, and when it is due again.
///
/// ```
/// use fairtree::compat::Compat;
/// use fairtree::config::ResetPeriod;
/// use fairtree::usage::ResetSchedule;
/// use jiff::tz::TimeZone;
/// let noon = 43_200;
/// let mut resets = ResetSchedule::new(ResetPeriod::Daily, Compat::Documented, noon);
/// assert!(!resets.take_due(noon + 3_600, &TimeZone::UTC));
/// assert!(resets.take_due(86_400, &TimeZone::UTC));
/// assert!(!resets.take_due(86_401, &TimeZone::UTC));
/// assert_eq!(resets.last_reset(), 86_400);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResetSchedule {
    period: ResetPeriod,
    compat: Compat,
    last_reset: i64,
    armed: bool,
    /// Slurm keeps the next time; it depends on when it was computed.
    next: Option<i64>,
}

impl ResetSchedule {
    /// A schedule that starts now; `last_reset` as saved before, or now.
    pub fn new(period: ResetPeriod, compat: Compat, last_reset: i64) -> ResetSchedule {
        ResetSchedule {
            period,
            compat,
            last_reset,
            armed: true,
            next: None,
        }
    }

    /// When usage was cleared last: what to save.
    pub fn last_reset(&self) -> i64 {
        self.last_reset
    }

    /// Whether these are its settings.
    pub fn is_for(&self, period: ResetPeriod, compat: Compat) -> bool {
        (self.period, self.compat) == (period, compat)
    }

    /// Other settings, as after a reconfigure. A `NOW` that was done stays done.
    pub fn set_period(&mut self, period: ResetPeriod, compat: Compat) {
        self.period = period;
        self.compat = compat;
        self.next = None;
    }

    /// Makes `NOW` due once more. The manual page lets it act "at startup and reconfiguration
    /// time"; the stock plugin also acts when only debug flags or the dampening factor change.
    pub fn arm(&mut self) {
        self.armed = true;
    }

    /// True when all usage is to be cleared at `now`; notes that this was done.
    ///
    /// A clock that steps back makes nothing due. Times beyond the years ±9999 are never due.
    pub fn take_due(&mut self, now: i64, zone: &TimeZone) -> bool {
        match self.period {
            ResetPeriod::None => false,
            ResetPeriod::Now => {
                let due = std::mem::replace(&mut self.armed, false);
                if due {
                    self.last_reset = now;
                }
                due
            }
            _ if Quirks::of(self.compat).resets_by_seconds => self.take_due_slurm(now, zone),
            _ => match period_start(self.period, now, zone) {
                Some(start) if start > self.last_reset => {
                    self.last_reset = start;
                    true
                }
                _ => false,
            },
        }
    }

    fn take_due_slurm(&mut self, now: i64, zone: &TimeZone) -> bool {
        let next = self
            .next
            .or_else(|| next_reset(self.period, self.compat, self.last_reset, now, zone));
        self.next = next;
        match next {
            Some(next) if now >= next => {
                self.last_reset = next;
                self.next = next_reset(self.period, self.compat, next, now, zone);
                true
            }
            _ => false,
        }
    }
}

/// When usage is cleared next, computed at `now`; `None` for `NONE`, `NOW` and times that no
/// calendar holds.
///
/// Documented: the first boundary after `last_reset` if that one is still to come, else the
/// first after `now`; so always after `now` unless a reset is overdue, which
/// [`ResetSchedule::take_due`] tells. Slurm: counted from `last_reset`, and possibly past.
pub fn next_reset(
    period: ResetPeriod,
    compat: Compat,
    last_reset: i64,
    now: i64,
    zone: &TimeZone,
) -> Option<i64> {
    if Quirks::of(compat).resets_by_seconds {
        return slurm_next_reset(period, last_reset, now, zone);
    }
    let first = period_end(period, last_reset, zone)?;
    if first > now {
        Some(first)
    } else {
        period_end(period, now, zone)
    }
}

/// The date of `time`, `None` outside the calendar.
fn date_of(time: i64, zone: &TimeZone) -> Option<Date> {
    let timestamp = Timestamp::from_second(time).ok()?;
    Some(timestamp.to_zoned(zone.clone()).date())
}

/// The first moment of `date`.
fn midnight(date: Date, zone: &TimeZone) -> Option<i64> {
    let start = date.to_zoned(zone.clone()).ok()?.start_of_day().ok()?;
    Some(start.timestamp().as_second())
}

/// First day of the period that `date` lies in.
fn first_day(period: ResetPeriod, date: Date) -> Option<Date> {
    match period {
        ResetPeriod::None | ResetPeriod::Now => None,
        ResetPeriod::Daily => Some(date),
        ResetPeriod::Weekly => date
            .checked_sub(i64::from(date.weekday().since(Weekday::Sunday)).days())
            .ok(),
        ResetPeriod::Monthly => Some(date.first_of_month()),
        ResetPeriod::Quarterly => Date::new(date.year(), (date.month() - 1) / 3 * 3 + 1, 1).ok(),
        ResetPeriod::Yearly => Some(date.first_of_year()),
    }
}

/// First day of the period after the one that starts at `first`.
fn next_first_day(period: ResetPeriod, first: Date) -> Option<Date> {
    let step = match period {
        ResetPeriod::None | ResetPeriod::Now => return None,
        ResetPeriod::Daily => 1.day(),
        ResetPeriod::Weekly => 1.week(),
        ResetPeriod::Monthly => 1.month(),
        ResetPeriod::Quarterly => 3.months(),
        ResetPeriod::Yearly => 1.year(),
    };
    first.checked_add(step).ok()
}

/// Start of the period that `time` lies in.
fn period_start(period: ResetPeriod, time: i64, zone: &TimeZone) -> Option<i64> {
    midnight(first_day(period, date_of(time, zone)?)?, zone)
}

/// End of the period that `time` lies in, which is after `time`.
fn period_end(period: ResetPeriod, time: i64, zone: &TimeZone) -> Option<i64> {
    let first = first_day(period, date_of(time, zone)?)?;
    midnight(next_first_day(period, first)?, zone)
}

fn slurm_next_reset(
    period: ResetPeriod,
    last_reset: i64,
    now: i64,
    zone: &TimeZone,
) -> Option<i64> {
    let date = date_of(last_reset, zone)?;
    let (first, step) = match period {
        ResetPeriod::Daily => (midnight(date, zone)?.checked_add(DAY_SECS)?, DAY_SECS),
        ResetPeriod::Weekly => {
            let days = 7 - i64::from(date.weekday().since(Weekday::Sunday));
            (
                midnight(date, zone)?.checked_add(days * DAY_SECS)?,
                WEEK_SECS,
            )
        }
        _ => return period_end(period, last_reset, zone),
    };
    // Whole steps as long as one more stays before now.
    let behind = now.saturating_sub(first).saturating_sub(1).max(0) / step;
    Some(first + behind * step)
}

#[cfg(test)]
mod tests;
