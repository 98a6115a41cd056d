//! The form of a level: its children, their shares, and what other shares would do.

use std::collections::BTreeSet;

use fairtree::config::MinutesFrom;
use fairtree::tree::{AssocIndex, Shares as Raw};
use fairtree_analysis::plan::{Change, LevelThen, Plan, SCHEMA, word};
use fairtree_analysis::shares::{Grant, Kept, Level, LevelRow, Proposal, level, propose};
use fairtree_model::cluster::Names;
use fairtree_render::page::{cell, count, figure, hours, percent};
use fairtree_render::shares::to_json;
use maud::{Markup, html};

use super::{Seen, View};
use crate::answer::Refusal;
use crate::sheet::Sheet;

/// At most this many that move are listed, those that move most.
const MOVERS: usize = 40;

/// The page.
pub(super) struct Shares<'a> {
    seen: Seen<'a>,
    account: &'a str,
    before: Level,
    /// The effects of the shares that were asked for, or why they are refused; `None`: nothing was.
    proposal: Option<Result<Proposal, String>>,
    asked: Grant,
}

impl<'a> Shares<'a> {
    pub(super) fn of(seen: Seen<'a>, name: &str, fields: &str) -> Result<Shares<'a>, Refusal> {
        let picture = seen.picture;
        let at = seen.may_change(name).ok_or_else(Refusal::unknown)?;
        let account = &*picture.cluster.name(at).account;
        let failed = |error: &dyn std::fmt::Display| Refusal::failed(error.to_string());
        let before = level(&picture.cluster, Some(account)).map_err(|error| failed(&error))?;
        let asked = asked(&before, fields)?;
        let proposal = (!asked.shares.is_empty()).then(|| seen.proposed(account, &asked));
        Ok(Shares {
            seen,
            account,
            before,
            proposal,
            asked,
        })
    }

    /// The plan of the shares that were asked for, as yet without a number.
    ///
    /// # Errors
    /// Nothing was asked for, or the site would refuse it.
    pub(super) fn plan(&self) -> Result<Plan, Refusal> {
        match &self.proposal {
            Some(Ok(_)) => {}
            Some(Err(why)) => return Err(Refusal::wrong(why.as_str())),
            None => return Err(Refusal::wrong("No shares differ from those of the picture")),
        }
        let picture = self.seen.picture;
        let cluster = &picture.cluster;
        let (mut shares, mut parents) = (Vec::new(), BTreeSet::new());
        for (name, after) in &self.asked.shares {
            let at = cluster.find_any(name);
            let at = at.map_err(|error| Refusal::wrong(error.to_string()))?;
            parents.extend(cluster.tree().parent(at));
            shares.push(Change {
                name: cluster.assoc(at),
                who: cluster.name(at).into(),
                before: word(cluster.tree().rows()[at.get()].shares),
                after: word(*after),
            });
        }
        let unknown = || Refusal::failed("The capture does not contain the name of the cluster");
        let plan = Plan {
            schema: SCHEMA.to_owned(),
            id: String::new(),
            user: self.seen.viewer.user.clone(),
            account: self.account.to_owned(),
            cluster: picture.manifest.cluster.clone().ok_or_else(unknown)?,
            time: super::now(),
            made_from: picture.time(),
            shares,
            levels: parents
                .into_iter()
                .map(|parent| LevelThen::of(cluster, parent))
                .collect(),
            undo_of: None,
            outcome: None,
        };
        plan.check()
            .map_err(|error| Refusal::wrong(error.to_string()))?;
        Ok(plan)
    }
}

impl Seen<'_> {
    /// The effects of shares below an account, as far as the person may see them.
    ///
    /// # Errors
    /// A sentence: the site would refuse the shares.
    pub(super) fn proposed(self, account: &str, asked: &Grant) -> Result<Proposal, String> {
        let kept = Kept::Slurm { policy: None };
        let proposal = propose(&self.picture.cluster, Some(account), asked, &kept);
        let mut proposal = proposal.map_err(|refusal| refusal.to_string())?;
        // Those who move may be anywhere on the site.
        proposal.moves.retain(|moved| self.sees_named(&moved.name));
        Ok(proposal)
    }

    /// Returns true if the person may see the usage of what has this name in reports.
    pub(super) fn sees_named(self, name: &str) -> bool {
        let found = self.named(name);
        found.is_some_and(|at| self.viewer.sees_usage(self.picture, at.get()))
    }

    /// The association of an account whose level the person may change: as an operator, or as a
    /// coordinator of it or of an account above.
    pub(super) fn may_change(self, name: &str) -> Option<AssocIndex> {
        let at = self.picture.account(name)?;
        let coordinates =
            !self.picture.coordinators_disabled && self.viewer.coordinates(self.picture, at.get());
        (self.viewer.operator || coordinates).then_some(at)
    }
}

