//! The ledger fed by a host of plain rows, compared with what is found by a naive host that keeps every
//! second of every run.

use super::keeper::{Found, Keeper, LedgerComplaints, SeenQos, SeenSite};
use super::plan::LedgerPlan;
use super::seen::{RunEnd, SeenRun, ran_secs};
use super::written::Held;
use crate::config::{Config, PriorityParameters};
use crate::extended::Extended;
use crate::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::window::{Columns, History, LeafKey, OWN_FILE, QOS_FILE};
use crate::usage::{EndState, Plan};
use jiff::tz::TimeZone;
use proptest::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

const START: i64 = 1_800_000_000;

/// A job in the host's list.
#[derive(Clone, Debug)]
struct JobRecord {
    id: u32,
    assoc: AssocId,
    qos: [u32; 2],
    cpus: u64,
    start: i64,
    end: Option<(i64, EndState)>,
    /// slurmctld's own record of suspension.
    suspended: bool,
    suspend_time: i64,
    ran_before: i64,
    /// Every second in which it ran, and who pays for it: an association, and QOS.
    seconds: BTreeMap<i64, (AssocId, [u32; 2])>,
}

impl JobRecord {
    /// It runs from one moment to another.
    fn run(&mut self, from: i64, to: i64) {
        let payers = (self.assoc, self.qos);
        self.seconds
            .extend((from..to).map(|second| (second, payers)));
    }
}

