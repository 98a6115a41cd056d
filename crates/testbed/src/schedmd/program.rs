//! A small program of Slurm's testsuite: associations set up in code, one pass, sshare's table.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::cluster::conf::PriorityType;
use xtask::command::checked;
use xtask::installation::Installation;
use xtask::project;
use xtask::source;

/// The subject of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Subject {
    /// Classic fair share.
    Classic,
    /// Classic fair share in which some associations have `parent` shares.
    ClassicParent,
    /// Fair Tree.
    FairTree,
}

impl Subject {
    /// All subjects: every release has one program for each.
    pub const ALL: [Subject; 3] = [Subject::Classic, Subject::ClassicParent, Subject::FairTree];

    /// The name for tests.
    pub fn name(self) -> &'static str {
        match self {
            Subject::Classic => "classic",
            Subject::ClassicParent => "classic_with_shares_of_the_parent",
            Subject::FairTree => "fair_tree",
        }
    }
}

/// Paths in Slurm's releases: the program, and the script that knows its expected output.
const PLACES: &[(Subject, &str, &str, &str)] = &[
    (
        Subject::Classic,
        "test24.1",
        "expect/test24.1.prog.c",
        "expect/test24.1",
    ),
    (
        Subject::ClassicParent,
        "test24.3",
        "expect/test24.3.prog.c",
        "expect/test24.3",
    ),
    (
        Subject::FairTree,
        "test24.4",
        "expect/test24.4.prog.c",
        "expect/test24.4",
    ),
    (
        Subject::ClassicParent,
        "test_130_2",
        "python/tests/test_130_2.c",
        "python/tests/test_130_2.py",
    ),
];

/// Parts of Slurm's own programs that the programs link, besides libslurmfull.
const PARTS: [&str; 2] = ["src/slurmctld/locks.c", "src/sshare/process.c"];

/// Number of attempts before a program's answer counts: it looks one second after the plugin's
/// thread was started, which may be too soon on a busy machine.
const ATTEMPTS: usize = 5;

/// A program and its expected output.
pub struct Program {
    /// The test's name.
    pub name: String,
    /// Parts of lines; the program must print each of them.
    pub expected: Vec<String>,
    source: PathBuf,
}

impl Program {
    /// The program of a release about a subject.
    ///
    /// # Errors
    /// Fails if it has none, or if the script expects nothing.
    pub fn of(slurm: &Path, subject: Subject) -> Result<Program> {
        let suite = slurm.join("testsuite");
        let mut places = PLACES.iter();
        let (_, name, source, script) = places
            .find(|(of, _, source, _)| *of == subject && suite.join(source).exists())
            .with_context(|| {
                format!("no program about {} in {}", subject.name(), suite.display())
            })?;
        let script = suite.join(script);
        let text = fs::read_to_string(&script)
            .with_context(|| format!("cannot read {}", script.display()))?;
        let expected = expected(&text);
        ensure!(!expected.is_empty(), "{} expects nothing", script.display());
        Ok(Program {
            name: (*name).to_owned(),
            expected,
            source: suite.join(source),
        })
    }
}

/// The lines that a script, of expect or of Python, looks for: string literals that end in `|`.
fn expected(script: &str) -> Vec<String> {
    script
        .lines()
        .filter_map(|line| {
            let line = line.trim();
            let literal = line
                .strip_suffix(" {")
                .or_else(|| line.strip_prefix("re.search(")?.strip_suffix(", output)"))
                .or_else(|| line.strip_prefix('r')?.strip_suffix(','))?;
            let literal = literal.strip_prefix('r').unwrap_or(literal);
            let text = literal.strip_prefix('"')?.strip_suffix('"')?;
            // In Python they are regular expressions, with only these two escapes.
            let text = text.replace("\\|", "|");
            text.ends_with('|').then_some(text)
        })
        .collect()
}

/// The tools that build programs for one release.
pub struct Toolchain {
    headers: [PathBuf; 3],
    installation: Installation,
    stock_plugins: PathBuf,
    our_plugins: PathBuf,
    folder: PathBuf,
    objects: Vec<PathBuf>,
}

