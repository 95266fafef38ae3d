//! Row jobs: what is done to the puzzles of an input where rows are written about them.

use std::ops::{ControlFlow, RangeInclusive};
use std::sync::atomic::AtomicBool;

use super::{Block, Cancelled, PuzzleRow, RowTally};
use crate::text::Format;

/// The most bytes answered as one job: about 6,400 puzzles of 81 cells. That is several times as many
/// as the 9x9 kernel has lanes, so few of those are idle at the end of a job.
pub const MAX_JOB_BYTES: usize = 512 * 1024;

/// The fewest bytes answered as one job where many puzzles are searched together.
pub const MIN_BATCH_BYTES: usize = 64 * 1024;

/// The fewest bytes of any other job: a dozen puzzles of 81 cells, or two of 625.
pub const MIN_JOB_BYTES: usize = 1024;

/// The puzzles that are searched together. More would be hardly faster, because lanes are idle only
/// at the end of a batch.
pub(super) const BATCH_PUZZLES: usize = 8192;

/// What is done to every puzzle of an input, whose answers are rows: how it is answered, what is
/// counted, and which columns are added.
pub trait RowJob: Send + Sync + 'static {
    /// What is counted.
    type Tally: RowTally + Send;

    /// The format of the input.
    fn format(&self) -> &Format;

    /// The bytes of the input that are answered together: the fewest, where they take long, and the
    /// most.
    fn job_bytes(&self) -> RangeInclusive<usize>;

    /// Whether the rows of the input are written again.
    fn rewrites(&self) -> bool {
        false
    }

    /// The line above all rows, line end included, or nothing.
    fn heading(&self) -> Vec<u8> {
        Vec::new()
    }

    /// Writes and counts the rows about every puzzle of a block.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised, or nobody wants more.
    fn answer(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        rows: &mut Rows<'_, Self::Tally>,
    ) -> Result<(), Cancelled>;

    /// Writes and counts that the answer to a puzzle panicked. False if no row can say so.
    fn write_panic(&self, _row: &PuzzleRow<'_>, _rows: &mut Rows<'_, Self::Tally>) -> bool {
        false
    }

    /// Appends the rows about every puzzle of a block, without the heading.
    ///
    /// # Errors
    /// [`Cancelled`] if `cancel` was raised.
    fn write(
        &self,
        block: Block<'_>,
        cancel: &AtomicBool,
        out: &mut Vec<u8>,
    ) -> Result<Self::Tally, Cancelled> {
        let mut keep = |_: &mut Vec<u8>, _: &mut Self::Tally, _| ControlFlow::Continue(());
        let mut rows = Rows::new(&mut keep);
        std::mem::swap(&mut rows.text, out);
        let answered = self.answer(block, cancel, &mut rows);
        std::mem::swap(&mut rows.text, out);
        answered.map(|()| rows.tally)
    }
}

/// What may take rows and their tally before a block is done. It is called behind a row, with whether
/// somebody may wait for that row. `Break` if nobody wants more.
pub type RowTaker<'a, T> = dyn FnMut(&mut Vec<u8>, &mut T, bool) -> ControlFlow<()> + 'a;

/// The rows about a block that nobody has taken yet.
pub struct Rows<'a, T> {
    /// The rows.
    pub text: Vec<u8>,
    /// What they count.
    pub tally: T,
    /// The length of the text up to the last [`Self::end_row`].
    whole: usize,
    take: &'a mut RowTaker<'a, T>,
}

impl<'a, T: Default> Rows<'a, T> {
    /// No rows.
    #[must_use]
    pub fn new(take: &'a mut RowTaker<'a, T>) -> Self {
        Self { text: Vec::new(), tally: T::default(), whole: 0, take }
    }

    /// Says that a row is written and counted, where a puzzle may have more rows than fit into memory:
    /// they may be taken then. With `is_awaited`, somebody may wait for this one, because it has taken
    /// a while.
    pub fn end_row(&mut self, is_awaited: bool) -> ControlFlow<()> {
        let flow = (self.take)(&mut self.text, &mut self.tally, is_awaited);
        self.whole = self.text.len();
        flow
    }

    /// Drops what was being written when the work panicked.
    pub fn drop_half_row(&mut self) {
        self.text.truncate(self.whole);
    }
}