/// The shares that differ from those of a level, by the fields `NAME=SHARES` of its form.
fn asked(level: &Level, fields: &str) -> Result<Grant, Refusal> {
    let fields: Vec<(String, String)> = serde_urlencoded::from_str(fields)
        .map_err(|error| Refusal::wrong(format!("The form: {error}")))?;
    let mut grant = Grant::default();
    for (name, value) in fields {
        let Some(name) = name.strip_prefix("shares:") else {
            continue;
        };
        let row = level.rows.iter().find(|row| row.name == name);
        let row = row.ok_or_else(|| Refusal::wrong(format!("{name} is not of this level")))?;
        let allowed = || {
            Refusal::wrong(format!(
                "{name}: found {value:?}, allowed is a whole number from 0 to 2147483646, or parent"
            ))
        };
        let shares = match value.trim() {
            "parent" => Raw::Parent,
            text => match text.parse::<u32>() {
                Ok(shares) if shares <= Raw::MAX_RAW => Raw::Raw(shares),
                _ => return Err(allowed()),
            },
        };
        if shares.raw() != row.raw_shares {
            grant.shares.push((name.to_owned(), shares));
        }
    }
    Ok(grant)
}

fn shown(shares: Option<u32>) -> String {
    shares.map_or_else(|| "parent".to_owned(), |shares| shares.to_string())
}

impl View for Shares<'_> {
    fn title(&self) -> String {
        format!("Shares below {}", self.account)
    }

    fn html(&self) -> Markup {
        let action = format!("{}/shares", crate::question::account(self.account));
        let asked = |row: &LevelRow| {
            let found = self.asked.shares.iter().find(|(name, _)| *name == row.name);
            found.map_or(row.raw_shares, |(_, shares)| shares.raw())
        };
        let part = |name: &str, value: Option<f64>| cell(value.map(|value| percent(name, value)));
        html! {
            (self.minutes())
            form method="get" action=(action) {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Account or user" } th class="n" { (if self.are_minutes() { "Minutes" } else { "Shares" }) }
                            @if self.in_file() { th class="n" { "Minutes" } }
                            th class="n" { "Of the level" }
                            th class="n" { "Of the whole" } th class="n" { "Used" } th class="n" { "Used over its part" }
                        } }
                        tbody {
                            @for row in &self.before.rows {
                                tr data-row=(row.name) {
                                    td { label for=(format!("shares:{}", row.name)) { (row.name) } }
                                    td class="n" {
                                        input class="count" id=(format!("shares:{}", row.name)) name=(format!("shares:{}", row.name))
                                            value=(shown(asked(row)));
                                        @if let Some(shares) = row.raw_shares { " " (count("raw_shares", shares.into())) }
                                    }
                                    @if self.in_file() { (cell(row.minutes.map(|minutes| count("minutes", minutes)))) }
                                    (part("share_of_level", row.share_of_level))
                                    (part("share_of_whole", row.share_of_whole))
                                    (cell(Some(hours("used", row.used))))
                                    (cell(row.used_ratio.map(|ratio| figure("used_ratio", ratio, &format!("{ratio:.3}")))))
                                }
                            }
                            tr class="sum" {
                                td { "Sum" }
                                @if self.are_minutes() {
                                    (cell(Some(count("sum_minutes", self.before.sum.minutes))))
                                } @else {
                                    (cell(Some(count("sum_raw_shares", self.before.sum.raw_shares))))
                                }
                                @if self.in_file() { (cell(Some(count("sum_minutes", self.before.sum.minutes)))) }
                                (part("sum_share_of_level", Some(self.before.sum.share_of_level)))
                                (part("sum_share_of_whole", Some(self.before.sum.share_of_whole)))
                                (cell(Some(hours("sum_used", self.before.sum.used))))
                                td {}
                            }
                        }
                    }
                }
                p { button type="submit" { "Compute" } }
            }
            @match &self.proposal {
                None => p class="hint" { "Nothing is changed here: the next page shows who would move, and the commands to run." },
                Some(Err(why)) => p class="error" { (why) "." },
                Some(Ok(proposal)) => {
                    (effects(proposal))
                    (commands(&proposal.commands.lines))
                    form method="post" action="/plan" {
                        input type="hidden" name="account" value=(self.account);
                        @if let Some(token) = &self.seen.around.form_token { input type="hidden" name="token" value=(token); }
                        @for (name, shares) in &self.asked.shares {
                            input type="hidden" name=(format!("shares:{name}")) value=(shown(shares.raw()));
                        }
                        p { button type="submit" { "Keep as a plan" } }
                    }
                }
            }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let proposal = self
            .proposal
            .as_ref()
            .and_then(|proposal| proposal.as_ref().ok());
        to_json(out, &self.before, proposal)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&[
            "name",
            "raw_shares",
            "share_of_level",
            "share_of_whole",
            "used",
            "used_ratio",
        ]);
        for row in &self.before.rows {
            sheet.rows.push(vec![
                row.name.as_str().into(),
                shown(row.raw_shares).as_str().into(),
                row.share_of_level.into(),
                row.share_of_whole.into(),
                row.used.into(),
                row.used_ratio.into(),
            ]);
        }
        sheet
    }
}

