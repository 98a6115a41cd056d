//! A history as bytes, the same on every machine.
//!
//! | bytes | what |
//! |---|---|
//! | 8 | `FTLEDGER` |
//! | 4 | version of the format, 1, little-endian |
//! | numbers | resolution; oldest bucket that is kept; counts of TRES, dates, sources, leaves and runs |
//! | TRES | names, ascending |
//! | dates | numbers, ascending |
//! | sources | name; as of; count of covered intervals; their ends. Ascending by name |
//! | leaves | name (account, user, partition with NUL between); per date its total; buckets. Ascending |
//! | runs | source; job; run; leaf; count of segments, each: from, to, rate. Ascending |
//! | 4 | CRC-32 (IEEE) of all bytes before, little-endian |
//!
//! Numbers are as in [`super::coding`], names and buckets have their length before them. Rates
//! and totals are 0 for nothing, 1 for units, 2 for whole TRES-seconds, then as in a bucket.
//! There is one way to write a history, and what is read must be written so.

use super::amount::{Columns, LIMIT, Rate};
use super::bucket::Buckets;
use super::coding::{Damage, all_whole, check, put, put_amounts, take, take_amounts};
use super::history::{SourceRun, UsageHistory, sorted_dates};
use super::run::{Run, Runs, Segment};
use super::slot::Leaf;
use super::span::{MAX_TIME, Spans};
use super::{LeafKey, LedgerRun, Source, Window, WindowError, WindowLedger};
use crate::tree::AssocIndex;

pub(super) const MAGIC: &[u8; 8] = b"FTLEDGER";

/// The format.
pub const VERSION: u32 = 1;

const TAIL: usize = 4;

/// What is written.
struct Content<'a> {
    resolution_secs: u32,
    floor: i64,
    columns: &'a Columns,
    dates: &'a [i64],
    sources: Vec<&'a Source>,
    /// Ascending.
    leaves: Vec<(&'a LeafKey, &'a Leaf)>,
    /// Source and leaf by position among those; ascending.
    runs: Vec<(SourceRun, u32, &'a Run)>,
}

impl UsageHistory {
    /// The history as bytes: equal histories have equal bytes.
    pub fn save(&self) -> Vec<u8> {
        let width = self.columns.width();
        let mut order: Vec<u32> = (0..self.keys.len() as u32).collect();
        let mut needed = vec![false; order.len()];
        for (_, run) in self.runs.iter() {
            needed[run.leaf as usize] = true;
        }
        order.retain(|at| {
            let leaf = &self.leaves[*at as usize];
            needed[*at as usize] || leaf.has_totals() || !leaf.buckets.is_empty(width, i64::MIN)
        });
        order.sort_unstable_by(|a, b| self.keys[*a as usize].cmp(&self.keys[*b as usize]));
        let mut sources: Vec<u32> = (0..self.sources.len() as u32).collect();
        sources.sort_by(|a, b| {
            self.sources[*a as usize]
                .name
                .cmp(&self.sources[*b as usize].name)
        });
        let leaf_places = places(&order, self.keys.len());
        let source_places = places(&sources, self.sources.len());
        let run = |((source, id), run)| {
            let (source, id): (u32, LedgerRun) = (source, id);
            let run: &Run = run;
            let key = (source_places[source as usize], id);
            (key, leaf_places[run.leaf as usize], run)
        };
        let mut runs: Vec<_> = self
            .runs
            .iter()
            .map(|(key, each)| run((*key, each)))
            .collect();
        runs.sort_unstable_by_key(|(key, ..)| *key);
        let content = Content {
            resolution_secs: self.resolution_secs,
            floor: self.floor,
            columns: &self.columns,
            dates: &self.dates,
            sources: sources
                .iter()
                .map(|at| &self.sources[*at as usize])
                .collect(),
            leaves: order
                .iter()
                .map(|at| (&self.keys[*at as usize], &self.leaves[*at as usize]))
                .collect(),
            runs,
        };
        write(&content)
    }

