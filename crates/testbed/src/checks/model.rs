//! The engine's rows, rebuilt from what Slurm's commands print.

use anyhow::{Context, Result};
use fairtree::config::Config;
use fairtree::extended::Extended;
use fairtree::fairshare::{self, AssocFairshare};
use fairtree::priority::{
    self, AssocFactors, Index, Job, JobTables, Partition, Priced, Qos, Span, TimeLimit,
};
use fairtree::tree::{Assoc, AssocIndex, AssocKind, Shares, Tree};

use super::fixture::{CPUS, NODES};
use crate::cluster::Cluster;
use crate::cluster::table::{Row, Table};
use crate::facts::facts;

/// Columns of sshare for [`Model::of`] and for the comparison.
pub const SSHARE_COLUMNS: &str =
    "ID,Account,User,RawShares,NormShares,RawUsage,NormUsage,EffectvUsage,FairShare,LevelFS";

/// The site as the engine sees it.
pub struct Model {
    config: Config,
    /// True if sshare rates accounts, too, outside Fair Tree.
    pub rates_accounts: bool,
    /// The associations, in sshare's order.
    pub tree: Tree,
    /// The engine's results for each.
    pub fairshare: Vec<AssocFairshare>,
    tables: JobTables,
    accounts: Vec<(String, String)>,
    partitions: Vec<String>,
    qos: Vec<String>,
}

impl Model {
    /// Rebuilds the site from `sshare` (columns [`SSHARE_COLUMNS`]) and from the partitions, QOS
    /// and associations that scontrol and sacctmgr print.
    pub fn of(cluster: &Cluster, config: Config, sshare: &Table) -> Result<Model> {
        let (tree, usage) = tree(sshare)?;
        let fairshare = fairshare::compute(config.ranking(), config.compat, &tree, &usage);
        let mut model = Model {
            config,
            rates_accounts: facts(cluster.release()).sshare_rates_accounts,
            tree,
            fairshare,
            tables: JobTables {
                tres_names: vec!["cpu".to_owned()],
                cluster_cpus: CPUS,
                cluster_nodes: NODES,
                ..JobTables::default()
            },
            accounts: names(sshare)?,
            partitions: Vec::new(),
            qos: Vec::new(),
        };
        model.read_associations(cluster)?;
        model.read_partitions(cluster)?;
        model.read_qos(cluster)?;
        Ok(model)
    }

    /// Returns true if slurmctld and sshare use Fair Tree according to `PriorityFlags`.
    pub fn has_flags_of_fair_tree(&self) -> bool {
        self.config.ranking_of_flags().keeps_levels()
    }

    /// Returns true if sshare shows a level fairshare.
    pub fn has_level_fs(&self) -> bool {
        self.config.ranking().columns().level_fs
    }

    /// The normalised shares that slurmctld has for the association at a position, if they differ
    /// from those of the ranking: slurmctld computes them only from `PriorityFlags`.
    pub fn recorded_shares(&self, at: usize) -> Option<f64> {
        let overruled = self.has_flags_of_fair_tree() && !self.config.ranking().keeps_levels();
        overruled.then(|| self.tree.norm_shares_on_level(self.config.compat)[at])
    }

    fn read_associations(&mut self, cluster: &Cluster) -> Result<()> {
        let table = Table::parse(&cluster.sacctmgr(&[
            "--parsable2",
            "show",
            "association",
            "format=ID,Priority",
        ])?)?;
        let priority = |id: u32| -> Result<u32> {
            let row = table.find("ID", &id.to_string())?;
            // Blank: no priority was given.
            Ok(row.get("Priority").unwrap_or(0))
        };
        let ids: Vec<u32> = self.tree.rows().iter().map(|row| row.id).collect();
        let raw: Vec<u32> = ids.into_iter().map(priority).collect::<Result<_>>()?;
        let most = raw.iter().copied().max().unwrap_or(0);
        self.tables.assocs = raw
            .iter()
            .zip(&self.fairshare)
            .map(|(&priority, fairshare)| AssocFactors {
                fs_factor: fairshare.fs_factor.unwrap_or(0.0),
                priority,
                norm_priority: ratio(priority, most),
            })
            .collect();
        Ok(())
    }

    fn read_partitions(&mut self, cluster: &Cluster) -> Result<()> {
        let table = cluster.show("partition")?;
        let factor = |row: &Row| row.get::<u16>("PriorityJobFactor");
        let factors: Vec<u16> = table.rows().iter().map(factor).collect::<Result<_>>()?;
        let most = factors.iter().copied().max().unwrap_or(0).max(1);
        for (row, factor) in table.rows().iter().zip(factors) {
            self.partitions.push(row.text("PartitionName")?.to_owned());
            let tres = self.count_tres(tres_count(row.text("TRES")?, "cpu")?);
            self.tables.partitions.push(Partition {
                priority_job_factor: factor,
                norm_priority: f64::from(factor) / f64::from(most),
                max_time_mins: None,
                tres: Some(tres),
            });
        }
        Ok(())
    }

    fn read_qos(&mut self, cluster: &Cluster) -> Result<()> {
        let table = Table::parse(&cluster.sacctmgr(&[
            "--parsable2",
            "show",
            "qos",
            "format=Name,Priority",
        ])?)?;
        let priority = |row: &Row| row.get::<u32>("Priority");
        let priorities: Vec<u32> = table.rows().iter().map(priority).collect::<Result<_>>()?;
        let most = priorities.iter().copied().max().unwrap_or(0);
        for (row, priority) in table.rows().iter().zip(priorities) {
            self.qos.push(row.text("Name")?.to_owned());
            self.tables.qos.push(Qos {
                priority,
                norm_priority: ratio(priority, most),
            });
        }
        Ok(())
    }

