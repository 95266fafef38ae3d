//! Symmetries of the pattern of clues.

use std::fmt;
use std::str::FromStr;

use crate::grid::Order;

/// A symmetry of the pattern of clues: the moves that map it to itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Symmetry {
    /// No symmetry.
    #[default]
    None,
    /// Rotation by 180 degrees.
    Rotational,
    /// Rotation by 90 degrees.
    Rotational90,
    /// Reflection of left and right.
    Horizontal,
    /// Reflection of top and bottom.
    Vertical,
    /// Reflection at the diagonal from the top left.
    Diagonal,
    /// Reflection at the diagonal from the top right.
    Antidiagonal,
    /// All rotations and reflections.
    Full,
}

/// The image of a cell as (row, column) from 0, by the index of the last row and column, and its
/// row and column.
type Move = fn(usize, usize, usize) -> (usize, usize);

impl Symmetry {
    /// All symmetries, each with its name on the command line.
    pub const ALL: [(&'static str, Self); 8] = [
        ("none", Self::None),
        ("rotational", Self::Rotational),
        ("rotational90", Self::Rotational90),
        ("horizontal", Self::Horizontal),
        ("vertical", Self::Vertical),
        ("diagonal", Self::Diagonal),
        ("antidiagonal", Self::Antidiagonal),
        ("full", Self::Full),
    ];

    /// One line for a list of symmetries.
    #[must_use]
    pub const fn summary(self) -> &'static str {
        match self {
            Self::None => "clues anywhere",
            Self::Rotational => "the same after half a turn",
            Self::Rotational90 => "the same after a quarter of a turn",
            Self::Horizontal => "left and right mirror each other",
            Self::Vertical => "top and bottom mirror each other",
            Self::Diagonal => "mirrored on the diagonal from the top left",
            Self::Antidiagonal => "mirrored on the diagonal from the top right",
            Self::Full => "all of these",
        }
    }

    /// The moves that generate the symmetry.
    fn moves(self) -> &'static [Move] {
        match self {
            Self::None => &[],
            Self::Rotational => &[|last, row, column| (last - row, last - column)],
            Self::Rotational90 => &[|last, row, column| (column, last - row)],
            Self::Horizontal => &[|last, row, column| (row, last - column)],
            Self::Vertical => &[|last, row, column| (last - row, column)],
            Self::Diagonal => &[|_, row, column| (column, row)],
            Self::Antidiagonal => &[|last, row, column| (last - column, last - row)],
            Self::Full => &[|last, row, column| (column, last - row), |_, row, column| (column, row)],
        }
    }

    /// The orbits: sets of 1 to 8 cells, by index, that are clues together or not at all, in the
    /// order of their first cells.
    #[must_use]
    pub fn orbits(self, order: Order) -> Vec<Vec<usize>> {
        let side = order.side();
        let mut seen = vec![false; order.cells()];
        let mut orbits = Vec::new();
        for first in 0..order.cells() {
            if seen[first] {
                continue;
            }
            seen[first] = true;
            let mut orbit = vec![first];
            let mut at = 0;
            while let Some(&cell) = orbit.get(at) {
                for to in self.moves() {
                    let (row, column) = to(side - 1, cell / side, cell % side);
                    let image = row * side + column;
                    if !seen[image] {
                        seen[image] = true;
                        orbit.push(image);
                    }
                }
                at += 1;
            }
            orbits.push(orbit);
        }
        orbits
    }

    /// Whether a pattern of this symmetry can have this number of clues.
    #[must_use]
    pub fn allows(self, order: Order, clues: usize) -> bool {
        let mut reachable = vec![false; order.cells() + 1];
        reachable[0] = true;
        for orbit in self.orbits(order) {
            for count in (orbit.len()..reachable.len()).rev() {
                reachable[count] |= reachable[count - orbit.len()];
            }
        }
        reachable.get(clues).is_some_and(|&is_reachable| is_reachable)
    }
}

impl fmt::Display for Symmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(Self::ALL.iter().find(|(_, symmetry)| symmetry == self).map_or("", |(name, _)| name))
    }
}

/// The error of an unknown symmetry.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{0}` is no symmetry. Use none, rotational, rotational90, horizontal, vertical, diagonal, antidiagonal or full."
)]
pub struct NoSymmetry(String);

impl FromStr for Symmetry {
    type Err = NoSymmetry;

    fn from_str(text: &str) -> Result<Self, NoSymmetry> {
        let known = Self::ALL.into_iter().find(|(name, _)| *name == text);
        known.map(|(_, symmetry)| symmetry).ok_or_else(|| NoSymmetry(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orbits_are_closed_and_cover_every_cell_once() {
        for order in Order::ALL {
            for (name, symmetry) in Symmetry::ALL {
                assert_eq!(name.parse(), Ok(symmetry));
                let orbits = symmetry.orbits(order);
                let mut cells: Vec<usize> = orbits.concat();
                cells.sort_unstable();
                assert!(cells.iter().copied().eq(0..order.cells()), "{order} {name}");
                for to in symmetry.moves() {
                    for orbit in &orbits {
                        for cell in orbit {
                            let (row, column) =
                                to(order.side() - 1, cell / order.side(), cell % order.side());
                            assert!(orbit.contains(&(row * order.side() + column)), "{order} {name} {cell}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn orbits_have_the_sizes_of_their_symmetry() {
        let sizes = |symmetry: Symmetry| {
            let mut counts = [0; 9];
            symmetry.orbits(Order::NINE).iter().for_each(|orbit| counts[orbit.len()] += 1);
            [counts[1], counts[2], counts[4], counts[8]]
        };
        let all = Symmetry::ALL.map(|(_, symmetry)| sizes(symmetry));
        let wanted = [
            [81, 0, 0, 0],
            [1, 40, 0, 0],
            [1, 0, 20, 0],
            [9, 36, 0, 0],
            [9, 36, 0, 0],
            [9, 36, 0, 0],
            [9, 36, 0, 0],
            [1, 0, 8, 6],
        ];
        assert_eq!(all, wanted);
    }

    #[test]
    fn some_numbers_of_clues_cannot_be_had() {
        assert!(Symmetry::Rotational.allows(Order::NINE, 23));
        assert!(!Symmetry::Rotational.allows(Order::ALL[3], 101), "no cell is its own image");
        assert!(Symmetry::Rotational90.allows(Order::NINE, 24));
        assert!(!Symmetry::Rotational90.allows(Order::NINE, 22));
        assert!(!Symmetry::None.allows(Order::NINE, 82));
    }
}
