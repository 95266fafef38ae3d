//! What every candidate of a position leads to along links when it is on, all of them side by side.
//!
//! Chains without branches do not depend on each other, so each statement has a row of bits, one
//! for each candidate that leads to it, and a step along a link carries all of them at once. The
//! steps are made in turns along weak and strong links, so the number of the step at which a bit
//! comes is the length of the shortest chain.
//!
//! Links hold both ways round: if one candidate being on turns another one off, then the other
//! being on turns the first one off. So the row of a candidate that is off is also the set of what
//! the candidate itself turns off when it is on. What a candidate leads to when it is off is what
//! the other ends of its strong links lead to.

use std::ops::Range;

use super::marks::{OFF, ON};
use super::side_by_side::{BlockBits, NO_BITS, SIDE_BY_SIDE, find_live};
use super::{Cells, Mode, known_places};
use crate::techniques::geometry::{Geometry, KINDS};
use crate::techniques::position::{bits, is_pair};

/// The steps that are remembered: nearly all chains and cycles that are made are that short.
const STEPS: usize = 8;
/// The number of what is no relay.
const NONE: u16 = u16::MAX;

/// The reach of all assumptions.
#[derive(Debug, Default)]
pub(super) struct Reach {
    /// The candidates that are left, and the number of each among them.
    pub live: Vec<u16>,
    number: Vec<u16>,
    /// The candidates with strong links, because chains go on from no other, and the number of each
    /// among them.
    relays: Vec<u16>,
    relay: Vec<u16>,
    /// Strong links between relays.
    strong: Vec<[u16; 2]>,
    /// The relays that have weak links to each relay, one after the other, and where they end.
    weak: Vec<u16>,
    weak_ends: Vec<u32>,
    /// The candidates that have a strong link to each relay, a block of them after another.
    by_strong: Vec<BlockBits>,
    /// Those that have a weak link to it, blocks likewise.
    by_weak: Vec<BlockBits>,
    /// Those that lead to it being on, and off.
    on: Vec<BlockBits>,
    off: Vec<BlockBits>,
    /// Those that lead to it being on by the first steps along two links each: blocks likewise, in
    /// each the steps one after another.
    by_steps: Vec<BlockBits>,
    /// What each candidate turns on, and off, when it is on: if that is wanted.
    turned: [Vec<BlockBits>; 2],
    /// The shortest chain from each candidate that is on or off to its contrary; 0 if there is none.
    pub chains: [Vec<u16>; 2],
    /// How long a cycle from each candidate is at least; 0 if there is none.
    pub cycles: Vec<u16>,
    /// The rows of one block: what leads to each relay by state; what was new at the last step, and
    /// what comes at the next.
    seen: [Vec<BlockBits>; 2],
    fresh: Vec<BlockBits>,
    next: Vec<BlockBits>,
}

#[inline]
fn add(row: &mut BlockBits, other: &BlockBits) {
    row.iter_mut().zip(other).for_each(|(word, other)| *word |= other);
}

#[inline]
fn set(row: &mut BlockBits, bit: usize) {
    row[bit / 64] |= 1 << (bit % 64);
}

/// Calls `visit` with the number of each bit.
#[inline]
fn each_bit(row: &BlockBits, mut visit: impl FnMut(usize)) {
    for (at, &word) in row.iter().enumerate() {
        let mut word = word;
        while word != 0 {
            visit(64 * at + word.trailing_zeros() as usize);
            word &= word - 1;
        }
    }
}

/// Calls `visit` with each candidate that has a weak link of a mode to one.
#[inline]
fn each_weak(geometry: &Geometry, cells: &impl Cells, mode: Mode, id: usize, mut visit: impl FnMut(usize)) {
    let side = geometry.side;
    let (cell, digit) = (id / side, id % side);
    if mode != Mode::X {
        bits(cells.candidates(cell) & !(1 << digit)).for_each(|other| visit(cell * side + other));
    }
    for kind in 0..KINDS {
        let house = geometry.house(cell, kind);
        let own = 1 << geometry.position_in[cell][kind] | known_places(geometry, cell, kind);
        bits(cells.places(house, digit) & !own)
            .for_each(|at| visit(geometry.cell_at(house, at) * side + digit));
    }
}

impl Reach {
    /// Follows all candidates to their ends. Returns the number of inferences.
    pub(super) fn explore(&mut self, geometry: &Geometry, cells: &impl Cells, mode: Mode) -> u64 {
        self.load(geometry, cells, mode);
        for lengths in self.chains.iter_mut().chain([&mut self.cycles]) {
            lengths.clear();
            lengths.resize(self.live.len(), 0);
        }
        self.on.clear();
        self.off.clear();
        self.by_steps.clear();
        let mut inferences = self.live.len() as u64;
        for from in (0..self.live.len()).step_by(SIDE_BY_SIDE) {
            inferences += self.follow(from);
            let steps = (from / SIDE_BY_SIDE + 1) * STEPS;
            while self.by_steps.len() < steps * self.relays.len() {
                self.by_steps.extend_from_slice(&self.seen[ON]);
            }
            self.on.extend_from_slice(&self.seen[ON]);
            self.off.extend_from_slice(&self.seen[OFF]);
        }
        self.forget_idle_cycles();
        inferences
    }

