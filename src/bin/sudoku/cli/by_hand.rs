//! Solving by hand: the techniques that may be used, and steps as text, as drawings and as JSON.

use std::io::{self, IsTerminal as _};
use std::sync::atomic::AtomicBool;

use anyhow::ensure;
use clap::Args;
use serde_json::{Value, json};
use sudoku_stream::answer::{CandidateGrid, Outlook, StepMarks, outlook};
use sudoku_stream::grid::{Cell, Order};
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Limit, default_strategy};
use sudoku_stream::techniques::{
    Candidate, Chain, Family, Implication, Kind, Position, Step, Technique, TechniqueSet, Why,
};
use sudoku_stream::text::Format;

use super::{draw, fit, print, value};

/// The techniques that may be used.
#[derive(Clone, Args)]
pub struct TechniqueArgs {
    /// Use these techniques only, as in singles,locked,x-wing [default: all]
    ///
    /// A name is that of a technique or of a family: singles, direct, locked, subsets, fish, wings,
    /// uniqueness, exclusion, chains, forcing. Those of forcing are for 9x9 puzzles only.
    #[arg(long, value_name = "NAMES", value_parser = value::techniques())]
    #[arg(hide_possible_values = true)]
    only: Option<TechniqueSet>,

    /// Use no technique that takes for granted that there is one solution
    #[arg(long, hide_short_help = true)]
    no_uniqueness: bool,
}

impl TechniqueArgs {
    /// The options with their values; `None` for one that is not given.
    pub fn options(&self) -> [(&'static str, Option<String>); 2] {
        let names = |set: TechniqueSet| set.iter().map(Technique::name).collect::<Vec<_>>().join(",");
        let Self { only, no_uniqueness } = self;
        [("--only", only.map(names)), ("--no-uniqueness", no_uniqueness.then(String::new))]
    }

    /// The techniques.
    ///
    /// # Errors
    /// None is left.
    pub fn set(&self) -> anyhow::Result<TechniqueSet> {
        let all = self.only.unwrap_or(TechniqueSet::ALL);
        let is_wanted = |technique: &Technique| !(self.no_uniqueness && technique.rests_on_uniqueness());
        let set: TechniqueSet = all.iter().filter(is_wanted).collect();
        ensure!(!set.is_empty(), "No technique is left. Name others with --only.");
        Ok(set)
    }

    /// The techniques for puzzles of a size.
    ///
    /// # Errors
    /// None is left, or none that puzzles of this size have.
    pub fn set_for(&self, order: Order) -> anyhow::Result<TechniqueSet> {
        let set = self.set()?;
        set.check_for(order)?;
        Ok(set)
    }
}

/// How people are told of cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CellNames {
    /// `(3, 1)`
    #[default]
    Pair,
    /// `r3c1`
    Rc,
}

impl CellNames {
    /// All of them, each with its name.
    const ALL: [(&'static str, Self); 2] = [("pair", Self::Pair), ("rc", Self::Rc)];

    /// What explains the cells that a text names, if it names any. `r3c1` explains itself.
    pub fn note(self, text: &str) -> Option<&'static str> {
        let mut names_cells = false;
        with_cells(text, |_, _| {
            names_cells = true;
            String::new()
        });
        (names_cells && self == Self::Pair).then_some("Cells are named (row, column).")
    }

    /// The text with cells named so.
    pub fn name_in(self, text: &str) -> String {
        match self {
            Self::Pair => text.to_owned(),
            Self::Rc => with_cells(text, |row, column| format!("r{row}c{column}")),
        }
    }
}

/// The text with another name for each cell that it names as `(3, 1)`, also over two lines.
fn with_cells(text: &str, mut name: impl FnMut(&str, &str) -> String) -> String {
    let is_number = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = text.split('(');
    let mut named = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let inside = part.split_once(')').and_then(|(inside, rest)| Some((inside.split_once(',')?, rest)));
        match inside.map(|((row, column), rest)| (row, column.trim_start(), rest)) {
            Some((row, column, rest)) if is_number(&row) && is_number(&column) => {
                named += &name(row, column);
                named += rest;
            }
            _ => named += &format!("({part}"),
        }
    }
    named
}

