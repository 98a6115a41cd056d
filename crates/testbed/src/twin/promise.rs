//! What the plugin under test promises, and the settings under which it does.

/// What the plugin under test promises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// To be no different from stock in any field.
    Same,
    /// To do what is documented; every difference is a fault of stock that has a name.
    Documented,
}

/// The settings of lives that are to be as documented, for both plugins: ended jobs stay until the life says otherwise,
/// so that ours has no reason to look for them between passes.
pub const DOCUMENTED: [&str; 2] = ["PriorityParameters=compat=documented", "MinJobAge=1000000"];
