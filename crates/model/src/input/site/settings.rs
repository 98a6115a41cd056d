//! `[settings]`: slurm.conf's own names and values.

use std::collections::BTreeMap;

use toml::{Spanned, Value};

use super::place::Text;
use crate::input::error::{InputError, Problem};
use crate::input::slurm::machine::SCHEDULER_KEYS;
use fairtree::config::{Config, ConfigError, PriorityFlags, Program};

/// The settings; slurm.conf's defaults for those not given.
pub(super) fn config(
    text: &Text<'_>,
    settings: &BTreeMap<Spanned<String>, Spanned<Value>>,
) -> Result<Config, InputError> {
    let mut lines = String::new();
    let entries: Vec<_> = settings
        .iter()
        .filter(|(key, _)| !is_tres(key.get_ref()) && !is_scheduler(key.get_ref()))
        .collect();
    for (key, value) in &entries {
        if !is_known(key.get_ref()) {
            let allowed = "a priority setting of slurm.conf, as PriorityDecayHalfLife, \
                           PriorityFlags, PriorityParameters, FairShareDampeningFactor";
            return Err(text.value(&key.span(), "setting", allowed));
        }
        let written = self::text(text, key.get_ref(), value)?;
        let is_flags = key.get_ref().eq_ignore_ascii_case("PriorityFlags");
        if is_flags && !PriorityFlags::unknown_words(&written).is_empty() {
            let allowed = "flags of slurm.conf(5), as NO_FAIR_TREE, with commas between them";
            return Err(text.value(&value.span(), key.get_ref(), allowed));
        }
        lines.push_str(&format!("{}=\"{written}\"\n", key.get_ref()));
    }
    Config::from_slurm_conf_for(Program::Command, &lines, text.file)
        .map_err(|error| refused(text, &entries, &error))
}

/// Returns true for a setting of the schedulers, which simulations follow.
pub(super) fn is_scheduler(key: &str) -> bool {
    SCHEDULER_KEYS
        .iter()
        .any(|own| own.eq_ignore_ascii_case(key))
}

/// The value of a setting, as slurm.conf has it.
pub(super) fn text(
    text: &Text<'_>,
    key: &str,
    value: &Spanned<Value>,
) -> Result<String, InputError> {
    written(value.get_ref()).ok_or_else(|| {
        let allowed = "text, a number, true or false, in slurm.conf's syntax";
        text.value(&value.span(), key, allowed)
    })
}

/// The resources that every site tracks, in slurmctld's order.
const TRACKED: [&str; 8] = [
    "cpu", "mem", "energy", "node", "billing", "fs/disk", "vmem", "pages",
];

fn is_tres(key: &str) -> bool {
    key.eq_ignore_ascii_case("AccountingStorageTRES")
}

/// The resources that are tracked: those that always are, and what `AccountingStorageTRES` adds.
pub(super) fn tres(
    text: &Text<'_>,
    settings: &BTreeMap<Spanned<String>, Spanned<Value>>,
) -> Result<Vec<String>, InputError> {
    let mut tracked: Vec<String> = TRACKED.map(str::to_owned).into();
    for (key, value) in settings.iter().filter(|(key, _)| is_tres(key.get_ref())) {
        let names = match value.get_ref() {
            Value::String(names) => names.to_ascii_lowercase(),
            _ => String::new(),
        };
        for name in names.split(',').map(str::trim) {
            if name.is_empty() || name.contains(char::is_whitespace) || name.contains('=') {
                let allowed = "names of resources, as \"gres/gpu,license/matlab\"";
                return Err(text.value(&value.span(), key.get_ref(), allowed));
            }
            if !tracked.iter().any(|known| known == name) {
                tracked.push(name.to_owned());
            }
        }
    }
    Ok(tracked)
}

/// Returns true if slurm.conf has a priority setting of this name: the reader of slurm.conf ignores
/// other names, and refuses a setting without value.
fn is_known(key: &str) -> bool {
    let word = !key.is_empty() && key.bytes().all(|b| b.is_ascii_alphanumeric());
    word && Config::from_slurm_conf(&format!("{key}\n"), "").is_err()
}

/// A value as it would be written between quotes in slurm.conf.
fn written(value: &Value) -> Option<String> {
    let text = match value {
        Value::String(text) => text.clone(),
        Value::Integer(number) => number.to_string(),
        Value::Float(number) => number.to_string(),
        Value::Boolean(true) => "YES".into(),
        Value::Boolean(false) => "NO".into(),
        _ => return None,
    };
    let breaks = |c: char| c.is_control() || "\"\\".contains(c);
    (!text.contains(breaks)).then_some(text)
}

/// An error in a line made by [`config`], reported for the entry that the line was made from.
fn refused(
    text: &Text<'_>,
    entries: &[(&Spanned<String>, &Spanned<Value>)],
    error: &ConfigError,
) -> InputError {
    let entry = error.place.as_ref().and_then(|place| {
        let (key, value) = entries.get(place.line.checked_sub(1)?)?;
        // KEY="VALUE counts from 1; a text in TOML has a quote, too.
        let inside = place
            .column
            .saturating_sub(key.get_ref().chars().count() + 3);
        let quote = usize::from(matches!(value.get_ref(), Value::String(_)));
        let span = value.span();
        let bytes: usize = text.text[span.clone()]
            .chars()
            .take(inside + quote)
            .map(char::len_utf8)
            .sum();
        Some(span.start + bytes)
    });
    let problem = Problem::Value {
        what: error.setting.clone(),
        found: error.value.clone(),
        allowed: error.allowed.clone(),
    };
    match entry {
        Some(at) => text.error(at, problem),
        None => InputError::new(text.file, problem),
    }
}
