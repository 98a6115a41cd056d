//! A slurm.conf with the files that it includes, as slurmctld reads it: one setting after another.

use fairtree::config::lines::{self, JoinedLine, Statement, Word};
use fairtree::config::{Include, Place};

/// Files deeper than this are not read.
pub const MAX_DEPTH: usize = 16;

/// More files than this are not read; one that is included twice is two.
pub const MAX_FILES: usize = 1000;

/// No file is read once those that are included have more bytes than this, all together: each
/// takes some 70 times as much memory, lines and settings with their places.
pub const MAX_INCLUDED_BYTES: usize = 4 << 20;

/// A stretch of a line of one of the files read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Spot {
    /// Position of the file in the order of reading.
    pub source: usize,
    /// From 1.
    pub line: usize,
    /// From 1, in characters.
    pub column: usize,
    /// In characters, from 1.
    pub length: usize,
}

/// A file that was read.
#[derive(Debug)]
pub struct Source {
    /// The name that the caller or the `include` line uses.
    pub name: String,
    /// Without their line feeds.
    lines: Vec<String>,
}

/// `Key=Value` and its place.
#[derive(Debug)]
pub struct Setting {
    /// Position in [`Document::sources`].
    source: usize,
    /// The key, in the case that was written.
    pub key: Word,
    /// The value, without quotes.
    pub value: Word,
    /// Text after the value on its line: the other settings of a partition, empty elsewhere.
    pub rest: Word,
}

/// `Key=Value` on the rest of a partition's line; offsets are those of characters.
#[derive(Debug, PartialEq, Eq)]
pub struct Pair {
    /// The key; empty where a line has a `=` without one.
    pub key: String,
    /// The value, without quotes.
    pub value: String,
    key_at: usize,
    value_at: usize,
}

/// An included file that was not read.
#[derive(Debug)]
pub struct Unread {
    /// The name in the `include` line.
    pub spot: Spot,
    /// The name, `%c` replaced.
    pub file: String,
    /// Reason why it was not read, without a full stop.
    pub why: String,
}

/// A line that is neither `Key=Value` nor `include FILE`, or the end of one that continues otherwise.
#[derive(Debug)]
pub struct Unparsed {
    /// Its place.
    pub spot: Spot,
    /// The text.
    pub text: String,
}

/// Keys after whose value further `Key=Value` follow on the line; after other values nothing may.
const LISTS: [&str; 5] = [
    "DownNodes",
    "FrontendName",
    "NodeName",
    "NodeSet",
    "PartitionName",
];

/// Everything that slurmctld would read, in its order.
#[derive(Debug, Default)]
pub struct Document {
    /// The files, in the order in which they were opened; one that is included twice is here twice.
    pub sources: Vec<Source>,
    /// The settings of all files; those of an included file are at the place of its `include` line.
    pub settings: Vec<Setting>,
    /// Files that an `include` line names and that were not read.
    pub unread: Vec<Unread>,
    /// Text that Slurm cannot parse, at which it stops: whole lines, and ends of lines.
    pub unparsed: Vec<Unparsed>,
    /// Bytes of the files that were included.
    included_bytes: usize,
}

/// A file that is being read, within those that include it.
struct Open {
    source: usize,
    pending: std::vec::IntoIter<JoinedLine>,
    text_hash: u64,
}

/// Hands out the text of an included file, or says why not.
pub type Fetch<'a> = &'a mut dyn FnMut(&Include) -> Result<String, String>;

