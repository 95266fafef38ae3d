//! The board: a puzzle, the entries, and undo.

use std::collections::HashSet;
use std::sync::Arc;

use sudoku_stream::grid::{Cell, Digit, Grid};
use sudoku_stream::techniques::{Candidate, Position};
use sudoku_stream::text::{Format, GridLines};

use crate::cli::{draw, print};

/// The most changes that can be undone.
const MAX_UNDOS: usize = 10_000;

/// The origin of a digit on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DigitOrigin {
    /// The puzzle.
    Clue,
    /// The user; also the origin of a blank cell.
    User,
    /// `solve`.
    Solver,
}

/// The look of a drawn board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    /// The notation grid, which can be read again.
    Plain,
    /// With numbered rows and columns.
    Numbered,
    /// With colours too: clues bold, entries of the user cyan, those of the solver green, broken
    /// rules red.
    Coloured,
}

/// Candidates that a step has taken away.
#[derive(PartialEq, Eq)]
pub struct Note {
    /// The board of the step. The candidates are gone as long as all of its digits are there, because
    /// the step may rest on any of them.
    pub board: Grid,
    pub candidates: Vec<Candidate>,
    /// What the step does, in words.
    pub effect: String,
}

/// What is on the board, and what is known of it.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    grid: Grid,
    origins: Vec<DigitOrigin>,
    notes: Vec<Arc<Note>>,
}

/// A puzzle and its entries.
pub struct Board {
    /// Its name, such as `Puzzle 3 of list.txt`.
    title: String,
    format: Format,
    now: Snapshot,
    past: Vec<Snapshot>,
    future: Vec<Snapshot>,
}

impl Snapshot {
    /// The note by which `after` differs from this, if it does by nothing else.
    fn note_before(&self, after: &Self) -> Option<Arc<Note>> {
        let is_same = self.grid == after.grid && self.origins == after.origins;
        after.notes.last().filter(|_| is_same && after.notes.len() > self.notes.len()).map(Arc::clone)
    }
}

/// What undoing or redoing has come to.
pub enum Travel {
    /// There was nothing to undo or redo.
    Nowhere,
    /// The digits changed, or which of them are clues.
    Changed,
    /// A note was taken back or made again.
    Note(Arc<Note>),
}

impl Board {
    /// A board with the clues only. `format` gives the symbols.
    pub fn new(title: String, format: Format, puzzle: Grid) -> Self {
        let origin = |&digit: &u8| if digit == 0 { DigitOrigin::User } else { DigitOrigin::Clue };
        let origins = puzzle.digits().iter().map(origin).collect();
        let now = Snapshot { grid: puzzle, origins, notes: Vec::new() };
        Self { title, format, now, past: Vec::new(), future: Vec::new() }
    }

    pub fn format(&self) -> &Format {
        &self.format
    }

    /// What is on the board now.
    pub fn now(&self) -> &Snapshot {
        &self.now
    }

    /// The position, without the candidates that steps have taken away.
    pub fn position(&self) -> Position {
        let mut position = Position::new(self.grid());
        for note in &self.now.notes {
            if has_digits_of(self.grid(), &note.board) {
                for &candidate in &note.candidates {
                    position.eliminate(candidate);
                }
            }
        }
        position
    }

    /// All digits on the board.
    pub fn grid(&self) -> &Grid {
        &self.now.grid
    }

    /// The clues alone.
    pub fn clues(&self) -> Grid {
        self.part(|origin| origin == DigitOrigin::Clue)
    }

    /// Clues and entries of the user: the puzzle that is solved.
    pub fn given(&self) -> Grid {
        self.part(|origin| origin != DigitOrigin::Solver)
    }

    fn part(&self, is_wanted: impl Fn(DigitOrigin) -> bool) -> Grid {
        let mut part = self.now.grid.clone();
        for (digit, &origin) in part.digits_mut().iter_mut().zip(&self.now.origins) {
            if !is_wanted(origin) {
                *digit = 0;
            }
        }
        part
    }

    /// The clue in a cell, if there is one.
    pub fn clue(&self, cell: Cell) -> Option<Digit> {
        self.now.grid.get(cell).filter(|_| self.now.origins[cell.index()] == DigitOrigin::Clue)
    }

    /// Puts a digit, or a blank, into a cell that is no clue.
    pub fn set(&mut self, cell: Cell, digit: Option<Digit>) {
        self.change(|state| {
            state.grid.set(cell, digit);
            state.origins[cell.index()] = DigitOrigin::User;
        });
    }

    /// Notes what a step takes away.
    pub fn note(&mut self, note: Note) {
        self.change(|state| state.notes.push(Arc::new(note)));
    }

    /// Fills all cells that are not given from a solution.
    pub fn fill(&mut self, solution: &Grid) {
        let given = self.given();
        self.change(|state| {
            state.grid = solution.clone();
            for (origin, &digit) in state.origins.iter_mut().zip(given.digits()) {
                if digit == 0 {
                    *origin = DigitOrigin::Solver;
                }
            }
        });
    }

