//! How long jobs ran, as parts of their limits: what is known of users at a moment.

use std::collections::{HashMap, VecDeque};

use crate::job::Job;

/// Ended jobs of a user that are kept.
const KEPT: usize = 100;

/// Parts of their limits that the last jobs ran, 0 to 1, by user and of all.
#[derive(Clone, Debug, Default)]
pub(super) struct RunTimes {
    users: HashMap<u32, Ratios>,
    /// Of all users, for those without an ended job.
    all: Ratios,
}

/// The last ratios, as they came and sorted.
#[derive(Clone, Debug, Default)]
struct Ratios {
    last: VecDeque<f64>,
    sorted: Vec<f64>,
}

impl Ratios {
    fn push(&mut self, ratio: f64) {
        let place = |sorted: &[f64], ratio: f64| sorted.partition_point(|other| *other < ratio);
        if self.last.len() == KEPT {
            if let Some(oldest) = self.last.pop_front() {
                self.sorted.remove(place(&self.sorted, oldest));
            }
        }
        self.last.push_back(ratio);
        self.sorted.insert(place(&self.sorted, ratio), ratio);
    }
}

impl RunTimes {
    /// A job of `user` has ended.
    pub fn ended(&mut self, user: u32, job: &Job) {
        let ratio = job.run_secs as f64 / job.limit_secs as f64;
        self.users.entry(user).or_default().push(ratio);
        self.all.push(ratio);
    }

    /// The ratio that this part of a user's last jobs, 0 to 1, did not exceed; `None` for one without an
    /// ended job.
    pub fn quantile(&self, user: u32, part: f64) -> Option<f64> {
        let sorted = &self.users.get(&user)?.sorted;
        let rank = (part * sorted.len() as f64).ceil() as usize;
        sorted.get(rank.clamp(1, sorted.len()) - 1).copied()
    }

    /// A run time for a job of `user` that has run for `elapsed_secs` and has not ended: one of the
    /// user's ratios that are longer, times the limit; the limit where there are none. From
    /// `elapsed_secs` + 1, or 1, to `limit_secs`. `random` is any number, evenly distributed.
    pub fn draw(&self, user: u32, limit_secs: i64, elapsed_secs: i64, random: u64) -> i64 {
        let ratios = &self.users.get(&user).unwrap_or(&self.all).sorted;
        let least = elapsed_secs as f64 / limit_secs as f64;
        let longer = &ratios[ratios.partition_point(|ratio| *ratio <= least)..];
        // At most 100 of 2^64: as good as even.
        let drawn = match longer.len() as u64 {
            0 => limit_secs,
            count => (longer[(random % count) as usize] * limit_secs as f64).round() as i64,
        };
        drawn.max(elapsed_secs + 1).min(limit_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(run_secs: i64) -> Job {
        Job {
            submit: 0,
            run_secs,
            limit_secs: 100,
            processors: 1,
        }
    }

    #[test]
    fn draws_are_of_the_users_own_ratios() {
        let mut history = RunTimes::default();
        history.ended(1, &job(20));
        history.ended(1, &job(60));
        history.ended(2, &job(5));
        let mut rng = fastrand::Rng::with_seed(1);
        let mut draws = |user, elapsed| {
            let mut found: Vec<i64> = (0..64)
                .map(|_| history.draw(user, 1000, elapsed, rng.u64(..)))
                .collect();
            found.sort_unstable();
            found.dedup();
            found
        };
        assert_eq!(draws(1, 0), [200, 600]);
        // It has run longer than the shorter ones.
        assert_eq!(draws(1, 200), [600]);
        // Longer than all: to its limit.
        assert_eq!(draws(1, 700), [1000]);
        // A new user has those of all.
        assert_eq!(draws(3, 0), [50, 200, 600]);
        // It is over in this second.
        assert_eq!(draws(1, 1000), [1000]);
    }

    #[test]
    fn old_jobs_are_forgotten() {
        let mut history = RunTimes::default();
        history.ended(1, &job(20));
        (0..KEPT).for_each(|_| history.ended(1, &job(60)));
        let mut rng = fastrand::Rng::with_seed(1);
        assert!((0..200).all(|_| history.draw(1, 100, 0, rng.u64(..)) == 60));
    }
}
