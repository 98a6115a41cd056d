//! The assumptions of an answer where the site has a policy.

use fairtree::config::{Counts, UsageModel};
use fairtree_model::cluster::Cluster;

/// One sentence for each thing that is not followed, or not known.
pub(super) fn assumptions(cluster: &Cluster, secs: u32) -> Vec<String> {
    let config = &cluster.config;
    let mut said = Vec::new();
    let usage = config.usage();
    if let UsageModel::Window { length_secs } = usage {
        let known = cluster.uses().is_some_and(|uses| uses.has_times());
        if secs < length_secs && !known {
            said.push(format!(
                "what is used already stays in the {usage} until the job ends: it is not known here \
                 when it was used"
            ));
        }
    }
    if *config.counts() != Counts::All {
        said.push(
            "the job ends in a way that counts; where it does not (counts=), it costs nothing"
                .to_owned(),
        );
    }
    said
}
