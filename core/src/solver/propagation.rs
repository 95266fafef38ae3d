//! Propagation: singles and locked candidates on bit masks, and guesses where there is the least choice.
//!
//! The grid is held as one *layer* a digit: the set of cells that may still take it, a [`Word`] a band.
//! Whatever one layer says about itself (hidden singles and both kinds of locked candidates) is inferred
//! for all of its houses at once by a few dozen word operations without a branch; layers only meet where a
//! cell is filled and where a cell has a single candidate left.
//!
//! 1. **Close** each changed layer ([`Board::close`]). Which minirows of a band hold a place is a small
//!    matrix, rows by boxes; which columns do is another, bands by columns. In both, *alone in a line*
//!    means *locked*, see [`lock`]. The rows of a layer and its columns are locked in turn until neither
//!    changes. A box that is then down to one row and one column is down to one cell: every hidden single
//!    and every placed digit ends up as that, so its cell is filled and all other layers lose it.
//! 2. **Naked singles** ([`Board::naked_singles`]): a counter of one, two and more candidates, for all
//!    cells of a band at once, over all layers. The two alternate until nothing changes.
//! 3. **Guess** ([`Board::choose`]): one candidate is placed and, if that fails, ruled out. A cell with
//!    two candidates comes first; where there is none, the digit with the fewest places in a house or the
//!    cell with the fewest candidates. Ties go to the digits and cells where guesses failed before
//!    ([`Weights`]), and a search that gets nowhere starts again with what it learnt about them
//!    ([`FIRST_PATIENCE`]). On 25x25 this decides between thousands of nodes and millions.
//!
//! # Sources
//! The layers by digit and band come from the bit-board solvers of the Players' Forum (Brian Turner's
//! BB Sudoku and its descendants), working on several at a time from T. Dillon's tdoku. Here the lanes are
//! plain arrays: the loops over a group of digits are such that the compiler turns them into vector code
//! for whatever the target has. Learning from failures is the weighted degree of
//! F. Boussemart, F. Hemery, C. Lecoutre and L. Sais, *Boosting systematic search by weighting constraints*
//! (ECAI 2004). The names of the techniques are those of sudokuwiki.org.
//!
//! # Cost
//! A node is the puzzle, a guess followed, or what is left when a guess was taken back and ruled out; a
//! search that starts again visits the puzzle once more.
//! The state of a node is copied when a guess is made: 0.3 KB at 9x9, 4 KB at 25x25. No guess stands
//! without filling a cell of its own, so the stack is bounded by the number of cells and allocated once.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr};

use super::watch::{self, Watch, Watchable, digit_of};
use super::{Limit, Metrics, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, MAX_CELLS, MAX_SIDE, Order};

/// The strategy `propagation`.
#[derive(Clone, Copy, Debug)]
pub struct Propagation;

impl Strategy for Propagation {
    fn name(&self) -> &'static str {
        "propagation"
    }

    fn summary(&self) -> &'static str {
        "singles and locked candidates on bit masks, then guesses where there is the least choice"
    }

    fn supports(&self, _order: Order) -> bool {
        true
    }

    fn is_for_bulk(&self) -> bool {
        true
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        // Measured: four 32-bit lanes fill a vector register and pay for the digits that are closed in
        // vain; wider words do not.
        match order.box_side() {
            1 => Box::new(State::<u32, 1, 1, 1, 1>::new()),
            2 => Box::new(State::<u32, 2, 4, 4, 4>::new()),
            3 => Box::new(State::<u32, 3, 9, 12, 4>::new()),
            4 => Box::new(State::<u64, 4, 16, 16, 1>::new()),
            5 => Box::new(State::<u128, 5, 25, 25, 1>::new()),
            _ => unreachable!("orders are 1 to 5"),
        }
    }
}

/// The cells of a band, or anything else with a bit a cell.
pub(super) trait Word:
    Copy
    + Eq
    + Send
    + Not<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + Shl<usize, Output = Self>
    + Shr<usize, Output = Self>
    + 'static
{
    const ZERO: Self;
    /// The low bits of a mask.
    fn of(mask: u128) -> Self;
    fn minus(self, other: Self) -> Self;
    fn lowest(self) -> usize;
}

macro_rules! word {
    ($($unsigned:ty)*) => {$(
        impl Word for $unsigned {
            const ZERO: Self = 0;

            #[inline(always)]
            #[allow(clippy::cast_possible_truncation, reason = "the low bits are what is asked for")]
            fn of(mask: u128) -> Self {
                mask as Self
            }

            #[inline(always)]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline(always)]
            fn lowest(self) -> usize {
                self.trailing_zeros() as usize
            }
        }
    )*};
}

word!(u32 u64 u128);

/// The bits of a word, lowest first.
struct Bits<W>(W);

impl<W: Word> Iterator for Bits<W> {
    type Item = usize;

    #[inline(always)]
    fn next(&mut self) -> Option<usize> {
        if self.0 == W::ZERO {
            return None;
        }
        let bit = self.0.lowest();
        self.0 &= self.0.minus(W::of(1));
        Some(bit)
    }
}

/// Where things lie in a band word of order `N`: row by row, as in a grid. At order 3:
///
/// ```text
/// bit  26     ..     18   17     ..      9   8  7  6   5  4  3   2  1  0
///      [     row 2     ]  [     row 1     ]  [box 2 ] [box 1 ] [box 0 ]  row 0
///                                            minirow  minirow  minirow
/// ```
struct Layout<const N: usize>;

impl<const N: usize> Layout<N> {
    const SIDE: usize = N * N;
    /// The first row.
    const ROW: u128 = (1 << Self::SIDE) - 1;
    /// The first cell of each row.
    const ROWS: u128 = every(Self::SIDE, N);
    /// The first minirow.
    const MINIROW: u128 = (1 << N) - 1;
    /// The first cell of each minirow.
    const MINIROWS: u128 = every(N, N * N);
    /// The first cell of each box.
    const BOXES: u128 = Self::MINIROWS & Self::ROW;
    /// Every cell.
    const BAND: u128 = Self::ROW * Self::ROWS;
}

/// `times` bits, `step` apart.
const fn every(step: usize, times: usize) -> u128 {
    let mut mask = 0;
    let mut k = 0;
    while k < times {
        mask |= 1 << (k * step);
        k += 1;
    }
    mask
}

