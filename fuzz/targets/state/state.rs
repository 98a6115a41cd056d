//! The plugin's state file, and Slurm's file of times.

#[path = "../../../src/slurm/state/order_state.rs"]
#[allow(dead_code)]
mod order_state;
#[path = "../../../src/slurm/state/state_file.rs"]
#[allow(dead_code)]
mod state_file;
#[path = "../../../src/slurm/state/times.rs"]
#[allow(dead_code)]
mod times;

use state_file::{RecordWriter, State};

fn saved(state: &State) -> Vec<u8> {
    let (mut assocs, mut qos) = (RecordWriter::default(), RecordWriter::default());
    let image = state.image(&mut assocs, &mut qos).expect("memory");
    image.pieces().concat()
}

/// A state that can be read can be written, and is then read as the same; also with these TRES.
pub fn check(bytes: &[u8], tres_ids: &[u32]) {
    let Ok(mut state) = State::decode(bytes) else {
        return;
    };
    let once = saved(&state);
    // Records without usage are left out, and unused TRES after the last used one.
    let again = State::decode(&once).expect("what was written");
    assert_eq!(saved(&again), once);
    assert_eq!(again.times(), state.times());
    state.arrange(tres_ids);
    let again = State::decode(&saved(&state)).expect("what was arranged");
    assert_eq!(again.tres_ids, tres_ids);
}
