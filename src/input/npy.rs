//! NumPy arrays of digits (`.npy`), read as one puzzle a line and written.
//!
//! A file is the magic bytes, a version, the length of the header, the header, and the cells. The
//! header is a literal of Python's, a dictionary with the keys `descr`, `fortran_order` and `shape`;
//! see `numpy.lib.format` in the documentation of NumPy. Everything in it is checked, because a
//! shape is a promise about how much follows.

use std::io::{self, Read};

use super::BUFFER_BYTES;
use super::error::LateRefusal;
use crate::counted::counted;
use crate::grid::Order;
use crate::text::unwritable_value;

/// The first bytes of a file.
pub(super) const MAGIC: &[u8] = b"\x93NUMPY";

/// The longest header that is read. NumPy's own have 118 bytes.
const MAX_HEADER_BYTES: u32 = 64 * 1024;

/// The shape of an array of puzzles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ArrayShape {
    puzzles: u64,
    order: Order,
}

impl ArrayShape {
    pub(super) const fn order(self) -> Order {
        self.order
    }
}

/// Reads the beginning of a file, up to its cells.
///
/// # Errors
/// Those of reading, and a [`LateRefusal`].
pub(super) fn read_header(stream: &mut impl Read) -> io::Result<ArrayShape> {
    let broken = |error: io::Error| match error.kind() {
        io::ErrorKind::UnexpectedEof => LateRefusal::error("is a NumPy array whose header is cut short."),
        _ => error,
    };
    let mut begin = [0; 8];
    stream.read_exact(&mut begin).map_err(broken)?;
    let length = match begin[6] {
        1 => {
            let mut length = [0; 2];
            stream.read_exact(&mut length).map_err(broken)?;
            u16::from_le_bytes(length).into()
        }
        2 | 3 => {
            let mut length = [0; 4];
            stream.read_exact(&mut length).map_err(broken)?;
            u32::from_le_bytes(length)
        }
        version => {
            return Err(LateRefusal::error(format!(
                "is a NumPy array in version {version} of its format: versions 1 to 3 can be read."
            )));
        }
    };
    if length > MAX_HEADER_BYTES {
        return Err(LateRefusal::error(format!(
            "is a NumPy array with a header of {length} bytes: at most {MAX_HEADER_BYTES} are read."
        )));
    }
    let mut header = Vec::new();
    stream.take(length.into()).read_to_end(&mut header)?;
    if header.len() as u64 != u64::from(length) {
        return Err(broken(io::ErrorKind::UnexpectedEof.into()));
    }
    shape(&header).map_err(LateRefusal::error)
}

/// What is wrong with a header that is none.
fn damaged() -> String {
    "is a NumPy array with a damaged header.".to_owned()
}

/// What a header says of an array: its type, whether it goes by columns, and its dimensions.
fn fields(header: &str) -> Result<(&str, bool, Vec<u64>), String> {
    let bad = damaged;
    let (mut descr, mut is_fortran, mut shape) = (None, None, None);
    let mut rest = Literal(header.trim()).expect("{").ok_or_else(bad)?;
    while rest.clone().expect("}").is_none() {
        let (key, behind) = rest.string().ok_or_else(bad)?;
        let behind = behind.expect(":").ok_or_else(bad)?;
        rest = match key {
            "descr" if descr.is_none() => {
                let Some((text, behind)) = behind.string() else {
                    // A list describes the fields of records.
                    return Err("is a NumPy array of records: save an array of uint8.".to_owned());
                };
                descr = Some(text);
                behind
            }
            "fortran_order" if is_fortran.is_none() => {
                let (flag, behind) = behind.flag().ok_or_else(bad)?;
                is_fortran = Some(flag);
                behind
            }
            "shape" if shape.is_none() => {
                let (dimensions, behind) = behind.shape().ok_or_else(bad)?;
                shape = Some(dimensions);
                behind
            }
            _ => return Err(bad()),
        };
        rest = match rest.clone().expect(",") {
            Some(behind) => behind,
            None if rest.clone().expect("}").is_some() => rest,
            None => return Err(bad()),
        };
    }
    let end = rest.expect("}").is_some_and(|rest| rest.0.trim().is_empty());
    match (descr, is_fortran, shape) {
        (Some(descr), Some(is_fortran), Some(dimensions)) if end => Ok((descr, is_fortran, dimensions)),
        _ => Err(bad()),
    }
}

