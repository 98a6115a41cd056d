//! Information that a listing of sshare has of its site, and that it lacks.
//!
//! A listing may lack rows and columns. [`Listed::why_unknown`] says for each figure that sshare
//! derives if it follows from RawShares and RawUsage of the rows, or why not;
//! [`Listed::whole_site`] is the site, if all of it is listed.

mod level;
mod ranks;
mod tree;

pub use level::MAX_GROWTH;
pub use tree::ListedTree;

use crate::cluster::AssocName;
use crate::input::sshare::{Column, Link, Listing, RowKind, SshareRow, links};
use crate::input::{InputError, Problem};
use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::fairshare::{EffectiveUsage, Ranking, Whole};
use fairtree::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree};
use fairtree::usage::RawUsage;
use level::Levels;

/// A listing, the tree that its rows draw, and what is missing from them.
#[derive(Debug)]
pub struct Listed<'a> {
    listing: &'a Listing,
    ranking: Ranking,
    links: Vec<Link>,
    tree: ListedTree,
    levels: Levels,
    /// Why the rows do not give the order of all users.
    ranks: Option<String>,
    /// Why the printed factors are not ranks of these users.
    factors: Option<String>,
    /// By row: why some level above it is not whole.
    path: Vec<Option<String>>,
}

/// A site without its queue: names, tree and usage, one association per position.
#[derive(Clone, Debug)]
pub struct WholeSite {
    /// Names of the associations.
    pub names: Vec<AssocName>,
    /// The tree of accounts and users.
    pub tree: Tree,
    /// Their usage.
    pub raw_usage: RawUsage,
}

impl<'a> Listed<'a> {
    /// Looks for what is missing from a listing whose factors are made by `ranking`.
    ///
    /// # Errors
    /// A drawing that is no tree (more rows than ids).
    pub fn new(listing: &'a Listing, ranking: Ranking) -> Result<Listed<'a>, InputError> {
        let links = links(listing);
        let tree = ListedTree::new(listing, &links).map_err(|error| {
            InputError::new(&listing.file, Problem::Structure(error.to_string()))
        })?;
        let levels = Levels::new(listing, &tree, ranking);
        Ok(Listed {
            ranks: ranks::why_not(listing, &links, &tree, &levels),
            factors: ranks::why_foreign(listing, &tree, ranking),
            path: path_whys(&tree, &levels),
            listing,
            ranking,
            links,
            tree,
            levels,
        })
    }

    /// The listing.
    pub fn listing(&self) -> &'a Listing {
        self.listing
    }

    /// Links between the rows, one per row.
    pub fn links(&self) -> &[Link] {
        &self.links
    }

    /// The rows as one tree.
    pub fn tree(&self) -> &ListedTree {
        &self.tree
    }

    /// How factors are made.
    pub fn ranking(&self) -> Ranking {
        self.ranking
    }

    /// The association of an account, in any case of letters.
    pub fn account(&self, name: &str) -> Option<AssocIndex> {
        let is = |(row, link): (&SshareRow, &Link)| {
            let account = row.account.as_deref().unwrap_or_default();
            link.kind == RowKind::Account && account.eq_ignore_ascii_case(name)
        };
        let mut rows = self.listing.rows.iter().zip(&self.links);
        rows.position(is).map(AssocIndex::new)
    }

    /// Whether the order of all users follows from what is listed.
    pub fn is_order_known(&self) -> bool {
        self.has_all_users() && self.factors.is_none()
    }

    /// Returns true if the order of all users follows from the rows, whatever factors they print.
    pub fn has_all_users(&self) -> bool {
        self.ranks.is_none()
    }

    /// Whether all levels from the root down to a row are listed whole.
    pub fn is_path_known(&self, row: usize) -> bool {
        self.path[row].is_none()
    }

    /// Whether a row is the root's.
    pub fn is_root(&self, row: usize) -> bool {
        Some(row) == self.tree.root
    }

