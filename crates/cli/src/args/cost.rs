//! The arguments of `fairtree cost`.

use std::path::PathBuf;

use clap::Args;

use super::{FormatName, LiveArgs};

/// `fairtree cost`.
#[derive(Debug, Args)]
#[command(after_long_help = COST_EXAMPLES, after_help = COST_EXIT_CODES)]
pub struct CostArgs {
    /// The output of sshare with all users, a site in TOML, or a file of `sacctmgr dump`; `-` reads
    /// standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Take what is not given here from this job
    #[arg(short = 'j', long, value_name = "JOB")]
    pub job: Option<String>,
    /// Resources: cpu=64,mem=256G,gres/gpu=4; memory of the whole job
    #[arg(long, value_name = "RESOURCES", required_unless_present = "job")]
    pub tres: Option<String>,
    /// How long it runs: 2-0 is two days, 90 are minutes
    #[arg(
        short = 't',
        long,
        value_name = "TIME",
        required_unless_present = "job"
    )]
    pub time: Option<String>,
    /// Who pays; without it the user of --job, and at one's own site oneself
    #[arg(short = 'u', long, value_name = "NAME")]
    pub user: Option<String>,
    /// The account of the user, who may have several
    #[arg(short = 'A', long, value_name = "NAME")]
    pub account: Option<String>,
    /// The partition; otherwise the default one
    #[arg(short = 'p', long, value_name = "NAME")]
    pub partition: Option<String>,
    /// The QOS; otherwise normal, if there is one
    #[arg(long, value_name = "NAME")]
    pub qos: Option<String>,
    /// TRESBillingWeights instead of the partition's: CPU=1.0,Mem=0.25G,GRES/gpu=2.0
    #[arg(long, value_name = "WEIGHTS")]
    pub weights: Option<String>,
    /// UsageFactor instead of the QOS's
    #[arg(long, value_name = "NUMBER")]
    pub usage_factor: Option<f64>,
    /// Print JSON, of the schema fairtree.cost/1
    #[arg(long)]
    pub json: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
}

pub(super) const COST_ABOUT: &str = "\
Tell what a job would be billed, what that does to fair share, and how it decays.

The bill by TRESBillingWeights, MAX_TRES and the QOS's UsageFactor. Then the user and the accounts \
above when the job ends, without it and with it, as the engine ranks them while the running jobs \
continue. Then how the rest decays by PriorityDecayHalfLife, or when it is cleared.";

const COST_EXIT_CODES: &str = "\
Exit codes:
  0  worked out
  2  the input, the options or the output are at fault; a message says which";

const COST_EXAMPLES: &str = "\
Examples:
  fairtree cost --tres cpu=64,mem=256G,gres/gpu=4 -p gpu --qos high -t 2-0 -u alice -A physics
  fairtree cost --job 4711 --time 12:00:00
  fairtree cost --from week --job 4711 --json | jq '.charged / 3600'
  fairtree cost --tres cpu=16 -t 1-0 -u anna --weights CPU=2.0 site.toml

Exit codes:
  0  worked out
  2  the input, the options or the output are at fault; a message says which";
