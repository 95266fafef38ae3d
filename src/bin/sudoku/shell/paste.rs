//! Puzzles typed or pasted, on one line or several.
//!
//! What was typed so far is read like a file after each line, by the same recognition. A puzzle is
//! complete as soon as it is read. A line that is none by itself begins one if it is the row of a
//! puzzle: if a text of so many lines like it is one.

use sudoku_stream::grid::Order;
use sudoku_stream::text::{FormatError, Hint, Notation, SAMPLE_BYTES, detect};

use crate::cli::draw;
use crate::cli::typed::{Typed, first_puzzle};

/// The side of the largest puzzle.
const MAX_SIDE: usize = Order::ALL[Order::ALL.len() - 1].side();

/// The most lines of an unfinished puzzle: as many as the largest has rows, and as many between them.
const MAX_LINES: usize = 2 * MAX_SIDE;

/// An unfinished puzzle of several lines.
#[derive(Clone, Debug)]
pub struct Paste {
    text: Vec<u8>,
    lines: usize,
    /// The number of its rows, or of lines that may be rows.
    rows: usize,
    /// Its size, once a row has shown it.
    order: Option<Order>,
    /// The puzzle so far, which further lines may change: triples.
    so_far: Option<Typed>,
    was_empty: bool,
}

/// The reading of a first line.
#[derive(Debug)]
pub enum Begun {
    /// A complete puzzle.
    Whole(Typed),
    /// The first line of a puzzle.
    Part(Paste),
}

/// The effect of a further line.
#[derive(Debug)]
pub enum LineTaken {
    /// The puzzle goes on.
    More,
    /// The puzzle is complete.
    Done(Box<Result<Typed, FormatError>>),
    /// The puzzle ended too early.
    Short,
}

/// Whether a line looks like a puzzle or a part of one, and not like a name or a path.
pub fn looks_like_cells(line: &[u8], hint: &Hint) -> bool {
    let text = String::from_utf8_lossy(line);
    let cells: Vec<char> = text.chars().filter(|symbol| !symbol.is_whitespace()).collect();
    if cells.is_empty() || cells.contains(&'/') || has_file_ending(line) {
        return false;
    }
    let is_frame =
        |symbol: &&char| matches!(symbol, '\u{2500}'..='\u{257F}') || "|+=:,;'[](){}".contains(**symbol);
    let is_cell = |symbol: &&char| symbol.is_ascii_digit() || "._*-".contains(**symbol);
    let count = |is_one: &dyn Fn(&&char) -> bool| cells.iter().filter(is_one).count();
    let begins_with_word = cells[0].is_ascii_alphabetic() && !is_longer_than_row(line);
    if !begins_with_word && 2 * count(&|symbol| is_frame(symbol) || is_cell(symbol)) > cells.len() {
        return true;
    }
    let is_long = is_longer_than_row(line) || cells.len() >= 16 && count(&is_cell) > 0;
    is_long && begin(line, hint).is_ok()
}

/// Whether a line ends like a file name, in `.txt` or `.gz`.
fn has_file_ending(line: &[u8]) -> bool {
    line.iter().rposition(|&byte| byte == b'.').is_some_and(|dot| {
        let ending = &line[dot + 1..];
        (2..=5).contains(&ending.len()) && ending.iter().all(u8::is_ascii_lowercase)
    })
}

/// Whether a line has no value, so that it may be around or between rows. A puzzle without a clue is
/// none.
pub fn is_frame(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    let is_empty_puzzle = Order::from_cells(line.len()).is_some_and(|order| order.side() > 1)
        && line.iter().all(|byte| *byte == line[0]);
    !line.is_empty() && !String::from_utf8_lossy(line).chars().any(char::is_alphanumeric) && !is_empty_puzzle
}

/// Whether a line is the row of a 9x9 puzzle with a space for each cell.
pub fn is_blank_row(line: &[u8]) -> bool {
    line.len() == Order::NINE.side() && line.iter().all(|&byte| byte == b' ')
}

