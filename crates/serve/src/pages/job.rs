//! One job: why it waits, how its priority comes about, what would help.

use fairtree::config::Order;
use fairtree_analysis::explain::line::{OrderedQueue, PlaceExplained};
use fairtree_analysis::explain::wait::Waits;
use fairtree_analysis::explain::{ExplainError, JobExplanation, Remedy, RemedyKind, explain_job};
use fairtree_model::cluster::{ClusterJob, JobName, JobPhase};
use fairtree_model::input::slurm::job::JobRow;
use fairtree_render::explain::{Explanation, SCHEMA, help, to_html};
use fairtree_render::page::moment;
use maud::{Markup, html};
use serde::Serialize;

use super::me::{Waiting, address, ahead_words, places, start, trust};
use super::{Seen, View};
use crate::answer::Refusal;
use crate::sheet::{Cell, Sheet};

/// The page.
pub(super) struct Job<'a> {
    seen: Seen<'a>,
    job: &'a ClusterJob,
    row: Option<&'a JobRow>,
    explained: Option<Of>,
    waiting: Option<Waiting<'a>>,
    waits: Option<Waits>,
}

/// An explanation of its place.
#[derive(Clone)]
enum Of {
    /// By the terms of its priority.
    Terms(Box<JobExplanation>),
    /// By the site's order.
    Place(Box<PlaceExplained>),
}

impl Of {
    fn explanation(&self) -> Explanation<'_> {
        match self {
            Of::Terms(explained) => Explanation::Job(explained),
            Of::Place(explained) => Explanation::Place(explained),
        }
    }

    /// The same with the reason to wait, as the command's documents have it.
    fn waiting(mut self, waits: Option<Waits>) -> Of {
        match &mut self {
            Of::Terms(explained) => explained.waits = waits,
            Of::Place(explained) => explained.waits = waits,
        }
        self
    }
}

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    #[serde(flatten)]
    explanation: Option<Explanation<'a>>,
    state: &'a str,
    waiting: Option<&'a Waiting<'a>>,
}

pub(super) fn failed(error: &ExplainError) -> Refusal {
    Refusal::failed(error.to_string())
}

impl<'a> Job<'a> {
    pub(super) fn of(seen: Seen<'a>, name: JobName) -> Result<Job<'a>, Refusal> {
        let picture = seen.picture;
        let job = seen.job(name)?;
        let id = job.job.id;
        let pending = job.phase == JobPhase::Pending;
        let explained = match (job.phase, picture.cluster.config.order()) {
            (JobPhase::Ended, _) => None,
            (_, Order::Weighted) => {
                let explained = explain_job(&picture.ranked(), &picture.cluster, &job.job);
                let explained = explained.map_err(|error| failed(&error))?;
                Some(Of::Terms(Box::new(match job.phase {
                    JobPhase::Running => explained.while_running(job.job.priority),
                    _ => explained,
                })))
            }
            (_, Order::Strict | Order::Interleaved) => {
                seen.place(job)?.map(|place| Of::Place(Box::new(place)))
            }
        };
        Ok(Job {
            seen,
            job,
            row: picture.job(id).map(|(row, _)| row),
            explained,
            waiting: pending.then(|| Waiting::of(seen, id)),
            waits: seen.waits(job)?,
        })
    }
}

impl<'a> Seen<'a> {
    /// The place of a job in the order of the site; none where its neighbours are not for this reader.
    fn place(self, job: &ClusterJob) -> Result<Option<PlaceExplained>, Refusal> {
        let queue = OrderedQueue::of(&self.picture.cluster);
        let queue = queue.map_err(|error| failed(&error.into()))?;
        let Some(queue) = queue else { return Ok(None) };
        let mut explained = queue.place(job).map_err(|error| failed(&error.into()))?;
        if !self.viewer.operator && (self.picture.private.jobs || self.picture.private.usage) {
            (explained.behind, explained.before) = (None, None);
        }
        Ok(Some(explained))
    }

