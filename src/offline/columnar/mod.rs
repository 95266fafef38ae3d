//! Rows of text as a Parquet file: what an input of columns has is copied, what is added is encoded.
//!
//! | file | what it holds |
//! |---|---|
//! | `fields.rs` | the fields of a row |
//! | `values.rs` | the values that they become |
//! | `encoder.rs` | the threads that encode them |
//! | `cells.rs` | columns of cells, page by page |
//! | `file.rs` | the thread that writes the file |
//!
//! Rows come as comma-separated values, a heading first. Those columns that the input has as a
//! Parquet file are copied as they are stored, row group by row group, where every row of the input
//! is a row of the output in its place. All others are encoded on threads of their own while answers
//! are still found.

mod cells;
mod encoder;
mod fields;
mod file;
mod values;

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;

use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{KeyValue, RowGroupMetaData};
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use parquet::schema::types::{SchemaDescriptor, Type, TypePtr};

use crate::answer::AddedColumn;
use crate::input::ParquetFile;
use encoder::Encoders;
use fields::{Span, row};
use file::FileThread;
use values::{ColumnValues, ValueKind};

/// The rows of a group where no group of the input has to be kept.
const GROUP_ROWS: usize = 256 * 1024;

/// The most rows of a group of the input that is kept, because what is added to it is held until
/// its end.
const MAX_GROUP_ROWS: usize = 16 << 20;

/// The bytes of rows that are encoded at a time. Where a batch ends depends on nothing else.
const BATCH_BYTES: usize = 1 << 20;

/// A table on its way into a Parquet file.
pub struct ParquetRows<W> {
    kept: Option<Arc<ParquetFile>>,
    /// Whether the columns of the input are copied, or made anew from the text.
    copies: bool,
    /// The fields of the heading that the input has itself.
    own_fields: usize,
    /// Where the file goes, until the table begins.
    out: Option<W>,
    heading: Option<Vec<String>>,
    /// Begun with the first row, because a table without a heading shows its columns there.
    table: Option<ColumnarTable>,
}

/// A table whose heading is known.
struct ColumnarTable {
    file: FileThread,
    columns: Vec<ColumnBuffer>,
    /// The number of columns of the input that rows have, and of those that are added.
    widths: [usize; 2],
    /// Whether the former are copied.
    copies: bool,
    encoders: Encoders,
    /// The bytes of the rows that have not been handed over.
    batch_bytes: usize,
    /// The index of the row group, and the rows in it so far.
    group: usize,
    rows: usize,
}

/// A column that is made from text.
struct ColumnBuffer {
    kind: ValueKind,
    values: ColumnValues,
}