impl Document {
    /// Reads `text`, called `name`, and at the place of each `include` line the file that `fetch`
    /// hands out. Never fails: what has not the form of a setting goes to [`Document::unparsed`], a file
    /// that `fetch` does not have goes to [`Document::unread`], and so does one that is open already, one deeper than
    /// [`MAX_DEPTH`] or after [`MAX_FILES`] others, and one beyond [`MAX_INCLUDED_BYTES`].
    pub fn read(text: &str, name: &str, fetch: Fetch<'_>) -> Document {
        let mut document = Document::default();
        let mut open = vec![document.add(text, name)];
        while let Some(last) = open.last_mut() {
            let source = last.source;
            let Some(line) = last.pending.next() else {
                open.pop();
                continue;
            };
            match line.statement() {
                Statement::Include { file, rest } => {
                    document.leave(source, rest);
                    if let Some(next) = document.include(source, &file, &open, fetch) {
                        open.push(next);
                    }
                }
                Statement::Setting { key, value, rest } => {
                    let lists = LISTS
                        .iter()
                        .any(|list| list.eq_ignore_ascii_case(&key.text));
                    let left = match lists {
                        true => rest.after_pairs(),
                        false => rest.clone(),
                    };
                    document.leave(source, left);
                    document.settings.push(Setting {
                        source,
                        key,
                        value,
                        rest,
                    });
                }
                Statement::Other(word) => document.leave(source, word),
            }
        }
        document
    }

    /// Takes what is left of a line, where anything is.
    fn leave(&mut self, source: usize, word: Word) {
        if !word.text.is_empty() {
            self.unparsed.push(Unparsed {
                spot: spot(source, &word, 0, word.text.chars().count()),
                text: word.text,
            });
        }
    }

    fn add(&mut self, text: &str, name: &str) -> Open {
        self.sources.push(Source {
            name: name.to_string(),
            lines: text.split('\n').map(str::to_string).collect(),
        });
        let lines: Vec<JoinedLine> = lines::lines(text).collect();
        Open {
            source: self.sources.len() - 1,
            pending: lines.into_iter(),
            text_hash: hash(text),
        }
    }

    fn include(
        &mut self,
        source: usize,
        file: &Word,
        open: &[Open],
        fetch: Fetch<'_>,
    ) -> Option<Open> {
        let spot = spot(source, file, 0, file.text.chars().count());
        let include = Include {
            file: self.with_cluster_name(&file.text),
            place: self.place(&spot),
        };
        match self.text_of(&include, open, fetch) {
            Ok(text) => {
                self.included_bytes += text.len();
                Some(self.add(&text, &include.file))
            }
            Err(why) => {
                self.unread.push(Unread {
                    spot,
                    file: include.file,
                    why,
                });
                None
            }
        }
    }

    fn text_of(
        &self,
        include: &Include,
        open: &[Open],
        fetch: Fetch<'_>,
    ) -> Result<String, String> {
        const CYCLE: &str = "it includes itself";
        if open
            .iter()
            .any(|open| self.sources[open.source].name == include.file)
        {
            return Err(CYCLE.into());
        }
        if open.len() >= MAX_DEPTH {
            return Err(format!("it is the {MAX_DEPTH}th file within a file"));
        }
        if self.sources.len() >= MAX_FILES {
            return Err(format!("{MAX_FILES} files were read before it"));
        }
        let text = fetch(include)?;
        // The same file under another name. One that includes nothing ends.
        let text_hash = hash(&text);
        if open.iter().any(|open| open.text_hash == text_hash) {
            return Err(CYCLE.into());
        }
        if self.included_bytes + text.len() > MAX_INCLUDED_BYTES {
            let most = MAX_INCLUDED_BYTES;
            return Err(format!(
                "included files have more than {most} bytes with it"
            ));
        }
        Ok(text)
    }

    /// Replaces `%c` by the cluster's name, in lower case, if it was read before (slurm.conf(5),
    /// "INCLUDE MODIFIERS").
    fn with_cluster_name(&self, file: &str) -> String {
        match self.last("ClusterName") {
            Some(name) => file.replace("%c", &name.value.text.to_ascii_lowercase()),
            None => file.to_string(),
        }
    }

    /// The last setting with this key, which is the one that counts.
    pub fn last(&self, key: &str) -> Option<&Setting> {
        let mut settings = self.settings.iter().rev();
        settings.find(|setting| setting.is(key))
    }

