//! Which format an input is in.

use super::error::{InputError, Problem};
use super::slurm::dump;
use super::{sacct, sprio, sshare, swf};

/// A format with a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text that `sshare` prints.
    Sshare,
    /// What `sshare --json` prints.
    SshareJson,
    /// The text that `sprio` prints.
    Sprio,
    /// A site described in TOML.
    Site,
    /// A file that `sacctmgr dump` wrote.
    Dump,
    /// What `sacct -P` prints.
    Sacct,
    /// A log in the Standard Workload Format.
    Swf,
}

impl Format {
    /// The format of an input whose beginning is `head`, judged by the first line that says
    /// anything. `file` names the input in the error.
    ///
    /// # Errors
    /// [`Problem::Empty`] without such a line, [`Problem::UnknownFormat`] when it belongs to
    /// none of the formats.
    pub fn detect(file: &str, head: &str) -> Result<Format, InputError> {
        let mut said = head
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty());
        let Some((number, first)) = said.next() else {
            return Err(InputError::new(file, Problem::Empty)
                .hint("give the output of sshare, or a site in TOML"));
        };
        if sshare::json::begins(first) {
            return Ok(Format::SshareJson);
        }
        if sshare::begins(first) {
            return Ok(Format::Sshare);
        }
        if sprio::begins(first) {
            return Ok(Format::Sprio);
        }
        if sacct::begins(first) || sacct::is_record(first) {
            return Ok(Format::Sacct);
        }
        if swf::begins(first) {
            return Ok(Format::Swf);
        }
        // A dump begins with comments, as TOML may, but its first statement is none of TOML's.
        let comment = |line: &str| line.trim_start().starts_with('#');
        let statement = std::iter::once(first)
            .chain(said.map(|(_, line)| line))
            .find(|line| !comment(line));
        if statement.is_some_and(dump::begins) {
            return Ok(Format::Dump);
        }
        if begins_toml(first) {
            return Ok(Format::Site);
        }
        let found = first.trim().chars().take(60).collect();
        Err(InputError::new(file, Problem::UnknownFormat { found })
            .at_line(number + 1, first)
            .hint(
                "known are the output of sshare with its header line, or without it under the \
                 command (`$ sshare -n -o Account,User,...`), sshare --json, that of sprio, a site \
                 in TOML, a file of sacctmgr dump, the output of sacct -P, and logs in the Standard \
                 Workload Format, each gzipped or not; --input-format names the format",
            ))
    }
}

/// Whether the first statement of `head` is one of TOML, where the output of sprio is expected: a
/// table, or a key with its value. A shell's prompt, `[user@host ~]$ sprio -l`, is neither.
pub fn is_site(head: &str) -> bool {
    let mut lines = head.lines().map(str::trim);
    let statement = lines.find(|line| !line.is_empty() && !line.starts_with('#'));
    statement.is_some_and(|line| match line.strip_prefix('[') {
        Some(rest) => rest
            .split('#')
            .next()
            .is_some_and(|table| table.trim().ends_with(']')),
        None => line.contains('=') && begins_toml(line),
    })
}

/// Whether a line can be the first of a TOML file.
fn begins_toml(line: &str) -> bool {
    let line = line.trim_start().trim_start_matches('\u{feff}');
    if line.starts_with(['#', '[']) {
        return true;
    }
    let Some((key, _)) = line.split_once('=') else {
        return false;
    };
    let key = key.trim();
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_.\"' ".contains(c);
    !key.is_empty() && key.chars().all(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_each_format() {
        for (head, format) in [
            ("\n  $ sshare -l\n", Format::Sshare),
            ("Account|User|RawShares\n", Format::Sshare),
            ("             Account  RawShares \n", Format::Sshare),
            ("CLUSTER: alpha\n", Format::Sshare),
            ("          JOBID PARTITION   PRIORITY\n", Format::Sprio),
            ("[alice@login ~]$ sprio -l\n", Format::Sprio),
            ("# a site\n", Format::Site),
            (
                "# To edit\n# Parent - 'x'\nCluster - 'c':Fairshare=1\n",
                Format::Dump,
            ),
            ("\n{\n  \"shares\": {\n", Format::SshareJson),
            ("JobID|User|Account|Start|End|NCPUS\n", Format::Sacct),
            ("7|7|2026-11-21T10:04:14|Unknown\n", Format::Sacct),
            ("; Version: 2.2\n", Format::Swf),
            (
                "1 0 -1 9 4 -1 -1 4 -1 -1 0 1 -1 6 -1 1 -1 -1\n",
                Format::Swf,
            ),
            ("cluster = 'x'\n", Format::Site),
            ("[accounts.a]\n", Format::Site),
        ] {
            assert_eq!(Format::detect("f", head).unwrap(), format, "{head:?}");
        }
    }

    #[test]
    fn a_prompt_before_the_output_of_sprio_is_no_site() {
        for head in ["# x\n\n[settings] # y\n", "cluster = 'x'\n", "[[jobs]]\n"] {
            assert!(is_site(head), "{head:?}");
        }
        for head in [
            "[alice@login1 ~]$ sprio -l\n",
            "          JOBID PARTITION   PRIORITY\n",
            "# $ sprio -l\n",
            "",
        ] {
            assert!(!is_site(head), "{head:?}");
        }
    }

    #[test]
    fn anything_else_is_an_error() {
        assert!(matches!(
            *Format::detect("f", " \n\n").unwrap_err().problem,
            Problem::Empty
        ));
        let error = Format::detect("f", "\nNODELIST NODES STATE\n").unwrap_err();
        assert_eq!(error.line, Some(2));
        assert!(matches!(*error.problem, Problem::UnknownFormat { .. }));
    }
}
