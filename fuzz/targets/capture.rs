//! A capture in which one record is arbitrary: all other records are read as before, the arbitrary
//! one is read as at most one record, and the capture can also be read with pseudonyms.
#![no_main]

use std::collections::BTreeMap;

use arbitrary::Arbitrary;
use fairtree_model::cluster::Cluster;
use fairtree_model::input::LeftOut;
use fairtree_model::input::slurm::pseudonym::Pseudonyms;
use fairtree_model::input::slurm::snapshot::{Answer, Answers, Purpose, Snapshot, Source};
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    source: u8,
    line: u16,
    /// Length of the line that stays, and the text that replaces the rest.
    kept: u16,
    text: &'a str,
    /// Part of the rest that follows the text.
    rest: u16,
}

macro_rules! recorded {
    ($($source:ident $file:literal)*) => {
        [$((Source::$source, include_str!(concat!("../../tests/captures/cluster/", $file)))),*]
    };
}

const RECORDED: [(Source, &str); 9] = recorded! {
    Config "config.txt" Assocs "assocs.txt" Qos "qos.txt" Partitions "partitions.txt"
    Nodes "nodes.txt" Names "names.txt" Jobs "jobs.txt" Priorities "sprio.txt"
    Shares "sshare.txt"
};

fn answers() -> Answers {
    let answer = |(source, text): &(Source, &str)| {
        let name = source.command()[0].to_owned();
        (
            *source,
            Answer {
                name,
                text: (*text).to_owned(),
            },
        )
    };
    RECORDED.iter().map(answer).collect()
}

/// The content of each record of a snapshot, by a unique name.
fn records(snapshot: &Snapshot) -> BTreeMap<String, String> {
    let mut all = BTreeMap::new();
    let mut add = |key: String, said: String| {
        // The first of two records with the same key stays.
        all.entry(key).or_insert(said);
    };
    let queued = &snapshot.queued;
    for job in queued.jobs.iter() {
        add(format!("job {}", job.id), format!("{job:?}"));
    }
    for row in &queued.partitions {
        add(format!("partition {}", row.name), format!("{row:?}"));
    }
    for row in &queued.qos {
        add(format!("qos {}", row.name), format!("{row:?}"));
    }
    for row in queued.assocs.iter() {
        let key = format!("assoc {}/{:?}/{:?}", row.account, row.user, row.partition);
        add(key, format!("{row:?}"));
    }
    for row in &snapshot.shares.rows {
        let mut row = row.clone();
        row.line = 0;
        let key = format!(
            "shares {:?}/{:?}/{:?}",
            row.account, row.user, row.partition
        );
        add(key, format!("{row:?}"));
    }
    for listing in &queued.queue.listings {
        for mut row in listing.rows.iter() {
            row.line = 0;
            add(
                format!("row {:?}/{:?}", row.job_id, row.partition),
                format!("{row:?}"),
            );
        }
    }
    all
}

/// The part of `text` up to a boundary of characters near `at`.
fn split(text: &str, at: u16) -> (&str, &str) {
    let mut at = usize::from(at) % (text.len() + 1);
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    text.split_at(at)
}

fuzz_target!(|input: Input| {
    let mut answers = answers();
    let before = Snapshot::read("c", &answers, Purpose::Any).expect("a capture");
    let (source, recorded) = RECORDED[usize::from(input.source) % RECORDED.len()];
    let mut lines: Vec<&str> = recorded.lines().collect();
    // The first line of a table names its columns.
    let header = usize::from(!matches!(
        source,
        Source::Config | Source::Jobs | Source::Names | Source::Partitions | Source::Nodes
    ));
    let at = header + usize::from(input.line) % (lines.len() - header);
    let one_line = input.text.replace(['\n', '\r'], " ");
    let (kept, gone) = split(lines[at], input.kept);
    let changed = format!("{kept}{one_line}{}", split(gone, input.rest).1);
    // With two records of one name it is ambiguous which is meant.
    let cells = match source {
        Source::Shares => 3,
        Source::Assocs => 4,
        Source::Priorities => 2,
        _ => 1,
    };
    let name = |line: &str| -> Vec<String> {
        let separator = if line.contains('|') { '|' } else { ' ' };
        line.trim_start()
            .split(separator)
            .take(cells)
            .map(|cell| cell.trim().to_owned())
            .collect()
    };
    let twice = lines
        .iter()
        .enumerate()
        .any(|(other, line)| other != at && name(line) == name(&changed));
    let old = std::mem::replace(&mut lines[at], &changed);
    let text = lines.join("\n") + "\n";
    if let Some(answer) = answers.get_mut(&source) {
        answer.text = text;
    }
    let after = match Snapshot::read("c", &answers, Purpose::Any) {
        Ok(after) => after,
        // Contradictory settings, a truncated answer, or a record that appears twice.
        Err(error) => {
            assert!(!error.explained().is_empty());
            let whole = matches!(source, Source::Config | Source::Names) || at == 0 || twice;
            // The shares of a level depend on each of its rows: none is left out.
            assert!(whole || source == Source::Shares, "{error}: {changed:?}");
            return;
        }
    };
    if !matches!(source, Source::Config | Source::Names) {
        let (before, after) = (records(&before), records(&after));
        let lost: Vec<_> = before
            .iter()
            .filter(|(key, said)| after.get(*key) != Some(said))
            .collect();
        // Below an unreadable account no user can be read.
        let account = source == Source::Shares && (old.contains("||") || changed.starts_with(' '));
        let first = lost.first().map(|(key, said)| (*said, after.get(*key)));
        assert!(
            lost.len() <= 1 || account || twice,
            "{} lost, the first {first:?}: {changed:?}",
            lost.len()
        );
        assert!(after.len() <= before.len() + 1, "{changed:?}");
    }
    if let Ok(cluster) = Cluster::from_snapshot(&after, None) {
        assert!(cluster.assumptions.iter().all(|note| !note.contains('\n')));
    }
    let mut left = LeftOut::default();
    if let Ok(changed) = Pseudonyms::default().apply(&answers, &mut left) {
        if let Err(error) = Snapshot::read("p", &changed, Purpose::Any) {
            panic!("pseudonyms: {error}");
        }
    }
});
