//! The file of a sweep's results: a line of JSON for each run, after a line that names the inputs.
//!
//! ```text
//! {"schema":"fairtree.sweep-runs/1","inputs":"8a5d...","runs":2,"sum":"01ab..."}
//! {"point":{"scheduler":"easy"},"seed":1,"figures":{"jobs":284,...}}
//! {"point":{"scheduler":"easy"},"seed":2,"figures":{"jobs":284,...}}
//! ```
//!
//! Lines are sorted, and files are replaced as a whole: the same runs are the same bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::plan::Point;
use crate::input::error::{InputError, Problem};
use crate::output::{SHARED, replace};

/// Name and version of the format.
const SCHEMA: &str = "fairtree.sweep-runs/1";

/// The figures of a run, rounded to six decimals.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Figures {
    /// Jobs that started.
    pub jobs: u64,
    /// Mean wait, seconds.
    pub mean_wait_seconds: f64,
    /// Median wait, seconds.
    pub median_wait_seconds: f64,
    /// 95 % of the jobs waited no longer, seconds.
    pub p95_wait_seconds: f64,
    /// 95 % of the jobs had no larger bounded slowdown.
    pub p95_bounded_slowdown: f64,
    /// Part of the machine that was used, 0 to 1.
    pub utilisation: f64,
    /// Core-hours owed to all accounts.
    pub owed_core_hours: f64,
    /// Part of the jobs that were unfairly delayed, 0 to 1; `None`: not computed.
    pub unfairly_delayed: Option<f64>,
    /// By account.
    pub accounts: Vec<AccountFigures>,
}

/// The figures of an account in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AccountFigures {
    /// The account.
    pub account: String,
    /// Mean wait of its jobs, seconds.
    pub mean_wait_seconds: f64,
    /// Core-hours owed to it.
    pub owed_core_hours: f64,
}

#[derive(Serialize, Deserialize)]
struct Header {
    schema: String,
    inputs: String,
    runs: usize,
    sum: String,
}

#[derive(Serialize, Deserialize)]
struct RunLine {
    point: BTreeMap<String, String>,
    seed: u64,
    figures: Figures,
}

/// Results of runs by point and seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Runs {
    /// Fingerprint of log, site and program.
    pub inputs: String,
    /// The figures.
    pub figures: BTreeMap<(Point, u64), Figures>,
}

impl Runs {
    /// None yet.
    pub fn new(inputs: String) -> Runs {
        Runs {
            inputs,
            figures: BTreeMap::new(),
        }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// A file that cannot be read, of another format, cut off or changed.
    pub fn read(path: &Path) -> Result<Runs, InputError> {
        let name = path.display().to_string();
        let text = fs::read_to_string(path).map_err(|error| InputError::new(&name, error))?;
        let broken = |why: String| InputError::new(&name, Problem::Structure(why));
        let (first, rest) = text.split_once('\n').unwrap_or((text.as_str(), ""));
        let header: Header = serde_json::from_str(first)
            .map_err(|_| broken("is no file of the runs of a sweep".to_owned()))?;
        if header.schema != SCHEMA {
            let found = header.schema.escape_default();
            return Err(broken(format!(
                "has the format {found}, allowed is {SCHEMA}"
            )));
        }
        let sum = fingerprint([rest.as_bytes()]);
        if sum != header.sum || rest.lines().count() != header.runs {
            let why = "is cut off or was changed: its sum does not fit; remove it to run it again";
            return Err(broken(why.to_owned()));
        }
        let mut runs = Runs::new(header.inputs);
        for (at, line) in rest.lines().enumerate() {
            let line: RunLine = serde_json::from_str(line)
                .map_err(|error| broken(error.to_string()).at_line(at + 2, line))?;
            let key = (Point(line.point), line.seed);
            runs.figures.insert(key, line.figures);
        }
        Ok(runs)
    }

    /// Puts them in place of a file, if there is one.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut rest = String::new();
        for ((point, seed), figures) in &self.figures {
            let line = RunLine {
                point: point.0.clone(),
                seed: *seed,
                figures: figures.clone(),
            };
            rest += &serde_json::to_string(&line)?;
            rest.push('\n');
        }
        let header = Header {
            schema: SCHEMA.to_owned(),
            inputs: self.inputs.clone(),
            runs: self.figures.len(),
            sum: fingerprint([rest.as_bytes()]),
        };
        let text = serde_json::to_string(&header)? + "\n" + &rest;
        replace(path, SHARED, text.as_bytes())
    }

