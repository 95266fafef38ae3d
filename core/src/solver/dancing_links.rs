//! Dancing links: D. Knuth's Algorithm X over Sudoku as an exact cover.
//!
//! An *item* must be covered exactly once: a cell is filled, or a digit is in a row, a column or a
//! box. An *option* is a digit in a cell and covers four items. A solution is a set of options that
//! covers every item once. The search takes the item with the fewest options left, tries each of
//! them, and *covers* the four items of the option: it unlinks every other option of these.
//! Unlinked nodes keep their own links, so that backtracking relinks them in reverse order.
//! (*Dancing links*, arXiv cs/0011047, 2000; *The Art of Computer Programming*, volume 4B, section
//! 7.2.2.1.)
//!
//! A node of the search is one option tried, and a guess if another one was left. A comparison is
//! one look at the number of options of an item.
//!
//! Three things make it fast. Links have 16 bits, so that all of them fit into the first-level
//! cache at 9x9. The nodes of an option are adjacent and need no links to each other. And items
//! have no list: their numbers of options are bytes in an array, whose minimum is found faster by
//! vector instructions than by following links.

use super::watch::{Contradiction, Watch, Watchable, digit_of};
use super::{Limit, Search, Solver, Stop, Strategy};
use crate::grid::{Grid, House, Order};

/// The strategy `dancing-links`.
#[derive(Clone, Copy, Debug)]
pub struct DancingLinks;

impl Strategy for DancingLinks {
    fn name(&self) -> &'static str {
        "dancing-links"
    }

    fn summary(&self) -> &'static str {
        "Knuth's Algorithm X over cells, rows, columns and boxes, the item with the fewest options first"
    }

    fn short_summary(&self) -> &'static str {
        "exact cover"
    }

    fn solver(&self, order: Order) -> Box<dyn Solver> {
        Box::new(DancingLinksSolver::new(order))
    }
}

/// The index of a list node: an item, which is the head of its list, or an option in that list.
/// 65,000 at 25x25.
type Index = u16;

/// The items of an option.
const ITEMS_OF_AN_OPTION: usize = 4;

/// The bit in [`Matrix::sizes`] of an item that is covered.
const COVERED: u8 = 0x80;

/// A member of the list of an item.
#[derive(Clone, Copy, Debug)]
struct ListNode {
    up: Index,
    down: Index,
    item: Index,
}

/// The options of every item.
///
/// ```text
/// nodes: items                                            | option 0: 4 nodes | option 1 ...
///        cells | rows x digits | columns x d. | boxes x d. | cell 0, digit 1   | cell 0, digit 2
///        side^2  side^2          side^2         side^2
/// ```
#[derive(Clone, Debug)]
struct Matrix {
    nodes: Vec<ListNode>,
    /// The number of options of each item, with [`COVERED`].
    sizes: Vec<u8>,
}

impl Matrix {
    /// The matrix of a grid of blanks.
    fn new(order: Order) -> Self {
        let (side, cells) = (order.side(), order.cells());
        let items = ITEMS_OF_AN_OPTION * cells;
        let head = |item| ListNode { up: index(item), down: index(item), item: index(item) };
        let mut nodes: Vec<ListNode> = (0..items).map(head).collect();
        for cell in order.all_cells() {
            let [row, column, of_boxes] = [cell.row(), cell.column(), cell.box_number()].map(|n| n - 1);
            for digit in 0..side {
                let of_digit = [row, column, of_boxes].map(|house| house * side + digit);
                for (kind, item) in
                    [cell.index(), of_digit[0], of_digit[1], of_digit[2]].into_iter().enumerate()
                {
                    let item = kind * cells + item;
                    let (node, last) = (index(nodes.len()), nodes[item].up);
                    nodes.push(ListNode { up: last, down: index(item), item: index(item) });
                    nodes[usize::from(last)].down = node;
                    nodes[item].up = node;
                }
            }
        }
        // A side is 25 at most.
        Self { nodes, sizes: vec![u8::try_from(side).unwrap_or(0); items] }
    }

