//! The keys of the policy, named as in a policy file of the plugin.

use std::collections::HashMap;

use toml::Spanned;

use super::described::{OnDemandSite, Policy, Reserved};
use super::file::{Account, Counts, File};
use super::known::{Known, elsewhere, limit, moment};
use crate::input::error::{InputError, Problem};
use crate::input::site::value;
use fairtree::config::{
    MOST_MINUTES, MinutesFrom, Order, PriorityParameters, UsageModel, ValueError,
};
use fairtree::engine::on_demand::OnDemand;
use fairtree::engine::queue::{AccountRule, Choice, Counted, SECOND, Settings};
use fairtree::fairshare::Ranking;
use fairtree::order::Level;
use fairtree::usage::Outcomes;
use jiff::tz::TimeZone;

/// The policy of a file.
pub(super) fn read(
    known: &Known<'_>,
    file: &File,
    notes: &mut Vec<String>,
) -> Result<Policy, InputError> {
    match &file.policy {
        None => fair_share(known, file, notes),
        Some(policy) => match policy.get_ref().as_str() {
            "fair_share" => fair_share(known, file, notes),
            "on_demand" => on_demand(known, file),
            _ => {
                let allowed = "\"fair_share\" or \"on_demand\"";
                Err(known.text.value(&policy.span(), "policy", allowed))
            }
        },
    }
}

/// An error of a value in quotes.
fn refused(
    known: &Known<'_>,
    span: &std::ops::Range<usize>,
    what: &str,
    error: &ValueError,
) -> InputError {
    let problem = Problem::Value {
        what: what.to_owned(),
        found: error.value.clone(),
        allowed: error.allowed.clone(),
    };
    known.text.error(span.start, problem)
}

fn outcomes(known: &Known<'_>, counts: &Spanned<Counts>) -> Result<Outcomes, InputError> {
    let found = match counts.get_ref() {
        Counts::Text(text) => text.parse(),
        Counts::Words(words) => Outcomes::from_words(words.iter().map(String::as_str)),
    };
    found.map_err(|error| refused(known, &counts.span(), "counts", &error))
}

fn on_demand(known: &Known<'_>, file: &File) -> Result<Policy, InputError> {
    let text = known.text;
    let strings = [
        ("usage", &file.usage),
        ("ranking", &file.ranking),
        ("order", &file.order),
        ("minutes", &file.minutes),
    ];
    for (key, entry) in strings {
        if let Some(value) = entry {
            return Err(elsewhere(text, value, key, "fair_share"));
        }
    }
    for (key, entry) in [
        ("resolution", &file.resolution),
        ("capacity", &file.capacity),
    ] {
        if let Some(value) = entry {
            return Err(elsewhere(text, value, key, "fair_share"));
        }
    }
    if let Some(value) = &file.users_compete {
        return Err(elsewhere(text, value, "users_compete", "fair_share"));
    }
    let mut account_limits = Vec::new();
    for (name, account) in &file.accounts {
        if let Some(value) = &account.minutes {
            return Err(elsewhere(text, value, "minutes", "fair_share"));
        }
        if let Some(value) = &account.plan {
            return Err(elsewhere(text, value, "plan", "fair_share"));
        }
        if let Some(limit) = limit(text, account.limit.as_ref())? {
            account_limits.push((known.account(name)?, limit));
        }
    }
    let mut reservations = Vec::new();
    for reservation in &file.reservations {
        let machine = &reservation.machine;
        if !file.machines.contains_key(machine.get_ref().as_str()) {
            let allowed = "a machine that the file describes";
            return Err(text.value(&machine.span(), "machine", allowed));
        }
        let before = &text.text[..reservation.id.span().start];
        reservations.push(Reserved {
            id: value::whole::<i64>(text, &reservation.id, "id", 0..=i64::MAX)?.unsigned_abs(),
            machine: machine.get_ref().clone(),
            account: known.account(&reservation.account)?,
            start: moment(text, &reservation.start, "start")?,
            end: moment(text, &reservation.end, "end")?,
            line: before.matches('\n').count() + 1,
        });
    }
    Ok(Policy::OnDemand(OnDemandSite {
        billed: match &file.counts {
            Some(counts) => outcomes(known, counts)?,
            None => OnDemand::default_billed(),
        },
        account_limit: limit(text, file.account_limit.as_ref())?,
        account_limits,
        reservations,
    }))
}

