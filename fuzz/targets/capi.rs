//! Operations on an `ft_tree` through the C ABI, compared with a naive model of associations and
//! their usage; factors of Fair Tree compared with the oracle in exact fractions. Time passes by
//! whole half-lives and charges are whole numbers, so usage is exact: results must be equal.
#![no_main]

#[path = "capi/did.rs"]
mod did;
#[path = "capi/model.rs"]
mod model;

use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use did::did;
use fairtree::capi::*;
use fairtree_oracle::{Ranking, Association, Hierarchy};
use libfuzzer_sys::fuzz_target;
use model::{HALVES, Model};

/// An operation of a host, careful or careless.
#[derive(Arbitrary, Debug)]
enum Op {
    Add {
        id: u8,
        parent: u8,
        user: bool,
        shares: u32,
    },
    SetShares {
        id: u8,
        shares: u32,
    },
    Move {
        id: u8,
        parent: u8,
    },
    Remove {
        id: u8,
    },
    Charge {
        ids: [u8; 2],
        amount: u16,
    },
    ChargeOdd {
        id: u8,
        amount: f64,
    },
    ChargePeriod {
        id: u8,
        secs: i8,
        tres: u8,
    },
    HalfLives {
        count: u8,
    },
    TimeOdd {
        now: i64,
    },
    Reset {
        id: u8,
    },
    Load {
        own: bool,
        amounts: [u16; 4],
    },
    SaveAndRestore,
    RestoreOdd {
        at: u16,
        byte: u8,
    },
    Clone,
    Compute,
    Explain {
        ids: [u8; 2],
    },
    Price {
        jobs: Vec<Job>,
        now: u32,
    },
}

#[derive(Arbitrary, Debug)]
struct Job {
    accrued: u32,
    assoc: u8,
    place: [u8; 2],
    size: [u16; 2],
    nice: i32,
    priority: u8,
    direct: bool,
    limit: u32,
}

const ASSOC: usize = size_of::<AssocRow>();
const HALF_LIFE: i64 = 3600;

/// A tree with its settings and a site, and the model.
struct World {
    tree: *mut TreeHandle,
    config: *mut ConfigHandle,
    site: *mut SiteHandle,
    model: Model,
    computed: bool,
}

/// The id for a byte: few ids, so that they collide; one does not exist.
fn id(byte: u8) -> u32 {
    u32::from(byte % 24)
}

fn parent(byte: u8) -> u32 {
    match byte % 24 {
        0 => FT_NONE,
        at => u32::from(at),
    }
}

fn shares(number: u32) -> u32 {
    match number % 8 {
        0 => FT_SHARES_PARENT,
        1 => number,
        _ => number % 16,
    }
}

impl World {
    fn new() -> World {
        let mut world = World {
            tree: null_mut(),
            config: null_mut(),
            site: null_mut(),
            model: Model::default(),
            computed: false,
        };
        // SAFETY: pointers to live variables; handles are freed by `drop`.
        unsafe {
            assert!(did(ft_tree_new(0, &mut world.tree), "new"));
            assert!(did(ft_config_new(&mut world.config), "config"));
            for (key, value) in [
                (c"PriorityDecayHalfLife", c"1:00:00"),
                (c"PriorityWeightAge", c"1000"),
                (c"PriorityWeightFairshare", c"100000"),
                (c"PriorityWeightJobSize", c"77"),
                (c"PriorityWeightPartition", c"50"),
                (c"PriorityWeightQOS", c"4294967295"),
                (c"PriorityMaxAge", c"7-0"),
            ] {
                assert!(did(
                    ft_config_set(world.config, key.as_ptr(), value.as_ptr()),
                    "set"
                ));
            }
            assert!(did(ft_site_new(64, 4, null(), 0, &mut world.site), "site"));
            for factor in [0, 9, 65_533] {
                let added = ft_site_add_partition(world.site, factor, 60, null(), 0, null_mut());
                assert!(did(added, "partition"));
                assert!(did(ft_site_add_qos(world.site, factor, null_mut()), "qos"));
            }
        }
        world
    }

    fn act(&mut self, op: &Op) {
        // SAFETY: handles live until `drop`; arrays are of live variables with their lengths.
        unsafe { self.call(op) };
        self.agree();
    }

