//! Messages about broken arguments and files: sentences of ours, and no words of libraries.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;

use crate::harness::{Folder, SUDOKU, SUDOKUD, fixture, piped, skipped, stderr, stdout, succeeded, sudoku};

/// What only libraries, the language and its debugging output say.
const FOREIGN: [&str; 27] = [
    "invalid digit",
    "too large to fit",
    "too small to fit",
    "cannot parse integer",
    "invalid float",
    "is not in 1..",
    "EOF while",
    "expected value",
    "at line 1 column",
    "ParseIntError",
    "ParseFloatError",
    "Utf8Error",
    "did not contain valid UTF-8",
    "TOML parse error",
    "exporter configuration",
    "Error parsing",
    "unexpected error",
    "BadEncoding",
    "panicked",
    "RUST_BACKTRACE",
    "Other(",
    "Error {",
    "Error(",
    "Os {",
    "Some(",
    "unwrap",
    "called `",
];

/// What no flag of a number, a time, a name or a format takes.
const BROKEN_VALUES: [&str; 5] = ["abc", "", "-1", "99999999999999999999999", "é"];

/// The most lines of a message: an error of the command line with its usage and tips.
const MOST_LINES: usize = 10;

/// The threads that run programs.
const WORKERS: usize = 4;

/// How many broken values the programs refuse, at least.
const LEAST_REFUSED: usize = 1_400;

/// The commands that read puzzles and need nothing else.
static READING: [&str; 16] = [
    "solve",
    "count",
    "solutions",
    "validate",
    "check",
    "show",
    "canon",
    "dedup",
    "split",
    "disguise",
    "minimize",
    "hint",
    "rate",
    "steps",
    "trace",
    "bench",
];

/// What the system says of a missing file, behind its path.
const MISSING: &str = "No such file or directory (os error 2)";

const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

/// Is it a sentence, or does it end with the system's words? The decompressors give the reason why a
/// file is damaged.
fn is_ended(message: &str) -> bool {
    let is_of_system = message.ends_with(')') && message.contains(" (os error ");
    message.ends_with('.') || is_of_system || message.contains(" is damaged after ")
}

/// Panics unless a program could not run and says why in words of ours.
#[track_caller]
fn assert_explained(what: &str, output: &Output) {
    let message = stderr(output);
    assert_eq!(output.status.code(), Some(2), "{what}: {}{message}", stdout(output));
    for word in FOREIGN {
        assert!(!message.contains(word), "{what} says `{word}`: {message}");
    }
    let count = message.lines().count();
    assert!((1..=MOST_LINES).contains(&count), "{what} says {count} lines: {message}");
    assert!(is_ended(message.trim_end()), "{what} does not end its sentence: {message}");
    for line in message.lines() {
        if let Some((before, _)) = line.split_once(" (os error ") {
            assert!(before.contains(": "), "{what} names nothing: {message}");
        }
    }
}

/// A program that runs in a folder, so that nothing it writes stays.
fn run(program: &str, args: &[impl AsRef<str>], folder: &Folder) -> Output {
    let mut command = Command::new(program);
    command.args(args.iter().map(AsRef::<str>::as_ref)).current_dir(folder.root());
    command.env_remove("SUDOKU_TOKEN_FILE").env_remove("SUDOKU_BACKEND");
    piped(command).output().unwrap()
}

fn help(program: &str, args: &[&str]) -> String {
    let output = run(program, &[args, &["--help"]].concat(), &Folder::new());
    succeeded(&output);
    stdout(&output)
}

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let page = help(SUDOKU, &[]);
    let (_, listed) = page.split_once("\nCommands:\n").unwrap();
    let (listed, _) = listed.split_once("\n\n").unwrap();
    listed.lines().map(|line| line.split_whitespace().next().unwrap().to_owned()).collect()
}

