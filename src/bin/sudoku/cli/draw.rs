//! Drawing a grid: with box-drawing characters on a terminal that has them, else with rulers.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use console::Term;
use sudoku_stream::answer::paint_grid;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::techniques::{Candidate, Step};
use sudoku_stream::text::{Format, GridLines};

use super::{fit, print};

/// Appends a grid as standard output can show it. With colours, the cells that `clues` has are
/// bold and the others green.
pub fn grid(format: &Format, grid: &Grid, clues: &Grid, out: &mut Vec<u8>) {
    let lines = lines(grid.order());
    if print::has_colours() {
        paint_grid(format, lines, grid, clues, out);
    } else {
        format.write_grid_with(lines, grid, out, |_, symbol, out| out.push(symbol));
    }
}

/// Appends a grid like [`grid`], numbered on a terminal with room for that.
pub fn numbered_grid(format: &Format, puzzle: &Grid, clues: &Grid, out: &mut Vec<u8>) {
    let mut drawing = Vec::new();
    grid(format, puzzle, clues, &mut drawing);
    let drawing = String::from_utf8_lossy(&drawing).into_owned();
    out.extend_from_slice(for_terminal(drawing, puzzle.order(), 0).as_bytes());
}

/// Appends a grid with the cell of a step marked: in brackets, its digit in it.
pub fn step(format: &Format, grid: &Grid, step: &Step, out: &mut Vec<u8>) {
    let mut after = grid.clone();
    if let Some(Candidate { cell, digit }) = step.placement {
        after.set(cell, Some(digit));
    }
    let lines = lines(grid.order());
    if lines == GridLines::Boxed && print::has_colours() {
        return paint_grid(format, lines, &after, grid, out);
    }
    let placed = step.placement.map(|placed| placed.cell.index());
    bracketed(format, lines, &after, placed, out);
}

/// Appends a grid with brackets around the cell at an index. There is a space on both sides of every
/// cell, but at the ends of a line without borders.
fn bracketed(format: &Format, lines: GridLines, grid: &Grid, place: Option<usize>, out: &mut Vec<u8>) {
    let mut end = None;
    format.write_grid_with(lines, grid, out, |index, symbol, out| {
        if place == Some(index) {
            out.pop_if(|last| *last == b' ');
            out.extend_from_slice(&[b'[', symbol]);
            end = Some(out.len());
        } else {
            out.push(symbol);
        }
    });
    if let Some(end) = end {
        let spaces = usize::from(out[end] == b' ');
        out.splice(end..end + spaces, [b']']);
    }
}

/// The room for the number of a row beside a drawing.
const MARGIN: &str = "    ";

/// A drawing with its rows and columns numbered, if standard output is a terminal that has room for
/// that, `indent` columns to the right.
pub fn for_terminal(drawing: String, order: Order, indent: usize) -> String {
    let numbered = numbered(&drawing, order, print::has_colours());
    let width = numbered.lines().map(|line| plain(line).chars().count()).max().unwrap_or(0);
    if fit::stdout_columns().is_some_and(|columns| width + indent <= columns) { numbered } else { drawing }
}

/// A drawing with its rows and columns numbered, wherever its columns are.
pub fn numbered(drawing: &str, order: Order, is_faint: bool) -> String {
    let faint = |text: &str| if is_faint { format!("\x1b[2m{text}\x1b[0m") } else { text.to_owned() };
    let is_ruler = |line: &&str| line.contains("--") || line.contains('─');
    // The brackets of a step may be between two cells.
    let all = drawing.lines().filter(|line| !is_ruler(line)).map(|row| starts(&plain(row)));
    let starts = all.into_iter().find(|starts| starts.len() == order.side()).unwrap_or_default();
    let mut text: String = headings(&starts).iter().map(|heading| faint(heading) + "\n").collect();
    let mut row = 0;
    for line in drawing.lines() {
        if is_ruler(&line) {
            text += &format!("{MARGIN}{line}\n");
        } else {
            row += 1;
            text += &format!("{}  {line}\n", faint(&format!("{row:>2}")));
        }
    }
    text
}

/// The numbers of columns that start at these places of a drawing: their tens, if there are any, and
/// their ones.
pub fn headings(starts: &[usize]) -> Vec<String> {
    let heading = |part: fn(usize) -> String| {
        let mut line = MARGIN.to_owned();
        for (column, start) in (1..).zip(starts) {
            line += &" ".repeat((MARGIN.len() + start).saturating_sub(line.len()));
            line += &part(column);
        }
        line.trim_end().to_owned()
    };
    let tens = |column: usize| if column < 10 { " ".to_owned() } else { (column / 10).to_string() };
    let ones = heading(|column| (column % 10).to_string());
    if starts.len() > 9 { vec![heading(tens), ones] } else { vec![ones] }
}

/// The places at which the cells of a row start.
fn starts(row: &str) -> Vec<usize> {
    let mut before = ' ';
    let is_gap = |c: char| [' ', '|', '│'].contains(&c);
    let starts = row.chars().enumerate().filter(|(_, c)| {
        let before = std::mem::replace(&mut before, *c);
        is_gap(before) && !is_gap(*c)
    });
    starts.map(|(place, _)| place).collect()
}

/// A line without colours.
fn plain(line: &str) -> String {
    let mut parts = line.split('\x1b');
    let first = parts.next().unwrap_or_default().to_owned();
    first + &parts.filter_map(|part| Some(part.split_once('m')?.1)).collect::<String>()
}

