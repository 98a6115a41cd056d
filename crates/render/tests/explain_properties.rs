//! Explanations of random sites: what they say of the order is what the engine computes, and each
//! remedy, applied here by hand, changes the order while one step less does not.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod explain {
    pub mod stage;
}
#[allow(dead_code)] // The orders are for other tests.
#[path = "../../../tests/oracle/random.rs"]
mod random;

use std::cmp::Ordering;

use common::{SLURM, Site};
use explain::stage::{NOW, Stage};
use fairtree::compat::Compat;
use fairtree::config::{Config, PriorityFlags};
use fairtree::engine;
use fairtree::extended::Extended;
use fairtree::priority::{Job, JobTables, Pricer, TimeLimit};
use fairtree::tree::{AssocIndex, AssocKind, Shares};
use fairtree_analysis::explain::{Answer, Reason, Remedy, RemedyKind, Side};
use fairtree_model::cluster::Load;
use fairtree_render::explain::Explanation;
use proptest::prelude::*;
use proptest::sample::Index;
use random::sites;

fn configs() -> impl Strategy<Value = Config> {
    let compat = prop_oneof![3 => Just(Compat::Documented), 1 => Just(SLURM)];
    let flags = prop_oneof![
        4 => Just(""),
        1 => Just("NO_FAIR_TREE"),
        1 => Just("DEPTH_OBLIVIOUS"),
    ];
    (compat, flags).prop_map(|(compat, flags)| Config {
        compat,
        priority_flags: PriorityFlags::parse(flags),
        ..Config::default()
    })
}

/// A stage with two different users; `None` for sites with fewer.
fn stage_with_users(
    config: Config,
    small: &Site,
    picks: [Index; 2],
    load: &[(Index, f64)],
) -> Option<(Stage, [AssocIndex; 2])> {
    let mut stage = Stage::new(config, small);
    let rows = stage.tree.rows();
    let users: Vec<AssocIndex> = stage
        .tree
        .indices()
        .filter(|index| rows[index.get()].kind == AssocKind::User)
        .collect();
    if users.len() < 2 {
        return None;
    }
    let a = picks[0].index(users.len());
    let b = (a + 1 + picks[1].index(users.len() - 1)) % users.len();
    let load = load.iter().map(|(pick, tres_per_sec)| Load {
        assoc: users[pick.index(users.len())],
        tres_per_sec: *tres_per_sec,
    });
    stage.load = load.collect();
    let pair = [users[a], users[b]];
    Some((stage, pair))
}

/// The association with this number.
fn found(stage: &Stage, id: u32) -> AssocIndex {
    stage.tree.index_of(id).expect("an association of the tree")
}

/// Factors of all after `amount` of a change.
fn factors_after(stage: &Stage, kind: &RemedyKind, amount: u64) -> Vec<f64> {
    let raw = stage.raw_usage.raw();
    match kind {
        RemedyKind::LessUsage { assoc, .. } => stage.factors(
            &stage.tree,
            &less_usage(stage, found(stage, *assoc), amount),
        ),
        RemedyKind::MoreShares {
            assoc, raw_shares, ..
        } => {
            let mut tree = stage.tree.clone();
            let shares = u64::from(*raw_shares) + amount;
            let shares = Shares::Raw(u32::try_from(shares).expect("shares in range"));
            tree.set_shares(*assoc, shares).expect("shares in range");
            stage.factors(&tree, raw)
        }
        RemedyKind::DecayAlone { .. } => {
            let mut raw_usage = stage.raw_usage.clone();
            raw_usage.decay(0.5_f64.powi(i32::try_from(amount).expect("few")));
            stage.factors(&stage.tree, raw_usage.raw())
        }
        RemedyKind::RunningLoad => {
            let mut raw_usage = stage.raw_usage.clone();
            let decay = engine::decay(&stage.config);
            let secs = i64::try_from(amount).expect("few") * 3600;
            raw_usage.decay(decay.factor(secs));
            for load in &stage.load {
                let usage = load.tres_per_sec * decay.weight(0, secs, secs);
                let charged = raw_usage.charge(&stage.tree, load.assoc, usage);
                charged.expect("a usage");
            }
            stage.factors(&stage.tree, raw_usage.raw())
        }
        RemedyKind::Waiting | RemedyKind::LowerNice { .. } => unreachable!("for jobs only"),
    }
}

