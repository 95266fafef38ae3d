//! Difficulty: how hard a puzzle is, by the techniques and guesses that solve it.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::sync::atomic::AtomicBool;

use crate::answer::Cancelled;
use crate::grid::{Cell, Grid, MAX_CELLS, MAX_SIDE, Order};
use crate::solver::{Limit, Propagation, Question, Solver, Stop, Strategy as _, Verdict};
use crate::techniques::{self, Ending, Options, Score, Technique};

/// The difficulty of a puzzle: a class by the rating of its hardest step by hand, as
/// [`crate::techniques`] rates, or a number of guesses.
///
/// Guesses are those of the strategy `propagation` to prove the solution unique. It applies all
/// naked and hidden singles and locked candidates before it guesses.
///
/// ```
/// use sudoku_core::generate::Difficulty;
/// use sudoku_core::techniques::Score;
///
/// assert_eq!(Difficulty::of(Score::from_tenths(26)), Difficulty::Medium);
/// assert!(Difficulty::Hard.ratings().unwrap().contains(&Score::from_tenths(71)));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Default, Hash)]
pub enum Difficulty {
    /// Any difficulty.
    #[default]
    Any,
    /// Rated up to 2.3. Puzzles that are made are solved by naked and hidden singles.
    Easy,
    /// Rated 2.4 to 2.9: it takes locked candidates too.
    Medium,
    /// Rated 3.0 and up: it takes pairs, wings, chains or more.
    Hard,
    /// It takes a number of guesses in this range.
    Guesses(RangeInclusive<u64>),
}

/// The highest rating of an easy puzzle, that of a naked single, and of a medium one.
const EASY: Score = Score::from_tenths(23);
const MEDIUM: Score = Score::from_tenths(29);

impl Difficulty {
    /// The difficulties with a name, each with that name on the command line.
    pub const ALL: [(&'static str, Self); 4] =
        [("any", Self::Any), ("easy", Self::Easy), ("medium", Self::Medium), ("hard", Self::Hard)];

    /// The class of a puzzle whose hardest step has this rating.
    #[must_use]
    pub fn of(er: Score) -> Self {
        if er <= EASY {
            Self::Easy
        } else if er <= MEDIUM {
            Self::Medium
        } else {
            Self::Hard
        }
    }

    /// The ratings of a class; `None` for what is no class.
    #[must_use]
    pub fn ratings(&self) -> Option<RangeInclusive<Score>> {
        let next = |score: Score| Score::from_tenths(score.tenths() + 1);
        match self {
            Self::Easy => Some(LEAST_RATING..=EASY),
            Self::Medium => Some(next(EASY)..=MEDIUM),
            Self::Hard => Some(next(MEDIUM)..=LARGEST_RATING),
            Self::Any | Self::Guesses(_) => None,
        }
    }

    /// The name on the command line; empty for a number of guesses.
    #[must_use]
    pub fn name(&self) -> &'static str {
        Self::ALL.iter().find(|(_, known)| known == self).map_or("", |(name, _)| name)
    }

    /// One line for a list of difficulties.
    #[must_use]
    pub const fn summary(&self) -> &'static str {
        match self {
            Self::Any => "as it comes",
            Self::Easy => "rated up to 2.3: naked and hidden singles solve it",
            Self::Medium => "rated 2.4 to 2.9: it takes locked candidates as well",
            Self::Hard => "rated 3.0 and up: it takes pairs, wings, chains or more",
            Self::Guesses(_) => "it takes so many guesses",
        }
    }

    /// Whether ratings by hand decide, beside what a search shows.
    pub(super) const fn is_by_hand(&self) -> bool {
        matches!(self, Self::Medium | Self::Hard)
    }

    /// Whether a puzzle may have this difficulty, as far as a search shows.
    pub(super) fn fits(&self, rating: DifficultyRating) -> bool {
        match self {
            Self::Any => true,
            Self::Easy => rating.by_singles,
            Self::Medium => !rating.by_singles && rating.guesses == 0,
            Self::Hard => rating.guesses > 0,
            Self::Guesses(guesses) => guesses.contains(&rating.guesses),
        }
    }

    /// Whether a puzzle of this rating is not too hard.
    pub(super) fn bounds(&self, rating: DifficultyRating) -> bool {
        match self {
            Self::Any | Self::Hard => true,
            Self::Easy => rating.by_singles,
            Self::Medium => rating.guesses == 0,
            Self::Guesses(guesses) => rating.guesses <= *guesses.end(),
        }
    }

