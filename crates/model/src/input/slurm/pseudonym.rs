//! Answers without the names of people, their accounts and their jobs.
//!
//! Of settings, jobs, partitions and nodes only what the readers use is kept: comments, paths,
//! hosts and lists of accounts go. A name has the same pseudonym in every answer, and in every
//! capture that is made with the same [`Pseudonyms`]. Partitions, QOS, nodes and the cluster keep
//! their names, and root is root.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::job::{self, Names, read_names};
use super::job_request::JobTail;
use super::present;
use super::record::{Record, no_end, records};
use super::rights;
use super::snapshot::{Answer, Answers, Source};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::Lines;

/// The pseudonym of each name: to be kept secret.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Pseudonyms {
    users: BTreeMap<String, usize>,
    accounts: BTreeMap<String, usize>,
    jobs: BTreeMap<String, usize>,
}

fn number(names: &mut BTreeMap<String, usize>, real: &str) -> usize {
    let next = names.len() + 1;
    match names.get(real) {
        Some(number) => *number,
        None => {
            names.insert(real.to_owned(), next);
            next
        }
    }
}

impl Pseudonyms {
    /// Pseudonym of a user; a new user gets the next number.
    pub fn user(&mut self, real: &str) -> String {
        match real {
            "" | "root" => real.to_owned(),
            _ => format!("u{:03}", number(&mut self.users, real)),
        }
    }

    fn account(&mut self, real: &str) -> String {
        match real {
            "" | "root" | "(null)" => real.to_owned(),
            _ => format!("a{:03}", number(&mut self.accounts, real)),
        }
    }

    /// A policy file with pseudonyms for its accounts, without its comments; `None` for a text that is
    /// not TOML, in which names cannot be told from others.
    pub fn policy(&mut self, text: &str) -> Option<String> {
        let mut policy: toml::Table = text.parse().ok()?;
        if let Some(toml::Value::Table(accounts)) = policy.get_mut("accounts") {
            // Slurm's accounts are in lower case; in a policy file case does not count.
            let renamed = std::mem::take(accounts).into_iter();
            *accounts = renamed
                .map(|(name, said)| (self.account(&name.to_lowercase()), said))
                .collect();
        }
        toml::to_string(&policy).ok()
    }

    /// The same answers under pseudonyms; names that are new get the next number.
    ///
    /// # Errors
    /// Those of [`Pseudonyms::rewrite`].
    pub fn apply(&mut self, answers: &Answers, left: &mut LeftOut) -> Result<Answers, InputError> {
        let names = answers.get(&Source::Names);
        let names = names.map_or_else(Names::new, |answer| read_names(&answer.text));
        let mut changed = Answers::new();
        // In a fixed order, so that numbers do not depend on chance.
        for source in Source::FILES {
            let Some(answer) = answers.get(&source) else {
                continue;
            };
            let (name, input) = (answer.name.clone(), answer.text.as_bytes());
            let mut text = Vec::new();
            self.rewrite(source, &name, input, &mut text, &names, left)?;
            // All that is written is text.
            let text = String::from_utf8(text).unwrap_or_default();
            changed.insert(source, Answer { name, text });
        }
        Ok(changed)
    }

    /// Writes an answer, which messages call `name`, under pseudonyms. `names`: those of the jobs.
    ///
    /// # Errors
    /// Those of the readers, for an answer that is not what its command prints; those of `input` and
    /// `out`. A record that cannot be read goes to `left` and is in no answer.
    pub fn rewrite(
        &mut self,
        source: Source,
        name: &str,
        mut input: impl BufRead,
        out: &mut impl Write,
        names: &Names,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        let failed = |error| InputError::new(name, error);
        let mut selected = |input: &mut dyn BufRead, first, keys: &[&str]| {
            let mut text = String::new();
            input.read_to_string(&mut text).map_err(failed)?;
            let text = selected(name, &text, first, keys, left)?;
            out.write_all(text.as_bytes()).map_err(failed)
        };
        match source {
            Source::Partitions => selected(&mut input, "PartitionName", &PARTITION),
            Source::Nodes => selected(&mut input, "NodeName", &NODE),
            Source::Config => settings(input, out).map_err(failed),
            Source::Coordinators => self.coordinators(name, input, out, left),
            Source::Users => self.admin_levels(name, input, out, left),
            Source::Database => rights_settings(input, out).map_err(failed),
            Source::Qos => io::copy(&mut input, out).map(drop).map_err(failed),
            Source::Names => self.names(names, out).map_err(failed),
            Source::Shares | Source::Priorities | Source::Assocs | Source::History => {
                self.table(name, input, out, left)
            }
            Source::Jobs => job::for_each(name, input, names, left, &mut |record| {
                let line = self.job(record, names)?;
                out.write_all(line.as_bytes()).map_err(failed)
            }),
        }
    }

