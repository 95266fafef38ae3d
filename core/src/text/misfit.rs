//! Misfits: why a text has no puzzles, said to whoever thought that it has.

use std::fmt;

use super::cell::read_cell;
use super::layout::{Refusal, is_json, tokens};
use super::lines::{characters, puzzle_lines, writable};
use super::{Format, Notation, json};
use crate::counted::counted;
use crate::grid::Order;

/// Why none of the first lines of a text is a puzzle. Prints as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The first line with something on it, or the one that is meant, from 1.
    line: u64,
    what: What,
}

/// What the text seems to be instead.
#[derive(Clone, Debug, PartialEq, Eq)]
enum What {
    /// Cells, but not as many as a puzzle has.
    Cells { cells: usize, nearest: Order },
    /// The cells of a puzzle on a line, in so many groups.
    Groups { cells: usize, groups: usize },
    /// Rows of grids of another size, such as 6x6.
    Rows { cells: usize },
    /// Another number of rows than a puzzle has.
    Grid { rows: usize, order: Order },
    /// A layout is not enough.
    Layout(Refusal),
    /// Lines that end in carriage returns alone.
    CarriageReturns,
    /// Cells with all candidates.
    Candidates,
    /// A cell among cells with candidates that has something else.
    BadCandidates { cell: String },
    /// Among rows of cells with candidates, one with so many cells.
    CandidateCells { cells: usize },
    /// Among lines of the candidates of a puzzle, one with so many characters.
    CandidateMarks { characters: usize },
    /// So many rows of cells with candidates.
    CandidateRows { rows: usize },
    /// HTML or XML.
    Markup,
    /// JSON without a puzzle.
    Json,
    /// Objects without a puzzle.
    Objects,
    /// Anything else, and how it begins.
    Words { beginning: String },
}

/// The lines that are looked at.
const LINES_SEEN: usize = 64;

/// The characters of a line that are repeated to the user.
const QUOTED: usize = 20;

/// The characters of a 9x9 puzzle with all candidates of each cell.
const CANDIDATES: usize = 729;

impl Misfit {
    /// The misfit of a text in this format. `None` if the text has a puzzle: a grid of enough rows,
    /// most of whose cells can be read, or anything that detection recognises by its puzzles.
    pub(super) fn find(
        format: &Format,
        text: &[u8],
        goes_on: bool,
        refusal: Option<&Refusal>,
    ) -> Option<Self> {
        if let Some(candidates) = Self::of_candidates(text, goes_on) {
            return Some(candidates);
        }
        if let Some(refusal) = refusal.filter(|refusal| **refusal != Refusal::Nothing) {
            let what = match What::find(format, text) {
                rows @ What::Rows { .. } if matches!(refusal, Refusal::OtherSize(_)) => rows,
                what if *refusal == Refusal::Far => what,
                _ => What::Layout(refusal.clone()),
            };
            return Some(Self { line: 1, what });
        }
        let has_puzzles = format.notation.facts().shows_puzzles;
        let is_values = format.notation == Notation::Jsonl && json::has_values(text, &format.keys);
        if has_puzzles || is_values || puzzle_lines(text).next().is_none() {
            return None;
        }
        let line = first_line_number(text);
        let what = What::find(format, text);
        Some(match what {
            What::Candidates => {
                damaged_candidates(text, goes_on).unwrap_or(Self { line, what: What::Candidates })
            }
            what => Self { line, what },
        })
    }

    /// The misfit of a text that is nothing but positions with candidates.
    pub(super) fn of_candidates(text: &[u8], goes_on: bool) -> Option<Self> {
        let misfit = || Self { line: first_line_number(text), what: What::Candidates };
        has_only_candidates(text, goes_on).then(misfit)
    }

    /// The misfit of a text, with all that is above its puzzles, that has carriage returns for line
    /// ends. `None` for other texts, and in notations that may be read all the same.
    pub(super) fn of_line_ends(format: &Format, sample: &[u8]) -> Option<Self> {
        let line = sample.trim_ascii();
        let may_be_read = format.notation == Notation::Jsonl || format.notation.facts().shows_puzzles;
        (!may_be_read && !line.contains(&b'\n') && line.contains(&b'\r'))
            .then_some(Self { line: 1, what: What::CarriageReturns })
    }

