//! The beginning of a text that arrives in a message.

use crate::text::{BYTE_ORDER_MARK, Format, FormatError, Hint, SAMPLE_BYTES, detect, skip_blank_lines};

/// Where the puzzles of a text begin and how they are written.
#[derive(Debug)]
pub(super) struct Opened {
    /// How they are written.
    pub(super) format: Format,
    /// The bytes that stand before them.
    pub(super) skipped: usize,
    /// The lines that these take up.
    pub(super) lines: u64,
}

/// Finds out how a text is written from what is at hand of it. `None` if there is no puzzle in it.
/// `at_start` says that nothing came before, so that a byte-order mark may.
///
/// # Errors
/// A bad header, an alphabet that does not fit, or a text that fits two readings.
pub(super) fn open(text: &[u8], hint: &Hint, at_start: bool) -> Result<Option<Opened>, FormatError> {
    let mark = if at_start && text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let (blank, blank_lines) = skip_blank_lines(&text[mark..], true);
    let skipped = mark + blank;
    let rest = &text[skipped..];
    if rest.is_empty() {
        return Ok(None);
    }
    let sample = &rest[..rest.len().min(SAMPLE_BYTES)];
    let opening = detect(sample, hint)?;
    Ok(Some(Opened {
        format: opening.format,
        skipped: skipped + opening.body,
        lines: blank_lines + opening.lines,
    }))
}

/// How many lines a text has. The last one needs no line end.
pub(super) fn count_lines(text: &[u8]) -> usize {
    match memchr::memchr(b'\n', text) {
        // Messages of one line are many, and finding an end is cheaper than counting ends.
        Some(end) if end + 1 == text.len() => 1,
        Some(_) => {
            let unended = text.last().is_some_and(|&byte| byte != b'\n');
            memchr::memchr_iter(b'\n', text).count() + usize::from(unended)
        }
        None => usize::from(!text.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Notation;

    #[test]
    fn the_last_line_needs_no_end() {
        let counts = ["", "\n", "a", "a\n", "a\nb", "\n\nb\n"].map(|text| count_lines(text.as_bytes()));
        assert_eq!(counts, [0, 1, 1, 1, 2, 3]);
    }

    #[test]
    fn marks_blank_lines_and_headers_are_passed_over() {
        let hint = Hint::default();
        let text = b"\xEF\xBB\xBF# note\n\n2\n1234341221434321\n";
        let opened = open(text, &hint, true).unwrap().unwrap();
        assert_eq!(opened.format.notation(), Notation::Header);
        assert_eq!((opened.skipped, opened.lines), (3 + 7 + 1 + 2, 3));
        assert!(open(b"\n# only\n", &hint, false).unwrap().is_none());
        let lone = open(b"3\n", &hint, true).unwrap().unwrap();
        assert_eq!((lone.format.notation(), lone.skipped), (Notation::Header, 2));
        assert_eq!(open(b"4\nabc\n", &hint, true).unwrap_err().to_string(), "Invalid block size.");
    }
}
