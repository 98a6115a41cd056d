//! From runs that `sacct` lists to what they used, each second once.
//!
//! # Whose seconds
//! * Of another cluster everything counts that it used in the wanted time, runs that go on up to
//!   the moment of the answer, and no longer than their time limit: a controller that is gone cannot
//!   tell of ends.
//! * Of the own cluster only gaps are filled in that the plugin does not cover. The plugin charges
//!   a run that it sees from its start on, also where that lies in a gap. So a gap has the runs
//!   that ended in it, and of these what lies in it.
//!
//! # Which second
//! The accounting database tells for how long a run was suspended, not when. A run is charged from
//! its start on for as long as it ran; the sum is exact.

use std::collections::{BTreeMap, HashMap};

use fairtree::config::{Counts, EndState as CountedState};
use fairtree::usage::EndState;
use fairtree::usage::window::{Columns, LeafKey, LedgerRun, UsageHistory, WindowError};
use fairtree_model::input::sacct::{Accounted, Progress};

/// A site's policy for its ledgers.
#[derive(Clone, Debug, PartialEq)]
pub struct LedgerRules {
    /// Length of a bucket, seconds, 1..=86400.
    pub resolution_secs: u32,
    /// Dates since which totals are kept, seconds since 1970.
    pub dates: Vec<i64>,
    /// Which ends count.
    pub counts: Counts,
}

/// Which times of a cluster are wanted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Times {
    /// Gaps of the own cluster's plugin, ascending and disjoint, as of a moment; all seconds since
    /// 1970.
    Gaps(Vec<(i64, i64)>, i64),
    /// All from the first moment up to the second, at which the cluster answered.
    Since(i64, i64),
    /// All from the first moment on, of a cluster that does not answer: up to the last moment that
    /// its records tell of, at least to the second, at most to the third.
    Silent(i64, i64, i64),
    /// What the own cluster's plugin has charged by itself, to compare with it: the times that it
    /// covers, ascending and disjoint, the moment since which it keeps use, and its own moment.
    Seen(Vec<(i64, i64)>, i64, i64),
}

impl Times {
    /// The moment that no charge exceeds at first.
    fn as_of(&self) -> i64 {
        match self {
            Times::Gaps(_, as_of) | Times::Since(_, as_of) | Times::Seen(.., as_of) => *as_of,
            Times::Silent(_, heard, now) => *heard.min(now),
        }
    }

    /// The time that has to be asked for, from the first to the last moment.
    pub fn asked(&self) -> (i64, i64) {
        let covered = self.covered();
        match (covered.first(), covered.last()) {
            (Some(first), Some(last)) => (first.0, last.1),
            _ => (self.as_of(), self.as_of()),
        }
    }

    /// The times that are covered afterwards.
    fn covered(&self) -> Vec<(i64, i64)> {
        match self {
            Times::Gaps(spans, _) | Times::Seen(spans, ..) => spans.clone(),
            Times::Since(since, to) | Times::Silent(since, _, to) => vec![(*since, *to)],
        }
    }

    /// The time for which a run is charged that ended at `ended`, or that continues.
    fn of_run(&self, ended: Option<i64>) -> Option<(i64, i64)> {
        match self {
            Times::Since(since, to) | Times::Silent(since, _, to) => Some((*since, *to)),
            Times::Gaps(gaps, _) => {
                let ended = ended?;
                let mut gaps = gaps.iter();
                gaps.find(|gap| gap.0 < ended && ended <= gap.1).copied()
            }
            Times::Seen(covered, kept_since, as_of) => {
                let until = match ended {
                    None => *as_of,
                    Some(ended) if covered.iter().any(|it| it.0 < ended && ended <= it.1) => *as_of,
                    // It ended when the plugin was off: that is filled in.
                    Some(ended) => {
                        let before = covered.iter().rev().find(|it| it.1 < ended);
                        before?.1
                    }
                };
                Some((*kept_since, until))
            }
        }
    }
}

/// The result for the runs of a cluster.
#[derive(Debug)]
pub struct Filled {
    /// The cluster.
    pub cluster: String,
    /// The usage.
    pub history: UsageHistory,
    /// Runs that count, including running ones.
    pub runs: u64,
    /// Of these, running ones.
    pub running: u64,
    /// Runs whose end does not count.
    pub not_counted: u64,
    /// Runs of which CPUs count, as no run of the cluster has billing TRES.
    pub by_processors: u64,
    /// Runs without billing TRES that count 0, as others of the cluster have it: sacct leaves out the
    /// billing of a free partition.
    pub free: u64,
}

/// Takes runs, and makes of each cluster's a history.
#[derive(Debug)]
pub struct Filler<'a> {
    rules: &'a LedgerRules,
    clusters: BTreeMap<String, Cluster>,
    problems: Vec<String>,
}

