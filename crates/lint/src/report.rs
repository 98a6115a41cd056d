//! Findings, and how they are shown.

use std::fmt;

use serde::Serialize;

use super::finding::Finding;
use super::rule::Severity;

/// Name and version of the JSON that [`Report::to_json`] writes. The number grows when a field
/// changes its meaning or goes; new fields may come without.
pub const SCHEMA: &str = "fairtree.lint/1";

/// At most this many characters of a line are shown.
const WIDEST: usize = 120;

/// The findings. Printed as compilers do: place, severity, rule and reason; the line with the part
/// in question marked; the remedy.
#[derive(Debug)]
pub struct Report {
    /// Names of the files read, the first one given by the caller.
    pub files: Vec<String>,
    /// By file, in the order of reading, then by line and column.
    pub findings: Vec<Finding>,
}

impl Report {
    /// 1 if there is an error or a warning, 0 if not: notes alone are 0.
    pub fn exit_code(&self) -> u8 {
        let findings = self.findings.iter();
        let worst = findings.map(Finding::severity).max();
        u8::from(worst >= Some(Severity::Warning))
    }

    /// Number of findings of that severity.
    pub fn count(&self, severity: Severity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|finding| finding.severity() == severity)
            .count()
    }

    /// One JSON object with the fields `schema` ([`SCHEMA`]), `files`, `errors`, `warnings`,
    /// `notes` (numbers) and `findings`: `rule`, `severity` (`error`, `warning`, `note`), `file`,
    /// `line`, `column`, `length` (from 1, in characters), `source` (the line), `reason`,
    /// `remedy`, `reference` (what the rule rests on).
    pub fn to_json(&self) -> String {
        let findings = self.findings.iter().map(JsonFinding::new).collect();
        let report = JsonReport {
            schema: SCHEMA,
            files: &self.files,
            errors: self.count(Severity::Error),
            warnings: self.count(Severity::Warning),
            notes: self.count(Severity::Note),
            findings,
        };
        serde_json::to_string_pretty(&report).expect("strings and numbers can be written")
    }
}

#[derive(Serialize)]
struct JsonReport<'a> {
    schema: &'a str,
    files: &'a [String],
    errors: usize,
    warnings: usize,
    notes: usize,
    findings: Vec<JsonFinding<'a>>,
}

#[derive(Serialize)]
struct JsonFinding<'a> {
    rule: &'a str,
    severity: &'a str,
    file: &'a str,
    line: usize,
    column: usize,
    length: usize,
    source: &'a str,
    reason: &'a str,
    remedy: &'a str,
    reference: &'a str,
}

impl<'a> JsonFinding<'a> {
    fn new(finding: &'a Finding) -> JsonFinding<'a> {
        JsonFinding {
            rule: finding.rule.id,
            severity: finding.severity().name(),
            file: &finding.place.file,
            line: finding.place.line,
            column: finding.place.column,
            length: finding.length,
            source: &finding.line,
            reason: &finding.reason,
            remedy: &finding.remedy,
            reference: finding.rule.source,
        }
    }
}

impl Report {
    /// The same text in a terminal's colours: the severity, and the characters in question.
    pub fn colored(&self) -> impl fmt::Display + '_ {
        Colored(self)
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, paint: Paint) -> fmt::Result {
        for finding in &self.findings {
            finding.write(f, paint)?;
            writeln!(f, "\n")?;
        }
        let counts = [Severity::Error, Severity::Warning, Severity::Note];
        let counts = counts.map(|severity| {
            let count = self.count(severity);
            let plural = if count == 1 { "" } else { "s" };
            format!("{count} {severity}{plural}")
        });
        writeln!(f, "{}", counts.join(", "))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Paint::None)
    }
}

struct Colored<'a>(&'a Report);

impl fmt::Display for Colored<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.write(f, Paint::Ansi)
    }
}

/// Use of colour.
#[derive(Clone, Copy)]
enum Paint {
    None,
    Ansi,
}

impl Paint {
    /// Start and end of the colour of a severity.
    fn of(self, severity: Severity) -> (&'static str, &'static str) {
        match (self, severity) {
            (Paint::None, _) => ("", ""),
            (Paint::Ansi, Severity::Error) => ("\x1b[1;31m", "\x1b[0m"),
            (Paint::Ansi, Severity::Warning) => ("\x1b[1;33m", "\x1b[0m"),
            (Paint::Ansi, Severity::Note) => ("\x1b[1;36m", "\x1b[0m"),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, Paint::None)
    }
}

