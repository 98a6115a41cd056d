//! `sacctmgr -P show assoc`.

use std::sync::Arc;

use super::limits::{LimitColumns, Limits};
use super::table::{Table, TableRow};
use crate::input::error::InputError;
use crate::input::interner::{Interner, Name};
use crate::input::left_out::LeftOut;
use fairtree::tree::Shares;

/// An association.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssocRow {
    /// The account, or the account that the user is in.
    pub account: String,
    /// The user.
    pub user: Option<String>,
    /// The partition that the association is for.
    pub partition: Option<String>,
    /// The account above; `None` for root, and for users, who are below their account.
    pub parent: Option<String>,
    /// Shares.
    pub shares: Shares,
    /// `Priority`; 0 where none is set.
    pub priority: u32,
    /// The QOS that its jobs may have, its own or those of the account above; empty where they are not known.
    pub qos: Arc<[Name]>,
    /// Its limits; `None` where it has none, or they are not known.
    pub limits: Option<Box<Limits>>,
}

/// The number that Slurm keeps for "use the parent's shares".
const USE_PARENT: u32 = 2_147_483_647;

pub(super) const SHARES_ALLOWED: &str = "a whole number from 0 to 2147483646, or parent";

/// Shares as Slurm's commands write them; `sacctmgr dump` writes `parent` as a number.
pub fn shares(text: &str) -> Option<Shares> {
    if text.eq_ignore_ascii_case("parent") {
        return Some(Shares::Parent);
    }
    match text.parse::<u32>().ok()? {
        USE_PARENT => Some(Shares::Parent),
        shares if shares < USE_PARENT => Some(Shares::Raw(shares)),
        _ => None,
    }
}

/// Returns true if `line` is the header of such a table.
pub fn begins(line: &str) -> bool {
    let has = |name: &str| {
        line.trim()
            .split('|')
            .any(|cell| cell.eq_ignore_ascii_case(name))
    };
    ["Account", "User", "Share"].into_iter().all(has)
}

/// The cluster of the first association of a table; `None` where the table has no such column.
pub fn cluster(table: &str) -> Option<String> {
    let table = Table::parse("", table, &mut LeftOut::default()).ok()?;
    let cluster = table.rows.first()?.said(table.optional("Cluster"));
    cluster.map(str::to_owned)
}

/// Reads the associations of one cluster: `cluster`, or the only one that there is.
///
/// # Errors
/// No table; a missing column among Account, User, Share; several clusters and none chosen; no
/// association that can be read. One that cannot be goes to `left`. `file` names the text in
/// messages.
pub fn read(
    file: &str,
    text: &str,
    cluster: Option<&str>,
    left: &mut LeftOut,
) -> Result<Vec<AssocRow>, InputError> {
    let before = left.count();
    let table = Table::parse(file, text, left)?;
    let (account, user) = (table.column("Account")?, table.column("User")?);
    let share = table.column("Share")?;
    let clusters = table.optional("Cluster");
    let optional = [
        table.optional("Partition"),
        table.optional("ParentName").or(table.optional("Par Name")),
        table.optional("Priority"),
        table.optional("QOS"),
    ];
    let limits = LimitColumns::of(&table);
    let mut shared = Interner::default();
    let mut first: Option<&str> = None;
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in &table.rows {
        let own = row.said(clusters);
        match (cluster, own) {
            (Some(wanted), Some(own)) if wanted != own => continue,
            (None, Some(own)) if *first.get_or_insert(own) != own => {
                let why = format!(
                    "associations of two clusters, {} and {own}",
                    first.unwrap_or("")
                );
                return Err(table
                    .broken(row, why)
                    .hint("sacctmgr show assoc cluster=NAME"));
            }
            _ => {}
        }
        let read = assoc(&table, row, [account, user, share], optional, &mut shared);
        let read = read.and_then(|read| {
            let limits = limits.read(&table, row)?;
            Ok(AssocRow { limits, ..read })
        });
        rows.extend(left.keep(read)?);
    }
    left.any_read(rows.len(), before)?;
    Ok(rows)
}

fn assoc(
    table: &Table<'_>,
    row: &TableRow<'_>,
    [account, user, share]: [usize; 3],
    [partition, parent, priority, qos]: [Option<usize>; 4],
    shared: &mut Interner,
) -> Result<AssocRow, InputError> {
    let text = |at| row.said(at).map(str::to_owned);
    let Some(account) = text(Some(account)) else {
        return Err(table.value(row, account, "the name of an account"));
    };
    let user = text(Some(user));
    let shares = shares(row.cell(share)).ok_or_else(|| table.value(row, share, SHARES_ALLOWED))?;
    let allowed = "a whole number from 0 to 4294967295";
    let priority = match priority.filter(|&at| !row.cell(at).is_empty()) {
        Some(at) => table.number(row, at, allowed)?,
        None => 0,
    };
    Ok(AssocRow {
        account,
        parent: text(parent).filter(|_| user.is_none()),
        user,
        partition: text(partition),
        shares,
        priority,
        qos: shared.list(row.said(qos).unwrap_or_default()),
        limits: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "Cluster|Account|User|Partition|Share|Priority|ParentName\n\
                         c|root|||1||\nc|root|root||1||\nc|a|||40||root\nc|b|||parent|7|a\n\
                         c|b|x|p|3||\nd|root|||1||\n";

    fn of(text: &str, cluster: Option<&str>) -> Result<Vec<AssocRow>, InputError> {
        read("f", text, cluster, &mut LeftOut::default())
    }

    #[test]
    fn one_broken_association_hides_no_other() {
        let mut left = LeftOut::default();
        let text = TABLE
            .replace("40||root", "many||root")
            .replace("|3||", "|3|");
        let rows = read("f", &text, Some("c"), &mut left).unwrap();
        assert_eq!(rows.len(), 3);
        assert_eq!(left.count(), 2, "{:?}", left.notes());
    }

    #[test]
    fn rows_of_the_chosen_cluster() {
        let rows = of(TABLE, Some("c")).unwrap();
        assert_eq!(rows.len(), 5);
        assert_eq!((rows[3].shares, rows[3].priority), (Shares::Parent, 7));
        assert_eq!(rows[4].partition.as_deref(), Some("p"));
        let error = of(TABLE, None).unwrap_err();
        assert_eq!(error.line, Some(7));
    }

    #[test]
    fn wrong_tables_are_errors() {
        for (text, line) in [
            ("", None),
            ("Account|User\na|\n", Some(1)),
            ("Account|User|Share\na||x\n", Some(2)),
            ("Account|User|Share\na||2147483648\n", Some(2)),
            ("Account|User|Share\na|\n", Some(2)),
            ("Account|User|Share\n||1\n", Some(2)),
        ] {
            assert_eq!(of(text, None).unwrap_err().line, line, "{text:?}");
        }
    }
}
