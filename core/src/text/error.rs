//! Errors of puzzles: exact sentences and stable codes.

use std::fmt;
use std::io::Write as _;

use crate::counted::counted;
use crate::grid::{Cell, Conflict, Order, OutOfRange};

/// The beginning of every error line.
pub(crate) const ERROR_PREFIX: &str = "error: ";

/// What is wrong with one puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Problem {
    /// The first line of a `header` file is neither `2` nor `3`.
    InvalidBlockSize,
    /// Every line is one character and the first is a whole number: a `header` file with an invalid
    /// block size, or a list of 1x1 puzzles.
    AmbiguousBlockSize,
    /// The first line is a whole number above lines that are as long as puzzles: a `header` file
    /// with an invalid block size, or a list below the number of its puzzles.
    BlockSizeOrCount,
    /// There is nothing to read.
    Empty,
    /// The line has another length than its notation requires.
    WrongLength,
    /// The same, where the cells can be counted.
    WrongCellCount {
        /// The number of cells.
        cells: usize,
        /// The order of the puzzles.
        order: Order,
    },
    /// A puzzle by itself that has no possible number of cells.
    CellCount {
        /// The number of cells.
        cells: usize,
    },
    /// A character that is neither a blank nor a value of this size.
    InvalidCharacter {
        /// The character in quotes, or its number where a terminal would not show it.
        character: String,
        /// Its column in the line, from 1.
        column: usize,
    },
    /// Quotes that begin a field of a table and are not closed in the same line. The field may go on
    /// in the next line, and a row cannot.
    OpenQuotes {
        /// Their column in the line, from 1.
        column: usize,
    },
    /// A number, in a notation of numbers, that puzzles of this size do not have.
    OutOfRange(OutOfRange),
    /// Two equal clues share a house.
    RuleBroken(Conflict),
    /// A notation that names cells names this one twice.
    SetTwice(Cell),
    /// The search proved that there is no solution.
    NoSolution,
    /// Uniqueness was asked for and there is a second solution.
    NotUnique,
    /// The text has a solution beside the puzzle that cannot be read, because of another problem
    /// where that is known.
    WrongSolution(Option<Box<Self>>),
    /// The search reached its node limit before an answer.
    GaveUp {
        /// The nodes visited.
        nodes: u64,
    },
    /// A bug in this software: the work on this puzzle panicked.
    Internal,
}

impl Problem {
    /// All codes.
    pub const CODES: [&str; 10] = [
        "invalid_block_size",
        "empty",
        "wrong_length",
        "invalid_character",
        "rule_broken",
        "no_solution",
        "not_unique",
        "wrong_solution",
        "gave_up",
        "internal",
    ];

    /// The stable code that programs match on, one of [`Self::CODES`].
    #[must_use]
    pub const fn code(&self) -> &'static str {
        match self {
            Self::InvalidBlockSize | Self::AmbiguousBlockSize | Self::BlockSizeOrCount => {
                "invalid_block_size"
            }
            Self::Empty => "empty",
            Self::WrongLength | Self::WrongCellCount { .. } | Self::CellCount { .. } => "wrong_length",
            Self::InvalidCharacter { .. } | Self::OpenQuotes { .. } | Self::OutOfRange(_) => {
                "invalid_character"
            }
            Self::RuleBroken(_) | Self::SetTwice(_) => "rule_broken",
            Self::NoSolution => "no_solution",
            Self::NotUnique => "not_unique",
            Self::WrongSolution(_) => "wrong_solution",
            Self::GaveUp { .. } => "gave_up",
            Self::Internal => "internal",
        }
    }
}

impl Problem {
    /// The end of the sentence, where it is constant.
    const fn words(&self) -> Option<&'static str> {
        Some(match self {
            Self::Empty => "is empty.",
            Self::WrongLength => WRONG_LENGTH,
            Self::NoSolution => "has no solution.",
            Self::NotUnique => "has more than one solution.",
            Self::Internal => "was not answered because of an internal error.",
            _ => return None,
        })
    }
}

