//! A capture, read and ranked: what all pages show until the next one.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use fairtree::engine::Standing;
use fairtree::fairshare::Entitlement;
use fairtree::tree::AssocIndex;
use fairtree_analysis::doctor::{self, Finding, Numbers};
use fairtree_analysis::explain::{ExplainError, RankedSite};
use fairtree_analysis::metrics::{About, Family, families};
use fairtree_analysis::prio::{self, PrioReport};
use fairtree_analysis::share::{self, Fractions, ShareReport};
use fairtree_analysis::waiting::{Spread, WaitingLine, spreads, tied_users};
use fairtree_lint::Report;
use fairtree_model::cluster::{Cluster, JobPhase, Load};
use fairtree_model::input::capture::{Manifest, Stored, list, open_only};
use fairtree_model::input::slurm::config::value_of;
use fairtree_model::input::slurm::job::{JobRow, Names, read_names_of};
use fairtree_model::input::slurm::rights::{self, AdminLevel};
use fairtree_model::input::slurm::snapshot::{Snapshot, Source};
use fairtree_model::input::{InputError, LeftOut};
use fairtree_model::listed::Listed;

use crate::drawn::Drawn;
use crate::health;
use crate::past::Past;

/// Reason why there is no picture.
#[derive(Debug, thiserror::Error)]
pub enum PictureError {
    /// The capture cannot be read.
    #[error("{}", .0.explained())]
    Input(#[from] InputError),
    /// The queue cannot be priced.
    #[error(transparent)]
    Queue(#[from] ExplainError),
}

/// Everything that pages show of one moment.
#[derive(Debug)]
pub struct Picture {
    /// Folder of the capture.
    pub folder: PathBuf,
    /// Its description: when it was taken, of which cluster.
    pub manifest: Manifest,
    /// Kinds of data that only their owners see.
    pub private: Private,
    /// Users who see and change everything.
    pub operators: HashSet<String>,
    /// Accounts that each user coordinates, by position, without those below.
    pub coordinators: HashMap<String, Vec<usize>>,
    /// Coordinators may change nothing.
    pub coordinators_disabled: bool,
    /// The site and its queue.
    pub cluster: Cluster,
    /// Shares and factors, a row per association in the order of the tree.
    pub report: ShareReport,
    /// Priorities, a row per way to run a job.
    pub priorities: PrioReport,
    /// Recomputed numbers against printed ones; else the reason why that failed.
    pub numbers: Result<Numbers, String>,
    /// The queue.
    pub line: WaitingLine,
    /// Points of each term over the queue.
    pub spreads: Vec<Spread>,
    /// Users with the factor of another user.
    pub tied_users: u64,
    /// The linter's findings in slurm.conf, or why it cannot be read; `None`: it was not looked for.
    pub linted: Option<Result<Report, String>>,
    /// The answer of `scontrol show config`.
    pub config_text: String,
    /// Notes on what could not be read, and on assumptions.
    pub notes: Vec<String>,
    standings: Vec<Standing>,
    load: Vec<Load>,
    entitlement: Entitlement,
    rows: Arc<Vec<JobRow>>,
    names: Names,
    /// Positions in `rows` and among the jobs of the cluster, by job number.
    jobs: HashMap<u32, (usize, usize)>,
    /// Rows of `priorities`, by job number.
    priced: HashMap<u32, Vec<usize>>,
    /// Associations right below each one, by position.
    children: Vec<Vec<usize>>,
    /// Accounts by name in lower case.
    accounts: HashMap<String, AssocIndex>,
    /// Associations of each user, by position.
    own: HashMap<String, Vec<usize>>,
    /// Jobs of each user that wait or run, by position among the jobs of the cluster.
    of_user: HashMap<String, Vec<usize>>,
    /// Findings of the doctor, once they were asked for.
    findings: OnceLock<Vec<Finding>>,
    /// Past jobs, once they were asked for.
    past: OnceLock<Result<Arc<Past>, String>>,
    /// Charts over time that pages have drawn.
    pub drawn: Drawn,
    /// Metrics, once they were asked for.
    metrics: OnceLock<Result<Vec<Family>, String>>,
}

/// Kinds of data that `PrivateData` hides from others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Private {
    /// Jobs.
    pub jobs: bool,
    /// Usage, shares and factors.
    pub usage: bool,
    /// Accounts.
    pub accounts: bool,
    /// Users.
    pub users: bool,
}

impl Private {
    /// The value of `PrivateData`; where it is not known, everything is private.
    pub fn parse(value: Option<&str>) -> Private {
        let has = |word: &str| match value {
            None => true,
            Some(value) => value
                .split(',')
                .any(|one| one.trim().eq_ignore_ascii_case(word) || one.trim() == "all"),
        };
        Private {
            jobs: has("jobs"),
            usage: has("usage"),
            accounts: has("accounts"),
            users: has("users"),
        }
    }
}

/// Who may see and change what.
struct Rights {
    operators: HashSet<String>,
    coordinators: HashMap<String, Vec<usize>>,
    coordinators_disabled: bool,
    notes: Vec<String>,
}

impl Rights {
    /// The rights that a capture names: root and SlurmUser always, others only where slurmdbd answered.
    fn read(stored: &Stored, cluster: &Cluster, config: &str) -> Result<Rights, InputError> {
        let mut left = LeftOut::default();
        let answer = |source| stored.answers.get(&source);
        let mut operators = HashSet::from(["root".to_owned()]);
        // `slurm(64030)`
        let slurm = value_of(config, "SlurmUser").and_then(|user| user.split('(').next());
        operators.extend(slurm.map(str::to_owned));
        if let Some(answer) = answer(Source::Users) {
            let levels = rights::admin_levels(&answer.name, &answer.text, &mut left)?;
            let above = levels
                .into_iter()
                .filter(|(_, level)| *level >= AdminLevel::Operator);
            operators.extend(above.map(|(user, _)| user));
        }
        let mut coordinators: HashMap<String, Vec<usize>> = HashMap::new();
        if let Some(answer) = answer(Source::Coordinators) {
            for row in rights::coordinators(&answer.name, &answer.text, &mut left)? {
                // Accounts of other clusters are not in this tree.
                let Some(at) = cluster.account(&row.account) else {
                    continue;
                };
                for user in row.users {
                    coordinators.entry(user).or_default().push(at.get());
                }
            }
        }
        let database = answer(Source::Database).map(|answer| answer.text.as_str());
        Ok(Rights {
            operators,
            coordinators,
            coordinators_disabled: database.is_some_and(rights::coordinators_disabled),
            notes: left.notes(),
        })
    }
}

impl Picture {
    /// Reads the latest capture in a folder, or the folder itself if it is one.
    ///
    /// # Errors
    /// A capture that is damaged, or that lacks a part which pages cannot do without.
    pub fn read(folder: &Path) -> Result<Picture, PictureError> {
        let short = Source::KEPT.into_iter().filter(|source| !source.is_long());
        let stored = open_only(folder, &short.collect::<Vec<_>>())?;
        Picture::of(stored)
    }

