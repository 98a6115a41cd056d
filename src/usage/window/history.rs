//! What was used, by names: a ledger without a tree.
//!
//! A file holds one; so does what another cluster, or a helper that reads the accounting
//! database, sends.

use std::collections::HashMap;

use super::amount::{LIMIT, amount};
use super::run::{Run, Runs, Segment};
use super::slot::Leaf;
use super::span::{check_interval, check_time, pieces};
use super::{
    Column, Columns, LeafKey, LedgerRun, MAX_DATES, Rate, Source, Spans, Used, Window, WindowError,
};

/// A run, by the position of its source.
pub(super) type SourceRun = (u32, LedgerRun);

/// What was used, by names of accounts and users; see the [module](super).
#[derive(Clone, Debug)]
pub struct UsageHistory {
    pub(super) resolution_secs: u32,
    pub(super) columns: Columns,
    /// Ascending.
    pub(super) dates: Vec<i64>,
    /// The first is the one that is charged.
    pub(super) sources: Vec<Source>,
    /// The oldest bucket that is kept.
    pub(super) floor: i64,
    pub(super) keys: Vec<LeafKey>,
    pub(super) leaves: Vec<Leaf>,
    pub(super) positions: HashMap<LeafKey, u32>,
    pub(super) runs: Runs<SourceRun>,
    /// At least all that the leaves hold, per column.
    pub(super) held: Vec<u128>,
}

/// Two histories are equal when they would be saved as the same bytes.
impl PartialEq for UsageHistory {
    fn eq(&self, other: &UsageHistory) -> bool {
        self.save() == other.save()
    }
}

/// Dates in order, each once.
pub(super) fn sorted_dates(dates: &[i64]) -> Result<Vec<i64>, WindowError> {
    let mut dates = dates.to_vec();
    dates.sort_unstable();
    dates.dedup();
    if dates.len() > MAX_DATES {
        let found = dates.len();
        return Err(WindowError::DateCount { found });
    }
    for date in &dates {
        check_time("date of the total", *date)?;
    }
    Ok(dates)
}

/// What a charge adds to `held`, or why it is refused.
pub(super) fn check_amounts(
    held: &[u128],
    rate: &Rate,
    secs: i64,
    place: impl Fn() -> String,
) -> Result<(), WindowError> {
    if rate.units.len() != held.len() {
        return Err(WindowError::Width {
            expected: held.len() - 2,
            found: rate.units.len() - 2,
        });
    }
    let fits = |(held, units): (&u128, &u128)| {
        amount(*units, secs).is_some_and(|amount| held + amount < LIMIT)
    };
    match held.iter().zip(&rate.units).all(fits) {
        true => Ok(()),
        false => Err(WindowError::TooMuch { place: place() }),
    }
}

/// Adds to `held` what [`check_amounts`] allows, or takes it away.
pub(super) fn hold(held: &mut [u128], rate: &Rate, secs: i64, add: bool) {
    for (held, units) in held.iter_mut().zip(&rate.units) {
        let amount = units * secs as u128;
        *held = match add {
            true => *held + amount,
            // What has left the buckets is not held any more.
            false => held.saturating_sub(amount),
        };
    }
}

/// Refuses to put together what is too much, whichever columns are the same.
pub(super) fn check_sum(held: &[u128], more: &[u128], place: &str) -> Result<(), WindowError> {
    let most = |held: &[u128]| held.iter().max().copied().unwrap_or(0);
    match most(held) + most(more) < LIMIT {
        true => Ok(()),
        false => Err(WindowError::TooMuch {
            place: place.to_owned(),
        }),
    }
}

impl UsageHistory {
    /// Nothing yet of the cluster `source`, as of the moment `as_of`: no charge goes beyond.
    ///
    /// `dates`: those since which totals are kept, seconds since 1970.
    ///
    /// # Errors
    /// [`WindowError::Resolution`], [`WindowError::DateCount`], [`WindowError::Time`].
    pub fn new(
        source: &str,
        resolution_secs: u64,
        columns: Columns,
        dates: &[i64],
        as_of: i64,
    ) -> Result<UsageHistory, WindowError> {
        let resolution = Window::new(Window::MAX_LENGTH_SECS, resolution_secs)?;
        check_time("moment of the history", as_of)?;
        Ok(UsageHistory {
            resolution_secs: resolution.resolution_secs(),
            held: vec![0; columns.width()],
            columns,
            dates: sorted_dates(dates)?,
            sources: vec![Source {
                name: source.to_owned(),
                as_of,
                covered: Spans::default(),
            }],
            floor: 0,
            keys: Vec::new(),
            leaves: Vec::new(),
            positions: HashMap::new(),
            runs: Runs::default(),
        })
    }

    pub(super) fn resolution(&self) -> i64 {
        i64::from(self.resolution_secs)
    }

    /// Seconds of a bucket.
    pub fn resolution_secs(&self) -> u32 {
        self.resolution_secs
    }

    /// What is counted.
    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Dates since which totals are kept, ascending; seconds since 1970.
    pub fn dates(&self) -> &[i64] {
        &self.dates
    }

