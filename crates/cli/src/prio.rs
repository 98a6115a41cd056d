//! `fairtree prio`.

use std::io::{BufWriter, Write, stdout};

use super::args::PrioArgs;
use super::cluster::hidden;
use super::explain::job_in_place_of_a_file;
use super::input::{self, QueueInput};
use super::message::Messages;
use super::user::login_names;
use super::{Failure, Outcome, compat_of, told};
use fairtree::compat::Compat;
use fairtree_analysis::prio::{
    PrioReport, Select, SelectError, check, compare, from_queue, from_site, from_snapshot,
    parse_sort, select,
};
use fairtree_model::input::site::Site;
use fairtree_model::input::slurm::job::JobRow;
use fairtree_model::input::slurm::snapshot::{Purpose, Snapshot};
use fairtree_model::input::sprio::{Column, Defaults, LineFormat};
use fairtree_render::prio::{Table, to_json, write_agreement, write_compared};

/// Reads, adds up, prints.
pub(super) fn run(args: &PrioArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(stdout().lock());
    if args.helpformat {
        list_letters(&mut out)?;
        out.flush()?;
        return Ok(Outcome::Done);
    }
    if let Some(job) = args.file.as_deref().and_then(job_in_place_of_a_file) {
        return Err(Failure::Usage(format!(
            "{job}: no such file\nhint: fairtree prio --jobs {job} shows a job's row, fairtree explain {job} why it waits"
        )));
    }
    // Wrong options are reported before a long input is read.
    let asked = Asked::new(args)?;
    if let Some(snapshot) = input::snapshot(
        &args.live.asked_again(args.check),
        args.file.as_deref(),
        Purpose::Priorities,
        messages,
    )? {
        let outcome = of_snapshot(args, &asked, &snapshot, &mut out, messages);
        // Of a large queue giving back each name takes longer than printing it.
        std::mem::forget(snapshot);
        return outcome;
    }
    if let Some(task) = args.jobs.iter().find(|job| job.of_array().is_some()) {
        return Err(Failure::Usage(format!(
            "--jobs: {task} is a task of an array, which sprio's output does not have; allowed is its own number, or a \
             capture or a live site"
        )));
    }
    let queue = match input::read_queue(args.file.as_deref())? {
        QueueInput::Printed(queue) => queue,
        QueueInput::Site(site) => {
            let report = of_site(args, &asked, &site)?;
            show(args, &asked, std::slice::from_ref(&report), &mut out)?;
            out.flush()?;
            note(&[report], messages);
            return Ok(Outcome::Done);
        }
    };
    let reports = from_queue(&queue);
    if args.check {
        let agreement = check(&queue, &reports);
        let written = write_agreement(&mut out, &reports, &agreement);
        let outcome = match agreement.differences.is_empty() {
            true => Outcome::Done,
            false => Outcome::Differences,
        };
        let outcome = told(written.and_then(|()| out.flush()), outcome);
        queue.notes.iter().for_each(|note| messages.note(note));
        return outcome;
    }
    show(args, &asked, &reports, &mut out)?;
    out.flush()?;
    note(&reports, messages);
    Ok(Outcome::Done)
}

fn of_snapshot(
    args: &PrioArgs,
    asked: &Asked,
    snapshot: &Snapshot,
    out: &mut impl Write,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let report = from_snapshot(snapshot, asked.compat)?;
    let tasks = tasks(args, snapshot)?;
    let asked = &asked.with(tasks);
    if !args.check {
        show(args, asked, std::slice::from_ref(&report), out)?;
        out.flush()?;
        note(&[report], messages);
        if snapshot.queued.hidden.any() {
            messages.note(&hidden(snapshot));
        } else if let Some(why) = why_empty(snapshot) {
            messages.note(&why);
        }
        return Ok(Outcome::Done);
    }
    if snapshot.queued.hidden.any() {
        // Nothing is computed that could be compared.
        let agreement = check(&snapshot.queued.queue, std::slice::from_ref(&report));
        let written = write_agreement(out, std::slice::from_ref(&report), &agreement);
        let outcome = match agreement.differences.is_empty() {
            true => Outcome::Done,
            false => Outcome::Differences,
        };
        note(&[report], messages);
        messages.note(&hidden(snapshot));
        return told(written.and_then(|()| out.flush()), outcome);
    }
    let compared = compare(snapshot, &report);
    let written = write_compared(out, &report, &compared);
    let written = written.and_then(|()| out.flush());
    note(&[report], messages);
    let outcome = match compared.apart.is_empty() {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written, outcome)
}

/// Why there are no rows, where sprio listed none.
fn why_empty(snapshot: &Snapshot) -> Option<String> {
    let queued = &snapshot.queued;
    let listings = &queued.queue.listings;
    if listings.iter().any(|listing| !listing.rows.is_empty()) {
        return None;
    }
    let waits = |job: &&JobRow| *job.state == *"PENDING" && job.priority > 0;
    let source = &queued.name;
    Some(match queued.jobs.iter().filter(waits).count() {
        0 => format!("{source}: no job waits that is not held, so that sprio lists none"),
        count => format!(
            "{source}: sprio listed no job, although {count} wait that are not held: its answer was empty, or they \
             came after the last pass"
        ),
    })
}

