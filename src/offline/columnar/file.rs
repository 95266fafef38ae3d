//! The thread that writes the file.
//!
//! What is kept of a row group is copied while answers to it are still found, and what is added
//! follows at its end.

use std::collections::VecDeque;
use std::io::{self, BufWriter, Cursor, Read, Write};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread::{self, JoinHandle};

use bytes::{Buf as _, Bytes};
use parquet::column::writer::ColumnCloseResult;
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::reader::{ChunkReader, Length};
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::types::TypePtr;

use super::written;
use crate::input::{ParquetFile, isolated};

/// The bytes that are written at a time.
const WRITE_BYTES: usize = 256 * 1024;

/// A file that a thread writes, row group by row group.
pub(super) struct FileThread {
    /// The added columns of the next row group, or the end of the file.
    groups: SyncSender<Option<Vec<EncodedColumn>>>,
    /// Receives a message for each row group that is written.
    done: Receiver<()>,
    /// Until it has been waited for.
    thread: Option<JoinHandle<io::Result<()>>>,
}

impl FileThread {
    /// Begins a file; the columns of `kept` are copied.
    pub(super) fn start(
        out: impl Write + Send + 'static,
        schema: TypePtr,
        properties: WriterPropertiesPtr,
        kept: Option<Arc<ParquetFile>>,
    ) -> io::Result<Self> {
        // Nothing waits in between, because a row group may take much memory.
        let (groups, received) = sync_channel(0);
        let (is_done, done) = channel();
        let write = move || {
            let out = BufWriter::with_capacity(WRITE_BYTES, out);
            let mut writer = written(SerializedFileWriter::new(out, schema, properties))?;
            if let Some(kept) = kept {
                add_to_groups(&mut writer, &kept, &received, &is_done)?;
            }
            while let Some(columns) = received.recv().map_err(|_| not_written())? {
                let mut group = written(writer.next_row_group())?;
                written(add(&mut group, columns).and_then(|()| group.close()))?;
                writer.flush()?;
                // Nobody waits for it once the run has ended.
                let _ = is_done.send(());
            }
            written(writer.close().map(drop))
        };
        let thread = thread::Builder::new().name("parquet-file".to_owned()).spawn(write)?;
        Ok(Self { groups, done, thread: Some(thread) })
    }

    /// Adds the next row group, or columns to what is kept of it, and waits until they are written,
    /// so that an error ends the run where it happens.
    pub(super) fn add_group(&mut self, columns: Vec<EncodedColumn>) -> io::Result<()> {
        match self.groups.send(Some(columns)) {
            Ok(()) if self.done.recv().is_ok() => Ok(()),
            _ => Err(self.wait().err().unwrap_or_else(not_written)),
        }
    }

    /// Ends the file.
    pub(super) fn finish(mut self) -> io::Result<()> {
        // A thread that does not receive it has failed.
        let _ = self.groups.send(None);
        self.wait()
    }

    fn wait(&mut self) -> io::Result<()> {
        self.thread.take().and_then(|thread| thread.join().ok()).unwrap_or_else(|| Err(not_written()))
    }
}

fn not_written() -> io::Error {
    io::Error::other("a row group was not written")
}

/// Copies what is kept of all row groups that have rows, and adds columns to each.
fn add_to_groups<W: Write + Send>(
    writer: &mut SerializedFileWriter<W>,
    kept: &ParquetFile,
    received: &Receiver<Option<Vec<EncodedColumn>>>,
    is_done: &Sender<()>,
) -> io::Result<()> {
    for kept_group in kept.metadata().row_groups().iter().filter(|group| group.num_rows() > 0) {
        let write = || {
            let mut group = writer.next_row_group()?;
            for column in kept_group.columns() {
                let close = ColumnCloseResult {
                    bytes_written: u64::try_from(column.compressed_size()).unwrap_or(0),
                    rows_written: u64::try_from(kept_group.num_rows()).unwrap_or(0),
                    metadata: column.clone(),
                    bloom_filter: None,
                    column_index: None,
                    offset_index: None,
                };
                group.append_column(kept.bytes(), close)?;
            }
            let Ok(Some(columns)) = received.recv() else { return Ok(false) };
            add(&mut group, columns)?;
            group.close().map(|_| true)
        };
        let is_added = isolated(write).map_err(|error| match error.kind() {
            io::ErrorKind::Other => io::Error::other(format!("the input {error}")),
            _ => error,
        })?;
        if !is_added {
            return Err(io::Error::other("there are fewer rows than the input has"));
        }
        writer.flush()?;
        let _ = is_done.send(());
    }
    Ok(())
}

fn add<W: Write + Send>(
    group: &mut SerializedRowGroupWriter<'_, W>,
    columns: Vec<EncodedColumn>,
) -> Result<()> {
    columns.into_iter().try_for_each(|column| group.append_column(&column.bytes, column.close))
}

/// A column in a row group.
pub(super) struct EncodedColumn {
    pub(super) bytes: ColumnBytes,
    pub(super) close: ColumnCloseResult,
}

/// The bytes of a column in a row group, in pieces.
pub(super) struct ColumnBytes(pub(super) Vec<Bytes>);

impl Length for ColumnBytes {
    fn len(&self) -> u64 {
        self.0.iter().map(|piece| piece.len() as u64).sum()
    }
}

impl ChunkReader for ColumnBytes {
    type T = PiecesInTurn;

    fn get_read(&self, start: u64) -> Result<PiecesInTurn> {
        let mut pieces = PiecesInTurn(self.0.iter().map(|piece| Cursor::new(piece.clone())).collect());
        io::copy(&mut pieces.by_ref().take(start), &mut io::sink())?;
        Ok(pieces)
    }

    fn get_bytes(&self, start: u64, length: usize) -> Result<Bytes> {
        let mut bytes = vec![0; length];
        self.get_read(start)?.read_exact(&mut bytes)?;
        Ok(bytes.into())
    }
}

/// Pieces that are read one after another.
pub(super) struct PiecesInTurn(VecDeque<Cursor<Bytes>>);

impl Read for PiecesInTurn {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.0.front().is_some_and(|piece| !piece.has_remaining()) {
            self.0.pop_front();
        }
        self.0.front_mut().map_or(Ok(0), |piece| piece.read(buffer))
    }
}