fn less_usage(stage: &Stage, index: AssocIndex, amount: u64) -> Vec<Extended> {
    let mut raw = stage.raw_usage.raw().to_vec();
    let used = raw[index.get()];
    let less = Extended::from(amount).min(used);
    let left = used - less;
    for other in stage.tree.indices().filter(|other| *other != index) {
        let mut above = stage.tree.parent(other);
        while above.is_some_and(|at| at != index) {
            above = above.and_then(|at| stage.tree.parent(at));
        }
        if above.is_some() && !used.is_zero() {
            raw[other.get()] = raw[other.get()] * left / used;
        }
    }
    raw[index.get()] = left;
    let mut above = stage.tree.parent(index);
    while let Some(at) = above {
        raw[at.get()] = (raw[at.get()] - less).max(Extended::ZERO);
        above = stage.tree.parent(at);
    }
    raw
}

/// Returns true if a remedy is correct; `goal` returns true for an amount that reaches the goal.
fn holds(remedy: &Remedy, goal: impl Fn(u64) -> bool) -> bool {
    match remedy.answer {
        Answer::Least(amount) => goal(amount) && (amount == 1 || !goal(amount - 1)),
        Answer::Never(most) => most == 0 || !goal(most),
    }
}

fn side(order: Ordering) -> Option<Side> {
    match order {
        Ordering::Greater => Some(Side::First),
        Ordering::Less => Some(Side::Second),
        Ordering::Equal => None,
    }
}

fn jobs() -> impl Strategy<Value = Job> {
    let age = prop_oneof![Just(0), -500..2000_i64];
    let priority = prop_oneof![10 => Just(1), 1 => Just(0), 1 => 1..5000_u32];
    (age, -40..40_i32, 0..20_u32, priority, any::<bool>()).prop_map(
        |(age, nice, cpus, priority, direct)| Job {
            accrue_time: if age == 0 { 0 } else { NOW - age },
            nice,
            cpus,
            nodes: cpus / 4,
            time_limit: TimeLimit::Minutes(10),
            priority,
            direct: direct && priority > 1,
            ..Job::new(0)
        },
    )
}

