//! `priority_last_decay_ran` in `StateSaveLocation`: when the last pass was, and the last reset.
//! `priority/multifactor` and `priority/fairtree` both write it at the end of each pass.

/// Name of the file.
pub const FILE: &str = "priority_last_decay_ran";

/// The times in it, seconds since 1970; 0: never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LastPass {
    /// The last pass.
    pub pass: i64,
    /// The last reset of usage.
    pub reset: i64,
}

/// Reads it: two big-endian numbers of 64 bits. `None` for anything else.
///
/// ```
/// use fairtree_model::input::slurm::last_pass::read;
/// let bytes = [0, 0, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0];
/// assert_eq!(read(&bytes).unwrap().pass, 258);
/// assert_eq!(read(&bytes[1..]), None);
/// ```
pub fn read(bytes: &[u8]) -> Option<LastPass> {
    let (pass, rest) = bytes.split_first_chunk()?;
    let reset: &[u8; 8] = rest.try_into().ok()?;
    Some(LastPass {
        pass: i64::from_be_bytes(*pass),
        reset: i64::from_be_bytes(*reset),
    })
}
