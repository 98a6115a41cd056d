//! The settings in slurm.conf, or, if it is not on this host, those that slurmctld reports.
//!
//! slurm.conf comes first: it holds at slurmctld's next start, the subject of most checks.

use std::env;
use std::path::{Path, PathBuf};

use super::super::open;
use fairtree::compat::Release;
use fairtree::config::{Config, Include, Program, SlurmConfReader};
use fairtree_analysis::doctor::{InForce, Known, SettingApart, Settings};
use fairtree_lint::{Options, Severity, run_with};
use fairtree_model::input::LeftOut;
use fairtree_model::input::slurm::document::Document;
use fairtree_model::input::slurm::{conf, config, plugin};

/// Where slurm.conf is unless something says otherwise.
const DEFAULT_FILE: &str = "/etc/slurm/slurm.conf";

/// The settings that are known.
pub(super) struct Said {
    /// Its name, and its text.
    file: Known<(PathBuf, String)>,
    document: Document,
    release: Option<Release>,
    /// The answer of `scontrol show config`.
    live: Option<String>,
}

impl Said {
    /// Reads slurm.conf; `live`: the answer of `scontrol show config`, `release`: the installed one.
    pub fn gather(live: Option<String>, release: Option<Release>) -> Said {
        let named = env::var_os("SLURM_CONF").map(PathBuf::from);
        let of_live = || {
            let file = config::value_of(live.as_deref()?, "SLURM_CONF")?;
            Some(PathBuf::from(file))
        };
        let path = named.or_else(of_live);
        let path = path.unwrap_or_else(|| PathBuf::from(DEFAULT_FILE));
        let name = path.display().to_string();
        let file = open::conf(&path).map_err(|error| format!("{name}: {error}"));
        let document = match &file {
            Ok(text) => Document::read(text, &name, &mut fetch(&path)),
            Err(_) => Document::default(),
        };
        Said {
            file: file.map(|text| (path, text)),
            document,
            release,
            live,
        }
    }

    /// The value of a key.
    pub fn value(&self, key: &str) -> Option<String> {
        let own = self
            .document
            .last(key)
            .map(|setting| setting.value.text.clone());
        let live = || config::value_of(self.live.as_deref()?, key).map(str::to_owned);
        own.or_else(live)
    }

    /// The reason why nothing is known; `None` if something is.
    pub fn why_nothing(&self) -> Option<&str> {
        match (&self.file, &self.live) {
            (Err(why), None) => Some(why),
            _ => None,
        }
    }

    /// The folders of `PluginDir`; none where it is not given.
    pub fn plugin_dir(&self) -> Vec<PathBuf> {
        let value = self.value("PluginDir");
        value.map_or_else(Vec::new, |value| plugin::folders(&value))
    }

    /// The settings for the checks.
    pub fn settings(&self) -> Known<Settings> {
        if let Some(why) = self.why_nothing() {
            return Err(why.to_owned());
        }
        // What the plugin refuses in slurm.conf is a finding of its own.
        let config = self.config().or_else(|why| self.live_config().ok_or(why))?;
        Ok(Settings {
            priority_type: self.value("PriorityType"),
            cluster: self.value("ClusterName"),
            storage: self.value("AccountingStorageType"),
            enforce: self.value("AccountingStorageEnforce"),
            period_secs: config.priority_calc_period_secs,
            half_life_secs: config.priority_decay_half_life_secs,
            weighs_fair_share: config.priority_weight_fairshare > 0,
        })
    }

    /// The priority settings.
    fn config(&self) -> Known<Config> {
        let first = |text: String| super::first_sentence(&text);
        if let Ok((path, text)) = &self.file {
            let name = path.display().to_string();
            let read = conf::read(text, &name, self.release, &mut fetch(path));
            return match read {
                Ok(conf) => Ok(conf.config),
                Err(error) => Err(first(error.explained().to_string())),
            };
        }
        let live = self.live.as_deref().unwrap_or_default();
        let read = config::read("scontrol show config", live, &mut LeftOut::default());
        let read = read.map(|settings| settings.config);
        read.map_err(|error| first(error.explained().to_string()))
    }

    /// The priority settings in force.
    fn live_config(&self) -> Option<Config> {
        let live = self.live.as_deref()?;
        let read = config::read("scontrol show config", live, &mut LeftOut::default());
        read.ok().map(|settings| settings.config)
    }

    /// slurm.conf beside the settings in force.
    pub fn in_force(&self) -> Known<InForce> {
        let (path, _) = self.file.as_ref().map_err(Clone::clone)?;
        let uses_fairtree = self
            .document
            .last("PriorityType")
            .is_some_and(|given| given.value.text == "priority/fairtree");
        let apart = match &self.live {
            Some(live) => Ok(self.apart(live)),
            None => Err("slurmctld was not asked for the settings in force".to_owned()),
        };
        Ok(InForce {
            file: path.display().to_string(),
            refused: self.config().err().filter(|_| uses_fairtree),
            apart,
        })
    }

    /// The priority settings of slurm.conf that are not those in force. A value is compared by its
    /// meaning: slurmctld writes times in its own form.
    fn apart(&self, live: &str) -> Vec<SettingApart> {
        let config = |key: &str, value: Option<&str>| {
            let mut reader = SlurmConfReader::for_host(self.release);
            if let Some(value) = value {
                reader.set(key, value).ok()?;
            }
            reader.finish_for(Program::Command).ok()
        };
        let keys = config::pairs(live)
            .map(|(key, _)| key)
            .filter(|key| key.starts_with("Priority") || key.starts_with("FairShare"));
        let mut apart = Vec::new();
        for key in keys {
            let in_file = self
                .document
                .last(key)
                .map(|given| given.value.text.as_str());
            let in_force = config::value_of(live, key);
            let same = match key {
                "PriorityType" => in_file.is_none_or(|own| Some(own) == in_force),
                _ => match (config(key, in_file), config(key, in_force)) {
                    (Some(own), Some(live)) => own == live,
                    _ => in_file == in_force,
                },
            };
            if !same {
                apart.push(SettingApart {
                    key: key.to_owned(),
                    in_file: in_file.map(str::to_owned),
                    in_force: in_force.map(str::to_owned),
                });
            }
        }
        apart
    }

    /// Errors and warnings of the linter.
    pub fn linted(&self) -> Known<(usize, usize, String)> {
        let (path, text) = self.file.as_ref().map_err(Clone::clone)?;
        let name = path.display().to_string();
        let mut options = Options::default();
        options.release = self.release;
        options.now = Some(jiff::Zoned::now().datetime());
        let report = run_with(text, &name, &options, &mut fetch(path));
        let (errors, warnings) = (
            report.count(Severity::Error),
            report.count(Severity::Warning),
        );
        Ok((errors, warnings, name))
    }
}

/// Reads files that a slurm.conf includes; relative names are relative to its folder.
fn fetch(path: &Path) -> impl FnMut(&Include) -> Result<String, String> + use<> {
    let folder = path.parent().unwrap_or(Path::new("")).to_owned();
    move |include| {
        let text = open::included(&folder.join(&include.file));
        text.map_err(|error| error.to_string())
    }
}
