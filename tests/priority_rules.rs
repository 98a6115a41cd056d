//! The rules of multifactor priorities, from outside the crate.
//!
//! Expected values: from Slurm's priority_multifactor.html and slurm.conf(5), computed by hand in
//! the comments; and properties that hold for every job.

use fairtree::compat::{Compat, Release};
use fairtree::config::{Config, PriorityFlags};
use fairtree::priority::{
    AssocFactors, Index, Job, JobTables, Partition, Priced, Pricer, Qos, Span, TimeLimit,
};
use fairtree::tree::AssocIndex;
use proptest::prelude::*;

const NOW: i64 = 1_700_000_000;
const DAY: i64 = 86_400;

const MODES: [Compat; 3] = [
    Compat::Documented,
    Compat::Slurm(Release::V22_05_8),
    Compat::Slurm(Release::V24_11_5),
];

/// Partitions of 30 and 60, QOS of 10, 40 and 0, an association with priority 5 of at most 20 and
/// fair share 0.75; 8 nodes with 64 CPUs.
fn site() -> JobTables {
    let partition = |priority_job_factor: u16| Partition {
        priority_job_factor,
        norm_priority: f64::from(priority_job_factor) / 60.0,
        max_time_mins: Some(100),
        tres: Some(Index::new(0)),
    };
    let qos = |priority: u32| Qos {
        priority,
        norm_priority: f64::from(priority) / 40.0,
    };
    JobTables {
        partitions: vec![partition(30), partition(60)],
        qos: vec![qos(10), qos(40), qos(0)],
        partition_lists: vec![Index::new(1), Index::new(0)],
        qos_lists: vec![Index::new(1), Index::new(2)],
        tres_names: ["cpu", "mem", "gres/gpu"].map(String::from).into(),
        tres_counts: vec![64, 1000, 4, 16, 500, 1],
        assocs: vec![AssocFactors {
            fs_factor: 0.75,
            priority: 5,
            norm_priority: 0.25,
        }],
        cluster_cpus: 64,
        cluster_nodes: 8,
    }
}

/// A day old, a quarter of the cluster (2 nodes, 16 CPUs), 10 minutes, partition 30, QOS 10.
fn job() -> Job {
    Job {
        assoc: Some(AssocIndex::new(0)),
        partition: Some(Index::new(0)),
        qos: Some(Index::new(0)),
        accrue_time: NOW - DAY,
        cpus: 16,
        nodes: 2,
        time_limit: TimeLimit::Minutes(10),
        tres: Some(Index::new(3)),
        ..Job::new(17)
    }
}

fn price(config: &Config, job: &Job) -> Priced {
    let site = site();
    site.check_job(job).unwrap();
    Pricer::new(config, &site, NOW).unwrap().price(job)
}

#[test]
fn every_weight_alone() {
    let four_days = || Config::builder().priority_max_age_secs(4 * DAY as u32);
    for (builder, priority) in [
        // One day of four.
        (four_days().priority_weight_age(1000), 250),
        // 5 of 20.
        (four_days().priority_weight_assoc(1000), 250),
        (four_days().priority_weight_fairshare(1000), 750),
        // (2/8 + 16/64) / 2.
        (four_days().priority_weight_job_size(1000), 250),
        // 30 of 60.
        (four_days().priority_weight_partition(1000), 500),
        // 10 of 40.
        (four_days().priority_weight_qos(1000), 250),
        // 16 of 64 CPUs, half the memory, one GPU of four.
        (
            four_days().priority_weight_tres([("CPU", 1000.0), ("Mem", 10.0), ("gres/gpu", 400.0)]),
            355,
        ),
        // No term at all: 1, because 0 means held.
        (four_days(), 1),
    ] {
        for compat in MODES {
            let config = builder.clone().compat(compat).build().unwrap();
            assert_eq!(price(&config, &job()).priority, priority, "{config:?}");
        }
    }
}

