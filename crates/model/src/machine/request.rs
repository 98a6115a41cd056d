//! The resources and conditions that a job asked for.

/// Memory of a job, megabytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// On each node; 0: all of it.
    Node(u64),
    /// For each CPU.
    Cpu(u64),
}

/// Generic resources that a job asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GresRequest {
    /// Name, as `gpu`.
    pub name: String,
    /// Type; empty: any.
    pub kind: String,
    /// How many: on each node, or in all.
    pub count: u32,
    /// They are counted over all nodes of the job, not on each.
    pub in_all: bool,
}

impl GresRequest {
    /// Those of a job's TRES, as `gres/gpu=2`: on each of `nodes`, rounded up, or in all where it is `None`. Slurm counts
    /// a type besides its name, whose own number is left out then.
    pub fn of_tres(tres: &[(String, u64)], nodes: Option<u64>) -> Vec<GresRequest> {
        let of = |(name, count): &(String, u64)| {
            let name = name.strip_prefix("gres/")?;
            let (name, kind) = name.split_once(':').unwrap_or((name, ""));
            let count = count.div_ceil(nodes.unwrap_or(1).max(1));
            Some(GresRequest {
                name: name.to_owned(),
                kind: kind.to_owned(),
                count: u32::try_from(count).unwrap_or(u32::MAX),
                in_all: nodes.is_none(),
            })
        };
        let all: Vec<GresRequest> = tres.iter().filter_map(of).collect();
        let typed = |name: &str| all.iter().any(|g| g.name == name && !g.kind.is_empty());
        let wanted = all.iter().filter(|g| !g.kind.is_empty() || !typed(&g.name));
        wanted.cloned().collect()
    }
}

/// Features that a job asks for: alternatives of sets.
///
/// Slurm reads `a&b|c` from left to right, as this does: each term joins those before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// Each name, and whether it must hold besides those before it (`&`), or instead (`|`).
    pub terms: Vec<(String, bool)>,
    /// `[a|b]`: all nodes of the job must have the same one of these.
    pub same: Vec<String>,
}

impl Features {
    /// Returns true if a node with these features will do.
    pub fn hold(&self, has: &[String]) -> bool {
        let has = |name: &String| has.contains(name);
        let mut holds = true;
        for (at, (name, and)) in self.terms.iter().enumerate() {
            holds = match (at, and) {
                (0, _) => has(name),
                (_, true) => holds && has(name),
                (_, false) => holds || has(name),
            };
        }
        holds && (self.same.is_empty() || self.same.iter().any(has))
    }
}

/// The event of another job that a job waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// It has started, or was cancelled before (`after`).
    Start,
    /// It has ended, in any way (`afterany`).
    End,
    /// It has ended well (`afterok`).
    Success,
    /// It has ended badly (`afternotok`).
    Failure,
    /// The task with the same number has ended well (`aftercorr`).
    SameTask,
    /// All earlier jobs of the same name and user have ended (`singleton`).
    Singleton,
}

/// A condition of a job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dependency {
    /// The event.
    pub until: Until,
    /// Number of the other job; 0 for a singleton.
    pub job: u32,
    /// Minutes after the event.
    pub delay_mins: u32,
}

/// The request of a job. `None`: it does not say.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Request {
    /// User.
    pub user: Option<String>,
    /// Account.
    pub account: Option<String>,
    /// Partitions.
    pub partitions: Vec<String>,
    /// QOS.
    pub qos: Option<String>,
    /// Name.
    pub name: Option<String>,
    /// `--ntasks`.
    pub tasks: Option<u32>,
    /// `--cpus-per-task`.
    pub cpus_per_task: Option<u32>,
    /// `--ntasks-per-node`.
    pub tasks_per_node: Option<u32>,
    /// `--nodes`: the least and the most.
    pub nodes: Option<(u32, u32)>,
    /// Memory.
    pub memory: Option<Memory>,
    /// Time limit, minutes, and the least that will do.
    pub limit_mins: Option<u32>,
    /// `--time-min`, minutes.
    pub least_mins: Option<u32>,
    /// Generic resources.
    pub gres: Vec<GresRequest>,
    /// Features.
    pub features: Option<Features>,
    /// It wants whole nodes.
    pub exclusive: bool,
    /// Nodes that must be among its nodes.
    pub node_list: Vec<String>,
    /// Nodes that must not.
    pub excluded: Vec<String>,
    /// Numbers of tasks, if it is an array.
    pub array: Option<Vec<u32>>,
    /// Most tasks that run at a time; `None`: any number.
    pub array_running: Option<u32>,
    /// Conditions; all must hold, or any of them where `any_dependency` is set.
    pub dependencies: Vec<Dependency>,
    /// One condition is enough.
    pub any_dependency: bool,
    /// Seconds after submission, or since 1970 where more than 10^9, before which it does not start.
    pub begin: Option<i64>,
    /// It was submitted held.
    pub held: bool,
    /// Nice value.
    pub nice: i32,
    /// Its reservation.
    pub reservation: Option<String>,
    /// Nodes must be neighbours.
    pub contiguous: bool,
    /// Options that are not followed, as they were written.
    pub ignored: Vec<String>,
}

impl Request {
    /// CPUs that it needs at least.
    pub fn cpus(&self) -> u32 {
        let least_nodes = self.nodes.map_or(1, |(least, _)| least.max(1));
        let tasks = match (self.tasks, self.tasks_per_node) {
            (Some(tasks), _) => tasks.max(1),
            (None, Some(per_node)) => per_node * least_nodes,
            (None, None) => least_nodes,
        };
        tasks.max(1) * self.cpus_per_task.unwrap_or(1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn features_are_read_from_left_to_right() {
        let features = |text: &[(&str, bool)]| Features {
            terms: text
                .iter()
                .map(|(n, and)| ((*n).to_owned(), *and))
                .collect(),
            same: Vec::new(),
        };
        let has =
            |names: &[&str]| -> Vec<String> { names.iter().map(|n| (*n).to_owned()).collect() };
        let both = features(&[("a", true), ("b", true)]);
        assert!(both.hold(&has(&["b", "a"])) && !both.hold(&has(&["a"])));
        let either = features(&[("a", true), ("b", false)]);
        assert!(either.hold(&has(&["b"])) && !either.hold(&has(&["c"])));
        assert!(Features::default().hold(&[]));
    }
}
