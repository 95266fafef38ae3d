//! Tables that keep their columns: `solve --add` with csv, tsv and jsonl.

use std::fs;
use std::process::Output;

use crate::harness::daemon::Daemon;
use crate::harness::{
    self, Folder, Random, is_solution, lines, stderr, stdout, succeeded, sudoku, unique_puzzles,
};

/// A puzzle of 30 clues with its solution.
const EASY: [&str; 2] = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "534678912672195348198342567859761423426853791713924856961537284287419635345286179",
];

fn run(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

fn solve(args: &[&str], input: &str) -> Output {
    harness::feed(&mut sudoku(&[&["solve", "--quiet"][..], args].concat()), input.as_bytes())
}

#[track_caller]
fn solved(args: &[&str], input: &str) -> String {
    let output = solve(args, input);
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    stdout(&output)
}

#[test]
fn a_table_keeps_its_columns_byte_for_byte_and_in_order() {
    let [puzzle, solution] = EASY;
    // Quotes, spaces, fields of other scripts, bytes that are no UTF-8, an empty field, one too many.
    let rows = [
        format!("1,{puzzle},\"a, \"\"b\"\"\",2.5"),
        format!(" 2 , {puzzle} ,zoë,"),
        format!("3,\"{puzzle}\",,9,more"),
    ];
    let input = format!("id,quizzes,note,rating\n{}\n", rows.join("\n"));
    let table = solved(&["--format", "csv"], &input);
    let wanted: String = rows.iter().map(|row| format!("{row},{solution},\n")).collect();
    assert_eq!(table, format!("id,quizzes,note,rating,solution,error\n{wanted}"));

    let latin = [b"id,puzzle\n\xE9,", puzzle.as_bytes(), b"\r\n"].concat();
    let kept = harness::feed(&mut sudoku(&["solve", "--quiet", "--format", "csv", "--add", "clues"]), &latin);
    assert_eq!(kept.stdout, [b"id,puzzle,clues\n\xE9,", puzzle.as_bytes(), b",30\r\n"].concat());
}

/// Where they could be read, whatever is wrong with the puzzle.
#[test]
fn rows_made_of_a_list_have_the_cells_of_every_puzzle() {
    let puzzle = EASY[0];
    let puzzles = [puzzle.to_owned(), puzzle.replacen("53", "55", 1), puzzle.replacen("53..7", "5312.", 1)];
    let input = format!("{}\n12\n", puzzles.join("\n"));
    for command in ["solve", "rate", "canon", "solutions"] {
        let output = harness::feed(&mut sudoku(&[command, "--quiet", "-f", "csv"]), input.as_bytes());
        succeeded(&output);
        let table = stdout(&output);
        let first: Vec<&str> = table.lines().map(|row| row.split(',').next().unwrap()).collect();
        assert_eq!(first, ["puzzle", &puzzles[0], &puzzles[1], &puzzles[2], ""], "{command}: {table}");
    }
}

#[test]
fn columns_are_added_in_the_order_in_which_they_are_asked_for() {
    let [puzzle, solution] = EASY;
    let two = "1.3.3.1.........";
    let none = "123...4.........";
    let clash = "11..............";
    let nine = format!("puzzle\n{puzzle}\n");
    assert_eq!(
        solved(&["--format", "csv", "--add", "clues,solution,minimal,solutions,error"], &nine),
        format!("puzzle,clues,solution,minimal,solutions,error\n{puzzle},30,{solution},false,1,\n")
    );
    let all = "solution,solutions,error,clues,minimal,nodes,guesses";
    let four = format!("puzzle\n{two}\n{none}\n{clash}\n12\n1234341221434q21\n");
    let table = solved(&["--format", "csv", "--strategy", "propagation", "--add", all], &four);
    let rows: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows[0].join(","), format!("puzzle,{all}"));
    assert!(is_solution(rows[1][1], two));
    assert_eq!(rows[1][2..6], ["2", "", "4", ""]);
    assert_eq!(rows[2][..6], [none, "", "0", "no_solution", "4", ""]);
    assert_eq!(rows[3], [clash, "", "0", "rule_broken", "2", "", "0", "0"]);
    assert_eq!(rows[4], ["12", "", "", "wrong_length", "", "", "", ""]);
    assert_eq!(rows[5], ["1234341221434q21", "", "", "invalid_character", "", "", "", ""]);
    for row in &rows[1..3] {
        assert!(row[6].parse::<u64>().is_ok() && row[7].parse::<u64>().is_ok(), "{row:?}");
    }
}

