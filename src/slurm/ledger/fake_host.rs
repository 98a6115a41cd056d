//! A host of plain rows that feeds the ledger, and a naive host that keeps every second of every
//! run.

use super::exchange::{Found, LedgerComplaints, SeenQos, SeenSite};
use super::plan::LedgerPlan;
use super::run_ledgers::RunLedgers;
use super::seen::{RunEnd, SeenRun, ran_secs};
use super::written::Held;
use crate::config::{Config, PriorityParameters, UsageModel};
use crate::extended::Extended;
use crate::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::window::{LeafKey, OWN_FILE, QOS_FILE, UsageHistory};
use crate::usage::{EndState, Plan};
use jiff::tz::TimeZone;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

pub(super) const START: i64 = 1_800_000_000;

/// A job in the host's list.
#[derive(Clone, Debug)]
pub(super) struct JobRecord {
    pub(super) id: u32,
    pub(super) assoc: AssocId,
    pub(super) qos: [u32; 2],
    pub(super) cpus: u64,
    pub(super) start: i64,
    pub(super) end: Option<(i64, EndState)>,
    /// slurmctld's own state of suspension.
    pub(super) suspended: bool,
    pub(super) suspend_time: i64,
    pub(super) ran_before: i64,
    /// Every second in which it ran, with the association and QOS that pay for it.
    pub(super) seconds: BTreeMap<i64, (AssocId, [u32; 2])>,
}

impl JobRecord {
    /// Runs from one moment to another.
    pub(super) fn run(&mut self, from: i64, to: i64) {
        let payers = (self.assoc, self.qos);
        self.seconds
            .extend((from..to).map(|second| (second, payers)));
    }
}

pub(super) struct FakeHost {
    pub(super) ledgers: RunLedgers,
    pub(super) config: Config,
    pub(super) tree: Arc<Tree>,
    pub(super) qos: Vec<SeenQos>,
    pub(super) now: i64,
    pub(super) jobs: Vec<JobRecord>,
    /// Reported ends that no pass has seen yet.
    pub(super) ended: Vec<SeenRun<'static>>,
    /// Values in the records of associations, by position.
    pub(super) records: Vec<f64>,
    /// Values to which they were set.
    pub(super) written: Vec<Extended>,
    /// Values in the records of QOS, by id.
    pub(super) of_qos: HashMap<u32, f64>,
    /// Files on disk.
    pub(super) files: Vec<(&'static str, Vec<u8>)>,
}

/// root 1 -> accounts 2, 3; 2 -> users 4, 5; 3 -> user 6.
pub(super) fn tree_of(users: &[(u32, u32)]) -> Arc<Tree> {
    let row = |id, parent, kind| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    };
    let mut rows = vec![
        row(1, None, AssocKind::Account),
        row(2, Some(1), AssocKind::Account),
        row(3, Some(1), AssocKind::Account),
    ];
    let user = |(id, account): &(u32, u32)| row(*id, Some(*account), AssocKind::User);
    rows.extend(users.iter().map(user));
    Arc::new(Tree::from_rows(rows).unwrap())
}

pub(super) fn name(id: AssocId) -> LeafKey {
    let (account, user) = match id {
        1 => ("root", ""),
        2 => ("a", ""),
        3 => ("b", ""),
        4 => ("a", "u4"),
        5 => ("a", "u5"),
        6 => ("b", "u6"),
        other => panic!("no association {other}"),
    };
    LeafKey::new(account, user, "").unwrap()
}

pub(super) fn config(parameters: &str) -> Config {
    Config {
        parameters: PriorityParameters::parse(parameters, None).unwrap(),
        ..Config::default()
    }
}

/// A record with this usage; its wall time adds no information.
pub(super) fn held_of(usage: Extended) -> Held {
    let wall = if usage.is_zero() { 0.0 } else { f64::INFINITY };
    Held { usage, wall }
}

pub(super) fn qos(id: u32, no_decay: bool) -> SeenQos {
    SeenQos {
        id,
        no_decay,
        held: None,
    }
}