impl Finding {
    fn write(&self, f: &mut fmt::Formatter<'_>, paint: Paint) -> fmt::Result {
        let (on, off) = paint.of(self.severity());
        let (line, before, marked) = excerpt(&self.line, self.place.column, self.length);
        let number = self.place.line.to_string();
        let gutter = " ".repeat(number.len());
        let marks = format!("{}{}", " ".repeat(before), "^".repeat(marked));
        let (severity, rule) = (self.severity(), self.rule.id);
        writeln!(
            f,
            "{}: {on}{severity}[{rule}]{off}: {}",
            self.place, self.reason
        )?;
        writeln!(f, "{gutter} |")?;
        writeln!(f, "{number} | {line}")?;
        writeln!(f, "{gutter} | {on}{marks}{off}")?;
        write!(f, "{gutter} = help: {}", self.remedy)
    }
}

/// The part of a line around a column, the number of characters before the marked ones, and of
/// those that are on this line, at least 1. Characters that would move the terminal's cursor are
/// replaced by one blank each.
fn excerpt(line: &str, column: usize, length: usize) -> (String, usize, usize) {
    let chars: Vec<char> = line
        .trim_end()
        .chars()
        .map(|char| if char.is_control() { ' ' } else { char })
        .collect();
    let at = (column - 1).min(chars.len());
    let marked = length.min(chars.len() - at).max(1);
    if chars.len() <= WIDEST {
        return (chars.into_iter().collect(), at, marked);
    }
    let from = at.saturating_sub(WIDEST / 3);
    let to = (from + WIDEST).min(chars.len());
    let dots = if from > 0 { "…" } else { "" };
    let more = if to < chars.len() { "…" } else { "" };
    let middle: String = chars[from..to].iter().collect();
    let before = at - from + dots.chars().count();
    (
        format!("{dots}{middle}{more}"),
        before,
        marked.min((to - at).max(1)),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    const ONE: &str = "PriorityType=priority/multifactor\n\
                       AccountingStorageType=accounting_storage/slurmdbd\n\
                       PriorityWeightAge=1000\n\
                       \tPriorityMaxAge = 7   # a week\n";

    #[test]
    fn text_shows_place_rule_reason_line_mark_and_remedy() {
        let expected = "\
slurm.conf:4:19: warning[max-age-minutes]: a lone number is minutes: jobs that wait longer than 7 minutes are all of the same age
  |
4 |  PriorityMaxAge = 7   # a week
  |                   ^
  = help: write PriorityMaxAge=7-0 if days are meant

0 errors, 1 warning, 0 notes
";
        assert_eq!(run(ONE, "slurm.conf").to_string(), expected);
    }

    #[test]
    fn json_has_the_same_with_a_schema() {
        let report = run(ONE, "slurm.conf");
        let json: serde_json::Value = serde_json::from_str(&report.to_json()).unwrap();
        assert_eq!(json["schema"], SCHEMA);
        assert_eq!(json["warnings"], 1);
        let finding = &json["findings"][0];
        assert_eq!(finding["rule"], "max-age-minutes");
        assert_eq!(
            (&finding["line"], &finding["column"]),
            (&4.into(), &19.into())
        );
        assert_eq!(finding["source"], "\tPriorityMaxAge = 7   # a week");
    }

    #[test]
    fn nothing_found_is_0() {
        let report = run("ClusterName=x\n", "slurm.conf");
        assert_eq!(report.exit_code(), 0);
        assert_eq!(report.to_string(), "0 errors, 0 warnings, 0 notes\n");
        assert_eq!(run(ONE, "slurm.conf").exit_code(), 1);
    }

    #[test]
    fn long_lines_are_cut_around_the_mark() {
        let line = "x".repeat(500);
        let (shown, before, marked) = excerpt(&line, 401, 50);
        assert_eq!(shown.chars().count(), 122);
        assert_eq!((before, marked), (41, 50));
        let (shown, before, marked) = excerpt(&line, 481, 50);
        assert_eq!((shown.chars().count(), before, marked), (61, 41, 20));
        assert_eq!(excerpt("ab", 9, 3), ("ab".to_string(), 2, 1));
    }
}
