//! The routes, and the limits of a request.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{
    CONTENT_SECURITY_POLICY, HOST, HeaderName, LOCATION, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
    X_FRAME_OPTIONS,
};
use axum::http::{HeaderMap, HeaderValue, Response, StatusCode};
use axum::middleware::{self, Next};
use axum::routing::get;
use tower_http::limit::RequestBodyLimitLayer;
use tower_http::set_header::SetResponseHeaderLayer;
use tower_http::timeout::TimeoutLayer;

use crate::answer::{CSS, Refusal, SHEET, TEXT, response};
use crate::pages;
use crate::picture::Picture;
use crate::question::{Form, Question};
use crate::viewer::Viewer;

/// The longest body of a request, in bytes.
const MAX_BODY: usize = 64 << 10;

/// The longest time of a request.
const LONGEST: Duration = Duration::from_secs(30);

/// Scripts, frames, and anything from elsewhere are refused by browsers.
const POLICY: &str = "default-src 'none'; style-src 'self'; form-action 'self'; base-uri 'none'; \
                      frame-ancestors 'none'";

/// Everything that requests share.
#[derive(Debug)]
pub struct Shared {
    picture: RwLock<Arc<Picture>>,
    /// Who looks, without sign-in.
    user: String,
}

impl Shared {
    /// A capture that `user` looks at.
    pub fn new(picture: Picture, user: &str) -> Shared {
        Shared {
            picture: RwLock::new(Arc::new(picture)),
            user: user.to_owned(),
        }
    }

    /// The picture at present.
    pub fn picture(&self) -> Arc<Picture> {
        // A picture is replaced in one step: a panic elsewhere leaves a whole one.
        let picture = self.picture.read().unwrap_or_else(PoisonError::into_inner);
        picture.clone()
    }

    /// Puts another picture in its place.
    pub fn replace(&self, picture: Picture) {
        let mut held = self.picture.write().unwrap_or_else(PoisonError::into_inner);
        *held = Arc::new(picture);
    }
}

/// The service as routes.
pub fn app(shared: Arc<Shared>) -> Router {
    let header = |name: HeaderName, value: &'static str| {
        SetResponseHeaderLayer::overriding(name, HeaderValue::from_static(value))
    };
    Router::new()
        .route("/", get(home))
        .route("/healthz", get(health))
        .route(SHEET, get(sheet))
        .fallback(get(show))
        .method_not_allowed_fallback(not_allowed)
        .layer(middleware::from_fn(local_names))
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

/// Without sign-in, pages of other sites could ask under a name of their own that leads here.
async fn local_names(request: Request, next: Next) -> Response<Body> {
    match is_local(request.headers()) {
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

async fn home() -> Response<Body> {
    let mut to = response(StatusCode::SEE_OTHER, TEXT, Vec::new());
    let me = HeaderValue::from_static("/me");
    to.headers_mut().insert(LOCATION, me);
    to
}

async fn health() -> Response<Body> {
    response(StatusCode::OK, TEXT, b"ok\n".to_vec())
}

async fn sheet() -> Response<Body> {
    let css = fairtree_render::page::sheet();
    response(StatusCode::OK, CSS, css.into_bytes())
}

async fn not_allowed() -> Response<Body> {
    Refusal {
        status: StatusCode::METHOD_NOT_ALLOWED,
        why: "Pages are only read".to_owned(),
    }
    .response(Form::Csv)
}

/// A page, computed on a thread of its own: explanations may take a while on a large site.
async fn show(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let uri = request.uri();
    let query = uri.query().unwrap_or("").to_owned();
    let Some((question, form)) = Question::parse(uri.path()) else {
        return Refusal::unknown().response(Form::Html);
    };
    let answered = tokio::task::spawn_blocking(move || {
        let picture = shared.picture();
        let viewer = Viewer::of(&picture, &shared.user);
        pages::answer(&picture, &viewer, &question, &query, form)
    });
    match answered.await {
        Ok(Ok(answer)) => answer,
        Ok(Err(refusal)) => refusal.response(form),
        Err(_) => Refusal::failed("This page could not be computed").response(form),
    }
}
