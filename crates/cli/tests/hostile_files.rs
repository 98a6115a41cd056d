//! Files that are made to harm: no end, no limit, names that steer terminals. Each once took
//! gigabytes, waited for ever or reached a terminal.

#[path = "command/slurm.rs"]
mod slurm;

use std::fs;
use std::io::Write;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use slurm::fairtree;

fn ran(args: &[&str]) -> (Option<i32>, String, String) {
    let ran = fairtree(args, None, false);
    // A name that is cut by bytes, as sshare cuts it, may end in half a character.
    let text = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    (ran.status.code(), text(ran.stdout), text(ran.stderr))
}

fn gzip(path: &std::path::Path, piece: &[u8], times: usize) {
    let mut child = Command::new("gzip")
        .arg("-1")
        .stdin(Stdio::piped())
        .stdout(fs::File::create(path).expect("a file"))
        .spawn()
        .expect("gzip");
    let mut to = child.stdin.take().expect("a pipe");
    for _ in 0..times {
        to.write_all(piece).expect("written");
    }
    drop(to);
    assert!(child.wait().expect("gzip").success());
}

#[test]
fn a_slurm_conf_that_includes_itself_is_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let conf = folder.path().join("slurm.conf");
    let settings = "PriorityWeightAge=1\n".repeat(1000);
    let text = format!("{settings}Include slurm.conf\nInclude other.conf\nInclude slurm.conf\n");
    fs::write(&conf, text).expect("written");
    symlink("slurm.conf", folder.path().join("other.conf")).expect("a link");
    let start = Instant::now();
    let (code, out, err) = ran(&["lint", conf.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(1), "{out}{err}");
    assert!(out.contains("it includes itself"), "{out}");
    assert!(
        start.elapsed() < Duration::from_secs(60),
        "{:?}",
        start.elapsed()
    );
}

#[test]
fn fifos_and_devices_are_not_included() {
    let folder = tempfile::tempdir().expect("a folder");
    let fifo = folder.path().join("fifo");
    let made = Command::new("mkfifo").arg(&fifo).status().expect("mkfifo");
    assert!(made.success());
    let conf = folder.path().join("slurm.conf");
    fs::write(&conf, "Include fifo\nInclude /dev/zero\n").expect("written");
    let (code, out, _) = ran(&["lint", conf.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(1));
    assert_eq!(out.matches("it is no regular file").count(), 2, "{out}");
    // Named by the user it is waited for, but not for ever.
    let (code, _, err) = ran(&["lint", fifo.to_str().expect("UTF-8")]);
    assert_eq!(code, Some(2));
    assert!(err.contains("nobody has written to this FIFO"), "{err}");
    let line = format!(
        "(sleep 1; echo PriorityWeightAge=1; sleep 1; echo PriorityWeightQOS=1) > '{0}' & \
         '{1}' lint '{0}' && '{1}' lint <(sleep 1; echo PriorityWeightAge=1)",
        fifo.display(),
        env!("CARGO_BIN_EXE_fairtree")
    );
    let shell = Command::new("bash")
        .args(["-c", &line])
        .output()
        .expect("a shell");
    let said = String::from_utf8_lossy(&shell.stderr);
    assert!(shell.status.code().is_some_and(|code| code < 2), "{said}");
}

#[test]
fn what_unpacks_without_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("x.gz");
    let file = path.to_str().expect("UTF-8");
    for piece in [&b"x"[..], b"#", b"x|\n"] {
        gzip(&path, &piece.repeat((1 << 20) / piece.len()), 300);
        for format in ["sshare", "site", "sprio", "dump", "sacct"] {
            let (code, _, err) = ran(&["share", "--input-format", format, file]);
            assert_eq!(code, Some(2), "{format}: {err}");
            assert!(err.len() < 1000, "{format}: {err}");
        }
        let (code, _, err) = ran(&["compare", file, file]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("unpacks to more than"), "{err}");
    }
}

const ODD: &str = "Account|User|RawShares|NormShares|RawUsage|EffectvUsage|FairShare\n\
                   root||||10|1.0|\n p\u{1b}[31mh||1|1.0|10|1.0|\n  \
                   p\u{1b}[31mh|al\u{7}i\u{9b}ce\u{fffe}|1|1.0|10|1.0|1.0\n";

#[test]
fn names_steer_no_terminal_and_pictures_are_xml() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("odd\u{1b}]0;x\u{7}.sshare");
    let file = path.to_str().expect("UTF-8");
    fs::write(&path, ODD).expect("written");
    for args in [
        &["share"][..],
        &["share", "-l"],
        &["share", "-P"],
        &["share", "--tree"],
        &["share", "--svg"],
        &["share", "--html"],
        &["share", "--json"],
        &["explain", "al?i¿ce\u{fffd}@p?[31mh"],
        &["chart", "-o", "-"],
    ] {
        let (_, out, err) = ran(&[args, &[file]].concat());
        for said in [&out, &err] {
            let odd = said.chars().find(|c| c.is_control() && *c != '\n');
            assert_eq!(odd, None, "{args:?}: {said}");
        }
    }
    let (code, out, _) = ran(&["chart", "-o", "-", file]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("<!DOCTYPE html>"), "{out}");
    for kind in ["svg", "png", "html"] {
        let to = folder.path().join(format!("x.{kind}"));
        let to = to.to_str().expect("UTF-8");
        let (code, _, err) = ran(&["chart", "-o", to, file]);
        assert_eq!(code, Some(0), "{kind}: {err}");
        if kind == "svg" {
            let svg = fs::read_to_string(to).expect("text");
            resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).expect("XML");
        }
    }
    let (code, _, err) = ran(&["share", "no\u{1b}[31msuch"]);
    assert_eq!(code, Some(2));
    assert!(
        !err.contains('\u{1b}') && err.contains("no?[31msuch"),
        "{err}"
    );
}
