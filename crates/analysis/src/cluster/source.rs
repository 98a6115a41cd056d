//! Clusters of each kind of input.

use super::{AssocName, Cluster, PartitionAbout, QosAbout, billing_weights};
use crate::explain::Listed;
use crate::prio::rows::{Tables, pass_time};
use crate::share::{self, ShareReport};
use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::priority::{AssocFactors, Site};
use fairtree::tree::Tree;
use fairtree::usage::Ledger;
use fairtree_model::input::site::{Site as Described, SiteRow};
use fairtree_model::input::slurm::snapshot::{Queued, Snapshot};
use fairtree_model::input::{InputError, Problem};

impl Cluster {
    /// The cluster of a live site or a capture, with another compatibility than the settings' if
    /// asked for. The moment is that of the last pass, which the ages that sprio printed tell.
    ///
    /// # Errors
    /// Shares that make no tree or whose rows are not all there; waiting jobs whose partition or
    /// QOS is not there.
    pub fn from_snapshot(
        snapshot: &Snapshot,
        compat: Option<Compat>,
    ) -> Result<Cluster, InputError> {
        let queued = &snapshot.queued;
        let broken = |why: String| InputError::new(&queued.name, Problem::Structure(why));
        let config = of_compat(&queued.settings.config, compat);
        let report = share::from_listing(&snapshot.shares, config.algorithm(), config.compat)?;
        let listed = Listed::new(&report).map_err(|why| {
            broken(why).hint("all associations are needed: may this user see them (PrivateData)?")
        })?;
        Cluster::queued(queued, &report, config, listed.tree, listed.ledger)
    }

    /// The cluster of a queue whose shares are those of `report`, of which `tree` and `ledger` are.
    fn queued(
        queued: &Queued,
        report: &ShareReport,
        config: Config,
        tree: Tree,
        ledger: Ledger,
    ) -> Result<Cluster, InputError> {
        let mut tables = Tables::new(queued, report, &config)?;
        let partitions = partitions(queued)?;
        let jobs = super::jobs::of(queued, &mut tables, &partitions)?;
        // What a listing leaves open does not matter here: it is one of all associations.
        let assumptions = std::mem::take(&mut tables.notes);
        let mut cluster = Cluster {
            source: queued.name.clone(),
            now: Some(pass_time(queued, &config)),
            config,
            priority_type: queued.settings.priority_type.clone(),
            release: queued.settings.release,
            names: names(report),
            tree,
            ledger,
            site: tables.into_site(),
            fairshare: Vec::new(),
            partitions,
            qos: queued
                .qos
                .iter()
                .map(|row| QosAbout {
                    name: row.name.clone(),
                    usage_factor: row.usage_factor,
                })
                .collect(),
            jobs: Some(jobs),
            assumptions,
        };
        cluster.rank();
        Ok(cluster)
    }

    /// The cluster of a described site, with another compatibility than its settings' if asked
    /// for. It has jobs where the description has a queue.
    ///
    /// # Errors
    /// Billing weights that slurm.conf would not take.
    pub fn from_site(site: Described, compat: Option<Compat>) -> Result<Cluster, InputError> {
        let config = of_compat(&site.config, compat);
        if let Some(queued) = &site.queued {
            let report = share::from_site(&site, config.algorithm(), config.compat);
            let mut cluster = Cluster::queued(queued, &report, config, site.tree, site.ledger)?;
            // A description without jobs may do without times.
            cluster.now = queued.pass;
            return Ok(cluster);
        }
        let name = |row: SiteRow| AssocName {
            account: row.account,
            user: row.user,
            partition: row.partition,
        };
        let names: Vec<AssocName> = site.rows.into_iter().map(name).collect();
        let mut cluster = Cluster {
            source: site.file,
            config,
            priority_type: None,
            release: None,
            site: Site {
                assocs: vec![AssocFactors::default(); names.len()],
                ..Site::default()
            },
            names,
            tree: site.tree,
            ledger: site.ledger,
            fairshare: Vec::new(),
            partitions: Vec::new(),
            qos: Vec::new(),
            jobs: None,
            now: None,
            assumptions: site.assumptions,
        };
        cluster.rank();
        Ok(cluster)
    }

    /// The cluster of a listing of sshare. `settings`: those of its site, where they are known;
    /// else slurm.conf's defaults with the report's algorithm.
    ///
    /// # Errors
    /// A sentence on what is missing, see [`Listed::new`].
    pub fn from_report(report: &ShareReport, settings: Option<Config>) -> Result<Cluster, String> {
        let listed = Listed::new(report)?;
        let known = settings.is_some();
        let config = match settings {
            Some(settings) => Config {
                compat: report.compat,
                ..settings
            },
            None => listed.config,
        };
        let names = names(report);
        let mut cluster = Cluster {
            source: report.source.clone(),
            config,
            priority_type: None,
            release: None,
            site: Site {
                assocs: vec![AssocFactors::default(); names.len()],
                ..Site::default()
            },
            names,
            tree: listed.tree,
            ledger: listed.ledger,
            fairshare: Vec::new(),
            partitions: Vec::new(),
            qos: Vec::new(),
            jobs: None,
            now: None,
            // The answer of a site's own sshare is one of all associations.
            assumptions: match known {
                true => Vec::new(),
                false => report.assumptions.clone(),
            },
        };
        cluster.rank();
        Ok(cluster)
    }
}

fn of_compat(config: &Config, compat: Option<Compat>) -> Config {
    Config {
        compat: compat.unwrap_or(config.compat),
        ..config.clone()
    }
}

fn names(report: &ShareReport) -> Vec<AssocName> {
    let name = |row: &share::ShareRow| AssocName {
        account: row.account.clone().unwrap_or_default(),
        user: row.user.clone(),
        partition: row.partition.clone(),
    };
    report.rows.iter().map(name).collect()
}

fn partitions(queued: &Queued) -> Result<Vec<PartitionAbout>, InputError> {
    let tres = &queued.settings.tres;
    let about = |row: &fairtree_model::input::slurm::partition::PartitionRow| {
        let weights = row.tres_billing_weights.as_deref();
        let weights = weights.map(|text| billing_weights(tres, text)).transpose();
        let billing_weights = weights.map_err(|error| {
            let problem = Problem::Value {
                what: format!("TRESBillingWeights of partition {}", row.name),
                found: error.value,
                allowed: error.allowed,
            };
            InputError::new(&queued.name, problem)
        })?;
        Ok(PartitionAbout {
            name: row.name.clone(),
            is_default: row.is_default,
            billing_weights,
        })
    };
    queued.partitions.iter().map(about).collect()
}
