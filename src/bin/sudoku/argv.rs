//! The command line before it is parsed: a command that was left out, old spellings, puzzles that
//! look like flags.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal as _};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, CommandFactory as _, Subcommand as _};
use sudoku_stream::answer::OutputForm;
use sudoku_stream::generate::Difficulty;
use sudoku_stream::grid::Order;
use sudoku_stream::text::Hint;

use crate::cli::typed::{self, TypedArgument};
use crate::{Command, CommandLine};

/// The command that is meant where none is named.
pub const DEFAULT_COMMAND: &str = "solve";

/// The command that prints the reference, which clap does not know.
pub const DOCS: &str = "docs";

/// The commands whose `--output FORM` was what `--format FORM` is now.
const HAD_FORMS: [&str; 2] = ["solve", "count"];

/// The end of the flags.
const END_OF_FLAGS: &str = "--";

/// A command line that can be parsed.
pub struct CommandArgs {
    pub args: Vec<OsString>,
    /// Notes about old spellings, a sentence each.
    pub notes: Vec<String>,
}

/// Prepares the arguments of this process; the first is the program.
pub fn prepare(args: impl IntoIterator<Item = OsString>) -> CommandArgs {
    let mut args: Vec<OsString> = args.into_iter().collect();
    name_command(&mut args, io::stdin().is_terminal());
    let notes = modernise(&mut args);
    for arg in args.iter_mut().skip(2) {
        if is_puzzle_like_a_flag(arg) {
            *arg = OsString::from(format!(".{}", &arg.to_string_lossy()[1..]));
        }
    }
    CommandArgs { args, notes }
}

/// Inserts the command where it was left out, and makes a flag of the command `help`.
fn name_command(args: &mut Vec<OsString>, is_typed: bool) {
    let Some(first) = args.get(1).map(OsString::as_os_str) else {
        // A terminal is shown the help.
        if !is_typed && !args.is_empty() {
            args.push(DEFAULT_COMMAND.into());
        }
        return;
    };
    let lower = first.to_ascii_lowercase();
    if first != lower && lower.to_str().is_some_and(Command::has_subcommand) && fs::metadata(first).is_err() {
        args[1] = lower;
    } else if first == "help" {
        args.remove(1);
        args.push("--help".into());
    } else if !["-h", "--help", "-V", "--version", DOCS].iter().any(|flag| first == *flag)
        && !first.to_str().is_some_and(Command::has_subcommand)
        && (first.as_bytes().starts_with(b"-") || !is_like_a_command(first) || fs::metadata(first).is_ok())
    {
        args.insert(1, DEFAULT_COMMAND.into());
    }
}

/// May it be the name of a command, mistyped? Names are short and have lower-case letters only.
fn is_like_a_command(word: &OsStr) -> bool {
    let word = word.as_bytes();
    (1..16).contains(&word.len()) && word.iter().all(|&byte| byte.is_ascii_lowercase() || byte == b'-')
}

/// Replaces `--output FORM` by `--format FORM`, and returns a note about it.
fn modernise(args: &mut [OsString]) -> Vec<String> {
    let mut notes = Vec::new();
    if !args.get(1).is_some_and(|command| HAD_FORMS.iter().any(|had| command == had)) {
        return notes;
    }
    let form =
        |text: &[u8]| OutputForm::ALL.into_iter().map(|(name, _)| name).find(|name| name.as_bytes() == text);
    let mut place = 2;
    while place < args.len() && args[place] != END_OF_FLAGS {
        let joined = args[place].as_bytes().strip_prefix(b"--output=").and_then(form);
        let apart =
            args.get(place + 1).filter(|_| args[place] == "--output").and_then(|next| form(next.as_bytes()));
        if let Some(name) = joined {
            args[place] = format!("--format={name}").into();
        } else if apart.is_some() {
            args[place] = "--format".into();
        }
        if let Some(name) = joined.or(apart) {
            notes.push(format!(
                "`--output {name}` is now `--format {name}` or `-f {name}`; a file of that name is `--output ./{name}`."
            ));
        }
        place += 1;
    }
    notes
}

