//! Minimal positions for techniques: the fixture of their tests.
//!
//! `cargo run --release -p sudoku-core --example technique_positions -- NAMES LIST...` looks in lists
//! of puzzles for the first step of each of the techniques NAMES (`all`, or as for `--only`), gives the position back every candidate that the
//! step does not need, and prints technique, position, and a candidate that breaks the pattern
//! when it is given back too, as its place in the text.

#![allow(clippy::print_stdout, clippy::unwrap_used, missing_docs)]

use sudoku_core::grid::Grid;
use sudoku_core::techniques::{
    Kind, Options, Position, Rater, Step, Steps, Technique, TechniqueSet, next_step,
};

/// The step of one technique alone.
fn alone(position: &Position, step: &Step) -> Option<Step> {
    let techniques = TechniqueSet::NONE.with(step.technique);
    next_step(position, &Options { techniques, ..Options::default() }).ok()
}

fn is_same(found: Option<&Step>, step: &Step) -> bool {
    found.is_some_and(|found| {
        (found.kind, found.rating, found.placement, &found.eliminations)
            == (step.kind, step.rating, step.placement, &step.eliminations)
    })
}

/// The position with every candidate given back that the step does not need, and the place of a
/// candidate that it does need.
fn minimal(position: &Position, step: &Step) -> Option<(String, usize)> {
    if !is_same(alone(position, step).as_ref(), step) {
        return None;
    }
    let mut marks = position.pencil_marks().into_bytes();
    let mut needed = None;
    // Twice, because what is given back later can make up for what was needed before.
    for _ in 0..2 {
        needed = None;
        let is_gone =
            |at: &usize| marks[*at] == b'.' && position.get(position.order().cell_at(at / 9)).is_none();
        let gone: Vec<usize> = (0..marks.len()).filter(is_gone).collect();
        give_back(&mut marks, &gone, step, &mut needed);
    }
    Some((String::from_utf8(marks).unwrap(), needed?))
}

/// Gives candidates back, by halves, as far as the step stays the same.
fn give_back(marks: &mut [u8], gone: &[usize], step: &Step, needed: &mut Option<usize>) {
    if gone.is_empty() {
        return;
    }
    for &at in gone {
        marks[at] = b'1' + u8::try_from(at % 9).unwrap();
    }
    let more: Position = String::from_utf8(marks.to_vec()).unwrap().parse().unwrap();
    if is_same(alone(&more, step).as_ref(), step) {
        return;
    }
    for &at in gone {
        marks[at] = b'.';
    }
    if let [only] = *gone {
        *needed = Some(only);
        return;
    }
    let (first, second) = gone.split_at(gone.len() / 2);
    give_back(marks, first, step, needed);
    give_back(marks, second, step, needed);
}

fn main() {
    let mut wanted: Vec<(Technique, Kind)> = Vec::new();
    let mut rater = Rater::default();
    let mut arguments = std::env::args().skip(1);
    let names: TechniqueSet = arguments.next().expect("names of techniques").parse().unwrap();
    for list in arguments {
        for line in std::fs::read_to_string(list).unwrap().lines() {
            let Ok(puzzle) = line.get(..81).unwrap_or("").parse::<Grid>() else { continue };
            let rating = rater.rate(&puzzle, &Options::default());
            // Only those with something new are walked through.
            let is_new = |technique: Technique, wanted: &[(Technique, Kind)]| {
                let known = wanted.iter().filter(|(known, _)| *known == technique).count();
                let kinds = match technique {
                    Technique::UniqueRectangle | Technique::BivalueUniversalGrave => 4,
                    Technique::UniqueLoop => 2,
                    Technique::DynamicForcingChains => 3,
                    _ => 1,
                };
                names.contains(technique) && known < kinds
            };
            if !rating.counts().any(|(technique, _)| is_new(technique, &wanted)) {
                continue;
            }
            let mut position = Position::new(&puzzle);
            let mut steps = Steps::new(position.clone(), Options::default());
            while let Some(step) = steps.next() {
                let key = (step.technique, step.kind);
                if is_new(step.technique, &wanted)
                    && !wanted.contains(&key)
                    && let Some((marks, needed)) = minimal(&position, &step)
                {
                    wanted.push(key);
                    println!(
                        "{}\t{:?}\t{}\t{marks}\t{needed}",
                        step.technique.name(),
                        step.kind,
                        step.rating
                    );
                }
                position.clone_from(steps.position());
            }
        }
    }
}
