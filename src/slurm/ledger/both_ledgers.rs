//! The ledgers of associations and of QOS, and how both are fed.

use super::exchange::{Found, LedgerComplaints, QosChange, SeenQos, SeenSite};
use super::feeding::{Feeding, Remembered};
use super::plan::LedgerPlan;
use super::seen::SeenRun;
use super::tree_ledger::{Numbers, TreeLedger};
use super::written::{Held, Written};
use crate::engine::RunKey;
use crate::tree::{Assoc, AssocId, AssocIndex, AssocKind, Shares, Tree};
use crate::usage::Plan;
use crate::usage::window::{LeafKey, OWN_FILE, QOS_FILE, UsageHistory, Window, WindowError};
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Id of the root above all QOS; no QOS has this id.
const QOS_ROOT: u32 = u32::MAX;

/// Maximum time after the last pass for an end reported before the clock stepped back; later ends
/// are cut.
const LATEST_END_SECS: i64 = 86_400;

/// Bucket length if neither files nor settings have one, seconds.
const USUAL_RESOLUTION_SECS: u32 = Window::DEFAULT_RESOLUTION_SECS as u32;

/// Both ledgers, and their copies of host data.
#[derive(Debug)]
pub(super) struct BothLedgers {
    cluster: String,
    tres: Vec<String>,
    pub(super) assocs: TreeLedger,
    pub(super) qos: TreeLedger,
    pub(super) names: HashMap<AssocId, LeafKey>,
    plan: LedgerPlan,
    plans: Vec<(AssocId, Plan)>,
    /// QOS with the flag NoDecay.
    no_decay: Vec<u32>,
    /// Values in the records of QOS after the last pass, by id; empty after a pass with a different
    /// usage model. Records of QOS with the flag NoDecay never fall before the next pass, unless
    /// they are reset.
    pub(super) qos_held: HashMap<u32, Held>,
    /// Ends that are already in the ledgers.
    ended: FxHashMap<RunKey, Remembered>,
    /// Values to which the last pass set the records of associations and of QOS.
    pub(super) written: [Written; 2],
    /// True if all use before this pass must be forgotten.
    pub(super) is_cleared: bool,
    /// Amounts to subtract from the records of QOS with the flag NoDecay, which are charged as
    /// usual: charges of runs that do not count.
    pub(super) taken_back: BTreeMap<u32, Numbers>,
    /// True if no pass has been made with these ledgers.
    is_new: bool,
    /// Start of the time covered without a gap.
    covered_from: Option<i64>,
}

/// The tree of QOS: all directly below one root.
fn qos_tree(qos: &[SeenQos]) -> Arc<Tree> {
    let row = |id, parent, kind| Assoc {
        id,
        parent,
        kind,
        shares: Shares::Raw(1),
    };
    let mut ids: Vec<u32> = qos.iter().map(|qos| qos.id).collect();
    ids.retain(|id| *id != 0 && *id != QOS_ROOT);
    ids.sort_unstable();
    ids.dedup();
    let root = row(QOS_ROOT, None, AssocKind::Account);
    let leaves = ids
        .into_iter()
        .map(|id| row(id, Some(QOS_ROOT), AssocKind::User));
    let tree = Tree::from_rows([root].into_iter().chain(leaves));
    Arc::new(tree.expect("a root and its children, each once"))
}

/// Name of a QOS in the ledger: its id.
pub(super) fn qos_name(id: u32) -> LeafKey {
    LeafKey::new(&id.to_string(), "", "").expect("a number is a name")
}

fn place_qos(tree: &Tree, key: &LeafKey) -> Option<AssocIndex> {
    tree.index_of(key.account().parse().ok()?)
}

/// Finds the position of a name: its association, or else its account, because slurmctld moves the
/// use of removed users to their account.
pub(super) fn placing<'a>(
    tree: &'a Tree,
    names: &'a HashMap<AssocId, LeafKey>,
) -> impl Fn(&LeafKey) -> Option<AssocIndex> + 'a {
    let ids: HashMap<&LeafKey, AssocId> = names
        .iter()
        .filter(|(id, _)| tree.index_of(**id).is_some())
        .map(|(id, key)| (key, *id))
        .collect();
    move |key| {
        let account = || LeafKey::new(key.account(), "", "").ok();
        let id = ids.get(key).copied();
        let id = id.or_else(|| ids.get(&account()?).copied());
        tree.index_of(id?)
    }
}

