//! Files that are damaged: an error that tells where, or another history.

use proptest::prelude::*;

use super::naive::sample;
use super::*;

#[test]
fn every_damage_is_noticed_and_placed() {
    let bytes = sample(3600).save();
    assert_eq!(UsageHistory::load(&bytes).unwrap().save(), bytes);
    for len in 0..bytes.len() {
        assert!(UsageHistory::load(&bytes[..len]).is_err(), "cut at {len}");
    }
    for bit in 0..bytes.len() * 8 {
        let mut flipped = bytes.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(UsageHistory::load(&flipped).is_err(), "bit {bit}");
    }
    let error = UsageHistory::load(&bytes[..4]).unwrap_err().to_string();
    assert_eq!(error, "byte 0: bad magic number: no ledger");
    let mut later = bytes.clone();
    later[8] = 2;
    let error = UsageHistory::load(&later).unwrap_err();
    assert_eq!(error.to_string(), "byte 8: format 2; this version reads 1");
}

#[test]
fn contents_are_checked_behind_a_right_checksum() {
    let bytes = sample(3600).save();
    let end = bytes.len() - 4;
    let mut loaded = 0;
    for at in 12..end {
        for byte in [
            0,
            1,
            bytes[at].wrapping_add(1),
            bytes[at] ^ 0x80,
            0x7f,
            0xff,
        ] {
            let mut wrong = bytes.clone();
            wrong[at] = byte;
            let checksum = crc32fast::hash(&wrong[..end]);
            wrong[end..].copy_from_slice(&checksum.to_le_bytes());
            match UsageHistory::load(&wrong) {
                // Another history, as written; all in it can be used.
                Ok(history) => {
                    loaded += 1;
                    assert_eq!(history.save(), wrong);
                }
                Err(WindowError::Damaged { offset, .. }) => assert!((12..=end).contains(&offset)),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(loaded > 0);
}

proptest! {
    // Whatever bytes come: an error or a history, and no panic.
    #[test]
    fn any_bytes_are_read_without_panic(
        content in prop::collection::vec(prop_oneof![4 => 0_u8..4, 1 => any::<u8>()], 0..120)
    ) {
        let mut bytes = b"FTLEDGER\x01\0\0\0".to_vec();
        bytes.extend(&content);
        let checksum = crc32fast::hash(&bytes);
        bytes.extend(checksum.to_le_bytes());
        if let Ok(history) = UsageHistory::load(&bytes) {
            prop_assert_eq!(history.save(), bytes);
        }
    }
}
