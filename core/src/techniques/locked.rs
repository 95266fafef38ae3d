//! Locked candidates: a digit that is confined to where two houses cross.
//!
//! *Pointing* reasons from a box to a row or column, *claiming* the other way. The direct forms
//! leave a hidden single at once, so nobody has to write candidates down for them.

use super::geometry::{BOXES, COLUMNS, ROWS};
use super::hunt::{Hunt, Mark};
use super::position::bits;
use super::technique::Technique;

/// From boxes to columns and rows.
const POINTING: [(usize, usize); 2] = [(BOXES, COLUMNS), (BOXES, ROWS)];
/// From columns and rows to boxes.
const CLAIMING: [(usize, usize); 2] = [(COLUMNS, BOXES), (ROWS, BOXES)];

/// A digit of a box in one row or column that leaves one place for it in another box.
pub(super) fn direct_pointing(hunt: &mut Hunt<'_>) -> bool {
    search(hunt, Technique::DirectPointing, POINTING, direct)
}

/// A digit of a row or column in one box that leaves one place for it in another row or column.
pub(super) fn direct_claiming(hunt: &mut Hunt<'_>) -> bool {
    search(hunt, Technique::DirectClaiming, CLAIMING, direct)
}

/// A digit of a box in one row or column.
pub(super) fn pointing(hunt: &mut Hunt<'_>) -> bool {
    search(hunt, Technique::Pointing, POINTING, eliminate)
}

/// A digit of a row or column in one box.
pub(super) fn claiming(hunt: &mut Hunt<'_>) -> bool {
    search(hunt, Technique::Claiming, CLAIMING, eliminate)
}

/// A digit that is confined to where two houses cross.
#[derive(Clone, Copy)]
struct LockedDigit {
    digit: usize,
    /// The house whose places for the digit all lie in the other.
    from: usize,
    /// The house that may lose the digit elsewhere.
    to: usize,
}

fn search(
    hunt: &mut Hunt<'_>,
    technique: Technique,
    kinds: [(usize, usize); 2],
    step: fn(&mut Hunt<'_>, Technique, LockedDigit) -> bool,
) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let side = geometry.side;
    for (from_kind, to_kind) in kinds {
        for digit in 0..side {
            for from in from_kind * side..(from_kind + 1) * side {
                let places = position.places(from, digit);
                // More than a box and a line have in common cannot be confined to both.
                let count = places.count_ones() as usize;
                if count < 2 || count > geometry.order.box_side() {
                    continue;
                }
                let first = geometry.cell_at(from, places.trailing_zeros() as usize);
                let to = geometry.house(first, to_kind);
                if places & !geometry.crossing(from, to) == 0
                    && position.places(to, digit).count_ones() as usize > count
                    && step(hunt, technique, LockedDigit { digit, from, to })
                {
                    return true;
                }
            }
        }
    }
    false
}

/// The elimination that leaves one place in another house.
fn direct(hunt: &mut Hunt<'_>, technique: Technique, locked: LockedDigit) -> bool {
    let (position, geometry) = (hunt.position, hunt.position.geometry);
    let LockedDigit { digit, from, to } = locked;
    let kind = from / geometry.side;
    for third in (kind * geometry.side..(kind + 1) * geometry.side).filter(|&third| third != from) {
        let places = position.places(third, digit);
        if places.count_ones() < 2 {
            continue;
        }
        let mut outside = bits(places).map(|at| geometry.cell_at(third, at));
        let mut outside = outside.by_ref().filter(|&cell| !geometry.contains(to, cell));
        if let (Some(cell), None) = (outside.next(), outside.next()) {
            hunt.found.begin(technique);
            hunt.found.placement = Some(Mark::new(cell, digit));
            show(hunt, locked);
            if hunt.explains {
                hunt.found.houses.push(third as u16);
            }
            return true;
        }
    }
    false
}

/// The elimination by itself.
fn eliminate(hunt: &mut Hunt<'_>, technique: Technique, locked: LockedDigit) -> bool {
    let geometry = hunt.position.geometry;
    hunt.found.begin(technique);
    for &cell in geometry.cells_of(locked.to) {
        let cell = usize::from(cell);
        if !geometry.contains(locked.from, cell) {
            hunt.eliminate(cell, locked.digit);
        }
    }
    show(hunt, locked);
    true
}

fn show(hunt: &mut Hunt<'_>, locked: LockedDigit) {
    if hunt.explains {
        let (position, geometry) = (hunt.position, hunt.position.geometry);
        for at in bits(position.places(locked.from, locked.digit)) {
            let cell = geometry.cell_at(locked.from, at);
            hunt.found.cells.push(cell as u16);
            hunt.show(cell, 1 << locked.digit);
        }
        hunt.found.houses.extend([locked.from as u16, locked.to as u16]);
        hunt.found.digits = 1 << locked.digit;
    }
}
