//! `order=`.

/// `order=`: how jobs are ordered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// `weighted`: by the sum of weighted factors.
    #[default]
    Weighted,
    /// `strict`: by the places of their nodes, then first come, first served.
    Strict,
    /// `interleaved`: as they would be chosen one after the other, each charged at once.
    Interleaved,
}

word_key! {
    /// Order of jobs.
    OrderKey, order: Order, "weighted, strict or interleaved", "how jobs are ordered";
    "weighted" => Weighted,
    "strict" => Strict,
    "interleaved" => Interleaved,
}

#[cfg(test)]
mod tests {
    use super::super::key::Key as _;
    use super::*;

    #[test]
    fn words() {
        assert_eq!(OrderKey::parse("weighted", None), Ok(Order::default()));
        let other = OrderKey::parse("STRICT", None);
        assert_eq!(other, Ok(Order::Strict));
        assert!(!OrderKey::is_in_stock(&Order::Strict));
        let error = OrderKey::parse("both", None).unwrap_err();
        assert_eq!(error.allowed, "one of weighted, strict, interleaved");
    }
}
