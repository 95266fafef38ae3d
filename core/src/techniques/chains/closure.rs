//! Closures: everything that follows from one assumption, with the statements that it rests on.
//!
//! An implication of a dynamic chain may rest on several statements: a candidate is the last of its
//! cell or house after others have been turned off. So what follows depends on what has been turned
//! off before, and the order of work is part of the definition: all that is on is followed before
//! the next that is off.

use super::IN_CELL;
use super::marks::{CANDIDATES, SIDE, WORDS};
use crate::techniques::geometry::Geometry;
use crate::techniques::hunt::{Mark, RawImplication};
use crate::techniques::step::Why;
use crate::techniques::technique::Technique;

/// A statement that has been reached.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reached {
    pub id: u16,
    pub is_on: bool,
    /// Why: a kind of house, a cell, or beyond that a technique.
    pub cause: u8,
    /// Where its parents begin.
    pub parents: u32,
    /// The statements that it rests on, and itself.
    pub count: u16,
    /// These, and those of the nested chains among them.
    pub cost: u32,
}

/// Words of a set of nested chains in a closure: each turns off a candidate of its own.
pub(super) const ROW: usize = WORDS;

/// What follows from one assumption.
#[derive(Debug)]
pub(super) struct Closure {
    pub is_known: bool,
    /// The candidates that get on and off, in the order in which they do.
    pub lists: [Vec<u16>; 2],
    pub sets: [[u64; WORDS]; 2],
    /// The node of each candidate that is on or off; valid where the set has it.
    pub node_of: [[u16; CANDIDATES]; 2],
    pub nodes: Vec<Reached>,
    /// Parents of all nodes, by node number.
    pub parents: Vec<u16>,
    /// The two nodes of a contradiction, if one follows: that which is on, that which is off.
    pub contradiction: Option<[u16; 2]>,
    /// The nested chains that are used, by their numbers in the search.
    pub nested: Vec<u32>,
    /// Which of them each node rests on, from a node on.
    pub rows: Vec<[u64; ROW]>,
    pub rows_from: usize,
}

impl Default for Closure {
    fn default() -> Self {
        Self {
            is_known: false,
            lists: [Vec::new(), Vec::new()],
            sets: [[0; WORDS]; 2],
            node_of: [[0; CANDIDATES]; 2],
            nodes: Vec::new(),
            parents: Vec::new(),
            contradiction: None,
            nested: Vec::new(),
            rows: Vec::new(),
            rows_from: 0,
        }
    }
}

impl Closure {
    pub(super) fn clear(&mut self) {
        self.is_known = true;
        self.lists.iter_mut().for_each(Vec::clear);
        self.sets = [[0; WORDS]; 2];
        self.nodes.clear();
        self.parents.clear();
        self.contradiction = None;
        self.nested.clear();
        self.rows.clear();
        self.rows_from = 0;
    }

    /// The node of a candidate that is on or off.
    #[inline]
    pub(super) fn node(&self, id: u16, state: usize) -> u16 {
        self.node_of[state][usize::from(id)]
    }

    /// The statements that a node rests on, and itself.
    #[inline]
    pub(super) fn count(&self, node: u16) -> usize {
        usize::from(self.nodes[usize::from(node)].count)
    }

    /// The statements that a node rests on and itself, with those of the nested chains.
    #[inline]
    pub(super) fn cost(&self, node: u16) -> usize {
        self.nodes[usize::from(node)].cost as usize
    }

    /// The nested chains that a node rests on, by their numbers in the search.
    pub(super) fn nested_in(&self, node: u16) -> impl Iterator<Item = u32> {
        let row = usize::from(node).checked_sub(self.rows_from).and_then(|at| self.rows.get(at));
        row.into_iter().flatten().enumerate().flat_map(move |(at, &word)| {
            let mut word = word;
            std::iter::from_fn(move || {
                let bit = (word != 0).then(|| word.trailing_zeros() as usize)?;
                word &= word - 1;
                Some(self.nested[64 * at + bit])
            })
        })
    }

    /// The parents of a node.
    fn parents_of(&self, node: usize) -> &[u16] {
        let end = self.nodes.get(node + 1).map_or(self.parents.len(), |next| next.parents as usize);
        &self.parents[self.nodes[node].parents as usize..end]
    }

    /// The statements that a node rests on, itself first, then its parents and so on. Says of each
    /// the candidate, whether it is on, and the kind of the link that turned it on or off: `None`
    /// for the assumption and for what a technique turned off.
    pub(super) fn ancestors(&self, node: u16, mut see: impl FnMut(u16, bool, Option<u8>)) {
        let mut seen = [[0_u64; WORDS]; 2];
        let mut queue = vec![node];
        let mut next = 0;
        while let Some(&node) = queue.get(next) {
            next += 1;
            let reached = self.nodes[usize::from(node)];
            let word = &mut seen[usize::from(!reached.is_on)][usize::from(reached.id) / 64];
            if *word >> (reached.id % 64) & 1 != 0 {
                continue;
            }
            *word |= 1 << (reached.id % 64);
            let parents = self.parents_of(usize::from(node));
            let is_link = !parents.is_empty() && reached.cause <= IN_CELL;
            see(reached.id, reached.is_on, is_link.then_some(reached.cause));
            queue.extend_from_slice(parents);
        }
    }

    /// The chain to a node.
    pub(super) fn chain(&self, geometry: &Geometry, node: u16) -> Vec<RawImplication> {
        let mut is_needed = vec![false; usize::from(node) + 1];
        is_needed[usize::from(node)] = true;
        for at in (0..is_needed.len()).rev() {
            if is_needed[at] {
                self.parents_of(at).iter().for_each(|&parent| is_needed[usize::from(parent)] = true);
            }
        }
        let numbers: Vec<usize> = (0..is_needed.len()).filter(|&number| is_needed[number]).collect();
        let implication = |&number: &usize| {
            let reached = self.nodes[number];
            let parents = self.parents_of(number);
            let (cell, digit) = (usize::from(reached.id) / SIDE, usize::from(reached.id) % SIDE);
            let house = |kind: u8| geometry.public_house(geometry.house(cell, usize::from(kind)));
            let why = match reached.cause {
                _ if parents.is_empty() => Why::Assumption,
                IN_CELL if reached.is_on => Why::LastDigit,
                IN_CELL => Why::OneDigit,
                kind if kind < IN_CELL && reached.is_on => Why::LastPlace(house(kind)),
                kind if kind < IN_CELL => Why::OnceIn(house(kind)),
                beyond => Why::By(Technique::ALL[usize::from(beyond - IN_CELL - 1)]),
            };
            RawImplication {
                mark: Mark::new(cell, digit),
                is_on: reached.is_on,
                parents: parents
                    .iter()
                    .filter_map(|&parent| numbers.binary_search(&usize::from(parent)).ok())
                    .collect(),
                why,
            }
        };
        numbers.iter().map(implication).collect()
    }
}
