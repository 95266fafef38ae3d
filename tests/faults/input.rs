//! What is read: bad lines, things that are no files, files that change, damaged and swollen ones, puzzles that are too hard.

use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::time::Duration;

use sudoku_stream::service::proto::{SolveOptions, SolveRequest};
use tonic::{Code, Request};

use crate::companion::{Ended, run, start, sudoku_in_shell, without};
use crate::harness::daemon::Daemon;
use crate::harness::fixture;
use crate::harness::packed::{Member, bzip2, gzip, xz, zip, zstandard};
use crate::harness::{Folder, is_solution, lines, sudoku};
use crate::row::{Row, Seen};
use crate::traffic::{self, assert_serving, easy, runtime};

pub fn rows() -> Vec<Row> {
    let row = |number, fault, expected, run| Row { number, fault, expected, run };
    vec![
        row(
            1,
            "bad lines of every kind in one file",
            "each is answered by its sentence in its place, all others are solved",
            bad_lines,
        ),
        row(2, "an empty file, a folder, a missing file, no permission", "a sentence, exit code 2", no_files),
        row(2, "a FIFO, a file of /proc", "read as any other", odd_files),
        row(2, "/dev/zero, 5 GB of zeros in a file", "a sentence, exit code 2; memory flat", zeros),
        row(
            2,
            "a line that never ends, a comment that never ends",
            "a sentence, exit code 2; memory flat",
            endless,
        ),
        row(2, "a file of 410 MB, 256 MB of newlines", "answered, or a sentence; memory flat", large_files),
        row(
            3,
            "the file shrinks, grows, is overwritten or replaced while it is read",
            "no crash; an error that names it; what was answered before is right",
            changing_files,
        ),
        row(
            3,
            "SIGBUS, as from a file that shrinks, but sent by `kill`",
            "what it does to any program: the end, by this signal",
            bus_error_sent,
        ),
        row(
            3,
            "OUT is the input, by any name",
            "a sentence, exit code 2; the puzzles are left as they are",
            out_is_input,
        ),
        row(
            4,
            "a file compressed by gzip, Zstandard, bzip2, xz or zip that is truncated or damaged",
            "an error that names it; what came before is answered",
            damaged_files,
        ),
        row(4, "256 MiB packed into 1 MB", "read to its end; memory flat", swollen_files),
        row(5, "puzzles that are too hard, in a file", "given up after the node limit", hard_puzzles),
        row(
            5,
            "puzzles that are too hard, sent to the service",
            "DEADLINE_EXCEEDED, and the work stops; others are served in the meantime",
            hard_calls,
        ),
    ]
}

/// What has to stand on a line of the answers.
enum Wanted {
    /// A solution of this puzzle.
    Solution(String),
    /// This sentence about the line.
    Sentence(String),
    /// A sentence that begins so.
    Beginning(&'static str),
    /// A solution of this puzzle, or a sentence that says that there is none.
    Either(String),
}

/// A file with bad lines of every kind among good ones, and what has to be answered.
struct Mixed {
    text: Vec<u8>,
    line: usize,
    wanted: Vec<(usize, Wanted)>,
}

impl Mixed {
    fn add(&mut self, line: impl AsRef<[u8]>, end: &str, wanted: impl Into<Option<Wanted>>) {
        self.line += 1;
        self.text.extend_from_slice(line.as_ref());
        self.text.extend_from_slice(end.as_bytes());
        self.wanted.extend(wanted.into().map(|wanted| (self.line, wanted)));
    }

    fn bad(&mut self, line: impl AsRef<[u8]>, sentence: &str) {
        self.add(line, "\n", Wanted::Sentence(sentence.to_owned()));
    }

    fn good(&mut self, puzzle: &str, end: &str) {
        self.add(puzzle, end, Wanted::Solution(puzzle.to_owned()));
    }

