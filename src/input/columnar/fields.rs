//! Values of columns as the fields of a table.

use std::io::Write as _;

use parquet::basic::{ConvertedType, LogicalType, TimeUnit};
use parquet::record::Field;
use parquet::schema::types::ColumnDescPtr;

use super::is_text;
use crate::grid::Order;
use crate::input::npy::write_cells;

/// How integers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Integers {
    Signed,
    Unsigned,
    /// By the library: dates, times, decimals.
    Meaning,
}

impl Integers {
    pub(super) fn of(descr: &ColumnDescPtr) -> Self {
        match descr.logical_type_ref() {
            Some(LogicalType::Integer(integer)) if !integer.is_signed => return Self::Unsigned,
            Some(LogicalType::Integer(_)) => return Self::Signed,
            // The library has no words for these.
            Some(LogicalType::Timestamp(timestamp)) if timestamp.unit == TimeUnit::NANOS => {
                return Self::Signed;
            }
            _ => {}
        }
        match descr.converted_type() {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => Self::Unsigned,
            ConvertedType::DATE
            | ConvertedType::DECIMAL
            | ConvertedType::TIME_MILLIS
            | ConvertedType::TIME_MICROS
            | ConvertedType::TIMESTAMP_MILLIS
            | ConvertedType::TIMESTAMP_MICROS => Self::Meaning,
            _ => Self::Signed,
        }
    }
}

/// Appends a display of the library's.
pub(super) fn write_meaning(field: &Field, out: &mut Vec<u8>) {
    write_text(field.to_string().as_bytes(), out);
}

/// Appends a number, or whatever else has no character that has to be quoted.
pub(super) fn write_plain(value: impl std::fmt::Display, out: &mut Vec<u8>) {
    // Writing to a vector cannot fail.
    let _ = write!(out, "{value}");
}

/// Appends bytes: as text if that is what they are, as cells if they are the values of a puzzle, and
/// else in hexadecimal.
pub(super) fn write_bytes(bytes: &[u8], logical: Option<&LogicalType>, out: &mut Vec<u8>) {
    if is_text(logical) {
        return write_text(bytes, out);
    }
    let order = Order::from_cells(bytes.len()).filter(|order| order.cells() > 1);
    if let Some(order) = order
        && bytes.iter().all(|&byte| usize::from(byte) <= order.side())
    {
        return write_cells(bytes, order.side(), out);
    }
    let is_readable = std::str::from_utf8(bytes)
        .is_ok_and(|text| !text.chars().any(|character| character.is_control() && character != '\t'));
    if is_readable {
        return write_text(bytes, out);
    }
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
}

/// Appends the cells of a list of numbers. One that has no digit becomes what no puzzle can have.
pub(super) fn write_list(values: &[i64], out: &mut Vec<u8>) {
    let side = Order::from_cells(values.len()).map_or(9, Order::side);
    let cells: Vec<u8> = values.iter().map(|&value| u8::try_from(value).unwrap_or(u8::MAX)).collect();
    write_cells(&cells, side, out);
}

/// Appends a text as a field of comma-separated values. A row ends with its line, so a line break in
/// it becomes a space.
pub(super) fn write_text(text: &[u8], out: &mut Vec<u8>) {
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

    #[test]
    fn a_text_stays_one_field_of_one_line() {
        for (text, field) in [
            ("plain", "plain"),
            ("a,b", "\"a,b\""),
            ("say \"yes\"", "\"say \"\"yes\"\"\""),
            ("two\nlines", "\"two lines\""),
            ("# no comment", "\"# no comment\""),
            (" edge", "\" edge\""),
            ("", ""),
        ] {
            let mut out = Vec::new();
            write_text(text.as_bytes(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), field);
        }
    }

    #[test]
    fn bytes_are_cells_or_text_or_hexadecimal() {
        let text = |bytes: &[u8]| {
            let mut out = Vec::new();
            write_bytes(bytes, None, &mut out);
            String::from_utf8(out).unwrap()
        };
        let mut cells = [0; 81];
        cells[80] = 9;
        assert_eq!(text(&cells), format!("{}9", ".".repeat(80)));
        assert_eq!(text(&[b'5'; 81]), "5".repeat(81));
        assert_eq!(text(&[0, 255]), "00ff");
        assert_eq!(text(b"abc"), "abc");
    }
}
