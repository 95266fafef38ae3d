//! Values of columns as the fields of a table.

use std::io::Write as _;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::data_type::{ByteArray, Decimal, Int96};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use crate::grid::Order;
use crate::input::npy::write_cells;
use crate::text::unwritable_value;

/// The most digits behind the point of a decimal, and its most bytes, that are written in words.
const MAX_SCALE: i32 = 128;
const MAX_DECIMAL_BYTES: usize = 128;

/// The most days before or after 1970 for which the library has a date: some 260,000 years.
const MAX_DAYS: i64 = 95_000_000;

const SECONDS_IN_DAY: i64 = 24 * 60 * 60;

/// The day from which the library counts those of the old type of 96 bits, before 1970.
const JULIAN_DAYS: i64 = 2_440_588;

/// What the numbers and bytes of a column mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Meaning {
    /// Signed numbers, and bytes that may be a text or cells.
    Plain,
    Unsigned,
    Text,
    Decimal {
        precision: i32,
        scale: i32,
    },
    Date,
    /// Times of day, with so many digits behind the point.
    Time {
        digits: u32,
    },
    Timestamp {
        digits: u32,
        is_utc: bool,
    },
    /// Numbers of 16 bits.
    Half,
    /// Something that has no words here.
    Other,
}

impl Meaning {
    pub(super) fn of(descr: &ColumnDescPtr) -> Self {
        let digits = |unit: &TimeUnit| match unit {
            TimeUnit::MILLIS => 3,
            TimeUnit::MICROS => 6,
            TimeUnit::NANOS => 9,
        };
        // The older kind of note follows from the newer one, as far as there is one.
        match (descr.logical_type_ref(), descr.converted_type()) {
            (Some(LogicalType::Timestamp(of)), _) => {
                Self::Timestamp { digits: digits(&of.unit), is_utc: of.is_adjusted_to_u_t_c }
            }
            (Some(LogicalType::Time(of)), _) => Self::Time { digits: digits(&of.unit) },
            (Some(LogicalType::Float16), _) => Self::Half,
            (_, ConvertedType::TIMESTAMP_MILLIS) => Self::Timestamp { digits: 3, is_utc: true },
            (_, ConvertedType::TIMESTAMP_MICROS) => Self::Timestamp { digits: 6, is_utc: true },
            (_, ConvertedType::TIME_MILLIS) => Self::Time { digits: 3 },
            (_, ConvertedType::TIME_MICROS) => Self::Time { digits: 6 },
            (_, ConvertedType::DATE) => Self::Date,
            (_, ConvertedType::DECIMAL) if descr.type_scale() <= MAX_SCALE => {
                Self::Decimal { precision: descr.type_precision(), scale: descr.type_scale() }
            }
            (
                _,
                ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64,
            ) => Self::Unsigned,
            (_, ConvertedType::UTF8 | ConvertedType::ENUM | ConvertedType::JSON) => Self::Text,
            (
                _,
                ConvertedType::INT_8 | ConvertedType::INT_16 | ConvertedType::INT_32 | ConvertedType::INT_64,
            )
            | (None, ConvertedType::NONE) => Self::Plain,
            _ => Self::Other,
        }
    }
}

/// Appends an integer, whose bits `unsigned` has too.
pub(super) fn write_integer(value: i64, unsigned: u64, meaning: Meaning, out: &mut Vec<u8>) {
    let words = match meaning {
        Meaning::Unsigned => return write_plain(unsigned, out),
        Meaning::Decimal { precision, scale } => Some(decimal(Decimal::from_i64(value, precision, scale))),
        Meaning::Date => date(value),
        Meaning::Time { digits } => time_of_day(value, digits),
        Meaning::Timestamp { digits, is_utc } => timestamp(0, value, digits, is_utc),
        _ => None,
    };
    match words {
        Some(words) => write_plain(words, out),
        None => write_plain(value, out),
    }
}

/// Appends a time of the old type of 96 bits, which has no zone.
pub(super) fn write_int96(value: &Int96, out: &mut Vec<u8>) {
    let &[low, high, day] = value.data() else { return };
    let nanos = ((u64::from(high) << 32) | u64::from(low)).cast_signed();
    let words = timestamp(i64::from(day.cast_signed()) - JULIAN_DAYS, nanos, 9, false);
    write_plain(words.unwrap_or_else(|| value.to_string()), out);
}

