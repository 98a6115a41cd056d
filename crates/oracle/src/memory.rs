//! State of a plugin apart from slurmctld's records: in memory between hooks, and in files.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use num_traits::{One as _, Zero as _};

use super::number::Fraction;
use super::records::{Assoc, Job, Leaf, Records, Usage};

/// Usage as our plugin saves it: of users, and of removed users in accounts.
#[derive(Clone, Debug, Default)]
pub struct Saved {
    /// The clock at the save.
    pub time: i64,
    pub assocs: BTreeMap<u32, Usage>,
    pub qos: BTreeMap<u32, Usage>,
}

impl Saved {
    /// The usage in these records.
    pub fn of(records: &Records) -> Saved {
        let own = |assoc: &Assoc| match &assoc.leaf {
            Leaf::None => None,
            Leaf::Own => Some(assoc.usage.clone()).filter(Usage::is_any),
            Leaf::Apart(leaf) => Some(leaf.clone()).filter(Usage::is_any),
        };
        let assocs = records.assocs.iter();
        Saved {
            time: records.now,
            assocs: assocs
                .filter_map(|(id, assoc)| Some((*id, own(assoc)?)))
                .collect(),
            qos: records
                .qos
                .iter()
                .map(|(id, qos)| (*id, qos.usage.clone()))
                .collect(),
        }
    }
}

/// Files: the saved usage, and the time of slurmctld's own dump.
#[derive(Clone, Debug, Default)]
pub struct Files {
    pub saved: Option<Rc<Saved>>,
    /// The clock at slurmctld's last dump of usage.
    pub dumped: Option<i64>,
    /// True if the dump was written after the plugin's file.
    pub dump_is_last: bool,
}

/// Results of the last pass.
#[derive(Clone, Debug, Default)]
pub struct LastPass {
    pub assocs: BTreeMap<u32, Rc<Assoc>>,
    pub factors: BTreeMap<u32, Fraction>,
}

impl LastPass {
    /// The factor at the last pass; for a newer association the most likely factor.
    pub fn factor(&self, records: &Records, assoc: u32) -> Fraction {
        if self.assocs.contains_key(&assoc) {
            return self
                .factors
                .get(&assoc)
                .cloned()
                .unwrap_or_else(Fraction::zero);
        }
        let line = records.line_up(assoc);
        let new = line.iter().take_while(|id| !self.assocs.contains_key(id));
        let unentitled = new.clone().any(|id| records.assocs[id].shares_raw == 0);
        let known = line.iter().filter(|id| self.assocs.contains_key(id));
        for ancestor in known {
            let users = self.assocs.values().filter(|assoc| assoc.is_user);
            let below = users.filter(|user| self.is_below(user.id, *ancestor));
            let mut factors: Vec<&Fraction> = below
                .filter_map(|user| self.factors.get(&user.id))
                .collect();
            factors.sort();
            let found = if unentitled {
                factors.first()
            } else {
                factors.last()
            };
            if let Some(found) = found {
                return (*found).clone();
            }
        }
        Fraction::one()
    }

    fn is_below(&self, user: u32, ancestor: u32) -> bool {
        let mut next = self.assocs.get(&user);
        while let Some(assoc) = next {
            if assoc.id == ancestor {
                return true;
            }
            next = self.assocs.get(&assoc.parent);
        }
        false
    }
}

/// State that a plugin keeps between calls.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    pub last_ran: Option<i64>,
    pub last_reset: i64,
    /// True if RESET NOW must still be done: at start, and (stock) after any reconfigure.
    pub armed: bool,
    pub rearmed: bool,
    /// The next reset, which stock computes once.
    pub next_reset: Option<i64>,
    /// The ranking of the last normalisation of shares.
    pub ranking: [bool; 2],
    /// The half-life of the last pass.
    pub half_life: u32,
    /// Ends charged since the last pass, by job and start: charged until; true if the run is over.
    pub recent: BTreeMap<(u32, i64), (i64, bool)>,
    /// Runs of jobs, by job and start, that the last pass found; `None`: unknown.
    pub runs: Option<Rc<BTreeSet<(u32, i64)>>>,
    /// True if the clock is behind that pass; then `later` has the charge limits of newer runs.
    pub behind: bool,
    pub later: BTreeMap<(u32, i64), i64>,
    pub last_pass: Rc<LastPass>,
    /// Stock without slurmdbd: no age factor until the next reconfigure.
    pub ageless: bool,
    pub files: Files,
    /// The files that are restored after a crash.
    pub files_at_crash: Option<Files>,
}

