//! Solving by hand in the console: hints in stages, and candidates that steps have taken away.

use sudoku_stream::answer::NextStep;
use sudoku_stream::grid::Grid;
use sudoku_stream::techniques::{Candidate, Position};
use sudoku_stream::text::Format;

use crate::cli::by_hand;

/// The last stage of a hint.
const LAST_STAGE: u8 = 3;

/// What is known of the puzzle on the board besides its digits.
#[derive(Default)]
pub struct Hand {
    /// The puzzle that it is about.
    clues: Option<Grid>,
    /// The candidates that steps have taken away, each with the board of its step. They are gone
    /// as long as all digits of that board are there, because the step may rest on any of them.
    gone: Vec<(Grid, Vec<Candidate>)>,
    /// The hint that was told last.
    told: Option<Told>,
}

/// A hint, and how much of it was told.
struct Told {
    board: Grid,
    hint: NextStep,
    stage: u8,
}

impl Hand {
    /// The position of a board that began as `clues`. What was known of another puzzle is forgotten.
    pub fn position(&mut self, board: &Grid, clues: &Grid) -> Position {
        if self.clues.as_ref() != Some(clues) {
            *self = Self { clues: Some(clues.clone()), ..Self::default() };
        }
        let mut position = Position::new(board);
        for (from, candidates) in &self.gone {
            if has_digits_of(board, from) {
                for &candidate in candidates {
                    position.eliminate(candidate);
                }
            }
        }
        position
    }

    /// The hint that was told for this board, if it still holds.
    pub fn told(&self, board: &Grid) -> Option<&NextStep> {
        self.told.as_ref().filter(|told| told.board == *board).map(|told| &told.hint)
    }

    /// Takes a hint for a board, of which nothing is told yet.
    pub fn take(&mut self, board: &Grid, hint: NextStep) {
        self.told = Some(Told { board: board.clone(), hint, stage: 0 });
    }

    /// Tells the next stage of the hint.
    pub fn tell(&mut self, format: &Format, position: &Position) -> String {
        let Some(told) = &mut self.told else { return String::new() };
        told.stage = (told.stage + 1).min(LAST_STAGE);
        let more = "`hint` says more.";
        match (&told.hint, told.stage) {
            (NextStep::Technique(step), 1) => format!("{} {more}\n", step.look_at()),
            (NextStep::Technique(step), 2) => {
                format!("The technique is {}, rated {}. {more}\n", step.technique, step.rating)
            }
            (NextStep::Technique(step), _) => {
                let mut text = format!("{}\n", by_hand::wrapped(&step.to_string(), 0));
                for line in by_hand::chain_lines(step) {
                    text += &format!("  - {}\n", by_hand::wrapped(&line, 4));
                }
                if step.placement.is_none() {
                    text +=
                        &format!("\n{}{}\n", by_hand::drawing(format, position, step), by_hand::legend(step));
                }
                text + "`apply` carries the step out.\n"
            }
            (NextStep::Search { .. }, 1) => {
                format!("No technique applies: the next cell takes a search. {more}\n")
            }
            (NextStep::Search { .. }, _) => {
                told.stage = LAST_STAGE;
                format!("{}\n`apply` puts it there.\n", told.hint)
            }
            (other, _) => format!("{other}\n"),
        }
    }

    /// Takes candidates away, by a step from this board.
    pub fn remove(&mut self, board: &Grid, candidates: &[Candidate]) {
        self.gone.push((board.clone(), candidates.to_vec()));
        self.told = None;
    }
}

/// Whether a board has every digit of another one, in its place.
fn has_digits_of(board: &Grid, other: &Grid) -> bool {
    board.digits().iter().zip(other.digits()).all(|(here, there)| *there == 0 || here == there)
}
