//! Plans: kept, applied, taken back, and what became of them. The service itself has no right to change
//! shares: sacctmgr runs as the person, on a login node or here with the person's own token.

use std::sync::Arc;
use std::time::Duration;

use axum::Json;
use axum::body::Body;
use axum::extract::{FromRequest, Path, Request, State};
use axum::http::header::LOCATION;
use axum::http::{HeaderValue, Response, StatusCode};
use axum::response::IntoResponse;
use fairtree_analysis::plan::apply::{How, apply};
use fairtree_analysis::plan::{Outcome, Plan, purpose_of_outcome, purpose_of_reading};
use fairtree_model::input::capture::Token;
use serde::Deserialize;

use crate::answer::{JSON, Refusal, response};
use crate::app::{Access, Shared, foreign, is_own_form, to};
use crate::munge;
use crate::pages;
use crate::picture::Picture;
use crate::question::Form;
use crate::session::form_token;
use crate::viewer::Viewer;

/// Longest time of a command of sacctmgr.
const LIMIT: Duration = Duration::from_secs(20);

/// The fields of a form.
struct Fields(Vec<(String, String)>);

impl Fields {
    fn of(body: &str) -> Fields {
        Fields(serde_urlencoded::from_str(body).unwrap_or_default())
    }

    fn get(&self, name: &str) -> &str {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map_or("", |(_, value)| value)
    }
}

/// A form of a page of this service, and who sent it. Another page's form is refused before a handler
/// sees it.
pub(crate) struct SentForm {
    user: String,
    body: String,
    fields: Fields,
}

impl FromRequest<Arc<Shared>> for SentForm {
    type Rejection = Response<Body>;

    async fn from_request(
        request: Request,
        shared: &Arc<Shared>,
    ) -> Result<SentForm, Response<Body>> {
        let (headers, extensions) = (request.headers().clone(), request.extensions().clone());
        let body = String::from_request(request, shared).await;
        let body = body.map_err(IntoResponse::into_response)?;
        let fields = Fields::of(&body);
        let Some((user, session)) = shared.user(&headers, &extensions) else {
            return Err(to("/login", None));
        };
        let known = session.is_none_or(|id| fields.get("token") == form_token(&id));
        match is_own_form(&headers) && known {
            true => Ok(SentForm { user, body, fields }),
            false => Err(foreign().response(Form::Html)),
        }
    }
}

/// Runs on a thread of its own, with the picture; answers with a redirection to a plan.
async fn leading_to_plan(
    shared: Arc<Shared>,
    user: String,
    of: impl FnOnce(&Shared, &Picture, &Viewer) -> Result<String, Refusal> + Send + 'static,
) -> Response<Body> {
    let done = tokio::task::spawn_blocking(move || {
        let picture = shared.seen()?;
        let viewer = Viewer::of(&picture, &user);
        of(&shared, &picture, &viewer)
    });
    let id = match done.await {
        Ok(Ok(id)) => id,
        Ok(Err(refusal)) => return refusal.response(Form::Html),
        Err(_) => return Refusal::failed("The plan could not be computed").response(Form::Html),
    };
    let mut answer = to("/changes", None);
    if let Ok(path) = HeaderValue::from_str(&format!("/plan/{id}")) {
        answer.headers_mut().insert(LOCATION, path);
    }
    answer
}

/// Keeps a plan of the shares of a form; nothing is changed.
pub(crate) async fn keep(State(shared): State<Arc<Shared>>, form: SentForm) -> Response<Body> {
    leading_to_plan(shared, form.user, move |shared, picture, viewer| {
        let account = form.fields.get("account");
        let plan = pages::planned(picture, viewer, account, &form.body)?;
        let id = shared
            .store
            .keep(&plan)
            .map_err(|error| pages::stored(&error))?;
        shared.counters.change("planned");
        Ok(id)
    })
    .await
}

/// Keeps the plan that takes a plan back.
pub(crate) async fn undo(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    form: SentForm,
) -> Response<Body> {
    leading_to_plan(shared, form.user, move |shared, picture, viewer| {
        let plan = pages::plan(picture, viewer, &shared.store, &id, true)?;
        let undo = plan.undo(&viewer.user, pages::now());
        let undo = undo.ok_or_else(|| Refusal::wrong("Nothing of this plan is in force"))?;
        shared
            .store
            .keep(&undo)
            .map_err(|error| pages::stored(&error))
    })
    .await
}

