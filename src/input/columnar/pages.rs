//! The bytes of pages, with bounds on what their headers claim.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read};
use std::os::unix::fs::FileExt as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use parquet::errors::{ParquetError, Result};
use parquet::file::reader::{ChunkReader, Length};

use crate::input::error::LateRefusal;
use crate::input::file_at::FileAt;

/// The most bytes of pages that are decoded for one batch of rows, of all columns together.
pub(super) const MAX_BATCH_BYTES: u64 = 256 << 20;

/// The most values of lists that are decoded for one batch of rows.
const MAX_BATCH_VALUES: u64 = 64 << 20;

/// The bytes that are read at a time.
const BUFFER_BYTES: usize = 32 * 1024;

/// The content of a file, read at offsets, so that threads do not disturb each other.
#[derive(Clone)]
pub struct FileBytes {
    file: Arc<File>,
    length: u64,
}

impl FileBytes {
    pub(super) fn new(file: File, length: u64) -> Self {
        Self { file: Arc::new(file), length }
    }
}

impl Length for FileBytes {
    fn len(&self) -> u64 {
        self.length
    }
}

impl ChunkReader for FileBytes {
    type T = BufReader<FileAt>;

    fn get_read(&self, start: u64) -> Result<BufReader<FileAt>> {
        Ok(FileAt::buffered(&self.file, start, BUFFER_BYTES))
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        if start.checked_add(length as u64).is_none_or(|end| end > self.length) {
            return Err(ParquetError::EOF("it claims bytes behind its end".to_owned()));
        }
        let mut buffer = vec![0; length];
        self.file.read_exact_at(&mut buffer, start).map_err(external)?;
        Ok(buffer.into())
    }
}

fn external(error: io::Error) -> ParquetError {
    ParquetError::External(Box::new(error))
}

/// What may still be decoded for a batch of rows, shared by the columns of a row group.
#[derive(Default)]
pub(super) struct PageBudget {
    bytes: AtomicU64,
    values: AtomicU64,
}

impl PageBudget {
    /// Begins the next batch.
    pub(super) fn renew(&self) {
        self.bytes.store(0, Ordering::Relaxed);
        self.values.store(0, Ordering::Relaxed);
    }

    /// Counts a page before it is decoded.
    fn take(&self, page: &PageClaim, is_list: bool) -> io::Result<()> {
        let bytes = self.bytes.fetch_add(page.bytes, Ordering::Relaxed).saturating_add(page.bytes);
        if bytes > MAX_BATCH_BYTES {
            return Err(LateRefusal::error(format!(
                "is a Parquet file whose pages take more than {} MiB at once: write it with smaller pages.",
                MAX_BATCH_BYTES >> 20
            )));
        }
        if is_list {
            let values = self.values.fetch_add(page.values, Ordering::Relaxed).saturating_add(page.values);
            if values > MAX_BATCH_VALUES {
                return Err(LateRefusal::error(format!(
                    "is a Parquet file whose lists have more than {MAX_BATCH_VALUES} values at once: write it \
                     with smaller pages."
                )));
            }
        }
        Ok(())
    }
}

/// The pages of one column, each looked at before it is decoded.
pub(super) struct Pages {
    pub(super) bytes: FileBytes,
    pub(super) budget: Arc<PageBudget>,
    pub(super) is_list: bool,
}

impl Length for Pages {
    fn len(&self) -> u64 {
        self.bytes.length
    }
}

impl ChunkReader for Pages {
    type T = PageBytes;

    fn get_read(&self, start: u64) -> Result<PageBytes> {
        let budget = Some(Arc::clone(&self.budget));
        Ok(PageBytes { bytes: self.bytes.get_read(start)?, budget, is_list: self.is_list })
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        self.bytes.get_bytes(start, length)
    }
}