struct FakeHost {
    keeper: Keeper,
    config: Config,
    tree: Arc<Tree>,
    qos: Vec<SeenQos>,
    now: i64,
    jobs: Vec<JobRecord>,
    /// Reported ends that no pass has seen.
    ended: Vec<SeenRun<'static>>,
    /// What the records of associations hold, by position.
    records: Vec<f64>,
    /// What they were set to.
    written: Vec<Extended>,
    /// That of QOS, by id.
    of_qos: HashMap<u32, f64>,
    /// What would be on disk.
    files: Vec<(&'static str, Vec<u8>)>,
}

/// root 1 -> accounts 2, 3; 2 -> users 4, 5; 3 -> user 6.
fn tree_of(users: &[(u32, u32)]) -> Arc<Tree> {
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

fn name(id: AssocId) -> LeafKey {
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

fn config(parameters: &str) -> Config {
    Config {
        parameters: PriorityParameters::parse(parameters, None).unwrap(),
        ..Config::default()
    }
}

/// A record with this usage, whose wall time tells nothing else.
fn held_of(usage: Extended) -> Held {
    let wall = if usage.is_zero() { 0.0 } else { f64::INFINITY };
    Held { usage, wall }
}

fn qos(id: u32, no_decay: bool) -> SeenQos {
    SeenQos {
        id,
        no_decay,
        held: None,
    }
}

impl FakeHost {
    fn new(parameters: &str) -> FakeHost {
        FakeHost {
            keeper: Keeper::default(),
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

    fn start(&mut self, id: u32, assoc: AssocId, qos: [u32; 2], cpus: u64) {
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

    fn pass_time(&mut self, secs: i64) {
        for job in &mut self.jobs {
            if job.end.is_none() && !job.suspended {
                job.run(self.now, self.now + secs);
            }
        }
        self.now += secs;
    }

    fn running(&mut self, id: u32) -> Option<&mut JobRecord> {
        let mut jobs = self.jobs.iter_mut();
        jobs.find(|job| job.id == id && job.end.is_none())
    }

    fn suspend(&mut self, id: u32) {
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

    fn resume(&mut self, id: u32) {
        let now = self.now;
        if let Some(job) = self.running(id).filter(|job| job.suspended) {
            (job.suspended, job.suspend_time) = (false, now);
        }
    }

    fn seen(&self, job: &JobRecord) -> SeenRun<'static> {
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

    /// `reports`: slurmctld tells of the end.
    fn end(&mut self, id: u32, state: EndState, reports: bool) {
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
            // As happens after a restart, for jobs that are completing.
            self.ended.push(seen);
        }
    }

    fn pass(&mut self) -> LedgerComplaints {
        self.tell(false)
    }

    /// The same pass once more, as records turned out to be others when they were written.
    fn pass_again(&mut self) -> LedgerComplaints {
        self.tell(true)
    }

    fn tell(&mut self, again: bool) -> LedgerComplaints {
        let rows: Vec<SeenRun<'static>> = self.jobs.iter().map(|job| self.seen(job)).collect();
        let plan = LedgerPlan::new(&self.config, &TimeZone::UTC);
        let tree = Arc::clone(&self.tree);
        let (records, written) = (self.records.clone(), self.written.clone());
        // A record holds more digits than what the tests see of it.
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
            held: &held,
            names: &names,
        };
        let files = &self.files;
        let found = || {
            let load = |wanted: &str| {
                let file = files.iter().find(|(name, _)| *name == wanted)?;
                Some(History::load(&file.1).unwrap())
            };
            Found {
                assocs: load(OWN_FILE),
                qos: load(QOS_FILE),
                continues: true,
            }
        };
        let complaints = match again {
            true => self.keeper.pass_again(&site),
            false => self.keeper.pass(&site, found, &self.ended, &rows),
        };
        self.ended.clear();
        let mut usage = vec![Extended::ZERO; self.tree.len()];
        let nodes: Vec<AssocIndex> = self.tree.indices().collect();
        let read = self
            .keeper
            .read(&self.tree, &nodes, |index, [billing, _], _| {
                usage[index.get()] = billing;
            });
        assert_eq!(read, Some(()));
        self.records = usage.iter().map(|usage| usage.to_f64()).collect();
        for change in self.keeper.qos_changes() {
            let record = self.of_qos.entry(change.id).or_default();
            let number = change.numbers.billing.to_f64();
            *record = if change.adds {
                *record + number
            } else {
                number
            };
        }
        let held = usage.iter().copied().map(held_of).collect();
        self.keeper.set_written(held);
        let held = self.of_qos.iter().map(|(id, usage)| {
            let usage = Extended::from_f64(*usage).unwrap();
            (*id, held_of(usage))
        });
        self.keeper.set_qos_held(held);
        self.written = usage;
        self.files = self.keeper.files().unwrap();
        complaints
    }

    /// A kill and a new start: what no pass has saved is gone, but for the records of jobs.
    fn restart(&mut self) {
        self.keeper = Keeper::default();
        self.ended.clear();
    }

    /// What a naive host finds for an association: billing TRES-seconds since `from`.
    fn naive(&self, from: i64, pays: impl Fn(AssocId, [u32; 2]) -> bool) -> f64 {
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

    fn agrees(&self, from: i64) {
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

const WINDOW: &str = "usage=window:5:00,resolution=0:01";

#[test]
fn a_window_forgets_to_the_second() {
    // By hand: 4 CPUs for 100 s, in a window of 300 s with buckets of 1 s.
    let mut host = FakeHost::new(WINDOW);
    host.start(7, 4, [1, 2], 4);
    host.pass_time(100);
    host.end(7, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records, [400.0, 400.0, 0.0, 400.0, 0.0, 0.0]);
    assert_eq!(host.of_qos[&2], 400.0);
    host.pass_time(250);
    host.pass();
    assert_eq!(host.records[0], 200.0);
    host.pass_time(50);
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    // TRES and wall time are numbers of their own.
    host.start(8, 6, [1, 0], 2);
    host.pass_time(10);
    host.pass();
    let mut found = Vec::new();
    let user = [AssocIndex::new(5)];
    let read = host.keeper.read(&host.tree, &user, |_, numbers, tres| {
        let all = numbers.iter().chain(tres);
        found.extend(all.map(|number| number.to_f64()));
    });
    assert_eq!(read, Some(()));
    assert_eq!(found, [20.0, 10.0, 20.0, 2_000.0, 20.0]);
}

#[test]
fn an_end_that_does_not_count_is_taken_back_whole() {
    let mut host = FakeHost::new("usage=window:1-0,counts=COMPLETED+TIMEOUT");
    host.start(1, 4, [1, 3], 2);
    host.start(2, 5, [1, 3], 1);
    host.pass_time(7_000);
    host.pass();
    assert_eq!(host.records[0], 21_000.0);
    // QOS 3 has NoDecay: the pass charges its record as ever.
    host.of_qos.insert(3, 21_000.0);
    host.end(1, EndState::Cancelled, true);
    host.end(2, EndState::Timeout, true);
    host.pass();
    assert_eq!(host.records, [7_000.0, 7_000.0, 0.0, 0.0, 7_000.0, 0.0]);
    assert_eq!((host.of_qos[&1], host.of_qos[&3]), (7_000.0, 7_000.0));
    host.pass();
    assert_eq!(host.of_qos[&3], 7_000.0);
}

/// What a run used before its QOS was reset is not taken out of the record again.
#[test]
fn a_qos_without_decay_that_is_reset_gives_nothing_back_twice() {
    let mut host = FakeHost::new("usage=window:1-0,counts=COMPLETED");
    host.start(1, 4, [1, 3], 2);
    for (secs, record) in [(1_000, 2_000.0), (100, 2_200.0)] {
        host.pass_time(secs);
        host.pass();
        // QOS 3 has NoDecay: the pass charges its record as ever.
        host.of_qos.insert(3, record);
    }
    host.of_qos.insert(3, 0.0);
    host.pass_time(100);
    host.pass();
    // What was used up to the pass that finds the reset is not taken back.
    host.of_qos.insert(3, 200.0);
    host.pass_time(50);
    host.end(1, EndState::NodeFail, true);
    host.of_qos.insert(3, 300.0);
    host.pass();
    assert_eq!(host.of_qos[&3], 200.0);
}

#[test]
fn suspended_time_does_not_count() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.pass_time(10);
    host.pass();
    host.suspend(1);
    host.pass_time(40);
    host.pass();
    assert_eq!(host.records[0], 10.0);
    host.pass_time(3);
    host.resume(1);
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records[0], 15.0);
    host.suspend(1);
    host.pass_time(2);
    host.end(1, EndState::Cancelled, true);
    host.pass();
    host.agrees(START);
    assert_eq!(host.records[0], 15.0);
}

#[test]
fn totals_stand_beside_windows() {
    let since = "1970-01-01";
    let mut host = FakeHost::new("usage=window:1:00,resolution=0:01");
    let text = format!("[accounts.b]\nplan = 'total:{since}'\n");
    let file = crate::config::PolicyFile::parse(&text, "p", None).unwrap();
    host.config.accounts = file.accounts;
    host.start(1, 4, [1, 0], 1);
    host.start(2, 6, [1, 0], 1);
    host.pass_time(200);
    host.pass();
    assert_eq!(host.records, [120.0, 60.0, 200.0, 60.0, 0.0, 200.0]);
}

#[test]
fn another_model_and_back_finds_the_same() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 3);
    host.pass_time(100);
    host.pass();
    let window = host.config.clone();
    host.config = config("");
    host.pass_time(50);
    host.end(1, EndState::Completed, true);
    host.pass();
    host.restart();
    host.pass_time(20);
    host.pass();
    host.config = window;
    host.pass();
    host.agrees(host.now - 300);
    assert_eq!(host.records[0], 450.0);
}

#[test]
fn a_reset_is_followed_and_runs_begin_anew() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.start(2, 6, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    // sacctmgr modify account a set RawUsage=0.
    host.records = vec![100.0, 0.0, 100.0, 0.0, 0.0, 100.0];
    host.pass_time(10);
    host.pass();
    assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
    host.pass_time(10);
    host.pass();
    assert_eq!(host.records, [130.0, 10.0, 120.0, 10.0, 0.0, 120.0]);
    host.keeper.clear();
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    host.restart();
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records, [10.0, 5.0, 5.0, 5.0, 0.0, 5.0]);
}

/// The snapshot of a pass was older than the reset: what that pass charged is forgotten, too.
#[test]
fn a_reset_that_is_found_when_records_are_written_is_followed() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.start(2, 6, [1, 0], 1);
    host.pass_time(110);
    host.pass();
    assert_eq!(host.records, [220.0, 110.0, 110.0, 110.0, 0.0, 110.0]);
    // sacctmgr modify user u4 set RawUsage=0; the record of QOS 1 stays.
    host.records[3] = 0.0;
    host.of_qos.insert(1, 0.0);
    host.pass_again();
    assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
    assert_eq!(host.of_qos[&1], 220.0);
    host.pass_time(10);
    host.pass();
    assert_eq!(host.records, [130.0, 10.0, 120.0, 10.0, 0.0, 120.0]);
    assert_eq!(host.of_qos[&1], 240.0);
}

/// sacctmgr modify user u4, and later QOS 1, set RawUsage=0; then a job ends, and its record has something
/// again before the next pass.
#[test]
fn a_reset_is_followed_where_a_job_has_ended_since() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.start(2, 6, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    host.records = vec![105.0, 5.0, 100.0, 5.0, 0.0, 100.0];
    host.pass_time(10);
    host.end(1, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records, [110.0, 0.0, 110.0, 0.0, 0.0, 110.0]);
    assert_eq!(host.of_qos[&1], 220.0);
    host.of_qos.insert(1, 5.0);
    host.pass_time(10);
    host.pass();
    assert_eq!(host.of_qos[&1], 0.0);
    host.pass_time(10);
    host.pass();
    assert_eq!(host.of_qos[&1], 10.0);
    assert_eq!(host.records, [130.0, 0.0, 130.0, 0.0, 0.0, 130.0]);
}

/// The only user of account a that had used something is moved away, and the record of a has nothing.
#[test]
fn a_move_is_no_reset_of_those_who_stay() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    assert_eq!(host.records, [100.0, 100.0, 0.0, 100.0, 0.0, 0.0]);
    host.start(2, 5, [1, 0], 1);
    host.pass_time(10);
    host.tree = tree_of(&[(4, 3), (5, 2), (6, 3)]);
    host.records = vec![100.0, 0.0, 100.0, 100.0, 0.0, 0.0];
    host.pass();
    assert_eq!(host.records, [120.0, 10.0, 110.0, 110.0, 10.0, 0.0]);
    // Back again.
    host.pass_time(10);
    host.tree = tree_of(&[(4, 2), (5, 2), (6, 3)]);
    host.pass();
    assert_eq!(host.records, [140.0, 140.0, 0.0, 120.0, 20.0, 0.0]);
    // The same of account a, when u5 is moved at the same time.
    host.pass_time(10);
    host.tree = tree_of(&[(4, 2), (5, 3), (6, 3)]);
    host.records = vec![20.0, 0.0, 20.0, 0.0, 20.0, 0.0];
    host.pass();
    assert_eq!(host.records, [30.0, 0.0, 30.0, 0.0, 30.0, 0.0]);
}

/// A job ends, and the clock steps back before the next pass: it pays up to its end nevertheless. An end in a
/// year that the clock had for a moment moves the ledger by a day.
#[test]
fn an_end_before_the_clock_stepped_back_counts() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 4);
    host.pass_time(100);
    host.pass();
    host.pass_time(100);
    host.end(1, EndState::Completed, true);
    host.now -= 3_600;
    host.pass();
    assert_eq!(host.records[0], 800.0);
    let before = host.now;
    host.start(2, 4, [1, 0], 1);
    host.now += 100_000_000;
    host.end(2, EndState::Completed, true);
    host.now = before;
    host.pass();
    let now = host.keeper.fed_until().unwrap();
    assert_eq!(now, START + 200 + 86_400);
}

