//! Two controllers: the backup makes no passes while it waits, and after a takeover it continues
//! from the charges of the primary.

use anyhow::{Result, ensure};

use super::Check;
use super::fixture;
use super::steady::Steady;
use crate::cluster::Cluster;
use crate::cluster::backup::Controller;
use crate::cluster::conf::PriorityType;

/// The backup takes over and hands back, once only: slurmctld 22.05, when it hands back for the
/// second time, joins the thread of its scheduler again, and may hang there, with any plugin.
pub fn goes_on(check: &Check) -> Result<()> {
    let mut plan = fixture::plan(check.release, PriorityType::Fairtree);
    plan.partitions[0].max_time = "UNLIMITED";
    check.in_cluster(&plan, |cluster| {
        cluster.add_backup()?;
        let steady = Steady::start(cluster)?;
        waits(cluster)?;
        check.step("the backup takes over");
        cluster.take_over()?;
        charged(cluster, &steady, "taken over")?;
        check.step("the primary is back");
        cluster.hand_back()?;
        charged(cluster, &steady, "handed back")?;
        waits(cluster)
    })
}

fn charged(cluster: &Cluster, steady: &Steady, when: &str) -> Result<()> {
    fixture::next_pass(cluster)?;
    steady.ensure_charged(cluster, fixture::now, when)
}

fn waits(cluster: &Cluster) -> Result<()> {
    let passes = |controller| cluster.makes_passes(controller);
    ensure!(
        passes(Controller::Primary)? && !passes(Controller::Backup)?,
        "not the primary alone makes passes"
    );
    Ok(())
}
