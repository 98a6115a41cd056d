//! Why one user comes before another. Every expected number is worked by hand from
//! fair_tree.shtml and classic_fair_share.shtml, unless a comment says otherwise.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod explain {
    pub mod stage;
}

use common::trees::{
    PARENTS, SMALL_TIE, TIED_ACCOUNTS, TIED_ACROSS_PARENTS, UNUSED_ACCOUNTS, USER_TIED_WITH_ACCOUNT,
};
use common::{SLURM, Site};
use explain::stage::Stage;
use fairtree::compat::Compat;
use fairtree::config::{Config, PriorityFlags};
use fairtree_analysis::explain::{
    Answer, ExplainError, Reason, RemedyKind, Side, UsersCompared, compare_users,
};
use fairtree_model::cluster::Load;
use fairtree_render::explain::Explanation;

fn stage(text: &str) -> Stage {
    Stage::new(Config::default(), &Site::parse(text))
}

fn slurm(text: &str) -> Stage {
    let config = Config {
        compat: SLURM,
        ..Config::default()
    };
    Stage::new(config, &Site::parse(text))
}

/// The answers as `what name: answer`.
fn answers(compared: &UsersCompared) -> Vec<String> {
    let remedies = compared.remedies.iter();
    remedies
        .map(|remedy| {
            let what = match &remedy.kind {
                RemedyKind::LessUsage { name, .. } => format!("usage {name}"),
                RemedyKind::MoreShares { name, .. } => format!("shares {name}"),
                RemedyKind::DecayAlone { .. } => "decay".to_owned(),
                RemedyKind::RunningLoad => "load".to_owned(),
                other => format!("{other:?}"),
            };
            match remedy.answer {
                Answer::Least(amount) => format!("{what}: {amount}"),
                Answer::Never(_) => format!("{what}: never"),
            }
        })
        .collect()
}

/// Physics has 60 of 100 shares and 9000 of 12000 TRES-seconds, chemistry 40 and 3000.
const TWO_ACCOUNTS: &str = "
physics/ 60
  alice 1 8000
  anna 1 1000
chemistry/ 40
  bob 1 3000
";

// Level fairshare of physics: 0.6 / (9000/12000) = 0.8; of chemistry: 0.4 / (3000/12000) = 1.6.
// Physics comes first from 60/U > 40/3000 on, that is U < 4500: 4501 less than 9000; of its own
// alice has enough for that. With s shares: s/9000 > 40/3000 from 121 on, 61 more.
#[test]
fn accounts_part_at_the_top() {
    let stage = stage(TWO_ACCOUNTS);
    let compared = stage.users("alice", "bob");
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(compared.moves, Side::First);
    let [alice, bob] = &compared.sides;
    assert_eq!((alice.rank, bob.rank), (Some(1), Some(3)));
    assert_eq!(alice.path.len(), 3);
    let parting = &compared.parting;
    assert_eq!(parting.below, ["root", "root"]);
    assert_eq!(parting.reason, Reason::LevelFs);
    let [physics, chemistry] = &parting.members;
    assert_eq!((physics.norm_shares, chemistry.norm_shares), (0.6, 0.4));
    assert_eq!(physics.effective_usage, 0.75);
    assert_eq!(chemistry.effective_usage, 0.25);
    assert!((physics.level_fs.unwrap() - 0.8).abs() < 1e-15);
    assert!((chemistry.level_fs.unwrap() - 1.6).abs() < 1e-15);
    assert_eq!(
        answers(&compared),
        [
            "usage alice: 4501",
            "usage physics: 4501",
            "shares physics: 61",
            "decay: never"
        ]
    );
}

// Anna has used 1000, so that physics stays at 8000 or more, and 60/8000 < 40/3000. At 4500 the
// accounts tie and are merged, and there she (4.5) is before bob (1.0).
#[test]
fn a_user_alone_may_not_be_able_to() {
    let stage = stage(TWO_ACCOUNTS);
    let compared = stage.users("anna", "bob");
    assert_eq!(answers(&compared)[0], "usage anna: never");
    assert_eq!(answers(&compared)[1], "usage physics: 4500");
}

