//! A state folder that is full or cannot be written.

use super::case::{Case, DECAYS, RUN, WINDOW};

/// Faults for two passes, then a crash, an orderly stop, or nothing; later passes save again.
pub fn cases() -> Vec<Case> {
    let mut cases = vec![];
    let disks = [("full", "free"), ("readonly", "writable")];
    let each = disks.map(|disk| [DECAYS, WINDOW].map(|parameters| (disk, parameters)));
    for ((bad, good), parameters) in each.into_iter().flatten() {
        for (stop, secs) in [("", 0), ("crash 20\n", 20), ("restart 20\n", 20)] {
            let start_secs = secs;
            cases.push(Case {
                parameters,
                first: "disk small\n",
                // A crash after recovery shows what was saved last.
                lines: format!(
                    "disk {bad}\npass 300\npass 300\ndisk {good}\n{stop}pass 300\ncrash 20\npass 300\n"
                ),
                charged: RUN + 600 + start_secs + 300 + 20 + 300,
                // One line, for any number of passes.
                told: 1..=1,
                says: "cannot save state: ",
            });
        }
    }
    cases
}
