//! Running a command of Slurm: with a time limit, and a clear word for each way to fail.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::Receiver;
use std::thread;
use std::time::{Duration, Instant};

use super::pipe::{Broken, collect, copy, whole};
use crate::input::error::InputError;
use crate::input::lines::{lossy, plain};

/// Default time limit of a command.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(60);

/// Reason why a command gave no answer.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CommandError {
    /// No such program.
    #[error(
        "{program} is not installed, or not in PATH\nhint: install Slurm's client commands (Debian: slurm-client), or read a capture with --from DIR"
    )]
    NotInstalled {
        /// The program.
        program: String,
    },
    /// The operating system did not start or feed it.
    #[error("{program}: {error}")]
    System {
        /// The program.
        program: String,
        /// The error.
        error: io::Error,
    },
    /// Its answer cannot be put into a file.
    #[error("{file}: {error}")]
    File {
        /// The file.
        file: String,
        /// The operating system's error.
        error: io::Error,
    },
    /// It did not end in time and was stopped.
    #[error(
        "{command}: no answer within {secs} seconds\nhint: slurmctld may be busy; --time-limit gives it longer"
    )]
    Timeout {
        /// The command line.
        command: String,
        /// The limit.
        secs: u64,
    },
    /// Slurm's commands find no configuration.
    #[error(
        "{command}: finds no slurm.conf: {said}\nhint: run it on a host of the cluster, or set SLURM_CONF; without a cluster name a FILE, or a capture with --from DIR"
    )]
    NoConfig {
        /// The command line.
        command: String,
        /// Output of the command.
        said: String,
    },
    /// slurmctld or slurmdbd cannot be reached.
    #[error(
        "{command}: {daemon} cannot be reached: {said}\nhint: is it up, and does SLURM_CONF name the right slurm.conf?"
    )]
    Down {
        /// The command line.
        command: String,
        /// The daemon.
        daemon: &'static str,
        /// Output of the command.
        said: String,
    },
    /// This user may not ask.
    #[error("{command}: not permitted: {said}\nhint: run it as a Slurm operator, or as root")]
    NotPermitted {
        /// The command line.
        command: String,
        /// Output of the command.
        said: String,
    },
    /// The command is of another release than the daemon.
    #[error(
        "{command}: this command and Slurm's daemons are of different releases: {said}\nhint: run fairtree where PATH finds the commands of the cluster's own release, or read a capture with --from DIR"
    )]
    OtherRelease {
        /// The command line.
        command: String,
        /// Output of the command.
        said: String,
    },
    /// It failed for a different reason.
    #[error("{command}: {how}: {said}")]
    Failed {
        /// The command line.
        command: String,
        /// Exit code or signal.
        how: String,
        /// Output of the command.
        said: String,
    },
    /// Its answer is not what it should be.
    #[error("{command}: unexpected output: {}", .error.explained())]
    Unexpected {
        /// The command line.
        command: String,
        /// The error in it.
        error: Box<InputError>,
    },
}

impl CommandError {
    /// An answer that its reader refused.
    pub(in crate::input) fn unexpected(command: &[&str], error: InputError) -> CommandError {
        CommandError::Unexpected {
            command: command.join(" "),
            error: Box::new(error),
        }
    }
}

/// A command to run.
#[derive(Clone, Debug)]
pub struct Ask<'a> {
    command: &'a [&'a str],
    limit: Duration,
    time_format: String,
    token: Option<&'a Token>,
}

/// A token of Slurm (auth/jwt) with which a command acts as the person that it belongs to. Nothing prints it.
#[derive(Clone)]
pub struct Token(String);

impl Token {
    /// The token that `scontrol token` printed, with or without `SLURM_JWT=`; `None`: it has not the form of one.
    pub fn parse(text: &str) -> Option<Token> {
        let text = text.trim();
        let token = text.strip_prefix("SLURM_JWT=").unwrap_or(text);
        let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_=.".contains(&byte);
        let parts = token.split('.').count() == 3;
        let fits = parts && token.len() <= MAX_TOKEN_BYTES && token.bytes().all(plain);
        fits.then(|| Token(token.to_owned()))
    }

    /// The user that the token names; Slurm checks if that is true. `None`: it names nobody.
    pub fn user(&self) -> Option<String> {
        let payload = self.0.split('.').nth(1)?;
        let payload: serde_json::Value = serde_json::from_slice(&base64url(payload)?).ok()?;
        payload.get("sun")?.as_str().map(str::to_owned)
    }
}

impl fmt::Debug for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Token")
    }
}

/// The longest token, in bytes.
const MAX_TOKEN_BYTES: usize = 8192;

