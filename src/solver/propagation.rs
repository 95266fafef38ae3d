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
}

macro_rules! word {
    ($($t:ty),*) => {$(
        impl Word for $t {
            const ZERO: Self = 0;
            #[inline(always)]
            fn of(mask: u128) -> Self { mask as Self }
            #[inline(always)]
            fn lowest(self) -> u32 { self.trailing_zeros() }
        }
    )*};
}
word!(u32, u64, u128);


const fn every(step: usize, times: usize) -> u128 {
    let mut mask = 0;
    let mut k = 0;
    while k < times {
        mask |= 1 << (k * step);
        k += 1;
    }
    mask
}

struct Layout<const N: usize>;

impl<const N: usize> Layout<N> {
    const SIDE: usize = N * N;
    const ROW: u128 = (1 << Self::SIDE) - 1;
    const ROWS: u128 = every(Self::SIDE, N);
    const BAND: u128 = Self::ROW * Self::ROWS;
    const MINIROW: u128 = (1 << N) - 1;
    const MINIROWS: u128 = every(N, N * N);
}

struct Clash;

/// Bits of a cell set, lowest first.
struct Bits<W>(W);
impl<W: Word> Iterator for Bits<W> {
    type Item = u32;
    #[inline(always)]
    fn next(&mut self) -> Option<u32> {
        if self.0 == W::ZERO {
            return None;
        }
        let k = self.0.lowest();
        self.0 &= self.0 - W::of(1);
        Some(k)
    }
}

/// Or of `word` shifted down 0..N times by `step`, and the bits that at least two of those have.
#[inline(always)]
fn gather<W: Word, const N: usize>(word: W, step: usize) -> (W, W) {
    let (mut once, mut twice) = (word, W::ZERO);
    for k in 1..N {
        let next = word >> (k * step) as u32;
        twice |= once & next;
        once |= next;
    }
    (once, twice)
}

#[inline(always)]
fn spread<W: Word, const N: usize>(word: W, step: usize) -> W {
    let mut all = word;
    for k in 1..N {
        all |= word << (k * step) as u32;
    }
    all
}

struct Closed<W> {
    kept: W,
    /// I: those alone in i direction (over steps of a side).
    lone_i: W,
    lone_j: W,
}

/// One step. i: stride SIDE, j: stride `step`.
#[inline(always)]
fn close_matrices<W: Word, const N: usize>(m: W, step: usize) -> Result<Closed<W>, Clash> {
    let side = Layout::<N>::SIDE;
    let i_low = W::of(Layout::<N>::ROW);
    let j_low = W::of(if step == 1 { Layout::<N>::MINIROWS } else { Layout::<N>::ROWS * Layout::<N>::MINIROW });
    let (once_i, twice_i) = gather::<W, N>(m, side);
    let (once_j, twice_j) = gather::<W, N>(m, step);
    if once_i & i_low != i_low || once_j & j_low != j_low {
        return Err(Clash);
    }
    let lone_i = i_low & !twice_i;
    let lone_j = j_low & !twice_j;
    let mark_i = m & spread::<W, N>(lone_i, side);
    let mark_j = m & spread::<W, N>(lone_j, step);
    let (hit_j, clash_j) = gather::<W, N>(mark_i, step);
    let (hit_i, clash_i) = gather::<W, N>(mark_j, side);
    if (clash_j & j_low) | (clash_i & i_low) != W::ZERO {
        return Err(Clash);
    }
    let kept = m & (mark_i | !spread::<W, N>(hit_j & j_low, step)) & (mark_j | !spread::<W, N>(hit_i & i_low, side));
    Ok(Closed { kept, lone_i, lone_j })
}

/// Leaves in the boxes of `cells` only those; a box must not have two.
#[inline(always)]
fn restrict<W: Word, const N: usize>(word: W, cells: W) -> Result<W, Clash> {
    let row = W::of(Layout::<N>::ROW);
    let minirows = W::of(Layout::<N>::MINIROWS);
    let (columns, two_rows) = gather::<W, N>(cells, Layout::<N>::SIDE);
    let (boxes, two_columns) = gather::<W, N>(columns & row, 1);
    if (two_rows & row) | (two_columns & minirows) != W::ZERO {
        return Err(Clash);
    }
    let columns = spread::<W, N>(boxes & minirows & row, 1);
    let _ = columns;
    Ok((word & !spread::<W, N>(columns, Layout::<N>::SIDE)) | cells)
}