#[test]
fn solutions_are_counted_up_to_a_limit() {
    let table = "puzzle\n................\n1234341221434321\n123434122143432.\n";
    let column = |args: &[&str]| -> Vec<String> {
        let table = solved(&[&["--format", "csv"][..], args].concat(), table);
        table.lines().skip(1).map(|row| row.split_once(',').unwrap().1.to_owned()).collect()
    };
    assert_eq!(column(&["--add", "solutions"]), ["2", "1", "1"]);
    assert_eq!(column(&["--add", "solutions", "--limit", "20"]), ["20", "1", "1"]);
    assert_eq!(column(&["--add", "solutions", "--limit", "1000"]), ["288", "1", "1"]);
    assert_eq!(column(&["--question", "count"]), ["288,", "1,", "1,"]);
    assert_eq!(column(&["--add", "solutions,error", "--question", "unique"]), ["2,not_unique", "1,", "1,"]);
    // A search that is given up has counted nothing that is known.
    let given_up =
        ["--add", "solutions,error", "--limit", "1000", "--question", "count", "--node-limit", "5"];
    assert_eq!(column(&given_up), [",gave_up", "1,", "1,"]);
}

/// By the definition: one solution, and another one without any of the clues.
#[test]
fn minimal_puzzles_are_told_from_others() {
    let easy = unique_puzzles(40);
    let mut random = Random(5);
    let count = |puzzle: &str| sudoku_stream::count_solutions(puzzle, 2).unwrap();
    let mut table = String::from("name,puzzle\n");
    let mut puzzles = Vec::new();
    for (k, puzzle) in easy.iter().enumerate() {
        let mut cells = puzzle.clone().into_bytes();
        // Some are made minimal by taking out what can be spared, in random order.
        if k % 2 == 0 {
            for cell in random.permutation(81) {
                let clue = std::mem::replace(&mut cells[cell], b'.');
                if clue != b'.' && count(std::str::from_utf8(&cells).unwrap()) != 1 {
                    cells[cell] = clue;
                }
            }
        }
        // And some have several solutions.
        if k % 5 == 4 {
            let clue = cells.iter().position(|&cell| cell != b'.').unwrap();
            cells[clue..].iter_mut().take(60).for_each(|cell| *cell = b'.');
        }
        let puzzle = String::from_utf8(cells).unwrap();
        table += &format!("{k},{puzzle}\n");
        puzzles.push(puzzle);
    }
    let answers = solved(&["--format", "csv", "--add", "minimal"], &table);
    let mut seen = [0; 3];
    for (puzzle, row) in puzzles.iter().zip(answers.lines().skip(1)) {
        let spared = |cell: usize| {
            let mut cells = puzzle.clone().into_bytes();
            cells[cell] = b'.';
            String::from_utf8(cells).unwrap()
        };
        let mut clues = (0..81).filter(|&cell| puzzle.as_bytes()[cell] != b'.');
        let wanted = match count(puzzle) {
            1 if clues.all(|cell| count(&spared(cell)) > 1) => "true",
            1 => "false",
            _ => "",
        };
        assert_eq!(row.rsplit(',').next().unwrap(), wanted, "{puzzle}");
        seen[["true", "false", ""].iter().position(|word| *word == wanted).unwrap()] += 1;
    }
    assert!(seen.iter().all(|&seen| seen > 3), "{seen:?}");
}

