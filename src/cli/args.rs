//! The arguments, from which help, man pages and completions are made.

use std::path::PathBuf;

use clap::{ArgAction, Args, Parser, Subcommand, ValueEnum};

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
    /// Tell why one user comes before another, and what would change it
    Explain(ExplainArgs),
    /// Find settings of a slurm.conf that do nothing or the opposite of what was wanted
    Lint(LintArgs),
    /// Show job priorities and their factors in sprio's columns
    #[command(long_about = PRIO_ABOUT)]
    Prio(PrioArgs),
    /// Keep the answers of Slurm's commands in a folder, to look at them elsewhere
    #[command(long_about = CAPTURE_ABOUT)]
    Capture(CaptureArgs),
    /// Tell what changed between two outputs of sshare or sprio, or two captures, and why
    #[command(long_about = COMPARE_ABOUT)]
    Compare(CompareArgs),
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
    /// The output of sshare, a site in TOML, or a file of `sacctmgr dump`; `-` reads standard
    /// input; nothing reads what is piped in, or else asks Slurm
    pub file: Option<PathBuf>,
    /// Read a capture instead: a folder of `fairtree capture`, or the latest in it
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub from: Option<PathBuf>,
    /// Seconds that each command of Slurm may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
    /// Show all users; a file is shown whole without it, too
    #[arg(short = 'a', long, overrides_with = "users")]
    pub all: bool,
    /// Show only these accounts and their users
    #[arg(short = 'A', long, value_name = "NAMES", value_delimiter = ',')]
    pub accounts: Vec<String>,
    /// Of the users show only these; -1 shows all
    #[arg(
        short = 'u',
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        allow_negative_numbers = true,
        overrides_with = "all"
    )]
    pub users: Vec<String>,
    /// Show users only, no accounts
    #[arg(short = 'U', long = "Users")]
    pub users_only: bool,
    /// Show normalised usage, level fairshare and TRES minutes, too
    #[arg(short = 'l', long)]
    pub long: bool,
    /// Show the partition of each association
    #[arg(short = 'm', long)]
    pub partition: bool,
    /// Leave out the header
    #[arg(short = 'n', short_alias = 'h', long)]
    pub noheader: bool,
    /// Show these columns: beginnings of their names, each with an optional %width (negative:
    /// flush left), as Account,User%15,LevelFS
    #[arg(short = 'o', long, value_name = "COLUMNS", allow_hyphen_values = true)]
    pub format: Vec<String>,
    /// List the columns for --format
    #[arg(short = 'e', long)]
    pub helpformat: bool,
    /// Put a | after each value
    #[arg(short = 'p', long, overrides_with = "parsable2")]
    pub parsable: bool,
    /// Put a | between values
    #[arg(short = 'P', long, overrides_with = "parsable")]
    pub parsable2: bool,
    /// Print JSON, of the schema fairtree.share/1
    #[arg(long, conflicts_with_all = ["parsable", "parsable2", "format", "check"])]
    pub json: bool,
    /// Compare the numbers that sshare printed with those computed from its RawShares and
    /// RawUsage, and list the differences; exit code 1 if there are any
    #[arg(long)]
    pub check: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// How shares and usage become factors; otherwise what the site's settings say, or what the
    /// listing looks like
    #[arg(long, value_name = "NAME", value_enum)]
    pub algorithm: Option<AlgorithmName>,
    /// FairShareDampeningFactor of the classic algorithms
    #[arg(long, value_name = "FACTOR", value_parser = clap::value_parser!(u16).range(1..))]
    pub dampening: Option<u16>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// `fairtree prio`.
