//! Why a job has its priority and why one comes before another. Every expected number is worked by
//! hand from Slurm's priority_multifactor.html, unless a comment says otherwise.

#![cfg(feature = "cli")]

mod common;
mod explain {
    pub mod stage;
}

use common::Site as Small;
use explain::stage::{NOW, Stage};
use fairtree::config::{Config, PriorityFlags};
use fairtree::priority::{Index, Job, Partition, Qos, Site, Span, TimeLimit};
use fairtree::report::explain::{
    Answer, Bound, Explained, Formula, JobExplanation, JobsCompared, RemedyKind, Side, SizeMode,
    Term, explain_job,
};

/// Four users: ranks 4 (u), 3 (v), 2 (w), 1 (x), factors 1, 0.75, 0.5, 0.25.
const USERS: &str = "
u 1 100
v 1 200
w 1 300
x 1 400
";

fn config() -> Config {
    Config::builder()
        .priority_max_age_secs(1000)
        .priority_weight_age(1000)
        .priority_weight_assoc(1000)
        .priority_weight_fairshare(600)
        .priority_weight_job_size(3200)
        .priority_weight_partition(2000)
        .priority_weight_qos(4000)
        .priority_weight_tres([("cpu", 1000.0)])
        .build()
        .expect("a sound configuration")
}

/// Two partitions with 80 and 160 CPUs, two QOS, 10 nodes with 160 CPUs.
fn site() -> Site {
    let partition = |factor: u16, tres: usize| Partition {
        priority_job_factor: factor,
        norm_priority: f64::from(factor) / 200.0,
        max_time_mins: None,
        tres: Some(Index::new(tres)),
    };
    let qos = |priority: u32| Qos {
        priority,
        norm_priority: f64::from(priority) / 40.0,
    };
    Site {
        partitions: vec![partition(200, 0), partition(100, 2)],
        qos: vec![qos(20), qos(40)],
        partition_lists: vec![Index::new(0), Index::new(1)],
        qos_lists: Vec::new(),
        tres_names: vec!["cpu".to_owned(), "mem".to_owned()],
        tres_counts: vec![80, 1000, 160, 1000, 40, 100],
        assocs: Vec::new(),
        cluster_cpus: 160,
        cluster_nodes: 10,
    }
}

fn stage_with(config: Config) -> Stage {
    let mut stage = Stage::with_site(config, &Small::parse(USERS), site());
    for (at, assoc) in stage.site.assocs.iter_mut().enumerate() {
        assoc.priority = 10 * at as u32;
        assoc.norm_priority = at as f64 / 4.0;
    }
    stage
}

fn stage() -> Stage {
    stage_with(config())
}

/// Age 100, assoc 500, fairshare 450, size 400 ((0/10 + 40/160)/2 = 0.125), partition 2000, QOS
/// 2000 and TRES 500 points: 5950.
fn job(stage: &Stage) -> Job {
    Job {
        assoc: Some(stage.index("v")),
        partition: Some(Index::new(0)),
        qos: Some(Index::new(0)),
        accrue_time: NOW - 100,
        cpus: 40,
        time_limit: TimeLimit::Minutes(60),
        tres: Some(Index::new(4)),
        ..Job::new(11)
    }
}

fn explained(stage: &Stage, job: &Job) -> JobExplanation {
    explain_job(&stage.scene(), stage, job).expect("a job of the site")
}

fn term<'a>(job: &'a JobExplanation, name: &str) -> &'a Term {
    let mut terms = job.terms.iter();
    let found = terms.find(|term| term.name.to_string() == name);
    found.expect("a term of that name")
}

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

