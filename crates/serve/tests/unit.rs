//! The unit, the settings and the program as packages have them.

#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::{UnixDatagram, UnixStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use checkout::checkout;

const PROGRAM: &str = env!("CARGO_BIN_EXE_fairtree-serve");

/// A program that is stopped at the end of a test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        // One that has ended is as good as stopped.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The unit as a package installs it.
fn unit(folder: &std::path::Path) -> String {
    let text =
        fs::read_to_string(checkout().join("packaging/fairtree-serve.service.in")).expect("a unit");
    let bin = std::path::Path::new(PROGRAM)
        .parent()
        .expect("a folder")
        .display()
        .to_string();
    let path = folder.join("fairtree-serve.service");
    fs::write(&path, text.replace("@BINDIR@", &bin)).expect("written");
    path.display().to_string()
}

#[test]
fn systemd_takes_the_unit_and_finds_it_hardened() {
    let folder = tempfile::tempdir().expect("a folder");
    let unit = unit(folder.path());
    for args in [
        vec!["verify", "--man=no", &unit],
        // The bound of the unit of captures, in tenths.
        vec![
            "security",
            "--offline=true",
            "--no-pager",
            "--threshold=20",
            &unit,
        ],
    ] {
        let ran = Command::new("systemd-analyze").args(&args).output();
        let ran = match ran {
            Ok(ran) => ran,
            Err(error) if std::env::var_os("CI").is_none() => {
                eprintln!("skipped: systemd-analyze: {error}");
                return;
            }
            Err(error) => panic!("systemd-analyze: {error}"),
        };
        let said = String::from_utf8_lossy(&ran.stderr).into_owned();
        assert!(
            ran.status.success(),
            "{args:?}: {said}{}",
            String::from_utf8_lossy(&ran.stdout)
        );
        let about = said
            .lines()
            .filter(|line| line.contains("fairtree-serve.service:"));
        let about: Vec<&str> = about.collect();
        assert!(about.is_empty(), "{about:?}");
    }
}

#[test]
fn the_packaged_settings_are_the_defaults() {
    let path = checkout().join("packaging/serve.toml");
    let text = fs::read_to_string(path).expect("settings");
    let read = fairtree_serve::settings::Settings::parse(&text).expect("they are allowed");
    assert_eq!(read, fairtree_serve::settings::Settings::default());
}

fn settings(folder: &std::path::Path, text: &str) -> String {
    let path = folder.join("serve.toml");
    fs::write(&path, text).expect("written");
    path.display().to_string()
}

#[test]
fn check_says_ok_or_what_is_wrong() {
    let folder = tempfile::tempdir().expect("a folder");
    let check = |text: &str| {
        let file = settings(folder.path(), text);
        let ran = Command::new(PROGRAM)
            .args(["--check", "--config", &file])
            .output();
        let ran = ran.expect("it runs");
        let said = [ran.stdout, ran.stderr].concat();
        (
            ran.status.code(),
            String::from_utf8_lossy(&said).into_owned(),
        )
    };
    let (code, said) = check("");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = check("listen = \"0.0.0.0:80\"");
    assert_eq!(code, Some(2));
    assert!(
        said.contains("serve.toml: listen: found 0.0.0.0:80"),
        "{said}"
    );
    let ran = Command::new(PROGRAM)
        .args(["--from", "x", "--as", "ann", "--listen", "0.0.0.0:0"])
        .output()
        .expect("it runs");
    assert_eq!(ran.status.code(), Some(2));
}

