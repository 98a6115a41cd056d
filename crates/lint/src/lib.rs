//! Settings of a slurm.conf that do nothing, or the opposite of what their author wanted.
//!
//! A [`Rule`] is one item of `rules`: its name, how bad its findings are, the manual page or
//! documentation that it rests on, and its check. A [`Finding`] names the place, shows the line,
//! says why it does not do what it seems to, and what to do about it.
//!
//! The linter reads no file itself: the text comes from the caller, and that of included files
//! through a function that the caller hands over. Where a file is missing, the rules that rest on
//! the absence of a setting keep silent, because it may be in that file.
//!
//! ```
//! let report = fairtree_lint::run(
//!     "PriorityType=priority/multifactor\n\
//!      PriorityWeightAge=1000\n\
//!      PriorityMaxAge=7\n\
//!      AccountingStorageType=accounting_storage/slurmdbd\n",
//!     "slurm.conf",
//! );
//! let finding = &report.findings[0];
//! assert_eq!(finding.rule.id, "max-age-minutes");
//! assert_eq!(finding.place.to_string(), "slurm.conf:3:16");
//! assert!(finding.remedy.contains("PriorityMaxAge=7-0"));
//! ```

mod allowed;
mod effective_settings;
mod finding;
mod keys;
mod options;
mod report;
mod rule;
mod rules;
mod spelling;

pub use allowed::UnknownRule;
pub use finding::Finding;
pub use options::{FindPlugins, Options};
pub use report::{Report, SCHEMA};
pub use rule::{Rule, Severity};

use effective_settings::EffectiveSettings;
use fairtree::config::Include;
use fairtree_model::input::slurm::document::Document;
use finding::Findings;

/// Checks one file, called `name`, that includes no others and names no policy file; `include` lines
/// and `policy=` are reported as not read.
pub fn run(text: &str, name: &str) -> Report {
    let mut fetch = |_: &Include| Err("included files are not followed here".to_string());
    run_with(text, name, &Options::default(), &mut fetch)
}

/// Checks a file, called `name`, and those that it includes. `fetch` is called for each `include`
/// line, in slurmctld's order, and returns the text of the file, or why it cannot be read; relative
/// names are relative to the folder of slurm.conf (slurm.conf(5), "INCLUDE MODIFIERS").
pub fn run_with(
    text: &str,
    name: &str,
    options: &Options,
    fetch: &mut dyn FnMut(&Include) -> Result<String, String>,
) -> Report {
    let document = Document::read(text, name, fetch);
    let conf = EffectiveSettings::new(&document, options, fetch);
    let mut findings = Findings::default();
    let wanted = Rule::all().filter(|rule| options.wants(rule) && conf.is_in(rule.scope));
    for rule in wanted {
        for hit in (rule.check)(&conf) {
            findings.add(&document, rule, hit.spot, (hit.reason, hit.remedy));
        }
    }
    Report {
        files: document.sources.iter().map(|s| s.name.clone()).collect(),
        findings: findings.sorted(),
    }
}
