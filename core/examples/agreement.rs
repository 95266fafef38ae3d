//! Agreement of ratings with those of another program: a table by band of ER.
//!
//! `cargo run --release -p sudoku-core --example agreement -- RATINGS.TSV [SHOW]` reads a table of
//! puzzle, ER, EP, ED and hardest technique, and prints how many of our ratings are equal. SHOW is
//! the number of differences to print.

#![allow(clippy::print_stdout, clippy::unwrap_used, clippy::disallowed_methods, missing_docs)]

use std::time::Instant;

use sudoku_core::grid::Grid;
use sudoku_core::techniques::{Options, Rater};

#[derive(Default)]
struct Band {
    puzzles: u32,
    er: u32,
    ep: u32,
    ed: u32,
    seconds: f64,
    slowest: f64,
}

fn main() {
    let mut arguments = std::env::args().skip(1);
    let text = std::fs::read_to_string(arguments.next().expect("a table of ratings")).unwrap();
    let mut show: usize = arguments.next().map_or(10, |count| count.parse().unwrap());
    let lowest: f64 = arguments.next().map_or(0.0, |score| score.parse().unwrap());
    let edges = [2.3, 2.5, 4.0, 6.2, 7.0, 7.5, 8.0, 8.5, 9.0, 9.5, 10.0, 10.5, 11.0, 99.0];
    let mut bands: Vec<Band> = edges.iter().map(|_| Band::default()).collect();
    let mut rater = Rater::default();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        let er: f64 = fields[1].parse().unwrap();
        if er < lowest {
            continue;
        }
        let band = &mut bands[edges.iter().position(|&edge| er <= edge).unwrap()];
        let puzzle: Grid = fields[0].parse().unwrap();
        let start = Instant::now();
        let rating = rater.rate(&puzzle, &Options::default());
        let seconds = start.elapsed().as_secs_f64();
        band.seconds += seconds;
        band.slowest = band.slowest.max(seconds);
        band.puzzles += 1;
        let is = |score: Option<sudoku_core::techniques::Score>, field: &str| {
            rating.is_complete() && score.is_some_and(|score| score.to_string() == field)
        };
        let equal = [is(rating.er, fields[1]), is(rating.ep, fields[2]), is(rating.ed, fields[3])];
        band.er += u32::from(equal[0]);
        band.ep += u32::from(equal[1]);
        band.ed += u32::from(equal[2]);
        if equal != [true; 3] && show > 0 {
            show -= 1;
            println!("{} {}/{}/{} {} | {rating}", fields[0], fields[1], fields[2], fields[3], fields[4]);
        }
    }
    println!("up to   puzzles   ER equal   EP equal   ED equal   puzzles/s   slowest ms");
    for (band, edge) in bands.iter().zip(edges).filter(|(band, _)| band.puzzles > 0) {
        let percent = |equal: u32| 100.0 * f64::from(equal) / f64::from(band.puzzles);
        println!(
            "{edge:>5} {:>9} {:>9.1}% {:>9.1}% {:>9.1}% {:>11.0} {:>12.1}",
            band.puzzles,
            percent(band.er),
            percent(band.ep),
            percent(band.ed),
            f64::from(band.puzzles) / band.seconds,
            1000.0 * band.slowest
        );
    }
}
