//! `sudoku shell` driven through a pipe, and what the programs tell shells and manuals about themselves.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, Command, Output, Stdio};

use crate::harness::terminal::Terminal;
use crate::harness::{
    Folder, SUDOKU, SUDOKUD, eventually, feed, signal, skipped, stderr, stdout, succeeded, sudoku,
    unique_puzzles, wait_for,
};

fn shell(arguments: &[&str]) -> Child {
    sudoku(&[&["shell"], arguments].concat()).stdin(Stdio::piped()).spawn().unwrap()
}

/// What it says to a script.
fn run(script: &[u8]) -> Output {
    feed(&mut sudoku(&["shell"]), script)
}

#[test]
fn no_bytes_end_it() {
    let mut script = b"\xFF\xFE\n\x00\n\x1b[31m\nopen \xFF\nsolve \xFF\n".to_vec();
    script.extend(std::iter::repeat_n(b'x', 1_000_000));
    script.push(b'\n');
    script.extend(std::iter::repeat_n(b'.', 200_000));
    script.extend_from_slice(b"\n53..7\xFF...\n\nset \xFF 1 1\n\"unclosed\nopen \"unclosed\nopen 'a b\\\n");
    script.extend(b"1 2 3\n".repeat(20_000));
    script.extend_from_slice(b"\n3\n\nexample\nhint all\n");
    let output = run(&script);
    succeeded(&output);
    let answer = stdout(&output);
    assert_eq!(answer.matches("That is longer than 65536 bytes. It was passed over.").count(), 2, "{answer}");
    assert!(answer.contains("fits nowhere else (hidden single)."), "{answer}");
    assert_eq!(stderr(&output), "");

    // No last line end, nothing at all, and an end in the middle of everything.
    for script in ["", "exit", "EXIT", "Quit\n", "solve", "1 1 5\n2 2 6", "\n\n\n", "# only a comment"] {
        succeeded(&run(script.as_bytes()));
    }
    let output = run(b"1 1 5\n2 2 6");
    assert!(stdout(&output).contains("The puzzle: 9x9, 2 clues"), "triples may end with the input");
}

#[test]
fn a_session_begins_with_a_file_and_in_an_alphabet() {
    let folder = Folder::new();
    let list = folder.write("my list.txt", unique_puzzles(25).join("\n"));
    let output = sudoku(&["shell", &list]).output().unwrap();
    succeeded(&output);
    assert!(stdout(&output).contains("Puzzle 1 of "), "{}", stdout(&output));
    // `-` is no row of a puzzle.
    let sentence = "`-` is where these commands come from.";
    let output = feed(&mut sudoku(&["shell"]), b"solve -\n");
    succeeded(&output);
    assert!(stdout(&output).starts_with(sentence), "{}", stdout(&output));
    // A script does not go on with an empty board.
    let output = feed(&mut sudoku(&["shell", "-"]), b"example\n");
    assert_eq!((output.status.code(), &*stdout(&output)), (Some(2), ""));
    assert!(stderr(&output).starts_with(sentence), "{}", stderr(&output));
    // Values of another alphabet stay values.
    let script = b"5 6 7 8\n7 8 5 6\n6 5 8 7\n8 7 6 5\ncheck\n";
    let output = feed(&mut sudoku(&["shell", "--alphabet", "5678"]), script);
    assert!(stdout(&output).ends_with("The puzzle is correctly solved.\n"), "{}", stdout(&output));
}

