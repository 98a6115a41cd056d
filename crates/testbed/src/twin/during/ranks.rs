//! Converts the numbers of ordered jobs to ranks.

use std::collections::{BTreeMap, BTreeSet};

/// In these lives the numbers of an order are at least this, and weighted sums are lower.
const LOWEST: u32 = 1 << 31;

/// Replaces each number by its rank: the numbers also depend on earlier numbers, but the order of
/// the jobs does not. A job that does not wait has no rank, because a different job may have its
/// number by now.
pub(super) fn replace_numbers(fields: &mut BTreeMap<String, String>) {
    let number = |value: &String| value.parse().ok().filter(|number| *number >= LOWEST);
    let base_state = |value: &String| value.parse::<u32>().ok().map(|state| state & 0xff);
    let states = fields.iter().filter_map(|(name, value)| {
        let job = name.strip_suffix(" state")?;
        (base_state(value) == Some(0)).then(|| job.to_owned())
    });
    let waiting: BTreeSet<String> = states.collect();
    let priorities = waiting
        .iter()
        .filter_map(|job| fields.get(&format!("{job} priority")));
    let numbers: BTreeSet<u32> = priorities.filter_map(number).collect();
    let ranks: BTreeMap<u32, usize> = numbers.into_iter().rev().zip(1..).collect();
    for (name, value) in fields {
        let Some(number) = number(value) else {
            continue;
        };
        let job = name.rsplit_once(' ').map_or("", |(job, _)| job);
        let rank = ranks.get(&number).filter(|_| waiting.contains(job));
        *value = rank.map_or("no rank".to_owned(), |rank| format!("rank {rank}"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_waits_has_a_rank() {
        let lines = [
            ("job 1 state", "1"),
            ("job 1 priority", "4000000008"),
            ("job 2 state", "0"),
            ("job 2 priority", "4000000007"),
            ("job 3 state", "0"),
            ("job 3 priority", "4000000008"),
            ("job 3 array[0]", "4000000008"),
            ("job 4 state", "0"),
            ("job 4 priority", "5000"),
        ];
        let line = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
        let mut fields = lines.map(line).into();
        replace_numbers(&mut fields);
        let of = |name: &str| fields[name].as_str();
        assert_eq!(of("job 1 priority"), "no rank");
        assert_eq!(of("job 2 priority"), "rank 2");
        assert_eq!(of("job 3 priority"), "rank 1");
        assert_eq!(of("job 3 array[0]"), "rank 1");
        assert_eq!(of("job 4 priority"), "5000");
    }
}
