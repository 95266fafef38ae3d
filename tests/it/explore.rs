//! Experiments: what the library finds, and `sudoku explore` as a user runs it.

use std::collections::BTreeSet;
use std::fs;
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::harness::session::Session;
use crate::harness::{SUDOKU, interrupt_after_first_line, stderr, stdout, succeeded};
use sudoku_stream::explore::{
    ClueList, Condition, Experiment, Failure, Figures, Job, NoCorrelation, Results, Settings, Source, Spread,
    pearson, quantile, spearman, usual_clues,
};
use sudoku_stream::grid::{Grid, Order};
use sudoku_stream::solver::{
    Limit, Propagation, Question, STRATEGIES, Search, Solver, Stop, Strategy, strategy,
};
use tempfile::TempDir;

static GO_ON: AtomicBool = AtomicBool::new(false);

fn order(side: usize) -> Order {
    Order::from_side(side).unwrap()
}

fn conditions(side: usize, clues: &[usize]) -> Vec<Condition> {
    clues.iter().map(|&clues| Condition { order: order(side), clues }).collect()
}

/// The strategies that `sudoku explore` compares if none is named.
fn by_default() -> impl Iterator<Item = &'static dyn Strategy> {
    STRATEGIES.iter().copied().filter(|strategy| strategy.is_for_comparison())
}

/// Every strategy on 20 boards of each kind.
fn settings() -> Settings {
    Settings {
        source: Source::Random,
        boards: 20,
        strategies: STRATEGIES.to_vec(),
        question: Question::First,
        node_limit: 2_000,
        measure: false,
        seed: 7,
    }
}

fn experiment(conditions: Vec<Condition>, settings: Settings) -> Arc<Experiment> {
    Arc::new(Experiment::new(conditions, settings).unwrap())
}

/// Does all jobs, with a clock that goes on by a microsecond whenever it is looked at.
fn run(experiment: &Arc<Experiment>, arrange: impl FnOnce(&mut Vec<Job>)) -> Result<Results, Failure> {
    let mut jobs: Vec<Job> = Arc::clone(experiment).jobs().collect();
    let searches: u64 = jobs.iter().map(Job::searches).sum();
    assert_eq!(searches, experiment.searches());
    arrange(&mut jobs);
    let ticks = AtomicU64::new(0);
    let clock = || 1_000 * ticks.fetch_add(1, Ordering::Relaxed);
    let mut results = Results::new(Arc::clone(experiment));
    for job in &jobs {
        results.add(experiment.run(job, &GO_ON, clock)?)?;
    }
    Ok(results)
}

/// The figures of every kind of board and strategy.
fn figures(results: &Results) -> Vec<Option<Figures>> {
    let strategies = results.experiment().settings().strategies.len();
    let conditions = 0..results.experiment().conditions().len();
    conditions.flat_map(|c| (0..strategies).map(move |s| results.figures(c, s))).collect()
}

#[test]
fn a_seed_gives_the_same_figures_in_whatever_order_jobs_are_done() {
    let kinds = || [conditions(4, &[0, 5, 9]), conditions(9, &[10, 22, 40])].concat();
    let first = run(&experiment(kinds(), settings()), |_| ()).unwrap();
    let reversed = run(&experiment(kinds(), settings()), |jobs| jobs.reverse()).unwrap();
    let (mut one, mut two) = (figures(&first), figures(&reversed));
    // The boards that are searched together share their time, and so much for the clock of the other runs.
    for figures in one.iter_mut().chain(&mut two).flatten() {
        assert!(figures.time_ns.max <= 1_000);
        figures.time_ns = Spread::default();
    }
    for (index, (one, two)) in one.iter().zip(&two).enumerate() {
        assert_eq!(one, two, "figures {index}");
    }
    let other = run(&experiment(kinds(), Settings { seed: 8, ..settings() }), |_| ()).unwrap();
    assert_ne!(figures(&first), figures(&other));
    for (side, strategy) in [(4, 2), (9, 0), (9, 6)] {
        let (a, b) = (first.correlation(order(side), strategy), reversed.correlation(order(side), strategy));
        assert_eq!((a.n, a.gave_up), (b.n, b.gave_up));
        assert_eq!(a.n, 60);
    }
}

#[test]
fn outcomes_add_up_to_all_boards() {
    for question in [Question::First, Question::Unique] {
        let kinds = conditions(9, &[0, 17, 22, 26, 35]);
        let results = run(&experiment(kinds, Settings { question, ..settings() }), |_| ()).unwrap();
        let (mut several, mut given_up) = (0, 0);
        for figures in figures(&results).into_iter().flatten() {
            let counts = [figures.solved, figures.several, figures.no_solution, figures.gave_up];
            assert_eq!(figures.boards, 20);
            assert_eq!(counts.iter().sum::<u64>(), 20);
            let shares: f64 = counts.iter().map(|&count| figures.share(count)).sum();
            assert!((shares - 1.0).abs() < 1e-12);
            assert!(figures.nodes.median <= figures.nodes.p90);
            assert!(figures.nodes.p90 <= figures.nodes.max as f64);
            assert!(figures.nodes.max <= 2_000);
            several += figures.several;
            given_up += figures.gave_up;
        }
        assert_eq!(several > 0, question == Question::Unique);
        // Plain backtracking does not come to an end so soon.
        assert!(given_up > 0);
    }
}

