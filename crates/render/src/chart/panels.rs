//! Share against use over time, one small picture for each association.

use maud::{Markup, html};

use super::canvas::{areas, fit, label, n, path, percent, time_axis};
use super::forest::{Node, Whole};
use super::scale::{Scale, percents};
use fairtree_analysis::history::{Course, Series};

/// Size of a picture, and of its plot.
pub(super) const WIDTH: f64 = 340.0;
pub(super) const HEIGHT: f64 = 170.0;
pub(super) const LEFT: f64 = 40.0;
pub(super) const RIGHT: f64 = 330.0;
pub(super) const TOP: f64 = 34.0;
pub(super) const BOTTOM: f64 = 146.0;

/// The largest share and use in some courses, 0 without any: the axis of pictures beside each other.
pub(super) fn most<'a>(courses: impl IntoIterator<Item = &'a Course>) -> f64 {
    let both = courses.into_iter().flat_map(|course| {
        let shares = course.norm_shares.iter();
        shares.chain(course.effective_usage.iter())
    });
    both.flatten().filter(|v| v.is_finite()).fold(0.0, f64::max)
}

/// The picture of a node over `times`; its axis holds `most`.
pub(super) fn panel(node: &Node, course: &Course, times: &[i64], most: f64) -> Markup {
    plot(&node.name, [node.usage, node.share], course, times, most)
}

/// Pictures of associations side by side, as a part of a page that has the common style sheet: each with its
/// name, its course, and the moments of that, ascending. Blue is use within the share of the account above.
pub fn panels(of: &[(String, Course, Vec<i64>)]) -> Markup {
    let size = format!("0 0 {} {}", n(WIDTH), n(HEIGHT));
    let most = most(of.iter().map(|(_, course, _)| course));
    html! {
        div class="scroll" {
            svg viewBox="0 0 480 20" width="480" height="20" aria-hidden="true" { (legend(0.0, 14.0, Whole::Above)) }
        }
        div class="panels" {
            @for (name, course, times) in of {
                @let last = |series: &Series| series.iter().flatten().last();
                @let now = [last(&course.effective_usage), last(&course.norm_shares)];
                @let text = format!("{name}: use {}, share {}", percent(now[0]), percent(now[1]));
                figure data-row=(name) {
                    svg class="panel" viewBox=(size) role="img" aria-label=(text) { (plot(name, now, course, times, most)) }
                }
            }
        }
    }
}

/// The picture of one association over `times` (ascending, one per number of its course); `now`: its use and its
/// share at the end; its axis holds `most`.
///
/// Blue is use within its share of the account above, orange beyond; the line is its share.
fn plot(name: &str, now: [Option<f64>; 2], course: &Course, times: &[i64], most: f64) -> Markup {
    let (first, last) = (
        times.first().copied().unwrap_or(0),
        times.last().copied().unwrap_or(1),
    );
    let (end, marks) = percents(most);
    let x = Scale {
        from: first as f64,
        to: last as f64,
        start: LEFT,
        end: RIGHT,
    };
    let y = Scale {
        from: 0.0,
        to: end,
        start: BOTTOM,
        end: TOP,
    };
    let points: Vec<Option<(f64, f64, f64)>> = times
        .iter()
        .zip(course.norm_shares.iter().zip(course.effective_usage.iter()))
        .map(|(&time, (share, usage))| Some((x.at(time as f64), share?, usage?)))
        .collect();
    let over = |from: fn(f64, f64) -> (f64, f64)| -> Vec<Option<(f64, f64, f64)>> {
        let between = |&(x, share, usage): &(f64, f64, f64)| {
            let (upper, lower) = from(share, usage);
            (x, y.at(upper), y.at(lower))
        };
        points
            .iter()
            .map(|point| point.as_ref().map(between))
            .collect()
    };
    let within = areas(&over(|share, usage| (usage.min(share), 0.0)));
    let beyond = areas(&over(|share, usage| (usage.max(share), share)));
    let line = |of: fn((f64, f64, f64)) -> f64| {
        path(points.iter().map(|point| point.map(|p| (p.0, y.at(of(p))))))
    };
    let now = format!("use {} · share {}", percent(now[0]), percent(now[1]));
    html! {
        (label(LEFT, 16.0, 12.5, "ink bold", &fit(name, 12.5, 150.0).unwrap_or_default()))
        (label(RIGHT, 16.0, 11.0, "soft end", &now))
        @for mark in &marks {
            line class="grid" x1=(n(LEFT)) x2=(n(RIGHT)) y1=(n(y.at(*mark))) y2=(n(y.at(*mark))) {}
            (label(LEFT - 5.0, y.at(*mark) + 3.5, 10.0, "soft end", &format!("{}%", n(mark * 100.0))))
        }
        (time_axis(x, BOTTOM, (15.0, 10.0), 4))
        @if let Some(d) = within { path class="within" d=(d) {} }
        @if let Some(d) = beyond { path class="beyond" d=(d) {} }
        @if let Some(d) = line(|p| p.1) { path class="share" d=(d) {} }
    }
}

/// The legend of the colours.
pub(super) fn legend(x: f64, y: f64, of: Whole) -> Markup {
    let share = format!("share of {}", of.words());
    html! {
        rect class="within" x=(n(x)) y=(n(y - 9.0)) width="12" height="10" {}
        (label(x + 18.0, y, 11.0, "soft", "use within its share"))
        rect class="beyond" x=(n(x + 150.0)) y=(n(y - 9.0)) width="12" height="10" {}
        (label(x + 168.0, y, 11.0, "soft", "use beyond it"))
        line class="share" x1=(n(x + 262.0)) x2=(n(x + 282.0)) y1=(n(y - 4.0)) y2=(n(y - 4.0)) {}
        (label(x + 288.0, y, 11.0, "soft", &share))
    }
}
