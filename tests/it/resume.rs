//! `--resume` of the commands that go through the rows of a file, such as `sudoku rate`: runs that
//! are stopped and resumed.

use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Child, Command, Output};

use crate::harness::{
    Folder, eventually, forge_version, list, shorten, signal, stderr, stdout, succeeded, sudoku, with_room,
};

const PARTIAL: &str = ".out.txt.sudoku-partial";
const JOURNAL: &str = ".out.txt.sudoku-journal";

/// Puzzles whose ratings take a second or more on one thread.
const PUZZLES: usize = 1_200;

/// Puzzles whose ratings take a minute or more on one thread, for runs that are interrupted or killed.
const TOO_MANY: usize = 100_000;

/// Rows of the puzzle below whose checks take as long.
const LONG_CHECKS: usize = 30_000;

/// A puzzle of 16x16 with one solution, which takes half a millisecond or more to search.
const LONG_SEARCH: &str = "\
.4..8......C1....F.G..6A..13......7..1F..D...E4.E....5.....6G.2D\
..G8..A.C.....9...9...7D.F......4.A......5.....B....4.8..A.2F.5E\
63.4........9..557.E.31.A6.B....C.B..926..G5.8....1.......4.B.E.\
...3.....2..CD.FFDC.6.4........9.94.F.5G..DE6.A816...A3..B...2..";

/// Runs over a list in a folder that are stopped and resumed, all of the same command.
struct ResumedRuns {
    folder: Folder,
    /// The name of the command.
    name: &'static str,
    /// The room for runs that stop on the way, in blocks of 512 bytes.
    blocks: u64,
}

impl ResumedRuns {
    fn new() -> Self {
        Self::by("rate", PUZZLES, 20)
    }

    fn by(name: &'static str, puzzles: usize, blocks: u64) -> Self {
        let runs = Self { folder: Folder::new(), name, blocks };
        runs.folder.write("in.txt", list(puzzles));
        runs
    }

    /// `NAME FILE -o OUT` with more arguments.
    fn command(&self, file: &str, out: &str, more: &[&str]) -> Command {
        let (input, out) = (self.folder.path(file), self.folder.path(out));
        sudoku(&[&[self.name, &input, "-o", &out][..], more].concat())
    }

    fn resume(&self, file: &str, more: &[&str]) -> Output {
        self.command(file, "out.txt", &[&["--resume"], more].concat()).output().unwrap()
    }

    /// Starts a run and waits until it has recorded a part of its work. It must have work for long, so
    /// that it still runs then, however late the test sees that.
    fn start(&self, file: &str, more: &[&str]) -> Child {
        let mut child = self.command(file, "out.txt", more).spawn().unwrap();
        eventually("a journal", || {
            assert_eq!(child.try_wait().unwrap(), None, "the run ended before it had a journal");
            self.folder.exists(JOURNAL)
        });
        child
    }

    /// The same, interrupted by SIGTERM. Returns what that prints behind its first words.
    fn interrupted(&self, file: &str, more: &[&str]) -> String {
        let child = self.start(file, more);
        signal(&child, "-TERM");
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(143), "{}", stderr(&output));
        let said = stderr(&output);
        said.strip_prefix("Interrupted. Stopped after ").unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    /// A run that stops where there is no more room for it. Returns what that prints behind its first
    /// words.
    fn stopped(&self, file: &str, more: &[&str]) -> String {
        let command = self.command(file, "out.txt", &[&["--resume"], more].concat());
        let output = with_room(&command, self.blocks).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
        let said = stderr(&output);
        said.strip_prefix("Stopped after ").unwrap_or_else(|| panic!("{said}")).to_owned()
    }

    /// Shortens the input of a stopped run. Returns its lines.
    fn shorten(&self, file: &str, end: &str) -> usize {
        shorten(&self.folder.path(file), &self.folder.path(JOURNAL), end)
    }

