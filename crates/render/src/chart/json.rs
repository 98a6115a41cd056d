//! The numbers of a timeline as JSON; `docs/json.md` documents the schema.

use std::io::{self, Write};

use serde::{Serialize, Serializer};

use super::forest::{Forest, Node};
use crate::json;
use fairtree_analysis::history::{Series, Timeline};
use fairtree_model::input::sshare::RowKind;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.chart/1";

/// Writes a timeline, all associations and all moments.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, timeline: &Timeline) -> io::Result<()> {
    let all: Vec<usize> = (0..timeline.latest.rows.len()).collect();
    let forest = Forest::new(&timeline.latest, &all, usize::MAX);
    let every: Vec<usize> = (0..forest.nodes.len()).collect();
    json::write(out, &document(timeline, &forest, &every))
}

/// The document of a forest, with the courses of the nodes `drawn` (ascending).
pub(super) fn document<'a>(
    timeline: &'a Timeline,
    forest: &'a Forest,
    drawn: &[usize],
) -> Document<'a> {
    let association = |(at, node): (usize, &'a Node)| {
        let drawn = drawn.binary_search(&at).is_ok();
        let row = node.row.filter(|_| drawn);
        let names = node.row.map(|row| &timeline.latest.rows[row]);
        Association {
            kind: match node.kind {
                RowKind::Account => "account",
                RowKind::User => "user",
            },
            name: &node.name,
            account: names.and_then(|row| row.account.as_deref()),
            user: names.and_then(|row| row.user.as_deref()),
            partition: names.and_then(|row| row.partition.as_deref()),
            parent: node.parent,
            due: round(node.due),
            used: round(node.used),
            norm_shares: node.share.map(round),
            effective_usage: node.usage.map(round),
            fs_factor: node.fs_factor.map(round),
            course: row.map(|row| {
                let course = &timeline.courses[row];
                CourseOf {
                    norm_shares: numbers(&course.norm_shares),
                    effective_usage: numbers(&course.effective_usage),
                    fs_factor: numbers(&course.fs_factor),
                }
            }),
        }
    };
    Document {
        schema: SCHEMA,
        source: &timeline.latest.source,
        machine: timeline.machine.as_deref(),
        ranking: timeline.latest.ranking.name(),
        compat: json::compat(timeline.latest.compat),
        half_life_secs: timeline.half_life_secs,
        window_secs: timeline.window_secs,
        // A report without a past has one time, which is unknown.
        times: if timeline.times.len() > 1 {
            &timeline.times
        } else {
            &[]
        },
        associations: forest.nodes.iter().enumerate().map(association).collect(),
        notes: &timeline.notes,
    }
}

/// Six digits are more than a picture shows.
fn round(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// The numbers of a course, written one by one; `None` if there is no number at all.
fn numbers(values: &Series) -> Option<Numbers<'_>> {
    let numbers = Numbers(values);
    let any = numbers.iter().any(|number| number.is_some());
    any.then_some(numbers)
}

struct Numbers<'a>(&'a Series);

impl Numbers<'_> {
    fn iter(&self) -> impl Iterator<Item = Option<f64>> {
        let finite = |value: Option<f64>| value.filter(|value| value.is_finite()).map(round);
        self.0.iter().map(finite)
    }
}

impl Serialize for Numbers<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter())
    }
}

#[derive(Serialize)]
pub(super) struct Document<'a> {
    schema: &'static str,
    source: &'a str,
    machine: Option<&'a str>,
    ranking: &'static str,
    compat: String,
    half_life_secs: Option<u32>,
    window_secs: Option<u32>,
    times: &'a [i64],
    associations: Vec<Association<'a>>,
    notes: &'a [String],
}

#[derive(Serialize)]
struct Association<'a> {
    kind: &'static str,
    name: &'a str,
    account: Option<&'a str>,
    user: Option<&'a str>,
    partition: Option<&'a str>,
    parent: Option<usize>,
    due: f64,
    used: f64,
    norm_shares: Option<f64>,
    effective_usage: Option<f64>,
    fs_factor: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    course: Option<CourseOf<'a>>,
}

#[derive(Serialize)]
struct CourseOf<'a> {
    norm_shares: Option<Numbers<'a>>,
    effective_usage: Option<Numbers<'a>>,
    fs_factor: Option<Numbers<'a>>,
}
