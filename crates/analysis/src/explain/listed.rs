//! A site to explain, made of a share report.

use crate::share::ShareReport;
use fairtree::config::{Config, PriorityFlags};
use fairtree::extended::Extended;
use fairtree::fairshare::Algorithm;
use fairtree::tree::{Assoc, AssocId, AssocKind, Shares, Tree};
use fairtree::usage::Ledger;
use fairtree_model::input::sshare::{Column, RowKind};

/// Settings, tree and usage, one association per row of the report and in its order.
#[derive(Clone, Debug)]
pub struct Listed {
    /// The report's algorithm and compatibility; otherwise slurm.conf's defaults.
    pub config: Config,
    /// The associations; numbers of their own, from 1.
    pub tree: Tree,
    /// Whole TRES-seconds, as sshare prints them.
    pub ledger: Ledger,
}

impl Listed {
    /// # Errors
    /// A sentence on what is missing: an explanation needs every association, with its shares and
    /// its usage, and ranks that whole TRES-seconds leave no doubt about.
    pub fn new(report: &ShareReport) -> Result<Listed, String> {
        let needed = [
            Column::NormShares,
            Column::EffectvUsage,
            Column::LevelFs,
            Column::FairShare,
        ];
        let mut gaps = report.gaps.iter();
        if let Some(gap) = gaps.find(|gap| needed.contains(&gap.column)) {
            let row = gap.rows.first().map(|row| report.rows[*row].name());
            let of = row.map_or(String::new(), |name| format!(" of {name}"));
            return Err(format!(
                "{}{of} is not known: {}",
                gap.column.name(),
                gap.why
            ));
        }
        let id = |row: usize| AssocId::try_from(row + 1).map_err(|_| "too many rows".to_owned());
        let mut rows = Vec::with_capacity(report.rows.len());
        let mut raw = Vec::with_capacity(report.rows.len());
        for (at, row) in report.rows.iter().enumerate() {
            let shares = match row.raw_shares {
                Some(shares) => shares,
                None if row.root => Shares::Raw(1),
                None => return Err(format!("RawShares of {} is not known", row.name())),
            };
            let usage = row.raw_usage;
            let usage = usage.ok_or_else(|| format!("RawUsage of {} is not known", row.name()))?;
            rows.push(Assoc {
                id: id(at)?,
                parent: row.parent.map(id).transpose()?,
                kind: match row.kind {
                    RowKind::Account => AssocKind::Account,
                    RowKind::User => AssocKind::User,
                },
                shares,
            });
            raw.push(Extended::from(usage));
        }
        let tree = Tree::from_rows(rows).map_err(|error| error.to_string())?;
        let ledger = Ledger::from_raw(&tree, &raw).map_err(|error| error.to_string())?;
        Ok(Listed {
            config: config(report),
            tree,
            ledger,
        })
    }
}

/// slurm.conf's defaults, with what the report followed.
fn config(report: &ShareReport) -> Config {
    let algorithm = report.algorithm;
    let dampening = match algorithm {
        Algorithm::FairTree => 1,
        Algorithm::Classic { dampening } | Algorithm::DepthOblivious { dampening } => dampening,
    };
    Config {
        compat: report.compat,
        priority_flags: PriorityFlags {
            no_fair_tree: algorithm != Algorithm::FairTree,
            depth_oblivious: matches!(algorithm, Algorithm::DepthOblivious { .. }),
            ..PriorityFlags::default()
        },
        fair_share_dampening_factor: dampening,
        ..Config::default()
    }
}
