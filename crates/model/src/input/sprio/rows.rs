//! The rows of a listing, stored column by column.

use std::collections::HashSet;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::cell_list::CellList;
use super::column::{Column, Factor, Form};
use super::number::Digits;
use crate::input::interner::Name;
use crate::input::sshare::Printed;

/// Resources with their points or factors.
pub type Terms = [(String, Printed)];

/// A row of a listing. A blank cell, and one of a column that is not there, is `None`.
#[derive(Clone, Copy, Debug, Default)]
pub struct SprioRow<'a> {
    /// Line in the file, from 1.
    pub line: usize,
    /// Job number.
    pub job_id: Option<u32>,
    /// Partition; several, separated by commas, where someone wrote them so.
    pub partition: Option<&'a str>,
    /// Cluster.
    pub cluster: Option<&'a str>,
    /// User.
    pub user: Option<&'a str>,
    /// Account.
    pub account: Option<&'a str>,
    /// Name of the QOS.
    pub qos_name: Option<&'a str>,
    /// SLUID.
    pub sluid: Option<&'a str>,
    /// Site factor.
    pub site: Option<i64>,
    /// Nice value.
    pub nice: Option<i64>,
    /// Priority, a whole number.
    pub priority: Option<f64>,
    /// Priority over 4294967295.
    pub norm_priority: Option<Printed>,
    /// Points by [`Factor::index`]; [`Factor::Tres`] is in `tres`.
    pub weighted: [Option<Printed>; 7],
    /// Factors by [`Factor::index`]; [`Factor::Tres`] is in `norm_tres`.
    pub norm: [Option<Printed>; 7],
    /// Points by name of the resource; `None` without the column, empty for a blank cell.
    pub tres: Option<&'a Terms>,
    /// Factors by name of the resource.
    pub norm_tres: Option<&'a Terms>,
    /// The end of the cell of `tres` that cannot be read, as a column too narrow cut it: `gres/g`.
    pub tres_cut: Option<&'a str>,
    /// That of `norm_tres`.
    pub norm_tres_cut: Option<&'a str>,
}