/// The flags with a value that a page of help lists.
fn flags(page: &str) -> Vec<String> {
    let flag = |line: &str| {
        let text = line.trim_start();
        // Descriptions are indented further.
        if line.len() - text.len() > 6 {
            return None;
        }
        let long = text.find("--").filter(|at| [0, 4].contains(at)).map(|at| &text[at + 2..])?;
        let (name, value) = long.split_once([' ', '=', '['])?;
        value.contains('<').then(|| format!("--{name}"))
    };
    page.lines().filter_map(flag).collect()
}

/// What a command needs beside the flag, so that it ends soon whatever the flag has.
fn companions(command: &str) -> &'static [&'static str] {
    match command {
        "page" => &["--no-open", "missing.txt"],
        "explore" => &["--boards=1", "--clues=20"],
        "load" => &["--server=127.0.0.1:1", "--puzzles=1"],
        // Never serves, because its key is missing.
        "sudokud" => &["--tls-cert=missing.pem"],
        _ => &[],
    }
}

#[test]
fn broken_values_of_all_flags_are_refused_in_words_of_ours() {
    let mut cases: Vec<(&str, Vec<String>)> = Vec::new();
    let mut add = |program: &'static str, command: Option<&str>, page: &str| {
        let listed = flags(page);
        for (flag, value) in listed.iter().flat_map(|flag| BROKEN_VALUES.map(|value| (flag, value))) {
            let given = format!("{flag}={value}");
            let same = format!("{flag}=");
            let others = companions(command.unwrap_or("sudokud")).iter().copied();
            let mut args: Vec<String> = command.into_iter().map(str::to_owned).collect();
            args.extend(others.filter(|other| !other.starts_with(&same)).map(str::to_owned));
            args.push(given);
            cases.push((program, args));
        }
    };
    for command in commands() {
        add(SUDOKU, Some(command.as_str()), &help(SUDOKU, &[command.as_str()]));
    }
    add(SUDOKUD, None, &help(SUDOKUD, &[]));

    let folder = Folder::new();
    let check = |part: &[(&str, Vec<String>)]| {
        let mut refused = 0_usize;
        for (program, args) in part {
            let output = run(program, args, &folder);
            // Some flags take any name, of a file to write for one.
            if output.status.success() {
                continue;
            }
            assert_explained(&format!("{args:?}"), &output);
            refused += 1;
        }
        refused
    };
    let (check, parts) = (&check, cases.len().div_ceil(WORKERS));
    let refused: usize = thread::scope(|scope| {
        let workers: Vec<_> = cases.chunks(parts).map(|part| scope.spawn(move || check(part))).collect();
        workers.into_iter().map(|worker| worker.join().unwrap()).sum()
    });
    assert!(refused >= LEAST_REFUSED, "only {refused} of {} values were refused", cases.len());
}

#[test]
fn values_out_of_range_are_refused_with_the_range() {
    let folder = Folder::new();
    for (program, args, range) in [
        (SUDOKU, &["solve", "--threads", "abc"][..], "give a whole number from 1 to 1024"),
        (SUDOKU, &["solve", "--threads", "0"], "give a whole number from 1 to 1024"),
        (SUDOKU, &["page", "--port", "65536"], "give a whole number from 0 to 65535"),
        (SUDOKU, &["load", "--server", "a:1", "--batch", "0"], "give a whole number from 1 to 16384"),
        (SUDOKU, &["load", "--server", "a:1", "--in-flight", "x"], "give a whole number from 1 to 4096"),
        (SUDOKU, &["explore", "--boards", "0"], "give a whole number from 1 to 100000"),
        (SUDOKUD, &["--max-nodes", "0"], "give a whole number from 1\n"),
        (SUDOKUD, &["--threads", "1025"], "give a whole number from 1 to 1024"),
    ] {
        let output = run(program, args, &folder);
        assert_explained(&format!("{args:?}"), &output);
        assert!(stderr(&output).contains(range), "{args:?}: {}", stderr(&output));
    }
    for (program, variable) in [(SUDOKU, "SUDOKU_BACKEND"), (SUDOKUD, "SUDOKUD_MAX_NODES")] {
        let mut command = Command::new(program);
        command.env(variable, "abc");
        if program == SUDOKU {
            command.args(["solve", EASY]);
        }
        assert_explained(variable, &piped(command).output().unwrap());
    }
    // Beside an argument that is no UTF-8 too.
    let mut command = Command::new(SUDOKUD);
    command.env("SUDOKUD_MAX_NODES", "abc").arg("--config").arg(OsStr::from_bytes(b"/nowhere/\xFF"));
    assert_explained("an argument in bytes", &piped(command).output().unwrap());
}

