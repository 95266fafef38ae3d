//! Inference: the sliced state of all lanes, and one pass of inference over it.
//!
//! The state is *sliced*: each of the 729 candidates is one word with a bit for each lane, so rules
//! are Boolean algebra between words, without shifts or branches.
//!
//! A *minirow* is the three cells where a row meets a box, a *minicolumn* the three where a column
//! meets one. A band has nine minirows. A digit is in three of them, one in each row and each box,
//! which is one of six permutations. A minirow that is in none of the permutations still possible
//! cannot hold the digit. The same holds for a stack and its minicolumns. This one rule covers
//! locked candidates in both directions, and hidden singles down to the minirow. A cell is a hidden
//! single of its box if its minirow and its minicolumn are the only ones left there; a hidden
//! single of a row or column is one of its box as soon as the rule has been applied.
//!
//! Everything here must be inlined into the one function of a back end that is compiled for its
//! instructions. The compiler guarantees that only for functions marked `inline(always)`: hence no
//! closures over words and no iterator adapters.
//!
//! The rule comes from tdoku (T. Dillon, 2019), which applies it within a vector for one puzzle.

use std::sync::atomic::{Ordering, compiler_fence};

use super::packing::{CANDIDATES, SlicedPlanes};
use super::word::Word;

/// The search state of all lanes, sliced.
#[repr(align(64))]
pub(super) struct SlicedState<W> {
    /// The candidates: `81 * digit + cell`.
    pub(super) candidates: [W; CANDIDATES],
    /// The cells with one candidate, as of the last [`Self::look_at_cells`].
    pub(super) singles: [W; 81],
    /// The cells that hidden singles have taken in this pass so far.
    taken: [W; 81],
    scratch: Scratch<W>,
    /// The lanes without a contradiction so far.
    pub(super) alive: W,
    /// The lanes in which something has changed since the last [`Self::look_at_cells`].
    pub(super) changed: W,
    /// The lanes with a cell of several candidates, as of the last [`Self::look_at_cells`].
    pub(super) open: W,
    /// Whether the next pass goes through the digits upwards.
    pub(super) upwards: bool,
}

/// What the rows of a band leave for its columns, by `9 * band + ...`.
struct Scratch<W> {
    /// The minirows that are possible: `3 * row + box`.
    minirows: [W; 27],
    /// The minicolumns that have a candidate: by column.
    minicolumns: [W; 27],
    /// The minicolumns that hold a single: by column.
    single_minicolumns: [W; 27],
}

/// Which of the six permutations are possible, in this order: the boxes of the first, second and
/// third row are 012, 120, 201, 021, 102 and 210.
#[inline(always)]
pub(super) fn six_permutations<W: Word>(lines: &[W; 9]) -> [W; 6] {
    [
        W::and3(lines[0], lines[4], lines[8]),
        W::and3(lines[1], lines[5], lines[6]),
        W::and3(lines[2], lines[3], lines[7]),
        W::and3(lines[0], lines[5], lines[7]),
        W::and3(lines[1], lines[3], lines[8]),
        W::and3(lines[2], lines[4], lines[6]),
    ]
}

/// The lines (minirows, or minicolumns) that are in a possible permutation, and whether there is
/// any. A band has three rows of three minirows each, a stack three boxes of three minicolumns
/// each.
#[inline(always)]
fn permutations<W: Word>(lines: &[W; 9]) -> ([W; 9], W) {
    let [p012, p120, p201, p021, p102, p210] = six_permutations(lines);
    let left = [
        p012.or(p021), // first row, first box
        p120.or(p102),
        p201.or(p210),
        p201.or(p102),
        p012.or(p210),
        p120.or(p021),
        p120.or(p210),
        p201.or(p021),
        p012.or(p102),
    ];
    (left, W::or3(left[0], left[1], left[2]))
}

/// [`permutations`] where `singles` are the lines with a decided cell, which leave no other line in
/// their row.
#[inline(always)]
fn permutations_with_singles<W: Word>(lines: &[W; 9], singles: &[W; 9]) -> ([W; 9], W) {
    let mut possible = *lines;
    for row in [0, 3, 6] {
        for i in 0..3 {
            let (next, last) = (singles[row + (i + 1) % 3], singles[row + (i + 2) % 3]);
            possible[row + i] = W::and_nor(lines[row + i], next, last);
        }
    }
    permutations(&possible)
}

