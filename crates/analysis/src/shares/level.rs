//! One level of a site: the children of an account side by side.

use serde::Serialize;

use super::score::{Basis, Score};
use fairtree::compat::Compat;
use fairtree::config::MinutesFrom;
use fairtree::engine::{Claim, Standings};
use fairtree::fairshare::{Entitlement, Ranking};
use fairtree::tree::{AssocIndex, AssocKind, Shares};
use fairtree_model::cluster::{Cluster, FindError, Names};

/// The part of an association, its use and its place.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelRow {
    /// Its name in reports.
    pub name: String,
    /// The account, or the account that the user is in.
    pub account: String,
    /// The user; `None` for an account.
    pub user: Option<String>,
    /// The partition that the association is for.
    pub partition: Option<String>,
    /// Name of the account directly above; empty for the root. Not that of the level for children of an
    /// account with `FairShare=parent`, which compete on the level above it.
    pub parent: String,
    /// Raw shares; `None`: `parent`, which JSON says in this word.
    #[serde(serialize_with = "shares_word")]
    pub raw_shares: Option<u32>,
    /// Minutes that it was given.
    pub minutes: Option<u64>,
    /// True if its minutes are no part of those of the account above: they count other use, that of a
    /// plan of its own.
    pub apart: bool,
    /// Its part of the level, 0..=1; `None` for `FairShare=parent`.
    pub share_of_level: Option<f64>,
    /// Its part of the whole, 0..=1; `None` as above.
    pub share_of_whole: Option<f64>,
    /// TRES-seconds that it is entitled to; `None`: not known, `due` counts.
    pub entitled: Option<f64>,
    /// TRES-seconds that are due to it of what was used; `None`: it is entitled to a time.
    pub due: Option<f64>,
    /// TRES-seconds used.
    pub used: f64,
    /// Used over one of these; `None`: it is entitled to nothing, or has no part of its own.
    pub used_ratio: Option<f64>,
    /// Its score under the ranking.
    pub score: Score,
    /// Fair-share factor, 0..=1; `None` for accounts under rankings by places.
    pub fs_factor: Option<f64>,
    /// Its place among those that it competes with, 1 the first; `None`: it does not compete.
    pub place: Option<u64>,
    /// How many places there are; 0 without one.
    pub of: u64,
    /// Number of associations directly below it.
    pub children: usize,
}

impl LevelRow {
    /// TRES-seconds that it is entitled to or that are due to it; `None` for `FairShare=parent`.
    pub fn claim(&self) -> Option<f64> {
        self.entitled.or(self.due)
    }
}

/// All rows of a level that compete, together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Sum {
    /// Raw shares of those without minutes.
    pub raw_shares: u64,
    /// Minutes.
    pub minutes: u64,
    /// Parts of the level, 0..=1.
    pub share_of_level: f64,
    /// Parts of the whole, 0..=1.
    pub share_of_whole: f64,
    /// TRES-seconds that they are entitled to, or that are due to them.
    pub claim: f64,
    /// TRES-seconds used, also by users with `FairShare=parent`.
    pub used: f64,
}

/// Minutes of a level.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Minutes {
    /// Where they are given: in a policy file, or as shares.
    #[serde(serialize_with = "minutes_word")]
    pub from: MinutesFrom,
    /// Minutes that the account above is entitled to; `None`: no account above has minutes, so that
    /// nothing limits them.
    pub of_account: Option<f64>,
    /// Minutes given to its children together; where the account has minutes, without those that are `apart`.
    pub given: u64,
    /// Minutes left to give out; below 0: the children exceed the account. `None` as above.
    pub left: Option<f64>,
    /// Number of children without minutes that divide what is left.
    pub sharing: usize,
}

/// The children of an account.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Name of the input.
    pub source: String,
    /// The ranking: `fair_tree`, `classic`, `least_used:2` ...
    #[serde(serialize_with = "by_display")]
    pub ranking: Ranking,
    /// The behaviour that is followed: `documented`, `slurm:RELEASE`.
    #[serde(serialize_with = "compat_word")]
    pub compat: Compat,
    /// The part with which scores compare use.
    pub basis: Basis,
    /// The account above the level.
    pub account: LevelRow,
    /// Minutes of the level; `None` where nobody has minutes.
    pub minutes: Option<Minutes>,
    /// Its children, in the order of the tree; those of a child with `FairShare=parent` after it.
    pub rows: Vec<LevelRow>,
    /// Those that compete, together.
    pub sum: Sum,
    /// Assumptions, in sentences.
    pub assumptions: Vec<String>,
}

impl Level {
    /// Returns true if associations are entitled to a time; false: only what is due is known.
    pub fn is_entitled(&self) -> bool {
        self.account.entitled.is_some()
    }
}

/// The level below `account`; `None`: below the root.
///
/// # Errors
/// [`FindError::Unknown`]: no account has this name.
pub fn level(cluster: &Cluster, account: Option<&str>) -> Result<Level, FindError> {
    let above = match account {
        Some(name) => Some(cluster.find_account(name)?),
        None => cluster.tree().root(),
    };
    let unknown = || FindError::Unknown {
        source_name: cluster.source.clone(),
        what: "account",
        name: "root".to_owned(),
        allowed: "a site with accounts".to_owned(),
    };
    let above = above.ok_or_else(unknown)?;
    Ok(Reader::new(cluster).level(above))
}

