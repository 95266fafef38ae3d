//! Line counts of the texts of messages.

/// The number of lines of a text. The last line needs no line end.
pub(crate) fn count_lines(text: &[u8]) -> usize {
    match memchr::memchr(b'\n', text) {
        // A fast path, because messages of one line are frequent and finding one end is cheaper
        // than counting all.
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

    #[test]
    fn the_last_line_needs_no_end() {
        let counts = ["", "\n", "a", "a\n", "a\nb", "\n\nb\n"].map(|text| count_lines(text.as_bytes()));
        assert_eq!(counts, [0, 1, 1, 1, 2, 3]);
    }
}
