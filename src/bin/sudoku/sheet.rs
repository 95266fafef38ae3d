//! `sudoku sheet`: puzzles to print, as a page of HTML with everything in it.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use anyhow::bail;
use clap::{Args, ValueEnum};
use sudoku_stream::answer::{Answer, Found, Solvers, Task};
use sudoku_stream::grid::Grid;
use sudoku_stream::solver::Question;
use sudoku_stream::techniques::{Options, Rater};
use sudoku_stream::text::Format;

use crate::cli::input::{Input, InputArgs};
use crate::cli::output::ReportArgs;
use crate::cli::value::whole;
use crate::cli::{exit, interrupt, print};

const EXAMPLES: &str = "\
Examples:
  sudoku sheet puzzles.txt -o sheet.html
  sudoku generate -n 12 --difficulty medium | sudoku sheet --title 'Week 12' -o week.html
  sudoku sheet easy.txt hard.txt --per-page 2 --rating --solutions none -o sheet.html
  sudoku sheet puzzles.txt --paper letter --solutions behind -o sheet.html

Open the file in a browser and print it, or make a PDF of it:

  chromium --headless --no-pdf-header-footer --print-to-pdf=sheet.pdf sheet.html

A puzzle that cannot be read or has not exactly one solution is printed with the sentence about it.

Exit codes: 0, done; 1, a puzzle has no solution to print; 2, the input cannot be read.";

/// The most puzzles of a sheet.
const MOST_PUZZLES: usize = 10_000;

/// The solutions on a page.
const SOLUTIONS_A_PAGE: usize = 12;

/// The paper that is printed on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum Paper {
    /// 210 mm by 297 mm
    #[default]
    A4,
    /// 8.5 in by 11 in
    Letter,
}

/// The place of the solutions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum SolutionsPlace {
    /// On pages behind all puzzles
    #[default]
    End,
    /// On the page behind each page of puzzles, to print on both sides
    Behind,
    /// Nowhere
    None,
}

/// Arguments of `sudoku sheet`.
#[derive(Clone, Args)]
#[command(after_long_help = EXAMPLES)]
pub struct SheetArgs {
    #[command(flatten)]
    input: InputArgs,

    /// Puzzles on a page [default: 6 up to 4x4, 4 of 9x9, 1 of 16x16 and 25x25]
    #[arg(long, value_name = "N", value_parser = whole::<usize>(1..=12))]
    per_page: Option<usize>,

    /// Where the solutions are
    #[arg(long, value_name = "PLACE", default_value = "end")]
    solutions: SolutionsPlace,

    /// Print the rating of each puzzle beside its number
    #[arg(long)]
    rating: bool,

    /// Title above each page
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Size of the paper
    #[arg(long, value_name = "SIZE", default_value = "a4")]
    paper: Paper,

    #[command(flatten)]
    out: ReportArgs,
}

/// A puzzle to print.
struct Printed {
    format: Format,
    /// `None` if it cannot be read.
    puzzle: Option<Grid>,
    solution: Result<Grid, String>,
    rating: Option<String>,
}

/// Runs `sudoku sheet`.
pub fn run(args: &SheetArgs) -> anyhow::Result<ExitCode> {
    let cancel = interrupt::flag()?;
    let inputs = args.input.all()?;
    let mut out = args.out.open(&inputs)?;
    let mut printed = Vec::new();
    for input in &inputs {
        if !take(input, args.rating, &cancel, &mut printed)? {
            return Ok(interrupt::report("The sheet was not made"));
        }
    }
    if printed.is_empty() {
        bail!("There is no puzzle to print.");
    }
    out.write(&html(args, &printed))?;
    out.finish()?;
    let bad = printed.iter().filter(|puzzle| puzzle.solution.is_err()).count();
    if bad > 0 {
        print::status_line(&format!(
            "{} without a solution to print; the sheet says why.",
            print::counted(bad as u64, "puzzle")
        ));
    }
    Ok(if bad > 0 { ExitCode::from(exit::ERRORS_SEEN) } else { ExitCode::SUCCESS })
}

