//! Shards put together: what `sudoku join` takes, and everything that it refuses.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use crate::harness::{Folder, lines, list, stderr, stdout, succeeded, sudoku, unique_puzzles, with_room};

/// A folder with a list of puzzles, `in.txt`, and the shards of that.
struct Shards(Folder);

impl Shards {
    fn new(lines: usize) -> Self {
        let folder = Folder::new();
        folder.write("in.txt", list(lines));
        Self(folder)
    }

    fn run(&self, args: &[&str]) -> Output {
        sudoku(args).current_dir(self.0.root()).output().unwrap()
    }

    /// Solves a shard of a file into `part.K`.
    fn solve(&self, file: &str, shard: &str, more: &[&str]) {
        succeeded(&self.answer("solve", file, shard, more));
    }

    /// Runs a command over a shard of a file, into `part.K`.
    fn answer(&self, command: &str, file: &str, shard: &str, more: &[&str]) -> Output {
        let out = format!("part.{}", shard.split('/').next().unwrap());
        let args = [command, file, "--shard", shard, "-o", &out, "--manifest", "-q"];
        self.run(&[&args[..], more].concat())
    }

    fn solve_all(&self, file: &str, of: usize, more: &[&str]) {
        for number in 1..=of {
            self.solve(file, &format!("{number}/{of}"), more);
        }
    }

