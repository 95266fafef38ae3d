//! What is written is read: every form that a command writes goes back into every command that
//! reads.

use std::process::Output;

use crate::harness::{self, stdout, sudoku};

const SIZES: [&str; 3] = ["4", "9", "16"];

fn run(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(args), input.as_bytes())
}

/// What a command writes, which has to succeed.
#[track_caller]
fn written(args: &[&str], input: &str) -> String {
    let output = run(args, input);
    assert!(output.status.success(), "{args:?}: {}", harness::stderr(&output));
    stdout(&output)
}

/// Some puzzles of this size, in a notation.
fn made(size: &str, notation: &str, count: usize) -> String {
    let count = count.to_string();
    written(&["generate", "-q", "--seed", "3", "--size", size, "--notation", notation, "--count", &count], "")
}

/// Every reader understands a text that holds these puzzles, with the one solution that each has.
#[track_caller]
fn assert_is_read(text: &str, solutions: &str, what: &str) {
    assert_eq!(written(&["solve", "-q"], text), solutions, "{what}:\n{text}");
    let validated = written(&["validate"], text);
    assert!(validated.contains("all well formed"), "{what}: {validated}");
    let ones = "1\n".repeat(solutions.lines().count());
    assert_eq!(written(&["count", "-q"], text), ones, "{what}:\n{text}");
    let shown = written(&["show", "--index", "1"], text);
    assert_eq!(
        written(&["solve", "-q"], &shown).lines().next(),
        solutions.lines().next(),
        "{what}, shown:\n{shown}"
    );
}

#[test]
fn solve_writes_what_every_command_reads() {
    for size in SIZES {
        let puzzles = made(size, "lines", 3);
        let solutions = written(&["solve", "-q"], &puzzles);
        let table = made(size, "csv", 3);
        for form in ["solution", "pair", "csv", "tsv", "jsonl", "grid"] {
            for input in [&puzzles, &table] {
                let what = format!("{size}, {form}");
                let text = written(&["solve", "-q", "--format", form], input);
                assert_is_read(&text, &solutions, &what);
                let checked = written(&["check", "-q"], &text);
                assert!(checked.ends_with(", all right.\n"), "{what}: {checked}");
            }
        }
        for form in ["csv", "tsv", "jsonl"] {
            let all = "solutions,clues,minimal,error,nodes,solution";
            let text = written(&["solve", "-q", "--format", form, "--add", all], &puzzles);
            assert_is_read(&text, &solutions, &format!("{size}, {form} with columns"));
            assert!(written(&["check", "-q", "--unique"], &text).ends_with(", all right.\n"), "{text}");
        }
    }
}

#[test]
fn generate_and_show_write_what_every_command_reads() {
    for size in SIZES {
        let solutions = written(&["solve", "-q"], &made(size, "lines", 2));
        let first = format!("{}\n", solutions.lines().next().unwrap());
        for notation in ["lines", "grid", "csv", "cells", "jsonl", "header", "triples"] {
            let count = if notation == "triples" { 1 } else { 2 };
            if notation == "header" && size == "16" {
                continue;
            }
            let text = made(size, notation, count);
            let solutions = if count == 1 { &first } else { &solutions };
            assert_is_read(&text, solutions, &format!("{size}, {notation}"));
        }
    }
}

/// Puzzles of several lines become lines, those that are copied too, and none is lost.
#[test]
fn minimize_and_disguise_write_what_every_command_reads() {
    for size in SIZES {
        let side: usize = size.parse().unwrap();
        let good = made(size, "grid", 1);
        let blank = format!("{}\n", "0 ".repeat(side).trim_end()).repeat(side);
        let clash = blank.replacen("0 0", "1 1", 1);
        let no_cell = blank.replacen("0 0", "0 q", 1);
        let shifted = blank.replacen("0\n0 0", "0 0\n0", 1);
        let short = blank.replacen("0\n", "\n", 1);
        let mut grids = [&good, &blank, &clash, &no_cell, &shifted, &short, &good].map(String::as_str);
        for _ in 0..2 {
            let input = grids.join("\n");
            let are_good = |text: &str| -> Vec<bool> {
                let answers = written(&["count", "-q", "--limit", "2", "--size", size], text);
                answers.lines().map(|answer| !answer.starts_with("error: ")).collect()
            };
            for args in
                [&["minimize", "-q", "--size", size][..], &["disguise", "-q", "--size", size, "--seed", "1"]]
            {
                let rows = written(args, &input);
                assert_eq!(rows.lines().count(), grids.len(), "{args:?} {input}\n{rows}");
                assert_eq!(are_good(&rows), are_good(&input), "{args:?} {input}\n{rows}");
            }
            // A bad one may be the first.
            grids.reverse();
            grids.rotate_left(1);
        }
    }
    // A number or a title above them is none of the lines.
    for above in ["2", "4", "7", "// 1", "Easy", "2x2"] {
        let rows = written(&["minimize", "-q"], &format!("{above}\n12..\n34..\n...2\n..41\n"));
        assert_eq!(rows, "12..34.....2..41\n", "{above}");
    }
    // Each file of triples has one puzzle.
    let row = written(&["minimize", "-q", "--notation", "triples", "--size", "4"], "1 1 1\n1 2 7\n");
    assert_eq!(row, "!\n");
    assert_eq!(written(&["minimize", "-q"], "1 1 1\n2 2 2\n"), "1....2..........\n");
}

#[test]
fn check_writes_what_every_command_reads() {
    for size in SIZES {
        let table = made(size, "csv", 3);
        let solutions = written(&["solve", "-q"], &table);
        let grids = written(&["solve", "-q", "--format", "grid"], &table);
        for form in ["csv", "tsv", "jsonl"] {
            for input in [&table, &grids] {
                let text = written(&["check", "-q", "--format", form], input);
                assert_is_read(&text, &solutions, &format!("{size}, {form}"));
                assert!(written(&["check", "-q"], &text).ends_with(", all right.\n"), "{text}");
            }
        }
    }
}
