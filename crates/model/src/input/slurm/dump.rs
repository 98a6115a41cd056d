//! The file that `sacctmgr dump CLUSTER` writes: clusters, parents, accounts and users, each with
//! options after colons.
//!
//! Trap: it writes `Fairshare=parent` as `Fairshare=2147483647`.

use std::collections::HashSet;

use super::assoc::{self, AssocRow, SHARES_ALLOWED};
use crate::input::error::{InputError, Problem};
use crate::input::lines::plain;
use fairtree::tree::Shares;

/// What a dump holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// The associations, root first.
    pub rows: Vec<AssocRow>,
}

/// Whether `line` can be the first of a dump that says anything: not a comment.
pub fn begins(line: &str) -> bool {
    let word = |word: &str| {
        let rest = line.trim_start().strip_prefix(word);
        rest.is_some_and(|rest| rest.trim_start().starts_with("- '"))
    };
    word("Cluster") || word("Parent") || word("Account") || word("User")
}

/// Reads a dump. `file` names it in messages.
///
/// # Errors
/// Lines that are none of `Cluster`, `Parent`, `Account`, `User`; quotes that do not close; shares
/// out of range; accounts and users before the first `Parent` or below an account that is not
/// there yet.
pub fn read(file: &str, text: &str) -> Result<Dump, InputError> {
    let text = &*plain(text.into());
    let mut dump = Dump {
        cluster: None,
        rows: vec![AssocRow {
            account: "root".into(),
            user: None,
            partition: None,
            parent: None,
            shares: Shares::Raw(1),
            priority: 0,
        }],
    };
    let mut parent: Option<String> = None;
    let mut known = HashSet::from(["root".to_owned()]);
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    for (number, line) in lines {
        if line.trim().is_empty() || line.trim_start().starts_with('#') {
            continue;
        }
        let line = Line {
            file,
            number: number + 1,
            text: line,
        };
        let (kind, name, options) = line.parts()?;
        match kind {
            "Cluster" => dump.cluster = Some(name),
            "Parent" => {
                if !known.contains(&name) {
                    return Err(line.error(format!("the account {name} is not there yet"), 0));
                }
                parent = Some(name);
            }
            _ => {
                let Some(above) = &parent else {
                    return Err(line.error("no Parent line before it".into(), 0));
                };
                let row = line.row(kind, name, above, &options)?;
                if row.user.is_none() {
                    known.insert(row.account.clone());
                }
                dump.rows.push(row);
            }
        }
    }
    if dump.cluster.is_none() && parent.is_none() {
        return Err(InputError::new(file, Problem::Empty).hint("give a file of sacctmgr dump"));
    }
    Ok(dump)
}

struct Line<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

/// Name, value, byte of the value.
type OptionOf = (String, String, usize);

impl<'a> Line<'a> {
    fn error(&self, why: String, at: usize) -> InputError {
        InputError::new(self.file, Problem::Structure(why))
            .at_line(self.number, self.text)
            .at_column(self.text[..at].chars().count() + 1)
    }

    /// `Kind - 'name':Option=value:Option='value'`.
    fn parts(&self) -> Result<(&'a str, String, Vec<OptionOf>), InputError> {
        let kinds = ["Cluster", "Parent", "Account", "User"];
        let (kind, _) = self.text.split_once('-').unwrap_or((self.text, ""));
        let Some(kind) = kinds.into_iter().find(|known| *known == kind.trim()) else {
            let why = "a line of a dump begins with Cluster, Parent, Account or User".into();
            return Err(self.error(why, 0));
        };
        let mut at = self.text.find('-').map_or(self.text.len(), |dash| dash + 1);
        at += self.text[at..].len() - self.text[at..].trim_start().len();
        let (name, mut at) = self.value(at)?;
        if name.is_empty() {
            return Err(self.error(format!("{kind} has no name"), at));
        }
        let mut options = Vec::new();
        while let Some(rest) = self.text[at..].strip_prefix(':') {
            let start = at + 1;
            let Some(equals) = rest.find('=') else {
                return Err(self.error("an option without =".into(), start));
            };
            let value_at = start + equals + 1;
            let (value, end) = self.value(value_at)?;
            options.push((rest[..equals].to_owned(), value, value_at));
            at = end;
        }
        if !self.text[at..].trim().is_empty() {
            return Err(self.error("text after the last option".into(), at));
        }
        Ok((kind, name, options))
    }

