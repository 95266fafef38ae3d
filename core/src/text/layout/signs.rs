//! The signs of cells: which characters are values, and which are blanks.

use std::borrow::Cow;

use super::super::lines::offset;
use super::super::{Alphabet, cell};

/// A letter that is not ASCII, in a [flat] line.
pub(super) const LETTER: u8 = 0x80;
/// Any other character that is not ASCII, in a [flat] line.
pub(super) const SIGN: u8 = 0x81;
/// A byte-order mark, in a [flat] line: a control character, so that it is no separator.
pub(super) const MARK: u8 = 0x7F;

/// A line with one byte for each character: drawn bars and corners as ASCII draws them, digits of any
/// width, boxes as blanks. What has no width is left out.
pub(super) fn flat(line: &[u8]) -> Cow<'_, [u8]> {
    if line.is_ascii() && !line.contains(&0x1A) {
        return Cow::Borrowed(line);
    }
    let mut flat = Vec::with_capacity(line.len());
    for chunk in line.utf8_chunks() {
        flat.extend(chunk.valid().chars().filter_map(flat_character));
        // Text in Latin-1, whose bytes are the characters.
        flat.extend(chunk.invalid().iter().filter_map(|&byte| flat_character(char::from(byte))));
    }
    Cow::Owned(flat)
}

/// Where each byte of a [flat] line begins in the line.
pub(super) fn flat_offsets(line: &[u8]) -> Vec<usize> {
    let (mut offsets, mut at) = (Vec::with_capacity(line.len()), 0);
    for chunk in line.utf8_chunks() {
        for (behind, c) in chunk.valid().char_indices() {
            offsets.extend(flat_character(c).map(|_| at + behind));
        }
        at += chunk.valid().len();
        for &byte in chunk.invalid() {
            offsets.extend(flat_character(char::from(byte)).map(|_| at));
            at += 1;
        }
    }
    offsets
}

fn flat_character(c: char) -> Option<u8> {
    Some(match c {
        '\u{1A}' | '\u{200B}'..='\u{200D}' | '\u{2060}' | '\u{FE0F}' | '\u{20E3}' => return None,
        '\0'..='\x7F' => u8::try_from(c).unwrap_or(SIGN),
        '\u{FEFF}' => MARK,
        '\u{A0}' | '\u{3000}' => b' ',
        '│' | '┃' | '║' | '┆' | '┊' | '╎' | '┇' | '┋' | '╏' => b'|',
        '─' | '━' | '═' | '┈' | '┄' | '╌' | '┅' | '┉' | '╍' | '╴'..='╿' => b'-',
        '\u{2500}'..='\u{257F}' => b'+',
        '０'..='９' => b'0' + u8::try_from(u32::from(c) - u32::from('０')).unwrap_or(0),
        '□' | '⬜' | '•' | '·' | '∙' | '◻' | '▢' => b'.',
        _ if c.is_alphabetic() => LETTER,
        _ => SIGN,
    })
}

/// Whether a byte of a flat line is a letter.
pub(super) const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte == LETTER
}

/// Whether a byte of a flat line is a letter or a digit.
pub(super) const fn is_alphanumeric(byte: u8) -> bool {
    byte.is_ascii_digit() || is_letter(byte)
}

/// Whether there is a word of two letters.
pub(super) fn has_word(text: &[u8]) -> bool {
    text.windows(2).any(|pair| is_letter(pair[0]) && is_letter(pair[1]))
}

/// The characters without white space.
pub(super) fn weight(text: &[u8]) -> u32 {
    u32::try_from(text.iter().filter(|byte| !byte.is_ascii_whitespace()).count()).unwrap_or(u32::MAX)
}

/// A text without these bytes at its ends.
pub(super) fn trimmed(text: &[u8], is_around: impl Fn(u8) -> bool) -> &[u8] {
    let Some(start) = text.iter().position(|&byte| !is_around(byte)) else { return &[] };
    let end = text.iter().rposition(|&byte| !is_around(byte)).map_or(start, |last| last + 1);
    &text[start..end]
}

/// The characters of blanks, unless the alphabet has them.
const BLANKS: &[u8] = b".0_*-xX?";
/// The words for a blank.
const BLANK_WORDS: [&[u8]; 5] = [b"none", b"na", b"nan", b"null", b"nil"];

/// The signs that blanks have, as a set: puzzles have one sign for all blanks.
pub(super) type Blanks = u16;
/// Nothing at all: an empty field, or a space.
pub(super) const NOTHING: Blanks = 1;
/// A `.`.
pub(super) const DOT: Blanks = 1 << 1;
/// A `0`.
pub(super) const ZERO: Blanks = 1 << 2;
/// A `_`, a `*` or a `?`.
pub(super) const OTHERS: Blanks = 1 << 3 | 1 << 4 | 1 << 8;
/// Any of the words.
pub(super) const WORD: Blanks = 1 << 15;
/// The signs that may be mixed in a puzzle, because what is put together from several sources mixes them.
pub(super) const MIXED: Blanks = NOTHING | DOT | ZERO | OTHERS | WORD;

