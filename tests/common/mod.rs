//! What several test binaries share.

#![allow(dead_code, reason = "each binary uses a part")]

pub mod authority;
pub mod daemon;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::text::{Alphabet, Format, Notation};

/// A file of the project's own fixtures.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// A large list that lies beside the repository on some machines, or `None`, said aloud.
pub fn large_list(name: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data").join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("SKIPPED: the list {name} is not on this machine");
    None
}

/// A grid in letters.
pub fn grid(text: &str) -> Grid {
    let order = Order::from_cells(text.len()).unwrap_or_else(|| panic!("{} cells", text.len()));
    let mut grid = Grid::empty(order);
    let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
    format.read_cells(text.as_bytes(), &mut grid).unwrap();
    grid
}

/// A grid in letters, written.
pub fn text(grid: &Grid) -> String {
    let mut out = Vec::new();
    Format::new(Notation::Lines, grid.order(), Alphabet::Letters).unwrap().write_cells(grid, &mut out);
    String::from_utf8(out).unwrap()
}

/// The same puzzle seen differently: digits relabelled, rows and columns exchanged within their bands and
/// stacks, bands and stacks exchanged, transposed. The number of solutions stays the same.
pub fn disguise(grid: &Grid, seed: u64) -> Grid {
    let mut random = Random(seed);
    let (side, b) = (grid.order().side(), grid.order().box_side());
    let labels = random.permutation(side);
    let mut lines = || -> Vec<usize> {
        random
            .permutation(b)
            .into_iter()
            .flat_map(|band| random.permutation(b).into_iter().map(move |k| band * b + k))
            .collect()
    };
    let (rows, columns) = (lines(), lines());
    let is_transposed = random.below(2) == 1;
    let mut disguised = Grid::empty(grid.order());
    for row in 0..side {
        for column in 0..side {
            let digit = usize::from(grid.digits()[rows[row] * side + columns[column]]);
            let at = if is_transposed { column * side + row } else { row * side + column };
            let label = if digit == 0 { 0 } else { labels[digit - 1] + 1 };
            disguised.digits_mut()[at] = u8::try_from(label).unwrap();
        }
    }
    disguised
}

/// Puzzles that are all solved in no time, but for every 97th line, which is too short. What is said of those tells every
/// place in the list from every other.
pub fn list(lines: usize) -> String {
    let known = fs::read_to_string(fixture("strategies.txt")).unwrap();
    let unique: Vec<Grid> = known
        .lines()
        .filter(|line| line.contains(" 1 ") && line.find(' ') == Some(81))
        .map(|line| grid(&line[..81]))
        .collect();
    let puzzles: Vec<String> =
        (0..1_000).map(|k| text(&disguise(&unique[k % unique.len()], k as u64))).collect();
    (0..lines)
        .map(|k| if k % 97 == 96 { "12\n".to_owned() } else { puzzles[k % 1_000].clone() + "\n" })
        .collect()
}

/// A small generator with a seed, so that a failure can be run again (`SplitMix64` by G. Steele et al., 2014).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    pub fn permutation(&mut self, length: usize) -> Vec<usize> {
        let mut items: Vec<usize> = (0..length).collect();
        for last in (1..length).rev() {
            items.swap(last, self.below(last + 1));
        }
        items
    }
}

/// What a program wrote on standard output.
pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// What it wrote on standard error.
pub fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// It ended well; else says what it complained about.
pub fn succeeded(output: &Output) {
    assert_eq!(output.status.code(), Some(0), "{}", stderr(output));
}
