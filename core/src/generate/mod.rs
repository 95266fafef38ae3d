//! Puzzle making: full grids, and removal of clues while there is a single solution.
//!
//! ```text
//!   Recipe, seed ─▶ Generator ── make(numbers 0..1000) ─▶ 1000 puzzles
//!
//!   each puzzle:   full grid ──▶ removal of clues ──▶ vicinity search ──▶ constraints met? ──▶ puzzle
//!                      ▲                         (9x9, very few clues)       │ no
//!                      └────────────────── another attempt ◀─────────────────┘
//! ```
//!
//! A puzzle depends only on the recipe, the seed and its own number: each has its own stream of
//! random numbers. So it does not matter how many are made at once, or on which thread. Many are
//! made in lock step, because the 9x9 kernel searches hundreds of puzzles as fast as a few: each
//! step tests one removal of each.
//!
//! The default strategy of the order tests uniqueness. Nothing here reads a clock: attempts are
//! limited by number.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use sudoku_core::generate::{Constraints, DEFAULT_ATTEMPTS, Generator, Kind, Recipe};
//! use sudoku_core::grid::Order;
//!
//! let kind = Kind::Puzzle(Constraints { clues: Some(28), ..Constraints::default() });
//! let recipe = Recipe { order: Order::NINE, kind, attempts: DEFAULT_ATTEMPTS };
//! let generator = Generator::new(recipe, 7)?; // equal seeds give equal puzzles
//! for puzzle in generator.make(0, 3, &AtomicBool::new(false))? {
//!     let puzzle = puzzle.expect("28 clues take few attempts");
//!     assert_eq!(puzzle.clues.filled(), 28);
//!     assert!(puzzle.solution.expect("it has one").solves(&puzzle.clues));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod clue_range;
mod difficulty;
mod full_grid;
mod remove_clues;
mod symmetry;
mod vicinity_search;

use std::fmt;
use std::ops::RangeInclusive;
use std::sync::atomic::{AtomicBool, Ordering};

use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;

use crate::answer::Cancelled;
use crate::canon::Disguise;
use crate::counted::counted;
use crate::grid::{Grid, Order};
use crate::solver::{
    Batch, DEFAULT_NODE_LIMIT, Limit, Question, Search, Solver, Stop, Verdict, default_strategy,
};
use crate::techniques::{NotForSize, Score, Technique, TechniqueSet};

pub use clue_range::{ClueRange, NoClueRange};
pub use difficulty::{Difficulty, NoGuesses, NoRatings, guesses, ratings};
pub use full_grid::Grids;
pub use symmetry::{NoSymmetry, Symmetry};

use difficulty::{DifficultyRater, HandTest, range_words};
use remove_clues::{ClueRemoval, Soundness};
use vicinity_search::VicinitySearch;

/// The default number of attempts at a puzzle.
pub const DEFAULT_ATTEMPTS: u64 = 1000;

/// 9x9 puzzles without symmetry and with at most this many clues are made by vicinity search,
/// because removals alone get there once in 400 attempts, and each clue less is some twenty times
/// as rare.
const VICINITY_CLUES: usize = 21;

/// A recipe: what to make, and how many attempts to spend on it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// The size.
    pub order: Order,
    /// The kind of puzzle.
    pub kind: Kind,
    /// The full grids that are tried for one puzzle before it is given up; at least 1.
    pub attempts: u64,
}

/// The kind of puzzle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Puzzles with a single solution.
    Puzzle(Constraints),
    /// Puzzles with a single solution and a number of clues in a range.
    PuzzleInRange {
        /// The range. It stands in for [`Constraints::clues`], which is ignored.
        clues: ClueRange,
        /// The other constraints.
        constraints: Constraints,
    },
    /// Boards with this number of random values that keep the rules. They may have one solution,
    /// several, or none.
    RandomClues(usize),
}

impl Kind {
    /// The constraints of a puzzle; `None` for random clues.
    const fn constraints(&self) -> Option<&Constraints> {
        match self {
            Self::Puzzle(constraints) | Self::PuzzleInRange { constraints, .. } => Some(constraints),
            Self::RandomClues(_) => None,
        }
    }

    /// The number of clues; `None` if it is as few as removals reach.
    fn clues(&self) -> Option<ClueRange> {
        match self {
            Self::Puzzle(constraints) => constraints.clues.map(ClueRange::exactly),
            Self::PuzzleInRange { clues, .. } => Some(*clues),
            Self::RandomClues(clues) => Some(ClueRange::exactly(*clues)),
        }
    }
}

