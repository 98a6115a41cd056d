//! What a plugin left against what it must leave, field by field.

use super::model::{Left, USAGE};
use super::number::{Fraction, HUGE, Number, close, exact, to_f64};
use super::price::AllBounds;
use super::records::{Assoc, Job, Leaf, Qos, Records, Terms, Usage};

/// How factors may differ from the exact ones, relative to their size: they are made of a few
/// roundings and, outside Fair Tree, of a power.
pub(super) const FACTOR: f64 = 1e-11;

/// The same for a factor 2^-x, weighted or not: the rounding of a large x says more.
pub(super) fn of_power(must: &Fraction) -> f64 {
    let exponent = -to_f64(must).log2();
    if exponent.is_finite() {
        // The weight may be up to 2^32.
        FACTOR * ((exponent + 32.0) / 64.0).max(1.0)
    } else {
        FACTOR
    }
}

/// A field that is not what it must be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Record, id and field.
    pub field: String,
    /// What it must be.
    pub must: String,
    /// What it is.
    pub is: String,
}

/// The fields that differ from what they must be.
pub fn mismatches(left: &Left, after: &Records) -> Vec<Mismatch> {
    let mut found = Mismatches(vec![]);
    let must = &left.records;
    if must.times != after.times {
        found.add(
            "daemon 0 times",
            format!("{:?}", must.times),
            format!("{:?}", after.times),
        );
    }
    for (id, is) in &after.assocs {
        if let Some(must) = must
            .assocs
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.assoc(*id, must, is);
        }
    }
    for (id, is) in &after.qos {
        if let Some(must) = must
            .qos
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.qos(*id, must, is);
        }
    }
    for (id, is) in &after.jobs {
        if let Some(must) = must
            .jobs
            .get(id)
            .filter(|must| !std::rc::Rc::ptr_eq(must, is))
        {
            found.job(*id, must, is, &left.bounds);
        }
    }
    found.0
}

/// What differs so far.
#[derive(Default)]
pub(super) struct Mismatches(pub(super) Vec<Mismatch>);

impl Mismatches {
    pub(super) fn add(
        &mut self,
        field: impl Into<String>,
        must: impl Into<String>,
        is: impl Into<String>,
    ) {
        self.0.push(Mismatch {
            field: field.into(),
            must: must.into(),
            is: is.into(),
        });
    }

    pub(super) fn near(&mut self, field: &str, must: &Fraction, is: &Fraction, relative: f64) {
        if !close(must, is, relative) {
            self.add(field, to_f64(must).to_string(), to_f64(is).to_string());
        }
    }

    pub(super) fn number(&mut self, field: &str, must: &Number, is: &Number, relative: f64) {
        match (must, is) {
            (Number::Finite(must), Number::Finite(is)) => self.near(field, must, is, relative),
            (Number::Finite(huge), Number::Infinite) | (Number::Infinite, Number::Finite(huge))
                if to_f64(huge) > HUGE => {}
            _ if must == is => {}
            _ => self.add(field, text(must), text(is)),
        }
    }

    /// Normalised and effective usage. Classic effective usage is what is left of a difference of
    /// the normalised one, by whose size its rounding goes.
    pub(super) fn effective_usage(&mut self, field: &str, must: [&Number; 2], is: &Number) {
        let [norm, must] = must;
        if let [
            Number::Finite(norm),
            Number::Finite(must),
            Number::Finite(is),
        ] = [norm, must, is]
        {
            let off = (to_f64(must) - to_f64(is)).abs();
            let size = to_f64(norm);
            if size <= 1.0 && off <= FACTOR * size {
                return;
            }
        }
        self.number(field, must, is, FACTOR);
    }

    pub(super) fn equal<T: PartialEq + std::fmt::Debug>(&mut self, field: &str, must: &T, is: &T) {
        if must != is {
            self.add(field, format!("{must:?}"), format!("{is:?}"));
        }
    }

    fn usage(&mut self, record: &str, must: &Usage, is: &Usage) {
        self.near(&format!("{record} usage_raw"), &must.raw, &is.raw, USAGE);
        self.near(&format!("{record} wall"), &must.wall, &is.wall, USAGE);
        for (at, (must, is)) in must.tres.iter().zip(&is.tres).enumerate() {
            self.near(&format!("{record} tres_raw[{at}]"), must, is, USAGE);
        }
    }

