//! Alphabets: the characters of blanks and values.

use std::fmt;
use std::str::FromStr;

use super::Notation;
use crate::grid::{MAX_SIDE, Order};

/// Characters that stand for a blank cell, unless the alphabet uses them for a value.
const BLANKS: &[u8] = b".0_*-?xX";
/// The middle dot `\u{B7}` in UTF-8: a blank wherever [`BLANKS`] are.
pub(super) const MIDDLE_DOT: &[u8] = "\u{B7}".as_bytes();
/// The blanks in `header`.
const STRICT_BLANKS: &[u8] = b".";
/// Characters that end the cells of a line and begin a comment, unless the alphabet uses them.
const DELIMITERS: &[u8] = b" \t,;#";
/// Characters that a custom alphabet cannot have, because in some notation they are a blank, the
/// beginning of a comment, the end or the quotes of a field, or a ruler.
const RESERVED: &[u8] = b".#,\"|-+=";

/// The characters of the values 1 to 25. The names are those of the command line.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Alphabet {
    /// `letters`: `1` to `9`, then `A` to `P`, upper or lower case.
    #[default]
    Letters,
    /// `ascii`: the code of `0` plus the value, so that `:` is 10, `@` 16 and `I` 25.
    Ascii,
    /// `alpha`: `A` is 1, `Y` is 25, upper or lower case.
    Alpha,
    /// `hex`: `0` is the value 1 and no blank, `F` is 16, upper or lower case.
    Hex,
    /// Distinct printable ASCII characters except `.` `#` `,` `"` `|` `-` `+` `=`, the first for 1,
    /// as many as the puzzle has values.
    Custom(String),
}

impl Alphabet {
    /// The symbols of the values 1, 2, 3 and so on.
    #[must_use]
    pub fn symbols(&self) -> Vec<u8> {
        match self {
            Self::Letters => (b'1'..=b'9').chain(b'A'..=b'P').collect(),
            Self::Ascii => (b'1'..=b'I').collect(),
            Self::Alpha => (b'A'..=b'Y').collect(),
            Self::Hex => (b'0'..=b'9').chain(b'A'..=b'F').collect(),
            Self::Custom(symbols) => symbols.bytes().collect(),
        }
    }

    /// Whether upper and lower case are the same value.
    pub(super) const fn ignores_case(&self) -> bool {
        matches!(self, Self::Letters | Self::Alpha | Self::Hex)
    }

    /// Whether puzzles of this order can be written with it.
    #[must_use]
    pub fn fits(&self, order: Order) -> bool {
        match self {
            Self::Custom(symbols) => symbols.len() == order.side(),
            _ => self.symbols().len() >= order.side(),
        }
    }

    /// The largest order it has symbols for.
    #[must_use]
    pub fn largest_order(&self) -> Option<Order> {
        Order::ALL.into_iter().rev().find(|&order| self.fits(order))
    }
}

impl fmt::Display for Alphabet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Letters => "letters",
            Self::Ascii => "ascii",
            Self::Alpha => "alpha",
            Self::Hex => "hex",
            Self::Custom(symbols) => symbols,
        })
    }
}

/// The error of a string that is no alphabet.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no alphabet. Use letters, ascii, alpha, hex, or 1, 4, 9, 16 or 25 distinct printable ASCII characters without spaces and . # , \" | - + ="
)]
pub struct NoAlphabet(String);

impl FromStr for Alphabet {
    type Err = NoAlphabet;

    fn from_str(text: &str) -> Result<Self, NoAlphabet> {
        let distinct = |s: &str| s.bytes().enumerate().all(|(i, b)| !s.as_bytes()[..i].contains(&b));
        match text {
            "letters" => Ok(Self::Letters),
            "ascii" => Ok(Self::Ascii),
            "alpha" => Ok(Self::Alpha),
            "hex" => Ok(Self::Hex),
            _ if Order::from_side(text.len()).is_some()
                && text.bytes().all(|b| b.is_ascii_graphic() && !RESERVED.contains(&b))
                && distinct(text) =>
            {
                Ok(Self::Custom(text.to_owned()))
            }
            _ => Err(NoAlphabet(text.to_owned())),
        }
    }
}

/// The decoded byte that is neither a blank nor a value.
pub(super) const INVALID: u8 = 0xFF;

/// An alphabet for puzzles of one order, as tables from byte to digit and back.
#[derive(Clone)]
pub(super) struct Codec {
    /// 0 for a blank, 1 to `side` for a value, [`INVALID`] for anything else.
    decode: [u8; 256],
    /// The byte that is written for each digit; a `.` for 0.
    encode: [u8; MAX_SIDE + 1],
    /// Whether the byte ends the cells of a line.
    delimiter: [bool; 256],
    /// Whether a middle dot is a blank.
    has_middle_dot: bool,
    pub(super) shortcut: Shortcut,
}

/// How cells are decoded faster than one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shortcut {
    /// They are not.
    None,
    /// 9x9 in digits, with all usual blanks: by arithmetic.
    Digits,
    /// 9x9 in digits, with `.` as the only blank: by arithmetic.
    DigitsAndDots,
    /// 9x9 in another alphabet: 81 bytes by the table, whatever they are.
    Table,
}

impl Shortcut {
    /// Whether the cells are 9x9 in digits.
    pub(super) const fn is_digits(self) -> bool {
        matches!(self, Self::Digits | Self::DigitsAndDots)
    }
}

