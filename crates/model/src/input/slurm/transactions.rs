//! Transactions of slurmdbd that changed shares: `sacctmgr -P show transactions withassocinfo`.

use super::assoc;
use super::table::Table;
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use fairtree::tree::Shares;

/// The format that [`read`] reads.
pub const FORMAT: &str = "format=Time,Action,Actor,User,Account,Info";

/// A transaction that gave shares.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharesGiven {
    /// When, seconds since 1970.
    pub time: i64,
    /// Who.
    pub actor: String,
    /// Users of the associations; empty: the associations are accounts.
    pub users: Vec<String>,
    /// Accounts of the associations.
    pub accounts: Vec<String>,
    /// The shares that all of them got.
    pub shares: Shares,
}

/// Reads the table, with times as seconds since 1970; transactions about something else are left out. `file`
/// names it in messages.
///
/// # Errors
/// No table; a missing column. A row that cannot be read goes to `left`.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Vec<SharesGiven>, InputError> {
    let table = Table::parse(file, text, left)?;
    let [time, action, actor, user, account, info] =
        ["Time", "Action", "Actor", "User", "Account", "Info"].map(|name| table.column(name));
    let (time, action, actor) = (time?, action?, actor?);
    let (user, account, info) = (user?, account?, info?);
    let mut found = Vec::new();
    for row in &table.rows {
        if row.cell(action) != "Modify Associations" {
            continue;
        }
        // `shares=30,max_jobs=4`
        let pairs = row.cell(info).split(',').map(str::trim);
        let Some(shares) = pairs
            .filter_map(|pair| pair.strip_prefix("shares="))
            .find_map(assoc::shares)
        else {
            continue;
        };
        let at = table.number(row, time, "seconds since 1970");
        let Some(time) = left.keep(at)? else {
            continue;
        };
        found.push(SharesGiven {
            time,
            actor: row.cell(actor).to_owned(),
            users: names(row.cell(user)),
            accounts: names(row.cell(account)),
            shares,
        });
    }
    Ok(found)
}

fn names(list: &str) -> Vec<String> {
    let names = list.split(',').filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by sacctmgr 22.05.8 with SLURM_TIME_FORMAT=%s.
    const TABLE: &str = "Time|Action|Actor|User|Account|Info\n\
        1795899600|Add Associations|root||left|mod_time=1795899600,acct='left',parent_acct='upper'\n\
        1795899700|Modify Associations|ft-dan||left|shares=30\n\
        1795899800|Modify Associations|root|ft-ann,ft-bob|left|shares=2147483647\n\
        1795899900|Modify Associations|root||left|max_jobs=3\n\
        x|Modify Associations|root||left|shares=3\n";

    #[test]
    fn only_shares_are_read() {
        let mut left = LeftOut::default();
        let found = read("f", TABLE, &mut left).unwrap();
        assert_eq!(left.count(), 1);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].time, 1_795_899_700);
        assert_eq!(found[0].actor, "ft-dan");
        assert_eq!((&*found[0].accounts[0], found[0].users.len()), ("left", 0));
        assert_eq!(found[0].shares, Shares::Raw(30));
        assert_eq!(found[1].users, ["ft-ann", "ft-bob"]);
        assert_eq!(found[1].shares, Shares::Parent);
    }
}
