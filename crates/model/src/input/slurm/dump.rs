//! The file that `sacctmgr dump CLUSTER` writes and `sacctmgr load` reads: QOS, a cluster, parents,
//! accounts and users, each with options after colons.
//!
//! As in Slurm's reader a backslash joins a line to the next, `#` begins a comment, and any beginning
//! of `FairShare` or `Shares` names the shares. A second line of an account or a user changes the
//! options that it names. QOS are checked and not kept.
//!
//! Trap: a dump writes `Fairshare=parent` as `Fairshare=2147483647`.
//!
//! Source: sacctmgr of Slurm 22.05.8 and 26.05.3, `file_functions.c` (`load_sacctmgr_cfg_file`).

use std::collections::HashMap;
use std::sync::Arc;

use super::assoc::{self, AssocRow, SHARES_ALLOWED};
use crate::input::error::{InputError, Problem};
use crate::input::lines::plain;
use crate::input::prompt::is_prompt;
use fairtree::tree::Shares;

/// Contents of a dump.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// Name of the cluster.
    pub cluster: Option<String>,
    /// The associations, root first.
    pub rows: Vec<AssocRow>,
}

/// The object of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Qos,
    Cluster,
    Parent,
    Account,
    User,
}

impl Kind {
    /// The object that a word names, in any case.
    fn of(word: &str) -> Option<Kind> {
        let kinds = [
            ("QOS", Kind::Qos),
            ("Cluster", Kind::Cluster),
            ("Machine", Kind::Cluster),
            ("Parent", Kind::Parent),
            ("Account", Kind::Account),
            ("User", Kind::User),
        ];
        let mut kinds = kinds.into_iter();
        let found = kinds.find(|(known, _)| known.eq_ignore_ascii_case(word));
        found.map(|(_, kind)| kind)
    }
}

/// Returns true if `line` is an object line of a dump: `Cluster - 'c':Fairshare=1`.
pub fn begins(line: &str) -> bool {
    let Some((word, rest)) = line.split_once('-') else {
        return false;
    };
    let named = rest.starts_with([' ', '\'', '"']) && !rest.trim().is_empty();
    named && Kind::of(word.trim()).is_some()
}

/// Reads a dump. `file` names it in messages.
///
/// # Errors
/// Lines that do not begin with `QOS`, `Cluster`, `Parent`, `Account` or `User`; QOS after the
/// cluster; a second cluster; quotes that do not close; shares out of range; keys that look like
/// shares and are not; accounts and users before the first `Parent` or below an account that does
/// not exist yet.
pub fn read(file: &str, text: &str) -> Result<Dump, InputError> {
    let text = &*plain(text.into());
    let mut reader = Reader {
        cluster: None,
        rows: vec![AssocRow {
            account: ROOT.into(),
            user: None,
            partition: None,
            parent: None,
            shares: Shares::Raw(1),
            priority: 0,
            qos: Arc::default(),
            limits: None,
        }],
        parent: None,
        accounts: HashMap::from([(ROOT.to_owned(), 0)]),
        users: HashMap::new(),
    };
    let mut lines = text.trim_start_matches('\u{feff}').lines().enumerate();
    let mut any = false;
    while let Some((number, first)) = lines.next() {
        // The command that printed the file, pasted along.
        if !any && is_prompt(first) {
            continue;
        }
        let text = joined(first, || lines.next().map(|(_, line)| line));
        if text.trim().is_empty() {
            continue;
        }
        any = true;
        let line = DumpLine {
            file,
            number: number + 1,
            text: &text,
        };
        reader.take(&line)?;
    }
    if reader.cluster.is_none() && reader.parent.is_none() {
        return Err(InputError::new(file, Problem::Empty).hint("give a file of sacctmgr dump"));
    }
    Ok(Dump {
        cluster: reader.cluster,
        rows: reader.rows,
    })
}

const ROOT: &str = "root";

/// A line without comment and escapes, with those that it is continued in.
fn joined<'t>(first: &'t str, mut next: impl FnMut() -> Option<&'t str>) -> String {
    let mut text = String::new();
    let (mut line, mut quote) = (first, None);
    loop {
        let code = without_comment(line, &mut quote);
        match continued(code) {
            Some(before) => text.push_str(before),
            None => {
                text.push_str(code);
                break;
            }
        }
        match next() {
            Some(more) => line = more,
            None => break,
        }
    }
    if !text.contains('\\') {
        return text;
    }
    let mut chars = text.chars();
    let mut plain = String::with_capacity(text.len());
    while let Some(c) = chars.next() {
        plain.extend(if c == '\\' { chars.next() } else { Some(c) });
    }
    plain
}

