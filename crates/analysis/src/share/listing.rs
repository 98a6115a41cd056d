//! What a listing of sshare says, recomputed.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use super::forest::Forest;
use super::level::Levels;
use super::{Figure, Gap, ShareReport, ShareRow, ranks};
use fairtree::compat::Compat;
use fairtree::extended::Extended;
use fairtree::fairshare::{Algorithm, AssocFairshare};
use fairtree::tree::{AssocIndex, Shares};
use fairtree_model::input::sshare::{Column, Link, Listing, Printed, Row, RowKind, links};
use fairtree_model::input::{InputError, Problem};

/// Recomputes a listing's derived columns from its RawShares and RawUsage.
///
/// # Errors
/// A drawing that is no tree (more rows than ids).
pub fn from_listing(
    listing: &Listing,
    algorithm: Algorithm,
    compat: Compat,
) -> Result<ShareReport, InputError> {
    let links = links(listing);
    let forest = Forest::new(listing, &links)
        .map_err(|error| InputError::new(&listing.file, Problem::Structure(error.to_string())))?;
    let levels = Levels::new(listing, &forest, algorithm);
    let mut recomputation = Recomputation {
        listing,
        computed: forest.compute(algorithm, compat),
        ranks: ranks::why_not(listing, &links, &forest, &levels),
        path: path_whys(&forest, &levels),
        gaps: Gaps::default(),
        algorithm,
        forest,
        levels,
    };
    let rows: Vec<ShareRow> = (0..listing.rows.len())
        .map(|at| recomputation.row(at, links[at]))
        .collect();
    let assumptions = assumptions(listing, &rows);
    Ok(ShareReport {
        source: listing.file.clone(),
        algorithm,
        compat,
        rows,
        gaps: recomputation.gaps.list,
        assumptions,
    })
}

/// For each row, why some level above it is not whole; classic fair share needs them all.
fn path_whys(forest: &Forest, levels: &Levels) -> Vec<Option<String>> {
    let mut whys: Vec<Option<String>> = vec![None; forest.tree.len()];
    for &index in forest.tree.parents_first() {
        let at = index.get();
        if Some(at) == forest.root && forest.stand_in.is_none() || Some(index) == forest.stand_in {
            continue;
        }
        let parent = forest.fs_parent(at);
        let above = parent.and_then(|parent| whys[parent].clone());
        whys[at] = above.or_else(|| levels.why(parent).map(str::to_owned));
    }
    whys
}

fn assumptions(listing: &Listing, rows: &[ShareRow]) -> Vec<String> {
    let mut said = Vec::new();
    let by_level = |row: &ShareRow| !row.root && matches!(row.norm_shares, Figure::Computed(_));
    if rows.iter().any(by_level) {
        said.push(
            "levels that nothing in the listing contradicts are taken for whole: idle users that \
             were not printed (sshare without -a) leave no trace"
                .to_owned(),
        );
    }
    if listing.depth_hidden {
        said.push(
            "Account is printed flush right, which hides who is under whom: print it flush left \
             (-o Account%-30) or with -P"
                .to_owned(),
        );
    }
    said
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
    listing: &'a Listing,
    algorithm: Algorithm,
    forest: Forest,
    levels: Levels,
    computed: Vec<AssocFairshare>,
    /// Why the order of all users is not known.
    ranks: Option<String>,
    /// Why some level above a row is not whole.
    path: Vec<Option<String>>,
    gaps: Gaps,
}

