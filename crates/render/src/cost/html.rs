//! The cost as a part of a page.

use maud::{Markup, html};

use crate::page::{cell, figure, hours, points, span, text};
use fairtree_analysis::cost::Cost;
use fairtree_model::c_format;

/// The bill, its effect on the user and the accounts above, and its decay.
pub fn to_html(cost: &Cost) -> Markup {
    let bill = &cost.bill;
    let factor = |value: Option<f64>| value.map_or(String::new(), c_format::f);
    html! {
        h2 { "What it costs" }
        p {
            "For " (span("secs", cost.secs.into())) " " (cost.user) " is charged " (hours("charged", cost.charged))
            " (TRES-hours): billing " (points("billing", bill.billing)) " x UsageFactor "
            (points("usage_factor", bill.usage_factor)) " x time. When it ends, "
            (hours("left_at_end", cost.left_at_end)) " of it still count."
        }
        div class="scroll" {
            table {
                thead { tr { th { "TRES" } th class="n" { "Count" } th class="n" { "Weight" } th class="n" { "Billed" } } }
                tbody {
                    @for line in &bill.lines {
                        tr data-row=(line.tres) {
                            (text(&line.tres))
                            (cell(Some(figure("count", line.count as f64, &line.count.to_string()))))
                            (cell(Some(points("weight", line.weight))))
                            (cell(Some(points("weighted", line.weighted))))
                        }
                    }
                }
            }
        }
        h2 { "What that does to fair share" }
        div class="scroll" {
            table {
                thead { tr {
                    th { "Name" } th { "Place without it" } th { "Place with it" }
                    th class="n" { "Factor without it" } th class="n" { "Factor with it" }
                } }
                tbody {
                    @for effect in &cost.effects {
                        tr data-row=(effect.name) {
                            (text(&effect.name))
                            td { @if let Some(place) = effect.without.place { (place) " of " (effect.without.of) } }
                            td { @if let Some(place) = effect.with.place { (place) " of " (effect.with.of) } }
                            (cell(effect.without.fs_factor.map(|value| figure("fs_factor_without", value, &factor(Some(value))))))
                            (cell(effect.with.fs_factor.map(|value| figure("fs_factor_with", value, &factor(Some(value))))))
                        }
                    }
                }
            }
        }
        @match cost.order {
            Some(order) => p { "Under order=" (order.word()) " no points count: jobs start by what is used of what is entitled to." },
            None => @if let Some(gained) = cost.fairshare_points {
                p { "When it ends, each job of " (cost.user) " has " (points("fairshare_points", gained)) " points for fair share against without it." }
            },
        }
        @if !cost.assumptions.is_empty() {
            ul class="hint" { @for assumption in &cost.assumptions { li { (assumption) } } }
        }
    }
}
