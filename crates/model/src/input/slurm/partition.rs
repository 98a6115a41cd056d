//! `scontrol -o show partition`.

use std::collections::BTreeSet;

use super::admission::Admission;
use super::job::JobRow;
use super::record::{no_end, records};
use super::{count, time};
use crate::input::error::InputError;
use crate::input::left_out::LeftOut;
use crate::input::sprio::Queue;
use fairtree::priority::TimeLimit;

/// A partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PartitionRow {
    /// Name.
    pub name: String,
    /// `Default`: jobs that name no partition go there.
    pub is_default: bool,
    /// `PriorityJobFactor`.
    pub priority_job_factor: u16,
    /// `MaxTime`, minutes; `None`: unlimited.
    pub max_time_mins: Option<u32>,
    /// `MaxNodes`, the most nodes of a job; `None`: unlimited, or not known.
    pub max_nodes: Option<u32>,
    /// `State`, as `UP`; `None` where it is not known.
    pub state: Option<String>,
    /// Who may use it.
    pub admission: Admission,
    /// Resources, memory in megabytes; `None` where the partition has no nodes.
    pub tres: Option<Vec<(String, u64)>>,
    /// `TRESBillingWeights`, as in slurm.conf.
    pub tres_billing_weights: Option<String>,
}

/// Reads the records. `file` names the text in messages.
///
/// # Errors
/// Lines that are not records; a partition that occurs twice; no partition that can be read. A
/// single partition that cannot be read goes to `left`.
pub fn read(file: &str, text: &str, left: &mut LeftOut) -> Result<Vec<PartitionRow>, InputError> {
    let before = left.count();
    let records = records(file, text, "PartitionName", &no_end, left)?;
    let row = |record: &super::record::Record<'_>| {
        let factor = record.read("PriorityJobFactor", "0 to 65533", |text| text.parse().ok())?;
        let allowed = "a time as 1-00:00:00, or UNLIMITED";
        let tres = match record.said("TRES") {
            Some(_) => Some(record.read("TRES", "resources as cpu=16,mem=4000M", count::tres)?),
            None => None,
        };
        Ok(PartitionRow {
            name: record.text("PartitionName")?.to_owned(),
            is_default: record.said("Default") == Some("YES"),
            priority_job_factor: factor,
            max_time_mins: match record.read("MaxTime", allowed, time::limit)? {
                TimeLimit::Minutes(minutes) => Some(minutes),
                TimeLimit::Unlimited | TimeLimit::Unset => None,
            },
            max_nodes: record.said("MaxNodes").and_then(|text| text.parse().ok()),
            state: record.said("State").map(str::to_owned),
            admission: Admission::of(record),
            tres,
            tres_billing_weights: record.said("TRESBillingWeights").map(str::to_owned),
        })
    };
    let mut rows = Vec::with_capacity(records.len());
    for record in &records {
        rows.extend(left.keep(row(record))?);
    }
    left.any_read(rows.len(), before)?;
    Ok(rows)
}

/// The partitions that rows of sprio and jobs name, of which nothing else is known: without a factor, limits
/// and resources.
pub(super) fn named(queue: &Queue, jobs: &[JobRow]) -> Vec<PartitionRow> {
    let listed = queue
        .listings
        .iter()
        .flat_map(|listing| listing.rows.iter());
    let listed = listed.filter_map(|row| row.partition);
    let asked = jobs.iter().flat_map(|job| job.partitions.iter());
    let names: BTreeSet<&str> = listed.chain(asked.map(|name| &**name)).collect();
    let row = |name: &str| PartitionRow {
        name: name.to_owned(),
        is_default: false,
        priority_job_factor: 0,
        max_time_mins: None,
        max_nodes: None,
        state: None,
        admission: Admission::default(),
        tres: None,
        tres_billing_weights: None,
    };
    names.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<Vec<PartitionRow>, InputError> {
        read("f", text, &mut LeftOut::default())
    }

    #[test]
    fn one_broken_partition_hides_no_other() {
        let mut left = LeftOut::default();
        let text = "PartitionName=a MaxTime=soon PriorityJobFactor=1\n\
                    PartitionName=b MaxTime=UNLIMITED PriorityJobFactor=1\n";
        let rows = read("f", text, &mut left).unwrap();
        assert_eq!(rows[0].name, "b");
        assert!(left.notes()[0].contains("MaxTime \"soon\""));
    }

    // Printed by scontrol 22.05.8.
    #[test]
    fn what_priorities_need() {
        let text = "PartitionName=main AllowGroups=ALL MaxTime=1-00:00:00 MinNodes=0 Nodes=n[0-3] \
                    PriorityJobFactor=10 PriorityTier=1 TRES=cpu=16,mem=4000M,node=4,billing=16\n";
        let rows = of(text).unwrap();
        assert_eq!(rows[0].max_time_mins, Some(1440));
        assert_eq!(rows[0].tres.as_ref().unwrap()[1], ("mem".into(), 4000));
        let error = of("PartitionName=x MaxTime=soon PriorityJobFactor=1").unwrap_err();
        assert_eq!(error.column, Some(25));
        assert!(of("PartitionName=x MaxTime=UNLIMITED").is_err());
    }
}
