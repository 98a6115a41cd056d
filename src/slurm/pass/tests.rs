//! Passes over a fake host of plain rows: what slurmctld's records go through, without Slurm.
//!
//! The host keeps records of associations and jobs. Between the snapshot of a pass and its apply
//! jobs start, end and are resized, administrators set usage, and the clock steps back. Usage is
//! compared with what a naive host finds that keeps every second of every run.

use super::fake_host::{FakeHost, SLURM, START, config};
use crate::compat::Compat;
use crate::config::{PriorityFlags, UsageModel};
use crate::extended::Extended;
use crate::fairshare::{self, Entitlement, HostMath, RecordState, Ranking};
use crate::priority::{AssocFactors, Job, TimeLimit};
use crate::slurm::shared::charged_until::ChargedUntil;
use crate::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::{Charge, Decay, Period, Phase, Run, RunState, charge};
use proptest::prelude::*;
use std::sync::Arc;

const START: i64 = 1_000_000;
const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

/// A job in the host's list.
#[derive(Clone, Copy, Debug)]
struct JobRecord {
    id: u32,
    assoc: AssocIndex,
    start: i64,
    end: Option<i64>,
    tres: f64,
    /// Its end has been charged.
    charged: bool,
}

/// What slurmctld has, as far as usage is concerned.
struct FakeHost {
    config: Config,
    tree: Arc<Tree>,
    now: i64,
    /// By position.
    usage: Vec<f64>,
    fs_factor: Vec<f64>,
    jobs: Vec<JobRecord>,
    charged_until: ChargedUntil,
    computed: Computed<ChargeRow, FactorsRow>,
    record_states: Vec<RecordState>,
    entitlement: Entitlement,
    /// What a ledger says that was used.
    ledger: Option<Vec<Extended>>,
    priced_with: Vec<AssocFactors>,
}

struct ChargeRow {
    run: RunKey,
    assoc: AssocIndex,
    usage: f64,
    next: Option<usize>,
}

#[derive(Clone, Copy, Default)]
struct FactorsRow {
    fs_factor: f64,
    first_charge: Option<usize>,
}

/// The rows of a snapshot.
struct FakeRows {
    usage: Vec<f64>,
    jobs: Vec<JobRecord>,
    ids: Vec<u32>,
}

impl Rows for FakeRows {
    type Charge = ChargeRow;
    type Factors = FactorsRow;

    fn usage(&self) -> impl ExactSizeIterator<Item = Option<Extended>> {
        let finite = |usage: &f64| Extended::from_f64(*usage).filter(|usage| !usage.is_infinite());
        self.usage.iter().map(finite)
    }

    fn assoc_id(&self, position: usize) -> u32 {
        self.ids[position]
    }

    fn job_count(&self) -> usize {
        self.jobs.len()
    }

    fn run(&self, job: usize) -> RunKey {
        (self.jobs[job].id, self.jobs[job].start)
    }

    fn has_begun(&self, _job: usize) -> bool {
        true
    }

    fn queue<'a>(&'a self, accruing: &'a [u32]) -> impl Iterator<Item = (Job, usize)> + 'a {
        // One waiting job of each user, behind all that run.
        let users = (3..self.usage.len()).map(AssocIndex::new);
        users.map(|assoc| {
            let job = Job {
                assoc: Some(assoc),
                ..Job::new(100)
            };
            (job, accruing.len())
        })
    }

    fn charge(&self, job: usize, accruing: &Accruing, charge: &Charge) -> ChargeRow {
        ChargeRow {
            run: self.run(job),
            assoc: accruing.assoc,
            usage: charge.decayed.usage,
            next: None,
        }
    }

    fn factors(&self, found: &AssocResult<'_>) -> FactorsRow {
        FactorsRow {
            fs_factor: found.fs_factor.unwrap_or(0.0),
            first_charge: None,
        }
    }

    fn link(factors: &mut [FactorsRow], charges: &mut [ChargeRow]) {
        for (at, charge) in charges.iter_mut().enumerate().rev() {
            let first = &mut factors[charge.assoc.get()].first_charge;
            charge.next = first.replace(at);
        }
    }
}

/// root 1 -> accounts 2, 3; 2 -> users 4, 5; 3 -> user 6.
fn tree() -> Arc<Tree> {
    let row = |id, parent, kind| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    };
    Arc::new(
        Tree::from_rows([
            row(1, None, AssocKind::Account),
            row(2, Some(1), AssocKind::Account),
            row(3, Some(1), AssocKind::Account),
            row(4, Some(2), AssocKind::User),
            row(5, Some(2), AssocKind::User),
            row(6, Some(3), AssocKind::User),
        ])
        .unwrap(),
    )
}

