//! A binary heap whose comparison reads data outside its entries.

/// Moves the entry at `at` down until no entry below it should come before it.
pub(crate) fn sift_down<T: Copy>(heap: &mut [T], mut at: usize, before: impl Fn(&T, &T) -> bool) {
    loop {
        let left = 2 * at + 1;
        if left >= heap.len() {
            return;
        }
        let right = left + 1;
        let child = if right < heap.len() && before(&heap[right], &heap[left]) {
            right
        } else {
            left
        };
        if !before(&heap[child], &heap[at]) {
            return;
        }
        heap.swap(child, at);
        at = child;
    }
}

/// Makes a heap of entries in any order.
pub(crate) fn heapify<T: Copy>(heap: &mut [T], before: impl Fn(&T, &T) -> bool) {
    for at in (0..heap.len() / 2).rev() {
        sift_down(heap, at, &before);
    }
}
