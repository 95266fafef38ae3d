//! OpenSudoku's XML, read as one puzzle a line. Other XML is left as it is.
//!
//! Line ends are kept, so that messages name the lines of the file as long as each puzzle has a line
//! of its own; several on one line count as several lines.

use std::io::{self, Read};

use super::kind::below_comments;

/// The bytes read at a time.
const BUFFER_BYTES: usize = 64 * 1024;

/// The longest tag. That of a 9x9 game with all notes has some 2 KiB.
const MAX_TAG_BYTES: usize = 1 << 20;

/// The bytes within which a file names its root element.
const HEAD_BYTES: usize = 4096;

/// What stands for a game without a puzzle, so that it has an answer: an error.
const NO_PUZZLE: &[u8] = b"!";

/// The puzzles of a stream of XML, a line each.
pub(super) struct OpenSudoku<R> {
    xml: R,
    /// XML that has not been looked at: a part of a tag, at most.
    pending: Vec<u8>,
    /// Puzzles that have not been handed out, from `at` on.
    lines: Vec<u8>,
    at: usize,
    /// Whether the current line has a puzzle.
    has_puzzle: bool,
    /// Whether it is XML of OpenSudoku, once that is known.
    is_games: Option<bool>,
    at_end: bool,
}

/// Whether a text begins like the XML of OpenSudoku.
fn is_opensudoku(beginning: &[u8]) -> bool {
    let text = below_comments(beginning).trim_ascii_start();
    text.starts_with(b"<") && memchr::memmem::find(text, b"<opensudoku").is_some()
}

impl<R: Read> OpenSudoku<R> {
    pub(super) const fn new(xml: R) -> Self {
        Self {
            xml,
            pending: Vec::new(),
            lines: Vec::new(),
            at: 0,
            has_puzzle: false,
            is_games: None,
            at_end: false,
        }
    }

    /// Reads on until there is a line to hand out, or the end.
    fn advance(&mut self) -> io::Result<()> {
        self.lines.clear();
        self.at = 0;
        while self.lines.is_empty() && !self.at_end {
            let old = self.pending.len();
            self.pending.resize(old + BUFFER_BYTES, 0);
            let result = self.xml.read(&mut self.pending[old..]);
            self.pending.truncate(old + result.as_ref().copied().unwrap_or(0));
            self.at_end = result? == 0;
            let is_games = match self.is_games {
                Some(is_games) => is_games,
                None if is_opensudoku(&self.pending) => {
                    self.skip_comments();
                    true
                }
                None if below_comments(&self.pending).len() < HEAD_BYTES && !self.at_end => continue,
                None => false,
            };
            self.is_games = Some(is_games);
            if is_games { self.convert() } else { self.lines = std::mem::take(&mut self.pending) }
        }
        Ok(())
    }

    /// Passes over the lines above the XML, which may show what looks like a game.
    fn skip_comments(&mut self) {
        let above = self.pending.len() - below_comments(&self.pending).len();
        for _ in memchr::memchr_iter(b'\n', &self.pending[..above]) {
            self.lines.push(b'\n');
        }
        self.pending.drain(..above);
    }

    /// Converts what is pending but an unfinished tag at its end.
    fn convert(&mut self) {
        let pending = std::mem::take(&mut self.pending);
        let mut rest = &pending[..];
        while let Some(next) = memchr::memchr2(b'\n', b'<', rest) {
            rest = &rest[next..];
            if rest[0] == b'\n' {
                self.end_line();
                rest = &rest[1..];
                continue;
            }
            let length = match tag_length(rest) {
                Some(length) => length.min(MAX_TAG_BYTES),
                None if self.at_end || rest.len() >= MAX_TAG_BYTES => rest.len().min(MAX_TAG_BYTES),
                None => {
                    self.pending = rest.to_vec();
                    return;
                }
            };
            let (tag, behind) = rest.split_at(length);
            self.tag(tag);
            rest = behind;
        }
    }

