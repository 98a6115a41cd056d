//! The trace of a life: calls into the plugin, with the records before and after each.

use anyhow::{Context as _, Result, bail};

use super::records::Records;
use super::rows::Listed;

/// A call into the plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hook {
    /// slurmctld starts, up to the end of the first pass.
    Start,
    /// slurmctld ends.
    Stop,
    /// A pass.
    Pass,
    /// slurmctld requests the priority of a job.
    Set(u32),
    /// A job, or one size of it, has ended.
    JobEnd(u32),
    /// Settings may have changed; with true, all records were rebuilt.
    Reconfig(bool),
    /// sprio requests its rows.
    Sprio,
    /// sshare requests its rows.
    Sshare,
}

/// The events of the trace, in order.
pub enum Event {
    /// A call at a line of the life.
    Call {
        /// The line, from 1.
        line: usize,
        /// The kind of the call.
        hook: Hook,
        /// The records before the call.
        before: Box<Records>,
        /// The records after the call; `None` if it did not return.
        after: Option<Box<Records>>,
        /// The rows that it answered.
        rows: Vec<Listed>,
    },
    /// slurmctld saved its files of usage at this clock time.
    Saved(i64),
    /// The files are kept as they are now, and are restored before the next start.
    Crash,
}

/// Reads a trace, event by event.
pub struct Trace<'a> {
    lines: std::iter::Peekable<std::str::Lines<'a>>,
    records: Records,
}

impl<'a> Trace<'a> {
    /// Creates a reader for a text.
    pub fn new(text: &'a str) -> Trace<'a> {
        Trace {
            lines: text.lines().peekable(),
            records: Records::default(),
        }
    }

    /// The next event, `None` at the end.
    pub fn next(&mut self) -> Result<Option<Event>> {
        let Some(line) = self.lines.next() else {
            return Ok(None);
        };
        if let Some(mark) = line.strip_prefix("! ") {
            let mut words = mark.split(' ');
            return Ok(Some(match (words.next(), words.next_back()) {
                (Some("saved"), Some(time)) => Event::Saved(time.parse()?),
                (Some("crash"), _) => Event::Crash,
                _ => bail!("no mark: {mark}"),
            }));
        }
        let call = line.strip_prefix("@ ").with_context(|| line.to_owned())?;
        let words: Vec<&str> = call.split(' ').collect();
        let &[verb, id, line] = words.as_slice() else {
            bail!("no call: {call}");
        };
        let hook = hook_of(verb, id.parse()?)?;
        self.read_records()?;
        let before = Box::new(self.records.clone());
        let returned = self.lines.next_if_eq(&".").is_some();
        self.read_records()?;
        let mut rows = vec![];
        while let Some(row) = self.lines.next_if(|line| line.starts_with('+')) {
            rows.push(Listed::parse(&row[2..]).with_context(|| row.to_owned())?);
        }
        Ok(Some(Event::Call {
            line: line.parse()?,
            hook,
            before,
            after: returned.then(|| Box::new(self.records.clone())),
            rows,
        }))
    }

    fn read_records(&mut self) -> Result<()> {
        let is_record = |line: &&str| !line.starts_with(['@', '.', '!', '+']);
        while let Some(line) = self.lines.next_if(is_record) {
            self.records.take(line).with_context(|| line.to_owned())?;
        }
        Ok(())
    }
}

fn hook_of(verb: &str, id: u32) -> Result<Hook> {
    Ok(match verb {
        "start" => Hook::Start,
        "stop" => Hook::Stop,
        "pass" => Hook::Pass,
        "set" => Hook::Set(id),
        "job_end" => Hook::JobEnd(id),
        "reconfig" => Hook::Reconfig(id != 0),
        "sprio" => Hook::Sprio,
        "sshare" => Hook::Sshare,
        verb => bail!("no call: {verb}"),
    })
}
