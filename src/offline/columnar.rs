//! Rows of text as a Parquet file: what an input of columns has is copied, what is added is encoded.
//!
//! Rows come as comma-separated values, a heading first. Those columns that the input has as a
//! Parquet file are copied as they are stored, row group by row group, where every row of the input
//! is a row of the output in its place. All others are encoded on threads of their own while answers
//! are still found, so a row group costs what its columns take when they are compressed.

use std::collections::HashSet;
use std::io::{self, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use bytes::Bytes;
use parquet::basic::{Compression, ConvertedType, LogicalType, Repetition, Type as Physical, ZstdLevel};
use parquet::column::page::PageWriter;
use parquet::column::writer::{ColumnCloseResult, ColumnWriter, get_column_writer};
use parquet::data_type::ByteArray;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::{EnabledStatistics, WriterProperties, WriterPropertiesPtr};
use parquet::file::writer::{SerializedFileWriter, SerializedPageWriter, TrackedWrite};
use parquet::schema::types::{ColumnDescPtr, ColumnPath, SchemaDescriptor, Type, TypePtr};

use crate::answer::AddedColumn;
use crate::input::{ParquetFile, isolated};

/// The rows of a group where no group of the input has to be kept.
const GROUP_ROWS: usize = 256 * 1024;

/// The most rows of a group of the input that is kept, because what is added to it is held until
/// its end.
const MAX_GROUP_ROWS: usize = 16 << 20;

/// The threads that encode columns.
const ENCODERS: usize = 2;

/// The batches that wait for a thread.
const BATCHES_AHEAD: usize = 4;

/// A table on its way into a Parquet file.
pub struct ParquetRows<W: Write + Send> {
    kept: Option<Arc<ParquetFile>>,
    /// Whether the columns of the input are copied, or made anew from the text.
    copies: bool,
    /// The fields of the heading that the input has itself.
    own_fields: usize,
    /// Where the file goes, until the table begins.
    out: Option<W>,
    heading: Option<Vec<String>>,
    /// Begun with the first row, because a table without a heading shows its columns there.
    table: Option<ColumnarTable<W>>,
}

/// A table whose heading is known.
struct ColumnarTable<W: Write + Send> {
    writer: SerializedFileWriter<W>,
    columns: Vec<ColumnBuffer>,
    /// The number of columns of the input that rows have, and of those that are added.
    widths: [usize; 2],
    /// Whether the former are copied.
    copies: bool,
    encoders: Vec<Encoder>,
    /// The index of the row group, and the rows in it so far.
    group: usize,
    rows: usize,
}

/// A column that is made from text.
struct ColumnBuffer {
    kind: ValueKind,
    values: ColumnValues,
}

/// The types of values that text becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ValueKind {
    Text,
    Flag,
    Int32 { is_signed: bool },
    Int64 { is_signed: bool },
    Float,
    Double,
}

/// The values of a batch of rows, and which rows have one.
struct ColumnValues {
    levels: Vec<i16>,
    values: TypedValues,
}

enum TypedValues {
    Text(Vec<ByteArray>),
    Flags(Vec<bool>),
    Int32(Vec<i32>),
    Int64(Vec<i64>),
    Floats(Vec<f32>),
    Doubles(Vec<f64>),
}

/// A thread that encodes some of the columns.
struct Encoder {
    jobs: SyncSender<EncoderJob>,
    chunks: Receiver<Result<Vec<EncodedColumn>>>,
}

enum EncoderJob {
    Values(Vec<ColumnValues>),
    /// The end of the row group.
    End,
}

/// The encoded bytes of a column in a row group.
type EncodedColumn = (Bytes, ColumnCloseResult);