/// The records of the tasks of arrays that `--jobs` names: tasks that wait share the record of their array.
///
/// # Errors
/// A task that no record has.
fn tasks(args: &PrioArgs, snapshot: &Snapshot) -> Result<Vec<u32>, Failure> {
    let named = args
        .jobs
        .iter()
        .filter_map(|job| Some((job, job.of_array()?)));
    named
        .map(|(job, array)| {
            let mut rows = snapshot.queued.jobs.iter();
            let found = rows.find(|row| {
                let array_of = row.array.as_ref();
                array_of.is_some_and(|(id, tasks)| *id == array && job.is_among(tasks))
            });
            found.map(|row| row.id).ok_or_else(|| {
                Failure::Usage(format!(
                    "--jobs: found no task {job} among the jobs that are known"
                ))
            })
        })
        .collect()
}

/// The report of a described site.
fn of_site(args: &PrioArgs, asked: &Asked, site: &Site) -> Result<PrioReport, Failure> {
    if args.check {
        return Err(Failure::Usage(format!(
            "{}: --check compares with what sprio printed, which a site in TOML does not have; \
             allowed is the output of sprio, a capture or a live site",
            site.file
        )));
    }
    let report = from_site(site, asked.compat).ok_or_else(|| {
        Failure::Usage(format!(
            "{}: describes no jobs\nhint: [[jobs]] does: docs/site-format.md",
            site.file
        ))
    })?;
    Ok(report?)
}

/// The options, understood.
#[derive(Clone)]
struct Asked {
    select: Select,
    format: Option<LineFormat>,
    compat: Option<Compat>,
}

impl Asked {
    /// The same with further jobs.
    fn with(&self, jobs: Vec<u32>) -> Asked {
        let mut asked = self.clone();
        asked.select.jobs.extend(jobs);
        asked
    }

    fn new(args: &PrioArgs) -> Result<Asked, Failure> {
        let usage = |error: &dyn std::fmt::Display| Failure::Usage(error.to_string());
        let format = args.format.as_deref().map(LineFormat::parse).transpose();
        let sort = parse_sort(args.sort.as_deref().unwrap_or(""));
        Ok(Asked {
            compat: args.compat.as_deref().map(compat_of).transpose()?,
            select: Select {
                jobs: args.jobs.iter().filter_map(|job| job.of_record()).collect(),
                users: login_names(&args.user),
                partitions: args.partition.clone(),
                sort: sort.map_err(|error| usage(&error))?,
            },
            format: format.map_err(|error| usage(&error))?,
        })
    }
}

fn show(
    args: &PrioArgs,
    asked: &Asked,
    reports: &[PrioReport],
    out: &mut impl Write,
) -> Result<(), Failure> {
    let mut shown = Vec::with_capacity(reports.len());
    let mut refused = None;
    for report in reports {
        match select(report, &asked.select) {
            Ok(rows) => shown.push((report, rows)),
            Err(error @ SelectError::Column(_)) => refused = Some(error),
            Err(error) => return Err(Failure::Usage(error.to_string())),
        }
    }
    // Of several listings some may have the column.
    if let (true, Some(error)) = (shown.is_empty(), refused) {
        return Err(Failure::Usage(format!("{error}\nhint: sprio -l has it")));
    }
    if args.json {
        return Ok(to_json(out, &shown)?);
    }
    for (report, rows) in &shown {
        let defaults = Defaults {
            long: args.long,
            normalised: args.norm || report.normalised,
            user: !args.user.is_empty(),
            names: report.names,
            weighted: report.weighted,
        };
        let table = Table {
            format: asked.format.clone().unwrap_or_else(|| defaults.format()),
            header: !args.noheader,
        };
        if args.weights {
            table.write_weights(out, report)?;
        } else if nothing_found(args, report, rows) {
            writeln!(out, "Unable to find jobs matching user/id(s) specified")?;
        } else {
            table.write(out, report, rows)?;
        }
    }
    Ok(())
}

/// Whether sprio says so where none of the jobs asked for is there: from 24.05 on only where there
/// are no jobs at all.
fn nothing_found(args: &PrioArgs, report: &PrioReport, rows: &[usize]) -> bool {
    let nothing = if report.names {
        report.rows.is_empty()
    } else {
        rows.is_empty()
    };
    nothing && !args.jobs.is_empty()
}

/// Tells what was found in passing: the first few of each input.
fn note(reports: &[PrioReport], messages: &Messages) {
    const SHOWN: usize = 5;
    let notes: Vec<&String> = reports.iter().flat_map(|report| &report.notes).collect();
    for note in notes.iter().take(SHOWN) {
        messages.note(note);
    }
    if let Some(more) = notes.len().checked_sub(SHOWN).filter(|more| *more > 0) {
        messages.note(&format!("and {more} more; --check lists them"));
    }
}

/// The letters with the headings of their columns.
fn list_letters(out: &mut impl Write) -> std::io::Result<()> {
    for line in Column::ALL.chunks(4) {
        let letters = line
            .iter()
            .map(|(letter, c)| format!("%{letter} {:<12}", c.name()));
        writeln!(out, "{}", letters.collect::<Vec<_>>().join(" ").trim_end())?;
    }
    Ok(())
}
