//! `sudoku sheet`: pages to print.

use std::process::Output;

use crate::harness::{Folder, stderr, stdout, succeeded, sudoku};

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
const SMALL: &str = "12....1.........";

/// Runs `sudoku` in a folder.
fn run(folder: &Folder, args: &[&str]) -> Output {
    sudoku(args).current_dir(folder.root()).output().unwrap()
}

/// How often a text has another in it.
fn count(text: &str, wanted: &str) -> usize {
    text.matches(wanted).count()
}

/// The symbols of the grids of a sheet, in order.
fn symbols(html: &str) -> Vec<String> {
    let grids = html.split("<svg ").skip(1).map(|grid| grid.split("</svg>").next().unwrap());
    grids
        .map(|grid| {
            let texts = grid.split("<text ").skip(1);
            texts.map(|text| text.split(['>', '<']).nth(1).unwrap()).collect()
        })
        .collect()
}

#[test]
fn every_puzzle_is_on_a_page_and_its_solution_behind_all() {
    let folder = Folder::new();
    folder.write("puzzles.txt", format!("{EASY}\n").repeat(5));
    succeeded(&run(&folder, &["sheet", "puzzles.txt", "--title", "A <b> & c", "-o", "sheet.html"]));
    let html = folder.read("sheet.html");
    // Two pages of puzzles, and one of solutions.
    assert_eq!((count(&html, "<section>"), count(&html, "<svg ")), (3, 10), "{html}");
    assert_eq!(count(&html, "A &lt;b&gt; &amp; c"), 4);
    let clues: String = EASY.chars().filter(|cell| *cell != '.').collect();
    let solved = stdout(&sudoku(&["solve", EASY]).output().unwrap());
    let wanted: Vec<&str> = [[&*clues; 5], [solved.trim(); 5]].concat();
    assert_eq!(symbols(&html), wanted);
    assert!(!html.contains("<script") && !html.contains("http"), "it stands alone");
}

#[test]
fn solutions_are_where_they_are_asked_for() {
    let folder = Folder::new();
    folder.write("puzzles.txt", format!("{EASY}\n").repeat(3));
    for (place, pages, grids) in [("none", 3, 3), ("end", 4, 6), ("behind", 6, 6)] {
        let output = run(&folder, &["sheet", "puzzles.txt", "--per-page", "1", "--solutions", place]);
        let html = stdout(&output);
        assert_eq!((count(&html, "<section>"), count(&html, "<svg ")), (pages, grids), "{place}");
        assert_eq!(count(&html, ">1</figcaption>"), 1 + usize::from(place != "none"), "{place}");
    }
    let html = stdout(&run(&folder, &["sheet", "puzzles.txt", "--rating", "--paper", "letter"]));
    assert!(html.contains("size: letter") && count(&html, "(rated 1.2)") == 3, "{html}");
}

#[test]
fn a_puzzle_without_a_solution_is_printed_with_what_is_wrong() {
    let folder = Folder::new();
    folder.write("puzzles.txt", "1234341221434321\n12\n11..............\n................\n");
    folder.write("large.txt", format!("{}\n", ".".repeat(256)));
    let output = run(&folder, &["sheet", "puzzles.txt", "large.txt"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(stderr(&output), "4 puzzles without a solution to print; the sheet says why.\n");
    let html = stdout(&output);
    for sentence in [
        "Line 2 of puzzles.txt has the wrong length. It has 2 cells; a 4x4 puzzle has 16.",
        "Line 3 of puzzles.txt breaks the rules: 1 appears twice in row 1.",
        "Line 4 of puzzles.txt has more than one solution.",
        "Line 1 of large.txt has more than one solution.",
    ] {
        assert!(html.contains(sentence), "{sentence}: {html}");
    }
    assert_eq!(symbols(&html)[0], "1234341221434321");
    let output = sudoku(&["sheet", SMALL, "--per-page", "13"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
