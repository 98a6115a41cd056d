//! A clock that steps by days.

use super::case::{Case, DECAYS, RUN};

const DAYS: i64 = 2 * 86_400;

/// Steps back, forward, both in either order, and with a crash in between. A second that the clock
/// has shown to a pass is charged once, however often it comes again.
pub fn cases() -> Vec<Case> {
    let says = "the clock is ";
    let case = |lines: String, charged, told| Case {
        parameters: DECAYS,
        first: "",
        lines,
        charged,
        told: told..=told,
        says,
    };
    vec![
        // The charges up to the last pass stay.
        case(format!("step -{DAYS}\npass 300\npass 300\n"), RUN - 130, 1),
        case(
            format!("step -{DAYS}\npass 300\npass 300\nstep {DAYS}\npass 300\n"),
            RUN + 900,
            1,
        ),
        case(format!("pass {DAYS}\npass 300\n"), RUN + DAYS + 300, 0),
        case(
            format!("pass {DAYS}\nstep -{DAYS}\npass 300\npass 300\n"),
            RUN + DAYS,
            1,
        ),
        case(
            format!("pass {DAYS}\nstep -{DAYS}\npass 300\npass {DAYS}\n"),
            RUN + DAYS + 300,
            1,
        ),
        // One slurmctld reports it, and the next one does, too.
        case(
            format!("step -{DAYS}\npass 300\ncrash 20\npass 300\n"),
            RUN - 130,
            2,
        ),
        case(
            format!("step -{DAYS}\npass 300\ncrash 20\npass 300\nstep {DAYS}\npass 300\n"),
            RUN + 920,
            2,
        ),
        case(
            format!("pass {DAYS}\ncrash 20\nstep -{DAYS}\npass 300\nrestart 20\npass {DAYS}\n"),
            RUN + DAYS + 340,
            2,
        ),
    ]
}
