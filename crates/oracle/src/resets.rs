//! Times at which usage is cleared.

use anyhow::{Context as _, Result};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

use super::faults::{Fault, Faults};
use super::memory::Memory;
use super::records::Records;

const NONE: u32 = 0;
const NOW: u32 = 1;
const DAY: i64 = 86_400;

/// Returns true if a pass clears all usage, and records it.
pub fn take_due(records: &Records, memory: &mut Memory, faults: &Faults) -> Result<bool> {
    let period = records.conf.reset_period;
    match period {
        NONE => Ok(false),
        NOW => {
            let again = memory.rearmed && faults.has(Fault::ResetNowRearmed);
            let due = memory.armed || again;
            memory.armed = false;
            memory.rearmed = false;
            if due {
                memory.last_reset = records.now;
            }
            Ok(due)
        }
        _ => calendar(records, memory, faults),
    }
}

fn calendar(records: &Records, memory: &mut Memory, faults: &Faults) -> Result<bool> {
    let (now, period) = (records.now, records.conf.reset_period);
    let zone = TimeZone::get(&records.conf.zone).context("TZ")?;
    let next = match memory.next_reset {
        Some(next) => next,
        None => stock_next(period, memory.last_reset, now, &zone)?,
    };
    memory.next_reset = Some(next);
    let start = first_moment(period_start(period, at(now, &zone)?), &zone)?;
    if faults.has(Fault::ResetTime) {
        if now < next {
            return Ok(false);
        }
        memory.last_reset = next;
    } else {
        if start <= memory.last_reset {
            return Ok(false);
        }
        memory.last_reset = start;
    }
    memory.next_reset = Some(stock_next(period, memory.last_reset, now, &zone)?);
    Ok(true)
}

fn at(time: i64, zone: &TimeZone) -> Result<Zoned> {
    Ok(Timestamp::from_second(time)?.to_zoned(zone.clone()))
}

fn first_moment(date: Date, zone: &TimeZone) -> Result<i64> {
    let midnight = date.to_zoned(zone.clone())?.start_of_day()?;
    Ok(midnight.timestamp().as_second())
}

/// The first day of the period that contains a moment: "every day at midnight", "every Sunday at
/// time 00:00", "on the first day of each month", "quarter", "year".
fn period_start(period: u32, time: Zoned) -> Date {
    let date = time.date();
    match period {
        2 => date,
        3 => date.saturating_sub(i64::from(date.weekday().to_sunday_zero_offset()).days()),
        4 => date.first_of_month(),
        5 => {
            let quarter = date.first_of_month();
            quarter.saturating_sub(i64::from((date.month() - 1) % 3).months())
        }
        _ => date.first_of_year(),
    }
}

/// Stock's next reset: days and weeks of 86,400 s from midnight of the last reset, repeated until
/// it is at least one step ahead of now; months, quarters and years by the calendar.
fn stock_next(period: u32, last: i64, now: i64, zone: &TimeZone) -> Result<i64> {
    let day = at(last, zone)?;
    let midnight = first_moment(day.date(), zone)?;
    let (mut next, step) = match period {
        2 => (midnight + DAY, DAY),
        3 => {
            let passed = i64::from(day.weekday().to_sunday_zero_offset());
            (midnight + (7 - passed) * DAY, 7 * DAY)
        }
        _ => {
            let months = match period {
                4 => 1,
                5 => 3,
                _ => 12,
            };
            let first = period_start(period, day);
            return first_moment(first.saturating_add(months.months()), zone);
        }
    };
    while next + step < now {
        next += step;
    }
    Ok(next)
}
