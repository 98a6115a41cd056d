//! The limit that a reason names: whose it is, how much it allows, and how full it is.
//!
//! The words are those of `job_reason_string` of Slurm 22.05.8 to 24.11.5 (slurm_protocol_defs.c):
//! `Assoc` or `QOS`, `Grp` or `Max`, a resource, and over what it counts. What is in use is added up
//! over the running jobs that the input has; usage in minutes is that of the pass before.

use serde::Serialize;

use fairtree::priority::{Job, TimeLimit};
use fairtree::tree::AssocIndex;
use fairtree_model::cluster::{Cluster, ClusterJob, JobPhase, Names};
use fairtree_model::input::slurm::config::hides_jobs;
use fairtree_model::input::slurm::limits::Limits;

/// A limit that keeps a job from starting.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reached {
    /// `association` or `qos`.
    pub of: &'static str,
    /// The association or QOS that sets it; `None` where the input does not have the limit.
    pub name: Option<String>,
    /// sacctmgr's name of the limit, as `GrpTRES`.
    pub limit: &'static str,
    /// The resource; `None`: jobs or time, or it is not known which.
    pub tres: Option<String>,
    /// The most that is allowed: jobs, a count (memory in megabytes), minutes; `None`: not known.
    pub most: Option<u64>,
    /// In use by running jobs; `None`: not known, or the limit is one of a single job.
    pub used: Option<u64>,
    /// How much this job asks for.
    pub asks: Option<u64>,
}

/// Over what a limit counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Over {
    /// All jobs at and below an association, or of a QOS.
    Group,
    /// Those of a user in a QOS.
    User,
    /// Those of an account in a QOS.
    Account,
    /// A single job.
    Job,
}

/// A reason in parts.
struct Parts {
    is_qos: bool,
    column: &'static str,
    /// Slurm's word of the resource, in lower case; empty: jobs, or time.
    resource: String,
    over: Over,
}

/// Reads a word such as `AssocGrpCpuLimit`; `None` where it names no limit.
fn parts(reason: &str) -> Option<Parts> {
    let (is_qos, rest) = match (reason.strip_prefix("QOS"), reason.strip_prefix("Assoc")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest.strip_prefix("iation").unwrap_or(rest)),
        // MaxCpuPerAccount and others belong to a QOS.
        _ if reason.ends_with("PerAccount") => (true, reason),
        _ => return None,
    };
    let rest = rest.strip_suffix("Limit").unwrap_or(rest);
    // AssociationJobLimit, QOSJobLimit: GrpJobs, in the words of older releases.
    if rest == "Job" || rest == "GrpJobs" {
        return Some(Parts {
            is_qos,
            column: "GrpJobs",
            resource: String::new(),
            over: Over::Group,
        });
    }
    let (group, rest) = match (rest.strip_prefix("Grp"), rest.strip_prefix("Max")) {
        (Some(rest), _) => (true, rest),
        (_, Some(rest)) => (false, rest),
        _ => return None,
    };
    let ends = [
        ("PerUser", Over::User),
        ("PerAccount", Over::Account),
        ("PerJob", Over::Job),
    ];
    let end = ends
        .into_iter()
        .find_map(|(end, over)| Some((rest.strip_suffix(end)?, over)));
    let (rest, over) = match end {
        _ if group => (rest, Over::Group),
        Some(found) => found,
        None => (rest, Over::Group),
    };
    let none = String::new();
    let (column, resource) = match (rest, over) {
        ("Jobs", Over::User) => ("MaxJobsPU", none),
        ("Jobs", Over::Account) => ("MaxJobsPA", none),
        ("Jobs", _) => ("MaxJobs", none),
        ("SubmitJobs", Over::Group) if group => ("GrpSubmit", none),
        ("SubmitJob" | "SubmitJobs", Over::User) => ("MaxSubmitPU", none),
        ("SubmitJob" | "SubmitJobs", Over::Account) => ("MaxSubmitPA", none),
        ("SubmitJob" | "SubmitJobs", _) => ("MaxSubmit", none),
        ("Wall", _) => ("GrpWall", none),
        ("WallDuration", _) => ("MaxWall", none),
        (rest, Over::Group) if group => match rest.strip_suffix("RunMinutes") {
            Some(resource) => ("GrpTRESRunMins", resource.to_ascii_lowercase()),
            None => match rest.strip_suffix("Minutes") {
                Some(resource) => ("GrpTRESMins", resource.to_ascii_lowercase()),
                None => ("GrpTRES", rest.to_ascii_lowercase()),
            },
        },
        (rest, Over::User) => ("MaxTRESPU", rest.to_ascii_lowercase()),
        (rest, Over::Account) => ("MaxTRESPA", rest.to_ascii_lowercase()),
        (rest, Over::Job) => ("MaxTRES", rest.to_ascii_lowercase()),
        _ => return None,
    };
    Some(Parts {
        is_qos,
        column,
        resource,
        over,
    })
}