/// Applies a plan with the person's own token.
pub(crate) async fn apply_here(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    form: SentForm,
) -> Response<Body> {
    if matches!(shared.access, Access::As(_)) {
        let why = "Nothing is applied here: the service shows a capture";
        return Refusal::wrong(why).response(Form::Html);
    }
    let token = Token::parse(form.fields.get("jwt"));
    leading_to_plan(shared, form.user, move |shared, picture, viewer| {
        let plan = pages::plan(picture, viewer, &shared.store, &id, true)?;
        let token = token.ok_or_else(|| {
            Refusal::wrong("This is not a token: allowed is what scontrol token prints")
        })?;
        if token.user().as_deref() != Some(&viewer.user) {
            return Err(Refusal {
                status: StatusCode::FORBIDDEN,
                why: format!("The token is not one of {}", viewer.user),
            });
        }
        // Two changes at once could undo each other's check.
        let changing = shared.changing.try_lock();
        let Ok(_changing) = changing else {
            return Err(Refusal::failed(
                "Another change is being made: try again in a minute",
            ));
        };
        let plan = open(shared, &plan.id)?;
        let how = How {
            limit: LIMIT,
            token: Some(&token),
        };
        let outcome = apply(&plan, how, &viewer.user, pages::now());
        let outcome = outcome.map_err(|error| {
            let said = error.to_string();
            let said = said.lines().next().unwrap_or_default();
            Refusal::failed(format!("Nothing was run: {said}"))
        })?;
        keep_outcome(shared, &plan, &outcome)?;
        Ok(plan.id)
    })
    .await
}

/// A plan that was not applied meanwhile.
fn open(shared: &Shared, id: &str) -> Result<Plan, Refusal> {
    let plan = shared
        .store
        .plan(id)
        .map_err(|error| pages::stored(&error))?;
    let plan = plan.ok_or_else(Refusal::unknown)?;
    match plan.is_open() {
        true => Ok(plan),
        false => Err(applied(id)),
    }
}

fn applied(id: &str) -> Refusal {
    Refusal {
        status: StatusCode::CONFLICT,
        why: format!("Plan {id} was applied before"),
    }
}

/// Stores and logs what became of a plan.
fn keep_outcome(shared: &Shared, plan: &Plan, outcome: &Outcome) -> Result<(), Refusal> {
    // The log has it, whatever happens to the database.
    let state = outcome.state.name();
    for (at, change) in plan.shares.iter().enumerate() {
        let done = match outcome.done.contains(&at) {
            true => "in force",
            false => "not in force",
        };
        log_line!(
            "fairtree-serve: change: plan {} {state} by {}: {}: {} -> {}: {done}",
            plan.id,
            outcome.user.escape_debug(),
            change.name.escape_debug(),
            change.before,
            change.after
        );
    }
    shared.counters.change(state);
    let kept = shared.store.became(plan, outcome);
    match kept.map_err(|error| pages::stored(&error))? {
        true => Ok(()),
        false => Err(applied(&plan.id)),
    }
}

/// A question of `fairtree apply`.
#[derive(Deserialize)]
pub(crate) struct Asked {
    /// A credential of munge for this question.
    credential: String,
    /// What became of a plan.
    #[serde(default)]
    outcome: Option<Outcome>,
}

/// The document of a plan, for who may change its shares.
pub(crate) async fn plan_for_command(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Json(asked): Json<Asked>,
) -> Response<Body> {
    let purpose = purpose_of_reading(&id);
    for_command(shared, asked, purpose, move |shared, picture, viewer, _| {
        let plan = pages::plan(picture, viewer, &shared.store, &id, true)?;
        let plan = open(shared, &plan.id)?;
        serde_json::to_vec(&plan).map_err(|error| Refusal::failed(error.to_string()))
    })
    .await
}

/// What became of a plan on a login node.
pub(crate) async fn outcome_of_command(
    State(shared): State<Arc<Shared>>,
    Path(id): Path<String>,
    Json(asked): Json<Asked>,
) -> Response<Body> {
    let purpose = purpose_of_outcome(&id);
    for_command(
        shared,
        asked,
        purpose,
        move |shared, picture, viewer, outcome| {
            let plan = pages::plan(picture, viewer, &shared.store, &id, true)?;
            let outcome = outcome.ok_or_else(|| Refusal::wrong("The outcome is missing"))?;
            let outcome = reported(&plan, &viewer.user, outcome)?;
            keep_outcome(shared, &plan, &outcome)?;
            Ok(b"{}".to_vec())
        },
    )
    .await
}

