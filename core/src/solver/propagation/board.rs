//! The board: the candidates of a puzzle by digit and band, and inference over them.

use super::bands::{BandLayout, BandWord, Bits, minirows_at, place_in_boxes, spread};
use super::locked::lock_all;
use crate::grid::Grid;
use crate::solver::watch::Watch;

/// Where a search state has a contradiction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Culprit {
    /// A cell has no candidate left, or is claimed by two digits.
    Cells,
    /// A digit of this group lacks a place in some house.
    Group(usize),
}

/// A digit in a cell. Digits, bands and the cells of a band count from 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct BandCandidate {
    pub(super) digit: usize,
    pub(super) band: usize,
    pub(super) bit: usize,
}

/// A search state. `SLOTS` is the number of digits rounded up to whole groups.
///
/// ```text
///            slot 0     slot 1     ...        slot 8     slot 9 .. 11 (order 3)
/// band 0     word       word                  word       idle
/// band 1     word       word                  word       idle
/// band 2     word       word                  word       idle
///            digit 1    digit 2               digit 9
/// ```
///
/// An idle slot holds one cell for each row, column and box, so nothing follows from it.
#[derive(Clone, Copy)]
pub(super) struct SearchState<W, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize> {
    /// The cells that may take a digit. A filled cell may linger in layers that are yet to be
    /// closed.
    pub(super) layers: [[W; SLOTS]; N],
    /// The cells that hold the digit.
    placed: [[W; SLOTS]; N],
    /// The cells that hold any digit.
    pub(super) filled: [W; N],
    /// The groups with a layer that has changed since it was closed, a bit each.
    touched: u32,
    /// The groups to close: those, and the ones where a layer may hold a cell that another has
    /// filled.
    pending: u32,
}