/// An interrupt stops the work and not the console; while nothing is done, and nobody could type `exit`, it ends it.
#[test]
fn an_interrupt_stops_what_is_being_done() {
    let mut child = shell(&[]);
    let mut stdin = child.stdin.take().unwrap();
    let mut answers = BufReader::new(child.stdout.take().unwrap());
    let mut read_until = |sentence: &str| {
        let mut line = String::new();
        while !line.contains(sentence) {
            line.clear();
            assert!(answers.read_line(&mut line).unwrap() > 0, "it ended before it said {sentence}");
        }
    };
    stdin.write_all(b"new 9\nlimit 1000000000000\nhelp exit\ncount 1000000000000\n").unwrap();
    read_until("Leave the console");
    // The count takes days, and nothing else takes this much of a processor: five hundredths of a second. A signal
    // that comes before it has begun would end the console.
    let status = format!("/proc/{}/stat", child.id());
    let ticks = || -> u64 {
        let text = fs::read_to_string(&status).unwrap();
        let fields: Vec<&str> = text.rsplit(") ").next().unwrap().split(' ').collect();
        fields[11].parse().unwrap()
    };
    let before = ticks();
    while ticks() < before + 5 {
        std::thread::yield_now();
    }
    signal(&child, "-INT");
    read_until("Stopped.");
    stdin.write_all(b"example\n").unwrap();
    read_until("The example");
    drop(stdin);
    let mut rest = String::new();
    answers.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_signal_that_ends_it_gives_the_terminal_back() {
    for (name, number) in [("-TERM", 15), ("-HUP", 1)] {
        let terminal = Terminal::open();
        let mut command = sudoku(&["shell"]);
        command.stdin(terminal.stdio()).stdout(terminal.stdio()).stderr(terminal.stdio());
        let mut child = command.env("TERM", "xterm").spawn().unwrap();
        terminal.wait_for("sudoku> ");
        eventually("the console reads keys", || !terminal.is_as_before());
        signal(&child, name);
        let status = wait_for("the end of the console", || child.try_wait().unwrap());
        assert_eq!(status.signal(), Some(number));
        assert!(terminal.is_as_before(), "{name}");
        assert!(terminal.finish().ends_with("\x1b[?2004l"), "{name}");
    }
}

#[test]
fn a_listener_that_leaves_is_no_error() {
    let mut child = shell(&[]);
    drop(child.stdout.take());
    // The pipe may be closed by then.
    let _ = child.stdin.take().unwrap().write_all(b"example\nexample\nexample\n");
    let output = child.wait_with_output().unwrap();
    succeeded(&output);
    assert_eq!(stderr(&output), "");
}

fn subcommands() -> Vec<String> {
    let help = Command::new(SUDOKU).arg("--help").output().unwrap();
    let help = stdout(&help);
    let commands = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let name =
        |line: &str| line.strip_prefix("  ").and_then(|rest| rest.split(' ').next()).map(str::to_owned);
    commands.lines().filter_map(name).filter(|name| !name.is_empty()).collect()
}

#[test]
fn completions_and_the_manual_name_every_command() {
    let commands = subcommands();
    assert!(commands.len() > 8, "{commands:?}");
    let mut texts = Vec::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let output = Command::new(SUDOKU).args(["completions", shell]).output().unwrap();
        succeeded(&output);
        texts.push((shell, stdout(&output)));
        let output = Command::new(SUDOKUD).args(["--completions", shell]).output().unwrap();
        succeeded(&output);
        assert!(stdout(&output).contains("drain-timeout"), "{shell}");
        assert!(!stdout(&output).contains("docs"), "{shell} offers the hidden flag");
        if ["bash", "fish", "zsh"].contains(&shell) {
            let names = ["avx512", "avx512vl", "avx2", "neon", "portable"];
            let between = if shell == "fish" { "\\t''\n" } else { " " };
            assert!(stdout(&output).contains(&names.join(between)), "{shell} offers no back ends");
        }
    }
    let manual = Command::new(SUDOKU).arg("man").output().unwrap();
    succeeded(&manual);
    assert!(stdout(&manual).contains("EXIT STATUS"));
    texts.push(("man", stdout(&manual)));
    for (kind, text) in &texts {
        for command in commands.iter().filter(|&command| (*kind, command.as_str()) != ("man", "help")) {
            assert!(text.contains(command), "{kind}: {command}");
        }
    }
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("pages");
    let output = Command::new(SUDOKU).args(["man", "--dir", pages.to_str().unwrap()]).output().unwrap();
    succeeded(&output);
    for command in commands.iter().filter(|&command| command != "help") {
        let page = fs::read_to_string(pages.join(format!("sudoku-{command}.1"))).unwrap();
        assert!(page.contains(".SH NAME"), "{command}");
        assert!(page.contains(concat!("\"sudoku ", env!("CARGO_PKG_VERSION"), "\"")), "{command}: {page}");
        // Options would look like switches there.
        assert!(!page.contains("[\\fB"), "{command}: {page}");
    }
    let manual = Command::new(SUDOKUD).arg("--man").output().unwrap();
    succeeded(&manual);
    assert!(stdout(&manual).contains("drain"));

    // Where there is a bash, it completes.
    let script = folder.path().join("completions");
    fs::write(&script, &texts[0].1).unwrap();
    for (words, wanted) in [
        (&["sh"][..], "show sheet shell"),
        // Without a command they are the options of solve.
        (&["--que"], "--question"),
        (&["puzzles.txt", "--strat"], "--strategy"),
        (&["puzzles.txt", "--question", "un"], "unique"),
        (&["hint", "--only", "x-"], "x-wing x-cycle"),
        (&["steps", "--only", "fi"], "fish"),
        (&["generate", "--technique", "sw"], "swordfish"),
    ] {
        let (last, before) = (words.len(), [&["sudoku"], words].concat()[words.len() - 1]);
        let test = format!(
            "source '{}'; COMP_WORDS=(sudoku {}); COMP_CWORD={last}; _sudoku sudoku {} {before}; \
             echo \"${{COMPREPLY[@]}}\"",
            script.display(),
            words.join(" "),
            words[last - 1]
        );
        match Command::new("bash").args(["--norc", "-c", &test]).output() {
            Ok(output) => assert_eq!(stdout(&output).trim(), wanted, "{}", stderr(&output)),
            Err(_) => skipped("there is no bash on this machine"),
        }
    }
}
