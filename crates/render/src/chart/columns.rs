//! A number of each day, one column a day.

use maud::{Markup, html};

use super::canvas::{label, n, time_axis};
use super::scale::{Scale, marks};
use fairtree_analysis::past::DAY_SECS;

/// Size of the picture, and of its plot.
const WIDTH: f64 = 700.0;
const HEIGHT: f64 = 190.0;
const LEFT: f64 = 60.0;
const RIGHT: f64 = 690.0;
const TOP: f64 = 12.0;
const BOTTOM: f64 = 160.0;

/// A day.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Column {
    /// When it begins, seconds since 1970.
    pub day: i64,
    /// Height of the column.
    pub value: f64,
    /// A mark above it; `None`: without one.
    pub mark: Option<f64>,
}

/// The columns, in order of days, as a part of a page that has the common style sheet. `text`: a description in
/// words; values have this `unit`.
pub fn columns(text: &str, unit: &str, of: &[Column]) -> Markup {
    let values = of.iter().flat_map(|one| [Some(one.value), one.mark]);
    let most = values.flatten().fold(0.0, f64::max);
    let (end, marks) = marks(most);
    let first = of.first().map_or(0, |one| one.day);
    let last = of.last().map_or(first, |one| one.day) + DAY_SECS;
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
    let size = format!("0 0 {} {}", n(WIDTH), n(HEIGHT));
    let width = (x.at((first + DAY_SECS) as f64) - LEFT).min(60.0);
    html! {
        div class="scroll" {
            svg viewBox=(size) width=(n(WIDTH)) height=(n(HEIGHT)) role="img" aria-label=(text) {
                @for mark in &marks {
                    line class="grid" x1=(n(LEFT)) x2=(n(RIGHT)) y1=(n(y.at(*mark))) y2=(n(y.at(*mark))) {}
                    (label(LEFT - 6.0, y.at(*mark) + 4.0, 12.0, "soft end", &format!("{} {unit}", n(*mark))))
                }
                (time_axis(x, BOTTOM, (18.0, 12.0), 6))
                @for one in of {
                    @let left = x.at(one.day as f64) + 0.15 * width;
                    rect class="within" x=(n(left)) y=(n(y.at(one.value))) width=(n(0.7 * width))
                        height=(n(BOTTOM - y.at(one.value))) {}
                    @if let Some(mark) = one.mark {
                        line class="share" x1=(n(left)) x2=(n(left + 0.7 * width)) y1=(n(y.at(mark))) y2=(n(y.at(mark))) {}
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand: the axis ends at 4, so that a column of 2 reaches half of the plot, from 86 to 160.
    #[test]
    fn columns_stand_on_the_axis() {
        let column = |day: i64, value| Column {
            day: day * DAY_SECS,
            value,
            mark: Some(4.0),
        };
        let text = columns("<waits>", "h", &[column(0, 2.0), column(1, 0.0)]).into_string();
        assert!(text.contains("aria-label=\"&lt;waits&gt;\""), "{text}");
        assert!(text.contains("y=\"86\""), "{text}");
        assert!(text.contains("height=\"74\""), "{text}");
        assert_eq!(text.matches("<rect").count(), 2);
        assert!(columns("", "h", &[]).into_string().contains("</svg>"));
    }
}
