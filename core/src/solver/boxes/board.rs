//! The board: the candidates of a puzzle in nine vectors, and inference over them.

use super::vector::{ALL_DIGITS, BoardCells, BoxVector, LaneSets, in_boxes};
use crate::solver::watch::Watch;

/// The minirows of each box by row, or the minicolumns by column: the digits that are possible.
pub(super) type MiniLines<V> = [V; 3];

/// All minirows and minicolumns of a board.
#[derive(Clone, Copy)]
pub(super) struct AllMiniLines<V> {
    pub(super) minirows: MiniLines<V>,
    pub(super) minicolumns: MiniLines<V>,
}

/// A contradiction: the board has no solution.
pub(super) struct NoSolution;

/// What inference leaves of a board without a contradiction.
pub(super) enum Inferred<V> {
    /// A solution.
    Solved,
    /// Something to guess. A cell that is certain has one candidate.
    Open(AllMiniLines<V>),
}

static BOXES: LaneSets = in_boxes(ALL_DIGITS);

/// A vector for each cell of a box.
#[inline(always)]
pub(super) fn each<V: Copy>(f: impl Fn(usize, usize) -> V) -> BoardCells<V> {
    [[f(0, 0), f(0, 1), f(0, 2)], [f(1, 0), f(1, 1), f(1, 2)], [f(2, 0), f(2, 1), f(2, 2)]]
}

#[inline(always)]
fn or3<V: BoxVector>(a: V, b: V, c: V) -> V {
    a.or(b).or(c)
}

/// What is possible of each of three lines of a box if each digit goes into one line of each row of
/// three boxes: the lines that are in one of the six permutations. `next` and `last` map to the
/// boxes beside it.
#[inline(always)]
fn in_permutations<V: BoxVector>(
    lines: MiniLines<V>,
    next: impl Fn(V) -> V,
    last: impl Fn(V) -> V,
) -> MiniLines<V> {
    let [a, b, c] = lines;
    let [an, bn, cn] = [next(a), next(b), next(c)];
    let [al, bl, cl] = [last(a), last(b), last(c)];
    [a.and(bn.and(cl).or(bl.and(cn))), b.and(cn.and(al).or(cl.and(an))), c.and(an.and(bl).or(al.and(bn)))]
}

/// The digits that are in this line of the box and in no other.
#[inline(always)]
fn certain<V: BoxVector>(lines: &MiniLines<V>) -> MiniLines<V> {
    let [a, b, c] = *lines;
    [a.and_not(b.or(c)), b.and_not(a.or(c)), c.and_not(a.or(b))]
}

