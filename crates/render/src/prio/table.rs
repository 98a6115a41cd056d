//! The text that sprio prints.
//!
//! Byte for byte as sprio 22.05 and 24.11 do it: widths count bytes, what is too long is cut,
//! points are rounded to whole numbers, the priority is cut to one, normalised numbers have seven
//! decimals, the normalised priority fourteen, resources two. Source: sprio(1) and the output of
//! both.

use std::io::{self, Write};

use fairtree_analysis::prio::{Figure, PrioReport, PrioRow};
use fairtree_model::input::sprio::{Column, Factor, Field, Form, LineFormat};

/// How a table looks.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns.
    pub format: LineFormat,
    /// Whether the headings come first.
    pub header: bool,
}

impl Table {
    /// Writes the rows `shown` of a report.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        out: &mut impl Write,
        report: &PrioReport,
        shown: &[usize],
    ) -> io::Result<()> {
        self.write_header(out)?;
        for &at in shown {
            let row = &report.rows[at];
            self.line(out, |column| cell(row, column, report.names))?;
        }
        Ok(())
    }

    /// Writes the weights of a report, as `sprio -w`; those that are not known stay blank.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_weights(&self, out: &mut impl Write, report: &PrioReport) -> io::Result<()> {
        self.write_header(out)?;
        let tres = report
            .weights
            .as_ref()
            .and_then(|weights| weights.tres.as_deref());
        self.line(out, |column| match column {
            Column::JobId => "Weights".to_owned(),
            // The site factor counts as it is.
            Column::Site => "1".to_owned(),
            Column::Factor(Factor::Tres, Form::Weighted) => tres.unwrap_or("").to_owned(),
            Column::Factor(factor, _) => {
                let weight = report.weight(factor);
                weight.map_or_else(String::new, |weight| weight.to_string())
            }
            _ => String::new(),
        })
    }

    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        if self.header {
            self.line(out, |column| column.name().to_owned())?;
        }
        Ok(())
    }

    fn line(&self, out: &mut impl Write, cell: impl Fn(Column) -> String) -> io::Result<()> {
        let mut line = self.format.prefix.clone().into_bytes();
        for field in &self.format.fields {
            place(&mut line, &cell(field.column), field);
            line.extend(field.suffix.bytes());
        }
        line.push(b'\n');
        out.write_all(&line)
    }
}

/// Text in its column: cut to the width in bytes, or filled up with blanks.
fn place(line: &mut Vec<u8>, text: &str, field: &Field) {
    if field.width == 0 {
        line.extend(text.bytes());
        return;
    }
    let text = &text.as_bytes()[..text.len().min(field.width)];
    let blanks = std::iter::repeat_n(b' ', field.width - text.len());
    if field.right {
        line.extend(blanks);
        line.extend(text);
    } else {
        line.extend(text);
        line.extend(blanks);
    }
}

/// The text of a cell. `names`: as from 24.05 on, where the factors of a priority set by hand are
/// a plain 0.
fn cell(row: &PrioRow, column: Column, names: bool) -> String {
    let text = |name: &Option<String>| name.clone().unwrap_or_default();
    let whole = |number: Option<i64>| number.map_or_else(String::new, |n| n.to_string());
    match column {
        Column::JobId => row.job_id.map_or_else(String::new, |id| id.to_string()),
        Column::Partition => text(&row.partition),
        // Outside of federations slurmctld names no cluster, and sprio shows that so.
        Column::Cluster if row.line.is_none() => "(null)".to_owned(),
        Column::Cluster => text(&row.cluster),
        Column::User => text(&row.user),
        Column::Account => text(&row.account),
        Column::QosName => text(&row.qos_name),
        Column::Site => whole(row.site),
        Column::Nice => whole(row.nice),
        Column::Priority(Form::Weighted) => number(row.priority, |n| format!("{:.0}", n.trunc())),
        Column::Priority(Form::Normalised) => number(row.norm_priority, |n| format!("{n:16.14}")),
        Column::Factor(Factor::Tres, form) => tres(row, form),
        Column::Factor(factor, Form::Normalised) if row.set_by_hand && names => {
            number(row.norm[factor.index()], |_| "0".to_owned())
        }
        Column::Factor(factor, Form::Normalised) => {
            number(row.norm[factor.index()], |n| format!("{:.7}", n + 0.0))
        }
        Column::Factor(factor, Form::Weighted) => {
            number(row.points[factor.index()], |n| format!("{:.0}", n + 0.0))
        }
    }
}

fn number(figure: Figure, form: impl Fn(f64) -> String) -> String {
    figure.value().map_or_else(String::new, form)
}

/// `cpu=10,gres/gpu=5`.
fn tres(row: &PrioRow, form: Form) -> String {
    let terms = row.tres.iter().map(|term| {
        let value = match form {
            Form::Weighted => number(term.points, |n| format!("{:.0}", n + 0.0)),
            Form::Normalised => number(term.norm, |n| format!("{:.2}", n + 0.0)),
        };
        format!("{}={value}", term.name)
    });
    terms.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_analysis::prio::TresTerm;

    fn printed(format: &str, row: PrioRow) -> String {
        let table = Table {
            format: LineFormat::parse(format).unwrap(),
            header: false,
        };
        let report = PrioReport {
            rows: vec![row],
            ..PrioReport::default()
        };
        let mut out = Vec::new();
        table.write(&mut out, &report, &[0]).unwrap();
        String::from_utf8(out).unwrap()
    }

    // Expected: printf(3) of glibc 2.36 with the conversions of the manual page.
    #[test]
    fn numbers_have_the_forms_of_sprio() {
        let mut row = PrioRow {
            job_id: Some(7),
            user: Some("alice-in-physics".into()),
            priority: Figure::Computed(63206.9),
            norm_priority: Figure::Computed(63206.25 / 4_294_967_295.0),
            tres: vec![TresTerm {
                name: "cpu".into(),
                points: Figure::Computed(2.5),
                norm: Figure::Computed(0.125),
            }],
            nice: Some(-5),
            ..PrioRow::default()
        };
        row.points[0] = Figure::Computed(49.5);
        row.norm[0] = Figure::Computed(0.05);
        assert_eq!(
            printed("%.4i|%.8u|%Y|%10y|%.5A|%12a|%N|%T|%t|%9r|", row),
            "   7|alice-in|63206|0.00001471|   50|0.0500000   |-5|cpu=2|cpu=0.12|         |\n"
        );
    }

    #[test]
    fn a_column_without_width_is_as_long_as_its_value() {
        let row = PrioRow {
            job_id: Some(12345),
            ..PrioRow::default()
        };
        assert_eq!(printed("%i,%.3i,%3i", row), "12345,123,123\n");
    }
}
