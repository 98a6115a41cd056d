//! Operations on an `ft_tree` with usage in a window, through the C ABI, compared with a list of
//! all charged periods. Buckets of a second have no edge, and rates are whole, so results must be
//! equal. In between come careless calls, changed settings, and damaged states.
#![no_main]

#[path = "capi/did.rs"]
mod did;

use std::ffi::CStr;
use std::ptr::{null, null_mut};

use arbitrary::Arbitrary;
use did::did;
use fairtree::capi::*;
use libfuzzer_sys::fuzz_target;

/// An operation of a host, careful or careless.
#[derive(Arbitrary, Debug)]
enum Op {
    Charge(Vec<Period>),
    ChargeOdd {
        row: [u8; 56],
        size: u8,
    },
    End {
        job: u8,
        end: u8,
        exit_code: u8,
    },
    EndOdd {
        job: u32,
        run: i64,
        end: u32,
        exit_code: u32,
    },
    TakeBack {
        job: u8,
    },
    Advance {
        secs: u8,
    },
    TimeOdd {
        now: i64,
    },
    Reset {
        id: u8,
    },
    SetShares {
        id: u8,
        shares: u8,
    },
    SaveAndRestore,
    RestoreOdd {
        at: u16,
        byte: u8,
    },
    RestoreCut {
        at: u16,
    },
    Clone,
    ToHalfLifeAndBack,
    PolicyOdd {
        text: Vec<u8>,
    },
    Compute,
}

/// A period of a run that ends `back` seconds ago.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Period {
    job: u8,
    assoc: u8,
    back: u8,
    secs: u8,
    cpus: u8,
}

/// Root 0 with account 1, which has users 2 and 3, and user 4.
const ROWS: [AssocRow; 5] = [
    row(0, FT_NONE, 0),
    row(1, 0, 0),
    row(2, 1, 1),
    row(3, 1, 1),
    row(4, 0, 1),
];
/// Each association and its ancestors.
const ABOVE: [&[usize]; 5] = [&[0], &[1, 0], &[2, 1, 0], &[3, 1, 0], &[4, 0]];
const ASSOC: usize = size_of::<AssocRow>();
const USE: usize = size_of::<RunUseRow>();

const START: i64 = 1_000_000;
const LENGTH: i64 = 300;
/// Time from which usage of account 1 and its users counts, if it has its own plan.
const SINCE: i64 = START + 100;
const POLICY: &CStr = c"usage = 'window:0:300'
resolution = '0:01'
counts = ['COMPLETED', 'FAILED:1:9']
";
const PLAN: &str = "[accounts.1]\nplan = 'total:1970-01-12T13:48:20'\n";

const fn row(id: u32, parent: u32, kind: u32) -> AssocRow {
    AssocRow {
        id,
        parent,
        raw_shares: 1,
        kind,
    }
}

/// A charged period; `job` is `None` after the end of its run.
#[derive(Clone, Copy, Debug)]
struct Kept {
    job: Option<u32>,
    assoc: usize,
    from: i64,
    to: i64,
    cpus: u64,
}

/// A tree with its settings, and the expected state.
struct World {
    tree: *mut TreeHandle,
    config: *mut ConfigHandle,
    now: i64,
    kept: Vec<Kept>,
    plan: bool,
}

fn must(status: i32, what: &str) {
    // SAFETY: as in `did`.
    assert!(did(status, what), "{what}: {:?}", unsafe {
        CStr::from_ptr(ft_last_error())
    });
}

/// The run of a job: few runs, so that they collide.
fn job(byte: u8) -> u32 {
    u32::from(byte % 6)
}

fn assoc(byte: u8) -> usize {
    usize::from(byte) % ROWS.len()
}

impl World {
    fn new(plan: bool) -> World {
        let mut world = World {
            tree: null_mut(),
            config: null_mut(),
            now: START,
            kept: Vec::new(),
            plan,
        };
        let mut text = POLICY.to_str().expect("UTF-8").to_owned();
        if plan {
            text += PLAN;
        }
        // SAFETY: pointers to live variables; handles are freed by `drop`.
        unsafe {
            must(ft_tree_new(START, &mut world.tree), "new");
            must(
                ft_tree_load(world.tree, ROWS.as_ptr(), ROWS.len(), ASSOC),
                "load",
            );
            must(ft_config_new(&mut world.config), "config");
            let (text, len) = (text.as_ptr().cast(), text.len());
            must(
                ft_config_load_policy(world.config, text, len, c"policy".as_ptr()),
                "policy",
            );
            must(world.configure(), "configure");
        }
        world
    }

    unsafe fn configure(&self) -> i32 {
        let names = [c"cpu".as_ptr()];
        // SAFETY: as in `act`.
        unsafe { ft_usage_configure(self.tree, self.config, c"UTC".as_ptr(), names.as_ptr(), 1) }
    }

    fn act(&mut self, op: &Op) {
        // SAFETY: handles live until `drop`; arrays are of live variables with their lengths.
        unsafe { self.call(op) };
        self.agree(op);
    }

