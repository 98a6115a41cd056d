//! Two histories as one.

use super::history::{History, check_sum};
use super::{Columns, Source, WindowError};

impl History {
    /// Adds all of another history: other clusters, or other times of the same one.
    ///
    /// The result does not depend on the order of merges. TRES of both are counted; buckets are
    /// kept since the later of both beginnings.
    ///
    /// # Errors
    /// [`WindowError::CoveredTwice`] where both cover some time of the same cluster, as they do
    /// when one is merged a second time; [`WindowError::OtherResolution`],
    /// [`WindowError::OtherDates`], [`WindowError::Overlap`] and [`WindowError::OtherLeaf`] for
    /// a run that both have, [`WindowError::TooMuch`].
    pub fn merge(&mut self, other: &History) -> Result<(), WindowError> {
        self.check_merge(other)?;
        let all = self.columns.tres().iter().chain(other.columns.tres());
        let mut all: Vec<&String> = all.collect();
        all.sort_unstable();
        all.dedup();
        let columns = Columns::new(all)?;
        check_sum(&self.held, &other.held, "merge")?;
        let mut other = other.clone();
        other.set_columns(&columns);
        self.set_columns(&columns);
        let floor = self.floor.max(other.floor);
        other.prune_buckets(floor);
        self.prune_buckets(floor);
        self.take_all(other);
        Ok(())
    }

    fn check_merge(&self, other: &History) -> Result<(), WindowError> {
        if other.resolution_secs != self.resolution_secs {
            return Err(WindowError::OtherResolution {
                expected: self.resolution_secs,
                found: other.resolution_secs,
            });
        }
        if other.dates != self.dates {
            return Err(WindowError::OtherDates {
                expected: self.dates.clone(),
                found: other.dates.clone(),
            });
        }
        for ours in &self.sources {
            for theirs in &other.sources {
                ours.check_apart(theirs)?;
            }
        }
        for ((source, id), run) in other.runs.iter() {
            let name = &other.sources[*source as usize].name;
            let Some(source) = self.sources.iter().position(|each| each.name == *name) else {
                continue;
            };
            let key = &other.keys[run.leaf as usize];
            let leaf = self.positions.get(key).copied();
            for segment in run.segments() {
                let key = (source as u32, *id);
                self.runs
                    .check(key, || (*id, 0), leaf, segment.from, segment.to)?;
            }
        }
        Ok(())
    }

    /// Takes over what [`History::check_merge`] allows, with the same columns.
    fn take_all(&mut self, other: History) {
        let width = self.columns.width();
        let sources: Vec<u32> = other
            .sources
            .into_iter()
            .map(|source| self.take_source(source))
            .collect();
        let mut leaves = Vec::with_capacity(other.leaves.len());
        for (key, leaf) in other.keys.into_iter().zip(other.leaves) {
            leaves.push(match self.positions.get(&key) {
                Some(position) => {
                    self.leaves[*position as usize].add_all(&leaf, width);
                    *position
                }
                None => self.add_leaf(key, leaf),
            });
        }
        for ((source, id), mut run) in other.runs.into_runs() {
            let (key, leaf) = ((sources[source as usize], id), leaves[run.leaf as usize]);
            if self.runs.get(&key).is_some() {
                for segment in run.segments() {
                    self.runs
                        .note(key, leaf, segment.from, segment.to, &segment.rate);
                }
            } else {
                run.leaf = leaf;
                self.runs.insert(key, run);
            }
        }
        for (held, more) in self.held.iter_mut().zip(&other.held) {
            *held += more;
        }
    }

    fn take_source(&mut self, source: Source) -> u32 {
        let known = self
            .sources
            .iter()
            .position(|each| each.name == source.name);
        let at = known.unwrap_or(self.sources.len());
        match self.sources.get_mut(at) {
            Some(known) => {
                known.as_of = known.as_of.max(source.as_of);
                for (from, to) in source.covered.as_slice() {
                    known.covered.add(*from, *to);
                }
            }
            None => self.sources.push(source),
        }
        at as u32
    }
}
