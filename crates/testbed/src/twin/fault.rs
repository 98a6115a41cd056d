//! One fault of stock: a life with questions, and stock's answers.
//!
//! A life of `tests/twin/faults` is a normal life with comments that have a meaning here:
//!
//! | line | meaning |
//! |---|---|
//! | `#? FIELD = VALUE` | this value of the field is right after the line above; `ending` is the host's ending |
//! | `#! only RELEASE ...` | of the recorded releases, only these have the fault; in others ours answers like stock |
//! | `#! compat right` | `compat=slurm` does not share the fault: it is not a fault in a number |
//!
//! Stock's answers are in the file of the same name with the ending `.stock`, one column per
//! release. A release without a column has the answers of the last column before it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};

use xtask::project;
use xtask::release::Release;

use super::life::Life;

/// A question after an event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Question {
    /// The event, as a line of the life without comments, from 1.
    pub line: usize,
    /// Record, id and field.
    pub field: String,
    /// The right value, computed by hand.
    pub right: String,
}

/// A fault of stock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The file's name without ending.
    pub name: String,
    /// The events.
    pub life: Life,
    /// The questions.
    pub questions: Vec<Question>,
    /// True if `compat=slurm` gives the right answers, too.
    pub compat_is_right: bool,
    only: Vec<Release>,
}

/// The lives of the faults whose name contains `filter`, by name.
///
/// # Errors
/// Fails if the folder cannot be read or has no such file.
pub fn files(filter: &str) -> Result<Vec<PathBuf>> {
    let folder = project::root().join("tests/twin/faults");
    let mut found = vec![];
    for entry in fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let is_life = path.extension().is_some_and(|ending| ending == "life");
        if is_life && name_of(&path).contains(filter) {
            found.push(path);
        }
    }
    found.sort();
    ensure!(!found.is_empty(), "no fault is named like `{filter}`");
    Ok(found)
}

/// The name of the fault for a life's file.
pub fn name_of(path: &Path) -> String {
    let stem = path.file_stem().unwrap_or_default();
    stem.to_string_lossy().into_owned()
}

impl Fault {
    /// Reads a life with its questions.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or if a comment of this form is unknown.
    pub fn read(path: &Path) -> Result<Fault> {
        let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
        Fault::parse(name_of(path), &text).with_context(|| path.display().to_string())
    }

    fn parse(name: String, text: &str) -> Result<Fault> {
        let mut fault = Fault {
            name,
            life: Life::parse(text),
            questions: vec![],
            compat_is_right: false,
            only: vec![],
        };
        let mut line = 0;
        for text in text.lines().map(str::trim) {
            if let Some(question) = text.strip_prefix("#? ") {
                let (field, right) = question.split_once(" = ").context(question.to_owned())?;
                // An explanation may follow the value.
                let right = right.split("  #").next().unwrap_or_default().trim();
                fault.questions.push(Question {
                    line,
                    field: field.trim().to_owned(),
                    right: right.to_owned(),
                });
            } else if let Some(remark) = text.strip_prefix("#! ") {
                fault.remark(remark)?;
            } else if !text.is_empty() && !text.starts_with('#') {
                line += 1;
            }
        }
        ensure!(!fault.questions.is_empty(), "no line asks anything");
        Ok(fault)
    }

    fn remark(&mut self, remark: &str) -> Result<()> {
        let mut words = remark.split_whitespace();
        match words.next() {
            Some("only") => self.only = words.map(str::parse).collect::<Result<_>>()?,
            Some("compat") if words.eq(["right"]) => self.compat_is_right = true,
            _ => bail!("`{remark}` means nothing"),
        }
        Ok(())
    }

    /// Returns true if stock of this recorded release has the fault.
    pub fn concerns(&self, release: &Release) -> bool {
        self.only.is_empty() || self.only.contains(release)
    }
}

/// Stock's answers by release.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Record {
    fields: Vec<String>,
    columns: Vec<(Release, Vec<String>)>,
}

const FIRST_LINE: &str = "# What priority/multifactor gives: `cargo testbed twin faults --record` wrote it down. One column a release.";

impl Record {
    fn path(life: &Path) -> PathBuf {
        life.with_extension("stock")
    }

