//! Files that survive: runs that are killed and gone on with, parts, locks, full disks.

#![expect(clippy::disallowed_methods, reason = "a run is killed at a moment that nobody has chosen")]

use std::fs::{self, File};
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use crate::harness::packed::{Member, zip};
use crate::harness::server::{Fault, Faulty, nearly_solved};
use crate::harness::{
    Folder, Random, SUDOKU, eventually, fixture, forge_version, list, shorten, signal, skipped, stderr,
    stdout, succeeded, sudoku, with_room,
};
use std::ops::Deref;
use sudoku_stream::answer::{OutputForm, Solvers, Task};
use sudoku_stream::grid::Grid;
use sudoku_stream::input::{Mapped, Prefix, Reader, Shard, Source};
use sudoku_stream::offline::{self, OfflineError};
use sudoku_stream::pipeline;
use sudoku_stream::solver::Strategy;
use sudoku_stream::text::{Hint, Notation, Records};

/// A way to search that takes most of a minute for so many lines: a run that is to be stopped on the way
/// still runs then, however late the test sees how far it is.
const ENDLESSLY: [&str; 4] = ["--strategy", "backtracking", "--threads", "1"];
const TOO_MANY: usize = 100_000;

/// The room, in blocks of 512 bytes, for a run that stops in the middle of 60,000 answers.
const BLOCKS: u64 = 2_500;

const PARTIAL: &str = ".out.txt.sudoku-partial";
const JOURNAL: &str = ".out.txt.sudoku-journal";

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// A folder with a list in it, and the answers to that, once they are asked for.
struct Bench {
    folder: Folder,
}

impl Deref for Bench {
    type Target = Folder;

    fn deref(&self) -> &Folder {
        &self.folder
    }
}

impl Bench {
    fn new(lines: usize) -> Self {
        let bench = Self { folder: Folder::new() };
        bench.write("in.txt", list(lines));
        bench
    }

    /// `solve FILE -o out.txt` with more arguments.
    fn solve(&self, file: &str, more: &[&str]) -> Command {
        let (input, out) = (self.path(file), self.path("out.txt"));
        sudoku(&[&["solve", &input, "-o", &out][..], more].concat())
    }

    /// The same, all but endlessly.
    fn solve_endlessly(&self, file: &str, more: &[&str]) -> Command {
        self.solve(file, &[&ENDLESSLY, more].concat())
    }

    /// Starts a run that has too much work, and waits until a part of its work has been remembered.
    fn start_and_wait_for_a_mark(&self, file: &str, more: &[&str]) -> Child {
        let mut child = self.solve_endlessly(file, more).spawn().unwrap();
        eventually("a mark", || {
            assert_eq!(child.try_wait().unwrap(), None, "the run ended before it was marked");
            self.exists(JOURNAL)
        });
        child
    }

    /// The same, interrupted by SIGTERM.
    fn interrupted(&self, file: &str, more: &[&str]) -> Output {
        let child = self.start_and_wait_for_a_mark(file, more);
        signal(&child, "-TERM");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
        assert!(stderr(&output).starts_with("Interrupted. Stopped after "), "{}", stderr(&output));
        output
    }

    /// A run that stops on the way, and that another can go on with.
    fn stopped(&self, file: &str, more: &[&str]) {
        self.stopped_behind(BLOCKS, file, more);
    }

    /// The same, with room for so many blocks of 512 bytes.
    fn stopped_behind(&self, blocks: u64, file: &str, more: &[&str]) {
        let output = with_room(&self.solve(file, &[&["--resume"], more].concat()), blocks).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(stderr(&output).contains("but --resume goes on from here: "), "{}", stderr(&output));
    }

    /// The answers of a run that nothing stops.
    fn unbroken(&self, file: &str, more: &[&str]) -> String {
        let output = run(&[&["solve", &self.path(file)][..], more].concat());
        succeeded(&output);
        stdout(&output)
    }

    fn assert_out_is(&self, answers: &str) {
        let out = fs::read_to_string(self.path("out.txt")).unwrap();
        assert!(out == answers, "{} bytes instead of {}", out.len(), answers.len());
        assert!(!self.exists(PARTIAL) && !self.exists(JOURNAL), "{:?}", self.names());
    }
}

/// The end of the summary: what was answered, without the time.
fn counts(output: &Output) -> String {
    let said = stderr(output);
    said.split_once(" a second: ").unwrap_or_else(|| panic!("{said}")).1.to_owned()
}

