//! Names that many records share, each stored once.

use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::slurm::job::JobWait;

/// A name that many records may share.
pub type Name = Arc<str>;

/// Number of different texts of a kind that are shared; beyond it each record has its own.
const MOST: usize = 1 << 20;

/// Names, lists of names and lists of resources of the records of one answer.
#[derive(Debug, Default)]
pub(super) struct Interner {
    names: FxHashSet<Name>,
    lists: FxHashMap<Box<str>, Arc<[Name]>>,
    tres: FxHashMap<Box<str>, Tres>,
    waits: FxHashMap<Box<str>, Arc<JobWait>>,
}

/// Resources with their counts.
pub(super) type Tres = Arc<[(String, u64)]>;

impl Interner {
    /// A name.
    pub fn name(&mut self, text: &str) -> Name {
        if let Some(name) = self.names.get(text) {
            return name.clone();
        }
        let name: Name = text.into();
        if self.names.len() < MOST {
            self.names.insert(name.clone());
        }
        name
    }

    /// The names in `a,b`; empty ones are left out.
    pub fn list(&mut self, text: &str) -> Arc<[Name]> {
        if let Some(list) = self.lists.get(text) {
            return list.clone();
        }
        let names = text.split(',').filter(|name| !name.is_empty());
        let list: Arc<[Name]> = names.map(|name| self.name(name)).collect();
        if self.lists.len() < MOST {
            self.lists.insert(text.into(), list.clone());
        }
        list
    }

    /// A reason to wait. Those with a dependency or a time of their own are not shared.
    pub fn wait(&mut self, reason: &str, dependency: Option<&str>, begin: i64) -> Arc<JobWait> {
        let alone = dependency.is_some() || begin != 0;
        if let Some(wait) = self.waits.get(reason).filter(|_| !alone) {
            return wait.clone();
        }
        let wait = Arc::new(JobWait {
            reason: self.name(reason),
            dependency: dependency.map(|text| text.into()),
            begin,
        });
        if !alone && self.waits.len() < MOST {
            self.waits.insert(reason.into(), wait.clone());
        }
        wait
    }

    /// The resources that `read` makes of a text; `None` where it makes none.
    pub fn tres(
        &mut self,
        text: &str,
        read: impl FnOnce(&str) -> Option<Vec<(String, u64)>>,
    ) -> Option<Tres> {
        if let Some(tres) = self.tres.get(text) {
            return Some(tres.clone());
        }
        let tres: Tres = read(text)?.into();
        if self.tres.len() < MOST {
            self.tres.insert(text.into(), tres.clone());
        }
        Some(tres)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_stored_once() {
        let mut interner = Interner::default();
        let (one, two) = (interner.list("a,,b"), interner.list("a,,b"));
        assert!(Arc::ptr_eq(&one, &two));
        assert_eq!(&*one, ["a".into(), "b".into()]);
        assert!(Arc::ptr_eq(&one[1], &interner.name("b")));
        assert!(interner.list("").is_empty());
    }

    #[test]
    fn what_cannot_be_read_is_not_remembered() {
        let mut interner = Interner::default();
        assert!(interner.tres("x", |_| None).is_none());
        let read = |_: &str| Some(vec![("cpu".to_owned(), 1)]);
        let tres = interner.tres("x", read).unwrap();
        assert_eq!(tres[0].1, 1);
        assert!(Arc::ptr_eq(&tres, &interner.tres("x", |_| None).unwrap()));
    }
}