    /// Whether any puzzle is too hard.
    pub(super) fn is_bound(&self) -> bool {
        match self {
            Self::Any | Self::Hard => false,
            Self::Easy | Self::Medium => true,
            Self::Guesses(guesses) => *guesses.end() < u64::MAX,
        }
    }
}

impl fmt::Display for Difficulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Guesses(guesses) if guesses.start() == guesses.end() => write!(f, "{}", guesses.start()),
            Self::Guesses(guesses) if *guesses.end() == u64::MAX => write!(f, "{}..", guesses.start()),
            Self::Guesses(guesses) => write!(f, "{}..{}", guesses.start(), guesses.end()),
            named => f.write_str(named.name()),
        }
    }
}

/// The error of a text that is no range of guesses.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of guesses. Write 3, 3..10, 3.. or ..10.")]
pub struct NoGuesses(String);

/// Reads a range of guesses, both ends included: `3`, `3..10`, `3..` or `..10`.
///
/// # Errors
/// [`NoGuesses`], also for a range that ends before it begins.
pub fn guesses(text: &str) -> Result<RangeInclusive<u64>, NoGuesses> {
    let bad = || NoGuesses(text.to_owned());
    let number = |part: &str, empty| {
        if part.is_empty() { Ok(empty) } else { u64::from_str(part).map_err(|_| bad()) }
    };
    let range = match text.split_once("..") {
        Some(("", "")) => return Err(bad()),
        Some((least, most)) => number(least, 0)?..=number(most, u64::MAX)?,
        None => {
            let exact = u64::from_str(text).map_err(|_| bad())?;
            exact..=exact
        }
    };
    if range.is_empty() { Err(bad()) } else { Ok(range) }
}

/// The rating of a puzzle: what solves it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DifficultyRating {
    /// Whether naked and hidden singles solve it.
    by_singles: bool,
    /// The guesses of `propagation`.
    guesses: u64,
}

/// Rates puzzles of one order.
pub(super) struct DifficultyRater {
    singles: Singles,
    propagation: Box<dyn Solver>,
    puzzle: Grid,
    solution: Grid,
}

impl DifficultyRater {
    pub(super) fn new(order: Order) -> Self {
        Self {
            singles: Singles::new(order),
            propagation: Propagation.solver(order),
            puzzle: Grid::empty(order),
            solution: Grid::empty(order),
        }
    }

    /// Rates a puzzle with a single solution. `None` if that takes more than `nodes` nodes.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(super) fn rate(
        &mut self,
        digits: &[u8],
        nodes: u64,
        cancel: &AtomicBool,
    ) -> Result<Option<DifficultyRating>, Cancelled> {
        self.puzzle.set_digits(digits);
        if self.singles.solve(digits) {
            // Propagation solves it without a guess too.
            return Ok(Some(DifficultyRating { by_singles: true, guesses: 0 }));
        }
        let limit = Limit { solutions: 2, nodes, cancel };
        let search = self.propagation.search(&self.puzzle, &limit, &mut self.solution);
        if search.stop == Stop::Cancelled {
            return Err(Cancelled);
        }
        let is_unique = Question::Unique.verdict(&search) == Verdict::Solved;
        Ok(is_unique.then_some(DifficultyRating { by_singles: false, guesses: search.metrics.guesses }))
    }
}

/// Tests puzzles by the steps of a person.
#[derive(Debug)]
pub(super) struct HandTest {
    rater: techniques::Rater,
}

/// The inferences that one puzzle may take, fewer than by default, because there are many puzzles
/// to choose from.
const EFFORT: u64 = 10_000_000;

/// The lowest rating of puzzles that may take more, because there are no others to choose from.
const HARD: Score = Score::from_tenths(90);

impl HandTest {
    pub(super) fn new() -> Self {
        Self { rater: techniques::Rater::default() }
    }

