//! Which rows of a report are asked for.

use super::{ShareReport, ShareRow};
use fairtree_model::input::sshare::RowKind;

/// Which rows are shown.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// `-A`: only these accounts and their users, whatever the case; empty: all.
    pub accounts: Vec<String>,
    /// `-u`: of the users only these, whatever the case; empty: all.
    pub users: Vec<String>,
    /// `-U`: no accounts.
    pub users_only: bool,
}

/// The rows of a report that a selection shows, ascending.
pub fn select(report: &ShareReport, select: &Select) -> Vec<usize> {
    let among = |list: &[String], name: Option<&str>| {
        let name = name.unwrap_or("");
        list.is_empty() || list.iter().any(|one| one.eq_ignore_ascii_case(name))
    };
    let shown = |row: &ShareRow| {
        let user = row.kind == RowKind::User;
        among(&select.accounts, row.account.as_deref())
            && (!user || among(&select.users, row.user.as_deref()))
            && (user || !select.users_only)
    };
    let rows = report.rows.iter().enumerate();
    rows.filter(|(_, row)| shown(row))
        .map(|(at, _)| at)
        .collect()
}
