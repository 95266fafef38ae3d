//! Measures the tables of `docs/performance.md` and writes them between its markers: `just figures`,
//! or `just figures FOLDER` with the programs of FOLDER, named like their profile, instead of a
//! build of `dist`. Takes some minutes, and a machine with nothing else to do.
//!
//! ```text
//! SUDOKU_LISTS     folder of 9x9 lists, *.txt [default: the sample that is part of the program]
//! FIGURES_REPEATS  runs of each list and pairs of each command [default: 25]
//! FIGURES_FILE     file to write to [default: docs/performance.md]
//! ```

use std::cmp::Ordering;
use std::error::Error;
use std::fs;
use std::io::{self, BufRead as _, BufReader};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::time::{Duration, Instant};
use std::{env, thread};

use tempfile::TempDir;

const BEGIN: &str = "<!-- figures: begin -->";
const END: &str = "<!-- figures: end -->";

/// The runs of `dancing-links`, which takes long.
const LINKS_REPEATS: &str = "3";

/// The puzzles of a list that whole processes read, at least.
const PROCESS_PUZZLES: usize = 500_000;

const BENCH_HEADING: &str = "\
| list | puzzles | `fast`, puzzles a second | best run | nodes a puzzle | times `propagation` | `dancing-links` | other back ends |
|---|---|---|---|---|---|---|---|
";

const PROCESS_HEADING: &str = "\
| what | command | time | puzzles a second | times |
|---|---|---|---|---|
";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn run() -> Result<()> {
    let variable = |name| env::var(name).ok().filter(|value| !value.is_empty());
    let folder = variable("SUDOKU_LISTS").map(fs::canonicalize).transpose()?;
    env::set_current_dir(env!("CARGO_MANIFEST_DIR"))?;
    let repeats = match variable("FIGURES_REPEATS") {
        Some(repeats) => repeats.parse::<NonZeroUsize>()?.get(),
        None => 25,
    };
    let file = variable("FIGURES_FILE").unwrap_or_else(|| "docs/performance.md".to_owned());
    if parts(&fs::read_to_string(&file)?).is_none() {
        return Err(format!("{file} has no markers: {BEGIN} and {END}").into());
    }
    let programs = match env::args_os().nth(1) {
        Some(programs) => PathBuf::from(programs),
        None => {
            let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
            done(Command::new(cargo).args(["build", "--profile", "dist", "--locked", "--bins"]))?;
            PathBuf::from("target/dist")
        }
    };
    report_load();
    let bench = Bench { programs, repeats, work: tempfile::tempdir()? };
    let tables = bench.tables(folder.as_deref())?;
    // What was written in the meantime is kept.
    let text = fs::read_to_string(&file)?;
    let (before, behind) = parts(&text).ok_or("the markers have gone")?;
    fs::write(&file, format!("{before}\n{tables}\n{behind}"))?;
    eprintln!("{file} is written");
    Ok(())
}

/// The text up to the first marker and from the second on, each with its marker.
fn parts(text: &str) -> Option<(&str, &str)> {
    let line = |marker: &str| {
        let mut at = 0;
        text.split_inclusive('\n').find_map(|line| {
            let begin = at;
            at += line.len();
            (line.strip_suffix('\n').unwrap_or(line) == marker).then_some(begin..at)
        })
    };
    Some((&text[..line(BEGIN)?.end], &text[line(END)?.start..]))
}

/// Says if the machine has something else to do.
fn report_load() {
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load = load.split('.').next().unwrap_or_default();
    if !load.is_empty() && load != "0" {
        eprintln!("the machine is busy (load {load}): figures will be too low");
    }
}

/// Runs a command to its end, with its output beside that of this program.
fn done(command: &mut Command) -> Result<()> {
    let status = command.stdout(io::stderr()).status()?;
    if status.success() { Ok(()) } else { Err(format!("{command:?} failed: {status}").into()) }
}

/// The standard output of a command that succeeds.
fn output_of(command: &mut Command) -> Result<String> {
    let output = command.stdin(Stdio::null()).output()?;
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

/// The time of a command that succeeds, from start to end.
fn time(command: &mut Command) -> Result<Duration> {
    let begin = Instant::now();
    let output = command.stdin(Stdio::null()).stdout(Stdio::null()).output()?;
    let time = begin.elapsed();
    if !output.status.success() {
        return Err(format!("{command:?} failed: {}", String::from_utf8_lossy(&output.stderr)).into());
    }
    Ok(time)
}

/// The median; `None` if there are no numbers.
fn median<T: PartialOrd + Copy>(mut numbers: Vec<T>) -> Option<T> {
    numbers.sort_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal));
    numbers.get(numbers.len() / 2).copied()
}