    /// Forgets cycles that take nothing away. What a cycle takes away turns off two candidates of it,
    /// one of them turned on by the cycle: so it is refuted, and leads to all candidates of the cycle
    /// being both on and off.
    fn forget_idle_cycles(&mut self) {
        let mut refuted = vec![NO_BITS; self.live.len().div_ceil(SIDE_BY_SIDE)];
        for (at, _) in self.chains[ON].iter().enumerate().filter(|&(_, &length)| length > 0) {
            set(&mut refuted[at / SIDE_BY_SIDE], at % SIDE_BY_SIDE);
        }
        for (at, &id) in self.relays.iter().enumerate() {
            let is_used = refuted.iter().enumerate().any(|(block, refuted)| {
                let at = block * self.relays.len() + at;
                (0..refuted.len()).any(|word| refuted[word] & self.on[at][word] & self.off[at][word] != 0)
            });
            if !is_used {
                self.cycles[usize::from(self.number[usize::from(id)])] = 0;
            }
        }
    }

    /// Reads the links of a mode.
    fn load(&mut self, geometry: &Geometry, cells: &impl Cells, mode: Mode) {
        find_live(
            &mut self.live,
            &mut self.number,
            geometry.side,
            (0..geometry.cells).map(|cell| cells.candidates(cell)),
        );
        self.find_strong(geometry, cells, mode);
        let (relays, blocks) = (self.relays.len(), self.live.len().div_ceil(SIDE_BY_SIDE));
        for rows in [&mut self.by_strong, &mut self.by_weak] {
            rows.clear();
            rows.resize(relays * blocks, NO_BITS);
        }
        let number = &self.number;
        let link = |rows: &mut Vec<BlockBits>, to: usize, from: usize| {
            let from = usize::from(number[from]);
            set(&mut rows[from / SIDE_BY_SIDE * relays + to], from % SIDE_BY_SIDE);
        };
        for &[one, other] in &self.strong {
            for [one, other] in [[one, other], [other, one]] {
                link(&mut self.by_strong, usize::from(one), usize::from(self.relays[usize::from(other)]));
            }
        }
        self.weak.clear();
        self.weak_ends.clear();
        for (to, &id) in self.relays.iter().enumerate() {
            each_weak(geometry, cells, mode, usize::from(id), |from| {
                link(&mut self.by_weak, to, from);
                if self.relay[from] != NONE {
                    self.weak.push(self.relay[from]);
                }
            });
            self.weak_ends.push(self.weak.len() as u32);
        }
    }

    /// Finds the strong links of a mode, and thereby the relays.
    fn find_strong(&mut self, geometry: &Geometry, cells: &impl Cells, mode: Mode) {
        let side = geometry.side;
        let Self { relay, relays, strong, .. } = self;
        relay.clear();
        relay.resize(geometry.cells * side, NONE);
        relays.clear();
        strong.clear();
        let mut link = |ids: [usize; 2]| {
            strong.push(ids.map(|id| {
                if relay[id] == NONE {
                    relay[id] = relays.len() as u16;
                    relays.push(id as u16);
                }
                relay[id]
            }));
        };
        let ends = |set: u32| [set.trailing_zeros() as usize, (set & (set - 1)).trailing_zeros() as usize];
        for cell in (0..geometry.cells).filter(|_| mode != Mode::X) {
            let candidates = cells.candidates(cell);
            if is_pair(candidates) {
                link(ends(candidates).map(|digit| cell * side + digit));
            }
        }
        for house in (0..geometry.houses()).filter(|_| mode != Mode::Y) {
            for digit in 0..side {
                let places = cells.places(house, digit);
                if is_pair(places) {
                    link(ends(places).map(|at| geometry.cell_at(house, at) * side + digit));
                }
            }
        }
    }

