//! Answers as rows of a table, each written as soon as it is complete.

use std::io::{self, Write};

use crate::columns::Columns;
use crate::figures::percent;
use fairtree_analysis::queue::{
    Answer, Bills, Decision, Estimated, Finished, LimitOf, Reason, Refused, Said,
};

/// As wide as a time with microseconds.
const TIME: usize = 27;
/// As wide as the longest name of an event.
const EVENT: usize = 18;

/// Writes the heading.
///
/// # Errors
/// Those of `out`.
pub fn begin_text(out: &mut impl Write) -> io::Result<()> {
    row(out, "TIME", "EVENT", "ANSWER")
}

fn row(out: &mut impl Write, time: &str, event: &str, answer: &str) -> io::Result<()> {
    let line = format!("{time:<TIME$}  {event:<EVENT$}  {answer}");
    writeln!(out, "{}", line.trim_end())
}

/// Writes one answer: a row, and below it what is a list.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, answer: &Answer, width: Option<usize>) -> io::Result<()> {
    let (event, text) = told(&answer.said);
    row(out, &moment(answer.time), event, &text)?;
    match &answer.said {
        Said::Positions { jobs, .. } => {
            let mut columns = Columns::new(&["PLACE", "JOB", "ACCOUNT"], 0);
            for (at, place) in jobs.iter().enumerate() {
                let number = (at + 1).to_string();
                columns.push([number, place.job.to_string(), place.account.clone()]);
            }
            columns.write(out, width)
        }
        Said::Estimate { jobs, .. } => estimates(out, jobs, width),
        Said::Bill(bills) => bill(out, bills, width),
        _ => Ok(()),
    }
}

fn estimates(out: &mut impl Write, jobs: &[Estimated], width: Option<usize>) -> io::Result<()> {
    let start = |one: &Estimated| one.start.map_or_else(|| "never".to_owned(), moment);
    if jobs.iter().all(|one| one.low.is_none()) {
        let heading = ["START", "JOB", "ACCOUNT", "RUN TIME FROM"];
        let mut columns = Columns::new(&heading, 1).spare(&["RUN TIME FROM"]);
        for one in jobs {
            let (job, proxy) = (one.job.to_string(), one.proxy.to_owned());
            columns.push([start(one), job, one.account.clone(), proxy]);
        }
        return columns.write(out, width);
    }
    let heading = [
        "START",
        "90% FROM",
        "90% UNTIL",
        "JOB",
        "ACCOUNT",
        "RUN TIME FROM",
    ];
    let mut columns = Columns::new(&heading, 3).spare(&["RUN TIME FROM"]);
    let bound = |moment_of: Option<i64>| moment_of.map_or_else(String::new, moment);
    for one in jobs {
        columns.push([
            start(one),
            bound(one.low),
            bound(one.high),
            one.job.to_string(),
            one.account.clone(),
            one.proxy.to_owned(),
        ]);
    }
    columns.write(out, width)
}

fn bill(out: &mut impl Write, bills: &Bills, width: Option<usize>) -> io::Result<()> {
    let heading = ["ACCOUNT", "MACHINE", "EXECUTED us", "RESERVED s", "AMOUNT"];
    let mut columns = Columns::new(&heading, 2);
    for bill in &bills.bills {
        columns.push([
            bill.account.clone(),
            bill.machine.clone(),
            bill.executed.to_string(),
            bill.reserved_secs.to_string(),
            bill.amount.to_string(),
        ]);
    }
    columns.write(out, width)
}