/// Reads levels of one cluster.
pub(super) struct Reader<'a> {
    cluster: &'a Cluster,
    entitlement: Entitlement,
    standings: Standings<'a>,
    /// Children of each association, the last first.
    below: Vec<Vec<AssocIndex>>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(cluster: &'a Cluster) -> Reader<'a> {
        let tree = cluster.tree();
        let mut below = vec![Vec::new(); tree.len()];
        for index in tree.indices().rev() {
            if let Some(parent) = tree.parent(index) {
                below[parent.get()].push(index);
            }
        }
        Reader {
            entitlement: cluster.entitlement(),
            standings: cluster.standings(),
            below,
            cluster,
        }
    }

    pub(super) fn level(&self, above: AssocIndex) -> Level {
        let (cluster, tree) = (self.cluster, self.cluster.tree());
        let (mut rows, mut sum) = (Vec::new(), Sum::default());
        let mut open = self.below[above.get()].clone();
        while let Some(index) = open.pop() {
            let row = self.row(index);
            let aside = row.raw_shares.is_none() && row.minutes.is_none();
            if aside && row.user.is_none() {
                open.extend(&self.below[index.get()]);
            } else {
                sum.used += row.used;
            }
            if row.minutes.is_none() {
                sum.raw_shares += u64::from(row.raw_shares.unwrap_or(0));
            }
            sum.minutes += row.minutes.unwrap_or(0);
            sum.share_of_level += row.share_of_level.unwrap_or(0.0);
            sum.share_of_whole += row.share_of_whole.unwrap_or(0.0);
            sum.claim += row.claim().unwrap_or(0.0);
            rows.push(row);
        }
        let ranking = cluster.config.ranking();
        let account = self.row(above);
        let entitled = account.entitled.unwrap_or(0.0);
        let compares = ranking.columns().entitled;
        let budget = self.entitlement.budget(tree, above, entitled);
        let minutes = budget.filter(|_| compares).map(|budget| Minutes {
            from: cluster.config.minutes(),
            of_account: budget.minutes,
            given: match budget.minutes {
                Some(_) => budget.given,
                // Nothing limits the minutes of plans either.
                None => rows.iter().filter_map(|row| row.minutes).sum(),
            },
            left: budget.minutes.map(|has| has - budget.given as f64),
            sharing: rows
                .iter()
                .filter(|row| row.minutes.is_none() && row.raw_shares.is_some())
                .count(),
        });
        Level {
            source: cluster.source.clone(),
            ranking,
            compat: cluster.config.compat,
            basis: Basis::of(ranking),
            account,
            minutes,
            rows,
            sum,
            assumptions: cluster.assumptions.clone(),
        }
    }

    fn row(&self, index: AssocIndex) -> LevelRow {
        let (cluster, tree) = (self.cluster, self.cluster.tree());
        let (row, name) = (tree.rows()[index.get()], cluster.name(index));
        let standing = self.standings.of(index);
        let minutes = self.entitlement.seconds(index).map(|secs| secs / 60);
        let is_root = tree.parent(index).is_none();
        let has_part = is_root || minutes.is_some() || row.shares != Shares::Parent;
        let own = |value: f64| has_part.then_some(value);
        let (entitled, due) = match standing.claim {
            Claim::Entitled(secs) => (own(secs), None),
            Claim::Due(secs) => (None, own(secs)),
        };
        let found = &cluster.fairshare[index.get()];
        let parent = tree.parent(index).map(|parent| cluster.assoc(parent));
        LevelRow {
            name: cluster.assoc(index),
            account: name.account.clone(),
            user: name.user.clone(),
            partition: name.partition.clone(),
            parent: parent.unwrap_or_default(),
            raw_shares: row.shares.raw(),
            minutes,
            apart: self.entitlement.is_apart(index),
            share_of_level: own(standing.share_of_level),
            share_of_whole: own(standing.share_of_whole),
            entitled,
            due,
            used: standing.used,
            used_ratio: standing.ratio.filter(|_| has_part),
            score: match has_part {
                _ if is_root => Score::ROOT,
                true => Score::of(cluster.config.ranking(), found, &standing),
                false => Score::PARENT,
            },
            fs_factor: match row.kind {
                AssocKind::Account if cluster.config.ranking().is_ranked() => None,
                _ => standing.fs_factor,
            },
            place: standing.place.map(|place| place.place),
            of: standing.place.map_or(0, |place| place.of),
            children: self.below[index.get()].len(),
        }
    }
}

fn shares_word<S: serde::Serializer>(
    value: &Option<u32>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        None => serializer.serialize_str("parent"),
        Some(shares) => serializer.serialize_u32(*shares),
    }
}

fn minutes_word<S: serde::Serializer>(
    value: &MinutesFrom,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(match value {
        MinutesFrom::File => "file",
        MinutesFrom::Shares => "shares",
    })
}

fn by_display<S: serde::Serializer>(value: &Ranking, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn compat_word<S: serde::Serializer>(value: &Compat, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Compat::Documented => serializer.serialize_str("documented"),
        Compat::Slurm(release) => serializer.collect_str(&format_args!("slurm:{release}")),
    }
}
