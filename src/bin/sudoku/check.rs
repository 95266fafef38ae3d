//! `sudoku check`: whether solutions are right, and which cells of grids break which rule.

use std::fmt::Write as _;
use std::mem;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use anyhow::anyhow;
use clap::Args;
use sudoku_stream::answer::{
    Check, CheckForm, CheckTally, CheckTask, Checkers, Finding, Mistake, NamedTally as _,
};
use sudoku_stream::offline::{self, CheckReport, CheckedPart, OfflineError, Output, Progress};
use sudoku_stream::pipeline::{self, ThreadPool};
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;
use sudoku_stream::text::{Format, Problem};

use crate::cli::early_end::{EarlyEnd, exit_code};
use crate::cli::input::{Input, InputArgs};
use crate::cli::interrupt;
use crate::cli::output::OutputArgs;
use crate::cli::resume::{ResumeArgs, RowsRun};
use crate::cli::run::RunArgs;
use crate::cli::value::{self, whole};
use crate::cli::{exit, print, rows};

/// The most flaws of one grid that are printed.
const MAX_FLAWS_SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  sudoku check grids.txt
  sudoku check kaggle.csv --unique
  sudoku check kaggle.csv --only-failures --format csv -o failures.csv
  sudoku check million.csv --unique -o report.txt --resume
  sudoku solve puzzles.txt -f csv | sudoku check

In a table, each solution is checked against the puzzle beside it.

Exit codes: 0, every grid is right; 1, some are not; 2, the input cannot be read.";

/// Arguments of `sudoku check`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct CheckArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Check that no puzzle has a second solution
    ///
    /// This takes a search for every row.
    #[arg(long)]
    unique: bool,

    /// List all rows that are not right, and no summary
    #[arg(long)]
    only_failures: bool,

    /// List at most N rows above the summary [range: 0 or more]
    #[arg(short = 'n', long, value_name = "N", default_value_t = 10, value_parser = whole::<usize>(0..))]
    #[arg(conflicts_with = "only_failures")]
    limit: usize,

    /// Form of the report: text, or a row for every grid as csv, tsv, jsonl or parquet [default:
    /// text]
    ///
    /// Without it, a FILE named `.csv`, `.tsv`, `.jsonl` or `.parquet` gets that.
    /// The columns of a table stay as they are; added are the line, the verdict, row and column of
    /// the wrong cell, and the sentence.
    #[arg(short, long, value_name = "FORM", value_parser = value::check_form())]
    format: Option<CheckForm>,

    /// Give up a search after N nodes
    #[arg(long, hide_short_help = true, value_name = "N", default_value_t = DEFAULT_NODE_LIMIT)]
    #[arg(value_parser = whole::<u64>(1..))]
    node_limit: u64,

    #[command(flatten)]
    out: OutputArgs,

    #[command(flatten)]
    resume: ResumeArgs,

    #[command(flatten)]
    run: RunArgs,
}

impl CheckArgs {
    /// The form of the report: the one asked for, or that of a file by its name.
    fn form(&self) -> CheckForm {
        self.out.check_form(self.format)
    }

    /// The rows that are reported.
    fn report(&self) -> CheckReport {
        let form = self.form();
        let is_text = form == CheckForm::Text;
        let limit = if is_text && !self.only_failures { self.limit } else { usize::MAX };
        CheckReport { form, with_right: !is_text && !self.only_failures, limit }
    }

    /// How inputs and the output are opened.
    fn rows(&self) -> RowsRun<'_> {
        let has_limit = self.form() == CheckForm::Text && !self.only_failures;
        RowsRun {
            command: "check",
            out: &self.out,
            resume: self.resume,
            form: self.form(),
            has_rows: true,
            keeps_rows: !self.only_failures,
            item: unit(false),
            options: vec![
                ("--format", Some(self.form().to_string())),
                ("--unique", self.unique.then(String::new)),
                ("--only-failures", self.only_failures.then(String::new)),
                ("--limit", has_limit.then(|| self.limit.to_string())),
                ("--node-limit", Some(self.node_limit.to_string())),
            ],
            is_quiet: self.run.progress.quiet,
        }
    }
}

/// Runs `sudoku check`.
pub fn run(args: &CheckArgs) -> anyhow::Result<ExitCode> {
    let mut tally = CheckTally::default();
    let ended = check(args, &mut tally);
    exit_code(ended, exit::by_errors(tally.failure_count() > 0))
}

