//! Puzzles that are the same dropped from inputs of any length, in memory of bounded size.
//!
//! ```text
//!   chunk ──▶ rows with keys (on the pool) ──▶ known? ── no ──▶ the output, at once
//!                                                 │
//!                         no memory left: keys in files by hash, rows in another one
//!                                                 │
//!                         at the end, file by file: which rows repeat which, then the rest
//! ```
//!
//! The key of a puzzle is its canonical form or its own cells, packed and compared whole.

mod spill;
mod table;

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, RandomState};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::job_size::JobSize;
use super::keyed::{KeyedPart, Sameness, without_keys};
use super::{OfflineError, Output, run};
use crate::answer::MAX_JOB_BYTES;
use crate::input::Reader;
use crate::pipeline::ThreadPool;

use spill::Spill;
use table::{Inserted, KeyTable};

/// The numbers of rows that were looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DedupTally {
    /// All rows.
    pub puzzles: u64,
    /// Those that are the same as an earlier one.
    pub repeated: u64,
    /// Those that are kept because they are badly formed or were given up, by the code of the error.
    pub errors: BTreeMap<&'static str, u64>,
}

/// The bits of a place that hold the line; the input has the rest.
const LINE_BITS: u32 = 48;

/// The most inputs of a run.
pub const MAX_DEDUP_INPUTS: usize = 1 << (u64::BITS - LINE_BITS);

/// Which input and line a row is of, in one number.
const fn place(input: usize, line: u64) -> u64 {
    (input as u64) << LINE_BITS | line
}

/// The input and the line of a place.
const fn input_and_line(place: u64) -> (usize, u64) {
    ((place >> LINE_BITS) as usize, place & ((1 << LINE_BITS) - 1))
}

/// Inputs, one after another, from which puzzles that are the same as an earlier one are dropped.
pub struct Deduplicator {
    sameness: Sameness,
    table: KeyTable,
    /// The rest, once the table has been full.
    spill: Option<Spill>,
    folder: Option<PathBuf>,
    hash: RandomState,
    /// The names of the inputs, if there are several.
    names: Vec<String>,
    inputs: usize,
    tally: DedupTally,
}

impl Deduplicator {
    /// Keys take at most `memory` bytes; what does not fit goes to files without a name in `folder`
    /// (default: that of the system). The places of several inputs are told with their `names`.
    #[must_use]
    pub fn new(sameness: Sameness, memory: usize, folder: Option<PathBuf>, names: Vec<String>) -> Self {
        let names = if names.len() > 1 { names } else { Vec::new() };
        Self {
            sameness,
            table: KeyTable::new(memory),
            spill: None,
            folder,
            hash: RandomState::new(),
            names,
            inputs: 0,
            tally: DedupTally::default(),
        }
    }

