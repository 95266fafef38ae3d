//! Runs that can be resumed: from one file to a file, in text. What `--resume` needs, the identity
//! of a run, the place where it goes on, and what a run that stops says of it.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use clap::Args;
use sudoku_stream::answer::CheckForm;
use sudoku_stream::client::ClientError;
use sudoku_stream::input::{InputError, Reader, Shard, ShardWitness, Source, Version};
use sudoku_stream::offline::{OfflineError, Output, OutputError, Progress, RunIdentity};

use super::early_end::EarlyEnd;
use super::input::{Input, InputArgs, check_row_form};
use super::interrupt::{self, interruptible};
use super::output::{
    OutputArgs, check_is_plain, check_is_text, check_kind, is_regular, refuse_what_is_for_text, unfinished,
};
use super::progress::{self, Bar};
use super::run::RunArgs;
use super::shard::ShardArgs;
use super::{print, rows};

/// The argument of commands whose runs can be resumed.
#[derive(Clone, Copy, Debug, Default, Args)]
pub struct ResumeArgs {
    /// Continue a stopped run with the same -o FILE
    ///
    /// Without an earlier run it starts from the beginning.
    /// If this run is stopped, its progress is kept for the next one.
    #[arg(long, requires = "output_file", help_heading = "Output")]
    pub resume: bool,
}

impl ResumeArgs {
    /// Checks that there is a file to go on with.
    pub fn check_output(self, out: &OutputArgs) -> anyhow::Result<()> {
        if self.resume && out.path().is_none() {
            bail!("--resume needs a file to go on with. Name one with -o.");
        }
        Ok(())
    }

    /// Checks that there is only one input.
    pub fn check_inputs(self, inputs: usize) -> anyhow::Result<()> {
        if self.resume && inputs > 1 {
            bail!(
                "--resume continues a run over one file, and {inputs} inputs were named. \
                 Name one, or write them into one file first."
            );
        }
        Ok(())
    }

    /// The version of an input, by which changes are noticed; `None` if it cannot be read again.
    ///
    /// # Errors
    /// It cannot be read again, but has to be.
    pub fn version(self, input: &Input, source: &Source) -> anyhow::Result<Option<Version>> {
        let version = source.version();
        if self.resume && version.is_none() {
            let name = if input.is_typed() { "the puzzle" } else { source.name() };
            bail!("--resume needs an input that can be read again. Write {name} to a file first.");
        }
        Ok(version)
    }

    /// Opens the output for text. The identity of a run that can be resumed is recorded beside the
    /// file.
    ///
    /// # Errors
    /// Those of opening; the file is named as one that is no text; an earlier run was another.
    pub fn open(self, out: &OutputArgs, run: Option<RunIdentity>) -> anyhow::Result<Output> {
        Ok(match (out.path(), run) {
            (Some(path), Some(run)) => {
                check_is_text(path)?;
                check_is_plain(path)?;
                Output::resumable(path, out.durable, run, self.resume)?
            }
            _ => out.open_text()?,
        })
    }
}

/// Can a run from this input to this output be resumed? Then the input is hashed while it is read.
pub fn is_resumable(input: &Input, version: Option<Version>, out: &OutputArgs) -> bool {
    input.is_only() && version.is_some() && out.path().is_some_and(is_regular)
}

