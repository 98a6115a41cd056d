//! The standing of one person, and the jobs that wait.

use fairtree::engine::Claim;
use fairtree_analysis::explain::wait::Cause;
use fairtree_analysis::waiting::{Ahead, Way};
use fairtree_model::cluster::JobPhase;
use fairtree_render::explain::cause;
use fairtree_render::forecast::untold;
use fairtree_render::page::{count, figure, hours, meter, moment, percent};
use fairtree_render::prio;
use maud::{Markup, html};
use serde::Serialize;

use super::past::{OverDays, Whose};
use super::{Seen, View, words};
use crate::answer::Refusal;
use crate::sheet::{Cell, Sheet};
use crate::starts::Start;

/// At most this many of a person's jobs are listed.
const LISTED: usize = 200;

/// The page.
#[derive(Serialize)]
pub(super) struct Me<'a> {
    schema: &'static str,
    user: &'a str,
    time: i64,
    accounts: Vec<Mine<'a>>,
    /// Jobs that wait, the first ones of the queue first.
    waiting: Vec<Waiting<'a>>,
    /// Their number.
    waiting_jobs: usize,
    running_jobs: usize,
    #[serde(flatten)]
    over_days: OverDays,
    #[serde(skip)]
    seen: Seen<'a>,
}

/// The standing in one account.
#[derive(Serialize)]
struct Mine<'a> {
    account: &'a str,
    partition: Option<&'a str>,
    share_of_level: f64,
    share_of_whole: f64,
    entitled: Option<f64>,
    due: Option<f64>,
    used: f64,
    used_ratio: Option<f64>,
    used_of_whole: Option<f64>,
    fs_factor: Option<f64>,
    place: Option<u64>,
    places: Option<u64>,
    words: String,
}

/// A job that waits.
#[derive(Serialize)]
pub(super) struct Waiting<'a> {
    /// Job number.
    pub id: u32,
    /// The name that its owner gave it.
    pub name: Option<&'a str>,
    /// Account.
    pub account: Option<&'a str>,
    /// Slurm's word for the reason; `None`: it gives none.
    pub reason: Option<String>,
    /// The reason in terms to act on.
    pub cause: Cause,
    /// From when it may start, seconds since 1970.
    pub eligible_time: Option<i64>,
    /// Slurm's own estimate of its start.
    pub slurm_start_time: Option<i64>,
    /// The forecast of its start; `None`: without one.
    pub forecast: Option<Start>,
    /// The ways to run it.
    pub ways: Vec<Way>,
    /// The jobs ahead in its first partition with a place.
    pub ahead: Option<Ahead>,
}

