//! Running `fairtree` as a person would.

#![allow(dead_code)] // Each test program uses a part of this.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../../tests/common/checkout.rs"]
mod checkout;
pub mod one_node;

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use checkout::checkout;

/// What a run of the command left.
pub struct Ran {
    pub code: i32,
    pub out: String,
    pub err: String,
}

/// Runs the command in the project's folder with `input` on its standard input.
pub fn fairtree(args: &[&str], input: &[u8]) -> Ran {
    let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree"))
        .args(args)
        .current_dir(checkout())
        .env("NO_COLOR", "1")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the command starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let input = input.to_vec();
    // The command may stop reading early; what it says then is what counts.
    let feeder = std::thread::spawn(move || drop(stdin.write_all(&input)));
    let output = child.wait_with_output().expect("the command ends");
    feeder.join().expect("the feeder ends");
    Ran {
        code: output.status.code().expect("no signal"),
        out: String::from_utf8(output.stdout).expect("UTF-8"),
        err: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// What Slurm 22.05.8 printed on a private cluster.
pub const CLUSTER: &str = "tests/captures/cluster";

/// An empty folder for a test.
pub fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).expect("it can be emptied");
    }
    fs::create_dir_all(&folder).expect("it can be made");
    folder
}

/// A copy of [`CLUSTER`] in which, file by file, the first text is replaced by the second.
pub fn edited_capture(name: &str, edits: &[(&str, &str, &str)]) -> String {
    let folder = folder(name);
    let captured = checkout().join(CLUSTER);
    for entry in fs::read_dir(captured).expect("a folder") {
        let path = entry.expect("an entry").path();
        fs::copy(&path, folder.join(path.file_name().expect("a name"))).expect("a copy");
    }
    for (file, from, to) in edits {
        let path = folder.join(file);
        let text = fs::read_to_string(&path).expect("text");
        assert!(text.contains(from), "{file} has {from}");
        fs::write(&path, text.replacen(from, to, 1)).expect("written");
    }
    folder.display().to_string()
}