/// The part of a line before its comment. `quote` is the quote that is open at its start, and then
/// at its end. Inside of quotes `#` is text: a dump writes descriptions so.
fn without_comment<'t>(line: &'t str, quote: &mut Option<u8>) -> &'t str {
    let bytes = line.as_bytes();
    let (mut backslashes, mut said) = (0, b' ');
    for (at, &byte) in bytes.iter().enumerate() {
        match (byte, *quote) {
            (b'#', None) if backslashes % 2 == 0 => return &line[..at],
            (b'\'' | b'"', None) if matches!(said, b'=' | b'-') => *quote = Some(byte),
            (byte, Some(open)) if byte == open && closes(&line[at + 1..]) => *quote = None,
            _ => {}
        }
        backslashes = if byte == b'\\' { backslashes + 1 } else { 0 };
        if !byte.is_ascii_whitespace() {
            said = byte;
        }
    }
    line
}

/// Returns true if a quote with `after` following it is the end of a text: then comes a colon, a
/// comment, or the end of the line, which is never so after a quote inside a text.
fn closes(after: &str) -> bool {
    let after = after.trim_start();
    after.is_empty() || after.starts_with([':', '#', '\\'])
}

/// The part of a line before the backslash that joins it to the next; `None` without one.
fn continued(code: &str) -> Option<&str> {
    let code = code.trim_end();
    let backslashes = code.bytes().rev().take_while(|&b| b == b'\\').count();
    (backslashes % 2 == 1).then(|| &code[..code.len() - 1])
}

/// The associations so far.
struct Reader {
    cluster: Option<String>,
    rows: Vec<AssocRow>,
    /// The account of the last `Parent` line.
    parent: Option<String>,
    /// The row of each account.
    accounts: HashMap<String, usize>,
    /// The row of each account, user and partition.
    users: HashMap<(String, String, Option<String>), usize>,
}

impl Reader {
    fn take(&mut self, line: &DumpLine<'_>) -> Result<(), InputError> {
        let (kind, name, options) = line.parts()?;
        match kind {
            Kind::Qos if self.cluster.is_some() => {
                let why = "a QOS after the cluster".to_owned();
                let hint = "sacctmgr load takes QOS lines before the Cluster line only";
                return Err(line.error(why, 0).hint(hint));
            }
            Kind::Qos => {}
            Kind::Cluster => {
                if let Some(known) = &self.cluster {
                    let why = format!("a second cluster, {name} after {known}");
                    let hint = "a file holds one cluster, as sacctmgr load takes it: put this line \
                                and those after it into a file of their own";
                    return Err(line.error(why, 0).hint(hint));
                }
                self.cluster = Some(name);
            }
            Kind::Parent => {
                let name = name.to_lowercase();
                if !self.accounts.contains_key(&name) {
                    return Err(line.error(format!("the account {name} is not there yet"), 0));
                }
                self.parent = Some(name);
            }
            Kind::Account | Kind::User => self.assoc(line, kind, name, &options)?,
        }
        Ok(())
    }

    /// Adds an account or a user, or changes an existing one.
    fn assoc(
        &mut self,
        line: &DumpLine<'_>,
        kind: Kind,
        name: String,
        options: &[OptionOf],
    ) -> Result<(), InputError> {
        let Some(above) = self.parent.clone() else {
            return Err(line.error("no Parent line before it".into(), 0));
        };
        let said = line.said(options)?;
        let next = self.rows.len();
        let user = kind == Kind::User;
        let at = match user {
            true => {
                let key = (above.clone(), name.clone(), said.partition.clone());
                *self.users.entry(key).or_insert(next)
            }
            false => *self.accounts.entry(name.to_lowercase()).or_insert(next),
        };
        if at == next {
            self.rows.push(AssocRow {
                account: if user {
                    above.clone()
                } else {
                    name.to_lowercase()
                },
                parent: (!user).then_some(above),
                user: user.then_some(name),
                partition: said.partition,
                shares: Shares::Raw(1),
                priority: 0,
                qos: Arc::default(),
                limits: None,
            });
        } else if let Some(known) = self.rows[at].parent.as_ref().filter(|it| **it != above) {
            let why =
                format!("the account {name} is below {known} already, and here below {above}");
            return Err(line.error(why, 0));
        }
        let row = &mut self.rows[at];
        row.shares = said.shares.unwrap_or(row.shares);
        row.priority = said.priority.unwrap_or(row.priority);
        Ok(())
    }
}

struct DumpLine<'a> {
    file: &'a str,
    number: usize,
    text: &'a str,
}