#[test]
fn an_empty_board_is_always_solved_and_a_full_one_costs_nothing() {
    for side in [1, 4, 9, 16, 25] {
        let strategies = vec![&Propagation as &dyn Strategy];
        let kinds = conditions(side, &[0]);
        let results =
            run(&experiment(kinds, Settings { strategies, boards: 2, ..settings() }), |_| ()).unwrap();
        assert_eq!(results.figures(0, 0).unwrap().solved, 2, "{side}");
    }
    let results = run(&experiment(conditions(4, &[0, 16]), settings()), |_| ()).unwrap();
    for (index, strategy) in STRATEGIES.iter().enumerate() {
        let [empty, full] = [0, 1].map(|condition| results.figures(condition, index));
        assert_eq!(empty.is_some(), strategy.supports(order(4)));
        let (Some(empty), Some(full)) = (empty, full) else { continue };
        assert_eq!((empty.solved, full.solved), (20, 20), "{}", strategy.name());
        assert!(full.nodes.max <= 1 && full.backtracks.max == 0, "{}: {full:?}", strategy.name());
    }
}

#[test]
fn what_cannot_be_made_is_counted() {
    // So many random values never keep the rules in so few attempts.
    let results = run(&experiment(conditions(9, &[3, 81]), settings()), |_| ()).unwrap();
    assert_eq!((results.unmade(0), results.unmade(1)), (0, 20));
    assert!(results.figures(0, 0).is_some());
    assert_eq!(results.figures(1, 0), None);
    assert_eq!(results.correlation(Order::NINE, 1).n, 20);
    assert!(Experiment::new(conditions(9, &[82]), settings()).is_err());
}

#[test]
fn puzzles_have_one_solution() {
    let wanted =
        Settings { source: Source::Puzzles, question: Question::Unique, node_limit: 100_000, ..settings() };
    let results = run(&experiment(conditions(4, &[5, 8]), wanted.clone()), |_| ()).unwrap();
    assert!(figures(&results).iter().flatten().all(|figures| figures.solved == 20));
    assert!(Experiment::new(conditions(9, &[16]), wanted).is_err());
}

#[test]
fn steps_are_counted_where_they_are_asked_for() {
    let strategies = ["backtracking", "fast"].map(|name| strategy(name).unwrap()).to_vec();
    let wanted = Settings { measure: true, strategies, ..settings() };
    let results = run(&experiment(conditions(9, &[5]), wanted.clone()), |_| ()).unwrap();
    let counted = results.figures(0, 0).unwrap();
    let (comparisons, placements) = (counted.comparisons.unwrap(), counted.placements.unwrap());
    // A digit is compared before it is placed, and 76 cells are blank.
    assert!(comparisons.median >= placements.median && placements.median >= 76.0);
    assert_eq!(results.figures(0, 1).unwrap().comparisons, None);
    let unmeasured = Settings { measure: false, ..wanted };
    let results = run(&experiment(conditions(9, &[5]), unmeasured), |_| ()).unwrap();
    let plain = results.figures(0, 0).unwrap();
    assert_eq!(plain.placements, None);
    assert_eq!((plain.nodes, plain.backtracks), (counted.nodes, counted.backtracks));
}

#[test]
fn a_search_without_nodes_is_given_up() {
    let strategies = vec![strategy("backtracking").unwrap()];
    let wanted = Settings { node_limit: 1, strategies, ..settings() };
    let results = run(&experiment(conditions(9, &[5, 10]), wanted), |_| ()).unwrap();
    assert_eq!(results.figures(0, 0).unwrap().gave_up, 20);
    assert_eq!(results.correlation(Order::NINE, 0).gave_up, 40);
}

#[test]
fn a_raised_flag_ends_a_job() {
    let experiment = experiment(conditions(9, &[20]), settings());
    for job in Arc::clone(&experiment).jobs() {
        assert_eq!(experiment.run(&job, &AtomicBool::new(true), || 0), Err(Failure::Cancelled));
    }
}

/// Says that there is no solution, or has a wrong one.
struct Liar {
    has_solution: bool,
}

impl Strategy for Liar {
    fn name(&self) -> &'static str {
        "liar"
    }

    fn summary(&self) -> &'static str {
        "is wrong"
    }

    fn solver(&self, _: Order) -> Box<dyn Solver> {
        Box::new(Self { ..*self })
    }
}

