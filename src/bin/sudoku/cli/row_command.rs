//! The run of all commands that do a [`RowJob`] for the puzzles of their inputs, one input after the
//! other into one output. It can be resumed.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::mem;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::anyhow;
use sudoku_stream::answer::{CheckForm, RowJob, RowTally};
use sudoku_stream::input::Reader;
use sudoku_stream::offline::{OfflineError, Output, OutputError, Progress, RowPart, write_rows};
use sudoku_stream::pipeline::{self, ThreadPool};
use sudoku_stream::text::Format;

use super::early_end::{EarlyEnd, exit_code};
use super::input::Input;
use super::resume::{RowArgs, RowsRun};
use super::rows::{self, ErrorLines, RowKind};
use super::{interrupt, print};

/// What a command counts.
type TallyOf<C> = <<C as RowCommand>::Job as RowJob>::Tally;

/// A command that does a job for every puzzle of its inputs. What differs from command to command is
/// here, and what does not is in [`run`].
pub trait RowCommand {
    type Job: RowJob;

    /// How inputs and the output are opened, and the options on which the rows depend.
    fn rows(&self) -> RowsRun<'_>;

    /// The job for an input in this format, with rows in this form.
    ///
    /// # Errors
    /// It cannot be done for such puzzles.
    fn job(&self, format: Format, form: CheckForm) -> anyhow::Result<Self::Job>;

    /// What the bar counts, and how that is called.
    fn shown(tally: &TallyOf<Self>) -> (u64, &'static str) {
        (tally.puzzles(), "puzzles")
    }

    /// What is done of a run that stops, of which so many rows are `counted`.
    fn done(&self, _progress: &Progress, _tally: &TallyOf<Self>, counted: String) -> String {
        counted
    }

    /// The rows of a part as they are written. So many puzzles had errors before.
    fn edit(&self, rows: &RowsRun<'_>, input: &Input, part: RowPart<TallyOf<Self>>, _errors: u64) -> Vec<u8> {
        let has_errors = rows.verb.is_none() && part.tally.error_count() > 0;
        if has_errors { input.named(rows.form, part.text) } else { part.text }
    }

    /// Whether the only puzzle of this input is described, so that its row waits for another puzzle or
    /// the end.
    fn describes(&self, _input: &Input, _form: CheckForm) -> bool {
        false
    }

    /// The description of the only puzzle of an input.
    fn describe(&self, _job: &Self::Job, _input: &Input) -> Option<String> {
        None
    }

    /// Ends an input whose puzzles are not described.
    ///
    /// # Errors
    /// Those of the output.
    fn end_input(
        &self,
        _ended: &EndedInput<'_, TallyOf<Self>>,
        _output: &mut Output,
    ) -> Result<(), OutputError> {
        Ok(())
    }

    /// Ends the output.
    ///
    /// # Errors
    /// Those of the output.
    fn end(&self, _tally: &TallyOf<Self>, _output: &mut Output) -> Result<(), OutputError> {
        Ok(())
    }

    /// What is said at the end. `has_table` if an input was a table.
    fn summary(&self, tally: &TallyOf<Self>, time: Duration, has_table: bool) -> Vec<String>;
}

/// An input that is done.
pub struct EndedInput<'a, T> {
    pub name: &'a str,
    pub format: &'a Format,
    /// What was counted of it, by earlier runs too.
    pub tally: &'a T,
    /// What was counted of the inputs before it.
    pub before: &'a T,
}

/// Runs a command.
///
/// # Errors
/// Those of inputs and the output; an input without puzzles, or with rows of another kind than the
/// first where they are written again; an interrupt.
pub fn run<C: RowCommand>(command: &C) -> anyhow::Result<ExitCode> {
    let rows = command.rows();
    let mut errors = rows.fail_on_error.map(ErrorLines::new);
    let ended = run_all(command, rows, &mut errors);
    match errors {
        Some(errors) => errors.exit_code(ended),
        None => exit_code(ended, ExitCode::SUCCESS),
    }
}