    unsafe fn call(&mut self, op: &Op) {
        let (tree, model) = (self.tree, &mut self.model);
        let edits = matches!(
            op,
            Op::Add { .. } | Op::SetShares { .. } | Op::Move { .. } | Op::Remove { .. }
        );
        let done = unsafe {
            match *op {
                Op::Add {
                    id: at,
                    parent: above,
                    user,
                    shares: number,
                } => {
                    let row = AssocRow {
                        id: id(at),
                        parent: parent(above),
                        raw_shares: shares(number),
                        kind: u32::from(user),
                    };
                    let done = did(ft_tree_add(tree, &row, ASSOC), "add");
                    assert_eq!(
                        done,
                        model.add(row.id, row.parent, user, row.raw_shares),
                        "{op:?}"
                    );
                    done
                }
                Op::SetShares {
                    id: at,
                    shares: number,
                } => {
                    let done = did(ft_tree_set_shares(tree, id(at), shares(number)), "shares");
                    assert_eq!(done, model.set_shares(id(at), shares(number)), "{op:?}");
                    done
                }
                Op::Move {
                    id: at,
                    parent: above,
                } => {
                    let done = did(ft_tree_move(tree, id(at), parent(above)), "move");
                    assert_eq!(done, model.move_below(id(at), parent(above)), "{op:?}");
                    done
                }
                Op::Remove { id: at } => {
                    let done = did(ft_tree_remove(tree, id(at)), "remove");
                    assert_eq!(done, model.remove(id(at)), "{op:?}");
                    done
                }
                Op::Charge { ids, amount } => {
                    let ids = ids.map(id);
                    let amounts = [f64::from(amount); 2];
                    let done = did(
                        ft_usage_charge(tree, ids.as_ptr(), 2, amounts.as_ptr(), 2),
                        "charge",
                    );
                    assert_eq!(done, model.charge(&ids, u64::from(amount)), "{op:?}");
                    done
                }
                Op::ChargeOdd { id: at, amount } => {
                    // A valid charge would not be exact, so test only refusals.
                    let (at, odd) = (id(at), !amount.is_finite() || amount < 0.0);
                    odd && did(ft_usage_charge(tree, &at, 1, &amount, 1), "odd")
                }
                Op::ChargePeriod { id: at, secs, tres } => {
                    let use_of = UseRow {
                        id: id(at),
                        reserved: 0,
                        from: 0,
                        to: i64::from(secs.min(0)),
                        tres: f64::from(tres),
                    };
                    let size = size_of::<UseRow>();
                    let done = did(
                        ft_usage_charge_periods(tree, self.config, &use_of, 1, size),
                        "period",
                    );
                    assert_eq!(
                        done,
                        model.has(use_of.id) && use_of.to >= use_of.from,
                        "{op:?}"
                    );
                    done
                }
                Op::HalfLives { count } => {
                    let count = u32::from(count % 4).min(HALVES - model.halved());
                    let now = model.now() + i64::from(count) * HALF_LIFE;
                    let mut reset = 0;
                    let done =
                        ft_usage_advance(tree, self.config, now, c"UTC".as_ptr(), &mut reset);
                    assert!(did(done, "advance") && reset == 0);
                    model.halve(count, now);
                    true
                }
                Op::TimeOdd { now } => {
                    let before = now < model.now();
                    before
                        && did(
                            ft_usage_advance(tree, self.config, now, null(), null_mut()),
                            "odd",
                        )
                }
                Op::Reset { id: at } => {
                    let at = parent(at);
                    let done = did(ft_usage_reset(tree, at), "reset");
                    assert_eq!(done, model.reset((at != FT_NONE).then_some(at)), "{op:?}");
                    done
                }
                Op::Load { own, amounts } => {
                    let kind = if own {
                        UsageKind::FT_USAGE_OWN
                    } else {
                        UsageKind::FT_USAGE_RAW
                    };
                    // Loaded raw usage may be impossible by charges; the model has only own usage.
                    let values: Vec<f64> = (0..model.len())
                        .map(|at| f64::from(amounts[at % 4]))
                        .collect();
                    if !own {
                        return;
                    }
                    let done = did(
                        ft_usage_load(tree, kind as u32, values.as_ptr(), values.len()),
                        "load",
                    );
                    assert!(done);
                    model.load(&amounts.map(u64::from));
                    true
                }
                Op::SaveAndRestore => {
                    let bytes = self.saved();
                    assert!(did(
                        ft_state_restore(tree, bytes.as_ptr(), bytes.len()),
                        "restore"
                    ));
                    assert_eq!(bytes, self.saved(), "saved again");
                    self.computed = false;
                    true
                }
                Op::RestoreOdd { at, byte } => {
                    let mut bytes = self.saved();
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= byte.max(1);
                    !did(
                        ft_state_restore(tree, bytes.as_ptr(), bytes.len()),
                        "damaged",
                    ) || panic!("byte {at} of a state may be changed")
                }
                Op::Clone => {
                    let mut copy = null_mut();
                    assert!(did(ft_tree_clone(tree, &mut copy), "clone"));
                    ft_tree_free(tree);
                    self.tree = copy;
                    true
                }
                Op::Compute => {
                    self.computed = did(ft_fairshare_compute(tree, self.config), "compute");
                    assert!(self.computed);
                    self.factors_agree();
                    true
                }
                Op::Explain { ids } => {
                    self.explain(ids.map(id));
                    true
                }
                Op::Price { ref jobs, now } => {
                    self.price(jobs, now);
                    true
                }
            }
        };
        self.computed &= !(edits && done);
    }

