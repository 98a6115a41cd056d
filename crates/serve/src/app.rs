//! The routes, and the limits of a request.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Form as Fields, Request, State};
use axum::http::header::{
    ACCEPT, CONTENT_SECURITY_POLICY, COOKIE, HOST, HeaderName, LOCATION, ORIGIN, REFERRER_POLICY,
    SET_COOKIE, X_CONTENT_TYPE_OPTIONS, X_FRAME_OPTIONS,
};
use axum::http::{Extensions, HeaderMap, HeaderValue, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::routing::{get, post};
use fairtree_render::metrics::{CONTENT_TYPE, OPENMETRICS_TYPE, write, write_openmetrics};
use maud::html;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Semaphore;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

use crate::answer::{CSS, HTML, JSON, Refusal, SHEET, TEXT, framed, response};
use crate::changing;
use crate::counters::Counters;
use crate::munge;
use crate::pages;
use crate::picture::Picture;
use crate::question::{Form, Question};
use crate::session::{Sessions, cookie, form_token, id_of, no_cookie};
use crate::starts::Starts;
use crate::store::Store;
use crate::viewer::Viewer;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 64 << 10;

/// The longest time of a request.
const LONGEST: Duration = Duration::from_secs(30);

/// Scripts, frames, and anything from elsewhere are refused by browsers.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// The header in which a proxy names the user.
const REMOTE_USER: &str = "x-remote-user";

/// How people say who they are.
#[derive(Debug)]
pub enum Access {
    /// Everybody is this user: on the loopback interface, for looking at a capture.
    As(String),
    /// By signing in, or by a proxy.
    SignIn {
        /// Those who signed in.
        sessions: Sessions,
        /// Socket of munged, where it is not the usual one.
        munge_socket: Option<PathBuf>,
    },
}

/// A connection from a proxy whose process belongs to an allowed user.
#[derive(Clone, Copy, Debug)]
pub struct FromProxy;

/// Everything that requests share.
#[derive(Debug)]
pub struct Shared {
    picture: RwLock<Option<Arc<Picture>>>,
    /// Forecasts of its jobs, or those of the picture before.
    starts: RwLock<Option<Arc<Starts>>>,
    /// Others are being made.
    forecasting: AtomicBool,
    /// The channel that gets a message for each picture.
    notified: Mutex<Option<SyncSender<()>>>,
    /// Why there is no newer picture.
    trouble: Mutex<Option<String>>,
    pub(crate) access: Access,
    /// Plans and changes.
    pub store: Store,
    /// Held while shares are changed here.
    pub(crate) changing: Mutex<()>,
    /// Why changes from outside are not known.
    no_transactions: Mutex<Option<String>>,
    /// Numbers since the start.
    pub counters: Counters,
    /// Pages that may be computed at once.
    computing: Arc<Semaphore>,
}

impl Shared {
    /// A service; `picture`: the latest, if there is one yet.
    pub fn new(picture: Option<Picture>, access: Access, store: Store) -> Shared {
        let counters = Counters::default();
        if let Some(picture) = &picture {
            counters.begin(picture);
        }
        Shared {
            picture: RwLock::new(picture.map(Arc::new)),
            starts: RwLock::new(None),
            forecasting: AtomicBool::new(false),
            notified: Mutex::new(None),
            trouble: Mutex::new(None),
            no_transactions: Mutex::new(match &access {
                Access::As(_) => Some("a capture does not contain them".to_owned()),
                Access::SignIn { .. } => Some("slurmdbd was not asked yet".to_owned()),
            }),
            access,
            store,
            changing: Mutex::new(()),
            counters,
            computing: Arc::new(Semaphore::new(at_once())),
        }
    }

    /// The picture at present.
    pub fn picture(&self) -> Option<Arc<Picture>> {
        // A picture is replaced in one step: a panic elsewhere leaves a whole one.
        let picture = self.picture.read().unwrap_or_else(PoisonError::into_inner);
        picture.clone()
    }

    /// Puts another picture in its place.
    pub fn replace(&self, picture: Picture) {
        let picture = Some(Arc::new(picture));
        let mut held = self.picture.write().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *held, picture);
        drop(held);
        // Requests do not wait until it is freed.
        drop(before);
        *self.trouble_held() = None;
        let notified = self.notified.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(sender) = &*notified {
            // A receiver that has not read the last message will see this picture.
            let _ = sender.try_send(());
        }
    }

    /// Sends a message for each picture from now on.
    pub fn notify_of_pictures(&self, sender: SyncSender<()>) {
        *self.notified.lock().unwrap_or_else(PoisonError::into_inner) = Some(sender);
    }

    /// Says on pages that forecasts are being made, until they are there.
    pub fn begin_forecast(&self) {
        self.forecasting.store(true, Ordering::Relaxed);
    }

    /// Puts other forecasts in their place.
    pub fn forecast(&self, starts: Option<Starts>) {
        let mut held = self.starts.write().unwrap_or_else(PoisonError::into_inner);
        *held = starts.map(Arc::new);
        self.forecasting.store(false, Ordering::Relaxed);
    }

    /// The forecasts at present; `None`: without any.
    pub fn starts(&self) -> Option<Arc<Starts>> {
        let held = self.starts.read().unwrap_or_else(PoisonError::into_inner);
        held.clone()
    }

    /// Keeps the reason why there is no newer picture, for all pages.
    pub fn no_news(&self, why: String) {
        *self.trouble_held() = Some(why);
    }

    fn trouble_held(&self) -> std::sync::MutexGuard<'_, Option<String>> {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why there is no newer picture; `None`: the last capture succeeded.
    pub fn trouble(&self) -> Option<String> {
        self.trouble_held().clone()
    }

    /// Keeps the reason why changes from outside are not known; `None`: they are.
    pub fn set_no_transactions(&self, why: Option<String>) {
        let held = self.no_transactions.lock();
        *held.unwrap_or_else(PoisonError::into_inner) = why;
    }

    fn no_transactions(&self) -> Option<String> {
        let held = self.no_transactions.lock();
        held.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The picture at present.
    ///
    /// # Errors
    /// There is none yet.
    pub(crate) fn seen(&self) -> Result<Arc<Picture>, Refusal> {
        self.picture().ok_or_else(|| {
            let why = self
                .trouble()
                .unwrap_or_else(|| "it is being taken".to_owned());
            Refusal::failed(format!("There is no picture of this site yet: {why}"))
        })
    }

    /// Who asks, and the session; `None`: nobody that is known.
    pub(crate) fn user(
        &self,
        headers: &HeaderMap,
        extensions: &Extensions,
    ) -> Option<(String, Option<String>)> {
        let sessions = match &self.access {
            Access::As(user) => return Some((user.clone(), None)),
            Access::SignIn { sessions, .. } => sessions,
        };
        if extensions.get::<FromProxy>().is_some() {
            let user = headers.get(REMOTE_USER)?.to_str().ok()?.trim();
            let plain = !user.is_empty() && user.len() <= 256 && !user.contains(char::is_control);
            return plain.then(|| (user.to_owned(), None));
        }
        let id = headers.get(COOKIE)?.to_str().ok().and_then(id_of)?;
        let user = sessions.user(id, pages::now())?;
        Some((user, Some(id.to_owned())))
    }
}

/// Number of pages that are computed at once: two for each processor, and at least four, so that a page that takes a
/// second does not stop the others. With one thread for each reader, a new picture would wait for all of them.
fn at_once() -> usize {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    (2 * processors).max(4)
}

/// The service as routes.
pub fn app(shared: Arc<Shared>) -> Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    Router::new()
        .route("/", get(home))
        .route("/healthz", get(health))
        .route("/api/v1/healthz", get(health_document))
        .route("/login", get(link).post(sign_in))
        .route("/logout", post(sign_out))
        .route("/plan", post(changing::keep))
        .route("/plan/{id}/apply", post(changing::apply_here))
        .route("/plan/{id}/undo", post(changing::undo))
        .route("/cli/plan/{id}", post(changing::plan_for_command))
        .route("/cli/plan/{id}/outcome", post(changing::outcome_of_command))
        .route(SHEET, get(sheet))
        .fallback(get(show))
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn_with_state(shared.clone(), own_names))
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            LONGEST,
        ))
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .layer(header(CONTENT_SECURITY_POLICY, POLICY))
        .layer(header(X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .layer(header(X_FRAME_OPTIONS, "DENY"))
        .layer(header(REFERRER_POLICY, "no-referrer"))
        .layer(header(
            HeaderName::from_static("cross-origin-opener-policy"),
            "same-origin",
        ))
        .layer(header(
            HeaderName::from_static("cross-origin-resource-policy"),
            "same-origin",
        ))
        .with_state(shared)
}

/// The metrics as a route, for a listener of its own. `users`: number of users with series of their own.
pub fn metrics_app(shared: Arc<Shared>, users: usize) -> Router {
    Router::new()
        .route(
            "/metrics",
            get(
                move |State(shared): State<Arc<Shared>>, headers: HeaderMap| {
                    metrics(shared, headers, users)
                },
            ),
        )
        .layer(TimeoutLayer::with_status_code(
            StatusCode::SERVICE_UNAVAILABLE,
            LONGEST,
        ))
        .layer(RequestBodyLimitLayer::new(MAX_BODY))
        .with_state(shared)
}

/// Prometheus' format, or OpenMetrics where `Accept` names it.
async fn metrics(shared: Arc<Shared>, headers: HeaderMap, users: usize) -> Response<Body> {
    let accepted = headers.get(ACCEPT).and_then(|value| value.to_str().ok());
    let open = accepted.is_some_and(|accepted| accepted.contains("application/openmetrics-text"));
    let written = tokio::task::spawn_blocking(move || {
        let picture = shared.picture();
        let families = shared
            .counters
            .families(picture.as_deref(), pages::now(), users);
        let mut out = Vec::new();
        match open {
            true => write_openmetrics(&mut out, &families),
            false => write(&mut out, &families),
        }
        .map(|()| out)
    });
    match (written.await, open) {
        (Ok(Ok(text)), true) => response(StatusCode::OK, OPENMETRICS_TYPE, text),
        (Ok(Ok(text)), false) => response(StatusCode::OK, CONTENT_TYPE, text),
        _ => Refusal::failed("The metrics could not be computed").response(Form::Csv),
    }
}

/// Without sign-in, pages of other sites could ask under a name of their own that leads here.
async fn own_names(
    State(shared): State<Arc<Shared>>,
    request: Request,
    next: Next,
) -> Response<Body> {
    let local = matches!(shared.access, Access::As(_));
    match !local || is_local(request.headers()) {
        true => next.run(request).await,
        false => Refusal {
            status: StatusCode::MISDIRECTED_REQUEST,
            why: "Allowed names of this host are localhost, 127.0.0.1 and [::1]".to_owned(),
        }
        .response(Form::Csv),
    }
}

fn is_local(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(HOST) else {
        return true;
    };
    let host = host.to_str().unwrap_or("");
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    matches!(name, "localhost" | "127.0.0.1" | "[::1]")
}

/// Returns true if a form comes from a page of this service: browsers name the origin of each form.
pub(crate) fn is_own_form(headers: &HeaderMap) -> bool {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    let site = HeaderName::from_static("sec-fetch-site");
    if let Some(site) = text(&site) {
        return site == "same-origin";
    }
    match (text(&ORIGIN), text(&HOST)) {
        (Some(origin), Some(host)) => origin
            .split_once("://")
            .is_some_and(|(_, name)| name == host),
        // Not a browser: it sends no cookie of a person that it does not have.
        (None, _) => true,
        (Some(_), None) => false,
    }
}

async fn home() -> Response<Body> {
    to("/me", None)
}

pub(crate) fn to(path: &'static str, set_cookie: Option<String>) -> Response<Body> {
    let mut answer = response(StatusCode::SEE_OTHER, TEXT, Vec::new());
    let headers = answer.headers_mut();
    headers.insert(LOCATION, HeaderValue::from_static(path));
    if let Some(cookie) = set_cookie.and_then(|text| HeaderValue::from_str(&text).ok()) {
        headers.insert(SET_COOKIE, cookie);
    }
    answer
}

/// `ok` where a picture exists and the last capture succeeded.
fn health_of(shared: &Shared) -> (StatusCode, &'static str) {
    match (shared.picture(), shared.trouble()) {
        (Some(_), None) => (StatusCode::OK, "ok"),
        (Some(_), Some(_)) => (StatusCode::OK, "ok, with an old picture"),
        (None, _) => (StatusCode::SERVICE_UNAVAILABLE, "no picture yet"),
    }
}

async fn health(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let (status, text) = health_of(&shared);
    response(status, TEXT, format!("{text}\n").into_bytes())
}

async fn health_document(State(shared): State<Arc<Shared>>) -> Response<Body> {
    let (status, text) = health_of(&shared);
    let document = json!({"schema": "fairtree.health/1", "health": text});
    response(status, JSON, format!("{document}\n").into_bytes())
}

async fn sheet() -> Response<Body> {
    let css = fairtree_render::page::sheet();
    response(StatusCode::OK, CSS, css.into_bytes())
}

async fn not_allowed(request: Request) -> Response<Body> {
    let form = match Form::of(request.uri().path()) {
        Form::Json => Form::Json,
        _ => Form::Csv,
    };
    Refusal {
        status: StatusCode::METHOD_NOT_ALLOWED,
        why: "This address is not for this method".to_owned(),
    }
    .response(form)
}

/// The page that a link of `fairtree login` leads to. Only its form signs in: browsers may load links
/// that nobody has followed.
async fn link(request: Request) -> Response<Body> {
    let query = request.uri().query().unwrap_or("");
    let credential = query.strip_prefix("c=").unwrap_or("");
    let credential = percent_encoding::percent_decode_str(credential).decode_utf8_lossy();
    let body = html! {
        h1 { "Sign in" }
        @if credential.is_empty() {
            p { "On a login node, run " code { "fairtree login" } " and open the link that it prints within 60 seconds." }
        } @else {
            form method="post" action="/login" {
                input type="hidden" name="credential" value=(credential);
                p { button type="submit" { "Sign in" } }
            }
        }
    };
    response(StatusCode::OK, HTML, framed("Sign in", &body).into_bytes())
}

#[derive(Deserialize)]
struct Link {
    credential: String,
}

async fn sign_in(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Fields(link): Fields<Link>,
) -> Response<Body> {
    if !is_own_form(&headers) {
        return foreign().response(Form::Html);
    }
    let signed_in = tokio::task::spawn_blocking(move || {
        let Access::SignIn {
            sessions,
            munge_socket,
        } = &shared.access
        else {
            return Err("Nobody signs in here: the service shows a capture".to_owned());
        };
        let user = munge::signed_in(&link.credential, munge_socket.as_deref())?;
        let id = sessions.begin(&user, pages::now());
        id.map_err(|error| format!("No session: {error}"))
    });
    match signed_in.await {
        Ok(Ok(id)) => to("/me", Some(cookie(&id))),
        Ok(Err(why)) => Refusal {
            status: StatusCode::FORBIDDEN,
            why,
        }
        .response(Form::Html),
        Err(_) => Refusal::failed("Signing in failed").response(Form::Html),
    }
}

#[derive(Deserialize)]
struct Token {
    token: String,
}

async fn sign_out(
    State(shared): State<Arc<Shared>>,
    headers: HeaderMap,
    Fields(form): Fields<Token>,
) -> Response<Body> {
    let id = headers.get(COOKIE).and_then(|value| value.to_str().ok());
    let id = id.and_then(id_of).unwrap_or("");
    if !is_own_form(&headers) || form.token != form_token(id) {
        return foreign().response(Form::Html);
    }
    if let Access::SignIn { sessions, .. } = &shared.access {
        sessions.end(id);
    }
    to("/login", Some(no_cookie()))
}

pub(crate) fn foreign() -> Refusal {
    Refusal {
        status: StatusCode::FORBIDDEN,
        why: "This form is not from a page of this service".to_owned(),
    }
}

/// A page, computed on a thread of its own: explanations may take a while on a large site.
async fn show(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let uri = request.uri();
    let query = uri.query().unwrap_or("").to_owned();
    let parsed = Question::parse(uri.path());
    let form = Form::of(uri.path());
    let Some((user, session)) = shared.user(request.headers(), request.extensions()) else {
        return match form {
            Form::Html => to("/login", None),
            _ => Refusal {
                status: StatusCode::UNAUTHORIZED,
                why: "Sign in first: fairtree login".to_owned(),
            }
            .response(form),
        };
    };
    let Some((question, form)) = parsed else {
        shared.counters.request("unknown", 404);
        return Refusal::unknown().response(form);
    };
    let (page, asked) = (question.page(), shared.clone());
    // It is never closed. A page keeps its turn to its end, also where the request is over before.
    let turn = shared.computing.clone().acquire_owned().await;
    let answered = tokio::task::spawn_blocking(move || {
        let _turn = turn;
        let (trouble, no_transactions) = (shared.trouble(), shared.no_transactions());
        let starts = shared.starts();
        let picture = shared.seen()?;
        let viewer = Viewer::of(&picture, &user);
        let around = pages::Around {
            trouble: trouble.as_deref(),
            form_token: session.as_deref().map(form_token),
            store: Some(&shared.store),
            applies: matches!(shared.access, Access::SignIn { .. }),
            no_transactions: no_transactions.as_deref(),
            starts: starts.as_deref(),
            forecasting: shared.forecasting.load(Ordering::Relaxed),
        };
        pages::answer(&picture, &viewer, &around, &question, &query, form)
    });
    let answer = match answered.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(refusal)) => refusal.response(form),
        Err(_) => Refusal::failed("This page could not be computed").response(form),
    };
    asked.counters.request(page, answer.status().as_u16());
    answer
}
