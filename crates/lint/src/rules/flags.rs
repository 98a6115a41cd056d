//! `PriorityFlags`: unknown words, flags that cancel each other, and flags without effect.

use crate::effective_settings::{EffectiveSettings, Scope};
use crate::rule::{Hit, Rule, Severity};
use crate::spelling::did_you_mean;
use fairtree::config::PriorityFlags;
use fairtree_model::input::slurm::document::Setting;

pub(super) static RULES: [Rule; 5] = [
    Rule {
        id: "unknown-flag",
        severity: Severity::Warning,
        summary: "a word of PriorityFlags that is no flag",
        source: "slurm.conf(5), \"PriorityFlags\"; slurmctld passes over other words in silence",
        scope: Scope::Weighted,
        check: unknown_flag,
    },
    Rule {
        id: "flags-cancel",
        severity: Severity::Warning,
        summary: "two flags of which one undoes the other",
        source: "slurm.conf(5), \"PriorityFlags\": DEPTH_OBLIVIOUS enables NO_FAIR_TREE",
        scope: Scope::Weighted,
        check: flags_cancel,
    },
    Rule {
        id: "flag-without-effect",
        severity: Severity::Warning,
        summary: "a flag that changes a factor whose weight is 0, or a billing that is not set",
        source: "slurm.conf(5), \"PriorityFlags\"; priority_multifactor.html, \"Job Priority Factors\"",
        scope: Scope::Weighted,
        check: flag_without_effect,
    },
    Rule {
        id: "flag-of-later-release",
        severity: Severity::Warning,
        summary: "a flag that the site's release does not know",
        source: "slurm.conf(5) of 25.05, \"PriorityFlags\"; before, MAX_TRES_GRES is read as MAX_TRES",
        scope: Scope::Weighted,
        check: flag_of_later_release,
    },
    Rule {
        id: "incr-only-fairshare",
        severity: Severity::Note,
        summary: "fair share under INCR_ONLY, where waiting jobs keep their best priority",
        source: "slurm.conf(5), \"PriorityFlags\", INCR_ONLY",
        scope: Scope::Weighted,
        check: incr_only_fairshare,
    },
];

/// A word between commas.
struct Word<'a> {
    setting: &'a Setting,
    text: &'a str,
    offset: usize,
}

impl Word<'_> {
    fn is(&self, flag: &str) -> bool {
        self.text.eq_ignore_ascii_case(flag)
    }

    fn hit(&self, reason: impl Into<String>, remedy: impl Into<String>) -> Hit {
        let length = self.text.chars().count();
        Hit::new(self.setting.value_part(self.offset, length), reason, remedy)
    }
}

/// The words of `PriorityFlags`, blanks trimmed.
fn words<'a>(conf: &EffectiveSettings<'a>) -> Vec<Word<'a>> {
    let Some(setting) = conf.last("PriorityFlags") else {
        return Vec::new();
    };
    let mut words = Vec::new();
    let mut offset = 0;
    for entry in setting.value.text.split(',') {
        let blanks = entry.chars().take_while(|c| c.is_whitespace()).count();
        if !entry.trim().is_empty() {
            words.push(Word {
                setting,
                text: entry.trim(),
                offset: offset + blanks,
            });
        }
        offset += entry.chars().count() + 1;
    }
    words
}

fn unknown_flag(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let unknown = words(conf).into_iter();
    unknown
        .filter(|word| !PriorityFlags::unknown_words(word.text).is_empty())
        .map(|word| {
            let text = word.text.escape_debug();
            let upper = word.text.to_ascii_uppercase();
            let within = PriorityFlags::words()
                .iter()
                .filter(|known| upper.contains(**known));
            match within.max_by_key(|known| known.len()) {
                Some(known) => word.hit(
                    format!(
                        "there is no flag {text}, but slurmctld finds {known} in it and sets that"
                    ),
                    "separate flags by commas and remove what is none",
                ),
                None => word.hit(
                    format!("there is no flag {text}, and slurmctld passes over it in silence"),
                    did_you_mean(word.text, PriorityFlags::words()),
                ),
            }
        })
        .collect()
}