impl Shares<'_> {
    fn given_from(&self, from: MinutesFrom) -> bool {
        let minutes = self.before.minutes.as_ref();
        minutes.is_some_and(|minutes| minutes.from == from)
    }

    /// Returns true if raw shares of accounts are their minutes.
    fn are_minutes(&self) -> bool {
        self.given_from(MinutesFrom::Shares)
    }

    /// Returns true if minutes are in a policy file.
    fn in_file(&self) -> bool {
        self.given_from(MinutesFrom::File)
    }

    /// Minutes of the account, given to its children, and left.
    fn minutes(&self) -> Markup {
        let Some(minutes) = &self.before.minutes else {
            return html! {};
        };
        let file = self.seen.picture.cluster.config.policy_file();
        html! {
            p {
                (count("given_minutes", minutes.given)) " minutes are given out"
                @if let (Some(has), Some(left)) = (minutes.of_account, minutes.left) {
                    " of " (figure("of_account_minutes", has, &format!("{has:.0}"))) " that " (self.account) " has; "
                    @if left < 0.0 {
                        span class="warning" { (figure("left_minutes", left, &format!("{:.0}", -left))) " too many" }
                    } @else {
                        (figure("left_minutes", left, &format!("{left:.0}"))) " are unassigned"
                    }
                }
                @if minutes.sharing > 0 {
                    ", and " (count("sharing", minutes.sharing as u64)) " children without minutes divide what is left"
                }
                "."
            }
            @if self.in_file() {
                p class="hint" {
                    "Minutes stand in the policy file " (file.unwrap_or("of the site")) ", and are changed there, not here. "
                    "Where an account has minutes, its shares change nothing."
                }
            } @else {
                p class="hint" { "minutes=shares: the raw shares of an account are its minutes." }
            }
        }
    }
}

/// Shares of the level and of the whole before and after, warnings, who moves, and the commands.
pub(super) fn effects(proposal: &Proposal) -> Markup {
    let place = |side: Option<&fairtree_analysis::what_if::AssocStanding>| {
        let side = side.and_then(|side| side.place.map(|place| (place, side.of)));
        side.map_or(String::new(), |(place, of)| format!("{place} of {of}"))
    };
    html! {
        h2 { "What this would do" }
        ul { @for change in &proposal.changes { li { (change) } } }
        @for warning in &proposal.warnings { p class="warning" { (warning) "." } }
        @for change in &proposal.levels {
            div class="scroll" {
                table {
                    caption { "Below " (change.after.account.name) }
                    thead { tr {
                        th { "Account or user" } th { "Shares" } th class="n" { "Of the level before" }
                        th class="n" { "after" } th class="n" { "Of the whole before" } th class="n" { "after" }
                    } }
                    tbody {
                        @for (before, after) in change.rows() {
                            @let part = |name: &str, value: Option<f64>| cell(value.map(|value| percent(name, value)));
                            tr data-row=(after.name) {
                                td { (after.name) }
                                td { (before.map_or(String::new(), |row| shown(row.raw_shares))) " -> " (shown(after.raw_shares)) }
                                (part("share_of_level_before", before.and_then(|row| row.share_of_level)))
                                (part("share_of_level_after", after.share_of_level))
                                (part("share_of_whole_before", before.and_then(|row| row.share_of_whole)))
                                (part("share_of_whole_after", after.share_of_whole))
                            }
                        }
                    }
                }
            }
        }
        h3 { "Who moves, those that move most first" }
        @if proposal.moves.is_empty() { p { "Nobody." } } @else {
            div class="scroll" {
                table {
                    thead { tr { th { "Name" } th { "Place before" } th { "Place after" } } }
                    tbody {
                        @for moved in proposal.moves.iter().take(MOVERS) {
                            tr data-row=(moved.name) {
                                td { (moved.name) }
                                td { (place(moved.before.as_ref())) }
                                td { (place(moved.after.as_ref())) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The lines of sacctmgr.
pub(super) fn commands(lines: &[String]) -> Markup {
    html! {
        h3 { "The commands" }
        pre { @for line in lines { (line) "\n" } }
        p class="hint" { "They are run as you, never by a right of this service: Slurm decides whether you may." }
    }
}
