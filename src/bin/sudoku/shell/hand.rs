//! Solving by hand in the console: hints in stages.

use sudoku_stream::answer::NextStep;
use sudoku_stream::techniques::Position;
use sudoku_stream::text::Format;

use super::board::Snapshot;
use crate::cli::{by_hand, draw};

/// The last stage of a hint.
const LAST_STAGE: u8 = 3;

/// The hint that was told last.
#[derive(Default)]
pub struct Hand {
    told: Option<Told>,
}

/// A hint, and how much of it was told.
struct Told {
    board: Snapshot,
    hint: NextStep,
    stage: u8,
}

impl Hand {
    /// The hint that was told for this board, if it still holds.
    pub fn told(&self, board: &Snapshot) -> Option<&NextStep> {
        self.told.as_ref().filter(|told| told.board == *board).map(|told| &told.hint)
    }

    /// Takes a hint for a board, of which nothing is told yet.
    pub fn take(&mut self, board: Snapshot, hint: NextStep) {
        self.told = Some(Told { board, hint, stage: 0 });
    }

    /// Tells the next stage of the hint.
    pub fn tell(&mut self, format: &Format, position: &Position) -> String {
        let Some(told) = &mut self.told else { return String::new() };
        told.stage = (told.stage + 1).min(LAST_STAGE);
        let more = "`hint` says more.";
        let note = by_hand::values_note(format);
        let note = note.map_or_else(String::new, |note| by_hand::wrapped(&note, 0) + "\n");
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
                    let drawing = by_hand::drawing(format, position, step);
                    let drawing = draw::for_terminal(drawing, position.order(), 0);
                    text += &format!("\n{drawing}{}\n", by_hand::legend(step));
                }
                text + &note + "`apply` carries the step out.\n"
            }
            (NextStep::Search { .. }, 1) => {
                format!("No technique applies: the next cell takes a search. {more}\n")
            }
            (NextStep::Search { .. }, _) => {
                told.stage = LAST_STAGE;
                format!("{}\n{note}`apply` puts it there.\n", told.hint)
            }
            (NextStep::Finished, _) => format!("{}\n", told.hint),
            (other, _) => format!("{other}\n{note}"),
        }
    }
}