impl<W: Write + Send + 'static> ParquetRows<W> {
    /// A table that is written to `out`. `own_fields` is the number of fields that rows have from
    /// the input; `kept` is the input, if it is a Parquet file. Its columns are copied if
    /// `keeps_rows`: each of its rows is one of the output, in order.
    pub fn new(out: W, kept: Option<Arc<ParquetFile>>, own_fields: usize, keeps_rows: bool) -> Self {
        let copies = keeps_rows && kept.is_some();
        Self { kept, copies, own_fields, out: Some(out), heading: None, table: None }
    }

    /// Takes whole rows; the first of all is the heading.
    ///
    /// # Errors
    /// Those of writing, and of an input that is damaged.
    pub fn write(&mut self, text: &[u8]) -> io::Result<()> {
        let copied = self.copied().cloned();
        let (mut at, mut fields) = (0, Vec::new());
        while at < text.len() {
            let begin = at;
            at = row(text, at, &mut fields);
            let Some(heading) = &self.heading else {
                let name = |field: &Span| String::from_utf8_lossy(&field.bytes(text)).into_owned();
                self.heading = Some(fields.iter().map(name).collect());
                continue;
            };
            if let Some(out) = self.out.take() {
                self.table = Some(self.begin(out, heading, fields.len())?);
            }
            if let Some(table) = &mut self.table {
                table.add(text, &fields, at - begin)?;
                if table.rows == group_rows(copied.as_ref(), table.group)? {
                    table.end_group(copied.as_ref())?;
                }
            }
        }
        Ok(())
    }

    /// Ends the file.
    ///
    /// # Errors
    /// Those of [`Self::write`].
    pub fn finish(mut self) -> io::Result<()> {
        if let (Some(heading), Some(out)) = (&self.heading, self.out.take()) {
            self.table = Some(self.begin(out, heading, heading.len())?);
        }
        let Some(mut table) = self.table.take() else { return Ok(()) };
        if table.rows > 0 {
            table.end_group(self.copied())?;
        }
        table.file.finish()
    }

    /// Begins the file with the columns of the heading, and of a row of so many fields.
    fn begin(&self, out: W, heading: &[String], fields: usize) -> io::Result<ColumnarTable> {
        let mut heading = heading.to_vec();
        let added = heading.len() - self.own_fields.min(heading.len());
        // A table without a heading has one for what is added only.
        let own = if self.own_fields == 0 { fields.saturating_sub(added) } else { self.own_fields };
        for number in heading.len()..own + added {
            let index = number - added;
            heading.insert(index, format!("column_{}", index + 1));
        }
        let (mut types, mut made) = (Vec::new(), Vec::new());
        let mut taken = HashSet::new();
        let copied = self.copied();
        let schema = copied.map(|file| file.metadata().file_metadata().schema_descr());
        for field in schema.map_or(&[][..], |schema| schema.root_schema().get_fields()) {
            taken.insert(field.name().to_owned());
            types.push(Arc::clone(field));
        }
        let copied_leaves = schema.map_or(0, SchemaDescriptor::num_columns);
        for (index, name) in heading.iter().enumerate() {
            if index < own && self.copies {
                continue;
            }
            let mut free = name.clone();
            for number in 2.. {
                if taken.insert(free.clone()) {
                    break;
                }
                free = format!("{name}_{number}");
            }
            let input = self.kept.as_ref().filter(|_| index < own).and_then(|kept| field_of(kept, name));
            let (field, kind) = match input {
                Some(found) => found,
                None if index < own => made_field(&free, ValueKind::Text)?,
                None => made_field(&free, kind_of(name))?,
            };
            made.push(if kind == ValueKind::Text && has_cells(field.name()) {
                ValueKind::Cells
            } else {
                kind
            });
            types.push(field);
        }
        let schema = Type::group_type_builder("schema").with_fields(types).build();
        let schema = Arc::new(written(schema)?);
        let notes = copied.map_or_else(Vec::new, |file| notes(file));
        let properties = Arc::new(properties(notes)?);
        let descriptors = SchemaDescriptor::new(Arc::clone(&schema));
        let descriptors = descriptors.columns()[copied_leaves..].iter().map(Arc::clone);
        copied.map_or(Ok(()), |kept| check_groups(kept))?;
        let encoders = Encoders::start(descriptors.zip(made.iter().copied()).collect(), &properties)?;
        let file = FileThread::start(out, schema, properties, copied.cloned())?;
        let columns =
            made.into_iter().map(|kind| ColumnBuffer { kind, values: ColumnValues::new(kind) }).collect();
        let (widths, copies) = ([own, added], self.copies);
        let mut table =
            ColumnarTable { file, columns, widths, copies, encoders, batch_bytes: 0, group: 0, rows: 0 };
        table.skip_empty_groups(copied);
        Ok(table)
    }

    /// The input, if its columns are copied.
    fn copied(&self) -> Option<&Arc<ParquetFile>> {
        self.kept.as_ref().filter(|_| self.copies)
    }
}