    fn new() -> Self {
        let puzzles = easy(60);
        let puzzle = &puzzles[0];
        let mut file = Self { text: b"\xEF\xBB\xBF".to_vec(), line: 0, wanted: Vec::new() };
        for (k, puzzle) in puzzles[..50].iter().enumerate() {
            file.good(puzzle, if k % 2 == 0 { "\n" } else { "\r\n" });
        }
        let wrong =
            |cells: usize| format!("has the wrong length. It has {cells} cells; a 9x9 puzzle has 81.");
        file.bad(&puzzle[..80], &wrong(80));
        file.bad(format!("{puzzle}1"), &wrong(82));
        file.bad("1234341221434321", &wrong(16));
        file.bad(vec![b'1'; 10 << 20], "has the wrong length.");
        let spoilt = |byte: u8| [&puzzle.as_bytes()[..40], &[byte], &puzzle.as_bytes()[41..]].concat();
        file.bad(spoilt(b'q'), "has an invalid character. It is 'q' in column 41.");
        file.bad(format!("55{}", ".".repeat(79)), "breaks the rules: 5 appears twice in row 1.");
        file.bad(".".repeat(81), "has more than one solution.");
        let known = fs::read_to_string(fixture("strategies.txt")).unwrap();
        let impossible = known.lines().find(|line| line.find(" 0 ") == Some(81)).unwrap();
        file.bad(&impossible[..81], "has no solution.");
        file.add("", "\n", None);
        file.add("", "\r\n", None);
        file.add("# a comment", "\n", None);
        file.add([0; 81], "\n", Wanted::Beginning("has an invalid character."));
        file.add([0xFF; 81], "\n", Wanted::Beginning("has an invalid character."));
        for byte in (0..=u8::MAX).filter(|&byte| byte != b'\n') {
            let seen = match byte {
                b'1'..=b'9' => Wanted::Either(puzzle.clone()),
                b'.' | b'0' | b'_' | b'*' | b'-' | b'?' | b'x' | b'X' => Wanted::Solution(puzzle.clone()),
                b' ' | b'\t' | b',' | b';' | b'#' => Wanted::Sentence(wrong(40)),
                _ => Wanted::Beginning("has an invalid character."),
            };
            file.add(spoilt(byte), "\n", seen);
        }
        file.good(&puzzles[51], "");
        file
    }

