//! A session: lines in, replies out. It knows neither terminals nor pipes.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use sudoku_stream::answer::{
    Block, HINT_EFFORT, NextStep, RateTask, Raters, Solvers, Tally, Task, check_grid, next_step,
    read_positions,
};
use sudoku_stream::grid::{Digit, Grid, Order};
use sudoku_stream::input::{InputError, Pick, STANDARD_INPUT};
use sudoku_stream::pipeline::{self, Panicked, ThreadPool, catch_panic};
use sudoku_stream::solver::{
    DEFAULT_COUNT_LIMIT, DEFAULT_NODE_LIMIT, Limit, Metrics, Question, STRATEGIES, Search, Stop, Strategy,
    default_strategy, strategy,
};
use sudoku_stream::techniques::{Candidate, Position, TechniqueSet};
use sudoku_stream::text::{Alphabet, Format, Hint, Notation, Problem, PuzzleError};

use super::arguments::{are_three_numbers, cell, coordinates, digit, from_one, order, sets_named_cell};
use super::board::{Board, Look, Note, Snapshot, Travel};
use super::command::{self, Verb, shortened};
use super::examples::example;
use super::hand::Hand;
use super::list::{self, Interrupted, List};
use super::paste::{self, Begun, LineTaken, Paste};
use crate::cli::output::text_file;
use crate::cli::typed::{Typed, first_puzzle};
use crate::cli::{by_hand, fit, print, summary};
use crate::steps::{StepsEnd, StepsTask};
use crate::{check, rate};

/// The longest line accepted, in bytes. The largest puzzle pasted at once, in the widest notation,
/// is shorter.
pub const MAX_LINE_BYTES: usize = 64 * 1024;

/// The columns of the names of strategies, and those that a terminal of 80 has left for summaries.
const NAME_COLUMNS: usize = 18;
const SUMMARY_COLUMNS: usize = 79 - NAME_COLUMNS - 3;

/// The most answers that `solve FILE` shows.
const ANSWERS_SHOWN: usize = 10;

const NO_BOARD: &str = "There is no puzzle on the board. `example` puts one there, `open FILE` takes\n\
                        one from a file, and one can be pasted as it is.";

const CANDIDATES: &str = "These are candidates, and only clues can be read here. Outside the console,\n\
                          `sudoku hint`, `steps` and `show` read both.";

/// The first line of a saved board.
const SAVED: &[u8] = b"# A board of sudoku shell: the clues, and below them all digits.\n";

const NO_SOLUTION: PuzzleError = PuzzleError { problem: Problem::NoSolution, line: None };

/// The state of a session.
pub struct Session {
    board: Option<Board>,
    /// The board that the last one took the place of.
    replaced: Option<Board>,
    list: Option<List>,
    hand: Hand,
    strategy: Option<&'static dyn Strategy>,
    node_limit: u64,
    shows_cost: bool,
    /// The format options of the command line.
    hint: Hint,
    /// An unfinished puzzle of several lines, and what happens when it is complete.
    paste: Option<(Paste, Then)>,
    /// `solve` waits for a puzzle or a file.
    awaits_puzzle: bool,
    /// A grid has just ended, so a ruler closes it.
    expects_ruler: bool,
    pool: Option<Arc<ThreadPool>>,
    cancel: Arc<AtomicBool>,
    look: Look,
}

/// The action after a puzzle is on the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Then {
    Show,
    Solve,
}

/// The reply to a line.
#[derive(Debug, Default)]
pub struct Reply {
    pub text: String,
    /// The user wants to leave.
    pub is_last: bool,
}

impl Session {
    /// A new session. Commands stop soon after `cancel` is raised.
    pub fn new(hint: Hint, cancel: Arc<AtomicBool>, look: Look) -> Self {
        Self {
            board: None,
            replaced: None,
            list: None,
            hand: Hand::default(),
            strategy: None,
            node_limit: DEFAULT_NODE_LIMIT,
            shows_cost: true,
            hint,
            paste: None,
            awaits_puzzle: false,
            expects_ruler: false,
            pool: None,
            cancel,
            look,
        }
    }

    /// The prompt of the next line.
    pub fn prompt(&self) -> String {
        match &self.paste {
            Some((paste, _)) => paste.prompt(),
            None if self.awaits_puzzle => "puzzle or file> ".to_owned(),
            None => "sudoku> ".to_owned(),
        }
    }

    /// Replies to what was typed or pasted. The session goes on whatever it is.
    pub fn take(&mut self, typed: &[u8]) -> Reply {
        if typed.len() > MAX_LINE_BYTES {
            let text = format!(
                "That is longer than {MAX_LINE_BYTES} bytes. It was passed over. `open FILE` takes more.\n"
            );
            return Reply { text, is_last: false };
        }
        match catch_panic(|| self.take_lines(typed)) {
            Ok(reply) => reply,
            Err(Panicked) => Reply {
                text: "That was not answered because of an internal error.\n".to_owned(),
                is_last: false,
            },
        }
    }

