//! `sudoku canon`, `dedup`, `disguise` and `split`: puzzles that are the same but for symmetry.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fs;
use std::io::{BufReader, Read as _};
use std::process::{Output, Stdio};

use crate::harness::{
    self, Folder, Random, assert_solves, disguise, grid, large_list, stderr, stdout, succeeded, sudoku, text,
};

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

fn fed(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(args), input.as_bytes())
}

fn said(args: &[&str], input: &str) -> String {
    let output = fed(args, input);
    succeeded(&output);
    stdout(&output)
}

fn code(output: &Output) -> i32 {
    output.status.code().unwrap()
}

/// Different puzzles with one solution, no two of which are the same: they differ in what no
/// disguise changes.
fn different_puzzles() -> Vec<String> {
    let list = said(&["generate", "-n", "60", "--seed", "4", "-q"], "");
    let mut seen = BTreeSet::new();
    let mut puzzles: Vec<String> = list.lines().map(str::to_owned).collect();
    puzzles.retain(|puzzle| seen.insert(invariant(puzzle)));
    assert!(puzzles.len() > 50, "{}", puzzles.len());
    puzzles
}

/// What no disguise changes: how many clues lines, boxes and digits have.
fn invariant(puzzle: &str) -> [Vec<usize>; 3] {
    let cells: Vec<usize> =
        puzzle.bytes().map(|cell| if cell == b'.' { 0 } else { usize::from(cell - b'0') }).collect();
    let count = |house: &dyn Fn(usize) -> usize| {
        let mut counts = vec![0; 9];
        cells.iter().enumerate().filter(|(_, digit)| **digit > 0).for_each(|(at, _)| counts[house(at)] += 1);
        counts.sort_unstable();
        counts
    };
    let mut lines = [count(&|at| at / 9), count(&|at| at % 9)];
    lines.sort();
    [lines.concat(), count(&|at| at / 27 * 3 + at % 9 / 3), count(&|at| cells[at] - 1)]
}

/// The cells moved by a disguise as it is printed, by code of this file.
fn moved(puzzle: &str, disguise: &str) -> String {
    let words: Vec<&str> = disguise.split(' ').collect();
    let (transposes, words) = match words[0] {
        "transpose" => (true, &words[1..]),
        _ => (false, &words[..]),
    };
    let ["rows", rows, "columns", columns, "digits", digits] = words[..] else { panic!("{disguise}") };
    let index = |list: &str, at: usize| usize::from(list.as_bytes()[at] - b'1');
    for list in [rows, columns] {
        let bands: BTreeSet<Vec<usize>> = (0..3)
            .map(|band| {
                let mut lines: Vec<usize> = (0..3).map(|k| index(list, 3 * band + k)).collect();
                lines.sort_unstable();
                lines
            })
            .collect();
        assert_eq!(bands, [vec![0, 1, 2], vec![3, 4, 5], vec![6, 7, 8]].into(), "{disguise}");
    }
    let mut cells = String::new();
    for row in 0..9 {
        for column in 0..9 {
            let (row, column) = (index(rows, row), index(columns, column));
            let at = if transposes { 9 * column + row } else { 9 * row + column };
            cells.push(match puzzle.as_bytes()[at] {
                b'.' => '.',
                digit => char::from(digits.as_bytes()[usize::from(digit - b'1')]),
            });
        }
    }
    cells
}

#[test]
fn all_disguises_of_a_puzzle_have_one_form_and_no_other_puzzle_has_it() {
    let puzzles = different_puzzles();
    let list: String = (0..20)
        .flat_map(|k| puzzles.iter().map(move |puzzle| text(&disguise(&grid(puzzle), k)) + "\n"))
        .collect();
    for by in [&[][..], &["--by", "solution"], &["--by", "puzzle"]] {
        let forms = said(&[&["canon", "-q", "--disguise"][..], by].concat(), &list);
        let mut of: HashMap<&str, BTreeSet<usize>> = HashMap::new();
        for ((place, line), puzzle) in forms.lines().enumerate().zip(list.lines()) {
            let (form, disguise) = line.split_once(' ').unwrap();
            assert_eq!(moved(puzzle, disguise), form);
            of.entry(form).or_default().insert(place % puzzles.len());
            if by.last() == Some(&"puzzle") {
                // The least of all is not more than any.
                assert!(form <= puzzle);
            }
        }
        assert_eq!(forms.lines().count(), list.lines().count());
        assert_eq!(of.len(), puzzles.len(), "{by:?}");
        assert!(of.values().all(|places| places.len() == 1), "{by:?}");
    }
    // The same on any number of threads, and the form of a form is itself.
    let forms = said(&["canon", "-q"], &list);
    assert_eq!(said(&["canon", "-q", "--threads", "1"], &list), forms);
    assert_eq!(said(&["canon", "-q"], &forms), forms);
}