/// Takes the puzzles of an input. False if the run was interrupted.
fn take(
    input: &Input,
    is_rated: bool,
    cancel: &AtomicBool,
    printed: &mut Vec<Printed>,
) -> anyhow::Result<bool> {
    let mut reader = input.reader()?;
    let format = reader.format().clone();
    let task = Task { question: Question::Unique, ..Task::default() };
    let solvers = Solvers::new(format.clone(), task);
    let mut rater = Rater::default();
    let options = Options { cancel: Some(cancel), ..Options::default() };
    while let Some(chunk) = reader.next_chunk()? {
        let mut take = |answer: &Answer<'_>| {
            let solution = match &answer.result {
                Ok(Found::Solution(solution)) => Ok(Grid::clone(solution)),
                Ok(Found::Count { .. }) => Err(String::new()),
                Err(error) => Err(input.sentence(&error.to_string())),
            };
            let is_sound = solution.is_ok() && is_rated && printed.len() < MOST_PUZZLES;
            let puzzle = answer.puzzle.cloned();
            let rated = puzzle.as_ref().filter(|_| is_sound).map(|puzzle| rater.rate(puzzle, &options));
            let rating = rated.and_then(|rating| rating.er).map(|er| er.to_string());
            printed.push(Printed { format: format.clone(), puzzle, solution, rating });
        };
        let answered =
            solvers.with(|solver| solver.answer_block(&format, &task, chunk.block(), cancel, &mut take));
        if answered.is_err() || cancel.load(std::sync::atomic::Ordering::Relaxed) {
            return Ok(false);
        }
        if printed.len() > MOST_PUZZLES {
            bail!("There are more than {} puzzles. Divide them.", print::thousands(MOST_PUZZLES as u64));
        }
    }
    Ok(true)
}

impl Paper {
    /// Its name in CSS, and the millimetres within its margins.
    const fn measures(self) -> (&'static str, [u32; 2]) {
        match self {
            Self::A4 => ("A4", [186, 273]),
            Self::Letter => ("letter", [191, 255]),
        }
    }
}

/// The puzzles on a page by default.
fn per_page(printed: &[Printed]) -> usize {
    match printed.iter().map(|puzzle| puzzle.format.order().side()).max().unwrap_or(0) {
        0..=4 => 6,
        5..=9 => 4,
        _ => 1,
    }
}

/// The columns that make the squares on a page largest, and the millimetres that each has.
fn columns(count: usize, [width, height]: [u32; 2]) -> (usize, u32) {
    // Above each square is its number, and between squares a gap.
    let side = |columns: usize| {
        let part = |length: u32, parts: usize| length / u32::try_from(parts).unwrap_or(1);
        part(width, columns).saturating_sub(6).min(part(height, count.div_ceil(columns)).saturating_sub(12))
    };
    let best = (1..=count).max_by_key(|&columns| side(columns)).unwrap_or(1);
    (best, side(best))
}

