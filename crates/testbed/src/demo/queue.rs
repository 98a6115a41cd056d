//! The pending jobs at two moments, and the jobs that moved.

use std::fmt::Write as _;

use anyhow::Result;

use crate::cluster::table::Table;

/// The weighted columns that a sentence may name.
const TERMS: [&str; 7] = [
    "AGE",
    "ASSOC",
    "FAIRSHARE",
    "JOBSIZE",
    "PARTITION_FACTOR",
    "QOS",
    "TRES",
];
/// Number of jobs named in the text.
const NAMED: usize = 8;

/// Pending jobs, highest priority first.
#[derive(Clone, Debug)]
pub struct Queue {
    jobs: Vec<Entry>,
}

#[derive(Clone, Debug)]
struct Entry {
    id: u32,
    user: String,
    priority: u64,
    /// Points of each of [`TERMS`].
    terms: [i64; TERMS.len()],
}

impl Queue {
    /// Reads sprio's rows.
    pub fn read(table: &Table) -> Result<Queue> {
        let mut jobs = Vec::new();
        for row in table.rows() {
            let mut terms = [0; TERMS.len()];
            for (points, name) in terms.iter_mut().zip(TERMS) {
                // TRES lists its parts by name, if there are any; the tour sets none.
                *points = row.get(name).unwrap_or(0);
            }
            jobs.push(Entry {
                id: row.get("JOBID")?,
                user: row.text("USER")?.trim().to_owned(),
                priority: row.get("PRIORITY")?,
                terms,
            });
        }
        // Equal priorities run in order of submission.
        jobs.sort_by(|a, b| b.priority.cmp(&a.priority).then(a.id.cmp(&b.id)));
        Ok(Queue { jobs })
    }

    /// The pending job with the lowest priority.
    pub fn last(&self) -> Option<u32> {
        self.jobs.last().map(|job| job.id)
    }

    fn find(&self, id: u32) -> Option<&Entry> {
        self.jobs.iter().find(|job| job.id == id)
    }
}

/// Lists the jobs that moved most, of those that waited at both moments.
pub fn describe(before: &Queue, after: &Queue) -> String {
    let both = |queue: &Queue, other: &Queue| -> Vec<u32> {
        let ids = queue.jobs.iter().map(|job| job.id);
        ids.filter(|id| other.find(*id).is_some()).collect()
    };
    let (old_order, new_order) = (both(before, after), both(after, before));
    let mut moves: Vec<(i64, u32)> = new_order
        .iter()
        .enumerate()
        .filter_map(|(new, id)| {
            let old = old_order.iter().position(|other| other == id)?;
            Some((signed(old) - signed(new), *id))
        })
        .filter(|(places, _)| *places != 0)
        .collect();
    moves.sort_by_key(|(places, id)| (-places.abs(), *id));
    let mut text = format!(
        "{} jobs waited at both moments; {} of them changed places. The largest moves:\n",
        new_order.len(),
        moves.len()
    );
    for (places, id) in moves.into_iter().take(NAMED) {
        if let (Some(old), Some(new)) = (before.find(id), after.find(id)) {
            text += &sentence(places, old, new);
        }
    }
    text
}

fn sentence(places: i64, old: &Entry, new: &Entry) -> String {
    let mut text = format!(
        "job {} of {}: {} {} places, priority {} -> {} (",
        new.id,
        new.user,
        if places > 0 { "up" } else { "down" },
        places.abs(),
        old.priority,
        new.priority
    );
    let mut between = "";
    for ((name, was), is) in TERMS.iter().zip(old.terms).zip(new.terms) {
        if was != is {
            let name = name.trim_end_matches("_FACTOR").to_lowercase();
            let _ = write!(text, "{between}{name} {:+}", is - was);
            between = ", ";
        }
    }
    if between.is_empty() {
        text += "others moved";
    }
    text + ")\n"
}

fn signed(place: usize) -> i64 {
    i64::try_from(place).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn queue(rows: &str) -> Queue {
        let header = ["JOBID", "USER", "PRIORITY", "AGE", "FAIRSHARE"];
        Queue::read(&Table::with_header(header, rows).unwrap()).unwrap()
    }

    #[test]
    fn moves_are_told_with_the_terms_that_made_them() {
        let before = queue("1|ann|500|0|500\n2|ben|400|0|400\n3|cy|900|0|900\n");
        let after = queue("1|ann|310|10|300\n2|ben|410|10|400\n");
        let text = describe(&before, &after);
        assert!(
            text.starts_with("2 jobs waited at both moments; 2 of them"),
            "{text}"
        );
        let ann = "job 1 of ann: down 1 places, priority 500 -> 310 (age +10, fairshare -200)";
        assert!(text.contains(ann), "{text}");
        assert!(text.contains("job 2 of ben: up 1 places, priority 400 -> 410 (age +10)"));
    }
}