    /// Whether it may be a text of puzzles all the same, in a notation, size or column that was not
    /// recognised.
    #[must_use]
    pub const fn may_have_puzzles(&self) -> bool {
        use What::{Cells, Grid, Layout, Objects, Rows, Words};
        matches!(self.what, Cells { .. } | Grid { .. } | Rows { .. } | Layout(_) | Objects | Words { .. })
    }

    /// Whether all lines are one, because they end in carriage returns alone. Then even a line with a
    /// puzzle has others behind it, which would be lost.
    #[must_use]
    pub const fn is_of_line_ends(&self) -> bool {
        matches!(self.what, What::CarriageReturns)
    }

    /// Whether the text is rows of a size that no puzzle here has, of which none can be one.
    #[must_use]
    pub const fn is_of_other_size(&self) -> bool {
        matches!(self.what, What::Rows { .. } | What::Layout(Refusal::OtherSize(_)))
    }

    /// The same misfit with its line number increased by `lines`, which precede the text.
    #[must_use]
    pub(super) const fn below(mut self, lines: u64) -> Self {
        self.line += lines;
        self
    }

    /// [`Self::below`] for the reader of a sample.
    #[doc(hidden)]
    #[must_use]
    pub const fn after(self, lines: u64) -> Self {
        self.below(lines)
    }
}

/// The number of the first line with something on it.
fn first_line_number(text: &[u8]) -> u64 {
    let index = text.split(|&byte| byte == b'\n').position(|line| puzzle_lines(line).next().is_some());
    1 + index.unwrap_or(0) as u64
}

/// Whether a row has cells of several digits that are no number of this size.
fn has_candidates(format: &Format, row: &[u8]) -> bool {
    let is_candidates = |token: &[u8]| {
        token.len() > 1
            && token.iter().all(u8::is_ascii_digit)
            && token.is_sorted()
            && read_cell(format, token).is_none()
    };
    let tokens: Vec<&[u8]> = tokens(row).collect();
    tokens.len() == format.order.side() && tokens.into_iter().any(is_candidates)
}

/// Whether a text is nothing but positions with candidates: lines of as many characters as the
/// candidates of a puzzle, or rows of cells with different values in order, several in some cells.
///
/// No puzzle is read so: a grid of numbers without a blank has 10 or 11 in each row.
fn has_only_candidates(text: &[u8], goes_on: bool) -> bool {
    let end = text.iter().rposition(|&byte| byte == b'\n').filter(|_| goes_on).unwrap_or(text.len());
    let is_row = |line: &&[u8]| may_have_cells(line);
    let cells = |line: &[u8]| -> Vec<Vec<u8>> {
        let cells = line.split(|byte| b"|*".contains(byte) || byte.is_ascii_whitespace());
        cells.filter(|cell| !cell.is_empty()).map(<[u8]>::to_ascii_uppercase).collect()
    };
    let mut lines = text[..end].split(|&byte| byte == b'\n').filter(is_row).map(cells).peekable();
    let Some(first) = lines.peek() else { return false };
    if let [marks] = &first[..] {
        let side = Order::ALL.iter().map(|order| order.side()).find(|side| side.pow(3) == marks.len());
        return side
            .is_some_and(|side| side > 1 && lines.all(|line| line.len() == 1 && is_marks(&line[0], side)));
    }
    let side = first.len();
    if side < 4 || Order::from_side(side).is_none() {
        return false;
    }
    let (mut rows, mut several) = (0, 0);
    for line in lines {
        let is_cell = |cell: &Vec<u8>| {
            let values = cell.iter().map(|&symbol| value(symbol).filter(|&value| value <= side));
            values.clone().all(|value| value.is_some()) && values.is_sorted_by(|one, next| one < next)
        };
        if line.len() != side || !line.iter().all(is_cell) {
            return false;
        }
        rows += 1;
        several += line.iter().filter(|cell| cell.len() > 1).count();
    }
    // A cell has no choice if it is the only one, so that one is a mistake in a grid.
    several > 1 && (goes_on || rows % side == 0)
}

