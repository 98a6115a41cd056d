//! The faults of the stock plugin, each by the name that `docs/parity.md` has for it.
//!
//! If several lives of `tests/twin/faults` have one cause, the fault has the name of the first.

use std::cell::Cell;
use std::fmt;

macro_rules! faults {
    ($($(#[doc = $text:literal])* $fault:ident = $name:literal, $short:literal;)*) => {
        /// One deviation of the stock plugin from the documented behaviour.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Fault {
            $($(#[doc = $text])* $fault,)*
        }

        impl Fault {
            /// All faults.
            pub const ALL: &'static [Fault] = &[$(Fault::$fault,)*];

            /// Its name in tables.
            pub fn name(self) -> &'static str {
                match self { $(Fault::$fault => $name,)* }
            }

            /// A short description.
            pub fn text(self) -> &'static str {
                match self { $(Fault::$fault => $short,)* }
            }
        }
    };
}

faults! {
    /// Accounts with equal level fairshare are walked one after the other.
    TiedAccounts = "tied-accounts", "tied accounts are not merged";
    /// An account without users passes on the previous rank.
    EmptyFirstOfTie = "empty-first-account", "an empty account of a tie hands on a rank";
    /// Level fairshare values are compared as rounded, not as exact numbers.
    RoundedTies = "equal-ratios", "level fairshare ties or parts by rounding";
    /// Shares keep the normalisation of the other ranking.
    StaleShares = "fair-tree-off", "shares keep the normalisation of the other ranking";
    /// Classic fair share mixes values of this pass and of the last one.
    ClassicOrder = "classic-late", "classic fair share of several moments at once";
    /// A classic pass needs a last pass with an earlier time.
    ClassicPassSkipped = "classic-pass-skipped", "no classic pass at first start or after the clock stepped back";
    /// Factors of classic fair share are not in the records.
    ClassicFactorUnpublished = "classic-factor-unpublished", "the factor of classic fair share is left to sshare";
    /// Wrong effective usage of an association with `parent` shares right below the root.
    ParentBelowRoot = "parent-below-root", "FairShare=parent below the root shows another effective usage";
    /// The root's effective usage is 1 without usage.
    RootAlwaysUsed = "root-always-used", "the root counts as used up when nothing is used";
    /// Depth-oblivious fair share computes a power of an f64.
    TinyUsage = "tiny-usage", "DEPTH_OBLIVIOUS takes usage below 1e-308 of its siblings' for none";
    /// Negative usage, which slurmctld's own subtractions can leave, is used in calculations.
    NegativeUsage = "negative-usage", "usage below nothing counts as such";
    /// Usage decays by 0.693 instead of ln 2.
    HalfLife = "half-life", "a half-life of 0.693 instead of ln 2";
    /// Usage of a period decays as if all of it came at the start.
    DecayAtStart = "use-at-start", "use of a period decays as if all came at its start";
    /// Ends of jobs use the half-life of the last pass.
    StaleHalfLife = "end-by-old-half-life", "ends of jobs are charged by the half-life before the reconfigure";
    /// Without limits the rest of an ended job is not charged.
    EndLost = "usage-before-end", "usage between the last pass and a job's end is lost";
    /// Time before a resize is charged again.
    ResizeTwice = "resize-usage", "time before a resize is charged twice";
    /// A resize of a job over its time limit charges up to the limit.
    ResizeByLimit = "resize-over-limit", "a resize charges up to the job's time limit";
    /// Subtracted run-seconds differ from the added ones.
    RunSecondsDrift = "run-seconds-drift", "what is taken from run-seconds is not what was added";
    /// The subtraction of run-seconds at start is wrong.
    StartupSubtraction = "startup-suspended", "run-seconds at start: suspended jobs, jobs over their limit";
    /// Usage in slurmctld's files is older than the last pass.
    CrashLoses = "crash-loses", "a crash loses usage or counts it twice";
    /// Usage in slurmctld's files is truncated.
    SavedAsText = "saved-as-text", "usage is saved with six decimals, wall time in whole seconds";
    /// Waiting jobs with a planned start in the past are charged.
    PendingWall = "pending-wall", "CALCULATE_RUNNING charges waiting jobs for wall time";
    /// The last pass moves back with the clock.
    ClockBack = "clock-back", "time is charged again after the clock stepped back";
    /// RESET NOW acts again.
    ResetNowRearmed = "reset-now-again", "RESET NOW acts again after any reconfigure";
    /// Usage is reset at the wrong moment.
    ResetTime = "reset-daily", "resets by days of 86,400 s, and one per missed period";
    /// New associations have no factor at first.
    NewAssocZero = "new-user", "a new association's first jobs get no fair-share factor of its own";
    /// Differences of counts overflow 32 bits.
    CountWrap = "cpus-wrap", "a job larger than the cluster counts as the smallest";
    /// A QOS of priority 0 in a list is handled wrongly.
    QosZeroInherits = "qos-of-zero", "a QOS of priority 0 in a list counts as the first one";
    /// A row of sprio has the TRES of a different partition.
    SprioTres = "sprio-tres", "sprio's row has the TRES term of another partition, weighted twice";
    /// A priority that was set, in rows of a job in several partitions.
    SprioDirect = "sprio-direct", "sprio's rows of a job in several partitions have no set priority";
    /// Classic passes leave out some jobs.
    CompletingUnpriced = "completing-unpriced", "requeued jobs that still complete keep an old priority";
    /// Ended jobs are priced.
    EndedPriced = "ended-priced", "CALCULATE_RUNNING prices jobs that have ended";
    /// Without slurmdbd, stock has no age factor and makes no passes.
    NoDatabase = "no-slurmdbd-age", "without slurmdbd no age factor, no passes";
}

/// A set of faults that records which of them were queried.
#[derive(Clone, Debug, Default)]
pub struct Faults {
    on: u64,
    asked: Cell<u64>,
}

fn bit(fault: Fault) -> u64 {
    1 << fault as u64
}

impl Faults {
    /// No fault: the documented behaviour.
    pub fn none() -> Faults {
        Faults::default()
    }

    /// The set of these bits.
    fn of(on: u64) -> Faults {
        Faults {
            on,
            asked: Cell::new(0),
        }
    }

    /// Every fault: the stock plugin.
    pub fn all() -> Faults {
        Faults::of(Fault::ALL.iter().map(|fault| bit(*fault)).sum())
    }

    /// The same set, with no queries recorded.
    pub fn afresh(&self) -> Faults {
        Faults::of(self.on)
    }

    /// Returns true if the fault acts; records the query.
    pub fn has(&self, fault: Fault) -> bool {
        self.asked.set(self.asked.get() | bit(fault));
        self.on & bit(fault) != 0
    }

    /// The queried faults that are in the set.
    pub fn asked(&self) -> Vec<Fault> {
        let asked = self.asked.get() & self.on;
        let all = Fault::ALL.iter().copied();
        all.filter(|fault| asked & bit(*fault) != 0).collect()
    }

    /// The set without one fault.
    pub fn without(&self, fault: Fault) -> Faults {
        Faults::of(self.on & !bit(fault))
    }

    /// The set of these faults.
    pub fn only(some: &[Fault]) -> Faults {
        Faults::of(some.iter().map(|fault| bit(*fault)).sum())
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn sets_remember_what_they_were_asked() {
        let all = Faults::all();
        assert!(all.has(Fault::HalfLife));
        assert_eq!(all.asked(), [Fault::HalfLife]);
        let less = all.without(Fault::HalfLife);
        assert!(!less.has(Fault::HalfLife) && less.has(Fault::NoDatabase));
        assert_eq!(less.asked(), [Fault::NoDatabase]);
        assert!(!Faults::none().has(Fault::TiedAccounts));
    }

    #[test]
    fn the_documentation_has_every_name() {
        let document = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/parity.md");
        let document = fs::read_to_string(document).unwrap();
        for name in Fault::ALL.iter().map(|fault| fault.name()) {
            let row = format!("| [{name}](../tests/twin/faults/{name}.life)");
            let line = format!("- `{name}`: ");
            let mut lines = document.lines();
            let told = lines.any(|text| text.starts_with(&row) || text.starts_with(&line));
            assert!(told, "{name}");
        }
    }

    #[test]
    fn names_are_unique() {
        let mut names: Vec<&str> = Fault::ALL.iter().map(|fault| fault.name()).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), Fault::ALL.len());
        assert!(names.len() <= 64);
    }
}
