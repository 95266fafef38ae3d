//! Vectors of every kind against plain arrays, and where inference rests.

use std::sync::atomic::AtomicBool;

use super::board::{self, Inferred};
use super::vector::{
    ALL_DIGITS, BoardCells, BoxVector, LANES, LaneSets, VectorTask, Words, digit_of, lane, stored,
};
use super::*;
use crate::grid::{Cell, House};
use crate::solver::watch::NoWatch;
use crate::testing::Random;

static NEVER: AtomicBool = AtomicBool::new(false);

/// Puzzles of every kind: easy, hard, with 17 clues, with many solutions and none.
const PUZZLES: [&str; 6] = [
    "53..7....6..195....98....6.8...6...34..8.3..17...2...6.6....28....419..5....8..79",
    "98.7.....7.6...9...58..6...4..3.......7.9.4......8..6...4..1......9..8..3....2..4",
    "...8.1..........435............7.8........1...2..3....6......75..34........2..6..",
    "........1.......2...............3......4.5......1............6..7......8.........",
    "1.....7.8..6.8.....981...6......3...86..9..1.9...1..7......52...4......76...7..9.",
    ".................................................................................",
];

fn digits(text: &str) -> [u8; 81] {
    let digits: Vec<u8> = text.bytes().map(|byte| if byte == b'.' { 0 } else { byte - b'0' }).collect();
    digits.try_into().unwrap()
}

/// Runs a task on every kind of vector of this machine.
fn on_all_vectors<T: VectorTask + Copy>(task: T) {
    task.work::<Words>();
    #[cfg(target_arch = "aarch64")]
    task.work::<neon::Neon>();
    #[cfg(target_arch = "x86_64")]
    {
        if Backend::Avx2.is_available() {
            avx2::with_avx2(task);
        }
        if Backend::Avx512.is_available() {
            avx2::with_avx512(task);
        }
    }
}

#[derive(Clone, Copy)]
struct Algebra;

impl VectorTask for Algebra {
    type Output = ();

    #[inline(always)]
    fn work<V: BoxVector>(self) {
        let mut random = Random(1);
        let mut set = || {
            let number = random.next();
            // Every fourth is empty.
            if number >> 62 == 0 { 0 } else { u16::try_from(number >> 48).unwrap() & ALL_DIGITS }
        };
        for _ in 0..50 {
            let (mut a, mut b): (LaneSets, LaneSets) = ([0; LANES], [0; LANES]);
            for (band, stack) in (0..9).map(|k| (k / 3, k % 3)) {
                (a[lane(band, stack)], b[lane(band, stack)]) = (set(), set());
            }
            let (va, vb) = (V::load(&a), V::load(&b));
            let lanes = |vector: V| {
                let mut lanes = [0xAAAA; LANES];
                vector.store(&mut lanes);
                lanes
            };
            // By band and stack, and what the idle lanes hold is left out.
            let boxes = |vector: V| {
                let lanes = lanes(vector);
                [0, 1, 2].map(|band| [0, 1, 2].map(|stack| lanes[lane(band, stack)]))
            };
            let of =
                |f: &dyn Fn(usize, usize) -> u16| [0, 1, 2].map(|band| [0, 1, 2].map(|stack| f(band, stack)));
            let at = |lanes: &LaneSets, band: usize, stack: usize| lanes[lane(band % 3, stack % 3)];
            assert_eq!(lanes(va), a);
            assert_eq!(boxes(va.and(vb)), of(&|i, k| at(&a, i, k) & at(&b, i, k)));
            assert_eq!(boxes(va.or(vb)), of(&|i, k| at(&a, i, k) | at(&b, i, k)));
            assert_eq!(boxes(va.xor(vb)), of(&|i, k| at(&a, i, k) ^ at(&b, i, k)));
            assert_eq!(boxes(va.and_not(vb)), of(&|i, k| at(&a, i, k) & !at(&b, i, k)));
            assert_eq!(boxes(va.minus_one()), of(&|i, k| at(&a, i, k).wrapping_sub(1)));
            assert_eq!(boxes(va.zeros()), of(&|i, k| if at(&a, i, k) == 0 { 0xFFFF } else { 0 }));
            assert_eq!(boxes(va.next_stack()), of(&|i, k| at(&a, i, k + 1)));
            assert_eq!(boxes(va.last_stack()), of(&|i, k| at(&a, i, k + 2)));
            assert_eq!(boxes(va.next_band()), of(&|i, k| at(&a, i + 1, k)));
            assert_eq!(boxes(va.last_band()), of(&|i, k| at(&a, i + 2, k)));
            for moved in [va.next_stack(), va.last_stack(), va.next_band(), va.last_band()] {
                let lanes = lanes(moved);
                assert!((0..LANES).all(|k| k % 4 != 3 && k < 12 || lanes[k] == 0), "idle lanes stay idle");
            }
            let word =
                |f: &dyn Fn(usize) -> u16| (0..3).fold(0, |word, k| word | u64::from(f(k)) << (16 * k));
            assert_eq!(va.bands(), [0, 1, 2].map(|band| word(&|stack| at(&a, band, stack))));
            assert_eq!(va.stacks(), [0, 1, 2].map(|stack| word(&|band| at(&a, band, stack))));
            assert_eq!(va.is_zero(), a == [0; LANES]);
            let has_empty = (0..9).any(|k| at(&a, k / 3, k % 3) == 0);
            assert_eq!(va.minus_one().any_highest(), has_empty);
        }
        assert!(V::splat(0).is_zero() && !V::splat(1).is_zero());
    }
}

