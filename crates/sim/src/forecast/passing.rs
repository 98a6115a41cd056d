//! Time that passes on a cluster: what it is like after some hours, in each of several simulations.

use super::forecaster::{FEWEST_DRAWS, Forecaster};
use super::situation::Later;
use crate::slurm::site::Unpriced;

impl Forecaster {
    /// The cluster at a moment, seconds since 1970, in each simulation: goes to `take`, in their order.
    /// Without a past that shows how long jobs run there is one simulation, in which every job runs to its
    /// limit, and none comes. `draws`: simulations; `None`: as many as were asked for, or fewer where they
    /// take more steps than they may. Returns how many went to `take`; fewer where `go_on` said no.
    ///
    /// # Errors
    /// Settings that cannot be priced.
    pub fn later(
        &self,
        until: i64,
        draws: Option<usize>,
        go_on: &mut dyn FnMut() -> bool,
        take: &mut dyn FnMut(Later),
    ) -> Result<usize, Unpriced> {
        let situation = self.situation(None);
        let making = self.making();
        let mut most = match making.by_limits {
            true => 1,
            false => draws.unwrap_or(making.draws.max(1)),
        };
        let mut made = 0;
        while made < most {
            let draw = (!making.by_limits).then_some(made as u64);
            let Some(later) = situation.later(until, making.seed, draw, go_on)? else {
                break;
            };
            if made == 0 && draws.is_none() {
                let count = making.steps / later.steps.max(1);
                let count = usize::try_from(count).unwrap_or(usize::MAX);
                most = most.min(count.max(FEWEST_DRAWS));
            }
            take(later);
            made += 1;
        }
        Ok(made)
    }
}
