//! The source of lines: a terminal with editing, history and completion, or a pipe.

use std::fs;
use std::io::{self, BufRead as _, StdinLock};
use std::path::PathBuf;

use anyhow::Context as _;
use etcetera::BaseStrategy as _;
use rustix::process::getpgrp;
use rustix::termios::{OptionalActions, tcgetattr, tcgetpgrp, tcsetattr};
use rustyline::completion::{Completer, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::Highlighter;
use rustyline::hint::Hinter;
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};

use super::command::{self, Completes};
use super::session::{MAX_LINE_BYTES, strategy_names};
use crate::cli::interrupt;

/// The most lines in the history.
const MAX_HISTORY: usize = 1_000;

/// The longest line in the history, in bytes: commands and puzzles up to 25x25 fit.
const MAX_HISTORY_LINE_BYTES: usize = 1_024;

/// Has the terminal mark pasted text no longer, as editors of lines ask it to.
const PASTES_AS_TYPED: &[u8] = b"\x1b[?2004l";

/// The result of reading a line.
pub enum ConsoleEvent {
    /// A line, or several that were pasted at once, without the last line end.
    Line(Vec<u8>),
    /// Ctrl-C.
    Interrupted,
    /// The end of the input.
    End,
}

/// The source of lines.
pub enum Console {
    Terminal { editor: Box<Editor<Completions, FileHistory>>, history: Option<PathBuf> },
    Pipe(StdinLock<'static>),
}

impl Console {
    /// The terminal.
    ///
    /// # Errors
    /// A terminal that cannot be set up.
    pub fn terminal() -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(MAX_HISTORY)
            .and_then(|builder| builder.history_ignore_dups(true))
            .context("The terminal cannot be used")?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .build();
        give_back_if_ended().context("Signals cannot be handled")?;
        let mut editor = Editor::with_config(config).context("The terminal cannot be used")?;
        editor.set_helper(Some(Completions { files: FilenameCompleter::new() }));
        // There is no history the first time, or without a folder for it.
        let history = history_file();
        if let Some(path) = &history {
            let _ = editor.load_history(path);
        }
        Ok(Self::Terminal { editor: Box::new(editor), history })
    }

    /// Standard input, whatever it is.
    pub fn pipe() -> Self {
        Self::Pipe(io::stdin().lock())
    }

    /// Waits for the next line.
    ///
    /// # Errors
    /// The system's, of an input that cannot be read.
    pub fn next(&mut self, prompt: &str) -> anyhow::Result<ConsoleEvent> {
        match self {
            Self::Pipe(input) => {
                Ok(next_line(input).context("standard input")?.map_or(ConsoleEvent::End, ConsoleEvent::Line))
            }
            Self::Terminal { editor, history } => match editor.readline(prompt) {
                Ok(line) => {
                    if line.len() <= MAX_HISTORY_LINE_BYTES && !line.trim().is_empty() {
                        // A history that cannot be written is not worth an error.
                        let _ = editor.add_history_entry(line.as_str());
                        if let Some(path) = history {
                            let _ = editor.append_history(path);
                        }
                    }
                    Ok(ConsoleEvent::Line(line.into_bytes()))
                }
                Err(ReadlineError::Eof) => Ok(ConsoleEvent::End),
                Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => Ok(ConsoleEvent::Interrupted),
                // Bytes that are not UTF-8.
                Err(ReadlineError::Io(error)) if error.kind() == io::ErrorKind::InvalidData => {
                    Ok(ConsoleEvent::Line(Vec::new()))
                }
                Err(error) => Err(error).context("The terminal cannot be read"),
            },
        }
    }
}

/// Has the terminal given back when a signal ends the console: lines are edited in a mode in which
/// nothing that is typed would be shown.
fn give_back_if_ended() -> io::Result<()> {
    let modes = tcgetattr(io::stdin())?;
    interrupt::before_default(move || {
        // In the background the terminal belongs to another program.
        if !tcgetpgrp(io::stdin()).is_ok_and(|group| group != getpgrp()) {
            let _ = rustix::io::write(io::stdout(), PASTES_AS_TYPED);
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &modes);
        }
    })
}

/// The next line without its end, cut short beyond the longest line accepted. `None` at the end.
fn next_line(input: &mut StdinLock<'static>) -> io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    let mut is_begun = false;
    loop {
        let buffer = match input.fill_buf() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            buffer => buffer?,
        };
        if buffer.is_empty() {
            return Ok(is_begun.then_some(line));
        }
        is_begun = true;
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let part = &buffer[..end.unwrap_or(buffer.len())];
        // One byte more than is accepted shows that it was longer.
        line.extend_from_slice(&part[..part.len().min(MAX_LINE_BYTES + 1 - line.len())]);
        let used = end.map_or(buffer.len(), |end| end + 1);
        input.consume(used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

/// The history file, in a folder that exists.
fn history_file() -> Option<PathBuf> {
    let folders = etcetera::choose_base_strategy().ok()?;
    let folder = folders.state_dir().unwrap_or_else(|| folders.data_dir()).join("sudoku");
    fs::create_dir_all(&folder).ok()?;
    Some(folder.join("history"))
}

/// Completion of commands, files, strategies and other words.
pub struct Completions {
    files: FilenameCompleter,
}

impl Completer for Completions {
    type Candidate = Pair;

    fn complete(&self, line: &str, at: usize, _: &Context<'_>) -> rustyline::Result<(usize, Vec<Pair>)> {
        let before = &line[..at];
        let start = before.rfind(char::is_whitespace).map_or(0, |space| space + 1);
        let begun = before[start..].to_lowercase();
        let fitting = |names: &mut dyn Iterator<Item = &'static str>| {
            let pair = |name: &str| Pair { display: name.to_owned(), replacement: format!("{name} ") };
            let pairs = names.filter(|name| name.starts_with(&begun)).map(pair).collect();
            Ok((start, pairs))
        };
        let mut words = before[..start].split_whitespace();
        let Some(command) = words.next() else { return fitting(&mut command::names()) };
        let Ok(command) = command::resolve(command) else { return Ok((start, Vec::new())) };
        match command.completes {
            Completes::Files => self.files.complete_path(line, at),
            _ if words.next().is_some() => Ok((start, Vec::new())),
            Completes::Nothing => Ok((start, Vec::new())),
            Completes::Commands => fitting(&mut command::names().chain(command::topics())),
            Completes::Strategies => fitting(&mut strategy_names()),
            Completes::Words(words) => fitting(&mut words.iter().copied()),
        }
    }
}

impl Helper for Completions {}

impl Highlighter for Completions {}

impl Validator for Completions {}

impl Hinter for Completions {
    type Hint = String;
}
