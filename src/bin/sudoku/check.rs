//! `sudoku check`: whether solutions are right, and which cells of grids break which rule.

use std::fmt::Write as _;
use std::time::Duration;

use clap::Args;
use sudoku_stream::answer::{
    Check, CheckForm, CheckJob, CheckTally, CheckTask, Finding, Mistake, ReportedRows, RowTally as _,
};
use sudoku_stream::offline::{Output, OutputError, RowPart};
use sudoku_stream::solver::DEFAULT_NODE_LIMIT;
use sudoku_stream::text::{Format, Problem};

use crate::cli::input::{Input, InputArgs};
use crate::cli::print;
use crate::cli::resume::{RowArgs, RowsRun};
use crate::cli::row_command::{EndedInput, RowCommand};
use crate::cli::value::{self, whole};

/// The most flaws of one grid that are printed.
const MAX_FLAWS_SHOWN: usize = 10;

const EXAMPLES: &str = "\
Examples:
  sudoku check grids.txt
  sudoku check kaggle.csv --unique
  sudoku check kaggle.csv --only-failures --format csv -o failures.csv
  sudoku check kaggle.csv --unique --only-right -o right.csv
  sudoku check million.csv --unique -o report.txt --resume
  sudoku solve puzzles.txt -f csv | sudoku check

In a table, each solution is checked against the puzzle beside it.

Exit codes: 0, every grid is right, or those that are were written; 1, some are not; 2, the input cannot be read.";

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

    /// Write the rows that are right as they are, and no report
    ///
    /// The rows of several inputs must be alike.
    #[arg(long, conflicts_with_all = ["format", "only_failures", "limit"])]
    only_right: bool,

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
    rows: RowArgs,
}

impl CheckArgs {
    /// The rows that are reported. For a person they are some, above a summary.
    fn reported(&self) -> ReportedRows {
        match self.rows.out.check_form(self.format) {
            _ if self.only_right => ReportedRows::Right,
            _ if self.only_failures => ReportedRows::Failures,
            CheckForm::Text => ReportedRows::FirstFailures(self.limit),
            _ => ReportedRows::All,
        }
    }
}

impl RowCommand for CheckArgs {
    type Job = CheckJob;

    fn rows(&self) -> RowsRun<'_> {
        // Every argument is named, so that no option is forgotten on which the rows depend.
        let Self { input, unique, only_failures, only_right, limit, format, node_limit, rows } = self;
        let (form, reported) = (rows.out.check_form(*format), self.reported());
        let form = if reported == ReportedRows::Right { CheckForm::Text } else { form };
        let has_summary = reported == ReportedRows::FirstFailures(*limit);
        let options = vec![
            ("--format", Some(form.to_string())),
            ("--unique", unique.then(String::new)),
            ("--only-failures", only_failures.then(String::new)),
            ("--only-right", only_right.then(String::new)),
            ("--limit", has_summary.then(|| limit.to_string())),
            ("--node-limit", Some(node_limit.to_string())),
        ];
        RowsRun {
            keeps_rows: reported == ReportedRows::All,
            item: unit(false),
            verb: only_right.then_some("Check"),
            no_shards: has_summary.then_some(
                "The report of a shard ends with a summary of its own. \
                 Ask for --only-failures, --only-right or --format csv.",
            ),
            // Every row that is not right is what was looked for, unless those that are right were.
            fail_on_error: (!only_right).then_some(true),
            ..RowsRun::new("check", input, rows, form, options)
        }
    }

    fn job(&self, format: Format, form: CheckForm) -> anyhow::Result<CheckJob> {
        let (is_unique, node_limit) = (self.unique, self.node_limit);
        let task = CheckTask { is_unique, node_limit, ..CheckTask::default() };
        Ok(CheckJob::new(format, task, form, self.reported()))
    }

    fn shown(tally: &CheckTally) -> (u64, &'static str) {
        (tally.rows, "rows")
    }

    fn edit(&self, rows: &RowsRun<'_>, input: &Input, part: RowPart<CheckTally>, failures: u64) -> Vec<u8> {
        let (mut text, listed) = (part.text, usize::try_from(failures).unwrap_or(usize::MAX));
        if let ReportedRows::FirstFailures(limit) = self.reported() {
            // Each report is a line.
            let kept = text.split_inclusive(|&byte| byte == b'\n').take(limit.saturating_sub(listed));
            text.truncate(kept.map(<[u8]>::len).sum());
        }
        if rows.form == CheckForm::Text && rows.verb.is_none() { named(input, text) } else { text }
    }

    fn describes(&self, _: &Input, _: CheckForm) -> bool {
        matches!(self.reported(), ReportedRows::FirstFailures(_))
    }

    fn describe(&self, job: &CheckJob, input: &Input) -> Option<String> {
        let (check, finding) = job.take_single()?;
        let is_alone = input.origin().is_none() || input.is_by_itself();
        let report = describe_single(&check, &finding, is_alone);
        String::from_utf8(named(input, report.into_bytes())).ok()
    }

    fn end_input(&self, ended: &EndedInput<'_, CheckTally>, output: &mut Output) -> Result<(), OutputError> {
        let EndedInput { name, format, tally, before } = ended;
        let is_told = !self.rows.run.progress.quiet;
        let line = format!("{name}: {}.", summary(tally, format));
        let ReportedRows::FirstFailures(limit) = self.reported() else {
            if is_told {
                print::status_line(&line);
            }
            return Ok(());
        };
        output.write((line + "\n").as_bytes())?;
        let (failures, listed) = (tally.error_count(), before.error_count());
        let left = (limit as u64).saturating_sub(listed);
        if failures > left && is_told {
            let all = print::thousands(failures);
            print::status_line(&format!("{left} of {all} are listed; --only-failures lists all."));
        }
        Ok(())
    }

    fn summary(&self, tally: &CheckTally, time: Duration, has_table: bool) -> Vec<String> {
        let line = || print::in_time(tally.rows, unit(has_table), time) + ".";
        Vec::from_iter((tally.rows > 1).then(line))
    }
}

/// The name of the input in every line that is about it, where it needs one.
fn named(input: &Input, text: Vec<u8>) -> Vec<u8> {
    if input.origin().is_none() {
        return text;
    }
    let text = String::from_utf8_lossy(&text);
    text.lines().map(|line| input.sentence(line) + "\n").collect::<String>().into_bytes()
}

/// What a row is called: a `row` of a table, a `grid` of others.
const fn unit(is_table: bool) -> &'static str {
    if is_table { "row" } else { "grid" }
}

/// `3 rows` of a table, `3 grids` of others.
fn counted_rows(rows: u64, format: &Format) -> String {
    print::counted(rows, unit(format.is_table()))
}

/// `9 rows of 9x9: 5 right, 2 wrong, 2 badly formed (1 rule_broken, 1 wrong_length)`.
fn summary(tally: &CheckTally, format: &Format) -> String {
    let mut summary = format!("{} of {}", counted_rows(tally.rows, format), format.order());
    let failures = tally.error_count();
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
    let is_bad = |code: &&&str| !Finding::CODES.contains(*code);
    let known = |code| tally.failures.get_key_value(code);
    let bad: Vec<_> = Problem::CODES.iter().filter(is_bad).filter_map(known).collect();
    if !bad.is_empty() {
        let all: u64 = bad.iter().map(|(_, count)| *count).sum();
        parts.push(format!("{} badly formed ({})", print::thousands(all), print::by_code(bad)));
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