    /// Reads the record of a life.
    ///
    /// # Errors
    /// Fails if the file is missing or answers different questions.
    pub fn read(fault: &Fault, life: &Path) -> Result<Record> {
        let path = Record::path(life);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        let record = Record::parse(&text).with_context(|| path.display().to_string())?;
        let asked: Vec<&str> = fault.questions.iter().map(|q| q.field.as_str()).collect();
        ensure!(
            record.fields == asked,
            "{} answers other questions",
            path.display()
        );
        Ok(record)
    }

    /// The record of a life if it answers the life's questions, else an empty record.
    pub fn read_or_new(fault: &Fault, life: &Path) -> Record {
        Record::read(fault, life).unwrap_or_else(|_| Record {
            fields: fault.questions.iter().map(|q| q.field.clone()).collect(),
            columns: vec![],
        })
    }

    fn parse(text: &str) -> Result<Record> {
        let mut lines = text.lines().filter(|line| !line.starts_with('#'));
        let mut head = lines.next().context("it is empty")?.split('\t');
        ensure!(
            head.next() == Some("field"),
            "its first column is not `field`"
        );
        let mut record = Record::default();
        for release in head {
            record.columns.push((release.parse()?, vec![]));
        }
        for line in lines {
            let mut cells = line.split('\t').map(str::to_owned);
            record.fields.extend(cells.next());
            for (_, column) in &mut record.columns {
                column.push(
                    cells
                        .next()
                        .with_context(|| format!("`{line}` is too short"))?,
                );
            }
        }
        Ok(record)
    }

    /// The answers of a release, or of the last recorded release before it; and the release that
    /// they come from.
    ///
    /// # Errors
    /// Fails if none is recorded.
    pub fn of(&self, release: &Release) -> Result<(&Release, &[String])> {
        let before = |(of, _): &&(Release, Vec<String>)| of.numbers() <= release.numbers();
        let columns = self.columns.iter().filter(before);
        let column = columns.max_by_key(|(of, _)| of.numbers());
        let column = column.with_context(|| format!("nothing is recorded of {release}"))?;
        Ok((&column.0, &column.1))
    }

    /// Stores the answers of a release.
    pub fn set(&mut self, release: &Release, answers: Vec<String>) {
        self.columns.retain(|(of, _)| of != release);
        self.columns.push((release.clone(), answers));
        self.columns.sort_by_key(|(of, _)| of.numbers());
    }

    /// Writes the record of a life.
    ///
    /// # Errors
    /// Fails with errors of the file system.
    pub fn write(&self, life: &Path) -> Result<()> {
        let path = Record::path(life);
        fs::write(&path, self.text()).with_context(|| path.display().to_string())
    }

    fn text(&self) -> String {
        let mut head = vec!["field".to_owned()];
        head.extend(self.columns.iter().map(|(of, _)| of.to_string()));
        let mut lines = vec![FIRST_LINE.to_owned(), head.join("\t")];
        for (at, field) in self.fields.iter().enumerate() {
            let mut cells = vec![field.clone()];
            cells.extend(self.columns.iter().map(|(_, answers)| answers[at].clone()));
            lines.push(cells.join("\t"));
        }
        lines.join("\n") + "\n"
    }
}

/// Allowed difference of two numbers: a hand calculation has fewer digits, and C libraries differ
/// in the last bit of `pow`.
const TOLERANCE: f64 = 1e-12;

