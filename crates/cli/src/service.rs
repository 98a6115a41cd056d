//! The service of the site, asked through curl. munge proves who asks.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::json;

use super::Failure;
use super::args::ServiceArgs;
use super::login::{credential, url};
use fairtree_analysis::plan::{Outcome, purpose_of_outcome, purpose_of_reading};

/// A service.
pub(super) struct Service {
    url: String,
    munge_socket: Option<PathBuf>,
}

impl Service {
    /// The service that options name; otherwise that of the environment or of the file of settings. `url`: an
    /// address that stands before these.
    pub fn new(url: Option<&str>, args: &ServiceArgs) -> Result<Service, Failure> {
        let url = self::url(url.or(args.url.as_deref()), &args.config)?;
        Ok(Service {
            url: url.trim_end_matches('/').to_owned(),
            munge_socket: args.munge_socket.clone(),
        })
    }

    /// The JSON of a plan.
    pub fn plan(&self, id: &str) -> Result<String, Failure> {
        self.ask(&format!("/cli/plan/{id}"), &purpose_of_reading(id), None)
    }

    /// Reports what became of a plan.
    pub fn outcome(&self, id: &str, outcome: &Outcome) -> Result<(), Failure> {
        let path = format!("/cli/plan/{id}/outcome");
        self.ask(&path, &purpose_of_outcome(id), Some(outcome))?;
        Ok(())
    }

    /// The answer to a question with a credential.
    fn ask(&self, path: &str, purpose: &str, outcome: Option<&Outcome>) -> Result<String, Failure> {
        let credential = credential(purpose, self.munge_socket.as_deref())?;
        let body = json!({"credential": credential, "outcome": outcome}).to_string();
        let url = format!("{}{path}", self.url);
        let answer = post(&url, &body)?;
        let (text, status) = answer.rsplit_once('\n').unwrap_or(("", &answer));
        match status.trim() {
            "200" => Ok(text.to_owned()),
            status => {
                let document: Option<serde_json::Value> = serde_json::from_str(text).ok();
                let why = document
                    .as_ref()
                    .and_then(|document| document["error"].as_str());
                let why = why.map_or_else(|| format!("status {status}"), str::to_owned);
                Err(Failure::Usage(format!("{}: {why}", self.url)))
            }
        }
    }
}

/// The answer of a server, and after a line break its status. curl reads everything from its standard
/// input, so that no list of processes shows it.
fn post(url: &str, body: &str) -> Result<String, Failure> {
    let options = [
        ("url", url),
        ("header", "Content-Type: application/json"),
        ("data-raw", body),
        ("write-out", "\n%{http_code}"),
        ("max-time", "60"),
        ("proto", "=http,https"),
    ];
    let mut config = "silent\nshow-error\n".to_owned();
    for (name, value) in options {
        let value = value
            .replace('\\', "\\\\")
            .replace('"', "\\\"")
            .replace('\n', "\\n");
        config.push_str(&format!("{name} = \"{value}\"\n"));
    }
    let failed = |error: std::io::Error| {
        match error.kind() {
        std::io::ErrorKind::NotFound => Failure::Usage(
            "curl is not installed, or not in PATH\nhint: save the JSON of the plan from its page, and name that file"
                .to_owned(),
        ),
        _ => Failure::Usage(format!("curl: {error}")),
    }
    };
    let mut child = Command::new("curl")
        .args(["--config", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(config.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Usage(said.trim().to_owned()));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