    /// The name of the latest capture in a folder.
    ///
    /// # Errors
    /// A folder that cannot be read, or that holds none.
    pub fn latest(folder: &Path) -> Result<Option<PathBuf>, PictureError> {
        Ok(list(folder)?.pop())
    }

    fn of(stored: Stored) -> Result<Picture, PictureError> {
        let name = stored.folder.display().to_string();
        let mut snapshot =
            Snapshot::read_long(&name, &stored.answers, &|source| stored.path(source))?;
        stored.follow_policy(&mut snapshot.queued.settings.config)?;
        let mut cluster = Cluster::from_snapshot(&snapshot, None)?;
        // Pages show errors with the name of the input: the capture's own, without the folders of the server.
        if let Some(own) = stored.folder.file_name() {
            cluster.source = own.to_string_lossy().into_owned();
        }
        let shares = &mut snapshot.shares;
        shares.cluster = shares.cluster.take().or(stored.manifest.cluster.clone());
        let listed = Listed::new(&snapshot.shares, cluster.config.ranking())?;
        // As `fairtree share`: numbers that sshare printed stay where the recomputed ones can be the same.
        let mut report = share::from_listed(
            &listed,
            cluster.config.compat,
            Some(&cluster.config),
            Fractions::Printed,
        );
        // A capture holds all that Slurm was asked for.
        report.assumptions.clear();
        let priorities = prio::from_snapshot(&snapshot, None)?;
        let numbers = doctor::compare(&snapshot).map_err(|error| error.to_string());
        let line = WaitingLine::of(&cluster)?;
        let path = stored.path(Source::Names)?;
        let file = path.display().to_string();
        let names = File::open(&path).map_err(|error| InputError::new(&file, error))?;
        let names = read_names_of(&file, BufReader::new(names))?;
        let config = stored.answers.get(&Source::Config);
        let config = config.map_or("", |answer| answer.text.as_str());
        let rights = Rights::read(&stored, &cluster, config)?;
        let asked = stored.manifest.user.as_deref();
        if asked.is_some_and(|user| rights.operators.contains(user)) {
            // Nothing was hidden from who asked.
            cluster.private_data.clear();
        }
        let all = 0..cluster.tree().len();
        let standings = cluster.standings();
        let mut children = vec![Vec::new(); cluster.tree().len()];
        for at in all.clone() {
            if let Some(parent) = cluster.tree().parent(AssocIndex::new(at)) {
                children[parent.get()].push(at);
            }
        }
        let (mut accounts, mut own) = (HashMap::new(), HashMap::<String, Vec<usize>>::new());
        for (at, name) in cluster.names.iter().enumerate() {
            match &name.user {
                Some(user) => own.entry(user.clone()).or_default().push(at),
                None => {
                    let name = name.account.to_ascii_lowercase();
                    accounts.entry(name).or_insert(AssocIndex::new(at));
                }
            }
        }
        let mut priced: HashMap<u32, Vec<usize>> = HashMap::new();
        for at in 0..priorities.rows.len() {
            if let (Some(id), _) = priorities.rows.head(at) {
                priced.entry(id).or_default().push(at);
            }
        }
        let rows = snapshot.queued.jobs.clone();
        let mut of_user: HashMap<String, Vec<usize>> = HashMap::new();
        let mut jobs = HashMap::new();
        let places: HashMap<u32, usize> = rows.iter().map(|row| row.id).zip(0..).collect();
        for (at, job) in cluster.jobs().iter().enumerate() {
            if let Some(place) = places.get(&job.job.id) {
                jobs.insert(job.job.id, (*place, at));
            }
            if job.phase != JobPhase::Ended {
                of_user.entry(job.user.to_string()).or_default().push(at);
            }
        }
        Ok(Picture {
            private: Private::parse(value_of(config, "PrivateData")),
            operators: rights.operators,
            coordinators: rights.coordinators,
            coordinators_disabled: rights.coordinators_disabled,
            linted: None,
            config_text: config.to_owned(),
            report,
            priorities,
            numbers,
            spreads: spreads(&line),
            tied_users: tied_users(&cluster),
            line,
            notes: [cluster.assumptions.clone(), rights.notes].concat(),
            standings: all.map(|at| standings.of(AssocIndex::new(at))).collect(),
            load: cluster.load(),
            entitlement: cluster.entitlement(),
            rows,
            names,
            jobs,
            priced,
            children,
            accounts,
            own,
            of_user,
            findings: OnceLock::new(),
            past: OnceLock::new(),
            drawn: Drawn::default(),
            metrics: OnceLock::new(),
            folder: stored.folder,
            manifest: stored.manifest,
            cluster,
        })
    }

