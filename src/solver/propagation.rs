//! Propagation (first working version).

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitAndAssign, BitOr, BitOrAssign, Not, Shl, Shr, Sub};

use super::{Limit, Metrics, NODES_BETWEEN_CANCEL_CHECKS, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, Order};

/// The strategy `propagation`.
#[derive(Clone, Copy, Debug)]
pub struct Propagation;

impl Strategy for Propagation {
    fn name(&self) -> &'static str {
        "propagation"
    }

    fn summary(&self) -> &'static str {
        "singles and locked candidates on bit masks, guessing where there is the least choice: the default"
    }

    fn supports(&self, _order: Order) -> bool {
        true
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        match order.box_side() {
            1 => Box::new(State::<u32, 1, 1>::new()),
            2 => Box::new(State::<u32, 2, 4>::new()),
            3 => Box::new(State::<u32, 3, 9>::new()),
            4 => Box::new(State::<u64, 4, 16>::new()),
            _ => Box::new(State::<u128, 5, 25>::new()),
        }
    }
}

trait Word:
    Copy
    + Eq
    + Debug
    + Send
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitAndAssign
    + BitOrAssign
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
    + 'static
{
    const ZERO: Self;
    fn of(mask: u128) -> Self;
    fn lowest(self) -> u32;
    fn count(self) -> u32;
}

macro_rules! word {
    ($($t:ty),*) => {$(
        impl Word for $t {
            const ZERO: Self = 0;
            #[inline(always)]
            fn of(mask: u128) -> Self { mask as Self }
            #[inline(always)]
            fn lowest(self) -> u32 { self.trailing_zeros() }
            #[inline(always)]
            fn count(self) -> u32 { self.count_ones() }
        }
    )*};
}
word!(u32, u64, u128);

struct Masks<const N: usize>;

impl<const N: usize> Masks<N> {
    const SIDE: u32 = (N * N) as u32;
    const ROW: u128 = (1 << Self::SIDE) - 1;
    const ROW_LOW: u128 = every(Self::SIDE, N);
    const FULL: u128 = Self::ROW * Self::ROW_LOW;
    const MINI_LOW: u128 = every(N as u32, N * N);
    const MINI_LOW_ROW: u128 = Self::MINI_LOW & Self::ROW;
    const ROW_TOP: u128 = Self::ROW_LOW << (Self::SIDE - 1);
    const ROW_BELOW: u128 = Self::FULL & !Self::ROW_TOP;
    const MINI_TOP: u128 = Self::MINI_LOW << (N - 1);
    const MINI_BELOW: u128 = Self::FULL & !Self::MINI_TOP;
}

const fn every(step: u32, times: usize) -> u128 {
    let mut mask = 0;
    let mut k = 0;
    while k < times {
        mask |= 1 << (k as u32 * step);
        k += 1;
    }
    mask
}

#[inline(always)]
fn row_of<W: Word, const N: usize>(word: W, r: usize) -> W {
    (word >> (r as u32 * Masks::<N>::SIDE)) & W::of(Masks::<N>::ROW)
}

/// Or of all rows: one row.
#[inline(always)]
fn fold<W: Word, const N: usize>(word: W) -> W {
    let mut all = word;
    for r in 1..N {
        all |= word >> (r as u32 * Masks::<N>::SIDE);
    }
    all & W::of(Masks::<N>::ROW)
}

/// (in at least one row, in at least two rows)
#[inline(always)]
fn fold_twice<W: Word, const N: usize>(word: W) -> (W, W) {
    let (mut once, mut twice) = (W::ZERO, W::ZERO);
    for r in 0..N {
        let row = row_of::<W, N>(word, r);
        twice |= once & row;
        once |= row;
    }
    (once, twice)
}

/// Copies one row into all rows.
#[inline(always)]
fn rep<W: Word, const N: usize>(row: W) -> W {
    let mut all = row;
    for r in 1..N {
        all |= row << (r as u32 * Masks::<N>::SIDE);
    }
    all
}