    /// The line of the file that a spot is on; empty beyond the file's end.
    ///
    /// # Panics
    /// If the spot is of a different document and names a file that this one has not.
    pub fn line(&self, spot: &Spot) -> &str {
        let lines = &self.sources[spot.source].lines;
        let line = spot.line.checked_sub(1).and_then(|index| lines.get(index));
        line.map_or("", |line| line.trim_end_matches('\r'))
    }

    /// The text of the file at position `source` of [`Document::sources`].
    ///
    /// # Panics
    /// If there is no such file.
    pub fn text(&self, source: usize) -> String {
        self.sources[source].lines.join("\n")
    }

    /// File, line and column of a spot.
    ///
    /// # Panics
    /// As [`Document::line`].
    pub fn place(&self, spot: &Spot) -> Place {
        Place {
            file: self.sources[spot.source].name.clone(),
            line: spot.line,
            column: spot.column,
        }
    }
}

impl Setting {
    /// True where this is the key, in any case.
    pub fn is(&self, key: &str) -> bool {
        self.key.text.eq_ignore_ascii_case(key)
    }

    /// The key.
    pub fn key_spot(&self) -> Spot {
        spot(self.source, &self.key, 0, self.key.text.chars().count())
    }

    /// The value.
    pub fn value_spot(&self) -> Spot {
        self.value_part(0, self.value.text.chars().count())
    }

    /// `length` characters of the value from `offset`.
    pub fn value_part(&self, offset: usize, length: usize) -> Spot {
        spot(self.source, &self.value, offset, length)
    }

    /// The key of a pair of [`Setting::pairs`].
    pub fn pair_key(&self, pair: &Pair) -> Spot {
        spot(
            self.source,
            &self.rest,
            pair.key_at,
            pair.key.chars().count(),
        )
    }

    /// `length` characters from `offset` of the value of a pair.
    pub fn pair_value(&self, pair: &Pair, offset: usize, length: usize) -> Spot {
        spot(self.source, &self.rest, pair.value_at + offset, length)
    }

    /// The whole value of a pair.
    pub fn pair_values(&self, pair: &Pair) -> Spot {
        self.pair_value(pair, 0, pair.value.chars().count())
    }

    /// The `Key=Value` of the rest of the line; what is not of this form is skipped.
    pub fn pairs(&self) -> Vec<Pair> {
        pairs(&self.rest.text)
    }
}

/// Equal for equal texts, within one run.
fn hash(text: &str) -> u64 {
    let mut hasher = std::hash::DefaultHasher::new();
    std::hash::Hash::hash(text, &mut hasher);
    std::hash::Hasher::finish(&hasher)
}

fn spot(source: usize, word: &Word, offset: usize, length: usize) -> Spot {
    let place = word.place("", offset);
    Spot {
        source,
        line: place.line,
        column: place.column,
        length: length.max(1),
    }
}

