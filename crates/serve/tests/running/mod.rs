//! The program on a site whose commands are scripts: they print what is in a folder, note each call, and keep the
//! shares that they are asked to give. A credential of munge names its user in its text.

#![allow(dead_code)] // Each test program uses a part of this.

use std::fs::{self, File, Permissions};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// Longer than a machine under load takes for anything here.
pub const PATIENCE: Duration = Duration::from_secs(120);

/// Calls to Slurm for one picture: each source of a capture but past jobs, which are asked for where the site has
/// `history.txt`, and the transactions.
pub const CALLS: usize = 13;

/// A folder with the commands of a site, its answers, and all that the service keeps.
pub struct Place {
    folder: TempDir,
    user: String,
}

impl Place {
    /// A site whose commands print the files that `answers` writes into a folder.
    pub fn new(answers: impl FnOnce(&Path)) -> Place {
        let folder = tempfile::tempdir().expect("a folder");
        let own = nix::unistd::User::from_uid(nix::unistd::Uid::current());
        let user = own.expect("users").expect("this one").name;
        let place = Place { folder, user };
        fs::create_dir(place.answers()).expect("a folder");
        answers(&place.answers());
        place.commands();
        File::create(place.path("calls")).expect("a file");
        place
    }

    /// A site whose commands print the recorded capture of 22.05.8; the user of this process is an operator.
    pub fn recorded() -> Place {
        let place = Place::new(|_| {});
        place.restore();
        place
    }

    /// Puts the recorded answers in place of what was changed.
    pub fn restore(&self) {
        let from = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/captures/cluster");
        for entry in fs::read_dir(from).expect("a capture") {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name");
            fs::copy(&path, self.answers().join(name)).expect("copied");
        }
        let users = self.answers().join("users.txt");
        let text = fs::read_to_string(&users).expect("users");
        fs::write(users, format!("{text}{}|Operator\n", self.user)).expect("written");
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The folder of what Slurm's commands print.
    pub fn answers(&self) -> PathBuf {
        self.path("answers")
    }

    /// The user of this process, who is the one that connects to the proxy's socket.
    pub fn user(&self) -> &str {
        &self.user
    }

    /// Calls to Slurm until now.
    pub fn calls(&self) -> usize {
        let text = fs::read_to_string(self.path("calls")).expect("the calls");
        text.lines().count()
    }

    /// The same without what a plan needs to be applied.
    pub fn picture_calls(&self) -> usize {
        let text = fs::read_to_string(self.path("calls")).expect("the calls");
        let of_plan = |line: &&str| line.contains("show assoc where") || line.contains(" modify ");
        text.lines().filter(|line| !of_plan(line)).count()
    }

    /// Puts a script in the place of a command.
    pub fn command(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).expect("a script");
        fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("a mode");
    }

    fn commands(&self) {
        fs::create_dir(self.path("bin")).expect("a folder");
        let (answers, calls) = (self.answers(), self.path("calls"));
        let (answers, calls) = (answers.display(), calls.display());
        let note = format!("echo \"$0 $*\" >>'{calls}'\n");
        let cat = |file: &str| format!("{note}exec cat '{answers}/{file}.txt'");
        self.command("sshare", &cat("sshare"));
        self.command("sprio", &cat("sprio"));
        self.command("squeue", &cat("names"));
        self.command("sacct", &cat("history"));
        self.command(
            "scontrol",
            &format!(
                "{note}case \"$*\" in *config) f=config;; *partition) f=partitions;; *node) f=nodes;; *) f=jobs;; esac\n\
                 exec cat '{answers}'/$f.txt"
            ),
        );
        self.command(
            "sacctmgr",
            &format!("cd '{answers}'\nCALLS='{calls}'\n{SACCTMGR}"),
        );
        self.command("unmunge", &format!("cd '{answers}'\n{UNMUNGE}"));
    }

