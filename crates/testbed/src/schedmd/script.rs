//! Scripts of Slurm's testsuite, for expect and for pytest, that need a running cluster.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};

use crate::cluster::accounting::Accounting;
use crate::cluster::conf::{Nodes, Partition};
use crate::cluster::{Cluster, Plan};
use crate::under::Under;
use xtask::command::checked;
use xtask::progress::Progress;
use xtask::release::Release;

use super::folder_of;

/// The scripts about the priority plugin, sprio and sshare, at the paths of all releases. They do
/// not include the scripts of the programs: see the parent module.
const SCRIPTS: &[&str] = &[
    "expect/test24.2",
    "expect/test24.5",
    "expect/test24.6",
    "expect/test24.7",
    "python/tests/parameters/slurm/PriorityType/multifactor/test_priority.py",
    "python/tests/commands/sprio/test_--help.py",
    "python/tests/commands/sprio/test_--usage.py",
    "python/tests/commands/sprio/test_--version.py",
    "python/tests/commands/sprio/test_--weights.py",
    "python/tests/commands/sprio/test_job_options.py",
    "python/tests/test_113_1.py",
    "python/tests/test_113_2.py",
    "python/tests/test_113_3.py",
    "python/tests/test_113_4.py",
    "python/tests/test_113_5.py",
    "python/tests/test_130_3.py",
];

/// Slurm's commands that the scripts call.
const COMMANDS: &[&str] = &[
    "sacct", "sacctmgr", "salloc", "sbatch", "scancel", "scontrol", "sdiag", "sinfo", "sprio",
    "squeue", "srun", "sshare", "sstat",
];

/// A sudo for root. From 25.05 on the Python tests skip themselves without one.
const SUDO: &str = "#!/bin/sh
case \"$1\" in
-ln) echo '(ALL : ALL) NOPASSWD: ALL' ;;
-nu) user=$2; shift 2; exec runuser -u \"$user\" -- \"$@\" ;;
*) exec \"$@\" ;;
esac
";

/// Exit code of a script that is not needed any more: expect's `exit -1`.
const SKIPPED: i32 = 255;

/// Word in the result of a script that failed. Its output is kept.
pub const FAILED: &str = "failed";

/// Time limit, longer than any script takes, seconds.
const PATIENCE: &str = "900";

/// One row per script: its name, and its result under each plugin.
pub fn results(
    slurm: &Path,
    release: &Release,
    progress: &Progress,
) -> Result<Vec<[String; 1 + Under::ALL.len()]>> {
    let present: Vec<&str> = SCRIPTS
        .iter()
        .copied()
        .filter(|script| slurm.join("testsuite").join(script).exists())
        .collect();
    let columns: Vec<Result<Vec<String>>> = thread::scope(|scope| {
        let runs: Vec<_> = Under::ALL
            .iter()
            .map(|&under| {
                let present = &present;
                scope.spawn(move || column(slurm, release, under, present, progress))
            })
            .collect();
        runs.into_iter()
            .map(|run| run.join().unwrap_or_else(|_| Err(anyhow!("a panic"))))
            .collect()
    });
    let columns: Vec<Vec<String>> = columns.into_iter().collect::<Result<_>>()?;
    Ok(present
        .iter()
        .enumerate()
        .map(|(row, script)| {
            let mut cells = [const { String::new() }; 1 + Under::ALL.len()];
            cells[0] = (*script).to_owned();
            for (cell, column) in cells[1..].iter_mut().zip(&columns) {
                cell.clone_from(&column[row]);
            }
            cells
        })
        .collect())
}

/// The results of all scripts in a cluster with this plugin.
fn column(
    slurm: &Path,
    release: &Release,
    under: Under,
    scripts: &[&str],
    progress: &Progress,
) -> Result<Vec<String>> {
    let cluster = Cluster::start(&plan(release, under), progress)?;
    let suite = Suite::install(&cluster, slurm, release, under)?;
    scripts
        .iter()
        .map(|script| {
            xtask::interrupt::check()?;
            progress.step(format!("{script} under {}", under.name()));
            suite.run(script)
        })
        .collect()
}

fn plan(release: &Release, under: Under) -> Plan {
    let mut settings: Vec<(&'static str, String)> = [
        ("PriorityWeightAge", "1000"),
        ("PriorityWeightFairshare", "100000"),
        ("PriorityWeightJobSize", "1000"),
        ("PriorityWeightPartition", "1000"),
        ("PriorityWeightQOS", "1000"),
    ]
    .map(|(key, value)| (key, value.to_owned()))
    .into();
    if let Some(parameters) = under.parameters() {
        settings.push(("PriorityParameters", parameters.to_owned()));
    }
    Plan {
        release: release.clone(),
        priority: under.priority(),
        nodes: Nodes { count: 2, cpus: 4 },
        partitions: vec![Partition {
            name: "main",
            priority_job_factor: 1,
            max_time: "1-0",
        }],
        accounting: Accounting::default(),
        settings,
    }
}