    fn count_tres(&mut self, cpus: u64) -> Index {
        self.tables.tres_counts.push(cpus);
        Index::new(self.tables.tres_counts.len() - 1)
    }

    /// A pending job in `partition`, from its line of `scontrol show job`.
    pub fn job(&mut self, row: &Row, partition: &str) -> Result<Job> {
        let user = row.text("UserId")?;
        let user = user.split_once('(').map_or(user, |(name, _)| name);
        let owner = (row.text("Account")?.to_owned(), user.to_owned());
        let find = |names: &[String], name: &str| names.iter().position(|known| known == name);
        let qos = find(&self.qos, row.text("QOS")?).context("an unknown QOS")?;
        let partition = find(&self.partitions, partition).context("an unknown partition")?;
        let assoc = self.accounts.iter().position(|known| *known == owner);
        // Newer releases distinguish requested and allocated TRES.
        let asked = row.text("ReqTRES").or_else(|_| row.text("TRES"))?;
        let tres = self.count_tres(tres_count(asked, "cpu")?);
        Ok(Job {
            id: row.get("JobId")?,
            assoc: Some(AssocIndex::new(
                assoc.with_context(|| format!("no {owner:?}"))?,
            )),
            partition: Some(Index::new(partition)),
            qos: Some(Index::new(qos)),
            partitions: Span::default(),
            qos_list: Span::default(),
            accrue_time: row.get("AccrueTime")?,
            cpus: first_number(row.text("NumCPUs")?)?,
            nodes: first_number(row.text("NumNodes")?)?,
            // Counts only with SMALL_RELATIVE_TO_TIME.
            time_limit: TimeLimit::Unset,
            nice: row.get("Nice")?,
            site_factor: 0,
            tres: Some(tres),
            priority: row.get("Priority")?,
            direct: false,
        })
    }

    /// The engine's price of a job at a moment.
    pub fn price(&self, job: &Job, now: i64) -> Result<Priced> {
        Ok(priority::price(&self.config, &self.tables, job, now)?)
    }
}

fn ratio(part: u32, whole: u32) -> f64 {
    if whole == 0 {
        0.0
    } else {
        f64::from(part) / f64::from(whole)
    }
}

/// Returns 2 for `2` and for `2-4`.
fn first_number(text: &str) -> Result<u32> {
    let first = text.split('-').next().unwrap_or(text);
    first
        .parse()
        .with_context(|| format!("`{text}` is no count"))
}

/// A count in `cpu=8,mem=2000M,node=2,billing=8`.
fn tres_count(text: &str, name: &str) -> Result<u64> {
    text.split(',')
        .filter_map(|part| part.split_once('='))
        .find(|(known, _)| *known == name)
        .with_context(|| format!("no {name} in `{text}`"))?
        .1
        .parse()
        .with_context(|| format!("{name} in `{text}`"))
}

/// Account and user of each row.
fn names(sshare: &Table) -> Result<Vec<(String, String)>> {
    let text = |row: &Row, name| row.text(name).map(|text| text.trim().to_owned());
    sshare
        .rows()
        .iter()
        .map(|row| Ok((text(row, "Account")?, text(row, "User")?)))
        .collect()
}

/// The tree from the indentation of the account column, and the raw usage of its rows.
fn tree(sshare: &Table) -> Result<(Tree, Vec<Extended>)> {
    let mut rows = Vec::new();
    let mut usage = Vec::new();
    let mut path: Vec<u32> = Vec::new();
    for row in sshare.rows() {
        let account = row.text("Account")?;
        let id = row.get("ID")?;
        path.truncate(account.len() - account.trim_start().len());
        let user = row.text("User")?.trim();
        let shares = match row.text("RawShares")?.trim() {
            "parent" => Shares::Parent,
            // sshare prints no shares for the root.
            "" => Shares::Raw(1),
            _ => Shares::Raw(row.get("RawShares")?),
        };
        rows.push(Assoc {
            id,
            parent: path.last().copied(),
            kind: if user.is_empty() {
                AssocKind::Account
            } else {
                AssocKind::User
            },
            shares,
        });
        let raw: u32 = row.get("RawUsage")?;
        usage.push(Extended::from_f64(f64::from(raw)).context("usage that is a number")?);
        path.push(id);
    }
    Ok((Tree::from_rows(rows)?, usage))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indentation_is_the_tree() {
        let text = "ID|Account|User|RawShares|RawUsage\n\
                    1|root|||10\n2| root|root|1|0\n5| a||3|10\n6|  a|bob|parent|10\n";
        let (tree, usage) = tree(&Table::parse(text).unwrap()).unwrap();
        let parents: Vec<_> = tree.rows().iter().map(|row| row.parent).collect();
        assert_eq!(parents, [None, Some(1), Some(1), Some(5)]);
        assert_eq!(tree.rows()[3].shares, Shares::Parent);
        assert_eq!(tree.rows()[2].kind, AssocKind::Account);
        assert_eq!(usage[0], Extended::from_f64(10.0).unwrap());
    }

    #[test]
    fn counts_are_read_as_slurm_writes_them() {
        assert_eq!(first_number("2-4").unwrap(), 2);
        assert_eq!(tres_count("cpu=8,mem=2000M,node=2", "node").unwrap(), 2);
        assert!(tres_count("mem=1M", "cpu").is_err());
    }
}
