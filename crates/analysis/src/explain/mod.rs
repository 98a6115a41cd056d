//! Why a job has its priority, why one job or user comes before another, and what would change it.
//!
//! Questions, each a function from a [`RankedSite`] (the engine's own rows and results) to a model
//! of plain numbers and names, which `fairtree-render` writes as sentences and as JSON:
//!
//! | question | function | model |
//! |---|---|---|
//! | why this priority | [`explain_job`] | [`JobExplanation`] |
//! | why is this job behind that one | [`compare_jobs`] | [`JobsCompared`] |
//! | why is this user behind that one | [`compare_users`] | [`UsersCompared`] |
//! | why does this job wait | [`wait::waits`] | [`wait::Waits`] |
//!
//! Where a policy orders jobs otherwise than by their sums, [`mod@line`] answers the first two.
//!
//! Nothing is modelled twice. Terms come from [`fairtree::priority::Pricer`], ranks from
//! [`fairtree::fairshare::compute`]. What would change an order (a [`Remedy`]) is looked for by
//! halving, with the engine on a copy of the site: with the amount named the order changes, with one
//! step less it does not.
//!
//! ```
//! use fairtree::config::Config;
//! use fairtree::engine;
//! use fairtree::fairshare::Entitlement;
//! use fairtree::priority::{AssocFactors, JobTables};
//! use fairtree_analysis::explain::{Answer, RankedSite, Side, compare_users};
//! use fairtree_model::cluster::Numbered;
//! use fairtree::tree::{Assoc, AssocKind, Shares, Tree};
//! use fairtree::usage::RawUsage;
//! let row = |id, parent, kind| Assoc { id, parent, kind, shares: Shares::Raw(1) };
//! let tree = Tree::from_rows([
//!     row(1, None, AssocKind::Account),
//!     row(2, Some(1), AssocKind::User),
//!     row(3, Some(1), AssocKind::User),
//! ])?;
//! let [_, a, b] = [1, 2, 3].map(|id| tree.index_of(id).unwrap());
//! let mut raw_usage = RawUsage::new(&tree);
//! raw_usage.charge(&tree, a, 500.0)?;
//! raw_usage.charge(&tree, b, 400.0)?;
//! let config = Config::default();
//! let fairshare = engine::rank(&config, &tree, &raw_usage);
//! let mut tables = JobTables { assocs: vec![AssocFactors::default(); 3], ..JobTables::default() };
//! engine::publish(&fairshare, &mut tables);
//! let ranked = RankedSite {
//!     config: &config,
//!     tree: &tree,
//!     raw: raw_usage.raw(),
//!     entitlement: &Entitlement::SHARES,
//!     fairshare: &fairshare,
//!     tables: &tables,
//!     load: &[],
//!     now: 0,
//! };
//! let compared = compare_users(&ranked, &Numbered(&tree), [a, b])?;
//! assert_eq!(compared.ahead, Some(Side::Second));
//! // 500 - 100 would tie; 101 less is ahead.
//! assert_eq!(compared.remedies[0].answer, Answer::Least(101));
//! assert!(compare_users(&ranked, &Numbered(&tree), [a, a]).is_err());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod entry;
mod formula;
mod job;
mod jobs;
pub mod line;
mod parting;
mod path;
mod printed;
mod ranked_site;
mod remedy;
mod search;
mod term;
mod trial_site;
mod users;
pub mod wait;

pub use formula::{Formula, SizeMode};
pub use job::{Bound, Explained, JobExplanation, VariantExplanation, explain_job};
pub use jobs::{JobsCompared, TermDifference, compare_jobs};
pub use parting::{Parting, Reason};
pub use path::PathStep;
pub use printed::{compare_printed, explain_printed, explain_seen};
pub use ranked_site::{ExplainError, RankedSite, Side};
pub use remedy::{Answer, Remedy, RemedyKind};
pub use term::{Term, TermName};
pub use users::{UserSide, UsersCompared, compare_users};