#[derive(Debug, Args)]
#[command(
    disable_help_flag = true,
    after_long_help = PRIO_EXAMPLES,
    after_help = EXIT_CODES
)]
#[allow(clippy::struct_excessive_bools)] // One per flag of sprio.
pub struct PrioArgs {
    /// The output of sprio; `-` reads standard input; nothing reads what is piped in, or else asks
    /// Slurm
    pub file: Option<PathBuf>,
    /// Read a capture instead: a folder of `fairtree capture`, or the latest in it
    #[arg(long, value_name = "DIR", conflicts_with = "file")]
    pub from: Option<PathBuf>,
    /// Seconds that each command of Slurm may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
    /// Show only these jobs
    #[arg(short = 'j', long, value_name = "JOBS", value_delimiter = ',')]
    pub jobs: Vec<u32>,
    /// Show only jobs of these users, and who they are
    #[arg(
        short = 'u',
        long,
        visible_alias = "users",
        value_name = "NAMES",
        value_delimiter = ','
    )]
    pub user: Vec<String>,
    /// Show only these partitions
    #[arg(short = 'p', long, value_name = "NAMES", value_delimiter = ',')]
    pub partition: Vec<String>,
    /// Show all factors, weighted or not, the user and the nice value, too
    #[arg(short = 'l', long, conflicts_with = "format")]
    pub long: bool,
    /// Show factors without their weights
    #[arg(short = 'n', long)]
    pub norm: bool,
    /// Show the weights instead of jobs
    #[arg(short = 'w', long, conflicts_with_all = ["json", "check"])]
    pub weights: bool,
    /// Leave out the header
    #[arg(short = 'h', long)]
    pub noheader: bool,
    /// Show these columns, as \"%.15i %9r %.10Y\": % with an optional . (flush right) and width, and
    /// a letter
    #[arg(short = 'o', long, value_name = "FORMAT", allow_hyphen_values = true)]
    pub format: Option<String>,
    /// Sort by these letters of columns, the first counts most; - before a letter: descending
    #[arg(short = 'S', long, value_name = "LETTERS", allow_hyphen_values = true)]
    pub sort: Option<String>,
    /// List the letters for --format
    #[arg(long)]
    pub helpformat: bool,
    /// Print JSON, of the schema fairtree.prio/1
    #[arg(long, conflicts_with_all = ["format", "check"])]
    pub json: bool,
    /// Compare each PRIORITY with what its factors add up to, and of a capture or a live site each
    /// factor with the computed one, and list the differences; exit code 1 if there are any
    #[arg(long)]
    pub check: bool,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// Print help
    #[arg(long, action = ArgAction::Help)]
    pub help: Option<bool>,
}

/// A fair-share algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum AlgorithmName {
    /// Ranks by depth-first walk (FAIR_TREE).
    FairTree,
    /// 2^(-usage/shares) (NO_FAIR_TREE).
    Classic,
    /// The same, siblings compared first (DEPTH_OBLIVIOUS).
    DepthOblivious,
}

/// A format of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum FormatName {
    /// The output of sshare: columns, -p, -P.
    Sshare,
    /// A site in TOML.
    Site,
    /// A file of sacctmgr dump.
    Dump,
}

/// `fairtree capture`.
#[derive(Debug, Args)]
#[command(after_long_help = CAPTURE_EXAMPLES, after_help = EXIT_CODES)]
pub struct CaptureArgs {
    /// The folder that captures are added to; it is made if need be
    pub folder: PathBuf,
    /// Put pseudonyms for users, accounts and jobs, and leave out what else tells of people
    #[arg(long)]
    pub anonymise: bool,
    /// List the captures in the folder instead of making one
    #[arg(long, conflicts_with = "anonymise")]
    pub list: bool,
    /// Seconds that each command of Slurm may take
    #[arg(long, value_name = "SECONDS", default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86400))]
    pub time_limit: u64,
}

