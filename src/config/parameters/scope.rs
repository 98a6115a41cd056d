//! `scope=`.

/// `scope=`: whose use counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// `cluster`: that of this cluster.
    #[default]
    Cluster,
    /// `all_clusters`: that of all clusters which share the accounting database.
    AllClusters,
}

word_key! {
    /// The scope: whose use counts.
    ScopeKey, scope: Scope, "cluster or all_clusters", "whose use counts";
    "cluster" => Cluster,
    "all_clusters" => AllClusters,
}

#[cfg(test)]
mod tests {
    use super::super::key::Key as _;
    use super::*;

    #[test]
    fn words() {
        assert_eq!(ScopeKey::parse("cluster", None), Ok(Scope::default()));
        let other = ScopeKey::parse("ALL_CLUSTERS", None);
        assert_eq!(other, Ok(Scope::AllClusters));
        assert!(!ScopeKey::is_in_stock(&Scope::AllClusters));
        let error = ScopeKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of cluster, all_clusters");
    }
}
