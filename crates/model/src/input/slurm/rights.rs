//! Who may see and change what: coordinators of accounts, levels of users, settings of slurmdbd.

use super::config::value_of;
use super::table::Table;
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;

/// An account and the users who coordinate it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coordinated {
    /// The account.
    pub account: String,
    /// The users; those of accounts above may be among them.
    pub users: Vec<String>,
}

/// Level of a user in slurmdbd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum AdminLevel {
    /// No rights beyond own data.
    None,
    /// Sees and changes associations of all.
    Operator,
    /// Everything.
    Administrator,
}

impl AdminLevel {
    /// As sacctmgr prints it.
    pub const fn name(self) -> &'static str {
        match self {
            AdminLevel::None => "None",
            AdminLevel::Operator => "Operator",
            AdminLevel::Administrator => "Administrator",
        }
    }
}

/// Reads `sacctmgr -P show account withcoord format=Account,Coordinators`. `file` names it in
/// messages.
///
/// # Errors
/// No table; a missing column. A row that cannot be read goes to `left`.
pub fn coordinators(
    file: &str,
    text: &str,
    left: &mut LeftOut,
) -> Result<Vec<Coordinated>, InputError> {
    let table = Table::parse(file, text, left)?;
    let account = table.column("Account")?;
    let users = match table.optional("Coord Accounts") {
        Some(users) => users,
        None => table.column("Coordinators")?,
    };
    let rows = table
        .rows
        .iter()
        .filter(|row| !row.cell(account).is_empty());
    let coordinated = rows.map(|row| Coordinated {
        account: row.cell(account).to_owned(),
        users: names(row.cell(users)),
    });
    Ok(coordinated.collect())
}

fn names(list: &str) -> Vec<String> {
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty());
    names.map(str::to_owned).collect()
}

/// Reads `sacctmgr -P show user format=User,AdminLevel`. `file` names it in messages.
///
/// # Errors
/// No table; a missing column. A row that cannot be read goes to `left`.
pub fn admin_levels(
    file: &str,
    text: &str,
    left: &mut LeftOut,
) -> Result<Vec<(String, AdminLevel)>, InputError> {
    let table = Table::parse(file, text, left)?;
    let user = table.column("User")?;
    let level = match table.optional("Admin") {
        Some(level) => level,
        None => table.column("AdminLevel")?,
    };
    let mut rows = Vec::with_capacity(table.rows.len());
    for row in table.rows.iter().filter(|row| !row.cell(user).is_empty()) {
        let read = match row.cell(level) {
            "None" | "Not Set" | "" => Ok(AdminLevel::None),
            "Operator" => Ok(AdminLevel::Operator),
            "Administrator" => Ok(AdminLevel::Administrator),
            _ => Err(table.value(row, level, "None, Operator or Administrator")),
        };
        rows.extend(
            left.keep(read)?
                .map(|level| (row.cell(user).to_owned(), level)),
        );
    }
    Ok(rows)
}

/// Returns true if `sacctmgr show config` says that coordinators may change nothing
/// (`DisableCoordDBD`).
pub fn coordinators_disabled(text: &str) -> bool {
    value_of(text, "DisableCoordDBD").is_some_and(|value| value.eq_ignore_ascii_case("yes"))
}

#[cfg(test)]
mod tests {
    use super::*;

    // The form: sacctmgr 22.05.8, `src/sacctmgr/common.c` for the headings.
    #[test]
    fn coordinators_and_levels() {
        let mut left = LeftOut::default();
        let text = "Account|Coord Accounts\nroot|\nphysics|ann,bob\n";
        let read = coordinators("f", text, &mut left).unwrap();
        assert_eq!(read[0].users, [] as [&str; 0]);
        assert_eq!(read[1].users, ["ann", "bob"]);
        let text = "User|Admin\nroot|Administrator\nann|None\nbob|Operator\neve|God\n";
        let read = admin_levels("f", text, &mut left).unwrap();
        assert_eq!(read[0].1, AdminLevel::Administrator);
        assert_eq!(
            (read[1].1, read[2].1),
            (AdminLevel::None, AdminLevel::Operator)
        );
        assert_eq!((read.len(), left.count()), (3, 1));
        assert!(coordinators("f", "Account\nx\n", &mut left).is_err());
    }

    #[test]
    fn coordinators_may_be_disabled() {
        assert!(coordinators_disabled(
            "DisableCoordDBD        = Yes\nPrivateData = none\n"
        ));
        assert!(!coordinators_disabled("DisableCoordDBD        = No\n"));
        assert!(!coordinators_disabled(""));
    }
}
