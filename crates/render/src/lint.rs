//! Findings of the linter as a part of a page.

use fairtree_lint::{Report, Severity};
use maud::{Markup, html};

/// The findings with the lines that they are about, and their counts.
pub fn to_html(report: &Report) -> Markup {
    let class = |severity: Severity| match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Note => "note",
    };
    html! {
        p {
            @for (severity, name) in [
                (Severity::Error, "errors"), (Severity::Warning, "warnings"), (Severity::Note, "notes"),
            ] {
                span data-name=(format!("lint_{name}")) data-value=(report.count(severity)) {
                    (report.count(severity)) " " (name)
                }
                " "
            }
        }
        @for finding in &report.findings {
            div class=(class(finding.severity())) {
                p { b { (finding.rule.id) } " at " (finding.place.to_string()) ": " (finding.reason) "." }
                pre { (finding.line.trim()) }
                p { "To do: " (finding.remedy) "." }
            }
        }
    }
}
