//! A job of a cluster's past or present, with names resolved.

use fairtree_model::input::recorded::RecordedJob;
use fairtree_model::machine::Machine;

use super::run_times::RunTimes;
use crate::job::Job;
use crate::slurm::ask::{Ask, Unknown};
use crate::slurm::life::{Life, lives};
use crate::slurm::site::Site;
use crate::slurm::timeline::ask;

/// A job of the past or the present. Moments are seconds since 1970.
#[derive(Clone, Debug)]
pub(super) struct Known {
    pub ask: Ask,
    /// Its conditions name jobs by their numbers.
    pub life: Life,
    /// When it could have started.
    pub ready: i64,
    pub start: Option<i64>,
    pub end: Option<i64>,
    /// Its limit, seconds; `None`: it has none.
    pub limit_secs: Option<i64>,
    /// Positions of its nodes.
    pub nodes: Vec<usize>,
    /// CPUs that it has.
    pub cpus: u32,
    /// What it uses per second.
    pub billing: f64,
    /// It waits or runs now.
    pub is_present: bool,
    /// It has memory and generic resources of its nodes, and no CPUs.
    pub is_suspended: bool,
}

impl Known {
    pub fn runs_at(&self, moment: i64) -> bool {
        let began = self.start.is_some_and(|start| start <= moment);
        began && self.end.is_none_or(|end| end > moment)
    }

    pub fn waits_at(&self, moment: i64) -> bool {
        let waits = self.start.is_none_or(|start| start > moment);
        // A job of the present that is not eligible yet waits, too.
        let there = self.ask.submit <= moment && (self.is_present || self.ready <= moment);
        there && waits && self.end.is_none_or(|end| end > moment)
    }

    /// Returns true if it ended and its run says how long jobs of its user run.
    pub fn tells(&self) -> bool {
        let ran = self.start.zip(self.end).is_some_and(|(a, b)| b > a);
        ran && self.limit_secs.is_some_and(|limit| limit > 0)
    }

    /// Adds its run to those of its user.
    pub fn tell(&self, history: &mut RunTimes) {
        if let (Some(start), Some(end), Some(limit_secs)) = (self.start, self.end, self.limit_secs)
        {
            let job = Job {
                submit: self.ask.submit,
                run_secs: (end - start).clamp(1, limit_secs.max(1)),
                limit_secs: limit_secs.max(1),
                processors: 1,
            };
            history.ended(self.ask.user, &job);
        }
    }
}

/// The jobs of a list; those that name something that the machine does not have go to `unknown`, by
/// number, with this name.
pub(super) fn all(
    machine: &Machine,
    site: &mut Site,
    list: &[RecordedJob],
    is_present: bool,
    unknown: &mut Vec<(u32, String)>,
) -> Vec<Known> {
    let mut found = Vec::with_capacity(list.len());
    for (job, mut life) in list.iter().zip(lives(list)) {
        for condition in &mut life.conditions {
            for other in &mut condition.jobs {
                *other = list[*other].id as usize;
            }
        }
        match known(machine, site, job, life, is_present) {
            Ok(known) => found.push(known),
            Err(Unknown(name)) => unknown.push((job.id, name)),
        }
    }
    found
}

fn known(
    machine: &Machine,
    site: &mut Site,
    job: &RecordedJob,
    life: Life,
    is_present: bool,
) -> Result<Known, Unknown> {
    let secs = |ms: i64| ms.div_euclid(1000);
    let submit = secs(job.submit_ms);
    let ask = ask(machine, site, job).map_err(Unknown)?;
    let partition = &machine.partitions[ask.partitions[0]];
    let own = partition.default_time_mins.or(partition.max_time_mins);
    let limit_secs = ask.limit_secs.or(own.map(|mins| i64::from(mins) * 60));
    let ready = job.eligible_ms.map_or(submit, secs).max(submit);
    let nodes = job.nodes.iter().filter_map(|name| machine.node(name));
    let billing = job
        .billing
        .map_or(f64::from(job.allocated_cpus), |billing| billing as f64);
    Ok(Known {
        ready,
        start: job.start_ms.map(secs),
        end: job.end_ms.map(secs),
        limit_secs,
        nodes: nodes.collect(),
        cpus: job.allocated_cpus,
        billing: billing * site.usage_factor(ask.qos),
        is_present,
        is_suspended: job.state == "SUSPENDED",
        ask,
        life,
    })
}
