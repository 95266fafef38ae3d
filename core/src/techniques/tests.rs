//! The suite that every technique goes through: it shows itself in a minimal position and not in
//! one with a candidate more, its steps are sound, and ratings are those of the reference.

use std::sync::atomic::AtomicBool;

use super::*;
use crate::grid::Grid;
use crate::solver::{Limit, Propagation, Stop, Strategy};
use crate::testing::Random;

/// Technique, kind, rating, pencil marks of a minimal position (for nested dynamic chains that of a
/// puzzle, because making it minimal takes hours), and the place in them of a candidate
/// that may not be there; made by the example `technique_positions`.
const POSITIONS: &str = include_str!("fixtures/positions.tsv");

/// Puzzles of all ratings with ER, EP and ED by the reference.
const RATINGS: &str = include_str!("fixtures/ratings.tsv");

fn rated() -> impl Iterator<Item = (Grid, [Score; 3])> {
    RATINGS.lines().skip(1).map(|line| {
        let fields: Vec<&str> = line.split('\t').collect();
        let score = |at: usize| fields[at].parse().unwrap();
        (fields[0].parse().unwrap(), [score(1), score(2), score(3)])
    })
}

/// All solutions of a grid, up to a number of them.
fn solutions(grid: &Grid, most: usize) -> Vec<Grid> {
    fn search(position: &Position, most: usize, found: &mut Vec<Grid>) {
        if found.len() >= most || position.dead_end().is_some() {
            return;
        }
        let blanks = (0..position.geometry.cells).filter(|&cell| position.digits[cell] == 0);
        let Some(cell) = blanks.min_by_key(|&cell| position.candidates[cell].count_ones()) else {
            found.push(position.grid());
            return;
        };
        for digit in position::bits(position.candidates[cell]) {
            let mut next = position.clone();
            next.fill(cell, digit);
            search(&next, most, found);
        }
    }
    let mut found = Vec::new();
    search(&Position::new(grid), most, &mut found);
    found
}

/// Fails if a step takes a solution away.
fn assert_sound(step: &Step, solutions: &[Grid]) {
    for solution in solutions {
        for gone in &step.eliminations {
            assert_ne!(solution.get(gone.cell), Some(gone.digit), "{step}");
        }
        if let Some(placed) = step.placement {
            assert_eq!(solution.get(placed.cell), Some(placed.digit), "{step}");
        }
    }
    assert!(step.placement.is_some() || !step.eliminations.is_empty(), "{step:?}");
}

#[test]
fn the_registry_has_a_line_for_each_technique_in_order() {
    assert_eq!(Technique::ALL.len(), Technique::NestedDynamicChains as usize + 1);
    for (at, technique) in Technique::ALL.into_iter().enumerate() {
        assert_eq!(technique as usize, at);
        assert_eq!(technique.name().parse(), Ok(technique));
        assert_eq!(technique.title().parse(), Ok(technique));
        assert_eq!(technique.title().to_lowercase().replace(' ', "-"), technique.name());
    }
    let is_harder = |pair: &[Technique]| pair[0].base_rating() <= pair[1].base_rating();
    assert!(Technique::ALL.windows(2).all(is_harder), "the limit stops at the first that is too hard");
    assert_eq!("singles, X-Wing".parse::<TechniqueSet>().unwrap().iter().count(), 4);
    assert_eq!("all".parse(), Ok(TechniqueSet::ALL));
    let told = "x-wong".parse::<TechniqueSet>().unwrap_err().to_string();
    let families = "singles, direct, locked, subsets, fish, wings, uniqueness, exclusion, chains, forcing";
    let both = "is no technique and no family of techniques. Families are";
    assert_eq!(told, format!("\"x-wong\" {both} {families}."));
    // Where one is asked for, a family is none.
    let told = |text: &str| text.parse::<Technique>().unwrap_err().to_string();
    assert_eq!(
        told("Fish"),
        "fish is a family of techniques. Name one of them: x-wing, swordfish, jellyfish."
    );
    assert!(told("x-wong").starts_with("\"x-wong\" is no technique. They are named as in x-wing;"));
}

