//! `sudoku page`: the address that it prints, what is there, and what it refuses.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};

use crate::harness::{Folder, fixture, lines, piped, signal, stderr, sudoku, unique_puzzles, wait_for};

/// What a server sends for a path.
fn get(address: &str, path: &str) -> String {
    let mut connection = TcpStream::connect(address).unwrap();
    write!(connection, "GET {path} HTTP/1.1\r\nhost: {address}\r\nconnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_page_is_served_with_the_puzzle_in_its_address() {
    let folder = Folder::new();
    let puzzles = unique_puzzles(2);
    let file = folder.write("puzzles.txt", lines(&puzzles));
    let below = folder.path("below");
    std::fs::create_dir(&below).unwrap();
    let odd = folder.write("below/100%.txt", lines(&puzzles));
    let wanted = |puzzle: &str| format!("/#p=9x9-{}", puzzle.replace('.', "0"));
    for (args, rest) in [
        (&["page", "--no-open"][..], "/".to_owned()),
        (&["page", "--no-open", &puzzles[0]], wanted(&puzzles[0])),
        (&["page", "--no-open", &file, "--index", "2"], wanted(&puzzles[1]) + "&file=puzzles.txt&puzzle=1"),
        (
            &["page", "--no-open", &odd, "--data-dir", &folder.path("")],
            wanted(&puzzles[0]) + "&file=below/100%25.txt&puzzle=0",
        ),
        // Not in the folder that was named.
        (&["page", "--no-open", &file, "--data-dir", &below], wanted(&puzzles[0])),
        (&["page", "--no-open", "12.............."], "/#p=4x4-1200000000000000".to_owned()),
    ] {
        let mut child = piped(sudoku(args)).spawn().unwrap();
        let mut output = child.stdout.take().unwrap();
        let mut url = Vec::new();
        while !url.ends_with(b"\n") {
            let mut byte = [0];
            output.read_exact(&mut byte).unwrap();
            url.push(byte[0]);
        }
        let url = String::from_utf8(url).unwrap();
        let url = url.trim_end().strip_prefix("http://").unwrap();
        let (address, path) = url.split_at(url.find('/').unwrap());
        assert_eq!(path, rest, "{args:?}");
        assert!(address.starts_with("127.0.0.1:"), "{address}");
        let page = get(address, "/");
        assert!(page.contains("data-program=\"sudoku page\""), "{page}");
        assert!(page.starts_with("HTTP/1.1 200 OK") && page.contains("<!doctype html>"), "{page}");
        signal(&child, "-INT");
        let status = wait_for("the end", || child.try_wait().unwrap());
        assert_eq!(status.code(), Some(130));
    }
}

#[test]
fn what_cannot_be_served_is_said_at_once() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port().to_string();
    let bad = fixture("bad/block_size_4.txt");
    for (args, sentence) in [
        (&["--port", &port][..], format!("Port {port} is in use. Choose another one with --port.\n")),
        (&["--data-dir", "/nowhere"], "The data directory /nowhere cannot be opened: ".to_owned()),
        (&["12............."], "It has 15 cells; a 4x4 puzzle has 16.\n".to_owned()),
        (&[bad.to_str().unwrap()], String::new()),
    ] {
        let output = sudoku(&[&["page", "--no-open"], args].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(&sentence), "{args:?}: {}", stderr(&output));
    }
}