#[test]
fn a_bad_row_keeps_its_columns_and_a_short_one_is_filled_up() {
    let [puzzle, solution] = EASY;
    let input =
        format!("id,puzzle,rating\n1,{puzzle},3\n\n# a comment\n2,{},4\n3\n4,{puzzle}\n", &puzzle[1..]);
    assert_eq!(
        solved(&["--format", "csv"], &input),
        format!(
            "id,puzzle,rating,solution,error\n1,{puzzle},3,{solution},\n2,{},4,,wrong_length\n3,,,,wrong_length\n4,{puzzle},,{solution},\n",
            &puzzle[1..]
        )
    );
    let failed = run(&["solve", "--fail-on-error", "/dev/null"]);
    assert_eq!(failed.status.code(), Some(2));
}

#[test]
fn a_name_that_is_taken_gets_a_number() {
    let [puzzle, solution] = EASY;
    let input = format!("puzzle,solution,error,solution_2\n{puzzle},{solution},x,y\n");
    let table = solved(&["--format", "csv"], &input);
    assert_eq!(
        table,
        format!("puzzle,solution,error,solution_2,solution_3,error_2\n{puzzle},{solution},x,y,{solution},\n")
    );
}

#[test]
fn a_list_has_its_puzzle_as_the_only_column() {
    let [puzzle, solution] = EASY;
    let input = format!("{puzzle} # a comment\n12\n");
    let table = solved(&["--format", "csv", "--add", "clues,error"], &input);
    assert_eq!(table, format!("puzzle,clues,error\n{puzzle},30,\n,,wrong_length\n"));
    let table = solved(&["--format", "tsv", "--add", "solution"], &input);
    assert_eq!(table, format!("puzzle\tsolution\n{puzzle}\t{solution}\n\t\n"));
    let objects = solved(&["--format", "jsonl", "--add", "solution,clues,error,minimal"], &input);
    assert_eq!(
        objects,
        format!(
            "{{\"line\":1,\"puzzle\":\"{puzzle}\",\"solution\":\"{solution}\",\"clues\":30,\"error\":null,\"minimal\":false}}\n\
             {{\"line\":2,\"puzzle\":null,\"solution\":null,\"clues\":null,\"error\":\"wrong_length\",\"minimal\":null}}\n"
        )
    );
    // Without columns they are what they were.
    let plain = solved(&["--format", "tsv"], &input);
    assert_eq!(
        plain,
        format!(
            "puzzle\tsolution\n{puzzle}\t{solution}\n\t\"error: Line 2 has the wrong length. It has 2 cells; a 9x9 puzzle has 81.\"\n"
        )
    );
}

#[test]
fn a_table_becomes_tabs_or_objects() {
    let [puzzle, solution] = EASY;
    let input = format!("id,puzzle,\"no te\",id\n\"a,\tb\",{puzzle},c\td,\"say \"\"x\"\"\"\n2,{puzzle}\n");
    assert_eq!(
        solved(&["--format", "tsv", "--add", "clues"], &input),
        format!(
            "id\tpuzzle\t\"no te\"\tid\tclues\n\"a,\tb\"\t{puzzle}\t\"c\td\"\t\"say \"\"x\"\"\"\t30\n2\t{puzzle}\t\t\t30\n"
        )
    );
    let objects = solved(&["--format", "jsonl"], &input);
    assert_eq!(
        objects,
        format!(
            "{{\"id\":\"a,\\tb\",\"puzzle\":\"{puzzle}\",\"no te\":\"c\\td\",\"column_4\":\"say \\\"x\\\"\",\"solution\":\"{solution}\",\"error\":null}}\n\
             {{\"id\":\"2\",\"puzzle\":\"{puzzle}\",\"no te\":\"\",\"column_4\":\"\",\"solution\":\"{solution}\",\"error\":null}}\n"
        )
    );
    for line in objects.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

#[test]
fn what_cannot_be_added_is_refused_with_what_can() {
    for unknown in ["ratings", "canon", "colour", ""] {
        let refused = solve(&["--format", "csv", "--add", unknown], "1\n");
        assert_eq!(refused.status.code(), Some(2));
        let said = stderr(&refused);
        let known =
            "Use solution, solutions, error, clues, minimal, nodes, guesses, rating, technique or canonical.";
        assert!(said.contains(known) && said.contains(&format!("`{unknown}`")), "{said}");
    }
    let refused = solve(&["--add", "clues"], "1\n");
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        stderr(&refused),
        "--add needs rows with columns. Use it with --format csv, tsv, jsonl or parquet.\n"
    );
}