/// The constraints of a puzzle, besides a single solution.
///
/// By default every orbit of cells is tried once and blanked if the solution stays single. The rest
/// is minimal, except where a test took too many nodes, as happens for 16x16 and 25x25: there the
/// clues stay.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Constraints {
    /// The source of full grids.
    pub grids: Grids,
    /// The number of clues; default: as few as removals reach. [`Kind::PuzzleInRange`] has a range
    /// of them.
    pub clues: Option<usize>,
    /// Whether no clue, or with a symmetry no whole orbit, may be removable. Proven, or there is no
    /// puzzle.
    pub minimal: bool,
    /// The pattern of the clues.
    pub symmetry: Symmetry,
    /// The difficulty. Unless the puzzle must be minimal, no clue is removed that would make it too
    /// hard.
    pub difficulty: Difficulty,
    /// The rating of the hardest step by hand, as [`crate::techniques`] rates; default: any.
    pub rating: Option<RangeInclusive<Score>>,
    /// A technique that the solution by hand takes at least once; default: any.
    pub technique: Option<Technique>,
}

impl Constraints {
    /// Whether puzzles are solved by hand, to see whether they are wanted.
    const fn tests_by_hand(&self) -> bool {
        self.rating.is_some() || self.technique.is_some() || self.difficulty.is_by_hand()
    }
}

impl Recipe {
    /// Checks for constraints that nothing can meet.
    ///
    /// # Errors
    /// [`RecipeError`].
    pub fn check(&self) -> Result<(), RecipeError> {
        let order = self.order;
        let (range, constraints) = (self.kind.clues(), self.kind.constraints());
        if let Some(range) = range {
            let clues = range.most().unwrap_or_else(|| range.least());
            if clues > order.cells() {
                return Err(RecipeError::TooManyClues { order, clues });
            }
            let least = if constraints.is_some() { least_clues(order) } else { 0 };
            if range.most().is_some_and(|most| most < least) {
                return Err(RecipeError::TooFewClues { order, clues, least });
            }
        }
        if let (Some(range), Some(&Constraints { symmetry, .. })) = (range, constraints) {
            let most = range.most().unwrap_or_else(|| order.cells());
            if !(range.least()..=most).any(|clues| symmetry.allows(order, clues)) {
                return Err(RecipeError::Symmetry { order, clues: range, symmetry });
            }
        }
        if let Some(Constraints { difficulty, rating: Some(wanted), .. }) = constraints
            && let Some(has) = difficulty.ratings()
            && (wanted.start() > has.end() || wanted.end() < has.start())
        {
            let [has, wanted] = [&has, wanted].map(|range| (*range.start(), *range.end()));
            return Err(RecipeError::Rating { class: difficulty.name(), has, wanted });
        }
        if let Some(technique) = constraints.and_then(|constraints| constraints.technique) {
            TechniqueSet::NONE.with(technique).check_for(order)?;
        }
        if self.attempts == 0 { Err(RecipeError::NoAttempts) } else { Ok(()) }
    }

    /// The best number of puzzles for one call of [`Generator::make`], if `threads` threads make
    /// `count` of them: enough to keep the kernel busy, and few enough for all threads to have work
    /// and for a steady output.
    #[must_use]
    pub fn job(&self, count: u64, threads: usize) -> usize {
        let most = match (self.kind.constraints(), self.order.box_side()) {
            (_, 5) => 1,
            (_, 4) => 8,
            _ if self.uses_vicinity_search() => 1,
            (Some(constraints), _)
                if self.kind.clues().is_some()
                    || constraints.difficulty != Difficulty::Any
                    || constraints.tests_by_hand() =>
            {
                512
            }
            _ => 16384,
        };
        let share = count.div_ceil(2 * threads.max(1) as u64);
        usize::try_from(share).unwrap_or(most).clamp(1, most)
    }

    /// Whether puzzles are made by vicinity search.
    fn uses_vicinity_search(&self) -> bool {
        let has_no_symmetry = |constraints: &Constraints| constraints.symmetry == Symmetry::None;
        self.order == Order::NINE
            && self.kind.constraints().is_some_and(has_no_symmetry)
            && self.kind.clues().and_then(ClueRange::most).is_some_and(|most| most <= VICINITY_CLUES)
    }
}

