//! The cells of a column, of which one is kept as long as all are the same.
//!
//! At a site that does not weigh a factor, has no site factors and one QOS, most columns are so.

/// Cells, in the order in which they were added.
#[derive(Clone, Debug)]
pub(super) struct CellList<T> {
    /// The cell that all are; of no meaning once `each` has some.
    same: T,
    count: usize,
    /// All cells, from the first on that differs from those before it.
    each: Vec<T>,
    /// Expected number of cells: memory for them is allocated at once.
    room: usize,
}

impl<T: Copy + PartialEq> CellList<T> {
    /// No cells; `room`: how many may come. `blank` is any cell.
    pub fn new(blank: T, room: usize) -> CellList<T> {
        CellList {
            same: blank,
            count: 0,
            each: Vec::new(),
            room,
        }
    }

    /// Number of cells.
    pub fn len(&self) -> usize {
        self.count
    }

    /// The last cell; `None` if the list is empty.
    pub fn last(&self) -> Option<T> {
        self.count.checked_sub(1).map(|last| self.get(last))
    }

    /// Adds one.
    pub fn push(&mut self, cell: T) {
        if self.each.is_empty() {
            if self.count == 0 {
                self.same = cell;
            }
            if self.same == cell {
                self.count += 1;
                return;
            }
            self.each.reserve_exact(self.room.max(self.count + 1));
            self.each.resize(self.count, self.same);
        }
        self.each.push(cell);
        self.count += 1;
    }

    /// The one at a position.
    ///
    /// # Panics
    /// If there is no such cell.
    pub fn get(&self, at: usize) -> T {
        assert!(at < self.count, "a cell that was added");
        match self.each.is_empty() {
            true => self.same,
            false => self.each[at],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_as_they_were_added() {
        for cells in [&[][..], &[7], &[7, 7, 7], &[7, 7, 8, 7], &[1, 2], &[0, 0]] {
            for room in [0, 1, 100] {
                let mut list = CellList::new(0, room);
                assert_eq!(list.last(), None);
                for (at, &cell) in cells.iter().enumerate() {
                    list.push(cell);
                    assert_eq!((list.len(), list.last()), (at + 1, Some(cell)));
                }
                let found: Vec<i32> = (0..list.len()).map(|at| list.get(at)).collect();
                assert_eq!(found, cells);
            }
        }
    }

    #[test]
    #[should_panic(expected = "a cell that was added")]
    fn behind_the_last_there_is_none() {
        let mut list = CellList::new(0, 0);
        list.push(1);
        list.get(1);
    }
}
