//! Forms of ratings: rated puzzles as text.

use super::check_form::CheckForm;
use super::rater::RatedRow;
use super::result_rows::ResultRows;
use crate::techniques::{Ending, Rating, Score};
use crate::text::{ERROR_PREFIX, Format};

/// The columns that are added to a row. Ratings stand only where the verdict is `rated`; nodes and
/// guesses, those of the search by `propagation`, where it is `beyond`.
const ADDED: [&str; 11] =
    ["verdict", "er", "ep", "ed", "hardest", "steps", "techniques", "clues", "minimal", "nodes", "guesses"];

/// A writer of ratings of puzzles in one format.
pub struct RateWriter {
    format: Format,
    rows: Option<ResultRows>,
}

impl RateWriter {
    /// A writer of ratings in this form. As text, a puzzle has one line:
    /// `7.1/1.2/1.2 forcing chain`, `above 7.0`, `beyond`, or an error line.
    #[must_use]
    pub fn new(form: CheckForm, format: &Format) -> Self {
        let rows = ResultRows::new(form, format, ADDED.into_iter());
        Self { format: format.clone(), rows }
    }

    /// The line above all ratings, line end included, or nothing.
    #[must_use]
    pub fn heading(&self) -> Vec<u8> {
        ResultRows::heading(self.rows.as_ref(), &self.format)
    }

    /// Appends the rating of a puzzle: one line.
    pub fn write(&self, rated: &RatedRow<'_>, out: &mut Vec<u8>) {
        let Some(rows) = &self.rows else {
            let line = match &rated.result {
                Ok(found) => match found.search {
                    Some(cost) => {
                        let nodes = if cost.nodes == 1 { "node" } else { "nodes" };
                        let guesses = if cost.guesses == 1 { "guess" } else { "guesses" };
                        format!(
                            "{} (a search takes {} {nodes} and {} {guesses})\n",
                            found.rating, cost.nodes, cost.guesses
                        )
                    }
                    None => format!("{}\n", found.rating),
                },
                Err(error) => format!("{ERROR_PREFIX}{error}\n"),
            };
            return out.extend_from_slice(line.as_bytes());
        };
        let mut row = rows.begin(rated.line, rated.row, rated.puzzle, &self.format, out);
        row.text(rated.code().as_bytes());
        let found = rated.result.as_ref().ok();
        let rating = found.map(|found| &found.rating).filter(|rating| rating.ending == Ending::Solved);
        let scores = |of: fn(&Rating) -> Option<Score>| rating.and_then(of);
        for score in [scores(|r| r.er), scores(|r| r.ep), scores(|r| r.ed)] {
            row.score(score);
        }
        row.text(rating.and_then(|rating| rating.hardest).map(|technique| technique.name().as_bytes()));
        row.number(rating.map(|rating| rating.steps.into()));
        row.text(rating.map(techniques).as_deref().map(str::as_bytes));
        row.number(rated.puzzle.map(|puzzle| puzzle.filled() as u64));
        row.flag(found.and_then(|found| found.is_minimal));
        let search = found.and_then(|found| found.search);
        row.number(search.map(|cost| cost.nodes));
        row.number(search.map(|cost| cost.guesses));
        row.end();
    }
}

/// The steps by technique: `hidden-single:45 naked-pair:2`.
fn techniques(rating: &Rating) -> String {
    let each = rating.counts().map(|(technique, count)| format!("{}:{count}", technique.name()));
    each.collect::<Vec<_>>().join(" ")
}