/// The recipe in words: `minimal 9x9 puzzle with 24 clues and the symmetry rotational`.
impl fmt::Display for Recipe {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counted = |range: ClueRange, what: &str| {
            let plural = if range == ClueRange::exactly(1) { "" } else { "s" };
            format!("{range} {what}{plural}")
        };
        let clues = self.kind.clues();
        let Some(constraints) = self.kind.constraints() else {
            let clues = clues.map_or_else(String::new, |range| counted(range, "random clue"));
            return write!(f, "{} board with {clues}", self.order);
        };
        if constraints.minimal {
            f.write_str("minimal ")?;
        }
        let mut with = Vec::new();
        with.extend(clues.map(|range| counted(range, "clue")));
        if constraints.symmetry != Symmetry::None {
            with.push(format!("the symmetry {}", constraints.symmetry));
        }
        match &constraints.difficulty {
            Difficulty::Any => {}
            Difficulty::Guesses(guesses) => {
                let plural = if *guesses == (1..=1) { "" } else { "es" };
                with.push(format!("{} guess{plural}", constraints.difficulty));
            }
            named => write!(f, "{named} ")?,
        }
        if let Some(rating) = &constraints.rating {
            with.push(format!("a rating of {}", range_words((*rating.start(), *rating.end()))));
        }
        with.extend(constraints.technique.map(|technique| format!("a step by {technique}")));
        write!(f, "{} puzzle", self.order)?;
        let last = with.pop();
        match last {
            Some(last) if with.is_empty() => write!(f, " with {last}"),
            Some(last) => write!(f, " with {} and {last}", with.join(", ")),
            None => Ok(()),
        }
    }
}

/// The fewest clues of a puzzle with a single solution.
///
/// For 9x9 this was proven by exhaustive search (G. Mc Guire, B. Tugemann and G. Civario, *There is
/// no 16-clue Sudoku*, 2012). For the larger sizes it is a lower bound: two missing digits could be
/// exchanged.
const fn least_clues(order: Order) -> usize {
    match order.box_side() {
        2 => 4,
        3 => 17,
        _ => order.side() - 1,
    }
}

/// Why nothing can meet the constraints of a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecipeError {
    /// More clues than cells.
    #[error("A {order} puzzle has {}, so it cannot have {clues} clues.", counted(order.cells() as u64, "cell"))]
    TooManyClues {
        /// The size.
        order: Order,
        /// The clues of the recipe.
        clues: usize,
    },
    /// Too few clues for a single solution.
    #[error("No {order} puzzle with fewer than {least} clues has a single solution.")]
    TooFewClues {
        /// The size.
        order: Order,
        /// The clues of the recipe.
        clues: usize,
        /// The fewest possible clues.
        least: usize,
    },
    /// No pattern of the symmetry has that number of clues.
    #[error("No {order} pattern of the symmetry {symmetry} has {clues} clues.")]
    Symmetry {
        /// The size.
        order: Order,
        /// The clues of the recipe.
        clues: ClueRange,
        /// The symmetry.
        symmetry: Symmetry,
    },
    /// Ratings that no puzzle of the class has.
    #[error("Puzzles that are {class} have a rating of {}, so none has one of {}.", range_words(*has), range_words(*wanted))]
    Rating {
        /// The name of the class.
        class: &'static str,
        /// Its least and its largest rating.
        has: (Score, Score),
        /// Those of the recipe.
        wanted: (Score, Score),
    },
    /// A technique that no puzzle of this size takes.
    #[error(transparent)]
    Technique(#[from] NotForSize),
    /// No attempts.
    #[error("A puzzle takes at least one attempt.")]
    NoAttempts,
}

/// A puzzle that was made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Puzzle {
    /// The clues.
    pub clues: Grid,
    /// The solution; `None` for random clues.
    pub solution: Option<Grid>,
}

/// All attempts at a puzzle have failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GaveUp;

/// A generator of puzzles by a recipe.
#[derive(Clone, Debug)]
pub struct Generator {
    recipe: Recipe,
    seed: u64,
    /// Cells that are clues together or not at all.
    orbits: Vec<Vec<usize>>,
}

impl Generator {
    /// A generator for this recipe. Equal seeds give equal puzzles.
    ///
    /// # Errors
    /// [`RecipeError`] if nothing can meet the constraints.
    pub fn new(recipe: Recipe, seed: u64) -> Result<Self, RecipeError> {
        recipe.check()?;
        let symmetry = recipe.kind.constraints().map_or(Symmetry::None, |constraints| constraints.symmetry);
        let orbits = symmetry.orbits(recipe.order);
        Ok(Self { recipe, seed, orbits })
    }

