//! Counters over time, which only a program that stays has, and the metrics that contain them.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use fairtree::config::UsageModel;
use fairtree::tree::AssocIndex;
use fairtree_analysis::metrics::{About, Builder, Family, age, up};

use fairtree_lint::Severity;

use crate::picture::Picture;

/// The counters; all are 0 when the service starts.
#[derive(Debug, Default)]
pub struct Counters {
    held: Mutex<Held>,
}

#[derive(Debug, Default)]
struct Held {
    taken: u64,
    failed: u64,
    /// Duration of the last capture, seconds.
    last_secs: Option<f64>,
    /// By page and status.
    requests: BTreeMap<(&'static str, u16), u64>,
    /// By outcome.
    changes: BTreeMap<&'static str, u64>,
    charges: Charges,
}

/// Usage that was charged to accounts since the start, without decay.
#[derive(Debug, Default)]
struct Charges {
    /// The last pass that counts, and decayed usage then, by account and parent.
    last: Option<(i64, BTreeMap<Account, f64>)>,
    sums: BTreeMap<Account, f64>,
}

/// Names of an account and of the one above.
type Account = (String, String);

impl Counters {
    /// Counts a capture that succeeded.
    pub fn taken(&self, took: Duration, picture: &Picture) {
        let mut held = self.held();
        held.taken += 1;
        held.last_secs = Some(took.as_secs_f64());
        held.charges.follow(picture);
    }

    /// The first picture, which another start of the service took.
    pub fn begin(&self, picture: &Picture) {
        self.held().charges.follow(picture);
    }

    /// Counts a capture that failed.
    pub fn failed(&self) {
        self.held().failed += 1;
    }

    /// Counts a request for a page.
    pub fn request(&self, page: &'static str, status: u16) {
        *self.held().requests.entry((page, status)).or_default() += 1;
    }

    /// Counts a change of shares by its outcome.
    pub fn change(&self, outcome: &'static str) {
        *self.held().changes.entry(outcome).or_default() += 1;
    }

    fn held(&self) -> MutexGuard<'_, Held> {
        // Each change is one step: a panic elsewhere leaves whole numbers.
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// All metrics: those of the picture, and the counters. `now`: seconds since 1970; `users`: number of users
    /// with series of their own.
    pub fn families(&self, picture: Option<&Picture>, now: i64, users: usize) -> Vec<Family> {
        let cluster = picture.and_then(|picture| picture.manifest.cluster.as_deref());
        let about = About {
            cluster: cluster.unwrap_or_default().to_owned(),
            taken: picture.map(Picture::time),
            now,
            top_users: users,
        };
        let of_site = picture.and_then(|picture| picture.metrics(users).as_ref().ok());
        let mut families = of_site.cloned().unwrap_or_default();
        let mut out = Builder::new(&about.cluster);
        if of_site.is_none() {
            up(false, &mut out);
        }
        age(&about, &mut out);
        if let Some(numbers) = picture.and_then(|picture| picture.numbers.as_ref().ok()) {
            out.family(
                "check_differences",
                "Numbers of a listing that differ from their recomputation.",
            );
            for (listing, apart) in [
                ("sshare", numbers.shares_apart.len()),
                ("sprio", numbers.priorities_apart.len()),
            ] {
                out.add(vec![("listing", listing.to_owned())], apart as f64);
            }
        }
        if let Some(Ok(report)) = picture.and_then(|picture| picture.linted.as_ref()) {
            out.family("lint_findings", "Findings of the linter in slurm.conf.");
            for severity in [Severity::Error, Severity::Warning, Severity::Note] {
                let labels = vec![("severity", severity.to_string())];
                out.add(labels, report.count(severity) as f64);
            }
        }
        self.held().write(&mut out);
        families.extend(out.finish());
        families
    }
}

impl Held {
    fn write(&self, out: &mut Builder) {
        out.counter("captures_total", "Captures since the service started.");
        for (outcome, count) in [("taken", self.taken), ("failed", self.failed)] {
            out.add(vec![("outcome", outcome.to_owned())], count as f64);
        }
        if let Some(secs) = self.last_secs {
            out.one(
                "capture_duration_seconds",
                "How long the last capture took.",
                secs,
            );
        }
        out.counter(
            "page_requests_total",
            "Requests for pages since the service started.",
        );
        for ((page, status), count) in &self.requests {
            let labels = vec![("page", (*page).to_owned()), ("status", status.to_string())];
            out.add(labels, *count as f64);
        }
        out.counter(
            "changes_total",
            "Changes of shares by plans since the service started.",
        );
        for (outcome, count) in &self.changes {
            out.add(vec![("outcome", (*outcome).to_owned())], *count as f64);
        }
        out.counter(
            "account_charged_tres_seconds_total",
            "TRES-seconds charged to the account with all below it since the service started, without decay.",
        );
        for ((account, parent), secs) in &self.charges.sums {
            let labels = vec![("account", account.clone()), ("parent", parent.clone())];
            out.add(labels, *secs);
        }
    }
}

impl Charges {
    /// Adds the charges between the last picture and this one: usage less what decay left of the usage before.
    /// Usage that falls by more than its decay was reset, and adds nothing. A window forgets usage in another
    /// way: its charges are not known.
    fn follow(&mut self, picture: &Picture) {
        let (cluster, config) = (&picture.cluster, &picture.cluster.config);
        let half_life = match config.usage() {
            UsageModel::HalfLife => config.priority_decay_half_life_secs,
            UsageModel::Total { .. } => 0,
            UsageModel::Window { .. } => return,
        };
        let Some(pass) = cluster.now() else { return };
        let mut usage = BTreeMap::new();
        for at in (0..cluster.tree().len()).map(AssocIndex::new) {
            let Some(parent) = cluster.tree().parent(at).filter(|_| !cluster.is_user(at)) else {
                continue;
            };
            let name = |at| cluster.name(at).account.clone();
            usage.insert((name(at), name(parent)), picture.standing(at.get()).used);
        }
        // A counter begins with 0, so that `rate()` has the first charge.
        for account in usage.keys() {
            self.sums.entry(account.clone()).or_default();
        }
        let last = self.last.replace((pass, usage));
        let (Some((before, old)), Some((_, new))) = (last, &self.last) else {
            return;
        };
        if pass <= before {
            // The pass of before, or a clock that was set back.
            return;
        }
        let left = decay(pass - before, half_life);
        for (account, used) in new {
            let charged = used - old.get(account).copied().unwrap_or(0.0) * left;
            *self.sums.entry(account.clone()).or_default() += charged.max(0.0);
        }
    }
}

/// What decay leaves of usage after a time; 1 without decay.
fn decay(secs: i64, half_life_secs: u32) -> f64 {
    match half_life_secs {
        0 => 1.0,
        half => (-(secs as f64) / f64::from(half)).exp2(),
    }
}