/// The sheet.
fn html(args: &SheetArgs, printed: &[Printed]) -> String {
    let (paper, [width, height]) = args.paper.measures();
    let title = args.title.as_deref().map(escaped).unwrap_or_default();
    let below = [width, if title.is_empty() { height } else { height - 14 }];
    let mut html = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{}</title>\n<style>\n\
         @page {{ size: {paper}; margin: 12mm }}\n\
         body {{ margin: 0; font: 11pt system-ui, sans-serif; color: #000; background: #fff }}\n\
         section {{ break-after: page; width: {width}mm; margin: 0 auto }}\n\
         section:last-child {{ break-after: auto }}\n\
         h1 {{ font-size: 15pt; font-weight: 600; margin: 0; height: 14mm }}\n\
         main {{ display: grid; justify-content: space-between }}\n\
         figure {{ margin: 0 0 5mm; break-inside: avoid }}\n\
         figcaption {{ height: 6mm }}\n\
         svg {{ display: block }}\n\
         text {{ text-anchor: middle; font-size: .62px }}\n\
         path {{ fill: none; stroke: #000 }}\n\
         .error {{ border: .3mm solid #000; box-sizing: border-box; padding: 4mm; margin: 0 }}\n\
         </style>\n",
        if title.is_empty() { "Sudoku" } else { &title }
    );
    let numbered: Vec<(usize, &Printed)> = (1..).zip(printed).collect();
    let size = args.per_page.unwrap_or_else(|| per_page(printed));
    for page in numbered.chunks(size) {
        push_page(&mut html, &title, page, size, below, false);
        if args.solutions == SolutionsPlace::Behind {
            push_page(&mut html, &title, page, size, below, true);
        }
    }
    if args.solutions == SolutionsPlace::End {
        let heading = if title.is_empty() { "Solutions".to_owned() } else { format!("{title}: solutions") };
        for page in numbered.chunks(SOLUTIONS_A_PAGE.max(size)) {
            let room = [width, height - 14];
            push_page(&mut html, &heading, page, SOLUTIONS_A_PAGE.max(size).min(printed.len()), room, true);
        }
    }
    html + "</html>\n"
}

/// Appends a page of puzzles or of their solutions, where there is room for so many of them.
fn push_page(
    html: &mut String,
    title: &str,
    page: &[(usize, &Printed)],
    size: usize,
    room: [u32; 2],
    is_solved: bool,
) {
    let (columns, side) = columns(size, room);
    html.push_str("<section>\n");
    if !title.is_empty() {
        let _ = writeln!(html, "<h1>{title}</h1>");
    }
    let _ = writeln!(html, "<main style=\"grid-template-columns: repeat({columns}, {side}mm)\">");
    for &(number, printed) in page {
        let rating = printed.rating.as_ref().filter(|_| !is_solved);
        let rating = rating.map_or_else(String::new, |rating| format!(" (rated {rating})"));
        let _ = write!(html, "<figure><figcaption>{number}{rating}</figcaption>");
        let shown = match (&printed.puzzle, &printed.solution) {
            (Some(puzzle), Ok(solution)) => Ok((puzzle, if is_solved { solution } else { puzzle })),
            (Some(puzzle), Err(_)) if !is_solved => Ok((puzzle, puzzle)),
            (_, Err(sentence)) => Err(sentence.as_str()),
            (None, Ok(_)) => Err(""),
        };
        match shown {
            Ok((clues, grid)) => push_grid(html, &printed.format, clues, grid, side),
            Err(sentence) => {
                let sentence = escaped(sentence);
                let _ = write!(
                    html,
                    "<p class=\"error\" style=\"width: {side}mm; height: {side}mm\">{sentence}</p>"
                );
            }
        }
        html.push_str("</figure>\n");
    }
    html.push_str("</main>\n</section>\n");
}

/// Appends a grid of so many millimetres: clues are bold.
fn push_grid(html: &mut String, format: &Format, clues: &Grid, grid: &Grid, millimetres: u32) {
    let order = grid.order();
    let (side, box_side) = (order.side(), order.box_side());
    let _ = write!(
        html,
        "<svg width=\"{millimetres}mm\" height=\"{millimetres}mm\" viewBox=\"-.06 -.06 {side}.12 {side}.12\">"
    );
    let lines = |is_drawn: &dyn Fn(usize) -> bool| {
        let line = |at: usize| format!("M0 {at}H{side}M{at} 0V{side}");
        (0..=side).filter(|&at| is_drawn(at)).map(line).collect::<String>()
    };
    let thin = lines(&|at| !at.is_multiple_of(box_side));
    let thick = lines(&|at| at.is_multiple_of(box_side));
    let _ =
        write!(html, "<path stroke-width=\".02\" d=\"{thin}\"/><path stroke-width=\".07\" d=\"{thick}\"/>");
    for (index, (&digit, &clue)) in grid.digits().iter().zip(clues.digits()).enumerate() {
        if digit > 0 {
            let weight = if clue > 0 { " font-weight=\"600\"" } else { "" };
            let symbol = escaped(&format.symbol(digit).to_string());
            let (x, y) = (index % side, index / side);
            let _ = write!(html, "<text x=\"{x}.5\" y=\"{y}.72\"{weight}>{symbol}</text>");
        }
    }
    html.push_str("</svg>");
}

/// A text with what HTML has a meaning for as references.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_as_large_squares_as_fit() {
        let a4 = Paper::A4.measures().1;
        for (count, wanted) in [(1, (1, 180)), (2, (1, 124)), (4, (2, 87)), (6, (2, 79)), (12, (3, 56))] {
            assert_eq!(columns(count, a4), wanted, "{count}");
        }
    }

    #[test]
    fn what_html_has_a_meaning_for_is_escaped() {
        assert_eq!(escaped("a < b & \"c\""), "a &lt; b &amp; &quot;c&quot;");
    }
}
