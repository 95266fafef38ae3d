//! Techniques inside of dynamic chains: what locked candidates, pairs and X-wings take away from
//! what an assumption leaves.

use super::marks::{Marks, SIDE};
use crate::techniques::geometry::{BOXES, COLUMNS, Geometry, ROWS};
use crate::techniques::position::{bits, is_pair};
use crate::techniques::technique::Technique;

/// A candidate that a technique turns off.
#[derive(Clone, Copy, Debug)]
pub(super) struct Advance {
    pub id: u16,
    pub technique: Technique,
    /// The candidates that had to be off before, as a range of the list of premises.
    pub parents: (usize, usize),
    /// The nested chain that the technique is, if it is one, by its number in the search.
    pub nested: Option<u32>,
}

/// Brings cells with digits into the order in which the reference goes through them: it keeps them
/// in a hash table, so they come by cell numbers modulo its size.
pub(super) fn sort_as_hashed(gone: &mut [(usize, u32)]) {
    let mut size = 16;
    while gone.len() > size * 3 / 4 {
        size *= 2;
    }
    gone.sort_by_key(|&(cell, _)| cell % size);
}

/// What a search writes.
struct PatternSink<'a> {
    advances: &'a mut Vec<Advance>,
    premises: &'a mut Vec<u16>,
}

impl PatternSink<'_> {
    /// Adds what a pattern takes away. A pattern that needs no premise was there before the chain.
    ///
    /// `gone` are cells with digits.
    fn add(&mut self, technique: Technique, from: usize, gone: &mut [(usize, u32)]) {
        let to = self.premises.len();
        if from == to {
            return;
        }
        sort_as_hashed(gone);
        for &mut (cell, digits) in gone {
            for digit in bits(digits) {
                let id = (cell * SIDE + digit) as u16;
                self.advances.push(Advance { id, technique, parents: (from, to), nested: None });
            }
        }
    }
}

const fn number(cell: usize, digit: usize) -> u16 {
    (cell * SIDE + digit) as u16
}

/// Finds all that the first technique takes away that takes anything away.
pub(super) fn find(
    geometry: &Geometry,
    blanks_in: &[u8],
    source: &Marks,
    marks: &Marks,
    advances: &mut Vec<Advance>,
    premises: &mut Vec<u16>,
) {
    let mut sink = PatternSink { advances, premises };
    for search in [locked, hidden_pairs, naked_pairs, x_wings] {
        search(geometry, blanks_in, source, marks, &mut sink);
        if !sink.advances.is_empty() {
            return;
        }
    }
}

fn locked(geometry: &Geometry, _: &[u8], source: &Marks, marks: &Marks, sink: &mut PatternSink<'_>) {
    for (from_kind, to_kind) in [(BOXES, COLUMNS), (BOXES, ROWS), (COLUMNS, BOXES), (ROWS, BOXES)] {
        let technique = if from_kind == BOXES { Technique::Pointing } else { Technique::Claiming };
        for digit in 0..SIDE {
            for house in from_kind * SIDE..(from_kind + 1) * SIDE {
                let places = u32::from(marks.places[house][digit]);
                if places & places.wrapping_sub(1) == 0 {
                    continue;
                }
                let first = geometry.cell_at(house, places.trailing_zeros() as usize);
                let to = geometry.house(first, to_kind);
                let outside = u32::from(marks.places[to][digit]) & !geometry.crossing(to, house);
                if places & !geometry.crossing(house, to) != 0 || outside == 0 {
                    continue;
                }
                let mut gone = [(0, 0); SIDE];
                let mut count = 0;
                for at in bits(outside) {
                    gone[count] = (geometry.cell_at(to, at), 1 << digit);
                    count += 1;
                }
                let start = sink.premises.len();
                let before = u32::from(source.places[house][digit]) & !geometry.crossing(house, to);
                sink.premises.extend(bits(before).map(|at| number(geometry.cell_at(house, at), digit)));
                sink.add(technique, start, &mut gone[..count]);
            }
        }
    }
}

