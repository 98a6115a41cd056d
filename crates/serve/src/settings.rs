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
        let settings: Settings = toml::from_str(text).map_err(|error| error.to_string())?;
        settings.check()?;
        Ok(settings)
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