impl Toolchain {
    /// Compiles the parts that all programs share; results go to `folder`.
    pub fn new(slurm: &Path, installation: &Installation, folder: &Path) -> Result<Toolchain> {
        let mut tools = Toolchain {
            headers: source::headers(slurm)?,
            installation: installation.clone(),
            stock_plugins: installation.library(),
            our_plugins: project::slurm(installation.release()),
            folder: folder.to_owned(),
            objects: Vec::new(),
        };
        for part in PARTS {
            let source = slurm.join(part);
            let object = folder
                .join(source.file_stem().context("a file")?)
                .with_extension("o");
            let mut compile = tools.compiler();
            compile.args(["-DHAVE_CONFIG_H", "-c"]).arg(&source);
            checked(compile.arg("-o").arg(&object))?;
            tools.objects.push(object);
        }
        Ok(tools)
    }

    fn compiler(&self) -> Command {
        let mut command = Command::new("cc");
        command.args(["-g", "-pthread"]);
        for folder in &self.headers {
            command.arg("-isystem").arg(folder);
        }
        command
    }

    /// `PluginDir` with a plugin in it.
    pub fn plugins(&self, priority: PriorityType) -> String {
        let stock = self.stock_plugins.display();
        match priority {
            PriorityType::Multifactor => stock.to_string(),
            PriorityType::Fairtree => format!("{}:{stock}", self.our_plugins.display()),
        }
    }

    /// Builds a program from a copy with this plugin's name.
    pub fn build<'a>(&'a self, program: &'a Program, priority: PriorityType) -> Result<Built<'a>> {
        let stock = PriorityType::Multifactor.conf();
        let text = fs::read_to_string(&program.source)?;
        ensure!(
            text.matches(stock).count() == 1,
            "{} does not name {stock} once",
            program.source.display()
        );
        let name = format!("{}.{}", program.name, priority.conf().replace('/', "_"));
        let copy = self.folder.join(format!("{name}.c"));
        fs::write(&copy, text.replace(stock, priority.conf()))?;
        let path = self.folder.join(name);
        // As the testsuite does; the library may come from a newer system than this one.
        let mut link = self.compiler();
        link.arg(&copy).arg("-o").arg(&path);
        link.arg("-L").arg(&self.stock_plugins);
        link.args(["-lslurmfull", "-Wl,--allow-shlib-undefined", "-lresolv"]);
        link.args(["-ldl", "-lm", "-rdynamic"]).args(&self.objects);
        checked(&mut link)?;
        Ok(Built {
            tools: self,
            program,
            path,
        })
    }
}

/// A built program.
pub struct Built<'a> {
    tools: &'a Toolchain,
    program: &'a Program,
    path: PathBuf,
}

impl Built<'_> {
    /// Expected lines that the program does not print when it runs with this slurm.conf.
    ///
    /// Runs it again, a few times, while the answer is not `fine`.
    pub fn missing(&self, conf: &Path, fine: impl Fn(&[String]) -> bool) -> Result<Vec<String>> {
        let mut missing = Vec::new();
        for _ in 0..ATTEMPTS {
            xtask::interrupt::check()?;
            let printed = checked(self.command().env("SLURM_CONF", conf))?;
            let all = &self.program.expected;
            missing = all
                .iter()
                .filter(|text| !printed.contains(text.as_str()))
                .cloned()
                .collect();
            if fine(&missing) {
                break;
            }
        }
        Ok(missing)
    }

    fn command(&self) -> Command {
        let installation = &self.tools.installation;
        let mut command = installation.linked(&self.path, &[]);
        if installation.is_of_this_machine() {
            command.env("LD_LIBRARY_PATH", &self.tools.stock_plugins);
        }
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_of_expect_tells_its_lines() {
        let script = "expect {\n\t\"No last decay\" {\n\t\texp_continue\n\t}\n\
                      \t\"A||40|0.4|\" {\n\t\tincr matches\n\t}\n\ttimeout {\n";
        assert_eq!(expected(script), ["A||40|0.4|"]);
    }

    #[test]
    fn a_script_of_python_tells_its_lines() {
        let script = "    assert (\n        re.search(r\"root\\|\\|\\|1.0\\|\", output)\n\
                      \x20       is not None\n    )\n        re.search(\n\
                      \x20           r\"A\\|\\|40\\|0.2\\|cpu=0\\|\",\n            output,\n";
        assert_eq!(expected(script), ["root|||1.0|", "A||40|0.2|cpu=0|"]);
    }
}