impl FakeHost {
    fn new(config: Config) -> FakeHost {
        let tree = tree();
        let state = |norm_shares| RecordState {
            norm_shares,
            norm_usage: Some(Extended::ZERO),
            effective_usage: Some(Extended::ZERO),
        };
        let shares = if config.ranking().keeps_levels() {
            tree.norm_shares_on_level(config.compat)
        } else {
            tree.norm_shares_on_path(config.compat)
        };
        FakeHost {
            now: START,
            usage: vec![0.0; tree.len()],
            fs_factor: vec![0.0; tree.len()],
            jobs: Vec::new(),
            charged_until: ChargedUntil::new(Some(START)),
            computed: Computed::default(),
            record_states: match config.compat {
                Compat::Documented => Vec::new(),
                Compat::Slurm(_) => shares.into_iter().map(state).collect(),
            },
            entitlement: Entitlement::SHARES,
            ledger: None,
            priced_with: vec![AssocFactors::default(); tree.len()],
            config,
            tree,
        }
    }

    fn start(&mut self, id: u32, assoc: usize, tres: f64) {
        self.jobs.push(JobRecord {
            id,
            assoc: AssocIndex::new(assoc),
            start: self.now,
            end: None,
            tres,
            charged: false,
        });
    }

    fn decay(&self) -> Decay {
        Decay::new(
            self.config.priority_decay_half_life_secs,
            self.config.compat,
        )
    }

    fn run_of(&self, job: &JobRecord, charged_until: Option<i64>) -> Run {
        let phase = match job.end {
            None => Phase::Running,
            Some(_) => Phase::Finished,
        };
        Run {
            state: RunState {
                phase,
                ..RunState::default()
            },
            start_time: job.start,
            end_time: job.end.unwrap_or(0),
            end_time_exp: (!job.charged).then_some(job.start + 36_000),
            time_limit: TimeLimit::Minutes(600),
            billable_tres: job.tres,
            usage_factor: 1.0,
            charged_until,
            passed: self.charged_until.by_passes((job.id, job.start), self.now),
            run_secs_renewed: false,
        }
    }

    fn add(&mut self, assoc: AssocIndex, usage: f64) {
        let tree = Arc::clone(&self.tree);
        let mut next = Some(assoc);
        while let Some(index) = next {
            self.usage[index.get()] += usage;
            next = tree.parent(index);
        }
    }

    /// The hook: a job ends now and is charged at once.
    fn end(&mut self, id: u32) {
        let last_ran = self.charged_until.last_ran();
        let period = Period::between_passes(last_ran, self.now);
        let Some(at) = self
            .jobs
            .iter()
            .position(|job| job.id == id && job.end.is_none())
        else {
            return;
        };
        let since = &self.charged_until.since_pass;
        let until = since.until(id, self.jobs[at].start);
        self.jobs[at].end = Some(self.now.max(self.jobs[at].start));
        let job = self.jobs[at];
        let run = self.run_of(&job, until);
        if let Some(charged) = charge(&self.decay(), &run, &period, true) {
            self.add(job.assoc, charged.decayed.usage);
            let since = &mut self.charged_until.since_pass;
            since.note(id, job.start, self.now, true);
        }
        self.jobs[at].charged = true;
    }

    fn snapshot(&mut self) -> (FakeRows, Moment) {
        let moment = Moment {
            now: self.now,
            last_ran: self.charged_until.last_ran(),
            charges_seen: self.charged_until.since_pass.snapshot(),
        };
        let rows = FakeRows {
            usage: self.usage.clone(),
            jobs: self.jobs.clone(),
            ids: self.tree.rows().iter().map(|row| row.id).collect(),
        };
        (rows, moment)
    }

    fn compute(&mut self, rows: &FakeRows, moment: &Moment) -> Complaints {
        let mut computed = std::mem::take(&mut self.computed);
        computed.begin(true, moment);
        computed.take_jobs(rows, &self.config, |job| {
            let job = &rows.jobs[job];
            let since = &self.charged_until.since_pass;
            let until = since.until_at_snapshot(job.id, job.start);
            let accruing = Accruing {
                assoc: job.assoc,
                run: self.run_of(job, until),
                at_end: false,
            };
            job.end.is_none().then_some((accruing, None))
        });
        let tables = EngineTables {
            config: &self.config,
            tree: &self.tree,
            record_states: &mut self.record_states,
            factors: &mut self.priced_with,
            host_math: HostMath::default(),
            entitlement: &self.entitlement,
            ledger: self.ledger.as_deref(),
        };
        let complaints = computed.compute(rows, tables, moment);
        self.computed = computed;
        complaints
    }