/// Is it a puzzle whose first cell is a blank that is written `-`?
fn is_puzzle_like_a_flag(arg: &OsStr) -> bool {
    let bytes = arg.as_bytes();
    let is_cell = |byte: &u8| byte.is_ascii_digit() || b"._*-".contains(byte);
    bytes.first() == Some(&b'-')
        && Order::from_cells(bytes.len()).is_some_and(|order| order.side() > 1)
        && bytes.iter().all(is_cell)
        && typed::read(bytes, &Hint::default()) != TypedArgument::Other
        && !Path::new(arg).exists()
}

/// What the usage of commands that take one input ends with.
const ONE_INPUT: &str = "[PUZZLE|FILE]";

/// The error of a command line. For an unknown command it says that there is no such file either,
/// and for a second input that there can be only one.
pub fn explain(mut error: clap::Error) -> clap::Error {
    let tip = match error.kind() {
        ErrorKind::InvalidSubcommand => no_such_file(&error),
        ErrorKind::UnknownArgument => {
            let tip = known_elsewhere(&error).or_else(|| only_one_input(&error));
            drop_weak_guess(&mut error);
            tip
        }
        _ => None,
    };
    if let Some(tip) = tip {
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(vec![StyledStr::from(tip)]));
    }
    error
}

fn no_such_file(error: &clap::Error) -> Option<String> {
    let ContextValue::String(word) = error.get(ContextKind::InvalidSubcommand)? else { return None };
    let cause = fs::metadata(word).err()?;
    Some(format!("there is no file '{word}' to solve either: {cause}"))
}

/// Flags of other tools, and what they are here.
const KNOWN_ELSEWHERE: [(&str, &str); 9] = [
    ("--csv", "--format csv"),
    ("--tsv", "--format tsv"),
    ("--json", "--format jsonl"),
    ("--jsonl", "--format jsonl"),
    ("--jobs", "--threads"),
    ("--out", "--output"),
    ("--solve", "what `sudoku solve` does by itself, and a flag of `sudoku show`"),
    ("--unique", "--question unique"),
    ("--number", "`--index` of `sudoku show` and others"),
];

/// What an unknown argument is here, if other tools have it.
fn known_elsewhere(error: &clap::Error) -> Option<String> {
    let (argument, command) = (unknown(error)?, misused(error)?);
    let makes_puzzles = command.get_name() == "generate";
    let is_number = argument.bytes().all(|byte| byte.is_ascii_digit());
    if makes_puzzles && is_number {
        return Some(format!("the number of puzzles is --count {argument}, or -n {argument}"));
    }
    if is_number && has_option(&command, "index") {
        return Some(format!("puzzle {argument} of a file is --index {argument}"));
    }
    if makes_puzzles && Difficulty::ALL.iter().any(|(name, _)| *name == argument) {
        return Some(format!("how hard puzzles are is --difficulty {argument}"));
    }
    let (flag, here) = KNOWN_ELSEWHERE.iter().find(|(flag, _)| *flag == argument)?;
    let is_had = here.strip_prefix("--").is_none_or(|option| has_option(&command, option));
    is_had.then(|| format!("{flag} is {here} here"))
}

/// The command whose usage an error shows.
fn misused(error: &clap::Error) -> Option<clap::Command> {
    let (usage, line) = (usage(error), CommandLine::command());
    let mut command = usage.split_whitespace().find_map(|word| line.find_subcommand(word))?.clone();
    // Only what is built has the arguments.
    command.build();
    Some(command)
}

/// Whether a command has an option, `format csv` or `threads`.
fn has_option(command: &clap::Command, option: &str) -> bool {
    let (flag, value) = option.split_once(' ').map_or((option, None), |(flag, value)| (flag, Some(value)));
    let takes = |arg: &Arg| {
        value.is_none_or(|value| arg.get_possible_values().iter().any(|known| known.matches(value, true)))
    };
    command.get_arguments().any(|arg| arg.get_long() == Some(flag) && takes(arg))
}

