//! Scripts, and what a session answers to them.

use std::fs;
use std::path::PathBuf;

use super::*;

/// What a session answers to all lines of a script, of which one may leave, as if they came from a
/// pipe.
fn said(script: &str) -> String {
    let mut session = Session::new(Hint::default(), Arc::default(), Look::Plain);
    let mut text = String::new();
    let has_left = script.split_terminator('\n').any(|line| {
        let reply = session.take(line.as_bytes());
        text += &reply.text;
        reply.is_last
    });
    if !has_left {
        text += &session.end();
    }
    assert!(!text.contains("internal error"), "{script}: {text}");
    text
}

/// A file of the project's own fixtures.
fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

fn path(name: &str) -> String {
    fixture(name).to_str().unwrap().to_owned()
}

/// A grid in letters.
fn grid(text: &str) -> Grid {
    let order = Order::from_cells(text.len()).unwrap_or_else(|| panic!("{} cells", text.len()));
    let mut grid = Grid::empty(order);
    letters(order).unwrap().read_cells(text.as_bytes(), &mut grid).unwrap();
    grid
}

/// A small generator with a seed, so that a failure can be run again (`SplitMix64` by G. Steele et
/// al., 2014).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }
}

/// A puzzle in rows, with rulers.
const ROWS: &str = "5 3 . | . 7 . | . . .\n6 . . | 1 9 5 | . . .\n. 9 8 | . . . | . 6 .\n------+-------+------\n\
                    8 . . | . 6 . | . . 3\n4 . . | 8 . 3 | . . 1\n7 . . | . 2 . | . . 6\n------+-------+------\n\
                    . 6 . | . . . | 2 8 .\n. . . | 4 1 9 | . . 5\n. . . | . 8 . | . 7 9\n";

const LINE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

#[test]
fn boards_are_in_the_alphabet_of_the_command_line() {
    let session = |alphabet: &str| {
        let hint = Hint { alphabet: Some(alphabet.parse().unwrap()), ..Hint::default() };
        Session::new(hint, Arc::default(), Look::Plain)
    };
    let board = |session: &mut Session, line: &str| session.take(line.as_bytes()).text;
    let small = board(&mut session("abcd"), "abcd............");
    assert!(small.starts_with("The puzzle: 4x4, 4 clues\n") && small.contains("a b"), "{small}");
    let large = board(&mut session("hex"), "example 16");
    assert!(large.contains('0') && !large.contains('G'), "{large}");
    // It does not fit this size.
    let nine = board(&mut session("abcd"), "example 9");
    assert!(nine.contains('9'), "{nine}");
    let mut empty = session("ABCDEFGHI");
    board(&mut empty, "new 9");
    board(&mut empty, "set 1 1 I");
    assert!(board(&mut empty, "show").contains('I'), "{}", board(&mut empty, "show"));
    // Sentences name values by number, and say so where that is not what is shown.
    let mut hex = session("hex");
    board(&mut hex, "example 16");
    let (rules, hint) = (board(&mut hex, "rules"), board(&mut hex, "hint all"));
    assert!(rules.contains("The values 1 to 16 are shown as 0123456789ABCDEF. `set` takes these"), "{rules}");
    assert!(rules.contains("`set 2 16 0` puts a 0 into row 2"), "{rules}");
    assert!(
        hint.contains("Sentences name values by number, ") && hint.contains(" as 0123456789ABCDEF."),
        "{hint}"
    );
    assert!(board(&mut hex, "apply").contains(" (shown as "), "{hint}");
    board(&mut hex, "new 16");
    assert_eq!(board(&mut hex, "set 3 12 6"), "(3, 12) is 7 (shown as 6).\n");
    board(&mut hex, "lock");
    assert!(board(&mut hex, "clear 3 12").starts_with("The 7 (shown as 6) at (3, 12) is a clue."));
    let mut letters = session("letters");
    board(&mut letters, "example 16");
    let all = ["rules", "hint all", "apply"].map(|command| board(&mut letters, command)).concat();
    assert!(!all.contains("by number") && !all.contains("shown as 1"), "{all}");
}

