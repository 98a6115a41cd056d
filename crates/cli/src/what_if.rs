//! `fairtree what-if`.

use std::io::{self, BufWriter, Write, stdout};
use std::path::Path;

use super::args::WhatIfArgs;
use super::cluster::{Where, note, policy_file, refused};
use super::message::Messages;
use super::progress::Waiting;
use super::wrap::Wrapped;
use super::{Failure, Outcome, changes, terminal};
use fairtree_analysis::what_if::{WhatIf, compare};
use fairtree_model::output::{SHARED, replace};
use fairtree_render::what_if::{Shown, to_html, to_json, write};

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
    let mut cluster = place.with_jobs_or_seen(messages)?;
    if let Some(before) = &before {
        cluster.follow_policy(before).map_err(refused)?;
    }
    let changes = asked.of(&cluster)?;
    let waiting = Waiting::new("computing before and after");
    let what_if = compare(&cluster, changes).map_err(|error| Failure::Usage(error.to_string()))?;
    drop(waiting);
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
    Ok(Outcome::Done)
}

fn page(path: &Path, what_if: &WhatIf) -> io::Result<()> {
    let mut page = Vec::new();
    to_html(&mut page, what_if)?;
    replace(path, SHARED, &page)
}