/// Files that are broken in many ways, by name.
fn broken_files(folder: &Folder) -> Vec<String> {
    fs::create_dir(folder.path("folder")).unwrap();
    let (binary, latin1) = ([0_u8, 255, 254, 1, 2, 3].repeat(99), b"caf\xe9\n".repeat(9));
    let contents: [(&str, &[u8]); 14] = [
        ("empty", b""),
        ("blank", b"\n\n"),
        ("binary", &binary),
        ("latin1", &latin1),
        ("words", b"hello world\nand more\n"),
        ("objects", b"{\"puzzle\":\"12\"}\n{\"puzzle\"\n"),
        ("document.xml", b"<?xml version=\"1.0\"?><opensudoku>"),
        ("array.npy", b"\x93NUMPY\x01\x00\x76\x00junk"),
        ("table.parquet", b"PAR1junkjunkPAR1"),
        ("list.gz", b"\x1f\x8b\x08"),
        ("list.zst", b"\x28\xb5\x2f\xfdjunkjunkjunk"),
        ("list.xz", b"\xfd7zXZ\x00junkjunkjunk"),
        ("list.bz2", b"BZh9junkjunkjunk"),
        ("list.zip", b"PK\x03\x04junkjunkjunkjunkjunkjunkjunk"),
    ];
    let mut names = vec!["missing".to_owned(), "missing/too".to_owned(), "folder".to_owned()];
    for (name, content) in contents {
        folder.write(name, content);
        names.push(name.to_owned());
    }
    names
}

#[test]
fn broken_files_are_refused_in_words_of_ours() {
    let folder = Folder::new();
    let all = broken_files(&folder);
    let (folder, names) = (&folder, &all);
    thread::scope(|scope| {
        for commands in READING.chunks(READING.len().div_ceil(WORKERS)) {
            scope.spawn(move || {
                let pairs = commands.iter().flat_map(|command| names.iter().map(move |name| (command, name)));
                for (command, name) in pairs {
                    let output = run(SUDOKU, &[*command, name.as_str()], folder);
                    assert_explained(&format!("{command} {name}"), &output);
                    if name.starts_with("missing") {
                        assert_eq!(stderr(&output), format!("{name}: {MISSING}\n"), "{command}");
                    }
                }
            });
        }
    });
    for name in names.iter().map(String::as_str) {
        for args in [
            &["load", "--server", "127.0.0.1:1", name][..],
            &["page", "--no-open", name],
            &["join", name],
            &["solve", name, "--server", "http://127.0.0.1:1", "--retries", "0"],
        ] {
            assert_explained(&format!("{args:?}"), &run(SUDOKU, args, folder));
        }
    }
}

