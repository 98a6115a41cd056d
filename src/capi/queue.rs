//! `ft_queue`: a machine asks which job is next. Settings, machines, and the queue's life.

use std::ffi::c_char;

use crate::config::MOST_MINUTES;
use crate::engine::Finished;
use crate::engine::queue::{
    AccountRule, Choice, Counted, Estimate, Next, Nothing, Proxy, Queue, QueueError, Settings,
};
use crate::order::Level;
use crate::usage::{EndState, Outcomes};

use super::error::{Failure, Status};
use super::guard;
use super::handle::{self, Handle};
use super::machine_queue::{self, EstimateRow, MachineQueue, NextKind, ProxyKind, flag, outcomes};
use super::tree::TreeHandle;
use super::view::{self, Out, Plain};

/// A queue: jobs that wait for machines, and what accounts have used of them.
///
/// A machine asks ft_queue_next() which job to run. It is the job whose account stands lowest:
/// used over entitled is compared among those on the level of competition, then among those below
/// the lowest of them, and so on; the oldest job of the leaf that remains is next. You report what
/// happens (ft_queue_start, ft_queue_finish, ft_queue_cancel, ft_queue_requeue), and use follows.
///
/// Equal ratios tie, among groups as among leaves: then the one goes first of which the job that
/// would be next is the oldest, by submit time, then by id. Within a leaf nice comes before both.
/// Entitled to nothing are associations with 0 shares or 0 minutes, or below such ones: they come
/// after all others, among themselves first those that used nothing, and then the oldest job.
///
/// Times are MICROseconds since 1970 here and their names end with _micros. Time does not run
/// backwards: an earlier moment than the latest one that the queue was told counts as the latest.
/// All numbers are whole, so nothing drifts.
/// A call that fails leaves the queue as it was: no time passes.
/// Made by ft_queue_new(), ft_queue_restore(); freed by ft_queue_free().
pub struct QueueHandle {
    _opaque: [u8; 0],
}

impl Handle for QueueHandle {
    const TAG: u64 = 0x6674_5f71_7565_7504;
    const NAME: &'static str = "ft_queue";
    type Model = Queue;
}

impl From<QueueError> for Failure {
    fn from(error: QueueError) -> Failure {
        let (status, argument) = match error {
            QueueError::Setting { .. } => (Status::FT_ERR_CONFIG, "settings"),
            QueueError::UnknownAccount { .. } => (Status::FT_ERR_UNKNOWN_ID, "settings.accounts"),
            QueueError::AccountTwice { .. } => (Status::FT_ERR_DUPLICATE_ID, "settings.accounts"),
            QueueError::AccountAside { .. } | QueueError::NoMinutes { .. } => {
                (Status::FT_ERR_CONFIG, "settings.accounts")
            }
            QueueError::MinutesBeyond { .. } => (Status::FT_ERR_CONFIG, "minutes"),
            QueueError::UnknownAssoc { .. } => (Status::FT_ERR_UNKNOWN_ID, "job"),
            QueueError::NoShares { .. } => (Status::FT_ERR_NO_SHARES, "job"),
            QueueError::NoLength { .. } => (Status::FT_ERR_RANGE, "job"),
            QueueError::Busy { .. } => (Status::FT_ERR_BUSY, "job"),
            QueueError::TooMuchUse { .. } => (Status::FT_ERR_RANGE, "job"),
            QueueError::Machine(error) => return error.into(),
            QueueError::Tree(error) => return error.into(),
        };
        Failure::new(status, format!("{argument}: {error}"))
    }
}

impl MachineQueue for Queue {
    type Error = QueueError;

    fn next(&mut self, machine: &str, now: i64) -> Result<(NextKind, u64), QueueError> {
        Ok(match Queue::next(self, machine, now)? {
            Next::Job(id) => (NextKind::FT_NEXT_JOB, id),
            Next::Nothing(Nothing::NoneWaits) => (NextKind::FT_NEXT_NONE_WAITS, 0),
            Next::Nothing(Nothing::Paused) => (NextKind::FT_NEXT_PAUSED, 0),
            Next::Nothing(Nothing::Busy) => (NextKind::FT_NEXT_BUSY, 0),
        })
    }

    fn start(&mut self, job: u64, now: i64) -> Result<(), QueueError> {
        Queue::start(self, job, now)
    }

    fn finish(
        &mut self,
        job: u64,
        (end, code): (EndState, u32),
        executed: i64,
        now: i64,
    ) -> Result<Finished, QueueError> {
        Queue::finish(self, job, end, code, executed, now)
    }

