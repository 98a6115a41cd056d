//! Output of `sshare --json` (Slurm 23.11 and later; data_parser v0.0.40 to v0.0.42).
//!
//! Numbers come as `{"set": …, "infinite": …, "number": …}`; some releases and settings
//! (`--json=v0.0.42+complex` and similar) print them plain. Text shows no FairShare of an account
//! under Fair Tree and no LevelFS of `parent`; JSON gives 0 and infinity there, which are left out
//! here, so that both give the same site.

use std::collections::HashMap;
use std::io::BufRead;

use serde::Deserialize;
use serde_json::Value;

use super::bare_words::BareWords;
use super::{Column, Field, Listing, Printed, SshareRow};
use crate::input::error::{InputError, Problem};
use crate::input::lines::{one_more, plain};
use fairtree::tree::Shares;

#[derive(Deserialize)]
struct Answer {
    shares: Option<Response>,
    #[serde(default)]
    errors: Vec<Value>,
}

#[derive(Deserialize)]
struct Response {
    shares: Vec<Association>,
}

#[derive(Deserialize)]
struct Association {
    id: u32,
    #[serde(default)]
    cluster: String,
    name: String,
    #[serde(default)]
    parent: String,
    #[serde(default)]
    partition: String,
    shares_normalized: Number,
    shares: Number,
    #[serde(default)]
    tres: Tres,
    effective_usage: Number,
    #[serde(default)]
    usage_normalized: Number,
    usage: u64,
    fairshare: Fairshare,
    #[serde(rename = "type")]
    kind: Vec<String>,
}

#[derive(Default, Deserialize)]
struct Tres {
    #[serde(default)]
    run_seconds: Vec<Count>,
    #[serde(default)]
    group_minutes: Vec<Count>,
}

#[derive(Deserialize)]
struct Count {
    name: String,
    value: Number,
}

#[derive(Deserialize)]
struct Fairshare {
    factor: Number,
    level: Number,
}

/// A number that may be absent or infinite.
#[derive(Default, Deserialize)]
#[serde(untagged)]
enum Number {
    Wrapped {
        set: bool,
        infinite: bool,
        number: Plain,
    },
    Plain(Plain),
    #[default]
    Null,
}

/// A number, or a word that [`BareWords`] made a text of.
#[derive(Clone, Copy, Deserialize)]
#[serde(untagged)]
enum Plain {
    Number(f64),
    Word(Word),
}

#[derive(Clone, Copy, Deserialize)]
enum Word {
    #[serde(rename = "inf")]
    Infinite,
    #[serde(rename = "-inf")]
    Below,
    #[serde(rename = "nan")]
    NotKnown,
}

impl Plain {
    fn value(self) -> Option<f64> {
        match self {
            Plain::Number(number) => Some(number),
            Plain::Word(Word::Infinite) => Some(f64::INFINITY),
            Plain::Word(Word::Below | Word::NotKnown) => None,
        }
    }
}

impl Number {
    fn value(&self) -> Option<f64> {
        match *self {
            Number::Wrapped { infinite: true, .. } => Some(f64::INFINITY),
            Number::Wrapped {
                set: true, number, ..
            }
            | Number::Plain(number) => number.value(),
            Number::Wrapped { .. } | Number::Null => None,
        }
    }

    /// The number as sshare prints it in text, of six decimals, so that both compare alike.
    fn printed(&self) -> Option<Printed> {
        Printed::parse(&format!("{:.6}", self.value()?))
    }
}

/// The number that Slurm keeps for "use the parent's shares".
const USE_PARENT: f64 = 2_147_483_647.0;

/// The longest answer that is read, in bytes: one of 300,000 associations has less.
#[cfg(not(test))]
pub const MAX_BYTES: u64 = 1 << 30;
/// A number that a test can produce.
#[cfg(test)]
pub const MAX_BYTES: u64 = 1 << 20;

/// Returns true if an input that begins with `head` can be such an answer.
pub fn begins(head: &str) -> bool {
    head.trim_start().starts_with('{')
}

