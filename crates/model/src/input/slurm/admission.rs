//! Who may use a partition: `AllowAccounts`, `AllowQos` and `AllowGroups` of `scontrol show partition`.

use super::record::Record;

/// Names that may use a partition. Source: slurm.conf(5), where lists of `Allow` go before those of `Deny`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
enum Names {
    /// All of them, or it is not known.
    #[default]
    All,
    /// These alone.
    Only(Vec<String>),
    /// All but these.
    Except(Vec<String>),
}

impl Names {
    fn of(record: &Record<'_>, allow: &str, deny: &str) -> Names {
        let list = |key: &str| {
            let text = record
                .said(key)
                .filter(|text| !matches!(*text, "ALL" | "(null)" | "N/A"));
            text.map(|text| text.split(',').map(str::to_owned).collect())
        };
        let denied = || list(deny).map(Names::Except);
        list(allow)
            .map(Names::Only)
            .or_else(denied)
            .unwrap_or_default()
    }

    fn admit(&self, name: &str) -> bool {
        let is_in = |names: &[String]| names.iter().any(|own| own.eq_ignore_ascii_case(name));
        match self {
            Names::All => true,
            Names::Only(names) => is_in(names),
            Names::Except(names) => !is_in(names),
        }
    }
}

/// Who may use a partition; by default everybody.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admission {
    accounts: Names,
    qos: Names,
    /// Only groups of users may; who is in them is not known.
    by_groups: bool,
}

impl Admission {
    /// That of a record of a partition.
    pub(super) fn of(record: &Record<'_>) -> Admission {
        Admission {
            accounts: Names::of(record, "AllowAccounts", "DenyAccounts"),
            qos: Names::of(record, "AllowQos", "DenyQos"),
            by_groups: record.said("AllowGroups").is_some_and(|text| text != "ALL"),
        }
    }

    /// Returns true if jobs of an account with a QOS may certainly use the partition. An account or QOS that is not
    /// known (`None`) is not checked. Of a partition for groups of users it returns false.
    pub fn admits(&self, account: Option<&str>, qos: Option<&str>) -> bool {
        let account = account.is_none_or(|name| self.accounts.admit(name));
        account && qos.is_none_or(|name| self.qos.admit(name)) && !self.by_groups
    }
}

#[cfg(test)]
mod tests {
    use super::super::partition;
    use crate::input::left_out::LeftOut;

    // slurm.conf(5), AllowAccounts, DenyAccounts, AllowQos, DenyQos, AllowGroups.
    #[test]
    fn accounts_qos_and_groups() {
        let admits = |said: &str, account: &str, qos: &str| {
            let text = format!("PartitionName=a {said} MaxTime=1:00:00 PriorityJobFactor=1\n");
            let rows = partition::read("f", &text, &mut LeftOut::default());
            let admission = &rows.expect("a partition")[0].admission;
            admission.admits(Some(account), Some(qos))
        };
        for (said, bio, physics) in [
            ("AllowGroups=ALL AllowAccounts=ALL AllowQos=ALL", true, true),
            ("AllowAccounts=bio,chem", true, false),
            ("DenyAccounts=bio", false, true),
            ("AllowAccounts=bio DenyAccounts=bio", true, false),
            ("AllowQos=high", false, false),
            ("DenyQos=high", true, true),
            ("AllowGroups=staff", false, false),
        ] {
            assert_eq!(admits(said, "bio", "normal"), bio, "{said}");
            assert_eq!(admits(said, "physics", "normal"), physics, "{said}");
        }
    }
}