impl Problem {
    /// The problem of a puzzle whose solution beside it has this one.
    pub(crate) fn of_solution(self) -> Self {
        Self::WrongSolution(Some(Box::new(self)))
    }
}

/// The first sentence of a line whose cells were counted.
const WRONG_LENGTH: &str = "has the wrong length.";

/// A [`Problem`] and its line. Prints as the exact sentence: `Line 6 has no solution.` with a line,
/// `The puzzle has no solution.` without.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub struct PuzzleError {
    /// What is wrong.
    pub problem: Problem,
    /// The physical line, from 1; `None` for a puzzle that did not come from a file or stream.
    pub line: Option<u64>,
}

impl PuzzleError {
    /// The stable code that programs match on.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.problem.code()
    }

    /// Appends the sentence of [`fmt::Display`], the most frequent ones in a fraction of the time,
    /// because in a list of bad puzzles each answer is one.
    pub fn write_to(&self, out: &mut Vec<u8>) {
        if let (Some(line), Some(words)) = (self.line, self.problem.words()) {
            out.extend_from_slice(b"Line ");
            out.extend_from_slice(itoa::Buffer::new().format(line).as_bytes());
            out.push(b' ');
            out.extend_from_slice(words.as_bytes());
        } else {
            // Writing to a vector cannot fail.
            let _ = write!(out, "{self}");
        }
    }
}

/// What begins a line that stands for a puzzle which cannot be read, behind which is the reason: a
/// character that no text has.
pub(super) const FAULT: &[u8] = "\u{10FFFE}".as_bytes();

/// Appends a line that stands for a puzzle with this problem, for [`fault_of`].
pub(super) fn push_fault(problem: &Problem, out: &mut Vec<u8>) {
    out.extend_from_slice(FAULT);
    // Writing to a vector cannot fail.
    let _ = match problem {
        Problem::InvalidCharacter { character, column } => write!(out, "c{column}_{character}"),
        Problem::OutOfRange(OutOfRange { what: "column", value, .. }) => write!(out, "o{value}"),
        Problem::OutOfRange(OutOfRange { what, value, .. }) => write!(out, "{}{value}", &what[..1]),
        Problem::SetTwice(cell) => write!(out, "t{}", cell.index()),
        _ => write!(out, "l"),
    };
}

/// The problem of the puzzle for which a line stands, if it stands for one.
pub(super) fn fault_of(line: &[u8], order: Order) -> Option<Problem> {
    let fault = std::str::from_utf8(line.strip_prefix(FAULT)?).ok()?.trim_end();
    let (kind, rest) = fault.split_at_checked(1)?;
    let number = || rest.parse::<usize>().ok();
    let outside = |what| Some(Problem::OutOfRange(OutOfRange { what, value: number()?, side: order.side() }));
    match kind {
        "c" => {
            let (column, character) = rest.split_once('_')?;
            Some(Problem::InvalidCharacter { character: character.to_owned(), column: column.parse().ok()? })
        }
        "r" => outside("row"),
        "o" => outside("column"),
        "v" => outside("value"),
        "t" => Some(Problem::SetTwice(order.cell_at(number().filter(|&index| index < order.cells())?))),
        "l" => Some(Problem::WrongLength),
        _ => None,
    }
}

