//! Properties of `ft_queue` and `ft_on_demand` for any calls, also with extreme arguments: a call
//! that fails changes nothing, and what is saved is restored. The bytes of `_save` are compared
//! before and after each call that fails.

#[path = "../../tests/common/random.rs"]
mod random;

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::mem::size_of;
use std::ptr::{null, null_mut};

use super::*;
use random::Random;

const MOMENTS: [i64; 9] = [
    i64::MIN,
    i64::MIN + 1,
    -1,
    0,
    1,
    1_000_000,
    i64::MAX / 2,
    i64::MAX - 1,
    i64::MAX,
];
const NUMBERS: [u64; 5] = [0, 1, 1_000_000, u64::MAX / 2, u64::MAX];
const MACHINES: [&CStr; 3] = [c"m", c"n", c"nowhere"];

/// Draws arguments: mostly of the present, so that much succeeds, and else extreme ones.
struct Draw {
    random: Random,
    now: i64,
}

impl Draw {
    fn new(case: u64) -> Draw {
        let mut random = Random::new(case + 1);
        let at = random.below(MOMENTS.len() as u64) as usize;
        Draw {
            now: MOMENTS[at],
            random,
        }
    }

    fn below(&mut self, limit: u64) -> u64 {
        self.random.below(limit)
    }

    fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    fn moment(&mut self) -> i64 {
        match self.below(12) {
            0 => self.one(&MOMENTS),
            1 => self.now.saturating_sub(1_500_000),
            _ => {
                self.now = self
                    .now
                    .saturating_add(self.random.below(3) as i64 * 500_000);
                self.now
            }
        }
    }

    fn length(&mut self) -> i64 {
        match self.below(4) {
            0 => self.one(&MOMENTS),
            _ => self.below(4) as i64 * 500_000,
        }
    }

    fn number(&mut self) -> u64 {
        self.one(&NUMBERS)
    }

    fn small(&mut self) -> u32 {
        self.one(&[0, 1, 1, 2, 3, u32::MAX])
    }

    fn machine(&mut self) -> *const std::ffi::c_char {
        let at = self.below(10) as usize;
        MACHINES[if at == 9 { 2 } else { at % 2 }].as_ptr()
    }
}

/// One kind of queue: how it is called, saved and restored.
trait Kind {
    type Handle;

    fn new(draw: &mut Draw) -> Self;
    fn handle(&self) -> *mut Self::Handle;
    /// Calls a function by chance; its name and status.
    fn call(&self, draw: &mut Draw) -> (&'static str, i32);
    fn save(&self, bytes: *mut u8, len: usize, found: &mut usize) -> i32;
    fn restore(bytes: &[u8], to: &mut *mut Self::Handle) -> i32;
    fn free(handle: *mut Self::Handle);
}

fn saved<K: Kind>(kind: &K) -> Vec<u8> {
    let mut found = 0;
    assert_eq!(kind.save(null_mut(), 0, &mut found), 0);
    let mut bytes = vec![0; found];
    assert_eq!(kind.save(bytes.as_mut_ptr(), bytes.len(), &mut found), 0);
    bytes
}

/// Makes calls, and returns how often each function succeeded and failed.
fn play<K: Kind>(cases: u64) -> BTreeMap<&'static str, [u32; 2]> {
    let mut seen: BTreeMap<&str, [u32; 2]> = BTreeMap::new();
    for case in 0..cases {
        let mut draw = Draw::new(case);
        let kind = K::new(&mut draw);
        for step in 0..80 {
            let before = saved(&kind);
            let (name, status) = kind.call(&mut draw);
            // SAFETY: the string lives until this thread's next call.
            let why = unsafe { CStr::from_ptr(ft_last_error()) }.to_owned();
            let at = format!("case {case}, step {step}: {name}: {status} {why:?}");
            assert_ne!(status, Status::FT_ERR_PANIC as i32, "{at}");
            seen.entry(name).or_default()[usize::from(status < 0)] += 1;
            let after = saved(&kind);
            if status < 0 {
                assert!(before == after, "{at}");
            }
            let mut restored = null_mut();
            let status = K::restore(&after, &mut restored);
            // SAFETY: the string lives until this thread's next call.
            let why = unsafe { CStr::from_ptr(ft_last_error()) };
            assert_eq!(status, 0, "{at}: {why:?}");
            K::free(restored);
        }
        K::free(kind.handle());
    }
    seen
}