#[test]
fn every_flag() {
    let all = |flags: &str| {
        Config::builder()
            .priority_max_age_secs(4 * DAY as u32)
            .priority_weight_assoc(100)
            .priority_weight_job_size(4000)
            .priority_weight_partition(100)
            .priority_weight_qos(100)
            .priority_weight_tres([("gres/gpu", 1000.0)])
            .priority_flags(PriorityFlags::parse(flags))
    };
    // Normalised: 25 + 1000 + 50 + 25 + 250.
    for (flags, priority) in [
        ("", 1350),
        ("NO_NORMAL_ASSOC", 1350 - 25 + 500),
        ("NO_NORMAL_PART", 1350 - 50 + 3000),
        ("NO_NORMAL_QOS", 1350 - 25 + 1000),
        ("NO_NORMAL_TRES", 1350 - 250 + 1000),
        ("NO_NORMAL_ALL", 500 + 1000 + 3000 + 1000 + 1000),
        // 16 CPUs / 10 minutes / 64 CPUs.
        ("SMALL_RELATIVE_TO_TIME", 1350 - 1000 + 100),
        // These flags act elsewhere: on usage, on fair share, on the choice of priced jobs.
        ("MAX_TRES,CALCULATE_RUNNING,ACCRUE_ALWAYS", 1350),
        ("NO_FAIR_TREE", 1350),
        ("DEPTH_OBLIVIOUS", 1350),
        ("INCR_ONLY", 1350),
    ] {
        for compat in MODES {
            let config = all(flags).compat(compat).build().unwrap();
            assert_eq!(price(&config, &job()).priority, priority, "{flags}");
        }
    }
    let small = all("SMALL_RELATIVE_TO_TIME").priority_favor_small(true);
    // 1 - 0.025 of 4000.
    assert_eq!(
        price(&small.build().unwrap(), &job()).priority,
        1350 - 1000 + 3900
    );
    let small = all("").priority_favor_small(true);
    // 6 of 8 nodes and 48 of 64 CPUs left.
    assert_eq!(
        price(&small.build().unwrap(), &job()).priority,
        1350 - 1000 + 3000
    );
}

// "Positive values negatively impact a job's priority and negative values increase it. The
// adjustment range is +/-2147483645."
#[test]
fn nice_and_site_have_no_weight() {
    let config = Config::builder()
        .priority_weight_fairshare(4000)
        .build()
        .unwrap();
    for (nice, site_factor, priority) in [
        (0, 0, 3000),
        (100, 0, 2900),
        (-100, 0, 3100),
        (0, 100, 3100),
        (0, -100, 2900),
        (2_147_483_645, 0, 1),
        (-2_147_483_645, 2_147_483_645, 4_294_967_295),
    ] {
        let job = Job {
            nice,
            site_factor,
            ..job()
        };
        assert_eq!(price(&config, &job).priority, priority);
    }
}

// "The job's priority is an integer that ranges between 0 and 4294967295."
#[test]
fn too_large_a_sum_is_marked() {
    let config = Config::builder()
        .priority_weight_fairshare(u32::MAX)
        .priority_weight_job_size(u32::MAX)
        .priority_weight_tres([("gres/gpu", 1e300), ("mem", -1e300)])
        .build()
        .unwrap();
    let small = Config {
        priority_weight_tres: Vec::new(),
        ..config.clone()
    };
    // 0.75 and 0.25 of it: exactly the largest.
    let priced = price(&small, &job());
    assert_eq!((priced.priority, priced.overflow), (u32::MAX, false));
    let nicer = Job { nice: -1, ..job() };
    let priced = price(&small, &nicer);
    assert_eq!((priced.priority, priced.overflow), (u32::MAX, true));
    // 0.25 - 0.5 of 1e300.
    assert_eq!(price(&config, &job()).priority, 1);
}

prop_compose! {
    fn any_config()(
        weights in prop::array::uniform6(prop_oneof![Just(0), 0..10_000u32, any::<u32>()]),
        tres in prop::array::uniform3(prop_oneof![Just(0.0), -1e6..1e6f64]),
        max_age in prop_oneof![Just(0), any::<u32>()],
        small in any::<bool>(),
        flags in prop::sample::subsequence(vec![
            "NO_NORMAL_ASSOC", "NO_NORMAL_PART", "NO_NORMAL_QOS", "NO_NORMAL_TRES",
            "SMALL_RELATIVE_TO_TIME",
        ], 0..=5),
        mode in 0..3usize,
    ) -> Config {
        Config::builder()
            .priority_weight_age(weights[0])
            .priority_weight_assoc(weights[1])
            .priority_weight_fairshare(weights[2])
            .priority_weight_job_size(weights[3])
            .priority_weight_partition(weights[4])
            .priority_weight_qos(weights[5])
            .priority_weight_tres([("cpu", tres[0]), ("mem", tres[1]), ("gres/gpu", tres[2])])
            .priority_max_age_secs(max_age)
            .priority_favor_small(small)
            .priority_flags(PriorityFlags::parse(&flags.join(",")))
            .compat(MODES[mode])
            .build()
            .expect("a sound configuration")
    }
}

