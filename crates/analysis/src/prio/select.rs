//! Which rows are shown, and in which order.

use std::cmp::Ordering;

use super::{PrioReport, PrioRow};
use fairtree_model::input::sprio::Factor;

/// `-j`, `-u`, `-p` and `-S`. Empty lists show all.
#[derive(Clone, Debug, Default)]
pub struct Select {
    /// `-j`: only these jobs.
    pub jobs: Vec<u32>,
    /// `-u`: only jobs of these users.
    pub users: Vec<String>,
    /// `-p`: only rows of these partitions.
    pub partitions: Vec<String>,
    /// `-S`: the first key counts most; without keys the order is by job number.
    pub sort: Vec<SortKey>,
}

/// Why rows could not be selected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SelectError {
    /// A letter that is not sorted by.
    #[error(
        "invalid sort specification {0:?}: allowed are the letters c i N n o r u A F J P Q T Y, each with + or - before it"
    )]
    Sort(char),
    /// The input does not have the column that a selection goes by.
    #[error("the input has no column {0} to select by")]
    Column(&'static str),
}

/// One key of `-S`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SortKey {
    letter: char,
    descending: bool,
}

/// The keys of an `-S` text, as `-Y,i`: letters of sprio's columns, `-` before one for descending.
///
/// # Errors
/// [`SelectError::Sort`] for other letters.
pub fn parse_sort(text: &str) -> Result<Vec<SortKey>, SelectError> {
    let mut keys = Vec::new();
    let mut before = ' ';
    for letter in text.chars() {
        match letter {
            ',' | '+' | '-' => {}
            'c' | 'i' | 'N' | 'n' | 'o' | 'r' | 'u' | 'A' | 'a' | 'F' | 'f' | 'J' | 'j' | 'P'
            | 'p' | 'Q' | 'q' | 'T' | 't' | 'Y' | 'y' => keys.push(SortKey {
                letter,
                descending: before == '-',
            }),
            other => return Err(SelectError::Sort(other)),
        }
        before = letter;
    }
    Ok(keys)
}

/// The rows of a report that are shown, in order. Rows that no key tells apart stay in the order
/// of the input.
///
/// sprio cuts users to 8 bytes and partitions to 9 unless `-o` gives more, so a cell of that
/// length stands for every name that begins so.
///
/// # Errors
/// [`SelectError::Column`] where the rows do not have the column that a selection goes by.
pub fn select(report: &PrioReport, select: &Select) -> Result<Vec<usize>, SelectError> {
    let rows = &report.rows;
    let missing = |asked: bool, has: fn(&PrioRow<'_>) -> bool| {
        asked && !rows.is_empty() && !rows.iter().any(|row| has(&row))
    };
    if missing(!select.jobs.is_empty(), |row| row.job_id.is_some()) {
        return Err(SelectError::Column("JOBID"));
    }
    if missing(!select.users.is_empty(), |row| row.user.is_some()) {
        return Err(SelectError::Column("USER"));
    }
    if missing(!select.partitions.is_empty(), |row| row.partition.is_some()) {
        return Err(SelectError::Column("PARTITION"));
    }
    let shown = |row: &PrioRow<'_>| {
        (select.jobs.is_empty() || row.job_id.is_some_and(|id| select.jobs.contains(&id)))
            && among(&select.users, row.user, 8)
            && among(&select.partitions, row.partition, 9)
    };
    if select.jobs.is_empty()
        && select.users.is_empty()
        && select.partitions.is_empty()
        && select.sort.is_empty()
    {
        return Ok(by_job(report));
    }
    let by_id = [SortKey {
        letter: 'i',
        descending: false,
    }];
    let keys = if select.sort.is_empty() {
        &by_id[..]
    } else {
        &select.sort
    };
    // The values of all keys of a row, one after the other.
    let mut values: Vec<Value<'_>> = Vec::new();
    let mut shown_rows: Vec<usize> = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        if shown(&row) {
            values.extend(keys.iter().map(|key| key.value(report, &row)));
            shown_rows.push(at);
        }
    }
    let of = |place: usize| values[place * keys.len()..].iter().zip(keys);
    let mut order: Vec<usize> = (0..shown_rows.len()).collect();
    order.sort_by(|&a, &b| {
        let mut ordering = of(a).zip(of(b)).map(|((a, key), (b, _))| key.compare(a, b));
        ordering.find(|o| o.is_ne()).unwrap_or(Ordering::Equal)
    });
    Ok(order.into_iter().map(|place| shown_rows[place]).collect())
}

/// All rows by job number.
fn by_job(report: &PrioReport) -> Vec<usize> {
    let rows = &report.rows;
    let job = |at: usize| rows.head(at).0;
    let mut order: Vec<usize> = (0..rows.len()).collect();
    if !order.is_sorted_by_key(|at| job(*at)) {
        order.sort_by_cached_key(|at| job(*at));
    }
    order
}

/// A value by which rows are ordered.
#[derive(Clone, Copy, Debug)]
enum Value<'a> {
    Text(Option<&'a str>),
    Whole(Option<i64>),
    Number(f64),
}

fn among(names: &[String], cell: Option<&str>, cut: usize) -> bool {
    let cell = cell.unwrap_or("");
    let is = |name: &String| {
        name == cell || (cell.len() == cut && name.len() > cut && name.starts_with(cell))
    };
    // A job in several partitions, where they were written in one cell.
    let part = |name: &String| cell.contains(',') && cell.split(',').any(|part| part == name);
    names.is_empty() || names.iter().any(|name| is(name) || part(name))
}