/// Returns true if two answers are the same as text or as numbers.
pub fn agree(one: &str, other: &str) -> bool {
    if one == other {
        return true;
    }
    let (Ok(one), Ok(other)) = (one.parse::<f64>(), other.parse::<f64>()) else {
        return false;
    };
    (one - other).abs() <= TOLERANCE * other.abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Result<Fault> {
        Fault::parse("sample".to_owned(), text)
    }

    #[test]
    fn questions_belong_to_the_line_above() {
        let text = "# A life.\n#! only 24.11.5\nclock 5\n\nboot # start\n#? job 1 priority = 7  # by hand\n";
        let fault = fault(text).unwrap();
        assert_eq!(fault.life.lines, ["clock 5", "boot"]);
        let [question] = &fault.questions[..] else {
            panic!("{:?}", fault.questions)
        };
        assert_eq!(question.line, 2);
        assert_eq!(
            (&*question.field, &*question.right),
            ("job 1 priority", "7")
        );
        assert!(fault.concerns(&"24.11.5".parse().unwrap()));
        assert!(!fault.concerns(&"22.05.8".parse().unwrap()));
        assert!(!fault.compat_is_right);
    }

    #[test]
    fn what_means_nothing_is_refused() {
        assert!(fault("boot\n").is_err());
        assert!(fault("boot\n#? job 1 priority 7\n").is_err());
        assert!(fault("#! odd\nboot\n#? job 1 priority = 7\n").is_err());
    }

    #[test]
    fn records_are_read_as_they_are_written() {
        let fault = fault("boot\n#? job 1 priority = 7\n").unwrap();
        let mut record = Record {
            fields: vec![fault.questions[0].field.clone()],
            columns: vec![],
        };
        for (release, answer) in [("24.11.5", "8"), ("22.05.8", "9"), ("24.11.5", "10")] {
            record.set(&release.parse().unwrap(), vec![answer.to_owned()]);
        }
        assert_eq!(Record::parse(&record.text()).unwrap(), record);
        assert!(
            record
                .text()
                .ends_with("field\t22.05.8\t24.11.5\njob 1 priority\t9\t10\n")
        );
    }

    /// The number at the start of a table cell, if there is one.
    fn number(cell: &str) -> Option<f64> {
        cell.split(' ').next().and_then(|word| word.parse().ok())
    }

    /// Stock's first wrong answer, and the right answer.
    fn first_wrong<'a>(fault: &'a Fault, stock: &'a [String]) -> (&'a str, &'a str) {
        let mut answers = stock.iter().zip(&fault.questions);
        let (answer, asked) = answers
            .find(|(answer, asked)| !agree(answer, &asked.right))
            .expect("stock is wrong somewhere");
        (answer, &asked.right)
    }

    #[test]
    fn the_documentation_tells_each_fault_with_its_numbers() {
        let document = project::root().join("docs/parity.md");
        let document = fs::read_to_string(document).unwrap();
        let lives = files("").unwrap();
        for path in &lives {
            let fault = Fault::read(path).unwrap();
            let record = Record::read(&fault, path).unwrap();
            let name = &fault.name;
            let begin = format!("| [{name}](../tests/twin/faults/{name}.life)");
            let row = document.lines().find(|line| line.starts_with(&begin));
            let row = row.unwrap_or_else(|| panic!("no row of {name}"));
            let cells: Vec<&str> = row.split('|').map(str::trim).collect();
            let [.., stock, right, releases, ""] = cells[..] else {
                panic!("{row}");
            };
            let concerned = Release::supported()
                .into_iter()
                .filter(|r| fault.concerns(r));
            let concerned: Vec<Release> = concerned.collect();
            let names: Vec<String> = concerned.iter().map(Release::to_string).collect();
            let told = if fault.only.is_empty() {
                "both"
            } else {
                &*names.join(", ")
            };
            assert_eq!(releases, told, "{name}");
            assert_eq!(cells[1].ends_with('¹'), fault.compat_is_right, "{name}");
            for release in &concerned {
                let (answer, expected) = first_wrong(&fault, record.of(release).unwrap().1);
                for (cell, truth) in [(stock, answer), (right, expected)] {
                    let Some(truth) = number(truth) else { continue };
                    let found = number(cell).unwrap_or_else(|| panic!("{name}: {cell}"));
                    let near = (found - truth).abs() <= 2e-6 * truth.abs();
                    assert!(near, "{name}: {cell} is not {truth}");
                }
            }
        }
        let rows = document
            .lines()
            .filter(|line| line.contains("(../tests/twin/faults/"));
        assert_eq!(rows.count(), lives.len());
    }

    #[test]
    fn numbers_agree_in_twelve_digits() {
        assert!(agree("1", "1.0000000000001"));
        assert!(!agree("1", "1.00000000001"));
        assert!(!agree("0.1", "0"));
        assert!(agree("exit 0", "exit 0"));
    }
}
