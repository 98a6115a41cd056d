mod damage;

use super::order_state::OrderState;
use super::state_file::Image;
use super::state_file::{Damage, Number, Record, RecordWriter, Records, Stamp};
use super::times::{OWN_FILE, SLURM_FILE, Times};
use super::usage_dump::ASSOC_FILE as DUMP_FILE;
use super::*;
use crate::usage::RunTimes;
use std::fs;
use std::path::Path;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

/// A temporary folder that is removed after the test.
pub(super) struct Folder(pub(super) PathBuf);

impl Folder {
    pub(super) fn new(name: &str) -> Folder {
        let path =
            std::env::temp_dir().join(format!("fairtree-state-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(super) fn write(&self, name: &str, bytes: &[u8]) {
        fs::write(self.0.join(name), bytes).unwrap();
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Numbers in x87's format, encoded by hand: 1.0 and 2.5.
const ONE: Number = Number {
    mantissa: 1 << 63,
    sign_exponent: 0x3fff,
};
const TWO_AND_A_HALF: Number = Number {
    mantissa: 0xa000_0000_0000_0000,
    sign_exponent: 0x4000,
};

fn state() -> State {
    let record = |id, usage_raw, wall, tres, tres_len| Record {
        id,
        usage_raw,
        wall,
        tres,
        tres_len,
    };
    State {
        written_at: 2_000,
        last_ran: 1_990,
        previous_ran: 1_690,
        last_reset: 7,
        next_pass: 2_290,
        tres_ids: vec![1, 2],
        assocs: vec![
            record(3, ONE, 0.5, 0, 2),
            record(9, TWO_AND_A_HALF, 0.0, 2, 0),
        ],
        qos: vec![record(1, ONE, 60.25, 2, 1)],
        tres: vec![ONE, TWO_AND_A_HALF, ONE],
        order: OrderState {
            submits: vec![(4, 1_000), (70_000, -5)],
            run_times: Arc::new(run_times()),
        },
    }
}

/// One run of association 3, two of 9.
fn run_times() -> RunTimes {
    let mut times = RunTimes::default();
    for (assoc, secs) in [(3, 5), (9, 60), (9, 0)] {
        times.note(assoc, secs);
    }
    times
}

/// Writes records as the shim does.
fn encode_records(state: &State, records: &[Record]) -> Vec<u8> {
    let number = |bytes: &mut Vec<u8>, number: &Number| {
        bytes.extend_from_slice(&number.mantissa.to_le_bytes());
        bytes.extend_from_slice(&number.sign_exponent.to_le_bytes());
    };
    let mut bytes = Vec::new();
    for record in records {
        bytes.extend_from_slice(&record.id.to_le_bytes());
        number(&mut bytes, &record.usage_raw);
        bytes.extend_from_slice(&record.wall.to_bits().to_le_bytes());
        bytes.extend_from_slice(&(record.tres_len as u32).to_le_bytes());
        for each in &state.tres[record.tres..record.tres + record.tres_len] {
            number(&mut bytes, each);
        }
    }
    bytes
}

#[test]
fn a_writer_leaves_out_what_was_not_used() {
    let number = |mantissa| Number {
        mantissa,
        sign_exponent: if mantissa == 0 { 0 } else { 0x3fff },
    };
    let (zero, one) = (number(0), number(1 << 63));
    let minus_zero = Number {
        mantissa: 0,
        sign_exponent: 0x8000,
    };
    let mut writer = RecordWriter::default();
    for _ in 0..2 {
        writer.clear(3);
        writer.append(7, one, 2.5, [zero, one, zero, minus_zero].into_iter());
        writer.append(8, zero, 0.0, [zero, minus_zero].into_iter());
        writer.append(9, minus_zero, 0.5, [].into_iter());
        writer.append(3, zero, 0.0, [zero, one].into_iter());
    }
    let record = |id, usage_raw, wall, tres, tres_len| Record {
        id,
        usage_raw,
        wall,
        tres,
        tres_len,
    };
    let expected = State {
        assocs: vec![
            record(7, one, 2.5, 0, 2),
            record(9, minus_zero, 0.5, 2, 0),
            record(3, zero, 0.0, 2, 2),
        ],
        tres: vec![zero, one, zero, one],
        ..State::default()
    };
    let written = writer.records().unwrap();
    assert_eq!(written.count, 3);
    assert_eq!(written.bytes, encode_records(&expected, &expected.assocs));
}

/// Calls a function with the file of a state.
fn with_image<T>(state: &State, does: impl FnOnce(&Image<'_>) -> T) -> T {
    let stamp = Stamp {
        written_at: state.written_at,
        last_ran: state.last_ran,
        previous_ran: state.previous_ran,
        last_reset: state.last_reset,
        next_pass: state.next_pass,
    };
    let assocs = encode_records(state, &state.assocs);
    let qos = encode_records(state, &state.qos);
    let records = |list: &[Record], bytes| Records {
        count: list.len() as u32,
        bytes,
    };
    does(&Image::new(
        stamp,
        &state.tres_ids,
        records(&state.assocs, &assocs),
        records(&state.qos, &qos),
        &state.order,
    ))
}

impl State {
    fn encode(&self) -> Vec<u8> {
        with_image(self, |image| image.pieces().concat())
    }
}

fn store(dir: &Path, state: &State) -> Result<(), String> {
    with_image(state, |image| super::store(dir, image, &|| true))
}

/// slurmctld's own files, without records.
fn write_dump(folder: &Folder, time: i64) {
    let mut bytes = vec![0x26, 0x00];
    bytes.extend_from_slice(&time.to_be_bytes());
    folder.write(DUMP_FILE, &bytes);
    folder.write("qos_usage", &bytes);
}

#[test]
fn what_is_written_is_read() {
    assert_eq!(State::decode(&state().encode()), Ok(state()));
    let nothing = State::default();
    assert_eq!(State::decode(&nothing.encode()), Ok(nothing));
}

#[test]
fn records_come_in_any_order_but_once() {
    let mut unordered = state();
    unordered.assocs.reverse();
    let read = State::decode(&unordered.encode()).unwrap();
    let ids: Vec<u32> = read.assocs.iter().map(|record| record.id).collect();
    assert_eq!(ids, [3, 9]);
    let mut twice = state();
    twice.assocs.push(twice.assocs[0].clone());
    assert_eq!(State::decode(&twice.encode()), Err(Damage::Records));
}

#[test]
fn jobs_ascend_by_number() {
    for submits in [vec![(5, 1), (4, 2)], vec![(4, 1), (4, 1)]] {
        let mut disordered = state();
        disordered.order.submits = submits;
        assert_eq!(State::decode(&disordered.encode()), Err(Damage::Records));
    }
}

#[test]
fn another_version_is_refused() {
    let mut bytes = state().encode();
    for other in [5, 7] {
        bytes[8] = other;
        let refused = Err(Damage::Version(u32::from(other)));
        assert_eq!(State::decode(&bytes), refused);
    }
}

#[test]
fn jobs_are_known_whoever_made_the_last_pass() {
    let folder = Folder::new("submits");
    store(&folder.0, &state()).unwrap();
    let expected = state().order;
    assert_eq!(load(&folder.0, true).order, expected);
    // Another plugin has made two passes since: our usage does not count any more, our jobs do.
    for (name, last_ran) in [(SLURM_FILE, 3_000), ("priority_last_decay_ran.old", 2_700)] {
        let times = Times {
            last_ran,
            last_reset: 7,
        };
        folder.write(name, &times.encode());
    }
    let loaded = load(&folder.0, true);
    assert!(loaded.saved.is_none());
    assert_eq!(loaded.order, expected);
    assert_eq!(load(&folder.0, false).order, OrderState::default());
}

#[test]
fn usage_follows_its_tres() {
    let tres = |state: &State| -> Vec<Vec<Number>> {
        let records = state.assocs.iter().chain(&state.qos);
        let numbers = |r: &Record| state.tres[r.tres..r.tres + r.tres_len].to_vec();
        records.map(numbers).collect()
    };
    // TRES 2 is now before TRES 1; TRES 5 is new. The second record has no TRES, the third has one.
    let mut moved = state();
    moved.arrange(&[2, 5, 1]);
    let none = Number::default();
    assert_eq!(
        tres(&moved),
        [
            vec![TWO_AND_A_HALF, none, ONE],
            vec![none; 3],
            vec![none, none, ONE]
        ]
    );
    assert_eq!(moved.tres_ids, [2, 5, 1]);
    let mut removed = state();
    removed.arrange(&[2]);
    assert_eq!(
        tres(&removed),
        [vec![TWO_AND_A_HALF], vec![none], vec![none]]
    );
    let mut same = state();
    same.arrange(&[1, 2]);
    assert_eq!(same, state());
}

#[test]
fn any_damage_is_noticed() {
    let good = state().encode();
    for position in 0..good.len() {
        let mut bad = good.clone();
        bad[position] ^= 0x10;
        assert!(State::decode(&bad).is_err(), "byte {position}");
    }
    for length in 0..good.len() {
        assert!(State::decode(&good[..length]).is_err(), "{length} bytes");
    }
    let mut longer = good.clone();
    longer.push(0);
    assert!(matches!(State::decode(&longer), Err(Damage::Length { .. })));
    assert_eq!(State::decode(b""), Err(Damage::Magic));
}

#[test]
fn slurms_file_is_two_big_endian_times() {
    let folder = Folder::new("times");
    store(&folder.0, &state()).unwrap();
    let bytes = fs::read(folder.0.join(SLURM_FILE)).unwrap();
    assert_eq!(bytes, [0, 0, 0, 0, 0, 0, 7, 0xc6, 0, 0, 0, 0, 0, 0, 0, 7]);
}

#[test]
fn our_state_counts_while_it_is_the_newest() {
    let folder = Folder::new("newest");
    store(&folder.0, &state()).unwrap();
    write_dump(&folder, 1_999);
    let found = load(&folder.0, true);
    assert_eq!(found.next_pass, Some(2_290));
    assert_eq!(found.last_ran, Some(1_990));
    assert_eq!(found.last_reset, Some(7));
    assert_eq!(found.saved, Some(state()));
    assert_eq!(found.usage_as_of, Some(2_000));
    assert!(found.complaints.is_empty());

    let without = load(&folder.0, false);
    assert_eq!((without.last_ran, without.saved), (Some(1_990), None));

    write_dump(&folder, 2_001);
    let found = load(&folder.0, true);
    assert_eq!(found.last_ran, Some(1_990));
    assert_eq!(found.saved, None);
    assert_eq!(found.usage_as_of, Some(2_001));
}

/// A pass of the stock plugin, which keeps the times of the previous pass.
fn stock_pass(folder: &Folder, last_ran: i64) {
    let before = fs::read(folder.0.join(SLURM_FILE)).unwrap();
    folder.write("priority_last_decay_ran.old", &before);
    let times = Times {
        last_ran,
        last_reset: 8,
    };
    folder.write(SLURM_FILE, &times.encode());
}

/// Writes the states of two passes, one after the other.
fn two_passes(folder: &Folder) -> [State; 2] {
    let before = State {
        written_at: 1_700,
        last_ran: 1_690,
        previous_ran: 1_390,
        ..state()
    };
    for state in [&before, &state()] {
        store(&folder.0, state).unwrap();
    }
    [before, state()]
}

#[test]
fn a_pass_of_another_plugin_makes_our_state_old() {
    for passes in [&[2_500][..], &[2_500, 2_800]] {
        let folder = Folder::new("other");
        two_passes(&folder);
        for last_ran in passes {
            stock_pass(&folder, *last_ran);
        }
        let found = load(&folder.0, true);
        assert_eq!(found.last_ran, passes.last().copied());
        assert_eq!((found.last_reset, found.saved), (Some(8), None));
        assert!(found.complaints.is_empty());
        // The state of the previous pass does not count either.
        folder.write(OWN_FILE, b"");
        let found = load(&folder.0, true);
        assert_eq!(
            (found.last_ran, found.saved),
            (passes.last().copied(), None)
        );
    }
}

#[test]
fn damaged_times_do_not_make_our_state_old() {
    let folder = Folder::new("times-damaged");
    let [_, last] = two_passes(&folder);
    let good = fs::read(folder.0.join(SLURM_FILE)).unwrap();
    for position in 0..8 {
        let mut bad = good.clone();
        bad[position] ^= 0x41;
        folder.write(SLURM_FILE, &bad);
        let found = load(&folder.0, true);
        assert_eq!(
            (found.last_ran, &found.saved),
            (Some(1_990), &Some(last.clone()))
        );
        assert_eq!(found.complaints.len(), 1, "{:?}", found.complaints);
        assert!(found.complaints[0].contains("priority_last_decay_ran is damaged"));
    }
}

#[test]
fn an_orderly_stop_keeps_the_times_of_two_passes() {
    let folder = Folder::new("stop");
    let [_, last] = two_passes(&folder);
    let at_stop = State {
        written_at: 2_100,
        previous_ran: last.last_ran,
        ..last
    };
    store(&folder.0, &at_stop).unwrap();
    assert!(load(&folder.0, true).complaints.is_empty());
    let mut other_reset = fs::read(folder.0.join(SLURM_FILE)).unwrap();
    other_reset[15] ^= 1;
    for bad in [&other_reset, &vec![0xff; 16]] {
        folder.write(SLURM_FILE, bad);
        let found = load(&folder.0, true);
        assert_eq!(found.last_ran, Some(1_990));
        assert_eq!(found.saved.as_ref(), Some(&at_stop));
        assert_eq!(found.complaints.len(), 1, "{:?}", found.complaints);
    }
}

#[test]
fn a_dump_of_the_last_pass_has_its_time_where_slurms_file_is_behind() {
    let folder = Folder::new("dump-behind");
    let [before, last] = two_passes(&folder);
    folder.write(SLURM_FILE, &before.times().encode());
    write_dump(&folder, 2_001);
    let found = load(&folder.0, true);
    assert_eq!((found.last_ran, &found.saved), (Some(last.last_ran), &None));
    assert_eq!(found.usage_as_of, Some(2_001));
    assert!(found.complaints.is_empty());
}

#[test]
fn a_first_dump_lets_slurmctld_start_and_counts_for_nothing() {
    let folder = Folder::new("first-dump");
    store(&folder.0, &state()).unwrap();
    assert_eq!(first_dump::leave(&folder.0, 0x2a00, &|| true), Ok(true));
    // The format of slurmctld's own file, without records; `usage_dump` accepts it.
    for name in ["assoc_usage", "qos_usage"] {
        let bytes = fs::read(folder.0.join(name)).unwrap();
        assert_eq!(bytes, [0x2a, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    }
    let found = load(&folder.0, true);
    assert!(found.complaints.is_empty(), "{:?}", found.complaints);
    assert_eq!(found.saved, Some(state()));
    assert_eq!(found.usage_as_of, Some(2_000));
    // Without our state, all jobs that ended since 1970 are charged again.
    fs::remove_file(folder.0.join(OWN_FILE)).unwrap();
    let found = load(&folder.0, true);
    assert_eq!((found.saved, found.usage_as_of), (None, Some(0)));
    assert_eq!(found.last_ran, Some(1_990));
}

#[test]
fn a_first_dump_replaces_nothing() {
    let folder = Folder::new("no-first-dump");
    write_dump(&folder, 1_999);
    let dump = fs::read(folder.0.join(DUMP_FILE)).unwrap();
    let names = |folder: &Folder| -> Vec<_> {
        let entries = fs::read_dir(&folder.0).unwrap().flatten();
        let mut names: Vec<_> = entries.map(|entry| entry.file_name()).collect();
        names.sort();
        names
    };
    let before = names(&folder);
    first_dump::leave(&folder.0, 0x2a00, &|| true).unwrap();
    assert_eq!(fs::read(folder.0.join(DUMP_FILE)).unwrap(), dump);
    // It is not wanted any more: no file is left.
    let other = Folder::new("unwanted-first-dump");
    assert_eq!(first_dump::leave(&other.0, 0x2a00, &|| false), Ok(false));
    assert!(names(&other).is_empty());
    // An empty file also counts as slurmctld's.
    other.write(DUMP_FILE, b"");
    first_dump::leave(&other.0, 0x2a00, &|| true).unwrap();
    assert!(fs::read(other.0.join(DUMP_FILE)).unwrap().is_empty());
    assert!(names(&folder).len() >= before.len());
    assert!(first_dump::leave(&other.0.join("absent"), 0x2a00, &|| true).is_err());
}
