//! Problems of ledger files, and a comparison of their sums with those of `sacct`.

use std::collections::{BTreeMap, BTreeSet};

use fairtree::usage::window::{Column, LeafKey, Spans, UsageHistory, WindowError};
use fairtree_model::ledgers::{LedgerFile, StoredLedger};
use serde::Serialize;

use super::filler::{Filled, Times};

/// Something that is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerProblem {
    /// The name of the file.
    pub file: String,
    /// The problem.
    pub problem: String,
}

/// The sums of a file beside those of `sacct`, billing TRES times seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SumCheck {
    /// The name of the file.
    pub file: String,
    /// The cluster.
    pub cluster: String,
    /// In the file.
    pub ledger_secs: f64,
    /// By `sacct`.
    pub sacct_secs: f64,
    /// The total difference between the sums of accounts and users.
    pub off_secs: f64,
    /// Accounts and users of which the sums differ.
    pub differ: u64,
    /// The one that differs most.
    pub worst: Option<String>,
    /// The difference for it: in the file minus by `sacct`.
    pub worst_secs: f64,
}

impl SumCheck {
    /// The problem if sums differ by more than a part of them, 0..=1.
    pub fn problem(&self, tolerance: f64) -> Option<LedgerProblem> {
        let all = self.ledger_secs.max(self.sacct_secs);
        (self.off_secs > all * tolerance).then(|| LedgerProblem {
            file: self.file.clone(),
            problem: format!(
                "its sums differ from those of sacct by {:.0} of {all:.0} billing TRES s",
                self.off_secs
            ),
        })
    }
}

/// The result of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LedgerCheck {
    /// The problems.
    pub problems: Vec<LedgerProblem>,
    /// Sums; empty where they were not compared.
    pub sums: Vec<SumCheck>,
}

/// Looks for what is wrong with files by themselves: damage, sources that a file should not have,
/// times that two files cover, moments to come, buckets that a ledger of `resolution_secs` cannot
/// take.
pub fn check_files(
    stored: &[StoredLedger],
    cluster: Option<&str>,
    resolution_secs: Option<u32>,
    now: i64,
) -> Vec<LedgerProblem> {
    let mut problems = Vec::new();
    let mut covered: BTreeMap<&str, Vec<(&StoredLedger, &Spans)>> = BTreeMap::new();
    for each in stored {
        let mut tell = |problem: String| {
            problems.push(LedgerProblem {
                file: each.name.clone(),
                problem,
            });
        };
        let history = match &each.history {
            Ok(history) => history,
            Err(problem) => {
                tell(problem.to_string());
                continue;
            }
        };
        let expected = match &each.file {
            LedgerFile::Plugin | LedgerFile::PluginQos | LedgerFile::History => cluster,
            LedgerFile::Cluster(name) => Some(name.as_str()),
            LedgerFile::Other(_) => None,
        };
        for source in history.sources() {
            if let Some(expected) = expected.filter(|expected| *expected != source.name) {
                tell(format!(
                    "holds use of cluster {:?}; allowed is {expected:?} alone",
                    source.name
                ));
            }
            if source.as_of > now {
                tell(format!(
                    "cluster {:?} is known up to {}, which is {} s to come",
                    source.name,
                    source.as_of,
                    source.as_of - now
                ));
            }
            if each.file != LedgerFile::PluginQos {
                let others = covered.entry(&source.name).or_default();
                for (other, spans) in others.iter() {
                    if let Some((from, to)) = source.covered.overlap(spans) {
                        tell(format!(
                            "covers {from} to {to} of cluster {:?}, as {} does: that counts twice",
                            source.name, other.name
                        ));
                    }
                }
                others.push((each, &source.covered));
            }
        }
        let found = history.resolution_secs();
        if let Some(wanted) = resolution_secs.filter(|wanted| *wanted % found != 0) {
            tell(format!(
                "has buckets of {found} s, of which those of the policy, {wanted} s, are no \
                 multiple"
            ));
        }
    }
    problems
}

/// The query needed to compare the sums of a file: its cluster, and its times. `None` if it
/// holds nothing that `sacct` could tell, or cannot be read.
pub fn sums_needed(stored: &StoredLedger) -> Option<(String, Times)> {
    let history = stored.history.as_ref().ok()?;
    let [source] = history.sources() else {
        return None;
    };
    let covered = source.covered.as_slice();
    let (first, last) = (covered.first()?, covered.last()?);
    let times = match stored.file {
        LedgerFile::PluginQos | LedgerFile::Other(_) => return None,
        LedgerFile::History => Times::Gaps(covered.to_vec(), source.as_of),
        // Its runs are charged from their starts on, also before the covered times.
        LedgerFile::Plugin => Times::Seen(covered.to_vec(), history.kept_since(), source.as_of),
        LedgerFile::Cluster(_) => Times::Since(first.0, last.1),
    };
    Some((source.name.clone(), times))
}

/// Compares the sums of a file with what was made of the answers of `sacct`.
///
/// # Errors
/// Times that no ledger can have.
pub fn check_sums(stored: &StoredLedger, filled: &Filled) -> Result<Option<SumCheck>, WindowError> {
    let Ok(history) = &stored.history else {
        return Ok(None);
    };
    let (ours, theirs) = (sums(history)?, sums(&filled.history)?);
    let leaves: BTreeSet<&(String, String)> = ours.keys().chain(theirs.keys()).collect();
    let mut check = SumCheck {
        file: stored.name.clone(),
        cluster: filled.cluster.clone(),
        ledger_secs: ours.values().sum::<f64>() + 0.0,
        sacct_secs: theirs.values().sum::<f64>() + 0.0,
        off_secs: 0.0,
        differ: 0,
        worst: None,
        worst_secs: 0.0,
    };
    for leaf in leaves {
        let of = |sums: &BTreeMap<_, f64>| sums.get(leaf).copied().unwrap_or(0.0);
        let difference = of(&ours) - of(&theirs);
        if difference != 0.0 {
            check.differ += 1;
            check.off_secs += difference.abs();
            if difference.abs() > check.worst_secs.abs() {
                let (account, user) = leaf;
                let key = LeafKey::new(account, user, "")?;
                check.worst = Some(key.to_string());
                check.worst_secs = difference;
            }
        }
    }
    Ok(Some(check))
}

/// Billing TRES times seconds by account and user.
fn sums(history: &UsageHistory) -> Result<BTreeMap<(String, String), f64>, WindowError> {
    let resolution = i64::from(history.resolution_secs());
    let as_of = history.sources().iter().map(|source| source.as_of).max();
    // Whole buckets, so that the sums are exact.
    let to = (as_of.unwrap_or(0) / resolution + 1) * resolution;
    let mut sums = BTreeMap::new();
    for leaf in history.leaves() {
        let used = history.used(leaf, 0, to, Column::Billing)?.to_f64();
        let name = (leaf.account().to_owned(), leaf.user().to_owned());
        *sums.entry(name).or_insert(0.0) += used;
    }
    sums.retain(|_, sum| *sum != 0.0);
    Ok(sums)
}