    /// The history that bytes hold.
    ///
    /// # Errors
    /// [`WindowError::Version`] for another format, [`WindowError::Damaged`] for all else that
    /// [`UsageHistory::save`] did not write.
    pub fn load(bytes: &[u8]) -> Result<UsageHistory, WindowError> {
        if !bytes.starts_with(MAGIC) {
            return Err(damaged(Damage::new(0, "bad magic number: no ledger")));
        }
        let version = bytes.get(8..12).and_then(|version| version.try_into().ok());
        let end = bytes.len();
        let version = version.map(u32::from_le_bytes);
        let version = version.ok_or_else(|| damaged(Damage::new(end, "the bytes end here")))?;
        if version != VERSION {
            return Err(WindowError::Version { found: version });
        }
        let Some((content, checksum)) = bytes[12..].split_last_chunk::<TAIL>() else {
            return Err(damaged(Damage::new(end, "the bytes end here")));
        };
        let content_end = 12 + content.len();
        let found = crc32fast::hash(&bytes[..content_end]);
        let expected = u32::from_le_bytes(*checksum);
        if found != expected {
            let reason = format!("checksum {expected:#010x}, but the bytes have {found:#010x}");
            return Err(damaged(Damage::new(content_end, reason)));
        }
        let mut input = Input {
            bytes: &bytes[..content_end],
            at: 12,
        };
        input.history().map_err(damaged)
    }
}

fn damaged(damage: Damage) -> WindowError {
    let Damage { offset, reason } = damage;
    WindowError::Damaged { offset, reason }
}

/// Where each of `len` stands in `order`.
fn places(order: &[u32], len: usize) -> Vec<u32> {
    let mut places = vec![0; len];
    for (place, at) in order.iter().enumerate() {
        places[*at as usize] = place as u32;
    }
    places
}

impl WindowLedger {
    /// Merges what has changed of own leaves into the bytes that stand in a file, so that
    /// [`WindowLedger::save`] copies them, also those that do not change until the next time. Without this
    /// saving the ledger of 45,000 users takes 15 % more CPU time (`time_pass` of the bench host, alternating
    /// processes).
    #[cfg_attr(
        not(any(feature = "slurm", test)),
        expect(dead_code, reason = "the plugin's")
    )]
    pub(crate) fn merge_changes(&mut self) {
        let width = self.columns.width();
        for slot in self.slots.iter_mut().filter(|slot| slot.own) {
            slot.leaf.buckets.merge(width, i64::MIN);
        }
    }

    /// The ledger's own use as bytes, for [`UsageHistory::load`] and [`WindowLedger::restore`]: what
    /// is kept of it, without other sources.
    ///
    /// `name`: the name of an association, by position; asked of those with use only.
    ///
    /// # Errors
    /// [`WindowError::NameTwice`] where two associations have the same name.
    pub fn save(
        &self,
        mut name: impl FnMut(AssocIndex) -> LeafKey,
    ) -> Result<Vec<u8>, WindowError> {
        let named = self.own_slots(&mut name)?;
        let order: Vec<u32> = named.iter().map(|(at, _)| *at).collect();
        let places = places(&order, self.slots.len());
        let runs = self.runs.iter();
        let mut runs: Vec<_> = runs
            .map(|(id, run)| ((0, *id), places[run.leaf as usize], run))
            .collect();
        runs.sort_unstable_by_key(|(key, ..)| *key);
        Ok(write(&Content {
            resolution_secs: self.window.resolution_secs(),
            floor: self.floor.max(0),
            columns: &self.columns,
            dates: &self.dates,
            sources: vec![&self.source],
            leaves: named
                .iter()
                .map(|(at, key)| (key, &self.slots[*at as usize].leaf))
                .collect(),
            runs,
        }))
    }
}

