//! Common parts of the keys of a file: its text, its accounts, numbers and moments.

use std::collections::HashMap;

use toml::{Spanned, Value};

use crate::input::error::{InputError, Problem};
use crate::input::site::place::Text;
use crate::input::site::value;
use fairtree::config::time::{Time, parse_time};
use fairtree::engine::queue::{Micros, SECOND};

/// The text, and the accounts in it by name.
pub(super) struct Known<'a> {
    pub text: &'a Text<'a>,
    /// Positions of accounts.
    pub accounts: HashMap<&'a str, usize>,
}

impl Known<'_> {
    /// The position of an account.
    pub fn account(&self, name: &Spanned<String>) -> Result<usize, InputError> {
        let found = self.accounts.get(name.get_ref().as_str()).copied();
        found.ok_or_else(|| {
            let allowed = "an account that the file describes";
            self.text.value(&name.span(), "account", allowed)
        })
    }
}

/// A number of waiting jobs.
pub(super) fn limit(
    text: &Text<'_>,
    value: Option<&Spanned<Value>>,
) -> Result<Option<u32>, InputError> {
    value
        .map(|value| value::whole(text, value, "limit", 0..=i64::from(u32::MAX)))
        .transpose()
}

/// A run time, microseconds.
pub(super) fn length(
    text: &Text<'_>,
    value: Option<&Spanned<Value>>,
    what: &str,
) -> Result<Option<u64>, InputError> {
    let Some(value) = value else {
        return Ok(None);
    };
    let found = match value.get_ref() {
        Value::String(time) => match parse_time(time) {
            Ok(Time::Secs(secs)) => Some(u64::from(secs) * SECOND.unsigned_abs()),
            _ => None,
        },
        Value::Integer(micros) => u64::try_from(*micros).ok(),
        _ => None,
    };
    let allowed = "a time from 1 microsecond up: microseconds, or text in Slurm's form as \"1:30:00\" \
                   or \"2-0\"";
    match found.filter(|micros| *micros > 0) {
        Some(micros) => Ok(Some(micros)),
        None => Err(text.value(&value.span(), what, allowed)),
    }
}

/// A key that has a meaning with another policy only.
pub(super) fn elsewhere<T>(
    text: &Text<'_>,
    value: &Spanned<T>,
    key: &str,
    policy: &str,
) -> InputError {
    let problem = format!("{key} has a meaning with policy = \"{policy}\" only");
    text.error(value.span().start, Problem::Structure(problem))
}

/// Microseconds since 1970.
pub(super) fn moment(
    text: &Text<'_>,
    value: &Spanned<Value>,
    what: &str,
) -> Result<Micros, InputError> {
    let secs = value::time(text, value, what)?;
    let allowed = "a time in whole seconds from 1970 on";
    let micros = secs.checked_mul(SECOND).filter(|micros| *micros >= 0);
    micros.ok_or_else(|| text.value(&value.span(), what, allowed))
}