    /// Adds what was computed to what the records hold by now.
    fn apply(&mut self, moment: &Moment) {
        let mut computed = std::mem::take(&mut self.computed);
        let factor = computed.outcome.change.factor().unwrap();
        for usage in &mut self.usage {
            *usage *= factor;
        }
        for position in 0..self.tree.len() {
            let found = computed.factors[position];
            self.fs_factor[position] = found.fs_factor;
            let mut next = found.first_charge;
            while let Some(at) = next {
                let charge = &computed.charges[at];
                next = charge.next;
                let (seen, run) = (moment.charges_seen, charge.run);
                if !self.charged_until.is_charged_since(seen, run) {
                    self.add(charge.assoc, charge.usage);
                }
            }
        }
        let (last_ran, runs) = (computed.outcome.last_ran, computed.runs.take());
        self.charged_until.commit(last_ran, moment.now, runs);
        self.computed = computed;
    }

    fn pass(&mut self) -> Complaints {
        let (rows, moment) = self.snapshot();
        let complaints = self.compute(&rows, &moment);
        self.apply(&moment);
        complaints
    }

    /// What a naive host has: every second of every run from [`START`] on, decayed to the last
    /// pass.
    fn naive(&self, assoc: usize) -> f64 {
        let last_ran = self.charged_until.last_ran().unwrap();
        let weight = |job: &JobRecord| {
            let to = job.end.unwrap_or(last_ran);
            job.tres * self.decay().weight(job.start.max(START), to, last_ran)
        };
        let own = |job: &&JobRecord| {
            let mut next = Some(job.assoc);
            while let Some(index) = next {
                if index.get() == assoc {
                    return true;
                }
                next = self.tree.parent(index);
            }
            false
        };
        self.jobs.iter().filter(own).map(weight).sum()
    }

    fn agrees(&self) {
        for (position, usage) in self.usage.iter().enumerate() {
            let expected = self.naive(position);
            let close = (usage - expected).abs() <= 1e-9 * expected.max(1.0);
            assert!(close, "association {position}: {usage}, not {expected}");
        }
    }
}

fn config(compat: Compat, half_life_secs: u32) -> Config {
    Config {
        compat,
        priority_decay_half_life_secs: half_life_secs,
        priority_weight_fairshare: 1_000,
        ..Config::default()
    }
}

#[test]
fn a_pass_charges_and_ranks() {
    // By hand: 4 TRES for 300 s of user 4, 1 of user 6.
    for compat in [Compat::Documented, SLURM] {
        let mut host = FakeHost::new(config(compat, 0));
        host.start(1, 3, 4.0);
        host.start(2, 5, 1.0);
        host.now += 300;
        host.pass();
        assert_eq!(host.usage, [1_500.0, 1_200.0, 300.0, 1_200.0, 0.0, 300.0]);
        assert_eq!(host.fs_factor[3..], [1.0 / 3.0, 2.0 / 3.0, 1.0]);
        assert_eq!(host.priced_with[5].fs_factor, 1.0);
        assert_eq!(host.charged_until.last_ran(), Some(START + 300));
    }
}

#[test]
fn any_ranking_is_published_and_followed() {
    // By hand: 1,200 TRES-seconds of user 4, 300 of user 6, in accounts of equal shares; user 5 has
    // half of what account 2 is entitled to, as user 4 has.
    let half_and_more = |difference: f64| (1.0 + difference) / 2.0;
    for (ranking, factors) in [
        ("least_used:1", [1.0 / 3.0, 2.0 / 3.0, 1.0]),
        ("least_used:leaf", [1.0 / 3.0, 1.0, 2.0 / 3.0]),
        ("weighted_walk", [1.0 / 3.0, 2.0 / 3.0, 1.0]),
        (
            "difference",
            [0.25 - 0.8, 0.25, 0.5 - 0.2].map(half_and_more),
        ),
    ] {
        let mut config = config(Compat::Documented, 0);
        config.parameters.ranking = Some(Ranking::parse(ranking).unwrap());
        let mut host = FakeHost::new(config);
        host.start(1, 3, 4.0);
        host.start(2, 5, 1.0);
        host.now += 300;
        host.pass();
        let close = |(a, b): (&f64, f64)| (a - b).abs() < 1e-12;
        let found = &host.fs_factor[3..];
        assert!(found.iter().zip(factors).all(close), "{ranking}: {found:?}");
        assert_eq!(host.priced_with[4].fs_factor, host.fs_factor[4]);
        // Another one from one pass to the next, and back.
        let rankings = [host.config.ranking(), Ranking::FAIR_TREE];
        for next in [1, 0] {
            host.config.parameters.ranking = Some(rankings[next]);
            host.pass();
            let usage = host.usage.iter().map(|usage| Extended::from_f64(*usage));
            let usage: Vec<_> = usage.map(Option::unwrap).collect();
            let compat = Compat::Documented;
            let all = fairshare::compute(rankings[next], compat, &host.tree, &usage);
            let all: Vec<_> = all.iter().map(|row| row.fs_factor.unwrap_or(0.0)).collect();
            assert_eq!(host.fs_factor, all, "{ranking}");
        }
    }
}

