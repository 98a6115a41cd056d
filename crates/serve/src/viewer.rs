//! Who looks, and what that person may see: what squeue, sshare and sprio show that person.
//!
//! | `PrivateData` | a plain user sees | a coordinator also |
//! |---|---|---|
//! | `jobs` | own jobs | jobs of the accounts that are coordinated |
//! | `usage` | own associations | those of the accounts, and the accounts |
//! | `accounts` | accounts that the user is in, and those above | the accounts |
//! | `users` | own name | users of the accounts |
//!
//! Operators see everything. Where a capture does not contain the setting, everything is private.
//!
//! Source: slurm.conf(5), `PrivateData`; `assoc_mgr_get_shares` of Slurm 22.05 for `usage`.

use std::collections::HashSet;

use fairtree::tree::AssocIndex;
use fairtree_model::cluster::ClusterJob;

use crate::picture::Picture;

/// A person, looking at a picture.
#[derive(Clone, Debug)]
pub struct Viewer {
    /// Login name.
    pub user: String,
    /// Sees and may change everything.
    pub operator: bool,
    /// Own associations, by position.
    pub own: Vec<usize>,
    /// Accounts that the person is in, and those above, by position.
    member: HashSet<usize>,
    /// Accounts that the person coordinates, with all below, by position.
    coordinated: HashSet<usize>,
}

impl Viewer {
    /// A person in a picture; one that it does not know has no associations.
    pub fn of(picture: &Picture, user: &str) -> Viewer {
        let cluster = &picture.cluster;
        let own = picture.assocs_of(user).to_vec();
        let mut member = HashSet::new();
        for at in &own {
            let tree = cluster.tree();
            let above = tree.upward(tree.parent(AssocIndex::new(*at)));
            member.extend(above.map(AssocIndex::get));
        }
        let mut coordinated = HashSet::new();
        let mut next = picture.coordinators.get(user).cloned().unwrap_or_default();
        while let Some(at) = next.pop() {
            let below = picture.children(at).iter().copied();
            let accounts = below.filter(|at| !cluster.is_user(AssocIndex::new(*at)));
            if coordinated.insert(at) {
                next.extend(accounts);
            }
        }
        Viewer {
            operator: picture.operators.contains(user),
            user: user.to_owned(),
            own,
            member,
            coordinated,
        }
    }

    /// Returns true if the person may see a job.
    pub fn sees_job(&self, picture: &Picture, job: &ClusterJob) -> bool {
        self.sees_job_of(picture, job.account.as_deref().unwrap_or(""), &job.user)
    }

    /// Returns true if the person may see the jobs of everybody.
    pub fn sees_all_jobs(&self, picture: &Picture) -> bool {
        !picture.private.jobs || self.operator
    }

    /// Returns true if the person may see the jobs of a user in an account.
    pub fn sees_job_of(&self, picture: &Picture, account: &str, user: &str) -> bool {
        if self.sees_all_jobs(picture) || user == self.user {
            return true;
        }
        if self.coordinated.is_empty() {
            return false;
        }
        let account = picture.account(account);
        account.is_some_and(|at| self.coordinated.contains(&at.get()))
    }

    /// Returns true if the person may see shares, usage and factors of an association.
    pub fn sees_usage(&self, picture: &Picture, at: usize) -> bool {
        if !picture.private.usage || self.operator || self.own.contains(&at) {
            return self.sees_name(picture, at);
        }
        self.coordinates(picture, at)
    }

    /// Returns true if the person may know that an association exists.
    pub fn sees_name(&self, picture: &Picture, at: usize) -> bool {
        if self.operator || self.own.contains(&at) || self.coordinates(picture, at) {
            return true;
        }
        let account = self.account_of(picture, at);
        let sees_account = !picture.private.accounts || self.member.contains(&account);
        let is_user = picture.cluster.is_user(AssocIndex::new(at));
        sees_account && !(is_user && picture.private.users)
    }

    /// Returns true if the person coordinates the account of an association.
    pub fn coordinates(&self, picture: &Picture, at: usize) -> bool {
        self.coordinated.contains(&self.account_of(picture, at))
    }

    /// The account that an association is, or is in.
    fn account_of(&self, picture: &Picture, at: usize) -> usize {
        let index = AssocIndex::new(at);
        match picture.cluster.tree().parent(index) {
            Some(parent) if picture.cluster.is_user(index) => parent.get(),
            _ => at,
        }
    }
}
