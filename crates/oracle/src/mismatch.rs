//! Fields with unexpected values, and the allowed differences of numbers.

use super::number::{Fraction, HUGE, Number, close, to_f64};
use super::records::Terms;

/// Allowed relative difference of usage from two computations.
pub(super) const USAGE: f64 = 1e-12;

/// Allowed relative difference of factors from the exact ones: they are computed with a few
/// roundings and, except in Fair Tree, with a power.
pub(super) const FACTOR: f64 = 1e-11;

/// Allowed difference of a factor 2^-x, weighted or not: larger for a large x.
pub(super) fn of_power(must: &Fraction) -> f64 {
    let exponent = -to_f64(must).log2();
    if exponent.is_finite() {
        // The weight may be up to 2^32.
        FACTOR * ((exponent + 32.0) / 64.0).max(1.0)
    } else {
        FACTOR
    }
}

/// A field with an unexpected value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// Record, id and field.
    pub field: String,
    /// The expected value.
    pub must: String,
    /// The actual value.
    pub is: String,
}

/// Differences so far.
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

    /// Compares normalised and effective usage. Classic effective usage is a remainder after
    /// subtractions from normalised usage, whose size determines its rounding.
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

    /// Compares weighted factors of a job's record or row.
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
}

fn text(number: &Number) -> String {
    match number {
        Number::Finite(value) => to_f64(value).to_string(),
        Number::Infinite => "inf".to_owned(),
        Number::None => "none".to_owned(),
    }
}