#[test]
fn rows_with_spaces_are_read_when_pasted_at_once() {
    let rows = "53  7\n6  195\n 98    6\n8   6   3\n4  8 3  1\n7   2   6\n 6    28\n   419  5\n    8  79";
    let session = || Session::new(Hint::default(), Arc::default(), Look::Plain);
    for end in ["", "\n", "\r\n\n", "\n------\ncheck"] {
        let reply = session().take(format!("{rows}{end}").as_bytes());
        assert!(reply.text.starts_with("The puzzle: 9x9, 30 clues\n"), "{}", reply.text);
        assert!(!reply.text.contains("not on the board"), "{}", reply.text);
    }
    let mut session = session();
    assert_eq!(session.take(b"53  7\n6  195\n 98    6\n").text, "");
    assert_eq!(session.prompt(), "line 4> ");
    assert_eq!(session.interrupt(), "The puzzle did not come to its end. It is not on the board.\n");
}

#[test]
fn a_puzzle_is_taken_however_it_is_written() {
    let triples: String = grid(LINE)
        .digits()
        .iter()
        .enumerate()
        .filter(|&(_, &digit)| digit > 0)
        .map(|(index, digit)| format!("{} {} {digit}\n", index / 9 + 1, index % 9 + 1))
        .collect();
    let packed: String =
        LINE.as_bytes().chunks(9).map(|row| format!("{}\n", str::from_utf8(row).unwrap())).collect();
    let header = format!("3\n{LINE}\n");
    // Blank cells as spaces, all of them or without those at the ends of lines.
    let spaced = packed.replace('.', " ");
    let separated = |between: &str, blank: &str| {
        let row = |row: &[u8]| {
            let cells = row.iter().map(|&cell| char::from(cell).to_string().replace('.', blank));
            cells.collect::<Vec<_>>().join(between)
        };
        LINE.as_bytes().chunks(9).map(row).collect::<Vec<_>>().join("\n")
    };
    let trimmed: String = spaced.lines().map(|row| format!("{}\n", row.trim_end())).collect();
    for pasted in [
        format!("solve\n{spaced}undo\n"),
        spaced,
        format!("{trimmed}------\n"),
        trimmed,
        ROWS.to_owned(),
        format!("{LINE}\n"),
        format!("{LINE} # a comment\r\n"),
        format!("{}\n", ROWS.replace('-', "").replace(['+', '|', '\n'], " ")),
        format!("solve {}\nundo\n", packed.replace('\n', " ")),
        format!("{triples}\n"),
        packed,
        header,
        format!("solve {LINE}\nundo\n"),
        format!("solve\n{ROWS}undo\n"),
        format!("+-------+\n{ROWS}"),
        separated(",", "0") + "\n",
        separated(";", "") + "\n",
        separated(",", "").replace('\n', ",\n") + ",\n",
        separated(", ", "0").replace('\n', ", ") + "\n",
        format!("solve\n{}\nundo\n", separated(",", ".")),
    ] {
        let answer = said(&format!("{pasted}show line\nsolve\nshow line\n"));
        let lines: Vec<&str> = answer.lines().filter(|line| line.len() == 81).collect();
        let [puzzle, solution] = lines[..] else { panic!("{pasted}: {answer}") };
        assert_eq!(puzzle, LINE);
        assert!(grid(solution).solves(&grid(LINE)), "{answer}");
        assert!(answer.contains("The puzzle is solved. There is no other solution."), "{answer}");
    }
}

#[test]
fn what_is_drawn_can_be_pasted() {
    for look in [Look::Plain, Look::Numbered] {
        let mut session = Session::new(Hint::default(), Arc::default(), look);
        for side in [4, 9, 16, 25] {
            session.take(format!("example {side}").as_bytes());
            let (line, drawn) = (session.take(b"show line").text, session.take(b"show").text);
            let (_, board) = drawn.split_once("\n\n").unwrap();
            session.take(b"new 9");
            let reply = session.take(board.as_bytes()).text;
            assert!(reply.starts_with(&format!("The puzzle: {side}x{side}, ")), "{look:?} {board}{reply}");
            assert_eq!(session.take(b"show line").text, line);
        }
    }
    let candidates = ".-------.-------.\n| 1  23 | 23 4  |\n| 23 4  | 1  23 |\n:-------+-------:\n\
                      | 4  1  | 23 23 |\n| 23 23 | 4  1  |\n'-------'-------'";
    let reply = Session::new(Hint::default(), Arc::default(), Look::Plain).take(candidates.as_bytes()).text;
    assert!(reply.starts_with("These are candidates, and only clues can be read here."), "{reply}");
    assert_eq!(reply.lines().count(), 2, "{reply}");
}