    /// Starts the service, and waits until it listens.
    pub fn start(&self) -> Running {
        let settings = format!(
            "listen = \"127.0.0.1:0\"\nsocket = \"{}\"\nproxy_users = [\"{}\"]\ndatabase = \"{}\"\n\
             [capture]\nfolder = \"{}\"\nevery_secs = 86400\nkeep = 1000\nhistory = {}\n[metrics]\nlisten = \"127.0.0.1:0\"\n",
            self.path("proxy.sock").display(),
            self.user,
            self.path("fairtree.db").display(),
            self.path("captures").display(),
            self.answers().join("history.txt").exists(),
        );
        let file = self.path("serve.toml");
        fs::write(&file, settings).expect("written");
        let path = std::env::var("PATH").expect("a path");
        let mut child = Command::new(env!("CARGO_BIN_EXE_fairtree-serve"))
            .arg("--config")
            .arg(&file)
            .env("PATH", format!("{}:{path}", self.path("bin").display()))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(self.path("errors")).expect("a file"))
            .spawn()
            .expect("the service");
        let mut out = BufReader::new(child.stdout.take().expect("its output"));
        let mut addresses = Vec::new();
        for before in ["listening on ", "listening on ", "metrics on "] {
            let mut line = String::new();
            out.read_line(&mut line).expect("a line");
            let address = line.trim().strip_prefix(before);
            let said = || fs::read_to_string(self.path("errors")).expect("its errors");
            addresses.push(address.unwrap_or_else(|| panic!("{}", said())).to_owned());
        }
        Running {
            child: Mutex::new(child),
            _out: out,
            metrics: addresses.pop().expect("an address"),
            url: addresses.swap_remove(0),
            socket: self.path("proxy.sock"),
        }
    }
}

/// A service that is killed at the end.
pub struct Running {
    child: Mutex<Child>,
    _out: BufReader<ChildStdout>,
    /// Its address for browsers.
    pub url: String,
    metrics: String,
    socket: PathBuf,
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A response.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub location: String,
    pub text: String,
}

impl Running {
    /// Kills it at once, and waits until it is gone.
    pub fn kill(&self) {
        let mut child = self.child.lock().expect("no panic");
        // SIGKILL; one that has ended is as good as stopped.
        let _ = child.kill();
        let _ = child.wait();
    }

    /// Asks as a user, whom the proxy has signed in; `None`: the service has ended.
    pub fn get(&self, path: &str, user: &str) -> Option<Answer> {
        ask(&self.socket, &format!("GET {path}"), user, "")
    }

    /// Sends a form as a user.
    pub fn post(&self, path: &str, user: &str, fields: &str) -> Option<Answer> {
        ask(&self.socket, &format!("POST {path}"), user, fields)
    }

    /// The socket of the proxy.
    pub fn socket(&self) -> &Path {
        &self.socket
    }

    /// Waits until the first picture of this start is shown: all of Slurm's commands were asked before that.
    pub fn await_picture(&self, place: &Place, since: usize) {
        let start = Instant::now();
        let known = || place.calls() >= since + CALLS;
        let shown = || {
            self.get("/healthz", place.user())
                .is_some_and(|answer| answer.text == "ok\n")
        };
        while !(known() && shown()) {
            assert!(start.elapsed() < PATIENCE, "no picture");
            std::thread::sleep(Duration::from_millis(2));
        }
    }

    /// Its metrics.
    pub fn metrics(&self) -> String {
        let address = self.metrics.strip_prefix("http://");
        let address = address.and_then(|at| at.strip_suffix("/metrics"));
        let mut stream = TcpStream::connect(address.expect("an address")).expect("a connection");
        let request = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).expect("asked");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("an answer");
        text
    }
}