    fn set_paused(&mut self, machine: &str, paused: bool) -> Result<(), QueueError> {
        Queue::set_paused(self, machine, paused)
    }

    fn count_waiting(&mut self, machine: &str, _: i64) -> Result<usize, QueueError> {
        self.waiting(machine)
    }

    fn positions(&mut self, machine: &str, now: i64) -> Result<Vec<u64>, QueueError> {
        self.positions_at(machine, now)
    }

    fn estimates(&mut self, machine: &str, now: i64) -> Result<Vec<EstimateRow>, QueueError> {
        let row = |found: &Estimate| EstimateRow {
            job: found.job,
            start_micros: found.start.unwrap_or(0),
            starts: found.start.is_some().into(),
            proxy: match found.proxy {
                Proxy::Expected => ProxyKind::FT_PROXY_EXPECTED as u32,
                Proxy::Maximum => ProxyKind::FT_PROXY_MAXIMUM as u32,
            },
        };
        Ok(self.estimate(machine, now)?.iter().map(row).collect())
    }

    fn save(&self) -> Vec<u8> {
        Queue::save(self)
    }

    fn restore(bytes: &[u8]) -> Result<Queue, QueueError> {
        Queue::restore(bytes)
    }
}

/// In which order jobs are chosen.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ChoiceKind {
    /// A job that runs counts as if it ran for its expected time, from its start on. So jobs that
    /// are started at one moment follow the order that ft_queue_positions() tells.
    FT_CHOICE_INTERLEAVED = 0,
    /// By what was used so far.
    FT_CHOICE_STRICT = 1,
}

/// What counts as used at a moment.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Counting {
    /// As above it; for an account only.
    FT_COUNTING_INHERITED = 0,
    /// What was used in the last so many microseconds, from 1 up.
    FT_COUNTING_WINDOW = 1,
    /// What was used since a moment, in microseconds since 1970.
    FT_COUNTING_SINCE = 2,
}

/// All leaves compete with each other, over the whole tree: ft_queue_settings.level.
pub const FT_LEVEL_LEAVES: u32 = 0;

/// What an account has instead of the queue's own rules.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QueueAccountRow {
    /// The account, of the tree.
    pub id: u32,
    /// 1: it has minutes instead of shares; 0: it has not.
    pub has_minutes: u32,
    /// Minutes of one unit that it is entitled to, 0..1000000000000; 0 without has_minutes.
    /// Children with minutes may have no more together than their parent, where both count the
    /// same use; children without minutes divide by their shares what is left.
    pub minutes: u64,
    /// How its use and that of all below it counts: one of enum ft_counting. With
    /// FT_COUNTING_SINCE it must have minutes, or an account above that has them and counts alike,
    /// unless all accounts count so.
    pub counting: u32,
    /// Zero.
    pub reserved: u32,
    /// The length or the moment; 0 for FT_COUNTING_INHERITED.
    pub counting_micros: i64,
}

// SAFETY: numbers only, no padding.
unsafe impl Plain for QueueAccountRow {}

/// What a queue goes by.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct QueueSettingsRow {
    /// sizeof(ft_queue_settings).
    pub struct_size: usize,
    /// Who competes over the whole tree: accounts of this depth, where 1 is directly below the
    /// root, and leaves that are not as deep; or FT_LEVEL_LEAVES.
    pub level: u32,
    /// One of enum ft_choice.
    pub choice: u32,
    /// How use counts: FT_COUNTING_WINDOW or FT_COUNTING_SINCE.
    pub counting: u32,
    /// 1: users compete with each other by their shares. 0: the jobs of all users of an account
    /// are one line, first in, first out; only users directly below the root compete.
    pub users_compete: u32,
    /// The length or the moment.
    pub counting_micros: i64,
    /// Units that all machines together can give out at a time, from 1 up. Only where minutes and
    /// shares stand side by side does it change an order.
    pub capacity: u64,
    /// Which ends of runs count, in the words of enum ft_end without FT_END_:
    /// "COMPLETED,TIMEOUT,FAILED:12:20", where failures count with these exit codes only. A run
    /// that ended in another way costs nothing. NULL: all of them.
    pub outcomes: *const c_char,
    /// Accounts with rules of their own, each once. May be (NULL, 0).
    pub accounts: *const QueueAccountRow,
    /// How many there are.
    pub accounts_len: usize,
    /// sizeof(ft_queue_account), where there are some.
    pub account_size: usize,
}

