//! Prices of runs, in TOML; see `docs/bill.md`.

use std::collections::BTreeMap;
use std::io::Read;

use serde::Deserialize;
use toml::{Spanned, Value};

use super::error::{InputError, Problem};
use super::site::file::parse_as;
use super::site::place::Text;
use super::site::{read_text, value};
use fairtree::usage::Outcomes;

/// Prices in any small unit of money, and which ends of runs are billed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prices {
    /// Ends that are billed; `None`: all but those that the user did not cause.
    pub counts: Option<Outcomes>,
    /// The price in partitions without prices of their own; `None`: only named partitions are
    /// billed.
    pub all: Option<Price>,
    /// Prices by partition.
    pub partitions: BTreeMap<String, Price>,
}

/// Price of a run for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Price {
    /// Per second, whatever it used.
    pub run_second: u64,
    /// Per second, for each billing TRES that it had.
    pub billing_second: u64,
    /// Per microsecond for which the machine executed it.
    pub execution_microsecond: u64,
}

impl Prices {
    /// Returns true if the execution time of runs matters.
    pub fn by_microsecond(&self) -> bool {
        let all = self.partitions.values().chain(&self.all);
        let mut prices = all.map(|price| price.execution_microsecond);
        prices.any(|price| price > 0)
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    counts: Option<Spanned<String>>,
    run_second: Option<Spanned<Value>>,
    billing_second: Option<Spanned<Value>>,
    execution_microsecond: Option<Spanned<Value>>,
    #[serde(default)]
    partitions: BTreeMap<Spanned<String>, Partition>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Partition {
    run_second: Option<Spanned<Value>>,
    billing_second: Option<Spanned<Value>>,
    execution_microsecond: Option<Spanned<Value>>,
}

/// Reads prices. `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks or is no TOML; keys that the format does not know; values out of range; no
/// price at all.
pub fn read(file: &str, input: impl Read) -> Result<Prices, InputError> {
    let text = read_text(file, input)?;
    let text = Text::new(file, &text);
    let described: File =
        parse_as(&text).map_err(|error| error.hint("docs/bill.md shows the format"))?;
    let counts = described.counts.as_ref().map(|words| {
        let parsed = Outcomes::parse_of_slurm(words.get_ref());
        parsed.map_err(|error| text.value(&words.span(), "counts", error.allowed))
    });
    let mut partitions = BTreeMap::new();
    for (name, partition) in &described.partitions {
        value::name(&text, name, "partition")?;
        let own = [
            &partition.run_second,
            &partition.billing_second,
            &partition.execution_microsecond,
        ];
        let own = price(&text, own)?;
        partitions.insert(name.get_ref().clone(), own.unwrap_or_default());
    }
    let all = [
        &described.run_second,
        &described.billing_second,
        &described.execution_microsecond,
    ];
    let all = price(&text, all)?;
    if all.is_none() && partitions.is_empty() {
        let problem = "names no price: run_second, billing_second or execution_microsecond, or \
                       [partitions.NAME]";
        return Err(InputError::new(file, Problem::Structure(problem.into())));
    }
    Ok(Prices {
        counts: counts.transpose()?,
        all,
        partitions,
    })
}

/// The prices of a second, of a billing TRES for a second, and of a microsecond.
fn price(
    text: &Text<'_>,
    given: [&Option<Spanned<Value>>; 3],
) -> Result<Option<Price>, InputError> {
    let names = ["run_second", "billing_second", "execution_microsecond"];
    let mut prices = [0; 3];
    for ((price, value), name) in prices.iter_mut().zip(given).zip(names) {
        if let Some(value) = value {
            *price = value::whole::<i64>(text, value, name, 0..=i64::MAX)?.unsigned_abs();
        }
    }
    let [run_second, billing_second, execution_microsecond] = prices;
    let any = given.iter().any(|value| value.is_some());
    Ok(any.then_some(Price {
        run_second,
        billing_second,
        execution_microsecond,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prices_and_what_is_none() {
        let text = "counts = 'COMPLETED+FAILED:3'\nrun_second = 5\n[partitions.gpu]\n\
                    billing_second = 7\nexecution_microsecond = 3\n";
        let prices = read("p", text.as_bytes()).unwrap();
        let all = Price {
            run_second: 5,
            ..Price::default()
        };
        assert_eq!(prices.all, Some(all));
        assert_eq!(prices.partitions["gpu"].billing_second, 7);
        assert_eq!(prices.partitions["gpu"].execution_microsecond, 3);
        assert!(prices.by_microsecond());
        for (text, words) in [
            ("", "names no price"),
            (
                "run_second = -1",
                "p:1:14: run_second \"-1\" is not allowed",
            ),
            ("run_second = 1.5", "a whole number from 0"),
            ("run_secs = 1", "unknown field `run_secs`"),
            ("run_second = 1\ncounts = 'DONE'", "p:2:10: counts \"DONE\""),
        ] {
            let error = read("p", text.as_bytes()).expect_err(text).to_string();
            assert!(error.contains(words), "{text}: {error}");
        }
    }
}
