//! The usage of a job after its end: it decays, leaves a window, or stays.

use jiff::tz::TimeZone;
use serde::Serialize;

use fairtree::config::{Config, UsageModel};
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
    /// The usage model of who pays, as `usage=` takes it.
    pub usage: String,
    /// `PriorityDecayHalfLife`, seconds; `None`: no decay.
    pub half_life_secs: Option<u32>,
    /// Length of the window, seconds; `None`: no window.
    pub window_secs: Option<u32>,
    /// When a half, a tenth and a hundredth are left; in a window before these the last moment at
    /// which all of it is. Empty where nothing decays or leaves.
    pub left: Vec<Left>,
    /// When less than one TRES-second is left, seconds after the end, or when all has left the
    /// window; sshare then shows none of it. `None`: never, or none was left at the end.
    pub gone_secs: Option<u64>,
    /// When `PriorityUsageResetPeriod` clears it, seconds since 1970; `None`: never, or the input
    /// has no times.
    pub reset: Option<i64>,
}

impl UsageDecay {
    /// Of `left` TRES-seconds from the moment `end` on, used in `secs` seconds before it.
    pub(super) fn of(
        config: &Config,
        usage: UsageModel,
        secs: u32,
        left: f64,
        end: Option<i64>,
    ) -> UsageDecay {
        let period = config.priority_usage_reset_period;
        let reset = end.and_then(|end| next_reset(period, config.compat, end, end, &TimeZone::UTC));
        let window_secs = match usage {
            UsageModel::HalfLife => return UsageDecay::by_half_life(config, left, reset),
            UsageModel::Window { length_secs } => Some(length_secs),
            UsageModel::Total { .. } => None,
        };
        UsageDecay {
            usage: usage.to_string(),
            half_life_secs: None,
            window_secs,
            left: window_secs.map_or(Vec::new(), |length| leaves(length, secs)),
            gone_secs: window_secs.filter(|_| left > 0.0).map(u64::from),
            reset,
        }
    }

    fn by_half_life(config: &Config, left: f64, reset: Option<i64>) -> UsageDecay {
        let decay = engine::decay(config);
        let decays = !decay.is_none();
        let parts = [0.5, 0.1, 0.01];
        let moments = parts.iter().filter(|_| decays).map(|part| Left {
            part: *part,
            secs: until(&decay, *part),
        });
        UsageDecay {
            usage: UsageModel::HalfLife.to_string(),
            window_secs: None,
            half_life_secs: decays.then(|| decay.half_life_secs()),
            left: moments.collect(),
            gone_secs: (decays && left >= 1.0).then(|| until(&decay, 1.0 / left)),
            reset,
        }
    }
}

/// What was used evenly in `secs` seconds leaves a window in the order in which it was used: of what
/// is in it at the end, the part p is left once `length - p x (the time that it was used in)` has passed.
fn leaves(length: u32, secs: u32) -> Vec<Left> {
    let used_in = f64::from(secs.min(length));
    let moment = |part: f64| Left {
        part,
        secs: (f64::from(length) - part * used_in).ceil() as u64,
    };
    [1.0, 0.5, 0.1, 0.01].map(moment).to_vec()
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

    // By hand: of 1000 s in a window of 3000 s the first leaves 2000 s after the end, half has left at
    // 2500. Of 9000 s the last 3000 are in the window, and begin to leave at once.
    #[test]
    fn the_first_used_leaves_a_window_first() {
        let moments = |secs| -> Vec<u64> { leaves(3000, secs).iter().map(|m| m.secs).collect() };
        assert_eq!(moments(1000), [2000, 2500, 2900, 2990]);
        assert_eq!(moments(9000), [0, 1500, 2700, 2970]);
    }
}
