//! `sudoku hint`: the next step by hand, in stages.

use std::process::ExitCode;
use std::slice;

use anyhow::bail;
use clap::Args;
use serde_json::json;
use sudoku_stream::answer::{HINT_EFFORT, NextStep, next_step};
use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Limit, default_strategy};
use sudoku_stream::techniques::{DEFAULT_EFFORT, Ending, Options, Position, Step, Steps};
use sudoku_stream::text::Format;

use crate::cli::by_hand::{self, CellArgs, TechniqueArgs};
use crate::cli::colour::ColourArgs;
use crate::cli::input::one_input;
use crate::cli::output::ReportArgs;
use crate::cli::pick::{ChosenPosition, PickArgs};
use crate::cli::value::{self, whole};
use crate::cli::{draw, exit, interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku hint ..6...9..5.7.....6.....5.2....74......9.2.8..32.......7.29....88...642...6.8..19.
  sudoku hint puzzles.txt --index 4711 --stage 1
  sudoku hint puzzles.txt --after 12
  sudoku hint --only singles,locked,subsets < candidates.txt

A puzzle may also be a position with candidates: 729 digits or dots, or the grid of candidates \
that HoDoKu and Simple Sudoku copy.

Exit codes: 0, there is a step, by a technique or a search, or nothing is left to do; \
1, there is no solution, or the search for a step was given up; 2, the position cannot be read.";

/// Arguments of `sudoku hint`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
#[command(mut_arg("inputs", one_input))]
pub struct HintArgs {
    #[command(flatten)]
    pick: PickArgs,

    /// Say no more than: 1, where to look; 2, also which technique; 3, the step [default: 3]
    #[arg(long, value_name = "N", value_parser = whole::<u8>(1..=3), default_value = "3", hide_default_value = true)]
    stage: u8,

    /// Give the hint after the first N steps
    #[arg(long, value_name = "N", value_parser = whole::<usize>(0..), default_value = "0")]
    #[arg(hide_default_value = true)]
    after: usize,

    #[command(flatten)]
    techniques: TechniqueArgs,

    #[command(flatten)]
    cells: CellArgs,

    /// Form of the hint: text or json
    #[arg(short, long, value_name = "FORM", value_parser = value::plain(HintForm::ALL), default_value = "text")]
    format: HintForm,

    #[command(flatten)]
    out: ReportArgs,

    #[command(flatten)]
    colour: ColourArgs,
}

/// The form of a hint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HintForm {
    Text,
    Json,
}

impl HintForm {
    /// All forms, each with its name.
    pub const ALL: [(&'static str, Self); 2] = [("text", Self::Text), ("json", Self::Json)];
}

/// Runs `sudoku hint`.
pub fn run(args: &HintArgs) -> anyhow::Result<ExitCode> {
    args.colour.apply();
    let cancel = interrupt::flag()?;
    let input = args.pick.only()?;
    let mut out = args.out.open(slice::from_ref(&input))?;
    let ChosenPosition { format, mut position, .. } = args.pick.choose_position(input)?;
    let clues = position.grid();
    let order = position.order();
    let techniques = args.techniques.set_for(order)?;
    if args.after > 0 {
        let ahead = by_hand::outlook_of(&position, &cancel);
        let (techniques, effort) = (ahead.allowed(techniques), ahead.effort(DEFAULT_EFFORT));
        let options = Options { techniques, effort, cancel: Some(&cancel), ..Options::default() };
        let mut steps = Steps::new(position, options);
        let made = steps.by_ref().take(args.after).count();
        if let Some(ending) = steps.ending().filter(|_| made < args.after) {
            if ending == Ending::Cancelled {
                return Ok(interrupt::report("No hint was found"));
            }
            let steps = print::counted(made as u64, "step");
            bail!("--after {} is too many: {steps} can be made. {ending}", args.after);
        }
        position = steps.position().clone();
    }
    let mut solver = default_strategy(order).solver(order);
    let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel: &cancel };
    let step = next_step(&position, &clues, techniques, HINT_EFFORT, solver.as_mut(), &limit);
    if matches!(step, NextStep::Cancelled { .. }) {
        return Ok(interrupt::report("No hint was found"));
    }
    out.write(&match args.format {
        HintForm::Text => {
            let note = by_hand::values_note(&format);
            let note = note.map_or_else(String::new, |note| format!("{}\n\n", by_hand::wrapped(&note, 0)));
            let (text, names) = (text_of(&step, &format, &position, args.stage), args.cells.cells);
            let is_step = matches!(step, NextStep::Technique(_));
            let explained = names.note(&text).filter(|_| is_step);
            let explained = explained.map_or_else(String::new, |sentence| format!("{sentence}\n"));
            note + &names.name_in(&text) + &explained
        }
        HintForm::Json => json_of(&step, &position, args.stage),
    })?;
    out.finish()?;
    let is_step = matches!(step, NextStep::Technique(_) | NextStep::Search { .. } | NextStep::Finished);
    Ok(if is_step { ExitCode::SUCCESS } else { ExitCode::from(exit::ERRORS_SEEN) })
}

/// A hint up to a stage.
fn text_of(hint: &NextStep, format: &Format, position: &Position, stage: u8) -> String {
    match hint {
        NextStep::Technique(step) => {
            let mut text = format!("Where to look\n  {}\n", by_hand::wrapped(&step.look_at(), 2));
            if stage > 1 {
                text += &format!("\nTechnique\n  {}, rated {}\n", step.technique, step.rating);
            }
            if stage > 2 {
                text += &whole_step(step, format, position);
            }
            text
        }
        NextStep::Search { .. } if stage < 3 => {
            let mut text =
                "Where to look\n  No technique applies: the next cell takes a search.\n".to_owned();
            if stage == 2 {
                text += "\nTechnique\n  none: a search found a cell and its digit\n";
            }
            text
        }
        other => format!("{other}\n"),
    }
}

/// The third stage: the step in words, and drawn.
fn whole_step(step: &Step, format: &Format, position: &Position) -> String {
    let mut text = format!("\nStep\n  {}\n", by_hand::wrapped(&step.explanation(), 2));
    for line in by_hand::chain_lines(step) {
        text += &format!("  - {}\n", by_hand::wrapped(&line, 4));
    }
    let drawing = by_hand::drawing(format, position, step);
    text += &format!("\n{}", draw::for_terminal(drawing, position.order(), 0));
    let legend = by_hand::legend(step);
    if !legend.is_empty() {
        text += &format!("{legend}\n");
    }
    text
}

/// A hint up to a stage as JSON, with the position before it.
fn json_of(hint: &NextStep, position: &Position, stage: u8) -> String {
    let mut value = match hint {
        NextStep::Technique(step) if stage == 1 => json!({ "look_at": step.look_at() }),
        NextStep::Technique(step) if stage == 2 => {
            let whole = by_hand::json_of(step);
            json!({ "look_at": step.look_at(), "technique": whole["technique"], "rating": whole["rating"] })
        }
        NextStep::Technique(step) => {
            let mut after = position.clone();
            after.apply(step);
            let mut value = by_hand::json_of(step);
            value["look_at"] = step.look_at().into();
            value["after"] = after.pencil_marks().into();
            value
        }
        NextStep::Search { .. } if stage < 3 => json!({ "technique": "search" }),
        NextStep::Search { cell, digit, .. } => json!({
            "technique": "search",
            "sentence": hint.to_string(),
            "placement": { "row": cell.row(), "column": cell.column(), "digit": digit.value() },
        }),
        other => json!({ "technique": null, "sentence": other.to_string() }),
    };
    value["before"] = position.pencil_marks().into();
    format!("{value:#}\n")
}
