//! `fairtree lint`.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write, stdin, stdout};
use std::path::Path;

use super::args::LintArgs;
use super::message::Messages;
use super::{Failure, Outcome, told};
use fairtree::compat::{Compat, Release};
use fairtree::config::{Include, PriorityParameters};
use fairtree_lint::{Options, Rule, run_with};

/// No slurm.conf is as large as this; what is larger is something else.
const MAX_BYTES: u64 = 64 * 1024 * 1024;

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
        let text = read(stdin().lock());
        ("standard input".to_string(), text)
    } else {
        let text = File::open(path).and_then(read);
        (path.display().to_string(), text)
    };
    let text = text.map_err(|error| Failure::File(name.clone(), error))?;
    // Relative names are relative to the folder of slurm.conf, in included files, too.
    let folder = path.parent().unwrap_or(Path::new(""));
    let mut fetch = |include: &Include| {
        let text = File::open(folder.join(&include.file)).and_then(read);
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

/// The whole of a file; bytes that are not UTF-8, which comments may have, are replaced.
fn read(input: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_BYTES {
        let message = format!("more than {MAX_BYTES} bytes: no slurm.conf");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn options(args: &LintArgs) -> Result<Options, Failure> {
    let mut options = Options::default();
    options.users = args.users;
    options.release = args.release.as_deref().map(release).transpose()?;
    for rule in &args.allow {
        let allowed = options.allow(rule);
        allowed.map_err(|error| Failure::Usage(format!("--allow: {error}")))?;
    }
    Ok(options)
}

fn release(text: &str) -> Result<Release, Failure> {
    let parameters = PriorityParameters::parse(&format!("compat=slurm:{text}"), None);
    match parameters.map(|parameters| parameters.compat) {
        Ok(Some(Compat::Slurm(release))) => Ok(release),
        _ => Err(Failure::Usage(format!(
            "--release: found {text:?}, allowed is a release from 22.05.0 up, such as 24.11.5"
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
