//! Numbers by hand: four CPUs for five minutes are 1,200 CPU-seconds.

mod whole;

use super::*;
use crate::compat::{Compat, Release};
use crate::config::PriorityFlags;
use crate::extended::Extended;
use crate::fairshare::{HostMath, RecordState};
use crate::priority::{AssocFactors, Index, Job, PriorityError, TimeLimit};
use crate::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares};
use crate::usage::{HalfLife, Phase, Run, RunState};
use whole::{Pass, PassInput};

const SLURM: Compat = Compat::Slurm(Release::V22_05_8);
const START: i64 = 1_700_000_000;

/// root 1 -> accounts 2, 3; 2 -> users 4, 5; 3 -> user 6. All shares 1.
fn tree() -> Tree {
    let row = |id, parent, kind| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    };
    Tree::from_rows([
        row(1, None, AssocKind::Account),
        row(2, Some(1), AssocKind::Account),
        row(3, Some(1), AssocKind::Account),
        row(4, Some(2), AssocKind::User),
        row(5, Some(2), AssocKind::User),
        row(6, Some(3), AssocKind::User),
    ])
    .unwrap()
}

fn at(tree: &Tree, id: AssocId) -> AssocIndex {
    tree.index_of(id).unwrap()
}

fn config(compat: Compat, no_fair_tree: bool) -> Config {
    Config {
        priority_weight_fairshare: 10_000,
        priority_decay_half_life_secs: 0,
        priority_flags: PriorityFlags {
            no_fair_tree,
            ..PriorityFlags::default()
        },
        compat,
        ..Config::default()
    }
}

fn running(tree: &Tree, id: AssocId, billable_tres: f64) -> Accruing {
    Accruing {
        job: id,
        assoc: at(tree, id),
        run: Run {
            state: RunState::default(),
            start_time: START,
            end_time: 0,
            end_time_exp: Some(START + 3_600),
            time_limit: TimeLimit::Minutes(60),
            billable_tres,
            usage_factor: 1.0,
            charged_until: None,
            passed: None,
            run_secs_renewed: false,
        },
        at_end: false,
    }
}

fn waiting(tree: &Tree, id: AssocId) -> Job {
    Job {
        assoc: Some(at(tree, id)),
        ..Job::new(id)
    }
}

fn tables(tree: &Tree) -> JobTables {
    JobTables {
        assocs: vec![AssocFactors::default(); tree.len()],
        cluster_cpus: 16,
        cluster_nodes: 4,
        ..JobTables::default()
    }
}

fn raw(raw_usage: &RawUsage) -> Vec<f64> {
    raw_usage.raw().iter().map(|usage| usage.to_f64()).collect()
}

fn priorities(pass: &Pass) -> Vec<u32> {
    let priced = pass.priced.as_ref().unwrap();
    priced.iter().map(|priced| priced.priority).collect()
}

fn input<'a>(config: &'a Config, tree: &'a Tree, accruing: &'a [Accruing]) -> PassInput<'a> {
    PassInput {
        config,
        tree,
        accruing,
        jobs: &[],
        accruing_before: None,
        record_states: None,
        host_math: HostMath::default(),
        last_ran: Some(START),
        now: START + 300,
    }
}

/// A pass over raw usage, by an engine that knows nothing of other passes.
fn pass(
    input: &PassInput,
    raw_usage: &mut RawUsage,
    tables: &mut JobTables,
) -> Result<Pass, PriorityError> {
    let of_now = std::mem::take(raw_usage);
    let model = HalfLife::new(decay(input.config), of_now, input.last_ran);
    let mut engine = Engine::new(Box::new(model));
    let found = engine.pass(input, tables);
    *raw_usage = engine.model().raw_usage().unwrap().clone();
    found
}