    unsafe fn call(&mut self, op: &Op) {
        let tree = self.tree;
        // SAFETY: the caller's promise.
        unsafe {
            match *op {
                Op::Charge(ref periods) => self.charge(periods),
                Op::ChargeOdd { row, size } => {
                    let mut use_of = use_of(0, 2, START, START, 0);
                    let into: *mut RunUseRow = &mut use_of;
                    std::ptr::copy_nonoverlapping(row.as_ptr(), into.cast(), USE.min(row.len()));
                    let size = if size % 4 == 0 {
                        usize::from(size)
                    } else {
                        USE
                    };
                    let counts = [3_u64; 2];
                    let before = self.saved();
                    if did(
                        ft_usage_charge_runs(tree, &use_of, 1, size, counts.as_ptr(), 2),
                        "odd",
                    ) {
                        // Correct by chance; the model does not follow it.
                        must(
                            ft_state_restore(tree, before.as_ptr(), before.len()),
                            "back",
                        );
                    }
                    assert_eq!(before, self.saved(), "{op:?}");
                }
                Op::End {
                    job: of,
                    end,
                    exit_code,
                } => {
                    let ends = [3, 4, 5, 6, 7, 8];
                    let end = ends[usize::from(end) % ends.len()];
                    let of = job(of);
                    let mut counted = -1;
                    let status = ft_usage_end_run(
                        tree,
                        self.config,
                        of,
                        1,
                        end,
                        exit_code.into(),
                        &mut counted,
                    );
                    let known = self.kept.iter().any(|kept| kept.job == Some(of));
                    assert_eq!(did(status, "end"), known, "{op:?}");
                    let counts = end == 3 || end == 5 && [1, 9].contains(&exit_code);
                    if known {
                        assert_eq!(counted, i32::from(counts), "{op:?}");
                        self.end(of, counts);
                    }
                }
                Op::EndOdd {
                    job,
                    run,
                    end,
                    exit_code,
                } => {
                    let config = if end % 5 == 0 {
                        null()
                    } else {
                        self.config.cast_const()
                    };
                    let run = if run == 1 { 2 } else { run };
                    assert!(!did(
                        ft_usage_end_run(tree, config, job, run, end, exit_code, null_mut()),
                        "odd end"
                    ));
                }
                Op::TakeBack { job: of } => {
                    let known = self.kept.iter().any(|kept| kept.job == Some(job(of)));
                    let done = did(ft_usage_take_back(tree, job(of), 1), "take back");
                    assert_eq!(done, known, "{op:?}");
                    self.end(job(of), false);
                }
                Op::Advance { secs } => {
                    self.now += i64::from(secs);
                    let zone = c"UTC".as_ptr();
                    must(
                        ft_usage_advance(tree, self.config, self.now, zone, null_mut()),
                        "advance",
                    );
                }
                Op::TimeOdd { now } => {
                    // Not beyond the list's time: only earlier times, and invalid ones.
                    let now = if now > self.now {
                        i64::MAX - now % 1_000
                    } else {
                        now
                    };
                    did(
                        ft_usage_advance(tree, self.config, now, null(), null_mut()),
                        "odd time",
                    );
                }
                Op::Reset { id } => {
                    let at = assoc(id);
                    if did(ft_usage_reset(tree, at as u32), "reset") {
                        self.kept.retain(|kept| !ABOVE[kept.assoc].contains(&at));
                    }
                }
                Op::SetShares { id, shares } => {
                    must(
                        ft_tree_set_shares(tree, assoc(id) as u32, shares.into()),
                        "shares",
                    );
                }
                Op::SaveAndRestore => {
                    let bytes = self.saved();
                    must(
                        ft_state_restore(tree, bytes.as_ptr(), bytes.len()),
                        "restore",
                    );
                    assert_eq!(bytes, self.saved(), "saved again");
                }
                Op::RestoreOdd { at, byte } => {
                    let mut bytes = self.saved();
                    let at = usize::from(at) % bytes.len();
                    bytes[at] ^= byte.max(1);
                    assert!(
                        !did(
                            ft_state_restore(tree, bytes.as_ptr(), bytes.len()),
                            "damaged"
                        ),
                        "byte {at} of a state may be changed"
                    );
                }
                Op::RestoreCut { at } => {
                    let bytes = self.saved();
                    let len = usize::from(at) % bytes.len();
                    assert!(!did(ft_state_restore(tree, bytes.as_ptr(), len), "cut"));
                }
                Op::Clone => {
                    let mut copy = null_mut();
                    must(ft_tree_clone(tree, &mut copy), "clone");
                    ft_tree_free(tree);
                    self.tree = copy;
                }
                Op::ToHalfLifeAndBack => {
                    let mut other = null_mut();
                    must(ft_config_new(&mut other), "config");
                    let zone = c"UTC".as_ptr();
                    must(
                        ft_usage_configure(tree, other, zone, null(), 0),
                        "half-life",
                    );
                    let mut usage = [0.0; 5];
                    must(
                        ft_usage_read(tree, UsageKind::FT_USAGE_RAW as u32, usage.as_mut_ptr(), 5),
                        "read",
                    );
                    assert_eq!(usage, self.used(|cpus| 2 * cpus), "kept on the way");
                    ft_config_free(other);
                    must(self.configure(), "back");
                    self.kept.clear();
                }
                Op::PolicyOdd { ref text } => {
                    let mut other = null_mut();
                    must(ft_config_new(&mut other), "config");
                    let name = c"odd".as_ptr();
                    let (text, len) = (text.as_ptr().cast(), text.len());
                    did(ft_config_load_policy(other, text, len, name), "odd policy");
                    ft_config_free(other);
                }
                Op::Compute => must(ft_fairshare_compute(tree, self.config), "compute"),
            }
        }
    }