    /// The recipe.
    #[must_use]
    pub const fn recipe(&self) -> &Recipe {
        &self.recipe
    }

    /// The seed.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Makes the `count` puzzles with the numbers from `first` on, each of which may have been
    /// given up.
    ///
    /// # Errors
    /// [`Cancelled`] soon after `cancel` becomes true.
    pub fn make(
        &self,
        first: u64,
        count: usize,
        cancel: &AtomicBool,
    ) -> Result<Vec<Result<Puzzle, GaveUp>>, Cancelled> {
        let numbers = (0..count).map(|k| first + k as u64);
        match &self.recipe.kind {
            Kind::RandomClues(clues) => {
                numbers.map(|number| self.random_clues(*clues, self.random(number), cancel)).collect()
            }
            Kind::Puzzle(constraints) | Kind::PuzzleInRange { constraints, .. } => {
                BatchGenerator::new(self, constraints, cancel).make(numbers)
            }
        }
    }

    /// The random numbers of a puzzle.
    fn random(&self, number: u64) -> ChaCha8Rng {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        random.set_stream(number);
        random
    }

    fn random_clues(
        &self,
        clues: usize,
        mut random: ChaCha8Rng,
        cancel: &AtomicBool,
    ) -> Result<Result<Puzzle, GaveUp>, Cancelled> {
        let order = self.recipe.order;
        for _ in 0..self.recipe.attempts {
            if cancel.load(Ordering::Relaxed) {
                return Err(Cancelled);
            }
            if let Some(digits) = full_grid::scatter(order, clues, &mut random) {
                return Ok(Ok(Puzzle { clues: Grid::from_digits(order, &digits), solution: None }));
            }
        }
        Ok(Err(GaveUp))
    }
}

/// A random seed, short enough to be typed.
#[must_use]
pub fn any_seed() -> u64 {
    rand::random::<u32>().into()
}

/// A puzzle that is being made.
struct Making {
    /// Its index among the results.
    place: usize,
    random: ChaCha8Rng,
    /// The full grids tried.
    attempts: u64,
    /// The beginnings tried for the current full grid.
    fills: usize,
    solution: Vec<u8>,
    removal: ClueRemoval,
    stage: Stage,
}

enum Stage {
    /// It needs a full grid.
    Filling,
    /// Clues are being removed.
    ClueRemoval,
    Done(Result<Puzzle, GaveUp>),
}

impl Making {
    const fn new(place: usize, random: ChaCha8Rng) -> Self {
        Self {
            place,
            random,
            attempts: 0,
            fills: 0,
            solution: Vec::new(),
            removal: ClueRemoval::new(),
            stage: Stage::Filling,
        }
    }

    /// Begins the next puzzle in the memory of this one.
    fn begin_next(&mut self, place: usize, random: ChaCha8Rng) {
        self.place = place;
        self.random = random;
        self.attempts = 0;
        self.fills = 0;
        self.stage = Stage::Filling;
    }

    /// Begins to remove clues from the full grid, until as many are left as `clues` draws.
    fn begin_removal(&mut self, orbits: &[Vec<usize>], clues: Option<ClueRange>) {
        let least = clues.map_or(0, |clues| clues.draw(&mut self.random));
        self.removal.begin(&self.solution, orbits, least, &mut self.random);
        self.stage = Stage::ClueRemoval;
    }
}

/// The puzzles that are made in lock step. Many, because the kernel idles at the end of each batch:
/// with 2,048 a puzzle takes a third longer.
const TOGETHER: usize = 8192;

/// The node limit of a test of uniqueness, by order from 1. Up to 9x9 no test comes near it. Above,
/// one test in a few hundred would otherwise take as long as all others together.
const TEST_NODES: [u64; 5] = [DEFAULT_NODE_LIMIT, DEFAULT_NODE_LIMIT, DEFAULT_NODE_LIMIT, 1000, 100];

/// The node limit of the completion of a full grid, by order from 1.
const FILL_NODES: [u64; 5] = [DEFAULT_NODE_LIMIT, DEFAULT_NODE_LIMIT, DEFAULT_NODE_LIMIT, 2000, 2000];

/// After this many beginnings without a solution the base grid is used.
const MOST_FILLS: usize = 100;

