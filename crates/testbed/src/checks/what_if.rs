//! The predictions of `fairtree what-if` are correct: the check makes the real change, and every
//! number that sshare and sprio then print equals the prediction, to the last digit.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::Check;
use super::fixture::{self, DEADLINE, job};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::cluster::conf::PriorityType;
use crate::cluster::table::Table;
use crate::wait;

/// Seconds between two passes: long enough to look at everything in between.
const PERIOD: u32 = 8;

/// Changes settings, shares, parents and priorities in accounting and of jobs, while a job runs.
pub fn predicts(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.settings
        .push(("PriorityParameters", format!("calc_period={PERIOD}")));
    check.in_cluster(&plan, |cluster| {
        check.step("running jobs that leave usage");
        fixture::use_every_account(cluster)?;
        fixture::occupy(cluster)?;
        let jobs = submit(cluster)?;
        check.step("looking at the site before");
        let folder = cluster.path().join("captures");
        let (before, then) = capture(cluster, &folder.join("before"))?;
        let changes = Changes::new(cluster, &jobs)?;
        check.step("making the changes");
        changes.make(cluster)?;
        check.step("looking at the site after");
        let (_, now) = capture(cluster, &folder.join("after"))?;
        let later = format!("0:{}", now - then);
        let mut words = vec!["what-if", "--json", "--from", &before, "--after", &later];
        // All machines are taken; time counts from the pass, not from the capture.
        words.push("--no-starts");
        words.extend(changes.options.iter().map(String::as_str));
        let predicted = cluster.fairtree(&words)?;
        let predicted: Value = serde_json::from_str(&predicted.out)?;
        ensure!(
            predicted["now"] == serde_json::json!([then, now]),
            "the passes were at {then} and {now}, fairtree says {}",
            predicted["now"]
        );
        let after = folder.join("after");
        let shares = compare_shares(&predicted, &answer(&after, "sshare.txt")?)?;
        let released = jobs[RELEASED];
        let priorities = compare_queue(&predicted, &answer(&after, "sprio.txt")?, released)?;
        ensure!(
            shares > 10 && priorities > 10,
            "only {shares} and {priorities} rows to compare"
        );
        Ok(())
    })
}

/// Submits waiting jobs of all accounts, one of them in two partitions, one held.
fn submit(cluster: &Cluster) -> Result<Vec<u32>> {
    let mut ids = Vec::new();
    for (user, account) in [
        ("ann", "left"),
        ("bob", "left"),
        ("cyd", "right"),
        ("dan", "right"),
        ("eve", "lower"),
        ("ann", "lower"),
    ] {
        for (partition, qos) in [("main", "normal"), ("debug", "low"), ("main,debug", "high")] {
            let waiting = NewJob {
                partition,
                qos,
                ..job(user, account, 60)
            };
            ids.push(cluster.submit(&waiting)?);
        }
    }
    cluster.run(&["scontrol", "hold", &ids[RELEASED].to_string()])?;
    Ok(ids)
}

/// The job that is held before and released after the change. A held job does not age; from when it
/// ages depends on the second of its release.
const RELEASED: usize = 3;

/// Makes a capture within one pass; returns its folder and the time of the pass.
fn capture(cluster: &Cluster, folder: &Path) -> Result<(String, i64)> {
    let name = folder.display().to_string();
    wait::until("a capture between two passes", DEADLINE, || {
        fixture::next_pass(cluster)?;
        let began = last_pass(cluster)?;
        // Jobs age only from their submission or last change on.
        let jobs = cluster.show("job")?;
        let waits = |state: &str| state == "PENDING";
        let mut pending = jobs
            .rows()
            .iter()
            .filter(|job| job.text("JobState").is_ok_and(waits));
        let aging = pending.all(|job| {
            job.get::<i64>("AccrueTime").is_ok() || job.get::<u32>("Priority").is_ok_and(|p| p == 0)
        });
        if folder.exists() {
            fs::remove_dir_all(folder)?;
        }
        cluster.fairtree(&["capture", &name])?;
        Ok((aging && last_pass(cluster)? == began).then(|| (name.clone(), began)))
    })
}

fn last_pass(cluster: &Cluster) -> Result<i64> {
    let bytes = fs::read(cluster.path().join("state/priority_last_decay_ran"))?;
    let begin = bytes.first_chunk().context("no pass yet")?;
    Ok(i64::from_be_bytes(*begin))
}

/// One change of each kind, and the options that predict it.
struct Changes {
    options: Vec<String>,
    scontrol: Vec<Vec<String>>,
    sacctmgr: Vec<Vec<String>>,
}

