//! Threads that encode columns while answers are still found.
//!
//! Which thread encodes what depends on nothing but the rows before it, and so does the end of a
//! batch. So the bytes of a file are the same, however the rows come.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use parquet::column::page::PageWriter;
use parquet::column::writer::{ColumnWriter, get_column_writer};
use parquet::errors::Result;
use parquet::file::properties::WriterPropertiesPtr;
use parquet::file::writer::{SerializedPageWriter, TrackedWrite};
use parquet::schema::types::ColumnDescPtr;

use super::cells::{CellEncoder, CellPage, close_cells};
use super::file::{ColumnBytes, EncodedColumn};
use super::values::{ColumnValues, ValueKind};
use super::written;

/// The threads that encode columns.
const ENCODERS: usize = 2;

/// The batches that wait for a thread.
const BATCHES_AHEAD: usize = 4;

/// The threads that encode the columns of a table, row group by row group. Pages of cells go to all
/// of them in turns; every other column has one thread.
pub(super) struct Encoders {
    threads: Vec<Encoder>,
    columns: Vec<(ColumnDescPtr, ValueKind)>,
    /// The pages of cells in the row group so far.
    pages: usize,
}

/// A thread that encodes.
struct Encoder {
    jobs: SyncSender<EncoderJob>,
    groups: Receiver<Result<EncodedGroup>>,
}

enum EncoderJob {
    /// Values of the columns that the thread has.
    Values(Vec<ColumnValues>),
    /// Values of a column of cells.
    Page(ColumnValues),
    /// The end of the row group.
    End,
}

/// What a thread has encoded of a row group.
struct EncodedGroup {
    columns: Vec<EncodedColumn>,
    pages: Vec<CellPage>,
}

impl Encoders {
    pub(super) fn start(
        columns: Vec<(ColumnDescPtr, ValueKind)>,
        properties: &WriterPropertiesPtr,
    ) -> io::Result<Self> {
        let threads = (0..ENCODERS)
            .map(|thread| {
                let whole = columns.iter().filter(|(_, kind)| *kind != ValueKind::Cells);
                let mine = whole.skip(thread).step_by(ENCODERS).map(|(column, _)| Arc::clone(column));
                Encoder::start(mine.collect(), Arc::clone(properties))
            })
            .collect::<io::Result<_>>()?;
        Ok(Self { threads, columns, pages: 0 })
    }

    /// Hands over a batch: the values of each column.
    pub(super) fn send(&mut self, batch: impl Iterator<Item = ColumnValues>) -> io::Result<()> {
        let mut whole: Vec<Vec<ColumnValues>> = self.threads.iter().map(|_| Vec::new()).collect();
        let mut thread = 0;
        for ((_, kind), values) in self.columns.iter().zip(batch) {
            if *kind == ValueKind::Cells {
                self.threads[self.pages % ENCODERS].send(EncoderJob::Page(values))?;
                self.pages += 1;
            } else {
                whole[thread].push(values);
                thread = (thread + 1) % ENCODERS;
            }
        }
        for (thread, values) in self.threads.iter().zip(whole) {
            if !values.is_empty() {
                thread.send(EncoderJob::Values(values))?;
            }
        }
        Ok(())
    }

    /// Ends the row group, and returns its columns.
    pub(super) fn end_group(&mut self) -> io::Result<Vec<EncodedColumn>> {
        for thread in &self.threads {
            thread.send(EncoderJob::End)?;
        }
        let (mut whole, mut pages) = (Vec::new(), Vec::new());
        for thread in &self.threads {
            let group = thread.group()?;
            whole.push(group.columns.into_iter());
            pages.push(group.pages.into_iter());
        }
        let cell_columns = self.columns.iter().filter(|(_, kind)| *kind == ValueKind::Cells).count();
        let mut cells: VecDeque<Vec<CellPage>> = (0..cell_columns).map(|_| Vec::new()).collect();
        for number in 0..std::mem::take(&mut self.pages) {
            cells[number % cell_columns].extend(pages[number % ENCODERS].next());
        }
        let mut thread = 0;
        let mut encoded = Vec::new();
        for (column, kind) in &self.columns {
            let next = if *kind == ValueKind::Cells {
                let pages = cells.pop_front().unwrap_or_default();
                Some(written(close_cells(column, pages))?)
            } else {
                let next = whole[thread].next();
                thread = (thread + 1) % ENCODERS;
                next
            };
            encoded.push(next.ok_or_else(not_encoded)?);
        }
        Ok(encoded)
    }
}

fn not_encoded() -> io::Error {
    io::Error::other("a column was not encoded")
}

impl Encoder {
    fn start(columns: Vec<ColumnDescPtr>, properties: WriterPropertiesPtr) -> io::Result<Self> {
        let (jobs, received) = sync_channel(BATCHES_AHEAD);
        let (send, groups) = sync_channel(1);
        let mut cells = CellEncoder::new()?;
        thread::Builder::new().name("parquet".to_owned()).spawn(move || {
            // Ends when nobody sends, or nobody receives.
            loop {
                let group = encode_group(&columns, &properties, &mut cells, &received);
                let Some(group) = group.transpose() else { return };
                let is_failed = group.is_err();
                if send.send(group).is_err() || is_failed {
                    return;
                }
            }
        })?;
        Ok(Self { jobs, groups })
    }

    fn send(&self, job: EncoderJob) -> io::Result<()> {
        match self.jobs.send(job) {
            Ok(()) => Ok(()),
            Err(_) => Err(self.group().err().unwrap_or_else(not_encoded)),
        }
    }

    fn group(&self) -> io::Result<EncodedGroup> {
        match self.groups.recv() {
            Ok(group) => written(group),
            Err(_) => Err(not_encoded()),
        }
    }
}

/// Encodes the thread's part of a row group; `None` if it is not sent to its end.
fn encode_group(
    columns: &[ColumnDescPtr],
    properties: &WriterPropertiesPtr,
    cells: &mut CellEncoder,
    jobs: &Receiver<EncoderJob>,
) -> Result<Option<EncodedGroup>> {
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
    let mut pages = Vec::new();
    loop {
        match jobs.recv() {
            Ok(EncoderJob::Values(values)) => {
                for (writer, values) in writers.iter_mut().zip(values) {
                    values.write(writer)?;
                }
            }
            Ok(EncoderJob::Page(values)) => pages.push(cells.page(&values)?),
            Ok(EncoderJob::End) => break,
            Err(_) => return Ok(None),
        }
    }
    let closed = writers.into_iter().map(ColumnWriter::close).collect::<Result<Vec<_>>>()?;
    let column = |(sink, close): (TrackedWrite<Vec<u8>>, _)| {
        Ok(EncodedColumn { bytes: ColumnBytes(vec![sink.into_inner()?.into()]), close })
    };
    let columns = sinks.into_iter().zip(closed).map(column).collect::<Result<_>>()?;
    Ok(Some(EncodedGroup { columns, pages }))
}
