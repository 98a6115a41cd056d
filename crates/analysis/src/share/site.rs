//! The report of a site that is wholly known.

use super::listing::{ROOT_EFFECTIVE_USAGE, root_norm_shares};
use super::{Figure, ShareReport, ShareRow, entitled};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{Entitlement, Ranking};
use fairtree::tree::{AssocIndex, AssocKind, Shares};
use fairtree_model::cluster::entitlement;
use fairtree_model::input::site::Site;
use fairtree_model::input::sshare::RowKind;

/// What the associations of a site are entitled to.
pub(crate) fn entitlement_of(site: &Site) -> Entitlement {
    let find = |name: &str| {
        let mut rows = site.rows.iter();
        let is = |row: &fairtree_model::input::site::SiteRow| {
            row.user.is_none() && row.account.eq_ignore_ascii_case(name)
        };
        rows.position(is).map(AssocIndex::new)
    };
    entitlement(&site.config.accounts, find)
}

/// Computes the report of a site, with another ranking or compatibility than its settings' if
/// asked for.
pub fn from_site(site: &Site, ranking: Ranking, compat: Compat) -> ShareReport {
    let entitlement = entitlement_of(site);
    let raw = site.ledger.raw();
    let computed = entitled::computed(ranking, compat, &entitlement, &site.tree, raw);
    let entitled = entitled::figures(ranking, &entitlement, &site.tree, raw);
    let row = |(at, row): (usize, &fairtree_model::input::site::SiteRow)| {
        let assoc = site.tree.rows()[at];
        let parent = site.tree.parent(AssocIndex::new(at));
        let root = parent.is_none();
        let figures = &computed[at];
        // sshare leaves LevelFS of `parent` blank.
        let level_fs = figures.level_fs.filter(|_| assoc.shares != Shares::Parent);
        ShareRow {
            kind: match assoc.kind {
                AssocKind::Account => RowKind::Account,
                AssocKind::User => RowKind::User,
            },
            parent: parent.map(AssocIndex::get),
            root,
            margin: 0,
            account: Some(row.account.clone()),
            user: row.user.clone(),
            cluster: site.cluster.clone(),
            partition: row.partition.clone(),
            id: Some(assoc.id),
            raw_shares: (!root).then_some(assoc.shares),
            raw_usage: Some(site.raw_usage(at).to_u64_truncated()),
            norm_shares: Figure::Computed(if root {
                root_norm_shares(ranking)
            } else {
                figures.norm_shares
            }),
            // slurmctld computes none for the root, and sshare leaves it blank.
            norm_usage: if root {
                Figure::Blank
            } else {
                Figure::Computed(figures.norm_usage.to_f64())
            },
            effective_usage: Figure::Computed(if root {
                ROOT_EFFECTIVE_USAGE
            } else {
                figures.effective_usage.to_f64()
            }),
            level_fs: level_fs.map_or(Figure::Blank, |fs| Figure::Computed(Extended::to_f64(fs))),
            fs_factor: figures.fs_factor.map_or(Figure::Blank, Figure::Computed),
            entitled: entitled.as_ref().map_or(Figure::Blank, |all| all[at].0),
            used_ratio: entitled.as_ref().map_or(Figure::Blank, |all| all[at].1),
            grp_tres_mins: row.grp_tres_mins.clone(),
            grp_tres_raw: row.grp_tres_raw.clone(),
            tres_run_mins: row.tres_run_mins.clone(),
        }
    };
    ShareReport {
        source: site.file.clone(),
        ranking,
        compat,
        rows: site.rows.iter().enumerate().map(row).collect(),
        gaps: Vec::new(),
        assumptions: site.assumptions.clone(),
    }
}