    fn take_lines(&mut self, typed: &[u8]) -> Reply {
        let lines: Vec<&[u8]> =
            typed.strip_suffix(b"\n").unwrap_or(typed).split(|&byte| byte == b'\n').collect();
        // A terminal passes pasted lines on together, so they can be read as one text.
        let is_text = lines.len() > 1
            && self.paste.is_none()
            && lines.iter().all(|line| self.command_of(line).is_none());
        let text = || {
            let rows = lines.iter().copied().filter(|line| !paste::is_heading(line));
            rows.collect::<Vec<_>>().join(&b'\n')
        };
        if is_text && let Some(text) = self.take_text(&text()) {
            return Reply { text: reply(text), is_last: false };
        }
        let mut reply = Reply::default();
        for line in lines {
            match self.take_line(line.strip_suffix(b"\r").unwrap_or(line)) {
                Ok(text) => reply.text += &text,
                Err(LeaveConsole) => {
                    reply.is_last = true;
                    break;
                }
            }
        }
        reply
    }

    /// The reply to the end of the input.
    pub fn end(&mut self) -> String {
        match self.paste.take() {
            Some((paste, then)) => self.end_paste(paste, then),
            None if self.awaits_puzzle => format!("{NO_BOARD}\n"),
            None => String::new(),
        }
    }

    /// Drops an unfinished puzzle, and the question of `solve`.
    pub fn interrupt(&mut self) -> String {
        self.awaits_puzzle = false;
        self.paste.take().map_or(String::new(), |(paste, _)| paste.end().err().unwrap_or_default())
    }

    /// What happens to the next puzzle.
    fn then(&mut self) -> Then {
        if std::mem::take(&mut self.awaits_puzzle) { Then::Solve } else { Then::Show }
    }

    fn take_line(&mut self, typed: &[u8]) -> Result<String, LeaveConsole> {
        let mut before = String::new();
        if let Some((mut paste, then)) = self.paste.take() {
            if self.command_of(typed).is_none() && !paste::is_whole(typed, &self.hint) {
                return Ok(match paste.take(typed, &self.hint) {
                    LineTaken::More => {
                        self.paste = Some((paste, then));
                        String::new()
                    }
                    LineTaken::Done(puzzle) => {
                        self.expects_ruler = true;
                        let puzzle = puzzle.map_err(|error| InputError::from(error).into());
                        reply(puzzle.and_then(|puzzle| self.take_puzzle(puzzle, then)))
                    }
                    LineTaken::Short => self.end_paste(paste, then),
                });
            }
            before = self.end_paste(paste, then);
        } else if std::mem::take(&mut self.expects_ruler) && paste::is_frame(typed) {
            return Ok(before);
        }
        if paste::is_blank_row(typed) {
            let then = self.then();
            return Ok(before + &reply(self.take_cells(typed, then)));
        }
        let line = typed.trim_ascii();
        if line.is_empty() || line.starts_with(b"#") {
            return Ok(before);
        }
        let with_command;
        let text = String::from_utf8_lossy(line);
        let is_set = sets_named_cell(&text) || self.board.is_some() && are_three_numbers(&text);
        let line = if is_set {
            with_command = [b"set ", line].concat();
            &with_command
        } else {
            line
        };
        let was_awaited = std::mem::take(&mut self.awaits_puzzle);
        if self.command_of(line).is_none() {
            if was_awaited {
                return Ok(before + &reply(self.solve_named(typed)));
            }
            if paste::looks_like_cells(line, &self.hint) {
                return Ok(before + &reply(self.take_cells(typed, Then::Show)));
            }
        }
        let text = String::from_utf8_lossy(line);
        let (word, _) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
        let command = match command::resolve(word) {
            Ok(command) => command,
            Err(sentence) => {
                let path = list::path(line);
                if path.is_file() {
                    return Ok(format!("{before}That is a file. `open {text}` opens it.\n"));
                }
                return Ok(before + &sentence + "\n");
            }
        };
        if command.verb == Verb::Exit {
            return Err(LeaveConsole);
        }
        // The original bytes, because file names need not be UTF-8.
        let rest =
            line.iter().position(u8::is_ascii_whitespace).map_or(&b""[..], |at| line[at..].trim_ascii());
        Ok(before + &reply(self.execute(command, rest)))
    }

