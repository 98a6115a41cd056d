//! One job that runs through a whole check, alone in its account by then: what that is charged on
//! top is CPUs times seconds since its start, to the second.

use anyhow::{Context, Result, ensure};

use super::fixture::{self, DEADLINE, job};
use crate::cluster::Cluster;
use crate::cluster::client::NewJob;
use crate::wait;

const CPUS: u32 = 2;
const ACCOUNT: &str = "lower";

/// The job.
pub struct Steady {
    start: i64,
    /// What the account was charged before.
    before: i64,
}

impl Steady {
    /// Starts it, and waits until slurmctld has it on disk and has charged it.
    pub fn start(cluster: &Cluster) -> Result<Steady> {
        let new = NewJob {
            cpus: CPUS,
            options: vec!["--time=UNLIMITED".to_owned(), "--no-requeue".to_owned()],
            ..job("eve", ACCOUNT, 100_000)
        };
        let before = usage(cluster)?;
        let id = cluster.submit(&new)?;
        let start = fixture::started(cluster, id)?;
        fixture::jobs_are_saved(cluster)?;
        fixture::next_pass(cluster)?;
        Ok(Steady { start, before })
    }

    /// What its account is charged for it, TRES-seconds.
    pub fn charged(&self, cluster: &Cluster) -> Result<i64> {
        Ok(usage(cluster)? - self.before)
    }

    /// What is charged of the time up to `end`.
    pub fn until(&self, end: i64) -> i64 {
        i64::from(CPUS) * (end - self.start)
    }

    /// Every second up to the last pass is charged, and none twice; `now`: by slurmctld's clock.
    pub fn ensure_charged(
        &self,
        cluster: &Cluster,
        now: impl Fn() -> Result<i64>,
        when: &str,
    ) -> Result<()> {
        let least = self.until(fixture::last_pass(cluster));
        let charged = self.charged(cluster)?;
        let most = self.until(now()?);
        ensure!(
            charged >= least,
            "{when}: usage is lost: {charged}, at least {least}"
        );
        ensure!(
            charged <= most,
            "{when}: charged twice: {charged}, at most {most}"
        );
        fixture::ensure_numbers(cluster).with_context(|| when.to_owned())
    }
}

fn usage(cluster: &Cluster) -> Result<i64> {
    // A message that is under way while the clock steps does not come through.
    wait::until("sshare answers", DEADLINE, || {
        let Ok(table) = cluster.sshare("Account,RawUsage") else {
            return Ok(None);
        };
        Ok(Some(table.find("Account", ACCOUNT)?.get("RawUsage")?))
    })
}
