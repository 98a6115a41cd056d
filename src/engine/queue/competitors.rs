//! Who competes: the associations with shares, what each is entitled to and how its use counts.

use std::collections::{HashMap, HashSet};

use super::error::QueueError;
use super::settings::{AccountRule, Counted, SECOND, Settings};
use crate::config::MOST_MINUTES;
use crate::fairshare::Entitlement;
use crate::order::{Entitled, Level};
use crate::tree::{AssocId, AssocIndex, Shares, Tree};

/// The parent of nodes directly below the root.
pub(super) const NONE: u32 = u32::MAX;

/// An association below the root with shares.
#[derive(Clone, Debug)]
pub(super) struct QueueCompetitor {
    pub assoc: AssocId,
    /// [`NONE`]: the root.
    pub parent: u32,
    /// Competes over the whole tree, not only with its siblings.
    pub over_all: bool,
    pub entitled: Entitled,
    /// How its use counts: a position in [`QueueCompetitors::rules`].
    pub rule: u32,
}

/// The competitors of a tree, parents before children.
#[derive(Clone, Debug)]
pub(super) struct QueueCompetitors {
    pub nodes: Vec<QueueCompetitor>,
    /// Ways in which use counts, each once.
    pub rules: Vec<Counted>,
    /// For each association by position the node that its jobs are charged to.
    charged_to: Vec<Option<u32>>,
}

impl QueueCompetitors {
    pub fn new(tree: &Tree, settings: &Settings) -> Result<QueueCompetitors, QueueError> {
        check(settings)?;
        let tree = &settings.competing(tree);
        let special = special(tree, settings)?;
        let mut made = QueueCompetitors {
            nodes: Vec::new(),
            rules: vec![settings.counted],
            charged_to: vec![None; tree.len()],
        };
        let entitled = entitlement(tree, settings, &special).divided(
            tree,
            whole(settings),
            SECOND.unsigned_abs(),
        );
        let mut depths = Vec::new();
        for &at in tree.parents_first() {
            let Some(above) = tree.fs_parent(at) else {
                continue;
            };
            let parent = made.charged_to[above.get()];
            if tree.rows()[at.get()].shares == Shares::Parent {
                made.charged_to[at.get()] = parent;
                continue;
            }
            let rule = special.get(&at).copied().unwrap_or_default();
            let depth = 1 + parent.map_or(0, |parent| depths[parent as usize]);
            let id = tree.rows()[at.get()].id;
            let counted = made.rule(id, parent, rule)?;
            made.charged_to[at.get()] = Some(made.nodes.len() as u32);
            made.nodes.push(QueueCompetitor {
                assoc: id,
                parent: parent.unwrap_or(NONE),
                over_all: match settings.level {
                    Level::Leaf => true,
                    Level::Depth(level) => depth <= level.max(1),
                },
                entitled: entitled[at.get()],
                rule: counted,
            });
            depths.push(depth);
        }
        Ok(made)
    }

    /// How the use of an association counts: by a rule of its own, or as that of its parent.
    fn rule(
        &mut self,
        id: AssocId,
        parent: Option<u32>,
        rule: AccountRule,
    ) -> Result<u32, QueueError> {
        let inherited = parent.map_or(0, |parent| self.nodes[parent as usize].rule);
        let counted = rule.counted.unwrap_or(self.rules[inherited as usize]);
        let differs = counted != self.rules[inherited as usize];
        if differs && rule.minutes.is_none() && matches!(counted, Counted::Since(_)) {
            return Err(QueueError::NoMinutes { id });
        }
        let known = self.rules.iter().position(|known| *known == counted);
        let at = known.unwrap_or_else(|| {
            self.rules.push(counted);
            self.rules.len() - 1
        });
        Ok(at as u32)
    }

    /// The node that a job of this association is charged to.
    pub fn of(&self, assoc: AssocIndex) -> Option<u32> {
        self.charged_to[assoc.get()]
    }
}

fn check(settings: &Settings) -> Result<(), QueueError> {
    let refuse = |setting, value, allowed| {
        Err(QueueError::Setting {
            setting,
            value,
            allowed,
        })
    };
    if settings.capacity == 0 {
        return refuse("capacity", "0".to_owned(), "at least one unit");
    }
    let rules = settings.accounts.iter().map(|(_, rule)| rule);
    if let Some(most) = rules.clone().filter_map(|rule| rule.minutes).max() {
        if most > MOST_MINUTES {
            return refuse("minutes", most.to_string(), "at most 1000000000000");
        }
    }
    let rules = rules.filter_map(|rule| rule.counted);
    for counted in rules.chain([settings.counted]) {
        match counted {
            Counted::Window(length) if length <= 0 => {
                let value = format!("{length} microseconds");
                return refuse("the window", value, "longer than 0");
            }
            _ => {}
        }
    }
    Ok(())
}

fn special(
    tree: &Tree,
    settings: &Settings,
) -> Result<HashMap<AssocIndex, AccountRule>, QueueError> {
    let mut seen = HashSet::new();
    let mut special = HashMap::new();
    for &(id, rule) in &settings.accounts {
        let at = tree.index_of(id).ok_or(QueueError::UnknownAccount { id })?;
        if !seen.insert(id) {
            return Err(QueueError::AccountTwice { id });
        }
        let aside = tree.rows()[at.get()].shares == Shares::Parent;
        if aside || tree.parent(at).is_none() {
            return Err(QueueError::AccountAside { id });
        }
        special.insert(at, rule);
    }
    Ok(special)
}

/// Refuses minutes of accounts that are more than those of their parent, where both count the same
/// use.
pub(super) fn check_minutes(tree: &Tree, settings: &Settings) -> Result<(), QueueError> {
    let tree = &settings.competing(tree);
    let special = special(tree, settings)?;
    match entitlement(tree, settings, &special).excess(tree) {
        None => Ok(()),
        Some(excess) => Err(QueueError::MinutesBeyond {
            id: tree.rows()[excess.parent.get()].id,
            minutes: excess.minutes,
            given: excess.given,
        }),
    }
}

/// Minutes of each account that has some.
fn entitlement(
    tree: &Tree,
    settings: &Settings,
    special: &HashMap<AssocIndex, AccountRule>,
) -> Entitlement {
    let counted = |mut at: Option<AssocIndex>| {
        while let Some(up) = at {
            if let Some(counted) = special.get(&up).and_then(|rule| rule.counted) {
                return counted;
            }
            at = tree.fs_parent(up);
        }
        settings.counted
    };
    let given = special.iter();
    let given = given.filter_map(|(at, rule)| Some((*at, rule.minutes?)));
    given.fold(Entitlement::new(0), |entitlement, (at, minutes)| {
        match counted(Some(at)) == counted(tree.fs_parent(at)) {
            true => entitlement.with_minutes(at, minutes),
            false => entitlement.with_minutes_apart(at, minutes),
        }
    })
}

/// What the root is entitled to, in units times microseconds. Where all use since a moment
/// counts, shares are only compared with each other: any number does.
fn whole(settings: &Settings) -> Entitled {
    let length = match settings.counted {
        Counted::Window(length) => length.unsigned_abs(),
        Counted::Since(_) => 1,
    };
    Entitled::whole(u128::from(settings.capacity) * u128::from(length))
}
