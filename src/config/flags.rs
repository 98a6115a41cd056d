//! `PriorityFlags`: one field per flag, slurm.conf's words, and slurmctld's bit mask.

use super::error::ValueError;
use crate::compat::Release;

/// `PriorityFlags`, one field per flag.
///
/// Two of them act where jobs are chosen, not where they are priced, so [`crate::priority`] does
/// not look at them: `calculate_running` (the host also hands over running and suspended jobs)
/// and `accrue_always` (the host takes the time of submission as
/// [`Job::accrue_time`](crate::priority::Job::accrue_time)). `max_tres` and `max_tres_gres` act
/// where usage is billed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(clippy::struct_excessive_bools)]
pub struct PriorityFlags {
    /// `ACCRUE_ALWAYS`: age counts from submission.
    pub accrue_always: bool,
    /// `CALCULATE_RUNNING`: running jobs are priced too.
    pub calculate_running: bool,
    /// `DEPTH_OBLIVIOUS`: classic fair share with that correction; excludes Fair Tree.
    pub depth_oblivious: bool,
    /// `NO_FAIR_TREE`: classic fair share.
    pub no_fair_tree: bool,
    /// `INCR_ONLY`: a pass never lowers a priority.
    pub incr_only: bool,
    /// `MAX_TRES`: bill the largest of the node-bound TRES.
    pub max_tres: bool,
    /// `MAX_TRES_GRES` (from 25.05).
    pub max_tres_gres: bool,
    /// `NO_NORMAL_ASSOC`: the association factor is the raw priority, not its share of the
    /// largest.
    pub no_normal_assoc: bool,
    /// `NO_NORMAL_PART`: the partition factor is the raw `PriorityJobFactor`.
    pub no_normal_part: bool,
    /// `NO_NORMAL_QOS`: the QOS factor is the raw priority.
    pub no_normal_qos: bool,
    /// `NO_NORMAL_TRES`: TRES factors are counts, not shares of the partition's.
    pub no_normal_tres: bool,
    /// `SMALL_RELATIVE_TO_TIME`: the size factor is CPUs per minute of time limit.
    pub small_relative_to_time: bool,
}

/// Every word of `PriorityFlags`; `FAIR_TREE` has been the default since 19.05.
const WORDS: [&str; 14] = [
    "ACCRUE_ALWAYS",
    "CALCULATE_RUNNING",
    "DEPTH_OBLIVIOUS",
    "FAIR_TREE",
    "INCR_ONLY",
    "MAX_TRES",
    "MAX_TRES_GRES",
    "NO_FAIR_TREE",
    "NO_NORMAL_ALL",
    "NO_NORMAL_ASSOC",
    "NO_NORMAL_PART",
    "NO_NORMAL_QOS",
    "NO_NORMAL_TRES",
    "SMALL_RELATIVE_TO_TIME",
];

// Bits of slurm.h's PRIORITY_FLAGS_*, the same in every release that has them.
const ACCRUE_ALWAYS: u16 = 1 << 0;
const MAX_TRES: u16 = 1 << 1;
const SIZE_RELATIVE: u16 = 1 << 2;
const DEPTH_OBLIVIOUS: u16 = 1 << 3;
const CALCULATE_RUNNING: u16 = 1 << 4;
const FAIR_TREE: u16 = 1 << 5;
const INCR_ONLY: u16 = 1 << 6;
const NO_NORMAL_ASSOC: u16 = 1 << 7;
const NO_NORMAL_PART: u16 = 1 << 8;
const NO_NORMAL_QOS: u16 = 1 << 9;
const NO_NORMAL_TRES: u16 = 1 << 10;
const MAX_TRES_GRES: u16 = 1 << 11;