// SAFETY: numbers, and pointers that are checked before they are followed.
unsafe impl Plain for QueueSettingsRow {}

/// The settings that a caller passed, checked; NULL: the defaults.
///
/// # Safety
/// `settings` is NULL or points to a readable struct whose pointers are readable.
unsafe fn read_settings(settings: *const QueueSettingsRow) -> Result<Settings, Failure> {
    if settings.is_null() {
        return Ok(Settings::default());
    }
    // SAFETY: as promised by the caller of this function.
    let row = unsafe { view::options(settings, "settings")? };
    let counted = counted(row.counting, row.counting_micros, "settings")?;
    let counted = counted.ok_or_else(|| {
        let why = "settings: counting must be FT_COUNTING_WINDOW or FT_COUNTING_SINCE";
        Failure::new(Status::FT_ERR_ENUM, why)
    })?;
    let accounts = if row.accounts.is_null() && row.accounts_len == 0 {
        Vec::new()
    } else {
        let argument = "settings.accounts";
        // SAFETY: as promised by the caller of this function.
        let rows =
            unsafe { view::rows(row.accounts, row.accounts_len, row.account_size, argument)? };
        let rules = rows.iter().enumerate().map(account_rule);
        rules.collect::<Result<Vec<_>, Failure>>()?
    };
    Ok(Settings {
        level: match row.level {
            FT_LEVEL_LEAVES => Level::Leaf,
            depth => Level::Depth(depth),
        },
        choice: match row.choice {
            0 => Choice::Interleaved,
            1 => Choice::Strict,
            other => {
                let why = format!("settings: choice {other} is none of enum ft_choice");
                return Err(Failure::new(Status::FT_ERR_ENUM, why));
            }
        },
        counted,
        // SAFETY: as promised by the caller of this function.
        outcomes: unsafe { outcomes(row.outcomes, Outcomes::all(), "settings.outcomes")? },
        capacity: row.capacity,
        accounts,
        users_compete: flag(row.users_compete, "settings.users_compete")?,
    })
}

fn check_reserved(reserved: u32, argument: &str) -> Result<(), Failure> {
    match reserved {
        0 => Ok(()),
        _ => Err(Failure::new(
            Status::FT_ERR_RANGE,
            format!("{argument}: reserved is {reserved}, but must be 0"),
        )),
    }
}

/// `None`: inherited.
fn counted(kind: u32, micros: i64, argument: &str) -> Result<Option<Counted>, Failure> {
    let refuse = |status, what: String| Err(Failure::new(status, format!("{argument}: {what}")));
    match kind {
        0 if micros == 0 => Ok(None),
        0 => refuse(
            Status::FT_ERR_RANGE,
            format!("counting_micros is {micros}, but must be 0 for FT_COUNTING_INHERITED"),
        ),
        1 if micros > 0 => Ok(Some(Counted::Window(micros))),
        1 => refuse(
            Status::FT_ERR_RANGE,
            format!("counting_micros is {micros}, but a window must have at least 1"),
        ),
        2 => Ok(Some(Counted::Since(micros))),
        _ => refuse(
            Status::FT_ERR_ENUM,
            format!("counting {kind} is none of enum ft_counting"),
        ),
    }
}

fn account_rule((number, row): (usize, &QueueAccountRow)) -> Result<(u32, AccountRule), Failure> {
    let argument = format!("settings.accounts[{number}]");
    check_reserved(row.reserved, &argument)?;
    let minutes = given_minutes(row.has_minutes, row.minutes, &argument)?;
    let counted = counted(row.counting, row.counting_micros, &argument)?;
    Ok((row.id, AccountRule { minutes, counted }))
}

/// Minutes, if there are any.
pub(super) fn given_minutes(
    has_minutes: u32,
    minutes: u64,
    argument: &str,
) -> Result<Option<u64>, Failure> {
    match has_minutes {
        0 if minutes == 0 => Ok(None),
        1 if minutes <= MOST_MINUTES => Ok(Some(minutes)),
        0 | 1 => {
            let why = format!(
                "{argument}: {minutes} minutes with has_minutes {has_minutes}: with 1 there may be \
                 0..{MOST_MINUTES}, with 0 none"
            );
            Err(Failure::new(Status::FT_ERR_RANGE, why))
        }
        other => {
            let why = format!("{argument}: has_minutes is {other}, but must be 0 or 1");
            Err(Failure::new(Status::FT_ERR_ENUM, why))
        }
    }
}