    /// What an interrupted run ends with that can be resumed.
    fn goes_on(&self, done: &str) -> String {
        format!(" {done}; {} was not written, but --resume goes on from here.\n", self.folder.path("out.txt"))
    }

    /// What a run without room ends with that can be resumed.
    fn goes_on_with_room(&self, done: &str) -> String {
        let end = self.goes_on(done);
        let out = self.folder.path("out.txt");
        end.replace("from here.", &format!("from here: {out}: File too large (os error 27)"))
    }

    /// Checks that a run is complete. Of the lists here some grids are always wrong.
    fn assert_complete(&self, output: &Output, more: &[&str]) {
        let code = i32::from(self.name == "check" && !more.contains(&"--only-right"));
        assert_eq!(output.status.code(), Some(code), "{}", stderr(output));
    }

    /// What a run writes that nothing stops, and what it prints.
    fn unbroken(&self, file: &str, more: &[&str]) -> (Vec<u8>, Output) {
        let output = self.command(file, "whole.txt", more).output().unwrap();
        self.assert_complete(&output, more);
        let whole = fs::read(self.folder.path("whole.txt")).unwrap();
        fs::remove_file(self.folder.path("whole.txt")).unwrap();
        (whole, output)
    }

    /// Checks that a run which is stopped and resumed writes and prints what an unbroken one does.
    /// Returns what that prints. It goes on after a number of `unit`, and is stopped after one of
    /// `done`.
    fn assert_resumed(&self, file: &str, more: &[&str], unit: &str, done: &str) -> String {
        self.assert_resumed_after(file, more, unit, || {
            let said = self.stopped(file, &[more, &["--threads", "1"]].concat());
            assert!(said.ends_with(&self.goes_on_with_room(done)), "{said}");
        })
    }

    /// The same for checks that write next to nothing, which are interrupted: they need a table that
    /// keeps them for long, which is shortened then, to one that ends with `end`.
    fn assert_resumed_silently(&self, table: &str, more: &[&str], end: &str) -> String {
        let mut lines = 0;
        let said = self.assert_resumed_after(table, more, "rows", || {
            let said = self.interrupted(table, &[more, &["--threads", "1", "--resume"]].concat());
            assert!(said.ends_with(&self.goes_on("rows")), "{said}");
            lines = self.shorten(table, end);
        });
        let rows = lines - 1;
        assert!(said.replace(',', "").contains(&format!("{rows} rows in ")), "{rows} rows: {said}");
        said
    }

    fn assert_resumed_after(&self, file: &str, more: &[&str], unit: &str, stop: impl FnOnce()) -> String {
        stop();
        let (whole, complete) = self.unbroken(file, more);
        let resumed = self.resume(file, more);
        self.assert_complete(&resumed, more);
        let said = stderr(&resumed);
        let (place, rest) = said.split_once('\n').unwrap();
        assert!(place.starts_with("Going on after ") && place.ends_with(&format!(" {unit}.")), "{said}");
        assert_eq!(without_times(rest), without_times(&stderr(&complete)), "{file} {more:?}");
        self.assert_out_is(&whole, &format!("{file} {more:?}"));
        stderr(&complete)
    }

    /// Stops a run with the arguments `begun`, and checks that none with other arguments resumes it.
    /// These stand before what was given then, and what is given now.
    fn assert_refused(&self, file: &str, begun: &[&str], others: &[(&[&str], &str, &str)]) {
        self.stopped(file, &[begun, &["--threads", "1"]].concat());
        for (more, then, now) in others {
            let refused = self.resume(file, more);
            assert_eq!(refused.status.code(), Some(2), "{more:?}");
            let sentence = format!("was begun with {then}, and now it is {now}. Repeat");
            assert!(stderr(&refused).contains(&sentence), "{more:?}: {}", stderr(&refused));
        }
        assert_eq!(self.folder.names(), [JOURNAL, PARTIAL, file]);
    }