    /// Follows a block of candidates step by step until nothing is new. Returns the number of
    /// inferences.
    fn follow(&mut self, from: usize) -> u64 {
        let relays = self.relays.len();
        let block = from / SIDE_BY_SIDE * relays..(from / SIDE_BY_SIDE + 1) * relays;
        self.seen[ON].clear();
        self.seen[ON].resize(relays, NO_BITS);
        for (row, &id) in self.seen[ON].iter_mut().zip(&self.relays) {
            let bit = usize::from(self.number[usize::from(id)]).checked_sub(from);
            bit.filter(|&bit| bit < SIDE_BY_SIDE).into_iter().for_each(|bit| set(row, bit));
        }
        for rows in [&mut self.seen[OFF], &mut self.fresh] {
            rows.clear();
            rows.extend_from_slice(&self.by_weak[block.clone()]);
        }
        let note = |lengths: &mut Vec<u16>, ended: &BlockBits, length: u16| {
            each_bit(ended, |bit| {
                let known = &mut lengths[from + bit];
                *known = if *known == 0 { length } else { *known };
            });
        };
        let mut inferences = 0;
        for length in (4..).step_by(2) {
            // A chain ends one link further on, a cycle where its last statement is off.
            let (ended, is_end) = self.turn_on(block.clone(), length);
            note(&mut self.chains[ON], &ended, length);
            if usize::from(length) < 4 + 2 * STEPS {
                self.by_steps.extend_from_slice(&self.seen[ON]);
            }
            inferences += (self.weak.len() + self.strong.len()) as u64;
            if is_end {
                break;
            }
            let ended = self.turn_off(block.clone());
            note(&mut self.cycles, &ended, length);
        }
        inferences
    }

    /// Makes a step along strong links. Returns the candidates that it leads to their contrary, and
    /// whether nothing is new.
    fn turn_on(&mut self, block: Range<usize>, length: u16) -> (BlockBits, bool) {
        let Self { seen, fresh, next, chains, number, relays, by_strong, by_weak, .. } = self;
        next.clear();
        next.resize(relays.len(), NO_BITS);
        for &[one, other] in &self.strong {
            add(&mut next[usize::from(one)], &fresh[usize::from(other)]);
            add(&mut next[usize::from(other)], &fresh[usize::from(one)]);
        }
        let (mut any, mut ended) = (NO_BITS, NO_BITS);
        let near = by_strong[block.clone()].iter().zip(&by_weak[block]);
        for (((seen, next), id), (by_strong, by_weak)) in
            seen[ON].iter_mut().zip(next.iter_mut()).zip(relays).zip(near)
        {
            let mut returned = 0;
            for word in 0..next.len() {
                let new = next[word] & !seen[word];
                seen[word] |= new;
                next[word] = new;
                any[word] |= new;
                ended[word] |= new & by_weak[word];
                returned |= new & by_strong[word];
            }
            if returned != 0 {
                let known = &mut chains[OFF][usize::from(number[usize::from(*id)])];
                *known = if *known == 0 { length } else { length.min(*known) };
            }
        }
        std::mem::swap(fresh, next);
        (ended, any == NO_BITS)
    }

    /// Makes a step along weak links. Returns the candidates that it leads back to themselves.
    fn turn_off(&mut self, block: Range<usize>) -> BlockBits {
        let Self { seen, fresh, next, .. } = self;
        next.clear();
        let (mut start, mut ended) = (0, NO_BITS);
        for ((&end, seen), by_strong) in self.weak_ends.iter().zip(&mut seen[OFF]).zip(&self.by_strong[block])
        {
            let mut reached = NO_BITS;
            for &before in &self.weak[start..end as usize] {
                add(&mut reached, &fresh[usize::from(before)]);
            }
            start = end as usize;
            for word in 0..reached.len() {
                ended[word] |= reached[word] & by_strong[word];
                reached[word] &= !seen[word];
                seen[word] |= reached[word];
            }
            next.push(reached);
        }
        std::mem::swap(fresh, next);
        ended
    }

