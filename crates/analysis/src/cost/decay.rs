//! Decay of usage after the end of a job.

use jiff::tz::TimeZone;
use serde::Serialize;

use fairtree::config::Config;
use fairtree::engine;
use fairtree::usage::{Decay, next_reset};

/// The time at which a given part is left.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Left {
    /// The part that is left, 0..1.
    pub part: f64,
    /// Seconds after the end.
    pub secs: u64,
}

/// How the usage of a job decays after its end.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UsageDecay {
    /// `PriorityDecayHalfLife`, seconds; `None`: no decay.
    pub half_life_secs: Option<u32>,
    /// When a half, a tenth and a hundredth are left; empty without decay.
    pub left: Vec<Left>,
    /// When less than one TRES-second is left, seconds after the end; sshare then shows none of
    /// it. `None`: never, or none was left at the end.
    pub gone_secs: Option<u64>,
    /// When `PriorityUsageResetPeriod` clears it, seconds since 1970; `None`: never, or the input
    /// has no times.
    pub reset: Option<i64>,
}

impl UsageDecay {
    /// Of `left` TRES-seconds from the moment `end` on.
    pub(super) fn of(config: &Config, left: f64, end: Option<i64>) -> UsageDecay {
        let decay = engine::decay(config);
        let decays = !decay.is_none();
        let parts = [0.5, 0.1, 0.01];
        let moments = parts.iter().filter(|_| decays).map(|part| Left {
            part: *part,
            secs: until(&decay, *part),
        });
        let period = config.priority_usage_reset_period;
        UsageDecay {
            half_life_secs: decays.then(|| decay.half_life_secs()),
            left: moments.collect(),
            gone_secs: (decays && left >= 1.0).then(|| until(&decay, 1.0 / left)),
            reset: end.and_then(|end| next_reset(period, config.compat, end, end, &TimeZone::UTC)),
        }
    }
}

/// The first second at which at most `part` is left.
fn until(decay: &Decay, part: f64) -> u64 {
    // After a thousand half-lives an f64 cannot represent what is left.
    let most = i64::from(decay.half_life_secs()) * 1100;
    let (mut no, mut yes) = (0, most);
    while yes - no > 1 {
        let middle = no + (yes - no) / 2;
        match decay.factor(middle) <= part {
            true => yes = middle,
            false => no = middle,
        }
    }
    yes.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fairtree::compat::Compat;

    // By hand: log2(10) = 3.3219..., log2(100) = 6.6438... half-lives of 1000 s.
    #[test]
    fn half_a_tenth_a_hundredth() {
        let decay = Decay::new(1000, Compat::Documented);
        assert_eq!(until(&decay, 0.5), 1000);
        assert_eq!(until(&decay, 0.1), 3322);
        assert_eq!(until(&decay, 0.01), 6644);
    }
}
