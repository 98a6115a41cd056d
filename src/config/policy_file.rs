//! The file that `policy=` names: TOML with keys of `PriorityParameters`, and a table for each
//! account that has minutes or a plan. `compat`, `calc_period` and `max_lock_ms` are no policy and
//! stay in slurm.conf.
//!
//! ```toml
//! usage = "window:28-0"
//! counts = ["COMPLETED", "TIMEOUT", "FAILED:12"]
//!
//! [accounts.team1]
//! minutes = 400                  # instead of shares
//! [accounts.team2]
//! plan = "total:2026-01-01"      # its own usage model
//! ```
//!
//! The caller reads the file; here is what its text means. Every error names file, line and column.

use std::borrow::Cow;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::Config;
use super::error::{ConfigError, Place, ValueError};
use super::parameters::{self, KEYS, MinutesFrom, PriorityParameters, UsageModel};
use crate::compat::Release;
use crate::fairshare::Entitlement;
use crate::tree::{AssocIndex, Tree};

/// Contents of a policy file.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PolicyFile {
    /// Its keys.
    pub parameters: PriorityParameters,
    /// Its tables, in the order of their names.
    pub accounts: Vec<AccountPolicy>,
}

/// Entries of a policy file about one account.
#[derive(Clone, Debug, PartialEq)]
pub struct AccountPolicy {
    /// The account; Slurm's names are in lower case, and case does not count.
    pub account: String,
    /// Allocated minutes of billing TRES, 0..=[`MOST_MINUTES`], instead of shares.
    pub minutes: Option<u64>,
    /// A usage model of its own, for it and all below it.
    pub plan: Option<UsageModel>,
    /// Start of the table.
    pub place: Place,
    /// `minutes` and `plan` as they are written, for messages; empty where they are not given.
    written: [String; 2],
}

impl AccountPolicy {
    /// The entries of an account in another file; `place` is that of the account there.
    pub fn new(
        account: &str,
        minutes: Option<u64>,
        plan: Option<UsageModel>,
        place: Place,
    ) -> AccountPolicy {
        AccountPolicy {
            account: account.to_owned(),
            minutes,
            plan,
            place,
            written: [
                minutes.map_or(String::new(), |minutes| minutes.to_string()),
                plan.map_or(String::new(), |plan| plan.to_string()),
            ],
        }
    }

    /// Gives it these minutes instead of those it has.
    pub fn set_minutes(&mut self, minutes: u64) {
        self.minutes = Some(minutes);
        self.written[0] = minutes.to_string();
    }

    /// The refusal of this account where the site does not have it.
    pub fn unknown(&self) -> ConfigError {
        let error = ValueError::new(&self.account, "an account of the site").of("accounts");
        ConfigError {
            place: Some(self.place.clone()),
            ..error
        }
    }

    /// The name of one of [`ACCOUNT_KEYS`] of this account in messages.
    pub(super) fn setting(&self, key: &str) -> String {
        format!("accounts.{}.{key}", self.account)
    }

    /// The value of `minutes` or `plan` as it is written; empty where it is not given.
    pub(super) fn written(&self, key: &str) -> &str {
        &self.written[usize::from(key == "plan")]
    }
}

/// The most minutes that an account can have: 1,900,000 years of one CPU.
pub const MOST_MINUTES: u64 = 1_000_000_000_000;

/// The longest policy file, in bytes: some ten thousand accounts.
pub const MOST_POLICY_BYTES: usize = 4 << 20;

/// The keys of an account's table.
const ACCOUNT_KEYS: &str = "minutes, plan";

impl PolicyFile {
    /// Reads a policy file; `file` names it in errors, `host` is the release of the slurmctld that
    /// asks, `None` elsewhere.
    ///
    /// # Errors
    /// The first in the file: text that is not TOML, unknown keys, keys and tables that occur
    /// twice, values of the wrong kind or out of range, accounts without minutes and plan. Each
    /// names the place, the value found and the allowed values.
    ///
    /// ```
    /// use fairtree::config::PolicyFile;
    /// let text = "usage = 'window:28-0'\n[accounts.team1]\nminutes = -4\n";
    /// let error = PolicyFile::parse(text, "fairtree.toml", None).unwrap_err();
    /// assert_eq!(
    ///     error.to_string(),
    ///     "fairtree.toml:3:11: accounts.team1.minutes: found \"-4\", \
    ///      allowed is a whole number from 0 to 1000000000000"
    /// );
    /// ```
    pub fn parse(text: &str, file: &str, host: Option<Release>) -> Result<PolicyFile, ConfigError> {
        let reader = Reader { text, file, host };
        let table = DeTable::parse(text).map_err(|error| {
            let at = error.span().map_or(text.len(), |span| span.start);
            let line = text[..at].rsplit('\n').next().unwrap_or_default();
            let rest = text[at..].lines().next().unwrap_or_default();
            let allowed = format!("TOML: {}", error.message());
            let error = ValueError::new(format!("{line}{rest}").trim(), allowed);
            reader.at(at, error.of("syntax"))
        })?;
        reader.file(table.get_ref())
    }

