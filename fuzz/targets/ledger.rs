//! Files of window ledgers: files from a few charges, with bytes changed and a correct checksum;
//! and arbitrary bytes. A file that can be read is written as the same bytes, and is still usable:
//! it can be made coarser.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use fairtree::usage::window::{Column, Columns, UsageHistory, LeafKey, LedgerRun};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Charge {
    leaf: u8,
    job: Option<u8>,
    from: u32,
    secs: u16,
    cpus: u8,
    whole: bool,
}

#[derive(Arbitrary, Debug)]
struct Input {
    charges: Vec<Charge>,
    cover: [u32; 2],
    changes: Vec<(u16, u8)>,
    raw: Option<Vec<u8>>,
    coarsen: u8,
}

const NOW: i64 = 1 << 33;
const START: i64 = 1_800_000_000;

fn leaf(number: u8) -> LeafKey {
    let user = ["", "ann", "bob"][usize::from(number % 3)];
    LeafKey::new(["a", "b"][usize::from(number / 3 % 2)], user, "").expect("a name")
}

/// A history with these charges, and the charge of each leaf in units of 10^-9 TRES-seconds.
fn made(input: &Input) -> UsageHistory {
    let columns = Columns::new(["cpu"]).expect("columns");
    let mut history = UsageHistory::new("hpc", 3600, columns.clone(), &[START], NOW).expect("new");
    let mut naive = [0.0_f64; 6];
    for charge in input.charges.iter().take(16) {
        let billing = f64::from(charge.cpus) / if charge.whole { 1.0 } else { 3.0 };
        let rate = columns
            .rate(billing, 1.0, &[(0, u64::from(charge.cpus))])
            .expect("a rate");
        let from = START + i64::from(charge.from % 1_000_000);
        let to = from + i64::from(charge.secs);
        let run = charge.job.map(|job| LedgerRun {
            job: u32::from(job % 4),
            run: 1,
        });
        if history
            .charge(&leaf(charge.leaf), run, from, to, &rate)
            .is_ok()
        {
            let at = usize::from(charge.leaf % 3 + 3 * (charge.leaf / 3 % 2));
            naive[at] += billing * f64::from(charge.secs);
        }
    }
    for number in 0..6 {
        let used = history
            .used(&leaf(number), START, NOW - 1, Column::Billing)
            .expect("a time");
        let expected = naive[usize::from(number)];
        // At most a third of a unit is lost per second.
        assert!(
            (used.to_f64() - expected).abs() <= 1e-9 * (1e6 + expected),
            "{used:?} {expected}"
        );
    }
    let [from, to] = input.cover.map(|at| START + i64::from(at % 1_000_000));
    let _ = history.cover(from, to);
    history
}

/// Asserts that a history is consistent after reading.
fn goes_on(history: UsageHistory, input: &Input) {
    let bytes = history.save();
    assert_eq!(
        UsageHistory::load(&bytes).expect("what was written").save(),
        bytes
    );
    let mut other = history.clone();
    let _ = other.coarsen(
        history
            .resolution_secs()
            .saturating_mul(u32::from(input.coarsen)),
    );
    assert!(UsageHistory::load(&other.save()).is_ok());
}

fn with_checksum(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fuzz_target!(|bytes: &[u8]| {
    let Ok(input) = Input::arbitrary(&mut Unstructured::new(bytes)) else {
        return;
    };
    let history = made(&input);
    let mut saved = history.save();
    goes_on(history, &input);
    saved.truncate(saved.len() - 4);
    let end = saved.len();
    for (at, byte) in input.changes.iter().take(8) {
        saved[12 + usize::from(*at) % (end - 12)] = *byte;
    }
    if let Ok(changed) = UsageHistory::load(&with_checksum(saved.clone())) {
        // A history has only one written form.
        assert_eq!(changed.save(), with_checksum(saved));
        goes_on(changed, &input);
    }
    if let Some(raw) = &input.raw {
        for version in [1, 2] {
            let begin = [&b"FTLEDGER"[..], &[version, 0, 0, 0], raw].concat();
            let bytes = with_checksum(begin);
            if let Ok(history) = UsageHistory::load(&bytes) {
                // Version 2 is read as the history that is written as version 1.
                assert!(version == 2 || history.save() == bytes);
                goes_on(history, &input);
            }
        }
        let _ = UsageHistory::load(raw);
    }
});
