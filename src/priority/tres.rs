//! TRES factors: the fraction of its partition that a job requests, each TRES with its own weight.
//!
//! factor = count / partition's count; 0 if either is 0 or unknown; under `NO_NORMAL_TRES` the
//! count itself. Source: Slurm's priority_multifactor.html, "TRES Factors".

use super::PriorityError;
use crate::config::Config;

/// The nonzero weights, by position in the site's TRES.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct TresWeights {
    weights: Vec<(usize, f64)>,
    normal: bool,
}

impl TresWeights {
    /// Looks up each name of `PriorityWeightTRES` among the site's TRES, ignoring case. If a name
    /// is given twice, the last weight counts. A site that knows no TRES yet has no weights.
    pub(super) fn new(config: &Config, names: &[String]) -> Result<TresWeights, PriorityError> {
        let mut by_position = vec![0.0; names.len()];
        for (name, weight) in &config.priority_weight_tres {
            if names.is_empty() {
                break;
            }
            let position = names.iter().position(|n| n.eq_ignore_ascii_case(name));
            let position = position.ok_or_else(|| PriorityError::UnknownTres {
                name: name.clone(),
                known: names.join(", "),
            })?;
            by_position[position] = *weight;
        }
        let weights = by_position.into_iter().enumerate();
        Ok(TresWeights {
            weights: weights.filter(|(_, weight)| *weight != 0.0).collect(),
            normal: !config.priority_flags.no_normal_tres,
        })
    }

    /// Divisors of a job's counts in a partition with these counts, one per weight, chosen so that
    /// jobs need no distinction of cases: infinity if the factor must be 0, and 1 if counts are not
    /// normalised.
    pub(super) fn divisors(&self, partition: Option<&[u64]>) -> impl Iterator<Item = f64> {
        self.weights.iter().map(move |(position, _)| {
            match partition.map_or(0, |counts| counts[*position]) {
                _ if !self.normal => 1.0,
                0 => f64::INFINITY,
                count => count as f64,
            }
        })
    }

    /// Number of weights.
    #[inline]
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Sum of the weighted factors, added in the order of the site's TRES; exactly 0 if there are
    /// no weights.
    #[inline]
    pub(super) fn sum(&self, job: Option<&[u64]>, divisors: &[f64]) -> f64 {
        // All factors are 0, of either sign, and their sum is 0.
        let Some(job) = job else { return 0.0 };
        self.terms(job, divisors)
            .fold(0.0, |sum, (_, term)| sum + term)
    }

    /// Writes the weighted factors into `out`, one per TRES of the site.
    pub(super) fn fill(&self, job: Option<&[u64]>, divisors: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        let Some(job) = job else { return };
        for (position, term) in self.terms(job, divisors) {
            // A negative weight times 0 is -0.0, which would be printed with its sign.
            out[position] = term + 0.0;
        }
    }

    /// Writes the weights into `out`, one per TRES of the site.
    pub(super) fn weights(&self, out: &mut [f64]) {
        out.fill(0.0);
        for (position, weight) in &self.weights {
            out[*position] = *weight;
        }
    }

    #[inline]
    fn terms(&self, job: &[u64], divisors: &[f64]) -> impl Iterator<Item = (usize, f64)> {
        let weights = self.weights.iter().zip(divisors);
        weights.map(move |((position, weight), divisor)| {
            (*position, job[*position] as f64 / divisor * weight)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::PriorityFlags;

    fn names() -> Vec<String> {
        ["cpu", "mem", "gres/gpu"].map(str::to_string).into()
    }

    fn weights(text: &str, flags: &str) -> Result<TresWeights, PriorityError> {
        let config = Config {
            priority_weight_tres: crate::config::tres_weights::parse_tres_weights(text).unwrap(),
            priority_flags: PriorityFlags::parse(flags),
            ..Config::default()
        };
        TresWeights::new(&config, &names())
    }

    fn sum(weights: &TresWeights, job: Option<&[u64]>, partition: Option<&[u64]>) -> f64 {
        let divisors: Vec<f64> = weights.divisors(partition).collect();
        weights.sum(job, &divisors)
    }

    fn fill(weights: &TresWeights, job: &[u64], partition: &[u64]) -> [f64; 3] {
        let divisors: Vec<f64> = weights.divisors(Some(partition)).collect();
        let mut out = [9.0; 3];
        weights.fill(Some(job), &divisors, &mut out);
        out
    }

    // Computed by hand: 4 of 16 CPUs, 2048 of 8192 MiB, 1 of 2 GPUs.
    #[test]
    fn shares_of_the_partition() {
        let weights = weights("CPU=1000,Mem=2000,GRES/gpu=3000", "").unwrap();
        let (job, partition) = ([4, 2048, 1], [16, 8192, 2]);
        assert_eq!(sum(&weights, Some(&job), Some(&partition)), 2250.0);
        let out = fill(&weights, &job, &partition);
        assert_eq!(out, [250.0, 500.0, 1500.0]);
    }

    #[test]
    fn zeros_and_unknown_counts_give_0() {
        let plus = weights("CPU=1000,gres/gpu=5", "").unwrap();
        let (job, partition) = ([4, 2048, 1], [0, 8192, 0]);
        assert_eq!(sum(&plus, Some(&job), Some(&partition)), 0.0);
        assert_eq!(sum(&plus, Some(&job), None), 0.0);
        assert_eq!(sum(&plus, None, Some(&partition)), 0.0);
        let minus = weights("CPU=-1000", "").unwrap();
        let out = fill(&minus, &job, &partition);
        assert!(out.iter().all(|term| term.to_bits() == 0));
        assert_eq!(sum(&minus, Some(&job), Some(&partition)).to_bits(), 0);
    }

    // ubhpc's slurm.conf: CPU=0,Mem=.03,GRES/gpu=30000 with NO_NORMAL_TRES.
    #[test]
    fn counts_without_normalisation() {
        let weights = weights("CPU=0,Mem=.03,GRES/gpu=30000", "NO_NORMAL_TRES").unwrap();
        let job = [12, 3000, 2];
        assert_eq!(sum(&weights, Some(&job), None), 3000.0 * 0.03 + 60_000.0);
        assert_eq!(weights.weights.len(), 2);
    }

    #[test]
    fn an_unknown_tres_is_named() {
        let error = weights("cpu=1,gres/gpus=1", "").unwrap_err();
        assert_eq!(
            error.to_string(),
            "PriorityWeightTRES: found \"gres/gpus\", allowed are the site's TRES: \
             cpu, mem, gres/gpu"
        );
    }

    #[test]
    fn the_last_weight_of_a_name_counts_and_no_tres_is_no_weight() {
        let twice = weights("cpu=1,CPU=2", "").unwrap();
        assert_eq!(twice.weights, [(0, 2.0)]);
        let config = Config {
            priority_weight_tres: vec![("cpu".into(), 1.0)],
            ..Config::default()
        };
        let none = TresWeights::new(&config, &[]).unwrap();
        assert_eq!(sum(&none, None, None), 0.0);
    }
}
