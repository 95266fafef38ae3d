//! Commands of the console: names, arguments, help.

use crate::cli::{by_hand, fit};

/// The action of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
    Apply,
    Check,
    Clear,
    Count,
    Example,
    Exit,
    Help,
    Hint,
    Limit,
    Lock,
    New,
    Open,
    Puzzle,
    Random,
    Rate,
    Redo,
    Reset,
    Rules,
    Save,
    Set,
    Show,
    Solve,
    Stats,
    Steps,
    Strategy,
    Undo,
    Unique,
    Unlock,
}

/// The completion of a command's arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completes {
    Nothing,
    Files,
    Commands,
    Strategies,
    Words(&'static [&'static str]),
}

/// A group of commands in the help.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Topic {
    Puzzles,
    Editing,
    Hints,
    Search,
    Console,
}

impl Topic {
    /// All topics, in the order of `help`.
    const ALL: [Self; 5] = [Self::Puzzles, Self::Editing, Self::Hints, Self::Search, Self::Console];

    const fn name(self) -> &'static str {
        match self {
            Self::Puzzles => "puzzles",
            Self::Editing => "editing",
            Self::Hints => "hints",
            Self::Search => "search",
            Self::Console => "console",
        }
    }

    const fn heading(self) -> &'static str {
        match self {
            Self::Puzzles => "Puzzles",
            Self::Editing => "Editing",
            Self::Hints => "Hints",
            Self::Search => "Search",
            Self::Console => "Console",
        }
    }

    /// Its commands.
    fn commands(self) -> impl Iterator<Item = &'static ConsoleCommand> {
        COMMANDS.iter().filter(move |command| command.topic == self)
    }

    /// Its commands, a line each, with their arguments.
    fn help(self) -> String {
        let width = self.commands().map(|command| command.usage().len()).max().unwrap_or(0);
        let mut text = format!("{}\n", self.heading());
        for command in self.commands() {
            let line = format!("{:width$}  {}", command.usage(), command.summary);
            text += &if line.len() + 2 <= columns() {
                format!("  {line}\n")
            } else {
                format!("  {}\n    {}\n", command.usage(), by_hand::wrapped(command.summary, 4))
            };
        }
        text
    }
}

/// A command.
#[derive(Debug)]
pub struct ConsoleCommand {
    pub verb: Verb,
    pub name: &'static str,
    topic: Topic,
    /// Other names.
    aliases: &'static [&'static str],
    /// Its arguments, for the help.
    arguments: &'static str,
    /// The help in half a line, for the list of all commands.
    brief: &'static str,
    /// The help in one line.
    summary: &'static str,
    /// More lines of help.
    more: &'static str,
    pub completes: Completes,
}

impl ConsoleCommand {
    /// Name and arguments.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// The full help.
    pub fn help(&self) -> String {
        let mut text = format!("{}\n  {}.\n", self.usage(), by_hand::wrapped(self.summary, 2));
        for line in self.more.lines() {
            text += &format!("  {}\n", by_hand::wrapped(line, 2));
        }
        if !self.aliases.is_empty() {
            let names: Vec<String> = self.aliases.iter().map(|name| format!("`{name}`")).collect();
            text += &format!("  Also: {}.\n", names.join(", "));
        }
        text
    }

    fn has_name(&self, word: &str) -> bool {
        self.name == word || self.aliases.contains(&word)
    }
}