    /// Charges all periods or, if one is wrong, none.
    unsafe fn charge(&mut self, periods: &[Period]) {
        let mut kept = self.kept.clone();
        let (mut uses, mut counts, mut clash) = (Vec::new(), Vec::new(), false);
        for (at, period) in periods.iter().take(8).enumerate() {
            let (job, assoc) = (job(period.job), assoc(period.assoc));
            let to = self.now - i64::from(period.back);
            let from = to - i64::from(period.secs);
            uses.push(use_of(job, assoc, from, to, u64::from(period.cpus)));
            uses[at].tres_row = at as u32;
            counts.push(u64::from(period.cpus));
            clash |= kept.iter().any(|kept| {
                let meets = kept.from.max(from) < kept.to.min(to);
                kept.job == Some(job) && (kept.assoc != assoc || meets)
            });
            if from < to && !clash {
                kept.push(Kept {
                    job: Some(job),
                    assoc,
                    from,
                    to,
                    cpus: u64::from(period.cpus),
                });
            }
        }
        let before = clash.then(|| self.saved());
        // SAFETY: as in `act`.
        let status = unsafe {
            ft_usage_charge_runs(
                self.tree,
                uses.as_ptr(),
                uses.len(),
                USE,
                counts.as_ptr(),
                counts.len(),
            )
        };
        let charged = did(status, "charge");
        // SAFETY: as in `did`.
        let said = unsafe { CStr::from_ptr(ft_last_error()) };
        assert_eq!(charged, !clash, "{said:?}: {periods:?}: {:?}", self.kept);
        match before {
            Some(before) => assert_eq!(before, self.saved(), "{periods:?}"),
            None => self.kept = kept,
        }
    }

    fn end(&mut self, job: u32, counts: bool) {
        let of_run = |kept: &Kept| kept.job == Some(job);
        if !counts {
            self.kept.retain(|kept| !of_run(kept));
        }
        for kept in self.kept.iter_mut().filter(|kept| of_run(kept)) {
            kept.job = None;
        }
    }

    fn saved(&self) -> Vec<u8> {
        let mut size = 0;
        // SAFETY: as in `act`.
        unsafe {
            must(ft_state_size(self.tree, &mut size), "size");
            let mut bytes = vec![0; size];
            must(ft_state_save(self.tree, bytes.as_mut_ptr(), size), "save");
            bytes
        }
    }

    /// Usage of each association, from the list.
    fn used(&self, rate: impl Fn(u64) -> u64) -> [f64; 5] {
        let mut used = [0.0; 5];
        for kept in &self.kept {
            for &at in ABOVE[kept.assoc] {
                let since = if self.plan && ABOVE[at].contains(&1) {
                    SINCE
                } else {
                    self.now - LENGTH
                };
                let secs = (kept.to.min(self.now) - kept.from.max(since)).max(0);
                used[at] += (secs as u64 * rate(kept.cpus)) as f64;
            }
        }
        used
    }

    fn agree(&self, op: &Op) {
        let quantities = [
            (
                QuantityKind::FT_QUANTITY_BILLING,
                self.used(|cpus| 2 * cpus),
            ),
            (QuantityKind::FT_QUANTITY_WALL, self.used(|_| 1)),
            (QuantityKind::FT_QUANTITY_TRES, self.used(|cpus| cpus)),
        ];
        for (quantity, expected) in quantities {
            let mut usage = [-1.0; 5];
            // SAFETY: as in `act`.
            let status =
                unsafe { ft_usage_quantity(self.tree, quantity as u32, 0, usage.as_mut_ptr(), 5) };
            must(status, "quantity");
            assert_eq!(
                usage, expected,
                "{quantity:?} after {op:?}: {:?}",
                self.kept
            );
        }
    }
}

/// A period of a run; billing is twice its CPUs.
fn use_of(job: u32, assoc: usize, from: i64, to: i64, cpus: u64) -> RunUseRow {
    RunUseRow {
        assoc: assoc as u32,
        job,
        run: 1,
        from,
        to,
        tres: 2.0 * cpus as f64,
        usage_factor: 1.0,
        tres_row: 0,
        reserved: 0,
    }
}

impl Drop for World {
    fn drop(&mut self) {
        // SAFETY: made by `new` or `Op::Clone`, freed once.
        unsafe {
            ft_tree_free(self.tree);
            ft_config_free(self.config);
        }
    }
}

fuzz_target!(|input: (bool, Vec<Op>)| {
    let (plan, ops) = input;
    let mut world = World::new(plan);
    for op in ops.iter().take(64) {
        world.act(op);
    }
});