/// Asks the service at a socket; `None`: it has ended, or ends meanwhile.
pub fn ask(socket: &Path, what: &str, user: &str, body: &str) -> Option<Answer> {
    let mut stream = UnixStream::connect(socket).ok()?;
    let request = format!(
        "{what} HTTP/1.1\r\nHost: x\r\nX-Remote-User: {user}\r\nConnection: close\r\n\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).ok()?;
    let mut text = String::new();
    stream.read_to_string(&mut text).ok()?;
    let (head, text) = text.split_once("\r\n\r\n")?;
    let value = |name: &str| head.lines().find_map(|line| line.strip_prefix(name));
    // An answer that breaks off is no answer.
    let length: usize = value("content-length: ")?.parse().ok()?;
    (text.len() == length).then(|| Answer {
        status: head
            .split(' ')
            .nth(1)
            .and_then(|word| word.parse().ok())
            .unwrap_or(0),
        location: value("location: ").unwrap_or("").to_owned(),
        text: text.to_owned(),
    })
}

/// A token of a user, as far as the service reads it: base64url of `{"sun":"USER"}` with spaces, so that there is no
/// padding.
pub fn token(user: &str) -> String {
    let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut payload = format!("{{\"sun\":\"{user}\"}}");
    payload.push_str(["", "  ", " "][payload.len() % 3]);
    let mut text = String::new();
    for three in payload.as_bytes().chunks_exact(3) {
        let bits = three
            .iter()
            .fold(0, |bits, byte| bits << 8 | u32::from(*byte));
        for shift in [18, 12, 6, 0] {
            text.push(char::from(digits[(bits >> shift & 63) as usize]));
        }
    }
    format!("e30.{text}.x")
}

/// slurmdbd by its tool: lists, and the shares of associations. `allowed` has a line `USER NAME` for each user and
/// account, or user association as `USER NAME@ACCOUNT`, whose shares that user may set; without the file all may.
/// sshare's answer has the shares that were given, too.
const SACCTMGR: &str = r#"
echo "$0 $*" >>"$CALLS"
case "$*" in
*'show assoc where '*)
    for word in "$@"; do
        case "$word" in parent=*) key=parent name="${word#*=}";; account=*) key=account name="${word#*=}";; esac
    done
    exec awk -F'|' -v OFS='|' -v key=$key -v name="$name" 'NR == 1 {print "Cluster|Account|User|Partition|Share|ParentName"; next}
        (key == "parent" && $3 == "" && $7 == name) || (key == "account" && $2 == name) {print $1, $2, $3, $4, $5, $7}' assocs.txt;;
*'show assoc '*) exec cat assocs.txt;;
*'show qos '*) exec cat qos.txt;;
*'show account '*) exec cat accounts.txt;;
*'show user '*) exec cat users.txt;;
*'show config') exec cat database.txt;;
*' modify '*)
    account= user= shares=
    for word in "$@"; do
        case "$word" in
        name=*) name="${word#*=}";; account=*) account="${word#*=}";; fairshare=*) shares="${word#*=}";; user) user=yes;;
        esac
    done
    if [ "$user" ]; then what="$name@$account"; user="$name"; else what="$name" account="$name"; fi
    actor=$(echo "$SLURM_JWT" | cut -d. -f2 | tr _- /+ | base64 -d 2>/dev/null | cut -d'"' -f4)
    if [ -e allowed ] && ! grep -qx "$actor $what" allowed; then echo ' Nothing modified' >&2; exit 1; fi
    awk -F'|' -v OFS='|' -v a="$account" -v u="$user" -v s="$shares" '$2 == a && $3 == u {$5 = s} {print}' assocs.txt >new
    mv new assocs.txt
    awk -F'|' -v OFS='|' -v a="$account" -v u="$user" -v s="$shares" '{n = $1; gsub(/ /, "", n)} n == a && $2 == u {$5 = s} {print}' sshare.txt >new
    mv new sshare.txt;;
*) echo 'Time|Action|Actor|User|Account|Info';;
esac"#;

/// Decodes `MUNGE:USER-UID-NUMBER:` once.
const UNMUNGE: &str = r#"
credential=$(cat)
status='Success (0)'
if grep -qxF "$credential" used 2>/dev/null; then status='Replayed credential (17)'; fi
echo "$credential" >>used
uid=$(echo "$credential" | cut -d/ -f2)
name=$(echo "$credential" | cut -d/ -f1 | cut -d: -f2)
printf 'STATUS:          %s\nTTL:             60\nUID:             %s (%s)\n\nfairtree-serve sign-in\n' "$status" "$name" "$uid""#;

/// A credential of a user for signing in, another for each `number`.
pub fn credential(name: &str, uid: u32, number: u32) -> String {
    format!("MUNGE:{name}/{uid}/{number}:")
}
