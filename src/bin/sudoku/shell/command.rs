//! What can be typed at the console: names, what follows them, and what `help` says.

/// What a command does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verb {
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
    Redo,
    Reset,
    Rules,
    Set,
    Show,
    Solve,
    Stats,
    Strategy,
    Undo,
    Unique,
    Unlock,
}

/// What can be completed behind a command.
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
    /// Other words for it.
    aliases: &'static [&'static str],
    /// What follows it.
    arguments: &'static str,
    /// One line about it.
    summary: &'static str,
    /// What else there is to say, in lines.
    more: &'static str,
    pub completes: Completes,
}

impl Command {
    /// How it is typed.
    pub fn usage(&self) -> String {
        format!("{} {}", self.name, self.arguments).trim_end().to_owned()
    }

    /// All that `help` has to say about it.
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
        summary: "Explain the game, for the size that is on the board",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Example,
        name: "example",
        aliases: &[],
        arguments: "[SIDE]",
        summary: "Put an example on the board: 1, 4, 9, 16 or 25 cells wide",
        more: "Without a number it is 9 cells wide.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    Command {
        verb: Verb::New,
        name: "new",
        aliases: &["empty"],
        arguments: "[SIDE]",
        summary: "Put an empty board there, for a puzzle of your own",
        more: "Fill it by `set`. `lock` makes clues of what is there.",
        completes: Completes::Words(&["1", "4", "9", "16", "25"]),
    },
    Command {
        verb: Verb::Open,
        name: "open",
        aliases: &["load"],
        arguments: "FILE",
        summary: "Open a file of puzzles, and put the first on the board",
        more: "Any notation will do, and .gz and .zst files. Every puzzle is looked at: bad ones are told of.",
        completes: Completes::Files,
    },
    Command {
        verb: Verb::Puzzle,
        name: "puzzle",
        aliases: &[],
        arguments: "K",
        summary: "Put puzzle K of the open file on the board, counted from 1",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Random,
        name: "random",
        aliases: &[],
        arguments: "",
        summary: "Put any puzzle of the open file on the board",
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
        summary: "Take the last change of the board back",
        more: "`set`, `clear`, `solve`, `reset`, `lock` and `unlock` are changes.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Redo,
        name: "redo",
        aliases: &[],
        arguments: "",
        summary: "Make a change again that was taken back",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Reset,
        name: "reset",
        aliases: &["restart"],
        arguments: "",
        summary: "Go back to the clues",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Lock,
        name: "lock",
        aliases: &[],
        arguments: "",
        summary: "Make a clue of everything on the board",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Unlock,
        name: "unlock",
        aliases: &[],
        arguments: "",
        summary: "Let the clues be changed too",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Check,
        name: "check",
        aliases: &[],
        arguments: "",
        summary: "Say whether the board is solved, and what is wrong if it is not",
        more: "It looks at the rules only; `hint` also finds entries that lead nowhere.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Hint,
        name: "hint",
        aliases: &[],
        arguments: "",
        summary: "Tell one cell that can be filled in, and why",
        more: "If something on the board is wrong, it tells that instead.",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Solve,
        name: "solve",
        aliases: &[],
        arguments: "[PUZZLE|FILE|all]",
        summary: "Solve the board, a puzzle, or every puzzle of a file",
        more: "The board is solved from its clues and what you have filled in; `undo` takes the solution away again.\n\
               With no board, the next line is taken for the puzzle or the file.\n\
               A file with one puzzle puts it on the board. One with several is opened, all are solved, and the first\n\
               answers are shown; `sudoku solve FILE -o OUT` writes them all. `solve all` does so with the open file.",
        completes: Completes::Files,
    },
    Command {
        verb: Verb::Count,
        name: "count",
        aliases: &[],
        arguments: "[LIMIT]",
        summary: "Count the solutions, up to 1,000 or LIMIT",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Unique,
        name: "unique",
        aliases: &[],
        arguments: "",
        summary: "Say whether there is exactly one solution",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Strategy,
        name: "strategy",
        aliases: &["strategies"],
        arguments: "[NAME|default]",
        summary: "Choose how to search, or list the ways",
        more: "",
        completes: Completes::Strategies,
    },
    Command {
        verb: Verb::Limit,
        name: "limit",
        aliases: &[],
        arguments: "[NODES]",
        summary: "Say when a search is given up, or show it",
        more: "",
        completes: Completes::Nothing,
    },
    Command {
        verb: Verb::Stats,
        name: "stats",
        aliases: &[],
        arguments: "[on|off]",
        summary: "Say whether `solve` tells what the search cost",
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
        more: "The end of the input does the same: Ctrl-D.",
        completes: Completes::Nothing,
    },
];

/// The names of all commands.
pub fn names() -> impl Iterator<Item = &'static str> {
    COMMANDS.iter().map(|command| command.name)
}

/// How far a word may be from a name to be taken for a slip.
const MAX_SLIPS: usize = 2;

/// The command that is typed as `word`, in full.
pub fn named(word: &str) -> Option<&'static Command> {
    let word = word.to_lowercase();
    COMMANDS.iter().find(|command| command.has_name(&word))
}

/// The command that is typed as `word`, in full or as far as only one name begins with it.
///
/// # Errors
/// The sentence to answer with.
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
    let meant = nearest.filter(|c| distance(c.name) <= MAX_SLIPS && distance(c.name) < c.name.len() - 1);
    let guess = meant.map(|command| format!(" Did you mean `{}`?", command.name)).unwrap_or_default();
    Err(format!("Unknown command `{}`.{guess} `help` lists the commands.", shortened(word)))
}

/// A word of the user's in a sentence of ours: printable, and not too long.
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
    text + "\nA puzzle can also be pasted as it is, on one line or in rows. `help COMMAND` says more.\n"
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
        assert_eq!(resolve("r").unwrap_err(), "`r` could be `rules`, `random`, `redo`, `reset`.");
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
