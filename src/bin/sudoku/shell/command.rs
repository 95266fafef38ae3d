//! Commands of the console: names, arguments, help.

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

/// A command.
#[derive(Debug)]
pub struct Command {
    pub verb: Verb,
    pub name: &'static str,
    /// Other names.
    aliases: &'static [&'static str],
    /// Its arguments, for the help.
    arguments: &'static str,
    /// The help in one line.
    summary: &'static str,
    /// More lines of help.
    more: &'static str,
    pub completes: Completes,
}

impl Command {
    /// Name and arguments.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// The full help.
    pub fn help(&self) -> String {
        let mut text = format!("{}\n  {}.\n", self.usage(), self.summary);
        for line in self.more.lines() {
            text += &format!("  {line}\n");
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

/// Every command, in the order of `help`.
pub static COMMANDS: &[Command] = &[
    Command {
        verb: Verb::Rules,
        name: "rules",
        aliases: &[],
        arguments: "",
        summary: "Explain the rules, for the size on the board",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Example,
        name: "example",
        aliases: &[],
        arguments: "[SIDE]",
        summary: "Put an example on the board, side 1, 4, 9, 16 or 25",
        more: "Default: 9.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    Command {
        verb: Verb::New,
        name: "new",
        aliases: &["empty"],
        arguments: "[SIDE]",
        summary: "Start an empty board, for a puzzle of your own",
        more: "`set` fills it, `lock` turns its digits into clues. Default side: that of the board.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    Command {
        verb: Verb::Open,
        name: "open",
        aliases: &["load"],
        arguments: "FILE",
        summary: "Open a file of puzzles and put the first on the board",
        more: "The notation is auto-detected; packed files are unpacked. Badly formed puzzles are reported.",
        completes: Completes::Files,
    },
    Command {
        verb: Verb::Puzzle,
        name: "puzzle",
        aliases: &[],
        arguments: "K",
        summary: "Put puzzle K of the open file on the board, from 1",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Random,
        name: "random",
        aliases: &[],
        arguments: "",
        summary: "Put a random puzzle of the open file on the board",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Show,
        name: "show",
        aliases: &["board", "print"],
        arguments: "[grid|line|triples]",
        summary: "Show the board again, or write it in a notation",
        more: "",
        completes: Completes::Words(&["grid", "line", "triples"]),
    },
    Command {
        verb: Verb::Set,
        name: "set",
        aliases: &[],
        arguments: "R C V",
        summary: "Put the value V into row R, column C",
        more: "Rows and columns are counted from 1. A value above 9 is a number or its letter: 10 or A.\n\
               Clues stay as they are; `unlock` lets them be changed.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Clear,
        name: "clear",
        aliases: &["unset"],
        arguments: "R C",
        summary: "Empty the cell in row R, column C",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Undo,
        name: "undo",
        aliases: &[],
        arguments: "",
        summary: "Undo the last change of the board",
        more: "`set`, `clear`, `solve`, `reset`, `lock` and `unlock` are changes.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Redo,
        name: "redo",
        aliases: &[],
        arguments: "",
        summary: "Redo the last change that was undone",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Reset,
        name: "reset",
        aliases: &["restart"],
        arguments: "",
        summary: "Remove all entries, keep the clues",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Lock,
        name: "lock",
        aliases: &[],
        arguments: "",
        summary: "Turn every digit on the board into a clue",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Unlock,
        name: "unlock",
        aliases: &[],
        arguments: "",
        summary: "Allow clues to be changed",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Check,
        name: "check",
        aliases: &[],
        arguments: "",
        summary: "Check the board against the rules: solved, or what is wrong",
        more: "Only the rules are checked; `hint` also finds entries that leave no solution.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Hint,
        name: "hint",
        aliases: &[],
        arguments: "[all]",
        summary: "Say where to look; again, by which technique; again, the step",
        more: "`hint all` says everything at once. If an entry is wrong, it is named instead.",
        completes: Completes::Words(&["all"]),
    },
    Command {
        verb: Verb::Apply,
        name: "apply",
        aliases: &[],
        arguments: "",
        summary: "Carry out the step of the hint",
        more: "Candidates that a step takes away are remembered for later hints.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Steps,
        name: "steps",
        aliases: &[],
        arguments: "",
        summary: "Solve by hand from here, every step with its reason",
        more: "The board stays as it is.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Rate,
        name: "rate",
        aliases: &[],
        arguments: "",
        summary: "Rate the puzzle by the hardest step that a person has to take",
        more: "Only the clues are rated, not your entries.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Solve,
        name: "solve",
        aliases: &[],
        arguments: "[PUZZLE|FILE|all]",
        summary: "Solve the board, a puzzle, or every puzzle of a file",
        more: "The board is solved from its clues and your entries; `undo` removes the solution again.\n\
               Without a board, the next line is read as the puzzle or the file.\n\
               A file of one puzzle is put on the board. A file of several is opened and solved, and the first\n\
               answers are shown; `solve all` does this with the open file.\n\
               `sudoku solve FILE -o OUT`, outside the console, writes all answers.",
        completes: Completes::Files,
    },
    Command {
        verb: Verb::Count,
        name: "count",
        aliases: &[],
        arguments: "[LIMIT]",
        summary: "Count the solutions, up to LIMIT or 1,000",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Unique,
        name: "unique",
        aliases: &[],
        arguments: "",
        summary: "Check whether there is exactly one solution",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Strategy,
        name: "strategy",
        aliases: &["strategies"],
        arguments: "[NAME|default]",
        summary: "Choose the search strategy, or list them all",
        more: "",
        completes: Completes::Strategies,
    },
    Command {
        verb: Verb::Limit,
        name: "limit",
        aliases: &[],
        arguments: "[NODES]",
        summary: "Set the node limit of a search, or show it",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Stats,
        name: "stats",
        aliases: &[],
        arguments: "[on|off]",
        summary: "Show search costs or not, or show the setting",
        more: "",
        completes: Completes::Words(&["on", "off"]),
    },
    Command {
        verb: Verb::Help,
        name: "help",
        aliases: &["?", "h"],
        arguments: "[COMMAND]",
        summary: "List the commands, or explain one",
        more: "",
        completes: Completes::Commands,
    },
    Command {
        verb: Verb::Exit,
        name: "exit",
        aliases: &["quit", "q"],
        arguments: "",
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
pub fn named(word: &str) -> Option<&'static Command> {
    let word = word.to_lowercase();
    COMMANDS.iter().find(|command| command.has_name(&word))
}

/// The command with this name or alias, or the only one whose name begins with it.
///
/// # Errors
/// The reply to an unknown or ambiguous name.
pub fn resolve(word: &str) -> Result<&'static Command, String> {
    if let Some(command) = named(word) {
        return Ok(command);
    }
    let lower = word.to_lowercase();
    let begun: Vec<&Command> = COMMANDS.iter().filter(|c| c.name.starts_with(&lower)).collect();
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

/// The list of all commands.
pub fn list() -> String {
    let widest = COMMANDS.iter().map(|command| command.usage().len()).max().unwrap_or(0);
    let mut text = String::new();
    for command in COMMANDS {
        text += &format!("  {:widest$}  {}\n", command.usage(), command.summary);
    }
    text + "\nA puzzle can also be pasted as it is, on one line or in rows. `help COMMAND` explains a command.\n"
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