#[test]
fn a_run_that_is_killed_again_and_again_gives_the_same_bytes() {
    // A second or so of work, at whose end the answers are compared.
    let bench = Bench::new(300_000);
    let slowly = ["--resume", "--strategy", "propagation", "--threads", "1"];
    let answers = bench.unbroken("in.txt", &[]);
    let mut random = Random(u64::from(std::process::id()));
    bench.stopped("in.txt", &slowly[1..]);
    for _ in 0..12 {
        let mut child = bench.solve("in.txt", &slowly).stderr(Stdio::null()).spawn().unwrap();
        // The moment of the kill is what is tested.
        thread::sleep(Duration::from_millis(random.below(500) as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        if bench.exists("out.txt") {
            // It was done before it was killed: from the beginning.
            bench.assert_out_is(&answers);
            fs::remove_file(bench.path("out.txt")).unwrap();
        }
    }
    succeeded(&bench.solve("in.txt", &slowly).output().unwrap());
    bench.assert_out_is(&answers);
}

#[test]
fn the_summary_covers_what_was_done_before() {
    let bench = Bench::new(60_000);
    let whole = bench.solve("in.txt", &["--stats"]).output().unwrap();
    succeeded(&whole);
    fs::remove_file(bench.path("out.txt")).unwrap();
    bench.stopped("in.txt", &["--stats"]);
    let resumed = bench.solve("in.txt", &["--stats", "--resume"]).output().unwrap();
    succeeded(&resumed);
    assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
    assert!(stderr(&resumed).contains("\n60,000 puzzles in "), "{}", stderr(&resumed));
    assert_eq!(counts(&resumed), counts(&whole));
    assert!(counts(&whole).starts_with("59,382 answered, 618 error lines (618 wrong_length).\n"));
}

#[test]
fn only_the_same_run_goes_on() {
    let bench = Bench::new(TOO_MANY);
    let said = stderr(&bench.interrupted("in.txt", &["--resume"]));
    let out = bench.path("out.txt");
    assert!(said.ends_with(&format!("; {out} was not written, but --resume goes on from here.\n")), "{said}");
    assert_eq!(bench.names(), [JOURNAL, PARTIAL, "in.txt"]);

    bench.write("other.txt", b"1234341221434321\n");
    let left = fs::read(bench.path(PARTIAL)).unwrap();
    for (file, more, then, now) in [
        ("in.txt", &["--question", "unique"][..], "--question first", "--question unique"),
        ("in.txt", &["--format", "csv"], "--format solution", "--format csv"),
        ("in.txt", &["--format", "csv", "--add", "clues,error"], "no --add", "--add clues,error"),
        ("in.txt", &["--shard", "2/2"], "no --shard", "--shard 2/2"),
        ("in.txt", &["--size", "9"], "no --size", "--size 9"),
        ("in.txt", &["--stats"], "no --stats", "--stats"),
        ("in.txt", &["--node-limit", "7"], "--node-limit 1000000", "--node-limit 7"),
    ] {
        let refused = bench.solve_endlessly(file, &[&["--resume"], more].concat()).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        let sentence = format!(
            "{out} was begun with {then}, and now it is {now}. Repeat the command as it was, or leave out --resume to begin anew.\n"
        );
        assert_eq!(stderr(&refused), sentence);
    }
    let refused = bench.solve_endlessly("other.txt", &["--resume"]).output().unwrap();
    assert!(stderr(&refused).contains("was begun with the input "), "{}", stderr(&refused));
    assert_eq!(bench.names(), [JOURNAL, PARTIAL, "in.txt", "other.txt"]);
    assert!(fs::read(bench.path(PARTIAL)).unwrap() == left);

    // What changes no answer may change; what was written beyond the last mark is written again.
    let mut partial = File::options().append(true).open(bench.path(PARTIAL)).unwrap();
    partial.write_all(b"half an ans").unwrap();
    drop(partial);
    shorten(&bench.path("in.txt"), &bench.path(JOURNAL), "");
    let done =
        bench.solve("in.txt", &["--resume", "--no-mmap", ENDLESSLY[0], ENDLESSLY[1]]).output().unwrap();
    succeeded(&done);
    assert!(stderr(&done).starts_with("Going on after "), "{}", stderr(&done));
    bench.assert_out_is(&bench.unbroken("in.txt", &ENDLESSLY));
}

#[test]
fn a_changed_input_is_not_gone_on_with() {
    let bench = Bench::new(60_000);
    bench.stopped("in.txt", &[]);
    File::options().append(true).open(bench.path("in.txt")).unwrap().write_all(b"12\n").unwrap();
    let refused = bench.solve("in.txt", &["--resume"]).output().unwrap();
    assert_eq!(refused.status.code(), Some(2));
    let input = fs::canonicalize(bench.path("in.txt")).unwrap();
    let sentence = format!(
        "{} was changed after {} was begun. Leave out --resume to begin anew.\n",
        input.display(),
        bench.path("out.txt")
    );
    assert_eq!(stderr(&refused), sentence);
    succeeded(&run(&["solve", &bench.path("in.txt"), "-o", &bench.path("out.txt")]));
    bench.assert_out_is(&bench.unbroken("in.txt", &[]));
}

/// What is told of a run whose input is another now.
fn assert_other_input(bench: &Bench, file: &str, more: &[&str], what: &str) {
    let left = (fs::read(bench.path(PARTIAL)).unwrap(), fs::read(bench.path(JOURNAL)).unwrap());
    let refused = bench.solve(file, &[&["--resume"], more].concat()).output().unwrap();
    assert_eq!(refused.status.code(), Some(2), "{what}: {}", stderr(&refused));
    let input = fs::canonicalize(bench.path(file)).unwrap();
    let sentence = format!(
        "{} was changed after {} was begun. Leave out --resume to begin anew.\n",
        input.display(),
        bench.path("out.txt")
    );
    assert_eq!(stderr(&refused), sentence, "{what}");
    let journal = fs::read(bench.path(JOURNAL)).unwrap();
    let partial = fs::read(bench.path(PARTIAL)).unwrap();
    assert!(journal == left.1 && left.0.starts_with(&partial), "{what}");
}

/// Length and time of modification are the same: `mv`, `cp -p` and `rsync -t` leave them so.
#[test]
fn an_input_that_was_replaced_by_one_that_looks_alike_is_not_gone_on_with() {
    let bench = Bench::new(60_000);
    bench.stopped("in.txt", &[]);
    let path = bench.path("in.txt");
    let modified = fs::metadata(&path).unwrap().modified().unwrap();
    let content = fs::read(&path).unwrap();
    let other = [&content[8_200..], &content[..8_200]].concat();
    assert!(other.len() == content.len() && other != content);
    let date_back =
        |path: &str| File::options().write(true).open(path).unwrap().set_modified(modified).unwrap();

    let new = bench.write("new.txt", &other);
    date_back(&new);
    fs::rename(&new, &path).unwrap();
    assert_other_input(&bench, "in.txt", &[], "replaced");
    fs::write(&path, &content).unwrap();
    date_back(&path);
    assert_other_input(&bench, "in.txt", &[], "written again");
    succeeded(&bench.solve("in.txt", &[]).output().unwrap());
    bench.assert_out_is(&bench.unbroken("in.txt", &[]));
}

#[test]
fn an_input_with_other_content_where_it_was_read_is_not_gone_on_with() {
    let bench = Bench::new(60_000);
    let text = list(60_000).into_bytes();
    let pack = |text: &[u8]| zstd::encode_all(text, 1).unwrap();
    bench.write("in.zst", pack(&text));
    bench.write("in.grid", grids(&text));
    for (file, more) in [
        ("in.txt", &[][..]),
        ("in.txt", &["--no-mmap"]),
        ("in.txt", &["--shard", "2/3"]),
        ("in.zst", &[]),
        ("in.grid", &["--shard", "2/3"]),
    ] {
        let answers = bench.unbroken(file, more);
        bench.stopped(file, more);
        // One digit of the first puzzle, and of a puzzle of the part.
        let content = fs::read(bench.path(file)).unwrap();
        let plain = if file == "in.zst" { text.clone() } else { content.clone() };
        let places =
            if more.contains(&"--shard") { vec![0, plain.len() / 3 + 1_000] } else { vec![0, 1_000] };
        for place in places {
            let mut other = plain.clone();
            let at = place + other[place..].iter().position(|byte| (b'1'..=b'8').contains(byte)).unwrap();
            other[at] += 1;
            bench.write(file, &if file == "in.zst" { pack(&other) } else { other });
            forge_version(&bench.path(file), &bench.path(JOURNAL));
            assert_other_input(&bench, file, more, &format!("{file} {more:?} at {at}"));
        }
        bench.write(file, &content);
        forge_version(&bench.path(file), &bench.path(JOURNAL));
        let done = bench.solve(file, &[&["--resume"], more].concat()).output().unwrap();
        succeeded(&done);
        assert!(stderr(&done).starts_with("Going on after "), "{}", stderr(&done));
        bench.assert_out_is(&answers);
        fs::remove_file(bench.path("out.txt")).unwrap();
    }
}

/// The lines of 81 cells as grids.
fn grids(lines: &[u8]) -> Vec<u8> {
    let mut text = Vec::new();
    for line in lines.split(|&byte| byte == b'\n').filter(|line| line.len() == 81) {
        line.chunks(9).for_each(|row| text.extend([row, b"\n"].concat()));
        text.push(b'\n');
    }
    text
}

type Spoil = fn(&Bench);

#[test]
fn what_cannot_be_trusted_is_begun_anew() {
    let bench = Bench::new(60_000);
    let answers = bench.unbroken("in.txt", &[]);
    let spoil: [(&str, Spoil); 4] = [
        ("a journal that is cut off", |bench| {
            let journal = fs::read(bench.path(JOURNAL)).unwrap();
            bench.write(JOURNAL, &journal[..journal.len() / 2]);
        }),
        ("answers that are shorter than the journal says", |bench| {
            File::options().write(true).open(bench.path(PARTIAL)).unwrap().set_len(100).unwrap();
        }),
        ("answers that end in zeros", |bench| {
            let partial = File::options().write(true).open(bench.path(PARTIAL)).unwrap();
            let length = partial.metadata().unwrap().len();
            partial.set_len(100).unwrap();
            partial.set_len(length).unwrap();
        }),
        ("no answers", |bench| fs::remove_file(bench.path(PARTIAL)).unwrap()),
    ];
    for (what, spoil) in spoil {
        bench.stopped("in.txt", &[]);
        spoil(&bench);
        let done = bench.solve("in.txt", &["--resume"]).output().unwrap();
        succeeded(&done);
        assert!(stderr(&done).starts_with("60,000 puzzles in "), "{what}: {}", stderr(&done));
        bench.assert_out_is(&answers);
        fs::remove_file(bench.path("out.txt")).unwrap();
    }
}

/// Without `--resume` a run that is stopped leaves nothing; what a killed one leaves is gone after the next.
#[test]
fn a_plain_run_leaves_nothing_behind() {
    let bench = Bench::new(TOO_MANY);
    let stopped = bench.interrupted("in.txt", &[]);
    assert!(stderr(&stopped).ends_with("out.txt was not written.\n"), "{}", stderr(&stopped));
    assert_eq!(bench.names(), ["in.txt"]);

    let mut child = bench.start_and_wait_for_a_mark("in.txt", &[]);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(bench.names(), [JOURNAL, PARTIAL, "in.txt"]);
    bench.write("other.txt", b"1234341221434321\n123434122143432.\n");
    succeeded(&run(&["solve", &bench.path("other.txt"), "-o", &bench.path("out.txt")]));
    bench.assert_out_is("1234341221434321\n1234341221434321\n");
    assert_eq!(bench.names(), ["in.txt", "other.txt", "out.txt"]);
}

#[test]
fn compressed_files_and_parts_are_gone_on_with_too() {
    let bench = Bench::new(60_000);
    bench.write("in.zst", zstd::encode_all(list(60_000).as_bytes(), 1).unwrap());
    bench.write("in.zip", zip(&[Member::new("in.txt", list(60_000).as_bytes())]));
    bench.write("in.utf16", list(60_000).encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<_>>());
    let grids = grids(list(60_000).as_bytes());
    bench.write("in.grid", &grids);
    bench.write("grid.zst", zstd::encode_all(&grids[..], 1).unwrap());
    for (file, blocks, more) in [
        ("in.zst", BLOCKS, &[][..]),
        // These become a temporary file first, which needs room too.
        ("in.zip", 5 * BLOCKS, &["--format", "csv"]),
        ("in.utf16", 5 * BLOCKS, &["--format", "csv"]),
        ("grid.zst", 5 * BLOCKS, &["--format", "csv", "--strict"]),
        ("in.txt", BLOCKS, &["--shard", "2/2", "--format", "csv"]),
        ("in.grid", BLOCKS, &["--shard", "2/2", "--strict"]),
    ] {
        let answers = bench.unbroken(file, more);
        bench.stopped_behind(blocks, file, &[&["--durable"], more].concat());
        let done = bench.solve(file, &[&["--resume"], more].concat()).output().unwrap();
        succeeded(&done);
        assert!(stderr(&done).starts_with("Going on after "), "{}", stderr(&done));
        bench.assert_out_is(&answers);
        fs::remove_file(bench.path("out.txt")).unwrap();
    }
}

#[test]
fn a_file_that_shrinks_leaves_no_out() {
    for more in [&[][..], &["--resume"], &["--no-mmap", "--resume"]] {
        let bench = Bench::new(TOO_MANY);
        let child = bench.start_and_wait_for_a_mark("in.txt", more);
        File::options().write(true).open(bench.path("in.txt")).unwrap().set_len(1_000).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        assert!(
            stderr(&output).contains("in.txt was cut short while it was being read."),
            "{}",
            stderr(&output)
        );
        assert_eq!(bench.names(), ["in.txt"], "{more:?}");
    }
}

#[test]
fn two_runs_cannot_write_the_same_file() {
    let bench = Bench::new(2_000);
    let out = bench.path("out.txt");
    let mut first = sudoku(&["solve", "-", "-o", &out]).stdin(Stdio::piped()).spawn().unwrap();
    // More than detection looks at, and then nothing for a while.
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(list(2_000).as_bytes()).unwrap();
    eventually("the beginning of the answers", || bench.exists(PARTIAL));
    let link = bench.path("link.txt");
    for (name, extra) in
        [(&out, &[][..]), (&out, &["--resume"]), (&bench.path("./out.txt"), &["--shard", "1/2"])]
    {
        let second = run(&[&["solve", &bench.path("in.txt"), "-o", name][..], extra].concat());
        assert_eq!(second.status.code(), Some(2));
        let sentence =
            format!("{name} is being written by another run. Wait for its end, or name another file.\n");
        assert_eq!(stderr(&second), sentence);
    }
    drop(stdin);
    succeeded(&first.wait_with_output().unwrap());
    bench.assert_out_is(&bench.unbroken("in.txt", &[]));

    // By another name it is the same file.
    std::os::unix::fs::symlink(&out, &link).unwrap();
    let mut first = sudoku(&["solve", "-", "-o", &out]).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = first.stdin.take().unwrap();
    stdin.write_all(list(2_000).as_bytes()).unwrap();
    eventually("the beginning of the answers", || bench.exists(PARTIAL));
    assert_eq!(run(&["solve", &bench.path("in.txt"), "-o", &link]).status.code(), Some(2));
    // A lock goes with its process.
    first.kill().unwrap();
    first.wait().unwrap();
    drop(stdin);
    succeeded(&run(&["solve", &bench.path("in.txt"), "-o", &link]));
    bench.assert_out_is(&bench.unbroken("in.txt", &[]));
}

#[test]
fn the_input_is_never_written_over() {
    let bench = Bench::new(50);
    let text = fs::read(bench.path("in.txt")).unwrap();
    let packed = bench.write("in.zst", zstd::encode_all(&text[..], 1).unwrap());
    fs::hard_link(bench.path("in.txt"), bench.path("hard.txt")).unwrap();
    std::os::unix::fs::symlink("in.txt", bench.path("soft.txt")).unwrap();
    fs::create_dir(bench.path("below")).unwrap();
    bench.write("empty.txt", b"");
    let before = (bench.names(), fs::read(&packed).unwrap());
    let refused = |command: &mut Command, name: &str| {
        let output = command.current_dir(bench.root()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{command:?}");
        assert_eq!(stderr(&output), format!("{name} is the input itself. Name another file with -o.\n"));
        assert_eq!((bench.names(), fs::read(&packed).unwrap()), before, "{command:?}");
        assert!(fs::read(bench.path("in.txt")).unwrap() == text, "{command:?}");
    };
    let full = bench.path("in.txt");
    for (file, out) in [
        ("in.txt", "in.txt"),
        ("in.txt", "./in.txt"),
        ("in.txt", "below/../in.txt"),
        (&full, "in.txt"),
        ("in.txt", "hard.txt"),
        ("in.txt", "soft.txt"),
        ("soft.txt", "in.txt"),
        ("hard.txt", "soft.txt"),
        ("in.zst", "in.zst"),
        ("empty.txt", "empty.txt"),
    ] {
        for more in [&[][..], &["--resume"], &["--strict", "--no-mmap"], &["--shard", "1/2"]] {
            refused(&mut sudoku(&[&["solve", file, "-o", out], more].concat()), out);
        }
        refused(&mut sudoku(&["count", file, "-o", out]), out);
    }
    // What the shell has opened for both ends.
    let open = || File::open(&full).unwrap();
    let append = || File::options().append(true).open(&full).unwrap();
    refused(sudoku(&["solve", "-", "-o", "hard.txt"]).stdin(open()), "hard.txt");
    refused(sudoku(&["solve", "in.txt"]).stdout(append()), "standard output");
    refused(sudoku(&["solve", "-", "-o", "-"]).stdin(open()).stdout(append()), "standard output");

    // Reports on a list, which are much shorter than it.
    let reports = [
        &["validate"][..],
        &["show"],
        &["hint"],
        &["steps"],
        &["bench", "--repeats", "1"],
        &["bench", "--compare", env!("CARGO_BIN_EXE_sudoku")],
        &["load", "--server", "127.0.0.1:1"],
    ];
    for command in reports {
        refused(sudoku(command).args(["in.txt", "-o", "soft.txt"]), "soft.txt");
    }
    refused(sudoku(&["validate", "-", "-o", "hard.txt"]).stdin(open()), "hard.txt");
    refused(sudoku(&["validate", "in.txt"]).stdout(append()), "standard output");

    // What keeps nothing can be both; and another file of the same content is another file.
    let null = run(&["solve", "/dev/null", "-o", "/dev/null"]);
    assert_eq!(stderr(&null), "/dev/null is empty.\n");
    let copy = bench.write("copy.txt", &text);
    succeeded(&run(&["solve", &full, "-o", &copy]));
    assert!(fs::read_to_string(&copy).unwrap() == bench.unbroken("in.txt", &[]));
}

/// As a shell does that writes to one: what it leads to is made, and the link stays.
#[test]
fn a_link_to_a_file_that_is_not_there_yet_is_followed() {
    let bench = Bench::new(10);
    fs::create_dir(bench.path("place")).unwrap();
    let link = bench.path("link.txt");
    std::os::unix::fs::symlink("place/out.txt", &link).unwrap();
    succeeded(&run(&["solve", &bench.path("in.txt"), "-o", &link]));
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    let out = fs::read_to_string(bench.path("place/out.txt")).unwrap();
    assert!(out == bench.unbroken("in.txt", &[]));

    let lost = bench.path("lost.txt");
    std::os::unix::fs::symlink("none/out.txt", &lost).unwrap();
    let output = run(&["solve", &bench.path("in.txt"), "-o", &lost]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(stderr(&output), format!("{lost}: No such file or directory (os error 2)\n"));
    assert!(fs::symlink_metadata(&lost).unwrap().is_symlink());
}

/// A limit on the size of files stands for a disk that fills up.
#[test]
fn a_full_disk_leaves_no_half_written_file() {
    let bench = Bench::new(30_000);
    let (input, out) = (bench.path("in.txt"), bench.path("out.txt"));
    let limited = |more: &[&str]| with_room(&bench.solve("in.txt", more), 2_000).output().unwrap();
    let full = limited(&[]);
    assert_eq!(full.status.code(), Some(2), "{:?} {}", full.status, stderr(&full));
    let said = stderr(&full);
    assert!(said.contains("out.txt was not written: ") && said.contains("File too large"), "{said}");
    assert_eq!(bench.names(), ["in.txt"]);

    let full = limited(&["--resume"]);
    assert_eq!(full.status.code(), Some(2));
    assert!(stderr(&full).contains("but --resume goes on from here: "), "{}", stderr(&full));
    assert_eq!(bench.names(), [JOURNAL, PARTIAL, "in.txt"]);
    let done = run(&["solve", &input, "-o", &out, "--resume"]);
    succeeded(&done);
    assert!(stderr(&done).starts_with("Going on after "), "{}", stderr(&done));
    bench.assert_out_is(&bench.unbroken("in.txt", &[]));
}

#[test]
fn a_folder_that_cannot_be_written_to_is_an_error() {
    use std::os::unix::fs::PermissionsExt as _;
    let bench = Bench::new(10);
    let folder = Path::new(&bench.path("locked")).to_owned();
    fs::create_dir(&folder).unwrap();
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    if File::create(folder.join("probe")).is_ok() {
        skipped("this user may write anywhere");
        return;
    }
    let out = folder.join("out.txt");
    let output = run(&["solve", &bench.path("in.txt"), "-o", out.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    let (out, folder) = (out.display(), folder.display());
    let sentence = format!("{out}: the folder {folder} takes no new file: Permission denied (os error 13)\n");
    assert_eq!(stderr(&output), sentence);
}

#[test]
fn what_can_be_neither_cut_nor_gone_on_with_is_refused() {
    let bench = Bench::new(100);
    let (input, out) = (bench.path("in.txt"), bench.path("out.txt"));
    let packed = bench.write("in.zst", zstd::encode_all(list(100).as_bytes(), 1).unwrap());
    let empty = bench.write("empty.txt", "");
    for (args, sentence) in [
        (&["solve", &empty, "--shard", "1/2"][..], format!("{empty} is empty.\n")),
        (&["solve", &empty, "--shard", "2/2", "--no-mmap", "-o", &out], format!("{empty} is empty.\n")),
        (&["solve", &empty, "--shard", "1/2", "--manifest", "-o", &out], format!("{empty} is empty.\n")),
        (&["solve", &empty, "-o", &out, "--resume"], format!("{empty} is empty.\n")),
        (
            &["solve", "-", "--shard", "1/2"],
            "standard input cannot be cut into parts, because its length is not known. Write it to a file first.\n"
                .to_owned(),
        ),
        (
            &["solve", &packed, "--shard", "1/2", "--strict"],
            format!(
                "{packed} cannot be cut into parts, because its length is not known. It is compressed: decompress it into a file first.\n"
            ),
        ),
        (
            &["solve", "-", "-o", &out, "--resume"],
            "--resume needs an input that can be read again. Write standard input to a file first.\n".to_owned(),
        ),
        (
            &["solve", &input, "-o", "-", "--resume"],
            "--resume needs a file to go on with. Name one with -o.\n".to_owned(),
        ),
        (
            &["solve", &input, "-o", "/dev/null", "--resume"],
            "/dev/null is no regular file: a run that writes to it cannot be resumed.\n".to_owned(),
        ),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert_eq!(stderr(&output), sentence, "{args:?}");
        assert_eq!(bench.names(), ["empty.txt", "in.txt", "in.zst"]);
    }
    for bad in ["0/2", "3/2", "2", "x/y", "1/0"] {
        let output = run(&["solve", &input, "--shard", bad]);
        assert_eq!(output.status.code(), Some(2), "{bad}");
        assert!(stderr(&output).contains("write K/N"), "{bad}: {}", stderr(&output));
    }
}

#[test]
fn a_short_list_of_hard_puzzles_is_spread_over_the_threads() {
    let folder = Folder::new();
    folder.write("in.txt", nearly_solved(24).join("\n"));
    let endless = Faulty::new(Fault::Endless);
    let running = endless.counters.clone();
    let strategy: &'static dyn Strategy = Box::leak(Box::new(endless));
    let reader = Source::open(folder.path("in.txt").as_ref(), true).unwrap().read(&Hint::default()).unwrap();
    let solvers = Solvers::new(reader.format().clone(), Task { strategy: Some(strategy), ..Task::default() });
    let pool = Arc::new(pipeline::pool(Some(2)).unwrap());
    let cancel = Arc::new(AtomicBool::new(false));
    let run = thread::spawn({
        let cancel = Arc::clone(&cancel);
        let mut output = offline::Output::file(folder.path("out.txt").as_ref(), false).unwrap();
        move || offline::solve(reader, &Arc::new(solvers), &pool, &cancel, &mut output, |_| {})
    });
    eventually("a search on each of two threads", || running.running() == 2);
    cancel.store(true, Ordering::Relaxed);
    assert!(matches!(run.join().unwrap(), Err(OfflineError::Cancelled)));
}

/// Everything that is written for a whole input or a part of it, as `solve` does.
fn answers(mut reader: Reader, form: OutputForm) -> String {
    let task = Task { form, ..Task::default() };
    let solvers = Solvers::new(reader.format().clone(), task);
    let mut text =
        if reader.is_at_start() { form.heading(task.question).as_bytes().to_vec() } else { Vec::new() };
    while let Some(chunk) = reader.next_chunk().unwrap() {
        text.extend(solvers.write_answers(chunk.block(), &AtomicBool::new(false)).unwrap().text);
    }
    String::from_utf8(text).unwrap()
}

/// Every way to cut the file gives its answers, mapped or not; and so it does from every place where a chunk ends.
fn assert_parts_make_up_the_whole(path: &Path) {
    let open = |may_map| Source::open(path, may_map).unwrap().read(&Hint::default()).unwrap();
    for form in [OutputForm::Csv, OutputForm::Jsonl] {
        let whole = answers(open(true), form);
        for of in 1..=7 {
            for may_map in [true, false] {
                let part = |number: u64| {
                    let mut reader = open(may_map);
                    reader.select_shard(format!("{number}/{of}").parse::<Shard>().unwrap()).unwrap();
                    answers(reader, form)
                };
                let parts: String = (1..=of).map(part).collect();
                assert!(parts == whole, "{} in {of} parts: {parts}\ninstead of {whole}", path.display());
            }
        }
    }
    let hashed = |may_map| Source::open(path, may_map).unwrap().hashed().read(&Hint::default()).unwrap();
    for part in ["1/1", "2/3"] {
        let part: Shard = part.parse().unwrap();
        let mut reader = hashed(true);
        reader.select_shard(part).unwrap();
        let ends: Vec<(u64, Prefix)> = std::iter::from_fn(|| reader.next_chunk().unwrap())
            .map(|chunk| (chunk.end(), chunk.prefix().unwrap()))
            .collect();
        let rest = |(offset, prefix): (u64, Prefix), may_map| {
            let mut reader = hashed(may_map);
            reader.select_shard(part).unwrap();
            assert!(prefix.bytes >= offset && reader.resume(offset, prefix).unwrap(), "{prefix:?}");
            answers(reader, OutputForm::Jsonl)
        };
        let mut whole = open(true);
        whole.select_shard(part).unwrap();
        let whole = answers(whole, OutputForm::Jsonl);
        let mut before = whole.len();
        for end in ends {
            let left = rest(end, true);
            assert!(whole.ends_with(&left) && left.len() <= before, "{} from {end:?}", path.display());
            assert!(left == rest(end, false), "{} from {end:?}", path.display());
            before = left.len();
            let mut reader = open(true);
            reader.select_shard(part).unwrap();
            reader.skip_to(end.0).unwrap();
            assert!(left == answers(reader, OutputForm::Jsonl), "{} from {end:?}", path.display());
        }
        assert!(before == 0 || whole.is_empty(), "{}", path.display());
    }
}

#[test]
fn parts_of_every_notation_make_up_the_whole() {
    let files = |folder: &str| fs::read_dir(fixture(folder)).unwrap().map(|entry| entry.unwrap().path());
    let mut seen = 0;
    for path in files("good").chain(files("bad")).collect::<Vec<PathBuf>>() {
        let ending = path.extension().unwrap().to_str().unwrap();
        if ["answers", "md", "tsv", "gz", "zst", "bz2", "xz", "zip"].contains(&ending)
            || path.to_str().unwrap().contains("block_size")
        {
            continue;
        }
        assert_parts_make_up_the_whole(&path);
        seen += 1;
    }
    assert!(seen >= 15, "only {seen} files");
}

/// Longer than a chunk, with everything in it that makes a border hard to find.
#[test]
fn parts_of_long_and_odd_files_make_up_the_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let four = "1.3.\n3.1.\n.143\n4.2.\n";
    let short = "1.3.\n3.1.\n.143\n";
    let mut grids = String::from("# a list of grids\n\n");
    let mut random = Random(7);
    while grids.len() < 600_000 {
        match random.below(30) {
            0 => grids += &format!("{short}\n{four}\n"),
            1 => grids += &format!("# {}\n", "x".repeat(random.below(100_000))),
            2 => grids += &format!("1.3.\n3.1.\n\n{}\n", &four[10..]),
            3 => grids += &format!("{short}{}\n", "y".repeat(random.below(600))),
            4 => grids += &"\n".repeat(random.below(10)),
            _ => grids += &format!("{four}\n"),
        }
    }
    let mut lines = String::from("\u{FEFF}\n# a list\r\n");
    while lines.len() < 600_000 {
        match random.below(50) {
            0 => lines += &format!("# {}\r\n", "x".repeat(random.below(200_000))),
            1 => lines += &format!("1.{}\r\n", "2".repeat(random.below(200_000))),
            2 => lines += "\r\n",
            3 => lines += "1.3.3.1..1434.2\r\n",
            _ => lines += "1.3.3.1..1434.2.\r\n",
        }
    }
    let body = lines.replace("\r\n", "\n").replace('\u{FEFF}', "");
    for text in [
        &grids,
        grids.trim_end(),
        &lines,
        lines.trim_end(),
        &format!("id,quizzes\n{}", body.replace("\n1", "\n7,1")),
        &format!("2\n{body}"),
        &format!("# {}\n{body}", "z".repeat(300_000)),
    ] {
        fs::write(&path, text).unwrap();
        assert_parts_make_up_the_whole(&path);
    }
}

/// Every puzzle that is handed out: its line, and its cells or what is wrong with it.
fn puzzles(mut reader: Reader) -> Vec<(u64, String)> {
    let format = reader.format().clone();
    let mut grid = Grid::empty(format.order());
    let mut puzzles = Vec::new();
    while let Some(chunk) = reader.next_chunk().unwrap() {
        let block = chunk.block();
        let mut records = Records::new(&format, block.text, block.first_line);
        while let Some(record) = records.read(&mut grid) {
            let text = record.error.map_or_else(|| format!("{:?}", grid.digits()), |error| error.to_string());
            puzzles.push((record.line, text));
        }
    }
    puzzles
}

/// From one part to more parts than bytes: borders fall on every byte of what stands before the first puzzle (a byte-order
/// mark, blank lines, comments, a header), of line ends, and of the last line.
#[test]
fn parts_that_begin_at_any_byte_make_up_the_whole() {
    let bodies = [
        "1.3.3.1..1434.2.\n12\n\n# next\n1234341221434321\n",
        "2\n1.3.3.1..1434.2.\n# next\n1234341221434321\n\n",
        "id,puzzle\n7,1.3.3.1..1434.2.\n8,1.3.\n9,1234341221434321\n",
        "1.3.\n3.1.\n.143\n4.2.\n\n1.3.\n3.1.\n\n# next\n1234\n3412\n2143\n4321\n",
    ];
    let notations = [Notation::Lines, Notation::Header, Notation::Csv, Notation::Grid];
    let leads = ["", "\n", "# a\n", "\n# a\n\n"];
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("input");
    let mut wholes = 0;
    for (body, notation) in bodies.into_iter().zip(notations) {
        for case in 0..8 * leads.len() {
            let mut text = leads[case / 8].to_owned() + body;
            if case & 1 != 0 {
                text.insert(0, '\u{FEFF}');
            }
            if case & 2 != 0 {
                text = text.replace('\n', "\r\n");
            }
            if case & 4 != 0 {
                text.truncate(text.trim_end().len());
            }
            fs::write(&path, &text).unwrap();
            let map = Mapped::open(&File::open(&path).unwrap(), "input".to_owned()).unwrap().unwrap();
            let open = || Source::mapped(Arc::clone(&map)).read(&Hint::default()).unwrap();
            assert_eq!(open().format().notation(), notation);
            let whole = puzzles(open());
            assert!(whole.len() >= 2, "{text:?}");
            // A third of all numbers for each text, and those that make parts of a byte and of none.
            for of in (1 + case % 3..text.len()).step_by(3).chain(text.len()..=text.len() + 3) {
                let part = |number: usize, mut reader: Reader| {
                    reader.select_shard(format!("{number}/{of}").parse().unwrap()).unwrap();
                    puzzles(reader)
                };
                let parts: Vec<_> = (1..=of).flat_map(|number| part(number, open())).collect();
                assert_eq!(parts, whole, "{text:?} in {of} parts");
                // Without a map, the part in the middle stands for the others.
                let number = of.div_ceil(2);
                let unmapped = Source::open(&path, false).unwrap().read(&Hint::default()).unwrap();
                assert_eq!(part(number, unmapped), part(number, open()), "{text:?}, {number}/{of}");
            }
            wholes += 1;
        }
    }
    assert_eq!(wholes, 128);
}

#[test]
fn a_part_of_a_stream_is_an_error() {
    let source =
        Source::reading("a stream".to_owned(), Box::new(Cursor::new(list(10).into_bytes()))).unwrap();
    let mut reader = source.read(&Hint::default()).unwrap();
    let error = reader.select_shard("1/2".parse().unwrap()).unwrap_err();
    assert!(error.to_string().starts_with("a stream cannot be cut into parts"), "{error}");
}

/// The program does with parts what the library does, and a bad line anywhere ends every strict part.
#[test]
fn parts_are_solved_by_themselves() {
    let bench = Bench::new(3_000);
    let input = bench.path("in.txt");
    for form in ["solution", "csv", "grid"] {
        let whole = run(&["solve", &input, "--format", form]);
        let mut parts = Vec::new();
        let mut answered = 0;
        for part in ["1/3", "2/3", "3/3"] {
            let out = bench.path("part.txt");
            let output = run(&["solve", &input, "--format", form, "--shard", part, "-o", &out]);
            succeeded(&output);
            let said = stderr(&output);
            answered += said.split(' ').next().unwrap().replace(',', "").parse::<usize>().unwrap();
            parts.extend(fs::read(out).unwrap());
        }
        assert!(parts == whole.stdout, "{form}");
        assert_eq!(answered, 3_000);
    }
    for part in ["1/3", "3/3"] {
        let strict = run(&["solve", &input, "--shard", part, "--strict"]);
        assert_eq!(strict.status.code(), Some(2));
        assert_eq!(stderr(&strict), "Line 97 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.\n");
        assert!(strict.stdout.is_empty());
    }
    // More parts than puzzles: some have none, which is no error.
    let few = bench.write("few.txt", b"1234341221434321\n1234341221434321\n");
    let mut answers = String::new();
    for part in 1..=5 {
        let output = run(&["count", &few, "--shard", &format!("{part}/5")]);
        succeeded(&output);
        answers += &stdout(&output);
    }
    assert_eq!(answers, "1\n1\n");
}

/// What is reached by opening and is no regular file is written straight through: descriptors have
/// names like files, but a pipe or a socket is at the other end.
#[test]
fn outputs_may_be_descriptors_of_any_kind() {
    let folder = Folder::new();
    let input = folder.write("in.txt", list(20));
    let commands: &[&[&str]] = &[
        &["solve", &input],
        &["count", &input],
        &["validate", &input],
        &["check", &input],
        &["show", &input, "--index", "1"],
        &["hint", &input, "--index", "1"],
        &["rate", &input],
        &["steps", &input, "--index", "1"],
        &["solutions", &input],
        &["canon", &input],
        &["dedup", &input],
        &["disguise", &input, "--seed", "1"],
        &["minimize", &input],
        &["generate", "--count", "3", "--seed", "1"],
    ];
    for command in commands {
        let wanted = stdout(&run(command));
        assert!(!wanted.is_empty(), "{command:?}");
        for name in ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/dev/fd/9", "/proc/self/fd/9"] {
            // The descriptor is that of a pipe to `cat`; standard output is elsewhere, unless named.
            let redirected = if name.ends_with('9') { "9>&1 >/dev/null" } else { "" };
            let script = format!("{{ \"$@\" -o {name} {redirected}; }} | cat");
            let mut shell = Command::new("sh");
            let output = shell.args(["-c", &script, "sh", SUDOKU]).args(*command).output().unwrap();
            assert_eq!(stdout(&output), wanted, "{command:?} to {name}: {}", stderr(&output));
        }
    }
    assert_eq!(folder.names(), ["in.txt"]);
}

#[test]
fn standard_output_by_its_path_is_appended_to_and_may_be_a_socket() {
    let folder = Folder::new();
    let (input, out) = (folder.write("in.txt", list(20)), folder.write("out.txt", "before\n"));
    let wanted = stdout(&run(&["solve", &input]));
    let append = || File::options().append(true).open(&out).unwrap();
    succeeded(&sudoku(&["solve", &input, "-o", "/dev/stdout"]).stdout(append()).output().unwrap());
    assert_eq!(folder.read("out.txt"), format!("before\n{wanted}"));

    let (ours, theirs) = std::os::unix::net::UnixStream::pair().unwrap();
    let mut solve = sudoku(&["solve", &input, "-o", "/dev/stdout"]);
    let mut child = solve.stdout(std::os::fd::OwnedFd::from(theirs)).spawn().unwrap();
    // The command keeps the other end open.
    drop(solve);
    assert_eq!(std::io::read_to_string(ours).unwrap(), wanted);
    assert!(child.wait().unwrap().success());

    let resumed = run(&["solve", &input, "-o", "/dev/stdout", "--resume"]);
    assert_eq!(resumed.status.code(), Some(2), "{}", stderr(&resumed));
    assert_eq!(folder.names(), ["in.txt", "out.txt"]);
}
