//! Slurm's lists of names: `n[01-03,7],login` is four nodes.

/// At most this many names are in a list.
pub const MOST: usize = 100_000;

/// The names of a list, in its order; empty entries are skipped. `None`: a bracket that is not closed, a
/// range that is not one of numbers, or more than 100,000 names.
///
/// Source: `scontrol show hostnames` of Slurm 22.05.8.
///
/// ```
/// use fairtree_model::input::slurm::hostlist::expand;
/// assert_eq!(expand("n[08-10],login").unwrap(), ["n08", "n09", "n10", "login"]);
/// assert_eq!(expand("n[3-1]"), None);
/// ```
pub fn expand(text: &str) -> Option<Vec<String>> {
    let mut names = Vec::new();
    for entry in entries(text)? {
        let mut found = vec![String::new()];
        let mut rest = entry;
        while let Some((literal, after)) = rest.split_once('[') {
            let (ranges, after) = after.split_once(']')?;
            let numbers = numbers(ranges)?;
            if found.len().checked_mul(numbers.len())? > MOST {
                return None;
            }
            let each = found.iter().flat_map(|name| {
                let with = move |number: &String| format!("{name}{literal}{number}");
                numbers.iter().map(with)
            });
            found = each.collect();
            rest = after;
        }
        for name in &mut found {
            name.push_str(rest);
        }
        if names.len() + found.len() > MOST {
            return None;
        }
        names.extend(found);
    }
    Some(names)
}

/// The entries between the commas outside brackets; `None`: a bracket is not closed.
fn entries(text: &str) -> Option<Vec<&str>> {
    let (mut entries, mut from, mut inside) = (Vec::new(), 0, false);
    for (at, char) in text.char_indices() {
        match char {
            '[' => inside = true,
            ']' => inside = false,
            ',' if !inside => {
                entries.push(&text[from..at]);
                from = at + 1;
            }
            _ => {}
        }
    }
    entries.push(&text[from..]);
    entries.retain(|entry| !entry.is_empty());
    (!inside).then_some(entries)
}

/// The numbers of `01-03,7`, each at least as wide as the first of its range.
fn numbers(ranges: &str) -> Option<Vec<String>> {
    let mut numbers = Vec::new();
    for range in ranges.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
        if !digits(first) || !digits(last) {
            return None;
        }
        let width = first.len();
        let (first, last): (u64, u64) = (first.parse().ok()?, last.parse().ok()?);
        if last < first || last - first >= MOST as u64 || numbers.len() >= MOST {
            return None;
        }
        numbers.extend((first..=last).map(|number| format!("{number:0width$}")));
    }
    Some(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Source: `scontrol show hostnames` of Slurm 22.05.8.
    #[test]
    fn names_are_those_of_scontrol() {
        for (text, names) in [
            ("a[1-2]b[1-2]", "a1b1 a1b2 a2b1 a2b2"),
            ("n[01-03,7],x", "n01 n02 n03 n7 x"),
            ("ALL", "ALL"),
            ("a,,b", "a b"),
            ("n[08-11]", "n08 n09 n10 n11"),
            ("n[01-2]", "n01 n02"),
            ("n[99-101]", "n99 n100 n101"),
            ("n[1,3-4]", "n1 n3 n4"),
            ("", ""),
        ] {
            let expected: Vec<&str> = names.split_whitespace().collect();
            assert_eq!(expand(text).unwrap(), expected, "{text}");
        }
        for text in ["a[3-1]", "n[a-b]", "a[1-2,x]", "a[1", "n[]"] {
            assert_eq!(expand(text), None, "{text}");
        }
    }

    #[test]
    fn lists_have_an_end() {
        assert_eq!(expand("n[1-100000]").unwrap().len(), MOST);
        for text in [
            "n[1-100001]",
            "n[1-400]x[1-400]",
            "n[1-60000],m[1-60000]",
            "n[0-18446744073709551615]",
            "n[1-99999,1-99999,1-99999]x[1-9999999999]",
        ] {
            assert_eq!(expand(text), None, "{text}");
        }
    }
}
