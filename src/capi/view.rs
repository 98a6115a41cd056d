//! Views of the caller's memory: every pointer and length is checked here, once.
//!
//! Inputs become slices. Outputs stay raw pointers inside [`Out`] and [`OutArray`], because the
//! caller's memory may be uninitialised and may overlap an input; they are written last.

use std::alloc::Layout;
use std::borrow::Cow;
use std::ffi::{CStr, c_char};
use std::mem::{align_of, size_of};

use super::error::{Failure, Status};

/// A type of which every bit pattern is a value.
///
/// # Safety
/// The implementor keeps that promise: any bytes of C memory may be read as it.
pub(super) unsafe trait Plain: Copy {}

// SAFETY: numbers have no invalid bit patterns; pointers are checked before they are followed.
unsafe impl Plain for u8 {}
// SAFETY: as above.
unsafe impl Plain for u32 {}
// SAFETY: as above.
unsafe impl Plain for u64 {}
// SAFETY: as above.
unsafe impl Plain for i32 {}
// SAFETY: as above.
unsafe impl Plain for f64 {}
// SAFETY: as above.
unsafe impl Plain for usize {}
// SAFETY: as above.
unsafe impl Plain for *const c_char {}

/// Refuses NULL and pointers that are not aligned for `layout`.
pub(super) fn check_pointer(
    pointer: *const u8,
    argument: &str,
    layout: Layout,
) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::new(
            Status::FT_ERR_NULL,
            format!("{argument} is NULL"),
        ));
    }
    if pointer.addr() % layout.align() != 0 {
        return Err(Failure::new(
            Status::FT_ERR_ALIGN,
            format!(
                "{argument} is not aligned: its address must be a multiple of {}",
                layout.align()
            ),
        ));
    }
    Ok(())
}

/// Refuses arrays that are NULL but not empty, misaligned, or longer than memory can be.
fn check_array(
    pointer: *const u8,
    len: usize,
    stride: usize,
    align: usize,
    argument: &str,
) -> Result<(), Failure> {
    let too_long = || {
        Failure::new(
            Status::FT_ERR_LENGTH,
            format!("{argument}: no array has {len} entries of {stride} bytes"),
        )
    };
    if len == 0 && pointer.is_null() {
        return Ok(());
    }
    let bytes = len.checked_mul(stride).ok_or_else(too_long)?;
    let layout = Layout::from_size_align(bytes, align).map_err(|_| too_long())?;
    check_pointer(pointer, argument, layout)?;
    pointer.addr().checked_add(bytes).ok_or_else(too_long)?;
    Ok(())
}

/// An input array; (NULL, 0) is empty.
///
/// # Safety
/// `pointer` is NULL or points to `len` readable values that do not change while the result
/// lives.
pub(super) unsafe fn slice<'a, T: Plain>(
    pointer: *const T,
    len: usize,
    argument: &str,
) -> Result<&'a [T], Failure> {
    check_array(
        pointer.cast(),
        len,
        size_of::<T>(),
        align_of::<T>(),
        argument,
    )?;
    if len == 0 {
        return Ok(&[]);
    }
    // SAFETY: not NULL, aligned, of a size that fits in memory; readable as promised.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// An input array of structs that may have grown since the caller was compiled.
