//! What a job's resources count per second: billing TRES.
//!
//! Source: the manual page slurm.conf(5), `TRESBillingWeights` and `PriorityFlags`, and Slurm's
//! `assoc_mgr_tres_weighted` and `calc_job_billable_tres`, whose order of additions is kept in
//! both modes.

/// What kind of resource a TRES is, as far as billing cares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TresKind {
    /// `cpu`.
    Cpu,
    /// `mem`.
    Mem,
    /// `node`.
    Node,
    /// `gres/…`, in any case of letters.
    Gres,
    /// `billing` itself, which never counts.
    Billing,
    /// All that belongs to no node: `license/…`, `bb/…`, `fs/disk`, `energy`, ….
    Global,
}

impl TresKind {
    /// The kind of the TRES `name`: `cpu`, `gres/gpu`, `gres/gpu:a100`, `license/matlab`.
    ///
    /// ```
    /// use fairtree::usage::TresKind;
    /// assert_eq!(TresKind::of("gres/gpu"), TresKind::Gres);
    /// assert_eq!(TresKind::of("fs/disk"), TresKind::Global);
    /// ```
    pub fn of(name: &str) -> TresKind {
        let kind = name.split('/').next().unwrap_or(name);
        match kind.to_ascii_lowercase().as_str() {
            "cpu" => TresKind::Cpu,
            "mem" => TresKind::Mem,
            "node" => TresKind::Node,
            "gres" => TresKind::Gres,
            "billing" => TresKind::Billing,
            _ => TresKind::Global,
        }
    }
}

/// How weighted TRES are put together (`PriorityFlags`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BillingRule {
    /// The sum of all.
    #[default]
    Sum,
    /// `MAX_TRES`: the largest of cpu, mem, node and each gres, plus the sum of the rest.
    MaxTres,
    /// `MAX_TRES_GRES` (from 25.05): the largest of cpu, mem and node, plus the sum of the
    /// gres, plus the sum of the rest.
    MaxTresGres,
}

impl BillingRule {
    /// What the flags choose; `MAX_TRES_GRES` wins over `MAX_TRES`.
    pub fn from_flags(flags: &crate::config::PriorityFlags) -> BillingRule {
        if flags.max_tres_gres {
            BillingRule::MaxTresGres
        } else if flags.max_tres {
            BillingRule::MaxTres
        } else {
            BillingRule::Sum
        }
    }

    /// True where of all TRES of this kind on one node only the largest term counts; false where the terms
    /// are added.
    pub fn takes_largest(self, kind: TresKind) -> bool {
        match kind {
            TresKind::Cpu | TresKind::Mem | TresKind::Node => self != BillingRule::Sum,
            TresKind::Gres => self == BillingRule::MaxTres,
            TresKind::Billing | TresKind::Global => false,
        }
    }
}