    fn execute(&mut self, command: &command::ConsoleCommand, rest: &[u8]) -> anyhow::Result<String> {
        let text = String::from_utf8_lossy(rest).into_owned();
        let words: Vec<&str> = text.split_whitespace().collect();
        let misused = || anyhow!("It is typed `{}`. `help {}` says more.", command.usage(), command.name);
        match (command.verb, &words[..]) {
            (Verb::Rules, []) => Ok(self.rules()),
            (Verb::Help, []) => Ok(command::list()),
            (Verb::Help, [word]) => Ok(command::explain(word)),
            (Verb::Example, []) => self.example(Order::NINE),
            (Verb::Example, [side]) => self.example(order(side)?),
            (Verb::New, []) => Ok(self.new_board(self.order())),
            (Verb::New, [side]) => Ok(self.new_board(order(side)?)),
            (Verb::Open, [_, ..]) => self.open(&list::path(rest)),
            (Verb::Save, [_, ..]) => self.save(&list::path(rest)),
            (Verb::Puzzle, [number]) => {
                let number = number.parse().ok().filter(|&number: &u64| number > 0).ok_or_else(|| {
                    anyhow!("`{}` is no number of a puzzle. They count from 1.", shortened(number))
                })?;
                self.pick(Pick::Number(number))
            }
            (Verb::Random, []) => self.pick(Pick::Random),
            (Verb::Show, []) => self.with_board(|board, look| board.summary() + "\n" + &board.draw(look)),
            (Verb::Show, [form]) => self.show(form),
            (Verb::Set, [..]) => self.set(&text).and_then(|text| text.ok_or_else(misused)),
            (Verb::Clear, [..]) => self.clear(&text).and_then(|text| text.ok_or_else(misused)),
            (Verb::Undo, []) => self.undo(),
            (Verb::Redo, []) => self.travel(Board::redo, "There is nothing to make again.\n", "Noted again"),
            (Verb::Reset, []) => self.change(Board::reset),
            (Verb::Lock, []) => self.change(Board::lock),
            (Verb::Unlock, []) => {
                let had_clues = self.with_board(|board, _| board.clues().filled() > 0)?;
                let note = "\nNo digit is a clue now, so `reset` removes them all.\n";
                Ok(self.change(Board::unlock)? + if had_clues { note } else { "" })
            }
            (Verb::Check, []) => self.check(),
            (Verb::Hint, []) => self.hint(false),
            (Verb::Hint, [word]) if word.eq_ignore_ascii_case("all") => self.hint(true),
            (Verb::Apply, []) => self.apply(),
            (Verb::Rate, []) => self.rate(),
            (Verb::Steps, []) => self.steps(),
            (Verb::Solve, []) if self.board.is_some() => self.solve(),
            (Verb::Solve, []) => {
                self.awaits_puzzle = true;
                Ok(String::new())
            }
            (Verb::Solve, [word]) if word.eq_ignore_ascii_case("all") && !Path::new("all").exists() => {
                let list = self.list.clone().ok_or_else(no_list)?;
                self.solve_all(&list)
            }
            (Verb::Solve, [..]) => self.solve_named(rest),
            (Verb::Count, []) => self.count(DEFAULT_COUNT_LIMIT),
            (Verb::Count, [limit]) => self.count(from_one(limit)?),
            (Verb::Unique, []) => self.unique(),
            (Verb::Strategy, []) => Ok(self.strategies()),
            (Verb::Strategy, [name]) => self.choose_strategy(name),
            (Verb::Limit, []) => {
                Ok(format!("A search is given up after {}.\n", print::counted(self.node_limit, "node")))
            }
            (Verb::Limit, [nodes]) => {
                self.node_limit = from_one(nodes)?;
                Ok(format!(
                    "From now on a search is given up after {}.\n",
                    print::counted(self.node_limit, "node")
                ))
            }
            (Verb::Stats, []) => {
                let state = if self.shows_cost { "on" } else { "off" };
                Ok(format!("stats is {state}.\n"))
            }
            (Verb::Stats, [state]) => match state.to_lowercase().as_str() {
                "on" => Ok(self.show_cost(true)),
                "off" => Ok(self.show_cost(false)),
                _ => Err(misused()),
            },
            _ => Err(misused()),
        }
    }

    /// The size of the board, else of the open list, else of the command line, else 9x9.
    fn order(&self) -> Order {
        let format = self.board.as_ref().map(Board::format).or(self.list.as_ref().map(List::format));
        format.map_or(self.hint.order.unwrap_or(Order::NINE), Format::order)
    }

    fn pool(&mut self) -> anyhow::Result<Arc<ThreadPool>> {
        if let Some(pool) = &self.pool {
            return Ok(Arc::clone(pool));
        }
        let pool = Arc::new(pipeline::pool(None)?);
        self.pool = Some(Arc::clone(&pool));
        Ok(pool)
    }

    // Putting puzzles on the board.

    /// Puts a puzzle on the board and shows it.
    fn put(&mut self, format: Format, puzzle: Grid, title: String, then: Then) -> anyhow::Result<String> {
        let conflict = puzzle.first_conflict();
        self.replaced = self.board.replace(Board::new(title, format, puzzle));
        let shown = self.with_board(|board, look| board.summary() + "\n" + &board.draw(look))?;
        match (conflict, then) {
            (Some(conflict), _) => {
                let error = PuzzleError { problem: Problem::RuleBroken(conflict), line: None };
                Ok(format!("{shown}\n{error}\n"))
            }
            (None, Then::Show) => Ok(shown),
            (None, Then::Solve) => self.solve(),
        }
    }

    /// Takes the first line of a puzzle.
    fn take_cells(&mut self, line: &[u8], then: Then) -> anyhow::Result<String> {
        match paste::begin(line, &self.hint).map_err(InputError::from)? {
            Begun::Part(paste) => {
                self.paste = Some((paste, then));
                Ok(String::new())
            }
            Begun::Whole(puzzle) => self.take_puzzle(puzzle, then),
        }
    }