///
/// `row_size` is the caller's `sizeof`. Fields that a newer caller has and this version does not
/// know must be zero.
///
/// # Safety
/// `pointer` is NULL or points to `len` readable rows of `row_size` bytes that do not change
/// while the result lives.
pub(super) unsafe fn rows<'a, T: Plain>(
    pointer: *const T,
    len: usize,
    row_size: usize,
    argument: &str,
) -> Result<Cow<'a, [T]>, Failure> {
    check_row_size::<T>(row_size, argument)?;
    if row_size == size_of::<T>() {
        // SAFETY: as promised by the caller of this function.
        return Ok(Cow::Borrowed(unsafe { slice(pointer, len, argument)? }));
    }
    check_array(pointer.cast(), len, row_size, align_of::<T>(), argument)?;
    let bytes: &[u8] = match len {
        0 => &[],
        // SAFETY: the size was checked above; readable as promised.
        _ => unsafe { std::slice::from_raw_parts(pointer.cast(), len * row_size) },
    };
    let mut rows = Vec::with_capacity(len);
    for (number, row) in bytes.chunks_exact(row_size).enumerate() {
        if row[size_of::<T>()..].iter().any(|byte| *byte != 0) {
            return Err(Failure::new(
                Status::FT_ERR_STRUCT_SIZE,
                format!("{argument}[{number}] uses fields that this version does not know"),
            ));
        }
        // SAFETY: the row has at least the size of T, and all bytes of memory are a T.
        rows.push(unsafe { row.as_ptr().cast::<T>().read_unaligned() });
    }
    Ok(Cow::Owned(rows))
}

fn check_row_size<T>(row_size: usize, argument: &str) -> Result<(), Failure> {
    if row_size < size_of::<T>() || row_size % align_of::<T>() != 0 {
        return Err(Failure::new(
            Status::FT_ERR_STRUCT_SIZE,
            format!(
                "{argument}: rows of {row_size} bytes, but sizeof is {}",
                size_of::<T>()
            ),
        ));
    }
    Ok(())
}

/// An input struct that begins with `size_t struct_size`.
///
/// # Safety
/// `pointer` is NULL or points to a readable struct of as many bytes as its first field says.
pub(super) unsafe fn options<T: Plain>(pointer: *const T, argument: &str) -> Result<T, Failure> {
    check_pointer(pointer.cast(), argument, Layout::new::<T>())?;
    // SAFETY: not NULL and aligned; at least the first field is readable, as promised.
    let struct_size = unsafe { pointer.cast::<usize>().read() };
    // SAFETY: as promised by the caller of this function.
    let found = unsafe { rows(pointer, 1, struct_size, argument)? };
    Ok(found[0])
}

/// A NUL-terminated UTF-8 string.
///
/// # Safety
/// `pointer` is NULL or points to bytes of which one is 0, unchanged while the result lives.
pub(super) unsafe fn string<'a>(
    pointer: *const c_char,
    argument: &str,
) -> Result<&'a str, Failure> {
    check_pointer(pointer.cast(), argument, Layout::new::<u8>())?;
    // SAFETY: not NULL; terminated as promised.
    utf8(unsafe { CStr::from_ptr(pointer) }.to_bytes(), argument)
}

/// A UTF-8 text with a length; (NULL, 0) is empty.
///
/// # Safety
/// As for [`slice()`].
pub(super) unsafe fn text<'a>(
    pointer: *const c_char,
    len: usize,
    argument: &str,
) -> Result<&'a str, Failure> {
    // SAFETY: as promised by the caller of this function.
    utf8(
        unsafe { slice(pointer.cast::<u8>(), len, argument)? },
        argument,
    )
}

fn utf8<'a>(bytes: &'a [u8], argument: &str) -> Result<&'a str, Failure> {
    std::str::from_utf8(bytes).map_err(|error| {
        Failure::new(
            Status::FT_ERR_UTF8,
            format!(
                "{argument} is not UTF-8 from byte {} on",
                error.valid_up_to()
            ),
        )
    })
}

/// The memory for one result.
pub(super) struct Out<T>(*mut T);

impl<T: Copy> Out<T> {
    /// Checks the pointer.
    pub(super) fn new(pointer: *mut T, argument: &str) -> Result<Out<T>, Failure> {
        check_pointer(pointer.cast_const().cast(), argument, Layout::new::<T>())?;
        Ok(Out(pointer))
    }

