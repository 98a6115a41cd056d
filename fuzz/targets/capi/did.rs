//! What calls of the C ABI say.

use std::ffi::CStr;

use fairtree::capi::{Status, ft_last_error};

/// What a call said: whether it did it. A defect that was caught is none the less one.
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
