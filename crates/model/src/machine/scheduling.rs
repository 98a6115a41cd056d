//! The settings of the main and the backfill scheduler.

/// Settings of slurm.conf by which jobs start; times in seconds unless the name says otherwise.
/// Source of the defaults: slurm.conf(5) of 22.05.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scheduling {
    /// `sched/backfill`; without it the main scheduler alone starts jobs.
    pub has_backfill: bool,
    /// `sched_interval`: between main passes over all jobs.
    pub sched_interval: i64,
    /// `default_queue_depth`: jobs that other main passes look at.
    pub queue_depth: usize,
    /// `partition_job_depth`; 0: any number.
    pub partition_depth: usize,
    /// `batch_sched_delay`.
    pub batch_delay: i64,
    /// `sched_max_job_start`; 0: any number.
    pub max_main_starts: usize,
    /// `assoc_limit_stop`: a job at a limit blocks its partition.
    pub limits_block: bool,
    /// `bf_interval`.
    pub interval: i64,
    /// `bf_resolution`.
    pub resolution: i64,
    /// `bf_window`, in seconds.
    pub window: i64,
    /// `bf_max_job_test`.
    pub max_tests: usize,
    /// `bf_max_job_user`; 0: any number.
    pub max_user: usize,
    /// `bf_max_job_assoc`; 0: any number.
    pub max_assoc: usize,
    /// `bf_max_job_part`; 0: any number.
    pub max_partition: usize,
    /// `bf_max_job_user_part`; 0: any number.
    pub max_user_partition: usize,
    /// `bf_max_job_start`; 0: any number.
    pub max_starts: usize,
    /// `bf_max_job_array_resv`.
    pub max_array_plans: usize,
    /// `bf_node_space_size`: slots of the plan.
    pub max_slots: usize,
    /// `bf_min_prio_reserve`; 0: none.
    pub least_priority: u32,
    /// `bf_min_age_reserve`; 0: none.
    pub least_age: i64,
    /// `bf_job_part_count_reserve`; 0: any number.
    pub partition_plans: usize,
    /// `bf_window_linear`; 0: the window doubles.
    pub window_step: i64,
    /// `bf_one_resv_per_job`.
    pub one_plan: bool,
    /// `bf_busy_nodes`.
    pub busy_nodes: bool,
    /// `bf_running_job_reserve`.
    pub reserve_running: bool,
    /// `bf_max_time`; the backfill interval by default.
    pub max_time: i64,
    /// `KillWait`.
    pub kill_wait: i64,
    /// `OverTimeLimit`, in seconds; `None`: unlimited.
    pub over_limit: Option<i64>,
    /// Memory is allocated (`CR_..._Memory`).
    pub has_memory: bool,
    /// `EnforcePartLimits` other than NO: a job that breaks a limit of its partition was refused.
    pub enforces_partitions: bool,
    /// `AccountingStorageEnforce` has `limits`, `safe` or `qos`.
    pub enforces_limits: bool,
    /// `CompleteWait`.
    pub complete_wait: i64,
}

impl Default for Scheduling {
    fn default() -> Scheduling {
        Scheduling {
            has_backfill: true,
            sched_interval: 60,
            queue_depth: 100,
            partition_depth: 0,
            batch_delay: 3,
            max_main_starts: 0,
            limits_block: false,
            interval: 30,
            resolution: 60,
            window: 86_400,
            max_tests: 500,
            max_user: 0,
            max_assoc: 0,
            max_partition: 0,
            max_user_partition: 0,
            max_starts: 0,
            max_array_plans: 20,
            max_slots: 500,
            least_priority: 0,
            least_age: 0,
            partition_plans: 0,
            window_step: 0,
            one_plan: false,
            busy_nodes: false,
            reserve_running: false,
            max_time: 30,
            kill_wait: 30,
            over_limit: Some(0),
            has_memory: false,
            enforces_partitions: false,
            enforces_limits: false,
            complete_wait: 0,
        }
    }
}
