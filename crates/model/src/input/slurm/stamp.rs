//! A stamp in each time that Slurm's commands print, by which their own text is told from a user's.
//!
//! `scontrol -o show job` prints names, comments and paths as they are, line breaks and all, so
//! that a job can carry the text of another job's record. Slurm prints times in the form that
//! `SLURM_TIME_FORMAT` gives (squeue(1), ENVIRONMENT VARIABLES); with a random word in it that is
//! rebuilt for each question, no text that a user wrote before has it. So:
//!
//! * squeue prints `JOBID|UID|SUBMIT_TIME|NAME`: a line that begins so, with the stamp, begins a
//!   name, and the name goes on to the next one.
//! * scontrol prints one `SubmitTime` in each record. Before it stand the name, which is known,
//!   and of what users write only MCS label and WCKey; all else that they write comes after it.
//!   These two are not kept.
//!
//! [`plain`] makes of these answers the form in which captures keep them: a line each,
//! without the stamp, control characters replaced by `?`.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, RandomState};

use memchr::memmem;

use crate::input::error::{InputError, Problem};
use crate::input::left_out::LeftOut;

/// The stamp of one question.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stamp(String);

/// Length of `2026-11-21T10:04:14`.
const TIME_BYTES: usize = 19;

impl Stamp {
    /// A new one. Slurm keeps 31 bytes of a time: this is 11 of them.
    pub fn random() -> Stamp {
        // Keyed by what the operating system hands out as random.
        let random = RandomState::new().hash_one(std::process::id());
        Stamp(format!("~{:010x}", random & 0xff_ffff_ffff))
    }

    /// The value of `SLURM_TIME_FORMAT`.
    pub fn time_format(&self) -> String {
        format!("%FT%T{}", self.0)
    }

    /// Whether it is anywhere in an answer: a command may not know `SLURM_TIME_FORMAT`.
    pub fn is_in(&self, text: &str) -> bool {
        memmem::find(text.as_bytes(), self.0.as_bytes()).is_some()
    }

    /// The text behind a time with the stamp that `text` begins with.
    fn after_time<'a>(&self, text: &'a str) -> Option<&'a str> {
        let rest = text.get(TIME_BYTES..)?;
        rest.strip_prefix(self.0.as_str())
    }
}

/// What squeue tells of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Told<'a> {
    id: &'a str,
    uid: &'a str,
    name: &'a str,
}

/// Names and jobs in the form of `squeue -o '%A|%j'` and `scontrol -o show job`, a line each and
/// the names the same in both. An answer without the stamp stays as it is. `file` names that of
/// scontrol in messages.
///
/// A record that cannot be told for certain is left out: its job was renamed between the two
/// questions, or came or went.
pub fn plain(
    file: &str,
    names: &str,
    jobs: &str,
    stamp: &Stamp,
    left: &mut LeftOut,
) -> (String, String) {
    let stamped = stamp.is_in(names);
    let told = if stamped {
        told(names, stamp)
    } else {
        Vec::new()
    };
    if !stamp.is_in(jobs) {
        let listed = if stamped {
            listing(&told, &HashMap::new())
        } else {
            names.to_owned()
        };
        return (listed, jobs.to_owned());
    }
    let by_number = told.iter().map(|job| (job.id, job)).collect();
    let (text, renamed) = self::jobs(file, jobs, stamp, &by_number, left);
    (listing(&told, &renamed), text)
}

/// A line for each job that squeue told of, and for those that it did not.
fn listing(told: &[Told<'_>], renamed: &HashMap<&str, &str>) -> String {
    let mut out = String::new();
    let mut add = |id: &str, name: &str| {
        out.push_str(id);
        out.push('|');
        push_clean(&mut out, name);
        out.push('\n');
    };
    for job in told {
        add(job.id, renamed.get(job.id).unwrap_or(&job.name));
    }
    let known: HashSet<&str> = told.iter().map(|job| job.id).collect();
    let mut others: Vec<_> = renamed
        .iter()
        .filter(|(id, _)| !known.contains(*id))
        .collect();
    others.sort_unstable();
    others.into_iter().for_each(|(id, name)| add(id, name));
    out
}

/// Reads the answer of squeue.
fn told<'a>(text: &'a str, stamp: &Stamp) -> Vec<Told<'a>> {
    let mut jobs: Vec<Told<'a>> = Vec::new();
    // Where the name of the last one begins.
    let mut from = 0;
    let mut at = 0;
    let name = |from: usize, at: usize| {
        let name = &text[from..at];
        name.strip_suffix('\n').unwrap_or(name)
    };
    for line in text.split_inclusive('\n') {
        if let Some((id, uid, first)) = begin_of_name(line, stamp) {
            if let Some(last) = jobs.last_mut() {
                last.name = name(from, at);
            }
            jobs.push(Told {
                id,
                uid,
                name: first,
            });
            from = at + line.len() - first.len();
        }
        at += line.len();
    }
    if let Some(last) = jobs.last_mut() {
        last.name = name(from, at);
    }
    jobs
}

