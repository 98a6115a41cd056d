//! Mean waits against owed core-hours.

use fairtree_analysis::sweep::{Best, PointResult, Sweep, lines};
use fairtree_model::span::Span;
use maud::html;

use super::{RULE, counted, missing, of_seeds, varied};
use crate::chart::{Axis, Dot, Theme, scatter_figure, scatter_svg, xml};
use crate::page::{Alone, alone, figure};

const WAIT: Axis<'static> = Axis {
    name: "mean wait",
    text: span,
};
const OWED: Axis<'static> = Axis {
    name: "owed core-hours",
    text: |hours| format!("{hours:.0}"),
};

fn span(secs: f64) -> String {
    Span(secs.round().max(0.0) as u64).to_string()
}

/// The points; the best ones first, shortest mean wait first, as their numbers are.
fn dots(sweep: &Sweep) -> Vec<Dot> {
    let best = sweep.best();
    let others = sweep.points.iter().filter(|point| point.best == Best::No);
    let dot = |point: &PointResult| Dot {
        x: (point.mean_wait_seconds.mean, point.mean_wait_seconds.band),
        y: (point.owed_core_hours.mean, point.owed_core_hours.band),
        name: varied(sweep, point),
        marked: point.best == Best::Yes,
    };
    best.into_iter().chain(others).map(dot).collect()
}

fn title(source: &str) -> String {
    format!("Sweep {source}")
}

/// The picture, as SVG.
pub fn to_svg(source: &str, sweep: &Sweep) -> String {
    scatter_svg(&title(source), &dots(sweep), WAIT, OWED)
}

/// A page with the picture and the best points.
pub fn to_html(source: &str, sweep: &Sweep) -> String {
    let best = sweep.best();
    let body = html! {
        h1 { (title(source)) }
        p class="sub" {
            (sweep.runs - sweep.missing) " of " (counted(sweep.runs, "run")) ", "
            (counted(sweep.points.len(), "point"))
            @if sweep.missing > 0 { "; PARTIAL: " (missing(sweep)) }
        }
        div class="scroll" { (scatter_figure(&title(source), &dots(sweep), WAIT, OWED)) }
        h2 { "The best points" }
        p { "Of the best points, " (RULE) }
        table {
            thead { tr {
                th { "Point" } th { "Mean wait" } th { "Owed core-hours" } th { "Settings" }
            } }
            tbody {
                @for (at, point) in best.iter().enumerate() {
                    @let wait = point.mean_wait_seconds.mean;
                    @let owed = point.owed_core_hours.mean;
                    tr {
                        td { (at + 1) (of_seeds(sweep, point)) }
                        td class="n" { (figure("mean_wait_seconds", wait, &span(wait))) }
                        td class="n" { (figure("owed_core_hours", owed, &format!("{owed:.0}"))) }
                        td { @for line in lines(&point.settings) { code { (line) } br; } }
                    }
                }
            }
        }
    };
    xml(alone(Alone {
        title: &title(source),
        theme: Theme::Auto,
        style: "",
        script: None,
        body,
    }))
}