impl Solver for Liar {
    fn search(&mut self, _: &Grid, _: &Limit<'_>, solution: &mut Grid) -> Search {
        solution.digits_mut().fill(1);
        let found = Search { solutions: 1, stop: Stop::Solutions, ..Search::NO_SOLUTION };
        if self.has_solution { found } else { Search::NO_SOLUTION }
    }
}

#[test]
fn a_wrong_strategy_is_found_out() {
    for (liar, part) in [
        (&Liar { has_solution: true }, "liar got the wrong solution of Grid(9x9"),
        (
            &Liar { has_solution: false },
            "liar says NoSolution of 9x9 board 0 with 0 clues, and propagation Solved",
        ),
    ] {
        let strategies = vec![&Propagation as &dyn Strategy, liar];
        let experiment = experiment(conditions(9, &[0]), Settings { strategies, ..settings() });
        let Err(Failure::Wrong(what)) = run(&experiment, |_| ()) else { panic!("not found out") };
        assert!(what.contains(part), "{what}");
    }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-9
}

#[test]
fn quantiles_lie_on_the_line_between_values() {
    assert_eq!(quantile(&[], 0.5), None);
    for (values, share, expected) in [
        (&[7][..], 0.9, 7.0),
        (&[1, 2, 3, 4], 0.5, 2.5),
        (&[1, 2, 3, 4], 0.9, 3.7),
        (&[1, 2, 3, 4], 0.0, 1.0),
        (&[1, 2, 3, 4], 1.0, 4.0),
        (&[0, 10, 100], 0.5, 10.0),
        (&[0, 10, 100], 0.75, 55.0),
    ] {
        assert!(near(quantile(values, share).unwrap(), expected), "{values:?} {share}");
    }
    let spread = Spread::of(vec![4, 1, 3, 2, 10]);
    assert!(near(spread.median, 3.0) && near(spread.mean, 4.0) && near(spread.p90, 7.6));
    assert_eq!(spread.max, 10);
    assert_eq!(Spread::of(Vec::new()), Spread::default());
}

#[test]
fn correlations_are_those_computed_by_hand() {
    // Deviations -1.5 -0.5 0.5 1.5 and -1.75 0.25 -0.75 2.25: 5.5 / sqrt(5 * 8.75). Ranks 1 2 3 4 and 1 3 2 4.
    let four = [(1.0, 1.0), (2.0, 3.0), (3.0, 2.0), (4.0, 5.0)];
    assert!(near(pearson(&four).unwrap(), 5.5 / 43.75f64.sqrt()));
    assert!(near(spearman(&four).unwrap(), 0.8));
    // Equal values share the ranks 1.5 and 3.5.
    let ties = [(1.0, 10.0), (1.0, 20.0), (2.0, 30.0), (2.0, 400.0)];
    assert!(near(spearman(&ties).unwrap(), 4.0 / 20f64.sqrt()));
    let falling: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 1e6 / 10f64.powi(x))).collect();
    assert!(near(spearman(&falling).unwrap(), -1.0));
    assert!(pearson(&falling).unwrap() > -0.6);
    let line: Vec<(f64, f64)> = (0..10).map(|x| (f64::from(x), 3.0 - 2.0 * f64::from(x))).collect();
    assert!(near(pearson(&line).unwrap(), -1.0));

    for correlation in [pearson, spearman] {
        assert_eq!(correlation(&[]), Err(NoCorrelation::TooFew));
        assert_eq!(correlation(&[(1.0, 2.0)]), Err(NoCorrelation::TooFew));
        assert_eq!(correlation(&[(0.1, 2.0), (0.1, 3.0)]), Err(NoCorrelation::FirstIsConstant));
        assert_eq!(correlation(&[(0.1, 0.3), (0.2, 0.3)]), Err(NoCorrelation::SecondIsConstant));
    }
}

