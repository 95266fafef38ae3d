//! Grids of candidates as text: read as other programs write them, and drawn with a step marked.

use std::fmt::{self, Write as _};

use crate::grid::{Cell, Digit, Order};
use crate::techniques::{Candidate, PencilMarkError, Position, Step};
use crate::text::{BYTE_ORDER_MARK, MarkedText, marks_of};

/// The most bytes of a text that may be positions.
pub const MAX_POSITION_BYTES: usize = 1 << 20;

/// Positions of a text, each with the line on which it begins, from 1.
pub type Positions = Vec<(u64, Result<Position, PencilMarkError>)>;

/// Reads a text of positions: lines of [pencil marks](Position::pencil_marks), or grids of
/// candidates as `HoDoKu` and Simple Sudoku write them. `None` if the text is anything else, such
/// as puzzles.
///
/// In a grid, each cell has its candidates without a space between them. A cell with a single
/// candidate that no cell around it has holds that digit.
///
/// ```
/// use sudoku_core::answer::read_positions;
///
/// let grid = "1 2 | 34 34\n34 34 | 1 2\n----+----\n2 134 | 34 134\n34 134 | 2 134\n";
/// let positions = read_positions(grid.as_bytes()).unwrap();
/// assert_eq!(positions[0].1.as_ref().unwrap().grid().filled(), 6);
/// assert!(read_positions(b"1234341221..4321\n").is_none());
/// ```
#[must_use]
pub fn read_positions(text: &[u8]) -> Option<Positions> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let found = Some(text).filter(|text| text.len() <= MAX_POSITION_BYTES);
    let found = MarkedText::find(found?, false)?;
    let side = found.order.side();
    if found.are_lines {
        let marks = |cells: &[&[u8]]| String::from_utf8_lossy(&cells.concat()).parse();
        return Some(found.rows.into_iter().map(|(line, cells)| (line, marks(&cells))).collect());
    }
    if found.damage.is_some() {
        return None;
    }
    let cells: Vec<(u64, Vec<u8>)> = found
        .rows
        .iter()
        .flat_map(|(line, cells)| cells.iter().filter_map(|cell| Some((*line, marks_of(cell, side)?))))
        .collect();
    let position = |cells: &[(u64, Vec<u8>)]| {
        let marks: Vec<u8> = cells.iter().flat_map(|(_, marks)| marks).copied().collect();
        (cells.first().map_or(1, |(line, _)| *line), String::from_utf8_lossy(&marks).parse())
    };
    Some(cells.chunks(side * side).map(position).collect())
}

/// How a step is marked in a drawing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StepMarks {
    /// By characters: `(37)` shows the step, `-5` goes, `[7]` is placed.
    #[default]
    Characters,
    /// By the colours of a terminal: green shows the step, red goes, reversed is placed.
    Colours,
}

/// A drawing of the candidates of a position, and of a step in it. It prints as a grid that
/// [`read_positions`] reads, if there is no step.
#[derive(Clone, Copy, Debug)]
pub struct CandidateGrid<'a> {
    /// The position.
    pub position: &'a Position,
    /// The step, which is possible in the position.
    pub step: Option<&'a Step>,
    /// How it is marked.
    pub marks: StepMarks,
}

const RESET: &str = "\x1b[0m";
const SHOWS: &str = "\x1b[1;32m";
const GOES: &str = "\x1b[1;31m";
const PLACED: &str = "\x1b[7m";
const LOOKED_AT: &str = "\x1b[4m";
const GIVEN: &str = "\x1b[1m";

impl fmt::Display for CandidateGrid<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let order = self.position.order();
        let (side, b) = (order.side(), order.box_side());
        let texts: Vec<(String, usize)> = order.all_cells().map(|cell| self.cell(cell)).collect();
        let widths: Vec<usize> = (0..side)
            .map(|column| texts.iter().skip(column).step_by(side).map(|(_, width)| *width).max().unwrap_or(1))
            .collect();
        let ruler = |f: &mut fmt::Formatter<'_>, ends: [char; 3]| {
            for (index, band) in widths.chunks(b).enumerate() {
                f.write_char(if index == 0 { ends[0] } else { ends[1] })?;
                let width = band.iter().sum::<usize>() + 2 * (b - 1) + 2;
                f.write_str(&"-".repeat(width))?;
            }
            f.write_char(ends[2])?;
            f.write_char('\n')
        };
        ruler(f, ['.', '.', '.'])?;
        for (row, cells) in texts.chunks(side).enumerate() {
            if row > 0 && row % b == 0 {
                ruler(f, [':', '+', ':'])?;
            }
            for (column, (text, width)) in cells.iter().enumerate() {
                f.write_str(match (column, column % b) {
                    (0, _) => "| ",
                    (_, 0) => " | ",
                    _ => "  ",
                })?;
                f.write_str(text)?;
                f.write_str(&" ".repeat(widths[column] - width))?;
            }
            f.write_str(" |\n")?;
        }
        ruler(f, ['\'', '\'', '\''])
    }
}

