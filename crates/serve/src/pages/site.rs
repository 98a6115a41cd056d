//! The whole site: its policy, which factor decides, ties, the recomputation check.

use fairtree::config::Order;
use fairtree_analysis::doctor::{Finding, Numbers};
use fairtree_analysis::waiting::Spread;
use fairtree_lint::Severity;
use fairtree_model::span::Span;
use fairtree_render::page::{cell, count, points};
use fairtree_render::{doctor, lint};
use maud::{Markup, html};
use serde::Serialize;

use super::account::usage_words;
use super::past::{OverDays, Whose};
use super::{Seen, View};
use crate::sheet::{Cell, Sheet};

/// The page.
#[derive(Serialize)]
pub(super) struct Site<'a> {
    schema: &'static str,
    cluster: Option<&'a str>,
    slurm: Option<&'a str>,
    priority_type: Option<&'a str>,
    time: i64,
    ranking: &'static str,
    usage: String,
    accounts: usize,
    users: usize,
    tied_users: u64,
    waiting_jobs: usize,
    /// Points of each term over the jobs that wait and are not held.
    terms: &'a [Spread],
    check: Option<Check>,
    /// What the doctor finds in the capture.
    doctor: &'a [Finding],
    /// Number of errors and warnings that the linter finds in slurm.conf.
    lint: Option<Linted>,
    #[serde(flatten)]
    over_days: OverDays,
    #[serde(skip)]
    seen: Seen<'a>,
}

/// Findings of the linter.
#[derive(Serialize)]
struct Linted {
    errors: usize,
    warnings: usize,
}

/// Recomputed numbers against printed ones.
#[derive(Serialize)]
struct Check {
    sshare: usize,
    sshare_differences: usize,
    sprio: usize,
    sprio_differences: usize,
    stock_ties: usize,
}

impl Check {
    fn of(numbers: &Numbers) -> Check {
        Check {
            sshare: numbers.shares,
            sshare_differences: numbers.shares_apart.len(),
            sprio: numbers.priorities,
            sprio_differences: numbers.priorities_apart.len(),
            stock_ties: numbers.stock_ties,
        }
    }
}

impl<'a> Site<'a> {
    pub(super) fn of(seen: Seen<'a>) -> Site<'a> {
        let picture = seen.picture;
        let config = &picture.cluster.config;
        let users = picture
            .cluster
            .names
            .iter()
            .filter(|name| name.user.is_some());
        let users = users.count();
        Site {
            schema: "fairtree.site/1",
            cluster: picture.manifest.cluster.as_deref(),
            slurm: picture.manifest.slurm.as_deref(),
            priority_type: picture.manifest.priority_type.as_deref(),
            time: picture.time(),
            ranking: config.ranking().name(),
            usage: config.usage().to_string(),
            accounts: picture.cluster.names.len() - users,
            users,
            tied_users: picture.tied_users,
            waiting_jobs: picture.line.len(),
            // Hidden jobs hide their factors.
            terms: match seen.viewer.sees_all_jobs(picture) {
                true => &picture.spreads,
                false => &[],
            },
            check: picture.numbers.as_ref().ok().map(Check::of),
            doctor: picture.findings(),
            lint: match &picture.linted {
                Some(Ok(report)) => Some(Linted {
                    errors: report.count(Severity::Error),
                    warnings: report.count(Severity::Warning),
                }),
                _ => None,
            },
            over_days: seen.over_days(Whose::Site),
            seen,
        }
    }
}

impl View for Site<'_> {
    fn title(&self) -> String {
        format!("Cluster {}", self.cluster.unwrap_or("unknown"))
    }