    /// Copies another matrix of the same order.
    fn restore(&mut self, from: &Self) {
        self.nodes.copy_from_slice(&from.nodes);
        self.sizes.copy_from_slice(&from.sizes);
    }

    /// The node of the option "digit in cell" in the list of the cell.
    fn option(&self, cell: usize, digit: u8, side: usize) -> usize {
        self.sizes.len() + ITEMS_OF_AN_OPTION * (cell * side + usize::from(digit) - 1)
    }

    /// The other nodes of an option.
    #[inline(always)]
    fn others(node: usize) -> [usize; ITEMS_OF_AN_OPTION - 1] {
        // Items come first and are a multiple of four. Written out, because a `map` is not inlined.
        let first = node & !3;
        [first | ((node + 1) & 3), first | ((node + 2) & 3), first | ((node + 3) & 3)]
    }

    /// The uncovered item with the fewest options. `None` if all are covered.
    #[inline(always)]
    fn smallest(&self) -> Option<(usize, u8)> {
        let least = self.sizes.iter().fold(u8::MAX, |least, &size| least.min(size));
        if least >= COVERED {
            return None;
        }
        memchr::memchr(least, &self.sizes).map(|item| (item, least))
    }

    /// Covers an item: unlinks its options from the lists of all other items.
    #[inline(always)]
    fn cover(&mut self, item: usize) {
        self.sizes[item] |= COVERED;
        let mut node = usize::from(self.nodes[item].down);
        while node != item {
            for other in Self::others(node) {
                let ListNode { up, down, item } = self.nodes[other];
                self.nodes[usize::from(up)].down = down;
                self.nodes[usize::from(down)].up = up;
                self.sizes[usize::from(item)] -= 1;
            }
            node = usize::from(self.nodes[node].down);
        }
    }

    /// Relinks the options of an item, the inverse of [`Self::cover`].
    #[inline(always)]
    fn uncover(&mut self, item: usize) {
        let mut node = usize::from(self.nodes[item].up);
        while node != item {
            for other in Self::others(node).into_iter().rev() {
                let ListNode { up, down, item } = self.nodes[other];
                self.nodes[usize::from(up)].down = index(other);
                self.nodes[usize::from(down)].up = index(other);
                self.sizes[usize::from(item)] += 1;
            }
            node = usize::from(self.nodes[node].up);
        }
        self.sizes[item] &= !COVERED;
    }

    /// Covers the items of an option but the one in whose list `node` is.
    #[inline(always)]
    fn cover_others(&mut self, node: usize) {
        for other in Self::others(node) {
            self.cover(self.nodes[other].item.into());
        }
    }

    #[inline(always)]
    fn uncover_others(&mut self, node: usize) {
        for other in Self::others(node).into_iter().rev() {
            self.uncover(self.nodes[other].item.into());
        }
    }

    fn is_covered(&self, item: usize) -> bool {
        self.sizes[item] >= COVERED
    }
}

#[expect(clippy::cast_possible_truncation, reason = "a matrix has 65,000 nodes at most")]
#[inline(always)]
const fn index(node: usize) -> Index {
    node as Index
}

struct DancingLinksSolver {
    order: Order,
    /// The matrix of a grid of blanks.
    blank: Matrix,
    matrix: Matrix,
    /// For each choice that stands, the node being tried; before the first one the item itself.
    stack: Vec<usize>,
    /// The grid; a blank cell holds the digit tried last.
    digits: Vec<u8>,
}

impl DancingLinksSolver {
    fn new(order: Order) -> Self {
        let blank = Matrix::new(order);
        Self { order, matrix: blank.clone(), blank, stack: Vec::new(), digits: Vec::new() }
    }

