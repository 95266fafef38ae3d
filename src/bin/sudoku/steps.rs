//! `sudoku steps`: the whole solution of a puzzle by hand.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::ExitCode;
use std::slice;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use clap::Args;
use serde_json::{Value, json};
use sudoku_stream::answer::{CandidateGrid, Outlook, StepMarks, Stuck};
use sudoku_stream::techniques::{
    DEFAULT_EFFORT, Ending, Family, Options, Position, Score, Step, Steps, Technique, TechniqueSet,
};
use sudoku_stream::text::Format;

use crate::cli::by_hand::{self, CellArgs, CellNames, TechniqueArgs};
use crate::cli::colour::ColourArgs;
use crate::cli::input::one_input;
use crate::cli::output::ReportArgs;
use crate::cli::pick::{ChosenPosition, PickArgs};
use crate::cli::value;
use crate::cli::{draw, exit, interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku steps ..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.
  sudoku steps puzzles.txt --index 4711 --boards -f markdown -o solution.md
  sudoku steps puzzles.txt --only singles,locked
  sudoku steps puzzles.txt -f json | jq '.steps[].sentence'

Always the easiest step is taken, so the hardest one is the rating of the puzzle.

Exit codes: 0, the steps lead to the solution; 1, they do not; 2, the position cannot be read.";

/// Arguments of `sudoku steps`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("inputs", one_input))]
pub struct StepsArgs {
    #[command(flatten)]
    pick: PickArgs,

    #[command(flatten)]
    techniques: TechniqueArgs,

    #[command(flatten)]
    cells: CellArgs,

    /// Stop before a step with a higher rating, as in 7.0
    #[arg(long, value_name = "RATING", value_parser = value::score)]
    up_to: Option<Score>,

    /// Draw the board at every step that is no single
    #[arg(long)]
    boards: bool,

    /// Form of the steps: text, markdown or json
    #[arg(short, long, value_name = "FORM", value_parser = value::plain(StepsForm::ALL), default_value = "text")]
    format: StepsForm,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    colour: ColourArgs,
}

/// The form of steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepsForm {
    Text,
    Markdown,
    Json,
}

