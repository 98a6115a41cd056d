//! Does slurmctld find its plugin: at its next start, and after the next upgrade?

use fairtree::compat::Release;
use fairtree_model::input::slurm::plugin::{PluginFile, loaded_by};

use super::facts::{Daemon, Facts, Next, Packager};
use super::finding::{Diagnosis, Level};

const SLURMCTLD: &str = "slurmctld";
const PLUGIN: &str = "plugin";
const UPGRADE: &str = "upgrade";
const PLUGIN_DIR: &str = "plugin-dir";

/// Which release is installed, and which one runs.
pub(super) fn slurmctld(facts: &Facts, found: &mut Diagnosis) {
    let daemon = match &facts.daemon {
        Ok(daemon) => daemon,
        Err(why) => {
            found.say(SLURMCTLD, Level::Unknown, why.as_str());
            return;
        }
    };
    let (program, release) = (daemon.program, daemon.release);
    let package = daemon.package.as_ref().and_then(|package| {
        let version = package.installed.as_deref()?;
        Some(format!(" (package {} {version})", package.name))
    });
    let package = package.unwrap_or_default();
    let installed = format!("{program} {release} is installed{package}");
    let here = daemon.is_controller();
    let elsewhere =
        format!("{installed}, and no slurmctld: what only slurmctld's host knows is left out");
    if facts.offline {
        let (level, text) = match here {
            true => (Level::Ok, installed),
            false => (Level::Note, elsewhere),
        };
        found.say(SLURMCTLD, level, text);
        return;
    }
    match &facts.live {
        Ok(_) if !here => found.say(SLURMCTLD, Level::Note, elsewhere),
        Ok(live) => match live.release {
            Some(runs) if runs != release => found.advise(
                SLURMCTLD,
                Level::Warning,
                format!("{installed}, but the slurmctld that runs is {runs}"),
                "restart slurmctld once the checks below are ok",
            ),
            _ => found.say(SLURMCTLD, Level::Ok, format!("{installed} and answers")),
        },
        Err(why) => found.advise(
            SLURMCTLD,
            Level::Error,
            match here {
                true => format!("{installed}, but does not answer: {why}"),
                false => format!("{installed}, but slurmctld does not answer: {why}"),
            },
            "the end of its log says why it does not run; is it the active one of several controllers?",
        ),
    }
}

/// Checks that the next start finds a plugin.
pub(super) fn installed(facts: &Facts, found: &mut Diagnosis) {
    let Some(release) = release_here(facts) else {
        found.say(
            PLUGIN,
            Level::Unknown,
            "the installed release of Slurm is not known",
        );
        return;
    };
    let program = program(facts);
    let text = match (loaded_by(&facts.plugins, release), uses_fairtree(facts)) {
        (Some(plugin), Ok(uses)) => {
            let unused = if uses { "" } else { unused(facts) };
            let path = plugin.path.display();
            let text = format!("{path} is for Slurm {release}, which is installed{unused}");
            found.say(PLUGIN, Level::Ok, text);
            return;
        }
        (None, Ok(true)) => {
            let found_ones = listed(&facts.plugins);
            let text = match program {
                "slurmctld" => format!(
                    "no plugin in PluginDir is for Slurm {release}: slurmctld does not start with \
                     PriorityType=priority/fairtree{found_ones}"
                ),
                other => format!(
                    "no plugin in PluginDir is for Slurm {release}: {other} fails with \
                     PriorityType=priority/fairtree{found_ones}"
                ),
            };
            found.advise(PLUGIN, Level::Error, text, remedy(facts, release));
            return;
        }
        (None, Ok(false)) => format!("no plugin is for Slurm {release}{}", unused(facts)),
        (_, Err(why)) => {
            found.say(PLUGIN, Level::Unknown, why);
            return;
        }
    };
    found.say(PLUGIN, Level::Note, text);
}

/// Checks that a start after the next upgrade finds a plugin.
pub(super) fn upgrade(facts: &Facts, found: &mut Diagnosis) {
    let (release, version) = match &facts.next {
        Err(why) => {
            found.say(UPGRADE, Level::Unknown, why.as_str());
            return;
        }
        Ok(Next::Nothing) => {
            let text = "this host's package lists have no newer Slurm";
            found.say(UPGRADE, Level::Ok, text);
            return;
        }
        Ok(Next::Version { release, version }) => (*release, version),
    };
    let program = program(facts);
    let to = match *version == release.to_string() {
        true => format!("an upgrade to {program} {release}"),
        false => format!("the next upgrade, to {program} {version},"),
    };
    match (loaded_by(&facts.plugins, release), uses_fairtree(facts)) {
        (Some(plugin), Ok(_)) => {
            let path = plugin.path.display();
            let same = match release_here(facts) == Some(release) {
                true => {
                    "; it is a new revision of the same release: rebuild the plugin if its \
                         patches change slurmctld's records"
                }
                false => "",
            };
            let text = format!("{to} finds its plugin: {path} is for Slurm {release}{same}");
            found.say(UPGRADE, Level::Ok, text);
        }
        (None, Ok(true)) => {
            let text = format!(
                "{to} finds no plugin for Slurm {release} in PluginDir: {program} would not start \
                 with PriorityType=priority/fairtree{}",
                listed(&facts.plugins)
            );
            let hold = match facts.daemon.as_ref().ok().and_then(|d| d.package.as_ref()) {
                Some(package) => format!("; until then, hold back {}", package.name),
                None => String::new(),
            };
            let remedy = format!("before the upgrade, {}{hold}", remedy(facts, release));
            found.advise(UPGRADE, Level::Error, text, remedy);
        }
        (None, Ok(false)) => {
            let text = format!("{to} finds no plugin for it{}", unused(facts));
            found.say(UPGRADE, Level::Note, text);
        }
        (_, Err(why)) => found.say(UPGRADE, Level::Unknown, why),
    }
}

