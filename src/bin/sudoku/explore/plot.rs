//! The plot of an experiment.
//!
//! ```text
//!   title, settings, machine, the strategies with their colours and marks
//!   of each size:  outcomes of the boards, a panel of stacked bars for each strategy
//!                  the metrics by clues, a panel each: medians, shaded to the 90th percentile
//!   of several:    how the metrics grow with the cells
//!   notes
//! ```
//!
//! Colours are those of M. Okabe and K. Ito for strategies and of P. Tol for outcomes, which
//! colour-blind readers can tell apart; strategies have marks of different shapes besides. Lines
//! that coincide are drawn in dashes by turns, so that none hides another.

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
use sudoku_stream::counted::listed;
use sudoku_stream::explore::{Correlation, Figures, Results, Spread};
use sudoku_stream::grid::Order;
use sudoku_stream::solver::{Question, STRATEGIES, Strategy};

use super::canvas::{Canvas, Pixels};
use super::metric::{Metric, Scale};
use super::{ResultsView, letters, table};
use crate::cli::print;

/// Measures of the picture, in pixels of an SVG: a page shows it at its size or a little smaller.
const WIDTH: u32 = 1040;
const MARGIN: i32 = 24;
const SECTION: u32 = 44;
const BARS: u32 = 196;
const COSTS: u32 = 336;
const FOOT: u32 = 28;
/// The distance of lines of text.
const LINE: u32 = 20;
/// With more clue counts than this, marks are smaller and bars touch.
const MANY: usize = 20;
/// The space to the left of a panel's vertical axis.
const LABELS: u32 = 80;
/// The same where labels are shares.
const SHARE_LABELS: u32 = 66;
/// The space to the left of further panels with the same axis, and to the right of all.
const GAP: u32 = 12;
/// The space above and below a panel's axes.
const ABOVE: u32 = 34;
const BELOW: u32 = 46;
/// The widest panel of bars.
const WIDEST_BARS: u32 = 420;
/// The most panels of metrics in a row.
const ABREAST: usize = 3;
/// The length of the dashes of lines that coincide.
const DASH: f64 = 7.0;
/// Lines as near as this are not seen to be two.
const NEAR: i32 = 2;

/// Sizes of letters, in units of plotters.
const TITLE: f64 = 26.0;
const SUBTITLE: f64 = 20.0;
const TEXT: f64 = 16.0;
const TICK: f64 = 14.5;
const NOTE: f64 = 14.5;

const INK: RGBColor = RGBColor(34, 34, 34);
const FAINT: RGBColor = RGBColor(102, 102, 102);
const GRID: RGBColor = RGBColor(226, 226, 226);

const STRATEGY_COLOURS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 114, 178),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(90, 90, 90),
];

/// A kind of outcome: its name, its colour, and how many boards it has.
type OutcomeKind = (&'static str, RGBColor, fn(&Figures) -> u64);

const OUTCOMES: [OutcomeKind; 4] = [
    ("solved", RGBColor(68, 119, 170), |figures| figures.solved),
    ("several solutions", RGBColor(136, 204, 238), |figures| figures.several),
    ("no solution", RGBColor(221, 204, 119), |figures| figures.no_solution),
    ("given up", RGBColor(204, 102, 119), |figures| figures.gave_up),
];

/// The picture as an SVG.
pub fn svg(results: &Results, view: &ResultsView) -> anyhow::Result<Vec<u8>> {
    let mut text = String::new();
    let picture = Picture::of(results, view);
    picture.draw(SVGBackend::with_string(&mut text, (WIDTH, picture.height())))?;
    Ok(text.into_bytes())
}

/// The picture as a PNG.
pub fn png(results: &Results, view: &ResultsView) -> anyhow::Result<Vec<u8>> {
    letters::check()?;
    let picture = Picture::of(results, view);
    let mut pixels = Pixels::new(WIDTH, picture.height());
    picture.draw(Canvas::on(&mut pixels))?;
    Ok(pixels.encode()?)
}

type PlotResult<B> = Result<(), DrawingAreaErrorKind<<B as DrawingBackend>::ErrorType>>;
type Area<B> = DrawingArea<B, Shift>;
type Chart<'a, B> = ChartContext<'a, B, Cartesian2d<Axis, Axis>>;

struct Picture<'a> {
    results: &'a Results,
    view: &'a ResultsView,
    orders: Vec<Order>,
    strategies: &'a [&'static dyn Strategy],
    /// The lines below the title.
    captions: Vec<String>,
    /// The strategies with their places below the captions.
    legend: Vec<(&'static dyn Strategy, (i32, i32))>,
    /// The lines below the panels.
    notes: Vec<String>,
}

