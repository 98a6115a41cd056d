//! Status codes, and the message of the last one of each thread.

use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::fmt::Display;

use crate::tree::TreeError;
use crate::usage::UsageError;
use crate::usage::window::WindowError;

use super::guard;

/// The result of a call: 0 is success, all other values are negative.
///
/// Numbers are grouped by area with gaps between the groups and are never re-used, so code may
/// compare with them across versions. ft_status_str() has a sentence for each;
/// ft_last_error() says what exactly was wrong in the last call.
#[allow(
    non_camel_case_types,
    reason = "these are the names that C programs use"
)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Status {
    /// Success.
    FT_OK = 0,
    /// A pointer is NULL that must not be; (NULL, 0) is an empty array, (NULL, n) is this error.
    FT_ERR_NULL = -1,
    /// A length is too large for any memory, or does not agree with the rest.
    FT_ERR_LENGTH = -2,
    /// A pointer is not aligned for what it points to.
    FT_ERR_ALIGN = -3,
    /// A struct_size or row size that no version of this header has.
    FT_ERR_STRUCT_SIZE = -4,
    /// A string is not UTF-8.
    FT_ERR_UTF8 = -5,
    /// An enumeration or flag that this version does not know.
    FT_ERR_ENUM = -6,
    /// A number is outside its range, or not a number.
    FT_ERR_RANGE = -7,
    /// A handle that is not of this kind, or was freed.
    FT_ERR_HANDLE = -8,
    /// A handle that an earlier FT_ERR_PANIC left half-changed: only free it.
    FT_ERR_POISONED = -9,
    /// A defect in this library was caught. The program may continue; please report it.
    FT_ERR_PANIC = -10,
    /// A buffer is too small; the needed length was written.
    FT_ERR_BUFFER = -11,

    /// Two associations with one id.
    FT_ERR_DUPLICATE_ID = -20,
    /// No association has this id.
    FT_ERR_UNKNOWN_ID = -21,
    /// A parent that is not in the tree.
    FT_ERR_UNKNOWN_PARENT = -22,
    /// A parent that is a user: only accounts have children.
    FT_ERR_PARENT_IS_USER = -23,
    /// An association that would be its own ancestor.
    FT_ERR_CYCLE = -24,
    /// Not exactly one root, a root that is a user, or an edit that the root does not allow.
    FT_ERR_ROOT = -25,
    /// Shares above FT_SHARES_MAX that are not FT_SHARES_PARENT.
    FT_ERR_SHARES = -26,
    /// An account that still has children cannot be removed.
    FT_ERR_HAS_CHILDREN = -27,
    /// More associations than positions.
    FT_ERR_TOO_MANY = -28,

    /// Usage that is negative, infinite or not a number.
    FT_ERR_USAGE = -40,
    /// A time before the moment of the usage, or a period that ends before it starts.
    FT_ERR_TIME = -41,
    /// A time zone that is neither known to the system nor a POSIX TZ string.
    FT_ERR_TIME_ZONE = -42,
    /// No run has this number, it was charged for that time before, or to another association.
    FT_ERR_RUN = -43,
    /// The usage model of the tree does not have this, or is not the one of the settings.
    FT_ERR_MODEL = -44,

    /// Factors were not computed since the tree was last edited.
    FT_ERR_NOT_COMPUTED = -50,
    /// Only users are ranked, but this association is an account.
    FT_ERR_NOT_A_USER = -51,

    /// A setting whose name or value is not allowed.
    FT_ERR_CONFIG = -60,

    /// No partition or QOS has this position, or no TRES row, or a list ends outside its array.
    FT_ERR_UNKNOWN_INDEX = -80,
    /// A TRES that the site does not have.
    FT_ERR_UNKNOWN_TRES = -81,

    /// Saved bytes are truncated or altered, or are not a saved state.
    FT_ERR_STATE_DAMAGED = -100,
    /// Saved by a version whose format this one does not read.
    FT_ERR_STATE_VERSION = -101,

    /// No machine of the queue has this name.
    FT_ERR_UNKNOWN_MACHINE = -120,
    /// Two machines with one name.
    FT_ERR_DUPLICATE_MACHINE = -121,
    /// No job of the queue has this id.
    FT_ERR_UNKNOWN_JOB = -122,
    /// Two jobs with one id.
    FT_ERR_DUPLICATE_JOB = -123,
    /// A job that runs, where one must wait.
    FT_ERR_NOT_WAITING = -124,
    /// A job that waits, where one must run.
    FT_ERR_NOT_RUNNING = -125,
    /// An association that no node of the shares stands for.
    FT_ERR_NO_SHARES = -126,
    /// A machine that runs all that it can at a time.
    FT_ERR_BUSY = -127,
    /// A machine in maintenance.
    FT_ERR_PAUSED = -128,
    /// A machine that the account is not bound to: ft_last_error() names those that it is bound to.
    FT_ERR_ELSEWHERE = -129,
    /// A machine that still has jobs or reservations.
    FT_ERR_IN_USE = -130,

    /// No room for another waiting job: ft_last_error() names the limit, its size, how full it is.
    FT_ERR_FULL = -140,
    /// A job of a reservation, where one must be on-demand.
    FT_ERR_NOT_ON_DEMAND = -141,
    /// No reservation has this id, or it is over.
    FT_ERR_UNKNOWN_RESERVATION = -142,
    /// Two reservations with one id.
    FT_ERR_DUPLICATE_RESERVATION = -143,
    /// Two reservations of one machine at one time.
    FT_ERR_OVERLAP = -144,
}

