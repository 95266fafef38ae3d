//! The plot of an experiment.
//!
//! ```text
//!   title, settings, the strategies with their colours and marks
//!   of each size:  outcomes of the boards, a panel of stacked bars for each strategy
//!                  nodes, backtracks, time by clues, a panel each: medians, shaded to the 90th centile
//!   of several:    how nodes and time grow with the cells
//!   notes
//! ```
//!
//! Colours are those of M. Okabe and K. Ito for strategies and of P. Tol for outcomes, which
//! colour-blind readers can tell apart; strategies have marks of different shapes besides.

use std::ops::Range;

use anyhow::anyhow;
use plotters::coord::Shift;
use plotters::coord::ranged1d::{KeyPointHint, NoDefaultFormatting, Ranged, ValueFormatter};
use plotters::prelude::{
    Cartesian2d, ChartBuilder, ChartContext, DrawingArea, DrawingAreaErrorKind, DrawingBackend,
    IntoDrawingArea as _, PathElement, Polygon, RGBColor, Rectangle, SVGBackend, WHITE,
};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color as _, IntoFont as _, TextStyle};
use sudoku_stream::explore::{Correlation, Figures, Results, Spread};
use sudoku_stream::grid::Order;
use sudoku_stream::solver::{Question, STRATEGIES, Strategy};

use super::canvas::{Canvas, Pixels};
use super::{letters, table};
use crate::cli::print;

/// Measures of the picture, in pixels of an SVG.
const WIDTH: u32 = 1280;
const MARGIN: i32 = 28;
const HEAD: u32 = 108;
const SECTION: u32 = 44;
const BARS: u32 = 190;
const COSTS: u32 = 320;
const FOOT: u32 = 28;
const LINE: u32 = 19;
/// With more clue counts than this, marks are smaller and bars touch.
const MANY: usize = 20;
/// The space to the left of a panel's vertical axis.
const LABELS: u32 = 72;
/// The widest panel of bars.
const WIDEST_BARS: u32 = 420;

const INK: RGBColor = RGBColor(34, 34, 34);
const FAINT: RGBColor = RGBColor(102, 102, 102);
const GRID: RGBColor = RGBColor(226, 226, 226);

const STRATEGY_COLOURS: [RGBColor; 6] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
];

/// A kind of outcome: its name, its colour, and how many boards it has.
type Kind = (&'static str, RGBColor, fn(&Figures) -> u64);

const OUTCOMES: [Kind; 4] = [
    ("solved", RGBColor(68, 119, 170), |figures| figures.solved),
    ("several solutions", RGBColor(136, 204, 238), |figures| figures.several),
    ("no solution", RGBColor(221, 204, 119), |figures| figures.no_solution),
    ("given up", RGBColor(204, 102, 119), |figures| figures.gave_up),
];

/// The picture as an SVG.
pub fn svg(results: &Results) -> anyhow::Result<Vec<u8>> {
    let mut text = String::new();
    let picture = Picture::of(results);
    picture.draw(SVGBackend::with_string(&mut text, (WIDTH, picture.height())))?;
    Ok(text.into_bytes())
}

/// The picture as a PNG.
pub fn png(results: &Results) -> anyhow::Result<Vec<u8>> {
    letters::check()?;
    let picture = Picture::of(results);
    let mut pixels = Pixels::new(WIDTH, picture.height());
    picture.draw(Canvas::on(&mut pixels))?;
    Ok(pixels.encode()?)
}

type Drawn<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, Shift>;
type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<Axis, Axis>>;

/// A quantity of searches that a panel shows.
struct Quantity {
    title: &'static str,
    unit: &'static str,
    scale: Scale,
    of: fn(&Figures) -> &Spread,
}

const NODES: Quantity =
    Quantity { title: "Nodes of a search", unit: "nodes", scale: Scale::Count, of: |figures| &figures.nodes };
const BACKTRACKS: Quantity = Quantity {
    title: "Backtracks of a search",
    unit: "backtracks",
    scale: Scale::CountOrNone,
    of: |figures| &figures.backtracks,
};
const TIME: Quantity =
    Quantity { title: "Time of a search", unit: "time", scale: Scale::Time, of: |figures| &figures.time_ns };

struct Picture<'a> {
    results: &'a Results,
    orders: Vec<Order>,
    strategies: &'a [&'static dyn Strategy],
    notes: Vec<String>,
}

