//! Sums of jobs that run, and of what jobs have used.

use std::collections::HashMap;

use fairtree_model::machine::Limits;

/// Jobs and resources of some running jobs.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    pub(super) jobs: u32,
    pub(super) tres: HashMap<String, u64>,
    /// Resources times minutes of their limits.
    pub(super) limit_mins: HashMap<String, u64>,
}

impl Sum {
    pub(super) fn add(&mut self, tres: &[(String, u64)], mins: u64) {
        self.jobs += 1;
        for (name, count) in tres {
            *self.tres.entry(name.clone()).or_default() += count;
            *self.limit_mins.entry(name.clone()).or_default() += count * mins;
        }
    }

    pub(super) fn take(&mut self, tres: &[(String, u64)], mins: u64) {
        self.jobs = self.jobs.saturating_sub(1);
        for (name, count) in tres {
            for (of, less) in [
                (&mut self.tres, *count),
                (&mut self.limit_mins, count * mins),
            ] {
                let own = of.entry(name.clone()).or_default();
                *own = own.saturating_sub(less);
            }
        }
    }
}

/// Resources that some jobs have used, decayed like usage.
#[derive(Clone, Debug, Default)]
pub(super) struct Used {
    /// Seconds times count, by name.
    pub(super) tres_secs: HashMap<String, f64>,
    pub(super) wall_secs: f64,
}

impl Used {
    pub(super) fn add(&mut self, tres: &[(String, u64)], secs: f64) {
        self.wall_secs += secs;
        for (name, count) in tres {
            *self.tres_secs.entry(name.clone()).or_default() += *count as f64 * secs;
        }
    }

    pub(super) fn decay(&mut self, factor: f64) {
        self.wall_secs *= factor;
        self.tres_secs.values_mut().for_each(|secs| *secs *= factor);
    }

    /// Returns true if a limit on minutes is reached: that of `wall`, or of a resource.
    pub(super) fn reaches(&self, limits: &Limits) -> Option<&'static str> {
        let mins = |secs: f64| secs / 60.0;
        let of = |name: &str| self.tres_secs.get(name).copied().unwrap_or(0.0);
        let over = |(name, most): &(String, u64)| mins(of(name)) >= *most as f64;
        if limits.group_mins.0.iter().any(over) {
            return Some("GrpTRESMins");
        }
        let most = limits.group_wall_mins.map(f64::from);
        most.is_some_and(|most| mins(self.wall_secs) >= most)
            .then_some("GrpWall")
    }
}
