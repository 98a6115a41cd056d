//! Accounts, users and QOS of the cluster, sent to slurmdbd through sacctmgr.

use std::fmt::Write as _;

use anyhow::Result;

use super::Cluster;
use super::conf::CLUSTER_NAME;
use xtask::progress::Progress;

/// `FairShare=` of an association.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FairShare {
    /// A number of shares.
    Raw(u32),
    /// `parent`.
    Parent,
}

impl std::fmt::Display for FairShare {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FairShare::Raw(count) => write!(f, "{count}"),
            FairShare::Parent => f.write_str("parent"),
        }
    }
}

/// An account with its users.
#[derive(Clone, Debug)]
pub struct Account {
    /// Name.
    pub name: &'static str,
    /// The parent account; `None`: root.
    pub parent: Option<&'static str>,
    /// Its shares among its siblings.
    pub fair_share: FairShare,
    /// Short names of its users (without the cluster's prefix) and their shares.
    pub users: Vec<(&'static str, FairShare)>,
}

/// A quality of service.
#[derive(Clone, Copy, Debug)]
pub struct Qos {
    /// Name.
    pub name: &'static str,
    /// `Priority`.
    pub priority: u32,
}

/// All accounts and QOS; parents come before children.
#[derive(Clone, Debug, Default)]
pub struct Accounting {
    /// Accounts.
    pub accounts: Vec<Account>,
    /// QOS in addition to `normal`, which every cluster has.
    pub qos: Vec<Qos>,
}

impl Cluster {
    /// Adds accounts and users of a site while the cluster runs; existing ones get its shares.
    ///
    /// # Errors
    /// Fails if sacctmgr or useradd refuses, or if slurmctld does not start again.
    pub fn add_site(&mut self, accounting: &Accounting) -> Result<()> {
        self.ensure_users(accounting, &Progress::plain())?;
        if !self.is_of_this_machine() {
            // In a separate root folder a daemon sees only the users that existed at its start.
            self.stop_slurmctld()?;
            self.start_slurmctld()?;
        }
        accounting.load(self, CLUSTER_NAME)
    }
}

impl Accounting {
    /// Short names of all users, each once.
    pub fn users(&self) -> Vec<&'static str> {
        let mut names: Vec<_> = self
            .accounts
            .iter()
            .flat_map(|account| account.users.iter().map(|(name, _)| *name))
            .collect();
        names.sort_unstable();
        names.dedup();
        names
    }

    /// Registers the QOS, accounts and users in slurmdbd.
    pub(super) fn register(&self, cluster: &Cluster) -> Result<()> {
        let sacctmgr = |words: &[&str]| cluster.sacctmgr(words).map(drop);
        sacctmgr(&["add", "cluster", CLUSTER_NAME])?;
        for qos in &self.qos {
            sacctmgr(&[
                "add",
                "qos",
                qos.name,
                &format!("priority={}", qos.priority),
            ])?;
        }
        if !self.qos.is_empty() {
            // Associations that are added below root after this may use them.
            let names: Vec<_> = self.qos.iter().map(|qos| qos.name).collect();
            let all = format!("qos=normal,{}", names.join(","));
            sacctmgr(&[
                "modify",
                "account",
                "root",
                "set",
                &all,
                "defaultqos=normal",
            ])?;
        }
        self.load(cluster, CLUSTER_NAME)
    }

    /// Sends the accounts and users to slurmdbd, for a cluster of this name; existing ones get its
    /// shares.
    pub(super) fn load(&self, cluster: &Cluster, name: &str) -> Result<()> {
        let file = cluster.path().join("etc/accounts.dump");
        std::fs::write(&file, self.dump(cluster, name)?)?;
        let file = format!("file={}", file.display());
        cluster.sacctmgr(&["load", &file]).map(drop)
    }

    /// Accounts and users as `sacctmgr dump` writes them: one command instead of one for each of
    /// them.
    fn dump(&self, cluster: &Cluster, name: &str) -> Result<String> {
        let mut text = format!("Cluster - '{name}'\n");
        let parents = [None]
            .into_iter()
            .chain(self.accounts.iter().map(|row| Some(row.name)));
        for parent in parents {
            let _ = writeln!(text, "Parent - '{}'", parent.unwrap_or("root"));
            for account in self.accounts.iter().filter(|row| row.parent == parent) {
                let _ = writeln!(
                    text,
                    "Account - '{}':Fairshare={}",
                    account.name, account.fair_share
                );
            }
            let users = self
                .accounts
                .iter()
                .filter(|account| Some(account.name) == parent)
                .flat_map(|account| &account.users);
            for (short, shares) in users {
                let user = &cluster.user(short)?.name;
                let _ = writeln!(text, "User - '{user}':Fairshare={shares}");
            }
        }
        Ok(text)
    }
}