impl<'a> Picture<'a> {
    fn of(results: &'a Results) -> Self {
        let experiment = results.experiment();
        let orders = experiment.orders();
        let strategies = &experiment.settings().strategies;
        let mut picture = Self { results, orders, strategies, notes: Vec::new() };
        picture.notes = picture.notes();
        picture
    }

    fn height(&self) -> u32 {
        let of_orders = few(self.orders.len()) * (SECTION + BARS + COSTS);
        let of_growth = if self.orders.len() > 1 { SECTION + COSTS } else { 0 };
        HEAD + of_orders + of_growth + FOOT + LINE * few(self.notes.len())
    }

    fn draw<B: DrawingBackend>(&self, backend: B) -> anyhow::Result<()>
    where
        B::ErrorType: 'static,
    {
        let area = backend.into_drawing_area();
        self.draw_on(&area).map_err(|error| anyhow!("The plot cannot be drawn: {error}"))
    }

    fn draw_on<B: DrawingBackend>(&self, area: &Area<B>) -> Drawn<B> {
        area.fill(&WHITE)?;
        self.draw_head(area)?;
        let mut top = HEAD;
        for &order in &self.orders {
            self.draw_outcomes(area, order, top)?;
            let quantities = [NODES, BACKTRACKS, TIME];
            let width = inner_width() / few(quantities.len());
            for (quantity, left) in quantities.iter().zip((MARGIN..).step_by(width as usize)) {
                let place = (left, (top + SECTION + BARS).cast_signed());
                self.draw_costs(&area.clone().shrink(place, (width, COSTS)), order, quantity)?;
            }
            top += SECTION + BARS + COSTS;
        }
        if self.orders.len() > 1 {
            self.draw_growth(area, top)?;
            top += SECTION + COSTS;
        }
        for (note, y) in self.notes.iter().zip((top + FOOT / 2..).step_by(LINE as usize)) {
            write(area, note, (MARGIN, y.cast_signed()), 13.0, FAINT)?;
        }
        area.present()
    }

    /// Draws the title, the settings and the strategies.
    fn draw_head<B: DrawingBackend>(&self, area: &Area<B>) -> Drawn<B> {
        let experiment = self.results.experiment();
        let settings = experiment.settings();
        write(area, "Sudoku boards by clues: outcome and cost of searching them", (MARGIN, 30), 25.0, INK)?;
        let what = format!(
            "{}; question {}, given up after {}, seed {}",
            table::subject(experiment),
            table::question_name(settings.question),
            print::counted(settings.node_limit, "node"),
            settings.seed,
        );
        write(area, &what, (MARGIN, 59), 16.0, FAINT)?;
        let mut left = MARGIN;
        for strategy in self.strategies {
            let (colour, y) = (colour(*strategy), 89);
            area.draw(&PathElement::new([(left, y), (left + 30, y)], colour.stroke_width(2)))?;
            area.draw(&Polygon::new(mark(*strategy, (left + 15, y), 5), colour.filled()))?;
            write(area, strategy.name(), (left + 37, y), 15.0, INK)?;
            left += 37 + width_of(strategy.name(), 15.0) + 26;
        }
        Ok(())
    }