/// Whether a line is no comment, and has something that is not drawn.
fn may_have_cells(line: &[u8]) -> bool {
    let is_ruler = line.contains(&b'+') || line.windows(2).any(|pair| pair == b"--");
    puzzle_lines(line).any(|line| line.iter().any(|byte| byte.is_ascii_alphanumeric() || *byte == b'.'))
        && !is_ruler
}

/// Whether a line is the candidates of all cells of a puzzle, each in its place or a dot.
fn is_marks(line: &[u8], side: usize) -> bool {
    let is_in_place =
        |(place, &symbol): (usize, &u8)| symbol == b'.' || value(symbol) == Some(1 + place % side);
    line.len() == side.pow(3)
        && line.iter().enumerate().all(is_in_place)
        && line.iter().any(|&symbol| symbol != b'.')
}

/// The value of a candidate: from `1` to `9`, then `A` for 10 and so on.
fn value(symbol: u8) -> Option<usize> {
    char::from(symbol).to_digit(36).and_then(|value| usize::try_from(value).ok()).filter(|&value| value > 0)
}

/// What is wrong with a text of 9x9 cells with candidates. `None` if nothing is.
fn damaged_candidates(text: &[u8], goes_on: bool) -> Option<Misfit> {
    let numbered = || text.split(|&byte| byte == b'\n').zip(1..);
    let shown = |cell: &[u8]| {
        let shown = |c: char| if c.is_control() { ' ' } else { c };
        String::from_utf8_lossy(cell).chars().take(QUOTED).map(shown).collect()
    };
    let rows = || {
        let rows = numbered().filter(|(line, _)| may_have_cells(line));
        rows.map(|(line, number)| {
            let cells = line.split(|byte| b"|*".contains(byte) || byte.is_ascii_whitespace());
            (cells.filter(|cell| !cell.is_empty()).collect::<Vec<&[u8]>>(), number)
        })
    };
    if rows().next().is_some_and(|(cells, _)| cells.len() == 1) {
        // Lines of 729 characters.
        let is_mark = |byte: &u8| *byte == b'.' || byte.is_ascii_digit();
        let (line, bad, cells) = rows().find_map(|(cells, line)| {
            let bad = cells
                .iter()
                .flat_map(|cell| characters(cell))
                .find(|c| !matches!(c, [byte] if is_mark(byte)));
            (bad.is_some() || cells.concat().len() != CANDIDATES)
                .then(|| (line, bad.map(shown), cells.concat()))
        })?;
        let what =
            bad.map_or(What::CandidateMarks { characters: cells.len() }, |cell| What::BadCandidates { cell });
        return Some(Misfit { line, what });
    }
    let side = Order::NINE.side();
    let is_cell = |cell: &[u8]| {
        let is_new = |at: usize| !cell[..at].contains(&cell[at]);
        cell.iter().enumerate().all(|(at, byte)| matches!(byte, b'1'..=b'9') && is_new(at))
    };
    for (cells, line) in rows() {
        if let Some(bad) = cells.iter().find(|cell| !is_cell(cell)) {
            return Some(Misfit { line, what: What::BadCandidates { cell: shown(bad) } });
        }
        if cells.len() != side {
            return Some(Misfit { line, what: What::CandidateCells { cells: cells.len() } });
        }
    }
    let count = rows().count();
    let (_, line) = rows().next()?;
    // The last line of a longer text may be cut off.
    (!goes_on && !count.is_multiple_of(side))
        .then_some(Misfit { line, what: What::CandidateRows { rows: count } })
}

