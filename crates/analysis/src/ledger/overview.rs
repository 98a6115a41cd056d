//! Which times are covered by whom, and how old each source is.

use std::collections::BTreeSet;

use fairtree::usage::window::{Column, Spans, UsageHistory};
use fairtree_model::ledgers::{LedgerFile, StoredLedger};
use serde::Serialize;

/// The contents of the ledger files of a folder.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Overview {
    /// The moment to which ages refer, seconds since 1970.
    pub now: i64,
    /// The own cluster, where it is known.
    pub cluster: Option<String>,
    /// Since when use counts by the policy, seconds since 1970; `None`: that is not known.
    pub since: Option<i64>,
    /// The files.
    pub files: Vec<FileOverview>,
    /// Who covers which times, by cluster, ascending.
    pub times: Vec<CoveredTime>,
}

/// A ledger file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileOverview {
    /// Its name.
    pub file: String,
    /// Who wrote it.
    pub kind: &'static str,
    /// The sources of the use that it holds.
    pub sources: Vec<SourceOverview>,
    /// Length of a bucket, seconds.
    pub resolution_secs: Option<u32>,
    /// Accounts and users with use.
    pub leaves: u64,
    /// Runs that had not ended.
    pub running: u64,
    /// Billing TRES times seconds of all.
    pub billing_secs: f64,
    /// Its length.
    pub bytes: u64,
    /// Why it cannot be read.
    pub problem: Option<String>,
}

/// A cluster in a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SourceOverview {
    /// Its name.
    pub cluster: String,
    /// When it was last heard of, seconds since 1970.
    pub as_of: i64,
    /// How long ago that is, seconds; negative: its clock is ahead.
    pub age_secs: i64,
    /// The times of which all use is known, seconds since 1970.
    pub covered: Vec<(i64, i64)>,
}

/// A time of a cluster, and who knows of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CoveredTime {
    /// The cluster.
    pub cluster: String,
    /// Seconds since 1970.
    pub from: i64,
    /// Seconds since 1970.
    pub to: i64,
    /// The name of the file; `None`: nobody.
    pub by: Option<String>,
}

/// Looks at the files of a folder.
///
/// * `cluster`: the own one; without it that of the plugin's file, or of the filled-in one.
/// * `since`: since when use counts, seconds since 1970; without it the times begin with the first
///   one that is covered.
/// * `now`: seconds since 1970.
pub fn overview(
    stored: &[StoredLedger],
    cluster: Option<&str>,
    since: Option<i64>,
    now: i64,
) -> Overview {
    let own = stored.iter().find_map(|stored| match &stored.file {
        LedgerFile::Plugin | LedgerFile::History => {
            let history = stored.history.as_ref().ok()?;
            Some(history.sources().first()?.name.clone())
        }
        _ => None,
    });
    let cluster = cluster.map(str::to_owned).or(own);
    Overview {
        now,
        since,
        files: stored.iter().map(|stored| file(stored, now)).collect(),
        times: times(stored, cluster.as_deref(), since, now),
        cluster,
    }
}

fn file(stored: &StoredLedger, now: i64) -> FileOverview {
    let history = stored.history.as_ref();
    let sources = history.map_or(Vec::new(), |history| {
        let sources = history.sources().iter();
        let source = sources.map(|source| SourceOverview {
            cluster: source.name.clone(),
            as_of: source.as_of,
            age_secs: now - source.as_of,
            covered: source.covered.as_slice().to_vec(),
        });
        source.collect()
    });
    FileOverview {
        file: stored.name.clone(),
        kind: stored.file.kind(),
        sources,
        resolution_secs: history.ok().map(UsageHistory::resolution_secs),
        leaves: history.map_or(0, |history| history.leaves().count() as u64),
        running: history.map_or(0, |history| history.open_runs() as u64),
        billing_secs: history.map_or(0.0, billing),
        bytes: stored.bytes,
        problem: history.err().map(ToString::to_string),
    }
}

/// Billing TRES times seconds of all leaves.
fn billing(history: &UsageHistory) -> f64 {
    let resolution = i64::from(history.resolution_secs());
    let as_of = history.sources().iter().map(|source| source.as_of).max();
    // Whole buckets, so that the sum is exact.
    let to = (as_of.unwrap_or(0) / resolution + 1) * resolution;
    let used = |leaf| history.used(leaf, 0, to, Column::Billing);
    let used = history.leaves().filter_map(|leaf| used(leaf).ok());
    used.map(|used| used.to_f64()).sum::<f64>() + 0.0
}

/// Per cluster its times from `since` to `now` without gaps.
fn times(
    stored: &[StoredLedger],
    own: Option<&str>,
    since: Option<i64>,
    now: i64,
) -> Vec<CoveredTime> {
    // One of the plugin's two files is enough.
    let files = stored
        .iter()
        .filter(|stored| stored.file != LedgerFile::PluginQos);
    let files: Vec<_> = files
        .filter_map(|stored| Some((stored.name.clone(), stored.history.as_ref().ok()?)))
        .collect();
    let sources = files.iter().flat_map(|(_, history)| history.sources());
    let names = sources.map(|source| source.name.as_str());
    let clusters: BTreeSet<&str> = names.chain(own).collect();
    let mut times = Vec::new();
    for cluster in clusters {
        let mut covered: Vec<(i64, i64, Option<&str>)> = Vec::new();
        let mut all = Spans::default();
        for (name, history) in &files {
            for source in history.sources().iter().filter(|it| it.name == cluster) {
                for (from, to) in source.covered.as_slice() {
                    covered.push((*from, *to, Some(name)));
                    all.add(*from, *to);
                }
            }
        }
        let first = all.as_slice().first().map(|span| span.0);
        let from = since.or(first).unwrap_or(now);
        let gaps = all.gaps(from, now);
        covered.extend(gaps.into_iter().map(|(from, to)| (from, to, None)));
        covered.sort_unstable();
        times.extend(covered.into_iter().map(|(from, to, by)| CoveredTime {
            cluster: cluster.to_owned(),
            from,
            to,
            by: by.map(str::to_owned),
        }));
    }
    times
}
