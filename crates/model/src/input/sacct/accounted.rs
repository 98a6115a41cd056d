//! Records of the accounting database, as a ledger of past use needs them: one line per run.
//!
//! [`super::ask()`] asks for [`COLUMNS`], none of which can hold a `|` or a line break. A file may
//! have a header and other columns as well; without a header it has these. A record that cannot be
//! read is left out and reported ([`LeftOut`]); the others are read.

use std::io::BufRead;

use super::columns::begins;
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::Lines;
use crate::input::slurm::count;
use crate::input::slurm::time::{moment, span};
use fairtree::usage::EndState;

/// The columns, in their order.
pub const COLUMNS: [&str; 13] = [
    "cluster",
    "jobidraw",
    "account",
    "user",
    "state",
    "exitcode",
    "submit",
    "start",
    "end",
    "elapsedraw",
    "suspended",
    "timelimitraw",
    "alloctres",
];

/// Progress of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It still runs.
    Running,
    /// It continues with a different size, in a record of its own.
    Resized,
    /// It has ended in this way.
    Ended(EndState),
}

/// One record: a run, or a part of one that had the same size.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Accounted {
    /// The cluster.
    pub cluster: String,
    /// Number of the job; each task of an array has its own.
    pub job: u32,
    /// The account that is charged.
    pub account: String,
    /// The user; empty where the association is gone.
    pub user: String,
    /// Its progress.
    pub progress: Progress,
    /// Exit code of the script, 12 of `12:0`.
    pub exit_code: u8,
    /// Seconds since 1970.
    pub start: i64,
    /// Time of its end, or of a change of its size; `None`: it still runs.
    pub end: Option<i64>,
    /// For how long it ran, without the time that it was suspended; up to the moment of the answer
    /// if it still runs.
    pub elapsed_secs: i64,
    /// For how long it was suspended.
    pub suspended_secs: i64,
    /// For how long it may run; `None`: no limit, or none that is known.
    pub limit_secs: Option<i64>,
    /// Billing TRES; CPUs where the record has none.
    pub billing: u64,
    /// True if `billing` is a number of CPUs.
    pub by_processors: bool,
    /// Other TRES that it was allocated, by name; ascending.
    pub tres: Vec<(String, u64)>,
}

impl Accounted {
    /// The last moment that the record covers, seconds since 1970.
    pub fn known_until(&self) -> i64 {
        let counted = self.start.saturating_add(self.elapsed_secs);
        self.end
            .unwrap_or(counted.saturating_add(self.suspended_secs))
    }
}

/// Contents of a stream.
#[derive(Debug, Default)]
pub struct Found {
    /// Runs that used something.
    pub runs: Vec<Accounted>,
    /// Records of jobs that never ran.
    pub never_ran: u64,
    /// Records that cannot be read.
    pub left: LeftOut,
}

/// Reads all records; `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks, and a header without a column that is needed. Records that cannot be read
/// are left out; where none can, the first of them is the error.
pub fn read_accounted(file: &str, input: impl BufRead) -> Result<Found, InputError> {
    let mut lines = Lines::new(file, input);
    let mut places: [usize; COLUMNS.len()] = std::array::from_fn(|at| at);
    let mut cells_due = COLUMNS.len();
    let mut found = Found::default();
    let mut read = 0;
    while let Some(line) = lines.next()? {
        let line = line.into_owned();
        let number = lines.number;
        if line.trim().is_empty() {
            continue;
        }
        let error = |problem| InputError::new(file, problem).at_line(number, &line);
        if read == 0 && found.left.count() == 0 && begins(&line) {
            (places, cells_due) =
                header(&line).map_err(|why| error(Problem::Structure(why)).hint(HINT))?;
            continue;
        }
        let cells: Vec<&str> = line.split('|').collect();
        // `sacct -p`: a bar at the end, too.
        let cells = match cells.split_last() {
            Some((&"", cells)) if cells.len() == cells_due && cells_due > 0 => cells,
            _ => &cells[..],
        };
        let record = match cells.len() == cells_due {
            true => record(places.map(|at| cells[at].trim())).map_err(error),
            false => Err(error(Problem::Structure(format!(
                "{} cells between |, where {cells_due} are due",
                cells.len()
            )))
            .hint(HINT)),
        };
        match found.left.keep(record)? {
            None => continue,
            Some(None) => found.never_ran += 1,
            Some(Some(run)) => found.runs.push(run),
        }
        read += 1;
    }
    found.left.any_read(read, 0)?;
    Ok(found)
}

const HINT: &str = "these columns are needed: sacct -a -X -D -P -n -L -S 2026-01-01 \
     --format=cluster,jobidraw,account,user,state,exitcode,submit,start,end,elapsedraw,suspended,\
     timelimitraw,alloctres";

/// Positions of the columns, and the number of cells per line.
fn header(line: &str) -> Result<([usize; COLUMNS.len()], usize), String> {
    let line = line.trim();
    let line = line.strip_suffix('|').unwrap_or(line);
    let names: Vec<&str> = line
        .split('|')
        .map(|name| name.split('%').next().unwrap_or_default().trim())
        .collect();
    let mut places = [0; COLUMNS.len()];
    for (place, wanted) in places.iter_mut().zip(COLUMNS) {
        let found = names
            .iter()
            .position(|name| name.eq_ignore_ascii_case(wanted));
        *place =
            found.ok_or_else(|| format!("the column {wanted} is not there, among {line:?}"))?;
    }
    Ok((places, names.len()))
}

