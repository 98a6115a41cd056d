//! The arguments of `fairtree doctor`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

/// `fairtree doctor`.
#[derive(Debug, Args)]
#[command(
    after_long_help = DOCTOR_EXAMPLES,
    after_help = DOCTOR_EXIT_CODES
)]
pub struct DoctorArgs {
    /// The release that the next upgrade of Slurm brings, as 24.11.5 or the series 24.11; otherwise what apt
    /// or dnf know on this host
    #[arg(long, value_name = "RELEASE")]
    pub next: Option<String>,
    /// Do not ask for jobs and shares, and so do not compare numbers
    #[arg(long)]
    pub quick: bool,
    /// Ask no daemon of Slurm: only this host, its package lists and slurm.conf
    #[arg(long)]
    pub offline: bool,
    /// Where packages put plugins, a folder per release
    #[arg(long, value_name = "DIR", default_value = "/usr/lib/fairtree/slurm")]
    pub plugin_root: PathBuf,
    /// Seconds that each command may take
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=86400)
    )]
    pub time_limit: u64,
    /// Print JSON, of the schema fairtree.doctor/1
    #[arg(long)]
    pub json: bool,
}

impl DoctorArgs {
    /// How long each command may take.
    pub fn limit(&self) -> Duration {
        Duration::from_secs(self.time_limit)
    }
}

pub(super) const DOCTOR_ABOUT: &str = "\
Tell whether slurmctld and its plugin are well, and would be after the next upgrade of Slurm.

Run it on the host of slurmctld, as root or as SlurmUser, and before each upgrade. It finds out which \
Slurm is installed and which one the package manager would install next, whether PluginDir has a \
plugin for each of them, whether the state folder can be written, passes are made, clocks agree, \
slurmdbd answers, whether the settings in force are those of slurm.conf, and whether the numbers of \
sshare and sprio are those that are computed; where they are not, it waits for the next pass and \
looks again. Each finding that is not ok comes with its remedy. Nothing is changed, and no network is \
asked.";

const DOCTOR_EXIT_CODES: &str = "\
Exit codes:
  0  no errors and no warnings
  1  there are errors or warnings, or more than half of the findings are unknown
  2  the options or the output are at fault; a message says which";

const DOCTOR_EXAMPLES: &str = "\
Examples:
  fairtree doctor                         all checks
  fairtree doctor --next 24.11.5          would an upgrade to that release find its plugin?
  fairtree doctor --quick                 without asking for jobs and shares
  fairtree doctor --offline               before slurmctld starts: without asking daemons
  fairtree doctor --json | jq -r '.findings[] | select(.level == \"error\") | .remedy'

Exit codes:
  0  no errors and no warnings
  1  there are errors or warnings, or more than half of the findings are unknown
  2  the options or the output are at fault; a message says which";