    fn html(&self) -> Markup {
        let picture = self.seen.picture;
        let config = &picture.cluster.config;
        let order = match config.order() {
            Order::Weighted => "The job with the highest priority comes first",
            Order::Strict => {
                "order=strict: the association that used least of its share comes first"
            }
            Order::Interleaved => {
                "order=interleaved: associations take turns by what they used of their shares"
            }
        };
        html! {
            h2 { "Policy" }
            dl {
                dt { "Slurm" } dd { (self.slurm.unwrap_or("unknown")) ", " (self.priority_type.unwrap_or("unknown")) }
                dt { "Ranking" } dd { (self.ranking) ": " (config.ranking().explained()) }
                dt { "Usage" } dd { (usage_words(config.usage(), config.priority_decay_half_life_secs)) }
                dt { "Order" } dd { (order) }
                dt { "Pass" } dd { "every " (Span(config.priority_calc_period_secs)) }
                @if let Some(policy) = config.policy_file() { dt { "Policy file" } dd { (policy) } }
                dt { "Tree" }
                dd {
                    (count("accounts", self.accounts as u64)) " accounts, "
                    (count("users", self.users as u64)) " users, of whom "
                    (count("tied_users", self.tied_users)) " have the fair-share factor of another"
                }
            }
            h2 { "Which factor decides" }
            p {
                (count("waiting_jobs", self.waiting_jobs as u64)) " jobs wait. A factor decides as far as "
                "its points differ from job to job, whatever its weight."
            }
            @if !self.terms.is_empty() {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Term" } th class="n" { "Fewest points" } th class="n" { "Median" }
                            th class="n" { "Most points" } th class="n" { "Difference" }
                        } }
                        tbody {
                            @for spread in self.terms {
                                tr data-row=(spread.term) {
                                    td { (spread.term) }
                                    (cell(Some(points("min", spread.min))))
                                    (cell(Some(points("median", spread.median))))
                                    (cell(Some(points("max", spread.max))))
                                    (cell(Some(points("range", spread.range()))))
                                }
                            }
                        }
                    }
                }
            }
            @if let Some(root) = picture.cluster.tree().root() {
                (self.seen.over_time(picture.children(root.get())))
            }
            (self.over_days.html())
            h2 { "Recomputation" }
            (self.checked())
            h2 { "Checks" }
            @if self.doctor.is_empty() { p { "None could be made from this capture." } }
            (doctor::to_html(self.doctor))
            p class="hint" { code { "fairtree doctor" } " on the host of slurmctld checks more: the plugin, its state, the next upgrade." }
            (self.linted())
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["term", "min", "median", "max", "range"]);
        for spread in self.terms {
            sheet.rows.push(vec![
                Cell::from(spread.term),
                spread.min.into(),
                spread.median.into(),
                spread.max.into(),
                spread.range().into(),
            ]);
        }
        self.over_days.add_to(&mut sheet, None);
        sheet
    }
}

impl Site<'_> {
    /// The findings in slurm.conf, for operators; others see only their number.
    fn linted(&self) -> Markup {
        let picture = self.seen.picture;
        html! {
            @match &picture.linted {
                None => {}
                Some(Err(why)) => { h2 { "slurm.conf" } p class="hint" { "Not checked: " (why) "." } }
                Some(Ok(report)) => {
                    h2 { "slurm.conf" }
                    @if self.seen.viewer.operator { (lint::to_html(report)) } @else if let Some(found) = &self.lint {
                        p {
                            "The linter finds " (count("lint_errors", found.errors as u64)) " errors and "
                            (count("lint_warnings", found.warnings as u64)) " warnings; operators see them here."
                        }
                    }
                }
            }
        }
    }

    fn checked(&self) -> Markup {
        let Some(check) = &self.check else {
            let why = self.seen.picture.numbers.as_ref().err();
            return html! { p { "Not done: " (why.map_or("", String::as_str)) "." } };
        };
        let differences = check.sshare_differences + check.sprio_differences;
        html! {
            p class=(if differences > 0 { "warning" } else { "" }) {
                (count("sshare_numbers", check.sshare as u64)) " numbers of sshare and "
                (count("sprio_numbers", check.sprio as u64)) " of sprio were computed again: "
                (count("check_differences", differences as u64)) " differ."
                @if differences > 0 {
                    " Right after a pass they agree; " code { "fairtree share --check" } " and "
                    code { "fairtree prio --check" } " list them."
                }
            }
            @if check.stock_ties > 0 {
                p { (count("stock_ties", check.stock_ties as u64)) " factors are of ties that Slurm's own plugin ranks against its documentation." }
            }
        }
    }
}
