//! Points in a plane, some of them marked and joined by a line.

use maud::{Markup, html};

use super::canvas::{document, fit, label, n, path};
use super::scale::{Scale, marks};
use super::style::{Theme, css};

/// Size of the picture, and of its plot.
const WIDTH: f64 = 860.0;
const HEIGHT: f64 = 480.0;
const LEFT: f64 = 80.0;
const RIGHT: f64 = 830.0;
const TOP: f64 = 70.0;
/// Size of the smaller text.
const TEXT: f64 = 12.0;
const BOTTOM: f64 = 420.0;

/// A point.
#[derive(Clone, Debug, PartialEq)]
pub struct Dot {
    /// Its place to the right, and its band.
    pub x: (f64, [f64; 2]),
    /// Its place upward, and its band.
    pub y: (f64, [f64; 2]),
    /// Words for it.
    pub name: String,
    /// It is one of the marked points.
    pub marked: bool,
}

/// An axis.
#[derive(Clone, Copy, Debug)]
pub struct Axis<'a> {
    /// Words for it.
    pub name: &'a str,
    /// Words for a value.
    pub text: fn(f64) -> String,
}

/// The picture: marked points are large, have numbers from 1 in the order of `dots`, and are joined from
/// left to right; bands are thin lines.
pub fn scatter_svg(title: &str, dots: &[Dot], x: Axis<'_>, y: Axis<'_>) -> String {
    let content = scatter(title, dots, x, y);
    document(WIDTH, HEIGHT, title, &css(Theme::Auto), &content)
}

/// The same within a page.
pub(crate) fn scatter_figure(title: &str, dots: &[Dot], x: Axis<'_>, y: Axis<'_>) -> Markup {
    let view = format!("0 0 {} {}", n(WIDTH), n(HEIGHT));
    html! {
        svg viewBox=(view) width=(n(WIDTH)) height=(n(HEIGHT)) role="img" aria-label=(title) { (scatter(title, dots, x, y)) }
    }
}

fn scatter(title: &str, dots: &[Dot], x_axis: Axis<'_>, y_axis: Axis<'_>) -> Markup {
    let most = |of: fn(&Dot) -> (f64, [f64; 2])| {
        let ends = dots.iter().map(|dot| {
            let (value, [_, high]) = of(dot);
            value.max(high)
        });
        ends.filter(|end| end.is_finite()).fold(0.0, f64::max)
    };
    let (x_end, x_marks) = marks(most(|dot| dot.x));
    let (y_end, y_marks) = marks(most(|dot| dot.y));
    let x = Scale {
        from: 0.0,
        to: x_end,
        start: LEFT,
        end: RIGHT,
    };
    let y = Scale {
        from: 0.0,
        to: y_end,
        start: BOTTOM,
        end: TOP,
    };
    let mut marked: Vec<&Dot> = dots.iter().filter(|dot| dot.marked).collect();
    marked.sort_by(|a, b| a.x.0.total_cmp(&b.x.0));
    let front = path(
        marked
            .iter()
            .map(|dot| Some((x.at(dot.x.0), y.at(dot.y.0)))),
    );
    let mut number = 0;
    let numbers = dots.iter().map(|dot| {
        number += usize::from(dot.marked);
        dot.marked.then_some(number)
    });
    let numbers: Vec<Option<usize>> = numbers.collect();
    html! {
        (label(LEFT, 30.0, 17.0, "ink bold", &fit(title, 17.0, RIGHT - LEFT).unwrap_or_default()))
        (label(LEFT, TOP - 16.0, TEXT, "soft", y_axis.name))
        (label(RIGHT, BOTTOM + 40.0, TEXT, "soft end", x_axis.name))
        @for mark in &y_marks {
            line class="grid" x1=(n(LEFT)) x2=(n(RIGHT)) y1=(n(y.at(*mark))) y2=(n(y.at(*mark))) {}
            (label(LEFT - 6.0, y.at(*mark) + 4.0, TEXT, "soft end", &(y_axis.text)(*mark)))
        }
        @for mark in &x_marks {
            line class="axis" x1=(n(x.at(*mark))) x2=(n(x.at(*mark))) y1=(n(BOTTOM)) y2=(n(BOTTOM + 4.0)) {}
            (label(x.at(*mark), BOTTOM + 18.0, TEXT, "soft mid", &(x_axis.text)(*mark)))
        }
        @for dot in dots {
            @let (cx, cy) = (x.at(dot.x.0), y.at(dot.y.0));
            line class="axis" x1=(n(x.at(dot.x.1[0]))) x2=(n(x.at(dot.x.1[1]))) y1=(n(cy)) y2=(n(cy)) {}
            line class="axis" x1=(n(cx)) x2=(n(cx)) y1=(n(y.at(dot.y.1[0]))) y2=(n(y.at(dot.y.1[1]))) {}
        }
        @if let Some(d) = front { path class="other" d=(d) {} }
        @for (dot, number) in dots.iter().zip(&numbers) {
            @let (cx, cy) = (x.at(dot.x.0), y.at(dot.y.0));
            @let (class, radius) = if dot.marked { ("d1", "5") } else { ("d0", "3") };
            circle class=(class) cx=(n(cx)) cy=(n(cy)) r=(radius) { title { (dot.name) } }
            @if let Some(number) = number {
                (label(cx + 8.0, cy - 6.0, TEXT, "ink", &number.to_string()))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_dot_is_drawn_and_the_picture_is_xml() {
        let dot = |x: f64, y: f64, marked: bool| Dot {
            x: (x, [x, x + 1.0]),
            y: (y, [y, y]),
            name: "a<b>".to_owned(),
            marked,
        };
        let axis = Axis {
            name: "wait",
            text: |value| value.to_string(),
        };
        let dots = [
            dot(1.0, 9.0, true),
            dot(5.0, 9.0, false),
            dot(8.0, 2.0, true),
        ];
        let drawn = scatter_svg("waits & more", &dots, axis, axis);
        let document = resvg::usvg::roxmltree::Document::parse(&drawn).expect("XML");
        let circles = document
            .descendants()
            .filter(|node| node.has_tag_name("circle"));
        assert_eq!(circles.count(), 3);
        // Nothing to draw is no error.
        let empty = scatter_svg("none", &[], axis, axis);
        resvg::usvg::roxmltree::Document::parse(&empty).expect("XML");
    }
}