impl<'a> Me<'a> {
    pub(super) fn of(seen: Seen<'a>) -> Result<Me<'a>, Refusal> {
        let (picture, viewer) = (seen.picture, seen.viewer);
        let in_all = picture
            .cluster
            .tree()
            .root()
            .map_or(0.0, |root| picture.standing(root.get()).used);
        let mine = |&at: &usize| {
            let (name, standing) = (&picture.cluster.names[at], picture.standing(at));
            let (entitled, due) = match standing.claim {
                Claim::Entitled(secs) => (Some(secs), None),
                Claim::Due(secs) => (None, Some(secs)),
            };
            Mine {
                account: &name.account,
                partition: name.partition.as_deref(),
                share_of_level: standing.share_of_level,
                share_of_whole: standing.share_of_whole,
                entitled,
                due,
                used: standing.used,
                used_ratio: standing.ratio,
                used_of_whole: (in_all > 0.0).then(|| standing.used / in_all),
                fs_factor: standing.fs_factor,
                place: standing.place.map(|place| place.place),
                places: standing.place.map(|place| place.of),
                words: words::standing(standing),
            }
        };
        let jobs = picture.jobs_of(&viewer.user).iter();
        let jobs = jobs.map(|at| &picture.cluster.jobs()[*at]);
        let waits = |job: &&_| {
            matches!(
                job,
                fairtree_model::cluster::ClusterJob {
                    phase: JobPhase::Pending,
                    ..
                }
            )
        };
        let mut ids: Vec<u32> = jobs.clone().filter(waits).map(|job| job.job.id).collect();
        let waiting_jobs = ids.len();
        let first_place = |id: &u32| {
            let ways = picture.line.ways(&picture.cluster, *id);
            ways.iter()
                .filter_map(|way| way.place)
                .min()
                .unwrap_or(u64::MAX)
        };
        ids.sort_by_cached_key(|id| (first_place(id), *id));
        ids.truncate(LISTED);
        Ok(Me {
            schema: "fairtree.me/1",
            user: &viewer.user,
            time: picture.time(),
            accounts: viewer.own.iter().map(mine).collect(),
            waiting: ids.iter().map(|id| Waiting::of(seen, *id)).collect(),
            waiting_jobs,
            running_jobs: jobs.filter(|job| job.phase == JobPhase::Running).count(),
            over_days: seen.over_days(Whose::Mine),
            seen,
        })
    }

    fn priorities(&self) -> Vec<usize> {
        let rows = self
            .waiting
            .iter()
            .map(|job| self.seen.picture.priced(job.id));
        rows.flatten().copied().collect()
    }
}

impl<'a> Waiting<'a> {
    /// A job of the picture.
    pub(super) fn of(seen: Seen<'a>, id: u32) -> Waiting<'a> {
        let picture = seen.picture;
        let (row, at) = picture.job(id).unzip();
        let job = at.map(|at| &picture.cluster.jobs()[at]);
        let wait = job.and_then(|job| job.wait.as_deref());
        let known = |time: i64| (time > 0).then_some(time);
        let ways = picture.line.ways(&picture.cluster, id);
        let placed = ways.iter().position(|way| way.place.is_some());
        let ahead = placed.and_then(|way| picture.line.ahead(id, way));
        Waiting {
            id,
            name: picture.job_name(id),
            account: row.and_then(|row| row.account.as_deref()),
            reason: wait.map(|wait| wait.reason.to_string()),
            cause: job.map_or(Cause::Unknown, |job| seen.cause(job)),
            eligible_time: row.and_then(|row| known(row.eligible_time)),
            slurm_start_time: row.and_then(|row| known(row.start_time)),
            forecast: seen.around.starts.and_then(|starts| starts.of_job(id)),
            ways,
            ahead: ahead.map(|ahead| seen.ahead(ahead)),
        }
    }

    /// Its reason in words.
    pub(super) fn reason_words(&self) -> String {
        cause(self.reason.as_deref(), &self.cause)
    }
}

impl Seen<'_> {
    /// The jobs ahead, with accounts that the person may not know as one.
    fn ahead(self, ahead: Ahead) -> Ahead {
        let mut accounts: Vec<(String, u64)> = Vec::new();
        let mut others: Option<usize> = None;
        for (name, jobs) in ahead.accounts {
            match (self.account_name(&name) == name, others) {
                (true, _) => accounts.push((name, jobs)),
                (false, Some(at)) => accounts[at].1 += jobs,
                (false, None) => {
                    others = Some(accounts.len());
                    accounts.push((self.account_name(&name).to_owned(), jobs));
                }
            }
        }
        let jobs = self.picture.cluster.jobs();
        let visible = |id: &u32| {
            let at = self.picture.job(*id).map(|(_, at)| at);
            at.is_some_and(|at| self.viewer.sees_job(self.picture, &jobs[at]))
        };
        Ahead {
            accounts,
            next: ahead.next.filter(visible),
            ..ahead
        }
    }
}

/// The jobs ahead in words.
pub(super) fn ahead_words(ahead: &Ahead) -> Markup {
    /// Accounts that are named.
    const NAMED: usize = 5;
    let rest: u64 = ahead
        .accounts
        .iter()
        .skip(NAMED)
        .map(|(_, jobs)| jobs)
        .sum();
    html! {
        @if ahead.jobs == 0 {
            span data-name="ahead" data-value="0" { "none" }
        } @else {
            (count("ahead", ahead.jobs))
            @if ahead.own > 0 { ", " (count("ahead_own", ahead.own)) " of them of the same user" }
            ": "
            @for (at, (account, jobs)) in ahead.accounts.iter().take(NAMED).enumerate() {
                @if at > 0 { ", " }
                (count(&format!("ahead:{account}"), *jobs)) " of "
                (if account.is_empty() { "no account" } else { account })
            }
            @if rest > 0 { ", " (rest) " of others" }
        }
    }
}

/// Places in words, one for each way to run a job.
pub(super) fn places(ways: &[Way]) -> Markup {
    html! {
        @for (at, way) in ways.iter().enumerate() {
            @if at > 0 { "; " }
            @match way.place {
                Some(place) => {
                    (count("place", place)) " of " (count("places", way.of))
                    @if let Some(partition) = &way.partition { " in " (partition) }
                }
                None => "held",
            }
        }
    }
}

impl View for Me<'_> {
    fn title(&self) -> String {
        format!("Fair share of {}", self.user)
    }