    /// Draws the outcomes of boards: bars by clues, a panel for each strategy.
    fn draw_outcomes<B: DrawingBackend>(&self, area: &Area<B>, order: Order, top: u32) -> Drawn<B> {
        let y = (top + SECTION / 2).cast_signed();
        let title = format!("Results of {order} boards");
        write(area, &title, (MARGIN, y), 19.0, INK)?;
        let mut left = MARGIN + width_of(&title, 19.0) + 34;
        let has_several = self.results.experiment().settings().question != Question::First;
        for (name, colour, _) in
            OUTCOMES.iter().filter(|(name, ..)| has_several || !name.starts_with("several"))
        {
            area.draw(&Rectangle::new([(left, y - 6), (left + 12, y + 6)], colour.filled()))?;
            write(area, name, (left + 18, y), 14.0, INK)?;
            left += 18 + width_of(name, 14.0) + 22;
        }

        let shown: Vec<usize> = (0..self.strategies.len())
            .filter(|&strategy| self.strategies[strategy].supports(order))
            .collect();
        let width = (inner_width() / few(shown.len().max(1))).min(WIDEST_BARS);
        for (&strategy, left) in shown.iter().zip((MARGIN..).step_by(width as usize)) {
            let panel = area.clone().shrink((left, (top + SECTION).cast_signed()), (width, BARS));
            let points = self.points(order, strategy);
            let labels = points.iter().map(|(clues, _)| clues.to_string()).collect();
            let x = Axis::of_places(labels, width - 60);
            let mut chart = chart(&panel, self.strategies[strategy].name(), x, Axis::of_percent())?;
            let boards = if left == MARGIN { "boards" } else { "" };
            mesh(&mut chart, &format!("clues of {} cells", order.cells()), boards)?;
            // Gaps between many narrow bars would only distract.
            let half = if points.len() > MANY { 0.5 } else { 0.41 };
            for (place, (_, figures)) in points.iter().enumerate() {
                let Some(figures) = figures else { continue };
                let mut below = 0.0;
                for (_, colour, of) in OUTCOMES {
                    let above = below + 100.0 * figures.share(of(figures));
                    if above > below {
                        let (left, right) = (place as f64 - half, place as f64 + half);
                        let bar = Rectangle::new([(left, above), (right, below)], colour.filled());
                        chart.draw_series([bar])?;
                    }
                    below = above;
                }
            }
        }
        Ok(())
    }

    /// Draws a quantity by clues, a line for each strategy.
    fn draw_costs<B: DrawingBackend>(&self, panel: &Area<B>, order: Order, quantity: &Quantity) -> Drawn<B> {
        let lines: Vec<Line> = (0..self.strategies.len())
            .map(|strategy| {
                let points = self.points(order, strategy).into_iter();
                let known = points.filter_map(|(clues, figures)| Some((clues as f64, figures?)));
                Line::of(self.strategies[strategy], quantity, known)
            })
            .collect();
        let clues: Vec<usize> = self.points(order, 0).into_iter().map(|(clues, _)| clues).collect();
        let (width, _) = panel.dim_in_pixel();
        let mut chart = chart(
            panel,
            quantity.title,
            Axis::of_clues(&clues, width - 100),
            Axis::of_lines(quantity, &lines),
        )?;
        mesh(&mut chart, &format!("clues of {} cells", order.cells()), quantity.unit)?;
        draw_lines(&mut chart, &lines)
    }

    /// Draws how cost grows with the size, over all clue ratios.
    fn draw_growth<B: DrawingBackend>(&self, area: &Area<B>, top: u32) -> Drawn<B> {
        let y = (top + SECTION / 2).cast_signed();
        write(area, "How cost grows with the size, over all boards of a size", (MARGIN, y), 19.0, INK)?;
        let width = inner_width() / 2;
        for (quantity, left) in [NODES, TIME].iter().zip((MARGIN..).step_by(width as usize)) {
            let lines: Vec<Line> = (0..self.strategies.len())
                .map(|strategy| {
                    let figures = |&order: &Order| {
                        let figures = self.results.figures_of_order(order, strategy)?;
                        Some(((order.cells() as f64).log10(), figures))
                    };
                    Line::of(self.strategies[strategy], quantity, self.orders.iter().filter_map(figures))
                })
                .collect();
            let panel = area.clone().shrink((left, (top + SECTION).cast_signed()), (width, COSTS));
            let y = Axis::of_lines(quantity, &lines);
            let mut chart = chart(&panel, quantity.title, Axis::of_orders(&self.orders), y)?;
            mesh(&mut chart, "size (cells on a logarithmic scale)", quantity.unit)?;
            draw_lines(&mut chart, &lines)?;
        }
        Ok(())
    }

    /// The clue counts of a size, with the figures of a strategy.
    fn points(&self, order: Order, strategy: usize) -> Vec<(usize, Option<Figures>)> {
        let conditions = self.results.experiment().conditions().iter().enumerate();
        let of_order = conditions.filter(|(_, condition)| condition.order == order);
        of_order.map(|(index, condition)| (condition.clues, self.results.figures(index, strategy))).collect()
    }

