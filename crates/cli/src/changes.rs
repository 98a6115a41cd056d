//! The changes that the options of `fairtree what-if` ask for.

use std::path::Path;
use std::str::FromStr;

use super::args::{ChangeArgs, WhatIfArgs};
use super::cluster::policy_file;
use super::{Failure, open};
use fairtree::config::time::{Time, parse_time};
use fairtree::config::{Include, PolicyFile};
use fairtree::tree::Shares;
use fairtree_analysis::what_if::{JobChange, NewSettings, SiteChange};
use fairtree_model::cluster::{Cluster, JobName};
use fairtree_model::input::slurm::conf::{self, Conf};

/// The options, understood as far as that needs no site.
pub(super) struct Asked {
    /// Text and name of another slurm.conf; the site supplies its release.
    conf: Option<(String, String)>,
    settings: Vec<(String, String)>,
    /// A policy file, and its name.
    policy: Option<(PolicyFile, String)>,
    /// Name of the policy file before, if one was given.
    before: Option<String>,
    changes: Vec<SiteChange>,
}

/// Reads the options of `what-if`.
pub(super) fn parse(args: &WhatIfArgs) -> Result<Asked, Failure> {
    let mut asked = of_site(&args.changes)?;
    let changes = &mut asked.changes;
    changes.extend(args.reset_usage.iter().cloned().map(SiteChange::ResetUsage));
    for text in &args.charge {
        let allowed = "USER=AMOUNT, as alice@physics=5000h: a number from 0 up of TRES-seconds \
                       (s), -minutes (m), -hours (h) or -days (d)";
        let (who, amount) = pair("--charge", text, allowed)?;
        let usage = usage(amount).ok_or_else(|| refused("--charge", text, allowed))?;
        changes.push(SiteChange::Charge(who.to_owned(), usage));
    }
    parse_jobs(args, changes)?;
    if let Some(text) = &args.after {
        let allowed = "a time such as 7-0 (days), 12:00:00 or 90 (minutes)";
        match parse_time(text) {
            Ok(Time::Secs(secs)) => changes.push(SiteChange::After(secs)),
            _ => return Err(refused("--after", text, allowed)),
        }
    }
    if asked.is_empty() {
        return Err(Failure::Usage(
            "nothing is changed\nhint: --set, --shares, --charge, --after and others change \
             something: fairtree what-if --help"
                .to_owned(),
        ));
    }
    Ok(asked)
}

/// Reads the options that change settings and accounts.
pub(super) fn of_site(args: &ChangeArgs) -> Result<Asked, Failure> {
    let conf = args.slurm_conf.as_deref().map(read).transpose()?;
    let mut settings = Vec::new();
    for text in &args.set {
        let (key, value) = pair("--set", text, "KEY=VALUE, as PriorityWeightAge=1000")?;
        settings.push((key.to_owned(), value.to_owned()));
    }
    let mut changes = Vec::new();
    parse_accounting(args, &mut changes)?;
    let policy = args.policy.last().map(|path| {
        let name = path.display().to_string();
        policy_file(path).map(|file| (file, name))
    });
    let policy = policy.transpose()?;
    Ok(Asked {
        conf,
        settings,
        policy,
        before: match &args.policy[..] {
            [before, _] => Some(before.display().to_string()),
            _ => None,
        },
        changes,
    })
}