impl<'a> Picture<'a> {
    fn of(results: &'a Results, view: &'a ResultsView) -> Self {
        let experiment = results.experiment();
        let orders = experiment.orders();
        let settings = experiment.settings();
        let strategies = &settings.strategies;
        let captions = [
            format!(
                "{}; question {}, given up after {}, seed {}",
                table::subject(experiment),
                table::question_name(settings.question),
                print::counted(settings.node_limit, "node"),
                settings.seed,
            ),
            format!("Times: {}", view.machine),
        ];
        // The built-in font has no other letters.
        let captions = captions.map(|caption| caption.replace(|c: char| !c.is_ascii_graphic(), " "));
        let captions = captions.iter().flat_map(|caption| wrapped(caption, TEXT)).collect();
        let legend = legend(strategies);
        let mut picture = Self { results, view, orders, strategies, captions, legend, notes: Vec::new() };
        picture.notes = picture.notes().iter().flat_map(|note| wrapped(note, NOTE)).collect();
        picture
    }

    /// The height of the title, the captions and the legend.
    fn head(&self) -> u32 {
        let legend = self.legend.last().map_or(0, |(_, (_, y))| y.cast_unsigned() + LINE);
        48 + LINE * few(self.captions.len()) + legend
    }

    /// The rows of panels for the metrics.
    fn rows_of_metrics(&self) -> u32 {
        few(self.view.metrics.len().div_ceil(ABREAST))
    }

    fn height(&self) -> u32 {
        let costs = COSTS * self.rows_of_metrics();
        let of_orders = few(self.orders.len()) * (SECTION + BARS + costs);
        let of_growth = if self.orders.len() > 1 { SECTION + costs } else { 0 };
        self.head() + of_orders + of_growth + FOOT + LINE * few(self.notes.len())
    }

    fn draw<B: DrawingBackend>(&self, backend: B) -> anyhow::Result<()>
    where
        B::ErrorType: 'static,
    {
        let area = backend.into_drawing_area();
        self.draw_on(&area).map_err(|error| anyhow!("The plot cannot be drawn: {error}"))
    }

    fn draw_on<B: DrawingBackend>(&self, area: &Area<B>) -> PlotResult<B> {
        area.fill(&WHITE)?;
        self.draw_head(area)?;
        let mut top = self.head();
        for &order in &self.orders {
            self.draw_outcomes(area, order, top)?;
            top += SECTION + BARS;
            for (metric, place, size) in self.panels(top) {
                self.draw_costs(&area.clone().shrink(place, size), order, metric)?;
            }
            top += COSTS * self.rows_of_metrics();
        }
        if self.orders.len() > 1 {
            let y = (top + SECTION / 2).cast_signed();
            let title = "How cost grows with the size, over all boards of a size";
            write(area, title, (MARGIN, y), SUBTITLE, INK)?;
            top += SECTION;
            for (metric, place, size) in self.panels(top) {
                self.draw_growth(&area.clone().shrink(place, size), metric)?;
            }
            top += COSTS * self.rows_of_metrics();
        }
        for (note, y) in self.notes.iter().zip((top + FOOT / 2..).step_by(LINE as usize)) {
            write(area, note, (MARGIN, y.cast_signed()), NOTE, FAINT)?;
        }
        area.present()
    }

