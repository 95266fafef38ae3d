//! Singles: the last cell of a house, the only place for a digit, the only digit for a cell.

use super::geometry::BOXES;
use super::hunt::{Hunt, Mark};
use super::technique::Technique;

/// The rating of a hidden single in a row or column; in a box it is the base rating.
const IN_A_LINE: u16 = 15;

/// The last blank cell of a house.
pub(super) fn last_cell(hunt: &mut Hunt<'_>) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    for house in geometry.boxes_columns_rows().filter(|&house| position.blanks_in[house] == 1) {
        let single = (0..geometry.side).find(|&digit| position.places(house, digit) != 0);
        if let Some(digit) = single {
            return place(hunt, Technique::LastCell, house, digit);
        }
    }
    false
}

/// The only place for a digit in a house: boxes first, because people see them at a glance.
pub(super) fn hidden_single(hunt: &mut Hunt<'_>) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    // The last cells of houses belong to their own technique, where that may be used.
    let smallest = if hunt.allows(Technique::LastCell) { 2 } else { 1 };
    for house in geometry.boxes_columns_rows().filter(|&house| position.blanks_in[house] >= smallest) {
        let places = &position.places[house * geometry.side..][..geometry.side];
        if let Some(digit) = places.iter().position(|places| places.is_power_of_two()) {
            place(hunt, Technique::HiddenSingle, house, digit);
            if house / geometry.side != BOXES {
                hunt.found.rating = IN_A_LINE;
            }
            return true;
        }
    }
    false
}

/// Places a digit in the only place that a house has for it.
fn place(hunt: &mut Hunt<'_>, technique: Technique, house: usize, digit: usize) -> bool {
    let places = hunt.position.places(house, digit);
    let cell = hunt.position.geometry.cell_at(house, places.trailing_zeros() as usize);
    hunt.found.begin(technique);
    hunt.found.placement = Some(Mark::new(cell, digit));
    if hunt.explains {
        hunt.found.cells.push(cell as u16);
        hunt.found.houses.push(house as u16);
        hunt.found.digits = 1 << digit;
    }
    true
}

/// The only candidate of a cell.
pub(super) fn naked_single(hunt: &mut Hunt<'_>) -> bool {
    let candidates = &hunt.position.candidates;
    let Some(cell) = candidates.iter().position(|candidates| candidates.is_power_of_two()) else {
        return false;
    };
    let digit = candidates[cell].trailing_zeros() as usize;
    hunt.found.begin(Technique::NakedSingle);
    hunt.found.placement = Some(Mark::new(cell, digit));
    if hunt.explains {
        hunt.found.cells.push(cell as u16);
        hunt.found.digits = 1 << digit;
    }
    true
}
