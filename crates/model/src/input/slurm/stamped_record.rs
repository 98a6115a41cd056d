//! A record of `scontrol -o show job` up to its time of submission: where it begins, and what of it
//! Slurm printed; see [`stamp`](super::stamp).

use memchr::memmem;

use super::job_names::Told;
use crate::input::lines::turns_text;

pub(super) const UNCERTAIN: &str = "where this record begins and its name ends is not certain";

/// Keys between MCS label and WCKey, in order.
const SHARE: [&str; 4] = ["Priority", "Nice", "Account", "QOS"];

/// Keys between WCKey and `SubmitTime`, in order; FailedNode and DerivedExitCode only in some
/// records (`slurm_sprint_job_info` of 22.05.8 and 24.11.5).
const STATE: [&str; 13] = [
    "JobState",
    "Reason",
    "FailedNode",
    "Dependency",
    "Requeue",
    "Restarts",
    "BatchFlag",
    "Reboot",
    "ExitCode",
    "DerivedExitCode",
    "RunTime",
    "TimeLimit",
    "TimeMin",
];

/// Returns true if a text is ` Key=value` with these keys, in this order, some of them left out.
/// Values may hold blanks, as a group `domain users` does.
fn has_only(text: &str, keys: &[&str]) -> bool {
    let mut keys = keys.iter();
    let mut words = text.split(' ');
    let first = words.next() == Some("");
    first
        && words.all(|word| {
            let key = word.split_once('=').map(|(key, _)| key);
            !word.contains('\n') && key.is_none_or(|key| keys.any(|known| *known == key))
        })
}

/// A record up to its `SubmitTime`.
pub(super) struct Head<'a> {
    /// `JobId=7`, and what it is of: an array, a heterogeneous job.
    id: &'a str,
    pub(super) name: &'a str,
    /// From ` UserId=` to the MCS label.
    owner: &'a str,
    /// From ` Priority=` to the end of the QOS.
    share: &'a str,
    /// From ` JobState=` on.
    state: &'a str,
    /// Another record may begin before, of which this is a user's text.
    pub(super) doubtful: bool,
}

impl<'a> Head<'a> {
    /// Start of the record that ends `region`, which begins with the rest of the record before, and
    /// the record, or why it is not certain.
    pub(super) fn find(region: &'a str, told: &Told) -> (usize, Result<Head<'a>, &'static str>) {
        let places = memmem::find_iter(region.as_bytes(), b"JobId=");
        let begins = |at: &usize| *at == 0 || region.as_bytes()[at - 1] == b'\n';
        let places: Vec<usize> = places.filter(begins).collect();
        let mut maybe = Vec::new();
        let mut doubtful = false;
        for &at in &places {
            let Some((id, rest)) = identity(&region[at..]) else {
                continue;
            };
            maybe.push(at);
            let Some((uid, name)) = number(id).and_then(|id| told.get(id)) else {
                continue;
            };
            let Some(after) = rest.strip_prefix(name) else {
                continue;
            };
            if uid_of(after) != Some(uid) {
                continue;
            }
            match Head::with(id, name.len(), rest, after) {
                Some(head) => return (at, Ok(Head { doubtful, ..head })),
                None => doubtful = true,
            }
        }
        // A job that squeue did not print, or printed with a different name. Its name ends at the
        // last ` UserId=` if nothing after that is free text, and nothing else may be its
        // beginning.
        let only = |at: usize| {
            let (id, rest) = identity(&region[at..])?;
            let labels = memmem::find_iter(rest.as_bytes(), b" MCS_label=").count();
            if rest.contains(" WCKey=") || labels != 1 {
                return None;
            }
            let end = rest.rfind(" UserId=")?;
            Head::with(id, end, rest, &rest[end..])
        };
        if let [at] = maybe[..] {
            if let Some(head) = only(at) {
                return (at, Ok(head));
            }
        }
        let start = maybe.first().or(places.first()).copied().unwrap_or(0);
        (start, Err(UNCERTAIN))
    }