/// Two puzzles with the text of their least form.
const KNOWN: [(&str, &str); 2] = [
    // Two clues in different bands and stacks: each is in the last cell of its row that the other
    // leaves.
    (
        "1...........................................2....................................",
        ".....................................................1.......................2...",
    ),
    (
        "123456789........................................................................",
        "........................................................................123456789",
    ),
];

#[test]
fn least_forms_are_those_that_can_be_seen_to_be_least() {
    for (puzzle, least) in KNOWN {
        let output = run(&["canon", puzzle, "--by", "puzzle"]);
        succeeded(&output);
        assert_eq!(stdout(&output), format!("{least}\n"));
        // It has many solutions, so the form is by the puzzle by default, and there is none by solution.
        assert_eq!(stdout(&run(&["canon", puzzle])), format!("{least}\n"));
        let none = run(&["canon", puzzle, "--by", "solution"]);
        assert_eq!(
            (stdout(&none).as_str(), code(&none)),
            ("error: The puzzle has more than one solution.\n", 1)
        );
    }
}

#[test]
fn columns_stay_and_a_bad_row_has_its_code() {
    let puzzle = &different_puzzles()[0];
    let form = said(&["canon", "-q"], &format!("{puzzle}\n"));
    let form = form.trim();
    let broken = format!("11{}", &puzzle[2..]);
    let blank = ".".repeat(81);
    let table =
        format!("id,puzzle,canonical\n1,{puzzle},\"x, y\"\n2,{broken},\n3,{},z\n4,{blank},\n", &puzzle[1..]);
    let rows = said(&["canon", "-q", "-f", "csv"], &table);
    let wanted = format!(
        "id,puzzle,canonical,canonical_2,basis,automorphisms,error\n\
         1,{puzzle},\"x, y\",{form},solution,1,\n\
         2,{broken},,,,,rule_broken\n\
         3,{},z,,,,wrong_length\n\
         4,{blank},,{blank},puzzle,3359232,\n",
        &puzzle[1..]
    );
    assert_eq!(rows, wanted);
    let list = said(&["canon", "-q", "-f", "jsonl", "--disguise"], &format!("{puzzle}\n12\n"));
    let objects: Vec<serde_json::Value> =
        list.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(objects[0]["canonical"], form);
    assert_eq!(moved(puzzle, objects[0]["disguise"].as_str().unwrap()), form);
    assert_eq!((&objects[1]["error"], &objects[1]["line"]), (&"wrong_length".into(), &2.into()));
    let text = fed(&["canon", "-q", "--fail-on-error"], &format!("{puzzle}\n12\n"));
    assert_eq!(
        (stdout(&text), code(&text)),
        (format!("{form}\nerror: Line 2 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.\n"), 1)
    );

    // The same column beside answers.
    let added = said(&["solve", "-q", "-f", "csv", "--add", "canonical,solutions"], &table);
    let own: Vec<&str> = added.lines().map(|row| row.rsplit(',').nth(1).unwrap()).collect();
    assert_eq!(own, ["canonical_2", form, "", "", &blank]);
}

