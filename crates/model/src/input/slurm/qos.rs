//! `sacctmgr -P show qos`.

use std::collections::HashSet;

use super::table::Table;
use crate::input::error::InputError;

/// A QOS.
#[derive(Clone, Debug, PartialEq)]
pub struct QosRow {
    /// Name.
    pub name: String,
    /// `Priority`.
    pub priority: u32,
    /// `UsageFactor`, what its jobs are charged per second; 1 where the column is not there.
    pub usage_factor: f64,
}

/// Reads the table. `file` names it in messages.
///
/// # Errors
/// No table; a missing column among Name and Priority; cells that Slurm would not print.
pub fn read(file: &str, text: &str) -> Result<Vec<QosRow>, InputError> {
    let table = Table::parse(file, text)?;
    let (name, priority) = (table.column("Name")?, table.column("Priority")?);
    let factor = table.optional("UsageFactor");
    let mut rows = Vec::with_capacity(table.rows.len());
    let mut seen = HashSet::new();
    for row in &table.rows {
        if row.cell(name).is_empty() {
            return Err(table.value(row, name, "the name of a QOS"));
        }
        if !seen.insert(row.cell(name)) {
            return Err(table.broken(row, format!("QOS {} stands here twice", row.cell(name))));
        }
        let allowed = "a whole number from 0 to 4294967295";
        let usage_factor = match factor.filter(|&at| !row.cell(at).is_empty()) {
            Some(at) => {
                let allowed = "a number from 0 up";
                let factor: f64 = table.number(row, at, allowed)?;
                if !(factor.is_finite() && factor >= 0.0) {
                    return Err(table.value(row, at, allowed));
                }
                factor
            }
            None => 1.0,
        };
        rows.push(QosRow {
            name: row.cell(name).to_owned(),
            priority: match row.cell(priority) {
                "" => 0,
                _ => table.number(row, priority, allowed)?,
            },
            usage_factor,
        });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_priorities_and_factors() {
        let rows = read(
            "f",
            "Name|Priority|UsageFactor\nnormal|0|1.000000\nurgent|100|2.5\n",
        );
        let rows = rows.unwrap();
        assert_eq!((rows[1].name.as_str(), rows[1].priority), ("urgent", 100));
        assert_eq!(rows[1].usage_factor, 2.5);
        for text in [
            "Name\nx\n",
            "Name|Priority\nx|y\n",
            "Name|Priority|UsageFactor\nx|1|-1\n",
            "Name|Priority\nx|1\nx|2\n",
        ] {
            assert!(read("f", text).is_err(), "{text:?}");
        }
    }
}