/// Applies singles, locked candidates and triads until nothing changes. After a contradiction, the
/// cells are only what it was met in if the search is watched.
#[inline(always)]
pub(super) fn infer<V: BoxVector, W: Watch>(
    cells: &mut BoardCells<V>,
    passes: &mut u64,
) -> Result<Inferred<V>, NoSolution> {
    let boxes = V::load(&BOXES);
    let none = V::splat(0);
    let mut x = *cells;
    loop {
        *passes += 1;
        // Naked singles: cells where taking the lowest digit away leaves nothing.
        let (mut lowest_bits, mut open) = (none, none);
        let more = each(|row, column| x[row][column].and(x[row][column].minus_one()));
        let single = each(|row, column| x[row][column].and(more[row][column].zeros()));
        for row in 0..3 {
            for column in 0..3 {
                lowest_bits = lowest_bits.or(x[row][column].minus_one());
                open = open.or(more[row][column]);
            }
        }
        if lowest_bits.any_highest() {
            // A cell without a candidate.
            if W::IS_ON {
                *cells = x;
            }
            return Err(NoSolution);
        }
        // Rows: a minirow with a single is the only one of its box, the permutations do the rest.
        let lines = [0, 1, 2].map(|row| or3(x[row][0], x[row][1], x[row][2]));
        let singles = [0, 1, 2].map(|row| or3(single[row][0], single[row][1], single[row][2]));
        let minirows = in_permutations(
            [
                lines[0].and_not(singles[1].or(singles[2])),
                lines[1].and_not(singles[2].or(singles[0])),
                lines[2].and_not(singles[0].or(singles[1])),
            ],
            V::next_stack,
            V::last_stack,
        );
        let y = each(|row, column| x[row][column].and(minirows[row]));
        // Columns likewise.
        let lines = [0, 1, 2].map(|column| or3(y[0][column], y[1][column], y[2][column]));
        let singles = [0, 1, 2].map(|column| or3(single[0][column], single[1][column], single[2][column]));
        let minicolumns = in_permutations(
            [
                lines[0].and_not(singles[1].or(singles[2])),
                lines[1].and_not(singles[2].or(singles[0])),
                lines[2].and_not(singles[0].or(singles[1])),
            ],
            V::next_band,
            V::last_band,
        );
        // Hidden singles: the only minirow of a box and its only minicolumn meet in a cell.
        let (rows, columns) = (certain(&minirows), certain(&minicolumns));
        let mut changed = none;
        let z = each(|row, column| {
            let left = y[row][column].and(minicolumns[column]);
            let hidden = left.and(rows[row]).and(columns[column]);
            left.and(hidden.or(hidden.zeros()))
        });
        for row in 0..3 {
            for column in 0..3 {
                changed = changed.or(z[row][column].xor(x[row][column]));
            }
        }
        let all = or3(minicolumns[0], minicolumns[1], minicolumns[2]);
        if !boxes.and_not(all).is_zero() {
            // A digit without a place in a box.
            if W::IS_ON {
                *cells = z;
            }
            return Err(NoSolution);
        }
        x = z;
        if !changed.is_zero() {
            continue;
        }
        if open.is_zero() {
            *cells = x;
            return Ok(Inferred::Solved);
        }
        // Two digits that need the same cell.
        let mut rivals = none;
        for row in 0..3 {
            for column in 0..3 {
                rivals = rivals.or(more[row][column].and(rows[row]).and(columns[column]));
            }
        }
        if !rivals.is_zero() {
            if W::IS_ON {
                *cells = x;
            }
            return Err(NoSolution);
        }
        let (by_rows, in_rows) = triads(&minirows, &rows, boxes)?;
        let (by_columns, in_columns) = triads(&minicolumns, &columns, boxes)?;
        if in_rows.or(in_columns).is_zero() {
            *cells = x;
            return Ok(Inferred::Open(AllMiniLines { minirows, minicolumns }));
        }
        x = each(|row, column| x[row][column].and(by_rows[row]).and(by_columns[column]));
    }
}

/// Triads and full lines, see [`branch`](crate::solver::lanes): what they leave of each line, and
/// the lines that rule something out.
#[inline(always)]
fn triads<V: BoxVector>(
    lines: &MiniLines<V>,
    certain: &MiniLines<V>,
    boxes: V,
) -> Result<(MiniLines<V>, V), NoSolution> {
    let less = |set: V| set.and(set.minus_one());
    let (mut three_possible, mut three_certain) = (*lines, *lines);
    let mut progress = V::splat(0);
    let mut dead = V::splat(0);
    for k in 0..3 {
        let two_left = less(less(lines[k]));
        // Fewer than three digits are too few, and so are three certain ones with a fourth.
        let too_few = two_left.zeros();
        let triad = less(two_left).zeros().and_not(too_few);
        let certain_left = less(less(certain[k]));
        let full = less(certain_left);
        let is_full = full.zeros().and_not(certain_left.zeros());
        dead = dead.or(too_few.and(boxes)).or(full);
        progress = progress.or(triad.xor(is_full));
        three_possible[k] = lines[k].and(triad);
        three_certain[k] = certain[k].or(V::splat(0xFFFF).and_not(is_full));
    }
    if !dead.is_zero() {
        return Err(NoSolution);
    }
    let [a, b, c] = three_possible;
    let left = [
        three_certain[0].and_not(b.or(c)),
        three_certain[1].and_not(a.or(c)),
        three_certain[2].and_not(a.or(b)),
    ];
    Ok((left, progress.and(boxes)))
}
