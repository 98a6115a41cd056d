//! The commands that give shares and minutes: lines of sacctmgr, and the change of a file as a patch.

use std::borrow::Cow;

use serde::Serialize;
use toml_edit::{DocumentMut, Item, TableLike, Value};

use fairtree::tree::Shares;
use fairtree_model::cluster::AssocName;

/// A file in TOML: its name, and its text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Name for commands.
    pub name: String,
    /// Its text; `None`: not known, and the change is described instead of a patch.
    pub text: Option<String>,
}

/// Where shares and minutes are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kept {
    /// Shares in Slurm's accounting; minutes, as far as they are no shares, in a policy file.
    Slurm {
        /// The policy file; `None`: the site names none.
        policy: Option<Written>,
    },
    /// All in one file: a site of machines.
    File(Written),
}

/// Commands to run, in this order. Nothing of it was run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Commands {
    /// Lines for a shell.
    pub lines: Vec<String>,
    /// Change of a file, as `patch FILE` takes it.
    pub patch: Option<String>,
    /// Lines for a shell after the file was changed.
    pub then: Vec<String>,
}

/// A value that changes: of an association with this name.
#[derive(Clone, Debug)]
pub(super) enum Given<'a> {
    Shares(&'a AssocName, Shares),
    Minutes(&'a AssocName, u64),
}

/// The commands for these values. `cluster`: its name in the accounting database.
///
/// # Errors
/// A file whose text is not TOML: its name and the error.
pub(super) fn commands(
    kept: &Kept,
    cluster: Option<&str>,
    given: &[Given<'_>],
) -> Result<Commands, String> {
    let mut commands = Commands::default();
    let mut edits = Vec::new();
    let file = match kept {
        Kept::Slurm { policy } => {
            for value in given {
                match value {
                    Given::Shares(name, shares) => {
                        commands.lines.push(sacctmgr(cluster, name, *shares));
                    }
                    Given::Minutes(..) => edits.push(value.clone()),
                }
            }
            policy.as_ref()
        }
        Kept::File(file) => {
            edits.extend(given.iter().cloned());
            Some(file)
        }
    };
    if edits.is_empty() {
        return Ok(commands);
    }
    let name = file.map_or("the policy file", |file| &file.name);
    match file.and_then(|file| file.text.as_ref()) {
        Some(text) => {
            let after = edited(text, &edits).map_err(|error| format!("{name}: {error}"))?;
            let mut options = diffy::DiffOptions::new();
            options.set_original_filename(name.to_owned());
            options.set_modified_filename(name.to_owned());
            let patch = options.create_patch(text, &after);
            commands.patch = Some(patch.to_string());
        }
        None => commands.lines.extend(edits.iter().map(|edit| {
            let (path, value) = edit.entry();
            format!("# in {name}: {} = {value}", path.join("."))
        })),
    }
    if let Kept::Slurm { .. } = kept {
        commands.then.push("scontrol reconfigure".to_owned());
    }
    Ok(commands)
}

/// The command that sets the number of an association, up to the number: a line of sacctmgr, or the key
/// in its file. `minutes`: it has minutes in a file.
pub fn command_prefix(
    kept: &Kept,
    cluster: Option<&str>,
    name: &AssocName,
    minutes: bool,
) -> String {
    let given = match minutes {
        true => Given::Minutes(name, 0),
        false => Given::Shares(name, Shares::Raw(0)),
    };
    let line = match (kept, minutes) {
        (Kept::Slurm { .. }, false) => sacctmgr(cluster, name, Shares::Raw(0)),
        (Kept::File(_), _) | (Kept::Slurm { .. }, true) => {
            let (path, value) = given.entry();
            format!("{} = {value}", path.join("."))
        }
    };
    line.strip_suffix('0').unwrap_or(&line).to_owned()
}

impl Given<'_> {
    /// Its keys in a file, and its value there.
    fn entry(&self) -> (Vec<&str>, Value) {
        let (name, key) = match self {
            Given::Shares(name, _) => (name, "shares"),
            Given::Minutes(name, _) => (name, "minutes"),
        };
        let mut path = vec!["accounts", name.account.as_str()];
        if let Some(user) = &name.user {
            path.extend(["users", user.as_str()]);
        }
        path.push(key);
        let value = match self {
            Given::Shares(_, Shares::Parent) => Value::from("parent"),
            Given::Shares(_, Shares::Raw(shares)) => Value::from(i64::from(*shares)),
            Given::Minutes(_, minutes) => Value::from(i64::try_from(*minutes).unwrap_or(i64::MAX)),
        };
        (path, value)
    }
}

/// The text with these values, everything else as it is written.
fn edited(text: &str, edits: &[Given<'_>]) -> Result<String, toml_edit::TomlError> {
    let mut document: DocumentMut = text.parse()?;
    for edit in edits {
        let (path, value) = edit.entry();
        set(document.as_table_mut(), &path, value);
    }
    Ok(document.to_string())
}

/// Sets a value; tables that are missing are added, a value there keeps the comment after it.
fn set(table: &mut dyn TableLike, path: &[&str], mut value: Value) {
    let [name, rest @ ..] = path else { return };
    let same = |key: &str| key.eq_ignore_ascii_case(name);
    let known = table.iter().map(|(key, _)| key).find(|key| same(key));
    let key = known.unwrap_or(name).to_owned();
    if rest.is_empty() {
        // An account has either of them in one file.
        if key == "minutes" {
            table.remove("shares");
        }
        if let Some(old) = table.get(&key).and_then(Item::as_value) {
            *value.decor_mut() = old.decor().clone();
        }
        table.insert(&key, Item::Value(value));
        return;
    }
    if !table.contains_key(&key) {
        let mut new = toml_edit::Table::new();
        new.set_implicit(rest.len() > 1);
        table.insert(&key, Item::Table(new));
    }
    if let Some(inner) = table.get_mut(&key).and_then(Item::as_table_like_mut) {
        set(inner, rest, value);
    }
}

/// The line that gives an association its shares.
fn sacctmgr(cluster: Option<&str>, name: &AssocName, shares: Shares) -> String {
    shell_line(&sacctmgr_words(cluster, name, shares))
}

/// The command that gives an association its shares, word by word.
pub fn sacctmgr_words(cluster: Option<&str>, name: &AssocName, shares: Shares) -> Vec<String> {
    let kind = match &name.user {
        None => "account",
        Some(_) => "user",
    };
    let mut words: Vec<String> = ["sacctmgr", "-i", "modify", kind, "where"]
        .map(str::to_owned)
        .into();
    match &name.user {
        None => words.push(format!("name={}", name.account)),
        Some(user) => words.extend([format!("name={user}"), format!("account={}", name.account)]),
    }
    words.extend(cluster.map(|cluster| format!("cluster={cluster}")));
    let partition = name.partition.as_ref();
    words.extend(partition.map(|partition| format!("partition={partition}")));
    let shares = match shares {
        Shares::Parent => "parent".to_owned(),
        Shares::Raw(shares) => shares.to_string(),
    };
    words.extend(["set".to_owned(), format!("fairshare={shares}")]);
    words
}

/// Words as a line for a shell.
pub fn shell_line(words: &[String]) -> String {
    let quoted: Vec<Cow<'_, str>> = words.iter().map(|one| word(one)).collect();
    quoted.join(" ")
}

/// A word, with the value of a condition in quotes where it has other than plain characters.
fn word(text: &str) -> Cow<'_, str> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_-.@%+:/=".contains(c);
    if !text.is_empty() && text.chars().all(plain) && !text.ends_with('=') {
        return text.into();
    }
    let (key, value) = match text.split_once('=') {
        Some((key, value)) => (format!("{key}="), value),
        None => (String::new(), text),
    };
    format!("{key}'{}'", value.replace('\'', "'\\''")).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(account: &str, user: Option<&str>) -> AssocName {
        AssocName {
            account: account.to_owned(),
            user: user.map(str::to_owned),
            partition: None,
        }
    }

    // sacctmgr(1): modify <ENTITY> where <SPECS> set <SPECS>.
    #[test]
    fn lines_of_sacctmgr() {
        let kept = Kept::Slurm { policy: None };
        let (lab, ann, odd) = (
            name("lab", None),
            name("lab", Some("ann")),
            name("a b'c", None),
        );
        let given = [
            Given::Shares(&lab, Shares::Raw(4)),
            Given::Shares(&ann, Shares::Parent),
            Given::Shares(&odd, Shares::Raw(0)),
        ];
        let found = commands(&kept, Some("alpha"), &given).unwrap();
        assert_eq!(
            found.lines,
            [
                "sacctmgr -i modify account where name=lab cluster=alpha set fairshare=4",
                "sacctmgr -i modify user where name=ann account=lab cluster=alpha set fairshare=parent",
                "sacctmgr -i modify account where name='a b'\\''c' cluster=alpha set fairshare=0",
            ]
        );
        assert_eq!((found.patch, found.then.len()), (None, 0));
    }

    #[test]
    fn a_policy_file_keeps_all_else() {
        let text = "usage = \"window:28-0\" # four weeks\n\n[accounts.Lab]\nminutes = 1_0 # ten\n\
                    [accounts.flex]\nplan = \"total:2026-01-01\"\n";
        let (lab, flex, new) = (name("lab", None), name("flex", None), name("new", None));
        let given = [
            Given::Minutes(&lab, 400),
            Given::Minutes(&flex, 7),
            Given::Minutes(&new, 1),
        ];
        assert_eq!(
            edited(text, &given).unwrap(),
            "usage = \"window:28-0\" # four weeks\n\n[accounts.Lab]\nminutes = 400 # ten\n\
             [accounts.flex]\nplan = \"total:2026-01-01\"\nminutes = 7\n\n[accounts.new]\nminutes = 1\n"
        );
        let policy = Some(Written {
            name: "p.toml".to_owned(),
            text: Some(text.to_owned()),
        });
        let found = commands(&Kept::Slurm { policy }, None, &given[..1]).unwrap();
        let patch = found.patch.unwrap();
        assert!(patch.starts_with("--- p.toml\n+++ p.toml\n@@"), "{patch}");
        assert!(
            patch.contains("\n-minutes = 1_0 # ten\n+minutes = 400 # ten\n"),
            "{patch}"
        );
        assert_eq!(found.then, ["scontrol reconfigure"]);
        let unknown = commands(&Kept::Slurm { policy: None }, None, &given[..1]).unwrap();
        assert_eq!(
            unknown.lines,
            ["# in the policy file: accounts.lab.minutes = 400"]
        );
    }

    #[test]
    fn a_site_in_a_file_has_shares_there() {
        let text = "[accounts.lab]\nshares = 3\n[accounts.lab.users]\nann = { shares = 1 }\n";
        let (lab, ann) = (name("lab", None), name("lab", Some("ann")));
        let given = [Given::Minutes(&lab, 5), Given::Shares(&ann, Shares::Parent)];
        assert_eq!(
            edited(text, &given).unwrap(),
            "[accounts.lab]\nminutes = 5\n[accounts.lab.users]\nann = { shares = \"parent\" }\n"
        );
    }
}
