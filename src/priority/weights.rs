//! The weights of the factors.

use crate::config::Config;

/// The weights as f64, into which every 32-bit number fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) age: f64,
    pub(super) assoc: f64,
    pub(super) fairshare: f64,
    pub(super) job_size: f64,
    pub(super) partition: f64,
    pub(super) qos: f64,
}

impl Weights {
    pub(super) fn of(config: &Config) -> Weights {
        Weights {
            age: f64::from(config.priority_weight_age),
            assoc: f64::from(config.priority_weight_assoc),
            fairshare: f64::from(config.priority_weight_fairshare),
            job_size: f64::from(config.priority_weight_job_size),
            partition: f64::from(config.priority_weight_partition),
            qos: f64::from(config.priority_weight_qos),
        }
    }
}
