//! Columns that are mostly empty.

/// Numbers by position; nothing is stored while all are the default.
#[derive(Clone, Debug, Default)]
pub(super) struct Sparse<T> {
    len: usize,
    stored: Vec<T>,
}

impl<T: Copy + Default + PartialEq> Sparse<T> {
    pub(super) fn get(&self, at: u32) -> T {
        self.stored.get(at as usize).copied().unwrap_or_default()
    }

    /// All stored numbers; empty if nothing is stored.
    pub(super) fn stored(&self) -> &[T] {
        &self.stored
    }

    /// Returns true if all are the default.
    pub(super) fn is_default(&self) -> bool {
        self.stored.is_empty()
    }

    pub(super) fn clear(&mut self) {
        self.len = 0;
        self.stored.clear();
    }

    #[inline]
    pub(super) fn push(&mut self, value: T) {
        if self.is_default() && value != T::default() {
            self.stored.resize(self.len, T::default());
            self.stored.push(value);
        } else if !self.is_default() {
            self.stored.push(value);
        }
        self.len += 1;
    }

    /// All numbers converted to another type that has the same default.
    pub(super) fn map<U>(&self, convert: impl Fn(T) -> U) -> Sparse<U> {
        Sparse {
            len: self.len,
            stored: self.stored.iter().map(|one| convert(*one)).collect(),
        }
    }

    /// Numbers at some positions.
    pub(super) fn gather(&self, rows: &[u32]) -> Sparse<T> {
        Sparse {
            len: rows.len(),
            stored: match self.is_default() {
                true => Vec::new(),
                false => rows.iter().map(|row| self.get(*row)).collect(),
            },
        }
    }
}

impl<T: Copy + Default + PartialEq> FromIterator<T> for Sparse<T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Sparse<T> {
        let stored: Vec<T> = values.into_iter().collect();
        Sparse {
            len: stored.len(),
            stored,
        }
    }
}
