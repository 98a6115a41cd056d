//! The tables of the report: each measurement with its peer, its bound and its limit.

use std::fmt::{self, Write as _};

/// The unit of a number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Milliseconds,
    Microseconds,
    Nanoseconds,
    Bytes,
    Megabytes,
    Count,
}

impl Unit {
    fn text(self, value: f64) -> String {
        let unit = match self {
            Unit::Milliseconds => " ms",
            Unit::Microseconds => " µs",
            Unit::Nanoseconds => " ns",
            Unit::Bytes => " B",
            Unit::Megabytes => " MB",
            Unit::Count => return grouped(value),
        };
        format!("{}{unit}", significant(value))
    }
}

/// Formats a number with three significant digits, or with its whole integer part.
fn significant(value: f64) -> String {
    let digits = match value.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    format!("{value:.digits$}")
}

/// Formats a count, with a fraction only if it is small.
fn grouped(value: f64) -> String {
    if value.abs() >= 10.0 || value.fract() == 0.0 {
        super::workload::count(value.round() as u64)
    } else {
        significant(value)
    }
}

/// The largest allowed value of a figure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Bound {
    /// A multiple of the peer's figure.
    Ratio(f64),
    /// A value in the unit of the figure.
    AtMost(f64),
}

/// One line: a figure and the values to compare it with.
#[derive(Clone, Debug)]
pub struct Measurement {
    pub what: String,
    pub unit: Unit,
    pub ours: f64,
    pub peer: Option<f64>,
    pub bound: Option<Bound>,
    /// A limit that no program can beat on this machine, in the same unit.
    pub limit: Option<f64>,
}

impl Measurement {
    /// A figure alone.
    pub fn new(what: impl Into<String>, unit: Unit, ours: f64) -> Measurement {
        Measurement {
            what: what.into(),
            unit,
            ours,
            peer: None,
            bound: None,
            limit: None,
        }
    }

    /// Adds the figure of its peer.
    pub fn beside(self, peer: f64) -> Measurement {
        Measurement {
            peer: Some(peer),
            ..self
        }
    }

    /// Sets the bound, as a multiple of the peer's figure.
    pub fn ratio(self, bound: f64) -> Measurement {
        Measurement {
            bound: Some(Bound::Ratio(bound)),
            ..self
        }
    }

    /// Sets the bound, in the unit of the figure.
    pub fn at_most(self, bound: f64) -> Measurement {
        Measurement {
            bound: Some(Bound::AtMost(bound)),
            ..self
        }
    }

    /// Sets the limit that no program can beat.
    pub fn limit(self, limit: f64) -> Measurement {
        Measurement {
            limit: Some(limit),
            ..self
        }
    }

    fn quotient(&self) -> Option<f64> {
        self.peer
            .filter(|peer| *peer > 0.0)
            .map(|peer| self.ours / peer)
    }

    /// Returns true if the bound is kept, `None` if there is no bound.
    pub fn is_met(&self) -> Option<bool> {
        match self.bound? {
            Bound::Ratio(most) => Some(self.quotient()? <= most),
            Bound::AtMost(most) => Some(self.ours <= most),
        }
    }

    fn cells(&self) -> [String; 7] {
        let number = |value: Option<f64>| value.map_or(String::new(), |v| self.unit.text(v));
        let bound = match self.bound {
            None => String::new(),
            Some(Bound::Ratio(most)) => format!("≤ {most:.2} x"),
            Some(Bound::AtMost(most)) => format!("≤ {}", self.unit.text(most)),
        };
        let met = match self.is_met() {
            None => "",
            Some(true) => "yes",
            Some(false) => "**no**",
        };
        let quotient = self.quotient();
        [
            self.what.clone(),
            self.unit.text(self.ours),
            number(self.peer),
            quotient.map_or(String::new(), |q| format!("{} x", significant(q))),
            bound,
            met.to_owned(),
            number(self.limit),
        ]
    }
}

/// A table in Markdown that is readable as plain text.
#[derive(Clone, Debug)]
pub struct Table {
    pub title: String,
    /// Headings of the columns for our figure and its peer.
    pub heads: (&'static str, &'static str),
    pub rows: Vec<Measurement>,
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (ours, peer) = self.heads;
        let head = [&self.title, ours, peer, "ratio", "bound", "met", "limit"];
        let mut lines = vec![head.map(str::to_owned)];
        lines.extend(self.rows.iter().map(Measurement::cells));
        f.write_str(&columns(&lines))
    }
}

/// Formats lines of cells as a Markdown table: the first line is the head; the first column is
/// text, the others are numbers.
pub fn columns<const N: usize>(lines: &[[String; N]]) -> String {
    let width = |column: usize| {
        let cells = lines.iter().map(|line| line[column].chars().count());
        cells.max().unwrap_or(0).max(3)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        for (column, (cell, width)) in line.iter().zip(widths).enumerate() {
            let _ = match column {
                0 => write!(text, "| {cell:<width$} "),
                _ => write!(text, "| {cell:>width$} "),
            };
        }
        text.push_str("|\n");
        if number == 0 {
            for (column, width) in widths.into_iter().enumerate() {
                let dashes = "-".repeat(width + 1);
                let _ = match column {
                    0 => write!(text, "|:{dashes}"),
                    _ => write!(text, "|{dashes}:"),
                };
            }
            text.push_str("|\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_kept_or_not() {
        let row = Measurement::new("hold", Unit::Milliseconds, 5.0).beside(100.0);
        assert_eq!(row.is_met(), None);
        assert_eq!(row.clone().ratio(0.05).is_met(), Some(true));
        assert_eq!(row.clone().ratio(0.04).is_met(), Some(false));
        assert_eq!(row.at_most(3.0).is_met(), Some(false));
    }

    #[test]
    fn a_table_can_be_read() {
        let rows = vec![
            Measurement::new("hold", Unit::Milliseconds, 5.04)
                .beside(100.0)
                .ratio(0.1)
                .limit(1.0),
            Measurement::new("locks", Unit::Count, 1234.0),
        ];
        let table = Table {
            title: "pass".to_owned(),
            heads: ("ours", "stock"),
            rows,
        };
        let expected = "\
| pass  |    ours |  stock |   ratio |    bound | met |   limit |
|:------|--------:|-------:|--------:|---------:|----:|--------:|
| hold  | 5.04 ms | 100 ms | 0.050 x | ≤ 0.10 x | yes | 1.00 ms |
| locks |   1,234 |        |         |          |     |         |
";
        assert_eq!(table.to_string(), expected);
    }
}