    /// Whether the solution by hand of a puzzle with one solution has this class, unless singles or a
    /// search decide it, and this rating, and takes this technique. Nothing that is given up has a
    /// rating or a technique.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub(super) fn fits(
        &mut self,
        puzzle: &Grid,
        difficulty: &Difficulty,
        rating: Option<&RangeInclusive<Score>>,
        technique: Option<Technique>,
        cancel: &AtomicBool,
    ) -> Result<bool, Cancelled> {
        // Whatever is above a medium rating is hard, so that a class alone needs no more.
        let needs_class_only = rating.is_none() && technique.is_none();
        let is_medium = *difficulty == Difficulty::Medium;
        let most = if needs_class_only || is_medium { MEDIUM } else { LARGEST_RATING };
        let up_to = rating.map_or(most, |range| most.min(*range.end()));
        let is_hard = rating.is_some_and(|range| *range.start() >= HARD)
            || technique.is_some_and(|technique| technique.base_rating() >= HARD);
        let effort = if is_hard { techniques::DEFAULT_EFFORT } else { EFFORT };
        let options = Options { up_to: Some(up_to), effort, cancel: Some(cancel), ..Options::default() };
        let found = self.rater.rate(puzzle, &options);
        if found.ending == Ending::Cancelled {
            return Err(Cancelled);
        }
        let er = found.er.filter(|_| found.is_complete());
        let class = match er {
            Some(er) => Difficulty::of(er),
            None if found.is_complete() => Difficulty::Easy,
            None => Difficulty::Hard,
        };
        let is_of_class = !difficulty.is_by_hand() || class == *difficulty;
        let has_rating = rating.is_none_or(|range| er.is_some_and(|er| range.contains(&er)));
        let has_technique = technique.is_none_or(|technique| found.count(technique) > 0);
        Ok(is_of_class && (needs_class_only || found.is_complete() && has_rating && has_technique))
    }
}

/// The error of a text that is no range of ratings.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no range of ratings. Write 3.0..4.5, 3.4, 3.0.. or ..4.5; ratings are 1.0 to 20.0.")]
pub struct NoRatings(String);

/// The least and the largest rating.
pub(super) const LEAST_RATING: Score = Score::from_tenths(10);
pub(super) const LARGEST_RATING: Score = Score::from_tenths(200);

/// A range of ratings in words: `2.0 to 2.3`, `at most 3.2`, `at least 7.0` or `3.4`.
pub(super) fn range_words((least, most): (Score, Score)) -> String {
    match (least == LEAST_RATING, most == LARGEST_RATING) {
        _ if least == most => format!("{least}"),
        (true, false) => format!("at most {most}"),
        (false, true) => format!("at least {least}"),
        _ => format!("{least} to {most}"),
    }
}

/// Reads a range of ratings, both ends included: `3.0..4.5`, `3.4`, `3.0..` or `..4.5`.
///
/// # Errors
/// [`NoRatings`], also for a range that ends before it begins.
pub fn ratings(text: &str) -> Result<RangeInclusive<Score>, NoRatings> {
    let bad = || NoRatings(text.to_owned());
    let score = |part: &str, empty: Score| match part {
        "" => Ok(empty),
        part => part.parse::<Score>().map_err(|_| bad()),
    };
    let range = match text.split_once("..") {
        Some(("", "")) => return Err(bad()),
        Some((least, most)) => score(least, LEAST_RATING)?..=score(most, LARGEST_RATING)?,
        None => {
            let exact = text.parse().map_err(|_| bad())?;
            exact..=exact
        }
    };
    if range.is_empty() { Err(bad()) } else { Ok(range) }
}

/// A solver by naked and hidden singles alone, cell by cell and house by house.
struct Singles {
    order: Order,
    /// The cells of each house.
    houses: Vec<Vec<usize>>,
    /// The houses of each cell, as indices of `houses`.
    of_cell: Vec<[usize; 3]>,
    /// Bit `d - 1` for each digit that a cell may still take; none for a filled cell.
    candidates: [u32; MAX_CELLS],
    /// Cells to fill, and the bit of their digit.
    found: Vec<(usize, u32)>,
}

impl Singles {
    fn new(order: Order) -> Self {
        let houses: Vec<Vec<usize>> =
            order.houses().map(|house| house.cells(order).map(Cell::index).collect()).collect();
        let mut of_cell = vec![[0; 3]; order.cells()];
        for (place, house) in houses.iter().enumerate() {
            for &cell in house {
                of_cell[cell][place / order.side()] = place;
            }
        }
        Self { order, houses, of_cell, candidates: [0; MAX_CELLS], found: Vec::new() }
    }

    /// Whether singles fill every cell of a puzzle that has a solution.
    fn solve(&mut self, digits: &[u8]) -> bool {
        let mut left = self.order.cells();
        self.candidates[..left].fill((1 << self.order.side()) - 1);
        self.found.clear();
        let clues = digits.iter().enumerate().filter(|&(_, &digit)| digit != 0);
        self.found.extend(clues.map(|(cell, &digit)| (cell, 1 << (digit - 1))));
        loop {
            while let Some((cell, digit)) = self.found.pop() {
                if self.candidates[cell] == 0 {
                    continue;
                }
                left -= 1;
                self.candidates[cell] = 0;
                for house in self.of_cell[cell] {
                    for &peer in &self.houses[house] {
                        let before = self.candidates[peer];
                        let after = before & !digit;
                        self.candidates[peer] = after;
                        if after != before && after.is_power_of_two() {
                            self.found.push((peer, after));
                        }
                    }
                }
            }
            if left == 0 {
                return true;
            }
            self.find_hidden();
            if self.found.is_empty() {
                return false;
            }
        }
    }