/// Every command, those of a topic in the order of `help`.
pub static COMMANDS: &[ConsoleCommand] = &[
    ConsoleCommand {
        verb: Verb::Rules,
        name: "rules",
        topic: Topic::Puzzles,
        aliases: &[],
        arguments: "",
        brief: "Explain the rules",
        summary: "Explain the rules, for the size on the board",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Example,
        name: "example",
        topic: Topic::Puzzles,
        aliases: &[],
        arguments: "[SIDE]",
        brief: "Put an example on the board",
        summary: "Put an example on the board, side 1, 4, 9, 16 or 25",
        more: "Default: 9.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    ConsoleCommand {
        verb: Verb::New,
        name: "new",
        topic: Topic::Puzzles,
        aliases: &["empty"],
        arguments: "[SIDE]",
        brief: "Start an empty board",
        summary: "Start an empty board, for a puzzle of your own",
        more: "`set` fills it, `lock` turns its digits into clues.\n\
               Default side: that of the board.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    ConsoleCommand {
        verb: Verb::Open,
        name: "open",
        topic: Topic::Puzzles,
        aliases: &["load"],
        arguments: "FILE",
        brief: "Open a file of puzzles",
        summary: "Open a file and put its first puzzle on the board",
        more: "The notation is auto-detected; packed files are unpacked.\n\
               Badly formed puzzles are reported.",
        completes: Completes::Files,
    },
    ConsoleCommand {
        verb: Verb::Save,
        name: "save",
        topic: Topic::Puzzles,
        aliases: &[],
        arguments: "FILE",
        brief: "Save the board in a file",
        summary: "Save the clues and the entries in a file, which `open` reads",
        more: "A file that is there is replaced if it is a saved board, too.",
        completes: Completes::Files,
    },
    ConsoleCommand {
        verb: Verb::Puzzle,
        name: "puzzle",
        topic: Topic::Puzzles,
        aliases: &[],
        arguments: "K",
        brief: "Take a puzzle of the file",
        summary: "Put puzzle K of the open file on the board, from 1",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Random,
        name: "random",
        topic: Topic::Puzzles,
        aliases: &[],
        arguments: "",
        brief: "Take a random puzzle of it",
        summary: "Put a random puzzle of the open file on the board",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Show,
        name: "show",
        topic: Topic::Puzzles,
        aliases: &["board", "print"],
        arguments: "[grid|line|triples]",
        brief: "Show the board",
        summary: "Show the board again, or write it in a notation",
        more: "",
        completes: Completes::Words(&["grid", "line", "triples"]),
    },
    ConsoleCommand {
        verb: Verb::Set,
        name: "set",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "R C V",
        brief: "Fill in a cell",
        summary: "Put the value V into row R, column C",
        more: "Rows and columns are counted from 1. `r3c5 7` and `r3c5=7` do the same.\n\
               A value is what the board shows, or else its number: A or 10.\n\
               Clues stay as they are; `unlock` lets them be changed.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Clear,
        name: "clear",
        topic: Topic::Editing,
        aliases: &["unset"],
        arguments: "R C",
        brief: "Empty a cell",
        summary: "Empty the cell in row R, column C",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Undo,
        name: "undo",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "",
        brief: "Undo the last change",
        summary: "Undo the last change of the board",
        more: "`set`, `clear`, `apply`, `solve`, `reset`, `lock` and `unlock` are changes.\n\
               Where there are none, the board before this one comes back.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Redo,
        name: "redo",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "",
        brief: "Redo what was undone",
        summary: "Redo the last change that was undone",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Reset,
        name: "reset",
        topic: Topic::Editing,
        aliases: &["restart"],
        arguments: "",
        brief: "Remove all entries",
        summary: "Remove all entries, keep the clues",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Lock,
        name: "lock",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "",
        brief: "Turn all digits into clues",
        summary: "Turn every digit on the board into a clue",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Unlock,
        name: "unlock",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "",
        brief: "Let clues be changed",
        summary: "Allow clues to be changed",
        more: "They count as entries then, which `reset` removes.\n\
               `lock` makes clues of all digits.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Check,
        name: "check",
        topic: Topic::Editing,
        aliases: &[],
        arguments: "",
        brief: "Check against the rules",
        summary: "Check the board against the rules: solved, or what is wrong",
        more: "Only the rules are checked; `hint` also finds entries that leave no solution.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Hint,
        name: "hint",
        topic: Topic::Hints,
        aliases: &[],
        arguments: "[all]",
        brief: "Hint at the next step",
        summary: "Say where to look; again, by which technique; again, the step",
        more: "`hint all` tells everything at once. An entry that is wrong is named instead.",
        completes: Completes::Words(&["all"]),
    },
    ConsoleCommand {
        verb: Verb::Apply,
        name: "apply",
        topic: Topic::Hints,
        aliases: &[],
        arguments: "",
        brief: "Carry out the step",
        summary: "Carry out the step of the hint",
        more: "Candidates that a step takes away are remembered for later hints.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Steps,
        name: "steps",
        topic: Topic::Hints,
        aliases: &[],
        arguments: "",
        brief: "Solve by hand, with reasons",
        summary: "Solve by hand from here, every step with its reason",
        more: "The board stays as it is.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Rate,
        name: "rate",
        topic: Topic::Hints,
        aliases: &[],
        arguments: "",
        brief: "Rate the puzzle",
        summary: "Rate the puzzle by the hardest step that a person has to take",
        more: "Only the clues are rated, not your entries.",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Solve,
        name: "solve",
        topic: Topic::Search,
        aliases: &[],
        arguments: "[PUZZLE|FILE|all]",
        brief: "Solve the board or a file",
        summary: "Solve the board, a puzzle, or every puzzle of a file",
        more: "The board is solved from its clues and your entries; `undo` removes the\n\
               solution again.\n\
               Without a board, the next line is read as the puzzle or the file.\n\
               A file of one puzzle is put on the board. A file of several is opened and\n\
               solved, and the first answers are shown.\n\
               `solve all` does this with the open file.\n\
               `sudoku solve FILE -o OUT`, outside the console, writes all answers.",
        completes: Completes::Files,
    },
    ConsoleCommand {
        verb: Verb::Count,
        name: "count",
        topic: Topic::Search,
        aliases: &[],
        arguments: "[LIMIT]",
        brief: "Count the solutions",
        summary: "Count the solutions, up to LIMIT or 1,000",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Unique,
        name: "unique",
        topic: Topic::Search,
        aliases: &[],
        arguments: "",
        brief: "Check for a single solution",
        summary: "Check whether there is exactly one solution",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Strategy,
        name: "strategy",
        topic: Topic::Search,
        aliases: &["strategies"],
        arguments: "[NAME|default]",
        brief: "Choose the search strategy",
        summary: "Choose the search strategy, or list them all",
        more: "",
        completes: Completes::Strategies,
    },
    ConsoleCommand {
        verb: Verb::Limit,
        name: "limit",
        topic: Topic::Search,
        aliases: &[],
        arguments: "[NODES]",
        brief: "Set the node limit",
        summary: "Set the node limit of a search, or show it",
        more: "",
        completes: Completes::Nothing,
    },
    ConsoleCommand {
        verb: Verb::Stats,
        name: "stats",
        topic: Topic::Search,
        aliases: &[],
        arguments: "[on|off]",
        brief: "Show search costs or not",
        summary: "Show search costs or not, or show the setting",
        more: "",
        completes: Completes::Words(&["on", "off"]),
    },
    ConsoleCommand {
        verb: Verb::Help,
        name: "help",
        topic: Topic::Console,
        aliases: &["?", "h"],
        arguments: "[COMMAND|TOPIC]",
        brief: "Explain a command or topic",
        summary: "List the commands, or explain one or those of a topic",
        more: "The topics are puzzles, editing, hints, search and console.",
        completes: Completes::Commands,
    },
    ConsoleCommand {
        verb: Verb::Exit,
        name: "exit",
        topic: Topic::Console,
        aliases: &["quit", "q"],
        arguments: "",
        brief: "Leave the console",
        summary: "Leave the console",
        more: "Ctrl-D, the end of the input, does the same.",
        completes: Completes::Nothing,
    },
];