#[test]
fn vectors_compute_what_arrays_do() {
    on_all_vectors(Algebra);
}

#[derive(Clone, Copy)]
struct ReadAndWrite;

impl VectorTask for ReadAndWrite {
    type Output = ();

    #[inline(always)]
    fn work<V: BoxVector>(self) {
        let full =
            digits("534678912672195348198342567859761423426853791713924856961537284287419635345286179");
        let mut written = [0; 81];
        V::write(&V::read(&full), &mut written);
        assert_eq!(written, full);
        for text in PUZZLES {
            let puzzle = digits(text);
            let cells = stored(&V::read(&puzzle));
            for (cell, &digit) in puzzle.iter().enumerate() {
                let (row, column) = (cell / 9, cell % 9);
                let expected = if digit == 0 { ALL_DIGITS } else { 1 << (digit - 1) };
                assert_eq!(cells[row % 3][column % 3][lane(row / 3, column / 3)], expected);
            }
            for vector in cells.iter().flatten() {
                assert!((0..LANES).all(|k| k % 4 != 3 && k < 12 || vector[k] == 0), "idle lanes are empty");
            }
        }
    }
}

#[test]
fn puzzles_are_read_and_solutions_written() {
    on_all_vectors(ReadAndWrite);
}

#[derive(Clone, Copy)]
struct Resting;

impl VectorTask for Resting {
    type Output = ();

    /// Where inference rests, a look at one house after the other finds no single and no locked
    /// candidate. Guesses lead to more such boards.
    #[inline(always)]
    fn work<V: BoxVector>(self) {
        let order = Order::NINE;
        let mut boards = 0;
        for text in PUZZLES {
            let mut cells = V::read(&digits(text));
            while let Ok(Inferred::Open(lines)) = board::infer::<V, NoWatch>(&mut cells, &mut 0) {
                let stored = stored(&cells);
                let set = |cell: Cell| {
                    let (row, column) = (cell.index() / 9, cell.index() % 9);
                    stored[row % 3][column % 3][lane(row / 3, column / 3)]
                };
                for house in order.houses() {
                    for digit in 0..9 {
                        let takes = |&cell: &Cell| set(cell) >> digit & 1 == 1;
                        let here: Vec<Cell> = house.cells(order).filter(takes).collect();
                        assert!(!here.is_empty());
                        if let [only] = here[..] {
                            assert_eq!(digit_of(set(only)), digit + 1, "a hidden single: {text}");
                            assert!(set(only).is_power_of_two(), "a hidden single: {text}");
                        }
                        let others = order.houses().filter(|other: &House| *other != house);
                        for other in others.filter(|other| here.iter().all(|c| c.houses().contains(other))) {
                            assert_eq!(
                                other.cells(order).filter(takes).count(),
                                here.len(),
                                "locked: {text}"
                            );
                        }
                    }
                }
                boards += 1;
                LineGuess::choose(&cells, &lines).follow(&mut cells);
            }
        }
        assert!(boards > 50, "{boards} boards to look at");
    }
}

#[test]
fn inference_rests_where_nothing_is_left_to_infer() {
    on_all_vectors(Resting);
}

/// A guess and its alternative share no board and lose none.
#[derive(Clone, Copy)]
struct Splitting;

impl VectorTask for Splitting {
    type Output = ();

    #[inline(always)]
    fn work<V: BoxVector>(self) {
        let solutions = |cells: &BoardCells<V>| {
            let mut count = 0;
            let mut open = vec![*cells];
            while let Some(mut cells) = open.pop() {
                match board::infer::<V, NoWatch>(&mut cells, &mut 0) {
                    Ok(Inferred::Solved) => count += 1,
                    Ok(Inferred::Open(lines)) => {
                        let guess = CellGuess::choose(&cells, &lines);
                        let mut other = cells;
                        guess.refuse(&mut other);
                        guess.follow(&mut cells);
                        open.extend([cells, other]);
                    }
                    Err(_) => {}
                }
            }
            count
        };
        let puzzle =
            digits(".....5..7..4..2.3....6...4.9.8.4.....3.5..1.8.1.....7.1......5...5.3..........3.1");
        let mut cells = V::read(&puzzle);
        let Ok(Inferred::Open(lines)) = board::infer::<V, NoWatch>(&mut cells, &mut 0) else {
            panic!("it has 994 solutions");
        };
        assert_eq!(solutions(&cells), 994);
        let guess = LineGuess::choose(&cells, &lines);
        let (mut followed, mut refused) = (cells, cells);
        guess.follow(&mut followed);
        guess.refuse(&mut refused);
        assert_eq!(solutions(&followed) + solutions(&refused), 994);
    }
}

#[test]
fn a_guess_and_its_alternative_are_the_whole() {
    on_all_vectors(Splitting);
}

#[test]
fn vectors_of_every_kind_search_alike() {
    for text in PUZZLES {
        let puzzle = digits(text);
        for (solutions, nodes) in [(1, 100_000), (2, 100_000), (50, 100_000), (2, 3)] {
            let limit = Limit { solutions, nodes, cancel: &NEVER };
            let mut found = Backend::available().map(|backend| {
                let mut digits = [0; 81];
                let mut solver = BoxSolver::new(backend);
                let search = solver.search_as_lanes(&puzzle, &limit, &mut digits, &mut NoWatch);
                (search, digits, solver.passes())
            });
            let first = found.next().unwrap();
            assert!(found.all(|other| other == first), "{text}");
        }
    }
}
