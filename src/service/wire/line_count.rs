//! Lines of a text that arrives in a message.

/// How many lines a text has. The last one needs no line end.
pub(crate) fn count_lines(text: &[u8]) -> usize {
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

    #[test]
    fn the_last_line_needs_no_end() {
        let counts = ["", "\n", "a", "a\n", "a\nb", "\n\nb\n"].map(|text| count_lines(text.as_bytes()));
        assert_eq!(counts, [0, 1, 1, 1, 2, 3]);
    }
}
