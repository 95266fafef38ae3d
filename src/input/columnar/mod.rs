//! Parquet files, read as a table of text and kept column by column.
//!
//! | file | what it holds |
//! |---|---|
//! | `pages.rs` | the bytes of pages, with bounds on what their headers claim |
//! | `fields.rs` | values as the fields of a table |
//! | `text.rs` | the rows as text, a heading and a line each |
//!
//! Whatever a file claims is compared with a bound before it is believed, because a few bytes can
//! claim gigabytes. What the library does with damaged bytes beyond that is isolated: a panic of
//! its decoders becomes the error of the file.

mod fields;
mod pages;
mod text;

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;

use parquet::basic::{Compression, Repetition, Type as Physical};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, ParquetMetaDataReader};
use parquet::schema::types::{ColumnDescPtr, Type};

use super::error::LateRefusal;
use crate::pipeline::{Panicked, catch_panic};
use fields::Meaning;
pub use pages::FileBytes;
pub(super) use text::ParquetText;

/// What a file begins and ends with.
pub(super) const MAGIC: &[u8] = b"PAR1";

/// What an encrypted file begins and ends with.
const ENCRYPTED_MAGIC: &[u8] = b"PARE";

/// The longest footer that is read: the description of some 100,000 columns of row groups.
const MAX_FOOTER_BYTES: u32 = 16 << 20;

/// The most columns, counting those in nested ones.
const MAX_COLUMNS: usize = 1024;

/// A Parquet file whose footer has been read.
pub struct ParquetFile {
    bytes: FileBytes,
    metadata: ParquetMetaData,
    columns: Vec<TextColumn>,
}

/// A column that is shown in text.
#[derive(Clone, Debug)]
struct TextColumn {
    name: String,
    /// Which of the columns without further columns in them it is.
    leaf: usize,
    kind: ColumnKind,
}

/// The ways in which values become fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ColumnKind {
    /// One value a row, or none.
    Flat,
    /// A list of numbers a row, such as the cells of a puzzle.
    List {
        /// The definition level of an element that is there.
        present: i16,
        /// That of a list that is there, though it may be empty.
        list: i16,
    },
}

impl ParquetFile {
    /// Reads the footer of a file.
    ///
    /// # Errors
    /// The system's, and a [`LateRefusal`].
    pub(super) fn open(file: File) -> io::Result<Self> {
        let length = file.metadata()?.len();
        let damaged = |why: &str| LateRefusal::error(format!("is a damaged Parquet file: {why}."));
        let mut tail = [0; 8];
        if length < (MAGIC.len() + tail.len()) as u64 {
            return Err(damaged("it is cut short"));
        }
        file.read_exact_at(&mut tail, length - 8)?;
        match &tail[4..] {
            MAGIC => {}
            ENCRYPTED_MAGIC => {
                return Err(LateRefusal::error("is an encrypted Parquet file: write it without encryption."));
            }
            _ => return Err(damaged("its footer is missing, as if it was cut short")),
        }
        let footer_length = u32::from_le_bytes([tail[0], tail[1], tail[2], tail[3]]);
        if footer_length > MAX_FOOTER_BYTES {
            return Err(LateRefusal::error(format!(
                "is a Parquet file with a footer of {footer_length} bytes: at most {MAX_FOOTER_BYTES} are read."
            )));
        }
        let Some(at) = (length - 8).checked_sub(footer_length.into()) else {
            return Err(damaged("its footer is longer than the file"));
        };
        let mut footer = vec![0; footer_length as usize];
        file.read_exact_at(&mut footer, at)?;
        let metadata = isolated(|| ParquetMetaDataReader::decode_metadata(&footer))?;
        let leaves = metadata.file_metadata().schema_descr().num_columns();
        if leaves > MAX_COLUMNS {
            return Err(LateRefusal::error(format!(
                "is a Parquet file of {leaves} columns: at most {MAX_COLUMNS} are read."
            )));
        }
        for (number, group) in (1..).zip(metadata.row_groups()) {
            if group.num_rows() < 0 || group.num_columns() != leaves {
                return Err(damaged(&format!("row group {number} has other columns than the file")));
            }
            for column in group.columns() {
                if column.file_path().is_some() {
                    return Err(LateRefusal::error(
                        "is a Parquet file whose columns are in other files: write them into one.",
                    ));
                }
                let codec = match column.compression() {
                    Compression::BROTLI(_) => "brotli",
                    Compression::LZO => "lzo",
                    _ => "",
                };
                if !codec.is_empty() {
                    return Err(LateRefusal::error(format!(
                        "is a Parquet file compressed by {codec}: write it with zstd or snappy."
                    )));
                }
                let begin = column.dictionary_page_offset().unwrap_or_else(|| column.data_page_offset());
                let end = begin.checked_add(column.compressed_size());
                let is_inside =
                    begin >= 0 && end.is_some_and(|end| begin <= end && end.cast_unsigned() <= at);
                if !is_inside {
                    return Err(damaged(&format!("row group {number} lies outside of it")));
                }
            }
        }
        let columns = isolated(|| Ok(text_columns(&metadata)))?;
        if columns.is_empty() {
            return Err(LateRefusal::error("is a Parquet file without a column of texts, numbers or cells."));
        }
        Ok(Self { bytes: FileBytes::new(file, length), metadata, columns })
    }