/// slurmctld had told of an end, and was killed before it had written it down: it takes the job for one
/// that runs, and finds out later that it is gone.
#[test]
fn an_end_that_a_kill_undoes_is_not_charged_again() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 4);
    host.pass_time(1);
    host.end(1, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records[0], 4.0);
    host.restart();
    host.jobs[0].end = None;
    host.pass_time(3);
    host.pass();
    assert_eq!(host.records[0], 16.0);
    host.end(1, EndState::NodeFail, true);
    host.pass_time(200);
    for _ in 0..5 {
        host.pass();
    }
    assert_eq!(host.records[0], 16.0);
}

/// The same, where usage was reset between the end and the kill.
#[test]
fn an_end_that_a_kill_undoes_after_a_reset_is_not_charged_again() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 4);
    host.pass_time(100);
    host.end(1, EndState::Completed, true);
    host.pass();
    assert_eq!(host.records[0], 400.0);
    host.now += 5;
    host.keeper.clear();
    host.pass();
    assert_eq!(host.records[0], 0.0);
    host.restart();
    // It ran on, as far as slurmctld knows.
    host.jobs[0].end = None;
    let (from, to) = (host.now - 5, host.now);
    host.jobs[0].run(from, to);
    host.pass_time(3);
    host.pass();
    assert_eq!(host.records[0], 12.0);
}

