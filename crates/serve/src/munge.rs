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

/// The login name of the user who made a credential for signing in; `socket`: that of munged, where it
/// is not the usual one.
///
/// # Errors
/// A sentence: not a credential, decoded before, expired, made for something else, by an unknown user.
pub fn signed_in(credential: &str, socket: Option<&Path>) -> Result<String, String> {
    let credential = credential.trim();
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=:".contains(&byte);
    if credential.len() > MAX_BYTES
        || !credential.starts_with("MUNGE:")
        || !credential.bytes().all(plain)
    {
        return Err("This is not a link that fairtree login printed".to_owned());
    }
    let failed = |error| format!("unmunge: {error}");
    let mut command = Command::new("unmunge");
    if let Some(socket) = socket {
        command.arg("--socket").arg(socket);
    }
    let mut child = command
        .env("LC_ALL", "C")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    if let Some(mut input) = child.stdin.take() {
        input.write_all(credential.as_bytes()).map_err(failed)?;
    }
    let output = child.wait_with_output().map_err(failed)?;
    read(&String::from_utf8_lossy(&output.stdout), |uid| {
        User::from_uid(Uid::from_raw(uid))
            .ok()
            .flatten()
            .map(|user| user.name)
    })
}

/// Reads the answer of `unmunge`: lines `KEY: value`, an empty line, the payload.
fn read(answer: &str, name: impl Fn(u32) -> Option<String>) -> Result<String, String> {
    let (head, payload) = answer.split_once("\n\n").unwrap_or((answer, ""));
    let value = |key: &str| {
        let found = head
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(':'));
        found.map(str::trim)
    };
    match value("STATUS") {
        Some(status) if status.starts_with("Success") => {}
        Some(status) if status.starts_with("Replayed") => {
            return Err("This link was used before: fairtree login prints another".to_owned());
        }
        Some(status) if status.starts_with("Expired") => {
            return Err(
                "This link is older than 60 seconds: fairtree login prints another".to_owned(),
            );
        }
        _ => return Err("munge on the host of this service does not accept this link".to_owned()),
    }
    let ttl = value("TTL").and_then(|ttl| ttl.parse::<u64>().ok());
    if payload.trim_end() != PURPOSE || ttl.is_none_or(|ttl| ttl > LONGEST_SECS) {
        return Err("This is not a link that fairtree login printed".to_owned());
    }
    // `ann (1000)`
    let uid = value("UID").and_then(|uid| uid.rsplit_once('(')?.1.strip_suffix(')')?.parse().ok());
    let user = uid.and_then(name);
    user.ok_or_else(|| "This host does not know who made this link".to_owned())
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
        assert_eq!(read(ANSWER, name).as_deref(), Ok("ann"));
        for (before, after, said) in [
            ("Success (0)", "Replayed credential (17)", "used before"),
            ("Success (0)", "Expired credential (15)", "older than"),
            ("Success (0)", "Invalid credential (3)", "does not accept"),
            ("sign-in", "else", "not a link"),
            ("TTL:             60", "TTL:             300", "not a link"),
            (
                "UID:             ann (1000)",
                "UID:             ann (1001)",
                "does not know",
            ),
        ] {
            let why = read(&ANSWER.replace(before, after), name).unwrap_err();
            assert!(why.contains(said), "{after}: {why}");
        }
        assert!(signed_in("x", None).is_err() && signed_in("MUNGE:a b:", None).is_err());
    }
}
