//! `sudoku` at a terminal: what is typed, what is shown, progress bars.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::process::{Child, ChildStdin, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::harness::daemon::Daemon;
use crate::harness::terminal::{CTRL_D, Terminal, shown};
use crate::harness::{Folder, eventually, is_solution, lines, signal, sudoku, unique_puzzles, wait_for};

/// A puzzle as people paste it.
const ROWS: &str = "\
53. .7. ...
6.. 195 ...
.98 ... .6.
-----------
8.. .6. ..3
4.. 8.3 ..1
7.. .2. ..6
-----------
.6. ... 28.
... 419 ..5
... .8. .79
";

const SOLUTION: &str = "534678912672195348198342567859761423426853791713924856961537284287419635345286179";

/// The part of a bar that shows it is one.
const BAR: &str = "puzzles/s";

/// Has a puzzle without clues counted for ever.
const FOR_EVER: [&str; 4] = ["--limit", "18446744073709551615", "--node-limit", "18446744073709551615"];

/// A file with a puzzle without clues.
fn endless(folder: &Folder) -> String {
    folder.write("blank.txt", ".".repeat(625))
}

/// The program with its input and its standard error at the terminal.
fn typed(args: &[&str], terminal: &Terminal) -> Child {
    sudoku(args).stdin(terminal.stdio()).stderr(terminal.stdio()).spawn().unwrap()
}

/// Waits for the program, which must have nothing left to wait for.
#[track_caller]
fn code(child: &mut Child) -> Option<i32> {
    wait_for("the end of the program", || child.try_wait().unwrap()).code()
}

fn read(child: &mut Child) -> String {
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    text
}

#[test]
fn one_ctrl_d_ends_what_is_typed() {
    let puzzle = &unique_puzzles(1)[0];
    for (args, typed_in, wanted) in [
        (&["solve", "-"][..], format!("{puzzle}\n"), 0),
        (&["solve", "-", "--strict"], format!("{puzzle}\n"), 0),
        (&["solve", "-", "--notation", "lines", "--size", "9"], format!("{puzzle}\n"), 0),
        (&["count", "-"], format!("{puzzle}\n"), 0),
        (&["validate", "-"], format!("{puzzle}\n"), 0),
        (&["validate", "-"], format!("{puzzle}\n12\n"), 1),
        (&["check", "-"], format!("{SOLUTION}\n"), 0),
        (&["show", "-"], ROWS.to_owned(), 0),
        // Nothing at all, less than decides about compression, blank lines.
        (&["solve", "-"], String::new(), 2),
        (&["solve", "-"], "1\n".to_owned(), 0),
        (&["solve", "-"], "\n# nothing\n\n".to_owned(), 2),
    ] {
        let mut terminal = Terminal::open();
        let mut child = typed(args, &terminal);
        terminal.type_in(&typed_in);
        terminal.type_in(CTRL_D);
        assert_eq!(code(&mut child), Some(wanted), "{args:?} {typed_in:?}: {}", terminal.finish());
    }
}

#[test]
fn what_is_typed_is_answered_line_by_line() {
    let puzzles = unique_puzzles(3);
    let mut terminal = Terminal::open();
    let mut child = typed(&["solve", "-"], &terminal);
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut next = || {
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    };
    terminal.type_in("# by hand\n\n");
    for puzzle in &puzzles {
        terminal.type_in(&format!("{puzzle}\n"));
        assert!(is_solution(&next(), puzzle));
    }
    terminal.type_in("12\n");
    assert_eq!(next(), "error: Line 6 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.");
    terminal.type_in(CTRL_D);
    assert_eq!(code(&mut child), Some(0));
    let printed = terminal.finish();
    assert!(printed.ends_with("3 answered, 1 error line (1 wrong_length).\r\n"), "{printed}");

    // In rows the last one completes a puzzle.
    let mut terminal = Terminal::open();
    let mut child = typed(&["solve", "-"], &terminal);
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    for _ in 0..2 {
        terminal.type_in(ROWS);
        let mut line = String::new();
        answers.read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), SOLUTION);
    }
    terminal.type_in(CTRL_D);
    assert_eq!(code(&mut child), Some(0));
}

#[test]
fn boards_are_numbered_where_there_is_room() {
    let puzzle = &unique_puzzles(1)[0];
    for (columns, is_numbered) in [(80, true), (24, false)] {
        for command in ["show", "hint"] {
            let terminal = Terminal::open();
            terminal.resize(columns, 24);
            let mut child = sudoku(&[command, puzzle]).stdout(terminal.stdio()).spawn().unwrap();
            assert_eq!(code(&mut child), Some(0));
            let printed = terminal.finish();
            assert_eq!(printed.contains("1 2 3   4 5 6   7 8 9"), is_numbered, "{printed}");
        }
    }
}

