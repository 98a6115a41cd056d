//! Checks in a private cluster: real users, real jobs, checked with Slurm's own commands.
//!
//! Each check starts its own cluster. Checks wait for conditions; nothing depends on the speed of
//! the machine.

mod busy;
mod bytes;
mod clock;
mod compare;
mod disk;
mod fault;
pub mod fixture;
mod guides;
mod hostile;
mod ledger;
mod lives;
mod minutes;
mod model;
mod neighbours;
mod numbers;
mod orders;
mod persons;
mod recipes;
mod recorded;
mod service;
pub mod settings;
mod side_by_side;
mod slow_disk;
mod sprio_rows;
pub mod steady;
mod sweeps;
mod takeover;
mod teardown;
mod two_clusters;
mod usage;
mod what_if;
mod windows;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use libtest_mimic::Trial;

use crate::cluster::Cluster;
use crate::harness::{self, Bed};
use xtask::every::Every;
use xtask::progress::Progress;
use xtask::project;
use xtask::release::Release;

pub use teardown::hold_of_arguments;

/// A running check; it starts clusters.
pub struct Check<'a> {
    /// Slurm's release.
    pub release: &'a Release,
    progress: &'a Progress,
    name: &'static str,
    /// Name of the cluster, if the check has several at once.
    part: &'static str,
}

impl Check<'_> {
    /// Starts a cluster, runs `body` in it, and saves the daemons' logs if that fails.
    pub fn in_cluster<T>(
        &self,
        plan: &crate::cluster::Plan,
        body: impl FnOnce(&mut Cluster) -> Result<T>,
    ) -> Result<T> {
        let mut cluster = Cluster::start(plan, self.progress)?;
        self.step("at work");
        body(&mut cluster).with_context(|| match self.save_logs(&cluster) {
            Ok(folder) => format!("the daemons' logs are in {folder}"),
            Err(error) => format!("the daemons' logs could not be saved ({error:#})"),
        })
    }

    /// Shows the current step of the check.
    pub fn step(&self, what: &str) {
        let part = self.part;
        let space = if part.is_empty() { "" } else { " " };
        self.progress
            .step(format!("{}{space}{part}: {what}", self.name));
    }

    /// The check in one of several clusters that run at the same time.
    pub fn part(&self, part: &'static str) -> Check<'_> {
        Check {
            release: self.release,
            progress: self.progress,
            name: self.name,
            part,
        }
    }

    fn save_logs(&self, cluster: &Cluster) -> Result<String> {
        save_logs(cluster, self.name, self.part)
    }
}

/// Copies a cluster's logs and settings to a folder that stays, and returns its name.
///
/// # Errors
/// Fails if files cannot be read or written.
pub fn save_logs(cluster: &Cluster, name: &str, part: &str) -> Result<String> {
    let logs = project::root().join("target/cluster-logs");
    let folder = logs.join(name).join(part);
    fs::create_dir_all(&folder)?;
    copy_files(&cluster.path().join("log"), &folder)?;
    copy_files(&cluster.path().join("etc"), &folder)?;
    Ok(folder.display().to_string())
}

fn copy_files(from: &Path, to: &Path) -> Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            continue;
        }
        fs::copy(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}

/// The function of a check.
type Body = fn(&Check) -> Result<()>;

