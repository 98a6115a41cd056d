//! `target/bench/report.md`: an introduction, and a part for each section that was measured.
//!
//! The document is the store of its parts: a section that is measured alone replaces only its own
//! part. A run that ends early therefore loses only the parts that it has not measured. All parts
//! come from one machine: on a different machine the document starts again.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use anyhow::{Context as _, Result};

/// The first characters of each part.
const HEAD: &str = "## ";

/// The document.
pub struct Report {
    file: PathBuf,
    introduction: String,
    /// The parts in the order of the document; each begins with its heading.
    parts: Vec<String>,
    /// The first lines of all possible parts, in order.
    headings: Vec<String>,
}

impl Report {
    /// Opens the document in `file` with a new introduction, which names the machine. Parts stay if
    /// the introduction has not changed. `headings`: the first lines of all possible parts.
    ///
    /// # Errors
    /// Fails if the file exists and cannot be read.
    pub fn open(file: PathBuf, introduction: String, headings: Vec<String>) -> Result<Report> {
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error).with_context(|| file.display().to_string()),
        };
        let (old, mut parts) = split(&text);
        if old.trim_end() != introduction.trim_end() {
            parts.clear();
        }
        Ok(Report {
            file,
            introduction,
            parts,
            headings,
        })
    }

    /// Puts a part in its place and writes the document.
    ///
    /// # Errors
    /// Fails if the file cannot be written; the old file then stays.
    pub fn put(&mut self, part: String) -> Result<()> {
        self.parts.retain(|other| heading(other) != heading(&part));
        self.parts.push(part);
        let place = |part: &String| {
            self.headings
                .iter()
                .position(|known| known == heading(part))
        };
        self.parts.retain(|part| place(part).is_some());
        self.parts.sort_by_key(place);
        let whole = self.file.with_extension("md.new");
        fs::write(&whole, self.text()).with_context(|| whole.display().to_string())?;
        fs::rename(&whole, &self.file).with_context(|| self.file.display().to_string())
    }

    fn text(&self) -> String {
        let all = std::iter::once(&self.introduction).chain(&self.parts);
        let all: Vec<&str> = all.map(|part| part.trim_end()).collect();
        all.join("\n\n") + "\n"
    }
}

/// The first line of a part.
pub fn heading(part: &str) -> &str {
    part.lines().next().unwrap_or_default()
}

/// The text before the first part, and the parts.
fn split(text: &str) -> (String, Vec<String>) {
    let (mut before, mut parts) = (String::new(), Vec::<String>::new());
    for line in text.split_inclusive('\n') {
        if line.starts_with(HEAD) {
            parts.push(String::new());
        }
        parts.last_mut().unwrap_or(&mut before).push_str(line);
    }
    (before, parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings() -> Vec<String> {
        ["## A", "## B", "## C"].map(str::to_owned).into()
    }

    #[test]
    fn a_part_replaces_itself_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        let open = |machine: &str| {
            Report::open(file.clone(), format!("# Report\n\n{machine}\n"), headings()).unwrap()
        };
        let read = || fs::read_to_string(&file).unwrap();
        let mut report = open("fast");
        report.put("## B\n\nold\n".to_owned()).unwrap();
        report
            .put("## A\n\nfirst\n\n### Below\n".to_owned())
            .unwrap();
        let both = "# Report\n\nfast\n\n## A\n\nfirst\n\n### Below\n\n## B\n\nold\n";
        assert_eq!(read(), both);
        open("fast").put("## B\n\nnew\n".to_owned()).unwrap();
        assert_eq!(read(), both.replace("old", "new"));
        // One document does not mix the numbers of two machines.
        open("slow").put("## C\n\nlast\n".to_owned()).unwrap();
        assert_eq!(read(), "# Report\n\nslow\n\n## C\n\nlast\n");
    }

    #[test]
    fn a_part_that_is_no_section_any_more_goes() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("report.md");
        fs::write(&file, "# R\n\n## Gone\n\nx\n\n## B\n\ny\n").unwrap();
        let mut report = Report::open(file.clone(), "# R\n".to_owned(), headings()).unwrap();
        report.put("## A\n\nz\n".to_owned()).unwrap();
        assert_eq!(
            fs::read_to_string(&file).unwrap(),
            "# R\n\n## A\n\nz\n\n## B\n\ny\n"
        );
    }
}