#[test]
fn usage_then_ranks_then_priorities() {
    let tree = tree();
    for compat in [Compat::Documented, SLURM] {
        let config = config(compat, false);
        let accruing = [running(&tree, 4, 4.0), running(&tree, 6, 2.0)];
        let jobs = [waiting(&tree, 4), waiting(&tree, 5), waiting(&tree, 6)];
        let mut raw_usage = RawUsage::new(&tree);
        let mut tables = tables(&tree);
        let input = PassInput {
            jobs: &jobs,
            ..input(&config, &tree, &accruing)
        };
        let found = pass(&input, &mut raw_usage, &mut tables).unwrap();
        assert_eq!(
            raw(&raw_usage),
            [1_800.0, 1_200.0, 600.0, 1_200.0, 0.0, 600.0]
        );
        // Account 3 used a third of its half and comes first; in account 2 the idle user does.
        let factors = found.fairshare.iter().map(|row| row.fs_factor);
        assert_eq!(
            factors.skip(3).collect::<Vec<_>>(),
            [Some(1.0 / 3.0), Some(2.0 / 3.0), Some(1.0)]
        );
        assert_eq!(tables.assocs[5].fs_factor, 1.0);
        assert_eq!(priorities(&found), [3_333, 6_666, 10_000]);
        assert_eq!(found.charges[1].unwrap().decayed.usage, 600.0);
        assert_eq!(found.outcome.last_ran, START + 300);
        assert!(found.refused.is_empty());
    }
}

#[test]
fn two_passes_charge_what_one_does() {
    let tree = tree();
    let config = Config {
        priority_decay_half_life_secs: 600,
        ..config(Compat::Documented, false)
    };
    let accruing = [running(&tree, 4, 4.0)];
    let run = |times: &[i64]| {
        let mut raw_usage = RawUsage::new(&tree);
        raw_usage.charge(&tree, at(&tree, 6), 1_000.0).unwrap();
        let mut last_ran = START;
        for secs in times {
            let input = PassInput {
                last_ran: Some(last_ran),
                now: START + secs,
                ..input(&config, &tree, &accruing)
            };
            last_ran = pass(&input, &mut raw_usage, &mut tables(&tree))
                .unwrap()
                .outcome
                .last_ran;
        }
        raw(&raw_usage)
    };
    let (once, twice) = (run(&[600]), run(&[1, 250, 100, 600]));
    // 1,000 halved; 4 * 600 / (2 ln 2) of the job.
    assert_eq!(once[5], 500.0);
    assert!((once[3] - 1_200.0 / std::f64::consts::LN_2).abs() < 1e-9);
    for (once, twice) in once.iter().zip(&twice) {
        assert!((once - twice).abs() < 1e-9, "{once} {twice}");
    }
}

#[test]
fn jobs_between_two_passes_are_charged_to_their_end() {
    let tree = tree();
    let ended = |id, start, end| {
        let mut job = running(&tree, id, 4.0);
        job.at_end = true;
        job.run.state.phase = Phase::Finished;
        job.run.start_time = START + start;
        job.run.end_time = START + end;
        job
    };
    // One ran from before the last pass, one fits between the passes, one was charged before.
    let mut charged = ended(5, 10, 20);
    charged.run.end_time_exp = None;
    let accruing = [ended(4, -500, 100), ended(6, 50, 60), charged];
    for compat in [Compat::Documented, SLURM] {
        let config = config(compat, false);
        let mut raw_usage = RawUsage::new(&tree);
        let input = input(&config, &tree, &accruing);
        let found = pass(&input, &mut raw_usage, &mut tables(&tree)).unwrap();
        assert_eq!(raw(&raw_usage), [440.0, 400.0, 40.0, 400.0, 0.0, 40.0]);
        assert_eq!(found.charges[1].unwrap().run_secs, 3_600);
        assert_eq!(found.charges[2], None);
    }
}

#[test]
fn a_clock_that_steps_back_charges_nothing_twice() {
    let tree = tree();
    let accruing = [running(&tree, 4, 4.0)];
    for (compat, expected) in [(Compat::Documented, 1_200.0), (SLURM, 1_600.0)] {
        let config = config(compat, false);
        let mut raw_usage = RawUsage::new(&tree);
        let mut last_ran = Some(START);
        for secs in [200, 100, 300] {
            let input = PassInput {
                last_ran,
                now: START + secs,
                ..input(&config, &tree, &accruing)
            };
            last_ran = Some(
                pass(&input, &mut raw_usage, &mut tables(&tree))
                    .unwrap()
                    .outcome
                    .last_ran,
            );
        }
        assert_eq!(raw_usage.raw()[0].to_f64(), expected);
    }
}

