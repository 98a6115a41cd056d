//! Why a job has its priority. Every expected number is worked by hand from Slurm's
//! priority_multifactor.html, unless a comment says otherwise.

#[path = "../../../tests/common/mod.rs"]
mod common;
mod explain {
    pub mod queue;
    pub mod stage;
}

use explain::queue::{config, explained, job, stage, stage_with, term};
use explain::stage::NOW;
use fairtree::config::{Config, PriorityFlags};
use fairtree::priority::{Index, Job};
use fairtree_analysis::explain::{Bound, Explained, Formula, SizeMode, compare_jobs, explain_job};
use fairtree_render::explain::Explanation;

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
  fairshare        0.7500000 x        600 =            450  v: place 2 of 4
  job_size         0.1250000 x       3200 =            400  0 of 10 nodes, 40 of 160 CPUs
  partition        1.0000000 x       2000 =           2000  priority 200 of at most 200
  qos              0.5000000 x       4000 =           2000  priority 20 of at most 40
  tres/cpu         0.5000000 x       1000 =            500  40 of the partition's 80
  site                                                   0
  nice                                                 -30
  sum                                                 5921
";
    assert_eq!(
        Explanation::Job(&explained(&stage, &job)).to_string(),
        expected
    );
}

#[test]
fn what_becomes_of_the_sum() {
    let mut config = config();
    config.priority_weight_job_size = 3;
    let stage = stage_with(config.clone());
    let cut = explained(&stage, &job(&stage));
    assert_eq!((cut.sum, cut.priority), (5550.375, 5550));
    assert_eq!(cut.bound, Bound::Truncated);
    assert!(
        Explanation::Job(&cut)
            .to_string()
            .contains("5550.38  cut to 5550")
    );
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
    let text = Explanation::Job(&bare).to_string();
    assert!(text.contains("does not age: not eligible yet"), "{text}");
    let silent = "Not counted (weight 0): assoc, fairshare, job_size, partition and qos.";
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

#[test]
fn errors_and_json() {
    use fairtree_render::explain::to_json;
    let stage = stage();
    let job = job(&stage);
    let error = compare_jobs(&stage.ranked(), &stage, [&job, &job]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "job 11 cannot be compared with itself; name two different jobs"
    );
    let lost = Job {
        partition: Some(Index::new(9)),
        ..job
    };
    assert!(explain_job(&stage.ranked(), &stage, &lost).is_err());
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
