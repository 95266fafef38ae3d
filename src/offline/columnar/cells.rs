//! Columns of cells, page by page.
//!
//! The library would have one thread encode a column, and move each value by itself. Pages of texts
//! that hardly ever repeat are simple, so they are made here, each by any thread, from values that
//! lie as the page has them.

use std::io;
use std::sync::Arc;

use bytes::Bytes;
use parquet::basic::{Compression, Encoding, PageType, ZstdLevel};
use parquet::column::page::{CompressedPage, Page, PageWriter as _};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::{ParquetError, Result};
use parquet::file::metadata::{ColumnChunkMetaData, PageEncodingStats};
use parquet::file::statistics::Statistics;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;
use zstd::bulk::Compressor;
use zstd::zstd_safe::CParameter;

use super::file::{ColumnBytes, EncodedColumn};
use super::values::ColumnValues;

/// The bytes of a page's header, or a few more.
const HEADER_BYTES: usize = 64;

/// An encoder of pages.
pub(super) struct CellEncoder {
    compressor: Compressor<'static>,
    /// The bytes of a page before compression.
    plain: Vec<u8>,
}

/// A page as it stands in a file, behind its header.
pub(super) struct CellPage {
    bytes: Bytes,
    /// The bytes before compression, with the header.
    plain_bytes: usize,
    rows: usize,
    nulls: usize,
}

impl CellEncoder {
    pub(super) fn new() -> io::Result<Self> {
        let mut compressor = Compressor::new(1)?;
        // Digits in no order repeat by chance only, so looking for repetitions takes three quarters of
        // the time of level 1 and gains nothing. With a table this small and matches this long it
        // hardly happens; what makes the pages smaller is the entropy coding.
        compressor.set_parameter(CParameter::HashLog(6))?;
        compressor.set_parameter(CParameter::MinMatch(7))?;
        Ok(Self { compressor, plain: Vec::new() })
    }

    /// Encodes the values of a batch as a page.
    pub(super) fn page(&mut self, values: &ColumnValues) -> Result<CellPage> {
        let (rows, texts) = (values.levels.len(), values.texts());
        self.plain.clear();
        write_levels(&values.levels, &mut self.plain);
        self.plain.extend_from_slice(texts);
        let packed = self.compressor.compress(&self.plain)?;
        // The bytes move into a vector of their length, because they are held.
        let mut sink = TrackedWrite::new(Vec::with_capacity(packed.len() + HEADER_BYTES));
        let page = Page::DataPage {
            buf: packed.into(),
            num_values: u32::try_from(rows).unwrap_or(u32::MAX),
            encoding: Encoding::PLAIN,
            def_level_encoding: Encoding::RLE,
            rep_level_encoding: Encoding::RLE,
            statistics: None,
        };
        let written =
            SerializedPageWriter::new(&mut sink).write_page(CompressedPage::new(page, self.plain.len()))?;
        let nulls = values.levels.iter().filter(|&&level| level == 0).count();
        Ok(CellPage { bytes: sink.into_inner()?.into(), plain_bytes: written.uncompressed_size, rows, nulls })
    }
}

/// Appends definition levels behind their length: one run if all are the same, else one bit each.
fn write_levels(levels: &[i16], out: &mut Vec<u8>) {
    let mut runs = Vec::new();
    let first = levels.first().copied().unwrap_or(0);
    if levels.iter().all(|&level| level == first) {
        write_varint(levels.len() << 1, &mut runs);
        runs.push(u8::from(first != 0));
    } else {
        write_varint((levels.len().div_ceil(8) << 1) | 1, &mut runs);
        let byte =
            |levels: &[i16]| levels.iter().rev().fold(0, |byte, &level| (byte << 1) | u8::from(level != 0));
        runs.extend(levels.chunks(8).map(byte));
    }
    let length = u32::try_from(runs.len()).unwrap_or(u32::MAX);
    out.extend_from_slice(&length.to_le_bytes());
    out.extend_from_slice(&runs);
}

fn write_varint(mut value: usize, out: &mut Vec<u8>) {
    while value > 0x7F {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}

/// Puts the pages of a column in a row group together.
pub(super) fn close_cells(column: &ColumnDescPtr, pages: Vec<CellPage>) -> Result<EncodedColumn> {
    let total = |of: fn(&CellPage) -> usize| pages.iter().map(of).sum::<usize>();
    let (rows, nulls) = (total(|page| page.rows) as u64, total(|page| page.nulls) as u64);
    let (bytes, plain_bytes) = (total(|page| page.bytes.len()), total(|page| page.plain_bytes));
    let stats = PageEncodingStats {
        page_type: PageType::DATA_PAGE,
        encoding: Encoding::PLAIN,
        count: number(pages.len())?,
    };
    let metadata = ColumnChunkMetaData::builder(Arc::clone(column))
        // The level is not noted.
        .set_compression(Compression::ZSTD(ZstdLevel::default()))
        .set_encodings(vec![Encoding::PLAIN, Encoding::RLE])
        .set_page_encoding_stats(vec![stats])
        .set_total_compressed_size(number(bytes)?)
        .set_total_uncompressed_size(number(plain_bytes)?)
        .set_num_values(number(rows)?)
        // Nobody asks for the least of cells.
        .set_statistics(Statistics::byte_array(None, None, None, Some(nulls), false))
        .build()?;
    let close = ColumnCloseResult {
        bytes_written: bytes as u64,
        rows_written: rows,
        metadata,
        bloom_filter: None,
        column_index: None,
        offset_index: None,
    };
    Ok(EncodedColumn { bytes: ColumnBytes(pages.into_iter().map(|page| page.bytes).collect()), close })
}

/// A number as the metadata has it.
fn number<T, U: TryFrom<T>>(number: T) -> Result<U> {
    U::try_from(number).map_err(|_| ParquetError::General("a column is too long".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_one_run_or_a_bit_each() {
        let levels = |levels: &[i16]| {
            let mut out = Vec::new();
            write_levels(levels, &mut out);
            out
        };
        assert_eq!(levels(&[1; 300]), [3, 0, 0, 0, 0xD8, 4, 1]);
        assert_eq!(levels(&[0; 3]), [2, 0, 0, 0, 6, 0]);
        assert_eq!(levels(&[1, 0, 1, 1, 0, 0, 0, 0, 1]), [3, 0, 0, 0, 5, 0b0000_1101, 1]);
    }
}