#[test]
fn every_term() {
    let stage = stage();
    let job = Job {
        nice: 30,
        site_factor: 5,
        ..job(&stage)
    };
    let explained = explained(&stage, &job);
    let points: Vec<(String, f64)> = explained
        .terms
        .iter()
        .map(|term| (term.name.to_string(), term.points))
        .collect();
    let expected = [
        ("age", 100.0),
        ("assoc", 500.0),
        ("fairshare", 450.0),
        ("job_size", 400.0),
        ("partition", 2000.0),
        ("qos", 2000.0),
        ("tres/cpu", 500.0),
        ("site", 5.0),
        ("nice", -30.0),
    ];
    assert_eq!(
        points,
        expected.map(|(name, points)| (name.to_owned(), points))
    );
    assert_eq!((explained.sum, explained.priority), (5925.0, 5925));
    assert_eq!(explained.state, Explained::Computed);
    assert_eq!(explained.bound, Bound::Whole);
    for term in &explained.terms {
        if let (Some(factor), Some(weight)) = (term.factor, term.weight) {
            assert_eq!(factor * weight, term.points, "{}", term.name);
        }
    }
    assert_eq!(
        term(&explained, "age").formula,
        Formula::Age {
            waited_secs: Some(100),
            max_age_secs: 1000
        }
    );
    assert_eq!(
        term(&explained, "fairshare").formula,
        Formula::Rank {
            user: "v".to_owned(),
            rank: 3,
            users: 4
        }
    );
    assert_eq!(
        term(&explained, "assoc").formula,
        Formula::Priority {
            priority: 20,
            largest: Some(40)
        }
    );
    assert_eq!(
        term(&explained, "tres/cpu").formula,
        Formula::Tres {
            count: 40,
            of: Some(80)
        }
    );
}

#[test]
fn in_sentences() {
    let stage = stage();
    let job = Job {
        nice: 30,
        accrue_time: NOW - 101,
        ..job(&stage)
    };
    let expected = "\
job 11 of v (partition batch, QOS normal) has priority 5921.

  age              0.1010000 x       1000 =            101  waited 00:01:41 of PriorityMaxAge 00:16:40
  assoc            0.5000000 x       1000 =            500  priority 20 of at most 40
  fairshare        0.7500000 x        600 =            450  v: rank 3 of 4
  job_size         0.1250000 x       3200 =            400  0 of 10 nodes, 40 of 160 CPUs
  partition        1.0000000 x       2000 =           2000  priority 200 of at most 200
  qos              0.5000000 x       4000 =           2000  priority 20 of at most 40
  tres/cpu         0.5000000 x       1000 =            500  40 of the partition's 80
  site                                                   0
  nice                                                 -30
  sum                                                 5921
";
    assert_eq!(explained(&stage, &job).to_string(), expected);
}

#[test]
fn what_becomes_of_the_sum() {
    let mut config = config();
    config.priority_weight_job_size = 3;
    let stage = stage_with(config.clone());
    let cut = explained(&stage, &job(&stage));
    assert_eq!((cut.sum, cut.priority), (5550.375, 5550));
    assert_eq!(cut.bound, Bound::Truncated);
    assert!(cut.to_string().contains("5550.38  cut to 5550"));
    let low = Job {
        nice: 100_000,
        ..job(&stage)
    };
    let low = explained(&stage, &low);
    assert_eq!((low.bound, low.priority), (Bound::RaisedTo1, 1));
    config.priority_weight_partition = u32::MAX;
    let stage = stage_with(config);
    let high = explained(&stage, &job(&stage));
    assert_eq!((high.bound, high.priority), (Bound::Capped, u32::MAX));
}

#[test]
fn held_direct_and_kept() {
    let stage = stage();
    let held = Job {
        priority: 0,
        ..job(&stage)
    };
    let held = explained(&stage, &held);
    assert_eq!(
        (held.state, held.priority, held.computed),
        (Explained::Held, 0, 5950)
    );
    let direct = Job {
        priority: 77,
        direct: true,
        ..job(&stage)
    };
    let direct = explained(&stage, &direct);
    assert_eq!(
        (direct.state, direct.priority, direct.computed),
        (Explained::Direct, 77, 5950)
    );
    assert_eq!(term(&direct, "tres/cpu").points, 500.0);
    let config = Config {
        priority_flags: PriorityFlags::parse("INCR_ONLY"),
        ..config()
    };
    let stage = stage_with(config);
    let kept = Job {
        priority: 6000,
        ..job(&stage)
    };
    let kept = explained(&stage, &kept);
    assert_eq!(
        (kept.state, kept.priority, kept.computed),
        (Explained::Kept, 6000, 5950)
    );
}