    /// Every answer is what it has to be, and there are no others.
    fn check(&self, answers: &str) {
        assert_eq!(answers.lines().count(), self.wanted.len());
        for (answer, (line, wanted)) in answers.lines().zip(&self.wanted) {
            let sentence = answer.strip_prefix(&format!("error: Line {line} "));
            let is_right = match wanted {
                Wanted::Solution(puzzle) => is_solution(answer, puzzle),
                Wanted::Sentence(words) => sentence == Some(words),
                Wanted::Beginning(words) => sentence.is_some_and(|sentence| sentence.starts_with(words)),
                Wanted::Either(puzzle) => {
                    let none = ["breaks the rules: ", "has no solution."];
                    is_solution(answer, puzzle)
                        || sentence
                            .is_some_and(|sentence| none.iter().any(|words| sentence.starts_with(words)))
                }
            };
            assert!(is_right, "line {line}: {answer}");
        }
    }
}

fn bad_lines() -> Seen {
    let (folder, file) = (Folder::new(), Mixed::new());
    let path = folder.write("mixed.txt", &file.text);
    let daemon = Daemon::start(&[]);
    let asked = ["solve", &path, "--question", "unique", "--quiet"];
    let first = run(&mut sudoku(&asked));
    first.assert_code(0);
    file.check(first.text());
    for more in [&["--no-mmap"][..], &["--threads", "1"], &["--server", &daemon.url()]] {
        let other = run(&mut sudoku(&[&asked, more].concat()));
        other.assert_code(0);
        assert!(other.stdout == first.stdout, "{more:?} gives other bytes");
    }
    let piped = run(sudoku(&["solve", "-", "--question", "unique"]).stdin(File::open(&path).unwrap()));
    assert!(piped.stdout == first.stdout);

    // All sizes in one file: those of the first are solved, the others are too long or too short for it.
    let mixed = "1234341221434321\n".repeat(30) + &lines(&easy(30)) + &".".repeat(256) + "\n1\n";
    let path = folder.write("sizes.txt", mixed);
    let here = run(&mut sudoku(&["solve", &path]));
    let there = run(&mut sudoku(&["solve", &path, "--server", &daemon.url()]));
    assert!(here.stdout == there.stdout);
    let wrong = here.text().matches("has the wrong length.").count();
    assert_eq!((here.text().lines().count(), wrong), (62, 32));
    assert_serving(&daemon);
    let (bytes, answers) = (file.text.len() >> 20, file.wanted.len());
    Seen::good(format!(
        "{answers} answers to {bytes} MB, each in its place; the same bytes mapped, read, piped and through the service"
    ))
}

fn no_files() -> Seen {
    let folder = Folder::new();
    let (empty, blank) = (folder.write("empty", ""), folder.write("blank", "\n\n# nothing\n"));
    let (locked, missing) = (folder.write("locked", "1234341221434321\n"), folder.path("missing"));
    let cases = [
        (&empty, format!("{empty} is empty.")),
        (&blank, format!("{blank} is empty.")),
        (&folder.root(), format!("{0} is a folder: name its files, {0}/* for all of them.", folder.root())),
        (&missing, format!("{missing}: No such file or directory (os error 2)")),
    ];
    let out = folder.path("out");
    for (file, sentence) in cases {
        for command in [&["solve", file, "-o", &out][..], &["validate", file], &["show", file]] {
            let ended = run(&mut sudoku(command));
            ended.assert_refused(&sentence);
            assert!(ended.stdout.is_empty());
        }
    }
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = sudoku(&["solve", &locked, "-o", &out]);
    if File::open(&locked).is_ok() {
        // Whoever may read everything does without that for once.
        let Some(lesser) = without("dac_override,dac_read_search", &command) else {
            return Seen::Skipped(
                "this user may read everything, and nothing here can take that away".to_owned(),
            );
        };
        command = lesser;
    }
    run(&mut command).assert_refused(&format!("{locked}: Permission denied (os error 13)"));
    assert!(!folder.exists("out"));
    Seen::good("`FILE: No such file or directory`, `FILE is empty.` and so on, exit code 2, no OUT")
}

fn odd_files() -> Seen {
    let (folder, puzzles) = (Folder::new(), easy(3_000));
    let pipe = folder.pipe("pipe");
    let command = start(&mut sudoku(&["solve", &pipe]));
    // Whoever writes stops within a line.
    let text = lines(&puzzles) + "53..7";
    fs::write(&pipe, text).unwrap();
    let ended = command.finish();
    ended.assert_code(0);
    let answers: Vec<&str> = ended.text().lines().collect();
    assert_eq!(answers.len(), 3_001);
    assert!(answers.iter().zip(&puzzles).all(|(answer, puzzle)| is_solution(answer, puzzle)));
    assert_eq!(answers[3_000], "error: Line 3001 has the wrong length. It has 5 cells; a 9x9 puzzle has 81.");

    // It calls itself regular, and empty.
    let proc = "/proc/version";
    assert_eq!(fs::metadata(proc).unwrap().len(), 0);
    for more in [&[][..], &["--no-mmap"], &["--strict"]] {
        let ended = run(&mut sudoku(&[&["solve", proc], more].concat()));
        ended.assert_code(2);
        let said = "/proc/version has no puzzles: Line 1 is no puzzle, but \"Linux version ";
        assert!(ended.stderr.starts_with(said), "{}", ended.stderr);
        assert_eq!(ended.text(), "");
    }
    Seen::good(
        "a FIFO that ends within a line: 3,000 answers and one error line; /proc/version: `FILE has no puzzles`",
    )
}

fn zeros() -> Seen {
    let folder = Folder::new();
    let sparse = folder.path("sparse");
    File::create(&sparse).unwrap().set_len(5 << 30).unwrap();
    let sentence = |file: &str| format!("{file} is no text: it has a zero byte at offset 0.");
    let mut most = 0;
    for (file, more) in [("/dev/zero", &[][..]), (&sparse, &[]), (&sparse, &["--no-mmap"])] {
        for command in ["solve", "validate"] {
            let ended = run(&mut sudoku(&[&[command, file], more].concat()));
            ended.assert_refused(&sentence(file));
            ended.assert_flat();
            most = most.max(ended.memory);
        }
    }
    run(sudoku(&["solve"]).stdin(File::open("/dev/zero").unwrap()))
        .assert_refused(&sentence("standard input"));
    Seen::good(format!(
        "`/dev/zero is no text: it has a zero byte at offset 0.`, {} MiB of memory",
        most >> 20
    ))
}

fn endless() -> Seen {
    let sentence = "standard input has a line that does not end within 268435456 bytes: line 1.";
    let mut most = 0;
    for begin in [".", "#"] {
        let script = format!("{{ printf '{begin}'; tr '\\0' . </dev/zero; }} | \"$0\" \"$@\"");
        for command in ["solve", "validate"] {
            let ended = run(&mut sudoku_in_shell(&script, &[command]));
            ended.assert_refused(sentence);
            ended.assert_flat();
            most = most.max(ended.memory);
        }
    }
    // After good puzzles.
    let folder = Folder::new();
    let list = folder.write("list", lines(&easy(2_000)));
    let script = format!("cat {list} /dev/zero | \"$0\" \"$@\"");
    let ended = run(&mut sudoku_in_shell(&script, &["solve"]));
    ended.assert_code(2);
    assert!(ended.stderr.contains("2,000 puzzles answered: standard input has a line"), "{}", ended.stderr);
    assert_eq!(ended.text().lines().count(), 2_000);
    Seen::good(format!(
        "`FILE has a line that does not end within 268435456 bytes: line 1.`, {} MiB of memory",
        most >> 20
    ))
}

fn large_files() -> Seen {
    /// The size of the file, and of a part of it: puzzles, and comments, which take no time to solve.
    const FILE: usize = 410_000_000;
    const PART: usize = 1_000_000;
    let (folder, puzzles) = (Folder::new(), easy(200));
    let path = folder.path("large");
    let mut part = lines(&puzzles);
    while part.len() < PART {
        let _ = writeln!(part, "# {}", "a comment ".repeat(10));
    }
    let mut file = File::create(&path).unwrap();
    let parts = FILE.div_ceil(part.len());
    for _ in 0..parts {
        file.write_all(part.as_bytes()).unwrap();
    }
    drop(file);
    let mut most = 0;
    let mut answers = Vec::new();
    for more in [&[][..], &["--no-mmap"]] {
        let ended = run(&mut sudoku(&[&["solve", &path], more].concat()));
        ended.assert_code(0);
        ended.assert_flat();
        most = most.max(ended.memory);
        let count = ended.text().lines().count();
        assert_eq!(count, parts * puzzles.len());
        assert!(ended.text().lines().zip(&puzzles).all(|(answer, puzzle)| is_solution(answer, puzzle)));
        answers.push(ended.stdout);
    }
    assert!(
        answers[0] == answers[1] && answers[0].chunks(200 * 82).all(|part| *part == answers[0][..200 * 82])
    );

    let newlines = folder.write("newlines", vec![b'\n'; 256 << 20]);
    let ended = run(&mut sudoku(&["solve", &newlines]));
    ended.assert_refused(&format!("{newlines} is empty."));
    ended.assert_flat();
    most = most.max(ended.memory);
    Seen::good(format!("{} answers; `FILE is empty.`; {} MiB of memory", parts * puzzles.len(), most >> 20))
}

/// What becomes of a file while a run over it is held up, after some of it has been answered.
fn changed_while_read(change: impl FnOnce(&str), more: &[&str]) -> (Ended, String, Vec<String>, String) {
    let (folder, some) = (Folder::new(), easy(1_000));
    let puzzles: Vec<String> = some.iter().cycle().take(100_000).cloned().collect();
    let input = folder.write("in.txt", lines(&puzzles));
    // Until somebody reads the answers, no more than a few chunks are on their way.
    let pipe = folder.pipe("pipe");
    let arguments = ["solve", &input, "-o", &pipe, "--threads", "1"];
    let running = start(&mut sudoku(&[&arguments, more].concat()));
    let mut answers = BufReader::new(File::open(&pipe).unwrap());
    let mut text = String::new();
    answers.read_line(&mut text).unwrap();
    change(&input);
    answers.read_to_string(&mut text).unwrap();
    (running.finish(), text, puzzles, input)
}

fn changing_files() -> Seen {
    type Change = fn(&str);
    let shrink: Change = |file| OpenOptions::new().write(true).open(file).unwrap().set_len(1_000).unwrap();
    let grow: Change = |file| {
        OpenOptions::new().append(true).open(file).unwrap().write_all(b"1234\n").unwrap();
    };
    let overwrite: Change = |file| {
        let length = fs::metadata(file).unwrap().len();
        let mut file = OpenOptions::new().write(true).open(file).unwrap();
        file.write_all(&vec![b'x'; usize::try_from(length).unwrap()]).unwrap();
    };
    let replace: Change = |file| {
        let other = format!("{file}.new");
        fs::write(&other, "1234\n").unwrap();
        fs::rename(other, file).unwrap();
    };
    let again = "while it was being read. Run again when nothing writes to it.";
    let cases: [(Change, Option<&str>); 4] = [
        (shrink, Some("was cut short")),
        (grow, Some("was changed")),
        (overwrite, Some("was changed")),
        (replace, None),
    ];
    let mut fewest = usize::MAX;
    for (change, words) in cases {
        for more in [&[][..], &["--no-mmap"]] {
            let (ended, answers, puzzles, input) = changed_while_read(change, more);
            let count = answers.lines().count();
            assert!(answers.lines().zip(&puzzles).all(|(answer, puzzle)| is_solution(answer, puzzle)));
            match words {
                Some(words) => {
                    ended.assert_code(2);
                    let sentence = format!("{input} {words} {again}\n");
                    assert!(ended.stderr.ends_with(&sentence), "{}", ended.stderr);
                    assert!(count > 0 && count < puzzles.len(), "{count} answers");
                    fewest = fewest.min(count);
                }
                None => {
                    ended.assert_code(0);
                    assert_eq!(count, puzzles.len());
                }
            }
        }
    }
    Seen::good(format!(
        "`FILE was cut short while it was being read.`, at least {fewest} right answers before; one replaced by rename is read to its end"
    ))
}

fn bus_error_sent() -> Seen {
    let (folder, some) = (Folder::new(), easy(1_000));
    let input = folder.write("in.txt", lines(&some).repeat(100));
    let pipe = folder.pipe("pipe");
    let script = "ulimit -c 0; exec \"$0\" \"$@\"";
    let running = start(&mut sudoku_in_shell(script, &["solve", &input, "-o", &pipe]));
    // It waits for a reader of its answers, with the input mapped.
    let mut answers = BufReader::new(File::open(&pipe).unwrap());
    answers.read_line(&mut String::new()).unwrap();
    let maps = fs::read_to_string(format!("/proc/{}/maps", running.child.id())).unwrap();
    assert!(maps.contains(&input), "{maps}");
    running.signal("-BUS");
    let ended = running.finish();
    assert_eq!(ended.status.signal(), Some(libc::SIGBUS), "{} {}", ended.status, ended.stderr);
    Seen::good("ended by signal 7 at once")
}

fn out_is_input() -> Seen {
    let (folder, text) = (Folder::new(), lines(&easy(100)));
    let input = folder.write("in.txt", &text);
    let (hard, soft) = (folder.path("hard"), folder.path("soft"));
    fs::hard_link(&input, &hard).unwrap();
    std::os::unix::fs::symlink(&input, &soft).unwrap();
    let words = |name: &str| format!("{name} is the input itself. Name another file with -o.");
    for out in [&input, &hard, &soft, &format!("{}/./in.txt", folder.root())] {
        run(&mut sudoku(&["solve", &input, "-o", out])).assert_refused(&words(out));
        let standard = run(sudoku(&["solve", "-", "-o", out]).stdin(File::open(&input).unwrap()));
        standard.assert_refused(&words(out));
        assert!(fs::read_to_string(out).unwrap() == text);
    }
    let out = OpenOptions::new().append(true).open(&input).unwrap();
    run(sudoku(&["solve", &input]).stdout(out)).assert_refused(&words("standard output"));
    assert!(fs::read_to_string(&input).unwrap() == text);
    assert_eq!(folder.names(), ["hard", "in.txt", "soft"]);
    Seen::good(
        "`OUT is the input itself. Name another file with -o.`: the same path, links, standard input and output",
    )
}

fn damaged_files() -> Seen {
    let folder = Folder::new();
    let puzzles = easy(20_000);
    let text = lines(&puzzles);
    let (gz, zst) = (gzip(text.as_bytes()), zstandard(text.as_bytes()));
    let (bz2, xz) = (bzip2(text.as_bytes()), xz(text.as_bytes()));
    let archive = zip(&[Member::new("puzzles.txt", text.as_bytes())]);
    let half = |packed: &[u8]| packed[..packed.len() / 2].to_vec();
    let spoilt = |packed: &[u8], at: usize| {
        let mut packed = packed.to_vec();
        packed[at..at + 64].iter_mut().for_each(|byte| *byte ^= 0x55);
        packed
    };
    let cases = [
        ("truncated.gz", half(&gz)),
        ("truncated.zst", half(&zst)),
        ("truncated.bz2", half(&bz2)),
        ("truncated.xz", half(&xz)),
        ("truncated.zip", half(&archive)),
        ("spoilt.bz2", spoilt(&bz2, bz2.len() / 2)),
        ("spoilt.xz", spoilt(&xz, xz.len() * 3 / 4)),
        ("spoilt.zip", spoilt(&archive, archive.len() / 2)),
        ("spoilt.gz", spoilt(&gz, gz.len() / 2)),
        ("spoilt.zst", spoilt(&zst, zst.len() * 3 / 4)),
        ("no-end.gz", gz[..gz.len() - 8].to_vec()),
        ("more.gz", [&gz[..], b"\x1F\x8B nonsense"].concat()),
    ];
    let mut least = usize::MAX;
    for (name, packed) in cases {
        let path = folder.write(name, packed);
        let ended = run(&mut sudoku(&["solve", &path]));
        ended.assert_code(2);
        assert!(ended.stderr.contains(&format!("{path} is damaged after ")), "{}", ended.stderr);
        let answers: Vec<&str> = ended.text().lines().collect();
        // What is damaged without breaking any rule of the format is what it says, and then there is the checksum.
        let right =
            answers.iter().zip(&puzzles).take_while(|(answer, puzzle)| is_solution(answer, puzzle)).count();
        assert!(right > 5_000, "{name}: {right} right answers of {}", answers.len());
        assert!(name.starts_with("spoilt") || right == answers.len(), "{name}");
        least = least.min(right);
        let to_file = run(&mut sudoku(&["solve", &path, "-o", &folder.path("out.txt")]));
        to_file.assert_code(2);
        assert!(!folder.names().iter().any(|name| name.contains("out.txt")), "{:?}", folder.names());
    }
    Seen::good(format!(
        "`FILE is damaged after N bytes of text`, at least {least} right answers before, no OUT"
    ))
}

fn swollen_files() -> Seen {
    /// Members of 16 MiB.
    const MEMBERS: usize = 16;
    let folder = Folder::new();
    let newlines = gzip(&vec![b'\n'; 16 << 20]).repeat(MEMBERS);
    let puzzle = &easy(1)[0];
    let list = gzip(format!("{puzzle}\n").as_bytes());
    let comment = "# ".to_owned() + &"x".repeat(4094) + "\n";
    let block = comment.repeat((16 << 20) / comment.len());
    let bomb = folder.write("bomb.gz", [list.clone(), newlines, list].concat());
    let end = format!("{puzzle}\n");
    let of =
        |pack: fn(&[u8]) -> Vec<u8>| [pack(block.as_bytes()).repeat(MEMBERS), pack(end.as_bytes())].concat();
    let frames = folder.write("bomb.zst", of(zstandard));
    let blocks = folder.write("bomb.bz2", of(bzip2));
    let streams = folder.write("bomb.xz", of(xz));
    let text = block.repeat(MEMBERS) + &end;
    let archive = folder.write("bomb.zip", zip(&[Member::new("puzzles.txt", text.as_bytes())]));
    drop(text);
    let mut most = 0;
    for (path, answers) in [(&bomb, 2), (&frames, 1), (&blocks, 1), (&streams, 1), (&archive, 1)] {
        assert!(fs::metadata(path).unwrap().len() < 4 << 20);
        let ended = run(&mut sudoku(&["solve", path]));
        ended.assert_code(0);
        assert_eq!(ended.text().lines().count(), answers);
        assert!(ended.text().lines().all(|answer| is_solution(answer, puzzle)));
        ended.assert_flat();
        most = most.max(ended.memory);
    }
    Seen::good(format!("answered; {} MiB of memory", most >> 20))
}

/// A 9x9 puzzle that keeps a search row by row busy: its first row is the last that such a search comes to.
const AGAINST_ROWS: &str =
    "..............3.85..1.2.......5.7.....4...1...9.......5......73..2.1........4...9";

fn hard_puzzles() -> Seen {
    let folder = Folder::new();
    let easy = easy(2);
    let by_rows = folder.write("rows.txt", format!("{}\n{AGAINST_ROWS}\n{}\n", easy[0], easy[1]));
    let options = ["--strategy", "backtracking", "--node-limit", "100000"];
    let ended = run(&mut sudoku(&[&["solve", &by_rows], &options[..]].concat()));
    ended.assert_code(0);
    let answers: Vec<&str> = ended.text().lines().collect();
    assert_eq!(answers[1], "error: Line 2 was given up after 100000 nodes.");
    assert!(is_solution(answers[0], &easy[0]) && is_solution(answers[2], &easy[1]));

    // Random clues where about half of the boards have a solution.
    let boards = folder.path("boards.txt");
    let made =
        ["generate", "--size", "25", "--random-clues", "225", "--count", "20", "--seed", "1", "-o", &boards];
    run(&mut sudoku(&made)).assert_code(0);
    let mut text = fs::read_to_string(&boards).unwrap();
    text.insert_str(0, &(".".repeat(625) + "\n"));
    let boards = folder.write("boards.txt", &text);
    for (command, limit) in [("solve", "100"), ("count", "200")] {
        let ended = run(&mut sudoku(&[command, &boards, "--node-limit", limit]));
        ended.assert_code(0);
        assert_eq!(ended.text().lines().count(), 21);
        for (number, (answer, puzzle)) in (1..).zip(ended.text().lines().zip(text.lines())) {
            let error = answer.strip_prefix(&format!("error: Line {number} "));
            let is_known = match error {
                Some(words) => {
                    words == format!("was given up after {limit} nodes.")
                        || words == "has no solution."
                        || words.starts_with("breaks the rules: ")
                }
                None => command == "count" || is_solution(answer, puzzle),
            };
            assert!(is_known, "{answer}");
        }
        let given_up = ended.text().matches("was given up").count();
        assert!(given_up > 0, "nothing was hard");
    }
    Seen::good("`Line 2 was given up after 100000 nodes.`, the lines around it solved; 25x25 likewise")
}

fn hard_calls() -> Seen {
    let daemon = Daemon::start(&[]);
    runtime().block_on(async {
        let mut client = traffic::client(&daemon.url()).await;
        let (puzzle, options) = traffic::endless();
        let call = |puzzle: String, options: SolveOptions| {
            let mut request = Request::new(SolveRequest { options: Some(options), text: puzzle.into(), ..Default::default() });
            request.set_timeout(Duration::from_secs(2));
            request
        };
        // More of them than there are threads, for as long as they may take.
        let many = format!("{puzzle}\n").repeat(100);
        let mut busy = Vec::new();
        for _ in 0..8 {
            let (mut client, request) = (client.clone(), call(many.clone(), options.clone()));
            busy.push(tokio::spawn(async move { client.solve(request).await }));
        }
        let mut slowest = Duration::ZERO;
        while !busy.iter().all(tokio::task::JoinHandle::is_finished) {
            slowest = slowest.max(traffic::solve(&mut client, &easy(1)[0]).await);
        }
        for call in busy {
            let status = call.await.unwrap().unwrap_err();
            // The client's own clock may be the first to say so.
            assert!(matches!(status.code(), Code::DeadlineExceeded | Code::Cancelled), "{status:?}");
        }
        let after = traffic::cpu_over(&daemon, Duration::from_millis(500));
        assert!(after < Duration::from_millis(250), "the work goes on: {after:?}");
        let few = SolveOptions { node_limit: 1_000, ..options };
        let answers = client.solve(call(puzzle, few)).await.unwrap().into_inner().answers;
        let Some(sudoku_stream::service::proto::answer::Result::Error(error)) = &answers[0].result else {
            panic!("{answers:?}")
        };
        assert_eq!(error.message, "The puzzle was given up after 1000 nodes.");
        // Below the time that the endless ones take.
        assert!(slowest < Duration::from_millis(1_500), "{slowest:?}");
        Seen::good(format!(
            "8 calls DEADLINE_EXCEEDED after 2 s, their work stopped ({} ms of processor time in the next 500 ms); the slowest call of another client until then {} ms",
            after.as_millis(),
            slowest.as_millis()
        ))
    })
}
