//! Charges of jobs, and the records that receive them.

use std::rc::Rc;

use num_traits::Zero as _;

use super::faults::{Fault, Faults};
use super::memory::Memory;
use super::number::{Decay, Fraction, add, exact, product, whole};
use super::records::{Conf, ENERGY, Job, NO_CONSUME, NO_VAL, Qos, Records, flag};

/// The half-life that means "never".
const INFINITE_SECS: u32 = u32::MAX - 59;

/// Largest number of doublings of a charge before the next pass.
const MAX_DOUBLINGS: i64 = 512;

/// Decay of usage for a half-life; `None`: no decay.
pub fn decay(half_life: u32, faults: &Faults) -> Option<Decay> {
    let approximate = half_life != 0 && faults.has(Fault::HalfLife);
    let never = half_life == 0 || (half_life == INFINITE_SECS && !approximate);
    (!never).then_some(Decay {
        half_life_secs: half_life,
        approximate,
    })
}

/// The period of a charge.
#[derive(Clone, Copy)]
pub struct Period {
    pub last_ran: Option<i64>,
    pub now: i64,
    /// The time at which the usage in the records has its value.
    pub valued_at: i64,
    pub at_end: bool,
    pub half_life: u32,
}

/// The charge of one job.
struct Charge {
    /// Seconds times usage factor: decayed, and in full.
    wall: [Fraction; 2],
    /// The wall time, times billing.
    usage: [Fraction; 2],
    run_secs: u64,
}

/// The factor by which a job's QOS multiplies.
fn factor_of(records: &Records, job: &Job) -> f64 {
    let factor = records.qos.get(&job.qos).map_or(1.0, |qos| qos.factor);
    if factor >= 0.0 { factor } else { 1.0 }
}

/// Seconds times a factor, truncated as in slurmctld.
fn scaled(secs: u64, factor: f64) -> u64 {
    (secs as f64 * factor) as u64
}

fn seconds(from: i64, to: i64) -> u64 {
    u64::try_from(to - from).unwrap_or(0)
}

/// Decayed usage of one unit per second.
fn worth(period: &Period, from: i64, to: i64, faults: &Faults) -> Fraction {
    let secs = to - from;
    if secs <= 0 {
        return Fraction::zero();
    }
    let Some(decay) = decay(period.half_life, faults) else {
        return whole(secs);
    };
    if faults.has(Fault::DecayAtStart) {
        return whole(secs) * decay.factor(secs);
    }
    // Back to the time at which the records have their values, within bounds.
    let back = (to - period.valued_at).min(MAX_DOUBLINGS * i64::from(period.half_life));
    decay.integral(from, to, to) * decay.factor(-back)
}

/// The last pass that charged a run. If the clock is behind the last pass, that pass did not charge
/// runs that began since then.
fn passed(memory: &Memory, faults: &Faults, job: &Job, period: &Period) -> Option<i64> {
    let last_ran = period.last_ran?;
    let behind = memory.behind || period.now < last_ran;
    if !behind || job.start >= last_ran || memory.knows(job) || faults.has(Fault::ClockBack) {
        return Some(last_ran);
    }
    let charged = memory.later.get(&(job.id, job.start));
    Some(charged.copied().unwrap_or(job.start))
}

/// Time up to which a run was charged after the last pass.
fn charged_until(conf: &Conf, memory: &Memory, job: &Job) -> Option<i64> {
    let remembered = memory
        .recent
        .get(&(job.id, job.start))
        .map(|(until, _)| *until);
    let recorded =
        (conf.limits && !job.is_resizing() && job.resized > job.start).then_some(job.resized);
    remembered.max(recorded)
}

fn charge_of(
    records: &Records,
    memory: &Memory,
    faults: &Faults,
    job: &Job,
    period: &Period,
) -> Option<Charge> {
    let end_time_exp = job.end_time_exp?;
    if job.start <= 0 {
        return None;
    }
    let mut to = period.now;
    // While a job is resized, this is the time at which it should end.
    let is_end = || !job.is_resizing() || faults.has(Fault::ResizeByLimit);
    if period.at_end && job.end != 0 && job.end < to && is_end() {
        to = job.end;
    }
    let last_ran = passed(memory, faults, job, period);
    let passed = last_ran.unwrap_or(0).max(job.start);
    let until = charged_until(&records.conf, memory, job);
    // A resize charges the time before it, and adds all run-seconds again.
    let resized = until.is_some_and(|until| until > passed);
    let renewed = until.is_some_and(|until| last_ran.is_none_or(|ran| until >= ran));
    let twice = (resized || renewed) && faults.has(Fault::ResizeTwice);
    let from = if twice {
        passed
    } else {
        until.unwrap_or(passed).max(passed)
    };
    let factor = factor_of(records, job);
    let run_secs = if faults.has(Fault::RunSecondsDrift) {
        scaled(stock_run_secs(job, passed, to, end_time_exp), factor)
    } else {
        let taken = if renewed && !twice {
            0
        } else {
            used_until(job, passed, factor)
        };
        let ends = period.at_end || job.is_finished() || job.is_completing() || job.is_resizing();
        let due = if ends {
            scaled(limit_secs(job), factor)
        } else {
            used_until(job, to, factor)
        };
        due.saturating_sub(taken)
    };
    let multiplied = exact(factor);
    let wall = [worth(period, from, to, faults), whole(seconds(from, to))];
    let wall = wall.map(|secs| product(&secs, &multiplied));
    let billing = exact(billing(job, passed));
    Some(Charge {
        usage: wall.clone().map(|secs| product(&secs, &billing)),
        wall,
        run_secs,
    })
}

