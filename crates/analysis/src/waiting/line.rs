//! The queue, priced once.

use std::collections::HashMap;
use std::ops::Range;

use serde::Serialize;

use crate::explain::ExplainError;
use crate::explain::line::OrderedQueue;
use crate::what_if::standing::{Entry, queue};
use crate::what_if::{JobStanding, Points};
use fairtree::priority::Index;
use fairtree_model::cluster::{Cluster, ClusterJob};

/// The queue of a site: an entry for each way to run each job that waits.
#[derive(Clone, Debug)]
pub struct WaitingLine {
    entries: Vec<Entry>,
    /// The entries of each job, by job number; they are next to each other.
    jobs: HashMap<u32, Range<usize>>,
    /// Entries with a place, by partition. Under `order=` all are in one list.
    lists: HashMap<Option<Index>, List>,
    /// The owner of each entry's job.
    owners: Vec<Owner>,
    /// Names of accounts, by the numbers of owners; jobs without an account have an empty name.
    accounts: Vec<String>,
    /// Number of jobs with a place under `order=`; `None`: places are by priority.
    ordered: Option<u64>,
}

/// At least this many entries lie between two places whose sums are kept.
const STRIDE: usize = 4096;

/// Entries with a place in one list, the first one first.
#[derive(Clone, Debug, Default)]
struct List {
    /// Their positions.
    entries: Vec<u32>,
    /// The accounts of the jobs.
    accounts: Vec<u32>,
    /// Number of jobs of each account ahead of every `stride`-th place, one after the other, so that a count does not
    /// read all that are ahead.
    sums: Vec<u32>,
    stride: usize,
    /// Places of each user's jobs, from 0, in order.
    of_user: HashMap<u32, Vec<u32>>,
}

impl List {
    /// `owners`: of the jobs, in order of `entries`; `accounts`: number of accounts; `stride` at least 1.
    fn of(
        entries: Vec<u32>,
        owners: impl Iterator<Item = Owner>,
        accounts: usize,
        stride: usize,
    ) -> List {
        let mut list = List {
            entries,
            stride,
            ..List::default()
        };
        let mut now = vec![0; accounts];
        for (owner, at) in owners.zip(0..) {
            if at as usize % stride == 0 {
                list.sums.extend_from_slice(&now);
            }
            now[owner.account as usize] += 1;
            list.accounts.push(owner.account);
            list.of_user.entry(owner.user).or_default().push(at);
        }
        list
    }

    /// Number of jobs of each account among the first ones; `accounts`: number of accounts.
    fn counts(&self, first: usize, accounts: usize) -> Vec<u32> {
        let whole = (first / self.stride).min(self.accounts.len().saturating_sub(1) / self.stride);
        let sums = self.sums.get(whole * accounts..(whole + 1) * accounts);
        let mut counts = sums.map_or_else(|| vec![0; accounts], <[u32]>::to_vec);
        for account in &self.accounts[whole * self.stride..first] {
            counts[*account as usize] += 1;
        }
        counts
    }

    /// Number of jobs of a user among the first ones.
    fn own(&self, first: usize, user: u32) -> u64 {
        let places = self.of_user.get(&user).map_or(&[][..], Vec::as_slice);
        places.partition_point(|at| (*at as usize) < first) as u64
    }
}

/// The account and the user of a job, as numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Owner {
    account: u32,
    user: u32,
}

/// Numbers for names, in the order in which they come.
#[derive(Debug, Default)]
struct Numbers<'a> {
    known: HashMap<&'a str, u32>,
}

impl<'a> Numbers<'a> {
    fn of(&mut self, name: &'a str) -> u32 {
        // There are fewer names than jobs, whose numbers have 32 bits.
        let next = u32::try_from(self.known.len()).unwrap_or(u32::MAX);
        *self.known.entry(name).or_insert(next)
    }

    /// The names, by their numbers.
    fn names(self) -> Vec<String> {
        let mut names: Vec<(u32, &str)> = self
            .known
            .into_iter()
            .map(|(name, at)| (at, name))
            .collect();
        names.sort_unstable();
        names.into_iter().map(|(_, name)| name.to_owned()).collect()
    }
}

/// One way to run a job that waits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Way {
    /// The partition; `None`: the job names none.
    pub partition: Option<String>,
    /// The QOS.
    pub qos: Option<String>,
    /// Its place, from 1; `None`: held, or without a place in the order.
    pub place: Option<u64>,
    /// How many have a place there.
    pub of: u64,
    /// Priority; 0: held.
    pub priority: u32,
    /// Points of each term.
    pub points: Points,
}

/// The jobs ahead of one.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Ahead {
    /// Their number.
    pub jobs: u64,
    /// How many are of the same user.
    pub own: u64,
    /// How many are of each account, the most first; jobs without an account have an empty name.
    pub accounts: Vec<(String, u64)>,
    /// The number of the job right ahead; `None`: it is the first.
    pub next: Option<u32>,
}

