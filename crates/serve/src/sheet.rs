//! A table as CSV that a spreadsheet opens without computing anything.

/// A cell.
#[derive(Clone, Debug, PartialEq)]
pub enum Cell {
    /// Text, of whoever chose it.
    Text(String),
    /// A number, unrounded.
    Number(f64),
    /// Nothing.
    Empty,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_owned())
    }
}

impl From<Option<&str>> for Cell {
    fn from(text: Option<&str>) -> Cell {
        text.map_or(Cell::Empty, Cell::from)
    }
}

impl From<f64> for Cell {
    fn from(number: f64) -> Cell {
        Cell::Number(number)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Text(number.to_string())
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        u64::from(number).into()
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell
where
    T: Copy + Numeric,
{
    fn from(number: Option<T>) -> Cell {
        number.map_or(Cell::Empty, Into::into)
    }
}

/// Kinds of numbers.
pub trait Numeric {}
impl Numeric for f64 {}
impl Numeric for u64 {}
impl Numeric for u32 {}

/// A table.
#[derive(Clone, Debug, Default)]
pub struct Sheet {
    /// Names of the columns.
    pub columns: Vec<&'static str>,
    /// Rows, each with a cell per column.
    pub rows: Vec<Vec<Cell>>,
}

impl Sheet {
    /// A table without rows.
    pub fn new(columns: &[&'static str]) -> Sheet {
        Sheet {
            columns: columns.to_vec(),
            rows: Vec::new(),
        }
    }

    /// The table as CSV (RFC 4180). Text that a spreadsheet would take for a formula begins with `'`.
    ///
    /// # Errors
    /// Rows of different lengths.
    pub fn to_csv(&self) -> Result<Vec<u8>, csv::Error> {
        let mut out = csv::WriterBuilder::new()
            .terminator(csv::Terminator::CRLF)
            .from_writer(Vec::new());
        out.write_record(&self.columns)?;
        for row in &self.rows {
            out.write_record(row.iter().map(written))?;
        }
        out.into_inner().map_err(|error| error.into_error().into())
    }
}

fn written(cell: &Cell) -> String {
    match cell {
        Cell::Empty => String::new(),
        Cell::Number(number) if number.is_infinite() => "inf".to_owned(),
        // -0 is 0.
        Cell::Number(number) => (number + 0.0).to_string(),
        Cell::Text(text) => {
            // https://owasp.org/www-community/attacks/CSV_Injection
            let formula =
                text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n', '＝', '＋', '－', '＠']);
            match formula {
                true => format!("'{text}"),
                false => text.clone(),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // The characters: OWASP's page on CSV injection.
    #[test]
    fn text_is_no_formula_and_numbers_stay() {
        let mut sheet = Sheet::new(&["name", "value"]);
        for text in ["=1+1", "+1", "-1", "@x", "\tx", "a,\"b\"\r\n=2"] {
            sheet.rows.push(vec![text.into(), Cell::Number(-1.5)]);
        }
        let text = String::from_utf8(sheet.to_csv().unwrap()).unwrap();
        assert_eq!(
            text,
            "name,value\r\n'=1+1,-1.5\r\n'+1,-1.5\r\n'-1,-1.5\r\n'@x,-1.5\r\n'\tx,-1.5\r\n\
             \"a,\"\"b\"\"\r\n=2\",-1.5\r\n"
        );
    }
}