/// slurmctld was down when usage was to be reset, or was killed before a ledger was saved without it:
/// the reset comes before the files are read.
#[test]
fn a_reset_before_the_files_are_read_counts_for_them() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    assert_eq!(host.records, [100.0, 100.0, 0.0, 100.0, 0.0, 0.0]);
    host.restart();
    host.keeper.clear();
    host.pass_time(10);
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    // Once.
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records, [5.0, 5.0, 0.0, 5.0, 0.0, 0.0]);
}

#[test]
fn a_removed_user_leaves_what_he_used_to_his_account() {
    for was_looking in [true, false] {
        let mut host = FakeHost::new(WINDOW);
        host.start(1, 4, [1, 0], 1);
        host.pass_time(100);
        host.end(1, EndState::Completed, true);
        host.pass();
        host.tree = tree_of(&[(5, 2), (6, 3)]);
        host.records.truncate(5);
        if !was_looking {
            host.restart();
        }
        host.pass();
        assert_eq!(host.records, [100.0, 100.0, 0.0, 0.0, 0.0]);
        let left = host.keeper.left_in_accounts();
        let left = left
            .iter()
            .map(|(at, left)| (at.get(), left.billing.to_f64()));
        assert_eq!(left.collect::<Vec<_>>(), [(1, 100.0)]);
    }
}