#[test]
fn what_has_no_canonical_form_is_refused_with_a_sentence() {
    let four = "1234............\n";
    for (args, exact) in [
        (&["canon"][..], None),
        (&["solve", "-f", "csv", "--add", "error,canonical"], None),
        (&["dedup"], Some("--exact")),
        (&["split", "-", "--train-file", "/dev/null", "--test-file", "/dev/full"], Some("--by exact")),
    ] {
        let refused = fed(args, four);
        assert_eq!(code(&refused), 2);
        let advice = exact.map(|flag| format!(" Compare them as they are with {flag}.")).unwrap_or_default();
        let wanted =
            format!("standard input has 4x4 puzzles; canonical forms are those of 9x9 puzzles.{advice}\n");
        assert_eq!((stdout(&refused), stderr(&refused)), (String::new(), wanted));
    }
    let typed = run(&["canon", four.trim_end()]);
    assert_eq!(stderr(&typed), "The puzzle is 4x4; canonical forms are those of 9x9 puzzles.\n");
    let folder = Folder::new();
    let list = folder.write("list.txt", format!("{}\n", different_puzzles()[0]));
    let table = folder.write("table.csv", format!("puzzle,id\n{},7\n", different_puzzles()[0]));
    for command in ["dedup", "disguise"] {
        let mixed = run(&[command, &list, &table]);
        assert_eq!(code(&mixed), 2);
        assert!(stderr(&mixed).contains(" has other rows than "), "{}", stderr(&mixed));
        let own = run(&[command, &list, "-o", &list]);
        assert_eq!(code(&own), 2);
        assert!(stderr(&own).contains("is the input itself"), "{}", stderr(&own));
    }
    for args in [["dedup", "--duplicates"], ["split", "--train-file"], ["split", "--test-file"]] {
        let [command, flag] = args;
        let own = run(&[command, &list, flag, &list]);
        let sentence = format!("{list} is the input itself. Name another file with {flag}.\n");
        assert_eq!((code(&own), stderr(&own)), (2, sentence));
        let mut unnamed = sudoku(&[command, &list, flag, "-"]);
        let unnamed = unnamed.current_dir(folder.root()).output().unwrap();
        let sentence = format!("{flag} cannot be written to standard output. Name a file.\n");
        assert_eq!((code(&unnamed), stderr(&unnamed)), (2, sentence));
    }
    let (same, link) = (folder.path("same"), folder.path("link"));
    std::os::unix::fs::symlink("same", &link).unwrap();
    for (one, other) in [(&same, &same), (&same, &folder.path("./same")), (&link, &same)] {
        let twice = run(&["dedup", &list, "-o", one, "--duplicates", other]);
        let sentence = format!("-o and --duplicates name the same file, {one}. Name two.\n");
        assert_eq!((code(&twice), stderr(&twice)), (2, sentence));
        let twice = run(&["split", &list, "--train-file", one, "--test-file", other]);
        let sentence = format!("Both sets would be written to {one}. Name two files.\n");
        assert_eq!((code(&twice), stderr(&twice)), (2, sentence));
    }
    assert_eq!(folder.names(), ["link", "list.txt", "table.csv"]);
    assert_eq!(folder.read("list.txt").lines().count(), 1);
    for (args, sentence) in [
        (&["dedup", &list, "--memory", "1000"][..], "give a size from 1MiB, as in 512MiB or 2G"),
        (&["dedup", &list, "--memory", "lots"], "give a size from 1MiB, as in 512MiB or 2G"),
        (&["disguise", &list, "--times", "0"], "give a whole number from 1 to 1000000"),
        (&["split", &list, "--test", "101%"], "give a share from 0% to 100%, as in 10% or 0.1"),
    ] {
        let refused = run(args);
        assert_eq!(code(&refused), 2);
        assert!(stderr(&refused).contains(sentence), "{}", stderr(&refused));
    }
}

#[test]
fn inputs_whose_rows_would_not_be_read_as_one_list_are_refused() {
    let folder = Folder::new();
    let puzzle = &different_puzzles()[0];
    let rows: Vec<String> = puzzle.as_bytes().chunks(9).map(|row| text_of(row) + "\n").collect();
    let letters = "1.......G.......".repeat(16);
    let of = |name: &str, text: String| folder.write(name, text);
    let list = of("list.txt", format!("{puzzle}\n"));
    let zeros = of("zeros.txt", format!("{}\n", puzzle.replace('.', "0")));
    let header = of("header.txt", format!("3\n{puzzle}\n"));
    let grid = of("grid.txt", rows.concat());
    let bare = of("bare.csv", format!("7,{puzzle}\n8,{puzzle}\n"));
    let moved = of("moved.csv", format!("{puzzle},7\n{puzzle},8\n"));
    let four = of("four.txt", "1234............\n".to_owned());
    let sixteen = of("letters.txt", format!("{letters}\n"));
    let alpha = of("alpha.txt", format!("{}\n", letters.replace('1', "A").replace('G', "P")));
    for (first, second, why) in [
        (&header, &zeros, "its notation is lines, and not header"),
        (&header, &list, "its notation is lines, and not header"),
        (&grid, &list, "its notation is lines, and not grid"),
        (&list, &grid, "its notation is grid, and not lines"),
        (&list, &bare, "its notation is csv, and not lines"),
        (&bare, &moved, "its columns are not the same"),
        (&list, &four, "its puzzles are 4x4, and not 9x9"),
        (&sixteen, &alpha, "its alphabet is alpha, and not letters"),
    ] {
        for command in [&["dedup", "--exact"][..], &["disguise"], &["minimize"]] {
            let refused = run(&[command, &[first, second]].concat());
            assert_eq!(code(&refused), 2, "{command:?} {first} {second}");
            let sentence = format!("{second} has other rows than {first}, because {why}. ");
            assert!(stderr(&refused).contains(&sentence), "{command:?}: {}", stderr(&refused));
            assert_eq!(stdout(&refused), "", "{command:?}: all are looked at before the first is answered");
        }
    }
    // Together they are one list.
    for (first, second) in [(&list, &zeros), (&zeros, &list), (&list, &header), (&header, &header)] {
        for command in [&["dedup", "--exact"][..], &["disguise"], &["minimize"]] {
            succeeded(&run(&[command, &["-q", first, second]].concat()));
        }
    }
}