impl WaitingLine {
    /// The queue of a cluster; empty where it knows of no jobs.
    ///
    /// # Errors
    /// Settings and jobs that cannot be priced or ordered.
    pub fn of(cluster: &Cluster) -> Result<WaitingLine, ExplainError> {
        let mut entries = queue(cluster)?;
        let mut jobs: HashMap<u32, Range<usize>> = HashMap::new();
        for (at, entry) in entries.iter().enumerate() {
            let range = jobs.entry(entry.key.id).or_insert(at..at);
            range.end = at + 1;
        }
        let ordered = OrderedQueue::of(cluster)?;
        if let Some(order) = &ordered {
            by_order(&mut entries, order);
        }
        let mut lists: HashMap<Option<Index>, List> = HashMap::new();
        for (entry, at) in entries.iter().zip(0..) {
            if entry.standing.place.is_some() {
                let list = entry.key.partition.filter(|_| ordered.is_none());
                lists.entry(list).or_default().entries.push(at);
            }
        }
        let (mut accounts, mut users) = (Numbers::default(), Numbers::default());
        let owner = |entry: &Entry| {
            let job = &cluster.jobs()[entry.job as usize];
            Owner {
                account: accounts.of(job.account.as_deref().unwrap_or("")),
                user: users.of(&job.user),
            }
        };
        let owners: Vec<Owner> = entries.iter().map(owner).collect();
        let accounts = accounts.names();
        // The sums take no more memory than the entries.
        let stride = STRIDE.max(accounts.len());
        for list in lists.values_mut() {
            let mut placed = std::mem::take(&mut list.entries);
            placed.sort_by_key(|at| entries[*at as usize].standing.place);
            let of: Vec<Owner> = placed.iter().map(|at| owners[*at as usize]).collect();
            *list = List::of(placed, of.into_iter(), accounts.len(), stride);
        }
        Ok(WaitingLine {
            accounts,
            owners,
            entries,
            jobs,
            lists,
            ordered: ordered.map(|order| order.waiting() as u64),
        })
    }

    /// Number of jobs that wait.
    pub fn len(&self) -> usize {
        self.jobs.len()
    }

    /// Returns true if no job waits.
    pub fn is_empty(&self) -> bool {
        self.jobs.is_empty()
    }

    /// Number of jobs with a place in the order of the site; `None`: places are by priority.
    pub fn ordered(&self) -> Option<u64> {
        self.ordered
    }

    /// All entries, by job as the cluster has them.
    pub(crate) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The standings of all entries, by job as the cluster has them.
    pub fn standings(&self) -> impl Iterator<Item = &JobStanding> {
        self.entries.iter().map(|entry| &entry.standing)
    }

    /// The ways to run a job; none for one that does not wait.
    pub fn ways(&self, cluster: &Cluster, job: u32) -> Vec<Way> {
        let way = |entry: &Entry| Way {
            partition: entry
                .key
                .partition
                .map(|at| cluster.partitions[at.get()].name.clone()),
            qos: entry.qos.map(|at| cluster.qos[at.get()].name.clone()),
            place: entry.standing.place,
            of: entry.standing.of,
            priority: entry.standing.priority,
            points: entry.standing.points,
        };
        self.of_job(job).iter().map(way).collect()
    }

    /// A job that waits; `None`: this one does not. `cluster`: that of the queue.
    pub(crate) fn job<'a>(&self, cluster: &'a Cluster, job: u32) -> Option<&'a ClusterJob> {
        let entry = self.of_job(job).first()?;
        cluster.jobs().get(entry.job as usize)
    }

    fn of_job(&self, job: u32) -> &[Entry] {
        let range = self.jobs.get(&job).cloned().unwrap_or(0..0);
        &self.entries[range]
    }

    /// The jobs ahead of the `way`-th way to run a job; `None`: it has no place.
    pub fn ahead(&self, job: u32, way: usize) -> Option<Ahead> {
        let at = self.jobs.get(&job)?.clone().nth(way)?;
        let (entry, own) = (&self.entries[at], self.owners[at].user);
        let place = usize::try_from(entry.standing.place?).ok()?;
        let list = self
            .lists
            .get(&entry.key.partition.filter(|_| self.ordered.is_none()))?;
        let before = place.saturating_sub(1).min(list.entries.len());
        let mut ahead = Ahead {
            jobs: before as u64,
            // One job may have several entries in a partition.
            next: list.entries[..before]
                .iter()
                .rev()
                .map(|at| self.entries[*at as usize].key.id)
                .find(|id| *id != job),
            ..Ahead::default()
        };
        ahead.own = list.own(before, own);
        let counts = list.counts(before, self.accounts.len());
        let counted = self.accounts.iter().zip(counts);
        let counted = counted.filter(|(_, jobs)| *jobs > 0);
        let counted = counted.map(|(name, jobs)| (name.clone(), u64::from(jobs)));
        ahead.accounts = counted.collect();
        ahead
            .accounts
            .sort_by(|(a, of_a), (b, of_b)| of_b.cmp(of_a).then_with(|| a.cmp(b)));
        Some(ahead)
    }
}

/// Puts the places of an order in the place of those by priority; a job has one.
fn by_order(entries: &mut [Entry], order: &OrderedQueue<'_>) {
    let places = order.places();
    let of = places.len() as u64;
    let mut before = None;
    for entry in entries {
        let again = before == Some(entry.key.id);
        before = Some(entry.key.id);
        let place = places.get(&entry.key.id).copied().filter(|_| !again);
        (entry.standing.place, entry.standing.of) = (place, place.map_or(0, |_| of));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The oracle counts all that are ahead.
    #[test]
    fn sums_count_what_is_ahead() {
        let owner = |at: u32| Owner {
            account: at * at % 5,
            user: at % 3,
        };
        for (len, stride) in [
            (0, 1),
            (1, 1),
            (8, 4),
            (23, 4),
            (23, 1),
            (24, 24),
            (24, 100),
        ] {
            let owners: Vec<Owner> = (0..len).map(owner).collect();
            let list = List::of((0..len).collect(), owners.iter().copied(), 5, stride);
            for first in 0..=owners.len() {
                let ahead = &owners[..first];
                let mut counts = [0; 5];
                for owner in ahead {
                    counts[owner.account as usize] += 1;
                }
                assert_eq!(list.counts(first, 5), counts, "{first} of {len}, {stride}");
                let own = ahead.iter().filter(|owner| owner.user == 1).count();
                assert_eq!(list.own(first, 1), own as u64);
            }
        }
    }
}
