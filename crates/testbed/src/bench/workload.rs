//! Workloads to measure: clusters of named sizes, the same in every run.

use std::fmt::{self, Write as _};

use crate::twin::draw::Draw;

/// Accounts below the root, and accounts below each of them; users are below the latter.
const DIVISIONS: u32 = 20;
const GROUPS: u32 = 20;

/// Start time of all lives, seconds since 1970.
pub const START: i64 = 1_800_000_000;

/// Layout of the job records in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// In order, as after a start.
    Fresh,
    /// In random order, as after weeks.
    Scattered,
}

/// The calculation of priorities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Fair Tree and six weights.
    FairTree,
    /// The same with `PriorityWeightTRES`.
    Tres,
    /// `PriorityFlags=NO_FAIR_TREE`.
    Classic,
}

/// A cluster with its queue.
#[derive(Clone, Copy, Debug)]
pub struct Workload {
    pub waiting: u32,
    pub running: u32,
    pub users: u32,
    pub layout: Layout,
    pub kind: Kind,
}

impl Workload {
    /// 100,000 waiting jobs.
    pub const fn large(layout: Layout, kind: Kind) -> Workload {
        Workload {
            waiting: 100_000,
            running: 10_000,
            users: 50_000,
            layout,
            kind,
        }
    }

    /// A million waiting jobs.
    pub const fn huge(layout: Layout, kind: Kind) -> Workload {
        Workload {
            waiting: 1_000_000,
            running: 20_000,
            users: 100_000,
            layout,
            kind,
        }
    }

    /// Number of associations: root, accounts, users.
    pub fn assocs(&self) -> u32 {
        1 + DIVISIONS + DIVISIONS * GROUPS + self.users
    }

    /// The life up to the moment when passes can be requested; `parameters` is
    /// `PriorityParameters`.
    pub fn life(&self, parameters: &str) -> String {
        self.life_until_served(parameters, self.running) + "serve\n"
    }

    /// Like `life`, but a reconfigure changes `PriorityParameters` after the jobs are there.
    /// Running jobs have waited during a pass with these parameters, as on a real site.
    pub fn life_that_changes(&self, parameters: &str) -> String {
        let life = self.life_until_served("", 0);
        format!(
            "{life}reconfig PriorityParameters={parameters}\npass 300\nstart_first {}\nserve\n",
            self.running
        )
    }

    /// The life in which `running` jobs run from the beginning and the rest of the jobs wait.
    fn life_until_served(&self, parameters: &str, running: u32) -> String {
        let mut text = self.settings(parameters);
        self.write_tables(&mut text);
        // Before there are jobs, the plugin's memory holds only associations.
        let scattered = u32::from(self.layout == Layout::Scattered);
        let _ = write!(
            text,
            "count\nboot\ntime_pass 300\nqueue_up {} running={running} scattered={scattered}\n",
            self.waiting + self.running - running
        );
        text
    }

    fn settings(&self, parameters: &str) -> String {
        let mut text = format!("clock {START}\n");
        text.push_str(
            "quiet\ncluster cpus=1280000 nodes=10000\n\
             conf PriorityWeightAge=1000 PriorityWeightAssoc=100 PriorityWeightFairshare=10000 \
             PriorityWeightJobSize=500 PriorityWeightPartition=1000 PriorityWeightQOS=2000 \
             AccountingStorageEnforce=associations,limits,qos PriorityDecayHalfLife=7-0\n",
        );
        match self.kind {
            Kind::FairTree => {}
            Kind::Tres => {
                text.push_str("conf PriorityWeightTRES=cpu=1000,mem=500,gres/gpu=3000\n");
            }
            Kind::Classic => text.push_str("conf PriorityFlags=NO_FAIR_TREE\n"),
        }
        if !parameters.is_empty() {
            let _ = writeln!(text, "conf PriorityParameters={parameters}");
        }
        text
    }

