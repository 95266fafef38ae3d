//! What several benches share.

#![allow(dead_code, reason = "each bench uses a part")]

use std::path::Path;

use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::text::{Alphabet, Format, Notation};

/// The project's own sample: 3,000 puzzles of mixed difficulty, a few bad lines among them.
const SAMPLE: &[u8] = include_bytes!("../../src/bin/sudoku/demo.txt");

/// Is time taken, or is everything only run once to see that it does? Decided by the flags of Criterion.
pub fn is_timed() -> bool {
    std::env::args().any(|argument| argument == "--bench")
}

/// The list `name` as text, 9x9 and one puzzle a line: from the folder `SUDOKU_LISTS` or beside the
/// repository, else the sample under its own name. Returns the name of what it is.
pub fn list(name: &str) -> (String, Vec<u8>) {
    let folder = std::env::var("SUDOKU_LISTS").unwrap_or_else(|_| "../shared/data".to_owned());
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    match std::fs::read(folder.join(format!("{name}.txt"))) {
        Ok(text) => (name.to_owned(), text),
        Err(_) => {
            eprintln!("the list {name} is not on this machine: the sample stands in");
            (format!("sample-for-{name}"), SAMPLE.to_vec())
        }
    }
}

/// The good lines of a list, without comments, repeated until there are `count`.
pub fn repeated(name: &str, count: usize) -> Vec<u8> {
    let (_, text) = list(name);
    let format = nine();
    let mut grid = Grid::empty(Order::NINE);
    let mut is_good = |line: &[u8]| {
        let cells = line.strip_suffix(b"\n").unwrap_or_default();
        format.read_cells(cells, &mut grid).is_ok() && grid.keeps_rules()
    };
    let lines = text.split_inclusive(|&b| b == b'\n').filter(|line| is_good(line));
    lines.collect::<Vec<_>>().iter().cycle().take(count).flat_map(|line| line.iter().copied()).collect()
}

pub fn nine() -> Format {
    Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).expect("letters fit 9x9")
}

/// The puzzles of a text that can be read.
pub fn puzzles(text: &[u8]) -> Vec<Grid> {
    let format = nine();
    let mut grids = Vec::new();
    for line in text.split(|&b| b == b'\n') {
        let mut grid = Grid::empty(Order::NINE);
        if format.read_cells(line, &mut grid).is_ok() {
            grids.push(grid);
        }
    }
    grids
}
