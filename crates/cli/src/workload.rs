//! From a log of jobs to the associations that used something.

use std::io::BufRead;

use super::Failure;
use fairtree::config::{Config, UsageModel};
use fairtree_analysis::history::{History, Placed, on_site, own_site};
use fairtree_model::input::site::Site;
use fairtree_model::input::workload::Summary;
use fairtree_model::input::{Format, sacct, swf};
use fairtree_render::chart::span;

/// What the jobs of a log used.
pub(super) struct Gathered {
    /// Over time.
    pub history: History,
    /// What the log says of itself.
    pub summary: Summary,
}

/// Reads a log, whose usage decays as `config` says. `options` are for listings of sacct.
pub(super) fn gather<'a>(
    name: &'a str,
    format: Format,
    input: impl BufRead,
    options: sacct::Options<'a>,
    config: &Config,
) -> Result<Gathered, Failure> {
    let mut history = History::of(config);
    let mut each = |job: &fairtree_model::input::workload::JobUse<'_>| history.charge(job);
    let summary = match format {
        Format::Swf => swf::read(name, input, &mut each)?,
        _ => sacct::read(name, input, options, &mut each)?,
    };
    Ok(Gathered { history, summary })
}

impl Gathered {
    /// The associations: those of `site`, or else those that the log itself names.
    pub fn place(
        &self,
        name: &str,
        site: Option<Site>,
        config: &Config,
    ) -> Result<Placed, Failure> {
        let mut placed = match site {
            Some(site) => on_site(site, &self.history),
            None => own_site(name, config, &self.history)?,
        };
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
        if config.accounts.iter().any(|row| row.plan.is_some()) {
            notes.push("plans of accounts are not followed: all usage counts by usage=".to_owned());
        }
        notes.extend(self.summary.notes.iter().cloned());
        notes.append(&mut placed.notes);
        placed.site.assumptions.clone_from(&notes);
        placed.notes = notes;
        Ok(placed)
    }
}