#[test]
fn every_size_has_an_example_that_can_be_solved_and_checked() {
    for (side, strategy) in
        [(1, "fast"), (4, "propagation"), (9, "fast"), (16, "propagation"), (25, "propagation")]
    {
        let answer =
            said(&format!("example {side}\nrules\nstrategy\nshow line\nsolve\nshow line\ncheck\nhint\n"));
        let cells = side * side;
        let lines: Vec<&str> =
            answer.lines().filter(|line| line.len() == cells && !line.contains(' ')).collect();
        if let [puzzle, solution] = lines[..] {
            assert!(grid(solution).solves(&grid(puzzle)), "{answer}");
        } else {
            // The one cell of the smallest stands on its own line more often.
            assert_eq!(side, 1, "{answer}");
        }
        assert!(answer.contains("The puzzle is correctly solved."), "{answer}");
        assert!(answer.contains("The puzzle is solved: nothing is left to fill in."), "{answer}");
        assert!(answer.contains(&format!("A {side}x{side} Sudoku ")), "{answer}");
        assert!(side == 1 || answer.contains(&format!("* {strategy}")), "{answer}");
    }
}

#[test]
fn a_saved_board_comes_back_with_its_clues_and_entries() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a game.txt");
    let file = file.to_str().unwrap();
    for side in ["1", "4", "9", "16", "25"] {
        let text = said(&format!("example {side}\napply\nset 1 1 1\nsave {file}\nshow\n"));
        let shown = |text: &str| text.rsplit_once("clues").map(|(_, board)| board.to_owned());
        let again = said(&format!("open {file}\n"));
        assert!(text.contains("Saved. ") && again.contains(file), "{text}{again}");
        assert_eq!(shown(&again), shown(&text), "{side}");
        let reset = said(&format!("open {file}\nreset\n"));
        assert!(!reset.rsplit_once("clues").unwrap().1.contains("by you"), "{reset}");
    }
    // Entries that break the rules come back, too; the solver's are entries then.
    let wrong = said(&format!("{LINE}\nset r1c3 5\nsave {file}\nopen {file}\ncheck\n"));
    assert!(wrong.contains("30 clues, 1 filled in by you\n\n5 3 5 |"), "{wrong}");
    let solved = said(&format!("{LINE}\nsolve\nsave {file}\nopen {file}\nshow line\n"));
    assert!(solved.contains("30 clues, 51 filled in by you") && solved.ends_with("286179\n"), "{solved}");
    // Nothing else is replaced.
    let list = folder.path().join("list.txt");
    fs::write(&list, LINE).unwrap();
    let refused = said(&format!("example\nsave {}\n", list.to_str().unwrap()));
    assert!(refused.ends_with("is there, and no saved board. Name another file.\n"), "{refused}");
    assert_eq!(fs::read_to_string(&list).unwrap(), LINE);
    assert!(said(&format!("save {file}\n")).starts_with("There is no puzzle on the board."));
}