fn decimal(value: Decimal) -> String {
    // The library has a point behind a whole number.
    Field::Decimal(value).to_string().trim_end_matches('.').to_owned()
}

/// The number that 16 bits are: a sign, 5 bits of an exponent and 10 of a fraction.
fn half(bits: u16) -> f32 {
    let (exponent, fraction) = (i32::from(bits >> 10 & 0x1F), f32::from(bits & 0x3FF));
    let magnitude = match exponent {
        0 => fraction * 2f32.powi(-24),
        0x1F if fraction == 0.0 => f32::INFINITY,
        0x1F => f32::NAN,
        _ => (1024.0 + fraction) * 2f32.powi(exponent - 25),
    };
    if bits >> 15 == 0 { magnitude } else { -magnitude }
}

/// The date so many days after 1970 began, unless that is out of all reason.
fn date(days: i64) -> Option<String> {
    let days = i32::try_from(days).ok().filter(|&days| i64::from(days).abs() <= MAX_DAYS)?;
    Some(Field::Date(days).to_string())
}

/// The time of day that a number of parts of a second is, each 10 to the power of -`digits`.
fn time_of_day(parts: i64, digits: u32) -> Option<String> {
    let (seconds, fraction) = (parts / 10_i64.pow(digits), parts % 10_i64.pow(digits));
    let (hours, minutes) = (seconds / 3600, seconds / 60 % 60);
    (parts >= 0 && seconds < SECONDS_IN_DAY)
        .then(|| format!("{hours:02}:{minutes:02}:{:02}.{fraction:0>1$}", seconds % 60, digits as usize))
}

/// The time so many days and parts of a second after 1970 began.
fn timestamp(days: i64, parts: i64, digits: u32, is_utc: bool) -> Option<String> {
    let parts_in_day = SECONDS_IN_DAY * 10_i64.pow(digits);
    let date = date(days + parts.div_euclid(parts_in_day))?;
    let time = time_of_day(parts.rem_euclid(parts_in_day), digits)?;
    Some(format!("{date} {time}{}", if is_utc { " +00:00" } else { "" }))
}

