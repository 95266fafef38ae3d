//! The search for one step: what techniques read, and where they write what they find.

use std::sync::atomic::{AtomicBool, Ordering};

use super::Ending;
use super::position::{Position, bits};
use super::step::{Candidate, Chain, Implication, Kind, Node, Step, Why};
use super::technique::{Score, Technique, TechniqueSet};
use crate::grid::Digit;

/// A digit in a cell by their indices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark {
    pub cell: u16,
    pub digit: u8,
}

impl Mark {
    pub(super) const fn new(cell: usize, digit: usize) -> Self {
        Self { cell: cell as u16, digit: digit as u8 }
    }
}

/// A statement of a chain by indices.
#[derive(Clone, Debug)]
pub(super) struct RawImplication {
    pub mark: Mark,
    pub is_on: bool,
    pub parents: Vec<usize>,
    pub why: Why,
}

/// A step by indices, in buffers that are used again.
#[derive(Debug, Default)]
pub(super) struct FoundStep {
    pub technique: Option<Technique>,
    pub kind: Kind,
    pub rating: u16,
    pub placement: Option<Mark>,
    pub eliminations: Vec<Mark>,
    /// What shows it. Not whole unless [`Hunt::explains`] is set.
    pub cells: Vec<u16>,
    pub candidates: Vec<Mark>,
    pub houses: Vec<u16>,
    pub digits: u32,
    pub chains: Vec<Vec<RawImplication>>,
}

impl FoundStep {
    /// Begins a step, in its lowest rating.
    pub(super) fn begin(&mut self, technique: Technique) {
        self.technique = Some(technique);
        self.kind = Kind::Plain;
        self.rating = technique.base_rating().tenths();
        self.placement = None;
        self.eliminations.clear();
        self.cells.clear();
        self.candidates.clear();
        self.houses.clear();
        self.digits = 0;
        self.chains.clear();
    }

    /// The step as others see it.
    pub(super) fn step(&self, position: &Position) -> Option<Step> {
        let order = position.order();
        let candidate = |mark: Mark| Candidate {
            cell: order.cell_at(usize::from(mark.cell)),
            digit: Digit::at(usize::from(mark.digit)),
        };
        let chain = |raw: &Vec<RawImplication>| -> Chain {
            raw.iter()
                .map(|implication| Implication {
                    node: Node { candidate: candidate(implication.mark), is_on: implication.is_on },
                    parents: implication.parents.clone(),
                    why: implication.why,
                })
                .collect()
        };
        let mut eliminations: Vec<Candidate> = self.eliminations.iter().copied().map(candidate).collect();
        eliminations.sort_unstable();
        Some(Step {
            technique: self.technique?,
            kind: self.kind,
            rating: Score::from_tenths(self.rating),
            placement: self.placement.map(candidate),
            eliminations,
            cells: self.cells.iter().map(|&cell| order.cell_at(usize::from(cell))).collect(),
            candidates: self.candidates.iter().copied().map(candidate).collect(),
            houses: self.houses.iter().map(|&h| position.geometry.public_house(usize::from(h))).collect(),
            chains: self.chains.iter().map(chain).collect(),
            digits: bits(self.digits).map(Digit::at).collect(),
        })
    }

    /// Carries the step out.
    pub(super) fn apply(&self, position: &mut Position) {
        for gone in &self.eliminations {
            position.remove(usize::from(gone.cell), usize::from(gone.digit));
        }
        if let Some(mark) = self.placement {
            position.fill(usize::from(mark.cell), usize::from(mark.digit));
        }
    }
}

/// The work that may still be done, and the flag that stops it.
#[derive(Debug)]
pub(super) struct Budget<'a> {
    /// Inferences left.
    pub left: u64,
    /// Raised when the caller wants to stop.
    pub cancel: Option<&'a AtomicBool>,
}

/// The search for one step in a position.
#[derive(Debug)]
pub(super) struct Hunt<'a> {
    pub position: &'a Position,
    pub allowed: TechniqueSet,
    /// Whether cells, candidates, houses and chains are wanted.
    pub explains: bool,
    pub found: &'a mut FoundStep,
    pub budget: Budget<'a>,
    /// Why the search stopped before its end.
    pub stopped: Option<Ending>,
}

impl Hunt<'_> {
    /// Whether a technique may be used.
    pub(super) const fn allows(&self, technique: Technique) -> bool {
        self.allowed.contains(technique)
    }

    /// Spends inferences. Returns false if the search has to stop.
    pub(super) fn spend(&mut self, inferences: u64) -> bool {
        if self.budget.cancel.is_some_and(|cancel| cancel.load(Ordering::Relaxed)) {
            self.stopped = Some(Ending::Cancelled);
        } else if self.budget.left < inferences {
            self.stopped = Some(Ending::GaveUp);
        } else {
            self.budget.left -= inferences;
        }
        self.stopped.is_none()
    }

    /// Adds an elimination if the candidate is there.
    pub(super) fn eliminate(&mut self, cell: usize, digit: usize) {
        if self.position.has(cell, digit) {
            self.found.eliminations.push(Mark::new(cell, digit));
        }
    }

    /// Shows the digits of a cell that are in `digits`.
    pub(super) fn show(&mut self, cell: usize, digits: u32) {
        let shown = self.position.candidates[cell] & digits;
        self.found.candidates.extend(bits(shown).map(|digit| Mark::new(cell, digit)));
    }
}