/// Checks that the folders of `PluginDir` exist.
pub(super) fn plugin_dir(facts: &Facts, found: &mut Diagnosis) {
    if let Err(why) = &facts.settings {
        found.say(PLUGIN_DIR, Level::Unknown, why.as_str());
        return;
    }
    let before = found.findings.len();
    for folder in &facts.absent_folders {
        found.advise(
            PLUGIN_DIR,
            Level::Error,
            format!(
                "PluginDir names {}, which is no folder on this host: Slurm's daemons and commands \
                 refuse such a slurm.conf",
                folder.display()
            ),
            "make the folder, if only an empty one, or take it out of PluginDir",
        );
    }
    for plugin in &facts.plugins {
        if let Err(why) = &plugin.built_for {
            found.advise(
                PLUGIN_DIR,
                Level::Warning,
                format!("{} is no plugin: {why}", plugin.path.display()),
                "remove it, or install it again",
            );
        }
    }
    if found.findings.len() == before {
        let text = match facts.plugins.len() {
            0 => "PluginDir holds no plugin of fairtree".to_owned(),
            _ => format!("PluginDir holds{}", list(&facts.plugins)),
        };
        found.say(PLUGIN_DIR, Level::Ok, text);
    }
}

/// The program that loads the plugin on this host.
fn program(facts: &Facts) -> &'static str {
    let daemon = facts.daemon.as_ref();
    daemon.map_or(SLURMCTLD, |daemon| daemon.program)
}

/// The release that is installed, or at least runs.
fn release_here(facts: &Facts) -> Option<Release> {
    let installed = facts.daemon.as_ref().ok().map(|daemon| daemon.release);
    let runs = facts.live.as_ref().ok().and_then(|live| live.release);
    installed.or(runs)
}

fn uses_fairtree(facts: &Facts) -> Result<bool, &str> {
    let settings = facts.settings.as_ref();
    settings
        .map(super::Settings::uses_fairtree)
        .map_err(String::as_str)
}

/// Why a plugin is not loaded.
fn unused(facts: &Facts) -> &'static str {
    let given = facts.settings.as_ref().ok();
    match given.and_then(|settings| settings.priority_type.as_deref()) {
        Some("priority/multifactor") => "; PriorityType is priority/multifactor and needs none",
        Some("priority/basic") => "; PriorityType is priority/basic and needs none",
        _ => "; PriorityType does not name it",
    }
}

/// `; found: PATH for 22.05.8, PATH for 24.11.5`.
fn listed(plugins: &[PluginFile]) -> String {
    match plugins.is_empty() {
        true => String::new(),
        false => format!("; found:{}", list(plugins)),
    }
}

fn list(plugins: &[PluginFile]) -> String {
    let each = plugins.iter().map(|plugin| {
        let path = plugin.path.display();
        match &plugin.built_for {
            Ok(release) => format!(" {path} for {release}"),
            Err(_) => format!(" {path}, which is no plugin"),
        }
    });
    each.collect::<Vec<_>>().join(",")
}

/// How to get a plugin for a release.
fn remedy(facts: &Facts, release: Release) -> String {
    if let Some(there) = loaded_by(&facts.packaged, release) {
        let folder = there.path.parent().unwrap_or(&there.path).display();
        return format!("add {folder} to PluginDir in slurm.conf");
    }
    let packager = facts
        .daemon
        .as_ref()
        .map(|Daemon { packager, .. }| packager);
    let kind = match packager {
        Ok(Packager::Debian) => "slurm-wlm",
        Ok(Packager::Schedmd) => "slurm-smd",
        _ => {
            return format!(
                "build the plugin for Slurm {release} (make plugin) and copy it to a folder of its \
                 own that PluginDir names"
            );
        }
    };
    format!(
        "install {kind}-fairtree-plugin-{release} and add /usr/lib/fairtree/slurm/{release} to \
         PluginDir in slurm.conf"
    )
}
