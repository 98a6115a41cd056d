//! Lines and their keys: unknown, given twice, meant to add, and files that are not there.

use std::collections::BTreeSet;

use crate::effective_settings::{EffectiveSettings, Scope};
use crate::keys;
use crate::rule::{Hit, Rule, Severity};
use fairtree_model::input::slurm::document::{Setting, Spot};

pub(super) static RULES: [Rule; 5] = [
    Rule {
        id: "line-unparsed",
        severity: Severity::Error,
        summary: "a line, or the end of one, that Slurm cannot parse",
        source: "slurm.conf(5), \"DESCRIPTION\"; slurmctld ends with \"Unable to process configuration file\"",
        scope: Scope::Always,
        check: line_unparsed,
    },
    Rule {
        id: "unknown-key",
        severity: Severity::Error,
        summary: "a key that slurm.conf does not have",
        source: "slurm.conf(5), \"PARAMETERS\"; slurmctld stops at keys that it does not know",
        scope: Scope::Always,
        check: unknown_key,
    },
    Rule {
        id: "key-twice",
        severity: Severity::Warning,
        summary: "a setting that a later line replaces",
        source: "slurmctld's log: \"specified more than once, latest value used\"",
        scope: Scope::Always,
        check: key_twice,
    },
    Rule {
        id: "operator-ignored",
        severity: Severity::Warning,
        summary: "a value that is meant to be added to an earlier one",
        source: "slurmctld reads +=, -=, *= and /= as = for settings of slurm.conf",
        scope: Scope::Always,
        check: operator_ignored,
    },
    Rule {
        id: "include-unread",
        severity: Severity::Error,
        summary: "an included file that could not be read",
        source: "slurm.conf(5), \"DESCRIPTION\" and \"INCLUDE MODIFIERS\"; slurmctld ends with \"Include\" \
                 failed",
        scope: Scope::Always,
        check: include_unread,
    },
];

/// The keys that rules look at.
const KEYS: [&str; 20] = [
    "FairShareDampeningFactor",
    "PriorityCalcPeriod",
    "PriorityDecayHalfLife",
    "PriorityFavorSmall",
    "PriorityFlags",
    "PriorityMaxAge",
    "PriorityParameters",
    "PrioritySiteFactorParameters",
    "PrioritySiteFactorPlugin",
    "PriorityType",
    "PriorityUsageResetPeriod",
    "PriorityWeightAge",
    "PriorityWeightAssoc",
    "PriorityWeightFairshare",
    "PriorityWeightJobSize",
    "PriorityWeightPartition",
    "PriorityWeightQOS",
    "PriorityWeightTRES",
    "AccountingStorageEnforce",
    "AccountingStorageTRES",
];

fn line_unparsed(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let said: BTreeSet<Spot> = super::values::bad_lines(conf).collect();
    let unparsed = conf.document.unparsed.iter();
    let unparsed = unparsed.filter(|unparsed| !said.contains(&unparsed.spot));
    let unparsed: Vec<_> = unparsed.collect();
    let (shown, more) = unparsed.split_at(unparsed.len().min(MOST_LINES));
    let more = more.first().map(|first| {
        Hit::new(
            first.spot,
            format!(
                "Slurm cannot parse this, and {} further lines",
                more.len() - 1
            ),
            "is this a slurm.conf?",
        )
    });
    shown
        .iter()
        .map(|unparsed| {
            let line = conf.document.line(&unparsed.spot);
            let before = line.chars().take(unparsed.spot.column - 1);
            let begins = before.clone().all(char::is_whitespace);
            let shown: String = unparsed.text.chars().take(MOST_SHOWN).collect();
            let dots = if shown.len() < unparsed.text.len() {
                "..."
            } else {
                ""
            };
            Hit::new(
                unparsed.spot,
                format!(
                    "Slurm cannot parse \"{}{dots}\", and slurmctld stops at it",
                    shown.escape_debug()
                ),
                how_to_parse(&unparsed.text, begins),
            )
        })
        .chain(more)
        .collect()
}