/// Bytes of base64url (RFC 4648, section 5), with padding or without.
fn base64url(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| {
        Some(match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'-' => 62,
            b'_' => 63,
            _ => return None,
        })
    };
    let digits = text.trim_end_matches('=').bytes().map(digit);
    let digits: Vec<u8> = digits.collect::<Option<_>>()?;
    let mut bytes = Vec::with_capacity(digits.len() * 3 / 4);
    for four in digits.chunks(4) {
        let value = four
            .iter()
            .fold(0, |sum, digit| sum << 6 | u32::from(*digit));
        let value = value << (6 * (4 - four.len()));
        bytes.extend_from_slice(&value.to_be_bytes()[1..four.len()]);
    }
    Some(bytes)
}

/// Output of a command.
#[derive(Clone, Debug)]
pub struct Answered {
    /// Standard output.
    pub text: String,
    /// Time that it took.
    pub secs: f64,
}

/// Settings of the caller that would change what the commands print.
const FORGOTTEN: [&str; 9] = [
    "SACCT_FEDERATION",
    "SACCT_FORMAT",
    "SACCT_LOCAL",
    "SPRIO_FORMAT",
    "SPRIO_FEDERATION",
    "SPRIO_LOCAL",
    "SPRIO_SIBLING",
    "SLURM_BITSTR_LEN",
    "SLURM_CLUSTERS",
];

