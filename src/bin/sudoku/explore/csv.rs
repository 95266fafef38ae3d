//! CSV of all figures, one row for each kind of board and strategy. No field needs quotes.

use sudoku_stream::explore::{Condition, Figures, Results, Settings, Spread};

use super::metric::Metric;
use super::table;

const COLUMNS: &str = "size,order,cells,clues,clue_ratio,strategy,boards_from,question,node_limit,seed,\
                       boards,unmade,solved,several,no_solution,gave_up,\
                       solved_share,several_share,no_solution_share,gave_up_share";

/// The figures that vary over boards; each has a median, a mean, a 90th percentile and a maximum.
/// New ones come last, so that columns keep their places.
const SPREADS: [Metric; 7] = [
    Metric::Nodes,
    Metric::Backtracks,
    Metric::Comparisons,
    Metric::Placements,
    Metric::Time,
    Metric::Guesses,
    Metric::Depth,
];

/// The heading and all rows. Figures that were not measured are blank.
pub fn write(results: &Results) -> String {
    let mut text = COLUMNS.to_owned();
    for metric in SPREADS {
        let unit = if metric == Metric::Time { "_us" } else { "" };
        let name = format!("{}{unit}", metric.name());
        text += &format!(",{name}_median,{name}_mean,{name}_p90,{name}_max");
    }
    text.push('\n');
    let experiment = results.experiment();
    let Settings { source, question, node_limit, seed, strategies, .. } = experiment.settings();
    for (index, condition) in experiment.conditions().iter().enumerate() {
        let Condition { order, clues } = *condition;
        for (place, strategy) in strategies.iter().enumerate().filter(|(_, s)| s.supports(order)) {
            text += &format!(
                "{},{},{},{clues},{:.6},{},{},{},{node_limit},{seed}",
                order.side(),
                order.box_side(),
                order.cells(),
                condition.clue_ratio(),
                strategy.name(),
                table::source_name(*source),
                table::question_name(*question),
            );
            let unmade = results.unmade(index);
            match results.figures(index, place) {
                Some(figures) => text += &row(&figures, unmade),
                None => text += &format!(",0,{unmade},0,0,0,0{}", ",".repeat(4 + 4 * SPREADS.len())),
            }
            text.push('\n');
        }
    }
    text
}

fn row(figures: &Figures, unmade: usize) -> String {
    let Figures { boards, solved, several, no_solution, gave_up, .. } = *figures;
    let mut row = format!(",{boards},{unmade},{solved},{several},{no_solution},{gave_up}");
    for boards in [solved, several, no_solution, gave_up] {
        row += &format!(",{:.6}", figures.share(boards));
    }
    for metric in SPREADS {
        match metric.of(figures) {
            Some(Spread { median, mean, p90, max }) if metric == Metric::Time => {
                let us = |ns: f64| ns / 1e3;
                row +=
                    &format!(",{:.3},{:.3},{:.3},{:.3}", us(*median), us(*mean), us(*p90), us(*max as f64));
            }
            Some(Spread { median, mean, p90, max }) => {
                row += &format!(",{median:.3},{mean:.3},{p90:.3},{max}");
            }
            None => row += ",,,,",
        }
    }
    row
}