/// The argument of commands that explain steps.
#[derive(Clone, Copy, Debug, Args)]
pub struct CellArgs {
    /// Names of cells in text: pair, as in (3, 1), or rc, as in r3c1 [default: pair]
    #[arg(long, value_name = "NAMES", value_parser = value::plain(CellNames::ALL), default_value = "pair")]
    #[arg(hide_default_value = true, hide_possible_values = true)]
    pub cells: CellNames,
}

/// What lies ahead of a position.
pub fn outlook_of(position: &Position, cancel: &AtomicBool) -> Outlook {
    let order = position.order();
    let mut solver = default_strategy(order).solver(order);
    let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel };
    outlook(position, &position.grid(), solver.as_mut(), &limit)
}

/// A drawing of a position with a step marked: without candidates if digits alone show it.
pub fn drawing(format: &Format, position: &Position, step: &Step) -> String {
    let has_colours = print::has_colours();
    if step.technique.family() == Family::Singles {
        let mut text = Vec::new();
        draw::step(format, &position.grid(), step, &mut text);
        return String::from_utf8_lossy(&text).into_owned();
    }
    let marks = if has_colours { StepMarks::Colours } else { StepMarks::Characters };
    CandidateGrid { position, step: Some(step), marks }.to_string()
}

/// The symbols of the values 1, 2 and so on of a puzzle that does not write 1 to 9 as these digits. In
/// others, what a sentence names is also what is seen.
pub fn other_symbols(format: &Format) -> Option<String> {
    let last = u8::try_from(format.order().side()).unwrap_or(u8::MAX);
    let symbols: String = (1..=last).map(|value| format.symbol(value)).collect();
    (!symbols.chars().zip('1'..='9').all(|(symbol, digit)| symbol == digit)).then_some(symbols)
}

/// How values are named, for a puzzle with other symbols.
pub fn values_note(format: &Format) -> Option<String> {
    let symbols = other_symbols(format)?;
    let side = format.order().side();
    Some(format!(
        "Sentences name values by number, and candidates are in the alphabet letters; the puzzle writes 1 to {side} as \
         {symbols}."
    ))
}

/// What the marks of a drawing mean.
pub fn legend(step: &Step) -> &'static str {
    match (print::has_colours(), step.technique.family(), step.placement) {
        (_, Family::Singles, _) => "",
        (true, _, Some(_)) => "green shows the step, reversed is placed",
        (true, _, None) => "green shows the step, red goes",
        (false, _, Some(_)) => "(..) shows the step, [..] is placed",
        (false, _, None) => "(..) shows the step, -.. goes",
    }
}

/// The lines of a step's chains: one for each case, from what is assumed to what follows.
pub fn chain_lines(step: &Step) -> Vec<String> {
    step.chains.iter().map(chain_line).collect()
}

/// `if (1, 2) is 4, then (1, 7) is not 4, (3, 7) is 4, so (3, 2) is not 4`.
fn chain_line(chain: &Chain) -> String {
    let parts: Vec<String> = chain
        .iter()
        .enumerate()
        .map(|(place, implication)| {
            let Implication { node, why, .. } = implication;
            let reason = match why {
                Why::LastPlace(house) => format!(" (last place in {house})"),
                Why::LastDigit => " (last candidate)".to_owned(),
                Why::By(technique) => format!(" ({technique})"),
                _ => String::new(),
            };
            let lead = match place {
                0 => "if ",
                1 => "then ",
                _ => "",
            };
            format!("{lead}{node}{reason}")
        })
        .collect();
    parts.join(", ")
}

/// Text for people, in lines that fit the terminal.
pub fn wrapped(text: &str, indent: usize) -> String {
    let columns =
        if io::stdout().is_terminal() { fit::stdout_columns().unwrap_or(80).min(100) } else { usize::MAX };
    let lines = fit::wrapped(text, columns.saturating_sub(indent).max(20));
    lines.join(&format!("\n{}", " ".repeat(indent)))
}

