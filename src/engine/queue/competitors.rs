//! Who competes: the associations with shares, what each is entitled to and how its use counts.

use std::collections::{HashMap, HashSet};

use super::error::QueueError;
use super::settings::{AccountRule, Counted, Settings};
use crate::order::{Entitled, Level};
use crate::tree::{AssocId, AssocIndex, Shares, Tree};

/// The parent of nodes directly below the root.
pub(super) const NONE: u32 = u32::MAX;

/// An association below the root with shares.
#[derive(Clone, Debug)]
pub(super) struct Competitor {
    pub assoc: AssocId,
    /// [`NONE`]: the root.
    pub parent: u32,
    /// Competes over the whole tree, not only with its siblings.
    pub over_all: bool,
    pub entitled: Entitled,
    /// How its use counts: a position in [`Competitors::rules`].
    pub rule: u32,
}

/// The competitors of a tree, parents before children.
#[derive(Clone, Debug)]
pub(super) struct Competitors {
    pub nodes: Vec<Competitor>,
    /// Ways in which use counts, each once.
    pub rules: Vec<Counted>,
    /// For each association by position the node that its jobs are charged to.
    charged_to: Vec<Option<u32>>,
}

impl Competitors {
    pub fn new(tree: &Tree, settings: &Settings) -> Result<Competitors, QueueError> {
        check(settings)?;
        let special = special(tree, settings)?;
        let mut made = Competitors {
            nodes: Vec::new(),
            rules: vec![settings.counted],
            charged_to: vec![None; tree.len()],
        };
        let mut depths = Vec::new();
        let mut sums = vec![None; tree.len()];
        for &at in tree.parents_first() {
            let Some(above) = tree.fs_parent(at) else {
                continue;
            };
            let parent = made.charged_to[above.get()];
            let Shares::Raw(shares) = tree.rows()[at.get()].shares else {
                made.charged_to[at.get()] = parent;
                continue;
            };
            let sum = *sums[above.get()].get_or_insert_with(|| sum(tree, above, &special));
            let rule = special.get(&at).copied().unwrap_or_default();
            let depth = 1 + parent.map_or(0, |parent| depths[parent as usize]);
            let node = made.node(tree.rows()[at.get()].id, parent, rule, settings)?;
            made.charged_to[at.get()] = Some(made.nodes.len() as u32);
            made.nodes.push(Competitor {
                over_all: match settings.level {
                    Level::Leaf => true,
                    Level::Depth(level) => depth <= level.max(1),
                },
                entitled: match rule.minutes {
                    Some(_) => node.entitled,
                    None => node.entitled.part(shares.into(), sum),
                },
                ..node
            });
            depths.push(depth);
        }
        Ok(made)
    }

    /// With the minutes of the account, or else what its parent is entitled to.
    fn node(
        &mut self,
        assoc: AssocId,
        parent: Option<u32>,
        rule: AccountRule,
        settings: &Settings,
    ) -> Result<Competitor, QueueError> {
        let above = parent.map(|parent| &self.nodes[parent as usize]);
        let (inherited, entitled) = match above {
            Some(above) => (above.rule, above.entitled),
            None => (0, whole(settings)),
        };
        let counted = rule.counted.unwrap_or(self.rules[inherited as usize]);
        let differs = counted != self.rules[inherited as usize];
        if differs && rule.minutes.is_none() && matches!(counted, Counted::Since(_)) {
            return Err(QueueError::NoMinutes { id: assoc });
        }
        let known = self.rules.iter().position(|known| *known == counted);
        let rule_at = known.unwrap_or_else(|| {
            self.rules.push(counted);
            self.rules.len() - 1
        });
        Ok(Competitor {
            assoc,
            parent: parent.unwrap_or(NONE),
            over_all: false,
            entitled: rule.minutes.map_or(entitled, |minutes| {
                Entitled::whole(u128::from(minutes) * 60_000_000)
            }),
            rule: rule_at as u32,
        })
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
    let rules = settings
        .accounts
        .iter()
        .filter_map(|(_, rule)| rule.counted);
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

/// Shares of all children of `above` that have no minutes.
fn sum(tree: &Tree, above: AssocIndex, special: &HashMap<AssocIndex, AccountRule>) -> u64 {
    let by_shares = |child: &&AssocIndex| {
        let rule = special.get(child);
        rule.is_none_or(|rule| rule.minutes.is_none())
    };
    let children = tree.fs_children(above).iter().filter(by_shares);
    let shares = children.filter_map(|child| tree.rows()[child.get()].shares.raw());
    shares.map(u64::from).sum()
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