impl What {
    fn find(format: &Format, text: &[u8]) -> Self {
        let lines = || puzzle_lines(text).take(LINES_SEEN);
        let first = lines().next().unwrap_or_default();
        let nine = Format::new(Notation::Grid, Order::NINE, super::Alphabet::Letters);
        let is_candidates = |line: &[u8]| {
            line.len() == CANDIDATES || nine.as_ref().is_ok_and(|format| has_candidates(format, line))
        };
        match first.trim_ascii_start() {
            [b'<', ..] => return Self::Markup,
            [b'{', ..] if format.notation == Notation::Jsonl => return Self::Objects,
            _ => {}
        }
        if is_json(text) {
            return Self::Json;
        }
        if lines().filter(|line| is_candidates(line)).count() >= lines().count().min(3) {
            return Self::Candidates;
        }
        let fields = |delimiter: u8| first.split(move |&byte| byte == delimiter).map(<[u8]>::trim_ascii);
        for groups in [tokens(first).collect(), fields(b',').collect(), fields(b';').collect::<Vec<&[u8]>>()]
        {
            let cells = || groups.iter().flat_map(|group| characters(group));
            if groups.len() > 1 && cells().all(|cell| read_cell(format, cell).is_some()) {
                let (cells, groups) = (cells().count(), groups.len());
                if Order::from_cells(cells).is_some_and(|order| order.side() > 4 && groups < cells) {
                    return Self::Groups { cells, groups };
                }
            }
        }
        // What a user may have meant as cells has nothing but values and blanks.
        let count = |line: &[u8]| {
            let cells = format.codec.cells(line.trim_ascii_start());
            let all: Vec<&[u8]> = characters(cells).collect();
            let is_cell = |cell: &&[u8]| read_cell(format, cell).is_some();
            (!all.is_empty() && all.iter().all(is_cell)).then_some(all.len())
        };
        let row = |line: &[u8]| {
            let apart = tokens(line).count();
            let is_apart = tokens(line).all(|token| read_cell(format, token).is_some());
            let fields: Vec<&[u8]> = line.split(|&byte| byte == b',').map(<[u8]>::trim_ascii).collect();
            let is_fields = fields.len() > 1 && fields.iter().all(|field| read_cell(format, field).is_some());
            match count(line) {
                _ if is_fields => Some(fields.len()),
                Some(cells) if apart == 1 => Some(cells),
                _ => is_apart.then_some(apart),
            }
        };
        let rows = |cells| lines().filter(|line| row(line) == Some(cells)).count();
        match (row(first), count(first)) {
            (Some(cells), _)
                if (2..32).contains(&cells)
                    && Order::from_side(cells).is_none()
                    && (rows(cells) >= cells || rows(cells) > 3) =>
            {
                Self::Rows { cells }
            }
            (Some(cells), _) if cells > 1 && Order::from_side(cells).is_some() && rows(cells) > 1 => {
                Self::Grid { rows: rows(cells), order: Order::from_side(cells).unwrap_or(Order::NINE) }
            }
            (_, Some(cells)) if cells > 1 => {
                let nearest = Order::ALL[1..].iter().min_by_key(|order| order.cells().abs_diff(cells));
                Self::Cells { cells, nearest: nearest.copied().unwrap_or(Order::NINE) }
            }
            _ => Self::of_other_size(first, lines()).unwrap_or_else(|| {
                let written = writable(first);
                let beginning = String::from_utf8_lossy(&written);
                let shown = |c: char| if c.is_control() { ' ' } else { c };
                Self::Words { beginning: beginning.chars().take(QUOTED).map(shown).collect() }
            }),
        }
    }

    /// Puzzles of a size that is not read, in symbols that may be above those of the sizes that are:
    /// all rows of one, or all cells of one on the first line.
    fn of_other_size<'a>(first: &[u8], lines: impl Iterator<Item = &'a [u8]>) -> Option<Self> {
        let cells = symbols(first)?;
        let is_side = |side: usize| side > 4 && Order::from_side(side).is_none();
        if is_side(cells) && lines.filter(|line| symbols(line) == Some(cells)).count() >= cells {
            return Some(Self::Rows { cells });
        }
        let is_square = cells.isqrt().pow(2) == cells && is_side(cells.isqrt());
        let nearest = || Order::ALL[1..].iter().min_by_key(|order| order.cells().abs_diff(cells));
        is_square.then(|| Self::Cells { cells, nearest: nearest().copied().unwrap_or(Order::NINE) })
    }
}