    /// The panels of the metrics, with their places and sizes.
    fn panels(&self, top: u32) -> impl Iterator<Item = (Metric, (i32, i32), (u32, u32))> + '_ {
        let metrics = &self.view.metrics;
        // Rows of the same length, where that is possible.
        let abreast = metrics.len().div_ceil(metrics.len().div_ceil(ABREAST));
        let width = inner_width() / few(abreast);
        metrics.iter().enumerate().map(move |(place, &metric)| {
            let left = MARGIN + (width * few(place % abreast)).cast_signed();
            let top = (top + COSTS * few(place / abreast)).cast_signed();
            (metric, (left, top), (width, COSTS))
        })
    }

    /// Draws the title, the captions and the strategies.
    fn draw_head<B: DrawingBackend>(&self, area: &Area<B>) -> PlotResult<B> {
        write(area, "Sudoku boards by clues: outcome and cost of searching them", (MARGIN, 28), TITLE, INK)?;
        let mut top = 56;
        for caption in &self.captions {
            write(area, caption, (MARGIN, top), TEXT, FAINT)?;
            top += LINE.cast_signed();
        }
        for &(strategy, (left, y)) in &self.legend {
            let (colour, y) = (colour(strategy), top + y + 4);
            area.draw(&PathElement::new([(left, y), (left + 30, y)], colour.stroke_width(2)))?;
            area.draw(&Polygon::new(mark(strategy, (left + 15, y), 5), colour.filled()))?;
            write(area, strategy.name(), (left + 37, y), TEXT, INK)?;
        }
        Ok(())
    }

    /// Draws the outcomes of boards: bars by clues, a panel for each strategy.
    fn draw_outcomes<B: DrawingBackend>(&self, area: &Area<B>, order: Order, top: u32) -> PlotResult<B> {
        let y = (top + SECTION / 2).cast_signed();
        let title = format!("Results of {order} boards");
        write(area, &title, (MARGIN, y), SUBTITLE, INK)?;
        let mut left = MARGIN + width_of(&title, SUBTITLE) + 34;
        let has_several = self.results.experiment().settings().question != Question::First;
        for (name, colour, _) in
            OUTCOMES.iter().filter(|(name, ..)| has_several || !name.starts_with("several"))
        {
            area.draw(&Rectangle::new([(left, y - 6), (left + 12, y + 6)], colour.filled()))?;
            write(area, name, (left + 18, y), TEXT, INK)?;
            left += 18 + width_of(name, TEXT) + 22;
        }

        let shown: Vec<usize> = (0..self.strategies.len())
            .filter(|&strategy| self.strategies[strategy].supports(order))
            .collect();
        // All have the same vertical axis, so only the first has its labels.
        let first = SHARE_LABELS - GAP;
        let width = ((inner_width() - first) / few(shown.len().max(1))).min(WIDEST_BARS);
        for (place, &strategy) in shown.iter().enumerate() {
            let (labels, desc) = if place == 0 { (SHARE_LABELS, "boards") } else { (GAP, "") };
            let right = MARGIN + (first + width * few(place + 1)).cast_signed();
            let left = right - (width + labels - GAP).cast_signed();
            let size = (width + labels - GAP, BARS);
            let panel = area.clone().shrink((left, (top + SECTION).cast_signed()), size);
            let points = self.points(order, strategy);
            let clues = points.iter().map(|(clues, _)| clues.to_string()).collect();
            let x = Axis::of_places(clues, width - 2 * GAP);
            let name = self.strategies[strategy].name();
            let mut chart = chart(&panel, name, labels, x, Axis::of_percent(place == 0))?;
            mesh(&mut chart, &clues_of(order), desc)?;
            // Gaps between many narrow bars would only distract.
            let half = if points.len() > MANY { 0.5 } else { 0.41 };
            for (place, (_, figures)) in points.iter().enumerate() {
                let Some(figures) = figures else { continue };
                // Bars that touch reach under the next one, because between two edges at the same
                // place a scaled picture shows what is behind them.
                let is_covered = half >= 0.5 && matches!(points.get(place + 1), Some((_, Some(_))));
                let over = if is_covered { 0.3 } else { 0.0 };
                let mut below = 0.0;
                for (_, colour, of) in OUTCOMES {
                    let above = below + 100.0 * figures.share(of(figures));
                    if above > below {
                        let (left, right) = (place as f64 - half, place as f64 + half + over);
                        let bar = Rectangle::new([(left, above), (right, below)], colour.filled());
                        chart.draw_series([bar])?;
                    }
                    below = above;
                }
            }
        }
        Ok(())
    }

    /// Draws a metric by clues, a line for each strategy.
    fn draw_costs<B: DrawingBackend>(&self, panel: &Area<B>, order: Order, metric: Metric) -> PlotResult<B> {
        let placed = self.lines(order, metric);
        let clues: Vec<usize> = self.points(order, 0).into_iter().map(|(clues, _)| clues).collect();
        let (width, height) = inside(panel);
        let y = Axis::of_lines(&placed, height);
        let mut chart = chart(panel, metric.title(), LABELS, Axis::of_clues(&clues, width), y)?;
        mesh(&mut chart, &clues_of(order), metric.name())?;
        draw_lines(&mut chart, &placed.lines)
    }

    /// The lines of a metric by clues. A strategy without figures has none.
    fn lines(&self, order: Order, metric: Metric) -> PlacedLines {
        let line = |strategy| {
            let points = self.points(order, strategy).into_iter();
            let known = points.filter_map(|(clues, figures)| Some((clues as f64, figures?)));
            PlotLine::of(self.strategies[strategy], metric, known)
        };
        PlacedLines::new(metric, (0..self.strategies.len()).map(line).collect())
    }

    /// Draws how a metric grows with the size, over all clue ratios.
    fn draw_growth<B: DrawingBackend>(&self, panel: &Area<B>, metric: Metric) -> PlotResult<B> {
        let line = |strategy| {
            let figures = |&order: &Order| {
                let figures = self.results.figures_of_order(order, strategy)?;
                Some(((order.cells() as f64).log10(), figures))
            };
            PlotLine::of(self.strategies[strategy], metric, self.orders.iter().filter_map(figures))
        };
        let placed = PlacedLines::new(metric, (0..self.strategies.len()).map(line).collect());
        let (_, height) = inside(panel);
        let y = Axis::of_lines(&placed, height);
        let mut chart = chart(panel, metric.title(), LABELS, Axis::of_orders(&self.orders), y)?;
        mesh(&mut chart, "side (by cells, logarithmic)", metric.name())?;
        draw_lines(&mut chart, &placed.lines)
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
        notes.extend(table::uncounted(self.results.experiment(), self.view));
        notes.extend(table::together(self.results.experiment()));
        notes.extend(self.same_curves());
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

    /// Notes about strategies whose whole lines coincide in a panel by clues.
    fn same_curves(&self) -> Vec<String> {
        let mut notes = Vec::new();
        for &order in &self.orders {
            // The strategies that coincide, and in what.
            let mut found: Vec<(Vec<&str>, Vec<&str>)> = Vec::new();
            for &metric in &self.view.metrics {
                let PlacedLines { lines, .. } = self.lines(order, metric);
                for (first, line) in lines.iter().enumerate() {
                    if lines[..first].iter().any(|other| other.is_as(line)) {
                        continue;
                    }
                    let same = lines[first..].iter().filter(|other| other.is_as(line));
                    let names: Vec<&str> = same.map(|other| other.strategy.name()).collect();
                    match found.iter_mut().find(|(known, _)| *known == names) {
                        _ if names.len() < 2 => {}
                        Some((_, metrics)) => metrics.push(metric.name()),
                        None => found.push((names, vec![metric.name()])),
                    }
                }
            }
            let of_order = if self.orders.len() > 1 { format!(" of {order}") } else { String::new() };
            notes.extend(found.into_iter().map(|(names, metrics)| {
                format!(
                    "The same curve{of_order}, in dashes by turns: {} ({})",
                    listed(&names, "and"),
                    listed(&metrics, "and")
                )
            }));
        }
        notes
    }
}