/// The name of the event, and a sentence.
fn told(said: &Said) -> (&'static str, String) {
    match said {
        Said::Submit {
            job,
            reservation,
            halt,
        } => {
            let kind = match reservation {
                Some(true) => ", a job of the reservation",
                Some(false) => ", on demand",
                None => "",
            };
            let halt = match halt {
                Some(halt) => format!("; halt job {halt}"),
                None => String::new(),
            };
            ("submit", format!("job {job} waits{kind}{halt}"))
        }
        Said::Refused(refused) => ("refused", limit(refused)),
        Said::Next {
            machine,
            decision,
            job,
            account,
            reason,
        } => {
            let job = job.map_or_else(String::new, |job| job.to_string());
            let account = account.as_deref().unwrap_or_default();
            let answer = match decision {
                Decision::Run => format!("{machine}: run job {job} of {account}"),
                Decision::Halt => format!("{machine}: halt job {job} of {account}"),
                Decision::Nothing => format!("{machine}: nothing, {}", why(*reason)),
            };
            ("next", answer)
        }
        Said::Start { job } => ("start", format!("job {job} runs")),
        Said::Finish(finished) => ("finish", ended(finished, "")),
        Said::Requeue(finished) => ("requeue", ended(finished, "; it waits again")),
        Said::Halted { job } => ("halted", format!("job {job} waits again, where it stood")),
        Said::Cancel { job } => ("cancel", format!("job {job} is gone")),
        Said::Pause { machine } => ("pause", format!("{machine}: in maintenance")),
        Said::Resume { machine } => ("resume", format!("{machine}: back from maintenance")),
        Said::Reserve { reservation } => ("reserve", format!("reservation {reservation} is made")),
        Said::CancelReservation { reservation } => (
            "cancel_reservation",
            format!("reservation {reservation} is gone"),
        ),
        Said::Shares {
            account,
            user,
            shares,
        } => {
            let name = match user {
                Some(user) => format!("{user}@{account}"),
                None => account.clone(),
            };
            let shares = match shares {
                Some(shares) => format!("{shares} shares"),
                None => "the shares of its parent".to_owned(),
            };
            ("shares", format!("{name}: {shares} from now on"))
        }
        Said::Minutes { account, minutes } => {
            let what = match minutes {
                Some(minutes) => format!("{minutes} minutes"),
                None => "its shares again".to_owned(),
            };
            ("minutes", format!("{account}: {what} from now on"))
        }
        Said::Price {
            machine,
            execution_microsecond,
            reserved_second,
        } => (
            "price",
            format!(
                "{machine}: a microsecond {execution_microsecond}, a reserved second \
                 {reserved_second}, for what starts from now on"
            ),
        ),
        Said::Limit {
            account,
            machine,
            limit,
        } => {
            let of = match (account, machine) {
                (Some(account), _) => format!("of account {account}"),
                (None, Some(machine)) => format!("for machine {machine}"),
                (None, None) => "of each account without a limit of its own".to_owned(),
            };
            let most = limit.map_or_else(|| "any number".to_owned(), |limit| limit.to_string());
            (
                "limit",
                format!("{most} of the on-demand jobs {of} may wait"),
            )
        }
        Said::Time => ("time", String::new()),
        Said::Position {
            job,
            machine,
            position,
        } => (
            "position",
            format!("{machine}: job {job} is number {position}"),
        ),
        Said::Positions { machine, jobs } => ("positions", waiting(machine, jobs.len())),
        Said::Estimate { machine, jobs } => ("estimate", waiting(machine, jobs.len())),
        Said::Standing {
            account,
            user,
            used,
            entitled,
            ratio,
        } => {
            let name = match user {
                Some(user) => format!("{user}@{account}"),
                None => account.clone(),
            };
            let minutes = |micros: f64| micros / 60e6;
            let used = minutes(*used as f64);
            let part = ratio.map_or_else(|| "entitled to nothing".to_owned(), percent);
            let entitled = minutes(*entitled);
            (
                "standing",
                format!("{name}: used {used:.2} of {entitled:.2} minutes, {part}"),
            )
        }
        Said::Bill(bills) => (
            "bill",
            format!(
                "{} in all, from {} until before {}",
                bills.total,
                moment(bills.from),
                moment(bills.to)
            ),
        ),
    }
}

fn limit(refused: &Refused) -> String {
    let of = match refused.limit {
        LimitOf::Account => "account",
        LimitOf::Machine => "machine",
    };
    format!(
        "job {}: the limit of {of} {} is reached: {} on-demand jobs wait, {} may",
        refused.job, refused.name, refused.waiting, refused.size
    )
}

fn why(reason: Option<Reason>) -> &'static str {
    match reason {
        Some(Reason::Paused) => "it is in maintenance",
        Some(Reason::Busy) => "what runs leaves no room",
        Some(Reason::NoneWaits) | None => "no job waits",
    }
}

fn ended(finished: &Finished, rest: &str) -> String {
    let counts = match (finished.counts, finished.cost) {
        (true, Some(cost)) => format!(", costs {cost}"),
        (false, Some(_)) => ", costs nothing".to_owned(),
        (true, None) => String::new(),
        (false, None) => ", which does not count".to_owned(),
    };
    format!(
        "job {}: executed {:.6} s{counts}{rest}",
        finished.job,
        finished.executed as f64 / 1e6
    )
}

fn waiting(machine: &str, jobs: usize) -> String {
    match jobs {
        0 => format!("{machine}: no job waits"),
        1 => format!("{machine}: 1 job waits"),
        _ => format!("{machine}: {jobs} jobs wait"),
    }
}

fn moment(micros: i64) -> String {
    match jiff::Timestamp::from_microsecond(micros) {
        Ok(moment) => moment.to_string(),
        // Far beyond what any calendar holds.
        Err(_) => micros.to_string(),
    }
}
