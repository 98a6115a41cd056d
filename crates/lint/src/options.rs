//! Facts about a site that its files do not contain.

use std::collections::BTreeMap;

use fairtree::compat::Release;
use fairtree_model::input::slurm::plugin::PluginFile;
use jiff::civil::DateTime;

/// Finds the plugins `priority/fairtree` in the folders of a value of `PluginDir`; `None`: none of these
/// folders is on this host.
pub type FindPlugins = fn(&str) -> Option<Vec<PluginFile>>;

/// Facts about a site that the caller knows, and the rules that it does not want.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Number of user associations; `None`: not known.
    pub users: Option<u32>,
    /// The site's release; `None`: not known, and findings name the releases they hold for.
    pub release: Option<Release>,
    /// Any maintenance release of the series of `release` is meant.
    pub any_micro: bool,
    /// The account above each account, in lower case; `None`: not known.
    pub accounts: Option<BTreeMap<String, String>>,
    /// The raw shares of accounts, in lower case, without those with `FairShare=parent`; empty: not known.
    pub shares: BTreeMap<String, u64>,
    /// The present time in the time zone of slurmctld; `None`: dates are not compared with it.
    pub now: Option<DateTime>,
    /// Finds plugins; `None`: they are not looked for.
    pub plugins: Option<FindPlugins>,
    /// Names of the rules whose findings are left out.
    pub(super) allowed: Vec<&'static str>,
}
