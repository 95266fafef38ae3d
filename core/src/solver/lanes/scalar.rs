//! The scalar search: the search of the kernel for one puzzle at a time, on 32-bit words.
//!
//! It visits the same search states as a single lane, in the same order: it finds the same singles,
//! locked candidates and triads before each guess, and guesses by the rule of
//! [`branch`](super::branch). Inference only removes candidates, so its fixed point does not depend
//! on the order of inferences, and neither does the guess. Hence a puzzle takes as many nodes here
//! as in the kernel, under any limit, and has the same first solution: for a few puzzles this
//! search replaces the kernel, and only the time differs.
//!
//! The inference is that of [`propagation`](crate::solver::Propagation). Triads and the choice of a
//! guess work on all minirows, or all minicolumns, of a digit as one word of 27 bits:
//!
//! ```text
//! minirows      bit 9 * row in the band + 3 * box + band   neighbours in the row:    + 3, within 9
//! minicolumns   bit 9 * band + column                      neighbours in the column: + 9, within 27
//! ```

use crate::grid::{Grid, Order};
use crate::simd::{SimdTask, dispatch};
use crate::solver::propagation::Board;
use crate::solver::watch::{Watch, Watchable};
use crate::solver::{Limit, Metrics, Search, Stop};

/// The candidates of a 9x9 puzzle, closed four digits at a time.
type Nine = Board<u32, 3, 9, 12, 4>;

/// The minirows of a band's word, each at its first cell.
const MINIROWS: u32 = 0o111_111_111;
/// The cells of the first row of a band, or the first nine minicolumns.
const ROW: u32 = 0o777;
/// The first three of nine, in each of three groups.
const FIRST_THREE: u32 = 0o007_007_007;
/// All minirows, or all minicolumns.
const ALL: u32 = (1 << 27) - 1;

/// A contradiction: the board has no solution.
struct DeadEnd;

/// The solver of one worker. Reusing it costs no allocation.
///
/// A watcher can count with it, but gets no steps, because a guess here is not a digit in a cell.
pub(in crate::solver) struct Scalar {
    board: Nine,
    /// For each guess that stands, the board in which it is wrong.
    stack: Vec<Nine>,
}

/// For each digit, the minirows or minicolumns that have a candidate.
type MiniLines = [u32; 9];

/// A guess: of the minirows or minicolumns of a row or column, one holds the digit.
struct Guess {
    digit: usize,
    /// The band, or 3 and the stack.
    band: usize,
    /// The row of the band, or the column of the stack.
    row: usize,
    /// The box, counted along the band or stack.
    across: usize,
}

impl Scalar {
    pub(in crate::solver) fn new() -> Self {
        Self { board: Nine::new(), stack: Vec::with_capacity(Order::NINE.cells()) }
    }
}

impl Watchable for Scalar {
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        dispatch(ScalarTask { scalar: self, puzzle, limit, solution, watch })
    }
}

/// A search as a task, compiled for the widest vectors of the processor.
struct ScalarTask<'a, 'b, W> {
    scalar: &'a mut Scalar,
    puzzle: &'a Grid,
    limit: &'a Limit<'b>,
    solution: &'a mut Grid,
    watch: &'a mut W,
}

impl<W: Watch> SimdTask for ScalarTask<'_, '_, W> {
    type Output = Search;

    #[inline(always)]
    fn work(self) -> Search {
        let ScalarTask { scalar, puzzle, limit, solution, watch } = self;
        scalar.search_watched(puzzle, limit, solution, watch)
    }
}

impl Scalar {
    #[inline(always)]
    fn search_watched<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        assert_eq!(puzzle.order(), Order::NINE);
        let mut found = Search { metrics: Metrics { nodes: 1, ..Metrics::default() }, ..Search::NO_SOLUTION };
        let metrics = &mut found.metrics;
        self.stack.clear();
        let mut entered = self.board.load(puzzle.digits()).map_err(|_| DeadEnd);
        loop {
            if watch.is_cancelled(metrics.nodes, limit) {
                found.stop = Stop::Cancelled;
                return found;
            }
            match entered.and_then(|()| infer(&mut self.board, watch)) {
                Ok(Some(lines)) => {
                    let guess = choose(&lines);
                    metrics.guesses += 1;
                    if metrics.nodes >= limit.nodes {
                        found.stop = Stop::Nodes;
                        return found;
                    }
                    metrics.nodes += 1;
                    self.stack.push(self.board);
                    metrics.depth = metrics.depth.max(self.stack.len() as u64);
                    if let Some(other) = self.stack.last_mut() {
                        refuse(other, &guess);
                    }
                    follow(&mut self.board, &guess);
                    entered = Ok(());
                    continue;
                }
                Ok(None) => {
                    found.solutions += 1;
                    if found.solutions == 1 {
                        self.board.write(solution);
                    }
                    if found.solutions >= limit.solutions {
                        found.stop = Stop::Solutions;
                        return found;
                    }
                }
                Err(DeadEnd) => {}
            }
            let Some(other) = self.stack.pop() else { return found };
            if metrics.nodes >= limit.nodes {
                found.stop = Stop::Nodes;
                return found;
            }
            metrics.nodes += 1;
            metrics.backtracks += 1;
            self.board = other;
            entered = Ok(());
        }
    }
}

