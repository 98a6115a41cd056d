//! The settings from the trace.

use anyhow::Result;

use super::fields::Fields;
use super::number::Fraction;

/// Bits of PriorityFlags.
pub mod flag {
    pub const SIZE_RELATIVE: u32 = 1 << 2;
    pub const DEPTH_OBLIVIOUS: u32 = 1 << 3;
    pub const CALCULATE_RUNNING: u32 = 1 << 4;
    pub const FAIR_TREE: u32 = 1 << 5;
    pub const INCR_ONLY: u32 = 1 << 6;
    pub const NO_NORMAL_ASSOC: u32 = 1 << 7;
    pub const NO_NORMAL_PART: u32 = 1 << 8;
    pub const NO_NORMAL_QOS: u32 = 1 << 9;
    pub const NO_NORMAL_TRES: u32 = 1 << 10;
}

/// The settings that slurmctld holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Conf {
    pub zone: String,
    /// True if a reconfigure restarts slurmctld, as it does in newer releases.
    pub starts_anew: bool,
    /// True if records keep the classic factor for pricing jobs.
    pub keeps_factor: bool,
    pub cpus: u32,
    pub nodes: u32,
    pub users: u32,
    /// Time of the last change of partitions.
    pub part_update: i64,
    pub root: u32,
    pub slurmdbd: bool,
    pub limits: bool,
    pub weight_age: u32,
    pub weight_assoc: u32,
    pub weight_fs: u32,
    pub weight_js: u32,
    pub weight_part: u32,
    pub weight_qos: u32,
    pub flags: u32,
    pub max_age: u32,
    pub favor_small: bool,
    pub half_life: u32,
    pub reset_period: u32,
    pub dampening: u32,
    /// One weight per TRES; none without PriorityWeightTRES.
    pub weight_tres: Vec<Fraction>,
}

impl Conf {
    /// Reads the record of settings.
    ///
    /// # Errors
    /// Fails if a setting is missing or is not a number.
    pub fn parse(fields: &Fields) -> Result<Conf> {
        Ok(Conf {
            zone: fields.word("zone")?.unwrap_or("UTC").to_owned(),
            starts_anew: fields.int::<u32>("starts_anew")? != 0,
            keeps_factor: fields.int::<u32>("keeps_factor")? != 0,
            cpus: fields.int("cpus")?,
            nodes: fields.int("nodes")?,
            users: fields.int("users")?,
            part_update: fields.int("part_update")?,
            root: fields.int("root")?,
            slurmdbd: fields.int::<u32>("slurmdbd")? != 0,
            limits: fields.int::<u32>("limits")? != 0,
            weight_age: fields.int("age")?,
            weight_assoc: fields.int("assoc")?,
            weight_fs: fields.int("fs")?,
            weight_js: fields.int("js")?,
            weight_part: fields.int("part")?,
            weight_qos: fields.int("qos")?,
            flags: fields.int("flags")?,
            max_age: fields.int("max_age")?,
            favor_small: fields.int::<u32>("favor_small")? != 0,
            half_life: fields.int("half_life")?,
            reset_period: fields.int("reset_period")?,
            dampening: fields.int("dampening")?,
            weight_tres: fields.fractions("tres")?,
        })
    }

    /// Returns true if a flag of PriorityFlags is set.
    pub fn has(&self, flag: u32) -> bool {
        self.flags & flag != 0
    }

    /// Flags for Fair Tree and for depth-oblivious fair share; neither: classic.
    pub fn ranking(&self) -> [bool; 2] {
        let fair_tree = self.has(flag::FAIR_TREE);
        [fair_tree, !fair_tree && self.has(flag::DEPTH_OBLIVIOUS)]
    }
}
