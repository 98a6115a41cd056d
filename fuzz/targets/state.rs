//! Saved states, with and without a correct checksum: the plugin's state file, its
//! settings, Slurm's own files, and states of trees and queues from the C ABI. A state that can be
//! read can be saved, and is then read as the same.
#![no_main]

use std::ptr::null_mut;

use fairtree::capi::*;
use fairtree::engine::on_demand::OnDemand;
use fairtree::engine::queue::Queue;
// Files of the plugin use both paths; in the replay of the corpus they are elsewhere.
#[cfg(test)]
use crate::slurm;
#[cfg(not(test))]
use fairtree::usage;
use libfuzzer_sys::fuzz_target;

#[cfg(not(test))]
#[path = "state/slurm.rs"]
mod slurm;

/// The plugin's file: magic, version, checksum, length, payload.
fn plugin(payload: &[u8]) -> Vec<u8> {
    let head = [
        &b"FAIRTREE"[..],
        &6_u32.to_le_bytes(),
        &crc32fast::hash(payload).to_le_bytes(),
        &(payload.len() as u64).to_le_bytes(),
    ];
    [&head.concat(), payload].concat()
}

/// A frame with the length of what follows, and a checksum at the end.
fn framed(magic: &[u8; 8], payload: &[u8]) -> Vec<u8> {
    let head = [
        &magic[..],
        &1_u32.to_le_bytes(),
        &(payload.len() as u64).to_le_bytes(),
    ];
    let mut bytes = [&head.concat(), payload].concat();
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

/// `ft_state_restore`: rows of 36 bytes, after their number and two times.
fn tree(payload: &[u8]) -> Vec<u8> {
    let (times, rows) = payload.split_at(payload.len().min(16));
    let count = rows.len() / 36;
    let mut bytes = b"FAIRTREE".to_vec();
    bytes.extend(1_u32.to_le_bytes());
    bytes.extend((count as u32).to_le_bytes());
    bytes.extend(times);
    bytes.resize(32, 0);
    bytes.extend(&rows[..count * 36]);
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn restore_tree(bytes: &[u8]) {
    // SAFETY: the handle lives until it is freed, arrays have their lengths.
    unsafe {
        let mut tree = null_mut();
        assert_eq!(ft_tree_new(0, &mut tree), 0);
        let status = ft_state_restore(tree, bytes.as_ptr(), bytes.len());
        assert_ne!(status, Status::FT_ERR_PANIC as i32);
        if status == 0 {
            let mut size = 0;
            assert_eq!(ft_state_size(tree, &mut size), 0);
            let mut saved = vec![0; size];
            assert_eq!(ft_state_save(tree, saved.as_mut_ptr(), size), 0);
            let mut again = vec![0; size];
            assert_eq!(ft_state_restore(tree, saved.as_ptr(), size), 0);
            assert_eq!(ft_state_save(tree, again.as_mut_ptr(), size), 0);
            assert_eq!(saved, again);
        }
        ft_tree_free(tree);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((kind, payload)) = bytes.split_first() else {
        return;
    };
    let kind = match kind % 16 {
        kind @ 10.. => kind - 8,
        kind => kind,
    };
    match kind {
        0 => slurm::state::check(payload, &[1, 2]),
        1..4 | 8.. => slurm::state::check(&plugin(payload), &[1, 4, 1002]),
        4 => restore_tree(payload),
        5 => restore_tree(&tree(payload)),
        6 => {
            if let Ok(queue) = Queue::restore(&framed(b"FTQUEUE\0", payload)) {
                let saved = queue.save();
                let again = Queue::restore(&saved).expect("what was saved");
                // Equal queues may have different bytes, of the same length.
                assert_eq!(again.save().len(), saved.len());
            }
        }
        _ => {
            if let Ok(queue) = OnDemand::restore(&framed(b"FTDEMAND", payload)) {
                let saved = queue.save();
                let again = OnDemand::restore(&saved).expect("what was saved");
                assert_eq!(again.save(), saved);
            }
        }
    }
});