fn fair_share(
    known: &Known<'_>,
    file: &File,
    notes: &mut Vec<String>,
) -> Result<Policy, InputError> {
    let text = known.text;
    if let Some(value) = &file.account_limit {
        return Err(elsewhere(text, value, "account_limit", "on_demand"));
    }
    if let Some(reservation) = file.reservations.first() {
        let id = &reservation.id;
        return Err(elsewhere(text, id, "a reservation", "on_demand"));
    }
    let counted = match &file.usage {
        Some(usage) => model(known, usage, "usage")?,
        None => Settings::default().counted,
    };
    resolution(known, file, counted, notes)?;
    let slots = file.machines.values().map(|machine| {
        let slots = machine
            .slots
            .as_ref()
            .and_then(|slots| slots.get_ref().as_integer());
        slots.unwrap_or(1).unsigned_abs()
    });
    let all = slots.fold(0_u64, u64::saturating_add).max(1);
    let capacity = file.capacity.as_ref().map(|value| {
        let found = value::whole::<i64>(text, value, "capacity", 1..=i64::from(u32::MAX))?;
        Ok::<_, InputError>(found.unsigned_abs())
    });
    let users_compete = file
        .users_compete
        .as_ref()
        .is_some_and(|value| *value.get_ref());
    if !users_compete {
        let user = |account: &Account| account.users.values().any(|user| user.shares.is_some());
        let with = file.accounts.iter().filter(|(_, account)| user(account));
        let with: Vec<&str> = with.map(|(name, _)| name.get_ref().as_str()).collect();
        if let Some(first) = with.iter().find(|name| **name != "root") {
            notes.push(format!(
                "users in account {first} have shares, which have no effect: users of an account do \
                 not compete, their jobs are first in, first out; users_compete = true lets them"
            ));
        }
    }
    Ok(Policy::FairShare(Settings {
        level: level(known, file.ranking.as_ref())?,
        choice: choice(known, file.order.as_ref())?,
        counted,
        outcomes: match &file.counts {
            Some(counts) => outcomes(known, counts)?,
            None => Outcomes::all(),
        },
        capacity: capacity.transpose()?.unwrap_or(all),
        accounts: rules(known, file, counted)?,
        users_compete,
    }))
}

/// A usage model that a queue has: `window:LENGTH`, `total:DATE`.
fn model(known: &Known<'_>, value: &Spanned<String>, what: &str) -> Result<Counted, InputError> {
    let parsed = parameters("usage", value.get_ref());
    let parsed = parsed.map_err(|error| refused(known, &value.span(), what, &error))?;
    match parsed.usage {
        Some(UsageModel::Window { length_secs }) => {
            Ok(Counted::Window(i64::from(length_secs) * SECOND))
        }
        Some(UsageModel::Total { since }) => {
            let since = since.to_zoned(TimeZone::UTC).map(|time| time.timestamp());
            let micros = since.map(|since| since.as_microsecond());
            let micros = micros.ok().filter(|micros| *micros >= 0);
            let allowed = "total:DATE from 1970 on";
            micros
                .map(Counted::Since)
                .ok_or_else(|| known.text.value(&value.span(), what, allowed))
        }
        _ => {
            let allowed = "window:LENGTH or total:DATE, such as window:28-0 or total:2026-01-01; \
                           a queue does not let usage decay";
            Err(known.text.value(&value.span(), what, allowed))
        }
    }
}

/// The value of one key, as `PriorityParameters` takes it.
fn parameters(key: &str, text: &str) -> Result<PriorityParameters, ValueError> {
    let alone = ValueError::new(text, "one value without commas");
    if text.contains(',') {
        return Err(alone);
    }
    PriorityParameters::parse(&format!("{key}={text}"), None)
        .map_err(|error| ValueError::new(error.value, error.allowed))
}

/// The queue counts to the microsecond; a resolution is checked, and a note says that it has no
/// effect.
fn resolution(
    known: &Known<'_>,
    file: &File,
    counted: Counted,
    notes: &mut Vec<String>,
) -> Result<(), InputError> {
    let Some(value) = &file.resolution else {
        return Ok(());
    };
    let written = match value.get_ref() {
        toml::Value::String(text) => text.clone(),
        toml::Value::Integer(number) => number.to_string(),
        _ => String::new(),
    };
    let parsed = parameters("resolution", &written);
    let parsed = parsed.map_err(|error| refused(known, &value.span(), "resolution", &error))?;
    let micros = i64::from(parsed.resolution.unwrap_or_default()) * SECOND;
    if let Counted::Window(length) = counted {
        if length < micros {
            let allowed = "a time up to the length of the window";
            return Err(known.text.value(&value.span(), "resolution", allowed));
        }
    }
    notes.push(format!(
        "the queue counts to the microsecond: resolution = \"{written}\" changes nothing here; the \
         plugin differs by what is used within one such time at the far end of the window"
    ));
    Ok(())
}

fn level(known: &Known<'_>, ranking: Option<&Spanned<String>>) -> Result<Level, InputError> {
    let Some(value) = ranking else {
        return Ok(Level::Leaf);
    };
    let allowed = "least_used:LEVEL, such as least_used:2, or least_used:leaf";
    match Ranking::parse(value.get_ref()) {
        Ok(Ranking::LeastUsed(rule)) => Ok(match rule.level {
            Some(level) => Level::Depth(level.get()),
            None => Level::Leaf,
        }),
        _ => Err(known.text.value(&value.span(), "ranking", allowed)),
    }
}

