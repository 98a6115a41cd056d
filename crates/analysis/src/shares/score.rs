//! The score of an association: its use against its part, by the rule of the ranking.

use serde::Serialize;

use fairtree::engine::Standing;
use fairtree::fairshare::{AssocFairshare, FactorFormula, Ranking};

/// The part with which use is compared in a score.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The time that it is entitled to, or that is due to it: `least_used`.
    Claim,
    /// Its part of the level: `fair_tree`, `weighted_walk`.
    Level,
    /// Its part of the whole, with the use of its account: `classic`, `depth_oblivious`.
    Whole,
    /// Its part of the whole, by difference: `difference`.
    Difference,
}

impl Basis {
    /// The basis of the scores of a ranking.
    pub fn of(ranking: Ranking) -> Basis {
        match ranking.formula() {
            _ if ranking.columns().entitled => Basis::Claim,
            FactorFormula::Difference => Basis::Difference,
            FactorFormula::Power { .. } => Basis::Whole,
            FactorFormula::Rank => Basis::Level,
        }
    }
}

/// Use against the part that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Grade {
    /// Nothing was used.
    Unused,
    /// Less was used than is due.
    Under,
    /// As much was used as is due, to two decimals of the ratio.
    At,
    /// More was used than is due.
    Over,
    /// Nothing is due: it comes after all others.
    EntitledToNothing,
    /// `FairShare=parent`: it does not compete by a part of its own.
    Parent,
    /// The root: it has the whole, and nobody beside it.
    Root,
}

/// A score.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Score {
    /// Use against the part that is due.
    pub grade: Grade,
    /// Used over due, from 0 up; `None`: nothing is due, or it has no part of its own.
    pub ratio: Option<f64>,
    /// Used less due, parts of the whole, -1..=1; only of [`Basis::Difference`].
    pub excess: Option<f64>,
}

impl Score {
    /// The score of `FairShare=parent`.
    pub const PARENT: Score = Score {
        grade: Grade::Parent,
        ratio: None,
        excess: None,
    };

    /// The score of the root.
    pub const ROOT: Score = Score {
        grade: Grade::Root,
        ..Score::PARENT
    };

    /// The score of an association with shares or minutes of its own.
    pub fn of(ranking: Ranking, found: &AssocFairshare, standing: &Standing) -> Score {
        let effective = found.effective_usage.to_f64();
        let over = |used: f64, due: f64| (due > 0.0).then(|| used / due);
        let ratio = match Basis::of(ranking) {
            Basis::Claim => standing.ratio,
            Basis::Level => standing.level_fs.and_then(|level_fs| over(1.0, level_fs)),
            Basis::Whole | Basis::Difference => over(effective, found.norm_shares),
        };
        let difference = Basis::of(ranking) == Basis::Difference;
        Score {
            grade: grade(ratio),
            ratio,
            excess: difference.then_some(effective - found.norm_shares),
        }
    }
}

fn grade(ratio: Option<f64>) -> Grade {
    match ratio {
        None => Grade::EntitledToNothing,
        Some(0.0) => Grade::Unused,
        Some(ratio) if (ratio * 100.0).round() == 100.0 => Grade::At,
        Some(ratio) if ratio < 1.0 => Grade::Under,
        Some(_) => Grade::Over,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The words of docs/policies/classic.md.
    #[test]
    fn grades() {
        for (ratio, expected) in [
            (None, Grade::EntitledToNothing),
            (Some(0.0), Grade::Unused),
            (Some(0.8), Grade::Under),
            (Some(0.9949), Grade::Under),
            (Some(0.996), Grade::At),
            (Some(1.0), Grade::At),
            (Some(4.22), Grade::Over),
        ] {
            assert_eq!(grade(ratio), expected, "{ratio:?}");
        }
    }

    #[test]
    fn each_ranking_has_a_basis() {
        for (ranking, basis) in [
            ("fair_tree", Basis::Level),
            ("weighted_walk", Basis::Level),
            ("classic", Basis::Whole),
            ("depth_oblivious", Basis::Whole),
            ("difference", Basis::Difference),
            ("least_used:2", Basis::Claim),
        ] {
            let ranking = Ranking::parse(ranking).unwrap();
            assert_eq!(Basis::of(ranking), basis);
        }
    }
}
