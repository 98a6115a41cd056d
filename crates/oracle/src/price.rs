//! Expected priority of a job: priority_multifactor.html in exact fractions.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_traits::{One as _, Signed as _, ToPrimitive as _, Zero as _};

use super::faults::{Fault, Faults};
use super::number::{Fraction, add, exact, product, rounded, whole};
use super::records::{Conf, Job, NICE_OFFSET, NO_CONSUME, NO_VAL, Part, Qos, Records, Terms, flag};

/// Bounds of an integer: rounding decides if the exact sum is close to a whole number.
pub type Bounds = (u32, u32);

/// A priced job: terms, and bounds of its priority and of those per partition and QOS.
pub struct Priced {
    pub terms: Terms,
    pub priority: Bounds,
    pub array: Vec<Bounds>,
}

/// Allowed difference of a sum of doubles from the exact sum, relative to the sum of sizes.
const ROUNDING: f64 = 1e-12;

/// Bits of a term: far more than in a double, and few enough for fast additions.
const BITS: u64 = 128;

/// Prices a job whose fair-share factor is given.
pub fn price(
    records: &Records,
    faults: &Faults,
    job: &Job,
    fs_factor: &Fraction,
    ageless: bool,
) -> Priced {
    let conf = &*records.conf;
    let part = records.part(&job.part);
    let qos = records.qos.get(&job.qos);
    let terms = Terms {
        age: weighted(if ageless { 0 } else { conf.weight_age }, || {
            age(records, job)
        }),
        assoc: weighted(conf.weight_assoc, || assoc(records, job)),
        fs: weighted(conf.weight_fs, || fs_factor.clone()),
        js: weighted(conf.weight_js, || size(conf, faults, job, part)),
        part: weighted(conf.weight_part, || of_part(conf, part)),
        qos: weighted(conf.weight_qos, || of_qos(conf, qos.map(Rc::as_ref))),
        site: job.site,
        nice: job.nice,
        tres: tres(conf, job, part),
    };
    Priced {
        priority: bounds(&terms),
        array: array(records, faults, job, &terms),
        terms,
    }
}

pub(super) fn weighted(weight: u32, factor: impl FnOnce() -> Fraction) -> Fraction {
    if weight == 0 {
        Fraction::zero()
    } else {
        rounded(&product(&whole(weight), &factor()), BITS)
    }
}

/// Time since the job began to age, over PriorityMaxAge, at most 1.
fn age(records: &Records, job: &Job) -> Fraction {
    if job.accrue_time == 0 {
        return Fraction::zero();
    }
    let waited = (records.now - job.accrue_time).max(0);
    let max_age = i64::from(records.conf.max_age);
    if waited < max_age {
        whole(waited) / whole(max_age)
    } else {
        Fraction::one()
    }
}

fn assoc(records: &Records, job: &Job) -> Fraction {
    match records.assocs.get(&job.assoc) {
        None => Fraction::zero(),
        Some(assoc) if records.conf.has(flag::NO_NORMAL_ASSOC) => whole(assoc.priority),
        Some(assoc) => exact(assoc.priority_norm),
    }
}

pub(super) fn of_part(conf: &Conf, part: Option<&Part>) -> Fraction {
    match part {
        None => Fraction::zero(),
        Some(part) if conf.has(flag::NO_NORMAL_PART) => whole(part.factor),
        Some(part) => exact(part.norm),
    }
}

pub(super) fn of_qos(conf: &Conf, qos: Option<&Qos>) -> Fraction {
    match qos {
        Some(qos) if qos.priority != 0 && conf.has(flag::NO_NORMAL_QOS) => whole(qos.priority),
        Some(qos) if qos.priority != 0 => exact(qos.norm_priority),
        _ => Fraction::zero(),
    }
}

/// The job's part of the cluster's nodes and CPUs, in one of three ways.
fn size(conf: &Conf, faults: &Faults, job: &Job, part: Option<&Part>) -> Fraction {
    let cpus = match job {
        Job {
            total_cpus: 0,
            max_cpus: NO_VAL,
            ..
        } => job.min_cpus,
        Job { total_cpus: 0, .. } => job.max_cpus,
        _ => job.total_cpus,
    };
    if conf.nodes == 0 || conf.cpus == 0 {
        return Fraction::zero();
    }
    let nodes = job.min_nodes;
    let (all_nodes, all_cpus) = (whole(conf.nodes), whole(conf.cpus));
    let factor = if conf.has(flag::SIZE_RELATIVE) {
        let minutes = match (job.limit, part) {
            (NO_VAL, Some(part)) => part.max_time,
            (NO_VAL, None) => 1,
            (limit, _) => limit,
        };
        let on_nodes = whole(nodes) * &all_cpus / all_nodes;
        let share = on_nodes.max(whole(cpus)) / whole(minutes) / all_cpus;
        if conf.favor_small {
            Fraction::one() - share
        } else {
            share
        }
    } else {
        let part_of = |used: u32, all: u32, wraps: bool| {
            let left = if conf.favor_small && used > all && wraps && faults.has(Fault::CountWrap) {
                all.wrapping_sub(used)
            } else {
                all.saturating_sub(used)
            };
            whole(if conf.favor_small { left } else { used }) / whole(all)
        };
        // Newer releases compare the node counts first.
        let of_nodes = part_of(nodes, conf.nodes, !conf.starts_anew);
        if cpus == 0 {
            of_nodes
        } else {
            (of_nodes + part_of(cpus, conf.cpus, true)) / whole(2)
        }
    };
    factor.clamp(Fraction::zero(), Fraction::one())
}

