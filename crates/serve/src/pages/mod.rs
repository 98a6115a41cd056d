//! The pages: values of one picture, as one person may see them.

mod account;
mod changes;
mod cost;
mod job;
mod me;
mod over_time;
mod past;
mod plan;
mod shares;
mod site;
mod versus;
mod waits;
mod words;

use axum::body::Body;
use axum::http::{Response, StatusCode};
use fairtree::tree::AssocIndex;
use fairtree_analysis::plan::Plan;
use fairtree_model::cluster::{ClusterJob, JobName};
use fairtree_model::span::Span;
use fairtree_render::page::moment;
use maud::{Markup, html};

use crate::answer::{CSV, HTML, JSON, Refusal, framed, response};
use crate::picture::Picture;
use crate::question::{Form, Question};
use crate::sheet::Sheet;
use crate::starts::Starts;
use crate::store::{Store, StoreError};
use crate::viewer::Viewer;

/// A page, in its three forms.
trait View {
    /// Title.
    fn title(&self) -> String;
    /// Content below the title.
    fn html(&self) -> Markup;
    /// Writes the document.
    fn json(&self, out: &mut Vec<u8>) -> std::io::Result<()>;
    /// The same numbers as a table.
    fn csv(&self) -> Sheet;
    /// The status of the answer in a form.
    fn status(&self, _form: Form) -> StatusCode {
        StatusCode::OK
    }
}

/// Parts around each page.
#[derive(Clone, Debug, Default)]
pub struct Around<'a> {
    /// Why there is no newer picture.
    pub trouble: Option<&'a str>,
    /// The token of the forms of a session; `None`: nobody signed in.
    pub form_token: Option<String>,
    /// Plans and changes; `None`: there are none.
    pub store: Option<&'a Store>,
    /// People sign in here, so that they can apply plans.
    pub applies: bool,
    /// Why changes from outside are not known.
    pub no_transactions: Option<&'a str>,
    /// Forecasts of starts; `None`: without any.
    pub starts: Option<&'a Starts>,
    /// Others are being made.
    pub forecasting: bool,
}

/// A picture and who looks at it.
#[derive(Clone, Copy, Debug)]
struct Seen<'a> {
    picture: &'a Picture,
    viewer: &'a Viewer,
    around: &'a Around<'a>,
}

/// The answer to a question.
///
/// # Errors
/// A thing that does not exist, or that the person may not see: the refusals are the same.
pub fn answer(
    picture: &Picture,
    viewer: &Viewer,
    around: &Around<'_>,
    question: &Question,
    query: &str,
    form: Form,
) -> Result<Response<Body>, Refusal> {
    let seen = Seen {
        picture,
        viewer,
        around,
    };
    match question {
        Question::Me => seen.written(question, form, &me::Me::of(seen)?),
        Question::Job(name) => seen.written(question, form, &job::Job::of(seen, *name)?),
        Question::Versus(a, b) => {
            seen.written(question, form, &versus::Versus::of(seen, [*a, *b])?)
        }
        Question::Account(name) => seen.written(question, form, &account::Account::of(seen, name)?),
        Question::Site => seen.written(question, form, &site::Site::of(seen)),
        Question::Shares(name) => {
            seen.written(question, form, &shares::Shares::of(seen, name, query)?)
        }
        Question::Plan(id) => seen.written(question, form, &plan::Planned::of(seen, id)?),
        Question::Changes => seen.written(question, form, &changes::Changes::of(seen)?),
        Question::Cost => seen.written(question, form, &cost::Before::of(seen, query)?),
    }
}

/// A plan of the shares that the fields of a form name, as yet without a number.
///
/// # Errors
/// An account that the person may not change; shares that the site would refuse.
pub fn planned(
    picture: &Picture,
    viewer: &Viewer,
    account: &str,
    fields: &str,
) -> Result<Plan, Refusal> {
    let around = Around::default();
    let seen = Seen {
        picture,
        viewer,
        around: &around,
    };
    shares::Shares::of(seen, account, fields)?.plan()
}

/// A plan that a person may see. `changing`: one that the person may apply and take back.
///
/// # Errors
/// There is none, or it is not for this person: the refusals are the same.
pub fn plan(
    picture: &Picture,
    viewer: &Viewer,
    store: &Store,
    id: &str,
    changing: bool,
) -> Result<Plan, Refusal> {
    let around = Around::default();
    let seen = Seen {
        picture,
        viewer,
        around: &around,
    };
    let plan = store.plan(id).map_err(|error| stored(&error))?;
    let visible = |plan: &Plan| match changing {
        true => seen.may_change(&plan.account).is_some(),
        false => seen.may_see(plan),
    };
    plan.filter(visible).ok_or_else(Refusal::unknown)
}

