//! Results of calls of the C ABI.

use std::ffi::CStr;

use fairtree::capi::{Status, ft_last_error};

/// Returns true if a call succeeded. Panics at a caught defect.
pub fn did(status: i32, what: &str) -> bool {
    // SAFETY: the text of the last call lives until the next one.
    let text = unsafe { CStr::from_ptr(ft_last_error()) }
        .to_str()
        .expect("UTF-8");
    assert!(
        status == 0 || !text.is_empty(),
        "{what}: {status} without a sentence"
    );
    let defects = [Status::FT_ERR_PANIC, Status::FT_ERR_POISONED].map(|status| status as i32);
    assert!(!defects.contains(&status) && status <= 0, "{what}: {text}");
    status == 0
}
