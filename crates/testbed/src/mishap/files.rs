//! Damaged state files, after a crash and after an orderly stop.

use super::case::{Case, DECAYS, RUN, WINDOW};

/// Number of equal parts of a file that are damaged one by one.
const PARTS: u32 = 32;

struct File {
    name: &'static str,
    parts: u32,
    /// True for one of Slurm's own files, which has no checksum: damage that keeps the format is
    /// not noticed. Our file has all of its contents.
    slurms: bool,
    parameters: &'static str,
    says: &'static str,
}

const FILES: [File; 6] = [
    File {
        name: "priority_fairtree_state",
        parts: PARTS,
        slurms: false,
        parameters: DECAYS,
        says: "priority_fairtree_state is damaged",
    },
    File {
        name: "priority_last_decay_ran",
        // The times are 16 bytes.
        parts: 16,
        slurms: false,
        parameters: DECAYS,
        says: "priority_last_decay_ran ",
    },
    File {
        name: "assoc_usage",
        parts: PARTS,
        slurms: true,
        parameters: DECAYS,
        says: "assoc_usage is damaged",
    },
    File {
        name: "qos_usage",
        parts: PARTS,
        slurms: true,
        parameters: DECAYS,
        says: "qos_usage is damaged",
    },
    File {
        name: "priority_fairtree_ledger",
        parts: PARTS,
        slurms: false,
        parameters: WINDOW,
        says: "priority_fairtree_ledger is damaged",
    },
    File {
        name: "priority_fairtree_ledger_qos",
        parts: PARTS,
        slurms: false,
        parameters: WINDOW,
        says: "priority_fairtree_ledger_qos is damaged",
    },
];

/// Each file by name: emptied, cut at every part and flipped in every part.
pub fn cases() -> Vec<(&'static str, Vec<Case>)> {
    FILES.iter().map(|file| (file.name, file.cases())).collect()
}

impl File {
    fn cases(&self) -> Vec<Case> {
        let mut cases = vec![];
        for stop in ["crash 20", "restart 20"] {
            for part in 0..self.parts {
                for how in ["cut", "flip"] {
                    cases.push(self.damaged(how, part, stop));
                }
            }
        }
        cases
    }

    fn damaged(&self, how: &str, part: u32, stop: &str) -> Case {
        let File {
            name,
            parts,
            parameters,
            says,
            ..
        } = self;
        let emptied = how == "cut" && part == 0;
        let least = usize::from(!self.slurms || emptied);
        Case {
            parameters,
            first: "",
            lines: format!("damage {name} {how}={part} of={parts}\n{stop}\npass 300\n"),
            charged: RUN + 20 + 300,
            told: least..=1,
            says,
        }
    }
}
