//! Rows cut into puzzles: the cut that leaves the least unexplained.
//!
//! A text is a sequence of puzzles and gaps between them. The cheapest such sequence is found by
//! dynamic programming from the end; of several that cost the same, the one with the earliest puzzles
//! and the one with the latest are both found, because a text for which they differ is ambiguous.

use super::account::{Fault, FaultKind, Reading, repeated};
use super::facts::{Kind, Line, are_names, fields, is_label, is_number, kind, pieces};
use super::signs::{DOT, NOTHING, Signs, weight};
use super::split::{ParsedLine, is_one_sign, lacks_cell};
use super::table::{Layout, Split};

/// What follows a text that is to be converted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    Nothing,
    /// More of it.
    More,
    /// More of it, when whoever writes it has an answer to what is there.
    Awaited,
}

/// What a line is among rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    /// A row.
    Row,
    /// A row that cannot be read.
    BadRow,
    /// Only blanks: a row or a separator.
    Blanks,
    /// The names of columns, or a row.
    Heading,
    Other(Kind),
}

/// A line among rows.
struct RowLine {
    class: Class,
    /// Where its cells are, if it has those of a row.
    cells: Option<usize>,
    blanks: u16,
    zeros: u16,
    label: u64,
    weight: u32,
    /// The characters beside its cells that are unexplained.
    beside: u32,
    /// Whether it is what is left of a row.
    is_rest: bool,
    /// Whether a separator has something on it.
    is_drawn: bool,
    /// Whether it is a comment, which may be anywhere.
    is_remark: bool,
}

impl RowLine {
    const fn may_be_row(&self) -> bool {
        match self.class {
            Class::BadRow => true,
            Class::Row | Class::Blanks | Class::Heading => self.cells.is_some(),
            Class::Other(_) => false,
        }
    }

    const fn is_row(&self) -> bool {
        matches!(self.class, Class::Row | Class::BadRow)
    }

    const fn is_separator(&self) -> bool {
        matches!(self.class, Class::Other(Kind::Separator)) || self.is_remark
    }

    const fn is_ruler(&self) -> bool {
        matches!(self.class, Class::Other(Kind::Separator)) && self.is_drawn
    }

    /// What it is where it is passed over.
    const fn passed_as(&self) -> Kind {
        match self.class {
            Class::Other(kind) => kind,
            Class::Heading => Kind::Comment,
            Class::Blanks => Kind::Separator,
            Class::Row | Class::BadRow => Kind::Unexplained,
        }
    }
}

/// What a way to cut costs, the first first: characters that are unexplained, puzzles that are bad,
/// irregular gaps, words.
type CutCost = [u32; 4];

fn sum(one: CutCost, other: CutCost) -> CutCost {
    std::array::from_fn(|at| one[at].saturating_add(other[at]))
}

/// A puzzle in a way to cut.
#[derive(Clone, Copy, Debug)]
struct CutStep {
    /// The line behind it.
    end: usize,
    cost: CutCost,
    is_good: bool,
    weight: u32,
    /// Whether empty lines between its bands are no rows.
    passes_empty: bool,
}

/// The cheapest cut of a text: for each line that begins a puzzle that puzzle, and for each line behind one
/// the line where the next begins; with what all from there on costs.
type Cut = (Vec<Option<(CutCost, CutStep)>>, Vec<Option<(CutCost, usize)>>);

/// The lines of a text as the rows of a layout.
pub(super) struct RowText<'t> {
    layout: &'t Layout,
    lines: &'t [Line<'t>],
    signs: &'t Signs,
    rows: Vec<RowLine>,
    /// The cells of all rows.
    values: Vec<u8>,
    /// The line of the next row from each line on; the number of lines if there is none.
    next_row: Vec<usize>,
    /// Of the lines before each: unexplained characters, rows, blank rows, words.
    before: Vec<[u32; 4]>,
    /// Whether more text follows.
    goes_on: bool,
}

