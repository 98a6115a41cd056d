//! The owners of the use in a log among the associations of a site.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::{Owner, OwnerHistory};
use fairtree::config::{Config, UsageModel};
use fairtree::extended::Extended;
use fairtree::tree::Shares;
use fairtree::usage::RawUsage;
use fairtree_model::cluster::usage_models;
use fairtree_model::input::InputError;
use fairtree_model::input::site::from_assocs::site;
use fairtree_model::input::site::{Site, SiteRow};
use fairtree_model::input::slurm::assoc::AssocRow;

/// The assumption of a chart of a log without a site.
pub const NO_SITE: &str = "a log has no shares: every account and every user is given one; \
                           `fairtree chart --site FILE` counts a log by the shares of a site";

const ROOT: &str = "root";

/// A history on a site: for each owner its association, by position.
#[derive(Clone, Debug)]
pub struct Placed {
    /// The site, with the usage of the end of the history.
    pub site: Site,
    /// For each owner the position of its association.
    pub positions: Vec<usize>,
    /// Notes for the reader, in sentences.
    pub notes: Vec<String>,
}

/// The site that the log itself describes: root, its accounts, their users, one share each.
///
/// # Errors
/// An account called like another's user cannot happen; those of [`site`].
pub fn own_site(file: &str, config: &Config, history: &OwnerHistory) -> Result<Placed, InputError> {
    let row = |account: &str, user: Option<&str>| AssocRow {
        account: account.to_owned(),
        user: user.map(str::to_owned),
        partition: None,
        parent: (user.is_none() && account != ROOT).then(|| ROOT.to_owned()),
        shares: Shares::Raw(1),
        priority: 0,
        qos: Arc::default(),
        limits: None,
    };
    let owners = history.owners();
    let named = |owner: &&Owner| {
        owner
            .0
            .as_deref()
            .filter(|name| *name != ROOT)
            .map(str::to_owned)
    };
    let accounts: BTreeSet<String> = owners.iter().filter_map(named).collect();
    let mut rows = vec![row(ROOT, None)];
    rows.extend(accounts.iter().map(|account| row(account, None)));
    rows.extend(owners.iter().filter_map(|(account, user)| {
        Some(row(
            account.as_deref().unwrap_or(ROOT),
            Some(user.as_deref()?),
        ))
    }));
    let mut site = site(file, None, &rows)?;
    site.config = config.clone();
    let mut placed = on_site(site, history);
    placed.notes.push(NO_SITE.to_owned());
    Ok(placed)
}

/// The usage models of the accounts of a site whose plan, or that of an account above, differs from `usage=` in
/// `config`.
pub fn plans_on(config: &Config, site: &Site) -> Vec<(String, UsageModel)> {
    let models = usage_models(config, &site.tree, |name| site.account(name));
    let rows = site.rows.iter().zip(models);
    let accounts = rows.filter(|(row, model)| row.user.is_none() && *model != config.usage());
    let plans = accounts.map(|(row, model)| (row.account.clone(), model));
    plans.collect()
}

/// The owners on a site that is known. The use of a user whom the site does not know is its
/// account's, that of an account it does not know is root's, as Slurm has it once an association is
/// removed. What the site said of usage is replaced by the history's.
pub fn on_site(mut site: Site, history: &OwnerHistory) -> Placed {
    let places = Places::new(&site.rows);
    let owners = history.owners();
    let mut strangers = Strangers::default();
    let positions: Vec<usize> = owners
        .iter()
        .map(|(account, user)| {
            places.find(
                account.as_deref().unwrap_or(ROOT),
                user.as_deref(),
                &mut strangers,
            )
        })
        .collect();
    let mut notes = Vec::new();
    if site
        .raw_usage
        .raw()
        .iter()
        .any(|usage| *usage > Extended::ZERO)
    {
        notes.push("the usage in the description of the site is left out: the log's counts".into());
    }
    strangers.tell(&mut notes);
    let own = spread(&positions, &history.at_end(), site.tree.len());
    // Amounts are sums of finite charges, never below 0.
    site.raw_usage =
        RawUsage::from_own(&site.tree, &own).unwrap_or_else(|_| RawUsage::new(&site.tree));
    site.uses = None;
    Placed {
        site,
        positions,
        notes,
    }
}

/// The use of owners as that of associations themselves, by position.
pub(super) fn spread(positions: &[usize], used: &[f64], len: usize) -> Vec<Extended> {
    let mut own = vec![Extended::ZERO; len];
    for (&at, &amount) in positions.iter().zip(used) {
        own[at] += Extended::from_f64(amount).unwrap_or(Extended::ZERO);
    }
    own
}

/// Associations by their names.
struct Places<'a> {
    accounts: HashMap<&'a str, usize>,
    users: HashMap<(&'a str, &'a str), usize>,
    root: usize,
}

impl<'a> Places<'a> {
    fn new(rows: &'a [SiteRow]) -> Places<'a> {
        let mut places = Places {
            accounts: HashMap::new(),
            users: HashMap::new(),
            root: 0,
        };
        for (at, row) in rows.iter().enumerate() {
            match &row.user {
                None => {
                    places.accounts.insert(&row.account, at);
                }
                // Of a user's associations the one for all partitions, or else the first.
                Some(user) => {
                    let place = places.users.entry((&row.account, user)).or_insert(at);
                    if row.partition.is_none() {
                        *place = at;
                    }
                }
            }
        }
        places.root = places.accounts.get(ROOT).copied().unwrap_or(0);
        places
    }

    fn find(&self, account: &str, user: Option<&str>, strangers: &mut Strangers) -> usize {
        let Some(&above) = self.accounts.get(account) else {
            strangers.accounts.insert(account.to_owned());
            return self.root;
        };
        let Some(user) = user else { return above };
        match self.users.get(&(account, user)) {
            Some(&at) => at,
            None => {
                strangers.users.insert(format!("{user}@{account}"));
                above
            }
        }
    }
}

/// Who is in the log and not on the site.
#[derive(Default)]
struct Strangers {
    accounts: BTreeSet<String>,
    users: BTreeSet<String>,
}

impl Strangers {
    fn tell(&self, notes: &mut Vec<String>) {
        let mut tell = |names: &BTreeSet<String>, what: &str, whose: &str| {
            if names.is_empty() {
                return;
            }
            let first: Vec<&str> = names.iter().take(5).map(String::as_str).collect();
            let more = match names.len() - first.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            notes.push(format!(
                "{} {what} of the log are not on the site, and their use counts as {whose}: {}{more}",
                names.len(),
                first.join(", ")
            ));
        };
        tell(&self.users, "users", "their account's own");
        tell(&self.accounts, "accounts", "root's own");
    }
}
