//! `scope=`.

use super::key::Key;
use super::word;
use crate::compat::Release;
use crate::config::{Config, ValueError};

/// `scope=`: whose use counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scope {
    /// `cluster`: that of this cluster.
    #[default]
    Cluster,
    /// `all_clusters`: that of all clusters which share the accounting database.
    AllClusters,
}

const WORDS: [(&str, Scope); 2] = [
    ("cluster", Scope::Cluster),
    ("all_clusters", Scope::AllClusters),
];

/// The scope: whose use counts.
pub struct ScopeKey;

impl Key for ScopeKey {
    type Value = Scope;
    const NAME: &'static str = "scope";
    const FORM: &'static str = "cluster or all_clusters";
    const DEFAULT: &'static str = "cluster";
    const MEANING: &'static str = "whose use counts";

    fn parse(text: &str, _: Option<Release>) -> Result<Scope, ValueError> {
        word(text, &WORDS)
    }

    fn is_in_stock(value: &Scope) -> bool {
        match value {
            Scope::Cluster => true,
            Scope::AllClusters => false,
        }
    }
}

impl Config {
    /// `scope=`, or its default.
    pub fn scope(&self) -> Scope {
        self.parameters.scope.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
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
