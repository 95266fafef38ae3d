//! The rows of a Parquet file as comma-separated values: a heading, and a line a row.

use std::io::{self, Read};
use std::sync::Arc;

use parquet::column::reader::{ColumnReader, ColumnReaderImpl, get_column_reader};
use parquet::data_type::{ByteArray, DataType, FixedLenByteArray, Int96};
use parquet::errors::{ParquetError, Result};
use parquet::file::serialized_reader::SerializedPageReader;
use parquet::schema::types::ColumnDescPtr;

use super::fields::{
    Meaning, NumberList, is_puzzle, write_array, write_bytes, write_int96, write_integer, write_plain,
    write_puzzle, write_text,
};
use super::pages::{PageBudget, Pages};
use super::{ColumnKind, SharedParquetFile, TextColumn, isolated};
use crate::counted::counted;

/// The rows that are decoded at a time.
const BATCH_ROWS: usize = 2048;

/// The text of a file, decoded as it is read.
pub(crate) struct ParquetText {
    file: SharedParquetFile,
    /// The number of the next row group.
    next_group: usize,
    group: Option<RowGroup>,
    /// For each column whether its lists are puzzles, once some of them have been seen.
    has_puzzles: Vec<Option<bool>>,
    /// Text to be handed out, from `at` on.
    text: Vec<u8>,
    at: usize,
    /// The error behind the text that was handed out last.
    failure: Option<io::Error>,
}

/// A row group that is being decoded.
struct RowGroup {
    number: usize,
    budget: Arc<PageBudget>,
    columns: Vec<ParquetColumn>,
    rows: usize,
    /// The rows that have not been read.
    left: usize,
}

/// A column of it.
struct ParquetColumn {
    reader: ColumnReader,
    values: PageValues,
    descr: ColumnDescPtr,
    kind: ColumnKind,
    meaning: Meaning,
    definitions: Vec<i16>,
    repetitions: Vec<i16>,
    /// The list that was read last.
    list: NumberList,
    /// The next value and the next level to write.
    value: usize,
    level: usize,
}

/// The values of a batch.
enum PageValues {
    Flags(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Int96(Vec<Int96>),
    Float(Vec<f32>),
    Double(Vec<f64>),
    Bytes(Vec<ByteArray>),
    Fixed(Vec<FixedLenByteArray>),
}

impl ParquetText {
    pub(crate) fn new(file: SharedParquetFile) -> Self {
        let mut text = Vec::new();
        for (index, column) in file.columns.iter().enumerate() {
            if index > 0 {
                text.push(b',');
            }
            write_text(column.name.as_bytes(), &mut text);
        }
        text.push(b'\n');
        let has_puzzles = vec![None; file.columns.len()];
        Self { file, next_group: 0, group: None, has_puzzles, text, at: 0, failure: None }
    }

    /// Decodes on until there is text to hand out, or the end.
    fn advance(&mut self) -> io::Result<()> {
        self.text.clear();
        self.at = 0;
        while self.text.is_empty() {
            if let Some(group) = &mut self.group {
                let (text, done) = (&mut self.text, group.left == 0);
                if !done {
                    let decoded = isolated(|| group.decode(&mut self.has_puzzles, text));
                    if decoded.is_err() {
                        self.text.clear();
                    }
                    decoded?;
                    continue;
                }
                self.group = None;
            }
            if self.next_group == self.file.metadata.num_row_groups() {
                return Ok(());
            }
            let (file, number) = (&self.file, self.next_group);
            self.group = Some(isolated(|| RowGroup::open(file, number))?);
            self.next_group += 1;
        }
        Ok(())
    }
}

impl Read for ParquetText {
    /// Fills the buffer, because what is read at a time is answered at a time.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(failure) = self.failure.take() {
            return Err(failure);
        }
        let mut length = 0;
        while length < buffer.len() {
            if self.at == self.text.len() {
                match self.advance() {
                    Ok(()) if self.text.is_empty() => break,
                    Ok(()) => {}
                    Err(failure) if length == 0 => return Err(failure),
                    Err(failure) => {
                        self.failure = Some(failure);
                        break;
                    }
                }
            }
            let copied = (&self.text[self.at..]).read(&mut buffer[length..])?;
            self.at += copied;
            length += copied;
        }
        Ok(length)
    }
}