// The question the other way round: what would put alice ahead is the same.
#[test]
fn the_one_behind_moves_whoever_is_named_first() {
    let stage = stage(TWO_ACCOUNTS);
    let (one, other) = (stage.users("alice", "bob"), stage.users("bob", "alice"));
    assert_eq!(other.ahead, Some(Side::First));
    assert_eq!(other.moves, Side::Second);
    assert_eq!(one.remedies, other.remedies);
}

// Within physics: alice 0.5/(8/9) = 0.5625, anna 0.5/(1/9) = 4.5. Alice passes below 1000, that is
// 7001 less, or with 9 shares: 9/8000 > 1/1000, that is 8 more (8/8000 ties).
#[test]
fn users_of_one_account() {
    let stage = stage(TWO_ACCOUNTS);
    let compared = stage.users("alice", "anna");
    assert_eq!(compared.parting.below, ["physics", "physics"]);
    assert_eq!(
        answers(&compared),
        ["usage alice: 7001", "shares alice: 8", "decay: never"]
    );
}

// u40 and u50 both have 22/17: documented they tie, and one TRES-second or share parts them. The
// stock plugin of 22.05 ranks them apart.
#[test]
fn equal_ratios() {
    let tie = stage(SMALL_TIE);
    let compared = tie.users("u40", "u50");
    assert_eq!((compared.ahead, compared.moves), (None, Side::First));
    assert_eq!(compared.parting.reason, Reason::UsersTie);
    assert_eq!(
        answers(&compared),
        ["usage u40: 1", "shares u40: 1", "decay: never"]
    );
    let apart = slurm(SMALL_TIE).users("u40", "u50");
    assert!(apart.ahead.is_some());
    assert_eq!(apart.parting.reason, Reason::LevelFs);
}

// Both accounts are at 1.0, so a2 (0.667) and b2 (0.556) are compared as members of one.
#[test]
fn tied_accounts_are_merged() {
    let documented = stage(TIED_ACCOUNTS);
    let compared = documented.users("b2", "a2");
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(compared.parting.below, ["B", "A"]);
    assert_eq!(compared.parting.merged.len(), 1);
    assert_eq!(compared.parting.merged[0][0].name, "B");
    // One TRES-second less breaks the tie of the accounts; within B, b2 needs (s/(s+1))/0.9 > 2/3,
    // s = 2 (0.741).
    assert_eq!(
        answers(&compared),
        ["usage b2: 1", "shares b2: 1", "decay: never"]
    );
    let stock = slurm(TIED_ACCOUNTS).users("b2", "a2");
    assert_eq!(stock.parting.reason, Reason::ListOrder);
    assert_eq!(stock.parting.below, ["root", "root"]);
}

#[test]
fn merged_accounts_tie_again_further_down() {
    let stage = stage(TIED_ACROSS_PARENTS);
    let compared = stage.users("p", "r");
    assert_eq!(compared.parting.merged.len(), 2);
    assert_eq!(compared.parting.below, ["A1", "B1"]);
}

// u and A are at 1.0: u has the rank of a1, A's best; a2 is below.
#[test]
fn a_user_tied_with_an_account() {
    let stage = stage(USER_TIED_WITH_ACCOUNT);
    let best = stage.users("u", "a1");
    assert_eq!(best.ahead, None);
    assert_eq!(best.parting.reason, Reason::UserTiesWithAccount);
    let other = stage.users("a2", "u");
    assert_eq!(other.ahead, Some(Side::Second));
    // One TRES-second less puts A before u, with all its users.
    assert_eq!(answers(&other)[0], "usage a2: 1");
}

// A stands aside: a1 competes below the root with B and c. Shares there: 3, 1 and 1.
#[test]
fn accounts_that_stand_aside() {
    let stage = stage(PARENTS);
    let compared = stage.users("a1", "c");
    assert_eq!(compared.parting.below, ["root", "root"]);
    assert_eq!(compared.parting.members[0].name, "a1");
    let way = &compared.sides[0].path;
    assert_eq!(way.len(), 3);
    assert!(way[1].stands_aside && way[1].level_fs.is_none());
    // a1 and B tie at (3/5)/(30/101) = (1/5)/(10/101), and b1 is B's best user.
    let tied = stage.users("b1", "a1");
    assert_eq!(tied.ahead, None);
    assert_eq!(tied.parting.reason, Reason::UserTiesWithAccount);
}

