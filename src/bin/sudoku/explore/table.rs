//! Tables of the figures.

use sudoku_stream::explore::{
    Condition, Correlation, Experiment, Figures, NoCorrelation, Results, Source, Spread,
};
use sudoku_stream::grid::Order;
use sudoku_stream::solver::Question;

use crate::cli::print;

/// The lines above the tables.
pub fn heading(experiment: &Experiment, threads: usize) -> String {
    let settings = experiment.settings();
    format!(
        "{}, seed {}\nquestion {}, given up after {}; {}\n",
        subject(experiment),
        settings.seed,
        question_name(settings.question),
        print::counted(settings.node_limit, "node"),
        print::counted(threads as u64, "thread"),
    )
}

/// `9x9 boards of random values, 100 for each clue count`.
pub fn subject(experiment: &Experiment) -> String {
    let settings = experiment.settings();
    let what = match settings.source {
        Source::Random => "boards of random values",
        Source::Puzzles => "puzzles with one solution",
    };
    let orders: Vec<String> = experiment.orders().iter().map(Order::to_string).collect();
    let boards = print::thousands(settings.boards.into());
    format!("{} {what}, {boards} for each clue count", orders.join(", "))
}

/// The name of a source on the command line.
pub const fn source_name(source: Source) -> &'static str {
    match source {
        Source::Random => "random",
        Source::Puzzles => "puzzles",
    }
}

/// The name of a question on the command line.
pub const fn question_name(question: Question) -> &'static str {
    match question {
        Question::First => "first",
        Question::Unique => "unique",
        Question::Count { .. } => "count",
    }
}

/// The tables: each strategy on each size, the correlations, and how cost grows if there are
/// several sizes.
pub fn write(results: &Results) -> String {
    let experiment = results.experiment();
    let orders = experiment.orders();
    let mut page = String::new();
    for &order in &orders {
        for (place, strategy) in experiment.settings().strategies.iter().enumerate() {
            if strategy.supports(order) {
                page += &format!("\n{order}, {}\n{}", strategy.name(), by_clues(results, order, place));
            }
        }
    }
    page += "\nSolved, none (no solution) and given up are shares of the boards in %. Nodes,\n\
             backtracks and times are medians; p90 is the 90th percentile beside them.\n\
             A search that was given up counts with its cost so far.\n";
    if let Some(note) = together(experiment) {
        page += &format!("{note}\n");
    }
    page += &unmade(results);
    page += &format!("\nClue ratio and backtracks, over all boards of a size\n{}", correlations(results));
    if orders.len() > 1 {
        page += &format!("\nHow cost grows with the size, over all clue ratios\n{}", growth(results));
    }
    page
}

/// A strategy on boards of a size, a row for each clue count.
fn by_clues(results: &Results, order: Order, strategy: usize) -> String {
    let experiment = results.experiment();
    let has_several = experiment.settings().question != Question::First;
    let mut rows: Vec<Vec<String>> = vec![
        words(&["", "clue", "", "", "", "given", "", "back-", "", "time", ""]),
        words(&["clues", "ratio", "solved", "several", "none", "up", "nodes", "tracks", "p90", "µs", "p90"]),
    ];
    for (index, condition) in experiment.conditions().iter().enumerate() {
        let Condition { order: of, clues } = *condition;
        if of != order {
            continue;
        }
        let mut row = vec![clues.to_string(), format!("{:.1}%", 100.0 * condition.clue_ratio())];
        match results.figures(index, strategy) {
            Some(figures) => {
                let Figures { solved, several, no_solution, gave_up, nodes, backtracks, time_ns, .. } =
                    figures;
                row.extend([solved, several, no_solution, gave_up].map(|n| percent(figures.share(n))));
                row.extend([nodes.median, backtracks.median, backtracks.p90].map(number));
                row.extend([time_ns.median, time_ns.p90].map(microseconds));
            }
            None => row.resize(rows[0].len(), "-".to_owned()),
        }
        rows.push(row);
    }
    if !has_several {
        for row in &mut rows {
            row.remove(3);
        }
    }
    aligned(&rows, 0)
}

