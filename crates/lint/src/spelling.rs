//! Did you mean: the known word that is nearest to one that is not known.

/// The nearest of `known` in any case of letters, if it is near enough to be meant: at most one
/// change of a letter in five, transpositions counting once. Of equally near words the first.
pub(super) fn nearest<'k>(word: &str, known: impl Iterator<Item = &'k str>) -> Option<&'k str> {
    let word = word.to_ascii_lowercase();
    let length = word.chars().count();
    let near = known.filter_map(|candidate| {
        let other = candidate.to_ascii_lowercase();
        let most = length.max(other.chars().count()).div_ceil(5);
        // Words of such different lengths need not be compared, however long the input is.
        if length.abs_diff(other.chars().count()) > most {
            return None;
        }
        let distance = strsim::osa_distance(&word, &other);
        (distance <= most).then_some((distance, candidate))
    });
    near.min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// A sentence for a remedy: `did you mean X?`, or else the words that are allowed.
pub(super) fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("use one of {}", known.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slips_are_near_and_other_words_are_not() {
        let known = ["PriorityWeightAge", "PriorityWeightQOS", "MAX_TRES"];
        let near = |word| nearest(word, known.into_iter());
        assert_eq!(near("priorityweigthage"), Some("PriorityWeightAge"));
        assert_eq!(near("MAX_TREES"), Some("MAX_TRES"));
        assert_eq!(near("MAX-TRES"), Some("MAX_TRES"));
        assert_eq!(near("MaxTime"), None);
        assert_eq!(near(""), None);
    }

    #[test]
    fn of_equally_near_words_the_first() {
        assert_eq!(nearest("ac", ["ab", "ad"].into_iter()), Some("ab"));
    }
}