/// Makes a batch of puzzles in lock step.
struct BatchGenerator<'a> {
    generator: &'a Generator,
    order: Order,
    constraints: &'a Constraints,
    clues: Option<ClueRange>,
    cancel: &'a AtomicBool,
    solver: Box<dyn Solver>,
    rater: Option<DifficultyRater>,
    hand_test: Option<HandTest>,
    /// The puzzles searched together, and the index of the open puzzle that each belongs to.
    batch: Batch,
    owners: Vec<usize>,
}

impl<'a> BatchGenerator<'a> {
    fn new(generator: &'a Generator, constraints: &'a Constraints, cancel: &'a AtomicBool) -> Self {
        let order = generator.recipe.order;
        Self {
            generator,
            order,
            constraints,
            clues: generator.recipe.kind.clues(),
            cancel,
            solver: default_strategy(order).solver(order),
            rater: (constraints.difficulty != Difficulty::Any).then(|| DifficultyRater::new(order)),
            hand_test: constraints.tests_by_hand().then(HandTest::new),
            batch: Batch::new(order),
            owners: Vec::new(),
        }
    }

    /// Makes the puzzles with these numbers.
    fn make(
        mut self,
        numbers: impl ExactSizeIterator<Item = u64>,
    ) -> Result<Vec<Result<Puzzle, GaveUp>>, Cancelled> {
        let generator = self.generator;
        let mut results = vec![Err(GaveUp); numbers.len()];
        let mut coming = numbers.enumerate().map(|(place, number)| (place, generator.random(number)));
        let mut open: Vec<Making> =
            coming.by_ref().take(TOGETHER).map(|(place, random)| Making::new(place, random)).collect();
        while !open.is_empty() {
            self.full_grids(&mut open)?;
            self.remove_clues(&mut open)?;
            open.retain_mut(|making| {
                if !matches!(making.stage, Stage::Done(_)) {
                    return true;
                }
                if let Stage::Done(result) = std::mem::replace(&mut making.stage, Stage::Filling) {
                    results[making.place] = result;
                }
                let next = coming.next();
                let is_next = next.is_some();
                if let Some((place, random)) = next {
                    making.begin_next(place, random);
                }
                is_next
            });
        }
        Ok(results)
    }

    /// Gives a full grid to each puzzle that needs one and whose beginning has a solution.
    fn full_grids(&mut self, open: &mut [Making]) -> Result<(), Cancelled> {
        let order = self.order;
        // Clues of minimal puzzles are removed to the end, and then counted.
        let clues = self.clues.filter(|_| !self.constraints.minimal);
        self.begin_batch();
        let filling = open.iter().filter(|making| matches!(making.stage, Stage::Filling)).count();
        // A search of a few takes as long as one of many.
        if filling < open.len().div_ceil(4) {
            return Ok(());
        }
        for (index, making) in open.iter_mut().enumerate() {
            if !matches!(making.stage, Stage::Filling) {
                continue;
            }
            if self.constraints.grids == Grids::Shuffled || making.fills == MOST_FILLS {
                let base = full_grid::base(order);
                making.solution.resize(base.len(), 0);
                Disguise::draw(order, &mut making.random).apply_to(&base, &mut making.solution);
                making.begin_removal(&self.generator.orbits, clues);
                continue;
            }
            making.fills += 1;
            let beginning = full_grid::beginning(order, &mut making.random);
            self.batch.push_many(|out| out.extend_from_slice(&beginning));
            self.owners.push(index);
        }
        self.search(1, FILL_NODES[order.box_side() - 1])?;
        for (place, &index) in self.owners.iter().enumerate() {
            if self.batch.searches()[place].solutions > 0 {
                let making = &mut open[index];
                // The solver finds solutions of a certain kind first, so the grid is disguised.
                let disguise = Disguise::draw(order, &mut making.random);
                making.solution.resize(order.cells(), 0);
                disguise.apply_to(self.batch.solution(place), &mut making.solution);
                making.begin_removal(&self.generator.orbits, clues);
            }
        }
        Ok(())
    }

    /// Tests one removal of each puzzle.
    fn remove_clues(&mut self, open: &mut [Making]) -> Result<(), Cancelled> {
        self.begin_batch();
        for (index, making) in open.iter_mut().enumerate() {
            if !matches!(making.stage, Stage::ClueRemoval) {
                continue;
            }
            let mut is_proposed = false;
            self.batch.push_many(|out| {
                is_proposed = making.removal.propose(&self.generator.orbits, out);
            });
            if is_proposed {
                self.owners.push(index);
            } else {
                self.finish(making)?;
            }
        }
        self.search(2, TEST_NODES[self.order.box_side() - 1])?;
        for place in 0..self.owners.len() {
            let soundness = self.soundness(place)?;
            open[self.owners[place]].removal.learn(&self.generator.orbits, soundness);
        }
        Ok(())
    }

