//! Random sites, small, with many ties, zeros and `parent` shares.

use proptest::prelude::*;

use crate::common::Site;
use crate::common::random::Random;
use fairtree::tree::{Assoc, AssocKind, Shares};

/// The random parts of a row below the root: the index of its parent among earlier accounts, true
/// for a user, shares, own usage.
type Draw = (prop::sample::Index, bool, Shares, f64);

fn shares() -> impl Strategy<Value = Shares> {
    prop_oneof![
        2 => Just(Shares::Parent),
        10 => (0_u32..5).prop_map(Shares::Raw),
        2 => (0_u32..=1000).prop_map(Shares::Raw),
    ]
}

fn usage() -> impl Strategy<Value = f64> {
    prop_oneof![
        3 => Just(0.0),
        8 => (1_u32..7).prop_map(f64::from),
        2 => 0.0..1e6_f64,
        1 => Just(1.0 / 3.0),
    ]
}

/// Sites of up to 40 associations, the root first.
pub fn sites() -> impl Strategy<Value = Site> {
    let row = (
        any::<prop::sample::Index>(),
        any::<bool>(),
        shares(),
        usage(),
    );
    prop::collection::vec(row, 0..40).prop_map(|rows| site(&rows))
}

fn site(draws: &[Draw]) -> Site {
    let root = Assoc {
        id: 1,
        parent: None,
        kind: AssocKind::Account,
        shares: Shares::Raw(1),
    };
    let mut rows = vec![root];
    let mut accounts = vec![root.id];
    let mut own = vec![0.0];
    for (at, (parent, is_user, shares, usage)) in draws.iter().enumerate() {
        let id = at as u32 + 2;
        let kind = if *is_user {
            AssocKind::User
        } else {
            AssocKind::Account
        };
        rows.push(Assoc {
            id,
            parent: Some(*parent.get(&accounts)),
            kind,
            shares: *shares,
        });
        if kind == AssocKind::Account {
            accounts.push(id);
        }
        // Some accounts keep the usage of deleted users.
        let keeps = kind == AssocKind::User || id % 5 == 0;
        own.push(if keeps { *usage } else { 0.0 });
    }
    let names = rows.iter().map(|row| format!("{:?} {}", row.kind, row.id));
    Site::new(names.collect(), rows, &own)
}

/// A permutation of `0..len`.
pub fn order_of(len: usize, seed: u64) -> Vec<usize> {
    let mut source = Random::new(seed);
    let mut keyed: Vec<(u64, usize)> = (0..len).map(|at| (source.next(), at)).collect();
    keyed.sort_unstable();
    keyed.into_iter().map(|(_, at)| at).collect()
}