/// The number of cells on a line that has nothing but numbers, letters and blanks, apart or together.
fn symbols(line: &[u8]) -> Option<usize> {
    let is_blank = |byte: &u8| b"._*-?".contains(byte);
    let is_symbol = |byte: &u8| byte.is_ascii_digit() || byte.is_ascii_uppercase() || is_blank(byte);
    let is_cell = |cell: &[u8]| match cell {
        [byte] => is_symbol(byte),
        _ => cell.len() <= 2 && cell.iter().all(u8::is_ascii_digit),
    };
    let fields = |delimiter: u8| line.split(move |&byte| byte == delimiter).map(<[u8]>::trim_ascii);
    for cells in [fields(b',').collect(), fields(b';').collect(), tokens(line).collect::<Vec<&[u8]>>()] {
        if cells.len() > 1 && cells.iter().all(|cell| is_cell(cell)) {
            return Some(cells.len());
        }
    }
    let cells = line.trim_ascii();
    let is_word = !cells.iter().any(|byte| byte.is_ascii_digit() || is_blank(byte));
    (!is_word && cells.iter().all(is_symbol)).then_some(cells.len())
}

/// `is 1 row`, `are 2 rows`.
fn there_are(rows: usize) -> String {
    format!("{} {}", if rows == 1 { "is" } else { "are" }, counted(rows as u64, "row"))
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, what } = self;
        match what {
            What::Cells { cells, nearest } => {
                write!(f, "Line {line} has {cells} cells; a {nearest} puzzle has {}.", nearest.cells())
            }
            What::Groups { cells, groups } => write!(
                f,
                "Line {line} has {cells} cells in {groups} groups; a puzzle on a line has nothing between \
                 its cells."
            ),
            What::Rows { cells } => {
                write!(f, "Line {line} is a row of {cells} cells; a row of a puzzle has 4, 9, 16 or 25.")
            }
            What::Grid { rows, order } => {
                let there_are = there_are(*rows);
                let side = order.side();
                write!(
                    f,
                    "From line {line} on there {there_are} of {side} cells; a {order} puzzle has {side} rows."
                )
            }
            What::Layout(refusal) => refusal.fmt(f),
            What::CarriageReturns => write!(
                f,
                "Line {line} goes on behind carriage returns; a line ends in a newline, so convert line ends \
                 of old Macs, as tr '\\r' '\\n' does."
            ),
            What::Candidates => write!(
                f,
                "Line {line} has candidates, and only clues can be read here; hint, steps and show read both."
            ),
            What::BadCandidates { cell } => {
                write!(
                    f,
                    "Line {line} has \"{cell}\" among cells with candidates, which are different digits."
                )
            }
            What::CandidateMarks { characters } => write!(
                f,
                "Line {line} has {characters} characters; the candidates of a 9x9 puzzle are {CANDIDATES}."
            ),
            What::CandidateCells { cells } => {
                let cells = counted(*cells as u64, "cell");
                write!(f, "Line {line} is a row of {cells} with candidates; a row of a 9x9 puzzle has 9.")
            }
            What::CandidateRows { rows } => {
                let there_are = there_are(*rows);
                write!(
                    f,
                    "From line {line} on there {there_are} of cells with candidates; a 9x9 puzzle has 9."
                )
            }
            What::Markup => write!(f, "Line {line} begins like HTML or XML."),
            What::Json => f.write_str(
                "It is JSON, but nothing in it has as many cells as a puzzle, which is 1, 16, 81, 256 or 625.",
            ),
            What::Objects => write!(f, "Line {line} is an object without a puzzle."),
            What::Words { beginning } => {
                // Not in the quotes that it has itself.
                let quote = if beginning.contains('"') { '\'' } else { '"' };
                write!(f, "Line {line} is no puzzle, but {quote}{beginning}{quote}.")
            }
        }
    }
}