/// Whether a line has the numbers of columns above a board, as the console draws it.
pub fn is_heading(line: &[u8]) -> bool {
    let larger = || Order::ALL.into_iter().filter(|order| order.side() > 1);
    let starts = |order: Order| (0..order.side()).map(move |column| 2 * (column + column / order.box_side()));
    let headings = |order: Order| draw::headings(&starts(order).collect::<Vec<_>>());
    larger().flat_map(headings).any(|heading| heading.as_bytes() == line.trim_ascii_end())
}

/// The size of the puzzle that a text would be whose rows are all like this one.
fn order_of_row(line: &[u8], hint: &Hint) -> Option<Order> {
    let is_fitting = |order: &Order| {
        let text = [line, b"\n"].concat().repeat(order.side());
        first_puzzle(&text, hint)
            .is_ok_and(|((format, _), _)| format.order() == *order && format.notation() == Notation::Grid)
    };
    let may_be_row = !is_longer_than_row(line);
    Order::ALL.into_iter().filter(|order| may_be_row && order.side() > 1).find(is_fitting)
}

/// Reads the first line of a puzzle.
///
/// # Errors
/// A line that is neither a puzzle nor the beginning of one.
pub fn begin(line: &[u8], hint: &Hint) -> Result<Begun, FormatError> {
    let mut paste =
        Paste { text: Vec::new(), lines: 0, rows: 0, order: None, so_far: None, was_empty: false };
    let is_apart = line.iter().any(|byte| b" \t,;|[".contains(byte));
    let may_be_first = is_apart || is_frame(line) || is_heading(line) || is_block_size(line);
    let taken = paste.take(line, hint);
    match taken {
        LineTaken::Done(read) => match *read {
            // A 1 that is not all of its line is in a row with spaces.
            Ok((format, _)) if format.order().side() == 1 && line.len() > 1 => Ok(Begun::Part(paste)),
            read => read.map(Begun::Whole),
        },
        _ if (may_be_first || paste.order.is_some()) && !is_longer_than_row(line) => Ok(Begun::Part(paste)),
        _ => {
            let parts = line.split(u8::is_ascii_whitespace).take_while(|part| !part.starts_with(b"#"));
            let hint = Hint { notation: Some(Notation::Lines), ..hint.clone() };
            let cells = parts.collect::<Vec<_>>().concat();
            first_puzzle(&cells, &hint).map(|(puzzle, _)| Begun::Whole(puzzle))
        }
    }
}

/// Whether a line has more characters of cells than any row.
fn is_longer_than_row(line: &[u8]) -> bool {
    line.iter().filter(|byte| byte.is_ascii_graphic() && !b",;|".contains(byte)).count() > 2 * MAX_SIDE
}

/// Whether a line is a puzzle, and no row of one.
pub fn is_whole(line: &[u8], hint: &Hint) -> bool {
    is_longer_than_row(line) && matches!(begin(line, hint), Ok(Begun::Whole(_)))
}

/// Whether a line is the number above puzzles in `header`.
fn is_block_size(line: &[u8]) -> bool {
    matches!(line.trim_ascii(), b"2" | b"3")
}

impl Paste {
    /// Takes the next line, whatever is on it.
    pub fn take(&mut self, line: &[u8], hint: &Hint) -> LineTaken {
        let is_empty = line.is_empty();
        if is_empty && let Some(puzzle) = self.so_far.take() {
            return LineTaken::Done(Box::new(Ok(puzzle)));
        }
        self.lines += 1;
        if is_heading(line) {
            return LineTaken::More;
        }
        self.text.extend_from_slice(line);
        self.text.push(b'\n');
        let rows =
            detect(&self.text, hint).ok().filter(|opening| opening.format.notation() == Notation::Grid);
        if !is_frame(line) && !line.trim_ascii().is_empty() {
            self.rows += 1;
            self.order = self.order.or_else(|| order_of_row(line, hint));
        }
        let has_all_rows = rows.is_some_and(|opening| self.rows >= opening.format.order().side());
        let triples = Hint { notation: Some(Notation::Triples), ..hint.clone() };
        match first_puzzle(&self.text, hint) {
            Ok((puzzle, _)) if puzzle.0.notation() != Notation::Triples => {
                return LineTaken::Done(Box::new(Ok(puzzle)));
            }
            Err(error) if has_all_rows => return LineTaken::Done(Box::new(Err(error))),
            _ => {}
        }
        // A single triple is recognised by nothing.
        self.so_far = first_puzzle(&self.text, &triples).ok().map(|(puzzle, _)| puzzle);
        // One empty line may be between rows, or a row of spaces that were lost.
        let is_left = is_empty && self.was_empty || self.lines > MAX_LINES || self.text.len() > SAMPLE_BYTES;
        self.was_empty = is_empty;
        if is_left { LineTaken::Short } else { LineTaken::More }
    }

