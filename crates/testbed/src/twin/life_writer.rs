//! What writes the lines of a life.

use super::draw::Draw;
use super::inventory::Inventory;
use super::job_list::Jobs;
use super::life::Life;

/// What the events of a life are drawn from, and where they go.
pub struct LifeWriter<'a> {
    /// Choices.
    pub draw: &'a mut Draw,
    /// What events can refer to.
    pub inventory: &'a mut Inventory,
    /// Where the lines go.
    pub life: &'a mut Life,
    /// The jobs so far.
    pub jobs: Jobs,
    /// Time goes by second for second, and the thread wakes when it is due. Elsewhere the life says
    /// when passes are, and then the threads of two plugins are due at different times.
    pub steady: bool,
}