    /// Joins these parts into `out.txt`.
    fn join(&self, parts: &[usize], more: &[&str]) -> Output {
        let names: Vec<String> = parts.iter().map(|part| format!("part.{part}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.run(&[&["join", "-o", "out.txt"], &names[..], more].concat())
    }

    /// These sentences are all that is said, and there is no output.
    #[track_caller]
    fn assert_refused(&self, parts: &[usize], more: &[&str], sentences: &[&str]) {
        let output = self.join(parts, more);
        let listed: String = sentences.iter().map(|sentence| format!("  {sentence}\n")).collect();
        assert_eq!(stderr(&output), format!("The shards cannot be joined:\n{listed}"));
        assert_eq!(output.status.code(), Some(2));
        let left: Vec<String> = self.0.names().into_iter().filter(|name| name.contains("out.txt")).collect();
        assert_eq!(left, [""; 0]);
    }

    /// The input, as manifests name it.
    fn input(&self, name: &str) -> String {
        fs::canonicalize(self.0.path(name)).unwrap().to_str().unwrap().to_owned()
    }
}

#[test]
fn joined_shards_are_the_answers_to_the_whole() {
    let shards = Shards::new(5_000);
    shards.solve_all("in.txt", 8, &[]);
    let whole = shards.run(&["solve", "in.txt"]);
    // In any order.
    let joined = shards.join(&[3, 1, 8, 2, 4, 7, 6, 5], &["--input", "in.txt"]);
    succeeded(&joined);
    assert!(shards.0.read("out.txt") == stdout(&whole));
    let said = stderr(&joined);
    assert!(said.starts_with("8 shards with 5,000 puzzles joined in "), "{said}");
    assert!(said.ends_with(" s: 4,949 answered, 51 error lines (51 wrong_length).\n"), "{said}");
    // To standard output, without a word.
    let names: Vec<String> = (1..=8).map(|part| format!("part.{part}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let joined = shards.run(&[&["join", "-q"], &names[..]].concat());
    assert!(joined.stdout == whole.stdout && joined.stderr.is_empty(), "{}", stderr(&joined));
}

#[test]
fn every_form_and_notation_is_joined() {
    let shards = Shards::new(300);
    let table: String = list(300).lines().map(|line| format!("a name,{line}\n")).collect();
    shards.0.write("table.csv", format!("name,puzzle\n{table}"));
    let rows = unique_puzzles(40).iter().fold(String::new(), |text, puzzle| {
        let rows: Vec<&str> = (0..9).map(|row| &puzzle[9 * row..9 * row + 9]).collect();
        text + &rows.join("\n") + "\n\n"
    });
    shards.0.write("grid.txt", rows);
    shards.0.write(
        "few.txt",
        format!("# A comment that is longer than the puzzle.\n{}", lines(&unique_puzzles(1))),
    );
    for (file, of, more) in [
        ("in.txt", 3, &["-f", "csv"][..]),
        ("in.txt", 1, &["-f", "jsonl", "--question", "unique", "--strict"]),
        ("in.txt", 4, &["--question", "count", "-n", "2", "--no-mmap"]),
        ("table.csv", 5, &["-f", "csv", "--add", "clues,error"]),
        ("grid.txt", 7, &["--notation", "grid"]),
        // Most of these shards have no puzzle.
        ("few.txt", 9, &[]),
    ] {
        if more.contains(&"--strict") {
            shards.0.write("in.txt", lines(&unique_puzzles(300)));
        }
        shards.solve_all(file, of, more);
        let whole = shards.run(&[&["solve", file], more].concat());
        succeeded(&whole);
        let parts: Vec<usize> = (1..=of).collect();
        succeeded(&shards.join(&parts, &["-q"]));
        assert!(shards.0.read("out.txt") == stdout(&whole), "{file} {more:?}");
        succeeded(&shards.join(&parts, &["-q", "--input", file]));
        shards.0.write("in.txt", list(300));
    }
}

#[test]
fn rows_of_all_commands_are_joined() {
    let shards = Shards::new(90);
    shards.0.write("in.txt", list(90) + "12\n");
    let heading = format!("{},puzzle,solution\n", "a name that is longer than all rows below it ".repeat(3));
    let table = |puzzles: &str| -> String {
        heading.clone() + &puzzles.lines().map(|line| format!("\"a, b\",{line},12\n")).collect::<String>()
    };
    shards.0.write("table.csv", table(&list(60)));
    // The first of its shards have no puzzle.
    shards.0.write("few.csv", table(&lines(&unique_puzzles(2))));
    for (command, more) in [
        ("rate", &["--up-to", "2.5"][..]),
        ("rate", &["--up-to", "2.5", "-f", "csv"]),
        ("check", &["--only-failures"]),
        ("check", &["--only-right"]),
        ("check", &["-f", "tsv"]),
        ("canon", &["--by", "puzzle"]),
        ("canon", &["--by", "puzzle", "-f", "jsonl"]),
        ("solutions", &["-n", "2"]),
        ("solutions", &["-n", "2", "-f", "csv"]),
        ("minimize", &["--seed", "7"]),
        ("disguise", &["--seed", "7", "-n", "2", "--with-original"]),
    ] {
        for (file, of) in [("in.txt", 3), ("in.txt", 1), ("table.csv", 4), ("few.csv", 9)] {
            let whole = shards.run(&[&[command, file, "-q"], more].concat());
            assert!(whole.status.code() < Some(2), "{command} {more:?} {file}: {}", stderr(&whole));
            let parts: Vec<usize> = (1..=of).collect();
            for number in &parts {
                let part = shards.answer(command, file, &format!("{number}/{of}"), more);
                assert!(part.status.code() < Some(2), "{command} {more:?} {file}: {}", stderr(&part));
            }
            let joined = shards.join(&parts, &["--input", file]);
            succeeded(&joined);
            let tells_errors =
                command != "rate" || file != "in.txt" || stderr(&joined).contains("1 wrong_length");
            assert!(tells_errors, "{}", stderr(&joined));
            assert!(shards.0.read("out.txt") == stdout(&whole), "{command} {more:?} {file} {of}");
        }
    }
}

#[test]
fn rows_that_shards_do_not_make_up_are_refused() {
    let shards = Shards::new(9);
    for (args, sentence) in [
        (&["check"][..], "The report of a shard ends with a summary of its own. Ask for --only-failures"),
        (&["check", "-n", "3"], "The report of a shard ends with a summary of its own."),
        (&["disguise"], "Each shard would have a random seed of its own."),
        (&["rate", "--summary"], "'--summary' cannot be used with"),
        (&["rate", "in.txt"], "--shard divides one file, and 2 inputs were named."),
        (&["canon", "-o", "x.parquet", "--manifest"], "--manifest is for text."),
        (&["minimize", "-o", "/dev/null", "--manifest"], "--manifest describes a regular file"),
        (&["minimize", "-o", "-", "--manifest"], "--manifest describes a file."),
    ] {
        let refused = shards.run(&[args, &["in.txt", "--shard", "1/2"]].concat());
        assert_eq!(refused.status.code(), Some(2), "{args:?}");
        assert!(stderr(&refused).contains(sentence), "{args:?}: {}", stderr(&refused));
    }
    // A shard of another command is of other answers.
    shards.answer("canon", "in.txt", "1/2", &["--by", "puzzle"]);
    shards.answer("minimize", "in.txt", "2/2", &[]);
    let made = |command: &str| format!("sudoku {} {command}", env!("CARGO_PKG_VERSION"));
    let sentence =
        format!("part.2 was made with {}, but the others with {}.", made("minimize"), made("canon"));
    shards.assert_refused(&[1, 2], &[], &[&sentence]);
}

#[test]
fn shards_that_are_missing_or_twice_are_named() {
    let shards = Shards::new(900);
    shards.solve_all("in.txt", 9, &[]);
    shards.assert_refused(&[1, 2, 4, 5, 6, 7, 8, 9], &[], &["Shard 3/9 is missing."]);
    shards.assert_refused(&[2, 6, 7], &[], &["Shards 1/9, 3/9 to 5/9 and 8/9 to 9/9 are missing."]);
    shards.assert_refused(
        &[1, 2, 3, 4, 5, 6, 6, 7, 8, 9],
        &[],
        &["part.6 is shard 6/9 once more, after part.6. Name one of them."],
    );
    // The number alone is huge.
    shards.solve("in.txt", "1/18446744073709551615", &[]);
    shards.assert_refused(
        &[1],
        &[],
        &["Shards 2/18446744073709551615 to 18446744073709551615/18446744073709551615 are missing."],
    );
}

#[test]
fn a_shard_of_another_number_of_shards_is_named() {
    let shards = Shards::new(900);
    shards.solve_all("in.txt", 4, &[]);
    shards.solve("in.txt", "2/5", &[]);
    shards.assert_refused(
        &[1, 2, 3, 4],
        &[],
        &["part.2 is shard 2/5, but the others are of 4.", "Shard 2/4 is missing."],
    );
}

#[test]
fn a_shard_of_another_input_is_named() {
    let shards = Shards::new(900);
    shards.0.write("longer.txt", list(901));
    // As long, and other puzzles throughout.
    shards.0.write("other.txt", list(900).lines().rev().map(|line| format!("{line}\n")).collect::<String>());
    shards.solve_all("in.txt", 4, &[]);
    shards.solve("longer.txt", "2/4", &[]);
    let bytes = |name: &str| fs::metadata(shards.0.path(name)).unwrap().len();
    let sentence = format!(
        "part.2 belongs to another input than the others: to {} with {} bytes, and they to {} with {} bytes.",
        shards.input("longer.txt"),
        bytes("longer.txt"),
        shards.input("in.txt"),
        bytes("in.txt"),
    );
    shards.assert_refused(&[1, 2, 3, 4], &[], &[&sentence]);

    assert_eq!(bytes("other.txt"), bytes("in.txt"));
    shards.solve("other.txt", "2/4", &[]);
    let sentence = format!(
        "part.2 belongs to another input than the others: to {}, which had other content when it was solved.",
        shards.input("other.txt")
    );
    shards.assert_refused(&[1, 2, 3, 4], &[], &[&sentence]);
    // All of them are of one input, but not of this one.
    shards.solve_all("in.txt", 4, &[]);
    let none: Vec<String> =
        (1..=4).map(|part| format!("part.{part} does not belong to other.txt as it is now.")).collect();
    let none: Vec<&str> = none.iter().map(String::as_str).collect();
    shards.assert_refused(&[1, 2, 3, 4], &["--input", "other.txt"], &none);
    // The same bytes under another name are the same input.
    fs::copy(shards.0.path("in.txt"), shards.0.path("copy.txt")).unwrap();
    shards.solve("copy.txt", "2/4", &[]);
    succeeded(&shards.join(&[1, 2, 3, 4], &[]));
}

/// One cell is another between two runs: no sample need see it, and the length stays.
#[test]
fn an_input_that_was_changed_between_runs_is_noticed() {
    let shards = Shards::new(20_000);
    let text = shards.0.read("in.txt");
    // Between two blocks of the sample.
    let third = text.len() * 34 / 100;
    let at = third + text[third..].find('\n').unwrap() + 1;
    let digit = at + text[at..].find(|c: char| c.is_ascii_digit()).unwrap();
    let mut changed = text.clone();
    changed.replace_range(digit..=digit, ".");
    assert_eq!(changed.len(), text.len());
    shards.solve_all("in.txt", 4, &[]);
    shards.0.write("in.txt", &changed);
    let differ = |first: usize| {
        format!(
            "part.{first} and part.{} have not read the same input: their first {} bytes differ. Find out with --input FILE which of them is wrong.",
            first + 1,
            text.len() * first / 4
        )
    };
    shards.solve("in.txt", "3/4", &[]);
    shards.assert_refused(&[1, 2, 3, 4], &[], &[&differ(2), &differ(3)]);
    shards.solve("in.txt", "4/4", &[]);
    shards.assert_refused(&[1, 2, 3, 4], &[], &[&differ(2)]);
    // The first shard lies before the change, so it belongs to both.
    shards.assert_refused(
        &[1, 2, 3, 4],
        &["--input", "in.txt"],
        &["part.2 does not belong to in.txt as it is now."],
    );
    shards.solve("in.txt", "2/4", &[]);
    succeeded(&shards.join(&[1, 2, 3, 4], &["--input", "in.txt"]));
    assert!(shards.0.read("out.txt") == stdout(&shards.run(&["solve", "in.txt"])));
}

#[test]
fn a_shard_with_other_options_is_named() {
    let shards = Shards::new(900);
    shards.solve_all("in.txt", 3, &[]);
    for (more, setting, usual) in [
        (&["--question", "unique"][..], "--question unique", "--question first"),
        (&["-f", "pair"], "--format pair", "--format solution"),
        (&["--strategy", "propagation"], "--strategy propagation", "--strategy fast"),
    ] {
        shards.solve("in.txt", "3/3", more);
        shards.assert_refused(
            &[1, 2, 3],
            &[],
            &[&format!("part.3 was made with {setting}, but the others with {usual}.")],
        );
    }
    // What changes no answer may differ.
    shards.solve("in.txt", "3/3", &["--threads", "1", "--no-mmap", "--stats", "--resume"]);
    succeeded(&shards.join(&[1, 2, 3], &[]));
    fs::remove_file(shards.0.path("out.txt")).unwrap();
    // Another program may solve a puzzle with several solutions in another way.
    let manifest = shards.0.read("part.2.manifest");
    let program = format!("sudoku {}", env!("CARGO_PKG_VERSION"));
    shards.0.write("part.2.manifest", manifest.replace(&program, "sudoku 0.0.1"));
    let sentence = format!("part.2 was made with sudoku 0.0.1 solve, but the others with {program} solve.");
    shards.assert_refused(&[1, 2, 3], &[], &[&sentence]);
}

#[test]
fn damaged_shards_are_all_named() {
    let shards = Shards::new(900);
    shards.solve_all("in.txt", 4, &[]);
    let whole = shards.0.read("part.2");
    for (cut, found) in [(whole.len() - 1, whole.len() - 1), (0, 0)] {
        shards.0.write("part.2", &whole[..cut]);
        let sentence = format!(
            "part.2 is damaged: it has {found} bytes, and its manifest says {}. Run the shard again.",
            whole.len()
        );
        shards.assert_refused(&[1, 2, 3, 4], &[], &[&sentence]);
    }
    // The same length, with zeros at the end as after a power cut, and two answers exchanged.
    shards.0.write("part.2", whole[..whole.len() - 4].to_owned() + "\0\0\0\0");
    let (first, rest) =
        shards.0.read("part.4").split_once('\n').map(|(a, b)| (a.to_owned(), b.to_owned())).unwrap();
    let (second, rest) = rest.split_once('\n').unwrap();
    shards.0.write("part.4", format!("{second}\n{first}\n{rest}"));
    let damaged = |part| {
        format!(
            "part.{part} is damaged: it does not have the bytes that its manifest describes. Run the shard again."
        )
    };
    shards.assert_refused(&[1, 2, 3, 4], &[], &[&damaged(2), &damaged(4)]);
    // Standard output gets nothing of what is not whole.
    let joined = shards.run(&["join", "part.1", "part.2", "part.3", "part.4"]);
    assert_eq!((joined.status.code(), stdout(&joined).as_str()), (Some(2), ""));
    shards.solve("in.txt", "2/4", &[]);
    shards.solve("in.txt", "4/4", &[]);
    succeeded(&shards.join(&[1, 2, 3, 4], &[]));
    // A manifest that an earlier run has left does not fit.
    let manifest = shards.0.read("part.1.manifest");
    shards.solve("in.txt", "1/4", &["-f", "pair"]);
    shards.0.write("part.1.manifest", manifest);
    let said = stderr(&shards.join(&[1, 2, 3, 4], &[]));
    assert!(said.contains("part.1 is damaged: it has "), "{said}");
}

#[test]
fn what_is_no_shard_is_said() {
    let shards = Shards::new(90);
    shards.solve_all("in.txt", 2, &[]);
    shards.0.write("plain.txt", "1\n");
    let text = shards.0.read("part.1.manifest");
    for (name, manifest) in [
        ("a", "{}".to_owned()),
        ("b", "no JSON".to_owned()),
        ("c", text.replace("\"schema\": 1", "\"schema\": 2")),
        ("d", text.replace("\"1/2\"", "\"2/2\"")),
        ("e", text.replace("\"1/2\"", "\"3/2\"")),
        ("f", "[".repeat(2 << 20)),
        (
            "g",
            text.replace("wrong_length", "too_modern")
                .replace("\"errors\": {}", "\"errors\": {\"too_modern\": 1}"),
        ),
    ] {
        shards.0.write(name, "1\n");
        shards.0.write(&format!("{name}.manifest"), manifest);
        let refused = shards.run(&["join", name, "-o", "out.txt"]);
        let sentence = format!("{name}.manifest is no manifest that this version of sudoku understands.");
        assert_eq!(stderr(&refused), format!("The shards cannot be joined:\n  {sentence}\n"));
    }
    let refused =
        shards.run(&["join", "part.1", "part.1.manifest", "plain.txt", "none.txt", "-o", "out.txt"]);
    let said = stderr(&refused);
    for sentence in [
        "part.1.manifest is a manifest. Name only the files with answers.\n",
        "plain.txt has no manifest: plain.txt.manifest does not exist. Run the shard with --manifest.\n",
        "none.txt: No such file or directory (os error 2)\n",
        "Shard 2/2 is missing.\n",
    ] {
        assert!(said.contains(&format!("  {sentence}")), "{said}");
    }
    let many: Vec<String> = (0..50).map(|k| format!("none.{k}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let said = stderr(&shards.run(&[&["join", "-o", "out.txt"], &many[..]].concat()));
    assert!(said.ends_with("\n  and 30 more problems\n") && said.lines().count() == 22, "{said}");
    assert!(!shards.0.exists("out.txt"));
}

#[test]
fn what_is_joined_is_not_written_over() {
    let shards = Shards::new(90);
    shards.solve_all("in.txt", 2, &[]);
    symlink("part.2.manifest", shards.0.path("link")).unwrap();
    for out in ["part.1", "./part.2", "part.1.manifest", "link", "in.txt"] {
        let refused = shards.run(&["join", "part.1", "part.2", "--input", "in.txt", "-o", out]);
        let sentence = format!("{out} is the input itself. Name another file with -o.\n");
        assert_eq!((stderr(&refused), refused.status.code()), (sentence, Some(2)));
    }
    // Nor is the input, where it has the name of a manifest.
    fs::rename(shards.0.path("in.txt"), shards.0.path("x.manifest")).unwrap();
    let refused = shards.run(&["solve", "x.manifest", "--shard", "1/2", "-o", "x", "--manifest"]);
    assert_eq!(stderr(&refused), "x.manifest is the input itself. Name another file with -o.\n");
    for (args, sentence) in [
        (
            &["--shard", "1/2", "-o", "-", "--manifest"][..],
            "--manifest describes a file. Name one with -o.\n",
        ),
        (
            &["--shard", "1/2", "-o", "/dev/null", "--manifest"],
            "--manifest describes a regular file, and the output is none. Name another with -o.\n",
        ),
    ] {
        let refused = shards.run(&[&["solve", "x.manifest"], args].concat());
        assert_eq!((stderr(&refused).as_str(), refused.status.code()), (sentence, Some(2)));
    }
    for args in [&["--manifest", "-o", "x"][..], &["--manifest", "--shard", "1/2"]] {
        assert_eq!(shards.run(&[&["solve", "x.manifest"], args].concat()).status.code(), Some(2));
    }
}

/// What the job of a cluster does: some of the runs are stopped or killed, and started again.
#[test]
fn shards_that_were_killed_and_retried_are_joined() {
    let shards = Shards::new(60_000);
    for number in 1..=4 {
        let (shard, out) = (format!("{number}/4"), format!("part.{number}"));
        let mut run = sudoku(&["solve", "in.txt", "--shard", &shard, "-o", &out, "--manifest", "--resume"]);
        run.current_dir(shards.0.root()).args(["--threads", "1"]);
        if number % 2 == 0 {
            // There is no room for more than a part of its answers.
            let stopped = with_room(&run, 1_000).output().unwrap();
            assert_eq!(stopped.status.code(), Some(2), "{}", stderr(&stopped));
            assert!(!shards.0.exists(&out) && !shards.0.exists(&format!("{out}.manifest")));
            assert!(shards.0.exists(&format!(".{out}.sudoku-journal")));
            // At whatever moment this is.
            let mut child = run.spawn().unwrap();
            child.kill().unwrap();
            child.wait().unwrap();
        }
        succeeded(&run.output().unwrap());
    }
    succeeded(&shards.join(&[1, 2, 3, 4], &["--input", "in.txt"]));
    let whole = shards.run(&["solve", "in.txt"]);
    assert!(shards.0.read("out.txt") == stdout(&whole));
}

/// A full disk leaves neither half an output nor a manifest of it.
#[test]
fn a_manifest_that_cannot_be_written_is_an_error() {
    let shards = Shards::new(90);
    fs::create_dir(shards.0.path("x.manifest")).unwrap();
    let refused = shards.run(&["solve", "in.txt", "--shard", "1/2", "-o", "x", "--manifest"]);
    assert_eq!(refused.status.code(), Some(2), "{}", stderr(&refused));
    assert!(stderr(&refused).contains("x.manifest"), "{}", stderr(&refused));
    assert!(!shards.0.exists("x"));
}
