//! Waits of the jobs that started in the last days, and core-hours owed, day by day.

use std::collections::BTreeMap;

use fairtree::tree::AssocIndex;
use fairtree_analysis::past::{DAY_SECS, DayOfOwed, DayOfWaits};
use fairtree_model::input::slurm::snapshot::Source;
use fairtree_model::span::Span;
use fairtree_render::chart::{Column, columns};
use fairtree_render::page::{cell, cell_of, count, figure, moment};
use maud::{Markup, html};
use serde::Serialize;

use super::Seen;
use crate::past::Past;
use crate::sheet::{Cell, Sheet};
use crate::store::{Group, StoreError};

/// Columns of days in a table.
const COLUMNS: [&str; 5] = [
    "day",
    "started_jobs",
    "median_wait_seconds",
    "p95_wait_seconds",
    "owed_core_hours",
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

/// Past jobs, by day.
#[derive(Debug, Serialize)]
pub(super) struct OverDays {
    /// When sacct was asked, seconds since 1970; `None`: no capture has past jobs.
    past_taken: Option<i64>,
    /// The end of the days that are only in the database, seconds since 1970; `None`: no such days.
    kept_until: Option<i64>,
    /// Days on which jobs started.
    waits: Vec<DayOfWaits>,
    /// All days of the past jobs, and those that are kept; empty where it cannot be computed, or where the person sees nobody to whom it could be owed.
    owed: Vec<DayOfOwed>,
    #[serde(skip)]
    why: Option<String>,
}

impl Seen<'_> {
    /// Past jobs that the person may see, by day.
    pub(super) fn over_days(self, whose: Whose) -> OverDays {
        let mut over = OverDays {
            past_taken: None,
            kept_until: None,
            waits: Vec::new(),
            owed: Vec::new(),
            why: None,
        };
        let past = match self.picture.past() {
            Ok(past) => past,
            Err(why) => {
                over.why = Some(why.clone());
                return over;
            }
        };
        over.past_taken = past.folder.is_some().then_some(past.taken);
        let until = match past.folder {
            Some(_) => past.first_day,
            None => i64::MAX,
        };
        let (group, sees_jobs, sees_usage) = self.group(whose);
        if let Err(error) = self.kept_days(&group, (sees_jobs, sees_usage), until, &mut over) {
            over.why = Some(error.to_string());
        }
        let days = past.days.of_group(&group);
        match sees_jobs {
            true => over.waits.extend(days.map_or(&[][..], |days| &days.waits)),
            false => over.waits.extend(self.waits_by_day(past, whose)),
        }
        match sees_usage {
            true => over.owed.extend(days.map_or(&[][..], |days| &days.owed)),
            false => over.owed.extend(self.owed_by_day(past, whose)),
        }
        over
    }

    /// Whose jobs they are, and whether the person sees all their jobs and all their use.
    fn group(self, whose: Whose) -> (Group, bool, bool) {
        let (viewer, private) = (self.viewer, self.picture.private);
        let (group, sees_all) = match whose {
            Whose::Mine => (Group::User(viewer.user.clone()), true),
            Whose::Site => (Group::Site, viewer.operator),
            Whose::Account(at) => {
                let name = &self.picture.cluster.name(AssocIndex::new(at)).account;
                let sees = viewer.operator || viewer.coordinates(self.picture, at);
                (Group::Account(name.clone()), sees)
            }
        };
        let sees_usage = sees_all || !(private.usage || private.accounts);
        let sees_jobs = sees_all || !private.jobs;
        // Owed core-hours show whose jobs waited.
        (group, sees_jobs, sees_usage && sees_jobs)
    }

    /// Adds days that the database has, before a moment. It has those of whole groups: who does not see all jobs, or
    /// all use, of a group sees none of its days there.
    fn kept_days(
        self,
        group: &Group,
        (sees_jobs, sees_usage): (bool, bool),
        until: i64,
        over: &mut OverDays,
    ) -> Result<(), StoreError> {
        let Some(store) = self.around.store.filter(|_| sees_jobs || sees_usage) else {
            return Ok(());
        };
        for day in store.days(group, until)? {
            let waits = day.waits.filter(|_| sees_jobs);
            let owed = day.owed.filter(|_| sees_usage);
            if waits.is_some() || owed.is_some() {
                over.kept_until = Some(day.day + DAY_SECS);
            }
            over.waits.extend(waits);
            over.owed.extend(owed);
        }
        Ok(())
    }

    fn waits_by_day(self, past: &Past, whose: Whose) -> Vec<DayOfWaits> {
        past.starts.by_day(|account, user| {
            let sees = self.viewer.sees_job_of(self.picture, account, user);
            sees && match whose {
                Whose::Mine => user == self.viewer.user,
                Whose::Account(at) => self.is_below(account, at),
                Whose::Site => true,
            }
        })
    }

    fn owed_by_day(self, past: &Past, whose: Whose) -> Vec<DayOfOwed> {
        let Some(owed) = &past.owed else {
            return Vec::new();
        };
        let groups = match whose {
            Whose::Mine => &owed.users,
            Whose::Account(_) | Whose::Site => &owed.accounts,
        };
        let sees = |name: &str| {
            let at = self.picture.account(name);
            let sees_usage = at.is_some_and(|at| self.viewer.sees_usage(self.picture, at.get()));
            sees_usage && self.viewer.sees_job_of(self.picture, name, "")
        };
        let wanted = groups.iter().filter(|group| match whose {
            Whose::Mine => group.name == self.viewer.user,
            Whose::Account(at) => self.is_below(&group.name, at) && sees(&group.name),
            Whose::Site => sees(&group.name),
        });
        let wanted: Vec<_> = wanted.collect();
        match wanted.is_empty() {
            true => Vec::new(),
            false => owed.by_day(wanted.into_iter()),
        }
    }

    /// Returns true if a name is of an account, or of one below it.
    fn is_below(self, name: &str, account: usize) -> bool {
        let tree = self.picture.cluster.tree();
        let mut way = tree.upward(self.picture.account(name));
        way.any(|at| at.get() == account)
    }
}