    /// Refuses accounts that a site does not have. `is_account`: does this account exist, in any
    /// case of letters?
    ///
    /// # Errors
    /// The first account that does not, with its place.
    pub fn check_accounts(&self, is_account: impl Fn(&str) -> bool) -> Result<(), ConfigError> {
        let mut accounts = self.accounts.iter();
        let unknown = accounts.find(|account| !is_account(&account.account));
        unknown.map_or(Ok(()), |account| Err(account.unknown()))
    }
}

impl Config {
    /// Refuses a policy file that gives more minutes below an account than it has; with
    /// `minutes=shares` nothing is refused. `find`: the association of
    /// an account, in any case of letters; those that the site does not have are left out.
    ///
    /// # Errors
    /// The first in the file of the accounts that have too many together, with its place.
    pub fn check_minutes(
        &self,
        tree: &Tree,
        find: impl Fn(&str) -> Option<AssocIndex>,
    ) -> Result<(), ConfigError> {
        let rows = self.accounts.iter().map(|row| (row, find(&row.account)));
        let rows: Vec<(&AccountPolicy, Option<AssocIndex>)> = rows.collect();
        if self.minutes() == MinutesFrom::Shares {
            // Anybody may change shares: they are divided.
            return Ok(());
        }
        let entitlement = Entitlement::of_policy(self, tree, rows.iter().copied(), 0);
        let Some(excess) = entitlement.excess(tree) else {
            return Ok(());
        };
        let below = |(row, at): &(&AccountPolicy, Option<AssocIndex>)| {
            let parent = at.and_then(|at| tree.fs_parent(at));
            row.minutes.is_some() && parent == Some(excess.parent)
        };
        let children = rows.into_iter().filter(below).map(|(row, _)| row);
        let mut children: Vec<&AccountPolicy> = children.collect();
        children.sort_by_key(|row| row.place.line);
        let first = children[0];
        let names: Vec<&str> = children.iter().map(|row| &*row.account).collect();
        let allowed = format!(
            "{} minutes in all directly below one account, as many as it has; {} have {}",
            excess.minutes,
            names.join(", "),
            excess.given
        );
        let setting = format!("accounts.{}.minutes", first.account);
        let found = first.minutes.unwrap_or(0).to_string();
        let mut error = ValueError::new(&found, allowed).of(setting);
        error.place = Some(first.place.clone());
        Err(error)
    }
}

/// The text of a value, and where its parts stand: offset in characters, and byte in the file.
struct Value<'a> {
    text: Cow<'a, str>,
    parts: Vec<(usize, usize)>,
}

struct Reader<'a> {
    text: &'a str,
    file: &'a str,
    host: Option<Release>,
}

