//! Arrays of NumPy, as input and as output.

use std::fs;

use sudoku_stream::grid::Order;
use sudoku_stream::input::npy_header;

use crate::harness::packed::gzip;
use crate::harness::{Folder, assert_solves, feed, list, stderr, stdout, succeeded, sudoku, unique_puzzles};

/// The cells of puzzles, one byte each.
fn digits(puzzles: &[String]) -> Vec<u8> {
    puzzles.concat().bytes().map(|cell| if cell.is_ascii_digit() { cell - b'0' } else { 0 }).collect()
}

/// An array of this shape.
fn array(puzzles: u64, order: Order, cells: &[u8]) -> Vec<u8> {
    [npy_header(puzzles, order), cells.to_vec()].concat()
}

/// A header with this text, in this version of the format.
fn with_header(version: u8, text: &str) -> Vec<u8> {
    let length = text.len() as u32;
    let length =
        if version == 1 { length.to_le_bytes()[..2].to_vec() } else { length.to_le_bytes().to_vec() };
    [b"\x93NUMPY", &[version, 0][..], &length, text.as_bytes()].concat()
}

/// The answers in an array of solutions.
fn solutions(bytes: &[u8]) -> Vec<String> {
    let cells = bytes[128..].chunks_exact(81);
    assert!(cells.remainder().is_empty());
    assert_eq!(bytes[..128], npy_header(cells.len() as u64, Order::NINE)[..]);
    cells.map(|digits| digits.iter().map(|digit| char::from(b'0' + digit)).collect()).collect()
}

#[test]
fn an_array_is_answered_as_its_puzzles_are() {
    let folder = Folder::new();
    let puzzles = unique_puzzles(3000);
    let text = folder.write("puzzles.txt", puzzles.join("\n") + "\n");
    let flat = array(3000, Order::NINE, &digits(&puzzles));
    let shape = "{'shape': (3000, 9, 9), 'fortran_order': False, 'descr': '|u1'}\n";
    let cube = [with_header(2, shape), digits(&puzzles)].concat();
    for (name, bytes) in [("flat.npy", &flat), ("cube.txt", &cube)] {
        let file = folder.write(name, bytes);
        for command in [&["solve"][..], &["count", "-n", "2"], &["validate"], &["rate", "--up-to", "1.5"]] {
            let run = |input: &str| {
                let output = sudoku(command).arg(input).output().unwrap();
                succeeded(&output);
                stdout(&output).replace(input, "FILE")
            };
            assert_eq!(run(&file), run(&text), "{name} {command:?}");
        }
        // From a pipe, and packed.
        let piped = feed(&mut sudoku(&["solve", "-"]), bytes);
        succeeded(&piped);
        for (answer, puzzle) in stdout(&piped).lines().zip(&puzzles) {
            assert_solves(answer, puzzle);
        }
        let show = |input: &str| stdout(&sudoku(&["show", input, "--index", "2000"]).output().unwrap());
        assert!(show(&file).contains("Puzzle 2,000 on line 2,000"), "{}", show(&file));
        assert_eq!(show(&file), show(&text));
    }
}

#[test]
fn solutions_are_written_as_an_array() {
    let folder = Folder::new();
    let puzzles = unique_puzzles(2000);
    let text = folder.write("puzzles.txt", list(40_000));
    let out = folder.path("solutions.npy");
    succeeded(&sudoku(&["solve", &text, "-o", &out]).output().unwrap());
    let as_text = stdout(&sudoku(&["solve", &text]).output().unwrap());
    let written = solutions(&fs::read(&out).unwrap());
    let zeros = "0".repeat(81);
    let as_text = as_text.lines().map(|line| if line.starts_with("error: ") { &zeros } else { line });
    assert!(written.iter().map(String::as_str).eq(as_text));

    // Several inputs, a bad puzzle, and a name that says nothing.
    let array = folder.write("puzzles.npy", array(2000, Order::NINE, &digits(&puzzles)));
    let bad = folder.write("bad.txt", format!("{}\nx\n", puzzles[0]));
    let other = folder.path("other");
    let output = sudoku(&["solve", &array, &bad, "-f", "npy", "-o", &other]).output().unwrap();
    succeeded(&output);
    assert!(stderr(&output).contains("1 error line (1 wrong_length)"), "{}", stderr(&output));
    let written = solutions(&fs::read(&other).unwrap());
    assert_eq!(written.len(), 2002);
    for (answer, puzzle) in written.iter().zip(puzzles.iter().chain([&puzzles[0]])) {
        assert_solves(answer, puzzle);
    }
    assert_eq!(written[2001], zeros);
    // What was written is read, and right but for the zeros.
    let checked = sudoku(&["check", &out]).output().unwrap();
    let report = stdout(&checked) + &stderr(&checked);
    assert!(report.contains("40,000 grids"), "{report}");
    assert!(report.contains("412 "), "{report}");
}

#[test]
fn what_an_array_cannot_hold_is_refused() {
    let folder = Folder::new();
    let nine = folder.write("nine.txt", list(3));
    let four = folder.write("four.txt", "12..34..........\n1...............\n");
    let out = folder.path("out.npy");
    let cases: [(&[&str], &str); 6] = [
        (&["-f", "npy"], "--format npy needs a file"),
        (&["-f", "npy", "-o", "/dev/null"], "--format npy needs a regular file"),
        (&["--question", "count", "-o", &out], "--format npy holds solutions"),
        (&["--resume", "-o", &out], "--resume is for text."),
        (&["--server", "127.0.0.1:1", "-o", &out], "--server is for text."),
        (&[&four, "-o", &out], "has 4x4 puzzles, and an array holds one size: 9x9 so far."),
    ];
    for (args, words) in cases {
        let output = sudoku(&["solve", &nine]).args(args).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
        assert!(!folder.exists("out.npy"));
    }
}