/// The time limit in seconds; unset and unlimited are the two largest numbers of minutes.
fn limit_secs(job: &Job) -> u64 {
    u64::from(job.limit) * 60
}

/// Used run-seconds of a job up to a moment, truncated like those added at its start.
fn used_until(job: &Job, until: i64, factor: f64) -> u64 {
    scaled(seconds(job.start, until).min(limit_secs(job)), factor)
}

fn stock_run_secs(job: &Job, from: i64, to: i64, end_time_exp: i64) -> u64 {
    let left = limit_secs(job).saturating_sub(seconds(job.start, from));
    if left == 0 || job.is_finished() || job.is_completing() || job.is_resizing() {
        left
    } else if to > end_time_exp {
        // The difference is a C int.
        let left = i32::try_from(end_time_exp - from).unwrap_or(0);
        u64::try_from(left).unwrap_or(0)
    } else {
        seconds(from, to)
    }
}

/// Returns true if a job's billing must be recomputed for a charge from `from` on.
fn recounts(job: &Job, from: i64) -> bool {
    job.alloc.is_some() && (job.billing.is_none() || job.resized >= from)
}

fn billing(job: &Job, from: i64) -> f64 {
    match job.billing {
        _ if job.alloc.is_none() => 0.0,
        Some(known) if !recounts(job, from) => known,
        _ => job.fresh_billing,
    }
}

/// Charges a job; returns false if its end was charged before.
pub fn charge(
    records: &mut Records,
    memory: &Memory,
    faults: &Faults,
    id: u32,
    period: &Period,
) -> bool {
    let Some(job) = records.jobs.get(&id).cloned() else {
        return false;
    };
    let Some(found) = charge_of(records, memory, faults, &job, period) else {
        return false;
    };
    let passed = passed(memory, faults, &job, period);
    let passed = passed.unwrap_or(0).max(job.start);
    let fresh = recounts(&job, passed).then_some(job.fresh_billing);
    if let Some(record) = records.jobs.get_mut(&id) {
        if fresh.is_some() || period.at_end {
            let record = Rc::make_mut(record);
            record.billing = fresh.or(record.billing);
            if period.at_end {
                record.end_time_exp = None;
            }
        }
    }
    book(records, &job, &found);
    true
}

/// Adds a charge to QOS and associations.
fn book(records: &mut Records, job: &Job, found: &Charge) {
    let limits = records.conf.limits;
    let part_qos = records.part(&job.part).map_or(0, |part| part.qos);
    let mut qos = vec![job.qos];
    if part_qos != job.qos {
        qos.push(part_qos);
    }
    let shares = used_by(records, job);
    for id in qos {
        let Some(record) = records.qos.get_mut(&id) else {
            continue;
        };
        let record = Rc::make_mut(record);
        let how = usize::from(record.no_decay);
        add(&mut record.usage.raw, &found.usage[how]);
        add(&mut record.usage.wall, &found.wall[how]);
        if limits {
            let tres = &mut record.usage.tres;
            book_tres(
                job,
                &found.wall[how],
                found.run_secs,
                tres,
                &mut record.run_secs,
            );
            take_used(job, &shares, record, &|count| {
                found.run_secs.wrapping_mul(count)
            });
        }
    }
    for id in records.line_up(job.assoc) {
        let Some(record) = records.assocs.get_mut(&id) else {
            continue;
        };
        let record = Rc::make_mut(record);
        add(&mut record.usage.raw, &found.usage[0]);
        add(&mut record.usage.wall, &found.wall[0]);
        if limits {
            let tres = &mut record.usage.tres;
            book_tres(
                job,
                &found.wall[0],
                found.run_secs,
                tres,
                &mut record.run_secs,
            );
        }
    }
}

