//! Times of the last pass and the last reset in Slurm's own file; names of the files.

/// Slurm's file.
pub(in crate::slurm) const SLURM_FILE: &str = "priority_last_decay_ran";
/// Ours.
pub(in crate::slurm) const OWN_FILE: &str = "priority_fairtree_state";

/// The name of the file of the previous pass.
pub(super) fn old(name: &str) -> String {
    format!("{name}.old")
}

/// Times of Slurm's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::slurm) struct Times {
    pub(in crate::slurm) last_ran: i64,
    pub(in crate::slurm) last_reset: i64,
}

impl Times {
    /// Two big-endian numbers, the format in which Slurm packs times.
    pub(super) fn encode(self) -> [u8; 16] {
        let mut bytes = [0; 16];
        bytes[..8].copy_from_slice(&self.last_ran.to_be_bytes());
        bytes[8..].copy_from_slice(&self.last_reset.to_be_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Times> {
        let (last_ran, rest) = bytes.split_first_chunk()?;
        let (last_reset, _) = rest.split_first_chunk()?;
        Some(Times {
            last_ran: i64::from_be_bytes(*last_ran),
            last_reset: i64::from_be_bytes(*last_reset),
        })
    }
}
