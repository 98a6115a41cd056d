//! Job priorities and their factors, in sprio's columns.
//!
//! [`from_queue`] takes what `sprio` printed, adds every row up anew and shows where PRIORITY does
//! not follow from the factors beside it. Printed factors are rounded to whole points, so they
//! give the sum no closer than half a point each.

mod check;
mod compared;
mod listing;
mod prefer_printed;
mod rows;
mod select;
mod snapshot;

pub use check::{Agreement, Difference, Verdict, check};
pub use compared::{Apart, Compared, compare};
pub use listing::from_queue;
pub use rows::PrioRows;
pub use select::{Select, SelectError, SortKey, parse_sort, select};
pub use snapshot::{from_site, from_snapshot};

pub use super::share::Figure;
use crate::explain::line::OrderWord;
use fairtree::config::Config;
use fairtree_model::input::sprio::{Factor, Weights};

/// The largest priority, which normalised priorities are a part of.
pub const MAX_PRIORITY: f64 = 4_294_967_295.0;

/// The note beside weighted sums where `order=` decides; `None`: the sums decide.
pub fn order_note(config: &Config) -> Option<String> {
    let order = OrderWord::of(config.order())?.word();
    Some(format!(
        "order={order} decides which job comes first, and numbers waiting jobs by their places: their \
         Priority carries a place, and the weighted sums here do not count"
    ))
}

/// The part of a priority that one trackable resource gives.
#[derive(Clone, Debug, PartialEq)]
pub struct TresTerm<'a> {
    /// Name, as `cpu` or `gres/gpu`.
    pub name: &'a str,
    /// Points.
    pub points: Figure,
    /// Points over the weight.
    pub norm: Figure,
}

/// The end of a cell of resources that a column too narrow cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CutTres<'a> {
    /// As printed, `gres/g`.
    pub text: &'a str,
    /// Points of the resources that cannot be read, all together: what the sum lacks.
    pub points: Figure,
}

/// A job, or one partition of a job that asked for several.
#[derive(Clone, Debug, Default)]
pub struct PrioRow<'a> {
    /// Line of the input, from 1; `None` where it has no lines for jobs.
    pub line: Option<usize>,
    /// Job number.
    pub job_id: Option<u32>,
    /// Partition.
    pub partition: Option<&'a str>,
    /// Cluster.
    pub cluster: Option<&'a str>,
    /// User.
    pub user: Option<&'a str>,
    /// Account.
    pub account: Option<&'a str>,
    /// Name of the QOS.
    pub qos_name: Option<&'a str>,
    /// SLUID.
    pub sluid: Option<&'a str>,
    /// An administrator set the priority, so that it has no factors.
    pub set_by_hand: bool,
    /// The priority before it is cut to a whole number, at least 1.
    pub priority: Figure,
    /// Priority over [`MAX_PRIORITY`]; for a priority set by hand that priority, as in sprio.
    pub norm_priority: Figure,
    /// Points by [`Factor::index`]; for [`Factor::Tres`] the sum of `tres`.
    pub points: [Figure; 7],
    /// Points over the weight, by [`Factor::index`]; blank for [`Factor::Tres`].
    pub norm: [Figure; 7],
    /// Points by resource; those without points are left out.
    pub tres: Vec<TresTerm<'a>>,
    /// Where a column too narrow cut the resources.
    pub cut: Option<CutTres<'a>>,
    /// Site factor.
    pub site: Option<i64>,
    /// Nice value.
    pub nice: Option<i64>,
    /// The PRIORITY that the input prints, if it is not `priority`.
    pub printed: Option<f64>,
}

impl PrioRow<'_> {
    /// Its name in reports: `job 7 in main`.
    pub fn name(&self) -> String {
        let mut name = match self.job_id {
            Some(id) => format!("job {id}"),
            None => "a job".to_owned(),
        };
        if let Some(partition) = &self.partition {
            name.push_str(&format!(" in {partition}"));
        }
        if let Some(line) = self.line {
            name.push_str(&format!(" (line {line})"));
        }
        name
    }
}

/// A report on priorities.
#[derive(Clone, Debug, Default)]
pub struct PrioReport {
    /// Name of the input.
    pub source: String,
    /// Columns and forms as from 24.05 on: account and QOS in `-l`.
    pub names: bool,
    /// The input has normalised numbers alone, and nothing gives the weights: points are not known.
    pub normalised: bool,
    /// The factors that the site weighs, as far as the input shows, by [`Factor::index`].
    pub weighted: [bool; 7],
    /// The weights, if the input shows them.
    pub weights: Option<Weights>,
    /// The rows, in the order of the input.
    pub rows: PrioRows,
    /// Notes for the reader, one sentence each.
    pub notes: Vec<String>,
}

impl PrioReport {
    /// The weight of a factor; `None` where it is not known, and for [`Factor::Tres`].
    pub fn weight(&self, factor: Factor) -> Option<u32> {
        self.weights.as_ref()?.points[factor.index()]
    }
}
