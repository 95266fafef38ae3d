//! Bivalue universal grave: if every blank cell had two candidates and every digit two places in
//! each house that still needs it, there would be none or several solutions. So one of the
//! candidates in excess of that is true.
//!
//! | type | the excess | what follows |
//! |---|---|---|
//! | 1 | in one cell | the cell is one of the excess digits |
//! | 2 | the same digit in several cells | it goes from the cells that they all see |
//! | 3 | several digits in cells of one house | with others of the house they make a naked set |
//! | 4 | in two cells of a house that share another digit | the rest goes from both |

use super::cell_set::CellSet;
use super::geometry::{Geometry, KINDS};
use super::hunt::Hunt;
use super::position::{Position, bits};
use super::step::Kind;
use super::technique::Technique;

/// The candidates in excess of two a cell and two a house.
struct Excess {
    /// Cells with excess candidates, in the order in which they were met, with these.
    cells: Vec<(usize, u32)>,
    /// Excess digits of all of them.
    digits: u32,
    /// The cells that see all of them, without them.
    common: Option<CellSet>,
}

impl Excess {
    /// Counts a candidate to the excess. Returns false if no type can follow.
    fn add(&mut self, geometry: &Geometry, cell: usize, digit: usize) -> bool {
        match self.cells.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, digits)) => *digits |= 1 << digit,
            None => self.cells.push((cell, 1 << digit)),
        }
        self.digits |= 1 << digit;
        self.narrow(geometry, cell)
    }

    /// Takes a cell into account for the cells that all see.
    fn narrow(&mut self, geometry: &Geometry, cell: usize) -> bool {
        let peers = CellSet::peers(geometry, cell);
        let own: CellSet = self.cells.iter().map(|&(cell, _)| cell).collect();
        let common = self.common.map_or(peers, |common| common.and(&peers)).without(&own);
        self.common = Some(common);
        !(self.cells.len() > 1 && self.digits.count_ones() > 1 && common.is_empty())
    }

    /// The excess of a position, if the rest of it is a grave.
    fn of(position: &Position) -> Option<Self> {
        let geometry = position.geometry;
        let mut excess = Self { cells: Vec::new(), digits: 0, common: None };
        // If all of it is one digit, cells count that no house decides on.
        let mut all: Option<(usize, CellSet)> = None;
        let mut is_one_digit = true;
        for house in 0..geometry.houses() {
            for digit in 0..geometry.side {
                let places = position.places(house, digit);
                if matches!(places.count_ones(), 0 | 2) {
                    continue;
                }
                let cells = || bits(places).map(|at| geometry.cell_at(house, at));
                let with_excess = || cells().filter(|&cell| position.candidates[cell].count_ones() >= 3);
                match &mut all {
                    None => all = Some((digit, with_excess().collect())),
                    Some((one, set)) if *one == digit && is_one_digit => {
                        with_excess().for_each(|cell| set.insert(cell));
                    }
                    Some(_) => is_one_digit = false,
                }
                let mut found = with_excess();
                match (found.next(), found.next()) {
                    (None, _) => return None,
                    (Some(cell), None) if !excess.add(geometry, cell, digit) => return None,
                    // Of several, other houses tell which one it is.
                    _ => {}
                }
            }
        }
        if let Some((digit, set)) = all.filter(|_| is_one_digit)
            && set.len() > excess.cells.len()
        {
            let known: CellSet = excess.cells.iter().map(|&(cell, _)| cell).collect();
            for cell in set.without(&known).iter() {
                excess.cells.push((cell, 1 << digit));
                if !excess.narrow(geometry, cell) {
                    return None;
                }
            }
        }
        excess.leaves_a_grave(position).then_some(excess)
    }

    /// Whether without the excess every cell has two candidates and every digit two places.
    fn leaves_a_grave(&self, position: &Position) -> bool {
        let geometry = position.geometry;
        let excess_of = |cell: usize| {
            self.cells.iter().find(|(known, _)| *known == cell).map_or(0, |&(_, digits)| digits)
        };
        let has_two = |cell: usize| {
            position.digits[cell] != 0 || (position.candidates[cell] & !excess_of(cell)).count_ones() == 2
        };
        if !(0..geometry.cells).all(has_two) {
            return false;
        }
        (0..geometry.houses()).all(|house| {
            (0..geometry.side).all(|digit| {
                let gone = self
                    .cells
                    .iter()
                    .filter(|&&(cell, digits)| digits & (1 << digit) != 0 && geometry.contains(house, cell));
                let left = position.places(house, digit).count_ones() as usize - gone.count();
                left == 0 || left == 2
            })
        })
    }
}

