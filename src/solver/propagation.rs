//! Propagation (first working version).

use std::fmt::Debug;
use std::ops::{Add, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, Not, Shl, Shr, Sub};

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
            1 => Box::new(State::<u32, 1, 1, 4, 4>::new()),
            2 => Box::new(State::<u32, 2, 4, 4, 4>::new()),
            3 => Box::new(State::<u32, 3, 9, 12, 4>::new()),
            4 => Box::new(State::<u64, 4, 16, 16, 4>::new()),
            _ => Box::new(State::<u128, 5, 25, 25, 1>::new()),
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
    + BitXor<Output = Self>
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
    fn minus(self, other: Self) -> Self;
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
            fn minus(self, other: Self) -> Self { self.wrapping_sub(other) }
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
const SELF: u32 = 1;

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

#[inline(always)]
fn fill<W: Word, const N: usize>(low: W) -> W {
    (low << N as u32).minus(low)
}
const ONCE: bool = false;

struct Closed<W> {
    kept: W,
    /// I: those alone in i direction (over steps of a side).
    lone_i: W,
    lone_j: W,
    clash: W,
}

/// One step. i: stride SIDE, j: stride `step`.
#[inline(always)]
fn close_matrices<W: Word, const N: usize>(m: W, step: usize) -> Closed<W> {
    let side = Layout::<N>::SIDE;
    let i_low = W::of(Layout::<N>::ROW);
    let j_low = W::of(if step == 1 { Layout::<N>::MINIROWS } else { Layout::<N>::ROWS * Layout::<N>::MINIROW });
    let (once_i, twice_i) = gather::<W, N>(m, side);
    let (once_j, twice_j) = gather::<W, N>(m, step);
    let lone_i = i_low & !twice_i;
    let lone_j = j_low & !twice_j;
    let mark_i = m & spread::<W, N>(lone_i, side);
    let mark_j = m & spread::<W, N>(lone_j, step);
    let (hit_j, clash_j) = gather::<W, N>(mark_i, step);
    let (hit_i, clash_i) = gather::<W, N>(mark_j, side);
    let clash = ((clash_j | !once_j) & j_low) | ((clash_i | !once_i) & i_low);
    let kept = m & (mark_i | !spread::<W, N>(hit_j & j_low, step)) & (mark_j | !spread::<W, N>(hit_i & i_low, side));
    Closed { kept, lone_i, lone_j, clash }
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
struct Board<W, const N: usize, const SIDE: usize, const LANES: usize, const G: usize> {
    layers: [[W; LANES]; N],
    placed: [[W; LANES]; N],
    filled: [W; N],
    /// groups whose layer was changed from outside
    touched: u32,
    /// groups to look at
    pending: u32,
    failed: u32,
}

impl<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const G: usize> Board<W, N, SIDE, LANES, G> {
    const ALL: u32 = ((1u64 << (LANES / G)) - 1) as u32;

    fn new() -> Self {
        let mut board = Self { layers: [[W::ZERO; LANES]; N], placed: [[W::ZERO; LANES]; N], filled: [W::ZERO; N], touched: 0, pending: 0, failed: 0 };
        for b in 0..N {
            for d in SIDE..LANES {
                for r in 0..N {
                    board.layers[b][d] |= W::of(1) << (r * SIDE + r * N + b) as u32;
                }
                board.placed[b][d] = board.layers[b][d];
            }
        }
        board
    }

    fn load(&mut self, digits: &[u8]) -> Result<(), Clash> {
        *self = Self::new();
        for (band, digits) in digits.chunks_exact(SIDE * N).enumerate() {
            for (k, &digit) in digits.iter().enumerate() {
                if digit != 0 {
                    let bit = W::of(1) << k as u32;
                    self.placed[band][usize::from(digit) - 1] |= bit;
                    self.filled[band] |= bit;
                }
            }
        }
        self.touched = Self::ALL;
        self.pending = Self::ALL;
        for b in 0..N {
            for d in 0..SIDE {
                self.layers[b][d] = restrict::<W, N>(W::of(Layout::<N>::BAND), self.placed[b][d])?;
            }
        }
        Ok(())
    }

    #[inline(always)]
    fn rows_step(layers: &mut [[W; G]; N], lone: &mut [W; G]) -> (W, W) {
        let minirows = W::of(Layout::<N>::MINIROWS);
        let (mut moved, mut clash) = (W::ZERO, W::ZERO);
        for i in 0..G {
            let mut m = W::ZERO;
            for b in 0..N {
                m |= (gather::<W, N>(layers[b][i], 1).0 & minirows) << b as u32;
            }
            let rows = close_matrices::<W, N>(m, N);
            moved |= rows.kept ^ m;
            clash |= rows.clash;
            lone[i] = rows.lone_i;
            for b in 0..N {
                layers[b][i] &= fill::<W, N>((rows.kept >> b as u32) & minirows);
            }
        }
        (moved, clash)
    }

    #[inline(always)]
    fn columns_step(layers: &mut [[W; G]; N], lone: &mut [W; G]) -> (W, W) {
        let row = W::of(Layout::<N>::ROW);
        let (mut moved, mut clash) = (W::ZERO, W::ZERO);
        for i in 0..G {
            let mut m = W::ZERO;
            for b in 0..N {
                m |= (gather::<W, N>(layers[b][i], SIDE).0 & row) << (b * SIDE) as u32;
            }
            let columns = close_matrices::<W, N>(m, 1);
            moved |= columns.kept ^ m;
            clash |= columns.clash;
            lone[i] = columns.lone_j;
            for b in 0..N {
                let low = (columns.kept >> (b * SIDE) as u32) & row;
                layers[b][i] &= spread::<W, N>(low, SIDE);
            }
        }
        (moved, clash)
    }

    #[inline(always)]
    fn close_group(layers: &mut [[W; G]; N], lone_i: &mut [W; G], lone_j: &mut [W; G]) -> Result<(), Clash> {
        let mut still = false;
        loop {
            let (moved, clash) = Self::rows_step(layers, lone_i);
            if clash != W::ZERO {
                return Err(Clash);
            }
            if moved == W::ZERO && still {
                return Ok(());
            }
            still = moved == W::ZERO;
            let (moved, clash) = Self::columns_step(layers, lone_j);
            if clash != W::ZERO {
                return Err(Clash);
            }
            if moved == W::ZERO && still {
                return Ok(());
            }
            still = moved == W::ZERO;
        }
    }

    #[inline(never)]
    fn close(&mut self, g: usize) -> Result<(), Clash> {
        let base = g * G;
        let mut changed = W::ZERO;
        let mut layers = [[W::ZERO; G]; N];
        let mut placed = [[W::ZERO; G]; N];
        for b in 0..N {
            layers[b].copy_from_slice(&self.layers[b][base..base + G]);
            placed[b].copy_from_slice(&self.placed[b][base..base + G]);
            for i in 0..G {
                let taken = layers[b][i] & self.filled[b] & !placed[b][i];
                changed |= taken;
                layers[b][i] &= !taken;
            }
        }
        if changed == W::ZERO && self.touched & (1 << g) == 0 {
            return Ok(());
        }
        let mut lone_i = [W::ZERO; G];
        let mut lone_j = [W::ZERO; G];
        let closed = Self::close_group(&mut layers, &mut lone_i, &mut lone_j);
        for b in 0..N {
            self.layers[b][base..base + G].copy_from_slice(&layers[b]);
        }
        if closed.is_err() {
            self.failed = g as u32;
            return Err(Clash);
        }
        let box_low = W::of(Layout::<N>::MINIROWS & Layout::<N>::ROW);
        let mut news = [W::ZERO; N];
        for i in 0..G {
            for b in 0..N {
                let boxes = (lone_i[i] >> b as u32) & (lone_j[i] >> (b * SIDE) as u32) & box_low;
                let single = layers[b][i] & spread::<W, N>(fill::<W, N>(boxes), SIDE);
                news[b] |= single & !placed[b][i];
                placed[b][i] = single;
            }
        }
        let mut any = W::ZERO;
        for b in 0..N {
            self.placed[b][base..base + G].copy_from_slice(&placed[b]);
            any |= news[b];
            self.filled[b] |= news[b];
        }
        self.touched &= !(1 << g);
        if any != W::ZERO {
            self.pending = if G > 1 { Self::ALL } else { Self::ALL & !(1 << g) };
        }
        Ok(())
    }

    fn propagate(&mut self) -> Result<(), Clash> {
        loop {
            while self.pending != 0 {
                let mut round = self.pending;
                while round != 0 {
                    let g = round.trailing_zeros() as usize;
                    self.pending &= !(1 << g);
                    self.close(g)?;
                    round = self.pending & (u32::MAX << g << SELF);
                }
            }
            self.naked()?;
            if self.pending == 0 {
                return Ok(());
            }
        }
    }

    fn naked(&mut self) -> Result<(), Clash> {
        for b in 0..N {
            let (mut once, mut twice) = (W::ZERO, W::ZERO);
            for &layer in &self.layers[b][..SIDE] {
                twice |= once & layer;
                once |= layer;
            }
            if once != W::of(Layout::<N>::BAND) || twice & self.filled[b] != W::ZERO {
                self.failed = u32::MAX;
                return Err(Clash);
            }
            let naked = !twice & once & !self.filled[b];
            if naked != W::ZERO {
                for d in 0..SIDE {
                    let mine = self.layers[b][d] & naked;
                    if mine != W::ZERO {
                        self.failed = (d / G) as u32;
                        self.layers[b][d] = restrict::<W, N>(self.layers[b][d], mine)?;
                        self.touched |= 1 << (d / G);
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
        (self.layers[b][d] >> k) & W::of(1) != W::ZERO
    }

    fn choose(&self, w: &Weights<SIDE>) -> (usize, usize, u32) {
        let mut best = (-1i64, 0, 0);
        for b in 0..N {
            let (mut two, mut three, mut one) = (W::ZERO, W::ZERO, W::ZERO);
            for &layer in &self.layers[b][..SIDE] {
                three |= two & layer;
                two |= one & layer;
                one |= layer;
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
                    let row = (self.layers[b][d] >> (r * SIDE) as u32) & W::of(Layout::<N>::ROW);
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
                for &layer in &self.layers[b][..SIDE] {
                    once |= layer;
                }
                for k in Bits(W::of(Layout::<N>::BAND) & !once) {
                    w.cells[b * N * SIDE + k as usize] += w.ca;
                }
            }
            return;
        }
        for d in (self.failed as usize * G)..((self.failed as usize + 1) * G).min(SIDE) {
        let mut columns = W::ZERO;
        for b in 0..N {
            columns |= gather::<W, N>(self.layers[b][d], SIDE).0 & row;
        }
        let mut any = false;
        let empty_columns = row & !columns;
        for b in 0..N {
            let word = self.layers[b][d];
            let minirows = gather::<W, N>(word, 1).0 & W::of(Layout::<N>::MINIROWS);
            let boxes = gather::<W, N>(minirows, SIDE).0 & row;
            let empty_boxes = spread::<W, N>(W::of(Layout::<N>::MINIROWS) & row & !boxes, 1);
            let rows = gather::<W, N>(minirows, N).0 & W::of(Layout::<N>::ROWS);
            let empty_rows = W::of(Layout::<N>::ROWS) & !rows;
            let blamed = spread::<W, N>(empty_columns | empty_boxes, SIDE) | spread::<W, N>(spread::<W, N>(empty_rows, N), 1);
            for k in Bits(blamed) {
                w.cells[b * N * SIDE + k as usize] += 1;
                any = true;
            }
        }
        if any || G == 1 { w.digits[d] += 1; }
        }
    }

    fn write(&self, solution: &mut Grid) {
        let out = solution.digits_mut();
        for d in 0..SIDE {
            for b in 0..N {
                for k in Bits(self.layers[b][d]) {
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

struct State<W, const N: usize, const SIDE: usize, const LANES: usize, const G: usize> {
    board: Board<W, N, SIDE, LANES, G>,
    stack: Vec<Board<W, N, SIDE, LANES, G>>,
    weights: Weights<SIDE>,
}

impl<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const G: usize> State<W, N, SIDE, LANES, G> {
    fn new() -> Self {
        let ca = std::env::var("CA").ok().and_then(|m| m.parse().ok()).unwrap_or(3);
        let mode = std::env::var("MODE").ok().and_then(|m| m.parse().ok()).unwrap_or(0);
        Self { board: Board::new(), stack: Vec::with_capacity(SIDE * SIDE), weights: Weights { cells: vec![0; SIDE * SIDE], digits: [0; SIDE], ca, mode } }
    }
}

impl<W: Word, const N: usize, const SIDE: usize, const LANES: usize, const G: usize> Solver for State<W, N, SIDE, LANES, G> {
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
                top.layers[b][d] &= !bit;
                top.touched = 1 << (d / G);
                top.pending = 1 << (d / G);
                state = restrict::<W, N>(self.board.layers[b][d], bit).map(|w| self.board.layers[b][d] = w);
                self.board.touched = 1 << (d / G);
                self.board.pending = 1 << (d / G);
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