/// At most this many lines are reported one by one.
const MOST_LINES: usize = 100;

/// At most this many characters of a line are repeated in a sentence.
const MOST_SHOWN: usize = 60;

/// Advice on a text that Slurm cannot parse. `begins`: nothing is before it on its line.
fn how_to_parse(text: &str, begins: bool) -> &'static str {
    let marks = ["<<<<<<<", "=======", ">>>>>>>", "|||||||"];
    let includes = text
        .get(..8)
        .is_some_and(|head| head.eq_ignore_ascii_case("include "));
    match text {
        _ if !begins => {
            "write # before a comment, quotes around a value with blanks, and each setting on a line \
             of its own"
        }
        text if marks.iter().any(|mark| text.starts_with(mark)) => {
            "resolve the merge, and remove its marks"
        }
        text if text.starts_with('[') && text.ends_with(']') => {
            "remove it: slurm.conf has no sections"
        }
        _ if includes => "remove the blanks before include",
        _ => "write # before a comment; a setting is Key=Value",
    }
}

fn unknown_key(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let mut hits: Vec<Hit> = Vec::new();
    for setting in &conf.document.settings {
        let line = &setting.key.text;
        if !keys::is_known("", line) {
            hits.push(no_such_key(setting.key_spot(), "", line));
            continue;
        }
        // After the value of other settings nothing may follow: `line-unparsed`.
        let pairs = match keys::may_follow(line) {
            true => setting.pairs(),
            false => Vec::new(),
        };
        for pair in pairs {
            if !keys::is_known(line, &pair.key) {
                hits.push(no_such_key(setting.pair_key(&pair), line, &pair.key));
            }
        }
    }
    hits
}

fn no_such_key(spot: Spot, line: &str, key: &str) -> Hit {
    let place = match line {
        "" => String::from("slurm.conf"),
        _ => format!("a line of {line}"),
    };
    Hit::new(
        spot,
        format!(
            "{place} has no key {} in Slurm 22.05 and later, and slurmctld stops at it",
            key.escape_debug()
        ),
        keys::advice(line, key),
    )
}

fn key_twice(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let mut hits = Vec::new();
    for key in KEYS.into_iter().chain(["AccountingStorageType"]) {
        let settings = conf.document.settings.iter();
        let given: Vec<&Setting> = settings.filter(|setting| setting.is(key)).collect();
        let Some((last, earlier)) = given.split_last() else {
            continue;
        };
        let place = conf.document.place(&last.key_spot());
        for setting in earlier {
            hits.push(Hit::new(
                setting.key_spot(),
                format!(
                    "{key} is given again at {place}, and only the last value counts: {}",
                    last.value.text.escape_debug()
                ),
                "remove the line that does not hold",
            ));
        }
    }
    hits
}

fn operator_ignored(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let settings = conf.document.settings.iter();
    let ours = settings.filter(|setting| KEYS.iter().any(|key| setting.is(key)));
    ours.filter_map(|setting| {
        let spot = setting.key_spot();
        let line = conf.document.line(&spot);
        let after: String = line.chars().skip(spot.column - 1 + spot.length).collect();
        let operator = after.trim_start().chars().next()?;
        let key = &setting.key.text;
        let value = setting.value.text.escape_debug();
        "+-*/".contains(operator).then(|| {
            Hit::new(
                spot,
                format!("slurmctld reads {operator}= as =: the value replaces any earlier one"),
                format!("write {key}= and the whole value, not only the {value} to be added"),
            )
        })
    })
    .collect()
}

fn include_unread(conf: &EffectiveSettings<'_>) -> Vec<Hit> {
    let unread = conf.document.unread.iter();
    unread
        .map(|unread| {
            Hit::new(
                unread.spot,
                format!(
                    "{} was not read ({}), and slurmctld does not start without it; nothing is said of \
                     settings that it may give",
                    unread.file.escape_debug(),
                    unread.why.escape_debug()
                ),
                "check the file where its includes are, or leave this out with --allow include-unread",
            )
        })
        .collect()
}