#[test]
fn a_capture_is_served_and_systemd_is_notified() {
    let folder = tempfile::tempdir().expect("a folder");
    let notify = folder.path().join("notify");
    let socket = UnixDatagram::bind(&notify).expect("a socket");
    socket
        .set_read_timeout(Some(Duration::from_secs(60)))
        .expect("a limit");
    let capture = checkout().join("tests/captures/cluster");
    let child = Command::new(PROGRAM)
        .arg("--from")
        .arg(capture)
        .args(["--as", "ft2-bob", "--listen", "127.0.0.1:0"])
        .env("NOTIFY_SOCKET", &notify)
        .stdout(Stdio::piped())
        .spawn();
    let mut child = Running(child.expect("it starts"));
    let mut line = String::new();
    let out = child.0.stdout.take().expect("its output");
    BufReader::new(out).read_line(&mut line).expect("a line");
    let address = line
        .trim()
        .strip_prefix("listening on http://127.0.0.1:")
        .expect("the line");
    let mut message = [0; 64];
    let length = socket.recv(&mut message).expect("a message");
    assert!(message[..length].starts_with(b"READY=1"), "{message:?}");
    let port: u16 = address.parse().expect("a port");
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
    // The header of a proxy counts on no TCP connection.
    let request = "GET /api/v1/me HTTP/1.1\r\nHost: localhost\r\nX-Remote-User: root\r\nConnection: close\r\n\r\n";
    stream.write_all(request.as_bytes()).expect("asked");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert!(answer.contains("\"user\": \"ft2-bob\""), "{answer}");
}

#[test]
fn a_proxy_of_an_allowed_user_names_who_asks() {
    let folder = tempfile::tempdir().expect("a folder");
    let own = nix::unistd::User::from_uid(nix::unistd::Uid::current());
    let own = own.expect("users").expect("this one").name;
    let captures = checkout().join("tests/captures");
    let socket = folder.path().join("proxy.sock");
    let run = |users: &str| {
        let text = format!(
            "listen = \"127.0.0.1:0\"\nsocket = \"{}\"\nproxy_users = [\"{users}\"]\n\
             database = \"{}\"\n\
             [capture]\nfolder = \"{}/cluster\"\nevery_secs = 0\n[metrics]\nlisten = \"127.0.0.1:0\"\n",
            socket.display(),
            folder.path().join("fairtree.db").display(),
            captures.display()
        );
        let file = settings(folder.path(), &text);
        let child = Command::new(PROGRAM)
            .args(["--config", &file])
            .stdout(Stdio::piped())
            .spawn();
        let mut child = Running(child.expect("it starts"));
        let out = child.0.stdout.take().expect("its output");
        let lines: Vec<String> = BufReader::new(out)
            .lines()
            .take(3)
            .map_while(Result::ok)
            .collect();
        assert_eq!(lines.len(), 3, "{lines:?}");
        let port = |line: &str| -> u16 {
            let (_, port) = line.rsplit_once(':').expect("a port");
            let port = port.trim_end_matches("/metrics");
            port.parse().expect("a port")
        };
        (child, port(&lines[0]), port(&lines[2]))
    };
    let ask = |stream: &mut dyn ReadWrite, path: &str, user: &str| {
        let request = format!(
            "GET {path} HTTP/1.1\r\nHost: x\r\nX-Remote-User: {user}\r\nConnection: close\r\n\r\n"
        );
        // A connection that is refused may be gone by now.
        let _ = stream.write_all(request.as_bytes());
        let mut answer = String::new();
        let _ = stream.read_to_string(&mut answer);
        answer
    };
    {
        let (_child, port, metrics) = run(&own);
        let mut stream = UnixStream::connect(&socket).expect("a connection");
        let answer = ask(&mut stream, "/api/v1/me", "ft2-bob");
        assert!(answer.contains("\"user\": \"ft2-bob\""), "{answer}");
        // The same header on TCP is ignored: nobody is signed in.
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let answer = ask(&mut stream, "/api/v1/me", "root");
        assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
        let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("a connection");
        let answer = ask(&mut stream, "/me", "root");
        assert!(
            answer.starts_with("HTTP/1.1 303") && answer.contains("location: /login"),
            "{answer}"
        );
        // Metrics are for everybody who reaches their own address.
        let mut stream = TcpStream::connect(("127.0.0.1", metrics)).expect("a connection");
        let answer = ask(&mut stream, "/metrics", "nobody");
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        assert!(
            answer.contains("\nfairtree_up{cluster=\"fairtree\"} 1\n"),
            "{answer}"
        );
    }
    // A socket that was left is no obstacle; the peer is not the allowed user.
    let (_child, ..) = run("nobody");
    let mut stream = UnixStream::connect(&socket).expect("a connection");
    let answer = ask(&mut stream, "/api/v1/me", "ft2-bob");
    assert_eq!(answer, "");
}

/// A connection of either kind.
trait ReadWrite: Read + Write {}
impl<T: Read + Write> ReadWrite for T {}