    /// The site as explanations need it.
    pub fn ranked(&self) -> RankedSite<'_> {
        RankedSite::of(&self.cluster, &self.load, &self.entitlement)
    }

    /// The standing of an association, by position.
    pub fn standing(&self, at: usize) -> &Standing {
        &self.standings[at]
    }

    /// The associations right below one.
    pub fn children(&self, at: usize) -> &[usize] {
        &self.children[at]
    }

    /// The account with a name, in either case of letters, as Slurm has them.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        self.accounts.get(&name.to_ascii_lowercase()).copied()
    }

    /// The associations of a user, by position.
    pub fn assocs_of(&self, user: &str) -> &[usize] {
        self.own.get(user).map_or(&[], Vec::as_slice)
    }

    /// Findings of the doctor, computed once.
    pub fn findings(&self) -> &[Finding] {
        self.findings.get_or_init(|| health::findings(self))
    }

    /// Past jobs, read once: of this capture, or of the latest one before it that has any; else the reason why they
    /// cannot be read.
    pub fn past(&self) -> &Result<Arc<Past>, String> {
        self.past_after(None)
    }

    /// As [`Picture::past`]; those of the picture before where they are the same.
    pub fn past_after(&self, before: Option<&Picture>) -> &Result<Arc<Past>, String> {
        self.past.get_or_init(|| {
            let before = before.and_then(|before| before.past.get()?.as_ref().ok());
            Past::of(self, before).map_err(|error| error.explained().to_string())
        })
    }

    /// Returns true if these past jobs were read for this picture already.
    pub fn has_past(&self, past: &Arc<Past>) -> bool {
        let own = self.past.get().and_then(|own| own.as_ref().ok());
        own.is_some_and(|own| Arc::ptr_eq(own, past))
    }

    /// The row of scontrol, and the position among the cluster's jobs, of a job.
    pub fn job(&self, id: u32) -> Option<(&JobRow, usize)> {
        let (row, at) = self.jobs.get(&id)?;
        Some((&self.rows[*row], *at))
    }

    /// The names that owners gave their jobs.
    pub fn names(&self) -> &Names {
        &self.names
    }

    /// The name that its owner gave a job.
    pub fn job_name(&self, id: u32) -> Option<&str> {
        self.names.get(id)
    }

    /// Rows of the report on priorities of a job.
    pub fn priced(&self, id: u32) -> &[usize] {
        self.priced.get(&id).map_or(&[], Vec::as_slice)
    }

    /// Jobs of a user that wait or run, by position among the cluster's jobs.
    pub fn jobs_of(&self, user: &str) -> &[usize] {
        self.of_user.get(user).map_or(&[], Vec::as_slice)
    }

    /// Metrics of the picture as of its own moment, without its age, computed once; else the reason why they
    /// cannot be computed. `users`: number of users with series of their own.
    pub fn metrics(&self, users: usize) -> &Result<Vec<Family>, String> {
        self.metrics.get_or_init(|| {
            let about = About {
                cluster: self.manifest.cluster.clone().unwrap_or_default(),
                taken: None,
                now: self.time(),
                top_users: users,
            };
            families(&self.cluster, &about).map_err(|error| error.to_string())
        })
    }

    /// Time at which the capture began, seconds since 1970.
    pub fn time(&self) -> i64 {
        i64::try_from(self.manifest.time).unwrap_or(i64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The words: slurm.conf(5), PrivateData.
    #[test]
    fn what_is_private() {
        let none = Private::parse(Some("none"));
        assert!(!none.jobs && !none.usage && !none.accounts && !none.users);
        let some = Private::parse(Some("accounts,jobs"));
        assert!(some.jobs && some.accounts && !some.usage);
        assert!(Private::parse(None).usage);
        assert!(Private::parse(Some("all")).users);
    }
}
