//! Locked candidates: what the rows and columns of one digit infer about each other.

use super::bands::{BandLayout, BandWord, along, minirows_at, spread};

/// The result of [`lock`].
struct Locked<W> {
    /// The bits of the matrices that are left.
    kept: W,
    /// The lines down with a single bit, marked at their start.
    alone_down: W,
    /// The lines across with a single bit, marked at their start.
    alone_across: W,
    /// Not zero if a line is empty, or if two bits that are alone need the same line.
    contradiction: W,
}

/// One step of locked candidates, in `N` matrices of `N` by `N` bits that lie side by side in a
/// word.
///
/// A bit means that a digit has a place in its three, four or five cells. In a solved grid every
/// matrix is a permutation, with one bit in each line. So a bit that is alone in its line down
/// clears the rest of its line across, and vice versa. Lines down step by a whole row, lines across
/// by `step`:
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
fn lock<W: BandWord, const N: usize>(matrices: W, step: usize) -> Locked<W> {
    let side = BandLayout::<N>::SIDE;
    let down = W::of(BandLayout::<N>::ROW);
    let across = W::of(if step == 1 {
        BandLayout::<N>::MINIROWS
    } else {
        BandLayout::<N>::ROWS * BandLayout::<N>::MINIROW
    });
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

/// The layers of `GROUP` digits, closed together. Bands are the outer array, so that the words of
/// one band are contiguous.
type Group<W, const N: usize, const GROUP: usize> = [[W; GROUP]; N];

/// Locks the rows of each layer. Returns the boxes with one row left (bit `box * N + band`), and
/// whether anything changed.
#[inline(always)]
fn lock_rows<W: BandWord, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], bool), Unplaceable> {
    let minirows = W::of(BandLayout::<N>::MINIROWS);
    let (mut changed, mut contradiction) = (W::ZERO, W::ZERO);
    let mut one_row = [W::ZERO; GROUP];
    for slot in 0..GROUP {
        let mut matrices = W::ZERO;
        for (band, words) in layers.iter().enumerate() {
            matrices |= (along::<W, N>(words[slot], 1).0 & minirows) << band;
        }
        let locked = lock::<W, N>(matrices, N);
        for (band, words) in layers.iter_mut().enumerate() {
            words[slot] &= minirows_at::<W, N>((locked.kept >> band) & minirows);
        }
        changed |= locked.kept ^ matrices;
        contradiction |= locked.contradiction;
        one_row[slot] = locked.alone_down;
    }
    if contradiction == W::ZERO { Ok((one_row, changed != W::ZERO)) } else { Err(Unplaceable) }
}

/// Locks the columns of each layer. Returns the boxes with one column left (bit
/// `band * SIDE + box * N`), and whether anything changed.
#[inline(always)]
fn lock_columns<W: BandWord, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], bool), Unplaceable> {
    let (side, row) = (BandLayout::<N>::SIDE, W::of(BandLayout::<N>::ROW));
    let (mut changed, mut contradiction) = (W::ZERO, W::ZERO);
    let mut one_column = [W::ZERO; GROUP];
    for slot in 0..GROUP {
        let mut matrices = W::ZERO;
        for (band, words) in layers.iter().enumerate() {
            matrices |= (along::<W, N>(words[slot], side).0 & row) << (band * side);
        }
        let locked = lock::<W, N>(matrices, 1);
        for (band, words) in layers.iter_mut().enumerate() {
            words[slot] &= spread::<W, N>((locked.kept >> (band * side)) & row, side);
        }
        changed |= locked.kept ^ matrices;
        contradiction |= locked.contradiction;
        one_column[slot] = locked.alone_across;
    }
    if contradiction == W::ZERO { Ok((one_column, changed != W::ZERO)) } else { Err(Unplaceable) }
}

/// Locks rows and columns in turn until neither changes. Returns, for each digit, the boxes with
/// one row left and those with one column left.
#[inline(always)]
pub(super) fn lock_all<W: BandWord, const N: usize, const GROUP: usize>(
    layers: &mut Group<W, N, GROUP>,
) -> Result<([W; GROUP], [W; GROUP]), Unplaceable> {
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

/// A contradiction: some digit has no place left in a house, or two houses need the same place.
pub(super) struct Unplaceable;
