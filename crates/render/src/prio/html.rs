//! Rows of a report as a table of a page.

use maud::{Markup, html};

use crate::page::{cell, figure, points};
use fairtree_analysis::prio::{Figure, PrioReport};
use fairtree_model::input::sprio::Factor;

/// The rows `shown` of a report: points of each factor that has a weight. `link`: the address of a
/// job.
pub fn to_html(report: &PrioReport, shown: &[usize], link: &dyn Fn(u32) -> String) -> Markup {
    let factors = Factor::ALL.into_iter();
    let factors: Vec<Factor> = factors
        .filter(|factor| report.weighted[factor.index()])
        .collect();
    let number = |name: &str, value: Figure| cell(value.value().map(|value| points(name, value)));
    html! {
        div class="scroll" {
            table {
                thead { tr {
                    th { "Job" } th { "Partition" } th class="n" { "Priority" }
                    @for factor in &factors { th class="n" { (factor.name()) } }
                    th class="n" { "site" } th class="n" { "nice" }
                } }
                tbody {
                    @for row in shown.iter().map(|at| report.rows.get(*at)) {
                        tr data-row=(row.name()) {
                            td {
                                @if let Some(id) = row.job_id { a href=(link(id)) { (id) } }
                            }
                            td { (row.partition.unwrap_or("")) }
                            (cell(row.priority.value().map(|value| {
                                figure("priority", value.trunc(), &format!("{:.0}", value.trunc()))
                            })))
                            @for factor in &factors {
                                (number(factor.name(), row.points[factor.index()]))
                            }
                            (cell(row.site.map(|site| points("site", site as f64))))
                            (cell(row.nice.map(|nice| points("nice", nice as f64))))
                        }
                    }
                }
            }
        }
    }
}
