//! Readers of real-world files: one per format, the format found by content or named.
//!
//! | module | reads |
//! |---|---|
//! | [`capture`] | folders with the answers of Slurm's commands, and the commands |
//! | [`package`] | what dpkg, apt, rpm and dnf say of a package's versions |
//! | [`prices`] | what runs cost (TOML) |
//! | [`queue`] | a site whose machines ask what is next (TOML), and what happens there (JSON lines) |
//! | [`recorded`] | folders with a recorded run of a cluster |
//! | [`sacct`] | accounting records of jobs: `sacct -P` |
//! | [`slurm`] | the answers of `sacctmgr` and `scontrol`, and the site that all together describe |
//! | [`sprio`] | the text that `sprio` prints: columns of any choice, `-n`, `-w`, several listings |
//! | [`sshare`] | the text that `sshare` prints: columns, `-p`, `-P`, any `-o` |
//! | [`sweep`] | plans and results of sweeps |
//! | [`swf`] | logs in the Standard Workload Format |
//! | [`site`] | a site described in TOML (`docs/site-format.md`) |
//!
//! [`stream`] unpacks what is in gzip. Every reader takes a stream and the name to use in messages, and answers with rows or with an
//! [`InputError`] that names the place, the value, what is allowed and a way out. A reader never
//! answers with part of a file that it did not understand; of the answers of a cluster and of listings of
//! sacct, into which every user can put text, it leaves out the record that it cannot read and says
//! so ([`left_out`]).

pub mod capture;
pub mod error;
pub mod format;
mod interner;
pub mod left_out;
mod lines;
pub mod package;
pub mod prices;
mod prompt;
pub mod queue;
pub mod recorded;
pub mod sacct;
pub mod site;
pub mod slurm;
pub mod sprio;
pub mod sshare;
pub mod stream;
pub mod sweep;
pub mod swf;
pub mod workload;

pub use error::{InputError, Problem};
pub use format::Format;
pub use interner::Name;
pub use left_out::LeftOut;
pub use lines::{MAX_LINE_BYTES, MAX_ROWS};
