//! `sudoku solve` and `sudoku count`: answers every puzzle of an input, here or on servers.

pub mod remote;
mod single;

use std::env;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use anyhow::{anyhow, bail};
use clap::Args;
use sudoku_stream::answer::{AddedColumn, AddedColumns, OutputForm, Solvers, Task};
use sudoku_stream::grid::Order;
use sudoku_stream::input::{
    self, Reader, Rewindable, ShardWitness, Source, ValidateError, Version, npy_header,
};
use sudoku_stream::offline::{self, OfflineError, Output, Progress, RunIdentity};
use sudoku_stream::pipeline::{self, ThreadPool};
use sudoku_stream::solver::lanes::Backend;
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Fast, Strategy};

use crate::cli::colour::ColourArgs;
use crate::cli::early_end::EarlyEnd;
use crate::cli::input::{Input, InputArgs, check_row_form};
use crate::cli::interrupt::{self, interruptible};
use crate::cli::output::{
    OutputArgs, check_columns, check_is_text, check_kind, into_columns, refuse_what_is_for_text,
};
use crate::cli::progress::Bar;
use crate::cli::resume::{self, ResumeArgs};
use crate::cli::rows::{self, ErrorLines};
use crate::cli::run::RunArgs;
use crate::cli::server::{ServerArgs, Servers};
use crate::cli::shard::ShardArgs;
use crate::cli::value::{self, AnyStrategy, COUNT_LIMIT, QuestionArg, whole};
use crate::cli::{print, progress, summary};
use single::Single;

