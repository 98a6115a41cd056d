//! A page of `docs/policies/`, carried out as a reader would do it.
//!
//! The words after the fence of a block give its kind: `conf slurm.conf`, lines of that file; `text
//! tree.cfg`, accounts and users as `sacctmgr load` reads them; `console recipe`, commands that run
//! here, and lines of their output; `LANGUAGE NAME`, a file in `/etc/slurm/`. Nothing is skipped:
//! an unknown kind is an error, and so is a block that no check used.

use std::cell::RefCell;
use std::fs;

use anyhow::{Context, Result, bail, ensure};

use super::super::Check;
use crate::cluster::accounting::{Account, Accounting, FairShare};
use crate::cluster::conf::{Nodes, Partition, PriorityType};
use crate::cluster::{Cluster, Plan};
use xtask::project;

pub const CLASSIC: &str = "docs/policies/classic.md";
pub const FAIR_TREE: &str = "docs/policies/fair-tree.md";
pub const FLUX: &str = "docs/policies/flux.md";
pub const HUBS: &str = "docs/policies/hub-group-project.md";
pub const INSTANCES: &str = "docs/policies/instances.md";
pub const ON_DEMAND: &str = "docs/policies/on-demand.md";

/// Kind of the blocks with commands to run.
const COMMANDS: &str = "console recipe";
const CONF: &str = "conf slurm.conf";
const TREE: &str = "text tree.cfg";
/// Folder of the page's files; the cluster's folder replaces it.
const FOLDER: &str = "/etc/slurm/";

/// Seconds between two passes; pages have longer periods.
pub const PERIOD: u32 = 2;
/// CPUs of the only node.
pub const CPUS: u32 = 45;

/// A page.
pub struct Page {
    file: &'static str,
    blocks: Vec<Block>,
    used: RefCell<Vec<usize>>,
}

/// A fenced block.
struct Block {
    /// The heading above it.
    section: String,
    kind: String,
    text: String,
}

/// A command, and the lines that are shown below it.
#[derive(Debug, PartialEq, Eq)]
struct Call {
    command: String,
    shown: Vec<String>,
}

