//! A timeline of several reports, one per moment.

use std::collections::HashMap;

use super::{Course, MAX_STEPS, Timeline};
use crate::share::{Figure, ShareReport, ShareRow};

/// The key that identifies an association at every moment.
type Key = (Option<String>, Option<String>, Option<String>);

fn key(row: &ShareRow) -> Key {
    (row.account.clone(), row.user.clone(), row.partition.clone())
}

/// A row at one moment.
pub(super) fn course(row: &ShareRow) -> Course {
    let mut course = Course::default();
    push(&mut course, Some(row));
    course
}

fn push(course: &mut Course, row: Option<&ShareRow>) {
    let figure = |of: fn(&ShareRow) -> Figure| row.and_then(|row| of(row).value());
    course.norm_shares.push(figure(|row| row.norm_shares));
    course
        .effective_usage
        .push(figure(|row| row.effective_usage));
    course.fs_factor.push(figure(|row| row.fs_factor));
}

/// The timeline of reports at `times` (ascending), which `read` gives one at a time, by position;
/// `None` without any. Of more than [`MAX_STEPS`] moments as many are taken, evenly; the first and
/// the last always. Drawn is who is there at the last.
///
/// # Errors
/// Those of `read`.
pub fn from_captures<E>(
    times: &[i64],
    mut read: impl FnMut(usize) -> Result<ShareReport, E>,
) -> Result<Option<Timeline>, E> {
    let Some(last) = times.len().checked_sub(1) else {
        return Ok(None);
    };
    let taken = evenly(
        times.len(),
        usize::try_from(MAX_STEPS).unwrap_or(usize::MAX),
    );
    let latest = read(last)?;
    let positions: HashMap<Key, usize> = latest
        .rows
        .iter()
        .enumerate()
        .map(|(at, row)| (key(row), at))
        .collect();
    let mut courses = vec![Course::default(); latest.rows.len()];
    let mut gone = 0;
    for &moment in &taken {
        let earlier;
        let report = match moment == last {
            true => &latest,
            false => {
                earlier = read(moment)?;
                &earlier
            }
        };
        let mut rows: Vec<Option<&ShareRow>> = vec![None; courses.len()];
        let mut lost = 0;
        for row in &report.rows {
            match positions.get(&key(row)) {
                Some(&at) => rows[at] = Some(row),
                None => lost += 1,
            }
        }
        gone = gone.max(lost);
        for (course, row) in courses.iter_mut().zip(rows) {
            push(course, row);
        }
    }
    let mut notes = latest.assumptions.clone();
    if gone > 0 {
        notes.push(format!(
            "up to {gone} associations of earlier captures are gone from the last and not drawn"
        ));
    }
    if taken.len() < times.len() {
        notes.push(format!(
            "{} of {} captures are drawn",
            taken.len(),
            times.len()
        ));
    }
    Ok(Some(Timeline {
        machine: latest.rows.iter().find_map(|row| row.cluster.clone()),
        times: taken.iter().map(|&at| times[at]).collect(),
        latest,
        courses,
        half_life_secs: None,
        window_secs: None,
        notes,
    }))
}

/// At most `most` of `count` positions, evenly, the first and the last among them.
fn evenly(count: usize, most: usize) -> Vec<usize> {
    if count <= most {
        return (0..count).collect();
    }
    (0..most).map(|at| at * (count - 1) / (most - 1)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_moments_some_are_taken_evenly() {
        assert_eq!(evenly(3, 256), [0, 1, 2]);
        assert_eq!(evenly(9, 5), [0, 2, 4, 6, 8]);
        let many = evenly(10_000, 256);
        assert_eq!((many.len(), many[0], many[255]), (256, 0, 9_999));
    }
}
