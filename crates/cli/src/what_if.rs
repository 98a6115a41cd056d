//! `fairtree what-if`.

use std::io::{self, BufWriter, Write, stdout};
use std::path::Path;

use super::args::WhatIfArgs;
use super::cluster::{Where, note, policy_file, refused};
use super::forecast::{From, Present, Read, Reading};
use super::input::is_piped;
use super::message::Messages;
use super::progress::Waiting;
use super::simulate::Interrupt;
use super::wrap::Wrapped;
use super::{Failure, Outcome, changes, compat_of, terminal};
use fairtree_analysis::forecast::Asked;
use fairtree_analysis::what_if::{WhatIf, WhatIfError, compare, compare_over_time, not_simulated};
use fairtree_model::input::Problem;
use fairtree_model::input::recorded::is_described;
use fairtree_model::output::{SHARED, replace};
use fairtree_render::what_if::{Shown, to_html, to_json, write};
use fairtree_sim::forecast::Making;

/// Steps of the simulations of one side: some seconds.
const STEPS: u64 = 4_000_000;

/// Reads, changes, compares, shows.
pub(super) fn run(args: &WhatIfArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let before = match &args.changes.policy[..] {
        [] | [_] => None,
        [before, _] => Some(policy_file(before)?),
        more => {
            return Err(Failure::Usage(format!(
                "--policy: found {} files, allowed are two: the policy before, and the one after",
                more.len()
            )));
        }
    };
    let place = Where {
        live: &args.live,
        file: args.file.as_deref(),
        format: args.input_format,
        compat: args.compat.as_deref(),
        policy: before.as_ref(),
    };
    // Wrong options are reported before Slurm is asked.
    let asked = changes::parse(args)?;
    let mut why_not = None;
    let present = match asked.passes() && !args.no_starts {
        true => match present(args, &place, messages)? {
            Ok(present) => Some(present),
            Err(why) => {
                why_not = Some(why);
                None
            }
        },
        false => None,
    };
    let (mut cluster, present) = match present {
        Some(present) => (present.cluster.clone(), Some(present)),
        None => (place.with_jobs_or_seen(messages)?, None),
    };
    if let Some(before) = &before {
        cluster.follow_policy(before).map_err(refused)?;
    }
    let changes = asked.of(&cluster)?;
    let refused = |error: WhatIfError| Failure::Usage(error.to_string());
    if present.is_some() {
        why_not = not_simulated(&cluster, &changes);
    }
    let mut what_if = match present.as_ref().filter(|_| why_not.is_none()) {
        Some(present) => {
            let making = Making {
                draws: args.draws.map_or(Making::default().draws, usize::from),
                seed: args.seed.unwrap_or(Making::default().seed),
                steps: STEPS,
                ..Making::default()
            };
            let asked = Asked {
                cluster: &cluster,
                making,
                ..present.asked()
            };
            let mut interrupt = Interrupt::new();
            let waiting = Waiting::new("simulating before and after");
            let made = compare_over_time(&asked, changes, &mut || !interrupt.has_come());
            drop(waiting);
            let mut made = match made {
                Err(error @ WhatIfError::Stopped) => {
                    messages.note(&error.to_string());
                    return Ok(Outcome::Differences);
                }
                made => made.map_err(refused)?,
            };
            let known = |note: &&String| !cluster.assumptions.contains(note);
            let notes = present.notes.iter().filter(known);
            made.assumptions.extend(notes.cloned());
            made
        }
        None => {
            let waiting = Waiting::new("computing before and after");
            let made = compare(&cluster, changes).map_err(refused)?;
            drop(waiting);
            made
        }
    };
    if let Some(why) = why_not {
        what_if
            .assumptions
            .push(format!("the time is not simulated: {why}"));
    }
    if let Some(path) = &args.html {
        let written = page(path, &what_if);
        written.map_err(|error| Failure::File(path.display().to_string(), error))?;
    }
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        to_json(&mut out, &what_if)?;
    } else {
        let shown = Shown {
            all: args.all,
            top: (args.top > 0).then_some(args.top),
            width: terminal::table_width(),
        };
        let mut out = Wrapped::to_terminal(&mut out);
        write(&mut out, &what_if, shown)?;
        out.flush()?;
    }
    out.flush()?;
    note(&cluster, messages);
    let own = what_if.assumptions.iter().skip(cluster.assumptions.len());
    own.for_each(|assumption| messages.note(assumption));
    let complete = what_if.meanwhile.is_none_or(|passing| passing.complete);
    Ok(match complete {
        true => Outcome::Done,
        false => Outcome::Differences,
    })
}

/// A capture, or the live site, with its machines; or why they are not known, in a sentence without a
/// capital.
fn present(
    args: &WhatIfArgs,
    place: &Where<'_>,
    messages: &Messages,
) -> Result<Result<Present, String>, Failure> {
    let from = match &args.live.from {
        Some(folder) => From::Capture(folder),
        None if args.file.as_deref().is_some_and(is_described) => {
            From::Site(args.file.as_deref().unwrap_or(Path::new("")))
        }
        None if args.file.is_none() && !is_piped() => From::Slurm,
        None => return Ok(Err("the machines are not known".to_owned())),
    };
    let reading = Reading {
        wants_past: true,
        time_limit: args.live.time_limit,
        policy: place.policy,
        compat: place.compat.map(compat_of).transpose()?,
    };
    Ok(match Present::read(from, reading, messages) {
        Ok(Read::Whole(present)) => Ok(*present),
        Ok(Read::Part(part)) => Err(part.why),
        // A report without starts can do without what is absent, but not with what is damaged.
        Err(Failure::Input(error)) if matches!(*error.problem, Problem::Absent(_)) => {
            Err(error.to_string())
        }
        Err(error) => return Err(error),
    })
}

fn page(path: &Path, what_if: &WhatIf) -> io::Result<()> {
    let mut page = Vec::new();
    to_html(&mut page, what_if)?;
    replace(path, SHARED, &page)
}
