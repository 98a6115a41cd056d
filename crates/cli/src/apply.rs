//! `fairtree apply`.

use std::io::{self, BufRead, IsTerminal, Read, Write, stdin, stdout};
use std::time::Duration;

use super::args::ApplyArgs;
use super::message::Messages;
use super::service::Service;
use super::user::login_name;
use super::{Failure, Outcome};
use fairtree_analysis::plan::apply::{How, apply, differences};
use fairtree_analysis::plan::{Outcome as Became, Plan, State};

/// The longest file of a plan, in bytes.
const MAX_PLAN: u64 = 64 << 20;

/// Seconds since 1970.
fn now() -> i64 {
    jiff::Timestamp::now().as_second()
}

/// Where a plan is.
enum Place {
    /// In the service, under this number.
    Service(Service, String),
    /// In a file.
    File(String),
}

/// Reads, compares, asks, runs, reports.
pub(super) fn run(args: &ApplyArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let place = place(args)?;
    let text = match &place {
        Place::Service(service, id) => service.plan(id)?,
        Place::File(name) => text(name)?,
    };
    let plan = Plan::read(&text).map_err(|error| Failure::Usage(error.to_string()))?;
    let how = How {
        limit: Duration::from_secs(args.time_limit),
        token: None,
    };
    let changed = differences(&plan, how)?;
    let mut out = stdout().lock();
    if changed.is_empty() {
        for line in plan.lines() {
            writeln!(out, "{line}")?;
        }
        out.flush()?;
        if args.dry_run {
            return Ok(Outcome::Done);
        }
        if !(args.immediate || asked(&mut out)?) {
            messages.note("nothing was run");
            return Ok(Outcome::Done);
        }
    }
    let user = login_name().unwrap_or_default();
    let became = match changed.is_empty() {
        true => apply(&plan, how, &user, now())?,
        false => Became {
            state: State::Refused,
            user,
            time: now(),
            done: Vec::new(),
            said: changed,
        },
    };
    // The service has it even if the reader of the output has gone.
    if !args.dry_run {
        report(args, &place, &plan, &became, messages);
    }
    said(&plan, &became, messages)
}

/// The place of a plan by what names it.
fn place(args: &ApplyArgs) -> Result<Place, Failure> {
    let is_number = |text: &str| {
        (1..=18).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    let text = args.plan.trim();
    if is_number(text) {
        let service = Service::new(None, &args.service)?;
        return Ok(Place::Service(service, text.to_owned()));
    }
    if text.starts_with("https://") || text.starts_with("http://") {
        return match text.trim_end_matches('/').rsplit_once("/plan/") {
            Some((url, id)) if is_number(id) => {
                let service = Service::new(Some(url), &args.service)?;
                Ok(Place::Service(service, id.to_owned()))
            }
            _ => Err(Failure::Usage(format!(
                "PLAN: found {text:?}, allowed is the address of a plan, as https://fairtree.example.org/plan/7"
            ))),
        };
    }
    Ok(Place::File(args.plan.clone()))
}

fn text(name: &str) -> Result<String, Failure> {
    let mut text = String::new();
    let read = match name {
        "-" => stdin().lock().take(MAX_PLAN).read_to_string(&mut text),
        path => {
            std::fs::File::open(path).and_then(|file| file.take(MAX_PLAN).read_to_string(&mut text))
        }
    };
    match read {
        Ok(_) => Ok(text),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Err(Failure::Usage(format!(
            "{name}: no such file\nhint: a plan is named by its number, its address, or a file with its JSON"
        ))),
        Err(error) => Err(Failure::File(name.to_owned(), error)),
    }
}

/// Asks whether to run the lines.
fn asked(out: &mut impl Write) -> Result<bool, Failure> {
    if !stdin().is_terminal() {
        return Err(Failure::Usage(
            "standard input is not a terminal, so nobody can be asked\nhint: --immediate runs the lines, --dry-run only prints them"
                .to_owned(),
        ));
    }
    write!(
        out,
        "Run this as {}? (y/N): ",
        login_name().unwrap_or_default()
    )?;
    out.flush()?;
    let mut answer = String::new();
    stdin().lock().read_line(&mut answer)?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Tells the service what became of a plan; a plan in a file may come from a service that is not known here.
fn report(args: &ApplyArgs, place: &Place, plan: &Plan, became: &Became, messages: &Messages) {
    let told = match place {
        Place::Service(service, id) => service.outcome(id, became),
        Place::File(_) => {
            let service = Service::new(None, &args.service);
            service.and_then(|service| service.outcome(&plan.id, became))
        }
    };
    if let Err(error) = told {
        messages.note(&format!("the service has no report of it: {error}"));
    }
}

fn said(plan: &Plan, became: &Became, messages: &Messages) -> Result<Outcome, Failure> {
    let mut out = stdout().lock();
    for change in became.done.iter().filter_map(|at| plan.shares.get(*at)) {
        writeln!(
            out,
            "{}: {} -> {}",
            change.name, change.before, change.after
        )?;
    }
    out.flush()?;
    let said = became.said.join("; ");
    match became.state {
        State::Applied => {
            became.said.iter().for_each(|said| messages.note(said));
            Ok(Outcome::Done)
        }
        State::Refused => {
            messages.error(&format!(
                "shares have changed since the plan was made, and nothing was run: {said}"
            ));
            Ok(Outcome::Differences)
        }
        State::Partly | State::Failed => Err(Failure::Usage(match said.is_empty() {
            true => "sacctmgr changed nothing: may this user change these shares?".to_owned(),
            false => said,
        })),
    }
}