// Users with FairShare=parent are at infinity and have no shares to add to.
#[test]
fn users_without_shares_of_their_own() {
    let stage = stage("x parent 5\ny parent 6\n");
    let compared = stage.users("x", "y");
    assert_eq!(compared.ahead, None);
    assert_eq!(answers(&compared), ["usage x: never", "decay: never"]);
}

#[test]
fn nothing_used() {
    let stage = stage(UNUSED_ACCOUNTS);
    let compared = stage.users("ta0", "tb1");
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(
        answers(&compared),
        // With a share ta0 is at infinity like tb1: a tie, and neither can pass the other.
        ["usage ta0: never", "shares ta0: never", "decay: never"]
    );
    let text = Explanation::Users(&compared).to_string();
    assert!(text.contains("who has used nothing"), "{text}");
}

// The stock plugin gives the never-used tb0 0.333 where ta0 has 1.0 (recorded on 22.05.8).
#[test]
fn faults_of_the_stock_plugin_are_named() {
    let stage = slurm(UNUSED_ACCOUNTS);
    let compared = stage.users("ta1", "tb1");
    assert_eq!(compared.parting.reason, Reason::ListOrder);
}

// Factors 2^-(U/S): alice has S = 0.6 * 0.5. Below physics, alice's effective usage is
// UA + (UE - UA) * S/Sl = 8/12 + (9/12 - 8/12)/2 = 17/24; bob's 3/12 (an only child: UE of
// chemistry).
#[test]
fn classic_compares_factors() {
    for compat in [Compat::Documented, SLURM] {
        let config = Config {
            priority_flags: PriorityFlags::parse("NO_FAIR_TREE"),
            compat,
            ..Config::default()
        };
        let stage = Stage::new(config, &Site::parse(TWO_ACCOUNTS));
        let compared = stage.users("alice", "bob");
        assert_eq!(compared.ranking.name(), "classic");
        assert_eq!(compared.parting.reason, Reason::Factor);
        assert_eq!(compared.sides[0].rank, None);
        let alice = compared.sides[0].path.last().unwrap();
        assert!((alice.norm_shares - 0.3).abs() < 1e-15);
        assert!((alice.effective_usage - 17.0 / 24.0).abs() < 1e-15);
        let bob = compared.sides[1].path.last().unwrap();
        assert!((bob.effective_usage - 0.25).abs() < 1e-15);
        // (8000-d)/T + 500/T over 0.3 T against 3000/T over 0.4 T: 8500 - d < 2250 from 6251 on.
        assert_eq!(answers(&compared)[0], "usage alice: 6251");
    }
}

// Half-life 7 days, Bob's jobs use 2 TRES: physics/chemistry = 9000 d / (3000 d + 2 w), which has
// to fall below 1.5 (60 against 40 shares): w/d > 1500, that is 1500 s and a little: one hour.
#[test]
fn jobs_that_run() {
    let mut stage = stage(TWO_ACCOUNTS);
    let bob = stage.index("bob");
    stage.load = vec![Load {
        assoc: bob,
        tres_per_sec: 2.0,
    }];
    let compared = stage.users("alice", "bob");
    assert_eq!(answers(&compared).last().unwrap(), "load: 1");
    // A tenth of it: w/d > 15000 s. w/d grows like (2^(t/h) - 1) h/ln 2: 14818 s, 5 hours.
    stage.load[0].tres_per_sec = 0.2;
    let compared = stage.users("alice", "bob");
    assert_eq!(answers(&compared).last().unwrap(), "load: 5");
    // Alice's own jobs do not help her.
    stage.load[0].assoc = stage.index("alice");
    let compared = stage.users("alice", "bob");
    assert_eq!(answers(&compared).last().unwrap(), "load: never");
}

