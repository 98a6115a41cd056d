//! Rows of a report as a table of a page.

use maud::{Markup, html};

use crate::page::{cell, figure, hours, meter, percent};
use fairtree::tree::Shares;
use fairtree_analysis::share::{Figure, ShareReport, ShareRow};
use fairtree_model::input::sshare::RowKind;

/// The rows `shown` of a report, with shares of their level and of the whole, use beside them, and
/// factors. `link`: the address of an account; none where the reader cannot open it. `indent`: levels
/// by which a row is indented.
pub fn to_html(
    report: &ShareReport,
    shown: &[usize],
    link: &dyn Fn(&str) -> Option<String>,
    indent: &dyn Fn(usize) -> usize,
) -> Markup {
    let columns = report.ranking.columns();
    html! {
        div class="scroll" {
            table {
                thead { tr {
                    th { "Account or user" } th class="n" { "Shares" } th class="n" { "Of its level" }
                    th class="n" { "Of the whole" } th class="n" { "Used of its level" }
                    th { "Use, and its share" } th class="n" { "Used" }
                    @if columns.entitled {
                        th class="n" { (if report.are_entitled { "Entitled" } else { "Due" }) }
                        th class="n" { "Used over it" }
                    }
                    @if columns.level_fs { th class="n" { "Level fairshare" } }
                    th class="n" { "Fair-share factor" } th class="n" { "Place" }
                } }
                tbody {
                    @for &at in shown { (row(report, &report.rows[at], link, indent(at))) }
                }
            }
        }
    }
}

fn row(
    report: &ShareReport,
    row: &ShareRow,
    link: &dyn Fn(&str) -> Option<String>,
    indent: usize,
) -> Markup {
    let columns = report.ranking.columns();
    let part = |name: &str, figure: Figure| cell(figure.value().map(|value| percent(name, value)));
    let number = |name: &str, value: Figure, digits: usize| {
        cell(
            value
                .value()
                .map(|value| figure(name, value, &format!("{value:.digits$}"))),
        )
    };
    let name = match row.kind {
        RowKind::Account => row.account.as_deref(),
        RowKind::User => row.user.as_deref(),
    };
    let name = name.unwrap_or("?");
    let address = (row.kind == RowKind::Account).then(|| link(name)).flatten();
    let claim = match report.are_entitled {
        true => ("entitled", row.entitled),
        false => ("due", row.due),
    };
    html! {
        tr data-row=(row.name()) {
            td class=(format!("in{}", indent.min(8))) {
                @match address {
                    Some(address) => a href=(address) { (name) },
                    None => (name),
                }
                @if let Some(partition) = &row.partition { " in " (partition) }
            }
            @match row.raw_shares {
                Some(Shares::Raw(shares)) => {
                    (cell(Some(figure("raw_shares", f64::from(shares), &shares.to_string()))))
                }
                Some(Shares::Parent) => td class="n" { "parent" },
                None => td {},
            }
            (part("norm_shares", row.norm_shares))
            (part("share_of_whole", row.share_of_whole))
            (part("effective_usage", row.effective_usage))
            td {
                @if let (false, Some(used)) = (row.root, row.effective_usage.value()) {
                    (meter(row.norm_shares.value(), used))
                }
            }
            (cell(row.raw_usage.map(|usage| hours("raw_usage", usage as f64))))
            @if columns.entitled {
                (cell(claim.1.value().map(|secs| hours(claim.0, secs))))
                (number("used_ratio", row.used_ratio, 3))
            }
            @if columns.level_fs { (number("level_fs", row.level_fs, 6)) }
            (number("fs_factor", row.fs_factor, 6))
            (cell(row.place.map(|place| html! {
                span data-name="place" data-value=(place.place) { (place.place) }
                " of "
                span data-name="places" data-value=(place.of) { (place.of) }
            })))
        }
    }
}