impl RowGroup {
    fn open(file: &SharedParquetFile, index: usize) -> Result<Self> {
        let group = file.metadata.row_group(index);
        let rows = file.metadata.row_group_num_rows(index)?;
        let budget = Arc::new(PageBudget::default());
        let open = |column: &TextColumn| {
            let is_list = column.kind != ColumnKind::Flat;
            let pages = Pages { bytes: file.bytes.clone(), budget: Arc::clone(&budget), is_list };
            let chunk = group.column(column.leaf);
            let pages = SerializedPageReader::new(Arc::new(pages), chunk, rows, None)?;
            let descr = chunk.column_descr_ptr();
            let reader = get_column_reader(Arc::clone(&descr), Box::new(pages));
            Ok(ParquetColumn {
                values: PageValues::of(&reader),
                reader,
                kind: column.kind,
                meaning: Meaning::of(&descr),
                descr,
                definitions: Vec::new(),
                repetitions: Vec::new(),
                list: NumberList::new(),
                value: 0,
                level: 0,
            })
        };
        let columns = file.columns.iter().map(open).collect::<Result<_>>()?;
        Ok(Self { number: index + 1, budget, columns, rows, left: rows })
    }

    /// Appends the text of the next rows.
    fn decode(&mut self, has_puzzles: &mut [Option<bool>], text: &mut Vec<u8>) -> Result<()> {
        self.budget.renew();
        let wanted = self.left.min(BATCH_ROWS);
        let (number, rows) = (self.number, self.rows);
        for column in &mut self.columns {
            let read = column.read(wanted)?;
            if read != wanted {
                let before = rows - self.left + read;
                let rows = counted(rows as u64, "row");
                return Err(ParquetError::General(format!(
                    "row group {number} promises {rows}, and a column of it ends after {before}"
                )));
            }
        }
        for (column, has_puzzles) in self.columns.iter_mut().zip(&mut *has_puzzles) {
            if has_puzzles.is_none() {
                *has_puzzles = column.has_puzzles(wanted)?;
            }
        }
        for _ in 0..wanted {
            let begin = text.len();
            for (index, column) in self.columns.iter_mut().enumerate() {
                if index > 0 {
                    text.push(b',');
                }
                column.write(has_puzzles[index] != Some(false), text)?;
            }
            // A line that is blank would be no row.
            if text.len() == begin {
                text.extend_from_slice(b"\"\"");
            }
            text.push(b'\n');
        }
        self.left -= wanted;
        if self.left == 0 {
            for column in &mut self.columns {
                if column.read(1)? != 0 {
                    let rows = counted(rows as u64, "row");
                    return Err(ParquetError::General(format!(
                        "row group {number} promises {rows}, and a column of it has more"
                    )));
                }
            }
        }
        Ok(())
    }
}

impl PageValues {
    const fn of(reader: &ColumnReader) -> Self {
        match reader {
            ColumnReader::BoolColumnReader(_) => Self::Flags(Vec::new()),
            ColumnReader::Int32ColumnReader(_) => Self::Int32(Vec::new()),
            ColumnReader::Int64ColumnReader(_) => Self::Int64(Vec::new()),
            ColumnReader::Int96ColumnReader(_) => Self::Int96(Vec::new()),
            ColumnReader::FloatColumnReader(_) => Self::Float(Vec::new()),
            ColumnReader::DoubleColumnReader(_) => Self::Double(Vec::new()),
            ColumnReader::ByteArrayColumnReader(_) => Self::Bytes(Vec::new()),
            ColumnReader::FixedLenByteArrayColumnReader(_) => Self::Fixed(Vec::new()),
        }
    }

    /// The value at an index as an integer, if it is one; of one with 64 bits and no sign, the bits.
    fn integer(&self, index: usize, meaning: Meaning) -> Option<i64> {
        match self {
            Self::Int32(values) if meaning == Meaning::Unsigned => {
                values.get(index).map(|value| value.cast_unsigned().into())
            }
            Self::Int32(values) => values.get(index).map(|&value| value.into()),
            Self::Int64(values) => values.get(index).copied(),
            _ => None,
        }
    }
}

/// Reads rows into cleared buffers, and returns their number.
fn read<T: DataType>(
    reader: &mut ColumnReaderImpl<T>,
    values: &mut Vec<T::T>,
    [definitions, repetitions]: [&mut Vec<i16>; 2],
    rows: usize,
) -> Result<usize> {
    values.clear();
    let (read, _, _) = reader.read_records(rows, Some(definitions), Some(repetitions), values)?;
    Ok(read)
}

