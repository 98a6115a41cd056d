use super::*;
use crate::config::{PolicyFile, PriorityParameters};
use crate::tree::{Assoc, AssocKind, Shares};
use jiff::tz::TimeZone;
use proptest::prelude::*;

fn row(id: u32, parent: Option<u32>, kind: AssocKind) -> Assoc {
    Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    }
}

/// root 1 -> account 2 -> user 3; root -> user 4.
fn tree() -> Tree {
    Tree::from_rows([
        row(1, None, AssocKind::Account),
        row(2, Some(1), AssocKind::Account),
        row(3, Some(2), AssocKind::User),
        row(4, Some(1), AssocKind::User),
    ])
    .unwrap()
}

fn model(tree: &Tree) -> Windowed {
    let window = Window::new(100, 10).unwrap();
    let columns = Columns::new(["mem", "cpu"]).unwrap();
    let ledger = WindowLedger::new(tree, window, 100, columns, "hpc", 1_000).unwrap();
    Windowed::of(tree, ledger, &["mem", "energy", "cpu"].map(str::to_owned))
}

fn used(from: i64, to: i64) -> Use<'static> {
    Use {
        run: None,
        from,
        to,
        billing: 2.0,
        factor: 0.5,
        tres: &[8, 100, 4],
    }
}

fn numbers(model: &Windowed, of: Quantity) -> Vec<f64> {
    let usage = model.usage(of).unwrap();
    usage.iter().map(|usage| usage.to_f64()).collect()
}

#[test]
fn time_moves_every_quantity() {
    let tree = tree();
    let mut model = model(&tree);
    let (user, other) = (tree.index_of(3).unwrap(), tree.index_of(4).unwrap());
    let charged = model.charge(&tree, user, &used(900, 1_000)).unwrap();
    assert_eq!((charged.wall_secs, charged.usage), (50.0, 100.0));
    model.charge(&tree, other, &used(990, 1_000)).unwrap();
    assert_eq!(
        numbers(&model, Quantity::Billing),
        [110.0, 100.0, 100.0, 10.0]
    );
    assert_eq!(
        numbers(&model, Quantity::Tres(0)),
        [440.0, 400.0, 400.0, 40.0]
    );
    assert_eq!(
        numbers(&model, Quantity::Tres(2)),
        [220.0, 200.0, 200.0, 20.0]
    );
    assert_eq!(model.usage(Quantity::Tres(1)), None);
    model.advance(&tree, 1_025);
    assert_eq!(numbers(&model, Quantity::Wall), [42.5, 37.5, 37.5, 5.0]);
    assert_eq!(model.weigh(&used(900, 1_000)).wall_secs, 37.5);
    // A clock that steps back moves nothing.
    model.advance(&tree, 1_000);
    assert_eq!(model.ledger.now(), 1_025);
    assert_eq!(numbers(&model, Quantity::Wall), [42.5, 37.5, 37.5, 5.0]);
}

#[test]
fn totals_stand_beside_windows_and_follow_the_tree() {
    let tree = tree();
    let mut model = model(&tree);
    let flex = Plan::Total(Total::new(500).unwrap());
    let set = model.edit(&tree, |ledger| {
        ledger.set_plans(&tree, Plan::Window, [(2, flex)])
    });
    set.unwrap();
    let user = tree.index_of(3).unwrap();
    model.charge(&tree, user, &used(400, 1_000)).unwrap();
    assert_eq!(numbers(&model, Quantity::Wall), [50.0, 250.0, 250.0, 0.0]);
    let after = Tree::from_rows([
        row(2, Some(1), AssocKind::Account),
        row(1, None, AssocKind::Account),
    ])
    .unwrap();
    model.follow_tree(&tree, &after);
    assert_eq!(numbers(&model, Quantity::Wall), [250.0, 50.0]);
    model.clear();
    assert_eq!(numbers(&model, Quantity::Wall), [0.0, 0.0]);
    model.advance(&after, 2_000);
    model
        .charge(&after, after.index_of(2).unwrap(), &used(1_990, 2_000))
        .unwrap();
    assert_eq!(numbers(&model, Quantity::Wall), [5.0, 5.0]);
}

/// root 0 -> account 1 -> users 2 and 3; root -> user 4.
fn five() -> Tree {
    Tree::from_rows([
        row(0, None, AssocKind::Account),
        row(1, Some(0), AssocKind::Account),
        row(2, Some(1), AssocKind::User),
        row(3, Some(1), AssocKind::User),
        row(4, Some(0), AssocKind::User),
    ])
    .unwrap()
}

