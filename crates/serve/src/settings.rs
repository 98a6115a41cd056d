//! The file of settings, `/etc/fairtree/serve.toml`.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use nix::unistd::User;
use serde::Deserialize;

use crate::options::StartError;

/// Where the file is unless an option names another.
pub const FILE: &str = "/etc/fairtree/serve.toml";

/// Settings.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Settings {
    /// The address that browsers use, as `https://fairtree.example.org`.
    pub url: Option<String>,
    /// TCP address for browsers, or for a proxy that ends TLS.
    pub listen: Option<SocketAddr>,
    /// A proxy in front of `listen` ends TLS; without one only the loopback interface is allowed.
    pub tls_proxy: bool,
    /// Unix socket of a proxy that says in `X-Remote-User` who asks.
    pub socket: Option<PathBuf>,
    /// Users whose processes may connect to `socket`.
    pub proxy_users: Vec<String>,
    /// Socket of munged, where it is not the usual one.
    pub munge_socket: Option<PathBuf>,
    /// The database of plans and changes, on a local disk.
    pub database: PathBuf,
    /// Captures.
    pub capture: Capture,
    /// Time that things in the database stay.
    pub retention: Retention,
    /// Metrics.
    pub metrics: Metrics,
}

/// Settings of courses over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retention {
    /// Days of which every hour of users is kept; of older ones one picture a day. All of accounts stays.
    pub user_days: u32,
}

impl Default for Retention {
    fn default() -> Retention {
        Retention { user_days: 35 }
    }
}

/// Settings of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Metrics {
    /// TCP address for `/metrics`.
    pub listen: OrOff,
    /// Number of users with series of their own, those with the most usage.
    pub users: usize,
}

/// A TCP address, or `off`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct OrOff(pub Option<SocketAddr>);

impl FromStr for OrOff {
    type Err = String;

    fn from_str(text: &str) -> Result<OrOff, String> {
        match text {
            "off" => Ok(OrOff(None)),
            _ => text
                .parse()
                .map(|address| OrOff(Some(address)))
                .map_err(|_| {
                    format!("found {text:?}, allowed is an address, as 127.0.0.1:8766, or off")
                }),
        }
    }
}

impl TryFrom<String> for OrOff {
    type Error = String;

    fn try_from(text: String) -> Result<OrOff, String> {
        text.parse()
    }
}

impl Default for Metrics {
    fn default() -> Metrics {
        Metrics {
            listen: OrOff(Some(SocketAddr::from(([127, 0, 0, 1], 8766)))),
            users: 0,
        }
    }
}

/// Settings of captures.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Capture {
    /// Their folder.
    pub folder: PathBuf,
    /// Seconds between two; 0: none are taken here, a timer of its own does.
    pub every_secs: u64,
    /// Longest time of a command of Slurm, seconds.
    pub time_limit_secs: u64,
    /// Number of captures that are kept.
    pub keep: usize,
    /// Once a day with the jobs of the last 30 days (`sacct`), from which starts are forecast.
    pub history: bool,
    /// Starts of waiting jobs are forecast from these, in the background, after each picture.
    pub forecasts: bool,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            url: None,
            listen: Some(SocketAddr::from(([127, 0, 0, 1], 8765))),
            tls_proxy: false,
            socket: None,
            proxy_users: Vec::new(),
            munge_socket: None,
            database: PathBuf::from("/var/lib/fairtree-serve/fairtree.db"),
            capture: Capture::default(),
            retention: Retention::default(),
            metrics: Metrics::default(),
        }
    }
}

impl Default for Capture {
    fn default() -> Capture {
        Capture {
            folder: PathBuf::from("/var/lib/fairtree-serve/captures"),
            every_secs: 300,
            time_limit_secs: 60,
            keep: 288,
            history: true,
            forecasts: true,
        }
    }
}

impl Settings {
    /// Reads a file.
    ///
    /// # Errors
    /// [`StartError::Usage`] with file, line, and what is allowed.
    pub fn read(path: &Path) -> Result<Settings, StartError> {
        let name = path.display().to_string();
        let text = std::fs::read_to_string(path);
        let text = text.map_err(|error| StartError::System(name.clone(), error))?;
        let settings = Settings::parse(&text);
        settings.map_err(|why| StartError::Usage(format!("{name}: {why}")))
    }