/// A text of bytes.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_first_of_those_that_are_the_same_is_kept_with_its_row() {
    let puzzles = different_puzzles();
    let mut random = Random(9);
    let mut table = "id;puzzle;note\n".to_owned();
    let (mut kept, mut told) = (table.clone(), "line,same_as\n".to_owned());
    let mut firsts: HashMap<usize, usize> = HashMap::new();
    for line in 2..800 {
        let which = random.below(puzzles.len() + 2);
        let row = match puzzles.get(which) {
            Some(puzzle) => format!("{line};{};\"a;{which}\"\n", text(&disguise(&grid(puzzle), line as u64))),
            // Badly formed rows are kept, all of them.
            None => format!("{line};11{};\n", ".".repeat(78 + which - puzzles.len())),
        };
        table += &row;
        match firsts.get(&which).filter(|_| which < puzzles.len()) {
            Some(first) => told += &format!("{line},{first}\n"),
            None => kept += &row,
        }
        firsts.entry(which).or_insert(line);
    }
    let folder = Folder::new();
    let (input, report) = (folder.write("table.csv", &table), folder.path("report.csv"));
    for extra in [&[][..], &["--threads", "1"], &["--by", "puzzle"], &["--memory", "1M"]] {
        let output = run(&[&["dedup", &input, "--duplicates", &report][..], extra].concat());
        succeeded(&output);
        assert!(stdout(&output) == kept, "{extra:?}");
        assert!(folder.read("report.csv") == told, "{extra:?}");
        let summary = stderr(&output);
        assert!(
            summary.contains("798 puzzles in ") && summary.contains(" as the same but for symmetry.\n"),
            "{summary}"
        );
        assert!(summary.contains(" rows were copied as they stand ("), "{summary}");
    }
    // Nothing is exactly the same here.
    assert!(said(&["dedup", "--exact", "-q"], &table) == table);
}

#[test]
fn exactly_the_same_puzzles_are_those_with_the_same_cells_however_written() {
    let list = "# two\n1234............\n12.............. x\n1234000000000000 # again\n21..............\n12..............\n";
    let folder = Folder::new();
    let (first, second) =
        (folder.write("a.txt", list), folder.write("b,c.txt", "1234............\n4...............\n"));
    let report = folder.path("same.csv");
    let output = run(&["dedup", "--exact", &first, &second, "--duplicates", &report, "-q"]);
    succeeded(&output);
    assert_eq!(stdout(&output), "1234............\n12.............. x\n21..............\n4...............\n");
    let second = format!("\"{second}\"");
    assert_eq!(
        folder.read("same.csv"),
        format!(
            "input,line,same_as_input,same_as\n{first},4,{first},2\n{first},6,{first},3\n{second},1,{first},2\n"
        )
    );
    // Puzzles of several lines are kept as they are written.
    let grids = "12 34\n.. ..\n.. ..\n.. ..\n\n12 34\n.. ..\n.. ..\n.. ..\n\n1. 34\n.. ..\n.. ..\n.. ..\n";
    let kept = said(&["dedup", "--exact", "-q"], grids);
    assert_eq!(said(&["solve", "-q"], &kept), said(&["solve", "-q"], "1234............\n1.34............\n"));
}

