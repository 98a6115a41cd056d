//! Numbers in pages: each in an element that also has the unrounded value and a name, for programs
//! that read pages.

use maud::{Markup, html};

use crate::chart::{bar_of, percent as short_percent};
use fairtree_model::span::Span;

/// A number called `name`, shown as `shown`.
pub fn figure(name: &str, value: f64, shown: &str) -> Markup {
    html! { span data-name=(name) data-value=(value_text(value)) { (shown) } }
}

/// A whole number.
pub fn count(name: &str, value: u64) -> Markup {
    html! { span data-name=(name) data-value=(value) { (value) } }
}

/// A part of a whole, in per cent.
pub fn percent(name: &str, part: f64) -> Markup {
    figure(name, part, &short_percent(Some(part)))
}

/// TRES-seconds, shown as TRES-hours.
pub fn hours(name: &str, tres_secs: f64) -> Markup {
    figure(name, tres_secs, &format!("{:.1} h", tres_secs / 3600.0))
}

/// Points of a priority, with two decimals where there are any.
pub fn points(name: &str, value: f64) -> Markup {
    let shown = format!("{value:.2}");
    let shown = shown.strip_suffix(".00").unwrap_or(&shown);
    figure(name, value, if shown == "-0" { "0" } else { shown })
}

/// A time in seconds, as Slurm writes it.
pub fn span(name: &str, secs: u64) -> Markup {
    html! { span data-name=(name) data-value=(secs) { (Span(secs).to_string()) } }
}

/// A moment, seconds since 1970, in UTC.
pub fn moment(name: &str, secs: i64) -> Markup {
    let text = jiff::Timestamp::from_second(secs).map(|moment| moment.to_string());
    html! {
        @if let Ok(text) = text {
            time datetime=(text) data-name=(name) data-value=(secs) { (text.replace('T', " ").replace('Z', " UTC")) }
        }
    }
}

/// A cell of a table with a number; empty for none.
pub fn cell(content: Option<Markup>) -> Markup {
    html! { td class="n" { @if let Some(content) = content { (content) } } }
}

/// A cell with a number, as [`figure`].
pub fn cell_of(name: &str, value: f64, shown: &str) -> Markup {
    cell(Some(figure(name, value, shown)))
}

/// A cell of a table with text.
pub fn text(content: &str) -> Markup {
    html! { td { (content) } }
}

/// A bar of use, with a mark for the share, both of the same whole.
pub fn meter(share: Option<f64>, used: f64) -> Markup {
    let share_words = share.map_or(String::new(), |share| {
        format!(", share {}", short_percent(Some(share)))
    });
    let words = format!("used {}{share_words}", short_percent(Some(used)));
    html! {
        svg class="meter" viewBox="0 0 100 14" preserveAspectRatio="none" role="img" aria-label=(words) {
            (bar_of((share, Some(used)), 0.0, 2.0, 100.0, 10.0))
        }
    }
}

/// A number with all digits that distinguish it; `inf` and `nan` in words.
fn value_text(value: f64) -> String {
    match value {
        value if value.is_nan() => "nan".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        // -0 is 0.
        value => (value + 0.0).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_unrounded_and_names_are_text() {
        let shown = percent("a\"b", 1.0 / 3.0).into_string();
        assert_eq!(
            shown,
            "<span data-name=\"a&quot;b\" data-value=\"0.3333333333333333\">33 %</span>"
        );
        assert!(
            figure("x", f64::INFINITY, "inf")
                .into_string()
                .contains("\"inf\"")
        );
        assert_eq!(
            points("p", -0.001).into_string(),
            "<span data-name=\"p\" data-value=\"-0.001\">0</span>"
        );
    }
}