/// Splits `Key=Value Key="a b"`; blanks may surround the `=`.
fn pairs(text: &str) -> Vec<Pair> {
    let chars: Vec<char> = text.chars().collect();
    let skip = |from: usize, wanted: &dyn Fn(char) -> bool| {
        let rest = chars.get(from..).unwrap_or_default();
        from + rest.iter().take_while(|char| wanted(**char)).count()
    };
    let blank = |char: char| char.is_whitespace();
    let part = |from: usize, to: usize| chars[from..to].iter().collect::<String>();
    let mut pairs = Vec::new();
    let mut at = skip(0, &blank);
    while at < chars.len() {
        let key_at = at;
        let key_end = skip(at, &|char| !char.is_whitespace() && char != '=');
        let equals = skip(key_end, &blank);
        if chars.get(equals) != Some(&'=') {
            // No setting; at least one character is passed over, so that the walk ends.
            at = skip(key_end.max(at + 1), &blank);
            continue;
        }
        let mut value_at = skip(equals + 1, &blank);
        let mut value_end = skip(value_at, &|char| !char.is_whitespace());
        let mut next = value_end;
        if chars.get(value_at) == Some(&'"') {
            let close = skip(value_at + 1, &|char| char != '"');
            if close < chars.len() {
                (value_at, value_end, next) = (value_at + 1, close, close + 1);
            }
        }
        pairs.push(Pair {
            key: part(key_at, key_end),
            value: part(value_at, value_end),
            key_at,
            value_at,
        });
        at = skip(next, &blank);
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn included_lines_stand_at_the_place_of_their_include() {
        let mut fetch = |include: &Include| match include.file.as_str() {
            "b" => Ok("Key=2\ninclude c\n".to_string()),
            other => Err(format!("no {other}")),
        };
        let document = Document::read("Key=1\ninclude b\nKey=3\n", "a", &mut fetch);
        let values: Vec<&str> = document.settings.iter().map(|s| &*s.value.text).collect();
        assert_eq!(values, ["1", "2", "3"]);
        let last = document.last("KEY").unwrap().value_spot();
        assert_eq!(document.place(&last).to_string(), "a:3:5");
        assert_eq!(document.line(&last), "Key=3");
        let inner = document.settings[1].key_spot();
        assert_eq!(document.place(&inner).to_string(), "b:1:1");
        let unread = &document.unread[0];
        assert_eq!((unread.file.as_str(), unread.why.as_str()), ("c", "no c"));
        assert_eq!(document.place(&unread.spot).to_string(), "b:2:9");
    }

    #[test]
    fn the_clusters_name_stands_for_its_modifier() {
        let mut names = Vec::new();
        let mut fetch = |include: &Include| {
            names.push(include.file.clone());
            Ok(String::new())
        };
        let text = "include %c.conf\nClusterName=Tara\ninclude %c/%c.conf\n";
        Document::read(text, "a", &mut fetch);
        assert_eq!(names, ["%c.conf", "tara/tara.conf"]);
    }

    #[test]
    fn a_file_that_includes_itself_ends() {
        let mut fetch = |_: &Include| Ok("include a\ninclude a\n".to_string());
        let document = Document::read("include a\n", "a", &mut fetch);
        assert_eq!((document.sources.len(), document.unread.len()), (1, 1));
        assert_eq!(document.unread[0].why, "it includes itself");
        // Different names for one file, as with links: the text decides.
        let document = Document::read("include b\n", "a", &mut fetch);
        assert_eq!(document.sources.len(), 2);
        assert_eq!(document.unread.len(), 2);
    }

    // A file of 22 KB that included itself twice took 1.5 GB, one of 91 KB 6 GB.
    #[test]
    fn files_that_double_end() {
        let settings = "PriorityWeightAge=1\n".repeat(5000);
        let mut count = 0;
        let mut fetch = |_: &Include| {
            count += 1;
            Ok(format!(
                "{settings}#{count}\ninclude x{count}\ninclude y{count}\n"
            ))
        };
        let document = Document::read("include a\n", "a", &mut fetch);
        assert!(document.settings.len() * 20 <= MAX_INCLUDED_BYTES);
        let mut fetch = |include: &Include| Ok(format!("include {}x\n", include.file));
        let deep = Document::read("include b\n", "a", &mut fetch);
        assert_eq!(deep.sources.len(), MAX_DEPTH);
        let mut fetch = |_: &Include| Ok(String::new());
        let wide = Document::read(&"include b\n".repeat(2 * MAX_FILES), "a", &mut fetch);
        assert_eq!(wide.sources.len(), MAX_FILES);
    }

    #[test]
    fn pairs_of_a_partition_line() {
        let found = pairs("Nodes=a  Priority = 3 TRESBillingWeights=\"CPU=1, Mem=2\" x =");
        let found: Vec<_> = found
            .iter()
            .map(|p| (&*p.key, &*p.value, p.value_at))
            .collect();
        let expected = [
            ("Nodes", "a", 6),
            ("Priority", "3", 20),
            ("TRESBillingWeights", "CPU=1, Mem=2", 42),
            ("x", "", 59),
        ];
        assert_eq!(found, expected);
        assert!(pairs("= ==\" \"").iter().all(|pair| pair.key.is_empty()));
        assert!(pairs("").is_empty());
    }
}
