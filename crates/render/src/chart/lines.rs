//! Fair-share factors over time.

use maud::{Markup, html};

use super::canvas::{fit, label, n, path, time_axis};
use super::choice::Choice;
use super::forest::Forest;
use super::scale::Scale;
use super::style::line_of;
use fairtree_analysis::history::Timeline;

/// Size of the picture, and of its plot.
pub(super) const WIDTH: f64 = 1080.0;
pub(super) const HEIGHT: f64 = 300.0;
pub(super) const LEFT: f64 = 40.0;
pub(super) const RIGHT: f64 = 900.0;
pub(super) const TOP: f64 = 14.0;
pub(super) const BOTTOM: f64 = 270.0;

/// Letters of names beside lines, and the least distance of two.
const SIZE: f64 = 11.5;
const APART: f64 = 15.0;

/// The picture: a coloured line for each user of `choice.lines`, named beside its end, and pale
/// ones for the others.
pub(super) fn lines(timeline: &Timeline, forest: &Forest, choice: &Choice) -> Markup {
    let times = &timeline.times;
    let (first, last) = (
        times.first().copied().unwrap_or(0),
        times.last().copied().unwrap_or(1),
    );
    let x = Scale {
        from: first as f64,
        to: last as f64,
        start: LEFT,
        end: RIGHT,
    };
    let y = Scale {
        from: 0.0,
        to: 1.0,
        start: BOTTOM,
        end: TOP,
    };
    let line = |node: usize| {
        let row = forest.nodes[node].row?;
        let factors = &timeline.courses[row].fs_factor;
        let point = |(&time, factor): (&i64, Option<f64>)| {
            factor.map(|factor| (x.at(time as f64), y.at(factor)))
        };
        path(times.iter().zip(factors.iter()).map(point))
    };
    let names = names(timeline, forest, choice, y);
    html! {
        @for mark in [0.0, 0.25, 0.5, 0.75, 1.0] {
            line class="grid" x1=(n(LEFT)) x2=(n(RIGHT)) y1=(n(y.at(mark))) y2=(n(y.at(mark))) {}
            (label(LEFT - 6.0, y.at(mark) + 3.5, 10.0, "soft end", &n(mark)))
        }
        (time_axis(x, BOTTOM, (18.0, 10.0), 9))
        @for &node in &choice.others {
            @if let Some(d) = line(node) { path class="other" data-i=(node) d=(d) {} }
        }
        @for &node in &choice.lines {
            @if let (Some(d), (color, dash)) = (line(node), look(timeline, forest, node)) {
                path class=(format!("line l{color} dash{dash}")) data-i=(node) d=(d) {}
            }
        }
        @for (color, at, name) in &names {
            circle class=(format!("d{color}")) cx=(n(RIGHT + 12.0)) cy=(n(at - 4.0)) r="4" {}
            (label(RIGHT + 20.0, *at, SIZE, "ink", name))
        }
    }
}

/// Colour and dashes of the line of a user.
fn look(timeline: &Timeline, forest: &Forest, node: usize) -> (usize, usize) {
    let row = forest.nodes[node].row.map(|row| &timeline.latest.rows[row]);
    line_of(row.and_then(|row| row.user.as_deref()).unwrap_or_default())
}

/// Colour, place and name of each coloured line: as near to its end as the others let it.
fn names(
    timeline: &Timeline,
    forest: &Forest,
    choice: &Choice,
    y: Scale,
) -> Vec<(usize, f64, String)> {
    let mut names: Vec<(usize, f64, String)> = Vec::new();
    for &node in &choice.lines {
        let (color, _) = look(timeline, forest, node);
        let Some(row) = forest.nodes[node].row else {
            continue;
        };
        let end = timeline.courses[row]
            .fs_factor
            .iter()
            .rev()
            .flatten()
            .next();
        let name = timeline.latest.rows[row].name();
        let name = fit(&name, SIZE, WIDTH - RIGHT - 22.0).unwrap_or_default();
        names.push((color, y.at(end.unwrap_or(0.0)) + 4.0, name));
    }
    names.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    for at in 1..names.len() {
        names[at].1 = names[at].1.max(names[at - 1].1 + APART);
    }
    // Pushed out at the bottom, they move up again.
    let mut lowest = BOTTOM + 8.0;
    for name in names.iter_mut().rev() {
        name.1 = name.1.min(lowest);
        lowest = name.1 - APART;
    }
    names
}