/// A record; `None`: of a job that never ran.
fn record(cells: [&str; COLUMNS.len()]) -> Result<Option<Accounted>, Problem> {
    let [
        cluster,
        job,
        account,
        user,
        state,
        exit_code,
        _,
        _,
        _,
        elapsed,
        suspended,
        limit,
        tres,
    ] = cells;
    let wrong = |column: usize, allowed: &str| Problem::Value {
        what: COLUMNS[column].to_owned(),
        found: cells[column].to_owned(),
        allowed: allowed.to_owned(),
    };
    let time = |column: usize| match cells[column] {
        "" => Ok(0),
        text => moment(text)
            .filter(|time| (0..=MAX_TIME).contains(time))
            .ok_or_else(|| wrong(column, TIME)),
    };
    let id = job.parse().ok().filter(|id| *id > 0);
    let job = id.ok_or_else(|| wrong(1, "the number of a job, without step"))?;
    let (start, end) = (time(7)?, time(8)?);
    let word = state.split_whitespace().next().unwrap_or_default();
    let is = |words: &[&str]| words.iter().any(|known| known.eq_ignore_ascii_case(word));
    let progress = if is(&["RUNNING", "SUSPENDED", "COMPLETING", "STOPPED"]) {
        Progress::Running
    } else if is(&["RESIZING"]) {
        Progress::Resized
    } else if is(&["PENDING", "REVOKED"]) {
        return Ok(None);
    } else {
        let end = EndState::from_name(word);
        Progress::Ended(end.ok_or_else(|| wrong(4, "a state of a job, as COMPLETED"))?)
    };
    if start == 0 {
        return Ok(None);
    }
    let suspended_secs = match suspended {
        "" => 0,
        text => span(text)
            .or_else(|| text.parse::<u32>().ok().map(i64::from))
            .ok_or_else(|| wrong(10, "a time as 1-02:03:04 or 02:03:04"))?,
    };
    let elapsed_secs = elapsed.parse::<u32>().map(i64::from);
    let elapsed_secs = elapsed_secs.map_err(|_| wrong(9, "a whole number of seconds"))?;
    if progress != Progress::Running {
        let allowed = "a time not before the start, for a run that has ended";
        let whole = end
            .checked_sub(start)
            .filter(|whole| end > 0 && *whole >= 0)
            .ok_or_else(|| wrong(8, allowed))?;
        if elapsed_secs > whole {
            return Err(wrong(9, "no more than from start to end"));
        }
    }
    let limit_secs = match limit {
        "" | "UNLIMITED" | "Partition_Limit" | "INVALID" => None,
        text => {
            let minutes = text.parse::<u32>().map(i64::from);
            let allowed = "a whole number of minutes, UNLIMITED, Partition_Limit, or nothing";
            Some(minutes.map_err(|_| wrong(11, allowed))? * 60)
        }
    };
    let exit_code = match exit_code {
        "" => 0,
        text => text
            .split_once(':')
            .filter(|(_, signal)| signal.parse::<u32>().is_ok())
            .and_then(|(code, _)| code.parse().ok())
            .ok_or_else(|| wrong(5, "an exit code as 0:0"))?,
    };
    if cluster.is_empty() {
        return Err(wrong(0, "the name of a cluster"));
    }
    if account.is_empty() {
        return Err(wrong(2, "the name of an account"));
    }
    let allowed = "resources as billing=4,cpu=4,mem=2G";
    let mut tres = count::tres(tres).ok_or_else(|| wrong(12, allowed))?;
    tres.sort();
    if tres.windows(2).any(|pair| pair[0].0 == pair[1].0) {
        return Err(wrong(12, "each resource once"));
    }
    let of = |name: &str| {
        let found = tres.iter().find(|(known, _)| known == name);
        found.map(|(_, count)| *count)
    };
    let (billing, processors) = (of("billing"), of("cpu"));
    let ran = elapsed_secs > 0;
    let billing_tres = match (billing, processors) {
        (Some(billing), _) => billing,
        (None, Some(processors)) => processors,
        (None, None) if !ran => return Ok(None),
        (None, None) => return Err(wrong(12, "billing or cpu among the resources of a run")),
    };
    // Energy is measured, not allocated.
    tres.retain(|(name, _)| name != "billing" && name != "energy");
    Ok(Some(Accounted {
        cluster: cluster.to_owned(),
        job,
        account: account.to_owned(),
        user: user.to_owned(),
        progress,
        exit_code,
        start,
        end: Some(end).filter(|_| progress != Progress::Running),
        elapsed_secs,
        suspended_secs,
        limit_secs,
        billing: billing_tres,
        by_processors: billing.is_none(),
        tres,
    }))
}

const TIME: &str = "a time as 2026-11-21T10:04:14, seconds since 1970, Unknown, or nothing";

/// The last second of the year 9999.
const MAX_TIME: i64 = 253_402_300_799;

#[cfg(test)]
#[path = "accounted_tests.rs"]
mod tests;