    /// The remedies about associations that the reader may know.
    pub(super) fn known(self, remedies: Vec<Remedy>) -> Vec<Remedy> {
        let known = |remedy: &Remedy| match &remedy.kind {
            // Associations of a listing are numbered from 1.
            RemedyKind::LessUsage { assoc, .. } | RemedyKind::MoreShares { assoc, .. } => {
                let at = usize::try_from(*assoc)
                    .ok()
                    .and_then(|at| at.checked_sub(1));
                at.is_some_and(|at| self.viewer.sees_usage(self.picture, at))
            }
            RemedyKind::DecayAlone { .. }
            | RemedyKind::RunningLoad
            | RemedyKind::Waiting
            | RemedyKind::LowerNice { .. } => true,
        };
        remedies.into_iter().filter(known).collect()
    }
}

impl View for Job<'_> {
    fn title(&self) -> String {
        format!("Job {}", self.job.job.id)
    }

    fn html(&self) -> Markup {
        let (id, picture) = (self.job.job.id, self.seen.picture);
        let time = |time: Option<i64>| time.filter(|time| *time > 0);
        html! {
            dl {
                @if let Some(name) = picture.job_name(id) { dt { "Name" } dd { (name) } }
                dt { "User" } dd { (*self.job.user) }
                @if let Some(account) = &self.job.account { dt { "Account" } dd { (**account) } }
                dt { "State" } dd { (*self.job.state) }
                @if let Some(submitted) = time(Some(self.job.submit_time)) {
                    dt { "Submitted" } dd { (moment("submit_time", submitted)) }
                }
                @if let Some(eligible) = time(self.row.map(|row| row.eligible_time)) {
                    dt { "Eligible since" } dd { (moment("eligible_time", eligible)) }
                }
            }
            @if let Some(waiting) = &self.waiting {
                h2 { "Why it waits" }
                p { "It waits for " (waiting.reason_words()) "." }
                dl {
                    dt { "Place" } dd { (places(&waiting.ways)) }
                    @if let Some(ahead) = &waiting.ahead {
                        dt { "Ahead of it" }
                        dd {
                            (ahead_words(ahead))
                            @if let Some(next) = ahead.next {
                                "; right ahead is job " a href=(address(next)) { (next) } " ("
                                a href=(format!("{}/versus/{next}", address(id))) { "why that one first" } ")"
                            }
                        }
                    }
                    @if waiting.forecast.is_some() || waiting.slurm_start_time.is_some() {
                        dt { "Start" }
                        dd { (start(waiting)) @if let Some(made) = &waiting.forecast { ". " (trust(made)) } }
                    }
                }
            }
            @if let Some(explained) = &self.explained {
                h2 { "Its priority" }
                (to_html(explained.explanation()))
            }
            @if let Some(waits) = &self.waits {
                h2 { "What would help" }
                (help(id, waits))
                @let next = self.waiting.as_ref().and_then(|waiting| waiting.ahead.as_ref()?.next);
                @if let (true, Some(next)) = (self.seen.leaves_next(), next) {
                    p {
                        "What would put it before job " (next) " is on "
                        a href=(format!("{}/versus/{next}", address(id))) { "the page of the two" } "."
                    }
                }
            }
            @if self.job.phase == JobPhase::Ended { p { "It has ended and waits for nothing." } }
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        let explained = self.explained.clone();
        let explained = explained.map(|explained| explained.waiting(self.waits.clone()));
        let document = Document {
            schema: SCHEMA,
            explanation: explained.as_ref().map(Of::explanation),
            state: &self.job.state,
            waiting: self.waiting.as_ref(),
        };
        Ok(serde_json::to_writer_pretty(out, &document)?)
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["job_id", "term", "factor", "weight", "points"]);
        let id = self.job.job.id;
        if let Some(Of::Terms(explained)) = &self.explained {
            for term in &explained.terms {
                sheet.rows.push(vec![
                    id.into(),
                    term.name.to_string().as_str().into(),
                    term.factor.into(),
                    term.weight.into(),
                    term.points.into(),
                ]);
            }
            for (name, points) in [
                ("sum", explained.sum),
                ("priority", f64::from(explained.priority)),
            ] {
                sheet.rows.push(vec![
                    id.into(),
                    name.into(),
                    Cell::Empty,
                    Cell::Empty,
                    points.into(),
                ]);
            }
        }
        if let Some(Of::Place(explained)) = &self.explained {
            let place = explained.job.position.map(|place| place as u64);
            sheet.rows.push(vec![
                id.into(),
                "place".into(),
                Cell::Empty,
                Cell::Empty,
                place.into(),
            ]);
        }
        sheet
    }
}
