//! The text that sshare prints.
//!
//! Byte for byte as sshare 22.05, 24.11 and 26.05 do it: widths count bytes, text that is too long ends
//! in `+`, whole numbers that are too long push the row to the right, other numbers change to an
//! exponent form, a row ends in a blank, and an account is indented one blank more than the
//! account above it if that one is printed, too. Source: sshare(1) and the output of both.

use std::borrow::Cow;
use std::io::{self, Write};

use fairtree::fairshare::Whole;
use fairtree::tree::Shares;
use fairtree_analysis::share::{ShareReport, ShareRow};
use fairtree_model::c_format;
use fairtree_model::input::sshare::{Column, Field, RowKind};

/// The separator of two cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Separator {
    /// Columns of fixed width, a blank after each.
    #[default]
    Columns,
    /// `-p`: a bar after each cell.
    BarAfter,
    /// `-P`: a bar between cells.
    BarBetween,
}

/// How a table looks.
#[derive(Clone, Debug)]
pub struct Table {
    /// The columns.
    pub fields: Vec<Field>,
    /// True to write the names of the columns first.
    pub header: bool,
    /// The separator of the cells.
    pub separator: Separator,
    /// True if accounts have a FairShare outside Fair Tree: in sshare before 25.11
    /// ([`Facts::sshare_rates_accounts`](fairtree::compat::Facts)).
    pub rates_accounts: bool,
}

impl Table {
    /// Writes the rows `shown` of a report.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write(
        &self,
        out: &mut impl Write,
        report: &ShareReport,
        shown: &[usize],
    ) -> io::Result<()> {
        if self.header {
            self.write_header(out)?;
        }
        let mut line = Vec::new();
        let mut depths: Vec<Option<usize>> = vec![None; report.rows.len()];
        let accounts_shown = |row: &&usize| report.rows[**row].kind == RowKind::Account;
        let any_account = shown.iter().any(|row| accounts_shown(&row));
        for &at in shown {
            let row = &report.rows[at];
            let depth = match row.parent {
                Some(parent) => depths[parent].map_or(0, |depth| depth + 1),
                None if any_account => row.margin,
                None => 0,
            };
            if row.kind == RowKind::Account {
                depths[at] = Some(depth);
            }
            line.clear();
            for (number, field) in self.fields.iter().enumerate() {
                let last = number + 1 == self.fields.len();
                let blank = field.column == Column::FairShare
                    && row.kind == RowKind::Account
                    && !self.rates_accounts;
                let cell = match blank {
                    true => Cell::Blank,
                    false => cell(report, row, field.column, depth),
                };
                self.write_cell(&mut line, field.width, &cell, last);
            }
            line.push(b'\n');
            out.write_all(&line)?;
        }
        Ok(())
    }

    fn write_header(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = Vec::new();
        for (number, field) in self.fields.iter().enumerate() {
            let last = number + 1 == self.fields.len();
            let name = field.column.name();
            match self.separator {
                Separator::Columns => {
                    let end = name.len().min(field.width.unsigned_abs() as usize);
                    let start = line.len();
                    line.extend(&name.as_bytes()[..end]);
                    c_format::pad(&mut line, start, field.width);
                    line.push(b' ');
                }
                _ => self.write_cell(&mut line, field.width, &Cell::Text(name.into()), last),
            }
        }
        line.push(b'\n');
        if self.separator == Separator::Columns {
            for field in &self.fields {
                line.resize(line.len() + field.width.unsigned_abs() as usize, b'-');
                line.push(b' ');
            }
            line.push(b'\n');
        }
        out.write_all(&line)
    }

    fn write_cell(&self, line: &mut Vec<u8>, width: i32, cell: &Cell<'_>, last: bool) {
        let whole = |line: &mut Vec<u8>, number: u64| {
            write!(line, "{number}").expect("memory takes all that is written");
        };
        if self.separator == Separator::Columns {
            let start = line.len();
            match cell {
                Cell::Text(text) => fixed(line, text.as_bytes(), width),
                Cell::Whole(number) => {
                    whole(line, *number);
                    c_format::pad(line, start, width);
                }
                Cell::Number(number) => c_format::push_fitted(line, *number, width),
                Cell::Blank => c_format::pad(line, start, width),
            }
            line.push(b' ');
            return;
        }
        match cell {
            Cell::Text(text) => line.extend(text.bytes()),
            Cell::Whole(number) => whole(line, *number),
            Cell::Number(number) => c_format::push_f(line, *number),
            Cell::Blank => {}
        }
        if !last || self.separator == Separator::BarAfter {
            line.push(b'|');
        }
    }
}

