//! The built-in examples, one per size, each with one solution.

use sudoku_stream::grid::Order;

/// The example of this size, one character per cell.
pub const fn example(order: Order) -> &'static str {
    match order.box_side() {
        1 => ".",
        2 => "....3.42.42.....",
        3 => ".7.518.4.5....926......7..8.1..2485.7.2.5.9...6...........82...1.....6826....5.7.",
        4 => {
            "..4..BD..AF...6...D........E.8.7E63C58...D..A.F.GFA1......5...29F1.A..G......D.2\
             .B7D.A.F.....4...C..84E....2.A....E.BD..A91.G3.61...3.FCE.4..7DB...7.921GF3....8\
             846ED.....A.........4...7..B2..1.E.6.58D.B..1F..D..59.BAF1.3.....9.2G..3..E4857D\
             ..1F.6....7....A"
        }
        _ => {
            "...G..L.8.6...A.B..N.O...O.I.2P.K7G4C8..69.A.N.HB....4L.E.1.JB3.HMDO...7..G\
             19A6.H.B3J.DO2I...P.L....3.H..I2.O.GK..P4.8FL...96...7...4L.1..H....BI.2DM.\
             L.C..9.6..3...BOM..P.5.G7E.9.H.IJN3.M.PD7G..FAL..8N...ID........K..LCAH.961\
             .MD....G5...L.C16E.HI..J36AL..E..J.D.MO.KPG..845...HEB...I.D..G.2CF45..6..9\
             4F..8L..6.BH.3...MNO.G.P.MIND.2...K.F48..A..13J.H.GP2.75...C.A61..H.E3..NI.\
             H....JD3I...P.M.7FGC9A4...8.L.6.1.E.3.D...PMK.....F.G5C.98A...HB6N.I.D.P..2\
             .....G.7F5L8A94E1.6..IJ3.I.JNDMKOP.57FC....4.B.....L8A6....H.NDM3P2.O.4..5.\
             .E1.J3..D.P2KGOF5.7.698L.K..PG..5.FAL968.EB1..D3NI..7..86..A.EB..I...MGK.2.\
             .N3I..G.K.F5...A.98...1EH"
        }
    }
}

#[cfg(test)]
mod tests {
    use sudoku_stream::grid::Grid;
    use sudoku_stream::solver::{DEFAULT_NODE_LIMIT, Limit, Stop, default_strategy};
    use sudoku_stream::text::{Alphabet, Format, Notation};

    use super::*;

    #[test]
    fn every_example_has_one_solution() {
        for order in Order::ALL {
            let format = Format::new(Notation::Lines, order, Alphabet::Letters).unwrap();
            let (mut puzzle, mut solution) = (Grid::empty(order), Grid::empty(order));
            format.read_cells(example(order).as_bytes(), &mut puzzle).unwrap();
            let cancel = std::sync::atomic::AtomicBool::new(false);
            let limit = Limit { solutions: 2, nodes: DEFAULT_NODE_LIMIT, cancel: &cancel };
            let search = default_strategy(order).solver(order).search(&puzzle, &limit, &mut solution);
            assert_eq!((search.solutions, search.stop), (1, Stop::Exhausted), "{order}");
            assert!(solution.solves(&puzzle));
        }
    }
}
