//! One term of a priority: a factor, its weight, and the points that they give.

use std::fmt;

use fairtree::priority::{Factor, Term as EngineTerm};
use serde::{Serialize, Serializer};

use super::Formula;

/// Which term; in Slurm's order of additions, TRES by name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TermName {
    /// A factor with one weight: any but [`Factor::Tres`].
    Factor(Factor),
    /// One TRES, by its name (`cpu`, `gres/gpu`).
    Tres(String),
    /// All TRES that the listing does not show, together.
    OtherTres,
    /// Site factor.
    Site,
    /// Nice value, subtracted.
    Nice,
}

impl fmt::Display for TermName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermName::Factor(factor) => f.pad(factor.name()),
            TermName::Tres(name) => f.pad(&format!("{}/{name}", Factor::Tres.name())),
            TermName::OtherTres => f.pad("other TRES"),
            TermName::Site => f.pad(EngineTerm::Site.name()),
            TermName::Nice => f.pad(EngineTerm::Nice.name()),
        }
    }
}

/// As the word that [`TermName`] displays as.
impl Serialize for TermName {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// One term of the sum.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Term {
    /// Which one.
    pub name: TermName,
    /// The factor, 0..=1, or a raw number under a `NO_NORMAL_...` flag; 0 where the weight is 0,
    /// because the engine then does not look at it. `None` for site and nice, which have none.
    pub factor: Option<f64>,
    /// The weight of slurm.conf; `None` for site and nice.
    pub weight: Option<f64>,
    /// Points added to the priority: `factor * weight`; for a nice value, its opposite.
    pub points: f64,
    /// How the factor came about.
    pub formula: Formula,
}

impl Term {
    /// True where the site gave the factor no weight.
    pub fn is_unweighted(&self) -> bool {
        self.weight == Some(0.0)
    }
}