impl<W: Write + Send> ParquetRows<W> {
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
        let (text, copied) = (Bytes::copy_from_slice(text), self.copied().cloned());
        let (mut at, mut fields) = (0, Vec::new());
        while at < text.len() {
            at = row(&text, at, &mut fields);
            let Some(heading) = &self.heading else {
                let name = |field: &Span| String::from_utf8_lossy(&field.bytes(&text)).into_owned();
                self.heading = Some(fields.iter().map(name).collect());
                continue;
            };
            if let Some(out) = self.out.take() {
                self.table = Some(self.begin(out, heading, fields.len())?);
            }
            if let Some(table) = &mut self.table {
                table.add(&text, &fields)?;
                if table.rows == group_rows(copied.as_ref(), table.group)? {
                    table.end_group(copied.as_ref())?;
                }
            }
        }
        match &mut self.table {
            Some(table) => table.send(),
            None => Ok(()),
        }
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
        written(table.writer.close().map(drop))
    }

    /// Begins the file with the columns of the heading, and of a row of so many fields.
    fn begin(&self, out: W, heading: &[String], fields: usize) -> io::Result<ColumnarTable<W>> {
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
            types.push(field);
            made.push(kind);
        }
        let schema = Type::group_type_builder("schema").with_fields(types).build();
        let schema = written(schema)?;
        let notes = copied.map_or_else(Vec::new, |file| notes(file));
        let properties = Arc::new(properties(&made, &schema, notes)?);
        let writer = written(SerializedFileWriter::new(out, Arc::new(schema), Arc::clone(&properties)))?;
        let descriptors: Vec<ColumnDescPtr> =
            writer.schema_descr().columns()[copied_leaves..].iter().map(Arc::clone).collect();
        let threads = ENCODERS.min(made.len()).max(1);
        let encoders = (0..threads)
            .map(|thread| {
                let columns = descriptors.iter().skip(thread).step_by(threads).map(Arc::clone).collect();
                Encoder::start(columns, Arc::clone(&properties))
            })
            .collect::<io::Result<_>>()?;
        let columns =
            made.into_iter().map(|kind| ColumnBuffer { kind, values: ColumnValues::new(kind) }).collect();
        let (widths, copies) = ([own, added], self.copies);
        let mut table = ColumnarTable { writer, columns, widths, copies, encoders, group: 0, rows: 0 };
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