#[test]
fn clue_lists_are_numbers_ranges_and_shares() {
    for (text, side, expected) in [
        ("10", 9, vec![10]),
        ("40,10, 20,10", 9, vec![10, 20, 40]),
        ("0..4", 9, vec![0, 1, 2, 3, 4]),
        ("0..=4", 9, vec![0, 1, 2, 3, 4]),
        ("0..12:5,11", 9, vec![0, 5, 10, 11]),
        ("7..7", 4, vec![7]),
        ("0%..50%:25%", 4, vec![0, 4, 8]),
        ("50%", 9, vec![41]),
        ("100%", 16, vec![256]),
        ("1%..3%", 4, vec![0]),
    ] {
        let list: ClueList = text.parse().unwrap();
        assert_eq!(list.of(order(side)), expected, "{text}");
        assert_eq!(list.is_relative(), text.contains('%'), "{text}");
    }
    assert!(!"5%,6".parse::<ClueList>().unwrap().is_relative());
    let no_count = |item: &str| {
        format!(
            "`{item}` is no clue count. Use numbers and ranges, as in 10,20,30 or 0..40:5, or shares of the cells, \
             as in 0%..50%:10%."
        )
    };
    for (text, sentence) in [
        ("", no_count("")),
        ("ten", no_count("ten")),
        ("1,,2", no_count("")),
        ("-3", no_count("-3")),
        ("3..", no_count("3..")),
        ("..3", no_count("..3")),
        ("1..5:", no_count("1..5:")),
        ("9..4", "`9..4` has its end before its beginning.".to_owned()),
        ("0..9:0", "`0..9:0` has a step of 0.".to_owned()),
        ("0..50%", "`0..50%` mixes numbers and shares of the cells.".to_owned()),
        ("0..50:5%", "`0..50:5%` mixes numbers and shares of the cells.".to_owned()),
        ("626", "`626` is more than there are cells.".to_owned()),
        ("101%", "`101%` is more than there are cells.".to_owned()),
        ("99999999999999999999", "`99999999999999999999` is more than there are cells.".to_owned()),
    ] {
        assert_eq!(text.parse::<ClueList>().unwrap_err().to_string(), sentence, "{text}");
    }
}

#[test]
fn usual_clues_are_the_same_shares_of_every_size() {
    assert_eq!(usual_clues(Source::Random, Order::NINE), [0, 5, 10, 15, 20, 25, 30, 35, 40]);
    assert_eq!(usual_clues(Source::Random, order(4)), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert_eq!(usual_clues(Source::Random, order(16)), [0, 16, 32, 47, 63, 79, 95, 111, 126]);
    assert_eq!(usual_clues(Source::Random, order(1)), [0]);
    assert_eq!(usual_clues(Source::Puzzles, Order::NINE), [25, 30, 35, 40]);
}

fn sudoku(args: &[&str]) -> Command {
    let mut command = Command::new(SUDOKU);
    command.arg("explore").args(args).stdin(Stdio::null());
    command
}

fn explore(args: &[&str]) -> Output {
    sudoku(args).output().unwrap()
}

/// The rows of a CSV, each as wide as its heading.
fn rows(text: &str) -> (Vec<&str>, Vec<Vec<&str>>) {
    let mut lines = text.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heading = lines.next().unwrap();
    let rows: Vec<_> = lines.collect();
    assert!(rows.iter().all(|row| row.len() == heading.len()), "{text}");
    (heading, rows)
}

#[test]
fn the_table_has_every_strategy_and_the_correlations() {
    let output = explore(&["--clues", "0,20,40", "--boards", "10", "--node-limit", "2000", "--quiet"]);
    succeeded(&output);
    assert_eq!(stderr(&output), "");
    let page = stdout(&output);
    assert!(page.starts_with("9x9 boards of random values, 10 for each clue count, seed "), "{page}");
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    for strategy in by_default() {
        let table = page.split(&format!("\n9x9, {}\n", strategy.name())).nth(1).unwrap();
        let clues: Vec<&str> =
            table.lines().skip(2).take(3).map(|row| row.split_whitespace().next().unwrap()).collect();
        assert_eq!(clues, ["0", "20", "40"], "{page}");
        let correlation = page.lines().rfind(|line| line.contains(strategy.name())).unwrap();
        let words: Vec<&str> = correlation.split_whitespace().collect();
        assert_eq!(words[..3], ["9x9", strategy.name(), "30"], "{page}");
    }
    // A seed that was not chosen is shown, and gives the same again.
    let seed = page.lines().next().unwrap().rsplit(' ').next().unwrap();
    let again = ["--clues", "0,20,40", "--boards", "10", "--node-limit", "2000", "--seed", seed, "--csv"];
    let (first, second) = (explore(&again), explore(&again));
    succeeded(&first);
    assert_eq!(without_times(&stdout(&first)), without_times(&stdout(&second)));
}

/// The rows of the table with this title below its heading.
fn table<'a>(page: &'a str, title: &str) -> Vec<Vec<&'a str>> {
    let (_, table) = page.split_once(&format!("\n{title}\n")).unwrap_or_else(|| panic!("{title}: {page}"));
    let rows = table.lines().take_while(|line| !line.is_empty() && !line.starts_with(|c: char| c != ' '));
    let rows: Vec<Vec<&str>> = rows.map(|row| row.split_whitespace().collect()).collect();
    rows.into_iter().skip_while(|row| row[0].parse::<u64>().is_err()).collect()
}