/// Reads an answer of one cluster; `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks; text that is not JSON, or of another command; an answer with errors;
/// shares out of range; no association; more than [`MAX_BYTES`].
pub fn read(file: &str, input: impl BufRead) -> Result<Listing, InputError> {
    let broken = |why: String| InputError::new(file, Problem::Structure(why));
    let mut input = input.take(MAX_BYTES);
    let read = serde_json::from_reader(BareWords::new(&mut input));
    let answer: Answer = read.map_err(|error| match input.limit() {
        0 => broken(format!("is longer than {MAX_BYTES} bytes")),
        _ => refused(file, &error),
    })?;
    if let Some(error) = answer.errors.first() {
        return Err(broken(format!("sshare says that it failed: {error}")));
    }
    let Some(Response { shares: rows }) = answer.shares else {
        return Err(
            broken("is JSON, but not what sshare prints: it has no shares".into())
                .hint("sshare -a --json"),
        );
    };
    if rows.is_empty() {
        return Err(InputError::new(file, Problem::Empty).hint("sshare -a --json"));
    }
    // Classic fair share gives accounts a factor, too.
    let fair_tree = rows.iter().filter(|row| !row.is_user()).all(|row| {
        row.fairshare
            .factor
            .value()
            .is_none_or(|factor| factor == 0.0)
    });
    let mut depths: HashMap<&str, usize> = HashMap::new();
    let mut listing = Listing {
        file: file.to_owned(),
        cluster: None,
        fields: COLUMNS.map(Field::from).to_vec(),
        depth_hidden: false,
        rows_left_out: 0,
        notes: Vec::new(),
        rows: Vec::with_capacity(rows.len()),
    };
    for row in &rows {
        one_more(file, listing.rows.len(), 1)?;
        let depth = depths.get(row.parent.as_str()).map_or(0, |above| above + 1);
        if !row.is_user() {
            depths.insert(&row.name, depth);
        }
        let row = row
            .row(depth, fair_tree)
            .map_err(|why| broken(format!("association {}, {}: {why}", row.id, row.name)))?;
        listing.rows.push(row);
    }
    Ok(listing)
}

/// The columns that the answer holds.
const COLUMNS: [Column; 13] = [
    Column::Account,
    Column::User,
    Column::Partition,
    Column::Cluster,
    Column::Id,
    Column::RawShares,
    Column::NormShares,
    Column::RawUsage,
    Column::NormUsage,
    Column::EffectvUsage,
    Column::FairShare,
    Column::LevelFs,
    Column::GrpTresMins,
];

fn refused(file: &str, error: &serde_json::Error) -> InputError {
    let text = error.to_string();
    // The place comes apart from the sentence here.
    let why = text.split(" at line ").next().unwrap_or(&text);
    if error.is_io() {
        return InputError::new(file, std::io::Error::other(why.to_owned()));
    }
    let mut refused = InputError::new(
        file,
        Problem::Structure(format!("is not sshare's JSON: {why}")),
    )
    .hint("sshare -a --json; other programs' JSON is not read here");
    (refused.line, refused.column) = (Some(error.line()), Some(error.column().max(1)));
    refused
}

impl Association {
    fn is_user(&self) -> bool {
        self.kind.iter().any(|kind| kind == "USER")
    }

    fn row(&self, depth: usize, fair_tree: bool) -> Result<SshareRow, String> {
        let user = self.is_user();
        let said = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        let raw_shares = match self.shares.value() {
            None => None,
            Some(USE_PARENT) => Some(Shares::Parent),
            Some(shares) if shares.fract() == 0.0 && (0.0..USE_PARENT).contains(&shares) => {
                Some(Shares::Raw(shares as u32))
            }
            Some(shares) => {
                return Err(format!(
                    "shares {shares} is not allowed: allowed is a whole number from 0 to 2147483646"
                ));
            }
        };
        let root = !user && self.parent.is_empty();
        Ok(SshareRow {
            line: 0,
            depth,
            account: said(if user { &self.parent } else { &self.name }).map(named),
            user: user.then(|| named(self.name.clone())),
            cluster: said(&self.cluster),
            partition: said(&self.partition),
            id: Some(self.id),
            raw_shares: raw_shares.filter(|_| !root),
            raw_usage: Some(self.usage),
            norm_shares: self.shares_normalized.printed(),
            norm_usage: self.usage_normalized.printed().filter(|_| !root),
            effective_usage: self.effective_usage.printed(),
            level_fs: (self.fairshare.level.printed())
                .filter(|_| !root && raw_shares != Some(Shares::Parent)),
            fs_factor: (self.fairshare.factor.printed()).filter(|_| user || !fair_tree),
            grp_tres_mins: counts(&self.tres.group_minutes, 1.0, false),
            tres_run_mins: counts(&self.tres.run_seconds, 60.0, true),
            ..SshareRow::default()
        })
    }
}

