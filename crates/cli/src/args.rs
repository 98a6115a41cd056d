//! The arguments, from which help, man pages and completions are made.

mod apply;
mod bill;
mod capture;
mod changes;
mod chart;
mod compare;
mod cost;
mod doctor;
mod explain;
mod forecast;
mod ledger;
mod live;
mod login;
mod metrics;
mod prio;
mod queue;
mod serve;
mod shares;
mod simulate;
mod sweep;
mod what_if;

pub use apply::ApplyArgs;
pub use bill::BillArgs;
pub use capture::{CaptureArgs, Keep};
pub use changes::ChangeArgs;
pub use chart::{ChartArgs, ChartFormat, PictureName, ThemeName};
pub use compare::CompareArgs;
pub use cost::CostArgs;
pub use doctor::DoctorArgs;
pub use explain::ExplainArgs;
pub use forecast::{ForecastArgs, ProxyName};
pub use ledger::{CheckArgs, FillArgs, LedgerAction, LedgerArgs, PlaceArgs, ShowArgs};
pub use live::LiveArgs;
pub use login::{LoginArgs, ServiceArgs};
pub use metrics::MetricsArgs;
pub use prio::PrioArgs;
pub use queue::QueueArgs;
pub use serve::ServeArgs;
pub use shares::SharesArgs;
pub use simulate::{ByName, PoolName, SchedulerName, SimulateArgs};
pub use sweep::SweepArgs;
pub use what_if::WhatIfArgs;

use std::path::PathBuf;

use clap::{ArgAction, Args, CommandFactory, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;
use fairtree::fairshare::Ranking;
use fairtree_model::input::Format;

/// Fair-share factors and job priorities, as Slurm computes them and as its documentation states
/// them.
#[derive(Debug, Parser)]
#[command(
    name = "fairtree",
    version,
    propagate_version = true,
    max_term_width = 100,
    after_help = EXIT_CODES
)]
pub struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Colour messages: where a terminal shows them and NO_COLOR is not set, always, or never
    #[arg(long, global = true, value_name = "WHEN", value_enum, default_value_t = Color::Auto)]
    pub color: Color,
    /// Leave out notes; errors are still told
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

const EXIT_CODES: &str = "\
Exit codes:
  0  all is well
  1  a comparison or a check that was asked for found something
  2  the input, the options or the output are at fault; a message says which";

/// Groups of subcommands in the help, in its order.
const GROUPS: [(&str, &[&str]); 3] = [
    (
        "For users",
        &[
            "explain", "share", "shares", "prio", "what-if", "cost", "chart", "login",
        ],
    ),
    (
        "For administrators",
        &[
            "doctor", "lint", "capture", "compare", "metrics", "serve", "ledger", "bill",
        ],
    ),
    (
        "For owners of other schedulers, and to try a policy",
        &["simulate", "sweep", "forecast", "queue"],
    ),
];

/// The command, with its subcommands in groups.
pub fn command() -> clap::Command {
    let command = Cli::command();
    let mut list = String::new();
    for (heading, names) in GROUPS {
        list += &format!("{heading}:\n");
        for name in names {
            let about = command
                .find_subcommand(name)
                .and_then(clap::Command::get_about);
            let about = about.map_or(String::new(), ToString::to_string);
            list += &format!("  {name:<10} {about}\n");
        }
        list.push('\n');
    }
    list += "`fairtree help COMMAND` has more, with examples; `fairtree completions SHELL` completes words.\n";
    let template = format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{list}\nOptions:\n{{options}}{{after-help}}"
    );
    command.help_template(template)
}