#[test]
fn strategies_stand_side_by_side_for_each_metric() {
    let args = ["--clues", "0,20,40", "--boards", "10", "--node-limit", "500", "--seed", "3"];
    let page = stdout(&explore(&args));
    let csv = stdout(&explore(&[&args[..], &["--csv", "--steps"]].concat()));
    let (heading, figures) = rows(&csv);
    let titles = |page: &str| -> Vec<String> {
        page.lines().filter(|line| line.ends_with(", medians")).map(str::to_owned).collect()
    };
    assert_eq!(
        titles(&page),
        [
            "9x9, nodes of a search, medians",
            "9x9, backtracks of a search, medians",
            "9x9, time of a search in µs, medians"
        ]
    );
    let chosen =
        stdout(&explore(&[&args[..], &["--metric", "comparisons,guesses,depth,comparisons"]].concat()));
    assert_eq!(
        titles(&chosen),
        [
            "9x9, comparisons of a search, medians",
            "9x9, guesses of a search, medians",
            "9x9, depth of a search, medians"
        ]
    );
    assert!(chosen.contains("For fast, comparisons are not counted.\n"), "{chosen}");
    let names: Vec<&str> = by_default().map(Strategy::name).collect();
    let mut bounds = 0;
    for (page, metric) in [
        (&page, "nodes"),
        (&page, "backtracks"),
        (&chosen, "comparisons"),
        (&chosen, "guesses"),
        (&chosen, "depth"),
    ] {
        let table = table(page, &format!("9x9, {metric} of a search, medians"));
        assert_eq!(table.iter().map(|row| row[0]).collect::<Vec<_>>(), ["0", "20", "40"], "{page}");
        for row in &table {
            assert_eq!(row.len(), 1 + names.len(), "{page}");
            for (cell, name) in row[1..].iter().zip(&names) {
                let column = |name: &str| heading.iter().position(|&other| other == name).unwrap();
                let of_row = |other: &&Vec<&str>| other[column("clues")] == row[0] && other.contains(name);
                let figures = figures.iter().find(of_row).unwrap();
                let number = |name: &str| figures[column(name)].parse::<f64>().ok();
                let Some(median) = number(&format!("{metric}_median")) else {
                    assert_eq!((*cell, *name), ("-", "fast"));
                    continue;
                };
                // What was given up as often as not has a lower bound.
                let is_bound = 2.0 * number("gave_up").unwrap() >= number("boards").unwrap();
                assert_eq!(cell.starts_with('>'), is_bound, "{page}");
                bounds += usize::from(is_bound);
                let shown: f64 = cell.trim_start_matches('>').replace(',', "").parse().unwrap();
                assert!((shown - median).abs() <= 0.5, "{metric} {name} {cell} {median}");
            }
        }
    }
    assert!(bounds > 0, "nothing was given up");
    assert!(page.contains("`>`: "), "{page}");
    // The sign is explained where it is.
    let solved = stdout(&explore(&["--clues", "40,81", "--boards", "2", "--strategy", "propagation"]));
    assert!(
        !solved.contains('>') && !solved.contains("at least half") && !solved.contains("\n\n\n"),
        "{solved}"
    );

    let wrong = explore(&["--metric", "nodes,magic"]);
    assert_eq!(wrong.status.code(), Some(2));
    assert!(stderr(&wrong).contains("possible values: nodes, guesses"), "{}", stderr(&wrong));
}

#[test]
fn tables_fit_a_narrow_terminal() {
    for columns in [40, 80] {
        let mut command = Command::new(SUDOKU);
        command.args(["explore", "--clues", "0,20,40", "--boards", "5", "--node-limit", "500", "--quiet"]);
        let Some(mut terminal) = Session::run(&command, 200, columns) else { return };
        assert_eq!(terminal.wait().code(), Some(0));
        let page = terminal.text();
        assert_eq!(terminal.look(|screen| screen.wraps), 0, "{page}");
        for strategy in by_default() {
            assert!(page.contains(&format!("9x9, {}\n", strategy.name())), "{page}");
        }
        // Where a table is folded, the clue counts stand before each part.
        let (_, table) = page.split_once("medians\n").unwrap();
        let table: Vec<&str> = table.lines().take_while(|line| !line.is_empty()).collect();
        let counts = table.iter().filter(|line| line.trim_start().starts_with("20 ")).count();
        assert_eq!(counts, if columns == 40 { 3 } else { 1 }, "{page}");
    }
}

#[test]
fn what_does_not_vary_has_no_correlation() {
    let one = explore(&["--clues", "5", "--boards", "3", "--strategy", "dancing-links"]);
    assert!(stdout(&one).ends_with("none  none: one clue ratio only\n"), "{}", stdout(&one));
    let none = explore(&["--size", "4", "--clues", "0,16", "--boards", "3", "--strategy", "propagation"]);
    assert!(stdout(&none).ends_with("none  none: backtracks do not vary\n"), "{}", stdout(&none));
}

