//! Puzzles as Python has them: an array of digits, or a column of texts.

use std::ops::Range;

use numpy::{PyArrayDyn, PyArrayMethods as _, PyUntypedArrayMethods as _};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use sudoku_core::answer::{DigitReader, PuzzleReader, TextReader};
use sudoku_core::grid::{Grid, Order};
use sudoku_core::text::{Alphabet, Format, Hint, Notation, Problem, SAMPLE_BYTES, sniff};

use crate::arrow::{self, Chunk};
use crate::column::import_numpy;
use crate::error::format_error;

/// Puzzles of one size, in the memory that Python has them in, except that the texts of a list are
/// joined.
#[pyclass(frozen, module = "sudoku_stream._native")]
pub struct Puzzles {
    source: Source,
    /// The size of the puzzles, and the alphabet of those that are texts.
    pub format: Format,
    len: usize,
}

enum Source {
    /// One byte a cell, contiguous.
    Array(Py<PyArrayDyn<u8>>),
    List(JoinedTexts),
    Arrow(Vec<Chunk>),
}

/// The texts of a list.
#[derive(Default)]
pub struct JoinedTexts {
    /// All texts, a byte after each.
    text: Vec<u8>,
    /// The end of each, with that byte.
    ends: Vec<usize>,
    /// The places of those that are missing, ascending.
    missing: Vec<usize>,
}

impl JoinedTexts {
    /// The texts joined together by one call into Python for each piece of the list, which takes a
    /// fraction of the time that one call for each text takes.
    fn new(list: &Bound<'_, PyList>) -> PyResult<Self> {
        const PIECE: usize = 4096;
        let newline = PyString::new(list.py(), "\n");
        let mut joined = Self::default();
        joined.ends.reserve(list.len());
        for begin in (0..list.len()).step_by(PIECE) {
            let piece = list.get_slice(begin, list.len().min(begin + PIECE));
            // Not everything that is a string can be encoded.
            if let Ok(text) = newline.call_method1("join", (&piece,))
                && let Ok(text) = text.cast::<PyString>()?.to_cow()
                && joined.add_lines(text.as_bytes(), piece.len())
            {
                continue;
            }
            for (place, item) in piece.iter().enumerate() {
                joined.add(&item, begin + place)?;
            }
        }
        Ok(joined)
    }

    /// Adds `count` texts between newlines. False if there are more newlines than that, because a
    /// text has one itself.
    fn add_lines(&mut self, text: &[u8], count: usize) -> bool {
        let (old, begin) = (self.ends.len(), self.text.len());
        self.ends.extend(memchr::memchr_iter(b'\n', text).map(|at| begin + at + 1));
        if self.ends.len() != old + count - 1 {
            self.ends.truncate(old);
            return false;
        }
        self.ends.push(begin + text.len() + 1);
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        true
    }

    fn add(&mut self, item: &Bound<'_, PyAny>, place: usize) -> PyResult<()> {
        if let Ok(text) = item.cast::<PyString>() {
            self.text.extend_from_slice(text.to_string_lossy().as_bytes());
        } else if let Ok(bytes) = item.cast::<PyBytes>() {
            self.text.extend_from_slice(bytes.as_bytes());
        } else if is_missing(item)? {
            self.missing.push(place);
        } else {
            let kind = item.get_type().name()?;
            let mut message = format!("Item {place} is of type {kind}, not a text.");
            if kind.to_string_lossy() == "int" {
                // An integer has lost the zeros at its front.
                message +=
                    " Read the file with its cells as text, such as by pandas.read_csv(FILE, dtype=str).";
            }
            return Err(PyTypeError::new_err(message));
        }
        self.text.push(b'\n');
        self.ends.push(self.text.len());
        Ok(())
    }

    #[inline(always)]
    fn get(&self, place: usize) -> Option<&[u8]> {
        let begin = place.checked_sub(1).map_or(0, |before| self.ends[before]);
        let is_missing = !self.missing.is_empty() && self.missing.binary_search(&place).is_ok();
        (!is_missing).then(|| &self.text[begin..self.ends[place] - 1])
    }
}