#[test]
fn broken_certificates_and_tokens_are_refused_in_words_of_ours() {
    let folder = Folder::new();
    folder.write("puzzles.txt", format!("{EASY}\n"));
    folder.write("cut.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n");
    folder.write(
        "locked.pem",
        "-----BEGIN ENCRYPTED PRIVATE KEY-----\nMIIB\n-----END ENCRYPTED PRIVATE KEY-----\n",
    );
    folder.write("good.pem", "-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n");
    let mut names = broken_files(&folder);
    names.extend(["cut.pem".to_owned(), "locked.pem".to_owned()]);
    let server = ["--server", "https://127.0.0.1:1", "--retries", "0"];
    for name in names.iter().map(String::as_str) {
        let is_text = !["folder", "binary", "latin1"].contains(&name) && !name.contains("missing");
        for (flags, problem) in [
            (&["--tls-ca", name][..], " holds no certificate in PEM."),
            (&["--tls-cert", name, "--tls-key", name], " holds no certificate in PEM."),
            (
                &["--tls-cert", "good.pem", "--tls-key", name],
                " holds no private key in PEM, or an encrypted one only.",
            ),
        ] {
            let output = run(SUDOKU, &[&["solve", "puzzles.txt"][..], &server, flags].concat(), &folder);
            assert_explained(&format!("{flags:?}"), &output);
            if is_text {
                assert_eq!(stderr(&output), format!("{name}{problem}\n"));
            }
        }
        // Of these, some have a line that may be a token.
        let args = [&["solve", "puzzles.txt", "--token-file", name][..], &server].concat();
        assert_explained(&format!("{args:?}"), &run(SUDOKU, &args, &folder));
        for args in [
            &["--tls-cert", name, "--tls-key", name][..],
            &["--tls-cert", "missing", "--tls-key", "missing", "--client-ca", name],
            &["--token-file", name],
            &["--config", name],
        ] {
            // An empty file of settings is a good one; the address is none to listen on.
            let args = [args, &["--listen", "192.0.2.1:1"]].concat();
            assert_explained(&format!("{args:?}"), &run(SUDOKUD, &args, &folder));
        }
    }
    let token = ["solve", "puzzles.txt", "--server", "127.0.0.1:1", "--retries", "0", "--token-file"];
    for (name, message) in [("empty", "empty has no token.\n"), ("latin1", "latin1 is no text in UTF-8.\n")] {
        assert_eq!(stderr(&run(SUDOKU, &[&token[..], &[name]].concat(), &folder)), message);
    }
}

/// The sources below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let paths = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    paths.flat_map(|path| if path.is_dir() { sources(&path) } else { vec![path] }).collect()
}

#[test]
fn sentences_name_options_only_where_there_are_some() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let sentences = |path: &Path, option: &str| -> Vec<String> {
        let source = fs::read_to_string(path).unwrap();
        let (code, _) = source.split_once("#[cfg(test)]\nmod ").unwrap_or((&source, ""));
        let joined: String = code.split("\\\n").map(str::trim_start).collect();
        let lines = joined.lines().map(str::trim).filter(|line| !line.starts_with("//"));
        lines.filter(|line| line.contains(option)).map(str::to_owned).collect()
    };
    // Flags are of programs; a call sets fields, an argument or nothing.
    let errors = root.join("src/input/error.rs");
    for folder in ["core/src", "src/input", "src/service/rpc", "src/service/wire", "python/src"] {
        for path in sources(&root.join(folder)).iter().filter(|path| **path != errors) {
            let mut sentences = sentences(path, " --");
            // A feature of the program is none of a call.
            sentences.retain(|line| !line.contains(" --features"));
            assert_eq!(sentences, [""; 0], "{}", path.display());
        }
    }
    let sent = sentences(&root.join("src/service/wire/status.rs"), " options.");
    // What is said of an input without puzzles names no field, because data sets have it too.
    assert_eq!(sent.len() + 1, sentences(&errors, " --").len(), "for each flag a field: {sent:?}");
    assert_eq!(sentences(&root.join("src/service/datasets.rs"), " options."), [""; 0]);
    // The page has no options, and names the flag for each that would mend a text.
    let page = fs::read_to_string(root.join("src/service/page/api.js")).unwrap();
    let text = fs::read_to_string(root.join("core/src/text/mod.rs")).unwrap();
    let (_, text) = text.split_once("pub const fn option(&self)").unwrap();
    let (text, _) = text.split_once("\n    }\n").unwrap();
    let options: Vec<_> = text.split("Some(\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    assert!(!options.is_empty());
    for option in options {
        let entry = format!("  \"options.{option}\": \"--{option}\",\n");
        assert!(page.contains(&entry), "the page has no advice for {option}");
    }
}

