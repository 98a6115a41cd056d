//! Responses: a page in its frame, a document, a table, or what is wrong.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderValue, Response, StatusCode};
use fairtree_render::chart::Theme;
use fairtree_render::page::shell;
use maud::{Markup, html};
use serde_json::json;

use crate::question::Form;

/// Address of the style sheet.
pub const SHEET: &str = "/style.css";

/// Reason why there is no page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// Status.
    pub status: StatusCode,
    /// A sentence without a full stop.
    pub why: String,
}

impl Refusal {
    /// There is no such page, or the reader may not see it: the answer is the same.
    pub fn unknown() -> Refusal {
        Refusal {
            status: StatusCode::NOT_FOUND,
            why: "There is no such page, or you may not see it".to_owned(),
        }
    }

    /// The question is wrong.
    pub fn wrong(why: impl Into<String>) -> Refusal {
        Refusal {
            status: StatusCode::BAD_REQUEST,
            why: why.into(),
        }
    }

    /// The service cannot answer.
    pub fn failed(why: impl Into<String>) -> Refusal {
        Refusal {
            status: StatusCode::SERVICE_UNAVAILABLE,
            why: why.into(),
        }
    }

    /// The response, in the form of the question.
    pub fn response(&self, form: Form) -> Response<Body> {
        let (kind, text) = match form {
            Form::Html => {
                let body = html! {
                    nav { a href="/me" { "Me" } a href="/site" { "Site" } }
                    h1 { (self.status.canonical_reason().unwrap_or("Error")) }
                    p { (self.why) "." }
                };
                (HTML, framed("Error", &body))
            }
            Form::Json => {
                let document = json!({"schema": "fairtree.error/1", "error": self.why});
                (JSON, format!("{document}\n"))
            }
            Form::Csv => (TEXT, format!("{}\n", self.why)),
        };
        response(self.status, kind, text.into_bytes())
    }
}

/// Content types.
pub const HTML: &str = "text/html; charset=utf-8";
/// JSON.
pub const JSON: &str = "application/json";
/// Plain text.
pub const TEXT: &str = "text/plain; charset=utf-8";
/// CSV.
pub const CSV: &str = "text/csv; charset=utf-8";
/// A style sheet.
pub const CSS: &str = "text/css; charset=utf-8";

/// A whole page with the style sheet of the service.
pub fn framed(title: &str, body: &Markup) -> String {
    let head = html! { link rel="stylesheet" href=(SHEET); };
    let title = format!("{title} - fairtree");
    shell(&title, Theme::Auto, &head, body).into_string()
}

/// A response that no cache keeps.
pub fn response(status: StatusCode, kind: &'static str, bytes: Vec<u8>) -> Response<Body> {
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}
