//! Rows of digits with spaces for blank cells, such as `53  7    `.
//!
//! Spaces at the ends of lines are easily lost, so shorter rows are padded, and an empty line may
//! be a blank row. Lines that could mean two puzzles are not read.

use std::iter;

use sudoku_stream::grid::{Grid, Order};

/// The order of rows that are all four characters long.
const FOUR: Order = Order::ALL[1];

/// The side of other puzzles. Larger ones have values that are no digits.
const SIDE: usize = Order::NINE.side();

/// The most lines of a puzzle, with empty lines between bands.
const MAX_LINES: usize = 2 * SIDE;

/// Lines that are rows with spaces for blank cells, or empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SpacedRows {
    lines: Vec<Vec<u8>>,
}

impl SpacedRows {
    /// These lines and one more. `None` if that is no such row.
    pub fn with(mut self, line: &[u8]) -> Option<Self> {
        let is_row = line.iter().all(|byte| matches!(byte, b' ' | b'1'..=b'9'));
        if !is_row || line.trim_ascii_end().len() > SIDE || self.lines.len() == MAX_LINES {
            return None;
        }
        self.lines.push(line.to_vec());
        Some(self)
    }

    /// Is there a space for a cell, and can the rows belong to one puzzle?
    pub fn is_likely(&self) -> bool {
        let has_space = self.lines.iter().any(|line| {
            line.trim_ascii_end().contains(&b' ') || (line.len() >= SIDE && line.ends_with(b" "))
        });
        has_space && (self.keeps_rules(Order::NINE) || (self.is_four() && self.keeps_rules(FOUR)))
    }

    /// Are these all rows of a puzzle?
    pub fn is_complete(&self) -> bool {
        self.is_placed() && self.whole().is_some()
    }

    /// Can further lines complete the puzzle?
    pub fn may_go_on(&self) -> bool {
        // Whoever wants to leave off types an empty line, and another one if the first was a row.
        let is_left = matches!(&self.lines[..], [.., a, b] if is_gap(a) && is_gap(b)) && !self.has_bands();
        self.rows().len() < SIDE && !is_left
    }

    /// The number of rows, without empty lines at the end.
    pub fn len(&self) -> usize {
        self.rows().iter().rposition(|row| !is_gap(row)).map_or(0, |last| last + 1)
    }

    /// The number of rows that the puzzle has, as far as that is known.
    pub fn side(&self) -> usize {
        if self.is_four() && self.lines.len() < FOUR.side() { FOUR.side() } else { SIDE }
    }

    /// The order of the puzzle, and its rows with a `.` in each blank cell. `None` if a row is
    /// missing.
    pub fn text(&self) -> Option<(Order, Vec<u8>)> {
        let (order, rows) = self.whole()?;
        let mut text = Vec::with_capacity(order.side() * (order.side() + 1));
        for row in rows {
            let cells = row.iter().copied().chain(iter::repeat(b' ')).take(order.side());
            text.extend(cells.map(|byte| if byte == b' ' { b'.' } else { byte }));
            text.push(b'\n');
        }
        Some((order, text))
    }

    /// The reply if the puzzle stays unfinished. There is none to blank rows alone, because they may
    /// be no puzzle at all.
    pub fn unfinished(&self) -> String {
        if !self.lines.iter().flatten().any(u8::is_ascii_digit) {
            return String::new();
        }
        if self.whole().is_some() {
            return "No row begins in column 1 or has 9 characters, so the columns are not known.\n\
                    The puzzle is not on the board.\n"
                .to_owned();
        }
        let (rows, side) = (self.len(), self.side());
        format!("The puzzle ended after {rows} of {side} rows. It is not on the board.\n")
    }

    /// Can the rows be those of a 4x4 puzzle? They are not padded, because shorter rows are more
    /// likely those of a 9x9 puzzle.
    fn is_four(&self) -> bool {
        self.lines.iter().all(|line| {
            line.len() == FOUR.side() && line.iter().all(|byte| matches!(byte, b' ' | b'1'..=b'4'))
        })
    }

    /// Is it known where the columns are? Otherwise all rows could be indented.
    fn is_placed(&self) -> bool {
        self.is_four()
            || self
                .lines
                .iter()
                .any(|line| line.len() == SIDE || line.first().is_some_and(u8::is_ascii_digit))
    }

    /// The order and the rows, if none is missing.
    fn whole(&self) -> Option<(Order, Vec<&[u8]>)> {
        // A space at the end of a row shows that none were lost there.
        let keeps_spaces = || self.lines.iter().any(|line| line.ends_with(b" "));
        if self.is_four() && self.lines.len() == FOUR.side() && keeps_spaces() {
            return Some((FOUR, self.lines.iter().map(Vec::as_slice).collect()));
        }
        // An empty line at the end may be the last row, or only the end.
        let has_end = self.lines.last().is_some_and(|line| !is_gap(line));
        let rows = self.rows();
        (has_end && rows.len() == SIDE).then_some((Order::NINE, rows))
    }

    /// All lines; where bands stand apart, without the empty lines between them.
    fn rows(&self) -> Vec<&[u8]> {
        let has_bands = self.has_bands();
        self.lines.iter().map(Vec::as_slice).filter(|line| !(has_bands && is_gap(line))).collect()
    }

