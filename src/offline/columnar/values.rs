//! Values of a column, made from fields of text.

use bytes::Bytes;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};

use super::fields::Span;

/// The bytes that the length of a text takes before it.
const LENGTH_BYTES: usize = 4;

/// The types of values that text becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ValueKind {
    Text,
    /// Texts that hardly ever repeat, in an alphabet of a few characters: the cells of puzzles.
    Cells,
    Flag,
    Int32 {
        is_signed: bool,
    },
    Int64 {
        is_signed: bool,
    },
    Float,
    Double,
}

/// The values of a batch of rows, and which rows have one.
pub(super) struct ColumnValues {
    /// 1 for a row with a value, 0 for one without.
    pub(super) levels: Vec<i16>,
    values: TypedValues,
}

enum TypedValues {
    /// Texts as they lie in a page: each behind its length.
    Text(Vec<u8>),
    Flags(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

impl ColumnValues {
    pub(super) const fn new(kind: ValueKind) -> Self {
        let values = match kind {
            ValueKind::Text | ValueKind::Cells => TypedValues::Text(Vec::new()),
            ValueKind::Flag => TypedValues::Flags(Vec::new()),
            ValueKind::Int32 { .. } => TypedValues::Int32(Vec::new()),
            ValueKind::Int64 { .. } => TypedValues::Int64(Vec::new()),
            ValueKind::Float => TypedValues::Floats(Vec::new()),
            ValueKind::Double => TypedValues::Doubles(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    /// Takes the values, and leaves room for as many texts.
    pub(super) fn take(&mut self, kind: ValueKind) -> Self {
        let mut next = Self::new(kind);
        next.levels.reserve(self.levels.len());
        if let TypedValues::Text(values) = &mut next.values {
            values.reserve(self.texts().len());
        }
        std::mem::replace(self, next)
    }

    /// Adds the value of a field, or none if that is empty or no value of the column.
    pub(super) fn push(&mut self, kind: ValueKind, text: &[u8], field: Span) {
        let is_there = match (&mut self.values, kind) {
            (TypedValues::Text(values), _) => {
                field.value(text).map(|value| push_text(&value, values)).is_some()
            }
            (TypedValues::Flags(values), _) => field.parsed(text).map(|value| values.push(value)).is_some(),
            (TypedValues::Int32(values), ValueKind::Int32 { is_signed: false }) => {
                field.parsed(text).map(|value: u32| values.push(value.cast_signed())).is_some()
            }
            (TypedValues::Int32(values), _) => field.parsed(text).map(|value| values.push(value)).is_some(),
            (TypedValues::Int64(values), ValueKind::Int64 { is_signed: false }) => {
                field.parsed(text).map(|value: u64| values.push(value.cast_signed())).is_some()
            }
            (TypedValues::Int64(values), _) => field.parsed(text).map(|value| values.push(value)).is_some(),
            (TypedValues::Floats(values), _) => field.parsed(text).map(|value| values.push(value)).is_some(),
            (TypedValues::Doubles(values), _) => field.parsed(text).map(|value| values.push(value)).is_some(),
        };
        self.levels.push(i16::from(is_there));
    }

    /// Adds a row without a value.
    pub(super) fn push_none(&mut self) {
        self.levels.push(0);
    }

    /// The texts as they lie in a page; of other values, nothing.
    pub(super) fn texts(&self) -> &[u8] {
        match &self.values {
            TypedValues::Text(values) => values,
            _ => &[],
        }
    }

    /// Has the values encoded by the library.
    pub(super) fn write(self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = Some(&self.levels[..]);
        let written = match (self.values, writer) {
            (TypedValues::Text(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(&byte_arrays(&values.into()), levels, None)
            }
            (TypedValues::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            (TypedValues::Int32(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            (TypedValues::Int64(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            (TypedValues::Floats(values), ColumnWriter::FloatColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            (TypedValues::Doubles(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(&values, levels, None)
            }
            _ => Err(ParquetError::General("a column changes its type".to_owned())),
        };
        written.map(drop)
    }
}

/// Appends a text behind its length. A field is a part of a chunk of rows, so its length fits.
fn push_text(text: &[u8], out: &mut Vec<u8>) {
    let length = u32::try_from(text.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(text);
}

/// The texts, without a copy.
fn byte_arrays(texts: &Bytes) -> Vec<ByteArray> {
    let mut arrays = Vec::new();
    let mut at = 0;
    while let Some((length, _)) = texts[at..].split_first_chunk::<LENGTH_BYTES>() {
        let begin = at + LENGTH_BYTES;
        at = begin + u32::from_le_bytes(*length) as usize;
        arrays.push(texts.slice(begin..at).into());
    }
    arrays
}