fn write(content: &Content<'_>) -> Vec<u8> {
    let width = content.columns.width();
    // Buckets are most of it.
    let size: usize = content
        .leaves
        .iter()
        .map(|(key, leaf)| 16 + key.names().len() + leaf.buckets.size() + leaf.totals.len() * 8)
        .sum();
    let mut bytes = Vec::with_capacity(size + 4096);
    bytes.extend(MAGIC);
    bytes.extend(VERSION.to_le_bytes());
    for number in [
        content.resolution_secs as usize,
        content.floor as usize,
        content.columns.tres().len(),
        content.dates.len(),
        content.sources.len(),
        content.leaves.len(),
        content.runs.len(),
    ] {
        put(&mut bytes, number as u128);
    }
    for name in content.columns.tres() {
        put_text(&mut bytes, name.as_bytes());
    }
    for date in content.dates {
        put(&mut bytes, *date as u128);
    }
    for source in &content.sources {
        put_text(&mut bytes, source.name.as_bytes());
        put(&mut bytes, source.as_of as u128);
        put(&mut bytes, source.covered.as_slice().len() as u128);
        for (from, to) in source.covered.as_slice() {
            put(&mut bytes, *from as u128);
            put(&mut bytes, *to as u128);
        }
    }
    for (key, leaf) in &content.leaves {
        put_text(&mut bytes, key.names().as_bytes());
        for at in 0..content.dates.len() {
            let total = leaf.totals.get(at * width..(at + 1) * width);
            put_row(&mut bytes, total.unwrap_or(&[]));
        }
        put_text(&mut bytes, &leaf.buckets.to_bytes(width, content.floor));
    }
    for ((source, id), leaf, run) in &content.runs {
        put(&mut bytes, u128::from(*source));
        put(&mut bytes, u128::from(id.job));
        // Restart counts and times are from 0 up; others are large numbers.
        put(&mut bytes, u128::from(id.run as u64));
        put(&mut bytes, u128::from(*leaf));
        put(&mut bytes, 1 + run.earlier.len() as u128);
        for segment in run.segments() {
            put(&mut bytes, segment.from as u128);
            put(&mut bytes, segment.to as u128);
            put_row(&mut bytes, &segment.rate.units);
        }
    }
    bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
    bytes
}

fn put_text(bytes: &mut Vec<u8>, text: &[u8]) {
    put(bytes, text.len() as u128);
    bytes.extend_from_slice(text);
}

fn put_row(bytes: &mut Vec<u8>, amounts: &[u128]) {
    if amounts.iter().all(|amount| *amount == 0) {
        bytes.push(0);
        return;
    }
    let whole = all_whole(amounts);
    bytes.push(1 + u8::from(whole));
    put_amounts(bytes, amounts, whole);
}

