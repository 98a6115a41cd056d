//! The policy that answers follow: settings, a policy file, and what they do not follow, in sentences.

use fairtree::config::{Config, ConfigError, Expect, PolicyFile};
use fairtree::fairshare::{Entitlement, Excess};
use fairtree::tree::{AssocIndex, Tree};
use fairtree_model::cluster::{Cluster, Names};
use fairtree_model::listed::Listed;

use crate::prio::order_note;

/// The settings beside a listing of sshare: the site's own, as far as they are known, under the policy
/// that was named, if one was. `None`: none are known.
///
/// # Errors
/// Those of [`Config::under_policy`].
pub fn settings_of(
    own: Option<&Config>,
    policy: Option<&PolicyFile>,
) -> Result<Option<Config>, ConfigError> {
    let Some(policy) = policy else {
        return Ok(own.cloned());
    };
    own.cloned()
        .unwrap_or_default()
        .under_policy(policy)
        .map(Some)
}

/// Checks a policy against the accounts of a listing. `config`: settings that follow it.
///
/// # Errors
/// An account that the listing does not have, and more minutes than a parent has.
pub fn check_accounts(
    listed: &Listed<'_>,
    policy: &PolicyFile,
    config: Option<&Config>,
) -> Result<(), ConfigError> {
    let find = |name: &str| listed.account(name);
    policy.check_accounts(|name| find(name).is_some())?;
    config.map_or(Ok(()), |config| {
        config.check_minutes(&listed.tree().tree, find)
    })
}

/// The parts of a policy that reports do not follow, in sentences.
pub fn policy_notes(config: &Config) -> Vec<String> {
    let notes = file_note(config).into_iter();
    notes.chain(order_note(config)).collect()
}

fn file_note(config: &Config) -> Option<String> {
    let path = config.policy_file()?;
    Some(format!(
        "the site's policy file is not read here: --policy {path} follows it"
    ))
}

/// A sentence for each account whose children have more minutes than it has. `name`: of an account.
pub fn excess_notes(
    entitlement: &Entitlement,
    tree: &Tree,
    name: impl Fn(AssocIndex) -> String,
) -> Vec<String> {
    let note = |excess: &Excess| {
        format!(
            "children of {} have {} minutes, more than its {}: each is entitled to its part of these",
            name(excess.parent),
            excess.given,
            excess.minutes
        )
    };
    entitlement.excesses(tree).iter().map(note).collect()
}

/// What was taken for granted of a site, in sentences.
pub fn notes(cluster: &Cluster) -> Vec<String> {
    let entitlement = cluster.entitlement();
    let mut notes = excess_notes(&entitlement, cluster.tree(), |index| cluster.assoc(index));
    notes.extend(cluster.assumptions.iter().cloned());
    notes.extend(policy_notes(&cluster.config));
    notes
}

/// As [`notes`], for an answer that shows places in the order.
pub fn notes_beside_places(cluster: &Cluster) -> Vec<String> {
    let mut notes = cluster.assumptions.clone();
    notes.extend(file_note(&cluster.config));
    if cluster.config.expect() == Expect::History {
        notes.push(
            "expect=history: only the plugin knows how long runs took; here jobs are expected to \
             take their time limits"
                .to_owned(),
        );
    }
    notes
}