/// A copy of the testsuite that runs in a cluster.
struct Suite<'a> {
    cluster: &'a Cluster,
    folder: PathBuf,
    /// Folder for the scripts' output.
    output: PathBuf,
}

impl Suite<'_> {
    /// Copies the testsuite into the cluster's folder, with our plugin's name in the scripts.
    fn install<'a>(
        cluster: &'a Cluster,
        slurm: &Path,
        release: &Release,
        under: Under,
    ) -> Result<Suite<'a>> {
        let folder = cluster.path().join("suite");
        let output = folder_of(release).join(under.name());
        fs::create_dir_all(&output)?;
        for name in ["slurm/bin", "tmp"] {
            fs::create_dir_all(folder.join(name))?;
        }
        let mut copy = Command::new("cp");
        copy.arg("--recursive").arg(slurm.join("testsuite"));
        checked(copy.arg(&folder))?;
        for script in SCRIPTS {
            let file = folder.join("testsuite").join(script);
            let Ok(text) = fs::read_to_string(&file) else {
                continue;
            };
            let text = text.replace("priority/multifactor", under.priority().conf());
            fs::write(&file, text)?;
        }
        for name in COMMANDS {
            let file = folder.join("slurm/bin").join(name);
            fs::write(&file, wrapper(&cluster.shell_words(name)))?;
            fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        }
        let sudo = folder.join("slurm/bin/sudo");
        fs::write(&sudo, SUDO)?;
        fs::set_permissions(&sudo, fs::Permissions::from_mode(0o755))?;
        let conf = format!(
            "SlurmSourceDir={slurm}\nSlurmBuildDir={slurm}\nSlurmInstallDir={prefix}\n\
             SlurmConfigDir={etc}\n",
            slurm = slurm.display(),
            prefix = folder.join("slurm").display(),
            etc = cluster.path().join("etc").display(),
        );
        fs::write(folder.join("testsuite/testsuite.conf"), conf)?;
        Ok(Suite {
            cluster,
            folder,
            output,
        })
    }

    /// Runs a script and returns its result.
    fn run(&self, script: &str) -> Result<String> {
        let file = self.folder.join("testsuite").join(script);
        let is_python = script.ends_with(".py");
        let mut command = self.cluster.bare(Path::new("/usr/bin/timeout"));
        command.args(["--kill-after=5", PATIENCE]);
        if is_python {
            // Otherwise the cache would be written next to the scripts.
            command.args([
                "python3",
                "-m",
                "pytest",
                "--quiet",
                "-p",
                "no:cacheprovider",
            ]);
            command
                .arg("--rootdir")
                .arg(self.folder.join("testsuite/python"));
            command.arg(&file);
            command.current_dir(self.folder.join("testsuite/python"));
        } else {
            command.arg("expect").arg(&file);
            command.current_dir(file.parent().context("a folder")?);
        }
        let bin = self.folder.join("slurm/bin");
        let path = format!("{}:{}", bin.display(), self.cluster.search_path());
        command
            .env("PATH", path)
            .env("HOME", self.folder.join("tmp"))
            .env("TMPDIR", self.folder.join("tmp"))
            .env("TERM", "dumb")
            .stdin(Stdio::null());
        let answer = command.output().context("cannot run a script")?;
        let text = [answer.stdout, answer.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let name = file.file_name().context("a name")?.to_string_lossy();
        let output = self.output.join(format!("{name}.out"));
        fs::write(output, text.as_bytes())?;
        let Some(status) = answer.status.code() else {
            bail!("{script} was ended by a signal");
        };
        Ok(match (is_python, status) {
            (true, 0) => summary(&text).context("pytest without a summary")?,
            (false, 0) => "passed".to_owned(),
            (false, SKIPPED) => "skipped".to_owned(),
            _ => format!("{FAILED} ({status})"),
        })
    }
}

/// A shell script that calls one of Slurm's commands.
///
/// Debian's commands print `slurm-wlm 22.05.8`; the testsuite expects Slurm's `slurm 22.05.8`.
fn wrapper(words: &str) -> String {
    format!(
        "#!/bin/sh\ncase \"$*\" in\n-V | --version)\n\t{words} \"$@\" | sed 's/^slurm-wlm /slurm /'\n\t;;\n\
         *)\n\texec {words} \"$@\"\n\t;;\nesac\n"
    )
}

/// The counts in pytest's last line: `3 passed, 1 skipped in 0.12s`.
fn summary(text: &str) -> Option<String> {
    let (counts, _) = text.lines().last()?.split_once(" in ")?;
    Some(counts.trim_matches(|c| c == '=' || c == ' ').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_of_pytest_is_the_summary() {
        let text = "...\n3 passed, 1 skipped in 0.12s\n";
        assert_eq!(summary(text).unwrap(), "3 passed, 1 skipped");
        let text = "====== 2 passed in 3.05s ======\n";
        assert_eq!(summary(text).unwrap(), "2 passed");
        assert_eq!(summary("Segmentation fault\n"), None);
    }
}
