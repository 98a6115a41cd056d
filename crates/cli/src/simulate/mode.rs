//! The uses of `fairtree simulate`, and the options of each.

use super::super::Failure;
use super::super::args::{SchedulerName, SimulateArgs};
use fairtree_analysis::simulate::Rules;
use fairtree_sim::scheduler::Kind;

/// A use of the command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// A log on a pool of processors.
    Pool(Kind),
    /// A log on a pool of processors, in the order of a site's priorities.
    PoolOnSite(Kind),
    /// A log on the nodes of a site, under Slurm's rules.
    Slurm,
    /// The causes of a job's wait there.
    Why,
    /// Two policies of a site over a log.
    Against(Rules),
    /// Predictions of a recorded run.
    Check,
    /// A recorded run on its own.
    Free,
}

/// Modes without their values.
const POOL: Mode = Mode::Pool(Kind::Easy);
const POOL_ON_SITE: Mode = Mode::PoolOnSite(Kind::Easy);
const AGAINST: Mode = Mode::Against(Rules::Slurm);
const LOG: &[Mode] = &[POOL, POOL_ON_SITE, Mode::Slurm, Mode::Why, AGAINST];
/// The uses of a log with a site.
const ON_SITE: &[Mode] = &[POOL_ON_SITE, Mode::Slurm, Mode::Why, AGAINST];
const REPORT: &[Mode] = &[POOL, POOL_ON_SITE, Mode::Slurm];
/// The uses without a site.
const POOLS: &str = "easy, fcfs and conservative without --site";

impl Mode {
    /// The use that the options ask for.
    ///
    /// # Errors
    /// An option that does not belong to it, by name; an option that it needs.
    pub fn of(args: &SimulateArgs) -> Result<Mode, Failure> {
        let kind = args.scheduler.unwrap_or(SchedulerName::Easy).of_pool();
        let mode = match (&args.check, &args.free, kind) {
            (Some(_), _, _) => Mode::Check,
            (None, Some(_), _) => Mode::Free,
            (None, None, Some(kind)) if args.against => {
                Mode::Against(Rules::Pool(kind, args.procs))
            }
            (None, None, None) if args.against => Mode::Against(Rules::Slurm),
            (None, None, Some(kind)) if args.site.is_some() => Mode::PoolOnSite(kind),
            (None, None, Some(kind)) => Mode::Pool(kind),
            (None, None, None) if args.why.is_some() => Mode::Why,
            (None, None, None) => Mode::Slurm,
        };
        mode.refuse_others(args)?;
        let lacks = |what: &str| Err(Failure::Usage(what.to_owned()));
        match mode {
            Mode::Pool(_) if args.procs.is_none() => {
                lacks("--procs NUMBER is needed: the processors of the machine")
            }
            Mode::Against(_) if args.site.is_none() => {
                lacks("--against needs --site FOLDER|FILE: accounts, partitions and settings")
            }
            Mode::Slurm | Mode::Why if args.site.is_none() => {
                lacks("--scheduler slurm needs --site FOLDER|FILE: nodes, partitions and settings")
            }
            Mode::Against(_) | Mode::PoolOnSite(_) | Mode::Slurm | Mode::Why if no_file(args) => {
                lacks("the name of a log is needed with --site: standard input is not read")
            }
            _ => Ok(mode),
        }
    }

