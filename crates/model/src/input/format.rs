//! Formats of inputs, and how they are recognised.

use super::error::{InputError, Problem};
use super::prompt::is_prompt;
use super::slurm::{assoc, dump};
use super::{sacct, sprio, sshare, swf};

/// A format with a reader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// The text that `sshare` prints.
    Sshare,
    /// Output of `sshare --json`.
    SshareJson,
    /// The text that `sprio` prints.
    Sprio,
    /// A site described in TOML.
    Site,
    /// A file that `sacctmgr dump` wrote.
    Dump,
    /// Output of `sacctmgr -P show assoc`.
    Assocs,
    /// Output of `sacct -P`.
    Sacct,
    /// A log in the Standard Workload Format.
    Swf,
}

impl Format {
    /// The format of an input whose beginning is `head`, by the first line that only one format
    /// has. Comments and prompts of a shell say nothing; TOML is taken where the first statement is
    /// one of TOML and of no other format. `file` names the input in the error.
    ///
    /// # Errors
    /// [`Problem::Empty`] without a line, [`Problem::UnknownFormat`] when the first statement
    /// belongs to none of the formats.
    pub fn detect(file: &str, head: &str) -> Result<Format, InputError> {
        let head = head.trim_start_matches('\u{feff}');
        let mut said = head
            .lines()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty())
            .peekable();
        let Some(&(_, first)) = said.peek() else {
            return Err(InputError::new(file, Problem::Empty)
                .hint("give the output of sshare, or a site in TOML"));
        };
        if sshare::json::begins(first) {
            return Ok(Format::SshareJson);
        }
        // `# sshare -l` is a call by the superuser, or a comment of TOML: what follows decides.
        let mut called = None;
        let mut comments = false;
        for (number, line) in said {
            let format = of_line(line);
            if line.trim_start().starts_with('#') {
                comments = true;
                called = called.or(format);
            } else if let Some(format) = format {
                return Ok(format);
            } else if is_prompt(line) {
                comments = true;
            } else if is_toml(line) {
                return Ok(Format::Site);
            } else {
                return called.ok_or_else(|| unknown(file, number, line));
            }
        }
        match called {
            Some(format) => Ok(format),
            // A site may say nothing.
            None if comments && first.trim_start().starts_with('#') => Ok(Format::Site),
            None => Err(unknown(file, 0, first)),
        }
    }
}

/// The format that a line alone shows.
fn of_line(line: &str) -> Option<Format> {
    if sshare::begins(line) {
        Some(Format::Sshare)
    } else if sprio::begins(line) {
        Some(Format::Sprio)
    } else if assoc::begins(line) {
        Some(Format::Assocs)
    } else if sacct::begins(line) || sacct::is_record(line) {
        Some(Format::Sacct)
    } else if swf::begins(line) {
        Some(Format::Swf)
    } else if dump::begins(line) {
        Some(Format::Dump)
    } else {
        None
    }
}

fn unknown(file: &str, number: usize, line: &str) -> InputError {
    let found = line.trim().chars().take(60).collect();
    InputError::new(file, Problem::UnknownFormat { found })
        .at_line(number + 1, line)
        .hint(
            "known are the output of sshare with its header line, or without it under the \
             command (`$ sshare -n -o Account,User,...`), sshare --json, that of sprio, a site \
             in TOML, a file of sacctmgr dump, sacctmgr -P show assoc, the output of sacct -P, and \
             logs in the Standard Workload Format, each gzipped or not; --input-format names the \
             format",
        )
}

/// Returns true if a line is a statement of TOML: a table, or a key with its value.
fn is_toml(line: &str) -> bool {
    let line = line.trim();
    let key = |key: &str| {
        let key = key.trim();
        let bare = |c: char| c.is_ascii_alphanumeric() || "-_.\"' ".contains(c);
        !key.is_empty() && key.chars().all(bare)
    };
    if let Some(table) = line.strip_prefix('[') {
        let table = table.strip_prefix('[').unwrap_or(table);
        let Some((name, rest)) = table.rsplit_once(']').or(table.split_once('#')) else {
            return true;
        };
        let name = name.trim_end_matches(']');
        let quoted = name.contains(['"', '\'']);
        return quoted || key(name) && !rest.starts_with(['$', '%', '>']);
    }
    line.split_once('=').is_some_and(|(name, _)| key(name))
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

    // A prompt, a comment and a TOML table can look the same: the next lines decide.
    #[test]
    fn comments_and_prompts_do_not_decide() {
        let header = "JobID|User|Account|Start|End|NCPUS\n";
        let swf = "1 0 -1 9 4 -1 -1 4 -1 -1 0 1 -1 6 -1 1 -1 -1\n";
        for above in [
            "",
            "# a comment\n",
            "[root@login1 ~]# cat x\n",
            "[root@login1 ~]# cd a && cat x # [y]\n\n# z\n",
            "root@login1:~# cat x\n",
            "$ cat x\n",
        ] {
            for (below, format) in [
                ("Account|User|RawShares\n", Format::Sshare),
                ("          JOBID PARTITION   PRIORITY\n", Format::Sprio),
                ("QOS - 'normal':Priority=1\n", Format::Dump),
                ("Cluster|Account|User|Share|ParentName\n", Format::Assocs),
                (
                    "Cluster|Account|User|Partition|Share|Priority|\n",
                    Format::Assocs,
                ),
                (header, Format::Sacct),
                (swf, Format::Swf),
                ("[settings]\n", Format::Site),
                ("[settings]# x\n", Format::Site),
                ("[\"a b\".'c@d'] # x\n", Format::Site),
                ("[[jobs]]\n", Format::Site),
                ("cluster = 'x'\n", Format::Site),
            ] {
                let head = format!("{above}{below}");
                assert_eq!(Format::detect("f", &head).unwrap(), format, "{head:?}");
            }
        }
        // A comment of a site that names a command, and rows under a call by the superuser.
        for (head, format) in [
            ("# sshare -a -l\n[settings]\n", Format::Site),
            ("# sshare -n -o Account,RawShares\na 1\n", Format::Sshare),
            ("# sprio -h -o '%i %Y'\n7 5\n", Format::Sprio),
            ("# nothing\n", Format::Site),
        ] {
            assert_eq!(Format::detect("f", head).unwrap(), format, "{head:?}");
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