impl OverDays {
    /// The charts and their numbers; nothing where no capture has past jobs.
    pub(super) fn html(&self) -> Markup {
        if let Some(why) = &self.why {
            return html! { p class="warning" { "Waits over time: " (why) "." } };
        }
        if self.past_taken.is_none() && self.kept_until.is_none() {
            return html! {};
        }
        let column = |day: &DayOfWaits| Column {
            day: day.day,
            value: day.median_wait_seconds / 3600.0,
            mark: Some(day.p95_wait_seconds / 3600.0),
        };
        let drawn: Vec<Column> = self.waits.iter().map(column).collect();
        let secs = |name, secs: f64| figure(name, secs, &Span(secs.round() as u64).to_string());
        html! {
            h2 { "Waits over time" }
            @if self.waits.is_empty() { p { "No job that you may see here started in the last " (Source::HISTORY_DAYS) " days or in those that were kept." } } @else {
                p class="hint" {
                    "Waits of jobs that started on a day (UTC), from when they were eligible: columns are medians; 95 of 100 "
                    "waits are below the lines."
                    @if let Some(taken) = self.past_taken { " sacct was asked at " (moment("past_taken", taken)) "." }
                    @if let Some(until) = self.kept_until {
                        " Days before " (moment("kept_until", until)) " are those of earlier answers."
                    }
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
            (self.owed_html())
        }
    }

    fn owed_html(&self) -> Markup {
        let column = |day: &DayOfOwed| Column {
            day: day.day,
            value: day.owed_core_hours,
            mark: None,
        };
        let drawn: Vec<Column> = self.owed.iter().map(column).collect();
        html! {
            @if !self.owed.is_empty() {
                h2 { "Owed core-hours over time" }
                p class="hint" {
                    "Core-hours that shares give and jobs asked for, from when they were eligible, but did not get, on each day (UTC)."
                }
                (columns("Core-hours owed on each day", "h", &drawn))
                details {
                    summary { "Numbers" }
                    div class="scroll" {
                        table {
                            thead { tr { th { "Day" } th class="n" { "Owed core-hours" } } }
                            tbody {
                                @for day in &self.owed {
                                    tr data-row=(day.day) {
                                        td { (moment("owed_day", day.day)) }
                                        (cell_of("owed_core_hours", day.owed_core_hours, &format!("{:.1}", day.owed_core_hours)))
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    /// Adds columns to a table, empty in its rows, and a row for each day; `kind`: the first cell of such a row.
    pub(super) fn add_to(&self, sheet: &mut Sheet, kind: Option<&str>) {
        let before = sheet.columns.len();
        sheet.columns.extend(COLUMNS);
        for row in &mut sheet.rows {
            row.resize(before + COLUMNS.len(), Cell::Empty);
        }
        let mut days: BTreeMap<i64, (Option<&DayOfWaits>, Option<f64>)> = BTreeMap::new();
        for day in &self.waits {
            days.entry(day.day).or_default().0 = Some(day);
        }
        for day in &self.owed {
            days.entry(day.day).or_default().1 = Some(day.owed_core_hours);
        }
        for (day, (waits, owed)) in days {
            let mut row = vec![Cell::Empty; before];
            row[0] = kind.into();
            row.extend([
                Cell::Number(day as f64),
                waits.map(|waits| waits.started_jobs).into(),
                waits.map(|waits| waits.median_wait_seconds).into(),
                waits.map(|waits| waits.p95_wait_seconds).into(),
                owed.into(),
            ]);
            sheet.rows.push(row);
        }
    }
}