// Under compat=slurm usage decays and is charged pass by pass. What was found is compared with all
// the passes of the hours, one by one.
#[test]
fn jobs_that_run_are_charged_in_passes() {
    use fairtree::engine;
    let mut stage = slurm(TWO_ACCOUNTS);
    let bob = stage.index("bob");
    stage.load = vec![Load {
        assoc: bob,
        tres_per_sec: 0.011,
    }];
    let compared = stage.users("alice", "bob");
    let Some(Answer::Least(hours)) = compared.remedies.last().map(|remedy| remedy.answer) else {
        panic!("{compared:?}");
    };
    assert!(
        hours > 24,
        "long enough to tell passes from their sum: {hours}"
    );
    let decay = engine::decay(&stage.config);
    let is_ahead = |hours: u64| {
        let mut raw_usage = stage.raw_usage.clone();
        for _ in 0..hours * 12 {
            raw_usage.decay(decay.factor(300));
            let usage = 0.011 * decay.weight(0, 300, 300);
            raw_usage.charge(&stage.tree, bob, usage).expect("a usage");
        }
        let factors = stage.factors(&stage.tree, raw_usage.raw());
        factors[stage.index("alice").get()] > factors[bob.get()]
    };
    assert!(is_ahead(hours) && !is_ahead(hours - 1));
}

#[test]
fn loads_are_sums_per_association() {
    use fairtree::engine::Accruing;
    use fairtree::priority::TimeLimit;
    use fairtree::usage::{Run, RunState};
    let stage = stage(TWO_ACCOUNTS);
    let (alice, bob) = (stage.index("alice"), stage.index("bob"));
    let job = |assoc, billable_tres, usage_factor, at_end| Accruing {
        job: 1,
        assoc,
        run: Run {
            state: RunState::default(),
            start_time: 1000,
            end_time: 0,
            end_time_exp: Some(5000),
            time_limit: TimeLimit::Minutes(60),
            billable_tres,
            usage_factor,
            charged_until: None,
            passed: None,
            run_secs_renewed: false,
        },
        at_end,
    };
    let accruing = [
        job(bob, 4.0, 1.0, false),
        job(alice, 8.0, 0.5, false),
        job(bob, 2.0, -1.0, false),
        job(bob, 100.0, 1.0, true),
        job(alice, 0.0, 1.0, false),
    ];
    let load = |assoc, tres_per_sec| Load {
        assoc,
        tres_per_sec,
    };
    // A negative usage factor counts as 1.
    assert_eq!(Load::of(&accruing), [load(alice, 4.0), load(bob, 6.0)]);
}

// 10,000 accounts one below the other, and two users at the end.
#[test]
fn deep_trees() {
    use fairtree::tree::{Assoc, AssocKind, Shares};
    let levels = 10_000;
    let mut rows = Vec::new();
    for id in 1..=levels {
        rows.push(Assoc {
            id,
            parent: (id > 1).then(|| id - 1),
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        });
    }
    for id in [levels + 1, levels + 2] {
        rows.push(Assoc {
            id,
            parent: Some(levels),
            kind: AssocKind::User,
            shares: Shares::Raw(1),
        });
    }
    let mut own = vec![0.0; rows.len()];
    (own[levels as usize], own[levels as usize + 1]) = (40.0, 10.0);
    let names = rows.iter().map(|row| format!("n{}", row.id)).collect();
    let stage = Stage::new(Config::default(), &Site::new(names, rows, &own));
    let compared = stage.users("n10001", "n10002");
    // 40 - 31 is less than 10; 4/40 ties with 1/10, 5/40 is ahead.
    assert_eq!(
        answers(&compared),
        ["usage n10001: 31", "shares n10001: 4", "decay: never"]
    );
    assert_eq!(compared.sides[0].path.len(), 10_001);
    let text = Explanation::Users(&compared).to_string();
    assert!(text.contains("(9989 more)") && text.lines().count() < 50);
}