use Status::*;

impl Status {
    /// All of them, for ft_status_str().
    const ALL: [Status; 49] = [
        FT_OK,
        FT_ERR_NULL,
        FT_ERR_LENGTH,
        FT_ERR_ALIGN,
        FT_ERR_STRUCT_SIZE,
        FT_ERR_UTF8,
        FT_ERR_ENUM,
        FT_ERR_RANGE,
        FT_ERR_HANDLE,
        FT_ERR_POISONED,
        FT_ERR_PANIC,
        FT_ERR_BUFFER,
        FT_ERR_DUPLICATE_ID,
        FT_ERR_UNKNOWN_ID,
        FT_ERR_UNKNOWN_PARENT,
        FT_ERR_PARENT_IS_USER,
        FT_ERR_CYCLE,
        FT_ERR_ROOT,
        FT_ERR_SHARES,
        FT_ERR_HAS_CHILDREN,
        FT_ERR_TOO_MANY,
        FT_ERR_USAGE,
        FT_ERR_TIME,
        FT_ERR_TIME_ZONE,
        FT_ERR_RUN,
        FT_ERR_MODEL,
        FT_ERR_NOT_COMPUTED,
        FT_ERR_NOT_A_USER,
        FT_ERR_CONFIG,
        FT_ERR_UNKNOWN_INDEX,
        FT_ERR_UNKNOWN_TRES,
        FT_ERR_STATE_DAMAGED,
        FT_ERR_STATE_VERSION,
        FT_ERR_UNKNOWN_MACHINE,
        FT_ERR_DUPLICATE_MACHINE,
        FT_ERR_UNKNOWN_JOB,
        FT_ERR_DUPLICATE_JOB,
        FT_ERR_NOT_WAITING,
        FT_ERR_NOT_RUNNING,
        FT_ERR_NO_SHARES,
        FT_ERR_BUSY,
        FT_ERR_PAUSED,
        FT_ERR_ELSEWHERE,
        FT_ERR_IN_USE,
        FT_ERR_FULL,
        FT_ERR_NOT_ON_DEMAND,
        FT_ERR_UNKNOWN_RESERVATION,
        FT_ERR_DUPLICATE_RESERVATION,
        FT_ERR_OVERLAP,
    ];

