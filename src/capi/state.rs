//! Saving an `ft_tree` into bytes, and restoring it.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `FAIRTREE` |
//! | 4 | version of the format: 1, or 2 where usage is in a window or since a date |
//! | 4 | number of associations |
//! | 8 | moment of the usage, seconds since 1970 |
//! | 8 | last reset, seconds since 1970 |
//! | 36 each | id, parent, raw shares, kind (4 each); own and raw usage (mantissa 8, sign and exponent 2 each) |
//! | 8 | format 2: length of what follows but the checksum |
//! | … | format 2: length of the window (8) and resolution (4), plan (8), number of plans (4), each id (4) and plan (8); number of TRES (4), each length (4) and name; the ledger as in the plugin's file, where accounts are ids |
//! | 4 | CRC-32 (IEEE) of all bytes before |
//!
//! A plan is the date of a total, seconds since 1970, or -1 for the window.
//!
//! All numbers are little-endian, so that a state may move between machines. Usage is kept as
//! x87 does, so that restoring loses no bit.

use crate::engine::Site;
use crate::extended::Extended;
use crate::tree::Tree;
use crate::usage::{RawUsage, Windowed};

use super::error::{Failure, Status};
use super::guard;
use super::handle;
use super::tree::{AssocRow, TreeHandle, TreeModel};
use super::view::{self, Out, OutArray};

const MAGIC: &[u8; 8] = b"FAIRTREE";
/// Without a window.
const VERSION: u32 = 1;
/// With one.
const WITH_WINDOW: u32 = 2;
const HEAD: usize = 32;
const ROW: usize = 36;
const TAIL: usize = 4;

fn size(associations: usize) -> usize {
    HEAD + associations * ROW + TAIL
}

fn saved_len(model: &TreeModel) -> usize {
    match model.raw_usage() {
        Ok(_) => size(model.tree().len()),
        Err(_) => save(model).len(),
    }
}

fn save(model: &TreeModel) -> Vec<u8> {
    let rows = model.tree().rows();
    let count = u32::try_from(rows.len()).expect("positions are 32 bits wide");
    let mut bytes = Vec::with_capacity(size(rows.len()));
    bytes.extend(MAGIC);
    let window = model.site.model().save(model.tree());
    let version = window.as_ref().map_or(VERSION, |_| WITH_WINDOW);
    bytes.extend(version.to_le_bytes());
    bytes.extend(count.to_le_bytes());
    bytes.extend(model.site.moment().to_le_bytes());
    bytes.extend(model.site.last_reset().to_le_bytes());
    // In a window these numbers are not used.
    let unused;
    let raw_usage = match model.raw_usage() {
        Ok(raw_usage) => raw_usage,
        Err(_) => {
            unused = RawUsage::new(model.tree());
            &unused
        }
    };
    for (position, assoc) in rows.iter().enumerate() {
        let row = AssocRow::from(assoc);
        for number in [row.id, row.parent, row.raw_shares, row.kind] {
            bytes.extend(number.to_le_bytes());
        }
        for usage in [raw_usage.own()[position], raw_usage.raw()[position]] {
            let (mantissa, sign_exponent) = usage.to_x87();
            bytes.extend(mantissa.to_le_bytes());
            bytes.extend(sign_exponent.to_le_bytes());
        }
    }
    if let Some(window) = window {
        bytes.extend((window.len() as u64).to_le_bytes());
        bytes.extend(window);
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn damaged(why: &str) -> Failure {
    Failure::new(Status::FT_ERR_STATE_DAMAGED, format!("bytes: {why}"))
}

/// Reads numbers from the front of bytes whose length was checked.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], Failure> {
        let (number, rest) = self
            .0
            .split_first_chunk()
            .ok_or_else(|| damaged("they are cut short"))?;
        self.0 = rest;
        Ok(*number)
    }
    fn u32(&mut self) -> Result<u32, Failure> {
        self.take().map(u32::from_le_bytes)
    }
    fn i64(&mut self) -> Result<i64, Failure> {
        self.take().map(i64::from_le_bytes)
    }
    fn usage(&mut self) -> Result<Extended, Failure> {
        let mantissa = u64::from_le_bytes(self.take()?);
        let sign_exponent = u16::from_le_bytes(self.take()?);
        Extended::from_x87(mantissa, sign_exponent)
            .ok_or_else(|| damaged("usage that is not a number"))
    }
}