/// Text in a column: cut to its width in bytes, a `+` for what was cut off.
fn fixed(line: &mut Vec<u8>, text: &[u8], width: i32) {
    let columns = width.unsigned_abs() as usize;
    let start = line.len();
    let blanks = columns.saturating_sub(text.len());
    if width > 0 {
        line.resize(start + blanks, b' ');
    }
    line.extend(&text[..text.len().min(columns)]);
    if text.len() > columns {
        line[start + columns - 1] = b'+';
    }
    line.resize(start + columns, b' ');
}

/// A cell before it is put in its column.
enum Cell<'a> {
    Text(Cow<'a, str>),
    Whole(u64),
    Number(f64),
    Blank,
}

/// Numbers that mean "none" to Slurm's commands: its two largest 32-bit numbers, and those of 64
/// bits, which are one as `double`.
const NONE: [f64; 3] = [
    4_294_967_294.0,
    4_294_967_295.0,
    18_446_744_073_709_551_616.0,
];

/// The NormShares of the root in sshare under Fair Tree: one share of the largest number
/// that there is. It reads 0.000000 where the column has room for that.
const ROOT_NORM_SHARES: f64 = 1.0 / 4_294_967_294.0;

fn cell<'a>(report: &ShareReport, row: &'a ShareRow, column: Column, depth: usize) -> Cell<'a> {
    let text = |text: &'a Option<String>| {
        let text = text.as_deref();
        text.map_or(Cell::Blank, |text| Cell::Text(text.into()))
    };
    let has_level_fs = report.ranking.columns().level_fs;
    let of_above = report.ranking.whole() == Whole::Above;
    match column {
        Column::NormShares if row.root && of_above => return Cell::Number(ROOT_NORM_SHARES),
        // slurmctld computes none, and sshare shows that as 0.
        Column::LevelFs if !has_level_fs && row.raw_shares != Some(Shares::Parent) => {
            return Cell::Number(0.0);
        }
        _ => {}
    }
    if let Some(figure) = row.figure(column) {
        let number = figure.value().filter(|value| !NONE.contains(value));
        return number.map_or(Cell::Blank, Cell::Number);
    }
    match column {
        Column::Account => match &row.account {
            Some(account) if depth > 0 => Cell::Text(format!("{:depth$}{account}", "").into()),
            _ => text(&row.account),
        },
        Column::User => text(&row.user),
        Column::Cluster => text(&row.cluster),
        Column::Partition => text(&row.partition),
        Column::GrpTresMins => text(&row.grp_tres_mins),
        Column::GrpTresRaw => text(&row.grp_tres_raw),
        Column::TresRunMins => text(&row.tres_run_mins),
        Column::Id => row.id.map_or(Cell::Blank, |id| Cell::Whole(id.into())),
        Column::RawShares => match row.raw_shares {
            Some(Shares::Raw(shares)) => Cell::Whole(shares.into()),
            Some(Shares::Parent) => Cell::Text("parent".into()),
            None => Cell::Blank,
        },
        Column::RawUsage => match row.raw_usage {
            Some(usage) => Cell::Whole(usage),
            None => Cell::Blank,
        },
        // Figures, above.
        Column::NormShares
        | Column::NormUsage
        | Column::EffectvUsage
        | Column::LevelFs
        | Column::FairShare
        | Column::Entitled
        | Column::Due
        | Column::UsedRatio => Cell::Blank,
    }
}
