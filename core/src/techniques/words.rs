//! Sentences: what a step does and why, in plain words.

use std::fmt;

use super::step::{Candidate, Implication, Kind, Step, and};
use super::technique::{Family, Technique as T};
use crate::counted::listed;
use crate::grid::{Cell, House, HouseKind};

impl fmt::Display for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let explanation = self.explanation();
        write!(f, "{} ({}).", explanation.trim_end_matches('.'), self.name())
    }
}

/// A list of alternatives in words: `a`, `a or b`, `a, b or c`.
fn or<T: fmt::Display>(items: &[T]) -> String {
    listed(items, "or")
}

/// Houses of one kind in words: `rows 2 and 5`.
fn houses(houses: &[House]) -> String {
    let Some(first) = houses.first() else { return String::new() };
    if houses.len() == 1 {
        return first.to_string();
    }
    let plural =
        if first.kind() == HouseKind::Box { "boxes".to_owned() } else { format!("{}s", first.kind()) };
    let numbers: Vec<usize> = houses.iter().map(|house| house.number()).collect();
    format!("{plural} {}", and(&numbers))
}

/// `both` or `all three` and so on.
const fn all(count: usize) -> &'static str {
    match count {
        2 => "both",
        3 => "all three",
        4 => "all four",
        _ => "all",
    }
}

/// `this` for one, `these two` and so on for several.
const fn these(count: usize) -> &'static str {
    match count {
        1 => "this",
        2 => "these two",
        3 => "these three",
        4 => "these four",
        _ => "these",
    }
}

impl Step {
    /// What the step does and why, in one or two sentences. What it prints as names the technique
    /// besides.
    #[must_use]
    pub fn explanation(&self) -> String {
        let effect = self.effect();
        let digits = and(&self.digits);
        let cells = and(&self.cells);
        let house = self.houses.first().map(ToString::to_string).unwrap_or_default();
        let second = self.houses.get(1).map(ToString::to_string).unwrap_or_default();
        match self.technique {
            T::LastCell => format!("{effect}: it is the last blank cell of {house}."),
            T::HiddenSingle => format!("{effect}: in {house}, {digits} fits nowhere else."),
            T::NakedSingle => format!("{effect}: no other digit is left for it."),
            T::DirectPointing | T::DirectClaiming => {
                let third = self.houses.get(2).map(ToString::to_string).unwrap_or_default();
                format!(
                    "In {house}, {digits} can only be in {second}, so it cannot be elsewhere in {second}. That leaves \
                     one place for it in {third}: {effect}."
                )
            }
            T::Pointing | T::Claiming => format!(
                "In {house}, {digits} can only be in {second}, so it cannot be elsewhere in {second}: {effect}."
            ),
            T::DirectHiddenPair | T::DirectHiddenTriplet => format!(
                "In {house}, {digits} can only be in {cells}, so {} cells take no other digit. That leaves one place \
                 for {} in {house}: {effect}.",
                these(self.cells.len()),
                self.placement.map_or_else(|| "a digit".to_owned(), |placed| placed.digit.to_string()),
            ),
            T::NakedPair | T::NakedTriplet | T::NakedQuad => format!(
                "In {house}, {cells} can only be {}, so they need {} digits. Elsewhere in {house}, {effect}.",
                or(&self.digits),
                all(self.digits.len()),
            ),
            T::HiddenPair | T::HiddenTriplet | T::HiddenQuad => format!(
                "In {house}, {digits} can only be in {cells}, so {} cells take no other digit: {effect}.",
                these(self.cells.len()),
            ),
            T::XWing | T::Swordfish | T::Jellyfish => {
                let (base, cover) = self.houses.split_at(self.houses.len() / 2);
                let kind = |of: &[House]| of.first().map_or(String::new(), |house| house.kind().to_string());
                let (base_kind, cover_kind) = (kind(base), kind(cover));
                format!(
                    "In {}, {digits} can only be in {}, so these {base_kind}s take the {digits} of {} {cover_kind}s. \
                     Elsewhere in the {cover_kind}s, {effect}.",
                    houses(base),
                    houses(cover),
                    all(cover.len()),
                )
            }
            T::XyWing | T::XyzWing => self.wing(&effect),
            T::UniqueRectangle | T::UniqueLoop => self.unique(&effect),
            T::BivalueUniversalGrave => self.grave(&effect),
            T::AlignedPairExclusion => {
                let pair = and(self.cells.get(..2).unwrap_or_default());
                format!(
                    "Some pairs of digits for {pair} would leave no digit for a cell that sees both. A digit that is \
                     in no other pair is wrong: {effect}."
                )
            }
            T::XCycle | T::YCycle | T::BidirectionalCycle => self.cycle(&effect),
            T::TurbotFish | T::ForcingXChain | T::ForcingChain => self.chain(&effect),
            T::NishioForcingChains
            | T::CellForcingChains
            | T::RegionForcingChains
            | T::DynamicForcingChains
            | T::DynamicForcingChainsPlus
            | T::NestedForcingChains
            | T::NestedMultipleChains
            | T::NestedDynamicChains => self.forcing(&effect),
        }
    }