    /// Whether a candidate that is on leads to another one being on by no more than so many links.
    pub(super) fn leads_on(&self, from: u16, to: u16, links: usize) -> bool {
        let (from, to) = (usize::from(self.number[usize::from(from)]), self.relay[usize::from(to)]);
        let (block, bit) = (from / SIDE_BY_SIDE, from % SIDE_BY_SIDE);
        let row = match links / 2 {
            0 => return false,
            steps @ 1..=STEPS => {
                &self.by_steps[(block * STEPS + steps - 1) * self.relays.len() + usize::from(to)]
            }
            _ => &self.on[block * self.relays.len() + usize::from(to)],
        };
        row[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// Finds what each candidate turns on and off when it is on.
    pub(super) fn turn(&mut self, geometry: &Geometry, cells: &impl Cells) {
        let Self { live, number, relays, by_weak, on, turned: [turned_on, turned_off], .. } = self;
        let count = live.len();
        for rows in [&mut *turned_on, &mut *turned_off] {
            rows.clear();
            rows.resize(count * count.div_ceil(SIDE_BY_SIDE), NO_BITS);
        }
        let rows = on.chunks_exact(relays.len().max(1)).enumerate();
        for (block, on) in rows {
            for (&id, on) in relays.iter().zip(on) {
                let to = usize::from(number[usize::from(id)]);
                let rows = &mut turned_on[to / SIDE_BY_SIDE * count..][..count];
                each_bit(on, |bit| set(&mut rows[block * SIDE_BY_SIDE + bit], to % SIDE_BY_SIDE));
            }
            let turned = &mut turned_off[block * count..][..count];
            for (before, by_weak) in by_weak.chunks_exact(relays.len()).enumerate() {
                for (by_weak, on) in by_weak.iter().zip(on) {
                    each_bit(by_weak, |bit| add(&mut turned[before * SIDE_BY_SIDE + bit], on));
                }
            }
        }
        for (at, &id) in live.iter().enumerate() {
            set(&mut turned_on[at / SIDE_BY_SIDE * count + at], at % SIDE_BY_SIDE);
            each_weak(geometry, cells, Mode::Xy, usize::from(id), |other| {
                let other = usize::from(number[other]);
                set(&mut turned_off[other / SIDE_BY_SIDE * count + at], other % SIDE_BY_SIDE);
            });
        }
    }

    /// Whether something follows from each of several candidates.
    pub(super) fn meet(&self, sources: &[u16]) -> bool {
        self.turned.iter().any(|rows| {
            rows.chunks_exact(self.live.len()).any(|block| {
                let mut common = [u64::MAX; SIDE_BY_SIDE / 64];
                for &source in sources {
                    let row = &block[usize::from(self.number[usize::from(source)])];
                    common.iter_mut().zip(row).for_each(|(word, row)| *word &= row);
                }
                common != NO_BITS
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::Links;
    use super::*;
    use crate::techniques::tests::random_positions;

    /// The statements of the shortest chain from one to each, one link after another; 0 where there
    /// is none.
    fn walk(links: &Links, mode: Mode, source: u16, assumed: usize) -> [Vec<usize>; 2] {
        let mut counts = [vec![0; 729], vec![0; 729]];
        counts[assumed][usize::from(source)] = 1;
        let mut queue = std::collections::VecDeque::from([(usize::from(source), assumed)]);
        while let Some((id, state)) = queue.pop_front() {
            let next: Vec<u16> = if state == ON {
                links.weak(id, mode).to_vec()
            } else {
                links.strong(id, mode).iter().map(|&(next, _)| next).collect()
            };
            for next in next.into_iter().map(usize::from).filter(|&next| next != id) {
                if counts[1 - state][next] == 0 {
                    counts[1 - state][next] = counts[state][id] + 1;
                    queue.push_back((next, 1 - state));
                }
            }
        }
        counts
    }

    #[test]
    fn all_candidates_together_lead_to_what_each_leads_to_alone() {
        let (mut links, mut reach) = (Links::default(), Reach::default());
        let mut refuted = [0; 2];
        for position in random_positions(36) {
            let geometry = position.geometry;
            links.load(geometry, &position);
            for mode in [Mode::X, Mode::Y, Mode::Xy] {
                reach.explore(geometry, &position, mode);
                if mode == Mode::Xy {
                    reach.turn(geometry, &position);
                }
                for (at, &id) in reach.live.iter().enumerate() {
                    for (assumed, refuted) in refuted.iter_mut().enumerate() {
                        let counts = walk(&links, mode, id, assumed);
                        let shortest = counts[1 - assumed][usize::from(id)];
                        assert_eq!(usize::from(reach.chains[assumed][at]), shortest, "{mode:?} {id}");
                        *refuted += usize::from(shortest > 0);
                        if mode == Mode::Xy && assumed == ON {
                            check_turned(&reach, at, &counts);
                        }
                    }
                }
            }
        }
        assert!(refuted.iter().all(|&count| count > 100), "{refuted:?}");
    }

    fn check_turned(reach: &Reach, from: usize, counts: &[Vec<usize>; 2]) {
        let id = reach.live[from];
        for (at, &other) in reach.live.iter().enumerate() {
            for (turned, counts) in reach.turned.iter().zip(counts) {
                let row = turned[at / SIDE_BY_SIDE * reach.live.len() + from];
                let is_turned = row[at % SIDE_BY_SIDE / 64] >> (at % 64) & 1 != 0;
                assert_eq!(is_turned, counts[usize::from(other)] > 0, "{id} to {other}");
            }
            if other != id && reach.relay[usize::from(other)] != NONE {
                let links = counts[ON][usize::from(other)].checked_sub(1);
                for most in [2, 6] {
                    let is_near = links.is_some_and(|links| links <= most);
                    assert_eq!(reach.leads_on(id, other, most), is_near, "{id} to {other} by {most}");
                }
                assert_eq!(reach.leads_on(id, other, usize::MAX), links.is_some());
            }
        }
    }
}
