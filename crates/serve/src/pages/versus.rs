//! Two jobs side by side: why that one first.

use fairtree::config::Order;
use fairtree_analysis::explain::line::{OrderedQueue, PlacesCompared};
use fairtree_analysis::explain::{JobsCompared, compare_jobs};
use fairtree_model::cluster::{ClusterJob, JobName, JobPhase};
use fairtree_render::explain::{Explanation, to_html, to_json};
use maud::{Markup, html};

use super::job::failed;
use super::me::address;
use super::{Seen, View};
use crate::answer::Refusal;
use crate::sheet::Sheet;

/// The page.
pub(super) struct Versus {
    jobs: [u32; 2],
    compared: Of,
}

enum Of {
    Terms(Box<JobsCompared>),
    Places(Box<PlacesCompared>),
}

impl Versus {
    pub(super) fn of(seen: Seen<'_>, names: [JobName; 2]) -> Result<Versus, Refusal> {
        let picture = seen.picture;
        let jobs = [seen.job(names[0])?, seen.job(names[1])?];
        let ids = jobs.map(|job| job.job.id);
        if let Some(job) = jobs.iter().find(|job| job.phase == JobPhase::Ended) {
            return Err(Refusal::wrong(format!(
                "Job {} has ended: it has no priority any more",
                job.job.id
            )));
        }
        if ids[0] == ids[1] {
            return Err(Refusal::wrong("A job cannot be compared with itself"));
        }
        let compared = match picture.cluster.config.order() {
            Order::Weighted => {
                let rows = jobs.map(|job| &job.job);
                let compared = compare_jobs(&picture.ranked(), &picture.cluster, rows);
                let mut compared = compared.map_err(|error| failed(&error))?;
                if !seen.knows_both(jobs) {
                    compared.users = None;
                }
                compared.remedies = seen.known(compared.remedies);
                Of::Terms(Box::new(compared))
            }
            Order::Strict | Order::Interleaved => {
                let queue = OrderedQueue::of(&picture.cluster);
                let queue = queue.map_err(|error| failed(&error.into()))?;
                let queue = queue.ok_or_else(Refusal::unknown)?;
                if !seen.knows_both(jobs) {
                    return Err(Refusal::unknown());
                }
                let compared = queue.compare(jobs).map_err(|error| failed(&error))?;
                Of::Places(Box::new(compared))
            }
        };
        Ok(Versus {
            jobs: ids,
            compared,
        })
    }

    fn explanation(&self) -> Explanation<'_> {
        match &self.compared {
            Of::Terms(compared) => Explanation::Jobs(compared),
            Of::Places(compared) => Explanation::Places(compared),
        }
    }
}

impl Seen<'_> {
    /// Returns true if the reader may know the usage of the users of two jobs and of all accounts
    /// above them: where their ways part, numbers of these are shown.
    fn knows_both(self, jobs: [&ClusterJob; 2]) -> bool {
        jobs.iter().all(|job| {
            let mut way = self.picture.cluster.tree().upward(job.job.assoc);
            way.all(|at| self.viewer.sees_usage(self.picture, at.get()))
        })
    }
}

impl View for Versus {
    fn title(&self) -> String {
        format!("Job {} beside job {}", self.jobs[0], self.jobs[1])
    }

    fn html(&self) -> Markup {
        let [a, b] = self.jobs;
        html! {
            p { a href=(address(a)) { "Job " (a) } " and " a href=(address(b)) { "job " (b) } "." }
            (to_html(self.explanation()))
        }
    }

    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()> {
        to_json(out, self.explanation())
    }

    fn csv(&self) -> Sheet {
        let mut sheet = Sheet::new(&["term", "first", "second", "difference", "decides"]);
        match &self.compared {
            Of::Terms(compared) => {
                for term in &compared.terms {
                    sheet.rows.push(vec![
                        term.name.to_string().as_str().into(),
                        term.points[0].into(),
                        term.points[1].into(),
                        term.difference.into(),
                        if term.decides { "yes" } else { "no" }.into(),
                    ]);
                }
                let [a, b] = compared.jobs.each_ref().map(|job| f64::from(job.priority));
                let sum = vec![
                    "priority".into(),
                    a.into(),
                    b.into(),
                    (a - b).into(),
                    "".into(),
                ];
                sheet.rows.push(sum);
            }
            Of::Places(compared) => {
                let place = |at: usize| compared.jobs[at].position.map(|place| place as u64);
                let places = vec![
                    "place".into(),
                    place(0).into(),
                    place(1).into(),
                    "".into(),
                    "".into(),
                ];
                sheet.rows.push(places);
            }
        }
        sheet
    }
}
