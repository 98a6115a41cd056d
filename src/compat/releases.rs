//! Differences between releases of Slurm that matter to Rust code, in one table. `c_shim/release.h`
//! has those for C.

use super::Release;

/// Facts of one release.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct Facts {
    /// The node count of a job larger than the cluster wraps in its size factor, which is also
    /// computed for an empty cluster (before 23.02).
    pub nodes_wrap: bool,
    /// The default of `PriorityType` is `priority/multifactor` instead of `priority/basic` (from
    /// 23.11).
    pub multifactor_by_default: bool,
    /// slurmctld lists associations by lineage instead of by name (from 23.11).
    pub lists_by_lineage: bool,
    /// `scontrol reconfigure` restarts slurmctld (from 23.11).
    pub reconfigure_restarts: bool,
    /// slurmd wants cgroups unless cgroup.conf says otherwise (from 23.11).
    pub slurmd_wants_cgroups: bool,
    /// sprio shows accounts and QOS, and filters the rows itself (from 24.05).
    pub sprio_names_qos: bool,
    /// Run-seconds are also counted per user and per account in a QOS (from 24.05).
    pub run_secs_each: bool,
    /// A job may have a list of QOS (from 24.11).
    pub qos_lists: bool,
    /// PriorityFlags supports `MAX_TRES_GRES` (from 25.05).
    pub max_tres_gres: bool,
    /// slurmctld does not restart without `assoc_usage` and some other files, which it writes for
    /// the first time after five minutes (from 25.05).
    pub needs_usage_file: bool,
    /// `scontrol show config` shows any `NO_NORMAL_…` flag as `NO_NORMAL_ALL` (before 25.11).
    pub merges_no_normal: bool,
    /// sshare also prints a FairShare for accounts outside Fair Tree (before 25.11).
    pub sshare_rates_accounts: bool,
    /// Jobs are priced with the fair-share factor in the association's record (from 25.11).
    pub prices_from_record: bool,
}

impl Release {
    /// Facts of this release. Releases before 22.05 count as 22.05, those after 26.05 as 26.05.
    pub const fn facts(self) -> Facts {
        Facts {
            nodes_wrap: !self.is_from(23, 2),
            multifactor_by_default: self.is_from(23, 11),
            lists_by_lineage: self.is_from(23, 11),
            reconfigure_restarts: self.is_from(23, 11),
            slurmd_wants_cgroups: self.is_from(23, 11),
            sprio_names_qos: self.is_from(24, 5),
            run_secs_each: self.is_from(24, 5),
            qos_lists: self.is_from(24, 11),
            max_tres_gres: self.is_from(25, 5),
            needs_usage_file: self.is_from(25, 5),
            merges_no_normal: !self.is_from(25, 11),
            sshare_rates_accounts: !self.is_from(25, 11),
            prices_from_record: self.is_from(25, 11),
        }
    }

    /// Returns true for this year and month, or later.
    const fn is_from(self, major: u8, minor: u8) -> bool {
        self.major > major || self.major == major && self.minor >= minor
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn facts_change_at_their_releases() {
        let facts = |major, minor| Release::new(major, minor, 0).facts();
        let old = facts(22, 5);
        assert!(old.nodes_wrap && !old.lists_by_lineage && !old.qos_lists);
        assert!(!facts(23, 2).nodes_wrap && !facts(23, 2).reconfigure_restarts);
        assert!(!facts(23, 2).multifactor_by_default && facts(23, 11).multifactor_by_default);
        assert!(facts(23, 11).lists_by_lineage && facts(23, 11).reconfigure_restarts);
        assert!(!facts(23, 11).run_secs_each && facts(24, 5).sprio_names_qos);
        assert!(facts(24, 11).qos_lists && !facts(24, 11).max_tres_gres);
        assert!(facts(25, 5).max_tres_gres && !facts(25, 5).prices_from_record);
        assert!(!facts(24, 11).needs_usage_file && facts(25, 5).needs_usage_file);
        assert!(facts(25, 5).merges_no_normal && facts(25, 5).sshare_rates_accounts);
        assert!(!facts(25, 11).merges_no_normal && !facts(25, 11).sshare_rates_accounts);
        assert!(facts(25, 11).prices_from_record && facts(26, 5).prices_from_record);
        assert_eq!(Release::V22_05_8.facts(), old);
    }
}