    /// The notes below the plots.
    fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "Lines are medians, shaded up to the 90th percentile. A search that was given up counts with its cost so far."
                .to_owned(),
        ];
        notes.extend(table::together(self.results.experiment()));
        for &order in &self.orders {
            let mut parts: Vec<String> = Vec::new();
            let mut n = 0;
            for (place, strategy) in self.strategies.iter().enumerate() {
                let Correlation { n: searched, spearman, .. } = self.results.correlation(order, place);
                if searched == 0 {
                    continue;
                }
                n = searched;
                let r = spearman.map_or_else(|_| "none".to_owned(), |r| format!("{r:+.2}"));
                parts.push(format!("{} {r}", strategy.name()));
            }
            if !parts.is_empty() {
                notes.push(format!(
                    "Clue ratio and backtracks of {order}, rank correlation (Spearman), n = {}: {}",
                    print::thousands(n),
                    parts.join(", ")
                ));
            }
        }
        notes
    }
}

/// A strategy's line in a panel: where on the horizontal axis, median and 90th percentile on the
/// vertical one.
struct Line {
    strategy: &'static dyn Strategy,
    points: Vec<(f64, f64, f64)>,
}

impl Line {
    fn of(
        strategy: &'static dyn Strategy,
        quantity: &Quantity,
        points: impl Iterator<Item = (f64, Figures)>,
    ) -> Self {
        let place = |(x, figures): (f64, Figures)| {
            let Spread { median, p90, .. } = *(quantity.of)(&figures);
            (x, quantity.scale.place(median), quantity.scale.place(p90))
        };
        Self { strategy, points: points.map(place).collect() }
    }
}

fn draw_lines<B: DrawingBackend>(chart: &mut Chart<'_, B>, lines: &[Line]) -> Drawn<B> {
    for Line { strategy, points } in lines {
        let median = points.iter().map(|&(x, median, _)| (x, median));
        let p90 = points.iter().rev().map(|&(x, _, p90)| (x, p90));
        let band = Polygon::new(median.chain(p90).collect::<Vec<_>>(), colour(*strategy).mix(0.11).filled());
        chart.draw_series([band])?;
    }
    let area = chart.plotting_area().strip_coord_spec();
    let (across, down) = area.get_pixel_range();
    for (index, Line { strategy, points }) in lines.iter().enumerate() {
        let colour = colour(*strategy);
        let median: Vec<_> = points.iter().map(|&(x, median, _)| (x, median)).collect();
        if let [(x, median, p90)] = points[..] {
            // One point has no band; a line shows how far it would go.
            chart.draw_series([PathElement::new([(x, median), (x, p90)], colour.stroke_width(1))])?;
        }
        // A line under a later one has to show at its sides.
        let is_covered = lines[index + 1..].iter().any(|line| covers(line, points));
        let radius = if median.len() > MANY { 3 } else { 4 };
        let (width, radius) = if is_covered { (6, radius + 2) } else { (2, radius) };
        let place = |point| chart.backend_coord(point);
        let places = median.iter().map(place).map(|(x, y)| (x - across.start, y - down.start));
        let marks: Vec<_> = places.map(|place| mark(*strategy, place, radius)).collect();
        chart.draw_series([PathElement::new(median, colour.stroke_width(width))])?;
        for mark in marks {
            area.draw(&Polygon::new(mark, colour.filled()))?;
        }
    }
    Ok(())
}

/// Does a line run along these points?
fn covers(line: &Line, points: &[(f64, f64, f64)]) -> bool {
    let near = |(a, b): (&(f64, f64, f64), &(f64, f64, f64))| (a.1 - b.1).abs() < 0.02;
    line.points.len() == points.len() && line.points.iter().zip(points).all(near)
}

/// The scale of a vertical axis.
#[derive(Clone, Copy, PartialEq)]
enum Scale {
    /// Numbers from 1, by their logarithm.
    Count,
    /// Numbers from 0, by the logarithm of one more.
    CountOrNone,
    /// Nanoseconds, by their logarithm.
    Time,
}

impl Scale {
    fn place(self, value: f64) -> f64 {
        match self {
            Self::Count | Self::Time => value.max(1.0).log10(),
            Self::CountOrNone => (1.0 + value).log10(),
        }
    }