    /// What is said of a column that is there and has no text. `None` for any other name.
    pub(super) fn refusal(&self, name: &str) -> Option<String> {
        let is_named = |other: &str| other.eq_ignore_ascii_case(name);
        let root = self.metadata.file_metadata().schema_descr().root_schema();
        let is_there = root.get_fields().iter().any(|field| is_named(field.name()));
        (is_there && !self.columns.iter().any(|column| is_named(&column.name))).then(|| {
            format!(
                "is a Parquet file whose column {name} has a type that is not read: puzzles are texts, bytes or \
                 lists of whole numbers."
            )
        })
    }

    /// The description of the file.
    pub(crate) const fn metadata(&self) -> &ParquetMetaData {
        &self.metadata
    }

    /// Its bytes.
    pub(crate) const fn bytes(&self) -> &FileBytes {
        &self.bytes
    }
}

/// The columns that have a text.
fn text_columns(metadata: &ParquetMetaData) -> Vec<TextColumn> {
    let schema = metadata.file_metadata().schema_descr();
    let mut columns = Vec::new();
    let mut leaf = 0;
    for field in schema.root_schema().get_fields() {
        let leaves = leaf_count(field);
        if leaves == 1 {
            let descr = schema.column(leaf);
            let kind = if field.is_primitive() && descr.max_rep_level() == 0 {
                Some(ColumnKind::Flat)
            } else if descr.max_rep_level() == 1 && is_number(&descr) {
                let present = descr.max_def_level();
                let is_optional = descr.self_type().get_basic_info().has_repetition()
                    && descr.self_type().get_basic_info().repetition() == Repetition::OPTIONAL;
                Some(ColumnKind::List { present, list: present - 1 - i16::from(is_optional) })
            } else {
                None
            };
            columns.extend(kind.map(|kind| TextColumn { name: field.name().to_owned(), leaf, kind }));
        }
        leaf += leaves;
    }
    columns
}

/// Whether a column has integers that mean nothing else, such as times.
fn is_number(descr: &ColumnDescPtr) -> bool {
    matches!(descr.physical_type(), Physical::INT32 | Physical::INT64)
        && matches!(Meaning::of(descr), Meaning::Plain | Meaning::Unsigned)
}

/// The number of columns without further ones in them.
fn leaf_count(field: &Type) -> usize {
    if field.is_primitive() { 1 } else { field.get_fields().iter().map(|field| leaf_count(field)).sum() }
}

fn is_refusal(error: &io::Error) -> bool {
    error.get_ref().is_some_and(<dyn std::error::Error + Send + Sync>::is::<LateRefusal>)
}

/// What the library makes of bytes that may be damaged: its error, or its panic, as a sentence.
pub(crate) fn isolated<T>(work: impl FnOnce() -> Result<T, ParquetError>) -> io::Result<T> {
    let what = match catch_panic(work) {
        Ok(Ok(done)) => return Ok(done),
        Ok(Err(ParquetError::External(cause))) => match cause.downcast::<io::Error>() {
            // The system's errors and our own refusals are no damage; those of decompressors are.
            Ok(error) if error.raw_os_error().is_some() || is_refusal(&error) => return Err(*error),
            Ok(error) => error.to_string(),
            Err(cause) => cause.to_string(),
        },
        Ok(Err(error)) => error.to_string(),
        Err(Panicked) => "its content makes no sense to the decoder".to_owned(),
    };
    // One sentence, whatever the library says.
    let line = what.lines().next().unwrap_or_default();
    let words = match line.split_once(": ").map_or(line, |(_, words)| words).trim_end_matches('.') {
        "" | "failed to fill whole buffer" => "it ends too early, or a length in it is wrong",
        "Page CRC checksum mismatch" => "a page differs from its checksum",
        words => words,
    };
    Err(LateRefusal::error(format!("is a damaged Parquet file: {words}.")))
}

/// A file that a pipe brings: written to an unnamed file first, because reading begins at the end.
///
/// # Errors
/// The system's.
pub(super) fn spooled(mut stream: impl io::Read) -> io::Result<File> {
    let mut file = tempfile::tempfile()?;
    io::copy(&mut stream, &mut file)?;
    Ok(file)
}

/// A shared file.
pub(super) type SharedParquetFile = Arc<ParquetFile>;
