//! A script of `sacctmgr` commands, as `sacctmgr -i FILE` carries it out: accounts, users, QOS and
//! their limits.
//!
//! `add|create|modify account|user|qos|cluster ...`; a modification applies to what it names, or to
//! all where it names nothing. Commands that change no account, user or QOS are passed over; a line
//! with any other command is left out with an error. Source: sacctmgr(1) of 22.05.

mod accounting;
mod words;

pub use accounting::{Accounting, AssocAsked, QosAsked};

use fairtree::tree::Shares;

use super::assoc::{SHARES_ALLOWED, shares};
use super::count::tres;
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::machine::{Limits, Tres};
use accounting::{added, qos};
use fairtree::config::time::{Time, parse_time};
use words::{Pairs, full_key, words};

/// Commands that change nothing.
const IDLE_VERBS: [&str; 12] = [
    "archive",
    "clear",
    "dump",
    "exit",
    "help",
    "list",
    "ping",
    "quit",
    "reconfigure",
    "show",
    "shutdown",
    "version",
];

/// Entities without shares, usage or limits of jobs, without the `s` of their plural.
const IDLE_ENTITIES: [&str; 7] = [
    "coordinator",
    "event",
    "federation",
    "job",
    "reservation",
    "resource",
    "wckey",
];

/// Reads a script. A command that cannot be read goes to `left`. `file` names it in messages.
///
/// # Errors
/// A script without a command that can be read.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Accounting, InputError> {
    let mut found = Accounting::default();
    let (before, mut read) = (left.count(), 0);
    for (number, line) in text.lines().enumerate() {
        let words = words(line);
        let command = Command {
            file,
            number: number + 1,
            text: line,
        };
        let mut words: &[String] = &words;
        while words
            .first()
            .is_some_and(|word| word.starts_with('-') || word == "sacctmgr")
        {
            words = &words[1..];
        }
        if words.is_empty() {
            continue;
        }
        if left.keep(command.run(words, &mut found))?.is_some() {
            read += 1;
        }
    }
    left.any_read(read, before)?;
    Ok(found)
}

struct Command<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