/// Returns true if a resource of the site is of the kind that a reason names.
fn is_of_kind(tres: &str, resource: &str) -> bool {
    match resource {
        "memory" => tres == "mem",
        "gres" => tres.starts_with("gres/"),
        "license" => tres.starts_with("license/"),
        "bb" => tres.starts_with("bb/"),
        "unknown" => true,
        resource => tres == resource,
    }
}

/// The limit of a reason; `None` where the word names none.
pub(super) fn of(cluster: &Cluster, job: &ClusterJob, reason: &str) -> Option<Reached> {
    let parts = parts(reason)?;
    let holders = holders(cluster, job, parts.is_qos);
    let mut found: Option<Reached> = None;
    for holder in &holders {
        for limit in &holder.limits.0 {
            let fits = match &limit.tres {
                Some(tres) => is_of_kind(tres, &parts.resource),
                None => parts.resource.is_empty(),
            };
            if limit.column != parts.column || !fits {
                continue;
            }
            let tres = limit.tres.as_deref();
            let asks = asks(cluster, job, parts.column, tres);
            let used = used(cluster, job, &parts, holder, tres);
            let reached = Reached {
                of: if parts.is_qos { "qos" } else { "association" },
                name: Some(holder.name.clone()),
                limit: parts.column,
                tres: limit.tres.clone(),
                most: Some(limit.most),
                used,
                asks,
            };
            let full = used.unwrap_or(0).saturating_add(asks.unwrap_or(0)) > limit.most;
            // The nearest that is full; else the nearest.
            if full {
                return Some(reached);
            }
            found = found.or(Some(reached));
        }
    }
    Some(found.unwrap_or(Reached {
        of: if parts.is_qos { "qos" } else { "association" },
        name: None,
        limit: parts.column,
        tres: None,
        most: None,
        used: None,
        asks: None,
    }))
}

/// Somebody who sets limits.
struct Holder<'a> {
    name: String,
    limits: &'a Limits,
    assoc: Option<AssocIndex>,
}

/// The QOS of a job, or its association and those above, the nearest first, as far as they have
/// limits.
fn holders<'a>(cluster: &'a Cluster, job: &ClusterJob, is_qos: bool) -> Vec<Holder<'a>> {
    let mut holders = Vec::new();
    if is_qos {
        let qos = job.job.qos.map(|at| &cluster.qos[at.get()]);
        holders.extend(qos.and_then(|qos| {
            Some(Holder {
                name: qos.name.clone(),
                limits: qos.limits.as_deref()?,
                assoc: None,
            })
        }));
        return holders;
    }
    for at in cluster.tree().upward(job.job.assoc) {
        let limits = cluster.listed(at).and_then(|row| row.limits.as_deref());
        holders.extend(limits.map(|limits| Holder {
            name: cluster.assoc(at),
            limits,
            assoc: Some(at),
        }));
    }
    holders
}

/// The count of a resource of a job.
pub(super) fn count(cluster: &Cluster, job: &Job, tres: &str) -> Option<u64> {
    let at = cluster
        .tables
        .tres_names
        .iter()
        .position(|name| name == tres)?;
    let start = job.tres?;
    cluster.tables.tres_counts.get(start.get() + at).copied()
}