/// Looks along a line of `N` bits that are `step` apart, from every bit on: is at least one of them set,
/// are at least two? Only the answers at the start of a line mean anything.
#[inline(always)]
fn along<W: Word, const N: usize>(word: W, step: usize) -> (W, W) {
    let (mut one, mut two) = (word, W::ZERO);
    for k in 1..N {
        let next = word >> (k * step);
        two |= one & next;
        one |= next;
    }
    (one, two)
}

/// Copies the start of each line to all of its `N` bits, which are `step` apart.
#[inline(always)]
fn spread<W: Word, const N: usize>(starts: W, step: usize) -> W {
    let mut all = starts;
    for k in 1..N {
        all |= starts << (k * step);
    }
    all
}

/// [`spread`] with step 1, that is from the first cell of minirows to all of their cells, in two operations.
#[inline(always)]
fn minirows_at<W: Word, const N: usize>(starts: W) -> W {
    (starts << N).minus(starts)
}

/// Takes everything but `cells` out of the boxes that have one of them. Second, not zero if some box has two.
#[inline(always)]
fn place<W: Word, const N: usize>(word: W, cells: W) -> (W, W) {
    let (row, boxes) = (W::of(Layout::<N>::ROW), W::of(Layout::<N>::BOXES));
    let (columns, two_rows) = along::<W, N>(cells, Layout::<N>::SIDE);
    let (held, two_columns) = along::<W, N>(columns & row, 1);
    let held = spread::<W, N>(minirows_at::<W, N>(held & boxes), Layout::<N>::SIDE);
    ((word & !held) | cells, (two_rows & row) | (two_columns & boxes))
}

/// What [`lock`] infers.
struct Locked<W> {
    /// What is left of the matrices.
    kept: W,
    /// At the start of each line down: is one bit alone in it?
    alone_down: W,
    /// At the start of each line across: is one bit alone in it?
    alone_across: W,
    /// Not zero if a line is empty, or if two bits that are alone need the same line.
    contradiction: W,
}

/// One step of locked candidates, in `N` matrices of `N` by `N` bits that lie side by side in a word.
///
/// A bit says that a digit has a place in the cells it stands for, and in a finished grid every matrix is a
/// permutation: one bit is left in each line. So a bit that is alone in its line down clears the rest of
/// its line across, and the other way round. Lines down step by a whole row; lines across step by `step`:
///
/// ```text
/// rows (step N), bit row * SIDE + box * N + band          columns (step 1), bit band * SIDE + column
///
///          box 0     box 1     box 2                               stack 0   stack 1   stack 2
/// row 0    b0 b1 b2  b0 b1 b2  b0 b1 b2                    band 0  c0 c1 c2  c3 c4 c5  c6 c7 c8
/// row 1    b0 b1 b2  b0 b1 b2  b0 b1 b2                    band 1  c0 c1 c2  c3 c4 c5  c6 c7 c8
/// row 2    b0 b1 b2  b0 b1 b2  b0 b1 b2                    band 2  c0 c1 c2  c3 c4 c5  c6 c7 c8
///
/// one matrix a band: the same b throughout                 one matrix a stack
/// down:   a box;  alone = pointing along a row             down:   a column;  alone = claiming
/// across: a row;  alone = claiming                         across: a box;  alone = pointing down a column
/// ```
#[inline(always)]
fn lock<W: Word, const N: usize>(matrices: W, step: usize) -> Locked<W> {
    let side = Layout::<N>::SIDE;
    let down = W::of(Layout::<N>::ROW);
    let across =
        W::of(if step == 1 { Layout::<N>::MINIROWS } else { Layout::<N>::ROWS * Layout::<N>::MINIROW });
    let (one_down, two_down) = along::<W, N>(matrices, side);
    let (one_across, two_across) = along::<W, N>(matrices, step);
    let alone_down = down & !two_down;
    let alone_across = across & !two_across;

    let pointing = matrices & spread::<W, N>(alone_down, side);
    let claiming = matrices & spread::<W, N>(alone_across, step);
    let (pointed, pointed_twice) = along::<W, N>(pointing, step);
    let (claimed, claimed_twice) = along::<W, N>(claiming, side);
    Locked {
        kept: matrices
            & (pointing | !spread::<W, N>(pointed & across, step))
            & (claiming | !spread::<W, N>(claimed & down, side)),
        alone_down,
        alone_across,
        contradiction: ((!one_down | claimed_twice) & down) | ((!one_across | pointed_twice) & across),
    }
}

/// The layers of `GROUP` digits, closed together: bands outside, so that a band's words of all of them lie
/// side by side.
type Group<W, const N: usize, const GROUP: usize> = [[W; GROUP]; N];

/// Locks the rows of each layer. Returns at which boxes one row is left (bit box * N + band), and whether
/// anything changed.
#[inline(always)]
fn lock_rows<W: Word, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], bool), Empty> {
    let minirows = W::of(Layout::<N>::MINIROWS);
    let (mut changed, mut contradiction) = (W::ZERO, W::ZERO);
    let mut one_row = [W::ZERO; GROUP];
    for lane in 0..GROUP {
        let mut matrices = W::ZERO;
        for (band, words) in layers.iter().enumerate() {
            matrices |= (along::<W, N>(words[lane], 1).0 & minirows) << band;
        }
        let locked = lock::<W, N>(matrices, N);
        for (band, words) in layers.iter_mut().enumerate() {
            words[lane] &= minirows_at::<W, N>((locked.kept >> band) & minirows);
        }
        changed |= locked.kept ^ matrices;
        contradiction |= locked.contradiction;
        one_row[lane] = locked.alone_down;
    }
    if contradiction == W::ZERO { Ok((one_row, changed != W::ZERO)) } else { Err(Empty) }
}

/// Locks the columns of each layer. Returns at which boxes one column is left (bit band * SIDE + box * N),
/// and whether anything changed.
#[inline(always)]
fn lock_columns<W: Word, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], bool), Empty> {
    let (side, row) = (Layout::<N>::SIDE, W::of(Layout::<N>::ROW));
    let (mut changed, mut contradiction) = (W::ZERO, W::ZERO);
    let mut one_column = [W::ZERO; GROUP];
    for lane in 0..GROUP {
        let mut matrices = W::ZERO;
        for (band, words) in layers.iter().enumerate() {
            matrices |= (along::<W, N>(words[lane], side).0 & row) << (band * side);
        }
        let locked = lock::<W, N>(matrices, 1);
        for (band, words) in layers.iter_mut().enumerate() {
            words[lane] &= spread::<W, N>((locked.kept >> (band * side)) & row, side);
        }
        changed |= locked.kept ^ matrices;
        contradiction |= locked.contradiction;
        one_column[lane] = locked.alone_across;
    }
    if contradiction == W::ZERO { Ok((one_column, changed != W::ZERO)) } else { Err(Empty) }
}

