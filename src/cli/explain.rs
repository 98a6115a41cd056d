//! `fairtree explain`.

use std::io::{BufWriter, Write, stdout};

use super::args::{ExplainArgs, FormatName};
use super::input::{self, Input};
use super::message::Messages;
use super::{Failure, Outcome, compat_of};
use crate::compat::Compat;
use crate::engine;
use crate::input::Format;
use crate::priority::{AssocFactors, Index, Site};
use crate::report::explain::json::{Explanation, to_json};
use crate::report::explain::{Listed, Names, Scene, compare_users};
use crate::report::share::{ShareReport, algorithm_of, from_listing, from_site};
use crate::tree::AssocIndex;

/// Reads, compares, says.
pub(super) fn run(args: &ExplainArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let compat = args.compat.as_deref().map(compat_of).transpose()?;
    let format = args.input_format.map(|name| match name {
        FormatName::Sshare => Format::Sshare,
        FormatName::Site => Format::Site,
        FormatName::Dump => Format::Dump,
    });
    let (listed, report) = match input::read_or_ask(&args.live, args.file.as_deref(), format)? {
        Input::Site(site) => {
            let compat = compat.unwrap_or(site.config.compat);
            let report = from_site(&site, site.config.algorithm(), compat);
            let mut config = site.config;
            config.compat = compat;
            let listed = Listed {
                config,
                tree: site.tree,
                ledger: site.ledger,
            };
            (listed, report)
        }
        Input::Listing(listing, settings) => {
            let (algorithm, own) = match settings {
                Some(config) => (config.algorithm(), config.compat),
                None => (algorithm_of(&listing), Compat::default()),
            };
            let report = from_listing(&listing, algorithm, compat.unwrap_or(own))?;
            let listed = Listed::new(&report).map_err(|why| {
                Failure::Usage(format!(
                    "{}: {why}\nhint: explain needs all associations: sshare -a -l -P",
                    report.source
                ))
            })?;
            (listed, report)
        }
    };
    report
        .assumptions
        .iter()
        .for_each(|text| messages.note(text));
    let users = [&args.who, &args.versus].map(|name| find(&report, name));
    let [first, second] = users;
    show(args, &listed, &Named(&report), [first?, second?])?;
    Ok(Outcome::Done)
}

fn show(
    args: &ExplainArgs,
    listed: &Listed,
    names: &Named<'_>,
    users: [AssocIndex; 2],
) -> Result<(), Failure> {
    let fairshare = engine::rank(&listed.config, &listed.tree, &listed.ledger);
    let mut site = Site {
        assocs: vec![AssocFactors::default(); listed.tree.len()],
        ..Site::default()
    };
    engine::publish(&fairshare, &mut site);
    let scene = Scene {
        config: &listed.config,
        tree: &listed.tree,
        ledger: &listed.ledger,
        fairshare: &fairshare,
        site: &site,
        load: &[],
        now: 0,
    };
    let compared = compare_users(&scene, names, users);
    let compared = compared.map_err(|error| Failure::Usage(error.to_string()))?;
    let mut out = BufWriter::new(stdout().lock());
    if args.json {
        to_json(&mut out, Explanation::Users(&compared))?;
    } else {
        write!(out, "{compared}")?;
    }
    out.flush()?;
    Ok(())
}

/// The user that `USER`, `USER@ACCOUNT` or `USER@ACCOUNT:PARTITION` names.
fn find(report: &ShareReport, name: &str) -> Result<AssocIndex, Failure> {
    /// Of many that fit, so many are listed.
    const LISTED: usize = 5;
    let names = Named(report);
    let fits = |at: usize| {
        let row = &report.rows[at];
        let whole = names.assoc(AssocIndex::new(at));
        row.user.as_deref() == Some(name) || row.name() == name || whole == name
    };
    let rows = (0..report.rows.len()).filter(|at| fits(*at));
    let mut rows: Vec<AssocIndex> = rows.map(AssocIndex::new).collect();
    // An account may have the name of a user; it is taken only where no user has it.
    if rows.len() > 1 {
        rows.retain(|index| report.rows[index.get()].user.is_some());
    }
    match rows[..] {
        [one] => Ok(one),
        [] => Err(Failure::Usage(format!(
            "{}: found no user {name}; allowed is USER, USER@ACCOUNT or USER@ACCOUNT:PARTITION",
            report.source
        ))),
        _ => {
            let some = rows.iter().take(LISTED);
            let some: Vec<String> = some.map(|index| names.assoc(*index)).collect();
            Err(Failure::Usage(format!(
                "{}: {name} stands {} times in the tree; name one: {}",
                report.source,
                rows.len(),
                some.join(", ")
            )))
        }
    }
}

/// The names that the input has.
struct Named<'a>(&'a ShareReport);

impl Names for Named<'_> {
    fn assoc(&self, index: AssocIndex) -> String {
        let row = &self.0.rows[index.get()];
        match &row.partition {
            Some(partition) => format!("{}:{partition}", row.name()),
            None => row.name(),
        }
    }
    fn partition(&self, index: Index) -> String {
        format!("partition {}", index.get())
    }
    fn qos(&self, index: Index) -> String {
        format!("QOS {}", index.get())
    }
}