/// The note about strategies that search boards together, if there are any.
pub fn together(experiment: &Experiment) -> Option<String> {
    let strategies = experiment.settings().strategies.iter().filter(|s| s.searches_together());
    let names: Vec<&str> = strategies.map(|s| s.name()).collect();
    (!names.is_empty()).then(|| {
        format!(
            "For {}, all boards of a clue count are searched together and share the time.",
            names.join(", ")
        )
    })
}

/// A line for each kind of board that could not be made.
fn unmade(results: &Results) -> String {
    let experiment = results.experiment();
    let mut lines = String::new();
    for (index, Condition { order, clues }) in experiment.conditions().iter().enumerate() {
        let unmade = results.unmade(index);
        if unmade > 0 {
            let (unmade, all) = (unmade as u64, u64::from(experiment.settings().boards));
            let all = print::counted(all, &format!("{order} board"));
            lines +=
                &format!("{} of {all} with {clues} clues could not be made.\n", print::thousands(unmade));
        }
    }
    lines
}

fn correlations(results: &Results) -> String {
    let experiment = results.experiment();
    let mut rows = vec![words(&["size", "strategy", "n", "given up", "Pearson", "Spearman"])];
    for order in experiment.orders() {
        for (place, strategy) in experiment.settings().strategies.iter().enumerate() {
            if !strategy.supports(order) {
                continue;
            }
            let Correlation { n, gave_up, pearson, spearman } = results.correlation(order, place);
            rows.push(vec![
                order.to_string(),
                strategy.name().to_owned(),
                print::thousands(n),
                print::thousands(gave_up),
                pearson.map_or_else(|_| "none".to_owned(), |r| format!("{r:+.3}")),
                spearman.map_or_else(why_not, |r| format!("{r:+.3}")),
            ]);
        }
    }
    aligned(&rows, 2)
}

/// The reason why there is no correlation of clue ratio and backtracks.
pub fn why_not(reason: NoCorrelation) -> String {
    match reason {
        NoCorrelation::TooFew => "none: too few boards",
        NoCorrelation::FirstIsConstant => "none: one clue ratio only",
        NoCorrelation::SecondIsConstant => "none: backtracks do not vary",
    }
    .to_owned()
}

fn growth(results: &Results) -> String {
    let experiment = results.experiment();
    let mut rows = vec![words(&[
        "strategy", "size", "cells", "boards", "given up", "nodes", "time µs", "p90", "growth",
    ])];
    for (place, strategy) in experiment.settings().strategies.iter().enumerate() {
        let mut smaller: Option<f64> = None;
        for order in experiment.orders() {
            let Some(figures) = results.figures_of_order(order, place) else { continue };
            let Spread { median: time, p90: long, .. } = figures.time_ns;
            rows.push(vec![
                strategy.name().to_owned(),
                order.to_string(),
                order.cells().to_string(),
                print::thousands(figures.boards),
                format!("{}%", percent(figures.share(figures.gave_up))),
                number(figures.nodes.median),
                microseconds(time),
                microseconds(long),
                match smaller.replace(time) {
                    Some(smaller) if smaller > 0.0 => format!("x {}", print::rate(time / smaller)),
                    _ => String::new(),
                },
            ]);
        }
    }
    aligned(&rows, 1)
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
}

/// Lays rows out in columns, the first `left` of them left-aligned.
fn aligned(rows: &[Vec<String>], left: usize) -> String {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..rows.first().map_or(0, Vec::len)).map(width).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (column, (cell, &width)) in row.iter().zip(&widths).enumerate() {
            line += &if column < left { format!("  {cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        text += line.trim_end();
        text.push('\n');
    }
    text
}

/// A share in percent, to one decimal place.
fn percent(share: f64) -> String {
    format!("{:.1}", 100.0 * share)
}

/// A count or a median; below 100 with a decimal place.
fn number(number: f64) -> String {
    let parts = if number < 100.0 { 10.0 } else { 1.0 };
    indicatif::HumanFloatCount((number * parts).round() / parts).to_string()
}

fn microseconds(ns: f64) -> String {
    print::rate(ns / 1e3)
}
