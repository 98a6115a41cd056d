//! The rows of sprio and sshare: their expected content for the records that they are made from.
//!
//! This module does not check which jobs are listed, only the content of their rows.

use std::collections::BTreeSet;

use anyhow::{Result, bail};
use num_traits::{Signed as _, ToPrimitive as _, Zero as _};

use super::faults::{Fault, Faults};
use super::fields::Fields;
use super::mismatch::{FACTOR, Mismatch, Mismatches, USAGE, of_power};
use super::number::{self, Fraction, Number, exact, product, to_f64};
use super::price;
use super::records::{Assoc, Conf, Job, Part, Records, Terms, flag};

/// One row.
pub enum Listed {
    /// The factors of a job, in one of its partitions and QOS.
    Sprio {
        job: u32,
        part: String,
        /// In releases that send it.
        qos: Option<String>,
        direct: f64,
        /// `None` for a job whose priority an administrator has set.
        terms: Option<Box<Terms>>,
    },
    /// An association.
    Sshare { id: u32, share: Box<Share> },
}

/// An association in sshare.
pub struct Share {
    shares_norm: f64,
    usage_raw: u64,
    usage_norm: Number,
    usage_efctv: Number,
    level_fs: Number,
    fs_factor: Fraction,
    run_secs: Vec<u64>,
    tres: Vec<Fraction>,
}

impl Listed {
    /// Reads a line of the trace.
    ///
    /// # Errors
    /// Fails if the line is not a row.
    pub fn parse(line: &str) -> Result<Listed> {
        let fields = Fields::parse(line)?;
        match fields.kind {
            "sprio" => Ok(Listed::Sprio {
                job: fields.int("job_id")?,
                part: fields.word("partition")?.unwrap_or_default().to_owned(),
                qos: fields.word("qos_name").ok().flatten().map(str::to_owned),
                direct: fields.float("direct_prio")?,
                terms: Terms::parse(&fields).ok().map(Box::new),
            }),
            "sshare" => Ok(Listed::Sshare {
                id: fields.id,
                share: Box::new(Share::parse(&fields)?),
            }),
            kind => bail!("a row of {kind}"),
        }
    }
}

impl Share {
    fn parse(fields: &Fields) -> Result<Share> {
        Ok(Share {
            shares_norm: fields.float("shares_norm")?,
            usage_raw: fields.int("usage_raw")?,
            usage_norm: fields.number("usage_norm")?,
            usage_efctv: fields.number("usage_efctv")?,
            level_fs: fields.number("level_fs")?,
            fs_factor: fields.fraction("fs_factor")?,
            run_secs: fields.ints("run_secs")?,
            tres: fields.fractions("tres_raw")?,
        })
    }

    fn check(&self, found: &mut Mismatches, assoc: &Assoc) {
        let name = |field: &str| format!("sshare {} {field}", assoc.id);
        found.near(
            &name("shares_norm"),
            &exact(assoc.shares_norm),
            &exact(self.shares_norm),
            1e-14,
        );
        // Truncated to a whole number, which the last bits of usage may decide. The processor gives
        // 0 for a number that does not fit.
        let fits = |whole: &i128| *whole <= i128::from(u64::MAX);
        let whole = |usage: Fraction| usage.to_integer().to_i128().filter(fits).unwrap_or(0);
        let slack = product(&assoc.usage.raw.abs(), &exact(USAGE));
        let (low, high) = (
            whole(&assoc.usage.raw - &slack),
            whole(&assoc.usage.raw + &slack),
        );
        // slurmctld itself converts a negative number to an unsigned one.
        let wrapped = assoc.usage.raw.is_negative() && self.usage_raw > i64::MAX as u64;
        let is = i128::from(self.usage_raw) - if wrapped { 1 << 64 } else { 0 };
        if !(low..=high).contains(&is) {
            found.add(
                name("usage_raw"),
                format!("{low} to {high}"),
                self.usage_raw.to_string(),
            );
        }
        found.number(
            &name("usage_norm"),
            &narrow(&assoc.usage_norm),
            &self.usage_norm,
            FACTOR,
        );
        found.effective_usage(
            &name("usage_efctv"),
            [&assoc.usage_norm, &narrow(&assoc.usage_efctv)],
            &self.usage_efctv,
        );
        found.number(
            &name("level_fs"),
            &narrow(&assoc.level_fs),
            &self.level_fs,
            FACTOR,
        );
        found.near(
            &name("fs_factor"),
            &assoc.fs_factor,
            &self.fs_factor,
            of_power(&assoc.fs_factor),
        );
        found.equal(&name("run_secs"), &assoc.run_secs, &self.run_secs);
        for (at, (must, is)) in assoc.usage.tres.iter().zip(&self.tres).enumerate() {
            found.near(&name(&format!("tres_raw[{at}]")), must, is, USAGE);
        }
    }
}

