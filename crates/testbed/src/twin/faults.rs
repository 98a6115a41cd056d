//! The faults of stock, one small life each (`tests/twin/faults`): stock gives its recorded wrong
//! numbers, ours gives the right ones, and ours under `compat=slurm` gives stock's.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use xtask::installation::Installation;
use xtask::progress::Progress;
use xtask::release::Release;
use xtask::{interrupt, prefix, project};

use super::compare::compare;
use super::fault::{Fault, Record, agree, files};
use super::host::{Dump, TwinHost};
use super::outcome::{Outcome, Pair};
use super::promise::Promise;
use super::{COMPAT, build_host};

/// Play the lives of the faults of stock.
#[derive(Args)]
pub struct Arguments {
    /// Only those whose name contains this
    #[arg(default_value = "")]
    filter: String,
    /// Slurm's release
    #[arg(long, env = "SLURM", default_value_t = prefix::preset())]
    slurm: Release,
    /// Record what stock gives, instead of checking it
    #[arg(long)]
    record: bool,
}

/// Runs `cargo testbed twin faults`.
///
/// # Errors
/// Fails if a plugin or host is missing or does not build, and for every wrong number.
pub fn run(arguments: &Arguments, progress: &Progress) -> Result<()> {
    let installation = Installation::of(&arguments.slurm, progress)?;
    let comparison = Comparison::build(&installation, progress)?;
    if arguments.record {
        return comparison.record(&arguments.filter);
    }
    comparison.check(&arguments.filter, progress)
}

/// The two plugins of a release, and the host.
pub struct Comparison {
    release: Release,
    host: TwinHost,
    stock: PathBuf,
    ours: PathBuf,
}

impl Comparison {
    /// Creates a comparison with the plugin that was built for an installed release.
    ///
    /// # Errors
    /// Fails if a plugin or the host is missing or does not build.
    pub fn build(installation: &Installation, progress: &Progress) -> Result<Comparison> {
        let release = installation.release();
        let host = build_host(installation, progress)?;
        let (stock, ours) = (host.stock(), project::plugin(release));
        for plugin in [&stock, &ours] {
            ensure!(plugin.is_file(), "{}: no such plugin", plugin.display());
        }
        Ok(Comparison {
            release: release.clone(),
            host,
            stock,
            ours,
        })
    }

    fn record(&self, filter: &str) -> Result<()> {
        for path in files(filter)? {
            let fault = Fault::read(&path)?;
            let answers = self.ask(&self.host, &self.stock, &fault)?;
            let mut record = Record::read_or_new(&fault, &path);
            for (answer, asked) in answers.iter().zip(&fault.questions) {
                println!(
                    "{}\t{}\t{answer}\tright {}",
                    fault.name, asked.field, asked.right
                );
            }
            record.set(&self.release, answers);
            record.write(&path)?;
        }
        Ok(())
    }

    fn check(&self, filter: &str, progress: &Progress) -> Result<()> {
        let mut wrong = vec![];
        let paths = files(filter)?;
        for path in &paths {
            interrupt::check()?;
            let found = self.differences(path)?;
            for line in &found {
                progress.print(line);
            }
            wrong.extend(found);
        }
        ensure!(
            wrong.is_empty(),
            "{} numbers of the faults of stock are not what they must be",
            wrong.len()
        );
        progress.print(format!(
            "{} faults of stock {}: all shown, right by default",
            paths.len(),
            self.release
        ));
        Ok(())
    }

    /// Describes all errors in the life of a file.
    ///
    /// # Errors
    /// Fails if the file or its record cannot be read, or if the life cannot be played.
    pub fn differences(&self, path: &Path) -> Result<Vec<String>> {
        let fault = Fault::read(path)?;
        let name = &fault.name;
        let found = self.differences_of(&fault, path);
        let found = found.with_context(|| format!("fault {name}"))?;
        let named = found.iter().map(|line| format!("fault {name}: {line}"));
        Ok(named.collect())
    }

