//! From a log of jobs to the associations that used something.

use std::io::BufRead;

use super::Failure;
use super::cluster::refused;
use fairtree::config::{Config, PolicyFile, UsageModel};
use fairtree_analysis::history::{OwnerHistory, Placed, on_site, own_site, plans_on};
use fairtree_model::input::site::Site;
use fairtree_model::input::workload::Summary;
use fairtree_model::input::{Format, sacct, swf};
use fairtree_render::chart::span;

/// The usage of the jobs of a log.
pub(super) struct Gathered {
    /// Over time.
    pub history: OwnerHistory,
    /// The log's own summary.
    pub summary: Summary,
}

/// By which settings the use of a log counts, and on which site.
pub(super) struct Counting {
    /// The settings.
    pub config: Config,
    /// `None`: the log's own.
    site: Option<Site>,
    /// The policy whose accounts must exist.
    policy: Option<PolicyFile>,
}

impl Counting {
    /// By the settings of a site, or else slurm.conf's defaults, and a policy instead of theirs.
    ///
    /// # Errors
    /// Those of [`Config::under_policy`]; accounts that the site does not have.
    pub fn new(site: Option<Site>, policy: Option<&PolicyFile>) -> Result<Counting, Failure> {
        let mut counting = Counting {
            config: Config::default(),
            site,
            policy: policy.cloned(),
        };
        if let (Some(site), Some(policy)) = (&mut counting.site, policy) {
            site.follow_policy(policy).map_err(refused)?;
        }
        counting.config = match (&counting.site, policy) {
            (Some(site), _) => site.config.clone(),
            (None, Some(policy)) => {
                let config = counting.config.under_policy(policy);
                config.map_err(refused)?
            }
            (None, None) => counting.config,
        };
        Ok(counting)
    }

    /// The models of accounts that have one of their own, or whose account above has.
    fn plans(&self) -> Vec<(String, UsageModel)> {
        match &self.site {
            Some(site) => plans_on(&self.config, site),
            None => {
                let own = self.config.accounts.iter();
                let own = own.filter_map(|row| Some((row.account.clone(), row.plan?)));
                own.collect()
            }
        }
    }
}

/// Reads a log. `options` are for listings of sacct.
pub(super) fn gather<'a>(
    name: &'a str,
    format: Format,
    input: impl BufRead,
    options: sacct::Options<'a>,
    counting: &Counting,
) -> Result<Gathered, Failure> {
    let history = OwnerHistory::of(&counting.config);
    let mut history = history.with_plans(counting.plans().into_iter());
    let mut each = |job: &fairtree_model::input::workload::JobUse<'_>| history.charge(job);
    let summary = match format {
        Format::Swf => swf::read(name, input, &mut each)?,
        _ => sacct::read(name, input, options, &mut each)?,
    };
    if summary.billed {
        history.bill();
    }
    Ok(Gathered { history, summary })
}

impl Gathered {
    /// The associations: those of the site, or else those that the log itself names.
    pub fn place(&self, name: &str, counting: Counting) -> Result<Placed, Failure> {
        let Counting {
            config,
            site,
            policy,
        } = counting;
        let mut placed = match site {
            Some(site) => on_site(site, &self.history),
            None => own_site(name, &config, &self.history)?,
        };
        if let Some(policy) = policy {
            let known = |name: &str| placed.site.account(name).is_some();
            policy.check_accounts(known).map_err(refused)?;
            let find = |name: &str| placed.site.account(name);
            let config = &placed.site.config;
            config
                .check_minutes(&placed.site.tree, find)
                .map_err(refused)?;
        }
        if placed.site.cluster.is_none() {
            placed.site.cluster.clone_from(&self.summary.machine);
        }
        let mut notes = vec![format!(
            "{} jobs used something, {} nothing",
            self.summary.jobs, self.summary.idle
        )];
        if let Some(end) = self.history.times().last() {
            let end = jiff::Timestamp::from_second(*end).unwrap_or_default();
            let half_life = span(self.history.half_life_secs());
            notes.push(match self.history.half_life_secs() {
                0 if config.usage() != UsageModel::HalfLife => {
                    format!("usage as of {end}, by usage={}", config.usage())
                }
                0 => format!("usage as of {end}, without decay"),
                _ => format!("usage as of {end}, with a half-life of {half_life}"),
            });
        }
        let planned = config.accounts.iter();
        notes.extend(planned.filter_map(|row| {
            let (account, plan) = (&row.account, row.plan?);
            Some(format!(
                "usage of {account} and below it by its plan, {plan}"
            ))
        }));
        notes.extend(self.summary.notes.iter().cloned());
        notes.append(&mut placed.notes);
        placed.site.assumptions.clone_from(&notes);
        placed.notes = notes;
        Ok(placed)
    }
}