    /// Checks that the output is complete, and takes it away.
    fn assert_out_is(&self, whole: &[u8], what: &str) {
        let out = fs::read(self.folder.path("out.txt")).unwrap();
        assert!(out == whole, "{what}: {} bytes instead of {}", out.len(), whole.len());
        assert!(!self.folder.exists(PARTIAL) && !self.folder.exists(JOURNAL), "{:?}", self.folder.names());
        fs::remove_file(self.folder.path("out.txt")).unwrap();
    }
}

/// The table of a run, without the line about its time.
fn table(output: &Output) -> String {
    let said = stderr(output);
    let begin = said.find("rating ").unwrap_or_else(|| panic!("{said}"));
    let end = said.find(" puzzles in ").unwrap_or_else(|| panic!("{said}"));
    said[begin..end].to_owned()
}

/// What a run prints, without times and speeds.
fn without_times(said: &str) -> String {
    let without = |line: &str| match line.rsplit_once(" in ") {
        Some((before, time)) => {
            let behind = time.split_once(" a second").or_else(|| time.split_once(" s"));
            format!("{before}{}\n", behind.map_or("", |(_, behind)| behind))
        }
        None => format!("{line}\n"),
    };
    said.lines().map(without).collect()
}

#[test]
fn a_stopped_rating_is_resumed_to_the_same_bytes_and_counts() {
    let ratings = ResumedRuns::new();
    let text = fs::read(ratings.folder.path("in.txt")).unwrap();
    ratings.folder.write("in.zst", zstd::encode_all(&text[..], 1).unwrap());
    for (file, threads, more) in [
        ("in.txt", "1", &[][..]),
        ("in.zst", "2", &["--format", "csv", "--durable"]),
        ("in.txt", "1", &["--format", "jsonl", "--no-mmap", "--up-to", "8.0", "--no-uniqueness"]),
    ] {
        let (whole, complete) = ratings.unbroken(file, more);
        let said = ratings.stopped(file, &[more, &["--threads", threads]].concat());
        assert!(said.ends_with(&ratings.goes_on_with_room("puzzles rated")), "{said}");
        // The number of threads may change, and what is behind the recorded part is written again.
        let mut partial = File::options().append(true).open(ratings.folder.path(PARTIAL)).unwrap();
        partial.write_all(b"half a rat").unwrap();
        drop(partial);
        let resumed = ratings.resume(file, more);
        succeeded(&resumed);
        assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
        assert_eq!(table(&resumed), table(&complete), "{file} {more:?}");
        assert!(table(&complete).contains("error wrong_length"), "{}", table(&complete));
        ratings.assert_out_is(&whole, &format!("{file} {more:?}"));
    }
}

#[test]
fn a_rating_that_is_killed_is_resumed_to_the_same_bytes() {
    let ratings = ResumedRuns::by("rate", TOO_MANY, 0);
    let more = ["--format", "csv", "--threads", "1"];
    // The first without --resume: what a killed run leaves can be resumed in any case.
    let mut child = ratings.start("in.txt", &more);
    child.kill().unwrap();
    child.wait().unwrap();
    // Another without it begins anew, and says so.
    let said = ratings.folder.path("said.txt");
    let mut anew = ratings.command("in.txt", "out.txt", &more);
    child = anew.stderr(File::create(&said).unwrap()).spawn().unwrap();
    eventually("a word about the first run", || {
        let said = fs::read_to_string(&said).unwrap();
        said.starts_with("Beginning anew: ") && said.contains("With --resume, a run goes on after them.\n")
    });
    eventually("its journal", || fs::metadata(ratings.folder.path(JOURNAL)).is_ok());
    for _ in 0..3 {
        let journal = fs::read(ratings.folder.path(JOURNAL)).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let mut next = ratings.command("in.txt", "out.txt", &[&["--resume"][..], &more].concat());
        child = next.spawn().unwrap();
        eventually("another journal", || {
            assert_eq!(child.try_wait().unwrap(), None, "the run ended before it had a journal");
            fs::read(ratings.folder.path(JOURNAL)).is_ok_and(|now| now != journal)
        });
    }
    child.kill().unwrap();
    child.wait().unwrap();
    ratings.shorten("in.txt", "");
    let (whole, complete) = ratings.unbroken("in.txt", &more);
    let resumed = ratings.resume("in.txt", &more);
    succeeded(&resumed);
    assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
    assert_eq!(table(&resumed), table(&complete));
    ratings.assert_out_is(&whole, "killed");
}