/// The identity of a run of `command` over this input; `None` if the input is no file. `options`
/// are those on which answers depend, always in the same order.
pub fn identity(
    command: &str,
    input: &Input,
    version: Option<Version>,
    options: impl IntoIterator<Item = (&'static str, Option<String>)>,
) -> Option<RunIdentity> {
    let (version, file) = (version?, input.path()?);
    let path = fs::canonicalize(file).unwrap_or_else(|_| file.to_owned());
    let options = input.format().options().into_iter().chain(options);
    Some(RunIdentity {
        program: format!("sudoku {}", env!("CARGO_PKG_VERSION")),
        command: command.to_owned(),
        input: path.display().to_string(),
        version,
        options: options.map(|(name, value)| (name.to_owned(), value)).collect(),
    })
}

/// A run that writes rows about the puzzles of its inputs. Another can resume it if it is in text,
/// from one file to a file.
pub struct RowsRun<'a> {
    /// The command, by its name.
    pub command: &'static str,
    pub input: &'a InputArgs,
    pub args: &'a RowArgs,
    /// The form of the rows.
    pub form: CheckForm,
    /// Whether the rows are written, and not only counts at the end.
    pub has_rows: bool,
    /// Whether each row of the input is one of the output, in its place.
    pub keeps_rows: bool,
    /// What a row is called outside tables, such as `puzzle`.
    pub item: &'static str,
    /// If the rows of the input are written again, what is done with them, as in `Minimize`.
    pub verb: Option<&'static str>,
    /// Whether the puzzles have to be 9x9, because only those have canonical forms.
    pub is_of_9x9: bool,
    /// Whether the exit code tells of all error lines, or only of those to typed puzzles; `None` if
    /// of none.
    pub fail_on_error: Option<bool>,
    /// A seed that may be random, with which a run that is resumed goes on.
    pub seed: Option<&'a Cell<u64>>,
    /// Why the rows of shards are not those of the whole, if they are not, and what to ask for instead.
    pub no_shards: Option<&'static str>,
    /// The options on which the rows depend beside those of the format, with their values.
    pub options: Vec<(&'static str, Option<String>)>,
}

/// The last arguments of commands that write rows. Of these only the shard changes rows.
#[derive(Clone, Args)]
pub struct RowArgs {
    #[command(flatten)]
    pub out: OutputArgs,

    #[command(flatten)]
    pub resume: ResumeArgs,

    #[command(flatten)]
    pub shard: ShardArgs,

    #[command(flatten)]
    pub run: RunArgs,
}

impl<'a> RowsRun<'a> {
    /// A run that writes one row for each puzzle.
    pub fn new(
        command: &'static str,
        input: &'a InputArgs,
        args: &'a RowArgs,
        form: CheckForm,
        mut options: Vec<(&'static str, Option<String>)>,
    ) -> Self {
        options.push(args.shard.option());
        Self {
            command,
            input,
            args,
            form,
            has_rows: true,
            keeps_rows: true,
            item: "puzzle",
            verb: None,
            is_of_9x9: false,
            fail_on_error: None,
            seed: None,
            no_shards: None,
            options,
        }
    }

    /// Checks what can be checked before there is an input.
    pub fn check(&self, inputs: usize) -> anyhow::Result<()> {
        self.args.resume.check_output(&self.args.out)?;
        let has_forms = self.options.iter().any(|(name, _)| *name == "--format");
        if has_forms && self.form == CheckForm::Text {
            check_kind(self.args.out.path())?;
        }
        if self.form == CheckForm::Parquet {
            let RowArgs { resume, shard, .. } = self.args;
            refuse_what_is_for_text(&[(resume.resume, "--resume"), (shard.manifest, "--manifest")])?;
        }
        if let Some(reason) = self.no_shards.filter(|_| self.args.shard.shard.is_some()) {
            bail!(reason);
        }
        self.args.resume.check_inputs(inputs)?;
        self.args.shard.check(inputs, &self.args.out)
    }

    /// Looks at all inputs before the first is opened, as [`rows::look_at_all`] does.
    ///
    /// # Errors
    /// Those of opening; an interrupt.
    pub fn look_at_all(&self, inputs: &[Input], cancel: &AtomicBool) -> Result<(), EarlyEnd> {
        if rows::look_at_all(inputs, &[self.args.out.named()], cancel, self.verb)? {
            return Ok(());
        }
        Err(self.stopped(None, |_| String::new(), OfflineError::Cancelled.into()))
    }

    /// Opens an input; before the first one also the output, because an input must not be the output,
    /// and then the input is read from where an earlier run has stopped. `check` refuses inputs of
    /// other kinds. `recall` gets what the earlier run has counted, and returns whether it is
    /// understood; if not, the run begins anew. Returns both, and what is noted for a manifest, or
    /// `None` after an interrupt.
    pub fn open<'o>(
        &self,
        input: &Input,
        opened: &'o mut Option<Output>,
        cancel: &AtomicBool,
        check: impl FnOnce(&Reader) -> anyhow::Result<()>,
        recall: impl FnOnce(&BTreeMap<String, u64>) -> bool,
    ) -> anyhow::Result<Option<(Reader, &'o mut Output, Option<ShardWitness>)>> {
        let (only, RowArgs { out, resume, shard, .. }) = (input.clone(), self.args.clone());
        let found = rows::open_as(input, &[self.args.out.named()], cancel, move |source| {
            shard.check_source(&source, &out)?;
            let version = resume.version(&only, &source)?;
            let (source, witness) = shard.hashed(source, is_resumable(&only, version, &out))?;
            Ok((source, (version, witness)))
        })?;
        let Some((reader, (version, witness))) = found else { return Ok(None) };
        check_row_form(reader.format(), self.form.row_form(), reader.name())?;
        if self.is_of_9x9 {
            rows::check_9x9(&reader, input, None)?;
        }
        check(&reader)?;
        if let Some(output) = opened {
            return Ok(Some((reader, output, witness)));
        }
        let mut output = if self.form == CheckForm::Parquet {
            rows::output_in(&self.args.out, self.form, &reader, self.keeps_rows)?
        } else {
            let version = version.filter(|_| input.is_only() && self.has_rows);
            self.args
                .resume
                .open(&self.args.out, identity(self.command, input, version, self.options.iter().cloned()))?
        };
        shard.check_output(&output)?;
        if output.progress().tally.answers > 0 && !recall(&output.progress().counts) {
            output.begin_anew()?;
        }
        let unit = self.unit(reader.format().is_table());
        let Some(reader) = move_to_place(reader, shard.shard, &output, cancel)? else { return Ok(None) };
        report_place(&output, unit, self.args.run.progress.quiet);
        Ok(Some((reader, opened.insert(output), witness)))
    }

    /// The bar over an input, which begins behind what an earlier run has done of it.
    pub fn bar(&self, input: &Input, reader: &Reader, so_far: &Progress) -> Bar {
        let bar =
            progress::beside(self.args.out.path(), || progress::of_bytes(&self.args.run.progress, reader));
        // It can only have done a part of a single input.
        if input.is_only() {
            bar.set_position(so_far.bytes.saturating_sub(reader.span().0));
            bar.reset_eta();
        }
        bar
    }

    /// What a row is called: a `row` of a table, or an `item`.
    const fn unit(&self, is_table: bool) -> &'static str {
        if is_table { "row" } else { self.item }
    }

    /// `3 rows` of a table, `3 puzzles` of others.
    pub fn counted(&self, rows: u64, is_table: bool) -> String {
        print::counted(rows, self.unit(is_table))
    }

    /// Ends a run that failed or was interrupted; see [`stopped`].
    pub fn stopped(
        &self,
        opened: Option<Output>,
        done: impl FnOnce(&Progress) -> String,
        error: anyhow::Error,
    ) -> EarlyEnd {
        match opened {
            Some(output) => stopped(&self.args.out, output, done, error),
            None => {
                let how_far = format!("Stopped before the first {}", self.item);
                EarlyEnd::Reported(interrupt::report(&how_far))
            }
        }
    }
}

