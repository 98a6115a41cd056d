//! The answers of Slurm's own commands, one reader each, and the site that they describe.
//!
//! | module | reads |
//! |---|---|
//! | [`assoc`] | `sacctmgr -P show assoc` |
//! | [`dump`] | the file that `sacctmgr dump` writes |
//! | [`qos`] | `sacctmgr -P show qos` |
//! | [`rights`] | `sacctmgr show account withcoord`, `show user`, `show config` |
//! | [`transactions`] | `sacctmgr -P show transactions`, as far as they changed shares |
//! | [`partition`] | `scontrol -o show partition` |
//! | [`node`] | `scontrol -o show node` |
//! | [`job`] | `scontrol -o show job`, with names from `squeue` |
//! | [`config`] | `scontrol show config` |
//! | `merged_flags` | which `NO_NORMAL_` flags are set, where scontrol does not say |
//! | [`conf`] | slurm.conf, with the files that it includes |
//! | [`document`] | the lines of slurm.conf and their places; [`conf`] and the linter read them |
//! | [`machine`] | nodes, partitions and scheduler settings of slurm.conf |
//! | [`script`] | a script of `sacctmgr` commands |
//! | [`sbatch`] | the options of an `sbatch` command line |
//! | [`controller_log`] | the log of slurmctld: cycles of its schedulers, starts, ends |
//! | [`pseudonym`] | all of them, without the names of people |
//! | [`plugin`] | plugins as files: for which release each is |
//! | [`limits`] | limits in both tables of sacctmgr |
//! | [`last_pass`] | the file with the times of the last pass and the last reset |
//! | `stamp` | the answers of `squeue` and `scontrol show job`, separated from text of users in
//! them |
//! | `stamped_record` | where a record of a job begins, and what of it Slurm printed |
//! | [`job_request`] | what the jobs that wait and run asked for |
//! | [`job_state`] | the words of `JobState` |
//! | [`present`] | the machine: nodes, partitions and schedulers as they are now |
//! | [`snapshot`] | all of them together, with `sshare` and `sprio` |
//! | [`part`] | the same with a few of the jobs |
//!
//! Times are read as UTC: the commands are run with `TZ=UTC`.

pub mod admission;
pub mod assoc;
pub mod conf;
pub mod config;
pub mod controller_log;
pub mod document;
pub mod dump;
pub mod hostlist;
pub mod job;
mod job_blocks;
mod job_names;
mod job_reader;
pub mod job_request;
pub mod job_state;
pub mod last_pass;
pub mod limits;
pub mod machine;
pub mod node;
pub mod part;
pub mod partition;
pub mod plugin;
pub mod present;
pub mod pseudonym;
pub mod qos;
pub mod rights;
pub mod sbatch;
pub mod script;
pub mod snapshot;
pub mod source;
pub(in crate::input) mod stamp;
mod stamped_record;
pub mod transactions;

pub(in crate::input) mod count;
pub use count::tres as parse_tres;
mod merged_flags;
mod record;
mod scan;
mod table;
pub(in crate::input) mod time;