/// Writes the rows about all inputs, and counts in `errors` the error lines.
fn run_all<C: RowCommand>(
    command: &C,
    rows: RowsRun<'_>,
    errors: &mut Option<ErrorLines>,
) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(rows.args.run.threads));
    let inputs = rows.input.all()?;
    rows.check(inputs.len())?;
    rows::check_is_one(&inputs, rows.form)?;
    rows.look_at_all(&inputs, &cancel)?;
    let (is_quiet, tally) = (rows.args.run.progress.quiet, TallyOf::<C>::default());
    let (first, has_table, is_table) = (None, false, false);
    let mut run =
        RowRun { command, rows, cancel, pool, begin, output: None, first, has_table, is_table, tally };
    for input in &inputs {
        let passed = run.pass(input, &inputs);
        if let Some(errors) = errors {
            errors.count(run.tally.error_count(), input);
        }
        passed?;
    }
    let RowRun { output: Some(mut output), tally, has_table, .. } = run else { return Ok(()) };
    command.end(&tally, &mut output)?;
    let earlier = output.earlier();
    output.finish()?;
    if !is_quiet {
        let summary = command.summary(&tally, earlier + begin.elapsed(), has_table);
        for line in summary {
            print::status_line(&line);
        }
    }
    Ok(())
}

/// A run over one input or several.
struct RowRun<'a, C: RowCommand> {
    command: &'a C,
    rows: RowsRun<'a>,
    cancel: Arc<AtomicBool>,
    pool: Arc<ThreadPool>,
    begin: Instant,
    /// Opened with the first input, because an input must not be the output.
    output: Option<Output>,
    /// What the rows of the first input are like, where they are written again.
    first: Option<RowKind>,
    /// Whether any input was a table.
    has_table: bool,
    /// Whether the last one is.
    is_table: bool,
    /// What was counted, by an earlier run too that this one resumes.
    tally: TallyOf<C>,
}

impl<C: RowCommand> RowRun<'_, C> {
    /// Writes the rows about one input.
    fn pass(&mut self, input: &Input, inputs: &[Input]) -> Result<(), EarlyEnd> {
        let Self { rows, first, is_table, .. } = self;
        let is_first = self.output.is_none();
        let check = |reader: &Reader| {
            *is_table = reader.format().is_table();
            let Some(verb) = rows.verb else { return Ok(()) };
            let first = first.get_or_insert_with(|| RowKind::of(reader.format()));
            first.check_same(reader, inputs, verb)
        };
        let mut own = TallyOf::<C>::default();
        let recall = |counts: &_| recall(rows.seed, counts).map(|counted| own = counted).is_some();
        let opened = rows.open(input, &mut self.output, &self.cancel, check, recall)?;
        let Some((reader, output, witness)) = opened else {
            return Err(self.stopped(OfflineError::Cancelled));
        };
        self.has_table |= self.is_table;
        if self.rows.verb.is_some() && is_first && reader.is_at_start() {
            output.write(reader.prelude())?;
        }
        let (name, format) = (reader.name().to_owned(), reader.format().clone());
        let job = Arc::new(self.command.job(format.clone(), self.rows.form)?);
        let RowArgs { out, shard, .. } = self.rows.args;
        // A Parquet file has columns, whichever shard it is of.
        let has_heading = reader.is_at_start() || self.rows.form == CheckForm::Parquet;
        let heading = if has_heading && self.rows.has_rows { job.heading() } else { Vec::new() };
        let first_byte = reader.span().0;
        let bar = self.rows.bar(input, &reader, output.progress());
        let (before, earlier) = (self.tally.clone(), C::shown(&own).0);
        let mut passed = PassedInput::new(self.command, &self.rows, input, output, own, before, heading);
        let result = write_rows(reader, &job, &self.pool, &self.cancel, |part| {
            passed.tally.add(&part.tally);
            let (shown, unit) = C::shown(&passed.tally);
            let done = part.done.saturating_sub(first_byte);
            bar.advance(done, C::shown(&passed.before).0 + shown - earlier, unit, self.begin);
            Ok(passed.add(part)?)
        });
        bar.finish_and_clear();
        self.tally.add(&passed.tally);
        if let Err(error) = result {
            return Err(self.stopped(error));
        }
        // All puzzles of a single input may have been answered by an earlier run, and a shard may have
        // none.
        if passed.tally.puzzles() == 0 && shard.shard.is_none() {
            return Err(anyhow!("{name} is empty.").into());
        }
        passed.end(&job, &name, &format)?;
        let Some(output) = &self.output else { return Ok(()) };
        shard.write_manifest(out, output, witness.as_ref()).map_err(|error| self.stopped(error))
    }

    /// Ends a run that failed or was interrupted.
    fn stopped(&mut self, error: impl Into<anyhow::Error>) -> EarlyEnd {
        let done = |progress: &Progress| {
            let counted = self.rows.counted(progress.tally.answers, self.is_table);
            self.command.done(progress, &self.tally, counted)
        };
        self.rows.stopped(self.output.take(), done, error.into())
    }
}