    /// Reads the text of a file.
    ///
    /// # Errors
    /// A sentence with place, value and what is allowed.
    pub fn parse(text: &str) -> Result<Settings, String> {
        let settings: Settings = toml::from_str(text).map_err(|error| toml_words(text, &error))?;
        settings.check()?;
        Ok(settings)
    }

    /// What is missing and can come from elsewhere, a sentence each.
    pub(crate) fn notes(&self) -> Vec<String> {
        match (&self.url, &self.socket) {
            (None, None) => vec![
                "url is missing: fairtree login needs it, or FAIRTREE_SERVE, or its option --url"
                    .to_owned(),
            ],
            _ => Vec::new(),
        }
    }

    pub(crate) fn check(&self) -> Result<(), String> {
        match self.listen {
            None if self.socket.is_none() => {
                return Err("listen, socket: found neither, allowed is one or both".to_owned());
            }
            Some(listen) if !listen.ip().is_loopback() && !self.tls_proxy => {
                return Err(format!(
                    "listen: found {listen}, allowed is an address of the loopback interface; with a proxy in front that \
                     ends TLS, tls_proxy = true allows others"
                ));
            }
            _ => {}
        }
        if let Some(url) = &self.url {
            let host = url.strip_prefix("https://").or(url.strip_prefix("http://"));
            let plain = host.is_some_and(|host| {
                !host.is_empty() && !host.contains(['/', '?', '#', '"', ' ', '@'])
            });
            if !plain {
                return Err(format!(
                    "url: found {url:?}, allowed is an address without a path, as https://fairtree.example.org"
                ));
            }
        }
        if let (Some(listen), Some(metrics)) = (self.listen, self.metrics.listen.0) {
            if are_one(listen, metrics) {
                return Err(format!(
                    "metrics.listen: found {metrics}, which is taken by listen = {listen}; allowed is another port, or off"
                ));
            }
        }
        if let Some(socket) = self.socket.as_deref().filter(|path| !path.is_absolute()) {
            return Err(format!(
                "socket: found {:?}, allowed is an absolute path, as /run/fairtree-serve/proxy.sock",
                socket.display().to_string()
            ));
        }
        if self.socket.is_some() && self.proxy_users.is_empty() {
            return Err("proxy_users: found none, allowed are the users of the proxy that connects to socket, as [\"www-data\"]".to_owned());
        }
        let capture = &self.capture;
        if capture.every_secs != 0 && !(30..=86_400).contains(&capture.every_secs) {
            return Err(format!(
                "capture.every_secs: found {}, allowed is 0, or 30 to 86400",
                capture.every_secs
            ));
        }
        if !(1..=3600).contains(&capture.time_limit_secs) {
            return Err(format!(
                "capture.time_limit_secs: found {}, allowed is 1 to 3600",
                capture.time_limit_secs
            ));
        }
        if capture.keep == 0 {
            return Err("capture.keep: found 0, allowed is a number from 1 up".to_owned());
        }
        Ok(())
    }

    /// Numbers of the users of the proxy.
    ///
    /// # Errors
    /// A user that this host does not know.
    pub fn proxy_uids(&self) -> Result<Vec<u32>, StartError> {
        let uid = |name: &String| match User::from_name(name) {
            Ok(Some(user)) => Ok(user.uid.as_raw()),
            _ => Err(StartError::Usage(format!(
                "proxy_users: found {name:?}, allowed are users of this host"
            ))),
        };
        self.proxy_users.iter().map(uid).collect()
    }
}

/// Returns true if two listeners cannot have these addresses at the same time.
fn are_one(a: SocketAddr, b: SocketAddr) -> bool {
    let overlap = a.ip() == b.ip() || a.ip().is_unspecified() || b.ip().is_unspecified();
    a.port() != 0 && a.port() == b.port() && overlap
}