/// The shape that a header promises, or what is wrong with it.
fn shape(header: &[u8]) -> Result<ArrayShape, String> {
    let header = std::str::from_utf8(header).map_err(|_| damaged())?;
    let (descr, is_fortran, dimensions) = fields(header)?;
    if descr.trim_start_matches(['<', '>', '=', '|']).starts_with(['U', 'S']) {
        return Err(format!(
            "is a NumPy array of texts, of the type {descr}: save them as lines, such as by \
             numpy.savetxt('puzzles.txt', numpy.load('FILE').astype(str), '%s')."
        ));
    }
    if !["|u1", "<u1", ">u1", "=u1", "u1"].contains(&descr) {
        return Err(format!(
            "is a NumPy array of the type {descr}: puzzles have the type uint8, such as by \
             numpy.save('digits.npy', numpy.load('FILE').astype(numpy.uint8))."
        ));
    }
    let cells = match dimensions[..] {
        [_, cells] => Some(cells),
        [_, rows, columns] if rows == columns => rows.checked_mul(columns),
        _ => None,
    };
    let order = cells.and_then(|cells| Order::from_cells(usize::try_from(cells).ok()?));
    let Some(order) = order else {
        let shape: Vec<_> = dimensions.iter().map(ToString::to_string).collect();
        return Err(format!(
            "is a NumPy array of the shape ({}): puzzles have the shape (N, 81) or (N, 9, 9), or that of \
             another size.",
            shape.join(", ")
        ));
    };
    if is_fortran {
        return Err("is a NumPy array in Fortran order: save it row by row, such as by \
                    numpy.save('digits.npy', numpy.ascontiguousarray(numpy.load('FILE')))."
            .to_owned());
    }
    let puzzles = dimensions[0];
    if puzzles.checked_mul(order.cells() as u64).is_none() {
        return Err(damaged());
    }
    Ok(ArrayShape { puzzles, order })
}

/// The rest of a literal.
#[derive(Clone)]
struct Literal<'a>(&'a str);

impl<'a> Literal<'a> {
    /// The rest behind `token`.
    fn expect(self, token: &str) -> Option<Self> {
        self.0.trim_ascii_start().strip_prefix(token).map(Self)
    }

    /// A string without escapes, and the rest behind it.
    fn string(self) -> Option<(&'a str, Self)> {
        let text = self.0.trim_ascii_start();
        let quote = text.chars().next().filter(|quote| matches!(quote, '\'' | '"'))?;
        let (string, rest) = text[1..].split_once(quote)?;
        (!string.contains('\\')).then_some((string, Self(rest)))
    }

    fn flag(self) -> Option<(bool, Self)> {
        let flag = |word, value| self.clone().expect(word).map(|rest| (value, rest));
        flag("True", true).or_else(|| flag("False", false))
    }

    /// A tuple of at most eight numbers.
    fn shape(self) -> Option<(Vec<u64>, Self)> {
        const MOST: usize = 8;
        let (inside, rest) = self.expect("(")?.0.split_once(')')?;
        let mut dimensions = Vec::new();
        let mut parts = inside.split(',').map(str::trim).peekable();
        while let Some(part) = parts.next() {
            if part.is_empty() && parts.peek().is_none() {
                break;
            }
            let is_number = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            dimensions.push(part.parse().ok().filter(|_| is_number && dimensions.len() < MOST)?);
        }
        Some((dimensions, Self(rest)))
    }
}