impl StepsForm {
    /// All forms, each with its name.
    pub const ALL: [(&'static str, Self); 3] =
        [("text", Self::Text), ("markdown", Self::Markdown), ("json", Self::Json)];
}

/// Runs `sudoku steps`.
pub fn run(args: &StepsArgs) -> anyhow::Result<ExitCode> {
    args.colour.apply();
    let cancel = interrupt::flag()?;
    let input = args.pick.only()?;
    let mut out = args.out.open(slice::from_ref(&input))?;
    let ChosenPosition { format, position, .. } = args.pick.choose_position(input)?;
    let task = StepsTask {
        techniques: args.techniques.set_for(position.order())?,
        up_to: args.up_to,
        with_boards: args.boards,
        form: args.format,
        cells: args.cells.cells,
    };
    let end = task.run(&format, &position, &cancel, |text| out.write(text))?;
    if let StepsEnd::Interrupted { steps } = end {
        return Ok(interrupt::report(&format!("Stopped after {}", print::counted(steps as u64, "step"))));
    }
    out.finish()?;
    Ok(if matches!(end, StepsEnd::Solved) { ExitCode::SUCCESS } else { ExitCode::from(exit::ERRORS_SEEN) })
}

/// How a puzzle is solved by hand, and how the steps are written.
#[derive(Clone, Copy, Debug)]
pub struct StepsTask {
    pub techniques: TechniqueSet,
    pub up_to: Option<Score>,
    pub with_boards: bool,
    pub form: StepsForm,
    pub cells: CellNames,
}

impl Default for StepsTask {
    fn default() -> Self {
        Self {
            techniques: TechniqueSet::ALL,
            up_to: None,
            with_boards: false,
            form: StepsForm::Text,
            cells: CellNames::default(),
        }
    }
}

/// The end of a solution by hand.
pub enum StepsEnd {
    Solved,
    Unsolved,
    /// Before the first step, because no solution is ahead.
    Stuck(Stuck),
    /// By the flag.
    Interrupted {
        steps: usize,
    },
}

impl StepsTask {
    /// Writes the steps from a position on, part by part.
    ///
    /// # Errors
    /// Those of `write`, or that no technique is left.
    pub fn run(
        &self,
        format: &Format,
        position: &Position,
        cancel: &AtomicBool,
        mut write: impl FnMut(&str) -> anyhow::Result<()>,
    ) -> anyhow::Result<StepsEnd> {
        let mut write = |text: &str| match self.form {
            StepsForm::Json => write(text),
            StepsForm::Text | StepsForm::Markdown => write(&self.cells.name_in(text)),
        };
        let ahead = by_hand::outlook_of(position, cancel);
        match &ahead {
            Outlook::Stuck(stuck) => {
                let sentence = stuck.to_string();
                write(&match self.form {
                    StepsForm::Json => {
                        StepsWalk::new(self.form, format, position, false).end(position, false, &sentence)
                    }
                    StepsForm::Text | StepsForm::Markdown => format!("{sentence}\n"),
                })?;
                return Ok(StepsEnd::Stuck(stuck.clone()));
            }
            Outlook::Cancelled { .. } => return Ok(StepsEnd::Interrupted { steps: 0 }),
            Outlook::Finished | Outlook::One(_) | Outlook::Several { .. } | Outlook::Unknown { .. } => {}
        }
        let techniques = ahead.allowed(self.techniques);
        if techniques.is_empty() {
            bail!("No technique is left. Name others with --only.");
        }
        let effort = ahead.effort(DEFAULT_EFFORT);
        let options = Options { techniques, up_to: self.up_to, effort, cancel: Some(cancel) };
        let mut walk = StepsWalk::new(self.form, format, position, self.with_boards);
        let mut steps = Steps::new(position.clone(), options);
        write(&walk.beginning(position, &ahead))?;
        let mut before = position.clone();
        while let Some(step) = steps.next() {
            let is_first = walk.count == 0 && self.form != StepsForm::Json;
            if let Some(note) = self.cells.note(&step.to_string()).filter(|_| is_first) {
                write(&format!("{note}\n\n"))?;
            }
            write(&walk.add(&before, &step))?;
            before.clone_from(steps.position());
        }
        let ending = steps.ending().unwrap_or(Ending::Solved);
        if ending == Ending::Cancelled {
            return Ok(StepsEnd::Interrupted { steps: walk.count });
        }
        let is_solved = ending == Ending::Solved;
        write(&walk.end(steps.position(), is_solved, &ending.to_string()))?;
        Ok(if is_solved { StepsEnd::Solved } else { StepsEnd::Unsolved })
    }
}

/// Steps that are written as they come.
struct StepsWalk<'a> {
    form: StepsForm,
    format: &'a Format,
    with_boards: bool,
    count: usize,
    /// Whether a blank line, or nothing, ends what is written so far.
    is_apart: bool,
    er: Option<(Score, Technique)>,
    ep: Option<Score>,
    ed: Option<Score>,
    techniques: BTreeMap<Technique, (u64, Score)>,
    /// The steps, for JSON.
    values: Vec<Value>,
    puzzle: String,
}

impl<'a> StepsWalk<'a> {
    fn new(form: StepsForm, format: &'a Format, position: &Position, with_boards: bool) -> Self {
        let mut puzzle = Vec::new();
        format.write_cells(&position.grid(), &mut puzzle);
        Self {
            form,
            format,
            with_boards,
            count: 0,
            is_apart: true,
            er: None,
            ep: None,
            ed: None,
            techniques: BTreeMap::new(),
            values: Vec::new(),
            puzzle: String::from_utf8_lossy(&puzzle).into_owned(),
        }
    }

    /// What stands above the steps.
    fn beginning(&self, position: &Position, ahead: &Outlook) -> String {
        let several =
            "The puzzle has more than one solution, or that is not known, so no step takes it for granted.";
        let is_several = matches!(ahead, Outlook::Several { .. } | Outlook::Unknown { .. });
        let several = is_several.then(|| several.to_owned());
        let notes = by_hand::values_note(self.format).into_iter().chain(several);
        match self.form {
            StepsForm::Json => String::new(),
            StepsForm::Text => notes.map(|note| format!("{}\n\n", by_hand::wrapped(&note, 0))).collect(),
            StepsForm::Markdown => {
                let mut grid = Vec::new();
                self.format.write_grid(&position.grid(), &mut grid);
                let grid = String::from_utf8_lossy(&grid).into_owned();
                let notes: String = notes.map(|note| format!("{note}\n\n")).collect();
                format!("# Solution by hand\n\n{}\n{notes}", block(&grid))
            }
        }
    }