#[test]
fn wrong_input_is_answered_with_a_sentence() {
    let folder = tempfile::tempdir().unwrap();
    let empty = folder.path().join("empty.txt");
    fs::write(&empty, "").unwrap();
    let empty = empty.to_str().unwrap();
    let (bad_block, bad_line) = (folder.path().join("block.txt"), path("bad/character_line_3.txt"));
    fs::write(&bad_block, format!("4\n{LINE}\n")).unwrap();
    let bad_block = format!("open {}", bad_block.to_str().unwrap());
    let long = format!("{}q", &LINE[..80]);
    let rows = "example\nset ";
    let cases: &[(&str, &str)] = &[
        ("slove", "Unknown command `slove`. Did you mean `solve`? `help` lists the commands."),
        ("sett 1 1 1", "Unknown command `sett`. Did you mean `set`?"),
        ("frobnicate", "Unknown command `frobnicate`. `help` lists the commands."),
        ("r", "`r` could be `rules`, `random`, `redo`, `reset`, `rate`."),
        ("check", "There is no puzzle on the board."),
        ("set 1 1 1", "There is no puzzle on the board."),
        ("undo", "There is no puzzle on the board."),
        ("random", "No file is open. `open FILE` opens one."),
        ("puzzle 3", "No file is open."),
        ("puzzle x", "`x` is no number of a puzzle. They count from 1."),
        ("open", "It is typed `open FILE`. `help open` says more."),
        ("open nosuch.txt", "nosuch.txt: No such file or directory"),
        ("solve nosuch.txt", "nosuch.txt: No such file or directory"),
        ("solve\nnosuch.txt", "nosuch.txt: No such file or directory"),
        ("open /", "/ is a folder. Name one of its files."),
        ("open /dev/zero", "/dev/zero is no regular file."),
        ("open -", "`-` is where these commands come from."),
        ("example 7", "`7` is no side of a puzzle. It is 1, 4, 9, 16 or 25."),
        ("53..7...", "The puzzle has 8 cells; a puzzle has 1, 16, 81, 256 or 625."),
        (&long, "The puzzle has an invalid character. It is 'q' in column 81."),
        ("solve 11..............", "The puzzle breaks the rules: 1 appears twice in row 1."),
        ("solve 123...4.........", "The puzzle has no solution."),
        ("1234\n3412\n21q3\n4321", "Line 3 has an invalid character. It is 'q' in column 3."),
        ("1234\n34122\n2143\n4321", "Line 2 has the wrong length."),
        ("53..7....\nhelp", "The puzzle ended after 1 of 9 rows. It is not on the board."),
        ("53..7....", "The puzzle ended after 1 of 9 rows. It is not on the board."),
        ("53..7....\n\n6..195...", "The puzzle ended after 2 of 9 rows. It is not on the board."),
        ("53..7....\n\n\n", "The puzzle ended after 1 of 9 rows. It is not on the board."),
        (
            "53  7    \n6  195   \ncount",
            "The puzzle did not come to its end. It is not on the board.\nThere is",
        ),
        ("53  7\n6..195...", "The puzzle ended after 2 of 9 rows. It is not on the board."),
        ("53  7\n\n\n", "The puzzle did not come to its end. It is not on the board."),
        (&format!("53..7....\n{LINE}"), "It is not on the board.\nThe puzzle: 9x9, 30 clues"),
        ("[[5, 3, 0, 0],", "The puzzle did not come to its end. It is not on the board."),
        ("strategy magic", "`magic` is no strategy. There are fast, "),
        ("limit 0", "`0` is no whole number from 1."),
        ("stats maybe", "It is typed `stats [on|off]`."),
        (&format!("{rows}10 1 1"), "The row 10 is outside 1 to 9."),
        (&format!("{rows}1 0 1"), "The column 0 is outside 1 to 9."),
        (&format!("{rows}1 1 -1"), "The value -1 is outside 1 to 9."),
        (&format!("{rows}1 1 10"), "The value 10 is outside 1 to 9."),
        (&format!("{rows}1 1 18446744073709551616"), "The value 18446744073709551616 is outside 1 to 9."),
        (&format!("{rows}1 1 A"), "`A` is no value of a 9x9 puzzle. The largest is 9."),
        (&format!("{rows}1 1 ."), "`.` is no value. `clear R C` empties a cell."),
        (&format!("{rows}one 1 1"), "`one` is no row. It is a number from 1 to 9."),
        ("example\nr1c10 1", "The column 10 is outside 1 to 9."),
        ("example\nr1c2=7", "The 7 at (1, 2) is a clue."),
        (&format!("{rows}1 1"), "It is typed `set R C V`. `help set` says more."),
        (&format!("{rows}1 2 7"), "The 7 at (1, 2) is a clue. `unlock` lets clues be changed."),
        ("example\nclear 1 2", "The 7 at (1, 2) is a clue."),
        ("example\nundo", "There is nothing to take back."),
        ("example 16\nstrategy fast\nsolve", "The strategy fast does not solve 16x16 puzzles."),
        (
            &format!("open {bad_line}"),
            "1 of them bad:\n  Line 3 has an invalid character. It is '0' in column 41.",
        ),
        (&format!("open {bad_line}\npuzzle 2"), "Line 3 has an invalid character."),
        (&format!("open {bad_line}\npuzzle 7"), "has no puzzle 7. It has 6 puzzles."),
        (&format!("open {empty}"), "empty.txt is empty."),
        (&bad_block, "Invalid block size."),
    ];
    for (script, sentence) in cases {
        let answer = said(&format!("{script}\n"));
        assert!(answer.contains(sentence), "{script}: {answer}");
        // And it goes on.
        let answer = said(&format!("{script}\nexample\nexit\nnever\n"));
        assert!(answer.contains("The example: 9x9, 30 clues"), "{script}: {answer}");
        assert!(!answer.contains("never"), "{script}: {answer}");
    }
}

