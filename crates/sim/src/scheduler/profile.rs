//! Free processors over time, as planned.

/// Free processors from a moment until the next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    from: i64,
    free: u32,
}

/// Free processors over time; after the last plan all are free.
#[derive(Clone, Debug)]
pub(super) struct Profile {
    /// Never empty; ascending; the last one lasts for ever.
    steps: Vec<Step>,
}

impl Profile {
    pub fn new(processors: u32) -> Profile {
        Profile {
            steps: vec![Step {
                from: i64::MIN,
                free: processors,
            }],
        }
    }

    /// Forgets what was before `now`.
    pub fn forget_before(&mut self, now: i64) {
        let current = self.steps.partition_point(|step| step.from <= now) - 1;
        self.steps.drain(..current);
        self.steps.dedup_by(|next, step| next.free == step.free);
    }

    /// The earliest moment from `now` on from which `processors` are free for `secs`.
    pub fn earliest(&self, processors: u32, secs: i64, now: i64) -> i64 {
        let mut start = None;
        for (at, step) in self.steps.iter().enumerate() {
            let end = self.steps.get(at + 1).map_or(i64::MAX, |next| next.from);
            if end <= now || step.free < processors {
                start = None;
                continue;
            }
            let start = *start.get_or_insert(step.from.max(now));
            if end.saturating_sub(start) >= secs {
                return start;
            }
        }
        unreachable!("all processors are free after the last plan")
    }

    /// Takes `processors` from `start` to `end`.
    pub fn take(&mut self, processors: u32, start: i64, end: i64) {
        for step in self.between(start, end) {
            step.free -= processors;
        }
    }

    /// Gives `processors` back from `start` to `end`.
    pub fn give(&mut self, processors: u32, start: i64, end: i64) {
        for step in self.between(start, end) {
            step.free += processors;
        }
    }

    /// The steps from `start` to `end`, cut there; none where `end` is not after `start`.
    fn between(&mut self, start: i64, end: i64) -> &mut [Step] {
        if end <= start {
            return &mut [];
        }
        let first = self.cut(start);
        let last = self.cut(end);
        &mut self.steps[first..last]
    }

    /// Makes a step begin at `moment`; its index.
    fn cut(&mut self, moment: i64) -> usize {
        let at = self.steps.partition_point(|step| step.from < moment);
        if self.steps.get(at).is_none_or(|step| step.from > moment) {
            let free = self.steps[at - 1].free;
            self.steps.insert(at, Step { from: moment, free });
        }
        at
    }
}
