//! slurmctld under `--systemd`: it sends its process id to a socket, and a reconfigure hands over
//! to a new process.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Cluster;
use crate::wait;

/// Longer than a start of slurmctld takes on a busy machine.
const DEADLINE: Duration = Duration::from_secs(120);

/// The part of systemd that listens (sd_notify(3)).
pub struct Listener {
    socket: UnixDatagram,
}

impl Cluster {
    /// Starts slurmctld as its systemd unit does, without systemd. Its later processes end with the
    /// cluster.
    ///
    /// # Errors
    /// Fails if the socket cannot be made or slurmctld does not start.
    pub fn start_slurmctld_under_systemd(&mut self) -> Result<Listener> {
        let path = self.path().join("run/notify");
        let socket = UnixDatagram::bind(&path).with_context(|| path.display().to_string())?;
        socket.set_nonblocking(true)?;
        self.start_slurmctld_notifying(&path)?;
        Ok(Listener { socket })
    }
}

impl Listener {
    /// Waits until slurmctld sends its current process id.
    ///
    /// # Errors
    /// Fails if it does not.
    pub fn main_pid(&self) -> Result<i32> {
        let mut message = [0; 256];
        wait::until("slurmctld tells its process", DEADLINE, || {
            let Ok(length) = self.socket.recv(&mut message) else {
                return Ok(None);
            };
            let text = String::from_utf8_lossy(&message[..length]);
            let mut lines = text.lines();
            let pid = lines.find_map(|line| line.strip_prefix("MAINPID="));
            Ok(pid.map(str::parse).transpose()?)
        })
    }
}