    fn end_line(&mut self) {
        self.lines.push(b'\n');
        self.has_puzzle = false;
    }

    fn tag(&mut self, tag: &[u8]) {
        let attributes = tag.strip_prefix(b"<game");
        if let Some(attributes) =
            attributes.filter(|rest| rest.first().is_none_or(|b| !b.is_ascii_alphanumeric()))
        {
            if self.has_puzzle {
                self.end_line();
            }
            match attribute(attributes, b"data") {
                Some(data) if !data.is_empty() => self.lines.extend(puzzle(data)),
                _ => self.lines.extend_from_slice(NO_PUZZLE),
            }
            self.has_puzzle = true;
        }
        for _ in memchr::memchr_iter(b'\n', tag) {
            self.end_line();
        }
    }
}

/// The length of the tag, or of the comment, with which `xml` begins; `None` if its end is not there.
///
/// No attribute has a `<`, so there a tag ends that has lost its `>` or a quote, and the next one is
/// read.
fn tag_length(xml: &[u8]) -> Option<usize> {
    if xml.starts_with(b"<!--") {
        return memchr::memmem::find(xml, b"-->");
    }
    let mut quote = None;
    for (at, &byte) in xml.iter().enumerate().skip(1) {
        match (byte, quote) {
            (b'<', _) | (b'>', None) => return Some(at),
            (b'"' | b'\'', None) => quote = Some(byte),
            (_, Some(open)) if open == byte => quote = None,
            _ => {}
        }
    }
    None
}

/// The value of an attribute.
fn attribute<'a>(mut tag: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    loop {
        let (before, behind) = tag.split_at(memchr::memchr(b'=', tag)?);
        let value = behind[1..].trim_ascii_start();
        let quote = *value.first().filter(|quote| matches!(quote, b'"' | b'\''))?;
        let end = memchr::memchr(quote, &value[1..])?;
        if before.trim_ascii_end().rsplit(u8::is_ascii_whitespace).next() == Some(name) {
            return Some(&value[1..=end]);
        }
        tag = &value[end + 2..];
    }
}

/// The cells of a game: as they are, or, of a game that is being played, its clues only.
///
/// Such a game is `version: 2`, a line end, and for each cell its value, its notes and whether it
/// can be changed, each with a `|` behind it. Later versions have notes of two kinds.
fn puzzle(data: &[u8]) -> Vec<u8> {
    if !data.starts_with(b"version") {
        return data.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
    }
    let begin = data.iter().position(|&byte| byte == b'\n' || byte == b'&').unwrap_or(0);
    let cells = data[begin..].strip_prefix(b"&#10;").unwrap_or(&data[begin..]).trim_ascii();
    let fields: Vec<&[u8]> = cells.strip_suffix(b"|").unwrap_or(cells).split(|&byte| byte == b'|').collect();
    // Every cell has three fields, or four.
    let width = (3..=4).find(|width| fields.len() == 81 * width);
    let Some(width) = width else { return NO_PUZZLE.to_vec() };
    let clue = |cell: &[&[u8]]| match (cell[0], cell[width - 1]) {
        ([value], b"0") => *value,
        _ => b'.',
    };
    fields.chunks(width).map(clue).collect()
}

