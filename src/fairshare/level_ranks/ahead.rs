//! Reading ahead what sorting and walking will read, so that one read does not wait for another.

use std::hint::black_box;

use super::LevelRanks;
use super::level::{Slot, Touched};
use super::rule::Rule;
use crate::tree::AssocIndex;

/// So many levels are read ahead: a small part of a processor's cache.
pub(super) const AHEAD: usize = 32;
/// And the places of so many, for the walk: of more, the first would be out of the cache again.
const MOST_AHEAD: usize = 16 * AHEAD;
/// Of a cache line of 64 bytes.
const SLOTS_PER_LINE: usize = 64 / size_of::<Slot>();

impl LevelRanks {
    /// Reads what sorting some levels and walking them will read. Here one read does not wait for
    /// another, as it would there, and where a tree is larger than the processor's cache that is
    /// most of the time.
    pub(super) fn read_ahead<R: Rule>(&self, rule: &R, levels: &[Touched]) {
        let (rows, raw_usage) = (rule.tree().rows(), rule.raw_usage());
        let mut seen = 0;
        for &Touched { account, children } in levels {
            seen ^= usize::from(raw_usage[account.get()].is_zero());
            seen ^= self.node(account).users_below as usize;
            let range = rule.tree().fs_children_range(account);
            let slots = self.order[range].iter().step_by(SLOTS_PER_LINE);
            seen ^= slots.fold(0, |seen, slot| seen ^ slot.index.get());
            for (_, child) in children {
                seen ^= rows[child.get()].id as usize;
                seen ^= usize::from(raw_usage[child.get()].is_zero());
            }
        }
        // Else there were no need to read.
        black_box(seen);
    }

    /// The same of what walking the places of these accounts will read that may have changed;
    /// nothing where these are many.
    pub(super) fn read_ahead_of_walk(&self, touched: &[AssocIndex]) {
        if touched.len() > MOST_AHEAD {
            return;
        }
        let mut seen = 0;
        for &account in touched {
            // Users have no places.
            let node = self.nodes.get(self.places[account.get()] as usize);
            let (first, end) = node.map_or((0, 0), |node| node.window);
            for slot in &self.order[first.saturating_sub(1) as usize..end as usize] {
                let at = slot.index.get();
                if slot.is_user {
                    seen ^= self.ranks[at];
                } else {
                    seen ^= self.node(slot.index).users_below;
                    seen ^= u32::from(self.flags[at].touched);
                }
            }
        }
        black_box(seen);
    }
}