/// Whether an item of a list stands for a missing text: `None`, or what pandas marks one by, which
/// is a number or a time that is not equal to itself, or `pandas.NA`.
fn is_missing(item: &Bound<'_, PyAny>) -> PyResult<bool> {
    Ok(item.is_none() || item.ne(item).unwrap_or(false) || item.get_type().name()? == "NAType")
}

#[pymethods]
impl Puzzles {
    /// The puzzles of an array of shape `(N, cells)` or `(N, side, side)`, C-contiguous.
    #[staticmethod]
    fn from_array(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        import_numpy(array.py())?;
        let array = array.cast::<PyArrayDyn<u8>>()?;
        let shape = array.shape();
        let cells = match *shape {
            [_, cells] => Some(cells),
            [_, rows, columns] if rows == columns => rows.checked_mul(columns),
            _ => None,
        };
        let Some(order) = cells.and_then(Order::from_cells) else {
            let shape = shape.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            return Err(PyValueError::new_err(format!(
                "The array has the shape ({shape}): puzzles have the shape (N, 81) or (N, 9, 9), or that of another size."
            )));
        };
        let len = shape[0];
        let format = plain(array.py(), order, Alphabet::Letters)?;
        Ok(Self { source: Source::Array(array.clone().unbind()), format, len })
    }

    /// The puzzles of a list of texts, `None` for one that is missing.
    #[staticmethod]
    fn from_list(list: &Bound<'_, PyList>, size: Option<i64>, alphabet: Option<&str>) -> PyResult<Self> {
        let texts = JoinedTexts::new(list)?;
        let len = texts.ends.len();
        let format = detect(list.py(), (0..len).map(|place| texts.get(place)), size, alphabet)?;
        Ok(Self { source: Source::List(texts), format, len })
    }

    /// The puzzles of a column of texts that has `__arrow_c_stream__` or `__arrow_c_array__`.
    #[staticmethod]
    fn from_arrow(column: &Bound<'_, PyAny>, size: Option<i64>, alphabet: Option<&str>) -> PyResult<Self> {
        let chunks = arrow::import(column)?;
        let len = chunks.iter().map(Chunk::len).sum();
        let all = chunks.iter().flat_map(|chunk| (0..chunk.len()).map(|at| chunk.get(at)));
        let format = detect(column.py(), all, size, alphabet)?;
        Ok(Self { source: Source::Arrow(chunks), format, len })
    }

    fn __len__(&self) -> usize {
        self.len
    }

    /// The side of the puzzles.
    #[getter]
    fn side(&self) -> usize {
        self.format.order().side()
    }
}

fn plain(py: Python<'_>, order: Order, alphabet: Alphabet) -> PyResult<Format> {
    Format::new(Notation::Lines, order, alphabet).map_err(|error| format_error(py, &error))
}

/// The size with this side.
pub fn order_of(side: i64) -> PyResult<Order> {
    let order = Order::ALL.into_iter().find(|order| usize::try_from(side) == Ok(order.side()));
    order.ok_or_else(|| {
        PyValueError::new_err(format!("There is no size {side}: puzzles have the size 1, 4, 9, 16 or 25."))
    })
}

/// What a caller says of texts.
pub fn hint(size: Option<i64>, alphabet: Option<&str>) -> PyResult<Hint> {
    let alphabet = alphabet.map(str::parse::<Alphabet>).transpose();
    let alphabet = alphabet.map_err(|error| PyValueError::new_err(error.to_string()))?;
    Ok(Hint { alphabet, order: size.map(order_of).transpose()?, ..Hint::default() })
}

/// The format of texts, of which what is not given is detected from the first of them.
fn detect<'a>(
    py: Python<'_>,
    texts: impl Iterator<Item = Option<&'a [u8]>>,
    size: Option<i64>,
    alphabet: Option<&str>,
) -> PyResult<Format> {
    let hint = Hint { notation: Some(Notation::Lines), ..hint(size, alphabet)? };
    if let (Some(order), Some(alphabet)) = (hint.order, &hint.alphabet) {
        return plain(py, order, alphabet.clone());
    }
    let mut sample = Vec::new();
    for text in texts.flatten().filter(|text| !text.contains(&b'\n')) {
        if sample.len() + text.len() > SAMPLE_BYTES {
            break;
        }
        sample.extend_from_slice(text);
        sample.push(b'\n');
    }
    match sniff(&sample, &hint, false).map_err(|error| format_error(py, &error))? {
        Some(found) => Ok(found.format),
        None => plain(py, hint.order.unwrap_or(Order::NINE), hint.alphabet.unwrap_or(Alphabet::Letters)),
    }
}