#[test]
fn what_is_no_array_is_not_written_as_npy() {
    let folder = Folder::new();
    let (list, out) = (folder.write("list.txt", lines(&unique_puzzles(2))), folder.path("out.npy"));
    let sentence = format!(
        "{out} would be text. Only answers of solve are written as an array of NumPy, by --format npy; name a file \
         of another kind.\n"
    );
    for args in [
        &["solve", &list, "--format", "csv", "-o", &out][..],
        &["canon", &list, "-o", &out],
        &["dedup", &list, "-o", &out],
        &["disguise", &list, "-o", &out],
        &["split", &list, "--train-file", &out],
        &["generate", "-o", &out],
    ] {
        let refused = sudoku(args).output().unwrap();
        assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), sentence.clone()), "{args:?}");
        assert_eq!(folder.names(), ["list.txt"], "{args:?}");
    }
    succeeded(&sudoku(&["solve", "-q", &list, "-o", &out]).output().unwrap());
}

/// A file is written in the form that its name tells, unless another is asked for.
#[test]
fn the_name_of_the_output_is_its_form() {
    let folder = Folder::new();
    let list = folder.write("list.txt", lines(&unique_puzzles(2)));
    for (command, bare) in
        [("solve", "solution"), ("count", "solution"), ("canon", "text"), ("rate", "text"), ("check", "text")]
    {
        for form in ["csv", "tsv", "jsonl"] {
            let out = folder.path(&format!("out.{form}"));
            for (args, wanted) in [(&[][..], form), (&["-f", bare], bare)] {
                sudoku(&[&[command, "-q", &list, "-o", &out], args].concat()).output().unwrap();
                let written = stdout(&sudoku(&[command, "-q", &list, "-f", wanted]).output().unwrap());
                assert_eq!(folder.read(&format!("out.{form}")), written, "{command} {form} {args:?}");
            }
        }
    }
}

#[test]
fn nothing_is_written_that_is_named_as_compressed() {
    let folder = Folder::new();
    let list = folder.write("list.txt", lines(&unique_puzzles(2)));
    for args in [
        &["solve", &list][..],
        &["count", &list, "-f", "csv"],
        &["rate", &list],
        &["dedup", &list],
        &["validate", &list],
        &["generate"],
    ] {
        for (end, program) in [("gz", "gzip"), ("zst", "zstd")] {
            let out = folder.path(&format!("out.csv.{end}"));
            let refused = sudoku(args).args(["-o", &out]).output().unwrap();
            let plain = folder.path("out.csv");
            let sentence =
                format!("{out} would not be compressed. Write {plain}, and compress that with {program}.\n");
            assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), sentence), "{args:?}");
            assert_eq!(folder.names(), ["list.txt"], "{args:?}");
        }
    }
}

#[test]
fn what_is_no_table_is_not_written_as_parquet() {
    let folder = Folder::new();
    let (list, out) = (folder.write("list.txt", lines(&unique_puzzles(2))), folder.path("out.parquet"));
    let sentence = format!(
        "{out} would be text. Only answers of solve, check, rate, canon and solutions are written as Parquet, by \
         --format parquet; name a file of another kind.\n"
    );
    for args in [
        &["solve", &list, "--format", "csv", "-o", &out][..],
        &["rate", &list, "--summary", "-o", &out],
        &["minimize", &list, "-o", &out],
        &["generate", "-o", &out],
    ] {
        let refused = sudoku(args).output().unwrap();
        assert_eq!((refused.status.code(), stderr(&refused)), (Some(2), sentence.clone()), "{args:?}");
        assert!(stdout(&refused).is_empty(), "{args:?}");
        assert_eq!(folder.names(), ["list.txt"], "{args:?}");
    }
}