impl Command<'_> {
    fn error(&self, problem: Problem) -> InputError {
        InputError::new(self.file, problem).at_line(self.number, self.text)
    }

    fn value(&self, what: &str, found: &str, allowed: &str) -> InputError {
        self.error(Problem::Value {
            what: what.to_owned(),
            found: found.to_owned(),
            allowed: allowed.to_owned(),
        })
    }

    /// The pairs of some words.
    fn pairs<'w>(&self, words: &'w [String]) -> Result<Pairs<'w>, InputError> {
        let pair = |word: &'w String| {
            let Some((key, value)) = word.split_once('=') else {
                return Ok(("name", word.as_str()));
            };
            let key = key.trim_end_matches(['+', '-']).to_ascii_lowercase();
            match full_key(&key) {
                Some(key) => Ok((key, value)),
                None => Err(self.value(
                    "key",
                    &key,
                    "one of sacctmgr's, such as fairshare or maxjobs",
                )),
            }
        };
        words.iter().map(pair).collect::<Result<_, _>>().map(Pairs)
    }

    /// Refuses to add nothing.
    fn some(&self, adds: bool, what: &str, names: &[&str]) -> Result<(), InputError> {
        match adds && names.is_empty() {
            true => Err(self.value(what, "", "a name")),
            false => Ok(()),
        }
    }

    /// Refuses a name to which nothing belongs.
    fn belongs(
        &self,
        what: &str,
        names: &[&str],
        is: impl Fn(&str) -> bool,
    ) -> Result<(), InputError> {
        match names.iter().find(|name| !is(name)) {
            Some(name) => Err(self.value(what, name, "one that the lines above have added")),
            None => Ok(()),
        }
    }

    fn run(&self, words: &[String], found: &mut Accounting) -> Result<(), InputError> {
        let verb = words[0].to_ascii_lowercase();
        let object = words.get(1).map(|word| word.to_ascii_lowercase());
        let object = object.unwrap_or_default();
        let rest = words.get(2..).unwrap_or_default();
        let adds = matches!(verb.as_str(), "add" | "create");
        if !adds && verb != "modify" && verb != "update" {
            return match IDLE_VERBS.contains(&verb.as_str()) {
                true => Ok(()),
                false => Err(self.value("command", &words[0], "add, create, modify or update")),
            };
        }
        let at = |word: &str| {
            rest.iter()
                .position(|known| known.eq_ignore_ascii_case(word))
        };
        let (named, set) = match (adds, at("set"), at("where")) {
            (true, ..) => (rest.to_vec(), rest),
            (false, Some(set), Some(place)) if place > set => {
                let mut named = rest[..set].to_vec();
                named.extend_from_slice(&rest[place + 1..]);
                (named, &rest[set + 1..place])
            }
            (false, Some(set), _) => (rest[..set].to_vec(), &rest[set + 1..]),
            (false, None, _) => (rest.to_vec(), &[][..]),
        };
        let changes = adds || !set.is_empty();
        let (named, set) = (self.pairs(&named)?, self.pairs(set)?);
        if !changes {
            return Err(self.value("set", "", "set, and what is changed: set fairshare=10"));
        }
        match object.as_str() {
            "qos" => self.qos(adds, &named, &set, found),
            "account" | "accounts" => self.account(adds, &named, &set, found),
            "user" | "users" => self.user(adds, &named, &set, found),
            "cluster" | "clusters" => self.assoc(&mut found.assocs[0], &set),
            other if IDLE_ENTITIES.contains(&other.trim_end_matches('s')) => Ok(()),
            _ => {
                let found = words.get(1).map_or("", String::as_str);
                Err(self.value("entity", found, "account, user, qos or cluster"))
            }
        }
    }

    fn qos(
        &self,
        adds: bool,
        named: &Pairs<'_>,
        set: &Pairs<'_>,
        found: &mut Accounting,
    ) -> Result<(), InputError> {
        let names = named.list(&["name", "names", "qos"]);
        for name in &names {
            let lower = name.to_lowercase();
            if adds && !found.qos.iter().any(|known| known.row.name == lower) {
                found.qos.push(qos(&lower));
            }
        }
        self.some(adds, "qos", &names)?;
        self.belongs("qos", &names, |name| {
            let mut known = found.qos.iter();
            known.any(|qos| qos.row.name.eq_ignore_ascii_case(name))
        })?;
        let wanted =
            |name: &str| names.is_empty() || names.iter().any(|n| n.eq_ignore_ascii_case(name));
        for qos in found.qos.iter_mut().filter(|qos| wanted(&qos.row.name)) {
            for (key, value) in &set.0 {
                self.set_qos(qos, key, value)?;
            }
        }
        Ok(())
    }

    fn account(
        &self,
        adds: bool,
        named: &Pairs<'_>,
        set: &Pairs<'_>,
        found: &mut Accounting,
    ) -> Result<(), InputError> {
        let names = named.list(&["name", "names", "account", "accounts"]);
        let parent = set
            .list(&["parent"])
            .first()
            .map(|name| name.to_lowercase());
        if adds {
            let parent = parent.unwrap_or_else(|| "root".to_owned());
            let accounts = |row: &AssocAsked| row.row.user.is_none() && row.row.account == parent;
            if !found.assocs.iter().any(accounts) {
                let known = "an account that exists already";
                return Err(self.value("parent", &parent, known));
            }
            for name in &names {
                let lower = name.to_lowercase();
                let same = |row: &AssocAsked| row.row.user.is_none() && row.row.account == lower;
                if found.assocs.iter().any(same) {
                    continue;
                }
                let mut row = added(lower);
                row.row.parent = Some(parent.clone());
                found.assocs.push(row);
            }
        }
        self.some(adds, "account", &names)?;
        self.belongs("account", &names, |name| {
            let mut accounts = found.assocs.iter().filter(|row| row.row.user.is_none());
            accounts.any(|row| name.eq_ignore_ascii_case(&row.row.account))
        })?;
        let wanted = |row: &AssocAsked| {
            row.row.user.is_none()
                && (names.is_empty()
                    || names
                        .iter()
                        .any(|name| name.eq_ignore_ascii_case(&row.row.account)))
        };
        for row in found.assocs.iter_mut().filter(|row| wanted(row)) {
            self.assoc(row, set)?;
        }
        Ok(())
    }

    fn user(
        &self,
        adds: bool,
        named: &Pairs<'_>,
        set: &Pairs<'_>,
        found: &mut Accounting,
    ) -> Result<(), InputError> {
        let names = named.list(&["name", "names", "user", "users"]);
        let default = named.list(&["defaultaccount", "defaultacct"]);
        let mut accounts = named.list(&["account", "accounts"]);
        let partition = named
            .list(&["partition", "partitions"])
            .first()
            .map(|n| (*n).to_owned());
        if adds {
            if accounts.is_empty() {
                accounts.clone_from(&default);
            }
            self.some(true, "account", &accounts)?;
            for account in &accounts {
                let lower = account.to_lowercase();
                let known = |row: &AssocAsked| row.row.user.is_none() && row.row.account == lower;
                if !found.assocs.iter().any(known) {
                    return Err(self.value("account", account, "an account that exists already"));
                }
                for name in &names {
                    let of_user = |row: &AssocAsked| row.row.user.as_deref() == Some(name);
                    let same = |row: &AssocAsked| {
                        of_user(row) && row.row.account == lower && row.row.partition == partition
                    };
                    if found.assocs.iter().any(same) {
                        continue;
                    }
                    let first = !found.assocs.iter().any(of_user);
                    let is_default = match default.first() {
                        Some(default) => default.eq_ignore_ascii_case(account),
                        None => first,
                    };
                    let mut row = added(lower.clone());
                    row.row.user = Some((*name).to_owned());
                    row.row.partition.clone_from(&partition);
                    row.is_default = is_default;
                    found.assocs.push(row);
                }
            }
        }
        self.some(adds, "user", &names)?;
        self.belongs("user", &names, |name| {
            let mut rows = found.assocs.iter();
            rows.any(|row| row.row.user.as_deref() == Some(name))
        })?;
        let wanted = |row: &AssocAsked| match &row.row.user {
            Some(user) => {
                (names.is_empty() || names.contains(&user.as_str()))
                    && (accounts.is_empty()
                        || accounts
                            .iter()
                            .any(|a| a.eq_ignore_ascii_case(&row.row.account)))
            }
            None => false,
        };
        for row in found.assocs.iter_mut().filter(|row| wanted(row)) {
            self.assoc(row, set)?;
        }
        Ok(())
    }

    /// Changes an association; keys that no scheduler looks at are passed over.
    fn assoc(&self, row: &mut AssocAsked, set: &Pairs<'_>) -> Result<(), InputError> {
        for (key, value) in &set.0 {
            match *key {
                "fairshare" | "shares" => {
                    let shares = shares(value).or((*value == "-1").then_some(Shares::Raw(1)));
                    let shares = shares.ok_or_else(|| self.value(key, value, SHARES_ALLOWED))?;
                    row.row.shares = shares;
                }
                "priority" => row.row.priority = self.count(key, value)?.unwrap_or(0),
                "defaultqos" => row.default_qos = Some(value.to_lowercase()),
                "maxjobs" => row.limits.jobs = self.count(key, value)?,
                _ => self.set_limits(&mut row.limits, key, value)?,
            }
        }
        Ok(())
    }

    fn set_qos(&self, qos: &mut QosAsked, key: &str, value: &str) -> Result<(), InputError> {
        let limits = &mut qos.limits;
        match key {
            "priority" => qos.row.priority = self.count(key, value)?.unwrap_or(0),
            "usagefactor" => {
                let factor = value.parse().ok().filter(|factor| *factor >= 0.0);
                let factor = factor.ok_or_else(|| self.value(key, value, "a number from 0 up"))?;
                qos.row.usage_factor = factor;
            }
            "flags" => limits.flags = value.split(',').map(str::to_owned).collect(),
            "maxjobsperuser" | "maxjobspu" | "maxjobs" => {
                limits.user_jobs = self.count(key, value)?;
            }
            "maxjobsperaccount" | "maxjobspa" => limits.account_jobs = self.count(key, value)?,
            "maxtresperuser" | "maxtrespu" => limits.user_tres = self.tres(key, value)?,
            "maxtresperaccount" | "maxtrespa" => limits.account_tres = self.tres(key, value)?,
            "maxcpusperuser" | "maxcpuspu" => limits.user_tres = self.one("cpu", key, value)?,
            "maxnodesperuser" | "maxnodespu" => limits.user_tres = self.one("node", key, value)?,
            "mintresperjob" | "mintres" | "mintrespj" => {
                limits.least_tres = self.tres(key, value)?;
            }
            "minpriothreshold" | "minpriothresh" | "minprio" => {
                limits.least_priority = self.count(key, value)?.unwrap_or(0);
            }
            _ => self.set_limits(&mut limits.all, key, value)?,
        }
        Ok(())
    }

    fn set_limits(&self, limits: &mut Limits, key: &str, value: &str) -> Result<(), InputError> {
        match key {
            "grpjobs" => limits.group_jobs = self.count(key, value)?,
            "grptres" => limits.group_tres = self.tres(key, value)?,
            "grpcpus" => limits.group_tres = self.one("cpu", key, value)?,
            "grpnodes" => limits.group_tres = self.one("node", key, value)?,
            "grpmem" => limits.group_tres = self.one("mem", key, value)?,
            "grptresrunmins" | "grptresrunmin" => limits.group_run_mins = self.tres(key, value)?,
            "grpcpurunmins" => limits.group_run_mins = self.one("cpu", key, value)?,
            "grptresmins" | "grptresmin" => limits.group_mins = self.tres(key, value)?,
            "grpcpumins" => limits.group_mins = self.one("cpu", key, value)?,
            "maxtresperjob" | "maxtres" | "maxtrespj" => limits.job_tres = self.tres(key, value)?,
            "maxcpus" | "maxcpusperjob" => limits.job_tres = self.one("cpu", key, value)?,
            "maxnodes" | "maxnodesperjob" => limits.job_tres = self.one("node", key, value)?,
            "maxtrespernode" | "maxtrespn" => limits.node_tres = self.tres(key, value)?,
            "maxwall" | "maxwalldurationperjob" | "maxwallpj" => {
                limits.job_mins = self.minutes(key, value)?;
            }
            "grpwall" => limits.group_wall_mins = self.minutes(key, value)?,
            _ => {}
        }
        Ok(())
    }

    /// Minutes of a time; -1 takes a limit away.
    fn minutes(&self, key: &str, value: &str) -> Result<Option<u32>, InputError> {
        if value == "-1" {
            return Ok(None);
        }
        match parse_time(value) {
            Ok(Time::Secs(secs)) => Ok(Some(secs.div_ceil(60))),
            Ok(Time::Infinite) => Ok(None),
            Err(error) => Err(self.value(key, value, &error.allowed)),
        }
    }

    /// A whole number; -1 takes a limit away.
    fn count(&self, key: &str, value: &str) -> Result<Option<u32>, InputError> {
        match value {
            "-1" | "" => Ok(None),
            _ => {
                let allowed = "a whole number from 0 to 4294967295, or -1 for none";
                let count = value.parse().map_err(|_| self.value(key, value, allowed));
                count.map(Some)
            }
        }
    }

    fn tres(&self, key: &str, value: &str) -> Result<Tres, InputError> {
        let terms = value.split(',').filter(|term| !term.ends_with("=-1"));
        let kept: Vec<&str> = terms.collect();
        let found = tres(&kept.join(","));
        let allowed = "resources as cpu=16,gres/gpu=2";
        found
            .map(Tres)
            .ok_or_else(|| self.value(key, value, allowed))
    }

    fn one(&self, name: &str, key: &str, value: &str) -> Result<Tres, InputError> {
        self.tres(key, &format!("{name}={value}"))
    }
}

#[cfg(test)]
mod tests;
