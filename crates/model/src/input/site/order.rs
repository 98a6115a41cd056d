//! The order of associations in slurmctld, which sshare prints.
//!
//! An account is followed by its users, then by its accounts with everything below them, each by
//! name, byte by byte. From 23.11 on slurmctld sorts by lineage, the path with `/` after each name,
//! where a name that continues with `-` or `.` comes before the shorter one. Source: slurmctld
//! 22.05.8 and 24.11.5, order of `assoc_mgr_assoc_list`.

use std::cmp::Ordering;

use fairtree::compat::Compat;

/// Order of two accounts with one parent.
pub(super) fn by_name(compat: Compat, a: &str, b: &str) -> Ordering {
    if compat.facts().is_some_and(|facts| facts.lists_by_lineage) {
        let end = std::iter::once(b'/');
        let (a, b) = (a.bytes().chain(end.clone()), b.bytes().chain(end));
        a.cmp(b)
    } else {
        a.cmp(b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree::compat::Release;

    #[test]
    fn a_longer_name_comes_first_only_by_lineage() {
        let lineage = Compat::Slurm(Release::V24_11_5);
        let names = Compat::Slurm(Release::V22_05_8);
        assert_eq!(by_name(lineage, "chem", "chem-lab"), Ordering::Greater);
        assert_eq!(by_name(names, "chem", "chem-lab"), Ordering::Less);
        assert_eq!(by_name(lineage, "chem", "chem2"), Ordering::Less);
    }
}
