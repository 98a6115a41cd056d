//! From the keys of the file to accounts, machines and the policy.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use toml::{Spanned, Value};

use super::file::{File, Machine};
use super::policy;
use crate::input::error::{InputError, Problem};
use crate::input::site::place::Text;
use crate::input::site::{self, Site, SiteRow, file as site_file, rows, value};
use fairtree::engine::on_demand::Prices;
use fairtree::engine::queue::{Micros, SECOND, Settings};
use fairtree::tree::Tree;
use fairtree::usage::Outcomes;

/// A site whose machines ask what to run.
#[derive(Clone, Debug)]
pub struct QueueSite {
    /// Name of the file.
    pub file: String,
    /// The moment at which it begins.
    pub now: Option<Micros>,
    /// One per association, by position in the tree; its id is that plus 1.
    pub rows: Vec<SiteRow>,
    /// Who shares with whom.
    pub tree: Tree,
    /// The machines, by name.
    pub machines: Vec<MachineRow>,
    /// Which job is next.
    pub policy: Policy,
    /// What a reader of the answers should know, in sentences.
    pub notes: Vec<String>,
}

/// A machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MachineRow {
    /// Its name.
    pub name: String,
    /// Jobs that it runs at a time; matters by fair share only.
    pub slots: u32,
    /// Whether it begins in maintenance.
    pub paused: bool,
    /// Limit of waiting on-demand jobs; `None`: none.
    pub limit: Option<u32>,
    /// What it costs.
    pub prices: Prices,
}

/// Which job is next.
#[derive(Clone, Debug)]
pub enum Policy {
    /// That of the account or user with the smallest used part of its entitlement.
    FairShare(Settings),
    /// The oldest, reservations first.
    OnDemand(OnDemandSite),
}

/// What on-demand queues go by.
#[derive(Clone, Debug)]
pub struct OnDemandSite {
    /// Ends of runs that are billed.
    pub billed: Outcomes,
    /// Limit of waiting jobs of every account without one of its own; `None`: none.
    pub account_limit: Option<u32>,
    /// Accounts with limits of their own, by position.
    pub account_limits: Vec<(usize, u32)>,
    /// Reservations, in the order of the file.
    pub reservations: Vec<Reserved>,
}

/// A machine that is an account's for a time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// Its number.
    pub id: u64,
    /// The machine.
    pub machine: String,
    /// Position of the owner.
    pub account: usize,
    /// From this moment.
    pub start: Micros,
    /// Until before this one.
    pub end: Micros,
    /// Line of the file, from 1.
    pub line: usize,
}

const HINT: &str = "docs/queue.md and `fairtree queue --help` show the format";

/// Reads a site. `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks, is no UTF-8 or too long; text that is no TOML; keys that the format does not
/// know, or that another policy has; values out of range; accounts whose parents are missing or run
/// in a circle; accounts and machines that are not described; minutes beyond those of the parent; a
/// window shorter than the resolution.
pub fn read(file: &str, input: impl Read) -> Result<QueueSite, InputError> {
    let text = site::read_text(file, input)?;
    let text = Text::new(file, &text);
    let described: File = site_file::parse_as(&text).map_err(|error| error.hint(HINT))?;
    let Site { rows, tree, .. } = rows::build(&text, shared(&described))?;
    let accounts: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.user.is_none())
        .map(|(at, row)| (row.account.as_str(), at))
        .collect();
    let known = Known {
        text: &text,
        accounts,
    };
    let mut notes = Vec::new();
    let policy = policy::read(&known, &described, &mut notes)?;
    let on_demand = matches!(policy, Policy::OnDemand(_));
    let mut machines = Vec::with_capacity(described.machines.len());
    for (name, machine) in &described.machines {
        value::name(&text, name, "machine")?;
        machines.push(read_machine(&text, name.get_ref(), machine, on_demand)?);
    }
    if machines.is_empty() {
        let problem = "describes no machine: nobody asks what is next".to_owned();
        return Err(InputError::new(file, Problem::Structure(problem))
            .hint("describe one: [machines.NAME]"));
    }
    Ok(QueueSite {
        file: file.to_owned(),
        now: match &described.now {
            Some(now) => Some(moment(&text, now, "now")?),
            None => None,
        },
        rows,
        tree,
        machines,
        policy,
        notes,
    })
}

/// The accounts and users as a site of the common format.
fn shared(file: &File) -> site_file::File {
    let user = |user: &super::file::User| site_file::User {
        shares: user.shares.clone(),
        ..site_file::User::default()
    };
    let account = |account: &super::file::Account| site_file::Account {
        parent: account.parent.clone(),
        shares: account.shares.clone(),
        users: account
            .users
            .iter()
            .map(|(name, entry)| (name.clone(), user(entry)))
            .collect(),
        ..site_file::Account::default()
    };
    let accounts: BTreeMap<Spanned<String>, site_file::Account> = file
        .accounts
        .iter()
        .map(|(name, entry)| (name.clone(), account(entry)))
        .collect();
    site_file::File {
        accounts,
        ..site_file::File::default()
    }
}

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

fn read_machine(
    text: &Text<'_>,
    name: &str,
    machine: &Machine,
    on_demand: bool,
) -> Result<MachineRow, InputError> {
    let only = |entry: &Option<Spanned<Value>>, key: &str, wanted: bool| match entry {
        Some(value) if on_demand != wanted => {
            let policy = if wanted { "on_demand" } else { "fair_share" };
            Err(elsewhere(
                text,
                value,
                &format!("{key} of a machine"),
                policy,
            ))
        }
        _ => Ok(()),
    };
    only(&machine.slots, "slots", false)?;
    only(&machine.limit, "limit", true)?;
    only(
        &machine.execution_microsecond,
        "execution_microsecond",
        true,
    )?;
    only(&machine.reserved_second, "reserved_second", true)?;
    let whole = |entry: &Option<Spanned<Value>>, key: &str, range| {
        let read = entry
            .as_ref()
            .map(|value| value::whole(text, value, key, range));
        read.transpose()
    };
    // So that no sum is beyond 128 bits: a machine runs one such job at a time.
    const PRICES: std::ops::RangeInclusive<i64> = 0..=1_000_000_000_000_000;
    Ok(MachineRow {
        name: name.to_owned(),
        slots: whole(&machine.slots, "slots", 1..=1_000_000)?
            .map_or(1, |slots: i64| u32::try_from(slots).unwrap_or(1)),
        paused: machine.paused,
        limit: limit(text, machine.limit.as_ref())?,
        prices: Prices {
            execution_microsecond: whole(
                &machine.execution_microsecond,
                "execution_microsecond",
                PRICES,
            )?
            .map_or(0, i64::unsigned_abs),
            reserved_second: whole(&machine.reserved_second, "reserved_second", PRICES)?
                .map_or(0, i64::unsigned_abs),
        },
    })
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
