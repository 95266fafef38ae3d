//! Aligned pair exclusion: two cells whose pairs of candidates other cells rule out.
//!
//! A pair of digits for two cells is impossible if a third cell that sees both has these two as its
//! only candidates, or if the cells see each other and the digits are equal. A candidate that is in
//! no possible pair goes.

use super::cell_set::CellSet;
use super::hunt::Hunt;
use super::position::bits;
use super::technique::Technique;

/// Two cells whose pairs of candidates other cells rule out.
pub(super) fn aligned_pair(hunt: &mut Hunt<'_>) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let count = |cell: usize| position.candidates[cell].count_ones();
    // Cells that may be excluded from, with the cells of two candidates that they see. Where a cell
    // sees a naked single, its candidates are not what they seem.
    let mut bases: Vec<(usize, CellSet)> = Vec::with_capacity(geometry.cells);
    for cell in (0..geometry.cells).filter(|&cell| count(cell) >= 2) {
        let peers = || geometry.peers(cell).iter().map(|&peer| usize::from(peer));
        if peers().all(|peer| count(peer) != 1) {
            let excluders: CellSet = peers().filter(|&peer| count(peer) == 2).collect();
            if !excluders.is_empty() {
                bases.push((cell, excluders));
            }
        }
    }
    for (at, &(second, seen_by_second)) in bases.iter().enumerate() {
        if !hunt.spend(at as u64 / 8) {
            return false;
        }
        for &(first, seen_by_first) in &bases[..at] {
            let excluders = seen_by_first.and(&seen_by_second);
            if excluders.len() < 2 {
                continue;
            }
            let sees_each_other = geometry.sees(first, second);
            let (of_first, of_second) = (position.candidates[first], position.candidates[second]);
            let (mut possible_first, mut possible_second) = (0, 0);
            for digit in bits(of_first) {
                let mut partners = of_second;
                if sees_each_other {
                    partners &= !(1 << digit);
                }
                for excluder in excluders.iter() {
                    let pair = position.candidates[excluder];
                    if pair & (1 << digit) != 0 {
                        partners &= !(pair & !(1 << digit));
                    }
                }
                possible_second |= partners;
                if partners != 0 {
                    possible_first |= 1 << digit;
                }
            }
            let gone = [(first, of_first & !possible_first), (second, of_second & !possible_second)];
            if gone.iter().all(|&(_, digits)| digits == 0) {
                continue;
            }
            hunt.found.begin(Technique::AlignedPairExclusion);
            for (cell, digits) in gone {
                for digit in bits(digits) {
                    hunt.eliminate(cell, digit);
                }
            }
            if hunt.explains {
                hunt.found.cells.extend([first as u16, second as u16]);
                for cell in [first, second] {
                    hunt.show(cell, u32::MAX);
                }
                let lost = gone.iter().fold(0, |all, &(_, digits)| all | digits);
                for excluder in excluders.iter() {
                    let pair = position.candidates[excluder];
                    if pair & (of_first | lost) != 0 && pair & of_second != 0 {
                        hunt.found.cells.push(excluder as u16);
                        hunt.show(excluder, u32::MAX);
                    }
                }
                hunt.found.digits = lost;
            }
            return true;
        }
    }
    false
}
