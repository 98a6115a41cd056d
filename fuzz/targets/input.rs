//! Every reader of a file, by its format or by the format that the first byte names, through the
//! reports that take it: the result is an answer or an error with a sentence, and neither has a
//! control character.
#![no_main]

use fairtree::compat::Compat;
use fairtree_analysis::prio;
use fairtree_analysis::share::{self, Fractions};
use fairtree_model::input::site::from_assocs;
use fairtree_model::input::{Format, InputError, site, sprio, sshare, stream};
use fairtree_model::listed::Listed;
use libfuzzer_sys::fuzz_target;

fn through(bytes: &[u8]) -> Result<(), InputError> {
    let stream = stream::open(bytes).map_err(|error| InputError::new("f", error))?;
    match Format::detect("f", &String::from_utf8_lossy(&stream.head))? {
        Format::Sshare => shares(&sshare::read("f", stream.input)?),
        Format::SshareJson => shares(&sshare::json::read("f", stream.input)?),
        Format::Sprio => {
            let queue = sprio::read("f", stream.input)?;
            let reports = prio::from_queue(&queue);
            prio::check(&queue, &reports);
            Ok(())
        }
        Format::Site => site::read("f", stream.input).map(drop),
        Format::Dump => from_assocs::dumped("f", &String::from_utf8_lossy(bytes)).map(drop),
        Format::Assocs => from_assocs::listed("f", &String::from_utf8_lossy(bytes)).map(drop),
        _ => Ok(()),
    }
}

fn shares(listing: &sshare::Listing) -> Result<(), InputError> {
    for row in &listing.rows {
        let names = [&row.account, &row.user].into_iter().flatten();
        let odd = |c: char| c.is_control() && c != '\t';
        assert!(names.into_iter().all(|name| !name.contains(odd)), "{row:?}");
    }
    let ranking = share::ranking_of(listing);
    let listed = Listed::new(listing, ranking)?;
    share::from_listed(&listed, Compat::default(), None, Fractions::Printed);
    Ok(())
}

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = through(bytes) {
        assert!(!error.explained().is_empty());
    }
});
