//! The same life in three clusters at once: under Slurm's plugin, under ours with `compat=slurm`,
//! and under ours with its defaults.
//!
//! A life is a script that records what happens in terms that hold under either plugin: states,
//! reasons, the order of starts, names and shares, and the order of passes and events. The stories
//! must be the same. Numbers depend on when jobs happened to start and end; each cluster compares
//! them with the times that slurmdbd has recorded.

mod admin;
mod federation;
mod het;
mod jobs;
mod ledger;
mod limits;
mod outage;
mod passes;
mod plans;
mod private;
pub mod watch;

use std::thread;

use anyhow::{Context, Result, anyhow, bail, ensure};
use fairtree::config::Config;

use super::model::{Model, SSHARE_COLUMNS};
use super::{Check, compare, fixture, numbers};
use crate::cluster::{Cluster, Plan};
use crate::under::Under;
use ledger::ClusterRuns;
use passes::Passes;

/// One life, in one of the clusters.
struct Life<'a> {
    check: &'a Check<'a>,
    cluster: &'a mut Cluster,
    under: Under,
    passes: &'a Passes,
    story: Vec<String>,
}

impl Life<'_> {
    /// Adds a sentence to the story.
    fn tell(&mut self, sentence: impl Into<String>) {
        self.story.push(sentence.into());
    }

    /// Returns a text without the prefix of this cluster's user names.
    fn plain(&self, text: &str) -> String {
        text.replace(&self.cluster.user_prefix(), "")
    }

    fn sacctmgr(&self, words: &[&str]) -> Result<()> {
        self.cluster.sacctmgr(words).map(drop)
    }

    /// Changes a setting and makes slurmctld read it.
    fn reconfigure(&mut self, key: &str, value: &str) -> Result<()> {
        self.cluster.conf_mut().set(key, value);
        self.cluster.reconfigure()?;
        watch::answers(self.cluster)
    }
}

type Script = fn(&mut Life) -> Result<()>;

/// Limits that usage reaches, and events in the life of a job.
pub fn jobs_and_limits(check: &Check) -> Result<()> {
    same(check, plans::with_limits, |life| {
        let waiting = limits::submit(life)?;
        jobs::play(life)?;
        let reset = limits::play(life, waiting)?;
        let mut ledger = ClusterRuns::read(life.cluster)?;
        ledger.forget(limits::RESET, reset);
        end(life, &ledger)
    })
}

/// Changes of accounts and users, slurmdbd gone for a while, reconfigures, private data, resets.
pub fn administration(check: &Check) -> Result<()> {
    same(check, plans::of_administrators, |life| {
        admin::prepare(life)?;
        admin::use_all(life)?;
        admin::accounts(life)?;
        let ledger = ClusterRuns::read(life.cluster)?;
        ledger.ensure_explains(life)?;
        admin::ensure_heritage(life, &ledger)?;
        outage::of_slurmdbd(life)?;
        outage::reconfigure_under_load(life)?;
        private::data(life)?;
        ClusterRuns::read(life.cluster)?.ensure_explains(life)?;
        let ledger = outage::reset_now(life)?;
        end(life, &ledger)
    })
}

/// Heterogeneous jobs. When backfill tries one, stock may charge for a run that it only simulates,
/// because of a bug of its own ("simulated-end" in docs/parity.md): there only our plugin must be
/// exact.
pub fn heterogeneous(check: &Check) -> Result<()> {
    same(check, plans::with_limits, |life| {
        het::play(life)?;
        let ledger = ClusterRuns::read(life.cluster)?;
        if life.under == Under::Documented {
            ledger.ensure_explains(life)?;
        }
        ensure_no_complaint(life.cluster)
    })
}

/// A federation of two clusters with one slurmdbd.
pub fn federation(check: &Check) -> Result<()> {
    same(check, plans::with_limits, |life| {
        federation::play(life)?;
        let ledger = ClusterRuns::read(life.cluster)?;
        ledger.ensure_explains(life)?;
        ensure_no_complaint(life.cluster)
    })
}

/// No job is left, and a restart brings a pass: usage is still the usage of the jobs, and fair
/// shares follow from it.
fn end(life: &mut Life, ledger: &ClusterRuns) -> Result<()> {
    life.check.step("comparing numbers");
    ledger.ensure_explains(life)?;
    let before = fixture::now()?;
    life.cluster.stop_slurmctld()?;
    life.cluster.start_slurmctld()?;
    fixture::pass_after(life.cluster, before - 1)?;
    ledger.ensure_explains(life).context("after a restart")?;
    fair_shares_follow(life)?;
    ensure_no_complaint(life.cluster)
}