/// Locks rows and columns in turn until neither changes. Returns, for each digit, at which boxes one row is
/// left and at which one column is left.
#[inline(always)]
fn lock_all<W: Word, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], [W; GROUP]), Empty> {
    let (mut one_row, mut rows_changed) = lock_rows(layers)?;
    loop {
        let (one_column, columns_changed) = lock_columns(layers)?;
        if !rows_changed && !columns_changed {
            return Ok((one_row, one_column));
        }
        (one_row, rows_changed) = lock_rows(layers)?;
        if !rows_changed && !columns_changed {
            return Ok((one_row, one_column));
        }
    }
}

/// Some digit has no place left in a house, or two houses need the same one.
struct Empty;

/// Why a search state has no solution.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contradiction {
    /// A cell has no candidate left, or is claimed by two digits.
    Cells,
    /// A digit of this group lacks a place.
    Group(usize),
}

/// A digit in a cell. Digits count from 0 here, and so do bands and the cells of a band.
#[derive(Clone, Copy, Debug)]
struct Candidate {
    digit: usize,
    band: usize,
    bit: usize,
}

/// A search state: what is known of the grid. `LANES` is the number of digits rounded up to whole groups.
///
/// ```text
///            lane 0     lane 1     ...        lane 8     lane 9 .. 11 (order 3)
/// band 0     word       word                  word       idle
/// band 1     word       word                  word       idle
/// band 2     word       word                  word       idle
///            digit 1    digit 2               digit 9
/// ```
///
/// An idle lane holds one cell a row, column and box, so that there is nothing to infer from it.
#[derive(Clone, Copy)]
pub(super) struct Board<W, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize> {
    /// The cells that may take a digit. A filled cell may linger in layers that are yet to be closed.
    pub(super) layers: [[W; LANES]; N],
    /// The cells that hold the digit.
    placed: [[W; LANES]; N],
    /// The cells that hold any digit.
    pub(super) filled: [W; N],
    /// Groups in which a layer was changed since it was closed, a bit each.
    touched: u32,
    /// Groups to look at: those, and where a layer may hold a cell that another has filled.
    pending: u32,
}