    const fn sentence(self) -> &'static CStr {
        match self {
            FT_OK => c"success",
            FT_ERR_NULL => c"a pointer is NULL that must not be",
            FT_ERR_LENGTH => c"a length is too large or does not agree with the rest",
            FT_ERR_ALIGN => c"a pointer is not aligned",
            FT_ERR_STRUCT_SIZE => c"a struct size that no version of the header has",
            FT_ERR_UTF8 => c"a string is not UTF-8",
            FT_ERR_ENUM => c"an unknown enumeration value or flag",
            FT_ERR_RANGE => c"a number is outside its range",
            FT_ERR_HANDLE => c"not a handle of this kind, or a freed one",
            FT_ERR_POISONED => c"the handle was left half-changed by a caught defect",
            FT_ERR_PANIC => c"a defect in the library was caught",
            FT_ERR_BUFFER => c"the buffer is too small",
            FT_ERR_DUPLICATE_ID => c"two associations with one id",
            FT_ERR_UNKNOWN_ID => c"no association has this id",
            FT_ERR_UNKNOWN_PARENT => c"the parent is not in the tree",
            FT_ERR_PARENT_IS_USER => c"the parent is a user",
            FT_ERR_CYCLE => c"an association would be its own ancestor",
            FT_ERR_ROOT => c"not exactly one root account, or not possible with the root",
            FT_ERR_SHARES => c"shares out of range",
            FT_ERR_HAS_CHILDREN => c"the account still has children",
            FT_ERR_TOO_MANY => c"too many associations",
            FT_ERR_USAGE => c"usage is not a number from 0 up",
            FT_ERR_TIME => c"a time lies before the one it must follow",
            FT_ERR_TIME_ZONE => c"unknown time zone",
            FT_ERR_RUN => c"no such run, or charged before or to another association",
            FT_ERR_MODEL => c"not supported by the tree's usage model",
            FT_ERR_NOT_COMPUTED => c"not computed since the tree was last edited",
            FT_ERR_NOT_A_USER => c"the association is an account, but only users are ranked",
            FT_ERR_CONFIG => c"a setting is not allowed",
            FT_ERR_UNKNOWN_INDEX => c"no such partition, QOS, TRES row or list entry",
            FT_ERR_UNKNOWN_TRES => c"the site has no such TRES",
            FT_ERR_STATE_DAMAGED => c"the saved state is damaged",
            FT_ERR_STATE_VERSION => c"the saved state is of an unknown version",
            FT_ERR_UNKNOWN_MACHINE => c"no machine has this name",
            FT_ERR_DUPLICATE_MACHINE => c"two machines with one name",
            FT_ERR_UNKNOWN_JOB => c"no job has this id",
            FT_ERR_DUPLICATE_JOB => c"two jobs with one id",
            FT_ERR_NOT_WAITING => c"the job runs, it does not wait",
            FT_ERR_NOT_RUNNING => c"the job waits, it does not run",
            FT_ERR_NO_SHARES => c"nobody's shares stand for the association",
            FT_ERR_BUSY => c"the machine runs all that it can",
            FT_ERR_PAUSED => c"the machine is paused",
            FT_ERR_ELSEWHERE => c"the account is not bound to the machine",
            FT_ERR_IN_USE => c"the machine still has jobs or reservations",
            FT_ERR_FULL => c"a limit leaves no room for another waiting job",
            FT_ERR_NOT_ON_DEMAND => c"the job is one of a reservation",
            FT_ERR_UNKNOWN_RESERVATION => c"no reservation has this id",
            FT_ERR_DUPLICATE_RESERVATION => c"two reservations with one id",
            FT_ERR_OVERLAP => c"two reservations of one machine at one time",
        }
    }
}

/// A status and the sentence that explains it, as returned to the guard.
#[derive(Debug)]
pub(super) struct Failure {
    pub(super) status: Status,
    pub(super) sentence: String,
}

impl Failure {
    pub(super) fn new(status: Status, sentence: impl Into<String>) -> Failure {
        Failure {
            status,
            sentence: sentence.into(),
        }
    }

    /// The same, saying which argument it is about.
    pub(super) fn at(self, argument: impl Display) -> Failure {
        Failure {
            sentence: format!("{argument}: {}", self.sentence),
            ..self
        }
    }
}

impl From<TreeError> for Failure {
    fn from(error: TreeError) -> Failure {
        let status = match error {
            TreeError::DuplicateId { .. } => FT_ERR_DUPLICATE_ID,
            TreeError::UnknownParent { .. } => FT_ERR_UNKNOWN_PARENT,
            TreeError::UnknownId { .. } => FT_ERR_UNKNOWN_ID,
            TreeError::Cycle { .. } | TreeError::BelowItself { .. } => FT_ERR_CYCLE,
            TreeError::NoRoot
            | TreeError::TwoRoots { .. }
            | TreeError::RootIsUser { .. }
            | TreeError::RootMoved { .. } => FT_ERR_ROOT,
            TreeError::ParentIsUser { .. } => FT_ERR_PARENT_IS_USER,
            TreeError::SharesOutOfRange { .. } => FT_ERR_SHARES,
            TreeError::HasChildren { .. } => FT_ERR_HAS_CHILDREN,
            TreeError::TooManyRows { .. } => FT_ERR_TOO_MANY,
        };
        Failure::new(status, error.to_string())
    }
}

impl From<UsageError> for Failure {
    fn from(error: UsageError) -> Failure {
        let status = match error {
            UsageError::NotANumber { .. } => FT_ERR_USAGE,
            UsageError::Length { .. } => FT_ERR_LENGTH,
            UsageError::Window(error) => return error.into(),
        };
        Failure::new(status, error.to_string())
    }
}