impl fmt::Display for PuzzleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.problem {
            Problem::InvalidBlockSize | Problem::AmbiguousBlockSize => {
                return f.write_str("Invalid block size.");
            }
            Problem::BlockSizeOrCount => {
                f.write_str("Invalid block size. If ")?;
                match self.line {
                    Some(line) => write!(f, "line {line}")?,
                    None => f.write_str("the first line")?,
                }
                return f.write_str(" is the number of puzzles, delete it.");
            }
            _ => {}
        }
        match self.line {
            Some(line) => write!(f, "Line {line} ")?,
            None => f.write_str("The puzzle ")?,
        }
        match &self.problem {
            Problem::WrongCellCount { cells, order } => {
                write!(
                    f,
                    "{WRONG_LENGTH} It has {}; a {order} puzzle has {}.",
                    counted(*cells as u64, "cell"),
                    order.cells()
                )
            }
            Problem::WrongSolution(problem) => {
                f.write_str("has a wrong solution beside it.")?;
                match problem.as_deref() {
                    Some(Problem::WrongCellCount { cells, order }) => {
                        write!(
                            f,
                            " It has {}; a {order} solution has {}.",
                            counted(*cells as u64, "cell"),
                            order.cells()
                        )
                    }
                    Some(Problem::InvalidCharacter { character, column }) => {
                        write!(f, " It has {character} in column {column}.")
                    }
                    _ => Ok(()),
                }
            }
            Problem::CellCount { cells } => {
                write!(f, "has {cells} cells; a puzzle has 1, 16, 81, 256 or 625.")
            }
            Problem::InvalidCharacter { character, column } => {
                write!(f, "has an invalid character. It is {character} in column {column}.")
            }
            Problem::OpenQuotes { column } => write!(
                f,
                "has an invalid character. It is '\"' in column {column}, which is not closed, and a row ends with its \
                 line."
            ),
            Problem::OutOfRange(reference) => write!(f, "has an invalid character. {reference}"),
            Problem::RuleBroken(conflict) => write!(f, "breaks the rules: {conflict}."),
            Problem::SetTwice(cell) => write!(f, "breaks the rules: cell {cell} is set twice."),
            Problem::GaveUp { nodes } => write!(f, "was given up after {}.", counted(*nodes, "node")),
            other => f.write_str(other.words().unwrap_or_default()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_is_displayed() {
        let problems = [
            (Problem::InvalidBlockSize, "Invalid block size."),
            (Problem::AmbiguousBlockSize, "Invalid block size."),
            (
                Problem::BlockSizeOrCount,
                "Invalid block size. If line 120 is the number of puzzles, delete it.",
            ),
            (Problem::Empty, "Line 120 is empty."),
            (Problem::WrongLength, "Line 120 has the wrong length."),
            (Problem::CellCount { cells: 7 }, "Line 120 has 7 cells; a puzzle has 1, 16, 81, 256 or 625."),
            (
                Problem::InvalidCharacter { character: "'x'".to_owned(), column: 3 },
                "Line 120 has an invalid character. It is 'x' in column 3.",
            ),
            (
                Problem::OpenQuotes { column: 3 },
                "Line 120 has an invalid character. It is '\"' in column 3, which is not closed, and a row ends with \
                 its line.",
            ),
            (Problem::NoSolution, "Line 120 has no solution."),
            (Problem::NotUnique, "Line 120 has more than one solution."),
            (Problem::WrongSolution(None), "Line 120 has a wrong solution beside it."),
            (
                Problem::WrongCellCount { cells: 1, order: Order::NINE }.of_solution(),
                "Line 120 has a wrong solution beside it. It has 1 cell; a 9x9 solution has 81.",
            ),
            (
                Problem::InvalidCharacter { character: "'x'".to_owned(), column: 3 }.of_solution(),
                "Line 120 has a wrong solution beside it. It has 'x' in column 3.",
            ),
            (
                Problem::WrongCellCount { cells: 80, order: Order::NINE },
                "Line 120 has the wrong length. It has 80 cells; a 9x9 puzzle has 81.",
            ),
            (Problem::GaveUp { nodes: 1 }, "Line 120 was given up after 1 node."),
            (Problem::GaveUp { nodes: 9 }, "Line 120 was given up after 9 nodes."),
            (Problem::Internal, "Line 120 was not answered because of an internal error."),
        ];
        for (problem, sentence) in problems {
            for line in [Some(120), Some(u64::MAX), None] {
                let error = PuzzleError { problem: problem.clone(), line };
                let mut written = b"before ".to_vec();
                error.write_to(&mut written);
                assert_eq!(String::from_utf8(written).unwrap(), format!("before {error}"));
                if line == Some(120) {
                    assert_eq!(error.to_string(), sentence);
                }
            }
        }
    }
}
