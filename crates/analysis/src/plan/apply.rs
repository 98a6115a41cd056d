//! Applying a plan with sacctmgr, as the user of this process or with a token of the person.

use std::time::Duration;

use super::{LevelThen, Outcome, Plan, RowThen, State};
use fairtree_model::input::LeftOut;
use fairtree_model::input::capture::{Ask, CommandError, Token};
use fairtree_model::input::slurm::assoc;

/// How sacctmgr is run.
#[derive(Clone, Copy, Debug)]
pub struct How<'a> {
    /// The longest time of one command.
    pub limit: Duration,
    /// The person, by a token of Slurm; `None`: the user of this process.
    pub token: Option<&'a Token>,
}

/// What is different in Slurm from the shares that a plan was made from, in sentences; empty: it still fits.
///
/// # Errors
/// The shares cannot be read.
pub fn differences(plan: &Plan, how: How<'_>) -> Result<Vec<String>, Box<CommandError>> {
    let mut said = Vec::new();
    for level in &plan.levels {
        said.extend(level.differences(&children(plan, level, how)?));
    }
    Ok(said)
}

/// Runs the commands of a plan, if the shares are those that it was made from, and reads the shares again.
/// `user`: who applies it; `time`: seconds since 1970.
///
/// # Errors
/// The shares cannot be read: nothing was run.
pub fn apply(
    plan: &Plan,
    how: How<'_>,
    user: &str,
    time: i64,
) -> Result<Outcome, Box<CommandError>> {
    let mut outcome = Outcome {
        state: State::Refused,
        user: user.to_owned(),
        time,
        done: Vec::new(),
        said: differences(plan, how)?,
    };
    if !outcome.said.is_empty() {
        return Ok(outcome);
    }
    for command in plan.commands() {
        let words: Vec<&str> = command.iter().map(String::as_str).collect();
        let ran = Ask::new(&words, how.limit).with_token(how.token).run();
        if let Err(error) = ran {
            let said = error.to_string();
            outcome
                .said
                .push(said.lines().next().unwrap_or_default().to_owned());
            break;
        }
    }
    // sacctmgr may succeed without a change, as where the person may not make it.
    let mut now = Vec::new();
    for level in &plan.levels {
        match children(plan, level, how) {
            Ok(rows) => now.extend(rows),
            Err(error) => {
                let said = error.to_string();
                let said = said.lines().next().unwrap_or_default();
                outcome
                    .said
                    .push(format!("shares could not be read again: {said}"));
            }
        }
    }
    for (at, change) in plan.shares.iter().enumerate() {
        let found = now.iter().find(|row| row.who == change.who);
        match found {
            Some(row) if row.shares == change.after => outcome.done.push(at),
            Some(row) => outcome
                .said
                .push(format!("{} has {} shares", change.name, row.shares)),
            None => {}
        }
    }
    outcome.state = match outcome.done.len() {
        0 => State::Failed,
        done if done == plan.shares.len() => State::Applied,
        _ => State::Partly,
    };
    Ok(outcome)
}

/// The children of an account now: accounts and users.
fn children(
    plan: &Plan,
    level: &LevelThen,
    how: How<'_>,
) -> Result<Vec<RowThen>, Box<CommandError>> {
    let cluster = format!("cluster={}", plan.cluster);
    let mut found = Vec::new();
    for which in ["parent", "account"] {
        let which = format!("{which}={}", level.account);
        let words = [
            "sacctmgr",
            "-P",
            "show",
            "assoc",
            "where",
            &cluster,
            &which,
            "format=Cluster,Account,User,Partition,Share,ParentName",
        ];
        let answered = Ask::new(&words, how.limit).with_token(how.token).run()?;
        // A table without rows is an account without children of this kind.
        if answered.text.trim().lines().count() < 2 {
            continue;
        }
        let mut left = LeftOut::default();
        let read = assoc::read("sacctmgr", &answered.text, Some(&plan.cluster), &mut left);
        let rows = read.map_err(|error| {
            Box::new(CommandError::Unexpected {
                command: words.join(" "),
                error: Box::new(error),
            })
        })?;
        let below = rows.iter().filter(|row| match &row.user {
            Some(_) => row.account == level.account,
            None => row.parent.as_deref() == Some(&level.account),
        });
        found.extend(below.map(RowThen::from));
    }
    found.sort();
    found.dedup();
    Ok(found)
}
