//! Who competes: accounts and users by name.

use std::collections::HashMap;

use fairtree::engine::MachineError;
use fairtree_model::input::queue::QueueSite;

/// A sentence that says why not.
pub(super) type Refusal = String;

/// Who competes, by name.
#[derive(Debug)]
pub(super) struct People {
    /// Account and user of each association.
    names: Vec<(String, Option<String>)>,
    accounts: HashMap<String, usize>,
    users: HashMap<(String, String), usize>,
}

impl People {
    pub fn new(site: &QueueSite) -> People {
        let mut people = People {
            names: Vec::with_capacity(site.rows.len()),
            accounts: HashMap::new(),
            users: HashMap::new(),
        };
        for (at, row) in site.rows.iter().enumerate() {
            people.names.push((row.account.clone(), row.user.clone()));
            match &row.user {
                None => people.accounts.insert(row.account.clone(), at),
                Some(user) => people.users.insert((row.account.clone(), user.clone()), at),
            };
        }
        people
    }

    /// The position of an account, or of a user in it.
    pub fn find(&self, account: &str, user: Option<&str>) -> Result<usize, Refusal> {
        let Some(&at) = self.accounts.get(account) else {
            let names = self.accounts.keys().filter(|name| *name != "root");
            let mut names: Vec<&str> = names.map(String::as_str).collect();
            names.sort_unstable();
            names.truncate(20);
            let names = names.join(", ");
            return Err(format!(
                "account {account:?} is not allowed: allowed is an account of the site: {names}"
            ));
        };
        let Some(user) = user else {
            return Ok(at);
        };
        let found = self.users.get(&(account.to_owned(), user.to_owned()));
        found.copied().ok_or_else(|| {
            format!(
                "user {user:?} is not allowed: allowed is a user whom the site describes in account \
                 {account}, or none"
            )
        })
    }

    /// An error with the name of its account; `position` of its number.
    pub fn named(&self, error: MachineError, position: impl Fn(u32) -> usize) -> Refusal {
        match error {
            MachineError::Elsewhere {
                account,
                name,
                allowed,
            } => format!(
                "account {} runs on {} only, not on machine {name}",
                self.account(position(account)),
                allowed.join(", ")
            ),
            other => other.to_string(),
        }
    }

    /// The account at a position.
    pub fn account(&self, at: usize) -> &str {
        &self.names[at].0
    }
}