    fn take_puzzle(&mut self, (format, puzzle): Typed, then: Then) -> anyhow::Result<String> {
        self.put(format, puzzle, "The puzzle".to_owned(), then)
    }

    /// Ends an unfinished puzzle.
    fn end_paste(&mut self, paste: Paste, then: Then) -> String {
        paste.end().map_or_else(|sentence| sentence, |puzzle| reply(self.take_puzzle(puzzle, then)))
    }

    /// Takes several lines that were pasted at once. `None` if they are no text with puzzles.
    fn take_text(&mut self, text: &[u8]) -> Option<anyhow::Result<String>> {
        let Ok((puzzle, has_more)) = first_puzzle(text, &self.hint) else {
            return read_positions(text).map(|_| Err(anyhow!("{CANDIDATES}")));
        };
        let then = self.then();
        Some(if has_more {
            self.pool().and_then(|pool| {
                let (list, report) = List::pasted(text, &self.hint, &pool, &self.cancel)?;
                self.take_list(list, report, then)
            })
        } else {
            self.take_puzzle(puzzle, then)
        })
    }

    fn open(&mut self, path: &Path) -> anyhow::Result<String> {
        let pool = self.pool()?;
        if !is_saved(path) {
            let (list, report) = List::open(path, &self.hint, &pool, &self.cancel)?;
            return self.take_list(list, report, Then::Show);
        }
        let hint = Hint { notation: Some(Notation::Lines), ..self.hint.clone() };
        let (list, _) = List::open(path, &hint, &pool, &self.cancel)?;
        let (format, clues, _) = list.puzzle(Pick::Number(1), &self.cancel)?;
        let (_, digits, _) = list.puzzle(Pick::Number(2), &self.cancel)?;
        self.put(format, clues, list.name(), Then::Show)?;
        self.change(|board| board.enter(&digits))
    }

    /// Writes the board to a file.
    fn save(&mut self, path: &Path) -> anyhow::Result<String> {
        if path.exists() && !is_saved(path) {
            bail!("{} is there, and no saved board. Name another file.", path.display());
        }
        let text = self.with_board(|board, _| {
            let mut text = SAVED.to_vec();
            for part in [&board.clues(), board.grid()] {
                board.format().write_line(part.digits(), &mut text);
            }
            text
        })?;
        let mut output = text_file(path, false)?;
        output.write(&text)?;
        output.finish()?;
        Ok(format!("Saved. `open {}` goes on from here.\n", path.display()))
    }

    fn take_list(&mut self, list: List, report: String, then: Then) -> anyhow::Result<String> {
        let list = self.list.insert(list).clone();
        if then == Then::Solve && list.len() > 1 {
            let answers = self.solve_all(&list)?;
            // Commands that follow are about this list, so the old board goes.
            let first = self.pick_from(&list, Pick::Number(1), Then::Show);
            let note = if first.is_ok() { "\nPuzzle 1 is on the board.\n" } else { "" };
            return Ok(report + "\n" + &answers + note);
        }
        Ok(report + "\n" + &reply(self.pick_from(&list, Pick::Number(1), then)))
    }

    fn pick(&mut self, choice: Pick) -> anyhow::Result<String> {
        let list = self.list.clone().ok_or_else(no_list)?;
        self.pick_from(&list, choice, Then::Show)
    }

    fn pick_from(&mut self, list: &List, choice: Pick, then: Then) -> anyhow::Result<String> {
        let (format, puzzle, title) = list.puzzle(choice, &self.cancel)?;
        self.put(format, puzzle, title, then)
    }

    fn example(&mut self, order: Order) -> anyhow::Result<String> {
        let mut puzzle = Grid::empty(order);
        letters(order)?
            .read_cells(example(order).as_bytes(), &mut puzzle)
            .map_err(|problem| PuzzleError { problem, line: None })?;
        self.put(self.own_format(order)?, puzzle, "The example".to_owned(), Then::Show)
    }

    /// The format of boards that no text gives: in the alphabet of the command line if it has one for
    /// this size, else in letters.
    fn own_format(&self, order: Order) -> anyhow::Result<Format> {
        match &self.hint.alphabet {
            Some(alphabet) if alphabet.fits(order) => {
                Ok(Format::new(Notation::Grid, order, alphabet.clone())?)
            }
            _ => letters(order),
        }
    }

    fn new_board(&mut self, order: Order) -> String {
        reply(
            self.own_format(order)
                .and_then(|format| self.put(format, Grid::empty(order), "Your board".to_owned(), Then::Show)),
        )
    }

    // Editing and showing the board.

    fn with_board<R>(&mut self, act: impl FnOnce(&mut Board, Look) -> R) -> anyhow::Result<R> {
        let look = self.look;
        let board = self.board.as_mut().ok_or_else(|| anyhow!(NO_BOARD))?;
        Ok(act(board, look))
    }

    fn change(&mut self, change: impl FnOnce(&mut Board)) -> anyhow::Result<String> {
        self.with_board(|board, look| {
            change(board);
            board.summary() + "\n" + &board.draw(look)
        })
    }

