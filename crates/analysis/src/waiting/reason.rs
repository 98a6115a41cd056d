//! Reasons for which jobs wait, in sentences.
//!
//! The words are those of squeue(1), JOB REASON CODES. Names of limits are composed: who has the
//! limit (`Assoc`, `QOS`), whose jobs it counts (`Grp`, `PerUser`, `PerJob` ...), and of what.

use serde::Serialize;

/// A reason, taken apart.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reason {
    /// Slurm's word.
    pub word: String,
    /// The same in a sentence.
    pub text: String,
    /// True if waiting longer is enough; false where somebody has to act, or a limit has to free up.
    pub passes: bool,
    /// The resource of a limit on minutes that an association has used up, as `cpu`: its fill is in
    /// sshare's GrpTRESMins.
    pub minutes_of: Option<&'static str>,
}

/// Reasons that are no limits: word, sentence, does waiting help.
const PLAIN: &[(&str, &str, bool)] = &[
    ("Priority", "Jobs with a higher priority come first", true),
    (
        "Resources",
        "It is first in line and waits for resources to become free",
        true,
    ),
    (
        "Dependency",
        "It waits for another job that it depends on",
        true,
    ),
    (
        "DependencyNeverSatisfied",
        "A job that it depends on did not end as required: it will never start",
        false,
    ),
    ("BeginTime", "Its owner asked for a later start", true),
    (
        "JobHeldUser",
        "Its owner holds it: scontrol release starts its wait",
        false,
    ),
    ("JobHeldAdmin", "An administrator holds it", false),
    (
        "JobHoldMaxRequeue",
        "It was requeued too often and is held",
        false,
    ),
    (
        "JobArrayTaskLimit",
        "As many tasks of its array run as its owner allowed at once",
        true,
    ),
    ("Licenses", "It waits for licences", true),
    ("Reservation", "It waits for its reservation", true),
    ("ReservationDeleted", "Its reservation was deleted", false),
    (
        "ReqNodeNotAvail",
        "A node that it asks for is not available, or is reserved",
        true,
    ),
    ("NodeDown", "A node that it needs is down", true),
    (
        "BadConstraints",
        "No node has what it asks for: it will not start as it is",
        false,
    ),
    (
        "PartitionDown",
        "Its partition is down: an administrator has to open it",
        false,
    ),
    (
        "PartitionInactive",
        "Its partition starts no jobs at present",
        false,
    ),
    (
        "PartitionNodeLimit",
        "It asks for more or fewer nodes than its partition allows",
        false,
    ),
    (
        "PartitionTimeLimit",
        "Its time limit is longer than its partition allows",
        false,
    ),
    (
        "PartitionConfig",
        "It asks for something that its partition does not allow",
        false,
    ),
    ("InvalidAccount", "Its account is not valid", false),
    ("InvalidQOS", "Its QOS is not valid", false),
    (
        "QOSNotAllowed",
        "Its partition or association does not allow its QOS",
        false,
    ),
    (
        "AccountNotAllowed",
        "Its partition does not allow its account",
        false,
    ),
    (
        "QOSUsageThreshold",
        "Its fair share is below the threshold of its QOS",
        true,
    ),
    ("QOSJobLimit", "Its QOS has its maximum of jobs", true),
    (
        "QOSResourceLimit",
        "Its QOS has its maximum of a resource",
        true,
    ),
    ("QOSTimeLimit", "Its QOS has its maximum of time", true),
    (
        "AssociationJobLimit",
        "The association has its maximum of jobs",
        true,
    ),
    (
        "AssociationResourceLimit",
        "The association has its maximum of a resource",
        true,
    ),
    (
        "AssociationTimeLimit",
        "The association has its maximum of time",
        true,
    ),
    ("AccountingPolicy", "A limit of accounting stops it", false),
    (
        "Cleaning",
        "It was requeued, and its last run is still cleaned up",
        true,
    ),
    ("Prolog", "Its prolog runs", true),
    (
        "SchedDefer",
        "slurmctld does not try to start it at submission",
        true,
    ),
    (
        "DeadLine",
        "It cannot end before its deadline any more",
        false,
    ),
    (
        "BurstBufferResources",
        "It waits for room in a burst buffer",
        true,
    ),
    (
        "BurstBufferStageIn",
        "A burst buffer copies its files",
        true,
    ),
    (
        "BurstBufferOperation",
        "An operation of a burst buffer failed",
        false,
    ),
    ("PowerNotAvail", "It waits for power", true),
    ("PowerReserved", "Power is reserved for other jobs", true),
    ("FrontEndDown", "No front end is available", true),
    (
        "FedJobLock",
        "Another cluster of the federation holds its lock",
        true,
    ),
    (
        "MaxMemPerLimit",
        "It asks for more memory per node or CPU than allowed",
        false,
    ),
    ("SystemFailure", "A failure of the system stopped it", false),
    ("JobLaunchFailure", "Its last launch failed", false),
    ("NonZeroExitCode", "It ended with an error", false),
    ("TimeLimit", "It reached its time limit", false),
    ("InactiveLimit", "It was inactive for too long", false),
    ("OutOfMemory", "It ran out of memory", false),
];

