//! Metrics: what a search took, by the names of `--metric` and of the columns of CSV.

use clap::ValueEnum;
use sudoku_stream::explore::{Figures, Spread};

/// What a search took.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum)]
pub enum Metric {
    /// Search states visited
    Nodes,
    /// Choices between alternatives
    Guesses,
    /// Guesses taken back
    Backtracks,
    /// The most guesses that stood at once
    Depth,
    /// Looks at something in order to decide, as each strategy defines them
    Comparisons,
    /// Digits put into cells
    Placements,
    /// Time of a search
    Time,
}

/// How values of a metric are placed on an axis and written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Numbers from 1, by their logarithm.
    Count,
    /// Numbers from 0, by the logarithm of one more.
    CountOrNone,
    /// Nanoseconds, by their logarithm; 1 is the least that a clock tells apart.
    Time,
}

impl Metric {
    /// The metrics that are shown by default.
    pub const USUAL: [Self; 3] = [Self::Nodes, Self::Backtracks, Self::Time];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nodes => "nodes",
            Self::Guesses => "guesses",
            Self::Backtracks => "backtracks",
            Self::Depth => "depth",
            Self::Comparisons => "comparisons",
            Self::Placements => "placements",
            Self::Time => "time",
        }
    }

    /// The title of a panel or a table.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Nodes => "Nodes of a search",
            Self::Guesses => "Guesses of a search",
            Self::Backtracks => "Backtracks of a search",
            Self::Depth => "Depth of a search",
            Self::Comparisons => "Comparisons of a search",
            Self::Placements => "Placements of a search",
            Self::Time => "Time of a search",
        }
    }

    /// The title of a table.
    pub fn table_title(self) -> String {
        let unit = if self == Self::Time { " in µs" } else { "" };
        format!("{}{unit}", self.title().to_lowercase())
    }

    /// The scale of its values, of which `least` is the least.
    pub fn scale(self, least: f64) -> Scale {
        match self {
            Self::Guesses | Self::Backtracks | Self::Depth => Scale::CountOrNone,
            // A board that is solved already takes none, and 0 has no logarithm.
            Self::Nodes | Self::Comparisons | Self::Placements if least < 1.0 => Scale::CountOrNone,
            Self::Nodes | Self::Comparisons | Self::Placements => Scale::Count,
            Self::Time => Scale::Time,
        }
    }

    /// Whether it is counted in a second search only, and by strategies that search boards one by
    /// one.
    pub const fn is_step(self) -> bool {
        matches!(self, Self::Comparisons | Self::Placements)
    }

    /// The figures of it; `None` if it was not counted.
    pub const fn of(self, figures: &Figures) -> Option<&Spread> {
        match self {
            Self::Nodes => Some(&figures.nodes),
            Self::Guesses => Some(&figures.guesses),
            Self::Backtracks => Some(&figures.backtracks),
            Self::Depth => Some(&figures.depth),
            Self::Comparisons => figures.comparisons.as_ref(),
            Self::Placements => figures.placements.as_ref(),
            Self::Time => Some(&figures.time_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_below_1_are_on_a_scale_that_has_0() {
        for metric in [Metric::Nodes, Metric::Comparisons, Metric::Placements] {
            assert_eq!(metric.scale(1.0), Scale::Count);
            assert_eq!(metric.scale(0.0), Scale::CountOrNone);
            assert_eq!(metric.scale(0.5), Scale::CountOrNone);
        }
        assert_eq!(Metric::Guesses.scale(5.0), Scale::CountOrNone);
        assert_eq!(Metric::Time.scale(0.0), Scale::Time);
    }
}