/// Number, uid, and the first line of the name.
fn begin_of_name<'a>(line: &'a str, stamp: &Stamp) -> Option<(&'a str, &'a str, &'a str)> {
    let (id, rest) = line.split_once('|')?;
    let (uid, rest) = rest.split_once('|')?;
    let name = stamp.after_time(rest)?.strip_prefix('|')?;
    (is_number(id) && is_number(uid)).then_some((id, uid, name))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Adds text without control characters, line breaks among them: each is one `?`.
fn push_clean(out: &mut String, text: &str) {
    out.extend(text.chars().map(|c| match c.is_control() {
        true => '?',
        false => c,
    }));
}

/// The records, a line each, and the names of those that are not as squeue told.
fn jobs<'a>(
    file: &str,
    text: &'a str,
    stamp: &Stamp,
    told: &HashMap<&str, &Told<'_>>,
    left: &mut LeftOut,
) -> (String, HashMap<&'a str, &'a str>) {
    let places = places(text, stamp, told);
    let certain: HashSet<&str> = places
        .iter()
        .filter_map(|place| place.head.as_ref().ok().filter(|head| !head.doubtful))
        .map(Head::number)
        .collect();
    let mut renamed = HashMap::new();
    let mut out = String::with_capacity(text.len());
    let ends = places.iter().skip(1).map(|next| next.begin);
    for (place, end) in places.iter().zip(ends.chain([text.len()])) {
        let head = match &place.head {
            // The real one stands elsewhere.
            Ok(head) if head.doubtful && certain.contains(head.number()) => Err(UNCERTAIN),
            Ok(head) => Ok(head),
            Err(why) => Err(*why),
        };
        match head {
            Ok(head) => {
                if told
                    .get(head.number())
                    .is_none_or(|job| job.name != head.name)
                {
                    renamed.insert(head.number(), head.name);
                }
                let rest = &text[place.submit..end];
                head.write(&mut out, rest.trim_end_matches('\n'), stamp);
            }
            Err(why) => {
                let line = text[..place.begin].matches('\n').count() + 1;
                let shown = text[place.begin..].lines().next().unwrap_or("");
                let problem = Problem::Structure(why.to_owned());
                let error = InputError::new(file, problem).at_line(line, shown);
                // Without `refusing` this never fails.
                let _ = left.keep::<()>(Err(error));
            }
        }
    }
    (out, renamed)
}

const UNCERTAIN: &str = "where this record begins and its name ends is not certain";

/// A record in the answer of scontrol.
struct Place<'a> {
    /// Where it begins.
    begin: usize,
    /// Where its ` SubmitTime=` is.
    submit: usize,
    head: Result<Head<'a>, &'static str>,
}

/// The records, one for each `SubmitTime` with the stamp.
fn places<'a>(text: &'a str, stamp: &Stamp, told: &HashMap<&str, &Told<'_>>) -> Vec<Place<'a>> {
    let mark = format!("{} ", stamp.0);
    let mut places = Vec::new();
    let mut from = 0;
    for submit in memmem::find_iter(text.as_bytes(), b" SubmitTime=") {
        let time = text[submit + " SubmitTime=".len()..].get(TIME_BYTES..);
        if time.is_some_and(|rest| rest.starts_with(&mark)) {
            let (begin, head) = Head::find(&text[from..submit], told);
            places.push(Place {
                begin: from + begin,
                submit,
                head,
            });
            from = submit;
        }
    }
    places
}

/// What stands between MCS label and WCKey, in order.
const SHARE: [&str; 4] = ["Priority", "Nice", "Account", "QOS"];

/// What stands between WCKey and `SubmitTime`, in order; FailedNode and DerivedExitCode only in some
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

/// Whether a text is ` Key=value` with these keys, in this order, some of them left out. Values may
/// hold blanks, as a group `domain users` does.
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
struct Head<'a> {
    /// `JobId=7`, and what it is of: an array, a heterogeneous job.
    id: &'a str,
    name: &'a str,
    /// From ` UserId=` to the MCS label.
    owner: &'a str,
    /// From ` Priority=` to the end of the QOS.
    share: &'a str,
    /// From ` JobState=` on.
    state: &'a str,
    /// Another record may begin before, of which this is a user's text.
    doubtful: bool,
}

impl<'a> Head<'a> {
    /// Where the record begins that ends `region`, which begins with the rest of the one before, and
    /// the record, or why it cannot be told.
    fn find(
        region: &'a str,
        told: &HashMap<&str, &Told<'_>>,
    ) -> (usize, Result<Head<'a>, &'static str>) {
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
            let Some(job) = told.get(number(id)) else {
                continue;
            };
            let Some(after) = rest.strip_prefix(job.name) else {
                continue;
            };
            if uid_of(after) != Some(job.uid) {
                continue;
            }
            match Head::with(id, job.name.len(), rest, after) {
                Some(head) => return (at, Ok(Head { doubtful, ..head })),
                None => doubtful = true,
            }
        }
        // A job that squeue did not tell of, or under another name. Its name ends at the last
        // ` UserId=` if nothing behind that is free, and nothing else may be its beginning.
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

    fn number(&self) -> &'a str {
        number(self.id)
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

    /// The whole record as one line; `rest`: from ` SubmitTime=` on.
    fn write(&self, out: &mut String, rest: &str, stamp: &Stamp) {
        out.push_str(self.id);
        out.push_str(" JobName=");
        for part in [self.name, self.owner, self.share, self.state] {
            push_clean(out, part);
        }
        push_clean(out, &rest.replace(&stamp.0, ""));
        out.push('\n');
    }
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
            return is_number(number(id)).then_some((id, name));
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
fn number(id: &str) -> &str {
    id["JobId=".len()..].split(' ').next().unwrap_or("")
}

/// The number of ` UserId=name(1006) `.
fn uid_of(after: &str) -> Option<&str> {
    let owner = &after[after.find(" UserId=")? + " UserId=".len()..];
    let word = &owner[..owner.find(' ')?];
    let (_, uid) = word.rsplit_once('(')?;
    uid.strip_suffix(')')
}

#[cfg(test)]
#[path = "stamp_tests.rs"]
mod tests;
