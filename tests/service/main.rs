//! The service, seen through real clients over loopback.

#![expect(clippy::unwrap_used, clippy::cast_possible_truncation, reason = "a panic is how a test fails")]

mod bulk;
mod by_hand;
mod canonical;
mod client;
mod datasets;
mod drain;
mod errors;
mod generate;
mod guards;
#[path = "../it/harness.rs"]
mod harness;
mod hint;
mod http;
mod limits;
mod methods;
mod observe;
mod parts;
mod pressure;
mod streams;
mod texts;
mod trace;
mod transport;

use sudoku_stream::solver::strategy;

use harness::grid;
use harness::server::nearly_solved;

#[test]
fn the_puzzles_of_these_tests_are_different_and_sound() {
    let puzzles = nearly_solved(500);
    let mut distinct = puzzles.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 500);
    for puzzle in &puzzles {
        assert!(grid(puzzle).keeps_rules());
        assert!((35..70).contains(&grid(puzzle).filled()), "{puzzle}");
    }
    assert!(strategy("faulty").is_none());
}
