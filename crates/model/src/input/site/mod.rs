//! A site described in TOML: accounts, users, shares, usage, settings. See `docs/site-format.md`.

mod described;
pub(in crate::input) mod file;
pub mod from_assocs;
mod jobs;
mod machine;
mod order;
pub(in crate::input) mod place;
mod queue;
mod requests;
pub(in crate::input) mod rows;
mod settings;
mod sums;
mod uses;
pub(in crate::input) mod value;

pub use described::{Site, SiteRow};
pub use uses::Uses;

use std::io::Read;

use super::error::{InputError, Problem};

/// The largest description that is read, in bytes; a million associations need less.
pub const MAX_BYTES: u64 = 256 << 20;

/// The most values that a description has, lists, tables and keys counted.
pub const MAX_VALUES: usize = 4_000_000;

/// Reads a site, also one of machines that ask what is next ([`super::queue`]), in which nothing has
/// run yet. `file` names the stream in messages.
///
/// # Errors
/// A stream that breaks, is no UTF-8, longer than [`MAX_BYTES`] or of more than [`MAX_VALUES`]; text that is no TOML; keys that
/// the format does not know; values out of range; accounts whose parents are missing or run in a
/// circle; settings that slurm.conf would not take.
pub fn read(file: &str, input: impl Read) -> Result<Site, InputError> {
    let text = read_text(file, input)?;
    let place = place::Text::new(file, &text);
    match file::parse(&place) {
        Ok(described) => rows::build(&place, described),
        Err(_) if has_machines(place.text) => super::queue::as_site(&place),
        Err(error) => Err(error),
    }
}

/// Returns true for a site of machines that ask what is next; only they have the table `machines`.
fn has_machines(text: &str) -> bool {
    let table = toml::from_str::<toml::Table>(text);
    table.is_ok_and(|table| table.contains_key("machines"))
}

/// All of a stream as text of at most [`MAX_BYTES`].
pub(in crate::input) fn read_text(file: &str, input: impl Read) -> Result<String, InputError> {
    let mut bytes = Vec::new();
    let read = input.take(MAX_BYTES + 1).read_to_end(&mut bytes);
    read.map_err(|error| InputError::new(file, error))?;
    if bytes.len() as u64 > MAX_BYTES {
        let problem = Problem::Structure(format!("is longer than {MAX_BYTES} bytes"));
        return Err(InputError::new(file, problem));
    }
    // Each value takes far more memory than the two characters that it may be written in.
    let begins = |byte: &&u8| matches!(byte, b'=' | b',' | b'[' | b'{');
    if bytes.iter().filter(begins).count() > MAX_VALUES {
        let problem = Problem::Structure(format!("has more than {MAX_VALUES} values"));
        return Err(InputError::new(file, problem));
    }
    String::from_utf8(bytes).map_err(|error| not_utf8(file, &error))
}

fn not_utf8(file: &str, error: &std::string::FromUtf8Error) -> InputError {
    let (before, rest) = error.as_bytes().split_at(error.utf8_error().valid_up_to());
    let before = String::from_utf8_lossy(before);
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let rest = String::from_utf8_lossy(rest);
    let line = format!("{}{}", &before[start..], rest.lines().next().unwrap_or(""));
    InputError::new(
        file,
        Problem::Structure("is not UTF-8, as TOML must be".into()),
    )
    .at_line(before.matches('\n').count() + 1, &line)
    .at_column(before[start..].chars().count() + 1)
    .hint("iconv -f LATIN1 -t UTF-8 makes it so, if that is what it is in")
}

#[cfg(test)]
mod queue_tests;
#[cfg(test)]
mod tests;
