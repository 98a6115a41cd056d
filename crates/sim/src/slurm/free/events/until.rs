//! A run that is stopped at a moment, and the cluster as it is then.

use super::{Event, Free};
use crate::slurm::free::{Observer, Stopped};
use crate::slurm::site::Unpriced;

impl Free<'_> {
    /// Runs up to a moment, milliseconds since 1970, with all events of it, and then a pass of
    /// priorities.
    pub(in crate::slurm::free) fn run_until(
        mut self,
        until_ms: i64,
        observer: &mut dyn Observer,
    ) -> Result<Option<Stopped>, Unpriced> {
        while let Some((ms, event)) = self.next() {
            if ms > until_ms {
                break;
            }
            if !observer.go_on() {
                return Ok(None);
            }
            self.take(ms, event, observer)?;
        }
        self.take(until_ms, Event::Pass, observer)?;
        let fates = self.fates;
        Ok(self.site.map(|site| Stopped { fates, site }))
    }
}
