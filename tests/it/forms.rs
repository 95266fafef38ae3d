//! A folder of files as people have them: each is read right, or refused with a sentence.

use std::fmt::Write as _;
use std::path::Path;

use sudoku_stream::answer::{Block, Solvers, Task};
use sudoku_stream::grid::Order;
use sudoku_stream::text::{Alphabet, Format, Notation};

use crate::harness::{Folder, assert_solves, stderr, stdout, sudoku, unique_puzzles};

/// A puzzle with its only solution.
struct Known {
    puzzle: String,
    solution: String,
}

impl Known {
    fn rows(&self) -> impl Iterator<Item = &str> {
        (0..9).map(|row| &self.puzzle[9 * row..9 * row + 9])
    }
}

/// Puzzles with one solution, which is not looked for by the way that files are read.
fn known(count: usize) -> Vec<Known> {
    let puzzles = unique_puzzles(count);
    let format = Format::new(Notation::Lines, Order::NINE, Alphabet::Letters).unwrap();
    let solvers = Solvers::new(format, Task::default());
    let text = puzzles.join("\n");
    let block = Block { text: text.as_bytes(), first_line: 1 };
    let answers = solvers.write_answers(block, &std::sync::atomic::AtomicBool::new(false)).unwrap().text;
    let solutions = String::from_utf8(answers).unwrap();
    let known: Vec<Known> = puzzles
        .into_iter()
        .zip(solutions.lines())
        .map(|(puzzle, solution)| Known { puzzle, solution: solution.to_owned() })
        .collect();
    for known in &known {
        assert_solves(&known.solution, &known.puzzle);
    }
    known
}

/// What has to come of a file.
#[derive(Clone, Copy)]
enum Fate {
    /// All puzzles are answered by their solutions.
    Read,
    /// The same, in a form of one puzzle a file.
    One,
    /// Exit code 2 and a sentence; nothing is answered.
    Refused,
}

