//! `sudoku` as a coprocess: one line in, one answer out, before the next line is written.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use crate::harness::daemon::Daemon;
use crate::harness::{
    Folder, feed, is_solution, list, piped, skipped, stdout, succeeded, sudoku, unique_puzzles,
};

/// A run that is asked question by question.
struct Coprocess {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Coprocess {
    fn start(args: &[&str]) -> Self {
        let mut child = sudoku(args).stdin(Stdio::piped()).spawn().unwrap();
        let (questions, answers) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        Self { child, questions, answers: BufReader::new(answers) }
    }

    fn write(&mut self, text: &str) {
        self.questions.write_all(text.as_bytes()).unwrap();
    }

    fn read(&mut self) -> String {
        let mut line = String::new();
        self.answers.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    fn ask(&mut self, line: &str) -> String {
        self.write(&format!("{line}\n"));
        self.read()
    }

    /// Ends the questions.
    #[track_caller]
    fn finish(self) {
        drop(self.questions);
        let output = self.child.wait_with_output().unwrap();
        succeeded(&output);
    }
}

#[test]
fn each_line_is_answered_before_the_next_one_comes() {
    let puzzles = unique_puzzles(20);
    let mut run = Coprocess::start(&["solve", "-", "--notation", "lines", "--size", "9"]);
    run.write("# comments and blank lines need no answer\n\n");
    for puzzle in &puzzles {
        let answer = run.ask(puzzle);
        assert!(is_solution(&answer, puzzle), "{answer}");
    }
    assert_eq!(run.ask("12"), "error: Line 23 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.");
    // A line in two pieces, and two lines at once.
    let (one, two) = puzzles[0].split_at(40);
    run.write(one);
    run.write(two);
    run.write("\n");
    assert!(is_solution(&run.read(), &puzzles[0]));
    run.write(&format!("{}\n{}\n", puzzles[1], puzzles[2]));
    assert!(is_solution(&run.read(), &puzzles[1]));
    assert!(is_solution(&run.read(), &puzzles[2]));
    run.finish();
}

#[test]
fn every_format_that_is_given_is_answered_at_once() {
    let (puzzle, solution) = ("1234341221..4321", "1234341221434321");
    let ask = |args: &[&str], first: &str, wanted: &[&str]| {
        let mut run = Coprocess::start(args);
        run.write(first);
        for line in wanted {
            assert_eq!(run.read(), *line, "{args:?}");
        }
        run.finish();
    };
    let line = format!("{puzzle}\n");
    let given = ["-", "--notation", "lines", "--size", "4"];
    ask(&[&["solve"], &given[..]].concat(), &line, &[solution]);
    ask(&[&["count"], &given[..]].concat(), &line, &["1"]);
    let pair = format!("{puzzle},{solution}");
    ask(&[&["solve"], &given[..], &["--format", "csv"]].concat(), &line, &["puzzle,solution", &pair]);
    ask(&["solve", "-", "--notation", "lines", "--size", "1"], "1\n", &["1"]);
    ask(&["solve", "-", "--notation", "header"], &format!("2\n{line}"), &[solution]);
    // A puzzle that may be the only one has a line of its own too.
    let nine = format!("{}\n", unique_puzzles(1)[0]);
    let rated = stdout(&feed(&mut sudoku(&["rate", "-q"]), nine.repeat(2).as_bytes()));
    let rating = rated.lines().next().unwrap();
    ask(&["rate", "-q", "-", "--notation", "lines", "--size", "9"], &nine, &[rating]);
    let table = format!("id,puzzle\n7,{puzzle}\n");
    ask(&["solve", "-", "--notation", "csv", "--size", "4"], &table, &[solution]);
    let rows = "1234\n3412\n--+--\n21..\n4321\n";
    ask(&["solve", "-", "--notation", "grid", "--size", "4"], rows, &[solution]);
    // A ruler alone is no puzzle, and spaces between bars are blanks.
    let drawn = "+---+---+\n|1 2|3 4|\n|3 4|1 2|\n+---+---+\n|2 1|   |\n|4 3|2 1|\n";
    ask(&["solve", "-", "--notation", "grid", "--size", "4"], drawn, &[solution]);
    let large = ".".repeat(256);
    let mut run = Coprocess::start(&[
        "solve",
        "-",
        "--notation",
        "lines",
        "--size",
        "16",
        "--alphabet",
        "hex",
        "--strategy",
        "propagation",
    ]);
    assert_eq!(run.ask(&large).len(), 256);
    run.finish();
}

#[test]
fn a_server_answers_a_coprocess_too() {
    let server = Daemon::start(&[]);
    let url = format!("http://{}", server.address);
    let mut run = Coprocess::start(&["solve", "-", "--notation", "lines", "--size", "9", "--server", &url]);
    for puzzle in &unique_puzzles(5) {
        let answer = run.ask(puzzle);
        assert!(is_solution(&answer, puzzle), "{answer}");
    }
    run.finish();
}

/// A shell's own way, as the guide has it.
#[test]
fn bash_can_hold_a_conversation() {
    let puzzles = unique_puzzles(2);
    let script = format!(
        "coproc {} solve - --notation lines --size 9\n\
         for puzzle; do echo \"$puzzle\" >&\"${{COPROC[1]}}\"; read -r answer <&\"${{COPROC[0]}}\"; echo \"$answer\"; done",
        env!("CARGO_BIN_EXE_sudoku")
    );
    let mut bash = Command::new("bash");
    bash.args(["-c", &script, "bash"]).args(&puzzles);
    let Ok(child) = piped(bash).spawn() else { return skipped("there is no bash") };
    let output = child.wait_with_output().unwrap();
    let answers = stdout(&output);
    let answers: Vec<&str> = answers.lines().collect();
    assert_eq!(answers.len(), 2, "{output:?}");
    assert!(is_solution(answers[0], &puzzles[0]) && is_solution(answers[1], &puzzles[1]));
}

/// Pipes of any speed give the bytes that the file gives, with the format given and without.
#[test]
fn a_pipe_gives_the_bytes_of_the_file() {
    let folder = Folder::new();
    let text = list(20_000);
    let file = folder.write("list.txt", &text);
    let wanted = sudoku(&["solve", &file]).output().unwrap().stdout;
    for given in [&[][..], &["--notation", "lines", "--size", "9"]] {
        let whole = feed(&mut sudoku(&[&["solve", "-"], given].concat()), text.as_bytes());
        assert!(whole.stdout == wanted, "{given:?}");
        let mut child = sudoku(&[&["solve", "-"], given].concat()).stdin(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let pieces = text.clone();
        let writer = std::thread::spawn(move || {
            for piece in pieces.as_bytes().chunks(997) {
                stdin.write_all(piece).unwrap();
            }
        });
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert!(output.stdout == wanted, "{given:?}, in pieces");
    }
}