impl Codec {
    /// A codec with the blanks of the notation. The alphabet must fit the order.
    pub(super) fn new(alphabet: &Alphabet, order: Order, notation: Notation) -> Self {
        let symbols = alphabet.symbols();
        let mut decode = [INVALID; 256];
        let mut encode = [b'.'; MAX_SIDE + 1];
        let mut delimiter = [false; 256];
        for &byte in DELIMITERS {
            delimiter[usize::from(byte)] = true;
        }
        let blanks = match notation {
            Notation::Header => STRICT_BLANKS,
            _ => BLANKS,
        };
        for &byte in blanks {
            decode[usize::from(byte)] = 0;
        }
        for (value, &symbol) in (1u8..).zip(&symbols) {
            // A symbol of the alphabet is never a blank, even where this order is too small to use
            // it. There it stays a delimiter, because no puzzle of this order has it.
            let used = if usize::from(value) <= order.side() { value } else { INVALID };
            let cases = [symbol, symbol.to_ascii_lowercase()];
            let cases = if alphabet.ignores_case() { &cases[..] } else { &cases[..1] };
            for &case in cases {
                decode[usize::from(case)] = used;
                delimiter[usize::from(case)] &= used == INVALID;
            }
            if let Some(slot) = encode.get_mut(usize::from(value)) {
                *slot = symbol;
            }
        }
        let shortcut = match alphabet {
            Alphabet::Letters | Alphabet::Ascii if order == Order::NINE && notation == Notation::Header => {
                Shortcut::DigitsAndDots
            }
            Alphabet::Letters | Alphabet::Ascii if order == Order::NINE => Shortcut::Digits,
            _ if order == Order::NINE => Shortcut::Table,
            _ => Shortcut::None,
        };
        let has_middle_dot = blanks == BLANKS;
        Self { decode, encode, delimiter, has_middle_dot, shortcut }
    }

    pub(super) const fn decode(&self, byte: u8) -> u8 {
        self.decode[byte as usize]
    }

    /// The digit of a character, which may be of several bytes.
    pub(super) fn character(&self, character: &[u8]) -> u8 {
        match character {
            [byte] => self.decode(*byte),
            MIDDLE_DOT if self.has_middle_dot => 0,
            _ => INVALID,
        }
    }

    pub(super) const fn encode(&self, digit: u8) -> u8 {
        self.encode[digit as usize]
    }

    /// The cells of a line: everything before the first delimiter.
    pub(super) fn cells<'a>(&self, line: &'a [u8]) -> &'a [u8] {
        let end = line.iter().position(|&b| self.delimiter[usize::from(b)]);
        &line[..end.unwrap_or(line.len())]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of blanks and of the values 1, 2, 3 and so on, separated by spaces.
    fn meanings(alphabet: &str, order: usize, notation: Notation) -> String {
        let order = Order::new(order).unwrap();
        let codec = Codec::new(&alphabet.parse().unwrap(), order, notation);
        let spelled = |digit: usize| -> String {
            (0..=255u8).filter(|&b| usize::from(codec.decode(b)) == digit).map(char::from).collect()
        };
        (0..=order.side()).map(spelled).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn bytes_mean_what_the_alphabet_and_the_notation_say() {
        let cases = [
            ("letters", 2, Notation::Lines, "*-.0?X_x 1 2 3 4"),
            ("letters", 2, Notation::Csv, "*-.0?X_x 1 2 3 4"),
            ("letters", 2, Notation::Grid, "*-.0?X_x 1 2 3 4"),
            ("letters", 2, Notation::Header, ". 1 2 3 4"),
            ("letters", 4, Notation::Lines, "*-.0?X_x 1 2 3 4 5 6 7 8 9 Aa Bb Cc Dd Ee Ff Gg"),
            ("ascii", 4, Notation::Lines, "*-.0X_x 1 2 3 4 5 6 7 8 9 : ; < = > ? @"),
            ("alpha", 2, Notation::Lines, "*-.0?_ Aa Bb Cc Dd"),
            ("hex", 4, Notation::Lines, "*-.?X_x 0 1 2 3 4 5 6 7 8 9 Aa Bb Cc Dd Ee Ff"),
            ("hex", 2, Notation::Grid, "*-.?X_x 0 1 2 3"),
            ("hex", 2, Notation::Header, ". 0 1 2 3"),
            ("a*0B", 2, Notation::Lines, "-.?X_x a * 0 B"),
        ];
        for (alphabet, order, notation, wanted) in cases {
            assert_eq!(meanings(alphabet, order, notation), wanted, "{alphabet} {order} {notation}");
        }
    }

    #[test]
    fn a_symbol_ends_no_cells_but_where_the_order_has_no_use_for_it() {
        let end = |alphabet: &str, order: usize| {
            let codec = Codec::new(&alphabet.parse().unwrap(), Order::new(order).unwrap(), Notation::Lines);
            codec.cells(b"12;34 5").len()
        };
        assert_eq!([end("letters", 5), end("ascii", 3), end("ascii", 4), end(";234", 2)], [2, 2, 5, 5]);
    }

    #[test]
    fn an_alphabet_fits_as_many_values_as_it_has() {
        let largest = |name: &str| name.parse::<Alphabet>().unwrap().largest_order().map(Order::side);
        let sides = ["letters", "ascii", "alpha", "hex", "abcd", "x"].map(largest);
        assert_eq!(sides, [Some(25), Some(25), Some(25), Some(16), Some(4), Some(1)]);
        assert!(
            !"abcdefghi".parse::<Alphabet>().unwrap().fits(Order::ALL[1]),
            "a custom alphabet is for one size"
        );
    }
}
