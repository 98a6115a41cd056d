//! Safe wrappers of the shim: locks as guards, settings as owned strings, the log.

use crate::config::HostConfig;
use crate::extended::Extended;
use crate::fairshare::HostMath;
use crate::priority::TimeLimit;
use crate::usage::window::LeafKey;
use std::collections::HashMap;
use std::ffi::{CStr, CString, OsStr, c_char, c_void};
use std::marker::PhantomData;
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

#[allow(non_camel_case_types, non_upper_case_globals, missing_docs, dead_code)]
#[allow(clippy::all, clippy::undocumented_unsafe_blocks)]
pub(in crate::slurm) mod ffi {
    include!(concat!(env!("OUT_DIR"), "/shim.rs"));
}

include!(concat!(env!("OUT_DIR"), "/release.rs"));

impl ffi::shim_waiting {
    /// Returns true if this flag of `shim_waiting_flag` is set.
    pub(in crate::slurm) fn is(&self, flag: ffi::shim_waiting_flag) -> bool {
        u32::from(self.flags) & flag != 0
    }

    /// The time limit.
    pub(in crate::slurm) fn limit(&self) -> TimeLimit {
        time_limit(
            self.time_limit,
            self.is(ffi::SHIM_TIME_LIMIT_INFINITE),
            self.is(ffi::SHIM_TIME_LIMIT_UNSET),
        )
    }
}

impl ffi::shim_assoc {
    /// Raw usage; `None` if it is not a number.
    pub(in crate::slurm) fn usage(&self) -> Option<Extended> {
        Extended::from_x87(self.usage_mantissa, self.usage_sign_exponent)
    }
}

/// `SHIM_NONE`: no row, no index.
pub(in crate::slurm) const NONE: u32 = u32::MAX;

/// Seconds since 1970, from the same function of the C library that slurmctld uses.
pub(in crate::slurm) fn now() -> i64 {
    // SAFETY: time(NULL) writes nowhere and cannot fail.
    unsafe { libc::time(std::ptr::null_mut()) }
}

pub(in crate::slurm) fn extended(value: ffi::shim_extended) -> Option<Extended> {
    Extended::from_x87(value.mantissa, value.sign_exponent)
}

pub(in crate::slurm) fn shim_extended(value: Extended) -> ffi::shim_extended {
    let (mantissa, sign_exponent) = value.to_x87();
    ffi::shim_extended {
        mantissa,
        sign_exponent,
    }
}

/// The same for the quotient of two usages: 0 divided by a negative number is negative zero.
pub(in crate::slurm) fn shim_quotient(
    value: Extended,
    below: impl Fn() -> bool,
) -> ffi::shim_extended {
    let mut number = shim_extended(value);
    if value.is_zero() && below() {
        number.sign_exponent |= 0x8000;
    }
    number
}

/// Converts a `long double` of a record; 0 if it is not a number.
pub(in crate::slurm) fn number(value: ffi::shim_extended) -> Extended {
    extended(value).unwrap_or(Extended::ZERO)
}

/// The C library's own logarithm, which stock calls.
pub(in crate::slurm) fn math() -> HostMath {
    HostMath {
        // SAFETY: a function of numbers.
        logl: |value| number(unsafe { ffi::shim_logl(shim_extended(value)) }),
        ..HostMath::default()
    }
}

pub(in crate::slurm) fn time_limit(minutes: u32, infinite: bool, unset: bool) -> TimeLimit {
    match (infinite, unset) {
        (true, _) => TimeLimit::Unlimited,
        (_, true) => TimeLimit::Unset,
        _ => TimeLimit::Minutes(minutes),
    }
}