#[test]
fn in_a_window_ranks_follow_the_ledger() {
    let mut config = config(Compat::Documented, 3_600);
    config.parameters.usage = Some(UsageModel::Window { length_secs: 3_600 });
    let mut host = FakeHost::new(config);
    host.start(1, 3, 4.0);
    let numbers = |numbers: [u32; 6]| {
        let number = |number| Extended::from_f64(f64::from(number)).unwrap();
        Some(numbers.map(number).to_vec())
    };
    for (used, first) in [
        ([300, 200, 100, 200, 0, 100], 5),
        ([900, 100, 800, 0, 100, 800], 3),
        ([0, 0, 0, 0, 0, 0], 3),
    ] {
        host.ledger = numbers(used);
        host.now += 300;
        host.pass();
        assert_eq!(host.fs_factor[first], 1.0, "{used:?}");
        // What is charged is in the ledger, and the records stay as they are.
        assert_eq!(host.computed.outcome.change.factor(), Some(1.0));
        assert_eq!(host.usage, [0.0; 6]);
    }
    assert_eq!(host.fs_factor[3..], [1.0; 3]);
    // The half-life goes on from the records.
    host.config.parameters.usage = None;
    host.ledger = None;
    host.now += 300;
    host.pass();
    assert!(host.usage[3] > 1_000.0 && host.fs_factor[3] < host.fs_factor[5]);
}

#[test]
fn minutes_decide_where_accounts_have_them() {
    let mut config = config(Compat::Documented, 0);
    config.parameters.ranking = Some(Ranking::LEAST_USED_LEAF);
    let mut host = FakeHost::new(config);
    host.start(1, 3, 4.0);
    host.start(2, 5, 1.0);
    host.now += 300;
    host.pass();
    assert!(host.fs_factor[3] < host.fs_factor[5]);
    // User 4: 1,200 of half of 100 minutes; user 6: 300 of one minute.
    host.entitlement = Entitlement::new(0)
        .with_minutes(AssocIndex::new(1), 100)
        .with_minutes(AssocIndex::new(2), 1);
    host.pass();
    assert!(host.fs_factor[3] > host.fs_factor[5]);
}

#[test]
fn an_end_between_snapshot_and_apply_is_charged_once() {
    let mut host = FakeHost::new(config(Compat::Documented, 3_600));
    host.start(1, 3, 2.0);
    host.now += 300;
    let (rows, moment) = host.snapshot();
    host.now += 7;
    host.end(1);
    host.compute(&rows, &moment);
    host.now += 2;
    host.apply(&moment);
    host.agrees();
    host.now += 300;
    host.pass();
    host.agrees();
}

#[test]
fn usage_that_somebody_set_is_what_the_next_pass_ranks() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(1, 3, 2.0);
    host.now += 300;
    host.pass();
    assert!(host.fs_factor[3] < host.fs_factor[5]);
    host.add(AssocIndex::new(5), 1e6);
    host.pass();
    assert!(host.fs_factor[3] > host.fs_factor[5]);
}

#[test]
fn records_without_a_number_count_as_unused() {
    for (compat, bad) in [
        (Compat::Documented, f64::NAN),
        (Compat::Documented, f64::INFINITY),
        (SLURM, f64::NAN),
    ] {
        let mut host = FakeHost::new(config(compat, 0));
        host.usage[4] = bad;
        host.usage[5] = bad;
        let complaints = host.pass();
        assert_eq!(complaints.non_finite, Some((5, 1)));
        assert!(complaints.refused.is_none());
        assert_eq!(host.fs_factor[3..], [1.0; 3]);
    }
}

#[test]
fn a_charge_without_a_number_is_refused_and_the_rest_goes_on() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(7, 3, f64::NAN);
    host.start(8, 4, f64::INFINITY);
    host.start(9, 5, 1.0);
    host.now += 100;
    let complaints = host.pass();
    assert!(matches!(complaints.refused, Some((7, _, 1))));
    assert_eq!(host.usage, [100.0, 0.0, 100.0, 0.0, 0.0, 100.0]);
}