/// A table of several chunks, with bad rows.
fn table(rows: usize) -> String {
    let puzzles = unique_puzzles(500);
    let mut random = Random(9);
    let row = |k: usize| {
        let note = "x".repeat(random.below(300));
        match k % 89 {
            0 => format!("{k},12,{note}\n"),
            1 => format!("{k}\n"),
            2 => format!("{k},{},\"{note}, quoted\"\r\n", puzzles[k % 500]),
            _ => format!("{k},{},{note}\n", puzzles[k % 500]),
        }
    };
    format!("id,puzzle,note\n{}", (0..rows).map(row).collect::<String>())
}

#[test]
fn shards_threads_servers_and_resumed_runs_give_the_same_table() {
    let folder = Folder::new();
    let input = folder.write("table.csv", table(20_000));
    let (first, second) = (Daemon::start(&[]), Daemon::start(&[]));
    let both = format!("{},{}", first.url(), second.url());
    for form in ["csv", "tsv", "jsonl"] {
        let args = ["solve", "-q", &input, "--format", form, "--add", "solution,solutions,clues,error"];
        let whole = run(&args);
        succeeded(&whole);
        let whole = stdout(&whole);
        let has_heading = form != "jsonl";
        assert_eq!(whole.lines().count(), 20_000 + usize::from(has_heading));
        let one = run(&[&args[..], &["--threads", "1"]].concat());
        assert!(stdout(&one) == whole, "{form} on one thread");
        let shard = |k: u32| stdout(&run(&[&args[..], &["--shard", &format!("{k}/3")]].concat()));
        assert!((1..=3).map(shard).collect::<String>() == whole, "{form} in shards");
        let remote = run(&[&args[..], &["--server", &both]].concat());
        succeeded(&remote);
        assert!(stdout(&remote) == whole, "{form} from servers");
        let out = folder.path("out");
        succeeded(&run(&[&args[..], &["-o", &out, "--resume"]].concat()));
        assert!(fs::read_to_string(&out).unwrap() == whole, "{form} in a file");
    }
}

/// A row beyond what is read of a line could not be kept whole, so nothing of it is.
#[test]
fn a_row_that_is_too_long_is_an_error_and_keeps_the_table_straight() {
    let [puzzle, solution] = EASY;
    let long = "x".repeat(3 << 20);
    let input = format!("id,puzzle,note\n1,{puzzle},a\n2,{puzzle},{long}\n3,{puzzle},b\n");
    assert_eq!(
        solved(&["--format", "csv"], &input),
        format!(
            "id,puzzle,note,solution,error\n1,{puzzle},a,{solution},\n,,,,wrong_length\n3,{puzzle},b,{solution},\n"
        )
    );
    let answers = format!("{solution}\nerror: Line 3 has the wrong length.\n{solution}\n");
    assert_eq!(solved(&[], &input), answers, "in other forms too");
}

#[test]
fn objects_keep_their_members() {
    let [puzzle, solution] = EASY;
    let input = format!(
        "{{\"id\": 1, \"puzzle\": \"{puzzle}\", \"solution\": \"x\", \"z\":{{\"clues\":1}} }}\n\
         {{\"id\":2,\"puzzle\":\"12\"}}\r\n\
         {{\"id\": 3 \"puzzle\"\n\
         {{\"puzzle\":\"{puzzle}\"}}\n"
    );
    assert_eq!(
        solved(&["--format", "jsonl", "--add", "solution,clues,error"], &input),
        format!(
            "{{\"id\": 1, \"puzzle\": \"{puzzle}\", \"solution\": \"x\", \"z\":{{\"clues\":1}},\"solution_2\":\"{solution}\",\"clues\":30,\"error\":null}}\n\
             {{\"id\":2,\"puzzle\":\"12\",\"solution\":null,\"clues\":null,\"error\":\"wrong_length\"}}\r\n\
             {{\"text\":\"{{\\\"id\\\": 3 \\\"puzzle\\\"\",\"solution\":null,\"clues\":null,\"error\":\"invalid_character\"}}\n\
             {{\"puzzle\":\"{puzzle}\",\"solution\":\"{solution}\",\"clues\":30,\"error\":null}}\n"
        )
    );
    let refused = solve(&["--format", "csv"], &input);
    assert_eq!(refused.status.code(), Some(2));
    assert_eq!(
        stderr(&refused),
        "standard input has JSON objects, whose members have no columns in a table. Write jsonl instead.\n"
    );
}