fn book_tres(job: &Job, wall: &Fraction, secs: u64, usage: &mut [Fraction], run_secs: &mut [u64]) {
    for (at, count) in counted(job) {
        add(&mut usage[at], &product(wall, &whole(count)));
        run_secs[at] = run_secs[at].saturating_sub(secs.wrapping_mul(count));
    }
}

/// Keys of separate run-seconds in a QOS: the job's account and user.
fn used_by(records: &Records, job: &Job) -> Vec<String> {
    let assoc = records.assocs.get(&job.assoc);
    let names = assoc.map(|assoc| [format!("acct_{}", assoc.acct), format!("user_{}", job.user)]);
    names.into_iter().flatten().collect()
}

fn take_counts(job: &Job, run_secs: &mut [u64], per_count: &dyn Fn(u64) -> u64) {
    for (at, count) in counted(job) {
        run_secs[at] = run_secs[at].saturating_sub(per_count(count));
    }
}

fn take_used(job: &Job, whose: &[String], qos: &mut Qos, per_count: &dyn Fn(u64) -> u64) {
    for name in whose {
        if let Some(used) = qos.used.get_mut(name) {
            take_counts(job, used, per_count);
        }
    }
}

/// Positions and counts of the TRES that a job is charged for.
fn counted(job: &Job) -> impl Iterator<Item = (usize, u64)> {
    let counts = job.alloc.iter().flatten().copied().enumerate();
    counts.filter(|(at, count)| *at != ENERGY && *count != 0 && *count != NO_CONSUME)
}

/// Subtracts from the run-seconds what jobs had used at the last pass: slurmctld has just added the
/// whole time limit of every job.
pub fn take_consumed(records: &mut Records, memory: &Memory, faults: &Faults) {
    if !records.conf.limits {
        return;
    }
    let jobs: Vec<Rc<Job>> = records.jobs.values().cloned().collect();
    for job in jobs {
        let factor = factor_of(records, &job);
        let stock = faults.has(Fault::StartupSubtraction);
        let period = Period {
            last_ran: memory.last_ran,
            now: records.now,
            valued_at: records.now,
            at_end: false,
            half_life: records.conf.half_life,
        };
        let last_ran = passed(memory, faults, &job, &period);
        let secs = last_ran.unwrap_or(0) - job.start;
        let counts = if stock {
            // Newer releases look up the account in the QOS.
            job.is_running() && secs >= 0 && (job.assoc != 0 || !records.conf.starts_anew)
        } else {
            let counted = job.is_running() || job.is_suspended();
            counted && last_ran.is_some() && job.start > 0 && job.assoc != 0
        };
        if !counts || job.end_time_exp.is_none() {
            continue;
        }
        let used = used_until(&job, last_ran.unwrap_or(0), factor);
        let per_count = |count: u64| {
            if stock {
                (count as f64 * (factor * secs as f64)) as u64
            } else {
                used.wrapping_mul(count)
            }
        };
        take(records, &job, &per_count);
    }
}

fn take(records: &mut Records, job: &Job, per_count: &dyn Fn(u64) -> u64) {
    let part_qos = records.part(&job.part).map_or(0, |part| part.qos);
    let mut qos = vec![job.qos];
    if part_qos != job.qos {
        qos.push(part_qos);
    }
    let shares = used_by(records, job);
    let from = |run_secs: &mut [u64]| take_counts(job, run_secs, per_count);
    for id in qos {
        if let Some(record) = records.qos.get_mut(&id) {
            let record = Rc::make_mut(record);
            from(&mut record.run_secs);
            take_used(job, &shares, record, per_count);
        }
    }
    for id in records.line_up(job.assoc) {
        if let Some(record) = records.assocs.get_mut(&id) {
            from(&mut Rc::make_mut(record).run_secs);
        }
    }
}

/// Returns true if a pass charges a job that has not ended.
pub fn accrues(conf: &Conf, faults: &Faults, job: &Job) -> bool {
    if job.is_finished() || job.is_completing() || job.start == 0 || job.assoc == 0 {
        return false;
    }
    // For a pending job, `start` is the start that backfill has planned.
    !job.is_pending() || (conf.has(flag::CALCULATE_RUNNING) && faults.has(Fault::PendingWall))
}

/// Returns true if a pass must find the end of a job itself, because slurmctld does not report it
/// without limits.
pub fn ended_unreported(conf: &Conf, job: &Job) -> bool {
    let ended = job.is_finished() || job.is_completing();
    !conf.limits && ended && job.end_time_exp.is_some() && job.start != 0 && job.assoc != 0
}

/// `NO_VAL` as a number in the records.
pub fn no_val() -> Fraction {
    whole(NO_VAL)
}