    /// Why a figure of a row does not follow from what is listed; `None` where it does, where sshare
    /// leaves it blank, and of a column that is not derived.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn why_unknown(&self, column: Column, row: usize) -> Option<String> {
        let root = self.is_root(row);
        match column {
            Column::FairShare => self.why_fs_factor(row),
            _ if root => None,
            Column::NormShares => self.why_norm_shares(row),
            // slurmctld computes none for the root, and sshare leaves it blank.
            Column::NormUsage => self.why_usage(row, self.tree.root, "the root is not listed"),
            Column::EffectvUsage => self.why_effective_usage(row),
            Column::LevelFs if self.has_level_fs(row) => self.why_norm_and_effective(row),
            _ => None,
        }
    }

    /// Returns true if sshare prints a level fairshare of a row: under Fair Tree, except for the
    /// root and rows whose shares are `parent`.
    pub fn has_level_fs(&self, row: usize) -> bool {
        self.ranking.columns().level_fs
            && !self.is_root(row)
            && self.listing.rows[row].raw_shares != Some(Shares::Parent)
    }

    /// Returns true if sshare prints a factor of a row: not of accounts under Fair Tree.
    pub fn has_fs_factor(&self, row: usize) -> bool {
        self.ranking.columns().account_factor || self.links[row].kind == RowKind::User
    }

    fn why_norm_shares(&self, at: usize) -> Option<String> {
        if self.ranking.whole() == Whole::Root {
            return self.path[at].clone();
        }
        let parent = self.tree.fs_parent(at);
        // `parent` takes the value of the account that the shares come from.
        let level = match (self.listing.rows[at].raw_shares, parent) {
            (Some(Shares::Parent), Some(above)) if self.is_root(above) => return None,
            (Some(Shares::Parent), Some(above)) => self.tree.fs_parent(above),
            _ => parent,
        };
        self.levels.why(level).map(str::to_owned)
    }

    /// Reason why a row's usage over another's is not known.
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
            level::name(&rows[blank])
        ))
    }

    fn why_effective_usage(&self, at: usize) -> Option<String> {
        let usage = self.why_usage(at, self.tree.fs_parent(at), level::ACCOUNT_MISSING);
        match self.ranking.effective_usage() {
            EffectiveUsage::OfAbove | EffectiveUsage::OfSiblings => usage,
            EffectiveUsage::OfRoot | EffectiveUsage::Mixed | EffectiveUsage::Other => usage
                .or_else(|| self.path[at].clone())
                .or_else(|| self.why_no_whole_tree()),
        }
    }

    fn why_no_whole_tree(&self) -> Option<String> {
        let lost = self.tree.stand_in.is_some();
        let title = self.ranking.title();
        lost.then(|| format!("{title} needs the whole tree, and rows above are not listed"))
    }

    fn why_norm_and_effective(&self, at: usize) -> Option<String> {
        self.why_norm_shares(at)
            .or_else(|| self.why_effective_usage(at))
    }

    fn why_fs_factor(&self, at: usize) -> Option<String> {
        if !self.has_fs_factor(at) {
            None
        } else if self.ranking.is_ranked() {
            self.ranks.clone().or_else(|| self.factors.clone())
        } else if self.is_root(at) {
            self.why_no_whole_tree()
        } else {
            self.why_norm_and_effective(at)
        }
    }

    /// Assumptions of a computation from the listing, one sentence each.
    pub fn assumptions(&self) -> Vec<String> {
        let mut said = self.listing.notes.clone();
        let by_level =
            |row: usize| !self.is_root(row) && self.why_unknown(Column::NormShares, row).is_none();
        if (0..self.listing.rows.len()).any(by_level) {
            said.push(
                "assumes that the listing is complete: sshare without -a leaves out idle users"
                    .to_owned(),
            );
        }
        if self.listing.depth_hidden {
            said.push(
                "Account is printed flush right, which hides who is under whom: print it flush left \
                 (-o Account%-30) or with -P"
                    .to_owned(),
            );
        }
        said
    }

    /// slurm.conf's defaults, with the listing's ranking.
    pub fn config(&self) -> Config {
        let mut config = Config::default();
        config.set_ranking(self.ranking);
        config
    }

    /// The site, one association per row and in the order of the rows, numbered from 1. Usage is in
    /// whole TRES-seconds, as sshare prints it. Rows that could not be read are reported, and the
    /// site consists of the others.
    ///
    /// # Errors
    /// A sentence on what is missing: every association, with its shares and its usage, and ranks
    /// that whole TRES-seconds leave no doubt about.
    pub fn whole_site(&self) -> Result<WholeSite, String> {
        const NEEDED: [Column; 4] = [
            Column::NormShares,
            Column::EffectvUsage,
            Column::LevelFs,
            Column::FairShare,
        ];
        let told = self.listing.rows_left_out > 0;
        for row in (0..self.listing.rows.len()).filter(|_| !told) {
            for column in NEEDED {
                if let Some(why) = self.why_unknown(column, row) {
                    let name = self.name(row);
                    return Err(format!("{} of {name} is not known: {why}", column.name()));
                }
            }
        }
        self.site_of_rows()
    }

    /// The site that the rows make, as if nobody else were there: where some are not listed, parts of a
    /// level and ranks may be others than those of the cluster.
    ///
    /// # Errors
    /// A sentence on what is missing: the account above a row, its shares or its usage.
    pub fn site_of_rows(&self) -> Result<WholeSite, String> {
        let all = 0..self.listing.rows.len();
        if self.tree.stand_in.is_some() {
            return Err("the account above some rows is not listed".to_owned());
        }
        let rows: Vec<Assoc> = all
            .clone()
            .map(|row| self.assoc(row))
            .collect::<Result<_, _>>()?;
        let raw: Vec<Extended> = all
            .clone()
            .map(|row| self.usage(row))
            .collect::<Result<_, _>>()?;
        let tree = Tree::from_rows(rows).map_err(|error| error.to_string())?;
        let raw_usage = RawUsage::from_raw(&tree, &raw).map_err(|error| error.to_string())?;
        let name = |row: usize| {
            let row = &self.listing.rows[row];
            AssocName {
                account: row.account.clone().unwrap_or_default(),
                user: row.user.clone(),
                partition: row.partition.clone(),
            }
        };
        Ok(WholeSite {
            names: all.map(name).collect(),
            tree,
            raw_usage,
        })
    }

    fn assoc(&self, at: usize) -> Result<Assoc, String> {
        let id = |row: usize| AssocId::try_from(row + 1).map_err(|_| "too many rows".to_owned());
        let link = &self.links[at];
        let shares = match self.listing.rows[at].raw_shares {
            Some(shares) => shares,
            None if self.is_root(at) => Shares::Raw(1),
            None => return Err(format!("RawShares of {} is not known", self.name(at))),
        };
        Ok(Assoc {
            id: id(at)?,
            parent: link.parent.map(id).transpose()?,
            kind: match link.kind {
                RowKind::Account => AssocKind::Account,
                RowKind::User => AssocKind::User,
            },
            shares,
        })
    }

    fn usage(&self, at: usize) -> Result<Extended, String> {
        let usage = self.listing.rows[at].raw_usage;
        let usage = usage.ok_or_else(|| format!("RawUsage of {} is not known", self.name(at)))?;
        Ok(Extended::from(usage))
    }

    /// A row as people call it; `?` for what is not printed.
    fn name(&self, at: usize) -> String {
        let row = &self.listing.rows[at];
        let account = row.account.as_deref().unwrap_or("?");
        match (&row.user, self.links[at].kind) {
            (Some(user), _) => format!("{user}@{account}"),
            (None, RowKind::User) => format!("?@{account}"),
            (None, RowKind::Account) => account.to_owned(),
        }
    }
}

/// For each row, why some level above it is not whole; classic fair share needs them all.
fn path_whys(forest: &ListedTree, levels: &Levels) -> Vec<Option<String>> {
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