#[test]
fn tables_with_other_delimiters_keep_their_columns_too() {
    let [puzzle, _] = EASY;
    let tabs = format!("1\t{puzzle}\ta\n2\t{puzzle}\tb,c\n");
    let with_clues = |form: &str, input: &str| solved(&["--format", form, "--add", "clues"], input);
    assert_eq!(with_clues("tsv", &tabs), format!("1\t{puzzle}\ta\t30\n2\t{puzzle}\tb,c\t30\n"));
    assert_eq!(with_clues("csv", &tabs), format!("1,{puzzle},a,30\n2,{puzzle},\"b,c\",30\n"));
    let semicolons = format!("rating;puzzle\n11,9;{puzzle}\n");
    assert_eq!(with_clues("csv", &semicolons), format!("rating,puzzle,clues\n\"11,9\",{puzzle},30\n"));
    assert_eq!(
        with_clues("jsonl", &tabs),
        format!(
            "{{\"column_1\":\"1\",\"column_2\":\"{puzzle}\",\"column_3\":\"a\",\"clues\":30}}\n\
             {{\"column_1\":\"2\",\"column_2\":\"{puzzle}\",\"column_3\":\"b,c\",\"clues\":30}}\n"
        )
    );
}

#[test]
fn what_other_programs_write_is_read_here_and_by_a_server() {
    let [puzzle, solution] = EASY;
    let server = Daemon::start(&[]);
    let rows: String = (0..9).map(|row| format!("{}\\n", &puzzle[9 * row..9 * row + 9])).collect();
    for (flags, input) in [
        // HoDoKu, whose delimiter is named.
        (&["--delimiter", ":"][..], format!(":0000:x:{puzzle}:::\n:0001:y:{puzzle}:::\n")),
        (&["--delimiter", "=", "--column", "2"], format!("a={puzzle}\nb={puzzle}\n")),
        // R, which writes the names of rows without one above them.
        (&[], format!("\"puzzle\" \"n\"\n\"1\" \"{puzzle}\" 5\n\"2\" \"{puzzle}\" 6\n")),
        (&[], format!("\"{puzzle}\" 5\n\"{puzzle}\" 6\n")),
        // A text with a line for each row.
        (&[], format!("{{\"puzzle\":\"{rows}\"}}\n{{\"puzzle\":\"{puzzle}\"}}\n")),
    ] {
        let wanted = format!("{solution}\n").repeat(2);
        assert_eq!(solved(flags, &input), wanted, "{input}");
        let remote = solved(&[flags, &["--server", &server.url()]].concat(), &input);
        assert_eq!(remote, wanted, "{input}");
    }
    // The names of rows get a column without a name, so that the others stand above what is theirs.
    for (name, other, value) in [("puzzle", "n", "5"), ("board", "solution", solution)] {
        let input = format!("\"{name}\" \"{other}\"\n\"1\" \"{puzzle}\" {value}\n");
        let table = format!("\"\",\"{name}\",\"{other}\",clues\n\"1\",\"{puzzle}\",{value},30\n");
        for flags in [&[][..], &["--server", &server.url()]] {
            assert_eq!(solved(&[flags, &["-f", "csv", "--add", "clues"]].concat(), &input), table);
        }
        let row = format!("\"column_1\":\"1\",\"{name}\":\"{puzzle}\",\"{other}\":\"{value}\",\"clues\":30");
        assert_eq!(solved(&["-f", "jsonl", "--add", "clues"], &input), format!("{{{row}}}\n"));
    }
}