impl Page {
    /// Reads a page.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn read(file: &'static str) -> Result<Page> {
        let text = fs::read_to_string(project::root().join(file)).context(file)?;
        Ok(Page {
            file,
            blocks: blocks(&text),
            used: RefCell::default(),
        })
    }

    /// The only block of a kind below a heading, or of the whole page.
    fn block(&self, kind: &str, section: Option<&str>) -> Result<&Block> {
        let fits = |block: &Block| {
            block.kind == kind && section.is_none_or(|section| block.section == section)
        };
        let found: Vec<usize> = (0..self.blocks.len())
            .filter(|at| fits(&self.blocks[*at]))
            .collect();
        let [at] = found[..] else {
            let file = self.file;
            bail!("{file}: {} blocks {kind:?} in {section:?}", found.len());
        };
        self.used.borrow_mut().push(at);
        Ok(&self.blocks[at])
    }

    /// The lines of slurm.conf below a heading.
    pub fn conf(&self, section: &str) -> Result<Vec<(String, String)>> {
        let block = self.block(CONF, Some(section))?;
        let mut lines = Vec::new();
        for line in block.text.lines() {
            let line = line.split('#').next().unwrap_or_default().trim();
            if !line.is_empty() {
                let (key, value) = line.split_once('=').with_context(|| line.to_owned())?;
                lines.push((key.to_owned(), value.to_owned()));
            }
        }
        Ok(lines)
    }

    /// Accounts and users.
    pub fn accounting(&self) -> Result<Accounting> {
        tree(&self.block(TREE, None)?.text).with_context(|| self.file.to_owned())
    }

    /// A cluster with the tree and the settings, without the files and partitions.
    pub fn plan(&self, check: &Check, section: &str) -> Result<Plan> {
        let mut plan = Plan {
            release: check.release.clone(),
            priority: PriorityType::Fairtree,
            nodes: Nodes {
                count: 1,
                cpus: CPUS,
            },
            partitions: vec![Partition {
                name: "main",
                priority_job_factor: 1,
                max_time: "1-0",
            }],
            accounting: self.accounting()?,
            settings: vec![("PriorityParameters", format!("calc_period={PERIOD}"))],
        };
        for (key, value) in self.conf(section)? {
            match key.as_str() {
                "PriorityType" => ensure!(value == "priority/fairtree", "{key}={value}"),
                "PriorityParameters" | "PartitionName" => {}
                _ => plan.settings.push((leaked(&key), value)),
            }
        }
        Ok(plan)
    }

    /// Writes the page's files, and replaces the settings `before` with its own.
    pub fn apply(
        &self,
        cluster: &mut Cluster,
        section: &str,
        before: &[(String, String)],
    ) -> Result<()> {
        for (at, block) in self.blocks.iter().enumerate() {
            let Some((_, name)) = block.kind.split_once(' ') else {
                continue;
            };
            if ![CONF, TREE, COMMANDS].contains(&block.kind.as_str()) {
                self.used.borrow_mut().push(at);
                let file = cluster.path().join("etc").join(name);
                fs::write(file, translated(cluster, &block.text))?;
            }
        }
        let own = |key: &str| ["PriorityType", "PartitionName", "AuthInfo"].contains(&key);
        for (key, _) in before.iter().filter(|(key, _)| !own(key)) {
            cluster.conf_mut().unset(key);
        }
        let mut parameters = format!("calc_period={PERIOD}");
        let mut partitions = Vec::new();
        for (key, value) in self.conf(section)? {
            let value = translated(cluster, &value);
            match key.as_str() {
                // Set since the start.
                "PriorityType" | "AuthInfo" => {}
                "PriorityParameters" => parameters = format!("{parameters},{value}"),
                "PartitionName" => partitions.push(value),
                _ => cluster.conf_mut().set(&key, value),
            }
        }
        cluster.conf_mut().set("PriorityParameters", parameters);
        if !partitions.is_empty() {
            cluster.conf_mut().set_partitions(partitions);
        }
        cluster.reconfigure()
    }

    /// Runs the commands below a heading. Each must print the lines that the page shows below it,
    /// and one that fails must show why. Returns their output.
    pub fn run(&self, check: &Check, cluster: &Cluster, section: &str) -> Result<String> {
        let block = self.block(COMMANDS, Some(section))?;
        let mut printed = String::new();
        for call in calls(&block.text) {
            check.step(&call.command);
            let tried = try_out(cluster, &call);
            printed += &tried.with_context(|| format!("{}: {section}", self.file))?;
        }
        Ok(printed)
    }

    /// Checks that every block was used.
    ///
    /// # Errors
    /// Fails if a block was not used.
    pub fn done(&self) -> Result<()> {
        let used = self.used.borrow();
        for (at, block) in self.blocks.iter().enumerate() {
            let ours = block.kind == COMMANDS
                || (block.kind.contains(' ') && !block.kind.starts_with("console"));
            let (file, section) = (self.file, &block.section);
            ensure!(
                !ours || used.contains(&at),
                "{file}, {section}: nobody tried\n{}",
                block.text
            );
        }
        Ok(())
    }
}

fn try_out(cluster: &Cluster, call: &Call) -> Result<String> {
    let line = translated(cluster, &call.command);
    let ran = match call.command.strip_prefix("sudo -u ") {
        None => cluster.shell(&line)?,
        Some(rest) => {
            let (name, _) = rest.split_once(' ').context("a command")?;
            let user = cluster.user(name)?;
            let own = line.split_once(&user.name).context("the user")?.1;
            cluster.shell_as(user, own.trim_start())?
        }
    };
    let printed = without(&cluster.user_prefix(), &format!("{}{}", ran.out, ran.err));
    let lines: Vec<String> = printed.lines().map(squeezed).collect();
    let mut rest = lines.iter();
    for shown in call.shown.iter().filter(|shown| *shown != "...") {
        let shown = squeezed(shown);
        ensure!(
            rest.any(|line| *line == shown),
            "$ {}\nends with {} and does not print `{shown}`:\n{printed}",
            call.command,
            ran.code
        );
    }
    ensure!(
        ran.code == 0 || !call.shown.is_empty(),
        "$ {}\nends with {}: {printed}",
        call.command,
        ran.code
    );
    Ok(printed)
}