impl<W: Word> SlicedState<W> {
    pub(super) fn new() -> Box<Self> {
        let none = W::splat(0);
        Box::new(Self {
            candidates: [none; CANDIDATES],
            singles: [none; 81],
            taken: [none; 81],
            scratch: Scratch {
                minirows: [none; 27],
                minicolumns: [none; 27],
                single_minicolumns: [none; 27],
            },
            alive: none,
            changed: none,
            open: none,
            upwards: true,
        })
    }

    /// Begins a puzzle in some lanes: its clues, and all digits in its blanks.
    #[inline(always)]
    pub(super) fn begin(&mut self, lanes: W, planes: &SlicedPlanes<W>) {
        for cell in 0..81 {
            let [ones, twos] = [planes[cell], planes[81 + cell]];
            let [fours, eights] = [planes[162 + cell], planes[243 + cell]];
            let low = [W::and_nor(lanes, ones, twos), ones.and_not(twos), twos.and_not(ones), ones.and(twos)];
            let high = [W::and_nor(lanes, fours, eights), fours, eights];
            let blank = low[0].and(high[0]);
            for digit in 0..9 {
                let candidate = &mut self.candidates[81 * digit + cell];
                let value = digit + 1;
                let new = W::or_and(blank, low[value % 4], high[value / 4]);
                *candidate = W::select(lanes, new, *candidate);
            }
        }
        self.alive = self.alive.or(lanes);
    }

    /// The planes of the solutions, in the lanes that have one: the inverse of [`Self::begin`].
    #[inline(always)]
    pub(super) fn solutions(&self, planes: &mut SlicedPlanes<W>) {
        for cell in 0..81 {
            let mut x = [W::splat(0); 10];
            for digit in 0..9 {
                x[digit + 1] = self.candidates[81 * digit + cell];
            }
            planes[cell] = W::or3(W::or3(x[1], x[3], x[5]), x[7], x[9]);
            planes[81 + cell] = W::or3(x[2], x[3], x[6]).or(x[7]);
            planes[162 + cell] = W::or3(x[4], x[5], x[6]).or(x[7]);
            planes[243 + cell] = x[8].or(x[9]);
        }
    }

    /// Finds the cells without a candidate, which end a lane, and those with one.
    ///
    /// On entry `changed` has the lanes in which the last pass changed a minirow or minicolumn, on
    /// return those in which it changed anything. A hidden single shows as a cell that has become a
    /// single or is about to.
    #[inline(always)]
    pub(super) fn look_at_cells(&mut self) {
        let (mut alive, mut changed, mut open) = (self.alive, self.changed, W::splat(0));
        for cell in 0..81 {
            // At least one and at least two candidates of three digits, then of all nine.
            let (one0, two0) = one_and_two(&self.candidates, cell);
            let (one1, two1) = one_and_two(&self.candidates, 3 * 81 + cell);
            let (one2, two2) = one_and_two(&self.candidates, 6 * 81 + cell);
            let one = W::or3(one0, one1, one2);
            let two = W::or3(two0, two1, two2).or(W::majority(one0, one1, one2));
            let single = one.and_not(two);
            alive = alive.and(one);
            open = open.or(two);
            changed = W::or_xor(changed, single, self.singles[cell]);
            changed = W::or_and(changed, two, self.taken[cell]);
            self.singles[cell] = single;
        }
        (self.alive, self.changed, self.open) = (alive, changed, open);
    }

    /// Checks the lanes without an open cell: those with a place for every digit in every house are
    /// solved, the others have a contradiction. A pass would find the same, but takes ten times as
    /// long.
    #[inline(always)]
    pub(super) fn check_closed(&mut self) {
        let mut complete = W::splat(!0);
        for cells in self.candidates.as_chunks::<81>().0 {
            for band in 0..3 {
                let mut minirows = [W::splat(0); 9];
                for i in 0..9 {
                    let cell = 27 * band + 3 * i;
                    minirows[i] = W::or3(cells[cell], cells[cell + 1], cells[cell + 2]);
                }
                for i in 0..3 {
                    let row = W::or3(minirows[3 * i], minirows[3 * i + 1], minirows[3 * i + 2]);
                    complete = W::and3(complete, row, W::or3(minirows[i], minirows[3 + i], minirows[6 + i]));
                }
            }
            for column in 0..9 {
                let mut any = W::splat(0);
                for row in [0, 2, 4, 6] {
                    any = W::or3(any, cells[9 * row + column], cells[9 * row + 9 + column]);
                }
                complete = complete.and(any.or(cells[72 + column]));
            }
        }
        self.alive = self.alive.and(complete.or(self.open));
    }

