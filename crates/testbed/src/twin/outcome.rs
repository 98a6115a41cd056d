//! The input and the result of a comparison of two plugins.

use std::fmt;
use std::path::Path;

use super::host::TwinHost;
use super::promise::Promise;
use fairtree_oracle::FaultCounts;

/// The two plugins of a comparison; the host's fields are Slurm's own.
pub struct Pair<'a> {
    /// The host that plays the lives.
    pub host: &'a TwinHost,
    /// The plugin that is right by definition.
    pub stock: &'a Path,
    /// The plugin under test.
    pub ours: &'a Path,
    /// The promise of the plugin under test.
    pub promise: Promise,
}

/// One field with two values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// Record, id and field: `job 3 priority`.
    pub name: String,
    /// The value that stock left, or `(absent)`.
    pub stock: String,
    /// The value that ours left, or `(absent)`.
    pub ours: String,
}

/// The first difference of two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The line of the life, from 1; 0 when only the endings differ.
    pub line: usize,
    /// The event on that line.
    pub event: String,
    /// The ends of the two programs, when they differ.
    pub endings: Option<(String, String)>,
    /// All fields that differ after that line.
    pub fields: Vec<Field>,
    /// The owners of the two values of each field.
    pub labels: [&'static str; 2],
}

impl Field {
    /// The field without id and position: `job priority`.
    pub fn kind(&self) -> String {
        let mut words = self.name.split(' ');
        let record = words.next().unwrap_or_default();
        let field = words.next_back().unwrap_or_default();
        format!("{record} {}", field.split('[').next().unwrap_or_default())
    }
}

impl Difference {
    /// The kinds of this difference; shrinking keeps one of them.
    pub fn kinds(&self) -> Vec<String> {
        let mut kinds: Vec<String> = self.fields.iter().map(Field::kind).collect();
        if self.endings.is_some() {
            kinds.push("ending".to_owned());
        }
        kinds.sort();
        kinds.dedup();
        kinds
    }
}

/// Largest number of printed fields per difference; the others are counted.
const SHOWN: usize = 40;

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "first difference after line {}: {}",
            self.line, self.event
        )?;
        if let Some((stock, ours)) = &self.endings {
            writeln!(f, "  ending\n    stock {stock}\n    ours  {ours}")?;
        }
        for field in self.fields.iter().take(SHOWN) {
            let [left, right] = self.labels;
            let width = left.len().max(right.len());
            writeln!(
                f,
                "  {}\n    {left:<width$} {}\n    {right:<width$} {}",
                field.name, field.stock, field.ours
            )?;
        }
        if self.fields.len() > SHOWN {
            writeln!(f, "  and {} fields more", self.fields.len() - SHOWN)?;
        }
        Ok(())
    }
}

/// The result of a comparison.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every field after every event is the same.
    Same,
    /// Stock died of its own memory error, with this ending; ours ran to the end.
    StockDies(String),
    /// All differences are explained by faults of stock.
    Explained(FaultCounts),
    /// Something differs, or is not explained.
    Differs(Box<Difference>),
}
