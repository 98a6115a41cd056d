//! The answers of Slurm's commands, damaged: an answer or an error with a sentence, never a panic.
//! The whole ones are those of `tests/captures`.

#[allow(clippy::duplicate_mod)] // Other files of a test program use it, too.
#[path = "../../../tests/common/checkout.rs"]
mod checkout;

use fairtree_analysis::prio;
use fairtree_model::input::capture;
use fairtree_model::input::site::from_assocs;
use fairtree_model::input::slurm::pseudonym::Pseudonyms;
use fairtree_model::input::slurm::snapshot::{Answers, Purpose, Snapshot, Source};
use fairtree_model::input::{InputError, LeftOut, sprio};
use fairtree_render::prio as written;
use proptest::prelude::*;

use checkout::checkout;

fn whole() -> Answers {
    let folder = checkout().join("tests/captures/cluster");
    capture::open(&folder).expect("a capture").answers
}

/// All the way through every report.
fn through(answers: &Answers) -> Result<(), InputError> {
    let snapshot = Snapshot::read("f", answers, Purpose::Any)?;
    let report = prio::from_snapshot(&snapshot, None)?;
    let compared = prio::compare(&snapshot, &report);
    written::write_compared(&mut Vec::new(), &report, &compared).expect("memory");
    let rows = prio::select(&report, &prio::Select::default()).expect("no column is asked for");
    written::to_json(&mut Vec::new(), &[(&report, rows)]).expect("memory");
    Pseudonyms::default()
        .apply(answers, &mut LeftOut::default())
        .map(drop)
}

fn queue_through(text: &[u8]) -> Result<(), InputError> {
    let queue = sprio::read("f", text)?;
    let reports = prio::from_queue(&queue);
    let agreement = prio::check(&queue, &reports);
    written::write_agreement(&mut Vec::new(), &reports, &agreement).expect("memory");
    Ok(())
}

#[test]
fn the_whole_ones_pass() {
    through(&whole()).expect("answers of a real cluster");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn damaged_answers(
        which in 0..Source::ALL.len(),
        at in any::<prop::sample::Index>(),
        piece in prop_oneof![
            any::<char>().prop_map(|c| c.to_string()),
            Just("=".to_owned()), Just("|".to_owned()), Just("\n".to_owned()), Just(" ".to_owned()),
            Just("99999999999999999999".to_owned()), Just("-1".to_owned()), Just(String::new()),
        ],
        cut in any::<bool>(),
    ) {
        let mut answers = whole();
        let answer = answers.get_mut(&Source::ALL[which]).expect("every answer");
        let mut chars: Vec<char> = answer.text.chars().collect();
        let at = at.index(chars.len());
        let end = if cut { chars.len() } else { at + 1 };
        chars.splice(at..end, piece.chars());
        answer.text = chars.into_iter().collect();
        if let Err(error) = through(&answers) {
            prop_assert!(!error.explained().is_empty());
        }
    }

    #[test]
    fn damaged_queues(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        for text in [&include_bytes!("../../../tests/sprio/long.txt")[..], include_bytes!("../../../tests/sprio/bars.txt")] {
            let mut text = text.to_vec();
            let at = at.index(text.len());
            text[at] = byte;
            if cut {
                text.truncate(at);
            }
            if let Err(error) = queue_through(&text) {
                prop_assert!(!error.explained().is_empty());
            }
        }
    }

    #[test]
    fn damaged_dumps(at in any::<prop::sample::Index>(), c in any::<char>()) {
        let text = "Cluster - 'c':Fairshare=1:QOS='a,b'\nParent - 'root'\n\
                    Account - 'p':Description='it\u{f8}':Fairshare=40:Priority=5\nParent - 'p'\n\
                    User - 'u':DefaultAccount='p':Partition='x':Fairshare=2147483647\n";
        let mut chars: Vec<char> = text.chars().collect();
        let at = at.index(chars.len());
        chars[at] = c;
        let text: String = chars.into_iter().collect();
        if let Err(error) = from_assocs::dumped("f", &text) {
            prop_assert!(!error.explained().is_empty());
        }
    }
}