#[test]
fn three_numbers_fill_in_a_cell_of_the_board_there_is() {
    for typed in ["2 1 1", "2,1,1", "(2, 1) is 1", "(2, 1) 1", "r2c1=1"] {
        let answer = said(&format!("new 4\n{typed}\nshow line\n"));
        assert!(answer.ends_with("(2, 1) is 1.\n....1...........\n"), "{typed}: {answer}");
    }
}

#[test]
fn a_board_that_was_replaced_comes_back() {
    for other in ["example", "1...............", "new 9"] {
        let answer = said(&format!("new 4\n2 1 1\n{other}\nundo\nshow line\nundo\nshow line\nundo\n"));
        let lines: Vec<&str> =
            answer.lines().filter(|line| line.len() == 16 && !line.contains(' ')).collect();
        assert_eq!(lines, ["....1...........", "................"], "{answer}");
        assert!(answer.ends_with("There is nothing to take back.\n"), "{answer}");
    }
}

/// Words that mean something, in an order that does not.
#[test]
fn no_order_of_words_ends_it() {
    let words: Vec<String> = [
        "rules solve example open puzzle random set clear check hint apply rate strategy undo redo reset lock unlock count unique \
         stats show new help 1 2 3 4 9 16 10 0 -1 A G . .... 53..7.... 1234 3412 ------ | +--+--+ r1c1 (1, 2) all line \
         triples on off fast propagation default 1... ................ 1111111111111111 x # ' \" \\ ~ - -- \n",
        &format!("{} {} {LINE}", path("good/two.grid"), path("bad/length_line_2.txt")),
    ]
    .iter()
    .flat_map(|words| words.split(' ').map(str::to_owned))
    .collect();
    for seed in 0..20 {
        let mut random = SplitMix(seed);
        let mut script = "limit 1000\n".to_owned();
        for _ in 0..200 {
            for _ in 0..=random.below(4) {
                script += &words[random.below(words.len())];
                script.push(' ');
            }
            script.push('\n');
        }
        let answer = said(&format!("{script}\n\nexample\n"));
        assert!(!answer.contains("internal error"), "{script}");
        assert!(answer.contains("The example: 9x9, 30 clues"), "{script}");
    }
}

#[test]
fn a_list_is_opened_and_solved() {
    for (name, count, of) in [
        ("good/lines.gz", 6, "9x9 in the notation lines"),
        ("good/lines.zst", 6, "9x9 in the notation lines"),
        ("good/nine.header", 6, "9x9 in the notation header"),
        ("good/two.grid", 2, "9x9 in the notation grid"),
        ("good/sixteen_ascii.lines", 3, "16x16 in the notation lines"),
        ("good/solutions.csv", 4, "9x9 in the notation csv"),
    ] {
        let file = path(name);
        let answer = said(&format!("open {file}\nshow line\npuzzle {count}\nrandom\n"));
        assert!(answer.starts_with(&format!("{file}: {count} puzzles of {of}.\n")), "{answer}");
        assert!(answer.contains(&format!("Puzzle {count} of {file} (line ")), "{answer}");

        let answer = said(&format!("solve {file}\nsolve all\n"));
        assert_eq!(answer.matches(&format!("{count} puzzles in ")).count(), 2, "{answer}");
        let wanted = fs::read_to_string(fixture(&format!("{name}.answers"))).unwrap();
        for line in wanted.lines() {
            assert_eq!(answer.lines().filter(|&said| said == line).count(), 2, "{line}: {answer}");
        }
    }
    let one = path("good/one.triples");
    let answer = said(&format!("solve\n{one}\n"));
    assert!(answer.contains("The puzzle is solved. There is no other solution."), "{answer}");
    // A name with a space, as it is and as shells want it; a long list is not shown to its end.
    let folder = tempfile::tempdir().unwrap();
    let long = folder.path().join("my list.txt");
    fs::write(&long, format!("{LINE}\n").repeat(25) + "x\n").unwrap();
    let plain = long.to_str().unwrap();
    for typed in [plain.to_owned(), format!("'{plain}'"), plain.replace(' ', "\\ ")] {
        let answer = said(&format!("open {typed}\nsolve all\n"));
        assert!(answer.contains("26 puzzles of 9x9 in the notation lines, 1 of them bad:"), "{answer}");
        assert!(answer.contains("and 16 more\n"), "{answer}");
        assert!(answer.contains(": 25 answered, 1 error line (1 wrong_length)."), "{answer}");
    }
}

