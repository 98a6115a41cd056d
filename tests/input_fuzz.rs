//! Readers given anything: an answer or an error with a place, never a panic.

use fairtree::compat::Compat;
use fairtree::input::{InputError, site, sshare};
use fairtree::report::share;
use proptest::prelude::*;

/// Reads, and goes all the way through a report where there is something to report.
fn through(text: &[u8]) -> Result<(), InputError> {
    let site = site::read("f", text).map(|site| {
        share::from_site(&site, site.config.algorithm(), site.config.compat);
    });
    let listing = sshare::read("f", text).and_then(|listing| {
        let algorithm = share::algorithm_of(&listing);
        let report = share::from_listing(&listing, algorithm, Compat::Documented)?;
        share::check(&listing, &report)?;
        let shown = share::select(&report, &share::Select::default());
        let table = share::Table {
            fields: sshare::Column::ALL.map(sshare::Field::from).to_vec(),
            header: true,
            separator: share::Separator::Columns,
        };
        table
            .write(&mut Vec::new(), &report, &shown)
            .expect("memory");
        share::to_json(&mut Vec::new(), &report, &shown).expect("memory");
        Ok(())
    });
    site.or(listing)
}

/// Pieces that listings are made of, right and wrong.
const PIECES: [&str; 27] = [
    "Account",
    "User",
    "RawShares",
    "RawUsage",
    "LevelFS",
    "FairShare",
    "NormShares",
    "|",
    "||",
    " ",
    "   ",
    "\n",
    "\n ",
    "\n  ",
    "root",
    "phys+",
    "parent",
    "inf",
    "nan",
    "0",
    "18446744073709551613",
    "1.5085e+04",
    "0.000000",
    "m\u{f8}",
    "----------",
    "$ sshare -o A,U\n",
    "CLUSTER: x\n",
];

proptest! {
    #[test]
    fn bytes(text in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let Err(error) = through(&text) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn pieces_of_listings(picks in proptest::collection::vec(0..PIECES.len(), 0..60)) {
        let text: String = picks.into_iter().map(|pick| PIECES[pick]).collect();
        if let Err(error) = through(text.as_bytes()) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn damaged_listings(at in 0usize..600, byte in any::<u8>(), cut in 0usize..600) {
        let mut text = include_bytes!("golden/week-long.txt").to_vec();
        let length = text.len();
        text[at % length] = byte;
        text.truncate(length - cut % length);
        let _ = through(&text);
    }

    #[test]
    fn damaged_sites(at in 0usize..900, byte in any::<u8>()) {
        let mut text = include_bytes!("sites/week.toml").to_vec();
        let length = text.len();
        text[at % length] = byte;
        let _ = through(&text);
    }
}
