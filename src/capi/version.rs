//! Two versions: of the library, and of its C ABI.

use std::ffi::{CStr, c_char};

use super::guard;

/// The number of the C ABI that this header describes, also that of the SONAME.
///
/// It changes when a program that was built with an older header would go wrong with a newer
/// library. Adding functions, status codes, or fields at the end of a struct does not change it.
/// Compare it with ft_abi_version() before anything else.
pub const FT_ABI_VERSION: u32 = 1;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => panic!("a version has no NUL"),
    };

/// The C ABI of the library that is loaded: works when it equals FT_ABI_VERSION.
///
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ft_abi_version() -> u32 {
    guard::value("ft_abi_version", FT_ABI_VERSION, || FT_ABI_VERSION)
}

/// The version of the library that is loaded, as "1.0.0-rc.1".
///
/// Returns a string that lives as long as the program; never NULL.
/// Threads: any.
#[unsafe(no_mangle)]
#[must_use]
pub extern "C" fn ft_version() -> *const c_char {
    guard::value("ft_version", VERSION.as_ptr(), || VERSION.as_ptr())
}
