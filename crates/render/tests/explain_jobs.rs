//! Why one job comes before another. Every expected number is worked by hand from Slurm's
//! priority_multifactor.html, unless a comment says otherwise.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod explain {
    pub mod queue;
    pub mod stage;
}

use explain::queue::{config, explained, job, stage, stage_with, term};
use explain::stage::{NOW, Stage};
use fairtree::config::Config;
use fairtree::priority::{Index, Job, Span};
use fairtree_analysis::explain::{Answer, JobsCompared, RemedyKind, Side};
use fairtree_render::explain::Explanation;

fn decisive(compared: &JobsCompared) -> Vec<String> {
    let terms = compared.terms.iter().filter(|term| term.decides);
    terms.map(|term| term.name.to_string()).collect()
}

fn answer(compared: &JobsCompared, wanted: &str) -> Answer {
    let mut remedies = compared.remedies.iter();
    let found = remedies.find(|remedy| {
        wanted
            == match &remedy.kind {
                RemedyKind::LessUsage { name, .. } => format!("usage {name}"),
                RemedyKind::MoreShares { name, .. } => format!("shares {name}"),
                RemedyKind::Waiting => "waiting".to_owned(),
                RemedyKind::LowerNice { .. } => "nice".to_owned(),
                other => format!("{other:?}"),
            }
    });
    found.expect("a remedy of that kind").answer
}

// In partition 1: 1000 instead of 2000, TRES 250 instead of 500.
#[test]
fn several_partitions() {
    let stage = stage();
    let both = Job {
        partitions: Span { start: 0, len: 2 },
        ..job(&stage)
    };
    let explained = explained(&stage, &both);
    let of = |at: usize| {
        let variant = &explained.variants[at];
        (variant.partition.as_deref().unwrap(), variant.priority)
    };
    assert_eq!((of(0), of(1)), (("batch", 5950), ("gpu", 4700)));
    let text = Explanation::Job(&explained).to_string();
    let line = "  partition gpu: priority 4700 (partition 1000, QOS 2000, TRES 250)";
    assert!(text.contains(line), "{text}");
    // Against a job that only wants `gpu` it is compared there.
    let other = Job {
        id: 12,
        partition: Some(Index::new(1)),
        ..job(&stage)
    };
    let compared = stage.jobs(&both, &other);
    assert_eq!(compared.jobs[0].partition.as_deref(), Some("gpu"));
    assert_eq!(compared.jobs[0].priority, 4700);
    assert_eq!(term(&compared.jobs[0], "partition").points, 1000.0);
    assert_eq!(term(&compared.jobs[0], "tres/cpu").points, 250.0);
    assert_eq!(compared.ahead, None);
    // Without a partition in common, as its best.
    let nowhere = Job {
        partition: None,
        ..other
    };
    assert_eq!(stage.jobs(&both, &nowhere).jobs[0].priority, 5950);
}

// v has 5950; w, with the higher QOS and less fair share, 100 + 750 + 300 + 400 + 2000 + 4000 + 500 =
// 8050. QOS (+2000) outweighs fair share (-150) by itself.
#[test]
fn what_decides_in_sentences() {
    let stage = stage();
    let other = Job {
        id: 12,
        assoc: Some(stage.index("w")),
        qos: Some(Index::new(1)),
        ..job(&stage)
    };
    let compared = stage.jobs(&job(&stage), &other);
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(compared.jobs[1].priority, 8050);
    assert_eq!(decisive(&compared), ["qos"]);
    assert_eq!(answer(&compared, "nice"), Answer::Least(2101));
    assert_eq!(answer(&compared, "waiting"), Answer::Never(900));
    // Rank 4 is worth 600: far from enough.
    assert!(matches!(answer(&compared, "usage v"), Answer::Never(200)));
    let expected = "\
job 11 (priority 5950) is behind job 12 (priority 8050) by 2100.

                             job 11           job 12     difference
  age                           100              100              0
  assoc                         500              750           -250
  fairshare                     450              300            150
  job_size                      400              400              0
  partition                    2000             2000              0
  qos                          2000             4000          -2000  decides
  tres/cpu                      500              500              0
  priority                     5950             8050          -2100
What decides: qos.

w (fair-share factor 0.500000, place 3 of 4) is behind v (fair-share factor 0.750000, place 2 of 4).
They differ first below root:
  v: 1 of 4 shares, due 25.00%, used 20.00% or 200 TRES-seconds (3.3 TRES-minutes): level fairshare 1.250000
  w: 1 of 4 shares, due 25.00%, used 30.00% or 300 TRES-seconds (5.0 TRES-minutes): level fairshare 0.833333
The higher level fairshare (due over used) comes first: v.

What would put job 11 ahead, all else as it is:
  - waiting does not help: at full age, in 00:15:00, it is still behind
  - decay alone does not help: it shrinks everyone's usage alike
What only others can do, or is past (shares, use, a lower nice value):
  - a nice value of -2101, not 0 (users may only raise it)
  - not less use by v, even without any of its 200 TRES-seconds (3.3 TRES-minutes)
  - not more shares for v, however many
";
    assert_eq!(Explanation::Jobs(&compared).to_string(), expected);
}

