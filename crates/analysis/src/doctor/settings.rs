//! The plugin's requirements on the rest of Slurm: slurmdbd, associations, close passes.

use super::facts::Facts;
use super::finding::{Diagnosis, Level};

const SLURMDBD: &str = "slurmdbd";
const LIMITS: &str = "limits";
const IN_FORCE: &str = "in-force";
const SETTINGS: &str = "settings";

/// Words of `AccountingStorageEnforce` with which a job must have an association
/// (slurm.conf(5), "AccountingStorageEnforce"). Numbers are those of Slurm before 2.0, which are still
/// read.
const ENFORCES: [&str; 8] = [
    "associations",
    "limits",
    "qos",
    "safe",
    "wckeys",
    "all",
    "1",
    "2",
];

/// Passes may be as far apart as this, seconds: an hour.
const LONGEST_PERIOD_SECS: u32 = 3600;

/// Checks that there is a database that knows this cluster.
pub(super) fn slurmdbd(facts: &Facts, found: &mut Diagnosis) {
    let settings = match &facts.settings {
        Ok(settings) => settings,
        Err(why) => return found.say(SLURMDBD, Level::Unknown, why.as_str()),
    };
    if !settings.has_slurmdbd() {
        let text = "AccountingStorageType does not name slurmdbd: there are no associations, so no \
                    job has a fair-share factor";
        return match settings.weighs_fair_share {
            true => found.advise(
                SLURMDBD,
                Level::Warning,
                text,
                "set AccountingStorageType=accounting_storage/slurmdbd, or PriorityWeightFairshare=0",
            ),
            false => found.say(SLURMDBD, Level::Note, text),
        };
    }
    let clusters = match &facts.clusters {
        Ok(clusters) => clusters,
        Err(why) if facts.offline => return found.say(SLURMDBD, Level::Unknown, why.as_str()),
        Err(why) => {
            return found.advise(
                SLURMDBD,
                Level::Warning,
                format!("slurmdbd does not answer: {why}"),
                "start it: slurmctld goes on with the shares that it knows, but a slurmctld that \
                 starts without it may know none",
            );
        }
    };
    match &settings.cluster {
        Some(name)
            if !clusters
                .iter()
                .any(|known| known.eq_ignore_ascii_case(name)) =>
        {
            found.advise(
                SLURMDBD,
                Level::Error,
                format!("slurmdbd answers, but does not know the cluster {name}"),
                format!("sacctmgr add cluster {name}"),
            );
        }
        _ => found.say(
            SLURMDBD,
            Level::Ok,
            "slurmdbd answers and knows the cluster",
        ),
    }
}

/// Checks that every job has an association, and that passes are close.
pub(super) fn limits(facts: &Facts, found: &mut Diagnosis) {
    let settings = match &facts.settings {
        Ok(settings) => settings,
        Err(why) => return found.say(LIMITS, Level::Unknown, why.as_str()),
    };
    let before = found.findings.len();
    let words = settings.enforce.as_deref().unwrap_or("");
    let enforced = words.split(',').map(str::trim).any(|word| {
        let mut known = ENFORCES.iter();
        known.any(|known| known.eq_ignore_ascii_case(word))
    });
    if !enforced && settings.weighs_fair_share {
        found.advise(
            LIMITS,
            Level::Warning,
            "AccountingStorageEnforce does not include associations: jobs of users without one run, \
             have no fair-share factor, and are charged to nobody",
            "set AccountingStorageEnforce=associations,limits,qos",
        );
    }
    let period = settings.period_secs;
    if period > LONGEST_PERIOD_SECS {
        found.advise(
            LIMITS,
            Level::Warning,
            format!(
                "passes are {} minutes apart: priorities are of usage that is as old",
                period / 60
            ),
            "set PriorityCalcPeriod to 5 minutes, or calc_period= of PriorityParameters to fewer seconds",
        );
    }
    let half_life = settings.half_life_secs;
    if half_life > 0 && half_life < period.saturating_mul(2) {
        found.advise(
            LIMITS,
            Level::Warning,
            format!(
                "usage halves every {half_life} seconds, but a pass is made every {period} seconds"
            ),
            "shorten PriorityCalcPeriod, or lengthen PriorityDecayHalfLife",
        );
    }
    if found.findings.len() == before {
        let text = format!("jobs have associations, and passes are {period} seconds apart");
        let text = match enforced {
            true => text,
            false => format!("fair share has no weight, and passes are {period} seconds apart"),
        };
        found.say(LIMITS, Level::Ok, text);
    }
}

/// Compares the settings in force with slurm.conf, and asks if slurmctld's next start takes the file.
pub(super) fn in_force(facts: &Facts, found: &mut Diagnosis) {
    let beside = match &facts.in_force {
        Ok(beside) => beside,
        Err(why) => return found.say(IN_FORCE, Level::Unknown, why.as_str()),
    };
    let before = found.findings.len();
    let file = &beside.file;
    if let Some(why) = &beside.refused {
        found.advise(
            IN_FORCE,
            Level::Error,
            format!(
                "the plugin refuses settings of {file}: {why}; a running slurmctld keeps the former \
                 settings, but its next start ends with this error"
            ),
            format!("correct {file} before slurmctld is started again, then scontrol reconfigure"),
        );
    }
    match &beside.apart {
        Ok(apart) if apart.is_empty() => {}
        Ok(apart) => {
            let each = apart.iter().map(|one| {
                let (key, absent) = (&one.key, "not set");
                let in_file = one.in_file.as_deref().unwrap_or(absent);
                let in_force = one.in_force.as_deref().unwrap_or(absent);
                format!("{key} is {in_force} in force, {in_file} in the file")
            });
            let each: Vec<String> = each.collect();
            found.advise(
                IN_FORCE,
                Level::Warning,
                format!(
                    "slurmctld has other settings than {file}: {}",
                    each.join("; ")
                ),
                "scontrol reconfigure takes those of the file; PriorityType changes at a restart",
            );
        }
        Err(why) if found.findings.len() == before => {
            found.say(IN_FORCE, Level::Unknown, why.as_str());
        }
        Err(_) => {}
    }
    if found.findings.len() == before {
        let text = format!("the priority settings in force are those of {file}");
        found.say(IN_FORCE, Level::Ok, text);
    }
}

/// Reports the findings of the linter.
pub(super) fn linted(facts: &Facts, found: &mut Diagnosis) {
    let (errors, warnings, name) = match &facts.linted {
        Ok(linted) => linted,
        Err(why) => return found.say(SETTINGS, Level::Unknown, why.as_str()),
    };
    let level = match (errors, warnings) {
        (0, 0) => return found.say(SETTINGS, Level::Ok, format!("{name} has no bad settings")),
        (0, _) => Level::Warning,
        _ => Level::Error,
    };
    let plural = |count: usize| if count == 1 { "" } else { "s" };
    found.advise(
        SETTINGS,
        level,
        format!(
            "the linter has {errors} error{} and {warnings} warning{} for {name}",
            plural(*errors),
            plural(*warnings)
        ),
        format!("fairtree lint {name} tells each with its line"),
    );
}
