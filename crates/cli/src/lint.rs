//! `fairtree lint`.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write, stdin, stdout};
use std::path::Path;

use super::args::{LintArgs, LiveArgs};
use super::cluster::Where;
use super::message::Messages;
use super::{Failure, Outcome, open, told};
use fairtree::compat::{Compat, Release};
use fairtree::config::{Include, PriorityParameters};
use fairtree_lint::{Options, Rule, run_with};
use fairtree_model::input::slurm::plugin::{self, PluginFile};

/// Reads, checks, prints.
pub(super) fn run(args: &LintArgs, messages: &Messages) -> Result<Outcome, Failure> {
    let mut out = BufWriter::new(stdout().lock());
    // Without a file there is --rules.
    let Some(path) = args.file.as_deref() else {
        list_rules(&mut out)?;
        out.flush()?;
        return Ok(Outcome::Done);
    };
    let options = options(args)?;
    let (name, text) = if path == Path::new("-") {
        let text = open::conf_of(stdin().lock());
        ("standard input".to_string(), text)
    } else {
        let text = open::conf(path);
        (path.display().to_string(), text)
    };
    let text = text.map_err(|error| Failure::File(name.clone(), error))?;
    // Relative names are relative to the folder of slurm.conf, in included files, too.
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut fetch = |include: &Include| {
        let text = open::included(&folder.join(&include.file));
        text.map_err(|error| error.to_string())
    };
    let report = run_with(&text, &name, &options, &mut fetch);
    let written = match (args.json, messages.colors_output()) {
        (true, _) => writeln!(out, "{}", report.to_json()),
        (false, true) => write!(out, "{}", report.colored()),
        (false, false) => write!(out, "{report}"),
    };
    let outcome = match report.exit_code() {
        0 => Outcome::Done,
        _ => Outcome::Differences,
    };
    told(written.and_then(|()| out.flush()), outcome)
}

fn options(args: &LintArgs) -> Result<Options, Failure> {
    let mut options = Options::default();
    options.users = args.users;
    let given = args.release.as_deref();
    let named = given.map(|text| release("--release", text)).transpose()?;
    options.release = named.map(|named| named.release);
    options.any_micro = named.is_some_and(|named| named.is_series);
    options.plugins = Some(plugins);
    options.now = Some(jiff::Zoned::now().datetime());
    if let Some(path) = &args.accounts {
        let (above, shares) = accounts(path)?;
        (options.accounts, options.shares) = (Some(above), shares);
    }
    for rule in &args.allow {
        let allowed = options.allow(rule);
        allowed.map_err(|error| Failure::Usage(format!("--allow: {error}")))?;
    }
    Ok(options)
}

/// The account above each account, and the raw shares of accounts, in lower case.
#[allow(clippy::type_complexity)] // Two maps, each used once.
fn accounts(path: &Path) -> Result<(BTreeMap<String, String>, BTreeMap<String, u64>), Failure> {
    let reader = Where {
        live: &LiveArgs {
            from: None,
            time_limit: 60,
            fresh: false,
        },
        file: Some(path),
        compat: None,
        format: None,
        policy: None,
    };
    let cluster = reader.without_jobs()?;
    let name = |index| cluster.name(index).account.to_ascii_lowercase();
    let accounts = cluster.tree().indices().filter(|at| !cluster.is_user(*at));
    let below = accounts.filter_map(|at| Some((at, cluster.tree().parent(at)?)));
    let below: Vec<_> = below.collect();
    let above = below.iter().map(|(at, parent)| (name(*at), name(*parent)));
    let shares = below.iter().filter_map(|(at, _)| {
        let raw = cluster.tree().rows()[at.get()].shares.raw()?;
        Some((name(*at), u64::from(raw)))
    });
    Ok((above.collect(), shares.collect()))
}

/// The plugins in folders of `PluginDir`; `None` where this host has none of the folders, as where a
/// slurm.conf of another host is checked.
fn plugins(plugin_dir: &str) -> Option<Vec<PluginFile>> {
    let folders = plugin::folders(plugin_dir);
    let any = folders.iter().any(|folder| folder.is_dir());
    any.then(|| plugin::search(&folders, plugin::FAIRTREE))
}

/// A release as people name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct NamedRelease {
    /// Its numbers; the last is 0 for a series.
    pub release: Release,
    /// A series as 24.11, of any maintenance release.
    pub is_series: bool,
}

/// The value of `option`: a release, as 24.11.5, a series, as 24.11, or a release candidate, as
/// 26.11.0-0rc1, which has the numbers of its release.
pub(super) fn release(option: &str, text: &str) -> Result<NamedRelease, Failure> {
    let (numbers, suffix) = text.split_once('-').unwrap_or((text, ""));
    let is_series = numbers.matches('.').count() == 1;
    let whole = match is_series {
        true => format!("{numbers}.0"),
        false => numbers.to_owned(),
    };
    let parameters = PriorityParameters::parse(&format!("compat=slurm:{whole}"), None);
    let is_suffix = suffix
        .bytes()
        .all(|byte| byte.is_ascii_alphanumeric() || byte == b'.');
    match parameters.map(|parameters| parameters.compat) {
        Ok(Some(Compat::Slurm(release))) if is_suffix => Ok(NamedRelease { release, is_series }),
        _ => Err(Failure::Usage(format!(
            "{option}: found {text:?}, allowed is a release from 22.05.0 up, such as 24.11.5, a series, \
             such as 24.11, or a release candidate, such as 26.11.0-0rc1"
        ))),
    }
}

fn list_rules(out: &mut impl Write) -> io::Result<()> {
    for rule in Rule::all() {
        writeln!(out, "{} ({})\n    {}", rule.id, rule.severity, rule.summary)?;
        writeln!(out, "    source: {}", rule.source)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_series_and_candidates() {
        let named = |text: &str| {
            let found = release("--release", text).ok()?;
            Some((found.release.to_string(), found.is_series))
        };
        assert_eq!(named("24.11.5"), Some(("24.11.5".to_owned(), false)));
        assert_eq!(named("24.11"), Some(("24.11.0".to_owned(), true)));
        assert_eq!(named("26.11.0-0rc1"), Some(("26.11.0".to_owned(), false)));
        assert_eq!(named("26.11-0rc1"), Some(("26.11.0".to_owned(), true)));
        for text in ["soon", "24", "24.11.5.1", "21.08", "24.11.5-r c", ""] {
            assert_eq!(named(text), None, "{text}");
        }
    }
}