/// Top bit of each row with any of these minirow-low bits, spread over the row.
#[inline(always)]
fn rows_with<W: Word, const N: usize>(minis: W) -> (W, W) {
    type M<const N: usize> = Masks<N>;
    let top = (minis + W::of(M::<N>::ROW_BELOW)) & W::of(M::<N>::ROW_TOP);
    let low = top >> (M::<N>::SIDE - 1);
    ((top - low) | top, low)
}

/// All bits of minirows that have a bit in `word`.
#[inline(always)]
fn minis_with<W: Word, const N: usize>(word: W) -> (W, W) {
    let below = W::of(Masks::<N>::MINI_BELOW);
    let top = (((word & below) + below) | word) & W::of(Masks::<N>::MINI_TOP);
    let low = top >> (N as u32 - 1);
    ((top - low) | top, low)
}

#[derive(Clone, Copy)]
struct Board<W, const N: usize, const SIDE: usize> {
    layers: [[W; N]; SIDE],
    placed: [W; N],
    dirty: u32,
}

struct Clash;

impl<W: Word, const N: usize, const SIDE: usize> Board<W, N, SIDE> {
    const FULL: u128 = Masks::<N>::FULL;

    fn new() -> Self {
        Self { layers: [[W::of(Self::FULL); N]; SIDE], placed: [W::ZERO; N], dirty: 0 }
    }

