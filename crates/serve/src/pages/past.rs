//! Waits of the jobs that started in the last days, day by day.

use fairtree_analysis::past::DayOfWaits;
use fairtree_model::span::Span;
use fairtree_render::chart::{Column, columns};
use fairtree_render::page::{cell, count, figure, moment};
use maud::{Markup, html};
use serde::Serialize;

use super::Seen;
use crate::past::Past;
use crate::sheet::{Cell, Sheet};

/// Columns of days in a table.
const COLUMNS: [&str; 4] = [
    "day",
    "started_jobs",
    "median_wait_seconds",
    "p95_wait_seconds",
];

/// Whose jobs.
#[derive(Clone, Copy, Debug)]
pub(super) enum Whose {
    /// Those of the person who looks.
    Mine,
    /// Those of an account and of all below it, by position.
    Account(usize),
    /// All.
    Site,
}

/// What became of jobs, by day.
#[derive(Debug, Serialize)]
pub(super) struct OverDays {
    /// When sacct was asked, seconds since 1970; `None`: no capture has past jobs.
    past_taken: Option<i64>,
    /// Days on which jobs started.
    waits: Vec<DayOfWaits>,
    #[serde(skip)]
    why: Option<String>,
}

impl Seen<'_> {
    /// Past jobs that the person may see, by day.
    pub(super) fn over_days(self, whose: Whose) -> OverDays {
        let past = match self.picture.past() {
            Ok(past) => past,
            Err(why) => {
                return OverDays {
                    past_taken: None,
                    waits: Vec::new(),
                    why: Some(why.clone()),
                };
            }
        };
        OverDays {
            past_taken: past.folder.is_some().then_some(past.taken),
            waits: self.waits_by_day(past, whose),
            why: None,
        }
    }

    fn waits_by_day(self, past: &Past, whose: Whose) -> Vec<DayOfWaits> {
        past.starts.by_day(|account, user| {
            let wanted = match whose {
                Whose::Mine => user == self.viewer.user,
                Whose::Account(at) => self.is_below(account, at),
                Whose::Site => true,
            };
            wanted && self.viewer.sees_job_of(self.picture, account, user)
        })
    }

    /// Returns true if a name is of an account, or of one below it.
    fn is_below(self, name: &str, account: usize) -> bool {
        let mut next = self.picture.account(name);
        while let Some(at) = next {
            if at.get() == account {
                return true;
            }
            next = self.picture.cluster.tree.parent(at);
        }
        false
    }
}

impl OverDays {
    /// The charts and their numbers; nothing where no capture has past jobs.
    pub(super) fn html(&self) -> Markup {
        if let Some(why) = &self.why {
            return html! { p class="warning" { "Waits over time: " (why) "." } };
        }
        let Some(taken) = self.past_taken else {
            return html! {};
        };
        let column = |day: &DayOfWaits| Column {
            day: day.day,
            value: day.median_wait_seconds / 3600.0,
            mark: Some(day.p95_wait_seconds / 3600.0),
        };
        let drawn: Vec<Column> = self.waits.iter().map(column).collect();
        let secs = |name, secs: f64| figure(name, secs, &Span(secs.round() as u64).to_string());
        html! {
            h2 { "Waits over time" }
            @if self.waits.is_empty() { p { "No job that you may see here started in the last 30 days." } } @else {
                p class="hint" {
                    "Waits of jobs that started on a day (UTC), from when they were eligible: columns are medians, lines are "
                    "what 95 of 100 did not exceed. sacct was asked at " (moment("past_taken", taken)) "."
                }
                (columns("Median wait of each day, and the wait that 95 of 100 jobs did not exceed", "h", &drawn))
                details {
                    summary { "Numbers" }
                    div class="scroll" {
                        table {
                            thead { tr { th { "Day" } th class="n" { "Started" } th class="n" { "Median wait" } th class="n" { "95 of 100 waited no longer than" } } }
                            tbody {
                                @for day in &self.waits {
                                    tr data-row=(day.day) {
                                        td { (moment("day", day.day)) }
                                        (cell(Some(count("started_jobs", day.started_jobs))))
                                        (cell(Some(secs("median_wait_seconds", day.median_wait_seconds))))
                                        (cell(Some(secs("p95_wait_seconds", day.p95_wait_seconds))))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Adds columns to a table, empty in its rows, and a row for each day; `kind`: what its first cell says there.
    pub(super) fn add_to(&self, sheet: &mut Sheet, kind: Option<&str>) {
        let before = sheet.columns.len();
        sheet.columns.extend(COLUMNS);
        for row in &mut sheet.rows {
            row.resize(before + COLUMNS.len(), Cell::Empty);
        }
        for day in &self.waits {
            let mut row = vec![Cell::Empty; before];
            row[0] = kind.into();
            row.extend([
                Cell::Number(day.day as f64),
                day.started_jobs.into(),
                day.median_wait_seconds.into(),
                day.p95_wait_seconds.into(),
            ]);
            sheet.rows.push(row);
        }
    }
}
