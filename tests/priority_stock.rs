//! `compat=slurm` compared with recorded results of `priority/multifactor`: every term to the last
//! bit, every priority, every variant.
//!
//! Expected values: see the first lines of `tests/golden/priority-*.txt`.

use std::collections::HashMap;
use std::str::FromStr;

use fairtree::compat::{Compat, Release};
use fairtree::config::{Config, PriorityFlags};
use fairtree::priority::{
    AssocFactors, Index, Job, JobTables, Partition, Priced, Pricer, Qos, Span, TimeLimit,
};
use fairtree::tree::AssocIndex;

const NOW: i64 = 1_700_000_000;

/// One line of a golden file.
struct Case<'a>(HashMap<&'a str, &'a str>);

impl<'a> Case<'a> {
    fn new(line: &'a str) -> Case<'a> {
        let fields = line.split(' ').filter_map(|field| field.split_once('='));
        Case(fields.collect())
    }

    fn one<T: FromStr>(&self, key: &str) -> T {
        parse(self.0[key])
    }

    /// The numbers between commas; empty for "-".
    fn list<T: FromStr>(&self, key: &str) -> Vec<T> {
        let text = self.0[key].split(',').filter(|item| *item != "-");
        text.map(parse).collect()
    }

    /// The fields between colons of the items between commas.
    fn table(&self, key: &str) -> Vec<Vec<&'a str>> {
        let rows = self.0[key].split(',');
        rows.map(|row| row.split(':').collect()).collect()
    }

    fn config(&self, release: Release) -> Config {
        let weights: Vec<u32> = self.list("w");
        let tres = ["cpu", "mem", "gres/gpu"].into_iter();
        Config {
            priority_weight_age: weights[0],
            priority_weight_assoc: weights[1],
            priority_weight_fairshare: weights[2],
            priority_weight_job_size: weights[3],
            priority_weight_partition: weights[4],
            priority_weight_qos: weights[5],
            priority_weight_tres: tres.map(String::from).zip(self.list("tw")).collect(),
            priority_max_age_secs: self.one("max_age"),
            priority_favor_small: self.0["small"] == "1",
            priority_flags: PriorityFlags::from_bits(self.one("flags"), release).unwrap(),
            compat: Compat::Slurm(release),
            ..Config::default()
        }
    }

    fn site(&self) -> JobTables {
        let cluster: Vec<u32> = self.list("cluster");
        let mut site = JobTables {
            tres_names: ["cpu", "mem", "gres/gpu"].map(String::from).into(),
            tres_counts: self.list("tres"),
            cluster_nodes: cluster[0],
            cluster_cpus: cluster[1],
            partition_lists: self.list("partlist").into_iter().map(Index::new).collect(),
            qos_lists: self.list("qoslist").into_iter().map(Index::new).collect(),
            ..JobTables::default()
        };
        for row in self.table("parts") {
            let start = site.tres_counts.len();
            let counted = row[3] != "-";
            if counted {
                site.tres_counts
                    .extend(row[3..].iter().map(|count| parse::<u64>(count)));
            }
            site.partitions.push(Partition {
                priority_job_factor: parse(row[0]),
                norm_priority: parse(row[1]),
                max_time_mins: row[2].parse().ok(),
                tres: counted.then(|| Index::new(start)),
            });
        }
        site.qos.extend(self.table("qoses").iter().map(|row| Qos {
            priority: parse(row[0]),
            norm_priority: parse(row[1]),
        }));
        if let [fs_factor, priority, norm_priority] = self.list("assoc")[..] {
            site.assocs.push(AssocFactors {
                fs_factor,
                priority: priority as u32,
                norm_priority,
            });
        }
        site
    }

    fn job(&self, site: &JobTables) -> Job {
        let size: Vec<u32> = self.list("size");
        let index = |key| self.list(key).first().map(|index| Index::new(*index));
        let span = |len: usize| Span {
            start: 0,
            len: len as u32,
        };
        Job {
            assoc: (!site.assocs.is_empty()).then(|| AssocIndex::new(0)),
            partition: index("part"),
            qos: index("qos"),
            partitions: span(site.partition_lists.len()),
            qos_list: span(site.qos_lists.len()),
            accrue_time: self.one("accrue"),
            nodes: size[0],
            cpus: size[1],
            time_limit: match self.0["limit"] {
                "-" => TimeLimit::Unset,
                "unlimited" => TimeLimit::Unlimited,
                minutes => TimeLimit::Minutes(parse(minutes)),
            },
            nice: self.one("nice"),
            site_factor: self.one("site"),
            tres: (self.0["tres"] != "-").then(|| Index::new(0)),
            priority: self.one("prio"),
            direct: self.0["direct"] == "1",
            ..Job::new(1)
        }
    }
}

fn parse<T: FromStr>(text: &str) -> T {
    text.parse().unwrap_or_else(|_| panic!("{text}"))
}

fn bits(numbers: &[f64]) -> Vec<u64> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn check(line: &str, release: Release) {
    let (input, expected) = line.split_once(" => ").expect("a result");
    let (case, expected) = (Case::new(input), Case::new(expected));
    let (config, site) = (case.config(release), case.site());
    let job = case.job(&site);
    site.check_job(&job).unwrap();
    let pricer = Pricer::new(&config, &site, NOW).unwrap();

    let priced = pricer.price(&job);
    assert_eq!(priced.priority, expected.one::<u32>("priority"), "{line}");
    let Priced {
        age,
        assoc,
        fairshare,
        job_size,
        partition,
        qos,
        ..
    } = priced;
    let terms = [age, assoc, fairshare, job_size, partition, qos];
    assert_eq!(bits(&terms), bits(&expected.list("terms")), "{line}");

    // Slurm does not change a held job, which has the terms of an earlier pass.
    if job.priority != 0 {
        let mut terms = [0.0; 3];
        pricer.tres_terms(&job, &mut terms);
        assert_eq!(bits(&terms), bits(&expected.list("tres")), "{line}");
    }
    let mut variants = [0; 9];
    let count = pricer.price_variants(&job, &priced, &mut variants);
    let expected: Vec<u32> = expected.list("variants");
    let untouched = job.priority == 0 || job.direct;
    assert!(expected.len() == count || untouched, "{line}");
    assert_eq!(variants[..expected.len()], expected, "{line}");
}

fn check_all(text: &str, release: Release) {
    let cases = text.lines().filter(|line| !line.starts_with('#'));
    assert_eq!(cases.inspect(|line| check(line, release)).count(), 150);
}

#[test]
fn slurm_22_05_8() {
    check_all(
        include_str!("golden/priority-22.05.8.txt"),
        Release::V22_05_8,
    );
}

#[test]
fn slurm_24_11_5() {
    check_all(
        include_str!("golden/priority-24.11.5.txt"),
        Release::V24_11_5,
    );
}