#[test]
fn the_board_is_edited_and_everything_can_be_taken_back() {
    let answer = said(
        "new 4\nset 1 1 1\nset (1, 2) 2\nset r1c3 3\nhint all\nset 1 4 4\nclear 1 4\nshow line\nundo\nshow line\nundo\nundo\nundo\nundo\n\
         undo\nredo\nshow line\n",
    );
    assert!(answer.contains("(1, 4) is 4: it is the last blank cell of row 1 (last cell)."), "{answer}");
    let lines: Vec<&str> = answer.lines().filter(|line| line.len() == 16 && !line.contains(' ')).collect();
    assert_eq!(lines, ["123.............", "1234............", "1..............."]);
    assert!(answer.contains("There is nothing to take back."), "{answer}");

    // What is ambiguous names the flags of the program.
    let answer = said(&format!("F0{}\n", ".".repeat(254)));
    assert!(answer.contains(" Say which with --alphabet hex or --alphabet letters.\n"), "{answer}");

    // What is above 9 is a number or a letter; clues stay until they are unlocked; entries are told from clues.
    let answer = said(
        "new 16\nset 1 1 10\nset 1 2 b\nset 2 1 G\nshow line\nlock\nset 1 1 5\nunlock\nset 1 1 5\nreset\n",
    );
    assert!(answer.contains(&format!("AB{}G{}\n", ".".repeat(14), ".".repeat(239))), "{answer}");
    assert!(answer.contains("The 10 at (1, 1) is a clue."), "{answer}");
    assert!(answer.contains("(1, 1) is 5."), "{answer}");
    assert!(answer.ends_with(&format!("{}\n", ". . . . | . . . . | . . . . | . . . .")), "{answer}");

    // A wrong entry is found out, and a full board is looked at without being asked.
    let answer = said("example\nset 1 1 3\nhint\nsolve\nundo\nset 1 1 2\nhint\n");
    assert!(answer.contains("There is no solution any more. The 3 at (1, 1) is wrong."), "{answer}");
    assert!(
        answer.contains("The puzzle has no solution.\n`hint` may tell which entry is wrong."),
        "{answer}"
    );
    let answer = said("example\nset 1 1 3\nstats off\ncount\nunique\nsteps\n");
    let advice = "The puzzle has no solution.\n`hint` may tell which entry is wrong.\n";
    assert_eq!(answer.matches(advice).count(), 3, "{answer}");
    // The cells of a conflict are named, so there is nothing to tell of entries.
    let answer = said("example\nset 1 3 5\nsteps\n");
    let conflict = "The puzzle has no solution: 5 appears twice in row 1, at (1, 3) and (1, 4).\n";
    assert!(answer.contains(conflict) && !answer.contains("`hint` may tell"), "{answer}");
    // Clues alone are not advised on, and once unlocked they are entries.
    let answer = said("123...4.........\nstats off\ncount\nunlock\ncount\n");
    assert_eq!(answer.matches(advice).count(), 1, "{answer}");
    assert!(answer.contains("No digit is a clue now, so `reset` removes them all.\n"), "{answer}");
    let answer = said("new 4\nsolve\nlock\n");
    assert!(answer.contains("Your board: 4x4, 16 clues\n"), "{answer}");
    let answer = said("123434122143432.\ncheck\nset 4 4 1\ncheck\n");
    assert!(answer.contains("The puzzle is NOT solved.\n  1 blank cell to fill"), "{answer}");
    assert_eq!(answer.matches("The puzzle is correctly solved.").count(), 2, "{answer}");
}

