//! The site of a simulation before and after the changes that options ask for.

use super::super::args::ChangeArgs;
use super::super::cluster::{policy_file, refused as in_policy};
use super::super::{Failure, changes};
use super::refused;
use fairtree_analysis::simulate::{ChangedError, changed, cluster_of};
use fairtree_analysis::what_if::{OtherMachine, SiteChange};
use fairtree_model::input::recorded::read_conf;
use fairtree_model::input::slurm::machine::SCHEDULER_KEYS;
use fairtree_sim::slurm::scene::Setup;

/// A site before and after changes.
#[derive(Debug)]
pub(in super::super) struct Policies {
    /// Before.
    pub before: Setup,
    /// After; the same where nothing changes.
    pub after: Setup,
    /// The changes, a sentence each.
    pub changes: Vec<String>,
}

impl Policies {
    /// The site called `name`, and what options make of it.
    pub fn of(
        setup: Setup,
        name: &str,
        args: &ChangeArgs,
        nodes: &[String],
    ) -> Result<Policies, Failure> {
        let failed = |error: ChangedError| Failure::Usage(error.to_string());
        let mut before = setup;
        if let [first, _] = &args.policy[..] {
            let file = policy_file(first)?;
            let cluster = cluster_of(&before, name).map_err(|error| refused(name, &error))?;
            let config = cluster.config.clone().under_policy(&file);
            let config = config.map_err(in_policy)?;
            let change = SiteChange::Settings(Box::new(config), Vec::new());
            before = changed(&before, name, &[change]).map_err(failed)?;
        } else if args.policy.len() > 2 {
            return Err(Failure::Usage(format!(
                "--policy: found {} files, allowed are two: the policy before, and the one after",
                args.policy.len()
            )));
        }
        let mut asked = changes::of_site(args)?;
        let scheduler = asked.take_settings(|key| {
            let mut known = SCHEDULER_KEYS.iter();
            known.any(|own| own.eq_ignore_ascii_case(key))
        });
        let mut all = Vec::new();
        if let Some(path) = &args.slurm_conf {
            let (conf, machine) = read_conf(path, before.release)?;
            all.push(SiteChange::Machine(Box::new(OtherMachine {
                name: path.display().to_string(),
                machine,
                partitions: conf.partitions,
            })));
        }
        let base = changed(&before, name, &all).map_err(failed)?;
        let cluster = cluster_of(&base, name).map_err(|error| refused(name, &error))?;
        if !asked.is_empty() {
            all.extend(asked.of(&cluster)?);
        }
        let scheduler = scheduler.into_iter();
        all.extend(scheduler.map(|(key, value)| SiteChange::Scheduler { key, value }));
        for text in nodes {
            let allowed = "PARTITION=NUMBER, a number from 1";
            let (partition, count) = changes::numbered("--nodes", text, allowed)?;
            all.push(SiteChange::Nodes { partition, count });
        }
        let after = match all.is_empty() {
            true => before.clone(),
            false => changed(&before, name, &all).map_err(failed)?,
        };
        Ok(Policies {
            before,
            after,
            changes: all.iter().map(ToString::to_string).collect(),
        })
    }
}
