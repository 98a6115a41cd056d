//! The same results from several threads, for a host that has them to spare; slurmctld has not.
//!
//! Jobs are priced each for itself, so a long queue gains with every thread until memory cannot
//! keep up. Of Fair Tree the divisions are shared, which are half of the work on a tree of a
//! million associations; the walk is not. Other rankings run in one thread, and a [`LevelRanks`]
//! that follows usage from pass to pass has too little to do to share it.
//!
//! No result depends on the number of threads, to the last bit. The C ABI has its own way:
//! `ft_batch.threads`.
//!
//! [`LevelRanks`]: crate::fairshare::LevelRanks

use std::num::NonZeroUsize;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::compat::Compat;
use crate::extended::Extended;
use crate::fairshare::{self, AssocFairshare, Entitlement, HostMath, Ranking, Workers};
use crate::priority::{Job, Priced, Pricer};
use crate::tree::Tree;

/// A thread takes no fewer rows or jobs at a time: less would cost more than it gains.
const LEAST: usize = 4096;

/// The system gave no threads.
#[derive(Debug, thiserror::Error)]
#[error("no {count} threads: {reason}")]
pub struct ThreadsError {
    /// How many were asked for.
    pub count: NonZeroUsize,
    /// The system's words.
    pub reason: String,
}

/// Threads that wait for work, and end when dropped.
///
/// ```
/// use std::num::NonZeroUsize;
///
/// use fairtree::config::Config;
/// use fairtree::parallel::Threads;
/// use fairtree::priority::{Job, Priced, Pricer, JobTables};
///
/// let config = Config::builder().priority_weight_age(1000).build()?;
/// let tables = JobTables::default();
/// let pricer = Pricer::new(&config, &tables, 1_800_000_000)?;
/// let jobs: Vec<Job> = (1..=10_000).map(Job::new).collect();
/// let mut priced = vec![Priced::default(); jobs.len()];
/// let threads = Threads::new(NonZeroUsize::MIN.saturating_add(1))?;
/// threads.price_all(&pricer, &jobs, &mut priced);
/// assert_eq!(priced[9_999], pricer.price(&jobs[9_999]));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Threads {
    pool: ThreadPool,
}

impl Threads {
    /// Starts so many threads.
    ///
    /// # Errors
    /// [`ThreadsError`] where the system refuses.
    pub fn new(count: NonZeroUsize) -> Result<Threads, ThreadsError> {
        let builder = ThreadPoolBuilder::new().num_threads(count.get());
        let pool = builder.build().map_err(|error| ThreadsError {
            count,
            reason: error.to_string(),
        })?;
        Ok(Threads { pool })
    }

    /// How many there are.
    pub fn count(&self) -> usize {
        self.pool.current_num_threads()
    }

    /// As [`fairshare::compute`].
    ///
    /// # Panics
    /// Unless there is one usage per association.
    pub fn fairshare(
        &self,
        ranking: Ranking,
        compat: Compat,
        tree: &Tree,
        raw_usage: &[Extended],
    ) -> Vec<AssocFairshare> {
        let (host, ranking) = (HostMath::default(), (ranking, &Entitlement::SHARES));
        fairshare::compute_by(self, host, ranking, compat, tree, raw_usage, Vec::new())
    }

    /// As [`Pricer::price_all`].
    ///
    /// # Panics
    /// If `out` is not as long as `jobs`.
    pub fn price_all(&self, pricer: &Pricer<'_>, jobs: &[Job], out: &mut [Priced]) {
        assert_eq!(jobs.len(), out.len(), "one price per job");
        let parts = jobs.par_chunks(LEAST).zip(out.par_chunks_mut(LEAST));
        self.pool
            .install(|| parts.for_each(|(jobs, out)| pricer.price_all(jobs, out)));
    }
}

impl Workers for Threads {
    fn each<T: Send>(&self, rows: &mut [T], work: impl Fn(usize, &mut T) + Sync) -> bool {
        let rows = rows.par_iter_mut().enumerate().with_min_len(LEAST);
        self.pool
            .install(|| rows.for_each(|(at, row)| work(at, row)));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compat::Release;
    use crate::config::Config;
    use crate::priority::JobTables;
    use crate::tree::{Assoc, AssocKind, Shares};

    const MANY: u32 = 3 * LEAST as u32 + 5;

    /// A root, a hundred accounts, and users: ties, empty accounts, `parent`, no shares.
    fn tree() -> Tree {
        let rows = (0..MANY).map(|id| Assoc {
            id,
            parent: match id {
                0 => None,
                1..=100 => Some((id - 1) / 3),
                _ => Some(1 + id % 100),
            },
            kind: match id {
                0..=100 => AssocKind::Account,
                _ => AssocKind::User,
            },
            shares: match id % 17 {
                0 if id > 0 => Shares::Parent,
                shares => Shares::Raw(shares % 5),
            },
        });
        Tree::from_rows(rows).unwrap()
    }

    /// Sums up the tree, so that accounts have what their users have.
    fn usage(tree: &Tree) -> Vec<Extended> {
        let own = |at: u32| f64::from(at * 7919 % 101) * f64::from(u8::from(at > 100)) / 3.0;
        let own: Vec<Extended> = (0..MANY)
            .map(|at| Extended::from_f64(own(at)).unwrap())
            .collect();
        let ledger = crate::usage::Ledger::from_own(tree, &own).unwrap();
        ledger.raw().to_vec()
    }

    fn threads() -> impl Iterator<Item = Threads> {
        [1, 2, 5]
            .into_iter()
            .map(|count| Threads::new(NonZeroUsize::new(count).unwrap()).unwrap())
    }

    #[test]
    fn factors_are_those_of_one_thread() {
        let tree = tree();
        let raw = usage(&tree);
        let rankings = [
            Ranking::FAIR_TREE,
            Ranking::classic(1),
            Ranking::depth_oblivious(2),
        ];
        for compat in [Compat::Documented, Compat::Slurm(Release::V24_11_5)] {
            for ranking in rankings {
                let alone = fairshare::compute(ranking, compat, &tree, &raw);
                for threads in threads() {
                    let found = threads.fairshare(ranking, compat, &tree, &raw);
                    // No number here is NaN or -0, so equal ones have the same bits.
                    assert!(found == alone, "{ranking:?}, {compat:?}");
                }
            }
        }
    }

    #[test]
    fn prices_are_those_of_one_thread() {
        let config = Config::builder().priority_weight_age(7_777_777).build();
        let (config, tables) = (config.unwrap(), JobTables::default());
        let pricer = Pricer::new(&config, &tables, 1_000_000).unwrap();
        let jobs: Vec<Job> = (0..MANY)
            .map(|id| Job {
                accrue_time: i64::from(id * 31),
                nice: (id % 100) as i32,
                ..Job::new(id)
            })
            .collect();
        let mut alone = vec![Priced::default(); jobs.len()];
        pricer.price_all(&jobs, &mut alone);
        for threads in threads() {
            let mut found = vec![Priced::default(); jobs.len()];
            threads.price_all(&pricer, &jobs, &mut found);
            assert!(found == alone);
        }
    }

    #[test]
    fn there_are_as_many_as_asked_for() {
        let counts: Vec<usize> = threads().map(|threads| threads.count()).collect();
        assert_eq!(counts, [1, 2, 5]);
    }
}