#[test]
fn broken_settings_are_refused_with_their_place() {
    let folder = Folder::new();
    for (text, message) in [
        ("max-nodes =\n", "Line 1 is no TOML at column 12: "),
        ("threads = 1\n\nthreads = 2\n", "Line 3 is no TOML at column 1: duplicate key."),
        ("log = \"text\nthreads = 2\n", "Line 1 is no TOML at column "),
        ("max-nodes = 'many'\n", "give a whole number from 1"),
        ("max-nodes = { a = 1 }\n", "write a string, a number or true."),
    ] {
        folder.write("settings.toml", text);
        let output = run(SUDOKUD, &["--config", "settings.toml"], &folder);
        let said = stderr(&output);
        assert!(said.starts_with("sudokud: The configuration file settings.toml is wrong: "), "{said}");
        assert!(said.contains(message), "{text}: {said}");
        for word in FOREIGN {
            assert!(!said.contains(word), "{text}: {said}");
        }
        assert_eq!((output.status.code(), said.lines().count()), (Some(2), 1), "{said}");
    }
}

#[test]
fn broken_manifests_are_refused_in_words_of_ours() {
    let folder = Folder::new();
    let shard = folder.write("shard.txt", "1234341221434321\n");
    let contents: [&[u8]; 8] = [
        b"",
        b"{",
        b"null",
        b"[]",
        b"{\"schema\":1}",
        b"\xff\xfe",
        b"7",
        b"{\"schema\":\"x\",\"shard\":\"1/2\"}",
    ];
    for content in contents {
        folder.write("shard.txt.manifest", content);
        let output = run(SUDOKU, &["join", shard.as_str()], &folder);
        assert_explained(&String::from_utf8_lossy(content), &output);
        assert!(stderr(&output).contains("shard.txt.manifest is no manifest"), "{}", stderr(&output));
    }
    fs::remove_file(folder.path("shard.txt.manifest")).unwrap();
    assert_explained("no manifest", &run(SUDOKU, &["join", shard.as_str()], &folder));
    fs::create_dir(folder.path("shard.txt.manifest")).unwrap();
    assert_explained("a folder", &run(SUDOKU, &["join", shard.as_str()], &folder));
}

#[test]
fn programs_that_cannot_be_compared_with_are_refused_in_words_of_ours() {
    let folder = Folder::new();
    let list = fixture("good/nine.header").to_str().unwrap().to_owned();
    folder.write("text", "no program\n");
    for other in ["true", "echo", "./text", "./folder", "./missing"] {
        let args = ["bench", list.as_str(), "--strategy", "propagation", "--time", "1", "--compare", other];
        assert_explained(other, &run(SUDOKU, &args, &folder));
    }
}

#[test]
fn outputs_that_cannot_be_written_are_named() {
    if !Path::new("/dev/full").exists() {
        skipped("there is no /dev/full");
        return;
    }
    let full = || Stdio::from(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let folder = Folder::new();
    for args in [
        &["solve", EASY][..],
        &["count", EASY],
        &["solutions", EASY],
        &["validate", EASY],
        &["check", EASY],
        &["show", EASY],
        &["canon", EASY],
        &["dedup", EASY],
        &["disguise", EASY],
        &["minimize", EASY],
        &["hint", EASY],
        &["rate", EASY],
        &["steps", EASY],
        &["trace", EASY],
        &["generate"],
        &["explore", "--boards", "1", "--clues", "20"],
        &["demo", "--repeat", "1"],
        &["shell", EASY],
        &["completions", "bash"],
        &["man"],
        &["--help"],
        &["-h"],
        &["help", "count"],
        &["--version"],
        &["solve", "--help"],
        &["trace", "-h"],
    ] {
        // The console prints when it is asked.
        let asked = folder.write("asked", "solve\n");
        let mut command = sudoku(args);
        command.stdin(fs::File::open(asked).unwrap()).stdout(full()).current_dir(folder.root());
        let output = command.output().unwrap();
        let what = "standard output: No space left on device (os error 28)\n";
        assert_eq!(output.status.code(), Some(2), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).ends_with(what), "{args:?}: {}", stderr(&output));
    }
    for path in ["missing/out.txt", "/", "/dev/full"] {
        for args in [&["solve", EASY, "-o", path][..], &["generate", "-o", path]] {
            let output = run(SUDOKU, args, &folder);
            assert_explained(&format!("{args:?}"), &output);
            assert!(stderr(&output).contains(&format!("{path}: ")), "{args:?}: {}", stderr(&output));
        }
    }
}

