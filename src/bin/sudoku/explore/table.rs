//! Tables of the figures.

use sudoku_stream::explore::{
    Condition, Correlation, Experiment, Figures, NoCorrelation, Results, Source, Spread,
};
use sudoku_stream::grid::Order;
use sudoku_stream::solver::Question;

use super::ResultsView;
use super::metric::Metric;
use crate::cli::value::AnyStrategy;
use crate::cli::{fit, print};

/// The widest lines of text, where no terminal is narrower.
const TEXT_COLUMNS: usize = 80;

/// The sign before a median that is a lower bound.
const BOUND: &str = ">";

/// The lines above the tables. On a terminal they fit its columns.
pub fn heading(experiment: &Experiment, view: &ResultsView, columns: Option<usize>) -> String {
    let settings = experiment.settings();
    let lines = format!(
        "{}, seed {}\nquestion {}, given up after {}\n{}",
        subject(experiment),
        settings.seed,
        question_name(settings.question),
        print::counted(settings.node_limit, "node"),
        view.machine,
    );
    text(&lines, columns.unwrap_or(usize::MAX))
}

/// A sentence for each metric that some strategies do not count.
pub fn uncounted(experiment: &Experiment, view: &ResultsView) -> Vec<String> {
    let strategies = names(experiment.settings().strategies.iter().filter(|s| s.searches_together()));
    let metrics = view.metrics.iter().filter(|metric| metric.is_step() && !strategies.is_empty());
    metrics.map(|metric| format!("For {strategies}, {} are not counted.", metric.name())).collect()
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

/// The tables: the strategies side by side, each strategy by itself, the correlations, and how cost
/// grows if there are several sizes. On a terminal they fit its columns.
pub fn write(results: &Results, view: &ResultsView, columns: Option<usize>) -> String {
    let experiment = results.experiment();
    let strategies = &experiment.settings().strategies;
    let orders = experiment.orders();
    let note = |note: &str| text(note, columns.unwrap_or(TEXT_COLUMNS).min(TEXT_COLUMNS));
    let title = |title: &str| format!("\n{}", text(title, columns.unwrap_or(usize::MAX)));
    let (mut page, mut notes) = (String::new(), String::new());
    let mut has_bounds = false;
    for &order in &orders {
        for &metric in &view.metrics {
            let rows = side_by_side(results, order, metric);
            has_bounds |= rows.iter().flatten().any(|cell| cell.starts_with(BOUND));
            page += &title(&format!("{order}, {}, medians", metric.table_title()));
            page += &fit::table(&rows, 0, 1, columns);
        }
    }
    if has_bounds {
        notes += &note(&format!(
            "`{BOUND}`: at least half of the searches were given up, so the median is greater than that."
        ));
    }
    notes.extend(uncounted(experiment, view).iter().map(|uncounted| note(uncounted)));
    if !notes.is_empty() {
        page.push('\n');
        page += &notes;
    }
    for &order in &orders {
        for (place, strategy) in strategies.iter().enumerate() {
            if strategy.supports(order) {
                page += &title(&format!("{order}, {}", strategy.name()));
                page += &fit::table(&by_clues(results, order, place), 0, 1, columns);
            }
        }
    }
    page.push('\n');
    page += &note(
        "Solved, none (no solution) and given up are shares of the boards in %. Nodes, backtracks and times are \
         medians; p90 is the 90th percentile beside them. A search that was given up counts with its cost so far.",
    );
    if let Some(shared) = together(experiment) {
        page += &note(&shared);
    }
    page += &note(&unmade(results));
    page += &title("Clue ratio and backtracks, over all boards of a size");
    page += &fit::table(&correlations(results), 2, 2, columns);
    if orders.len() > 1 {
        page += &title("How cost grows with the size, over all clue ratios");
        page += &fit::table(&growth(results), 1, 2, columns);
    }
    page
}

/// Lines that fit, each with its end.
fn text(text: &str, columns: usize) -> String {
    fit::wrapped(text, columns).into_iter().map(|line| line + "\n").collect()
}

/// The medians of a metric, a row for each clue count and a column for each strategy.
fn side_by_side(results: &Results, order: Order, metric: Metric) -> Vec<Vec<String>> {
    let experiment = results.experiment();
    let strategies: Vec<(usize, &str)> = experiment
        .settings()
        .strategies
        .iter()
        .enumerate()
        .filter(|(_, strategy)| strategy.supports(order))
        .map(|(place, strategy)| (place, strategy.name()))
        .collect();
    // Long names are broken at their hyphen, so that all strategies fit 80 columns.
    let halves = strategies.iter().map(|(_, name)| match name.find('-') {
        Some(at) => name.split_at(at + 1),
        None => ("", *name),
    });
    let (above, below): (Vec<&str>, Vec<&str>) = halves.unzip();
    let heading = |first: &str, names: &[&str]| words(&[&[first], names].concat());
    let mut rows = vec![heading("", &above), heading("clues", &below)];
    for (index, condition) in experiment.conditions().iter().enumerate() {
        if condition.order != order {
            continue;
        }
        let median = |&(strategy, _): &(usize, &str)| {
            let figures = results.figures(index, strategy)?;
            let median = metric.of(&figures)?.median;
            let sign = if 2 * figures.gave_up >= figures.boards { BOUND } else { "" };
            let median = if metric == Metric::Time { microseconds(median) } else { number(median) };
            Some(format!("{sign}{median}"))
        };
        let medians = strategies.iter().map(|strategy| median(strategy).unwrap_or_else(|| "-".to_owned()));
        rows.push([condition.clues.to_string()].into_iter().chain(medians).collect());
    }
    rows
}

/// A strategy on boards of a size, a row for each clue count.
fn by_clues(results: &Results, order: Order, strategy: usize) -> Vec<Vec<String>> {
    let experiment = results.experiment();
    let has_several = experiment.settings().question != Question::First;
    let mut rows: Vec<Vec<String>> = vec![
        words(&["", "clue", "", "", "", "given", "", "back-", "back-", "time", "time"]),
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
    rows
}

/// The note about strategies that search boards together, if there are any.
pub fn together(experiment: &Experiment) -> Option<String> {
    let names = names(experiment.settings().strategies.iter().filter(|s| s.searches_together()));
    (!names.is_empty())
        .then(|| format!("For {names}, all boards of a clue count are searched together and share the time."))
}

fn names<'a>(strategies: impl Iterator<Item = &'a AnyStrategy>) -> String {
    strategies.map(|strategy| strategy.name()).collect::<Vec<_>>().join(", ")
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

fn correlations(results: &Results) -> Vec<Vec<String>> {
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
    rows
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

fn growth(results: &Results) -> Vec<Vec<String>> {
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
    rows
}

fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|&word| word.to_owned()).collect()
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
