//! Samples of a recorded run: CPUs of nodes, cycles by sdiag.

use crate::input::slurm::time::moment;

/// CPUs in use of nodes at a moment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CpuSample {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// Node, CPUs in use, and its state in Slurm's word.
    pub nodes: Vec<(String, u32, String)>,
}

/// `### SECONDS` and after it `NODE STATE ALLOCATED/IDLE/OTHER/TOTAL`, again and again. Lines of a
/// different form are passed over.
pub(super) fn cpus(text: &str) -> Vec<CpuSample> {
    let mut samples: Vec<CpuSample> = Vec::new();
    for line in text.lines() {
        if let Some(stamp) = line.strip_prefix("### ") {
            let Ok(secs) = stamp.trim().parse::<f64>() else {
                continue;
            };
            samples.push(CpuSample {
                at_ms: (secs * 1000.0) as i64,
                nodes: Vec::new(),
            });
            continue;
        }
        let mut words = line.split_whitespace();
        let (Some(node), Some(state), Some(counts)) = (words.next(), words.next(), words.next())
        else {
            continue;
        };
        let allocated = counts.split('/').next().and_then(|text| text.parse().ok());
        let (Some(sample), Some(allocated)) = (samples.last_mut(), allocated) else {
            continue;
        };
        // A node of two partitions is listed twice.
        if sample.nodes.iter().all(|(known, ..)| known != node) {
            sample
                .nodes
                .push((node.to_owned(), allocated, state.to_owned()));
        }
    }
    samples.retain(|sample| !sample.nodes.is_empty());
    samples
}

/// Moments of backfill cycles that sdiag saw, milliseconds since 1970, ascending: from its own text,
/// or from a table with a column `backfil_stats__last_cycle_when`.
pub fn sdiag_cycles(text: &str) -> Vec<i64> {
    let header: Vec<&str> = text.lines().next().unwrap_or("").split(',').collect();
    let place = |name: &str| header.iter().position(|known| *known == name);
    let mut found: Vec<i64> = match place("backfil_stats__last_cycle_when") {
        Some(at) => text
            .lines()
            .skip(1)
            .filter_map(|line| moment(line.split(',').nth(at)?.trim().trim_matches('"')))
            .collect(),
        None => text
            .lines()
            .filter_map(|line| {
                let (_, rest) = line.split_once("Last cycle when:")?;
                let (_, secs) = rest.rsplit_once('(')?;
                secs.trim_end().trim_end_matches(')').parse().ok()
            })
            .collect(),
    };
    found.retain(|secs| *secs > 0);
    found.sort_unstable();
    found.dedup();
    found.into_iter().map(|secs| secs * 1000).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_and_cycles() {
        let text = "### 1795547238.693\nn1 idle 0/12/0/12\nn1 idle 0/12/0/12\nn2 mixed 9/3/0/12\n";
        let samples = cpus(text);
        assert_eq!(samples[0].at_ms, 1_795_547_238_693);
        assert_eq!(samples[0].nodes[1], ("n2".into(), 9, "mixed".into()));
        let text =
            "\tLast cycle when: Tue Nov 24 19:07:30 2026 (1795547250)\n\tLast cycle when: N/A\n";
        assert_eq!(sdiag_cycles(text), [1_795_547_250_000]);
        let text =
            "a,backfil_stats__last_cycle_when\n1,2021-02-11 22:36:14\n2,1970-01-01 00:00:00\n";
        assert_eq!(sdiag_cycles(text), [1_613_082_974_000]);
    }
}
