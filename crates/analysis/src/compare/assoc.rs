//! Associations of two listings: which are the same, and what they are called.

use std::collections::HashMap;

use fairtree_model::input::sshare::SshareRow;

/// Account, user and partition, empty where a row has none; and how many rows before it have the same
/// ones: without the column `Partition` a user's associations in an account look alike.
pub(super) type Key<'a> = ((&'a str, &'a str, &'a str), usize);

/// A key per row: rows of two listings with the same key are the same association.
pub(super) fn keys(rows: &[SshareRow]) -> Vec<Key<'_>> {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    let key = |row| {
        let names = names(row);
        let count = seen.entry(names).or_default();
        *count += 1;
        (names, *count - 1)
    };
    rows.iter().map(key).collect()
}

/// Account, user and partition; empty where a row has none.
pub(super) fn names(row: &SshareRow) -> (&str, &str, &str) {
    (
        row.account.as_deref().unwrap_or(""),
        row.user.as_deref().unwrap_or(""),
        row.partition.as_deref().unwrap_or(""),
    )
}

/// Its name in reports: `physics`, `alice@physics`, `alice@physics in gpu`.
pub(super) fn name(row: &SshareRow) -> String {
    let (account, user, partition) = names(row);
    match (user, partition) {
        ("", _) => account.to_owned(),
        (user, "") => format!("{user}@{account}"),
        (user, partition) => format!("{user}@{account} in {partition}"),
    }
}