fn hidden_pairs(
    geometry: &Geometry,
    blanks_in: &[u8],
    source: &Marks,
    marks: &Marks,
    sink: &mut PatternSink<'_>,
) {
    for house in geometry.boxes_columns_rows().filter(|&house| blanks_in[house] > 4) {
        let places = &marks.places[house];
        let twos =
            places.iter().enumerate().fold(0, |twos, (at, &set)| twos | u32::from(is_pair(set.into())) << at);
        for high in bits(twos) {
            for low in bits(twos & ((1 << high) - 1)).filter(|&low| places[low] == places[high]) {
                let pair = 1_u16 << low | 1 << high;
                let mut gone = [(0, 0); 2];
                let mut count = 0;
                for at in bits(u32::from(places[high])) {
                    let cell = geometry.cell_at(house, at);
                    let others = marks.cells[cell] & !pair;
                    if others != 0 {
                        gone[count] = (cell, u32::from(others));
                        count += 1;
                    }
                }
                if count == 0 {
                    continue;
                }
                let start = sink.premises.len();
                for at in (0..SIDE).filter(|at| places[high] & (1 << at) == 0) {
                    let cell = geometry.cell_at(house, at);
                    let gone_before = [low, high].into_iter().filter(|&digit| source.has(cell, digit));
                    sink.premises.extend(gone_before.map(|digit| number(cell, digit)));
                }
                sink.add(Technique::HiddenPair, start, &mut gone[..count]);
            }
        }
    }
}

fn naked_pairs(
    geometry: &Geometry,
    blanks_in: &[u8],
    source: &Marks,
    marks: &Marks,
    sink: &mut PatternSink<'_>,
) {
    for house in geometry.boxes_columns_rows().filter(|&house| blanks_in[house] >= 4) {
        let cells = geometry.cells_of(house);
        let candidates = |at: usize| marks.cells[usize::from(cells[at])];
        let twos = (0..SIDE).fold(0, |twos, at| twos | u32::from(is_pair(candidates(at).into())) << at);
        for high in bits(twos) {
            let pair = candidates(high);
            for low in bits(twos & ((1 << high) - 1)).filter(|&low| candidates(low) == pair) {
                let mut gone = [(0, 0); SIDE];
                let mut count = 0;
                for at in (0..SIDE).filter(|&at| at != low && at != high && candidates(at) & pair != 0) {
                    gone[count] = (usize::from(cells[at]), u32::from(candidates(at) & pair));
                    count += 1;
                }
                if count == 0 {
                    continue;
                }
                let start = sink.premises.len();
                for at in [low, high] {
                    let cell = usize::from(cells[at]);
                    let gone_before = bits(u32::from(source.cells[cell] & !pair));
                    sink.premises.extend(gone_before.map(|digit| number(cell, digit)));
                }
                sink.add(Technique::NakedPair, start, &mut gone[..count]);
            }
        }
    }
}

fn x_wings(geometry: &Geometry, _: &[u8], source: &Marks, marks: &Marks, sink: &mut PatternSink<'_>) {
    // Digits with enough lines left: the digits that are placed have no candidates.
    let lines_of =
        |digit: usize| (ROWS * SIDE..(ROWS + 1) * SIDE).filter(|&row| source.places[row][digit] != 0).count();
    let eligible = (0..SIDE).fold(0, |set, digit| set | u32::from(lines_of(digit) >= 4) << digit);
    for (base, cover) in [(COLUMNS, ROWS), (ROWS, COLUMNS)] {
        let twos: [u32; SIDE] = std::array::from_fn(|line| {
            let places = marks.places[base * SIDE + line].iter().enumerate();
            places.fold(0, |twos, (digit, &set)| twos | u32::from(is_pair(set.into())) << digit) & eligible
        });
        for high in 1..SIDE {
            for low in 0..high {
                let (one, other) = (base * SIDE + low, base * SIDE + high);
                for digit in bits(twos[low] & twos[high]) {
                    let places = marks.places[one][digit];
                    if places != marks.places[other][digit] {
                        continue;
                    }
                    let lines = 1_u16 << low | 1 << high;
                    let mut gone = [(0, 0); 2 * SIDE];
                    let mut count = 0;
                    for crossing in bits(u32::from(places)) {
                        let house = cover * SIDE + crossing;
                        for at in bits(u32::from(marks.places[house][digit] & !lines)) {
                            gone[count] = (geometry.cell_at(house, at), 1 << digit);
                            count += 1;
                        }
                    }
                    if count == 0 {
                        continue;
                    }
                    let start = sink.premises.len();
                    for house in [one, other] {
                        for at in bits(u32::from(source.places[house][digit] & !places)) {
                            sink.premises.push(number(geometry.cell_at(house, at), digit));
                        }
                    }
                    sink.add(Technique::XWing, start, &mut gone[..count]);
                }
            }
        }
    }
}