/// Name, value, byte of the value.
type OptionOf = (String, String, usize);

/// The options of an association that are kept, as far as a line names them.
struct Said {
    partition: Option<String>,
    shares: Option<Shares>,
    priority: Option<u32>,
}

impl DumpLine<'_> {
    fn error(&self, why: String, at: usize) -> InputError {
        InputError::new(self.file, Problem::Structure(why))
            .at_line(self.number, self.text)
            .at_column(self.text[..at].chars().count() + 1)
    }

    /// `Kind - 'name':Option=value:Option='value'`.
    fn parts(&self) -> Result<(Kind, String, Vec<OptionOf>), InputError> {
        let (word, _) = self.text.split_once('-').unwrap_or((self.text, ""));
        let Some(kind) = Kind::of(word.trim()) else {
            let why = "a line of a dump begins with QOS, Cluster, Parent, Account or User".into();
            return Err(self.error(why, 0));
        };
        let mut at = self.text.find('-').map_or(self.text.len(), |dash| dash + 1);
        at += self.text[at..].len() - self.text[at..].trim_start().len();
        let (name, mut at) = self.value(at)?;
        if name.is_empty() {
            return Err(self.error(format!("{} has no name", word.trim()), at));
        }
        let mut options = Vec::new();
        while let Some(rest) = self.text[at..].strip_prefix(':') {
            let start = at + 1;
            let equals = rest
                .find(['=', ':'])
                .filter(|&end| rest.as_bytes()[end] == b'=');
            let Some(equals) = equals else {
                let end = rest.find(':').unwrap_or(rest.len());
                // A colon after the last option, or two after one.
                if rest[..end].trim().is_empty() {
                    at = start + end;
                    continue;
                }
                return Err(self.error("an option without =".into(), start));
            };
            let value_at = start + equals + 1;
            let (value, end) = self.value(value_at)?;
            options.push((rest[..equals].trim().to_owned(), value, value_at));
            at = end;
        }
        if !self.text[at..].trim().is_empty() {
            return Err(self.error("text after the last option".into(), at));
        }
        Ok((kind, name, options))
    }

    /// The value at a byte, in quotes or up to a colon, and the byte of what follows.
    fn value(&self, at: usize) -> Result<(String, usize), InputError> {
        let rest = &self.text[at..];
        for quote in ['\'', '"'] {
            if let Some(inside) = rest.strip_prefix(quote) {
                let mut ends = inside.match_indices(quote).map(|(end, _)| end);
                let Some(end) = ends.find(|end| closes(&inside[end + 1..])) else {
                    return Err(self.error("a quote that does not close".into(), at));
                };
                let after = at + end + 2;
                let blanks = self.text[after..].len() - self.text[after..].trim_start().len();
                return Ok((inside[..end].to_owned(), after + blanks));
            }
        }
        let end = rest.find(':').unwrap_or(rest.len());
        Ok((rest[..end].trim_end().to_owned(), at + end))
    }

    fn said(&self, options: &[OptionOf]) -> Result<Said, InputError> {
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
        let mut said = Said {
            partition: None,
            shares: None,
            priority: None,
        };
        for option in options {
            let (key, value, at) = option;
            if begins_name(key, "Partition", 1) {
                said.partition = Some(value.clone()).filter(|name| !name.is_empty());
            } else if begins_name(key, "FairShare", 1) || begins_name(key, "Shares", 1) {
                let shares = assoc::shares(value).ok_or_else(|| refused(option, SHARES_ALLOWED))?;
                said.shares = Some(shares);
            } else if begins_name(key, "Priority", 2) {
                let allowed = "a whole number from 0 to 4294967295";
                said.priority = Some(value.parse().map_err(|_| refused(option, allowed))?);
            } else if is_like_shares(key) {
                let why =
                    format!("the option {key:?} is not known; allowed is Fairshare or Shares");
                return Err(self.error(why, at - 1 - key.len()));
            }
        }
        Ok(said)
    }
}

/// Returns true if `key` is a beginning of `name`, in any case, of at least `least` letters.
fn begins_name(key: &str, name: &str, least: usize) -> bool {
    let start = name.get(..key.len());
    key.len() >= least && start.is_some_and(|start| start.eq_ignore_ascii_case(key))
}

/// Returns true if `key` could mean the shares: without it each association has one.
fn is_like_shares(key: &str) -> bool {
    let key = key.to_lowercase();
    strsim::osa_distance(&key, "fairshare") <= 2
        || strsim::osa_distance(&key, "shares") <= 1
        || key.contains("fair")
        || key.contains("share")
}

#[cfg(test)]
mod tests;