/// A grid that would be a grave without some candidates.
pub(super) fn bivalue_universal_grave(hunt: &mut Hunt<'_>) -> bool {
    let position = hunt.position;
    let Some(excess) = Excess::of(position) else { return false };
    let is_one_digit = excess.digits.is_power_of_two();
    let sees_others = excess.common.is_some_and(|common| !common.is_empty());
    let is_found = match *excess.cells.as_slice() {
        [(cell, digits)] => {
            begin(hunt, 1, 56);
            take(hunt, cell, position.candidates[cell] & !digits);
            true
        }
        [one, other] if is_one_digit => type_2(hunt, &excess) || type_4(hunt, &excess, one, other),
        [_, ..] if is_one_digit => type_2(hunt, &excess),
        [one, other] if sees_others => type_4(hunt, &excess, one, other) || type_3(hunt, &excess),
        [_, ..] if sees_others => type_3(hunt, &excess),
        _ => false,
    };
    if is_found && hunt.explains {
        for &(cell, digits) in &excess.cells {
            hunt.found.cells.push(cell as u16);
            hunt.show(cell, digits);
        }
        hunt.found.digits = excess.digits;
    }
    is_found && !hunt.found.eliminations.is_empty()
}

fn begin(hunt: &mut Hunt<'_>, kind: u8, rating: u16) {
    hunt.found.begin(Technique::BivalueUniversalGrave);
    hunt.found.rating = rating;
    hunt.found.kind = Kind::Type(kind);
}

fn take(hunt: &mut Hunt<'_>, cell: usize, digits: u32) {
    for digit in bits(digits & hunt.position.candidates[cell]) {
        hunt.eliminate(cell, digit);
    }
}

fn type_2(hunt: &mut Hunt<'_>, excess: &Excess) -> bool {
    let common = excess.common.unwrap_or(CellSet::NONE);
    if !common.iter().any(|cell| hunt.position.candidates[cell] & excess.digits != 0) {
        return false;
    }
    begin(hunt, 2, 57);
    common.iter().for_each(|cell| take(hunt, cell, excess.digits));
    true
}

fn type_4(hunt: &mut Hunt<'_>, excess: &Excess, one: (usize, u32), other: (usize, u32)) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let shared = position.candidates[one.0] & position.candidates[other.0] & !excess.digits;
    if shared.count_ones() != 1 {
        return false;
    }
    let is_common = |kind: &usize| geometry.house(one.0, *kind) == geometry.house(other.0, *kind);
    let Some(kind) = (0..KINDS).find(is_common) else { return false };
    begin(hunt, 4, 57);
    for (cell, digits) in [one, other] {
        take(hunt, cell, position.candidates[cell] & !digits & !shared);
    }
    if hunt.explains {
        hunt.found.houses.push(geometry.house(one.0, kind) as u16);
    }
    true
}

fn type_3(hunt: &mut Hunt<'_>, excess: &Excess) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let common = excess.common.unwrap_or(CellSet::NONE);
    for degree in 2..=6 {
        for kind in 0..KINDS {
            let house = geometry.house(excess.cells[0].0, kind);
            if !excess.cells.iter().all(|&(cell, _)| geometry.contains(house, cell)) {
                continue;
            }
            let cells: Vec<usize> = common.iter().filter(|&cell| geometry.contains(house, cell)).collect();
            if cells.len() < degree {
                continue;
            }
            let mut set = None;
            super::unique::each_set(cells.len(), degree - 1, &mut |chosen| {
                let size = |set: u32| set.count_ones() as usize;
                let union = chosen.iter().fold(0, |union, &at| union | position.candidates[cells[at]]);
                let is_set = chosen.iter().all(|&at| size(position.candidates[cells[at]]) > 1)
                    && size(union) == degree
                    && size(union | excess.digits) == degree;
                let loses = |&(at, &cell): &(usize, &usize)| {
                    !chosen.contains(&at) && position.candidates[cell] & union != 0
                };
                if set.is_none() && is_set && cells.iter().enumerate().any(|item| loses(&item)) {
                    set = Some((chosen.to_vec(), union));
                }
            });
            let Some((chosen, union)) = set else { continue };
            begin(hunt, 3, 57 + degree as u16 - 1);
            for (at, &cell) in cells.iter().enumerate() {
                if !chosen.contains(&at) {
                    take(hunt, cell, union);
                }
            }
            if hunt.explains {
                hunt.found.houses.push(house as u16);
            }
            return true;
        }
    }
    false
}