impl<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>
    SearchState<W, N, SIDE, SLOTS, GROUP>
{
    const GROUPS: usize = SLOTS / GROUP;
    const ALL_GROUPS: u32 = (1 << Self::GROUPS) - 1;
    pub(super) const BAND_CELLS: usize = N * SIDE;

    /// A grid of blanks.
    pub(super) fn new() -> Self {
        const { assert!(SIDE == N * N && SLOTS.is_multiple_of(GROUP) && SLOTS >= SIDE && SLOTS < 32) };
        let mut layers = [[W::of(BandLayout::<N>::BAND); SLOTS]; N];
        let mut placed = [[W::ZERO; SLOTS]; N];
        for band in 0..N {
            let one_a_row = (0..N).fold(W::ZERO, |word, row| word | W::of(1) << (row * (SIDE + N) + band));
            layers[band][SIDE..].fill(one_a_row);
            placed[band][SIDE..].fill(one_a_row);
        }
        Self { layers, placed, filled: [W::ZERO; N], touched: Self::ALL_GROUPS, pending: Self::ALL_GROUPS }
    }

    /// Begins with the clues of a puzzle, which may break the rules.
    pub(super) fn load(&mut self, clues: &[u8]) -> Result<(), Culprit> {
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
            for slot in 0..SLOTS {
                let (layer, two) = place_in_boxes::<W, N>(self.layers[band][slot], self.placed[band][slot]);
                self.layers[band][slot] = layer;
                twice |= two;
            }
        }
        if twice == W::ZERO { Ok(()) } else { Err(Culprit::Cells) }
    }

    /// Puts a digit into a blank cell.
    pub(super) fn place(&mut self, at: BandCandidate) -> Result<(), Culprit> {
        self.place_all(at.digit, at.band, W::of(1) << at.bit)
    }

    /// Puts a digit into several blank cells of a band.
    #[inline(always)]
    fn place_all(&mut self, digit: usize, band: usize, cells: W) -> Result<(), Culprit> {
        let (layer, twice) = place_in_boxes::<W, N>(self.layers[band][digit], cells);
        self.layers[band][digit] = layer;
        self.touch(digit);
        if twice == W::ZERO { Ok(()) } else { Err(Culprit::Group(digit / GROUP)) }
    }

    /// Takes a candidate away.
    pub(super) fn rule_out(&mut self, at: BandCandidate) {
        self.layers[at.band][at.digit] &= !(W::of(1) << at.bit);
        self.touch(at.digit);
    }

    #[inline(always)]
    pub(super) fn touch(&mut self, digit: usize) {
        self.touched |= 1 << (digit / GROUP);
        self.pending |= 1 << (digit / GROUP);
    }

    /// Applies singles and locked candidates until nothing changes. A comparison is one look at all
    /// places of a digit.
    #[inline(always)]
    pub(super) fn propagate(&mut self, watch: &mut impl Watch) -> Result<(), Culprit> {
        loop {
            let mut round = self.pending;
            while round != 0 {
                let group = round.trailing_zeros() as usize;
                self.pending &= !(1 << group);
                watch.compare(GROUP as u64);
                self.close(group)?;
                round = self.pending & (u32::MAX << group << 1);
            }
            // Naked singles are cheap, so they do not wait until every layer is closed.
            let closed = self.pending == 0;
            self.naked_singles(closed)?;
            if closed && self.pending == 0 {
                return Ok(());
            }
        }
    }

    /// Closes the layers of a group and fills the cells that are found.
    #[inline(always)]
    fn close(&mut self, group: usize) -> Result<(), Culprit> {
        let slots = group * GROUP..(group + 1) * GROUP;
        let mut layers = [[W::ZERO; GROUP]; N];
        let mut placed = [[W::ZERO; GROUP]; N];
        let mut stale = W::ZERO;
        for band in 0..N {
            layers[band].copy_from_slice(&self.layers[band][slots.clone()]);
            placed[band].copy_from_slice(&self.placed[band][slots.clone()]);
            for slot in 0..GROUP {
                let taken = layers[band][slot] & self.filled[band] & !placed[band][slot];
                layers[band][slot] &= !taken;
                stale |= taken;
            }
        }
        if stale == W::ZERO && self.touched & (1 << group) == 0 {
            return Ok(());
        }
        self.touched &= !(1 << group);

        let locked = lock_all(&mut layers);
        // Written back even after a contradiction, because `blame` and `explain` look for empty
        // houses.
        for (mine, closed) in self.layers.iter_mut().zip(&layers) {
            mine[slots.clone()].copy_from_slice(closed);
        }
        let Ok((one_row, one_column)) = locked else {
            return Err(Culprit::Group(group));
        };

        let mut found = [W::ZERO; N];
        for slot in 0..GROUP {
            for band in 0..N {
                // One row and one column left are one cell. Both bits are at the first column of
                // the box.
                let boxes = (one_row[slot] >> band) & (one_column[slot] >> (band * SIDE));
                let boxes = minirows_at::<W, N>(boxes & W::of(BandLayout::<N>::BOXES));
                let cells = layers[band][slot] & spread::<W, N>(boxes, SIDE);
                found[band] |= cells & !placed[band][slot];
                placed[band][slot] = cells;
            }
        }
        let mut any = W::ZERO;
        for band in 0..N {
            self.placed[band][slots.clone()].copy_from_slice(&placed[band]);
            self.filled[band] |= found[band];
            any |= found[band];
        }
        if any != W::ZERO {
            // Digits of a group do not see each other's new cells, but a single digit is closed.
            self.pending = if GROUP == 1 { Self::ALL_GROUPS & !(1 << group) } else { Self::ALL_GROUPS };
        }
        Ok(())
    }

    /// Fills the cells with one candidate left. `closed` means that no layer holds a cell that
    /// another has filled.
    #[inline(always)]
    fn naked_singles(&mut self, closed: bool) -> Result<(), Culprit> {
        for band in 0..N {
            let (mut one, mut two) = (W::ZERO, W::ZERO);
            for &layer in &self.layers[band][..SIDE] {
                two |= one & layer;
                one |= layer;
            }
            // Digits of a group that are closed together may fill the same cell.
            if one != W::of(BandLayout::<N>::BAND) || closed && two & self.filled[band] != W::ZERO {
                return Err(Culprit::Cells);
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
        self.filled.iter().all(|&filled| filled == W::of(BandLayout::<N>::BAND))
    }

    pub(super) fn has(&self, at: BandCandidate) -> bool {
        (self.layers[at.band][at.digit] >> at.bit) & W::of(1) != W::ZERO
    }

    /// The candidates of a cell.
    pub(super) fn candidates(&self, band: usize, bit: usize) -> impl Iterator<Item = BandCandidate> {
        (0..SIDE).map(move |digit| BandCandidate { digit, band, bit }).filter(|&at| self.has(at))
    }

    /// The places of a digit in cells that are not filled.
    pub(super) fn places(&self, digit: usize) -> impl Iterator<Item = BandCandidate> {
        (0..N).flat_map(move |band| {
            Bits(self.layers[band][digit] & !self.filled[band]).map(move |bit| BandCandidate {
                digit,
                band,
                bit,
            })
        })
    }

    /// The index of a candidate's cell in reading order.
    pub(super) fn cell(at: BandCandidate) -> usize {
        at.band * Self::BAND_CELLS + at.bit
    }

    /// Row, column and box of a candidate.
    pub(super) fn houses(at: BandCandidate) -> [usize; 3] {
        let column = at.bit % SIDE;
        [at.band * N + at.bit / SIDE, column, at.band * N + column / N]
    }

    /// Writes a solved board to a grid.
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