/// Moves a reader to its shard, or behind the answers of an earlier run. `None` after an interrupt.
///
/// # Errors
/// The input does not begin with what the earlier run has read; errors of reading.
pub fn move_to_place(
    mut reader: Reader,
    shard: Option<Shard>,
    output: &Output,
    cancel: &AtomicBool,
) -> anyhow::Result<Option<Reader>> {
    let (answers, bytes, prefix) =
        (output.progress().tally.answers, output.progress().bytes, output.progress().prefix);
    if shard.is_none() && answers == 0 {
        return Ok(Some(reader));
    }
    let moved = interruptible(cancel, move || {
        if let Some(shard) = shard {
            reader.select_shard(shard)?;
        }
        let is_same = match prefix {
            Some(prefix) => reader.resume(bytes, prefix)?,
            None => true,
        };
        Ok((reader, is_same))
    })?;
    match moved {
        None => Ok(None),
        Some((_, false)) => Err(output.other_input().into()),
        Some((reader, true)) => Ok(Some(reader)),
    }
}

/// Says where a resumed run goes on: after so many of a `unit`, such as `puzzle`. One that could have
/// been resumed says that it begins anew.
pub fn report_place(output: &Output, unit: &str, is_quiet: bool) {
    let (answers, dropped) = (output.progress().tally.answers, output.dropped());
    if answers > 0 && !is_quiet {
        print::status_line(&format!("Going on after {}.", print::counted(answers, unit)));
    }
    if dropped > 0 && !is_quiet {
        print::status_line(&format!(
            "Beginning anew: {} of an earlier run were dropped. With --resume, a run goes on after them.",
            print::counted(dropped, unit)
        ));
    }
}

/// `3 puzzles answered`: what is done of a run that stopped.
pub fn answered(progress: &Progress) -> String {
    format!("{} answered", print::counted(progress.tally.answers, "puzzle"))
}

/// Ends a run that failed or was interrupted, and reports what is `done`, in words such as
/// `3 puzzles answered`. An error that ended it goes with that report.
pub fn stopped(
    out: &OutputArgs,
    output: Output,
    done: impl FnOnce(&Progress) -> String,
    error: anyhow::Error,
) -> EarlyEnd {
    let known = error.downcast_ref();
    let is_cancelled = matches!(known, Some(OfflineError::Cancelled));
    let answers = output.progress().tally.answers;
    let mut how_far = format!("Stopped after {}", done(output.progress()));
    let has_lost_servers = error.is::<ClientError<OutputError>>();
    let lacks_resume = has_lost_servers && output.could_be_kept();
    let is_kept = match known {
        // The input is another now, so the run cannot be resumed.
        Some(OfflineError::Input(InputError::Shrunk { .. } | InputError::Changed { .. })) => {
            output.discard();
            false
        }
        _ => output.stop(),
    };
    if let Some(path) = out.path() {
        how_far += &unfinished(path);
    }
    if is_kept {
        how_far += ", but --resume goes on from here";
    } else if lacks_resume {
        how_far += " (with --resume, another run goes on where one has stopped)";
    }
    if is_cancelled {
        return EarlyEnd::Reported(interrupt::report(&how_far));
    }
    EarlyEnd::Failed(if answers == 0 { error } else { error.context(how_far) })
}