/// The title of an axis of clues.
fn clues_of(order: Order) -> String {
    format!("clues of {}", print::counted(order.cells() as u64, "cell"))
}

/// The places of the strategies below each other, as many abreast as fit.
fn legend(strategies: &[&'static dyn Strategy]) -> Vec<(&'static dyn Strategy, (i32, i32))> {
    let (mut left, mut top) = (MARGIN, 0);
    let mut legend = Vec::new();
    for &strategy in strategies {
        let width = 37 + width_of(strategy.name(), TEXT);
        if left > MARGIN && left + width > MARGIN + inner_width().cast_signed() {
            (left, top) = (MARGIN, top + LINE.cast_signed());
        }
        legend.push((strategy, (left, top)));
        left += width + 26;
    }
    legend
}

/// Lines of a text that fit the picture.
fn wrapped(text: &str, size: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if width_of(&format!("{line} {word}"), size).cast_unsigned() <= inner_width() => {
                *line += &format!(" {word}");
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

/// The lines of a panel, placed on the scale of their values.
struct PlacedLines {
    scale: Scale,
    lines: Vec<PlotLine>,
}

impl PlacedLines {
    /// Places lines whose points are values of a metric.
    fn new(metric: Metric, mut lines: Vec<PlotLine>) -> Self {
        let medians = lines.iter().flat_map(|line| &line.points).map(|&(_, median, _)| median);
        let scale = metric.scale(medians.fold(f64::INFINITY, f64::min));
        for line in &mut lines {
            for (_, median, p90) in &mut line.points {
                (*median, *p90) = (scale.place(*median), scale.place(*p90));
            }
        }
        Self { scale, lines }
    }
}

/// A strategy's line in a panel: where on the horizontal axis, median and 90th percentile on the
/// vertical one.
struct PlotLine {
    strategy: &'static dyn Strategy,
    points: Vec<(f64, f64, f64)>,
}

impl PlotLine {
    /// The line of figures, whose points are values until they are placed.
    fn of(
        strategy: &'static dyn Strategy,
        metric: Metric,
        points: impl Iterator<Item = (f64, Figures)>,
    ) -> Self {
        let point = |(x, figures): (f64, Figures)| {
            let Spread { median, p90, .. } = *metric.of(&figures)?;
            Some((x, median, p90))
        };
        Self { strategy, points: points.filter_map(point).collect() }
    }

    /// Does it run where the other one does?
    fn is_as(&self, other: &Self) -> bool {
        let near = |(a, b): (&(f64, f64, f64), &(f64, f64, f64))| (a.1 - b.1).abs() < 0.02;
        !self.points.is_empty()
            && self.points.len() == other.points.len()
            && self.points.iter().zip(&other.points).all(near)
    }
}

/// Draws the lines: first what is behind them, their bands and the edges of these.
fn draw_lines<B: DrawingBackend>(chart: &mut Chart<'_, B>, lines: &[PlotLine]) -> PlotResult<B> {
    for PlotLine { strategy, points } in lines {
        let median = points.iter().map(|&(x, median, _)| (x, median));
        let p90 = points.iter().rev().map(|&(x, _, p90)| (x, p90));
        let band = Polygon::new(median.chain(p90).collect::<Vec<_>>(), colour(*strategy).mix(0.05).filled());
        chart.draw_series([band])?;
    }
    for PlotLine { strategy, points } in lines {
        let edge: Vec<_> = match points[..] {
            // One point has no band; a line shows how far it would go.
            [(x, median, p90)] => vec![(x, median), (x, p90)],
            _ => points.iter().map(|&(x, _, p90)| (x, p90)).collect(),
        };
        chart.draw_series([PathElement::new(edge, tint(colour(*strategy)).stroke_width(1))])?;
    }
    let area = chart.plotting_area().strip_coord_spec();
    let (across, down) = area.get_pixel_range();
    let place = |&(x, median, _): &(f64, f64, f64)| {
        let (x, y) = chart.backend_coord(&(x, median));
        (x - across.start, y - down.start)
    };
    let places: Vec<Vec<(i32, i32)>> =
        lines.iter().map(|line| line.points.iter().map(place).collect()).collect();
    for (index, line) in lines.iter().enumerate() {
        let style = colour(line.strategy).stroke_width(2);
        let segments = |line: &[(i32, i32)]| -> Vec<[(i32, i32); 2]> {
            line.windows(2).map(|ends| [ends[0], ends[1]]).collect()
        };
        for segment in segments(&places[index]) {
            let runs_along = |other: &Vec<(i32, i32)>| {
                segments(other)
                    .iter()
                    .any(|other| is_near(other[0], segment[0]) && is_near(other[1], segment[1]))
            };
            let turn = places[..index].iter().filter(|other| runs_along(other)).count();
            let all = turn + 1 + places[index + 1..].iter().filter(|other| runs_along(other)).count();
            for dash in dashes(segment, turn, all) {
                area.draw(&PathElement::new(dash, style))?;
            }
        }
    }
    for (index, line) in lines.iter().enumerate() {
        let radius = if line.points.len() > MANY { 3 } else { 4 };
        for (number, &place) in places[index].iter().enumerate() {
            // Where marks would cover each other, lines have theirs by turns.
            let is_there = |other: &Vec<(i32, i32)>| other.iter().any(|&other| is_near(other, place));
            let turn = places[..index].iter().filter(|other| is_there(other)).count();
            let all = turn + 1 + places[index + 1..].iter().filter(|other| is_there(other)).count();
            if number % all == turn {
                area.draw(&Polygon::new(mark(line.strategy, place, radius), colour(line.strategy).filled()))?;
            }
        }
    }
    Ok(())
}

fn is_near(a: (i32, i32), b: (i32, i32)) -> bool {
    a.0 == b.0 && (a.1 - b.1).abs() <= NEAR
}

/// The dashes of a segment for one of `all` lines, which have theirs by turns; the whole of it if
/// there is no other line.
fn dashes([from, to]: [(i32, i32); 2], turn: usize, all: usize) -> Vec<[(i32, i32); 2]> {
    if all == 1 {
        return vec![[from, to]];
    }
    let (dx, dy) = (f64::from(to.0 - from.0), f64::from(to.1 - from.1));
    // Each line has at least one.
    let rounds = (dx.hypot(dy) / (DASH * all as f64)).round().max(1.0);
    let parts = rounds * all as f64;
    #[expect(clippy::cast_possible_truncation, reason = "they are places in a picture")]
    let at = |part: f64| {
        (from.0 + (dx * part / parts).round() as i32, from.1 + (dy * part / parts).round() as i32)
    };
    let starts = (0..).map(|round| (round * all + turn) as f64).take_while(|&part| part < parts);
    starts.map(|part| [at(part), at(part + 1.0)]).collect()
}

/// A lighter colour.
fn tint(RGBColor(red, green, blue): RGBColor) -> RGBColor {
    let lighter = |part: u8| u8::MAX - (u8::MAX - part) / 5 * 2;
    RGBColor(lighter(red), lighter(green), lighter(blue))
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
            Self::Count | Self::CountOrNone => {
                let units = [(1e12, "T"), (1e9, "G"), (1e6, "M")];
                let large = units.into_iter().find(|(unit, _)| value >= *unit);
                let small = || indicatif::HumanFloatCount(value).to_string();
                large.map_or_else(small, |(unit, name)| format!("{} {name}", value / unit))
            }
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
        let every = sparse(&labels, width);
        let ticks = labels.into_iter().enumerate().step_by(every);
        Self { ends, ticks: ticks.map(|(place, label)| (place as f64, label)).collect() }
    }

    /// For clue counts, in ascending order.
    fn of_clues(clues: &[usize], width: u32) -> Self {
        let (first, last) =
            (clues.first().copied().unwrap_or(0) as f64, clues.last().copied().unwrap_or(0) as f64);
        let room = if last > first { (last - first) * 0.04 } else { 1.0 };
        let labels: Vec<String> = clues.iter().map(usize::to_string).collect();
        let step = sparse(&labels, width);
        let places = clues.iter().map(|&clues| clues as f64);
        let ticks = places.zip(labels.iter().cloned()).step_by(step).collect();
        let ends = first - room..last + room;
        // They may be uneven.
        let ticks = apart(ticks, &ends, width, widest(&labels));
        Self { ends, ticks }
    }

    /// For shares; without labels beside a panel that has them.
    fn of_percent(has_labels: bool) -> Self {
        let label = |percent| if has_labels { format!("{percent}%") } else { String::new() };
        let ticks = [0, 25, 50, 75, 100].map(|percent| (f64::from(percent), label(percent)));
        Self { ends: 0.0..100.0, ticks: ticks.to_vec() }
    }

    /// For sizes, by the logarithm of their cells.
    fn of_orders(orders: &[Order]) -> Self {
        let tick = |order: &Order| ((order.cells() as f64).log10(), order.side().to_string());
        let ticks: Vec<_> = orders.iter().map(tick).collect();
        let (first, last) =
            (ticks.first().map_or(0.0, |tick| tick.0), ticks.last().map_or(0.0, |tick| tick.0));
        let room = (last - first) * 0.12;
        Self { ends: first - room..last + room, ticks }
    }

    /// For the values of lines: from a round one to a round one, 1, 2, 5, 10, 20 and so on.
    fn of_lines(placed: &PlacedLines, height: u32) -> Self {
        // Places that are equal but for rounding.
        const NEAR: f64 = 1e-9;
        let PlacedLines { scale, ref lines } = *placed;
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
        let ends = low..high;
        let ticks = apart(ticks.collect(), &ends, height, LINE - 4);
        Self { ends, ticks }
    }
}

/// The width of the widest of some labels, with a gap.
fn widest(labels: &[String]) -> u32 {
    labels.iter().map(|label| width_of(label, TICK)).max().unwrap_or(0).cast_unsigned() + 8
}

/// Those ticks, from the first on, that are as far apart as labels need.
fn apart(ticks: Vec<(f64, String)>, ends: &Range<f64>, length: u32, least: u32) -> Vec<(f64, String)> {
    let least = f64::from(least) / f64::from(length.max(1)) * (ends.end - ends.start);
    let mut kept: Vec<(f64, String)> = Vec::new();
    for (place, label) in ticks {
        if kept.last().is_none_or(|(last, _)| place - last >= least) {
            kept.push((place, label));
        }
    }
    kept
}

/// The step of labels that fit the width: 1, 2, 5, 10 and so on.
fn sparse(labels: &[String], width: u32) -> usize {
    let each = widest(labels) as usize;
    let least = (labels.len() * each).div_ceil((width as usize).max(each));
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
    labels: u32,
    x: Axis,
    y: Axis,
) -> Result<Chart<'a, B>, DrawingAreaErrorKind<B::ErrorType>> {
    write(panel, title, (labels.cast_signed(), 19), TEXT, INK)?;
    ChartBuilder::on(panel)
        .margin_top(ABOVE)
        .margin_right(GAP)
        .x_label_area_size(BELOW)
        .y_label_area_size(labels)
        .build_cartesian_2d(x, y)
}

/// The size of a panel between its axes.
fn inside<B: DrawingBackend>(panel: &Area<B>) -> (u32, u32) {
    let (width, height) = panel.dim_in_pixel();
    (width.saturating_sub(LABELS + GAP), height.saturating_sub(ABOVE + BELOW))
}

/// Its axes and grid.
fn mesh<B: DrawingBackend>(chart: &mut Chart<'_, B>, x: &str, y: &str) -> PlotResult<B> {
    chart
        .configure_mesh()
        .bold_line_style(GRID)
        .light_line_style(WHITE.mix(0.0))
        .axis_style(FAINT)
        .label_style(style(TICK, FAINT))
        .axis_desc_style(style(TICK, INK))
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
) -> PlotResult<B> {
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
    let corners: &[(i32, i32)] = match rank(strategy) % STRATEGY_COLOURS.len() {
        0 => &[(-near, -near), (near, -near), (near, near), (-near, near)],
        1 => &[(0, -r / 2), (r, 0), (0, r / 2), (-r, 0)],
        2 => &[(0, -r), (near, -near), (r, 0), (near, near), (0, r), (-near, near), (-r, 0), (-near, -near)],
        3 => &[(0, -r), (r, near), (-r, near)],
        4 => &[(0, -r), (r, 0), (0, r), (-r, 0)],
        5 => &[(0, r), (r, -near), (-r, -near)],
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