impl SortKey {
    fn value<'a>(self, report: &PrioReport, row: &PrioRow<'a>) -> Value<'a> {
        let points = |factor: Factor| number(row.points[factor.index()].value());
        match self.letter {
            'c' => Value::Text(row.cluster),
            'i' => Value::Whole(row.job_id.map(i64::from)),
            'N' => Value::Whole(Some(nice(report, row))),
            'n' => Value::Text(row.qos_name),
            'o' => Value::Text(row.account),
            'r' => Value::Text(row.partition),
            'u' => Value::Text(row.user),
            'A' | 'a' => points(Factor::Age),
            'F' | 'f' => points(Factor::Fairshare),
            'J' | 'j' => points(Factor::JobSize),
            'P' | 'p' => points(Factor::Partition),
            'Q' | 'q' => points(Factor::Qos),
            'T' | 't' => points(Factor::Tres),
            _ => number(row.priority.value()),
        }
    }

    /// Two values of this key.
    fn compare(self, a: &Value<'_>, b: &Value<'_>) -> Ordering {
        let ordering = match (a, b) {
            (Value::Text(a), Value::Text(b)) => a.cmp(b),
            (Value::Whole(a), Value::Whole(b)) => a.cmp(b),
            (Value::Number(a), Value::Number(b)) => a.total_cmp(b),
            _ => Ordering::Equal,
        };
        if self.descending {
            ordering.reverse()
        } else {
            ordering
        }
    }
}

/// A nice value as sprio compares it: 2^31 is added, and a priority set by hand has 0 instead.
/// From 24.05 on the sum is taken for a number of 32 bits with a sign, so that values below 0 come
/// last.
fn nice(report: &PrioReport, row: &PrioRow<'_>) -> i64 {
    const OFFSET: i64 = 1 << 31;
    match row.nice {
        _ if row.set_by_hand => 0,
        None => i64::MIN,
        Some(nice) if report.names && nice >= 0 => nice - OFFSET,
        Some(nice) => nice + OFFSET,
    }
}

/// A number as sprio compares it, differences of a hundred-thousandth being none.
fn number<'a>(value: Option<f64>) -> Value<'a> {
    Value::Number((value.unwrap_or(0.0) * 1e5).round())
}

#[cfg(test)]
mod tests {
    use super::super::{Figure, PrioReport};
    use super::*;

    fn report() -> PrioReport {
        report_of(rows())
    }

    fn report_of(rows: Vec<PrioRow<'static>>) -> PrioReport {
        PrioReport {
            rows: rows.into(),
            ..PrioReport::default()
        }
    }

    fn rows() -> Vec<PrioRow<'static>> {
        let row = |id, user: &'static str, partition: &'static str, priority| PrioRow {
            job_id: Some(id),
            user: Some(user),
            partition: Some(partition),
            priority: Figure::Computed(priority),
            ..PrioRow::default()
        };
        vec![
            row(3, "carol", "main", 5.0),
            row(1, "alice-in", "a,b", 7.0),
            row(2, "bob", "main", 5.0),
        ]
    }

    fn ids(selection: &Select) -> Vec<u32> {
        let report = report();
        let rows = select(&report, selection).unwrap();
        rows.into_iter()
            .filter_map(|at| report.rows.get(at).job_id)
            .collect()
    }

    #[test]
    fn rows_are_chosen_and_ordered() {
        assert_eq!(ids(&Select::default()), [1, 2, 3]);
        let sorted = |text| Select {
            sort: parse_sort(text).unwrap(),
            ..Select::default()
        };
        assert_eq!(ids(&sorted("-Y")), [1, 3, 2]);
        assert_eq!(ids(&sorted("-y,i")), [1, 2, 3]);
        assert_eq!(ids(&sorted("Y,-i")), [3, 2, 1]);
        assert_eq!(ids(&sorted("-u")), [3, 2, 1]);
        let users = Select {
            users: vec!["alice-in-physics".into(), "bo".into()],
            ..Select::default()
        };
        assert_eq!(ids(&users), [1]);
        let partitions = Select {
            partitions: vec!["b".into()],
            jobs: vec![1, 2],
            ..Select::default()
        };
        assert_eq!(ids(&partitions), [1]);
    }

    // Seen of sprio 22.05.8 and 24.11.5: the job set by hand, and the nice value below 0.
    #[test]
    fn nice_values_are_ordered_as_in_the_releases() {
        let mut rows = rows();
        rows[0].nice = Some(5);
        rows[1].nice = Some(-50);
        rows[2].set_by_hand = true;
        rows[2].nice = Some(0);
        let mut report = report_of(rows);
        let by_nice = Select {
            sort: parse_sort("N").unwrap(),
            ..Select::default()
        };
        assert_eq!(select(&report, &by_nice), Ok(vec![2, 1, 0]));
        report.names = true;
        assert_eq!(select(&report, &by_nice), Ok(vec![0, 2, 1]));
    }

    #[test]
    fn wrong_selections_are_errors() {
        assert_eq!(parse_sort("Y,x"), Err(SelectError::Sort('x')));
        let mut rows = rows();
        rows.iter_mut().for_each(|row| row.user = None);
        let report = report_of(rows);
        let users = Select {
            users: vec!["a".into()],
            ..Select::default()
        };
        assert_eq!(select(&report, &users), Err(SelectError::Column("USER")));
    }
}
