//! Fields that an event in the middle of a pass may leave different for a moment.

/// Fields that may, for one pass, have neither the value from before nor the value from after.
#[derive(Clone, Copy)]
pub enum Own {
    Nothing,
    /// The factors of a job whose priority an administrator has set: they are not valid any more,
    /// and a pass that does not know this yet does not change them.
    Factors(u32),
    /// Priority and factors of a job that slurmctld let the plugin price from the results of the
    /// last pass: a pass that began before does not know this job.
    Price(u32),
    /// Priorities of jobs in several partitions: after a change of partitions they are not written,
    /// and keep the values of the pass before.
    Arrays,
    /// LevelFS, if a ledger keeps the charges of a removed association: a pass that finds it
    /// removed when it writes has charged it up to then, and ranks the others without it.
    Levels,
}

impl Own {
    /// Returns true if a field of a dump is one of them.
    pub fn covers(self, field: &str) -> bool {
        let words: Vec<&str> = field.split(' ').collect();
        let [_, id, name] = words[..] else {
            return false;
        };
        let name = name.split('[').next().unwrap_or_default();
        let (job, priority) = match self {
            Own::Nothing => return false,
            Own::Factors(job) => (job, false),
            Own::Price(job) => (job, true),
            Own::Arrays => return words[0] == "job" && name == "array",
            Own::Levels => return words[0] == "assoc" && name == "level_fs",
        };
        let factors = [
            "age",
            "assoc",
            "fs",
            "js",
            "part",
            "qos",
            "site",
            "nice",
            "tres",
            "tres_cnt",
            "tres_weights",
        ];
        words[0] == "job"
            && id == job.to_string()
            && (factors.contains(&name) || priority && ["priority", "array"].contains(&name))
    }
}