#[test]
fn every_key_of_an_object_is_there_once() {
    let [puzzle, solution] = EASY;
    for (input, wanted) in [
        (
            format!("column_2,,puzzle,column_2\na,b,{puzzle},c\n"),
            format!("\"column_2\":\"a\",\"column_2_2\":\"b\",\"puzzle\":\"{puzzle}\",\"column_4\":\"c\""),
        ),
        (
            format!("puzzle,column_3\n{puzzle},b,c,d\n"),
            format!("\"puzzle\":\"{puzzle}\",\"column_3\":\"b\",\"column_3_2\":\"c\",\"column_4\":\"d\""),
        ),
    ] {
        let objects = solved(&["--format", "jsonl"], &input);
        assert_eq!(objects, format!("{{{wanted},\"solution\":\"{solution}\",\"error\":null}}\n"));
    }
}

#[test]
fn nothing_is_written_into_a_field_that_goes_on_in_the_next_line() {
    let [puzzle, solution] = EASY;
    // Where it is seen that the row does, nothing is written at all.
    for (input, line) in [
        (format!("puzzle,note,id\n{puzzle},\"two\nlines\",2\n{puzzle},\"x\",3\n"), 2),
        (format!("# notes\n\nid,note,puzzle\n1,,{puzzle}\n2,\"two, or\n\nthree\",{puzzle}\n"), 5),
    ] {
        for form in ["solution", "csv", "tsv", "jsonl"] {
            let refused = solve(&["--format", form], &input);
            let sentence = format!(
                "Line {line} has a field in quotes that goes on in the next line, and a row ends with its line. Write \
                 spaces for the line breaks in fields, or leave out their column.\n"
            );
            assert_eq!((refused.status.code(), stdout(&refused)), (Some(2), String::new()), "{form}");
            assert_eq!(stderr(&refused), sentence, "{form}");
        }
    }
    // Elsewhere the row is an error, and stays as it is. Quotes inside of a field are a character.
    let many = format!("{puzzle},x,1\n").repeat(1000);
    let rows = [
        format!("{puzzle},\"two"),
        "lines\",2".to_owned(),
        format!("{puzzle},5\" disk,3"),
        format!("{puzzle},\"5\"\" disk\",4"),
    ];
    let input = format!("puzzle,note,id\n{many}{}\n", rows.join("\n"));
    let table = solved(&["--format", "csv"], &input);
    let end: Vec<&str> = table.lines().skip(1001).collect();
    let wanted = [
        rows[0].clone(),
        format!("{},,,wrong_length", rows[1]),
        format!("{},{solution},", rows[2]),
        format!("{},{solution},", rows[3]),
    ];
    assert_eq!(end, wanted);
    let lines = solved(&[], &input);
    assert_eq!(
        lines.lines().nth(1000),
        Some(
            "error: Line 1002 has an invalid character. It is '\"' in column 83, which is not closed, and a row ends \
             with its line."
        )
    );
}

#[test]
fn objects_of_several_files_keep_what_their_members_say() {
    let [puzzle, solution] = EASY;
    let folder = Folder::new();
    let none = "55".to_owned() + &".".repeat(79);
    let row =
        |puzzle: &str| format!("{{\"message\":\"Line 3 is mine\",\"file\":\"x\",\"puzzle\":\"{puzzle}\"}}");
    let (a, b) = (folder.write("a.jsonl", row(puzzle) + "\n"), folder.write("b.jsonl", row(&none) + "\n"));
    let objects = stdout(&run(&["solve", "-q", &a, &b, "-f", "jsonl"]));
    let with = |name: &str, puzzle: &str, end: &str| {
        let row = row(puzzle);
        format!("{{\"file_2\":\"{name}\",{},{end}}}\n", &row[1..row.len() - 1])
    };
    let first = with(&a, puzzle, &format!("\"solution\":\"{solution}\",\"error\":null"));
    let second = with(&b, &none, "\"solution\":null,\"error\":\"rule_broken\"");
    assert_eq!(objects, first + &second);
    // So do the fields of a table.
    let table = folder.write("c.csv", format!("message,file,puzzle\nLine 3 is mine,x,{puzzle}\n"));
    let objects = stdout(&run(&["solve", "-q", &table, &b, "-f", "jsonl"]));
    assert_eq!(
        objects,
        with(&table, puzzle, &format!("\"solution\":\"{solution}\",\"error\":null")) + &second
    );
}
