//! The rows that pricing reads and writes.

use crate::priority::{Index, Job, Priced, TimeLimit};

use super::site::FT_UNLIMITED;
use super::tree::FT_NONE;
use super::view::Plain;

/// No time limit was set: the longest time of the partition is used.
pub const FT_UNSET: u32 = 0xffff_fffe;

/// ft_job.flags: an administrator set the priority, so it is not changed.
pub const FT_JOB_DIRECT: u32 = 1;

/// The most threads that one call starts.
pub const FT_THREADS_MAX: u32 = 1024;

/// When jobs are priced.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Mode {
    /// In a regular pass over waiting jobs: held jobs stay held, and INCR_ONLY of PriorityFlags
    /// applies.
    FT_MODE_PASS = 0,
    /// When jobs are submitted, changed or released: held jobs get a priority, and INCR_ONLY
    /// does not apply.
    FT_MODE_SET = 1,
}

/// The fields of a job that its priority depends on. Fields that few jobs have, site factors and
/// lists, are in arrays of ft_batch.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct JobRow {
    /// When it began to age, in seconds since 1970; 0: it does not age.
    pub accrue_time: i64,
    /// Id of the user's association; FT_NONE: no fair-share and association factor.
    pub assoc: u32,
    /// Position of its partition; FT_NONE for none.
    pub partition: u32,
    /// Position of its QOS; FT_NONE for none.
    pub qos: u32,
    /// CPUs that it requests.
    pub cpus: u32,
    /// Minimum number of nodes that it requests.
    pub nodes: u32,
    /// Time limit in minutes, FT_UNLIMITED or FT_UNSET.
    pub time_limit_mins: u32,
    /// Nice value, subtracted.
    pub nice: i32,
    /// The row of batch->tres_counts with its TRES, from 0 up; FT_NONE: unknown.
    pub tres_row: u32,
    /// Its priority now; 0: it is held. 1 for a new job.
    pub priority: u32,
    /// 0 or FT_JOB_DIRECT.
    pub flags: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for JobRow {}

/// The places of the lists of a job that requested several partitions or several QOS.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ListsRow {
    /// Where its partitions start in batch->partition_lists.
    pub partitions_start: u32,
    /// How many there are; 0 for a job in one partition.
    pub partitions_len: u32,
    /// Where its QOS start in batch->qos_lists.
    pub qos_start: u32,
    /// How many there are; 0 for a job with one QOS.
    pub qos_len: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for ListsRow {}

/// Jobs to price, and further arrays of their data. The arrays stay yours. A field that is zero is
/// absent: set struct_size, job_size and jobs, and the fields that the jobs need.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct BatchRow {
    /// sizeof(ft_batch).
    pub struct_size: usize,
    /// sizeof(ft_job).
    pub job_size: usize,
    /// The jobs.
    pub jobs: *const JobRow,
    /// How many there are.
    pub jobs_len: usize,
    /// Site factors, added, one per job; or (NULL, 0): all are 0.
    pub site_factors: *const i32,
    /// As many as there are jobs, or 0.
    pub site_factors_len: usize,
    /// The lists of each job, one row per job; or (NULL, 0): no job has any.
    pub lists: *const ListsRow,
    /// As many as there are jobs, or 0.
    pub lists_len: usize,
    /// sizeof(ft_job_lists), where there are lists.
    pub list_size: usize,
    /// Positions of partitions: the lists of all jobs, concatenated. May be (NULL, 0).
    pub partition_lists: *const u32,
    /// How many there are in all.
    pub partition_lists_len: usize,
    /// Positions of QOS: the lists of all jobs, concatenated. May be (NULL, 0).
    pub qos_lists: *const u32,
    /// How many there are in all.
    pub qos_lists_len: usize,
    /// Rows of counts, one number per TRES in the order of the names given to ft_site_new();
    /// jobs that request the same may share a row. May be (NULL, 0).
    pub tres_counts: *const u64,
    /// How many numbers there are in all: rows times TRES.
    pub tres_counts_len: usize,
    /// The time at which the ages are computed, in seconds since 1970.
    pub now: i64,
    /// FT_MODE_PASS or FT_MODE_SET.
    pub mode: u32,
    /// How many threads may share the work, up to FT_THREADS_MAX; 0 or 1: only the caller's.
    /// Results do not depend on it. Only ft_jobs_price() uses it.
    pub threads: u32,
}

