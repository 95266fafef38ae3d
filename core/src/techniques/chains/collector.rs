//! The easiest chain for each candidate that chains take away.

use super::marks::{CANDIDATES, Marks, SIDE};
use super::{Mode, difficulty};
use crate::techniques::position::bits;
use crate::techniques::technique::Technique;

/// What decides between two steps: rating, statements, and kind of chain.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Key {
    pub difficulty: f64,
    pub complexity: usize,
    sort: u8,
}

impl Key {
    pub(super) fn new(base: f64, complexity: usize, sort: u8) -> Self {
        Self { difficulty: difficulty(base, complexity), complexity, sort }
    }
}

/// What a candidate can be taken away by.
#[derive(Clone, Copy, Debug)]
pub(super) enum Shape {
    /// The path of a chain.
    Chain { mode: Mode, ends_on: bool },
    /// The path of a cycle.
    Cycle { mode: Mode },
    /// The candidates of a cell, or the places of a digit in a house of a kind.
    Multiple { source: u16, kind: u8, target: u16, state: u8 },
}

/// A chain that is the easiest so far for some candidate.
#[derive(Clone, Copy, Debug)]
pub(super) struct CollectedChain {
    pub key: Key,
    /// The place in the order in which the reference looks for them.
    pub order: u32,
    pub technique: Technique,
    pub shape: Shape,
    /// Its path and what it takes away, as ranges.
    pub path: (usize, usize),
    pub gone: (usize, usize),
}

const NONE: u32 = u32::MAX;

/// The easiest chain for each candidate.
#[derive(Debug)]
pub(super) struct Collector {
    /// The chain that takes each candidate away.
    pub best: Vec<u32>,
    pub chains: Vec<CollectedChain>,
    pub paths: Vec<u16>,
    pub gone: Vec<u16>,
}

impl Default for Collector {
    fn default() -> Self {
        Self { best: vec![NONE; CANDIDATES], chains: Vec::new(), paths: Vec::new(), gone: Vec::new() }
    }
}

impl Collector {
    pub(super) fn clear(&mut self) {
        for &id in &self.gone {
            self.best[usize::from(id)] = NONE;
        }
        self.chains.clear();
        self.paths.clear();
        self.gone.clear();
    }

    fn rank(chain: &CollectedChain) -> (Key, u32) {
        (chain.key, chain.order)
    }

    /// Whether a chain would be the easiest for a candidate.
    fn is_better(&self, key: Key, order: u32, id: u16) -> bool {
        let best = self.best[usize::from(id)];
        best == NONE || (key, order) < Self::rank(&self.chains[best as usize])
    }

    /// Takes a chain if it is the easiest for one of the candidates that it takes away.
    pub(super) fn offer(&mut self, mut chain: CollectedChain, path: impl Iterator<Item = u16>, gone: &[u16]) {
        if !gone.iter().any(|&id| self.is_better(chain.key, chain.order, id)) {
            return;
        }
        let from = self.paths.len();
        self.paths.extend(path);
        chain.path = (from, self.paths.len());
        let from = self.gone.len();
        self.gone.extend_from_slice(gone);
        chain.gone = (from, self.gone.len());
        let number = self.chains.len() as u32;
        for &id in gone {
            if self.is_better(chain.key, chain.order, id) {
                self.best[usize::from(id)] = number;
            }
        }
        self.chains.push(chain);
    }

    /// Takes a chain without branches. `path` goes from its end to its beginning.
    pub(super) fn chain(
        &mut self,
        (key, technique, mode): (Key, Technique, Mode),
        ends_on: bool,
        path: &[u16],
        marks: &Marks,
    ) {
        let end = path[0];
        let (gone, count) = refuted(marks, end, ends_on);
        let order = order(mode, end, if ends_on { 2 } else { 1 });
        let shape = Shape::Chain { mode, ends_on };
        let chain = CollectedChain { key, order, technique, shape, path: (0, 0), gone: (0, 0) };
        self.offer(chain, path.iter().copied(), &gone[..count]);
    }

    /// Takes a cycle. `path` goes from its beginning back to it.
    pub(super) fn cycle(
        &mut self,
        (key, technique, mode): (Key, Technique, Mode),
        path: impl Iterator<Item = u16>,
        first: u16,
        gone: &[u16],
    ) {
        let shape = Shape::Cycle { mode };
        let order = order(mode, first, 0);
        self.offer(CollectedChain { key, order, technique, shape, path: (0, 0), gone: (0, 0) }, path, gone);
    }

    /// How easy the easiest chain for a candidate is.
    pub(super) fn best(&self, id: u16) -> Option<Key> {
        let best = self.best[usize::from(id)];
        (best != NONE).then(|| self.chains[best as usize].key)
    }

    /// The worst of the chains that are the easiest for some candidate.
    pub(super) fn worst(&self) -> Option<Key> {
        let best = self.gone.iter().map(|&id| self.chains[self.best[usize::from(id)] as usize].key);
        best.max_by(|one, other| one.partial_cmp(other).unwrap_or(std::cmp::Ordering::Equal))
    }

    /// The chains that are the easiest for some candidate, the easiest first.
    pub(super) fn sorted(&self) -> Vec<u32> {
        let mut numbers: Vec<u32> = self.gone.iter().map(|&id| self.best[usize::from(id)]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        let rank = |&number: &u32| Self::rank(&self.chains[number as usize]);
        numbers
            .sort_by(|one, other| rank(one).partial_cmp(&rank(other)).unwrap_or(std::cmp::Ordering::Equal));
        numbers
    }
}

/// The candidates that go if one is on, which are the others of its cell, or off, and their number.
#[inline]
pub(super) fn refuted(marks: &Marks, id: u16, is_on: bool) -> ([u16; SIDE], usize) {
    let mut gone = [id; SIDE];
    if !is_on {
        return (gone, 1);
    }
    let (cell, digit) = (usize::from(id) / SIDE, usize::from(id) % SIDE);
    let mut count = 0;
    for other in bits(u32::from(marks.cells[cell] & !(1 << digit))) {
        gone[count] = (cell * SIDE + other) as u16;
        count += 1;
    }
    (gone, count)
}

/// The place of a chain from a candidate in the order of search.
fn order(mode: Mode, source: u16, part: u32) -> u32 {
    let mode = match mode {
        Mode::X => 0,
        Mode::Y => 1,
        Mode::Xy => 2,
    };
    (mode * CANDIDATES as u32 + u32::from(source)) * 4 + part
}