macro_rules! questions {
    ($($(#[$meta:meta])* $name:ident = $shim:ident;)*) => {$(
        $(#[$meta])*
        pub(in crate::slurm) fn $name() -> bool {
            // SAFETY: the shim reads one global of the process; no lock is needed for it.
            unsafe { ffi::$shim() }
        }
    )*};
}

questions! {
    /// False in sshare, which also loads the plugin.
    in_slurmctld = shim_in_slurmctld;
    /// True if slurmctld is about to save its state and then to end, restart or become the backup.
    /// If one of its locks is held when it checks, it saves nothing (`report_locks_set`).
    is_ending = shim_is_ending;
    has_slurmdbd = shim_has_slurmdbd;
    /// False while slurmctld has no associations.
    has_root = shim_has_root;
    enforces_limits = shim_enforces_limits;
    debug_priority = shim_debug_priority;
    /// Loads the site factor plugin, which the priority plugin owns.
    site_init = shim_site_init;
}

/// slurmctld's files in `StateSaveLocation` for its federation, reservations and triggers. Besides
/// those of usage, these are the files that it first writes after an event, or after minutes.
pub(in crate::slurm) const FIRST_STATES: [&str; 3] =
    ["fed_mgr_state", "resv_state", "trigger_state"];

/// Version number at the beginning of slurmctld's files.
pub(in crate::slurm) fn protocol_version() -> u16 {
    // SAFETY: a number.
    unsafe { ffi::shim_protocol_version() }
}

/// Makes slurmctld save the files that its next start needs. Its own thread saves reservations and
/// triggers, a few seconds later. The federation is copied under its read lock, and written without
/// a lock.
pub(in crate::slurm) fn save_first_states() {
    // SAFETY: the caller holds no lock of slurmctld.
    unsafe { ffi::shim_first_states_save() }
}

/// Sets the root's effective usage to 1: the first pricing of a job may read it.
pub(in crate::slurm) fn root_uses_all() {
    // SAFETY: called from init, before usage is read; init may be called with locks held, so none
    // is taken.
    unsafe { ffi::shim_root_uses_all() }
}

pub(in crate::slurm) fn site_fini() {
    // SAFETY: called once, from fini, after the thread has ended.
    unsafe { ffi::shim_site_fini() }
}

pub(in crate::slurm) fn site_reconfig() {
    // SAFETY: the site factor plugin is loaded from init to fini.
    unsafe { ffi::shim_site_reconfig() }
}

/// Takes the job write lock.
pub(in crate::slurm) fn site_update() {
    // SAFETY: as above; the caller holds no lock.
    unsafe { ffi::shim_site_update() }
}

/// slurm.conf's settings as held by slurmctld, with our own copies of strings.
pub(in crate::slurm) struct HostSettings {
    pub(in crate::slurm) numbers: ffi::shim_settings,
    pub(in crate::slurm) priority_params: String,
    pub(in crate::slurm) priority_weight_tres: String,
    pub(in crate::slurm) state_save_location: PathBuf,
    pub(in crate::slurm) cluster_name: String,
}

impl HostSettings {
    /// The priority settings.
    pub(in crate::slurm) fn config(&self) -> HostConfig<'_> {
        let n = &self.numbers;
        HostConfig {
            priority_weight_age: n.priority_weight_age,
            priority_weight_assoc: n.priority_weight_assoc,
            priority_weight_fs: n.priority_weight_fs,
            priority_weight_js: n.priority_weight_js,
            priority_weight_part: n.priority_weight_part,
            priority_weight_qos: n.priority_weight_qos,
            priority_weight_tres: &self.priority_weight_tres,
            priority_max_age: n.priority_max_age,
            priority_favor_small: n.priority_favor_small,
            priority_flags: n.priority_flags,
            priority_decay_hl: n.priority_decay_hl,
            priority_reset_period: n.priority_reset_period,
            priority_calc_period: n.priority_calc_period,
            fs_dampening_factor: n.fs_dampening_factor,
            priority_params: &self.priority_params,
        }
    }
}

/// Copies the settings. `locked`: true if the caller's hook was called without locks, so that a
/// read lock must be taken.
pub(in crate::slurm) fn settings(locked: bool) -> HostSettings {
    let mut numbers = ffi::shim_settings::default();
    // SAFETY: the strings that `numbers` points to are valid as long as the configuration does
    // not change: under the read lock, or under the write lock that the caller of the hook holds,
    // or (init) before there are other threads. They are copied before that ends.
    unsafe {
        if locked {
            ffi::shim_settings_lock();
        }
        ffi::shim_settings_read(&mut numbers);
        let settings = HostSettings {
            priority_params: text(numbers.priority_params),
            priority_weight_tres: text(numbers.priority_weight_tres),
            state_save_location: path(numbers.state_save_location),
            cluster_name: text(numbers.cluster_name),
            numbers: ffi::shim_settings {
                priority_params: std::ptr::null(),
                priority_weight_tres: std::ptr::null(),
                state_save_location: std::ptr::null(),
                cluster_name: std::ptr::null(),
                ..numbers
            },
        };
        if locked {
            ffi::shim_settings_unlock();
        }
        settings
    }
}

/// # Safety
/// `text` is NULL or a NUL-terminated string.
unsafe fn bytes<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return &[];
    }
    // SAFETY: the caller's promise.
    unsafe { CStr::from_ptr(text) }.to_bytes()
}

/// # Safety
/// As [`bytes`].
unsafe fn text(text: *const c_char) -> String {
    // SAFETY: the caller's promise.
    String::from_utf8_lossy(unsafe { bytes(text) }).into_owned()
}

/// # Safety
/// As [`bytes`].
unsafe fn path(text: *const c_char) -> PathBuf {
    // SAFETY: the caller's promise.
    PathBuf::from(OsStr::from_bytes(unsafe { bytes(text) }))
}

