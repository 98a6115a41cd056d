//! The writer of the lines of a life.

use super::draw::Draw;
use super::inventory::Inventory;
use super::job_list::Jobs;
use super::life::Life;

/// The sources of the events of a life, and their destination.
pub struct LifeWriter<'a> {
    /// The source of choices.
    pub draw: &'a mut Draw,
    /// The objects to which events can refer.
    pub inventory: &'a mut Inventory,
    /// The destination of the lines.
    pub life: &'a mut Life,
    /// The jobs so far.
    pub jobs: Jobs,
    /// True if time passes second by second, and the thread wakes when it is due. Otherwise the
    /// life sets the times of passes, and then the threads of two plugins are due at different
    /// times.
    pub steady: bool,
}