/// Checks every grid, and counts in `tally` what is found.
fn check(args: &CheckArgs, tally: &mut CheckTally) -> Result<(), EarlyEnd> {
    let begin = Instant::now();
    let cancel = interrupt::flag()?;
    let pool = Arc::new(pipeline::lazy_pool(args.run.threads));
    let inputs = args.input.all()?;
    let rows = args.rows();
    rows.check(inputs.len())?;
    rows::check_is_one(&inputs, args.form())?;
    rows.look_at_all(&inputs, &cancel, None)?;
    let mut run = CheckRun { args, rows, cancel, pool, begin, output: None, tally, listed: 0 };
    let mut has_table = false;
    for input in &inputs {
        has_table |= run.check(input)?;
    }
    let CheckRun { rows, output, tally, .. } = run;
    let mut time = begin.elapsed();
    if let Some(output) = output {
        time += output.earlier();
        output.finish()?;
    }
    if !args.run.progress.quiet && tally.rows > 1 {
        let rows = rows.counted(tally.rows, has_table);
        let rate = print::per_second(tally.rows, time);
        print::status_line(&format!("{rows} in {:.3} s, {rate} a second.", time.as_secs_f64()));
    }
    Ok(())
}

/// A check of one input or several.
struct CheckRun<'a> {
    args: &'a CheckArgs,
    rows: RowsRun<'a>,
    cancel: Arc<AtomicBool>,
    pool: Arc<ThreadPool>,
    begin: Instant,
    /// Opened with the first input, because an input must not be the output.
    output: Option<Output>,
    /// What was found in the inputs that are done, or in the only one by an earlier run that is
    /// resumed.
    tally: &'a mut CheckTally,
    /// The failures listed for them.
    listed: usize,
}

impl CheckRun<'_> {
    /// Checks one input. Returns whether its grids are the rows of a table.
    fn check(&mut self, input: &Input) -> Result<bool, EarlyEnd> {
        let args = self.args;
        let Self { rows, output, tally, .. } = self;
        let recall = |counts: &_| CheckTally::from_named(counts).map(|counted| **tally = counted).is_some();
        let Some((reader, output)) = rows.open(input, output, &self.cancel, |_| Ok(()), recall)? else {
            return Err(self.stopped(false, OfflineError::Cancelled));
        };
        // An earlier run can only have checked a part of a single input.
        let mut tally = if input.is_only() { mem::take(self.tally) } else { CheckTally::default() };
        let (name, format) = (reader.name().to_owned(), reader.format().clone());
        let task = CheckTask { is_unique: args.unique, node_limit: args.node_limit, ..CheckTask::default() };
        let checkers = Arc::new(Checkers::new(format.clone(), task));
        let bar = self.rows.bar(&args.run.progress, input, &reader, output.progress());
        let mut report = args.report();
        let limit = report.limit.saturating_sub(self.listed);
        report.limit = limit.saturating_sub(count(tally.failure_count()));
        let has_summary = report.form == CheckForm::Text && !args.only_failures;
        let is_named = input.origin().is_some() && report.form == CheckForm::Text;
        let named = |text: &[u8]| -> Vec<u8> {
            if !is_named {
                return text.to_vec();
            }
            let text = String::from_utf8_lossy(text);
            text.lines().map(|line| input.sentence(line) + "\n").collect::<String>().into_bytes()
        };
        // A single grid is described, so the first report waits for another grid or the end.
        let mut first: Option<CheckedPart> = None;
        let (begin, rows_before, rows_earlier) = (self.begin, self.tally.rows, tally.rows);
        let result = offline::check(reader, &checkers, report, &self.pool, &self.cancel, |mut part| {
            tally.add(&part.tally);
            bar.advance(part.end, rows_before + tally.rows - rows_earlier, "rows", begin);
            if has_summary && tally.rows == 1 {
                if part.single.is_some() {
                    first = Some(part);
                    return Ok(());
                }
                if first.is_some() {
                    return Ok(());
                }
            }
            let mut rows = part.tally.rows;
            if let Some(first) = first.take() {
                rows += first.tally.rows;
                part.text.splice(0..0, first.text);
            }
            Ok(output.add_rows(part.end, part.prefix, &named(&part.text), rows, tally.named())?)
        });
        bar.finish_and_clear();
        self.tally.add(&tally);
        if let Err(error) = result {
            return Err(self.stopped(format.is_table(), error));
        }
        if tally.rows == 0 {
            return Err(anyhow!("{name} is empty.").into());
        }
        let is_told = !args.run.progress.quiet;
        let failures = tally.failure_count();
        match first.and_then(|part| part.single) {
            Some((check, finding)) => {
                let is_alone = input.origin().is_none() || input.is_by_itself();
                let report = describe_single(&check, &finding, is_alone);
                output.write(&named(report.as_bytes()))?;
            }
            None if has_summary => {
                let line = format!("{name}: {}.\n", summary(&tally, &format));
                output.write(line.as_bytes())?;
                let limit = limit as u64;
                if failures > limit && is_told {
                    let all = print::thousands(failures);
                    print::status_line(&format!(
                        "{} of {all} are listed; --only-failures lists all.",
                        limit.min(failures)
                    ));
                }
            }
            None if is_told => print::status_line(&format!("{name}: {}.", summary(&tally, &format))),
            None => {}
        }
        self.listed += count(failures).min(limit);
        Ok(format.is_table())
    }

    /// Ends a run that failed or was interrupted.
    fn stopped(&mut self, is_table: bool, error: OfflineError) -> EarlyEnd {
        let checked = |progress: &Progress| self.rows.counted(progress.tally.answers, is_table);
        self.rows.stopped(self.output.take(), checked, error)
    }
}