/// One period of use that was charged, of a run or of none.
#[derive(Clone, Copy, Debug)]
struct Interval {
    assoc: usize,
    job: u32,
    from: i64,
    to: i64,
    cpus: u64,
}

/// Everything that was charged, and no buckets.
fn naive(kept: &[Interval], since: [i64; 5], now: i64, of: impl Fn(u64) -> u64) -> Vec<f64> {
    const ABOVE: [&[usize]; 5] = [&[0], &[1, 0], &[2, 1, 0], &[3, 1, 0], &[4, 0]];
    let mut usage = vec![0.0; 5];
    for each in kept {
        for &node in ABOVE[each.assoc] {
            let secs = (each.to.min(now) - each.from.max(since[node])).max(0);
            usage[node] += secs as f64 * of(each.cpus) as f64;
        }
    }
    usage
}

const START: i64 = 10_000;
const LENGTH: i64 = 50;

proptest! {
    // Buckets of a second have no edge, so the numbers are equal.
    #[test]
    fn usage_is_that_of_all_intervals(
        steps in prop::collection::vec((0_u8..8, 2_usize..5, 0_u32..4, 0_i64..40, 1_i64..30, 1_u64..5), 1..60)
    ) {
        let tree = five();
        let text = "usage=window:0:50,resolution=0:01";
        let mut config = Config {
            parameters: PriorityParameters::parse(text, None).unwrap(),
            ..Config::default()
        };
        let policy = "[accounts.4]\nplan = 'total:1970-01-01T02:46:55'";
        config.accounts = PolicyFile::parse(policy, "p", None).unwrap().accounts;
        let plan = config.accounts[0].plan.unwrap();
        let settings = ModelSettings {
            config: &config,
            zone: &TimeZone::UTC,
            plans: &[(4, plan)],
            tres: &["cpu".to_owned()],
        };
        let mut window = Windowed::new(&tree, &settings, START).unwrap();
        prop_assert!(window.fits(&config));
        let (mut now, mut kept) = (START, Vec::<Interval>::new());
        let mut open = std::collections::BTreeSet::new();
        for (what, assoc, job, back, secs, cpus) in steps {
            let index = AssocIndex::new(assoc);
            let run = LedgerRun { job, run: 1 };
            let from = now - back;
            let to = (from + secs).min(now);
            match what {
                0..=3 => {
                    let same = |each: &&Interval| each.job == job && open.contains(&job);
                    let clash = kept.iter().filter(same).any(|each| {
                        each.assoc != assoc || (each.from < to && from < each.to)
                    });
                    let (billing, factor) = (cpus as f64 * 2.0, 1.0);
                    let used = Use { run: Some(run), from, to, billing, factor, tres: &[cpus] };
                    let charged = window.charge(&tree, index, &used);
                    if clash {
                        let refused = matches!(
                            charged,
                            Err(UsageError::Window(
                                WindowError::Overlap { .. } | WindowError::OtherLeaf { .. }
                            ))
                        );
                        prop_assert!(refused);
                    } else {
                        charged.unwrap();
                        if from < to {
                            open.insert(job);
                            kept.push(Interval { assoc, job, from, to, cpus });
                        }
                    }
                }
                4 => {
                    let known = window.end_run(&tree, run, false);
                    prop_assert_eq!(known, open.remove(&job));
                    kept.retain(|each| each.job != job);
                }
                5 => {
                    let known = window.end_run(&tree, run, true);
                    prop_assert_eq!(known, open.remove(&job));
                    // Its number may come again.
                    kept.iter_mut().filter(|each| each.job == job).for_each(|each| each.job = 99);
                }
                6 => {
                    now += secs;
                    window.advance(&tree, now);
                }
                _ => {
                    let bytes = window.save(&tree).unwrap();
                    window = Windowed::restore(&tree, &bytes, now).unwrap();
                    prop_assert_eq!(window.save(&tree), Some(bytes));
                    prop_assert!(window.fits(&config));
                }
            }
            let edge = now - LENGTH;
            let since = [edge, edge, edge, edge, 10_015];
            let of = |scale| move |cpus: u64| cpus * scale;
            prop_assert_eq!(numbers(&window, Quantity::Billing), naive(&kept, since, now, of(2)));
            let wall = numbers(&window, Quantity::Wall);
            prop_assert_eq!(wall, naive(&kept, since, now, |_| 1));
            let tres = numbers(&window, Quantity::Tres(0));
            prop_assert_eq!(tres, naive(&kept, since, now, of(1)));
        }
    }
}
