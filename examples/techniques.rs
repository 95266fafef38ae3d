//! Writes `docs/techniques.md`: each technique with an example drawn by `sudoku hint`, and how often
//! it is the hardest step on lists of puzzles.
//!
//! ```text
//! cargo build --release
//! cargo run --release --example techniques -- LIMIT target/release/sudoku LIST... > docs/techniques.md
//! ```
//!
//! Of each list the first LIMIT puzzles are rated.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;

use sudoku_stream::answer::{Block, RateTally, RateTask, Raters, RowTally as _};
use sudoku_stream::grid::Grid;
use sudoku_stream::techniques::{Family, Options, Position, Steps, Technique};
use sudoku_stream::text::{Hint, detect};

/// The puzzles that one thread rates at a time.
const AT_ONCE: usize = 20;

/// An example where no list has one: among the hardest puzzles known, rated 11.9.
const HARDEST: &str = ".......39.....1..5..3.5.8....8.9...6.7...2...1..4.......9.8..5..2....6..4..7.....";

const BEFORE: &str = "\
# Techniques

How `sudoku hint`, `steps` and `rate` reason: always the easiest technique that applies makes the next step.
The techniques, their order and their ratings are those of Sudoku Explainer by N. Juillerat, as its build `serate` 1.2.1 rates puzzles; data sets of puzzles quote these ratings.

| rating | meaning |
|---|---|
| ER | the hardest step of the solution |
| EP | the hardest step up to the first digit that is placed |
| ED | the first step |

This page is written by `cargo run --release --example techniques`, the examples in it by `sudoku hint`.
In a drawing `(..)` are cells that show the step, `-..` is what goes, and `[..]` is what is placed.
Cells are named by row and column, and values by number, whatever the alphabet of the puzzle.

The techniques of the family forcing are for 9x9 puzzles only; all others are for every size.
";

/// What was found in a list.
struct List {
    name: String,
    tally: RateTally,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let limit: usize = args.next().ok_or("name a limit, the program `sudoku` and lists")?.parse()?;
    let sudoku = args.next().ok_or("name the program `sudoku`")?;
    // Of each technique a puzzle that takes it: best one of which it is the hardest step.
    let examples: Mutex<BTreeMap<Technique, (bool, String)>> = Mutex::default();
    let mut lists = Vec::new();
    for path in args {
        let text = fs::read_to_string(&path)?;
        let puzzles: Vec<&str> = text.lines().take(limit).collect();
        lists.push(List { tally: rate(&puzzles, &examples), name: name_of(&path) });
    }
    let examples = examples.into_inner().unwrap_or_default();
    println!("{BEFORE}");
    print_table(&lists);
    for technique in Technique::ALL {
        println!("## {}\n\n{}", title(technique), technique.about().replace(". ", ".\n"));
        if technique.rests_on_uniqueness() {
            println!("It rests on the puzzle's having one solution; `--no-uniqueness` does without it.");
        }
        println!("\n`--only {}`, rated {} and up.\n", technique.name(), technique.base_rating());
        match examples.get(&technique) {
            Some((_, puzzle)) => print_example(&sudoku, technique, puzzle)?,
            None if technique == Technique::NestedDynamicChains => {
                println!("None of the lists above takes it, but one of the hardest puzzles known does.\n");
                print_example(&sudoku, technique, HARDEST)?;
            }
            None => println!("None of the lists above takes it.\n"),
        }
    }
    Ok(())
}

/// The name of a list: that of its file, without the ending.
fn name_of(path: &str) -> String {
    Path::new(path).file_stem().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

/// The name of a technique with a capital.
fn title(technique: Technique) -> String {
    let title = technique.title();
    title[..1].to_uppercase() + &title[1..]
}

/// Rates puzzles on all cores, and remembers examples.
fn rate(puzzles: &[&str], examples: &Mutex<BTreeMap<Technique, (bool, String)>>) -> RateTally {
    let (next, whole) = (AtomicUsize::new(0), Mutex::new(RateTally::default()));
    let work = || {
        loop {
            let first = next.fetch_add(AT_ONCE, Ordering::Relaxed);
            let Some(rest) = puzzles.get(first..).filter(|rest| !rest.is_empty()) else { return };
            let text: String = rest.iter().take(AT_ONCE).map(|puzzle| format!("{puzzle}\n")).collect();
            let Ok(found) = detect(text.as_bytes(), &Hint::default()) else { continue };
            let raters = Raters::new(found.format, RateTask { with_minimal: false, ..RateTask::default() });
            let block = Block { text: text.as_bytes(), first_line: 1 };
            let tally = raters.rate(block, &AtomicBool::new(false), |row| {
                let (Some(puzzle), Ok(rated)) = (row.puzzle, &row.result) else { return };
                let Ok(mut examples) = examples.lock() else { return };
                for (technique, _) in rated.rating.counts() {
                    let is_hardest = rated.rating.is_complete() && rated.rating.hardest == Some(technique);
                    let known = examples.get(&technique).map(|(is_hardest, _)| *is_hardest);
                    if known.is_none() || known == Some(false) && is_hardest {
                        examples.insert(technique, (is_hardest, format!("{puzzle}")));
                    }
                }
            });
            if let (Ok(tally), Ok(mut whole)) = (tally, whole.lock()) {
                whole.add(&tally);
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(work);
        }
    });
    whole.into_inner().unwrap_or_default()
}

/// How often each technique is the hardest step.
fn print_table(lists: &[List]) {
    println!("## How often each is the hardest step\n");
    for List { name, tally } in lists {
        println!("- `{name}`: {} puzzles, by `sudoku rate --summary`.", tally.puzzles);
    }
    let names: Vec<String> = lists.iter().map(|list| format!("`{}`", list.name)).collect();
    println!("\n| technique | family | rating | {} |", names.join(" | "));
    println!("|---|---|--:|{}", "--:|".repeat(lists.len()));
    let share = |count: u64, list: &List| match count {
        0 => String::new(),
        count => format!("{:.1} %", count as f64 * 100.0 / list.tally.puzzles.max(1) as f64),
    };
    for technique in Technique::ALL {
        let shares: Vec<String> = lists
            .iter()
            .map(|list| share(list.tally.hardest.get(&technique).copied().unwrap_or(0), list))
            .collect();
        let family: Family = technique.family();
        let anchor = technique.title().to_lowercase().replace(' ', "-");
        println!(
            "| [{technique}](#{anchor}) | {family} | {} | {} |",
            technique.base_rating(),
            shares.join(" | ")
        );
    }
    let beyond: Vec<String> = lists.iter().map(|list| share(list.tally.beyond, list)).collect();
    println!("| beyond all of them | | | {} |\n", beyond.join(" | "));
}

/// The hint for the first step of a puzzle that the technique makes, as the program prints it.
fn print_example(sudoku: &str, technique: Technique, puzzle: &str) -> Result<(), Box<dyn Error>> {
    let grid: Grid = puzzle.parse()?;
    let mut steps = Steps::new(Position::new(&grid), Options::default());
    let Some(after) = Iterator::position(&mut steps, |step| step.technique == technique) else {
        return Ok(());
    };
    let after = after.to_string();
    let output = Command::new(sudoku).args(["hint", puzzle, "--after", &after]).output()?;
    println!("```console\n$ sudoku hint {puzzle} --after {after}");
    print!("{}", String::from_utf8_lossy(&output.stdout));
    println!("```\n");
    Ok(())
}