    /// Adds a step, and returns its text.
    fn add(&mut self, before: &Position, step: &Step) -> String {
        self.count += 1;
        let (count, rating) = (self.count, step.rating);
        if self.er.is_none_or(|(er, _)| er < rating) {
            self.er = Some((rating, step.technique));
        }
        self.ed = self.ed.or(Some(rating));
        if step.placement.is_some() {
            self.ep = self.ep.or(self.er.map(|(er, _)| er));
        }
        let of_technique = self.techniques.entry(step.technique).or_insert((0, rating));
        *of_technique = (of_technique.0 + 1, of_technique.1.max(rating));
        let has_board = self.with_boards && step.technique.family() != Family::Singles;
        self.is_apart = has_board;
        let board = || by_hand::drawing(self.format, before, step);
        match self.form {
            StepsForm::Json => {
                let mut value = by_hand::json_of(step);
                value["number"] = count.into();
                value["before"] = before.pencil_marks().into();
                self.values.push(value);
                String::new()
            }
            StepsForm::Text => {
                let mut text = format!("{count:>3}. {rating}  {}\n", by_hand::wrapped(&step.to_string(), 10));
                for line in by_hand::chain_lines(step) {
                    let _ = writeln!(text, "          - {}", by_hand::wrapped(&line, 12));
                }
                if has_board {
                    let board = draw::for_terminal(board(), before.order(), 5);
                    let _ = write!(text, "\n{}\n", indented(&board, 5));
                }
                text
            }
            StepsForm::Markdown => {
                let mut text =
                    format!("{count}. **{}** ({rating}): {}\n", step.technique, step.explanation());
                for line in by_hand::chain_lines(step) {
                    let _ = writeln!(text, "    - {line}");
                }
                if has_board {
                    let _ = write!(text, "\n{}\n", indented(&block(&board()), 4));
                }
                text
            }
        }
    }

    /// What stands below the steps; `ending` says why there are no more.
    fn end(mut self, position: &Position, is_solved: bool, ending: &str) -> String {
        let steps = print::counted(self.count as u64, "step");
        let score = |score: Option<Score>| score.map_or_else(|| "-".to_owned(), |score| score.to_string());
        let number = |score: Option<Score>| score.map(|score| f64::from(score.tenths()) / 10.0);
        let er = self.er.map(|(er, _)| er);
        if self.form == StepsForm::Json {
            let steps = std::mem::take(&mut self.values);
            let whole = json!({
                "puzzle": self.puzzle,
                "is_solved": is_solved,
                "ending": ending,
                "er": number(er),
                "ep": number(self.ep),
                "ed": number(self.ed),
                "hardest": self.er.map(|(_, technique)| technique.name()),
                "steps": steps,
                "after": position.pencil_marks(),
            });
            return format!("{whole:#}\n");
        }
        let verdict = match (is_solved, self.er) {
            (true, Some((er, technique))) => format!(
                "Solved in {steps}. ER {er} ({technique}), EP {}, ED {}.",
                score(self.ep),
                score(self.ed)
            ),
            (true, None) => "Nothing is left to fill in.".to_owned(),
            (false, _) => format!("Not solved after {steps}: {ending}"),
        };
        let gap = if self.is_apart { "" } else { "\n" };
        let rest = if is_solved {
            String::new()
        } else {
            CandidateGrid { position, step: None, marks: StepMarks::Characters }.to_string()
        };
        match self.form {
            StepsForm::Markdown => {
                let mut text = format!("{gap}{verdict}\n");
                if !self.techniques.is_empty() {
                    text += "\n| technique | steps | rating |\n|---|--:|--:|\n";
                    for (technique, (count, rating)) in &self.techniques {
                        let _ = writeln!(text, "| {technique} | {count} | {rating} |");
                    }
                }
                if !rest.is_empty() {
                    let _ = write!(text, "\n{}", block(&rest));
                }
                text
            }
            _ => {
                let mut text = format!("{gap}{}\n", by_hand::wrapped(&verdict, 0));
                for (technique, (count, rating)) in &self.techniques {
                    let _ = writeln!(text, "  {count:>3} x {technique} ({rating})");
                }
                if !rest.is_empty() {
                    let _ = write!(text, "\n{rest}");
                }
                text
            }
        }
    }
}

/// A block of code in Markdown.
fn block(text: &str) -> String {
    format!("```text\n{text}```\n")
}

/// The text with each line moved to the right.
fn indented(text: &str, by: usize) -> String {
    text.lines().map(|line| format!("{}{line}\n", " ".repeat(by))).collect()
}
