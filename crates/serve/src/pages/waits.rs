//! Why a job waits, as far as one person may know it.
//!
//! A reason may name an account above and how full its limit is, the state of another job, or the account
//! of another user. Each is left out where `PrivateData` hides it from the person.

use fairtree::tree::AssocIndex;
use fairtree_analysis::explain::wait::{
    Ahead, Cause, Dependency, Next, Reached, Step, StepKind, Waits, cause, waits, without_next,
};
use fairtree_model::cluster::{ClusterJob, Names};

use super::Seen;
use super::job::failed;
use crate::answer::Refusal;

/// Changes that put a job ahead of the next one are tried for its page on sites with up to this number of associations: a
/// page of a larger one leads to that of the two jobs, which tries them.
const MOST_ASSOCS: usize = 5_000;

impl Seen<'_> {
    /// Why a job waits and what would help; `None`: it does not wait.
    pub(super) fn waits(self, job: &ClusterJob) -> Result<Option<Waits>, Refusal> {
        let (cluster, line) = (&self.picture.cluster, &self.picture.line);
        let found = match cluster.tree().len() <= MOST_ASSOCS {
            true => waits(&self.picture.ranked(), cluster, line, job),
            false => without_next(cluster, line, job).map(|found| found.map(|(waits, _)| waits)),
        };
        let found = found.map_err(|error| failed(&error))?;
        Ok(found.map(|waits| self.filtered(job, waits)))
    }

    /// Returns true if a page of a job leaves the changes that put it ahead of the next one to that of the two.
    pub(super) fn leaves_next(self) -> bool {
        self.picture.cluster.tree().len() > MOST_ASSOCS
    }

    /// The cause alone, which is cheap.
    pub(super) fn cause(self, job: &ClusterJob) -> Cause {
        self.known_cause(job, cause(&self.picture.cluster, job))
    }

    fn filtered(self, job: &ClusterJob, waits: Waits) -> Waits {
        let left = |cause: &Cause| match cause {
            Cause::Limit { limit } => Some((limit.most, limit.used)),
            _ => None,
        };
        let before = left(&waits.cause);
        let cause = self.known_cause(job, waits.cause);
        // Room that a limit leaves is the difference of two numbers.
        let hidden = matches!(cause, Cause::Limit { .. }) && before != left(&cause);
        let visible = |step: &Step| match &step.kind {
            StepKind::WithinLimit { .. } => !hidden,
            StepKind::Account { name } => self.account_name(name) == name,
            _ => true,
        };
        let next = waits.next.filter(|next| {
            let at = self.picture.job(next.job).map(|(_, at)| at);
            let other = at.map(|at| &self.picture.cluster.jobs()[at]);
            other.is_some_and(|other| self.viewer.sees_job(self.picture, other))
        });
        Waits {
            cause,
            ahead: self.known_ahead(waits.ahead),
            steps: waits.steps.into_iter().filter(visible).collect(),
            next: next.map(|next| Next {
                remedies: self.known(next.remedies),
                ..next
            }),
            ..waits
        }
    }

    /// The jobs ahead, with accounts that the person may not know as one.
    fn known_ahead(self, ahead: Vec<Ahead>) -> Vec<Ahead> {
        let mut merged: Vec<Ahead> = Vec::new();
        let mut others: Option<usize> = None;
        for one in ahead {
            let name = one.account.as_deref();
            let known = name.map(|name| self.account_name(name));
            match (known == name, others) {
                (true, _) => merged.push(one),
                (false, Some(at)) => merged[at].jobs += one.jobs,
                (false, None) => {
                    others = Some(merged.len());
                    let account = known.map(str::to_owned);
                    merged.push(Ahead { account, ..one });
                }
            }
        }
        merged
    }

    fn known_cause(self, job: &ClusterJob, cause: Cause) -> Cause {
        match cause {
            Cause::Dependency { on, never } => Cause::Dependency {
                on: on.into_iter().map(|on| self.known_dependency(on)).collect(),
                never,
            },
            Cause::Limit { limit } => Cause::Limit {
                limit: self.known_limit(job, limit),
            },
            cause => cause,
        }
    }

    /// A condition without the state of a job that the person may not see.
    fn known_dependency(self, on: Dependency) -> Dependency {
        let cluster = &self.picture.cluster;
        let name = on.job.as_deref().and_then(|job| job.parse().ok());
        let found = name.and_then(|name| cluster.find_job(name).ok());
        let visible =
            found.is_some_and(|at| self.viewer.sees_job(self.picture, &cluster.jobs()[at]));
        Dependency {
            state: on.state.filter(|_| visible),
            ..on
        }
    }

    /// A limit without numbers that the person may not see, and with used minutes as sshare shows them.
    fn known_limit(self, job: &ClusterJob, mut limit: Reached) -> Reached {
        let holder = limit.name.as_deref().and_then(|name| self.named(name));
        if limit.of == "association" {
            if limit.limit == "GrpTRESMins" && limit.used.is_none() {
                self.fill_minutes(job, &mut limit);
            }
            let holder = limit.name.as_deref().and_then(|name| self.named(name));
            let visible = holder.is_some_and(|at| self.viewer.sees_usage(self.picture, at.get()));
            if !visible {
                (limit.name, limit.tres, limit.most) = (None, None, None);
                (limit.used, limit.asks) = (None, None);
            }
        }
        let counts_jobs = limit.limit != "GrpTRESMins";
        if counts_jobs && !self.sees_running(job, holder, limit.limit) {
            limit.used = None;
        }
        limit
    }

    /// Returns true if the person may see all running jobs that a limit counts. `holder`: the association that
    /// sets it; `None`: a QOS.
    fn sees_running(self, job: &ClusterJob, holder: Option<AssocIndex>, limit: &str) -> bool {
        if !self.picture.private.jobs || self.viewer.operator {
            return true;
        }
        let sees_all = |at: AssocIndex| {
            self.viewer.own.contains(&at.get()) || self.viewer.coordinates(self.picture, at.get())
        };
        match (holder, limit) {
            (Some(holder), _) => sees_all(holder),
            (None, limit) if limit.ends_with("PU") => *job.user == *self.viewer.user,
            (None, limit) if limit.ends_with("PA") => {
                let account = job.account.as_deref();
                let account = account.and_then(|name| self.picture.account(name));
                account.is_some_and(|at| self.viewer.coordinates(self.picture, at.get()))
            }
            (None, _) => false,
        }
    }

    /// The nearest limit on minutes that is used up, by sshare's GrpTRESMins and GrpTRESRaw.
    fn fill_minutes(self, job: &ClusterJob, limit: &mut Reached) {
        let picture = self.picture;
        for at in picture.cluster.tree().upward(job.job.assoc) {
            let row = &picture.report.rows[at.get()];
            let (Some(limits), Some(used)) = (&row.grp_tres_mins, &row.grp_tres_raw) else {
                continue;
            };
            for pair in limits.split(',') {
                let Some((tres, most)) = pair.split_once('=') else {
                    continue;
                };
                let asked = limit.tres.as_deref().is_none_or(|asked| asked == tres);
                let (most, used) = (most.parse::<u64>().ok(), of_list(used, tres));
                if let (true, Some(most), Some(used)) = (asked, most, used) {
                    if used >= most {
                        limit.name = Some(picture.cluster.assoc(at));
                        limit.tres = Some(tres.to_owned());
                        (limit.most, limit.used) = (Some(most), Some(used));
                        return;
                    }
                }
            }
        }
    }
}

/// The count of a resource in `cpu=3,node=1`.
fn of_list(list: &str, tres: &str) -> Option<u64> {
    let mut pairs = list.split(',').filter_map(|pair| pair.split_once('='));
    let (_, count) = pairs.find(|(name, _)| *name == tres)?;
    count.parse().ok()
}
