//! `fairtree bill`.

use std::io::{BufWriter, Write, stdout};

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::args::BillArgs;
use super::input::{Opened, open_stream};
use super::message::Messages;
use super::open::named;
use super::{Failure, Outcome, terminal, told};
use fairtree::usage::Outcomes;
use fairtree_analysis::bill::Biller;
use fairtree_model::input::{Format, InputError, prices, sacct};
use fairtree_render::bill::{notes, to_json, write};

/// Reads prices and runs, adds up, shows.
pub(super) fn run(args: &BillArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let counts = args.counts.as_deref().map(|text| {
        let parsed = Outcomes::parse_of_slurm(text);
        parsed.map_err(|error| refused("--counts", &error.value, &error.allowed))
    });
    let counts = counts.transpose()?;
    let from = moment("--since", args.since.as_deref())?;
    let to = moment("--until", args.until.as_deref())?;
    if let (Some(from), Some(to)) = (from, to) {
        if to <= from {
            let until = args.until.as_deref().unwrap_or_default();
            return Err(refused("--until", until, "a time after --since"));
        }
    }
    let name = args.prices.display().to_string();
    let file = named(&args.prices).map_err(|error| InputError::new(&name, error))?;
    let prices = prices::read(&name, file)?;
    let mut biller = Biller::new(&prices, counts.as_ref(), from, to);
    let Opened { name, input, .. } = open_stream(args.file.as_deref(), Some(Format::Sacct))?;
    let options = sacct::Options {
        columns: args.columns.as_deref(),
        cluster: args.cluster.as_deref(),
    };
    let needed = biller.needs_exit_codes();
    let mut unknown = 0_u64;
    let summary = sacct::read_runs(&name, input, options, &mut |run| {
        unknown += u64::from(run.exit_code.is_none());
        biller.take(run);
    })?;
    if needed && unknown > 0 {
        return Err(Failure::Usage(format!(
            "{name}: which exit codes are billed is said, but {unknown} runs have none\nhint: add \
             the column ExitCode: sacct -o ...,ExitCode"
        )));
    }
    if summary.billed {
        biller.any_billing();
    }
    let mut bills = biller.bills().ok_or_else(|| {
        Failure::Usage(format!(
            "{name}: the sum does not fit 128 bits: prices are too high, or times too long"
        ))
    })?;
    (bills.unreadable, bills.never_ran) = (summary.unreadable, summary.idle);
    let mut out = BufWriter::new(stdout().lock());
    match args.json {
        true => to_json(&mut out, &name, &bills)?,
        false => write(&mut out, &bills, terminal::table_width())?,
    }
    let written = out.flush();
    notes(&bills).iter().for_each(|note| messages.note(note));
    summary.notes.iter().for_each(|note| messages.note(note));
    let outcome = match bills.doubtful.is_empty() {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written, outcome)
}

/// Seconds since 1970; a time without offset is UTC, a date its first moment.
pub(super) fn moment(option: &str, text: Option<&str>) -> Result<Option<i64>, Failure> {
    let Some(text) = text else {
        return Ok(None);
    };
    let utc = || {
        let civil: DateTime = text.parse().ok()?;
        Some(civil.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    let found = text.parse::<Timestamp>().ok().or_else(utc);
    let found = found.ok_or_else(|| {
        let allowed = "a time as 2026-03-01 or 2026-03-01T12:00:00Z; without offset it is UTC";
        refused(option, text, allowed)
    })?;
    let whole = Some(found).filter(|found| found.subsec_nanosecond() == 0);
    let whole = whole.ok_or_else(|| refused(option, text, "a whole second"))?;
    Ok(Some(whole.as_second()))
}

pub(super) fn refused(option: &str, found: &str, allowed: &str) -> Failure {
    Failure::Usage(format!("{option}: found {found:?}, allowed is {allowed}"))
}