    fn differences_of(&self, fault: &Fault, path: &Path) -> Result<Vec<String>> {
        let record = Record::read(fault, path)?;
        let (release, recorded) = record.of(&self.release)?;
        let concerned = fault.concerns(release);
        let mut found = vec![];
        let stock = self.ask(&self.host, &self.stock, fault)?;
        let ours = self.ask(&self.host, &self.ours, fault)?;
        for (at, asked) in fault.questions.iter().enumerate() {
            let mut expect = |who: &str, answer: &str, expected: &str| {
                if !agree(answer, expected) {
                    let field = &asked.field;
                    found.push(format!("{who}: {field} is {answer} instead of {expected}"));
                }
            };
            expect("stock", &stock[at], &recorded[at]);
            let right = if concerned {
                &asked.right
            } else {
                &recorded[at]
            };
            expect("ours", &ours[at], right);
        }
        let mut answers = stock.iter().zip(&fault.questions);
        if concerned && answers.all(|(answer, asked)| agree(answer, &asked.right)) {
            found.push(format!("stock {} does not have this fault", self.release));
        }
        found.extend(self.compat(fault, concerned)?);
        Ok(found)
    }

    /// Describes the errors under `compat=slurm`: it gives stock's numbers, but shares only faults
    /// in numbers.
    fn compat(&self, fault: &Fault, concerned: bool) -> Result<Vec<String>> {
        let host = self.host.clone().with("--conf", COMPAT);
        if !fault.compat_is_right || !concerned {
            return self.compat_is_stock(&host, fault);
        }
        let answers = self.ask(&host, &self.ours, fault)?;
        let asked = answers.iter().zip(&fault.questions);
        let wrong = asked.filter(|(answer, asked)| !agree(answer, &asked.right));
        Ok(wrong
            .map(|(answer, asked)| {
                let (field, right) = (&asked.field, &asked.right);
                format!("compat=slurm: {field} is {answer} instead of {right}")
            })
            .collect())
    }

    fn compat_is_stock(&self, host: &TwinHost, fault: &Fault) -> Result<Vec<String>> {
        let pair = Pair {
            host,
            stock: &self.stock,
            ours: &self.ours,
            promise: Promise::Same,
        };
        Ok(match compare(&pair, &fault.life)? {
            Outcome::Same | Outcome::Explained(_) => vec![],
            Outcome::StockDies(ending) => vec![format!("stock ends with {ending}")],
            Outcome::Differs(difference) => vec![format!("compat=slurm: {difference}")],
        })
    }

    /// The answers of one plugin, in the order of the questions.
    fn ask(&self, host: &TwinHost, plugin: &Path, fault: &Fault) -> Result<Vec<String>> {
        let lines = fault.questions.iter().map(|asked| asked.line);
        let (first, last) = (lines.clone().min(), lines.max());
        let asked = first.zip(last).context("a fault without questions")?;
        let dump = host.play(plugin, &fault.life, Some(asked))?;
        let questions = fault.questions.iter();
        questions
            .map(|asked| match asked.field.as_str() {
                "ending" => Ok(dump.ending.clone()),
                field => answer(&dump, asked.line, field),
            })
            .collect()
    }
}

/// The value of a field after a line of the life; `(absent)` if it has none.
pub(super) fn answer(dump: &Dump, line: usize, field: &str) -> Result<String> {
    let mut value = "(absent)";
    for text in &dump.lines {
        if let Some(event) = text.strip_prefix("= ") {
            if event.split(' ').next() == Some(&line.to_string()) {
                return Ok(value.to_owned());
            }
            value = "(absent)";
        } else if let Some(rest) = text.strip_prefix(field) {
            if rest.starts_with(' ') && value == "(absent)" {
                // A number with a fraction is dumped as bits and as decimals.
                value = rest.rsplit(' ').next().unwrap_or_default();
            }
        }
    }
    bail!("line {line} was not played: {}", dump.ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_belong_to_a_line() {
        let lines = [
            "assoc 3 usage_raw f80:3fff8000000000000000 1",
            "= 4 pass aa",
            "assoc 3 usage_raw_too 7",
            "assoc 3 usage_raw f80:40008000000000000000 2",
            "= 5 pass bb",
            "= 6 pass cc",
        ];
        let dump = Dump {
            ending: "exit 0".to_owned(),
            lines: lines.map(str::to_owned).to_vec(),
        };
        let asked = |line| answer(&dump, line, "assoc 3 usage_raw").unwrap();
        assert_eq!([4, 5, 6].map(asked), ["1", "2", "(absent)"]);
        assert!(answer(&dump, 7, "assoc 3 usage_raw").is_err());
    }
}
