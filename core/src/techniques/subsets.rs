//! Subsets: as many cells as digits, in one house.
//!
//! *Naked*: the cells have no other candidate, so the digits go from the rest of the house.
//! *Hidden*: the digits have no other place, so other digits go from the cells.
//! A *direct* hidden set leaves a hidden single of another digit.

use super::hunt::{Hunt, Mark};
use super::position::bits;
use super::technique::Technique;

/// The largest set that is looked for.
pub(super) const MAX_DEGREE: usize = 4;

/// Masks of two to `degree` bits with their index, in a fixed array: what can be part of a set.
pub(super) struct Eligible {
    items: [(usize, u32); 32],
    count: usize,
    degree: usize,
}

impl Eligible {
    /// The masks of those that can be part of a set of this degree.
    #[inline]
    pub(super) fn new(masks: impl Iterator<Item = u32>, degree: usize) -> Self {
        let mut eligible = Self { items: [(0, 0); 32], count: 0, degree };
        for (index, mask) in masks.enumerate() {
            let ones = mask.count_ones() as usize;
            if ones >= 2 && ones <= degree {
                eligible.items[eligible.count] = (index, mask);
                eligible.count += 1;
            }
        }
        eligible
    }

    /// Calls `visit` with the indices and the union of each set of `degree` masks that have
    /// `degree` bits together, until it returns true. The sets come as numbers whose bits they are
    /// would: by their greatest index first.
    #[inline]
    pub(super) fn any(&self, visit: &mut impl FnMut(&[usize], u32) -> bool) -> bool {
        self.count >= self.degree && self.extend(self.count, self.degree, 0, &mut [0; MAX_DEGREE], visit)
    }

    /// Chooses `need` more masks among the first `below`.
    fn extend(
        &self,
        below: usize,
        need: usize,
        union: u32,
        chosen: &mut [usize; MAX_DEGREE],
        visit: &mut impl FnMut(&[usize], u32) -> bool,
    ) -> bool {
        for next in need - 1..below {
            let (index, mask) = self.items[next];
            let union = union | mask;
            if union.count_ones() as usize > self.degree {
                continue;
            }
            chosen[need - 1] = index;
            let is_done = if need == 1 {
                union.count_ones() as usize == self.degree && visit(&chosen[..self.degree], union)
            } else {
                self.extend(next, need - 1, union, chosen, visit)
            };
            if is_done {
                return true;
            }
        }
        false
    }
}

/// The bits at these indices.
pub(super) fn mask_of(indices: &[usize]) -> u32 {
    indices.iter().fold(0, |mask, &index| mask | 1 << index)
}

pub(super) fn naked(hunt: &mut Hunt<'_>, degree: usize, technique: Technique) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    for house in geometry.boxes_columns_rows() {
        if usize::from(position.blanks_in[house]) < 2 * degree {
            continue;
        }
        let cells = geometry.cells_of(house);
        let masks = || cells.iter().map(|&cell| position.candidates[usize::from(cell)]);
        let mut set = None;
        Eligible::new(masks(), degree).any(&mut |indices, digits| {
            let inside = mask_of(indices);
            let loses = |(at, mask): (usize, u32)| inside & (1 << at) == 0 && mask & digits != 0;
            let is_worth = masks().enumerate().any(loses);
            if is_worth {
                set = Some((inside, digits));
            }
            is_worth
        });
        let Some((inside, digits)) = set else { continue };
        hunt.found.begin(technique);
        for (at, &cell) in cells.iter().enumerate() {
            let cell = usize::from(cell);
            if inside & (1 << at) == 0 {
                for digit in bits(digits & position.candidates[cell]) {
                    hunt.eliminate(cell, digit);
                }
            } else if hunt.explains {
                hunt.found.cells.push(cell as u16);
                hunt.show(cell, digits);
            }
        }
        hunt.found.houses.push(house as u16);
        hunt.found.digits = digits;
        return true;
    }
    false
}

pub(super) fn hidden(hunt: &mut Hunt<'_>, degree: usize, technique: Technique) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    for house in geometry.boxes_columns_rows() {
        if usize::from(position.blanks_in[house]) <= 2 * degree {
            continue;
        }
        let masks = (0..geometry.side).map(|digit| position.places(house, digit));
        let mut set = None;
        Eligible::new(masks, degree).any(&mut |digits, places| {
            let digits = mask_of(digits);
            let mut cells = bits(places).map(|at| geometry.cell_at(house, at));
            let is_worth = cells.any(|cell| position.candidates[cell] & !digits != 0);
            if is_worth {
                set = Some((digits, places));
            }
            is_worth
        });
        let Some((digits, places)) = set else { continue };
        hunt.found.begin(technique);
        for at in bits(places) {
            let cell = geometry.cell_at(house, at);
            for digit in bits(position.candidates[cell] & !digits) {
                hunt.eliminate(cell, digit);
            }
            if hunt.explains {
                hunt.found.cells.push(cell as u16);
                hunt.show(cell, digits);
            }
        }
        hunt.found.houses.push(house as u16);
        hunt.found.digits = digits;
        return true;
    }
    false
}

pub(super) fn direct_hidden(hunt: &mut Hunt<'_>, degree: usize, technique: Technique) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    for house in geometry.boxes_columns_rows() {
        if usize::from(position.blanks_in[house]) <= degree {
            continue;
        }
        let masks = (0..geometry.side).map(|digit| position.places(house, digit));
        let mut set = None;
        Eligible::new(masks, degree).any(&mut |indices, places| {
            let digits = mask_of(indices);
            let single = (0..geometry.side).find(|&digit| {
                let others = position.places(house, digit);
                digits & (1 << digit) == 0 && others.count_ones() > 1 && (others & !places).is_power_of_two()
            });
            set = single.map(|single| (digits, places, single));
            set.is_some()
        });
        let Some((digits, places, single)) = set else { continue };
        let left = position.places(house, single) & !places;
        let target = geometry.cell_at(house, left.trailing_zeros() as usize);
        hunt.found.begin(technique);
        hunt.found.placement = Some(Mark::new(target, single));
        if hunt.explains {
            for at in bits(places) {
                let cell = geometry.cell_at(house, at);
                hunt.found.cells.push(cell as u16);
                hunt.show(cell, digits);
            }
            hunt.found.houses.push(house as u16);
            hunt.found.digits = digits;
        }
        return true;
    }
    false
}