/// The minirows and minicolumns of a board that have a candidate.
struct AllMiniLines {
    minirows: MiniLines,
    minicolumns: MiniLines,
}

impl AllMiniLines {
    #[inline(always)]
    fn of(board: &Nine) -> Self {
        Self { minirows: minirows(board), minicolumns: minicolumns(board) }
    }
}

/// Applies singles, locked candidates and triads until nothing changes. Returns the lines that are
/// left, or `None` if the board is solved.
#[inline(always)]
fn infer<W: Watch>(board: &mut Nine, watch: &mut W) -> Result<Option<AllMiniLines>, DeadEnd> {
    loop {
        let before = board.filled;
        board.propagate(watch).map_err(|_| DeadEnd)?;
        if W::IS_ON {
            board.report_filled(before, None, watch);
        }
        if board.is_solved() {
            return Ok(None);
        }
        let lines = AllMiniLines::of(board);
        if !rule_out_by_triads(board, &lines)? {
            return Ok(Some(lines));
        }
    }
}

/// Applies triads and full lines, see [`branch`](super::branch). Returns whether there were any.
#[inline(always)]
fn rule_out_by_triads(board: &mut Nine, lines: &AllMiniLines) -> Result<bool, DeadEnd> {
    let AllMiniLines { minirows, minicolumns } = lines;
    let (by_rows, in_rows) = ruled_out(minirows, next_box, last_box)?;
    let (by_columns, in_columns) = ruled_out(minicolumns, next_band, last_band)?;
    if in_rows | in_columns == 0 {
        return Ok(false);
    }
    for digit in 0..9 {
        let rows = by_rows[digit] & minirows[digit];
        let columns = by_columns[digit] & minicolumns[digit];
        if rows | columns == 0 {
            continue;
        }
        for band in 0..3 {
            let of_minirows = ((rows >> band) & MINIROWS) * 0o7;
            let of_minicolumns = ((columns >> (9 * band)) & ROW) * 0o001_001_001;
            board.layers[band][digit] &= !(of_minirows | of_minicolumns);
        }
        board.touch(digit);
    }
    Ok(true)
}

/// The lines from which each digit is ruled out, and the lines that rule something out. `next` and
/// `last` map each line to its two neighbours.
#[inline(always)]
fn ruled_out(
    lines: &MiniLines,
    next: impl Fn(u32) -> u32,
    last: impl Fn(u32) -> u32,
) -> Result<(MiniLines, u32), DeadEnd> {
    let mut certain = [0; 9];
    for digit in 0..9 {
        certain[digit] = lines[digit] & !next(lines[digit]) & !last(lines[digit]);
    }
    let (three_possible, more_possible) = three_and_more(lines);
    let (three_certain, more_certain) = three_and_more(&certain);
    if (three_possible | more_possible) & ALL != ALL || more_certain != 0 {
        return Err(DeadEnd);
    }
    let (by_next, by_last) = (next(three_possible) | three_certain, last(three_possible) | three_certain);
    let mut out = [0; 9];
    for digit in 0..9 {
        out[digit] = (next(lines[digit]) & by_next) | (last(lines[digit]) & by_last);
    }
    Ok((out, three_possible ^ three_certain))
}

/// The lines in which exactly three of nine are set, and those with more.
#[inline(always)]
fn three_and_more(nine: &MiniLines) -> (u32, u32) {
    let [a, b, c, d, e, f, g, h, i] = *nine;
    let add = |a: u32, b: u32, c: u32| (a ^ b ^ c, (a & b) | (c & (a | b)));
    let ((s0, c0), (s1, c1), (s2, c2)) = (add(a, b, c), add(d, e, f), add(g, h, i));
    let (ones, c3) = add(s0, s1, s2);
    let (sum, four) = add(c0, c1, c2);
    let (twos, more) = (sum ^ c3, four | (sum & c3));
    (ones & twos & !more, more)
}

/// For each minirow the one in the next box, and the one in the box after that.
#[inline(always)]
const fn next_box(minirows: u32) -> u32 {
    (minirows >> 3 & 0o077_077_077) | (minirows << 6 & 0o700_700_700)
}

#[inline(always)]
const fn last_box(minirows: u32) -> u32 {
    (minirows >> 6 & 0o007_007_007) | (minirows << 3 & 0o770_770_770)
}