// Points for the later job count against: age +300 for 11; for 12 QOS +200, partition +150.
// Neither alone outweighs 300, both do.
#[test]
fn several_terms_decide() {
    let config = Config {
        priority_weight_qos: 400,
        priority_weight_partition: 300,
        priority_weight_tres: Vec::new(),
        ..config()
    };
    let stage = stage_with(config);
    let behind = Job {
        accrue_time: NOW - 400,
        partition: Some(Index::new(1)),
        ..job(&stage)
    };
    let ahead = Job {
        id: 12,
        qos: Some(Index::new(1)),
        ..job(&stage)
    };
    let compared = stage.jobs(&behind, &ahead);
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(decisive(&compared), ["partition", "qos"]);
}

/// Only age and fair share count: age 1 point a second up to 1000 s, a rank 1000 points.
fn age_and_fairshare() -> Stage {
    let config = Config::builder()
        .priority_max_age_secs(1000)
        .priority_weight_age(1000)
        .priority_weight_fairshare(4000)
        .build()
        .expect("a sound configuration");
    stage_with(config)
}

fn aged(stage: &Stage, id: u32, user: &str, age: i64) -> Job {
    Job {
        assoc: Some(stage.index(user)),
        accrue_time: NOW - age,
        ..Job::new(id)
    }
}

// 11 has 600 + 2000, 12 has 900 + 2000 - 200 (nice): 2600 against 2700. Both grow until 12 is at its
// maximum of 1000, 100 s from now; then 11 gains a point a second: after 201 s it has 2801 of 2800.
#[test]
fn waiting_helps_when_the_other_has_stopped_to_age() {
    let stage = age_and_fairshare();
    let young = aged(&stage, 11, "w", 600);
    let old = Job {
        nice: 200,
        ..aged(&stage, 12, "w", 900)
    };
    let compared = stage.jobs(&young, &old);
    assert_eq!(compared.ahead, Some(Side::Second));
    assert_eq!(answer(&compared, "waiting"), Answer::Least(201));
    // Both have one user: fair share moves both alike.
    assert!(compared.users.is_none());
    assert_eq!(compared.remedies.len(), 2);
    let text = Explanation::Jobs(&compared).to_string();
    assert!(
        text.contains("00:03:21 of waiting (0.1 hours), though both age"),
        "{text}"
    );
}

// A job that does not age yet does not catch up, one that ages passes one that does not.
#[test]
fn jobs_that_do_not_age() {
    let stage = age_and_fairshare();
    let ages = aged(&stage, 11, "w", 10);
    let ages_not = Job {
        accrue_time: 0,
        site_factor: 50,
        ..aged(&stage, 12, "w", 0)
    };
    let compared = stage.jobs(&ages, &ages_not);
    assert_eq!(answer(&compared, "waiting"), Answer::Least(41));
    let held_back = Job {
        site_factor: 0,
        ..ages_not
    };
    let compared = stage.jobs(&held_back, &ages);
    assert_eq!(answer(&compared, "waiting"), Answer::Never(0));
}