    /// Refuses the first option that does not belong to this use.
    fn refuse_others(self, args: &SimulateArgs) -> Result<(), Failure> {
        let report = "a log, without --why and --against";
        let options: [(&str, bool, &[Mode], &str); 20] = [
            ("LOG", args.file.is_some(), LOG, "the other uses"),
            ("--scheduler", args.scheduler.is_some(), LOG, "a log"),
            ("--check", args.check.is_some(), &[Mode::Check], ""),
            ("--free", args.free.is_some(), &[Mode::Free], ""),
            (
                "--procs",
                args.procs.is_some(),
                match self {
                    // Slurm's rules have the nodes of the site.
                    Mode::Against(Rules::Slurm) => &[],
                    _ => &[POOL, POOL_ON_SITE, AGAINST],
                },
                "easy, fcfs and conservative",
            ),
            ("--site", args.site.is_some(), ON_SITE, "a log"),
            ("--against", args.against, &[AGAINST], "a log and --site"),
            (
                args.changes.first().unwrap_or_default(),
                args.changes.first().is_some(),
                ON_SITE,
                "--site",
            ),
            ("--nodes", !args.nodes.is_empty(), ON_SITE, "--site"),
            (
                "--phases",
                args.phases.is_some(),
                match self {
                    // A pool has no loops of Slurm: all phases are the same run.
                    Mode::Against(Rules::Pool(..)) => &[Mode::Free],
                    _ => &[Mode::Free, AGAINST],
                },
                "--free, and with --against --scheduler slurm",
            ),
            (
                "--seed",
                args.seed.is_some(),
                &[POOL_ON_SITE, Mode::Slurm, Mode::Why, AGAINST, Mode::Free],
                "--site and --free",
            ),
            (
                "--why",
                args.why.is_some(),
                &[Mode::Why],
                "--scheduler slurm",
            ),
            ("--schedule", args.schedule.is_some(), REPORT, report),
            ("--jobs", args.jobs.is_some(), REPORT, report),
            (
                "--by",
                !args.by.is_empty(),
                &[POOL, POOL_ON_SITE, Mode::Slurm, AGAINST],
                "a log, without --why",
            ),
            ("--csv", args.csv, &[AGAINST], "--against"),
            (
                "--top",
                args.top.is_some(),
                &[POOL, POOL_ON_SITE, Mode::Slurm, AGAINST, Mode::Check],
                "a log, without --why, and --check",
            ),
            (
                "--fair-starts",
                args.fair_starts.is_some(),
                &[POOL, POOL_ON_SITE, Mode::Slurm, AGAINST],
                "a log, without --why",
            ),
            ("--columns", args.columns.is_some(), &[POOL], POOLS),
            ("--cluster", args.cluster.is_some(), &[POOL], POOLS),
        ];
        refuse_first(options.map(|(name, is_given, modes, allowed)| {
            let fits = modes.iter().any(|mode| mode.is_like(self));
            (name, is_given, fits, self.word(), allowed)
        }))
    }

    /// Returns true if it is the same use, with whatever values.
    fn is_like(self, other: Mode) -> bool {
        std::mem::discriminant(&self) == std::mem::discriminant(&other)
    }

    /// The option that chooses it.
    fn word(self) -> &'static str {
        match self {
            Mode::Pool(Kind::Easy) | Mode::PoolOnSite(Kind::Easy) => "--scheduler easy",
            Mode::Pool(Kind::Fcfs) | Mode::PoolOnSite(Kind::Fcfs) => "--scheduler fcfs",
            Mode::Pool(Kind::Conservative) | Mode::PoolOnSite(Kind::Conservative) => {
                "--scheduler conservative"
            }
            Mode::Slurm => "--scheduler slurm",
            Mode::Why => "--why",
            Mode::Against(Rules::Slurm) => "--against",
            Mode::Against(Rules::Pool(..)) => "--against on a pool (easy, fcfs, conservative)",
            Mode::Check => "--check",
            Mode::Free => "--free",
        }
    }
}

/// Refuses the first option that is given and does not fit. Each: its name, whether it is given, whether it
/// fits, with what it does not, and with what it is allowed (empty: alone).
pub(in super::super) fn refuse_first<'a>(
    options: impl IntoIterator<Item = (&'a str, bool, bool, &'a str, &'a str)>,
) -> Result<(), Failure> {
    for (name, is_given, fits, with, allowed) in options {
        if is_given && !fits {
            let allowed = match allowed {
                "" => "alone".to_owned(),
                others => format!("with {others}"),
            };
            return Err(Failure::Usage(format!(
                "{name}: not with {with}; allowed is {name} {allowed}"
            )));
        }
    }
    Ok(())
}

/// Returns true if the log would come from standard input.
fn no_file(args: &SimulateArgs) -> bool {
    args.file
        .as_deref()
        .is_none_or(|file| file.as_os_str() == "-")
}
