//! The keys of the format.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::{Spanned, Value};

/// The whole file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    pub policy: Option<Spanned<String>>,
    pub now: Option<Spanned<Value>>,
    pub usage: Option<Spanned<String>>,
    pub resolution: Option<Spanned<Value>>,
    pub ranking: Option<Spanned<String>>,
    pub order: Option<Spanned<String>>,
    pub minutes: Option<Spanned<String>>,
    pub counts: Option<Spanned<Counts>>,
    pub capacity: Option<Spanned<Value>>,
    pub account_limit: Option<Spanned<Value>>,
    pub default_limit: Option<Spanned<Value>>,
    pub users_compete: Option<Spanned<bool>>,
    #[serde(default)]
    pub accounts: BTreeMap<Spanned<String>, Account>,
    #[serde(default)]
    pub machines: BTreeMap<Spanned<String>, Machine>,
    #[serde(default)]
    pub reservations: Vec<Reservation>,
}

/// `counts`: one text, or a list of words.
#[derive(Deserialize)]
#[serde(
    untagged,
    expecting = "text as \"COMPLETED+TIMEOUT\", or a list as [\"COMPLETED\", \"TIMEOUT\"]"
)]
pub(super) enum Counts {
    Text(String),
    Words(Vec<String>),
}

/// `[accounts.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Account {
    pub parent: Option<Spanned<String>>,
    pub shares: Option<Spanned<Value>>,
    pub minutes: Option<Spanned<Value>>,
    pub plan: Option<Spanned<String>>,
    pub limit: Option<Spanned<Value>>,
    pub machines: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    pub users: BTreeMap<Spanned<String>, User>,
}

/// `[accounts.NAME.users.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct User {
    pub shares: Option<Spanned<Value>>,
}

/// `[machines.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Machine {
    pub slots: Option<Spanned<Value>>,
    #[serde(default)]
    pub paused: bool,
    pub limit: Option<Spanned<Value>>,
    pub default_limit: Option<Spanned<Value>>,
    pub execution_microsecond: Option<Spanned<Value>>,
    pub reserved_second: Option<Spanned<Value>>,
}

/// `[[reservations]]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Reservation {
    pub id: Spanned<Value>,
    pub machine: Spanned<String>,
    pub account: Spanned<String>,
    pub start: Spanned<Value>,
    pub end: Spanned<Value>,
}