/// Settings of slurm.conf that change.
const SETTINGS: [(&str, &str); 4] = [
    ("PriorityWeightFairshare", "50000"),
    ("PriorityWeightAge", "2000000"),
    ("PriorityMaxAge", "2-0"),
    ("PriorityFlags", "NO_NORMAL_QOS"),
];

impl Changes {
    fn new(cluster: &Cluster, jobs: &[u32]) -> Result<Changes> {
        let name = |short: &str| -> Result<String> { Ok(cluster.user(short)?.name.clone()) };
        let (ann, bob, dan) = (name("ann")?, name("bob")?, name("dan")?);
        let mut changes = Changes {
            options: Vec::new(),
            scontrol: Vec::new(),
            sacctmgr: Vec::new(),
        };
        for (key, value) in SETTINGS {
            changes.option("--set", format!("{key}={value}"));
        }
        changes.option("--shares", "lower=9".to_owned());
        changes.accounting("modify account lower set fairshare=9");
        changes.option("--shares", format!("{ann}@left=7"));
        changes.accounting(&format!(
            "modify user {ann} where account=left set fairshare=7"
        ));
        changes.option("--shares", format!("{dan}@right=parent"));
        changes.accounting(&format!(
            "modify user {dan} where account=right set fairshare=parent"
        ));
        changes.option("--parent", "right=lower".to_owned());
        changes.accounting("modify account right set parent=lower");
        changes.option("--assoc-priority", format!("{bob}@left=40"));
        changes.accounting(&format!(
            "modify user {bob} where account=left set priority=40"
        ));
        changes.option("--qos-priority", "low=400".to_owned());
        changes.accounting("modify qos low set priority=400");
        changes.option("--add-account", "fresh@upper=6".to_owned());
        changes.accounting("add account fresh parent=upper fairshare=6");
        changes.option("--add-user", format!("{bob}@fresh=2"));
        changes.accounting(&format!("add user {bob} account=fresh fairshare=2"));
        let job = |at: usize| jobs[at].to_string();
        changes.option("--nice", format!("{}=321", job(0)));
        changes.job(&job(0), "nice=321");
        changes.option("--qos", format!("{}=high", job(6)));
        changes.job(&job(6), "qos=high");
        changes.option("--partition", format!("{}=debug", job(9)));
        changes.job(&job(9), "partition=debug");
        changes.option("--release", job(RELEASED));
        changes
            .scontrol
            .push(vec!["release".to_owned(), job(RELEASED)]);
        changes.option("--hold", job(12));
        changes.scontrol.push(vec!["hold".to_owned(), job(12)]);
        changes.option("--cancel", job(15));
        changes.option("--priority", format!("{}=4321", job(16)));
        changes.job(&job(16), "priority=4321");
        changes.scontrol.push(vec!["scancel".to_owned(), job(15)]);
        Ok(changes)
    }

    fn option(&mut self, option: &str, value: String) {
        self.options.extend([option.to_owned(), value]);
    }

    fn accounting(&mut self, words: &str) {
        self.sacctmgr
            .push(words.split(' ').map(str::to_owned).collect());
    }

    fn job(&mut self, id: &str, what: &str) {
        let words = ["update", &format!("jobid={id}"), what].map(str::to_owned);
        self.scontrol.push(words.into());
    }

    fn make(&self, cluster: &mut Cluster) -> Result<()> {
        for words in &self.sacctmgr {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            cluster.sacctmgr(&words)?;
        }
        for (key, value) in SETTINGS {
            cluster.conf_mut().set(key, value);
        }
        cluster.reconfigure()?;
        wait::until_true("slurmctld knows the new account", DEADLINE, || {
            let table = cluster.sshare("Account,RawShares")?;
            Ok(table
                .rows()
                .iter()
                .any(|row| row.text("Account").is_ok_and(|t| t.trim() == "fresh")))
        })?;
        for words in &self.scontrol {
            let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
            if words[0] != "scancel" {
                words.insert(0, "scontrol");
            }
            cluster.run(&words)?;
        }
        Ok(())
    }
}

/// Returns an answer of the capture in a folder.
fn answer(folder: &Path, name: &str) -> Result<String> {
    Ok(fs::read_to_string(first_capture(folder)?.join(name))?)
}

/// The first capture of a folder.
pub(super) fn first_capture(folder: &Path) -> Result<PathBuf> {
    let captures = fs::read_dir(folder)?;
    let captures = captures.collect::<std::io::Result<Vec<_>>>()?;
    let mut captures = captures.iter().filter(|entry| entry.path().is_dir());
    Ok(captures.next().context("no capture")?.path())
}

