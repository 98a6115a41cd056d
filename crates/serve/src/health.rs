//! Checks of the doctor that rest on a capture, and the linter's findings in slurm.conf.

use std::fs;
use std::io::Read;
use std::path::Path;

use fairtree::config::Include;
use fairtree_analysis::doctor::{Facts, Finding, Level, Live, Settings, examine};
use fairtree_lint::{Options, Report, Severity, run_with};
use fairtree_model::input::slurm::config::value_of;
use fairtree_model::input::slurm::last_pass::LastPass;

use crate::picture::Picture;

/// Checks of the doctor that need no more than a capture.
const CHECKS: [&str; 5] = ["last-pass", "numbers", "slurmdbd", "limits", "settings"];

/// The longest slurm.conf, or file that it includes, in bytes.
const MAX_CONF: u64 = 16 << 20;

/// What the doctor finds in a picture, of the checks whose facts it has.
pub fn findings(picture: &Picture) -> Vec<Finding> {
    const ELSEWHERE: &str = "fairtree doctor checks it on the host of slurmctld";
    let elsewhere = || ELSEWHERE.to_owned();
    let config = &picture.cluster.config;
    let value = |key: &str| value_of(&picture.config_text, key).map(str::to_owned);
    let facts = Facts {
        now: picture.time(),
        offline: false,
        synchronised: None,
        daemon: Err(elsewhere()),
        next: Err(elsewhere()),
        settings: Ok(Settings {
            priority_type: value("PriorityType"),
            cluster: value("ClusterName"),
            storage: value("AccountingStorageType"),
            enforce: value("AccountingStorageEnforce"),
            period_secs: config.priority_calc_period_secs,
            half_life_secs: config.priority_decay_half_life_secs,
            weighs_fair_share: config.priority_weight_fairshare > 0,
        }),
        absent_folders: Vec::new(),
        plugins: Vec::new(),
        packaged: Vec::new(),
        live: Ok(Live {
            release: picture.cluster.release,
            ahead_secs: None,
        }),
        state: Err(elsewhere()),
        last_pass: Ok(LastPass {
            pass: picture.cluster.now().unwrap_or(0),
            reset: 0,
        }),
        // slurmdbd has listed the associations of this cluster.
        clusters: Ok(value("ClusterName").into_iter().collect()),
        numbers: picture.numbers.clone(),
        in_force: Err(elsewhere()),
        linted: match &picture.linted {
            Some(Ok(report)) => Ok((
                report.count(Severity::Error),
                report.count(Severity::Warning),
                report.files.first().cloned().unwrap_or_default(),
            )),
            Some(Err(why)) => Err(why.clone()),
            None => Err(elsewhere()),
        },
    };
    let known =
        |finding: &Finding| CHECKS.contains(&finding.check) && finding.level != Level::Unknown;
    examine(&facts).findings.into_iter().filter(known).collect()
}

/// Lints the slurm.conf that a running site uses, on this host. `config`: the answer of `scontrol show config`.
///
/// # Errors
/// A sentence: the file is not here, or cannot be read.
pub fn lint(config: &str) -> Result<Report, String> {
    let path = value_of(config, "SLURM_CONF").ok_or("scontrol does not name slurm.conf")?;
    let path = Path::new(path);
    let text = text(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut fetch = |include: &Include| {
        self::text(&folder.join(&include.file)).map_err(|error| error.to_string())
    };
    let mut options = Options::default();
    options.now = Some(jiff::Zoned::now().datetime());
    let name = path.display().to_string();
    Ok(run_with(&text, &name, &options, &mut fetch))
}

fn text(path: &Path) -> std::io::Result<String> {
    let mut bytes = Vec::new();
    fs::File::open(path)?
        .take(MAX_CONF)
        .read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