#[test]
fn a_run_that_is_gone_counts_as_far_as_it_was_seen() {
    let mut host = FakeHost::new("usage=window:5:00,resolution=0:01,counts=COMPLETED");
    host.start(1, 4, [1, 0], 1);
    host.start(2, 4, [1, 0], 1);
    host.pass_time(100);
    host.pass();
    host.jobs.remove(0);
    // That it was requeued is seen when it runs again.
    let again = host.now + 1;
    host.jobs[0].start = again;
    host.now += 2;
    host.pass();
    assert_eq!(host.records[0], 100.0 + 1.0);
}

#[test]
fn a_run_that_moves_to_another_account_pays_there_from_then_on() {
    let mut host = FakeHost::new("usage=window:5:00,resolution=0:01,counts=COMPLETED");
    host.start(1, 4, [1, 2], 1);
    host.pass_time(10);
    host.pass();
    let job = host.running(1).unwrap();
    (job.assoc, job.qos) = (6, [2, 1]);
    host.pass_time(5);
    host.pass();
    assert_eq!(host.records, [15.0, 10.0, 5.0, 10.0, 0.0, 5.0]);
    assert_eq!((host.of_qos[&1], host.of_qos[&2]), (15.0, 15.0));
    host.end(1, EndState::NodeFail, true);
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
    assert_eq!((host.of_qos[&1], host.of_qos[&2]), (0.0, 0.0));
}