    /// Takes back the last change of the board; without one, the board took the place of another, which
    /// comes back.
    fn undo(&mut self) -> anyhow::Result<String> {
        let text = self.travel(Board::undo, "", "No longer noted")?;
        if !text.is_empty() {
            return Ok(text);
        }
        let Some(board) = self.replaced.take() else {
            return Ok("There is nothing to take back.\n".to_owned());
        };
        self.board = Some(board);
        self.with_board(|board, look| board.summary() + "\n" + &board.draw(look))
    }

    fn travel(
        &mut self,
        step: impl FnOnce(&mut Board) -> Travel,
        at_end: &str,
        noted: &str,
    ) -> anyhow::Result<String> {
        self.with_board(|board, look| match step(board) {
            Travel::Nowhere => at_end.to_owned(),
            Travel::Changed => board.summary() + "\n" + &board.draw(look),
            Travel::Note(note) => format!("{noted}: {}.\n", note.effect),
        })
    }

    fn show(&mut self, form: &str) -> anyhow::Result<String> {
        self.with_board(|board, _| {
            let mut text = Vec::new();
            match form.to_lowercase().as_str() {
                "grid" => board.format().write_grid(board.grid(), &mut text),
                "line" | "lines" => board.format().write_line(board.grid().digits(), &mut text),
                "triples" => board.format().write_triples(board.grid(), &mut text),
                _ => bail!("`{}` is no way to show a board. Use grid, line or triples.", shortened(form)),
            }
            Ok(String::from_utf8_lossy(&text).into_owned())
        })?
    }

    /// `None` if the words are not three.
    fn set(&mut self, words: &str) -> anyhow::Result<Option<String>> {
        let words = coordinates(words);
        self.with_board(|board, look| {
            let [row, column, value] = &words[..] else { return Ok(None) };
            let cell = cell(board.format().order(), row, column)?;
            let digit = digit(board.format(), value)?;
            if let Some(clue) = board.clue(cell) {
                let clue = named(board.format(), clue);
                bail!("The {clue} at {cell} is a clue. `unlock` lets clues be changed.");
            }
            board.set(cell, Some(digit));
            let value = named(board.format(), digit);
            let mut text = if look == Look::Plain { String::new() } else { board.draw(look) + "\n" };
            let conflict =
                board.grid().conflicts().find(|conflict| conflict.first == cell || conflict.second == cell);
            match conflict {
                Some(conflict) => {
                    text += &format!(
                        "{cell} is {value}. That breaks the rules: {conflict}, at {} and {}.\n",
                        conflict.first, conflict.second
                    );
                }
                None => text += &format!("{cell} is {value}.\n"),
            }
            if board.grid().is_solved() {
                text += "The puzzle is correctly solved.\n";
            }
            Ok(Some(text))
        })?
    }

    /// `None` if the words are not two.
    fn clear(&mut self, words: &str) -> anyhow::Result<Option<String>> {
        let words = coordinates(words);
        self.with_board(|board, look| {
            let [row, column] = &words[..] else { return Ok(None) };
            let cell = cell(board.format().order(), row, column)?;
            if let Some(clue) = board.clue(cell) {
                let clue = named(board.format(), clue);
                bail!("The {clue} at {cell} is a clue. `unlock` lets clues be changed.");
            }
            let was_blank = board.grid().get(cell).is_none();
            board.set(cell, None);
            let shown = if look == Look::Plain { String::new() } else { board.draw(look) + "\n" };
            let how = if was_blank { "blank already" } else { "blank" };
            Ok(Some(format!("{shown}{cell} is {how}.\n")))
        })?
    }

    fn check(&mut self) -> anyhow::Result<String> {
        self.with_board(|board, _| {
            let mut report = String::new();
            check::describe(&check_grid(board.grid(), Some(&board.clues())), &mut report);
            report
        })
    }

    // Searching.