#[test]
fn without_a_half_life_nothing_is_said_of_decay() {
    let config = Config {
        priority_decay_half_life_secs: 0,
        ..Config::default()
    };
    let stage = Stage::new(config, &Site::parse(TWO_ACCOUNTS));
    let compared = stage.users("alice", "bob");
    assert_eq!(answers(&compared).len(), 3);
}

#[test]
fn questions_without_an_answer() {
    let stage = stage(TWO_ACCOUNTS);
    let ask = |a, b| compare_users(&stage.ranked(), &stage, [a, b]).unwrap_err();
    let (alice, physics) = (stage.index("alice"), stage.index("physics"));
    assert_eq!(
        ask(alice, alice).to_string(),
        "alice cannot be compared with itself; name two different users"
    );
    let error = ask(alice, physics).to_string();
    let said = "physics is an account; allowed are users: name one as USER@ACCOUNT\nhint: ";
    assert!(error.starts_with(said), "{error}");
    let far = fairtree::tree::AssocIndex::new(99);
    assert!(matches!(
        ask(alice, far),
        ExplainError::NoSuchAssoc {
            position: 99,
            len: 6
        }
    ));
    let mut ranked = stage.ranked();
    ranked.fairshare = &[];
    let error = compare_users(&ranked, &stage, [alice, stage.index("bob")]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "fair share has 0 rows, but the tree has 6"
    );
}

// The sentences themselves are the specification here.
#[test]
fn in_sentences() {
    let stage = stage(TWO_ACCOUNTS);
    let text = Explanation::Users(&stage.users("alice", "bob")).to_string();
    let expected = "\
alice (fair-share factor 0.333333, place 3 of 3) is behind bob (fair-share factor 1.000000, place 1 of 3).
They differ first below root:
  physics: 60 of 100 shares, due 60.00%, used 75.00% or 9000 TRES-seconds (2.5 TRES-hours): level fairshare 0.800000
  chemistry: 40 of 100 shares, due 40.00%, used 25.00% or 3000 TRES-seconds (50.0 TRES-minutes): level fairshare 1.600000
The higher level fairshare (due over used) comes first, with all its users: chemistry.

The way to alice:
  root: used 12000 TRES-seconds (3.3 TRES-hours) in all
  physics: 60 of 100 shares, due 60.00%, used 75.00% or 9000 TRES-seconds (2.5 TRES-hours): level fairshare 0.800000
  alice: 1 of 2 shares, due 50.00%, used 88.89% or 8000 TRES-seconds (2.2 TRES-hours): level fairshare 0.562500

The way to bob:
  root: used 12000 TRES-seconds (3.3 TRES-hours) in all
  chemistry: 40 of 100 shares, due 40.00%, used 25.00% or 3000 TRES-seconds (50.0 TRES-minutes): level fairshare 1.600000
  bob: 1 of 1 shares, due 100.00%, used 100.00% or 3000 TRES-seconds (50.0 TRES-minutes): level fairshare 1.000000

What would put alice ahead, all else as it is:
  - decay alone does not help: it shrinks everyone's usage alike
What only others can do, or is past (shares, use, a lower nice value):
  - alice had used 4501 TRES-seconds (1.3 TRES-hours) less than 8000
  - physics, each of its users in proportion, had used 4501 TRES-seconds (1.3 TRES-hours) less than 9000
  - physics had 121 raw shares, not 60
";
    assert_eq!(text, expected);
}

#[test]
fn as_json() {
    use fairtree_render::explain::to_json;
    let stage = stage(UNUSED_ACCOUNTS);
    let compared = stage.users("ta0", "tb1");
    let mut out = Vec::new();
    to_json(&mut out, Explanation::Users(&compared)).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["schema"], "fairtree.explain/1");
    assert_eq!(json["question"], "users");
    let answer = &json["answer"];
    assert_eq!(answer["ahead"], "second");
    assert_eq!(answer["parting"]["merged"][0][0]["level_fs"], "inf");
    assert_eq!(
        answer["sides"][0]["path"][0]["level_fs"],
        serde_json::Value::Null
    );
    assert_eq!(answer["remedies"][1]["kind"], "more_shares");
    assert_eq!(answer["remedies"][1]["answer"]["never"], 0x7fff_fffe);
}