#[test]
fn a_first_pass_charges_from_the_start_and_decays_nothing() {
    let tree = tree();
    let config = Config {
        priority_decay_half_life_secs: 60,
        ..config(Compat::Documented, false)
    };
    let mut raw_usage = RawUsage::new(&tree);
    raw_usage.charge(&tree, at(&tree, 6), 1_000.0).unwrap();
    let input = PassInput {
        last_ran: None,
        ..input(&config, &tree, &[])
    };
    pass(&input, &mut raw_usage, &mut tables(&tree)).unwrap();
    assert_eq!(raw_usage.raw()[5].to_f64(), 1_000.0);
}

#[test]
fn a_charge_that_is_no_number_is_refused_and_the_rest_goes_on() {
    let tree = tree();
    let config = config(Compat::Documented, false);
    let accruing = [
        running(&tree, 4, f64::NAN),
        running(&tree, 5, f64::INFINITY),
        running(&tree, 6, 2.0),
    ];
    let mut raw_usage = RawUsage::new(&tree);
    let found = pass(
        &input(&config, &tree, &accruing),
        &mut raw_usage,
        &mut tables(&tree),
    )
    .unwrap();
    let refused: Vec<usize> = found.refused.iter().map(|refused| refused.job).collect();
    assert_eq!(refused, [0, 1]);
    assert!(found.refused[1].error.to_string().contains("association 5"));
    assert_eq!(raw(&raw_usage), [600.0, 0.0, 600.0, 0.0, 0.0, 600.0]);
    assert!(found.charges[0].is_none() && found.charges[2].is_some());
}

#[test]
fn negative_billing_counts_nothing_or_as_in_slurm() {
    let tree = tree();
    let accruing = [running(&tree, 4, -1.0)];
    for (compat, expected) in [(Compat::Documented, 1_000.0), (SLURM, 700.0)] {
        let config = config(compat, false);
        let mut raw_usage = RawUsage::new(&tree);
        raw_usage.charge(&tree, at(&tree, 4), 1_000.0).unwrap();
        pass(
            &input(&config, &tree, &accruing),
            &mut raw_usage,
            &mut tables(&tree),
        )
        .unwrap();
        assert_eq!(raw_usage.raw()[0].to_f64(), expected);
    }
}

/// Usage before: 100 each of users 4 and 6. In the pass user 4 uses 200 more.
fn classic(compat: Compat, before: usize) -> (f64, Vec<AssocFairshare>) {
    let tree = tree();
    let config = config(compat, true);
    let accruing = [running(&tree, 4, 2.0)];
    let jobs = [waiting(&tree, 4)];
    let mut raw_usage = RawUsage::new(&tree);
    raw_usage.charge(&tree, at(&tree, 4), 100.0).unwrap();
    raw_usage.charge(&tree, at(&tree, 6), 100.0).unwrap();
    let mut tables = tables(&tree);
    let input = PassInput {
        jobs: &jobs,
        accruing_before: Some(&[before]),
        now: START + 100,
        ..input(&config, &tree, &accruing)
    };
    let found = pass(&input, &mut raw_usage, &mut tables).unwrap();
    assert_eq!(raw_usage.raw()[0].to_f64(), 400.0);
    assert_eq!(found.fairshare[3].raw_usage, Extended::from(300_u32));
    (tables.assocs[3].fs_factor, found.fairshare)
}

#[test]
fn classic_order_of_the_stock_plugin() {
    // Documented: 300 of 400 used by user 4 and by account 2:
    // 0.75 + (0.75 - 0.75) / 2 over a share of 1/4.
    let (factor, _) = classic(Compat::Documented, 0);
    assert!((factor - 2_f64.powf(-3.0)).abs() < 1e-15);
    // Account 2 as before the pass: 100 of 200. User 4 charged first: 0.75 + (0.5 - 0.75) / 2.
    let (factor, fairshare) = classic(SLURM, 1);
    assert!((factor - 2_f64.powf(-2.5)).abs() < 1e-15);
    assert_eq!(fairshare[1].effective_usage.to_f64(), 0.5);
    // User 4 priced first: 100 of 200 both.
    let (factor, fairshare) = classic(SLURM, 0);
    assert!((factor - 2_f64.powf(-2.0)).abs() < 1e-15);
    // No job of user 5 was priced: 0 + (0.5 - 0) / 2 over 1/4.
    assert!((fairshare[4].fs_factor.unwrap() - 0.5).abs() < 1e-15);
    // User 6 after all: 0.25 of all + (0.5 - 0.25) * 1 over 1/2.
    assert!((fairshare[5].fs_factor.unwrap() - 0.5).abs() < 1e-15);
}