impl From<WindowError> for Failure {
    fn from(error: WindowError) -> Failure {
        let status = match error {
            WindowError::Overlap { .. } | WindowError::OtherLeaf { .. } => FT_ERR_RUN,
            WindowError::Time { .. }
            | WindowError::Reversed { .. }
            | WindowError::Future { .. } => FT_ERR_TIME,
            WindowError::NotKept { .. } | WindowError::Coarsen { .. } => FT_ERR_MODEL,
            WindowError::Resolution { .. }
            | WindowError::Length { .. }
            | WindowError::DateCount { .. } => FT_ERR_CONFIG,
            WindowError::TresName { .. } | WindowError::TresCount { .. } => FT_ERR_RANGE,
            _ => FT_ERR_USAGE,
        };
        Failure::new(status, error.to_string())
    }
}

/// Sentences of a thread. A sentence stays where it is until two further calls have failed: so C may
/// evaluate `f(ft_x(), ft_last_error())` in any order.
#[derive(Default)]
struct Sentences {
    kept: [CString; 2],
    /// Which of them is of the last call; `None`: it succeeded.
    last: Option<usize>,
    /// Where the next one goes.
    next: usize,
}

impl Sentences {
    fn last(&self) -> &CStr {
        self.last.map_or(c"", |at| &self.kept[at])
    }
}

thread_local! {
    static SENTENCES: RefCell<Sentences> = RefCell::default();
}

/// Stores `sentence` as the last error of this thread; empty after success.
///
/// Does nothing in a thread that is being torn down.
pub(super) fn remember(sentence: String) {
    // C strings end at the first NUL: NULs in names are removed.
    let sentence = match sentence.is_empty() {
        true => None,
        false => Some(CString::new(sentence.replace('\0', "")).unwrap_or_default()),
    };
    let _ = SENTENCES.try_with(|sentences| {
        let mut sentences = sentences.borrow_mut();
        let at = sentences.next;
        sentences.last = sentence.map(|sentence| {
            sentences.kept[at] = sentence;
            sentences.next = 1 - at;
            at
        });
    });
}

/// The fixed sentence for a status, in English without a full stop.
///
/// `status`: any number; "unknown status" for one that is none.
///
/// Returns a string that lives as long as the program; never NULL.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ft_status_str(status: i32) -> *const c_char {
    guard::value("ft_status_str", c"".as_ptr(), || {
        let known = Status::ALL.into_iter().find(|each| *each as i32 == status);
        known.map_or(c"unknown status", Status::sentence).as_ptr()
    })
}

/// What was wrong in this thread's last call that returned a status.
///
/// One sentence that names the function, the argument and the value; empty after success. In a
/// destructor of thread-specific data (pthread_key_create) it may be empty after a failure, too:
/// the library's own data of the thread may be gone by then.
///
/// Returns a string that is valid until the second call of this thread after this one that fails;
/// never NULL. So both may be arguments of one call, as in printf("%d %s", ft_x(), ft_last_error()),
/// but C may evaluate the latter first: then it is of the call before. Copy the string to keep it.
/// Threads: any; each has a last error of its own.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ft_last_error() -> *const c_char {
    guard::value("ft_last_error", c"".as_ptr(), || {
        SENTENCES
            .try_with(|sentences| sentences.borrow().last().as_ptr())
            .unwrap_or(c"".as_ptr())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_status_has_a_number_and_a_sentence_of_its_own() {
        let mut numbers = Status::ALL.map(|status| status as i32).to_vec();
        let mut sentences = Status::ALL.map(Status::sentence).to_vec();
        numbers.sort_unstable();
        numbers.dedup();
        sentences.sort_unstable();
        sentences.dedup();
        assert_eq!(numbers.len(), Status::ALL.len());
        assert_eq!(sentences.len(), Status::ALL.len());
        assert_eq!(numbers.last(), Some(&0));
    }

    #[test]
    fn a_sentence_with_nul_is_kept_without() {
        remember("a\0b".into());
        // SAFETY: the string lives until this thread's next call.
        let kept = unsafe { CStr::from_ptr(ft_last_error()) };
        assert_eq!(kept, c"ab");
    }

    #[test]
    fn a_sentence_stays_until_the_second_failure() {
        // SAFETY: each is read before the second failure after it.
        let text = |at| unsafe { CStr::from_ptr(at) };
        remember("first".into());
        let first = ft_last_error();
        remember(String::new());
        assert_eq!((text(ft_last_error()), text(first)), (c"", c"first"));
        remember("second".into());
        let second = ft_last_error();
        assert_eq!((text(second), text(first)), (c"second", c"first"));
        remember(String::new());
        remember("third".into());
        assert_eq!((text(ft_last_error()), text(second)), (c"third", c"second"));
    }
}
