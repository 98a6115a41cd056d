//! One job that runs through a whole check, as the only running job of its account: the extra
//! charge of the account is CPUs times seconds since the job's start, to the second.

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
    /// Charge of the account before the job.
    before: i64,
}

impl Steady {
    /// Starts the job, and waits until slurmctld has saved and charged it.
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

    /// Charge of the account for the job, TRES-seconds.
    pub fn charged(&self, cluster: &Cluster) -> Result<i64> {
        Ok(usage(cluster)? - self.before)
    }

    /// Expected charge for the time up to `end`.
    pub fn until(&self, end: i64) -> i64 {
        i64::from(CPUS) * (end - self.start)
    }

    /// Fails unless every second up to the last pass is charged once; `now` is slurmctld's time.
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
    // A message that is on its way while the clock steps is lost.
    wait::until("sshare answers", DEADLINE, || {
        let Ok(table) = cluster.sshare("Account,RawUsage") else {
            return Ok(None);
        };
        Ok(Some(table.find("Account", ACCOUNT)?.get("RawUsage")?))
    })
}