#[test]
fn what_does_not_fit_into_memory_is_found_all_the_same() {
    // A table of 1 MiB has space for some 20,000 of these.
    let boards = said(&["generate", "--random-clues", "20", "-n", "40000", "--seed", "5", "-q"], "");
    let mut rows: Vec<&str> = boards.lines().collect();
    let mut random = Random(11);
    let copies: Vec<&str> = (0..20_000).map(|_| rows[random.below(40_000)]).collect();
    rows.extend(copies);
    let list: String = rows.iter().map(|row| format!("{row}\n")).collect();
    let mut firsts: HashMap<&str, usize> = HashMap::new();
    let (mut kept, mut told) = (String::new(), "line,same_as\n".to_owned());
    for (row, line) in rows.iter().zip(1..) {
        match firsts.get(row) {
            Some(first) => told += &format!("{line},{first}\n"),
            None => {
                firsts.insert(row, line);
                kept += &format!("{row}\n");
            }
        }
    }
    let folder = Folder::new();
    let (input, out, report) =
        (folder.write("list.txt", list), folder.path("out.txt"), folder.path("report.csv"));
    for memory in ["1M", "64M"] {
        for exact in [&["--exact"][..], &["--by", "puzzle"]] {
            let args = [
                "dedup",
                &input,
                "-o",
                &out,
                "--duplicates",
                &report,
                "--memory",
                memory,
                "--temp-dir",
                &folder.root(),
            ];
            let output = run(&[&args[..], exact].concat());
            succeeded(&output);
            assert!(folder.read("out.txt") == kept, "{memory} {exact:?}");
            assert!(folder.read("report.csv") == told, "{memory} {exact:?}");
            assert_eq!(
                stderr(&output).contains("Memory did not suffice"),
                memory == "1M",
                "{}",
                stderr(&output)
            );
        }
    }
    // Nothing is left behind.
    assert_eq!(folder.names(), ["list.txt", "out.txt", "report.csv"]);
    let nowhere = run(&["dedup", &input, "--memory", "1M", "--exact", "--temp-dir", &folder.path("missing")]);
    assert_eq!(code(&nowhere), 2);
    assert!(
        stderr(&nowhere).contains("Name another folder with --temp-dir, or allow more --memory."),
        "{}",
        stderr(&nowhere)
    );
}

#[test]
fn disguises_keep_columns_solutions_and_the_form() {
    let puzzles = different_puzzles();
    let list: String = puzzles.iter().map(|puzzle| format!("{}\n", puzzle.replace('.', "0"))).collect();
    let solutions = said(&["solve", "-q"], &list);
    let pairs = list.lines().zip(solutions.lines()).enumerate();
    let rows: String =
        pairs.map(|(k, (puzzle, solution))| format!("{solution},{k},{puzzle},\"a, {k}\"\r\n")).collect();
    let table = format!("answer,id,question,note\r\n{rows}");
    let args = ["disguise", "-q", "--times", "3", "--seed", "8"];
    let disguised = said(&args, &table);
    assert_eq!(disguised.lines().count(), 1 + 3 * puzzles.len());
    assert!(disguised.starts_with("answer,id,question,note\r\n"));
    let mut forms: BTreeMap<usize, HashSet<String>> = BTreeMap::new();
    let canonical = said(&["canon", "-q", "-f", "csv"], &disguised);
    let mut seen = HashSet::new();
    for (place, (row, form)) in disguised.lines().zip(canonical.lines()).skip(1).enumerate() {
        let fields: Vec<&str> = row.splitn(4, ',').collect();
        let id = place / 3;
        assert_eq!((fields[1], fields[3]), (id.to_string().as_str(), format!("\"a, {id}\"\r").trim_end()));
        assert!(fields[2].contains('0') && !fields[2].contains('.'));
        assert_solves(fields[0], &fields[2].replace('0', "."));
        assert_eq!(invariant(&fields[2].replace('0', ".")), invariant(&puzzles[id]));
        assert!(seen.insert(fields[2].to_owned()), "a disguise is repeated");
        let form = form.split(',').find(|field| field.len() == 81 && field.contains('.')).unwrap();
        forms.entry(id).or_default().insert(form.to_owned());
    }
    assert!(forms.len() == puzzles.len() && forms.values().all(|forms| forms.len() == 1));
    // Reproducible, whatever the threads and wherever the input comes from.
    let folder = Folder::new();
    let input = folder.write("table.csv", &table);
    let again = run(&[&args[..], &["--threads", "1", "--no-mmap", &input]].concat());
    assert!(stdout(&again) == disguised);
    assert!(said(&["disguise", "-q", "--times", "3", "--seed", "9"], &table) != disguised);
    let with = said(&[&args[..], &["--with-original"]].concat(), &table);
    assert_eq!(with.lines().count(), 1 + 4 * puzzles.len());
    assert_eq!(
        with.lines().skip(1).step_by(4).collect::<Vec<_>>(),
        table.lines().skip(1).collect::<Vec<_>>()
    );
    // Disguised and deduplicated, one of each is left, and it is the original.
    assert!(said(&["dedup", "-q"], &with) == table);
    // Other sizes, and rows that are bad.
    let four = "1234............ # a\n11..............\n12..............\n";
    let disguised = fed(&["disguise", "--seed", "1", "-n", "2"], four);
    succeeded(&disguised);
    let lines: Vec<String> = stdout(&disguised).lines().map(str::to_owned).collect();
    assert_eq!((lines.len(), lines[2].as_str()), (5, "11.............."));
    assert!(
        lines[..2]
            .iter()
            .all(|line| line.ends_with(" # a") && line.matches(['1', '2', '3', '4']).count() == 4)
    );
    assert!(
        stderr(&disguised).ends_with("1 row was copied as it stands (1 rule_broken).\n"),
        "{}",
        stderr(&disguised)
    );
}

