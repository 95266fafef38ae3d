//! Drawing a grid: with box-drawing characters on a terminal that has them, else with rulers.

use std::env;
use std::ffi::OsString;
use std::io::{self, IsTerminal as _};

use console::Term;
use sudoku_stream::answer::paint_grid;
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::techniques::{Candidate, Step};
use sudoku_stream::text::Format;

use super::print;

const RESET: &str = "\x1b[0m";
const CLUE: &str = "\x1b[1m";
const FOUND: &str = "\x1b[32m";
const BLANK: &str = "\x1b[2m";

/// Appends a grid as standard output can show it. With colours, the cells that `clues` has are
/// bold and the others green.
pub fn grid(format: &Format, grid: &Grid, clues: &Grid, out: &mut Vec<u8>) {
    let has_colours = print::has_colours();
    if has_boxes(grid.order()) {
        out.extend_from_slice(boxed(format, grid, clues, has_colours).as_bytes());
    } else if has_colours {
        paint_grid(format, grid, clues, out);
    } else {
        format.write_grid(grid, out);
    }
}

/// Appends a grid with the cell of a step marked: in brackets, its digit in it.
pub fn step(format: &Format, grid: &Grid, step: &Step, out: &mut Vec<u8>) {
    let mut after = grid.clone();
    let mut placed = None;
    if let Some(Candidate { cell, digit }) = step.placement {
        after.set(cell, Some(digit));
        placed = Some(cell.index());
    }
    let has_boxes = has_boxes(grid.order());
    let has_colours = print::has_colours();
    let text = if has_boxes {
        boxed(format, &after, grid, has_colours)
    } else {
        let mut text = Vec::new();
        format.write_grid(&after, &mut text);
        String::from_utf8_lossy(&text).into_owned()
    };
    let Some(place) = placed.filter(|_| !(has_boxes && has_colours)) else {
        return out.extend_from_slice(text.as_bytes());
    };
    out.extend_from_slice(bracketed(format, &after, &text, place).as_bytes());
}

/// The drawing of a grid with brackets around the cell at an index. There is a space on both sides
/// of every cell, but at the ends of a line without borders.
fn bracketed(format: &Format, grid: &Grid, text: &str, place: usize) -> String {
    let symbols: Vec<char> = grid.digits().iter().map(|&digit| format.symbol(digit)).collect();
    let mut out: Vec<char> = Vec::new();
    let mut cells = 0;
    let mut is_after = false;
    for c in text.chars() {
        let is_cell = symbols.get(cells) == Some(&c);
        if is_after {
            is_after = false;
            if c == ' ' {
                out.push(']');
                continue;
            }
            out.push(']');
        }
        if is_cell && cells == place {
            if out.last() == Some(&' ') {
                out.pop();
            }
            out.push('[');
            is_after = true;
        }
        cells += usize::from(is_cell);
        out.push(c);
    }
    out.into_iter().collect()
}

/// Is standard output a terminal for UTF-8 that is wide enough for a grid in boxes?
fn has_boxes(order: Order) -> bool {
    let (side, b) = (order.side(), order.box_side());
    let width = 2 * side + 2 * b + 1;
    let is_wide_enough = || Term::stdout().size_checked().is_none_or(|(_, columns)| width <= columns.into());
    io::stdout().is_terminal() && is_utf8(|name| env::var_os(name)) && is_wide_enough()
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

/// A grid in boxes.
fn boxed(format: &Format, grid: &Grid, clues: &Grid, has_colours: bool) -> String {
    let (side, b) = (grid.order().side(), grid.order().box_side());
    let ruler = |left: &str, between: &str, right: &str| {
        format!("{left}{}{right}\n", vec!["─".repeat(2 * b + 1); b].join(between))
    };
    let mut text = ruler("┌", "┬", "┐");
    for (index, &digit) in grid.digits().iter().enumerate() {
        let (row, column) = (index / side, index % side);
        if column == 0 && row > 0 && row % b == 0 {
            text += &ruler("├", "┼", "┤");
        }
        text += match (column, column % b) {
            (0, _) => "│ ",
            (_, 0) => " │ ",
            _ => " ",
        };
        let symbol = format.symbol(digit);
        match (clues.digits()[index], digit) {
            _ if !has_colours => text.push(symbol),
            (_, 0) => text += &format!("{BLANK}{symbol}{RESET}"),
            (0, _) => text += &format!("{FOUND}{symbol}{RESET}"),
            _ => text += &format!("{CLUE}{symbol}{RESET}"),
        }
        if column == side - 1 {
            text += " │\n";
        }
    }
    text + &ruler("└", "┴", "┘")
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
            boxed(&format, &grid, &clues, has_colours)
        };
        assert_eq!(draw(1, "1", false), "┌───┐\n│ 1 │\n└───┘\n");
        assert_eq!(
            draw(4, "12343412214.4321", false),
            "┌─────┬─────┐\n│ 1 2 │ 3 4 │\n│ 3 4 │ 1 2 │\n├─────┼─────┤\n│ 2 1 │ 4 . │\n│ 4 3 │ 2 1 │\n└─────┴─────┘\n"
        );
        assert_eq!(draw(1, "1", true), "┌───┐\n│ \x1b[32m1\x1b[0m │\n└───┘\n");
        for order in Order::ALL {
            let drawn = draw(order.side(), &".".repeat(order.cells()), false);
            let width = 2 * order.side() + 2 * order.box_side() + 1;
            assert!(drawn.lines().all(|line| line.chars().count() == width), "{drawn}");
        }
    }

    #[test]
    fn the_cell_of_a_step_stands_in_brackets() {
        let order = Order::from_side(4).unwrap();
        let format = Format::new(Notation::Grid, order, Alphabet::Letters).unwrap();
        let mut grid = Grid::empty(order);
        format.read_cells(b"12343412214.4321", &mut grid).unwrap();
        let mut plain = Vec::new();
        format.write_grid(&grid, &mut plain);
        let plain = String::from_utf8(plain).unwrap();
        for (place, wanted) in [(0, "[1]2 | 3 4"), (1, "1[2]| 3 4"), (3, "1 2 | 3[4]"), (11, "2 1 | 4[.]")] {
            let drawn = bracketed(&format, &grid, &plain, place);
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
