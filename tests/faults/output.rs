//! What is written: full disks, limits, folders that nobody may write to, pipes that are closed.

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::Command;

use crate::companion::{Ended, run};
use crate::harness::{Folder, SUDOKU, is_solution, lines, piped, sudoku, with_room};
use crate::row::{Row, Seen};
use crate::traffic::easy;

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(26, "the disk is full, /dev/full", "a sentence, exit code 2; no half OUT", full_disk),
        row(26, "OUT grows beyond a limit (SIGXFSZ)", "a sentence, exit code 2; no half OUT", size_limit),
        row(26, "OUT in a read-only folder", "a sentence, exit code 2", read_only),
        row(26, "the reader of the answers closes the pipe", "success, and nothing is said", closed_pipe),
    ]
}

/// A folder with a list of some MB.
fn list() -> (Folder, String) {
    let folder = Folder::new();
    let input = folder.write("in.txt", lines(&easy(1_000)).repeat(60));
    (folder, input)
}

/// A run in a name space of its own, in which `script` may mount things. `None` if there are none here.
fn mounted(script: &str, arguments: &[&str]) -> Option<Ended> {
    let is_possible = |command: &mut Command| command.output().is_ok_and(|output| output.status.success());
    // Root needs no other users to be root.
    let flags = ["-m", "-rm"].into_iter().find(|flags| {
        is_possible(Command::new("unshare").args([
            flags,
            "sh",
            "-c",
            "mount -t tmpfs -o size=64k tmpfs /mnt",
        ]))
    })?;
    let mut command = Command::new("unshare");
    command.args([flags, "sh", "-c", script]).arg(SUDOKU).args(arguments);
    Some(run(&mut piped(command)))
}

fn full_disk() -> Seen {
    let (folder, input) = list();
    let ended = run(&mut sudoku(&["solve", &input, "-o", "/dev/full"]));
    ended.assert_code(2);
    assert!(ended.stderr.ends_with("/dev/full: No space left on device (os error 28)\n"), "{}", ended.stderr);
    let standard = run(sudoku(&["solve", &input]).stdout(fs::File::create("/dev/full").unwrap()));
    standard.assert_code(2);
    let words = "standard output: No space left on device (os error 28)\n";
    assert!(standard.stderr.ends_with(words), "{}", standard.stderr);

    let disk = folder.path("disk");
    fs::create_dir(&disk).unwrap();
    let out = format!("{disk}/out.txt");
    let script = format!(
        "mount -t tmpfs -o size=1m tmpfs {disk}; \"$0\" \"$@\"; code=$?; ls -A {disk} >&2; exit $code"
    );
    let Some(ended) = mounted(&script, &["solve", &input, "-o", &out]) else {
        return Seen::Skipped("a small disk cannot be mounted here; /dev/full is told of".to_owned());
    };
    ended.assert_code(2);
    // Behind the sentence stands what is in the folder, which is nothing.
    let words = format!("{out} was not written: {out}: No space left on device (os error 28)\n");
    assert!(ended.stderr.ends_with(&words), "{}", ended.stderr);
    Seen::good(
        "`Stopped after N puzzles answered; OUT was not written: OUT: No space left on device`, nothing is left",
    )
}

fn size_limit() -> Seen {
    let (folder, input) = list();
    let out = folder.path("out.txt");
    let limited =
        |more: &[&str]| run(&mut with_room(&sudoku(&[&["solve", &input, "-o", &out], more].concat()), 2_000));
    let ended = limited(&[]);
    ended.assert_code(2);
    let words = format!("{out} was not written: {out}: File too large (os error 27)\n");
    assert!(ended.stderr.ends_with(&words), "{}", ended.stderr);
    assert_eq!(folder.names(), ["in.txt"]);
    let kept = limited(&["--resume"]);
    kept.assert_code(2);
    assert!(!folder.exists("out.txt"));
    run(&mut sudoku(&["solve", &input, "-o", &out, "--resume"])).assert_code(0);
    assert!(fs::read(&out).unwrap() == run(&mut sudoku(&["solve", &input])).stdout);
    Seen::good("`OUT: File too large`, nothing is left; with --resume the rest is done where there is room")
}

fn read_only() -> Seen {
    let (folder, input) = list();
    let place = folder.path("place");
    fs::create_dir(&place).unwrap();
    let out = format!("{place}/out.txt");
    // /proc takes no files, whoever asks.
    run(&mut sudoku(&["solve", &input, "-o", "/proc/out.txt"]))
        .assert_refused("/proc/out.txt: No such file or directory (os error 2)");
    let script =
        format!("mount --bind {place} {place} && mount -o remount,ro,bind {place} && exec \"$0\" \"$@\"");
    let Some(ended) = mounted(&script, &["solve", &input, "-o", &out]) else {
        return Seen::Skipped("a read-only folder cannot be mounted here; /proc is told of".to_owned());
    };
    ended.assert_refused(&format!("{out}: Read-only file system (os error 30)"));
    Seen::good("`OUT: Read-only file system`, before the first puzzle")
}

fn closed_pipe() -> Seen {
    let (_folder, input) = list();
    let mut command = sudoku(&["solve", &input]);
    let mut child = command.spawn().unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(is_solution(first.trim_end(), &easy(1)[0]));
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{output:?}");
    Seen::good("exit code 0")
}