    /// Enters the digits of another grid, as the user does.
    pub fn enter(&mut self, digits: &Grid) {
        self.change(|state| {
            for (cell, &digit) in digits.digits().iter().enumerate() {
                if state.origins[cell] != DigitOrigin::Clue {
                    state.grid.digits_mut()[cell] = digit;
                }
            }
        });
    }

    /// Removes all entries.
    pub fn reset(&mut self) {
        let clues = self.clues();
        self.change(|state| {
            state.grid = clues;
            for origin in &mut state.origins {
                if *origin != DigitOrigin::Clue {
                    *origin = DigitOrigin::User;
                }
            }
        });
    }

    /// Makes a clue of every digit.
    pub fn lock(&mut self) {
        self.make_puzzle(|digit| if digit == 0 { DigitOrigin::User } else { DigitOrigin::Clue });
    }

    /// Lets every digit be changed.
    pub fn unlock(&mut self) {
        self.make_puzzle(|_| DigitOrigin::User);
    }

    /// Makes another puzzle of the digits. What was known of the old one is forgotten.
    fn make_puzzle(&mut self, origin: impl Fn(u8) -> DigitOrigin) {
        self.change(|state| {
            let origins = state.grid.digits().iter().map(|&digit| origin(digit)).collect();
            if state.origins != origins {
                state.origins = origins;
                state.notes.clear();
            }
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut Snapshot)) {
        let before = self.now.clone();
        change(&mut self.now);
        if self.now == before {
            return;
        }
        if self.past.len() == MAX_UNDOS {
            self.past.remove(0);
        }
        self.past.push(before);
        self.future.clear();
    }

    /// Undoes the last change.
    pub fn undo(&mut self) -> Travel {
        let before = self.now.clone();
        if !step(&mut self.past, &mut self.now, &mut self.future) {
            return Travel::Nowhere;
        }
        self.now.note_before(&before).map_or(Travel::Changed, Travel::Note)
    }

    /// Redoes the last change that was undone.
    pub fn redo(&mut self) -> Travel {
        let before = self.now.clone();
        if !step(&mut self.future, &mut self.now, &mut self.past) {
            return Travel::Nowhere;
        }
        before.note_before(&self.now).map_or(Travel::Changed, Travel::Note)
    }

    /// The title, the size, and the numbers of clues and entries.
    pub fn summary(&self) -> String {
        let order = self.format.order();
        let count = |wanted: DigitOrigin| {
            let filled = self.now.grid.digits().iter().zip(&self.now.origins);
            filled.filter(|&(&digit, &origin)| digit != 0 && origin == wanted).count() as u64
        };
        let clues = print::counted(count(DigitOrigin::Clue), "clue");
        let mut summary = format!("{}: {order}, {clues}", self.title);
        for (number, what) in
            [(count(DigitOrigin::User), "filled in by you"), (count(DigitOrigin::Solver), "by the solver")]
        {
            if number > 0 {
                summary += &format!(", {number} {what}");
            }
        }
        summary + "\n"
    }

    /// The board drawn.
    pub fn draw(&self, look: Look) -> String {
        let mut text = Vec::new();
        if look == Look::Coloured {
            self.colour(&mut text);
        } else {
            self.format.write_grid(&self.now.grid, &mut text);
        }
        let board = String::from_utf8_lossy(&text);
        match look {
            Look::Plain => board.into_owned(),
            _ => draw::numbered(&board, self.format.order(), look == Look::Coloured),
        }
    }

    fn colour(&self, text: &mut Vec<u8>) {
        let in_conflict: HashSet<usize> =
            self.now.grid.conflicts().flat_map(|c| [c.first.index(), c.second.index()]).collect();
        self.format.write_grid_with(GridLines::Ruled, &self.now.grid, text, |index, symbol, text| {
            let style = match (self.now.grid.digits()[index], self.now.origins[index]) {
                (0, _) => "2",
                (_, DigitOrigin::Clue) if in_conflict.contains(&index) => "1;31",
                _ if in_conflict.contains(&index) => "31",
                (_, DigitOrigin::Clue) => "1",
                (_, DigitOrigin::User) => "36",
                (_, DigitOrigin::Solver) => "32",
            };
            text.extend_from_slice(format!("\x1b[{style}m{}\x1b[0m", char::from(symbol)).as_bytes());
        });
    }
}

/// Whether a board has every digit of another one, in its place.
fn has_digits_of(board: &Grid, other: &Grid) -> bool {
    board.digits().iter().zip(other.digits()).all(|(here, there)| *there == 0 || here == there)
}

fn step(from: &mut Vec<Snapshot>, now: &mut Snapshot, to: &mut Vec<Snapshot>) -> bool {
    let Some(state) = from.pop() else { return false };
    to.push(std::mem::replace(now, state));
    true
}