prop_compose! {
    fn any_job()(
        assoc in any::<bool>(),
        partition in prop::option::of(0..2usize),
        qos in prop::option::of(0..3usize),
        lists in prop::array::uniform2(0..=2u32),
        accrue_time in prop_oneof![Just(0), 1..=2 * NOW],
        cpus in prop_oneof![Just(0), 1..=64u32, any::<u32>()],
        nodes in prop_oneof![0..=8u32, any::<u32>()],
        time_limit in prop_oneof![
            Just(TimeLimit::Unset),
            Just(TimeLimit::Unlimited),
            (0..=10_000u32).prop_map(TimeLimit::Minutes),
        ],
        nice in prop_oneof![Just(0), any::<i32>()],
        site_factor in prop_oneof![Just(0), any::<i32>()],
        tres in prop::option::of(Just(3usize)),
        priority in prop_oneof![1..=10_000u32, 1..=u32::MAX],
    ) -> Job {
        Job {
            id: 1,
            assoc: assoc.then(|| AssocIndex::new(0)),
            partition: partition.map(Index::new),
            qos: qos.map(Index::new),
            partitions: Span { start: 0, len: lists[0] },
            qos_list: Span { start: 0, len: lists[1] },
            accrue_time,
            cpus,
            nodes,
            time_limit,
            nice,
            site_factor,
            tres: tres.map(Index::new),
            priority,
            direct: false,
        }
    }
}

proptest! {
    #[test]
    fn a_priority_is_0_only_for_a_held_job(config in any_config(), job in any_job()) {
        prop_assert!(price(&config, &job).priority >= 1);
        let held = Job { priority: 0, ..job };
        prop_assert_eq!(price(&config, &held), Priced::default());
    }

    #[test]
    fn older_is_never_lower(
        config in any_config(),
        job in any_job(),
        accrue_time in 1..2 * NOW,
        more in 1..NOW,
    ) {
        let older = Job { accrue_time, ..job };
        let newer = Job { accrue_time: accrue_time + more, ..job };
        prop_assert!(price(&config, &older).priority >= price(&config, &newer).priority);
    }

    #[test]
    fn nicer_is_never_higher(config in any_config(), job in any_job(), more in 1..i32::MAX) {
        let nicer = Job { nice: job.nice.saturating_add(more), ..job };
        prop_assert!(price(&config, &nicer).priority <= price(&config, &job).priority);
    }

    #[test]
    fn incr_only_never_lowers(config in any_config(), job in any_job()) {
        let mut incr_only = config.clone();
        incr_only.priority_flags.incr_only = true;
        let free = price(&config, &job).priority;
        prop_assert_eq!(price(&incr_only, &job).priority, free.max(job.priority));
    }

    #[test]
    fn terms_stay_within_their_weights(config in any_config(), job in any_job()) {
        let priced = price(&config, &job);
        prop_assert!((0.0..=f64::from(config.priority_weight_age)).contains(&priced.age));
        prop_assert!((0.0..=f64::from(config.priority_weight_fairshare)).contains(&priced.fairshare));
        // Only Slurm's own division of 0 by 0 is not a number.
        let size = 0.0..=f64::from(config.priority_weight_job_size);
        prop_assert!(size.contains(&priced.job_size) || config.compat.is_slurm());
    }

    #[test]
    fn a_variant_in_the_jobs_own_partition_and_qos_is_the_job(
        config in any_config(),
        job in any_job(),
    ) {
        // The first entries of the lists are partition 1 and QOS 1.
        let first = Span { start: 0, len: 1 };
        let alike = Job {
            partition: Some(Index::new(1)),
            qos: Some(Index::new(1)),
            partitions: first,
            qos_list: first,
            ..job
        };
        let site = site();
        let pricer = Pricer::new(&config, &site, NOW).unwrap();
        let priced = pricer.price(&alike);
        let variant = pricer.variants(&alike).next().unwrap();
        let other = pricer.price_variant(&alike, &priced, variant);
        prop_assert_eq!((other.partition, other.qos), (priced.partition, priced.qos));
        // The two sums are added in different orders.
        prop_assert!(other.priority.abs_diff(priced.priority) <= 1);
    }

    #[test]
    fn tres_terms_sum_to_the_tres_term(config in any_config(), job in any_job()) {
        let site = site();
        let pricer = Pricer::new(&config, &site, NOW).unwrap();
        let mut terms = [0.0; 3];
        pricer.tres_terms(&job, &mut terms);
        prop_assert_eq!(pricer.price(&job).tres, terms[0] + terms[1] + terms[2]);
    }
}
