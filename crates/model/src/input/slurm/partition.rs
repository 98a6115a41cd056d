//! `scontrol -o show partition`.

use super::record::{no_end, records};
use super::{count, time};
use crate::input::error::InputError;
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
    /// Resources, memory in megabytes; `None` where the partition has no nodes.
    pub tres: Option<Vec<(String, u64)>>,
    /// `TRESBillingWeights`, as in slurm.conf.
    pub tres_billing_weights: Option<String>,
}

/// Reads the records. `file` names the text in messages.
///
/// # Errors
/// Lines that are no records, missing and impossible values.
pub fn read(file: &str, text: &str) -> Result<Vec<PartitionRow>, InputError> {
    let records = records(file, text, "PartitionName", &no_end)?;
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
            tres,
            tres_billing_weights: record.said("TRESBillingWeights").map(str::to_owned),
        })
    };
    records.iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by scontrol 22.05.8.
    #[test]
    fn what_priorities_need() {
        let text = "PartitionName=main AllowGroups=ALL MaxTime=1-00:00:00 MinNodes=0 Nodes=n[0-3] \
                    PriorityJobFactor=10 PriorityTier=1 TRES=cpu=16,mem=4000M,node=4,billing=16\n";
        let rows = read("f", text).unwrap();
        assert_eq!(rows[0].max_time_mins, Some(1440));
        assert_eq!(rows[0].tres.as_ref().unwrap()[1], ("mem".into(), 4000));
        let error = read("f", "PartitionName=x MaxTime=soon PriorityJobFactor=1").unwrap_err();
        assert_eq!(error.column, Some(25));
        assert!(read("f", "PartitionName=x MaxTime=UNLIMITED").is_err());
    }
}