    /// Checks the pointer; NULL means that the result is not wanted.
    pub(super) fn optional(pointer: *mut T, argument: &str) -> Result<Option<Out<T>>, Failure> {
        if pointer.is_null() {
            return Ok(None);
        }
        Out::new(pointer, argument).map(Some)
    }

    /// # Safety
    /// The pointer is writable, and no reference to that memory is used afterwards.
    pub(super) unsafe fn write(&self, value: T) {
        // SAFETY: not NULL, aligned; writable as promised.
        unsafe { self.0.write(value) }
    }
}

/// The memory for an array of results.
pub(super) struct OutArray<T> {
    pointer: *mut T,
    len: usize,
    stride: usize,
}

// SAFETY: a pointer and two numbers; the writer promises that no other thread uses that entry.
unsafe impl<T: Plain + Sync> Sync for OutArray<T> {}

impl<T: Plain> OutArray<T> {
    /// Checks pointer and length; (NULL, 0) is empty.
    pub(super) fn new(pointer: *mut T, len: usize, argument: &str) -> Result<Self, Failure> {
        OutArray::rows(pointer, len, size_of::<T>(), argument)
    }

    /// The same for structs that may have grown since the caller was compiled: what this version
    /// does not know becomes zero.
    pub(super) fn rows(
        pointer: *mut T,
        len: usize,
        row_size: usize,
        argument: &str,
    ) -> Result<Self, Failure> {
        check_row_size::<T>(row_size, argument)?;
        let start = pointer.cast_const().cast();
        check_array(start, len, row_size, align_of::<T>(), argument)?;
        Ok(OutArray {
            pointer,
            len,
            stride: row_size,
        })
    }

    /// Entries.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Refuses another length than `expected`, of which there is one per `what`.
    pub(super) fn expect_len(
        &self,
        expected: usize,
        what: &str,
        argument: &str,
    ) -> Result<(), Failure> {
        expect_len(self.len, expected, what, argument)
    }

    /// Returns true if a byte of `values` lies in the array.
    pub(super) fn overlaps<U>(&self, values: &[U]) -> bool {
        let start = self.pointer.addr();
        let (first, bytes) = (values.as_ptr().addr(), size_of_val(values));
        // Neither wraps: both were checked.
        first < start + self.len * self.stride && start < first + bytes
    }

    /// Writes one entry; one beyond the array is not written.
    ///
    /// # Safety
    /// The array is writable, and no reference to that entry's memory is used afterwards.
    #[inline(always)]
    pub(super) unsafe fn write_at(&self, number: usize, value: T) {
        if number >= self.len {
            return;
        }
        // SAFETY: inside the array, whose size was checked; writable as promised.
        unsafe {
            let row = self.pointer.byte_add(number * self.stride);
            row.write(value);
            if self.stride > size_of::<T>() {
                row.add(1)
                    .cast::<u8>()
                    .write_bytes(0, self.stride - size_of::<T>());
            }
        }
    }

    /// Writes all entries at once; those beyond the array are not written.
    ///
    /// # Safety
    /// The array is writable, `values` is not in it, and no reference to that memory is used
    /// afterwards.
    pub(super) unsafe fn write_all(self, values: &[T]) {
        if self.stride == size_of::<T>() {
            let len = self.len.min(values.len());
            // SAFETY: inside the array, whose size was checked; writable and apart as promised.
            unsafe { self.pointer.copy_from_nonoverlapping(values.as_ptr(), len) };
        } else {
            // SAFETY: as promised by the caller of this function.
            unsafe { self.write(values.iter().copied()) }
        }
    }

    /// # Safety
    /// The array is writable, and no reference to that memory is used afterwards.
    pub(super) unsafe fn write(self, values: impl IntoIterator<Item = T>) {
        for (number, value) in values.into_iter().take(self.len).enumerate() {
            // SAFETY: as promised by the caller of this function.
            unsafe { self.write_at(number, value) }
        }
    }
}