#[test]
fn words_of_other_tools_are_told_what_they_are_here() {
    let folder = Folder::new();
    folder.write("p.txt", format!("{EASY}\n"));
    let run = |args: &[&str]| sudoku(args).current_dir(folder.root()).output().unwrap();
    let rows: Vec<&str> = EASY.as_bytes().chunks(9).map(|row| std::str::from_utf8(row).unwrap()).collect();
    for (args, wanted) in [
        (&["solve", "p.txt", "--json"][..], "--json is --format jsonl here"),
        (&["p.txt", "--jobs", "2"], "--jobs is --threads here"),
        // Only what the command has is advised.
        (&["validate", "--json"], "unexpected argument '--json'"),
        (&["bench", "--csv", "p.txt"], "unexpected argument '--csv'"),
        (&["generate", "easy"], "how hard puzzles are is --difficulty easy"),
        (&["generate", "5"], "the number of puzzles is --count 5, or -n 5"),
        (&rows, "The 9 arguments look like the rows of a puzzle: put quotes around all of them."),
        (&["p.txt", "out.txt"], "To write to it, use -o out.txt."),
        (&["p.txt", "-o", "no/x.txt"], "no/x.txt: there is no folder no. Make it, or name another file."),
        (&["p.txt", "-o", "solved.json"], "solved.json would be plain lines, and no json."),
        (&["rate", "p.txt", "-o", "r.json"], "r.json would be plain lines, and no json."),
        (&["generate", "-o", "made.JSON"], "made.JSON would be plain lines, and no json."),
        (&["generate", "-o", "made.tsv"], "Puzzles are not made as tsv. Name a .csv or .jsonl file."),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(wanted), "{args:?}: {}", stderr(&output));
    }
    // A guess that has little in common with what was typed is none.
    let told = stderr(&run(&["--solve", "p.txt"]));
    assert!(!told.contains("--server") && told.contains("a flag of `sudoku show`"), "{told}");
    assert!(stderr(&run(&["p.txt", "--thread", "1"])).contains("'--threads'"));
    let solved = stdout(&run(&["p.txt"]));
    assert_eq!(stdout(&run(&["Solve", "p.txt"])), solved);
    assert!(stdout(&run(&["steps", "p.txt", "--only", "singles,XWing"])).contains("hidden single"));
}

#[test]
fn the_form_follows_the_name_of_the_file_in_any_case() {
    let folder = Folder::new();
    folder.write("p.txt", format!("{EASY}\n"));
    let run = |args: &[&str]| sudoku(args).current_dir(folder.root()).output().unwrap();
    for (args, file, begins) in [
        (&["generate", "-o", "made.csv"][..], "made.csv", "puzzle,solution\n"),
        (&["generate", "-o", "made.JSONL"], "made.JSONL", "{\"puzzle\":"),
        (&["generate", "-o", "made.txt", "-f", "csv"], "made.txt", "puzzle,solution\n"),
        (&["solve", "p.txt", "-o", "a.CSV"], "a.CSV", "puzzle,solution"),
        (&["solve", "p.txt", "-f", "jsonl", "-o", "a.json"], "a.json", "{"),
        (&["rate", "p.txt", "-o", "rated.Csv"], "rated.Csv", "puzzle,"),
    ] {
        let output = run(args);
        assert_eq!(output.status.code(), Some(0), "{args:?}: {}", stderr(&output));
        assert!(folder.read(file).starts_with(begins), "{args:?}: {}", folder.read(file));
    }
}