/// A whole number with a comma for every three digits.
fn thousands(number: u128) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A whole number to three digits.
fn three_digits(number: u128) -> String {
    let power = 10u128.pow(number.checked_ilog10().unwrap_or(0).saturating_sub(2));
    thousands((number + power / 2) / power * power)
}

/// A rate as `sudoku bench` prints it.
fn rate(text: &str) -> Result<f64> {
    Ok(text.replace(',', "").parse()?)
}

/// The name of a file, without its folders.
fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// A server, until it is dropped.
struct Server {
    process: Child,
    address: String,
}

impl Server {
    fn start(programs: &Path) -> Result<Self> {
        let mut process = Command::new(programs.join("sudokud"))
            .args(["--listen", "127.0.0.1:0"])
            .stdin(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()?;
        let mut log = BufReader::new(process.stderr.take().ok_or("the server has no standard error")?);
        let mut server = Self { process, address: String::new() };
        let mut said = String::new();
        while log.read_line(&mut said)? > 0 {
            if let Some((_, address)) = said.trim_end().rsplit_once("listening on ") {
                address.clone_into(&mut server.address);
                // A pipe that nobody reads would hold the server up.
                thread::spawn(move || io::copy(&mut log, &mut io::sink()));
                return Ok(server);
            }
        }
        Err(format!("the server has ended: {said}").into())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A row of the table of processes.
struct Process<'a> {
    what: String,
    /// The command as it is shown.
    shown: &'a str,
    /// The puzzles that it takes, if they are to be counted.
    puzzles: Option<u128>,
    command: Command,
    /// What it is compared with, in turns.
    other: Option<Command>,
}

/// What is measured, and how.
struct Bench {
    programs: PathBuf,
    repeats: usize,
    work: TempDir,
}

impl Bench {
    fn sudoku<'a>(&self, args: impl IntoIterator<Item = &'a str>) -> Command {
        let mut command = Command::new(self.programs.join("sudoku"));
        command.args(args);
        command
    }

    /// A file of this run.
    fn file(&self, name: &str) -> String {
        self.work.path().join(name).display().to_string()
    }

    /// All that is written between the markers.
    fn tables(&self, folder: Option<&Path>) -> Result<String> {
        let lists = self.lists(folder)?;
        eprintln!("timing {} lists", lists.len());
        let (bench, links) = self.bench(&lists)?;
        let version = output_of(&mut self.sudoku(["--version"]))?;
        let line =
            |begin: &str| version.lines().find_map(|line| line.strip_prefix(begin)).unwrap_or_default();
        let compiler: String =
            line("compiler: rustc ").chars().take_while(|&c| c == '.' || c.is_ascii_digit()).collect();
        let folder = self.programs.file_name().unwrap_or_default().to_string_lossy();
        let profile = if folder == "debug" { "dev" } else { &*folder };
        let machine = bench.lines().next().unwrap_or_default();
        let machine = machine.split_once(", best back end").map_or(machine, |(machine, _)| machine);
        let repeats = self.repeats;
        Ok(format!(
            "Measured on {} at commit {}, {profile} profile, by `just figures`, on {machine}, {}, rustc {compiler}.\n\
             Medians of {repeats} runs after a warm-up; `dancing-links` of {LINKS_REPEATS}.\n\n\
             Uniqueness proven, one core, text in memory to text in memory:\n\
             `sudoku bench LIST... --kind text --repeats {repeats} --strategy fast --strategy propagation`.\n\n\
             {}\n\
             Whole processes, start to end. \"times\" is the median of the ratios of pairs, taken in turns.\n\n\
             {}",
            output_of(Command::new("date").args(["-u", "+%F"]))?.trim_end(),
            line("commit: "),
            output_of(Command::new("uname").args(["-s", "-m"]))?.trim_end(),
            bench_table(&bench, &links, lists.len())?,
            self.process_table(&lists)?,
        ))
    }

    /// The lists to measure: those of a folder that are 9x9.
    fn lists(&self, folder: Option<&Path>) -> Result<Vec<PathBuf>> {
        let Some(folder) = folder else { return Ok(vec![PathBuf::from("src/bin/sudoku/demo.txt")]) };
        let mut lists = Vec::new();
        for entry in fs::read_dir(folder)? {
            let list = entry?.path();
            if list.extension().is_some_and(|extension| extension == "txt") {
                // Files of other kinds may be there too.
                let shown = output_of(self.sudoku(["show", "--index", "1"]).arg(&list));
                if shown.is_ok_and(|shown| shown.contains("9x9")) {
                    lists.push(list);
                }
            }
        }
        lists.sort();
        if lists.is_empty() {
            return Err(format!("{} has no 9x9 list", folder.display()).into());
        }
        Ok(lists)
    }

    /// What `sudoku bench` prints of the fast strategies, and of `dancing-links`.
    fn bench(&self, lists: &[PathBuf]) -> Result<(String, String)> {
        let timed = |repeats: &str, strategies: &[&str]| {
            let mut command = self.sudoku(["bench", "--kind", "text", "--quiet", "--repeats", repeats]);
            for strategy in strategies {
                command.args(["--strategy", strategy]);
            }
            output_of(command.args(lists))
        };
        Ok((
            timed(&self.repeats.to_string(), &["fast", "propagation"])?,
            timed(LINKS_REPEATS, &["dancing-links"])?,
        ))
    }

    /// Writes the puzzles of a list that have a solution over and over, and returns their number.
    fn repeat(&self, list: &Path, name: &str) -> Result<u128> {
        let solved = output_of(self.sudoku(["solve", "--format", "csv", "--quiet"]).arg(list))?;
        let is_solution = |text: &str| text.len() == 81 && text.bytes().all(|byte| byte.is_ascii_digit());
        let puzzles: Vec<&str> = solved
            .lines()
            .filter_map(|row| row.split_once(','))
            .filter(|(puzzle, solution)| puzzle.len() == 81 && is_solution(solution))
            .map(|(puzzle, _)| puzzle)
            .collect();
        if puzzles.is_empty() {
            return Err(format!("{} has no puzzle with a solution", list.display()).into());
        }
        let times = PROCESS_PUZZLES.div_ceil(puzzles.len());
        fs::write(self.file(name), (puzzles.join("\n") + "\n").repeat(times))?;
        Ok((puzzles.len() * times) as u128)
    }

    /// Whole processes, start to end.
    fn process_table(&self, lists: &[PathBuf]) -> Result<String> {
        let find = |name: &str| {
            lists.iter().find(|list| list.file_stem().is_some_and(|stem| stem == name)).unwrap_or(&lists[0])
        };
        let (hard, easy) = (find("17clue"), find("easy_100k"));
        let (hard_count, easy_count) = (self.repeat(hard, "hard.txt")?, self.repeat(easy, "easy.txt")?);
        let server = Server::start(&self.programs)?;
        let (hard_file, easy_file, out) = (self.file("hard.txt"), self.file("easy.txt"), self.file("out"));
        let url = format!("http://{}", server.address);
        let unique = ["solve", &hard_file, "--question", "unique", "-o", "/dev/null", "--quiet"];
        let one_thread = || self.sudoku([&unique[..], &["--threads", "1"]].concat());
        let solved = |file: &str| self.sudoku(["solve", file, "-o", &out, "--quiet"]);
        let other = |program: &str, args: &[&str]| {
            let mut command = Command::new(program);
            command.args(args);
            command
        };
        let mut by_server = solved(&hard_file);
        by_server.args(["--server", &url]);
        let rows = [
            Process {
                what: format!(
                    "{} puzzles of {}, uniqueness proven, one thread",
                    thousands(hard_count),
                    name_of(hard)
                ),
                shown: "sudoku solve LIST --question unique --threads 1 -o /dev/null",
                puzzles: Some(hard_count),
                command: one_thread(),
                other: None,
            },
            Process {
                what: "the same on all cores; times the run on one thread".to_owned(),
                shown: "sudoku solve LIST --question unique -o /dev/null",
                puzzles: Some(hard_count),
                command: self.sudoku(unique),
                other: Some(one_thread()),
            },
            Process {
                what: "the same list through the service on this machine; times offline".to_owned(),
                shown: "sudoku solve LIST -o OUT --server URL",
                puzzles: Some(hard_count),
                command: by_server,
                other: Some(solved(&hard_file)),
            },
            Process {
                what: format!(
                    "{} puzzles of {} from file to file; times `cp`",
                    thousands(easy_count),
                    name_of(easy)
                ),
                shown: "sudoku solve LIST -o OUT",
                puzzles: Some(easy_count),
                command: solved(&easy_file),
                other: Some(other("cp", &[&easy_file, &self.file("copy")])),
            },
            Process {
                what: "the same validated; times `wc -l`".to_owned(),
                shown: "sudoku validate LIST",
                puzzles: Some(easy_count),
                command: self.sudoku(["validate", &easy_file, "--quiet"]),
                other: Some(other("wc", &["-l", &easy_file])),
            },
            Process {
                what: "the last of these puzzles".to_owned(),
                shown: "sudoku show LIST --index LAST",
                puzzles: None,
                command: self.sudoku(["show", &easy_file, "--index", &easy_count.to_string()]),
                other: None,
            },
            Process {
                what: "100,000 minimal puzzles made".to_owned(),
                shown: "sudoku generate --count 100000 --seed 7 -o OUT",
                puzzles: Some(100_000),
                command: self.sudoku(["generate", "--count", "100000", "--seed", "7", "-o", &out, "--quiet"]),
                other: None,
            },
        ];
        let mut table = PROCESS_HEADING.to_owned();
        for row in rows {
            table += &self.timed(row)?;
        }
        Ok(table)
    }

    /// The row of a process, after a warm-up.
    fn timed(&self, process: Process<'_>) -> Result<String> {
        let Process { what, shown, puzzles, mut command, mut other } = process;
        eprintln!("timing: {what}");
        time(&mut command)?;
        let (mut times, mut ratios) = (Vec::new(), Vec::new());
        for _ in 0..self.repeats {
            let ours = time(&mut command)?;
            times.push(ours);
            if let Some(other) = &mut other {
                ratios.push(ours.as_secs_f64() / time(other)?.as_secs_f64());
            }
        }
        let time = median(times).unwrap_or_default();
        let rate = |puzzles: u128| three_digits(puzzles * 1_000_000 / time.as_micros().max(1));
        let rate = puzzles.map(rate).unwrap_or_default();
        let ratio = median(ratios).map(|ratio| format!("{ratio:.2}")).unwrap_or_default();
        Ok(format!("| {what} | `{shown}` | {:.3} s | {rate} | {ratio} |\n", time.as_secs_f64()))
    }
}

/// A row for each list, with the best back end first and the others as a share of it, from what
/// `sudoku bench` has printed.
fn bench_table(bench: &str, links: &str, lists: usize) -> Result<String> {
    let mut links = links.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split_whitespace().collect();
        if let ["dancing-links", "-", "text", rate, ..] = cells[..] { Some(rate) } else { None }
    });
    let (mut table, mut rows) = (BENCH_HEADING.to_owned(), 0);
    // The list at hand: its name, its puzzles, and the cells of `fast` by back end, best first.
    let (mut name, mut puzzles, mut fast): (&str, &str, Vec<[&str; 4]>) = ("", "", Vec::new());
    for line in bench.lines() {
        let cells: Vec<&str> = line.split_whitespace().collect();
        match cells[..] {
            ["fast", backend, "text", rate, _, max, _, nodes, ..] => fast.push([backend, rate, max, nodes]),
            ["propagation", "-", "text", base, ..] => {
                let [backend, best, max, nodes] = *fast.first().ok_or("there are no rows of fast")?;
                let best_rate = rate(best)?;
                let others = fast[1..]
                    .iter()
                    .map(|[backend, other, ..]| Ok(format!("`{backend}` {:.2}", rate(other)? / best_rate)));
                table += &format!(
                    "| {name} | {puzzles} | {best} (`{backend}`) | {max} | {nodes} | {:.2} | {} | {} |\n",
                    best_rate / rate(base)?,
                    links.next().ok_or_else(|| format!("there is no row of dancing-links for {name}"))?,
                    others.collect::<Result<Vec<_>>>()?.join(", ")
                );
                rows += 1;
            }
            _ => {
                if let Some((path, counted)) = line.split_once(": ").filter(|_| line.contains(" puzzle")) {
                    name = path.rsplit('/').next().unwrap_or(path);
                    puzzles = counted.split(' ').next().unwrap_or_default();
                    fast.clear();
                }
            }
        }
    }
    if rows != lists {
        return Err("the table of sudoku bench was not understood".into());
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAST: &str = "\
Some CPU, 2 cores, best back end avx512

lists/a.txt: 1,000 puzzles of 9x9
  strategy      back end  kind     puzzles/s          min          max   ratio  nodes/puzzle
  fast          avx512    text     2,000,000    1,900,000    2,100,000   20.00          2.12
  fast          avx2      text     1,500,000    1,400,000    1,600,000   15.00          2.12
  propagation   -         text       100,000       90,000      110,000    1.00          2.50
";

    const LINKS: &str = "\
lists/a.txt: 1,000 puzzles of 9x9
  strategy      back end  kind     puzzles/s          min          max   ratio  nodes/puzzle
  dancing-links -         text        60,000       50,000       70,000       -          3.00
";

    #[test]
    fn each_list_has_a_row_with_all_its_figures() {
        let table = bench_table(FAST, LINKS, 1).unwrap();
        let row =
            "| a.txt | 1,000 | 2,000,000 (`avx512`) | 2,100,000 | 2.12 | 20.00 | 60,000 | `avx2` 0.75 |\n";
        assert_eq!(table, BENCH_HEADING.to_owned() + row);
    }

    #[test]
    fn a_figure_that_is_missing_is_an_error() {
        let missing = LINKS.replace("dancing-links -", "dancing-links-");
        let error = bench_table(FAST, &missing, 1).unwrap_err();
        assert_eq!(error.to_string(), "there is no row of dancing-links for a.txt");
        let error = bench_table(FAST, LINKS, 2).unwrap_err();
        assert_eq!(error.to_string(), "the table of sudoku bench was not understood");
    }
}
