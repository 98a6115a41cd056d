//! From the keys of the file to rows, tree and usage.

use std::collections::{HashMap, HashSet};

use toml::Spanned;

use super::described::{Site, SiteRow, Users};
use super::file::{Account, File, InPartition, Use, User};
use super::place::Text;
use super::uses::{Interval, Uses};
use super::{machine, order, queue, settings, value};
use crate::input::error::{InputError, Problem};
use fairtree::config::Config;
use fairtree::tree::{Assoc, AssocId, AssocKind, Shares, Tree};

const ROOT: &str = "root";

/// The site that a file describes.
pub(in crate::input) fn build(text: &Text<'_>, file: File) -> Result<Site, InputError> {
    let config = settings::config(text, &file.settings)?;
    if let Some(cluster) = &file.cluster {
        value::name(text, cluster, "cluster")?;
    }
    let below = children(text, &file, &config)?;
    let mut builder = Builder {
        text,
        uses: times(text, &file)?,
        rows: Vec::new(),
        assocs: Vec::new(),
        by_name: HashMap::new(),
    };
    builder.walk(&file, &below)?;
    for entry in &file.uses {
        builder.charge(entry)?;
    }
    let broken = |error: String| InputError::new(text.file, Problem::Structure(error));
    let tree = Tree::from_rows(builder.assocs).map_err(|error| broken(error.to_string()))?;
    let models = vec![config.usage(); tree.len()];
    let raw_usage = builder.uses.raw_usage(&config, &models, &tree);
    let raw_usage = raw_usage.map_err(|error| broken(error.to_string()))?;
    let machine = machine::read(text, &file)?;
    let known = queue::Known {
        config: &config,
        machine: machine.as_ref(),
        users: &builder.by_name,
    };
    let (queued, requests) = queue::read(text, &file, &known, builder.uses.now)?;
    Ok(Site {
        file: text.file.to_owned(),
        cluster: file.cluster.map(Spanned::into_inner),
        config,
        rows: builder.rows,
        tree,
        raw_usage,
        uses: Some(builder.uses),
        queued,
        machine,
        requests,
        capacity: None,
        assumptions: Vec::new(),
    })
}

/// The accounts under each account, in slurmctld's order.
fn children<'f>(
    text: &Text<'_>,
    file: &'f File,
    config: &Config,
) -> Result<HashMap<&'f str, Vec<&'f str>>, InputError> {
    let mut below: HashMap<&str, Vec<&str>> = HashMap::new();
    for (name, account) in &file.accounts {
        value::name(text, name, "account")?;
        if name.get_ref() == ROOT {
            root_has_no(text, "parent", account.parent.as_ref().map(Spanned::span))?;
            root_has_no(text, "shares", account.shares.as_ref().map(Spanned::span))?;
            continue;
        }
        let parent = account.parent.as_ref().map_or(ROOT, |p| p.get_ref());
        if parent != ROOT && !file.accounts.contains_key(parent) {
            let span = account.parent.as_ref().map_or(name.span(), Spanned::span);
            let known: Vec<&str> = file
                .accounts
                .keys()
                .map(|key| key.get_ref().as_str())
                .collect();
            let known = known
                .iter()
                .take(20)
                .copied()
                .collect::<Vec<_>>()
                .join(", ");
            return Err(text
                .value(
                    &span,
                    "parent",
                    format!("an account of this file: {known}, or root"),
                )
                .hint(format!("describe it: [accounts.{parent}]")));
        }
        below.entry(parent).or_default().push(name.get_ref());
    }
    for accounts in below.values_mut() {
        accounts.sort_by(|a, b| order::by_name(config.compat, a, b));
    }
    Ok(below)
}

fn root_has_no(
    text: &Text<'_>,
    key: &str,
    span: Option<std::ops::Range<usize>>,
) -> Result<(), InputError> {
    span.map_or(Ok(()), |span| {
        let problem = format!("root is above all accounts and has no {key}");
        Err(text.error(span.start, Problem::Structure(problem)))
    })
}

/// The times that the file gives.
fn times(text: &Text<'_>, file: &File) -> Result<Uses, InputError> {
    let time = |value: &Option<Spanned<toml::Value>>, what| {
        value
            .as_ref()
            .map(|value| value::time(text, value, what))
            .transpose()
    };
    let usage_time = time(&file.usage_time, "usage_time")?;
    let now = time(&file.now, "now")?.or(usage_time);
    if let (Some(before), Some(now), Some(value)) = (usage_time, now, &file.now) {
        if now < before {
            return Err(text.value(&value.span(), "now", "a time from usage_time on"));
        }
    }
    Ok(Uses {
        usage_time,
        now,
        ..Uses::default()
    })
}

/// Gathers rows in order.
struct Builder<'a> {
    text: &'a Text<'a>,
    uses: Uses,
    rows: Vec<SiteRow>,
    assocs: Vec<Assoc>,
    /// Users by account, user, partition.
    by_name: Users,
}