    /// Covers the items of the clues. Returns false if two clues have an item in common.
    fn load(&mut self, puzzle: &Grid) -> bool {
        assert_eq!(puzzle.order(), self.order, "a solver takes puzzles of its own order");
        self.matrix.restore(&self.blank);
        self.stack.clear();
        self.digits.clear();
        self.digits.extend_from_slice(puzzle.digits());
        for (cell, &digit) in puzzle.digits().iter().enumerate() {
            if digit == 0 {
                continue;
            }
            let node = self.matrix.option(cell, digit, self.order.side());
            if Matrix::others(node)
                .into_iter()
                .any(|node| self.matrix.is_covered(self.matrix.nodes[node].item.into()))
            {
                return false;
            }
            self.matrix.cover(cell);
            self.matrix.cover_others(node);
        }
        true
    }

    /// The cell and the digit of the option that a node belongs to.
    fn option_of(&self, node: usize) -> (usize, u8) {
        let option = (node - self.matrix.sizes.len()) / ITEMS_OF_AN_OPTION;
        let (cell, digit) = (option / self.order.side(), option % self.order.side());
        // A side is 25 at most.
        (cell, u8::try_from(digit + 1).unwrap_or(0))
    }

    /// The contradiction of an item without options.
    fn contradiction(&self, item: usize) -> Contradiction {
        let (side, cells) = (self.order.side(), self.order.cells());
        let (kind, item) = (item / cells, item % cells);
        let (house, digit) = (item / side, item % side + 1);
        let house = match kind {
            0 => return Contradiction::NoDigit { cell: self.order.cell_at(item) },
            1 => House::row_at(house),
            2 => House::column_at(house),
            _ => House::box_at(house),
        };
        Contradiction::NoPlace { digit: digit_of(self.order, u8::try_from(digit).unwrap_or(0)), house }
    }
}

impl Watchable for DancingLinksSolver {
    fn run<W: Watch>(
        &mut self,
        puzzle: &Grid,
        limit: &Limit<'_>,
        solution: &mut Grid,
        watch: &mut W,
    ) -> Search {
        let mut found = Search::NO_SOLUTION;
        if !self.load(puzzle) {
            return found;
        }
        let clues = puzzle.filled();
        let metrics = &mut found.metrics;
        let mut guesses_standing = 0;
        loop {
            // The uncovered items: each clue and each choice covers four.
            let open = ITEMS_OF_AN_OPTION * (self.order.cells() - clues - self.stack.len());
            watch.compare(open as u64);
            match self.matrix.smallest() {
                None => {
                    let write = |solution: &mut Grid| solution.set_digits(&self.digits);
                    if let Err(stop) = limit.count_solution(&mut found.solutions, solution, watch, write) {
                        found.stop = stop;
                        return found;
                    }
                }
                Some((item, 0)) => {
                    if W::IS_ON {
                        watch.conflict(self.contradiction(item));
                    }
                }
                Some((item, _)) => {
                    self.matrix.cover(item);
                    self.stack.push(item);
                }
            }
            // Continue with the next option of the last item that has one.
            let (node, is_guess) = loop {
                let Some(tried) = self.stack.pop() else { return found };
                let item = usize::from(self.matrix.nodes[tried].item);
                let next = usize::from(self.matrix.nodes[tried].down);
                if tried != item {
                    self.matrix.uncover_others(tried);
                    // The last option of an item is no guess, because all others are ruled out.
                    if next != item {
                        metrics.backtracks += 1;
                        guesses_standing -= 1;
                        if W::IS_ON {
                            watch.backtrack(self.option_of(tried).0);
                        }
                    }
                }
                if next != item {
                    self.stack.push(next);
                    break (next, usize::from(self.matrix.nodes[next].down) != item);
                }
                self.matrix.uncover(item);
            };
            if metrics.nodes == limit.nodes {
                found.stop = Stop::Nodes;
                return found;
            }
            metrics.nodes += 1;
            if watch.is_cancelled(metrics.nodes, limit) {
                found.stop = Stop::Cancelled;
                return found;
            }
            if is_guess {
                guesses_standing += 1;
                metrics.guesses += 1;
                metrics.depth = metrics.depth.max(guesses_standing);
            }
            self.matrix.cover_others(node);
            let (cell, digit) = self.option_of(node);
            self.digits[cell] = digit;
            watch.place(cell, digit, is_guess);
        }
    }
}
