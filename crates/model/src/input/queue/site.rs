//! From the keys of the file to accounts, machines and the policy.

use std::collections::{BTreeMap, HashMap};
use std::io::Read;

use toml::{Spanned, Value};

use super::described::{MachineRow, Policy, QueueSite};
use super::file::{File, Machine};
use super::known::{Known, elsewhere, length, limit, moment};
use super::policy;
use crate::input::error::{InputError, Problem};
use crate::input::site::place::Text;
use crate::input::site::{self, Site, file as site_file, rows, value};
use fairtree::engine::on_demand::Prices;

/// The highest price. So that no sum is beyond 128 bits: a machine runs one such job at a time.
pub(super) const MOST_PRICE: u64 = 1_000_000_000_000_000;

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
    of_text(&text, &keys(&text)?)
}

/// The keys of a text.
pub(super) fn keys(text: &Text<'_>) -> Result<File, InputError> {
    site_file::parse_as(text).map_err(|error| error.hint(HINT))
}

/// The site of the keys of a text.
pub(super) fn of_text(text: &Text<'_>, described: &File) -> Result<QueueSite, InputError> {
    let Site { rows, tree, .. } = rows::build(text, shared(described))?;
    let accounts: HashMap<&str, usize> = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.user.is_none())
        .map(|(at, row)| (row.account.as_str(), at))
        .collect();
    let known = Known { text, accounts };
    let mut notes = Vec::new();
    let policy = policy::read(&known, described, &mut notes)?;
    let on_demand = matches!(policy, Policy::OnDemand(_));
    let mut machines = Vec::with_capacity(described.machines.len());
    for (name, machine) in &described.machines {
        value::name(text, name, "machine")?;
        machines.push(read_machine(text, name.get_ref(), machine, on_demand)?);
    }
    if machines.is_empty() {
        let problem = "describes no machine: nobody asks what is next".to_owned();
        return Err(InputError::new(text.file, Problem::Structure(problem))
            .hint("describe one: [machines.NAME]"));
    }
    let bindings = bindings(&known, described)?;
    let default_limit = length(text, described.default_limit.as_ref(), "default_limit")?;
    Ok(QueueSite {
        file: text.file.to_owned(),
        now: match &described.now {
            Some(now) => Some(moment(text, now, "now")?),
            None => None,
        },
        rows,
        tree,
        machines,
        default_limit,
        bindings,
        policy,
        notes,
    })
}

/// The machines that accounts are bound to.
fn bindings(known: &Known<'_>, file: &File) -> Result<Vec<(usize, Vec<String>)>, InputError> {
    let mut bindings = Vec::new();
    for (name, account) in &file.accounts {
        let Some(machines) = &account.machines else {
            continue;
        };
        for machine in machines {
            if !file.machines.contains_key(machine.get_ref().as_str()) {
                let allowed = "a machine that the file describes";
                return Err(known.text.value(&machine.span(), "machines", allowed));
            }
        }
        if machines.is_empty() {
            let problem =
                "an account with machines = [] could use none: name some, or leave the key out";
            let problem = Problem::Structure(problem.to_owned());
            return Err(known.text.error(name.span().start, problem));
        }
        let names = machines.iter().map(|machine| machine.get_ref().clone());
        bindings.push((known.account(name)?, names.collect()));
    }
    Ok(bindings)
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
    const PRICES: std::ops::RangeInclusive<i64> = 0..=MOST_PRICE as i64;
    Ok(MachineRow {
        name: name.to_owned(),
        slots: whole(&machine.slots, "slots", 1..=1_000_000)?
            .map_or(1, |slots: i64| u32::try_from(slots).unwrap_or(1)),
        paused: machine.paused,
        limit: limit(text, machine.limit.as_ref())?,
        default_limit: length(text, machine.default_limit.as_ref(), "default_limit")?,
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
