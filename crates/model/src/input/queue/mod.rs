//! A site of machines that ask "what next?", and what happens there. See `docs/queue.md`.
//!
//! | noun | what it is |
//! |---|---|
//! | [`QueueSite`] | accounts, machines and the policy, from a file in TOML ([`read`]) |
//! | [`Event`] | something that happens, or a question; a line of JSON ([`Events`]) |

mod as_site;
mod described;
mod event;
mod events;
mod file;
mod known;
mod policy;
mod site;

pub(in crate::input) use as_site::as_site;
pub use described::{MachineRow, OnDemandSite, Policy, QueueSite, Reserved};
pub use event::{Act, Ended, Event, Form, LimitedBy, Submission, ends, forms};
pub use events::Events;
pub use site::read;

#[cfg(test)]
mod tests;
