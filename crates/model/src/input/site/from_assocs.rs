//! The site of associations that Slurm's commands listed.

use std::collections::{BTreeMap, HashMap};

use super::described::{Site, SiteRow};
use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;
use crate::input::lines::plain;
use crate::input::slurm::assoc::{self, AssocRow};
use crate::input::slurm::dump;
use fairtree::config::Config;
use fairtree::tree::{Assoc, AssocId, AssocKind, Tree};
use fairtree::usage::RawUsage;

/// Reads a dump as a site without usage.
///
/// # Errors
/// Those of [`dump::read`] and [`site`].
pub fn dumped(file: &str, text: &str) -> Result<Site, InputError> {
    let dump = dump::read(file, text)?;
    site(file, dump.cluster, &dump.rows)
}

/// Reads the table of `sacctmgr -P show assoc` of one cluster as a site without usage.
///
/// # Errors
/// Those of [`assoc::read`] and [`site`]; a row that cannot be read.
pub fn listed(file: &str, text: &str) -> Result<Site, InputError> {
    let text = plain(text.into());
    let above = text.lines().take_while(|line| !assoc::begins(line)).count();
    // The command above the table; lines keep their numbers.
    let rest = text.lines().skip(above).map(|line| format!("{line}\n"));
    let table = "\n".repeat(above) + &rest.collect::<String>();
    let rows = assoc::read(file, &table, None, &mut LeftOut::refusing())?;
    site(file, assoc::cluster(&table), &rows)
}

/// The site of associations in any order, without usage: in slurmctld's order, an account followed
/// by its users, then by the accounts below it.
///
/// # Errors
/// Accounts that are missing, twice there, without a parent, or in a circle.
pub fn site(file: &str, cluster: Option<String>, rows: &[AssocRow]) -> Result<Site, InputError> {
    let broken = |why: String| InputError::new(file, Problem::Structure(why));
    let mut accounts: BTreeMap<&str, Account<'_>> = BTreeMap::new();
    for row in rows.iter().filter(|row| row.user.is_none()) {
        let known = accounts.entry(&row.account).or_default();
        if known.row.replace(row).is_some() {
            return Err(broken(format!(
                "the account {} is there twice",
                row.account
            )));
        }
    }
    for row in rows {
        let above = match (&row.user, row.parent.as_deref()) {
            (Some(_), _) => row.account.as_str(),
            (None, _) if row.account == ROOT => continue,
            (None, Some(parent)) => parent,
            (None, None) => {
                return Err(broken(format!("the account above {} is not told", row.account))
                    .hint("print it: sacctmgr -P show assoc format=Cluster,Account,User,Partition,Share,Priority,ParentName"));
            }
        };
        let Some(account) = accounts.get_mut(above).filter(|a| a.row.is_some()) else {
            return Err(broken(format!(
                "the account {above} is not there, but what is below it"
            )));
        };
        match row.user {
            Some(_) => account.users.push(row),
            None => account.below.push(&row.account),
        }
    }
    let mut walk = Walk::default();
    walk.run(&mut accounts);
    if let Some(lost) = accounts.keys().find(|name| !walk.seen.contains_key(**name)) {
        return Err(broken(format!("the account {lost} is not below root")));
    }
    let tree = Tree::from_rows(walk.assocs).map_err(|error| broken(error.to_string()))?;
    Ok(Site {
        file: file.to_owned(),
        cluster,
        config: Config::default(),
        rows: walk.rows,
        raw_usage: RawUsage::new(&tree),
        uses: None,
        tree,
        queued: None,
        machine: None,
        requests: Vec::new(),
        capacity: None,
        assumptions: Vec::new(),
    })
}

const ROOT: &str = "root";

#[derive(Default)]
struct Account<'a> {
    row: Option<&'a AssocRow>,
    users: Vec<&'a AssocRow>,
    below: Vec<&'a str>,
}

/// The associations in order.
#[derive(Default)]
struct Walk<'a> {
    assocs: Vec<Assoc>,
    rows: Vec<SiteRow>,
    seen: HashMap<&'a str, AssocId>,
}

impl<'a> Walk<'a> {
    fn run(&mut self, accounts: &mut BTreeMap<&'a str, Account<'a>>) {
        let mut stack: Vec<(&'a str, Option<AssocId>)> = vec![(ROOT, None)];
        while let Some((name, parent)) = stack.pop() {
            let Some(account) = accounts.get_mut(name) else {
                continue;
            };
            let Some(row) = account.row else { continue };
            let id = self.add(row, AssocKind::Account, parent);
            self.seen.insert(name, id);
            account.users.sort_by_key(|row| (&row.user, &row.partition));
            for user in &account.users {
                self.add(user, AssocKind::User, Some(id));
            }
            // The last on the stack comes first.
            account.below.sort_unstable_by(|a, b| b.cmp(a));
            stack.extend(account.below.iter().map(|below| (*below, Some(id))));
        }
    }

    fn add(&mut self, row: &AssocRow, kind: AssocKind, parent: Option<AssocId>) -> AssocId {
        let id = AssocId::try_from(self.assocs.len() + 1).unwrap_or(AssocId::MAX);
        self.assocs.push(Assoc {
            id,
            parent,
            kind,
            shares: row.shares,
        });
        self.rows.push(SiteRow {
            account: row.account.clone(),
            user: row.user.clone(),
            partition: row.partition.clone(),
            ..SiteRow::default()
        });
        id
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Cluster|Account|User|Partition|Share|Priority|ParentName\n\
                         c|root|||1||\nc|root|root||1||\nc|a|||40||root\nc|b|||parent|7|a\n\
                         c|b|x|p|3||\nd|root|||1||\n";

    const DUMP: &str = "# To edit this file\nCluster - 'c':Fairshare=1:QOS='a,b'\nParent - 'root'\n\
                        Account - 'p':Description='it's a: thing':Fairshare=40:Priority=5\nParent - 'p'\n\
                        User - 'u':DefaultAccount='p':Partition='x':Fairshare=2147483647\n";

    fn of(text: &str, cluster: Option<&str>) -> Vec<AssocRow> {
        assoc::read("f", text, cluster, &mut LeftOut::default()).unwrap()
    }

    #[test]
    fn associations_make_a_site_in_any_order() {
        let mut rows = of(TABLE, Some("c"));
        rows.reverse();
        let site = site("f", None, &rows).unwrap();
        let names: Vec<&str> = site.rows.iter().map(|row| row.account.as_str()).collect();
        assert_eq!(names, ["root", "root", "a", "b", "b"]);
        assert_eq!(site.tree.user_count(), 2);
    }

    #[test]
    fn accounts_that_hang_on_none_are_errors() {
        let site = |text| site("f", None, &of(text, None)).map(|_| ());
        assert!(site("Account|User|Share|ParentName\nroot||1|\na||1|b\nb||1|a\n").is_err());
        assert!(site("Account|User|Share|ParentName\nroot||1|\na||1|nowhere\n").is_err());
        assert!(site("Account|User|Share\nroot||1\na||1\n").is_err());
    }

    #[test]
    fn a_dump_makes_a_site() {
        assert_eq!(dumped("f", DUMP).unwrap().rows.len(), 3);
    }
}