/// Every function both succeeded and failed, except those of which `never` says that it cannot.
fn assert_all_seen(seen: &BTreeMap<&str, [u32; 2]>, never: &[&str]) {
    for (name, [succeeded, failed]) in seen {
        assert!(*succeeded > 0, "{name}: {seen:?}");
        assert_eq!(*failed == 0, never.contains(name), "{name}: {seen:?}");
    }
}

struct Shares(*mut QueueHandle);

/// A root, an account that competes, one below it, and a user that shares as its parent does.
fn tree(shares: u32) -> *mut TreeHandle {
    let row = |id, parent, raw_shares| AssocRow {
        id,
        parent,
        raw_shares,
        kind: 0,
    };
    let rows = [
        row(1, FT_NONE, 1),
        row(2, 1, shares),
        row(3, 1, 2),
        row(4, 2, FT_SHARES_PARENT),
    ];
    let mut tree = null_mut();
    // SAFETY: pointers to live variables.
    unsafe {
        assert_eq!(ft_tree_new(0, &mut tree), 0);
        let loaded = ft_tree_load(tree, rows.as_ptr(), rows.len(), size_of::<AssocRow>());
        assert_eq!(loaded, 0);
    }
    tree
}

fn settings(draw: &mut Draw) -> QueueSettingsRow {
    QueueSettingsRow {
        struct_size: size_of::<QueueSettingsRow>(),
        level: draw.one(&[0, 1, 2]),
        choice: draw.one(&[0, 1]),
        counting: draw.one(&[1, 2, 2]),
        users_compete: draw.one(&[0, 1]),
        counting_micros: draw.one(&[1, 1_000_000, i64::MAX]),
        capacity: draw.one(&[1, u64::MAX]),
        outcomes: null(),
        accounts: null(),
        accounts_len: 0,
        account_size: 0,
    }
}

impl Kind for Shares {
    type Handle = QueueHandle;

    fn new(draw: &mut Draw) -> Shares {
        let mut settings = settings(draw);
        if settings.counting == 2 {
            settings.counting_micros = i64::MIN;
        }
        let (tree, mut queue) = (tree(1), null_mut());
        // SAFETY: live handles and variables.
        unsafe {
            let made = ft_queue_new(tree, &settings, draw.now, &mut queue);
            assert_eq!(made, 0);
            ft_tree_free(tree);
            assert_eq!(ft_queue_add_machine(queue, MACHINES[0].as_ptr(), 2), 0);
        }
        Shares(queue)
    }

    fn handle(&self) -> *mut QueueHandle {
        self.0
    }