    /// Finds digits with one place left in a house.
    fn find_hidden(&mut self) {
        for house in &self.houses {
            let (mut once, mut twice) = (0, 0);
            for &cell in house {
                twice |= once & self.candidates[cell];
                once |= self.candidates[cell];
            }
            let single = once & !twice;
            if single != 0 {
                let places = house.iter().map(|&cell| (cell, self.candidates[cell] & single));
                self.found.extend(places.filter(|&(_, digit)| digit != 0));
            }
        }
    }
}

const _: () = assert!(MAX_SIDE < 32, "candidates are the bits of a word");

#[cfg(test)]
mod tests {
    use super::*;

    fn nine(text: &str) -> Vec<u8> {
        text.bytes().map(|b| if b == b'.' { 0 } else { b - b'0' }).collect()
    }

    fn rate(text: &str) -> DifficultyRating {
        DifficultyRater::new(Order::NINE)
            .rate(&nine(text), 1_000_000, &AtomicBool::new(false))
            .unwrap()
            .unwrap()
    }

    #[test]
    fn singles_solve_what_is_easy_and_nothing_else() {
        let easy = "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79";
        assert_eq!(rate(easy), DifficultyRating { by_singles: true, guesses: 0 });
        let hard = "8..........36......7..9.2...5...7.......457.....1...3...1....68..85...1..9....4..";
        let rating = rate(hard);
        assert!(!rating.by_singles && rating.guesses > 1, "{rating:?}");
    }

    /// Each rating has one class, and no technique lies between two.
    #[test]
    fn classes_part_the_ratings() {
        for tenths in LEAST_RATING.tenths()..=LARGEST_RATING.tenths() {
            let rating = Score::from_tenths(tenths);
            let of: Vec<_> = Difficulty::ALL
                .into_iter()
                .filter(|(_, class)| class.ratings().is_some_and(|ratings| ratings.contains(&rating)))
                .collect();
            assert!(matches!(&of[..], [(_, class)] if *class == Difficulty::of(rating)), "{rating}");
        }
        let class = |technique: Technique| Difficulty::of(technique.base_rating());
        assert_eq!(class(Technique::NakedSingle), Difficulty::Easy);
        assert_eq!(
            [Technique::Pointing, Technique::Claiming].map(class),
            [Difficulty::Medium, Difficulty::Medium]
        );
        assert_eq!(class(Technique::NakedPair), Difficulty::Hard);
    }

    #[test]
    fn difficulties_part_what_a_search_shows() {
        let ratings = [(true, 0), (false, 0), (false, 1), (false, 9)]
            .map(|(by_singles, guesses)| DifficultyRating { by_singles, guesses });
        let fits = |difficulty: Difficulty| ratings.map(|rating| difficulty.fits(rating));
        assert_eq!(fits(Difficulty::Any), [true; 4]);
        assert_eq!(fits(Difficulty::Easy), [true, false, false, false]);
        assert_eq!(fits(Difficulty::Medium), [false, true, false, false]);
        assert_eq!(fits(Difficulty::Hard), [false, false, true, true]);
        assert_eq!(fits(Difficulty::Guesses(1..=3)), [false, false, true, false]);
        for difficulty in [Difficulty::Easy, Difficulty::Medium, Difficulty::Guesses(1..=3)] {
            assert!(difficulty.is_bound());
            for rating in ratings {
                assert!(difficulty.bounds(rating) || !difficulty.fits(rating));
            }
        }
    }

    #[test]
    fn ranges_of_guesses_are_read_and_written() {
        for (text, range) in [("3", 3..=3), ("3..10", 3..=10), ("3..", 3..=u64::MAX), ("0..10", 0..=10)] {
            assert_eq!(guesses(text), Ok(range.clone()), "{text}");
            assert_eq!(Difficulty::Guesses(range).to_string(), text);
        }
        assert_eq!(guesses("..10"), Ok(0..=10));
        for bad in ["", "..", "x", "3..x", "10..3", "-1", "1...2"] {
            assert!(guesses(bad).is_err(), "{bad}");
        }
    }
}