fn restore(bytes: &[u8]) -> Result<TreeModel, Failure> {
    if !bytes.starts_with(MAGIC) {
        return Err(damaged("they are no saved state"));
    }
    let mut numbers = Numbers(&bytes[MAGIC.len()..]);
    let version = numbers.u32()?;
    if version != VERSION && version != WITH_WINDOW {
        return Err(Failure::new(
            Status::FT_ERR_STATE_VERSION,
            format!(
                "bytes: the state has format {version}, this version reads {VERSION} and \
                 {WITH_WINDOW}"
            ),
        ));
    }
    let count = numbers.u32()? as usize;
    let rows = count
        .checked_mul(ROW)
        .and_then(|rows| rows.checked_add(HEAD));
    let window_len = |rows: usize| {
        let mut rest = Numbers(bytes.get(rows..)?);
        usize::try_from(u64::from_le_bytes(rest.take().ok()?)).ok()
    };
    let content = match version {
        WITH_WINDOW => rows.and_then(|rows| rows.checked_add(8)?.checked_add(window_len(rows)?)),
        _ => rows,
    };
    if content.and_then(|content| content.checked_add(TAIL)) != Some(bytes.len()) {
        return Err(damaged(&format!(
            "a state of {count} associations does not have {} bytes",
            bytes.len()
        )));
    }
    let (content, checksum) = bytes.split_at(bytes.len() - TAIL);
    if crc32fast::hash(content).to_le_bytes() != checksum {
        return Err(damaged("the checksum does not match"));
    }
    let window = (version == WITH_WINDOW).then(|| &content[HEAD + count * ROW + 8..]);
    contents(numbers, count, window)
}

fn contents(
    mut numbers: Numbers<'_>,
    count: usize,
    window: Option<&[u8]>,
) -> Result<TreeModel, Failure> {
    let (moment, last_reset) = (numbers.i64()?, numbers.i64()?);
    let mut assocs = Vec::with_capacity(count);
    let (mut own, mut raw) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for _ in 0..count {
        let row = AssocRow {
            id: numbers.u32()?,
            parent: numbers.u32()?,
            raw_shares: numbers.u32()?,
            kind: numbers.u32()?,
        };
        let assoc = row.assoc().map_err(|failure| damaged(&failure.sentence))?;
        assocs.push(assoc);
        own.push(numbers.usage()?);
        raw.push(numbers.usage()?);
    }
    let tree = Tree::from_rows(assocs).map_err(|error| damaged(&error.to_string()))?;
    let raw_usage = RawUsage::from_own_and_raw(&tree, own, raw);
    let raw_usage = raw_usage.map_err(|error| damaged(&error.to_string()))?;
    let Some(bytes) = window else {
        return Ok(TreeModel::new(tree, raw_usage, moment, last_reset));
    };
    let usage = Windowed::restore(&tree, bytes, moment).map_err(|why| damaged(&why))?;
    Ok(TreeModel {
        site: Site::new(tree, Box::new(usage), last_reset),
        factors: None,
    })
}

/// Tells how many bytes ft_state_save() writes for this tree.
///
/// `bytes_len`: receives the number; it is valid until associations are added or removed, and in a
/// window or since a date (ft_usage_configure) until anything changes.
///
/// Errors: FT_ERR_NULL, FT_ERR_ALIGN, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_state_size(tree: *const TreeHandle, bytes_len: *mut usize) -> i32 {
    guard::status("ft_state_size", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = Out::new(bytes_len, "bytes_len")?;
        // SAFETY: the caller passes a writable pointer.
        unsafe { out.write(saved_len(model)) };
        Ok(())
    })
}