#[test]
fn another_ranking_and_back_finds_what_each_finds_alone() {
    let mut host = FakeHost::new(config(Compat::Documented, 0));
    host.start(1, 3, 2.0);
    for no_fair_tree in [false, true, false] {
        host.config.priority_flags = PriorityFlags {
            no_fair_tree,
            ..PriorityFlags::default()
        };
        host.now += 100;
        host.pass();
        let raw: Vec<Extended> = host
            .usage
            .iter()
            .map(|usage| Extended::from_f64(*usage).unwrap())
            .collect();
        let compat = host.config.compat;
        let found = fairshare::compute(host.config.ranking(), compat, &host.tree, &raw);
        for (position, found) in found.iter().enumerate() {
            let factor = found.fs_factor.unwrap_or(0.0);
            assert_eq!(host.fs_factor[position], factor);
            assert_eq!(host.priced_with[position].fs_factor, factor);
        }
    }
}

#[test]
fn stock_classic_prices_nobody_on_a_first_pass() {
    let mut config = config(SLURM, 0);
    config.priority_flags.no_fair_tree = true;
    let mut host = FakeHost::new(config);
    host.charged_until = ChargedUntil::new(None);
    host.start(1, 3, 2.0);
    host.now += 100;
    host.pass();
    assert!(!host.computed.outcome.prices);
    assert_eq!(host.usage, [0.0; 6]);
    host.now += 100;
    host.pass();
    assert!(host.computed.outcome.prices);
    assert_eq!(host.usage[0], 200.0);
    // His account counts as before the pass, when nothing was used; he has all there is now:
    // 1 + (0 - 1) / 2 over a quarter of all shares, so 2^-2.
    assert_eq!(host.fs_factor[3], 0.25);
}

/// Something that happens to the host.
#[derive(Clone, Copy, Debug)]
enum Event {
    Start { id: u32, user: usize, tres: u32 },
    End(u32),
    Time(i64),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        (0..4_u32, 3..6_usize, 1..5_u32).prop_map(|(id, user, tres)| Event::Start {
            id,
            user,
            tres
        }),
        (0..4_u32).prop_map(Event::End),
        (1..400_i64).prop_map(Event::Time),
    ]
}

fn happen(host: &mut FakeHost, event: Event) {
    match event {
        Event::Start { id, user, tres } => {
            let runs = host
                .jobs
                .iter()
                .any(|job| job.id == id && job.end.is_none());
            // slurmctld tells two runs of one job apart by their start.
            let told_apart = host
                .jobs
                .iter()
                .all(|job| (job.id, job.start) != (id, host.now));
            if !runs && told_apart {
                host.start(id, user, f64::from(tres));
            }
        }
        Event::End(id) => host.end(id),
        Event::Time(secs) => host.now += secs,
    }
}

proptest! {
    /// Nothing is lost and nothing counts twice, whatever happens between the steps of a pass.
    #[test]
    fn every_second_counts_once(
        passes in prop::collection::vec(
            (
                prop::collection::vec(event(), 0..5),
                prop::collection::vec(event(), 0..4),
                prop::collection::vec(event(), 0..4),
            ),
            1..7,
        ),
        half_life in prop_oneof![Just(0_u32), Just(600), Just(604_800)],
    ) {
        let mut host = FakeHost::new(config(Compat::Documented, half_life));
        for (before, computing, applying) in passes {
            before.into_iter().for_each(|event| happen(&mut host, event));
            let (rows, moment) = host.snapshot();
            computing.into_iter().for_each(|event| happen(&mut host, event));
            host.compute(&rows, &moment);
            applying.into_iter().for_each(|event| happen(&mut host, event));
            host.apply(&moment);
        }
        // Ends that came after the last snapshot are charged beyond the last pass; so is what has
        // not run up to it. A last pass settles both.
        host.now += 1;
        host.pass();
        host.agrees();
    }

    /// With a clock that steps back, what is charged of a run is never more than it ran.
    #[test]
    fn a_clock_that_steps_back_charges_nothing_twice(
        steps in prop::collection::vec(-300..400_i64, 1..12),
    ) {
        let mut host = FakeHost::new(config(Compat::Documented, 0));
        host.start(1, 3, 1.0);
        let (mut latest, mut expected) = (host.now, 0.0);
        for step in steps {
            host.now += step;
            host.pass();
            if host.now > latest {
                expected += (host.now - latest) as f64;
                latest = host.now;
            }
            prop_assert_eq!(host.usage[3], expected);
        }
    }
}