/// The bytes of a page, from its header on.
pub(super) struct PageBytes {
    bytes: BufReader<FileAt>,
    /// What the page is taken from, until its header is read. Behind a header that was peeked at, as
    /// in lists, a reader begins too, of which nothing is read.
    budget: Option<Arc<PageBudget>>,
    is_list: bool,
}

impl Read for PageBytes {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(budget) = self.budget.take() {
            let damaged = || io::Error::new(io::ErrorKind::InvalidData, "the header of a page is damaged");
            budget.take(&PageClaim::of(self.bytes.fill_buf()?).ok_or_else(damaged)?, self.is_list)?;
        }
        self.bytes.read(buffer)
    }
}

/// What the header of a page claims.
#[derive(Debug, PartialEq, Eq)]
struct PageClaim {
    /// Its bytes, as they are stored or decompressed, whichever are more.
    bytes: u64,
    /// Its values, nulls among them.
    values: u64,
}

impl PageClaim {
    /// Reads the beginning of a header, which is in Thrift's compact protocol: the kind of the page
    /// (field 1), its decompressed and stored bytes (2 and 3), perhaps a checksum (4), and a structure
    /// (5 to 8) that begins with the number of values. All writers write fields in this order.
    fn of(header: &[u8]) -> Option<Self> {
        const INTEGER: u8 = 0x15;
        let mut rest = header;
        let kind = integer(&mut rest, INTEGER)?;
        let decompressed = integer(&mut rest, INTEGER)?;
        let stored = integer(&mut rest, INTEGER)?;
        let mut last = 3;
        if rest.first() == Some(&INTEGER) {
            integer(&mut rest, INTEGER)?;
            last = 4;
        }
        let bytes = u64::try_from(decompressed.max(stored)).ok().filter(|_| decompressed.min(stored) >= 0)?;
        let (&begin, rest_of_it) = rest.split_first()?;
        let (field, is_structure) = (last + (begin >> 4), begin & 0xF == 0xC);
        // An index page is passed over.
        let is_index = kind == 1;
        rest = rest_of_it;
        let values = match integer(&mut rest, INTEGER) {
            Some(values) if is_structure && [5, 7, 8].contains(&field) => u64::try_from(values).ok()?,
            _ if is_index => 0,
            _ => return None,
        };
        Some(Self { bytes, values })
    }
}

/// Takes a field that is an integer of 32 bits, behind the one before it.
fn integer(rest: &mut &[u8], header: u8) -> Option<i64> {
    let (&first, mut bytes) = rest.split_first()?;
    if first != header {
        return None;
    }
    let (mut value, mut shift) = (0u64, 0);
    loop {
        let (&byte, behind) = bytes.split_first()?;
        bytes = behind;
        value |= u64::from(byte & 0x7F) << shift;
        shift += 7;
        if byte & 0x80 == 0 {
            break;
        }
        if shift > 35 {
            return None;
        }
    }
    *rest = bytes;
    // Zigzag: the sign is the lowest bit.
    Some((value >> 1).cast_signed() ^ -(value & 1).cast_signed())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_page_claims_is_read_from_its_header() {
        // A data page of 300 bytes, 200 of them stored, with 7 values.
        let plain = [0x15, 0, 0x15, 0xD8, 4, 0x15, 0x90, 3, 0x2C, 0x15, 14, 0];
        let claim = PageClaim { bytes: 300, values: 7 };
        assert_eq!(PageClaim::of(&plain), Some(claim));
        // A dictionary with a checksum.
        let checked = [0x15, 4, 0x15, 0xD8, 4, 0x15, 0x90, 3, 0x15, 1, 0x3C, 0x15, 14, 0];
        assert_eq!(PageClaim::of(&checked), Some(PageClaim { bytes: 300, values: 7 }));
        let negative = [0x15, 0, 0x15, 1, 0x15, 0x90, 3, 0x2C, 0x15, 14, 0];
        assert_eq!(PageClaim::of(&negative), None);
        for length in 0..11 {
            assert_eq!(PageClaim::of(&plain[..length]), None, "{length}");
        }
    }
}
