//! What every assumption leads to at most when everything counts that it has turned off, all of them
//! side by side.
//!
//! [Closures](super::closure) tell what statements rest on, and depend on the order of work. What
//! follows in the end does not, as long as there is no contradiction: so it is computed first, with
//! a bit for each assumption in a row for each statement, and closures are computed only where it
//! shows that something can come of them.

use super::marks::{Marks, OFF, ON, SIDE, WORDS, has};
use super::side_by_side::{ALL_BITS, BlockBits, NO_BITS, SIDE_BY_SIDE, find_live};
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::position::bits;

/// The cells, and the digits of each house.
const UNITS: usize = SIDE * SIDE * (1 + KINDS);

/// What all assumptions lead to.
#[derive(Debug, Default)]
pub(super) struct Consequences {
    /// The candidates that are left, and the number of each among them.
    live: Vec<u16>,
    number: Vec<u16>,
    /// The candidates of each cell and the places of each digit in each house, by their numbers; of
    /// the units that count.
    units: Vec<u16>,
    ends: Vec<u32>,
    /// The units of each candidate.
    units_of: Vec<[u16; 1 + KINDS]>,
    /// The assumptions among those that are followed that lead to each candidate being on, and off.
    rows: Vec<[BlockBits; 2]>,
    /// The candidates that lead to a contradiction when they are on, or off.
    wrong: [[u64; WORDS]; 2],
    /// What each candidate turns on and off when it is on, and when it is off.
    sets: [[Vec<[u64; WORDS]>; 2]; 2],
}

impl Consequences {
    /// Follows all assumptions: links of one digit only for Nishio chains. Returns the number of
    /// inferences.
    pub(super) fn explore(&mut self, geometry: &Geometry, marks: &Marks, is_nishio: bool) -> u64 {
        self.wrong = [[0; WORDS]; 2];
        self.sets.iter_mut().flatten().for_each(Vec::clear);
        let mut inferences = 0;
        let digits = if is_nishio { 0..SIDE } else { 0..1 };
        for digit in digits {
            let digits = if is_nishio { 1 << digit } else { u16::MAX };
            self.load(geometry, marks, digits);
            for from in (0..self.live.len()).step_by(SIDE_BY_SIDE) {
                for assumed in [ON, OFF] {
                    inferences += self.follow(assumed, from);
                    if !is_nishio {
                        self.turn(assumed, from);
                    }
                }
            }
        }
        inferences
    }

    /// Reads the units of some digits: of all, or of one alone.
    fn load(&mut self, geometry: &Geometry, marks: &Marks, digits: u16) {
        let cells = marks.cells.iter().map(|&candidates| u32::from(candidates & digits));
        find_live(&mut self.live, &mut self.number, SIDE, cells);
        self.units.clear();
        self.ends.clear();
        self.units_of.clear();
        self.units_of.resize(self.live.len(), [u16::MAX; 1 + KINDS]);
        let Self { number, units, ends, units_of, .. } = self;
        let mut add = |kind: usize, members: &mut dyn Iterator<Item = usize>| {
            let unit = ends.len() as u16;
            for id in members {
                units.push(number[id]);
                units_of[usize::from(number[id])][kind] = unit;
            }
            ends.push(units.len() as u32);
        };
        for (cell, &candidates) in marks.cells.iter().enumerate() {
            if digits == u16::MAX && candidates.count_ones() > 1 {
                add(KINDS, &mut bits(u32::from(candidates)).map(|digit| cell * SIDE + digit));
            }
        }
        for (house, places) in marks.places.iter().enumerate() {
            for (digit, &places) in places.iter().enumerate() {
                if digits & (1 << digit) != 0 && places.count_ones() > 1 {
                    let cells = bits(u32::from(places)).map(|at| geometry.cell_at(house, at));
                    add(house / SIDE, &mut cells.map(|cell| cell * SIDE + digit));
                }
            }
        }
    }

