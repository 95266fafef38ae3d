//! The sample: the first bytes of an input, by which its format is detected.

use std::mem;

use super::chunk::ChunkBuffers;
use super::kind::{Named, TAR};
use super::reader::PassedLines;
use super::source::{Backing, Decoding};
use super::{CHUNK_BYTES, InputError, MAX_PASSED_BYTES, Reader, Source};
use crate::grid::{Grid, Order};
use crate::text::{
    Alphabet, BYTE_ORDER_MARK, Hint, Misfit, Notation, Records, Rest, SAMPLE_BYTES, detect, skip_lines_above,
};
#[cfg(feature = "parquet")]
use crate::text::{Column, Delimiter};

/// The most bytes that are read at first: an argument or a short pipe is no longer.
const FIRST_READ_BYTES: usize = 4096;

/// The lines within which the first puzzle of a live input must end for it to be answered before
/// the sample is full.
const MAX_OPENING_LINES: usize = 100;

/// What a tar archive has behind the name, owner and times of its first file.
const TAR_MARK: &[u8] = b"ustar";
const TAR_MARK_AT: usize = 257;

/// The first bytes of an input.
#[derive(Default)]
struct TextSample {
    /// What of them is left behind what is passed over.
    bytes: Vec<u8>,
    /// The bytes that were read.
    taken: u64,
    /// The number of the first line that is left.
    line: u64,
    at_end: bool,
    /// The offset of the first zero byte: no text has one.
    zero: Option<u64>,
    /// The bytes up to the end of the first puzzle, where that decides the format.
    opening_bytes: Option<usize>,
}

impl Source {
    /// The error of an input with a zero byte among its first bytes.
    fn not_text(&self, offset: u64, is_tar: bool) -> InputError {
        if !is_tar {
            return InputError::NotText { name: self.name.clone(), offset };
        }
        let (is_unpacked, is_file) = match &self.backing {
            Backing::Map { .. } => (false, true),
            Backing::Stream { decoding, file, .. } => {
                (*decoding == Some(Decoding::Compressed), file.is_some())
            }
        };
        TAR.error(&Named { name: &self.name, is_file }, is_unpacked)
    }

    /// Detects the format of the input and makes a reader of it.
    ///
    /// # Errors
    /// Errors of reading, [`InputError::Empty`] if there is nothing but blank lines and comments,
    /// [`InputError::NotText`] if there is a zero byte, [`InputError::NoPuzzle`] if none of the first
    /// lines is a puzzle, and [`InputError::Format`] if no format fits.
    pub fn read(self, hint: &Hint) -> Result<Reader, InputError> {
        self.detect(hint, true)
    }

    /// [`Self::read`] for a text that is taken for puzzles whatever it has, so that each bad one is
    /// told what is wrong with it.
    ///
    /// # Errors
    /// Those of [`Self::read`], but [`InputError::NoPuzzle`] only for rows of a size that none has.
    pub fn read_as_puzzles(self, hint: &Hint) -> Result<Reader, InputError> {
        self.detect(hint, false)
    }

    /// What is known about the text besides what the user has said.
    fn known(&self, hint: &Hint) -> Hint {
        let mut hint = hint.clone();
        if let Some(order) = self.npy_order {
            hint.notation.get_or_insert(Notation::Lines);
            hint.order.get_or_insert(order);
            hint.alphabet.get_or_insert(Alphabet::Letters);
        }
        #[cfg(feature = "parquet")]
        if self.parquet().is_some() {
            // A table whatever was said, and its delimiter is enough to know it by: a notation is the
            // user's word that there are puzzles.
            hint.notation = hint.notation.filter(|&notation| notation == Notation::Csv);
            hint.delimiter = Some(Delimiter::COMMA);
            hint.has_heading = Some(true);
        }
        hint
    }

    /// Fills the sample as far as the input goes, or by one piece of a pipe if the text behind it may
    /// be waiting for an answer.
    fn fill_sample(&mut self, sample: &mut TextSample, is_eager: bool) -> Result<(), InputError> {
        while sample.bytes.len() < SAMPLE_BYTES && !sample.at_end {
            // As much again, because a stream's buffer is zeroed before it is read into.
            let capacity = (SAMPLE_BYTES - sample.bytes.len()).min(sample.bytes.len().max(FIRST_READ_BYTES));
            match self.fill(&mut sample.bytes, capacity, sample.taken) {
                Ok(length) => {
                    let news = &sample.bytes[sample.bytes.len() - length..];
                    let zero = memchr::memchr(0, news).map(|at| sample.taken + at as u64);
                    sample.zero = sample.zero.or(zero);
                    sample.taken += length as u64;
                    sample.at_end = length == 0;
                }
                // What turns out to be several files is refused as a whole, if it does so soon.
                Err(failure) if sample.bytes.is_empty() || matches!(failure, InputError::Foreign { .. }) => {
                    return Err(failure);
                }
                Err(failure) => {
                    self.deferred = Some(failure);
                    sample.at_end = true;
                }
            }
            if is_eager && !BYTE_ORDER_MARK.starts_with(&sample.bytes) {
                break;
            }
        }
        Ok(())
    }

