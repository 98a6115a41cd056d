//! Keys of `slurm.conf` in the releases of Slurm that are supported.

use crate::spelling::nearest;

/// A key in each line; after the word `PartitionName`, `NodeName` and the like, a key that may follow
/// on a line of that kind. Source: the tables `s_p_options_t` of `read_config.c` in 22.05 to 26.05.
const LIST: &str = include_str!("keys.txt");

/// Keys of settings (`line` empty), or those that may follow on a line that begins with `line=`;
/// none for a line of another kind.
fn keys(line: &str) -> impl Iterator<Item = &'static str> {
    LIST.lines().filter_map(move |text| {
        let (of, key) = text.split_once(' ').unwrap_or(("", text));
        of.eq_ignore_ascii_case(line).then_some(key)
    })
}

/// True if some supported release knows `key`, in any case of letters. `line`: empty for a setting,
/// or the first key of the line on which `key` follows.
pub(super) fn is_known(line: &str, key: &str) -> bool {
    keys(line).any(|known| known.eq_ignore_ascii_case(key))
}

/// True if other keys may follow on a line that begins with `line=`.
pub(super) fn may_follow(line: &str) -> bool {
    keys(line).next().is_some()
}

/// Advice on a key that no release knows.
pub(super) fn advice(line: &str, key: &str) -> String {
    match nearest(key, keys(line)) {
        Some(near) => format!("did you mean {near}?"),
        None => String::from("remove it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_belong_to_their_lines() {
        assert!(is_known("", "slurmctldhost"));
        assert!(is_known("", "MetricsType"));
        assert!(is_known("partitionname", "TRESBillingWeights"));
        assert!(!is_known("", "TRESBillingWeights"));
        assert!(!is_known("NodeName", "MaxTime"));
        assert!(!is_known("", "NodeName CPUs"));
    }

    #[test]
    fn a_slip_is_advised_on() {
        assert_eq!(advice("", "SlurmctldHots"), "did you mean SlurmctldHost?");
        assert_eq!(advice("NodeName", "CPU"), "did you mean CPUs?");
        assert_eq!(advice("", "Nonsense"), "remove it");
    }
}