/// Saves associations, shares, usage, its moment and the last reset into bytes of yours.
///
/// The bytes have a version and a checksum, and are the same on every machine. Factors are not
/// saved: they follow from the rest. In a window or since a date (ft_usage_configure) runs whose end
/// was not told are saved, too, in a format that versions without ft_usage_configure() do not read.
///
/// `bytes`: receives them. `bytes_len`: as from ft_state_size().
///
/// Errors: FT_ERR_LENGTH, FT_ERR_NULL, FT_ERR_HANDLE, FT_ERR_POISONED.
/// Threads: any number may read one tree at a time.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_state_save(
    tree: *const TreeHandle,
    bytes: *mut u8,
    bytes_len: usize,
) -> i32 {
    guard::status("ft_state_save", || {
        // SAFETY: the caller passes a live handle that no other thread changes during the call.
        let model = unsafe { handle::shared(tree, "tree")? };
        let out = OutArray::new(bytes, bytes_len, "bytes")?;
        let saved = save(model);
        out.expect_len(saved.len(), "bytes to save", "bytes")?;
        // SAFETY: the caller passes a writable array.
        unsafe { out.write(saved) };
        Ok(())
    })
}

/// Replaces the tree by a saved one. Its usage is equal to the last bit; compute factors next.
/// For ft_pass() all runs count as charged until the saved moment.
///
/// `bytes`: as from ft_state_save() of this version or an earlier one.
///
/// Errors: FT_ERR_STATE_DAMAGED, FT_ERR_STATE_VERSION, FT_ERR_NULL, FT_ERR_LENGTH,
/// FT_ERR_HANDLE, FT_ERR_POISONED. The tree is then unchanged.
/// Threads: one at a time per tree.
#[unsafe(no_mangle)]
#[must_use]
pub unsafe extern "C" fn ft_state_restore(
    tree: *mut TreeHandle,
    bytes: *const u8,
    bytes_len: usize,
) -> i32 {
    guard::status("ft_state_restore", || {
        // SAFETY: the caller passes a live handle that no other thread uses, and readable bytes.
        let (mut handle, bytes) = unsafe {
            (
                handle::exclusive(tree, "tree")?,
                view::slice(bytes, bytes_len, "bytes")?,
            )
        };
        let restored = restore(bytes)?;
        handle.edit(|model| *model = restored);
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Assoc, AssocKind, Shares};

    fn model() -> TreeModel {
        let assoc = |id, parent, kind, shares| Assoc {
            id,
            parent,
            kind,
            shares,
        };
        let tree = Tree::from_rows([
            assoc(1, None, AssocKind::Account, Shares::Raw(1)),
            assoc(2, Some(1), AssocKind::Account, Shares::Parent),
            assoc(7, Some(2), AssocKind::User, Shares::Raw(3)),
        ])
        .unwrap();
        let mut raw_usage = RawUsage::new(&tree);
        let user = tree.index_of(7).unwrap();
        raw_usage.charge(&tree, user, 1000.0 / 3.0).unwrap();
        raw_usage.decay(0.7);
        TreeModel::new(tree, raw_usage, 1_700_000_000, -5)
    }

    #[test]
    fn restored_is_what_was_saved_to_the_last_bit() {
        let saved = model();
        let bytes = save(&saved);
        assert_eq!(bytes.len(), size(3));
        let restored = restore(&bytes).unwrap();
        assert_eq!(restored.tree().rows(), saved.tree().rows());
        assert_eq!(restored.raw_usage().unwrap(), saved.raw_usage().unwrap());
        assert_eq!(restored.site.moment(), 1_700_000_000);
        assert_eq!(restored.site.last_reset(), -5);
    }

    #[test]
    fn every_damage_is_noticed() {
        let bytes = save(&model());
        for len in 0..bytes.len() {
            assert!(restore(&bytes[..len]).is_err(), "cut at {len}");
        }
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(restore(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn a_later_format_is_told_apart() {
        let mut bytes = save(&model());
        bytes[8] = 3;
        let failure = restore(&bytes).err().unwrap();
        assert_eq!(failure.status, Status::FT_ERR_STATE_VERSION);
    }

    #[test]
    fn contents_are_checked_behind_a_right_checksum() {
        let mut bytes = save(&model());
        let end = bytes.len() - TAIL;
        // The second row gets the id of the first.
        bytes[HEAD + ROW] = 1;
        let checksum = crc32fast::hash(&bytes[..end]);
        bytes[end..].copy_from_slice(&checksum.to_le_bytes());
        let failure = restore(&bytes).err().unwrap();
        assert_eq!(failure.status, Status::FT_ERR_STATE_DAMAGED);
        assert!(
            failure.sentence.contains("duplicate association id 1"),
            "{}",
            failure.sentence
        );
    }
}
