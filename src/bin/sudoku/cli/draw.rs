//! Drawing a grid: with box-drawing characters on a terminal that has them, else with rulers.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use console::Term;
use sudoku_stream::answer::paint_grid;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::techniques::{Candidate, Step};
use sudoku_stream::text::{Format, GridLines};

use super::print;

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
