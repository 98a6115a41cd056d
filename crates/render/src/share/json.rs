//! The report as JSON, for programs; the schema is described in `docs/json.md`.

use std::io::Write;

use serde::Serialize;
use serde::ser::{SerializeSeq, Serializer};

use crate::json;
use fairtree::tree::Shares;
use fairtree_analysis::share::{Figure, Gap, ShareReport, ShareRow};
use fairtree_model::input::sshare::RowKind;

/// Name and version of the schema; the version rises when a field changes its meaning or goes.
pub const SCHEMA: &str = "fairtree.share/1";

/// Writes the rows `shown` of a report as one JSON object and a line break.
///
/// # Errors
/// Those of `out`.
pub fn to_json(out: &mut impl Write, report: &ShareReport, shown: &[usize]) -> std::io::Result<()> {
    #[derive(Serialize)]
    struct Nothing {}
    to_json_with(out, report, shown, &Nothing {})
}

/// As [`to_json`], with the fields of `more` at the end of the object.
///
/// # Errors
/// Those of `out`.
pub fn to_json_with(
    out: &mut impl Write,
    report: &ShareReport,
    shown: &[usize],
    more: &impl Serialize,
) -> std::io::Result<()> {
    let document = Document {
        schema: SCHEMA,
        source: &report.source,
        ranking: report.ranking.name(),
        compat: json::compat(report.compat),
        rows: ShareJsonRows { report, shown },
        gaps: report.gaps.iter().map(|gap| gap_of(report, gap)).collect(),
        assumptions: &report.assumptions,
        more,
    };
    json::write(out, &document)
}

#[derive(Serialize)]
struct Document<'a, T> {
    schema: &'static str,
    source: &'a str,
    ranking: &'static str,
    compat: String,
    rows: ShareJsonRows<'a>,
    gaps: Vec<GapOf<'a>>,
    assumptions: &'a [String],
    #[serde(flatten)]
    more: &'a T,
}

#[derive(Serialize)]
struct GapOf<'a> {
    column: &'static str,
    why: &'a str,
    rows: Vec<String>,
}

fn gap_of<'a>(report: &ShareReport, gap: &'a Gap) -> GapOf<'a> {
    GapOf {
        column: gap.column.name(),
        why: &gap.why,
        rows: gap
            .rows
            .iter()
            .map(|&row| report.rows[row].name())
            .collect(),
    }
}

/// The rows, written one by one.
struct ShareJsonRows<'a> {
    report: &'a ShareReport,
    shown: &'a [usize],
}

impl Serialize for ShareJsonRows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut sequence = serializer.serialize_seq(Some(self.shown.len()))?;
        for &row in self.shown {
            sequence.serialize_element(&RowOf::new(self.report, &self.report.rows[row]))?;
        }
        sequence.end()
    }
}

#[derive(Serialize)]
struct RowOf<'a> {
    kind: &'static str,
    account: Option<&'a str>,
    parent_account: Option<&'a str>,
    user: Option<&'a str>,
    cluster: Option<&'a str>,
    partition: Option<&'a str>,
    id: Option<u32>,
    raw_shares: Option<SharesOf>,
    norm_shares: Option<Number>,
    raw_usage: Option<u64>,
    norm_usage: Option<Number>,
    effective_usage: Option<Number>,
    level_fs: Option<Number>,
    fs_factor: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    entitled: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    due: Option<Number>,
    #[serde(skip_serializing_if = "Option::is_none")]
    used_ratio: Option<Number>,
    share_of_whole: Option<Number>,
    place: Option<u64>,
    places: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_computed: Vec<&'static str>,
    grp_tres_mins: Option<&'a str>,
    grp_tres_raw: Option<&'a str>,
    tres_run_mins: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum SharesOf {
    Count(u32),
    Parent(&'static str),
}

/// JSON has no infinity and no NaN: they become the words `inf` and `nan`.
#[derive(Serialize)]
#[serde(untagged)]
enum Number {
    Finite(f64),
    Word(&'static str),
}

fn number(figure: Figure) -> Option<Number> {
    figure.value().map(|value| match value {
        value if value.is_finite() => Number::Finite(value),
        value if value.is_nan() => Number::Word("nan"),
        _ => Number::Word("inf"),
    })
}

impl<'a> RowOf<'a> {
    fn new(report: &'a ShareReport, row: &'a ShareRow) -> RowOf<'a> {
        let figures = [
            ("norm_shares", row.norm_shares),
            ("norm_usage", row.norm_usage),
            ("effective_usage", row.effective_usage),
            ("level_fs", row.level_fs),
            ("fs_factor", row.fs_factor),
        ];
        let not_computed = |(name, figure): (&'static str, Figure)| {
            matches!(figure, Figure::Printed(_) | Figure::Unknown).then_some(name)
        };
        let above = row.parent.map(|parent| &report.rows[parent]);
        RowOf {
            kind: match row.kind {
                RowKind::Account => "account",
                RowKind::User => "user",
            },
            account: row.account.as_deref(),
            parent_account: match row.kind {
                RowKind::Account => above.and_then(|above| above.account.as_deref()),
                RowKind::User => row.account.as_deref(),
            },
            user: row.user.as_deref(),
            cluster: row.cluster.as_deref(),
            partition: row.partition.as_deref(),
            id: row.id,
            raw_shares: row.raw_shares.map(|shares| match shares {
                Shares::Raw(shares) => SharesOf::Count(shares),
                Shares::Parent => SharesOf::Parent("parent"),
            }),
            norm_shares: number(row.norm_shares),
            raw_usage: row.raw_usage,
            norm_usage: number(row.norm_usage),
            effective_usage: number(row.effective_usage),
            level_fs: number(row.level_fs),
            fs_factor: number(row.fs_factor),
            entitled: number(row.entitled),
            due: number(row.due),
            used_ratio: number(row.used_ratio),
            share_of_whole: number(row.share_of_whole),
            place: row.place.map(|place| place.place),
            places: row.place.map(|place| place.of),
            not_computed: figures.into_iter().filter_map(not_computed).collect(),
            grp_tres_mins: row.grp_tres_mins.as_deref(),
            grp_tres_raw: row.grp_tres_raw.as_deref(),
            tres_run_mins: row.tres_run_mins.as_deref(),
        }
    }
}
