//! One term of a priority: a factor, its weight, and the points that they give.

use std::fmt;

use serde::{Serialize, Serializer};

use super::Formula;

/// Which term.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TermName {
    /// Time waited.
    Age,
    /// Priority of the association.
    Assoc,
    /// Fair share.
    Fairshare,
    /// Job size.
    JobSize,
    /// Partition.
    Partition,
    /// QOS.
    Qos,
    /// One TRES, by its name (`cpu`, `gres/gpu`).
    Tres(String),
    /// Site factor.
    Site,
    /// Nice value, subtracted.
    Nice,
}

impl fmt::Display for TermName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TermName::Age => f.pad("age"),
            TermName::Assoc => f.pad("assoc"),
            TermName::Fairshare => f.pad("fairshare"),
            TermName::JobSize => f.pad("job_size"),
            TermName::Partition => f.pad("partition"),
            TermName::Qos => f.pad("qos"),
            TermName::Tres(name) => f.pad(&format!("tres/{name}")),
            TermName::Site => f.pad("site"),
            TermName::Nice => f.pad("nice"),
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
    /// What it adds to the priority: `factor * weight`. Of a nice value, its opposite.
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