    fn call(&self, draw: &mut Draw) -> (&'static str, i32) {
        let queue = self.0;
        let (job, machine) = (draw.below(6), draw.machine());
        let assoc = draw.below(6) as u32;
        let (mut found, mut what, mut id) = (0, 0, 0);
        let room = draw.one(&[0, 1, 64]);
        let end = draw.one(&[3, 3, 5, 99]);
        let code = draw.one(&[0, 0, 256]);
        let mut told = Vec::with_capacity(1);
        let (bill, size) = match draw.below(6) {
            0 => (null_mut(), 0),
            1 => (null_mut(), size_of::<FinishedRow>()),
            _ => (told.as_mut_ptr(), size_of::<FinishedRow>()),
        };
        // SAFETY: a live handle, terminated strings, and memory of the lengths that are passed.
        unsafe {
            match draw.below(26) {
                0 => (
                    "add_machine",
                    ft_queue_add_machine(queue, machine, draw.small()),
                ),
                1 => {
                    let paused = draw.one(&[0, 0, 1, 2]);
                    ("set_paused", ft_queue_set_paused(queue, machine, paused))
                }
                2..5 => {
                    let row = QueueJobRow {
                        struct_size: size_of::<QueueJobRow>(),
                        id: job,
                        assoc,
                        rate: draw.small(),
                        machine,
                        submit_micros: draw.moment(),
                        nice: draw.one(&MOMENTS),
                        expected_micros: draw.number(),
                        limit_micros: draw.number(),
                    };
                    ("add_job", ft_queue_add_job(queue, &row))
                }
                5 => {
                    let now = draw.moment();
                    let next = ft_queue_next(queue, machine, now, &mut what, &mut id);
                    ("next", next)
                }
                6 | 7 => ("start", ft_queue_start(queue, job, draw.moment())),
                8 | 9 => {
                    let (executed, now) = (draw.length(), draw.moment());
                    let ended = ft_queue_finish(queue, job, end, code, executed, now, bill, size);
                    ("finish", ended)
                }
                10 => {
                    let (executed, now) = (draw.length(), draw.moment());
                    let ended = ft_queue_requeue(queue, job, end, code, executed, now, bill, size);
                    ("requeue", ended)
                }
                11 => ("cancel", ft_queue_cancel(queue, job)),
                12 => {
                    let (mut jobs, now) = (vec![0; room], draw.moment());
                    let order = ft_queue_positions(
                        queue,
                        machine,
                        now,
                        jobs.as_mut_ptr(),
                        room,
                        &mut found,
                    );
                    ("positions", order)
                }
                13 => {
                    let (mut rows, now) = (Vec::with_capacity(room), draw.moment());
                    let size = size_of::<EstimateRow>();
                    let rows = rows.as_mut_ptr();
                    let foretold =
                        ft_queue_estimate(queue, machine, now, rows, room, size, &mut found);
                    ("estimate", foretold)
                }
                14 => {
                    let mut row = [StandingRow {
                        used: 0,
                        used_high: 0,
                        entitled: 0.0,
                        ratio: 0.0,
                    }];
                    let size = size_of::<StandingRow>();
                    let now = draw.moment();
                    let stands = ft_queue_standing(queue, assoc, now, row.as_mut_ptr(), size);
                    ("standing", stands)
                }
                15 => {
                    let (mut rows, now) = (Vec::with_capacity(room), draw.moment());
                    let (rows, size) = (rows.as_mut_ptr(), size_of::<HeldJobRow>());
                    let held = ft_queue_jobs(queue, now, rows, room, size, &mut found);
                    ("jobs", held)
                }
                16 => {
                    let mut rows = Vec::with_capacity(room);
                    let (rows, size) = (rows.as_mut_ptr(), size_of::<QueueMachineRow>());
                    let listed = ft_queue_machines(queue, rows, room, size, &mut found);
                    ("machines", listed)
                }
                17 => {
                    let mut text = Vec::with_capacity(room);
                    let number = draw.below(4) as u32;
                    let text = text.as_mut_ptr();
                    let named = ft_queue_machine_name(queue, number, text, room, &mut found);
                    ("machine_name", named)
                }
                18 => {
                    let (mut rows, now) = (Vec::with_capacity(room), draw.moment());
                    let (rows, size) = (rows.as_mut_ptr(), size_of::<AssocStandingRow>());
                    let found_all = ft_queue_standings(queue, now, rows, room, size, &mut found);
                    ("standings", found_all)
                }
                19 => {
                    let shares = draw.one(&[0, 1, FT_SHARES_PARENT, u32::MAX]);
                    ("set_shares", ft_queue_set_shares(queue, assoc, shares))
                }
                20 => {
                    let (has, minutes) = (draw.below(2) as u32, draw.one(&[0, 0, 5, u64::MAX]));
                    let set = ft_queue_set_minutes(queue, assoc, has, minutes);
                    ("set_minutes", set)
                }
                21 => (
                    "set_slots",
                    ft_queue_set_slots(queue, machine, draw.small()),
                ),
                22 => ("remove_machine", ft_queue_remove_machine(queue, machine)),
                23 => {
                    let names = [machine, MACHINES[0].as_ptr()];
                    let count = draw.below(3) as usize;
                    ("bind", ft_queue_bind(queue, assoc, names.as_ptr(), count))
                }
                24 => {
                    let limit = draw.number();
                    let set = ft_queue_set_default_limit(queue, machine, limit);
                    ("set_default_limit", set)
                }
                _ => {
                    let tree = tree(draw.one(&[0, 1, FT_SHARES_PARENT]));
                    let changed = ft_queue_change(queue, tree, &settings(draw));
                    ft_tree_free(tree);
                    ("change", changed)
                }
            }
        }
    }

    fn save(&self, bytes: *mut u8, len: usize, found: &mut usize) -> i32 {
        // SAFETY: a live handle, and memory of that length.
        unsafe { ft_queue_save(self.0, bytes, len, found) }
    }

    fn restore(bytes: &[u8], to: &mut *mut QueueHandle) -> i32 {
        // SAFETY: readable bytes, and a pointer to a live variable.
        unsafe { ft_queue_restore(bytes.as_ptr(), bytes.len(), to) }
    }

    fn free(handle: *mut QueueHandle) {
        // SAFETY: a live handle that is not used again.
        unsafe { ft_queue_free(handle) }
    }
}

struct FirstCome(*mut OnDemandHandle);

impl Kind for FirstCome {
    type Handle = OnDemandHandle;