impl CandidateGrid<'_> {
    /// The text of a cell and its width.
    fn cell(&self, cell: Cell) -> (String, usize) {
        if let Some(digit) = self.position.get(cell) {
            let symbol = symbol(digit);
            let is_marked = self.step.is_some_and(|step| step.cells.contains(&cell));
            return match self.marks {
                StepMarks::Colours if self.step.is_some() => (format!("{GIVEN}{symbol}{RESET}"), 1),
                StepMarks::Characters if is_marked => (format!("({symbol})"), 3),
                _ => (symbol.to_string(), 1),
            };
        }
        let digits: Vec<Digit> = self.position.candidates(cell).iter().collect();
        let Some(step) = self.step else {
            let text: String = digits.iter().map(|&digit| symbol(digit)).collect();
            let width = digits.len();
            // A cell without a candidate has to be seen.
            return if width == 0 { ("!".to_owned(), 1) } else { (text, width) };
        };
        let has = |list: &[Candidate], digit| list.contains(&Candidate { cell, digit });
        let is_placed = |digit| step.placement == Some(Candidate { cell, digit });
        let goes = |digit| has(&step.eliminations, digit);
        let is_looked_at =
            step.cells.contains(&cell) || step.candidates.iter().any(|shown| shown.cell == cell);
        match self.marks {
            StepMarks::Colours => {
                let mut text = String::new();
                for &digit in &digits {
                    let style = if is_placed(digit) {
                        PLACED
                    } else if goes(digit) {
                        GOES
                    } else if has(&step.candidates, digit) {
                        SHOWS
                    } else if is_looked_at {
                        LOOKED_AT
                    } else {
                        ""
                    };
                    let end = if style.is_empty() { "" } else { RESET };
                    let _ = write!(text, "{style}{}{end}", symbol(digit));
                }
                (text, digits.len())
            }
            StepMarks::Characters => {
                let list = |wanted: &dyn Fn(Digit) -> bool| -> String {
                    digits.iter().filter(|&&digit| wanted(digit)).map(|&digit| symbol(digit)).collect()
                };
                let (kept, gone) = (list(&|digit| !goes(digit)), list(&goes));
                let mut text = match step.placement {
                    Some(placed) if placed.cell == cell => format!("[{}]", symbol(placed.digit)),
                    _ if is_looked_at => format!("({kept})"),
                    _ => kept,
                };
                if !gone.is_empty() {
                    let _ = write!(text, "-{gone}");
                }
                let width = text.len();
                (text, width)
            }
        }
    }
}

/// The symbol of a digit: letters from 10 on.
fn symbol(digit: Digit) -> char {
    char::from_digit(digit.value().into(), 36).map_or('?', |c| c.to_ascii_uppercase())
}

