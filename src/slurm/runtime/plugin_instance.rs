//! The slot for the plugin's one global: filled by init, emptied by fini, and in between read by
//! hooks in any thread of slurmctld.

use super::sync::{Arc, Mutex};
use once_cell::unsync::OnceCell;

/// Holds one value, or nothing.
pub(in crate::slurm) struct PluginInstance<T>(Mutex<OnceCell<Arc<T>>>);

impl<T> PluginInstance<T> {
    /// An empty slot.
    #[cfg(not(feature = "models"))]
    pub(in crate::slurm) const fn new() -> PluginInstance<T> {
        PluginInstance(Mutex::new(OnceCell::new()))
    }

    /// An empty slot.
    #[cfg(feature = "models")]
    pub(in crate::slurm) fn new() -> PluginInstance<T> {
        PluginInstance(Mutex::new(OnceCell::new()))
    }

    /// The value; made by `make` if the slot is empty.
    ///
    /// # Errors
    /// The error of `make`; the slot stays empty.
    pub(in crate::slurm) fn get_or_try_init<E>(
        &self,
        make: impl FnOnce() -> Result<T, E>,
    ) -> Result<Arc<T>, E> {
        let value = self.0.lock();
        let value = value.get_or_try_init(|| make().map(Arc::new))?;
        Ok(Arc::clone(value))
    }

    /// The value. A reference keeps it from being dropped (see [`wait_until_unused`]).
    pub(in crate::slurm) fn get(&self) -> Option<Arc<T>> {
        self.0.lock().get().cloned()
    }

    /// Empties the slot: the value is no longer available.
    pub(in crate::slurm) fn take(&self) -> Option<Arc<T>> {
        self.0.lock().take()
    }
}

/// Waits until no other thread holds a value that was taken out of its slot. `pause` returns false
/// to give up.
pub(in crate::slurm) fn wait_until_unused<T>(value: &Arc<T>, mut pause: impl FnMut() -> bool) {
    while Arc::strong_count(value) > 1 && pause() {}
}

#[cfg(all(test, not(feature = "models")))]
mod tests {
    use super::*;

    #[test]
    fn filled_once_until_it_is_emptied() {
        let slot = PluginInstance::new();
        assert_eq!(slot.get(), None);
        assert_eq!(slot.get_or_try_init(|| Err::<i32, _>("no")), Err("no"));
        assert_eq!(slot.get_or_try_init(|| Ok::<_, ()>(1)).map(|v| *v), Ok(1));
        assert_eq!(slot.get_or_try_init(|| Ok::<_, ()>(2)).map(|v| *v), Ok(1));
        assert_eq!(slot.take().map(|v| *v), Some(1));
        assert_eq!(slot.get(), None);
    }

    #[test]
    fn who_still_has_the_value_is_waited_for() {
        let slot = PluginInstance::new();
        let _ = slot.get_or_try_init(|| Ok::<_, ()>(1));
        let mut hook = slot.get();
        let value = slot.take().unwrap();
        let mut pauses = 0;
        wait_until_unused(&value, || {
            pauses += 1;
            if pauses == 3 {
                hook = None;
            }
            true
        });
        assert_eq!(pauses, 3);
        let _kept = Arc::clone(&value);
        wait_until_unused(&value, || false);
    }
}