    fn new(draw: &mut Draw) -> FirstCome {
        let mut queue = null_mut();
        // SAFETY: pointers to live variables.
        unsafe {
            assert_eq!(ft_on_demand_new(null(), draw.now, &mut queue), 0);
            let (limit, price) = (draw.one(&[0, 0, 2, u32::MAX]), draw.number());
            for machine in &MACHINES[..2] {
                let added = ft_on_demand_add_machine(queue, machine.as_ptr(), limit, price, price);
                assert_eq!(added, 0);
            }
        }
        FirstCome(queue)
    }

    fn handle(&self) -> *mut OnDemandHandle {
        self.0
    }

    fn call(&self, draw: &mut Draw) -> (&'static str, i32) {
        let queue = self.0;
        let (job, machine) = (draw.below(6), draw.machine());
        let account = draw.one(&[1, 1, 1, 1, 1, 2, FT_NONE]);
        let (mut found, mut what, mut id) = (0, 0, 0);
        let room = draw.one(&[0, 1, 64]);
        let end = draw.one(&[3, 3, 5, 99]);
        let code = draw.one(&[0, 0, 256]);
        let mut told = Vec::with_capacity(1);
        let (bill, size) = match draw.below(6) {
            0 => (null_mut(), 0),
            1 => (null_mut(), size_of::<FinishedRow>()),
            _ => (told.as_mut_ptr(), size_of::<FinishedRow>()),
        };
        // SAFETY: a live handle, terminated strings, and memory of the lengths that are passed.
        unsafe {
            match draw.below(30) {
                0 => {
                    let paused = draw.one(&[0, 0, 1, 2]);
                    let set = ft_on_demand_set_paused(queue, machine, paused);
                    ("set_paused", set)
                }
                1 => (
                    "limit_account",
                    ft_on_demand_limit_account(queue, account, draw.small()),
                ),
                2..5 => {
                    let start = draw.moment().saturating_add(draw.length());
                    let end = start.saturating_add(draw.below(4) as i64 * 1_000_000);
                    let end = draw.one(&[end, end, i64::MAX]);
                    let now = draw.moment();
                    let id = draw.below(4);
                    let made = ft_on_demand_reserve(queue, id, machine, account, start, end, now);
                    ("reserve", made)
                }
                5 => {
                    let (id, now) = (draw.below(4), draw.moment());
                    let cancelled = ft_on_demand_cancel_reservation(queue, id, now);
                    ("cancel_reservation", cancelled)
                }
                6 => ("advance", ft_on_demand_advance(queue, draw.moment())),
                7..10 => {
                    let parts = [1, 2];
                    let row = OnDemandJobRow {
                        struct_size: size_of::<OnDemandJobRow>(),
                        id: job,
                        account,
                        reserved: 0,
                        machine,
                        parts: parts.as_ptr(),
                        parts_len: draw.below(3) as usize,
                        expected_micros: draw.number(),
                    };
                    let mut told = [SubmittedRow {
                        in_reservation: 0,
                        must_halt: 0,
                        halt: 0,
                    }];
                    let (now, size) = (draw.moment(), size_of::<SubmittedRow>());
                    let submitted = ft_on_demand_submit(queue, &row, now, told.as_mut_ptr(), size);
                    ("submit", submitted)
                }
                10 => {
                    let now = draw.moment();
                    let next = ft_on_demand_next(queue, machine, now, &mut what, &mut id);
                    ("next", next)
                }
                11 | 12 => ("start", ft_on_demand_start(queue, job, draw.moment())),
                13 => ("halted", ft_on_demand_halted(queue, job, draw.moment())),
                14 => {
                    let (executed, now) = (draw.one(&[0, 0, 500_000, i64::MAX]), draw.moment());
                    let ended =
                        ft_on_demand_finish(queue, job, end, code, executed, now, bill, size);
                    ("finish", ended)
                }
                15 => ("cancel", ft_on_demand_cancel(queue, job, draw.moment())),
                16 => {
                    let (mut jobs, now) = (vec![0; room], draw.moment());
                    let jobs = jobs.as_mut_ptr();
                    let order = ft_on_demand_positions(queue, machine, now, jobs, room, &mut found);
                    ("positions", order)
                }
                17 => {
                    let mut rows = Vec::with_capacity(room);
                    let (now, size) = (draw.moment(), size_of::<EstimateRow>());
                    let rows = rows.as_mut_ptr();
                    let foretold =
                        ft_on_demand_estimate(queue, machine, now, rows, room, size, &mut found);
                    ("estimate", foretold)
                }
                18 => {
                    let mut rows = Vec::with_capacity(room);
                    let size = size_of::<RefusedRow>();
                    let (now, size) = (draw.moment(), draw.one(&[4, size, size]));
                    let rows = rows.as_mut_ptr();
                    let told = ft_on_demand_take_refused(queue, now, rows, room, size, &mut found);
                    ("take_refused", told)
                }
                19 => {
                    let (mut rows, now) = (Vec::with_capacity(room), draw.moment());
                    let (rows, size) = (rows.as_mut_ptr(), size_of::<HeldJobRow>());
                    let held = ft_on_demand_jobs(queue, now, rows, room, size, &mut found);
                    ("jobs", held)
                }
                20 => {
                    let mut rows = Vec::with_capacity(room);
                    let (rows, size) = (rows.as_mut_ptr(), size_of::<OnDemandMachineRow>());
                    let listed = ft_on_demand_machines(queue, rows, room, size, &mut found);
                    ("machines", listed)
                }
                21 => {
                    let mut text = Vec::with_capacity(room);
                    let number = draw.below(4) as u32;
                    let text = text.as_mut_ptr();
                    let named = ft_on_demand_machine_name(queue, number, text, room, &mut found);
                    ("machine_name", named)
                }
                22 => {
                    let (mut rows, now) = (Vec::with_capacity(room), draw.moment());
                    let size = draw.one(&[8, size_of::<ReservationRow>()]);
                    let rows = rows.as_mut_ptr();
                    let listed =
                        ft_on_demand_reservations(queue, now, rows, room, size, &mut found);
                    ("reservations", listed)
                }
                23 => {
                    let (price, now) = (draw.number(), draw.moment());
                    let set = ft_on_demand_set_prices(queue, machine, price, price, now);
                    ("set_prices", set)
                }
                24 => {
                    let limit = draw.small();
                    let set = ft_on_demand_limit_machine(queue, machine, limit);
                    ("limit_machine", set)
                }
                25 => {
                    let now = draw.moment();
                    let removed = ft_on_demand_remove_machine(queue, machine, now);
                    if removed == 0 {
                        let added = ft_on_demand_add_machine(queue, machine, u32::MAX, 1, 2);
                        assert_eq!(added, 0);
                    }
                    ("remove_machine", removed)
                }
                26 | 27 => {
                    let (id, now) = (draw.below(4), draw.moment());
                    let end = now.saturating_add(draw.length());
                    let set = ft_on_demand_set_reservation_end(queue, id, end, now);
                    ("set_reservation_end", set)
                }
                28 => {
                    let names = [machine, MACHINES[0].as_ptr()];
                    let count = draw.one(&[0, 0, 1, 2]);
                    let bound = ft_on_demand_bind(queue, account, names.as_ptr(), count);
                    ("bind", bound)
                }
                _ if draw.below(2) == 0 => {
                    let limit = draw.number();
                    let set = ft_on_demand_set_default_limit(queue, machine, limit);
                    ("set_default_limit", set)
                }
                _ => {
                    let mut rows = Vec::with_capacity(room);
                    let (from, to) = (draw.one(&MOMENTS), draw.one(&MOMENTS));
                    let rows = rows.as_mut_ptr();
                    let size = draw.one(&[8, size_of::<BillRow>(), size_of::<BillRow>()]);
                    let told = ft_on_demand_bills(queue, from, to, rows, room, size, &mut found);
                    ("bills", told)
                }
            }
        }
    }

    fn save(&self, bytes: *mut u8, len: usize, found: &mut usize) -> i32 {
        // SAFETY: a live handle, and memory of that length.
        unsafe { ft_on_demand_save(self.0, bytes, len, found) }
    }

    fn restore(bytes: &[u8], to: &mut *mut OnDemandHandle) -> i32 {
        // SAFETY: readable bytes, and a pointer to a live variable.
        unsafe { ft_on_demand_restore(bytes.as_ptr(), bytes.len(), to) }
    }

    fn free(handle: *mut OnDemandHandle) {
        // SAFETY: a live handle that is not used again.
        unsafe { ft_on_demand_free(handle) }
    }
}

#[test]
fn a_failed_call_changes_no_queue_and_what_is_saved_is_restored() {
    let seen = play::<Shares>(250);
    assert_all_seen(&seen, &[]);
}

#[test]
fn a_failed_call_changes_no_on_demand_queue_and_what_is_saved_is_restored() {
    let seen = play::<FirstCome>(250);
    assert_all_seen(&seen, &["limit_account", "advance"]);
}
