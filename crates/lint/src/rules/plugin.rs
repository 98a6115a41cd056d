//! The plugin that computes priorities, and its parameters.

use crate::effective_settings::{EffectiveSettings, Plugin, Scope};
use crate::rule::{Hit, Rule, Severity};
use crate::spelling::did_you_mean;
use fairtree::config::PriorityParameters;
use fairtree_model::input::slurm::plugin::loaded_by;

pub(super) static RULES: [Rule; 7] = [
    Rule {
        id: "priority-type-missing",
        severity: Severity::Warning,
        summary: "weights without a PriorityType, whose default changed with a release",
        source: "slurm.conf(5) of 22.05 and of 24.11, \"PriorityType\"",
        scope: Scope::Always,
        check: priority_type_missing,
    },
    Rule {
        id: "priority-basic",
        severity: Severity::Warning,
        summary: "weights under priority/basic, which knows none",
        source: "slurm.conf(5), \"PriorityType\" and \"Applicable only if\" of each weight",
        scope: Scope::Always,
        check: priority_basic,
    },
    Rule {
        id: "unknown-priority-type",
        severity: Severity::Error,
        summary: "a PriorityType that is no plugin of Slurm",
        source: "slurm.conf(5), \"PriorityType\"; slurmctld stops without its plugin",
        scope: Scope::Always,
        check: unknown_priority_type,
    },
    Rule {
        id: "plugin-not-found",
        severity: Severity::Error,
        summary: "priority/fairtree without a plugin for this Slurm in PluginDir",
        source: "slurm.conf(5), \"PluginDir\"; slurmctld loads only plugins of its own release",
        scope: Scope::Always,
        check: plugin_not_found,
    },
    Rule {
        id: "parameters-unread",
        severity: Severity::Warning,
        summary: "PriorityParameters for a plugin that does not read them",
        source: "slurm.conf(5), \"PriorityParameters\": a string for the plugin; Slurm's own take none",
        scope: Scope::Always,
        check: parameters_unread,
    },
    Rule {
        id: "bad-parameter",
        severity: Severity::Error,
        summary: "an unknown key or a bad value in PriorityParameters",
        source: "fairtree's own keys of PriorityParameters",
        scope: Scope::Always,
        check: bad_parameter,
    },
    Rule {
        id: "site-factor-unplugged",
        severity: Severity::Warning,
        summary: "PrioritySiteFactorParameters without a plugin to read them",
        source: "slurm.conf(5), \"PrioritySiteFactorPlugin\": the default is site_factor/none",
        scope: Scope::Weighted,
        check: site_factor_unplugged,
    },
];

const TYPES: [&str; 3] = [
    "priority/basic",
    "priority/multifactor",
    "priority/fairtree",
];

fn priority_type_missing(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if conf.last("PriorityType").is_some() || !conf.complete() || !conf.has_weights() {
        return Vec::new();
    }
    let reason = match conf.plugin {
        Plugin::Unstated => {
            "PriorityType is not given: before Slurm 23.11 that is priority/basic, under which no \
             weight counts"
        }
        Plugin::Basic => {
            "PriorityType is not given, and in this release that is priority/basic, under which no \
             weight counts"
        }
        _ => return Vec::new(),
    };
    first_weight(conf, reason)
}

fn first_weight(conf: &EffectiveSettings<'_>, reason: &str) -> Vec<Hit> {
    let tres = conf.last("PriorityWeightTRES");
    let weights = conf.weights().into_iter().map(|(_, _, setting)| setting);
    let first = weights.chain(tres).min_by_key(|setting| setting.key_spot());
    let remedy = "add PriorityType=priority/multifactor or PriorityType=priority/fairtree";
    first
        .map(|setting| Hit::new(setting.key_spot(), reason, remedy))
        .into_iter()
        .collect()
}

fn priority_basic(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = conf.last("PriorityType");
    let basic = given.filter(|_| conf.plugin == Plugin::Basic && conf.has_weights());
    basic
        .map(|setting| {
            Hit::new(
                setting.value_spot(),
                "priority/basic is first in, first out: the weights of this file do nothing",
                "use priority/multifactor or priority/fairtree, or remove the weights",
            )
        })
        .into_iter()
        .collect()
}