/// Drops the guess at what a flag was meant to be, if it has little in common with it.
fn drop_weak_guess(error: &mut clap::Error) {
    let (Some(wrong), Some(ContextValue::String(guess))) =
        (unknown(error), error.get(ContextKind::SuggestedArg))
    else {
        return;
    };
    let name = guess.split_whitespace().next().unwrap_or(guess);
    // A third of the letters may be wrong.
    if 3 * strsim::damerau_levenshtein(wrong, name) > wrong.len() {
        error.remove(ContextKind::SuggestedArg);
        error.remove(ContextKind::Usage);
    }
}

fn unknown(error: &clap::Error) -> Option<&str> {
    match error.get(ContextKind::InvalidArg)? {
        ContextValue::String(argument) => Some(argument),
        _ => None,
    }
}

fn usage(error: &clap::Error) -> String {
    match error.get(ContextKind::Usage) {
        Some(ContextValue::StyledStr(usage)) => usage.to_string(),
        _ => String::new(),
    }
}

fn only_one_input(error: &clap::Error) -> Option<String> {
    let is_input = !unknown(error)?.starts_with('-') && usage(error).trim_end().ends_with(ONE_INPUT);
    is_input.then(|| "this takes one puzzle or file at a time".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const EASY: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    fn prepared(words: &[&str]) -> (String, Vec<String>) {
        let words = ["sudoku"].iter().chain(words).map(OsString::from);
        let CommandArgs { args, notes } = prepare(words);
        let args: Vec<_> = args.iter().skip(1).map(|arg| arg.to_string_lossy()).collect();
        (args.join(" "), notes)
    }

    #[test]
    fn a_command_that_is_left_out_is_solve() {
        for (words, expected) in [
            (&[EASY][..], format!("solve {EASY}")),
            (&["no/such.txt"], "solve no/such.txt".to_owned()),
            (&["Cargo.toml"], "solve Cargo.toml".to_owned()),
            (&["-f", "csv", "-"], "solve -f csv -".to_owned()),
            (&["-"], "solve -".to_owned()),
            (&["--", "solve"], "solve -- solve".to_owned()),
            (&["count", "x"], "count x".to_owned()),
            (&["slove"], "slove".to_owned()),
            (&["slove", "puzzles.txt"], "slove puzzles.txt".to_owned()),
            (&["-h"], "-h".to_owned()),
            (&["--version"], "--version".to_owned()),
            (&["help"], "--help".to_owned()),
            (&["help", "count"], "count --help".to_owned()),
        ] {
            assert_eq!(prepared(words), (expected, Vec::new()), "{words:?}");
        }
    }

    #[test]
    fn forms_have_a_flag_of_their_own() {
        let note = |form: &str| {
            format!(
                "`--output {form}` is now `--format {form}` or `-f {form}`; a file of that name is `--output ./{form}`."
            )
        };
        for (words, expected, notes) in [
            (
                &["solve", "a", "--output", "csv", "-o", "b"][..],
                "solve a --format csv -o b",
                vec![note("csv")],
            ),
            (&["count", "--output=jsonl"], "count --format=jsonl", vec![note("jsonl")]),
            (&["a.txt", "--output", "grid"], "solve a.txt --format grid", vec![note("grid")]),
            (&["solve", "-o", "csv"], "solve -o csv", vec![]),
            (&["solve", "--output", "./csv"], "solve --output ./csv", vec![]),
            (&["solve", "--output", "csv.txt"], "solve --output csv.txt", vec![]),
            (&["solve", "--", "--output", "csv"], "solve -- --output csv", vec![]),
            (&["generate", "--output", "csv"], "generate --output csv", vec![]),
        ] {
            assert_eq!(prepared(words), (expected.to_owned(), notes), "{words:?}");
        }
    }

    #[test]
    fn a_puzzle_that_begins_with_a_dash_is_no_flag() {
        let dashes = EASY.replace('.', "-").replacen('5', "-", 1);
        assert_eq!(prepared(&["solve", &dashes]).0, format!("solve .{}", &dashes[1..]));
        assert_eq!(prepared(&[&dashes]).0, format!("solve .{}", &dashes[1..]));
        assert_eq!(prepared(&["solve", "--node-limit"]).0, "solve --node-limit");
    }
}
