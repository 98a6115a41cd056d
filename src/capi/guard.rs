//! The guard around every exported function: no panic reaches the C caller.
//!
//! A panic that unwinds into C aborts the process, and the process may be a site's batch
//! system. So the whole body of every exported function runs in [`status`] or [`value`].

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::error::{Failure, Status, remember};

#[cfg(panic = "abort")]
compile_error!(
    "the C ABI promises that a defect becomes FT_ERR_PANIC, which panic=\"abort\" would defeat: \
     build with panic=\"unwind\", or without the feature `capi`"
);

/// Runs the body of a function that returns a status, and keeps its sentence for
/// `ft_last_error`.
pub(super) fn status(function: &str, body: impl FnOnce() -> Result<(), Failure>) -> i32 {
    // AssertUnwindSafe: a handle that a panic left half-changed is poisoned (see `handle`), and
    // outputs are written last.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => {
            remember(String::new());
            return Status::FT_OK as i32;
        }
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::new(Status::FT_ERR_PANIC, told(payload)),
    };
    remember(format!("{function}: {}", failure.sentence));
    failure.status as i32
}

/// Runs the body of a function that cannot fail; a panic gives `fallback`.
pub(super) fn value<T>(function: &str, fallback: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        remember(format!("{function}: {}", told(payload)));
        fallback
    })
}

fn told(payload: Box<dyn Any + Send>) -> String {
    let what = match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast::<&str>() {
            Ok(text) => (*text).to_owned(),
            Err(payload) => {
                // Dropping an unknown payload could panic again, outside any guard.
                std::mem::forget(payload);
                "no message".to_owned()
            }
        },
    };
    format!("a defect in the library was caught: {what}")
}

#[cfg(test)]
mod tests {
    use super::super::error::ft_last_error;
    use super::*;
    use std::ffi::CStr;

    fn last_error() -> String {
        // SAFETY: the string lives until this thread's next call.
        let text = unsafe { CStr::from_ptr(ft_last_error()) };
        text.to_str().unwrap().to_owned()
    }

    #[test]
    fn success_forgets_the_last_error() {
        let failed = status("f", || Err(Failure::new(Status::FT_ERR_NULL, "x is NULL")));
        assert_eq!(failed, -1);
        assert_eq!(last_error(), "f: x is NULL");
        assert_eq!(status("f", || Ok(())), 0);
        assert_eq!(last_error(), "");
    }

    #[test]
    fn a_panic_becomes_a_status() {
        let caught = status("f", || panic!("at {}", 7));
        assert_eq!(caught, Status::FT_ERR_PANIC as i32);
        assert_eq!(last_error(), "f: a defect in the library was caught: at 7");
        assert_eq!(value("g", 5, || std::panic::panic_any(3)), 5);
        assert_eq!(
            last_error(),
            "g: a defect in the library was caught: no message"
        );
    }
}