/// Takes things off the front of bytes whose checksum is right.
struct Input<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Input<'a> {
    /// A number below `limit`.
    fn number(&mut self, what: &str, limit: u64) -> Result<u64, Damage> {
        let start = self.at;
        let number = take(self.bytes, &mut self.at)?;
        match u64::try_from(number).ok().filter(|number| *number < limit) {
            Some(number) => Ok(number),
            None => Err(Damage::new(
                start,
                format!("{what} {number}; allowed is less than {limit}"),
            )),
        }
    }

    fn time(&mut self, what: &str) -> Result<i64, Damage> {
        self.number(what, MAX_TIME as u64 + 1)
            .map(|time| time as i64)
    }

    /// How many of something follow, each of at least one byte.
    fn count(&mut self, what: &str) -> Result<usize, Damage> {
        let start = self.at;
        let count = self.number(what, u64::from(u32::MAX))? as usize;
        let left = self.bytes.len() - self.at;
        match count <= left {
            true => Ok(count),
            false => Err(Damage::new(
                start,
                format!("{what} {count}, but {left} bytes follow"),
            )),
        }
    }

    fn text(&mut self, what: &str) -> Result<&'a [u8], Damage> {
        let len = self.count(what)?;
        let text = &self.bytes[self.at..][..len];
        self.at += len;
        Ok(text)
    }

    fn name(&mut self, what: &str) -> Result<&'a str, Damage> {
        let start = self.at;
        let name = self.text(what)?;
        std::str::from_utf8(name).map_err(|_| Damage::new(start, format!("{what}: not UTF-8")))
    }

    /// A total or a rate; what `put_row` wrote. `None`: nothing.
    fn row(&mut self, what: &str, width: usize) -> Result<Option<Vec<u128>>, Damage> {
        let start = self.at;
        let kind = self.number(what, 3)?;
        if kind == 0 {
            return Ok(None);
        }
        let mut amounts = vec![0; width];
        take_amounts(self.bytes, &mut self.at, kind == 2, &mut amounts)?;
        match kind == 1 && all_whole(&amounts) {
            true => Err(Damage::new(
                start,
                "whole TRES-seconds that are written in units",
            )),
            false => Ok(Some(amounts)),
        }
    }

    fn history(&mut self) -> Result<UsageHistory, Damage> {
        let start = self.at;
        let resolution_secs = self.number("resolution", Window::MAX_RESOLUTION_SECS + 1)?;
        if resolution_secs == 0 {
            return Err(Damage::new(start, "resolution 0; allowed is 1 to 86400"));
        }
        let floor = self.time("oldest bucket")?;
        let tres = self.count("count of TRES")?;
        let dates = self.count("count of dates")?;
        let sources = self.count("count of sources")?;
        let leaves = self.count("count of leaves")?;
        let runs = self.count("count of runs")?;
        let columns = self.columns(tres)?;
        let dates = self.dates(dates)?;
        let start = self.at;
        let sources = self.sources(sources)?;
        let as_of = sources.first().map_or(0, |source| source.as_of);
        let first = sources.first().map_or("", |source| source.name.as_str());
        let history = UsageHistory::new(first, resolution_secs, columns, &dates, as_of);
        let mut history = history.map_err(|error| Damage::new(start, error.to_string()))?;
        history.floor = floor;
        history.sources = sources;
        let offsets = self.leaves(&mut history, leaves)?;
        self.runs(&mut history, runs)?;
        if let Err(leaf) = history.check_runs() {
            let reason = "less use than its open runs were charged";
            return Err(Damage::new(offsets[leaf], reason));
        }
        match self.bytes.len() - self.at {
            0 => Ok(history),
            left => Err(Damage::new(self.at, format!("{left} bytes too many"))),
        }
    }

    fn columns(&mut self, count: usize) -> Result<Columns, Damage> {
        let start = self.at;
        let mut names = Vec::new();
        for _ in 0..count {
            names.push(self.name("name of a TRES")?.to_owned());
        }
        let columns = Columns::new(names.iter().map(String::as_str));
        let columns = columns.map_err(|error| Damage::new(start, error.to_string()))?;
        match columns.tres() == names {
            true => Ok(columns),
            false => Err(Damage::new(start, "names of TRES that do not ascend")),
        }
    }

    fn dates(&mut self, count: usize) -> Result<Vec<i64>, Damage> {
        let start = self.at;
        let mut dates = Vec::new();
        for _ in 0..count {
            dates.push(self.time("date of a total")?);
        }
        match sorted_dates(&dates) {
            Ok(sorted) if sorted == dates => Ok(dates),
            Ok(_) => Err(Damage::new(start, "dates that do not ascend")),
            Err(error) => Err(Damage::new(start, error.to_string())),
        }
    }

    fn sources(&mut self, count: usize) -> Result<Vec<Source>, Damage> {
        let start = self.at;
        let mut sources: Vec<Source> = Vec::new();
        for _ in 0..count {
            let start = self.at;
            let name = self.name("name of a source")?.to_owned();
            if sources.last().is_some_and(|before| before.name >= name) {
                return Err(Damage::new(start, "sources that do not ascend"));
            }
            let as_of = self.time("moment of a source")?;
            let start = self.at;
            let mut spans = Vec::new();
            for _ in 0..self.count("count of covered intervals")? {
                spans.push((self.time("covered from")?, self.time("covered to")?));
            }
            let covered = Spans::from_sorted(spans);
            let covered = covered
                .ok_or_else(|| Damage::new(start, "covered intervals that do not ascend"))?;
            sources.push(Source {
                name,
                as_of,
                covered,
            });
        }
        match sources.is_empty() {
            true => Err(Damage::new(start, "no source; allowed is 1 or more")),
            false => Ok(sources),
        }
    }

    /// Reads leaves into a history; tells where each stands.
    fn leaves(&mut self, history: &mut UsageHistory, count: usize) -> Result<Vec<usize>, Damage> {
        let width = history.columns.width();
        let mut offsets = Vec::new();
        let mut held = vec![0; width];
        for _ in 0..count {
            let start = self.at;
            offsets.push(start);
            let key = LeafKey::from_names(self.name("name of a leaf")?);
            let key = key.ok_or_else(|| {
                Damage::new(start, "a leaf whose name is not account, user, partition")
            })?;
            if history.keys.last().is_some_and(|before| *before >= key) {
                return Err(Damage::new(start, "leaves that do not ascend"));
            }
            let mut totals = Vec::new();
            for at in 0..history.dates.len() {
                if let Some(total) = self.row("kind of a total", width)? {
                    totals.resize(history.dates.len() * width, 0);
                    totals[at * width..][..width].copy_from_slice(&total);
                }
            }
            let bytes = self.text("length of buckets")?;
            let begin = self.at - bytes.len();
            let checked = check(bytes, &mut held);
            let checked = checked.map_err(|damage| Damage {
                offset: begin + damage.offset,
                ..damage
            })?;
            if checked.end > MAX_TIME / history.resolution() + 1 {
                return Err(Damage::new(begin, "buckets after the year 9999"));
            }
            let buckets = Buckets::from_bytes(bytes.to_vec(), &checked);
            if buckets
                .first_from(i64::MIN, width)
                .is_some_and(|first| first < history.floor)
            {
                return Err(Damage::new(begin, "buckets that are older than the oldest"));
            }
            let leaf = Leaf { buckets, totals };
            for (column, held) in held.iter_mut().enumerate() {
                *held += leaf.most(column, width);
                if *held >= LIMIT {
                    return Err(Damage::new(start, "usage above the limit"));
                }
            }
            history.add_leaf(key, leaf);
        }
        history.held = held;
        Ok(offsets)
    }

    /// Reads runs into a history.
    fn runs(&mut self, history: &mut UsageHistory, count: usize) -> Result<(), Damage> {
        let (sources, leaves) = (history.sources.len() as u64, history.keys.len() as u64);
        let width = history.columns.width();
        let mut runs = Runs::default();
        let mut before = None;
        for _ in 0..count {
            let start = self.at;
            let source = self.number("source of a run", sources)? as u32;
            let job = self.number("job of a run", 1 << 32)? as u32;
            let run = self.number("run of a job", u64::MAX)? as i64;
            let key = (source, LedgerRun { job, run });
            if before.is_some_and(|before| before >= key) {
                return Err(Damage::new(start, "runs that do not ascend"));
            }
            before = Some(key);
            let leaf = self.number("leaf of a run", leaves)? as u32;
            let mut segments: Vec<Segment> = Vec::new();
            for _ in 0..self.count("count of a run's segments")? {
                let start = self.at;
                let (from, to) = (self.time("charged from")?, self.time("charged to")?);
                let units = self.row("kind of a rate", width)?;
                let units = units.unwrap_or_else(|| vec![0; width]).into();
                let segment = Segment {
                    from,
                    to,
                    rate: Rate { units },
                };
                let follows = segments.last().is_none_or(|before| {
                    before.to < from || before.to == from && before.rate != segment.rate
                });
                if from >= to || !follows {
                    return Err(Damage::new(start, "segments of a run that do not ascend"));
                }
                segments.push(segment);
            }
            let Some(last) = segments.pop() else {
                return Err(Damage::new(start, "a run without segments"));
            };
            runs.insert(key, Run::new(leaf, last, segments));
        }
        history.runs = runs;
        Ok(())
    }
}