/// Boxes, if standard output is a terminal for UTF-8 that is wide enough for them.
fn lines(order: Order) -> GridLines {
    let width = GridLines::Boxed.width(order);
    let is_wide_enough = || Term::stdout().size_checked().is_none_or(|(_, columns)| width <= columns.into());
    let has_boxes = io::stdout().is_terminal() && is_utf8(|name| env::var_os(name)) && is_wide_enough();
    if has_boxes { GridLines::Boxed } else { GridLines::Ruled }
}

/// Is the character set of the locale UTF-8? The first of these variables that is set decides.
fn is_utf8(variable: impl Fn(&str) -> Option<OsString>) -> bool {
    let locale =
        ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|text| !text.is_empty());
    locale.is_some_and(|locale| {
        let locale = locale.to_string_lossy().to_ascii_lowercase();
        locale.contains("utf-8") || locale.contains("utf8")
    })
}

#[cfg(test)]
mod tests {
    use sudoku_stream::text::{Alphabet, Notation};

    use super::*;

    #[test]
    fn boxes_are_drawn_around_every_size() {
        let draw = |side: usize, cells: &str, has_colours| {
            let order = Order::from_side(side).unwrap();
            let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
            let (mut grid, clues) = (Grid::empty(order), Grid::empty(order));
            format.read_cells(cells.as_bytes(), &mut grid).unwrap();
            let mut drawn = Vec::new();
            if has_colours {
                paint_grid(&format, GridLines::Boxed, &grid, &clues, &mut drawn);
            } else {
                bracketed(&format, GridLines::Boxed, &grid, None, &mut drawn);
            }
            String::from_utf8(drawn).unwrap()
        };
        assert_eq!(draw(1, "1", false), "┌───┐\n│ 1 │\n└───┘\n");
        assert_eq!(
            draw(4, "12343412214.4321", false),
            "┌─────┬─────┐\n│ 1 2 │ 3 4 │\n│ 3 4 │ 1 2 │\n├─────┼─────┤\n│ 2 1 │ 4 . │\n│ 4 3 │ 2 1 │\n└─────┴─────┘\n"
        );
        assert_eq!(draw(1, "1", true), "┌───┐\n│ \x1b[32m1\x1b[0m │\n└───┘\n");
        for order in Order::ALL {
            let drawn = draw(order.side(), &".".repeat(order.cells()), false);
            let width = GridLines::Boxed.width(order);
            assert!(drawn.lines().all(|line| line.chars().count() == width), "{drawn}");
        }
    }

    #[test]
    fn the_cell_of_a_step_stands_in_brackets() {
        let order = Order::from_side(4).unwrap();
        let format = Format::new(Notation::Grid, order, Alphabet::Letters).unwrap();
        let mut grid = Grid::empty(order);
        format.read_cells(b"12343412214.4321", &mut grid).unwrap();
        for (place, wanted) in [(0, "[1]2 | 3 4"), (1, "1[2]| 3 4"), (3, "1 2 | 3[4]"), (11, "2 1 | 4[.]")] {
            let mut drawn = Vec::new();
            bracketed(&format, GridLines::Ruled, &grid, Some(place), &mut drawn);
            let drawn = String::from_utf8(drawn).unwrap();
            assert!(drawn.lines().any(|line| line.trim_end() == wanted), "{place}\n{drawn}");
        }
    }

    #[test]
    fn rows_and_columns_are_numbered_whatever_the_lines() {
        let number = |drawing: &str, side| numbered(drawing, Order::from_side(side).unwrap(), false);
        assert_eq!(
            number("[1]2 | 3 4\n3 4 | . .\n----+----\n2 1 | . .\n4 3 | 2 1\n", 4),
            "    1 2   3 4\n 1  [1]2 | 3 4\n 2  3 4 | . .\n    ----+----\n 3  2 1 | . .\n 4  4 3 | 2 1\n"
        );
        assert_eq!(number("┌───┐\n│ \x1b[32m1\x1b[0m │\n└───┘\n", 1).lines().next(), Some("      1"));
        let candidates = ".----------.---------.\n| (23)  4  | 1    23 |\n";
        assert_eq!(number(candidates, 4).lines().next(), Some("      1     2    3    4"));
        let order = Order::from_side(16).unwrap();
        let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
        let mut drawn = Vec::new();
        bracketed(&format, GridLines::Boxed, &Grid::empty(order), None, &mut drawn);
        let text = numbered(&String::from_utf8(drawn).unwrap(), order, true);
        let lines: Vec<&str> = text.lines().collect();
        let tens = format!("\x1b[2m{}1 1 1   1 1 1 1\x1b[0m", " ".repeat(28));
        assert_eq!(lines[..2], [&*tens, "\x1b[2m      1 2 3 4   5 6 7 8   9 0 1 2   3 4 5 6\x1b[0m"]);
        assert!(lines[4].starts_with("\x1b[2m 2\x1b[0m  │ . ."), "{text}");
    }

    #[test]
    fn the_first_variable_that_is_set_decides_about_utf8() {
        let is_utf8 = |variables: &[(&str, &str)]| {
            is_utf8(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into()))
        };
        assert!(is_utf8(&[("LANG", "en_GB.UTF-8")]));
        assert!(is_utf8(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!is_utf8(&[("LC_ALL", "C"), ("LANG", "en_GB.UTF-8")]));
        assert!(!is_utf8(&[]) && !is_utf8(&[("LANG", "de_DE.ISO-8859-1")]));
    }
}
