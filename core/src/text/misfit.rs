//! Misfits: why a text has no puzzles, said to whoever thought that it has.

use std::fmt;

use super::cell::read_cell;
use super::layout::{Refusal, is_json, tokens};
use super::lines::{characters, puzzle_lines, writable};
use super::positions::{Damage, MarkedText};
use super::{Format, Notation, json};
use crate::counted::counted;
use crate::grid::Order;

/// Why none of the first lines of a text is a puzzle. Prints as a sentence.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Misfit {
    /// The first line with something on it, or the one that is meant, from 1.
    line: u64,
    what: Resemblance,
}

/// What the text seems to be instead.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Resemblance {
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
    /// Cells with all candidates, good or bad ones.
    Candidates(Option<Damage>),
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
            let what = match Resemblance::find(format, text) {
                rows @ Resemblance::Rows { .. } if matches!(refusal, Refusal::OtherSize(_)) => rows,
                what if *refusal == Refusal::Far => what,
                _ => Resemblance::Layout(refusal.clone()),
            };
            return Some(Self { line: 1, what });
        }
        let has_puzzles = format.notation.facts().shows_puzzles;
        let is_values = format.notation == Notation::Jsonl && json::has_values(text, &format.keys);
        if has_puzzles || is_values || puzzle_lines(text).next().is_none() {
            return None;
        }
        Some(Self { line: first_line_number(text), what: Resemblance::find(format, text) })
    }

    /// The misfit of a text that is positions with candidates.
    fn of_candidates(text: &[u8], goes_on: bool) -> Option<Self> {
        let damage = MarkedText::find(text, goes_on)?.damage;
        let line = damage.as_ref().map_or_else(|| first_line_number(text), |damage| damage.line);
        Some(Self { line, what: Resemblance::Candidates(damage) })
    }

    /// The misfit of a text that is nothing but positions with candidates.
    pub(super) fn of_only_candidates(text: &[u8], goes_on: bool) -> Option<Self> {
        Self::of_candidates(text, goes_on).filter(|misfit| misfit.what == Resemblance::Candidates(None))
    }

    /// The misfit of a text, with all that is above its puzzles, that has carriage returns for line
    /// ends. `None` for other texts, and in notations that may be read all the same.
    pub(super) fn of_line_ends(format: &Format, sample: &[u8]) -> Option<Self> {
        let line = sample.trim_ascii();
        let may_be_read = format.notation == Notation::Jsonl || format.notation.facts().shows_puzzles;
        (!may_be_read && !line.contains(&b'\n') && line.contains(&b'\r'))
            .then_some(Self { line: 1, what: Resemblance::CarriageReturns })
    }

    /// Whether it may be a text of puzzles all the same, in a notation, size or column that was not
    /// recognised.
    #[must_use]
    pub const fn may_have_puzzles(&self) -> bool {
        use Resemblance::{Cells, Grid, Layout, Objects, Rows, Words};
        matches!(self.what, Cells { .. } | Grid { .. } | Rows { .. } | Layout(_) | Objects | Words { .. })
    }

    /// Whether all lines are one, because they end in carriage returns alone. Then even a line with a
    /// puzzle has others behind it, which would be lost.
    #[must_use]
    pub const fn is_of_line_ends(&self) -> bool {
        matches!(self.what, Resemblance::CarriageReturns)
    }

    /// Whether the text is rows of a size that no puzzle here has, of which none can be one.
    #[must_use]
    pub const fn is_of_other_size(&self) -> bool {
        matches!(self.what, Resemblance::Rows { .. } | Resemblance::Layout(Refusal::OtherSize(_)))
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

impl Resemblance {
    fn find(format: &Format, text: &[u8]) -> Self {
        let lines = || puzzle_lines(text).take(LINES_SEEN);
        let first = lines().next().unwrap_or_default();
        match first.trim_ascii_start() {
            [b'<', ..] => return Self::Markup,
            [b'{', ..] if format.notation == Notation::Jsonl => return Self::Objects,
            _ => {}
        }
        if is_json(text) {
            return Self::Json;
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
            (Some(cells), _)
                if cells > 1 && Order::from_side(cells).is_some() && ![1, cells].contains(&rows(cells)) =>
            {
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
            Resemblance::Cells { cells, nearest } => {
                write!(f, "Line {line} has {cells} cells; a {nearest} puzzle has {}.", nearest.cells())
            }
            Resemblance::Groups { cells, groups } => write!(
                f,
                "Line {line} has {cells} cells in {groups} groups; a puzzle on a line has nothing between \
                 its cells."
            ),
            Resemblance::Rows { cells } => {
                write!(f, "Line {line} is a row of {cells} cells; a row of a puzzle has 4, 9, 16 or 25.")
            }
            Resemblance::Grid { rows, order } => {
                let there_are = there_are(*rows);
                let side = order.side();
                write!(
                    f,
                    "From line {line} on there {there_are} of {side} cells; a {order} puzzle has {side} rows."
                )
            }
            Resemblance::Layout(refusal) => refusal.fmt(f),
            Resemblance::CarriageReturns => write!(
                f,
                "Line {line} goes on behind carriage returns; a line ends in a newline, so convert line ends \
                 of old Macs, as tr '\\r' '\\n' does."
            ),
            Resemblance::Candidates(None) => write!(
                f,
                "Line {line} has candidates, and only clues can be read here; hint, steps and show read both."
            ),
            Resemblance::Candidates(Some(damage)) => damage.fmt(f),
            Resemblance::Markup => write!(f, "Line {line} begins like HTML or XML."),
            Resemblance::Json => f.write_str(
                "It is JSON, but nothing in it has as many cells as a puzzle, which is 1, 16, 81, 256 or 625.",
            ),
            Resemblance::Objects => write!(f, "Line {line} is an object without a puzzle."),
            Resemblance::Words { beginning } => {
                // Not in the quotes that it has itself.
                let quote = if beginning.contains('"') { '\'' } else { '"' };
                write!(f, "Line {line} is no puzzle, but {quote}{beginning}{quote}.")
            }
        }
    }
}