#[test]
fn each_technique_shows_in_a_minimal_position_and_not_with_one_candidate_more() {
    let mut seen = TechniqueSet::NONE;
    for line in POSITIONS.lines() {
        let fields: Vec<&str> = line.split('\t').collect();
        let technique: Technique = fields[0].parse().unwrap();
        let alone = Options { techniques: TechniqueSet::NONE.with(technique), ..Options::default() };
        let position: Position = fields[3].parse().unwrap();
        let step = next_step(&position, &alone).unwrap_or_else(|ending| panic!("{}: {ending}", fields[0]));
        assert_eq!(step.technique, technique);
        assert_eq!(format!("{:?}", step.kind), fields[1]);
        assert_eq!(step.rating.to_string(), fields[2], "{step}");
        let said = step.to_string();
        assert!(said.ends_with('.') && said.contains(technique.title()), "{said}");
        assert!(step.look_at().starts_with("Look at "), "{}", step.look_at());
        seen = seen.with(technique);

        // One candidate more, the given one first, takes the step away.
        let given: usize = fields[4].parse().unwrap();
        let breaks = |at: &usize| {
            let mut marks = fields[3].as_bytes().to_vec();
            if marks[*at] != b'.' || position.digits[*at / 9] != 0 {
                return false;
            }
            marks[*at] = b'1' + u8::try_from(at % 9).unwrap();
            let more: Position = String::from_utf8(marks).unwrap().parse().unwrap();
            let other = next_step(&more, &alone).ok();
            !other.is_some_and(|other| {
                (other.kind, other.rating, other.placement, &other.eliminations)
                    == (step.kind, step.rating, step.placement, &step.eliminations)
            })
        };
        assert!((given..729).chain(0..given).any(|at| breaks(&at)), "the {technique} is there all the same");
    }
    let missing: Vec<Technique> =
        TechniqueSet::ALL.iter().filter(|&technique| !seen.contains(technique)).collect();
    assert_eq!(missing, []);
}

#[test]
fn ratings_are_those_of_the_reference() {
    let mut rater = Rater::default();
    for (puzzle, scores) in rated() {
        let rating = rater.rate(&puzzle, &Options::default());
        assert!(rating.is_complete(), "{puzzle:?}: {rating}");
        let ours = [rating.er, rating.ep, rating.ed].map(Option::unwrap);
        assert_eq!(ours, scores, "{puzzle:?}");
        assert_eq!(rating.counts().map(|(_, count)| count).sum::<u32>(), rating.steps);
    }
}

#[test]
fn every_step_keeps_the_solution() {
    let mut steps_made = 0;
    for (puzzle, scores) in rated() {
        // The steps of a puzzle of every rating, but not all day.
        if scores[0] > Score::from_tenths(85) {
            continue;
        }
        let mut solution = Grid::empty(puzzle.order());
        let limit = Limit { solutions: 2, nodes: 100_000, cancel: &AtomicBool::new(false) };
        let search = Propagation.solver(puzzle.order()).search(&puzzle, &limit, &mut solution);
        assert_eq!((search.solutions, search.stop), (1, Stop::Exhausted));
        let mut steps = Steps::new(Position::new(&puzzle), Options::default());
        for step in steps.by_ref() {
            assert_sound(&step, std::slice::from_ref(&solution));
            for chain in &step.chains {
                assert!(
                    chain.iter().enumerate().all(|(at, it)| it.parents.iter().all(|&parent| parent < at))
                );
                assert_eq!(chain.iter().filter(|it| it.parents.is_empty()).count(), 1, "{step:?}");
            }
            steps_made += 1;
        }
        assert_eq!(steps.ending(), Some(Ending::Solved));
        assert_eq!(steps.position().grid(), solution);
    }
    assert!(steps_made > 3000, "{steps_made}");
}

#[test]
fn without_uniqueness_every_step_keeps_all_solutions() {
    let mut several = 0;
    for (at, (puzzle, _)) in
        rated().enumerate().filter(|(_, (_, scores))| scores[0] <= Score::from_tenths(72))
    {
        let mut open = puzzle.clone();
        for cell in
            puzzle.order().all_cells().filter(|cell| puzzle.get(*cell).is_some()).skip(at % 7).step_by(9)
        {
            open.set(cell, None);
        }
        let all = solutions(&open, 300);
        if all.len() < 2 || all.len() == 300 {
            continue;
        }
        several += 1;
        let techniques = TechniqueSet::without_uniqueness();
        let options = Options { techniques, up_to: Some(Score::from_tenths(84)), ..Options::default() };
        for step in Steps::new(Position::new(&open), options) {
            assert_sound(&step, &all);
            assert!(!step.technique.rests_on_uniqueness());
        }
    }
    assert!(several > 5, "{several}");
}

/// The techniques with chains inside of chains.
const NESTED: [Technique; 4] = [
    Technique::DynamicForcingChainsPlus,
    Technique::NestedForcingChains,
    Technique::NestedMultipleChains,
    Technique::NestedDynamicChains,
];

