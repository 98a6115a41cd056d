//! What an event in the middle of a pass may leave different for a moment.

/// What may for one pass be neither what it was before nor what it is after.
#[derive(Clone, Copy)]
pub enum Own {
    Nothing,
    /// The factors of a job whose priority an administrator has set: they are void, and a pass
    /// that does not know it yet leaves them alone.
    Factors(u32),
    /// Priority and factors of a job that slurmctld let price by what the last pass had found: a
    /// pass that began before does not know of it.
    Price(u32),
    /// Priorities of jobs in several partitions: once partitions have changed they are not
    /// written, and stay those of the pass before.
    Arrays,
    /// LevelFS, where a ledger keeps what a removed association was charged: a pass that finds it gone
    /// when it writes has charged it up to then, and ranks the others without it.
    Levels,
}

impl Own {
    /// Whether a field of a dump is among them.
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