#[test]
fn a_million_disguises_of_long_rows_flow_in_bounded_memory() {
    let folder = Folder::new();
    let puzzle = &different_puzzles()[0];
    let row = format!("{puzzle},{}\n", "x".repeat(2_000));
    let table = folder.write("table.csv", format!("puzzle,note\n{}", row.repeat(4)));
    let args = ["disguise", "--seed", "7", "-j", "2", &table, "-n"];
    let some = stdout(&run(&[&args[..], &["1000"]].concat()));
    let first = &some[..1_000 * row.len()];
    let million = [&args[..], &["1000000"]].concat();
    let mut child = sudoku(&million).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut reader = BufReader::new(child.stdout.take().unwrap());
    let mut read = vec![0; first.len()];
    reader.read_exact(&mut read).unwrap();
    assert!(read == first.as_bytes());
    let mut more = vec![0; 20 << 20];
    reader.read_exact(&mut more).unwrap();
    let memory = harness::peak_memory(child.id());
    assert!(memory < 96 << 10, "{memory} KiB");
    // A reader who has seen enough ends it.
    drop(reader);
    let output = child.wait_with_output().unwrap();
    succeeded(&output);
    assert_eq!(stderr(&output), "");

    // An interrupt does not wait for the rest of a row, and a file is complete or absent.
    let out = folder.path("out.csv");
    let child = sudoku(&[&million[..], &["-o", &out]].concat()).stderr(Stdio::piped()).spawn().unwrap();
    harness::eventually("a partial file", || {
        fs::metadata(folder.path(".out.csv.sudoku-partial")).is_ok_and(|found| found.len() > 1_000_000)
    });
    harness::signal(&child, "-INT");
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert!(stderr(&output).starts_with("Interrupted. Stopped after 0 rows"), "{}", stderr(&output));
    assert_eq!(folder.names(), ["table.csv"]);
}