    /// Follows a block of assumptions until nothing is new or they lead to contradictions. Returns
    /// the number of inferences.
    fn follow(&mut self, assumed: usize, from: usize) -> u64 {
        let Self { rows, live, ends, units, units_of, .. } = self;
        rows.clear();
        rows.resize(live.len(), [NO_BITS; 2]);
        let block = live.len().min(from + SIDE_BY_SIDE) - from;
        for bit in 0..block {
            rows[from + bit][assumed][bit / 64] |= 1 << (bit % 64);
        }
        let mut wrong = NO_BITS;
        let mut waits = [0; UNITS.div_ceil(64)];
        let wait = |waits: &mut [u64], unit: usize| waits[unit / 64] |= 1 << (unit % 64);
        (0..ends.len()).for_each(|unit| wait(&mut waits, unit));
        let mut inferences = 0;
        while waits.iter().any(|&word| word != 0) {
            for at in 0..waits.len() {
                while waits[at] != 0 {
                    let unit = 64 * at + waits[at].trailing_zeros() as usize;
                    waits[at] &= waits[at] - 1;
                    let start = unit.checked_sub(1).map_or(0, |before| ends[before]);
                    let members = &units[start as usize..ends[unit] as usize];
                    inferences += members.len() as u64;
                    follow_unit(members, rows, &mut wrong, |member| {
                        for &other in &units_of[usize::from(member)] {
                            if other != u16::MAX && usize::from(other) != unit {
                                wait(&mut waits, usize::from(other));
                            }
                        }
                    });
                }
            }
        }
        for (bit, &id) in live[from..][..block].iter().enumerate() {
            if wrong[bit / 64] >> (bit % 64) & 1 != 0 {
                self.wrong[assumed][usize::from(id) / 64] |= 1 << (id % 64);
            }
        }
        inferences
    }

    /// Turns the rows of a block of assumptions into what each of them turns on and off.
    fn turn(&mut self, assumed: usize, from: usize) {
        let block = self.live.len().min(from + SIDE_BY_SIDE) - from;
        for (state, sets) in self.sets[assumed].iter_mut().enumerate() {
            sets.resize(from + block, [0; WORDS]);
            for (word, rows) in self.rows.chunks(64).enumerate() {
                for at in 0..block.div_ceil(64) {
                    let mut square = [0; 64];
                    square.iter_mut().zip(rows).for_each(|(line, row)| *line = row[state][at]);
                    transpose(&mut square);
                    for (set, line) in sets[from + 64 * at..].iter_mut().zip(square) {
                        set[word] = line;
                    }
                }
            }
            for (set, &id) in sets[from..].iter_mut().zip(&self.live[from..]) {
                if has(&self.wrong[assumed], id) {
                    *set = [u64::MAX; WORDS];
                }
            }
        }
    }

    /// Whether a candidate that is on or off leads to a contradiction.
    pub(super) fn is_wrong(&self, id: u16, state: usize) -> bool {
        has(&self.wrong[state], id)
    }

    /// Notes what the closure of a candidate that is on has in fact.
    pub(super) fn learn(&mut self, id: u16, lists: &[Vec<u16>; 2]) {
        let number = |id: u16| usize::from(self.number[usize::from(id)]);
        for (sets, list) in self.sets[ON].iter_mut().zip(lists) {
            let set = &mut sets[number(id)];
            *set = [0; WORDS];
            for &id in list {
                set[number(id) / 64] |= 1 << (number(id) % 64);
            }
        }
    }

    /// Whether a candidate may lead to the same whether it is on or off.
    pub(super) fn is_double(&self, id: u16) -> bool {
        let at = usize::from(self.number[usize::from(id)]);
        let meet = |(on, off): (&Vec<[u64; WORDS]>, &Vec<[u64; WORDS]>)| {
            on[at].iter().zip(&off[at]).any(|(on, off)| on & off != 0)
        };
        self.sets[ON].iter().zip(&self.sets[OFF]).any(meet)
    }

    /// Whether something may follow from each of several candidates that are on.
    pub(super) fn meet(&self, sources: &[u16]) -> bool {
        self.sets[ON].iter().any(|sets| {
            let mut common = [u64::MAX; WORDS];
            for &source in sources {
                let set = &sets[usize::from(self.number[usize::from(source)])];
                common.iter_mut().zip(set).for_each(|(word, other)| *word &= other);
            }
            common != [0; WORDS]
        })
    }
}