/// Forgets the use of nodes that were reset (or of `all`) and of those below them; returns these
/// nodes by position. Ended runs that may be reported again continue from `now`.
fn reset(
    tree_ledger: &mut TreeLedger,
    all: bool,
    is_reset: impl Fn(AssocIndex) -> bool,
    ended: &FxHashMap<RunKey, Remembered>,
    now: i64,
) -> Vec<bool> {
    let tree = Arc::clone(tree_ledger.tree());
    let mut reset = vec![false; tree.len()];
    let mut roots = Vec::new();
    for &node in tree.parents_first() {
        let above = tree.parent(node);
        if above.is_some_and(|above| reset[above.get()]) {
            reset[node.get()] = true;
            continue;
        }
        if all && above.is_none() || is_reset(node) {
            reset[node.get()] = true;
            roots.push(node);
        }
    }
    if !roots.is_empty() {
        let goes_on = |run| ended.contains_key(&run).then_some(now);
        tree_ledger.edit(|open| {
            roots.into_iter().for_each(|node| open.reset(node, goes_on));
        });
    }
    reset
}

impl BothLedgers {
    pub(super) fn open(
        site: &SeenSite<'_>,
        found: Found,
        complaints: &mut LedgerComplaints,
    ) -> Result<BothLedgers, WindowError> {
        let names = (site.names)();
        let qos_tree = qos_tree(site.qos);
        let of_host = (site.cluster, site.tres);
        let usual = site.plan.resolution_secs.unwrap_or(USUAL_RESOLUTION_SECS);
        let resolution = |history: &Option<UsageHistory>| {
            let history = history.as_ref();
            history.map_or(usual, UsageHistory::resolution_secs)
        };
        let as_of = found
            .assocs
            .as_ref()
            .and_then(|history| history.sources().first())
            .map(|source| source.as_of);
        let now = site.now.max(0);
        let (of_assocs, of_qos) = (resolution(&found.assocs), resolution(&found.qos));
        let begin = as_of.map_or(now, |as_of| as_of.min(now));
        let mut assocs = TreeLedger::new(site.tree, site.plan, of_assocs, of_host, begin)?;
        let mut qos = TreeLedger::new(&qos_tree, site.plan, of_qos, of_host, begin)?;
        let mut tell = |what: &str, restored: Result<(), WindowError>| {
            if let Err(error) = restored {
                complaints
                    .lines
                    .push(format!("{what} ignored, will be replaced: {error}"));
            }
        };
        if let Some(history) = found.assocs {
            let place = placing(site.tree, &names);
            tell(OWN_FILE, assocs.restore(history, place));
        }
        if let Some(history) = found.qos {
            let place = |key: &LeafKey| place_qos(&qos_tree, key);
            tell(QOS_FILE, qos.restore(history, place));
        }
        let covered_from = as_of.filter(|_| found.continues);
        Ok(BothLedgers {
            cluster: site.cluster.to_owned(),
            tres: site.tres.to_vec(),
            assocs,
            qos,
            names,
            plan: LedgerPlan {
                // Not applied yet.
                default: Plan::Window,
                accounts: Vec::new(),
                length_secs: None,
                ..site.plan.clone()
            },
            plans: Vec::new(),
            no_decay: Vec::new(),
            qos_held: HashMap::new(),
            ended: FxHashMap::default(),
            written: Default::default(),
            is_cleared: false,
            taken_back: BTreeMap::new(),
            is_new: true,
            covered_from,
        })
    }

    /// Name of an association. An unknown one was removed just now.
    pub(super) fn name(&self, id: AssocId) -> LeafKey {
        let known = self.names.get(&id).cloned();
        known.unwrap_or_else(|| {
            LeafKey::new(&format!("association {id}"), "", "").expect("a sound name")
        })
    }