/// The beginning of a file with this many puzzles: the same length, whatever the number.
#[must_use]
pub fn npy_header(puzzles: u64, order: Order) -> Vec<u8> {
    /// What NumPy pads headers to a multiple of.
    const ALIGNMENT: usize = 64;
    let shape = format!("({puzzles}, {})", order.cells());
    let text = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}");
    let (fixed, length) = (MAGIC.len() + 4, 2 * ALIGNMENT);
    let mut header = MAGIC.to_vec();
    header.extend_from_slice(&[1, 0]);
    header.extend_from_slice(&u16::try_from(length - fixed).unwrap_or(u16::MAX).to_le_bytes());
    header.extend_from_slice(format!("{text:<0$}\n", length - fixed - 1).as_bytes());
    header
}

/// The puzzles of an array, a line each.
pub(super) struct NpyText<R> {
    cells: R,
    shape: ArrayShape,
    /// The puzzles that have not been read.
    left: u64,
    /// The cells of some puzzles.
    digits: Vec<u8>,
    /// Their lines, handed out up to `at`.
    lines: Vec<u8>,
    at: usize,
    /// What ended the reading, to be returned once the lines before it are handed out.
    failure: Option<io::Error>,
}

impl<R: Read> NpyText<R> {
    /// The text of the cells behind a header.
    pub(super) const fn new(cells: R, shape: ArrayShape) -> Self {
        let left = shape.puzzles;
        Self { cells, shape, left, digits: Vec::new(), lines: Vec::new(), at: 0, failure: None }
    }

    /// Reads on until there are lines to hand out, a failure, or the end.
    fn advance(&mut self) {
        self.lines.clear();
        self.at = 0;
        let cells = self.shape.order.cells();
        let puzzles = self.left.min((BUFFER_BYTES / cells) as u64);
        self.digits.resize(usize::try_from(puzzles).unwrap_or(0) * cells, 0);
        let mut length = 0;
        while length < self.digits.len() && self.failure.is_none() {
            match self.cells.read(&mut self.digits[length..]) {
                Ok(0) => {
                    let all = self.shape.puzzles;
                    let read = all - self.left + (length / cells) as u64;
                    let all = counted(all, "puzzle");
                    let what = format!("its shape promises {all}, and it ends after {read}");
                    self.failure = Some(io::Error::new(io::ErrorKind::UnexpectedEof, what));
                }
                Ok(more) => length += more,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => self.failure = Some(error),
            }
        }
        let whole = length / cells;
        for digits in self.digits[..whole * cells].chunks_exact(cells) {
            write_line(digits, self.shape.order.side(), &mut self.lines);
        }
        self.left -= whole as u64;
    }
}

/// Appends the line of a puzzle.
fn write_line(digits: &[u8], side: usize, lines: &mut Vec<u8>) {
    write_cells(digits, side, lines);
    lines.push(b'\n');
}

/// Appends the cells of a puzzle. A value that none has gets a character that none has either.
pub(super) fn write_cells(digits: &[u8], side: usize, lines: &mut Vec<u8>) {
    let greatest = digits.iter().fold(0, |greatest, &digit| digit.max(greatest));
    if greatest <= 9 {
        // Nearly always, and vectorised. A 4x4 puzzle may have a 5, which reading it finds.
        lines.extend(digits.iter().map(|&digit| if digit == 0 { b'.' } else { b'0' + digit }));
    } else {
        for &digit in digits {
            match digit {
                0 => lines.push(b'.'),
                1..=9 => lines.push(b'0' + digit),
                _ if usize::from(digit) <= side => lines.push(b'A' - 10 + digit),
                _ => {
                    let character = unwritable_value(Some(digit.into()));
                    lines.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
                }
            }
        }
    }
}

impl<R: Read> Read for NpyText<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.lines.len() && self.failure.is_none() {
            if self.left == 0 {
                return self.end();
            }
            self.advance();
        }
        if self.at == self.lines.len()
            && let Some(failure) = self.failure.take()
        {
            return Err(failure);
        }
        let length = (&self.lines[self.at..]).read(buffer)?;
        self.at += length;
        Ok(length)
    }
}

