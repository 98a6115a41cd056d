//! Finds which `NO_NORMAL_…` flags are set, where scontrol does not say.
//!
//! Up to 25.05, `scontrol show config` shows `NO_NORMAL_ALL` where any of the four flags is set.
//! The factors that sprio prints of waiting jobs distinguish them: a factor that is divided by the
//! largest of its kind is 1 at most, and one that is not is a whole number.

use super::assoc::AssocRow;
use super::config::Settings;
use super::job::JobRow;
use super::partition::PartitionRow;
use super::qos::QosRow;
use crate::input::sprio::{Factor, Queue, SprioRow};
use fairtree::config::{Config, PriorityFlags};
use std::collections::HashMap;

/// Other answers that are used with the settings.
pub(super) struct Beside<'a> {
    pub(super) queue: &'a Queue,
    pub(super) jobs: &'a [JobRow],
    pub(super) partitions: &'a [PartitionRow],
    pub(super) assocs: &'a [AssocRow],
    pub(super) qos: &'a [QosRow],
}

/// A flag: its word, the factor that it is about, its place in the settings, and whether a weight
/// makes it matter.
struct Flag {
    word: &'static str,
    factor: Factor,
    of: fn(&mut PriorityFlags) -> &mut bool,
    weighs: fn(&Config) -> bool,
}

const FLAGS: [Flag; 4] = [
    Flag {
        word: "NO_NORMAL_ASSOC",
        factor: Factor::Assoc,
        of: |flags| &mut flags.no_normal_assoc,
        weighs: |config| config.priority_weight_assoc != 0,
    },
    Flag {
        word: "NO_NORMAL_PART",
        factor: Factor::Partition,
        of: |flags| &mut flags.no_normal_part,
        weighs: |config| config.priority_weight_partition != 0,
    },
    Flag {
        word: "NO_NORMAL_QOS",
        factor: Factor::Qos,
        of: |flags| &mut flags.no_normal_qos,
        weighs: |config| config.priority_weight_qos != 0,
    },
    Flag {
        word: "NO_NORMAL_TRES",
        factor: Factor::Tres,
        of: |flags| &mut flags.no_normal_tres,
        weighs: |config| !config.priority_weight_tres.is_empty(),
    },
];

/// Clears the flags that are not set. Returns a sentence about those that cannot be decided, which
/// stay set.
pub(super) fn tell_apart(settings: &mut Settings, beside: &Beside<'_>) -> Option<String> {
    let release = settings.release?;
    let flags = &mut settings.config.priority_flags;
    let all = FLAGS.iter().all(|flag| *(flag.of)(flags));
    if !all || !release.facts().merges_no_normal {
        return None;
    }
    let raw = RawFactors::new(beside);
    let mut found = [None; FLAGS.len()];
    for row in beside
        .queue
        .listings
        .iter()
        .flat_map(|listing| listing.rows.iter())
    {
        for (found, flag) in found.iter_mut().zip(&FLAGS) {
            if found.is_none() {
                *found = is_raw(&row, flag.factor, &raw);
            }
        }
        if found.iter().all(Option::is_some) {
            break;
        }
    }
    let mut open = Vec::new();
    for (found, flag) in found.into_iter().zip(&FLAGS) {
        match found {
            Some(is_set) => *(flag.of)(&mut settings.config.priority_flags) = is_set,
            None if (flag.weighs)(&settings.config) => open.push(flag.word),
            None => {}
        }
    }
    (!open.is_empty()).then(|| {
        format!(
            "scontrol of Slurm {release} shows NO_NORMAL_ALL where any NO_NORMAL_ flag of \
             PriorityFlags is set; no waiting job tells of {}, taken to be set",
            open.join(", ")
        )
    })
}

/// Returns true if a printed factor is a raw number; `None`: it can be either.
fn is_raw(row: &SprioRow<'_>, factor: Factor, raw: &RawFactors<'_>) -> Option<bool> {
    if factor == Factor::Tres {
        let tres = row.norm_tres.unwrap_or_default().iter();
        return tres
            .map(|(_, printed)| judged(printed.value, None))
            .find_map(|judged| judged);
    }
    let printed = row.norm[factor.index()]?;
    judged(printed.value, raw.of(row, factor))
}

/// `raw`: what it would be as a raw number, where that is known.
fn judged(printed: f64, raw: Option<u32>) -> Option<bool> {
    if printed > 1.0 {
        Some(true)
    } else if printed <= 0.0 {
        None
    } else if printed < 1.0 {
        Some(false)
    } else {
        raw.filter(|raw| *raw != 1).map(|_| false)
    }
}

/// Raw factors of jobs, by number of the job.
struct RawFactors<'a> {
    jobs: HashMap<u32, &'a JobRow>,
    beside: &'a Beside<'a>,
}

impl<'a> RawFactors<'a> {
    fn new(beside: &'a Beside<'a>) -> RawFactors<'a> {
        RawFactors {
            jobs: beside.jobs.iter().map(|job| (job.id, job)).collect(),
            beside,
        }
    }

    fn of(&self, row: &SprioRow<'_>, factor: Factor) -> Option<u32> {
        let beside = self.beside;
        if factor == Factor::Partition {
            let name = row.partition?;
            let mut partitions = beside.partitions.iter();
            let partition = partitions.find(|partition| partition.name == name)?;
            return Some(partition.priority_job_factor.into());
        }
        let job = self.jobs.get(&row.job_id?)?;
        match factor {
            Factor::Qos => {
                let name = job.qos.first()?;
                let qos = beside.qos.iter().find(|qos| qos.name == **name)?;
                Some(qos.priority)
            }
            Factor::Assoc => {
                let is_of = |assoc: &&AssocRow| {
                    assoc.partition.is_none()
                        && assoc.user.as_deref() == Some(&*job.user)
                        && Some(assoc.account.as_str()) == job.account.as_deref()
                };
                Some(beside.assocs.iter().find(is_of)?.priority)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_printed_factor_tells_unless_it_may_be_either() {
        // Slurm 25.05.8, PriorityFlags=NO_NORMAL_PART, two QOS, PriorityWeightQOS=1000: sprio prints
        // the factor of the QOS of priority 100 as 1.0000000.
        assert_eq!(judged(1.0, Some(100)), Some(false));
        assert_eq!(judged(0.25, None), Some(false));
        assert_eq!(judged(100.0, Some(100)), Some(true));
        assert_eq!(judged(1.0, Some(1)), None);
        assert_eq!(judged(1.0, None), None);
        assert_eq!(judged(0.0, Some(100)), None);
    }
}