    fn begin_batch(&mut self) {
        self.batch.clear();
        self.owners.clear();
    }

    /// Searches the batch.
    fn search(&mut self, solutions: u64, nodes: u64) -> Result<(), Cancelled> {
        if self.batch.is_empty() {
            return Ok(());
        }
        self.solver.search_batch(&mut self.batch, &Limit { solutions, nodes, cancel: self.cancel });
        let is_cancelled = |search: &Search| search.stop == Stop::Cancelled;
        if self.batch.searches().iter().any(is_cancelled) { Err(Cancelled) } else { Ok(()) }
    }

    /// Tests a puzzle of the batch: a single solution, and not too hard.
    fn soundness(&mut self, place: usize) -> Result<Soundness, Cancelled> {
        match Question::Unique.verdict(&self.batch.searches()[place]) {
            Verdict::Solved => {}
            Verdict::GaveUp { .. } => return Ok(Soundness::Undecided),
            _ => return Ok(Soundness::Unsound),
        }
        let Some(rater) = self.rater.as_mut().filter(|_| !self.constraints.minimal) else {
            return Ok(Soundness::Sound);
        };
        let difficulty = &self.constraints.difficulty;
        if !difficulty.is_bound() {
            return Ok(Soundness::Sound);
        }
        let nodes = TEST_NODES[self.order.box_side() - 1];
        let rating = rater.rate(self.batch.puzzle(place), nodes, self.cancel)?;
        Ok(match rating {
            Some(rating) if difficulty.bounds(rating) => Soundness::Sound,
            Some(_) => Soundness::Unsound,
            None => Soundness::Undecided,
        })
    }

    /// Finishes a puzzle without removable clues: keeps it if it meets the constraints, else begins
    /// another attempt.
    fn finish(&mut self, making: &mut Making) -> Result<(), Cancelled> {
        making.attempts += 1;
        making.stage = if let Some(puzzle) = self.wanted(making)? {
            Stage::Done(Ok(puzzle))
        } else if making.attempts >= self.generator.recipe.attempts {
            Stage::Done(Err(GaveUp))
        } else {
            Stage::Filling
        };
        making.fills = 0;
        Ok(())
    }

    fn wanted(&mut self, making: &mut Making) -> Result<Option<Puzzle>, Cancelled> {
        let Constraints { minimal, difficulty, .. } = self.constraints;
        let removal = &making.removal;
        if *minimal && removal.is_undecided {
            return Ok(None);
        }
        let mut nearby = None;
        if let Some(range) = self.clues
            && !range.contains(removal.clues)
        {
            let most = range.most().filter(|&most| removal.clues > most);
            let Some(most) = most.filter(|_| self.generator.recipe.uses_vicinity_search()) else {
                return Ok(None);
            };
            let mut search = VicinitySearch {
                solver: self.solver.as_mut(),
                cancel: self.cancel,
                // Not `self.batch`, which is being filled.
                batch: Batch::new(self.order),
            };
            nearby = search.run(&removal.puzzle, most, *minimal, &mut making.random)?;
            if nearby.is_none() {
                return Ok(None);
            }
        }
        let digits = nearby.as_deref().unwrap_or(&removal.puzzle);
        if let Some(rater) = &mut self.rater {
            let rating = rater.rate(digits, DEFAULT_NODE_LIMIT, self.cancel)?;
            if !rating.is_some_and(|rating| difficulty.fits(rating)) {
                return Ok(None);
            }
        }
        let clues = Grid::from_digits(self.order, digits);
        if let Some(test) = &mut self.hand_test {
            let Constraints { rating, technique, .. } = self.constraints;
            if !test.fits(&clues, difficulty, rating.as_ref(), *technique, self.cancel)? {
                return Ok(None);
            }
        }
        let mut solution = Grid::from_digits(self.order, &making.solution);
        if nearby.is_some() {
            // Vicinity search changes the solution.
            let limit = Limit { solutions: 1, nodes: DEFAULT_NODE_LIMIT, cancel: self.cancel };
            let search = self.solver.search(&clues, &limit, &mut solution);
            if search.solutions == 0 {
                return if search.stop == Stop::Cancelled { Err(Cancelled) } else { Ok(None) };
            }
        }
        Ok(Some(Puzzle { clues, solution: Some(solution) }))
    }
}