fn parse_accounting(args: &ChangeArgs, changes: &mut Vec<SiteChange>) -> Result<(), Failure> {
    for text in &args.partition_factor {
        let (name, factor) = numbered("--partition-factor", text, "PARTITION=NUMBER to 65533")?;
        changes.push(SiteChange::PartitionFactor(name, factor));
    }
    for text in &args.qos_priority {
        let (name, priority) = numbered("--qos-priority", text, "QOS=NUMBER")?;
        changes.push(SiteChange::QosPriority(name, priority));
    }
    for text in &args.usage_factor {
        let allowed = "QOS=NUMBER, a number from 0 up";
        let (name, factor): (String, f64) = numbered("--usage-factor", text, allowed)?;
        if !(factor.is_finite() && factor >= 0.0) {
            return Err(refused("--usage-factor", text, allowed));
        }
        changes.push(SiteChange::UsageFactor(name, factor));
    }
    for text in &args.add_account {
        let allowed = "ACCOUNT@PARENT=SHARES, as newlab@physics=10";
        let (account, parent, shares) = child("--add-account", text, allowed)?;
        changes.push(SiteChange::AddAccount {
            account,
            parent,
            shares,
        });
    }
    for text in &args.add_user {
        let allowed = "USER@ACCOUNT=SHARES, as alice@newlab=1";
        let (user, account, shares) = child("--add-user", text, allowed)?;
        changes.push(SiteChange::AddUser {
            user,
            account,
            shares,
        });
    }
    for text in &args.parent {
        let (account, parent) = pair("--parent", text, "ACCOUNT=PARENT")?;
        changes.push(SiteChange::Parent {
            account: account.to_owned(),
            parent: parent.to_owned(),
        });
    }
    for text in &args.shares {
        let (who, count) = pair("--shares", text, SHARES)?;
        let shares = shares(count).ok_or_else(|| refused("--shares", text, SHARES))?;
        changes.push(SiteChange::Shares(who.to_owned(), shares));
    }
    for text in &args.assoc_priority {
        let (who, priority) = numbered("--assoc-priority", text, "WHO=NUMBER")?;
        changes.push(SiteChange::AssocPriority(who, priority));
    }
    changes.extend(args.remove.iter().cloned().map(SiteChange::Remove));
    Ok(())
}

fn parse_jobs(args: &WhatIfArgs, changes: &mut Vec<SiteChange>) -> Result<(), Failure> {
    let names = |text: &str| -> Vec<String> {
        let names = text.split(',').filter(|name| !name.is_empty());
        names.map(str::to_owned).collect()
    };
    for text in &args.qos {
        let (job, list) = pair("--qos", text, "JOB=QOS, as 4711=high")?;
        changes.push(SiteChange::Job(
            job_name("--qos", job)?,
            JobChange::Qos(names(list)),
        ));
    }
    for text in &args.partition {
        let (job, list) = pair("--partition", text, "JOB=PARTITION, as 4711=gpu")?;
        let change = JobChange::Partitions(names(list));
        changes.push(SiteChange::Job(job_name("--partition", job)?, change));
    }
    for text in &args.nice {
        let (job, nice) = numbered("--nice", text, "JOB=NUMBER, as 4711=100")?;
        changes.push(SiteChange::Job(
            job_name("--nice", &job)?,
            JobChange::Nice(nice),
        ));
    }
    for text in &args.priority {
        let (job, priority) = numbered("--priority", text, "JOB=NUMBER, as 4711=100")?;
        changes.push(SiteChange::Job(
            job_name("--priority", &job)?,
            JobChange::Priority(priority),
        ));
    }
    for (option, list, change) in [
        ("--hold", &args.hold, JobChange::Priority(0)),
        ("--release", &args.release, JobChange::Release),
        ("--cancel", &args.cancel, JobChange::Cancel),
    ] {
        for job in list {
            changes.push(SiteChange::Job(job_name(option, job)?, change.clone()));
        }
    }
    Ok(())
}

impl Asked {
    /// Returns true if time passes.
    pub(super) fn passes(&self) -> bool {
        let passes = |change: &SiteChange| matches!(change, SiteChange::After(_));
        self.changes.iter().any(passes)
    }

    /// Returns true if nothing changes.
    pub(super) fn is_empty(&self) -> bool {
        self.changes.is_empty()
            && self.settings.is_empty()
            && self.conf.is_none()
            && self.policy.is_none()
    }

    /// Takes the settings for which `wanted` says so.
    pub(super) fn take_settings(&mut self, wanted: impl Fn(&str) -> bool) -> Vec<(String, String)> {
        let (taken, left) = std::mem::take(&mut self.settings)
            .into_iter()
            .partition(|(key, _)| wanted(key));
        self.settings = left;
        taken
    }

