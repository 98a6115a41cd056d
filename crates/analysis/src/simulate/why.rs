//! Causes of a job's wait, in their order: spans that add up to its wait.

use fairtree_sim::slurm::free::Observer;
use fairtree_sim::slurm::life::Fate;
use fairtree_sim::slurm::state::Reason;
use serde::Serialize;

/// A stretch of a job's wait with one cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Span {
    /// Its beginning, seconds since 1970.
    pub from: f64,
    /// Its length.
    pub seconds: f64,
    /// `not eligible`, `next cycle`, `limit`, `blocked partition`, `resources`, `plan`, `array`,
    /// `never`.
    pub cause: &'static str,
    /// The job, the limit or the like; empty without one.
    pub of: String,
}

/// Notes why one job stays, cycle by cycle.
pub struct Why<'a> {
    /// Number of the job in the run.
    job: usize,
    go_on: &'a mut dyn FnMut() -> bool,
    reasons: Vec<(i64, Reason)>,
}

impl<'a> Why<'a> {
    /// For a job of the run.
    pub fn new(job: usize, go_on: &'a mut dyn FnMut() -> bool) -> Why<'a> {
        Why {
            job,
            go_on,
            reasons: Vec::new(),
        }
    }

    /// The spans of its wait, from its submission to its start, or to its cancellation. `name`: of a
    /// job of the run.
    pub fn spans(&self, submit_ms: i64, fate: &Fate, name: &dyn Fn(usize) -> String) -> Vec<Span> {
        let Some(end) = fate.start_ms.or(fate.end_ms) else {
            return Vec::new();
        };
        let mut bounds: Vec<(i64, &'static str, String)> = Vec::new();
        let eligible = fate.eligible_ms.unwrap_or(end).clamp(submit_ms, end);
        if eligible > submit_ms {
            bounds.push((submit_ms, "not eligible", String::new()));
        }
        bounds.push((eligible, "next cycle", String::new()));
        for (ms, reason) in &self.reasons {
            let (cause, of) = cause(reason, name);
            bounds.push(((*ms).clamp(eligible, end), cause, of));
        }
        let mut spans: Vec<Span> = Vec::new();
        for (at, (from, cause, of)) in bounds.iter().enumerate() {
            let to = bounds.get(at + 1).map_or(end, |next| next.0);
            let seconds = (to - from) as f64 / 1000.0;
            match spans.last_mut() {
                _ if to <= *from => {}
                Some(last) if last.cause == *cause && last.of == *of => last.seconds += seconds,
                _ => spans.push(Span {
                    from: *from as f64 / 1000.0,
                    seconds,
                    cause,
                    of: of.clone(),
                }),
            }
        }
        spans
    }
}

impl Observer for Why<'_> {
    fn go_on(&mut self) -> bool {
        (self.go_on)()
    }

    fn stays(&mut self, job: usize, ms: i64, reason: &Reason) {
        if job != self.job {
            return;
        }
        // A pass that looks only at some jobs, or a job that one in another partition decides, says
        // nothing new.
        let says_less = matches!(reason, Reason::NotReached | Reason::Blocked { .. });
        match self.reasons.last() {
            Some((_, known)) if known == reason => {}
            Some((_, Reason::Planned { .. } | Reason::Limit(_))) if says_less => {}
            _ => self.reasons.push((ms, reason.clone())),
        }
    }
}

fn cause(reason: &Reason, name: &dyn Fn(usize) -> String) -> (&'static str, String) {
    match reason {
        Reason::Limit(limit) => ("limit", (*limit).to_owned()),
        Reason::Blocked { by } => ("blocked partition", name(*by)),
        Reason::Resources => ("resources", String::new()),
        Reason::Planned { by } => ("plan", by.map(name).unwrap_or_default()),
        Reason::Never => ("never", String::new()),
        Reason::Array => ("array", String::new()),
        Reason::NotReached => ("next cycle", String::new()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // By hand.
    #[test]
    fn spans_add_up_to_the_wait() {
        let mut go_on = || true;
        let mut why = Why::new(3, &mut go_on);
        why.stays(3, 2500, &Reason::Resources);
        why.stays(4, 2600, &Reason::Array);
        why.stays(3, 3500, &Reason::Resources);
        why.stays(3, 9000, &Reason::Planned { by: Some(1) });
        why.stays(3, 9500, &Reason::Blocked { by: 2 });
        let fate = Fate {
            eligible_ms: Some(1000),
            start_ms: Some(12_000),
            end_ms: None,
        };
        let spans = why.spans(0, &fate, &|job| format!("job {job}"));
        let found: Vec<(&str, f64, &str)> = spans
            .iter()
            .map(|span| (span.cause, span.seconds, &*span.of))
            .collect();
        assert_eq!(
            found,
            [
                ("not eligible", 1.0, ""),
                ("next cycle", 1.5, ""),
                ("resources", 6.5, ""),
                ("plan", 3.0, "job 1")
            ]
        );
        assert_eq!(found.iter().map(|span| span.1).sum::<f64>(), 12.0);
    }
}
