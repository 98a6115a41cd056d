//! Limits of associations and QOS.

/// Counts of resources by name: `cpu`, `mem` (megabytes), `node`, `gres/gpu`, `billing`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tres(pub Vec<(String, u64)>);

impl Tres {
    /// The count of a name; `None` where it is not there.
    pub fn get(&self, name: &str) -> Option<u64> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, count)| *count)
    }

    /// Returns true if it has no counts.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Limits on some running jobs together, and on each of them. `None` and no count: unlimited.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    /// `GrpJobs`.
    pub group_jobs: Option<u32>,
    /// `GrpTRES`.
    pub group_tres: Tres,
    /// `GrpTRESRunMins`.
    pub group_run_mins: Tres,
    /// `GrpTRESMins`.
    pub group_mins: Tres,
    /// `GrpWall`, minutes.
    pub group_wall_mins: Option<u32>,
    /// `MaxTRESPerJob`.
    pub job_tres: Tres,
    /// `MaxTRESPerNode`.
    pub node_tres: Tres,
    /// `MaxWall`, minutes.
    pub job_mins: Option<u32>,
    /// `MaxJobs` of an association: of each user in it.
    pub jobs: Option<u32>,
}

/// Limits of a QOS.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QosLimits {
    /// Of all its jobs.
    pub all: Limits,
    /// `MaxJobsPerUser`.
    pub user_jobs: Option<u32>,
    /// `MaxTRESPerUser`.
    pub user_tres: Tres,
    /// `MaxJobsPerAccount`.
    pub account_jobs: Option<u32>,
    /// `MaxTRESPerAccount`.
    pub account_tres: Tres,
    /// `MinTRESPerJob`.
    pub least_tres: Tres,
    /// `MinPrioThreshold`; 0: none.
    pub least_priority: u32,
    /// Flags, as `DenyOnLimit`, `NoReserve`, `PartitionMaxNodes`.
    pub flags: Vec<String>,
}

impl QosLimits {
    /// Returns true if it has a flag, in any case.
    pub fn has(&self, flag: &str) -> bool {
        self.flags.iter().any(|own| own.eq_ignore_ascii_case(flag))
    }
}