/// When to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal, unless `NO_COLOR` is set.
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// What to do.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Show shares, usage and fair-share factors in sshare's columns
    #[command(long_about = SHARE_ABOUT)]
    Share(ShareArgs),
    /// Show one level of shares and minutes, and what to run to change it
    #[command(long_about = shares::SHARES_ABOUT)]
    Shares(SharesArgs),
    /// Show why a job waits, its place and its priority, why one job or user comes before another, and
    /// what would help
    #[command(long_about = explain::EXPLAIN_ABOUT)]
    Explain(ExplainArgs),
    /// Show who would move up and down if something changed
    #[command(long_about = what_if::WHAT_IF_ABOUT)]
    WhatIf(Box<WhatIfArgs>),
    /// Show what a job would be billed, and what that does to fair share
    #[command(long_about = cost::COST_ABOUT)]
    Cost(Box<CostArgs>),
    /// Find settings of a slurm.conf that have no effect, or not the one you expect
    Lint(LintArgs),
    /// Show job priorities and their factors in sprio's columns
    #[command(long_about = prio::PRIO_ABOUT)]
    Prio(PrioArgs),
    /// Write shares, use, factors and the queue as metrics for Prometheus
    #[command(long_about = metrics::METRICS_ABOUT)]
    Metrics(MetricsArgs),
    /// Keep the answers of Slurm's commands in a folder, to look at them elsewhere
    #[command(long_about = capture::CAPTURE_ABOUT)]
    Capture(CaptureArgs),
    /// Show what changed between two outputs of sshare or sprio, or two captures, and why
    #[command(long_about = compare::COMPARE_ABOUT)]
    Compare(CompareArgs),
    /// Draw shares and use: over time from captures or a log of jobs, and as a tree
    #[command(long_about = chart::CHART_ABOUT)]
    Chart(ChartArgs),
    /// Simulate a queue: which job does each machine run next? Fair share or on demand
    #[command(long_about = queue::QUEUE_ABOUT)]
    Queue(QueueArgs),
    /// Replay a log of jobs on a simulated machine: waits, use, who is owed what and who is delayed
    #[command(long_about = simulate::SIMULATE_ABOUT)]
    Simulate(Box<SimulateArgs>),
    /// Replay a log under many policies, and show the best ones
    #[command(long_about = sweep::SWEEP_ABOUT)]
    Sweep(SweepArgs),
    /// Forecast when jobs start, and measure how good such forecasts are
    #[command(long_about = forecast::FORECAST_ABOUT)]
    Forecast(Box<ForecastArgs>),
    /// Add up what is to be paid for the runs that sacct lists
    #[command(long_about = bill::BILL_ABOUT)]
    Bill(BillArgs),
    /// Fill ledgers of past use from the accounting database, and show which times they cover
    #[command(long_about = ledger::LEDGER_ABOUT)]
    Ledger(LedgerArgs),
    /// Check slurmctld and its plugin, now and after the next upgrade of Slurm
    #[command(long_about = doctor::DOCTOR_ABOUT)]
    Doctor(DoctorArgs),
    /// Run the service of pages for everybody on a site, where it is installed
    #[command(long_about = serve::SERVE_ABOUT)]
    Serve(ServeArgs),
    /// Print a link that signs you in to the pages of this site
    #[command(long_about = login::LOGIN_ABOUT)]
    Login(LoginArgs),
    /// Give out the shares of a plan that the service has computed
    #[command(long_about = apply::APPLY_ABOUT)]
    Apply(ApplyArgs),
    /// Print completions of words for a shell
    Completions(CompletionsArgs),
    /// Write what a package needs beside the program
    #[command(hide = true)]
    Generate(GenerateArgs),
}