/// Fails unless sshare and the engine derive the same from usage.
fn fair_shares_follow(life: &Life) -> Result<()> {
    let text = numbers::without_parameters(&life.cluster.conf().render());
    let mut config = Config::from_slurm_conf(&text, "slurm.conf")?;
    if life.under != Under::Documented {
        config.compat = numbers::stock_compat(life.check);
    }
    let sshare = life.cluster.sshare(SSHARE_COLUMNS)?;
    let model = Model::of(life.cluster, config, &sshare)?;
    compare::shares(&model, &sshare)
}

/// Fails if our plugin has logged an error.
fn ensure_no_complaint(cluster: &Cluster) -> Result<()> {
    let log = cluster.slurmctld_log()?;
    let complaints: Vec<&str> = log
        .lines()
        .filter(|line| line.contains("error:") && line.contains("priority/fairtree"))
        .collect();
    ensure!(complaints.is_empty(), "{}", complaints.join("\n"));
    Ok(())
}

/// Plays a life in all clusters at once; fails if the stories differ.
fn same(check: &Check, plan: fn(&Check, Under) -> Plan, script: Script) -> Result<()> {
    let stories: Vec<Result<Vec<String>>> = thread::scope(|scope| {
        let lives: Vec<_> = Under::ALL
            .iter()
            .map(|&under| scope.spawn(move || play(check, plan, under, script)))
            .collect();
        lives
            .into_iter()
            .map(|life| life.join().unwrap_or_else(|_| Err(anyhow!("a panic"))))
            .collect()
    });
    let (mut told, mut failed) = (Vec::new(), Vec::new());
    for (under, story) in Under::ALL.iter().zip(stories) {
        match story {
            Ok(story) => told.push(story),
            Err(error) => failed.push(format!("under {}: {error:#}", under.name())),
        }
    }
    ensure!(failed.is_empty(), "{}", failed.join("\n"));
    for (under, story) in Under::ALL.iter().zip(&told).skip(1) {
        if *story != told[0] {
            bail!(
                "{} tells another story than {}:\n{}",
                under.name(),
                Under::ALL[0].name(),
                differences(&told[0], story)
            );
        }
    }
    Ok(())
}

/// Number of attempts to play a life if slurmctld loses its state.
const ATTEMPTS: usize = 3;

/// Message of slurmctld, with any plugin, when it stops without saving jobs and usage because one
/// of its own threads holds a lock at that instant. The life is different after that.
const FORGETS: &str = "can not save state";

/// Plays a life in one cluster, and returns its story.
fn play(
    check: &Check,
    plan: fn(&Check, Under) -> Plan,
    under: Under,
    script: Script,
) -> Result<Vec<String>> {
    let check = &check.part(under.name());
    let mut attempt = 1;
    loop {
        let mut forgets = false;
        let story = check.in_cluster(&plan(check, under), |cluster| {
            let story = Passes::during(cluster.path().to_owned(), |passes| {
                tell(check, cluster, under, passes, script)
            });
            forgets = cluster.slurmctld_log()?.contains(FORGETS);
            story
        });
        if !forgets || attempt == ATTEMPTS {
            return story;
        }
        check.step("slurmctld has not saved its state: once more");
        attempt += 1;
    }
}

fn tell(
    check: &Check,
    cluster: &mut Cluster,
    under: Under,
    passes: &Passes,
    script: Script,
) -> Result<Vec<String>> {
    let mut life = Life {
        check,
        cluster,
        under,
        passes,
        story: Vec::new(),
    };
    let outcome = script(&mut life);
    let story = life.story;
    match outcome {
        Ok(()) => Ok(story),
        Err(error) => Err(error.context(format!("the story so far:\n{}", story.join("\n")))),
    }
}

/// The sentences that differ, line by line.
fn differences(one: &[String], other: &[String]) -> String {
    let longest = one.len().max(other.len());
    let at = |story: &[String], i: usize| story.get(i).cloned().unwrap_or_default();
    (0..longest)
        .map(|i| (at(one, i), at(other, i)))
        .filter(|(a, b)| a != b)
        .map(|(a, b)| format!("- {a}\n+ {b}\n"))
        .collect()
}