impl Recomputation<'_> {
    fn row(&mut self, at: usize, link: Link) -> ShareRow {
        let row = &self.listing.rows[at];
        let root = Some(at) == self.forest.root;
        ShareRow {
            kind: link.kind,
            parent: link.parent,
            root,
            margin: if link.parent.is_none() { row.depth } else { 0 },
            account: row.account.clone(),
            user: row.user.clone(),
            cluster: row.cluster.clone().or_else(|| self.listing.cluster.clone()),
            partition: row.partition.clone(),
            id: row.id,
            raw_shares: row.raw_shares,
            raw_usage: row.raw_usage,
            norm_shares: self.norm_shares(at, root),
            norm_usage: self.norm_usage(at, root),
            effective_usage: self.effective_usage(at, root),
            level_fs: self.level_fs(at, root),
            fs_factor: self.fs_factor(at, link, root),
            grp_tres_mins: row.grp_tres_mins.clone(),
            grp_tres_raw: row.grp_tres_raw.clone(),
            tres_run_mins: row.tres_run_mins.clone(),
        }
    }

    /// The computed number, or what is printed and the reason.
    fn figure(
        &mut self,
        column: Column,
        at: usize,
        value: f64,
        why: Option<String>,
        printed: Option<Printed>,
    ) -> Figure {
        let Some(why) = why else {
            return Figure::Computed(value);
        };
        let shown = self.listing.has(column);
        self.gaps.add(column, why, at);
        match printed {
            Some(printed) => Figure::Printed(printed.value),
            None if shown => Figure::Blank,
            None => Figure::Unknown,
        }
    }

    fn norm_shares(&mut self, at: usize, root: bool) -> Figure {
        if root {
            return Figure::Computed(root_norm_shares(self.algorithm));
        }
        let why = self.why_norm_shares(at);
        let printed = self.listing.rows[at].norm_shares;
        self.figure(
            Column::NormShares,
            at,
            self.computed[at].norm_shares,
            why,
            printed,
        )
    }

    fn why_norm_shares(&self, at: usize) -> Option<String> {
        if self.algorithm != Algorithm::FairTree {
            return self.path[at].clone();
        }
        let parent = self.forest.fs_parent(at);
        // `parent` takes the value of the account that the shares come from.
        let level = match (self.listing.rows[at].raw_shares, parent) {
            (Some(Shares::Parent), Some(above)) if Some(above) == self.forest.root => return None,
            (Some(Shares::Parent), Some(above)) => self.forest.fs_parent(above),
            _ => parent,
        };
        self.levels.why(level).map(str::to_owned)
    }

    /// Why a row's usage over another's is not known.
    fn why_usage(&self, at: usize, of: Option<usize>, missing: &str) -> Option<String> {
        let rows = &self.listing.rows;
        if !self.listing.has(Column::RawUsage) {
            return Some("RawUsage is not among the columns".into());
        }
        let Some(of) = of else {
            return Some(missing.to_owned());
        };
        let blank = [at, of]
            .into_iter()
            .find(|&row| rows[row].raw_usage.is_none())?;
        Some(format!(
            "RawUsage of {} is blank",
            super::level::name(&rows[blank])
        ))
    }

    fn norm_usage(&mut self, at: usize, root: bool) -> Figure {
        if root {
            // slurmctld computes none for the root, and sshare leaves it blank.
            return Figure::Blank;
        }
        let why = self.why_usage(at, self.forest.root, "the root is not listed");
        let value = self.computed[at].norm_usage.to_f64();
        let printed = self.listing.rows[at].norm_usage;
        self.figure(Column::NormUsage, at, value, why, printed)
    }

    fn effective_usage(&mut self, at: usize, root: bool) -> Figure {
        if root {
            return Figure::Computed(ROOT_EFFECTIVE_USAGE);
        }
        let why = self.why_effective_usage(at);
        let value = self.computed[at].effective_usage.to_f64();
        let printed = self.listing.rows[at].effective_usage;
        self.figure(Column::EffectvUsage, at, value, why, printed)
    }

    fn why_effective_usage(&self, at: usize) -> Option<String> {
        let usage = self.why_usage(at, self.forest.fs_parent(at), super::level::ACCOUNT_MISSING);
        match self.algorithm {
            Algorithm::FairTree => usage,
            _ => usage
                .or_else(|| self.path[at].clone())
                .or_else(|| self.why_no_whole_tree()),
        }
    }

    fn why_no_whole_tree(&self) -> Option<String> {
        let lost = self.forest.stand_in.is_some();
        lost.then(|| {
            "classic fair share needs the whole tree, and rows above are not listed".into()
        })
    }

    fn level_fs(&mut self, at: usize, root: bool) -> Figure {
        let fair_tree = self.algorithm == Algorithm::FairTree;
        // sshare leaves the cell of `parent` blank, too.
        if !fair_tree || root || self.listing.rows[at].raw_shares == Some(Shares::Parent) {
            return Figure::Blank;
        }
        let why = self
            .why_norm_shares(at)
            .or_else(|| self.why_effective_usage(at));
        let value = self.computed[at].level_fs.map_or(0.0, Extended::to_f64);
        let printed = self.listing.rows[at].level_fs;
        self.figure(Column::LevelFs, at, value, why, printed)
    }

    fn fs_factor(&mut self, at: usize, link: Link, root: bool) -> Figure {
        let why = match self.algorithm {
            Algorithm::FairTree if link.kind == RowKind::Account => return Figure::Blank,
            Algorithm::FairTree => self.ranks.clone(),
            _ if root => self.why_no_whole_tree(),
            _ => self
                .why_norm_shares(at)
                .or_else(|| self.why_effective_usage(at)),
        };
        let value = self.computed[at].fs_factor.unwrap_or(0.0);
        let printed = self.listing.rows[at].fs_factor;
        self.figure(Column::FairShare, at, value, why, printed)
    }
}

/// NormShares of the root: it has no siblings, and sshare prints 0 under Fair Tree, else 1.
pub(super) fn root_norm_shares(algorithm: Algorithm) -> f64 {
    match algorithm {
        Algorithm::FairTree => 0.0,
        _ => 1.0,
    }
}

/// EffectvUsage of the root: all of itself.
pub(super) const ROOT_EFFECTIVE_USAGE: f64 = 1.0;

/// The algorithm that a listing was made with: Fair Tree gives accounts no FairShare.
pub fn algorithm_of(listing: &Listing) -> Algorithm {
    let links = links(listing);
    let account_has_factor =
        |(row, link): (&Row, &Link)| link.kind == RowKind::Account && row.fs_factor.is_some();
    let users_shown = listing.has(Column::User);
    if users_shown && listing.rows.iter().zip(&links).any(account_has_factor) {
        Algorithm::Classic { dampening: 1 }
    } else {
        Algorithm::FairTree
    }
}

/// The row of an index.
pub(super) fn index(row: usize) -> AssocIndex {
    AssocIndex::new(row)
}
