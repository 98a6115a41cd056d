//! The reports as JSON, for programs; the schema is described in `docs/json.md`.

use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeMap, SerializeSeq, Serializer};

use crate::json;
use fairtree_analysis::prio::{Figure, PrioReport, PrioRow};
use fairtree_model::input::sprio::Factor;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.prio/1";

/// Writes the rows shown of each report as one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, shown: &[(&PrioReport, Vec<usize>)]) -> std::io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        source: shown.first().map_or("", |(report, _)| &report.source),
        weights: shown.iter().map(|(report, _)| WeightsOf(report)).collect(),
        rows: PrioJsonRows { shown },
        notes: shown.iter().flat_map(|(report, _)| &report.notes).collect(),
    };
    json::write(out, &document)
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    source: &'a str,
    weights: Vec<WeightsOf<'a>>,
    rows: PrioJsonRows<'a>,
    notes: Vec<&'a String>,
}

/// The weights of one listing; `null` where none are known.
struct WeightsOf<'a>(&'a PrioReport);

impl Serialize for WeightsOf<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let Some(weights) = &self.0.weights else {
            return serializer.serialize_none();
        };
        let mut map = serializer.serialize_map(Some(7))?;
        for factor in Factor::ALL {
            match factor {
                Factor::Tres => map.serialize_entry(factor.name(), &weights.tres)?,
                _ => map.serialize_entry(factor.name(), &weights.points[factor.index()])?,
            }
        }
        map.end()
    }
}

/// The rows, written one by one.
struct PrioJsonRows<'a> {
    shown: &'a [(&'a PrioReport, Vec<usize>)],
}

impl Serialize for PrioJsonRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let count = self.shown.iter().map(|(_, rows)| rows.len()).sum();
        let mut sequence = serializer.serialize_seq(Some(count))?;
        for (listing, (report, rows)) in self.shown.iter().enumerate() {
            for &row in rows {
                sequence.serialize_element(&RowOf::new(listing, &report.rows.get(row)))?;
            }
        }
        sequence.end()
    }
}

#[derive(Serialize)]
struct RowOf<'a> {
    listing: usize,
    job_id: Option<u32>,
    partition: Option<&'a str>,
    cluster: Option<&'a str>,
    user: Option<&'a str>,
    account: Option<&'a str>,
    qos: Option<&'a str>,
    priority: Option<f64>,
    norm_priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    printed_priority: Option<f64>,
    set_by_hand: bool,
    site: Option<i64>,
    nice: Option<i64>,
    points: Figures<'a>,
    factors: Figures<'a>,
    tres: Vec<TermOf<'a>>,
    /// The resources that a column too narrow cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    tres_cut: Option<CutOf<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_computed: Vec<&'static str>,
}

#[derive(Serialize)]
struct TermOf<'a> {
    name: &'a str,
    points: Option<f64>,
    factor: Option<f64>,
}

#[derive(Serialize)]
struct CutOf<'a> {
    text: &'a str,
    points: Option<f64>,
}

struct Figures<'a>(&'a [Figure; 7]);

impl Serialize for Figures<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(7))?;
        for factor in Factor::ALL {
            map.serialize_entry(factor.name(), &self.0[factor.index()].value())?;
        }
        map.end()
    }
}

impl<'a> RowOf<'a> {
    fn new(listing: usize, row: &'a PrioRow<'a>) -> RowOf<'a> {
        let term = |term: &'a fairtree_analysis::prio::TresTerm<'a>| TermOf {
            name: term.name,
            points: term.points.value(),
            factor: term.norm.value(),
        };
        let named = [
            ("priority", row.priority),
            ("norm_priority", row.norm_priority),
        ];
        let given = |(name, figure): (&'static str, Figure)| {
            matches!(figure, Figure::Printed(_) | Figure::Unknown).then_some(name)
        };
        let points = Factor::ALL.map(|factor| (factor.name(), row.points[factor.index()]));
        RowOf {
            listing,
            job_id: row.job_id,
            partition: row.partition,
            cluster: row.cluster,
            user: row.user,
            account: row.account,
            qos: row.qos_name,
            priority: row.priority.value(),
            norm_priority: row.norm_priority.value(),
            printed_priority: row.printed,
            set_by_hand: row.set_by_hand,
            site: row.site,
            nice: row.nice,
            points: Figures(&row.points),
            factors: Figures(&row.norm),
            tres: row.tres.iter().map(term).collect(),
            tres_cut: row.cut.map(|cut| CutOf {
                text: cut.text,
                points: cut.points.value(),
            }),
            not_computed: named.into_iter().chain(points).filter_map(given).collect(),
        }
    }
}