impl<R: Read> Read for OpenSudoku<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.lines.len() {
            self.advance()?;
        }
        let length = buffer.len().min(self.lines.len() - self.at);
        buffer[..length].copy_from_slice(&self.lines[self.at..self.at + length]);
        self.at += length;
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use super::super::pieces::decoded;
    use super::*;

    fn lines(xml: &str) -> String {
        decoded(xml, OpenSudoku::new)
    }

    #[test]
    fn every_game_is_a_line() {
        let xml = "<?xml version='1.0'?>\n<opensudoku>\n<name>a < b</name>\n\
                   <game created=\"1\" data=\"12..\" note=\"x\" />\n  <game data='34..'></game>\n</opensudoku>\n";
        assert!(is_opensudoku(xml.as_bytes()));
        assert_eq!(lines(xml), "\n\n\n12..\n34..\n\n");
    }

    #[test]
    fn games_on_one_line_become_lines_and_none_is_dropped() {
        assert_eq!(lines("<opensudoku><game data=\"1\"/><game/><game\ndata=\"2\"/>"), "1\n!\n2\n");
        assert_eq!(lines("<opensudoku><gamer data=\"1\"/><game mydata=\"1\"/><game"), "!\n!");
    }

    #[test]
    fn a_damaged_tag_costs_its_game_only() {
        let good = "<game data=\"1.\" />";
        for (bad, cells) in [
            // Without an end.
            ("<game", "!"),
            ("<game data=\"2.", "!"),
            ("<game data=\"2. />", "!"),
            ("<game data=2. />", "!"),
            ("<game data=\"2.\"", "2."),
            ("<game data=\"2.\" /", "2."),
            ("<game note=\"it's data=\"2.\" />", "!"),
            // With brackets and other attributes in a value.
            ("<game note=\"a > b\" data=\"2.\" />", "2."),
            ("<game note='\"> data=\"3.\"' data=\"2.\" />", "2."),
            ("<game note=\" data='3.' \" data=\"2.\" />", "2."),
            ("<game note = \"x\"data = '2.'/>", "2."),
        ] {
            let xml = format!("<opensudoku>\n{good}\n{bad}\n{good}\n");
            assert_eq!(lines(&xml), format!("\n1.\n{cells}\n1.\n"), "{xml}");
            let xml = format!("<opensudoku>{good}{bad}{good}");
            assert_eq!(lines(&xml), format!("1.\n{cells}\n1."), "{xml}");
            // Cut off.
            let xml = format!("<opensudoku>\n{good}\n{bad}");
            assert_eq!(lines(&xml), format!("\n1.\n{cells}"), "{xml}");
        }
        let long = format!("<game note=\"{}\" data=\"1.\" />", "x".repeat(2 * MAX_TAG_BYTES));
        let (xml, mut read) = (format!("<opensudoku>{long}\n{good}"), String::new());
        OpenSudoku::new(xml.as_bytes()).read_to_string(&mut read).unwrap();
        assert_eq!(read, "!\n1.");
    }

    #[test]
    fn comments_are_passed_over() {
        let game = "<game data=\"1.\" />";
        assert_eq!(lines(&format!("<opensudoku><!-- it's > {game}\n{game} -->\n{game}")), "\n\n1.");
        assert_eq!(lines(&format!("\n # {game}\n <opensudoku>\n{game}\n")), "\n\n\n1.\n");
        let long = format!("# {game}\n").repeat(1000);
        assert_eq!(lines(&format!("\u{FEFF}{long}<opensudoku>{game}")), "\n".repeat(1000) + "1.");
    }

    #[test]
    fn of_a_game_that_is_played_the_clues_are_read() {
        let cells = |cell: &str, other: &str| cell.to_owned() + &other.repeat(80);
        let game = |version: &str, cells: String| {
            format!("<opensudoku><game data=\"version: {version}\n{cells}\"/>")
        };
        let wanted = format!("5{}\n", ".".repeat(80));
        assert_eq!(lines(&game("2", cells("5|-|0|", "3|1,2,|1|"))), wanted);
        assert_eq!(
            lines(&game("4&#10;", cells("5|0|0|0|", "0|0|12|1|")).replace("&#10;\n", "&#10;")),
            wanted.trim_end()
        );
        assert_eq!(lines(&game("9", "1|2".to_owned())), "!\n");
    }

    #[test]
    fn other_xml_is_left_as_it_is() {
        for xml in ["<?xml version='1.0'?>\n<game data='1'/>\n", "<", "", "<opensudok"] {
            assert_eq!(lines(xml), xml);
        }
        assert!(!is_opensudoku(b"<html>") && !is_opensudoku(b"opensudoku") && !is_opensudoku(b""));
    }
}