impl<R: Read> NpyText<R> {
    /// The end of the text, which has to be that of the file.
    fn end(&mut self) -> io::Result<usize> {
        loop {
            match self.cells.read(&mut [0; 1]) {
                Ok(0) => return Ok(0),
                Ok(_) => {
                    let all = counted(self.shape.puzzles, "puzzle");
                    let what = format!("its shape promises {all}, and more follows");
                    return Err(io::Error::new(io::ErrorKind::InvalidData, what));
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Result<ArrayShape, String> {
        shape(text.as_bytes())
    }

    #[test]
    fn headers_promise_puzzles_or_are_refused() {
        let good =
            |text, puzzles, order| assert_eq!(header(text), Ok(ArrayShape { puzzles, order }), "{text}");
        good("{'descr': '|u1', 'fortran_order': False, 'shape': (5, 81), }  \n", 5, Order::NINE);
        good("{'shape':(7,9,9),\"descr\":\"|u1\",'fortran_order':False}", 7, Order::NINE);
        good("{'descr': '|u1', 'fortran_order': False, 'shape': (0, 16), }\n", 0, Order::ALL[1]);
        let bad = [
            ("", "damaged"),
            ("{", "damaged"),
            ("{}", "damaged"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (5, 81), } x", "damaged"),
            ("{'descr': '|u1' 'fortran_order': False, 'shape': (5, 81), }", "damaged"),
            ("{'descr': '|u1', 'fortran_order': 0, 'shape': (5, 81), }", "damaged"),
            ("{'descr': '|u1', 'descr': '|u1', 'fortran_order': False, 'shape': (5, 81), }", "damaged"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (-5, 81), }", "damaged"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (5,, 81), }", "damaged"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551616, 81), }", "damaged"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551615, 81), }", "damaged"),
            ("{'descr': '<i8', 'fortran_order': False, 'shape': (5, 81), }", "type <i8"),
            (
                "{'descr': '<U81', 'fortran_order': False, 'shape': (5,), }",
                "texts, of the type <U81: save them",
            ),
            ("{'descr': [('a', '|u1')], 'fortran_order': False, 'shape': (5, 81), }", "records"),
            ("{'descr': '|u1', 'fortran_order': True, 'shape': (5, 81), }", "Fortran"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (81,), }", "shape (81)"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (), }", "shape ()"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (5, 80), }", "shape (5, 80)"),
            ("{'descr': '|u1', 'fortran_order': False, 'shape': (5, 9, 3), }", "shape (5, 9, 3)"),
        ];
        for (text, words) in bad {
            let sentence = header(text).unwrap_err();
            assert!(sentence.contains(words), "{text}: {sentence}");
        }
    }

    #[test]
    fn what_is_written_is_read() {
        for order in Order::ALL {
            for puzzles in [0, 1, 99, 123_456_789_012] {
                let bytes = npy_header(puzzles, order);
                assert_eq!(bytes.len(), 128);
                assert_eq!(read_header(&mut &bytes[..]).unwrap(), ArrayShape { puzzles, order });
                for length in 0..bytes.len() {
                    assert!(read_header(&mut &bytes[..length]).is_err(), "{length}");
                }
            }
        }
    }

    #[test]
    fn values_that_no_puzzle_has_have_a_character_of_their_own() {
        let mut lines = Vec::new();
        write_line(&[0, 1, 9, 10, 255, 49], 9, &mut lines);
        let text = String::from_utf8(lines).unwrap();
        let wanted: String = [10, 255, 49].map(|value| unwritable_value(Some(value))).iter().collect();
        assert_eq!(text, format!(".19{wanted}\n"));
        let mut lines = Vec::new();
        write_line(&[0, 9, 10, 16, 25], 25, &mut lines);
        assert_eq!(lines, b".9AGP\n");
    }
}