    /// Coordinators of accounts.
    fn coordinators(
        &mut self,
        file: &str,
        input: impl BufRead,
        out: &mut impl Write,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        let failed = |error| InputError::new(file, error);
        let text = io::read_to_string(input).map_err(failed)?;
        let mut made = "Account|Coord Accounts\n".to_owned();
        for row in rights::coordinators(file, &text, left)? {
            let users: Vec<String> = row.users.iter().map(|user| self.user(user)).collect();
            made.push_str(&format!(
                "{}|{}\n",
                self.account(&row.account),
                users.join(",")
            ));
        }
        out.write_all(made.as_bytes()).map_err(failed)
    }

    /// Levels of users.
    fn admin_levels(
        &mut self,
        file: &str,
        input: impl BufRead,
        out: &mut impl Write,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        let failed = |error| InputError::new(file, error);
        let text = io::read_to_string(input).map_err(failed)?;
        let mut made = "User|Admin\n".to_owned();
        for (user, level) in rights::admin_levels(file, &text, left)? {
            made.push_str(&format!("{}|{}\n", self.user(&user), level.name()));
        }
        out.write_all(made.as_bytes()).map_err(failed)
    }

    /// A table with `|`: the columns that hold names, whatever else. A row that does not fit the
    /// header could have anything anywhere.
    fn table(
        &mut self,
        file: &str,
        input: impl BufRead,
        out: &mut impl Write,
        left: &mut LeftOut,
    ) -> Result<(), InputError> {
        let failed = |error| InputError::new(file, error);
        let mut lines = Lines::new(file, input);
        let Some(header) = lines.next()? else {
            return Ok(());
        };
        let header = header.into_owned();
        let columns: Vec<&str> = header.split('|').collect();
        writeln!(out, "{header}").map_err(failed)?;
        let mut number = 1;
        while let Some(line) = lines.next()? {
            number += 1;
            let cells: Vec<&str> = line.split('|').collect();
            if cells.len() != columns.len() && !line.trim().is_empty() {
                let (found, due) = (cells.len(), columns.len());
                let why = format!("{found} cells between |, where the header has {due}");
                let error = InputError::new(file, Problem::Structure(why)).at_line(number, &line);
                left.keep::<()>(Err(error))?;
                continue;
            }
            let cells = cells.iter().zip(&columns).map(|(cell, column)| {
                let name = cell.trim();
                let margin = &cell[..cell.len() - cell.trim_start().len()];
                match *column {
                    "User" | "USER" => format!("{margin}{}", self.user(name)),
                    "Account" | "ParentName" => format!("{margin}{}", self.account(name)),
                    // `CANCELLED by 1016`: the number of a user.
                    "State" => name.split(' ').next().unwrap_or_default().to_owned(),
                    _ => (*cell).to_owned(),
                }
            });
            let cells = cells.collect::<Vec<_>>().join("|");
            writeln!(out, "{cells}").map_err(failed)?;
        }
        Ok(())
    }

    fn names(&mut self, names: &Names, out: &mut impl Write) -> io::Result<()> {
        let mut lines = names.sorted().into_iter();
        lines.try_for_each(|(id, name)| {
            let number = number(&mut self.jobs, name);
            writeln!(out, "{id}|j{number:03}")
        })
    }

    fn job(&mut self, record: &Record<'_>, names: &Names) -> Result<String, InputError> {
        let id = record.text("JobId")?;
        let mut out = format!("JobId={id}");
        // Before the name, where the reader looks for them.
        for key in ["ArrayJobId", "ArrayTaskId"] {
            if let Some(value) = record.said_before("JobName", key) {
                out.push_str(&format!(" {key}={value}"));
            }
        }
        let user = record.text("UserId")?.rsplit_once('(');
        // With the blanks around it, which a record does not show.
        let known = id.parse().ok().and_then(|id| names.get(id));
        if let Some(job) = known.or(record.said("JobName")) {
            out.push_str(&format!(" JobName=j{:03}", number(&mut self.jobs, job)));
        }
        let user = self.user(user.map_or("", |(user, _)| user));
        let id: String = user.chars().filter(char::is_ascii_digit).collect();
        let id = if id.is_empty() { "0" } else { &id };
        out.push_str(&format!(" UserId={user}({id})"));
        if let Some(account) = record.said("Account") {
            out.push_str(&format!(" Account={}", self.account(account)));
        }
        // After a reason's own word there may be hosts, or text of an administrator.
        if let Some(reason) = record.said("Reason") {
            let word = reason.split(|c: char| !c.is_ascii_alphanumeric()).next();
            out.push_str(&format!(" Reason={}", word.unwrap_or_default()));
        }
        for key in JOB {
            if let Some(value) = record.said(key) {
                out.push_str(&format!(" {key}={value}"));
            }
        }
        let rest = JobTail::of(record);
        out.push_str(&rest.to_string());
        out.push('\n');
        Ok(out)
    }
}

