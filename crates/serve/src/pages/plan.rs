//! Plans: changes of shares that somebody has kept.

use fairtree_render::page::moment;
use maud::{Markup, html};
use serde::Serialize;

use super::shares::effects;
use super::{Seen, View};
use crate::answer::Refusal;
use crate::plans::Plan;
use crate::question::Question;
use crate::sheet::Sheet;

/// The page of one plan.
pub(super) struct Planned<'a> {
    plan: &'a Plan,
}

impl<'a> Planned<'a> {
    pub(super) fn of(seen: Seen<'_>, plan: Option<&'a Plan>) -> Result<Planned<'a>, Refusal> {
        let plan = plan.filter(|plan| seen.may_see(plan));
        plan.map(|plan| Planned { plan })
            .ok_or_else(Refusal::unknown)
    }
}

impl Seen<'_> {
    /// Returns true if the person made a plan, or may change the shares that it is about.
    fn may_see(self, plan: &Plan) -> bool {
        plan.user == self.viewer.user || self.may_change(&plan.account).is_some()
    }
}

impl View for Planned<'_> {
    fn title(&self) -> String {
        format!("Plan {}", self.plan.id)
    }

    fn html(&self) -> Markup {
        html! {
            p {
                "By " (self.plan.user) ", " (moment("time", self.plan.time)) ", from the picture of "
                (moment("made_from", self.plan.made_from)) "."
            }
            (effects(&self.plan.proposal))
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self.plan)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["name", "before", "after"]);
        for change in &self.plan.shares {
            sheet.rows.push(vec![
                change.name.as_str().into(),
                change.before.as_str().into(),
                change.after.as_str().into(),
            ]);
        }
        sheet
    }
}

/// The page of all plans that the person may see.
#[derive(Serialize)]
pub(super) struct Changes<'a> {
    schema: &'static str,
    plans: Vec<&'a Plan>,
}

impl<'a> Changes<'a> {
    pub(super) fn of(seen: Seen<'_>, plans: &'a [Plan]) -> Changes<'a> {
        let visible = plans.iter().rev().filter(|plan| seen.may_see(plan));
        Changes {
            schema: "fairtree.changes/1",
            plans: visible.collect(),
        }
    }
}

impl View for Changes<'_> {
    fn title(&self) -> String {
        "Changes".to_owned()
    }

    fn html(&self) -> Markup {
        html! {
            @if self.plans.is_empty() { p { "No plans that you may see." } } @else {
                div class="scroll" {
                    table {
                        thead { tr { th { "Plan" } th { "When" } th { "Who" } th { "Account" } th { "Changes" } } }
                        tbody {
                            @for plan in &self.plans {
                                tr data-row=(plan.id) {
                                    td { a href=(Question::Plan(plan.id.clone()).to_string()) { (plan.id) } }
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
            p class="hint" { "Plans are kept until the service is started anew. Whether one was applied is not known here." }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["plan", "time", "user", "account", "name", "before", "after"]);
        for plan in &self.plans {
            for change in &plan.shares {
                sheet.rows.push(vec![
                    plan.id.as_str().into(),
                    (plan.time as f64).into(),
                    plan.user.as_str().into(),
                    plan.account.as_str().into(),
                    change.name.as_str().into(),
                    change.before.as_str().into(),
                    change.after.as_str().into(),
                ]);
            }
        }
        sheet
    }
}
