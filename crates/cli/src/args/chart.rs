//! The arguments of `fairtree chart`.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};

use super::{EXIT_CODES, FormatName, LiveArgs, RankingName};

/// `fairtree chart`.
#[derive(Debug, Args)]
#[command(after_long_help = CHART_EXAMPLES, after_help = EXIT_CODES)]
pub struct ChartArgs {
    /// A log of jobs (sacct -P, Standard Workload Format), gzipped or not, or what `fairtree share`
    /// reads; `-` reads standard input. Without FILE:
    /// standard input if piped, else the live cluster
    pub file: Option<PathBuf>,
    /// All captures in a folder, or Slurm itself.
    #[command(flatten)]
    pub live: LiveArgs,
    /// The file to write; `-` or nothing writes to standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// What to write; otherwise what the name of the file ends in, or else html
    #[arg(short, long, value_name = "FORMAT", value_enum)]
    pub format: Option<ChartFormat>,
    /// What an SVG or PNG picture shows
    #[arg(long, value_name = "WHAT", value_enum, default_value_t = PictureName::All)]
    pub picture: PictureName,
    /// Light or dark; auto follows the system of whoever looks
    #[arg(long, value_name = "THEME", value_enum, default_value_t = ThemeName::Auto)]
    pub theme: ThemeName,
    /// Pixels of a PNG picture for each unit of the drawing
    #[arg(long, value_name = "FACTOR", default_value_t = 2.0, value_parser = scale)]
    pub scale: f32,
    /// Who shares with whom, for a log: a site in TOML, or a file of sacctmgr dump
    #[arg(long, value_name = "FILE")]
    pub site: Option<PathBuf>,
    /// Follow this policy file instead of the site's policy: a log counts by its window or date, and by
    /// the plans of accounts
    #[arg(long, value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// PriorityDecayHalfLife for a log, as 7-0 or 12:00:00 or 30 (minutes), 0 for none; otherwise
    /// that of the site, or 7-0
    #[arg(long, value_name = "TIME")]
    pub half_life: Option<String>,
    /// The columns of a listing of sacct without header, as JobID,User,Account,Start,End,AllocTRES
    #[arg(long, value_name = "NAMES")]
    pub columns: Option<String>,
    /// Of a listing of sacct only the jobs of this cluster
    #[arg(long, value_name = "NAME")]
    pub cluster: Option<String>,
    /// Whose behaviour to follow: documented, slurm, or slurm:RELEASE as slurm:22.05.8; otherwise
    /// what the site's settings say, or documented
    #[arg(long, value_name = "WHOSE")]
    pub compat: Option<String>,
    /// How shares and usage become factors; otherwise what the site's settings say, or what the
    /// listing looks like
    #[arg(long, alias = "algorithm", value_name = "NAME", value_enum)]
    pub ranking: Option<RankingName>,
    /// The format of the input, instead of what its content looks like
    #[arg(long, value_name = "FORMAT", value_enum)]
    pub input_format: Option<FormatName>,
}

impl ChartArgs {
    /// The file to write; `None`: standard output.
    pub fn file_to_write(&self) -> Option<&Path> {
        self.output
            .as_deref()
            .filter(|path| *path != Path::new("-"))
    }
}

/// What `fairtree chart` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ChartFormat {
    /// A page that needs nothing else.
    Html,
    /// A picture of lines.
    Svg,
    /// A picture of pixels.
    Png,
    /// The numbers, of the schema fairtree.chart/1.
    Json,
}

/// What a picture shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureName {
    /// Everything below.
    All,
    /// Share against use over time.
    Use,
    /// Fair-share factors over time.
    Factor,
    /// The tree at the last moment.
    Tree,
}

/// For which surroundings a picture is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ThemeName {
    /// As the reader's system has it; light in a PNG picture.
    Auto,
    /// Dark on white.
    Light,
    /// Light on black.
    Dark,
}

fn scale(text: &str) -> Result<f32, String> {
    let factor = text.parse::<f32>().ok();
    let fits = |factor: &f32| (0.1..=10.0).contains(factor);
    factor
        .filter(fits)
        .ok_or_else(|| "allowed is a number from 0.1 to 10".to_owned())
}

pub(super) const CHART_ABOUT: &str = "\
Draw shares and use: over time from captures or a log of jobs, and as a tree.

From captures (--from) the page shows share against use of each account, and the fair-share factor \
of each user, at the moments of the captures. From a log of jobs the engine computes both: usage \
decays with --half-life, and --site gives the shares; without it every account and every \
user has one share. A log may be longer than memory: it is read once, and what stays is what each user \
had used at each moment drawn (2.3 GB of SWF take some 100 MB, 2.2 GB of sacct some 36 MB). From anything else that `fairtree share` reads there is one moment, and the \
page shows the tree. The page, and every picture, is one file that needs no network.";

const CHART_EXAMPLES: &str = "\
Examples:
  fairtree chart --from week -o week.html                a folder of `fairtree capture`
  sacct -a -X -P -S 2026-01-01 -o JobID,User,Account,Start,End,Elapsed,AllocTRES \\
    | fairtree chart --half-life 14-0 -o usage.html
  fairtree chart --site site.toml log.swf.gz -o log.svg
  fairtree chart --picture tree -o tree.png site.toml
  fairtree chart --format json log.swf.gz > log.json     docs/json.md

Exit codes:
  0  all is well
  2  the input, the options or the output are at fault; a message says which";