    fn assoc(&mut self, id: u32, must: &Assoc, is: &Assoc) {
        let name = |field: &str| format!("assoc {id} {field}");
        self.usage(&format!("assoc {id}"), &must.usage, &is.usage);
        match (&must.leaf, &is.leaf) {
            (Leaf::Apart(must), Leaf::Apart(is)) => {
                self.usage(&format!("assoc {id} leaf"), must, is);
            }
            (must, is) => self.equal(&name("leaf"), must, is),
        }
        self.equal(&name("run_secs"), &must.run_secs, &is.run_secs);
        self.near(
            &name("shares_norm"),
            &exact(must.shares_norm),
            &exact(is.shares_norm),
            1e-14,
        );
        self.number(
            &name("usage_norm"),
            &must.usage_norm,
            &is.usage_norm,
            FACTOR,
        );
        self.effective_usage(
            &name("usage_efctv"),
            [&must.usage_norm, &must.usage_efctv],
            &is.usage_efctv,
        );
        self.number(&name("level_fs"), &must.level_fs, &is.level_fs, FACTOR);
        let relative = of_power(&must.fs_factor);
        self.near(&name("fs_factor"), &must.fs_factor, &is.fs_factor, relative);
    }

    fn qos(&mut self, id: u32, must: &Qos, is: &Qos) {
        self.usage(&format!("qos {id}"), &must.usage, &is.usage);
        self.equal(&format!("qos {id} run_secs"), &must.run_secs, &is.run_secs);
        for (whose, is) in &is.used {
            // Who is charged for the first time gets a counter that stands at 0.
            let none = vec![0; is.len()];
            let must = must.used.get(whose).unwrap_or(&none);
            self.equal(&format!("qos {id} {whose}"), must, is);
        }
    }

    /// Weighted factors, of a job's record or a row about it.
    pub(super) fn terms(&mut self, record: &str, a: &Terms, b: &Terms) {
        let name = |field: &str| format!("{record} {field}");
        for (field, must, is) in [
            ("age", &a.age, &b.age),
            ("assoc", &a.assoc, &b.assoc),
            ("js", &a.js, &b.js),
            ("part", &a.part, &b.part),
            ("qos", &a.qos, &b.qos),
        ] {
            self.near(&name(field), must, is, FACTOR);
        }
        self.near(&name("fs"), &a.fs, &b.fs, of_power(&a.fs));
        self.equal(&name("site"), &a.site, &b.site);
        self.equal(&name("nice"), &a.nice, &b.nice);
        if a.tres.len() != b.tres.len() {
            self.equal(&name("tres_cnt"), &a.tres.len(), &b.tres.len());
        }
        for (at, (must, is)) in a.tres.iter().zip(&b.tres).enumerate() {
            self.near(&name(&format!("tres[{at}]")), must, is, FACTOR);
        }
    }

    fn job(&mut self, id: u32, must: &Job, is: &Job, bounds: &AllBounds) {
        let name = |field: &str| format!("job {id} {field}");
        self.terms(&format!("job {id}"), &must.terms, &is.terms);
        self.equal(&name("end_time_exp"), &must.end_time_exp, &is.end_time_exp);
        self.equal(&name("billable_tres"), &must.billing, &is.billing);
        let exactly = [(must.priority, must.priority)];
        let array = must.array.iter().map(|priority| (*priority, *priority));
        let all = bounds.get(&id).cloned();
        let all = all.unwrap_or_else(|| exactly.into_iter().chain(array).collect());
        let is_all = [is.priority].into_iter().chain(is.array.iter().copied());
        for (at, is) in is_all.enumerate() {
            let (low, high) = all.get(at).copied().unwrap_or((0, 0));
            if !(low..=high).contains(&is) {
                let field = if at == 0 {
                    name("priority")
                } else {
                    name(&format!("array[{}]", at - 1))
                };
                self.add(field, format!("{low} to {high}"), is.to_string());
            }
        }
    }
}

fn text(number: &Number) -> String {
    match number {
        Number::Finite(value) => to_f64(value).to_string(),
        Number::Infinite => "inf".to_owned(),
        Number::None => "none".to_owned(),
    }
}
