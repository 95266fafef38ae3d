//! Full grids, from which puzzles are made by removing clues.

use rand::RngExt as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};

use crate::grid::{MAX_SIDE, Order};

/// The source of full grids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Grids {
    /// Random values, completed by a solver and disguised. Every grid is possible. Grids that
    /// differ only by a disguise are equally frequent, others nearly so.
    #[default]
    Random,
    /// One base grid, disguised: digits relabelled, rows, columns, bands and stacks permuted,
    /// perhaps transposed.
    Shuffled,
}

impl Grids {
    /// All sources, each with its name on the command line.
    pub const ALL: [(&'static str, Self); 2] = [("random", Self::Random), ("shuffled", Self::Shuffled)];

    /// One line for a list of sources.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::Random => "random values, and a solver for the rest",
            Self::Shuffled => "one base grid, relabelled and permuted",
        }
    }
}

/// The digits that each house holds, bit `d` for digit `d`.
pub(super) struct HouseDigits {
    order: Order,
    rows: [u32; MAX_SIDE],
    columns: [u32; MAX_SIDE],
    boxes: [u32; MAX_SIDE],
}

impl HouseDigits {
    pub(super) const fn new(order: Order) -> Self {
        Self { order, rows: [0; MAX_SIDE], columns: [0; MAX_SIDE], boxes: [0; MAX_SIDE] }
    }

    /// The houses of a grid that keeps the rules.
    pub(super) fn of(order: Order, digits: &[u8]) -> Self {
        let mut houses = Self::new(order);
        for (cell, &digit) in digits.iter().enumerate() {
            if digit != 0 {
                houses.flip(cell, digit);
            }
        }
        houses
    }

    fn places(&self, cell: usize) -> [usize; 3] {
        let (side, b) = (self.order.side(), self.order.box_side());
        let (row, column) = (cell / side, cell % side);
        [row, column, row / b * b + column / b]
    }

    /// Adds a digit to the houses of a cell, or removes it.
    pub(super) fn flip(&mut self, cell: usize, digit: u8) {
        let [row, column, whole_box] = self.places(cell);
        self.rows[row] ^= 1 << digit;
        self.columns[column] ^= 1 << digit;
        self.boxes[whole_box] ^= 1 << digit;
    }

    /// The digits that no house of the cell holds.
    pub(super) fn free(&self, cell: usize) -> u32 {
        let [row, column, whole_box] = self.places(cell);
        let all = ((1 << self.order.side()) - 1) << 1;
        all & !(self.rows[row] | self.columns[column] | self.boxes[whole_box])
    }
}

/// A random digit of a set, which must not be empty.
pub(super) fn any_digit(set: u32, random: &mut ChaCha8Rng) -> u8 {
    let mut left = set;
    for _ in 0..random.random_range(0..set.count_ones()) {
        left &= left - 1;
    }
    // A digit is at most 25.
    u8::try_from(left.trailing_zeros()).unwrap_or_default()
}

/// The random values besides the boxes on the diagonal, by order from 1. With more of them grids
/// would be more evenly frequent, but fewer beginnings would have a solution; for 9x9 three in four
/// have one.
const PLACED: [usize; 5] = [0, 1, 8, 10, 10];

/// The beginning of a random grid: the boxes on the diagonal, which share no house, and a few more
/// values. It keeps the rules, but may have no solution.
pub(super) fn beginning(order: Order, random: &mut ChaCha8Rng) -> Vec<u8> {
    let (side, b) = (order.side(), order.box_side());
    let mut digits = vec![0; order.cells()];
    let mut houses = HouseDigits::new(order);
    let mut labels: Vec<u8> = (1..=u8::MAX).take(side).collect();
    for band in 0..b {
        labels.shuffle(random);
        for (k, &label) in labels.iter().enumerate() {
            let cell = (band * b + k / b) * side + band * b + k % b;
            digits[cell] = label;
            houses.flip(cell, label);
        }
    }
    for _ in 0..PLACED[b - 1] {
        let cell = random.random_range(0..order.cells());
        let free = houses.free(cell);
        if digits[cell] == 0 && free != 0 {
            digits[cell] = any_digit(free, random);
            houses.flip(cell, digits[cell]);
        }
    }
    digits
}

/// The base grid: every row is the one above it, shifted.
pub(super) fn base(order: Order) -> Vec<u8> {
    let (side, b) = (order.side(), order.box_side());
    let digit = |cell: usize| {
        let (row, column) = (cell / side, cell % side);
        // At most the side, 25.
        u8::try_from((row % b * b + row / b + column) % side + 1).unwrap_or_default()
    };
    (0..order.cells()).map(digit).collect()
}

/// Places `clues` random values, each a digit that the houses of its cell do not hold. `None` if no
/// cell is left that can take one.
pub(super) fn scatter(order: Order, clues: usize, random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let mut digits = vec![0; order.cells()];
    let mut houses = HouseDigits::new(order);
    let mut blanks: Vec<usize> = (0..order.cells()).collect();
    for _ in 0..clues {
        blanks.retain(|&cell| digits[cell] == 0 && houses.free(cell) != 0);
        let &cell = blanks.choose(random)?;
        digits[cell] = any_digit(houses.free(cell), random);
        houses.flip(cell, digits[cell]);
    }
    Some(digits)
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;

    use super::*;
    use crate::canon::Disguise;
    use crate::grid::Grid;

    #[test]
    fn base_grids_are_solved_and_stay_so_in_disguise() {
        let mut random = ChaCha8Rng::seed_from_u64(1);
        for order in Order::ALL {
            let base = base(order);
            assert!(Grid::from_digits(order, &base).is_solved());
            for _ in 0..20 {
                assert!(
                    Disguise::draw(order, &mut random).apply(&Grid::from_digits(order, &base)).is_solved()
                );
            }
        }
    }

    #[test]
    fn beginnings_keep_the_rules_and_hold_whole_boxes() {
        let mut random = ChaCha8Rng::seed_from_u64(2);
        for order in Order::ALL {
            for _ in 0..20 {
                let grid = Grid::from_digits(order, &beginning(order, &mut random));
                assert!(grid.keeps_rules());
                assert!(grid.filled() >= order.side() * order.box_side());
            }
        }
    }

    #[test]
    fn scattered_values_keep_the_rules() {
        let mut random = ChaCha8Rng::seed_from_u64(3);
        for order in Order::ALL {
            for clues in [0, 1, order.side(), order.cells() / 3] {
                let Some(digits) = scatter(order, clues, &mut random) else { continue };
                let grid = Grid::from_digits(order, &digits);
                assert!(grid.keeps_rules() && grid.filled() == clues, "{grid:?}");
            }
        }
        assert_eq!(scatter(Order::NINE, 82, &mut random), None);
    }

    #[test]
    fn any_digit_of_a_set_can_be_chosen() {
        let mut random = ChaCha8Rng::seed_from_u64(4);
        let mut seen = 0;
        for _ in 0..200 {
            seen |= 1 << any_digit(0b1010_0110, &mut random);
        }
        assert_eq!(seen, 0b1010_0110);
    }
}
