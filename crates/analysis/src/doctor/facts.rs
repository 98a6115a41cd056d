//! The facts that the checks use. Nothing here runs queries: the caller did.

use std::path::PathBuf;

use fairtree::compat::Release;
use fairtree_model::input::package::Package;
use fairtree_model::input::slurm::last_pass::LastPass;
use fairtree_model::input::slurm::plugin::PluginFile;

use super::numbers::Numbers;

/// A fact, or the reason why it is not known: a sentence without a full stop.
pub type Known<T> = Result<T, String>;

/// Everything that the checks rest on.
#[derive(Debug)]
pub struct Facts {
    /// The time of this host, seconds since 1970.
    pub now: i64,
    /// Slurm's daemons were not to be asked.
    pub offline: bool,
    /// True if something keeps this host's clock right; `None`: not known.
    pub synchronised: Option<bool>,
    /// The program of Slurm on this host that loads the plugin.
    pub daemon: Known<Daemon>,
    /// The result of an upgrade.
    pub next: Known<Next>,
    /// The settings that hold at slurmctld's next start.
    pub settings: Known<Settings>,
    /// The folders of `PluginDir` that are not there.
    pub absent_folders: Vec<PathBuf>,
    /// Plugins of this project in `PluginDir`, in the order of its folders.
    pub plugins: Vec<PluginFile>,
    /// Those in folders of packages that `PluginDir` does not name.
    pub packaged: Vec<PluginFile>,
    /// The running slurmctld's own report.
    pub live: Known<Live>,
    /// `StateSaveLocation` on this host.
    pub state: Known<State>,
    /// The times of the last pass.
    pub last_pass: Known<LastPass>,
    /// The clusters that slurmdbd knows.
    pub clusters: Known<Vec<String>>,
    /// Printed numbers against computed ones.
    pub numbers: Known<Numbers>,
    /// slurm.conf beside the settings of the running slurmctld.
    pub in_force: Known<InForce>,
    /// Errors and warnings of the linter in slurm.conf, and its name.
    pub linted: Known<(usize, usize, String)>,
}

/// An installed program of Slurm.
#[derive(Clone, Debug)]
pub struct Daemon {
    /// `slurmctld`, or on hosts without it a command that loads the plugin, too: `sshare`.
    pub program: &'static str,
    /// Its release.
    pub release: Release,
    /// Its package, where one is known.
    pub package: Option<Package>,
    /// Who makes such packages.
    pub packager: Packager,
}

impl Daemon {
    /// Returns true if this is the host of a slurmctld.
    pub fn is_controller(&self) -> bool {
        self.program == "slurmctld"
    }
}

/// Who packaged the installed Slurm, by the names of the packages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packager {
    /// Debian: `slurmctld`, `slurm-client`.
    Debian,
    /// SchedMD, as a Debian package: `slurm-smd-slurmctld`, `slurm-smd-client`.
    Schedmd,
    /// Another one, or none: an RPM, or built from source.
    Other,
}

/// The result of the next upgrade of the package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Next {
    /// Nothing newer is known on this host.
    Nothing,
    /// Another version.
    Version {
        /// The release in it.
        release: Release,
        /// The version as the package manager writes it, or `--next`.
        version: String,
    },
}

/// Settings of slurm.conf, as far as the checks ask for them.
#[derive(Clone, Debug, Default)]
pub struct Settings {
    /// `PriorityType`; `None`: not given.
    pub priority_type: Option<String>,
    /// `ClusterName`.
    pub cluster: Option<String>,
    /// `AccountingStorageType`.
    pub storage: Option<String>,
    /// `AccountingStorageEnforce`.
    pub enforce: Option<String>,
    /// Time between two passes: `calc_period=` of `PriorityParameters`, or `PriorityCalcPeriod`.
    pub period_secs: u32,
    /// The half-life of usage, seconds; 0: none.
    pub half_life_secs: u32,
    /// True if fair share has a weight.
    pub weighs_fair_share: bool,
}

/// slurm.conf beside the settings of the running slurmctld.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InForce {
    /// Name of the file.
    pub file: String,
    /// Why the plugin refuses the settings of slurm.conf, a sentence without a full stop; `None`: it
    /// takes them.
    pub refused: Option<String>,
    /// The settings whose values differ, as far as slurmctld was asked.
    pub apart: Known<Vec<SettingApart>>,
}

/// A setting whose value in slurm.conf is not the one in force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SettingApart {
    /// Its name.
    pub key: String,
    /// The value in slurm.conf; `None`: it is not there.
    pub in_file: Option<String>,
    /// The value in force; `None`: slurmctld has none.
    pub in_force: Option<String>,
}

impl Settings {
    /// Returns true if there is a database, and with it associations and usage.
    pub fn has_slurmdbd(&self) -> bool {
        self.storage.as_deref() == Some("accounting_storage/slurmdbd")
    }

    /// Returns true if slurmctld loads the plugin of this project.
    pub fn uses_fairtree(&self) -> bool {
        self.priority_type.as_deref() == Some("priority/fairtree")
    }
}

/// The report of the running slurmctld.
#[derive(Clone, Copy, Debug)]
pub struct Live {
    /// Its release.
    pub release: Option<Release>,
    /// Its clock minus this host's, seconds, from the middle of the question.
    pub ahead_secs: Option<i64>,
}

/// A folder with files.
#[derive(Clone, Debug)]
pub struct Folder {
    /// Where it is.
    pub path: PathBuf,
    /// Ok if the user may create files in it; otherwise the reason.
    pub writable: Result<(), String>,
    /// Bytes that are left on its disk.
    pub free_bytes: u64,
}

/// `StateSaveLocation` and who writes to it.
#[derive(Clone, Debug)]
pub struct State {
    /// The folder.
    pub folder: Folder,
    /// `SlurmUser`.
    pub user: String,
}
