//! Where a list of results goes whose length the caller need not know.

use super::error::{Failure, Status};
use super::view::{Out, OutArray, Plain};

/// A caller's array for results, and the place for their number.
pub(super) struct OutList<'a, T> {
    rows: OutArray<T>,
    found: Out<usize>,
    argument: &'a str,
}

impl<'a, T: Plain> OutList<'a, T> {
    /// Checks both pointers and the length; (NULL, 0) asks for the number alone.
    pub(super) fn new(
        rows: *mut T,
        rows_len: usize,
        row_size: usize,
        found: *mut usize,
        argument: &'a str,
    ) -> Result<OutList<'a, T>, Failure> {
        Ok(OutList {
            rows: OutArray::rows(rows, rows_len, row_size, argument)?,
            found: Out::new(found, "found")?,
            argument,
        })
    }

    /// Returns true if `count` results fit.
    pub(super) fn has_room(&self, count: usize) -> bool {
        count <= self.rows.len()
    }

    /// Refuses `count` results if the array is too short for them, and then writes their number:
    /// for a call that must change nothing if it fails.
    ///
    /// # Safety
    /// The pointer is writable, and no reference to that memory is used afterwards.
    pub(super) unsafe fn check_room(&self, count: usize) -> Result<(), Failure> {
        let room = self.rows.len();
        if room == 0 || count <= room {
            return Ok(());
        }
        // SAFETY: as promised by the caller of this function.
        unsafe { self.found.write(count) };
        let what = self.argument;
        Err(Failure::new(
            Status::FT_ERR_BUFFER,
            format!("{what} has room for {room} entries, but there are {count}"),
        ))
    }

    /// Writes the number of results, and the results if there is room for all of them.
    ///
    /// # Safety
    /// Array and pointer are writable, and no reference to that memory is used afterwards.
    pub(super) unsafe fn write(self, results: &[T]) -> Result<(), Failure> {
        // SAFETY: as promised by the caller of this function.
        unsafe { self.check_room(results.len())? };
        // SAFETY: as promised by the caller of this function.
        unsafe {
            self.found.write(results.len());
            self.rows.write(results.iter().copied());
        }
        Ok(())
    }
}