    pub(super) fn number(&self) -> u32 {
        number(self.id).expect("`identity` has read it")
    }

    /// `rest` from the name on, `after` from its end to the ` SubmitTime=` of the record. `None`
    /// where other text is in between, as that of another record.
    fn with(id: &'a str, name_bytes: usize, rest: &'a str, after: &'a str) -> Option<Head<'a>> {
        let after = match after.strip_prefix(" HetJobIdSet=") {
            Some(set) => &set[set.find(' ')?..],
            None => after,
        };
        // Users write the MCS label, and the WCKey, which slurmctld writes in small letters.
        let (state, share) = (after.rfind(" JobState=")?, after.rfind(" Priority=")?);
        let label = after.find(" MCS_label=")?;
        if !(label < share && share < state) {
            return None;
        }
        let wckey = after[share..state].find(" WCKey=");
        let wckey = wckey.map_or(state, |at| share + at);
        let sound = has_only(&after[..label], &["UserId", "GroupId"])
            && has_only(&after[share..wckey], &SHARE)
            && has_only(&after[state..], &STATE)
            && ![&after[label..share], &after[wckey..state]]
                .iter()
                .any(|free| free.contains("\nJobId="));
        sound.then_some(Head {
            id,
            name: &rest[..name_bytes],
            owner: &after[..label],
            share: &after[share..wckey],
            state: &after[state..],
            doubtful: false,
        })
    }

    /// The record as far as it goes, in one line.
    pub(super) fn push_to(&self, out: &mut String) {
        out.push_str(self.id);
        out.push_str(" JobName=");
        for part in [self.name, self.owner, self.share, self.state] {
            push_clean(out, part);
        }
    }
}

/// Adds text without control characters, line breaks among them, and without those that turn the direction
/// of text: each is one `?`.
pub(super) fn push_clean(out: &mut String, text: &str) {
    // Nearly all text has none, and nothing beyond ASCII.
    let suspect = |byte: u8| !(b' '..0x7f).contains(&byte);
    let any = |block: &[u8]| block.iter().fold(false, |any, &byte| any | suspect(byte));
    if !text.as_bytes().chunks(64).any(any) {
        return out.push_str(text);
    }
    out.extend(text.chars().map(|c| match c.is_control() || turns_text(c) {
        true => '?',
        false => c,
    }));
}

/// `JobId=7 ArrayJobId=5 ArrayTaskId=3`, and what follows ` JobName=`.
fn identity(record: &str) -> Option<(&str, &str)> {
    const KEYS: [&str; 6] = [
        "JobId",
        "ArrayJobId",
        "ArrayTaskId",
        "ArrayTaskThrottle",
        "HetJobId",
        "HetJobOffset",
    ];
    let mut at = 0;
    loop {
        let rest = &record[at..];
        if let Some(name) = rest.strip_prefix("JobName=") {
            let id = &record[..at.checked_sub(1)?];
            return number(id).is_some().then_some((id, name));
        }
        let word = &rest[..rest.find(' ')?];
        let (key, _) = word.split_once('=')?;
        if (at == 0) != (key == "JobId") || !KEYS.contains(&key) || word.contains('\n') {
            return None;
        }
        at += word.len() + 1;
    }
}

/// The number of `JobId=7 ...`.
fn number(id: &str) -> Option<u32> {
    whole(id["JobId=".len()..].split(' ').next()?)
}

/// A number of digits alone.
pub(super) fn whole(text: &str) -> Option<u32> {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().ok())?
}

/// The number of ` UserId=name(1006) `.
fn uid_of(after: &str) -> Option<u32> {
    let owner = &after[after.find(" UserId=")? + " UserId=".len()..];
    let word = &owner[..owner.find(' ')?];
    let (_, uid) = word.rsplit_once('(')?;
    whole(uid.strip_suffix(')')?)
}
