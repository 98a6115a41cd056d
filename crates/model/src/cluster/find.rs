//! Finding what people name: users, accounts, jobs.

use std::fmt;
use std::str::FromStr;

use super::{Cluster, ClusterJob, Names};
use fairtree::tree::AssocIndex;

/// Reason why nothing, or too much, was found.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Nothing has this name.
    #[error("{source_name}: found no {what} {name}; allowed is {allowed}")]
    Unknown {
        /// Name of the input.
        source_name: String,
        /// `user`, `account`, `job`, `partition`, `QOS`.
        what: &'static str,
        /// The name in question.
        name: String,
        /// Names that would be found.
        allowed: String,
    },
    /// Several have this name.
    #[error("{source_name}: {name} has {count} associations; name one: {some}")]
    Ambiguous {
        /// Name of the input.
        source_name: String,
        /// The name in question.
        name: String,
        /// Their number.
        count: usize,
        /// Some of them.
        some: String,
    },
    /// The input has no jobs.
    #[error(
        "{source_name}: knows of no jobs, so {name} cannot be found; allowed is a user\nhint: jobs are known of a live site, of a capture (--from DIR) and of a site in TOML with [[jobs]]"
    )]
    NoJobs {
        /// Name of the input.
        source_name: String,
        /// The job.
        name: String,
    },
}

/// A job as people name it: `4711`, or `4711_3` for a task of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobName {
    id: u32,
    task: Option<u32>,
}

impl FromStr for JobName {
    type Err = ();
    fn from_str(text: &str) -> Result<JobName, ()> {
        let number = |text: &str| {
            let digits = text.bytes().all(|b| b.is_ascii_digit());
            text.parse().ok().filter(|_| digits).ok_or(())
        };
        Ok(match text.split_once('_') {
            Some((id, task)) => JobName {
                id: number(id)?,
                task: Some(number(task)?),
            },
            None => JobName {
                id: number(text)?,
                task: None,
            },
        })
    }
}

impl JobName {
    /// The number of the job's record; `None` for a task of an array.
    pub fn of_record(self) -> Option<u32> {
        self.task.is_none().then_some(self.id)
    }

    /// Returns true if it is one of the tasks of an array, as `3` or `1-10:2%4`.
    pub fn is_among(self, tasks: &str) -> bool {
        self.task
            .is_some_and(|task| crate::input::slurm::job::has_task(tasks, task))
    }

    /// The array that it is a task of.
    pub fn of_array(self) -> Option<u32> {
        self.task.map(|_| self.id)
    }
}

impl fmt::Display for JobName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.task {
            Some(task) => write!(f, "{}_{task}", self.id),
            None => write!(f, "{}", self.id),
        }
    }
}

/// The first names, and how many more.
fn listed(names: &[&str]) -> String {
    /// At most this many are listed.
    const LISTED: usize = 5;
    let some = names.iter().take(LISTED).copied();
    let some = some.collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(LISTED) {
        0 => some,
        more => format!("{some} and {more} more"),
    }
}

impl Cluster {
    /// The association that `USER`, `USER@ACCOUNT`, `USER@ACCOUNT:PARTITION` or `ACCOUNT` names. An
    /// account may have the name of a user; it is taken only where no user has it.
    ///
    /// # Errors
    /// [`FindError::Unknown`], [`FindError::Ambiguous`].
    pub fn find(&self, name: &str) -> Result<AssocIndex, FindError> {
        let mut found = self.called(name);
        if found.len() > 1 {
            found.retain(|index| self.is_user(*index));
        }
        self.single(
            found,
            "user",
            name,
            "USER, USER@ACCOUNT or USER@ACCOUNT:PARTITION",
        )
    }

    /// The association that a change is about: as [`Cluster::find`], but a plain name is an
    /// account's first of all.
    ///
    /// # Errors
    /// [`FindError::Unknown`], [`FindError::Ambiguous`].
    pub fn find_any(&self, name: &str) -> Result<AssocIndex, FindError> {
        let mut found = self.called(name);
        if found.iter().any(|index| !self.is_user(*index)) {
            found.retain(|index| !self.is_user(*index));
        }
        let allowed = "ACCOUNT, USER, USER@ACCOUNT or USER@ACCOUNT:PARTITION";
        self.single(found, "account or user", name, allowed)
    }

    /// The account of that name.
    ///
    /// # Errors
    /// [`FindError::Unknown`].
    pub fn find_account(&self, name: &str) -> Result<AssocIndex, FindError> {
        let mut found = self.called(name);
        let users = found.iter().filter(|index| self.is_user(**index));
        let accounts: Vec<&str> = users.map(|index| &*self.name(*index).account).collect();
        if !accounts.is_empty() && accounts.len() == found.len() {
            let accounts = listed(&accounts);
            let allowed = format!("an account; {name} is a user, of {accounts}");
            return Err(self.unknown("account", name, &allowed));
        }
        found.retain(|index| !self.is_user(*index));
        self.single(found, "account", name, "the name of an account")
    }