    /// The strategy for an order.
    fn strategy_for(&self, order: Order) -> anyhow::Result<&'static dyn Strategy> {
        let strategy = self.strategy.unwrap_or_else(|| default_strategy(order));
        if !strategy.supports(order) {
            bail!(
                "The strategy {} does not solve {order} puzzles. `strategy default` chooses one that does.",
                strategy.name()
            );
        }
        Ok(strategy)
    }

    /// Searches for up to `solutions` solutions of the board's clues and entries.
    fn search(&mut self, solutions: u64) -> anyhow::Result<Searched> {
        let puzzle = self.with_board(|board, _| board.given())?;
        if let Some(conflict) = puzzle.first_conflict() {
            return Err(PuzzleError { problem: Problem::RuleBroken(conflict), line: None }.into());
        }
        let strategy = self.strategy_for(puzzle.order())?;
        let mut solution = Grid::empty(puzzle.order());
        let limit = Limit { solutions, nodes: self.node_limit, cancel: &self.cancel };
        let mut solver = strategy.solver(puzzle.order());
        let begin = Instant::now();
        let search = solver.search(&puzzle, &limit, &mut solution);
        let time = begin.elapsed();
        if search.stop == Stop::Cancelled {
            return Err(Interrupted.into());
        }
        let cost = if self.shows_cost { cost(strategy, &search.metrics, time) } else { String::new() };
        Ok(Searched { search, solution, cost })
    }

    /// Solves the board.
    fn solve(&mut self) -> anyhow::Result<String> {
        let Searched { search, solution, cost } = self.search(Question::Unique.solutions())?;
        if let Some(problem) = Question::First.verdict(&search).problem()? {
            let advice = match problem {
                Problem::GaveUp { .. } => "`limit NODES` lets it search longer.\n",
                _ => self.advice_on_entries(),
            };
            return Ok(format!("{}\n{advice}{cost}", PuzzleError { problem, line: None }));
        }
        let shown = self.with_board(|board, look| {
            board.fill(&solution);
            board.draw(look)
        })?;
        let verdict = match (search.solutions, search.stop) {
            (1, Stop::Exhausted) => "The puzzle is solved. There is no other solution.".to_owned(),
            (1, _) => format!(
                "The puzzle is solved. Whether there is another solution was given up after {}.",
                print::counted(search.metrics.nodes, "node")
            ),
            _ => {
                "The puzzle has more than one solution. This is one of them; `count` counts them.".to_owned()
            }
        };
        Ok(format!("{shown}\n{verdict}\n{cost}"))
    }

    /// What helps where there is no solution: without an entry there may be one.
    fn advice_on_entries(&self) -> &'static str {
        let has_entries = self.board.as_ref().is_some_and(|board| board.given() != board.clues());
        if has_entries { "`hint` may tell which entry is wrong.\n" } else { "" }
    }

    /// Solves the argument of `solve`, or the line that it waited for: a file, or else a puzzle.
    fn solve_named(&mut self, typed: &[u8]) -> anyhow::Result<String> {
        let path = list::path(typed.trim_ascii());
        if self.is_typed(&path, typed) {
            return self.take_cells(typed, Then::Solve);
        }
        let pool = self.pool()?;
        let (list, report) = List::open(&path, &self.hint, &pool, &self.cancel)?;
        self.take_list(list, report, Then::Solve)
    }

    /// Puts the puzzle of the command line on the board, or opens its file.
    pub fn begin(&mut self, start: &[u8]) -> anyhow::Result<String> {
        let path = list::path(start);
        if self.is_typed(&path, start) { self.take_cells(start, Then::Show) } else { self.open(&path) }
    }

    /// The command that a line begins with, if it is written in full.
    fn command_of(&self, line: &[u8]) -> Option<Verb> {
        let text = String::from_utf8_lossy(line);
        let word = text.split_whitespace().next()?;
        // A row of separate letters may begin with one that is an alias of a command.
        if word.len() == 1 && paste::looks_like_cells(line, &self.hint) {
            return None;
        }
        command::named(word).map(|command| command.verb)
    }

    /// Whether an argument is the first row of a puzzle, and no file or standard input.
    fn is_typed(&self, path: &Path, typed: &[u8]) -> bool {
        path.as_os_str() != STANDARD_INPUT && !path.exists() && paste::looks_like_cells(typed, &self.hint)
    }

    /// Solves every puzzle of a list and shows the first answers.
    fn solve_all(&mut self, list: &List) -> anyhow::Result<String> {
        let mut reader = list.reader()?;
        let format = reader.format().clone();
        let strategy = self.strategy_for(format.order())?;
        let task = Task { strategy: Some(strategy), node_limit: self.node_limit, ..Task::default() };
        let solvers = Solvers::new(format, task);
        let (mut tally, mut answers) = (Tally::default(), Vec::new());
        let begin = Instant::now();
        while let Some(chunk) = reader.next_chunk()? {
            if self.cancel.load(Ordering::Relaxed) {
                return Err(Interrupted.into());
            }
            let written = solvers.write_answers(chunk.block(), &*self.cancel).map_err(|_| Interrupted)?;
            tally.add(&written.tally);
            let wanted = ANSWERS_SHOWN - answers.len();
            let lines = written.text.split_inclusive(|&byte| byte == b'\n').take(wanted);
            answers.extend(lines.map(|line| String::from_utf8_lossy(line).into_owned()));
        }
        let time = begin.elapsed();
        let mut text = answers.concat();
        if tally.answers > answers.len() as u64 {
            text += &format!("and {} more\n", print::thousands(tally.answers - answers.len() as u64));
        }
        text += &format!("\n{}\n", summary::summary(&tally, time));
        if self.shows_cost {
            text += &cost(strategy, &tally.metrics, time);
        }
        Ok(text)
    }

    fn count(&mut self, limit: u64) -> anyhow::Result<String> {
        let Searched { search, cost, .. } = self.search(limit)?;
        let count = print::counted(search.solutions, "solution");
        Ok(match (search.stop, search.solutions) {
            (Stop::Nodes, _) => {
                let error =
                    PuzzleError { problem: Problem::GaveUp { nodes: search.metrics.nodes }, line: None };
                format!("{error} By then {count} had been found.\n{cost}")
            }
            (Stop::Solutions, _) => format!("The puzzle has at least {count}.\n{cost}"),
            (_, 0) => format!("{NO_SOLUTION}\n{}{cost}", self.advice_on_entries()),
            _ => format!("The puzzle has {count}.\n{cost}"),
        })
    }

    fn unique(&mut self) -> anyhow::Result<String> {
        let Searched { search, cost, .. } = self.search(Question::Unique.solutions())?;
        Ok(match Question::Unique.verdict(&search).problem()? {
            None => format!("The puzzle has exactly one solution.\n{cost}"),
            Some(problem) => {
                let advice = if search.solutions == 0 { self.advice_on_entries() } else { "" };
                format!("{}\n{advice}{cost}", PuzzleError { problem, line: None })
            }
        })
    }

    /// The next hint for the board, with its position.
    fn next_hint(&mut self) -> anyhow::Result<(Snapshot, Position)> {
        let (now, clues, position) =
            self.with_board(|board, _| (board.now().clone(), board.clues(), board.position()))?;
        if self.hand.told(&now).is_none() {
            // A hint does not depend on the strategy, so the default one is used.
            let mut solver = default_strategy(clues.order()).solver(clues.order());
            let limit = Limit { solutions: 2, nodes: self.node_limit, cancel: &self.cancel };
            let step = next_step(&position, &clues, TechniqueSet::ALL, HINT_EFFORT, solver.as_mut(), &limit);
            if matches!(step, NextStep::Cancelled { .. }) {
                return Err(Interrupted.into());
            }
            self.hand.take(now.clone(), step);
        }
        Ok((now, position))
    }

    /// Tells the next stage of the hint, or all of it.
    fn hint(&mut self, tells_all: bool) -> anyhow::Result<String> {
        let (_, position) = self.next_hint()?;
        let format = self.with_board(|board, _| board.format().clone())?;
        let mut text = String::new();
        for _ in 0..if tells_all { 3 } else { 1 } {
            text = self.hand.tell(&format, &position);
        }
        Ok(text)
    }

    /// Carries the next step out.
    fn apply(&mut self) -> anyhow::Result<String> {
        let (now, _) = self.next_hint()?;
        let Some(hint) = self.hand.told(&now).cloned() else { bail!("There is no step.") };
        let (cell, digit) = match &hint {
            NextStep::Technique(step) => match step.placement {
                Some(Candidate { cell, digit }) => (cell, digit),
                None => {
                    return self.with_board(|board, _| {
                        let (grid, candidates) = (board.grid().clone(), step.eliminations.clone());
                        board.note(Note { board: grid, candidates, effect: step.effect() });
                        format!("Noted: {}. The next `hint` knows that.\n", step.effect())
                    });
                }
            },
            NextStep::Search { cell, digit, .. } => (*cell, *digit),
            other => return Ok(format!("{other}\n")),
        };
        self.with_board(|board, look| {
            board.set(cell, Some(digit));
            let mut text = if look == Look::Plain { String::new() } else { board.draw(look) + "\n" };
            text += &format!("{cell} is {}.\n", named(board.format(), digit));
            if board.grid().is_solved() {
                text += "The puzzle is correctly solved.\n";
            }
            text
        })
    }

    /// Rates the puzzle.
    fn rate(&mut self) -> anyhow::Result<String> {
        let (format, clues) = self.with_board(|board, _| (board.format().clone(), board.clues()))?;
        let line = Format::new(Notation::Lines, clues.order(), format.alphabet().clone())?;
        let mut text = Vec::new();
        line.write_line(clues.digits(), &mut text);
        let raters = Raters::new(line, RateTask { node_limit: self.node_limit, ..RateTask::default() });
        let mut said = String::new();
        let block = Block { text: &text, first_line: 1 };
        let rated = raters.rate(block, &*self.cancel, |row| {
            said = match &row.result {
                Ok(rated) => rate::describe(row.puzzle, rated),
                Err(error) => format!("{}\n", PuzzleError { line: None, ..error.clone() }),
            };
        });
        rated.map_err(|_| Interrupted)?;
        Ok(said)
    }

    /// Solves the board by hand, from what is known of it.
    fn steps(&mut self) -> anyhow::Result<String> {
        let (format, position) = self.with_board(|board, _| (board.format().clone(), board.position()))?;
        let mut text = String::new();
        let walk = StepsTask::default();
        match walk.run(&format, &position, &self.cancel, |part| {
            text += part;
            Ok(())
        })? {
            StepsEnd::Interrupted { .. } => Err(Interrupted.into()),
            // A sentence about a conflict names the cells.
            StepsEnd::Stuck(stuck) if stuck.is_hopeless && stuck.conflict.is_none() => {
                Ok(text + self.advice_on_entries())
            }
            StepsEnd::Solved | StepsEnd::Unsolved | StepsEnd::Stuck(_) => Ok(text),
        }
    }

    // Settings.

    fn strategies(&self) -> String {
        let order = self.order();
        let in_use = self.strategy.unwrap_or_else(|| default_strategy(order)).name();
        let mut text = String::new();
        for strategy in STRATEGIES {
            let mark = if strategy.name() == in_use { "*" } else { " " };
            let misfit = if strategy.supports(order) { String::new() } else { format!(" (not for {order})") };
            let summary = format!("{}{misfit}", strategy.summary());
            let mut lines = fit::wrapped(&summary, SUMMARY_COLUMNS).into_iter();
            let first = lines.next().unwrap_or_default();
            text += &format!("{mark} {:NAME_COLUMNS$} {first}\n", strategy.name());
            for line in lines {
                text += &format!("{}{line}\n", " ".repeat(NAME_COLUMNS + 3));
            }
        }
        let how = if self.strategy.is_some() { "chosen by you" } else { "the default for the size" };
        text + &format!("* in use, {how}\n")
    }

    fn choose_strategy(&mut self, name: &str) -> anyhow::Result<String> {
        let name = name.to_lowercase();
        if name == "default" {
            self.strategy = None;
            return Ok("From now on the default strategy for the size is used.\n".to_owned());
        }
        let Some(chosen) = strategy(&name) else {
            let names: Vec<&str> = STRATEGIES.iter().map(|strategy| strategy.name()).collect();
            bail!("`{}` is no strategy. There are {}.", shortened(&name), names.join(", "));
        };
        self.strategy = Some(chosen);
        let order = self.order();
        let misfit = if chosen.supports(order) {
            String::new()
        } else {
            format!(" It does not solve {order} puzzles, though.")
        };
        Ok(format!("From now on the strategy {} is used.{misfit}\n", chosen.name()))
    }

    fn show_cost(&mut self, shows_cost: bool) -> String {
        self.shows_cost = shows_cost;
        let how = if shows_cost { "shown" } else { "hidden" };
        format!("From now on the cost of a search is {how}.\n")
    }

    fn rules(&self) -> String {
        let order = self.order();
        let (side, b) = (order.side(), order.box_side());
        if side == 1 {
            return "A 1x1 Sudoku is a single cell, and its value is 1.\n".to_owned();
        }
        let format = self.board.as_ref().map(Board::format).cloned().or_else(|| self.own_format(order).ok());
        let symbol = |value| format.as_ref().map_or('?', |format| format.symbol(value));
        let mut text = format!(
            "A {order} Sudoku has {side} rows, {side} columns and {side} boxes of {b}x{b} cells.\n\
             Fill in all cells so that each row, each column and each box has every value\n\
             from 1 to {side} once.\n\
             The clues, the values given at the start, stay as they are. A good puzzle has\n\
             exactly one solution.\n\n\
             A `.` is a blank cell. Cells are named by row and column, both counted from 1\n\
             at the top left: `set 2 {side} {0}` puts a {0} into row 2, column {side}.\n",
            symbol(1)
        );
        if let Some(symbols) = format.as_ref().and_then(by_hand::other_symbols) {
            text += &format!(
                "The values 1 to {side} are shown as {symbols}. `set` takes these, and the\n\
                 number of a value where it is none of them; sentences name values by number.\n"
            );
        } else if side > 9 {
            let last = u8::try_from(side).unwrap_or(u8::MAX);
            text += &format!(
                "Values above 9 are shown as one character each, {} for 10 to {} for {side};\n\
                 `set` takes both.\n",
                symbol(10),
                symbol(last)
            );
        }
        text
    }
}

