//! Associations of two listings: which are the same, and what they are called.

use fairtree_model::input::sshare::SshareRow;

/// Account, user and partition; empty where a row has none.
pub(super) type Key<'a> = (&'a str, &'a str, &'a str);

/// What makes rows of two listings the same association.
pub(super) fn key(row: &SshareRow) -> Key<'_> {
    (
        row.account.as_deref().unwrap_or(""),
        row.user.as_deref().unwrap_or(""),
        row.partition.as_deref().unwrap_or(""),
    )
}

/// Its name in reports: `physics`, `alice@physics`, `alice@physics in gpu`.
pub(super) fn name(row: &SshareRow) -> String {
    let (account, user, partition) = key(row);
    match (user, partition) {
        ("", _) => account.to_owned(),
        (user, "") => format!("{user}@{account}"),
        (user, partition) => format!("{user}@{account} in {partition}"),
    }
}