    fn called(&self, name: &str) -> Vec<AssocIndex> {
        let (person, partition) = match name.split_once(':') {
            Some((person, partition)) => (person, Some(partition)),
            None => (name, None),
        };
        let (user, account) = match person.split_once('@') {
            Some((user, account)) => (user, Some(account)),
            None => (person, None),
        };
        let fits = |at: &usize| {
            let known = &self.names[*at];
            if partition.is_some() && known.partition.as_deref() != partition {
                return false;
            }
            match (&known.user, account) {
                (Some(known_user), Some(account)) => known_user == user && known.account == account,
                (Some(known_user), None) => known_user == user,
                (None, Some(_)) => false,
                (None, None) => known.account == person,
            }
        };
        let mut found: Vec<usize> = (0..self.names.len()).filter(fits).collect();
        // USER@ACCOUNT is the association for all partitions, where there is one.
        if partition.is_none() && account.is_some() && found.len() > 1 {
            let whole = |at: &usize| self.names[*at].partition.is_none();
            if found.iter().any(whole) {
                found.retain(whole);
            }
        }
        found.into_iter().map(AssocIndex::new).collect()
    }

    fn single(
        &self,
        found: Vec<AssocIndex>,
        what: &'static str,
        name: &str,
        allowed: &str,
    ) -> Result<AssocIndex, FindError> {
        /// At most this many matches are listed.
        const LISTED: usize = 5;
        match found[..] {
            [one] => Ok(one),
            [] => {
                let users = what != "account";
                Err(self.unknown(what, name, &self.meant(name, allowed, users)))
            }
            _ => {
                let some = found.iter().take(LISTED);
                let some: Vec<String> = some.map(|index| self.assoc(*index)).collect();
                Err(FindError::Ambiguous {
                    source_name: self.source.clone(),
                    name: name.to_owned(),
                    count: found.len(),
                    some: some.join(", "),
                })
            }
        }
    }

    /// What is allowed, with the names that differ from `name` by a letter or two, of accounts alone
    /// unless `users`.
    fn meant(&self, name: &str, allowed: &str, users: bool) -> String {
        /// At most this many names are listed.
        const LISTED: usize = 3;
        let folded = name.to_lowercase();
        let near = |known: &str| {
            let distance = strsim::osa_distance(&folded, &known.to_lowercase());
            distance <= 1 + usize::from(name.len() > 4)
        };
        let mut found: Vec<&str> = Vec::new();
        for known in &self.names {
            let own = match (&known.user, users) {
                (Some(user), true) => user.as_str(),
                _ => known.account.as_str(),
            };
            if near(own) && !found.contains(&own) {
                found.push(own);
            }
            if found.len() == LISTED {
                break;
            }
        }
        match found.is_empty() {
            true => allowed.to_owned(),
            false => format!("{allowed}; did you mean {}?", found.join(" or ")),
        }
    }

    fn unknown(&self, what: &'static str, name: &str, allowed: &str) -> FindError {
        FindError::Unknown {
            source_name: self.source.clone(),
            what,
            name: name.to_owned(),
            allowed: allowed.to_owned(),
        }
    }

    /// The position of a job among all jobs. A task of an array that has no record of its own is
    /// found in the array's.
    ///
    /// # Errors
    /// [`FindError::NoJobs`], [`FindError::Unknown`].
    pub fn find_job(&self, name: JobName) -> Result<usize, FindError> {
        let Some(jobs) = &self.jobs else {
            return Err(FindError::NoJobs {
                source_name: self.source.clone(),
                name: format!("job {name}"),
            });
        };
        let fits = |job: &ClusterJob| match name.task {
            None => job.job.id == name.id,
            Some(task) => job.array.as_ref().is_some_and(|(id, tasks)| {
                *id == name.id && crate::input::slurm::job::has_task(tasks, task)
            }),
        };
        let unknown = || {
            let allowed = "the number of a job that is still known there, as 4711, or 4711_3 \
                           for a task of an array (some time after its end only sacct -j shows it)";
            self.unknown("job", &name.to_string(), allowed)
        };
        jobs.iter().position(fits).ok_or_else(unknown)
    }

    /// The position of a partition.
    ///
    /// # Errors
    /// [`FindError::Unknown`], with the names that there are.
    pub fn find_partition(&self, name: &str) -> Result<usize, FindError> {
        let names: Vec<&str> = self.partitions.iter().map(|p| p.name.as_str()).collect();
        self.position("partition", &names, name)
    }

    /// Returns true if a partition, by its position, certainly admits a job's account and QOS: see
    /// [`Admission`](crate::input::slurm::admission::Admission).
    pub fn admits(&self, job: &ClusterJob, partition: usize) -> bool {
        let qos = job.job.qos.map(|at| self.qos[at.get()].name.as_str());
        let admission = &self.partitions[partition].admission;
        admission.admits(job.account.as_deref(), qos)
    }

    /// The position of a QOS.
    ///
    /// # Errors
    /// [`FindError::Unknown`], with the names that there are.
    pub fn find_qos(&self, name: &str) -> Result<usize, FindError> {
        let names: Vec<&str> = self.qos.iter().map(|qos| qos.name.as_str()).collect();
        self.position("QOS", &names, name)
    }

    fn position(&self, what: &'static str, names: &[&str], name: &str) -> Result<usize, FindError> {
        /// At most this many names are listed.
        const LISTED: usize = 20;
        let found = names.iter().position(|known| *known == name);
        found.ok_or_else(|| {
            let some: Vec<&str> = names.iter().take(LISTED).copied().collect();
            let allowed = match some.is_empty() {
                true => "none: the input has none".to_owned(),
                false => some.join(", "),
            };
            self.unknown(what, name, &allowed)
        })
    }
}
