//! Steps: what a technique places or takes away, what shows it, and the sentences that say so.

use std::fmt;

use super::technique::{Score, Technique};
use crate::counted::listed;
use crate::grid::{Cell, Digit, House};

/// A digit in a cell: one that may still stand there, or one that is placed. Prints as
/// `7 at (2, 3)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Candidate {
    /// The cell.
    pub cell: Cell,
    /// The digit.
    pub digit: Digit,
}

impl fmt::Display for Candidate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {}", self.digit, self.cell)
    }
}

/// A statement of a chain: a candidate is the digit of its cell, or it is not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Node {
    /// The candidate.
    pub candidate: Candidate,
    /// Whether it is the digit of its cell.
    pub is_on: bool,
}

impl fmt::Display for Node {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let verb = if self.is_on { "is" } else { "is not" };
        write!(f, "{} {verb} {}", self.candidate.cell, self.candidate.digit)
    }
}

/// Why a statement of a chain follows from those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// It is what the chain assumes.
    Assumption,
    /// A cell holds one digit, so another one is off.
    OneDigit,
    /// A house holds a digit once, so it is off elsewhere.
    OnceIn(House),
    /// The cell has no other candidate left.
    LastDigit,
    /// The house has no other place left for the digit.
    LastPlace(House),
    /// A technique applies after what the chain has taken away.
    By(Technique),
}

/// A statement of a chain with its premises.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Implication {
    /// The statement.
    pub node: Node,
    /// The statements that it rests on, as indices into the same chain; none for an assumption.
    pub parents: Vec<usize>,
    /// Why it follows.
    pub why: Why,
}

/// A chain: statements, each after those that it rests on. The first is an assumption, the last
/// what it leads to.
pub type Chain = Vec<Implication>;

/// A link to draw: the second statement follows from the first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Link {
    /// The premise.
    pub from: Node,
    /// What follows.
    pub to: Node,
}

/// The kind of a step within its technique.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Kind {
    /// The technique has one kind only.
    #[default]
    Plain,
    /// A unique rectangle, unique loop or bivalue universal grave of type 1 to 4.
    Type(u8),
    /// Both possibilities of a candidate lead to the same.
    Double,
    /// An assumption leads to a contradiction.
    Contradiction,
    /// All candidates of a cell lead to the same.
    Cell,
    /// All places of a digit in a house lead to the same.
    Region,
}

/// A step: what a technique places or takes away, and what shows it.
///
/// It prints as one or two sentences. [`Step::look_at`] says less, for a hint in stages.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The technique.
    pub technique: Technique,
    /// Its kind within the technique.
    pub kind: Kind,
    /// Its rating.
    pub rating: Score,
    /// The digit that it places, if any.
    pub placement: Option<Candidate>,
    /// The candidates that it takes away, in reading order. Empty for a step that places a digit
    /// without a detour; those that go because of the placed digit are not listed.
    pub eliminations: Vec<Candidate>,
    /// The cells that show it.
    pub cells: Vec<Cell>,
    /// The candidates that show it.
    pub candidates: Vec<Candidate>,
    /// The houses that show it: first those that confine candidates, then those that lose some.
    pub houses: Vec<House>,
    /// The chains that show it, for techniques with chains: one for each case.
    pub chains: Vec<Chain>,
    /// The digits of the pattern, smallest first.
    pub digits: Vec<Digit>,
}

impl Step {
    /// The links to draw, those of its chains.
    pub fn links(&self) -> impl Iterator<Item = Link> {
        self.chains.iter().flat_map(|chain| {
            chain.iter().flat_map(move |implication| {
                let to = implication.node;
                implication.parents.iter().map(move |&parent| Link { from: chain[parent].node, to })
            })
        })
    }

    /// The first stage of a hint: where to look.
    #[must_use]
    pub fn look_at(&self) -> String {
        let start = self.chains.first().and_then(|chain| chain.first());
        match (self.houses.as_slice(), self.cells.as_slice()) {
            ([], _) if start.is_some() => {
                format!(
                    "Look at {}.",
                    start.map_or_else(String::new, |start| start.node.candidate.cell.to_string())
                )
            }
            ([house, ..], _) => format!("Look at {house}."),
            ([], [cell]) => format!("Look at {cell}."),
            ([], [_, ..]) => format!("Look at the cells {}.", and(&self.cells)),
            ([], []) => match self.placement.or_else(|| self.eliminations.first().copied()) {
                Some(candidate) => format!("Look at {}.", candidate.cell),
                None => "Look at the whole grid.".to_owned(),
            },
        }
    }

    /// What it changes, in words: `(1, 2) is 7` or `3 is ruled out at (1, 2) and (1, 5)`.
    #[must_use]
    pub fn effect(&self) -> String {
        match self.placement {
            Some(Candidate { cell, digit }) => format!("{cell} is {digit}"),
            None => self.removed(),
        }
    }

    /// The eliminations in words: digits that go from the same cells together.
    fn removed(&self) -> String {
        let mut digits: Vec<Digit> = self.eliminations.iter().map(|gone| gone.digit).collect();
        digits.sort_unstable();
        digits.dedup();
        let mut groups: Vec<(Vec<Digit>, Vec<Cell>)> = Vec::new();
        for digit in digits {
            let of_digit = self.eliminations.iter().filter(|gone| gone.digit == digit);
            let cells: Vec<Cell> = of_digit.map(|gone| gone.cell).collect();
            match groups.iter_mut().find(|(_, known)| *known == cells) {
                Some((digits, _)) => digits.push(digit),
                None => groups.push((vec![digit], cells)),
            }
        }
        let part = |(at, (digits, cells)): (usize, &(Vec<Digit>, Vec<Cell>))| {
            let verb = match (at, digits.len()) {
                (0, 1) => "is ruled out at",
                (0, _) => "are ruled out at",
                _ => "at",
            };
            format!("{} {verb} {}", and(digits), and(cells))
        };
        let parts: Vec<String> = groups.iter().enumerate().map(part).collect();
        match parts.as_slice() {
            [rest @ .., last] if !rest.is_empty() => format!("{}, and {last}", rest.join(", ")),
            _ => parts.concat(),
        }
    }
}

/// A list in words: `a`, `a and b`, `a, b and c`.
pub(super) fn and<T: fmt::Display>(items: &[T]) -> String {
    listed(items, "and")
}