/// Resources in the names of limits, as Slurm spells them, with our word and the TRES.
const RESOURCES: &[(&str, &str, &str)] = &[
    ("Billing", "billing units", "billing"),
    ("CPU", "CPUs", "cpu"),
    ("Cpu", "CPUs", "cpu"),
    ("Node", "nodes", "node"),
    ("Memory", "memory", "mem"),
    ("Mem", "memory", "mem"),
    ("GRES", "generic resources (GPUs and the like)", "gres"),
    ("License", "licences", "license"),
    ("Energy", "energy", "energy"),
    ("BB", "burst buffers", "bb"),
    ("SubmitJobs", "submitted jobs", ""),
    ("SubmitJob", "submitted jobs", ""),
    ("Jobs", "running jobs", ""),
    ("Job", "running jobs", ""),
    ("WallDuration", "time", ""),
    ("Wall", "time", ""),
    ("Unknown", "a resource", ""),
];

impl Reason {
    /// The reason of a word; words that are not known stay as they are.
    pub fn of(word: &str) -> Reason {
        let made = |text: String, passes, minutes_of| Reason {
            word: word.to_owned(),
            text,
            passes,
            minutes_of,
        };
        if let Some((_, text, passes)) = PLAIN.iter().find(|(known, ..)| *known == word) {
            return made((*text).to_owned(), *passes, None);
        }
        match limit(word) {
            Some((text, passes, minutes_of)) => made(text, passes, minutes_of),
            None => made(format!("Slurm gives the reason {word}"), true, None),
        }
    }
}

/// A name of a limit as a sentence; does waiting help; the TRES whose minutes are used up.
fn limit(word: &str) -> Option<(String, bool, Option<&'static str>)> {
    let (owner, rest) = if let Some(rest) = word.strip_prefix("Assoc") {
        ("its association or an account above", rest)
    } else {
        ("its QOS", word.strip_prefix("QOS").unwrap_or(word))
    };
    let rest = rest
        .strip_suffix("Limit")
        .or_else(|| rest.strip_suffix("NotSatisfied"))
        .unwrap_or(rest);
    let (kind, rest) = ["Grp", "Max", "Min"]
        .into_iter()
        .find_map(|kind| Some((kind, rest.strip_prefix(kind)?)))?;
    let (rest, scope) = [
        ("PerUser", "per user"),
        ("PerAccount", "per account"),
        ("PerJob", "per job"),
        ("PerNode", "per node"),
    ]
    .into_iter()
    .find_map(|(suffix, words)| Some((rest.strip_suffix(suffix)?, Some(words))))
    .unwrap_or((rest, None));
    let (rest, unit) = if let Some(rest) = rest.strip_suffix("RunMinutes") {
        (rest, "-minutes of running jobs")
    } else if let Some(rest) = rest.strip_suffix("Minutes") {
        (rest, "-minutes")
    } else {
        (rest, "")
    };
    let (_, what, tres) = RESOURCES.iter().find(|(spelt, ..)| *spelt == rest)?;
    let what = format!("{what}{unit}");
    Some(match kind {
        "Min" => (
            format!("It asks for less than the minimum of {what} that {owner} demands"),
            false,
            None,
        ),
        "Grp" => {
            let minutes = (unit == "-minutes" && word.starts_with("Assoc")).then_some(*tres);
            let text = format!(
                "The limit of {owner} on {what}, over all jobs together, is reached (Grp limit)"
            );
            // Used minutes decay only where usage does.
            (text, unit != "-minutes", minutes)
        }
        _ if scope == Some("per job") || scope == Some("per node") => {
            let scope = scope.unwrap_or_default();
            (
                format!("It asks for more than the limit of {owner} on {what} {scope}"),
                false,
                None,
            )
        }
        _ => {
            let scope = scope.map_or(String::new(), |scope| format!(" {scope}"));
            (
                format!("The limit of {owner} on {what}{scope} is reached"),
                true,
                None,
            )
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    // The words: squeue(1) of Slurm 22.05, and its source's list of reasons.
    #[test]
    fn limits_are_taken_apart() {
        let of = |word: &str| Reason::of(word);
        assert_eq!(of("AssocGrpCPUMinutesLimit").minutes_of, Some("cpu"));
        assert_eq!(of("AssocGrpBillingMinutes").minutes_of, Some("billing"));
        assert_eq!(of("QOSGrpCPUMinutesLimit").minutes_of, None);
        let per_user = of("QOSMaxJobsPerUserLimit");
        assert!(
            per_user.text.contains("running jobs per user"),
            "{}",
            per_user.text
        );
        assert!(per_user.passes);
        assert!(!of("AssocMaxWallDurationPerJobLimit").passes);
        assert!(of("QOSMinCpuNotSatisfied").text.contains("minimum of CPUs"));
        assert!(
            of("AssocGrpCPURunMinutesLimit")
                .text
                .contains("minutes of running jobs")
        );
        assert!(of("MaxCpuPerAccount").text.contains("CPUs per account"));
        assert!(of("Resources").passes && !of("JobHeldUser").passes);
        assert_eq!(of("x<y").text, "Slurm gives the reason x<y");
    }
}
