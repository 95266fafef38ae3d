//! Ratings: how hard the solution of a puzzle by hand is.

use std::fmt;

use super::technique::{Score, Technique};
use super::{Ending, Explorer, Options, Position};
use crate::grid::{Grid, Order};

/// How hard a puzzle is for a person. Prints as `7.1/1.2/1.2 forcing chain`: ER, EP, ED and the
/// hardest technique.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rating {
    /// Whether the puzzle was solved, or why not. The rest is about the steps that were made.
    pub ending: Ending,
    /// The hardest step; `None` if there was none.
    pub er: Option<Score>,
    /// The hardest step up to the first digit that was placed; `None` if none was.
    pub ep: Option<Score>,
    /// The first step.
    pub ed: Option<Score>,
    /// The technique of the first of the hardest steps.
    pub hardest: Option<Technique>,
    /// The steps made.
    pub steps: u32,
    /// The steps of each technique, in the order of [`Technique::ALL`].
    counts: [u32; Technique::ALL.len()],
}

impl Rating {
    /// Whether the techniques lead to the solution, so that the ratings are those of the puzzle.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ending == Ending::Solved
    }

    /// The number of steps of a technique.
    #[must_use]
    pub const fn count(&self, technique: Technique) -> u32 {
        self.counts[technique as usize]
    }

    /// The techniques used, with the number of their steps, in the order of [`Technique::ALL`].
    pub fn counts(&self) -> impl Iterator<Item = (Technique, u32)> + '_ {
        Technique::ALL.into_iter().zip(self.counts).filter(|&(_, count)| count > 0)
    }
}

impl fmt::Display for Rating {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.ending {
            Ending::Above(limit) => return write!(f, "above {limit}"),
            Ending::Solved => {}
            Ending::Beyond | Ending::GaveUp => return f.write_str("beyond"),
            Ending::DeadEnd => return f.write_str("no solution"),
            Ending::Cancelled => return f.write_str("cancelled"),
        }
        let text = |score: Option<Score>| score.map_or_else(|| "-".to_owned(), |score| score.to_string());
        write!(f, "{}/{}/{}", text(self.er), text(self.ep), text(self.ed))?;
        self.hardest.map_or(Ok(()), |technique| write!(f, " {technique}"))
    }
}

/// The rating of a position: solves it by hand, always by the easiest step.
///
/// For many puzzles, a [`Rater`] saves the allocations.
#[must_use]
pub fn rate(position: &Position, options: &Options<'_>) -> Rating {
    let mut rater = Rater::default();
    rater.position.clone_from(position);
    rater.run(options)
}

/// Rates one puzzle after another, without allocation.
#[derive(Debug)]
pub struct Rater {
    position: Position,
    explorer: Explorer,
}

impl Default for Rater {
    fn default() -> Self {
        Self { position: Position::new(&Grid::empty(Order::NINE)), explorer: Explorer::default() }
    }
}

impl Rater {
    /// The rating of a puzzle.
    pub fn rate(&mut self, puzzle: &Grid, options: &Options<'_>) -> Rating {
        self.position.load(puzzle);
        self.run(options)
    }

    fn run(&mut self, options: &Options<'_>) -> Rating {
        let mut rating = Rating {
            ending: Ending::Solved,
            er: None,
            ep: None,
            ed: None,
            hardest: None,
            steps: 0,
            counts: [0; Technique::ALL.len()],
        };
        if !self.position.keeps_rules() {
            rating.ending = Ending::DeadEnd;
            return rating;
        }
        let mut left = options.effort;
        loop {
            if let Err(ending) = self.explorer.find(&self.position, options, false, &mut left) {
                rating.ending = ending;
                break;
            }
            let found = &self.explorer.found;
            found.apply(&mut self.position);
            let score = Score::from_tenths(found.rating);
            rating.steps += 1;
            if let Some(technique) = found.technique {
                rating.counts[technique as usize] += 1;
                if rating.er < Some(score) {
                    rating.er = Some(score);
                    rating.hardest = Some(technique);
                }
            }
            rating.ed = rating.ed.or(Some(score));
            if found.placement.is_some() {
                rating.ep = rating.ep.or(rating.er);
            }
        }
        if rating.ending == Ending::Solved && !self.position.keeps_rules() {
            rating.ending = Ending::DeadEnd;
        }
        rating
    }
}
