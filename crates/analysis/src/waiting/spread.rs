//! Which factor decides: points over the queue; and users whose factors are equal.

use std::collections::HashMap;

use serde::Serialize;

use super::WaitingLine;
use fairtree::priority::Term;
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::Cluster;

/// Points that one term gives over the jobs that wait and are not held.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// The term, by its name in reports.
    pub term: &'static str,
    /// The fewest points.
    pub min: f64,
    /// The median; of an even number the lower of the two in the middle.
    pub median: f64,
    /// The most points.
    pub max: f64,
}

impl Spread {
    /// The difference between the most and the fewest: by how much the term can decide.
    pub fn range(&self) -> f64 {
        self.max - self.min
    }
}

/// Each term, in Slurm's order of additions; none for an empty queue.
pub fn spreads(line: &WaitingLine) -> Vec<Spread> {
    let of = |term: Term| {
        let waiting = line.standings().filter(|standing| standing.priority > 0);
        let mut points: Vec<f64> = waiting
            .map(|standing| standing.points.term(term) + 0.0)
            .collect();
        points.sort_by(f64::total_cmp);
        let (min, max) = (points.first()?, points.last()?);
        Some(Spread {
            term: term.name(),
            min: *min,
            median: points[(points.len() - 1) / 2],
            max: *max,
        })
    };
    Term::ALL.into_iter().filter_map(of).collect()
}

/// Number of users that have the fair-share factor of another user.
pub fn tied_users(cluster: &Cluster) -> u64 {
    let mut counts: HashMap<u64, u64> = HashMap::new();
    for (at, found) in cluster.fairshare.iter().enumerate() {
        if let (true, Some(factor)) = (cluster.is_user(AssocIndex::new(at)), found.fs_factor) {
            *counts.entry(factor.to_bits()).or_default() += 1;
        }
    }
    counts.into_values().filter(|count| *count > 1).sum()
}
