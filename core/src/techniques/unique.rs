//! Unique rectangles and loops: cells in a loop that would have two solutions if they had no other
//! candidates than two digits, so something else has to be true.
//!
//! A loop goes from cell to cell by a house, never by the same kind of house twice, and each house
//! that it visits holds exactly two of its cells, one at an even and one at an odd place.
//!
//! | type | cells with other candidates | what follows |
//! |---|---|---|
//! | 1 | one | it is one of the others |
//! | 2 | two or more, all with the same one | that digit is in one of them, so not where they all see |
//! | 3 | two in one house | with other cells of the house they make a naked or hidden set |
//! | 4 | two in one house, in which one of the digits has no other place | the other digit goes from them |

use super::geometry::KINDS;
use super::hunt::Hunt;
use super::position::bits;
use super::step::Kind;
use super::subsets::mask_of;
use super::technique::Technique;

/// The places of a loop so far.
struct Walk {
    digits: u32,
    cells: Vec<u16>,
    /// The houses of cells at even and at odd places.
    visited: [u128; 2],
}

/// What follows from a loop.
struct Conclusion {
    rating: u16,
    kind: u8,
    cells: Vec<u16>,
    digits: u32,
    gone: Vec<(usize, u32)>,
    houses: Vec<u16>,
}

/// The easiest unique rectangle or loop.
pub(super) fn unique_loop(hunt: &mut Hunt<'_>) -> bool {
    let position = hunt.position;
    let mut best: Option<Conclusion> = None;
    for start in 0..position.geometry.cells {
        let digits = position.candidates[start];
        if digits.count_ones() != 2 {
            continue;
        }
        let mut walk = Walk { digits, cells: Vec::with_capacity(16), visited: [0; 2] };
        walk_on(hunt, &mut walk, start, 2, 0, KINDS, &mut best);
        if hunt.stopped.is_some() {
            return false;
        }
    }
    let Some(best) = best else { return false };
    let is_rectangle = best.cells.len() == 4;
    hunt.found.begin(if is_rectangle { Technique::UniqueRectangle } else { Technique::UniqueLoop });
    hunt.found.rating = best.rating;
    hunt.found.kind = Kind::Type(best.kind);
    for &(cell, digits) in &best.gone {
        for digit in bits(digits) {
            hunt.eliminate(cell, digit);
        }
    }
    if hunt.explains {
        for &cell in &best.cells {
            hunt.show(usize::from(cell), u32::MAX);
        }
        hunt.found.cells.extend(best.cells);
        hunt.found.houses.extend(best.houses);
        hunt.found.digits = best.digits;
    }
    true
}

/// Extends a loop by a cell, and closes it wherever it can be closed.
///
/// `spare` is the number of further cells that may have other candidates, and `extras` what those
/// so far have; with one and the same extra digit there may be any number of them.
fn walk_on(
    hunt: &mut Hunt<'_>,
    walk: &mut Walk,
    cell: usize,
    spare: i32,
    extras: u32,
    last_kind: usize,
    best: &mut Option<Conclusion>,
) {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let parity = walk.cells.len() % 2;
    let houses = geometry.houses_of[cell].iter().fold(0_u128, |set, &house| set | 1 << house);
    // Each house holds one cell of each parity, so two of one cannot belong to a unique loop.
    if walk.visited[parity] & houses != 0 || !hunt.spend(0) {
        return;
    }
    walk.cells.push(cell as u16);
    walk.visited[parity] |= houses;
    for kind in (0..KINDS).filter(|&kind| kind != last_kind) {
        let house = geometry.house(cell, kind);
        let both = bits(walk.digits).fold(u32::MAX, |both, digit| both & position.places(house, digit));
        for at in bits(both) {
            let next_cell = geometry.cell_at(house, at);
            let next = next_cell as u16;
            if walk.cells[0] == next && walk.cells.len() >= 4 {
                if walk.visited[0] == walk.visited[1] {
                    close(hunt, walk, best);
                }
                continue;
            }
            if walk.cells.contains(&next) {
                continue;
            }
            let candidates = position.candidates[next_cell];
            let extras = extras | candidates & !walk.digits;
            let is_pure = candidates == walk.digits;
            if is_pure || extras.is_power_of_two() || spare > 0 {
                walk_on(hunt, walk, next_cell, spare - i32::from(!is_pure), extras, kind, best);
            }
        }
    }
    walk.visited[parity] &= !houses;
    walk.cells.pop();
}

/// The rating of a loop of so many cells.
const fn base(cells: usize) -> u16 {
    match cells {
        0..=5 => 45,
        6..=7 => 46,
        8..=9 => 47,
        _ => 50,
    }
}

/// Looks for what follows from a loop.
fn close(hunt: &Hunt<'_>, walk: &Walk, best: &mut Option<Conclusion>) {
    let position = hunt.position;
    let technique = if walk.cells.len() == 4 { Technique::UniqueRectangle } else { Technique::UniqueLoop };
    if !hunt.allows(technique) {
        return;
    }
    let is_extra = |&&cell: &&u16| position.candidates[usize::from(cell)] != walk.digits;
    let extra_cells: Vec<usize> = walk.cells.iter().filter(is_extra).map(|&cell| usize::from(cell)).collect();
    let mut propose = |rating: u16, kind: u8, gone: Vec<(usize, u32)>, houses: Vec<u16>| {
        let is_better = best.as_ref().is_none_or(|best| (rating, kind) < (best.rating, best.kind));
        if is_better && gone.iter().any(|&(cell, digits)| position.candidates[cell] & digits != 0) {
            let (cells, digits) = (walk.cells.clone(), walk.digits);
            *best = Some(Conclusion { rating, kind, cells, digits, gone, houses });
        }
    };
    let base = base(walk.cells.len());
    match *extra_cells.as_slice() {
        [] => {}
        [cell] => propose(base, 1, vec![(cell, walk.digits)], Vec::new()),
        [first, second] => {
            let extras = (position.candidates[first] | position.candidates[second]) & !walk.digits;
            if extras.is_power_of_two() {
                propose(base, 2, seen_by_all(hunt, &extra_cells, extras), Vec::new());
            } else {
                sets(hunt, walk.digits, extras, [first, second], &mut |added, gone, house| {
                    propose(base + added, 3, gone, vec![house]);
                });
            }
            if let Some((gone, house)) = locked(hunt, walk.digits, first, second) {
                propose(base, 4, vec![(first, gone), (second, gone)], vec![house]);
            }
        }
        [first, ..] => {
            let extras = position.candidates[first] & !walk.digits;
            propose(base, 2, seen_by_all(hunt, &extra_cells, extras), Vec::new());
        }
    }
}