#[test]
fn nested_chains_keep_all_solutions() {
    let mut several = 0;
    for (puzzle, _) in rated().filter(|(_, scores)| scores[0] > Score::from_tenths(100)).take(2) {
        // As few clues go as leave several solutions, so that chains still find something.
        let mut open = puzzle.clone();
        let clues = puzzle.order().all_cells().filter(|cell| puzzle.get(*cell).is_some());
        for cell in clues.collect::<Vec<_>>().into_iter().rev() {
            open.set(cell, None);
            let all = solutions(&open, 300);
            if (2..300).contains(&all.len()) {
                break;
            }
            open = puzzle.clone();
        }
        let all = solutions(&open, 300);
        assert!((2..300).contains(&all.len()), "{} solutions", all.len());
        for technique in NESTED {
            let techniques = TechniqueSet::NONE.with(technique);
            let options = Options { techniques, effort: 150_000_000, ..Options::default() };
            if let Ok(step) = next_step(&Position::new(&open), &options) {
                assert_sound(&step, &all);
                several += 1;
            }
        }
    }
    assert!(several > 3, "{several}");
}

#[test]
fn a_search_for_nested_chains_ends_where_it_is_told_to() {
    // The hardest step takes two levels of dynamic chains.
    let puzzle: Grid =
        ".......39.....1..5..3.5.8....8.9...6.7...2...1..4.......9.8..5..2....6..4..7.....".parse().unwrap();
    let position = Position::new(&puzzle);
    let techniques = TechniqueSet::NONE.with(Technique::NestedDynamicChains);
    let short = Options { techniques, effort: 10_000_000, ..Options::default() };
    assert_eq!(next_step(&position, &short).unwrap_err(), Ending::GaveUp);
    let cancel = AtomicBool::new(true);
    let options = Options { techniques, effort: u64::MAX, cancel: Some(&cancel), ..Options::default() };
    assert_eq!(next_step(&position, &options).unwrap_err(), Ending::Cancelled);
}

/// What a nested search has found is written also where little is left for the search around it.
#[test]
fn what_nested_searches_find_is_written_whatever_is_left() {
    let puzzle: Grid =
        "5....2..41..........867...22.3....6....5..9...1..........8.3...3.....29.8.27..5..".parse().unwrap();
    let techniques = TechniqueSet::ALL.iter().filter(|technique| !technique.rests_on_uniqueness()).collect();
    let options = Options { techniques, effort: 50_000_000, ..Options::default() };
    let mut steps = Steps::new(Position::new(&puzzle), options);
    assert!(steps.by_ref().count() > 30);
    assert_eq!(steps.ending(), Some(Ending::GaveUp));
}

/// A puzzle with its digits renamed, rows and columns exchanged, bands and rows moved.
fn disguise(puzzle: &Grid, number: usize) -> Grid {
    let order = puzzle.order();
    let mut other = Grid::empty(order);
    let moved = |line: usize| (line / 3 + number) % 3 * 3 + (line % 3 + number / 3) % 3;
    for cell in order.all_cells() {
        let (row, column) = (cell.row() - 1, cell.column() - 1);
        let (row, column) =
            if number.is_multiple_of(2) { (moved(row), column) } else { (moved(column), row) };
        let digit =
            puzzle.get(cell).map(|digit| order.digit((usize::from(digit.value()) + number) % 9 + 1).unwrap());
        other.set(order.cell(row + 1, column + 1).unwrap(), digit);
    }
    other
}

#[test]
fn disguises_have_the_same_rating() {
    // The first of equal steps is made, so the path can depend on the disguise, and with it the
    // rating of a few hard puzzles: as in the reference.
    let (mut same, mut all) = (0, 0);
    for (puzzle, scores) in rated().filter(|(_, scores)| scores[0] <= Score::from_tenths(83)) {
        for number in 1..4 {
            let rating = rate(&Position::new(&disguise(&puzzle, number)), &Options::default());
            all += 1;
            same += u32::from(rating.er == Some(scores[0]));
            if scores[0] < Score::from_tenths(62) {
                assert_eq!(rating.er, Some(scores[0]), "{puzzle:?}");
            }
        }
    }
    assert!(all > 150 && same * 100 >= all * 95, "{same} of {all}");
    // A nested chain at the first step.
    let (puzzle, scores) = rated().find(|(_, scores)| scores[2] > Score::from_tenths(100)).unwrap();
    for number in 1..4 {
        let step = next_step(&Position::new(&disguise(&puzzle, number)), &Options::default()).unwrap();
        assert_eq!(step.rating, scores[2], "{puzzle:?}");
    }
}