// 11 of w: 2000; 12 of v: 3000. Passing v swaps their ranks: 3000 against 2000. w has 300, v 200:
// 101 less, or with shares s/300 > 1/200 from 2 on.
#[test]
fn fair_share_changes_the_order() {
    let stage = age_and_fairshare();
    let compared = stage.jobs(&aged(&stage, 11, "w", 0), &aged(&stage, 12, "v", 0));
    assert_eq!(answer(&compared, "usage w"), Answer::Least(101));
    assert_eq!(answer(&compared, "shares w"), Answer::Least(1));
    let users = compared.users.as_ref().expect("two users");
    assert_eq!(users.ahead, Some(Side::Second));
    assert!(users.remedies.is_empty());
    let text = Explanation::Jobs(&compared).to_string();
    assert!(text.contains("They differ first below root:"), "{text}");
    // 11 of x: 1000 + 800 of age; 12 of v: 3000. Passing w gives 2800, not enough; with the 200 of
    // v x shares its rank: 3800 against 3000.
    let compared = stage.jobs(&aged(&stage, 11, "x", 800), &aged(&stage, 12, "v", 0));
    assert_eq!(answer(&compared, "usage x"), Answer::Least(200));
    // 12 of v with a nice value of 300: 2700, which rank 2 and its 2800 pass: the 300 of w.
    let nice = Job {
        nice: 300,
        ..aged(&stage, 12, "v", 0)
    };
    let compared = stage.jobs(&aged(&stage, 11, "x", 800), &nice);
    assert_eq!(answer(&compared, "usage x"), Answer::Least(100));
}

#[test]
fn equal_priorities_go_by_number() {
    let stage = age_and_fairshare();
    let (low, high) = (aged(&stage, 11, "w", 10), aged(&stage, 12, "w", 10));
    let compared = stage.jobs(&high, &low);
    assert_eq!((compared.ahead, compared.first), (None, Side::Second));
    assert_eq!(compared.moves, Side::First);
    assert!(decisive(&compared).is_empty());
    assert_eq!(answer(&compared, "nice"), Answer::Least(1));
    let text = Explanation::Jobs(&compared).to_string();
    assert!(
        text.contains("job 11 comes first because its number is lower"),
        "{text}"
    );
}

#[test]
fn held_jobs_have_no_remedies() {
    let stage = age_and_fairshare();
    let held = Job {
        priority: 0,
        ..aged(&stage, 11, "u", 900)
    };
    let compared = stage.jobs(&held, &aged(&stage, 12, "x", 0));
    assert_eq!(compared.ahead, Some(Side::Second));
    assert!(compared.remedies.is_empty() && decisive(&compared).is_empty());
    assert!(
        Explanation::Jobs(&compared)
            .to_string()
            .contains("job 11 is held")
    );
    let direct = Job {
        priority: 9000,
        direct: true,
        ..aged(&stage, 13, "x", 0)
    };
    // 11 released: 900 + 4000 = 4900 against 9000.
    let free = aged(&stage, 11, "u", 900);
    let compared = stage.jobs(&free, &direct);
    assert_eq!(answer(&compared, "nice"), Answer::Least(4101));
}

/// The names of all fields of a JSON value.
fn fields(value: &serde_json::Value, found: &mut std::collections::BTreeSet<String>) {
    match value {
        serde_json::Value::Object(map) => {
            for (name, value) in map {
                found.insert(name.clone());
                fields(value, found);
            }
        }
        serde_json::Value::Array(values) => values.iter().for_each(|value| fields(value, found)),
        _ => {}
    }
}

#[test]
fn every_field_of_the_json_is_documented() {
    use fairtree_render::explain::to_json;
    let stage = stage();
    let several = Job {
        partitions: Span { start: 0, len: 2 },
        ..job(&stage)
    };
    let other = Job {
        id: 12,
        assoc: Some(stage.index("w")),
        ..several
    };
    let compared = stage.jobs(&several, &other);
    let mut out = Vec::new();
    to_json(&mut out, Explanation::Jobs(&compared)).unwrap();
    let json = serde_json::from_slice(&out).unwrap();
    let mut found = std::collections::BTreeSet::new();
    fields(&json, &mut found);
    assert!(found.len() > 60, "{found:?}");
    let document = include_str!("../../../docs/json.md");
    for field in found.iter().filter(|field| *field != "kind") {
        let mentioned = [format!("`{field}`"), format!("`{{\"{field}\"")];
        assert!(mentioned.iter().any(|m| document.contains(m)), "{field}");
    }
}
