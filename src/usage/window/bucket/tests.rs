use super::*;
use proptest::prelude::*;
use std::collections::BTreeMap;

const WIDTH: usize = 2;

/// A piece and its rate; whether it is taken back later, and how far a reader has come.
fn any_piece() -> impl Strategy<Value = (Piece, [u128; WIDTH], bool, i64)> {
    let piece = (0_i64..60, 1_i64..16, 1_i64..3).prop_map(|(first, count, secs)| Piece {
        first,
        count,
        secs,
    });
    (piece, [0_u128..3, 0..2], any::<bool>(), 0_i64..60)
}

fn naive(map: &mut BTreeMap<i64, [u128; WIDTH]>, piece: Piece, units: [u128; WIDTH], add: bool) {
    for bucket in piece.first..piece.first + piece.count {
        let sums = map.entry(bucket).or_default();
        for (sum, units) in sums.iter_mut().zip(units) {
            let amount = units * piece.secs as u128;
            *sum = if add { *sum + amount } else { *sum - amount };
        }
    }
    map.retain(|_, sums| *sums != [0; WIDTH]);
}

fn expect(buckets: &Buckets, map: &BTreeMap<i64, [u128; WIDTH]>) {
    for (from, to) in [(0, 100), (7, 31), (30, 31), (59, 90)] {
        let mut sums = [0; WIDTH];
        buckets.sum(from, to, &mut sums);
        let mut expected = [0; WIDTH];
        for (_, amounts) in map.range(from..to) {
            expected[0] += amounts[0];
            expected[1] += amounts[1];
        }
        assert_eq!(sums, expected);
        let first = map.range(from..).next().map(|(bucket, _)| *bucket);
        let found = buckets.first_from(from, WIDTH);
        assert!(found.map_or(first.is_none(), |found| {
            first.is_none_or(|first| found <= first)
        }));
    }
    let mut writer = Writer::new(WIDTH);
    for (bucket, amounts) in map {
        writer.push(*bucket, 1, amounts);
    }
    assert_eq!(*buckets.to_bytes(WIDTH, i64::MIN), writer.finish().bytes);
    let mut late = map.clone();
    late.retain(|bucket, _| *bucket >= 25);
    let mut writer = Writer::new(WIDTH);
    for (bucket, amounts) in &late {
        writer.push(*bucket, 1, amounts);
    }
    assert_eq!(*buckets.to_bytes(WIDTH, 25), writer.finish().bytes);
}

proptest! {
    // Against a map of buckets.
    #[test]
    fn buckets_are_a_map(pieces in prop::collection::vec(any_piece(), 0..40), factor in 1_i64..5) {
        let (mut buckets, mut map) = (Buckets::default(), BTreeMap::new());
        for (piece, units, _, floor) in &pieces {
            buckets.change(*piece, units, true);
            naive(&mut map, *piece, *units, true);
            buckets.leave_behind(*floor, WIDTH);
            expect(&buckets, &map);
        }
        let mut twice = buckets.clone();
        twice.add_all(&buckets, WIDTH);
        let double = map.iter().map(|(bucket, sums)| (*bucket, sums.map(|sum| 2 * sum)));
        expect(&twice, &double.collect());
        let swapped = buckets.converted(&[Some(2), Some(1)], 3, factor);
        let mut sums = [0; 3];
        for bucket in 0..100 {
            swapped.sum(bucket, bucket + 1, &mut sums);
            let mut expected = [0; 3];
            for (_, amounts) in map.range(..(bucket + 1) * factor) {
                expected[2] += amounts[0];
                expected[1] += amounts[1];
            }
            prop_assert_eq!(sums, expected);
        }
        for (piece, units, taken_back, _) in &pieces {
            if *taken_back {
                buckets.change(*piece, units, false);
                naive(&mut map, *piece, *units, false);
                expect(&buckets, &map);
            }
        }
        for (piece, units, taken_back, _) in &pieces {
            if !taken_back {
                buckets.change(*piece, units, false);
            }
        }
        prop_assert!(buckets.is_empty(WIDTH, i64::MIN));
    }
}