    fn label(self, value: f64) -> String {
        match self {
            Self::Count | Self::CountOrNone => indicatif::HumanFloatCount(value).to_string(),
            Self::Time => {
                let units = [(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
                let (unit, name) = units.into_iter().find(|(unit, _)| value >= *unit).unwrap_or((1.0, "ns"));
                format!("{} {name}", value / unit)
            }
        }
    }
}

/// An axis: its ends, and its labels with their places.
#[derive(Clone)]
struct Axis {
    ends: Range<f64>,
    ticks: Vec<(f64, String)>,
}

impl Axis {
    /// For bars side by side.
    fn of_places(labels: Vec<String>, width: u32) -> Self {
        let ends = -0.5..labels.len().max(1) as f64 - 0.5;
        let every = sparse(labels.len(), width);
        let ticks = labels.into_iter().enumerate().step_by(every);
        Self { ends, ticks: ticks.map(|(place, label)| (place as f64, label)).collect() }
    }

    /// For clue counts, in ascending order.
    fn of_clues(clues: &[usize], width: u32) -> Self {
        let (first, last) =
            (clues.first().copied().unwrap_or(0) as f64, clues.last().copied().unwrap_or(0) as f64);
        let room = if last > first { (last - first) * 0.04 } else { 1.0 };
        let ticks = clues.iter().step_by(sparse(clues.len(), width));
        Self {
            ends: first - room..last + room,
            ticks: ticks.map(|&clues| (clues as f64, clues.to_string())).collect(),
        }
    }

    fn of_percent() -> Self {
        let ticks = [0, 25, 50, 75, 100].map(|percent| (f64::from(percent), format!("{percent}%")));
        Self { ends: 0.0..100.0, ticks: ticks.to_vec() }
    }

    /// For sizes, by the logarithm of their cells.
    fn of_orders(orders: &[Order]) -> Self {
        let tick =
            |order: &Order| ((order.cells() as f64).log10(), format!("{order}: {} cells", order.cells()));
        let ticks: Vec<_> = orders.iter().map(tick).collect();
        let (first, last) =
            (ticks.first().map_or(0.0, |tick| tick.0), ticks.last().map_or(0.0, |tick| tick.0));
        let room = (last - first) * 0.12;
        Self { ends: first - room..last + room, ticks }
    }

    /// For the values of lines: from a round one to a round one, 1, 2, 5, 10, 20 and so on.
    fn of_lines(quantity: &Quantity, lines: &[Line]) -> Self {
        // Places that are equal but for rounding.
        const NEAR: f64 = 1e-9;
        let scale = quantity.scale;
        let leads = [1.0, 2.0, 5.0];
        let values: Vec<f64> =
            (0..=18).flat_map(|power| leads.map(|lead| lead * 10f64.powi(power))).collect();
        let rounds: Vec<f64> = values.iter().map(|&value| scale.place(value)).collect();

        let points = lines.iter().flat_map(|line| &line.points);
        let places: Vec<f64> = points.flat_map(|&(_, median, p90)| [median, p90]).collect();
        let low = match scale {
            Scale::CountOrNone => 0.0,
            Scale::Count | Scale::Time => {
                let is_below_all =
                    |round: &&f64| !places.is_empty() && places.iter().all(|&place| **round <= place + NEAR);
                rounds.iter().rfind(is_below_all).copied().unwrap_or(0.0)
            }
        };
        let is_above_all =
            |round: &&f64| **round > low + NEAR && places.iter().all(|&place| **round >= place - NEAR);
        let high = rounds.iter().find(is_above_all).copied().unwrap_or(low + 1.0);

        // With more than two decades, powers of ten are enough; with many, every other one.
        let every = match high - low {
            ..2.5 => 1,
            ..9.5 => leads.len(),
            _ => 2 * leads.len(),
        };
        let zero = (scale == Scale::CountOrNone).then(|| (0.0, scale.label(0.0)));
        let shown = values.iter().zip(rounds).step_by(every);
        let within = shown.filter(|(_, place)| (low - NEAR..=high + NEAR).contains(place));
        let ticks = zero.into_iter().chain(within.map(|(&value, place)| (place, scale.label(value))));
        Self { ends: low..high, ticks: ticks.collect() }
    }
}

/// The step of labels that fit the width: 1, 2, 5, 10 and so on.
fn sparse(labels: usize, width: u32) -> usize {
    let least = (labels * 30).div_ceil(width.max(30) as usize);
    let rounds = (0..4).flat_map(|power| [1, 2, 5].map(|lead| lead * 10usize.pow(power)));
    rounds.into_iter().find(|&round| round >= least).unwrap_or(least)
}

impl Ranged for Axis {
    type FormatOption = NoDefaultFormatting;
    type ValueType = f64;

    fn map(&self, value: &f64, (first, last): (i32, i32)) -> i32 {
        let share = (value - self.ends.start) / (self.ends.end - self.ends.start);
        #[expect(clippy::cast_possible_truncation, reason = "it is a place in a picture")]
        let along = (share * f64::from(last - first)).round() as i32;
        first + along
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.ticks.iter().map(|(place, _)| *place).collect()
    }

    fn range(&self) -> Range<f64> {
        self.ends.clone()
    }
}

impl ValueFormatter<f64> for Axis {
    fn format_ext(&self, value: &f64) -> String {
        let tick = self.ticks.iter().find(|(place, _)| place.total_cmp(value).is_eq());
        tick.map_or_else(String::new, |(_, label)| label.clone())
    }
}

/// An empty panel.
fn chart<'a, B: DrawingBackend>(
    panel: &'a Area<B>,
    title: &str,
    x: Axis,
    y: Axis,
) -> Result<Chart<'a, B>, DrawingAreaErrorKind<B::ErrorType>> {
    write(panel, title, (LABELS.cast_signed(), 14), 15.0, INK)?;
    ChartBuilder::on(panel)
        .margin_top(28)
        .margin_right(10)
        .margin_bottom(4)
        .x_label_area_size(42)
        .y_label_area_size(LABELS)
        .build_cartesian_2d(x, y)
}