/// A step as JSON: rows, columns and digits from 1.
pub fn json_of(step: &Step) -> Value {
    let cell = |cell: Cell| json!([cell.row(), cell.column()]);
    let candidate = |candidate: &Candidate| {
        json!({
            "row": candidate.cell.row(),
            "column": candidate.cell.column(),
            "digit": candidate.digit.value(),
        })
    };
    let implication = |implication: &Implication| {
        let why = match implication.why {
            Why::Assumption => "assumption".to_owned(),
            Why::OneDigit => "one digit in a cell".to_owned(),
            Why::OnceIn(house) => format!("once in {house}"),
            Why::LastDigit => "last candidate of the cell".to_owned(),
            Why::LastPlace(house) => format!("last place in {house}"),
            Why::By(technique) => technique.name().to_owned(),
            _ => String::new(),
        };
        let mut value = candidate(&implication.node.candidate);
        if let Value::Object(members) = &mut value {
            members.insert("is_on".to_owned(), implication.node.is_on.into());
            members.insert("parents".to_owned(), json!(implication.parents));
            members.insert("why".to_owned(), why.into());
        }
        value
    };
    json!({
        "technique": step.technique.name(),
        "kind": kind_name(step.kind),
        "rating": f64::from(step.rating.tenths()) / 10.0,
        "sentence": step.to_string(),
        "placement": step.placement.as_ref().map(candidate),
        "eliminations": step.eliminations.iter().map(candidate).collect::<Vec<_>>(),
        "cells": step.cells.iter().map(|&at| cell(at)).collect::<Vec<_>>(),
        "candidates": step.candidates.iter().map(candidate).collect::<Vec<_>>(),
        "houses": step.houses.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "chains": step.chains.iter().map(|chain| chain.iter().map(implication).collect()).collect::<Vec<Vec<_>>>(),
    })
}

/// The kind of a step within its technique; empty where there is one only.
fn kind_name(kind: Kind) -> String {
    match kind {
        Kind::Type(number) => format!("type {number}"),
        Kind::Double => "double".to_owned(),
        Kind::Contradiction => "contradiction".to_owned(),
        Kind::Cell => "cell".to_owned(),
        Kind::Region => "region".to_owned(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::value::{read_technique, read_techniques, score};
    use super::*;

    #[test]
    fn cells_are_named_as_wanted() {
        let rc = |text: &str| CellNames::Rc.name_in(text);
        assert_eq!(rc("(3, 1) is 1, not at (16,\n  2) (last cell)."), "r3c1 is 1, not at r16c2 (last cell).");
        for other in ["(4)-7 ( 3, 1", "(a, 1) (1, b) (1) ()", ""] {
            assert_eq!(rc(other), other);
        }
        assert_eq!(CellNames::Pair.name_in("(3, 1)"), "(3, 1)");
        let note = |text: &str| CellNames::Pair.note(text);
        assert_eq!(note("At (3,\n 1), (4, 1)"), Some("Cells are named (row, column)."));
        assert!(note("(4)-7").is_none() && CellNames::Rc.note("(3, 1)").is_none());
    }

    #[test]
    fn names_of_techniques_are_read() {
        let args = |only: Option<&str>, no_uniqueness| TechniqueArgs {
            only: only.map(|text| read_techniques(text).unwrap()),
            no_uniqueness,
        };
        assert_eq!(args(None, false).set().unwrap(), TechniqueSet::ALL);
        assert_eq!(args(None, true).set().unwrap(), TechniqueSet::without_uniqueness());
        assert!(args(Some("fish,xy-wing"), true).set().unwrap().contains(Technique::XWing));
        assert!(args(Some("uniqueness"), true).set().is_err());
        let forcing = args(Some("forcing"), false);
        assert!(forcing.set_for(Order::NINE).is_ok() && forcing.set_for(Order::ALL[3]).is_err());
        assert!(args(Some("forcing,singles"), false).set_for(Order::ALL[3]).is_ok());
        for (text, wanted) in [("", "No technique is named."), ("xwong", "Families are singles, direct")] {
            assert!(read_techniques(text).unwrap_err().contains(wanted), "{text}");
        }
        assert!(
            read_technique("x wing").is_ok() && read_technique("fish").unwrap_err().contains("swordfish")
        );
        assert!(score("7.1").is_ok() && score("21").unwrap_err().contains("1.0 to 20.0"));
    }
}