/// What a row is called: a `row` of a table, a `grid` of others.
const fn unit(is_table: bool) -> &'static str {
    if is_table { "row" } else { "grid" }
}

/// A number of rows, as far as one in memory goes.
fn count(rows: u64) -> usize {
    usize::try_from(rows).unwrap_or(usize::MAX)
}

/// `3 rows` of a table, `3 grids` of others.
fn counted_rows(rows: u64, format: &Format) -> String {
    print::counted(rows, unit(format.is_table()))
}

/// `9 rows of 9x9: 5 right, 2 wrong, 2 badly formed (1 rule_broken, 1 wrong_length)`.
fn summary(tally: &CheckTally, format: &Format) -> String {
    let mut summary = format!("{} of {}", counted_rows(tally.rows, format), format.order());
    let failures = tally.failure_count();
    if failures == 0 {
        return summary + ", all right";
    }
    let mut parts = vec![format!("{} right", print::thousands(tally.rows - failures))];
    for (code, words) in [
        ("wrong", "wrong"),
        ("incomplete", "incomplete"),
        ("no_solution", "without a solution"),
        ("not_unique", "with more than one solution"),
        ("gave_up", "given up"),
    ] {
        if let Some(count) = tally.failures.get(code) {
            parts.push(format!("{} {words}", print::thousands(*count)));
        }
    }
    let bad: Vec<(&str, u64)> = Problem::CODES
        .into_iter()
        .filter(|code| !Finding::CODES.contains(code))
        .filter_map(|code| Some((code, *tally.failures.get(code)?)))
        .collect();
    if !bad.is_empty() {
        let kinds: Vec<String> =
            bad.iter().map(|(code, count)| format!("{} {code}", print::thousands(*count))).collect();
        let all: u64 = bad.iter().map(|(_, count)| count).sum();
        parts.push(format!("{} badly formed ({})", print::thousands(all), kinds.join(", ")));
    }
    summary += &format!(": {}", parts.join(", "));
    summary
}

/// The report on the only grid of an input.
fn describe_single(check: &Check, finding: &Finding, is_alone: bool) -> String {
    let mut check = check.clone();
    let line = check.line.filter(|_| !is_alone);
    check.line = line;
    if let Some(error) = &mut check.error {
        error.line = error.line.filter(|_| !is_alone);
    }
    let mut report = String::new();
    match finding {
        Finding::NothingBeside | Finding::NoSolution | Finding::NotUnique | Finding::GaveUp { .. } => {
            report = finding.sentence(line) + "\n";
        }
        Finding::Wrong(mistake @ Mistake::Differs { .. }) if check.flaws.is_empty() => {
            let _ = writeln!(report, "{check}\n  {mistake}");
        }
        _ => describe(&check, &mut report),
    }
    report
}

/// Appends the verdict on a grid, and below it its flaws and blank cells.
pub fn describe(check: &Check, report: &mut String) {
    // Writing to a string cannot fail.
    let _ = writeln!(report, "{check}");
    for flaw in check.flaws.iter().take(MAX_FLAWS_SHOWN) {
        let _ = writeln!(report, "  {flaw}");
    }
    if check.flaws.len() > MAX_FLAWS_SHOWN {
        let _ = writeln!(report, "  and {} more", check.flaws.len() - MAX_FLAWS_SHOWN);
    }
    if check.blanks > 0 {
        let _ = writeln!(report, "  {} to fill", print::counted(check.blanks as u64, "blank cell"));
    }
    if check.flaws.is_empty() && check.blanks > 0 && check.error.is_none() {
        let _ = writeln!(report, "  no rule is broken so far");
    }
}