#[derive(Debug)]
struct Cluster {
    times: Times,
    /// Runs without billing count 0.
    history: UsageHistory,
    /// The same, but their CPUs count; `None` once a run had billing.
    by_cpus: Option<UsageHistory>,
    /// Parts of runs before their size changed, until it is known how the run ended; by job.
    parts: HashMap<u32, Vec<Accounted>>,
    /// Runs that continue.
    running: Vec<Accounted>,
    /// The last start or end that a record tells of.
    heard: i64,
    filled: Counters,
}

#[derive(Debug, Default)]
struct Counters {
    runs: u64,
    running: u64,
    not_counted: u64,
    by_processors: u64,
}

impl<'a> Filler<'a> {
    /// Nothing yet; runs of other clusters than these are passed over.
    ///
    /// # Errors
    /// A resolution, dates or moments that no ledger can have.
    pub fn new(
        rules: &'a LedgerRules,
        clusters: impl IntoIterator<Item = (String, Times)>,
    ) -> Result<Filler<'a>, WindowError> {
        let mut made = BTreeMap::new();
        for (name, times) in clusters {
            let resolution = u64::from(rules.resolution_secs);
            let columns = Columns::default();
            let history =
                UsageHistory::new(&name, resolution, columns, &rules.dates, times.as_of())?;
            let by_cpus = Some(history.clone());
            let heard = match &times {
                Times::Silent(_, heard, _) => *heard,
                Times::Gaps(..) | Times::Since(..) | Times::Seen(..) => 0,
            };
            let cluster = Cluster {
                times,
                history,
                by_cpus,
                parts: HashMap::new(),
                running: Vec::new(),
                heard,
                filled: Counters::default(),
            };
            made.insert(name, cluster);
        }
        Ok(Filler {
            rules,
            clusters: made,
            problems: Vec::new(),
        })
    }

    /// Takes the answer about `[from, to)`, seconds since 1970; answers come in the order of their
    /// times.
    ///
    /// Of each answer those runs count that begin in its time, of the first one all that began
    /// before as well: so each run counts once, in however many answers it is. Of several records
    /// of a run the last one stands.
    pub fn take(&mut self, runs: Vec<Accounted>, from: i64, to: i64, is_first: bool) {
        let mut runs = runs;
        runs.retain(|run| run.start < to && (is_first || run.start >= from));
        // Stable: of the same run the last one comes last.
        runs.sort_by(|a, b| key(a).cmp(&key(b)));
        let mut runs = runs.into_iter().peekable();
        while let Some(run) = runs.next() {
            if runs.peek().is_some_and(|next| key(next) == key(&run)) {
                continue;
            }
            if let Some(cluster) = self.clusters.get_mut(&run.cluster) {
                cluster.take(run, self.rules, &mut self.problems);
            }
        }
    }

    /// The same for the answer about a part of one gap, where each gap is asked for by itself: of
    /// each gap only what ended in it.
    pub fn take_gap(
        &mut self,
        mut runs: Vec<Accounted>,
        gap: (i64, i64),
        from: i64,
        to: i64,
        is_first: bool,
    ) {
        runs.retain(|run| match run.progress {
            Progress::Running => false,
            Progress::Resized => true,
            Progress::Ended(_) => gap.0 < run.known_until() && run.known_until() <= gap.1,
        });
        self.take(runs, from, to, is_first);
    }

    /// The histories, by cluster, and sentences on what could not be counted.
    ///
    /// # Errors
    /// Times that no ledger can cover.
    pub fn finish(mut self) -> Result<(Vec<Filled>, Vec<String>), WindowError> {
        let mut all = Vec::new();
        for (name, cluster) in self.clusters {
            all.push(cluster.finish(name, &mut self.problems)?);
        }
        Ok((all, self.problems))
    }
}

fn key(run: &Accounted) -> (&str, u32, i64) {
    (&run.cluster, run.job, run.start)
}

impl Cluster {
    fn take(&mut self, run: Accounted, rules: &LedgerRules, problems: &mut Vec<String>) {
        self.heard = self.heard.max(run.start);
        if run.progress != Progress::Running {
            self.heard = self.heard.max(run.known_until());
        }
        if let Times::Silent(.., now) = self.times {
            let heard = self.heard.min(now);
            for history in [&mut self.history].into_iter().chain(&mut self.by_cpus) {
                let moved = history.advance(heard);
                moved.expect("a moment between two that are allowed");
            }
        }
        if !run.by_processors {
            self.by_cpus = None;
        }
        match run.progress {
            Progress::Resized => {
                let parts = self.parts.entry(run.job).or_default();
                if parts.iter().all(|part| part.start != run.start) {
                    parts.push(run);
                }
            }
            Progress::Running => {
                let parts = self.parts.remove(&run.job).unwrap_or_default();
                self.running.extend(parts);
                self.running.push(run);
            }
            Progress::Ended(end) => {
                let parts = self.parts.remove(&run.job).unwrap_or_default();
                let ended = run.known_until();
                if !counts(&rules.counts, end, run.exit_code) {
                    let wanted = self.times.of_run(Some(ended)).is_some();
                    self.filled.not_counted += u64::from(wanted);
                    return;
                }
                let mut counted = false;
                for part in parts.iter().chain([&run]) {
                    counted |= self.charge(part, Some(ended), problems);
                }
                self.filled.runs += u64::from(counted);
            }
        }
    }