/// The field of an input's column, and how its text is read back; `None` for what has no simple
/// type.
fn field_of(kept: &ParquetFile, name: &str) -> Option<(TypePtr, ValueKind)> {
    let root = kept.metadata().file_metadata().schema_descr().root_schema();
    let field = root.get_fields().iter().find(|field| field.name() == name)?;
    if !field.is_primitive() || field.get_basic_info().repetition() == Repetition::REPEATED {
        return None;
    }
    let info = field.get_basic_info();
    let is_signed = match info.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => integer.is_signed,
        None => match info.converted_type() {
            ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64 => false,
            ConvertedType::NONE
            | ConvertedType::INT_8
            | ConvertedType::INT_16
            | ConvertedType::INT_32
            | ConvertedType::INT_64 => true,
            _ => return None,
        },
        Some(LogicalType::String) => return made_field(name, ValueKind::Text).ok(),
        Some(_) => return None,
    };
    let kind = match field.get_physical_type() {
        Physical::BOOLEAN => ValueKind::Flag,
        Physical::INT32 => ValueKind::Int32 { is_signed },
        Physical::INT64 => ValueKind::Int64 { is_signed },
        Physical::FLOAT => ValueKind::Float,
        Physical::DOUBLE => ValueKind::Double,
        _ => return None,
    };
    let optional = Type::primitive_type_builder(name, field.get_physical_type())
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(info.logical_type_ref().cloned())
        .with_converted_type(info.converted_type())
        .build();
    Some((Arc::new(optional.ok()?), kind))
}

/// The type of a column that is added.
fn kind_of(name: &str) -> ValueKind {
    /// Columns of counts, places and ratings, by what commands add.
    const NUMBERS: &[&str] = &["line", "row", "column", "steps", "automorphisms", "number"];
    const RATINGS: &[&str] = &["er", "ep", "ed"];
    // A name that the input has already got a number.
    let is_number = |end: &str| end.parse::<u32>().is_ok();
    let name = name.rsplit_once('_').filter(|(_, end)| is_number(end)).map_or(name, |(name, _)| name);
    match name.parse() {
        Ok(AddedColumn::Solutions | AddedColumn::Clues | AddedColumn::Nodes | AddedColumn::Guesses) => {
            ValueKind::Int64 { is_signed: true }
        }
        Ok(AddedColumn::Minimal) => ValueKind::Flag,
        Ok(AddedColumn::Rating) => ValueKind::Double,
        Ok(AddedColumn::Solution | AddedColumn::Error | AddedColumn::Technique | AddedColumn::Canonical) => {
            ValueKind::Text
        }
        Err(_) if NUMBERS.contains(&name) => ValueKind::Int64 { is_signed: true },
        Err(_) if RATINGS.contains(&name) => ValueKind::Double,
        Err(_) => ValueKind::Text,
    }
}

/// Whether a column of this name has the cells of puzzles.
fn has_cells(name: &str) -> bool {
    ["solution", "canonical", "puzzle"].iter().any(|begin| name.starts_with(begin))
}

fn made_field(name: &str, kind: ValueKind) -> io::Result<(TypePtr, ValueKind)> {
    let physical = match kind {
        ValueKind::Text | ValueKind::Cells => Physical::BYTE_ARRAY,
        ValueKind::Flag => Physical::BOOLEAN,
        ValueKind::Int32 { .. } => Physical::INT32,
        ValueKind::Int64 { .. } => Physical::INT64,
        ValueKind::Float => Physical::FLOAT,
        ValueKind::Double => Physical::DOUBLE,
    };
    let logical = (physical == Physical::BYTE_ARRAY).then_some(LogicalType::String);
    let field = Type::primitive_type_builder(name, physical)
        .with_repetition(Repetition::OPTIONAL)
        .with_logical_type(logical)
        .build();
    Ok((Arc::new(written(field)?), kind))
}

/// What other programs have noted in a file, such as pandas which column is the index. The schema of
/// Arrow is left out, because it describes no column that is added.
fn notes(kept: &ParquetFile) -> Vec<KeyValue> {
    const ARROW_SCHEMA: &str = "ARROW:schema";
    let notes = kept.metadata().file_metadata().key_value_metadata().into_iter().flatten();
    notes.filter(|note| note.key != ARROW_SCHEMA).cloned().collect()
}

