//! slurmctld under `--systemd`: it says on a socket which process it is, and a reconfigure hands
//! over to another process.

use std::os::unix::net::UnixDatagram;
use std::time::Duration;

use anyhow::{Context, Result};

use super::Cluster;
use crate::wait;

/// Longer than a start of slurmctld takes on a machine that is busy with other things.
const DEADLINE: Duration = Duration::from_secs(120);

/// The part of systemd that listens (sd_notify(3)).
pub struct Listener {
    socket: UnixDatagram,
}

impl Cluster {
    /// Starts slurmctld as its systemd unit does, without systemd. Later processes of it end with
    /// the cluster.
    ///
    /// # Errors
    /// A socket that cannot be made, and a slurmctld that does not start.
    pub fn start_slurmctld_under_systemd(&mut self) -> Result<Listener> {
        let path = self.path().join("run/notify");
        let socket = UnixDatagram::bind(&path).with_context(|| path.display().to_string())?;
        socket.set_nonblocking(true)?;
        self.start_slurmctld_notifying(&path)?;
        Ok(Listener { socket })
    }
}

impl Listener {
    /// Waits until slurmctld says which process it is now.
    ///
    /// # Errors
    /// It does not.
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