impl FakeHost {
    pub(super) fn new(parameters: &str) -> FakeHost {
        FakeHost {
            ledgers: RunLedgers::default(),
            config: config(parameters),
            tree: tree_of(&[(4, 2), (5, 2), (6, 3)]),
            qos: vec![qos(1, false), qos(2, false), qos(3, true)],
            now: START,
            jobs: Vec::new(),
            ended: Vec::new(),
            records: vec![0.0; 6],
            written: Vec::new(),
            of_qos: HashMap::new(),
            files: Vec::new(),
        }
    }

    pub(super) fn start(&mut self, id: u32, assoc: AssocId, qos: [u32; 2], cpus: u64) {
        self.jobs.push(JobRecord {
            id,
            assoc,
            qos,
            cpus,
            start: self.now,
            end: None,
            suspended: false,
            suspend_time: 0,
            ran_before: 0,
            seconds: BTreeMap::new(),
        });
    }

    pub(super) fn pass_time(&mut self, secs: i64) {
        for job in &mut self.jobs {
            if job.end.is_none() && !job.suspended {
                job.run(self.now, self.now + secs);
            }
        }
        self.now += secs;
    }

    pub(super) fn running(&mut self, id: u32) -> Option<&mut JobRecord> {
        let mut jobs = self.jobs.iter_mut();
        jobs.find(|job| job.id == id && job.end.is_none())
    }

    pub(super) fn suspend(&mut self, id: u32) {
        let now = self.now;
        if let Some(job) = self.running(id).filter(|job| !job.suspended) {
            let since = match job.suspend_time {
                0 => job.start,
                resumed => resumed,
            };
            job.ran_before += now - since;
            (job.suspended, job.suspend_time) = (true, now);
        }
    }

    pub(super) fn resume(&mut self, id: u32) {
        let now = self.now;
        if let Some(job) = self.running(id).filter(|job| job.suspended) {
            (job.suspended, job.suspend_time) = (false, now);
        }
    }