fn flags_cancel(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let words = words(conf);
    let has = |flag: &str| words.iter().any(|word| word.is(flag));
    let mut hits = Vec::new();
    for (loser, winner) in [
        ("FAIR_TREE", "DEPTH_OBLIVIOUS"),
        ("FAIR_TREE", "NO_FAIR_TREE"),
        ("MAX_TRES", "MAX_TRES_GRES"),
    ] {
        let lost = words.iter().find(|word| word.is(loser));
        if let Some(word) = lost.filter(|_| has(winner)) {
            hits.push(word.hit(
                format!("{winner} beside it switches {loser} off, in whatever order they stand"),
                format!("keep one of {loser} and {winner}"),
            ));
            break;
        }
    }
    hits
}

/// Returns the thing that a flag acts on, if the site lacks it.
fn missing_ground(conf: &EffectiveSettings<'_>, flag: &str) -> Option<&'static str> {
    let config = &conf.config;
    let tres = config.priority_weight_tres.iter().any(|(_, w)| *w != 0.0);
    let weightless = |key: &'static str| conf.is_weightless(key).then_some(key);
    let billed = || {
        conf.partitions
            .iter()
            .any(|partition| partition.billed_by_weights)
    };
    match flag {
        "ACCRUE_ALWAYS" => weightless("PriorityWeightAge"),
        "DEPTH_OBLIVIOUS" | "NO_FAIR_TREE" => weightless("PriorityWeightFairshare"),
        "NO_NORMAL_ASSOC" => weightless("PriorityWeightAssoc"),
        "NO_NORMAL_PART" => weightless("PriorityWeightPartition"),
        "NO_NORMAL_QOS" => weightless("PriorityWeightQOS"),
        "NO_NORMAL_TRES" => (!tres).then_some("PriorityWeightTRES"),
        "SMALL_RELATIVE_TO_TIME" => weightless("PriorityWeightJobSize"),
        "MAX_TRES" | "MAX_TRES_GRES" => {
            let unbilled = !conf.partitions.is_empty() && !billed();
            unbilled.then_some("TRESBillingWeights")
        }
        _ => None,
    }
}

fn flag_without_effect(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if !conf.complete() {
        return Vec::new();
    }
    let mut hits = Vec::new();
    for word in words(conf) {
        let flag = word.text.to_ascii_uppercase();
        let Some(missing) = missing_ground(conf, &flag) else {
            continue;
        };
        let reason = if missing == "TRESBillingWeights" {
            format!("{flag} chooses how TRESBillingWeights are added, and no partition has any")
        } else {
            format!("{flag} changes a factor that does not count: {missing} is 0 or not given")
        };
        hits.push(word.hit(reason, format!("set {missing}, or remove the flag")));
    }
    hits
}

fn flag_of_later_release(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let Some(release) = conf.options.release else {
        return Vec::new();
    };
    let later = words(conf)
        .into_iter()
        .filter(|word| word.is("MAX_TRES_GRES") && !release.facts().max_tres_gres);
    later
        .map(|word| {
            word.hit(
                format!("MAX_TRES_GRES came with Slurm 25.05; {release} reads it as MAX_TRES"),
                "use MAX_TRES if that is meant, or remove the flag until the upgrade",
            )
        })
        .collect()
}

fn incr_only_fairshare(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    if conf.config.priority_weight_fairshare == 0 {
        return Vec::new();
    }
    let words = words(conf).into_iter().filter(|word| word.is("INCR_ONLY"));
    words
        .map(|word| {
            word.hit(
                "under INCR_ONLY a waiting job keeps the best fair share that it ever had: who \
                 fills the queue first and computes later stays in front",
                "remove INCR_ONLY if usage should count against jobs that already wait",
            )
        })
        .collect()
}
