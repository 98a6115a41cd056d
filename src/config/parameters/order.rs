//! `order=`.

use super::key::Key;
use super::word;
use crate::compat::Release;
use crate::config::{Config, ValueError};

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

const WORDS: [(&str, Order); 3] = [
    ("weighted", Order::Weighted),
    ("strict", Order::Strict),
    ("interleaved", Order::Interleaved),
];

/// Order of jobs.
pub struct OrderKey;

impl Key for OrderKey {
    type Value = Order;
    const NAME: &'static str = "order";
    const FORM: &'static str = "weighted, strict or interleaved";
    const DEFAULT: &'static str = "weighted";
    const MEANING: &'static str = "how jobs are ordered";

    fn parse(text: &str, _: Option<Release>) -> Result<Order, ValueError> {
        word(text, &WORDS)
    }

    fn is_in_stock(value: &Order) -> bool {
        match value {
            Order::Weighted => true,
            Order::Strict | Order::Interleaved => false,
        }
    }
}

impl Config {
    /// `order=`, or its default.
    pub fn order(&self) -> Order {
        self.parameters.order.unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
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
