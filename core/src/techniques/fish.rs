//! Fish: a digit whose places in some rows all lie in as many columns, or the other way round.
//!
//! Two lines make an X-wing, three a swordfish, four a jellyfish.

use super::geometry::{COLUMNS, ROWS};
use super::hunt::Hunt;
use super::position::bits;
use super::subsets::{Eligible, mask_of};
use super::technique::Technique;

pub(super) fn fish(hunt: &mut Hunt<'_>, degree: usize, technique: Technique) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let side = geometry.side;
    for (base, cover) in [(COLUMNS, ROWS), (ROWS, COLUMNS)] {
        let mut first: Option<(u32, usize, u32)> = None;
        for digit in 0..side {
            let missing = (0..side).filter(|line| position.places(base * side + line, digit) != 0).count();
            if missing < 2 * degree {
                continue;
            }
            let masks = (0..side).map(|line| position.places(base * side + line, digit));
            Eligible::new(masks, degree).any(&mut |lines, crossing| {
                let lines = mask_of(lines);
                let is_worth =
                    bits(crossing).any(|line| position.places(cover * side + line, digit) & !lines != 0);
                // Sets of lines count before digits.
                if is_worth && first.is_none_or(|(before, ..)| lines < before) {
                    first = Some((lines, digit, crossing));
                }
                is_worth
            });
        }
        let Some((lines, digit, crossing)) = first else { continue };
        hunt.found.begin(technique);
        for line in bits(crossing) {
            let house = cover * side + line;
            for at in bits(position.places(house, digit)) {
                let cell = geometry.cell_at(house, at);
                if lines & (1 << at) == 0 {
                    hunt.eliminate(cell, digit);
                } else if hunt.explains {
                    hunt.found.cells.push(cell as u16);
                    hunt.show(cell, 1 << digit);
                }
            }
        }
        if hunt.explains {
            hunt.found.houses.extend(bits(lines).map(|line| (base * side + line) as u16));
            hunt.found.houses.extend(bits(crossing).map(|line| (cover * side + line) as u16));
            hunt.found.digits = 1 << digit;
        }
        return true;
    }
    false
}
