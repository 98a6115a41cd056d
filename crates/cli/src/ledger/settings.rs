//! Where ledger files are, and by which rules they are written.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use jiff::tz::TimeZone;

use crate::Failure;
use crate::args::PlaceArgs;
use crate::cluster::policy_file;
use fairtree::config::{PriorityParameters, Scope, UsageModel};
use fairtree::usage::window::Window;
use fairtree_analysis::ledger::LedgerRules;
use fairtree_model::input::capture::Ask;
use fairtree_model::input::slurm::config::value_of;

/// The facts of the site that a command needs.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Need {
    /// The folder; the rest if it is given.
    Folder,
    /// The folder and the cluster; rules if they are given.
    Cluster,
    /// Everything.
    Rules,
}

/// A site, as far as its ledgers are concerned.
pub(super) struct Site {
    /// The folder of the files.
    pub folder: PathBuf,
    /// The own cluster; there where it is needed.
    pub cluster: Option<String>,
    /// How files are written.
    pub rules: LedgerRules,
    /// Start of the use that counts, seconds since 1970; `None`: no window and no date is given.
    pub since: Option<i64>,
    /// True if rules were given.
    pub has_rules: bool,
    /// True if the use of other clusters counts.
    pub counts_others: bool,
}

/// Now, seconds since 1970.
pub(super) fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs() as i64)
}

/// Reads options, and asks slurmctld for what they leave open; `now`: seconds since 1970.
pub(super) fn site(args: &PlaceArgs, need: Need, now: i64) -> Result<Site, Failure> {
    let lacks = args.dir.is_none()
        || need != Need::Folder && args.cluster.is_none()
        || need == Need::Rules && args.policy.is_none();
    let answer = match lacks {
        true => {
            let limit = Duration::from_secs(args.time_limit);
            let asked = Ask::new(&["scontrol", "show", "config"], limit).run();
            Some(asked.map_err(Box::new)?.text)
        }
        false => None,
    };
    let said = |key: &str| answer.as_deref().and_then(|text| value_of(text, key));
    let lacking = |option: &str, key: &str| {
        Failure::Usage(format!(
            "scontrol show config tells no {key}\nhint: name it: {option}"
        ))
    };
    let folder = match (&args.dir, said("StateSaveLocation")) {
        (Some(folder), _) => folder.clone(),
        (None, Some(folder)) => PathBuf::from(folder),
        (None, None) => return Err(lacking("--dir DIR", "StateSaveLocation")),
    };
    let cluster = args.cluster.as_deref().or(said("ClusterName"));
    if need != Need::Folder && cluster.is_none() {
        return Err(lacking("--cluster NAME", "ClusterName"));
    }
    let (parameters, accounts) = match &args.policy {
        Some(path) => {
            let file = policy_file(path)?;
            (file.parameters, file.accounts)
        }
        None => {
            let text = said("PriorityParameters").unwrap_or_default();
            let told = PriorityParameters::parse(text, None)
                .map_err(|error| Failure::Usage(error.to_string()))?;
            match told.policy.clone() {
                None => (told, Vec::new()),
                Some(path) => {
                    let file = policy_file(Path::new(&path))?;
                    (both(told, file.parameters), file.accounts)
                }
            }
        }
    };
    let has_rules = args.policy.is_some() || answer.is_some();
    let resolution = Window::DEFAULT_RESOLUTION_SECS as u32;
    let resolution_secs = parameters.resolution.unwrap_or(resolution);
    let plans = accounts.iter().filter_map(|account| account.plan);
    let mut rules = LedgerRules {
        resolution_secs,
        dates: Vec::new(),
        counts: parameters.counts.unwrap_or_default(),
    };
    let mut since: Option<i64> = None;
    for model in plans.chain(parameters.usage) {
        let begins = match model {
            UsageModel::HalfLife => continue,
            UsageModel::Window { length_secs } => {
                let resolution = i64::from(resolution_secs);
                let begins = now - i64::from(length_secs);
                begins.div_euclid(resolution) * resolution
            }
            UsageModel::Total { since } => {
                let zoned = since.to_zoned(TimeZone::system());
                let date = zoned.map_err(|error| Failure::Usage(format!("{model}: {error}")))?;
                let date = date.timestamp().as_second();
                rules.dates.push(date);
                date
            }
        };
        since = Some(since.map_or(begins, |since| since.min(begins)));
    }
    Ok(Site {
        folder,
        cluster: cluster.map(str::to_owned),
        rules,
        since: since.map(|since| since.max(0)),
        has_rules,
        counts_others: parameters.scope == Some(Scope::AllClusters),
    })
}

/// The settings for ledgers of PriorityParameters and its policy file together.
fn both(told: PriorityParameters, file: PriorityParameters) -> PriorityParameters {
    let mut both = PriorityParameters::default();
    both.usage = told.usage.or(file.usage);
    both.resolution = told.resolution.or(file.resolution);
    both.counts = told.counts.or(file.counts);
    both.scope = told.scope.or(file.scope);
    both
}