impl Puzzles {
    /// The number of puzzles.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Calls `job` with the puzzles as threads may read them while the GIL is released.
    pub fn with_rows<R>(&self, py: Python<'_>, job: impl FnOnce(Rows<'_>) -> PyResult<R>) -> PyResult<R> {
        match &self.source {
            Source::Array(array) => {
                let array = array.bind(py).try_readonly()?;
                let digits = array.as_slice()?;
                job(Rows::Digits(digits, self.format.order()))
            }
            Source::List(texts) => job(Rows::List(texts, &self.format)),
            Source::Arrow(chunks) => job(Rows::Arrow(chunks, &self.format)),
        }
    }
}

/// Puzzles that threads may read.
#[derive(Clone, Copy)]
pub enum Rows<'a> {
    Digits(&'a [u8], Order),
    List(&'a JoinedTexts, &'a Format),
    Arrow(&'a [Chunk], &'a Format),
}

impl<'a> Rows<'a> {
    /// A reader of those at these places.
    pub fn reader(self, places: Range<usize>) -> Reader<'a> {
        match self {
            Self::Digits(digits, order) => {
                let cells = order.cells();
                Reader::Digits(DigitReader::new(order, &digits[places.start * cells..places.end * cells]))
            }
            Self::List(texts, format) => Reader::List(TextReader::new(format, ListTexts { texts, places })),
            Self::Arrow(chunks, format) => {
                let (mut chunks, mut at) = (chunks, places.start);
                while let [first, rest @ ..] = chunks
                    && at >= first.len()
                {
                    at -= first.len();
                    chunks = rest;
                }
                Reader::Arrow(TextReader::new(format, ArrowTexts { chunks, at, left: places.len() }))
            }
        }
    }
}

/// A reader of a block of puzzles.
pub enum Reader<'a> {
    Digits(DigitReader<'a>),
    List(TextReader<'a, ListTexts<'a>>),
    Arrow(TextReader<'a, ArrowTexts<'a>>),
}

impl PuzzleReader for Reader<'_> {
    fn order(&self) -> Order {
        match self {
            Self::Digits(reader) => reader.order(),
            Self::List(reader) => reader.order(),
            Self::Arrow(reader) => reader.order(),
        }
    }

    #[inline(always)]
    fn read_plain(&mut self, cells: &mut [u8]) -> usize {
        match self {
            Self::Digits(reader) => reader.read_plain(cells),
            Self::List(reader) => reader.read_plain(cells),
            Self::Arrow(reader) => reader.read_plain(cells),
        }
    }

    fn read(&mut self, puzzle: &mut Grid) -> Option<Result<(), Problem>> {
        match self {
            Self::Digits(reader) => reader.read(puzzle),
            Self::List(reader) => reader.read(puzzle),
            Self::Arrow(reader) => reader.read(puzzle),
        }
    }
}

/// The texts at some places of a list.
pub struct ListTexts<'a> {
    texts: &'a JoinedTexts,
    places: Range<usize>,
}

impl<'a> Iterator for ListTexts<'a> {
    type Item = Option<&'a [u8]>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.places.next().map(|place| self.texts.get(place))
    }
}

/// Some texts of a column.
pub struct ArrowTexts<'a> {
    chunks: &'a [Chunk],
    /// The place of the next text in the first chunk.
    at: usize,
    left: usize,
}

impl<'a> Iterator for ArrowTexts<'a> {
    type Item = Option<&'a [u8]>;

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        self.left = self.left.checked_sub(1)?;
        while self.at == self.chunks.first()?.len() {
            (self.chunks, self.at) = (&self.chunks[1..], 0);
        }
        self.at += 1;
        Some(self.chunks.first()?.get(self.at - 1))
    }
}