#[test]
fn values_that_no_puzzle_has_are_named() {
    let folder = Folder::new();
    let mut cells = digits(&unique_puzzles(3));
    cells[81 + 5] = 12;
    cells[162] = 255;
    let file = folder.write("bad.npy", array(3, Order::NINE, &cells));
    let answers = stdout(&sudoku(&["solve", &file]).output().unwrap());
    let wanted = [
        "error: Line 2 has an invalid character. The value 12 is outside 1 to 9.",
        "error: Line 3 has an invalid character. The value 255 is outside 1 to 9.",
    ];
    assert!(answers.lines().skip(1).eq(wanted), "{answers}");
    // A value of 4x4 puzzles, and of larger ones.
    let four = folder.write("four.npy", array(2, Order::ALL[1], &[&[0; 16][..], &[5; 16]].concat()));
    let answers = stdout(&sudoku(&["solve", &four]).output().unwrap());
    assert!(
        answers.ends_with("error: Line 2 has an invalid character. It is '5' in column 1.\n"),
        "{answers}"
    );
    let grid = |value: &str| format!("[[1,0,0,0],[0,0,{value},0],[0,0,0,0],[0,2,0,0]]");
    let values = ["3", "40", "10", "99", "-6", "2.5", "true"];
    let list = folder.write("list.json", format!("[{}]\n", values.map(grid).join(",\n")));
    // In text too, whatever symbols there are, and even if no puzzle is good.
    let alone = folder.write("alone.json", grid("40").replace('1', "4"));
    let answers = stdout(&sudoku(&["solve", "--alphabet", "!234", &alone]).output().unwrap());
    let outside = "error: Line 1 has an invalid character. The value 40 is outside 1 to 4.\n";
    assert_eq!(answers, outside);
    // What is copied has nothing that is not in the array, but for the place of the cell.
    let bad = [1, 0, 0, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 2, 0, 0];
    let same = folder.write("same.npy", array(6, Order::ALL[1], &bad.repeat(6)));
    for command in [&["minimize"][..], &["disguise", "--seed", "1"], &["dedup", "--exact"]] {
        for (file, bad) in [(&list, "!\n"), (&same, "1.....!......2..\n")] {
            let rows = stdout(&sudoku(&[command, &["-q", file]].concat()).output().unwrap());
            assert_eq!(rows.matches(bad).count(), 6, "{file}: {rows}");
            assert!(rows.is_ascii(), "{file}: {rows}");
        }
    }
    let sixteen = folder.write("sixteen.npy", array(2, Order::ALL[3], &[0; 512]));
    let out = folder.path("solved.npy");
    succeeded(&sudoku(&["solve", &sixteen, "-o", &out]).output().unwrap());
    assert_eq!(fs::read(&out).unwrap()[128..].iter().copied().max(), Some(16));
}

#[test]
fn damaged_arrays_are_refused_or_end_the_run() {
    let folder = Folder::new();
    let good = array(3, Order::NINE, &digits(&unique_puzzles(3)));
    let huge = "{'descr': '|u1', 'fortran_order': False, 'shape': (99999999999999, 81), }\n";
    let cases = [
        ("short", good[..200].to_vec(), 0, "its shape promises 3 puzzles, and it ends after 0"),
        (
            "single",
            array(1, Order::NINE, &digits(&unique_puzzles(1)))[..200].to_vec(),
            0,
            "its shape promises 1 puzzle, and it ends after 0",
        ),
        ("shorter", good[..128 + 90].to_vec(), 1, "its shape promises 3 puzzles, and it ends after 1"),
        ("long", [good.clone(), vec![0]].concat(), 3, "its shape promises 3 puzzles, and more follows"),
        ("huge", with_header(1, huge), 0, "its shape promises 99999999999999 puzzles, and it ends after 0"),
        ("empty", npy_header(0, Order::NINE), 0, "empty is empty."),
        ("header", good[..60].to_vec(), 0, "header is a NumPy array whose header is cut short."),
        ("length", [b"\x93NUMPY\x02\0".to_vec(), vec![0xFF; 4]].concat(), 0, "a header of 4294967295 bytes"),
        ("version", [b"\x93NUMPY\x09\0".to_vec(), vec![0; 40]].concat(), 0, "version 9"),
        ("bytes", with_header(3, "\u{FFFD}{'descr'"), 0, "a damaged header"),
        (
            "type",
            with_header(1, "{'descr': '<i8', 'fortran_order': False, 'shape': (3, 81)}"),
            0,
            "type <i8: puzzles have the type uint8",
        ),
    ];
    // Compressed in two parts, the first of which differs from its checksum within the third puzzle.
    let (front, back) = good.split_at(128 + 2 * 81 + 40);
    let mut parts = [gzip(front), gzip(back)].concat();
    parts[gzip(front).len() - 8] ^= 1;
    let parts = [("parts", parts, 2, "parts is damaged after 164 bytes of text: ")];
    for (name, bytes, answers, words) in cases.into_iter().chain(parts) {
        let file = folder.write(name, bytes);
        let output = sudoku(&["solve", &file]).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{name}");
        assert!(stderr(&output).contains(words), "{name}: {}", stderr(&output));
        assert_eq!(stdout(&output).lines().count(), answers, "{name}");
    }
}