impl<'a> Reader<'a> {
    fn file(&self, table: &DeTable<'a>) -> Result<PolicyFile, ConfigError> {
        let mut found = PolicyFile::default();
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let name = key.get_ref();
            if name == "accounts" {
                found.accounts = self.accounts(value)?;
                continue;
            }
            let keys = KEYS.iter().filter(|key| key.is_policy);
            let Some(known) = keys.clone().find(|known| known.name == name) else {
                let keys: Vec<&str> = keys.map(|key| key.name).chain(["accounts"]).collect();
                let error = ValueError::new(name.as_ref(), format!("one of {}", keys.join(", ")));
                return Err(self.at(key.span().start, error.of("key")));
            };
            let value = self.value(value, known.name)?;
            let set = found.parameters.set(known.name, &value.text, self.host);
            // TOML itself refuses a key that occurs twice.
            if let Some(Err(error)) = set {
                return Err(self.wrong(&value, error, known.name));
            }
        }
        Ok(found)
    }

    fn accounts(&self, value: &Spanned<DeValue<'a>>) -> Result<Vec<AccountPolicy>, ConfigError> {
        let Some(table) = value.get_ref().as_table() else {
            return Err(self.refused(value, "tables [accounts.NAME]", "accounts"));
        };
        let mut accounts = Vec::<AccountPolicy>::new();
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let (name, at) = (key.get_ref().as_ref(), key.span().start);
            let same = |other: &&AccountPolicy| other.account.eq_ignore_ascii_case(name);
            if name.trim().is_empty() {
                let error = ValueError::new(name, "the name of an account");
                return Err(self.at(at, error.of("accounts")));
            }
            if let Some(other) = accounts.iter().find(same) {
                let line = other.place.line;
                let allowed = format!("each account once, and line {line} has it already");
                return Err(self.at(at, ValueError::new(name, allowed).of("accounts")));
            }
            let account = self.account(name, at, value)?;
            accounts.push(account);
        }
        accounts.sort_by(|a, b| a.account.cmp(&b.account));
        Ok(accounts)
    }

    fn account(
        &self,
        name: &str,
        at: usize,
        value: &Spanned<DeValue<'a>>,
    ) -> Result<AccountPolicy, ConfigError> {
        let setting = format!("accounts.{name}");
        let Some(table) = value.get_ref().as_table() else {
            let allowed = format!("a table with {ACCOUNT_KEYS}");
            return Err(self.refused(value, &allowed, &setting));
        };
        let mut account = AccountPolicy {
            account: name.to_owned(),
            minutes: None,
            plan: None,
            place: self.place(at),
            written: Default::default(),
        };
        let mut entries: Vec<_> = table.iter().collect();
        entries.sort_unstable_by_key(|(key, _)| key.span().start);
        for (key, value) in entries {
            let of_key = format!("{setting}.{}", key.get_ref());
            match key.get_ref().as_ref() {
                "minutes" => {
                    let number = value.get_ref().as_integer().and_then(|number| {
                        u64::from_str_radix(number.as_str(), number.radix()).ok()
                    });
                    let number = number.filter(|minutes| *minutes <= MOST_MINUTES);
                    let allowed = format!("a whole number from 0 to {MOST_MINUTES}");
                    account.minutes =
                        Some(number.ok_or_else(|| self.refused(value, &allowed, &of_key))?);
                    self.text[value.span()].clone_into(&mut account.written[0]);
                }
                "plan" => {
                    let value = self.value(value, &of_key)?;
                    let plan = parameters::usage_model(&value.text);
                    account.plan = Some(plan.map_err(|error| self.wrong(&value, error, &of_key))?);
                    account.written[1] = value.text.into_owned();
                }
                other => {
                    let allowed = format!("one of {ACCOUNT_KEYS}");
                    let error = ValueError::new(other, allowed).of(setting);
                    return Err(self.at(key.span().start, error));
                }
            }
        }
        if account.minutes.is_none() && account.plan.is_none() {
            let allowed = format!("some of {ACCOUNT_KEYS}");
            return Err(self.at(at, ValueError::new("", allowed).of(setting)));
        }
        Ok(account)
    }

    /// The text of a value as `PriorityParameters` would have it.
    fn value(&self, value: &Spanned<DeValue<'a>>, setting: &str) -> Result<Value<'a>, ConfigError> {
        let first = value.span().start;
        match value.get_ref() {
            DeValue::String(text) => Ok(Value {
                parts: vec![(0, first + self.quote(&value.span(), text))],
                text: text.clone(),
            }),
            DeValue::Integer(number) if number.radix() == 10 => Ok(Value {
                text: number.as_str().to_owned().into(),
                parts: vec![(0, first)],
            }),
            DeValue::Array(entries) => {
                let (mut joined, mut parts) = (String::new(), Vec::new());
                for entry in entries {
                    let DeValue::String(text) = entry.get_ref() else {
                        return Err(self.refused(entry, "a string", setting));
                    };
                    if text.contains('+') {
                        return Err(self.refused(entry, "one entry without +", setting));
                    }
                    if !parts.is_empty() {
                        joined.push('+');
                    }
                    let span = entry.span();
                    let quote = self.quote(&span, text);
                    parts.push((joined.chars().count(), span.start + quote));
                    joined.push_str(text);
                }
                Ok(Value {
                    text: joined.into(),
                    parts: if parts.is_empty() {
                        vec![(0, first)]
                    } else {
                        parts
                    },
                })
            }
            DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_)
            | DeValue::Table(_) => {
                Err(self.refused(value, "a string or a list of strings", setting))
            }
        }
    }

    /// 1 for a string that is unchanged in the file, after one quote; else 0.
    fn quote(&self, span: &Range<usize>, text: &str) -> usize {
        let inner = self.text.get(span.start + 1..span.end.saturating_sub(1));
        usize::from(inner == Some(text))
    }

    fn refused(&self, value: &Spanned<DeValue<'a>>, allowed: &str, setting: &str) -> ConfigError {
        let span = value.span();
        let found = self.text.get(span.clone()).unwrap_or_default();
        let found = found.lines().next().unwrap_or_default();
        self.at(span.start, ValueError::new(found, allowed).of(setting))
    }

    /// The error of a part of a value.
    fn wrong(&self, value: &Value<'_>, error: ValueError, setting: &str) -> ConfigError {
        let before = |part: &&(usize, usize)| part.0 <= error.offset;
        let (offset, byte) = value
            .parts
            .iter()
            .rev()
            .find(before)
            .copied()
            .unwrap_or_default();
        let rest = self.text[byte..].char_indices();
        let more = rest.map(|(at, _)| at).nth(error.offset - offset);
        self.at(byte + more.unwrap_or(0), error.of(setting))
    }

    fn at(&self, byte: usize, mut error: ConfigError) -> ConfigError {
        error.place = Some(self.place(byte));
        error
    }

    fn place(&self, byte: usize) -> Place {
        let before = &self.text[..byte];
        let line = before.rsplit('\n').next().unwrap_or_default();
        Place {
            file: self.file.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line.chars().count() + 1,
        }
    }
}

#[cfg(test)]
mod tests;