    /// Charges what of a run is wanted; `ended`: when it ended, with all its parts. True if
    /// anything was.
    fn charge(&mut self, run: &Accounted, ended: Option<i64>, problems: &mut Vec<String>) -> bool {
        let elapsed = match (ended, run.limit_secs) {
            (None, Some(limit)) => run.elapsed_secs.min(limit),
            _ => run.elapsed_secs,
        };
        let end = run.start.saturating_add(elapsed);
        let Some((from, to)) = self.times.of_run(ended) else {
            return false;
        };
        let (from, to) = (from.max(run.start), to.min(end));
        if from >= to {
            return false;
        }
        let goes_on = ended.is_none();
        let billing = if run.by_processors { 0 } else { run.billing };
        let mut charged = charge_interval(&mut self.history, run, billing, (from, to), goes_on);
        if let Some(by_cpus) = self.by_cpus.as_mut().filter(|_| charged.is_ok()) {
            charged = charge_interval(by_cpus, run, run.billing, (from, to), goes_on);
        }
        if let Err(error) = charged {
            problems.push(format!(
                "cluster {}, job {}: {error}; this run is left out",
                run.cluster, run.job
            ));
            return false;
        }
        self.filled.by_processors += u64::from(run.by_processors);
        true
    }

    fn finish(
        mut self,
        cluster: String,
        problems: &mut Vec<String>,
    ) -> Result<Filled, WindowError> {
        if let Times::Silent(since, _, now) = self.times {
            self.times = Times::Since(since, self.heard.min(now));
        }
        let mut running = std::mem::take(&mut self.running);
        // The continuation of these is not known: they count unless a record says otherwise.
        running.extend(self.parts.drain().flat_map(|(_, parts)| parts));
        running.sort_by(|a, b| key(a).cmp(&key(b)));
        for run in &running {
            if self.charge(run, None, problems) && run.progress == Progress::Running {
                self.filled.runs += 1;
                self.filled.running += 1;
            }
        }
        let any_billing = self.by_cpus.is_none();
        let mut history = self.by_cpus.unwrap_or(self.history);
        for (from, to) in self.times.covered() {
            history.cover(from.min(to), to)?;
        }
        let Counters {
            runs,
            running,
            not_counted,
            by_processors,
        } = self.filled;
        Ok(Filled {
            cluster,
            history,
            runs,
            running,
            not_counted,
            by_processors: if any_billing { 0 } else { by_processors },
            free: if any_billing { by_processors } else { 0 },
        })
    }
}

/// Charges the time of a run to a history.
fn charge_interval(
    history: &mut UsageHistory,
    run: &Accounted,
    billing: u64,
    (from, to): (i64, i64),
    goes_on: bool,
) -> Result<(), WindowError> {
    let known = history.columns();
    if run.tres.iter().any(|(name, _)| known.find(name).is_none()) {
        let new = run.tres.iter().map(|(name, _)| name.clone());
        let mut names: Vec<String> = known.tres().iter().cloned().chain(new).collect();
        names.sort_unstable();
        names.dedup();
        history.set_columns(&Columns::new(names)?);
    }
    let columns = history.columns();
    let place = |name: &String| columns.tres().binary_search(name).ok();
    let counts: Vec<(usize, u64)> = run
        .tres
        .iter()
        .filter_map(|(name, count)| Some((place(name)?, *count)))
        .collect();
    let rate = columns.rate(billing as f64, 1.0, &counts)?;
    let leaf = LeafKey::new(&run.account, &run.user, "")?;
    let id = LedgerRun {
        job: run.job,
        run: run.start,
    };
    let id = Some(id).filter(|_| goes_on);
    history.charge(&leaf, id, from, to, &rate)
}

/// Returns true if a run with this end counts. A requeue is not an end that a site can name.
fn counts(counts: &Counts, end: EndState, exit_code: u8) -> bool {
    let state = match end {
        EndState::Completed => CountedState::Completed,
        EndState::Cancelled => CountedState::Cancelled,
        EndState::Failed => CountedState::Failed,
        EndState::Timeout => CountedState::Timeout,
        EndState::NodeFail => CountedState::NodeFail,
        EndState::Preempted => CountedState::Preempted,
        EndState::BootFail => CountedState::BootFail,
        EndState::Deadline => CountedState::Deadline,
        EndState::OutOfMemory => CountedState::OutOfMemory,
        EndState::Requeued => return *counts == Counts::All,
    };
    counts.has(state, exit_code)
}

#[cfg(test)]
#[path = "filler_tests.rs"]
mod tests;