fn properties(notes: Vec<KeyValue>) -> io::Result<WriterProperties> {
    let level = written(ZstdLevel::try_new(1))?;
    let builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata((!notes.is_empty()).then_some(notes))
        .set_created_by(concat!("sudoku ", env!("CARGO_PKG_VERSION")).to_owned());
    Ok(builder.build())
}

/// Checks that the row groups of the input can be kept.
fn check_groups(kept: &ParquetFile) -> io::Result<()> {
    let rows = |group: &RowGroupMetaData| usize::try_from(group.num_rows()).unwrap_or(usize::MAX);
    match kept.metadata().row_groups().iter().map(rows).find(|&rows| rows > MAX_GROUP_ROWS) {
        None => Ok(()),
        Some(rows) => Err(io::Error::other(format!(
            "the input has a row group of {rows} rows, and at most {MAX_GROUP_ROWS} can be kept: write it \
             with smaller row groups"
        ))),
    }
}

/// The rows of a group: those of the input's, where it is kept.
fn group_rows(kept: Option<&Arc<ParquetFile>>, group: usize) -> io::Result<usize> {
    let Some(kept) = kept else { return Ok(GROUP_ROWS) };
    let group = kept.metadata().row_groups().get(group);
    group
        .and_then(|group| usize::try_from(group.num_rows()).ok())
        .ok_or_else(|| io::Error::other("there are more rows than the input has"))
}

impl ColumnarTable {
    /// Takes a row, which has so many bytes.
    fn add(&mut self, text: &[u8], fields: &[Span], bytes: usize) -> io::Result<()> {
        let [own, added] = self.widths;
        let (kept, found) = fields.split_at(fields.len().saturating_sub(added));
        if kept.len() > own {
            return Err(io::Error::other(format!(
                "a row has {} fields, and the first one {own}, so there is no column for the rest: write csv \
                 instead",
                kept.len()
            )));
        }
        let (owned, columns) = self.columns.split_at_mut(if self.copies { 0 } else { own });
        for (index, column) in owned.iter_mut().enumerate() {
            match kept.get(index) {
                Some(field) => column.values.push(column.kind, text, *field),
                None => column.values.push_none(),
            }
        }
        for (column, field) in columns.iter_mut().zip(found) {
            column.values.push(column.kind, text, *field);
        }
        self.rows += 1;
        self.batch_bytes += bytes;
        if self.batch_bytes < BATCH_BYTES { Ok(()) } else { self.send() }
    }

    /// Hands the values so far to the threads.
    fn send(&mut self) -> io::Result<()> {
        self.batch_bytes = 0;
        self.encoders.send(self.columns.iter_mut().map(|column| column.values.take(column.kind)))
    }

    /// Ends the row group.
    fn end_group(&mut self, kept: Option<&Arc<ParquetFile>>) -> io::Result<()> {
        if self.batch_bytes > 0 {
            self.send()?;
        }
        self.file.add_group(self.encoders.end_group()?)?;
        self.group += 1;
        self.rows = 0;
        self.skip_empty_groups(kept);
        Ok(())
    }

    /// Passes over groups of the input without a row.
    fn skip_empty_groups(&mut self, kept: Option<&Arc<ParquetFile>>) {
        let groups = kept.map_or(&[][..], |kept| kept.metadata().row_groups());
        while groups.get(self.group).is_some_and(|group| group.num_rows() == 0) {
            self.group += 1;
        }
    }
}

/// The result of writing, with an error of the system's as it is.
fn written<T>(result: Result<T>) -> io::Result<T> {
    result.map_err(|error| match error {
        ParquetError::External(cause) => match cause.downcast::<io::Error>() {
            Ok(error) => *error,
            Err(cause) => io::Error::other(cause),
        },
        other => io::Error::other(other),
    })
}
