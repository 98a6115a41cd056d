//! Answers without the names of people, their accounts and their jobs.
//!
//! Of settings, jobs, partitions and nodes only what the readers use is kept: comments, paths,
//! hosts and lists of accounts go. A name has the same pseudonym in every answer, and in every
//! capture that is made with the same [`Pseudonyms`]. Partitions, QOS, nodes and the cluster keep
//! their names, and root is root.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::job::{self, Names, read_names};
use super::record::{Record, no_end, records};
use super::snapshot::{Answer, Answers, Source};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;

/// Which name stands for which: to be kept from others.
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
    /// What a user is called; one that is new gets the next number.
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

    /// The same answers under pseudonyms; names that are new get the next number.
    ///
    /// # Errors
    /// Those of the readers, for answers that are not what their command prints. A record that
    /// cannot be read goes to `left` and is in no answer.
    pub fn apply(&mut self, answers: &Answers, left: &mut LeftOut) -> Result<Answers, InputError> {
        let names = answers.get(&Source::Names);
        let names = names.map_or_else(Names::new, |answer| read_names(&answer.text));
        let mut changed = Answers::new();
        // In a fixed order, so that numbers do not depend on chance.
        for source in Source::ALL {
            let Some(answer) = answers.get(&source) else {
                continue;
            };
            let text = self.rewrite(source, answer, &names, left)?;
            let name = answer.name.clone();
            changed.insert(source, Answer { name, text });
        }
        Ok(changed)
    }

    fn rewrite(
        &mut self,
        source: Source,
        answer: &Answer,
        names: &Names,
        left: &mut LeftOut,
    ) -> Result<String, InputError> {
        let (name, text) = (answer.name.as_str(), answer.text.as_str());
        Ok(match source {
            Source::Config => settings(text),
            Source::Qos => text.to_owned(),
            Source::Shares | Source::Priorities | Source::Assocs => self.table(name, text, left)?,
            Source::Partitions => selected(name, text, "PartitionName", &PARTITION, left)?,
            Source::Nodes => selected(name, text, "NodeName", &NODE, left)?,
            Source::Names => self.names(names),
            Source::Jobs => self.jobs(name, text, names, left)?,
        })
    }

    /// A table with `|`: the columns that hold names, whatever else. A row that does not fit the
    /// header could have anything anywhere.
    fn table(&mut self, file: &str, text: &str, left: &mut LeftOut) -> Result<String, InputError> {
        let mut lines = text.lines().enumerate();
        let Some((_, header)) = lines.next() else {
            return Ok(String::new());
        };
        let columns: Vec<&str> = header.split('|').collect();
        let mut out = format!("{header}\n");
        for (number, line) in lines {
            let cells: Vec<&str> = line.split('|').collect();
            if cells.len() != columns.len() && !line.trim().is_empty() {
                let (found, due) = (cells.len(), columns.len());
                let why = format!("{found} cells between |, where the header has {due}");
                let error =
                    InputError::new(file, Problem::Structure(why)).at_line(number + 1, line);
                left.keep::<()>(Err(error))?;
                continue;
            }
            let cells = cells.iter().zip(&columns).map(|(cell, column)| {
                let name = cell.trim();
                let margin = &cell[..cell.len() - cell.trim_start().len()];
                match *column {
                    "User" | "USER" => format!("{margin}{}", self.user(name)),
                    "Account" | "ParentName" => format!("{margin}{}", self.account(name)),
                    _ => (*cell).to_owned(),
                }
            });
            out.push_str(&cells.collect::<Vec<_>>().join("|"));
            out.push('\n');
        }
        Ok(out)
    }

    fn names(&mut self, names: &Names) -> String {
        let line = |(id, name): (u32, &str)| format!("{id}|j{:03}\n", number(&mut self.jobs, name));
        names.sorted().into_iter().map(line).collect()
    }

    fn jobs(
        &mut self,
        file: &str,
        text: &str,
        names: &Names,
        left: &mut LeftOut,
    ) -> Result<String, InputError> {
        let mut out = String::new();
        job::for_each(file, text.as_bytes(), names, left, &mut |record| {
            out.push_str(&self.job(record, names)?);
            Ok(())
        })?;
        Ok(out)
    }

    fn job(&mut self, record: &Record<'_>, names: &Names) -> Result<String, InputError> {
        let id = record.text("JobId")?;
        let mut out = format!("JobId={id}");
        let user = record.text("UserId")?.rsplit_once('(');
        // With the blanks around it, which a record does not tell.
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
        for key in JOB {
            if let Some(value) = record.said(key) {
                out.push_str(&format!(" {key}={value}"));
            }
        }
        out.push('\n');
        Ok(out)
    }
}

const JOB: [&str; 15] = [
    "Priority",
    "Nice",
    "QOS",
    "JobState",
    "TimeLimit",
    "SubmitTime",
    "EligibleTime",
    "AccrueTime",
    "StartTime",
    "Partition",
    "NumNodes",
    "NumCPUs",
    "TRES",
    "ReqTRES",
    "AllocTRES",
];

const PARTITION: [&str; 6] = [
    "MaxTime",
    "PriorityJobFactor",
    "PriorityTier",
    "State",
    "TRES",
    "TRESBillingWeights",
];

const NODE: [&str; 3] = ["CPUTot", "State", "CfgTRES"];

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

/// The settings about priorities, and what tells the moment and the release.
fn settings(text: &str) -> String {
    let keeps = |line: &&str| {
        let key = line.split('=').next().unwrap_or("").trim();
        line.starts_with("Configuration data as of ")
            || ["ClusterName", "SLURM_VERSION", "AccountingStorageTRES"].contains(&key)
            || key.starts_with("FairShare")
            || (key.starts_with("Priority") && !key.starts_with("PrioritySiteFactor"))
    };
    text.lines()
        .filter(keeps)
        .map(|line| format!("{line}\n"))
        .collect()
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