#[test]
fn without_weights_and_rows() {
    let stage = stage_with(Config {
        priority_weight_age: 10,
        ..Config::default()
    });
    let bare = explained(&stage, &Job::new(1));
    assert_eq!(bare.priority, 1);
    assert_eq!(term(&bare, "qos").formula, Formula::Absent);
    let text = bare.to_string();
    assert!(text.contains("does not age: not eligible yet"), "{text}");
    let silent =
        "Without a weight, so without a say: assoc, fairshare, job_size, partition and qos.";
    assert!(text.contains(silent), "{text}");
}

#[test]
fn sizes_and_raw_numbers() {
    let config = Config {
        priority_flags: PriorityFlags::parse("SMALL_RELATIVE_TO_TIME,NO_NORMAL_ALL"),
        priority_favor_small: true,
        ..config()
    };
    let stage = stage_with(config);
    let explained = explained(&stage, &job(&stage));
    assert_eq!(
        term(&explained, "job_size").formula,
        Formula::Size {
            mode: SizeMode::SmallRelativeToTime,
            nodes: 0,
            cluster_nodes: 10,
            cpus: 40,
            cluster_cpus: 160,
            minutes: Some(60)
        }
    );
    let raw = Formula::Priority {
        priority: 200,
        largest: None,
    };
    assert_eq!(term(&explained, "partition").formula, raw);
    let cpus = term(&explained, "tres/cpu");
    assert_eq!((cpus.factor, cpus.points), (Some(40.0), 40_000.0));
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
    let text = explained.to_string();
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

// v waits 100 s (5950), w 100 s with the higher QOS, and less fair share: 100 + 750 + 300 + 400 +
// 2000 + 4000 + 500 = 8050. QOS (+2000) outweighs fair share (-150) by itself.
#[test]
fn what_decides() {
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
    let text = compared.to_string();
    assert!(text.starts_with("job 11 (priority 5950) is behind job 12 (priority 8050) by 2100."));
    assert!(text.contains("What decides: qos."), "{text}");
    assert!(text.contains("a nice value of -2101, not 0"), "{text}");
}

// Points for the job behind count against: age +300 for 11; for 12 QOS +200, partition +150.
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

// 11 has 600 + 3000, 12 has 1900 - 0 (at its maximum) + 2000 = 3000; turned round: 11 of w with
// 600 + 2000 against 12 of w with 900 + 2000 - 200 (nice): 2600 against 2700. Both grow until 12
// is at 1000, 100 s from now; then 11 gains a point a second: after 201 s it has 2801 of 2800.
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
    let text = compared.to_string();
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
    let text = compared.to_string();
    assert!(text.contains("Their ways part below root:"), "{text}");
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
    let text = compared.to_string();
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
    assert!(compared.to_string().contains("job 11 is held"));
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

#[test]
fn errors_and_json() {
    use fairtree::report::explain::compare_jobs;
    use fairtree::report::explain::json::{Explanation, to_json};
    let stage = stage();
    let job = job(&stage);
    let error = compare_jobs(&stage.scene(), &stage, [&job, &job]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job 11 cannot be compared with itself; name two different jobs"
    );
    let lost = Job {
        partition: Some(Index::new(9)),
        ..job
    };
    assert!(explain_job(&stage.scene(), &stage, &lost).is_err());
    let mut out = Vec::new();
    to_json(&mut out, Explanation::Job(&explained(&stage, &job))).unwrap();
    let json: serde_json::Value = serde_json::from_slice(&out).unwrap();
    assert_eq!(json["question"], "job");
    let terms = &json["answer"]["terms"];
    assert_eq!(terms[2]["name"], "fairshare");
    assert_eq!(terms[2]["formula"]["kind"], "rank");
    assert_eq!(terms[6]["name"], "tres/cpu");
    assert_eq!(json["answer"]["bound"], "whole");
}
