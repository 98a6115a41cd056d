//! Reports: one model each, several renderings.
//!
//! | module | shows |
//! |---|---|
//! | [`share`] | shares, usage and fair-share factors, in sshare's columns |
//! | [`c_format`] | numbers in the forms of C's `printf` |

pub mod c_format;
pub mod share;
