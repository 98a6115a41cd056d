//! Shares, usage and fair-share factors, in sshare's columns.
//!
//! [`from_site`] computes a report of a site that is wholly known. [`from_listed`] recomputes
//! what `sshare` printed from its RawShares and RawUsage, as far as its rows allow: where they do
//! not, the printed number stays and a [`Gap`] says why.

mod agreement;
mod at_pass;
mod bounds;
mod check;
mod doubt;
mod growth;
mod listing;
mod oblivious;
mod order;
mod own_row;
mod parts;
mod prefer_printed;
mod rank_check;
mod ranks;
mod select;
mod since;
mod site;

pub use agreement::{Agreement, Difference, Skipped, Verdict};
pub use bounds::Charged;
pub use check::check;
pub use listing::{Fractions, from_listed, ranking_of, rates_accounts};
pub use select::{Select, select};
pub use site::from_site;

use fairtree::compat::Compat;
use fairtree::engine::{Claim, Standing};
use fairtree::fairshare::{Place, Ranking};
use fairtree::tree::Shares;
use fairtree_model::input::sshare::{Column, RowKind};

/// A number of a report, and where it comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Figure {
    /// The association has none: FairShare of an account under Fair Tree, LevelFS of the root.
    #[default]
    Blank,
    /// Computed by the engine; or of [`Fractions::Printed`], where usage that was cut off after the
    /// point leaves several numbers, the printed one of them.
    Computed(f64),
    /// Could not be computed; this is what the input says. A [`Gap`] tells why.
    Printed(f64),
    /// Could not be computed, and the input does not say. A [`Gap`] tells why.
    Unknown,
}

impl Figure {
    /// The number, wherever it comes from.
    pub const fn value(self) -> Option<f64> {
        match self {
            Figure::Computed(value) | Figure::Printed(value) => Some(value),
            Figure::Blank | Figure::Unknown => None,
        }
    }
}

/// One association.
#[derive(Clone, Debug)]
pub struct ShareRow {
    /// Account or user.
    pub kind: RowKind,
    /// The row of the account above; `None` for the root and where it is not known.
    pub parent: Option<usize>,
    /// Whether this is the root.
    pub root: bool,
    /// How deep the input draws the row, where the row above it is not known; else 0.
    pub margin: usize,
    /// Account; for a user the account that the user is in. `None` where the input has no names.
    pub account: Option<String>,
    /// User.
    pub user: Option<String>,
    /// Cluster.
    pub cluster: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// Number of the association.
    pub id: Option<u32>,
    /// Raw shares; `None` for the root, and where they are not known.
    pub raw_shares: Option<Shares>,
    /// Raw usage, whole TRES-seconds, cut off after the point; `None` where it is not known.
    pub raw_usage: Option<u64>,
    /// Normalised shares, 0..=1.
    pub norm_shares: Figure,
    /// Normalised usage, 0..=1.
    pub norm_usage: Figure,
    /// Effective usage, from 0 up.
    pub effective_usage: Figure,
    /// Level fairshare, 0..=infinity.
    pub level_fs: Figure,
    /// Fair-share factor, 0..=1.
    pub fs_factor: Figure,
    /// The time that it is entitled to, TRES-seconds ([`Claim::Entitled`]); blank where that is not
    /// known, and under rankings that do not compare with it.
    pub entitled: Figure,
    /// What is due to it, TRES-seconds: the part of what was used that it has of the whole
    /// ([`Claim::Due`]); blank under rankings that do not compare with it.
    pub due: Figure,
    /// What it used over what it is entitled to, or else over what is due, from 0 up; blank where it
    /// is entitled to nothing.
    pub used_ratio: Figure,
    /// Its part of the whole, 0..=1.
    pub share_of_whole: Figure,
    /// Its place among those that it competes with; `None` where that is not known.
    pub place: Option<Place>,
    /// TRES-minutes that may be used, as `name=count,name=count`.
    pub grp_tres_mins: Option<String>,
    /// TRES-minutes that were used, in the same form.
    pub grp_tres_raw: Option<String>,
    /// TRES-minutes that running jobs may still use, in the same form.
    pub tres_run_mins: Option<String>,
}