impl Memory {
    /// Updates the state when the plugin starts.
    pub fn start(&mut self, records: &Records) {
        if let Some(kept) = self.files_at_crash.take() {
            self.files = kept;
        }
        let known = |time: i64| (time != 0).then_some(time);
        // Without slurmdbd stock writes the file and never reads it.
        let times = records.times.filter(|_| records.conf.slurmdbd);
        self.last_ran = times.and_then(|(last_ran, _)| known(last_ran));
        self.last_reset = times
            .and_then(|(_, reset)| known(reset))
            .unwrap_or(records.now);
        self.armed = true;
        self.rearmed = false;
        self.next_reset = None;
        self.ranking = records.conf.ranking();
        self.half_life = records.conf.half_life;
        self.recent.clear();
        self.runs = None;
        self.behind = false;
        self.later.clear();
        self.last_pass = Rc::default();
        self.ageless = !records.conf.slurmdbd;
    }

    /// Returns true if the run existed at the last pass.
    pub fn knows(&self, job: &Job) -> bool {
        let runs = self.runs.as_ref();
        runs.is_none_or(|runs| runs.contains(&(job.id, job.start)))
    }

    /// Updates the state after a pass has charged all running jobs.
    pub fn pass(&mut self, records: &Records, last_ran: i64) {
        self.last_ran = Some(last_ran);
        self.behind = records.now < last_ran;
        let runs = records.jobs.values().filter(|job| {
            let waits = job.is_pending() && !job.is_completing();
            job.start != 0 && job.end_time_exp.is_some() && !waits
        });
        let runs: BTreeSet<(u32, i64)> = runs.map(|job| (job.id, job.start)).collect();
        if !self.behind {
            self.runs = Some(Rc::new(runs));
            self.later.clear();
            return;
        }
        let known = Rc::clone(self.runs.get_or_insert_with(|| Rc::new(runs.clone())));
        let since = runs.difference(&known);
        let until = |run: &(u32, i64)| {
            let before = self.later.get(run).copied().unwrap_or(run.1);
            (*run, before.max(records.now))
        };
        self.later = since.map(until).collect();
    }

    /// Updates the state after a possible change of settings.
    pub fn reconfigure(&mut self) {
        self.rearmed = true;
        self.next_reset = None;
        self.ageless = false;
    }

    /// The memory in case both files were written in the same second and belong together, although
    /// the plugin's file is the older one: file times on disk come from a different clock than the
    /// life's. `None`: they have different times.
    pub fn of_one_second(&self) -> Option<Memory> {
        let files = self.files_at_crash.as_ref().unwrap_or(&self.files);
        let saved = files.saved.as_ref()?.time;
        if files.dumped != Some(saved) || !files.dump_is_last {
            return None;
        }
        let mut other = self.clone();
        let files = other.files_at_crash.as_mut().unwrap_or(&mut other.files);
        files.dump_is_last = false;
        Some(other)
    }

    /// The usage in our plugin's files, if they are newer than slurmctld's.
    pub fn newer_than_dump(&self) -> Option<Rc<Saved>> {
        let saved = self.files.saved.clone()?;
        let newer = match self.files.dumped {
            None => true,
            Some(dumped) if dumped == saved.time => !self.files.dump_is_last,
            Some(dumped) => saved.time > dumped,
        };
        newer.then_some(saved)
    }
}
