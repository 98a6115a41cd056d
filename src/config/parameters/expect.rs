//! `expect=`.

/// `expect=`: what a waiting job is expected to use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Expect {
    /// `time_limit`: its time limit.
    #[default]
    TimeLimit,
    /// `history`: what jobs like it have used.
    History,
}

word_key! {
    /// Expected use of a waiting job.
    ExpectKey, expect: Expect, "time_limit or history", "what a waiting job is expected to use";
    "time_limit" => TimeLimit,
    "history" => History,
}

#[cfg(test)]
mod tests {
    use super::super::key::Key as _;
    use super::*;

    #[test]
    fn words() {
        assert_eq!(ExpectKey::parse("time_limit", None), Ok(Expect::default()));
        let other = ExpectKey::parse("HISTORY", None);
        assert_eq!(other, Ok(Expect::History));
        assert!(!ExpectKey::is_in_stock(&Expect::History));
        let error = ExpectKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of time_limit, history");
    }
}