/// `fairtree share`.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = SHARE_EXAMPLES,
    after_help = EXIT_CODES
)]
#[allow(clippy::struct_excessive_bools)] // One per flag of sshare.
pub struct ShareArgs {
    /// The output of sshare, a site in TOML, a file of `sacctmgr dump`, or a log of jobs; `-` reads
    /// standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// A capture, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// Show all users; a file is shown whole without it, too
    #[arg(help_heading = "Rows", short = 'a', long, overrides_with = "users")]
    pub all: bool,
    /// Show only these accounts and their users
    #[arg(
        help_heading = "Rows",
        short = 'A',
        long,
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub accounts: Vec<String>,
    /// Of the users show only these; -1 shows all
    #[arg(
        help_heading = "Rows",
        short = 'u',
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        allow_negative_numbers = true,
        overrides_with = "all"
    )]
    pub users: Vec<String>,
    /// Show users only, no accounts
    #[arg(help_heading = "Rows", short = 'U', long = "Users")]
    pub users_only: bool,
    /// Show normalised usage, level fairshare and TRES minutes, too
    #[arg(help_heading = "Columns", short = 'l', long)]
    pub long: bool,
    /// Show the partition of each association
    #[arg(help_heading = "Columns", short = 'm', long)]
    pub partition: bool,
    /// Leave out the header
    #[arg(help_heading = "Forms", short = 'n', short_alias = 'h', long)]
    pub noheader: bool,
    /// Show these columns: beginnings of their names, each with an optional %width (negative:
    /// flush left), as Account,User%15,LevelFS
    #[arg(
        help_heading = "Columns",
        short = 'o',
        long,
        value_name = "COLUMNS",
        allow_hyphen_values = true
    )]
    pub format: Vec<String>,
    /// List the columns for --format
    #[arg(help_heading = "Columns", short = 'e', long)]
    pub helpformat: bool,
    /// Put a | after each value
    #[arg(
        help_heading = "Forms",
        short = 'p',
        long,
        overrides_with = "parsable2"
    )]
    pub parsable: bool,
    /// Put a | between values
    #[arg(help_heading = "Forms", short = 'P', long, overrides_with = "parsable")]
    pub parsable2: bool,
    /// Print JSON, of the schema fairtree.share/1
    #[arg(help_heading = "Forms", long, conflicts_with_all = ["parsable", "parsable2", "format", "check"])]
    pub json: bool,
    /// Draw the tree with bars of share and use, as wide as the terminal
    #[arg(help_heading = "Forms", long, conflicts_with_all = ["parsable", "parsable2", "format", "check", "json"])]
    pub tree: bool,
    /// Print a page of HTML with the tree, to look at in a browser; it needs nothing else
    #[arg(help_heading = "Forms", long, conflicts_with_all = ["parsable", "parsable2", "format", "check", "json", "tree"])]
    pub html: bool,
    /// Print the tree with its bars as an SVG picture
    #[arg(help_heading = "Forms", long, conflicts_with_all = ["parsable", "parsable2", "format", "check", "json", "tree", "html"])]
    pub svg: bool,
    /// Compare the numbers that sshare printed with those computed from its RawShares and
    /// RawUsage, and list the differences; exit code 1 if there are any
    #[arg(help_heading = "Computation", long)]
    pub check: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(help_heading = "Computation", long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// Follow this policy file instead of the site's policy
    #[arg(help_heading = "Computation", long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How shares and usage become factors; otherwise what the site's settings say, or what the
    /// listing looks like
    #[arg(
        help_heading = "Computation",
        long,
        alias = "algorithm",
        value_name = "NAME",
        value_enum
    )]
    pub ranking: Option<RankingName>,
    /// FairShareDampeningFactor of the classic rankings
    #[arg(help_heading = "Computation", long, value_name = "FACTOR", value_parser = clap::value_parser!(u16).range(1..))]
    pub dampening: Option<u16>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// A ranking of associations by their usage.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum RankingName {
    /// Ranks by depth-first walk (FAIR_TREE).
    #[value(alias = "fair_tree")]
    FairTree,
    /// 2^(-usage/shares) (NO_FAIR_TREE).
    Classic,
    /// The same, siblings compared first (DEPTH_OBLIVIOUS).
    #[value(alias = "depth_oblivious")]
    DepthOblivious,
}

impl RankingName {
    /// The ranking, with a dampening factor of 1 where it has one.
    pub fn ranking(self) -> Ranking {
        match self {
            RankingName::FairTree => Ranking::FAIR_TREE,
            RankingName::Classic => Ranking::classic(1),
            RankingName::DepthOblivious => Ranking::depth_oblivious(1),
        }
    }
}

/// A format of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// The output of sshare: columns, -p, -P.
    Sshare,
    /// The output of sshare --json.
    SshareJson,
    /// A site in TOML.
    Site,
    /// A file of sacctmgr dump.
    Dump,
    /// The output of sacctmgr -P show assoc.
    Assocs,
    /// The output of sacct -P.
    Sacct,
    /// A log in the Standard Workload Format.
    Swf,
}

impl From<FormatName> for Format {
    fn from(name: FormatName) -> Format {
        match name {
            FormatName::Sshare => Format::Sshare,
            FormatName::SshareJson => Format::SshareJson,
            FormatName::Site => Format::Site,
            FormatName::Dump => Format::Dump,
            FormatName::Assocs => Format::Assocs,
            FormatName::Sacct => Format::Sacct,
            FormatName::Swf => Format::Swf,
        }
    }
}

