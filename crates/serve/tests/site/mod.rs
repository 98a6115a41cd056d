//! A service in process.

#![allow(dead_code)] // Each test program uses a part of this.

#[path = "../../../../tests/common/checkout.rs"]
mod checkout;

use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use fairtree_serve::app::{Access, Shared, app, metrics_app};
use fairtree_serve::earlier;
use fairtree_serve::picture::Picture;
use fairtree_serve::starts::Starts;
use fairtree_serve::store::Store;
use http_body_util::BodyExt;
use serde_json::Value;
use tower::ServiceExt;

pub use checkout::checkout;

/// A service that shows a capture to a user.
pub struct Site {
    pub shared: Arc<Shared>,
    app: Router,
}

/// A response.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        let value = self.headers.get(name).map(|value| value.to_str());
        value.expect("the header exists").expect("it is text")
    }
}

fn send(app: Router, request: Request<Body>) -> Answer {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    runtime.expect("a runtime").block_on(async {
        let response = app.oneshot(request).await.expect("an answer");
        let (head, body) = response.into_parts();
        let body = body.collect().await.expect("a body").to_bytes();
        Answer {
            status: head.status,
            headers: head.headers,
            text: String::from_utf8(body.to_vec()).expect("text"),
        }
    })
}

impl Site {
    /// A capture of `tests/captures`.
    pub fn recorded(capture: &str, user: &str) -> Site {
        Site::of(&checkout().join("tests/captures").join(capture), user)
    }

    /// The capture in a folder.
    pub fn of(folder: &Path, user: &str) -> Site {
        Site::with(folder, user, Store::in_memory().expect("a database"))
    }

    /// The capture in a folder, and what a database has.
    pub fn with(folder: &Path, user: &str, store: Store) -> Site {
        let picture = Picture::read(folder).expect("a capture");
        let access = Access::As(user.to_owned());
        let shared = Arc::new(Shared::new(Some(picture), access, store));
        let app = app(shared.clone());
        Site { shared, app }
    }

    /// The capture in a folder, and the same in the database for each of the last `hours`.
    pub fn over_time(folder: &Path, user: &str, hours: u64) -> Site {
        let site = Site::of(folder, user);
        let mut picture = Picture::read(folder).expect("a capture");
        let now = picture.manifest.time;
        for hour in (0..hours).rev() {
            picture.manifest.time = now - hour * 3600;
            let kept = site.shared.store.keep_course(&picture, 35);
            kept.expect("a course");
        }
        site
    }

    /// The capture in a folder, with an empty database filled from its past jobs, as when the service starts.
    pub fn first_start(folder: &Path, user: &str) -> Site {
        let site = Site::of(folder, user);
        let picture = site.shared.picture().expect("a picture");
        earlier::keep(&site.shared.store, &picture).expect("a course");
        let kept = site.shared.store.keep_course(&picture, 35);
        kept.expect("a course");
        site
    }

    /// The capture in a folder, with forecasts where it has a past.
    pub fn forecast(folder: &Path, user: &str) -> Site {
        let site = Site::of(folder, user);
        let picture = site.shared.picture().expect("a picture");
        let starts = Starts::of(&picture).expect("a queue that can be simulated");
        site.shared.forecast(starts);
        site
    }

    pub fn get(&self, path: &str) -> Answer {
        self.get_as(path, "localhost")
    }

    pub fn get_as(&self, path: &str, host: &str) -> Answer {
        self.ask(Method::GET, path, host)
    }

    pub fn post(&self, path: &str) -> Answer {
        self.ask(Method::POST, path, "localhost")
    }

    /// The metrics, for a reader that accepts these formats.
    pub fn metrics(&self, accept: &str) -> Answer {
        let request = Request::builder()
            .uri("/metrics")
            .header("accept", accept)
            .body(Body::empty());
        let app = metrics_app(self.shared.clone(), 0);
        send(app, request.expect("a request"))
    }

    /// Sends a form.
    pub fn form(&self, path: &str, fields: &str, origin: &str) -> Answer {
        let request = Request::builder()
            .method(Method::POST)
            .uri(path)
            .header("host", "localhost")
            .header("origin", origin)
            .header("content-type", "application/x-www-form-urlencoded")
            .body(Body::from(fields.to_owned()));
        self.send(request.expect("a request"))
    }

    fn ask(&self, method: Method, path: &str, host: &str) -> Answer {
        let request = Request::builder()
            .method(method)
            .uri(path)
            .header("host", host);
        self.send(request.body(Body::empty()).expect("a request"))
    }

    fn send(&self, request: Request<Body>) -> Answer {
        send(self.app.clone(), request)
    }

    /// A page that exists.
    pub fn page(&self, path: &str) -> String {
        let answer = self.get(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "text/html; charset=utf-8");
        answer.text
    }

    /// A document that exists.
    pub fn json(&self, path: &str) -> Value {
        let answer = self.get(path);
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        assert_eq!(answer.header("content-type"), "application/json");
        serde_json::from_str(&answer.text).expect("JSON")
    }

    /// The number of a job that waits.
    pub fn any_waiting_job(&self) -> u32 {
        let picture = self.shared.picture().expect("a picture");
        let job = picture.cluster.pending().next().map(|job| job.job.id);
        job.expect("a job waits")
    }
}

/// The values of the elements of a page that have a name.
pub fn numbers(page: &str, name: &str) -> Vec<f64> {
    let mark = format!("data-name=\"{name}\" data-value=\"");
    let values = page.split(&mark).skip(1);
    let values = values.map(|rest| rest.split('"').next().unwrap_or_default());
    values
        .map(|value| value.parse().expect("a number"))
        .collect()
}

/// Answers about rights that lie beside the recorded capture.
const RIGHTS: [&str; 3] = ["accounts.txt", "users.txt", "database.txt"];

impl Site {
    /// The recorded capture of 22.05.8 with the answers about rights, and with texts replaced: file
    /// (`*`: all), what, by what.
    pub fn changed(user: &str, changes: &[(&str, &str, &str)]) -> Site {
        let folder = tempfile::tempdir().expect("a folder");
        copy(folder.path(), changes);
        Site::of(folder.path(), user)
    }
}

/// Copies the recorded capture of 22.05.8 with changes.
pub fn copy(to: &Path, changes: &[(&str, &str, &str)]) {
    let from = checkout().join("tests/captures/cluster");
    for entry in std::fs::read_dir(from).expect("a capture") {
        let path = entry.expect("an entry").path();
        let name = path
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        let mut text = std::fs::read_to_string(&path).expect("text");
        if name == "manifest.json" {
            let mut manifest: Value = serde_json::from_str(&text).expect("JSON");
            let answers = manifest["answers"].as_array_mut().expect("answers");
            for file in RIGHTS {
                answers.push(
                    serde_json::json!({"command": [], "file": file, "secs": 0.1, "error": null}),
                );
            }
            text = manifest.to_string();
        }
        for (file, before, after) in changes {
            if *file == name {
                assert!(text.contains(before), "{file}: {before}");
            }
            if *file == name || (*file == "*" && name != "manifest.json") {
                text = text.replace(before, after);
            }
        }
        std::fs::write(to.join(name), text).expect("written");
    }
}