/// Billing TRES of a job: what it is charged per second.
///
/// * `counts`: allocated TRES in Slurm's order, 0 where not counted; `None`: nothing allocated
///   (a pending job), which bills 0.
/// * `weights`: the partition's `TRESBillingWeights` in the same order; `None`: the partition
///   has none, and the job bills `total_cpus`.
/// * `kinds`: one per TRES, see [`TresKind::of`].
///
/// Panics when `weights` or `kinds` are shorter than `counts`.
///
/// ```
/// use fairtree::usage::{BillingRule, TresKind, billable_tres};
/// // The example of slurm.conf(5): 1 CPU and 8 GB on a partition with
/// // TRESBillingWeights="CPU=1.0,Mem=0.25G,GRES/gpu=2.0,license/licA=1.5"; memory is in MB.
/// let kinds = ["cpu", "mem", "gres/gpu", "license/licA"].map(TresKind::of);
/// let weights = [1.0, 0.25 / 1024.0, 2.0, 1.5];
/// let counts = [1, 8 * 1024, 0, 0];
/// let bill = |rule| billable_tres(Some(&counts), Some(&weights), &kinds, rule, 1);
/// assert_eq!(bill(BillingRule::Sum), 3.0);
/// assert_eq!(bill(BillingRule::MaxTres), 2.0);
/// ```
pub fn billable_tres(
    counts: Option<&[u64]>,
    weights: Option<&[f64]>,
    kinds: &[TresKind],
    rule: BillingRule,
    total_cpus: u32,
) -> f64 {
    let Some(counts) = counts else {
        return 0.0;
    };
    let Some(weights) = weights else {
        return f64::from(total_cpus);
    };
    assert!(weights.len() >= counts.len() && kinds.len() >= counts.len());
    let mut largest = 0.0;
    let mut sum = 0.0;
    for ((&count, &weight), &kind) in counts.iter().zip(weights).zip(kinds) {
        if count == 0 || kind == TresKind::Billing {
            continue;
        }
        let weighted = count as f64 * weight;
        if !rule.takes_largest(kind) {
            sum += weighted;
        } else if weighted > largest {
            largest = weighted;
        }
    }
    largest + sum
}

/// Whether Slurm counts the billing TRES of a job again for a charge that starts at `from`:
/// never counted yet, or resized at or after `from`. Otherwise the `cached` number is charged.
pub fn recounts_billing(cached: Option<f64>, resize_time: i64, from: i64) -> bool {
    cached.is_none() || resize_time >= from
}

#[cfg(test)]
mod tests {
    use super::*;

    const NAMES: [&str; 8] = [
        "cpu",
        "mem",
        "energy",
        "node",
        "billing",
        "fs/disk",
        "gres/gpu",
        "license/matlab",
    ];
    const WEIGHTS: [f64; 8] = [1.0, 0.25, 0.0, 10.0, 100.0, 0.5, 2.0, 3.0];
    const COUNTS: [u64; 8] = [4, 64, 7, 1, 1_000, 2, 16, 5];

    fn bill(rule: BillingRule) -> f64 {
        let kinds = NAMES.map(TresKind::of);
        billable_tres(Some(&COUNTS), Some(&WEIGHTS), &kinds, rule, 4)
    }

    #[test]
    fn rules_by_hand() {
        // cpu 4, mem 16, node 10, disk 1, gpu 32, license 15; energy weighs 0.
        assert_eq!(
            bill(BillingRule::Sum),
            4.0 + 16.0 + 10.0 + 1.0 + 32.0 + 15.0
        );
        assert_eq!(bill(BillingRule::MaxTres), 32.0 + 1.0 + 15.0);
        assert_eq!(bill(BillingRule::MaxTresGres), 16.0 + 32.0 + 1.0 + 15.0);
    }

    #[test]
    fn without_weights_cpus_and_without_allocation_nothing() {
        let kinds = NAMES.map(TresKind::of);
        let none = BillingRule::Sum;
        assert_eq!(billable_tres(Some(&COUNTS), None, &kinds, none, 6), 6.0);
        assert_eq!(billable_tres(None, Some(&WEIGHTS), &kinds, none, 6), 0.0);
        assert_eq!(billable_tres(Some(&[]), Some(&[]), &[], none, 6), 0.0);
    }

    #[test]
    fn negative_weights_never_become_the_largest() {
        let bill = |rule| {
            billable_tres(
                Some(&[4, 2]),
                Some(&[-1.0, -2.0]),
                &[TresKind::Cpu, TresKind::Global],
                rule,
                4,
            )
        };
        assert_eq!(bill(BillingRule::MaxTres), -4.0);
        assert_eq!(bill(BillingRule::Sum), -8.0);
    }

    #[test]
    fn counts_anew_when_new_or_resized() {
        assert!(recounts_billing(None, 0, 100));
        assert!(!recounts_billing(Some(4.0), 99, 100));
        assert!(recounts_billing(Some(4.0), 100, 100));
    }
}
