//! Records that a reader could not read and left out, so that one broken record hides no other.

use super::error::InputError;

/// At most this many errors are kept; the others are counted.
const MOST_KEPT: usize = 100;

/// Handling of records that cannot be read: the whole input is refused, or they are left out and
/// noted.
///
/// The answers of a cluster are read as far as they can be, because any user can put text into them.
/// So are the rows of a listing that the user names; of these a single odd cell counts as blank.
#[derive(Debug, Default)]
pub struct LeftOut {
    strict: bool,
    of_file: bool,
    errors: Vec<(InputError, Part)>,
    count: usize,
    cells: usize,
    odd_rows: usize,
}

/// Amount that was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    Record,
    Cell,
}

impl LeftOut {
    /// The first record that cannot be read is the error of the whole input.
    pub fn refusing() -> LeftOut {
        LeftOut {
            strict: true,
            ..LeftOut::default()
        }
    }

    /// For a listing that the user names.
    pub(super) fn of_file() -> LeftOut {
        LeftOut {
            of_file: true,
            ..LeftOut::default()
        }
    }

    /// Returns true after [`LeftOut::of_file`].
    pub(super) fn is_of_file(&self) -> bool {
        self.of_file
    }

    /// A record, or `None` where it is left out.
    ///
    /// # Errors
    /// The record's, after [`LeftOut::refusing`].
    pub fn keep<T>(&mut self, read: Result<T, InputError>) -> Result<Option<T>, InputError> {
        match read {
            Ok(record) => Ok(Some(record)),
            Err(error) if self.strict => Err(error),
            Err(error) => {
                self.push(error, Part::Record);
                Ok(None)
            }
        }
    }

    /// A cell, or `None` where it counts as blank.
    ///
    /// # Errors
    /// The cell's, unless after [`LeftOut::of_file`]: its whole record cannot be read.
    pub(super) fn keep_cell<T>(
        &mut self,
        read: Result<T, InputError>,
    ) -> Result<Option<T>, InputError> {
        match read {
            Err(error) if self.of_file => {
                self.cells += 1;
                self.push(error, Part::Cell);
                Ok(None)
            }
            read => read.map(Some),
        }
    }

    fn push(&mut self, error: InputError, part: Part) {
        self.count += 1;
        if self.errors.len() < MOST_KEPT {
            self.errors.push((error, part));
        }
    }

    /// Number of records that were left out.
    pub fn count(&self) -> usize {
        self.count - self.cells
    }

    /// Counts a row that was kept, as odd where cells count as blank since there were `before`.
    pub(super) fn see_row(&mut self, before: usize) {
        self.odd_rows += usize::from(self.cells > before);
    }

    /// Number of rows that were kept and have such cells.
    pub(super) fn odd_rows(&self) -> usize {
        self.odd_rows
    }

    /// Number of cells that count as blank.
    pub(super) fn cells(&self) -> usize {
        self.cells
    }

    /// Where no record of an answer can be read, the answer is not what it should be: the error of
    /// the first one left out since there were `before`.
    ///
    /// # Errors
    /// That one, when `read` is 0 and any was left out since.
    pub fn any_read(&mut self, read: usize, before: usize) -> Result<(), InputError> {
        if read == 0 && self.count > before && before < self.errors.len() {
            return Err(self.errors.remove(before).0);
        }
        Ok(())
    }

    /// Changes the line of each error, as where the text was an excerpt of a file.
    pub(super) fn renumber(&mut self, line: impl Fn(usize) -> usize) {
        for (error, _) in &mut self.errors {
            error.line = error.line.map(&line);
        }
    }

    /// Adds what another reader left out.
    pub(super) fn append(&mut self, other: LeftOut) {
        self.count += other.count;
        self.cells += other.cells;
        self.odd_rows += other.odd_rows;
        self.errors.extend(other.errors);
        self.errors.truncate(MOST_KEPT);
    }

    /// A sentence for each record or cell, as far as they are kept, and one for the rest.
    pub fn notes(&self) -> Vec<String> {
        let note = |(error, part): &(InputError, Part)| match part {
            Part::Record => format!("{error}; this record is left out"),
            Part::Cell => format!("{error}; this cell counts as blank"),
        };
        let mut notes: Vec<String> = self.errors.iter().map(note).collect();
        if let Some(more) = self.count.checked_sub(notes.len()).filter(|more| *more > 0) {
            notes.push(format!("{more} more are left out"));
        }
        notes
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::error::Problem;

    fn error(line: usize) -> InputError {
        InputError::new("f", Problem::Structure("odd".into())).at_line(line, "x")
    }

    #[test]
    fn what_is_left_out_is_told_and_counted() {
        let mut left = LeftOut::default();
        for line in 1..=MOST_KEPT + 3 {
            assert!(left.keep::<()>(Err(error(line))).unwrap().is_none());
        }
        let notes = left.notes();
        assert_eq!(notes[0], "f:1: odd; this record is left out");
        assert_eq!(notes.last().unwrap(), "3 more are left out");
        assert_eq!(left.count(), MOST_KEPT + 3);
        assert!(left.any_read(1, 0).is_ok());
        assert_eq!(left.any_read(0, 0).unwrap_err().line, Some(1));
    }

    #[test]
    fn of_a_file_a_cell_counts_as_blank() {
        let mut file = LeftOut::of_file();
        assert!(file.keep_cell::<()>(Err(error(3))).unwrap().is_none());
        assert_eq!((file.count(), file.cells()), (0, 1));
        assert_eq!(file.notes(), ["f:3: odd; this cell counts as blank"]);
        assert!(LeftOut::default().keep_cell::<()>(Err(error(3))).is_err());
    }

    #[test]
    fn a_file_is_refused_at_its_first_record() {
        let mut strict = LeftOut::refusing();
        assert_eq!(strict.keep(Ok(7)).unwrap(), Some(7));
        assert!(strict.keep::<()>(Err(error(3))).is_err());
    }
}