fn made_field(name: &str, kind: ValueKind) -> io::Result<(TypePtr, ValueKind)> {
    let physical = match kind {
        ValueKind::Text => Physical::BYTE_ARRAY,
        ValueKind::Flag => Physical::BOOLEAN,
        ValueKind::Int32 { .. } => Physical::INT32,
        ValueKind::Int64 { .. } => Physical::INT64,
        ValueKind::Float => Physical::FLOAT,
        ValueKind::Double => Physical::DOUBLE,
    };
    let logical = (kind == ValueKind::Text).then_some(LogicalType::String);
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

fn properties(made: &[ValueKind], schema: &Type, notes: Vec<KeyValue>) -> io::Result<WriterProperties> {
    let level = written(ZstdLevel::try_new(1))?;
    let mut builder = WriterProperties::builder()
        .set_compression(Compression::ZSTD(level))
        .set_statistics_enabled(EnabledStatistics::Chunk)
        .set_offset_index_disabled(true)
        .set_key_value_metadata((!notes.is_empty()).then_some(notes))
        .set_created_by(concat!("sudoku ", env!("CARGO_PKG_VERSION")).to_owned());
    let fields = schema.get_fields();
    for (field, kind) in fields[fields.len() - made.len()..].iter().zip(made) {
        // Cells hardly ever repeat, and nobody asks for the least of them.
        let has_cells = *kind == ValueKind::Text
            && ["solution", "canonical", "puzzle"].iter().any(|name| field.name().starts_with(name));
        if has_cells {
            let path = ColumnPath::new(vec![field.name().to_owned()]);
            builder = builder
                .set_column_dictionary_enabled(path.clone(), false)
                .set_column_statistics_enabled(path, EnabledStatistics::None);
        }
    }
    Ok(builder.build())
}

/// The rows of a group: those of the input's, where it is kept.
fn group_rows(kept: Option<&Arc<ParquetFile>>, group: usize) -> io::Result<usize> {
    let Some(kept) = kept else { return Ok(GROUP_ROWS) };
    let groups = kept.metadata().row_groups();
    let rows = groups.get(group).map(|group| usize::try_from(group.num_rows()).unwrap_or(usize::MAX));
    match rows {
        Some(rows) if rows <= MAX_GROUP_ROWS => Ok(rows),
        Some(rows) => Err(io::Error::other(format!(
            "the input has a row group of {rows} rows, and at most {MAX_GROUP_ROWS} can be kept: write it \
             with smaller row groups"
        ))),
        None => Err(io::Error::other("there are more rows than the input has")),
    }
}

impl<W: Write + Send> ColumnarTable<W> {
    /// Takes a row.
    fn add(&mut self, text: &Bytes, fields: &[Span]) -> io::Result<()> {
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
                None => column.values.levels.push(0),
            }
        }
        for (column, field) in columns.iter_mut().zip(found) {
            column.values.push(column.kind, text, *field);
        }
        self.rows += 1;
        Ok(())
    }

    /// Hands the values so far to the threads.
    fn send(&mut self) -> io::Result<()> {
        if self.columns.first().is_none_or(|column| column.values.levels.is_empty()) {
            return Ok(());
        }
        let threads = self.encoders.len();
        for (number, encoder) in self.encoders.iter().enumerate() {
            let mine = self.columns.iter_mut().skip(number).step_by(threads);
            let values = mine
                .map(|column| std::mem::replace(&mut column.values, ColumnValues::new(column.kind)))
                .collect();
            encoder.send(EncoderJob::Values(values))?;
        }
        Ok(())
    }

    /// Writes the row group.
    fn end_group(&mut self, kept: Option<&Arc<ParquetFile>>) -> io::Result<()> {
        self.send()?;
        for encoder in &self.encoders {
            encoder.send(EncoderJob::End)?;
        }
        let mut chunks = Vec::new();
        for encoder in &self.encoders {
            chunks.push(encoder.chunks()?.into_iter());
        }
        let (index, rows) = (self.group, self.rows);
        let writer = &mut self.writer;
        let columns = self.columns.len();
        let write = || {
            let mut group = writer.next_row_group()?;
            if let Some(kept) = kept {
                for column in kept.metadata().row_group(index).columns() {
                    let close = ColumnCloseResult {
                        bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                        rows_written: rows as u64,
                        metadata: column.clone(),
                        bloom_filter: None,
                        column_index: None,
                        offset_index: None,
                    };
                    group.append_column(kept.bytes(), close)?;
                }
            }
            for column in 0..columns {
                let threads = chunks.len();
                if let Some((bytes, close)) = chunks[column % threads].next() {
                    group.append_column(&bytes, close)?;
                }
            }
            group.close().map(drop)
        };
        isolated(write).map_err(|error| match error.kind() {
            io::ErrorKind::Other => io::Error::other(format!("the input {error}")),
            _ => error,
        })?;
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

impl Encoder {
    fn start(columns: Vec<ColumnDescPtr>, properties: WriterPropertiesPtr) -> io::Result<Self> {
        let (jobs, received) = sync_channel(BATCHES_AHEAD);
        let (send, chunks) = sync_channel(1);
        thread::Builder::new().name("parquet".to_owned()).spawn(move || {
            // Ends when nobody sends, or nobody receives.
            loop {
                let group = encode_group(&columns, &properties, &received);
                let Some(group) = group.transpose() else { return };
                let is_failed = group.is_err();
                if send.send(group).is_err() || is_failed {
                    return;
                }
            }
        })?;
        Ok(Self { jobs, chunks })
    }

    fn send(&self, job: EncoderJob) -> io::Result<()> {
        match self.jobs.send(job) {
            Ok(()) => Ok(()),
            Err(_) => {
                Err(self.chunks().err().unwrap_or_else(|| io::Error::other("a column was not encoded")))
            }
        }
    }

    fn chunks(&self) -> io::Result<Vec<EncodedColumn>> {
        match self.chunks.recv() {
            Ok(chunks) => written(chunks),
            Err(_) => Err(io::Error::other("a column was not encoded")),
        }
    }
}

/// Encodes a row group of these columns; `None` if it is not sent to its end.
fn encode_group(
    columns: &[ColumnDescPtr],
    properties: &WriterPropertiesPtr,
    jobs: &Receiver<EncoderJob>,
) -> Result<Option<Vec<EncodedColumn>>> {
    let mut sinks: Vec<TrackedWrite<Vec<u8>>> =
        columns.iter().map(|_| TrackedWrite::new(Vec::new())).collect();
    let mut writers: Vec<ColumnWriter<'_>> = columns
        .iter()
        .zip(&mut sinks)
        .map(|(column, sink)| {
            let pages: Box<dyn PageWriter + '_> = Box::new(SerializedPageWriter::new(sink));
            get_column_writer(Arc::clone(column), Arc::clone(properties), pages)
        })
        .collect();
    loop {
        match jobs.recv() {
            Ok(EncoderJob::Values(values)) => {
                for (writer, values) in writers.iter_mut().zip(&values) {
                    values.write(writer)?;
                }
            }
            Ok(EncoderJob::End) => break,
            Err(_) => return Ok(None),
        }
    }
    let closed = writers.into_iter().map(ColumnWriter::close).collect::<Result<Vec<_>>>()?;
    let chunk = |(sink, close): (TrackedWrite<Vec<u8>>, _)| Ok((Bytes::from(sink.into_inner()?), close));
    sinks.into_iter().zip(closed).map(chunk).collect::<Result<Vec<_>>>().map(Some)
}

impl ColumnValues {
    const fn new(kind: ValueKind) -> Self {
        let values = match kind {
            ValueKind::Text => TypedValues::Text(Vec::new()),
            ValueKind::Flag => TypedValues::Flags(Vec::new()),
            ValueKind::Int32 { .. } => TypedValues::Int32(Vec::new()),
            ValueKind::Int64 { .. } => TypedValues::Int64(Vec::new()),
            ValueKind::Float => TypedValues::Floats(Vec::new()),
            ValueKind::Double => TypedValues::Doubles(Vec::new()),
        };
        Self { levels: Vec::new(), values }
    }

    /// Adds the value of a field, or none if that is empty or no value of the column.
    fn push(&mut self, kind: ValueKind, text: &Bytes, field: Span) {
        let is_there = match (&mut self.values, kind) {
            (TypedValues::Text(values), _) => field.value(text).map(|value| values.push(value)).is_some(),
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

    fn write(&self, writer: &mut ColumnWriter<'_>) -> Result<()> {
        let levels = Some(&self.levels[..]);
        let written = match (&self.values, writer) {
            (TypedValues::Text(values), ColumnWriter::ByteArrayColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            (TypedValues::Flags(values), ColumnWriter::BoolColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            (TypedValues::Int32(values), ColumnWriter::Int32ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            (TypedValues::Int64(values), ColumnWriter::Int64ColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            (TypedValues::Floats(values), ColumnWriter::FloatColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            (TypedValues::Doubles(values), ColumnWriter::DoubleColumnWriter(writer)) => {
                writer.write_batch(values, levels, None)
            }
            _ => Err(ParquetError::General("a column changes its type".to_owned())),
        };
        written.map(drop)
    }
}

/// Where in a text a field is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Span {
    begin: usize,
    end: usize,
    /// Whether it has quotes around it, and perhaps doubled ones in it.
    is_quoted: bool,
}

impl Span {
    /// The content.
    fn bytes(self, text: &Bytes) -> Bytes {
        let inner = text.slice(self.begin..self.end);
        if !self.is_quoted {
            return inner;
        }
        let inner = inner.slice(1..inner.len() - 1);
        if memchr::memchr(b'"', &inner).is_none() {
            return inner;
        }
        let mut content = Vec::with_capacity(inner.len());
        let mut is_second = false;
        for &byte in &inner {
            is_second = byte == b'"' && !is_second;
            if !is_second {
                content.push(byte);
            }
        }
        content.into()
    }

    /// The content as a text, if there is any. What is not UTF-8 becomes replacement characters,
    /// because readers refuse other text.
    fn value(self, text: &Bytes) -> Option<ByteArray> {
        let bytes = self.bytes(text);
        if bytes.is_empty() && !self.is_quoted {
            return None;
        }
        Some(match std::str::from_utf8(&bytes) {
            Ok(_) => bytes.into(),
            Err(_) => Bytes::from(String::from_utf8_lossy(&bytes).into_owned()).into(),
        })
    }

    fn parsed<T: std::str::FromStr>(self, text: &Bytes) -> Option<T> {
        std::str::from_utf8(&self.bytes(text)).ok()?.parse().ok()
    }
}

/// Finds the fields of the row at `begin`, and returns the beginning of the next row.
fn row(text: &[u8], begin: usize, fields: &mut Vec<Span>) -> usize {
    fields.clear();
    let line_end = memchr::memchr(b'\n', &text[begin..]).map_or(text.len(), |end| begin + end);
    let end = if text[begin..line_end].ends_with(b"\r") { line_end - 1 } else { line_end };
    let mut at = begin;
    loop {
        let closing = if text[at..end].starts_with(b"\"") { closing_quote(text, at, end) } else { None };
        let from = closing.map_or(at, |closing| closing + 1);
        let field_end = memchr::memchr(b',', &text[from..end]).map_or(end, |comma| from + comma);
        // White space behind the quotes belongs to a field that is not quoted as a whole.
        let is_quoted = closing.is_some_and(|closing| closing + 1 == field_end);
        fields.push(Span { begin: at, end: field_end, is_quoted });
        if field_end == end {
            break;
        }
        at = field_end + 1;
    }
    (line_end + 1).min(text.len())
}

/// The place of the quote that closes the one at `open`.
fn closing_quote(text: &[u8], open: usize, end: usize) -> Option<usize> {
    let mut at = open + 1;
    loop {
        let quote = at + memchr::memchr(b'"', &text[at..end])?;
        if text[..end].get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        at = quote + 2;
    }
}
