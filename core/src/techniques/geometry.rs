//! Geometry of a grid: the houses of cells and the cells of houses, as tables of indices.

use std::sync::OnceLock;

use crate::grid::{House, MAX_ORDER, Order};

/// The number of kinds of houses: boxes, rows and columns, in this order. House `h` has kind
/// `h / side`.
pub(super) const KINDS: usize = 3;
/// The kind of boxes.
pub(super) const BOXES: usize = 0;
/// The kind of rows.
pub(super) const ROWS: usize = 1;
/// The kind of columns.
pub(super) const COLUMNS: usize = 2;

/// The tables of one order.
#[derive(Debug)]
pub(super) struct Geometry {
    /// The order.
    pub order: Order,
    /// Cells in a house, and digits.
    pub side: usize,
    /// Cells in the grid.
    pub cells: usize,
    /// The cells of each house in reading order, `side` entries a house.
    house_cells: Vec<u16>,
    /// The box, row and column of each cell, as house indices.
    pub houses_of: Vec<[u16; KINDS]>,
    /// The position of each cell in its box, row and column.
    pub position_in: Vec<[u8; KINDS]>,
    /// The cells that share a house with each cell, in reading order.
    peers: Vec<u16>,
    /// Peers of one cell.
    peer_count: usize,
    /// The same as bits, `words` words a cell.
    peer_bits: Vec<u64>,
    /// Words of a set of cells.
    pub words: usize,
    /// The positions in each house of the cells that lie in each other one.
    crossings: Vec<u32>,
}

impl Geometry {
    /// The tables of an order, built once.
    pub(super) fn of(order: Order) -> &'static Self {
        static TABLES: [OnceLock<Geometry>; MAX_ORDER] = [const { OnceLock::new() }; MAX_ORDER];
        TABLES[order.box_side() - 1].get_or_init(|| Self::new(order))
    }

    fn new(order: Order) -> Self {
        let (side, cells) = (order.side(), order.cells());
        let houses = (0..side)
            .map(House::box_at)
            .chain((0..side).map(House::row_at))
            .chain((0..side).map(House::column_at));
        let mut house_cells = Vec::with_capacity(KINDS * cells);
        let mut houses_of = vec![[0; KINDS]; cells];
        let mut position_in = vec![[0; KINDS]; cells];
        for (index, house) in houses.enumerate() {
            for (position, cell) in house.cells(order).enumerate() {
                house_cells.push(cell.index() as u16);
                houses_of[cell.index()][index / side] = index as u16;
                position_in[cell.index()][index / side] = position as u8;
            }
        }
        let mut peers = Vec::new();
        for cell in 0..cells {
            let shares =
                |other: usize| (0..KINDS).any(|kind| houses_of[cell][kind] == houses_of[other][kind]);
            peers
                .extend((0..cells).filter(|&other| other != cell && shares(other)).map(|other| other as u16));
        }
        let (peer_count, words) = (peers.len() / cells, cells.div_ceil(64));
        let mut peer_bits = vec![0; cells * words];
        for (at, &peer) in peers.iter().enumerate() {
            let peer = usize::from(peer);
            peer_bits[at / peer_count * words + peer / 64] |= 1 << (peer % 64);
        }
        let mut crossings = vec![0; KINDS * side * KINDS * side];
        for (at, &cell) in house_cells.iter().enumerate() {
            for other in houses_of[usize::from(cell)] {
                crossings[at / side * KINDS * side + usize::from(other)] |= 1 << (at % side);
            }
        }
        Self {
            order,
            side,
            cells,
            house_cells,
            houses_of,
            position_in,
            peers,
            peer_count,
            peer_bits,
            words,
            crossings,
        }
    }

    /// The number of houses.
    pub(super) const fn houses(&self) -> usize {
        KINDS * self.side
    }

    /// The cells of a house, in reading order.
    #[inline]
    pub(super) fn cells_of(&self, house: usize) -> &[u16] {
        &self.house_cells[house * self.side..][..self.side]
    }

    /// The cell at a position of a house.
    #[inline]
    pub(super) fn cell_at(&self, house: usize, position: usize) -> usize {
        usize::from(self.house_cells[house * self.side + position])
    }

    /// The cells that share a house with `cell`, in reading order.
    #[inline]
    pub(super) fn peers(&self, cell: usize) -> &[u16] {
        &self.peers[cell * self.peer_count..][..self.peer_count]
    }

    /// The same as bits.
    #[inline]
    pub(super) fn peer_bits(&self, cell: usize) -> &[u64] {
        &self.peer_bits[cell * self.words..][..self.words]
    }

    /// The house of a kind that a cell lies in.
    #[inline]
    pub(super) fn house(&self, cell: usize, kind: usize) -> usize {
        usize::from(self.houses_of[cell][kind])
    }

    /// Whether a house contains a cell.
    #[inline]
    pub(super) fn contains(&self, house: usize, cell: usize) -> bool {
        self.houses_of[cell].contains(&(house as u16))
    }

    /// The positions in a house of the cells that lie in another one too.
    #[inline]
    pub(super) fn crossing(&self, house: usize, other: usize) -> u32 {
        self.crossings[house * self.houses() + other]
    }

    /// Whether two cells are different and share a house.
    #[inline]
    pub(super) fn sees(&self, one: usize, other: usize) -> bool {
        let (one_in, other_in) = (self.houses_of[one], self.houses_of[other]);
        one != other && (0..KINDS).any(|kind| one_in[kind] == other_in[kind])
    }

    /// A house as others name it.
    pub(super) const fn public_house(&self, house: usize) -> House {
        let index = house % self.side;
        match house / self.side {
            BOXES => House::box_at(index),
            ROWS => House::row_at(index),
            _ => House::column_at(index),
        }
    }

    /// Houses of the kinds boxes, columns, rows, in this order: the order in which Sudoku Explainer
    /// looks through houses.
    pub(super) fn boxes_columns_rows(&self) -> impl Iterator<Item = usize> + use<> {
        let side = self.side;
        (0..side).chain(COLUMNS * side..(COLUMNS + 1) * side).chain(ROWS * side..(ROWS + 1) * side)
    }
}
