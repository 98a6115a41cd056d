//! Ports for a cluster's daemons, on loopback.

use std::net::TcpListener;
use std::ops::Range;

use anyhow::{Result, bail};

/// The range is below the ports that the kernel uses for outgoing connections, so that no
/// connection takes a port while its daemon restarts.
const RANGE: Range<u16> = 20_000..32_000;

/// One port per daemon.
#[derive(Clone, Copy, Debug)]
pub struct Ports {
    first: u16,
}

impl Ports {
    /// A block of ports without a listener.
    ///
    /// `number`: the folder's number; different clusters start their search at different ports.
    pub fn choose(number: u32, nodes: usize) -> Result<Ports> {
        let size = u16::try_from(nodes + 4)?;
        let blocks = (RANGE.end - RANGE.start) / size;
        let start = u16::try_from((number * 37) % u32::from(blocks))?;
        for block in 0..blocks {
            let first = RANGE.start + (start + block) % blocks * size;
            if (first..first + size).all(is_free) {
                return Ok(Ports { first });
            }
        }
        bail!("no {size} free ports in a row among {RANGE:?}")
    }

    /// Port of MariaDB.
    pub fn database(self) -> u16 {
        self.first
    }

    /// Port of slurmdbd.
    pub fn slurmdbd(self) -> u16 {
        self.first + 1
    }

    /// Port of slurmctld.
    pub fn slurmctld(self) -> u16 {
        self.first + 2
    }

    /// Port of the slurmctld of a second cluster.
    pub fn sibling(self) -> u16 {
        self.first + 3
    }

    /// Ports of the slurmd, from the first to the last node.
    pub fn slurmd(self, nodes: usize) -> Range<u16> {
        let first = self.first + 4;
        first..first + u16::try_from(nodes).unwrap_or(u16::MAX - first)
    }
}

fn is_free(port: u16) -> bool {
    // Slurm's daemons listen on every address.
    TcpListener::bind(("0.0.0.0", port)).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_in_use_is_not_chosen() {
        let chosen = Ports::choose(1, 2).unwrap();
        let _taken = TcpListener::bind(("0.0.0.0", chosen.slurmdbd())).unwrap();
        let other = Ports::choose(1, 2).unwrap();
        assert_ne!(other.database(), chosen.database());
        assert_eq!(other.slurmd(2).len(), 2);
        assert_eq!(other.slurmd(2).start, other.sibling() + 1);
    }
}