// SAFETY: numbers, and pointers that are checked before they are followed.
unsafe impl Plain for BatchRow {}

/// The weighted terms of a job, and their sum.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct PricedRow {
    /// Age factor times PriorityWeightAge. The factor is the seconds since accrue_time over those of
    /// PriorityMaxAge, at most 1; 0 where accrue_time is 0, 1 otherwise where PriorityMaxAge is 0.
    pub age: f64,
    /// Association factor times PriorityWeightAssoc. The factor is the priority of the association
    /// over the highest of all; with NO_NORMAL_ASSOC the priority itself.
    pub assoc: f64,
    /// Fair-share factor times PriorityWeightFairshare: ft_fairshare.fs_factor of the association,
    /// 0..1.
    pub fairshare: f64,
    /// Job size factor times PriorityWeightJobSize. With n nodes and c CPUs of the job, N and C of
    /// the site, and t minutes of time limit the factor, 0..1, is (n/N + c/C) / 2, or n/N where c is
    /// 0; with PriorityFavorSmall 1 minus that; with SMALL_RELATIVE_TO_TIME max(n C/N, c) / t / C,
    /// and with both 1 minus that. NaN, and with it the sum (priority 4294967295,
    /// overflow 1), under compat=slurm with SMALL_RELATIVE_TO_TIME for a job of 0 CPUs, 0 nodes and
    /// a time limit of 0: Slurm divides 0 by 0.
    pub job_size: f64,
    /// Partition factor times PriorityWeightPartition. The factor is the PriorityJobFactor of the
    /// partition over the highest of all; with NO_NORMAL_PART the PriorityJobFactor itself.
    pub partition: f64,
    /// QOS factor times PriorityWeightQOS. The factor is the priority of the QOS over the highest of
    /// all; with NO_NORMAL_QOS the priority itself.
    pub qos: f64,
    /// Sum of the TRES factors, each times its weight in PriorityWeightTRES. A factor is the job's
    /// count of the TRES over that of its partition, 0 where either is 0 or unknown; with
    /// NO_NORMAL_TRES the count itself.
    pub tres: f64,
    /// Site factor, in points.
    pub site: i32,
    /// Nice value, in points.
    pub nice: i32,
    /// The priority, 1..4294967295; 0: held.
    pub priority: u32,
    /// 1 when the sum was above 4294967295 and the priority is 4294967295, else 0.
    pub overflow: u32,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for PricedRow {}

impl JobRow {
    /// As the engine's row, where there are counts of `tres_len` TRES; what comes beside it is left
    /// out: association, lists, site factor.
    #[inline(always)]
    pub(super) fn job(&self, tres_len: usize) -> Job {
        let tres = match self.tres_row {
            FT_NONE => None,
            // Of a sound row it fits; others are not priced.
            row => Index::from_slot(row.wrapping_mul(tres_len as u32).wrapping_add(1)),
        };
        Job {
            partition: Index::from_slot(slot(self.partition)),
            qos: Index::from_slot(slot(self.qos)),
            accrue_time: self.accrue_time,
            cpus: self.cpus,
            nodes: self.nodes,
            time_limit: match self.time_limit_mins {
                FT_UNSET => TimeLimit::Unset,
                FT_UNLIMITED => TimeLimit::Unlimited,
                minutes => TimeLimit::Minutes(minutes),
            },
            nice: self.nice,
            tres,
            priority: self.priority,
            direct: self.flags & FT_JOB_DIRECT != 0,
            ..Job::new(0)
        }
    }

    /// The row with its TRES, plus 1; 0 for none.
    #[inline(always)]
    pub(super) fn tres_slot(&self) -> u32 {
        slot(self.tres_row)
    }
}

/// A position plus 1; 0 for none.
#[inline(always)]
fn slot(position: u32) -> u32 {
    position.wrapping_sub(FT_NONE)
}

impl From<&Priced> for PricedRow {
    fn from(priced: &Priced) -> PricedRow {
        PricedRow {
            age: priced.age,
            assoc: priced.assoc,
            fairshare: priced.fairshare,
            job_size: priced.job_size,
            partition: priced.partition,
            qos: priced.qos,
            tres: priced.tres,
            site: priced.site,
            nice: priced.nice,
            priority: priced.priority,
            overflow: u32::from(priced.overflow),
        }
    }
}