#[test]
fn the_search_ends_where_it_is_told_to() {
    let (puzzle, scores) = rated().find(|(_, scores)| scores[0] == Score::from_tenths(83)).unwrap();
    let position = Position::new(&puzzle);
    let limit = Score::from_tenths(70);
    let rating = rate(&position, &Options { up_to: Some(limit), ..Options::default() });
    assert_eq!((rating.ending, rating.to_string().as_str()), (Ending::Above(limit), "above 7.0"));
    let enough = rate(&position, &Options { up_to: Some(scores[0]), ..Options::default() });
    assert_eq!(enough.er, Some(scores[0]));
    let short = rate(&position, &Options { effort: 1000, ..Options::default() });
    assert_eq!(short.ending, Ending::GaveUp);
    let cancel = AtomicBool::new(true);
    let cancelled = rate(&position, &Options { cancel: Some(&cancel), ..Options::default() });
    assert_eq!(cancelled.ending, Ending::Cancelled);
    let none = rate(&position, &Options { techniques: "singles".parse().unwrap(), ..Options::default() });
    assert_eq!(none.ending, Ending::Beyond);
}

#[test]
fn what_has_no_solution_is_told() {
    let conflict: Grid = format!("11{}", ".".repeat(79)).parse().unwrap();
    let position = Position::new(&conflict);
    assert_eq!(next_step(&position, &Options::default()), Err(Ending::DeadEnd));
    assert_eq!(position.dead_end().unwrap().to_string(), "1 appears twice in row 1.");
    assert_eq!(rate(&position, &Options::default()).to_string(), "no solution");
    let no_digit: Grid = format!("12345678.........9{}", ".".repeat(63)).parse().unwrap();
    assert_eq!(Position::new(&no_digit).dead_end().unwrap().to_string(), "No digit is left for (1, 9).");
    let solved: Grid = "1234341221434321".parse().unwrap();
    assert_eq!(next_step(&Position::new(&solved), &Options::default()), Err(Ending::Solved));
}

/// Positions with more and fewer candidates, most of them without a solution.
pub(super) fn random_positions(count: u64) -> impl Iterator<Item = Position> {
    let mut random = Random(88_172_645_463_325_252);
    (0..count).map(move |round| {
        let mut marks = vec![b'.'; 729];
        for (at, mark) in marks.iter_mut().enumerate() {
            if random.next() % 8 < 2 + round % 6 {
                *mark = b'1' + u8::try_from(at % 9).unwrap();
            }
        }
        String::from_utf8(marks).unwrap().parse().unwrap()
    })
}

#[test]
fn any_position_is_taken_without_a_panic() {
    for position in random_positions(150) {
        assert_eq!(position.pencil_marks().parse::<Position>().as_ref(), Ok(&position));
        for technique in Technique::ALL {
            let techniques = TechniqueSet::NONE.with(technique);
            let options = Options { techniques, effort: 300_000, ..Options::default() };
            let mut explorer = Explorer::default();
            if explorer.find(&position, &options, true, &mut options.effort.clone()).is_ok() {
                let step = explorer.found.step(&position).unwrap();
                assert!(!step.to_string().is_empty());
            }
        }
    }
}

#[test]
fn pencil_marks_that_are_none_are_refused() {
    let told = |text: &str| text.parse::<Position>().unwrap_err().to_string();
    assert_eq!(
        told("123"),
        "3 characters are no pencil marks: 4x4 puzzles have 64, 9x9 puzzles 729, 16x16 puzzles 4096 and 25x25 \
         puzzles 15625."
    );
    let mut marks = ".".repeat(64);
    marks.replace_range(5..6, "4");
    assert_eq!(
        told(&marks),
        "Character 6 is '4'; for cell (1, 2) it has to be '2', or . or 0 without the candidate."
    );
}

#[test]
fn other_sizes_are_solved_too() {
    let small: Grid = "1..........2...4".parse().unwrap();
    let all = solutions(&small, 300);
    let techniques = TechniqueSet::without_uniqueness();
    for step in Steps::new(Position::new(&small), Options { techniques, ..Options::default() }) {
        assert_sound(&step, &all);
    }
    for order in [Order::ALL[3], Order::ALL[4]] {
        let (side, box_side) = (order.side(), order.box_side());
        let mut solution = Grid::empty(order);
        let mut puzzle = Grid::empty(order);
        for cell in order.all_cells() {
            let (row, column) = (cell.row() - 1, cell.column() - 1);
            let digit = (row * box_side + row / box_side + column) % side;
            solution.set(cell, Some(order.digit(digit + 1).unwrap()));
            if (row * 7 + column * 5 + row * column) % 11 > 3 {
                puzzle.set(cell, solution.get(cell));
            }
        }
        assert!(solution.solves(&puzzle));
        let up_to = Some(Score::from_tenths(66));
        let options = Options { techniques, up_to, effort: 20_000_000, cancel: None };
        let mut made = 0;
        for step in Steps::new(Position::new(&puzzle), options) {
            assert_sound(&step, std::slice::from_ref(&solution));
            assert!(step.technique.is_for(order));
            made += 1;
        }
        assert!(made > 20, "{order}: {made} steps");
    }
}
