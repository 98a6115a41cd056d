//! Damaged state files, after a crash and after an orderly stop.

use super::scene::{RUN, Scene};

/// Equal parts of a file that are damaged one by one.
const PARTS: u32 = 32;

struct File {
    name: &'static str,
    /// One of Slurm's own, which slurmctld complains of as it does under stock; all that was in it
    /// is in ours.
    slurms: bool,
    says: &'static str,
}

const FILES: [File; 4] = [
    File {
        name: "priority_fairtree_state",
        slurms: false,
        says: "priority_fairtree_state is damaged",
    },
    File {
        name: "priority_last_decay_ran",
        slurms: false,
        says: "priority_last_decay_ran ",
    },
    File {
        name: "assoc_usage",
        slurms: true,
        says: "",
    },
    File {
        name: "qos_usage",
        slurms: true,
        says: "",
    },
];

/// Each file emptied, cut at every part and flipped in every part.
pub fn cases() -> Vec<Scene> {
    let mut cases = vec![];
    for stop in ["crash 20", "restart 20"] {
        for file in &FILES {
            for part in 0..PARTS {
                // The times are 16 bytes.
                let parts = if file.name == "priority_last_decay_ran" {
                    16
                } else {
                    PARTS
                };
                if part >= parts {
                    continue;
                }
                for how in ["cut", "flip"] {
                    cases.push(Scene {
                        first: "",
                        lines: format!(
                            "damage {} {how}={part} of={parts}\n{stop}\npass 300\n",
                            file.name
                        ),
                        charged: RUN + 20 + 300,
                        told: usize::from(!file.slurms),
                        says: file.says,
                    });
                }
            }
        }
    }
    cases
}
