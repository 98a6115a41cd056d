//! `tiers=`.

/// `tiers=`: what comes before the order of jobs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tiers {
    /// `none`: nothing.
    #[default]
    None,
    /// `qos`: the priority of the QOS.
    Qos,
    /// `partition`: the priority of the partition.
    Partition,
}

word_key! {
    /// Criteria that come before the order of jobs.
    TiersKey, tiers: Tiers, "none, qos or partition", "what comes before the order of jobs";
    "none" => None,
    "qos" => Qos,
    "partition" => Partition,
}

#[cfg(test)]
mod tests {
    use super::super::key::Key as _;
    use super::*;

    #[test]
    fn words() {
        assert_eq!(TiersKey::parse("none", None), Ok(Tiers::default()));
        let other = TiersKey::parse("QOS", None);
        assert_eq!(other, Ok(Tiers::Qos));
        assert!(!TiersKey::is_in_stock(&Tiers::Qos));
        let error = TiersKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of none, qos, partition");
    }
}
