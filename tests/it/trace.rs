//! `sudoku trace` and `--stats`: what a search does and what it costs, as a user sees it.

use std::io::Read as _;
use std::process::{Command, Output, Stdio};

use crate::harness::session::Session;
use crate::harness::{SUDOKU, fixture, grid, stderr, stdout, succeeded, sudoku, text, wait_for};
use rustix::process::Signal;
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::STRATEGIES;

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
/// Row 1 leaves only 9 for its last cell, which column 9 holds.
const UNSOLVABLE: &str = "12345678.........9...............................................................";

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// The cell and the digit in a line such as `Try 4 at (1, 3).`
fn numbers(line: &str) -> Vec<usize> {
    line.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

#[test]
fn the_lines_of_a_trace_lead_to_the_solution() {
    for strategy in STRATEGIES {
        let output = run(&["trace", "--puzzle", EASY, "--strategy", strategy.name()]);
        succeeded(&output);
        let said = stdout(&output);
        let mut board = grid(EASY);
        let mut placed = Vec::new();
        for line in said.lines() {
            let at = numbers(line);
            if line.starts_with("Try ") || line.contains(" must stand at ") {
                let cell = board.order().cell(at[1], at[2]).unwrap();
                assert_eq!(board.get(cell), None, "{line}");
                board.set(cell, Some(board.order().digit(at[0]).unwrap()));
                placed.push(cell);
            } else if line.starts_with("Take ") {
                while let Some(last) = placed.pop() {
                    board.set(last, None);
                    if (last.row(), last.column()) == (at[1], at[2]) {
                        break;
                    }
                }
            }
        }
        assert!(board.solves(&grid(EASY)), "{}: {}", strategy.name(), text(&board));
        assert!(
            said.ends_with("Band 3 is complete.\nSolved.\nHurray!\n") || said.ends_with("Solved.\nHurray!\n")
        );
        assert!(!said.contains('\x1b'), "a pipe has no colours");
        assert!(stderr(&output).contains("placements"), "{}", stderr(&output));
    }
}

#[test]
fn the_strategy_that_can_be_followed_is_the_default_for_every_size() {
    let sixteen = ".".repeat(256);
    for puzzle in [EASY, "1234............", &sixteen] {
        let lines = |args: &[&str]| {
            let output = run(&[&["trace", "--puzzle", puzzle, "--step-limit", "2000"], args].concat());
            succeeded(&output);
            stdout(&output)
        };
        assert_eq!(lines(&[]), lines(&["--strategy", "propagation"]));
        assert_ne!(lines(&[]), lines(&["--strategy", "backtracking"]));
        // A step limit ends what is shown, wherever the search is by then.
        let one = run(&["trace", "--puzzle", puzzle, "--step-limit", "1", "--quiet"]);
        assert!(stdout(&one).ends_with(".\nStopped after 1 step.\n"), "{}", stdout(&one));
    }
}

/// The search is further than the steps that are shown.
#[test]
fn a_trace_that_is_cut_short_counts_what_was_shown() {
    let hard = "..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.";
    let said = |args: &[&str]| stderr(&run(&[&["trace"], args].concat()));
    assert_eq!(
        said(&[hard, "--step-limit", "5"]),
        "5 steps: guesses 0, backtracks 0, depth 0, placements 5\n"
    );
    // The last step says that it is solved, and counts for nothing.
    for strategy in STRATEGIES {
        let args = [EASY, "--strategy", strategy.name()];
        let whole = said(&args).replace(';', ",");
        let steps = whole.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap() - 1;
        let cut = said(&[&args[..], &["--step-limit", &steps.to_string()]].concat());
        let figures = cut.trim_end().split_once(": ").unwrap().1;
        assert_eq!(figures.split(", ").count(), 4, "{cut}");
        assert!(figures.split(", ").all(|figure| whole.contains(&format!(" {figure},"))), "{cut}{whole}");
    }
}

#[test]
fn every_end_has_its_words() {
    let end = |args: &[&str]| {
        let output = run(&[&["trace", "--quiet"], args].concat());
        succeeded(&output);
        assert_eq!(stderr(&output), "");
        stdout(&output).lines().last().unwrap().to_owned()
    };
    assert_eq!(end(&["--puzzle", EASY]), "Hurray!");
    assert_eq!(end(&["--puzzle", EASY, "--question", "unique"]), "Hurray! It is the only solution.");
    assert_eq!(end(&["--puzzle", UNSOLVABLE, "--strategy", "dancing-links"]), "No solution!");
    assert_eq!(
        end(&["--puzzle", EASY, "--strategy", "backtracking", "--node-limit", "10"]),
        "Given up after 10 nodes."
    );
    assert_eq!(end(&["--puzzle", EASY, "--step-limit", "7"]), "Stopped after 7 steps.");
    let four = "1234............";
    assert_eq!(end(&["--puzzle", four, "--question", "count"]), "Hurray! 12 solutions.");
    assert_eq!(end(&["--puzzle", four, "--question", "unique"]), "Hurray! At least 2 solutions.");
    let folder = tempfile::tempdir().unwrap();
    let list = folder.path().join("two.txt");
    std::fs::write(&list, format!("{UNSOLVABLE}\n{EASY}\n")).unwrap();
    assert_eq!(end(&[list.to_str().unwrap(), "--strategy", "propagation"]), "No solution!");
    assert_eq!(end(&[list.to_str().unwrap(), "--index", "2", "--step-limit", "1"]), "Stopped after 1 step.");
}

#[test]
fn plain_prints_the_grid_for_each_band() {
    let output = run(&["trace", "--plain", "--puzzle", EASY, "--strategy", "propagation"]);
    succeeded(&output);
    let said = stdout(&output);
    let grids: Vec<Grid> = said
        .split("\n\n")
        .filter(|part| part.starts_with("Band "))
        .map(|part| {
            let cells = part.lines().skip(1).flat_map(|line| line.chars());
            grid(&cells.filter(|c| c.is_ascii_digit() || *c == '.').collect::<String>())
        })
        .collect();
    assert_eq!(grids.len(), 3, "{said}");
    assert!(grids[2].solves(&grid(EASY)));
    assert!(grids.windows(2).all(|pair| pair[0].filled() < pair[1].filled()));
    assert!(said.ends_with("\n\nHurray!\n"), "{said}");
}

#[test]
fn what_cannot_be_traced_is_refused_in_words() {
    for (args, words) in [
        (&["--puzzle", "12"][..], "The puzzle has 2 cells; a puzzle has 1, 16, 81, 256 or 625.\n"),
        (&["--puzzle", "11.............."], "The puzzle breaks the rules: 1 appears twice in row 1.\n"),
        (&["--puzzle", ""], "The puzzle is empty.\n"),
        (&["/nowhere/puzzles.txt"], "/nowhere/puzzles.txt: No such file or directory (os error 2)\n"),
        (
            &["--puzzle", "1234............", "--strategy", "fast"],
            "The strategy fast does not solve 4x4 puzzles. Name another.\n",
        ),
    ] {
        let output = run(&[&["trace"], args].concat());
        assert_eq!((output.status.code(), stderr(&output).as_str()), (Some(2), words));
        assert_eq!(stdout(&output), "");
    }
}

/// A trace of a million nodes into a pipe whose reader has seen enough.
#[test]
fn a_closed_pipe_ends_a_trace() {
    let empty = ".".repeat(625);
    let mut child = sudoku(&["trace", "--puzzle", &empty, "--strategy", "backtracking"])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = [0; 100];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    assert!(String::from_utf8_lossy(&first).starts_with("Try 1 at (1, 1).\n"));
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A trace on a terminal. A digit stays for a minute unless keys say otherwise.
fn on_terminal(lines: u16, columns: u16, args: &[&str]) -> Option<Session> {
    let mut command = Command::new(SUDOKU);
    command.arg("trace").args(args);
    if !args.contains(&"--delay") {
        command.args(["--delay", "60000"]);
    }
    Session::run(&command, lines, columns)
}

#[test]
fn keys_pause_step_and_change_the_speed() {
    let Some(mut terminal) = on_terminal(24, 80, &["--puzzle", EASY]) else { return };
    terminal.sees("Playing, 60 s    space pause, right/left step, +/- speed, q end");
    terminal.sees("4 . . | 8 . 3 | . . 1");
    terminal.sees("\n1  ");
    let step = |terminal: &Session| {
        let text = terminal.text();
        text.lines()
            .find(|line| line.starts_with(|c: char| c.is_ascii_digit()) && line.contains("  "))
            .unwrap()
            .to_owned()
    };
    let first = step(&terminal);
    terminal.keys(".");
    terminal.sees("\n2  ");
    terminal.sees("Paused, 60 s    space play");
    let second = step(&terminal);
    // Back as far as the puzzle itself, and forward again to the same steps.
    terminal.keys(",");
    terminal.sees("Paused, 1 step back");
    assert_eq!(step(&terminal), first);
    terminal.keys("\x1b[D\x1b[D\x1b[D");
    terminal.sees("The puzzle.");
    terminal.sees("Paused, 2 steps back");
    terminal.keys("\x1b[C\x1bOC");
    terminal.sees("Paused, 60 s");
    assert_eq!(step(&terminal), second);
    terminal.keys("+");
    terminal.sees("Paused, 5 s");
    terminal.keys("\x1b[A\x1b[A");
    terminal.sees("Paused, 1 s");
    terminal.keys("-");
    terminal.sees("Paused, 2 s");
    terminal.keys(" ");
    terminal.sees("Playing, 2 s");
    terminal.keys("+++++++++++++");
    // At full speed it comes to its end by itself.
    assert_eq!(terminal.wait().code(), Some(0));
    assert!(terminal.is_as_before(), "{}", terminal.text());
    terminal.sees("2 8 7 | 4 1 9 | 6 3 5");
    terminal.sees("Hurray!");
    terminal.sees(" steps: nodes ");
    assert_eq!(terminal.look(|screen| screen.wraps), 0);
}

#[test]
fn whoever_paused_can_look_back_from_the_end() {
    let four = "1.3434122.434321";
    let Some(mut terminal) = on_terminal(24, 80, &["--puzzle", four]) else { return };
    terminal.keys(" ");
    terminal.sees("Paused");
    // One more than there are is none.
    terminal.keys("..........");
    terminal.sees("At the end");
    terminal.sees("Hurray!");
    terminal.keys(",");
    terminal.sees("1 step back");
    terminal.sees("Band 2 is complete.");
    terminal.keys(".");
    terminal.sees("At the end");
    terminal.keys("q");
    assert_eq!(terminal.wait().code(), Some(0));
    assert!(terminal.is_as_before());
    terminal.sees("1 2 | 3 4\n3 4 | 1 2\n----+----\n2 1 | 4 3\n4 3 | 2 1\n\nHurray!");
}

#[test]
fn a_key_or_a_signal_ends_a_trace_and_gives_the_terminal_back() {
    type Act = fn(&mut Session);
    let ends: [(Act, i32, &str); 7] = [
        (|terminal| terminal.keys("q"), 0, "Stopped after 1 step."),
        (|terminal| terminal.keys("\x1b"), 0, "Stopped after 1 step."),
        (|terminal| terminal.keys("\x03"), 130, "Interrupted after 1 step."),
        (|terminal| terminal.signal(Signal::INT), 130, "Interrupted after 1 step."),
        (|terminal| terminal.signal(Signal::TERM), 143, "Interrupted after 1 step."),
        (|terminal| terminal.signal(Signal::HUP), 129, "Interrupted after 1 step."),
        (|terminal| terminal.keys(" \x03"), 130, "Interrupted after 1 step."),
    ];
    for (number, (act, code, words)) in ends.into_iter().enumerate() {
        let Some(mut terminal) = on_terminal(24, 40, &["--puzzle", EASY]) else { return };
        terminal.sees("\n1  ");
        assert!(!terminal.is_as_before());
        act(&mut terminal);
        assert_eq!(terminal.wait().code(), Some(code), "end {number}");
        assert!(terminal.is_as_before(), "end {number}:\n{}", terminal.text());
        assert!(terminal.text().contains(words), "end {number}:\n{}", terminal.text());
        assert_eq!(terminal.look(|screen| screen.wraps), 0, "{}", terminal.text());
    }
}

/// Whatever was being drawn when Ctrl-C came.
#[test]
fn an_interrupt_leaves_a_whole_grid() {
    // The search goes on for long enough.
    let puzzle = "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9";
    for delay in ["50", "5", "1"].repeat(10) {
        let args = ["--puzzle", puzzle, "--strategy", "backtracking", "--delay", delay];
        let Some(mut terminal) = on_terminal(24, 80, &args) else { return };
        terminal.sees("Try ");
        terminal.keys("\x03");
        assert_eq!(terminal.wait().code(), Some(130));
        let text = terminal.text();
        assert!(terminal.is_as_before(), "{text}");
        let lines: Vec<&str> = text.lines().collect();
        for (index, line) in lines[..11].iter().enumerate() {
            if index % 4 == 3 {
                assert_eq!(*line, "------+-------+------", "{text}");
            } else {
                let cells: Vec<&str> = line.split(' ').filter(|&cell| cell != "|").collect();
                assert!(cells.len() == 9 && cells.iter().all(|cell| cell.len() == 1), "{text}");
            }
        }
        assert!(lines[12].starts_with("Interrupted after "), "{text}");
    }
}

#[test]
fn a_trace_ends_with_its_terminal() {
    let Some(terminal) = on_terminal(24, 80, &["--puzzle", EASY]) else { return };
    terminal.sees("\n1  ");
    let mut child = terminal.close();
    let status = wait_for("the end of the trace", || child.try_wait().unwrap());
    assert!(!status.success(), "{status}");
}

#[test]
fn ctrl_z_gives_the_terminal_back_until_the_trace_goes_on() {
    let mut shell = Command::new("bash");
    let script = "\"$0\" trace --puzzle \"$1\" --delay 60000; echo stopped; read line; fg; echo over";
    shell.args(["--norc", "-m", "-c", script, SUDOKU, EASY]);
    let Some(mut terminal) = Session::run(&shell, 24, 80) else { return };
    terminal.sees("\n1  ");
    for round in 0..2 {
        terminal.keys("\x1a");
        if round == 0 {
            terminal.sees("stopped");
            assert!(terminal.is_as_before(), "{}", terminal.text());
            terminal.keys("\n");
            terminal.sees("Playing, 60 s");
            terminal.keys(".");
            terminal.sees("\n2  ");
        }
    }
    // There are no more commands than `over`, which leaves the stopped trace to the end of the shell.
    terminal.sees("over");
    assert!(terminal.is_as_before(), "{}", terminal.text());
    terminal.wait();
}

#[test]
fn large_grids_are_shown_as_well_as_a_terminal_can() {
    let large = ".".repeat(625);
    let Some(mut terminal) = on_terminal(24, 40, &["--puzzle", &large]) else { return };
    // Cells close to each other, as many rows as there are lines, and words that fit.
    terminal.sees("\n1  Try 1 at (1, 1).");
    terminal.sees("1.... ..... ..... ..... .....\n");
    terminal.sees("rows 1-21");
    // The rows follow the steps.
    terminal.keys(" ");
    terminal.keys(&".".repeat(24));
    terminal.sees("..... ..... ..... ..... ....1\n25  1 must stand at (25, 25).\n");
    terminal.sees("rows 5-25");
    assert_eq!(terminal.look(|screen| screen.wraps), 0, "{}", terminal.text());

    // With more room there are all rows, then rulers.
    terminal.resize(28, 80);
    terminal.sees("\n. . . . . | . . . . . | . . . . . | . . . . . | . . . . 1\n\n25  1 must");
    terminal.sees("1 . . . . | . . . . . | . . . . . | . . . . . | . . . . .\n");
    assert!(!terminal.text().contains("rows "), "{}", terminal.text());
    terminal.resize(40, 80);
    terminal.sees("----------+-----------+-----------+-----------+----------\n");
    // With less there is a sentence, and the trace goes on.
    terminal.resize(5, 20);
    terminal.sees("A 25x25 grid needs\n30 columns and 7\n");
    terminal.resize(24, 29);
    terminal.sees("has 29 and 24.\n");
    terminal.resize(24, 30);
    terminal.sees("..... ..... ..... ..... ....1\n25  1 must");
    terminal.forget_wraps();
    terminal.keys("q");
    assert_eq!(terminal.wait().code(), Some(0));
    assert!(terminal.is_as_before());
    assert_eq!(terminal.look(|screen| screen.wraps), 0, "{}", terminal.text());
}

#[test]
fn keys_come_from_the_terminal_when_the_puzzle_comes_from_a_pipe() {
    let mut shell = Command::new("sh");
    shell.args(["-c", "echo \"$1\" | \"$0\" trace - --delay 60000", SUDOKU, EASY]);
    let Some(mut terminal) = Session::run(&shell, 24, 80) else { return };
    terminal.sees("space pause");
    terminal.keys("..q");
    assert_eq!(terminal.wait().code(), Some(0));
    terminal.sees("Stopped after 3 steps.");
    assert!(terminal.is_as_before());
}

#[test]
fn colours_can_be_turned_off_and_a_dumb_terminal_gets_lines() {
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb"), ("TERM", "vt100")] {
        let mut command = Command::new(SUDOKU);
        command
            .args(["trace", "--puzzle", EASY, "--delay", "0", "--strategy", "backtracking"])
            .env(name, value);
        let Some(mut terminal) = Session::run(&command, 24, 40) else { return };
        assert_eq!(terminal.wait().code(), Some(0));
        let text = terminal.text();
        let has_colours = (name, value) == ("TERM", "vt100");
        assert_eq!(terminal.look(|screen| screen.colours) > 0, has_colours, "{text}");
        assert_eq!(text.contains("Band 3 is complete.\nSolved.\nHurray!\n"), value == "dumb", "{text}");
        assert_eq!(terminal.look(|screen| screen.wraps), 0, "{text}");
    }
}

#[test]
fn stats_tell_what_one_puzzle_cost_and_how_costs_are_distributed() {
    let list = fixture("strategies.txt");
    let known = std::fs::read_to_string(&list).unwrap();
    // A puzzle that breaks the rules is not searched, and does not count.
    let puzzles: Vec<&str> = known
        .lines()
        .filter(|line| line.find(' ') == Some(81))
        .map(|line| &line[..81])
        .filter(|puzzle| grid(puzzle).keeps_rules())
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let write = |name: &str, puzzles: &[&str]| {
        let path = folder.path().join(name);
        std::fs::write(&path, puzzles.join("\n")).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let one = write("one.txt", &puzzles[..1]);
    let all = write("all.txt", &puzzles);
    let many = write("many.txt", &puzzles.repeat(20));

    let said = stderr(&run(&["solve", &one, "--stats", "--strategy", "fewest-candidates", "--quiet"]));
    for name in ["nodes", "guesses", "backtracks", "depth", "comparisons", "placements", "time"] {
        assert!(said.contains(&format!("{name} ")), "{said}");
    }

    let table = |args: &[&str]| -> Vec<Vec<String>> {
        let said = stderr(&run(&[&["solve", "--stats", "--quiet", "--node-limit", "5000"], args].concat()));
        let row = |line: &str| {
            line.split("  ").filter(|cell| !cell.is_empty()).map(str::trim).map(str::to_owned).collect()
        };
        said.lines().map(row).collect()
    };
    let rows = table(&[&all, "--strategy", "dancing-links"]);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names[1..], ["nodes", "guesses", "backtracks", "depth", "comparisons", "placements"]);
    let figure = |cell: &str| cell.replace(',', "").parse::<f64>().unwrap();
    for row in rows[1..].iter().filter(|row| row[0] != "depth") {
        assert_eq!(row.len(), 7);
        let [total, mean, median, ninety, ninety_nine, greatest] =
            [1, 2, 3, 4, 5, 6].map(|column| figure(&row[column]));
        assert!(
            median <= ninety && ninety <= ninety_nine && ninety_nine <= greatest && greatest <= total * 1.001
        );
        assert!((mean * puzzles.len() as f64 - total).abs() <= 0.01 * total + 1.0, "{row:?}");
    }
    // One option tried is one digit placed.
    assert_eq!(rows[1][1..], rows[6][1..]);

    // The kernel counts neither; only the first few puzzles, which show how hard the others may be,
    // are searched without it where there are enough for it, and the table says how many they are.
    let rows = table(&[&many]);
    let names: Vec<&str> = rows.iter().map(|row| row[0].as_str()).collect();
    assert_eq!(names[1..5], ["nodes", "guesses", "backtracks", "depth"]);
    let counted = |name: &str, title: &str| -> usize {
        let puzzles = name.strip_prefix(title).and_then(|rest| rest.strip_suffix(" puzzles)"));
        puzzles.unwrap_or_else(|| panic!("{name}")).parse().unwrap()
    };
    let few = counted(names[5], "comparisons (");
    assert!(few > 0 && 4 * few < puzzles.len() * 20, "{few}");
    assert_eq!((counted(names[6], "placements ("), names.len()), (few, 7));
}