#[test]
fn no_puzzle_is_in_both_sets() {
    let puzzles = different_puzzles();
    let rows: String = (0..2_000)
        .map(|k| format!("{k},{}\n", text(&disguise(&grid(&puzzles[k * k % puzzles.len()]), k as u64))))
        .collect();
    let table = format!("id,puzzle\n{rows}");
    let folder = Folder::new();
    let input = folder.write("all.csv", &table);
    let output = run(&["split", &input, "--test", "30%", "--seed", "3"]);
    succeeded(&output);
    let (train, test) = (folder.read("all.train.csv"), folder.read("all.test.csv"));
    // Every row is in one of them, in its order.
    let ids = |set: &str| -> Vec<usize> {
        set.lines().skip(1).map(|row| row.split(',').next().unwrap().parse().unwrap()).collect()
    };
    let (of_train, of_test) = (ids(&train), ids(&test));
    assert!(of_train.is_sorted() && of_test.is_sorted());
    assert_eq!(of_train.len() + of_test.len(), 2_000);
    let all: BTreeSet<usize> = of_train.iter().chain(&of_test).copied().collect();
    assert_eq!(all.len(), 2_000);
    let classes = |ids: &[usize]| -> BTreeSet<usize> { ids.iter().map(|k| k * k % puzzles.len()).collect() };
    assert!(classes(&of_train).is_disjoint(&classes(&of_test)));
    assert!((200..1_000).contains(&of_test.len()), "{}", of_test.len());
    assert!(train.starts_with("id,puzzle\n") && test.starts_with("id,puzzle\n"));
    let rows: HashSet<&str> = table.lines().collect();
    assert!(train.lines().chain(test.lines()).all(|row| rows.contains(row)));
    // A puzzle stays in its set, whatever else there is.
    let half: String = table.lines().step_by(2).map(|row| format!("{row}\n")).collect();
    let (first, second) = (folder.path("x"), folder.path("y"));
    let args =
        ["split", "-q", "--seed", "3", "--test", "0.3", "--train-file", &first, "--test-file", &second];
    succeeded(&fed(&args, &half));
    assert!(folder.read("y").lines().all(|row| test.contains(row)));
    assert!(folder.read("x").lines().all(|row| train.contains(row)));
    // Exactly: disguises are apart.
    succeeded(&run(&["split", &input, "--by", "exact", "--test", "30%", "--seed", "3", "-q"]));
    let share = folder.read("all.test.csv").lines().count() as f64 / 2_000.0;
    assert!((share - 0.3).abs() < 0.05, "{share}");
    let one = run(&["split", &input, "--train-file", &first, "--test-file", &first]);
    assert_eq!(code(&one), 2);
    assert!(stderr(&one).ends_with("Name two files.\n"), "{}", stderr(&one));
    let unnamed = fed(&["split"], &table);
    assert_eq!(code(&unnamed), 2);
    assert!(stderr(&unnamed).contains("--train-file is missing"), "{}", stderr(&unnamed));
}

#[test]
fn no_two_of_the_known_puzzles_with_17_clues_are_the_same() {
    let Some(list) = large_list("17clue.txt") else { return };
    let list = list.to_str().unwrap();
    let folder = Folder::new();
    let disguised = folder.path("disguised.txt");
    succeeded(&run(&["disguise", list, "--times", "3", "--seed", "1", "-q", "-o", &disguised]));
    let mut rows: Vec<String> = folder.read("disguised.txt").lines().map(str::to_owned).collect();
    assert_eq!(rows.len(), 3 * 49_158);
    let mut random = Random(1);
    for last in (1..rows.len()).rev() {
        rows.swap(last, random.below(last + 1));
    }
    let shuffled = folder.write("shuffled.txt", harness::lines(&rows));
    let all = run(&["dedup", list, "-q"]);
    assert_eq!(stdout(&all).lines().count(), 49_158);
    for extra in [&[][..], &["--memory", "1M"]] {
        let kept = run(&[&["dedup", &shuffled, "-q"][..], extra].concat());
        assert_eq!(stdout(&kept).lines().count(), 49_158);
    }
}