impl<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize>
    Board<W, N, SIDE, LANES, GROUP>
{
    const GROUPS: usize = LANES / GROUP;
    const ALL_GROUPS: u32 = (1 << Self::GROUPS) - 1;
    const BAND_CELLS: usize = N * SIDE;

    /// A grid of blanks.
    pub(super) fn new() -> Self {
        const { assert!(SIDE == N * N && LANES.is_multiple_of(GROUP) && LANES >= SIDE && LANES < 32) };
        let mut layers = [[W::of(Layout::<N>::BAND); LANES]; N];
        let mut placed = [[W::ZERO; LANES]; N];
        for band in 0..N {
            let one_a_row = (0..N).fold(W::ZERO, |word, row| word | W::of(1) << (row * (SIDE + N) + band));
            layers[band][SIDE..].fill(one_a_row);
            placed[band][SIDE..].fill(one_a_row);
        }
        Self { layers, placed, filled: [W::ZERO; N], touched: Self::ALL_GROUPS, pending: Self::ALL_GROUPS }
    }

    /// Fills in the clues. They need not keep the rules.
    pub(super) fn load(&mut self, clues: &[u8]) -> Result<(), Contradiction> {
        *self = Self::new();
        for (band, clues) in clues.chunks_exact(Self::BAND_CELLS).enumerate() {
            for (bit, &clue) in clues.iter().enumerate() {
                if clue != 0 {
                    self.placed[band][usize::from(clue) - 1] |= W::of(1) << bit;
                    self.filled[band] |= W::of(1) << bit;
                }
            }
        }
        let mut twice = W::ZERO;
        for band in 0..N {
            for lane in 0..LANES {
                let (layer, two) = place::<W, N>(self.layers[band][lane], self.placed[band][lane]);
                self.layers[band][lane] = layer;
                twice |= two;
            }
        }
        if twice == W::ZERO { Ok(()) } else { Err(Contradiction::Cells) }
    }

    /// Puts a digit into a blank cell.
    fn place(&mut self, at: Candidate) -> Result<(), Contradiction> {
        self.place_all(at.digit, at.band, W::of(1) << at.bit)
    }

    /// Puts a digit into several blank cells of a band.
    #[inline(always)]
    fn place_all(&mut self, digit: usize, band: usize, cells: W) -> Result<(), Contradiction> {
        let (layer, twice) = place::<W, N>(self.layers[band][digit], cells);
        self.layers[band][digit] = layer;
        self.touch(digit);
        if twice == W::ZERO { Ok(()) } else { Err(Contradiction::Group(digit / GROUP)) }
    }

    /// Takes a candidate away.
    fn rule_out(&mut self, at: Candidate) {
        self.layers[at.band][at.digit] &= !(W::of(1) << at.bit);
        self.touch(at.digit);
    }

    #[inline(always)]
    pub(super) fn touch(&mut self, digit: usize) {
        self.touched |= 1 << (digit / GROUP);
        self.pending |= 1 << (digit / GROUP);
    }

    /// Infers all that singles and locked candidates tell. A comparison is one look at all places of a digit.
    #[inline(always)]
    pub(super) fn propagate(&mut self, watch: &mut impl Watch) -> Result<(), Contradiction> {
        loop {
            let mut round = self.pending;
            while round != 0 {
                let group = round.trailing_zeros() as usize;
                self.pending &= !(1 << group);
                watch.compare(GROUP as u64);
                self.close(group)?;
                round = self.pending & (u32::MAX << group << 1);
            }
            // Naked singles are cheap, so they are not left until every layer is closed.
            let closed = self.pending == 0;
            self.naked_singles(closed)?;
            if closed && self.pending == 0 {
                return Ok(());
            }
        }
    }

    /// Closes the layers of a group and fills the cells that are found.
    #[inline(always)]
    fn close(&mut self, group: usize) -> Result<(), Contradiction> {
        let lanes = group * GROUP..(group + 1) * GROUP;
        let mut layers = [[W::ZERO; GROUP]; N];
        let mut placed = [[W::ZERO; GROUP]; N];
        let mut stale = W::ZERO;
        for band in 0..N {
            layers[band].copy_from_slice(&self.layers[band][lanes.clone()]);
            placed[band].copy_from_slice(&self.placed[band][lanes.clone()]);
            for lane in 0..GROUP {
                let taken = layers[band][lane] & self.filled[band] & !placed[band][lane];
                layers[band][lane] &= !taken;
                stale |= taken;
            }
        }
        if stale == W::ZERO && self.touched & (1 << group) == 0 {
            return Ok(());
        }
        self.touched &= !(1 << group);

        let locked = lock_all(&mut layers);
        // Written back in either case: whoever asks what went wrong looks for the empty houses.
        for (mine, closed) in self.layers.iter_mut().zip(&layers) {
            mine[lanes.clone()].copy_from_slice(closed);
        }
        let Ok((one_row, one_column)) = locked else {
            return Err(Contradiction::Group(group));
        };

        let mut found = [W::ZERO; N];
        for lane in 0..GROUP {
            for band in 0..N {
                // One row and one column left: one cell. Both bits are at the first column of the box.
                let boxes = (one_row[lane] >> band) & (one_column[lane] >> (band * SIDE));
                let boxes = minirows_at::<W, N>(boxes & W::of(Layout::<N>::BOXES));
                let cells = layers[band][lane] & spread::<W, N>(boxes, SIDE);
                found[band] |= cells & !placed[band][lane];
                placed[band][lane] = cells;
            }
        }
        let mut any = W::ZERO;
        for band in 0..N {
            self.placed[band][lanes.clone()].copy_from_slice(&placed[band]);
            self.filled[band] |= found[band];
            any |= found[band];
        }
        if any != W::ZERO {
            // The digits of a group do not see each other's new cells; a single digit is done.
            self.pending = if GROUP == 1 { Self::ALL_GROUPS & !(1 << group) } else { Self::ALL_GROUPS };
        }
        Ok(())
    }

    /// Fills the cells with one candidate left. `closed` says that no layer still holds a cell that
    /// another has filled.
    #[inline(always)]
    fn naked_singles(&mut self, closed: bool) -> Result<(), Contradiction> {
        for band in 0..N {
            let (mut one, mut two) = (W::ZERO, W::ZERO);
            for &layer in &self.layers[band][..SIDE] {
                two |= one & layer;
                one |= layer;
            }
            // Digits of a group that are closed together may fill the same cell.
            if one != W::of(Layout::<N>::BAND) || closed && two & self.filled[band] != W::ZERO {
                return Err(Contradiction::Cells);
            }
            let naked = one & !two & !self.filled[band];
            if naked != W::ZERO {
                for digit in 0..SIDE {
                    let cells = self.layers[band][digit] & naked;
                    if cells != W::ZERO {
                        self.place_all(digit, band, cells)?;
                    }
                }
            }
        }
        Ok(())
    }

    #[inline(always)]
    pub(super) fn is_solved(&self) -> bool {
        self.filled.iter().all(|&filled| filled == W::of(Layout::<N>::BAND))
    }

    fn has(&self, at: Candidate) -> bool {
        (self.layers[at.band][at.digit] >> at.bit) & W::of(1) != W::ZERO
    }

    /// The candidates of a cell.
    fn candidates(&self, band: usize, bit: usize) -> impl Iterator<Item = Candidate> {
        (0..SIDE).map(move |digit| Candidate { digit, band, bit }).filter(|&at| self.has(at))
    }

    /// The places of a digit that it has not taken yet.
    fn places(&self, digit: usize) -> impl Iterator<Item = Candidate> {
        (0..N).flat_map(move |band| {
            Bits(self.layers[band][digit] & !self.filled[band]).map(move |bit| Candidate { digit, band, bit })
        })
    }

    /// What to guess in a grid that is not solved: of the cells with two candidates the one of the greatest
    /// weight, its own and its digits', and of its digits the heavier.
    fn choose(&self, weights: &Weights) -> Candidate {
        let mut best: Option<(u32, usize, usize)> = None;
        for band in 0..N {
            let (mut one, mut two, mut three) = (W::ZERO, W::ZERO, W::ZERO);
            for &layer in &self.layers[band][..SIDE] {
                three |= two & layer;
                two |= one & layer;
                one |= layer;
            }
            for bit in Bits(two & !three) {
                let digits: u32 = self.candidates(band, bit).map(|at| weights.digits[at.digit]).sum();
                let weight = weights.cells[band * Self::BAND_CELLS + bit] + digits;
                if best.is_none_or(|(greatest, ..)| weight > greatest) {
                    best = Some((weight, band, bit));
                }
            }
        }
        match best {
            Some((_, band, bit)) => self.heaviest_digit(band, bit, weights),
            None => self.choose_among_all(weights),
        }
    }

    /// What to guess where every blank cell has three candidates or more: a place of a digit in the house
    /// where it has the fewest, or a candidate of the cell that has the fewest, whichever are fewer.
    #[cold]
    fn choose_among_all(&self, weights: &Weights) -> Candidate {
        #[derive(Clone, Copy)]
        enum Choice {
            Cell(usize),
            House { digit: usize, kind: usize, index: usize },
        }
        // Lower is better: how many alternatives, and the weight upside down.
        let mut best = ((u8::MAX, 0), Choice::Cell(0));
        let mut consider = |alternatives: u8, weight: u32, choice| {
            let rank = (alternatives, u32::MAX - weight);
            if alternatives != 0 && rank < best.0 {
                best = (rank, choice);
            }
        };
        let mut of_cell = [0u8; MAX_CELLS];
        for digit in 0..SIDE {
            let mut of_house = [[0u8; SIDE]; 3];
            for at in self.places(digit) {
                of_cell[Self::cell(at)] += 1;
                for (counts, house) in of_house.iter_mut().zip(Self::houses(at)) {
                    counts[house] += 1;
                }
            }
            for (kind, counts) in of_house.iter().enumerate() {
                for (index, &places) in counts.iter().enumerate() {
                    consider(places, weights.digits[digit], Choice::House { digit, kind, index });
                }
            }
        }
        for (cell, &candidates) in of_cell.iter().enumerate() {
            consider(candidates, weights.cells[cell], Choice::Cell(cell));
        }
        match best.1 {
            Choice::Cell(cell) => {
                self.heaviest_digit(cell / Self::BAND_CELLS, cell % Self::BAND_CELLS, weights)
            }
            Choice::House { digit, kind, index } => {
                let places = self.places(digit).filter(|&at| Self::houses(at)[kind] == index);
                heaviest(places, |at| weights.cells[Self::cell(at)])
            }
        }
    }

    fn heaviest_digit(&self, band: usize, bit: usize, weights: &Weights) -> Candidate {
        heaviest(self.candidates(band, bit), |at| weights.digits[at.digit])
    }

    /// The index of a candidate's cell in reading order.
    fn cell(at: Candidate) -> usize {
        at.band * Self::BAND_CELLS + at.bit
    }

    /// Row, column and box of a candidate.
    fn houses(at: Candidate) -> [usize; 3] {
        let column = at.bit % SIDE;
        [at.band * N + at.bit / SIDE, column, at.band * N + column / N]
    }

    /// The cells of all houses in which a digit has no place, a word a band.
    fn empty_houses(&self, digit: usize) -> [W; N] {
        let (row, rows) = (W::of(Layout::<N>::ROW), W::of(Layout::<N>::ROWS));
        let boxes = W::of(Layout::<N>::BOXES);
        let mut columns = W::ZERO;
        for band in &self.layers {
            columns |= along::<W, N>(band[digit], SIDE).0 & row;
        }
        let mut cells = [W::ZERO; N];
        for (cells, band) in cells.iter_mut().zip(&self.layers) {
            let (minirows, _) = along::<W, N>(band[digit], 1);
            let empty_rows = rows & !along::<W, N>(minirows & W::of(Layout::<N>::MINIROWS), N).0;
            let empty_boxes = boxes & !along::<W, N>(minirows & W::of(Layout::<N>::MINIROWS), SIDE).0;
            *cells = minirows_at::<W, N>(spread::<W, N>(empty_rows, N))
                | spread::<W, N>(minirows_at::<W, N>(empty_boxes) | (row & !columns), SIDE);
        }
        cells
    }

    /// Adds weight where a guess has failed: to digits that lack a place and the cells of the house where
    /// they do, or to cells without a candidate.
    #[cold]
    fn blame(&self, contradiction: Contradiction, weights: &mut Weights) {
        match contradiction {
            Contradiction::Cells => {
                for band in 0..N {
                    let held = self.layers[band][..SIDE].iter().fold(W::ZERO, |held, &layer| held | layer);
                    for bit in Bits(W::of(Layout::<N>::BAND) & !held) {
                        weights.cells[band * Self::BAND_CELLS + bit] += Weights::EMPTY_CELL;
                    }
                }
            }
            Contradiction::Group(group) => {
                for digit in group * GROUP..((group + 1) * GROUP).min(SIDE) {
                    // With a single digit in the group there is no doubt which it was, even if no house is
                    // empty yet but two are after the same cells.
                    let mut empty = GROUP == 1;
                    for (band, &cells) in self.empty_houses(digit).iter().enumerate() {
                        empty |= cells != W::ZERO;
                        for bit in Bits(cells) {
                            weights.cells[band * Self::BAND_CELLS + bit] += 1;
                        }
                    }
                    weights.digits[digit] += u32::from(empty);
                }
            }
        }
    }

    /// Tells which cells were filled since `before`, apart from the one that was told already.
    #[cold]
    pub(super) fn tell_filled(&self, before: [W; N], told: Option<usize>, watch: &mut impl Watch) {
        for (band, filled) in before.into_iter().enumerate() {
            for (value, &layer) in (1..).zip(&self.layers[band][..SIDE]) {
                for bit in Bits(layer & self.filled[band] & !filled) {
                    let cell = band * Self::BAND_CELLS + bit;
                    if told != Some(cell) {
                        watch.place(cell, value, false);
                    }
                }
            }
        }
    }

    /// What is wrong with a state in which something clashed, in words for people.
    #[cold]
    fn explain(&self, order: Order) -> watch::Contradiction {
        for cell in order.all_cells() {
            let (band, bit) = (cell.index() / Self::BAND_CELLS, cell.index() % Self::BAND_CELLS);
            if self.candidates(band, bit).next().is_none() {
                return watch::Contradiction::NoDigit { cell };
            }
        }
        for house in order.houses() {
            for (value, digit) in (1..).zip(0..SIDE) {
                let has_place = house.cells(order).any(|cell| {
                    let (band, bit) = (cell.index() / Self::BAND_CELLS, cell.index() % Self::BAND_CELLS);
                    self.has(Candidate { digit, band, bit })
                });
                if !has_place {
                    return watch::Contradiction::NoPlace { digit: digit_of(order, value), house };
                }
            }
        }
        watch::Contradiction::Rivals
    }

    /// Writes a solved grid down.
    pub(super) fn write(&self, solution: &mut Grid) {
        for (band, digits) in solution.digits_mut().chunks_exact_mut(Self::BAND_CELLS).enumerate() {
            for (value, &layer) in (1..).zip(&self.layers[band][..SIDE]) {
                for bit in Bits(layer) {
                    digits[bit] = value;
                }
            }
        }
    }
}

