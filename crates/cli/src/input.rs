//! Opening what a command reads.

use std::io::{self, BufRead, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use super::args::LiveArgs;
use super::cluster::follow_own;
use super::message::Messages;
use super::progress::{Waiting, Watched};
use super::workload::{Counting, gather};
use super::{Failure, open};
use fairtree::compat::Release;
use fairtree::config::{Config, PolicyFile};
use fairtree_model::input::capture::{Recent, Stored, Taken, open_only, take};
use fairtree_model::input::site::Site;
use fairtree_model::input::site::from_assocs;
use fairtree_model::input::slurm::config;
use fairtree_model::input::slurm::part::Wanted;
use fairtree_model::input::slurm::snapshot::{Answers, Purpose, Snapshot, Source};
use fairtree_model::input::sprio::Queue;
use fairtree_model::input::sshare::Listing;
use fairtree_model::input::stream::{self, Stream};
use fairtree_model::input::{Format, InputError, LeftOut, Problem, sacct, site, sprio, sshare};

/// An input, read.
pub(super) enum Input {
    /// The output of sshare, and what is known beside it.
    Listing(Listing, Option<Box<Beside>>),
    /// A site.
    Site(Box<Site>),
    /// The output of sprio, which has no shares.
    Queue(Queue),
}

/// The facts of a live site or a capture beside its shares.
pub(super) struct Beside {
    /// Settings.
    pub config: Config,
    /// Slurm's release, where it is known.
    pub release: Option<Release>,
    /// The user who asked, whose rows sshare shows by default. `None` if it is not known.
    pub user: Option<String>,
}

/// Why the output of sprio does not do where shares are asked for.
pub(super) fn no_shares(queue: &Queue) -> Failure {
    Failure::Usage(format!(
        "{}: is the output of sprio, which tells no shares and usage; allowed are the output of \
         sshare, a site in TOML, a capture\nhint: `fairtree prio` and `fairtree explain JOB` read \
         this file",
        queue.file
    ))
}

/// The sources of a queue.
pub(super) enum QueueInput {
    /// The output of sprio.
    Printed(Queue),
    /// A site in TOML.
    Site(Box<Site>),
}

/// Reads the output of sprio, or a site, from a file, or from standard input for `-` or none.
pub(super) fn read_queue(file: Option<&Path>) -> Result<QueueInput, Failure> {
    let (name, Stream { head, input }) = open_raw(file)?;
    let format = Format::detect(&name, &String::from_utf8_lossy(&head));
    if matches!(format, Ok(Format::Site)) {
        return Ok(QueueInput::Site(Box::new(site::read(&name, input)?)));
    }
    let input = Lines::new(input, &name);
    Ok(QueueInput::Printed(sprio::read(&name, input)?))
}

/// Returns true if something is piped into standard input, or it is a file; not for a terminal or
/// /dev/null.
pub(super) fn is_piped() -> bool {
    let stdin = std::fs::metadata("/dev/stdin").map(|metadata| metadata.file_type());
    stdin.is_ok_and(|kind| kind.is_fifo() || kind.is_file() || kind.is_socket())
}

/// The site of a capture, or the live one, which is asked for what `purpose` needs; `None`: there is a file or a
/// pipe to read.
pub(super) fn snapshot(
    live: &LiveArgs,
    file: Option<&Path>,
    purpose: Purpose,
    messages: &Messages,
) -> Result<Option<Snapshot>, Failure> {
    let (name, answers, user) = match &live.from {
        Some(folder) => {
            let (name, stored) = open_short(folder)?;
            let place = |source| stored.path(source);
            let mut snapshot = Snapshot::read_long(&name, &stored.answers, &place)?;
            stored.follow_policy(&mut snapshot.queued.settings.config)?;
            seen_by(&mut snapshot, stored.manifest.user.as_deref());
            return Ok(Some(snapshot));
        }
        None if file.is_none() && !is_piped() => {
            let taken = asked(purpose, live, "asking Slurm")?;
            note_missing(&taken, messages);
            (
                "the live site".to_owned(),
                taken.answers,
                taken.manifest.user,
            )
        }
        None => return Ok(None),
    };
    let mut snapshot = Snapshot::read(&name, &answers, purpose)?;
    follow_own(&mut snapshot.queued.settings.config);
    seen_by(&mut snapshot, user.as_deref());
    Ok(Some(snapshot))
}

/// Shows what Slurm did not answer, and what of its answers cannot be read. What `PrivateData` hides is shown
/// beside the answer.
pub(super) fn note_missing(taken: &Taken, messages: &Messages) {
    for (source, error) in &taken.missing {
        if source.refused_under().is_none() {
            messages.note(&error.to_string());
        }
    }
    taken
        .left
        .notes()
        .iter()
        .for_each(|note| messages.note(note));
}

/// Answers of Slurm: those of a few seconds ago, where this user has some, with a note; or else new ones.
fn asked(purpose: Purpose, live: &LiveArgs, waiting: &str) -> Result<Taken, Failure> {
    let recent = Recent::of_user();
    let kept = recent.as_ref().filter(|_| !live.fresh);
    if let Some((taken, age)) = kept.and_then(|recent| recent.read(purpose)) {
        if age > 0 {
            let s = if age == 1 { "" } else { "s" };
            note_later(format!(
                "as of {age} second{s} ago, when Slurm was last asked; --fresh asks again"
            ));
        }
        return Ok(taken);
    }
    let waiting = Waiting::new(waiting);
    let taken = take(purpose.sources(), live.limit(), purpose)?;
    drop(waiting);
    if let Some(recent) = recent {
        // Where it cannot be kept, the next question asks again.
        let _ = recent.keep(&taken);
    }
    Ok(taken)
}

/// Forgets `PrivateData` where the user who asked sees everything: root.
fn seen_by(snapshot: &mut Snapshot, user: Option<&str>) {
    if user == Some("root") {
        snapshot.queued.settings.private_data.clear();
    }
}

/// A capture without its long answers, and its name.
fn open_short(folder: &Path) -> Result<(String, Stored), InputError> {
    let short = Source::ALL.into_iter().filter(|source| !source.is_long());
    let stored = open_only(folder, &short.collect::<Vec<_>>())?;
    Ok((stored.folder.display().to_string(), stored))
}

/// The cluster's name in a capture, and when Slurm was asked, seconds since 1970.
pub(super) fn about_capture(folder: &Path) -> Result<(Option<String>, Option<i64>), InputError> {
    let stored = open_only(folder, &[])?;
    let time = i64::try_from(stored.manifest.time).ok();
    Ok((stored.manifest.cluster, time.filter(|time| *time > 0)))
}

/// As [`snapshot`], of a capture with the jobs alone that are wanted.
pub(super) fn snapshot_part(
    live: &LiveArgs,
    file: Option<&Path>,
    wanted: &Wanted,
    purpose: Purpose,
    messages: &Messages,
) -> Result<Option<Snapshot>, Failure> {
    let Some(folder) = &live.from else {
        return snapshot(live, file, purpose, messages);
    };
    let (name, stored) = open_short(folder)?;
    let place = |source| stored.path(source);
    let mut snapshot = Snapshot::read_part(&name, &stored.answers, &place, wanted)?;
    stored.follow_policy(&mut snapshot.queued.settings.config)?;
    seen_by(&mut snapshot, stored.manifest.user.as_deref());
    Ok(Some(snapshot))
}

/// The shares among answers that `user` got.
fn shares(answers: &Answers, user: Option<String>) -> Result<Input, Failure> {
    let missing = |source: Source| {
        Failure::Usage(format!(
            "the capture has no answer of {}",
            source.command()[0]
        ))
    };
    let get = |source| answers.get(&source).ok_or_else(|| missing(source));
    let (settings, shares) = (get(Source::Config)?, get(Source::Shares)?);
    let mut refused = LeftOut::refusing();
    let settings = config::read(&settings.name, &settings.text, &mut refused)?;
    let mut listing = sshare::read_answer(&shares.name, shares.text.as_bytes(), &mut refused)?;
    listing.cluster = listing.cluster.or(settings.cluster);
    let beside = Box::new(Beside {
        config: settings.config,
        release: settings.release,
        user,
    });
    Ok(Input::Listing(listing, Some(beside)))
}

/// The shares in a capture, by the policy that it has; `user` is who asked.
pub(super) fn shares_of(stored: &Stored, user: Option<String>) -> Result<Input, Failure> {
    let mut input = shares(&stored.answers, user)?;
    if let Input::Listing(_, Some(beside)) = &mut input {
        stored.follow_policy(&mut beside.config)?;
    }
    Ok(input)
}

/// Reads a capture, a file, what is piped in, or asks Slurm. `policy`: by which the use of a log
/// counts.
pub(super) fn read_or_ask(
    live: &LiveArgs,
    file: Option<&Path>,
    format: Option<Format>,
    policy: Option<&PolicyFile>,
) -> Result<Input, Failure> {
    match &live.from {
        Some(folder) => {
            let stored = open_only(folder, Purpose::Shares.sources())?;
            shares_of(&stored, stored.manifest.user.clone())
        }
        None if file.is_none() && !is_piped() => {
            let waiting = "asking Slurm for settings and shares";
            let taken = asked(Purpose::Shares, live, waiting)?;
            let mut input = shares(&taken.answers, taken.manifest.user)?;
            if let Input::Listing(_, Some(beside)) = &mut input {
                follow_own(&mut beside.config);
            }
            Ok(input)
        }
        None => read_opened(open_stream(file, format)?, policy),
    }
}

/// The longest file of `sacctmgr dump`, in bytes: a million associations have less.
const MAX_DUMP_BYTES: u64 = 256 << 20;

/// Reads what was opened; `policy`: by which the use of a log counts.
pub(super) fn read_opened(opened: Opened, policy: Option<&PolicyFile>) -> Result<Input, Failure> {
    let Opened {
        name,
        format,
        guessed,
        input,
    } = opened;
    Ok(match format {
        Format::Sshare => Input::Listing(sshare::read(&name, input)?, None),
        Format::SshareJson => Input::Listing(sshare::json::read(&name, input)?, None),
        Format::Sprio => Input::Queue(sprio::read(&name, input)?),
        Format::Site => {
            let site = site::read(&name, input);
            let site = site.map_err(|error| if guessed { guess(error) } else { error })?;
            Input::Site(Box::new(site))
        }
        Format::Dump | Format::Assocs => {
            let text = open::at_most(input, MAX_DUMP_BYTES);
            let text = text.map_err(|error| InputError::new(&name, error))?;
            let text = String::from_utf8(text)
                .map_err(|error| InputError::new(&name, io::Error::other(error)))?;
            Input::Site(Box::new(match format {
                Format::Dump => from_assocs::dumped(&name, &text)?,
                _ => from_assocs::listed(&name, &text)?,
            }))
        }
        Format::Sacct | Format::Swf => {
            let counting = Counting::new(None, policy)?;
            let gathered = gather(&name, format, input, sacct::Options::default(), &counting)?;
            Input::Site(Box::new(gathered.place(&name, counting)?.site))
        }
    })
}

/// The error of a file that was taken for TOML because it is of no other format.
fn guess(error: InputError) -> InputError {
    // A value that is not allowed stands where TOML is right.
    let Some(before) = error.hint.clone() else {
        return error;
    };
    let hint = format!(
        "{before}; by its content this is a site in TOML; if it is something else, name its format \
         with --input-format"
    );
    error.hint(hint)
}

/// A stream to read, its name in messages, and its format.
pub(super) struct Opened {
    /// Name in messages.
    pub name: String,
    /// Its format.
    pub format: Format,
    /// The content shows the format; nobody named it.
    pub guessed: bool,
    /// The stream, unpacked.
    pub input: Box<dyn BufRead>,
}

/// Opens a file, or standard input for `-` or none, in the given format or the one it looks like.
/// What is in gzip is unpacked; reading that takes long is shown.
pub(super) fn open_stream(
    file: Option<&Path>,
    format: Option<Format>,
) -> Result<Opened, InputError> {
    let (name, Stream { head, input }) = open_raw(file)?;
    let guessed = format.is_none();
    let format = match format {
        Some(format) => format,
        None => Format::detect(&name, &String::from_utf8_lossy(&head))?,
    };
    // The others have an end of their own.
    let lines = !matches!(format, Format::Site | Format::SshareJson);
    let input = match lines {
        true => Box::new(Lines::new(input, &name)),
        false => input,
    };
    Ok(Opened {
        name,
        format,
        guessed,
        input,
    })
}

/// Opens a file, or standard input for `-` or none: its name in messages, and what is in it.
fn open_raw(file: Option<&Path>) -> Result<(String, Stream<'static>), InputError> {
    let (name, raw): (String, Box<dyn Read>) = match file {
        Some(path) if path != Path::new("-") => {
            let name = path.display().to_string();
            let file = open::named(path).map_err(|error| InputError::new(&name, error))?;
            let len = file.metadata().ok().map(|metadata| metadata.len());
            let watched = Watched::new(file, &name, len);
            (name, Box::new(watched))
        }
        _ => {
            let name = "standard input".to_owned();
            let watched = Watched::new(io::stdin().lock(), &name, None);
            (name, Box::new(watched))
        }
    };
    let stream = stream::open(raw).map_err(|error| InputError::new(&name, error))?;
    if let Some(at) = stream.head.iter().position(|&byte| byte == 0) {
        return Err(no_text(&name, &stream.head, at));
    }
    Ok((name, stream))
}

/// Why an input with a NUL byte is refused.
fn no_text(name: &str, head: &[u8], at: usize) -> InputError {
    let before = String::from_utf8_lossy(&head[..at]);
    let column = before.chars().rev().take_while(|&c| c != '\n').count() + 1;
    let problem = Problem::Structure("is no plain text: it has a NUL byte".into());
    let line = String::from_utf8_lossy(head);
    let number = before.matches('\n').count();
    let line = line.lines().nth(number).unwrap_or("");
    InputError::new(name, problem)
        .at_line(number + 1, line)
        .at_column(column)
        .hint("is it UTF-16, as some programs write? iconv -f UTF-16 -t UTF-8 makes it UTF-8")
}

/// Sentences for when the answer is there.
static LATER: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// The notes of the inputs so far, to show once the answer is there.
pub(super) fn later_notes() -> Vec<String> {
    // A panic elsewhere does not make sentences wrong.
    let mut later = LATER.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::take(&mut *later)
}

fn note_later(text: String) {
    let mut later = LATER.lock().unwrap_or_else(PoisonError::into_inner);
    later.push(text);
}

/// Takes note of an input that ends within a line.
pub(super) fn note_cut(name: &str) {
    note_later(format!(
        "{name} ends within a line: if it is cut off, its last row may be wrong and others missing"
    ));
}

/// A stream of lines that is noticed when it ends within one: its last row may be cut off, and still
/// look like one.
struct Lines<R> {
    input: R,
    name: String,
    last: u8,
}

impl<R: BufRead> Lines<R> {
    fn new(input: R, name: &str) -> Lines<R> {
        Lines {
            input,
            name: name.to_owned(),
            last: b'\n',
        }
    }
}

impl<R: BufRead> Read for Lines<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.fill_buf()?.read(buffer)?;
        self.consume(count);
        Ok(count)
    }
}

impl<R: BufRead> BufRead for Lines<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        let bytes = self.input.fill_buf()?;
        match bytes.last() {
            Some(&last) => self.last = last,
            None if self.last != b'\n' => {
                self.last = b'\n';
                note_cut(&self.name);
            }
            None => {}
        }
        Ok(bytes)
    }

    fn consume(&mut self, amount: usize) {
        self.input.consume(amount);
    }
}