/// Follows what happens in a unit: if one of its candidates is on, the others go off; if all but one
/// are off, that one goes on. Calls `change` with those that assumptions lead to that are not wrong.
#[inline]
fn follow_unit(
    members: &[u16],
    rows: &mut [[BlockBits; 2]],
    wrong: &mut BlockBits,
    mut change: impl FnMut(u16),
) {
    // Where one is on; where all before each are off.
    let mut any = NO_BITS;
    let mut twice = NO_BITS;
    let mut off_before = [ALL_BITS; SIDE];
    let mut all_off = ALL_BITS;
    for (&member, off_before) in members.iter().zip(&mut off_before) {
        let [on, off] = rows[usize::from(member)];
        *off_before = all_off;
        twice = std::array::from_fn(|word| twice[word] | any[word] & on[word]);
        any = std::array::from_fn(|word| any[word] | on[word]);
        all_off = std::array::from_fn(|word| all_off[word] & off[word]);
    }
    let mut bad: BlockBits = std::array::from_fn(|word| wrong[word] | twice[word]);
    let mut off_after = ALL_BITS;
    for (&member, off_before) in members.iter().zip(&off_before).rev() {
        let [on, off] = rows[usize::from(member)];
        let off_others: BlockBits = std::array::from_fn(|word| off_before[word] & off_after[word]);
        off_after = std::array::from_fn(|word| off_after[word] & off[word]);
        let new_on: BlockBits = std::array::from_fn(|word| off_others[word] & !on[word] & !bad[word]);
        let new_off: BlockBits = std::array::from_fn(|word| any[word] & !(on[word] | off[word] | bad[word]));
        let new: BlockBits = std::array::from_fn(|word| new_on[word] | new_off[word]);
        if new != NO_BITS {
            let on: BlockBits = std::array::from_fn(|word| on[word] | new_on[word]);
            let off: BlockBits = std::array::from_fn(|word| off[word] | new_off[word]);
            bad = std::array::from_fn(|word| bad[word] | on[word] & off[word]);
            rows[usize::from(member)] = [on, off];
            change(member);
        }
    }
    *wrong = bad;
}

/// Exchanges the lines and columns of a square of bits (H. S. Warren, "Hacker's Delight", 7-3).
fn transpose(square: &mut [u64; 64]) {
    let (mut width, mut mask) = (32, 0x0000_0000_ffff_ffff_u64);
    while width != 0 {
        let mut line = 0;
        while line < 64 {
            let moved = (square[line] >> width ^ square[line + width]) & mask;
            square[line] ^= moved << width;
            square[line + width] ^= moved;
            line = (line + width + 1) & !width;
        }
        width >>= 1;
        mask ^= mask << width;
    }
}

#[cfg(test)]
mod tests {
    use super::super::closure::Closure;
    use super::super::dynamic::worker::{Rules, Scene, Worker};
    use super::super::marks::CANDIDATES;
    use super::*;
    use crate::techniques::tests::random_positions;

    #[test]
    fn the_consequences_are_what_closures_come_to() {
        let (mut consequences, mut worker, mut closure) =
            (Consequences::default(), Worker::default(), Closure::default());
        let (mut wrong, mut right) = (0, 0);
        for position in random_positions(24) {
            worker.source.load(&position);
            for is_nishio in [false, true] {
                let scene = Scene {
                    geometry: position.geometry,
                    blanks_in: &position.blanks_in,
                    rules: Rules { is_nishio, level: 0, nested_level: 0 },
                    most: u64::MAX,
                    cancel: None,
                };
                consequences.explore(position.geometry, &worker.source, is_nishio);
                let live = (0..CANDIDATES).filter(|id| position.has(id / SIDE, id % SIDE));
                for id in live.clone().map(|id| id as u16) {
                    for state in [ON, OFF] {
                        worker.run(&scene, (id, state), usize::MAX, &mut closure);
                        assert_eq!(consequences.is_wrong(id, state), closure.contradiction.is_some());
                        wrong += usize::from(closure.contradiction.is_some());
                        if closure.contradiction.is_some() || is_nishio {
                            continue;
                        }
                        right += 1;
                        for (sets, own) in consequences.sets[state].iter().zip(&closure.sets) {
                            let set = &sets[usize::from(consequences.number[usize::from(id)])];
                            for other in live.clone().map(|other| other as u16) {
                                let is_there = has(set, consequences.number[usize::from(other)]);
                                assert_eq!(is_there, has(own, other), "{id} to {other}");
                            }
                        }
                    }
                }
            }
        }
        assert!(wrong > 1000 && right > 1000, "{wrong} {right}");
    }
}
