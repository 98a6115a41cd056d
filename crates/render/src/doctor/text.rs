//! The findings as lines, in the form of the linter's.

use std::io::{self, Write};

use fairtree_analysis::doctor::{Diagnosis, Finding, Level};

/// Writes a line per finding, one more for its remedy, and the counts; `color`: with the colours of a
/// terminal.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut impl Write, diagnosis: &Diagnosis, color: bool) -> io::Result<()> {
    for finding in &diagnosis.findings {
        line(out, finding, color)?;
    }
    let counts = [
        (Level::Error, "error"),
        (Level::Warning, "warning"),
        (Level::Unknown, "unknown"),
        (Level::Note, "note"),
    ];
    let counts = counts.map(|(level, noun)| {
        let count = diagnosis.count(level);
        let plural = if count == 1 || level == Level::Unknown {
            ""
        } else {
            "s"
        };
        format!("{count} {noun}{plural}")
    });
    let ok = diagnosis.count(Level::Ok);
    writeln!(out, "{}, {ok} ok", counts.join(", "))?;
    match diagnosis.knows_enough() {
        true => Ok(()),
        false => writeln!(
            out,
            "too little is known to call this site well: run this on slurmctld's host, as root or as \
             SlurmUser"
        ),
    }
}

fn line(out: &mut impl Write, finding: &Finding, color: bool) -> io::Result<()> {
    let (on, off) = match (color, finding.level) {
        (false, _) => ("", ""),
        (true, Level::Error) => ("\x1b[1;31m", "\x1b[0m"),
        (true, Level::Warning) => ("\x1b[1;33m", "\x1b[0m"),
        (true, Level::Note | Level::Unknown) => ("\x1b[1;36m", "\x1b[0m"),
        (true, Level::Ok) => ("\x1b[1;32m", "\x1b[0m"),
    };
    let (level, check) = (finding.level.name(), finding.check);
    writeln!(out, "{on}{level}[{check}]{off}: {}", plain(&finding.text))?;
    match &finding.remedy {
        Some(remedy) => writeln!(out, "  = help: {}", plain(remedy)),
        None => Ok(()),
    }
}

/// Names of files and versions could steer a terminal.
fn plain(text: &str) -> String {
    let shown = text.chars();
    shown
        .map(|c| if c.is_control() { '?' } else { c })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_each_with_its_remedy_and_the_counts() {
        let finding = |check, level, remedy: Option<&str>| Finding {
            check,
            level,
            text: "text\x1b[31m".to_owned(),
            remedy: remedy.map(str::to_owned),
        };
        let diagnosis = Diagnosis {
            findings: vec![
                finding("a", Level::Ok, None),
                finding("b", Level::Error, Some("do this")),
                finding("c", Level::Warning, Some("do that")),
                finding("c", Level::Warning, Some("and that")),
            ],
        };
        let mut out = Vec::new();
        write(&mut out, &diagnosis, false).unwrap();
        let expected = "ok[a]: text?[31m\nerror[b]: text?[31m\n  = help: do this\n\
                        warning[c]: text?[31m\n  = help: do that\nwarning[c]: text?[31m\n  = help: and that\n\
                        1 error, 2 warnings, 0 unknown, 0 notes, 1 ok\n";
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