    fn load(&mut self, digits: &[u8]) -> Result<(), Clash> {
        let mut given = [[W::ZERO; N]; SIDE];
        let mut any = [W::ZERO; N];
        for (band, digits) in digits.chunks_exact(SIDE * N).enumerate() {
            for (k, &digit) in digits.iter().enumerate() {
                if digit != 0 {
                    let bit = W::of(1) << k as u32;
                    given[usize::from(digit) - 1][band] |= bit;
                    any[band] |= bit;
                }
            }
        }
        self.placed = [W::ZERO; N];
        self.dirty = ((1u64 << SIDE) - 1) as u32;
        for d in 0..SIDE {
            for b in 0..N {
                let mine = given[d][b];
                let open = (W::of(Self::FULL) & !any[b]) | mine;
                self.layers[d][b] = restrict::<W, N>(open, mine)?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn close(&mut self, d: usize) -> Result<(), Clash> {
        let mut bands = self.layers[d];
        let mut lone_minis = [W::ZERO; N];
        let mut lone_columns;
        loop {
            let before = bands;
            for b in 0..N {
                let (w, lone) = close_rows::<W, N>(bands[b])?;
                bands[b] = w;
                lone_minis[b] = lone;
            }
            let mut columns = W::ZERO;
            for b in 0..N {
                columns |= fold::<W, N>(bands[b]) << (b as u32 * Masks::<N>::SIDE);
            }
            let (kept, lone) = close_columns::<W, N>(columns)?;
            lone_columns = lone;
            if kept != columns {
                for b in 0..N {
                    bands[b] &= rep::<W, N>(row_of::<W, N>(kept, b));
                }
            }
            if bands == before {
                break;
            }
        }
        self.layers[d] = bands;
        let mut news = [W::ZERO; N];
        let mut any = W::ZERO;
        for b in 0..N {
            let full_minis = minis_with::<W, N>(lone_minis[b]).0;
            let single = bands[b] & full_minis & rep::<W, N>(row_of::<W, N>(lone_columns, b));
            news[b] = single & !self.placed[b];
            self.placed[b] |= single;
            any |= news[b];
        }
        if any != W::ZERO {
            for other in 0..SIDE {
                let mut changed = W::ZERO;
                for b in 0..N {
                    changed |= self.layers[other][b] & news[b];
                    self.layers[other][b] &= !news[b];
                }
                self.dirty |= u32::from(changed != W::ZERO) << other;
            }
            for b in 0..N {
                self.layers[d][b] |= news[b];
            }
            self.dirty &= !(1 << d);
        }
        Ok(())
    }

    fn propagate(&mut self) -> Result<(), Clash> {
        loop {
            while self.dirty != 0 {
                let d = self.dirty.trailing_zeros() as usize;
                self.dirty &= self.dirty - 1;
                self.close(d)?;
            }
            self.naked()?;
            if self.dirty == 0 {
                return Ok(());
            }
        }
    }

    fn naked(&mut self) -> Result<(), Clash> {
        let (mut once, mut twice) = ([W::ZERO; N], [W::ZERO; N]);
        for layer in &self.layers {
            for b in 0..N {
                twice[b] |= once[b] & layer[b];
                once[b] |= layer[b];
            }
        }
        for b in 0..N {
            if once[b] != W::of(Self::FULL) {
                return Err(Clash);
            }
            let naked = !twice[b] & once[b] & !self.placed[b];
            if naked != W::ZERO {
                for d in 0..SIDE {
                    let mine = self.layers[d][b] & naked;
                    if mine != W::ZERO {
                        self.layers[d][b] = restrict::<W, N>(self.layers[d][b], mine)?;
                        self.dirty |= 1 << d;
                    }
                }
            }
        }
        Ok(())
    }

    fn is_solved(&self) -> bool {
        self.placed.iter().all(|&p| p == W::of(Self::FULL))
    }

    fn choose(&self) -> (usize, usize, u32) {
        let mut best = (u32::MAX, 0, 0, 0);
        for b in 0..N {
            let (mut two, mut three, mut one) = (W::ZERO, W::ZERO, W::ZERO);
            for layer in &self.layers {
                three |= two & layer[b];
                two |= one & layer[b];
                one |= layer[b];
            }
            let pairs = two & !three;
            if pairs != W::ZERO {
                let k = pairs.lowest();
                for d in 0..SIDE {
                    if (self.layers[d][b] >> k) & W::of(1) != W::ZERO {
                        return (d, b, k);
                    }
                }
            }
            let mut open = W::of(Self::FULL) & !self.placed[b];
            while open != W::ZERO {
                let k = open.lowest();
                open &= !(W::of(1) << k);
                let mut count = 0;
                let mut first = 0;
                for d in (0..SIDE).rev() {
                    if (self.layers[d][b] >> k) & W::of(1) != W::ZERO {
                        count += 1;
                        first = d;
                    }
                }
                if count < best.0 {
                    best = (count, first, b, k);
                }
            }
        }
        (best.1, best.2, best.3)
    }

    fn write(&self, solution: &mut Grid) {
        let out = solution.digits_mut();
        for d in 0..SIDE {
            for b in 0..N {
                let mut left = self.layers[d][b];
                while left != W::ZERO {
                    let k = left.lowest();
                    left &= !(W::of(1) << k);
                    out[b * N * SIDE + k as usize] = d as u8 + 1;
                }
            }
        }
    }
}

/// Leaves in the boxes of `cells` only those; a box must not have two.
#[inline(always)]
fn restrict<W: Word, const N: usize>(word: W, cells: W) -> Result<W, Clash> {
    let (minis, low) = minis_with::<W, N>(cells);
    let (boxes, twice) = fold_twice::<W, N>(minis);
    if (cells & (cells - low)) | twice != W::ZERO {
        return Err(Clash);
    }
    Ok((word & !rep::<W, N>(boxes)) | cells)
}

#[inline(always)]
fn close_rows<W: Word, const N: usize>(word: W) -> Result<(W, W), Clash> {
    type M<const N: usize> = Masks<N>;
    let mut minis = word;
    for k in 1..N {
        minis |= word >> k as u32;
    }
    minis &= W::of(M::<N>::MINI_LOW);
    let (_, nonempty) = rows_with::<W, N>(minis);
    let (once, twice) = fold_twice::<W, N>(minis);
    if nonempty != W::of(M::<N>::ROW_LOW) || once != W::of(M::<N>::MINI_LOW_ROW) {
        return Err(Clash);
    }
    let row_lone = minis & !rows_with::<W, N>(minis & (minis - W::of(M::<N>::ROW_LOW))).0;
    let box_lone = minis & rep::<W, N>(once & !twice);
    let (pointed, low) = rows_with::<W, N>(box_lone);
    let (claimed, clash) = fold_twice::<W, N>(row_lone);
    if (box_lone & (box_lone - low)) | clash != W::ZERO {
        return Err(Clash);
    }
    let kept = minis & (!pointed | box_lone) & (!rep::<W, N>(claimed) | row_lone);
    Ok((word & minis_with::<W, N>(kept).0, box_lone))
}

#[inline(always)]
fn close_columns<W: Word, const N: usize>(columns: W) -> Result<(W, W), Clash> {
    type M<const N: usize> = Masks<N>;
    let (once, twice) = fold_twice::<W, N>(columns);
    if once != W::of(M::<N>::ROW) {
        return Err(Clash);
    }
    let column_lone = columns & rep::<W, N>(once & !twice);
    let box_lone = columns & !minis_with::<W, N>(columns & (columns - W::of(M::<N>::MINI_LOW))).0;
    let (claimed, low) = minis_with::<W, N>(column_lone);
    let (pointed, clash) = fold_twice::<W, N>(box_lone);
    if (column_lone & (column_lone - low)) | clash != W::ZERO {
        return Err(Clash);
    }
    let kept = columns & (!claimed | column_lone) & (!rep::<W, N>(pointed) | box_lone);
    Ok((kept, box_lone))
}

struct State<W, const N: usize, const SIDE: usize> {
    board: Board<W, N, SIDE>,
    stack: Vec<Board<W, N, SIDE>>,
}

impl<W: Word, const N: usize, const SIDE: usize> State<W, N, SIDE> {
    fn new() -> Self {
        Self { board: Board::new(), stack: Vec::with_capacity(SIDE * SIDE) }
    }
}

impl<W: Word, const N: usize, const SIDE: usize> Solver for State<W, N, SIDE> {
    fn search(&mut self, puzzle: &Grid, limit: &Limit<'_>, solution: &mut Grid) -> Search {
        let mut found = Search { solutions: 0, stop: Stop::Exhausted, metrics: Metrics::default() };
        let metrics = &mut found.metrics;
        self.stack.clear();
        let mut state = self.board.load(puzzle.digits());
        loop {
            if metrics.nodes == limit.nodes {
                found.stop = Stop::Nodes;
                return found;
            }
            metrics.nodes += 1;
            if metrics.nodes % NODES_BETWEEN_CANCEL_CHECKS == 0 && limit.is_cancelled() {
                found.stop = Stop::Cancelled;
                return found;
            }
            if state.is_ok() {
                state = self.board.propagate();
            }
            if state.is_ok() && !self.board.is_solved() {
                let (d, b, k) = self.board.choose();
                let bit = W::of(1) << k;
                self.stack.push(self.board);
                let top = self.stack.last_mut().unwrap();
                top.layers[d][b] &= !bit;
                top.dirty = 1 << d;
                state = restrict::<W, N>(self.board.layers[d][b], bit).map(|w| self.board.layers[d][b] = w);
                self.board.dirty = 1 << d;
                metrics.guesses += 1;
                metrics.depth = metrics.depth.max(self.stack.len() as u64);
                continue;
            }
            if state.is_ok() {
                found.solutions += 1;
                if found.solutions == 1 {
                    self.board.write(solution);
                }
                if found.solutions == limit.solutions {
                    found.stop = Stop::Solutions;
                    return found;
                }
            }
            let Some(board) = self.stack.pop() else {
                return found;
            };
            self.board = board;
            state = Ok(());
            metrics.backtracks += 1;
        }
    }
}
