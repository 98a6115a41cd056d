//! `fairtree share`.

use std::io::{BufWriter, Write, stdout};

use super::args::{RankingName, ShareArgs};
use super::cluster::{policy_file, refused};
use super::input::{self, Input, no_shares};
use super::message::Messages;
use super::user::login_names;
use super::{Failure, Outcome, compat_of, terminal, told};
use fairtree::compat::Compat;
use fairtree::fairshare::Ranking;
use fairtree::tree::AssocIndex;
use fairtree_analysis::policy::{check_accounts, excess_notes, policy_notes, settings_of};
use fairtree_analysis::share::{
    Fractions, Select, ShareReport, check, from_listed, from_site, ranking_of, rates_accounts,
    select,
};
use fairtree_model::cluster::{Capacity, entitlement};
use fairtree_model::input::Format;
use fairtree_model::input::sshare::{Column, Field, default_fields, parse_fields};
use fairtree_model::listed::Listed;
use fairtree_render::chart::{Forest, Theme, bars_svg, page, write_tree};
use fairtree_render::share::{Separator, Table, notes, to_json, write_agreement};

/// Reads, computes, prints.
pub(super) fn run(args: &ShareArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(stdout().lock());
    if args.helpformat {
        list_columns(&mut out)?;
        out.flush()?;
        return Ok(Outcome::Done);
    }
    let compat = args.compat.as_deref().map(compat_of).transpose()?;
    let policy = args.policy.as_deref().map(policy_file).transpose()?;
    // Wrong columns are reported before a long input is read.
    let format = args.format.join(",");
    let fields = (!args.format.is_empty())
        .then(|| parse_fields(&format))
        .transpose();
    let fields = fields.map_err(|error| Failure::Usage(error.to_string()))?;
    if !(args.parsable || args.parsable2 || args.json) {
        let narrow = fields.iter().flatten().filter_map(too_narrow);
        narrow.for_each(|note| messages.note(&note));
    }
    let format = args.input_format.map(Format::from);
    let file = args.file.as_deref();
    let input = input::read_or_ask(
        &args.live.asked_again(args.check),
        file,
        format,
        policy.as_ref(),
    )?;
    let outcome = match input {
        Input::Queue(queue) => return Err(no_shares(&queue)),
        Input::Site(_) if args.check => {
            return Err(Failure::Usage(
                "--check compares what sshare printed; a site holds no such numbers".into(),
            ));
        }
        Input::Site(mut site) => {
            if let Some(file) = &policy {
                site.follow_policy(file).map_err(refused)?;
            }
            let ranking = ranking(args, site.config.ranking());
            let notes = policy_notes(&site.config);
            notes.iter().for_each(|note| messages.note(note));
            let name = |index: AssocIndex| site.rows[index.get()].account.clone();
            let notes = excess_notes(&site.entitlement(), &site.tree, name);
            notes.iter().for_each(|note| messages.note(note));
            let report = from_site(&site, ranking, compat.unwrap_or(site.config.compat));
            let facts = report.compat.facts();
            let look = Look {
                fields,
                rates_accounts: facts.is_none_or(|facts| facts.sshare_rates_accounts),
            };
            show(args, look, &report, None, &mut out, messages)?;
            Outcome::Done
        }
        Input::Listing(listing, beside) => {
            let config = beside.as_ref().map(|beside| &beside.config);
            let config = settings_of(config, policy.as_ref()).map_err(refused)?;
            let (own, own_compat) = match &config {
                Some(config) => (config.ranking(), config.compat),
                None => (ranking_of(&listing), Compat::default()),
            };
            let ranking = ranking(args, own);
            let notes = config.as_ref().map(policy_notes).unwrap_or_default();
            notes.iter().for_each(|note| messages.note(note));
            let compat = compat.unwrap_or(own_compat);
            let listed = Listed::new(&listing, ranking)?;
            if let Some(policy) = &policy {
                check_accounts(&listed, policy, config.as_ref()).map_err(refused)?;
            }
            if let Some(config) = &config {
                let tree = &listed.tree().tree;
                let entitlement =
                    entitlement(config, Capacity::Unknown, tree, |name| listed.account(name));
                let name = |index: AssocIndex| {
                    let account = &listing.rows[index.get()].account;
                    account.clone().unwrap_or_default()
                };
                let notes = excess_notes(&entitlement, tree, name);
                notes.iter().for_each(|note| messages.note(note));
            }
            let fractions = match args.check {
                true => Fractions::Computed,
                false => Fractions::Printed,
            };
            let mut report = from_listed(&listed, compat, config.as_ref(), fractions);
            if args.check {
                return compare(&listed, &report, &mut out, messages);
            }
            if beside.is_some() {
                // What Slurm was asked for here is all of it.
                report.assumptions.clear();
            }
            let release = beside.as_ref().and_then(|beside| beside.release);
            let look = Look {
                fields,
                rates_accounts: match release {
                    Some(release) => release.facts().sshare_rates_accounts,
                    None => rates_accounts(&listing),
                },
            };
            let asker = beside.and_then(|beside| beside.user);
            show(args, look, &report, asker, &mut out, messages)?;
            // Of a large site the program would give back its memory for longer than it computed.
            std::mem::forget((listed, report));
            std::mem::forget(listing);
            Outcome::Done
        }
    };
    out.flush()?;
    Ok(outcome)
}

