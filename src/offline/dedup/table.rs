//! A table of the keys seen, in memory of bounded size.

/// The bytes of a piece of the memory for entries. An entry, less than a kilobyte, lies within one.
const SEGMENT_BYTES: usize = 1 << 16;

/// The bytes of an entry before its key: the place and the length of the key.
const ENTRY_HEAD: usize = 10;

/// The slots of a table with entries, at first.
const FIRST_SLOTS: usize = 1 << 10;

/// The bits of a slot that are the position of its entry, from 1; the rest are those of the hash.
const POSITION_BITS: u32 = 44;

/// What became of a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Inserted {
    /// It is new.
    New,
    /// It was there already, from this place.
    Known(u64),
    /// It is new, and there is no memory for it: nothing has changed.
    Full,
}

/// Keys, each with the place where it was seen first. Keys are compared whole, so no two of them are
/// ever taken for each other.
pub(super) struct KeyTable {
    /// Open addressing: 0 for a free slot.
    slots: Vec<u64>,
    segments: Vec<Vec<u8>>,
    entries: usize,
    /// The most bytes that it takes.
    limit: usize,
}

impl KeyTable {
    pub(super) const fn new(limit: usize) -> Self {
        Self { slots: Vec::new(), segments: Vec::new(), entries: 0, limit }
    }

    pub(super) fn clear(&mut self) {
        self.slots.fill(0);
        self.segments.clear();
        self.entries = 0;
    }

    /// Adds a key with this hash, unless it is there. `hash` is that of any key.
    pub(super) fn insert(&mut self, key: &[u8], place: u64, hash: impl Fn(&[u8]) -> u64) -> Inserted {
        let own = hash(key);
        if let Some(place) = self.find(key, own) {
            return Inserted::Known(place);
        }
        // Three quarters of the slots at most are taken.
        let slots = if 4 * (self.entries + 1) > 3 * self.slots.len() {
            FIRST_SLOTS.max(2 * self.slots.len())
        } else {
            self.slots.len()
        };
        let length = ENTRY_HEAD + key.len();
        let fits = self.segments.last().is_some_and(|segment| segment.len() + length <= SEGMENT_BYTES);
        let segments = self.segments.len() + usize::from(!fits);
        if slots * size_of::<u64>() + segments * SEGMENT_BYTES > self.limit {
            return Inserted::Full;
        }
        if slots > self.slots.len() {
            self.grow(slots, &hash);
        }
        if !fits {
            self.segments.push(Vec::with_capacity(SEGMENT_BYTES));
        }
        let last = self.segments.len() - 1;
        let segment = &mut self.segments[last];
        let position = last * SEGMENT_BYTES + segment.len();
        segment.extend_from_slice(&place.to_le_bytes());
        // A key is less than a kilobyte.
        segment.extend_from_slice(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_le_bytes());
        segment.extend_from_slice(key);
        self.put(own, position);
        self.entries += 1;
        Inserted::New
    }

    /// Passes every key with its place to `visit`, in the order in which they came.
    pub(super) fn visit<E>(&self, mut visit: impl FnMut(u64, &[u8]) -> Result<(), E>) -> Result<(), E> {
        for segment in &self.segments {
            let mut rest = segment.as_slice();
            while let Some((place, key)) = entry(rest) {
                visit(place, key)?;
                rest = &rest[ENTRY_HEAD + key.len()..];
            }
        }
        Ok(())
    }

    fn find(&self, key: &[u8], hash: u64) -> Option<u64> {
        let mut index = self.first_slot(hash)?;
        loop {
            let slot = self.slots[index];
            if slot == 0 {
                return None;
            }
            if slot >> POSITION_BITS == hash >> POSITION_BITS {
                let position = (slot & ((1 << POSITION_BITS) - 1)) as usize - 1;
                let segment = &self.segments[position / SEGMENT_BYTES];
                if let Some((place, known)) = entry(&segment[position % SEGMENT_BYTES..])
                    && known == key
                {
                    return Some(place);
                }
            }
            index = (index + 1) & (self.slots.len() - 1);
        }
    }

    /// The slot at which the search for a hash begins; `None` if there are no slots.
    #[expect(clippy::cast_possible_truncation, reason = "the low bits are wanted")]
    fn first_slot(&self, hash: u64) -> Option<usize> {
        (!self.slots.is_empty()).then(|| hash as usize & (self.slots.len() - 1))
    }

    fn put(&mut self, hash: u64, position: usize) {
        let Some(mut index) = self.first_slot(hash) else { return };
        while self.slots[index] != 0 {
            index = (index + 1) & (self.slots.len() - 1);
        }
        self.slots[index] = hash >> POSITION_BITS << POSITION_BITS | (position as u64 + 1);
    }

    /// Makes the slots anew, so many. The old ones are given back first, so that never both take
    /// memory.
    fn grow(&mut self, slots: usize, hash: &impl Fn(&[u8]) -> u64) {
        self.slots = Vec::new();
        self.slots = vec![0; slots];
        let segments = std::mem::take(&mut self.segments);
        for (number, segment) in segments.iter().enumerate() {
            let mut at = 0;
            while let Some((_, key)) = entry(&segment[at..]) {
                self.put(hash(key), number * SEGMENT_BYTES + at);
                at += ENTRY_HEAD + key.len();
            }
        }
        self.segments = segments;
    }
}

/// The place and the key of the entry at the start of `bytes`; `None` if there is none.
fn entry(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (place, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let key = rest.get(..usize::from(u16::from_le_bytes(*length)))?;
    Some((u64::from_le_bytes(*place), key))
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;
    use std::hash::{BuildHasher as _, RandomState};

    use super::*;

    #[test]
    fn it_knows_what_a_map_knows_until_it_is_full() {
        let state = RandomState::new();
        // A poor hash has many keys in one slot, and few bits of it tell them apart.
        for mask in [u64::MAX, 0xFF, 0] {
            let hash = |key: &[u8]| state.hash_one(key) & mask;
            let mut table = KeyTable::new(1 << 18);
            let mut map: HashMap<Vec<u8>, u64> = HashMap::new();
            let most = if mask == u64::MAX { 40_000_u64 } else { 2_000 };
            let mut full = 0;
            for place in 0..most {
                let number = place * 7919 % (most / 2);
                let key =
                    [vec![7; usize::try_from(number % 40).unwrap()], number.to_le_bytes().to_vec()].concat();
                match table.insert(&key, place, hash) {
                    Inserted::New => assert_eq!(map.insert(key, place), None),
                    Inserted::Known(first) => assert_eq!(map.get(&key), Some(&first)),
                    Inserted::Full => {
                        assert!(!map.contains_key(&key));
                        full += 1;
                    }
                }
            }
            assert_eq!(full > 0, mask == u64::MAX, "{full}");
            let mut seen = 0;
            table
                .visit(|place, key| {
                    seen += 1;
                    if map.get(key) == Some(&place) { Ok(()) } else { Err(place) }
                })
                .unwrap();
            assert_eq!(seen, map.len());
            table.clear();
            assert_eq!(table.insert(b"x", 1, hash), Inserted::New);
            assert_eq!(table.insert(b"x", 2, hash), Inserted::Known(1));
        }
    }
}
