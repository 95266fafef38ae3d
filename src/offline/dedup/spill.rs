//! What does not fit into memory: keys in files by their hash, and the rows that wait for them.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, BufWriter, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::table::{Inserted, KeyTable};
use crate::offline::OfflineError;

/// The files of keys. Each is read back into memory of the same bound, so it can be this many times
/// as much as that before any is read more than once.
const PARTITIONS: usize = 64;

/// The bytes that each file buffers.
const BUFFER_BYTES: usize = 1 << 16;

/// The number of a row that has been written already.
const WRITTEN: u64 = u64::MAX;

/// The most times that a file is read because its keys do not fit into memory.
const MAX_PASSES: u64 = 1 << 16;

/// The keys and rows of a run that memory did not suffice for.
pub(super) struct Spill {
    folder: PathBuf,
    partitions: Vec<BufWriter<File>>,
    /// The rows from then on.
    rows: BufWriter<File>,
    count: u64,
}

/// A row that repeats another one: its number, and the place of the other one.
type Repeated = (u64, u64);

impl Spill {
    /// Begins with the keys of a table.
    pub(super) fn new(
        folder: Option<&Path>,
        table: &KeyTable,
        hash: impl Fn(&[u8]) -> u64,
    ) -> Result<Self, OfflineError> {
        let folder = folder.map_or_else(std::env::temp_dir, Path::to_owned);
        let file = || Ok(BufWriter::with_capacity(BUFFER_BYTES, temporary(&folder)?));
        let partitions = (0..PARTITIONS).map(|_| file()).collect::<Result<Vec<_>, OfflineError>>()?;
        let rows = file()?;
        let mut spill = Self { folder, partitions, rows, count: 0 };
        table.visit(|place, key| spill.add_key(WRITTEN, place, key, hash(key)))?;
        Ok(spill)
    }

    /// Adds a row, with its place, its key and the hash of that, unless it is kept in any case.
    pub(super) fn add(&mut self, text: &[u8], key: Option<(u64, &[u8], u64)>) -> Result<(), OfflineError> {
        if let Some((place, key, hash)) = key {
            self.add_key(self.count, place, key, hash)?;
        }
        let written = self.rows.write_all(&(text.len() as u64).to_le_bytes());
        written.and_then(|()| self.rows.write_all(text)).map_err(|cause| failed(&self.folder, cause))?;
        self.count += 1;
        Ok(())
    }

    fn add_key(&mut self, row: u64, place: u64, key: &[u8], hash: u64) -> Result<(), OfflineError> {
        let partition = &mut self.partitions[(hash >> 58) as usize % PARTITIONS];
        let write = |partition: &mut BufWriter<File>| {
            partition.write_all(&row.to_le_bytes())?;
            partition.write_all(&place.to_le_bytes())?;
            partition.write_all(&u16::try_from(key.len()).unwrap_or(u16::MAX).to_le_bytes())?;
            partition.write_all(key)
        };
        write(partition).map_err(|cause| failed(&self.folder, cause))
    }