    fn write_tables(&self, text: &mut String) {
        let mut draw = Draw::new(u64::from(self.users));
        text.push_str("tres gres/gpu\n");
        for id in 1..=8 {
            let _ = writeln!(text, "qos {id} prio={}", 10 * id);
        }
        for part in 0..4 {
            let _ = writeln!(
                text,
                "part p{part} factor={} tier={} cpu=320000 node=2500 mem=500000000 gres/gpu=1000 \
                 weights=cpu=1.0,gres/gpu=16.0",
                10 * (part + 1),
                part + 1
            );
        }
        text.push_str("assoc 1 acct=root parent=0\n");
        let (mut id, mut user) = (1, 0);
        for division in 0..DIVISIONS {
            id += 1;
            let above = id;
            let shares = draw.between(1, 100);
            let _ = writeln!(text, "assoc {id} acct=d{division} parent=1 shares={shares}");
            for group in 0..GROUPS {
                id += 1;
                let account = (id, group_name(division * GROUPS + group));
                let shares = draw.between(1, 100);
                let _ = writeln!(
                    text,
                    "assoc {id} acct={} parent={above} shares={shares}",
                    account.1
                );
                let until = self.users_up_to(division * GROUPS + group + 1);
                while user < until {
                    id += 1;
                    user += 1;
                    write_user(text, &mut draw, (id, user), &account);
                }
            }
        }
    }

    /// Account and user of every user association, in the order of their ids.
    pub fn user_names(&self) -> impl Iterator<Item = (String, String)> {
        let groups = 0..DIVISIONS * GROUPS;
        groups.flat_map(|group| {
            let users = self.users_up_to(group)..self.users_up_to(group + 1);
            users.map(move |user| (group_name(group), user_name(user + 1)))
        })
    }

    /// Number of users in the first `groups` accounts.
    fn users_up_to(&self, groups: u32) -> u32 {
        let users = u64::from(self.users) * u64::from(groups) / u64::from(DIVISIONS * GROUPS);
        u32::try_from(users).unwrap_or(u32::MAX)
    }
}

/// The name of an account that has users.
fn group_name(group: u32) -> String {
    format!("g{}x{}", group / GROUPS, group % GROUPS)
}

fn user_name(user: u32) -> String {
    format!("u{user}")
}

fn write_user(
    text: &mut String,
    draw: &mut Draw,
    (id, user): (u32, u32),
    (parent, account): &(u32, String),
) {
    let shares = draw.between(1, 100);
    let _ = writeln!(
        text,
        "assoc {id} acct={account} user={} parent={parent} shares={shares}",
        user_name(user)
    );
    if draw.chance(90) {
        let (raw, wall) = (draw.between(1, 100_000_000), draw.between(1, 1_000_000));
        let _ = writeln!(text, "usage {id} raw={raw} wall={wall}");
    }
}

impl fmt::Display for Workload {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Workload {
            waiting,
            running,
            users,
            ..
        } = *self;
        write!(
            f,
            "{} waiting, {} running, {} users",
            count(waiting),
            count(running),
            count(users)
        )?;
        f.write_str(match self.layout {
            Layout::Fresh => ", fresh",
            Layout::Scattered => ", scattered",
        })?;
        f.write_str(match self.kind {
            Kind::FairTree => "",
            Kind::Tres => ", PriorityWeightTRES",
            Kind::Classic => ", classic fair share",
        })
    }
}

/// Formats a number as `1,000,000`.
pub fn count(number: impl Into<u64>) -> String {
    let digits = number.into().to_string();
    let mut text = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_in_groups_of_three() {
        assert_eq!(count(7_u32), "7");
        assert_eq!(count(123_u32), "123");
        assert_eq!(count(1234_u32), "1,234");
        assert_eq!(count(1_000_000_u32), "1,000,000");
    }

    #[test]
    fn every_association_has_its_line() {
        let workload = Workload {
            users: 1_003,
            ..Workload::large(Layout::Scattered, Kind::Classic)
        };
        let life = workload.life("max_lock_ms=2");
        let assocs = life.lines().filter(|line| line.starts_with("assoc "));
        assert_eq!(assocs.count(), workload.assocs() as usize);
        assert!(life.contains("conf PriorityParameters=max_lock_ms=2\n"));
        let names: Vec<_> = workload.user_names().collect();
        assert_eq!(names.len(), 1_003);
        for (account, user) in names {
            assert!(
                life.contains(&format!(" acct={account} user={user} ")),
                "{user}"
            );
        }
        assert!(life.ends_with("queue_up 100000 running=10000 scattered=1\nserve\n"));
        let life = workload.life_that_changes("order=strict");
        assert!(life.contains("queue_up 110000 running=0 scattered=1\n"));
        assert!(life.ends_with("=order=strict\npass 300\nstart_first 10000\nserve\n"));
    }
}