#[test]
fn only_the_same_rating_is_resumed() {
    let ratings = ResumedRuns::new();
    ratings.stopped("in.txt", &["--threads", "1"]);
    let out = ratings.folder.path("out.txt");
    let left = [PARTIAL, JOURNAL].map(|name| fs::read(ratings.folder.path(name)).unwrap());
    for (more, then, now) in [
        (&["--format", "csv"][..], "--format text", "--format csv"),
        (&["--only", "singles"], "no --only", "--only last-cell,hidden-single,naked-single"),
        (&["--no-uniqueness"], "no --no-uniqueness", "--no-uniqueness"),
        (&["--up-to", "7.0"], "no --up-to", "--up-to 7.0"),
        (&["--effort", "7"], "--effort 5000000000", "--effort 7"),
        (&["--size", "9"], "no --size", "--size 9"),
    ] {
        let refused = ratings.resume("in.txt", more);
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        let sentence = format!(
            "{out} was begun with {then}, and now it is {now}. Repeat the command as it was, or leave out --resume to begin anew.\n"
        );
        assert_eq!(stderr(&refused), sentence);
    }
    let solve = sudoku(&["solve", &ratings.folder.path("in.txt"), "-o", &out, "--resume"]).output().unwrap();
    let sentence = "out.txt was begun with sudoku rate, and now it is sudoku solve. Repeat";
    assert!(stderr(&solve).contains(sentence), "{}", stderr(&solve));
    ratings.folder.write("other.txt", list(3));
    let other = ratings.resume("other.txt", &[]);
    assert!(stderr(&other).contains("was begun with the input "), "{}", stderr(&other));
    let kept = [PARTIAL, JOURNAL].map(|name| fs::read(ratings.folder.path(name)).unwrap());
    assert!(kept == left, "what was left has changed");

    // Another input: one that is longer, and one that looks alike.
    let (input, journal) = (ratings.folder.path("in.txt"), ratings.folder.path(JOURNAL));
    let text = fs::read(&input).unwrap();
    let mut other = text.clone();
    let digit = other.iter().position(|cell| (b'1'..=b'8').contains(cell)).unwrap();
    other[digit] += 1;
    let sentence = format!(
        "{} was changed after {out} was begun. Leave out --resume to begin anew.\n",
        fs::canonicalize(&input).unwrap().display()
    );
    fs::write(&input, [&text[..], b"12\n"].concat()).unwrap();
    let refused = ratings.resume("in.txt", &[]);
    assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), sentence.clone()));
    fs::write(&input, &other).unwrap();
    forge_version(&input, &journal);
    let refused = ratings.resume("in.txt", &[]);
    assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), sentence));
    // What was recorded is still there for the input as it was.
    fs::write(&input, &text).unwrap();
    forge_version(&input, &journal);
    let resumed = ratings.resume("in.txt", &[]);
    succeeded(&resumed);
    assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
}