/// Running jobs; under `compat=slurm`, whose sum of passes is worked out apart, there are none.
fn loads() -> impl Strategy<Value = Vec<(Index, f64)>> {
    prop::collection::vec((any::<Index>(), 0.001..3.0_f64), 0..4)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn users(
        config in configs(),
        small in sites(),
        picks in any::<[Index; 2]>(),
        load in loads(),
    ) {
        let load = if config.compat.is_slurm() { Vec::new() } else { load };
        let Some((stage, pair)) = stage_with_users(config, &small, picks, &load) else {
            return Ok(());
        };
        let names = pair.map(|index| stage.names[index.get()].clone());
        let compared = stage.users(&names[0], &names[1]);
        let [a, b] = pair.map(|index| stage.fairshare[index.get()].fs_factor.unwrap());
        prop_assert_eq!(compared.ahead, side(a.total_cmp(&b)));
        let level_fs = compared.parting.members.each_ref().map(|m| m.level_fs);
        match compared.parting.reason {
            // The exact order of the numbers shown, which may round to the same.
            Reason::LevelFs => prop_assert!(
                (compared.ahead == Some(Side::First) && level_fs[0] >= level_fs[1])
                    || (compared.ahead == Some(Side::Second) && level_fs[0] <= level_fs[1])
            ),
            Reason::UsersTie => prop_assert_eq!(compared.ahead, None),
            Reason::UserTiesWithAccount => prop_assert_eq!(level_fs[0], level_fs[1]),
            Reason::ListOrder | Reason::TieHandedOn => {
                prop_assert!(stage.config.compat.is_slurm());
            }
            Reason::Ratio | Reason::Weight => prop_assert!(false, "neither is asked for"),
            Reason::Factor => prop_assert!(stage.config.priority_flags.no_fair_tree),
        }
        let moves = usize::from(compared.moves == Side::Second);
        for remedy in &compared.remedies {
            let goal = |amount| {
                let factors = factors_after(&stage, &remedy.kind, amount);
                let [moved, other] = [pair[moves], pair[1 - moves]].map(|i| factors[i.get()]);
                moved > other
            };
            prop_assert!(holds(remedy, goal), "{:?}", remedy);
        }
        prop_assert!(!Explanation::Users(&compared).to_string().is_empty());
    }

    #[test]
    fn jobs_of_two_users(
        config in configs(),
        small in sites(),
        picks in any::<[Index; 2]>(),
        rows in [jobs(), jobs()],
        weights in (0..3000_u32, 0..5000_u32, 0..500_u32),
    ) {
        let config = Config {
            priority_weight_age: weights.0,
            priority_weight_fairshare: weights.1,
            priority_weight_job_size: weights.2,
            priority_max_age_secs: 1500,
            ..config
        };
        let Some((mut stage, pair)) = stage_with_users(config, &small, picks, &[]) else {
            return Ok(());
        };
        (stage.tables.cluster_nodes, stage.tables.cluster_cpus) = (5, 20);
        let mut jobs = rows;
        for (at, job) in jobs.iter_mut().enumerate() {
            (job.id, job.assoc) = (7 + at as u32, Some(pair[at]));
        }
        let compared = stage.jobs(&jobs[0], &jobs[1]);
        let priorities = |jobs: &[Job; 2], site: &JobTables, now| {
            let pricer = Pricer::new(&stage.config, site, now).unwrap();
            jobs.each_ref().map(|job| pricer.price(job).priority)
        };
        let [a, b] = priorities(&jobs, &stage.tables, NOW);
        prop_assert_eq!([compared.jobs[0].priority, compared.jobs[1].priority], [a, b]);
        prop_assert_eq!(compared.ahead, side(a.cmp(&b)));
        for job in &compared.jobs {
            let sum: f64 = job.terms.iter().map(|term| term.points).sum();
            prop_assert!((sum - job.sum).abs() < 1e-6);
        }
        let gain = |term: &fairtree_analysis::explain::TermDifference| match compared.ahead {
            Some(Side::Second) => -term.difference,
            _ => term.difference,
        };
        let decisive: f64 = compared.terms.iter().filter(|t| t.decides).map(gain).sum();
        let against: f64 = compared.terms.iter().filter(|t| gain(t) < 0.0).map(gain).sum();
        prop_assert!(decisive == 0.0 || decisive + against > 0.0);
        let moves = usize::from(compared.moves == Side::Second);
        for remedy in &compared.remedies {
            let goal = |amount: u64| {
                let (mut jobs, mut site, mut now) = (jobs, stage.tables.clone(), NOW);
                match remedy.kind {
                    RemedyKind::Waiting => now += i64::try_from(amount).unwrap(),
                    RemedyKind::LowerNice { .. } => {
                        jobs[moves].nice -= i32::try_from(amount).unwrap();
                    }
                    _ => {
                        let factors = factors_after(&stage, &remedy.kind, amount);
                        for (assoc, factor) in site.assocs.iter_mut().zip(factors) {
                            assoc.fs_factor = factor;
                        }
                    }
                }
                let priorities = priorities(&jobs, &site, now);
                priorities[moves] > priorities[1 - moves]
            };
            prop_assert!(holds(remedy, goal), "{:?} of {:?}", remedy, compared);
        }
        prop_assert!(!Explanation::Jobs(&compared).to_string().is_empty());
    }
}