/// The first of the candidates that have the greatest weight.
fn heaviest(candidates: impl Iterator<Item = Candidate>, weight: impl Fn(Candidate) -> u32) -> Candidate {
    candidates
        .reduce(|best, next| if weight(next) > weight(best) { next } else { best })
        .expect("a choice has alternatives")
}

/// How often guesses failed where, in the puzzle at hand. A cell that runs out of candidates points at one
/// cell; a house without a place for a digit points at all of its cells, and at the digit.
struct Weights {
    cells: [u32; MAX_CELLS],
    digits: [u32; MAX_SIDE],
}

impl Weights {
    const EMPTY_CELL: u32 = 3;

    fn clear<const SIDE: usize>(&mut self) {
        self.cells[..SIDE * SIDE].fill(0);
        self.digits[..SIDE].fill(0);
    }
}

/// A search that has found nothing after this many backtracks starts again from the root, with the weights
/// it has learnt: an early guess that cannot succeed may otherwise cost millions of nodes below it. Each
/// further start has half as much again, so that the last one gets to the end. Once there is a solution the
/// search goes on without, as the next start would find that one again.
const FIRST_PATIENCE: u64 = 500;

struct State<W, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize> {
    board: Board<W, N, SIDE, LANES, GROUP>,
    /// The state before the first guess on the stack: what holds whatever is guessed.
    root: Board<W, N, SIDE, LANES, GROUP>,
    /// For each guess that stands: the state without the candidate that was guessed.
    stack: Vec<Board<W, N, SIDE, LANES, GROUP>>,
    /// The cells of those guesses, in a search that is watched.
    guesses: Vec<usize>,
    weights: Box<Weights>,
    /// [`FIRST_PATIENCE`]; tests have less.
    patience: u64,
}