    /// The value at a byte, in quotes or up to a colon, and the byte after it.
    fn value(&self, at: usize) -> Result<(String, usize), InputError> {
        let rest = &self.text[at..];
        for quote in ['\'', '"'] {
            if let Some(inside) = rest.strip_prefix(quote) {
                // A quote inside of the text is followed by neither colon nor end.
                let closes = |end: &usize| {
                    let after = &inside[end + 1..];
                    after.trim().is_empty() || after.starts_with(':')
                };
                let mut ends = inside.match_indices(quote).map(|(end, _)| end);
                return match ends.find(closes) {
                    Some(end) => Ok((inside[..end].to_owned(), at + end + 2)),
                    None => Err(self.error("a quote that does not close".into(), at)),
                };
            }
        }
        let end = rest.find(':').unwrap_or(rest.trim_end().len());
        Ok((rest[..end].to_owned(), at + end))
    }

    fn row(
        &self,
        kind: &str,
        name: String,
        above: &str,
        options: &[OptionOf],
    ) -> Result<AssocRow, InputError> {
        let find = |key: &str| {
            options
                .iter()
                .rfind(|(name, _, _)| name.eq_ignore_ascii_case(key))
        };
        let user = kind == "User";
        let mut row = AssocRow {
            account: if user { above.to_owned() } else { name.clone() },
            parent: (!user).then(|| above.to_owned()),
            user: user.then_some(name),
            partition: find("Partition").map(|(_, value, _)| value.clone()),
            shares: Shares::Raw(1),
            priority: 0,
        };
        let refused = |(key, value, at): &OptionOf, allowed: &str| {
            let problem = Problem::Value {
                what: key.clone(),
                found: value.chars().take(80).collect(),
                allowed: allowed.into(),
            };
            InputError::new(self.file, problem)
                .at_line(self.number, self.text)
                .at_column(self.text[..*at].chars().count() + 1)
        };
        if let Some(found) = find("Fairshare").or(find("Shares")) {
            row.shares = assoc::shares(&found.1).ok_or_else(|| refused(found, SHARES_ALLOWED))?;
        }
        if let Some(found) = find("Priority") {
            let allowed = "a whole number from 0 to 4294967295";
            row.priority = found.1.parse().map_err(|_| refused(found, allowed))?;
        }
        Ok(row)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DUMP: &str = "# To edit this file\nCluster - 'c':Fairshare=1:QOS='a,b'\nParent - 'root'\n\
                        Account - 'p':Description='it's a: thing':Fairshare=40:Priority=5\nParent - 'p'\n\
                        User - 'u':DefaultAccount='p':Partition='x':Fairshare=2147483647\n";

    #[test]
    fn options_quotes_and_the_number_of_parent() {
        let dump = read("f", DUMP).unwrap();
        assert_eq!(dump.cluster.as_deref(), Some("c"));
        assert_eq!(dump.rows[1].shares, Shares::Raw(40));
        assert_eq!(dump.rows[1].priority, 5);
        assert_eq!(dump.rows[2].shares, Shares::Parent);
        assert_eq!(dump.rows[2].partition.as_deref(), Some("x"));
    }

    #[test]
    fn wrong_lines_are_errors_at_their_place() {
        for (text, place) in [
            ("", None),
            ("Nonsense\n", Some((1, Some(1)))),
            ("Parent - 'nobody'\n", Some((1, Some(1)))),
            ("Account - 'a'\n", Some((1, Some(1)))),
            (
                "Parent - 'root'\nUser - 'u':Fairshare=-5\n",
                Some((2, Some(22))),
            ),
            (
                "Parent - 'root'\nUser - 'u:Fairshare=5\n",
                Some((2, Some(8))),
            ),
            (
                "Parent - 'root'\nUser - 'u':Fairshare\n",
                Some((2, Some(12))),
            ),
        ] {
            let error = read("f", text).unwrap_err();
            assert_eq!(
                error.line.map(|line| (line, error.column)),
                place,
                "{text:?} {error}"
            );
        }
    }
}