/// A record's `long double`, rounded to a row's `double`.
fn narrow(number: &Number) -> Number {
    match number {
        Number::Finite(value) => number::of_f64(to_f64(value)),
        other => other.clone(),
    }
}

/// Fields of rows with unexpected values.
pub fn mismatches(rows: &[Listed], records: &Records, faults: &Faults) -> Vec<Mismatch> {
    let mut found = Mismatches::default();
    let mut seen = BTreeSet::new();
    for row in rows {
        match row {
            Listed::Sprio {
                job,
                part,
                qos,
                direct,
                terms,
            } => {
                let name = format!("sprio {job}/{part}/{}", qos.as_deref().unwrap_or_default());
                if !seen.insert(name.clone()) {
                    found.add(&*name, "one row", "two");
                }
                let Some(record) = records.jobs.get(job) else {
                    found.add(&*name, "no such job", "a row");
                    continue;
                };
                // Releases without restarts at reconfigures leave it out for jobs with a list of
                // partitions.
                let hidden = record.direct && !records.conf.starts_anew && !record.parts.is_empty();
                let told = record.direct && !(hidden && faults.has(Fault::SprioDirect));
                let set = if told {
                    f64::from(record.priority)
                } else {
                    0.0
                };
                found.equal(&format!("{name} direct_prio"), &set, direct);
                match terms {
                    Some(terms) if !told => {
                        let must = expected(records, faults, record, part, qos.as_deref());
                        found.terms(&name, &must, terms);
                    }
                    None if !told => found.add(&*name, "factors", "none"),
                    _ => {}
                }
            }
            Listed::Sshare { id, share } => {
                if let Some(assoc) = records.assocs.get(id) {
                    share.check(&mut found, assoc);
                }
            }
        }
    }
    found.0
}

/// Expected terms in sprio for a job in one of its partitions and QOS: the job's own factors,
/// except for those that depend on the partition and QOS.
fn expected(records: &Records, faults: &Faults, job: &Job, part: &str, qos: Option<&str>) -> Terms {
    let conf = &*records.conf;
    let mut terms = job.terms.clone();
    if !job.parts.is_empty() {
        let part = records.part(part);
        terms.part = price::weighted(conf.weight_part, || price::of_part(conf, part));
        if !terms.tres.is_empty() {
            terms.tres = tres_there(conf, faults, job, part);
        }
    }
    let mut listed = job.qos_list.iter().filter_map(|id| records.qos.get(id));
    if let Some(there) = listed.find(|listed| Some(&*listed.name) == qos) {
        let counts = there.priority != 0 && conf.weight_qos != 0;
        if counts || !faults.has(Fault::QosZeroInherits) {
            terms.qos = price::weighted(conf.weight_qos, || price::of_qos(conf, Some(there)));
        }
    }
    terms
}

fn tres_there(conf: &Conf, faults: &Faults, job: &Job, part: Option<&Part>) -> Vec<Fraction> {
    let mut terms = price::tres(conf, job, part);
    // Stock leaves out TRES that the job does not have by now, or the partition does not have.
    let own = job.terms.tres.iter().zip(&conf.weight_tres);
    for (term, (own, weight)) in terms.iter_mut().zip(own) {
        let stays = !conf.has(flag::NO_NORMAL_TRES) && term.is_zero();
        if stays && !own.is_zero() && faults.has(Fault::SprioTres) {
            *term = product(own, weight);
        }
    }
    terms
}