    /// Takes the sample, behind comments and blank lines.
    fn take_sample(&mut self, hint: &Hint, is_eager: bool) -> Result<TextSample, InputError> {
        let mut sample =
            TextSample { bytes: Vec::with_capacity(SAMPLE_BYTES), line: 1, ..TextSample::default() };
        // The bytes skipped of a line that has not ended.
        let mut passed = 0u64;
        // Only the very first bytes can be a byte-order mark.
        let mut is_begin = true;
        loop {
            self.fill_sample(&mut sample, is_eager)?;
            let bytes = &mut sample.bytes;
            if let Some(offset) = sample.zero {
                let is_tar = is_begin && bytes[TAR_MARK_AT.min(bytes.len())..].starts_with(TAR_MARK);
                return Err(self.not_text(offset, is_tar));
            }
            let has_mark = mem::take(&mut is_begin) && bytes.starts_with(BYTE_ORDER_MARK);
            let mark = if has_mark { BYTE_ORDER_MARK.len() } else { 0 };
            let (skipped, lines) = skip_lines_above(&bytes[mark..], sample.at_end);
            sample.line += lines;
            passed = if lines > 0 { 0 } else { passed };
            bytes.drain(..mark + skipped);
            sample.opening_bytes = if is_eager { first_puzzle_end(bytes, hint) } else { None };
            if sample.opening_bytes.is_some() || (bytes.len() < SAMPLE_BYTES && sample.at_end) {
                return Ok(sample);
            }
            if bytes.len() < SAMPLE_BYTES {
                continue;
            }
            if bytes.contains(&b'\n') || skip_lines_above(bytes, true).0 == 0 {
                return Ok(sample);
            }
            // A line that is no puzzle fills the whole sample. The rest of it is skipped as a
            // comment.
            passed += bytes.len() as u64;
            if passed > MAX_PASSED_BYTES {
                return Err(InputError::Endless { name: self.name.clone(), line: sample.line });
            }
            bytes.clear();
            bytes.push(b'#');
        }
    }

    fn detect(mut self, hint: &Hint, refuses_misfits: bool) -> Result<Reader, InputError> {
        let hint = &self.known(hint);
        #[cfg(feature = "parquet")]
        if let (Some(file), Some(Column::Name(column))) = (self.parquet(), &hint.column)
            && let Some(what) = file.refusal(column)
        {
            return Err(InputError::Foreign { name: self.name, what });
        }
        // The sample is filled whatever size a pipe's pieces have, because the same bytes must
        // always be detected as the same format. Where the first puzzle decides it, whoever wrote
        // that may be waiting for the answer.
        let is_eager = self.is_typed() || (self.is_live() && is_given(hint));
        let TextSample { bytes: mut sample, taken, mut line, at_end, opening_bytes, .. } =
            self.take_sample(hint, is_eager)?;
        let whole = sample.len() < SAMPLE_BYTES && opening_bytes.is_none();
        if sample.is_empty() {
            return Err(self.deferred.unwrap_or(InputError::Empty { name: self.name }));
        }
        let seen = &sample[..opening_bytes.unwrap_or(sample.len())];
        let opening = detect(seen, hint).map_err(|error| error.below(line - 1))?;
        // A bad first line gets its answer where that is waited for.
        let is_refused = |misfit: &Misfit| refuses_misfits || misfit.is_of_other_size();
        if let Some(misfit) = opening.misfit.filter(is_refused).filter(|_| opening_bytes.is_none()) {
            // A damaged text may have broken off before its first puzzle.
            if let Some(failure) = self.deferred {
                return Err(failure);
            }
            return Err(InputError::NoPuzzle { name: self.name, misfit: misfit.after(line - 1) });
        }
        let prelude = sample.drain(..opening.body).collect();
        line += opening.lines;
        if whole && Notation::Lines.count_puzzles(&sample) == 0 {
            return Err(self.deferred.unwrap_or(InputError::Empty { name: self.name }));
        }
        let has_ended = at_end && self.deferred.is_none() && self.len_bytes().is_none();
        Ok(Reader {
            source: self,
            format: opening.format,
            prelude,
            pending: sample,
            converted: None,
            rest_of_drained: if is_eager { Rest::Awaited } else { Rest::More },
            passed_lines: PassedLines::default(),
            taken,
            line,
            has_ended,
            is_at_start: true,
            first_byte: 0,
            passed: None,
            chunk_bytes: CHUNK_BYTES,
            keeps_lines: false,
            last_line: u64::MAX,
            buffers: ChunkBuffers::default(),
        })
    }
}

/// Whether the first puzzle decides what the hint leaves open. Up to 9x9 that is enough for the
/// alphabet too.
fn is_given(hint: &Hint) -> bool {
    let is_small = hint.order.is_none_or(|order| order <= Order::NINE);
    let has_order = hint.order.is_some() || hint.notation == Some(Notation::Header);
    hint.notation.is_some() && has_order && (is_small || hint.alphabet.is_some())
}

/// The end of the first puzzle, if it is there and decides the format: as far as that is not given,
/// it has to be one that can be read.
fn first_puzzle_end(text: &[u8], hint: &Hint) -> Option<usize> {
    let decides = |text: &[u8]| {
        let Ok(opening) = detect(text, hint) else { return false };
        let (format, body) = (&opening.format, &text[opening.body..]);
        let mut puzzle = Grid::empty(format.order());
        // A single character is a puzzle of 1x1, or the beginning of something else.
        let is_large = format.order() > Order::ALL[0];
        let is_likely = opening.misfit.is_none() && is_large;
        // Rulers and titles are whole without a puzzle.
        let whole = format
            .convert(body, Rest::Awaited)
            .map_or_else(|| body[..format.cut(body, false)].to_vec(), |converted| converted.text);
        Records::new(format, &whole, 1)
            .read(&mut puzzle)
            .is_some_and(|record| is_given(hint) || (record.error.is_none() && is_likely))
    };
    memchr::memchr_iter(b'\n', text)
        .take(MAX_OPENING_LINES)
        .map(|end| end + 1)
        .find(|&end| decides(&text[..end]))
}