#[test]
fn the_help_of_the_console_folds() {
    let terminal = Terminal::open();
    terminal.resize(40, 24);
    let mut child = sudoku(&["shell"]).stdin(Stdio::piped()).stdout(terminal.stdio()).spawn().unwrap();
    let script = b"help\nhelp solve\nhelp set\nhelp search\nhelp puzzles\n";
    child.stdin.take().unwrap().write_all(script).unwrap();
    assert_eq!(code(&mut child), Some(0));
    let printed = terminal.finish();
    assert!(printed.contains("Check for a single solution"), "{printed}");
    assert!(printed.lines().all(|line| line.trim_end().len() <= 40), "{printed}");
}

/// A run that goes on for as long as it is fed, with its bar at a terminal.
struct Fed {
    child: Child,
    stdin: ChildStdin,
    stdout: Option<BufReader<std::process::ChildStdout>>,
    puzzle: String,
}

impl Fed {
    fn start(args: &[&str], terminal: &Terminal, stdout: Stdio) -> Self {
        let given = ["solve", "-", "--notation", "lines", "--size", "9"];
        let mut command = sudoku(&[&given, args].concat());
        let mut child =
            command.stdin(Stdio::piped()).stdout(stdout).stderr(terminal.stdio()).spawn().unwrap();
        let stdin = child.stdin.take().unwrap();
        let stdout = child.stdout.take().map(BufReader::new);
        Self { child, stdin, stdout, puzzle: unique_puzzles(1).remove(0) }
    }

    /// Has one puzzle solved. True if there was an answer.
    fn step(&mut self) -> bool {
        let is_sent = writeln!(self.stdin, "{}", self.puzzle).is_ok();
        let mut answer = String::new();
        is_sent && self.stdout.as_mut().is_none_or(|out| out.read_line(&mut answer).is_ok_and(|n| n > 0))
    }

    /// Goes on until there is a bar, and returns how long that took.
    fn until_the_bar(&mut self, terminal: &Terminal) -> Duration {
        eventually("a progress bar", || self.step() && terminal.printed().contains(BAR))
    }
}

#[test]
fn a_bar_comes_after_half_a_second_and_goes_with_the_run() {
    let terminal = Terminal::open();
    let mut run = Fed::start(&[], &terminal, Stdio::piped());
    let time = run.until_the_bar(&terminal);
    assert!(time > Duration::from_millis(400), "the bar was there after {time:?}");
    drop(run.stdin);
    assert_eq!(code(&mut run.child), Some(0));
    let printed = terminal.finish();
    let [summary, after] = &shown(&printed)[..] else { panic!("{printed:?}") };
    assert!(summary.contains(" answered.") && !summary.contains(BAR) && after.is_empty(), "{printed:?}");

    // A short run has none, and writes nothing but plain lines.
    let folder = Folder::new();
    let list = folder.write("list.txt", lines(&unique_puzzles(50)));
    let terminal = Terminal::open();
    let mut child = sudoku(&["solve", &list]).stderr(terminal.stdio()).spawn().unwrap();
    assert_eq!(read(&mut child).lines().count(), 50);
    assert_eq!(code(&mut child), Some(0));
    let printed = terminal.finish();
    assert!(printed.starts_with("50 puzzles in ") && !printed.contains('\x1b'), "{printed:?}");
}

/// The first puzzle may take minutes, and without a bar the run would look as if it hung.
#[test]
fn a_bar_comes_before_the_first_answer_too() {
    let folder = Folder::new();
    let endless = endless(&folder);
    let terminal = Terminal::open();
    let mut command = sudoku(&[&["count", &endless][..], &FOR_EVER].concat());
    let mut child = command.stdout(Stdio::null()).stderr(terminal.stdio()).spawn().unwrap();
    let time = eventually("a bar", || terminal.printed().contains(" 0 %  nothing yet after "));
    assert!(time > Duration::from_millis(400), "the bar was there after {time:?}");
    assert!(!terminal.printed().contains(BAR));
    signal(&child, "-INT");
    assert_eq!(code(&mut child), Some(130));
    let printed = terminal.finish();
    let [report, after] = &shown(&printed)[..] else { panic!("{printed:?}") };
    assert!(report.starts_with("Interrupted. Stopped after ") && after.is_empty(), "{printed:?}");

    // Behind an input that is done, the bar of all inputs says how far they are, and the bar of one
    // begins anew.
    let list = folder.write("list.txt", lines(&unique_puzzles(20)));
    for (command, wanted) in [("count", " 72 %  after "), ("solutions", " 0 %  nothing yet after ")] {
        let terminal = Terminal::open();
        let mut command = sudoku(&[&[command, &list, &endless][..], &FOR_EVER].concat());
        let mut child = command.stdout(Stdio::null()).stderr(terminal.stdio()).spawn().unwrap();
        terminal.wait_for(wanted);
        signal(&child, "-INT");
        assert_eq!(code(&mut child), Some(130));
    }
}