fn without_times(csv: &str) -> Vec<Vec<String>> {
    let (heading, rows) = rows(csv);
    let kept = |row: &Vec<&str>| {
        let fields = heading.iter().zip(row).filter(|(name, _)| !name.starts_with("time_us"));
        fields.map(|(_, field)| (*field).to_owned()).collect()
    };
    rows.iter().map(kept).collect()
}

#[test]
fn csv_is_the_same_on_any_number_of_threads() {
    let args =
        ["--size", "4,9", "--clues", "0%..50%:25%", "--boards", "30", "--node-limit", "1000", "--seed", "5"];
    let run = |more: &[&str]| {
        let output = explore(&[&args[..], &["--csv"], more].concat());
        succeeded(&output);
        stdout(&output)
    };
    let one = run(&["--threads", "1"]);
    assert_eq!(without_times(&one), without_times(&run(&["--threads", "2"])));
    assert_ne!(without_times(&one), without_times(&run(&["--question", "unique"])));

    let (heading, rows) = rows(&one);
    let names: BTreeSet<&str> = heading.iter().copied().collect();
    assert_eq!(names.len(), heading.len());
    let column =
        |name: &str| heading.iter().position(|&other| other == name).unwrap_or_else(|| panic!("{name}"));
    // One row for each strategy that supports the size, and 3 clue counts.
    let supported = |side| by_default().filter(|s| s.supports(order(side))).count();
    assert_eq!(rows.len(), 3 * (supported(4) + supported(9)));
    for row in &rows {
        let number = |name: &str| row[column(name)].parse::<f64>().unwrap();
        assert!(near(number("clue_ratio"), number("clues") / number("cells")) || number("clues") > 0.0);
        let parts = ["solved", "several", "no_solution", "gave_up"];
        assert!(near(parts.iter().map(|name| number(name)).sum(), 30.0));
        let shares: f64 = parts.iter().map(|name| number(&format!("{name}_share"))).sum();
        assert!((shares - 1.0).abs() < 1e-5);
        assert!(number("nodes_median") <= number("nodes_max"));
        assert!(number("time_us_median") > 0.0);
        assert_eq!(row[column("comparisons_median")], "");
        assert_eq!((row[column("seed")], row[column("question")]), ("5", "first"));
    }
}

#[test]
fn several_sizes_show_how_cost_grows() {
    let args =
        ["--size", "4,9", "--boards", "5", "--strategy", "propagation", "--strategy", "fast", "--seed", "1"];
    let output = explore(&args);
    succeeded(&output);
    let page = stdout(&output);
    assert!(page.lines().all(|line| line.chars().count() <= 80), "{page}");
    let (_, growth) = page.split_once("How cost grows with the size").unwrap();
    let row = |words: &[&str]| {
        growth.lines().any(|line| line.split_whitespace().collect::<Vec<_>>().starts_with(words))
    };
    assert!(row(&["propagation", "4x4", "16", "45"]) && row(&["propagation", "9x9", "81", "45"]), "{page}");
    assert!(row(&["fast", "9x9", "81", "45"]) && !row(&["fast", "4x4"]), "{page}");
    let by_order = explore(&[&["--order", "2,3"], &args[2..]].concat());
    assert_eq!(stdout(&by_order).lines().next(), page.lines().next());
}

