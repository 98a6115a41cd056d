//! The command line above a listing: `$ sshare -a --format="Account,User" | grep physics`.

use super::column::{Field, default_fields, parse_fields};
use crate::input::prompt::{call, words};

/// Information of a command line about the listing below it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Command {
    /// The columns, where the command decides them; with `-l` those of Fair Tree.
    pub fields: Option<Vec<Field>>,
    /// The columns of `-l` outside Fair Tree, which differ.
    pub fields_without_fair_tree: Option<Vec<Field>>,
    /// `-p` or `-P`.
    pub parsable: bool,
}

/// Reads a line as a shell prompt and a call of sshare; `None` when it is not one.
pub(super) fn parse(line: &str) -> Option<Command> {
    let words = words(call(line, "sshare")?);
    let mut words = words.iter().map(String::as_str).skip(1);
    let mut format: Option<String> = None;
    let (mut long, mut partitions, mut parsable) = (false, false, false);
    while let Some(word) = words.next() {
        if let Some(option) = word.strip_prefix("--") {
            let (name, value) = match option.split_once('=') {
                Some((name, value)) => (name, Some(value)),
                None => (option, None),
            };
            match name {
                "long" => long = true,
                "partition" => partitions = true,
                "parsable" | "parsable2" => parsable = true,
                "format" => add(&mut format, value.or_else(|| words.next())?),
                "accounts" | "users" | "cluster" | "clusters" if value.is_none() => {
                    words.next();
                }
                _ => {}
            }
        } else if let Some(letters) = word.strip_prefix('-') {
            let mut letters = letters.chars();
            while let Some(letter) = letters.next() {
                match letter {
                    'l' => long = true,
                    'm' => partitions = true,
                    'p' | 'P' => parsable = true,
                    'o' | 'A' | 'u' | 'M' => {
                        let rest = letters.as_str();
                        let value = if rest.is_empty() { words.next()? } else { rest };
                        if letter == 'o' {
                            add(&mut format, value);
                        }
                        break;
                    }
                    _ => {}
                }
            }
        }
    }
    let (fields, fields_without_fair_tree) = match format {
        Some(list) => (parse_fields(&list).ok(), None),
        None => (
            Some(default_fields(long, partitions, true, None)),
            long.then(|| default_fields(long, partitions, false, None)),
        ),
    };
    Some(Command {
        fields,
        fields_without_fair_tree,
        parsable,
    })
}

fn add(format: &mut Option<String>, value: &str) {
    let list = format.get_or_insert_default();
    list.push_str(value);
    list.push(',');
}

#[cfg(test)]
mod tests {
    use super::super::column::Column;
    use super::*;

    fn names(line: &str) -> Vec<&'static str> {
        let fields = parse(line).unwrap().fields.unwrap();
        fields.iter().map(|f| f.column.name()).collect()
    }

    #[test]
    fn the_format_is_found_in_all_spellings() {
        for line in [
            r#"$ sshare --format="Account,RawShares" | grep cbio"#,
            "[me@login ~]$ sshare -n -o Account,RawShares",
            "root@login:~# /usr/bin/sshare -aPoA,RawShares > x",
            "% sshare -A physics --format Account -o 'RawS' -u me",
        ] {
            assert_eq!(names(line), ["Account", "RawShares"], "{line}");
        }
    }

    #[test]
    fn without_a_format_the_flags_decide() {
        assert_eq!(names("$ sshare").len(), 7);
        let long = parse("$ sshare -alP").unwrap();
        assert!(long.parsable);
        let has = |fields: &Option<Vec<Field>>| {
            let fields = fields.as_deref().unwrap();
            fields.iter().any(|f| f.column == Column::LevelFs)
        };
        assert!(has(&long.fields) && !has(&long.fields_without_fair_tree));
    }

    #[test]
    fn other_lines_are_no_command() {
        for line in [
            "",
            "$ sprio -l",
            "# sshare of last week",
            "sshare",
            "$",
            "a # b",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
        assert!(parse("# sshare -l").is_some());
    }
}
