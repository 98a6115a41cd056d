//! Parent of each row in a listing.
//!
//! sshare draws a row one blank further right than the account above it, provided that it printed
//! that account, too (with `-A` it may not have); otherwise the row starts at the margin. An
//! account occurs once in a listing, so a row without a user that repeats the account above it is a
//! user's row whose User column was not asked for.

use std::collections::HashMap;

use super::{Column, Listing, SshareRow};

/// Kind of a row: an account's or a user's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowKind {
    /// An account.
    Account,
    /// A user in an account.
    User,
}

/// Position of one row in the drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// Account or user.
    pub kind: RowKind,
    /// The row of the account above; `None` for the root and where that was not printed.
    pub parent: Option<usize>,
}

/// One link per row.
pub fn links(listing: &Listing) -> Vec<Link> {
    let users_shown = listing.has(Column::User);
    // The rows of the accounts from the margin to the latest row, by depth.
    let mut path: Vec<usize> = Vec::new();
    let mut by_name: HashMap<&str, usize> = HashMap::new();
    let mut links = Vec::with_capacity(listing.rows.len());
    for (at, row) in listing.rows.iter().enumerate() {
        let rows = &listing.rows;
        if !listing.depth_hidden {
            path.truncate(
                path.iter()
                    .rposition(|&above| rows[above].depth < row.depth)
                    .map_or(0, |last| last + 1),
            );
        }
        let above = path
            .last()
            .copied()
            .filter(|&above| rows[above].depth + 1 == row.depth);
        let is_user = match (&row.user, users_shown) {
            (Some(_), _) => true,
            (None, true) => false,
            (None, false) => above.is_some_and(|above| repeats(row, &rows[above])),
        };
        let parent = match (&row.account, is_user) {
            (Some(name), true) if !row.account_cut => by_name.get(name.as_str()).copied().or(above),
            (Some(_), true) => above.filter(|&above| repeats(row, &rows[above])),
            _ => above,
        };
        let kind = if is_user {
            RowKind::User
        } else {
            if let Some(name) = &row.account {
                by_name.entry(name).or_insert(at);
                if !listing.depth_hidden {
                    path.push(at);
                }
            }
            RowKind::Account
        };
        links.push(Link { kind, parent });
    }
    links
}

/// Returns true if two rows name one account, as far as their columns show it.
fn repeats(row: &SshareRow, above: &SshareRow) -> bool {
    let (Some(name), Some(other)) = (&row.account, &above.account) else {
        return false;
    };
    match (row.account_cut, above.account_cut) {
        (false, _) => name == other,
        // Cut one deeper, the same name loses one more character.
        (true, false) => other.starts_with(&name[..name.len() - 1]),
        (true, true) => other[..other.len() - 1].starts_with(&name[..name.len() - 1]),
    }
}

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;

    fn drawn(text: &str) -> Vec<(char, Option<usize>)> {
        let listing = read("f", text.as_bytes()).unwrap();
        let short = |link: Link| match link.kind {
            RowKind::Account => ('a', link.parent),
            RowKind::User => ('u', link.parent),
        };
        links(&listing).into_iter().map(short).collect()
    }

    #[test]
    fn depth_gives_the_parent() {
        assert_eq!(
            drawn("Account|User\nroot|\n root|adm\n a|\n  a|x\n  b|\n   b|x\n c|\n"),
            [
                ('a', None),
                ('u', Some(0)),
                ('a', Some(0)),
                ('u', Some(2)),
                ('a', Some(2)),
                ('u', Some(4)),
                ('a', Some(0))
            ]
        );
    }

    #[test]
    fn without_the_user_column_a_repeated_account_is_a_user() {
        assert_eq!(
            drawn("Account|RawShares\n a|20\n  b|1\n   b|1\n  c|12\n"),
            [('a', None), ('a', Some(0)), ('u', Some(1)), ('a', Some(0))]
        );
    }

    #[test]
    fn rows_whose_account_was_not_printed_have_no_parent() {
        assert_eq!(
            drawn("Account|User\na|x\nb|x\n  c|\n   c|x\n"),
            [('u', None), ('u', None), ('a', None), ('u', Some(2))]
        );
    }

    #[test]
    fn names_cut_by_a_narrow_column_still_match() {
        assert_eq!(
            drawn("Account RawS\n------- ----\n phys+     1\n  phy+     1\n"),
            [('a', None), ('a', Some(0))],
            "neither row fills its column, so neither is cut"
        );
        assert_eq!(
            drawn("Account RawS\n------- ----\nroot\n physi+    1\n  phys+    1\n"),
            [('a', None), ('a', Some(0)), ('u', Some(1))]
        );
    }
}