impl Builder<'_> {
    /// Adds root and all below it; accounts that cannot be reached run in a circle.
    fn walk(&mut self, file: &File, below: &HashMap<&str, Vec<&str>>) -> Result<(), InputError> {
        let mut open: Vec<(&str, Option<AssocId>)> = vec![(ROOT, None)];
        let mut reached = 0;
        while let Some((name, parent)) = open.pop() {
            let account = file.accounts.get(name);
            reached += usize::from(account.is_some());
            let id = self.account(name, account, parent)?;
            if let Some(accounts) = below.get(name) {
                open.extend(accounts.iter().rev().map(|account| (*account, Some(id))));
            }
        }
        if reached == file.accounts.len() {
            return Ok(());
        }
        let accounts = self.rows.iter().filter(|row| row.user.is_none());
        let found: HashSet<&str> = accounts.map(|row| row.account.as_str()).collect();
        let lost = |name: &&Spanned<String>| !found.contains(name.get_ref().as_str());
        let name = file.accounts.keys().find(lost);
        let span = name
            .and_then(|name| file.accounts[name.get_ref().as_str()].parent.as_ref())
            .map_or(0, |parent| parent.span().start);
        let shown = name.map_or("", |name| name.get_ref());
        let problem = format!("account {shown:?} is not below root: its parents run in a circle");
        Err(self.text.error(span, Problem::Structure(problem)))
    }

    fn push(&mut self, row: SiteRow, parent: Option<AssocId>, shares: Shares) -> AssocId {
        let id = AssocId::try_from(self.rows.len() + 1).unwrap_or(AssocId::MAX);
        self.assocs.push(Assoc {
            id,
            parent,
            kind: match row.user {
                Some(_) => AssocKind::User,
                None => AssocKind::Account,
            },
            shares,
        });
        self.rows.push(row);
        id
    }

    fn account(
        &mut self,
        name: &str,
        account: Option<&Account>,
        parent: Option<AssocId>,
    ) -> Result<AssocId, InputError> {
        let mut row = SiteRow {
            account: name.to_owned(),
            ..SiteRow::default()
        };
        let Some(account) = account else {
            return Ok(self.push(row, parent, Shares::Raw(1)));
        };
        let text = self.text;
        row.grp_tres_mins = value::tres(text, account.grp_tres_mins.as_ref(), "grp_tres_mins")?;
        row.grp_tres_raw = value::tres(text, account.grp_tres_raw.as_ref(), "grp_tres_raw")?;
        row.tres_run_mins = value::tres(text, account.tres_run_mins.as_ref(), "tres_run_mins")?;
        let shares = value::shares(text, account.shares.as_ref())?;
        let id = self.push(row, parent, shares);
        for (user, entry) in &account.users {
            value::name(text, user, "user")?;
            self.user(name, id, user.get_ref(), entry)?;
        }
        Ok(id)
    }

    fn user(
        &mut self,
        account: &str,
        parent: AssocId,
        name: &str,
        user: &User,
    ) -> Result<(), InputError> {
        let text = self.text;
        let row = SiteRow {
            account: account.to_owned(),
            user: Some(name.to_owned()),
            partition: None,
            grp_tres_mins: value::tres(text, user.grp_tres_mins.as_ref(), "grp_tres_mins")?,
            grp_tres_raw: value::tres(text, user.grp_tres_raw.as_ref(), "grp_tres_raw")?,
            tres_run_mins: value::tres(text, user.tres_run_mins.as_ref(), "tres_run_mins")?,
        };
        let shares = value::shares(text, user.shares.as_ref())?;
        let usage = value::amount(text, user.usage.as_ref(), "usage")?;
        self.leaf(row, parent, shares, usage);
        for (partition, InPartition { shares, usage, .. }) in &user.partitions {
            value::name(text, partition, "partition")?;
            let row = SiteRow {
                account: account.to_owned(),
                user: Some(name.to_owned()),
                partition: Some(partition.get_ref().clone()),
                ..SiteRow::default()
            };
            let shares = value::shares(text, shares.as_ref())?;
            let usage = value::amount(text, usage.as_ref(), "usage")?;
            self.leaf(row, parent, shares, usage);
        }
        Ok(())
    }

    fn leaf(&mut self, row: SiteRow, parent: AssocId, shares: Shares, usage: f64) {
        let partition = row.partition.clone().unwrap_or_default();
        let user = row.user.clone().unwrap_or_default();
        let key = (row.account.clone(), user, partition);
        self.by_name.insert(key, self.rows.len());
        if usage > 0.0 {
            self.uses.amounts.push((self.rows.len(), usage));
        }
        self.push(row, Some(parent), shares);
    }

    /// Adds the usage of a `[[use]]` entry.
    fn charge(&mut self, entry: &Use) -> Result<(), InputError> {
        let text = self.text;
        let Some(now) = self.uses.now else {
            let problem = "what [[use]] counts depends on the time: give now, or usage_time";
            let at = entry.start.span().start;
            return Err(text.error(at, Problem::Structure(problem.into())));
        };
        let start = value::time(text, &entry.start, "start")?;
        let end = value::time(text, &entry.end, "end")?;
        if end < start {
            return Err(text.value(&entry.end.span(), "end", "a time from start on"));
        }
        if end > now {
            return Err(text.value(&entry.end.span(), "end", "a time up to now"));
        }
        let billing = value::amount(text, Some(&entry.billing), "billing")?;
        let partition = entry.partition.as_ref().map(|p| p.get_ref().clone());
        let key = (
            entry.account.get_ref().clone(),
            entry.user.get_ref().clone(),
            partition.unwrap_or_default(),
        );
        let Some(&row) = self.by_name.get(&key) else {
            let (account, user) = (entry.account.get_ref(), entry.user.get_ref());
            let allowed = "a user of the account that the file describes, in that partition";
            return Err(text
                .value(&entry.user.span(), "user", allowed)
                .hint(format!("describe it: [accounts.{account}.users.{user}]")));
        };
        self.uses.intervals.push(Interval {
            row,
            billing,
            start,
            end,
        });
        Ok(())
    }
}
