//! Assigns cells to columns when the text of a column contains the separator itself.

use super::columns::Kind;

/// For each column the one cell that can be its, or `None` where several readings differ.
///
/// A column of [`Kind::Free`] may take any number of cells, at least one; all others take one,
/// which must fit. `None` as a whole: there is no reading at all. A free column gives its first
/// cell.
pub(super) fn align<'t>(kinds: &[Kind], cells: &[&'t str]) -> Option<Vec<Option<&'t str>>> {
    let extra = cells.len().checked_sub(kinds.len())?;
    if extra > 0 && !kinds.contains(&Kind::Free) {
        return None;
    }
    // By column and by how many more cells than columns went before: can the rest be read?
    let mut after = vec![vec![false; extra + 1]; kinds.len() + 1];
    after[kinds.len()][extra] = true;
    for (at, kind) in kinds.iter().enumerate().rev() {
        let mut any_later = false;
        for before in (0..=extra).rev() {
            any_later |= after[at + 1][before];
            let rest = match kind {
                Kind::Free => any_later,
                _ => after[at + 1][before],
            };
            after[at][before] = rest && kind.fits(cells[at + before]);
        }
    }
    let mut reached = vec![false; extra + 1];
    reached[0] = true;
    let mut found = Vec::with_capacity(kinds.len());
    for (at, kind) in kinds.iter().enumerate() {
        let mut cell: Option<Option<&str>> = None;
        let mut next = vec![false; extra + 1];
        let mut first = None;
        for before in (0..=extra).filter(|&b| reached[b] && after[at][b]) {
            let text = cells[at + before];
            cell = Some(match cell {
                None => Some(text),
                Some(known) => known.filter(|known| *known == text),
            });
            next[before] = true;
            first.get_or_insert(before);
        }
        if let Some(first) = first.filter(|_| *kind == Kind::Free) {
            next[first..].fill(true);
        }
        found.push(cell?);
        reached = next;
    }
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<'t>(columns: &[&str], row: &'t str) -> Option<Vec<Option<&'t str>>> {
        let kinds: Vec<Kind> = columns.iter().map(|name| Kind::of(name)).collect();
        align(&kinds, &row.split('|').collect::<Vec<_>>())
    }

    #[test]
    fn a_name_may_hold_bars() {
        let columns = ["JobID", "JobName", "User", "Start"];
        let found = read(&columns, "7|a||b|anna|2021-10-05T11:26:12").unwrap();
        assert_eq!(found[2..], [Some("anna"), Some("2021-10-05T11:26:12")]);
        assert_eq!(read(&columns, "7|a|b|anna|yesterday"), None);
        assert_eq!(read(&columns, "7|a"), None);
    }

    #[test]
    fn between_two_free_columns_the_cells_that_differ_are_unknown() {
        let columns = ["JobID", "JobName", "User", "Comment", "NCPUS"];
        let found = read(&columns, "7|a|b|c|d|4").unwrap();
        assert_eq!(found, [Some("7"), Some("a"), None, None, Some("4")]);
        // What does not fit decides.
        let columns = ["JobID", "JobName", "NCPUS", "Comment", "User"];
        let found = read(&columns, "7|a|b|4|c|d|anna").unwrap();
        assert_eq!(found[2], Some("4"));
        assert_eq!(found[4], Some("anna"));
    }
}
