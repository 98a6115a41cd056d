//! Opaque handles: one C type, one Rust type, one kind of ownership.
//!
//! An `ft_tree *` in C is the address of a [`Slot`] on Rust's heap. Its tag distinguishes the kinds
//! of handles, and a freed handle as long as its memory is not reused; its poison flag is set when
//! a panic has interrupted a change.

use std::alloc::Layout;

use super::error::{Failure, Status};
use super::view;

/// A C handle type and its Rust value.
pub(super) trait Handle: Sized {
    /// Differs between kinds of handles.
    const TAG: u64;
    /// The name in C.
    const NAME: &'static str;
    /// Type of the Rust value.
    type Model;
}

/// The tag comes first, so that it can be read whatever the handle is.
#[repr(C)]
struct Slot<M> {
    tag: u64,
    poisoned: bool,
    model: M,
}

/// A handle that may be changed.
pub(super) struct Exclusive<'a, M>(&'a mut Slot<M>);

impl<M> Exclusive<'_, M> {
    /// The value, to look at.
    pub(super) fn get(&self) -> &M {
        &self.0.model
    }

    /// Changes the value. A panic meanwhile leaves the handle poisoned.
    pub(super) fn edit<R>(&mut self, change: impl FnOnce(&mut M) -> R) -> R {
        self.0.poisoned = true;
        let result = change(&mut self.0.model);
        self.0.poisoned = false;
        result
    }
}

/// Puts `model` on the heap: the caller of the C function owns it from now on.
pub(super) fn new<H: Handle>(model: H::Model) -> *mut H {
    let slot = Slot {
        tag: H::TAG,
        poisoned: false,
        model,
    };
    Box::into_raw(Box::new(slot)).cast()
}

/// Checks a handle that is only looked at.
///
/// # Safety
/// `handle` is NULL, or comes from [`new`] and was not freed, or points to at least 8 readable
/// bytes; no other thread changes it while the result lives.
pub(super) unsafe fn shared<'a, H: Handle>(
    handle: *const H,
    argument: &str,
) -> Result<&'a H::Model, Failure> {
    // SAFETY: as promised by the caller of this function.
    let slot = unsafe { checked(handle.cast_mut(), argument)? };
    // SAFETY: the tag says that this is a slot of this kind; the caller promised the rest.
    let slot = unsafe { &*slot };
    refuse_poisoned::<H>(slot, argument)?;
    Ok(&slot.model)
}

/// Checks a handle for a call that changes it.
///
/// # Safety
/// As for [`shared`], and no other thread uses it while the result lives.
pub(super) unsafe fn exclusive<'a, H: Handle>(
    handle: *mut H,
    argument: &str,
) -> Result<Exclusive<'a, H::Model>, Failure> {
    // SAFETY: as promised by the caller of this function.
    let slot = unsafe { checked(handle, argument)? };
    // SAFETY: the tag says that this is a slot of this kind; the caller promised the rest.
    let slot = unsafe { &mut *slot };
    refuse_poisoned::<H>(slot, argument)?;
    Ok(Exclusive(slot))
}

/// Frees a handle; NULL, and what is no handle of this kind, is left alone.
///
/// # Safety
/// As for [`exclusive`]; the handle is not used again.
pub(super) unsafe fn free<H: Handle>(handle: *mut H) {
    // SAFETY: as promised by the caller of this function.
    if let Ok(slot) = unsafe { checked(handle, "handle") } {
        // SAFETY: the tag says that this is a slot of this kind, made by `new`; the erased tag
        // makes a second free harmless as long as the memory is not used for something else.
        drop(unsafe {
            (*slot).tag = 0;
            Box::from_raw(slot)
        });
    }
}

/// NULL, alignment and tag.
///
/// # Safety
/// As for [`shared`].
unsafe fn checked<H: Handle>(
    handle: *mut H,
    argument: &str,
) -> Result<*mut Slot<H::Model>, Failure> {
    view::check_pointer(
        handle.cast_const().cast(),
        argument,
        Layout::new::<Slot<H::Model>>(),
    )?;
    // SAFETY: at least 8 readable bytes, as promised; alignment was checked.
    let tag = unsafe { handle.cast::<u64>().read() };
    if tag == H::TAG {
        Ok(handle.cast())
    } else {
        Err(Failure::new(
            Status::FT_ERR_HANDLE,
            format!("{argument} is not an {}, or was freed", H::NAME),
        ))
    }
}

fn refuse_poisoned<H: Handle>(slot: &Slot<H::Model>, argument: &str) -> Result<(), Failure> {
    if slot.poisoned {
        return Err(Failure::new(
            Status::FT_ERR_POISONED,
            format!("{argument} was left half-changed by a caught defect: free it"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::panic::{AssertUnwindSafe, catch_unwind};

    struct Number;
    impl Handle for Number {
        const TAG: u64 = 1;
        const NAME: &'static str = "ft_number";
        type Model = i32;
    }
    struct Word;
    impl Handle for Word {
        const TAG: u64 = 2;
        const NAME: &'static str = "ft_word";
        type Model = String;
    }

    fn status<T>(result: Result<T, Failure>) -> Status {
        match result {
            Ok(_) => Status::FT_OK,
            Err(failure) => failure.status,
        }
    }

    #[test]
    fn a_handle_is_of_one_kind() {
        let number = new::<Number>(5);
        // SAFETY: a live handle, used by this thread only, once under a wrong type on purpose.
        unsafe {
            assert_eq!(*shared(number, "number").unwrap(), 5);
            let wrong = shared(number.cast::<Word>(), "word");
            assert_eq!(status(wrong), Status::FT_ERR_HANDLE);
            free(number.cast::<Word>());
            assert_eq!(*shared(number, "number").unwrap(), 5);
            free(number);
        }
    }

    #[test]
    fn null_and_misaligned_handles_are_refused() {
        let number = new::<Number>(5);
        // SAFETY: neither is read.
        unsafe {
            let null = shared(std::ptr::null::<Number>(), "number");
            assert_eq!(status(null), Status::FT_ERR_NULL);
            let odd = exclusive(number.wrapping_byte_add(1), "number");
            assert_eq!(status(odd), Status::FT_ERR_ALIGN);
            free(std::ptr::null_mut::<Number>());
            free(number);
        }
    }

    #[test]
    fn a_panic_poisons_what_it_interrupted() {
        let number = new::<Number>(5);
        let interrupted = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: a live handle, used by this thread only.
            let mut number = unsafe { exclusive(number, "number").unwrap() };
            number.edit(|_| panic!("half-way"))
        }));
        assert!(interrupted.is_err());
        // SAFETY: a live handle, used by this thread only.
        unsafe {
            assert_eq!(status(shared(number, "n")), Status::FT_ERR_POISONED);
            assert_eq!(status(exclusive(number, "n")), Status::FT_ERR_POISONED);
            free(number);
        }
    }
}