/// `fairtree lint`.
#[derive(Debug, Args)]
#[command(long_about = LINT_ABOUT, after_long_help = LINT_EXAMPLES, after_help = LINT_EXIT_CODES)]
pub struct LintArgs {
    /// slurm.conf, or `-` for standard input; files that it includes are read from its folder
    #[arg(required_unless_present = "rules")]
    pub file: Option<PathBuf>,
    /// Number of user associations, to check whether weights can tell them apart
    #[arg(long, value_name = "NUMBER")]
    pub users: Option<u32>,
    /// The site's Slurm release, as 24.11.5 or the series 24.11, for what differs between releases
    #[arg(long, value_name = "RELEASE")]
    pub release: Option<String>,
    /// The site's accounts, to check the accounts of a policy file and their minutes: the output of
    /// sshare, a site in TOML, or a file of sacctmgr dump
    #[arg(long, value_name = "FILE")]
    pub accounts: Option<PathBuf>,
    /// Leave out the findings of these rules
    #[arg(long, value_name = "RULES", value_delimiter = ',')]
    pub allow: Vec<String>,
    /// Print JSON, of the schema fairtree.lint/1
    #[arg(long)]
    pub json: bool,
    /// List the rules, how bad their findings are, and what they rest on
    #[arg(long, conflicts_with_all = ["file", "json"])]
    pub rules: bool,
}

/// `fairtree completions`.
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: Shell,
}

const COMPLETIONS_EXAMPLES: &str = "\
Examples:
  fairtree completions bash > fairtree.bash
  fairtree completions zsh > _fairtree
  fairtree completions fish > fairtree.fish
  fairtree completions elvish > fairtree.elv

Exit codes:
  0  printed
  2  the options or the output are at fault; a message says which";

/// `fairtree generate`.
#[derive(Debug, Args)]
pub struct GenerateArgs {
    /// What to write.
    pub what: Generated,
    /// The folder to write to; it is made if need be.
    pub folder: PathBuf,
}

/// What `fairtree generate` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Generated {
    /// Manual pages.
    Man,
    /// Completions for bash, zsh and fish.
    Completions,
}

const SHARE_ABOUT: &str = "\
Show shares, usage and fair-share factors in sshare's columns.

The input is the output of sshare, in any of its forms, a capture, what Slurm says now, a file of \
sacctmgr dump, a site described in TOML, or a log of jobs (sacct -P, Standard Workload Format). \
From the last three everything is computed. From sshare's output every derived column is computed anew from RawShares \
and RawUsage, as far as the rows allow; where they do not, the number that sshare printed is shown \
and a note says why. Columns, widths and number forms are those of sshare 22.05 and 24.11.";

const SHARE_EXAMPLES: &str = "\
Examples:
  sshare -a -l -P | fairtree share -l         the same table, computed here
  sshare -a -l -P | fairtree share --check    do Slurm and fairtree agree?
  fairtree share -A physics -o User,LevelFS,FairShare site.toml
  fairtree share --json site.toml | jq '.rows[] | select(.user == \"alice\")'
  fairtree share --compat slurm:22.05.8 site.toml
  fairtree share -l                           what Slurm says now
  fairtree share -l --from week               a capture: fairtree capture --help
  fairtree share --tree site.toml             bars of share against use
  fairtree share --html site.toml > page.html

A site in TOML:
  [accounts.physics]
  shares = 40
  users.alice = { shares = 1, usage = 86400 }
  users.bob = { shares = \"parent\" }

Exit codes:
  0  all is well
  1  --check found differences
  2  the input, the options or the output are at fault; a message says which";

const LINT_ABOUT: &str = "\
Find settings of a slurm.conf that have no effect, or not the one you expect.

Each finding names the rule and the place, shows the line, says why it does not do what it seems \
to, and what to do about it. Errors are what slurmctld stops at, warnings what does nothing or \
something else, notes where Slurm does less than is commonly believed.";

const LINT_EXIT_CODES: &str = "\
Exit codes:
  0  nothing was found, or notes alone
  1  an error or a warning was found
  2  the input, the options or the output are at fault; a message says which";

const LINT_EXAMPLES: &str = "\
Examples:
  fairtree lint /etc/slurm/slurm.conf
  fairtree lint --users 12000 --release 24.11.5 slurm.conf
  fairtree lint --allow reset-now,usage-tails-lost slurm.conf
  fairtree lint --json slurm.conf | jq -r '.findings[].rule'

Exit codes:
  0  nothing was found, or notes alone
  1  an error or a warning was found
  2  the input, the options or the output are at fault; a message says which";