#[test]
fn a_partition_that_gets_a_qos_is_charged_from_then_on() {
    let mut host = FakeHost::new(WINDOW);
    host.start(1, 4, [1, 0], 2);
    host.pass_time(10);
    host.pass();
    for (qos, of_qos) in [([1, 2], 10.0), ([1, 1], 10.0), ([1, 2], 20.0)] {
        host.running(1).unwrap().qos = qos;
        host.pass_time(5);
        host.pass();
        assert_eq!(host.of_qos[&2], of_qos);
    }
    assert_eq!(host.of_qos[&1], 50.0);
}

#[test]
fn a_ledger_that_is_older_catches_up_alone() {
    // The file of QOS was damaged, and the one of the pass before counts.
    for counts in ["", ",counts=TIMEOUT"] {
        let mut host = FakeHost::new(&format!("usage=window:5:00,resolution=0:01{counts}"));
        host.start(1, 4, [1, 0], 1);
        host.pass_time(10);
        host.pass();
        let before = host.files[1].clone();
        host.pass_time(10);
        host.end(1, EndState::Completed, true);
        host.start(2, 4, [1, 0], 1);
        host.pass();
        host.restart();
        host.files[1] = before;
        host.pass_time(10);
        host.pass();
        host.agrees(START);
    }
}

#[test]
fn a_longer_resolution_fits_and_a_shorter_one_is_told_of() {
    let mut host = FakeHost::new("usage=window:1:00:00,resolution=1:00");
    host.start(1, 4, [1, 0], 1);
    host.pass_time(90);
    host.pass();
    host.config = config("usage=window:1:00:00,resolution=10:00");
    assert!(host.pass().lines.is_empty());
    host.agrees(START);
    host.config = config("usage=window:1:00:00,resolution=0:30");
    let lines = host.pass().lines;
    assert_eq!(lines.len(), 1);
    assert!(
        lines[0].contains("30 s is no multiple of the 600 s"),
        "{lines:?}"
    );
    assert!(host.pass().lines.is_empty());
    host.agrees(START);
}

#[test]
fn other_sources_count_and_go() {
    let mut host = FakeHost::new(WINDOW);
    host.pass();
    host.pass_time(10);
    host.pass();
    let columns = Columns::new(["cpu"]).unwrap();
    let mut history = History::new("two", 1, columns.clone(), &[], host.now).unwrap();
    let rate = columns.rate(2.0, 1.0, &[(0, 2)]).unwrap();
    history
        .charge(&name(6), None, host.now - 10, host.now, &rate)
        .unwrap();
    let mut problems = Vec::new();
    let mut told = |label: &str, error| problems.push(format!("{label}: {error}"));
    let changed = vec![("two".to_owned(), history.clone())];
    host.keeper.set_others(changed, &[], &mut told);
    host.pass();
    assert_eq!(host.records, [20.0, 0.0, 20.0, 0.0, 0.0, 20.0]);
    // It is in nobody's own file.
    let own = History::load(&host.files[0].1).unwrap();
    assert_eq!(own.leaves().count(), 0);
    // Times that the own file covers are refused.
    let mut twice = History::new("hpc", 1, columns, &[], host.now).unwrap();
    twice.cover(START, START + 10).unwrap();
    host.keeper
        .set_others(vec![("fill".to_owned(), twice)], &[], &mut told);
    host.keeper
        .set_others(Vec::new(), &["two".to_owned()], &mut told);
    assert_eq!(problems.len(), 1);
    assert!(problems[0].contains("covered twice"), "{problems:?}");
    host.pass();
    assert_eq!(host.records, [0.0; 6]);
}

