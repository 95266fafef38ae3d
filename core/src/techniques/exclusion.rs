//! Aligned pair exclusion: two cells whose pairs of candidates other cells rule out.
//!
//! A pair of digits for two cells is impossible if a third cell that sees both has these two as its
//! only candidates, or if the cells see each other and the digits are equal. A candidate that is in
//! no possible pair goes.

use super::hunt::Hunt;
use super::position::{Position, bits};
use super::technique::Technique;

/// Two cells whose pairs of candidates other cells rule out.
pub(super) fn aligned_pair(hunt: &mut Hunt<'_>) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let (bases, seen) = bases(position);
    let mut excluders: Vec<usize> = Vec::with_capacity(geometry.cells);
    for (at, &second) in bases.iter().enumerate() {
        if !hunt.spend(at as u64 / 8) {
            return false;
        }
        let by_second = &seen[at * geometry.words..][..geometry.words];
        for (&first, by_first) in bases[..at].iter().zip(seen.chunks_exact(geometry.words)) {
            let both = by_first.iter().zip(by_second).map(|(first, second)| first & second);
            // At least two bits.
            let (any, two) = both.fold((0, 0), |(any, two), word| {
                (any | word, two | if any == 0 { word & word.wrapping_sub(1) } else { word })
            });
            if any == 0 || two == 0 {
                continue;
            }
            let is_excluder =
                |&cell: &usize| position.candidates[cell].count_ones() == 2 && geometry.sees(cell, second);
            excluders.clear();
            excluders.extend(geometry.peers(first).iter().map(|&peer| usize::from(peer)).filter(is_excluder));
            let [possible_first, possible_second] = possible(position, [first, second], &excluders);
            let (of_first, of_second) = (position.candidates[first], position.candidates[second]);
            let gone = [(first, of_first & !possible_first), (second, of_second & !possible_second)];
            if gone.iter().any(|&(_, digits)| digits != 0) {
                write(hunt, gone, &excluders);
                return true;
            }
        }
    }
    false
}

/// The cells that may be excluded from, and the cells of two candidates that each sees, as bits.
/// Where a cell sees a naked single, its candidates are not what they seem.
fn bases(position: &Position) -> (Vec<usize>, Vec<u64>) {
    let geometry = position.geometry;
    let (mut singles, mut pairs) = (vec![0_u64; geometry.words], vec![0_u64; geometry.words]);
    for (cell, candidates) in position.candidates.iter().enumerate() {
        match candidates.count_ones() {
            1 => singles[cell / 64] |= 1 << (cell % 64),
            2 => pairs[cell / 64] |= 1 << (cell % 64),
            _ => {}
        }
    }
    let mut bases = Vec::with_capacity(geometry.cells);
    let mut seen = Vec::with_capacity(geometry.cells * geometry.words);
    for cell in (0..geometry.cells).filter(|&cell| position.candidates[cell].count_ones() >= 2) {
        let peers = geometry.peer_bits(cell);
        let excluders = peers.iter().zip(&pairs).map(|(peers, pairs)| peers & pairs);
        let sees_single = peers.iter().zip(&singles).any(|(peers, singles)| peers & singles != 0);
        if !sees_single && excluders.clone().any(|word| word != 0) {
            bases.push(cell);
            seen.extend(excluders);
        }
    }
    (bases, seen)
}

/// The candidates of two cells that are in a pair that no excluder rules out.
fn possible(position: &Position, [first, second]: [usize; 2], excluders: &[usize]) -> [u32; 2] {
    let sees_each_other = position.geometry.sees(first, second);
    let mut possible = [0, 0];
    for digit in bits(position.candidates[first]) {
        let mut partners = position.candidates[second];
        if sees_each_other {
            partners &= !(1 << digit);
        }
        for &excluder in excluders {
            let pair = position.candidates[excluder];
            if pair & (1 << digit) != 0 {
                partners &= !(pair & !(1 << digit));
            }
        }
        possible[1] |= partners;
        if partners != 0 {
            possible[0] |= 1 << digit;
        }
    }
    possible
}

/// Writes the step of two cells that lose digits.
fn write(hunt: &mut Hunt<'_>, gone: [(usize, u32); 2], excluders: &[usize]) {
    let position = hunt.position;
    hunt.found.begin(Technique::AlignedPairExclusion);
    for (cell, digits) in gone {
        for digit in bits(digits) {
            hunt.eliminate(cell, digit);
        }
    }
    if !hunt.explains {
        return;
    }
    let [(first, _), (second, _)] = gone;
    hunt.found.cells.extend([first as u16, second as u16]);
    for cell in [first, second] {
        hunt.show(cell, u32::MAX);
    }
    let lost = gone.iter().fold(0, |all, &(_, digits)| all | digits);
    for &excluder in excluders {
        let pair = position.candidates[excluder];
        if pair & (position.candidates[first] | lost) != 0 && pair & position.candidates[second] != 0 {
            hunt.found.cells.push(excluder as u16);
            hunt.show(excluder, u32::MAX);
        }
    }
    hunt.found.digits = lost;
}
