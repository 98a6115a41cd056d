//! What a listing of sshare says, recomputed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::prefer_printed::prefer_printed;
use super::{Claimed, Figure, Gap, ShareReport, ShareRow};
use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::engine::Standings;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Ranking, Whole, compute_again};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Capacity, entitlement};
use fairtree_model::input::sshare::{Column, Link, Listing, Printed, RowKind, SshareRow, links};
use fairtree_model::listed::Listed;

/// Which number a report has where usage that was cut off after the point leaves several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fractions {
    /// The one that the engine computes from whole TRES-seconds.
    Computed,
    /// The printed one: slurmctld knows the fractions.
    Printed,
}

/// Recomputes a listing's derived columns from its RawShares and RawUsage. `config`: settings whose
/// policy gives accounts minutes; `None`: none are known.
pub fn from_listed(
    listed: &Listed<'_>,
    compat: Compat,
    config: Option<&Config>,
    fractions: Fractions,
) -> ShareReport {
    let (listing, ranking) = (listed.listing(), listed.ranking());
    let (tree, raw) = (&listed.tree().tree, &listed.tree().raw[..]);
    let find = |name: &str| listed.account(name);
    let entitlement = config.map(|config| entitlement(config, Capacity::Unknown, tree, find));
    let entitlement = entitlement.unwrap_or_default();
    let by = (ranking, &entitlement);
    let computed = compute_again(by, compat, tree, raw, Vec::new());
    let mut standings = Standings::new(by, tree, &computed);
    if listed.is_order_known() {
        standings = standings.with_places(by, compat, raw);
    }
    let mut recomputation = Recomputation {
        in_all: tree.root().map_or(0.0, |root| raw[root.get()].to_f64()),
        gaps: Gaps::default(),
        computed: &computed,
        are_entitled: standings.are_entitled(),
        standings,
        ranking,
        listed,
    };
    let all = 0..listing.rows.len();
    let rows: Vec<ShareRow> = all.map(|at| recomputation.row(at)).collect();
    let mut report = ShareReport {
        source: listing.file.clone(),
        ranking,
        compat,
        are_entitled: recomputation.are_entitled,
        rows,
        gaps: recomputation.gaps.list,
        assumptions: listed.assumptions(),
    };
    if fractions == Fractions::Printed {
        prefer_printed(listed, &mut report);
    }
    report
}

/// Gathers gaps by column and reason.
#[derive(Default)]
struct Gaps {
    list: Vec<Gap>,
    /// Positions in `list`.
    known: HashMap<(Column, String), usize>,
}

impl Gaps {
    fn add(&mut self, column: Column, why: String, row: usize) {
        match self.known.entry((column, why)) {
            Entry::Occupied(known) => self.list[*known.get()].rows.push(row),
            Entry::Vacant(new) => {
                self.list.push(Gap {
                    column,
                    why: new.key().1.clone(),
                    rows: vec![row],
                });
                new.insert(self.list.len() - 1);
            }
        }
    }
}

struct Recomputation<'a> {
    listed: &'a Listed<'a>,
    ranking: Ranking,
    computed: &'a [AssocFairshare],
    standings: Standings<'a>,
    are_entitled: bool,
    /// TRES-seconds.
    in_all: f64,
    gaps: Gaps,
}