/// What cannot be read from the database, or written.
pub(crate) fn stored(error: &StoreError) -> Refusal {
    Refusal::failed(error.to_string())
}

impl<'a> Seen<'a> {
    fn written(
        self,
        question: &Question,
        form: Form,
        view: &dyn View,
    ) -> Result<Response<Body>, Refusal> {
        let failed = |error: &dyn std::fmt::Display| Refusal::failed(error.to_string());
        let (kind, bytes) = match form {
            Form::Html => {
                let body = self.framed(question, view);
                (HTML, framed(&view.title(), &body).into_bytes())
            }
            Form::Json => {
                let mut out = Vec::new();
                view.json(&mut out).map_err(|error| failed(&error))?;
                (JSON, out)
            }
            Form::Csv => (CSV, view.csv().to_csv().map_err(|error| failed(&error))?),
        };
        Ok(response(view.status(form), kind, bytes))
    }

    fn framed(self, question: &Question, view: &dyn View) -> Markup {
        let (path, picture) = (question.to_string(), self.picture);
        let here = |to: &str| (to == path).then_some("page");
        let age = now().saturating_sub(picture.time());
        let cluster = picture.manifest.cluster.as_deref().unwrap_or("unknown");
        html! {
            nav {
                @for (to, name) in [("/me", "Me"),
                    ("/cost", "Before I submit"), ("/account/root", "Accounts"), ("/changes", "Changes"), ("/site", "Site")] {
                    a href=(to) aria-current=[here(to)] { (name) }
                }
            }
            main {
                h1 { (view.title()) }
                p class="sub" {
                    "Cluster " (cluster) ", as of " (moment("picture_time", picture.time())) ", "
                    span data-name="picture_age_secs" data-value=(age) { (since(age)) }
                    ". Shown to " (self.viewer.user) "."
                }
                @if let Some(why) = self.around.trouble {
                    p class="old" { "Slurm was asked since, and gave no new picture: " (why) ". This is the last one." }
                }
                (view.html())
            }
            footer {
                p {
                    "The same as " a href=(format!("/api/v1{path}")) { "JSON" } " and "
                    a href=(format!("{path}.csv")) { "CSV" } "."
                }
                @if let Some(token) = &self.around.form_token {
                    form method="post" action="/logout" {
                        input type="hidden" name="token" value=(token);
                        button type="submit" { "Sign out" }
                    }
                }
                @for note in &picture.notes { p { (note) } }
                p { "fairtree " (env!("CARGO_PKG_VERSION")) }
            }
        }
    }

    /// A job that the person may see.
    fn job(self, name: JobName) -> Result<&'a ClusterJob, Refusal> {
        let cluster = &self.picture.cluster;
        let at = match name.of_record() {
            Some(id) => self.picture.job(id).map(|(_, at)| at),
            None => cluster.find_job(name).ok(),
        };
        let job = at.map(|at| &cluster.jobs()[at]);
        let visible = job.filter(|job| self.viewer.sees_job(self.picture, job));
        visible.ok_or_else(Refusal::unknown)
    }

    /// The association of a name in reports.
    fn named(self, name: &str) -> Option<AssocIndex> {
        let cluster = &self.picture.cluster;
        let found = cluster.find(name).or_else(|_| cluster.find_any(name));
        found.ok()
    }

    /// The address of an account that the person may open.
    fn link(self, account: &str) -> Option<String> {
        let at = self.picture.account(account)?;
        let sees = self.viewer.sees_usage(self.picture, at.get());
        sees.then(|| crate::question::account(account))
    }

    /// The name of an account where the person may know it.
    fn account_name(self, name: &str) -> &str {
        let at = self.picture.account(name);
        match at.is_none_or(|at| self.viewer.sees_name(self.picture, at.get())) {
            true => name,
            false => "other accounts",
        }
    }
}

/// Age of a picture in words.
fn since(secs: i64) -> String {
    match u64::try_from(secs) {
        Ok(secs) => format!("{} ago", Span(secs)),
        Err(_) => "in the future: the clocks differ".to_owned(),
    }
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}
