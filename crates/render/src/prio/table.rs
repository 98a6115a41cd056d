//! The text that sprio prints.
//!
//! Byte for byte as sprio 22.05 and 24.11 do it: widths count bytes, what is too long is cut,
//! points are rounded to whole numbers, the priority is cut to one, normalised numbers have seven
//! decimals, the normalised priority fourteen, resources two. Source: sprio(1) and the output of
//! both.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use fairtree_analysis::prio::{Figure, PrioReport, PrioRow};
use fairtree_model::input::sprio::{Column, Factor, Field, Form, LineFormat};

/// How a table looks.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns.
    pub format: LineFormat,
    /// True to write the headings first.
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
        let mut space = Space::default();
        for &at in shown {
            let row = report.rows.get(at);
            self.line(out, &mut space, |text, column| {
                cell(text, &row, column, report.names);
            })?;
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
        self.line(out, &mut Space::default(), |text, column| match column {
            Column::JobId => text.push_str("Weights"),
            // The site factor counts as it is.
            Column::Site => text.push('1'),
            Column::Factor(Factor::Tres, Form::Weighted) => text.push_str(tres.unwrap_or("")),
            Column::Factor(factor, _) => whole(text, report.weight(factor)),
            _ => {}
        })
    }

    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        if self.header {
            self.line(out, &mut Space::default(), |text, column| {
                text.push_str(column.name());
            })?;
        }
        Ok(())
    }

    /// Writes a line whose cells `cell` appends to an empty text.
    fn line(
        &self,
        out: &mut impl Write,
        space: &mut Space,
        cell: impl Fn(&mut String, Column),
    ) -> io::Result<()> {
        let Space { line, text } = space;
        line.clear();
        line.extend(self.format.prefix.bytes());
        for field in &self.format.fields {
            text.clear();
            cell(text, field.column);
            place(line, text, field);
            line.extend(field.suffix.bytes());
        }
        line.push(b'\n');
        out.write_all(line)
    }
}

/// Memory of a line, for the next one.
#[derive(Default)]
struct Space {
    line: Vec<u8>,
    text: String,
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

/// Appends the text of a cell. `names`: as from 24.05 on, where the factors of a priority set by
/// hand are a plain 0.
fn cell(text: &mut String, row: &PrioRow<'_>, column: Column, names: bool) {
    match column {
        Column::JobId => whole(text, row.job_id),
        Column::Partition => text.push_str(row.partition.unwrap_or("")),
        // Outside of federations slurmctld names no cluster, and sprio shows that so.
        Column::Cluster if row.line.is_none() => text.push_str("(null)"),
        Column::Cluster => text.push_str(row.cluster.unwrap_or("")),
        Column::User => text.push_str(row.user.unwrap_or("")),
        Column::Account => text.push_str(row.account.unwrap_or("")),
        Column::QosName => text.push_str(row.qos_name.unwrap_or("")),
        Column::Sluid => text.push_str(row.sluid.unwrap_or("")),
        Column::Site => whole(text, row.site),
        Column::Nice => whole(text, row.nice),
        Column::Priority(Form::Weighted) => number(row.priority, |n| points(text, n.trunc())),
        Column::Priority(Form::Normalised) => {
            number(row.norm_priority, |n| add(text, format_args!("{n:16.14}")));
        }
        Column::Factor(Factor::Tres, form) => tres(text, row, form),
        Column::Factor(factor, Form::Normalised) if row.set_by_hand && names => {
            number(row.norm[factor.index()], |_| text.push('0'));
        }
        Column::Factor(factor, Form::Normalised) => {
            let figure = row.norm[factor.index()];
            number(figure, |n| add(text, format_args!("{:.7}", n + 0.0)));
        }
        Column::Factor(factor, Form::Weighted) => {
            number(row.points[factor.index()], |n| points(text, n + 0.0));
        }
    }
}

fn add(text: &mut String, formatted: fmt::Arguments<'_>) {
    // A String takes everything.
    let _ = text.write_fmt(formatted);
}

fn whole(text: &mut String, number: Option<impl fmt::Display>) {
    if let Some(number) = number {
        add(text, format_args!("{number}"));
    }
}

/// A number without decimals, halves to the even side.
fn points(text: &mut String, number: f64) {
    /// Whole numbers up to here are exact.
    const MOST: f64 = (1_u64 << 53) as f64;
    if (0.0..MOST).contains(&number) {
        // Much faster than the general way.
        add(text, format_args!("{}", number.round_ties_even() as u64));
    } else {
        add(text, format_args!("{number:.0}"));
    }
}

fn number(figure: Figure, form: impl FnOnce(f64)) {
    if let Some(number) = figure.value() {
        form(number);
    }
}

/// `cpu=10,gres/gpu=5`, with the end of a cell that is cut as it was printed.
fn tres(text: &mut String, row: &PrioRow<'_>, form: Form) {
    for (at, term) in row.tres.iter().enumerate() {
        if at > 0 {
            text.push(',');
        }
        text.push_str(term.name);
        text.push('=');
        match form {
            Form::Weighted => number(term.points, |n| points(text, n + 0.0)),
            Form::Normalised => {
                number(term.norm, |n| add(text, format_args!("{:.2}", n + 0.0)));
            }
        }
    }
    if let Some(cut) = row.cut {
        if !row.tres.is_empty() {
            text.push(',');
        }
        text.push_str(cut.text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree_analysis::prio::TresTerm;

    fn printed(format: &str, row: PrioRow<'static>) -> String {
        let table = Table {
            format: LineFormat::parse(format).unwrap(),
            header: false,
        };
        let report = PrioReport {
            rows: vec![row].into(),
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
            user: Some("alice-in-physics"),
            priority: Figure::Computed(63206.9),
            norm_priority: Figure::Computed(63206.25 / 4_294_967_295.0),
            tres: vec![TresTerm {
                name: "cpu",
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

    // Expected: the general way.
    #[test]
    fn points_are_rounded_to_the_even_side() {
        for number in [
            0.0,
            0.4,
            0.5,
            0.500001,
            1.5,
            2.5,
            3.5,
            63206.9,
            1e15,
            2e15 + 0.5,
            1e17,
            -0.4,
            -1.5,
            f64::INFINITY,
            f64::NAN,
        ] {
            let mut text = String::new();
            points(&mut text, number);
            assert_eq!(text, format!("{number:.0}"));
        }
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