#[derive(Clone, Copy)]
struct Board<W, const N: usize, const SIDE: usize> {
    layers: [[W; N]; SIDE],
    placed: [[W; N]; SIDE],
    filled: [W; N],
    /// digits whose layer was changed from outside
    touched: u32,
    /// digits to look at
    pending: u32,
    failed: u32,
}

impl<W: Word, const N: usize, const SIDE: usize> Board<W, N, SIDE> {
    const ALL: u32 = ((1u64 << SIDE) - 1) as u32;

    fn new() -> Self {
        Self { layers: [[W::ZERO; N]; SIDE], placed: [[W::ZERO; N]; SIDE], filled: [W::ZERO; N], touched: 0, pending: 0, failed: 0 }
    }

    fn load(&mut self, digits: &[u8]) -> Result<(), Clash> {
        *self = Self::new();
        for (band, digits) in digits.chunks_exact(SIDE * N).enumerate() {
            for (k, &digit) in digits.iter().enumerate() {
                if digit != 0 {
                    let bit = W::of(1) << k as u32;
                    self.placed[usize::from(digit) - 1][band] |= bit;
                    self.filled[band] |= bit;
                }
            }
        }
        self.touched = Self::ALL;
        self.pending = Self::ALL;
        for d in 0..SIDE {
            for b in 0..N {
                self.layers[d][b] = restrict::<W, N>(W::of(Layout::<N>::BAND), self.placed[d][b])?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn close_rows(bands: &mut [W; N]) -> Result<(W, bool), Clash> {
        let minirows = W::of(Layout::<N>::MINIROWS);
        let mut m = W::ZERO;
        for (b, word) in bands.iter().enumerate() {
            m |= (gather::<W, N>(*word, 1).0 & minirows) << b as u32;
        }
        let mut closed = close_matrices::<W, N>(m, N)?;
        if closed.kept == m {
            return Ok((closed.lone_i, false));
        }
        loop {
            let kept = closed.kept;
            closed = close_matrices::<W, N>(kept, N)?;
            if closed.kept == kept {
                break;
            }
        }
        for (b, word) in bands.iter_mut().enumerate() {
            let low = (closed.kept >> b as u32) & minirows;
            *word &= spread::<W, N>(low, 1);
        }
        Ok((closed.lone_i, true))
    }

    #[inline(always)]
    fn close_columns(bands: &mut [W; N]) -> Result<(W, bool), Clash> {
        let row = W::of(Layout::<N>::ROW);
        let mut m = W::ZERO;
        for (b, word) in bands.iter().enumerate() {
            m |= (gather::<W, N>(*word, SIDE).0 & row) << (b * SIDE) as u32;
        }
        let mut closed = close_matrices::<W, N>(m, 1)?;
        if closed.kept == m {
            return Ok((closed.lone_j, false));
        }
        loop {
            let kept = closed.kept;
            closed = close_matrices::<W, N>(kept, 1)?;
            if closed.kept == kept {
                break;
            }
        }
        for (b, word) in bands.iter_mut().enumerate() {
            let low = (closed.kept >> (b * SIDE) as u32) & row;
            *word &= spread::<W, N>(low, SIDE);
        }
        Ok((closed.lone_j, true))
    }

    #[inline(always)]
    fn close_bands(bands: &mut [W; N]) -> Result<(W, W), Clash> {
        let (mut one_row, _) = Self::close_rows(bands)?;
        loop {
            let (one_column, changed) = Self::close_columns(bands)?;
            if !changed {
                return Ok((one_row, one_column));
            }
            let (lone, changed) = Self::close_rows(bands)?;
            one_row = lone;
            if !changed {
                return Ok((one_row, one_column));
            }
        }
    }

    #[inline(always)]
    fn close(&mut self, d: usize) -> Result<(), Clash> {
        let mut bands = self.layers[d];
        let mut changed = W::ZERO;
        for b in 0..N {
            let taken = bands[b] & self.filled[b] & !self.placed[d][b];
            changed |= taken;
            bands[b] &= !taken;
        }
        if changed == W::ZERO && self.touched & (1 << d) == 0 {
            return Ok(());
        }
        self.touched &= !(1 << d);
        let closed = Self::close_bands(&mut bands);
        self.layers[d] = bands;
        let Ok((one_row, one_column)) = closed else {
            self.failed = d as u32;
            return Err(Clash);
        };
        let mut any = W::ZERO;
        for b in 0..N {
            let boxes = (one_row >> b as u32) & (one_column >> (b * SIDE) as u32) & W::of(Layout::<N>::MINIROWS & Layout::<N>::ROW);
            let single = bands[b] & spread::<W, N>(spread::<W, N>(boxes, 1), SIDE);
            any |= single & !self.placed[d][b];
            self.placed[d][b] = single;
            self.filled[b] |= single;
        }
        if any != W::ZERO {
            self.pending = Self::ALL & !(1 << d);
        }
        Ok(())
    }

    fn propagate(&mut self) -> Result<(), Clash> {
        loop {
            while self.pending != 0 {
                let d = self.pending.trailing_zeros() as usize;
                self.pending &= self.pending - 1;
                self.close(d)?;
            }
            self.naked()?;
            if self.pending == 0 {
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
            if once[b] != W::of(Layout::<N>::BAND) {
                self.failed = u32::MAX;
                return Err(Clash);
            }
            let naked = !twice[b] & once[b] & !self.filled[b];
            if naked != W::ZERO {
                for d in 0..SIDE {
                    let mine = self.layers[d][b] & naked;
                    if mine != W::ZERO {
                        self.failed = d as u32;
                        self.layers[d][b] = restrict::<W, N>(self.layers[d][b], mine)?;
                        self.touched |= 1 << d;
                    }
                }
            }
        }
        self.pending = self.touched;
        Ok(())
    }

    fn is_solved(&self) -> bool {
        self.filled.iter().all(|&p| p == W::of(Layout::<N>::BAND))
    }

    #[inline(always)]
    fn has(&self, d: usize, b: usize, k: u32) -> bool {
        (self.layers[d][b] >> k) & W::of(1) != W::ZERO
    }

    fn choose(&self, w: &Weights<SIDE>) -> (usize, usize, u32) {
        let mut best = (-1i64, 0, 0);
        for b in 0..N {
            let (mut two, mut three, mut one) = (W::ZERO, W::ZERO, W::ZERO);
            for layer in &self.layers {
                three |= two & layer[b];
                two |= one & layer[b];
                one |= layer[b];
            }
            for k in Bits(two & !three) {
                let mut score = w.cells[b * N * SIDE + k as usize];
                for d in 0..SIDE {
                    if self.has(d, b, k) {
                        score += w.digits[d];
                    }
                }
                if i64::from(score) > best.0 {
                    best = (i64::from(score), b, k);
                }
            }
        }
        if best.0 >= 0 {
            let (_, b, k) = best;
            let mut digit = (0, usize::MAX);
            for d in 0..SIDE {
                if self.has(d, b, k) && (digit.1 == usize::MAX || w.digits[d] > digit.0) {
                    digit = (w.digits[d], d);
                }
            }
            return (digit.1, b, k);
        }
        self.choose_any(w)
    }

    #[cold]
    fn choose_any(&self, w: &Weights<SIDE>) -> (usize, usize, u32) {
        let mut best = (u32::MAX, 0, 0, 0, 0);
        let mode = w.mode;
        for d in 0..SIDE {
            let mut cols = [0u32; SIDE];
            let mut boxes = [0u32; SIDE];
            let mut where_c = [(0usize, 0u32); SIDE];
            let mut where_b = [(0usize, 0u32); SIDE];
            let mut see = |n: u32, b: usize, k: u32| {
                if n > 1 && (n < best.0 || n == best.0 && w.digits[d] > best.1) {
                    best = (n, w.digits[d], d, b, k);
                }
            };
            for b in 0..N {
                for r in 0..N {
                    let row = (self.layers[d][b] >> (r * SIDE) as u32) & W::of(Layout::<N>::ROW);
                    let mut n = 0;
                    let mut at = 0;
                    for k in Bits(row) {
                        n += 1;
                        let kk = k + (r * SIDE) as u32;
                        at = kk;
                        cols[k as usize] += 1;
                        where_c[k as usize] = (b, kk);
                        let bx = b * N + k as usize / N;
                        boxes[bx] += 1;
                        where_b[bx] = (b, kk);
                    }
                    if mode & 1 == 0 { see(n, b, at); }
                }
            }
            for k in 0..SIDE {
                if mode & 1 == 0 { see(cols[k], where_c[k].0, where_c[k].1); }
                if mode & 2 == 0 { see(boxes[k], where_b[k].0, where_b[k].1); }
            }
        }
        if mode & 4 != 0 && best.0 > 2 { best.0 = u32::MAX; }
        for b in 0..N {
            for k in Bits(W::of(Layout::<N>::BAND) & !self.filled[b]) {
                let mut count = 0;
                let mut first = 0;
                for d in (0..SIDE).rev() {
                    if self.has(d, b, k) {
                        count += 1;
                        first = d;
                    }
                }
                let weight = w.cells[b * N * SIDE + k as usize];
                if count < best.0 || count == best.0 && weight > best.1 {
                    best = (count, weight, first, b, k);
                }
            }
        }
        (best.2, best.3, best.4)
    }

    #[cold]
    fn blame(&self, w: &mut Weights<SIDE>) {
        let row = W::of(Layout::<N>::ROW);
        if self.failed == u32::MAX {
            for b in 0..N {
                let mut once = W::ZERO;
                for layer in &self.layers {
                    once |= layer[b];
                }
                for k in Bits(W::of(Layout::<N>::BAND) & !once) {
                    w.cells[b * N * SIDE + k as usize] += w.ca;
                }
            }
            return;
        }
        let d = self.failed as usize;
        w.digits[d] += 1;
        let mut columns = W::ZERO;
        for word in &self.layers[d] {
            columns |= gather::<W, N>(*word, SIDE).0 & row;
        }
        let empty_columns = row & !columns;
        for b in 0..N {
            let word = self.layers[d][b];
            let minirows = gather::<W, N>(word, 1).0 & W::of(Layout::<N>::MINIROWS);
            let boxes = gather::<W, N>(minirows, SIDE).0 & row;
            let empty_boxes = spread::<W, N>(W::of(Layout::<N>::MINIROWS) & row & !boxes, 1);
            let rows = gather::<W, N>(minirows, N).0 & W::of(Layout::<N>::ROWS);
            let empty_rows = W::of(Layout::<N>::ROWS) & !rows;
            let blamed = spread::<W, N>(empty_columns | empty_boxes, SIDE) | spread::<W, N>(spread::<W, N>(empty_rows, N), 1);
            for k in Bits(blamed) {
                w.cells[b * N * SIDE + k as usize] += 1;
            }
        }
    }

    fn write(&self, solution: &mut Grid) {
        let out = solution.digits_mut();
        for d in 0..SIDE {
            for b in 0..N {
                for k in Bits(self.layers[d][b]) {
                    out[b * N * SIDE + k as usize] = d as u8 + 1;
                }
            }
        }
    }
}

struct Weights<const SIDE: usize> {
    cells: Vec<u32>,
    digits: [u32; SIDE],
    ca: u32,
    mode: u32,
}

struct State<W, const N: usize, const SIDE: usize> {
    board: Board<W, N, SIDE>,
    stack: Vec<Board<W, N, SIDE>>,
    weights: Weights<SIDE>,
}

impl<W: Word, const N: usize, const SIDE: usize> State<W, N, SIDE> {
    fn new() -> Self {
        let ca = std::env::var("CA").ok().and_then(|m| m.parse().ok()).unwrap_or(3);
        let mode = std::env::var("MODE").ok().and_then(|m| m.parse().ok()).unwrap_or(0);
        Self { board: Board::new(), stack: Vec::with_capacity(SIDE * SIDE), weights: Weights { cells: vec![0; SIDE * SIDE], digits: [0; SIDE], ca, mode } }
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
                if metrics.guesses == 0 {
                    self.weights.cells.fill(0);
                    self.weights.digits.fill(0);
                }
                let (d, b, k) = self.board.choose(&self.weights);
                let bit = W::of(1) << k;
                self.stack.push(self.board);
                let top = self.stack.last_mut().unwrap();
                top.layers[d][b] &= !bit;
                top.touched = 1 << d;
                top.pending = 1 << d;
                state = restrict::<W, N>(self.board.layers[d][b], bit).map(|w| self.board.layers[d][b] = w);
                self.board.touched = 1 << d;
                self.board.pending = 1 << d;
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
            if state.is_err() {
                self.board.blame(&mut self.weights);
            }
            self.board = board;
            state = Ok(());
            metrics.backtracks += 1;
        }
    }
}