/// An error of TOML with what was found and what is allowed, in the words of the file.
fn toml_words(text: &str, error: &toml::de::Error) -> String {
    let message = error.message();
    let found = error.span().and_then(|span| text.get(span)).unwrap_or("");
    let allowed = match message {
        "invalid socket address syntax" => Some("an address, as \"127.0.0.1:8765\"".to_owned()),
        _ if message.starts_with("unknown field") => {
            let names = message.split_once("expected ").map(|(_, names)| names);
            names.map(|names| names.trim_start_matches("one of ").replace('`', ""))
        }
        _ => {
            let kind = message.rsplit_once("expected ").map(|(_, kind)| kind);
            let is_kind =
                message.starts_with("invalid type") || message.starts_with("invalid value");
            kind.filter(|_| is_kind).map(|kind| {
                match kind {
                    "u32" | "u64" | "usize" => "a whole number from 0 up, without quotes",
                    "a boolean" => "true or false",
                    "a string" | "path string" => "a text in quotes",
                    "a sequence" => "a list, as [\"www-data\"]",
                    "socket address" => "an address in quotes, as \"127.0.0.1:8765\"",
                    kind if kind.starts_with("struct") => "a table",
                    kind => kind,
                }
                .to_owned()
            })
        }
    };
    match allowed {
        Some(allowed) => error
            .to_string()
            .replace(message, &format!("found {found}, allowed is {allowed}")),
        None => error.to_string(),
    }
}

impl Capture {
    /// Time between two captures; `None`: none are taken here.
    pub fn every(&self) -> Option<Duration> {
        (self.every_secs > 0).then(|| Duration::from_secs(self.every_secs))
    }

    /// Longest time of a command of Slurm.
    pub fn time_limit(&self) -> Duration {
        Duration::from_secs(self.time_limit_secs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_empty_file_is_the_defaults() {
        let settings = Settings::parse("").unwrap();
        assert_eq!(settings, Settings::default());
        assert_eq!(settings.capture.every(), Some(Duration::from_secs(300)));
        assert!(
            Settings::parse("[capture]\nevery_secs = 0\n")
                .unwrap()
                .capture
                .every()
                .is_none()
        );
    }

    #[test]
    fn wrong_settings_name_place_value_and_what_is_allowed() {
        for (text, said) in [
            ("listen = \"0.0.0.0:80\"", "listen: found 0.0.0.0:80"),
            ("lissten = \"127.0.0.1:80\"", "lissten"),
            ("url = \"https://x/y\"", "url: found"),
            ("socket = \"/run/x\"", "proxy_users: found none"),
            ("[capture]\nevery_secs = 5", "capture.every_secs: found 5"),
            (
                "[capture]\ntime_limit_secs = 0",
                "capture.time_limit_secs: found 0",
            ),
            ("[capture]\nkeep = 0", "capture.keep: found 0"),
            ("[metrics]\nlisten = \"x\"", "listen = \"x\""),
            (
                "[metrics]\nlisten = \"127.0.0.1:8765\"",
                "metrics.listen: found 127.0.0.1:8765, which is taken",
            ),
            (
                "listen = \"0.0.0.0:8766\"\ntls_proxy = true",
                "metrics.listen: found 127.0.0.1:8766",
            ),
            (
                "socket = \"proxy.sock\"\nproxy_users = [\"root\"]",
                "socket: found \"proxy.sock\", allowed is an absolute path",
            ),
            (
                "[capture]\nevery_secs = \"5\"",
                "found \"5\", allowed is a whole number from 0 up, without quotes",
            ),
            (
                "[capture]\nkeep = -5",
                "found -5, allowed is a whole number from 0 up",
            ),
            (
                "listen = \"here\"",
                "found \"here\", allowed is an address, as \"127.0.0.1:8765\"",
            ),
            (
                "listen = 8765",
                "found 8765, allowed is an address in quotes",
            ),
            ("tls_proxy = 1", "found 1, allowed is true or false"),
            (
                "proxy_users = \"root\"",
                "found \"root\", allowed is a list",
            ),
            ("[retention]\ndays = 1", "found days, allowed is user_days"),
            (
                "[metrics]\nlisten = \"x\"",
                "found \"x\", allowed is an address",
            ),
        ] {
            let why = Settings::parse(text).unwrap_err();
            assert!(why.contains(said), "{text}: {why}");
        }
        let proxied = "listen = \"0.0.0.0:80\"\ntls_proxy = true";
        assert!(Settings::parse(proxied).is_ok());
    }
}