#[test]
fn no_bar_is_drawn_between_answers_on_the_same_terminal() {
    for quiet in [&["--no-progress"][..], &["--quiet"], &[]] {
        let terminal = Terminal::open();
        // Only without the flags is it the terminal that matters.
        let stdout = if quiet.is_empty() { terminal.stdio() } else { Stdio::piped() };
        let mut run = Fed::start(quiet, &terminal, stdout);
        let begin = Instant::now();
        let mut steps = 0;
        eventually("a second", || {
            steps += usize::from(run.step());
            begin.elapsed() > Duration::from_secs(1)
        });
        drop(run.stdin);
        assert_eq!(code(&mut run.child), Some(0));
        let printed = terminal.finish();
        assert!(!printed.contains('\x1b') && !printed.contains(BAR), "{quiet:?}: {printed:?}");
        assert!(steps > 1);
    }
    // The output may be the terminal by its name.
    let folder = Folder::new();
    let (list, endless) = (folder.write("list.txt", lines(&unique_puzzles(20))), endless(&folder));
    let terminal = Terminal::open();
    let args = ["count", &list, &endless, "-o", &terminal.path()];
    let mut child = sudoku(&[&args[..], &FOR_EVER].concat()).stderr(terminal.stdio()).spawn().unwrap();
    let begin = Instant::now();
    eventually("a second", || begin.elapsed() > Duration::from_secs(1));
    signal(&child, "-INT");
    assert_eq!(code(&mut child), Some(130));
    let printed = terminal.finish();
    assert!(printed.starts_with("1\r\n") && !printed.contains('\x1b'), "{printed:?}");
    // With the answers in a file, the terminal shows none.
    let terminal = Terminal::open();
    let mut run = Fed::start(&["-o", &folder.path("out.txt")], &terminal, terminal.stdio());
    run.until_the_bar(&terminal);
    drop(run.stdin);
    assert_eq!(code(&mut run.child), Some(0));
    // Another terminal is not in the way.
    let (terminal, other) = (Terminal::open(), Terminal::open());
    let mut run = Fed::start(&[], &terminal, other.stdio());
    run.until_the_bar(&terminal);
    drop(run.stdin);
    assert_eq!(code(&mut run.child), Some(0));
    assert!(!other.finish().contains('\x1b'));
}

#[test]
fn an_interrupt_leaves_no_half_bar() {
    for (name, wanted) in [("-INT", 130), ("-TERM", 143), ("-HUP", 129)] {
        let terminal = Terminal::open();
        let mut run = Fed::start(&[], &terminal, Stdio::piped());
        run.until_the_bar(&terminal);
        signal(&run.child, name);
        assert_eq!(code(&mut run.child), Some(wanted));
        let printed = terminal.finish();
        let [report, after] = &shown(&printed)[..] else { panic!("{printed:?}") };
        assert!(report.starts_with("Interrupted. Stopped after ") && after.is_empty(), "{printed:?}");
    }

    // A second signal ends the run at once, here while nobody takes its answers.
    let terminal = Terminal::open();
    let Fed { mut child, mut stdin, stdout, puzzle } = {
        let mut run = Fed::start(&[], &terminal, Stdio::piped());
        run.until_the_bar(&terminal);
        run
    };
    let flood = thread::spawn(move || {
        let many = format!("{puzzle}\n").repeat(1_000);
        while stdin.write_all(many.as_bytes()).is_ok() {}
    });
    signal(&child, "-INT");
    signal(&child, "-INT");
    assert_eq!(code(&mut child), Some(130));
    flood.join().unwrap();
    drop(stdout);
    let printed = terminal.finish();
    assert!(!shown(&printed).concat().contains(BAR), "{printed:?}");
}

#[test]
fn an_error_leaves_no_half_bar() {
    let mut server = Daemon::start(&[]);
    let terminal = Terminal::open();
    let url = format!("http://{}", server.address);
    let mut run = Fed::start(&["--server", &url, "--retries", "0"], &terminal, Stdio::piped());
    run.until_the_bar(&terminal);
    server.kill();
    while run.step() {}
    assert_eq!(code(&mut run.child), Some(2));
    let printed = terminal.finish();
    let shown = shown(&printed);
    assert!(shown[0].starts_with("Stopped after ") && shown.last().unwrap().is_empty(), "{printed:?}");
    assert!(!shown.concat().contains(BAR), "{printed:?}");
}