/// Whether a file has a board that `save` has written.
fn is_saved(path: &Path) -> bool {
    let mut beginning = [0; SAVED.len()];
    // Opening a FIFO would wait for somebody who writes.
    path.is_file()
        && File::open(path).and_then(|mut file| file.read_exact(&mut beginning)).is_ok()
        && beginning == *SAVED
}

/// The user wants to leave.
struct LeaveConsole;

/// The result of a search of the board.
struct Searched {
    search: Search,
    solution: Grid,
    /// Its cost in a line, or nothing after `stats off`.
    cost: String,
}

/// A reply, be it a result or an error.
pub fn reply(result: anyhow::Result<String>) -> String {
    result.unwrap_or_else(|error| format!("{error:#}\n"))
}

fn no_list() -> anyhow::Error {
    anyhow!("No file is open. `open FILE` opens one.")
}

fn letters(order: Order) -> anyhow::Result<Format> {
    Ok(Format::new(Notation::Grid, order, Alphabet::Letters)?)
}

/// A value in a sentence: its number, and what the board shows where that is another symbol.
fn named(format: &Format, digit: Digit) -> String {
    match by_hand::other_symbols(format) {
        Some(_) => format!("{digit} (shown as {})", format.symbol(digit.value())),
        None => digit.to_string(),
    }
}

/// The cost of a search in a line.
fn cost(strategy: &dyn Strategy, metrics: &Metrics, time: Duration) -> String {
    let words = format!(
        "{}: {}, {}, {}, greatest depth {}, {}",
        strategy.name(),
        print::counted(metrics.nodes, "node"),
        print::counted(metrics.guesses, "guess"),
        print::counted(metrics.backtracks, "backtrack"),
        print::thousands(metrics.depth),
        print::milliseconds(time),
    );
    by_hand::wrapped(&words, 0) + "\n"
}

/// The completions of `strategy`.
pub fn strategy_names() -> impl Iterator<Item = &'static str> {
    STRATEGIES.iter().map(|strategy| strategy.name()).chain(["default"])
}

#[cfg(test)]
mod tests;
