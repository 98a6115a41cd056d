//! Addresses: which page, in which form.

use std::fmt;

use fairtree_model::cluster::JobName;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// A page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Question {
    /// The standing of who asks.
    Me,
    /// A job.
    Job(JobName),
    /// Two jobs side by side.
    Versus(JobName, JobName),
    /// An account.
    Account(String),
    /// The whole site.
    Site,
    /// Shares of the level below an account.
    Shares(String),
    /// A plan, by its number.
    Plan(String),
    /// All plans.
    Changes,
    /// The cost of a job that is not submitted yet.
    Cost,
}

/// A form of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// A page.
    Html,
    /// JSON, below `/api/v1/`.
    Json,
    /// CSV, with `.csv` at the end.
    Csv,
}

impl Form {
    /// The form that an address asks for, whether or not there is such a page.
    pub fn of(path: &str) -> Form {
        match (path.ends_with(".csv"), path.starts_with("/api/v1/")) {
            (true, _) => Form::Csv,
            (_, true) => Form::Json,
            _ => Form::Html,
        }
    }
}

/// The longest name that is looked up, in bytes; Slurm's are shorter.
const MAX_NAME: usize = 256;

impl Question {
    /// The question of the path of an address; `None`: there is no such page.
    pub fn parse(path: &str) -> Option<(Question, Form)> {
        let form = Form::of(path);
        let path = path.strip_prefix("/api/v1/").or(path.strip_prefix('/'))?;
        let path = path.strip_suffix(".csv").unwrap_or(path);
        let segments: Vec<String> = path.split('/').map(decoded).collect::<Option<_>>()?;
        let segments: Vec<&str> = segments.iter().map(String::as_str).collect();
        let question = match segments[..] {
            ["me"] => Question::Me,
            ["site"] => Question::Site,
            ["cost"] => Question::Cost,
            ["changes"] => Question::Changes,
            ["plan", id]
                if (1..=20).contains(&id.len()) && id.bytes().all(|byte| byte.is_ascii_digit()) =>
            {
                Question::Plan(id.to_owned())
            }
            ["account", name, "shares"] if !name.is_empty() && name.len() <= MAX_NAME => {
                Question::Shares(name.to_owned())
            }
            ["job", id] => Question::Job(id.parse().ok()?),
            ["job", id, "versus", other] => Question::Versus(id.parse().ok()?, other.parse().ok()?),
            ["account", name] if !name.is_empty() && name.len() <= MAX_NAME => {
                Question::Account(name.to_owned())
            }
            _ => return None,
        };
        Some((question, form))
    }
}

impl Question {
    /// The kind of the page in one word, for counters.
    pub fn page(&self) -> &'static str {
        match self {
            Question::Me => "me",
            Question::Job(_) => "job",
            Question::Versus(..) => "versus",
            Question::Account(_) => "account",
            Question::Site => "site",
            Question::Shares(_) => "shares",
            Question::Plan(_) => "plan",
            Question::Changes => "changes",
            Question::Cost => "cost",
        }
    }
}

fn decoded(segment: &str) -> Option<String> {
    let text = percent_decode_str(segment).decode_utf8().ok()?;
    (!text.chars().any(char::is_control)).then(|| text.into_owned())
}

/// Characters that a segment of a path may have as they are.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'_')
    .remove(b'.')
    .remove(b'~');

/// The address of the page of an account.
pub fn account(name: &str) -> String {
    format!("/account/{}", utf8_percent_encode(name, SEGMENT))
}

/// The path of the page.
impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Question::Me => f.write_str("/me"),
            Question::Site => f.write_str("/site"),
            Question::Cost => f.write_str("/cost"),
            Question::Changes => f.write_str("/changes"),
            Question::Plan(id) => write!(f, "/plan/{id}"),
            Question::Shares(name) => write!(f, "{}/shares", account(name)),
            Question::Job(id) => write!(f, "/job/{id}"),
            Question::Versus(a, b) => write!(f, "/job/{a}/versus/{b}"),
            Question::Account(name) => f.write_str(&account(name)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let parse = |path: &str| Question::parse(path);
        let job: JobName = "301".parse().unwrap();
        let task: JobName = "7_3".parse().unwrap();
        assert_eq!(parse("/me"), Some((Question::Me, Form::Html)));
        assert_eq!(parse("/me.csv"), Some((Question::Me, Form::Csv)));
        assert_eq!(parse("/api/v1/site"), Some((Question::Site, Form::Json)));
        assert_eq!(parse("/api/v1/site.csv"), Some((Question::Site, Form::Csv)));
        assert_eq!(parse("/job/301.csv"), Some((Question::Job(job), Form::Csv)));
        assert_eq!(
            parse("/job/301/versus/7_3"),
            Some((Question::Versus(job, task), Form::Html))
        );
        let hostile = Question::Account("a/b \"<é>".to_owned());
        assert_eq!(parse(&hostile.to_string()), Some((hostile, Form::Html)));
        for none in [
            "",
            "/",
            "/me/",
            "/job/x",
            "/job/-1",
            "/job/99999999999",
            "/account/",
            "/account/a/b",
            "/account/%00",
            "/account/%ff",
            "/../me",
            "//me",
            "/api/v2/me",
        ] {
            assert_eq!(parse(none), None, "{none}");
        }
    }
}