/// An outcome as the service keeps it: by who reports it, now, within bounds.
fn reported(plan: &Plan, user: &str, outcome: Outcome) -> Result<Outcome, Refusal> {
    /// Sentences that are kept.
    const SENTENCES: usize = 20;
    /// The longest sentence that is kept, in characters.
    const LONGEST: usize = 500;
    let mut done = outcome.done;
    done.sort_unstable();
    done.dedup();
    let fits = done.iter().all(|at| *at < plan.shares.len());
    let agrees = match outcome.state {
        fairtree_analysis::plan::State::Applied => done.len() == plan.shares.len(),
        fairtree_analysis::plan::State::Partly => !done.is_empty(),
        _ => done.is_empty(),
    };
    if !(fits && agrees) {
        return Err(Refusal::wrong(
            "The outcome: its state does not fit the changes that are in force",
        ));
    }
    let said = outcome.said.into_iter().take(SENTENCES);
    let plain = |said: String| -> String {
        let plain = said.chars().filter(|c| !c.is_control());
        plain.take(LONGEST).collect()
    };
    Ok(Outcome {
        state: outcome.state,
        user: user.to_owned(),
        time: pages::now(),
        done,
        said: said.map(plain).collect(),
    })
}

/// Answers a command with a document, to who made its credential.
async fn for_command(
    shared: Arc<Shared>,
    asked: Asked,
    purpose: String,
    of: impl FnOnce(&Shared, &Picture, &Viewer, Option<Outcome>) -> Result<Vec<u8>, Refusal>
    + Send
    + 'static,
) -> Response<Body> {
    let done = tokio::task::spawn_blocking(move || {
        let Access::SignIn { munge_socket, .. } = &shared.access else {
            return Err(Refusal::wrong(
                "Nothing is applied here: the service shows a capture",
            ));
        };
        let user = munge::made_by(&asked.credential, &purpose, munge_socket.as_deref());
        let user = user.map_err(|problem| Refusal {
            status: StatusCode::UNAUTHORIZED,
            why: problem.to_string(),
        })?;
        let picture = shared.seen()?;
        let viewer = Viewer::of(&picture, &user);
        of(&shared, &picture, &viewer, asked.outcome)
    });
    match done.await {
        Ok(Ok(document)) => response(StatusCode::OK, JSON, document),
        Ok(Err(refusal)) => refusal.response(Form::Json),
        Err(_) => Refusal::failed("This could not be computed").response(Form::Json),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_analysis::plan::{Change, SCHEMA, State, Who};

    #[test]
    fn what_a_command_reports_is_bounded() {
        let plan = Plan {
            schema: SCHEMA.to_owned(),
            id: "1".to_owned(),
            user: "dan".to_owned(),
            account: "lab".to_owned(),
            cluster: "alpha".to_owned(),
            time: 0,
            made_from: 0,
            shares: vec![Change {
                name: "a".to_owned(),
                who: Who {
                    account: "a".to_owned(),
                    user: None,
                    partition: None,
                },
                before: "1".to_owned(),
                after: "2".to_owned(),
            }],
            levels: Vec::new(),
            undo_of: None,
            outcome: None,
        };
        let outcome = |state, done: &[usize]| Outcome {
            state,
            user: "somebody".to_owned(),
            time: 7,
            done: done.to_vec(),
            said: vec!["x\n\u{1b}y".repeat(400); 50],
        };
        let kept = reported(&plan, "dan", outcome(State::Applied, &[0, 0])).unwrap();
        assert_eq!((kept.user.as_str(), &kept.done[..]), ("dan", &[0][..]));
        assert!(kept.time > 7 && kept.said.len() == 20);
        assert!(kept.said[0].starts_with("xyxy") && kept.said[0].len() == 500);
        for (state, done) in [
            (State::Applied, &[][..]),
            (State::Applied, &[1]),
            (State::Refused, &[0]),
        ] {
            assert!(reported(&plan, "dan", outcome(state, done)).is_err());
        }
    }
}
