//! slurm.conf files of real sites and the examples of Slurm's documentation.
//!
//! Expected values: read from the files by hand; times by slurm.conf(5) (`7` is minutes, `7-0` is
//! days).

mod common;

use common::data::data_text;
use fairtree::config::{Config, PriorityFlags, ResetPeriod, SlurmConfReader};

const DAY: u32 = 86_400;

fn read(name: &str) -> Option<Config> {
    let text = data_text(name)?;
    Some(Config::from_slurm_conf(&text, name).unwrap_or_else(|error| panic!("{error}")))
}

/// The weights age, fairshare, size, partition, QOS.
fn weights(config: &Config) -> [u32; 5] {
    [
        config.priority_weight_age,
        config.priority_weight_fairshare,
        config.priority_weight_job_size,
        config.priority_weight_partition,
        config.priority_weight_qos,
    ]
}

#[test]
fn tara_has_blanks_around_values() {
    let Some(config) = read("slurm/conf/nstda-tara.conf") else {
        return;
    };
    assert_eq!(weights(&config), [1000, 10_000, 1000, 1000, 1000]);
    assert_eq!(config.priority_decay_half_life_secs, 7 * DAY);
    assert_eq!(config.priority_usage_reset_period, ResetPeriod::None);
    assert_eq!(config.priority_calc_period_secs, 300);
}

#[test]
fn taltechs_maximum_age_is_seven_minutes() {
    let Some(config) = read("slurm/conf/taltech-hpc2.conf") else {
        return;
    };
    assert_eq!(config.priority_max_age_secs, 7 * 60);
    assert_eq!(config.priority_decay_half_life_secs, 14 * DAY);
    assert!(config.priority_favor_small);
    assert_eq!(weights(&config), [1000, 10_000, 1000, 1000, 0]);
}

#[test]
fn umcg_bills_the_largest_tres() {
    let Some(config) = read("slurm/conf/umcg-gearshift.conf") else {
        return;
    };
    assert!(config.priority_flags.max_tres);
    assert_eq!(config.priority_max_age_secs, 100 * DAY);
    let Some(later) = read("slurm/conf/umcg-2024-priority-lines.conf") else {
        return;
    };
    assert!(later.priority_flags.max_tres && !later.priority_flags.no_fair_tree);
    assert_eq!(later.priority_decay_half_life_secs, 3 * DAY);
    assert_eq!(weights(&later), [1000, 100_000, 0, 0, 1_000_000]);
}

#[test]
fn unsw_includes_three_files() {
    let Some(text) = data_text("slurm/conf/unsw-abacus.conf") else {
        return;
    };
    let mut reader = SlurmConfReader::new();
    let includes = reader.read(&text, "abacus");
    let files: Vec<&str> = includes
        .iter()
        .map(|include| include.file.as_str())
        .collect();
    assert_eq!(
        files,
        [
            "/etc/slurm/headnode.conf",
            "/etc/slurm/nodenames.conf",
            "/etc/slurm/partitions.conf"
        ]
    );
    assert_eq!(includes[0].place.line, 73);
    let config = reader.finish().unwrap();
    assert_eq!(weights(&config), [1000, 10_000, 1000, 10_000, 10_000]);
    assert_eq!(config.priority_max_age_secs, DAY);
}

#[test]
fn buffalo_weighs_tres() {
    let Some(config) = read("slurm/ubhpc/slurm.conf") else {
        return;
    };
    assert_eq!(
        weights(&config),
        [70_000, 120_000, 200_000, 1_000_000, 50_000]
    );
    assert_eq!(config.fair_share_dampening_factor, 5);
    assert_eq!(
        config.priority_flags,
        PriorityFlags::parse("NO_NORMAL_TRES")
    );
    let tres = [("CPU", 0.0), ("Mem", 0.03), ("GRES/gpu", 30_000.0)];
    let tres: Vec<(String, f64)> = tres.map(|(name, weight)| (name.to_string(), weight)).into();
    assert_eq!(config.priority_weight_tres, tres);
    let Some(micro) = read("slurm/micro/slurm.conf") else {
        return;
    };
    assert_eq!(micro.priority_decay_half_life_secs, 4 * 3600);
    assert_eq!(micro.priority_max_age_secs, 5 * 3600);
}

// Source: "Configuration Example" of Slurm's priority_multifactor.html.
#[test]
fn the_documentations_two_examples() {
    let weights_text = "\
        PriorityWeightAge=1000\n\
        PriorityWeightFairshare=10000\n\
        PriorityWeightJobSize=1000\n\
        PriorityWeightPartition=1000\n\
        PriorityWeightQOS=0 # don't use the qos factor\n";
    let decay = format!("PriorityDecayHalfLife=14-0\nPriorityMaxAge=14-0\n{weights_text}");
    let config = Config::from_slurm_conf(&decay, "decay").unwrap();
    assert_eq!(config.priority_decay_half_life_secs, 14 * DAY);
    assert_eq!(config.priority_max_age_secs, 14 * DAY);
    assert_eq!(weights(&config), [1000, 10_000, 1000, 1000, 0]);

    let reset =
        format!("PriorityDecayHalfLife=0\nPriorityUsageResetPeriod=MONTHLY\n{weights_text}");
    let config = Config::from_slurm_conf(&reset, "reset").unwrap();
    assert_eq!(config.priority_decay_half_life_secs, 0);
    assert_eq!(config.priority_usage_reset_period, ResetPeriod::Monthly);
}
