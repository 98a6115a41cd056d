//! Small sites, written as text, and the results of a computation by name.

#![allow(dead_code)] // Each test program uses a part of this.

use std::collections::BTreeMap;

use fairtree::compat::{Compat, Release};
use fairtree::extended::Extended;
use fairtree::fairshare::{AssocFairshare, Ranking, compute};
use fairtree::tree::{Assoc, AssocKind, Shares, Tree};

pub mod data;
pub mod random;
pub mod trees;

/// The compatibility whose values were recorded from stock plugins.
pub const SLURM: Compat = Compat::Slurm(Release::V22_05_8);

/// A tree with names and usage.
#[derive(Debug)]
pub struct Site {
    pub names: Vec<String>,
    pub tree: Tree,
    pub raw_usage: Vec<Extended>,
}

impl Site {
    /// Parses one line per association below the root, indented two spaces per level: name
    /// (accounts end in `/`), shares or `parent`, and its own usage, if any.
    pub fn parse(text: &str) -> Site {
        let mut names = vec!["root".to_owned()];
        let mut rows = vec![Assoc {
            id: 1,
            parent: None,
            kind: AssocKind::Account,
            shares: Shares::Raw(1),
        }];
        let mut own = vec![0.0];
        let mut path: Vec<u32> = vec![1];
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let depth = (line.len() - line.trim_start().len()) / 2;
            let mut words = line.split_whitespace();
            let name = words.next().expect("a name");
            let shares = match words.next().expect("shares") {
                "parent" => Shares::Parent,
                count => Shares::Raw(count.parse().expect("a count")),
            };
            let kind = if name.ends_with('/') {
                AssocKind::Account
            } else {
                AssocKind::User
            };
            let id = rows.len() as u32 + 1;
            path.truncate(depth + 1);
            rows.push(Assoc {
                id,
                parent: path.last().copied(),
                kind,
                shares,
            });
            path.push(id);
            names.push(name.to_owned());
            own.push(
                words
                    .next()
                    .map_or(0.0, |word| word.parse().expect("usage")),
            );
        }
        Site::new(names, rows, &own)
    }

    /// Creates a site; usage of an association is its own plus that of everything below it.
    pub fn new(names: Vec<String>, rows: Vec<Assoc>, own: &[f64]) -> Site {
        let tree = Tree::from_rows(rows).expect("a tree");
        let mut raw_usage: Vec<Extended> = own
            .iter()
            .map(|usage| Extended::from_f64(*usage).expect("a number"))
            .collect();
        for index in tree.parents_first().iter().rev() {
            if let Some(parent) = tree.parent(*index) {
                let usage = raw_usage[index.get()];
                raw_usage[parent.get()] += usage;
            }
        }
        Site {
            names,
            tree,
            raw_usage,
        }
    }

    /// The same site with its rows in a different order: row `i` is the old row `order[i]`.
    pub fn reordered(&self, order: &[usize]) -> Site {
        let rows = order.iter().map(|at| self.tree.rows()[*at]);
        Site {
            names: order.iter().map(|at| self.names[*at].clone()).collect(),
            tree: Tree::from_rows(rows).expect("a tree"),
            raw_usage: order.iter().map(|at| self.raw_usage[*at]).collect(),
        }
    }

    pub fn compute(&self, ranking: Ranking, compat: Compat) -> BTreeMap<&str, AssocFairshare> {
        let results = compute(ranking, compat, &self.tree, &self.raw_usage);
        let names = self.names.iter().map(String::as_str);
        names.zip(results).collect()
    }

    /// Fair Tree ranks times the number of users, best first, then by name.
    pub fn ranks(&self, compat: Compat) -> Vec<(&str, f64)> {
        let count = self.tree.user_count() as f64;
        let results = self.compute(Ranking::FAIR_TREE, compat);
        let mut ranks: Vec<(&str, f64)> = results
            .iter()
            .filter_map(|(name, result)| Some((*name, result.fs_factor? * count)))
            .collect();
        ranks.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(b.0)));
        ranks
    }
}