/// A cell as it is read.
#[derive(Clone, Copy)]
pub(super) struct ReadCell {
    /// 0 for a blank.
    pub(super) value: u8,
    /// The sign of a blank; 0 for a value.
    pub(super) blank: Blanks,
}

/// An alphabet as a table of what characters mean.
pub(super) struct Signs {
    value: [u8; 256],
    blank: [Blanks; 256],
    /// What must be added to numbers, which count from 0 where that is the first symbol.
    first_number: u8,
    pub(super) alphabet: Alphabet,
}

impl Signs {
    pub(super) fn new(alphabet: &Alphabet) -> Self {
        let (mut value, mut blank) = ([0; 256], [0; 256]);
        for (number, symbol) in (1..).zip(alphabet.symbols()) {
            value[usize::from(symbol)] = number;
            if alphabet.ignores_case() {
                value[usize::from(symbol.to_ascii_lowercase())] = number;
            }
        }
        for (bit, &sign) in BLANKS.iter().enumerate() {
            if value[usize::from(sign)] == 0 {
                blank[usize::from(sign)] = DOT << bit;
            }
        }
        let first_number = u8::from(value[usize::from(b'0')] == 1);
        Self { value, blank, first_number, alphabet: alphabet.clone() }
    }

    /// The cell that a token is, in puzzles with so many values.
    pub(super) fn cell(&self, token: &[u8], side: u8) -> Option<ReadCell> {
        match *token {
            [] => Some(ReadCell { value: 0, blank: NOTHING }),
            [sign] => self.sign(sign, side),
            _ => self.number(token, side),
        }
    }

    /// The cell that a character is.
    #[inline]
    pub(super) fn sign(&self, sign: u8, side: u8) -> Option<ReadCell> {
        let cell = ReadCell { value: self.value[usize::from(sign)], blank: self.blank[usize::from(sign)] };
        (cell.blank > 0 || (1..=side).contains(&cell.value)).then_some(cell)
    }

    fn number(&self, token: &[u8], side: u8) -> Option<ReadCell> {
        if token[0] == b'-' && cell::number(token).is_some()
            || BLANK_WORDS.iter().any(|word| token.eq_ignore_ascii_case(word))
        {
            return Some(ReadCell { value: 0, blank: WORD });
        }
        let number = match *token {
            [tens @ b'0'..=b'9', ones @ b'0'..=b'9'] => 10 * (tens - b'0') + ones - b'0',
            _ if token.iter().all(u8::is_ascii_digit) => return None,
            _ => cell::number(token)?,
        };
        let value = number + self.first_number;
        match value {
            0 => Some(ReadCell { value, blank: ZERO }),
            _ => (value <= side).then_some(ReadCell { value, blank: 0 }),
        }
    }

    /// Whether a character is a value or a blank of some size.
    pub(super) fn has(&self, sign: u8) -> bool {
        self.value[usize::from(sign)] > 0 || self.blank[usize::from(sign)] > 0
    }

    /// Whether a character is a value of some size.
    pub(super) fn is_value(&self, sign: u8) -> bool {
        self.value[usize::from(sign)] > 0
    }

    /// Whether a character is a blank.
    pub(super) fn is_blank(&self, sign: u8) -> bool {
        self.blank[usize::from(sign)] > 0
    }
}

/// The word by which a text says that its puzzles have more rules than the classic ones.
pub(super) fn variant_word(text: &[u8]) -> Option<String> {
    const WORDS: [&[u8]; 14] = [
        b"cage",
        b"cages",
        b"region",
        b"regions",
        b"killer",
        b"killers",
        b"diagonal",
        b"diagonals",
        b"jigsaw",
        b"irregular",
        b"arrow",
        b"arrows",
        b"samurai",
        b"visual_elements",
    ];
    let is_in_word = |byte: u8| byte == b'_' || byte.is_ascii_digit() || is_letter(byte);
    let words = text.split(|&byte| !is_in_word(byte)).filter(|word| !word.is_empty());
    let begins = |word: &[u8], start: &[u8]| {
        word.get(..start.len()).is_some_and(|head| head.eq_ignore_ascii_case(start))
    };
    let is_one = |word: &&[u8]| {
        let is_hyphenated = || text[offset(text, word) + word.len()..].first() == Some(&b'-');
        WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
            || begins(word, b"thermo")
            || begins(word, b"anti") && (word.len() > 4 || is_hyphenated())
    };
    words.clone().find(is_one).map(|word| String::from_utf8_lossy(word).into_owned())
}