    /// The technique with the type of the step, or with the length of its chains.
    fn name(&self) -> String {
        match self.kind {
            Kind::Type(kind) => format!("{} type {kind}", self.technique),
            _ if self.technique.family() == Family::Forcing => {
                let statements: usize = self.chains.iter().map(Vec::len).sum();
                format!("{}, {statements} statements", self.technique)
            }
            _ => self.technique.to_string(),
        }
    }

    fn wing(&self, effect: &str) -> String {
        let ([pivot, wings @ ..], [digit]) = (self.cells.as_slice(), self.digits.as_slice()) else {
            return format!("{effect}.");
        };
        // The digit of the pivot that each wing shares with it, besides the common one.
        let case = |&wing: &Cell| {
            let of_wing = self.candidates.iter().find(|shown| shown.cell == wing && shown.digit != *digit);
            of_wing.map_or_else(String::new, |shown| format!("{pivot} is {}, {wing} is {digit}", shown.digit))
        };
        let cases: Vec<String> = wings.iter().map(case).collect();
        let seen = match (self.technique, self.eliminations.len()) {
            (T::XyWing, 1) => "sees both",
            (T::XyWing, _) => "see both",
            (_, 1) => "sees all three",
            _ => "see all three",
        };
        let otherwise = match self.technique {
            T::XyzWing => format!("; otherwise {pivot} is {digit} itself"),
            _ => String::new(),
        };
        format!("If {}{otherwise}. So {effect}, which {seen}.", cases.join("; if "))
    }

    fn unique(&self, effect: &str) -> String {
        let is_extra = |shown: &&Candidate| !self.digits.contains(&shown.digit);
        let mut extra_cells: Vec<Cell> =
            self.candidates.iter().filter(is_extra).map(|shown| shown.cell).collect();
        extra_cells.dedup();
        let extra = and(&extra_cells);
        let house = self.houses.first().map(ToString::to_string).unwrap_or_default();
        let gone = self.eliminations.first().map(|gone| gone.digit);
        let so = match self.kind {
            Kind::Type(1) => format!("So {extra} is neither: {effect}"),
            Kind::Type(2) => {
                let digit = gone.map(|digit| digit.to_string()).unwrap_or_default();
                format!(
                    "So one of {extra} is {digit}, and no cell that sees {} is: {effect}",
                    all_of(&extra_cells)
                )
            }
            Kind::Type(3) => format!(
                "So one of {extra} is another digit, and as one cell they make a set with other cells of {house}: \
                 {effect}"
            ),
            _ => {
                let kept = self.digits.iter().find(|&&digit| Some(digit) != gone);
                let kept = kept.map(ToString::to_string).unwrap_or_default();
                let gone = gone.map(|digit| digit.to_string()).unwrap_or_default();
                format!("In {house}, one of {extra} has to be {kept}, so neither can be {gone}: {effect}")
            }
        };
        format!(
            "If {} were only {}, these digits could change places and there would be two solutions. {so}.",
            and(&self.cells),
            or(&self.digits),
        )
    }