    /// Applies changes of trees, TRES and plans.
    pub(super) fn follow(&mut self, site: &SeenSite<'_>, complaints: &mut LedgerComplaints) {
        if !Arc::ptr_eq(self.assocs.tree(), site.tree) {
            // Names of removed associations are kept: their use moves to their account.
            self.names.extend((site.names)());
            let place = placing(site.tree, &self.names);
            self.assocs.follow(site.tree, place);
            self.plans.clear();
        }
        let qos_tree = qos_tree(site.qos);
        if qos_tree.rows() != self.qos.tree().rows() {
            self.qos.follow(&qos_tree, |key| place_qos(&qos_tree, key));
        }
        let no_decay = site.qos.iter().filter(|qos| qos.no_decay);
        self.no_decay = no_decay.map(|qos| qos.id).collect();
        let taken = self
            .take_tres(site)
            .and_then(|()| self.take_plan(site, complaints));
        if let Err(error) = taken {
            complaints.lines.push(format!(
                "cannot apply changed TRES or settings to the ledger: {error}; the next pass \
                     tries again"
            ));
        }
    }

    fn take_tres(&mut self, site: &SeenSite<'_>) -> Result<(), WindowError> {
        if self.tres == site.tres || site.tres.is_empty() {
            return Ok(());
        }
        let of_host = (self.cluster.as_str(), site.tres);
        let (tree, qos_tree) = (self.assocs.tree(), self.qos.tree());
        let name = |index: AssocIndex| self.name(tree.rows()[index.get()].id);
        let place = placing(tree, &self.names);
        let assocs = self.assocs.with_tres(&self.plan, of_host, name, place)?;
        let name = |index: AssocIndex| qos_name(qos_tree.rows()[index.get()].id);
        let place = |key: &LeafKey| place_qos(qos_tree, key);
        let qos = self.qos.with_tres(&self.plan, of_host, name, place)?;
        (self.assocs, self.qos) = (assocs, qos);
        self.tres = site.tres.to_vec();
        self.is_new = true;
        Ok(())
    }

    fn take_plan(
        &mut self,
        site: &SeenSite<'_>,
        complaints: &mut LedgerComplaints,
    ) -> Result<(), WindowError> {
        if self.plan == *site.plan && self.plans == site.plans && !self.is_new {
            return Ok(());
        }
        let tells = self.is_new || site.plan.resolution_secs != self.plan.resolution_secs;
        for tree_ledger in [&mut self.assocs, &mut self.qos] {
            let has = tree_ledger.ledger().window().resolution_secs();
            let wanted = site.plan.resolution_secs.unwrap_or(has);
            let fits = wanted == has || wanted > has && tree_ledger.coarsen(wanted);
            let line = format!(
                "resolution: {wanted} s is not a multiple of the ledger's {has} s; {has} s stays in use"
            );
            if !fits && tells && !complaints.lines.contains(&line) {
                complaints.lines.push(line);
            }
        }
        let plans = site.plans.iter().copied();
        self.assocs.take_plan(site.plan, plans)?;
        self.qos.take_plan(site.plan, [])?;
        self.plan = site.plan.clone();
        self.plans = site.plans.to_vec();
        Ok(())
    }