/// Something that happens to the host.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start {
        id: u32,
        assoc: u32,
        qos: [u32; 2],
        cpus: u64,
    },
    End {
        id: u32,
        state: EndState,
        reports: bool,
    },
    Suspend(u32),
    Resume(u32),
    /// Others pay from now on, when a pass has charged those who did.
    Move {
        id: u32,
        assoc: u32,
        qos: [u32; 2],
    },
    Time(i64),
    Pass,
    Restart,
}

fn event() -> impl Strategy<Value = Event> {
    let state = prop_oneof![
        Just(EndState::Completed),
        Just(EndState::Cancelled),
        Just(EndState::Preempted),
        Just(EndState::Requeued)
    ];
    let qos = || prop_oneof![Just([1, 0]), Just([1, 2]), Just([2, 2])];
    prop_oneof![
        (0..4_u32, 4..7_u32, qos()).prop_map(|(id, assoc, qos)| Event::Move { id, assoc, qos }),
        (0..4_u32, 4..7_u32, qos(), 1..5_u64).prop_map(|(id, assoc, qos, cpus)| Event::Start {
            id,
            assoc,
            qos,
            cpus
        }),
        (0..4_u32, state, any::<bool>()).prop_map(|(id, state, reports)| Event::End {
            id,
            state,
            reports
        }),
        (0..4_u32).prop_map(Event::Suspend),
        (0..4_u32).prop_map(Event::Resume),
        (1..40_i64).prop_map(Event::Time),
        (1..40_i64).prop_map(Event::Time),
        Just(Event::Pass),
        Just(Event::Restart),
    ]
}

fn happen(host: &mut FakeHost, event: Event) {
    match event {
        Event::Start {
            id,
            assoc,
            qos,
            cpus,
        } => {
            let known =
                |job: &JobRecord| job.id == id && (job.end.is_none() || job.start == host.now);
            if !host.jobs.iter().any(known) {
                host.start(id, assoc, qos, cpus);
            }
        }
        Event::End { id, state, reports } => host.end(id, state, reports),
        Event::Suspend(id) => host.suspend(id),
        Event::Resume(id) => host.resume(id),
        Event::Move { id, assoc, qos } => {
            host.pass();
            if let Some(job) = host.running(id) {
                (job.assoc, job.qos) = (assoc, qos);
            }
        }
        Event::Time(secs) => host.pass_time(secs),
        Event::Pass => {
            let complaints = host.pass();
            assert!(complaints.refused.is_none(), "{complaints:?}");
        }
        Event::Restart => host.restart(),
    }
}

proptest! {
    /// Nothing is lost and nothing counts twice: a window that is longer than all that happens.
    #[test]
    fn every_second_counts_once(events in prop::collection::vec(event(), 1..40)) {
        for counts in ["", ",counts=COMPLETED"] {
            let mut host = FakeHost::new(&format!("usage=window:1-0,resolution=0:07{counts}"));
            // Before the first pass nothing is known of ends.
            host.pass();
            for event in &events {
                happen(&mut host, *event);
            }
            host.pass_time(1);
            host.pass();
            host.agrees(START);
        }
    }

    /// Without suspension, whose place in time is known from pass to pass only, a window is exact.
    #[test]
    fn windows_are_exact(events in prop::collection::vec(event(), 1..40)) {
        let mut host = FakeHost::new("usage=window:0:50,resolution=0:01");
        host.pass();
        let events = events.into_iter();
        for event in events.filter(|event| !matches!(event, Event::Suspend(_))) {
            happen(&mut host, event);
        }
        host.pass_time(1);
        host.pass();
        host.agrees(host.now - 50);
    }
}