impl ParquetColumn {
    fn read(&mut self, rows: usize) -> Result<usize> {
        self.definitions.clear();
        self.repetitions.clear();
        (self.value, self.level) = (0, 0);
        let levels = [&mut self.definitions, &mut self.repetitions];
        let mismatch = || ParquetError::General("a column changes its type".to_owned());
        match (&mut self.reader, &mut self.values) {
            (ColumnReader::BoolColumnReader(reader), PageValues::Flags(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::Int32ColumnReader(reader), PageValues::Int32(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::Int64ColumnReader(reader), PageValues::Int64(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::Int96ColumnReader(reader), PageValues::Int96(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::FloatColumnReader(reader), PageValues::Float(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::DoubleColumnReader(reader), PageValues::Double(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::ByteArrayColumnReader(reader), PageValues::Bytes(values)) => {
                read(reader, values, levels, rows)
            }
            (ColumnReader::FixedLenByteArrayColumnReader(reader), PageValues::Fixed(values)) => {
                read(reader, values, levels, rows)
            }
            _ => Err(mismatch()),
        }
    }

    /// Whether most lists of the batch are puzzles. `None` if there are no lists.
    fn has_puzzles(&mut self, rows: usize) -> Result<Option<bool>> {
        let ColumnKind::List { .. } = self.kind else { return Ok(None) };
        let (mut lists, mut puzzles) = (0, 0);
        for _ in 0..rows {
            self.next_list()?;
            lists += usize::from(!self.list.is_empty());
            puzzles += usize::from(is_puzzle(&self.list, self.meaning));
        }
        // Nothing of the batch has been written yet.
        (self.value, self.level) = (0, 0);
        Ok((lists > 0).then_some(2 * puzzles > lists))
    }

    /// Appends the field of the next row; nothing for a null.
    fn write(&mut self, has_puzzles: bool, text: &mut Vec<u8>) -> Result<()> {
        match self.kind {
            ColumnKind::Flat => {
                let most = self.descr.max_def_level();
                let is_there = most == 0 || self.definitions.get(self.level) == Some(&most);
                self.level += 1;
                if is_there {
                    self.write_value(text).ok_or_else(|| missing("values"))?;
                    self.value += 1;
                }
            }
            ColumnKind::List { .. } => {
                let is_there = self.next_list()?;
                if has_puzzles {
                    write_puzzle(&self.list, self.meaning, text);
                } else if is_there {
                    write_array(&self.list, self.meaning, text);
                }
            }
        }
        Ok(())
    }

    /// Reads the list of the next row, and returns whether it has one.
    fn next_list(&mut self) -> Result<bool> {
        self.list.clear();
        let ColumnKind::List { present, list } = self.kind else { return Ok(false) };
        let first = *self.definitions.get(self.level).ok_or_else(|| missing("lists"))?;
        loop {
            match self.definitions.get(self.level) {
                Some(&level) if level == present => {
                    let number = self.values.integer(self.value, self.meaning);
                    self.list.push(Some(number.ok_or_else(|| missing("values"))?));
                    self.value += 1;
                }
                Some(&level) if level > list => self.list.push(None),
                _ => {}
            }
            self.level += 1;
            if self.repetitions.get(self.level).is_none_or(|&repetition| repetition == 0) {
                break;
            }
        }
        Ok(first >= list)
    }

    /// Appends the next value.
    fn write_value(&self, text: &mut Vec<u8>) -> Option<()> {
        let (at, meaning) = (self.value, self.meaning);
        match &self.values {
            PageValues::Flags(values) => write_plain(values.get(at)?, text),
            PageValues::Int32(values) => {
                let &value = values.get(at)?;
                write_integer(value.into(), value.cast_unsigned().into(), meaning, text);
            }
            PageValues::Int64(values) => {
                let &value = values.get(at)?;
                write_integer(value, value.cast_unsigned(), meaning, text);
            }
            PageValues::Int96(values) => write_int96(values.get(at)?, text),
            PageValues::Float(values) => write_plain(values.get(at)?, text),
            PageValues::Double(values) => write_plain(values.get(at)?, text),
            PageValues::Bytes(values) => write_bytes(values.get(at)?, meaning, text),
            PageValues::Fixed(values) => write_bytes(values.get(at)?, meaning, text),
        }
        Some(())
    }
}

fn missing(what: &str) -> ParquetError {
    ParquetError::General(format!("a column has fewer {what} than it promises"))
}