/// The ranking of the input, as far as the options do not name another.
fn ranking(args: &ShareArgs, own: Ranking) -> Ranking {
    let dampening = args.dampening.or(own.dampening()).unwrap_or(1);
    let named = args.ranking.map(RankingName::ranking);
    named.unwrap_or(own).with_dampening(dampening)
}

/// What the table is to look like, beside the options.
struct Look {
    /// The columns that were asked for.
    fields: Option<Vec<Field>>,
    /// As [`Table::rates_accounts`].
    rates_accounts: bool,
}

fn show(
    args: &ShareArgs,
    look: Look,
    report: &ShareReport,
    asker: Option<String>,
    out: &mut impl Write,
    messages: &Messages,
) -> Result<(), Failure> {
    let all_users = args.all || args.users.iter().any(|user| user == "-1");
    let users = match (all_users, args.users.is_empty()) {
        (true, _) => Vec::new(),
        (false, false) => login_names(&args.users),
        // As sshare: one's own rows.
        (false, true) => asker.into_iter().collect(),
    };
    let shown = select(
        report,
        &Select {
            accounts: args.accounts.clone(),
            users,
            users_only: args.users_only,
        },
    );
    if args.json {
        return Ok(to_json(out, report, &shown)?);
    }
    if args.tree || args.html || args.svg {
        picture(args, report, &shown, out, messages)?;
        out.flush()?;
        note(report, messages, |_| true);
        return Ok(());
    }
    let columns = report.ranking.columns();
    let table = Table {
        fields: look.fields.unwrap_or_else(|| {
            default_fields(args.long, args.partition, columns.level_fs, report.claim())
        }),
        header: !args.noheader,
        separator: match (args.parsable, args.parsable2) {
            (true, _) => Separator::BarAfter,
            (_, true) => Separator::BarBetween,
            _ => Separator::Columns,
        },
        rates_accounts: look.rates_accounts,
    };
    table.write(out, report, &shown)?;
    // The table first, its footnotes after it.
    out.flush()?;
    let columns: Vec<Column> = table.fields.iter().map(|field| field.column).collect();
    note(report, messages, |column| columns.contains(&column));
    Ok(())
}

/// The tree: in the terminal, as a page, as a picture.
fn picture(
    args: &ShareArgs,
    report: &ShareReport,
    shown: &[usize],
    out: &mut impl Write,
    messages: &Messages,
) -> Result<(), Failure> {
    if args.tree {
        let forest = Forest::new(report, shown, usize::MAX);
        return Ok(write_tree(
            out,
            &forest,
            terminal::look(messages.colors_output()),
        )?);
    }
    let text = if args.html {
        page(&report.clone().into(), shown, Theme::Auto)
    } else {
        let subtitle = format!("shares and use, from {}", report.source);
        bars_svg(
            &Forest::drawn(report, shown),
            "Fair share",
            &subtitle,
            Theme::Auto,
        )
    };
    Ok(out.write_all(text.as_bytes())?)
}

fn compare(
    listed: &Listed<'_>,
    report: &ShareReport,
    out: &mut impl Write,
    messages: &Messages,
) -> Result<Outcome, Failure> {
    let agreement = check(listed, report);
    let written = write_agreement(out, report, &agreement);
    let written = written.and_then(|()| out.flush());
    note(report, messages, |column| listed.listing().has(column));
    let outcome = match agreement.differences.is_empty() {
        true => Outcome::Done,
        false => Outcome::Differences,
    };
    told(written, outcome)
}

/// Shows what could not be computed and what was taken for granted.
fn note(report: &ShareReport, messages: &Messages, wanted: impl Fn(Column) -> bool) {
    let notes = notes(report, wanted);
    notes.iter().for_each(|note| messages.note(note));
}

/// A note on a column of a table that no program can read back. sshare prints such columns, too.
fn too_narrow(field: &Field) -> Option<String> {
    let (name, least) = (field.column.name(), field.column.least_width());
    let width = field.width.unsigned_abs() as usize;
    (width < least).then(|| {
        format!(
            "{name}%{}: its heading or its numbers are cut below a width of {least}, so that nothing can read the \
             table back; -P prints it without widths",
            field.width
        )
    })
}

/// The columns, four to a line, as `sshare --helpformat` lists them.
fn list_columns(out: &mut impl Write) -> std::io::Result<()> {
    let all = [&Column::ALL[..], &Column::OWN].concat();
    for line in all.chunks(4) {
        let names: Vec<String> = line.iter().map(|c| format!("{:<17}", c.name())).collect();
        writeln!(out, "{}", names.join(" "))?;
    }
    Ok(())
}