const JOB: [&str; 22] = [
    "Priority",
    "Nice",
    "QOS",
    "JobState",
    "Dependency",
    "TimeLimit",
    "TimeMin",
    "SubmitTime",
    "EligibleTime",
    "AccrueTime",
    "StartTime",
    "Partition",
    "ReqNodeList",
    "ExcNodeList",
    "NodeList",
    "NumNodes",
    "NumCPUs",
    "NumTasks",
    "CPUs/Task",
    "TRES",
    "ReqTRES",
    "AllocTRES",
];

const PARTITION: [&str; 15] = [
    "Default",
    "DefMemPerCPU",
    "DefMemPerNode",
    "DefaultTime",
    "MaxNodes",
    "MaxTime",
    "MinNodes",
    "Nodes",
    "OverSubscribe",
    "QoS",
    "PriorityJobFactor",
    "PriorityTier",
    "State",
    "TRES",
    "TRESBillingWeights",
];

const NODE: [&str; 11] = [
    "CPUTot",
    "State",
    "CfgTRES",
    "CPUEfctv",
    "CoresPerSocket",
    "ThreadsPerCore",
    "Sockets",
    "RealMemory",
    "Gres",
    "AvailableFeatures",
    "Weight",
];

/// Records with some keys only.
fn selected(
    name: &str,
    text: &str,
    first: &str,
    keys: &[&str],
    left: &mut LeftOut,
) -> Result<String, InputError> {
    let mut out = String::new();
    for record in records(name, text, first, &no_end, left)? {
        out.push_str(&format!("{first}={}", record.text(first)?));
        for key in keys {
            if let Some(value) = record.said(key) {
                out.push_str(&format!(" {key}={value}"));
            }
        }
        out.push('\n');
    }
    Ok(out)
}

/// The settings of slurmdbd about who may see and change what.
fn rights_settings(input: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    for line in input.lines() {
        let line = line?;
        let key = line.split('=').next().unwrap_or("").trim();
        if ["DisableCoordDBD", "PrivateData"].contains(&key) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

/// The settings about priorities and schedulers, and those that give the moment and the release.
fn settings(input: impl BufRead, out: &mut impl Write) -> io::Result<()> {
    let keeps = |line: &str| {
        let key = line.split('=').next().unwrap_or("").trim();
        line.starts_with("Configuration data as of ")
            || [
                "ClusterName",
                "PrivateData",
                "SLURM_VERSION",
                "AccountingStorageTRES",
            ]
            .contains(&key)
            || present::SETTINGS.contains(&key)
            || key.starts_with("FairShare")
            || (key.starts_with("Priority") && !key.starts_with("PrioritySiteFactor"))
    };
    for line in input.lines() {
        let line = line?;
        if keeps(&line) {
            writeln!(out, "{line}")?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answers(parts: &[(Source, &str)]) -> Answers {
        let answer = |text: &str| Answer {
            name: "f".into(),
            text: text.into(),
        };
        parts
            .iter()
            .map(|(source, text)| (*source, answer(text)))
            .collect()
    }

    #[test]
    fn a_name_has_one_pseudonym_everywhere() {
        let given = answers(&[
            (
                Source::Shares,
                "Account|User|RawShares\nroot||\n physics||5\n  physics|alice|1\n",
            ),
            (
                Source::Assocs,
                "Account|User|Share|ParentName\nphysics||5|root\nphysics|alice|1|\n",
            ),
            (
                Source::Jobs,
                "JobId=7 JobName=secret plan UserId=alice(1006) GroupId=x(1) Account=physics \
                 Priority=5 Comment=secret WorkDir=/home/alice\n",
            ),
            (
                Source::Config,
                "SlurmctldHost = secret\nPriorityType = priority/multifactor\n",
            ),
            (Source::Nodes, "NodeName=n0 NodeAddr=secret CPUTot=4\n"),
        ]);
        let mut pseudonyms = Pseudonyms::default();
        let changed = pseudonyms.apply(&given, &mut LeftOut::default()).unwrap();
        let text = |source| changed[&source].text.as_str();
        assert_eq!(
            text(Source::Shares),
            "Account|User|RawShares\nroot||\n a001||5\n  a001|u001|1\n"
        );
        assert_eq!(
            text(Source::Assocs),
            "Account|User|Share|ParentName\na001||5|root\na001|u001|1|\n"
        );
        assert_eq!(
            text(Source::Jobs),
            "JobId=7 JobName=j001 UserId=u001(001) Account=a001 Priority=5\n"
        );
        for answer in changed.values() {
            assert!(!answer.text.contains("secret") && !answer.text.contains("alice"));
        }
        // And again the same.
        assert_eq!(
            pseudonyms.apply(&given, &mut LeftOut::default()).unwrap()[&Source::Jobs].text,
            text(Source::Jobs)
        );
    }
}