impl<'a> Ask<'a> {
    /// The command line `command`, to be answered within `limit`.
    pub fn new(command: &'a [&'a str], limit: Duration) -> Ask<'a> {
        Ask {
            command,
            limit,
            time_format: "standard".into(),
            token: None,
        }
    }

    /// The same as the person whose token this is; `None`: as the user of this process. The token is in the
    /// environment of the command, which only that user and root can read.
    #[must_use]
    pub fn with_token(mut self, token: Option<&'a Token>) -> Ask<'a> {
        self.token = token;
        self
    }

    /// The same with times in another form, which `SLURM_TIME_FORMAT` takes.
    #[must_use]
    pub fn with_time_format(mut self, form: String) -> Ask<'a> {
        self.time_format = form;
        self
    }

    /// Runs it, with times in UTC and plain English.
    ///
    /// # Errors
    /// [`CommandError`]; a command that ran out of time is stopped and waited for.
    pub fn run(&self) -> Result<Answered, CommandError> {
        let (out, secs) = self.answer(whole)?;
        let out = out.map_err(|error| self.system(error))?;
        Ok(Answered {
            text: plain(lossy(&out)).into_owned(),
            secs,
        })
    }

    /// As [`Ask::run`], with the text in a file and only a piece of it at a time in memory; how long
    /// it took. `name` is that of the file in messages.
    ///
    /// # Errors
    /// Those of [`Ask::run`], and those of the file; a line of more than
    /// [`MAX_LINE_BYTES`](crate::input::MAX_LINE_BYTES).
    pub fn run_into(&self, name: &str, mut file: File) -> Result<f64, CommandError> {
        let (copied, secs) = self.answer(move |pipe| copy(pipe, &mut file))?;
        match copied {
            Ok(()) => Ok(secs),
            Err(Broken::Read(error)) => Err(self.system(error)),
            Err(Broken::Write(error)) => Err(CommandError::File {
                file: name.to_owned(),
                error,
            }),
        }
    }

    /// Result of `read` on its standard output, and how long it took.
    fn answer<T: Send + 'static, E: Send + 'static>(
        &self,
        read: impl FnOnce(&mut dyn Read) -> Result<T, E> + Send + 'static,
    ) -> Result<(Result<T, E>, f64), CommandError> {
        let start = Instant::now();
        let mut command = Command::new(self.command[0]);
        command
            .args(&self.command[1..])
            .env("TZ", "UTC")
            .env("LC_ALL", "C")
            .env("SLURM_TIME_FORMAT", &self.time_format)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        for name in FORGOTTEN {
            command.env_remove(name);
        }
        if let Some(token) = self.token {
            command.env("SLURM_JWT", &token.0);
        }
        let mut child = command.spawn().map_err(|error| self.not_started(error))?;
        let out = collect(child.stdout.take(), read);
        let err = collect(child.stderr.take(), whole);
        let Some(status) = self.wait(&mut child, start)? else {
            // A child that is gone already cannot be stopped: as good as stopped.
            let _ = child.kill();
            let _ = child.wait();
            return Err(CommandError::Timeout {
                command: self.command.join(" "),
                secs: self.limit.as_secs(),
            });
        };
        let out = self.rest(out, start)?;
        let err = self.rest(err, start)?.map_err(|error| self.system(error))?;
        // One whose answer is not taken to its end fails for that.
        if out.is_ok() && !status.success() {
            return Err(self.failed(status, &String::from_utf8_lossy(&err)));
        }
        Ok((out, start.elapsed().as_secs_f64()))
    }

    /// Waits for the result of a pipe whose command has ended.
    fn rest<T>(&self, receiver: Receiver<T>, start: Instant) -> Result<T, CommandError> {
        let left = self.limit.saturating_sub(start.elapsed());
        let ended = receiver.recv_timeout(left.max(Duration::from_secs(1)));
        ended.map_err(|_| CommandError::Timeout {
            command: self.command.join(" "),
            secs: self.limit.as_secs(),
        })
    }

    /// The status of a child that ends in time.
    fn wait(&self, child: &mut Child, start: Instant) -> Result<Option<ExitStatus>, CommandError> {
        let mut pause = Duration::from_millis(1);
        loop {
            if let Some(status) = child.try_wait().map_err(|error| self.system(error))? {
                return Ok(Some(status));
            }
            if start.elapsed() >= self.limit {
                return Ok(None);
            }
            thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(50));
        }
    }

    fn not_started(&self, error: io::Error) -> CommandError {
        match error.kind() {
            io::ErrorKind::NotFound => CommandError::NotInstalled {
                program: self.command[0].to_owned(),
            },
            _ => self.system(error),
        }
    }

    fn system(&self, error: io::Error) -> CommandError {
        CommandError::System {
            program: self.command[0].to_owned(),
            error,
        }
    }

    fn failed(&self, status: ExitStatus, said: &str) -> CommandError {
        let command = self.command.join(" ");
        let first = said.lines().map(str::trim).find(|line| !line.is_empty());
        let text = first.unwrap_or("it said nothing").to_owned();
        let says = |words: &[&str]| words.iter().any(|word| said.contains(word));
        if says(&[
            "Access/permission denied",
            "ermission denied",
            "Only superuser",
        ]) {
            return CommandError::NotPermitted {
                command,
                said: text,
            };
        }
        let no_config = [
            "Could not establish a configuration source",
            "Unable to process configuration file",
        ];
        if says(&no_config) {
            return CommandError::NoConfig {
                command,
                said: text,
            };
        }
        // Said after other lines, on what came of it.
        const DIFFERENT: &str = "Incompatible versions";
        if let Some(line) = said.lines().find(|line| line.contains(DIFFERENT)) {
            let said = line.trim().to_owned();
            return CommandError::OtherRelease { command, said };
        }
        let unreachable = [
            "Unable to contact slurm controller",
            "Connection refused",
            "Connection timed out",
            "Transport endpoint is not connected",
            "No route to host",
            "Unable to establish",
        ];
        if says(&unreachable) {
            let daemon = match self.command[0] {
                "sacct" | "sacctmgr" => "slurmdbd",
                _ => "slurmctld",
            };
            return CommandError::Down {
                command,
                daemon,
                said: text,
            };
        }
        CommandError::Failed {
            command,
            how: status.to_string(),
            said: text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(script: &str, limit: Duration) -> Result<Answered, CommandError> {
        Ask::new(&["sh", "-c", script], limit).run()
    }

    const LONG: Duration = Duration::from_secs(600);

    #[test]
    fn answers_come_whole_and_in_utc() {
        let answered = run("echo $TZ; echo noise >&2; seq 100000", LONG).unwrap();
        assert!(answered.text.starts_with("UTC\n1\n"));
        assert!(answered.text.ends_with("\n100000\n"));
    }

    #[test]
    fn each_failure_has_its_word() {
        let fails = |said: &str| run(&format!("echo '{said}' >&2; exit 1"), LONG).unwrap_err();
        let down = "slurm_load_jobs error: Unable to contact slurm controller (connect failure)";
        assert!(matches!(fails(down), CommandError::Down { .. }));
        let denied = "scontrol: error: Access/permission denied";
        assert!(matches!(fails(denied), CommandError::NotPermitted { .. }));
        // Printed by scontrol 22.05.8 asking slurmctld 24.11.5.
        let other = "scontrol: error: auth_g_unpack: authentication plugin unknown(1007) not found
scontrol: error: slurm_unpack_received_msg: [[localhost]:21038] Incompatible versions of client and server code
slurm_reconfigure error: Unspecified error";
        let other = fails(other);
        assert!(matches!(other, CommandError::OtherRelease { .. }));
        assert!(
            other
                .to_string()
                .contains("of different releases: scontrol: error: slurm_unpack")
        );
        // Printed by scontrol 22.05.8 on a host without a slurm.conf.
        let no_config =
            "scontrol: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host
scontrol: error: fetch_config: DNS SRV lookup failed
scontrol: error: _establish_config_source: failed to fetch config
scontrol: fatal: Could not establish a configuration source";
        assert!(matches!(fails(no_config), CommandError::NoConfig { .. }));
        assert!(matches!(fails("other"), CommandError::Failed { .. }));
        let killed = run("kill -9 $$", LONG).unwrap_err();
        assert!(killed.to_string().contains("signal: 9"), "{killed}");
        let none = Ask::new(&["no-such-program-of-slurm"], LONG)
            .run()
            .unwrap_err();
        assert!(matches!(none, CommandError::NotInstalled { .. }));
    }

    #[test]
    fn a_command_without_end_is_stopped() {
        let error = run("exec sleep 1000", Duration::from_millis(50)).unwrap_err();
        assert!(matches!(error, CommandError::Timeout { .. }), "{error}");
    }
}