impl PriorityFlags {
    /// Every word that is a flag, in upper case and alphabetical order.
    pub const fn words() -> &'static [&'static str] {
        &WORDS
    }

    /// Reads the value of `PriorityFlags` as slurmctld does: each flag is looked for anywhere in
    /// the text, in any case of letters, and what is left is ignored
    /// ([`PriorityFlags::unknown_words`] lists it). `DEPTH_OBLIVIOUS` implies `NO_FAIR_TREE`,
    /// `NO_NORMAL_ALL` the four others, and `MAX_TRES_GRES` is not `MAX_TRES`.
    ///
    /// Source: slurm.conf(5), "PriorityFlags".
    ///
    /// ```
    /// use fairtree::config::PriorityFlags;
    /// let flags = PriorityFlags::parse("incr_only,NO_NORMAL_ALL");
    /// assert!(flags.incr_only && flags.no_normal_tres && !flags.no_fair_tree);
    /// ```
    pub fn parse(text: &str) -> PriorityFlags {
        let text = text.to_ascii_uppercase();
        let has = |word: &str| text.contains(word);
        let no_normal_all = has("NO_NORMAL_ALL");
        let max_tres_gres = has("MAX_TRES_GRES");
        PriorityFlags {
            accrue_always: has("ACCRUE_ALWAYS"),
            calculate_running: has("CALCULATE_RUNNING"),
            depth_oblivious: has("DEPTH_OBLIVIOUS"),
            no_fair_tree: has("DEPTH_OBLIVIOUS") || has("NO_FAIR_TREE"),
            incr_only: has("INCR_ONLY"),
            max_tres: has("MAX_TRES") && !max_tres_gres,
            max_tres_gres,
            no_normal_assoc: no_normal_all || has("NO_NORMAL_ASSOC"),
            no_normal_part: no_normal_all || has("NO_NORMAL_PART"),
            no_normal_qos: no_normal_all || has("NO_NORMAL_QOS"),
            no_normal_tres: no_normal_all || has("NO_NORMAL_TRES"),
            small_relative_to_time: has("SMALL_RELATIVE_TO_TIME"),
        }
    }

    /// The words between commas that are no flag: slurmctld passes over them in silence.
    pub fn unknown_words(text: &str) -> Vec<&str> {
        text.split(',')
            .map(str::trim)
            .filter(|word| !word.is_empty())
            .filter(|word| !WORDS.iter().any(|known| known.eq_ignore_ascii_case(word)))
            .collect()
    }

    /// Reads slurmctld's bit mask (`PRIORITY_FLAGS_*` of slurm.h) of that release.
    ///
    /// # Errors
    /// Bits that the release does not define: a flag with a meaning unknown here.
    pub fn from_bits(bits: u16, release: Release) -> Result<PriorityFlags, ValueError> {
        let mut known = MAX_TRES_GRES - 1;
        if release.facts().max_tres_gres {
            known |= MAX_TRES_GRES;
        }
        if bits & !known != 0 {
            return Err(ValueError::new(
                format!("{bits:#x}"),
                format!("the bits {known:#x} of Slurm {release}"),
            ));
        }
        let has = |bit: u16| bits & bit != 0;
        Ok(PriorityFlags {
            accrue_always: has(ACCRUE_ALWAYS),
            calculate_running: has(CALCULATE_RUNNING),
            depth_oblivious: has(DEPTH_OBLIVIOUS),
            no_fair_tree: !has(FAIR_TREE),
            incr_only: has(INCR_ONLY),
            max_tres: has(MAX_TRES),
            max_tres_gres: has(MAX_TRES_GRES),
            no_normal_assoc: has(NO_NORMAL_ASSOC),
            no_normal_part: has(NO_NORMAL_PART),
            no_normal_qos: has(NO_NORMAL_QOS),
            no_normal_tres: has(NO_NORMAL_TRES),
            small_relative_to_time: has(SIZE_RELATIVE),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads one field by the flag's word.
    fn field(flags: PriorityFlags, word: &str) -> bool {
        match word {
            "ACCRUE_ALWAYS" => flags.accrue_always,
            "CALCULATE_RUNNING" => flags.calculate_running,
            "DEPTH_OBLIVIOUS" => flags.depth_oblivious,
            "FAIR_TREE" => !flags.no_fair_tree,
            "INCR_ONLY" => flags.incr_only,
            "MAX_TRES" => flags.max_tres,
            "MAX_TRES_GRES" => flags.max_tres_gres,
            "NO_FAIR_TREE" => flags.no_fair_tree,
            "NO_NORMAL_ASSOC" => flags.no_normal_assoc,
            "NO_NORMAL_PART" => flags.no_normal_part,
            "NO_NORMAL_QOS" => flags.no_normal_qos,
            "NO_NORMAL_TRES" => flags.no_normal_tres,
            "SMALL_RELATIVE_TO_TIME" => flags.small_relative_to_time,
            _ => unreachable!("{word}"),
        }
    }

    #[test]
    fn each_word_sets_its_field_and_no_other() {
        for word in WORDS.iter().filter(|word| **word != "NO_NORMAL_ALL") {
            let flags = PriorityFlags::parse(&word.to_lowercase());
            for other in WORDS.iter().filter(|word| **word != "NO_NORMAL_ALL") {
                let implied = match (*word, *other) {
                    (word, "FAIR_TREE") => !matches!(word, "NO_FAIR_TREE" | "DEPTH_OBLIVIOUS"),
                    ("DEPTH_OBLIVIOUS", "NO_FAIR_TREE") => true,
                    (word, other) => word == other,
                };
                assert_eq!(field(flags, other), implied, "{word} on {other}");
            }
            assert!(PriorityFlags::unknown_words(word).is_empty());
        }
    }

    #[test]
    fn lists_take_any_order_and_no_normal_all_is_four() {
        let flags = PriorityFlags::parse("FAIR_TREE,MAX_TRES");
        assert!(flags.max_tres && !flags.no_fair_tree);
        let all = PriorityFlags::parse("NO_NORMAL_ALL");
        assert!(all.no_normal_assoc && all.no_normal_part);
        assert!(all.no_normal_qos && all.no_normal_tres);
        assert_eq!(PriorityFlags::parse(""), PriorityFlags::default());
    }

    #[test]
    fn unknown_words_are_listed() {
        let text = "INCR_ONLY, MAX_TREES,,max_tres,TICKET_BASED";
        assert_eq!(
            PriorityFlags::unknown_words(text),
            ["MAX_TREES", "TICKET_BASED"]
        );
    }

    // Source: slurm.h of 22.05.8, PRIORITY_FLAGS_*.
    #[test]
    fn bits_of_the_host() {
        for (bit, word) in [
            (0, "ACCRUE_ALWAYS"),
            (1, "MAX_TRES"),
            (2, "SMALL_RELATIVE_TO_TIME"),
            (3, "DEPTH_OBLIVIOUS"),
            (4, "CALCULATE_RUNNING"),
            (5, "FAIR_TREE"),
            (6, "INCR_ONLY"),
            (7, "NO_NORMAL_ASSOC"),
            (8, "NO_NORMAL_PART"),
            (9, "NO_NORMAL_QOS"),
            (10, "NO_NORMAL_TRES"),
        ] {
            let flags = PriorityFlags::from_bits(1 << bit, Release::V22_05_8).unwrap();
            assert!(field(flags, word), "{word}");
        }
        let default = PriorityFlags::from_bits(FAIR_TREE, Release::V24_11_5).unwrap();
        assert_eq!(default, PriorityFlags::default());
    }

    #[test]
    fn bits_of_another_release_are_refused() {
        let error = PriorityFlags::from_bits(1 << 11, Release::V24_11_5).unwrap_err();
        assert_eq!(error.value, "0x800");
        assert!(error.allowed.contains("24.11.5"));
        let newer = Release::new(25, 5, 0);
        assert!(
            PriorityFlags::from_bits(1 << 11, newer)
                .unwrap()
                .max_tres_gres
        );
        assert!(PriorityFlags::from_bits(1 << 12, newer).is_err());
    }
}
