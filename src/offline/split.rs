//! An input divided into a training and a test set that share no puzzle.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use rapidhash::v3::rapidhash_v3;

use super::job_size::JobSize;
use super::keyed::{KeyedPart, Sameness, without_keys};
use super::{OfflineError, Output, run};
use crate::answer::MAX_JOB_BYTES;
use crate::input::Reader;
use crate::pipeline::ThreadPool;

/// How an input is divided.
#[derive(Clone, Copy, Debug)]
pub struct SplitTask {
    /// Which puzzles are the same, and so have to be in one set.
    pub sameness: Sameness,
    /// The share of the test set, from 0 to 1.
    pub test: f64,
    /// The seed. The set of a puzzle depends on it and on the puzzle, and on nothing else.
    pub seed: u64,
}

/// The numbers of rows by set.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SplitTally {
    /// The rows of the training set.
    pub train: u64,
    /// The rows of the test set.
    pub test: u64,
    /// Those of the training set that are badly formed or were given up, by the code of the error.
    pub errors: BTreeMap<&'static str, u64>,
}

impl SplitTask {
    /// Whether puzzles with this key are in the test set.
    fn is_test(&self, key: &[u8], seeded: &mut Vec<u8>) -> bool {
        seeded.clear();
        seeded.extend_from_slice(&self.seed.to_le_bytes());
        seeded.extend_from_slice(key);
        // 53 bits are a fraction without rounding.
        let fraction = (rapidhash_v3(seeded) >> 11) as f64 / (1_u64 << 53) as f64;
        fraction < self.test
    }
}

/// Writes every row of `reader` to `train` or `test`, in order, each after the heading of a table.
/// Puzzles that are the same go to the same set. A row that is badly formed goes to `train`. `watch`
/// is called with the bytes of the input that are done.
///
/// # Errors
/// Errors of reading and writing, or that `cancel` was set.
pub fn split(
    mut reader: Reader,
    task: SplitTask,
    pool: &Arc<ThreadPool>,
    cancel: &Arc<AtomicBool>,
    [train, test]: [&mut Output; 2],
    mut watch: impl FnMut(u64, &SplitTally),
) -> Result<SplitTally, OfflineError> {
    reader.keep_lines();
    train.write(reader.prelude())?;
    test.write(reader.prelude())?;
    let (work, recover) = (task.sameness.work(reader.format(), cancel), without_keys(reader.format()));
    let mut tally = SplitTally::default();
    let mut seeded = Vec::new();
    let sink = |part: KeyedPart| {
        let (mut of_train, mut of_test) = (Vec::new(), Vec::new());
        for row in &part.rows {
            let is_test = match &row.key {
                Ok(key) => task.is_test(&part.keys[key.clone()], &mut seeded),
                Err(code) => {
                    *tally.errors.entry(code).or_default() += 1;
                    false
                }
            };
            let (set, count) =
                if is_test { (&mut of_test, &mut tally.test) } else { (&mut of_train, &mut tally.train) };
            set.extend_from_slice(&part.text[row.text.clone()]);
            *count += 1;
        }
        train.write(&of_train)?;
        test.write(&of_test)?;
        watch(part.end, &tally);
        Ok(())
    };
    run(reader, JobSize::fixed(MAX_JOB_BYTES), pool, cancel, work, recover, sink)?;
    Ok(tally)
}