/// The names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// The largest edit distance at which a name is suggested.
const MAX_TYPOS: usize = 2;

/// The command with this name or alias.
pub fn named(word: &str) -> Option<&'static ConsoleCommand> {
    let word = word.to_lowercase();
    COMMANDS.iter().find(|command| command.has_name(&word))
}

/// The command with this name or alias, or the only one whose name begins with it.
///
/// # Errors
/// The reply to an unknown or ambiguous name.
pub fn resolve(word: &str) -> Result<&'static ConsoleCommand, String> {
    if let Some(command) = named(word) {
        return Ok(command);
    }
    let lower = word.to_lowercase();
    let begun: Vec<&ConsoleCommand> = COMMANDS.iter().filter(|c| c.name.starts_with(&lower)).collect();
    match begun[..] {
        [only] if lower.len() > 1 => return Ok(only),
        [_, _, ..] => {
            let names: Vec<String> = begun.iter().map(|command| format!("`{}`", command.name)).collect();
            return Err(format!("`{word}` could be {}.", names.join(", ")));
        }
        _ => {}
    }
    let distance = |name: &str| strsim::damerau_levenshtein(name, &lower);
    let nearest = COMMANDS.iter().min_by_key(|command| distance(command.name));
    let meant = nearest.filter(|c| distance(c.name) <= MAX_TYPOS && distance(c.name) < c.name.len() - 1);
    let guess = meant.map(|command| format!(" Did you mean `{}`?", command.name)).unwrap_or_default();
    Err(format!("Unknown command `{}`.{guess} `help` lists the commands.", shortened(word)))
}