/// Appends a number, or whatever else has no character that has to be quoted.
pub(super) fn write_plain(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends bytes: as what they mean, as text if that is what they are, as cells if they are the values
/// of a puzzle, and else in hexadecimal.
pub(super) fn write_bytes(value: &ByteArray, meaning: Meaning, out: &mut Vec<u8>) {
    let bytes = value.data();
    match meaning {
        Meaning::Text => return write_text(bytes, out),
        Meaning::Decimal { precision, scale } if bytes.len() <= MAX_DECIMAL_BYTES => {
            return write_plain(decimal(Decimal::from_bytes(value.clone(), precision, scale)), out);
        }
        Meaning::Half => {
            if let &[low, high] = bytes {
                return write_plain(half(u16::from_le_bytes([low, high])), out);
            }
        }
        Meaning::Plain => {
            let order = Order::from_cells(bytes.len()).filter(|order| order.cells() > 1);
            if let Some(order) = order
                && bytes.iter().all(|&byte| usize::from(byte) <= order.side())
            {
                return write_cells(bytes, order.side(), out);
            }
            let is_bad = |character: char| character.is_control() && character != '\t';
            if std::str::from_utf8(bytes).is_ok_and(|text| !text.chars().any(is_bad)) {
                return write_text(bytes, out);
            }
        }
        _ => {}
    }
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// The numbers of a list, of which some may be null. Of unsigned ones it has the bits.
pub(super) type NumberList = Vec<Option<i64>>;

/// Whether a list is a puzzle: it has the length of one, and most of its numbers are cells.
pub(super) fn is_puzzle(list: &NumberList, meaning: Meaning) -> bool {
    let order = Order::from_cells(list.len()).filter(|order| order.cells() > 1);
    order.is_some_and(|order| {
        2 * list.iter().filter(|&&value| cell(value, meaning, order.side()).is_some()).count() > list.len()
    })
}

/// The cell that a number in a list is: null and -1 are blanks, as they are in arrays of JSON. The
/// bits of -1 are another number where there are no signs.
fn cell(value: Option<i64>, meaning: Meaning, side: usize) -> Option<u8> {
    match value {
        None => Some(0),
        Some(-1) if meaning != Meaning::Unsigned => Some(0),
        Some(value) => u8::try_from(value).ok().filter(|&cell| usize::from(cell) <= side),
    }
}

/// Appends the cells of a list. A number that is none becomes what no puzzle can have.
pub(super) fn write_puzzle(list: &NumberList, meaning: Meaning, out: &mut Vec<u8>) {
    let side = Order::from_cells(list.len()).map_or(9, Order::side);
    let cells: Vec<u8> = list.iter().map_while(|&value| cell(value, meaning, side)).collect();
    write_cells(&cells, side, out);
    for &value in &list[cells.len()..] {
        let number = value.and_then(|value| u32::try_from(value).ok());
        match cell(value, meaning, side) {
            Some(cell) => write_cells(&[cell], side, out),
            None => write_plain(unwritable_value(number), out),
        }
    }
}

/// Appends a list that is no puzzle, as an array of JSON.
pub(super) fn write_array(list: &NumberList, meaning: Meaning, out: &mut Vec<u8>) {
    let word = |value: &Option<i64>| match value {
        None => "null".to_owned(),
        Some(value) if meaning == Meaning::Unsigned => value.cast_unsigned().to_string(),
        Some(value) => value.to_string(),
    };
    let words: Vec<String> = list.iter().map(word).collect();
    write_text(format!("[{}]", words.join(",")).as_bytes(), out);
}

/// Appends a text as a field of comma-separated values: an empty one in quotes, because a null has
/// none. A row ends with its line, so a line break in it becomes a space.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
    if text.is_empty() {
        return out.extend_from_slice(b"\"\"");
    }
    // What has to be quoted is nowhere behind the comma in ASCII, and no cell is before it.
    if text.iter().fold(u8::MAX, |least, &byte| least.min(byte)) > b',' {
        return out.extend_from_slice(text);
    }
    let is_special = |&byte: &u8| matches!(byte, b',' | b'"' | b'\n' | b'\r');
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_whitespace() || *byte == b'#');
    if !text.iter().any(is_special) && !is_edge(text.first()) && !is_edge(text.last()) {
        return out.extend_from_slice(text);
    }
    out.push(b'"');
    for &byte in text {
        match byte {
            b'"' => out.extend_from_slice(b"\"\""),
            b'\n' | b'\r' => out.push(b' '),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_text_stays_one_field_of_one_line() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"yes\"", "\"say \"\"yes\"\"\""),
            ("two\nlines", "\"two lines\""),
            ("# no comment", "\"# no comment\""),
            (" edge", "\" edge\""),
            ("", "\"\""),
        ] {
            assert_eq!(written(|out| write_text(text.as_bytes(), out)), field);
        }
    }

    #[test]
    fn bytes_are_cells_or_text_or_hexadecimal() {
        let text = |bytes: &[u8], meaning| written(|out| write_bytes(&bytes.to_vec().into(), meaning, out));
        let mut cells = [0; 81];
        cells[80] = 9;
        assert_eq!(text(&cells, Meaning::Plain), format!("{}9", ".".repeat(80)));
        assert_eq!(text(&[b'5'; 81], Meaning::Plain), "5".repeat(81));
        assert_eq!(text(&[0, 255], Meaning::Plain), "00ff");
        assert_eq!(text(b"abc", Meaning::Plain), "abc");
        assert_eq!(text(b"a\nb", Meaning::Text), "\"a b\"");
        assert_eq!(text(&[1; 16], Meaning::Other), "01".repeat(16));
    }

    #[test]
    fn decimals_and_halves_are_numbers() {
        let text = |bytes: &[u8], meaning| written(|out| write_bytes(&bytes.to_vec().into(), meaning, out));
        let decimal = |scale| Meaning::Decimal { precision: 10, scale };
        assert_eq!(text(b"1234", decimal(2)), "8253734.92");
        assert_eq!(text(&[0xFF, 0xFB], decimal(2)), "-0.05");
        assert_eq!(text(&[0, 5], decimal(0)), "5");
        // As long as no number is.
        assert_eq!(text(&[1; 200], decimal(0)), "01".repeat(200));
        let halves = [0, 0x3E00, 0xC000, 0x7BFF, 1, 0xFC00];
        let wanted = ["0", "1.5", "-2", "65504", "0.000000059604645", "-inf"];
        for (bits, wanted) in halves.into_iter().zip(wanted) {
            assert_eq!(text(&u16::to_le_bytes(bits), Meaning::Half), wanted);
        }
        assert_eq!(text(&u16::to_le_bytes(0x7E00), Meaning::Half), "NaN");
    }

    #[test]
    fn times_have_the_zone_that_the_file_says() {
        let text =
            |value: i64, meaning| written(|out| write_integer(value, value.cast_unsigned(), meaning, out));
        let (naive, utc) = (
            |digits| Meaning::Timestamp { digits, is_utc: false },
            |digits| Meaning::Timestamp { digits, is_utc: true },
        );
        assert_eq!(text(1_704_164_645_678, utc(3)), "2024-01-02 03:04:05.678 +00:00");
        assert_eq!(text(1_704_164_645_678, naive(3)), "2024-01-02 03:04:05.678");
        assert_eq!(text(-1, naive(6)), "1969-12-31 23:59:59.999999");
        assert_eq!(text(1_704_164_645_678_901_234, naive(9)), "2024-01-02 03:04:05.678901234");
        assert_eq!(text(i64::MIN, naive(9)), "1677-09-21 00:12:43.145224192");
        assert_eq!(text(11_045_000_000_001, Meaning::Time { digits: 9 }), "03:04:05.000000001");
        assert_eq!(text(-1, Meaning::Date), "1969-12-31");
        // Out of all reason.
        assert_eq!(text(i64::MAX, utc(3)), i64::MAX.to_string());
        assert_eq!(text(i64::MAX, Meaning::Date), i64::MAX.to_string());
        assert_eq!(text(86_400_000, Meaning::Time { digits: 3 }), "86400000");
        assert_eq!(text(-1, Meaning::Unsigned), u64::MAX.to_string());
        let mut old = Int96::new();
        old.set_data(1, 0, 2_440_589);
        assert_eq!(written(|out| write_int96(&old, out)), "1970-01-02 00:00:00.000000001");
    }

    #[test]
    fn lists_are_puzzles_or_arrays() {
        let puzzle_of = |list: &NumberList, meaning| written(|out| write_puzzle(list, meaning, out));
        let puzzle = |list: &NumberList| puzzle_of(list, Meaning::Plain);
        let is_plain_puzzle = |list: &NumberList| is_puzzle(list, Meaning::Plain);
        let array = |list: &NumberList, meaning| written(|out| write_array(list, meaning, out));
        let mut cells = vec![Some(0); 16];
        (cells[1], cells[2], cells[3]) = (Some(4), None, Some(-1));
        assert!(is_plain_puzzle(&cells));
        assert_eq!(puzzle(&cells), format!(".4{}", ".".repeat(14)));
        // Without signs these bits are the largest number, which is no cell.
        assert_eq!(puzzle_of(&cells, Meaning::Unsigned), format!(".4.\u{10FFFF}{}", ".".repeat(12)));
        assert!(is_plain_puzzle(&vec![Some(-1); 16]) && !is_puzzle(&vec![Some(-1); 16], Meaning::Unsigned));
        // Numbers that no cell has are named where they can be.
        (cells[0], cells[2]) = (Some(300), Some(-5));
        assert!(is_plain_puzzle(&cells));
        let named = unwritable_value(Some(300));
        assert_eq!(puzzle(&cells), format!("{named}4\u{10FFFF}{}", ".".repeat(13)));
        assert_eq!(puzzle(&vec![Some(5); 80]), "5".repeat(80));
        assert!(![vec![], vec![Some(1)], vec![Some(1); 80], vec![Some(17); 16]].iter().any(is_plain_puzzle));
        assert_eq!(array(&vec![Some(12), None, Some(-1)], Meaning::Plain), "\"[12,null,-1]\"");
        assert_eq!(array(&vec![Some(-1)], Meaning::Unsigned), format!("[{}]", u64::MAX));
        assert_eq!(array(&vec![], Meaning::Plain), "[]");
    }
}