    /// Whose use this is, and of which times; after a merge they may be several.
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Since when buckets are kept, seconds since 1970; 0: no charge was too old.
    pub fn kept_since(&self) -> i64 {
        self.floor * self.resolution()
    }

    /// Leaves with use, in no order.
    pub fn leaves(&self) -> impl Iterator<Item = &LeafKey> {
        self.keys.iter()
    }

    /// Runs that have not ended.
    pub fn open_runs(&self) -> usize {
        self.runs.len()
    }

    /// Moves the moment up to which charges go, and to which running jobs are known. Never back.
    ///
    /// # Errors
    /// [`WindowError::Time`], [`WindowError::OtherSource`] where there are several.
    pub fn advance(&mut self, as_of: i64) -> Result<(), WindowError> {
        self.check_one_source()?;
        check_time("moment of the history", as_of)?;
        let source = &mut self.sources[0];
        source.as_of = source.as_of.max(as_of);
        Ok(())
    }

    /// A history of several clusters is not charged.
    fn check_one_source(&self) -> Result<(), WindowError> {
        match self.sources.len() {
            1 => Ok(()),
            _ => Err(WindowError::OtherSource {
                expected: self.sources[0].name.clone(),
                found: self
                    .sources
                    .iter()
                    .map(|source| source.name.clone())
                    .collect(),
            }),
        }
    }

    /// Notes that all use of the source in `[from, to)` is in the history.
    ///
    /// # Errors
    /// [`WindowError::Reversed`], [`WindowError::Time`], [`WindowError::Future`],
    /// [`WindowError::OtherSource`] where there are several.
    pub fn cover(&mut self, from: i64, to: i64) -> Result<(), WindowError> {
        self.check_one_source()?;
        let source = &mut self.sources[0];
        check_cover(source, source.as_of, from, to)?;
        source.covered.add(from, to);
        Ok(())
    }

    /// Charges what a leaf used in `[from, to)`; nothing if that is empty.
    ///
    /// `run`: the run, if it goes on or its end may not count; `None`: it is over and counts.
    ///
    /// # Errors
    /// [`WindowError::Reversed`], [`WindowError::Time`], [`WindowError::Future`],
    /// [`WindowError::Overlap`] where some of it is charged for the run already,
    /// [`WindowError::OtherLeaf`], [`WindowError::Width`], [`WindowError::TooMuch`],
    /// [`WindowError::OtherSource`] where there are several.
    pub fn charge(
        &mut self,
        leaf: &LeafKey,
        run: Option<LedgerRun>,
        from: i64,
        to: i64,
        rate: &Rate,
    ) -> Result<(), WindowError> {
        let place = || match run {
            Some(run) => format!("{leaf}, {run}"),
            None => leaf.to_string(),
        };
        self.check_one_source()?;
        check_interval(place, from, to)?;
        let now = self.sources[0].as_of;
        if to > now {
            let place = place();
            return Err(WindowError::Future { place, to, now });
        }
        check_amounts(&self.held, rate, to - from, place)?;
        let position = self.positions.get(leaf).copied();
        if let Some(run) = run {
            self.runs.check((0, run), || (run, 0), position, from, to)?;
        }
        if from == to {
            return Ok(());
        }
        let position = position.unwrap_or_else(|| self.add_leaf(leaf.clone(), Leaf::default()));
        if let Some(run) = run {
            self.runs.note((0, run), position, from, to, rate);
        }
        let (resolution, rate) = (self.resolution(), rate.clone());
        let segment = Segment { from, to, rate };
        let leaf = &mut self.leaves[position as usize];
        leaf.change(resolution, self.floor, &self.dates, &segment, true);
        hold(&mut self.held, &segment.rate, to - from, true);
        Ok(())
    }

    pub(super) fn add_leaf(&mut self, key: LeafKey, leaf: Leaf) -> u32 {
        let position = u32::try_from(self.keys.len()).expect("fewer than 2^32 leaves");
        self.positions.insert(key.clone(), position);
        self.keys.push(key);
        self.leaves.push(leaf);
        position
    }

    /// What a leaf used in `[from, to)`: buckets that are partly inside count in proportion.
    /// Nothing for unknown leaves.
    ///
    /// # Errors
    /// [`WindowError::Reversed`], [`WindowError::Time`].
    pub fn used(
        &self,
        leaf: &LeafKey,
        from: i64,
        to: i64,
        column: Column,
    ) -> Result<Used, WindowError> {
        check_interval(|| leaf.to_string(), from, to)?;
        let mut numerator = 0;
        if let Some(position) = self.positions.get(leaf) {
            let buckets = &self.leaves[*position as usize].buckets;
            let mut sums = vec![0; self.columns.width()];
            for piece in pieces(self.resolution(), from, to) {
                sums.fill(0);
                buckets.sum(piece.first, piece.first + piece.count, &mut sums);
                numerator += sums[column.get()] * piece.secs as u128;
            }
        }
        Ok(Used {
            numerator,
            denominator: self.resolution_secs,
        })
    }