    /// The changes of a site, in the order in which they are made.
    pub(super) fn of(self, cluster: &Cluster) -> Result<Vec<SiteChange>, Failure> {
        let conf = self
            .conf
            .map(|(text, name)| parse_conf(&text, &name, cluster))
            .transpose()?;
        let new = NewSettings {
            conf,
            settings: self.settings,
            policy: self.policy,
            before: self.before,
        };
        let changes = new.changes(cluster, self.changes);
        changes.map_err(|error| Failure::Usage(error.to_string()))
    }
}

fn read(path: &Path) -> Result<(String, String), Failure> {
    let name = path.display().to_string();
    let text = open::conf(path).map_err(|error| Failure::File(name.clone(), error))?;
    Ok((text, name))
}

fn parse_conf(text: &str, name: &str, cluster: &Cluster) -> Result<Conf, Failure> {
    // Relative names are relative to the folder of slurm.conf, in included files, too.
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    let mut fetch = |include: &Include| {
        let text = open::included(&folder.join(&include.file));
        text.map_err(|error| error.to_string())
    };
    Ok(conf::read(text, name, cluster.release, &mut fetch)?)
}

pub(super) const SHARES: &str = "WHO=SHARES, as physics=40 or alice@physics=parent: a whole number from 0 to \
                      2147483646, or parent";

pub(super) fn shares(text: &str) -> Option<Shares> {
    if text.eq_ignore_ascii_case("parent") {
        return Some(Shares::Parent);
    }
    let count: u32 = text.parse().ok()?;
    (count <= Shares::MAX_RAW).then_some(Shares::Raw(count))
}

/// TRES-seconds of `5000h`.
fn usage(text: &str) -> Option<f64> {
    let unit = text.chars().last()?;
    let (number, secs) = match unit {
        's' => (text.strip_suffix(unit)?, 1.0),
        'm' => (text.strip_suffix(unit)?, 60.0),
        'h' => (text.strip_suffix(unit)?, 3600.0),
        'd' => (text.strip_suffix(unit)?, 86_400.0),
        _ => return None,
    };
    let number: f64 = number.parse().ok()?;
    let usage = number * secs;
    (usage.is_finite() && usage >= 0.0).then_some(usage)
}

/// `NAME=VALUE`; the value may hold further `=`.
pub(super) fn pair<'a>(
    option: &str,
    text: &'a str,
    allowed: &str,
) -> Result<(&'a str, &'a str), Failure> {
    let found = text.split_once('=');
    let found = found.filter(|(name, value)| !name.is_empty() && !value.is_empty());
    found.ok_or_else(|| refused(option, text, allowed))
}

/// `NAME=NUMBER`.
pub(super) fn numbered<T: FromStr>(
    option: &str,
    text: &str,
    allowed: &str,
) -> Result<(String, T), Failure> {
    let (name, number) = pair(option, text, allowed)?;
    let number = number.parse().map_err(|_| refused(option, text, allowed))?;
    Ok((name.to_owned(), number))
}

/// `NAME@ACCOUNT=SHARES`; without shares 1, as for sacctmgr.
fn child(option: &str, text: &str, allowed: &str) -> Result<(String, String, Shares), Failure> {
    let (whole, count) = text.split_once('=').unwrap_or((text, "1"));
    let names = whole.split_once('@');
    let names = names.filter(|(name, parent)| !name.is_empty() && !parent.is_empty());
    match (names, shares(count)) {
        (Some((name, parent)), Some(shares)) => Ok((name.to_owned(), parent.to_owned(), shares)),
        _ => Err(refused(option, text, allowed)),
    }
}

fn job_name(option: &str, text: &str) -> Result<JobName, Failure> {
    text.parse().map_err(|()| {
        let allowed = "the number of a job, as 4711, or 4711_3 for a task of an array";
        refused(option, text, allowed)
    })
}

pub(super) fn refused(option: &str, found: &str, allowed: &str) -> Failure {
    Failure::Usage(format!("{option}: found {found:?}, allowed is {allowed}"))
}