impl<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize>
    State<W, N, SIDE, LANES, GROUP>
{
    fn new() -> Self {
        Self {
            board: Board::new(),
            root: Board::new(),
            stack: Vec::with_capacity(SIDE * SIDE),
            guesses: Vec::new(),
            weights: Box::new(Weights { cells: [0; MAX_CELLS], digits: [0; MAX_SIDE] }),
            patience: FIRST_PATIENCE,
        }
    }
}

impl<B: Word, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize> Watchable
    for State<B, N, SIDE, LANES, GROUP>
{
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        assert_eq!(puzzle.order().box_side(), N, "a solver takes puzzles of its own order");
        let mut found = Search { solutions: 0, stop: Stop::Exhausted, metrics: Metrics::default() };
        let metrics = &mut found.metrics;
        self.stack.clear();
        self.guesses.clear();
        let mut entered = self.board.load(puzzle.digits());
        let mut patience = self.patience;
        let mut restart_at = patience;
        // The cell of a guess that was just made: it is not filled yet, but told.
        let mut told: Option<usize> = None;
        loop {
            if metrics.nodes == limit.nodes {
                found.stop = Stop::Nodes;
                return found;
            }
            metrics.nodes += 1;
            if watch.is_cancelled(metrics.nodes, limit) {
                found.stop = Stop::Cancelled;
                return found;
            }
            let (before, guessed) = (self.board.filled, told.take());
            let inferred = entered.and_then(|()| self.board.propagate(watch));
            if W::IS_ON && inferred.is_ok() {
                self.board.tell_filled(before, guessed, watch);
            }
            match inferred {
                Ok(()) if self.board.is_solved() => {
                    found.solutions += 1;
                    watch.solved();
                    if found.solutions == 1 {
                        self.board.write(solution);
                    }
                    if found.solutions == limit.solutions {
                        found.stop = Stop::Solutions;
                        return found;
                    }
                }
                Ok(()) => {
                    if metrics.guesses == 0 {
                        self.weights.clear::<SIDE>();
                    }
                    let guess = self.board.choose(&self.weights);
                    debug_assert!(self.stack.len() < SIDE * SIDE, "every guess fills a cell");
                    if self.stack.is_empty() {
                        self.root = self.board;
                    }
                    self.stack.push(self.board);
                    if let Some(otherwise) = self.stack.last_mut() {
                        otherwise.rule_out(guess);
                    }
                    entered = self.board.place(guess);
                    metrics.guesses += 1;
                    metrics.depth = metrics.depth.max(self.stack.len() as u64);
                    if W::IS_ON {
                        let cell = Board::<B, N, SIDE, LANES, GROUP>::cell(guess);
                        self.guesses.push(cell);
                        told = Some(cell);
                        // A side is 25 at most.
                        watch.place(cell, u8::try_from(guess.digit + 1).unwrap_or(0), true);
                    }
                    continue;
                }
                Err(contradiction) => {
                    self.board.blame(contradiction, &mut self.weights);
                    if W::IS_ON {
                        watch.conflict(self.board.explain(puzzle.order()));
                    }
                }
            }
            let Some(otherwise) = self.stack.pop() else {
                return found;
            };
            self.board = otherwise;
            entered = Ok(());
            metrics.backtracks += 1;
            if metrics.backtracks >= restart_at && found.solutions == 0 && !self.stack.is_empty() {
                metrics.backtracks += self.stack.len() as u64;
                self.stack.clear();
                self.board = self.root;
                patience += patience / 2 + 1;
                restart_at = metrics.backtracks + patience;
            }
            if W::IS_ON {
                for cell in self.guesses.drain(self.stack.len()..).rev() {
                    watch.backtrack(cell);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicBool;

    use super::super::watch::Nobody;
    use super::super::{Backtracking, NODES_BETWEEN_CANCEL_CHECKS, Question, Verdict};
    use super::*;
    use crate::grid::{Cell, House};

    fn byte(digit: usize) -> u8 {
        u8::try_from(digit).unwrap()
    }

    /// A small generator of random numbers (xorshift64, G. Marsaglia 2003), so that every run is the same.
    struct Random(u64);

    impl Random {
        fn below(&mut self, n: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            ((self.0 >> 11) % n as u64) as usize
        }

        fn shuffled(&mut self, n: usize) -> Vec<usize> {
            let mut all: Vec<usize> = (0..n).collect();
            for k in (1..n).rev() {
                all.swap(k, self.below(k + 1));
            }
            all
        }

        /// Rows, or columns, in an order that keeps bands together.
        fn lines(&mut self, order: Order) -> Vec<usize> {
            let b = order.box_side();
            let bands = self.shuffled(b);
            bands
                .into_iter()
                .flat_map(|band| self.shuffled(b).into_iter().map(move |r| band * b + r))
                .collect()
        }

        /// The same puzzle under another name: digits relabelled, lines permuted, perhaps transposed.
        fn disguised(&mut self, grid: &Grid) -> Grid {
            let (order, side) = (grid.order(), grid.order().side());
            let (rows, columns, digits) = (self.lines(order), self.lines(order), self.shuffled(side));
            let transposed = self.below(2) == 1;
            let mut other = Grid::empty(order);
            for (row, from_row) in rows.into_iter().enumerate() {
                for (column, from_column) in columns.iter().enumerate() {
                    let to = if transposed { column * side + row } else { row * side + column };
                    let digit = usize::from(grid.digits()[from_row * side + from_column]);
                    other.digits_mut()[to] = if digit == 0 { 0 } else { byte(digits[digit - 1] + 1) };
                }
            }
            other
        }

        /// A random solved grid.
        fn solved(&mut self, order: Order) -> Grid {
            let (side, b) = (order.side(), order.box_side());
            let mut grid = Grid::empty(order);
            for (index, digit) in grid.digits_mut().iter_mut().enumerate() {
                let (row, column) = (index / side, index % side);
                *digit = byte((row % b * b + row / b + column) % side + 1);
            }
            assert!(grid.is_solved());
            self.disguised(&grid)
        }

        /// A random solved grid with only so many clues left. Where digits repeat every few columns there is
        /// more than one way to complete it, so all verdicts come up.
        fn puzzle(&mut self, order: Order, clues: usize) -> Grid {
            let mut grid = self.solved(order);
            for index in self.shuffled(order.cells()).into_iter().skip(clues) {
                grid.digits_mut()[index] = 0;
            }
            grid
        }

        /// The same with some clues changed, which mostly leaves no solution.
        fn broken_puzzle(&mut self, order: Order, clues: usize) -> Grid {
            let mut grid = self.puzzle(order, clues);
            for _ in 0..=self.below(2) {
                let index = self.below(order.cells());
                grid.digits_mut()[index] = byte(self.below(order.side()) + 1);
            }
            grid
        }
    }

    static GO_ON: AtomicBool = AtomicBool::new(false);

    const fn up_to(solutions: u64) -> Limit<'static> {
        Limit { solutions, nodes: 1_000_000, cancel: &GO_ON }
    }

    /// Searches, and checks what can be checked without another solver.
    fn search(solver: &mut dyn Solver, puzzle: &Grid, limit: &Limit<'_>) -> (Search, Grid) {
        let mut solution = Grid::empty(puzzle.order());
        let search = solver.search(puzzle, limit, &mut solution);
        assert!(search.solutions <= limit.solutions);
        assert_eq!(search.stop == Stop::Solutions, search.solutions == limit.solutions);
        if search.solutions > 0 {
            assert!(solution.solves(puzzle), "{puzzle:?} gave {solution:?}");
        }
        let Metrics { nodes, guesses, backtracks, depth, .. } = search.metrics;
        assert!(nodes <= limit.nodes);
        assert!(guesses <= nodes && backtracks <= guesses && depth <= guesses);
        assert!(depth <= puzzle.order().cells() as u64);
        (search, solution)
    }

    fn propagation(order: Order) -> Box<dyn Solver> {
        Propagation.solver(order)
    }

    #[test]
    fn agrees_with_the_oracle() {
        let mut random = Random(1);
        for (order, clues, times) in [(1, 0..2, 4), (2, 0..16, 40), (3, 24..60, 8)] {
            let order = Order::new(order).unwrap();
            let (mut ours, mut oracle) = (propagation(order), Backtracking.solver(order));
            let mut verdicts = [0; 3];
            for clues in clues {
                for _ in 0..times {
                    for puzzle in [random.puzzle(order, clues), random.broken_puzzle(order, clues)] {
                        for limit in [1, 2, 60] {
                            let (found, _) = search(&mut *ours, &puzzle, &up_to(limit));
                            let (expected, _) = search_oracle(&mut *oracle, &puzzle, &up_to(limit));
                            if expected.stop == Stop::Nodes {
                                continue;
                            }
                            assert_eq!(found.solutions, expected.solutions, "{puzzle:?}");
                            assert_eq!(found.stop, expected.stop, "{puzzle:?}");
                            for question in [Question::First, Question::Unique, Question::Count { limit }] {
                                if question.solutions() == limit {
                                    assert_eq!(question.verdict(&found), question.verdict(&expected));
                                }
                            }
                            verdicts[found.solutions.min(2) as usize] += 1;
                        }
                    }
                }
            }
            assert!(order.side() == 1 || verdicts.iter().all(|&n| n > 20), "{order}: {verdicts:?}");
        }
    }

    fn search_oracle(oracle: &mut dyn Solver, puzzle: &Grid, limit: &Limit<'_>) -> (Search, Grid) {
        let mut solution = Grid::empty(puzzle.order());
        let limit = Limit { nodes: 20_000, ..*limit };
        (oracle.search(puzzle, &limit, &mut solution), solution)
    }

    #[test]
    fn a_disguise_changes_neither_count_nor_verdict() {
        let mut random = Random(2);
        for (order, clues) in [(2, 4), (3, 22), (3, 30), (4, 110), (5, 330)] {
            let order = Order::new(order).unwrap();
            let mut solver = propagation(order);
            for _ in 0..6 {
                let puzzle = random.puzzle(order, clues);
                let (expected, _) = search(&mut *solver, &puzzle, &up_to(20));
                for _ in 0..4 {
                    let (found, _) = search(&mut *solver, &random.disguised(&puzzle), &up_to(20));
                    assert_eq!((found.solutions, found.stop), (expected.solutions, expected.stop));
                }
            }
        }
    }

    #[test]
    fn empty_and_full_grids_of_every_order() {
        let mut random = Random(3);
        for order in Order::ALL {
            let mut solver = propagation(order);
            let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(1));
            assert_eq!(found.stop, Stop::Solutions, "{order}");

            let full = random.solved(order);
            let (found, solution) = search(&mut *solver, &full, &up_to(2));
            assert_eq!((found.solutions, found.stop), (1, Stop::Exhausted));
            assert_eq!(solution, full);
            assert_eq!(found.metrics, Metrics { nodes: 1, ..Metrics::default() });

            let hard = random.puzzle(order, order.cells() * 55 / 100);
            search(&mut *solver, &hard, &up_to(1));
        }
    }

    #[test]
    fn counts_are_exact() {
        let order = Order::new(2).unwrap();
        let mut solver = propagation(order);
        let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(1_000));
        assert_eq!((found.solutions, found.stop), (288, Stop::Exhausted));
        let (found, _) = search(&mut *solver, &Grid::empty(order), &up_to(288));
        assert_eq!((found.solutions, found.stop), (288, Stop::Solutions));
        let (found, _) = search(&mut *propagation(Order::ALL[0]), &Grid::empty(Order::ALL[0]), &up_to(9));
        assert_eq!((found.solutions, found.stop), (1, Stop::Exhausted));
    }

    #[test]
    fn clues_that_clash_leave_no_solution() {
        for order in Order::ALL {
            let mut solver = propagation(order);
            for first in order.all_cells().step_by(7) {
                for house in first.houses() {
                    let Some(second) = house.cells(order).filter(|&c| c != first).last() else { continue };
                    for digit in [1, order.side()].map(|value| order.digit(value).unwrap()) {
                        let mut puzzle = Grid::empty(order);
                        puzzle.set(first, Some(digit));
                        puzzle.set(second, Some(digit));
                        let (found, _) = search(&mut *solver, &puzzle, &up_to(2));
                        assert_eq!((found.solutions, found.stop), (0, Stop::Exhausted), "{puzzle:?}");
                        puzzle.digits_mut().fill(digit.value());
                        let (found, _) = search(&mut *solver, &puzzle, &up_to(2));
                        assert_eq!((found.solutions, found.stop), (0, Stop::Exhausted), "{puzzle:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn stops_at_the_node_limit() {
        for order in &Order::ALL[1..] {
            let mut solver = propagation(*order);
            for nodes in 0..5 {
                let limit = Limit { nodes, ..up_to(1_000) };
                let (found, _) = search(&mut *solver, &Grid::empty(*order), &limit);
                assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, nodes), "{order}");
            }
        }
        // One solution after the other, to the limit.
        let limit = Limit { nodes: 3_000, ..up_to(u64::MAX) };
        let (found, _) = search(&mut *propagation(Order::ALL[4]), &Grid::empty(Order::ALL[4]), &limit);
        assert_eq!((found.stop, found.metrics.nodes), (Stop::Nodes, 3_000));
        assert!(found.solutions > 0);
    }

    #[test]
    fn stops_when_cancelled() {
        let cancel = AtomicBool::new(true);
        let limit = Limit { cancel: &cancel, ..up_to(u64::MAX) };
        for order in &Order::ALL[2..] {
            let (found, _) = search(&mut *propagation(*order), &Grid::empty(*order), &limit);
            assert_eq!(found.stop, Stop::Cancelled);
            assert!(found.metrics.nodes <= NODES_BETWEEN_CANCEL_CHECKS);
            assert_eq!(Question::First.verdict(&found), Verdict::Cancelled);
        }
    }

    /// No matter which puzzle came before, in what state it was left.
    #[test]
    fn a_solver_forgets_the_puzzle_before() {
        let mut random = Random(4);
        let order = Order::NINE;
        let mut used = propagation(order);
        for clues in 20..50 {
            let puzzle = random.puzzle(order, clues);
            for limit in [Limit { nodes: 3, ..up_to(9) }, up_to(9), up_to(1)] {
                let fresh = search(&mut *propagation(order), &puzzle, &limit);
                let again = search(&mut *used, &puzzle, &limit);
                assert_eq!(fresh.0, again.0);
                assert!(fresh.0.solutions == 0 || fresh.1 == again.1);
            }
        }
    }

    /// Puzzles that take hundreds of guesses, with a solver that starts again after the first failures.
    #[test]
    fn starting_again_loses_no_solution() {
        let mut random = Random(6);
        let mut impatient = State::<u32, 3, 9, 12, 4> { patience: 1, ..State::new() };
        let mut oracle = Backtracking.solver(Order::NINE);
        for (text, solutions) in [
            ("1.....7.8..6.8.....981...6......3...86..9..1.9...1..7......52...4......76...7..9.", 0),
            ("98.7..6..75.....8...6.....75...4......98...56..89...7.3....2.....53...6......1..3", 1),
            (".....5..7..4..2.3....6...4.9.8.4.....3.5..1.8.1.....7.1......5...5.3..........3.1", 994),
        ] {
            let mut puzzle = Grid::empty(Order::NINE);
            for (digit, byte) in puzzle.digits_mut().iter_mut().zip(text.bytes()) {
                *digit = if byte == b'.' { 0 } else { byte - b'0' };
            }
            let found = oracle.search(&puzzle, &up_to(1_000), &mut Grid::empty(Order::NINE));
            assert_eq!(found.solutions, solutions);
            let mut starts_again = false;
            for _ in 0..20 {
                let puzzle = random.disguised(&puzzle);
                let (patient, _) = search(&mut *propagation(Order::NINE), &puzzle, &up_to(1_000));
                assert_eq!((patient.solutions, patient.stop), (solutions, Stop::Exhausted));
                let (found, _) = search(&mut impatient, &puzzle, &up_to(1_000));
                assert_eq!((found.solutions, found.stop), (solutions, Stop::Exhausted));
                starts_again |= found.metrics != patient.metrics;
            }
            assert!(starts_again);
        }
    }

    /// Where propagation rests there is no single and no locked candidate left to be found, says a search
    /// that looks at one house after the other.
    fn rests<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const GROUP: usize>(
        order: Order,
        clues: &[usize],
    ) {
        let mut random = Random(5);
        let mut blanks = 0;
        let houses: Vec<House> = order.houses().collect();
        for &clues in clues {
            for _ in 0..8 {
                let puzzle = random.puzzle(order, clues);
                let mut board = Board::<W, N, SIDE, LANES, GROUP>::new();
                assert!(board.load(puzzle.digits()).is_ok() && board.propagate(&mut Nobody).is_ok());
                let split = |cell: Cell| (cell.index() / (N * SIDE), cell.index() % (N * SIDE));
                let is_filled =
                    |cell: Cell| Bits(board.filled[split(cell).0]).any(|bit| bit == split(cell).1);
                for cell in order.all_cells() {
                    let (band, bit) = split(cell);
                    let left = board.candidates(band, bit).count();
                    assert_eq!(left == 1, is_filled(cell), "a naked single in {puzzle:?}");
                    blanks += usize::from(left > 1);
                }
                for digit in 0..SIDE {
                    let takes = |&cell: &Cell| {
                        let (band, bit) = split(cell);
                        board.has(Candidate { digit, band, bit })
                    };
                    let places = |house: House| house.cells(order).filter(takes).collect::<Vec<_>>();
                    for &house in &houses {
                        let here = places(house);
                        assert!(!here.is_empty());
                        if let [only] = here[..] {
                            assert!(is_filled(only), "a hidden single in {puzzle:?}");
                        }
                        for &other in houses.iter().filter(|&&other| other != house) {
                            if here.iter().all(|c| c.houses().contains(&other)) {
                                assert_eq!(places(other).len(), here.len(), "locked in {house}: {puzzle:?}");
                            }
                        }
                    }
                }
            }
        }
        assert!(blanks > 0, "nothing to look at");
    }

    #[test]
    fn rests_where_nothing_is_left_to_infer() {
        rests::<u32, 2, 4, 4, 4>(Order::ALL[1], &[0, 2, 4]);
        rests::<u32, 3, 9, 12, 4>(Order::ALL[2], &[20, 24, 28, 32]);
        rests::<u32, 3, 9, 9, 1>(Order::ALL[2], &[22, 26]);
        rests::<u64, 4, 16, 16, 1>(Order::ALL[3], &[90, 110]);
        rests::<u128, 5, 25, 25, 1>(Order::ALL[4], &[250, 300]);
    }
}
