//! Clusters of each kind of input.

use std::sync::Arc;

use super::{AssocName, Cluster, PartitionAbout, QosAbout, Tables, billing_weights, pass_time};
use crate::input::site::{Site, SiteRow, Uses};
use crate::input::slurm::snapshot::{Queued, Snapshot};
use crate::input::{InputError, LeftOut, Problem};
use crate::listed::{Listed, WholeSite};
use fairtree::compat::Compat;
use fairtree::config::Config;
use fairtree::priority::JobTables;

impl Cluster {
    /// The cluster of a live site or a capture; another compatibility than the settings' if given.
    /// The moment is that of the last pass, derived from the ages that sprio printed.
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
        let listed = Listed::new(&snapshot.shares, config.ranking())?;
        let site = listed.whole_site().map_err(|why| {
            broken(why).hint("all associations are needed: may this user see them (PrivateData)?")
        })?;
        let now = Some(pass_time(queued, &config));
        Cluster::queued(queued, config, site, now, None)
    }

    /// The cluster of a queue and the associations that its jobs are of; `now`, `uses` as for
    /// [`Cluster::new`].
    pub(super) fn queued(
        queued: &Queued,
        config: Config,
        site: WholeSite,
        now: Option<i64>,
        uses: Option<Uses>,
    ) -> Result<Cluster, InputError> {
        let config = queued.hidden.countable(config);
        let mut tables = Tables::new(queued, &site.names, &config)?;
        let partitions = partitions(queued)?;
        let mut left = LeftOut::default();
        let jobs = super::jobs::of(queued, &mut tables, &partitions, &mut left)?;
        let tables = tables.into_job_tables();
        let source = queued.name.clone();
        let mut cluster = Cluster::new(source, config, site, tables, now, uses);
        cluster.cluster.clone_from(&queued.settings.cluster);
        cluster
            .priority_type
            .clone_from(&queued.settings.priority_type);
        cluster.release = queued.settings.release;
        cluster.partitions = partitions;
        let qos = queued.qos.iter().map(|row| QosAbout {
            name: row.name.clone(),
            usage_factor: row.usage_factor,
            limits: row.limits.clone(),
        });
        cluster.qos = qos.collect();
        cluster.listed = queued.assocs.clone();
        cluster
            .private_data
            .clone_from(&queued.settings.private_data);
        cluster.hidden = queued.hidden;
        cluster.jobs = Some(Arc::new(jobs));
        // What a listing leaves open does not matter here: it is one of all associations.
        cluster.assumptions = [queued.left_out.clone(), left.notes()].concat();
        cluster.rank();
        Ok(cluster)
    }

    /// The cluster of a described site, with another compatibility than its settings' if asked
    /// for. It has jobs where the description has a queue.
    ///
    /// # Errors
    /// Billing weights that slurm.conf would not take.
    pub fn from_site(site: Site, compat: Option<Compat>) -> Result<Cluster, InputError> {
        let config = of_compat(&site.config, compat);
        let name = |row: SiteRow| AssocName {
            account: row.account,
            user: row.user,
            partition: row.partition,
        };
        let names: Vec<AssocName> = site.rows.into_iter().map(name).collect();
        let whole = WholeSite {
            names,
            tree: site.tree,
            raw_usage: site.raw_usage,
        };
        if let Some(queued) = &site.queued {
            // A description without jobs may do without times.
            let mut cluster = Cluster::queued(queued, config, whole, queued.pass, site.uses)?;
            cluster.cluster = site.cluster;
            return Ok(cluster);
        }
        let tables = JobTables {
            cluster_cpus: site.capacity.unwrap_or(0),
            ..JobTables::default()
        };
        let mut cluster = Cluster::new(site.file, config, whole, tables, None, site.uses);
        cluster.cluster = site.cluster;
        cluster.machines = site.capacity;
        cluster.assumptions = site.assumptions;
        cluster.rank();
        Ok(cluster)
    }

    /// The cluster of a listing of sshare. `settings`: those of its site, where they are known;
    /// else slurm.conf's defaults with the listing's ranking.
    ///
    /// # Errors
    /// A sentence on what is missing, see [`Listed::whole_site`].
    pub fn from_listed(
        listed: &Listed<'_>,
        compat: Compat,
        settings: Option<Config>,
    ) -> Result<Cluster, String> {
        Cluster::of_listed(listed, compat, settings, listed.whole_site()?)
    }

    /// As [`Cluster::from_listed`], also of a listing without some of the rows, with a sentence that says
    /// so among the assumptions.
    ///
    /// # Errors
    /// Those of [`Listed::site_of_rows`].
    pub fn from_rows(
        listed: &Listed<'_>,
        compat: Compat,
        settings: Option<Config>,
    ) -> Result<Cluster, String> {
        let why = match listed.whole_site() {
            Ok(site) => return Cluster::of_listed(listed, compat, settings, site),
            Err(why) => why,
        };
        let site = listed.site_of_rows()?;
        let mut cluster = Cluster::of_listed(listed, compat, settings, site)?;
        cluster.assumptions.push(format!(
            "{why}; shown is what the listed rows make by themselves"
        ));
        Ok(cluster)
    }

    fn of_listed(
        listed: &Listed<'_>,
        compat: Compat,
        settings: Option<Config>,
        site: WholeSite,
    ) -> Result<Cluster, String> {
        // The answer of a site's own sshare is one of all associations.
        let assumptions = match &settings {
            Some(_) => Vec::new(),
            None => listed.assumptions(),
        };
        let config = Config {
            compat,
            ..settings.unwrap_or_else(|| listed.config())
        };
        let source = listed.listing().file.clone();
        let mut cluster = Cluster::new(source, config, site, JobTables::default(), None, None);
        cluster.cluster.clone_from(&listed.listing().cluster);
        cluster.assumptions = assumptions;
        cluster.rank();
        Ok(cluster)
    }
}

pub(super) fn of_compat(config: &Config, compat: Option<Compat>) -> Config {
    Config {
        compat: compat.unwrap_or(config.compat),
        ..config.clone()
    }
}

fn partitions(queued: &Queued) -> Result<Vec<PartitionAbout>, InputError> {
    let tres = &queued.settings.tres;
    let about = |row: &crate::input::slurm::partition::PartitionRow| {
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
            max_nodes: row.max_nodes,
            state: row.state.clone(),
            admission: row.admission.clone(),
        })
    };
    queued.partitions.iter().map(about).collect()
}
