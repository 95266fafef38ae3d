//! The search: depth first over boards, with restarts while there is no solution, and learning as
//! the last resort.

use super::bands::BandWord;
use super::board::SearchState;
use super::guess::Weights;
use super::learning;
use crate::grid::{Grid, MAX_CELLS, MAX_SIDE};
use crate::solver::watch::{Watch, Watchable};
use crate::solver::{Limit, Search, Stop};

/// The backtracks before the first restart: a search without a solution starts again from the root,
/// with the weights it has learnt, because an early wrong guess may otherwise cost millions of
/// nodes below it. Each start may take half as many backtracks again as the one before, so the last
/// one ends. After a solution there are no restarts, because the next start would find it again.
const FIRST_RESTART: u64 = 500;

pub(super) struct PropagationSolver<
    W,
    const N: usize,
    const SIDE: usize,
    const SLOTS: usize,
    const GROUP: usize,
> {
    board: SearchState<W, N, SIDE, SLOTS, GROUP>,
    /// The board before the first guess on the stack, which holds whatever is guessed.
    root: SearchState<W, N, SIDE, SLOTS, GROUP>,
    /// For each guess that stands, the board without the candidate that was guessed.
    stack: Vec<SearchState<W, N, SIDE, SLOTS, GROUP>>,
    /// The cells of those guesses, in a watched search.
    guesses: Vec<usize>,
    weights: Box<Weights>,
    /// [`FIRST_RESTART`], or less in tests.
    pub(super) patience: u64,
}

impl<W: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize>
    PropagationSolver<W, N, SIDE, SLOTS, GROUP>
{
    pub(super) fn new() -> Self {
        Self {
            board: SearchState::new(),
            root: SearchState::new(),
            stack: Vec::with_capacity(SIDE * SIDE),
            guesses: Vec::new(),
            weights: Box::new(Weights { cells: [0; MAX_CELLS], digits: [0; MAX_SIDE] }),
            patience: FIRST_RESTART,
        }
    }
}

impl<B: BandWord, const N: usize, const SIDE: usize, const SLOTS: usize, const GROUP: usize> Watchable
    for PropagationSolver<B, N, SIDE, SLOTS, GROUP>
{
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        assert_eq!(puzzle.order().box_side(), N, "a solver takes puzzles of its own order");
        let mut found = Search::NO_SOLUTION;
        let metrics = &mut found.metrics;
        self.stack.clear();
        self.guesses.clear();
        let mut entered = self.board.load(puzzle.digits());
        let mut patience = self.patience;
        let mut restart_at = patience;
        let learn_at = learning::patience(N);
        // The cell of the last guess, which has been reported but is not filled yet.
        let mut reported: Option<usize> = None;
        loop {
            if metrics.nodes == limit.nodes {
                found.stop = Stop::Nodes;
                return found;
            }
            metrics.nodes += 1;
            if watch.is_cancelled(metrics.nodes, limit) {
                found.stop = Stop::Cancelled;
                return found;
            }
            let (before, guessed) = (self.board.filled, reported.take());
            let inferred = entered.and_then(|()| self.board.propagate(watch));
            if W::IS_ON && inferred.is_ok() {
                self.board.report_filled(before, guessed, watch);
            }
            match inferred {
                Ok(()) if self.board.is_solved() => {
                    let write = |solution: &mut Grid| self.board.write(solution);
                    if let Err(stop) = limit.count_solution(&mut found.solutions, solution, watch, write) {
                        found.stop = stop;
                        return found;
                    }
                }
                Ok(()) => {
                    if metrics.guesses == 0 {
                        self.weights.clear::<SIDE>();
                    }
                    let guess = self.board.choose(&self.weights);
                    debug_assert!(self.stack.len() < SIDE * SIDE, "every guess fills a cell");
                    if self.stack.is_empty() {
                        self.root = self.board;
                    }
                    self.stack.push(self.board);
                    if let Some(otherwise) = self.stack.last_mut() {
                        otherwise.rule_out(guess);
                    }
                    entered = self.board.place(guess);
                    metrics.guesses += 1;
                    metrics.depth = metrics.depth.max(self.stack.len() as u64);
                    if W::IS_ON {
                        let cell = SearchState::<B, N, SIDE, SLOTS, GROUP>::cell(guess);
                        self.guesses.push(cell);
                        reported = Some(cell);
                        // A side is 25 at most.
                        watch.place(cell, u8::try_from(guess.digit + 1).unwrap_or(0), true);
                    }
                    continue;
                }
                Err(culprit) => {
                    self.board.blame(culprit, &mut self.weights);
                    if W::IS_ON {
                        watch.conflict(self.board.explain(puzzle.order()));
                    }
                }
            }
            let Some(otherwise) = self.stack.pop() else {
                return found;
            };
            self.board = otherwise;
            entered = Ok(());
            metrics.backtracks += 1;
            if metrics.backtracks >= restart_at && found.solutions == 0 && !self.stack.is_empty() {
                metrics.backtracks += self.stack.len() as u64;
                self.stack.clear();
                self.board = self.root;
                patience += patience / 2 + 1;
                restart_at = metrics.backtracks + patience;
            }
            let learns = !W::WANTS_SOLUTIONS
                && metrics.nodes >= learn_at
                && limit.solutions <= learning::MOST_SOLUTIONS
                && !self.stack.is_empty()
                && learning::suits(&self.root);
            if learns {
                metrics.backtracks += self.stack.len() as u64;
                self.stack.clear();
                self.board = self.root;
            }
            if W::IS_ON {
                for cell in self.guesses.drain(self.stack.len()..).rev() {
                    watch.backtrack(cell);
                }
            }
            if learns {
                let before = found.solutions;
                learning::search(&self.root, limit, &mut found, solution);
                if W::IS_ON && before == 0 && found.solutions > 0 {
                    self.root.report_solution(solution, watch);
                }
                return found;
            }
        }
    }
}