/// Names of all TRES in Slurm's order. Takes the TRES read lock.
pub(in crate::slurm) fn tres_names() -> Vec<String> {
    extern "C" fn push(context: *mut c_void, name: *const c_char) {
        // SAFETY: `context` is the vector below, not borrowed otherwise during the call; the
        // name is a string of slurmctld under the TRES lock.
        unsafe {
            let names = &mut *context.cast::<Vec<String>>();
            names.push(text(name));
        }
    }
    let mut names: Vec<String> = Vec::new();
    // SAFETY: `push` gets the vector back and keeps nothing.
    unsafe { ffi::shim_each_tres(Some(push), (&raw mut names).cast()) };
    names
}

/// Ids of accounts by name, ignoring case; `None`: slurmctld has no such account. The caller holds
/// no lock of the association manager.
pub(in crate::slurm) fn account_ids<'a>(names: impl Iterator<Item = &'a str>) -> Vec<Option<u32>> {
    // No account name contains a NUL, or is empty.
    let names: Vec<CString> = names
        .map(|name| CString::new(name).unwrap_or_default())
        .collect();
    let pointers: Vec<*const c_char> = names.iter().map(|name| name.as_ptr()).collect();
    let mut ids = vec![0_u32; names.len()];
    // SAFETY: as many names as places; both outlive the call.
    unsafe { ffi::shim_account_ids(pointers.as_ptr(), ids.as_mut_ptr(), ids.len()) };
    ids.into_iter().map(|id| (id != 0).then_some(id)).collect()
}

/// Names of all associations by id, except names that a ledger cannot have. The caller holds no
/// lock of the association manager.
pub(in crate::slurm) fn assoc_names() -> HashMap<u32, LeafKey> {
    extern "C" fn add(
        context: *mut c_void,
        id: u32,
        account: *const c_char,
        user: *const c_char,
        partition: *const c_char,
    ) {
        // SAFETY: `context` is the map below, not borrowed otherwise during the call; the names are
        // strings of slurmctld under the lock of associations, or NULL.
        let (names, key) = unsafe {
            let names = &mut *context.cast::<HashMap<u32, LeafKey>>();
            let key = LeafKey::new(&text(account), &text(user), &text(partition));
            (names, key)
        };
        if let Ok(key) = key {
            names.insert(id, key);
        }
    }
    let mut names: HashMap<u32, LeafKey> = HashMap::new();
    // SAFETY: `add` gets the map back and keeps nothing.
    unsafe { ffi::shim_each_assoc_name(Some(add), (&raw mut names).cast()) };
    names
}

macro_rules! guards {
    ($($(#[$meta:meta])* $name:ident = $lock:ident, $unlock:ident;)*) => {$(
        $(#[$meta])*
        ///
        /// Released when dropped, by the thread that took it.
        pub(in crate::slurm) struct $name(PhantomData<*const ()>);

        impl $name {
            pub(in crate::slurm) fn lock() -> $name {
                // SAFETY: the caller holds no lock of the plugin and none of slurmctld that comes
                // later in its order (each place that locks says so); unlocked once, by Drop.
                unsafe { ffi::$lock() };
                $name(PhantomData)
            }
        }

        impl Drop for $name {
            fn drop(&mut self) {
                // SAFETY: `lock` took it in this thread: the guard cannot be sent.
                unsafe { ffi::$unlock() }
            }
        }
    )*};
}

guards! {
    /// Read locks of jobs, nodes, partitions, associations, QOS and TRES.
    SnapshotLock = shim_snapshot_lock, shim_snapshot_unlock;
    /// Write lock of jobs, read locks of nodes and partitions.
    JobsLock = shim_jobs_lock, shim_jobs_unlock;
    /// Read lock of jobs.
    JobsReadLock = shim_jobs_read_lock, shim_jobs_read_unlock;
    /// Read lock of associations.
    AssocsLock = shim_assocs_lock, shim_assocs_unlock;
    /// The read locks that the hook for sprio must take itself, in some releases.
    FactorsLock = shim_factors_lock, shim_factors_unlock;
    /// Write locks of association and QOS usage, read lock of TRES.
    UsageLock = shim_usage_lock, shim_usage_unlock;
}

macro_rules! unless_ending {
    ($($name:ident)*) => {$(
        impl $name {
            /// `None`: slurmctld [is ending](is_ending), possibly since this thread began to wait
            /// for the lock.
            pub(in crate::slurm) fn lock_unless_ending() -> Option<$name> {
                if is_ending() {
                    return None;
                }
                let lock = $name::lock();
                (!is_ending()).then_some(lock)
            }
        }
    )*};
}

unless_ending! { SnapshotLock JobsLock JobsReadLock }

/// Prefetches the cache line in which a value begins, into L1.
#[inline(always)]
pub(in crate::slurm) fn prefetch<T>(at: &T) {
    use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
    // SAFETY: a prefetch reads nothing, and the address is valid.
    unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(at).cast::<i8>()) }
}
