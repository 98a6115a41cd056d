//! The findings as a list of a page.

use maud::{Markup, html};

use fairtree_analysis::doctor::Finding;

/// Findings with their remedies, in their order.
pub fn to_html<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Markup {
    html! {
        ul {
            @for finding in findings {
                li {
                    b { (finding.level.name()) } " (" (finding.check) "): " (finding.text) "."
                    @if let Some(remedy) = &finding.remedy { " To do: " (remedy) "." }
                }
            }
        }
    }
}