/// Whether a text may be positions, by its length alone: nobody types a puzzle of so many cells.
#[must_use]
pub fn has_length_of_pencil_marks(cells: usize) -> bool {
    Order::ALL.iter().any(|order| order.box_side() > 1 && order.cells() * order.side() == cells)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::techniques::{Options, next_step};

    const HODOKU: &str = "\
.---------------------.---------------------.---------------------.
| 4     156   13567   | 1256  2567  12567   | 8     23    9       |
| 9     156   13567   | 12568 25678 125678  | 4     23    57      |
| 278   258   57      | 4     9     3       | 6     57    1       |
:---------------------+---------------------+---------------------:
| 1     3     2       | 56    456   456     | 9     8     57      |
| 5     7     4       | 9     8     2       | 1     6     3       |
| 68    68    9       | 7     1     35      | 2     4     5       |
:---------------------+---------------------+---------------------:
| 37    19    8       | 135   3457  14579   | 57    19    6       |
| 67    4     16      | 158   578   15789   | 3     19    2       |
| 2367  1259  1356    | 123568 2356 1569    | 57    1579  4       |
'---------------------'---------------------'---------------------'
";

    #[test]
    fn grids_of_other_programs_are_read() {
        let simple = HODOKU.replace(['.', '\'', ':'], "*").replace("*-", "|-").replace("-*", "-|");
        for text in [HODOKU, simple.as_str(), &HODOKU.lines().skip(1).collect::<Vec<_>>().join("\r\n")] {
            let positions = read_positions(text.as_bytes()).unwrap_or_else(|| panic!("{text}"));
            let [(_, Ok(position))] = positions.as_slice() else { panic!("{positions:?}") };
            let nine = Order::NINE;
            let at = |row, column| nine.cell(row, column).unwrap();
            assert_eq!(position.get(at(1, 1)).map(Digit::value), Some(4));
            let marks = |cell| position.candidates(cell).iter().map(Digit::value).collect::<Vec<_>>();
            assert_eq!(marks(at(1, 2)), [1, 5, 6]);
            // Two cells of a row may not both hold the 5 that they are left with.
            assert_eq!(position.get(at(6, 9)), None);
        }
    }

    #[test]
    fn what_is_drawn_is_read_again() {
        for puzzle in [
            "4.......938.........72..........9..24.......8.8...6.17...19.2....1..79.8..6.....5",
            ".1....2.3..4....",
        ] {
            let grid: Grid = puzzle.parse().unwrap();
            let position = Position::new(&grid);
            let drawn =
                CandidateGrid { position: &position, step: None, marks: StepMarks::Characters }.to_string();
            let [(line, Ok(again))] = &read_positions(drawn.as_bytes()).unwrap()[..] else {
                panic!("{drawn}")
            };
            assert_eq!((*line, again.pencil_marks()), (2, position.pencil_marks()), "{drawn}");
            let marks = position.pencil_marks();
            let two = format!("# two\n{marks}\n{marks}\n");
            let positions = read_positions(two.as_bytes()).unwrap();
            assert_eq!(positions.iter().map(|(line, _)| *line).collect::<Vec<_>>(), [2, 3]);
            for (_, read) in &positions {
                // A blank cell with one candidate may be read as filled with it.
                assert_eq!(read.as_ref().unwrap().pencil_marks(), marks);
            }
        }
    }

    #[test]
    fn puzzles_are_no_positions() {
        let nine = "53..7....\n".repeat(9);
        let apart = "5 3 . | . 7 . | . . .\n".repeat(9);
        let numbers = "10 11 12 13 14 15 16 1 2 3 4 5 6 7 8 9\n".repeat(16);
        for text in ["", "\n", &nine, &apart, &numbers, &".".repeat(81), "1 2 3\n", "words and\n12 34\n"] {
            assert!(read_positions(text.as_bytes()).is_none(), "{text}");
        }
        // A bad line among good ones has an error of its own.
        let good = ".".repeat(729);
        let positions = read_positions(format!("{good}\n{}\n", &good[1..]).as_bytes()).unwrap();
        assert!(positions[0].1.is_ok() && positions[1].1.is_err());
    }

    #[test]
    fn a_step_is_marked_by_characters_or_colours() {
        let grid: Grid = ".1....2.3..4....".parse().unwrap();
        let position = Position::new(&grid);
        let step = next_step(&position, &Options::default()).unwrap();
        let draw = |marks| CandidateGrid { position: &position, step: Some(&step), marks }.to_string();
        let (plain, coloured) = (draw(StepMarks::Characters), draw(StepMarks::Colours));
        assert!(plain.contains('[') && !plain.contains('\x1b'), "{plain}");
        assert!(coloured.contains(PLACED), "{coloured}");
        let uncoloured: String = [RESET, SHOWS, GOES, PLACED, LOOKED_AT, GIVEN]
            .iter()
            .fold(coloured, |text, code| text.replace(code, ""));
        let unmarked = CandidateGrid { position: &position, step: None, marks: StepMarks::Colours };
        assert_eq!(uncoloured, unmarked.to_string());
    }
}