/// A form in which people have puzzles: its name, what has to come of it, and the text of some
/// puzzles in it.
type Form = (&'static str, Fate, fn(&[Known]) -> String);

/// Lines made of each puzzle and its number, below a heading.
fn table(heading: &str, known: &[Known], line: impl Fn(usize, &Known) -> String) -> String {
    let lines = known.iter().enumerate().map(|(index, known)| line(index, known) + "\n");
    std::iter::once(heading.to_owned()).chain(lines).collect()
}

/// The rows of each puzzle, between what stands before the puzzle and behind it.
fn grids(known: &[Known], before: impl Fn(usize) -> String, row: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (index, known) in known.iter().enumerate() {
        text += &before(index);
        for line in known.rows() {
            text += &row(line);
            text.push('\n');
        }
    }
    text
}

fn spaced(cells: &str, by: &str) -> String {
    cells.chars().map(|cell| cell.to_string().replace('.', "0")).collect::<Vec<_>>().join(by)
}

/// Rows with a ruler above every third one and at the end.
fn ruled(known: &Known, rulers: [&str; 3], row: impl Fn(&str) -> String) -> String {
    let mut text = String::new();
    for (index, line) in known.rows().enumerate() {
        if index % 3 == 0 {
            text += rulers[usize::from(index > 0)];
            text.push('\n');
        }
        text += &row(line);
        text.push('\n');
    }
    text + rulers[2] + "\n"
}

fn boxes(line: &str, bar: &str, by: &str) -> String {
    let parts = [&line[..3], &line[3..6], &line[6..]];
    let parts = parts.map(|part| part.chars().map(String::from).collect::<Vec<_>>().join(by));
    format!("{bar}{}{bar}", parts.join(bar))
}

/// The candidates of each cell by the clues alone, as programs for people show them.
fn candidates(known: &Known, row: usize, column: usize) -> String {
    let cells = known.puzzle.as_bytes();
    if cells[9 * row + column] != b'.' {
        return char::from(cells[9 * row + column]).to_string();
    }
    let sees = |r: usize, c: usize| r == row || c == column || (r / 3, c / 3) == (row / 3, column / 3);
    let is_taken = |digit: u8| (0..81).any(|at| cells[at] == digit && sees(at / 9, at % 9));
    (b'1'..=b'9').filter(|&digit| !is_taken(digit)).map(char::from).collect()
}

const FORMS: &[Form] = &[
    ("lines.txt", Fate::Read, |known| table("", known, |_, k| k.puzzle.clone())),
    ("indented.md", Fate::Read, |known| table("", known, |_, k| format!("    {}", k.puzzle))),
    ("tabs.txt", Fate::Read, |known| table("", known, |index, k| format!("\t{} # {index}", k.puzzle))),
    ("zeros.sdm", Fate::Read, |known| table("", known, |_, k| k.puzzle.replace('.', "0"))),
    ("commented.txt", Fate::Read, |known| {
        table("# a list\n\n", known, |index, k| format!("{} # rated {index}.5", k.puzzle))
    }),
    ("header.txt", Fate::Read, |known| table("3\n", known, |_, k| k.puzzle.clone())),
    ("question.txt", Fate::Read, |known| table("", known, |_, k| k.puzzle.replace('.', "?"))),
    ("small_x.txt", Fate::Read, |known| table("", known, |_, k| k.puzzle.replace('.', "x"))),
    ("large_x.txt", Fate::Read, |known| table("", known, |_, k| k.puzzle.replace('.', "X"))),
    ("middle_dot.txt", Fate::Read, |known| table("", known, |_, k| k.puzzle.replace('.', "·"))),
    // Arrays, as JSON and Python print them, and addresses.
    ("rows.json", Fate::Read, |known| {
        let grid = |k: &Known| {
            let rows: Vec<String> = k.rows().map(|row| format!("[{}]", spaced(row, ","))).collect();
            format!("[{}]", rows.join(","))
        };
        format!("[{}]\n", known.iter().map(grid).collect::<Vec<_>>().join(","))
    }),
    ("pretty.json", Fate::Read, |known| {
        grids(
            known,
            |index| format!("{}[\n", if index == 0 { "[" } else { "],\n" }),
            |row| format!("  [{}],", spaced(row, ", ")),
        ) + "]]\n"
    }),
    ("none.py", Fate::Read, |known| {
        table("", known, |_, k| format!("[{}]", spaced(&k.puzzle, ", ").replace('0', "None")))
    }),
    ("characters.json", Fate::Read, |known| {
        table("", known, |_, k| {
            let rows: Vec<String> = k
                .rows()
                .map(|row| {
                    let cells: Vec<String> = row.chars().map(|cell| format!("\"{cell}\"")).collect();
                    format!("[{}]", cells.join(","))
                })
                .collect();
            format!("[{}]", rows.join(","))
        })
    }),
    ("characters.jsonl", Fate::Read, |known| {
        table("", known, |_, k| {
            let cells =
                |row: &str| row.chars().map(|cell| format!("\"{cell}\"")).collect::<Vec<_>>().join(",");
            let rows: Vec<String> = k.rows().map(|row| format!("[{}]", cells(row))).collect();
            format!("{{\"board\":[{}]}}", rows.join(","))
        })
    }),
    ("rows.jsonl", Fate::Read, |known| {
        table("", known, |_, k| {
            let rows: Vec<String> = k.rows().map(|row| format!("\"{row}\"")).collect();
            format!("{{\"puzzle\":[{}]}}", rows.join(","))
        })
    }),
    ("commented.json", Fate::Read, |known| {
        table("# a list\n\n", known, |_, k| format!(" [{}]\n# next", spaced(&k.puzzle, ",")))
    }),
    ("commented_addresses.txt", Fate::Read, |known| {
        table("\n# a list\n", known, |_, k| format!(" https://play.example/{}", k.puzzle))
    }),
    ("commented.opensudoku", Fate::Read, |known| {
        table("\n# a list\n<opensudoku>\n", known, |_, k| {
            format!("<game note=\"a > b\" data=\"{}\"", k.puzzle)
        })
    }),
    ("addresses.txt", Fate::Read, |known| {
        table("", known, |index, k| format!("https://play.example/{index}?theme=2&bd={}", k.puzzle))
    }),
    // Lists with columns before and behind the puzzle.
    ("numbered.txt", Fate::Read, |known| table("", known, |index, k| format!("{} {}", index + 1, k.puzzle))),
    ("numbered.tsv", Fate::Read, |known| table("", known, |index, k| format!("{}\t{}", index + 1, k.puzzle))),
    ("numbered_pairs.csv", Fate::Read, |known| {
        table("", known, |index, k| format!("{},{},{}", index + 1, k.puzzle, k.solution))
    }),
    ("rated.txt", Fate::Read, |known| {
        table("", known, |index, k| format!("{}.9;{index};forum;{}", 10 + index % 2, k.puzzle))
    }),
    ("kaggle_1m.csv", Fate::Read, |known| {
        table("quizzes,solutions\n", known, |_, k| format!("{},{}", k.puzzle.replace('.', "0"), k.solution))
    }),
    ("kaggle_3m.csv", Fate::Read, |known| {
        table("id,puzzle,solution,clues,difficulty\n", known, |index, k| {
            format!("{},{},{},24,{}.2", index + 1, k.puzzle, k.solution, index % 3)
        })
    }),
    ("kaggle_9m.csv", Fate::Read, |known| {
        table("puzzle,solution\n", known, |_, k| format!("{},{}", k.puzzle.replace('.', "0"), k.solution))
    }),
    ("extreme.csv", Fate::Read, |known| {
        table("source,question,answer,rating\n", known, |index, k| {
            format!("puzzles{index}_17_clue,{},{},{}", k.puzzle, k.solution, index % 7)
        })
    }),
    ("solution_first.csv", Fate::Read, |known| {
        table("solution,puzzle\n", known, |_, k| format!("{},{}", k.solution, k.puzzle))
    }),
    ("semicolons.csv", Fate::Read, |known| {
        table("name;puzzle;solution\n", known, |index, k| format!("nr {index};{};{}", k.puzzle, k.solution))
    }),
    ("quoted.csv", Fate::Read, |known| {
        table("\"puzzle\",\"solution\"\n", known, |_, k| format!("\"{}\",\"{}\"", k.puzzle, k.solution))
    }),
    ("bars.txt", Fate::Read, |known| {
        table("", known, |index, k| format!("{index}|{}|{}", k.puzzle, k.solution))
    }),
    ("objects.jsonl", Fate::Read, |known| {
        table("", known, |index, k| format!("{{\"id\": {index}, \"puzzle\": \"{}\"}}", k.puzzle))
    }),
    ("answers.jsonl", Fate::Read, |known| {
        table("", known, |index, k| {
            format!("{{\"line\":{},\"puzzle\":\"{}\",\"solution\":\"{}\"}}", index + 1, k.puzzle, k.solution)
        })
    }),
    // Cells apart.
    ("numbers.csv", Fate::Read, |known| table("", known, |_, k| spaced(&k.puzzle, ","))),
    ("numbers.txt", Fate::Read, |known| table("", known, |_, k| spaced(&k.puzzle, " "))),
    ("rows.txt", Fate::Read, |known| {
        grids(known, |index| if index > 0 { "\n".to_owned() } else { String::new() }, |row| spaced(row, " "))
    }),
    ("rows.csv", Fate::Read, |known| {
        grids(known, |index| if index > 0 { "\n".to_owned() } else { String::new() }, |row| spaced(row, ","))
    }),
    // One puzzle a file.
    ("metadata.sdk", Fate::One, |known| {
        format!(
            "#ASomebody\n#DA puzzle\n#B2024-01-31\n[Puzzle]\n{}",
            grids(&known[..1], |_| String::new(), str::to_owned)
        )
    }),
    ("simple.ss", Fate::One, |known| {
        let rulers = ["*-----------*", "|---+---+---|", "*-----------*"];
        ruled(&known[0], rulers, |row| boxes(row, "|", ""))
    }),
    ("clipboard.txt", Fate::One, |known| {
        ruled(&known[0], ["+-------+-------+-------+"; 3], |row| boxes(row, " | ", " ").trim().to_owned())
    }),
    ("drawn.txt", Fate::One, |known| {
        let rulers = ["┌───────┬───────┬───────┐", "├───────┼───────┼───────┤", "└───────┴───────┴───────┘"];
        ruled(&known[0], rulers, |row| boxes(row, " │ ", " ").trim().to_owned())
    }),
    // Spaces for blanks.
    ("spaces.txt", Fate::Read, |known| {
        let drawn = |k| {
            ruled(k, ["+-------+-------+-------+"; 3], |row| boxes(row, " | ", " ").trim().replace('.', " "))
        };
        known.iter().map(drawn).collect::<Vec<_>>().join("\n")
    }),
    ("spaces_in_bars.txt", Fate::One, |known| {
        let row = |row: &str| {
            let drawn = boxes(row, " | ", " ").replace('.', " ");
            drawn[3..drawn.len() - 3].trim_end().to_owned()
        };
        ruled(&known[0], ["------+-------+------"; 3], row)
    }),
    ("spaces_in_boxes.txt", Fate::One, |known| {
        ruled(&known[0], ["├───┼───┼───┤"; 3], |row| {
            row.chars().map(|cell| format!("│ {cell} ").replace('.', " ")).collect::<String>() + "│"
        })
    }),
    ("underscores.txt", Fate::One, |known| {
        grids(&known[..1], |_| String::new(), |row| row.replace('.', "_"))
    }),
    ("stars.txt", Fate::One, |known| grids(&known[..1], |_| String::new(), |row| row.replace('.', "*"))),
    ("triples.txt", Fate::One, |known| {
        let clues = known[0].puzzle.bytes().enumerate().filter(|(_, cell)| *cell != b'.');
        clues.map(|(at, cell)| format!("{} {} {}\n", at / 9 + 1, at % 9 + 1, char::from(cell))).collect()
    }),
    // Several puzzles with names.
    ("euler.txt", Fate::Read, |known| {
        grids(known, |index| format!("Grid {:02}\n", index + 1), |row| row.replace('.', "0"))
    }),
    ("open.sudoku", Fate::Read, |known| {
        let games = known.iter().fold(String::new(), |mut games, known| {
            let _ = writeln!(games, "    <game data=\"{}\" />", known.puzzle.replace('.', "0"));
            games
        });
        let head = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<opensudoku>\n  <name>easy</name>\n";
        format!("{head}{games}</opensudoku>\n")
    }),
    // What cannot be read.
    ("candidates.txt", Fate::Refused, |known| {
        let cell = |at: usize| {
            let marks = candidates(&known[0], at / 9, at % 9);
            ('1'..='9').map(|digit| if marks.contains(digit) { digit } else { '.' }).collect::<String>()
        };
        (0..81).map(cell).collect::<String>() + "\n"
    }),
    ("pencil_marks.txt", Fate::Refused, |known| {
        let rule = ".------------------.------------------.------------------.";
        let mut text = format!("{rule}\n");
        for row in 0..9 {
            let cells = (0..9).map(|column| format!("{:<9}", candidates(&known[0], row, column)));
            let cells: Vec<String> = cells.collect();
            let _ = writeln!(
                text,
                "| {}| {}| {}|",
                cells[..3].concat(),
                cells[3..6].concat(),
                cells[6..].concat()
            );
            if row % 3 == 2 {
                let _ = writeln!(text, "{rule}");
            }
        }
        text
    }),
    ("six_by_six.txt", Fate::Refused, |_| "1..4.6\n..62..\n.3...1\n5...2.\n..16..\n2.3..5\n".to_owned()),
    ("six_by_six_lines.txt", Fate::Refused, |_| "1..4.6..62...3...15...2...16..2.3..5\n".repeat(5)),
    ("counted.txt", Fate::Read, |known| table("12\n", known, |_, k| k.puzzle.clone())),
    ("prose.txt", Fate::Refused, |_| {
        "The puzzles of this week are somewhat harder than those of the last one.\n\
         As always, fill every row, column and box with the digits from 1 to 9.\n\
         Solutions follow next week.\n"
            .to_owned()
    }),
    ("README.md", Fate::Refused, |_| {
        "# Sudoku puzzles\n\nA list of puzzles, one a line.\n\n- `easy.txt`: 1,000 puzzles\n- `hard.txt`: 500 puzzles\n\n\
         ## License\n\nMIT\n"
            .to_owned()
    }),
    ("page.html", Fate::Refused, |_| {
        "<!DOCTYPE html>\n<html>\n<head><title>404</title></head>\n<body>\n<p>Not found</p>\n</body>\n</html>\n"
            .to_owned()
    }),
    ("columns.csv", Fate::Refused, |known| {
        table("name,value,time\n", known, |index, _| format!("run {index},{},{}.5", index * 7, index % 10))
    }),
];

/// A text as it is, with the line ends of DOS, with a byte-order mark, and as Windows programs call
/// Unicode.
fn writings(text: &str) -> [(&'static str, Vec<u8>); 4] {
    let dos = text.replace('\n', "\r\n");
    let marked = format!("\u{FEFF}{text}").into_bytes();
    let wide = format!("\u{FEFF}{dos}").encode_utf16().flat_map(u16::to_le_bytes).collect();
    [("plain", text.as_bytes().to_vec()), ("dos", dos.into_bytes()), ("marked", marked), ("utf16", wide)]
}

#[test]
fn every_form_is_read_right_or_refused() {
    let folder = Folder::new();
    let known = known(12);
    let mut files = 0;
    let mut wrong = Vec::new();
    for (name, fate, write) in FORMS {
        let text = write(&known);
        let solutions: Vec<&str> = known.iter().map(|known| known.solution.as_str()).collect();
        for (writing, bytes) in writings(&text) {
            let path = folder.write(&format!("{writing}_{name}"), bytes);
            let output = sudoku(&["solve", &path]).output().unwrap();
            let (answers, said) = (stdout(&output), stderr(&output));
            let answers: Vec<&str> = answers.lines().collect();
            let (wanted, code, lines) = match fate {
                Fate::Read => (&solutions[..], 0, 1),
                // One answer needs no summary.
                Fate::One => (&solutions[..1], 0, said.lines().count()),
                Fate::Refused => (&[][..], 2, 1),
            };
            let is_right =
                output.status.code() == Some(code) && answers == wanted && said.lines().count() == lines;
            if !is_right {
                let first = answers.first().unwrap_or(&"nothing");
                wrong.push(format!(
                    "{} ended with {:?} after {} answers, the first {first:?}; {said}",
                    Path::new(&path).file_name().unwrap().display(),
                    output.status.code(),
                    answers.len(),
                ));
            }
            files += 1;
        }
    }
    assert!(files >= 60, "{files} files");
    assert!(wrong.is_empty(), "{} of {files} files:\n{}", wrong.len(), wrong.concat());
}
