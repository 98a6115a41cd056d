//! Usage of the last pass, estimated from the printed columns where RawUsage has grown since.

use super::ShareReport;
use super::bounds::Bounds;
use fairtree::compat::{Compat, Release};
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Ranking, compute};
use fairtree::tree::AssocIndex;
use fairtree_model::input::sshare::Listing;
use fairtree_model::listed::ListedTree;

/// The numbers of the pass that the printed factors are of.
pub(super) struct AtPass {
    /// Level fairshare and factor by row; `None`: those of the report.
    computed: Option<Vec<AssocFairshare>>,
    /// The factors that Slurm's own plugin gives, by row; `None` under rankings that it does not have.
    stock: Option<Vec<AssocFairshare>>,
}

impl AtPass {
    /// The numbers of a listing.
    pub(super) fn new(
        listing: &Listing,
        report: &ShareReport,
        forest: &ListedTree,
        bounds: &Bounds,
    ) -> AtPass {
        let raw = (!bounds.charged.is_empty()).then(|| raw_usage(listing, forest, bounds));
        let stock_compat = match report.compat {
            Compat::Documented => Compat::Slurm(Release::V24_11_5),
            slurm @ Compat::Slurm(_) => slurm,
        };
        let of = |ranking, compat| {
            compute(
                ranking,
                compat,
                &forest.tree,
                raw.as_deref().unwrap_or(&forest.raw),
            )
        };
        let fair_tree = report.ranking == Ranking::FAIR_TREE;
        AtPass {
            computed: raw.is_some().then(|| of(report.ranking, report.compat)),
            stock: fair_tree.then(|| of(Ranking::FAIR_TREE, stock_compat)),
        }
    }

    /// The factor of a row.
    pub(super) fn fs_factor(&self, report: &ShareReport, row: usize) -> Option<f64> {
        match &self.computed {
            Some(computed) => computed[row].fs_factor,
            None => report.rows[row].fs_factor.value(),
        }
    }

    /// Level fairshare of a row.
    pub(super) fn level_fs(&self, report: &ShareReport, row: usize) -> Option<f64> {
        match &self.computed {
            Some(computed) => computed[row].level_fs.map(Extended::to_f64),
            None => report.rows[row].level_fs.value(),
        }
    }

    /// The factor that Slurm's own plugin gives a row.
    pub(super) fn stock_factor(&self, row: usize) -> Option<f64> {
        self.stock.as_ref()?[row].fs_factor
    }
}

/// Raw usage of the pass by position, in units of the root's.
fn raw_usage(listing: &Listing, forest: &ListedTree, bounds: &Bounds) -> Vec<Extended> {
    let mut raw = forest.raw.clone();
    for &index in forest.tree.parents_first() {
        let at: usize = AssocIndex::get(index);
        if at >= listing.rows.len() {
            continue;
        }
        let (Some(part), Some(parent)) = (bounds.at_pass[at], forest.fs_parent(at)) else {
            continue;
        };
        let part = match listing.rows[at].raw_usage {
            Some(0) if part.low == 0.0 => 0.0,
            _ => part.low + (part.high.min(1.0) - part.low) / 2.0,
        };
        if let Some(part) = Extended::from_f64(part) {
            raw[at] = raw[parent] * part;
        }
    }
    raw
}