const CHECKS: &[(&str, Every, Body)] = &[
    (
        "a_cluster_leaves_nothing",
        Every::Commit,
        teardown::leaves_nothing,
    ),
    (
        "numbers_are_the_engines",
        Every::CommitAndRelease,
        numbers::documented,
    ),
    (
        "numbers_with_compat_slurm_are_the_engines",
        Every::Commit,
        numbers::compat_slurm,
    ),
    (
        "numbers_of_the_stock_plugin_are_those_of_compat_slurm",
        Every::Night,
        numbers::stock,
    ),
    (
        "classic_numbers_are_the_engines",
        Every::Commit,
        numbers::classic,
    ),
    (
        "numbers_of_other_rankings_are_the_engines",
        Every::Night,
        numbers::rankings,
    ),
    (
        "jobs_start_in_their_order",
        Every::CommitAndRelease,
        orders::least_used,
    ),
    (
        "a_reconfigure_puts_jobs_in_order",
        Every::Commit,
        orders::by_a_reconfigure,
    ),
    (
        "a_policy_file_gives_minutes",
        Every::Night,
        orders::by_minutes,
    ),
    (
        "coordinators_give_minutes_as_shares",
        Every::Night,
        minutes::by_coordinators,
    ),
    (
        "coordinators_give_shares_on_pages",
        Every::Night,
        service::by_coordinators,
    ),
    ("run_times_are_learned", Every::Night, orders::by_history),
    ("recipes_by_shares_work", Every::Night, recipes::by_shares),
    ("a_recipe_of_hubs_works", Every::Night, recipes::hubs),
    (
        "a_recipe_of_instances_works",
        Every::Night,
        recipes::instances,
    ),
    (
        "a_recipe_of_a_machine_on_demand_works",
        Every::Night,
        recipes::on_demand,
    ),
    (
        "restarts_lose_no_usage",
        Every::CommitAndRelease,
        usage::restarts_lose_nothing,
    ),
    (
        "a_crash_between_passes_loses_no_end",
        Every::Commit,
        usage::a_crash_between_passes_loses_no_end,
    ),
    (
        "switching_plugins_keeps_usage",
        Every::Commit,
        usage::switching_keeps_usage,
    ),
    (
        "a_limit_holds_in_a_window",
        Every::Commit,
        windows::a_limit_in_a_window,
    ),
    (
        "ends_that_do_not_count_are_taken_back",
        Every::Commit,
        windows::ends_that_do_not_count,
    ),
    (
        "restarts_lose_no_use_in_a_window",
        Every::Night,
        windows::restarts,
    ),
    (
        "a_crash_between_passes_loses_no_end_in_a_window",
        Every::Night,
        windows::a_crash_between_passes,
    ),
    (
        "another_model_and_back_keeps_the_window",
        Every::Night,
        windows::another_model_and_back,
    ),
    (
        "use_of_two_clusters_counts_once",
        Every::Commit,
        two_clusters::count_once,
    ),
    (
        "a_busy_site_agrees_with_itself",
        Every::Commit,
        busy::agrees,
    ),
    (
        "reconfigure_takes_weights_and_flags",
        Every::Commit,
        settings::reconfigure,
    ),
    (
        "bad_parameters_are_refused",
        Every::Commit,
        settings::bad_parameters,
    ),
    (
        "bad_parameters_are_refused_under_systemd",
        Every::Night,
        settings::bad_parameters_under_systemd,
    ),
    (
        "bad_parameters_and_lines_are_those_of_lint",
        Every::Night,
        settings::lint_and_slurmctld,
    ),
    (
        "texts_are_those_of_sshare_and_sprio",
        Every::Commit,
        bytes::same_text,
    ),
    (
        "a_user_and_an_administrator_get_answers",
        Every::Night,
        persons::ask,
    ),
    (
        "what_if_predicts_to_the_last_digit",
        Every::Commit,
        what_if::predicts,
    ),
    (
        "lives_of_jobs_and_limits_are_the_same",
        Every::Night,
        lives::jobs_and_limits,
    ),
    (
        "lives_of_administrators_are_the_same",
        Every::Night,
        lives::administration,
    ),
    (
        "lives_of_heterogeneous_jobs_are_the_same",
        Every::Night,
        lives::heterogeneous,
    ),
    (
        "lives_of_a_federation_are_the_same",
        Every::Night,
        lives::federation,
    ),
    (
        "a_fault_leaves_slurmctld_running",
        Every::Commit,
        fault::survives,
    ),
    (
        "a_backup_that_takes_over_goes_on",
        Every::Night,
        takeover::goes_on,
    ),
    ("a_bad_disk_loses_no_usage", Every::Night, disk::bad),
    (
        "nobody_waits_for_a_slow_disk",
        Every::Night,
        slow_disk::slow,
    ),
    (
        "a_disk_that_fails_at_random_loses_no_usage",
        Every::Night,
        slow_disk::random_errors,
    ),
    (
        "a_clock_that_steps_by_days_charges_once",
        Every::Night,
        clock::steps,
    ),
    (
        "site_factors_and_usage_thresholds_are_stocks",
        Every::Night,
        neighbours::factors_and_thresholds,
    ),
    (
        "a_site_without_slurmdbd_is_priced_as_by_stock",
        Every::Night,
        neighbours::without_slurmdbd,
    ),
    (
        "texts_of_users_hide_no_job_and_forge_none",
        Every::Commit,
        hostile::texts_of_users,
    ),
    (
        "rows_of_sprio_after_a_reconfigure_are_stocks",
        Every::Night,
        sprio_rows::after_a_reconfigure,
    ),
    (
        "an_upgrade_finds_its_plugin_and_doctor_says_so",
        Every::Night,
        side_by_side::upgrade,
    ),
    (
        "past_use_is_filled_in_from_the_database",
        Every::Night,
        ledger::is_filled,
    ),
    (
        "a_recorded_run_is_predicted",
        Every::Night,
        recorded::is_predicted,
    ),
    (
        "a_sweep_runs_as_an_array_job",
        Every::Night,
        sweeps::as_an_array,
    ),
    (
        "guides_work_from_first_to_last_command",
        Every::Night,
        guides::work,
    ),
];

/// The checks of the chosen extent, as tests.
pub fn tests(bed: &'static Bed) -> Vec<Trial> {
    let each = |&(name, _, body): &(&'static str, Every, Body)| {
        harness::test(bed, name, move |bed| {
            body(&Check {
                release: &bed.release,
                progress: &bed.progress,
                name,
                part: "",
            })
        })
    };
    let taken = CHECKS.iter().filter(|(_, every, _)| bed.takes(*every));
    taken.map(each).collect()
}