    /// Are there empty lines between all bands and nowhere else?
    fn has_bands(&self) -> bool {
        let (mut rows, mut was_gap) = (0_usize, false);
        for line in &self.lines {
            let is_between = rows > 0 && rows.is_multiple_of(Order::NINE.box_side());
            let is_gap = is_gap(line);
            let fits = if is_gap { is_between } else { is_between == was_gap };
            if !fits {
                return false;
            }
            rows += usize::from(!is_gap);
            was_gap = is_gap;
        }
        true
    }

    /// Do the rows so far keep the rules of a puzzle of this order?
    fn keeps_rules(&self, order: Order) -> bool {
        let rows = self.rows();
        if rows.len() > order.side() {
            return false;
        }
        let mut grid = Grid::empty(order);
        for (row, cells) in rows.iter().zip(grid.digits_mut().chunks_mut(order.side())) {
            for (&byte, cell) in row.iter().zip(cells) {
                *cell = if byte == b' ' { 0 } else { byte - b'0' };
            }
        }
        grid.keeps_rules()
    }
}

/// Is a line empty? Spaces alone are too, if they are fewer than a row has.
fn is_gap(line: &[u8]) -> bool {
    line.len() < SIDE && line.iter().all(|&byte| byte == b' ')
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROWS: [&str; 9] = [
        "53  7    ",
        "6  195   ",
        " 98    6 ",
        "8   6   3",
        "4  8 3  1",
        "7   2   6",
        " 6    28 ",
        "   419  5",
        "    8  79",
    ];

    fn rows(lines: &[&str]) -> SpacedRows {
        let add = |rows: SpacedRows, line: &&str| rows.with(line.as_bytes());
        lines.iter().try_fold(SpacedRows::default(), add).unwrap()
    }

    /// The text of lines, the last of which has to complete it.
    fn text(lines: &[&str]) -> String {
        for end in 1..lines.len() {
            let rows = rows(&lines[..end]);
            assert!(!rows.is_complete() && rows.may_go_on(), "{end} of {lines:?}");
        }
        let rows = rows(lines);
        assert!(rows.is_complete() && rows.is_likely(), "{lines:?}");
        String::from_utf8(rows.text().unwrap().1).unwrap()
    }

    #[test]
    fn spaces_at_the_ends_of_rows_may_be_lost() {
        let wanted = ROWS.join("\n").replace(' ', ".") + "\n";
        assert_eq!(text(&ROWS), wanted);
        assert_eq!(text(&ROWS.map(str::trim_end)), wanted);
        // Bands may stand apart.
        let bands: Vec<&str> = ROWS.chunks(3).collect::<Vec<_>>().join(&"");
        assert_eq!(text(&bands), wanted);
    }

    #[test]
    fn an_empty_line_is_a_blank_row_where_it_is_nothing_else() {
        for blank in 0..9 {
            let mut lines = ROWS;
            lines[blank] = "         ";
            let wanted = lines.join("\n").replace(' ', ".") + "\n";
            assert_eq!(text(&lines), wanted, "row {blank}");
            lines[blank] = "";
            match blank {
                8 => assert!(!rows(&lines).is_complete(), "it may be only the end"),
                _ => assert_eq!(text(&lines), wanted, "row {blank}"),
            }
        }
        // Rows 4 and 8, or the ends of bands?
        let mut lines = ROWS;
        (lines[3], lines[7]) = ("", "");
        assert!(!rows(&lines).is_complete() && rows(&lines).may_go_on());
        let left = rows(&["53  7", "", ""]);
        assert!(!left.may_go_on());
        assert_eq!(left.unfinished(), "The puzzle ended after 1 of 9 rows. It is not on the board.\n");
        assert_eq!(rows(&["         "]).unfinished(), "");
    }

    #[test]
    fn rows_of_four_are_not_padded() {
        assert_eq!(text(&["1  4", " 3  ", "  2 ", "4  1"]), "1..4\n.3..\n..2.\n4..1\n");
        // These could be the first rows of a 9x9 puzzle.
        for lines in [["1  4", " 3", "  2", "4  1"], ["1  4", "   3", "   2", "4  1"]] {
            assert!(!rows(&lines).is_complete() && rows(&lines).may_go_on(), "{lines:?}");
        }
    }

    #[test]
    fn what_could_be_another_puzzle_is_not_read() {
        for line in ["53..7....", "53  7    8", "5 3 4 6 7 8", "5\t3", "503", "set", "|53 |"] {
            assert!(SpacedRows::default().with(line.as_bytes()).is_none(), "{line}");
        }
        // Without a space, or with a digit twice.
        assert!(!rows(&["1234", "34122"]).is_likely());
        assert!(!rows(&["1 1 5"]).is_likely());
        assert!(!rows(&["12 34", "34 12", "21  3"]).is_likely());
        // Each row could be indented by one.
        let lines = ROWS.map(|row| format!(" {}", &row[1..8]));
        let indented = rows(&lines.each_ref().map(String::as_str));
        assert!(!indented.is_complete() && !indented.may_go_on());
        assert!(indented.unfinished().starts_with("No row begins in column 1"), "{}", indented.unfinished());
    }
}
