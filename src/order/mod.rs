//! Order in which jobs start, if the fair-share factor is not a term of a sum.
//!
//! | noun | what it is |
//! |---|---|
//! | [`Entitled`] | what a node is entitled to, as an exact fraction |
//! | [`Ratio`] | used over entitled, compared as exact numbers |
//! | [`strict`], [`interleaved`] | orders of jobs, as pure functions over rows |
//! | [`positions`] | the place of each job in an order |
//! | [`parting()`] | where two jobs of an order part, and by which keys |
//! | [`renumber`], [`between`] | an order as 32-bit priorities, with few changes |
//! | [`Forest`] | nodes that compete, without what they used |
//! | [`JobLine`] | jobs in their order with their numbers, to which single ones come |
//!
//! Nodes with a lower ratio come first. On [`Level`], nodes of the whole tree compete with each
//! other; below it, the children of each node compete among themselves.
//!
//! ```
//! use fairtree::order::{Entitled, Job, Level, Node, interleaved};
//! // A is entitled to twice as much as B; three jobs each, A's submitted first. One use each.
//! let node = |whole| Node { parent: None, used: 0, entitled: Entitled::whole(whole) };
//! let nodes = [node(2), node(1)];
//! let jobs: Vec<Job> = [0, 0, 0, 1, 1, 1].iter().zip(1..)
//!     .map(|(&node, id)| Job { node, id, submit: id as i64, expected: 1, ..Job::default() })
//!     .collect();
//! let order = interleaved(&nodes, Level::Depth(1), &jobs)?;
//! assert_eq!(order, [0, 3, 1, 2, 4, 5]); // A1 B1 A2 A3 B2 B3
//! # Ok::<(), fairtree::order::OrderError>(())
//! ```

mod forest;
mod guests;
pub(crate) mod heap;
mod integers;
mod line;
mod longest;
mod merge;
mod parting;
mod ratio;
mod rows;
mod runs;
mod tier;
mod walk;

pub use forest::Forest;
pub use integers::{MAX_NUMBER, NewNumber, Number, between, renumber};
pub use line::JobLine;
pub use merge::{interleaved, positions, strict};
pub use parting::{Parting, PartingSide, parting};
pub(crate) use ratio::clearly;
pub use ratio::{Entitled, Ratio};
pub(crate) use rows::nodes;
pub use rows::{Job, Level, Node, OrderError, Placed};