/// `name=count,name=count` of those that are set; `None` for none.
fn counts(tres: &[Count], unit: f64, zeros: bool) -> Option<String> {
    let terms: Vec<String> = tres
        .iter()
        .filter_map(|count| Some((&count.name, count.value.value()?)))
        .filter(|(_, value)| value.is_finite() && (zeros || *value > 0.0))
        .map(|(name, value)| format!("{name}={}", (value / unit).floor()))
        .collect();
    (!terms.is_empty()).then(|| terms.join(","))
}

/// A name without control characters, which JSON can hold.
fn named(name: String) -> String {
    plain(name.replace(['\n', '\t'], "?").into()).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROW: &str = r#"{"id":2,"name":"anna","parent":"root","type":["USER"],"usage":7,
        "shares_normalized":0.5,"shares":{"set":true,"infinite":false,"number":3},
        "effective_usage":1.0,"fairshare":{"factor":1.0,"level":null}}"#;

    #[test]
    fn plain_numbers_are_read_too() {
        let text = format!("{{\"shares\":{{\"shares\":[{ROW}]}}}}");
        let listing = read("f", text.as_bytes()).unwrap();
        let row = &listing.rows[0];
        assert_eq!(
            (row.account.as_deref(), row.user.as_deref()),
            (Some("root"), Some("anna"))
        );
        assert_eq!(
            (row.raw_shares, row.raw_usage),
            (Some(Shares::Raw(3)), Some(7))
        );
        assert_eq!(row.fs_factor.unwrap().value, 1.0);
        assert_eq!(row.level_fs, None);
    }

    // NaN is a number that is not known.
    #[test]
    fn bare_words_are_numbers() {
        for (word, level) in [
            ("Infinity", Some(f64::INFINITY)),
            ("inf", Some(f64::INFINITY)),
            ("-Infinity", None),
            ("NaN", None),
            ("nan", None),
            (
                "{\"set\":true,\"infinite\":false,\"number\":inf}",
                Some(f64::INFINITY),
            ),
        ] {
            let row = ROW.replace("\"level\":null", &format!("\"level\":{word}"));
            let text = format!("{{\"shares\":{{\"shares\":[{row}]}}}}");
            let listing = read("f", text.as_bytes()).unwrap();
            let found = listing.rows[0].level_fs.map(|printed| printed.value);
            assert_eq!(found, level, "{word}");
        }
    }

    #[test]
    fn an_answer_has_a_length() {
        let blanks = " ".repeat(1 << 20);
        let error = read("f", format!("{{{blanks}}}").as_bytes()).unwrap_err();
        assert!(
            error.to_string().contains("is longer than 1048576 bytes"),
            "{error}"
        );
    }

    #[test]
    fn other_json_is_refused_at_its_place() {
        let whole = format!("{{\"shares\":{{\"shares\":[{ROW}]}}}}");
        for (text, word) in [
            ("{\"shares\": {\"shares\": []}}", "empty"),
            ("{\"jobs\": []}", "has no shares"),
            (
                "{\"shares\": {\"shares\": [{\"id\": \"x\"}]}}",
                "invalid type",
            ),
            (&whole[..whole.len() - 20], "EOF"),
            (
                &whole.replace("\"number\":3", "\"number\":3.5"),
                "shares 3.5",
            ),
            ("{\"errors\": [{\"description\": \"down\"}]}", "down"),
        ] {
            let error = read("f", text.as_bytes()).unwrap_err();
            assert!(error.to_string().contains(word), "{error}");
        }
        let error = read("f", &b"{\n  \"shares\": 5}"[..]).unwrap_err();
        assert_eq!(error.line, Some(2));
    }
}