#[test]
fn counts_of_another_program_are_not_resumed() {
    let ratings = ResumedRuns::new();
    let more = ["--format", "csv"];
    let (whole, complete) = ratings.unbroken("in.txt", &more);
    ratings.stopped("in.txt", &[&more[..], &["--threads", "1"]].concat());
    let journal = ratings.folder.read(JOURNAL);
    let unknown = journal.replace(r#""counts":{"#, r#""counts":{"hardest of-another-program":1,"#);
    assert_ne!(unknown, journal);
    ratings.folder.write(JOURNAL, unknown);
    let anew = ratings.resume("in.txt", &more);
    succeeded(&anew);
    assert!(stderr(&anew).starts_with("rating "), "{}", stderr(&anew));
    assert_eq!(table(&anew), table(&complete));
    ratings.assert_out_is(&whole, "begun anew");
}

#[test]
fn a_stopped_rating_without_resume_leaves_nothing() {
    let ratings = ResumedRuns::by("rate", TOO_MANY, 0);
    let said = ratings.interrupted("in.txt", &["--threads", "1"]);
    assert!(said.ends_with("out.txt was not written.\n"), "{said}");
    assert_eq!(ratings.folder.names(), ["in.txt"]);
}

#[test]
fn a_rating_that_cannot_be_resumed_is_refused() {
    let folder = Folder::new();
    let puzzles = list(3);
    let (input, out) = (folder.write("in.txt", &puzzles), folder.path("out.txt"));
    let (array, puzzle) = (folder.path("out.parquet"), puzzles.lines().next().unwrap());
    for (args, sentence) in [
        (&["rate", &input, "-o", "-", "--resume"][..], "--resume needs a file to go on with."),
        (
            &["rate", "-", "-o", &out, "--resume"],
            "--resume needs an input that can be read again. Write standard input to a file first.\n",
        ),
        (
            &["rate", puzzle, "-o", &out, "--resume"],
            "--resume needs an input that can be read again. Write the puzzle to a file first.\n",
        ),
        (&["rate", &input, &input, "-o", &out, "--resume"], "--resume continues a run over one file"),
        (&["rate", &input, "-o", "/dev/null", "--resume"], "/dev/null is no regular file"),
        (&["rate", &input, "-o", &array, "--resume"], "--resume is for text."),
        (&["rate", &input, "-o", &out, "-f", "parquet", "--resume"], "--resume is for text."),
        (&["rate", &input, "-o", &out, "--summary", "--resume"], "'--summary' cannot be used with"),
        (&["rate", &input, "--resume"], "--output <FILE>"),
        (&["rate", &input, "-o", &input, "--resume"], "is the input itself."),
    ] {
        let refused = sudoku(args).output().unwrap();
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(stderr(&refused).contains(sentence), "{args:?}: {}", stderr(&refused));
    }
    assert_eq!(folder.names(), ["in.txt"]);
    // With nothing to resume the run begins at the start, with a single puzzle too.
    for content in [puzzles.as_str(), puzzle] {
        folder.write("in.txt", content);
        let plain = sudoku(&["rate", &input, "-q"]).output().unwrap();
        succeeded(&plain);
        succeeded(&sudoku(&["rate", &input, "-q", "-o", &out, "--resume"]).output().unwrap());
        assert_eq!(folder.read("out.txt"), stdout(&plain));
    }
}

#[test]
fn canonical_forms_are_resumed_to_the_same_bytes_and_counts() {
    let forms = ResumedRuns::by("canon", 8_000, 400);
    for (threads, more) in
        [("1", &["--by", "puzzle"][..]), ("2", &["--by", "puzzle", "--format", "csv", "--disguise"])]
    {
        let (whole, complete) = forms.unbroken("in.txt", more);
        let said = forms.stopped("in.txt", &[more, &["--threads", threads]].concat());
        assert!(said.ends_with(&forms.goes_on_with_room("puzzles answered")), "{said}");
        let resumed = forms.resume("in.txt", more);
        succeeded(&resumed);
        assert!(stderr(&resumed).starts_with("Going on after "), "{}", stderr(&resumed));
        let counts = |output: &Output| {
            let said = stderr(output);
            said.split_once(" a second: ").unwrap_or_else(|| panic!("{said}")).1.to_owned()
        };
        assert_eq!(counts(&resumed), counts(&complete));
        assert!(counts(&complete).contains("error line"), "{}", counts(&complete));
        forms.assert_out_is(&whole, &more.join(" "));
    }

    forms.stopped("in.txt", &["--by", "puzzle", "--threads", "1"]);
    for (more, then, now) in [
        (&["--by", "solution"][..], "--by puzzle", "--by solution"),
        (&["--by", "puzzle", "--disguise"], "no --disguise", "--disguise"),
        (&["--by", "puzzle", "-f", "jsonl"], "--format text", "--format jsonl"),
    ] {
        let refused = forms.resume("in.txt", more);
        assert_eq!(refused.status.code(), Some(2), "{more:?}");
        let sentence = format!("was begun with {then}, and now it is {now}. Repeat");
        assert!(stderr(&refused).contains(&sentence), "{}", stderr(&refused));
    }
    let parquet = forms.resume("in.txt", &["-f", "parquet"]);
    assert!(stderr(&parquet).contains("--resume is for text."), "{}", stderr(&parquet));
}

#[test]
fn checks_are_resumed_to_the_same_bytes_and_counts() {
    let checks = ResumedRuns::by("check", 200_000, 2_000);
    for (more, listed) in [
        (&["-n", "100000"][..], Some("100000 of ")),
        (&["--only-failures"], None),
        (&["--only-right"], None),
        (&["--format", "csv", "--unique"], None),
    ] {
        let said = checks.assert_resumed("in.txt", more, "grids", "grids");
        assert_eq!(said.contains(" are listed"), listed.is_some(), "{more:?}: {said}");
        assert!(said.starts_with(listed.unwrap_or_default()), "{more:?}: {said}");
        assert!(said.contains("200,000 grids in "), "{said}");
    }
    checks.assert_refused(
        "in.txt",
        &["--only-failures"],
        &[
            (&["--only-failures", "--format", "csv"], "--format text", "--format csv"),
            (&["--only-failures", "--unique"], "no --unique", "--unique"),
            (&["-n", "10"], "--only-failures", "no --only-failures"),
            (&["--only-failures", "--node-limit", "7"], "--node-limit 1000000", "--node-limit 7"),
            (&["--only-failures", "--size", "9"], "no --size", "--size 9"),
        ],
    );
    for left in [PARTIAL, JOURNAL] {
        fs::remove_file(checks.folder.path(left)).unwrap();
    }
    checks.assert_refused("in.txt", &["-n", "100000"], &[(&["-n", "11"], "--limit 100000", "--limit 11")]);
}

/// A heading, and a row that is right and takes long.
fn long_check() -> (String, String) {
    let solved = stdout(&sudoku(&["solve", LONG_SEARCH, "-q", "--format", "csv"]).output().unwrap());
    let (heading, row) = solved.split_once('\n').unwrap();
    (format!("{heading}\n"), row.to_owned())
}

/// Nothing is written before the run is stopped, so that the record is about no bytes of the output.
#[test]
fn a_check_is_resumed_that_has_found_nothing_wrong() {
    let checks = ResumedRuns::by("check", 1, 0);
    let (heading, row) = long_check();
    let table = [heading, row.repeat(LONG_CHECKS)].concat();
    for more in [&["--unique", "--only-failures"][..], &["--unique"]] {
        checks.folder.write("in.csv", &table);
        checks.assert_resumed_silently("in.csv", more, "12,\n");
    }
}

/// All rows that may be listed are before the run is stopped.
#[test]
fn a_check_is_resumed_that_lists_no_more() {
    let checks = ResumedRuns::by("check", 1, 0);
    let (heading, row) = long_check();
    checks.folder.write("in.csv", [&*heading, &row, &"12,\n".repeat(12), &row.repeat(LONG_CHECKS)].concat());
    let said = checks.assert_resumed_silently("in.csv", &["--unique"], "12,\n");
    assert!(said.contains("10 of 13 are listed"), "{said}");
}

#[test]
fn minimized_puzzles_are_resumed_to_the_same_bytes_and_counts() {
    let minimized = ResumedRuns::by("minimize", 5_000, 300);
    for more in [&[][..], &["--seed", "7"]] {
        let said = minimized.assert_resumed("in.txt", more, "puzzles", "puzzles");
        assert!(said.starts_with("5,000 puzzles in ") && said.contains(" clues dropped, "), "{said}");
        assert!(said.contains("51 rows were copied as they stand (51 wrong_length)."), "{said}");
    }
    // The heading of a table is written once.
    let rows: Vec<String> = list(5_000).lines().map(|line| format!("{line},x\n")).collect();
    minimized.folder.write("in.csv", ["puzzle,name\n", &rows.concat()].concat());
    minimized.assert_resumed("in.csv", &["--seed", "7"], "rows", "rows");
    fs::remove_file(minimized.folder.path("in.csv")).unwrap();
    minimized.assert_refused(
        "in.txt",
        &["--seed", "7"],
        &[(&[], "--seed 7", "no --seed"), (&["--seed", "8"], "--seed 7", "--seed 8")],
    );
}

#[test]
fn solutions_are_resumed_to_the_same_bytes_and_counts() {
    // Puzzles with one clue, whose solutions are more than are written at once.
    let puzzle = |k: usize| {
        let (before, behind) = (".".repeat(k % 81), ".".repeat(80 - k % 81));
        if k % 97 == 96 { "12\n".to_owned() } else { format!("{before}1{behind}\n") }
    };
    let solutions = ResumedRuns::by("solutions", 1, 24_000);
    solutions.folder.write("in.txt", (0..300).map(puzzle).collect::<String>());
    for more in [&["-n", "1000"][..], &["-n", "1000", "--format", "csv"]] {
        let said = solutions.assert_resumed("in.txt", more, "puzzles", "solutions");
        assert!(said.starts_with("300 puzzles in "), "{said}");
        assert!(
            said.ends_with(": 297,000 solutions, 297 puzzles cut off at --limit 1000, 3 error lines.\n"),
            "{said}"
        );
    }
    solutions.assert_refused(
        "in.txt",
        &["-n", "1000"],
        &[
            (&[], "--limit 1000", "--limit 10"),
            (&["-n", "1000", "--format", "tsv"], "--format text", "--format tsv"),
            (&["-n", "1000", "--node-limit", "7"], "--node-limit 1000000", "--node-limit 7"),
        ],
    );
}

#[test]
fn disguises_are_resumed_to_the_same_bytes_and_counts() {
    let disguises = ResumedRuns::by("disguise", 20_000, 20_000);
    let more = ["--times", "20", "--seed", "7", "--with-original"];
    let said = disguises.assert_resumed("in.txt", &more, "puzzles", "puzzles");
    assert!(said.contains(" puzzles in disguise: ") && said.contains("206 rows were copied"), "{said}");
    // What a table has are rows.
    let rows: Vec<String> = list(20_000).lines().map(|line| format!("{line},x\n")).collect();
    disguises.folder.write("in.csv", ["puzzle,name\n", &rows.concat()].concat());
    disguises.assert_resumed("in.csv", &more, "rows", "rows");
    fs::remove_file(disguises.folder.path("in.csv")).unwrap();

    // A random seed is that of the run which is resumed.
    disguises.stopped("in.txt", &["--times", "20", "--threads", "1"]);
    let resumed = disguises.resume("in.txt", &["--times", "20"]);
    succeeded(&resumed);
    let said = stderr(&resumed);
    let seed = said.split_once("The seed was ").unwrap_or_else(|| panic!("{said}")).1;
    let seed = seed.split_once('.').unwrap().0;
    let (whole, _) = disguises.unbroken("in.txt", &["--times", "20", "--seed", seed]);
    disguises.assert_out_is(&whole, "a random seed");

    disguises.assert_refused(
        "in.txt",
        &["--times", "20"],
        &[
            (&["--times", "21"], "--times 20", "--times 21"),
            (&["--times", "20", "--seed", "7"], "no --seed", "--seed 7"),
            (&["--times", "20", "--with-original"], "no --with-original", "--with-original"),
        ],
    );
}

/// Each over a list that would keep it for long.
#[test]
fn every_command_tells_at_an_interrupt_how_to_go_on() {
    let list = list(TOO_MANY);
    let hard = format!("{}\n", ".".repeat(81)).repeat(1_000);
    for (name, text, done, more) in [
        ("rate", &list, "puzzles rated", &[][..]),
        ("canon", &list, "puzzles answered", &["--by", "puzzle"]),
        ("minimize", &list, "puzzles", &[]),
        ("disguise", &list, "puzzles", &["--times", "200"]),
        ("solutions", &hard, "solutions", &["-n", "100000"]),
    ] {
        let runs = ResumedRuns::by(name, 1, 0);
        runs.folder.write("in.txt", text);
        let said = runs.interrupted("in.txt", &[&["--threads", "1", "--resume"], more].concat());
        assert!(said.ends_with(&runs.goes_on(done)), "{name}: {said}");
        assert_eq!(runs.folder.names(), [JOURNAL, PARTIAL, "in.txt"], "{name}");
    }
}

#[test]
fn no_command_resumes_what_it_cannot() {
    let folder = Folder::new();
    let puzzles = list(3);
    let (input, out) = (folder.write("in.txt", &puzzles), folder.path("out.txt"));
    let (array, puzzle) = (folder.path("out.parquet"), puzzles.lines().next().unwrap());
    let (input, out, array) = (&*input, &*out, &*array);
    for command in ["check", "solutions", "minimize", "disguise"] {
        let has_forms = ["check", "solutions"].contains(&command);
        let not_text = if has_forms { "--resume is for text." } else { "out.parquet would be text." };
        for (args, sentence) in [
            (&[input, "-o", "-"][..], "--resume needs a file to go on with."),
            (
                &["-", "-o", out],
                "--resume needs an input that can be read again. Write standard input to a file first.\n",
            ),
            (
                &[puzzle, "-o", out],
                "--resume needs an input that can be read again. Write the puzzle to a file first.\n",
            ),
            (&[input, input, "-o", out], "--resume continues a run over one file"),
            (&[input, "-o", "/dev/null"], "/dev/null is no regular file"),
            (&[input, "-o", array], not_text),
            (&[input], "--output <FILE>"),
            (&[input, "-o", input], "is the input itself."),
        ] {
            let refused = sudoku(&[&[command, "--resume"][..], args].concat()).output().unwrap();
            assert_eq!(refused.status.code(), Some(2), "{command} {args:?}");
            assert!(stderr(&refused).contains(sentence), "{command} {args:?}: {}", stderr(&refused));
        }
        assert_eq!(folder.names(), ["in.txt"]);
        // With nothing to resume the run begins at the start; a single grid is described as ever.
        for content in [puzzles.as_str(), puzzle] {
            folder.write("in.txt", content);
            let seed: &[&str] = if command == "disguise" { &["--seed", "7"] } else { &[] };
            let plain = sudoku(&[&[command, input, "-q"][..], seed].concat()).output().unwrap();
            let args = [&[command, input, "-q", "-o", out, "--resume"][..], seed].concat();
            let resumed = sudoku(&args).output().unwrap();
            assert_eq!(resumed.status.code(), plain.status.code(), "{command}: {}", stderr(&resumed));
            assert_eq!(folder.read("out.txt"), stdout(&plain), "{command}");
        }
        fs::remove_file(out).unwrap();
        folder.write("in.txt", &puzzles);
    }
}
