//! The twin host: building it, and playing lives with it.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use xtask::installation::Installation;
use xtask::project;
use xtask::release::Release;
use xtask::source;

use super::life::Life;
use super::promise::{DOCUMENTED, Promise};

/// A built host and the Slurm that it runs with.
#[derive(Clone)]
pub struct TwinHost {
    program: PathBuf,
    installation: Installation,
    further: Vec<String>,
    under: Vec<String>,
    variables: Vec<(String, String)>,
}

/// The result of one run of a life.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dump {
    /// The program's ending: "exit 0", or a different status with its output.
    pub ending: String,
    /// The dump's lines, see `tests/twin/main.c`.
    pub lines: Vec<String>,
}

impl TwinHost {
    /// Builds the host against a configured source of Slurm and the libslurmfull of the same release.
    pub fn build(source: &Path, installation: &Installation, program: &Path) -> Result<TwinHost> {
        TwinHost::make(source, installation, program, &[])
    }

    /// Builds the host for measurements (`tests/twin/bench`).
    pub fn build_bench(
        source: &Path,
        installation: &Installation,
        program: &Path,
    ) -> Result<TwinHost> {
        TwinHost::make(source, installation, program, &["BENCH=1"])
    }

    /// Builds the host with further words for make, for instance `NAME=VALUE`.
    pub fn make(
        source: &Path,
        installation: &Installation,
        program: &Path,
        words: &[&str],
    ) -> Result<TwinHost> {
        let here = project::root().join("tests/twin");
        let library = installation.library();
        // Two simultaneous builds would write the same files.
        let _lock = project::lock(program.parent().context("a folder of builds")?)?;
        renew(
            program,
            &format!("{}\n{}\n", source.display(), library.display()),
        )?;
        let mut make = Command::new("make");
        make.arg("--quiet").arg("-C").arg(&here).args(words);
        let build = source::expect_configured(source)?;
        for (key, value) in [
            ("SLURM_SRC", source),
            ("SLURM_BUILD", &build),
            ("SLURM_LIB", &library),
            ("OUT", program),
        ] {
            let mut word = OsString::from(key);
            word.push("=");
            word.push(std::path::absolute(value)?);
            make.arg(word);
        }
        if !make.status().context("make")?.success() {
            bail!("the twin host does not build");
        }
        Ok(TwinHost {
            program: program.to_owned(),
            installation: installation.clone(),
            further: vec![],
            under: vec![],
            variables: vec![],
        })
    }

    /// Adds an option and its value to every run.
    pub fn with(mut self, option: &str, value: &str) -> TwinHost {
        self.further.extend([option.to_owned(), value.to_owned()]);
        self
    }

    /// Makes another program run the host; `words`: that program and its arguments.
    pub fn under(mut self, words: &[&str]) -> TwinHost {
        self.under = words.iter().map(|word| (*word).to_owned()).collect();
        self
    }

    /// Sets a variable of the environment for every run.
    pub fn with_variable(mut self, name: &str, value: &str) -> TwinHost {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Adds the settings under which the plugin under test keeps a promise; `same` is the setting
    /// for `Promise::Same`.
    pub fn promising(self, promise: Promise, same: &str) -> TwinHost {
        match promise {
            Promise::Same => self.with("--conf", same),
            Promise::Documented => DOCUMENTED
                .iter()
                .fold(self, |host, setting| host.with("--conf", setting)),
        }
    }

    /// The release that it is built for.
    pub fn release(&self) -> &Release {
        self.installation.release()
    }

    /// Slurm's own plugin of this release.
    pub fn stock(&self) -> PathBuf {
        self.installation.library().join("priority_multifactor.so")
    }

    /// Prepares a run of the life `text` with a plugin, in an empty folder, where it leaves the
    /// files `dump` and `log`.
    pub fn prepare(&self, plugin: &Path, text: &str, folder: &Path) -> Result<Command> {
        let at = |name: &str| folder.join(name);
        fs::create_dir(at("state"))?;
        fs::write(at("life"), text)?;
        let mut command = self.installation.linked(&self.program, &self.under);
        command.arg("--plugin").arg(plugin);
        command.arg("--plugin-dir").arg(self.installation.library());
        command.arg("--life").arg(at("life"));
        command.arg("--state").arg(at("state"));
        command.arg("--dump").arg(at("dump"));
        command.arg("--log").arg(at("log"));
        command.args(&self.further);
        command.envs(self.variables.iter().map(|(name, value)| (name, value)));
        Ok(command)
    }

    /// Plays a life in a temporary folder; `full` gives the first and the last line after which
    /// every field is dumped.
    pub fn play(&self, plugin: &Path, life: &Life, full: Option<(usize, usize)>) -> Result<Dump> {
        let folder = tempfile::tempdir()?;
        let mut command = self.prepare(plugin, &life.text(), folder.path())?;
        if let Some((first, last)) = full {
            command.arg("--full").arg(format!("{first}-{last}"));
        }
        TwinHost::run(&mut command, folder.path())
    }

    /// Plays a life and returns the dump and the trace of all calls, without the last call if the
    /// program died.
    pub fn trace(&self, plugin: &Path, life: &Life) -> Result<(Dump, String)> {
        let folder = tempfile::tempdir()?;
        let trace = folder.path().join("trace");
        let mut command = self.prepare(plugin, &life.text(), folder.path())?;
        command.arg("--trace").arg(&trace);
        let dump = TwinHost::run(&mut command, folder.path())?;
        let mut trace = fs::read_to_string(trace).unwrap_or_default();
        if dump.ending != "exit 0" {
            // The last call of a program that died is incomplete.
            trace.truncate(trace.rfind("\n@ ").map_or(0, |at| at + 1));
        }
        Ok((dump, trace))
    }

    fn run(command: &mut Command, folder: &Path) -> Result<Dump> {
        let output = command.output().context("the twin host")?;
        let dump = fs::read_to_string(folder.join("dump")).unwrap_or_default();
        let mut ending = output.status.to_string().replace("exit status:", "exit");
        if !output.stderr.is_empty() {
            ending.push_str(": ");
        }
        ending.push_str(&String::from_utf8_lossy(&output.stderr));
        Ok(Dump {
            ending: ending.trim_end().to_owned(),
            lines: dump.lines().map(str::to_owned).collect(),
        })
    }
}

/// Removes a program that was built from a different source or with a different library: make
/// compares only times, and one release may be installed in several places.
fn renew(program: &Path, of: &str) -> Result<()> {
    let note = program.with_extension("built-of");
    if fs::read_to_string(&note).is_ok_and(|found| found == of) {
        return Ok(());
    }
    match fs::remove_file(program) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => fs::write(&note, of)?,
    }
    Ok(())
}