    unsafe fn saved(&self) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: as in `act`.
        unsafe {
            assert!(did(ft_state_size(self.tree, &mut size), "size"));
            let mut bytes = vec![0; size];
            assert!(did(
                ft_state_save(self.tree, bytes.as_mut_ptr(), size),
                "save"
            ));
            bytes
        }
    }

    /// Asserts that rows, order and usage equal the model's.
    fn agree(&self) {
        let (mut len, mut users) = (0, 0);
        // SAFETY: as in `act`.
        unsafe {
            assert!(did(ft_tree_len(self.tree, &mut len, &mut users), "len"));
            assert_eq!((len, users), (self.model.len(), self.model.users()));
            let empty = AssocRow {
                id: 0,
                parent: 0,
                raw_shares: 0,
                kind: 0,
            };
            let mut rows = vec![empty; len];
            assert!(did(
                ft_tree_rows(self.tree, rows.as_mut_ptr(), len, ASSOC),
                "rows"
            ));
            for (row, known) in rows.iter().zip(self.model.rows()) {
                assert_eq!(
                    (row.id, row.parent, row.raw_shares),
                    (known.id, known.parent, known.shares)
                );
                assert_eq!(row.kind, u32::from(known.user));
            }
            if !self.model.exact() {
                return;
            }
            for (kind, expected) in [
                (UsageKind::FT_USAGE_OWN, self.model.own()),
                (UsageKind::FT_USAGE_RAW, self.model.raw()),
            ] {
                let mut usage = vec![-1.0; len];
                assert!(did(
                    ft_usage_read(self.tree, kind as u32, usage.as_mut_ptr(), len),
                    "read"
                ));
                assert_eq!(usage, expected, "{:?}", self.model);
            }
        }
    }

    fn factors_agree(&self) {
        let len = self.model.len();
        let mut rows: Vec<FairshareRow> = Vec::with_capacity(len);
        // SAFETY: as in `act`; only counted rows are written.
        unsafe {
            let size = size_of::<FairshareRow>();
            assert!(did(
                ft_fairshare_rows(self.tree, rows.as_mut_ptr(), len, size),
                "factors"
            ));
            rows.set_len(len);
        }
        for row in &rows {
            assert!(
                row.fs_factor.is_nan() || (0.0..=1.0).contains(&row.fs_factor),
                "{row:?}"
            );
            assert!(row.norm_shares >= 0.0 && row.norm_shares <= 1.0, "{row:?}");
        }
        if len == 0 || !self.model.exact() {
            return;
        }
        let raw = self.model.raw_exactly();
        let known: Vec<Association> = self
            .model
            .rows()
            .iter()
            .zip(raw)
            .map(|(row, usage)| {
                Association {
                    // The oracle has no id 0.
                    id: row.id + 1,
                    parent: (row.parent != FT_NONE).then_some(row.parent.wrapping_add(1)),
                    is_user: row.user,
                    shares: (row.shares != FT_SHARES_PARENT).then_some(row.shares),
                    usage,
                }
            })
            .collect();
        let exactly = Hierarchy::new(&known, Ranking::FairTree, false);
        for (row, known) in rows.iter().zip(&known) {
            let factor = exactly.factor(known.id).unwrap_or(f64::NAN);
            assert_eq!(
                row.fs_factor.to_bits(),
                factor.to_bits(),
                "{row:?}: {factor}"
            );
        }
    }

    unsafe fn explain(&self, [a, b]: [u32; 2]) {
        let mut found = std::mem::MaybeUninit::<ComparisonRow>::uninit();
        // SAFETY: as in `act`; the row is read only if it was written.
        unsafe {
            let size = size_of::<ComparisonRow>();
            let done = did(
                ft_explain(self.tree, a, b, found.as_mut_ptr(), size),
                "explain",
            );
            if !done {
                return;
            }
            assert!(self.computed);
            let found = found.assume_init();
            let (a, b) = (found.a.fs_factor, found.b.fs_factor);
            let order = b.partial_cmp(&a).map_or(0, |order| order as i32);
            assert_eq!(found.order, order, "{found:?}");
        }
    }

    /// Asserts that a batch, single jobs and several threads give the same prices.
    unsafe fn price(&self, jobs: &[Job], now: u32) {
        let row = |job: &Job| JobRow {
            accrue_time: i64::from(job.accrued),
            assoc: match job.assoc % 25 {
                24 => FT_NONE,
                at => u32::from(at),
            },
            partition: match job.place[0] % 5 {
                4 => FT_NONE,
                at => u32::from(at),
            },
            qos: match job.place[1] % 5 {
                4 => FT_NONE,
                at => u32::from(at),
            },
            cpus: u32::from(job.size[0]),
            nodes: u32::from(job.size[1]),
            time_limit_mins: job.limit,
            nice: job.nice,
            tres_row: FT_NONE,
            priority: u32::from(job.priority),
            flags: u32::from(job.direct),
        };
        let rows: Vec<JobRow> = jobs.iter().take(16).map(row).collect();
        let of = |rows: &[JobRow], threads: u32| {
            let batch = BatchRow {
                struct_size: size_of::<BatchRow>(),
                job_size: size_of::<JobRow>(),
                jobs: rows.as_ptr(),
                jobs_len: rows.len(),
                site_factors: null(),
                site_factors_len: 0,
                lists: null(),
                lists_len: 0,
                list_size: 0,
                partition_lists: null(),
                partition_lists_len: 0,
                qos_lists: null(),
                qos_lists_len: 0,
                tres_counts: null(),
                tres_counts_len: 0,
                now: i64::from(now),
                mode: 0,
                threads,
            };
            let mut priorities = vec![7; rows.len()];
            // SAFETY: as in `act`.
            let status = unsafe {
                ft_jobs_price(
                    self.config,
                    self.site,
                    self.tree,
                    &batch,
                    priorities.as_mut_ptr(),
                    rows.len(),
                    null_mut(),
                    0,
                    0,
                )
            };
            did(status, "price").then_some(priorities)
        };
        let together = of(&rows, 1);
        assert_eq!(together, of(&rows, 3));
        let alone: Option<Vec<u32>> = rows
            .iter()
            .map(|row| of(std::slice::from_ref(row), 1).map(|one| one[0]))
            .collect();
        if !rows.is_empty() {
            assert_eq!(together, alone, "{rows:?}");
        }
        for (row, priority) in rows.iter().zip(together.unwrap_or_default()) {
            match (row.flags, row.priority) {
                (1, before) => assert_eq!(priority, before),
                (_, 0) => assert_eq!(priority, 0),
                _ => assert!(priority > 0, "{row:?}"),
            }
        }
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: made by `new` or `Op::Clone`, freed once.
        unsafe {
            ft_tree_free(self.tree);
            ft_config_free(self.config);
            ft_site_free(self.site);
        }
    }
}

fuzz_target!(|ops: Vec<Op>| {
    let mut world = World::new();
    for op in ops.iter().take(64) {
        world.act(op);
    }
});