fn unknown_priority_type(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = conf.last("PriorityType");
    let unknown = given.filter(|_| conf.plugin == Plugin::Unknown);
    unknown
        .map(|setting| {
            let value = &setting.value.text;
            let remedy = match TYPES.iter().find(|known| known.eq_ignore_ascii_case(value)) {
                Some(known) => format!("write it in lower case: {known}"),
                None => did_you_mean(value, &TYPES),
            };
            let value = value.escape_debug();
            Hit::new(
                setting.value_spot(),
                format!("Slurm has no plugin {value}, and slurmctld stops without it"),
                remedy,
            )
        })
        .into_iter()
        .collect()
}

fn plugin_not_found(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let (Some(given), Some(look)) = (conf.last("PluginDir"), conf.options.plugins) else {
        return Vec::new();
    };
    let used = conf.plugin == Plugin::Fairtree;
    let Some(plugins) = look(&given.value.text).filter(|_| used) else {
        return Vec::new();
    };
    let (there, wanted) = match conf.options.release {
        Some(release) if conf.options.any_micro => (
            plugins.iter().any(|plugin| plugin.is_of_series(release)),
            format!(" for Slurm {}.{:02}", release.major, release.minor),
        ),
        Some(release) => (
            loaded_by(&plugins, release).is_some(),
            format!(" for Slurm {release}"),
        ),
        None => (
            plugins.iter().any(|plugin| plugin.built_for.is_ok()),
            String::new(),
        ),
    };
    if there {
        return Vec::new();
    }
    vec![Hit::new(
        given.value_spot(),
        format!(
            "no folder of PluginDir has a plugin priority/fairtree{wanted}, and slurmctld stops \
             without it"
        ),
        "install the plugin and name its folder here; fairtree doctor tells which one is needed",
    )]
}

fn parameters_unread(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let read = matches!(conf.plugin, Plugin::Fairtree | Plugin::Unknown);
    let given = conf.last("PriorityParameters").filter(|_| !read);
    given
        .filter(|setting| !setting.value.text.trim().is_empty())
        .map(|setting| {
            Hit::new(
                setting.key_spot(),
                "PriorityParameters is for the plugin of PriorityType, and Slurm's own read nothing there",
                "remove it, or use PriorityType=priority/fairtree if these are its keys",
            )
        })
        .into_iter()
        .collect()
}

fn bad_parameter(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let given = conf.last("PriorityParameters");
    let Some(setting) = given.filter(|_| conf.plugin == Plugin::Fairtree) else {
        return Vec::new();
    };
    let mut hits = Vec::new();
    let mut offset = 0;
    let mut before = String::new();
    for entry in setting.value.text.split(',') {
        // The entries that are fine come along, so that a key given twice is seen.
        let text = format!("{before}{entry}");
        match PriorityParameters::parse(&text, None) {
            Ok(_) => before = text + ",",
            Err(error) => {
                let blanks = entry.chars().take_while(|c| c.is_whitespace()).count();
                let value = error.value.escape_debug();
                let length = entry.trim().chars().count();
                hits.push(Hit::new(
                    setting.value_part(offset + blanks, length),
                    format!("{} does not take \"{value}\"", error.setting),
                    format!("allowed is {}", error.allowed),
                ));
            }
        }
        offset += entry.chars().count() + 1;
    }
    hits
}

fn site_factor_unplugged(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let plugin = conf.last("PrioritySiteFactorPlugin");
    let plugged = plugin.is_some_and(|setting| {
        let none = ["site_factor/none", "none"];
        !none
            .iter()
            .any(|none| none.eq_ignore_ascii_case(&setting.value.text))
    });
    let given = conf.last("PrioritySiteFactorParameters");
    given
        .filter(|_| !plugged && conf.complete())
        .map(|setting| {
            Hit::new(
                setting.key_spot(),
                "no PrioritySiteFactorPlugin is set that could read these parameters",
                "name the plugin, or remove the parameters",
            )
        })
        .into_iter()
        .collect()
}
