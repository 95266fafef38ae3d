//! Entries: puzzles that arrive one by one, each in a text of its own.

use std::ops::Range;

/// A list of texts with one puzzle each.
#[doc(hidden)]
#[derive(Clone, Debug, Default)]
pub struct Entries {
    /// All texts, with a line end after each.
    text: Vec<u8>,
    /// The end of each, its line end included.
    ends: Vec<usize>,
}

impl Entries {
    /// Adds a puzzle, whatever its text contains.
    pub fn push(&mut self, text: &[u8]) {
        if self.text.capacity() == 0 {
            // Doubled from here on: allocators reuse powers of two better than multiples of a line.
            self.text.reserve((text.len() + 1).next_power_of_two());
        }
        self.text.extend_from_slice(text);
        self.text.push(b'\n');
        self.ends.push(self.text.len());
    }

    /// The number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are no entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of all entries, with a line end after each.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        self.text.len()
    }

    /// The offset of an entry.
    fn begin(&self, index: usize) -> usize {
        index.checked_sub(1).map_or(0, |before| self.ends[before])
    }

    /// The text of an entry.
    ///
    /// # Panics
    /// If `index` is not below [`Self::len`].
    #[must_use]
    pub fn get(&self, index: usize) -> &[u8] {
        &self.text[self.begin(index)..self.ends[index] - 1]
    }

    /// A copy of a range of entries.
    ///
    /// # Panics
    /// If the range ends beyond [`Self::len`].
    #[must_use]
    pub fn part(&self, range: Range<usize>) -> Self {
        let mut part = Self::default();
        range.for_each(|index| part.push(self.get(index)));
        part
    }

    /// The text of the entries from `first` on, at most `most`, that have 81 bytes each, to be read
    /// as lines. An entry may contain a line end, at which the reader of plain lines stops.
    pub(super) fn plain_9x9_lines(&self, first: usize, most: usize) -> &[u8] {
        const LINE: usize = 82;
        let begin = self.begin(first);
        let ends = self.ends[first..].iter().take(most);
        let count = ends.zip(1..).take_while(|(end, count)| **end == begin + count * LINE).count();
        &self.text[begin..begin + count * LINE]
    }
}