    fn html(&self) -> Markup {
        let seen = self.seen;
        let priorities = self.priorities();
        html! {
            @if self.accounts.is_empty() {
                p { (self.user) " is in no account of this cluster." }
            }
            @for mine in &self.accounts {
                section data-row=(mine.account) {
                    h2 {
                        "In " (link(seen, mine.account))
                        @if let Some(partition) = mine.partition { " (partition " (partition) ")" }
                    }
                    p { (self.user) " " (mine.words) "." }
                    @if let Some(used) = mine.used_of_whole { (meter(Some(mine.share_of_whole), used)) }
                    dl {
                        dt { "Share of the account" } dd { (percent("share_of_level", mine.share_of_level)) }
                        dt { "Share of the cluster" } dd { (percent("share_of_whole", mine.share_of_whole)) }
                        @if let Some(secs) = mine.entitled { dt { "Entitled to" } dd { (hours("entitled", secs)) " (TRES-hours)" } }
                        @if let Some(secs) = mine.due { dt { "Due, of what all used" } dd { (hours("due", secs)) " (TRES-hours)" } }
                        dt { "Used" } dd { (hours("used", mine.used)) " (TRES-hours; old use counts less)" }
                        @if let Some(ratio) = mine.used_ratio { dt { "Used over it" } dd { (figure("used_ratio", ratio, &format!("{ratio:.3}"))) } }
                        @if let Some(factor) = mine.fs_factor { dt { "Fair-share factor" } dd { (figure("fs_factor", factor, &format!("{factor:.6}"))) " (1 is best)" } }
                        @if let (Some(place), Some(places)) = (mine.place, mine.places) {
                            dt { "Place" } dd { (count("place", place)) " of " (count("places", places)) " users" }
                        }
                    }
                }
            }
            (seen.over_time(&seen.viewer.own))
            (self.over_days.html())
            h2 { "My jobs" }
            p {
                (count("waiting_jobs", self.waiting_jobs as u64)) " wait, "
                (count("running_jobs", self.running_jobs as u64)) " run."
            }
            @if !self.waiting.is_empty() {
                div class="scroll" {
                    table {
                        thead { tr {
                            th { "Job" } th { "Name" } th { "Account" } th { "Why it waits" } th { "Place" }
                            th { "Ahead of it" } th { "Start" }
                        } }
                        tbody { @for job in &self.waiting { (waiting_row(job)) } }
                    }
                }
                @if self.waiting.len() < self.waiting_jobs {
                    p class="hint" { "Shown are the first " (self.waiting.len()) "." }
                }
                @if let Some(forecast) = self.waiting.iter().find_map(|job| job.forecast.as_ref()) {
                    p class="hint" { "Forecasts are of simulations with past jobs. " (trust(forecast)) }
                } @else if seen.around.forecasting {
                    p class="hint" { "Forecasts of these jobs are being computed." }
                }
                p class="hint" { "The page of a job shows how its priority comes about and what would help." }
                @if !priorities.is_empty() {
                    h2 { "Their priorities" }
                    (prio::to_html(&seen.picture.priorities, &priorities, &address))
                }
            }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        Ok(serde_json::to_writer_pretty(out, self)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&[
            "kind",
            "account",
            "partition",
            "job_id",
            "job_name",
            "reason",
            "share_of_level",
            "share_of_whole",
            "entitled",
            "due",
            "used",
            "used_ratio",
            "fs_factor",
            "place",
            "places",
            "priority",
            "ahead",
            "slurm_start_time",
            "forecast_start",
            "forecast_from",
            "forecast_to",
        ]);
        for mine in &self.accounts {
            sheet.rows.push(vec![
                "account".into(),
                mine.account.into(),
                mine.partition.into(),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                mine.share_of_level.into(),
                mine.share_of_whole.into(),
                mine.entitled.into(),
                mine.due.into(),
                mine.used.into(),
                mine.used_ratio.into(),
                mine.fs_factor.into(),
                mine.place.into(),
                mine.places.into(),
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
                Cell::Empty,
            ]);
        }
        for job in &self.waiting {
            for way in &job.ways {
                let mut row = vec![
                    "job".into(),
                    job.account.into(),
                    way.partition.as_deref().into(),
                    job.id.into(),
                    job.name.into(),
                    job.reason.as_deref().into(),
                ];
                row.resize(13, Cell::Empty);
                row.extend([
                    way.place.into(),
                    way.of.into(),
                    way.priority.into(),
                    job.ahead.as_ref().map(|ahead| ahead.jobs).into(),
                    job.slurm_start_time.map(|time| time as f64).into(),
                ]);
                let forecast = job.forecast.as_ref();
                let times = [
                    forecast.map(|made| made.start),
                    forecast.and_then(|made| made.band_from),
                    forecast.and_then(|made| made.band_to),
                ];
                row.extend(times.map(|time| time.map(|time| time as f64).into()));
                sheet.rows.push(row);
            }
        }
        self.over_days.add_to(&mut sheet, Some("day"));
        sheet
    }
}

/// When a job starts: the forecast, or else Slurm's estimate; each says which it is.
pub(super) fn start(job: &Waiting<'_>) -> Markup {
    let Some(made) = &job.forecast else {
        return html! {
            @if let Some(time) = job.slurm_start_time {
                (moment("slurm_start_time", time)) " by Slurm's own estimate, which counts only jobs that wait now"
            }
        };
    };
    html! {
        "forecast: " (moment("forecast_start", made.start))
        @match (made.band_from, made.band_to) {
            (Some(from), Some(to)) => {
                ", in 90 of 100 cases between " (moment("forecast_from", from)) " and " (moment("forecast_to", to))
            }
            _ => "; in some simulations it did not start",
        }
    }
}

/// How far forecasts can be trusted, and how old they are.
pub(super) fn trust(made: &Start) -> Markup {
    html! {
        @match made.band_90_held {
            Some(held) => {
                "Of " (count("forecast_counted", made.counted as u64)) " such bands for past jobs "
                (percent("band_90_held", held)) " held. "
            }
            None => { "Here " (untold(made.forecasts)) ". " }
        }
        "Made from the picture of " (moment("forecast_made_from", made.made_from)) "."
    }
}

fn waiting_row(job: &Waiting<'_>) -> Markup {
    html! {
        tr data-row=(job.id) {
            td { a href=(address(job.id)) { (job.id) } }
            td { (job.name.unwrap_or("")) }
            td { (job.account.unwrap_or("")) }
            td { (job.reason_words()) }
            td { (places(&job.ways)) }
            td { @if let Some(ahead) = &job.ahead { (ahead_words(ahead)) } }
            td { (start(job)) }
        }
    }
}

fn link(seen: Seen<'_>, account: &str) -> Markup {
    match seen.link(account) {
        Some(address) => html! { a href=(address) { (account) } },
        None => html! { (account) },
    }
}

/// The address of a job.
pub(super) fn address(id: u32) -> String {
    format!("/job/{id}")
}
