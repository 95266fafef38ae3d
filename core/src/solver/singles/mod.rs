//! Singles: 9x9 puzzles that singles alone solve, sixteen or more at once, a puzzle in each lane of
//! 16 bits.
//!
//! Between [`boxes`](super::boxes), one puzzle at a time, and the kernel of
//! [`lanes`](super::lanes), hundreds: `docs/kernel.md` has what a block costs, and when to try.
//! What it solves it proves to be unique, because each digit is placed where no other can be, or no
//! other cell of its box. What it does not solve is searched by one of the two.
//!
//! # A sweep
//! A board has the digit of each cell as a set of one, empty for a blank, and the sets of digits in
//! each row, column and box. One box after the other,
//!
//! - the candidates of a blank are what is in none of its three houses,
//! - **naked singles** are the candidates of cells that have one, and **hidden singles** those that
//!   one cell of the box has,
//! - and both are written into the cells and houses at once, for the next box to see.
//!
//! Boxes that do not see each other are next to each other in time, so that none waits for what the
//! one before it writes: 11 ns a puzzle instead of 18.
//! Sweeps go on until every lane is solved or has found nothing. A lane is solved if all 27 houses have
//! all digits and no cell has two.
//!
//! # Sources
//! Sixteen puzzles in 16-bit lanes are the layout of
//! [gertqin/sudoku-solver](https://github.com/gertqin/sudoku-solver) (2022); the sweep by boxes, its
//! test for hidden singles and the transpositions are our own.

mod board;
#[cfg(test)]
mod tests;
mod vector;
#[cfg(target_arch = "x86_64")]
mod x86;

use self::vector::Words;
use super::lanes::Backend;

/// The most puzzles of a block.
pub(super) const MOST: usize = 32;

/// The puzzles of a vector of 256 bits, which takes less time than a longer one.
const HALF: usize = MOST / 2;

/// How many of `puzzles` puzzles are best solved in one block, where a block pays from `least` on.
pub(super) fn block_len(puzzles: usize, least: usize) -> usize {
    puzzles.min(if puzzles < HALF + least { HALF } else { MOST })
}

/// Solves those puzzles of a block, at most [`MOST`], that singles solve, and returns a bit for each
/// of them, the lowest for the first puzzle. The solutions of others are unspecified.
///
/// # Panics
/// If there are more puzzles, or not as many solutions.
pub(super) fn solve(backend: Backend, puzzles: &[[u8; 81]], solutions: &mut [[u8; 81]]) -> u32 {
    let block = PuzzleBlock { puzzles, solutions };
    match backend {
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512 if puzzles.len() > HALF => x86::with_avx512(block),
        #[cfg(target_arch = "x86_64")]
        Backend::Avx512 | Backend::Avx512Vl => x86::with_avx512vl(block),
        #[cfg(target_arch = "x86_64")]
        Backend::Avx2 => x86::with_avx2(block),
        _ => block.solve::<Words>(),
    }
}

/// Puzzles of 81 digits, 0 for a blank, and room for their solutions.
struct PuzzleBlock<'a> {
    puzzles: &'a [[u8; 81]],
    solutions: &'a mut [[u8; 81]],
}