#[test]
fn hints_come_in_stages_and_are_carried_out() {
    // This one takes a naked pair and nothing harder.
    let pair = "................12..3..4..............5.6.7...1.82........9..28..4......3.7..5...";
    let answer = said("example\nhint\nhint\nhint\nhint\napply\nhint\n");
    assert_eq!(answer.matches("Look at box 2. `hint` says more.").count(), 1, "{answer}");
    assert_eq!(answer.matches("The technique is hidden single, rated 1.2. `hint` says more.").count(), 1);
    assert_eq!(answer.matches("`apply` carries the step out.").count(), 2, "the last stage again: {answer}");
    assert_eq!(answer.matches("Look at ").count(), 2, "the next hint begins anew: {answer}");

    // Hint by hint to the solution: candidates that went stay gone.
    let answer = said(&format!("{pair}\n{}", "hint all\napply\n".repeat(90)));
    assert!(
        answer.contains("(naked pair)") && answer.contains("Noted: ") && answer.contains(" ruled out at "),
        "{answer}"
    );
    assert_eq!(answer.matches("The puzzle is correctly solved.").count(), 1, "{answer}");
    assert!(answer.contains("The puzzle is solved: nothing is left to fill in."), "{answer}");

    // What a step took away comes back with the entry that it rested on.
    let four = "2.4.....1.....1.";
    for back in ["undo\nundo", "reset", "clear 3 4"] {
        let answer = said(&format!("{four}\nset 3 4 4\nhint all\napply\n{back}\nset 3 3 2\nhint\ncount\n"));
        assert!(answer.contains("Noted: "), "{answer}");
        assert!(!answer.contains("There is no solution any more"), "{back}: {answer}");
        assert!(answer.contains("The puzzle has 1 solution.\n"), "{back}: {answer}");
    }
    let answer = said(&format!("{four}\nset 3 4 4\nhint all\napply\nhint all\nundo\nredo\nhint all\n"));
    assert_eq!(answer.matches("3 fits nowhere else (hidden single).").count(), 2, "{answer}");

    // Taking candidates away is a change like others.
    let answer = said(&format!("{four}\nset 3 4 4\napply\nundo\nhint all\nredo\nhint all\nundo\nundo\n"));
    let gone = answer.split_once("Noted: ").unwrap().1.split_once(". The next").unwrap().0;
    assert_eq!(answer.matches(&format!("No longer noted: {gone}.\n")).count(), 2, "{answer}");
    assert_eq!(answer.matches(&format!("Noted again: {gone}.\n")).count(), 1, "{answer}");
    let [first, second] = ["No longer noted", "Noted again"].map(|words| answer.split_once(words).unwrap().1);
    assert!(first.split_once("Noted again").unwrap().0.contains(gone), "the same hint again: {answer}");
    assert!(second.contains("3 fits nowhere else (hidden single)."), "{answer}");
    assert_eq!(answer.matches("The puzzle: 4x4, 4 clues\n\n").count(), 2, "{answer}");

    let answer = said(&format!("{pair}\nrate\nsteps\nshow line\n"));
    assert!(answer.contains("ER 3.0, EP 1.2, ED 1.2: naked pair\n"), "{answer}");
    assert!(answer.contains("17 clues, each of them needed; one solution"), "{answer}");
    assert!(answer.contains(" steps. ER 3.0 (naked pair), EP 1.2, ED 1.2."), "{answer}");
    assert!(answer.ends_with(&format!("{pair}\n")), "the board stays: {answer}");
    assert!(said("new 4\nrate\n").contains("The puzzle has more than one solution.\n"));
    assert!(said("hint\n").starts_with("There is no puzzle on the board."));
    // It has waited for one until the end.
    assert!(said("solve\n").starts_with("There is no puzzle on the board."));
}

#[test]
fn questions_and_their_limits() {
    let answer = said("new 4\ncount\ncount 10\nunique\nstats off\ncount 1\n");
    assert!(answer.contains("The puzzle has 288 solutions.\npropagation: "), "{answer}");
    let costs: Vec<&str> = answer.lines().filter(|line| line.starts_with("propagation: ")).collect();
    assert_eq!(costs.len(), 3, "{answer}");
    for cost in costs {
        assert!(cost.is_ascii() && (cost.ends_with(" ms") || cost.ends_with(" s")), "{cost}");
    }
    assert!(answer.contains("The puzzle has at least 10 solutions."), "{answer}");
    assert!(answer.contains("The puzzle has more than one solution.\n"), "{answer}");
    assert!(answer.ends_with("The puzzle has at least 1 solution.\n"), "{answer}");
    // The answer to an empty 25x25 takes more nodes than this.
    let answer = said("new 25\nlimit 100\nsolve\ncount\nunique\n");
    assert_eq!(answer.matches("The puzzle was given up after 100 nodes.").count(), 3, "{answer}");
    // Every strategy can be chosen, and says what it did.
    for strategy in STRATEGIES {
        let name = strategy.name();
        let answer = said(&format!("strategy {}\n{LINE}\nsolve\n", name.to_uppercase()));
        assert!(answer.contains(&format!("From now on the strategy {name} is used.")), "{answer}");
        assert!(
            answer.contains("The puzzle is solved.") && answer.contains(&format!("\n{name}: ")),
            "{answer}"
        );
    }
}

