//! The page of a plan: its shares and commands, its effects as long as it fits, and what became of it.

use fairtree_analysis::plan::{Outcome, Plan, State, shares};
use fairtree_analysis::shares::{Grant, Proposal};
use fairtree_render::page::moment;
use maud::{Markup, html};
use serde::Serialize;

use super::shares::{commands, effects};
use super::{Seen, View, stored};
use crate::answer::Refusal;
use crate::question::Question;
use crate::sheet::Sheet;

/// The page.
#[derive(Serialize)]
pub(super) struct Planned<'a> {
    #[serde(flatten)]
    plan: Plan,
    /// The commands, as lines for a shell.
    lines: Vec<String>,
    /// What is different from the shares that it was made from.
    differences: Vec<String>,
    /// The effects, while nothing is different.
    proposal: Option<Proposal>,
    #[serde(skip)]
    may_change: bool,
    #[serde(skip)]
    seen: Seen<'a>,
}

impl<'a> Planned<'a> {
    pub(super) fn of(seen: Seen<'a>, id: &str) -> Result<Planned<'a>, Refusal> {
        let plan = match seen.around.store {
            Some(store) => store.plan(id).map_err(|error| stored(&error))?,
            None => None,
        };
        let plan = plan.filter(|plan| seen.may_see(plan));
        let plan = plan.ok_or_else(Refusal::unknown)?;
        let may_change = seen.may_change(&plan.account).is_some();
        // Others are not shown shares that were changed since.
        let is_open = plan.is_open() && may_change;
        let differences = match is_open {
            true => plan.differences(&seen.picture.cluster),
            false => Vec::new(),
        };
        let proposal = (is_open && differences.is_empty()).then(|| {
            let given = plan.shares.iter();
            let given = given.filter_map(|one| Some((one.name.clone(), shares(&one.after)?)));
            let asked = Grant {
                shares: given.collect(),
                minutes: Vec::new(),
            };
            seen.proposed(&plan.account, &asked).ok()
        });
        Ok(Planned {
            lines: plan.lines(),
            differences,
            proposal: proposal.flatten(),
            may_change,
            plan,
            seen,
        })
    }
}

impl Seen<'_> {
    /// Returns true if the person made a plan, or may change the shares that it is about.
    pub(super) fn may_see(self, plan: &Plan) -> bool {
        plan.user == self.viewer.user || self.may_change(&plan.account).is_some()
    }
}

/// What became of a plan, in a sentence.
pub(super) fn became(outcome: &Outcome) -> Markup {
    let word = match outcome.state {
        State::Applied => "Applied",
        State::Partly => "Applied in part",
        State::Failed => "Slurm did not take it when it was tried",
        State::Refused => "Shares had changed when it was tried, and nothing was run",
    };
    html! {
        (word) " by " (outcome.user) ", " (moment("outcome_time", outcome.time))
        @if outcome.said.is_empty() { "." } @else { ": " (outcome.said.join("; ")) "." }
    }
}

impl View for Planned<'_> {
    fn title(&self) -> String {
        format!("Plan {}", self.plan.id)
    }

    fn html(&self) -> Markup {
        let plan = &self.plan;
        html! {
            p {
                "By " (plan.user) ", " (moment("time", plan.time)) ", from the shares of "
                (moment("made_from", plan.made_from)) ", for the level below " (plan.account) "."
                @if let Some(id) = &plan.undo_of {
                    " It takes back " a href=(Question::Plan(id.clone()).to_string()) { "plan " (id) } "."
                }
            }
            @if let Some(outcome) = &plan.outcome {
                p class=(if plan.is_open() { "warning" } else { "" }) data-name="outcome" data-value=(outcome.state.name()) {
                    (became(outcome))
                }
            }
            @if !self.differences.is_empty() {
                p class="warning" { "The shares are not those that it was made from: " (self.differences.join("; ")) "." }
            }
            div class="scroll" {
                table {
                    thead { tr { th { "Account or user" } th class="n" { "Shares before" } th class="n" { "Shares after" } } }
                    tbody {
                        @for change in &plan.shares {
                            tr data-row=(change.name) {
                                td { (change.name) }
                                td class="n" data-name="before" data-value=(change.before) { (change.before) }
                                td class="n" data-name="after" data-value=(change.after) { (change.after) }
                            }
                        }
                    }
                }
            }
            @if let Some(proposal) = &self.proposal { (effects(proposal)) }
            (commands(&self.lines))
            @if self.may_change { (self.forms()) }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self)?)
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

impl Planned<'_> {
    /// Forms of those who may change the shares.
    fn forms(&self) -> Markup {
        let plan = &self.plan;
        let path = Question::Plan(plan.id.clone()).to_string();
        let token = html! {
            @if let Some(token) = &self.seen.around.form_token { input type="hidden" name="token" value=(token); }
        };
        html! {
            @if plan.is_open() && self.differences.is_empty() {
                h2 { "Apply" }
                p { "On a login node:" }
                pre { "fairtree apply " (plan.id) }
                @if self.seen.around.applies {
                    p { "Or here, with a token of your own that is used once and not kept. On a login node, " code { "scontrol token lifespan=60" } " prints one." }
                    form method="post" action=(format!("{path}/apply")) {
                        (token)
                        p {
                            label for="jwt" { "Token" } " "
                            input type="password" id="jwt" name="jwt" autocomplete="off" required;
                            " " button type="submit" { "Apply" }
                        }
                    }
                }
            }
            @if plan.can_be_undone() {
                h2 { "Take it back" }
                form method="post" action=(format!("{path}/undo")) {
                    (token)
                    p { button type="submit" { "Make the plan that takes it back" } }
                }
                p class="hint" { "Pages show the new shares from the next picture on." }
            }
        }
    }
}