/// An input whose rows are written.
struct PassedInput<'a, C: RowCommand> {
    command: &'a C,
    rows: &'a RowsRun<'a>,
    input: &'a Input,
    output: &'a mut Output,
    /// What was counted of it, by an earlier run too.
    tally: TallyOf<C>,
    /// What was counted of the inputs before it.
    before: TallyOf<C>,
    describes: bool,
    /// The heading, until it is written above the first row.
    heading: Vec<u8>,
    /// The only puzzle so far, which is described if no other comes.
    held: Option<RowPart<TallyOf<C>>>,
    /// The puzzles that are counted and not yet marked as done in the output.
    unmarked: u64,
}

impl<'a, C: RowCommand> PassedInput<'a, C> {
    fn new(
        command: &'a C,
        rows: &'a RowsRun<'a>,
        input: &'a Input,
        output: &'a mut Output,
        tally: TallyOf<C>,
        before: TallyOf<C>,
        heading: Vec<u8>,
    ) -> Self {
        let describes = rows.args.shard.shard.is_none() && command.describes(input, rows.form);
        Self { command, rows, input, output, tally, before, describes, heading, held: None, unmarked: 0 }
    }

    /// Writes the next rows, which are counted.
    fn add(&mut self, mut part: RowPart<TallyOf<C>>) -> Result<(), OutputError> {
        if let Some(first) = self.held.take() {
            part.text.splice(0..0, first.text);
            part.tally.add(&first.tally);
        }
        if self.describes && self.tally.puzzles() == 1 && part.tally.puzzles() == 1 {
            self.held = Some(part);
            return Ok(());
        }
        self.write(part)
    }

    fn write(&mut self, part: RowPart<TallyOf<C>>) -> Result<(), OutputError> {
        let RowPart { done, prefix, is_complete, .. } = part;
        self.unmarked += part.tally.puzzles();
        let errors = self.before.error_count() + self.tally.error_count() - part.tally.error_count();
        let edited = || self.command.edit(self.rows, self.input, part, errors);
        let mut text = mem::take(&mut self.heading);
        if self.rows.has_rows {
            text.append(&mut edited());
        }
        if !is_complete {
            return self.output.write(&text);
        }
        let counts = named(self.rows.seed, &self.tally);
        self.output.add_rows(done, prefix, &text, mem::take(&mut self.unmarked), counts)
    }

    /// Ends the input, which has puzzles.
    fn end(mut self, job: &C::Job, name: &str, format: &Format) -> Result<(), OutputError> {
        if let Some(part) = self.held.take() {
            if let Some(text) = self.command.describe(job, self.input) {
                return self.output.write(text.as_bytes());
            }
            self.write(part)?;
        }
        self.output.write(&self.heading)?;
        let ended = EndedInput { name, format, tally: &self.tally, before: &self.before };
        self.command.end_input(&ended, self.output)
    }
}

/// The name of the seed beside the counts of a run.
const SEED: &str = "seed";

/// What a run keeps for one that resumes it: every number under a name.
fn named(seed: Option<&Cell<u64>>, tally: &impl RowTally) -> BTreeMap<String, u64> {
    let seed = seed.map(|seed| (SEED.to_owned(), seed.get()));
    tally.named().into_iter().chain(seed).collect()
}

/// What an earlier run has counted, whose seed is taken over. `None` if the numbers are not those of
/// [`named`].
fn recall<T: RowTally>(seed: Option<&Cell<u64>>, named: &BTreeMap<String, u64>) -> Option<T> {
    let mut named = named.clone();
    let earlier = seed.map(|_| named.remove(SEED));
    let tally = T::from_named(&named)?;
    if let (Some(seed), Some(earlier)) = (seed, earlier) {
        seed.set(earlier?);
    }
    Some(tally)
}