    pub(super) fn seen(&self, job: &JobRecord) -> SeenRun<'static> {
        let until = match job.end {
            Some((end, _)) => end,
            None if job.suspended => job.suspend_time,
            None => self.now,
        };
        SeenRun {
            run: (job.id, job.start),
            assoc_id: job.assoc,
            qos_ids: job.qos,
            until,
            ran_secs: ran_secs(
                job.start,
                until,
                job.ran_before,
                job.suspend_time,
                job.suspended,
            ),
            billing: job.cpus as f64,
            factor: 1.0,
            tres: vec![job.cpus, 100 * job.cpus, job.cpus].into(),
            end: job.end.map(|(_, state)| RunEnd {
                state,
                exit_code: 0,
            }),
        }
    }

    /// `reports`: slurmctld reports the end.
    pub(super) fn end(&mut self, id: u32, state: EndState, reports: bool) {
        let now = self.now;
        let Some(job) = self.running(id) else {
            return;
        };
        let end = if job.suspended { job.suspend_time } else { now };
        job.suspended = false;
        job.end = Some((end, state));
        let job = job.clone();
        if reports {
            let seen = self.seen(&job);
            self.ended.push(seen.clone());
            // This happens after a restart, for jobs that are completing.
            self.ended.push(seen);
        }
    }

    pub(super) fn pass(&mut self) -> LedgerComplaints {
        self.tell(false)
    }

    /// The same pass again, because the records differed when they were written.
    pub(super) fn pass_again(&mut self) -> LedgerComplaints {
        self.tell(true)
    }

    pub(super) fn tell(&mut self, again: bool) -> LedgerComplaints {
        let rows: Vec<SeenRun<'static>> = self.jobs.iter().map(|job| self.seen(job)).collect();
        let plan = LedgerPlan::new(&self.config, &TimeZone::UTC);
        let tree = Arc::clone(&self.tree);
        let (records, written) = (self.records.clone(), self.written.clone());
        // A record holds more digits than the tests see.
        let held = |index: AssocIndex| {
            let record = records[index.get()];
            let set = written.get(index.get()).copied();
            let set = set.filter(|set| set.to_f64() == record);
            set.or(Extended::from_f64(record)).map(held_of)
        };
        for qos in &mut self.qos {
            let record = self.of_qos.get(&qos.id).copied().unwrap_or_default();
            qos.held = Extended::from_f64(record).map(held_of);
        }
        let tres = ["cpu", "mem", "billing"].map(str::to_owned);
        let names = || {
            let ids = tree.rows().iter();
            ids.map(|row| (row.id, name(row.id))).collect()
        };
        let account = |account: &str| match account {
            "a" => 2,
            "b" => 3,
            other => panic!("no account {other}"),
        };
        let plans: Vec<(AssocId, Plan)> = plan
            .accounts
            .iter()
            .map(|(name, plan)| (account(name), *plan))
            .collect();
        let site = SeenSite {
            cluster: "hpc",
            tree: &self.tree,
            tres: &tres,
            qos: &self.qos,
            now: self.now,
            plan: &plan,
            plans: &plans,
            held: Some(&held),
            names: &names,
        };
        let files = &self.files;
        let found = || {
            let load = |wanted: &str| {
                let file = files.iter().find(|(name, _)| *name == wanted)?;
                Some(UsageHistory::load(&file.1).unwrap())
            };
            Found {
                assocs: load(OWN_FILE),
                qos: load(QOS_FILE),
                continues: true,
            }
        };
        let complaints = match again {
            true => self.ledgers.pass_again(&site),
            false => self.ledgers.pass(&site, found, &self.ended, &rows),
        };
        self.ended.clear();
        self.files = self.ledgers.files().unwrap();
        if self.config.usage() == UsageModel::HalfLife {
            // Records are not set to the numbers of the ledger.
            return complaints;
        }
        let mut usage = vec![Extended::ZERO; self.tree.len()];
        let nodes: Vec<AssocIndex> = self.tree.indices().collect();
        let read = self
            .ledgers
            .read(&self.tree, &nodes, |index, [billing, _], _| {
                usage[index.get()] = billing;
            });
        assert_eq!(read, Some(()));
        self.records = usage.iter().map(|usage| usage.to_f64()).collect();
        for change in self.ledgers.qos_changes() {
            let record = self.of_qos.entry(change.id).or_default();
            let number = change.numbers.billing.to_f64();
            *record = if change.adds {
                *record + number
            } else {
                number
            };
        }
        let held = usage.iter().copied().map(held_of).collect();
        self.ledgers.set_written(held);
        let held = self.of_qos.iter().map(|(id, usage)| {
            let usage = Extended::from_f64(*usage).unwrap();
            (*id, held_of(usage))
        });
        self.ledgers.set_qos_held(held);
        self.written = usage;
        complaints
    }

    /// A kill and a new start: data that no pass has saved is lost, except the records of jobs.
    pub(super) fn restart(&mut self) {
        self.ledgers = RunLedgers::default();
        self.ended.clear();
    }

    /// Use that a naive host finds for an association: billing TRES-seconds since `from`.
    pub(super) fn naive(&self, from: i64, pays: impl Fn(AssocId, [u32; 2]) -> bool) -> f64 {
        let counts = self.config.counts();
        let counts = crate::usage::Outcomes::from(counts);
        let counted = |job: &&JobRecord| job.end.is_none_or(|(_, state)| counts.counts(state, 0));
        let used = |job: &JobRecord| {
            let seconds = job.seconds.range(from..);
            let paid = seconds.filter(|(_, (assoc, qos))| pays(*assoc, *qos));
            job.cpus as f64 * paid.count() as f64
        };
        self.jobs.iter().filter(counted).map(used).sum()
    }

    pub(super) fn agrees(&self, from: i64) {
        for (position, record) in self.records.iter().enumerate() {
            let id = self.tree.rows()[position].id;
            let pays = |assoc, _| {
                let mut next = self.tree.index_of(assoc);
                while let Some(index) = next {
                    if self.tree.rows()[index.get()].id == id {
                        return true;
                    }
                    next = self.tree.parent(index);
                }
                false
            };
            assert_eq!(*record, self.naive(from, pays), "association {id}");
        }
        for id in [1, 2] {
            let record = self.of_qos.get(&id).copied().unwrap_or(0.0);
            let expected = self.naive(from, |_, qos| qos.contains(&id));
            assert_eq!(record, expected, "QOS {id}");
        }
    }
}

pub(super) const WINDOW: &str = "usage=window:5:00,resolution=0:01";