#[test]
fn classic_stock_does_nothing_on_a_first_pass_or_backwards() {
    let tree = tree();
    let config = config(SLURM, true);
    let accruing = [running(&tree, 4, 4.0)];
    let jobs = [waiting(&tree, 4)];
    for last_ran in [None, Some(START + 300), Some(START + 301)] {
        let mut raw_usage = RawUsage::new(&tree);
        let input = PassInput {
            jobs: &jobs,
            last_ran,
            ..input(&config, &tree, &accruing)
        };
        let found = pass(&input, &mut raw_usage, &mut tables(&tree)).unwrap();
        assert_eq!(found.priced, None);
        assert_eq!(found.charges, [None]);
        assert_eq!(found.outcome.last_ran, START + 300);
        assert!(raw_usage.raw()[0].is_zero());
    }
}

#[test]
fn a_pass_that_cannot_price_changes_nothing() {
    let tree = tree();
    let accruing = [running(&tree, 4, 4.0)];
    let lost = Job {
        qos: Some(Index::new(7)),
        ..waiting(&tree, 4)
    };
    for no_fair_tree in [false, true] {
        for compat in [Compat::Documented, SLURM] {
            let config = config(compat, no_fair_tree);
            let input = PassInput {
                jobs: &[lost],
                ..input(&config, &tree, &accruing)
            };
            let mut raw_usage = RawUsage::new(&tree);
            let mut tables = tables(&tree);
            assert!(pass(&input, &mut raw_usage, &mut tables).is_err());
            assert_eq!(raw_usage, RawUsage::new(&tree));
            assert_eq!(tables.assocs, vec![AssocFactors::default(); tree.len()]);
        }
    }
}

#[test]
fn without_use_in_between_late_users_are_as_all_others() {
    let tree = tree();
    for depth_oblivious in [false, true] {
        let mut config = config(SLURM, true);
        config.priority_flags.depth_oblivious = depth_oblivious;
        let mut raw_usage = RawUsage::new(&tree);
        for (id, usage) in [(4, 100.1), (5, 3.3), (6, 1e9 / 7.0)] {
            raw_usage.charge(&tree, at(&tree, id), usage).unwrap();
        }
        let expected = rank(&config, &tree, &raw_usage);
        let jobs = [waiting(&tree, 5)];
        let input = PassInput {
            jobs: &jobs,
            ..input(&config, &tree, &[])
        };
        let found = pass(&input, &mut raw_usage, &mut tables(&tree)).unwrap();
        assert_eq!(found.fairshare, expected);
    }
}

#[test]
fn stock_fair_tree_takes_the_shares_that_the_records_keep() {
    // After a change from classic: user 4 keeps 1/4 of the whole, where 1/2 of his account
    // would be right. He used all there is.
    let tree = tree();
    let mut raw_usage = RawUsage::new(&tree);
    raw_usage.charge(&tree, at(&tree, 4), 100.0).unwrap();
    let classic = rank(&config(SLURM, true), &tree, &raw_usage);
    let record_states: Vec<RecordState> = classic.iter().map(RecordState::from).collect();
    for (record_states, level_fs) in [(None, 0.5), (Some(&record_states[..]), 0.25)] {
        let config = config(SLURM, false);
        let input = PassInput {
            record_states,
            ..input(&config, &tree, &[])
        };
        let found = pass(&input, &mut raw_usage.clone(), &mut tables(&tree)).unwrap();
        assert_eq!(found.fairshare[3].level_fs.unwrap().to_f64(), level_fs);
    }
}