    /// The heading of the report: `line,same_as`, and with several inputs
    /// `input,line,same_as_input,same_as`.
    #[must_use]
    pub fn report_heading(&self) -> &'static str {
        if self.names.is_empty() { "line,same_as\n" } else { "input,line,same_as_input,same_as\n" }
    }

    /// The numbers so far.
    #[must_use]
    pub const fn tally(&self) -> &DedupTally {
        &self.tally
    }

    /// Whether rows wait in files for [`Self::finish`].
    #[must_use]
    pub const fn has_spilled(&self) -> bool {
        self.spill.is_some()
    }

    /// Adds an input: writes its rows that are not the same as an earlier one to `output`, and to
    /// `report` a row for each other one. From when memory does not suffice rows wait for
    /// [`Self::finish`]. `watch` is called with the bytes of the input that are done.
    ///
    /// # Errors
    /// Errors of reading and writing, or that `cancel` was set.
    pub fn add(
        &mut self,
        mut reader: Reader,
        pool: &Arc<ThreadPool>,
        cancel: &Arc<AtomicBool>,
        output: &mut Output,
        mut report: Option<&mut Output>,
        mut watch: impl FnMut(u64, &DedupTally),
    ) -> Result<(), OfflineError> {
        reader.keep_lines();
        if self.inputs == 0 {
            output.write(reader.prelude())?;
        }
        let input = self.inputs;
        self.inputs += 1;
        let (work, recover) = (self.sameness.work(reader.format(), cancel), without_keys(reader.format()));
        let sink = |part: KeyedPart| {
            self.take(input, &part, output, report.as_deref_mut())?;
            watch(part.end, &self.tally);
            Ok(())
        };
        run(reader, JobSize::fixed(MAX_JOB_BYTES), pool, cancel, work, recover, sink)
    }

    fn take(
        &mut self,
        input: usize,
        part: &KeyedPart,
        output: &mut Output,
        report: Option<&mut Output>,
    ) -> Result<(), OfflineError> {
        let hash = |key: &[u8]| self.hash.hash_one(key);
        let (mut kept, mut told) = (Vec::new(), Vec::new());
        for row in &part.rows {
            self.tally.puzzles += 1;
            let text = &part.text[row.text.clone()];
            let key = match &row.key {
                Ok(key) => Some(&part.keys[key.clone()]),
                Err(code) => {
                    *self.tally.errors.entry(code).or_default() += 1;
                    None
                }
            };
            let place = place(input, row.line);
            if self.spill.is_none()
                && let Some(key) = key
            {
                match self.table.insert(key, place, hash) {
                    Inserted::New => {}
                    Inserted::Known(first) => {
                        self.tally.repeated += 1;
                        tell(&self.names, place, first, &mut told);
                        continue;
                    }
                    Inserted::Full => {
                        self.spill = Some(Spill::new(self.folder.as_deref(), &self.table, hash)?);
                        // The same memory serves to read the files back.
                        self.table.clear();
                    }
                }
            }
            match &mut self.spill {
                Some(spill) => {
                    // The report names the row, so its place goes with it.
                    let row = [&place.to_le_bytes()[..], text].concat();
                    spill.add(&row, key.map(|key| (place, key, hash(key))))?;
                }
                None => kept.extend_from_slice(text),
            }
        }
        output.write(&kept)?;
        match report {
            Some(report) if !told.is_empty() => Ok(report.write(&told)?),
            _ => Ok(()),
        }
    }

    /// Writes what waits in files, and returns the numbers of all inputs.
    ///
    /// # Errors
    /// Errors of the files and of writing, or that `cancel` was set.
    pub fn finish(
        mut self,
        cancel: &AtomicBool,
        output: &mut Output,
        mut report: Option<&mut Output>,
    ) -> Result<DedupTally, OfflineError> {
        let Some(spill) = self.spill.take() else { return Ok(self.tally) };
        let (mut kept, mut told) = (Vec::new(), Vec::new());
        let state = &self.hash;
        let mut repeated = 0;
        spill.finish(
            &mut self.table,
            |key| state.hash_one(key),
            cancel,
            |row, first| {
                let Some((place, text)) = row.split_first_chunk() else { return Ok(()) };
                match first {
                    Some(first) => {
                        repeated += 1;
                        tell(&self.names, u64::from_le_bytes(*place), first, &mut told);
                    }
                    None => kept.extend_from_slice(text),
                }
                if kept.len() >= MAX_JOB_BYTES {
                    output.write(&kept)?;
                    kept.clear();
                }
                if let Some(report) = &mut report
                    && told.len() >= MAX_JOB_BYTES
                {
                    report.write(&told)?;
                    told.clear();
                }
                Ok(())
            },
        )?;
        output.write(&kept)?;
        if let Some(report) = report {
            report.write(&told)?;
        }
        self.tally.repeated += repeated;
        Ok(self.tally)
    }
}

/// Appends a row to the report.
fn tell(names: &[String], place: u64, first: u64, told: &mut Vec<u8>) {
    let named = |place: u64| {
        let (input, line) = input_and_line(place);
        match names.get(input) {
            Some(name) if name.contains([',', '"', '\n', '\r']) => {
                format!("\"{}\",{line}", name.replace('"', "\"\""))
            }
            Some(name) => format!("{name},{line}"),
            None => line.to_string(),
        }
    };
    told.extend_from_slice(format!("{},{}\n", named(place), named(first)).as_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_told_as_they_were_given() {
        for (input, line) in [(0, 1), (MAX_DEDUP_INPUTS - 1, 1 << 47)] {
            assert_eq!(input_and_line(place(input, line)), (input, line));
        }
    }
}