    /// One pass over the digits: singles clear their houses, permutations rule out lines of bands
    /// and stacks, hidden singles take their cells.
    ///
    /// What a hidden single takes from the digits before its own is left to the next pass, which
    /// goes in the other direction.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        self.changed = W::splat(0);
        self.digit::<true>(if self.upwards { 0 } else { 8 });
        for i in 1..9 {
            self.digit::<false>(if self.upwards { i } else { 8 - i });
        }
        self.upwards = !self.upwards;
    }

    #[inline(always)]
    fn digit<const IS_FIRST: bool>(&mut self, digit: usize) {
        let (digits, _) = self.candidates.as_chunks_mut::<81>();
        let mut work = DigitPass::<_, IS_FIRST> {
            cells: &mut digits[digit],
            singles: &self.singles,
            taken: &mut self.taken,
            scratch: &mut self.scratch,
            alive: self.alive,
            changed: self.changed,
        };
        // Unrolled by hand, because the compiler does not unroll loops of this size, and each index
        // that is no constant costs a store and a load.
        work.band(0);
        work.band(1);
        work.band(2);
        work.stack(0);
        work.stack(1);
        work.stack(2);
        (self.alive, self.changed) = (work.alive, work.changed);
    }
}

/// One digit's part of a pass.
struct DigitPass<'a, W, const IS_FIRST: bool> {
    cells: &'a mut [W; 81],
    singles: &'a [W; 81],
    taken: &'a mut [W; 81],
    scratch: &'a mut Scratch<W>,
    alive: W,
    changed: W,
}

impl<W: Word, const IS_FIRST: bool> DigitPass<'_, W, IS_FIRST> {
    #[inline(always)]
    fn band(&mut self, band: usize) {
        let none = W::splat(0);
        let mut minirows = [none; 9];
        let mut single_minirows = [none; 9];
        self.lines_of_box(band, 0, &mut minirows, &mut single_minirows);
        self.lines_of_box(band, 1, &mut minirows, &mut single_minirows);
        self.lines_of_box(band, 2, &mut minirows, &mut single_minirows);
        let (left, any) = permutations_with_singles(&minirows, &single_minirows);
        self.alive = self.alive.and(any);
        for i in 0..9 {
            self.scratch.minirows[9 * band + i] = left[i];
        }
        // Columns work on what rows have left. The cells themselves are written once, by `stack`.
        for stack in 0..3 {
            for column in 0..3 {
                let mut minicolumn = none;
                for row in 0..3 {
                    let cell = cell_of_box(band, stack, 3 * row + column);
                    minicolumn = W::or_and(minicolumn, self.cells[cell], left[3 * row + stack]);
                }
                self.scratch.minicolumns[9 * band + 3 * stack + column] = minicolumn;
            }
        }
    }

    /// Applies the hidden singles of earlier digits to a box, and finds its minirows and
    /// minicolumns.
    #[inline(always)]
    fn lines_of_box(
        &mut self,
        band: usize,
        stack: usize,
        minirows: &mut [W; 9],
        single_minirows: &mut [W; 9],
    ) {
        let mut x = [W::splat(0); 9];
        let mut single = [W::splat(0); 9];
        for i in 0..9 {
            let cell = cell_of_box(band, stack, i);
            x[i] = self.cells[cell];
            if !IS_FIRST {
                x[i] = x[i].and_not(self.taken[cell]);
                self.cells[cell] = x[i];
            }
            single[i] = x[i].and(self.singles[cell]);
        }
        for i in 0..3 {
            minirows[3 * i + stack] = W::or3(x[3 * i], x[3 * i + 1], x[3 * i + 2]);
            single_minirows[3 * i + stack] = W::or3(single[3 * i], single[3 * i + 1], single[3 * i + 2]);
            self.scratch.single_minicolumns[9 * band + 3 * stack + i] =
                W::or3(single[i], single[3 + i], single[6 + i]);
        }
        scheduling_fence();
    }

    #[inline(always)]
    fn stack(&mut self, stack: usize) {
        let minicolumns = of_stack(&self.scratch.minicolumns, stack);
        let single_minicolumns = of_stack(&self.scratch.single_minicolumns, stack);
        let (left, any) = permutations_with_singles(&minicolumns, &single_minicolumns);
        self.alive = self.alive.and(any);
        self.cells_of_box(0, stack, &left);
        self.cells_of_box(1, stack, &left);
        self.cells_of_box(2, stack, &left);
    }

    /// Writes back the cells of a box, and finds its hidden singles.
    #[inline(always)]
    fn cells_of_box(&mut self, band: usize, stack: usize, minicolumns: &[W; 9]) {
        let minirows = &self.scratch.minirows[9 * band..];
        let rows = [minirows[stack], minirows[3 + stack], minirows[6 + stack]];
        let columns = [minicolumns[3 * band], minicolumns[3 * band + 1], minicolumns[3 * band + 2]];
        let only_row = alone(&rows);
        let only_column = alone(&columns);
        for row in 0..3 {
            for column in 0..3 {
                let cell = cell_of_box(band, stack, 3 * row + column);
                let old = self.cells[cell];
                let new = W::and3(old, rows[row], columns[column]);
                self.cells[cell] = new;
                // A line that is ruled out has lost a cell. Comparing lines would take fewer
                // instructions, but more registers.
                self.changed = W::or_xor(self.changed, old, new);
                self.taken[cell] = if IS_FIRST {
                    only_row[row].and(only_column[column])
                } else {
                    W::or_and(self.taken[cell], only_row[row], only_column[column])
                };
            }
            scheduling_fence();
        }
    }
}