/// Compares every user and account of sshare; returns their number.
fn compare_shares(predicted: &Value, printed: &str) -> Result<usize> {
    let table = Table::parse(printed)?;
    let lists = [&predicted["accounts"], &predicted["users"]];
    let mut wrong = Vec::new();
    let mut compared = 0;
    for row in table.rows() {
        let (account, user) = (row.text("Account")?.trim(), row.text("User")?.trim());
        let name = match user {
            "" => account.to_owned(),
            _ => format!("{user}@{account}"),
        };
        if name == "root" {
            continue;
        }
        let mut found = lists
            .iter()
            .flat_map(|list| list.as_array().into_iter().flatten());
        let found = found.find(|entry| entry["name"] == name.as_str());
        let after = &found.with_context(|| format!("{name} was not predicted"))?["after"];
        compared += 1;
        for (column, field) in [
            ("NormShares", "norm_shares"),
            ("EffectvUsage", "effective_usage"),
            ("LevelFS", "level_fs"),
            ("FairShare", "fs_factor"),
        ] {
            let text = row.text(column)?.trim();
            // sshare leaves LevelFS of `parent` blank.
            let expected = match text {
                "" => String::new(),
                _ => six(&after[field]),
            };
            if text != expected {
                wrong.push(format!("{name}: {column} is {text}, predicted {expected}"));
            }
        }
        let usage = format!(
            "{:.0}",
            after["raw_usage"].as_f64().context("usage")?.trunc()
        );
        if row.text("RawUsage")? != usage {
            let text = row.text("RawUsage")?;
            wrong.push(format!("{name}: RawUsage is {text}, predicted {usage}"));
        }
    }
    match wrong.is_empty() {
        true => Ok(compared),
        false => bail!("sshare differs from the prediction:\n{}", wrong.join("\n")),
    }
}

/// Formats as C's `%f`.
fn six(value: &Value) -> String {
    match value.as_f64() {
        Some(number) => format!("{number:.6}"),
        None => value.as_str().unwrap_or("").to_owned(),
    }
}

/// Compares every row of sprio; returns their number.
fn compare_queue(predicted: &Value, printed: &str, released: u32) -> Result<usize> {
    let mut wrong = Vec::new();
    let jobs = predicted["jobs"].as_array().context("jobs")?;
    let mut lines = printed.lines();
    let heading: Vec<&str> = lines.next().context("a heading")?.split('|').collect();
    let mut compared = 0;
    for line in lines {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        // If two columns have the same name, the first is the weighted one.
        let cell = |name: &str| -> Result<&str> {
            let at = heading.iter().position(|known| known.trim() == name);
            Ok(cells[at.with_context(|| format!("no column {name}"))?])
        };
        let (id, partition) = (cell("JOBID")?, cell("PARTITION")?);
        let number: u64 = id.parse().with_context(|| format!("job {id}"))?;
        let found = jobs
            .iter()
            .find(|job| job["job_id"] == number && job["partition"] == partition);
        let after =
            &found.with_context(|| format!("job {id} in {partition} was not predicted"))?["after"];
        compared += 1;
        let points = |field: &str| {
            let value = after["points"][field].as_f64().unwrap_or(f64::NAN);
            format!("{:.0}", value + 0.0)
        };
        for (column, expected) in [
            ("PRIORITY", after["priority"].to_string()),
            ("AGE", points("age")),
            ("ASSOC", points("assoc")),
            ("FAIRSHARE", points("fairshare")),
            ("JOBSIZE", points("job_size")),
            ("QOS", points("qos")),
            ("NICE", points("nice")),
        ] {
            let ages = ["PRIORITY", "AGE"].contains(&column);
            if cell(column)? != expected && !(ages && id == released.to_string()) {
                let text = cell(column)?;
                wrong.push(format!(
                    "job {id} in {partition}: {column} is {text}, predicted {expected}"
                ));
            }
        }
        // It has the name of the previous column, so sprio prints it two more times.
        let at = heading
            .iter()
            .rposition(|known| known.trim() == "PARTITION")
            .map(|at| at - 1);
        let text = at.map_or("", |at| cells[at]);
        if text != points("partition") {
            let expected = points("partition");
            wrong.push(format!(
                "job {id} in {partition}: partition {text}, predicted {expected}"
            ));
        }
    }
    let held = jobs.iter().filter(|job| job["after"]["place"].is_null());
    let rows = compared + held.count();
    ensure!(
        rows == jobs.len(),
        "{} rows predicted, {rows} there",
        jobs.len()
    );
    match wrong.is_empty() {
        true => Ok(compared),
        false => bail!("sprio differs from the prediction:\n{}", wrong.join("\n")),
    }
}