    fn grave(&self, effect: &str) -> String {
        let house = self.houses.first().map(ToString::to_string).unwrap_or_default();
        let (cells, digits) = (and(&self.cells), and(&self.digits));
        let so = match self.kind {
            Kind::Type(1) => format!("So it is right: {effect}"),
            Kind::Type(2) => {
                format!(
                    "So one of them is right, and no cell that sees {} is {digits}: {effect}",
                    all_of(&self.cells)
                )
            }
            Kind::Type(3) => {
                format!(
                    "So one of them is right, and {cells}, as one cell, make a set with others of {house}: {effect}"
                )
            }
            _ => format!(
                "So one of them is right, and the other cell is then the last place of a digit in {house}: {effect}"
            ),
        };
        format!(
            "Without {}, every blank cell would have two candidates and every digit two places in its houses, and \
             then there is never exactly one solution. {so}.",
            and(&self.candidates),
        )
    }

    fn cycle(&self, effect: &str) -> String {
        let digits = and(&self.digits);
        match self.technique {
            T::XCycle => format!(
                "Going round {}, either every other cell is {digits} or those between them are. Both ways, {effect}.",
                and(&self.cells)
            ),
            T::YCycle => format!(
                "Going round {}, each cell has two candidates and passes one of them on to the next. Whichever the \
                 first one takes, {effect}.",
                and(&self.cells)
            ),
            _ => format!(
                "Going round {}, either every other one is right or those between them are. Both ways, {effect}.",
                and(&self.candidates)
            ),
        }
    }

    fn chain(&self, effect: &str) -> String {
        let Some([first, rest @ .., last]) = self.chains.first().map(Vec::as_slice) else {
            return format!("{effect}.");
        };
        format!(
            "If {}, then {}, and so {} after all. That cannot be, so {effect}.",
            first.node,
            turned_on(rest),
            last.node,
        )
    }

    fn forcing(&self, effect: &str) -> String {
        let first = self.chains.first().and_then(|chain| chain.first()).map(|start| start.node);
        let (Some(start), Some(last)) = (first, self.chains.first().and_then(|chain| chain.last())) else {
            return format!("{effect}.");
        };
        let Candidate { cell, digit } = start.candidate;
        let last = last.node.candidate;
        match self.kind {
            Kind::Double => format!("Whether {cell} is {digit} or not, it follows that {effect}."),
            Kind::Cell => {
                format!("{cell} is {}, and from each of these it follows that {effect}.", or(&self.digits))
            }
            Kind::Region => format!(
                "In {}, {digit} is at {}, and from each of these it follows that {effect}.",
                self.houses.first().map(ToString::to_string).unwrap_or_default(),
                or(&self.cells)
            ),
            _ => {
                let were = if start.is_on { "were" } else { "were not" };
                format!(
                    "If {cell} {were} {digit}, then {} would have to be {} and could not be {}. So {effect}.",
                    last.cell, last.digit, last.digit
                )
            }
        }
    }
}

/// `both` cells, or `all` of them.
fn all_of(cells: &[Cell]) -> &'static str {
    if cells.len() == 2 { "both" } else { "them all" }
}

/// The most statements of a chain that a sentence repeats.
const MOST_IN_A_SENTENCE: usize = 6;

/// The on statements in the middle of a chain, without most of those of a long one.
fn turned_on(implications: &[Implication]) -> String {
    let on: Vec<String> = implications
        .iter()
        .filter(|implication| implication.node.is_on)
        .map(|on| on.node.to_string())
        .collect();
    if on.is_empty() {
        return implications.first().map_or_else(String::new, |only| only.node.to_string());
    }
    if on.len() <= MOST_IN_A_SENTENCE {
        return and(&on);
    }
    let (first, last) = (&on[..MOST_IN_A_SENTENCE / 2], &on[on.len() - MOST_IN_A_SENTENCE / 2..]);
    let between = on.len() - MOST_IN_A_SENTENCE;
    let cells = if between == 1 { "cell" } else { "cells" };
    format!("{}, and {between} {cells} later {}", first.join(", "), and(last))
}