#[test]
fn a_ruler_closes_the_grid_above_it_and_gets_no_reply() {
    let rows: Vec<&str> = ROWS.lines().filter(|line| !line.starts_with('-')).collect();
    let wanted = said(&format!("{ROWS}show line\n"));
    assert!(wanted.ends_with(&format!("{LINE}\n")), "{wanted}");
    for [top, middle, bottom, side] in [
        ["+-------+-------+-------+", "+-------+-------+-------+", "+-------+-------+-------+", "|"],
        ["┌───────┬───────┬───────┐", "├───────┼───────┼───────┤", "└───────┴───────┴───────┘", "│"],
        ["*-----------*", "|---+---+---|", "*-----------*", "|"],
        [".-----.-----.-----.", ":-----+-----+-----:", "'-----'-----'-----'", "|"],
        ["'-----'", "'-----'", "'-----'", "|"],
    ] {
        let row = |row: &&str| format!("{side} {} {side}\n", row.replace('|', side));
        let bands: Vec<String> = rows.chunks(3).map(|band| band.iter().map(row).collect()).collect();
        let grid = format!("{top}\n{}{bottom}\n", bands.join(&format!("{middle}\n")));
        assert_eq!(said(&format!("{grid}show line\n")), wanted, "{grid}");
        // The next one begins after it, with a ruler or without.
        let answer = said(&format!("{grid}{grid}{ROWS}{bottom}\nshow line\n"));
        assert_eq!(answer.matches("The puzzle: 9x9, 30 clues\n").count(), 3, "{answer}");
        assert!(!answer.contains("not on the board"), "{answer}");
        // A grid without its last row is not closed.
        let short = grid.replace(&row(&rows[8]), "");
        let answer = said(&format!("{short}count\n"));
        let reply = "The puzzle ended after 8 of 9 rows. It is not on the board.\nThere is no puzzle";
        assert!(answer.starts_with(reply), "{answer}");
    }
}

#[test]
fn blank_cells_can_be_spaces_where_nothing_else_is_meant() {
    // The rows look like a triple, a row of a 4x4 puzzle, nothing at all, a block size.
    let puzzle = "3 1   2 \n5  8 1 7 \n         \n   3\n8  9  4\n\n 6     1\n 4  7   8\n   1\n";
    let wanted = "3.1...2..5..8.1.7.............3.....8..9..4............6.....1..4..7...8...1.....";
    let answer = said(&format!("{puzzle}show line\n"));
    assert!(answer.ends_with(&format!("{wanted}\n")), "{answer}");
    // A blank row at the top, and one that has lost its spaces.
    let rest = "53  7\n6  195\n\n8   6   3\n4  8 3  1\n7   2   6\n 6    28\n   419  5\n";
    let answer = said(&format!("         \n{rest}show line\n"));
    assert!(answer.starts_with("The puzzle: 9x9, 24 clues\n"), "{answer}");
    assert_eq!(said("         \n"), "");
    // All rows could be indented.
    let indented = " 3\n  5\n   7\n 1\n  2\n   4\n 6\n  8\n   9\n";
    assert_eq!(said(indented), "The puzzle did not come to its end. It is not on the board.\n");
    // Triples stay triples.
    let answer = said("1 2 3\n4 5 6\n7 8 9\n\nshow triples\n");
    assert!(answer.ends_with("1 2 3\n4 5 6\n7 8 9\n"), "{answer}");
}

#[test]
fn help_fits_a_small_terminal_and_explains_every_command() {
    let list = said("help\n");
    assert!(list.lines().count() <= 22, "{list}");
    let mut texts = vec![list.clone(), said("rules\nexample 25\nrules\nstrategy\n"), said("check\n")];
    for command in [
        "rules", "example", "new", "open", "puzzle", "random", "show", "set", "clear", "undo", "redo",
        "reset", "lock", "unlock", "check", "hint", "apply", "steps", "rate", "solve", "count", "unique",
        "strategy", "limit", "stats", "help", "exit",
    ] {
        assert!(list.contains(&format!("  {command} ")), "{command}: {list}");
        let more = said(&format!("help {command}\n"));
        assert!(more.starts_with(command), "{more}");
        texts.push(more);
    }
    for topic in ["puzzles", "editing", "hints", "search", "console"] {
        let commands = said(&format!("help {topic}\n"));
        assert!(commands.to_lowercase().starts_with(&format!("{topic}\n  ")), "{commands}");
        texts.push(commands);
    }
    for line in texts.iter().flat_map(|text| text.lines()) {
        assert!(line.chars().count() <= 79, "{line}");
    }
}
