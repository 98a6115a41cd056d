//! Two answers of `scontrol show config`: the settings of priorities that changed.

use std::collections::BTreeMap;

use super::{Change, Happened, Kind, Value, Values};
use fairtree_model::input::slurm::config::pairs;

/// The differences of settings about priorities, by name, and of the policy file's text.
///
/// `policies`: the text before and after; `None`: there is no policy file.
pub fn settings(before: &str, after: &str, policies: [Option<&str>; 2]) -> Vec<Change> {
    let (old, new) = (about_priorities(before), about_priorities(after));
    let mut names: Vec<&str> = old.keys().chain(new.keys()).copied().collect();
    names.sort_unstable();
    names.dedup();
    let mut changes: Vec<Change> = Vec::new();
    for name in names {
        let (from, to) = (old.get(name).copied(), new.get(name).copied());
        if !is_same(name, from, to) {
            let word = |side: Option<&str>| side.unwrap_or("none").to_owned();
            let mut change = Change::new(
                Kind::Setting,
                name,
                format!("{} -> {}", word(from), word(to)),
            );
            let value = |side: Option<&str>| side.map(|text| Value::Text(text.to_owned()));
            change.values.push(Values {
                name: name.to_owned(),
                before: value(from),
                after: value(to),
            });
            changes.push(change);
        }
    }
    let policy =
        |what: &str, happened| Change::new(Kind::Setting, "policy file", what).happened(happened);
    match policies {
        [None, Some(_)] => changes.push(policy("new", Happened::New)),
        [Some(_), None] => changes.push(policy("gone", Happened::Gone)),
        [Some(from), Some(to)] if from != to => {
            changes.push(policy("its text changed", Happened::Changed));
        }
        _ => {}
    }
    changes
}

/// Returns true for one value in two spellings: words of settings have no case, and scontrol wrote some
/// otherwise before (`No`, `no`). Paths in parameters have.
fn is_same(name: &str, from: Option<&str>, to: Option<&str>) -> bool {
    let any_case = !name.contains("Parameters");
    match (from, to) {
        (Some(from), Some(to)) if any_case => from.eq_ignore_ascii_case(to),
        _ => from == to,
    }
}

fn about_priorities(text: &str) -> BTreeMap<&str, &str> {
    let is_one = |key: &str| key.starts_with("Priority") || key.starts_with("FairShare");
    pairs(text).filter(|(key, _)| is_one(key)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_priorities_and_the_policy() {
        let before = "PriorityWeightAge = 10\nPriorityMaxAge = 7-00:00:00\nSchedulerType = a\n";
        let after = "PriorityWeightAge = 20\nPriorityMaxAge = 7-00:00:00\nSchedulerType = b\n";
        let said: Vec<String> = settings(before, after, [Some("a"), Some("b")])
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(
            said,
            [
                "PriorityWeightAge: 10 -> 20",
                "policy file: its text changed"
            ]
        );
        assert!(settings(before, before, [None, None]).is_empty());
        // As 22.05 and 24.11 write it.
        let [old, new] = ["PriorityFavorSmall = No\n", "PriorityFavorSmall = no\n"];
        assert!(settings(old, new, [None, None]).is_empty());
    }
}
