//! The files of a sweep's results, beside its plan: `NAME.runs`, and `NAME.I-of-N.runs` of shards.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use super::super::Failure;
use super::super::changes::refused;
use fairtree_model::input::sweep::{Point, Runs, fingerprint};

/// A part of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shard {
    /// Its number, from 1 to `of`.
    pub number: u32,
    /// Their number, from 1.
    pub of: u32,
}

impl Shard {
    /// Reads `3/8`.
    pub fn parse(text: &str) -> Result<Shard, Failure> {
        let allowed = "I/N, as 3/8: whole numbers, I from 1 to N, N up to 100000";
        let both = text.split_once('/');
        let both = both.and_then(|(number, of)| Some((number.parse().ok()?, of.parse().ok()?)));
        match both {
            Some((number, of)) if (1..=of).contains(&number) && of <= 100_000 => {
                Ok(Shard { number, of })
            }
            _ => Err(refused("--shard", text, allowed)),
        }
    }

    /// Returns true if a run is in this part: by its own fingerprint, whatever else is in the plan.
    pub fn has(self, point: &Point, seed: u64) -> bool {
        let text = format!("{point} seed {seed}");
        let hash = fingerprint([text.as_bytes()]);
        let hash = u64::from_str_radix(&hash, 16).unwrap_or(0);
        hash % u64::from(self.of) == u64::from(self.number - 1)
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.of)
    }
}

/// The files of a plan.
pub(super) struct Files {
    folder: PathBuf,
    /// Name of the plan without its ending.
    stem: String,
}

impl Files {
    /// Those beside a plan.
    pub fn new(plan: &Path) -> Files {
        let folder = plan
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty());
        Files {
            folder: folder.unwrap_or(Path::new(".")).to_path_buf(),
            stem: plan
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
        }
    }

    /// The file of a shard, or of all.
    pub fn of(&self, shard: Option<Shard>) -> PathBuf {
        self.folder.join(match shard {
            None => format!("{}.runs", self.stem),
            Some(Shard { number, of }) => format!("{}.{number}-of-{of}.runs", self.stem),
        })
    }

    /// The results that there are: those of the shard, or of all. `merge`: those of all shards, too.
    ///
    /// # Errors
    /// A file that cannot be read, or is of other inputs.
    pub fn read(&self, shard: Option<Shard>, merge: bool, inputs: &str) -> Result<Runs, Failure> {
        let mut runs = Runs::new(inputs.to_owned());
        let mut paths = vec![self.of(shard)];
        if merge {
            paths.extend(self.shards()?);
        }
        for path in paths {
            if !path.exists() {
                continue;
            }
            let name = path.display().to_string();
            let merged = runs.merge(Runs::read(&path)?);
            merged.map_err(|why| {
                Failure::Usage(format!(
                    "{name}: {why}\nhint: remove the files of runs of other inputs, or move them away"
                ))
            })?;
        }
        Ok(runs)
    }

    /// The files of all shards, sorted.
    fn shards(&self) -> Result<Vec<PathBuf>, Failure> {
        let failed = |error| Failure::File(self.folder.display().to_string(), error);
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.folder).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let Some(name) = name.to_str() else { continue };
            let part = name
                .strip_prefix(self.stem.as_str())
                .and_then(|rest| rest.strip_prefix('.'))
                .and_then(|rest| rest.strip_suffix(".runs"))
                .and_then(|rest| rest.split_once("-of-"));
            let is_shard =
                part.is_some_and(|(number, of)| Shard::parse(&format!("{number}/{of}")).is_ok());
            if is_shard {
                found.push(self.folder.join(name));
            }
        }
        found.sort();
        Ok(found)
    }

    /// Puts results in place of the file of a shard, or of all.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn write(&self, shard: Option<Shard>, runs: &Runs) -> Result<(), Failure> {
        let path = self.of(shard);
        let written = runs.write(&path);
        written.map_err(|error| Failure::File(path.display().to_string(), error))
    }
}