/// `fairtree explain`.
#[derive(Debug, Args)]
#[command(
    long_about = EXPLAIN_ABOUT,
    after_long_help = EXPLAIN_EXAMPLES,
    after_help = EXPLAIN_EXIT_CODES
)]
pub struct ExplainArgs {
    /// A user: USER, USER@ACCOUNT, or USER@ACCOUNT:PARTITION where associations have partitions
    pub who: String,
    /// The output of sshare with all users, or a site in TOML; `-` or nothing reads standard input
    pub file: Option<PathBuf>,
    /// The user to compare with, named in the same way
    #[arg(long, value_name = "WHO")]
    pub versus: String,
    /// Print JSON, of the schema fairtree.explain/1
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
    /// The site's Slurm release, as 24.11.5, for what differs between releases
    #[arg(long, value_name = "RELEASE")]
    pub release: Option<String>,
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

/// `fairtree compare`.
#[derive(Debug, Args)]
#[command(after_long_help = COMPARE_EXAMPLES, after_help = EXIT_CODES)]
pub struct CompareArgs {
    /// The earlier output of sshare or sprio, or the folder of a capture; `-` reads standard input
    pub before: PathBuf,
    /// The later one, of the same kind
    pub after: PathBuf,
}

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

The input is the output of sshare, in any of its forms, or a site described in TOML. From a site \
everything is computed. From sshare's output every derived column is computed anew from RawShares \
and RawUsage, as far as the rows allow; where they do not, the number that sshare printed is shown \
and a note says why. Columns, widths and number forms are those of sshare 22.05 and 24.11.";

const SHARE_EXAMPLES: &str = "\
Examples:
  sshare -a -l -P | fairtree share -l         the same table, computed here
  sshare -a -l -P | fairtree share --check    do Slurm and fairtree agree?
  fairtree share -A physics -o User,LevelFS,FairShare site.toml
  fairtree share --json site.toml | jq '.rows[] | select(.user == \"alice\")'
  fairtree share --compat slurm:22.05.8 site.toml

A site in TOML:
  [accounts.physics]
  shares = 40
  users.alice = { shares = 1, usage = 86400 }
  users.bob = { shares = \"parent\" }

Exit codes:
  0  all is well
  1  --check found differences
  2  the input, the options or the output are at fault; a message says which";

const EXPLAIN_ABOUT: &str = "\
Tell why one user comes before another, and what would change it.

The ways from the root to both, the first level where they part, and what was due and used there. \
Then what would put the one behind ahead: less usage, more shares. Each amount was tried: with it \
the order changes, with one unit less it does not.";

const EXPLAIN_EXIT_CODES: &str = "\
Exit codes:
  0  explained
  2  the input, the options or the output are at fault; a message says which";

const EXPLAIN_EXAMPLES: &str = "\
Examples:
  sshare -a -l -P | fairtree explain alice --versus bob
  fairtree explain alice@physics --versus bob@chemistry site.toml
  fairtree explain alice --versus bob --json site.toml | jq .answer.remedies

Exit codes:
  0  explained
  2  the input, the options or the output are at fault; a message says which";

const LINT_ABOUT: &str = "\
Find settings of a slurm.conf that do nothing or the opposite of what was wanted.

Each finding names the rule and the place, shows the line, says why it does not do what it seems \
to, and what to do about it. Errors are what slurmctld stops at, warnings what does nothing or \
something else, notes where Slurm does less than is commonly believed.";

const LINT_EXIT_CODES: &str = "\
Exit codes:
  0  nothing was found
  1  something was found
  2  the input, the options or the output are at fault; a message says which";

const LINT_EXAMPLES: &str = "\
Examples:
  fairtree lint /etc/slurm/slurm.conf
  fairtree lint --users 12000 --release 24.11.5 slurm.conf
  fairtree lint --allow reset-now,usage-tails-lost slurm.conf
  fairtree lint --json slurm.conf | jq -r '.findings[].rule'

Exit codes:
  0  nothing was found
  1  something was found
  2  the input, the options or the output are at fault; a message says which";

const PRIO_ABOUT: &str = "\
Show job priorities and their factors in sprio's columns.

The input is the output of sprio: any choice of columns with their header, -n, -w, several \
listings in one file. PRIORITY is added up anew from the factors beside it; printed factors are \
rounded, so a priority that some factors of that print could have stays as it is. Columns, widths \
and number forms are those of sprio 22.05 and 24.11.";

const PRIO_EXAMPLES: &str = "\
Examples:
  sprio -l | fairtree prio -l -S -Y           the queue, first in line first
  sprio -l | fairtree prio --check            does every priority follow from its factors?
  sprio -l | fairtree prio -u alice -o '%.10i %.10Y %.10F %.10A'
  sprio -l | fairtree prio --json | jq '.rows[] | select(.points.qos > 0) | .job_id'

Letters for --format and --sort, capital ones weighted, small ones normalised:
  i job, r partition, c cluster, u user, o account, n QOS, Y priority, S site, N nice,
  A age, B association, F fair share, J job size, P partition, Q QOS, T resources

Exit codes:
  0  all is well
  1  --check found differences
  2  the input, the options or the output are at fault; a message says which";

const CAPTURE_ABOUT: &str = "\
Keep the answers of Slurm's commands in a folder, to look at them elsewhere.

Runs scontrol, sacctmgr, sprio and sshare, which only read, and adds a folder named for the moment \
to the one given: the answers as they were printed, and a manifest. `fairtree share --from` and \
`fairtree prio --from` read it where there is no Slurm. The file pseudonyms.json, which \
--anonymise leaves beside the captures, tells who is who: keep it, and do not pass it on.";

const CAPTURE_EXAMPLES: &str = "\
Examples:
  fairtree capture week                       a capture now
  fairtree capture --anonymise bundle         one to pass on
  fairtree capture --list week                what there is
  fairtree share --from week -l               the latest of them
  fairtree prio --from week --check           does the engine agree with slurmctld?

Exit codes:
  0  all is well
  2  a command, the options or the output are at fault; a message says which";

const COMPARE_ABOUT: &str = "\
Tell what changed between two outputs of sshare or sprio, or two captures, and why.

Of shares: who passed whom at which level, by which LevelFS; what was charged and what only faded; \
new shares. Of the queue: which factors moved which job. Two captures are compared in both ways.";

const COMPARE_EXAMPLES: &str = "\
Examples:
  fairtree compare monday.sshare tuesday.sshare
  sprio -l | fairtree compare earlier.sprio -
  fairtree compare week/20261121T103630Z week/20261121T104015Z

Exit codes:
  0  nothing changed
  1  something did
  2  the input, the options or the output are at fault; a message says which";
