//! `fairtree login`.

use std::fs;
use std::io::{self, Write, stdout};
use std::path::Path;
use std::process::{Command, Stdio};

use super::args::LoginArgs;
use super::{Failure, Outcome};

/// The text that a credential for signing in carries, as fairtree-serve expects it.
const PURPOSE: &str = "fairtree-serve sign-in";

/// Makes a credential, and prints the link with it.
pub(super) fn run(args: &LoginArgs) -> Result<Outcome, Failure> {
    let url = url(args.service.url.as_deref(), &args.service.config)?;
    let credential = credential(PURPOSE, args.service.munge_socket.as_deref())?;
    let mut out = stdout().lock();
    writeln!(
        out,
        "{}/login?c={}",
        url.trim_end_matches('/'),
        escaped(&credential)
    )?;
    out.flush()?;
    Ok(Outcome::Done)
}

/// The address of the service: the option, the environment, the file of settings.
pub(super) fn url(option: Option<&str>, config: &Path) -> Result<String, Failure> {
    let given = option
        .map(str::to_owned)
        .or_else(|| std::env::var("FAIRTREE_SERVE").ok());
    if let Some(url) = given.filter(|url| !url.is_empty()) {
        return Ok(url);
    }
    let name = config.display().to_string();
    let text = fs::read_to_string(config).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => Failure::Usage(format!(
            "{name} is not there, and FAIRTREE_SERVE is not set\nhint: name the address of the service with --url"
        )),
        _ => Failure::File(name.clone(), error),
    })?;
    let settings: toml::Table = text
        .parse()
        .map_err(|error| Failure::Usage(format!("{name}: {error}")))?;
    let url = settings.get("url").and_then(toml::Value::as_str);
    url.map(str::to_owned).ok_or_else(|| {
        Failure::Usage(format!(
            "{name}: names no url\nhint: name the address of the service with --url"
        ))
    })
}

/// A credential of munge that carries a text, and lives for a minute.
pub(super) fn credential(purpose: &str, socket: Option<&Path>) -> Result<String, Failure> {
    let mut command = Command::new("munge");
    command.args(["--ttl", "60", "--string", purpose]);
    if let Some(socket) = socket {
        command.arg("--socket").arg(socket);
    }
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| Failure::Usage(format!("munge: {error}")))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(Failure::Usage(format!("munge: {}", said.trim())));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

/// Text as a value in the query of an address.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte.is_ascii_alphanumeric() {
            true => out.push(char::from(byte)),
            false => out.push_str(&format!("%{byte:02X}")),
        }
    }
    out
}