/// Content of a cell.
#[derive(Clone, Debug)]
pub(super) enum Value<'a> {
    Blank,
    Id(u32),
    Name(&'a str),
    Whole(i64),
    /// A whole number of points.
    Points(f64),
    Digits(Digits),
    /// A number of another form.
    Printed(Printed),
    /// Resources, and the end of the cell that is cut.
    Terms(Vec<(String, Printed)>, Option<&'a str>),
}

/// The rows of a listing.
#[derive(Clone, Debug, Default)]
pub struct SprioRows {
    lines: Vec<u32>,
    pub(super) columns: Vec<(Column, Data)>,
    /// True if no column occurs twice.
    pub(super) once: bool,
    /// All names in them, each once.
    pub(super) names: Vec<Name>,
    /// Index of each in `names`.
    known: FxHashMap<Name, u32>,
    /// Numbers that are not plain digits.
    pub(super) other: Vec<Printed>,
    terms: Vec<CellTerms>,
    /// Cells that are [`i64::MIN`] and not blank: column and row.
    least: HashSet<(usize, usize)>,
}

/// The resources of a cell, and its end that is cut.
type CellTerms = (Vec<(String, Printed)>, Option<Box<str>>);

/// The cells of a column. Positions count from 1; 0 is a blank cell.
#[derive(Clone, Debug)]
pub(super) enum Data {
    Ids(CellList<Option<u32>>),
    /// Positions in the names.
    Names(CellList<u32>),
    /// [`i64::MIN`] is a blank cell, unless it is among the least.
    Wholes(CellList<i64>),
    /// The bits of a number; of none: blank.
    Points(CellList<u64>),
    /// [`Digits`], [`BLANK`], or a position among the other ones with [`OTHER`].
    Numbers(CellList<u64>),
    /// Positions in the terms.
    Terms(CellList<u32>),
}

pub(super) const BLANK: u64 = u64::MAX;
pub(super) const OTHER: u64 = 1 << 62;

impl Data {
    /// No cells of a column yet, with room for some.
    fn of(column: Column, rows: usize) -> Data {
        match column {
            Column::JobId => Data::Ids(CellList::new(None, rows)),
            Column::Partition
            | Column::Cluster
            | Column::User
            | Column::Account
            | Column::QosName
            | Column::Sluid => Data::Names(CellList::new(0, rows)),
            Column::Site | Column::Nice => Data::Wholes(CellList::new(i64::MIN, rows)),
            Column::Priority(Form::Weighted) => {
                Data::Points(CellList::new(f64::NAN.to_bits(), rows))
            }
            Column::Factor(Factor::Tres, _) => Data::Terms(CellList::new(0, rows)),
            Column::Priority(Form::Normalised) | Column::Factor(..) => {
                Data::Numbers(CellList::new(BLANK, rows))
            }
        }
    }
}

impl SprioRows {
    /// No rows yet, of a listing with these columns.
    pub fn new(columns: &[Column]) -> SprioRows {
        SprioRows::with_capacity(columns, 0)
    }

    /// As [`SprioRows::new`], with room for `rows` rows.
    pub fn with_capacity(columns: &[Column], rows: usize) -> SprioRows {
        SprioRows {
            lines: Vec::with_capacity(rows),
            columns: columns
                .iter()
                .map(|&column| (column, Data::of(column, rows)))
                .collect(),
            once: (1..columns.len()).all(|at| !columns[..at].contains(&columns[at])),
            ..SprioRows::default()
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.lines.len()
    }

    /// Returns true if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// Adds a row: what it has in the columns that there are.
    pub fn push(&mut self, row: &SprioRow<'_>) {
        let number = |number: Option<Printed>| number.map(Value::Printed);
        let name = |name| Option::map(name, Value::Name);
        let terms =
            |terms: Option<&Terms>, cut| terms.map(|terms| Value::Terms(terms.to_vec(), cut));
        let value = |column| match column {
            Column::JobId => row.job_id.map(Value::Id),
            Column::Partition => name(row.partition),
            Column::Cluster => name(row.cluster),
            Column::User => name(row.user),
            Column::Account => name(row.account),
            Column::QosName => name(row.qos_name),
            Column::Sluid => name(row.sluid),
            Column::Site => row.site.map(Value::Whole),
            Column::Nice => row.nice.map(Value::Whole),
            Column::Priority(Form::Weighted) => row.priority.map(Value::Points),
            Column::Priority(Form::Normalised) => number(row.norm_priority),
            Column::Factor(Factor::Tres, Form::Weighted) => terms(row.tres, row.tres_cut),
            Column::Factor(Factor::Tres, Form::Normalised) => {
                terms(row.norm_tres, row.norm_tres_cut)
            }
            Column::Factor(factor, Form::Weighted) => number(row.weighted[factor.index()]),
            Column::Factor(factor, Form::Normalised) => number(row.norm[factor.index()]),
        };
        let columns = self.columns.iter().map(|&(column, _)| value(column));
        let mut values: Vec<Value<'_>> = columns.map(|v| v.unwrap_or(Value::Blank)).collect();
        self.push_values(row.line, &mut values);
    }

    /// Adds a row by its cells, one of its kind for each column.
    pub(super) fn push_values(&mut self, line: usize, values: &mut Vec<Value<'_>>) {
        assert_eq!(values.len(), self.columns.len(), "a cell for each column");
        // No readable stream has more lines: it would have 16 EiB, or blank lines alone.
        self.lines.push(u32::try_from(line).unwrap_or(u32::MAX));
        for (at, mut value) in values.drain(..).enumerate() {
            let place = match &mut value {
                Value::Name(text) => self.name(at, text),
                Value::Terms(terms, cut) if !terms.is_empty() || cut.is_some() => {
                    self.terms.push((std::mem::take(terms), cut.map(Box::from)));
                    place(self.terms.len())
                }
                _ => 0,
            };
            match (&mut self.columns[at].1, value) {
                (Data::Ids(cells), Value::Id(id)) => cells.push(Some(id)),
                (Data::Ids(cells), _) => cells.push(None),
                (Data::Names(cells) | Data::Terms(cells), _) => cells.push(place),
                (Data::Wholes(cells), Value::Whole(number)) => {
                    if number == i64::MIN {
                        self.least.insert((at, cells.len()));
                    }
                    cells.push(number);
                }
                (Data::Wholes(cells), _) => cells.push(i64::MIN),
                (Data::Points(cells), Value::Points(points)) => cells.push(points.to_bits()),
                (Data::Points(cells), _) => cells.push(f64::NAN.to_bits()),
                (Data::Numbers(cells), Value::Digits(digits)) => cells.push(digits.bits()),
                (Data::Numbers(cells), Value::Printed(printed)) => {
                    cells.push(OTHER | self.other.len() as u64);
                    self.other.push(printed);
                }
                (Data::Numbers(cells), _) => cells.push(BLANK),
            }
        }
    }

    /// The place of a name in a column.
    fn name(&mut self, column: usize, text: &str) -> u32 {
        // Often the one of the row above.
        if let Data::Names(cells) = &self.columns[column].1 {
            let last = cells.last().filter(|last| *last > 0);
            if let Some(last) = last.filter(|last| *self.names[*last as usize - 1] == *text) {
                return last;
            }
        }
        if let Some(&known) = self.known.get(text) {
            return known;
        }
        let name: Name = Arc::from(text);
        self.names.push(name.clone());
        let place = place(self.names.len());
        self.known.insert(name, place);
        place
    }

    /// The row at a position.
    ///
    /// # Panics
    /// If there is no row at the position.
    pub fn get(&self, at: usize) -> SprioRow<'_> {
        let mut row = SprioRow {
            line: self.lines[at] as usize,
            ..SprioRow::default()
        };
        for (nth, (column, data)) in self.columns.iter().enumerate() {
            match data {
                Data::Ids(cells) => row.job_id = cells.get(at).or(row.job_id),
                Data::Names(cells) => {
                    if let Some(name) = cells.get(at).checked_sub(1) {
                        *name_of(&mut row, *column) = Some(&self.names[name as usize]);
                    }
                }
                Data::Wholes(cells) => {
                    let number = self.whole(nth, at, cells.get(at));
                    match column {
                        Column::Site => row.site = number.or(row.site),
                        _ => row.nice = number.or(row.nice),
                    }
                }
                Data::Points(cells) => {
                    let points = self::points(cells.get(at));
                    row.priority = points.or(row.priority);
                }
                Data::Numbers(cells) => {
                    if let Some(number) = self.number(cells.get(at)) {
                        *number_of(&mut row, *column) = Some(number);
                    }
                }
                Data::Terms(cells) => {
                    // Without weights for them, and beside a priority set by hand, there are no
                    // terms.
                    let terms = cells.get(at).checked_sub(1);
                    let (terms, cut) = terms.map_or((&[][..], None), |terms| {
                        let (terms, cut) = &self.terms[terms as usize];
                        (&terms[..], cut.as_deref())
                    });
                    match column {
                        Column::Factor(_, Form::Normalised) => {
                            (row.norm_tres, row.norm_tres_cut) = (Some(terms), cut);
                        }
                        _ => (row.tres, row.tres_cut) = (Some(terms), cut),
                    }
                }
            }
        }
        row
    }

    /// The number of a cell at a column and a row; `None`: it is blank.
    pub(super) fn whole(&self, column: usize, row: usize, cell: i64) -> Option<i64> {
        let blank = cell == i64::MIN && !self.least.contains(&(column, row));
        (!blank).then_some(cell)
    }

    fn number(&self, cell: u64) -> Option<Printed> {
        match cell {
            BLANK => None,
            cell if cell & OTHER != 0 => Some(self.other[(cell & !OTHER) as usize]),
            cell => Some(Digits::from_bits(cell).printed()),
        }
    }

    /// The number of the job of each row, in order.
    pub fn job_ids(&self) -> impl Iterator<Item = Option<u32>> {
        let ids = self.columns.iter().rev().find_map(|(_, data)| match data {
            Data::Ids(ids) => Some(ids),
            _ => None,
        });
        (0..self.len()).map(move |at| ids.and_then(|ids| ids.get(at)))
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = SprioRow<'_>> {
        (0..self.len()).map(|at| self.get(at))
    }
}

/// The number of a cell of points; `None`: it is blank.
pub(super) fn points(cell: u64) -> Option<f64> {
    Some(f64::from_bits(cell)).filter(|points| !points.is_nan())
}

/// A position counted from 1.
fn place(count: usize) -> u32 {
    u32::try_from(count).expect("fewer than 2^32 different cells")
}

fn name_of<'r, 'a>(row: &'r mut SprioRow<'a>, column: Column) -> &'r mut Option<&'a str> {
    match column {
        Column::Partition => &mut row.partition,
        Column::Cluster => &mut row.cluster,
        Column::Account => &mut row.account,
        Column::QosName => &mut row.qos_name,
        Column::Sluid => &mut row.sluid,
        _ => &mut row.user,
    }
}

fn number_of<'r>(row: &'r mut SprioRow<'_>, column: Column) -> &'r mut Option<Printed> {
    match column {
        Column::Factor(factor, Form::Weighted) => &mut row.weighted[factor.index()],
        Column::Factor(factor, Form::Normalised) => &mut row.norm[factor.index()],
        _ => &mut row.norm_priority,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_as_it_was_pushed() {
        let columns = Column::ALL.map(|(_, column)| column);
        let mut rows = SprioRows::new(&columns);
        let terms = [("cpu".to_owned(), Printed::exactly(3.5))];
        let whole = SprioRow {
            line: 7,
            job_id: Some(u32::MAX),
            partition: Some("main"),
            cluster: Some("c"),
            user: Some("main"),
            account: Some("a"),
            qos_name: Some("q"),
            sluid: Some("s1"),
            site: Some(i64::MIN),
            nice: Some(0),
            priority: Some(5.0),
            norm_priority: Printed::parse("1.5e-09"),
            weighted: [Printed::parse("50"); 7],
            norm: [Printed::parse("0.0500000"); 7],
            tres: Some(&terms),
            norm_tres: Some(&[]),
            tres_cut: Some("gres/g"),
            norm_tres_cut: Some("c"),
        };
        let text = |row: &SprioRow<'_>| {
            // The numbers of TRES are terms.
            let mut row = *row;
            row.weighted[6] = None;
            row.norm[6] = None;
            format!("{row:?}")
        };
        rows.push(&whole);
        rows.push(&SprioRow {
            line: 8,
            ..SprioRow::default()
        });
        assert_eq!(text(&rows.get(0)), text(&whole));
        let blank = rows.get(1);
        assert_eq!(
            (blank.job_id, blank.user, blank.norm[0]),
            (None, None, None)
        );
        // The columns exist.
        assert!(blank.tres.is_some_and(<[_]>::is_empty));
        assert_eq!((rows.len(), rows.iter().count()), (2, 2));
    }

    #[test]
    fn columns_that_are_not_there_are_none() {
        let mut rows = SprioRows::new(&[Column::User]);
        rows.push(&SprioRow {
            job_id: Some(1),
            user: Some("u"),
            ..SprioRow::default()
        });
        let row = rows.get(0);
        assert_eq!((row.job_id, row.user, row.tres), (None, Some("u"), None));
    }
}
