//! The promise of the plugin under test, and its settings.

/// A promise of the plugin under test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// It does not differ from stock in any field.
    Same,
    /// It does what is documented; every difference is a fault of stock that has a name.
    Documented,
}

/// The settings of lives with documented behaviour, for both plugins. Ended jobs stay until the
/// life purges them, so that our plugin has no reason to look for them between passes.
pub const DOCUMENTED: [&str; 2] = ["PriorityParameters=compat=documented", "MinJobAge=1000000"];