impl ShareRow {
    /// Its name in reports: `alice@physics` for a user, `physics` for an account.
    pub fn name(&self) -> String {
        let account = self.account.as_deref().unwrap_or("?");
        match (&self.user, self.kind) {
            (Some(user), _) => format!("{user}@{account}"),
            (None, RowKind::User) => format!("?@{account}"),
            (None, RowKind::Account) => account.to_owned(),
        }
    }

    /// Sets a figure; other columns than [`ShareRow::figure`] knows have none.
    fn set_figure(&mut self, column: Column, figure: Figure) {
        match column {
            Column::NormShares => self.norm_shares = figure,
            Column::NormUsage => self.norm_usage = figure,
            Column::EffectvUsage => self.effective_usage = figure,
            Column::LevelFs => self.level_fs = figure,
            Column::FairShare => self.fs_factor = figure,
            _ => {}
        }
    }

    /// The figure of a column of numbers that are derived; `None` for the other columns.
    pub const fn figure(&self, column: Column) -> Option<Figure> {
        match column {
            Column::NormShares => Some(self.norm_shares),
            Column::NormUsage => Some(self.norm_usage),
            Column::EffectvUsage => Some(self.effective_usage),
            Column::LevelFs => Some(self.level_fs),
            Column::FairShare => Some(self.fs_factor),
            Column::Entitled => Some(self.entitled),
            Column::Due => Some(self.due),
            Column::UsedRatio => Some(self.used_ratio),
            Column::Account
            | Column::Cluster
            | Column::GrpTresMins
            | Column::GrpTresRaw
            | Column::Id
            | Column::Partition
            | Column::RawShares
            | Column::RawUsage
            | Column::TresRunMins
            | Column::User => None,
        }
    }
}

/// Figures of one column that could not be computed, for one reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The column.
    pub column: Column,
    /// The reason.
    pub why: String,
    /// The rows, ascending.
    pub rows: Vec<usize>,
}

/// A report on shares.
#[derive(Clone, Debug)]
pub struct ShareReport {
    /// Name of the input.
    pub source: String,
    /// How shares and usage became factors.
    pub ranking: Ranking,
    /// Whose behaviour was followed.
    pub compat: Compat,
    /// Whether associations are known to be entitled to a time.
    pub are_entitled: bool,
    /// One row per association, in order, parents before children.
    pub rows: Vec<ShareRow>,
    /// What could not be computed. Empty for a site.
    pub gaps: Vec<Gap>,
    /// What the computation took for granted, one sentence each.
    pub assumptions: Vec<String>,
}

impl ShareReport {
    /// The column of what use is compared with; `None`: the ranking does not compare them.
    pub fn claim(&self) -> Option<Column> {
        let compares = self.ranking.columns().entitled;
        compares.then_some(match self.are_entitled {
            true => Column::Entitled,
            false => Column::Due,
        })
    }
}

/// What a row shows of a standing.
#[derive(Clone, Copy, Debug)]
struct Claimed {
    entitled: Figure,
    due: Figure,
    used_ratio: Figure,
    share_of_whole: Figure,
    place: Option<Place>,
}

impl Claimed {
    const UNKNOWN: Claimed = Claimed {
        entitled: Figure::Unknown,
        due: Figure::Unknown,
        used_ratio: Figure::Unknown,
        share_of_whole: Figure::Unknown,
        place: None,
    };

    /// `compares`: the ranking compares use with it. Nothing competes with the root.
    fn of(standing: &Standing, in_all: f64, compares: bool, root: bool) -> Claimed {
        let shown = |value: Option<f64>| match value.filter(|_| compares && !root) {
            Some(value) => Figure::Computed(value),
            None => Figure::Blank,
        };
        Claimed {
            entitled: shown(match standing.claim {
                Claim::Entitled(secs) => Some(secs),
                Claim::Due(_) => None,
            }),
            due: shown(Some(match standing.claim {
                Claim::Entitled(_) => standing.share_of_whole * in_all,
                Claim::Due(secs) => secs,
            })),
            used_ratio: shown(standing.ratio),
            share_of_whole: Figure::Computed(standing.share_of_whole),
            place: standing.place,
        }
    }
}
