//! All changes of shares that the person may see, and plans that were not applied.

use fairtree_analysis::plan::Plan;
use fairtree_render::page::moment;
use maud::{Markup, html};
use serde::Serialize;

use super::{Seen, View, stored};
use crate::answer::Refusal;
use crate::question::Question;
use crate::sheet::Sheet;
use crate::store::Recorded;

/// The page.
#[derive(Serialize)]
pub(super) struct Changes<'a> {
    schema: &'static str,
    /// Plans that can be applied, the last one first.
    plans: Vec<Plan>,
    /// Changes, the last one first.
    changes: Vec<Recorded>,
    /// Why changes that were made without a plan are not known.
    no_transactions: Option<&'a str>,
}

impl<'a> Changes<'a> {
    pub(super) fn of(seen: Seen<'a>) -> Result<Changes<'a>, Refusal> {
        let (mut plans, mut changes) = (Vec::new(), Vec::new());
        if let Some(store) = seen.around.store {
            plans = store.plans().map_err(|error| stored(&error))?;
            changes = store.changes().map_err(|error| stored(&error))?;
        }
        plans.retain(|plan| plan.is_open() && seen.may_see(plan));
        changes.retain(|change| change.actor == seen.viewer.user || seen.sees_named(&change.name));
        Ok(Changes {
            schema: "fairtree.changes/1",
            plans,
            changes,
            no_transactions: seen.around.no_transactions,
        })
    }
}

/// A link to a plan.
fn link(id: &str) -> Markup {
    html! { a href=(Question::Plan(id.to_owned()).to_string()) { "plan " (id) } }
}

impl View for Changes<'_> {
    fn title(&self) -> String {
        "Changes".to_owned()
    }

    fn html(&self) -> Markup {
        html! {
            @if !self.plans.is_empty() {
                h2 { "Plans that are not applied" }
                div class="scroll" {
                    table {
                        thead { tr { th { "Plan" } th { "When" } th { "Who" } th { "Account" } th { "Changes" } } }
                        tbody {
                            @for plan in &self.plans {
                                tr data-row=(plan.id) {
                                    td { (link(&plan.id)) }
                                    td { (moment("time", plan.time)) }
                                    td { (plan.user) }
                                    td { (plan.account) }
                                    td { @for change in &plan.shares { (change.name) ": " (change.before) " -> " (change.after) ". " } }
                                }
                            }
                        }
                    }
                }
            }
            h2 { "Changes of shares" }
            @if self.changes.is_empty() { p { "None that you may see." } } @else {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "When" } th { "Who" } th { "Account or user" } th class="n" { "Before" } th class="n" { "After" } th { "Outcome" }
                        } }
                        tbody {
                            @for change in &self.changes {
                                tr data-row=(change.name) {
                                    td { (moment("time", change.time)) }
                                    td { (change.actor) }
                                    td { (change.name) }
                                    td class="n" { (change.before.as_deref().unwrap_or("not known")) }
                                    td class="n" { (change.after) }
                                    td {
                                        @if let Some(id) = &change.plan { (change.outcome) ", " (link(id)) } @else { "from outside" }
                                    }
                                }
                            }
                        }
                    }
                }
            }
            @if let Some(why) = self.no_transactions {
                p class="hint" { "The last capture could not read changes that were made without a plan: " (why) "." }
            } @else {
                p class="hint" { "From outside: made without a plan, by slurmdbd's transactions." }
            }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&[
            "time", "actor", "name", "before", "after", "outcome", "plan",
        ]);
        for change in &self.changes {
            sheet.rows.push(vec![
                (change.time as f64).into(),
                change.actor.as_str().into(),
                change.name.as_str().into(),
                change.before.as_deref().into(),
                change.after.as_str().into(),
                change.outcome.as_str().into(),
                change.plan.as_deref().into(),
            ]);
        }
        sheet
    }
}