fn squeezed(line: &str) -> String {
    line.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a text without a prefix of its words.
fn without(prefix: &str, text: &str) -> String {
    let mut out = String::new();
    for part in text.split_inclusive(prefix) {
        let bare = part.strip_suffix(prefix).unwrap_or(part);
        let inside = bare.chars().last().is_some_and(char::is_alphanumeric);
        out.push_str(if inside { part } else { bare });
    }
    out
}

/// Returns a text with the cluster's own users and folder.
fn translated(cluster: &Cluster, text: &str) -> String {
    let mut out = String::new();
    let mut word = String::new();
    let end = |word: &mut String, out: &mut String| {
        match cluster.user(word) {
            Ok(user) => out.push_str(&user.name),
            Err(_) => out.push_str(word),
        }
        word.clear();
    };
    for letter in text.chars() {
        if letter.is_ascii_alphanumeric() || letter == '_' {
            word.push(letter);
        } else {
            end(&mut word, &mut out);
            out.push(letter);
        }
    }
    end(&mut word, &mut out);
    let folder = cluster.path().join("etc");
    out.replace(FOLDER, &format!("{}/", folder.display()))
}

fn blocks(text: &str) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let (mut section, mut open) = (String::new(), false);
    for line in text.lines() {
        if let Some(kind) = line.strip_prefix("```") {
            if !open {
                found.push(Block {
                    section: section.clone(),
                    kind: kind.to_owned(),
                    text: String::new(),
                });
            }
            open = !open;
        } else if let Some(block) = found.last_mut().filter(|_| open) {
            block.text.push_str(line);
            block.text.push('\n');
        } else if let Some(heading) = line.strip_prefix("## ") {
            section = heading.to_owned();
        }
    }
    found
}

fn calls(text: &str) -> Vec<Call> {
    let mut found: Vec<Call> = Vec::new();
    for line in text.replace("\\\n", "").lines() {
        if let Some(command) = line.strip_prefix("$ ") {
            found.push(Call {
                command: command.to_owned(),
                shown: Vec::new(),
            });
        } else if let Some(call) = found.last_mut() {
            call.shown.push(line.to_owned());
        }
    }
    found
}

/// Parses lines as `sacctmgr dump` writes them: `Parent - 'root'`, `Account - 'a':Fairshare=3`,
/// `User - 'ann':Fairshare=parent`.
fn tree(text: &str) -> Result<Accounting> {
    let mut site = Accounting::default();
    let mut parent = "root";
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let wrong = || format!("tree.cfg: {line}");
        let (kind, rest) = line.split_once(" - '").with_context(wrong)?;
        let (name, options) = rest.split_once('\'').with_context(wrong)?;
        let shares = match options.strip_prefix(":Fairshare=") {
            Some("parent") => FairShare::Parent,
            Some(count) => FairShare::Raw(count.parse().with_context(wrong)?),
            None if options.is_empty() => FairShare::Raw(1),
            None => bail!("{}: only Fairshare is known", wrong()),
        };
        let above = |row: &Account| row.name == parent;
        match kind {
            "Cluster" => {}
            "Parent" => parent = leaked(name),
            "Account" => {
                ensure!(
                    parent == "root" || site.accounts.iter().any(above),
                    "{}: no account {parent}",
                    wrong()
                );
                site.accounts.push(Account {
                    name: leaked(name),
                    parent: Some(parent).filter(|name| *name != "root"),
                    fair_share: shares,
                    users: Vec::new(),
                });
            }
            "User" => {
                let row = site.accounts.iter_mut().find(|row| above(row));
                let row = row.with_context(wrong)?;
                row.users.push((leaked(name), shares));
            }
            _ => bail!(wrong()),
        }
    }
    Ok(site)
}

/// Leaks a string: names of a cluster live as long as the program.
fn leaked(text: &str) -> &'static str {
    Box::leak(text.to_owned().into_boxed_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_know_their_heading() {
        let text =
            "# T\n```toml a.toml\nx = 1\n```\n## Two\n```console recipe\n$ a \\\n  b\nc\n```\n";
        let found = blocks(text);
        assert_eq!(found[0].kind, "toml a.toml");
        assert_eq!(found[1].section, "Two");
        let calls = calls(&found[1].text);
        assert_eq!(calls[0].command, "a   b");
        assert_eq!(calls[0].shown, ["c"]);
    }

    #[test]
    fn only_the_beginnings_of_words_go() {
        assert_eq!(
            without("ft-", "ft-ann is left-over,ft-bob"),
            "ann is left-over,bob"
        );
    }

    #[test]
    fn a_tree_is_read_whole_or_not_at_all() {
        let text = "Cluster - 'x'\nParent - 'root'\nAccount - 'a':Fairshare=3\nParent - 'a'\n\
                    User - 'ann':Fairshare=parent\n";
        let site = tree(text).unwrap();
        assert_eq!(site.accounts[0].fair_share, FairShare::Raw(3));
        assert_eq!(site.accounts[0].users, [("ann", FairShare::Parent)]);
        for wrong in [
            "Account - 'a':Fairshare=3:MaxJobs=2",
            "Account - 'a':Fairshare=x",
            "Parent - 'b'\nAccount - 'a'",
            "User - 'ann'",
            "Fairshare=3",
        ] {
            assert!(tree(wrong).is_err(), "{wrong}");
        }
    }
}