fn choice(known: &Known<'_>, order: Option<&Spanned<String>>) -> Result<Choice, InputError> {
    let Some(value) = order else {
        return Ok(Choice::default());
    };
    match parameters("order", value.get_ref()).map(|parsed| parsed.order) {
        Ok(Some(Order::Strict)) => Ok(Choice::Strict),
        Ok(Some(Order::Interleaved)) => Ok(Choice::Interleaved),
        _ => {
            let allowed = "\"strict\" or \"interleaved\"";
            Err(known.text.value(&value.span(), "order", allowed))
        }
    }
}

/// Returns true if shares of accounts are their minutes: `minutes = "shares"`.
pub(super) fn from_shares(known: &Known<'_>, file: &File) -> Result<bool, InputError> {
    let Some(value) = &file.minutes else {
        return Ok(false);
    };
    match parameters("minutes", value.get_ref()) {
        Ok(parsed) => Ok(parsed.minutes == Some(MinutesFrom::Shares)),
        Err(error) => Err(refused(known, &value.span(), "minutes", &error)),
    }
}

/// Rules of accounts that replace the site's.
fn rules(
    known: &Known<'_>,
    file: &File,
    counted: Counted,
) -> Result<Vec<(u32, AccountRule)>, InputError> {
    let text = known.text;
    let mut rules = Vec::new();
    let from_shares = from_shares(known, file)?;
    for (name, account) in &file.accounts {
        if let Some(value) = &account.limit {
            return Err(elsewhere(text, value, "limit of an account", "on_demand"));
        }
        let minutes = account.minutes.as_ref().map(|value| {
            if let Some(shares) = &account.shares {
                let problem = "an account has either shares or minutes".to_owned();
                return Err(text.error(shares.span().start, Problem::Structure(problem)));
            }
            let most = i64::try_from(MOST_MINUTES).unwrap_or(i64::MAX);
            let found = value::whole::<i64>(text, value, "minutes", 0..=most)?;
            Ok(found.unsigned_abs())
        });
        let minutes = match minutes.transpose()? {
            Some(_) if from_shares => {
                let at = account
                    .minutes
                    .as_ref()
                    .map_or(0, |value| value.span().start);
                let problem = "with minutes = \"shares\" the shares of an account are its minutes";
                return Err(text.error(at, Problem::Structure(problem.into())));
            }
            None if from_shares && name.get_ref() != "root" => {
                let shares = value::shares(text, account.shares.as_ref())?;
                shares.raw().map(u64::from)
            }
            minutes => minutes,
        };
        let plan = account.plan.as_ref().map(|plan| model(known, plan, "plan"));
        let rule = AccountRule {
            minutes,
            counted: plan.transpose()?,
        };
        if rule == AccountRule::default() {
            continue;
        }
        if let (None, Some(Counted::Since(_)), Some(plan)) = (minutes, rule.counted, &account.plan)
        {
            let problem =
                "what counts since a date is compared with minutes: give the account some";
            return Err(text.error(plan.span().start, Problem::Structure(problem.into())));
        }
        let at = known.account(name)?;
        if at == 0 {
            let problem = "root is above all accounts and has no minutes and no plan".to_owned();
            return Err(text.error(name.span().start, Problem::Structure(problem)));
        }
        rules.push((at as u32 + 1, rule));
    }
    check_minutes(known, file, counted, &rules)?;
    Ok(rules)
}

/// Refuses minutes beyond those of the parent, where both count the same use.
fn check_minutes(
    known: &Known<'_>,
    file: &File,
    counted: Counted,
    rules: &[(u32, AccountRule)],
) -> Result<(), InputError> {
    let rules: HashMap<usize, AccountRule> = (rules.iter())
        .map(|(id, rule)| (*id as usize - 1, *rule))
        .collect();
    let of = |name: &str| {
        let at = known.accounts.get(name)?;
        rules.get(at).copied()
    };
    // A rule counts for all below; parents are described, and none runs in a circle.
    let counts = |name: &str| {
        let mut name = name;
        loop {
            if let Some(counted) = of(name).and_then(|rule| rule.counted) {
                return counted;
            }
            match file
                .accounts
                .get(name)
                .and_then(|account| account.parent.as_ref())
            {
                Some(parent) => name = parent.get_ref(),
                None => return counted,
            }
        }
    };
    let mut given: HashMap<&str, u64> = HashMap::new();
    for (name, account) in &file.accounts {
        let parent = account
            .parent
            .as_ref()
            .map(|parent| parent.get_ref().as_str());
        let minutes = of(name.get_ref()).and_then(|rule| rule.minutes);
        let (Some(minutes), Some(parent)) = (minutes, parent) else {
            continue;
        };
        let Some(whole) = of(parent).and_then(|rule| rule.minutes) else {
            continue;
        };
        if counts(name.get_ref()) != counts(parent) {
            continue;
        }
        let given = given.entry(parent).or_default();
        let left = whole - *given;
        if minutes > left {
            let allowed = format!("up to {left}, which account {parent} has left of its {whole}");
            let value = account.minutes.as_ref().or(account.shares.as_ref());
            let span = value.map_or(name.span(), Spanned::span);
            return Err(known.text.value(&span, "minutes", allowed));
        }
        *given += minutes;
    }
    Ok(())
}
