//! Functions that run other programs.

use std::io::{BufRead, BufReader, Read};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::progress::Progress;
use crate::project;

/// Largest number of output lines that the error of a failed program repeats.
const MOST_LINES: usize = 30;

/// The cargo that runs this program, in the checkout.
pub fn cargo_in_checkout() -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    command.current_dir(project::root());
    command
}

/// Runs a program to its end and returns its output.
///
/// # Errors
/// Fails if it cannot be run, or if it fails: then with the end of its output.
pub fn checked(command: &mut Command) -> Result<String> {
    let answer = command
        .output()
        .with_context(|| format!("cannot run {command:?}"))?;
    if !answer.status.success() {
        let text = [answer.stdout, answer.stderr].concat();
        let text = String::from_utf8_lossy(&text);
        let skipped = text.lines().count().saturating_sub(MOST_LINES);
        let tail: Vec<&str> = text.lines().skip(skipped).collect();
        bail!(
            "{command:?} failed ({}):\n{}",
            answer.status,
            tail.join("\n")
        );
    }
    Ok(String::from_utf8_lossy(&answer.stdout).into_owned())
}

/// Time between two lines of progress where there is no terminal.
const QUIET_FOR: Duration = Duration::from_secs(15);

/// As [`checked`], without the output: its last line is shown while the program runs, after `what`.
///
/// # Errors
/// Those of [`checked`].
pub fn followed(command: &mut Command, what: &str, progress: &Progress) -> Result<()> {
    let cannot = format!("cannot run {command:?}");
    let mut child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context(cannot)?;
    let (out, err) = (child.stdout.take(), child.stderr.take());
    let (sender, lines) = mpsc::channel();
    let from_out = out.map(|out| reader(out, sender.clone()));
    let from_err = err.map(|err| reader(err, sender));
    let mut said: Vec<String> = Vec::new();
    let mut shown = Instant::now();
    loop {
        match lines.recv_timeout(Duration::from_secs(1)) {
            Ok(line) => {
                said.push(line);
                // Of a build of minutes the end is enough.
                if said.len() > 10 * MOST_LINES {
                    said.drain(..9 * MOST_LINES);
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        let last = said.last().map_or("", |line| line.trim());
        if progress.is_drawn() || shown.elapsed() >= QUIET_FOR {
            progress.step(format!("{what}: {last}"));
            shown = Instant::now();
        }
    }
    for thread in [from_out, from_err].into_iter().flatten() {
        // It only passes lines on.
        let _ = thread.join();
    }
    let status = child.wait()?;
    if !status.success() {
        let tail = &said[said.len().saturating_sub(MOST_LINES)..];
        bail!("{command:?} failed ({status}):\n{}", tail.join("\n"));
    }
    Ok(())
}

/// Sends each line of a stream.
fn reader(stream: impl Read + Send + 'static, lines: Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut stream = BufReader::new(stream);
        let mut line = Vec::new();
        while stream
            .read_until(b'\n', &mut line)
            .is_ok_and(|read| read > 0)
        {
            let text = String::from_utf8_lossy(&line).trim_end().to_owned();
            line.clear();
            if !text.is_empty() && lines.send(text).is_err() {
                return;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn what_a_failed_program_said_is_repeated() {
        assert_eq!(checked(&mut sh("echo well")).unwrap(), "well\n");
        let error = checked(&mut sh("echo out; echo why >&2; exit 3")).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("out\nwhy") && text.contains('3'), "{text}");
    }

    #[test]
    fn what_a_followed_program_said_is_repeated_if_it_fails() {
        let progress = Progress::plain();
        followed(&mut sh("echo well; echo more >&2"), "it", &progress).unwrap();
        let script = "for i in $(seq 1000); do echo $i; done; echo why >&2; exit 3";
        let error = followed(&mut sh(script), "it", &progress).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("why") && text.contains('3'), "{text}");
        assert!(text.lines().count() <= MOST_LINES + 1, "{text}");
    }
}