/// Makes a queue without machines or jobs, nothing used.
///
/// `tree`: who shares with whom. Its shares are taken over; its usage and factors are not, and the
/// tree may be freed afterwards.
/// `settings`: what the queue goes by. NULL: all leaves compete, interleaved, by what was used in
/// the last 28 days; all ends count; one unit of capacity; users do not compete.
/// `now_micros`: now, in microseconds since 1970.
/// `queue`: receives the queue, which is yours to free.
///
/// Errors, naming the setting: FT_ERR_CONFIG, FT_ERR_ENUM, FT_ERR_RANGE, FT_ERR_UNKNOWN_ID,
/// FT_ERR_DUPLICATE_ID; FT_ERR_STRUCT_SIZE, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_new(
    tree: *const TreeHandle,
    settings: *const QueueSettingsRow,
    now_micros: i64,
    queue: *mut *mut QueueHandle,
) -> i32 {
    guard::status("ft_queue_new", || {
        // SAFETY: the caller passes a live handle that no other thread changes, and readable
        // settings.
        let (model, settings) =
            unsafe { (handle::shared(tree, "tree")?, read_settings(settings)?) };
        let out = Out::new(queue, "queue")?;
        let made = Queue::new(model.tree(), settings, now_micros)?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(handle::new(made)) };
        Ok(())
    })
}

/// Frees a queue. NULL is harmless; freeing one twice is not.
///
/// Threads: no other thread may use the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ft_queue_free(queue: *mut QueueHandle) {
    guard::value("ft_queue_free", (), || {
        // SAFETY: the caller passes NULL or a handle of its own and does not use it again.
        unsafe { handle::free(queue) };
    });
}

/// Goes on with another tree or other settings.
///
/// Jobs stay. Use stays with its association by id; that of one which is gone counts no more.
/// Where use counts from farther back than before, only what was still known counts.
///
/// `tree`, `settings`: as for ft_queue_new().
///
/// Errors: those of ft_queue_new(); FT_ERR_NO_SHARES and FT_ERR_UNKNOWN_ID when the association
/// of a job is gone; FT_ERR_RANGE when more use than is counted would count. The queue is then
/// unchanged.
/// Threads: one at a time per queue; the tree is only read.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_change(
    queue: *mut QueueHandle,
    tree: *const TreeHandle,
    settings: *const QueueSettingsRow,
) -> i32 {
    guard::status("ft_queue_change", || {
        // SAFETY: the caller passes live handles, of which no other thread uses the queue or changes
        // the tree, and readable settings.
        let (mut handle, model, settings) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                handle::shared(tree, "tree")?,
                read_settings(settings)?,
            )
        };
        handle.edit(|queue| queue.change(model.tree(), settings))?;
        Ok(())
    })
}

/// An error of a call with slots.
pub(super) fn slots_failure(error: QueueError) -> Failure {
    match error {
        QueueError::Setting { .. } => {
            Failure::new(Status::FT_ERR_CONFIG, format!("slots: {error}"))
        }
        other => other.into(),
    }
}

/// Adds a machine. Use counts over all machines. Its number is how many were added before, also
/// those that were removed.
///
/// `machine`: its name. `slots`: jobs that it runs at a time, from 1 up.
///
/// Errors: FT_ERR_DUPLICATE_MACHINE, FT_ERR_CONFIG (no slots), FT_ERR_UTF8, FT_ERR_NULL,
/// FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_add_machine(
    queue: *mut QueueHandle,
    machine: *const c_char,
    slots: u32,
) -> i32 {
    guard::status("ft_queue_add_machine", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        let (mut handle, machine) = unsafe {
            (
                handle::exclusive(queue, "queue")?,
                view::string(machine, "machine")?,
            )
        };
        handle
            .edit(|queue| queue.add_machine(machine, slots))
            .map_err(slots_failure)
    })
}

/// Begins or ends maintenance. A paused machine gives no job; what runs there is your business.
///
/// `paused`: 1: begins; 0: ends.
///
/// Errors: FT_ERR_UNKNOWN_MACHINE, FT_ERR_ENUM, FT_ERR_UTF8, FT_ERR_NULL, FT_ERR_ALIGN,
/// FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: one at a time per queue.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_queue_set_paused(
    queue: *mut QueueHandle,
    machine: *const c_char,
    paused: u32,
) -> i32 {
    guard::status("ft_queue_set_paused", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and a terminated string.
        unsafe { machine_queue::set_paused(queue, machine, paused) }
    })
}
