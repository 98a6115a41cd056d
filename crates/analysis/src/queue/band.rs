//! Bands of starts: simulations with run times as they were in the past.

use std::collections::{HashMap, VecDeque};

use super::people::Refusal;
use super::player::Jobs;
use fairtree::engine::queue::{Lasts, Micros};

/// Runs of an account that are looked back at.
const MOST: usize = 100;
/// Runs that must be known.
const LEAST: usize = 10;
/// Simulations; from the 10th to the 190th start is 90 %.
const ROUNDS: u64 = 200;

/// Past run times over what was expected of them, or their limits.
#[derive(Debug, Default)]
pub(super) struct Ratios {
    of_account: HashMap<String, VecDeque<f64>>,
    of_all: VecDeque<f64>,
}

fn remember(ratios: &mut VecDeque<f64>, ratio: f64) {
    ratios.push_back(ratio);
    if ratios.len() > MOST {
        ratios.pop_front();
    }
}

impl Ratios {
    /// A run has ended that took `executed` microseconds of an estimate of `length`.
    pub fn add(&mut self, account: &str, executed: Micros, length: u64) {
        if length > 0 {
            let ratio = executed as f64 / length as f64;
            remember(
                self.of_account.entry(account.to_owned()).or_default(),
                ratio,
            );
            remember(&mut self.of_all, ratio);
        }
    }

    /// Those of an account, or of all where it has too few; `None`: too few are known.
    fn of(&self, account: &str) -> Option<&VecDeque<f64>> {
        let own = self.of_account.get(account);
        let known = own.filter(|own| own.len() >= LEAST).unwrap_or(&self.of_all);
        (known.len() >= LEAST).then_some(known)
    }

    /// The start of each job in 90 % of all simulations, from the 5 % to the 95 % quantile. `simulate`
    /// has the starts of jobs for given run times. Without bands where too few runs are known.
    pub fn bands(
        &self,
        jobs: &Jobs,
        account: impl Fn(usize) -> String,
        now: Micros,
        mut simulate: impl FnMut(Lasts<'_>) -> Result<Vec<(u64, Option<Micros>)>, Refusal>,
    ) -> Result<HashMap<u64, (Micros, Micros)>, Refusal> {
        let mut known = HashMap::with_capacity(jobs.len());
        for (id, job) in jobs {
            let (Some(ratios), Some(length)) = (self.of(&account(job.assoc)), job.length) else {
                return Ok(HashMap::new());
            };
            let passed = job.started.map_or(0, |started| now - started);
            let mut lengths: Vec<u64> = (ratios.iter())
                .map(|ratio| (ratio * length as f64) as u64)
                .filter(|length| *length as Micros >= passed)
                .collect();
            if lengths.is_empty() {
                lengths.push(passed.unsigned_abs());
            }
            known.insert(*id, lengths);
        }
        let mut starts: HashMap<u64, Vec<Micros>> = HashMap::new();
        for round in 0..ROUNDS {
            let lasts = |id: u64| known.get(&id).map_or(0, |lengths| draw(lengths, round, id));
            for (job, start) in simulate(&lasts)? {
                starts.entry(job).or_default().extend(start);
            }
        }
        let band = |(job, mut starts): (u64, Vec<Micros>)| {
            starts.sort_unstable();
            let always = starts.len() as u64 == ROUNDS;
            always.then(|| (job, (starts[9], starts[189])))
        };
        Ok(starts.into_iter().filter_map(band).collect())
    }
}

/// One of the run times, the same one for a round and a job each time (SplitMix64).
fn draw(lengths: &[u64], round: u64, job: u64) -> u64 {
    let mut word = job.wrapping_mul(ROUNDS).wrapping_add(round);
    word = word.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    lengths[((word ^ (word >> 31)) % lengths.len() as u64) as usize]
}