/// Refuses another length than `expected`, of which there is one per `what`.
pub(super) fn expect_len(
    len: usize,
    expected: usize,
    what: &str,
    argument: &str,
) -> Result<(), Failure> {
    if len == expected {
        return Ok(());
    }
    Err(Failure::new(
        Status::FT_ERR_LENGTH,
        format!("{argument} has {len} entries, but there are {expected} {what}"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ptr;

    fn status<T>(result: Result<T, Failure>) -> Status {
        match result {
            Ok(_) => Status::FT_OK,
            Err(failure) => failure.status,
        }
    }

    #[derive(Clone, Copy, Debug, PartialEq)]
    #[repr(C)]
    struct Pair(u32, u32);
    // SAFETY: numbers only.
    unsafe impl Plain for Pair {}

    // Nothing is read where a check fails, so the pointers may be anything.
    #[test]
    fn arrays_that_cannot_be() {
        let numbers = [1_u32, 2];
        let start = numbers.as_ptr();
        // SAFETY: refused before anything is read, or of the right length.
        unsafe {
            assert_eq!(slice(start, 2, "x").unwrap(), numbers);
            assert!(slice(ptr::null::<u32>(), 0, "x").unwrap().is_empty());
            assert_eq!(
                status(slice(ptr::null::<u32>(), 1, "x")),
                Status::FT_ERR_NULL
            );
            let odd = start.wrapping_byte_add(1);
            assert_eq!(status(slice(odd, 1, "x")), Status::FT_ERR_ALIGN);
            for len in [usize::MAX, usize::MAX / 4, isize::MAX as usize / 4 + 1] {
                assert_eq!(status(slice(start, len, "x")), Status::FT_ERR_LENGTH);
            }
            // It would end after the last address.
            let last = ptr::without_provenance::<u32>(usize::MAX - 7);
            assert_eq!(status(slice(last, 2, "x")), Status::FT_ERR_LENGTH);
        }
    }

    #[test]
    fn rows_of_a_newer_caller() {
        let mut longer = [1_u32, 2, 0, 3, 4, 0];
        // SAFETY: two rows of three numbers.
        let found = unsafe { rows(longer.as_ptr().cast::<Pair>(), 2, 12, "x").unwrap() };
        assert_eq!(*found, [Pair(1, 2), Pair(3, 4)]);
        longer[5] = 9;
        // SAFETY: as above.
        let unknown = unsafe { rows(longer.as_ptr().cast::<Pair>(), 2, 12, "x") };
        assert_eq!(
            unknown.err().unwrap().sentence,
            "x[1] uses fields that this version does not know"
        );
        // SAFETY: refused before anything is read.
        unsafe {
            for row_size in [0, 4, 7, 9] {
                let found = rows(longer.as_ptr().cast::<Pair>(), 1, row_size, "x");
                assert_eq!(status(found), Status::FT_ERR_STRUCT_SIZE);
            }
        }
    }

    #[test]
    fn results_for_a_newer_caller() {
        let mut longer = [7_u32; 7];
        let start = longer.as_mut_ptr().cast::<Pair>();
        let out = OutArray::rows(start, 2, 12, "x").unwrap();
        // SAFETY: two rows of three numbers; a third one does not fit and is not written.
        unsafe { out.write([Pair(1, 2), Pair(3, 4), Pair(5, 6)]) };
        assert_eq!(longer, [1, 2, 0, 3, 4, 0, 7]);
    }

    #[test]
    fn strings_say_where_they_are_not_utf8() {
        let bytes = b"ab\xff\0";
        // SAFETY: terminated.
        let found = unsafe { string(bytes.as_ptr().cast(), "x") };
        assert_eq!(
            found.err().unwrap().sentence,
            "x is not UTF-8 from byte 2 on"
        );
        // SAFETY: two readable bytes.
        let found = unsafe { text(bytes.as_ptr().cast(), 2, "x") };
        assert_eq!(found.unwrap(), "ab");
    }
}