impl Recomputation<'_> {
    fn row(&mut self, at: usize) -> ShareRow {
        let listing = self.listed.listing();
        let (row, link) = (&listing.rows[at], self.listed.links()[at]);
        let root = self.listed.is_root(at);
        let claimed = self.claimed(at, root);
        ShareRow {
            kind: link.kind,
            parent: link.parent,
            root,
            margin: if link.parent.is_none() { row.depth } else { 0 },
            account: row.account.clone(),
            user: row.user.clone(),
            cluster: row.cluster.clone().or_else(|| listing.cluster.clone()),
            partition: row.partition.clone(),
            id: row.id,
            raw_shares: row.raw_shares,
            raw_usage: row.raw_usage,
            norm_shares: self.norm_shares(at, row, root),
            norm_usage: self.norm_usage(at, row, root),
            effective_usage: self.effective_usage(at, row, root),
            level_fs: self.level_fs(at, row),
            fs_factor: self.fs_factor(at, row),
            entitled: claimed.entitled,
            due: claimed.due,
            used_ratio: claimed.used_ratio,
            share_of_whole: claimed.share_of_whole,
            place: claimed.place,
            grp_tres_mins: row.grp_tres_mins.clone(),
            grp_tres_raw: row.grp_tres_raw.clone(),
            tres_run_mins: row.tres_run_mins.clone(),
        }
    }

    /// What a standing says of it; unknown where a level above it is not listed whole.
    fn claimed(&self, at: usize, root: bool) -> Claimed {
        if !self.listed.is_path_known(at) {
            return Claimed::UNKNOWN;
        }
        let compares = self.ranking.columns().entitled;
        Claimed::of(&self.standings.of(index(at)), self.in_all, compares, root)
    }

    /// The computed number, or what is printed and the reason.
    fn figure(
        &mut self,
        column: Column,
        at: usize,
        value: f64,
        printed: Option<Printed>,
    ) -> Figure {
        let Some(why) = self.listed.why_unknown(column, at) else {
            return Figure::Computed(value);
        };
        self.left(column, at, why, printed)
    }

    /// What is printed, for a reason.
    fn left(&mut self, column: Column, at: usize, why: String, printed: Option<Printed>) -> Figure {
        let shown = self.listed.listing().has(column);
        self.gaps.add(column, why, at);
        match printed {
            Some(printed) => Figure::Printed(printed.value),
            None if shown => Figure::Blank,
            None => Figure::Unknown,
        }
    }

    /// A number that the association does not have under this ranking; what is printed all the same.
    fn none(&mut self, column: Column, at: usize, printed: Option<Printed>) -> Figure {
        match printed {
            None => Figure::Blank,
            printed => {
                let why = "this ranking gives the row none".to_owned();
                self.left(column, at, why, printed)
            }
        }
    }

    fn norm_shares(&mut self, at: usize, row: &SshareRow, root: bool) -> Figure {
        if root {
            return Figure::Computed(root_norm_shares(self.ranking));
        }
        let value = self.computed[at].norm_shares;
        self.figure(Column::NormShares, at, value, row.norm_shares)
    }

    fn norm_usage(&mut self, at: usize, row: &SshareRow, root: bool) -> Figure {
        if root {
            // slurmctld computes none for the root, and sshare leaves it blank.
            return self.none(Column::NormUsage, at, row.norm_usage);
        }
        let value = self.computed[at].norm_usage.to_f64();
        self.figure(Column::NormUsage, at, value, row.norm_usage)
    }

    fn effective_usage(&mut self, at: usize, row: &SshareRow, root: bool) -> Figure {
        if root {
            return Figure::Computed(ROOT_EFFECTIVE_USAGE);
        }
        let value = self.computed[at].effective_usage.to_f64();
        self.figure(Column::EffectvUsage, at, value, row.effective_usage)
    }

    fn level_fs(&mut self, at: usize, row: &SshareRow) -> Figure {
        if !self.listed.has_level_fs(at) {
            // sshare prints 0 where there is none.
            let printed = row.level_fs.filter(|printed| printed.value != 0.0);
            return self.none(Column::LevelFs, at, printed);
        }
        let value = self.computed[at].level_fs.map_or(0.0, Extended::to_f64);
        self.figure(Column::LevelFs, at, value, row.level_fs)
    }

    fn fs_factor(&mut self, at: usize, row: &SshareRow) -> Figure {
        if !self.listed.has_fs_factor(at) {
            return self.none(Column::FairShare, at, row.fs_factor);
        }
        if self.listed.is_root(at) && row.raw_usage.is_none() {
            let why = "RawUsage of the root is not listed".to_owned();
            return self.left(Column::FairShare, at, why, row.fs_factor);
        }
        let value = self.computed[at].fs_factor.unwrap_or(0.0);
        self.figure(Column::FairShare, at, value, row.fs_factor)
    }
}

/// NormShares of the root: it has no siblings, and sshare prints 0 under Fair Tree, else 1.
pub(super) fn root_norm_shares(ranking: Ranking) -> f64 {
    match ranking.whole() {
        Whole::Above => 0.0,
        Whole::Root => 1.0,
    }
}

/// EffectvUsage of the root: all of itself.
pub(super) const ROOT_EFFECTIVE_USAGE: f64 = 1.0;

/// The ranking that a listing was made with: Fair Tree gives accounts no FairShare, and the root no
/// share of its own. Outside Fair Tree sshare of 25.11 and later prints no FairShare of accounts
/// either, but the root has the whole.
pub fn ranking_of(listing: &Listing) -> Ranking {
    let links = links(listing);
    let has_the_whole = |(row, link): (&SshareRow, &Link)| {
        let whole = row.norm_shares.is_some_and(|shares| shares.value == 1.0);
        link.parent.is_none() && link.kind == RowKind::Account && row.raw_shares.is_none() && whole
    };
    let root = listing.rows.iter().zip(&links).any(has_the_whole);
    let users_shown = listing.has(Column::User);
    // Without names of users a row is surely an account's where others are below it.
    let mut above = vec![users_shown; listing.rows.len()];
    links
        .iter()
        .filter_map(|link| link.parent)
        .for_each(|parent| above[parent] = true);
    let rated = |at: usize| {
        links[at].kind == RowKind::Account && above[at] && listing.rows[at].fs_factor.is_some()
    };
    if users_shown && root || (0..links.len()).any(rated) {
        Ranking::classic(1)
    } else {
        Ranking::FAIR_TREE
    }
}

/// Whether sshare has printed a FairShare of accounts. True where it shows no FairShare at all.
pub fn rates_accounts(listing: &Listing) -> bool {
    !listing.has(Column::FairShare) || any_rated_account(listing)
}

fn any_rated_account(listing: &Listing) -> bool {
    let links = links(listing);
    let rated =
        |(row, link): (&SshareRow, &Link)| link.kind == RowKind::Account && row.fs_factor.is_some();
    listing.rows.iter().zip(&links).any(rated)
}

/// The row of an index.
pub(super) fn index(row: usize) -> AssocIndex {
    AssocIndex::new(row)
}