fn asks(cluster: &Cluster, job: &ClusterJob, column: &str, tres: Option<&str>) -> Option<u64> {
    let minutes = match job.job.time_limit {
        TimeLimit::Minutes(minutes) => Some(u64::from(minutes)),
        TimeLimit::Unset | TimeLimit::Unlimited => None,
    };
    match (column, tres) {
        ("MaxWall", _) => minutes,
        ("GrpTRESRunMins" | "GrpTRESMins", Some(tres)) => {
            minutes?.checked_mul(count(cluster, &job.job, tres)?)
        }
        ("GrpTRES" | "MaxTRES" | "MaxTRESPU" | "MaxTRESPA", Some(tres)) => {
            count(cluster, &job.job, tres)
        }
        ("GrpJobs" | "MaxJobs" | "MaxJobsPU" | "MaxJobsPA", None) => Some(1),
        _ => None,
    }
}

/// In use by running jobs; `None` where that does not follow from them.
fn used(
    cluster: &Cluster,
    job: &ClusterJob,
    parts: &Parts,
    holder: &Holder<'_>,
    tres: Option<&str>,
) -> Option<u64> {
    let counts = matches!(
        parts.column,
        "GrpJobs" | "GrpTRES" | "MaxJobs" | "MaxJobsPU" | "MaxJobsPA" | "MaxTRESPU" | "MaxTRESPA"
    );
    // Without the jobs of others the sum would be too small.
    if !counts || hides_jobs(&cluster.private_data) {
        return None;
    }
    let counted = cluster.jobs().iter().filter(|other| {
        if other.phase != JobPhase::Running {
            return false;
        }
        let in_holder = match holder.assoc {
            Some(top) => is_below(cluster, other.job.assoc, top),
            None => other.job.qos == job.job.qos,
        };
        in_holder
            && match parts.over {
                Over::User => other.user == job.user,
                Over::Account => other.account == job.account,
                Over::Group | Over::Job => true,
            }
    });
    Some(match tres {
        None => counted.count() as u64,
        Some(tres) => counted
            .filter_map(|other| count(cluster, &other.job, tres))
            .sum(),
    })
}

fn is_below(cluster: &Cluster, assoc: Option<AssocIndex>, top: AssocIndex) -> bool {
    cluster.tree().upward(assoc).any(|at| at == top)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Words: slurm_protocol_defs.c of 22.05.8 and slurm.h of 24.11.5; limits: sacctmgr(1).
    #[test]
    fn words_of_limits() {
        for (reason, is_qos, column, resource) in [
            ("AssocGrpCpuLimit", false, "GrpTRES", "cpu"),
            ("AssocGrpMemLimit", false, "GrpTRES", "mem"),
            ("AssocGrpCPUMinutesLimit", false, "GrpTRESMins", "cpu"),
            ("AssocGrpCPURunMinutesLimit", false, "GrpTRESRunMins", "cpu"),
            ("AssocGrpBilling", false, "GrpTRES", "billing"),
            ("AssocGrpWallLimit", false, "GrpWall", ""),
            ("AssocGrpJobsLimit", false, "GrpJobs", ""),
            ("AssociationJobLimit", false, "GrpJobs", ""),
            ("AssocMaxJobsLimit", false, "MaxJobs", ""),
            ("AssocMaxWallDurationPerJobLimit", false, "MaxWall", ""),
            ("AssocMaxCpuPerJobLimit", false, "MaxTRES", "cpu"),
            ("QOSMaxJobsPerUserLimit", true, "MaxJobsPU", ""),
            ("QOSMaxCpuPerUserLimit", true, "MaxTRESPU", "cpu"),
            ("QOSMaxMemoryPerUser", true, "MaxTRESPU", "memory"),
            ("QOSGrpGRES", true, "GrpTRES", "gres"),
            ("QOSJobLimit", true, "GrpJobs", ""),
            ("QOSMaxWallDurationPerJobLimit", true, "MaxWall", ""),
            ("MaxCpuPerAccount", true, "MaxTRESPA", "cpu"),
            ("MaxJobsPerAccount", true, "MaxJobsPA", ""),
            ("QOSMaxSubmitJobPerUserLimit", true, "MaxSubmitPU", ""),
        ] {
            let found = parts(reason).unwrap_or_else(|| panic!("{reason}"));
            assert_eq!(
                (found.is_qos, found.column, found.resource.as_str()),
                (is_qos, column, resource),
                "{reason}"
            );
        }
        for reason in [
            "Priority",
            "PartitionTimeLimit",
            "QOSNotAllowed",
            "Licenses",
        ] {
            assert!(parts(reason).is_none(), "{reason}");
        }
    }
}