#[test]
fn every_clue_of_a_minimized_puzzle_is_needed() {
    let full = said(&["generate", "-n", "40", "--clues", "36", "--seed", "2", "-q"], "");
    let solutions = said(&["solve", "-q"], &full);
    let rows: String = full
        .lines()
        .zip(solutions.lines())
        .map(|(puzzle, solution)| format!("{puzzle}\t{solution}\tx\n"))
        .collect();
    let table = format!("puzzle\tsolution\tnote\n{rows}11{}\t\t\n{}\t\t\n", ".".repeat(79), ".".repeat(81));
    let output = fed(&["minimize"], &table);
    succeeded(&output);
    assert!(
        stderr(&output).ends_with("2 rows were copied as they stand (1 not_unique, 1 rule_broken).\n"),
        "{}",
        stderr(&output)
    );
    let minimal = stdout(&output);
    let mut shorter = String::new();
    let mut fields_seen = 0;
    for (old, new) in table.lines().zip(minimal.lines()).skip(1).take(40) {
        let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\t').collect(), new.split('\t').collect());
        assert_eq!(old[1..], new[1..]);
        // Only clues were dropped, and dropping any other one leaves more than one solution.
        assert!(old[0].chars().zip(new[0].chars()).all(|(old, new)| new == old || new == '.'));
        for (at, _) in new[0].char_indices().filter(|(_, cell)| *cell != '.') {
            shorter += &format!("{}.{}\n", &new[0][..at], &new[0][at + 1..]);
            fields_seen += 1;
        }
    }
    assert!(fields_seen > 800, "{fields_seen}");
    let counts = said(&["count", "--limit", "2", "-q"], &shorter);
    assert!(counts.lines().all(|count| count == "2+"), "{counts}");
    let puzzles: String = minimal.lines().skip(1).take(40).map(|row| format!("{}\n", &row[..81])).collect();
    let counts = said(&["count", "--limit", "2", "-q"], &puzzles);
    assert!(counts.lines().count() == 40 && counts.lines().all(|count| count == "1"), "{counts}");
    assert_eq!(minimal.lines().skip(41).collect::<Vec<_>>(), table.lines().skip(41).collect::<Vec<_>>());
    // A seed gives another order, and the same one again, on any number of threads.
    let other = said(&["minimize", "-q", "--seed", "1"], &table);
    assert!(other != minimal);
    assert!(said(&["minimize", "-q", "--seed", "1", "-j", "1"], &table) == other);
}

/// No more than 64 KiB of a row are read.
#[test]
fn a_row_is_copied_to_its_end_or_refused() {
    let puzzle = "12....1.........";
    let commands = [&["minimize"][..], &["disguise", "--seed", "7", "-n", "99"], &["dedup", "--exact"]];
    let list = |row: &str| format!("{puzzle}\n{row}\n# {}\n3...............\n", "c".repeat(1 << 21));
    for command in commands.map(|command| [command, &["-q"]].concat()) {
        let long = "x".repeat(200_000);
        let copied = said(&command, &list(&long));
        assert_eq!(copied.lines().filter(|row| row.len() > 16).collect::<Vec<_>>(), [long], "{command:?}");
        let refused = fed(&command, &list(&"x".repeat(1 << 21)));
        let sentence =
            "standard input has a puzzle or section that does not end within 1048576 bytes of line 2.\n";
        assert_eq!((code(&refused), stderr(&refused).ends_with(sentence)), (2, true), "{}", stderr(&refused));
        assert!(stdout(&refused).lines().all(|row| row.len() == 16), "{command:?}");
    }
    let commented = format!("{puzzle}\n{puzzle} # {}\n", "c".repeat(200_000));
    let minimal = said(&["minimize", "-q"], &commented);
    assert_eq!(minimal.len(), commented.len());
}

/// A solution in a JSON object is disguised with its puzzle, whatever they are called and however
/// they are written.
#[test]
fn the_solution_in_an_object_is_disguised_too() {
    let (puzzle, solution) = ("12..34..........", "1234341221434321");
    let array = |cells: &str| {
        format!("[{}]", cells.split("").filter(|c| !c.is_empty()).collect::<Vec<_>>().join(","))
    };
    let plain = said(&["disguise", "-q", "--seed", "1"], &format!("puzzle,solution\n{puzzle},{solution}\n"));
    let (new, solved) = plain.lines().nth(1).unwrap().split_once(',').unwrap();
    for [name, beside] in [["puzzle", "solution"], ["q", "a"], ["clue_grid", "target"]] {
        for (old, wanted) in
            [(format!("\"{solution}\""), format!("\"{solved}\"")), (array(solution), array(solved))]
        {
            // A disguise depends on the line.
            let input = format!("\n{{\"{name}\":\"{puzzle}\",\"{beside}\":{old},\"n\":[1]}}\n");
            let output = said(&["disguise", "-q", "--seed", "1"], &input);
            assert_eq!(
                output.trim_start(),
                format!("{{\"{name}\":\"{new}\",\"{beside}\":{wanted},\"n\":[1]}}\n")
            );
        }
    }
    // A table of answers has an error line in the place of a solution that there is not.
    let unsolved = |puzzle: &str| format!("puzzle,solution\n{puzzle},error: Line 2 has no solution.\n");
    assert_eq!(said(&["disguise", "-q", "--seed", "1"], &unsolved(puzzle)), unsolved(new));
}
