//! The rules, one file per group.

mod accounting;
mod age;
mod charges;
mod comments;
mod flags;
mod lines;
mod partitions;
mod plugin;
mod policy;
mod usage;
mod values;
mod weights;
mod words;

use super::rule::Rule;

/// Every group, in the order of the rules.
static GROUPS: [&[Rule]; 12] = [
    &values::RULES,
    &lines::RULES,
    &plugin::RULES,
    &policy::RULES,
    &flags::RULES,
    &weights::RULES,
    &accounting::RULES,
    &age::RULES,
    &usage::RULES,
    &partitions::RULES,
    &charges::RULES,
    &comments::RULES,
];

impl Rule {
    /// Every rule, in a fixed order.
    ///
    /// ```
    /// use fairtree_lint::Rule;
    /// assert!(Rule::all().any(|rule| rule.id == "max-age-minutes"));
    /// ```
    pub fn all() -> impl Iterator<Item = &'static Rule> {
        GROUPS.iter().flat_map(|group| group.iter())
    }

    /// The rule of that name.
    pub fn find(id: &str) -> Option<&'static Rule> {
        Rule::all().find(|rule| rule.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_kebab_case() {
        let mut ids: Vec<&str> = Rule::all().map(|rule| rule.id).collect();
        for id in &ids {
            let word =
                |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_lowercase());
            assert!(id.split('-').all(word), "{id}");
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn every_rule_says_what_it_rests_on() {
        for rule in Rule::all() {
            assert!(
                !rule.summary.is_empty() && !rule.source.is_empty(),
                "{}",
                rule.id
            );
        }
    }
}
