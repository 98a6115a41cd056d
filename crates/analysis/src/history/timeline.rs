//! Share, use and fair-share factor over time.

use super::owners::{Placed, spread};
use super::{OwnerHistory, Series, captures};
use crate::share::{ShareReport, from_site};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Ranking, compute_again};
use fairtree::usage::RawUsage;

/// A site over time.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// The machine or the cluster.
    pub machine: Option<String>,
    /// The moments, seconds since 1970, ascending; at least one.
    pub times: Vec<i64>,
    /// The site at the last moment.
    pub latest: ShareReport,
    /// One per row of `latest`.
    pub courses: Vec<Course>,
    /// `PriorityDecayHalfLife` in seconds, 0 for none; `None` where it is not known.
    pub half_life_secs: Option<u32>,
    /// Length of the window in which usage counts, seconds; `None`: no window, or not known.
    pub window_secs: Option<u32>,
    /// Notes for the reader of the numbers, in sentences.
    pub notes: Vec<String>,
}

/// An association over time: one number per moment, `None` where it was not there, or had none.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Course {
    /// Normalised shares (sshare's NormShares).
    pub norm_shares: Series,
    /// Effective usage (EffectvUsage).
    pub effective_usage: Series,
    /// Fair-share factor (FairShare).
    pub fs_factor: Series,
}

impl Course {
    /// The mean of the effective usage that is known; 0 for none.
    pub fn mean_usage(&self) -> f64 {
        let known = self.effective_usage.iter().flatten();
        match known.clone().count() {
            0 => 0.0,
            count => known.sum::<f64>() / count as f64,
        }
    }
}

/// The timeline of a report without a past.
impl From<ShareReport> for Timeline {
    fn from(latest: ShareReport) -> Timeline {
        Timeline {
            machine: latest.rows.iter().find_map(|row| row.cluster.clone()),
            times: vec![0],
            courses: latest.rows.iter().map(captures::course).collect(),
            half_life_secs: None,
            window_secs: None,
            notes: latest.assumptions.clone(),
            latest,
        }
    }
}

/// Gives `each` every moment of a history, and the engine's results then, one per row of the site: of
/// moments that are not kept. As [`from_history`] otherwise.
pub fn each_moment(
    history: &OwnerHistory,
    placed: &Placed,
    ranking: Ranking,
    compat: Compat,
    each: &mut dyn FnMut(i64, &[AssocFairshare]),
) {
    let site = &placed.site;
    let entitlement = site.entitlement();
    let mut found = Vec::new();
    history.walk(|time, used| {
        let own = spread(&placed.positions, used, site.tree.len());
        let raw_usage =
            RawUsage::from_own(&site.tree, &own).unwrap_or_else(|_| RawUsage::new(&site.tree));
        let by = (ranking, &entitlement);
        let spare = std::mem::take(&mut found);
        found = compute_again(by, compat, &site.tree, raw_usage.raw(), spare);
        each(time, &found);
    });
}

/// The engine's results for a history, step by step, under the settings of its site except for
/// `ranking` and `compat`.
///
/// Usage follows the usage model of the history, of half-lives as [`fairtree::usage::Decay`] documents
/// it; `compat` selects the ranking.
pub fn from_history(
    history: &OwnerHistory,
    placed: &Placed,
    ranking: Ranking,
    compat: Compat,
) -> Timeline {
    let site = &placed.site;
    let mut courses = vec![Course::default(); site.rows.len()];
    each_moment(history, placed, ranking, compat, &mut |_, found| {
        for (course, found) in courses.iter_mut().zip(found) {
            course.norm_shares.push(Some(found.norm_shares));
            course
                .effective_usage
                .push(Some(Extended::to_f64(found.effective_usage)));
            course.fs_factor.push(found.fs_factor);
        }
    });
    Timeline {
        machine: site.cluster.clone(),
        times: history.times(),
        latest: from_site(site, ranking, compat),
        courses,
        half_life_secs: Some(history.half_life_secs()),
        window_secs: history.window_secs(),
        notes: placed.notes.clone(),
    }
}
