//! One pass: usage, ranks, priorities. Knows no host, no clock, no files.
//!
//! [`pass`] does the three in the order of the algorithm and returns what a host publishes.
//! A host that keeps usage elsewhere calls the steps one by one: [`fade`], [`accrue()`], [`rank`],
//! [`publish`] and [`crate::priority::Pricer`]. One that runs passes often keeps a [`LevelRanks`] and
//! calls [`publish_changed`] instead of the two in the middle, at a cost that goes with what
//! changed.
//!
//! | step | Fair Tree, and documented | classic under `compat=slurm` |
//! |---|---|---|
//! | accounts' effective usage | of usage up to now | of usage before this pass |
//! | users' effective usage | of usage up to now | of usage when their first job is priced: jobs are charged and priced one after the other |
//! | first pass, or the clock stepped back | all steps | nothing at all |
//!
//! [`queue`] answers machines that ask "what next?", and so does [`on_demand`], with reservations.
//!
//! Source: `_decay_thread` and `fair_tree_decay` of priority/multifactor.

mod accrue;
mod classic;
mod follow;
pub mod on_demand;
pub mod queue;

use crate::config::Config;
use crate::fairshare::{self, AssocFairshare, HostMath, Kept, LevelRanks};
use crate::priority::{Job, Priced, Pricer, PriorityError, Site};
use crate::tree::Tree;
use crate::usage::{Charge, Decay, Ledger, Period};

#[cfg(feature = "slurm")]
pub(crate) use accrue::Charged;
pub use accrue::{Accruing, Refused, accrue, fade};
#[cfg(feature = "slurm")]
pub(crate) use classic::ClassicPass;
pub use follow::Follower;

/// What a pass looks at.
#[derive(Clone, Copy, Debug)]
pub struct PassInput<'a> {
    /// Settings.
    pub config: &'a Config,
    /// Associations.
    pub tree: &'a Tree,
    /// Jobs that used resources since the last pass, in the order of the host's job list.
    pub accruing: &'a [Accruing],
    /// Jobs to price, in the same order.
    pub jobs: &'a [Job],
    /// For each of `jobs`, how many of `accruing` stand before it in the host's job list, itself
    /// included; only classic fair share under `compat=slurm` asks. `None`: all do.
    pub accruing_before: Option<&'a [usize]>,
    /// What the host's records keep from before, one per association by position; only
    /// `compat=slurm` asks. `None`: as if all had been computed just before this pass.
    pub kept: Option<&'a [Kept]>,
    /// Functions of the host's C library; only `compat=slurm` asks.
    pub host_math: HostMath,
    /// The last pass, seconds since 1970; `None`: there was none.
    pub last_ran: Option<i64>,
    /// Now, seconds since 1970.
    pub now: i64,
}

/// What a pass found.
#[derive(Clone, Debug, PartialEq)]
pub struct Pass {
    /// For each accruing job what it was charged, `None` where nothing (see
    /// [`crate::usage::charge`]) or refused.
    pub charges: Vec<Option<Charge>>,
    /// Charges that are no numbers; they changed nothing.
    pub refused: Vec<Refused>,
    /// Fair share, one per association by position.
    pub fairshare: Vec<AssocFairshare>,
    /// Associations, by position, whose effective usage stock leaves to whoever asks for it
    /// after the pass; empty but for classic fair share under `compat=slurm`.
    pub left_open: Vec<bool>,
    /// One per job; `None`: all priorities stay as they are.
    pub priced: Option<Vec<Priced>>,
    /// What `last_ran` is for the next pass. Documented: never earlier than before, so that no
    /// time is charged twice when the clock steps back.
    pub last_ran: i64,
}

/// One pass at `input.now`: lets the usage of `ledger` fade, charges the accruing jobs, ranks
/// all associations, writes their factors to `site.assocs` and prices the jobs. A usage reset
/// that is due comes before (see [`crate::usage::ResetSchedule`] and [`Ledger::reset`]).
///
/// # Errors
/// Those of [`Pricer::new`] and [`Site::check_job`]; nothing was changed.
///
/// # Panics
/// When `ledger`, `site.assocs` or `kept` do not have the size of the tree, or
/// `accruing_before` not that of the jobs.
pub fn pass(
    input: &PassInput,
    ledger: &mut Ledger,
    site: &mut Site,
) -> Result<Pass, PriorityError> {
    let config = input.config;
    check(input, ledger, site)?;
    if !config.ranking().keeps_levels() {
        return classic::pass(input, ledger, site);
    }
    let decay = decay(config);
    fade(ledger, &decay, input.last_ran, input.now);
    let period = Period::pass(input.last_ran, input.now);
    let (charges, refused) = accrue(input.tree, ledger, &decay, &period, input.accruing);
    let fairshare = match input.kept {
        Some(kept) if config.compat.is_slurm() => {
            let norm_shares = kept.iter().map(|kept| kept.norm_shares).collect();
            fairshare::stock_fair_tree(input.tree, norm_shares, ledger.raw())
        }
        _ => rank(config, input.tree, ledger),
    };
    publish(&fairshare, site);
    let last_ran = match input.last_ran {
        Some(last_ran) if !config.compat.is_slurm() => last_ran.max(input.now),
        _ => input.now,
    };
    Ok(Pass {
        charges,
        refused,
        fairshare,
        left_open: Vec::new(),
        priced: Some(price_all(input, site)?),
        last_ran,
    })
}

/// Finds what would stop a pass, before it begins.
fn check(input: &PassInput, ledger: &Ledger, site: &Site) -> Result<(), PriorityError> {
    let size = input.tree.len();
    assert_eq!((ledger.raw().len(), site.assocs.len()), (size, size));
    assert!(
        input
            .accruing_before
            .is_none_or(|before| before.len() == input.jobs.len())
    );
    assert!(input.kept.is_none_or(|kept| kept.len() == size));
    Pricer::new(input.config, site, input.now)?;
    input.jobs.iter().try_for_each(|job| site.check_job(job))
}

/// How usage fades under these settings.
pub fn decay(config: &Config) -> Decay {
    Decay::new(config.priority_decay_half_life_secs, config.compat)
}

/// Fair share of all associations, one per association by position.
pub fn rank(config: &Config, tree: &Tree, ledger: &Ledger) -> Vec<AssocFairshare> {
    fairshare::compute(config.ranking(), config.compat, tree, ledger.raw())
}

/// Writes fair-share factors to the table that pricing reads; 0 where there is none.
///
/// Panics when the tables differ in size.
pub fn publish(fairshare: &[AssocFairshare], site: &mut Site) {
    assert_eq!(fairshare.len(), site.assocs.len());
    for (found, assoc) in fairshare.iter().zip(&mut site.assocs) {
        assoc.fs_factor = found.fs_factor.unwrap_or(0.0);
    }
}

/// Writes the factors that the last update of `ranking` changed, and no others.
///
/// Panics when the table is too short.
pub fn publish_changed(ranking: &LevelRanks, site: &mut Site) {
    for &index in ranking.changed() {
        site.assocs[index.get()].fs_factor = ranking.fs_factor(index).unwrap_or(0.0);
    }
}

fn price_all(input: &PassInput, site: &Site) -> Result<Vec<Priced>, PriorityError> {
    let mut priced = vec![Priced::default(); input.jobs.len()];
    Pricer::new(input.config, site, input.now)?.price_all(input.jobs, &mut priced);
    Ok(priced)
}

#[cfg(test)]
mod tests;
