//! Addresses of puzzles, as players paste them, read as one puzzle a line: the 81 cells in the
//! address. The rest of it is not looked at, and nothing is fetched. Lines without such cells are
//! left as they are.

use std::io::{self, BufRead, BufReader, Read};

use crate::text::BYTE_ORDER_MARK;

/// The bytes read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The most bytes of a line that are looked at.
const MAX_LINE_BYTES: u64 = 64 * 1024;

/// The cells of a puzzle.
const CELLS: usize = 81;

/// The puzzles of a stream of addresses, a line each.
pub(super) struct Addresses<R> {
    text: BufReader<R>,
    /// The current line, or what is left to hand out of it.
    line: Vec<u8>,
    at: usize,
    /// Whether the end of a long line comes next.
    is_within_line: bool,
}

impl<R: Read> Addresses<R> {
    pub(super) fn new(text: R) -> Self {
        let text = BufReader::with_capacity(BUFFER_BYTES, text);
        Self { text, line: Vec::new(), at: 0, is_within_line: false }
    }

    fn next_line(&mut self) -> io::Result<()> {
        self.line.clear();
        self.at = 0;
        self.text.by_ref().take(MAX_LINE_BYTES).read_until(b'\n', &mut self.line)?;
        let is_beginning = !std::mem::replace(&mut self.is_within_line, !self.line.ends_with(b"\n"));
        if is_beginning && let Some(cells) = cells(&self.line) {
            // The rest of a longer line becomes a comment.
            let is_cut = self.line.len() as u64 == MAX_LINE_BYTES;
            let end: &[u8] = match self.line.last() {
                Some(b'\n') => b"\n",
                _ if is_cut => b"#",
                _ => b"",
            };
            self.line = [cells, end].concat();
        }
        Ok(())
    }
}

/// Whether a text that begins with an address has puzzles in addresses. They may all be damaged, but
/// an address above other lines, none of which has a puzzle in it, is a title.
pub(super) fn has_addresses(beginning: &[u8]) -> bool {
    let lines = || beginning.split(|&byte| byte == b'\n');
    let is_other =
        |line: &[u8]| !matches!(line.trim_ascii_start(), [] | [b'#', ..]) && address(line).is_none();
    lines().any(|line| cells(line).is_some()) || !lines().any(is_other)
}

/// The address on a line, if there is one.
fn address(line: &[u8]) -> Option<&[u8]> {
    let text = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line).trim_ascii_start();
    (text.starts_with(b"https://") || text.starts_with(b"http://")).then_some(text)
}

/// The cells of a puzzle in an address, if there is one.
fn cells(line: &[u8]) -> Option<&[u8]> {
    let text = address(line)?;
    let is_cell = |byte: &u8| byte.is_ascii_digit() || *byte == b'.';
    let mut found = text.split(|byte| !is_cell(byte)).filter(|run| run.len() == CELLS);
    found.next().filter(|_| found.next().is_none())
}

impl<R: Read> Read for Addresses<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.line.len() {
            self.next_line()?;
        }
        let length = buffer.len().min(self.line.len() - self.at);
        buffer[..length].copy_from_slice(&self.line[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PUZZLE: &str = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";

    fn lines(text: &str) -> String {
        let mut lines = String::new();
        Addresses::new(text.as_bytes()).read_to_string(&mut lines).unwrap();
        lines
    }

    #[test]
    fn the_cells_of_an_address_are_its_puzzle() {
        for address in [
            format!("https://www.example.com/sudoku/solver?bd={PUZZLE}"),
            format!("http://example.org/?s={}&theme=1", PUZZLE.replace('.', "0")),
            format!("https://example.org:8080/{PUZZLE}"),
            format!("https://example.org/play?level=3&p={PUZZLE}#top"),
        ] {
            let cells = if address.contains("s=") { PUZZLE.replace('.', "0") } else { PUZZLE.to_owned() };
            assert_eq!(lines(&address), cells, "{address}");
            assert_eq!(lines(&format!("\u{FEFF}\n# a\n  {address}")), format!("\u{FEFF}\n# a\n{cells}"));
            assert_eq!(
                lines(&format!("{address}\n{PUZZLE}\n{address}\r\n")),
                format!("{cells}\n{PUZZLE}\n{cells}\n")
            );
        }
    }

    #[test]
    fn the_rest_of_a_long_address_is_no_part_of_its_puzzle() {
        let long = format!("https://example.org/{PUZZLE}?{}", "x".repeat(200_000));
        let rest = &long[usize::try_from(MAX_LINE_BYTES).unwrap()..];
        assert_eq!(lines(&format!("{long}\n{PUZZLE}\n")), format!("{PUZZLE}#{rest}\n{PUZZLE}\n"));
    }

    #[test]
    fn an_address_above_other_lines_is_a_title() {
        let address = format!("https://example.org/{PUZZLE}\n");
        let damaged = format!("http://example.org/{}\n", &PUZZLE[1..]);
        for text in [&address, &damaged, &format!("{damaged}\n# a\n{damaged}")] {
            assert!(has_addresses(text.as_bytes()), "{text}");
        }
        let grid = "1,2,3,4\n3,4,1,2\n2,1,4,3\n4,3,2,1\n";
        assert!(!has_addresses(format!("\u{FEFF}http://example.org/1\n{grid}").as_bytes()));
        assert!(has_addresses(format!("http://example.org/1\n{grid}{address}").as_bytes()));
    }

    #[test]
    fn other_lines_are_left_as_they_are() {
        let long = "x".repeat(200_000);
        for text in [
            "https://example.org/\n".to_owned(),
            format!("https://example.org/{PUZZLE}/{PUZZLE}\n"),
            format!("https://example.org/{}\n", &PUZZLE[1..]),
            format!("# https://example.org/{PUZZLE}\n"),
            format!("https://{long}\n{PUZZLE}"),
            String::new(),
        ] {
            assert_eq!(lines(&text), text);
        }
    }
}
