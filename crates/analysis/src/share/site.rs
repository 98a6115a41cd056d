//! The report of a site that is wholly known.

use super::listing::{ROOT_EFFECTIVE_USAGE, root_norm_shares};
use super::{Claimed, Figure, ShareReport, ShareRow};
use fairtree::compat::Compat;
use fairtree::engine::Standings;
use fairtree::extended::Extended;
use fairtree::fairshare::{Ranking, compute_again};
use fairtree::tree::{AssocIndex, AssocKind, Shares};
use fairtree_model::input::site::Site;
use fairtree_model::input::sshare::RowKind;

/// Computes the report of a site, with another ranking or compatibility than its settings' if
/// asked for.
pub fn from_site(site: &Site, ranking: Ranking, compat: Compat) -> ShareReport {
    let (tree, raw, entitlement) = (&site.tree, site.raw_usage.raw(), site.entitlement());
    let by = (ranking, &entitlement);
    let computed = compute_again(by, compat, tree, raw, Vec::new());
    let standings = Standings::new(by, tree, &computed).with_places(by, compat, raw);
    let in_all = tree.root().map_or(0.0, |root| raw[root.get()].to_f64());
    let compares = ranking.columns().entitled;
    let row = |(at, row): (usize, &fairtree_model::input::site::SiteRow)| {
        let assoc = site.tree.rows()[at];
        let parent = site.tree.parent(AssocIndex::new(at));
        let root = parent.is_none();
        let figures = &computed[at];
        let standing = standings.of(AssocIndex::new(at));
        let claimed = Claimed::of(&standing, in_all, compares, root);
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
            entitled: claimed.entitled,
            due: claimed.due,
            used_ratio: claimed.used_ratio,
            share_of_whole: claimed.share_of_whole,
            place: claimed.place,
            grp_tres_mins: row.grp_tres_mins.clone(),
            grp_tres_raw: row.grp_tres_raw.clone(),
            tres_run_mins: row.tres_run_mins.clone(),
        }
    };
    ShareReport {
        source: site.file.clone(),
        ranking,
        compat,
        are_entitled: standings.are_entitled(),
        rows: site.rows.iter().enumerate().map(row).collect(),
        gaps: Vec::new(),
        assumptions: site.assumptions.clone(),
    }
}