    /// Adds the runs of others of the same inputs.
    ///
    /// # Errors
    /// A sentence: other inputs, or a run with other figures.
    pub fn merge(&mut self, others: Runs) -> Result<(), String> {
        if others.inputs != self.inputs {
            return Err(format!(
                "is of other inputs ({}) than these ({}): log, site, policies or program have changed",
                others.inputs, self.inputs
            ));
        }
        for (key, figures) in others.figures {
            if let Some(known) = self.figures.get(&key).filter(|known| **known != figures) {
                return Err(format!(
                    "has another result for {} with seed {}: mean wait {} s, not {} s",
                    key.0, key.1, figures.mean_wait_seconds, known.mean_wait_seconds
                ));
            }
            self.figures.insert(key, figures);
        }
        Ok(())
    }
}

/// A fingerprint of texts, 16 hexadecimal digits: FNV-1a of each, with its length.
pub fn fingerprint<'a>(texts: impl IntoIterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for text in texts {
        add(text);
        add(&(text.len() as u64).to_le_bytes());
    }
    format!("{hash:016x}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(mean: f64) -> Figures {
        Figures {
            jobs: 3,
            mean_wait_seconds: mean,
            median_wait_seconds: 1.5,
            p95_wait_seconds: 333_333.333_333,
            p95_bounded_slowdown: 1.0,
            utilisation: 0.123_457,
            owed_core_hours: 0.0,
            unfairly_delayed: None,
            accounts: Vec::new(),
        }
    }

    fn runs(all: &[(&str, u64, f64)]) -> Runs {
        let mut runs = Runs::new("ab".to_owned());
        for (scheduler, seed, mean) in all {
            let point = [("scheduler".to_owned(), (*scheduler).to_owned())];
            let point = Point(point.into_iter().collect());
            runs.figures.insert((point, *seed), figures(*mean));
        }
        runs
    }

    #[test]
    fn what_is_written_is_read() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.runs");
        let all = runs(&[("easy", 1, 2.25), ("fcfs", 1, 3.5)]);
        all.write(&path).expect("written");
        let bytes = fs::read(&path).expect("bytes");
        let read = Runs::read(&path).expect("runs");
        assert_eq!(read.figures.len(), 2);
        read.write(&path).expect("written");
        assert_eq!(fs::read(&path).expect("bytes"), bytes);
        // Cut off, or changed.
        for changed in [&bytes[..bytes.len() - 9], &[&bytes[..], b"{}\n"].concat()] {
            fs::write(&path, changed).expect("written");
            let error = Runs::read(&path).expect_err("an error").to_string();
            assert!(error.contains("cut off or was changed"), "{error}");
        }
        fs::write(&path, "log = 1\n").expect("written");
        assert!(Runs::read(&path).is_err());
    }

    #[test]
    fn runs_of_the_same_inputs_are_joined() {
        let mut all = runs(&[("easy", 1, 2.0)]);
        all.merge(runs(&[("easy", 2, 2.0), ("easy", 1, 2.0)]))
            .expect("joined");
        assert_eq!(all.figures.len(), 2);
        let error = all.merge(runs(&[("easy", 1, 9.0)])).expect_err("an error");
        assert!(error.contains("scheduler=easy with seed 1"), "{error}");
        let error = all.merge(Runs::new("cd".to_owned())).expect_err("an error");
        assert!(error.contains("other inputs (cd)"), "{error}");
    }

    #[test]
    fn fingerprints_keep_texts_apart() {
        // http://www.isthe.com/chongo/tech/comp/fnv: the empty text, before its length.
        assert_eq!(fingerprint([]), "cbf29ce484222325");
        assert_ne!(
            fingerprint([&b"ab"[..], b"c"]),
            fingerprint([&b"a"[..], b"bc"])
        );
    }
}