/// Its axes and grid.
fn mesh<B: DrawingBackend>(chart: &mut Chart<'_, B>, x: &str, y: &str) -> Drawn<B> {
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(WHITE.mix(0.0))
        .axis_style(FAINT)
        .label_style(style(13.0, FAINT))
        .axis_desc_style(style(13.5, INK))
        .x_desc(x)
        .y_desc(y)
        .draw()
}

fn few(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

const fn inner_width() -> u32 {
    WIDTH - 2 * MARGIN.cast_unsigned()
}

fn style(size: f64, colour: RGBColor) -> TextStyle<'static> {
    (letters::FAMILY, size).into_font().color(&colour)
}

/// Writes a text whose middle height is at `at`, to the right of it.
fn write<B: DrawingBackend>(
    area: &Area<B>,
    text: &str,
    at: (i32, i32),
    size: f64,
    colour: RGBColor,
) -> Drawn<B> {
    area.draw_text(text, &style(size, colour).pos(Pos::new(HPos::Left, VPos::Center)), at)
}

/// The width of a text of a size.
fn width_of(text: &str, size: f64) -> i32 {
    // A font size of plotters is 1.24 em.
    #[expect(clippy::cast_possible_truncation, reason = "it is a place in a picture")]
    let width = letters::width(text, size as f32 / 1.24).ceil() as i32;
    width
}

/// The place of a strategy in the registry, which gives it its colour and mark.
fn rank(strategy: &dyn Strategy) -> usize {
    STRATEGIES.iter().position(|s| s.name() == strategy.name()).unwrap_or(0)
}

fn colour(strategy: &dyn Strategy) -> RGBColor {
    STRATEGY_COLOURS[rank(strategy) % STRATEGY_COLOURS.len()]
}

/// The corners of a strategy's mark around a place.
fn mark(strategy: &dyn Strategy, (x, y): (i32, i32), radius: i32) -> Vec<(i32, i32)> {
    let (r, near) = (radius, radius * 2 / 3);
    let corners: &[(i32, i32)] = match rank(strategy) % 6 {
        0 => &[(-near, -near), (near, -near), (near, near), (-near, near)],
        1 => &[(0, -r), (near, -near), (r, 0), (near, near), (0, r), (-near, near), (-r, 0), (-near, -near)],
        2 => &[(0, -r), (r, near), (-r, near)],
        3 => &[(0, -r), (r, 0), (0, r), (-r, 0)],
        4 => &[(0, r), (r, -near), (-r, -near)],
        _ => &[
            (-r, -1),
            (-1, -1),
            (-1, -r),
            (1, -r),
            (1, -1),
            (r, -1),
            (r, 1),
            (1, 1),
            (1, r),
            (-1, r),
            (-1, 1),
            (-r, 1),
        ],
    };
    corners.iter().map(|&(right, down)| (x + right, y + down)).collect()
}
