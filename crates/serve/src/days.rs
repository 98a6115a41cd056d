//! Waits and owed core-hours of groups of jobs, by day.

use std::collections::{BTreeMap, HashMap};

use fairtree_analysis::past::{DAY_SECS, DayOfOwed, DayOfWaits, PastOwed, PastStarts};

use crate::picture::Picture;
use crate::store::{Day, Group, Store, StoreError};

/// The days of all groups: the site, each account with the accounts below it, each user.
#[derive(Debug, Default)]
pub struct Days {
    groups: HashMap<Group, GroupDays>,
}

/// The days of one group.
#[derive(Debug, Default)]
pub struct GroupDays {
    /// Days on which jobs started.
    pub waits: Vec<DayOfWaits>,
    /// All days; empty where it is not known.
    pub owed: Vec<DayOfOwed>,
}

impl Days {
    /// The days of past jobs, by the tree of a picture. Jobs of an account that it does not have are in the groups of
    /// the site and of their users.
    pub fn of(picture: &Picture, starts: &PastStarts, owed: Option<&PastOwed>) -> Days {
        let mut names = Names::default();
        let waits = starts.by_day_of(|account, user| {
            let mut of = names.above(picture, account);
            of.extend([
                names.position(Group::Site),
                names.position(Group::User(user.to_owned())),
            ]);
            of
        });
        let mut of_all = BTreeMap::new();
        if let Some(owed) = owed {
            of_all = owed.by_day_of(&owed.accounts, |account| {
                let mut of = names.above(picture, account);
                if !of.is_empty() {
                    of.push(names.position(Group::Site));
                }
                of
            });
            let users = &owed.users;
            of_all.extend(owed.by_day_of(users, |user| {
                vec![names.position(Group::User(user.to_owned()))]
            }));
        }
        let mut days: Vec<GroupDays> = names.all.iter().map(|_| GroupDays::default()).collect();
        for (group, waits) in waits {
            days[group as usize].waits = waits;
        }
        for (group, owed) in of_all {
            days[group as usize].owed = owed;
        }
        Days {
            groups: names.all.into_iter().zip(days).collect(),
        }
    }

    /// The days of a group; `None`: it has no jobs.
    pub fn of_group(&self, group: &Group) -> Option<&GroupDays> {
        self.groups.get(group)
    }

    /// Keeps the days that are over at a moment.
    ///
    /// # Errors
    /// [`StoreError`]; then nothing is kept.
    pub fn keep(&self, store: &Store, now: i64) -> Result<(), StoreError> {
        let over = |day: i64| day + DAY_SECS <= now;
        let of_groups = self.groups.iter().flat_map(|(group, of)| {
            let mut days: BTreeMap<i64, Day> = BTreeMap::new();
            let none = |day| Day {
                day,
                waits: None,
                owed: None,
            };
            for waits in of.waits.iter().filter(|waits| over(waits.day)) {
                let day = days.entry(waits.day);
                day.or_insert_with(|| none(waits.day)).waits = Some(*waits);
            }
            // Most users wait for nothing on most days.
            let is_user = matches!(group, Group::User(_));
            for owed in of.owed.iter().filter(|owed| over(owed.day)) {
                if is_user && owed.owed_core_hours == 0.0 && !days.contains_key(&owed.day) {
                    continue;
                }
                let day = days.entry(owed.day);
                day.or_insert_with(|| none(owed.day)).owed = Some(*owed);
            }
            days.into_values().map(move |day| (group, day))
        });
        store.keep_days(of_groups)
    }
}

/// Groups of jobs, each with its position.
#[derive(Default)]
struct Names {
    all: Vec<Group>,
    positions: HashMap<Group, u32>,
}

impl Names {
    fn position(&mut self, group: Group) -> u32 {
        if let Some(at) = self.positions.get(&group) {
            return *at;
        }
        let at = self.all.len() as u32;
        self.all.push(group.clone());
        self.positions.insert(group, at);
        at
    }

    /// The account with a name, and those above it; none that the picture does not have.
    fn above(&mut self, picture: &Picture, account: &str) -> Vec<u32> {
        let mut of = Vec::new();
        let mut next = picture.account(account);
        while let Some(at) = next {
            let name = picture.cluster.name(at).account.clone();
            of.push(self.position(Group::Account(name)));
            next = picture.cluster.tree().parent(at);
        }
        of
    }
}