/// A word of the user for use in a sentence: printable, and not too long.
pub fn shortened(word: &str) -> String {
    const MOST: usize = 40;
    let printable = word.escape_debug().to_string().replace("\\\"", "\"").replace("\\'", "'");
    if printable.chars().count() <= MOST {
        return printable;
    }
    printable.chars().take(MOST).chain("...".chars()).collect()
}

/// The names of all topics.
pub fn topics() -> impl Iterator<Item = &'static str> {
    Topic::ALL.into_iter().map(Topic::name)
}

/// The help of the command or topic of this name.
pub fn explain(word: &str) -> String {
    match Topic::ALL.into_iter().find(|topic| topic.name().eq_ignore_ascii_case(word)) {
        Some(topic) => topic.help(),
        None => resolve(word).map_or_else(|sentence| sentence + "\n", ConsoleCommand::help),
    }
}

/// The columns that help may take.
fn columns() -> usize {
    fit::stdout_columns().unwrap_or(80)
}

/// The list of all commands by topic, two on a line, because it has to fit a terminal of 80 columns
/// and 24 lines, or one on a narrower terminal.
pub fn list() -> String {
    let widest = |width: fn(&ConsoleCommand) -> usize| COMMANDS.iter().map(width).max().unwrap_or(0);
    let (names, briefs) = (widest(|command| command.name.len()), widest(|command| command.brief.len()));
    let mut text = String::new();
    for topic in Topic::ALL {
        text += &format!("{}\n", topic.heading());
        let commands: Vec<&ConsoleCommand> = topic.commands().collect();
        for pair in commands.chunks(if 2 * (names + briefs + 4) <= columns() { 2 } else { 1 }) {
            let mut line = String::new();
            for command in pair {
                line += &format!("  {:names$}  {:briefs$}", command.name, command.brief);
            }
            text += &format!("{}\n", line.trim_end());
        }
    }
    let notes = "A puzzle can also be pasted as it is, on one line or in rows.\n\
                 `help set` explains a command, `help hints` lists the commands of a topic.";
    text + &format!("\n{}\n", by_hand::wrapped(notes, 0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_apart() {
        for (index, command) in COMMANDS.iter().enumerate() {
            for name in command.aliases.iter().chain([&command.name]) {
                assert_eq!(named(name).unwrap().verb, command.verb, "{name}");
                assert_eq!(named(&name.to_uppercase()).unwrap().verb, command.verb, "{name}");
            }
            assert!(COMMANDS[..index].iter().all(|other| other.verb != command.verb));
        }
    }

    #[test]
    fn every_help_fits_a_terminal_of_80_columns_and_24_lines() {
        let list = list();
        let helps = COMMANDS.iter().map(ConsoleCommand::help).chain(Topic::ALL.map(Topic::help));
        for text in helps.chain([list.clone()]) {
            // A line for what was typed, and one for the next prompt.
            assert!(text.lines().count() <= 22, "{text}");
            for line in text.lines() {
                assert!(line.chars().count() <= 79, "{line}");
            }
        }
        for command in COMMANDS {
            assert!(list.contains(&format!("  {} ", command.name)), "{}", command.name);
            assert!(list.contains(command.brief), "{}", command.name);
        }
    }

    #[test]
    fn topics_and_commands_have_different_names() {
        for topic in Topic::ALL {
            assert!(named(topic.name()).is_none(), "{}", topic.name());
            assert!(topic.commands().count() > 0, "{}", topic.name());
            assert_eq!(explain(&topic.name().to_uppercase()), topic.help());
            assert_eq!(topic.name(), topic.heading().to_lowercase());
        }
        assert!(explain("set").starts_with("set R C V\n"), "{}", explain("set"));
        assert_eq!(explain("x"), "Unknown command `x`. `help` lists the commands.\n");
    }

    #[test]
    fn beginnings_and_slips_are_understood() {
        assert_eq!(resolve("exa").unwrap().verb, Verb::Example);
        assert_eq!(resolve("So").unwrap().verb, Verb::Solve);
        assert_eq!(resolve("r").unwrap_err(), "`r` could be `rules`, `random`, `redo`, `reset`, `rate`.");
        assert_eq!(
            resolve("slove").unwrap_err(),
            "Unknown command `slove`. Did you mean `solve`? `help` lists the commands."
        );
        assert_eq!(
            resolve("frobnicate").unwrap_err(),
            "Unknown command `frobnicate`. `help` lists the commands."
        );
        assert_eq!(resolve("w\x1b").unwrap_err(), "Unknown command `w\\u{1b}`. `help` lists the commands.");
    }
}
