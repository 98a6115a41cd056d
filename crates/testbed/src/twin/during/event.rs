//! Events in the middle of passes, and the site in which they happen.

use crate::twin::own::Own;

/// An event.
pub struct Event {
    /// Lines of a life.
    pub(super) lines: &'static [&'static str],
    /// The part that it may leave different for a moment.
    pub(super) own: Own,
}

impl Event {
    /// The name for tests.
    pub fn name(&self) -> String {
        self.lines.join("+").replace(' ', "_")
    }

    /// Returns true if a job is purged and a new job gets its id.
    pub(super) fn gives_id_again(&self) -> bool {
        self.lines.iter().any(|line| line.starts_with("purge"))
            && self.lines.iter().any(|line| line.starts_with("submit"))
    }

    /// Returns true if jobs are charged, or if associations or QOS change.
    pub(super) fn concerns_usage(&self) -> bool {
        let words = ["end", "requeue", "resize", "suspend", "resume", "save"];
        let word = self.lines[0].split(' ').next().unwrap_or_default();
        words.contains(&word)
            || ["assoc_", "qos_", "part_qos"]
                .iter()
                .any(|begin| word.starts_with(begin))
    }
}

/// An event that leaves nothing different.
pub(super) const fn event(lines: &'static [&'static str]) -> Event {
    Event {
        lines,
        own: Own::Nothing,
    }
}

const fn partitions_change(lines: &'static [&'static str]) -> Event {
    Event {
        lines,
        own: Own::Arrays,
    }
}

const fn set_by_hand(job: u32, lines: &'static [&'static str]) -> Event {
    Event {
        lines,
        own: Own::Factors(job),
    }
}

const fn priced(job: u32, lines: &'static [&'static str]) -> Event {
    Event {
        lines,
        own: Own::Price(job),
    }
}

/// Jobs 1 to 20 run, 21 to 700 wait; 30 to 40 wait in two partitions, 60 is held, 61 has an
/// administrator's priority, 50 waits as an array.
pub(super) const EVENTS: &[Event] = &[
    // Job ends and size changes: usage is charged.
    event(&["end 3"]),
    event(&["end 3", "end 4 state=timeout", "cancel 5"]),
    event(&["end 3", "clean 3", "purge 3"]),
    event(&["requeue 6"]),
    event(&["resize 7 cpu=9"]),
    event(&["suspend 8"]),
    event(&["resume 9"]),
    event(&["limit 10 limit=900"]),
    // Administrators set priorities.
    set_by_hand(300, &["setprio 300 prio=777"]),
    set_by_hand(650, &["setprio 650 prio=2"]),
    set_by_hand(21, &["setprio 21 prio=same"]),
    set_by_hand(31, &["setprio 31 prio=777"]),
    set_by_hand(301, &["hold 301"]),
    set_by_hand(32, &["hold 32"]),
    priced(60, &["release 60"]),
    priced(61, &["setprio 61 prio=inf"]),
    priced(302, &["update 302 nice=50"]),
    priced(33, &["update 33 part=p1,p2,p3"]),
    priced(34, &["update 34 part=p2"]),
    priced(303, &["update 303 part=p1,p3 qos=2"]),
    priced(304, &["update 304 assoc=14"]),
    // Jobs come, start, and go.
    priced(
        900,
        &["submit 900 assoc=11 qos=1 part=p1 limit=60 cpu=2 node=1"],
    ),
    priced(901, &["split 50 new=901"]),
    event(&["start 305"]),
    event(&["start 35 part=p2"]),
    event(&["cancel 306", "purge 306"]),
    event(&["cancel 21", "purge 21"]),
    event(&["cancel 700", "purge 700"]),
    event(&["cancel 36", "purge 36"]),
    // A job id is used again.
    priced(
        307,
        &[
            "cancel 307",
            "purge 307",
            "submit 307 assoc=15 qos=2 part=p2 limit=60 cpu=4 node=1",
        ],
    ),
    // Associations, QOS and partitions change and go.
    event(&["assoc_set 11 shares=40"]),
    event(&["assoc_set 3 parent=2"]),
    event(&["assoc_add 30 acct=a user=new parent=2 shares=5"]),
    Event {
        lines: &["assoc_del 12"],
        own: Own::Levels,
    },
    event(&["assoc_zero 13"]),
    event(&["qos_set 1 prio=90 factor=0.5"]),
    event(&["qos_del 2"]),
    event(&["qos_zero 2"]),
    partitions_change(&["part_del p3"]),
    partitions_change(&["part_del p2"]),
    partitions_change(&["part_qos p1 qos=2"]),
    // Queries change nothing.
    event(&["sprio 0"]),
    event(&["sshare"]),
    event(&["save"]),
];

/// The lines of a life up to the pass under test.
pub(super) fn setup(parameters: &str) -> Vec<String> {
    let mut lines: Vec<String> = [
        "clock 1700000000",
        "zone UTC",
        "cluster cpus=4000 nodes=100",
        "conf AccountingStorageEnforce=associations,limits,qos PriorityCalcPeriod=300",
        "conf PriorityWeightAge=10000 PriorityWeightFairshare=100000 PriorityMaxAge=86400",
        "conf PriorityWeightQOS=1000 PriorityWeightPartition=1000 PriorityDecayHalfLife=3600",
        "conf PriorityWeightTRES=cpu=100",
        "qos 1 prio=10",
        "qos 2 prio=20 factor=2",
        "part p1 factor=10 tier=1 cpu=1000 node=50",
        "part p2 factor=20 tier=2 cpu=1000 node=50",
        "part p3 factor=30 tier=3 cpu=1000 node=50",
        "assoc 1 acct=root parent=0 shares=1",
        "assoc 2 acct=a parent=1 shares=10",
        "assoc 3 acct=b parent=1 shares=20",
        "assoc 4 acct=c parent=3 shares=30",
    ]
    .map(str::to_owned)
    .into();
    lines.insert(3, format!("conf PriorityParameters={parameters}"));
    for (id, account, parent) in [
        (10, "a", 2),
        (11, "a", 2),
        (12, "b", 3),
        (13, "c", 4),
        (14, "c", 4),
        (15, "c", 4),
    ] {
        lines.push(format!(
            "assoc {id} acct={account} user=u{id} parent={parent} shares={}",
            id - 8
        ));
        lines.push(format!("usage {id} raw={} wall=100", 1000 * (id - 9)));
    }
    lines.extend(["boot", "quiet"].map(str::to_owned));
    for job in 1..=700 {
        let partition = match job {
            30..=40 => "p1,p3",
            _ => ["p1", "p2"][job % 2],
        };
        lines.push(format!(
            "submit {job} assoc={} qos={} part={partition} limit={} cpu={} node=1",
            10 + job % 6,
            1 + job % 2,
            30 + job % 50,
            1 + job % 4
        ));
        if job % 100 == 0 {
            lines.push("step 60".to_owned());
        }
    }
    lines.extend((1..=20).map(|job| format!("start {job}")));
    lines.extend(["hold 60", "setprio 61 prio=5000"].map(str::to_owned));
    lines.extend(["pass 300", "suspend 9", "pass 300", "step 170", "loud"].map(str::to_owned));
    lines
}