    /// Finds out which rows repeat others, with the memory of `table`, and passes every row to
    /// `visit`, in order, with the place of the one that it repeats.
    pub(super) fn finish(
        self,
        table: &mut KeyTable,
        hash: impl Fn(&[u8]) -> u64,
        cancel: &AtomicBool,
        mut visit: impl FnMut(&[u8], Option<u64>) -> Result<(), OfflineError>,
    ) -> Result<(), OfflineError> {
        let Self { folder, partitions, rows, count } = self;
        let fail = |cause| failed(&folder, cause);
        let check = || if cancel.load(Ordering::Relaxed) { Err(OfflineError::Cancelled) } else { Ok(()) };
        let mut repeated: Vec<BufReader<File>> = Vec::new();
        for partition in partitions {
            let mut file = partition.into_inner().map_err(|error| fail(error.into_error()))?;
            // More passes mean fewer keys in each.
            let mut passes = 1;
            while !resolve(&mut file, passes, table, &hash, &mut repeated, &folder, &check)? {
                passes *= 2;
                if passes > MAX_PASSES {
                    return Err(OfflineError::Memory);
                }
            }
        }
        table.clear();
        let mut heads: BinaryHeap<Reverse<(Repeated, usize)>> = BinaryHeap::new();
        for (index, file) in repeated.iter_mut().enumerate() {
            heads.extend(read_pair(file).map_err(fail)?.map(|pair| Reverse((pair, index))));
        }
        let mut rows = BufReader::with_capacity(
            BUFFER_BYTES,
            rewound(rows.into_inner().map_err(|error| fail(error.into_error()))?).map_err(fail)?,
        );
        let mut text = Vec::new();
        for row in 0..count {
            if row % 4096 == 0 {
                check()?;
            }
            let mut length = [0; 8];
            rows.read_exact(&mut length).map_err(fail)?;
            text.clear();
            let length = u64::from_le_bytes(length);
            let read = (&mut rows).take(length).read_to_end(&mut text).map_err(fail)?;
            if read as u64 != length {
                return Err(fail(io::ErrorKind::UnexpectedEof.into()));
            }
            let is_next = |Reverse(((next, _), _)): &Reverse<(Repeated, usize)>| *next == row;
            let first = if heads.peek().is_some_and(is_next) { heads.pop() } else { None };
            if let Some(Reverse((_, index))) = first {
                heads.extend(
                    read_pair(&mut repeated[index]).map_err(fail)?.map(|pair| Reverse((pair, index))),
                );
            }
            visit(&text, first.map(|Reverse(((_, place), _))| place))?;
        }
        Ok(())
    }
}

/// Finds the repeated rows of one file in so many passes, and appends a file of them for each. False,
/// with nothing appended, if the keys of a pass do not fit into memory.
fn resolve(
    file: &mut File,
    passes: u64,
    table: &mut KeyTable,
    hash: &impl Fn(&[u8]) -> u64,
    repeated: &mut Vec<BufReader<File>>,
    folder: &Path,
    check: &impl Fn() -> Result<(), OfflineError>,
) -> Result<bool, OfflineError> {
    let fail = |cause| failed(folder, cause);
    let before = repeated.len();
    let mut key = Vec::new();
    for pass in 0..passes {
        check()?;
        table.clear();
        file.rewind().map_err(fail)?;
        let mut entries = BufReader::with_capacity(BUFFER_BYTES, &*file);
        let mut found = BufWriter::with_capacity(BUFFER_BYTES, temporary(folder)?);
        let mut is_empty = true;
        while let Some((row, place)) = read_pair(&mut entries).map_err(fail)? {
            let mut length = [0; 2];
            entries.read_exact(&mut length).map_err(fail)?;
            key.resize(usize::from(u16::from_le_bytes(length)), 0);
            entries.read_exact(&mut key).map_err(fail)?;
            // Other bits than those that chose the file.
            if (hash(&key) >> 32) % passes != pass {
                continue;
            }
            match table.insert(&key, place, hash) {
                Inserted::Full => {
                    repeated.truncate(before);
                    return Ok(false);
                }
                Inserted::Known(first) if row != WRITTEN => {
                    is_empty = false;
                    found.write_all(&row.to_le_bytes()).map_err(fail)?;
                    found.write_all(&first.to_le_bytes()).map_err(fail)?;
                }
                Inserted::New | Inserted::Known(_) => {}
            }
        }
        if !is_empty {
            let file = found.into_inner().map_err(|error| fail(error.into_error()))?;
            repeated.push(BufReader::new(rewound(file).map_err(fail)?));
        }
    }
    Ok(true)
}

/// Reads two numbers; `None` at the end.
fn read_pair(file: &mut BufReader<impl io::Read>) -> io::Result<Option<(u64, u64)>> {
    if file.fill_buf()?.is_empty() {
        return Ok(None);
    }
    let (mut first, mut second) = ([0; 8], [0; 8]);
    file.read_exact(&mut first)?;
    file.read_exact(&mut second)?;
    Ok(Some((u64::from_le_bytes(first), u64::from_le_bytes(second))))
}

/// A file without a name, which vanishes when it is closed.
fn temporary(folder: &Path) -> Result<File, OfflineError> {
    tempfile::tempfile_in(folder).map_err(|cause| failed(folder, cause))
}

fn rewound(mut file: File) -> io::Result<File> {
    file.rewind()?;
    Ok(file)
}

fn failed(folder: &Path, cause: io::Error) -> OfflineError {
    OfflineError::Spill { folder: folder.to_owned(), cause }
}