impl<'t> RowText<'t> {
    pub(super) fn new(layout: &'t Layout, lines: &'t [Line<'t>], signs: &'t Signs, goes_on: bool) -> Self {
        let mut values = Vec::with_capacity(lines.len() * usize::from(layout.side));
        let rows: Vec<RowLine> =
            lines.iter().map(|line| row_line(layout, &line.text, signs, &mut values)).collect();
        let mut next_row = vec![rows.len(); rows.len() + 1];
        for at in (0..rows.len()).rev() {
            next_row[at] = if rows[at].may_be_row() { at } else { next_row[at + 1] };
        }
        let mut before = Vec::with_capacity(rows.len() + 1);
        let mut sums = [0_u32; 4];
        before.push(sums);
        for row in &rows {
            let is_lost = row.is_row() || row.class == Class::Other(Kind::Unexplained);
            let is_words = row.class == Class::Other(Kind::Words);
            sums[0] = sums[0].saturating_add(if is_lost { row.weight } else { 0 });
            sums[1] += u32::from(row.is_row());
            sums[2] += u32::from(row.class == Class::Blanks);
            sums[3] = sums[3].saturating_add(if is_words { row.weight } else { 0 });
            before.push(sums);
        }
        Self { layout, lines, signs, rows, values, next_row, before, goes_on }
    }

    fn side(&self) -> usize {
        usize::from(self.layout.side)
    }

    /// The puzzles that may begin on a line.
    fn puzzles_from(&self, start: usize) -> Vec<CutStep> {
        let mut steps = Vec::new();
        let whole = self.whole_from(start, false);
        // A good puzzle that is all rows there are is no part of a damaged one.
        let ends_run = |step: &CutStep| {
            step.cost == [0; 4] && self.rows.get(step.end).is_none_or(|row| !row.may_be_row())
        };
        steps.extend(whole);
        if self.layout.row().split == Split::Columns {
            steps.extend(self.whole_from(start, true));
        }
        if self.rows[start].is_row() && !whole.as_ref().is_some_and(ends_run) {
            steps.extend(self.damaged_from(start));
        }
        steps
    }

    /// The puzzle of the rows from a line on; empty lines between bands may be `passed`.
    fn whole_from(&self, start: usize, passes_empty: bool) -> Option<CutStep> {
        let (side, box_rows) = (self.side(), usize::from(self.layout.size().box_rows));
        let (mut count, mut at) = (0, start);
        let (mut beside, mut total, mut unread) = (0_u32, 0_u32, 0_u32);
        let (mut is_read, mut is_spaced, mut is_ruled, mut is_crossed) = (true, false, false, false);
        // Bands with something below them: none or all. Below the first row alone is the ruler of Markdown.
        let (mut borders, mut rulers) = (0, 0);
        let (mut blanks, mut zeros, mut first_label, mut labels) = (0, 0, None, Vec::new());
        while at < self.rows.len() && count < side {
            let row = &self.rows[at];
            let is_passed = passes_empty && self.is_between_bands(at, count);
            if row.may_be_row() && !is_passed {
                count += 1;
                beside += row.beside;
                total += row.weight;
                is_read &= row.cells.is_some();
                unread += if row.cells.is_none() { row.weight } else { 0 };
                blanks |= row.blanks;
                zeros += usize::from(row.zeros);
                first_label.get_or_insert(row.label);
                if row.label != 0 && !labels.contains(&row.label) {
                    labels.push(row.label);
                }
            } else if !row.is_separator() && !is_passed {
                break;
            } else if !row.is_drawn && !count.is_multiple_of(box_rows) {
                // A blank line is between bands, or between all rows.
                is_spaced |= count == 1;
                if !is_spaced {
                    break;
                }
            } else if row.is_remark {
                // It may be the title of the next puzzle.
                is_crossed = true;
            } else if row.is_drawn {
                // Rulers are between bands, or between all rows; two, one below the other, between puzzles.
                is_ruled |= count == 1;
                is_crossed |= !(is_ruled || count.is_multiple_of(box_rows)) || self.rows[at - 1].is_ruler();
                rulers += usize::from(count > 0 && count < side);
            }
            let is_below_band = count > 0 && count < side && count.is_multiple_of(box_rows);
            borders += usize::from(is_below_band && !row.may_be_row() && self.rows[at - 1].may_be_row());
            at += 1;
        }
        (count == side).then(|| {
            let is_good = is_read
                && is_one_sign(blanks)
                && !lacks_cell(blanks, zeros, side)
                && (labels.is_empty() || labels.len() == side);
            let mut step = CutStep { end: at, cost: [beside, 0, 0, 0], is_good, weight: total, passes_empty };
            // A cut that shifts rows has rulers elsewhere, and breaks rules.
            let breaks_rules = is_good && repeated(&self.digits(start, step), self.layout.size()) > 0;
            let is_irregular = is_crossed || borders > 0 && borders + 1 < side / box_rows;
            // Then a row at its edge that may be a heading or a separator is none of its cells.
            let may_be_none = |at: usize| matches!(self.rows[at].class, Class::Blanks | Class::Heading);
            let is_ruled_once = is_ruled && rulers == 1;
            step.is_good &= !(is_irregular && (may_be_none(start) || may_be_none(at - 1))
                || is_ruled_once && may_be_none(start));
            step.cost[1] = u32::from(!step.is_good) + u32::from(is_irregular) + u32::from(breaks_rules);
            step.weight = if is_read { total } else { unread };
            step
        })
    }

    /// The rows from a line on that are not as many as a puzzle has: up to each separator, as long as they
    /// are fewer, and up to the end of all rows.
    fn damaged_from(&self, start: usize) -> Vec<CutStep> {
        let mut steps = Vec::new();
        let is_behind_rows = start > 0 && self.rows[start - 1].may_be_row();
        let (mut rows, mut characters, mut at) = (0_usize, 0_u32, start);
        let mut add = |rows: usize, characters: u32, end: usize| {
            let side = self.side();
            if rows == side || rows == 0 {
                return;
            }
            // So many rows are too few or too many.
            let lost = (side - rows % side).min(rows % side).max(1);
            let weight = characters / u32::try_from(rows).unwrap_or(1) * u32::try_from(lost).unwrap_or(1);
            let puzzles = u32::try_from(((2 * rows + side) / (2 * side)).max(1)).unwrap_or(u32::MAX);
            // Rows behind those of a puzzle are rather a row of that one too many.
            let puzzles = puzzles.saturating_add(u32::from(is_behind_rows));
            let cost = [0, puzzles, 3, 0];
            steps.push(CutStep { end, cost, is_good: false, weight, passes_empty: false });
        };
        while let Some(row) = self.rows.get(at) {
            if row.may_be_row() {
                rows += usize::from(row.is_row());
                characters += if row.is_row() { row.weight } else { 0 };
            } else if row.is_separator() && row.is_drawn {
                if rows < self.side() {
                    add(rows, characters, at);
                }
            } else {
                break;
            }
            at += 1;
        }
        add(rows, characters, at);
        steps
    }

    /// What it costs to pass over the lines from one to another.
    fn gap_cost(&self, from: usize, to: usize) -> CutCost {
        let [lost, rows, empty, words] =
            std::array::from_fn(|at| self.before[to][at] - self.before[from][at]);
        let is_end = to == self.rows.len();
        if is_end && self.goes_on && rows < u32::from(self.layout.side) {
            // The rest of the last puzzle follows.
            return [0; 4];
        }
        // Separators are between puzzles, or one behind each.
        let irregular = match (from == 0, is_end) {
            (true, _) => empty * empty,
            (_, true) if empty == 0 => 0,
            _ => empty.abs_diff(1).pow(2),
        };
        [lost, 2 * rows, irregular, words]
    }

    /// The cheapest cut; of several that cost the same, the last of them if `takes_last`.
    fn cut(&self, takes_last: bool) -> Cut {
        let end = self.rows.len();
        let is_better = |cost: CutCost, old: Option<CutCost>| {
            old.is_none_or(|old| if takes_last { cost <= old } else { cost < old })
        };
        let mut starts: Vec<Option<(CutCost, CutStep)>> = vec![None; end + 1];
        let mut gaps: Vec<Option<(CutCost, usize)>> = vec![None; end + 1];
        gaps[end] = Some(([0; 4], end));
        for at in (0..end).rev() {
            if self.rows[at].may_be_row() {
                for step in self.puzzles_from(at) {
                    let Some((rest, _)) = gaps[step.end] else { continue };
                    let cost = sum(step.cost, rest);
                    if is_better(cost, starts[at].map(|(cost, _)| cost)) {
                        starts[at] = Some((cost, step));
                    }
                }
            }
            let mut to = at;
            loop {
                to = self.next_row[to];
                let rest = if to == end { Some([0; 4]) } else { starts[to].map(|(cost, _)| cost) };
                if let Some(rest) = rest {
                    let cost = sum(self.gap_cost(at, to), rest);
                    if is_better(cost, gaps[at].map(|(cost, _)| cost)) {
                        gaps[at] = Some((cost, to));
                    }
                }
                let is_lossy = self.before[to][0] > self.before[at][0] && to - at > 2 * self.side();
                if to == end || is_lossy {
                    break;
                }
                to += 1;
            }
        }
        (starts, gaps)
    }

    /// What is read, by the cheapest cut. Where the first and the last of those differ, both.
    pub(super) fn readings(&self) -> Vec<Reading> {
        let first = self.read(false);
        let last = self.read(true);
        if first.has_puzzles_of(&last) { vec![first] } else { vec![first, last] }
    }

    fn read(&self, takes_last: bool) -> Reading {
        self.read_up_to(takes_last, false, |_, _| true).0
    }

    /// What is read where the end of each puzzle is certain, and the line behind that: at least so many
    /// lines above the end of a text that goes on, or, where more is awaited, wherever a puzzle is whole
    /// or something is below it.
    pub(super) fn read_whole(&self, rest: Rest, margin: usize) -> (Reading, usize) {
        let end = self.rows.len();
        let (reading, taken) = self.read_up_to(false, true, |_, step| match rest {
            Rest::Nothing => true,
            Rest::More => step.end + margin <= end,
            Rest::Awaited => step.is_good || step.end < end,
        });
        match rest {
            Rest::Nothing => (reading, end),
            // Lines above the first puzzle.
            Rest::More if reading.puzzles.is_empty() => {
                let first = (0..end).find(|&at| self.rows[at].may_be_row()).unwrap_or(end);
                (reading, first.min(end.saturating_sub(margin)))
            }
            _ => (reading, taken),
        }
    }

    /// The puzzles of the cheapest cut, the first of them that are certain, and the line behind those. What is
    /// left of rows between them is a bad puzzle if it `answers_all`.
    fn read_up_to(
        &self,
        takes_last: bool,
        answers_all: bool,
        is_certain: impl Fn(usize, &CutStep) -> bool,
    ) -> (Reading, usize) {
        let (starts, gaps) = self.cut(takes_last);
        let end = self.rows.len();
        let mut reading = Reading::new(self.layout, self.lines);
        let (mut at, mut blank_rows) = (0, Vec::new());
        // Puzzles with nothing between them: whether rows with blanks alone are where they meet.
        let (mut meet_in_cells, mut meet_in_blanks, mut has_separators) = (false, false, false);
        while at < end {
            let Some((_, next)) = gaps[at] else { break };
            if let Some((_, step)) = starts[next]
                && !is_certain(next, &step)
                && !(step.is_good && reading.is_solution(&self.digits(next, step)))
            {
                break;
            }
            let between = &self.rows[at..next];
            let are_blanks = between.iter().all(|row| row.class == Class::Blanks);
            if at > 0 && next < end && are_blanks && !blank_rows.contains(&between.len()) {
                blank_rows.push(between.len());
            }
            has_separators |= are_blanks && at < next;
            let is_rest = next == end && self.goes_on;
            if !is_rest {
                self.pass_over(at, next, answers_all, &mut reading);
            }
            let Some((_, step)) = starts[next] else { break };
            if at > 0 && at == next {
                let meeting = || [at - 1, at].into_iter().map(|at| &self.rows[at]);
                let are_blanks = meeting().any(|row| row.class == Class::Blanks);
                meet_in_blanks |= are_blanks;
                has_separators |= meeting().any(|row| !row.is_drawn);
                meet_in_cells |= !are_blanks;
            }
            self.add(&mut reading, next, step);
            at = step.end;
        }
        reading.is_uneven = blank_rows.len() > 1 || meet_in_blanks && !meet_in_cells && has_separators;
        (reading, at)
    }

    /// Passes over the lines from one to another.
    fn pass_over(&self, from: usize, to: usize, answers_all: bool, reading: &mut Reading) {
        let mut is_below_rest = false;
        for (at, (line, row)) in (from..to).zip(self.lines[from..to].iter().zip(&self.rows[from..to])) {
            let kind = row.passed_as();
            // Above the names of columns are the tens of their numbers.
            let is_tens = self.rows.get(at + 1).is_some_and(|below| below.class == Class::Heading);
            let is_lost = row.is_row() || row.is_rest && !is_tens;
            let is_rest = answers_all && is_lost && kind == Kind::Unexplained;
            if is_rest && !is_below_rest {
                reading.add_bad(
                    Fault { line: line.number, what: FaultKind::Length },
                    line.number,
                    row.weight,
                );
            } else if !is_rest {
                reading.pass_over(kind, line);
            }
            is_below_rest = is_rest;
        }
    }

    /// The digits of a good puzzle.
    fn digits(&self, start: usize, step: CutStep) -> Vec<u8> {
        let cells = self.rows_of(start, step).into_iter().filter_map(|at| self.rows[at].cells);
        cells.flat_map(|from| &self.values[from..from + self.side()]).copied().collect()
    }

    /// The lines of a puzzle that are its rows.
    fn rows_of(&self, start: usize, step: CutStep) -> Vec<usize> {
        let mut rows = Vec::with_capacity(self.side());
        for at in start..step.end {
            if self.rows[at].may_be_row() && !(step.passes_empty && self.is_between_bands(at, rows.len())) {
                rows.push(at);
            }
        }
        rows
    }

    /// Whether a line that may be a row is empty and stands behind so many rows, which are whole bands.
    fn is_between_bands(&self, at: usize, rows: usize) -> bool {
        !self.rows[at].is_drawn && rows > 0 && rows.is_multiple_of(usize::from(self.layout.size().box_rows))
    }

    /// Adds the puzzle that begins on a line.
    fn add(&self, reading: &mut Reading, start: usize, step: CutStep) {
        let lines = self.rows_of(start, step);
        let rows = || lines.iter().copied();
        let line = self.lines[start].number;
        if step.is_good {
            let digits = self.digits(start, step);
            reading.unexplained += step.cost[0];
            let blanks = rows().fold(0, |blanks, at| blanks | self.rows[at].blanks);
            let zeros: u32 = rows().map(|at| u32::from(self.rows[at].zeros)).sum();
            reading.add(&digits, line, step.weight, true);
            reading.count_unclear(&digits, blanks, zeros);
            return;
        }
        // Its length is the first thing that is checked.
        let mut bad = rows().filter(|&at| self.rows[at].cells.is_none()).map(|at| Fault {
            line: self.lines[at].number,
            what: self.layout.fault(&self.lines[at], self.signs),
        });
        let first = bad.next();
        let last = rows().next_back().unwrap_or(start);
        let fault = match first {
            _ if rows().count() != self.side() => None,
            Some(fault) if fault.what == FaultKind::Length => Some(fault),
            Some(fault) => Some(bad.find(|fault| fault.what == FaultKind::Length).unwrap_or(fault)),
            None => None,
        };
        let fault = fault.unwrap_or(Fault { line: self.lines[last].number, what: FaultKind::Length });
        reading.unexplained += step.cost[0];
        // Rows of several puzzles that lack some have an answer for each.
        let puzzles = ((2 * lines.len() + self.side()) / (2 * self.side())).max(1);
        for at in (1..puzzles).map(|puzzle| lines[(puzzle * self.side()).min(lines.len()) - 1]) {
            let line = self.lines[at].number;
            reading.add_bad(Fault { line, what: FaultKind::Length }, line, 0);
        }
        reading.add_bad(fault, line, step.weight);
    }
}

/// A line as a row of a layout; its cells are appended to `values`.
fn row_line(layout: &Layout, line: &[u8], signs: &Signs, values: &mut Vec<u8>) -> RowLine {
    let from = values.len();
    let is_drawn = !line.trim_ascii().is_empty();
    let by_columns = layout.row().split == Split::Columns;
    let has_delimiter = line.iter().any(|byte| layout.delimiters.contains(byte));
    let has_no_delimiter = !layout.delimiters.is_empty() && !has_delimiter;
    let may_be_row = is_drawn || by_columns || has_delimiter || layout.delimiters == b"\t";
    let parsed = if may_be_row { layout.parse(line, signs, values) } else { ParsedLine::default() };
    let row = |class| RowLine {
        class,
        cells: parsed.is_read.then_some(from),
        blanks: parsed.blanks,
        zeros: parsed.zeros,
        label: parsed.label,
        weight: weight(line),
        beside: parsed.unexplained,
        is_rest: parsed.is_rest,
        is_drawn,
        is_remark: matches!(line.trim_ascii_start(), [b'#', ..] | [b'/', b'/', ..]),
    };
    // Most rows have a blank in them, and so are no names.
    let is_short = line.len() == usize::from(layout.side);
    if parsed.is_read
        && is_short
        && values[from..].contains(&0)
        && values[from..].iter().any(|&value| value > 0)
    {
        return row(Class::Row);
    }
    let is_heading = are_names(&pieces(line, |_| false))
        || !layout.delimiters.is_empty() && are_names(&fields(line, &layout.delimiters));
    if is_heading {
        return row(Class::Heading);
    }
    // The number of a puzzle, or all that is left of a row.
    if parsed.is_read && has_no_delimiter && is_number(line) {
        return row(Class::Heading);
    }
    let other = kind(line);
    let is_empty = |parsed: &ParsedLine| {
        parsed.label != 0 && parsed.blanks == NOTHING && values[from..].iter().all(|&value| value == 0)
    };
    row(match other {
        // Blanks that are no letters or digits, perhaps behind the number of the row.
        _ if parsed.is_read && parsed.blanks != DOT && (other == Kind::Separator || is_empty(&parsed)) => {
            Class::Blanks
        }
        _ if parsed.is_read => Class::Row,
        Kind::Words | Kind::Unexplained if parsed.is_meant && !is_label(line) => Class::BadRow,
        // A delimiter may also begin a comment.
        Kind::Comment if parsed.is_meant && layout.delimiters.contains(&line.trim_ascii_start()[0]) => {
            Class::BadRow
        }
        // The number of a puzzle, or how many there are.
        Kind::Unexplained if is_number(line) => Class::Other(Kind::Words),
        Kind::Unexplained if layout.is_told || is_partly(line.trim_ascii(), layout, signs) => Class::BadRow,
        _ => Class::Other(other),
    })
}

/// Whether a line has as many characters as a row, and a quarter of them are cells.
fn is_partly(line: &[u8], layout: &Layout, signs: &Signs) -> bool {
    let cells = || line.iter().filter(|&&sign| signs.sign(sign, layout.side).is_some()).count();
    let is_of_signs = layout.row().split == Split::Signs && line.len() == usize::from(layout.side);
    is_of_signs && 4 * cells() >= line.len()
}