const SOLVE_EXAMPLES: &str = "\
Examples:
  sudoku solve puzzles.txt -o solutions.txt
  zcat lists/*.gz | sudoku solve > solutions.txt
  sudoku solve easy.txt hard.txt --question unique -f csv -o answers.csv
  sudoku solve table.csv -f csv --add solution,clues,error -o more.csv
  sudoku solve puzzles.txt -o part-2.txt --shard 2/5
  sudoku solve puzzles.txt --server one:50051,two:50051

Each puzzle line is answered by one line, in order: a solution, or `error: ` and a sentence.
One puzzle on a terminal is drawn, with a line about it.";

const COUNT_EXAMPLES: &str = "\
Examples:
  sudoku count puzzles.txt
  sudoku count puzzles.txt -n 2
  sudoku count 53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79
  sudoku generate --random-clues 24 -n 1000 | sudoku count -f jsonl

Each puzzle line is answered by one line, in order: a number, or `error: ` and a sentence.
A number with a + behind it is where counting stopped: there are that many solutions or more.";

/// An input of at most this length has few puzzles: fifty of 9x9.
const SHORT_BYTES: usize = 4096;

/// The variables of the environment that stand for options.
const OPTION_VARIABLES: [&str; 2] = ["SUDOKU_BACKEND", "SUDOKU_TOKEN_FILE"];

/// Arguments of `sudoku solve`.
#[derive(Clone, Args)]
#[command(after_long_help = SOLVE_EXAMPLES)]
pub struct SolveArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Answer to find for every puzzle
    #[arg(long, value_enum, value_name = "WHAT", default_value_t = QuestionArg::First)]
    question: QuestionArg,

    /// Stop counting at N solutions of a puzzle [default: 1000; for `--add solutions` 2]
    #[arg(short = 'n', long, hide_short_help = true, value_name = "N|all")]
    #[arg(value_parser = value::number_or_all, help_heading = "Search")]
    limit: Option<u64>,

    #[command(flatten)]
    answer: AnswerArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// Arguments of `sudoku count`.
#[derive(Clone, Args)]
#[command(after_long_help = COUNT_EXAMPLES)]
pub struct CountArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Stop counting at N solutions
    ///
    /// The answer is then `N+`: N solutions or more. Below N it is exact. With `all` only
    /// `--node-limit` ends a search.
    #[arg(short = 'n', long, value_name = "N|all", default_value_t = COUNT_LIMIT)]
    #[arg(value_parser = value::number_or_all)]
    limit: u64,

    #[command(flatten)]
    answer: AnswerArgs,

    #[command(flatten)]
    run: RunArgs,
}

/// How puzzles are searched, and how answers are written.
#[derive(Clone, Args)]
struct AnswerArgs {
    #[command(flatten)]
    out: OutputArgs,

    /// Form of the answers [default: solution]
    ///
    /// Without it, one puzzle on a terminal is drawn, and a FILE named `.csv`, `.tsv`, `.jsonl`, `.npy` or
    /// `.parquet` gets that.
    /// An npy is an array of NumPy of shape (N, 81) and type uint8, with zeros in place of an error.
    #[arg(id = "form", short = 'f', long = "format", value_name = "FORM", value_parser = value::form())]
    #[arg(help_heading = "Output")]
    form: Option<OutputForm>,

    /// Columns to add to rows of csv, tsv, jsonl and parquet
    ///
    /// These are solution, solutions (their number), error (its code), clues, minimal (whether each
    /// clue is needed), nodes, guesses, rating and technique (of the hardest step by hand), canonical
    /// (the form of `sudoku canon`, for 9x9), in any order and with commas between them.
    /// A table keeps its own columns as they are, and by default gets solution and error.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = value::column())]
    #[arg(hide_possible_values = true, help_heading = "Output")]
    add: Vec<AddedColumn>,

    /// Search strategy [default: fast for 9x9, propagation for other sizes]
    #[arg(long, hide_short_help = true, value_name = "NAME", value_parser = value::strategy())]
    #[arg(help_heading = "Search")]
    strategy: Option<AnyStrategy>,

    /// Instructions of the strategy fast: avx512, avx512vl, avx2, neon or portable [default: fastest
    /// of this machine]
    #[arg(long, hide_short_help = true, value_name = "NAME")]
    #[arg(value_parser = value::backend(), hide_possible_values = true)]
    #[arg(env = "SUDOKU_BACKEND", hide_env = true)]
    #[arg(help_heading = "Search")]
    backend: Option<Backend>,

    /// Give up a puzzle after N nodes
    ///
    /// A node is a state that the search visits.
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..), help_heading = "Search")]
    node_limit: u64,

    /// Validate all input first; stop at a bad line
    ///
    /// The first bad line ends the run, and nothing is written.
    #[arg(long, help_heading = "Input")]
    strict: bool,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    shard: ShardArgs,

    /// Exit with 1 if an answer is an error line
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    fail_on_error: bool,

    /// Print the search costs on standard error
    ///
    /// They are nodes, guesses, backtracks and depth, and where the strategy counts them
    /// comparisons and placements. One puzzle gives a line, several a table with means and
    /// percentiles.
    #[arg(long, hide_short_help = true, help_heading = "Output")]
    stats: bool,

    #[command(flatten)]
    server: ServerArgs,

    #[command(flatten)]
    colour: ColourArgs,
}

impl AnswerArgs {
    /// The form of the answers: the one asked for, or that of a file by its name.
    fn form(&self) -> OutputForm {
        let is_named = |(name, form): &(&str, OutputForm)| {
            self.out.is_named(name) && (form.row_form().is_some() || *form == OutputForm::Digits)
        };
        let named = || OutputForm::ALL.into_iter().chain(OutputForm::OF_FILES).find(is_named);
        self.form.or_else(|| named().map(|(_, form)| form)).unwrap_or_default()
    }
}

impl CountArgs {
    /// Is nothing but errors wanted on standard error?
    pub const fn is_quiet(&self) -> bool {
        self.run.progress.quiet
    }
}

impl From<CountArgs> for SolveArgs {
    fn from(args: CountArgs) -> Self {
        let CountArgs { input, limit, answer, run } = args;
        Self { input, question: QuestionArg::Count, limit: Some(limit), answer, run }
    }
}

impl SolveArgs {
    /// The arguments of a command line with nothing but inputs: each option as clap has it by
    /// default.
    fn of_inputs(inputs: Vec<OsString>) -> Self {
        Self {
            input: InputArgs { inputs, ..InputArgs::default() },
            question: QuestionArg::First,
            limit: None,
            answer: AnswerArgs {
                out: OutputArgs::default(),
                form: None,
                add: Vec::new(),
                strategy: None,
                backend: None,
                node_limit: DEFAULT_NODE_LIMIT,
                strict: false,
                resume: ResumeArgs::default(),
                shard: ShardArgs::default(),
                fail_on_error: false,
                stats: false,
                server: ServerArgs::default(),
                colour: ColourArgs::default(),
            },
            run: RunArgs::default(),
        }
    }

    /// The arguments, if there is nothing but inputs. That is known without clap, which takes longer
    /// than to solve a puzzle.
    pub fn without_options(inputs: &[OsString]) -> Option<Self> {
        let is_option = |arg: &OsString| arg.as_bytes().starts_with(b"-");
        let has_options = inputs.iter().any(is_option)
            || OPTION_VARIABLES.iter().any(|variable| env::var_os(variable).is_some());
        (!has_options).then(|| Self::of_inputs(inputs.to_vec()))
    }

    /// Is nothing but errors wanted on standard error?
    pub const fn is_quiet(&self) -> bool {
        self.run.progress.quiet
    }

    /// The options on which answers depend beside those of the format, with their values. A run
    /// resumes another only if these are equal. `strategy` is the one in use, named or not.
    pub fn fingerprint(&self, strategy: &str) -> [(&'static str, Option<String>); 8] {
        // Every argument is named, so that no option is forgotten on which the answers depend.
        let Self { input: _, question, limit, answer, run: _ } = self;
        let AnswerArgs {
            node_limit,
            shard,
            stats,
            server,
            // Told by what they lead to.
            add: _,
            form: _,
            strategy: _,
            // What follows changes no answer.
            backend: _,
            strict: _,
            out: _,
            resume: _,
            fail_on_error: _,
            colour: _,
        } = answer;
        // Costs are counted from the beginning or not at all, and a server reports fewer of them.
        let with_servers = if server.urls.is_empty() { "" } else { "with --server" };
        [
            ("--question", Some(question.to_string())),
            ("--limit", limit.map(value::name_of_number)),
            ("--strategy", Some(strategy.to_owned())),
            ("--add", self.columns().map(names)),
            ("--format", Some(answer.form().to_string())),
            ("--node-limit", Some(node_limit.to_string())),
            shard.option(),
            ("--stats", stats.then(|| with_servers.to_owned())),
        ]
    }

    /// The flags that only text can have, and whether each is given.
    fn flags_for_text(&self) -> [(bool, &'static str); 3] {
        [
            (self.answer.resume.resume, "--resume"),
            (self.answer.shard.manifest, "--manifest"),
            (!self.answer.server.urls.is_empty(), "--server"),
        ]
    }

    /// The columns that are asked for.
    fn columns(&self) -> Option<AddedColumns> {
        Some(AddedColumns::new(&self.answer.add)).filter(|columns| !columns.is_empty())
    }

    /// The task for every puzzle.
    fn task(&self) -> Task {
        let default = Task::default();
        Task {
            strategy: self.answer.strategy,
            question: self.question.up_to(self.limit.unwrap_or(COUNT_LIMIT)),
            node_limit: self.answer.node_limit,
            form: self.answer.form(),
            columns: self.columns(),
            count_limit: self.limit.unwrap_or(default.count_limit),
            measure: self.answer.stats,
        }
    }
}

/// `solution,error`.
fn names(columns: AddedColumns) -> String {
    columns.iter().map(AddedColumn::name).collect::<Vec<_>>().join(",")
}

/// Runs `sudoku solve`.
pub fn run(args: &SolveArgs) -> anyhow::Result<ExitCode> {
    let begin = Instant::now();
    args.answer.colour.apply();
    let servers = check_flags(args)?;
    let inputs = args.input.all().map_err(|error| match args.input.missing_second() {
        Some(second) if args.answer.out.path().is_none() => {
            anyhow!("{error}. To write to it, use -o {}.", second.display())
        }
        _ => error,
    })?;
    refuse_several(args, inputs.len())?;
    if let Some(single) = Single::of(args, &inputs) {
        return single.solve(args);
    }
    let cancel = interrupt::flag()?;
    let pool = pipeline::lazy_pool(args.run.threads);
    let run = SolveRun { args, servers, cancel, pool: Arc::new(pool), begin };
    let mut errors = ErrorLines::new(args.answer.fail_on_error);
    let ended = run.answer_inputs(inputs, &mut errors);
    errors.exit_code(ended)
}

/// Refuses flags that do not go together, before any input is looked at. Returns the servers.
fn check_flags(args: &SolveArgs) -> anyhow::Result<Servers> {
    if args.answer.form.is_none() {
        check_kind(args.answer.out.path())?;
    }
    let servers = args.answer.server.servers()?;
    let counts =
        matches!(args.question, QuestionArg::Count) || args.answer.add.contains(&AddedColumn::Solutions);
    if args.limit.is_some() && !counts {
        bail!("--limit is for --question count and --add solutions. Ask for one of them, or leave it out.");
    }
    args.answer.resume.check_output(&args.answer.out)?;
    if !args.answer.add.is_empty() && args.answer.form().row_form().is_none() {
        bail!("--add needs rows with columns. Use it with --format csv, tsv, jsonl or parquet.");
    }
    if args.answer.form() == OutputForm::Digits {
        refuse_with_npy(args)?;
    }
    if args.answer.form() == OutputForm::Parquet {
        check_columns(&args.answer.out)?;
        refuse_what_is_for_text(&args.flags_for_text())?;
    } else if let Some(path) = args.answer.out.path().filter(|_| args.answer.form() != OutputForm::Digits) {
        check_is_text(path)?;
    }
    Ok(servers)
}

/// Refuses what an array of solutions cannot be, or does not have.
fn refuse_with_npy(args: &SolveArgs) -> anyhow::Result<()> {
    if args.answer.out.path().is_none() {
        bail!(
            "--format npy needs a file, because the number of puzzles stands at its beginning. Name one with -o."
        );
    }
    if matches!(args.question, QuestionArg::Count) {
        bail!("--format npy holds solutions, and counts are none. Use another --format.");
    }
    refuse_what_is_for_text(&args.flags_for_text())
}

/// Refuses what needs a single input.
fn refuse_several(args: &SolveArgs, inputs: usize) -> anyhow::Result<()> {
    args.answer.resume.check_inputs(inputs)?;
    args.answer.shard.check(inputs, &args.answer.out)
}

/// A run over one input or several.
struct SolveRun<'a> {
    args: &'a SolveArgs,
    servers: Servers,
    cancel: Arc<AtomicBool>,
    pool: Arc<ThreadPool>,
    begin: Instant,
}

/// An input before its first answer.
struct PreparedInput {
    input: Input,
    /// The input once more, for `--strict`, which reads it twice.
    rewindable: Option<Rewindable>,
    /// The version of the file, which shows whether it was changed.
    version: Option<Version>,
}

/// An input that is open.
struct OpenedInput {
    reader: Reader,
    version: Option<Version>,
    /// What is noted of the input for a manifest.
    witness: Option<ShardWitness>,
}

/// The inputs of a run, of which the first is open.
struct OpenedInputs {
    inputs: Vec<PreparedInput>,
    first: OpenedInput,
    /// The bytes of all of them, where they are known.
    bytes: Option<u64>,
}

/// A run before its next answer: the first input and the output are where that belongs.
struct PositionedRun {
    inputs: Vec<PreparedInput>,
    first: OpenedInput,
    so_far: AnswersSoFar,
    /// The order of an array, which holds puzzles of one size.
    array_order: Option<Order>,
    /// What is noted of the input for a manifest.
    witness: Option<ShardWitness>,
}

/// The answers so far, and how they are shown.
struct AnswersSoFar {
    output: Output,
    bar: Bar,
    /// The bytes of the inputs that are done, and the lines of them that were passed over.
    bytes_done: u64,
    passed_lines: u64,
}

impl SolveRun<'_> {
    /// Answers every puzzle of all inputs, from opening them to the report, and counts in `errors` the
    /// error lines.
    fn answer_inputs(&self, inputs: Vec<Input>, errors: &mut ErrorLines) -> Result<(), EarlyEnd> {
        let inputs = self.check_strictly(inputs)?;
        let opened = self.open_inputs(inputs)?;
        let positioned = self.position(opened)?;
        let (output, passed_lines) = self.answer_all(positioned, errors)?;
        self.report(output, passed_lines)
    }

    /// Validates all inputs if `--strict` asks for that. Without it, nothing is opened yet.
    fn check_strictly(&self, inputs: Vec<Input>) -> Result<Vec<PreparedInput>, EarlyEnd> {
        let prepare = |input| {
            let mut prepared = PreparedInput { input, rewindable: None, version: None };
            if self.args.answer.strict && !self.validate(&mut prepared)? {
                return Err(EarlyEnd::before_first_puzzle());
            }
            Ok(prepared)
        };
        inputs.into_iter().map(prepare).collect()
    }

    /// Opens the first input, and the others for a moment, so that one that cannot be read is known
    /// before anything is written.
    fn open_inputs(&self, inputs: Vec<PreparedInput>) -> Result<OpenedInputs, EarlyEnd> {
        let open = |input| self.open(input)?.ok_or_else(EarlyEnd::before_first_puzzle);
        let first = open(&inputs[0])?;
        let mut bytes = first.reader.len_bytes();
        for other in &inputs[1..] {
            // A validated one was open already. The others are opened when it is their turn,
            // because too many at once may be refused, and because they may wait for somebody to
            // write them.
            let can_be_opened = !self.args.answer.strict && other.input.is_rereadable();
            let length = if can_be_opened { open(other)?.reader.len_bytes() } else { None };
            bytes = bytes.zip(length).map(|(sum, length)| sum + length);
        }
        Ok(OpenedInputs { inputs, first, bytes })
    }

    /// Validates an input for `--strict`, and keeps it to be read again. False after an interrupt.
    fn validate(&self, prepared: &mut PreparedInput) -> anyhow::Result<bool> {
        let (args, input) = (self.args.clone(), prepared.input.clone());
        let opened = interruptible(&self.cancel, move || {
            let (source, version) = open_source(&args, &input)?;
            let rewindable = source.rewindable()?;
            Ok((input.detect(rewindable.source()?)?, rewindable, version))
        })?;
        let Some((reader, rewindable, version)) = opened else { return Ok(false) };
        match input::validate(reader, &self.pool, &self.cancel, 1, |_| ()) {
            Err(ValidateError::Cancelled) => return Ok(false),
            Err(ValidateError::Input(error)) => return Err(error.into()),
            Err(error @ ValidateError::Threads(_)) => return Err(error.into()),
            Ok(found) => {
                if let Some(error) = found.errors.into_iter().next() {
                    bail!(prepared.input.sentence(&error.to_string()));
                }
            }
        }
        (prepared.rewindable, prepared.version) = (Some(rewindable), version);
        Ok(true)
    }

    /// Opens an input, or reads a validated one again. `None` after an interrupt.
    fn open(&self, prepared: &PreparedInput) -> anyhow::Result<Option<OpenedInput>> {
        let (args, input) = (self.args.clone(), prepared.input.clone());
        if let Some(rewindable) = &prepared.rewindable {
            let version = prepared.version;
            return Ok(Some(read(rewindable.source()?, &args, &input, version)?));
        }
        prepared.input.interruptibly(&self.cancel, move || {
            let (source, version) = open_source(&args, &input)?;
            read(source, &args, &input, version)
        })
    }

    /// Opens the output, and moves the first input to its shard or behind the answers of an earlier
    /// run.
    fn position(&self, opened: OpenedInputs) -> Result<PositionedRun, EarlyEnd> {
        let args = self.args;
        let OpenedInputs { inputs, first, bytes } = opened;
        let order = first.reader.format().order();
        let strategy = task_for(args, order)?.strategy_for(order);
        let mut output = match args.answer.form() {
            OutputForm::Parquet => into_columns(args.answer.out.open()?, &first.reader, true)?,
            OutputForm::Digits => args.answer.out.open()?,
            _ => {
                let identity = identity(args, &inputs, strategy, first.version);
                args.answer.resume.open(&args.answer.out, identity)?
            }
        };
        args.answer.shard.check_output(&output)?;
        let array_order = (args.answer.form() == OutputForm::Digits).then_some(order);
        if array_order.is_some() {
            if !output.is_atomic() {
                let what = "--format npy needs a regular file, and the output is none. Name another with -o.";
                return Err(anyhow!(what).into());
            }
            output.write(&npy_header(0, order))?;
        }
        let witness = first.witness.clone();
        let moved = resume::move_to_place(first.reader, args.answer.shard.shard, &output, &self.cancel)?;
        let Some(reader) = moved else { return Err(EarlyEnd::before_first_puzzle()) };
        let first = OpenedInput { reader, ..first };
        resume::report_place(&output, "puzzle", args.is_quiet());
        let bar = progress::beside(args.answer.out.path(), || match inputs.len() {
            1 => progress::of_bytes(&args.run.progress, &first.reader),
            _ => progress::of_inputs(&args.run.progress, &first.reader, bytes),
        });
        let so_far = AnswersSoFar { output, bar, bytes_done: 0, passed_lines: 0 };
        Ok(PositionedRun { inputs, first, so_far, array_order, witness })
    }

    /// Answers every puzzle of all inputs, and completes the output. Returns the number of lines that were
    /// passed over, too.
    fn answer_all(
        &self,
        positioned: PositionedRun,
        errors: &mut ErrorLines,
    ) -> Result<(Output, u64), EarlyEnd> {
        let PositionedRun { inputs, first, mut so_far, array_order, witness } = positioned;
        let mut opened = Some(first);
        for prepared in &inputs {
            let answered = self.answer_next(prepared, opened.take(), array_order, &mut so_far);
            errors.count(so_far.output.progress().tally.error_count(), &prepared.input);
            if let Err(error) = answered {
                so_far.bar.finish_and_clear();
                return Err(self.stop(so_far.output, error));
            }
        }
        so_far.bar.finish_and_clear();
        let mut output = so_far.output;
        if let Some(order) = array_order {
            output.replace_heading(&npy_header(output.progress().tally.answers, order))?;
        }
        let AnswerArgs { shard, out, .. } = &self.args.answer;
        if let Err(error) = shard.write_manifest(out, &output, witness.as_ref()) {
            return Err(self.stop(output, error));
        }
        Ok((output, so_far.passed_lines))
    }

    /// Answers every puzzle of the input whose turn it is, which is opened first if it is not yet.
    fn answer_next(
        &self,
        prepared: &PreparedInput,
        opened: Option<OpenedInput>,
        array_order: Option<Order>,
        so_far: &mut AnswersSoFar,
    ) -> anyhow::Result<()> {
        let opened = match opened {
            Some(first) => first,
            None => self.open(prepared)?.ok_or(OfflineError::Cancelled)?,
        };
        let order = opened.reader.format().order();
        if let Some(array_order) = array_order.filter(|&array_order| array_order != order) {
            let (name, is_typed) = (prepared.input.name(), prepared.input.is_typed());
            let what = if is_typed { format!("is {order}") } else { format!("has {order} puzzles") };
            bail!("{name} {what}, and an array holds one size: {array_order} so far.");
        }
        self.answer(&prepared.input, opened, so_far)
    }

    /// Ends a run that failed or was interrupted after its output was opened.
    fn stop(&self, output: Output, error: anyhow::Error) -> EarlyEnd {
        resume::stopped(&self.args.answer.out, output, resume::answered, error)
    }

    /// Gives the output its name, and reports the run on standard error.
    fn report(&self, output: Output, passed_lines: u64) -> Result<(), EarlyEnd> {
        let args = self.args;
        let (tally, time) = (output.progress().tally.clone(), output.earlier() + self.begin.elapsed());
        output.finish()?;
        // One answer speaks for itself, unless it is an error that lies in a file.
        let is_seen = tally.answers == 1 && (tally.error_count() == 0 || args.answer.out.path().is_none());
        if !args.is_quiet() && !is_seen {
            print::status_line(&(summary::summary(&tally, time) + &summary::passed_over(passed_lines)));
        }
        if args.answer.stats {
            print::status_line(&summary::stats(&tally, time));
        }
        Ok(())
    }

    /// Answers every puzzle of an input.
    fn answer(&self, input: &Input, opened: OpenedInput, so_far: &mut AnswersSoFar) -> anyhow::Result<()> {
        let args = self.args;
        let reader = opened.reader;
        let task = task_for(args, reader.format().order())?;
        let AnswersSoFar { output, bar, bytes_done, passed_lines } = so_far;
        let passed = reader.passed_lines();
        let earlier = output.earlier();
        let (first_byte, length) = (reader.span().0, length(&reader));
        let (bar, done) = (&*bar, *bytes_done);
        // An earlier run can only have answered a part of a single input.
        let (resumed_bytes, answers_before) = match (input.is_only(), output.progress()) {
            (true, progress) => (progress.bytes.saturating_sub(first_byte), 0),
            (false, progress) => (0, progress.tally.answers),
        };
        bar.set_position(done + resumed_bytes);
        bar.reset_eta();
        let watch = |so_far: &Progress| {
            show(bar, so_far, done, first_byte, earlier + self.begin.elapsed());
        };
        let notify = |notice: &str| {
            if !args.is_quiet() {
                bar.suspend(|| print::status_line(notice));
            }
        };
        output.set_origin(task.form, reader.format(), input.origin().cloned());
        if self.servers.endpoints.is_empty() {
            let format = reader.format().clone();
            let is_short = reader.has_at_most(SHORT_BYTES);
            let solvers = if is_short { Solvers::for_few(format, task) } else { Solvers::new(format, task) };
            let solvers = Arc::new(solvers);
            offline::solve(reader, &solvers, &self.pool, &self.cancel, output, watch)?;
        } else {
            remote::solve(&self.servers, reader, &task, &self.cancel, output, watch, notify)?;
        }
        // A shard may have no puzzle.
        if output.progress().tally.answers == answers_before && args.answer.shard.shard.is_none() {
            bail!("{} is empty.", input.name());
        }
        *bytes_done += length.unwrap_or(0);
        *passed_lines += passed.count();
        Ok(())
    }
}

/// The number of bytes that are read, where it is known.
fn length(reader: &Reader) -> Option<u64> {
    let (first_byte, end) = reader.span();
    end.map(|end| end - first_byte.min(end))
}

/// Opens an input, if a run like this can read it.
fn open_source(args: &SolveArgs, input: &Input) -> anyhow::Result<(Source, Option<Version>)> {
    let source = input.source()?;
    if let Some(id) = source.file_id() {
        Output::check_apart(args.answer.out.path(), "-o", id)?;
    }
    args.answer.shard.check_source(&source, &args.answer.out)?;
    let version = args.answer.resume.version(input, &source)?;
    Ok((source, version))
}

/// Detects the format. The input is hashed while it is read if the run can be resumed: from one
/// file to a file.
fn read(
    source: Source,
    args: &SolveArgs,
    input: &Input,
    version: Option<Version>,
) -> anyhow::Result<OpenedInput> {
    let is_resumable = resume::is_resumable(input, version, &args.answer.out);
    let (source, witness) = args.answer.shard.hashed(source, is_resumable)?;
    let reader = input.detect(source)?;
    if args.answer.add.contains(&AddedColumn::Canonical) {
        rows::check_9x9(&reader, input, None)?;
    }
    let form = args.answer.form();
    check_row_form(reader.format(), form.row_form(), reader.name())?;
    let has_own_columns =
        reader.format().is_table() && matches!(form, OutputForm::Csv | OutputForm::Tsv | OutputForm::Parquet);
    if has_own_columns && !input.is_only() {
        bail!(
            "{} has columns of its own, which only a table of one input keeps. Name one, or use --format jsonl, \
             which keeps them all.",
            reader.name()
        );
    }
    Ok(OpenedInput { reader, version, witness })
}

/// The identity of a run from one file, which can be resumed.
fn identity(
    args: &SolveArgs,
    inputs: &[PreparedInput],
    strategy: &'static dyn Strategy,
    version: Option<Version>,
) -> Option<RunIdentity> {
    let [only] = inputs else { return None };
    resume::identity("solve", &only.input, version, args.fingerprint(strategy.name()))
}

/// The task for puzzles of an order: strategy, back end, colours.
fn task_for(args: &SolveArgs, order: Order) -> anyhow::Result<Task> {
    let mut task = args.task();
    let strategy = task.strategy_for(order);
    if !strategy.supports(order) {
        bail!("The strategy {} does not solve {order} puzzles. Name another.", strategy.name());
    }
    if let Some(backend) = args.answer.backend
        && strategy.name() == Fast::BEST.name()
        && args.answer.server.urls.is_empty()
    {
        task.strategy = Some(Fast::with(backend));
    }
    if args.answer.out.path().is_none() && task.form == OutputForm::Grid && print::has_colours() {
        task.form = OutputForm::PaintedGrid;
    }
    Ok(task)
}

fn show(bar: &Bar, progress: &Progress, done: u64, first_byte: u64, time: Duration) {
    if !bar.is_hidden() {
        bar.set_position(done + progress.bytes.saturating_sub(first_byte));
        bar.set_message(format!("{} puzzles/s", print::per_second(progress.tally.answers, time)));
    }
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory as _, Parser as _};

    use super::*;
    use crate::cli::deferred::Deferred;
    use crate::{Command, CommandLine};

    /// All arguments but the strategy, which has a name only.
    fn facts(args: SolveArgs) -> (String, Option<&'static str>) {
        let SolveArgs { input, question, limit, answer, run } = args;
        let AnswerArgs {
            out,
            form,
            add,
            strategy,
            backend,
            node_limit,
            strict,
            resume,
            shard,
            fail_on_error,
            stats,
            server,
            colour,
        } = answer;
        let flags = (strict, resume, fail_on_error, stats);
        let search = (limit, backend, node_limit, shard);
        let facts = format!("{:?}", (input, question, out, form, add, flags, search, server, colour, run));
        (facts, strategy.map(Strategy::name))
    }

    #[test]
    fn inputs_alone_are_read_as_clap_reads_them() {
        if OPTION_VARIABLES.iter().any(|variable| env::var_os(variable).is_some()) {
            println!("SKIPPED: a variable of the environment stands for an option");
            return;
        }
        for inputs in [&[][..], &["puzzles.txt"], &["one", "", "two words"]] {
            let typed = ["sudoku", "solve"].iter().chain(inputs);
            let Command::Solve(Deferred(parsed)) = CommandLine::parse_from(typed).command else {
                panic!("{inputs:?}");
            };
            let inputs = inputs.iter().map(OsString::from).collect();
            assert_eq!(facts(SolveArgs::of_inputs(inputs)), facts(parsed));
        }
        for options in [&["-q"][..], &["one", "--stats"], &["-"], &["--", "one"]] {
            let options: Vec<_> = options.iter().map(OsString::from).collect();
            assert!(SolveArgs::without_options(&options).is_none());
        }
    }

    #[test]
    fn every_variable_that_stands_for_an_option_is_known() {
        let mut command = CommandLine::command();
        command.build();
        let solve = command.find_subcommand("solve").unwrap();
        let variables: Vec<_> = solve.get_arguments().filter_map(|arg| arg.get_env()).collect();
        assert_eq!(variables, OPTION_VARIABLES);
    }
}
