//! Many lives, one after the other or several at a time.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context as _, Result, anyhow, bail};

use xtask::interrupt;

use super::compare::compare;
use super::documented;
use super::life::Life;
use super::outcome::{Difference, Outcome, Pair};
use super::promise::Promise;
use super::{Size, generate, shrink};
use fairtree_oracle::FaultCounts;

/// Prints a difference and its life, shrunk on request; always returns an error.
pub fn report(pair: &Pair<'_>, life: &Life, difference: &Difference, shrink: bool) -> Result<()> {
    if shrink {
        let (life, difference) = shrink::shrink(pair, life, difference)?;
        println!("{difference}--- the life ---\n{}", life.text());
    } else {
        println!("{difference}");
    }
    bail!("the plugins differ: {}", difference.kinds().join(", "))
}

/// A run over many seeds.
pub struct Run<'a> {
    /// The plugins, and the host.
    pub pair: Pair<'a>,
    /// Size of the lives.
    pub size: Size,
    /// Verbs whose events are dropped.
    pub without: &'a [String],
    /// True to continue after a difference.
    pub survey: bool,
}

/// Results of a run.
#[derive(Default)]
pub struct Played {
    /// Seeds that differ, in their order.
    pub differing: Vec<(u64, Difference)>,
    /// Faults that explain the differences, if differences are explained.
    pub counts: FaultCounts,
}

impl Run<'_> {
    /// The life of a seed.
    pub fn life(&self, seed: u64) -> Life {
        let life = generate(seed, self.size).without(self.without);
        match self.pair.promise {
            Promise::Same => life,
            Promise::Documented => documented::within(life),
        }
    }

    /// Plays seeds and prints the results.
    ///
    /// # Errors
    /// Fails at a difference, or as [`Run::play`].
    pub fn seeds(&self, seeds: &[u64], threads: usize, shrink: bool) -> Result<()> {
        let played = self.play(seeds, threads)?;
        let count = seeds.len();
        played.counts.print();
        let Some((seed, difference)) = played.differing.first() else {
            println!("{}", self.praise(count));
            return Ok(());
        };
        if self.survey {
            bail!("{} of {count} lives differ", played.differing.len());
        }
        println!("seed {seed}");
        report(&self.pair, &self.life(*seed), difference, shrink)
    }

    /// The message when no difference was found.
    pub fn praise(&self, lives: usize) -> String {
        match self.pair.promise {
            Promise::Same => format!("{lives} lives, no difference"),
            Promise::Documented => format!("{lives} lives, every difference has a name"),
        }
    }

    /// Plays seeds until they are used up or, without survey, one differs.
    ///
    /// # Errors
    /// Fails if the host does not run or refuses a life, or at an interrupt.
    pub fn play(&self, seeds: &[u64], threads: usize) -> Result<Played> {
        let next = AtomicUsize::new(0);
        let all = thread::scope(|scope| {
            let workers: Vec<_> = (0..threads)
                .map(|_| scope.spawn(|| self.worker(&next, seeds)))
                .collect();
            workers
                .into_iter()
                .map(|worker| worker.join().map_err(|_| anyhow!("a worker panicked"))?)
                .collect::<Result<Vec<Played>>>()
        })?;
        let mut played = Played::default();
        for part in all {
            played.differing.extend(part.differing);
            played.counts.add(&part.counts);
        }
        played.differing.sort_by_key(|(seed, _)| *seed);
        Ok(played)
    }

    fn worker(&self, next: &AtomicUsize, seeds: &[u64]) -> Result<Played> {
        let mut played = Played::default();
        while let Some(&seed) = seeds.get(next.fetch_add(1, Ordering::Relaxed)) {
            interrupt::check()?;
            let life = self.life(seed);
            let compared = compare(&self.pair, &life).with_context(|| format!("seed {seed}"))?;
            let difference = match compared {
                Outcome::Same => {
                    if self.size.large {
                        println!("seed {seed}: no difference");
                    }
                    continue;
                }
                Outcome::Explained(counts) => {
                    played.counts.add(&counts);
                    continue;
                }
                Outcome::StockDies(ending) => {
                    println!("seed {seed}: stock ends with {ending}");
                    continue;
                }
                Outcome::Differs(difference) => difference,
            };
            if self.survey {
                let kinds = difference.kinds().join(", ");
                let Difference {
                    line,
                    event,
                    labels,
                    ..
                } = difference.as_ref();
                println!("seed {seed}, line {line}: {event}: {}: {kinds}", labels[1]);
            } else {
                // The other threads finish their current seed.
                next.store(seeds.len(), Ordering::Relaxed);
            }
            played.differing.push((seed, *difference));
        }
        Ok(played)
    }
}
