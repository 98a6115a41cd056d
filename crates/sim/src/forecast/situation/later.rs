//! The cluster after some time, in one simulation.

use fairtree::tree::AssocIndex;

use super::Situation;
use crate::slurm::free::{Jobs, resume_until};
use crate::slurm::site::{Site, Unpriced};
use crate::slurm::waiting::size_cpus;

/// How far a job is. Moments are seconds since 1970.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stage {
    /// It waits.
    Waits {
        /// When it became eligible; `None`: it is not.
        eligible: Option<i64>,
        /// Priorities of a job that came, with the positions of the partitions; else empty.
        priorities: Vec<(usize, u32)>,
    },
    /// It has started, and may have ended.
    Started {
        /// The start.
        at: i64,
    },
}

/// A job of the present, or one that has come since.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaterJob {
    /// Its number; `None`: it has come.
    pub id: Option<u32>,
    /// Its array; `None`: it is of none, or has come.
    pub array: Option<u32>,
    /// Its association; `None`: not known.
    pub assoc: Option<AssocIndex>,
    /// How far it is.
    pub stage: Stage,
}

/// A cluster after some time.
#[derive(Clone, Debug)]
pub struct Later {
    /// Usage and factors by a pass at that moment.
    pub site: Site,
    /// The jobs that ran or waited at the beginning, and those that came.
    pub jobs: Vec<LaterJob>,
    /// Steps of the simulation.
    pub steps: u64,
}

impl Situation<'_> {
    /// The cluster at a moment, seconds since 1970, in the simulation with this number; without one, every
    /// job runs to its limit, and none arrives. `None`: `go_on` said no.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn later(
        &self,
        until: i64,
        seed: u64,
        draw: Option<u64>,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<Option<Later>, Unpriced> {
        let (cast, lives, seed) = match draw {
            Some(draw) => self.drawn((seed, draw)),
            None => (&self.cast, self.limited(), seed),
        };
        // One that never comes: the simulation runs to the moment.
        let mut watch = self.watch(cast, 1, u64::MAX, go_on);
        let jobs = Jobs {
            asks: &cast.asks,
            lives: &lives,
        };
        let (site, begin, phases) = (self.site.clone(), self.begin(), self.phases(seed));
        let until_ms = until * 1000;
        let machine = self.machine;
        let stopped = resume_until(machine, site, jobs, begin, phases, until_ms, &mut watch)?;
        let Some(stopped) = stopped else {
            return Ok(None);
        };
        let site = stopped.site;
        let always = site.config().priority_flags.accrue_always;
        let present = self.cast.asks.len();
        let mut found = Vec::with_capacity(present);
        for (at, (ask, fate)) in cast.asks.iter().zip(&stopped.fates).enumerate() {
            let came = at >= present;
            if came && ask.submit > until {
                continue;
            }
            let secs = |ms: i64| ms.div_euclid(1000);
            let stage = match fate.start_ms {
                Some(ms) => Stage::Started { at: secs(ms) },
                None => {
                    let eligible = fate.eligible_ms.map(secs);
                    let accrue = if always { Some(ask.submit) } else { eligible };
                    let mut tres = Vec::new();
                    let partitions = ask.partitions.iter().filter(|_| came);
                    let of_place = (accrue.unwrap_or(0), size_cpus(machine, ask));
                    let rows =
                        partitions.map(|at| site.job(machine, ask, *at, of_place, &mut tres));
                    let rows: Vec<_> = rows.collect();
                    let prices = match ask.fixed {
                        Some(priority) => vec![priority; rows.len()],
                        None => site.prices(until, &rows, &tres)?,
                    };
                    let partitions = ask.partitions.iter().copied();
                    Stage::Waits {
                        eligible,
                        priorities: partitions.zip(prices).collect(),
                    }
                }
            };
            found.push(LaterJob {
                id: (!came).then_some(ask.id),
                array: ask.task.map(|(array, _)| array).filter(|_| !came),
                assoc: ask.assoc,
                stage,
            });
        }
        Ok(Some(Later {
            site,
            jobs: found,
            steps: watch.steps,
        }))
    }
}