/// For each minicolumn the one in the next band, and the one in the band after that.
#[inline(always)]
const fn next_band(minicolumns: u32) -> u32 {
    minicolumns >> 9 | (minicolumns << 18 & ALL)
}

#[inline(always)]
const fn last_band(minicolumns: u32) -> u32 {
    minicolumns >> 18 | (minicolumns << 9 & ALL)
}

#[inline(always)]
fn minirows(board: &Nine) -> MiniLines {
    let mut lines = [0; 9];
    for (band, layers) in board.layers.iter().enumerate() {
        for digit in 0..9 {
            let cells = layers[digit];
            lines[digit] |= ((cells | cells >> 1 | cells >> 2) & MINIROWS) << band;
        }
    }
    lines
}

#[inline(always)]
fn minicolumns(board: &Nine) -> MiniLines {
    let mut lines = [0; 9];
    for (band, layers) in board.layers.iter().enumerate() {
        for digit in 0..9 {
            let cells = layers[digit];
            lines[digit] |= ((cells | cells >> 9 | cells >> 18) & ROW) << (9 * band);
        }
    }
    lines
}

/// The nine minirows of a band by `3 * row + box`, or the nine minicolumns of a stack by
/// `3 * band + column`.
#[inline(always)]
const fn nine_of(minirows: u32, minicolumns: u32, band: usize) -> usize {
    let groups = if band < 3 {
        let spaced = minirows >> band & MINIROWS;
        spaced | spaced >> 2 | spaced >> 4
    } else {
        minicolumns >> (3 * (band - 3))
    } & FIRST_THREE;
    ((groups | groups >> 6 | groups >> 12) & ROW) as usize
}

/// The number of possible permutations, by the set of the possible ones of nine lines.
static PERMUTATIONS: [u8; 512] = {
    let mut table = [0; 512];
    let mut lines = 0;
    while lines < 512 {
        // The lines of each permutation.
        let six = [0o421, 0o142, 0o214, 0o241, 0o412, 0o124];
        let mut k = 0;
        while k < 6 {
            if lines & six[k] == six[k] {
                table[lines] += 1;
            }
            k += 1;
        }
        lines += 1;
    }
    table
};

/// The guess: in the undecided band or stack with the fewest permutations over all digits, the
/// undecided digit with the fewest; of its first undecided row or column, the first possible
/// minirow or minicolumn.
#[inline(always)]
fn choose(lines: &AllMiniLines) -> Guess {
    let AllMiniLines { minirows, minicolumns } = lines;
    let mut fewest = (u8::MAX, 0);
    let mut counts = [[0; 9]; 6];
    for (band, counts) in counts.iter_mut().enumerate() {
        let mut sum = 0;
        for digit in 0..9 {
            counts[digit] = PERMUTATIONS[nine_of(minirows[digit], minicolumns[digit], band)];
            sum += counts[digit];
        }
        // Nine permutations, one for each digit, mean decided.
        if sum != 9 && sum < fewest.0 {
            fewest = (sum, band);
        }
    }
    let band = fewest.1;
    let mut digit = 0;
    let mut fewest = u8::MAX;
    for (candidate, &count) in counts[band].iter().enumerate() {
        if count > 1 && count < fewest {
            (fewest, digit) = (count, candidate);
        }
    }
    let nine = nine_of(minirows[digit], minicolumns[digit], band);
    // The lines in a row of a band are adjacent, those in a column of a stack are three apart.
    let at = |row: usize, across: usize| if band < 3 { 3 * row + across } else { 3 * across + row };
    let is_possible = |row: usize, across: usize| nine >> at(row, across) & 1 == 1;
    let is_open = |&row: &usize| (0..3).filter(|&across| is_possible(row, across)).count() > 1;
    let row = (0..3).find(is_open).unwrap_or(0);
    let across = (0..3).find(|&across| is_possible(row, across)).unwrap_or(0);
    Guess { digit, band, row, across }
}

impl Guess {
    /// The band and the three cells of the line of the guess's row or column in this box.
    const fn cells(&self, across: usize) -> (usize, u32) {
        match self.band {
            band @ 0..3 => (band, 0o7 << (9 * self.row + 3 * across)),
            stack => (across, 0o001_001_001 << (3 * (stack - 3) + self.row)),
        }
    }
}

/// Follows the guess: the digit is not in the other two lines of the row or column.
#[inline(always)]
fn follow(board: &mut Nine, guess: &Guess) {
    for across in (0..3).filter(|&across| across != guess.across) {
        let (band, cells) = guess.cells(across);
        board.layers[band][guess.digit] &= !cells;
    }
    board.touch(guess.digit);
}

/// Takes the alternative of the guess: the digit is not in its line.
#[inline(always)]
fn refuse(board: &mut Nine, guess: &Guess) {
    let (band, cells) = guess.cells(guess.across);
    board.layers[band][guess.digit] &= !cells;
    board.touch(guess.digit);
}
