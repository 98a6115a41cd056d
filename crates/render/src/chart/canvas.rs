//! Common parts of all pictures: numbers as SVG takes them, texts that fit, paths.

use maud::{Markup, html};
use unicode_width::UnicodeWidthChar;

use super::scale::{Scale, moments};

/// A length with at most two decimals.
pub(super) fn n(value: f64) -> String {
    let text = format!("{value:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// How wide a text is, about: letters of a sans serif face are little more than half as wide as
/// high.
pub(super) fn width(text: &str, size: f64) -> f64 {
    let units: usize = text.chars().map(|c| c.width().unwrap_or(0)).sum();
    units as f64 * size * 0.56
}

/// A text cut to a width; `None` where not even three letters of it fit.
pub(super) fn fit(text: &str, size: f64, room: f64) -> Option<String> {
    if width(text, size) <= room {
        return Some(text.to_owned());
    }
    let mut cut = String::new();
    for c in text.chars() {
        cut.push(c);
        if width(&cut, size) + size * 0.56 > room {
            cut.pop();
            break;
        }
    }
    (cut.chars().count() >= 3).then(|| format!("{cut}…"))
}

/// A percentage for people: more digits where it is small.
pub(crate) fn percent(value: Option<f64>) -> String {
    match value.map(|value| value * 100.0) {
        None => "–".to_owned(),
        Some(0.0) => "0 %".to_owned(),
        Some(value) if value < 0.095 => "<0.1 %".to_owned(),
        Some(value) if value < 9.95 => format!("{value:.1} %"),
        Some(value) => format!("{value:.0} %"),
    }
}

/// A text at a place.
pub(super) fn label(x: f64, y: f64, size: f64, class: &str, text: &str) -> Markup {
    html! { text x=(n(x)) y=(n(y)) font-size=(n(size)) class=(class) { (text) } }
}

/// An axis of time at the height `y`, seconds since 1970: at most `most` marks, each with its moment in letters of
/// `size`, `below` lower.
pub(super) fn time_axis(x: Scale, y: f64, (below, size): (f64, f64), most: usize) -> Markup {
    html! {
        @for (time, text) in moments(x.from as i64, x.to as i64, most) {
            @let at = x.at(time as f64);
            (label(at, y + below, size, "soft mid", &text))
            line class="axis" x1=(n(at)) x2=(n(at)) y1=(n(y)) y2=(n(y + 4.0)) {}
        }
    }
}

/// Straight lines through points, a new one after a gap; `None` without two points in a row.
pub(super) fn path(points: impl IntoIterator<Item = Option<(f64, f64)>>) -> Option<String> {
    use std::fmt::Write as _;
    let mut text = String::new();
    let mut open = false;
    let mut lines = false;
    for point in points {
        let Some((x, y)) = point else {
            open = false;
            continue;
        };
        // Writing to a string does not fail.
        let _ = write!(text, "{}{} {}", if open { 'L' } else { 'M' }, n(x), n(y));
        lines |= open;
        open = true;
    }
    lines.then_some(text)
}

/// The areas between two courses, one per stretch in which both are there.
pub(super) fn areas(points: &[Option<(f64, f64, f64)>]) -> Option<String> {
    let mut text = String::new();
    for stretch in points
        .split(Option::is_none)
        .filter(|stretch| stretch.len() > 1)
    {
        let there = || stretch.iter().copied().flatten();
        let upper = there().map(|(x, upper, _)| format!("{} {}", n(x), n(upper)));
        let lower = there()
            .rev()
            .map(|(x, _, lower)| format!("{} {}", n(x), n(lower)));
        let corners: Vec<String> = upper.chain(lower).collect();
        text.push_str(&format!("M{}Z", corners.join("L")));
    }
    (!text.is_empty()).then_some(text)
}

/// A picture of its own.
pub(super) fn document(
    width: f64,
    height: f64,
    title: &str,
    css: &str,
    content: &Markup,
) -> String {
    let (w, h) = (n(width), n(height));
    let markup = html! {
        svg xmlns="http://www.w3.org/2000/svg" width=(w) height=(h)
            viewBox=(format!("0 0 {w} {h}")) role="img" {
            title { (title) }
            // Style sheets are not text: their characters need no escapes.
            style { (maud::PreEscaped(css)) }
            rect class="paper" width=(w) height=(h) {}
            (content)
        }
    };
    xml(format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n",
        markup.into_string()
    ))
}

/// The text with U+FFFD for what XML 1.0 does not allow, as ESC in a name ("2.2 Characters").
pub(crate) fn xml(text: String) -> String {
    let allowed = |c: char| {
        matches!(c, '\t' | '\n' | ' '..) && !matches!(c, '\u{7f}' | '\u{fffe}' | '\u{ffff}')
    };
    match text.chars().all(allowed) {
        true => text,
        false => text
            .chars()
            .map(|c| {
                if allowed(c) {
                    c
                } else {
                    char::REPLACEMENT_CHARACTER
                }
            })
            .collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn xml_is_always_xml() {
        let title = "a\u{1b}[31m\u{0}\u{fffe}\u{ffff}\u{7f}\r<&>\u{85}\u{fffd}";
        let drawn = document(10.0, 10.0, title, "", &html! { text { (title) } });
        resvg::usvg::roxmltree::Document::parse(&drawn).expect("XML");
        assert!(!drawn.contains('\u{1b}') && drawn.contains("\u{fffd}[31m"));
    }

    #[test]
    fn numbers_are_short() {
        assert_eq!(
            [n(1.0), n(1.256), n(-0.001), n(10.5)],
            ["1", "1.26", "0", "10.5"]
        );
    }

    #[test]
    fn texts_are_cut_to_fit() {
        assert_eq!(fit("physics", 10.0, 100.0).as_deref(), Some("physics"));
        assert_eq!(fit("physics", 10.0, 29.0).as_deref(), Some("phys…"));
        assert_eq!(fit("physics", 10.0, 10.0), None);
    }

    #[test]
    fn gaps_break_lines_and_areas() {
        let points = [Some((0.0, 1.0)), Some((1.0, 2.0)), None, Some((3.0, 4.0))];
        assert_eq!(path(points).as_deref(), Some("M0 1L1 2M3 4"));
        assert_eq!(path([Some((0.0, 1.0)), None]), None);
        let points = [
            Some((0.0, 5.0, 9.0)),
            Some((1.0, 6.0, 9.0)),
            None,
            Some((2.0, 0.0, 0.0)),
        ];
        assert_eq!(areas(&points).as_deref(), Some("M0 5L1 6L1 9L0 9Z"));
    }
}