    pub(super) fn feed(
        &mut self,
        site: &SeenSite<'_>,
        ended: &[SeenRun<'_>],
        rows: &[SeenRun<'_>],
        complaints: &mut LedgerComplaints,
    ) {
        let before = [&self.assocs, &self.qos].map(|tree_ledger| tree_ledger.ledger().now());
        let resets = self.resets(site);
        let now = self.moment(site.now, ended);
        self.feeding(&resets, complaints, |feeding| {
            feeding.advance(now);
            feeding.take_ended(ended);
            feeding.take_rows(rows, before);
            feeding.forget_ends();
        });
        let now = self.assocs.ledger().now();
        let from = self.covered_from.unwrap_or(now);
        for tree_ledger in [&mut self.assocs, &mut self.qos] {
            if let Err(error) = tree_ledger.cover(from.min(now), now) {
                complaints.lines.push(format!("{error}"));
            }
        }
        self.covered_from = Some(now);
        self.is_new = false;
    }

    /// End of the time that a pass at `now` feeds: normally `now`; after a step back of the clock,
    /// the latest reported end, but at most [`LATEST_END_SECS`] after the last pass.
    fn moment(&self, now: i64, ended: &[SeenRun<'_>]) -> i64 {
        let latest = self.assocs.ledger().now().saturating_add(LATEST_END_SECS);
        let ends = ended.iter().map(|seen| seen.until.min(latest));
        ends.fold(now, i64::max)
    }

    /// Applies resets by an administrator and by `PriorityUsageResetPeriod`; returns the
    /// associations and QOS that were reset, by position.
    fn resets(&mut self, site: &SeenSite<'_>) -> [Vec<bool>; 2] {
        let all = std::mem::take(&mut self.is_cleared);
        let of_assocs = self.reset_assocs(site, all);
        let before = std::mem::take(&mut self.written[1]);
        let held_before = std::mem::take(&mut self.qos_held);
        let qos_tree = Arc::clone(self.qos.tree());
        let seen: HashMap<u32, &SeenQos> = site.qos.iter().map(|qos| (qos.id, qos)).collect();
        let is_reset = |index: AssocIndex| {
            let seen = seen.get(&qos_tree.rows()[index.get()].id);
            seen.is_some_and(|seen| {
                if !seen.no_decay {
                    return before.was_reset(&qos_tree, index, |_| seen.held);
                }
                // The records of these QOS are not set by passes.
                let held = held_before.get(&seen.id).copied();
                (seen.held.zip(held)).is_some_and(|(now, before)| now.is_less_than(before))
            })
        };
        let of_qos = reset(&mut self.qos, all, is_reset, &self.ended, site.now);
        [of_assocs, of_qos]
    }

    /// The same for associations only, in a pass that has already fed the ledgers: what this pass
    /// charged them is forgotten, too.
    pub(super) fn take_resets(&mut self, site: &SeenSite<'_>) {
        self.reset_assocs(site, false);
    }

    fn reset_assocs(&mut self, site: &SeenSite<'_>, all: bool) -> Vec<bool> {
        let before = std::mem::take(&mut self.written[0]);
        let tree = Arc::clone(self.assocs.tree());
        // If all are checked nevertheless, a pass of 45 ms takes 0.35 ms more with 50,000 users
        // (samples of passes of the bench host).
        if site.held.is_none() && !all {
            return vec![false; tree.len()];
        }
        let is_reset = |index| {
            site.held
                .is_some_and(|held| before.was_reset(&tree, index, held))
        };
        reset(&mut self.assocs, all, is_reset, &self.ended, site.now)
    }

    /// Changes both ledgers, and afterwards reads their results once.
    pub(super) fn feeding(
        &mut self,
        resets: &[Vec<bool>; 2],
        complaints: &mut LedgerComplaints,
        feed: impl FnOnce(&mut Feeding<'_, '_, '_>),
    ) {
        let (counts, ended) = (&self.plan.counts, &mut self.ended);
        let (no_decay, taken_back) = (&self.no_decay, &mut self.taken_back);
        let qos = &mut self.qos;
        self.assocs.edit(|assocs| {
            let (rate, no_rate) = (assocs.no_rate(), assocs.no_rate());
            qos.edit(|qos| {
                feed(&mut Feeding {
                    assocs,
                    qos,
                    resets,
                    counts,
                    no_decay,
                    ended,
                    taken_back,
                    rate,
                    no_rate,
                    complaints,
                });
            });
        });
    }

    pub(super) fn qos_changes(&self) -> Vec<QosChange> {
        let tree = self.qos.tree();
        let leaves = tree.indices().filter(|index| tree.parent(*index).is_some());
        let leaves: Vec<AssocIndex> = leaves.collect();
        let mut changes = Vec::with_capacity(leaves.len());
        self.qos.read(&leaves, |index, [billing, wall], tres| {
            let id = tree.rows()[index.get()].id;
            let adds = self.no_decay.contains(&id);
            let mut numbers = Numbers::default();
            if !adds {
                let tres = tres.to_vec();
                numbers = Numbers {
                    billing,
                    wall,
                    tres,
                };
            } else if let Some(taken) = self.taken_back.get(&id) {
                numbers.subtract(taken);
            }
            changes.push(QosChange { id, adds, numbers });
        });
        changes.sort_unstable_by_key(|change| change.id);
        changes
    }
}