/// Makes the compiler finish one box, or one row of a box, before it begins the next. Without the
/// fence it loads far ahead and runs out of registers: a hundred words a digit were spilled, and a
/// pass took a sixth to a third longer. The fence itself is no instruction.
#[inline(always)]
fn scheduling_fence() {
    compiler_fence(Ordering::SeqCst);
}

/// The lanes in which a cell has at least one, and at least two, of three digits.
#[inline(always)]
fn one_and_two<W: Word>(candidates: &[W; CANDIDATES], first: usize) -> (W, W) {
    let [a, b, c] = [candidates[first], candidates[first + 81], candidates[first + 162]];
    (W::or3(a, b, c), W::majority(a, b, c))
}

/// For each of three: the lanes in which it alone is set.
#[inline(always)]
fn alone<W: Word>(three: &[W; 3]) -> [W; 3] {
    let [a, b, c] = *three;
    [W::and_nor(a, b, c), W::and_nor(b, a, c), W::and_nor(c, a, b)]
}

/// The nine minicolumns of a stack, three columns for each band.
#[inline(always)]
fn of_stack<W: Word>(lines: &[W; 27], stack: usize) -> [W; 9] {
    let mut of_stack = [W::splat(0); 9];
    for (i, line) in of_stack.iter_mut().enumerate() {
        *line = lines[i / 3 * 9 + 3 * stack + i % 3];
    }
    of_stack
}

/// Cell `i`, in reading order, of the box where a band meets a stack.
#[inline(always)]
const fn cell_of_box(band: usize, stack: usize, i: usize) -> usize {
    27 * band + 9 * (i / 3) + 3 * stack + i % 3
}

#[cfg(test)]
mod tests {
    use super::super::testing::{CellCandidates, LANES, begin, exhaust, has, known_puzzles, lane, only};
    use super::*;
    use crate::grid::{Cell, Grid, Order};
    use crate::testing::Random;

    /// The known puzzles, in turns, one in each lane.
    fn puzzles() -> Vec<[u8; 81]> {
        known_puzzles().iter().map(|known| known.digits).cycle().take(LANES).collect()
    }

    /// An inference that was missed, found cell by cell and house by house.
    fn left_over(cells: &CellCandidates) -> Option<String> {
        let houses: Vec<Vec<usize>> =
            Order::NINE.houses().map(|house| house.cells(Order::NINE).map(Cell::index).collect()).collect();
        for (number, house) in houses.iter().enumerate() {
            for &cell in house {
                if let [digit] = cells[cell][..]
                    && let Some(peer) = house.iter().find(|&&p| p != cell && cells[p].contains(&digit))
                {
                    return Some(format!("naked single {digit} at {cell} has left {peer}"));
                }
            }
            for digit in 0..9 {
                let places: Vec<usize> =
                    house.iter().copied().filter(|&cell| cells[cell].contains(&digit)).collect();
                match places[..] {
                    [] => return Some(format!("no place for {digit} in house {number}")),
                    [cell] if cells[cell].len() > 1 => {
                        return Some(format!("hidden single {digit} at {cell} in house {number}"));
                    }
                    _ => (),
                }
                for (other, cells_there) in houses.iter().enumerate().filter(|&(other, _)| other != number) {
                    if places.iter().all(|place| cells_there.contains(place))
                        && let Some(cell) =
                            cells_there.iter().find(|c| !places.contains(c) && cells[**c].contains(&digit))
                    {
                        return Some(format!("{digit} is locked in {number} and {other} and left in {cell}"));
                    }
                }
            }
        }
        None
    }

