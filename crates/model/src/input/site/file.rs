//! The keys of the format.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::DeserializeOwned;
use toml::{Spanned, Value};

use super::place::Text;
use crate::input::error::{InputError, Problem};

/// The whole file.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct File {
    pub cluster: Option<Spanned<String>>,
    pub usage_time: Option<Spanned<Value>>,
    pub now: Option<Spanned<Value>>,
    pub nodes: Option<Spanned<Value>>,
    pub cpus: Option<Spanned<Value>>,
    #[serde(default)]
    pub settings: BTreeMap<Spanned<String>, Spanned<Value>>,
    #[serde(default)]
    pub accounts: BTreeMap<Spanned<String>, Account>,
    #[serde(default, rename = "use")]
    pub uses: Vec<Use>,
    #[serde(default)]
    pub partitions: BTreeMap<Spanned<String>, Partition>,
    #[serde(default)]
    pub qos: BTreeMap<Spanned<String>, Qos>,
    #[serde(default)]
    pub jobs: Vec<Job>,
}

/// `[accounts.NAME]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct Account {
    pub parent: Option<Spanned<String>>,
    pub shares: Option<Spanned<Value>>,
    pub priority: Option<Spanned<Value>>,
    #[serde(default)]
    pub users: BTreeMap<Spanned<String>, User>,
    pub grp_tres_mins: Option<Spanned<String>>,
    pub grp_tres_raw: Option<Spanned<String>>,
    pub tres_run_mins: Option<Spanned<String>>,
}

/// `[accounts.NAME.users.NAME]`.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct User {
    pub shares: Option<Spanned<Value>>,
    pub priority: Option<Spanned<Value>>,
    pub usage: Option<Spanned<Value>>,
    pub grp_tres_mins: Option<Spanned<String>>,
    pub grp_tres_raw: Option<Spanned<String>>,
    pub tres_run_mins: Option<Spanned<String>>,
    #[serde(default)]
    pub partitions: BTreeMap<Spanned<String>, InPartition>,
}

/// `[accounts.NAME.users.NAME.partitions.NAME]`: an association for one partition.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct InPartition {
    pub shares: Option<Spanned<Value>>,
    pub priority: Option<Spanned<Value>>,
    pub usage: Option<Spanned<Value>>,
}

/// `[[use]]`: TRES in use from one moment to another.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct Use {
    pub account: Spanned<String>,
    pub user: Spanned<String>,
    pub partition: Option<Spanned<String>>,
    pub billing: Spanned<Value>,
    pub start: Spanned<Value>,
    pub end: Spanned<Value>,
}

/// `[partitions.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct Partition {
    #[serde(default)]
    pub default: bool,
    pub priority_job_factor: Option<Spanned<Value>>,
    pub max_time: Option<Spanned<Value>>,
    pub tres: Option<Spanned<String>>,
    pub tres_billing_weights: Option<Spanned<String>>,
    pub nodes: Option<Spanned<String>>,
    pub default_time: Option<Spanned<Value>>,
    pub min_nodes: Option<Spanned<Value>>,
    pub max_nodes: Option<Spanned<Value>>,
    pub priority_tier: Option<Spanned<Value>>,
    pub def_mem_per_cpu: Option<Spanned<Value>>,
    pub def_mem_per_node: Option<Spanned<Value>>,
    pub over_subscribe: Option<Spanned<String>>,
    pub state: Option<Spanned<String>>,
}

/// `[qos.NAME]`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct Qos {
    pub priority: Option<Spanned<Value>>,
    pub usage_factor: Option<Spanned<Value>>,
}

/// `[[jobs]]`: a job that waits or runs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::input) struct Job {
    pub id: Spanned<Value>,
    pub user: Spanned<String>,
    pub account: Spanned<String>,
    pub partition: Option<Spanned<String>>,
    pub qos: Option<Spanned<String>>,
    pub state: Option<Spanned<String>>,
    #[serde(default)]
    pub held: bool,
    pub submit_time: Option<Spanned<Value>>,
    pub accrue_time: Option<Spanned<Value>>,
    pub start_time: Option<Spanned<Value>>,
    pub time_limit: Option<Spanned<Value>>,
    pub cpus: Option<Spanned<Value>>,
    pub nodes: Option<Spanned<Value>>,
    pub tres: Option<Spanned<String>>,
    pub node_list: Option<Spanned<String>>,
    #[serde(default)]
    pub exclusive: bool,
    pub nice: Option<Spanned<Value>>,
    pub site_factor: Option<Spanned<Value>>,
    pub priority: Option<Spanned<Value>>,
}

/// The keys and values of a text.
pub(super) fn parse(text: &Text<'_>) -> Result<File, InputError> {
    parse_as(text).map_err(|error| {
        error.hint("docs/site-format.md and `fairtree share --help` show the format")
    })
}

/// The keys and values of a text in another format of TOML.
pub(in crate::input) fn parse_as<F: DeserializeOwned>(text: &Text<'_>) -> Result<F, InputError> {
    toml::from_str(text.text).map_err(|error| {
        let why = error.message().trim().replace('\n', "; ");
        let at = error.span().map_or(0, |span| span.start);
        text.error(at, Problem::Structure(why))
    })
}