/// The cells that see all of `cells`, with the digits that they may lose.
fn seen_by_all(hunt: &Hunt<'_>, cells: &[usize], digits: u32) -> Vec<(usize, u32)> {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let peers = geometry.peers(cells[0]).iter().map(|&peer| usize::from(peer));
    peers
        .filter(|&peer| position.candidates[peer] & digits != 0)
        .filter(|&peer| cells.iter().all(|&cell| geometry.sees(peer, cell)))
        .map(|peer| (peer, digits))
        .collect()
}

/// The digit that goes where the other is confined to two cells of a house, and the house.
fn locked(hunt: &Hunt<'_>, digits: u32, first: usize, second: usize) -> Option<(u32, u16)> {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let low = digits & digits.wrapping_neg();
    let mut found = [None; 2];
    for kind in 0..KINDS {
        let house = geometry.house(first, kind);
        if geometry.house(second, kind) != house {
            continue;
        }
        for (locked, digit) in [low, digits & !low].into_iter().enumerate() {
            if position.places(house, digit.trailing_zeros() as usize).count_ones() == 2 {
                found[locked] = Some(house as u16);
            }
        }
    }
    match found {
        [Some(house), _] => Some((digits & !low, house)),
        [None, Some(house)] => Some((low, house)),
        [None, None] => None,
    }
}

/// Calls `visit` with each set of numbers below `below` that has `size` elements, by their greatest
/// element first.
pub(super) fn each_set(below: usize, size: usize, visit: &mut impl FnMut(&[usize])) {
    fn choose(below: usize, need: usize, chosen: &mut [usize], visit: &mut impl FnMut(&[usize])) {
        if need == 0 {
            return visit(chosen);
        }
        for next in need - 1..below {
            chosen[need - 1] = next;
            choose(next, need - 1, chosen, visit);
        }
    }
    // With nothing to choose from there is no set, not even an empty one.
    if below > 0 && size <= below {
        choose(below, size, &mut vec![0; size], visit);
    }
}

/// Naked and hidden sets that two cells, as one, make with others of a house. Calls `propose` with
/// what is added to the rating, what goes, and the house.
fn sets(
    hunt: &Hunt<'_>,
    digits: u32,
    extras: u32,
    [first, second]: [usize; 2],
    propose: &mut impl FnMut(u16, Vec<(usize, u32)>, u16),
) {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let side = geometry.side;
    let common = extras & position.candidates[first] & position.candidates[second];
    for degree in 2..=side.saturating_sub(2).min(7) {
        for kind in 0..KINDS {
            let house = geometry.house(first, kind);
            if geometry.house(second, kind) != house {
                continue;
            }
            let blanks = usize::from(position.blanks_in[house]);
            let others = |set: u32| {
                let positions = (0..side).filter(move |&at| set & (1 << at) != 0);
                positions
                    .map(|at| geometry.cell_at(house, at))
                    .filter(|&cell| cell != first && cell != second)
            };
            if 2 * degree <= blanks && degree >= extras.count_ones() as usize {
                let places: Vec<usize> = (0..side)
                    .filter(|&at| {
                        let cell = geometry.cell_at(house, at);
                        cell != first && cell != second && position.candidates[cell].count_ones() > 1
                    })
                    .collect();
                each_set(places.len(), degree - 1, &mut |chosen| {
                    let inside = chosen.iter().fold(0, |set, &index| set | 1 << places[index]);
                    let union = others(inside).fold(0, |union, cell| union | position.candidates[cell]);
                    let size = |set: u32| set.count_ones() as usize;
                    if size(union | common) == degree && size(union | extras) == degree {
                        let gone: Vec<_> = others(!inside).map(|cell| (cell, union | extras)).collect();
                        propose(degree as u16 - 1, gone, house as u16);
                    }
                });
            }
            if 2 * degree < blanks {
                let free: Vec<usize> = (0..side).filter(|d| (digits | extras) & (1 << d) == 0).collect();
                let second_at = 1 << geometry.position_in[second][kind];
                let first_at = 1 << geometry.position_in[first][kind];
                each_set(free.len(), degree - 2, &mut |chosen| {
                    let chosen: Vec<usize> = chosen.iter().map(|&index| free[index]).collect();
                    let hidden = digits | mask_of(&chosen);
                    let mut union = 0;
                    for digit in bits(hidden) {
                        let places = position.places(house, digit) & !second_at;
                        if places == 0 {
                            return;
                        }
                        union |= places;
                    }
                    if union.count_ones() as usize == degree {
                        let gone: Vec<_> = others(union & !first_at).map(|cell| (cell, !hidden)).collect();
                        propose(degree as u16 - 2, gone, house as u16);
                    }
                });
            }
        }
    }
}