    #[test]
    fn nothing_that_passes_promise_is_left_at_a_stall() {
        let mut state = begin(&puzzles());
        let (mut stalls, mut dead, mut random) = (0, 0, Random(12345));
        for _ in 0..6 {
            exhaust(&mut state);
            for k in 0..LANES {
                if !has(state.alive, k) {
                    dead += 1;
                    continue;
                }
                let cells = lane(&state.candidates, k);
                assert_eq!(left_over(&cells), None, "lane {k}: {cells:?}");
                stalls += usize::from(has(state.open, k));
            }
            // On to other states: each lane loses some candidate, whatever that leads to.
            for k in 0..LANES {
                let open: Vec<usize> = (0..81).filter(|&c| lane(&state.candidates, k)[c].len() > 1).collect();
                if open.is_empty() {
                    continue;
                }
                let cell = open[random.below(open.len())];
                let digit = lane(&state.candidates, k)[cell][random.below(2)];
                let candidate = &mut state.candidates[81 * digit + cell];
                *candidate = candidate.and_not(only([k]));
            }
        }
        assert!(stalls > LANES && dead > 0, "{stalls} stalls, {dead} contradictions");
    }

    /// Whichever kind of house lacks a digit while each cell has one, and whatever the neighbouring
    /// lanes hold.
    #[test]
    fn lanes_without_an_open_cell_are_alive_only_if_every_house_is_complete() {
        let solution: Vec<u8> =
            "534678912672195348198342567859761423426853791713924856961537284287419635345286179"
                .bytes()
                .map(|byte| byte - b'0')
                .collect();
        let exchanged = |pairs: &[(usize, usize)]| {
            let mut digits = solution.clone();
            for &(a, b) in pairs {
                digits.swap(a, b);
            }
            <[u8; 81]>::try_from(digits).unwrap()
        };
        let rows: Vec<_> = (0..9).map(|column| (column, 27 + column)).collect();
        let kinds = [
            (exchanged(&[]), true),
            (exchanged(&[(0, 9)]), false),   // rows
            (exchanged(&[(0, 1)]), false),   // columns
            (exchanged(&rows), false),       // boxes
            (exchanged(&[(72, 80)]), false), // columns and boxes
            ([0; 81], true),                 // not closed, so it is left alone
        ];
        let grids: Vec<[u8; 81]> = (0..LANES).map(|k| kinds[k % kinds.len()].0).collect();
        let mut state = begin(&grids);
        state.look_at_cells();
        state.check_closed();
        for k in 0..LANES {
            let (grid, is_alive) = &kinds[k % kinds.len()];
            assert_eq!(has(state.alive, k), *is_alive, "{grid:?}");
        }
    }

    #[test]
    fn a_solution_is_never_ruled_out() {
        let puzzles = puzzles();
        let mut solver = crate::solver::strategy("propagation").unwrap().solver(Order::NINE);
        let never = std::sync::atomic::AtomicBool::new(false);
        let limit = crate::solver::Limit { solutions: 1, nodes: 100_000, cancel: &never };
        let mut state = begin(&puzzles);
        exhaust(&mut state);
        for (k, puzzle) in puzzles.iter().enumerate() {
            let (puzzle, mut solution) = (Grid::from_digits(Order::NINE, puzzle), Grid::empty(Order::NINE));
            if solver.search(&puzzle, &limit, &mut solution).solutions == 0 {
                continue;
            }
            assert!(has(state.alive, k), "{puzzle:?}");
            for (cell, candidates) in lane(&state.candidates, k).iter().enumerate() {
                assert!(
                    candidates.contains(&usize::from(solution.digits()[cell] - 1)),
                    "{puzzle:?} at {cell}"
                );
            }
        }
    }
}
