//! Puzzles that come one by one.

use std::ops::Range;

/// Puzzles that came one by one, each in a text of its own.
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// One behind the other, with a line end after each.
    text: Vec<u8>,
    /// Where each ends, its line end included.
    ends: Vec<usize>,
}

impl Entries {
    /// Adds a puzzle, whatever stands in its text.
    pub fn push(&mut self, text: &[u8]) {
        if self.text.capacity() == 0 {
            // From here on it doubles: powers of two come again, which an allocator likes better than multiples of a line.
            self.text.reserve((text.len() + 1).next_power_of_two());
        }
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.ends.push(self.text.len());
    }

    /// How many there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Are there none?
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// How long they are together, with a line end after each.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Where one begins.
    fn begin(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The text of one.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.text[self.begin(index)..self.ends[index] - 1]
    }

    /// Some of them as a new list.
    ///
    /// # Panics
    /// If there are not so many.
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        range.for_each(|index| part.push(self.get(index)));
        part
    }

    /// Those from `first` on, at most so many, that can be read as lines of 81 characters: a text has no line end in it unless
    /// the reader stops at it.
    pub(super) fn plain_9x9_lines(&self, first: usize, most: usize) -> &[u8] {
        const LINE: usize = 82;
        let begin = self.begin(first);
        let ends = self.ends[first..].iter().take(most);
        let count = ends.zip(1..).take_while(|(end, count)| **end == begin + count * LINE).count();
        &self.text[begin..begin + count * LINE]
    }
}
