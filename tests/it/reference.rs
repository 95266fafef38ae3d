//! docs/reference.md, and the help that it is written from.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::harness::{stdout, succeeded};

/// The terminal that short help fits.
const COLUMNS: usize = 80;
const ROWS: usize = 24;

fn output(program: &Path, args: &[&str]) -> String {
    let output = Command::new(program).args(args).env("COLUMNS", COLUMNS.to_string()).output().unwrap();
    succeeded(&output);
    stdout(&output)
}

fn sudoku(args: &[&str]) -> String {
    output(env!("CARGO_BIN_EXE_sudoku").as_ref(), args)
}

fn sudokud(args: &[&str]) -> String {
    output(env!("CARGO_BIN_EXE_sudokud").as_ref(), args)
}

#[test]
fn the_reference_is_what_the_programs_print() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    let written = fs::read_to_string(&path).unwrap_or_default();
    let printed = sudoku(&["docs"]) + &sudokud(&["--docs"]);
    let difference = printed.lines().zip(written.lines()).position(|(printed, written)| printed != written);
    assert!(
        written == printed,
        "docs/reference.md differs from the programs from line {} on. Write it again with `just docs`, or with\n  \
         (cargo run -q --bin sudoku -- docs && cargo run -q --bin sudokud -- --docs) > docs/reference.md",
        1 + difference.unwrap_or(written.lines().count().min(printed.lines().count()))
    );
}

#[test]
fn the_reference_has_every_command_and_flag() {
    let reference = sudoku(&["docs"]) + &sudokud(&["--docs"]);
    let long_flags = |help: &str| -> Vec<String> {
        let flag = |line: &str| {
            let line = line.trim_start();
            let after_short = || line.split_once(", --").filter(|(short, _)| short.len() == 2);
            let rest = line.strip_prefix("--").or_else(|| after_short().map(|(_, rest)| rest))?;
            let name: String = rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
            (!["help", "version"].contains(&name.as_str())).then_some(name)
        };
        help.lines().filter_map(flag).collect()
    };
    let mut flags = 0;
    let sections: Vec<(String, String)> = commands()
        .into_iter()
        .map(|command| (format!("\n### `sudoku {command}`\n"), sudoku(&[&command, "--help"])))
        .chain([("\n## `sudokud`\n".to_owned(), sudokud(&["--help"]))])
        .collect();
    for (heading, help) in sections {
        let section = reference.split(&heading).nth(1).unwrap_or_else(|| panic!("no{heading}"));
        let section = section.split("\n#").next().unwrap();
        for flag in long_flags(&help) {
            let is_there = [" ", "`", "["].iter().any(|end| section.contains(&format!("--{flag}{end}")));
            assert!(is_there, "{heading} has no --{flag}");
            flags += 1;
        }
    }
    assert!(flags > 150, "only {flags} flags were found: the test looks in the wrong place");
}

fn commands() -> Vec<String> {
    let help = sudoku(&["--help"]);
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let name = |line: &str| line.split_whitespace().next().map(str::to_owned);
    list.lines().filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn short_help_fits_a_screen() {
    let mut texts = vec![("sudoku".to_owned(), sudoku(&["-h"])), ("sudokud".to_owned(), sudokud(&["-h"]))];
    for command in commands() {
        texts.push((format!("sudoku {command}"), sudoku(&[&command, "-h"])));
    }
    assert!(texts.len() > 14, "{}", texts.len());
    for (name, help) in texts {
        assert!(help.lines().count() <= ROWS, "{name} -h has {} lines:\n{help}", help.lines().count());
        let wide = help.lines().find(|line| line.chars().count() > COLUMNS);
        assert_eq!(wide, None, "{name} -h");
        assert!(help.contains("Usage: "), "{name}");
    }
}
