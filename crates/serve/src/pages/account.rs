//! An account: its way from the root, its children, their shares and use.

use fairtree::config::UsageModel;
use fairtree::tree::AssocIndex;
use fairtree_model::span::Span;
use fairtree_render::share;
use maud::{Markup, html};

use super::past::{OverDays, Whose};
use super::{Seen, View, words};
use crate::answer::Refusal;
use crate::sheet::Sheet;

/// The page.
pub(super) struct Account<'a> {
    seen: Seen<'a>,
    name: &'a str,
    at: usize,
    /// The accounts from the root down to this one.
    way: Vec<usize>,
    /// Accounts and users right below it.
    below: Vec<usize>,
    /// How many more there are that the person may not see.
    hidden: usize,
    over_days: OverDays,
}

impl<'a> Account<'a> {
    pub(super) fn of(seen: Seen<'a>, name: &str) -> Result<Account<'a>, Refusal> {
        let (picture, viewer) = (seen.picture, seen.viewer);
        let at = picture.account(name).ok_or_else(Refusal::unknown)?;
        if !viewer.sees_usage(picture, at.get()) {
            return Err(Refusal::unknown());
        }
        let visible = |at: &usize| viewer.sees_usage(picture, *at);
        let way = picture.cluster.tree().upward(at).map(AssocIndex::get);
        let mut way: Vec<usize> = way.filter(visible).collect();
        way.reverse();
        let all = picture.children(at.get());
        let below: Vec<usize> = all.iter().copied().filter(visible).collect();
        Ok(Account {
            seen,
            name: &picture.cluster.name(at).account,
            at: at.get(),
            hidden: all.len() - below.len(),
            over_days: seen.over_days(Whose::Account(at.get())),
            way,
            below,
        })
    }

    /// The rows of the document: the account, and what is right below.
    fn rows(&self) -> Vec<usize> {
        let mut rows = vec![self.at];
        rows.extend(&self.below);
        rows.sort_unstable();
        rows
    }
}

/// How usage counts, in a sentence.
pub(super) fn usage_words(usage: UsageModel, half_life_secs: u32) -> String {
    match usage {
        UsageModel::HalfLife if half_life_secs == 0 => {
            "Usage does not decay (PriorityDecayHalfLife=0)".to_owned()
        }
        UsageModel::HalfLife => format!(
            "Usage counts half after {} (PriorityDecayHalfLife)",
            Span(half_life_secs)
        ),
        UsageModel::Window { length_secs } => {
            format!(
                "Usage of the last {} counts, older use does not",
                Span(length_secs)
            )
        }
        _ => "All usage counts, however old".to_owned(),
    }
}

impl View for Account<'_> {
    fn title(&self) -> String {
        format!("Account {}", self.name)
    }

    fn html(&self) -> Markup {
        let (seen, picture) = (self.seen, self.seen.picture);
        let config = &picture.cluster.config;
        let root = picture
            .cluster
            .tree()
            .parent(AssocIndex::new(self.at))
            .is_none();
        let link = |name: &str| seen.link(name).filter(|_| name != self.name);
        let level = |at: usize| self.way.iter().position(|step| *step == at).unwrap_or(0);
        html! {
            @if !root { p { (self.name) " " (words::standing(picture.standing(self.at))) "." } }
            p class="hint" {
                (usage_words(config.usage(), config.priority_decay_half_life_secs)) ". "
                "Factors are made by " (config.ranking().name()) "."
            }
            @if self.way.len() > 1 {
                h2 { "From the root to " (self.name) }
                (share::to_html(&picture.report, &self.way, &link, &level))
            }
            h2 { "Below " (self.name) }
            @if seen.may_change(self.name).is_some() {
                p { a href=(format!("{}/shares", crate::question::account(self.name))) { "Give out shares" } }
            }
            @if self.below.is_empty() { p { "Nobody that you may see." } } @else {
                (share::to_html(&picture.report, &self.below, &link, &|_| 0))
            }
            @if self.hidden > 0 {
                p class="hint" {
                    span data-name="hidden" data-value=(self.hidden) { (self.hidden) }
                    " more that you may not see."
                }
            }
            (seen.over_time(&self.below))
            (self.over_days.html())
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        share::to_json_with(
            out,
            &self.seen.picture.report,
            &self.rows(),
            &self.over_days,
        )
    }

    fn csv(&self) -> Sheet {
        let report = &self.seen.picture.report;
        let mut sheet = Sheet::new(&[
            "kind",
            "account",
            "user",
            "partition",
            "raw_shares",
            "norm_shares",
            "share_of_whole",
            "raw_usage",
            "effective_usage",
            "entitled",
            "due",
            "used_ratio",
            "level_fs",
            "fs_factor",
            "place",
            "places",
        ]);
        for at in self.rows() {
            let row = &report.rows[at];
            let shares = row.raw_shares.map(|shares| match shares.raw() {
                Some(shares) => shares.to_string(),
                None => "parent".to_owned(),
            });
            sheet.rows.push(vec![
                if row.user.is_some() {
                    "user"
                } else {
                    "account"
                }
                .into(),
                row.account.as_deref().into(),
                row.user.as_deref().into(),
                row.partition.as_deref().into(),
                shares.as_deref().into(),
                row.norm_shares.value().into(),
                row.share_of_whole.value().into(),
                row.raw_usage.into(),
                row.effective_usage.value().into(),
                row.entitled.value().into(),
                row.due.value().into(),
                row.used_ratio.value().into(),
                row.level_fs.value().into(),
                row.fs_factor.value().into(),
                row.place.map(|place| place.place).into(),
                row.place.map(|place| place.of).into(),
            ]);
        }
        self.over_days.add_to(&mut sheet, Some("day"));
        sheet
    }
}
