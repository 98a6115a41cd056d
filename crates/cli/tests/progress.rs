//! Bars for long work: in a terminal only, gone at the end.

use std::fs::OpenOptions;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

const LINE: &[u8] = b"1 0 0 60 1 -1 -1 1 -1 -1 1 1 1 -1 1 -1 -1 -1\n";

/// What a terminal shows while a log comes in slowly, until the bar is there, and after.
#[test]
fn a_terminal_shows_a_bar_that_goes_again() {
    let script = Path::new("/usr/bin/script");
    assert!(
        script.exists(),
        "script(1) of bsdutils, which every Debian has"
    );
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("log");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let run = format!(
        "{} share -q -n -P -o User,RawUsage {}",
        env!("CARGO_BIN_EXE_fairtree"),
        fifo.display()
    );
    let loud = run.replace(" -q ", " ");
    for (command, bar) in [(&loud, true), (&run, false)] {
        let mut child = Command::new(script)
            .args(["-qefc", command, "/dev/null"])
            .env("TERM", "xterm")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a terminal");
        let mut pipe = OpenOptions::new()
            .write(true)
            .open(&fifo)
            .expect("the pipe");
        pipe.write_all(b"; UnixStartTime: 0\n")
            .expect("the pipe takes it");
        let mut shown = child.stdout.take().expect("a pipe");
        let (sender, seen) = mpsc::channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = shown.read(&mut bytes) {
                let _ = sender.send(String::from_utf8_lossy(&bytes[..count]).into_owned());
            }
        });
        let mut text = String::new();
        // Long enough for a bar that comes after a second; a quiet one is fed as long.
        let rounds = if bar { 600 } else { 40 };
        for _ in 0..rounds {
            // More than a buffer holds, so that reading goes on.
            pipe.write_all(&LINE.repeat(2_000))
                .expect("the pipe takes it");
            if let Ok(more) = seen.recv_timeout(Duration::from_millis(50)) {
                text.push_str(&more);
            }
            if text.contains("log") {
                break;
            }
        }
        drop(pipe);
        while let Ok(more) = seen.recv_timeout(Duration::from_secs(120)) {
            text.push_str(&more);
        }
        assert!(child.wait().expect("it ends").success(), "{text:?}");
        assert_eq!(text.contains(&fifo.display().to_string()), bar, "{text:?}");
        assert!(text.contains("u1|"), "the report comes after it: {text:?}");
    }
}