    /// The prompt of the next line.
    pub fn prompt(&self) -> String {
        match self.order {
            Some(order) => format!("row {} of {}> ", self.rows + 1, order.side()),
            None if self.so_far.is_some() => "row column value, a blank line ends> ".to_owned(),
            None => format!("line {}> ", self.lines + 1),
        }
    }

    /// The puzzle so far, or the reply if there is none.
    pub fn end(self) -> Result<Typed, String> {
        self.so_far.ok_or_else(|| match self.order {
            _ if self.text.trim_ascii().is_empty() => String::new(),
            Some(order) => {
                format!(
                    "The puzzle ended after {} of {} rows. It is not on the board.\n",
                    self.rows,
                    order.side()
                )
            }
            None => "The puzzle did not come to its end. It is not on the board.\n".to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use sudoku_stream::grid::Grid;
    use sudoku_stream::text::{Alphabet, Format};

    use super::super::board::{Board, Look};
    use super::*;

    /// The prompt for the line behind a first one; nothing if that is a puzzle.
    fn prompt(line: &str, hint: &Hint) -> Option<String> {
        match begin(line.as_bytes(), hint) {
            Ok(Begun::Whole(_)) => Some(String::new()),
            Ok(Begun::Part(paste)) => Some(paste.prompt()),
            Err(_) => None,
        }
    }

    #[test]
    fn a_line_tells_what_begins_with_it() {
        let row = |side| format!("row 2 of {side}> ");
        let (whole, more) = (String::new(), "line 2> ".to_owned());
        let triple = || "row column value, a blank line ends> ".to_owned();
        let cases = [
            (".".repeat(81), whole.clone()),
            (".".repeat(625), whole.clone()),
            (format!("{} # rated 2", ".".repeat(81)), whole.clone()),
            ("1...".repeat(4), whole.clone()),
            ("1 . . . ".repeat(4), whole.clone()),
            ("5,".repeat(81), whole.clone()),
            ("1".to_owned(), whole),
            ("1..G".repeat(4), row(16)),
            ("53..7....".to_owned(), row(9)),
            ("5 3 . | . 7 . | . . .".to_owned(), row(9)),
            ("|53.|.7.|...|".to_owned(), row(9)),
            ("123 456 789".to_owned(), row(9)),
            ("1 . . 4".to_owned(), row(4)),
            ("12  34".to_owned(), row(4)),
            ("10 . 12 . ".repeat(4), row(16)),
            ("│53.│.7.│...│".to_owned(), row(9)),
            ("5,3,0,0,7,0,0,0,0".to_owned(), row(9)),
            ("5;3;;;7;;;;".to_owned(), row(9)),
            ("[[5, 3, 0, 0, 7, 0, 0, 0, 0],".to_owned(), row(9)),
            ("1 1 5".to_owned(), triple()),
            // This may be a row with spaces for blank cells, too.
            ("5   3 7".to_owned(), triple()),
            // Nine of these are several puzzles of 8x8, or no puzzle because they break the rules.
            ("5,3,0,0,7,0,0,0,".to_owned(), more.clone()),
            ("53  7".to_owned(), more.clone()),
            (" 98    6 ".to_owned(), more.clone()),
            ("1        ".to_owned(), more.clone()),
            ("   7".to_owned(), more.clone()),
            ("3".to_owned(), more.clone()),
            ("+---+---+".to_owned(), more.clone()),
            ("├───┼───┤".to_owned(), more.clone()),
            ("*-----------*".to_owned(), more.clone()),
            ("'-----'".to_owned(), more),
        ];
        for (line, wanted) in cases {
            assert_eq!(prompt(&line, &Hint::default()), Some(wanted), "{line}");
        }
        for line in ["7", "12", "53..7..."] {
            assert_eq!(prompt(line, &Hint::default()), None, "{line}");
        }
    }

    #[test]
    fn sixteen_cells_are_what_the_command_line_says() {
        // 0 is a whole line, else it is a row of so many cells.
        for (line, size, alphabet, wanted) in [
            ("1234............", None, None, 0),
            ("1234............", Some(16), None, 16),
            ("12345...........", None, None, 16),
            ("abcd............", None, None, 0),
            ("abcd............", None, Some("abcd"), 0),
            ("ABCD............", Some(4), Some("alpha"), 0),
            ("ABCDE...........", None, Some("alpha"), 16),
            ("0123............", None, Some("hex"), 0),
            ("1 2 4 3", None, None, 4),
        ] {
            let hint = Hint {
                order: size.map(|side| Order::from_side(side).unwrap()),
                alphabet: alphabet.map(|alphabet| alphabet.parse().unwrap()),
                ..Hint::default()
            };
            let side = match begin(line.as_bytes(), &hint).unwrap() {
                Begun::Part(paste) => paste.order.unwrap().side(),
                Begun::Whole(_) => 0,
            };
            assert_eq!(side, wanted, "{line} {size:?} {alphabet:?}");
        }
    }

    #[test]
    fn paths_and_words_are_no_cells() {
        let is_one = |line: &str| looks_like_cells(line.as_bytes(), &Hint::default());
        for word in [
            "slove",
            "puzzles.txt",
            "../lists/1.txt",
            "17clue.txt.gz",
            "x",
            "",
            "list_2024_10.csv",
            "ex 16",
            "sett 1 1 5",
            "s 1 1 5",
            "one,two,three,four",
        ] {
            assert!(!is_one(word), "{word}");
        }
        for cells in [
            "53..7x...",
            "1 2 3",
            "5 3 4 6 7 8 9 1 2",
            "123456789ABCDEFG",
            "---+---",
            "┌───┬───┐",
            "│53.│.7.│...│",
            "'---'",
            "53  7",
            " 9     6",
            "5;3;;;7;;;;",
            ",,,,,,,,",
            "[[5, 3, 0, 0],",
        ] {
            assert!(is_one(cells), "{cells}");
        }
        assert!(is_one(&"A".repeat(81)));
    }

    /// The puzzle of lines, the last of which has to complete it.
    fn pasted(lines: &[&str]) -> Result<Typed, FormatError> {
        let hint = Hint::default();
        let Ok(Begun::Part(mut paste)) = begin(lines[0].as_bytes(), &hint) else {
            panic!("{} is whole", lines[0])
        };
        for (index, line) in lines.iter().enumerate().skip(1) {
            match paste.take(line.as_bytes(), &hint) {
                LineTaken::More => {}
                LineTaken::Done(puzzle) if index + 1 == lines.len() => return *puzzle,
                taken => panic!("{taken:?} at line {index} of {lines:?}"),
            }
        }
        panic!("{lines:?} goes on")
    }

    #[test]
    fn puzzles_of_several_lines_end_where_they_should() {
        let (_, grid) = pasted(&["1234", "34.2", "", "2143", "4321"]).unwrap();
        assert_eq!(grid.filled(), 15);
        let (_, grid) = pasted(&["+--+--+", "|12|34|", "|34|12|", "+--+--+", "|21|43|", "|43|21|"]).unwrap();
        assert!(grid.is_solved());
        let (_, grid) = pasted(&["2", "1234341221434321"]).unwrap();
        assert!(grid.is_solved());
        let (_, grid) =
            pasted(&["[[1, 2, 3, 4],", "[3, 4, 1, 2],", "[2, 1, 4, 3],", "[4, 3, 2, 1]]"]).unwrap();
        assert!(grid.is_solved());
        let (format, grid) = pasted(&["1 1 5", "9 9 1", ""]).unwrap();
        assert_eq!((format.order(), grid.filled()), (Order::NINE, 2));
        let error = |lines: &[&str]| pasted(lines).unwrap_err().to_string();
        assert_eq!(
            error(&["1234", "3412", "21q3", "4321"]),
            "Line 3 has an invalid character. It is 'q' in column 3."
        );
        assert_eq!(error(&["1234", "34122", "2143", "4321"]), "Line 2 has the wrong length.");
        let hint = Hint::default();
        let Ok(Begun::Part(mut paste)) = begin(b"1234", &hint) else { panic!("a row is whole") };
        assert!(matches!(paste.take(b"", &hint), LineTaken::More));
        assert!(matches!(paste.take(b"", &hint), LineTaken::Short));
        assert_eq!(paste.end().unwrap_err(), "The puzzle ended after 1 of 4 rows. It is not on the board.\n");
    }

    #[test]
    fn rows_with_spaces_may_look_like_something_else_at_first() {
        let filled = |rows: [&str; 9]| {
            let (format, grid) = pasted(&rows).unwrap();
            assert!(format.order() == Order::NINE && grid.keeps_rules(), "{rows:?}");
            grid.filled()
        };
        let mut puzzle = [
            "53  7",
            "6  195",
            " 98    6",
            "8   6   3",
            "4  8 3  1",
            "7   2   6",
            " 6    28",
            "   419  5",
            "    8  79",
        ];
        assert_eq!(filled(puzzle), 30);
        // Triples, a row of a 4x4 puzzle, a block size, a row without blank cells.
        for (first, clues) in [("5 3 7", 30), ("53  7 4", 31), ("1 2 4 3", 31), ("3", 28), ("534678912", 36)]
        {
            puzzle[0] = first;
            assert_eq!(filled(puzzle), clues, "{first}");
        }
        // Three clues in each row, which set (5, 7) twice as triples.
        let three = [
            "5   7   2",
            "6  1  3",
            " 9  4  6",
            " 5 7 1",
            "  6  3  1",
            "7  9  8",
            " 6  3  8",
            "  7  9  5",
            "3   8   9",
        ];
        assert_eq!(filled(three), 27);
    }

    #[test]
    fn a_board_is_read_as_the_console_draws_it() {
        for order in Order::ALL.into_iter().filter(|order| order.side() > 1) {
            let mut grid = Grid::empty(order);
            grid.set(order.cell(2, 3).unwrap(), Some(order.digit(order.side()).unwrap()));
            let format = Format::new(Notation::Grid, order, Alphabet::Letters).unwrap();
            let drawn = Board::new(String::new(), format, grid.clone()).draw(Look::Numbered);
            let lines: Vec<&str> = drawn.lines().collect();
            assert!(is_heading(lines[0].as_bytes()), "{drawn}");
            assert_eq!(pasted(&lines).unwrap().1, grid, "{drawn}");
        }
        assert!(!is_heading(b"1 2 3   4 5 6   7 8 9") && !is_heading(b"    1"));
    }

    #[test]
    fn a_puzzle_on_a_line_is_told_what_is_wrong_with_it() {
        let error = |line: &str| begin(line.as_bytes(), &Hint::default()).unwrap_err().to_string();
        assert_eq!(error("53..7..."), "The puzzle has 8 cells; a puzzle has 1, 16, 81, 256 or 625.");
        let bad = format!("{}q", ".".repeat(80));
        assert_eq!(error(&bad), "The puzzle has an invalid character. It is 'q' in column 81.");
        let hex = format!("F0{}", ".".repeat(254));
        assert!(error(&hex).starts_with("The text fits the alphabets hex and letters"));
        let hint = Hint { alphabet: Some("hex".parse().unwrap()), ..Hint::default() };
        assert!(matches!(begin(hex.as_bytes(), &hint), Ok(Begun::Whole(_))));
    }
}
