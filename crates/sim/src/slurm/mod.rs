//! Slurm's main and backfill scheduler, simulated.
//!
//! | module | noun |
//! |---|---|
//! | [`node_set`] | a set of nodes |
//! | [`ask`] | a job's request, with names resolved |
//! | [`usage`] | resources of nodes in use, resources of a job |
//! | [`select`] | the nodes of a job |
//! | [`limits`] | limits of associations and QOS |
//! | [`state`] | jobs that run, nodes in use, the queue |
//! | [`placed`] | resources of a job on nodes that it is known to have |
//! | [`main_loop`] | a pass of the main scheduler |
//! | [`plan`] | the plan of a backfill cycle |
//! | [`backfill`] | a cycle of the backfill scheduler |
//! | [`site`] | usage, ranks and prices, by the engine |
//! | [`waiting`] | jobs that wait, with their priorities |
//! | [`scene`] | a site with the jobs of a log, ready to run |
//! | [`timeline`] | a recorded run: its jobs and events |
//! | [`life`] | what a job waits for, and how long it runs |
//! | [`pool`] | a pool of processors in the order of a site's priorities |
//! | [`free`] | a run of a cluster on its own |
//! | [`check`] | predictions of a recorded run, one step ahead |
//!
//! Source of the rules: Slurm 22.05.8, `sched/backfill`, `slurmctld` and `select/cons_tres`.

pub mod ask;
pub mod backfill;
pub mod check;
pub mod free;
pub mod life;
pub mod limits;
pub mod main_loop;
pub mod node_set;
pub mod placed;
pub mod plan;
pub mod pool;
pub mod scene;
pub mod select;
pub mod site;
pub mod state;
pub mod timeline;
pub mod usage;
pub mod waiting;