    pub(super) fn prune_buckets(&mut self, floor: i64) {
        if floor <= self.floor {
            return;
        }
        self.floor = floor;
        let (width, since) = (self.columns.width(), self.kept_since());
        for leaf in &mut self.leaves {
            leaf.buckets.merge(width, floor);
        }
        for source in &mut self.sources {
            source.covered.trim(since);
        }
    }

    /// Keeps totals since these dates. Those that are new begin with what the buckets have.
    ///
    /// # Errors
    /// [`WindowError::DateCount`], [`WindowError::Time`].
    pub fn set_dates(&mut self, dates: &[i64]) -> Result<(), WindowError> {
        let dates = sorted_dates(dates)?;
        let (resolution, width) = (self.resolution(), self.columns.width());
        if dates != self.dates {
            // How much of a bucket is behind a new date is an estimate, except for runs that go
            // on: these are counted to the second, so that they can be taken back.
            self.change_runs(false);
            for leaf in &mut self.leaves {
                leaf.set_dates(&self.dates, &dates, resolution, width);
            }
            self.dates = dates;
            self.change_runs(true);
        }
        Ok(())
    }

    /// Adds all runs that go on to the leaves, or takes them away.
    fn change_runs(&mut self, add: bool) {
        let resolution = self.resolution();
        for (_, run) in self.runs.iter() {
            let leaf = &mut self.leaves[run.leaf as usize];
            for segment in run.segments() {
                leaf.change(resolution, self.floor, &self.dates, segment, add);
            }
        }
    }

    /// Makes buckets longer. Exact: taking back runs works as before.
    ///
    /// # Errors
    /// [`WindowError::Coarsen`] unless `resolution_secs` is a multiple of what it is,
    /// [`WindowError::Resolution`] above a day.
    pub fn coarsen(&mut self, resolution_secs: u32) -> Result<(), WindowError> {
        let found = resolution_secs;
        Window::new(Window::MAX_LENGTH_SECS, u64::from(found))?;
        if found % self.resolution_secs != 0 {
            let have_secs = self.resolution_secs;
            return Err(WindowError::Coarsen { found, have_secs });
        }
        let factor = i64::from(found / self.resolution_secs);
        if factor > 1 {
            let columns: Vec<_> = (0..self.columns.width()).map(Some).collect();
            for leaf in &mut self.leaves {
                *leaf = leaf.converted(&columns, columns.len(), factor);
            }
            self.resolution_secs = found;
            // A bucket of which the older part was dropped is dropped whole.
            let floor = (self.floor + factor - 1).div_euclid(factor);
            self.floor = i64::MIN;
            self.prune_buckets(floor);
        }
        Ok(())
    }

    /// Counts these TRES: those that are new have nothing yet, others are forgotten.
    pub fn set_columns(&mut self, columns: &Columns) {
        if self.columns == *columns {
            return;
        }
        let place = |name: &String| columns.find(name).map(Column::get);
        let tres = self.columns.tres().iter().map(place);
        let map: Vec<_> = [Some(0), Some(1)].into_iter().chain(tres).collect();
        let width = columns.width();
        for leaf in &mut self.leaves {
            *leaf = leaf.converted(&map, width, 1);
        }
        let convert = |old: &[u128]| {
            let mut new = vec![0; width];
            for (amount, column) in old.iter().zip(&map) {
                if let Some(column) = column {
                    new[*column] = *amount;
                }
            }
            new
        };
        for run in self.runs.iter_mut() {
            for segment in run.earlier.iter_mut().chain([&mut run.last]) {
                segment.rate.units = convert(&segment.rate.units).into();
            }
        }
        self.held = convert(&self.held);
        self.columns = columns.clone();
    }

    /// Whether all that open runs were charged is in the leaves, so that it can be taken back;
    /// else the leaf of which it is not. What is before the kept buckets does not matter.
    pub(super) fn check_runs(&self) -> Result<(), usize> {
        let mut charged: HashMap<u32, Vec<&Run>> = HashMap::new();
        for (_, run) in self.runs.iter() {
            charged.entry(run.leaf).or_default().push(run);
        }
        let width = self.columns.width();
        for (position, runs) in charged {
            let leaf = &self.leaves[position as usize];
            let mut sum = Leaf::default();
            let mut held = vec![0; width];
            for segment in runs.iter().flat_map(|run| run.segments()) {
                let place = String::new;
                let secs = segment.to - segment.from;
                check_amounts(&held, &segment.rate, secs, place).map_err(|_| position as usize)?;
                hold(&mut held, &segment.rate, secs, true);
                sum.change(self.resolution(), self.floor, &self.dates, segment, true);
            }
            if !leaf.contains(&sum, width) {
                return Err(position as usize);
            }
        }
        Ok(())
    }
}

/// Refuses to cover time that is reversed, or has not come.
pub(super) fn check_cover(
    source: &Source,
    now: i64,
    from: i64,
    to: i64,
) -> Result<(), WindowError> {
    let place = || format!("source {}", source.name);
    check_interval(place, from, to)?;
    if to > now {
        let place = place();
        return Err(WindowError::Future { place, to, now });
    }
    Ok(())
}
