//! Owed core-hours: what was promised and asked for, and not delivered.

use fairtree_sim::job::Job;

/// A change of what a group has: waiting and running processors from a moment on.
struct Change {
    moment: i64,
    group: u32,
    waiting: i64,
    running: i64,
}

/// Processor-seconds owed to each group until `until`.
///
/// The integral over time of `max(0, min(entitled, demand) - delivered)`: `entitled` is the part of
/// the machine that the group is entitled to, in processors, its demand the processors of its jobs
/// that wait or run, delivered those of its jobs that run. A group without demand is owed nothing.
///
/// `starts`: of each job; one without start waits until the end. `group`: of each job, an index of
/// `entitled`.
pub fn owed_core_secs(
    jobs: &[Job],
    starts: &[Option<i64>],
    group: impl Fn(usize) -> u32,
    entitled: &[f64],
    until: i64,
) -> Vec<f64> {
    let owed = owed_core_secs_by(jobs, starts, group, entitled, &[until]);
    owed.into_iter().map(|owed| owed[0]).collect()
}

/// As [`owed_core_secs`], until each of some moments, ascending: of each group a sum for each moment.
pub fn owed_core_secs_by(
    jobs: &[Job],
    starts: &[Option<i64>],
    group: impl Fn(usize) -> u32,
    entitled: &[f64],
    moments: &[i64],
) -> Vec<Vec<f64>> {
    let mut changes = Vec::with_capacity(jobs.len() * 3);
    for (at, (job, start)) in jobs.iter().zip(starts).enumerate() {
        let (group, processors) = (group(at), i64::from(job.processors));
        let mut change = |moment, waiting, running| {
            changes.push(Change {
                moment,
                group,
                waiting,
                running,
            });
        };
        change(job.submit, processors, 0);
        if let Some(start) = *start {
            change(start, -processors, processors);
            change(start + job.run_secs, 0, -processors);
        }
    }
    changes.sort_by_key(|change| change.moment);
    /// A group from `since` on.
    #[derive(Clone, Copy, Default)]
    struct Now {
        since: i64,
        waiting: i64,
        running: i64,
        owed: f64,
    }
    let mut groups = vec![Now::default(); entitled.len()];
    let owe = |now: &mut Now, entitled: f64, moment: i64| {
        let demand = (now.waiting + now.running) as f64;
        let rate = (entitled.min(demand) - now.running as f64).max(0.0);
        now.owed += rate * (moment - now.since) as f64;
        now.since = moment;
    };
    let mut changes = changes.iter().peekable();
    let mut sums = vec![Vec::with_capacity(moments.len()); entitled.len()];
    for moment in moments {
        while let Some(change) = changes.next_if(|change| change.moment <= *moment) {
            let at = change.group as usize;
            let now = &mut groups[at];
            owe(now, entitled[at], change.moment);
            now.waiting += change.waiting;
            now.running += change.running;
        }
        for ((now, entitled), sums) in groups.iter_mut().zip(entitled).zip(&mut sums) {
            owe(now, *entitled, *moment);
            sums.push(now.owed);
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Four processors, two groups entitled to two each. Group 0 has three from 0 to 10; group 1
    /// asks for three at 2 and gets them at 10. It is owed min(2, 3) - 0 for 8 seconds.
    #[test]
    fn what_is_asked_for_and_not_delivered_is_owed() {
        let job = |submit, processors| Job {
            submit,
            run_secs: 10,
            limit_secs: 10,
            processors,
        };
        let jobs = [job(0, 3), job(2, 3)];
        let owed = |starts: &[Option<i64>], until| {
            owed_core_secs(&jobs, starts, |at| at as u32, &[2.0, 2.0], until)
        };
        assert_eq!(owed(&[Some(0), Some(10)], 20), [0.0, 16.0]);
        // The same, until 1, 4, 10 and 20.
        let starts = [Some(0), Some(10)];
        let owed_by =
            owed_core_secs_by(&jobs, &starts, |at| at as u32, &[2.0, 2.0], &[1, 4, 10, 20]);
        assert_eq!(owed_by, [[0.0; 4], [0.0, 4.0, 16.0, 16.0]]);
        // It waits for ever.
        assert_eq!(owed(&[Some(0), None], 12), [0.0, 20.0]);
        // One processor is asked for: no more is owed.
        let jobs = [job(0, 4), job(2, 1)];
        let starts = [Some(0), Some(10)];
        let owed = owed_core_secs(&jobs, &starts, |at| at as u32, &[2.0, 2.0], 20);
        assert_eq!(owed, [0.0, 8.0]);
    }
}
