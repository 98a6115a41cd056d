//! Small moves of many jobs, added up: `78 jobs: AGE +17`.

use std::collections::HashMap;

use super::{Change, Happened, Kind, Value};

/// Jobs that moved alike are listed one by one up to this number.
const LISTED: usize = 3;

/// Changes in text: small moves are held back and added up, all others go through.
///
/// A move is small where AGE alone changed: time passed.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// By the points that AGE changed: how many, and the first changes.
    moves: HashMap<i64, (usize, Vec<String>)>,
    /// In the order in which they first came.
    order: Vec<i64>,
}

impl Summary {
    /// The line of a change; `None`: it is held back.
    pub fn line(&mut self, change: &Change) -> Option<String> {
        let Some(by) = small(change) else {
            return Some(change.to_string());
        };
        let (count, first) = self.moves.entry(by).or_insert_with(|| {
            self.order.push(by);
            Default::default()
        });
        *count += 1;
        if *count <= LISTED {
            first.push(change.to_string());
        }
        None
    }

    /// The lines of what was held back.
    pub fn rest(self) -> Vec<String> {
        let mut moves = self.moves;
        let found = self
            .order
            .into_iter()
            .filter_map(|by| Some((by, moves.remove(&by)?)));
        let lines = found.flat_map(|(by, (count, first))| match count > LISTED {
            true => vec![format!("{count} jobs: AGE {by:+}")],
            false => first,
        });
        lines.collect()
    }
}

/// The points by which AGE changed, where nothing else did, and the priority by as many.
fn small(change: &Change) -> Option<i64> {
    if (change.kind, change.happened) != (Kind::Job, Happened::Changed) {
        return None;
    }
    let number = |value: &Option<Value>| match value {
        Some(Value::Number(number)) => Some(*number),
        Some(Value::Whole(number)) => Some(*number as f64),
        _ => None,
    };
    let mut age = None;
    for values in &change.values {
        let by = number(&values.after)? - number(&values.before)?;
        match values.name.as_str() {
            "PRIORITY" => {}
            "AGE" => age = Some(by.round() as i64),
            _ => return None,
        }
    }
    // A priority that was set by hand has no points.
    age.filter(|_| change.what.contains("AGE "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn aged(job: u32, by: f64) -> Change {
        let change = Change::new(
            Kind::Job,
            format!("job {job}"),
            format!("PRIORITY: AGE {by:+}"),
        );
        change
            .value("PRIORITY", Value::Whole(100), Value::Whole(100 + by as i64))
            .value("AGE", Value::Number(100.0), Value::Number(100.0 + by))
    }

    #[test]
    fn many_alike_are_one_line() {
        let mut summary = Summary::default();
        for job in 0..78 {
            assert_eq!(summary.line(&aged(job, 17.0)), None);
        }
        assert_eq!(summary.line(&aged(99, 3.0)), None);
        let other = aged(100, 17.0).value("NICE", Value::Whole(0), Value::Whole(5));
        assert!(summary.line(&other).is_some());
        assert_eq!(
            summary.rest(),
            ["78 jobs: AGE +17", "job 99: PRIORITY: AGE +3"]
        );
    }
}