pub(super) fn tres(conf: &Conf, job: &Job, part: Option<&Part>) -> Vec<Fraction> {
    let term = |(at, weight): (usize, &Fraction)| {
        let allocated = job.alloc.as_ref().map(|counts| counts[at]);
        let value = allocated.filter(|count| *count != NO_CONSUME);
        let value = value.unwrap_or_else(|| job.req.get(at).copied().unwrap_or(0));
        if weight.is_zero() {
            return Fraction::zero();
        }
        let all = part.map_or(0, |part| part.count[at]);
        if conf.has(flag::NO_NORMAL_TRES) {
            product(weight, &whole(value))
        } else if all == 0 {
            Fraction::zero()
        } else {
            rounded(&(weight * whole(value) / whole(all)), BITS)
        }
    };
    conf.weight_tres.iter().enumerate().map(term).collect()
}

/// The sum, clamped to an integer from 1 to 4294967295.
fn bounds(terms: &Terms) -> Bounds {
    let signed = [
        &terms.age,
        &terms.assoc,
        &terms.fs,
        &terms.js,
        &terms.part,
        &terms.qos,
    ];
    let (site, nice) = (
        whole(terms.site - NICE_OFFSET),
        whole(terms.nice - NICE_OFFSET),
    );
    let positive = signed.into_iter().chain(&terms.tres).chain([&site]);
    let (mut sum, mut size) = (-nice.clone(), nice.abs());
    for term in positive {
        add(&mut sum, term);
        add(&mut size, &term.abs());
    }
    let slack = product(&size, &exact(ROUNDING));
    let mut low = sum.clone();
    add(&mut low, &-&slack);
    add(&mut sum, &slack);
    (integer(&low), integer(&sum))
}

fn integer(sum: &Fraction) -> u32 {
    if sum < &Fraction::one() {
        return 1;
    }
    sum.to_integer().to_u32().unwrap_or(u32::MAX)
}

/// One priority per partition and QOS; empty for a job with one of each.
fn array(records: &Records, faults: &Faults, job: &Job, terms: &Terms) -> Vec<Bounds> {
    let conf = &*records.conf;
    let own = [job.part.clone()];
    let parts = match (job.parts.is_empty(), job.qos_list.is_empty()) {
        (true, true) => return vec![],
        (true, false) => &own[..],
        _ => &job.parts[..],
    };
    let mut array = vec![];
    for name in parts {
        let part = records.part(name);
        let terms = Terms {
            part: weighted(conf.weight_part, || of_part(conf, part)),
            tres: tres(conf, job, part),
            ..terms.clone()
        };
        if job.qos_list.is_empty() {
            array.push(bounds(&terms));
        }
        for id in &job.qos_list {
            let qos = records.qos.get(id).map(Rc::as_ref);
            let unused = qos.is_some_and(|qos| qos.priority == 0);
            let term = if unused && faults.has(Fault::QosZeroInherits) {
                terms.qos.clone()
            } else {
                weighted(conf.weight_qos, || of_qos(conf, qos))
            };
            array.push(bounds(&Terms {
                qos: term,
                ..terms.clone()
            }));
        }
    }
    array
}

/// Bounds of the integers of jobs: the priority at index 0, the others after it.
pub type AllBounds = BTreeMap<u32, Vec<Bounds>>;

/// Writes a price into a job's record; `pass`: INCR_ONLY counts for the priority.
pub fn write(records: &mut Records, bounds: &mut AllBounds, id: u32, priced: Priced, pass: bool) {
    let incr_only = records.conf.has(flag::INCR_ONLY);
    let part_update = records.conf.part_update;
    let Some(record) = records.jobs.get_mut(&id) else {
        return;
    };
    let record = Rc::make_mut(record);
    let raise = |old: u32, new: Bounds| {
        if incr_only {
            (new.0.max(old), new.1.max(old))
        } else {
            new
        }
    };
    let priority = if pass {
        raise(record.priority, priced.priority)
    } else {
        priced.priority
    };
    let mut all = vec![priority];
    // An array that is older than the partitions is rebuilt.
    let stays = record.array_update.is_none_or(|made| made >= part_update);
    let old = |at: usize| match record.array.get(at) {
        Some(old) if stays => *old,
        _ => 0,
    };
    let array = priced.array.into_iter().enumerate();
    all.extend(array.map(|(at, new)| raise(old(at), new)));
    record.terms = priced.terms;
    record.priority = all[0].0;
    record.array = all[1..].iter().map(|bounds| bounds.0).collect();
    bounds.insert(id, all);
}

/// Clears the terms in a record whose priority an administrator has set; the priority stays.
pub fn clear(records: &mut Records, id: u32) {
    if let Some(record) = records.jobs.get_mut(&id) {
        Rc::make_mut(record).terms = Terms::default();
    }
}
