//! Wings: a cell and two cells that it sees, with two or three candidates each of three digits.

use super::hunt::Hunt;
use super::technique::Technique;

pub(super) fn wing(hunt: &mut Hunt<'_>, degree: u32, technique: Technique) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let candidates = |cell: usize| position.candidates[cell];
    let mut pincers: Vec<usize> = Vec::with_capacity(geometry.cells);
    for pivot in 0..geometry.cells {
        let of_pivot = candidates(pivot);
        if of_pivot.count_ones() != degree {
            continue;
        }
        pincers.clear();
        let is_pincer = |cell: &usize| candidates(*cell).count_ones() == 2;
        pincers.extend(geometry.peers(pivot).iter().map(|&peer| usize::from(peer)).filter(is_pincer));
        for &one in &pincers {
            let of_one = candidates(one);
            if (of_pivot & !of_one).count_ones() != 1 {
                continue;
            }
            for &other in &pincers {
                let of_other = candidates(other);
                let shared = of_one & of_other;
                let is_wing = (of_pivot | of_one | of_other).count_ones() == 3
                    && shared.is_power_of_two()
                    && (of_pivot & shared).count_ones() == degree - 2;
                if !is_wing {
                    continue;
                }
                let digit = shared.trailing_zeros() as usize;
                let is_victim = |cell: usize| {
                    cell != pivot
                        && position.has(cell, digit)
                        && geometry.sees(cell, other)
                        && (degree == 2 || geometry.sees(cell, pivot))
                };
                let mut victims = geometry.peers(one).iter().map(|&cell| usize::from(cell));
                if !victims.clone().any(is_victim) {
                    continue;
                }
                hunt.found.begin(technique);
                for cell in victims.by_ref().filter(|&cell| is_victim(cell)) {
                    hunt.eliminate(cell, digit);
                }
                if hunt.explains {
                    hunt.found.cells.extend([pivot, one, other].map(|cell| cell as u16));
                    for cell in [pivot, one, other] {
                        hunt.show(cell, u32::MAX);
                    }
                    hunt.found.digits = shared;
                }
                return true;
            }
        }
    }
    false
}
