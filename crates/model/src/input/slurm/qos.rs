//! `sacctmgr -P show qos`.

use std::collections::HashSet;

use super::limits::{LimitColumns, Limits};
use super::table::{Table, TableRow};
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;

/// A QOS.
#[derive(Clone, Debug, PartialEq)]
pub struct QosRow {
    /// Name.
    pub name: String,
    /// `Priority`.
    pub priority: u32,
    /// `UsageFactor`, what its jobs are charged per second; 1 where the column is not there.
    pub usage_factor: f64,
    /// Its limits; `None` where it has none, or they are not known.
    pub limits: Option<Box<Limits>>,
}

/// Reads the table. `file` names it in messages.
///
/// # Errors
/// No table; a missing column among Name and Priority; a QOS that occurs twice; no QOS that can be
/// read. A single QOS that cannot be read goes to `left`.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Vec<QosRow>, InputError> {
    let before = left.count();
    let table = Table::parse(file, text, left)?;
    let columns = Columns {
        name: table.column("Name")?,
        priority: table.column("Priority")?,
        factor: table.optional("UsageFactor"),
        limits: LimitColumns::of(&table),
    };
    let mut rows: Vec<QosRow> = Vec::with_capacity(table.rows.len());
    let mut seen = HashSet::new();
    for row in &table.rows {
        let Some(qos) = left.keep(columns.qos(&table, row))? else {
            continue;
        };
        if !seen.insert(row.cell(columns.name)) {
            return Err(table.broken(row, format!("QOS {} stands here twice", qos.name)));
        }
        rows.push(qos);
    }
    left.any_read(rows.len(), before)?;
    Ok(rows)
}

/// The columns that are read.
struct Columns {
    name: usize,
    priority: usize,
    factor: Option<usize>,
    limits: LimitColumns,
}

impl Columns {
    fn qos(&self, table: &Table<'_>, row: &TableRow<'_>) -> Result<QosRow, InputError> {
        if row.cell(self.name).is_empty() {
            return Err(table.value(row, self.name, "the name of a QOS"));
        }
        let usage_factor = match self.factor.filter(|&at| !row.cell(at).is_empty()) {
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
        let allowed = "a whole number from 0 to 4294967295";
        Ok(QosRow {
            name: row.cell(self.name).to_owned(),
            priority: match row.cell(self.priority) {
                "" => 0,
                _ => table.number(row, self.priority, allowed)?,
            },
            usage_factor,
            limits: self.limits.read(table, row)?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<QosRow>, InputError> {
        read("f", text, &mut LeftOut::default())
    }

    #[test]
    fn one_broken_qos_hides_no_other() {
        let mut left = LeftOut::default();
        let text = "Name|Priority\nx|many\ny|1|2\nz|3\n";
        assert_eq!(read("f", text, &mut left).unwrap()[0].name, "z");
        assert_eq!(left.count(), 2);
    }

    #[test]
    fn names_priorities_and_factors() {
        let rows = of("Name|Priority|UsageFactor\nnormal|0|1.000000\nurgent|100|2.5\n");
        let rows = rows.unwrap();
        assert_eq!((rows[1].name.as_str(), rows[1].priority), ("urgent", 100));
        assert_eq!(rows[1].usage_factor, 2.5);
        for text in [
            "Name\nx\n",
            "Name|Priority\nx|y\n",
            "Name|Priority|UsageFactor\nx|1|-1\n",
            "Name|Priority\nx|1\nx|2\n",
        ] {
            assert!(of(text).is_err(), "{text:?}");
        }
    }
}
