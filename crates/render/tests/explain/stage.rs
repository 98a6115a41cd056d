//! Small sites as ranked sites to explain.

#![allow(dead_code)] // Each test program uses a part of this.

use crate::common::Site;
use fairtree::config::Config;
use fairtree::engine;
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Entitlement};
use fairtree::priority::{AssocFactors, Index, Job, JobTables};
use fairtree::tree::{AssocIndex, Tree};
use fairtree::usage::RawUsage;
use fairtree_analysis::explain::{
    JobsCompared, RankedSite, UsersCompared, compare_jobs, compare_users,
};
use fairtree_model::cluster::{Load, Names};

pub const NOW: i64 = 1_700_000_000;

/// Everything that a ranked borrows.
#[derive(Clone, Debug)]
pub struct Stage {
    pub config: Config,
    pub names: Vec<String>,
    pub tree: Tree,
    pub raw_usage: RawUsage,
    pub entitlement: Entitlement,
    pub fairshare: Vec<AssocFairshare>,
    pub tables: JobTables,
    pub load: Vec<Load>,
}

impl Stage {
    pub fn new(config: Config, small: &Site) -> Stage {
        Stage::with_site(config, small, JobTables::default())
    }

    /// With partitions, QOS and TRES; associations are filled in.
    pub fn with_site(config: Config, small: &Site, mut site: JobTables) -> Stage {
        let raw_usage = RawUsage::from_raw(&small.tree, &small.raw_usage).expect("usages");
        let fairshare = engine::rank(&config, &small.tree, &raw_usage);
        site.assocs = vec![AssocFactors::default(); small.tree.len()];
        engine::publish(&fairshare, &mut site);
        Stage {
            config,
            names: small.names.clone(),
            tree: small.tree.clone(),
            raw_usage,
            entitlement: Entitlement::SHARES,
            fairshare,
            tables: site,
            load: Vec::new(),
        }
    }

    pub fn ranked(&self) -> RankedSite<'_> {
        RankedSite {
            config: &self.config,
            tree: &self.tree,
            raw: self.raw_usage.raw(),
            entitlement: &self.entitlement,
            fairshare: &self.fairshare,
            tables: &self.tables,
            load: &self.load,
            now: NOW,
        }
    }

    pub fn index(&self, name: &str) -> AssocIndex {
        let at = self
            .names
            .iter()
            .position(|n| n.trim_end_matches('/') == name);
        AssocIndex::new(at.expect("a name of the site"))
    }

    pub fn users(&self, a: &str, b: &str) -> UsersCompared {
        let users = [self.index(a), self.index(b)];
        compare_users(&self.ranked(), self, users).expect("two users")
    }

    pub fn jobs(&self, a: &Job, b: &Job) -> JobsCompared {
        compare_jobs(&self.ranked(), self, [a, b]).expect("two jobs")
    }

    /// Factors after a change, by the engine.
    pub fn factors(&self, tree: &Tree, raw: &[Extended]) -> Vec<f64> {
        let raw_usage = RawUsage::from_raw(tree, raw).expect("usages");
        let results = engine::rank(&self.config, tree, &raw_usage);
        results.iter().map(|r| r.fs_factor.unwrap_or(0.0)).collect()
    }
}

impl Names for Stage {
    fn assoc(&self, index: AssocIndex) -> String {
        self.names[index.get()].trim_end_matches('/').to_owned()
    }
    fn partition(&self, index: Index) -> String {
        ["batch", "gpu", "debug"][index.get()].to_owned()
    }
    fn qos(&self, index: Index) -> String {
        ["normal", "high"][index.get()].to_owned()
    }
}