/// A text of an SVG, with the box that it covers.
struct Label {
    text: String,
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// The texts of an SVG that plotters wrote.
fn labels(svg: &str) -> Vec<Label> {
    let parts = svg.split("<text ").skip(1);
    let label = |part: &str| {
        let (tag, rest) = part.split_once('>').unwrap();
        let text = rest.split("</text>").next().unwrap().trim().to_owned();
        let field = |name: &str| tag.split(&format!(" {name}=\"")).nth(1)?.split('"').next();
        let tag = format!(" {tag}");
        let number = |name: &str| -> f64 {
            let field = tag.split(&format!(" {name}=\"")).nth(1).unwrap().split('"').next().unwrap();
            field.parse().unwrap()
        };
        let (x, y, size) = (number("x"), number("y"), number("font-size"));
        // Letters of the font are 0.52 em wide on average at least, and 0.75 em high.
        let (width, height) = (0.52 * size * text.chars().count() as f64, 0.75 * size);
        let left = match field("text-anchor") {
            Some("middle") => -width / 2.0,
            Some("end") => -width,
            _ => 0.0,
        };
        // The lines that it is placed by.
        let middle = match field("dy") {
            Some("0.76em") => height / 2.0,
            Some("0.5ex") => 0.0,
            _ => -height / 2.0,
        };
        if tag.contains("rotate(270") {
            return Label {
                text,
                left: x - height,
                right: x + height,
                top: y - width / 2.0,
                bottom: y + width / 2.0,
            };
        }
        let (left, top) = (x + left, y + middle - height / 2.0);
        Label { text, left, right: left + width, top, bottom: top + height }
    };
    parts.map(label).filter(|label| !label.text.is_empty()).collect()
}

#[track_caller]
fn assert_labels_are_apart(svg: &str) {
    let labels = labels(svg);
    assert!(labels.len() > 20, "{}", labels.len());
    for (index, one) in labels.iter().enumerate() {
        assert!(one.left >= 0.0 && one.right <= 1040.0, "{} leaves the picture", one.text);
        for other in &labels[index + 1..] {
            let is_beside = one.right <= other.left || other.right <= one.left;
            let is_above = one.bottom <= other.top || other.bottom <= one.top;
            assert!(is_beside || is_above, "{:?} is written over {:?}", one.text, other.text);
        }
    }
}

#[test]
fn a_plot_says_what_is_not_counted() {
    let folder = TempDir::new().unwrap();
    let plot = folder.path().join("plot.svg");
    let args = ["--clues", "60", "--boards", "2", "--metric", "comparisons", "--strategy", "fast"];
    let output = explore(&[&args[..], &["--plot", plot.to_str().unwrap()]].concat());
    succeeded(&output);
    for text in [stdout(&output), fs::read_to_string(&plot).unwrap()] {
        assert!(text.contains("For fast, comparisons are not counted."), "{text}");
    }
}

#[test]
fn curves_that_coincide_are_named_and_drawn_by_turns() {
    let folder = TempDir::new().unwrap();
    let plot = folder.path().join("plot.svg");
    let strategies = ["--strategy", "recursive", "--strategy", "backtracking"];
    let args =
        ["--clues", "30,35,40", "--boards", "5", "--metric", "nodes,depth", "--plot", plot.to_str().unwrap()];
    succeeded(&explore(&[&args[..], &strategies].concat()));
    let svg = fs::read_to_string(&plot).unwrap();
    assert!(svg.contains("in dashes by turns: recursive and backtracking (nodes and depth)"), "{svg}");
    // Both colours are on every part of the curves, beside the line of the legend.
    let lines = |colour: &str| {
        let lines =
            svg.lines().filter(|line| line.starts_with("<polyline ") && line.contains("stroke-width=\"2\""));
        lines.filter(|line| line.contains(colour)).count()
    };
    assert!(lines("#E69F00") > 10 && lines("#5A5A5A") > 10, "{} {}", lines("#E69F00"), lines("#5A5A5A"));
    assert_labels_are_apart(&svg);
    for absent in ["backtracks", "time"] {
        assert!(!svg.lines().any(|line| line.trim() == absent), "{absent}");
    }
}

#[test]
fn plots_are_drawn() {
    let folder = TempDir::new().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let args = ["--boards", "5", "--node-limit", "1000", "--seed", "12"];
    for sizes in
        [&["--clues", "10,20,30,40"][..], &["--size", "4,9", "--question", "unique"], &["--clues", "81"]]
    {
        let (svg, png) = (path("plot.svg"), path("plot.PNG"));
        succeeded(&explore(&[&args[..], sizes, &["--plot", &svg]].concat()));
        let text = fs::read_to_string(&svg).unwrap();
        assert!(text.starts_with("<svg ") && text.trim_end().ends_with("</svg>"), "{sizes:?}");
        assert_eq!(text.matches("<text ").count(), text.matches("</text>").count());
        assert!(!text.contains("NaN") && !text.contains("inf"), "{sizes:?}");
        let labels: Vec<&str> = text.lines().map(str::trim).collect();
        for strategy in by_default() {
            assert!(labels.contains(&strategy.name()), "{sizes:?}: {}", strategy.name());
        }
        for label in ["solved", "no solution", "given up", "clues of 81 cells", "nodes", "backtracks", "time"]
        {
            assert!(labels.contains(&label), "{sizes:?}: {label}");
        }
        assert_eq!(labels.contains(&"several solutions"), sizes.contains(&"unique"));
        let words =
            labels.iter().filter(|line| !line.starts_with('<')).copied().collect::<Vec<_>>().join(" ");
        assert!(words.contains("seed 12") && words.contains("1,000 nodes"), "{words}");
        // Times are of a machine.
        assert!(words.contains(" core") && words.contains(" thread") && words.contains("Times: "), "{words}");
        assert_labels_are_apart(&text);

        // One is painted as well, which takes a while without optimisation.
        if !sizes.contains(&"4,9") {
            continue;
        }
        fs::write(&png, "what stood there before").unwrap();
        succeeded(&explore(&[&args[..], sizes, &["--plot", &png]].concat()));
        // Twice as large, and the same but for the times.
        let mut reader =
            png::Decoder::new(std::io::Cursor::new(fs::read(&png).unwrap())).read_info().unwrap();
        let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
        let info = reader.next_frame(&mut pixels).unwrap();
        let size = format!("width=\"{}\" height=\"{}\"", info.width / 2, info.height / 2);
        assert!(text.contains(&size), "{size}");
        assert_eq!(info.width, 2080);
        // There are letters in the title, and nothing in the margin beside it.
        let dark = |columns: std::ops::Range<usize>| {
            let is_dark = |&(x, y): &(usize, usize)| pixels[(y * 2080 + x) * 3] < 128;
            (40..80).flat_map(|y| columns.clone().map(move |x| (x, y))).filter(is_dark).count()
        };
        assert!(dark(48..600) > 500, "{sizes:?}: {}", dark(48..600));
        assert_eq!(dark(0..46), 0, "{sizes:?}");
    }
    // What stood there before is replaced, and nothing else is left.
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
}

#[test]
fn a_plot_is_named_when_it_is_written() {
    let folder = TempDir::new().unwrap();
    let plot = folder.path().join("plot.svg");
    let plot = plot.to_str().unwrap();
    let args = ["--size", "4", "--clues", "8", "--boards", "2", "--csv", "--plot", plot];
    let output = explore(&args);
    succeeded(&output);
    assert_eq!(stderr(&output), format!("The plot is in {plot}.\n"));
    let quiet = explore(&[&args[..], &["--quiet"]].concat());
    succeeded(&quiet);
    assert_eq!(stderr(&quiet), "");
}

/// Boards without a blank take `recursive` no node, and `propagation` one.
#[test]
fn counts_of_0_are_drawn_at_a_tick_of_0() {
    let folder = TempDir::new().unwrap();
    let plot = folder.path().join("plot.svg");
    let args = ["--size", "4", "--clues", "16", "--boards", "3", "--plot", plot.to_str().unwrap()];
    for (strategy, metric, ticks) in [
        ("recursive", "nodes", ["0", "1"]),
        ("recursive", "placements", ["0", "1"]),
        ("propagation", "nodes", ["1", "2"]),
    ] {
        succeeded(&explore(&[&args[..], &["--strategy", strategy, "--metric", metric]].concat()));
        let labels = labels(&fs::read_to_string(&plot).unwrap());
        let mut numbers: Vec<&Label> = labels.iter().filter(|label| label.text.len() == 1).collect();
        numbers.sort_by(|a, b| b.bottom.total_cmp(&a.bottom));
        // From the bottom up.
        let texts: Vec<&str> = numbers.iter().map(|label| label.text.as_str()).collect();
        assert_eq!(texts, ticks, "{strategy} {metric}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_with_a_sentence() {
    let folder = TempDir::new().unwrap();
    let pdf = folder.path().join("plot.pdf");
    let lost = folder.path().join("no/folder/plot.svg");
    let (pdf, lost) = (pdf.to_str().unwrap(), lost.to_str().unwrap());
    for (args, part) in [
        (&["--plot", pdf][..], format!("{pdf}: A plot is an .svg or a .png file.\n")),
        (&["--plot", lost], format!("{lost}: there is no folder {}/no/folder.", folder.path().display())),
        (&["--clues", "90"], "A 9x9 puzzle has 81 cells, so it cannot have 90 clues.\n".to_owned()),
        (&["--clues", "9..4"], "`9..4` has its end before its beginning.".to_owned()),
        (
            &["--clues", "5,10", "--size", "4,9"],
            "With several sizes the clues have to be shares of the cells, as in `--clues 0%..50%:10%`.\n"
                .to_owned(),
        ),
        (
            &["--size", "4", "--strategy", "fast"],
            "The strategy fast does not solve 4x4 puzzles. Name another.\n".to_owned(),
        ),
        (
            &["--clues", "10", "--boards-from", "puzzles"],
            "No 9x9 puzzle with fewer than 17 clues has a single solution.\n".to_owned(),
        ),
        (&["--size", "6"], "a side is 1, 4, 9, 16 or 25".to_owned()),
        (&["--order", "9"], "an order is 1, 2, 3, 4 or 5".to_owned()),
        (&["--boards", "0"], "give a whole number from 1 to 100000".to_owned()),
        (&["--strategy", "magic"], "possible values: fast".to_owned()),
    ] {
        let output = explore(args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(stderr(&output).contains(&part), "{args:?}: {}", stderr(&output));
        assert!(output.stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn an_interrupt_leaves_no_plot() {
    let folder = TempDir::new().unwrap();
    let plot = folder.path().join("plot.svg");
    let endless =
        ["--clues", "25", "--boards", "100000", "--strategy", "backtracking", "--node-limit", "1000000000"];
    let mut child = sudoku(&[&endless[..], &["--plot", plot.to_str().unwrap()]].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let page = interrupt_after_first_line(&mut child);
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).starts_with("Interrupted. Stopped after "), "{}", stderr(&output));
    assert!(stderr(&output).ends_with("plot.svg was not written.\n"), "{}", stderr(&output));
    assert!(!page.contains("Pearson"), "{page}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
}
