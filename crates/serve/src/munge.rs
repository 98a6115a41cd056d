//! Who made a credential of munge: `unmunge` decodes each once, and none after its time.

use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use nix::unistd::{Uid, User};

/// The text that a credential for signing in carries: one for something else signs in nobody.
pub const PURPOSE: &str = "fairtree-serve sign-in";

/// The longest credential, in bytes.
const MAX_BYTES: usize = 4096;

/// The longest life of a credential, seconds.
const LONGEST_SECS: u64 = 60;

/// Reason why a credential proves nothing.
#[derive(Debug, thiserror::Error)]
pub enum Problem {
    /// It is not a credential for this purpose.
    #[error("This is not a credential of munge for this purpose")]
    Other,
    /// It was decoded before.
    #[error("This credential was used before")]
    Used,
    /// It is too old.
    #[error("This credential is older than 60 seconds: the clocks of both hosts must agree")]
    Old,
    /// munged refuses it.
    #[error("munge on the host of this service does not accept this credential")]
    Refused,
    /// The user who made it is not known here.
    #[error("This host does not know who made this credential")]
    Unknown,
    /// `unmunge` cannot be run.
    #[error("unmunge: {0}")]
    System(#[from] std::io::Error),
}

/// The login name of the user who made a credential for signing in; `socket`: that of munged, where it
/// is not the usual one.
///
/// # Errors
/// A sentence: not a credential, decoded before, expired, made for something else, by an unknown user.
pub fn signed_in(credential: &str, socket: Option<&Path>) -> Result<String, String> {
    made_by(credential, PURPOSE, socket).map_err(|problem| match problem {
        Problem::Other => "This is not a link that fairtree login printed".to_owned(),
        Problem::Used => "This link was used before: fairtree login prints another".to_owned(),
        Problem::Old => {
            "This link is older than 60 seconds: fairtree login prints another".to_owned()
        }
        Problem::Refused => {
            "munge on the host of this service does not accept this link".to_owned()
        }
        Problem::Unknown => "This host does not know who made this link".to_owned(),
        Problem::System(error) => format!("unmunge: {error}"),
    })
}

/// The login name of the user who made a credential that carries the text `purpose`; `socket`: that of munged,
/// where it is not the usual one.
///
/// # Errors
/// [`Problem`].
pub fn made_by(credential: &str, purpose: &str, socket: Option<&Path>) -> Result<String, Problem> {
    let credential = credential.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=:".contains(&byte);
    if credential.len() > MAX_BYTES
        || !credential.starts_with("MUNGE:")
        || !credential.bytes().all(plain)
    {
        return Err(Problem::Other);
    }
    let mut command = Command::new("unmunge");
    if let Some(socket) = socket {
        command.arg("--socket").arg(socket);
    }
    let mut child = command
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(credential.as_bytes())?;
    }
    let output = child.wait_with_output()?;
    read(&String::from_utf8_lossy(&output.stdout), purpose, |uid| {
        User::from_uid(Uid::from_raw(uid))
            .ok()
            .flatten()
            .map(|user| user.name)
    })
}

/// Reads the answer of `unmunge`: lines `KEY: value`, an empty line, the payload.
fn read(
    answer: &str,
    purpose: &str,
    name: impl Fn(u32) -> Option<String>,
) -> Result<String, Problem> {
    let (head, payload) = answer.split_once("\n\n").unwrap_or((answer, ""));
    let value = |key: &str| {
        let found = head
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.map(str::trim)
    };
    match value("STATUS") {
        Some(status) if status.starts_with("Success") => {}
        Some(status) if status.starts_with("Replayed") => return Err(Problem::Used),
        Some(status) if status.starts_with("Expired") => return Err(Problem::Old),
        _ => return Err(Problem::Refused),
    }
    let ttl = value("TTL").and_then(|ttl| ttl.parse::<u64>().ok());
    if payload.trim_end() != purpose || ttl.is_none_or(|ttl| ttl > LONGEST_SECS) {
        return Err(Problem::Other);
    }
    // `ann (1000)`
    let uid = value("UID").and_then(|uid| uid.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok());
    uid.and_then(name).ok_or(Problem::Unknown)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Printed by unmunge 0.5.15.
    const ANSWER: &str = "STATUS:          Success (0)\nENCODE_HOST:     node1 (10.0.0.1)\n\
        ENCODE_TIME:     2026-11-28 17:00:00 +0000 (1795885200)\n\
        DECODE_TIME:     2026-11-28 17:00:01 +0000 (1795885201)\nTTL:             60\n\
        CIPHER:          aes128 (4)\nMAC:             sha256 (5)\nZIP:             none (0)\n\
        UID:             ann (1000)\nGID:             ann (1000)\nLENGTH:          23\n\n\
        fairtree-serve sign-in\n";

    fn name(uid: u32) -> Option<String> {
        (uid == 1000).then(|| "ann".to_owned())
    }

    #[test]
    fn who_made_a_credential() {
        assert_eq!(read(ANSWER, PURPOSE, name).unwrap(), "ann");
        for (before, after, said) in [
            ("Success (0)", "Replayed credential (17)", "Used"),
            ("Success (0)", "Expired credential (15)", "Old"),
            ("Success (0)", "Invalid credential (3)", "Refused"),
            ("sign-in", "else", "Other"),
            ("TTL:             60", "TTL:             300", "Other"),
            (
                "UID:             ann (1000)",
                "UID:             ann (1001)",
                "Unknown",
            ),
        ] {
            let why = read(&ANSWER.replace(before, after), PURPOSE, name).unwrap_err();
            assert!(format!("{why:?}").contains(said), "{after}: {why}");
        }
        assert!(signed_in("x", None).is_err() && signed_in("MUNGE:a b:", None).is_err());
    }
}
